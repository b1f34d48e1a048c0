"""Data classes whose methods are generated on their first call.

The command defines about 270 data classes, but creates objects of only half of them and compares
only a few. `dataclasses` would generate six methods for each class, which takes longer than a small
translation. Otherwise `dataclass`, `field`, `fields` and `replace` behave like those of the
standard library, whose functions also accept these classes. Type checkers see the standard library.
Unsupported options are rejected.
"""

from __future__ import annotations

from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import MISSING, Field, dataclass, field, fields, replace

__all__ = ["MISSING", "Field", "dataclass", "field", "fields", "replace", "same_in_all_fields"]

Record = TypeVar("Record")

_FIELDS = "_record_fields_"
_PARAMETERS = "_record_parameters_"
"""The attribute with the names of the fields that `__init__` takes, and those of the others."""


class _Missing:
    """Marker for a missing default value."""

    def __repr__(self) -> str:
        return "MISSING"


_MISSING = _Missing()


class _Field:
    """A field of a data class, with its default and options."""

    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

    def __init__(  # noqa: PLR0913
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002  # pylint: disable=redefined-builtin
        compare: bool = True,
        kw_only: bool = False,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.kw_only = kw_only
        self.name = ""
        self.type: Any = None

    @property
    def is_optional(self) -> bool:
        """Return whether the field has a default."""
        return self.default is not _MISSING or self.default_factory is not _MISSING


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002  # pylint: disable=redefined-builtin
) -> Any:
    """Return `cls` as a data class, or a decorator."""

    def made(kind: Any) -> Any:
        own = _own_fields(kind)
        known = _inherited(kind) | {item.name: item for item in own}
        if slots:
            kind = _with_slots(kind, own, frozen)
        setattr(kind, _FIELDS, known)
        fixed = frozenset(name for name, item in known.items() if not item.init)
        setattr(kind, _PARAMETERS, (tuple(name for name in known if name not in fixed), fixed))
        kind.__dataclass_fields__ = _LibraryFields()
        if "__match_args__" not in vars(kind):
            positional = (item for item in known.values() if item.init and not item.kw_only)
            setattr(kind, "__match_args__", tuple(item.name for item in positional))  # noqa: B010
        _add_methods(kind, frozen, eq, repr)
        return kind

    return made if cls is None else made(cls)


def _fields(record: Any) -> tuple[_Field, ...]:
    """Return the fields of a data class or of an instance."""
    return tuple(getattr(record, _FIELDS).values())


def same_in_all_fields(one: object, other: object) -> bool:
    """Return whether two records are equal, also in the fields that comparisons ignore.

    Records in tuples, and in fields, are compared in the same way.
    """
    if one is other:
        return True
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_in_all_fields, one, other))
    if not hasattr(one, _FIELDS):
        return one == other
    return all(
        same_in_all_fields(getattr(one, item.name), getattr(other, item.name))
        for item in _fields(one)
    )


def _replace(record: Record, /, **changes: Any) -> Record:
    """Return a copy of `record` with some fields changed."""
    names, fixed = getattr(record, _PARAMETERS)
    if fixed and (wrong := fixed & changes.keys()):
        raise ValueError(f"field {min(wrong)} is declared with init=False")
    for name in names:
        if name not in changes:
            changes[name] = getattr(record, name)
    return record.__class__(**changes)


if not TYPE_CHECKING:
    MISSING, Field = _MISSING, _Field
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace


# ------------------------------------------------------------------ the class


def _own_fields(kind: type) -> list[_Field]:
    """Return the fields declared in the body of `kind`; defaults stay class attributes."""
    own = []
    for name, annotation in vars(kind).get("__annotations__", {}).items():
        if str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = vars(kind).get(name, _MISSING)
        item = default if isinstance(default, _Field) else _Field(default=default)
        if item.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default for field {name}: use default_factory")
        item.name, item.type = name, annotation
        own.append(item)
        if default is not item:
            continue
        if item.default is _MISSING:
            delattr(kind, name)
        else:
            setattr(kind, name, item.default)
    return own


