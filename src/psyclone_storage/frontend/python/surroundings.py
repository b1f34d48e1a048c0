"""The text of a function in a program that runs, and what the names in it stand for there.

Owns nothing of the compiler, so that what depends on a kernel is known before that is imported.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from operator import attrgetter, call, is_
from types import CellType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex

Position = tuple[int | None, int | None, int | None, int | None]
"""First and last line, first column and the one behind the last."""

_WORD = regex(r"[^\x00-/:-@[-^`{-\x7f]+")
"""Names, numbers and more: some characters of names, as in "l·l", are none of `\\w`."""
_WORDS = ("Word", "Annotation")


@dataclass(frozen=True, slots=True)
class FunctionText:
    """A function as it was when it was read: its file, its first line, its text, what names mean.

    `statements` are imports and constants by the names that need them, in order. `odd` are names of
    objects that raise when they are looked at. `around` are numbers of the function around it.
    `called` are the names that it may call. `defaults` are what its arguments are by default, None
    for what is no number. `wraps` is the name of the function that it says to stand for.
    """

    file: str
    first: int
    text: str
    name: str
    module: str
    statements: tuple[tuple[str, str], ...]
    odd: tuple[str, ...]
    around: tuple[str, ...]
    called: tuple[str, ...] = ()
    defaults: tuple[tuple[str, float | None], ...] = ()
    wraps: str = ""


@dataclass(frozen=True, slots=True)
class LinkedFunction:
    """A function as it is now with what it calls: each function by the name that it has for it."""

    function: Callable[..., Any]
    text: FunctionText
    calls: tuple[tuple[str, Callable[..., Any]], ...]


@dataclass(slots=True, eq=False)
class Looks:
    """What was looked at to read functions: each way to look, at what it looks, what was found."""

    ways: list[Callable[[Any], Any]] = field(default_factory=list)
    at: list[Any] = field(default_factory=list)
    found: list[Any] = field(default_factory=list)
    _known: set[Hashable] = field(default_factory=set)

    def look(self, way: Callable[[Any], Any], at: Any) -> Any:
        """Look at something, and keep what is found."""
        value = way(at)
        self._keep(way, at, value)
        return value

    def add(self, other: Looks) -> None:
        """Keep what was found elsewhere, too."""
        for one in zip(other.ways, other.at, other.found, strict=True):
            self._keep(*one)

    def hold(self) -> bool:
        """Return whether the same is found now."""
        return all(map(is_, map(call, self.ways, self.at), self.found))

    def _keep(self, way: Callable[[Any], Any], at: Any, value: Any) -> None:
        # pylint: disable-next=unidiomatic-typecheck  # one that is derived may compare otherwise
        key = way, at if type(at) is str else id(at), id(value)
        if key not in self._known:
            self._known.add(key)
            self.ways.append(way)
            self.at.append(at)
            self.found.append(value)


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """The lines of a function whose code is this one, their file, and the number of the first."""

    code: CodeType
    file: str
    text: str
    first: int


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The code that makes a call, the text of its file, and where the call stands there."""

    code: CodeType
    text: str
    position: Position


def linked_functions(function: Callable[..., Any], module: str) -> tuple[LinkedFunction, ...]:
    """Return a function with all that it calls now, directly or not, itself first.

    What a name stands for may change at any time, as where a cell of a notebook is run again, and
    so may a function. What is the same is one object. The lines of a function are those from when
    they were read first: files may change later. What is made of them and what that is known by
    are then of one text. `module` has the words of an API.

    Raises:
        OSError: the text of the function itself is not to be had.
        TypeError: it is no function of Python.
    """
    return _linked_with_looks(function, module)[0]


def linked_now(function: Callable[..., Any], module: str) -> tuple[LinkedFunction, ...] | None:
    """Return a function with all that it calls now; None where its text is not to be had."""
    try:
        return linked_functions(function, module)
    except (OSError, TypeError):
        return None


