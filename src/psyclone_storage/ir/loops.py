"""The counted loops of a subroutine, each with an address that stays when others change.

The number of a loop, which recipes give, is its place in the text; a step may change it. Its
address is given once, when the text is read or a step makes the loop, and a step that rewrites a
loop leaves it with that. Addresses are no part of what a loop says: two equal loops may differ
in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.rewrite import walk_lines, with_each_block
from psyclone_storage.ir.unit import Do, Line


def loops_of(code: KernelCode) -> tuple[Do, ...]:
    """Return the loops of a subroutine in the order of its text."""
    return tuple(line for line in walk_lines(code.body) if isinstance(line, Do))


def addressed(code: KernelCode) -> KernelCode:
    """Return `code` with an address of its own for each loop.

    Of several with one address, which are copies, the first keeps it.
    """
    given = [loop.address for loop in loops_of(code)]
    if all(given) and len(set(given)) == len(given):
        return code
    fresh = (name for number in count(1) if (name := f"loop{number}") not in given)
    return replace(code, body=_with_addresses(code.body, set(), fresh))


def with_lines_for(code: KernelCode, changes: Mapping[str, tuple[Line, ...]]) -> KernelCode:
    """Return `code` with other statements in the place of loops, by their addresses."""
    return addressed(replace(code, body=_with_changes(code.body, changes)))


def _with_addresses(
    lines: tuple[Line, ...], seen: set[str], fresh: Iterator[str]
) -> tuple[Line, ...]:
    found = []
    for line in lines:
        known = line
        if isinstance(known, Do):
            if known.address in seen | {""}:
                known = replace(known, address=next(fresh))
            seen.add(known.address)
        found.append(with_each_block(known, lambda block: _with_addresses(block, seen, fresh)))
    return tuple(found)


def _with_changes(
    lines: tuple[Line, ...], changes: Mapping[str, tuple[Line, ...]]
) -> tuple[Line, ...]:
    found: list[Line] = []
    for line in lines:
        if isinstance(line, Do) and line.address in changes:
            found += changes[line.address]
        else:
            found.append(with_each_block(line, lambda block: _with_changes(block, changes)))
    return tuple(found)
