"""Invoke calls compared with cached calls, by the C extension and by the Python fallback."""

from __future__ import annotations

import _thread
import copy
import ctypes
import gc
import inspect
import pickle
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.results import Result, UnsetResultError
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.jit import _pure, call_cache
from psyclone_storage.jit.invokes import builds_of
from psyclone_storage.jit.session import JitSession
from psyclone_storage.jit.types import CompiledInvoke, JitOptions
from psyclone_storage.languages.python.parse.closure import ClosureSnapshot
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.native import WholeNumber, number_of

KINDS: list[Any] = [_pure.CachedCall]
FINDERS: list[Any] = [_pure.find_call]
if call_cache.COMPILED:
    from psyclone_storage.jit import _compiled

    KINDS.append(_compiled.CachedCall)
    FINDERS.append(_compiled.find_call)
ASKED, OTHER = JitOptions(), JitOptions(target="numpy")


class Datum:
    """What is passed as an object."""


@dataclass(frozen=True)
class Asked:
    """A call as an invoke takes it."""

    kernel: Any
    args: tuple[Any, ...]


class Unlike(Asked):
    """A call of another kind."""


FIRST, SECOND = object(), object()
A, B, C = Datum(), Datum(), Datum()


def made(kind: Any, *calls: Asked, written: Any = (), equal: Any = (), looks: Any = None) -> Any:
    """Return what compares with `calls`, whose routine takes all values, the last first."""
    values = [value for call in calls for value in call.args]
    order = tuple(reversed(range(len(values))))
    ways = tuple(call_cache._identity_of(value) for value in values)
    compiled = CompiledInvoke(lambda *_: None, order, None, made.__code__, written, equal)
    looked = ((), (), ()) if looks is None else tuple(map(tuple, looks))
    return kind(ASKED, "name", calls, ways, order, written, equal, compiled.fits, looked)