def changed_numbers(linked: Iterable[LinkedFunction]) -> Iterator[tuple[str, str, Any]]:
    """Yield variables of modules that have another type now, what they had, and what they have."""
    for one in linked:
        names = _names_in(one.function.__code__)
        values = getattr(one.function, "__globals__", {})
        for name, statement in one.text.statements:
            if name in names and statement.startswith(f"{name} = "):
                was, now = statement.removeprefix(f"{name} = "), values.get(name)
                if was != "None" and type(ast.literal_eval(was)) is not type(now):
                    yield name, was, now


def looks_for(function: Callable[..., Any], module: str) -> Looks:
    """Return what `linked_functions` looked at, which may raise what that raises."""
    return _linked_with_looks(function, module)[1]


def _linked_with_looks(
    function: Callable[..., Any], module: str
) -> tuple[tuple[LinkedFunction, ...], Looks]:
    key = function, module
    known = _links().get(key)
    if known is None or not known[1].hold():
        linked, looks = _linked(function, module)
        known = _links()[key] = _one_of().setdefault(linked, linked), looks
    return known


@cache
def _links() -> dict[tuple[Callable[..., Any], str], tuple[tuple[LinkedFunction, ...], Looks]]:
    """Return what was linked last."""
    return {}


@cache
def _one_of() -> dict[tuple[LinkedFunction, ...], tuple[LinkedFunction, ...]]:
    """Return one object for each of those that are the same."""
    return {}


def _linked(function: Callable[..., Any], module: str) -> tuple[tuple[LinkedFunction, ...], Looks]:
    found: dict[Callable[..., Any], LinkedFunction] = {}
    all_looks = Looks()
    waiting = [function]
    while waiting and len(found) < _MOST_FUNCTIONS:
        one = waiting.pop(0)
        if one in found:
            continue
        looks = Looks()
        # A kernel is passed all that it takes.
        text = _read(one, module, looks, _PARTS[:1] if one is function else _PARTS)
        calls = []
        for name in text.called:
            value = _looked_up(one, name, here := Looks())
            if _may_be_read(value, module):
                calls.append((name, value))
                looks.add(here)
        found[one] = LinkedFunction(one, text, tuple(calls))
        all_looks.add(looks)
        waiting += [value for _, value in calls]
    return tuple(found.values()), all_looks


_MOST_FUNCTIONS = 200
_PARTS = tuple(map(attrgetter, ("__code__", "__defaults__", "__kwdefaults__")))
"""The parts of a function that may be exchanged, as by what loads files again when they change."""
_CALL = regex(r"(?<![\w.])([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*\(")


@cache
def _lines() -> dict[Callable[..., Any], _Lines]:
    """Return the lines that were read so far."""
    return {}


