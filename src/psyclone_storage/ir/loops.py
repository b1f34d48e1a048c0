"""The counted loops of a subroutine, each with a stable uid.

Recipes refer to a loop by its position in the text, which a step may change. A loop gets its uid
when the text is read or a step creates the loop; rewriting preserves the uid. Comparisons ignore
uids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Expr, same, whole
from psyclone_storage.ir.rewrite import blocks_of, walk_lines, with_each_block
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Blank, Comment, CompoundStatement, Do, Line


@kept_with_first
def loops_of(code: Routine) -> tuple[Do, ...]:
    """Return the `do` loops of a subroutine in source order."""
    return _loops_in(code.body)


def _loops_in(lines: Iterable[Line]) -> tuple[Do, ...]:
    found: list[Do] = []
    for line in lines:
        if isinstance(line, Do):
            found.append(line)
        if isinstance(line, CompoundStatement):
            found += _loops_inside(line)
    return tuple(found)


@kept_with_first
def _loops_inside(line: Line) -> tuple[Do, ...]:
    """Return the loops in a construct; versions of a routine share most constructs."""
    return _loops_in(chain.from_iterable(blocks_of(line)))


def addressed(code: Routine) -> Routine:
    """Return `code` with a unique uid for each loop.

    If several loops have the same uid, the first keeps it.
    """
    given = [loop.uid for loop in loops_of(code)]
    if all(given) and len(set(given)) == len(given):
        return code
    fresh = (name for number in count(1) if (name := f"loop{number}") not in given)
    return replace(code, body=_with_uids(code.body, set(), fresh))


def bounds_of_loop(loop: Do) -> tuple[Expr, ...]:
    """Return the start and stop of a loop, and its step if it has one."""
    return tuple(one for one in (loop.start, loop.stop, loop.step) if one is not None)


def have_same_bounds(first: Do, second: Do) -> bool:
    """Return whether two loops have equal bounds and steps as expressions."""
    steps = (first.step or whole(1), second.step or whole(1))
    return same(first.start, second.start) and same(first.stop, second.stop) and same(*steps)


def following_loop(code: Routine, loop: Do) -> Do | None:
    """Return the loop that follows `loop` in its block, ignoring comments and blank lines.

    The function returns None if another statement follows.
    """
    for block in (
        code.body,
        *(block for line in walk_lines(code.body) for block in blocks_of(line)),
    ):
        for at, line in enumerate(block):
            if isinstance(line, Do) and line.uid == loop.uid:
                rest = (item for item in block[at + 1 :] if not isinstance(item, Comment | Blank))
                after = next(rest, None)
                return after if isinstance(after, Do) else None
    return None


def with_lines_for(code: Routine, changes: Mapping[str, tuple[Line, ...]]) -> Routine:
    """Return `code` with the loops in `changes` (by uid) replaced by other statements."""
    return addressed(replace(code, body=_with_changes(code.body, changes)))


def _with_uids(lines: tuple[Line, ...], seen: set[str], fresh: Iterator[str]) -> tuple[Line, ...]:
    found: list[Line] = []
    for line in lines:
        if not isinstance(line, CompoundStatement):
            found.append(line)
            continue
        known: Line = line
        if isinstance(known, Do):
            if known.uid in seen | {""}:
                known = replace(known, uid=next(fresh))
            seen.add(known.uid)
        found.append(with_each_block(known, lambda block: _with_uids(block, seen, fresh)))
    return tuple(found)


def _with_changes(
    lines: tuple[Line, ...], changes: Mapping[str, tuple[Line, ...]]
) -> tuple[Line, ...]:
    found: list[Line] = []
    for line in lines:
        if isinstance(line, Do) and line.uid in changes:
            found += changes[line.uid]
        else:
            found.append(with_each_block(line, lambda block: _with_changes(block, changes)))
    return tuple(found)
