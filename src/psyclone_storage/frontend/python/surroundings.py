"""The text of a function in a program that runs, and what the names in it stand for there.

Owns nothing of the compiler, so that what depends on a kernel is known before that is imported.
"""

from __future__ import annotations

import builtins
import inspect
import linecache
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
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
    `called` are the names that it may call.
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


@dataclass(frozen=True, slots=True)
class LinkedFunction:
    """A function with what it calls now: each function by the name that it has for it.

    `bound` are what was looked at to find them, and what it gave.
    """

    function: Callable[..., Any]
    calls: tuple[tuple[str, Callable[..., Any]], ...]
    bound: tuple[tuple[Callable[[], Any], Any], ...] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The code that makes a call, the text of its file, and where the call stands there."""

    code: CodeType
    text: str
    position: Position


def read_function(function: Callable[..., Any], module: str) -> FunctionText:
    """Return a function as it is when this is asked first: files and constants may change later.

    What is made of it and what that is known by are then of one text. `module` has the words of an
    API.

    Raises:
        OSError: its text is not to be had.
        TypeError: it is no function of Python.
    """
    known, key = _known(), (function, module)
    if key not in known:
        known.setdefault(key, _read(function, module))
    return known[key]


@cache
def _known() -> dict[tuple[Callable[..., Any], str], FunctionText]:
    """Return what was read so far."""
    return {}


def _read(function: Callable[..., Any], module: str) -> FunctionText:
    lines, first = inspect.getsourcelines(function)
    text = "".join(lines)
    around = inspect.getclosurevars(function).nonlocals
    values = getattr(function, "__globals__", {})
    statements, odd = [], []
    for name in sorted(set(_WORD.findall(unicodedata.normalize("NFKC", text)))):
        value = around[name] if name in around else values.get(name)
        try:
            statements += [(name, one) for one in _statements_for(module, name, value)]
        except Exception:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            # A name may stand for an object that does anything when it is looked at.
            odd.append(name)
    return FunctionText(
        inspect.getsourcefile(function) or "<kernel>",
        first,
        text,
        function.__name__,
        function.__module__,
        tuple(statements),
        tuple(odd),
        _numbers(around),
        tuple(sorted({"".join(one.split()) for one in _CALL.findall(text)})),
    )


def linked_functions(function: Callable[..., Any], module: str) -> tuple[LinkedFunction, ...]:
    """Return a function with all that it calls now, directly or not, itself first.

    What a name stands for may change at any time, as where a cell of a notebook is run again.

    Raises:
        OSError, TypeError: as `read_function` does for the function itself.
    """
    found: dict[Callable[..., Any], LinkedFunction] = {}
    waiting = [function]
    while waiting and len(found) < _MOST_FUNCTIONS:
        one = waiting.pop(0)
        if one in found:
            continue
        called = read_function(one, module).called
        calls, bound = [], list[tuple[Callable[[], Any], Any]]()
        for name in called:
            looked = _looked_up(one, name)
            if looked and _may_be_read(value := looked[-1][1], module):
                calls.append((name, value))
                bound += looked
        found[one] = LinkedFunction(one, tuple(calls), tuple(bound))
        waiting += [value for _, value in calls]
    return tuple(found.values())


_MOST_FUNCTIONS = 200
_CALL = regex(r"(?<![\w.])([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*\(")


def _looked_up(function: Callable[..., Any], name: str) -> list[tuple[Callable[[], Any], Any]]:
    """Return what the parts of a name with dots stand for in a function, and how they are found.

    Nothing is returned for what is in no module.
    """
    first, *rest = name.split(".")
    code, cells = function.__code__, function.__closure__ or ()
    around = dict(zip(code.co_freevars, cells, strict=True))
    places = function.__globals__
    look = partial(_in_cell, around[first]) if first in around else partial(places.get, first)
    value = look()
    found: list[tuple[Callable[[], Any], Any]] = [(look, value)]
    for part in rest:
        if not issubclass(type(value), ModuleType):
            return []
        look = partial(vars(value).get, part)
        value = look()
        found.append((look, value))
    return found


def _in_cell(cell: CellType) -> Any:
    """Return what a variable of the function around has, None if it has nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _may_be_read(value: Any, module: str) -> bool:
    """Return whether what is called is a function in Python, none of the language's own."""
    if type(value) is not FunctionType:
        return False
    package = str(value.__module__).partition(".")[0]
    if package in ("numpy", module.partition(".")[0]):
        return False
    try:
        read_function(value, module)
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
