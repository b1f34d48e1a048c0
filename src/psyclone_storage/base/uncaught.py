"""Hooks for uncaught exceptions: omit internal stack frames, and abort all MPI ranks.

Each hook also calls the previously installed one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

from psyclone_storage.base.compilers import NoCompilerError
from psyclone_storage.base.diagnostic import CompileError

PACKAGE = str(Path(__file__).parents[1]) + os.sep
HEAD_START = 2.0
"""Seconds for which other ranks let rank 0 report an error that all ranks have."""


class UserError(Exception):
    """Base of errors that the user can fix; tracebacks omit internal frames."""

    def wait(self) -> None:
        """Wait for operations that must complete before the error is printed."""


def blamed(error: Exception, value: object) -> Exception:
    """Return an error with the argument of an invoke that it is about, for `blamed_value`."""
    vars(error)["blamed"] = value
    return error


def blamed_value(error: Exception) -> object:
    """Return the argument of an invoke that an error is about, or None.

    The error does not refer to the argument any more, so that another process can receive it.
    """
    return vars(error).pop("blamed", None)


class HaloWidthError(UserError, ValueError, IndexError):
    """The halo of a grid is narrower than a kernel or an exchange requires."""


@cache
def hide_package_frames() -> None:
    """Omit frames of this package when an uncaught user error is printed."""
    previous = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, (UserError, CompileError, NoCompilerError)):
            previous(kind, error, trace)
            return
        if isinstance(error, UserError):
            error.wait()
        if previous is sys.__excepthook__:
            sys.stderr.write(_user_text(error, trace))
        else:
            previous(kind, error.with_traceback(_user_frames(trace)), error.__traceback__)

    sys.excepthook = show


def abort_on_uncaught(rank: int, size: int, abort: Callable[[], None]) -> None:
    """Call `abort` after the message of an uncaught exception in any thread is printed.

    SystemExit does not call these hooks. A forked child does not abort.
    """
    hide_package_frames()  # before the hook below, which would be an unknown previous hook for it
    process, of_main, of_threads = os.getpid(), sys.excepthook, threading.excepthook

    def end(kind: type[BaseException], show: Callable[[], object]) -> None:
        if os.getpid() != process:
            show()
            return
        try:
            if rank:
                time.sleep(HEAD_START)
            show()
        finally:
            # The abort must follow whatever the streams of the program do.
            try:
                with contextlib.suppress(Exception):
                    ended = f"Rank {rank} of {size} ended with {kind.__name__}"
                    sys.stderr.write(f"{ended}: all ranks are aborted.\n")
                    sys.stderr.flush()
                with contextlib.suppress(Exception):
                    sys.stdout.flush()
            finally:
                abort()

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        end(kind, lambda: of_main(kind, error, trace))

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is SystemExit:
            of_threads(args)
        else:
            end(args.exc_type, lambda: of_threads(args))

    sys.excepthook, threading.excepthook = hook, thread_hook


def _user_text(error: BaseException, trace: TracebackType | None) -> str:
    """Return the traceback of the user's frames and the error message."""
    import traceback  # noqa: PLC0415 (only for errors)

    head = "".join(traceback.format_tb(_user_frames(trace)))
    notes = getattr(error, "__notes__", None)
    if isinstance(error, CompileError) and notes:
        words = "\n".join(notes) + "\n"
    else:
        words = "".join(traceback.format_exception_only(error))
    return f"Traceback (most recent call last):\n{head}{words}"


def level_of_user() -> int:
    """Return the `stacklevel` for a warning that points to the innermost user frame."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
    while frame.f_back is not None and _is_internal(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def user_location() -> str:
    """Return the file and line of the innermost user frame, or an empty text."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_internal(file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _is_internal(file: str) -> bool:
    """Return whether a file is part of this package, generated by it, or runs its contexts."""
    is_ours = file.startswith((PACKAGE, contextlib.__file__, "<"))
    return is_ours and not file.startswith("<ipython")


def _user_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback without frames of this package and of code that it generated."""
    kept = []
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(PACKAGE) and "__c__" not in trace.tb_frame.f_globals:
            kept.append(trace)
        trace = trace.tb_next
    made = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made
