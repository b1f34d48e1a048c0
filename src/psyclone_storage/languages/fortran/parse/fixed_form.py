"""Fortran in fixed form: a view of its text that readers of free form understand.

The view has the same length as the text, so that a place is the same in both. In the view each
comment starts with `!`, the mark of a continuation line is `&`, and columns from 73 on are a
comment. Blanks inside a name or keyword, which fixed form permits, are not removed.
"""

from __future__ import annotations

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText

_LAST = 72
_SUFFIXES = (".f", ".for", ".ftn", ".fpp", ".f77")
_COMMENT = frozenset("cC*dD!")
_TOKEN = regex(
    r"(?P<code>[^!'\";\r\n]+)|(?P<string>'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\")|(?P<mark>.)"
)
_CONTINUED = regex(r"(?:     [^ 0\n\r]|\t[1-9]|(?=&))")
_LINES = regex(r"[^\n]*\n?")


def is_fixed_form(name: str) -> bool:
    """Return whether the suffix of a file is one of fixed form."""
    return name.lower().endswith(_SUFFIXES)


def fixed_source(source: SourceText) -> SourceText:
    """Return the source whose text is the view of a text in fixed form."""
    view = "".join(map(_viewed, _LINES.findall(source.text)))
    return SourceText(source.name, view, written=source.text)


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
    last = _LAST - 5 * body.startswith("\t")
    code, ignored = body[:last], body[last:]
    if "!" in _without_strings(code) or not ignored.strip():
        return body + end
    return f"{code}!{ignored[1:]}{end}"


def _without_strings(code: str) -> str:
    return "".join(found["code"] or found["mark"] or "" for found in _TOKEN.finditer(code))
