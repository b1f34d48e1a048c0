"""First, branch and end statements of constructs, recognised by their keywords.

The first statement is parsed as a construct with an empty body. `UnreadableError` is raised if a
part cannot be represented in the typed IR.
"""

from __future__ import annotations

import re

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Name, Range, Verbatim
from psyclone_storage.languages.fortran.parse.brackets import closing, first_outside, list_items
from psyclone_storage.languages.fortran.parse.executable import argument, expression
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

NAMED = regex(r"(?P<name>[a-z]\w*)\s*:(?!:)\s*", re.IGNORECASE)
LABELLED_DO = regex(r"do\s+(?P<label>\d+)\b\s*,?\s*", re.IGNORECASE)
_DO = regex(r"do\b(?!\s*[=(%])\s*", re.IGNORECASE)
_BRACKETED = regex(r"(?P<word>if|where|forall|associate|change\s*team)\s*\(", re.IGNORECASE)
_OTHER = regex(r"select\s*(?:case|type|rank)\s*\(|block$|critical\b(?!\s*[=%])", re.IGNORECASE)
_COUNTED = regex(r"(?P<variable>[a-z]\w*)\s*=(?!=)\s*", re.IGNORECASE)
_WHILE = regex(r"while\s*(?=\()", re.IGNORECASE)
_CONCURRENT = regex(r"concurrent\s*(?=\()", re.IGNORECASE)
_SELECT = regex(r"select\s*(?P<word>case|type|rank)\s*(?=\()", re.IGNORECASE)
_ASSOCIATE = regex(r"associate\s*(?=\()", re.IGNORECASE)
_FORALL = regex(r"forall\s*(?=\()", re.IGNORECASE)
_ALIAS = regex(r"(?P<name>[a-z]\w*)\s*=>\s*", re.IGNORECASE)
_CASE = regex(
    r"(?P<word>case|type\s+is|typeis|class\s+is|classis|rank)\s*(?=\()"
    r"|(?P<other>case|class|rank)\s*default\b",
    re.IGNORECASE,
)
_MORE = regex(r"(?P<word>else\s*if|else\s*where|elsewhere|elseif|else)\b\s*", re.IGNORECASE)
_END = regex(
    r"end\s*(?P<word>do|if|where|forall|associate|select|block|critical|team)(?:\s+(?P<name>\w+))?$",
    re.IGNORECASE,
)
_NAME_ALONE = regex(r"[a-z]\w*$", re.IGNORECASE)

Head = (
    un.Do
    | un.While
    | un.DoConcurrent
    | un.Select
    | un.Associate
    | un.Forall
    | un.ScopedBlock
    | un.Critical
)


@dataclass(frozen=True, slots=True)
class BracketedCondition:
    """Condition in parentheses after a keyword, and the text after the parentheses.

    - `rest_at`: the position of `rest` in the text.
    """

    condition: Expr
    rest: str
    rest_at: int


def opens(text: str) -> bool:
    """Return whether a statement opens a construct."""
    text = unnamed_text(text)
    if _DO.match(text) or _OTHER.match(text):
        return True
    head = _BRACKETED.match(text)
    if head is None:
        return False
    rest = text[closing(text, head.end() - 1) + 1 :].strip()
    return rest.lower() == ("then" if head["word"].lower() == "if" else "")


def unnamed_text(text: str) -> str:
    """Return the text of a statement without its construct name."""
    named = NAMED.match(text)
    return text[named.end() :] if named else text


def construct_of(text: str) -> str:
    """Return the construct name of a statement, or ''."""
    named = NAMED.match(text)
    return named["name"] if named else ""


def ended_construct(text: str) -> str:
    """Return the keyword after `end`, such as `do`, or '' if no construct ends here."""
    found = _END.match(text)
    return found["word"].lower() if found else ""


def end_name(text: str) -> str:
    """Return the construct name in an `end` statement, or ''."""
    found = _END.match(text)
    return (found["name"] or "").lower() if found else ""


def other_branch(text: str) -> str:
    """Return `else`, `elseif` or `elsewhere` if a statement starts such a branch, else ''."""
    found = _MORE.match(text)
    if found is None:
        return ""
    word = "".join(found["word"].lower().split())
    rest = text[found.end() :].strip()
    if word == "elseif":
        return word if rest.startswith("(") and not is_assigned(rest) else ""
    if word == "elsewhere":
        return word if not rest or rest.startswith("(") or _NAME_ALONE.match(rest) else ""
    return word if not rest or _NAME_ALONE.match(rest) else ""


def is_assigned(rest: str) -> bool:
    """Return whether `rest` is the left-hand side of an assignment that starts with parentheses."""
    close = closing(rest, rest.find("("))
    return rest[close + 1 :].lstrip()[:1] in ("=", "%")


def is_case(text: str) -> bool:
    """Return whether a statement starts a branch of a `select` construct."""
    found = _CASE.match(text)
    if found is None:
        return False
    rest = text[found.end() :]
    return bool(found["other"]) or not is_assigned(rest)


# ---------------------------------------------------------------------------- what heads say


