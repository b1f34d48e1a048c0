"""Reduction variables of a loop: sums, products, maxima, minima and logical operations.

The terms of a reduction may be combined in any order. Sums and products of real numbers then differ
slightly by rounding; all other reductions are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import Enum

from psyclone_storage.analysis.bodies.accesses import reads_of
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.analysis.bodies.shapes import type_of_values
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import AnyOperator, Operator
from psyclone_storage.ir.paths import Variable, path_of
from psyclone_storage.ir.rewrite import expressions_of
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Blank, Branch, Comment, Declare, Do, If, Line


class Extreme(Enum):
    """A maximum or minimum reduction; the value is the name of the binary function."""

    LEAST = "min"
    LARGEST = "max"

    @property
    def spelling(self) -> str:
        """The function's name."""
        return self.value


Reducing = Operator | Extreme
"""The operation that combines two values of a reduction."""

_ROUNDED = (Operator.PLUS, Operator.TIMES)
_OPERATORS = (
    Operator.TIMES, Operator.AND, Operator.OR, Operator.EQUIVALENT, Operator.NOT_EQUIVALENT,
)  # fmt: skip
_NUMBERS = (Intrinsic.INTEGER, Intrinsic.REAL, Intrinsic.COMPLEX)
_TYPES: dict[Reducing, tuple[Intrinsic, ...]] = {
    **dict.fromkeys((Operator.PLUS, Operator.TIMES), _NUMBERS),
    **dict.fromkeys(_OPERATORS[1:], (Intrinsic.LOGICAL,)),
    **dict.fromkeys(Extreme, (Intrinsic.INTEGER, Intrinsic.REAL)),
}
"""The types of variables that a reduction clause allows for each operation."""
_KEPT: dict[AnyOperator, tuple[Extreme, Extreme]] = {
    Operator.LESS: (Extreme.LARGEST, Extreme.LEAST),
    Operator.LESS_EQUAL: (Extreme.LARGEST, Extreme.LEAST),
    Operator.GREATER: (Extreme.LEAST, Extreme.LARGEST),
    Operator.GREATER_EQUAL: (Extreme.LEAST, Extreme.LARGEST),
}
"""The extreme that `if (old < new) old = new` computes, and with exchanged operands."""


@dataclass(frozen=True, slots=True)
class LoopReduction:
    """A variable that a loop reduces with `operator`.

    It is `exact` unless the rounding depends on the order of the terms.
    """

    operator: Reducing
    name: str
    exact: bool


def reduction_of(
    variable: Variable, items: Collection[Item], loop: FlowNode, flow: Flow
) -> LoopReduction | None:
    """Return the reduction of `variable` in a loop, None if the loop uses it otherwise.

    `items` are all accesses in the loop to the variable and its components.
    """
    declared = flow.names.declaration(variable)
    if len(variable) > 1 or declared is None or flow.names.is_shared(variable):
        return None
    if flow.names.may_be_absent(variable[0]):
        return None
    if "allocatable" in declared.words and all(_is_conditional(item, loop, flow) for item in items):
        return None
    found: set[Reducing] = set()
    for item in items:
        operator = _operator(item, variable, flow)
        if operator is None or _is_read_by_call(item.node.line, variable, flow):
            return None
        found.add(operator)
    if len(found) != 1:
        return None
    (operator,) = found
    kind = declared.type.intrinsic if isinstance(declared.type, ScalarType) else None
    if kind not in _TYPES[operator] or _is_assumed_size(declared):
        return None
    if kind is Intrinsic.INTEGER and not all(_is_whole(item, flow) for item in items):
        return None
    exact = kind in (Intrinsic.INTEGER, Intrinsic.LOGICAL) or operator not in _ROUNDED
    return LoopReduction(operator, variable[0], exact)


def _is_conditional(item: Item, loop: FlowNode, flow: Flow) -> bool:
    """Return whether an iteration may omit an access, so that an array may be unallocated."""
    inside = (number for number in item.node.around if number > loop.number)
    return not all(isinstance(flow.node(number).line, Do) for number in inside)


def _is_read_by_call(line: Line, variable: Variable, flow: Flow) -> bool:
    """Return whether a function that a statement calls reads a variable that it does not name."""
    exprs = expressions_of(line)
    reads = (read for expr in exprs for read in reads_of(expr, flow.names))
    named = sum(_mentions(expr, variable) for expr in exprs)
    return sum(read.path.root == variable[0] for read in reads) > named


