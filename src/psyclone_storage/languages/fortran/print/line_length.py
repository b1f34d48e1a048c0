"""Limits on line lengths and indentation of Fortran text that preserve its meaning.

Lines longer than a compiler accepts are split, and indentation can be removed. All other lines are
unchanged. A line that cannot be continued is also unchanged: a preprocessor line, an `include`
line, or a directive other than OpenMP or OpenACC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.regex import regex
from psyclone_storage.languages.fortran.print.wrap import LIMIT, wrapped

_STEP = 4
_FIXED = regex(r"\s*(#|include\s*['\"]|!(\$\s|dir\$|dec\$|gcc\$))", re.IGNORECASE)
_MARKS = regex("[!'\"]")
_DOXYGEN = regex("![<>!]")
_DIRECTIVE = regex(r"\s*!\$(omp|acc)\s", re.IGNORECASE)


def within_limit(text: str) -> str:
    """Return free-form Fortran with all lines split to at most 132 characters if possible.

    A long statement is split at blanks if possible. Otherwise it is split inside a string or a name
    with `&` on both sides. A long comment continues as a comment on the next line. A trailing
    comment that is too long is moved to lines after its statement.
    """
    ending = "\r\n" if "\r\n" in text else "\n"
    lines: list[str] = []
    quote = ""
    for line in text.split(ending):
        code, after = _code_of(line, quote)
        lines += _shorter(line, code, quote, after) if len(line) > LIMIT else [line]
        quote = after
    return ending.join(lines)


def without_indentation(text: str) -> str:
    """Return `text` without indentation, except in continued strings."""
    lines: list[str] = []
    quote = ""
    for line in text.split("\n"):
        inside = bool(quote) and not line.lstrip().startswith("&")
        lines.append(line if inside else line.lstrip(" "))
        _, quote = _code_of(line, quote)
    return "\n".join(lines)


def _code_of(line: str, quote: str) -> tuple[str, str]:
    """Return the code of `line` without its comment, and the quote of a string left open.

    `quote` is the quotation mark of a string that is open at the start of the line, or ''.
    """
    if not quote and line.lstrip()[:1] in ("#", "!"):
        return "", ""
    if not quote and not _MARKS.search(line):
        return line, ""
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character == "!":
            return line[:position], ""
        elif character in "\"'":
            quote = character
    return line, quote if line.rstrip().endswith("&") else ""


def _shorter(line: str, code: str, before: str, after: str) -> Iterator[str]:
    """Yield the lines into which `line` is split.

    `before` and `after` are the quotation marks of strings open at its start and end, or ''.
    """
    if _FIXED.match(line) and not before:
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())]
    if code.strip():
        yield from _statement(code.rstrip(), indent, whole=not before and not after)
    remark = line[len(code) :].strip()
    if remark:
        yield from _remark(remark, indent)


def _statement(code: str, indent: str, *, whole: bool) -> Iterator[str]:
    if len(code) <= LIMIT:
        yield code
    elif whole:
        yield from wrapped(code.strip(), len(indent))
    else:
        yield from _cut(code, indent)


def _cut(code: str, indent: str) -> Iterator[str]:
    """Split `code` at any position, also inside a string."""
    further = indent + " " * _STEP
    while len(code) > LIMIT:
        yield code[: LIMIT - 1] + "&"
        code = f"{further}&{code[LIMIT - 1 :]}"
    yield code


def _remark(remark: str, indent: str) -> Iterator[str]:
    """Split a comment into several comments, or a directive into continued directives."""
    directive = _DIRECTIVE.match(remark)
    more = " &" if directive else ""
    start = directive.group().strip() if directive else remark[: 2 if _DOXYGEN.match(remark) else 1]
    room = LIMIT - len(more)
    line = indent + start
    for word in remark[len(start) :].split():
        if len(line) + 1 + len(word) > room and line.strip() != start:
            yield line + more
            line = indent + start
        line += f" {word}"
    yield line
