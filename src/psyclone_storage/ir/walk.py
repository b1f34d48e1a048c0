"""Pure walks over a schedule: look into it, find places, rebuild parts of it."""

from __future__ import annotations

from typing import TypeVar

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.schedule import (
    Compound,
    DirectiveRegion,
    KernelCall,
    Loop,
    ProfileRegion,
    Schedule,
    Statement,
)

Block = Schedule | Compound
"""Whatever has statements inside."""

Tree = TypeVar("Tree", Schedule, Loop, DirectiveRegion, ProfileRegion)


def statements(tree: Block) -> tuple[Statement, ...]:
    """Return every statement below `tree`, parents before their children, in order."""
    return tuple(_below(tree, loops=True))


def kernel_calls(tree: Block) -> tuple[KernelCall, ...]:
    """Return the kernel calls below `tree`, in order."""
    return tuple([item for item in _below(tree, loops=True) if isinstance(item, KernelCall)])


def calls_in(loop: Loop) -> tuple[tuple[Loop, KernelCall], ...]:
    """Return every call below `loop` with the loop directly around it, whose extent counts."""
    found: list[tuple[Loop, KernelCall]] = []
    for item in _below(loop, loops=False):
        if isinstance(item, KernelCall):
            found.append((loop, item))
        elif isinstance(item, Loop):
            found += calls_in(item)
    return tuple(found)


def in_sequence(tree: Block) -> tuple[Statement, ...]:
    """Return what is done one after the other: constructs and regions are opened, loops not."""
    return tuple(
        [
            item
            for item in _below(tree, loops=False)
            if not isinstance(item, DirectiveRegion | ProfileRegion)
        ]
    )


def outer_loops(tree: Schedule | DirectiveRegion | ProfileRegion) -> tuple[Loop, ...]:
    """Return the loops that no other loop is around, in order."""
    return tuple([item for item in _below(tree, loops=False) if isinstance(item, Loop)])


def by_uid(tree: Block) -> dict[str, Statement]:
    """Return every statement below `tree` by its uid, in order; of two the first."""
    found: dict[str, Statement] = {}
    for item in _below(tree, loops=True):
        found.setdefault(item.uid, item)
    return found


def _below(tree: Block, *, loops: bool) -> list[Statement]:
    """Return the statements of `tree`, behind each those inside; of those in `loops` if asked.

    All at once: whoever looks at a schedule looks at most of it, and trees are small.
    """
    found: list[Statement] = []
    waiting = list(reversed(tree.body))
    while waiting:
        item = waiting.pop()
        found.append(item)
        if isinstance(item, Compound) and (loops or not isinstance(item, Loop)):
            waiting.extend(reversed(item.body))
    return found


def find(tree: Block, uid: str) -> Statement | None:
    """Return the statement called `uid`, or None."""
    for item in tree.body:
        if item.uid == uid:
            return item
        if isinstance(item, Compound) and (inner := find(item, uid)) is not None:
            return inner
    return None


def place_of(statement: Statement) -> Span | None:
    """Return where the first call inside `statement` stands in the algorithm."""
    if isinstance(statement, KernelCall):
        return statement.span
    if not isinstance(statement, Compound):
        return None
    return next((call.span for call in kernel_calls(statement)), None)


def place_near(schedule: Schedule, uid: str) -> Span | None:
    """Return where the statement `uid` stands in the algorithm, or what it is there for.

    Derived statements serve a call behind them. Without one it is the last call, and for a name
    that nothing has the first.
    """
    behind = False
    last: Span | None = None
    for item in statements(schedule):
        behind = behind or item.uid == uid
        place = place_of(item)
        if behind and place is not None:
            return place
        last = place or last
    first = (call.span for call in kernel_calls(schedule) if call.span is not None)
    return last if behind else next(first, None)


def path_to(tree: Block, uid: str) -> tuple[Statement, ...]:
    """Return the statements from the outermost to `uid` itself; empty if it is not there."""
    for statement in tree.body:
        if statement.uid == uid:
            return (statement,)
        if isinstance(statement, Compound) and (inner := path_to(statement, uid)):
            return (statement, *inner)
    return ()


def replaced(tree: Tree, uid: str, *new: Statement) -> Tree:
    """Return `tree` with `new` in the place of the statement `uid`; the rest is shared."""
    body = _replaced(tree.body, uid, new)
    return tree if body is tree.body else replace(tree, body=body)


def _replaced(
    body: tuple[Statement, ...], uid: str, new: tuple[Statement, ...]
) -> tuple[Statement, ...]:
    """Return `body` after the replacement: the same object if `uid` is not in it."""
    for place, statement in enumerate(body):
        if statement.uid == uid:
            return (*body[:place], *new, *body[place + 1 :])
        if isinstance(statement, Compound):
            inner = _replaced(statement.body, uid, new)
            if inner is not statement.body:
                changed = replace(statement, body=inner)
                return (*body[:place], changed, *body[place + 1 :])
    return body
