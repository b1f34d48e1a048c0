"""Data classes are those of the library: the same bodies through both, and the same behaviour."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from psyclone_storage.base import records

LIBRARIES = (records, dataclasses)
Item = TypeVar("Item")


def classes(library: Any) -> dict[str, type]:
    """Return classes of every form that the compiler has, made by `library`."""
    frozen = library.dataclass(frozen=True, slots=True)

    @frozen
    class Plain:
        """Two values."""

        left: int
        right: str = "r"

    @frozen
    class Hidden:
        """Values that are not compared, not shown, or given by name alone."""

        first: int
        place: object = library.field(default=None, compare=False, repr=False, kw_only=True)
        made: list[int] = library.field(default_factory=list, compare=False)
        name: ClassVar[str] = "hidden"

    @frozen
    class Derived(Plain):  # type: ignore[valid-type, misc]
        """One more."""

        third: tuple[int, ...] = ()

    @frozen
    class Box(Generic[Item]):
        """A value of any kind."""

        item: Item

    @library.dataclass(slots=True)
    class Open:
        """What may be changed."""

        names: list[str] = library.field(default_factory=list)
        size: int = library.field(init=False)

        def __post_init__(self) -> None:
            self.size = len(self.names)

    @library.dataclass(frozen=True, slots=True, eq=False)
    class Itself:
        """Equal to nothing else."""

        value: int = 0

    @library.dataclass(frozen=True)
    class Wide:  # noqa: PLW1641
        """Without slots, with methods of its own."""

        value: int = 0

        def __eq__(self, other: object) -> bool:
            return isinstance(other, int)

        def __repr__(self) -> str:
            return "wide"

    @library.dataclass(frozen=True, slots=True, repr=False)
    class Silent:
        """Shown as any object is."""

        value: int = 0

    @frozen
    class Empty:
        """Nothing at all."""

    made = (Plain, Hidden, Derived, Box, Open, Itself, Wide, Silent, Empty)
    return {kind.__name__: kind for kind in made}


OBJECTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "by place": lambda kinds: kinds["Plain"](1, "x"),
    "by default": lambda kinds: kinds["Plain"](1),
    "by name": lambda kinds: kinds["Plain"](right="y", left=2),
    "too few": lambda kinds: kinds["Plain"](),
    "too many": lambda kinds: kinds["Plain"](1, 2, 3),
    "unknown": lambda kinds: kinds["Plain"](1, other=3),
    "hidden": lambda kinds: kinds["Hidden"](1, place=2),
    "hidden by place": lambda kinds: kinds["Hidden"](1, [2], 3),
    "a list of its own": lambda kinds: [kinds["Hidden"](1).made.append(1), kinds["Hidden"](1).made],
    "of the class": lambda kinds: kinds["Hidden"].name,
    "derived": lambda kinds: kinds["Derived"](1, "x", (2,)),
    "derived by default": lambda kinds: kinds["Derived"](1),
    "generic": lambda kinds: kinds["Box"](3),
    "after init": lambda kinds: kinds["Open"](["a", "b"]),
    "not to init": lambda kinds: kinds["Open"](["a"], 4),
    "own repr": lambda kinds: kinds["Wide"](),
    "own eq": lambda kinds: kinds["Wide"]() == 4,
    "empty": lambda kinds: kinds["Empty"](),
    "equal": lambda kinds: kinds["Plain"](1) == kinds["Plain"](1),
    "not equal": lambda kinds: kinds["Plain"](1) == kinds["Plain"](2),
    "of another kind": lambda kinds: kinds["Plain"](1) == kinds["Derived"](1),
    "to anything": lambda kinds: kinds["Plain"](1) == 1,
    "not compared": lambda kinds: kinds["Hidden"](1, place=2) == kinds["Hidden"](1, place=3),
    "itself": lambda kinds: kinds["Itself"](1) == kinds["Itself"](1),
    "changed": lambda kinds: setattr(kinds["Open"](), "size", 3),
    "frozen": lambda kinds: setattr(kinds["Plain"](1), "left", 3),
    "frozen in a class": lambda kinds: setattr(kinds["Derived"](1), "left", 3),
    "frozen without slots": lambda kinds: setattr(kinds["Wide"](1), "value", 3),
    "deleted": lambda kinds: delattr(kinds["Plain"](1), "left"),
    "no other place": lambda kinds: hasattr(kinds["Plain"](1), "__dict__"),
    "places": lambda kinds: kinds["Derived"].__slots__,
    "hash": lambda kinds: hash(kinds["Plain"](1)) == hash(kinds["Plain"](1)),
    "hash of equals": lambda kinds: hash(kinds["Hidden"](1)) == hash(kinds["Hidden"](1, place=2)),
    "no hash": lambda kinds: hash(kinds["Open"]()),
    "hash of itself": lambda kinds: hash(one := kinds["Itself"](1)) == object.__hash__(one),
    "hash beside eq": lambda kinds: hash(kinds["Wide"](1)) == hash(kinds["Wide"](1)),
    "matched": lambda kinds: kinds["Derived"].__match_args__ + kinds["Hidden"].__match_args__,
    "copied": lambda kinds: copy.deepcopy(kinds["Derived"](1, "x", (2,))),
    "copied, changing": lambda kinds: copy.deepcopy(kinds["Open"](["a"])),
    "name of a method": lambda kinds: (kinds["Plain"](1), kinds["Plain"].__init__.__name__)[1],
    "default of a class": lambda kinds: kinds["Wide"].value,
}
CHANGES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "replaced": lambda library, kinds: library.replace(kinds["Derived"](1), third=(3,)),
    "replaced by name": lambda library, kinds: library.replace(kinds["Hidden"](1), place=3).place,
    "replaced unknown": lambda library, kinds: library.replace(kinds["Plain"](1), other=3),
    "replaced, made": lambda library, kinds: library.replace(kinds["Open"](), size=3),
    "replaced, made again": lambda library, kinds: library.replace(kinds["Open"](), names=["a"]),
    "fields": lambda library, kinds: [item.name for item in library.fields(kinds["Hidden"])],
    "defaults": lambda library, kinds: [
        item.default is library.MISSING for item in library.fields(kinds["Derived"])
    ],
}


def outcome(action: Callable[[], Any]) -> tuple[str, str]:
    """Return what `action` gives or raises, as text without the places of objects."""
    try:
        made = action()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error).partition(",")[0]
    return type(made).__name__, repr(made)


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_behave_as_those_of_the_library(name: str) -> None:
    ours, theirs = (outcome(lambda lib=lib: OBJECTS[name](classes(lib))) for lib in LIBRARIES)
    assert ours == theirs


@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_those_of_the_library(name: str) -> None:
    ours, theirs = (outcome(lambda lib=lib: CHANGES[name](lib, classes(lib))) for lib in LIBRARIES)
    assert ours == theirs


def test_a_method_is_written_by_its_first_call() -> None:
    kind = classes(records)["Plain"]
    before = kind.__init__
    kind(1)
    assert kind.__init__ is not before
    after = kind.__init__
    kind(2)
    assert kind.__init__ is after


def test_threads_may_make_the_first_objects_together() -> None:
    kinds = [classes(records)["Derived"] for _ in range(20)]
    made: list[str] = []
    barrier = Barrier(4)

    def make() -> None:
        for kind in kinds:
            barrier.wait()
            made.append(repr(kind(1, "x")))

    threads = [Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 80
    assert len(set(made)) == 1


@records.dataclass(frozen=True, slots=True)
class Kept:
    """Something that goes through a pipe."""

    value: int
    more: tuple[int, ...] = ()


def test_an_object_goes_through_a_pipe() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2, 3)))) == Kept(1, (2, 3))


def test_the_functions_of_the_library_take_our_classes() -> None:
    kinds = classes(records)
    assert dataclasses.is_dataclass(kinds["Plain"])
    assert [item.name for item in dataclasses.fields(kinds["Hidden"])] == ["first", "place", "made"]
    assert dataclasses.asdict(kinds["Derived"](1)) == {"left": 1, "right": "r", "third": ()}
    assert dataclasses.replace(kinds["Plain"](1), left=2) == kinds["Plain"](2)
    hidden = dataclasses.fields(kinds["Hidden"])[1]
    assert (hidden.compare, hidden.repr, hidden.default) == (False, False, None)


def test_the_fields_of_the_library_are_made_once_for_each_class() -> None:
    kinds = classes(records)

    class Named(kinds["Plain"]):
        """A class that declares nothing."""

    for kind in (Named, kinds["Plain"], kinds["Derived"]):
        assert dataclasses.fields(kind)[0] is dataclasses.fields(kind(1))[0]
        assert dataclasses.replace(kind(1), left=2) == kind(2)
    names = [[item.name for item in dataclasses.fields(kinds[it])] for it in ("Plain", "Derived")]
    assert names == [["left", "right"], ["left", "right", "third"]]


def test_no_name_can_be_set_that_is_no_field() -> None:
    kinds = classes(records)
    for name in ("Plain", "Derived", "Wide"):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
            kinds[name](1).other = 3
    assert kinds["Box"][int](3) == kinds["Box"](3)


def test_a_default_that_changes_is_refused() -> None:
    with pytest.raises(ValueError, match="mutable default for field names"):

        @records.dataclass(frozen=True, slots=True)
        class _Shared:
            names: list[str] = []  # noqa: RUF012


@records.dataclass(frozen=True, slots=True)
class Wrong:
    """A field that has to be given behind one that has not."""

    first: int = 0
    second: str  # type: ignore[misc]


def test_a_value_must_be_given_before_those_that_may_be() -> None:
    with pytest.raises(TypeError, match="without a default follows"):
        Wrong(1, "x")
