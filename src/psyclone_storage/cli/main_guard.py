"""Execution of a command in which all errors become printed diagnostics.

Only this module catches `CompileError` at top level, and decides how internal errors are reported.
Users see no stack trace.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from psyclone_storage import __version__
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError, Severity
from psyclone_storage.base.hints import cure_of_system
from psyclone_storage.base.records import replace
from psyclone_storage.base.render import render_text
from psyclone_storage.base.stopping import StoppedError, stopped_by_signals
from psyclone_storage.cli.style import Style, in_colour

DEFECT = "I001"
EXHAUSTED = 71
"""The exit status of a worker process that has no memory."""

_FLATTEN = "Divide long expressions and deeply nested blocks."
_BY_SIGNAL = 128  # what a shell adds to the number of the signal that ended a command


def run_guarded(command: Callable[[], Iterable[Diagnostic]], style: Style) -> int:
    """Run `command`, print its diagnostics, and return an exit status.

    - 0: the command succeeded.

    - 1: an error in the input, or standard output was closed by its reader.

    - 2: an internal error.

    - 128 plus the number of a signal: the command was stopped by this signal.
    """
    _open_streams()
    # Let standard output be the bytes that a file would get, whatever the locale.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    try:
        with stopped_by_signals():
            problems = _problems_of(command)
            problems = as_errors(problems) if style.warnings == "error" else problems
            _print(problems, style)
    except BrokenPipeError:
        _forget_output()
        return 1
    except StoppedError as error:
        return _BY_SIGNAL + error.number
    except KeyboardInterrupt:
        return _BY_SIGNAL + signal.SIGINT
    return _status(problems)


def failure(error: Exception, file: Path | None = None) -> Diagnostic:
    """Return the diagnostic for an unexpected exception; `file` is the current input.

    The code is `L004` for an error of the operating system, `L020` if memory or recursion depth is
    exhausted, and `I001` for an internal error.
    """
    if isinstance(error, OSError):
        refused = f"'{error.filename}'" if error.filename else "to read or write"
        reason = f"The operating system refuses {refused}: {error.strerror or error}."
        return Diagnostic("L004", reason, file=str(file or ""), hint=cure_of_system(error))
    if isinstance(error, MemoryError):
        return Diagnostic(
            "L020", "The memory that the process may use is exhausted.", file=str(file or "")
        )
    import traceback  # noqa: PLC0415

    if isinstance(error, RecursionError):
        message = "The input is nested too deeply, or a chain in it is too long."
        trace = "".join(traceback.format_exception(error))
        return Diagnostic("L020", message, file=str(file or ""), hint=_FLATTEN, trace=trace)
    what = str(error)
    if not isinstance(error, InternalError):
        last = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {what}"
    return Diagnostic(
        DEFECT,
        f"Internal error: {what.rstrip('.')}.",
        error.span if isinstance(error, InternalError) else None,
        file=str(file or ""),
        hint="This is a defect of psyclone-storage, not of your code: please report it.",
        trace="".join(traceback.format_exception(error)),
    )


def as_errors(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return `problems` with warnings changed to errors."""
    return tuple(replace(problem, severity=Severity.ERROR) for problem in problems)


def _problems_of(command: Callable[[], Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    try:
        problems = _flushed(command)
    except CompileError as error:
        return error.problems
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        if isinstance(error, OSError) and not error.filename:
            _forget_output()
        return (failure(error),)
    return problems


def _flushed(command: Callable[[], Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of `command` after its output, also if this is help or the version."""
    try:
        problems = tuple(command())
    except SystemExit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()
    return problems


def _forget_output() -> None:
    """Redirect closed standard output to the null device, because Python writes again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Replace standard streams that the caller has closed.

    Python ignores output to a closed stream, and the next opened file would get its number. Here
    writing to standard output fails, and messages on standard error are discarded.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _status(problems: Iterable[Diagnostic]) -> int:
    codes = {problem.code for problem in problems if problem.severity is Severity.ERROR}
    return 2 if DEFECT in codes else int(bool(codes))


def _print(problems: tuple[Diagnostic, ...], style: Style) -> None:
    if not style.traces:
        problems = tuple(replace(one, trace="") if one.trace else one for one in problems)
    if style.form in ("json", "sarif", "github"):
        _print_for_tools(problems, style.form)
    elif problems:
        colour = in_colour(style.colour, sys.stderr)
        print(render_text(problems, colour=colour), file=sys.stderr)


def _print_for_tools(problems: tuple[Diagnostic, ...], form: str) -> None:
    from psyclone_storage.base import render_tools  # noqa: PLC0415

    if form == "json":
        print(render_tools.render_json(problems), file=sys.stderr)
    elif form == "sarif":
        print(render_tools.render_sarif(problems, __version__), file=sys.stderr)
    elif problems:
        print(render_tools.render_github(problems), file=sys.stderr)


def lost_process(task: str, file: Path, status: int) -> Diagnostic:
    """Return the diagnostic for a worker process that died; a negative `status` is a signal.

    `task` states what the process did to `file`.
    """
    if status == EXHAUSTED:
        return failure(MemoryError(), file)
    if status >= 0:
        end = f"ended itself with exit status {status}"
        hint = "Remove calls such as 'os._exit' from the script and the modules that it imports."
    else:
        end = f"was killed by signal {-status} ({_signal_name(-status)})"
        hint = "" if -status == signal.SIGKILL else "Run it without '-j' to see where it fails."
    return Diagnostic("L019", f"The process that {task} {end}.", file=str(file), hint=hint)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
