"""Replacement of early returns by conditionals.

before: if (mask(i, j) <= 0) return; u(i, j) = 0
after:  if (.not. mask(i, j) <= 0) then; u(i, j) = 0; end if
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Unary
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.unit import (
    Blank,
    Branch,
    Comment,
    Continue,
    Do,
    If,
    Label,
    Line,
    Return,
    While,
)


def without_returns(lines: tuple[Line, ...], *, negate: bool = True) -> tuple[Line, ...]:
    """Return the statements of a subroutine with early returns replaced where possible.

    A `return` remains in loops, in `select` and named constructs, and before labels. It also
    remains if the following statements would have to be duplicated in several branches. With
    `negate`, an `if` that only returns becomes an `if` with the negated condition.
    """
    for at, line in enumerate(lines):
        rest = lines[at + 1 :]
        if _is_return(line):
            return lines[: at + 1] + rest if _has_label(rest) else lines[:at]
        if isinstance(line, If) and not line.name and _returns((line,)):
            if _is_needed_twice(line, rest) or (_has_label(rest) and not _does_nothing(rest)):
                return lines
            return (*lines[:at], _with_rest(line, rest, negate=negate))
    return lines


def reason_for_returns(lines: tuple[Line, ...]) -> str:
    """Return why `without_returns` left a `return` in `lines`; empty if none is left."""
    for at, line in enumerate(lines):
        if isinstance(line, Return):
            return "a procedure returns before a label or from a construct with a name"
        if not isinstance(line, If):
            if _returns((line,)):
                construct = (
                    "a loop" if isinstance(line, Do | While) else "a construct like 'select'"
                )
                return f"a procedure returns from within {construct}"
            continue
        if _returns((line,)) and _is_needed_twice(line, lines[at + 1 :]):
            return "a procedure returns from one of several branches"
        if reason := next(filter(None, map(reason_for_returns, blocks_of(line))), ""):
            return reason
    return ""


def _with_rest(choice: If, rest: tuple[Line, ...], *, negate: bool) -> If:
    """Return `choice` with the following statements moved into the branch that continues."""
    blocks = blocks_of(choice)
    continuing = next((at for at, block in enumerate(blocks) if not _ends(block)), None)
    changed = [
        without_returns((*block, *rest) if at == continuing else block, negate=negate)
        for at, block in enumerate(blocks)
    ]
    if negate and len(changed) == 2 and not changed[0]:
        condition = Unary(Operator.NOT, choice.branches[0].condition)
        return If((Branch(condition, changed[1]),))
    branches = tuple(
        replace(branch, body=body) for branch, body in zip(choice.branches, changed, strict=False)
    )
    return replace(choice, branches=branches, otherwise=changed[-1], extent=None)


def _is_needed_twice(choice: If, rest: tuple[Line, ...]) -> bool:
    """Return whether several branches of `choice` continue with the statements after it."""
    continuing = sum(not _ends(block) for block in blocks_of(choice))
    return continuing > 1 and not _does_nothing(rest)


def _ends(block: Iterable[Line]) -> bool:
    """Return whether all control-flow paths through a block return."""
    for line in block:
        if _is_return(line):
            return True
        if isinstance(line, If) and all(map(_ends, blocks_of(line))):
            return True
    return False


def _is_return(line: Line) -> bool:
    return isinstance(line, Return) and line.value is None


def _returns(lines: Iterable[Line]) -> bool:
    return any(isinstance(line, Return) for line in walk_lines(lines))


def _has_label(lines: Iterable[Line]) -> bool:
    return any(isinstance(line, Label) for line in walk_lines(lines))


def _does_nothing(lines: Iterable[Line]) -> bool:
    """Return whether `lines` only return or do nothing."""
    return all(isinstance(line, Comment | Blank | Continue | Return) for line in lines)