def _lines_of(function: Callable[..., Any]) -> _Lines:
    """Return the lines of a function as they were when its code was seen first.

    Raises:
        OSError: they are not to be had.
        TypeError: it is no function of Python.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        raise TypeError(f"{function!r} is no function of Python.")
    known = _lines().get(function)
    if known is None or known.code is not code:
        # Of what wraps a function the library reads that.
        own = code if hasattr(function, "__wrapped__") else function
        lines, first = inspect.getsourcelines(own)
        file = inspect.getsourcefile(own) or "<kernel>"
        known = _lines()[function] = _Lines(code, file, "".join(lines), first)
    return known


def _read(
    function: Callable[..., Any],
    module: str,
    looks: Looks,
    parts: Iterable[Callable[[Any], Any]],
) -> FunctionText:
    """Return a function as it is now, and keep what is looked at."""
    for part in parts:
        value = looks.look(part, function)
        if isinstance(value, dict):
            # Values by name may be exchanged in the dictionary itself.
            looks.look(len, value)
            for name in value:
                looks.look(value.get, name)
    lines = _lines_of(function)
    around = inspect.getclosurevars(function).nonlocals
    values = getattr(function, "__globals__", {})
    in_code = _names_in(lines.code)
    statements, odd = [], []
    for name in sorted(set(_WORD.findall(unicodedata.normalize("NFKC", lines.text)))):
        value = around[name] if name in around else values.get(name)
        # pylint: disable-next=unidiomatic-typecheck  # one that is derived may look names up
        if name in in_code and type(value) is ModuleType:
            _looked_up(function, name, looks)
        try:
            statements += [(name, one) for one in _statements_for(module, name, value)]
        except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            # A name may stand for an object that does anything when it is looked at.
            odd.append(name)
    called = sorted({"".join(one.split()) for one in _CALL.findall(lines.text)})
    for name in called:
        if name.partition(".")[0] in in_code:
            _looked_up(function, name, looks)
    return FunctionText(
        lines.file,
        lines.first,
        lines.text,
        lines.code.co_name,
        function.__module__ or "",
        tuple(statements),
        tuple(odd),
        _numbers(around),
        tuple(called),
        _defaults(function),
        str(getattr(getattr(function, "__wrapped__", None), "__name__", "")),
    )


def _names_in(code: CodeType) -> set[str]:
    """Return the names, other than locals, that code has, and what is defined in it."""
    inner = (_names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*inner)


def _defaults(function: Callable[..., Any]) -> tuple[tuple[str, float | None], ...]:
    """Return what arguments are by default, None for what is no number."""
    code, own = function.__code__, getattr(function, "__defaults__", None) or ()
    names = code.co_varnames[: code.co_argcount]
    by_order = zip(names[len(names) - len(own) :], own, strict=False)
    found = dict(by_order) | (getattr(function, "__kwdefaults__", None) or {})
    return tuple((name, _number(value)) for name, value in found.items())


def _number(value: Any) -> float | None:
    if type(value) not in (bool, int, float) or not math.isfinite(value):
        return None
    number: float = value
    return number


def _looked_up(function: Callable[..., Any], name: str, looks: Looks) -> Any:
    """Return what a name with dots stands for in a function, and keep how that is found.

    It is None for what is in no module.
    """
    first, *rest = name.split(".")
    code, cells = function.__code__, function.__closure__ or ()
    around = dict(zip(code.co_freevars, cells, strict=True))
    if first in around:
        value = looks.look(_in_cell, around[first])
    else:
        value = looks.look(function.__globals__.get, first)
    for part in rest:
        if not issubclass(type(value), ModuleType):
            return None
        value = looks.look(vars(value).get, part)
    return value


def _in_cell(cell: CellType) -> Any:
    """Return what a variable of the function around has, None if it has nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _may_be_read(value: Any, module: str) -> bool:
    """Return whether what is called is a function in Python, none of the language's own."""
    if type(value) is not FunctionType:  # pylint: disable=unidiomatic-typecheck  # none is derived
        return False
    package = str(value.__module__).partition(".")[0]
    if package in ("numpy", module.partition(".")[0]):
        return False
    try:
        _lines_of(value)
    except (OSError, TypeError):
        return False
    return True


def _numbers(around: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted(name for name in around if isinstance(around[name], int | float)))


def _statements_for(module: str, name: str, value: Any) -> Iterator[str]:
    """Yield the import or the constant that a name needs, if it needs one."""
    own = str(getattr(value, "__name__", ""))
    if isinstance(value, ModuleType):
        yield f"import {value.__name__} as {name}"
    elif own and getattr(math, own, None) is value:
        yield f"from math import {own} as {name}"
    elif isinstance(value, int):
        yield f"{name} = {value if isinstance(value, bool) else int(value)!r}"
    elif isinstance(value, float) and math.isfinite(value):
        yield f"{name} = {float(value)!r}"
    elif (word := getattr(value, "name", "")) and type(value).__name__ in _WORDS:
        if word != name:
            yield f"from {module} import {word} as {name}"
    elif own == "kernel" and name != own:
        yield f"from {module} import {own} as {name}"
    elif _hides_builtin(name, value):
        yield f"{name} = None"


def _hides_builtin(name: str, value: Any) -> bool:
    """Return whether a name of a function of Python stands for something else, none of NumPy."""
    known = getattr(builtins, name, None)
    is_other = None not in (known, value) and value is not known
    return is_other and type(value).__name__ != "ufunc"


def place_of(frame: FrameType) -> CallPlace:
    """Return where the statement stands that a frame does."""
    lines = linecache.getlines(frame.f_code.co_filename)
    (position,) = islice(frame.f_code.co_positions(), frame.f_lasti // 2, frame.f_lasti // 2 + 1)
    return CallPlace(frame.f_code, "".join(lines), position)
