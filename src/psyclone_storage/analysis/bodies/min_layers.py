"""Minimum numbers of layers of fields, derived from the layers that kernel code accesses.

A kernel that counts the layers of one field and accesses another one reads outside of the other if
that has fewer layers. Numbers of layers are known only at run time. Code under conditions is
ignored, except conditions on grid properties such as masks: it may test what it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from psyclone_storage.analysis.bodies.reached import may_leave, names_of_conditions, reached_lines
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import Polynomial, affine_form
from psyclone_storage.ir.checked import CheckedIndex
from psyclone_storage.ir.interface import Dummy, LayerBound, LayerCount, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, with_parts
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.unit import Do, If, Line

_OF_GRID = (Role.GRID_PROPERTY, Role.GRID_INDEX_I, Role.GRID_INDEX_J, Role.STRIP_FIRST)
"""Conditions on these are satisfied at some points."""
_LAZY = (Operator.AND, Operator.OR)
"""Operations whose second operand is computed only if the first one does not decide."""


def layer_bounds(call: KernelCall) -> Iterator[LayerBound]:
    """Yield the requirements that kernel code certainly has on the layers of its arguments."""
    for code in call.known_codes:
        known = code.kernel_use.layer_bounds
        if known is not None:
            yield from known
            continue
        code = code.kernel_use.original or code  # noqa: PLW2901 - of the same arguments
        dummies = {key_of(name): dummy
                   for name, dummy in zip(code.dummies, call.dummies, strict=False)}  # fmt: skip
        if any(dummy.role is Role.NLAYERS for dummy in dummies.values()):
            yield from bounds_of_layers(code.body, dummies)


def bounds_of_layers(body: Iterable[Line], dummies: Mapping[str, Dummy]) -> Iterator[LayerBound]:
    """Yield the requirements that statements certainly have on the layers of the `dummies`."""
    counts = {
        key: dummy.arg
        for key, dummy in dummies.items()
        if dummy.role is Role.NLAYERS and dummy.arg is not None
    }
    of_grid = {key for key, dummy in dummies.items() if dummy.role in _OF_GRID}

    def is_plain(line: If) -> bool:
        return names_of_conditions(line) <= of_grid and not may_leave(line)

    def enters(loop: Do) -> bool:
        return _step(loop) is not None and not may_leave(loop)

    for line, loops in reached_lines(body, is_plain, enters):
        for element in (one for expr in expressions_of(line) for one in _computed(expr)):
            dummy = dummies.get(key_of(ex.spell(element.base)))
            if dummy is None or dummy.arg not in counts.values() or dummy.role is not Role.FIELD:
                continue
            for values in _ends(loops):
                least = _count(_at(element.items[0], values), counts)
                given = _given(loops, values, counts)
                if least is not None and given is not None and dummy.arg is not None:
                    yield LayerBound(dummy.arg, least, *given)


def _step(loop: Do) -> int | None:
    """Return the step of a loop, or None unless it is 1 or -1."""
    step = 1 if loop.step is None else ex.integer_value(loop.step)
    return step if step in (1, -1) else None


def _ends(loops: Sequence[Do]) -> Iterator[dict[str, Polynomial]]:
    """Yield the values of counters in all combinations of first and last iterations.

    The bounds of a loop may depend on the counters of loops around it.
    """
    for last in product((False, True), repeat=len(loops)):
        values: dict[str, Polynomial] = {}
        for loop, at_end in zip(loops, last, strict=True):
            values[loop.variable.key] = _at(loop.stop if at_end else loop.start, values)
        yield values


def _at(expr: ex.Expr, values: Mapping[str, Polynomial]) -> Polynomial:
    """Return an index for given values of counters."""
    return affine_form(_unchecked(expr)).polynomial.replaced(values)


def _unchecked(expr: ex.Expr) -> ex.Expr:
    """Return an index without checks of its parts."""
    if isinstance(expr, CheckedIndex):
        return _unchecked(expr.items[0])
    return with_parts(expr, _unchecked)


def _count(value: Polynomial, counts: Mapping[str, int]) -> LayerCount | None:
    """Return a value as a number of layers, or None for another value."""
    if value.known is not None:
        return LayerCount(None, value.known)
    terms = {monomial: factor for monomial, factor in value.factors.items() if monomial}
    match list(terms.items()):
        case [((key,), 1)] if key in counts:
            return LayerCount(counts[key], value.constant)
    return None


def _given(
    loops: Sequence[Do], values: Mapping[str, Polynomial], counts: Mapping[str, int]
) -> tuple[LayerCount, ...] | None:
    """Return the condition for which all loops have iterations: none, one, or None if unknown."""
    found: dict[int, int] = {}
    for loop in loops:
        outer = {key: value for key, value in values.items() if key != loop.variable.key}
        ends = [_at(end, outer) for end in (loop.stop, loop.start)]
        distance = ends[0].minus(ends[1]) if _step(loop) == 1 else ends[1].minus(ends[0])
        count = _count(distance, counts)
        if count is None or (count.arg is None and count.constant < 0):
            return None
        if count.arg is not None and -count.constant > 1:
            found[count.arg] = max(found.get(count.arg, 0), -count.constant)
    conditions = tuple(LayerCount(arg, least) for arg, least in found.items())
    return conditions if len(conditions) <= 1 else None


def _computed(expr: ex.Expr) -> Iterator[ex.Element]:
    """Yield the array elements in an expression that are read whenever it is computed."""
    if isinstance(expr, ex.Element):
        yield expr
    parts = ex.children(expr)
    match expr:
        case ex.Binary(op, left, _) if op in _LAZY:
            parts = (left,)
        case ex.CallFunction(ex.Name(key="merge"), (_, _, condition)):
            parts = (condition,)
    for part in parts:
        yield from _computed(part)