def _inherited(kind: type) -> dict[str, _Field]:
    known: dict[str, _Field] = {}
    for base in kind.__mro__[-1:0:-1]:
        known |= vars(base).get(_FIELDS, {})
    return known


def _with_slots(kind: type, own: list[_Field], frozen: bool) -> type:
    """Return a copy of the class with `__slots__` for its fields."""
    body = dict(vars(kind))
    inherited = {name for base in kind.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    body["__slots__"] = tuple(item.name for item in own if item.name not in inherited)
    for name in ("__dict__", "__weakref__", *(item.name for item in own)):
        body.pop(name, None)
    if frozen:
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _with_state)
    made = type(kind)(kind.__name__, kind.__bases__, body)
    made.__qualname__ = kind.__qualname__
    return made


def _state(record: Any) -> list[Any]:
    return [getattr(record, name) for name in getattr(record, _FIELDS)]


def _with_state(record: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(record, _FIELDS), state, strict=True):
        object.__setattr__(record, name, value)


class _LibraryFields:
    """The fields of a class in the format of the standard library, created on first use."""

    def __get__(self, record: object, kind: Any) -> Any:
        import dataclasses  # noqa: PLC0415

        library_field = dataclasses.field

        def converted(item: _Field) -> Any:
            words = {name: getattr(item, name) for name in ("init", "repr", "compare", "kw_only")}
            for name in ("default", "default_factory"):
                if getattr(item, name) is not _MISSING:
                    words[name] = getattr(item, name)
            return (item.name, item.type, library_field(**words))

        made = [converted(item) for item in getattr(kind, _FIELDS).values()]
        library_class = dataclasses.make_dataclass(kind.__name__, made)
        kind.__dataclass_fields__ = vars(library_class)["__dataclass_fields__"]
        return kind.__dataclass_fields__


# ------------------------------------------------------------------ its methods


def _add_methods(kind: type, frozen: bool, eq: bool, repr_too: bool) -> None:
    own = vars(kind)
    writers: dict[str, Callable[[type], Any]] = {"__init__": _init_of}
    if repr_too:
        writers["__repr__"] = _repr_of
    if eq:
        hashed = own.get("__hash__")
        writers["__eq__"] = _eq_of
        if frozen:
            writers["__hash__"] = _hash_of
        elif hashed is None:
            kind.__hash__ = None  # type: ignore[assignment]
    for name, writer in writers.items():
        if own.get(name) is None:
            setattr(kind, name, _written_later(kind, name, writer))
    if frozen:
        _freeze(kind)


def _written_later(kind: type, name: str, writer: Callable[[type], Any]) -> Callable[..., Any]:
    """Return a method that generates the method `name` on its first call and replaces itself."""

    def method(*args: Any, **keywords: Any) -> Any:
        made = writer(kind)
        made.__qualname__ = f"{kind.__qualname__}.{name}"
        setattr(kind, name, made)
        return made(*args, **keywords)

    method.__name__ = name
    return method


