"""Statements that calls of a routine execute, whatever the sizes of their arguments.

Code under a condition on a size may be written for other sizes, so what it accesses says nothing
about the actual arguments. A condition on values of data is different: some data satisfy it. If a
loop may be left early, only its first iteration is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, names_in, walk_lines
from psyclone_storage.ir.unit import Blank, Comment, Cycle, Do, Exit, If, Line, Return

_LEAVING = (Return, Exit, Cycle)
Reached = tuple[Line, tuple[Do, ...]]
"""A statement and the loops around it, the outermost first."""


def reached_lines(
    lines: Iterable[Line], is_plain: Callable[[If], bool], enters: Callable[[Do], bool]
) -> Iterator[Reached]:
    """Yield the statements that are executed for all sizes, with the loops around them.

    - `is_plain`: whether the conditions of a branch are independent of sizes.

    - `enters`: whether a loop has iterations.

    Where other code may leave the routine or a loop, nothing follows.
    """
    yield from _reached(lines, (), is_plain, enters)


def _reached(
    lines: Iterable[Line],
    loops: tuple[Do, ...],
    is_plain: Callable[[If], bool],
    enters: Callable[[Do], bool],
) -> Generator[Reached, None, bool]:
    """Yield the statements as `reached_lines` does; return whether they may leave."""
    for line in lines:
        match line:
            case Do() if enters(line):
                yield line, loops
                if (yield from _reached(line.body, (*loops, line), is_plain, enters)):
                    return True
            case If() if is_plain(line):
                yield line, loops
                for block in blocks_of(line):
                    if (yield from _reached(block, loops, is_plain, enters)):
                        return True
            case _ if blocks_of(line):
                if may_leave(line):
                    return True
            case _:
                yield line, loops
    return False


def may_leave(line: Line) -> bool:
    """Return whether a statement contains one that leaves the routine, a loop or an iteration."""
    return any(isinstance(one, _LEAVING) for one in walk_lines((line,)))


def leaves(lines: tuple[Line, ...]) -> bool:
    """Return whether statements certainly end by leaving the routine, a loop or an iteration."""
    executed = [line for line in lines if not isinstance(line, Blank | Comment)]
    match executed[-1:]:
        case [If() as line]:
            return bool(line.otherwise) and all(map(leaves, blocks_of(line)))
        case [last]:
            return isinstance(last, _LEAVING)
    return False


def names_of_conditions(line: If) -> frozenset[str]:
    """Return the keys of all names in the conditions of a branch."""
    return frozenset(key_of(name) for one in line.branches for name in names_in(one.condition))
