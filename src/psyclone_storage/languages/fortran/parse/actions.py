"""Parsing of simple statements: jumps, allocation, input and output.

Assignments and calls are parsed in `executable`. The function returns None for a statement with an
expression that the typed IR cannot represent.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, ImpliedDo, Keyword, Name, Star
from psyclone_storage.languages.fortran.parse.brackets import closing, first_outside, list_items
from psyclone_storage.languages.fortran.parse.executable import expression, read_action
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_WORD = regex(r"[a-z]+", re.IGNORECASE)
_NAME = regex(r"[a-z]\w*$", re.IGNORECASE)
_KEYWORD = regex(r"(?P<name>[a-z]\w*)\s*=(?!=)\s*", re.IGNORECASE)
_COUNTED = regex(r"(?P<variable>[a-z]\w*)\s*=(?!=)\s*", re.IGNORECASE)
_LABELS = regex(r"\(\s*(?P<labels>\d+(?:\s*,\s*\d+)*)\s*\)\s*,?\s*(?P<selector>.+)$")
_QUIET = regex(r"quiet\s*=(?!=)\s*", re.IGNORECASE)
_ERROR_STOP = regex(r"error\s*stop\b\s*", re.IGNORECASE)
_GOTO = regex(r"go\s*to\b\s*(?P<rest>.*)$", re.IGNORECASE)
_END_FILE = regex(r"end\s*file\b\s*", re.IGNORECASE)
_INCLUDE = regex(r"include\s*(?P<file>'[^']*'|\"[^\"]*\")$", re.IGNORECASE)

ActionStatement = (
    un.Assign | un.PointerAssign | un.Call | un.Allocate | un.Deallocate | un.Nullify
    | un.InputOutput | un.Return | un.Exit | un.Cycle | un.Continue | un.Goto | un.Stop | un.Include
)  # fmt: skip
"""A statement without statements in it."""


def read_simple(text: str) -> ActionStatement | None:
    """Parse a simple statement, which contains no other statement.

    Return None if not understood.
    """
    line = read_action(text)
    if line is not None:
        return line
    try:
        found = _WORD.match(text)
        word = found.group().lower() if found else ""
        rule = _RULES.get(word)
        return None if rule is None else rule(text, text[len(word) :].strip())
    except UnreadableError:
        return None


# ---------------------------------------------------------------------------- jumps


def _return(_: str, rest: str) -> ActionStatement:
    return un.Return(expression(rest) if rest else None)


def _exit(_: str, rest: str) -> ActionStatement | None:
    return un.Exit(rest) if not rest or _NAME.match(rest) else None


def _cycle(_: str, rest: str) -> ActionStatement | None:
    return un.Cycle(rest) if not rest or _NAME.match(rest) else None


def _continue(_: str, rest: str) -> ActionStatement | None:
    return None if rest else un.Continue()


def _goto(text: str, _: str) -> ActionStatement | None:
    found = _GOTO.match(text)
    rest = found["rest"].strip() if found else ""
    if rest.isdigit():
        return un.Goto((rest,))
    chosen = _LABELS.match(rest)
    if chosen is None:
        return None
    labels = tuple(label.strip() for label in chosen["labels"].split(","))
    return un.Goto(labels, expression(chosen["selector"]))


def _stop(_: str, rest: str) -> ActionStatement:
    return _stopping(rest, error=False)


def _error(text: str, _: str) -> ActionStatement | None:
    found = _ERROR_STOP.match(text)
    return _stopping(text[found.end() :].strip(), error=True) if found else None


def _stopping(rest: str, *, error: bool) -> ActionStatement:
    code, quiet = None, None
    for start, stop in list_items(rest, 0, len(rest)):
        named = _QUIET.match(rest, start, stop)
        if named:
            quiet = expression(rest[named.end() : stop])
        elif start < stop:
            code = expression(rest[start:stop])
    return un.Stop(code, error, quiet)


def _include(text: str, _: str) -> ActionStatement | None:
    found = _INCLUDE.match(text)
    return un.Include(found["file"]) if found else None


# ---------------------------------------------------------------------------- memory


def _allocate(_: str, rest: str) -> ActionStatement | None:
    inside = _only_brackets(rest)
    if inside is None:
        return None
    colons = first_outside(inside, "::")
    kind = inside[:colons].strip() if colons >= 0 else ""
    items = _listed(inside[colons + 2 :] if colons >= 0 else inside, _argument)
    return un.Allocate(items, kind)


def _deallocate(_: str, rest: str) -> ActionStatement | None:
    inside = _only_brackets(rest)
    return None if inside is None else un.Deallocate(_listed(inside, _argument))


def _nullify(_: str, rest: str) -> ActionStatement | None:
    inside = _only_brackets(rest)
    return None if inside is None else un.Nullify(_listed(inside, expression))


def _only_brackets(rest: str) -> str | None:
    """Return the text in parentheses if these enclose all of `rest`, else None."""
    if rest.startswith("(") and closing(rest, 0) == len(rest) - 1:
        return rest[1:-1].strip()
    return None


# ---------------------------------------------------------------------------- files


def _print(_: str, rest: str) -> ActionStatement | None:
    items = [rest[start:stop] for start, stop in list_items(rest, 0, len(rest))]
    if not items or rest.startswith("="):
        return None
    return un.InputOutput("print", (_value(items[0]),), tuple(map(_item, items[1:])))


def _read(_: str, rest: str) -> ActionStatement | None:
    if rest.startswith("("):
        return _transfer("read", rest)
    items = [rest[start:stop] for start, stop in list_items(rest, 0, len(rest))]
    if not items:
        return None
    return un.InputOutput("read", (Star(), _value(items[0])), tuple(map(_item, items[1:])))


def _write(_: str, rest: str) -> ActionStatement | None:
    return _transfer("write", rest)


def _inquire(_: str, rest: str) -> ActionStatement | None:
    return _transfer("inquire", rest)


def _transfer(word: str, rest: str) -> ActionStatement | None:
    close = closing(rest, 0) if rest.startswith("(") else -1
    if close < 0:
        return None
    behind = rest[close + 1 :].strip().removeprefix(",")
    return un.InputOutput(word, _listed(rest[1:close], _argument), _listed(behind, _item))


def _on_file(text: str, rest: str) -> ActionStatement | None:
    """Parse a file statement with its unit in parentheses, or with the unit alone."""
    found = _WORD.match(text)
    word = found.group().lower() if found else ""
    inside = _only_brackets(rest)
    if inside is not None:
        return un.InputOutput(word, _listed(inside, _argument))
    return un.InputOutput(word, (expression(rest),)) if rest and rest[0] != "=" else None


def _end(text: str, _: str) -> ActionStatement | None:
    found = _END_FILE.match(text)
    return _on_file("endfile", text[found.end() :].strip()) if found else None


def _listed(text: str, rule: Callable[[str], Expr]) -> tuple[Expr, ...]:
    return tuple(rule(text[start:stop]) for start, stop in list_items(text, 0, len(text)))


def _argument(text: str) -> Expr:
    """Parse an argument, with or without a keyword."""
    named = _KEYWORD.match(text)
    return Keyword(named["name"], _value(text[named.end() :])) if named else _value(text)


def _value(text: str) -> Expr:
    return Star() if text.strip() == "*" else expression(text)


def _item(text: str) -> Expr:
    """Parse an item of an input or output list: an expression or an implied `do` loop."""
    if text.startswith("(") and closing(text, 0) == len(text) - 1:
        inside = text[1:-1]
        parts = [inside[start:stop] for start, stop in list_items(inside, 0, len(inside))]
        for at, part in enumerate(parts):
            counted = _COUNTED.match(part)
            if counted and at and len(parts) - at in (2, 3):
                bounds = [expression(part[counted.end() :]), *map(expression, parts[at + 1 :])]
                items = tuple(map(_item, parts[:at]))
                return ImpliedDo(items, Name(counted["variable"]), *bounds)
    return expression(text)


_RULES: dict[str, Callable[[str, str], ActionStatement | None]] = {
    "return": _return,
    "exit": _exit,
    "cycle": _cycle,
    "continue": _continue,
    "go": _goto,
    "goto": _goto,
    "stop": _stop,
    "error": _error,
    "errorstop": _error,
    "include": _include,
    "allocate": _allocate,
    "deallocate": _deallocate,
    "nullify": _nullify,
    "print": _print,
    "read": _read,
    "write": _write,
    "inquire": _inquire,
    **dict.fromkeys(("open", "close", "rewind", "backspace", "flush", "wait"), _on_file),
    "endfile": _on_file,
    "end": _end,
}
