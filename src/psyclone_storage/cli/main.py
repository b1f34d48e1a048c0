"""The command `psyclone-storage`: options in, files and reports out, an exit status back.

Here is the one place that catches `CompileError`; no stack trace reaches a user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError, Severity
from psyclone_storage.base.render import render_json, render_text
from psyclone_storage.cli.options import Options, read_options

_REPORT_US = "This is a defect of psyclone-storage, not of your code: please report it."


def main(words: Sequence[str] | None = None) -> int:
    """Run the command on `words` (default: those of the process); return its exit status.

    0: everything asked for was written. 1: something was wrong, and every problem was printed to
    standard error. 2: a defect of this tool.
    """
    given = sys.argv[1:] if words is None else list(words)
    options: Options | None = None
    try:
        options = read_options(given)
        problems = _run(options)
    except CompileError as error:
        problems = error.problems
    except BrokenPipeError:
        sys.stdout = None  # type: ignore[assignment]
        return 1
    except InternalError as error:
        print(f"internal error: {error}\n{_REPORT_US}", file=sys.stderr)
        return 2
    _print_problems(problems, options)
    return int(any(problem.severity is Severity.ERROR for problem in problems))


def _run(options: Options) -> tuple[Diagnostic, ...]:
    """Do what `options` ask for. The compiler is imported here and not at the top, because
    `--version` and `--help` must not wait for it."""
    from psyclone_storage.cli.batch import run_batch

    return run_batch(options)


def _print_problems(problems: tuple[Diagnostic, ...], options: Options | None) -> None:
    if options is not None and options.diagnostics == "json":
        if problems:
            print(render_json(problems), file=sys.stderr)
        return
    wish = options.colour if options is not None else "auto"
    if problems:
        print(render_text(problems, colour=_in_colour(wish, sys.stderr)), file=sys.stderr)


def _in_colour(wish: str, stream: TextIO) -> bool:
    if wish != "auto":
        return wish == "always"
    return stream.isatty() and "NO_COLOR" not in os.environ