@pytest.mark.parametrize("kind", KINDS)
def test_what_differs_is_not_the_same(kind: Any) -> None:
    last = made(kind, Asked(FIRST, (A, 2.0, [A, B])), Asked(SECOND, (B, 1)))

    def taken(*calls: Asked, asked: Any = ASKED, name: Any = "name") -> Any:
        return last.match(asked, name, calls)

    second = Asked(SECOND, (B, 7))
    same = taken(Asked(FIRST, (A, 3.0, [A, B])), second)
    assert same == (7, B, [A, B], 3.0, A)
    assert taken(Asked(FIRST, (A, 3.0, [A, B])), second, name="na" + "me"[:2]) == same
    for calls in (
        [Asked(FIRST, (A, 3.0, [A, B]))],
        [Asked(FIRST, (A, 3.0, [A, B])), second, second],
        [Asked(SECOND, (A, 3.0, [A, B])), second],
        [Unlike(FIRST, (A, 3.0, [A, B])), second],
        [Asked(FIRST, (B, 3.0, [A, B])), second],
        [Asked(FIRST, (C, 3.0, [A, B])), second],
        [Asked(FIRST, (A, 3, [A, B])), second],
        [Asked(FIRST, (A, True, [A, B])), second],
        [Asked(FIRST, (A, np.float64(3.0), [A, B])), second],
        [Asked(FIRST, (A, 3.0, [B, A])), second],
        [Asked(FIRST, (A, 3.0, [A, C])), second],
        [Asked(FIRST, (A, 3.0, [A])), second],
        [Asked(FIRST, (A, 3.0, [A, B, B])), second],
        [Asked(FIRST, (A, 3.0, (A, B))), second],
        [Asked(FIRST, (A, 3.0, A)), second],
        [Asked(FIRST, (A, 3.0)), second],
        [Asked(FIRST, (A, 3.0, [A, B], A)), second],
        [Asked(FIRST, (A, 3.0)), Asked(SECOND, ([A, B], B, 7))],
        [],
    ):
        assert taken(*calls) is None
    assert taken(Asked(FIRST, (A, 3.0, [A, B])), second, asked=OTHER) is None
    for name in ("", "nam", None):
        assert taken(Asked(FIRST, (A, 3.0, [A, B])), second, name=name) is None


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_the_code_are_the_same_by_type_value_and_sign(kind: Any) -> None:
    last = made(kind, Asked(FIRST, (0.0, 5, 5)), written=((0, 0.0),), equal=((1, 2),))

    def is_same(*numbers: Any) -> bool:
        return last.match(ASKED, "name", (Asked(FIRST, numbers),)) is not None

    large = int("12345678901234567890")
    assert is_same(0.0, 5, 5)
    assert is_same(float("0"), large, int("12345678901234567890"))
    assert not is_same(-0.0, 5, 5)
    assert not is_same(1e-300, 5, 5)
    assert not is_same(0.0, 5, 6)
    assert not is_same(float("nan"), 5, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_otherwise_is_not_the_same(kind: Any) -> None:
    names, looks = {"value": A}, ClosureSnapshot()
    looks.look_up(names.get, "value")
    last = made(kind, Asked(FIRST, (A, 1.0)), looks=(looks.getters, looks.owners, looks.values))
    call = (Asked(FIRST, (A, 1.0)),)
    assert last.match(ASKED, "name", call) == (1.0, A)
    names["value"] = B
    assert last.match(ASKED, "name", call) is None
    names["value"] = A
    assert last.match(ASKED, "name", call) == (1.0, A)

    del names["value"]
    assert last.match(ASKED, "name", call) is None

    def raises(_: str) -> Any:
        raise KeyError

    last = made(kind, Asked(FIRST, (A, 1.0)), looks=([raises], ["value"], [None]))
    with pytest.raises(KeyError):
        last.match(ASKED, "name", call)


class Inventive(dict[str, Any]):
    """What has a value for each name."""

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return what is asked for: the same each time."""
        return super().get(name, A)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", [{}, {"value": A}, Inventive()])
def test_a_table_is_asked_as_it_answers(kind: Any, table: dict[str, Any]) -> None:
    """A `get` of a plain dictionary is not called: others are, and so are other ways."""
    call = (Asked(FIRST, (A, 1.0)),)
    found = table.get("value")
    last = made(kind, Asked(FIRST, (A, 1.0)), looks=([table.get], ["value"], [found]))
    assert last.match(ASKED, "name", call) == (1.0, A)
    last = made(kind, Asked(FIRST, (A, 1.0)), looks=([table.get], ["value"], [B]))
    assert last.match(ASKED, "name", call) is None
    last = made(kind, Asked(FIRST, (A, 1.0)), looks=([{"value": A}.pop], ["value"], [A]))
    assert last.match(ASKED, "name", call) == (1.0, A)
    with pytest.raises(KeyError):
        last.match(ASKED, "name", call)
    last = made(kind, Asked(FIRST, (A, 1.0)), looks=([table.get], [[]], [None]))
    with pytest.raises(TypeError, match="unhashable"):
        last.match(ASKED, "name", call)


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_and_paths_of_attributes_are_compared(kind: Any) -> None:
    call, owner = (Asked(FIRST, (A, 1.0)),), SimpleNamespace(part=SimpleNamespace(value=A), value=B)
    for getter, holder in (
        (attrgetter("value"), owner),
        (attrgetter("part.value"), owner.part),
    ):
        before = holder.value
        last = made(kind, *call, looks=([getter], [owner], [before]))
        assert last.match(ASKED, "name", call) == (1.0, A)
        assert last.is_current()
        holder.value = C
        assert last.match(ASKED, "name", call) is None
        assert not last.is_current()
        del holder.value
        with pytest.raises(AttributeError):
            last.is_current()
        holder.value = before
        assert last.is_current()
    pair = attrgetter("part", "value")
    last = made(kind, *call, looks=([pair], [owner], [pair(owner)]))
    assert last.match(ASKED, "name", call) is None


def test_both_say_the_same_of_any_calls() -> None:
    chance = random.Random(3)
    pool: list[Callable[[], Any]] = [
        lambda: A, lambda: B, lambda: 1.0, lambda: 2.0, lambda: 0.0, lambda: -0.0, lambda: 1,
        lambda: [A, B], lambda: (A, B), lambda: [B], list, lambda: np.float64(1.0),
    ]  # fmt: skip

    def calls() -> tuple[Asked, ...]:
        return tuple(
            Asked(
                chance.choice((FIRST, SECOND)), tuple(chance.choice(pool)() for _ in range(count))
            )
            for count in chance.choices(range(3), k=chance.choice((1, 1, 2)))
        )

    agreed = 0
    for _ in range(400):
        one = calls()
        values = [value for call in one for value in call.args]
        numbers = [at for at, value in enumerate(values) if isinstance(value, float)]
        written = tuple((at, values[at]) for at in numbers[:1])
        equal = ((numbers[0], numbers[1]),) if len(numbers) > 1 else ()
        lasts = [made(kind, *one, written=written, equal=equal) for kind in KINDS]
        for other in (one, calls(), calls(), calls()):
            found = [last.match(ASKED, "name", other) for last in lasts]
            assert all(each == found[0] for each in found)
            agreed += found[0] is not None
    assert agreed >= 400


class Anew(Asked):
    """A call whose arguments nobody else has."""

    def __getattribute__(self, name: str) -> Any:
        if name != "args":
            return super().__getattribute__(name)
        return float(str(1.5)), [A, B], complex(2.0, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_what_calls_let_go_meanwhile_is_kept(kind: Any) -> None:
    """Values are those of the call, whoever takes them from it while it is compared."""
    call = Anew(FIRST, ())
    last = kind(ASKED, "", (call,), (None, (A, B), None), (2, 1, 0), ((0, 7.0),), (),
                lambda _: bool([float(str(one)) for one in range(999)]), ((), (), ()))  # fmt: skip
    assert last.match(ASKED, "", (call,)) == (2 + 1j, [A, B], 1.5)

    given = Asked(FIRST, (float("2.5"), A))

    def empties(_: Any) -> None:
        object.__setattr__(given, "args", ())
        junk.extend(float(str(one)) for one in range(999))

    junk: list[float] = []
    last = kind(ASKED, "", (given,), (None, A), (0, 1), (), (), bool, ((empties,), (1,), (None,)))
    assert last.match(ASKED, "", (given,)) == (2.5, A)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forgotten_is_never_the_same(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if a call is noted while an object of another one goes."""
    last = made(kind, Asked(FIRST, (A, 1.0)))
    assert last.match(ASKED, "name", (Asked(FIRST, (A, 1.0)),)) == (1.0, A)
    last.forget()
    assert last.match(ASKED, "name", (Asked(FIRST, (A, 1.0)),)) is None

    class Table(dict[Any, Any]):
        """A table: when it has been looked at, an object goes."""

        def get(self, *key: Any) -> Any:
            found = super().get(*key)
            going.clear()
            return found

    frame: Any = SimpleNamespace(f_code=made.__code__, f_lasti=0)
    table, going = {id(frame.f_code): Table()}, [Datum()]
    session = JitSession(calls=table)
    monkeypatch.setattr(call_cache, "CachedCall", kind)

    def keep(datum: Datum) -> None:
        compiled = CompiledInvoke(lambda *_: None, (0,), None, frame.f_code)
        about = ((Asked(FIRST, (datum,)),), "", ASKED)
        call_cache.cache_call(session, frame, about, compiled, ClosureSnapshot())

    keep(one := going[0])
    place, was = id(one), table[id(frame.f_code)][0]
    going.append(one)
    del one
    keep(A)
    others = [Datum() for _ in range(999)]
    assert not going
    for other in others:
        if id(other) == place:
            assert was[0].call.match(ASKED, "", (Asked(FIRST, (other,)),)) is None


@pytest.mark.skipif(not call_cache.COMPILED, reason="what is compiled")
def test_what_does_not_fit_together_is_refused() -> None:
    call = (Asked(FIRST, (A, 1.0)),)
    for given in (
        (ASKED, "", (), (), (), (), (), len, ((), (), ())),
        (ASKED, "", call, (A,), (0,), (), (), len, ((), (), ())),
        (ASKED, "", call, (A, None, None), (0,), (), (), len, ((), (), ())),
        (ASKED, "", call, (A, None), (2,), (), (), len, ((), (), ())),
        (ASKED, "", call, (A, None), (0,), ((5, 1.0),), (), len, ((), (), ())),
        (ASKED, "", call, (A, None), (0,), (), ((0, -1),), len, ((), (), ())),
        (ASKED, "", call, (A, None), (0,), (), (), len, ((len,), (), ())),
        (ASKED, "", (A,), (A, None), (0,), (), (), len, ((), (), ())),
    ):
        with pytest.raises((ValueError, IndexError, AttributeError)):
            KINDS[-1](*given)


# -- of a program --------------------------------------------------------------------------------


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def take(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * old[0, 0]


def ones(count: int) -> list[Field]:
    grid = Grid((4, 4))
    return [Field(grid, values=np.ones((4, 4))) for _ in range(count)]


def step(new: Field, old: Field, by: float) -> None:
    invoke(take(new, old, by))


def kept_at_step() -> tuple[Any, ...]:
    """Return what is kept of the one invoke in `step`."""
    places = PROGRAM.session.calls
    return next(iter(places.get(id(step.__code__), {}).values()), ())


def test_fields_that_take_turns_are_all_kept_and_forgotten_when_they_go() -> None:
    configure(distributed=False, target="numpy")
    one, two, *others = ones(7)
    before = len(builds_of(PROGRAM.session))
    for by in (2.0, 3.0, 5.0):
        step(one, two, by)
        assert one.values[1, 1] == by * two.values[1, 1]
        step(two, one, by)
        assert two.values[1, 1] == by * one.values[1, 1]
    assert len(builds_of(PROGRAM.session)) == before + 1
    assert len(kept_at_step()) == 2
    for other in others:
        step(other, one, 1.0)
        assert other.values[1, 1] == one.values[1, 1]
    assert len(kept_at_step()) == call_cache._MOST
    del other, others
    gc.collect()
    assert len(kept_at_step()) == 0
    configure()


def another_frame() -> Any:
    return inspect.currentframe()


def test_a_place_is_code_and_instruction() -> None:
    """Both cores find what is kept of the very place, and say when something else is kept."""
    frame, other = inspect.currentframe(), another_frame()
    assert frame is not None
    call = (Asked(FIRST, (A, 1.0)),)
    for kind, find in zip(KINDS, FINDERS, strict=True):
        last = made(kind, *call)
        place, instructions = id(frame.f_code), range(2 * 4096)
        table = {place: dict.fromkeys(instructions, ((last, "found"),))}
        assert find(table, frame, ASKED, "name", call) == ((last, "found"), (1.0, A))
        assert find(table, frame, OTHER, "name", call) is None
        assert find(table, other, ASKED, "name", call) is None
        assert find({}, frame, ASKED, "name", call) is None
        second = made(kind, Asked(SECOND, (A, 1.0)))
        table = {place: dict.fromkeys(instructions, ((second, 2), (last, 1)))}
        assert find(table, frame, ASKED, "name", call) == ((last, 1), (1.0, A))
        with pytest.raises((TypeError, AttributeError)):
            find({place: dict.fromkeys(instructions, ((A, 1),))}, frame, ASKED, "name", call)


def test_what_is_refused_is_refused_where_something_like_it_was_taken() -> None:
    """No other type than that which the compiler looked at is taken, in any order."""
    configure(distributed=False, target="numpy")
    one, two = ones(2)
    for _ in range(2):
        step(one, two, Fraction(1, 4))  # type: ignore[arg-type]
        assert one.values[1, 1] == 0.25
        step(one, two, np.int64(2))  # type: ignore[arg-type]
        for other in (Decimal(2), None, np.array(2), SimpleNamespace(), two.grid):
            with pytest.raises(TypeError, match="'take' takes a number, not"):
                step(one, two, other)  # type: ignore[arg-type]
        assert one.values[1, 1] == 2.0
    configure()


def test_whole_numbers_of_other_sizes_are_refused() -> None:
    """Python would go on to compute with few bits, or without a sign, and kernels with 32."""
    for target in ("", "numpy"):
        configure(distributed=False, target=target)
        one, two = ones(2)
        for number in (np.uint8(3), np.int16(3), np.uint64(3)):
            with pytest.raises(TypeError, match=r"np.u?int\d+\(3\) .* 'int\(...\)' of it"):
                step(one, two, number)  # type: ignore[arg-type]
        for number in (np.int32(3), np.int64(3)):
            step(one, two, number)  # type: ignore[arg-type]
            assert one.values[1, 1] == 3.0
    configure()


@pytest.mark.parametrize("target", ["", "numpy"])
def test_reals_of_other_sizes_are_refused(target: str) -> None:
    """Python would compute '0.1f * 0.1f' with few bits before it meets a field."""
    configure(distributed=False, target=target)
    one, two = ones(2)
    for number in (np.float32(0.1), np.float16(0.5), np.longdouble(3)):
        for _ in range(2):
            with pytest.raises(TypeError, match=r"np\.\w+\(.*'float\(...\)' of it"):
                step(one, two, number)  # type: ignore[arg-type]
    step(one, two, np.float64(0.1))
    assert one.values[1, 1] == 0.1
    configure()


def test_numbers_that_are_too_large_are_said_in_words() -> None:
    """Those are, too, that Python refuses to write down."""
    configure(distributed=False)
    one, two = ones(2)
    step(one, two, 3.0)
    for number in (10**400, 10**5000, Fraction(10**400)):
        with pytest.raises(OverflowError, match=r"A kernel takes real numbers of 8 bytes, up to 1"):
            step(one, two, number)
    assert one.values[1, 1] == 3.0
    with pytest.raises(OverflowError, match=r"32-bit integers, .* and is given one of 16610 bits"):
        number_of(10**5000, WholeNumber)
    with pytest.raises(TypeError, match=r"Result\('a'\) is no number"):
        number_of(Result("a"), ctypes.c_double)  # type: ignore[arg-type]
    with pytest.raises(UnsetResultError, match="has no value"):
        number_of(Result(), ctypes.c_double)
    configure()


def test_the_kind_of_a_result_stays() -> None:
    """What was compiled for it is found again by the object alone."""
    result = Result(0.5, dtype="r_solver")
    with pytest.raises(AttributeError):
        result.dtype = ""  # type: ignore[misc]
    for again in (copy.copy(result), pickle.loads(pickle.dumps(result))):
        assert (again.value, again.dtype) == (0.5, "r_solver")
    for again in (copy.copy(Result()), pickle.loads(pickle.dumps(Result()))):
        assert not again.is_set


def test_one_object_twice_after_two_objects_is_refused() -> None:
    configure(distributed=False, target="numpy")
    one, two = ones(2)
    step(one, two, 1.0)
    with pytest.raises(CompileError, match="S102"):
        step(one, one, 1.0)
    step(one, two, 4.0)
    assert one.values[1, 1] == 4.0
    configure()


def test_threads_at_one_place_have_runs_of_their_own() -> None:
    configure(distributed=False)
    news, (old,) = ones(4), ones(1)
    news = [Field(old.grid) for _ in news]
    step(news[0], old, 1.0)
    wrong: list[Any] = []
    begin = threading.Barrier(len(news))

    def work(number: int) -> None:
        begin.wait()
        for turn in range(60):
            step(news[number], old, float(turn))
            if news[number].values[1, 1] != turn:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(news))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    configure()


def test_an_invoke_that_stands_nowhere_is_done() -> None:
    """As where a thread begins with it, with no code of the program around it."""
    configure(distributed=False, target="numpy")
    one, two = ones(2)
    for by in (2.0, 3.0):
        _thread.start_new_thread(invoke, (take(one, two, by),))
        for _ in range(1200):
            if one.values[1, 1] == by:
                break
            time.sleep(0.05)
        assert one.values[1, 1] == by
    configure()
