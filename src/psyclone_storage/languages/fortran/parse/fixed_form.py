"""Fortran in fixed form: a view of its text that readers of free form understand.

The view has the same length as the text, so that a place is the same in both. In the view each
comment starts with `!`, the mark of a continuation line is `&`, and columns from 73 on are a
comment. Blanks inside a name or keyword, which fixed form permits, are not removed.
"""

from __future__ import annotations

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText

_LAST = 72
FIXED_SUFFIXES = (".f", ".for", ".ftn", ".fpp", ".f77")
"""The ends of the names of files in fixed form."""
_COMMENT = frozenset("cC*dD!")
_TOKEN = regex(
    r"(?P<code>[^!'\";\r\n]+)|(?P<string>'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\")|(?P<mark>.)"
)
_DIRECTIVE = regex(r"[cC*!]\$")
_CONTINUED = regex(r"(?:     [^ 0\n\r]|\t[1-9]|(?=&))")
_LINES = regex(r"[^\n]*\n?")


def is_fixed_form(name: str) -> bool:
    """Return whether the suffix of a file is one of fixed form."""
    return name.lower().endswith(FIXED_SUFFIXES)


def fixed_source(source: SourceText) -> SourceText:
    """Return the source whose text is the view of a text in fixed form."""
    view = "".join(map(_viewed, _LINES.findall(source.text)))
    return SourceText(source.name, view, written=source.text)


def depends_on_length(text: str) -> bool:
    """Return whether a text in fixed form could have another meaning with longer lines.

    A literal that continues on the next line does: blanks fill it up to the end of its line.
    """
    return any(map(_depends_on_length, _LINES.findall(text)))


def _depends_on_length(line: str) -> bool:
    if line.startswith("#") or (line[:1] in _COMMENT and not _DIRECTIVE.match(line)):
        return False
    code, ignored = _divided(line.rstrip())
    start = 6 - 5 * line.startswith("\t")
    marks = (found["mark"] for found in _TOKEN.finditer(code[start:]) if found["mark"] != ";")
    mark = next(filter(None, marks), "")
    return bool(ignored) if not mark else mark != "!"


def _divided(body: str) -> tuple[str, str]:
    """Return the columns of a line that are read, and those that are not."""
    last = _LAST - 5 * body.startswith("\t")
    return body[:last], body[last:]


def _viewed(line: str) -> str:
    """Return the view of one line."""
    if not line.strip() or line.startswith("#"):
        return line
    if line[0] in _COMMENT:
        return f"!{line[1:]}"
    body = line.rstrip("\r\n")
    end = line[len(body) :]
    mark = _CONTINUED.match(body)
    if mark is not None and mark.end():
        body = f"{body[: mark.end() - 1]}&{body[mark.end() :]}"
    code, ignored = _divided(body)
    if "!" in _without_strings(code) or not ignored.strip():
        return body + end
    return f"{code}!{ignored[1:]}{end}"


def _without_strings(code: str) -> str:
    return "".join(found["code"] or found["mark"] or "" for found in _TOKEN.finditer(code))