def _freeze(kind: Any) -> None:
    """Make the fields of instances of `kind` read-only."""
    names = getattr(kind, _FIELDS)

    def refuse_to_set(self: object, name: str, value: object) -> None:
        if self.__class__ is kind or name in names:
            raise _frozen(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def refuse_to_delete(self: object, name: str) -> None:
        if self.__class__ is kind or name in names:
            raise _frozen(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    kind.__setattr__ = refuse_to_set
    kind.__delattr__ = refuse_to_delete


def _frozen(message: str) -> Exception:
    import dataclasses  # noqa: PLC0415

    return dataclasses.FrozenInstanceError(message)


def _init_of(kind: type) -> Any:
    """Return `__init__`, with `kw_only` fields as keyword-only parameters.

    It sets fields of a frozen class, too: slots with the setters of their descriptors, and others
    in the dictionary of the instance, which is fastest.
    """
    known: list[_Field] = list(getattr(kind, _FIELDS).values())
    spaces: dict[str, Any] = {"_MISSING": _MISSING}
    places = {item.name: f"_{number}" for number, item in enumerate(known)}
    given = [item for item in known if item.init]
    placed = [item for item in given if not item.kw_only]
    named = [item for item in given if item.kw_only]
    head = [places[item.name] for item in placed]
    head += ["*", *(places[item.name] for item in named)] if named else []
    body = []
    for item in known:
        place = value = places[item.name]
        if item.default_factory is not _MISSING:
            spaces[f"_make{place}"] = item.default_factory
            made = f"_make{place}()"
            value = f"{made} if {place} is _MISSING else {place}" if item.init else made
        if not item.init and value == place:
            continue
        descriptor: Any = getattr(kind, item.name, None)
        if type(descriptor).__name__ == "member_descriptor":
            spaces[f"_set{place}"] = descriptor.__set__
            body.append(f"_set{place}(self, {value})")
        else:
            spaces[f"_key{place}"] = item.name
            body.append(f"__dict[_key{place}] = {value}")
    if any(line.startswith("__dict") for line in body):
        body.insert(0, "__dict = self.__dict__")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def __init__({', '.join(('self', *head))}):\n " + "\n ".join(body or ["pass"])
    method = _method("__init__", text, spaces, list(places))
    method.__defaults__ = _defaults(placed)
    method.__kwdefaults__ = {item.name: _default(item) for item in named if item.is_optional}
    return method


def _defaults(placed: list[_Field]) -> tuple[Any, ...]:
    defaults = [_default(item) for item in placed if item.is_optional]
    for item in placed[len(placed) - len(defaults) :]:
        if not item.is_optional:
            raise TypeError(f"the field {item.name} without a default follows one that has one")
    return tuple(defaults)


def _default(item: _Field) -> Any:
    """Return the default of the parameter; `_MISSING` if a factory creates the value."""
    return item.default if item.default_factory is _MISSING else _MISSING


def _repr_of(kind: type) -> Any:
    names = [item.name for item in getattr(kind, _FIELDS).values() if item.repr]
    values = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
    text = f"def __repr__(self):\n return self.__class__.__qualname__ + f'({values})'"
    return _method("__repr__", text, {}, [])


def _eq_of(kind: type) -> Any:
    names = _compared(kind)
    text = (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__: return NotImplemented\n"
        f" return {_tuple('self', names)} == {_tuple('other', names)}"
    )
    return _method("__eq__", text, {}, names)


def _hash_of(kind: type) -> Any:
    names = _compared(kind)
    text = f"def __hash__(self):\n return hash({_tuple('self', names)})"
    return _method("__hash__", text, {}, names)


def _compared(kind: type) -> list[str]:
    """Return the names of the fields used in comparisons."""
    return [item.name for item in getattr(kind, _FIELDS).values() if item.compare]


def _tuple(record: str, names: list[str]) -> str:
    return f"({''.join(f'{record}._{number}, ' for number in range(len(names)))})"


def _method(name: str, text: str, spaces: dict[str, Any], names: list[str]) -> FunctionType:
    """Return the method `name` from the source `text`, with `_0`, `_1`, ... replaced by `names`.

    Classes with the same number of fields share the compiled code.
    """
    real = {f"_{number}": known for number, known in enumerate(names)}
    code = _compiled(name, text)
    code = code.replace(
        co_varnames=tuple(real.get(one, one) for one in code.co_varnames),
        co_names=tuple(real.get(one, one) for one in code.co_names),
    )
    return FunctionType(code, spaces, name)


@cache
def _compiled(name: str, text: str) -> CodeType:
    spaces: dict[str, Any] = {}
    exec(text, spaces)  # noqa: S102  # pylint: disable=exec-used
    code: CodeType = spaces[name].__code__
    return code
