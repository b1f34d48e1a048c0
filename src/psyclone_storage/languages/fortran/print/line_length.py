"""Line lengths and indentation as a compiler or a user wants them, without a change of meaning.

Lines that an author wrote longer than a compiler accepts are broken, and indentation can be left
out. Every line within the limit is unchanged. Lines that cannot be continued - a preprocessor line,
an `include` line, a directive that is not OpenMP's or OpenACC's - are unchanged, too.
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
    """Return free-form Fortran with no line over 132 characters, except for those that must stay.

    A long statement is continued, at blanks where that is possible and otherwise inside of a string
    or a name with an `&` on both sides. A long comment continues as a comment on the next line, and
    a trailing comment follows on lines of its own.
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
    """Return `text` with no blanks before its lines, but for those that belong to a string."""
    lines: list[str] = []
    quote = ""
    for line in text.split("\n"):
        inside = bool(quote) and not line.lstrip().startswith("&")
        lines.append(line if inside else line.lstrip(" "))
        _, quote = _code_of(line, quote)
    return "\n".join(lines)


def _code_of(line: str, quote: str) -> tuple[str, str]:
    """Return the part of `line` before its comment, and the string that goes on after it.

    `quote` is the quotation mark of a string that the line starts in, or empty.
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
    """Yield the lines that `line` becomes.

    `before` and `after` are whether it starts or ends inside a string.
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
    """Yield `code` in parts that may end anywhere, inside a string too."""
    further = indent + " " * _STEP
    while len(code) > LIMIT:
        yield code[: LIMIT - 1] + "&"
        code = f"{further}&{code[LIMIT - 1 :]}"
    yield code


def _remark(remark: str, indent: str) -> Iterator[str]:
    """Yield a comment as comments, and a directive as a directive that is continued."""
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
