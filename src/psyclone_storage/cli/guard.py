"""Run a command so that problems are printed and no stack trace reaches a user.

Here is the one place that catches `CompileError`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError, Severity
from psyclone_storage.base.render import render_json, render_text

_REPORT_US = "This is a defect of psyclone-storage, not of your code: please report it."


@dataclass(slots=True)
class Style:
    """How problems are printed; set by the command once it has read its options."""

    as_json: bool = False
    colour: str = "auto"


def guarded(command: Callable[[], Iterable[Diagnostic]], style: Style) -> int:
    """Run `command`, print the problems that it returns or raises, and return an exit status.

    0: everything asked for was done. 1: something was wrong with what the user gave. 2: a defect
    of this tool.
    """
    try:
        problems = tuple(command())
    except CompileError as error:
        problems = error.problems
    except BrokenPipeError:
        # Whoever read the output has gone; nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except InternalError as error:
        return _defect(error, str(error))
    except Exception as error:  # pylint: disable=broad-exception-caught
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return _defect(error, f"{type(error).__name__} at {place}: {error}")
    _print(problems, style)
    return int(any(problem.severity is Severity.ERROR for problem in problems))


def _defect(error: BaseException, what: str) -> int:
    where = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    print(f"internal error: {what}{where}\n{_REPORT_US}", file=sys.stderr)
    return 2


def _print(problems: tuple[Diagnostic, ...], style: Style) -> None:
    if not problems:
        return
    if style.as_json:
        print(render_json(problems), file=sys.stderr)
    else:
        print(render_text(problems, colour=_in_colour(style.colour, sys.stderr)), file=sys.stderr)


def _in_colour(wish: str, stream: TextIO) -> bool:
    if wish != "auto":
        return wish == "always"
    return stream.isatty() and "NO_COLOR" not in os.environ