def read_mask(text: str) -> BracketedCondition:
    """Parse the condition in the first parentheses; raise `UnreadableError` if none exist."""
    start = text.find("(")
    close = closing(text, start) if start >= 0 else -1
    if close < 0:
        raise UnreadableError(text)
    rest = text[close + 1 :]
    at = close + 1 + len(rest) - len(rest.lstrip())
    return BracketedCondition(expression(text[start + 1 : close].strip()), rest.strip(), at)


def read_head(text: str) -> Head | None:
    """Parse the first statement of a construct, except `if` and `where`; return None for others."""
    if found := _SELECT.match(text):
        return _select(found["word"].lower(), _inside(text, found.end()))
    if found := _ASSOCIATE.match(text):
        return _associate(_inside(text, found.end()))
    if found := _FORALL.match(text):
        controls, mask, kind = _controls(_inside(text, found.end()))
        return un.Forall(controls, (), mask, kind)
    if text.lower() == "block":
        return un.ScopedBlock((), (), ())
    if "".join(text.lower().split()) in ("critical", "critical()"):
        return un.Critical(())
    if found := LABELLED_DO.match(text) or _DO.match(text):
        return _loop(text[found.end() :].strip().removeprefix(",").strip())
    return None


def _loop(rest: str) -> Head | None:
    if not rest:
        return un.While(None, ())
    if counted := _COUNTED.match(rest):
        bounds = [rest[first:last] for first, last in list_items(rest, counted.end(), len(rest))]
        if len(bounds) not in (2, 3):
            return None
        start, stop, *step = map(expression, bounds)
        return un.Do(Name(counted["variable"]), start, stop, (), *step)
    if found := _WHILE.match(rest):
        mask = read_mask(rest[found.end() :])
        return None if mask.rest else un.While(mask.condition, ())
    if found := _CONCURRENT.match(rest):
        close = closing(rest, found.end())
        controls, condition, kind = _controls(rest[found.end() + 1 : close])
        return un.DoConcurrent(controls, (), condition, kind, rest[close + 1 :].strip())
    return None


def _inside(text: str, opening: int) -> str:
    """Return the text in the parentheses at the end of `text`.

    Raises:
        UnreadableError: the parentheses do not end the text.
    """
    if closing(text, opening) != len(text) - 1:
        raise UnreadableError(text)
    return text[opening + 1 : -1].strip()


def _controls(text: str) -> tuple[tuple[un.Control, ...], Expr | None, str]:
    """Return the loop variables of a `forall` or `do concurrent`, the mask and the type."""
    colons = first_outside(text, "::")
    kind = text[:colons].strip() if colons >= 0 else ""
    start = colons + 2 if colons >= 0 else 0
    items = [text[first:last] for first, last in list_items(text, start, len(text))]
    found: list[un.Control] = []
    mask: Expr | None = None
    for item in items:
        named = _COUNTED.match(item)
        parts = _parts(item[named.end() :]) if named and mask is None else []
        if named and len(parts) in (2, 3):
            first, last, *step = map(expression, parts)
            found.append(un.Control(Name(named["variable"]), first, last, *step))
        elif item is items[-1]:
            mask = expression(item)
        else:
            raise UnreadableError(text)
    if not found:
        raise UnreadableError(text)
    return tuple(found), mask, kind


def _parts(text: str) -> list[str]:
    """Return the parts of a subscript triplet, separated by colons outside brackets."""
    found, depth, start, quote = [], 0, 0, ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == ":" and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()]


def _select(word: str, inside: str) -> un.Select:
    alias = _ALIAS.match(inside) if word != "case" else None
    selector = expression(inside[alias.end() :] if alias else inside)
    return un.Select(selector, (), word, Name(alias["name"]) if alias else None)


def _associate(inside: str) -> un.Associate:
    pairs = []
    for first, last in list_items(inside, 0, len(inside)):
        alias = _ALIAS.match(inside, first, last)
        if alias is None:
            raise UnreadableError(inside)
        pairs.append((Name(alias["name"]), argument(inside[alias.end() : last])))
    return un.Associate(tuple(pairs), ())


def read_case(text: str) -> un.Case:
    """Parse a `case` statement as a branch with an empty body."""
    found = _CASE.match(text)
    if found is None:
        raise UnreadableError(text)
    if found["other"]:
        return un.Case((), (), found["other"].lower())
    close = closing(text, found.end())
    word = {"typeis": "type is", "classis": "class is"}.get(
        "".join(found["word"].lower().split()), found["word"].lower()
    )
    inside = text[found.end() + 1 : close].strip()
    if word != "case":
        return un.Case((Name(inside) if _NAME_ALONE.match(inside) else Verbatim(inside),), (), word)
    items = [inside[first:last] for first, last in list_items(inside, 0, len(inside))]
    return un.Case(tuple(map(_guard, items)), (), word)


def _guard(text: str) -> Expr:
    parts = _parts(text)
    if len(parts) == 1:
        return expression(text)
    if len(parts) > 2:
        raise UnreadableError(text)
    low, high = (expression(part) if part else None for part in parts)
    return Range(low, high)
