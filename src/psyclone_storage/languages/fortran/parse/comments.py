"""Conversion of text between statements to unit lines, and preprocessor conditionals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.unit import Blank, Comment, DirectiveLine, Opaque
from psyclone_storage.languages.fortran.parse.directive_semantics import meaning_of
from psyclone_storage.languages.fortran.parse.trivia import Element, Remark, RemarkKind, opaque

_CONDITIONAL = regex(r"#\s*(if|ifdef|ifndef|endif|else|elif)\b")
_PREPROCESSED = regex(r"^[ \t]*#[ \t]*(?:if|define|include)", re.MULTILINE)
_OTHER_BRANCH = frozenset({"else", "elif"})


class NestingError(ValueError):
    """Error: constructs are not correctly nested."""


def remark_line(remark: Remark) -> Comment | Blank | DirectiveLine | Opaque:
    """Return the unit line for a comment, blank line, directive or preprocessor line."""
    match remark.kind:
        case RemarkKind.COMMENT:
            return Comment(remark.text, as_written=True, place=remark.place)
        case RemarkKind.BLANK:
            return Blank(place=remark.place)
        case RemarkKind.DIRECTIVE:
            return DirectiveLine(remark.text, meaning_of(remark.text), place=remark.place)
        case RemarkKind.PREPROCESSOR | RemarkKind.SENTINEL:
            return opaque([remark])


def conditional_run(run: Sequence[Element], position: int) -> int:
    """Return the position after the `#endif` of a conditional that may start at `position`.

    Raises:
        NestingError: the conditional is not closed.
    """
    depth = 0
    for place in range(position, len(run)):
        depth += conditional_step(run[place])
        if depth <= 0:
            return place + 1
    raise NestingError


def conditional_branches(run: Sequence[Element], position: int) -> tuple[int, ...]:
    """Return the positions of the `#if` at `position`, its other branches and its `#endif`."""
    stop = conditional_run(run, position)
    depth, found = 0, []
    for place in range(position, stop):
        if depth == 1 and is_other_branch(run[place]):
            found.append(place)
        depth += conditional_step(run[place])
    return (position, *found, stop - 1)


def conditional_step(element: Element) -> int:
    """Return the nesting change caused by an element: 1 for `#if`, -1 for `#endif`, else 0."""
    return {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(conditional_word(element), 0)


def is_conditional(element: Element) -> bool:
    """Return whether an element belongs to a preprocessor conditional."""
    return conditional_word(element) != ""


def is_other_branch(element: Element) -> bool:
    """Return whether `element` is an `#else` or an `#elif`."""
    return conditional_word(element) in _OTHER_BRANCH


def conditional_word(element: Element) -> str:
    """Return the keyword of a preprocessor conditional, such as `ifdef`, or ''."""
    if not isinstance(element, Remark) or element.kind is not RemarkKind.PREPROCESSOR:
        return ""
    found = _CONDITIONAL.match(element.text)
    return found.group(1) if found else ""


def is_preprocessed(source: SourceText) -> bool:
    """Return whether the preprocessor may change the declarations in `source`."""
    return _PREPROCESSED.search(source.text) is not None
