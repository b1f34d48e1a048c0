"""Form and colour of printed diagnostics and reports.

They are read from the command line first, so that errors in options are also reported in the
requested form.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TextIO

from psyclone_storage.base.records import dataclass

FORMS = ("text", "json", "sarif", "github")
COLOURS = ("auto", "always", "never")
WARNINGS = ("show", "error")


@dataclass(frozen=True, slots=True)
class Style:
    """Form of diagnostics.

    - `form`: one of `FORMS`.

    - `colour`: one of `COLOURS`.

    - `warnings`: one of `WARNINGS`: warnings are shown as warnings or as errors.

    - `traces`: show the Python calls that led to a diagnostic.
    """

    form: str = "text"
    colour: str = "auto"
    warnings: str = "show"
    traces: bool = False


def add_style(parser: argparse._ActionsContainer) -> None:
    """Add the options evaluated by `read_style` to a parser, which checks and documents them."""
    parser.add_argument(
        "--diagnostics", choices=FORMS, default="text",
        help="the format of diagnostics: text, JSON, SARIF (code scanners) or GitHub annotations",
    )  # fmt: skip
    parser.add_argument(
        "--traceback", action="store_true",
        help="print the Python traceback of an error in a script or of an internal error",
    )  # fmt: skip
    parser.add_argument("--colour", choices=COLOURS, default="auto", help="colour on terminals")
    parser.add_argument(
        "--warnings",
        choices=WARNINGS,
        default="show",
        help="print warnings, or treat them as errors: a file with a warning gets no output",
    )


def read_style(words: Sequence[str]) -> Style:
    """Return the requested style; the option parser reports errors later."""
    options = words[: words.index("--")] if "--" in words else words
    given: dict[str, str] = {}
    for word, following in zip(options, [*options[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        given[name] = value if equals else following
    return Style(
        _chosen(given, "--diagnostics", FORMS),
        _chosen(given, "--colour", COLOURS),
        _chosen(given, "--warnings", WARNINGS),
        "--traceback" in options,
    )


def _chosen(given: Mapping[str, str], name: str, values: tuple[str, ...]) -> str:
    """Return the value of an option, or the first of `values` if it is missing or invalid."""
    value = given.get(name, "")
    return value if value in values else values[0]


def in_colour(wish: str, stream: TextIO) -> bool:
    """Return whether to print in colour on `stream`.

    `auto` means yes on a terminal with colours, unless `NO_COLOR` is set (https://no-color.org).
    """
    if wish != "auto":
        return wish == "always"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
