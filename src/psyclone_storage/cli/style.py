"""How problems and reports are printed: in which form, and whether in colour.

Read from the command line before everything else, so that a mistake in the options is itself
reported in the form that was asked for.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import NoReturn, TextIO

from psyclone_storage.base.records import dataclass
from psyclone_storage.cli.parser import Formatter

FORMS = ("text", "json", "sarif", "github")
COLOURS = ("auto", "always", "never")
WARNINGS = ("show", "error")


@dataclass(frozen=True, slots=True)
class Style:
    """The form of problems, one of `FORMS`, and the wish for colour, one of `COLOURS`.

    `warnings` is one of `WARNINGS`: whether they are shown as such, or as errors. `traces` asks for
    the calls of Python that led to a problem.
    """

    form: str = "text"
    colour: str = "auto"
    warnings: str = "show"
    traces: bool = False


def add_style(parser: argparse._ActionsContainer) -> None:
    """Add the options that `read_style` reads to a parser, which checks and describes them."""
    parser.add_argument(
        "--diagnostics", choices=FORMS, default="text",
        help="how to print problems: for people, as JSON, for code scanners, or for GitHub",
    )  # fmt: skip
    parser.add_argument(
        "--traceback", action="store_true",
        help="show the calls of Python behind a problem of a script, or a defect of this tool",
    )  # fmt: skip
    parser.add_argument("--colour", choices=COLOURS, default="auto", help="colour on terminals")
    parser.add_argument(
        "--warnings",
        choices=WARNINGS,
        default="show",
        help="show warnings, or make them errors: nothing is written for a file that has one",
    )


def read_style(words: Sequence[str]) -> Style:
    """Return the style that `words` ask for; whatever is wrong with them is no business of this."""
    parser = _Silent(add_help=False, allow_abbrev=False, formatter_class=Formatter)
    parser.add_argument("--diagnostics", default="text")
    parser.add_argument("--colour", default="auto")
    parser.add_argument("--warnings", default="show")
    parser.add_argument("--traceback", action="store_true")
    try:
        given, _ = parser.parse_known_args(words)
    except _MistakeError:
        return Style()
    return Style(given.diagnostics, given.colour, given.warnings, given.traceback)


def in_colour(wish: str, stream: TextIO) -> bool:
    """Return whether to print in colour on `stream`.

    `auto` means on a terminal that knows colours, unless `NO_COLOR` is set to anything
    (https://no-color.org).
    """
    if wish != "auto":
        return wish == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


class _MistakeError(Exception):
    """The words cannot be read."""


class _Silent(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _MistakeError(message)
