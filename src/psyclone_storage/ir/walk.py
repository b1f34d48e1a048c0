"""Pure walks over a schedule: look into it, find places, rebuild parts of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from psyclone_storage.ir.schedule import KernelCall, Loop, Schedule, Statement

Tree = TypeVar("Tree", Schedule, Loop)


def statements(tree: Schedule | Loop) -> Iterator[Statement]:
    """Yield every statement below `tree`, parents before their children, in order."""
    for statement in tree.body:
        yield statement
        if isinstance(statement, Loop):
            yield from statements(statement)


def kernel_calls(tree: Schedule | Loop) -> tuple[KernelCall, ...]:
    """Return the kernel calls below `tree`, in order."""
    return tuple(item for item in statements(tree) if isinstance(item, KernelCall))


def outer_loops(schedule: Schedule) -> tuple[Loop, ...]:
    """Return the loops that stand directly in the schedule."""
    return tuple(item for item in schedule.body if isinstance(item, Loop))


def find(tree: Schedule | Loop, uid: str) -> Statement | None:
    """Return the statement called `uid`, or None."""
    return next((item for item in statements(tree) if item.uid == uid), None)


def path_to(tree: Schedule | Loop, uid: str) -> tuple[Statement, ...]:
    """Return the statements from the outermost to `uid` itself; empty if it is not there."""
    for statement in tree.body:
        if statement.uid == uid:
            return (statement,)
        if isinstance(statement, Loop) and (inner := path_to(statement, uid)):
            return (statement, *inner)
    return ()


def replaced(tree: Tree, uid: str, *new: Statement) -> Tree:
    """Return `tree` with `new` in the place of the statement `uid`; the rest is shared."""
    body: list[Statement] = []
    changed = False
    for statement in tree.body:
        if statement.uid == uid:
            body += new
            changed = True
        elif isinstance(statement, Loop):
            inner = replaced(statement, uid, *new)
            changed = changed or inner is not statement
            body.append(inner)
        else:
            body.append(statement)
    return replace(tree, body=tuple(body)) if changed else tree