def _is_assumed_size(declared: Declare) -> bool:
    *_, last = declared.shape or (None,)
    return isinstance(last, ex.Star) or (isinstance(last, ex.Range) and last.upper == ex.Star())


def _is_whole(item: Item, flow: Flow) -> bool:
    """Return whether an assignment to an integer does not truncate its value."""
    line = item.node.line
    kind = type_of_values(line.value, flow.code) if isinstance(line, Assign) else None
    return not isinstance(line, Assign) or (
        kind is not None and kind.intrinsic is Intrinsic.INTEGER
    )


def _operator(item: Item, variable: Variable, flow: Flow) -> Reducing | None:
    """Return the reduction operator of the statement that contains an access."""
    line = item.node.line
    if isinstance(line, Assign):
        around = item.node.around
        outer = flow.node(around[-1]).line if around else None
        kept = _kept(outer, variable) if isinstance(outer, If) else None
        return kept or _updated(line, variable)
    return _kept(line, variable) if isinstance(line, If) else None


# ---------------------------------------------------------------------------- one statement


def _updated(line: Assign, variable: Variable) -> Reducing | None:
    """Return the operator with which an assignment updates a variable; else None.

    Assignments of `.true.` under conditions have the effect of `.or.`, those of `.false.` that of
    `.and.`.
    """
    target = line.target
    if isinstance(target, ex.Index) and any(_mentions(item, variable) for item in target.items):
        return None
    if isinstance(line.value, ex.Literal) and line.value.intrinsic is Intrinsic.LOGICAL:
        return Operator.OR if line.value.value else Operator.AND
    terms = list(_terms(line.value, 1))
    if len(terms) > 1:
        return Operator.PLUS if _is_once(terms, target, variable) else None
    for operator in _OPERATORS:
        factors = list(_operands(line.value, operator))
        if len(factors) > 1:
            pairs = [(factor, 1) for factor in factors]
            return operator if _is_once(pairs, target, variable) else None
    word = ex.intrinsic_called(line.value)
    if isinstance(line.value, ex.CallFunction) and word in {"max", "min"}:
        pairs = [(item, 1) for item in line.value.items]
        return Extreme(word) if _is_once(pairs, target, variable) else None
    return None


def _is_once(terms: list[tuple[ex.Expr, int]], target: ex.Expr, variable: Variable) -> bool:
    """Return whether exactly one term is the target, and no other contains the variable."""
    own = [at for at, (term, sign) in enumerate(terms) if sign > 0 and ex.same(term, target)]
    if len(own) != 1:
        return False
    return not any(_mentions(term, variable) for at, (term, _) in enumerate(terms) if at != own[0])


def _terms(expr: ex.Expr, sign: int) -> Iterator[tuple[ex.Expr, int]]:
    """Yield the terms of a sum with their signs."""
    match expr:
        case ex.Binary(Operator.PLUS, left, right):
            yield from _terms(left, sign)
            yield from _terms(right, sign)
        case ex.Binary(Operator.MINUS, left, right):
            yield from _terms(left, sign)
            yield from _terms(right, -sign)
        case _:
            yield expr, sign


def _operands(expr: ex.Expr, operator: Operator) -> Iterator[ex.Expr]:
    if isinstance(expr, ex.Binary) and expr.op is operator:
        yield from _operands(expr.left, operator)
        yield from _operands(expr.right, operator)
    else:
        yield expr


def _mentions(expr: ex.Expr, variable: Variable) -> bool:
    stack = [expr]
    while stack:
        part = stack.pop()
        path = path_of(part)
        if path is not None:
            if path.root == variable[0]:
                return True
            stack += path.subscripts
        else:
            stack += ex.children(part)
    return False


def _kept(line: If, variable: Variable) -> Extreme | None:
    """Return the extreme value that `if (old < new) old = new` computes; else None."""
    lines = [
        one
        for branch in line.branches
        for one in branch.body
        if not isinstance(one, Comment | Blank)
    ]
    match line.branches, line.otherwise, lines:
        case (Branch(ex.Binary(op, left, right)),), (), [Assign(target, value)] if op in _KEPT:
            path = path_of(target)
            if path is None or path.variable != variable or _mentions(value, variable):
                return None
            if isinstance(target, ex.Index) and any(_mentions(it, variable) for it in target.items):
                return None
            if ex.same(left, target) and ex.same(right, value):
                return _KEPT[op][0]
            if ex.same(right, target) and ex.same(left, value):
                return _KEPT[op][1]
    return None
