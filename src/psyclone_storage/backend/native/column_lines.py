"""Which statements of a routine for columns are done in C, and what others assign."""

from __future__ import annotations

from psyclone_storage.backend.meshes import abi
from psyclone_storage.ir.expr import CallFunction, Construct, Member, Name, walk
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.unit import (
    Assign,
    Call,
    DirectiveBlock,
    Do,
    HoldData,
    If,
    Line,
    TaskWaitLine,
)


def is_computed(line: Line) -> bool:
    """Return whether a statement is done in C: what asks an object of the program is not."""
    match line:
        case Do() | DirectiveBlock() | TaskWaitLine():
            return True
        case Call(procedure, _):
            return isinstance(procedure, Name) and procedure.text not in (abi.EXCHANGE, abi.START)
        case Assign(_, Construct()):
            return False
        case Assign(target, value):
            return not isinstance(target, Member) and not any(
                isinstance(part, CallFunction) and isinstance(part.base, Member)
                for part in walk(value)
            )
        case If():
            return any(is_computed(inner) for block in blocks_of(line) for inner in block)
    return False


def set_between(held: HoldData | None) -> set[str]:
    """Return the scalars of which statements in Python assign the values, by their keys."""
    lines = walk_lines(held.body) if held is not None else ()
    return {
        line.target.base.key
        for line in lines
        if isinstance(line, Assign)
        and isinstance(line.target, Member)
        and isinstance(line.target.base, Name)
    }
