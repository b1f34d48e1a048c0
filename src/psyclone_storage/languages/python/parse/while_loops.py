"""The bound of a `while` loop in a kernel in Python: how often it can run at most.

A loop has a bound if its condition requires that a counter is below or above a limit, and each
iteration changes the counter by the same step towards the limit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.languages.python.parse.compile_time import is_int, value_of
from psyclone_storage.languages.python.parse.scope import KernelScope
from psyclone_storage.languages.python.parse.tree import names_in_tree

_MIRRORED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_UPWARDS, _INCLUSIVE = (ast.Lt, ast.LtE), (ast.LtE, ast.GtE)


@dataclass(frozen=True, slots=True)
class CountedCondition:
    """A condition that bounds a loop: the counter, its limit, and the step of each iteration.

    It is `complete` if the loop has no other condition. The limit is `inclusive` if the loop runs
    for it, too.
    """

    counter: str
    limit: ast.expr
    step: int
    inclusive: bool
    complete: bool


def counted_condition(scope: KernelScope, node: ast.While) -> CountedCondition | None:
    """Return the condition that bounds a loop; None if it has no provable bound."""
    stored = stored_names(node.body)
    for name, op, limit, complete in _comparisons(node.test):
        step = _step(scope, node, name)
        is_upwards = issubclass(op, _UPWARDS)
        if step is None or (step > 0) is not is_upwards:
            continue
        if _is_fixed(limit) and not names_in_tree(limit) & stored:
            return CountedCondition(name, limit, step, issubclass(op, _INCLUSIVE), complete)
    return None


def _is_fixed(limit: ast.expr) -> bool:
    """Return whether a limit keeps its value while its names keep theirs; lengths do."""
    match limit:
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call() | ast.Subscript():
            return False
    parts = ast.iter_child_nodes(limit)
    return all(_is_fixed(one) for one in parts if isinstance(one, ast.expr))


def _comparisons(test: ast.expr) -> Iterator[tuple[str, type[ast.cmpop], ast.expr, bool]]:
    """Yield the comparisons that must hold: a name, the operator, and the other operand."""
    is_joint = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    for one in test.values if is_joint and isinstance(test, ast.BoolOp) else [test]:
        match one:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _MIRRORED:
                if isinstance(left, ast.Name):
                    yield left.id, type(op), right, not is_joint
                if isinstance(right, ast.Name):
                    yield right.id, _MIRRORED[type(op)], left, not is_joint


def _step(scope: KernelScope, loop: ast.While, name: str) -> int | None:
    """Return by how much each iteration changes a counter; None if it may change otherwise."""
    stores = [
        one
        for node in loop.body
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
    ]
    for number, node in enumerate(loop.body):
        if (change := _change(node, name)) is not None:
            op, by = change
            with scope.fixing():
                value = value_of(scope, by)
            skips = any(isinstance(inner, ast.Continue)
                        for one in loop.body[:number] for inner in ast.walk(one))  # fmt: skip
            if not is_int(value) or not value or skips or len(stores) != 1:
                return None
            if names_in_tree(by) & stored_names(loop.body):
                return None
            return int(value if isinstance(op, ast.Add) else -value)
    return None


def _change(node: ast.stmt, name: str) -> tuple[ast.operator, ast.expr] | None:
    """Return what a statement adds to a variable or subtracts from it; None for others."""
    match node:
        case ast.AugAssign(ast.Name(target), ast.Add() | ast.Sub() as op, by) if target == name:
            return op, by
        case ast.Assign([ast.Name(target)], ast.BinOp(left, ast.Add() | ast.Sub() as op, right)):
            if target == name and isinstance(left, ast.Name) and left.id == name:
                return op, right
            if target == name and isinstance(op, ast.Add) and isinstance(right, ast.Name):
                return (op, left) if right.id == name else None
    return None


def stored_names(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements assign."""
    return {
        one.id
        for node in body
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def iterations(found: CountedCondition, start: int, limit: int) -> int:
    """Return how often a loop runs if its counter begins at `start`."""
    end = limit + (1 if found.step > 0 else -1) if found.inclusive else limit
    return len(range(start, end, found.step))


def own_jumps(node: ast.For | ast.While) -> set[type[ast.stmt]]:
    """Return which jumps leave a loop or its iterations, not those of the loops in it."""
    found: set[type[ast.stmt]] = set()
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Break | ast.Continue):
            found.add(type(one))
        elif not isinstance(one, ast.For | ast.While):
            waiting += ast.iter_child_nodes(one)
    return found
