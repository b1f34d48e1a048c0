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
from functools import cache
from itertools import islice
from types import CodeType, FrameType, ModuleType
from typing import Any

from psyclone_storage.base.records import dataclass
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
    """

    file: str
    first: int
    text: str
    name: str
    module: str
    statements: tuple[tuple[str, str], ...]
    odd: tuple[str, ...]
    around: tuple[str, ...]


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
    )


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
