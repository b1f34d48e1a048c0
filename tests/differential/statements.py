"""Free-form Fortran as a tree of statements, as far as generated PSy layers need it.

Owns logical lines (comments, continuations, case) and the nesting of routines, loops and branches.
It knows no infrastructure and gives statements no meaning. Text that it cannot nest is an error;
a statement that it does not know is kept as `Other`, for the reader to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

NAME = r"[a-z]\w*"
_PART = rf"{NAME}(?:\([^=]*?\))?"
_DESIGNATOR = rf"{_PART}(?:%{_PART})*"


@dataclass(slots=True)
class Assign:
    """`target = value`, or `target => value`."""

    target: str
    value: str


@dataclass(slots=True)
class Call:
    """`call name(arguments)`; `name` may be a chain of components."""

    name: str
    arguments: tuple[str, ...]


@dataclass(slots=True)
class Do:
    """A counted loop."""

    index: str
    start: str
    stop: str
    body: list[Statement] = field(default_factory=list)


@dataclass(slots=True)
class Branch:
    """One arm of an `if`; an `else` has the negated conditions of the arms before it."""

    condition: str
    body: list[Statement] = field(default_factory=list)


@dataclass(slots=True)
class If:
    """An `if` construct or statement."""

    arms: list[Branch]


@dataclass(slots=True)
class Other:
    """Any other statement, as text."""

    text: str


Statement = Assign | Call | Do | If | Other


@dataclass(slots=True)
class Subroutine:
    """A subroutine: its dummies, its declarations and its executable statements."""

    name: str
    dummies: tuple[str, ...]
    declarations: list[str] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)


def read_subroutines(text: str) -> list[Subroutine]:
    """Return the subroutines in `text`, in order.

    Raises:
        ValueError: a construct is opened or closed where it cannot be.
    """
    found = []
    lines = iter(logical_lines(text))
    for line in lines:
        opened = re.fullmatch(rf"(?:module )?subroutine ({NAME})(\(.*\))?", line)
        if opened:
            dummies = split_list(opened[2][1:-1]) if opened[2] else ()
            found.append(_read_subroutine(Subroutine(opened[1], dummies), lines))
    return found


@lru_cache(maxsize=8)
def logical_lines(text: str) -> tuple[str, ...]:
    """Return the statements of `text`: lower case, one blank at most, comments and `&` gone."""
    found: list[str] = []
    pending = ""
    for raw in text.splitlines():
        line = _without_comment(raw).strip()
        if not line:
            continue
        line = line.removeprefix("&") if pending else line
        pending += line.removesuffix("&")
        if not line.endswith("&"):
            found += map(_tidy, _split(pending, ";"))
            pending = ""
    return tuple(found)


def split_list(text: str) -> tuple[str, ...]:
    """Return the items of a comma-separated list, brackets and quotes respected."""
    return tuple(item.strip() for item in _split(text, ",")) if text.strip() else ()


def closing(text: str, opening: int) -> int:
    """Return the position of the bracket that closes the one at `opening`.

    Raises:
        ValueError: there is none.
    """
    depth = 0
    for position in range(opening, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    raise ValueError(f"no closing bracket in '{text}'")


def _read_subroutine(routine: Subroutine, lines: Iterator[str]) -> Subroutine:
    blocks: list[list[Statement]] = [routine.body]
    for line in lines:
        if line.startswith("end subroutine"):
            if len(blocks) != 1:
                raise ValueError(f"'{routine.name}' ends inside a construct")
            return routine
        if "::" in line or re.match(r"(use|implicit|private|public)\b", line):
            routine.declarations.append(line)
        else:
            _nest(line, blocks)
    raise ValueError(f"'{routine.name}' has no end")


def _nest(line: str, blocks: list[list[Statement]]) -> None:
    if re.fullmatch(r"end ?(do|if)", line):
        blocks.pop()
    elif line.startswith("else"):
        blocks.pop()
        construct = blocks[-1][-1]
        if not isinstance(construct, If):
            raise ValueError(f"'{line}' without an if")
        blocks.append(_next_arm(construct, line).body)
    else:
        statement = _statement(line)
        blocks[-1].append(statement)
        if isinstance(statement, Do):
            blocks.append(statement.body)
        elif isinstance(statement, If) and line.endswith("then"):
            blocks.append(statement.arms[0].body)


def _next_arm(construct: If, line: str) -> Branch:
    condition = re.fullmatch(r"else ?if ?\((.*)\) ?then", line)
    before = [arm.condition for arm in construct.arms]
    arm = Branch(condition[1] if condition else ".not.(" + ").and..not.(".join(before) + ")")
    construct.arms.append(arm)
    return arm


def _statement(line: str) -> Statement:
    if loop := re.fullmatch(rf"do ({NAME}) ?= ?(.+)", line):
        start, stop, *_step = split_list(loop[2])
        return Do(loop[1], start, stop)
    if re.match(r"if ?\(", line):
        opening = line.index("(")
        end = closing(line, opening)
        arm = Branch(line[opening + 1 : end].strip())
        rest = line[end + 1 :].strip()
        if rest != "then":
            arm.body.append(_statement(rest))
        return If([arm])
    if line.startswith("call "):
        return _call(line.removeprefix("call "))
    if assign := re.fullmatch(rf"({_DESIGNATOR}) ?=>? ?(.+)", line):
        return Assign(assign[1], assign[2])
    return Other(line)


def _call(text: str) -> Call:
    if not text.endswith(")"):
        return Call(text, ())
    opening = next(
        position
        for position in range(len(text) - 1, -1, -1)
        if text[position] == "(" and closing(text, position) == len(text) - 1
    )
    return Call(text[:opening].strip(), split_list(text[opening + 1 : -1]))


def _without_comment(line: str) -> str:
    if "!" not in line:
        return line
    quote = ""
    for position, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "!":
            return line[:position]
    return line


def _split(text: str, separator: str) -> list[str]:
    if separator not in text:
        return [text]
    parts, depth, quote, begin = [], 0, "", 0
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    return [*parts, text[begin:]]


def _tidy(statement: str) -> str:
    statement = re.sub(r"\s+", " ", statement.strip().lower())
    return re.sub(r"^enddo$", "end do", re.sub(r"^endif$", "end if", statement))
