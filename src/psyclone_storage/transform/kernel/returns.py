"""Early returns as choices: what follows one is done where it does not return.

before: if (mask(i, j) <= 0) return; u(i, j) = 0
after:  if (.not. mask(i, j) <= 0) then; u(i, j) = 0; end if
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Unary
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.unit import Blank, Branch, Comment, If, Label, Line, Return


def without_returns(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return `lines`, the statements of a subroutine, without `return` where that can be.

    A `return` stays if it is in a loop or a choice by values, if what follows its choice can be
    reached in more than one way, so that it would be needed twice, or if a label follows it.
    """
    return _without(lines)


def _without(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    for at, line in enumerate(lines):
        rest = lines[at + 1 :]
        if isinstance(line, Return) and line.value is None:
            return lines[: at + 1] + rest if _has_label(rest) else lines[:at]
        if isinstance(line, If) and not line.name and _returns((line,)):
            new = _with_rest(line, rest)
            return lines if new is None else (*lines[:at], new)
    return lines


def _with_rest(choice: If, rest: tuple[Line, ...]) -> If | None:
    """Return `choice`, what follows it being in the block that goes on; None if it cannot be."""
    blocks = [*(branch.body for branch in choice.branches), choice.otherwise]
    going_on = [at for at, block in enumerate(blocks) if not _ends(block)]
    if not _does_nothing(rest) and (len(going_on) > 1 or _has_label(rest)):
        return None
    changed = [
        _without((*block, *rest) if at in going_on[:1] else block)
        for at, block in enumerate(blocks)
    ]
    if len(changed) == 2 and not changed[0]:
        condition = Unary(Operator.NOT, choice.branches[0].condition)
        return If((Branch(condition, changed[1]),))
    branches = tuple(
        replace(branch, body=body) for branch, body in zip(choice.branches, changed, strict=False)
    )
    return replace(choice, branches=branches, otherwise=changed[-1], extent=None)


def _ends(block: Iterable[Line]) -> bool:
    """Return whether a block returns whatever way is taken in it."""
    for line in block:
        if isinstance(line, Return) and line.value is None:
            return True
        if isinstance(line, If) and all(map(_ends, blocks_of(line))):
            return True
    return False


def _returns(lines: Iterable[Line]) -> bool:
    return any(isinstance(line, Return) for line in walk_lines(lines))


def _has_label(lines: Iterable[Line]) -> bool:
    return any(isinstance(line, Label) for line in walk_lines(lines))


def _does_nothing(lines: Iterable[Line]) -> bool:
    """Return whether nothing is done but to return."""
    return all(isinstance(line, Comment | Blank | Return) for line in lines)
