"""Own what becomes of conditions of floating-point numbers in work that is done later.

A division by zero, an overflow or an invalid value is treated as was wanted when the work was asked
for: by `np.errstate`, and where that is to warn, by the filters of warnings. So what comes of it is
the same whenever the work is done. A warning that is an error makes the work fail; one that is
shown has the line that asked for the work, is shown when the work is done, and is never raised.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from psyclone_storage.storage.core.forking import nothing
from psyclone_storage.storage.memory.races import user_frame

_WORDS = {
    "divide": "divide by zero", "over": "overflow", "under": "underflow",
    "invalid": "invalid value",
}  # fmt: skip
_WARNING = "Warning: "


class NativeCall(partial[Any]):
    """A call of compiled code, which knows nothing of NumPy and of what it is to do."""


def as_asked(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return work that treats conditions of numbers as who asks for it wants them now."""
    if work is nothing or isinstance(work, NativeCall):
        return work
    wanted: dict[str, Any] = dict(np.geterr())
    call: Any = np.geterrcall()
    if "warn" in wanted.values():
        call = _Conditions(wanted, call)
        wanted = {kind: "log" if how == "warn" else how for kind, how in wanted.items()}

    def attempt() -> Any:
        with np.errstate(**wanted, call=call):
            return work()

    return attempt


class _Conditions:
    """What NumPy tells of conditions, in the words of its mode "log".

    It is also told of those that are logged or called for by the user, and hands them on.
    """

    def __init__(self, wanted: dict[str, Any], call: Any) -> None:
        """Keep what is wanted now, with the line of the user's code that wants it."""
        self._wanted = wanted
        self._call = call
        self._filters = tuple(warnings.filters)
        self._default = getattr(warnings, "defaultaction", "default")
        frame = user_frame()
        names: dict[str, Any] = {} if frame is None else frame.f_globals
        self._module = str(names.get("__name__", "<unknown>"))
        self._seen = names.setdefault("__warningregistry__", {})
        self._file = "<unknown>" if frame is None else frame.f_code.co_filename
        self._line = 1 if frame is None else frame.f_lineno

    def __call__(self, kind: str, flag: int) -> Any:
        """Hand on a condition that the user wants to be called for."""
        return self._call(kind, flag)

    def write(self, text: str) -> None:
        """Hand on a line for the user's log, or treat what is to be warned of."""
        told = text.removeprefix(_WARNING).strip()
        kind = next((kind for kind, word in _WORDS.items() if told.startswith(word)), "")
        if self._wanted.get(kind, "warn") != "warn":
            self._call.write(text)
            return
        action = self._action_for(told)
        if action == "error":
            raise RuntimeWarning(told)
        if action != "ignore" and self._is_new(action, told):
            # Who waits for the work may have other filters: theirs are for what they do.
            warnings.showwarning(told, RuntimeWarning, self._file, self._line)

    def _action_for(self, text: str) -> str:
        """Return what the filters say, of which the first that fits counts."""
        for action, message, category, module, line in self._filters:
            is_here = line in (0, self._line) and _fits(module, self._module)
            if is_here and issubclass(RuntimeWarning, category) and _fits(message, text):
                return action
        return self._default

    def _is_new(self, action: str, text: str) -> bool:
        """Say whether a warning has not been shown, where it is to be shown but once."""
        if action in ("always", "all"):
            return True
        once = action == "once"
        seen: Any = getattr(warnings, "onceregistry", self._seen) if once else self._seen
        key = (text, RuntimeWarning) if once else (text, RuntimeWarning, self._line)
        if action == "module":
            key = (text, RuntimeWarning, 0)
        is_new = key not in seen
        seen[key] = 1
        return is_new


def _fits(pattern: Any, text: str) -> bool:
    """Match a part of a filter, if any, which is a string where the interpreter has made it."""
    if pattern is None or isinstance(pattern, str):
        return pattern in (None, text)
    return pattern.match(text) is not None
