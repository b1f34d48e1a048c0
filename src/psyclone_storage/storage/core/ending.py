"""Own the exit status of a program whose deferred work failed at its end; refuse to know what work.

Nobody can catch an error of work that was put off to the end. Python gives the status 120 to a
program that cannot empty its own streams when it ends, which is used here for what was lost; it
takes the place of any other status. Processes that end by `os._exit` are asked nothing.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, TextIO, cast


class _StreamOfFailure:
    """The error output of a program that has failed at its end, which Python cannot empty."""

    def __init__(self, stream: TextIO | None) -> None:
        """Stand in the place of a stream, if there is one."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has."""
        return getattr(self._stream, name)

    def flush(self) -> None:
        """Empty the stream; fail when the interpreter itself asks, after all other code."""
        if self._stream is not None:
            self._stream.flush()
        if sys.is_finalizing():
            raise OSError("Work that was put off has failed.")


def fail_at_end() -> None:
    """Let a program that ends have the exit status 120; do nothing while it goes on."""
    if threading.main_thread().is_alive() or isinstance(sys.stderr, _StreamOfFailure):
        return
    sys.stderr = cast(TextIO, _StreamOfFailure(sys.stderr))
