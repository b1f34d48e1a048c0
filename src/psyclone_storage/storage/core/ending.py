"""Own the exit status of a program whose deferred work failed at its end; refuse to know what work.

Nobody can catch an error of work that was put off to the end. Python gives the status 120 to a
program that cannot empty its own streams when it ends, which is used here for what was lost. It
takes the place of any other status, that of `sys.exit(3)` as well: Python shows no status to what
is done at the end, so that 0 cannot be told from 3 there. Who is ended by an interrupt (Ctrl-C)
still ends by that signal. Processes that end by `os._exit` are asked nothing.
"""

from __future__ import annotations

import io
import sys
import threading
from typing import Any, TextIO, cast


class _StreamOfFailure:
    """The error output of a program that has failed at its end, which Python cannot empty."""

    def __init__(self, stream: TextIO | None) -> None:
        """Stand in the place of a stream; where there is none, nobody reads what is said."""
        self._stream = io.StringIO() if stream is None or _is_closed(stream) else stream

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has."""
        return getattr(self._stream, name)

    @property
    def closed(self) -> bool:
        """Whether the stream is closed; no for the interpreter, which asks closed ones nothing."""
        return _is_closed(self._stream) and not sys.is_finalizing()

    def flush(self) -> None:
        """Empty the stream; fail when the interpreter itself asks, after all other code."""
        if not _is_closed(self._stream):
            self._stream.flush()
        if sys.is_finalizing():
            raise OSError("Work that was put off has failed.")


def fail_at_end() -> None:
    """Let a program that ends have the exit status 120; do nothing while it goes on."""
    stream = getattr(sys, "stderr", None)
    if threading.main_thread().is_alive() or isinstance(stream, _StreamOfFailure):
        return
    sys.stderr = cast(TextIO, _StreamOfFailure(stream))


def _is_closed(stream: TextIO) -> bool:
    return bool(getattr(stream, "closed", False))
