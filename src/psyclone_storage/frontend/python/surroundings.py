"""The text of a function in a program that runs, and what the names in it stand for there.

Owns nothing of the compiler, so that what depends on a kernel is known before that is imported.
"""

from __future__ import annotations

import inspect
import linecache
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]
"""First and last line, first column and the one behind the last."""


def text_around(function: Callable[..., Any]) -> tuple[str, int, str]:
    """Return the file of a function, the number of its first line, and its text as it stands there.

    Raises:
        OSError: its text is not to be had.
        TypeError: it is no function of Python.
    """
    lines, first = inspect.getsourcelines(function)
    return inspect.getsourcefile(function) or "<kernel>", first, "".join(lines)


def values_around(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return what names stand for in a function."""
    around = inspect.getclosurevars(function)
    return {**getattr(function, "__globals__", {}), **around.nonlocals}


def statements_for(module: str, names: Iterable[str], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield imports and constants for names, as statements; `module` has the words of an API."""
    yield f"from {module} import *"
    for name in sorted(names):
        value = values.get(name)
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


_WORDS = ("Word", "Annotation")


def place_of(frame: FrameType) -> tuple[str, str, Position]:
    """Return the file that a frame is in, its text, and where the statement stands that it does."""
    file = frame.f_code.co_filename
    lines = linecache.getlines(file)
    (position,) = islice(frame.f_code.co_positions(), frame.f_lasti // 2, frame.f_lasti // 2 + 1)
    return file, "".join(lines), position
