"""Exit status of a program whose deferred work, of any kind, failed at exit.

The program cannot catch an error of work that was deferred to its end. Python uses exit status 120
for a program that cannot flush its own streams at exit; this module uses it for lost results. It
replaces any other status, also that of `sys.exit(3)`: Python does not pass the status to exit
handlers, so that they cannot distinguish 0 from 3. A program that an interrupt (Ctrl-C) ends still
ends by that signal. Processes that end by `os._exit` run none of this.
"""

from __future__ import annotations

import io
import sys
import threading
from typing import Any, TextIO, cast


class _StreamOfFailure:
    """The error output of a program that has failed at its end, which Python cannot empty."""

    def __init__(self, stream: TextIO | None) -> None:
        """Wrap a stream; without one, discard all output."""
        self._stream = io.StringIO() if stream is None or _is_closed(stream) else stream

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the stream."""
        return getattr(self._stream, name)

    @property
    def closed(self) -> bool:
        """Return whether the stream is closed; False for the interpreter at exit.

        The interpreter does not flush closed streams.
        """
        return _is_closed(self._stream) and not sys.is_finalizing()

    def flush(self) -> None:
        """Flush the stream; fail when the interpreter itself calls this, after all other code."""
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
