"""Grouping of a routine's statements into C functions and Python statements between them."""

from __future__ import annotations

from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import CallFunction, Member, Name, StructureConstructor, walk
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.targets.lfric_python import abi


def is_computed(line: un.Line) -> bool:
    """Return whether a statement is executed in C; statements on program objects are not."""
    match line:
        case un.Do() | un.DirectiveBlock() | un.TaskWaitLine():
            return True
        case un.Call(procedure, _):
            return isinstance(procedure, Name) and procedure.text not in (abi.EXCHANGE, abi.START)
        case un.Assign(_, StructureConstructor()):
            return False
        case un.Assign(target, value):
            return not isinstance(target, Member) and not any(
                isinstance(part, CallFunction) and isinstance(part.base, Member)
                for part in walk(value)
            )
        case un.If():
            return any(is_computed(inner) for block in blocks_of(line) for inner in block)
    return False


def set_between(held: un.HoldData | None) -> set[str]:
    """Return the keys of the scalars that Python statements assign."""
    lines = walk_lines(held.body) if held is not None else ()
    return {
        line.target.base.key
        for line in lines
        if isinstance(line, un.Assign)
        and isinstance(line.target, Member)
        and isinstance(line.target.base, Name)
    }


def statement_groups(
    body: tuple[un.Line, ...], *, apart: bool = False
) -> list[tuple[bool, tuple[un.Line, ...]]]:
    """Return groups of statements, and whether each is executed in C.

    Comments belong to the following statement. With `apart`, each C statement is a separate group,
    including the assignments before it.
    """
    groups: list[tuple[bool, list[un.Line]]] = []
    waiting: list[un.Line] = []
    for line in body:
        waiting.append(line)
        if isinstance(line, un.Blank | un.Comment):
            continue
        in_c = is_computed(line)
        if not groups or groups[-1][0] is not in_c or (in_c and apart and _ends(groups[-1][1][-1])):
            groups.append((in_c, []))
        groups[-1][1].extend(waiting)
        waiting = []
    return [(in_c, _without_blanks_before(group)) for in_c, group in groups]


def _ends(line: un.Line) -> bool:
    """Return whether the next statement starts a new group.

    Assignments that initialise reductions belong to the following loop.
    """
    return not (isinstance(line, un.Assign) and isinstance(line.target, Name))


def _without_blanks_before(lines: list[un.Line]) -> tuple[un.Line, ...]:
    start = next(at for at, line in enumerate(lines) if not isinstance(line, un.Blank))
    return tuple(lines[start:])
