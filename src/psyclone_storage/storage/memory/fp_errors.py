"""Handling of floating-point errors in work that runs later than its submission.

A division by zero, an overflow or an invalid value is handled as configured when the work was
submitted: by `np.errstate` and, for warnings, by the warning filters. The outcome is thus the same
whenever the work runs. If a warning filter turns the warning into an error, the work fails.
Otherwise the warning is shown when the work runs, with the line of code that submitted it.
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
    """A call of compiled code, which does not use NumPy's floating-point error settings."""


def as_asked(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return work that handles floating-point errors with the caller's current settings."""
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
    """Receiver of NumPy's floating-point errors, with the interface of its mode "log".

    It also receives errors that the user logs or handles by a callback, and passes them on.
    """

    def __init__(self, wanted: dict[str, Any], call: Any) -> None:
        """Store the current settings, and the line of user code that submits the work."""
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
        """Pass an error on to the user's callback."""
        return self._call(kind, flag)

    def write(self, text: str) -> None:
        """Pass a line on to the user's log, or handle a warning."""
        told = text.removeprefix(_WARNING).strip()
        kind = next((kind for kind, word in _WORDS.items() if told.startswith(word)), "")
        if self._wanted.get(kind, "warn") != "warn":
            self._call.write(text)
            return
        action = self._action_for(told)
        if action == "error":
            raise RuntimeWarning(told)
        if action != "ignore" and self._is_new(action, told):
            # The filters of the thread that waits for the work may differ; they do not apply.
            warnings.showwarning(told, RuntimeWarning, self._file, self._line)

    def _action_for(self, text: str) -> str:
        """Return the action of the first warning filter that matches."""
        for action, message, category, module, line in self._filters:
            is_here = line in (0, self._line) and _fits(module, self._module)
            if is_here and issubclass(RuntimeWarning, category) and _fits(message, text):
                return action
        return self._default

    def _is_new(self, action: str, text: str) -> bool:
        """Return whether a warning that is shown only once has not been shown yet."""
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
    """Return whether a warning filter's pattern matches; it is a string or a compiled regex."""
    if pattern is None or isinstance(pattern, str):
        return pattern in (None, text)
    return pattern.match(text) is not None
