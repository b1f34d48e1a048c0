"""Floating-point contraction: results that depend on where a compiler uses fused multiply-add.

A fused multiply-add rounds once less than a multiplication and an addition. Where a compiler uses
it depends on the compiler's knowledge and on which statements are adjacent. If it knows that a
column has one level, loops over levels disappear and the statements of several such loops become
adjacent. For bit-identical results, each product must be part of a single statement, must occur
once, and must not have factors that are invariant in an enclosing loop, the loop over cells
included. Values derived from the number of levels may select elements, bounds and branches, but
must not be part of a value. A constant that a statement assigns becomes known once the loop has
disappeared: compilers then drop a factor of 1 or the subtraction of 0, and contract the next
operation with the product instead.

If a sum is accumulated in a loop, gfortran adds products to it in two steps for AMD processors. In
that case, no product may be added to a value that is invariant in the innermost loop, with and
without the loops over levels (`gathered`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from psyclone_storage.analysis.bodies.shapes import Triplet, rank_of, type_of_values
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import simplified
from psyclone_storage.ir.intrinsics import EXACT
from psyclone_storage.ir.loops import bounds_of_loop
from psyclone_storage.ir.operators import Operator, OperatorKind
from psyclone_storage.ir.rewrite import blocks_of, names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare, Do, If, Line

_ADDING = (Operator.PLUS, Operator.MINUS)
_OF_NUMBERS = (*_ADDING, Operator.TIMES)
_PASSING_ON = ("merge", "real")
"""Functions whose value is one of their arguments, unchanged."""
_NUMBERS = (Intrinsic.INTEGER, Intrinsic.LOGICAL)
_CHOOSING = ("abs", "merge", "sign")
"""Functions that a compiler may eliminate if it knows enough about their arguments."""


def is_product(value: ex.Expr) -> bool:
    """Return whether `value` may be the product in a fused multiply-add."""
    match value:
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return is_product(operand)
        case ex.CallFunction(items=items) if ex.intrinsic_called(value) in _PASSING_ON:
            return any(map(is_product, items))
    return isinstance(value, ex.Binary) and value.op is Operator.TIMES


def counts_levels(code: Routine, layers: str) -> bool:
    """Return whether some innermost loop is over all levels.

    `layers` is the key of the dummy argument with the number of levels.
    """
    return any(
        _is_over_levels(line, layers)
        for line in walk_lines(code.body)
        if isinstance(line, Do) and not any(isinstance(one, Do) for one in walk_lines(line.body))
    )


def _is_over_levels(loop: Do, layers: str) -> bool:
    count = Triplet(loop.start, loop.stop, loop.step).count
    return loop.step is None and ex.same(simplified(count), ex.Name(layers))


def against_one_level(code: Routine, layers: str, of_cells: Collection[str]) -> Iterator[str]:
    """Yield reasons why bits may depend on whether a compiler knows that there is one level.

    `layers` is the key of the dummy argument with the number of levels, `of_cells` are the keys of
    dummy arguments that differ between cells.
    """
    lines = [line for line in walk_lines(code.body) if not isinstance(line, Comment | Blank)]
    if not all(isinstance(line, Assign | Do | If) for line in lines) or any(
        isinstance(line, Do | If) and line.name for line in lines
    ):
        yield "it has statements that are no assignments, loops or branches"
        return
    known = _following(layers, code)
    values = _Values(known, _varying(of_cells, code), _constants(layers, code))
    for line, around in _with_loops(code.body):
        match line:
            case Assign(target, value):
                if rank_of(target, code) != 0:
                    yield f"'{ex.spell(target)}' is more than one element"
                    return
                yield from values.about_places(target)
                of_numbers = _is_of(_NUMBERS, target, code)
                yield from values.about_places(value, of_numbers=of_numbers)
                if not of_numbers:
                    yield from values.about_operations(value, around)
                    if is_product(value):
                        yield f"'{ex.spell(value)}' may be added to in another statement"
            case Do():
                for bound in bounds_of_loop(line):
                    yield from values.about_places(bound)
            case If(branches=branches):
                for branch in branches:
                    yield from values.about_places(branch.condition)
                    yield from values.about_operations(branch.condition, around)
    yield from _about_equal(values.products.values(), code)


def gathered(code: Routine, layers: str) -> Iterator[str]:
    """Yield the variables to which products are added in a loop, as reasons.

    `layers` is the key of the dummy argument with the number of levels.
    """
    for line, around in _with_loops(code.body):
        if isinstance(line, Assign) and _gathers(line, around, layers):
            yield f"'{ex.spell(line.target)}' gathers products in a loop"


@dataclass(slots=True)
class _Values:
    """Checks of the values in a routine, in source order.

    `known` are names that depend on the number of levels, `varying` those that differ between
    cells, and `constants` may have values that a compiler knows. `products` are the products found
    so far, indexed by their form in the first iteration of all enclosing loops.
    """

    known: frozenset[str]
    varying: frozenset[str]
    constants: _Constants
    products: dict[str, ex.Binary] = field(default_factory=dict)

    def about_places(self, expr: ex.Expr, *, of_numbers: bool = True) -> Iterator[str]:
        """Yield a reason if `expr` is a value that depends on the number of levels.

        Sums and products of integers may depend on it. Divisions may not, because the divisor may
        be zero.
        """
        if not self._tells_places(expr, of_numbers=of_numbers):
            yield f"'{ex.spell(expr)}' depends on the number of levels"

    def _tells_places(self, expr: ex.Expr, *, of_numbers: bool) -> bool:
        if names_in(expr).isdisjoint(self.known):
            return True
        match expr:
            case ex.Name():
                return of_numbers
            case ex.Element(ex.Name() as base, items):
                if base.key in self.known and not of_numbers:
                    return False
                return all(self._tells_places(item, of_numbers=True) for item in items)
            case ex.Binary(op, left, right):
                if of_numbers and op.kind is OperatorKind.ARITHMETIC and op not in _OF_NUMBERS:
                    return False
                parts: tuple[ex.Expr, ...] = (left, right)
            case ex.Unary(_, operand) | ex.Parenthesised(operand):
                parts = (operand,)
            case ex.CallFunction(items=items) if not of_numbers:
                parts = items
            case _:
                return False
        return all(self._tells_places(part, of_numbers=of_numbers) for part in parts)

    def about_operations(self, expr: ex.Expr, around: tuple[Do, ...]) -> Iterator[str]:
        """Yield the operations in a value, inside loops, whose rounding may vary."""
        for part in _operations(expr):
            match part:
                case ex.CallFunction() if ex.intrinsic_called(part) not in EXACT:
                    yield f"vectors of '{ex.spell(part)}' may round in another way"
                case ex.CallFunction(items=items) if ex.intrinsic_called(part) in _CHOOSING:
                    if any(map(is_product, items)):
                        yield f"'{ex.spell(part)}' may be a product"
                case ex.Binary(Operator.POWER):
                    yield f"'{ex.spell(part)}' is a product to some compilers"
                case ex.Binary(Operator.TIMES, left, right):
                    yield from self._about_product(part, around)
                    for factor, other in ((left, right), (right, left)):
                        if is_product(other):
                            yield from self._about_constant(factor, part)
                case ex.Binary(Operator.DIVIDE, _, right):
                    yield from self._about_constant(right, part)
                case ex.Binary(op, left, right) if op in _ADDING:
                    yield from self._about_sum(part, left, right)

    def _about_sum(self, whole: ex.Binary, left: ex.Expr, right: ex.Expr) -> Iterator[str]:
        if is_product(left) and is_product(right):
            yield f"either product of '{ex.spell(whole)}' may be added to"
            return
        for product, other, is_first in ((left, right, True), (right, left, False)):
            # Compilers preserve +0 + x and 0 - x, whose signed zero may differ from that of x.
            leaves = whole.op is Operator.MINUS and is_first
            if is_product(product) and (leaves or self.constants.may_be_negative(other)):
                yield from self._about_constant(other, whole)

    def _about_constant(self, operand: ex.Expr, whole: ex.Binary) -> Iterator[str]:
        if self.constants.may_be(operand):
            yield f"'{ex.spell(operand)}' may be a constant in '{ex.spell(whole)}'"

    def _about_product(self, product: ex.Binary, around: tuple[Do, ...]) -> Iterator[str]:
        starts = {loop.variable.key: loop.start for loop in around}
        first = ex.canonical(substituted(product, starts))
        if first in self.products:
            yield f"'{ex.spell(product)}' is computed in two places"
        self.products.setdefault(first, product)
        names = names_in(product)
        if not names >= starts.keys() or names.isdisjoint(self.varying):
            yield f"'{ex.spell(product)}' stays the same in a loop"


@dataclass(frozen=True, slots=True)
class _Constants:
    """The variables of a subroutine, and those whose values a compiler may know.

    `known` are loop counters and variables that some statement sets to a known value; `negative`
    are those that may be set to a negative value or to -0.
    """

    variables: frozenset[str]
    known: frozenset[str]
    negative: frozenset[str]

    def may_be(self, value: ex.Expr) -> bool:
        """Return whether a compiler may know `value` as a constant, although it is not literal."""
        own = self.variables.intersection(_leaves(value))
        return bool(own) and own <= self.known

    def may_be_negative(self, value: ex.Expr) -> bool:
        """Return whether a constant `value` may be negative or -0."""
        is_plain = isinstance(value, ex.Name | ex.Element)
        return not is_plain or not self.negative.isdisjoint(_leaves(value))


def _constants(layers: str, code: Routine) -> _Constants:
    """Return the variables that may be set to constants; `layers` may be the constant 1."""
    declared = [item for item in code.declarations if isinstance(item, Declare)]
    variables = frozenset(item.key for item in declared if "parameter" not in item.attributes)
    lines = [*walk_lines(code.body)]
    counters = frozenset(line.variable.key for line in lines if isinstance(line, Do))
    known, negative, before = counters | {layers}, counters, frozenset[str]()
    while known != before:
        before = known
        for line in lines:
            if isinstance(line, Assign) and variables.intersection(_leaves(line.value)) <= known:
                known |= _set(line)
                negative |= frozenset() if isinstance(line.value, ex.Literal) else _set(line)
    return _Constants(variables, known, negative)


def _leaves(value: ex.Expr) -> Iterator[str]:
    """Yield the variables and constants in a value, except for those in subscripts."""
    match value:
        case ex.Name():
            yield value.key
        case ex.Element(ex.Name() as base, _):
            yield base.key
        case ex.CallFunction(items=items):
            for item in items:
                yield from _leaves(item)
        case _:
            for part in ex.children(value):
                yield from _leaves(part)


def _about_equal(products: Collection[ex.Binary], code: Routine) -> Iterator[str]:
    """Yield the products that may be equal to another product written differently.

    A compiler that detects this computes the product once, and contracts neither addition.
    """
    if len(products) < 2:
        return
    assigned = [line for line in walk_lines(code.body) if isinstance(line, Assign)]
    copies = [line for line in assigned if isinstance(line.value, ex.Name | ex.Element)]
    is_made = any(not _is_plain(product) for product in products)
    changed = frozenset[str]().union(*map(_set, assigned if is_made else copies))
    for product in products:
        if not changed.isdisjoint(_leaves(product)):
            yield f"'{ex.spell(product)}' may be another product of the same values"


def _is_plain(value: ex.Expr) -> bool:
    """Return whether no factor of a product is computed."""
    match value:
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return _is_plain(operand)
        case ex.Binary(Operator.TIMES, left, right):
            return _is_plain(left) and _is_plain(right)
    return isinstance(value, ex.Name | ex.Element | ex.Literal)


def _following(layers: str, code: Routine) -> frozenset[str]:
    """Return the non-real names that depend on the number of levels, such as loop counters."""
    known, before = frozenset({layers}), frozenset[str]()
    while known != before:
        before = known
        for line in walk_lines(code.body):
            match line:
                case Do() if any(known & names_in(bound) for bound in bounds_of_loop(line)):
                    known |= {line.variable.key}
                case Assign(target, value) if known & names_in(value):
                    known |= frozenset() if _is_of((Intrinsic.REAL,), target, code) else _set(line)
    return known


def _varying(of_cells: Collection[str], code: Routine) -> frozenset[str]:
    """Return the names whose values differ between cells wherever they are used."""
    assigned = [line for line in walk_lines(code.body) if isinstance(line, Assign)]
    known, before = frozenset(of_cells), frozenset[str]()
    while known != before:
        before = known
        same_in_all = [line for line in assigned if known.isdisjoint(names_in(line.value))]
        known |= frozenset[str]().union(*map(_set, assigned)).difference(*map(_set, same_in_all))
    return known


def _gathers(line: Assign, around: tuple[Do, ...], layers: str) -> bool:
    """Return whether products are added repeatedly to the same variable or element.

    A loop that changes the element prevents this, unless the loop may disappear: a loop over
    levels, or one with so few iterations that a compiler may unroll it completely.
    """
    adds = (
        one for one in _operations(line.value) if isinstance(one, ex.Binary) and one.op in _ADDING
    )
    has_product = any(is_product(one.left) or is_product(one.right) for one in adds)
    if not has_product or _set(line).isdisjoint(_leaves(line.value)):
        return False
    items = line.target.items if isinstance(line.target, ex.Element) else ()
    at = frozenset[str]().union(*map(names_in, items))
    for loop in reversed(around):
        inside = (_set(one) for one in walk_lines(loop.body) if isinstance(one, Assign))
        if at.isdisjoint({loop.variable.key}.union(*inside)):
            return True
        is_short = all(ex.integer_value(bound) is not None for bound in bounds_of_loop(loop))
        if not is_short and not _is_over_levels(loop, layers):
            return False
    return False


def _set(line: Assign) -> frozenset[str]:
    """Return the key of the variable that a statement assigns, at least in part."""
    target = line.target.base if isinstance(line.target, ex.Element) else line.target
    return frozenset({target.key}) if isinstance(target, ex.Name) else frozenset()


def _is_of(types: Collection[Intrinsic], expr: ex.Expr, code: Routine) -> bool:
    found = type_of_values(expr, code)
    return found is not None and found.intrinsic in types


def _with_loops(
    lines: Iterable[Line], around: tuple[Do, ...] = ()
) -> Iterator[tuple[Line, tuple[Do, ...]]]:
    """Yield statements with their enclosing loops, outermost first."""
    for line in lines:
        yield line, around
        inside = (*around, line) if isinstance(line, Do) else around
        for block in blocks_of(line):
            yield from _with_loops(block, inside)


def _operations(expr: ex.Expr) -> Iterator[ex.Binary | ex.CallFunction]:
    """Yield the operations and function calls in a value, except for those in subscripts."""
    if isinstance(expr, ex.Binary | ex.CallFunction):
        yield expr
    if not isinstance(expr, ex.Element):
        for part in ex.children(expr):
            yield from _operations(part)
