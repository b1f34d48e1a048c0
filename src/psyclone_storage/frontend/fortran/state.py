"""Whether a subroutine may change what it keeps from call to call, as far as its text tells.

This is a question to the text alone, because reading a body costs many times as much: most kernels
change their arguments and their own variables and nothing else, and need no further look. What
counts as a change is decided where the body is known (`transform.kernel.state`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.statements import scan

_STRING = regex(r"'[^']*'|\"[^\"]*\"")
_BRACKETS = regex(r"\([^()]*\)")
_OPENING = regex(r"^(?!\s*end\b).*?\bsubroutine\s+(?P<name>\w+)", re.IGNORECASE)
_CLOSING = regex(r"^end\s*(?:subroutine\b.*)?$", re.IGNORECASE)
_KEPT = regex(r"\bsave\b|^(?:data|common)\b", re.IGNORECASE)
_DECLARATION = regex(
    r"(?:integer|real|logical|character|complex|double\s*precision|type|class)\b"
    r"\s*(?:\*\s*\d+)?\s*@?(?P<attributes>\s*,[^:=]*(?=::))?\s*(?:::)?(?P<entities>\s*\w.*)",
    re.IGNORECASE,
)
_ASSIGNMENT = regex(
    r"(?:(?:else\s*)?(?:if|where|forall)\s*@?\s*)?"
    r"(?:do\s+(?:concurrent\s*)?)?(?P<name>[a-z]\w*)\s*@?\s*(?:%[\w%@\s]*)?=(?!=)",
    re.IGNORECASE,
)
_ALLOCATION = regex(r"(?:de)?allocate\s*\(\s*(?P<name>\w+)|nullify\s*\(\s*(\w+)", re.IGNORECASE)


def may_keep_state(source: SourceText, name: str) -> bool:
    """Return whether the subroutine `name` may change a variable that outlives its calls.

    That may be one that it saves, or one that it does not declare.
    """
    declared: set[str] = set()
    changed: set[str] = set()
    for text in _statements_of(source, name):
        plain = _STRING.sub("''", text)
        short = _without_brackets(plain)
        found = _DECLARATION.match(short)
        if _KEPT.search(short):
            return True
        if found is None:
            changed.update(_changed(plain, short))
        elif "parameter" not in (found["attributes"] or "").lower():
            if "=" in found["entities"]:
                return True
            declared.update(re.findall(r"\w+", found["entities"].lower()))
    return not changed <= declared


def _statements_of(source: SourceText, name: str) -> Iterator[str]:
    inside = False
    for statement in scan(source):
        text = statement.text.strip()
        if inside and _CLOSING.match(text):
            return
        if inside:
            yield text
        opening = _OPENING.match(text)
        inside = inside or (opening is not None and opening["name"].lower() == name.lower())


def _without_brackets(text: str) -> str:
    shorter = _BRACKETS.sub("@", text)
    while shorter != text:
        text, shorter = shorter, _BRACKETS.sub("@", shorter)
    return text


def _changed(plain: str, short: str) -> Iterable[str]:
    assignment = _ASSIGNMENT.match(short)
    if assignment is not None:
        yield assignment["name"].lower()
    for allocation in _ALLOCATION.finditer(plain):
        yield (allocation["name"] or allocation[2]).lower()
