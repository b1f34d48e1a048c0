"""Expansions of Fortran intrinsic functions into statements.

Each function returns a new variable for the value and the statements that compute it. The value is
bit-identical, except that `sign` treats -0.0 as positive and sums are accumulated in element order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from psyclone_storage.analysis.bodies.shapes import (
    Dimensions,
    dimensions_of,
    find_declaration,
    rank_of,
    type_of_values,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Keyword,
    Literal,
    Name,
    Parenthesised,
    Unary,
    intrinsic,
    spell,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Branch, If, Line
from psyclone_storage.passes.element_loops import ElementLoops, ElementPosition
from psyclone_storage.passes.scalarise import shared_with_target
from psyclone_storage.passes.scratch import Scratch, constant, may_be_extent

Expansion = tuple[Name, tuple[Line, ...]]
_NUMBERS = (Intrinsic.INTEGER, Intrinsic.REAL)


class UnexpandableError(Exception):
    """A function call cannot be expanded; `diagnostic` contains the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of an intrinsic function; `scalar` means that its value is known to be scalar."""

    name: str
    items: tuple[Expr, ...]
    scalar: bool
    scratch: Scratch

    @property
    def text(self) -> str:
        """The source text of the call."""
        return spell(intrinsic(self.name, *self.items))

    def refusal(self, because: str, hint: str = "") -> UnexpandableError:
        """Return an error: the call cannot be expanded (T060)."""
        place = self.scratch.code.place_of(self.name)
        return UnexpandableError(Diagnostic("T060", f"'{self.text}' {because}.", place, hint=hint))

    def number(self, *exprs: Expr) -> ScalarType:
        """Return the common numeric type of the expressions with known types."""
        code = self.scratch.code
        found = {kind for expr in exprs if (kind := type_of_values(expr, code)) is not None}
        if not found:
            raise self.refusal("has arguments of a type that cannot be told")
        if len({(kind.intrinsic, kind.kind_key) for kind in found}) > 1:
            raise self.refusal("has arguments of different types")
        kind = found.pop()
        if kind.intrinsic not in _NUMBERS:
            raise self.refusal(f"has arguments of type {kind.intrinsic.value}")
        return kind

    def array(self, expr: Expr) -> Dimensions:
        """Return the dimensions of an argument, which must be an array."""
        dimensions = dimensions_of(expr, self.scratch.code)
        if not dimensions:
            raise self.refusal(f"has an argument '{spell(expr)}' whose shape cannot be told")
        return dimensions


# ---------------------------------------------------------------------------- of scalars


def _scalars(site: CallSite, count: int | None = None) -> tuple[Expr, ...]:
    """Return the arguments of an elemental function, which must be scalar here."""
    items = tuple(item.value if isinstance(item, Keyword) else item for item in site.items)
    if not site.scalar:
        hint = "Apply 'arrays-to-loops' first."
        raise site.refusal("is, or may be, an array here", hint)
    if count is not None and len(items) != count:
        raise site.refusal(f"has not {count} arguments")
    return items


def _absolute(site: CallSite) -> Expansion:
    (value,) = _scalars(site, 1)
    kind = site.number(value)
    result = site.scratch.variable("res_abs", kind)
    return result, (Assign(result, value), *_made_positive(result, kind))


def _made_positive(name: Name, kind: ScalarType) -> tuple[Line, ...]:
    # Zero minus the value: the sign of -0.0 goes, too.
    zero = constant(0, kind)
    return (
        _if(
            Binary(Operator.LESS_EQUAL, name, zero),
            Assign(name, Binary(Operator.MINUS, zero, name)),
        ),
    )


def _with_sign(site: CallSite) -> Expansion:
    value, sign = _scalars(site, 2)
    kind = site.number(value)
    result = site.scratch.variable("res_sign", kind)
    sign_kind = site.number(sign)
    other = site.scratch.variable("tmp_sign", sign_kind)
    negative = Binary(Operator.LESS, other, constant(0, sign_kind))
    return result, (
        Assign(result, value),
        Assign(other, sign),
        *_made_positive(result, kind),
        _if(negative, Assign(result, Unary(Operator.MINUS, result))),
    )


def may_be_negative_zero(sign: Expr, code: Routine) -> bool:
    """Return whether the second argument of `sign` may be -0.0: it is real, and may be zero."""
    match sign:
        case Keyword(_, value) | Parenthesised(value):
            return may_be_negative_zero(value, code)
        case Unary(Operator.PLUS | Operator.MINUS, operand):
            return may_be_negative_zero(operand, code)
        case Literal(text, Intrinsic.REAL):
            mantissa = key_of(text).replace("d", "e").partition("e")[0]
            return not any(digit in mantissa for digit in "123456789")
        case Name(text):
            declared = find_declaration(code, text)
            if declared is not None and declared.value and "parameter" in declared.words:
                return may_be_negative_zero(declared.value, code)
    kind = type_of_values(sign, code)
    return kind is None or kind.intrinsic is not Intrinsic.INTEGER


def _extreme(site: CallSite) -> Expansion:
    first, *others = _scalars(site)
    kind = site.number(first, *others)
    word = site.name
    result = site.scratch.variable(f"res_{word}", kind)
    lines: list[Line] = [Assign(result, first)]
    for other in others:
        candidate = site.scratch.variable(f"tmp_{word}", kind)
        better = Binary(Operator.LESS if word == "min" else Operator.GREATER, candidate, result)
        lines += [Assign(candidate, other), _if(better, Assign(result, candidate))]
    return result, tuple(lines)


def _if(condition: Expr, line: Line) -> If:
    return If((Branch(condition, (line,)),))


# ---------------------------------------------------------------------------- of arrays


def _reduction(site: CallSite) -> tuple[Expr, Expr | None]:
    """Return the array and the mask of a reduction over all dimensions."""
    array, *others = site.items
    match others:
        case []:
            return array, None
        case [Keyword(_, mask) as word] if word.key == "mask":
            return array, mask
    raise site.refusal("is over some dimensions only, or may be")


def _over_elements(site: CallSite, line: Callable[[Expr], Line]) -> tuple[Line, ...]:
    """Return loops that execute `line` for each element of the reduced array."""
    array, mask = _reduction(site)
    dimensions = site.array(array)
    code = site.scratch.code
    if mask is not None and rank_of(mask, code) not in (0, len(dimensions)):
        raise site.refusal("has a mask whose shape cannot be told")
    loops = ElementLoops.over(dimensions, site.scratch)
    position = loops.position(code)
    inner = line(position.element(array))
    if mask is not None:
        inner = _if(position.element(mask), inner)
    return loops.around((inner,))


def _total(site: CallSite) -> Expansion:
    array, _ = _reduction(site)
    kind = site.number(array)
    word, op, start = (
        ("sum", Operator.PLUS, 0) if site.name == "sum" else ("product", Operator.TIMES, 1)
    )
    result = site.scratch.variable(f"res_{word}", kind)
    loops = _over_elements(site, lambda item: Assign(result, Binary(op, result, item)))
    return result, (Assign(result, constant(start, kind)), *loops)


def _extreme_value(site: CallSite) -> Expansion:
    array, mask = _reduction(site)
    kind = site.number(array)
    largest = site.name == "maxval"
    result = site.scratch.variable(f"res_{site.name}", kind)
    op = Operator.GREATER if largest else Operator.LESS
    loops = _over_elements(site, lambda item: _if(Binary(op, item, result), Assign(result, item)))
    lines: list[Line] = [Assign(result, _limit(result, kind, largest))]
    if mask is None:
        lines.append(_first_element(site, array, result))
    return result, (*lines, *loops)


def _limit(result: Name, kind: ScalarType, lowest: bool) -> Expr:
    """Return the neutral element of `maxval` or `minval`."""
    huge = intrinsic("huge", result)
    if not lowest:
        return huge
    if kind.intrinsic is Intrinsic.INTEGER:
        return Binary(Operator.MINUS, Unary(Operator.MINUS, huge), constant(1, kind))
    return Unary(Operator.MINUS, huge)


def _first_element(site: CallSite, array: Expr, result: Name) -> If:
    """Return an `if` that initialises the search with the first element, which may be infinite."""
    dimensions = site.array(array)
    starts = tuple(item.start for item in dimensions)
    zero = constant(0, ScalarType(Intrinsic.INTEGER))
    there: Expr | None = None
    for item in dimensions:
        some = Binary(Operator.LESS_EQUAL, item.start, item.stop)
        if item.step is not None:
            some = Binary(Operator.GREATER, item.count, zero)
        there = some if there is None else Binary(Operator.AND, there, some)
    assert there is not None
    first = ElementPosition(starts, dimensions, site.scratch.code)
    return _if(there, Assign(result, first.element(array)))


def _dot_product(site: CallSite) -> Expansion:
    if len(site.items) != 2:
        raise site.refusal("has not 2 arguments")
    left, right = (item.value if isinstance(item, Keyword) else item for item in site.items)
    dimensions, others = site.array(left), site.array(right)
    kind = _product_type(site, left, right)
    if len(dimensions) != 1 or len(others) != 1:
        raise site.refusal("has an argument that is no vector")
    loops = ElementLoops.over(dimensions, site.scratch)
    position = loops.position(site.scratch.code)
    product = Binary(Operator.TIMES, position.element(left), position.element(right))
    result = site.scratch.variable("res_dot_product", kind)
    add = Assign(result, Binary(Operator.PLUS, result, product))
    return result, (Assign(result, constant(0, kind)), *loops.around((add,)))


def _product_type(site: CallSite, left: Expr, right: Expr) -> ScalarType:
    kind = type_of_values(Binary(Operator.TIMES, left, right), site.scratch.code)
    if kind is None or kind.intrinsic not in _NUMBERS:
        raise site.refusal("has arguments whose types cannot be told, or are no real numbers")
    return kind


# ---------------------------------------------------------------------------- matrix products


@dataclass(frozen=True, slots=True)
class _Factors:
    """The factors of a matrix product, one of which may be a vector.

    `inner` is the dimension over which the product sums.
    """

    left: Expr
    right: Expr
    rows: Dimensions
    columns: Dimensions
    kind: ScalarType

    @property
    def outer(self) -> Dimensions:
        """The dimensions of the product."""
        return self.rows[:-1] + self.columns[1:]


def _factors(site: CallSite) -> _Factors:
    if len(site.items) != 2:
        raise site.refusal("has not 2 arguments")
    left, right = (item.value if isinstance(item, Keyword) else item for item in site.items)
    rows, columns = site.array(left), site.array(right)
    if (len(rows), len(columns)) not in ((2, 2), (2, 1), (1, 2)):
        raise site.refusal("is no product of matrices, or of a matrix and a vector")
    return _Factors(left, right, rows, columns, _product_type(site, left, right))


def _matrix_product(site: CallSite) -> Expansion:
    factors = _factors(site)
    extents = tuple(item.count for item in factors.outer)
    for extent in extents:
        if not may_be_extent(extent, site.scratch.code):
            raise site.refusal(f"needs an array of the extent '{spell(extent)}', which changes")
    result = site.scratch.variable("res_matmul", factors.kind, extents)
    return result, _product_lines(site, result, factors)


def matmul_in_place(target: Expr, value: Index, scratch: Scratch) -> tuple[Line, ...] | None:
    """Return `target = matmul(...)` as loops that accumulate in the target.

    The function returns None if this could change the value: the target is a factor, has another
    type, or may be reallocated.
    """
    site = CallSite("matmul", value.items, False, scratch)
    try:
        factors = _factors(site)
    except UnexpandableError:
        return None
    code = scratch.code
    dimensions = dimensions_of(target, code)
    name = target.base if isinstance(target, Index) else target
    if dimensions is None or len(dimensions) != len(factors.outer) or not isinstance(name, Name):
        return None
    declared = find_declaration(code, name.text)
    inside = target.items if isinstance(target, Index) else ()
    words = set() if declared is None else declared.words
    own = name.key
    if own in names_in(value) or any(own in names_in(item) for item in inside):
        return None
    if words & {"allocatable", "pointer", "target"} or type_of_values(target, code) != factors.kind:
        return None
    if shared_with_target(Assign(target, value), code):
        return None
    return _product_lines(site, target, factors)


def _product_lines(site: CallSite, target: Expr, factors: _Factors) -> tuple[Line, ...]:
    """Return loops that assign a matrix product to `target`, summing in element order."""
    code = site.scratch.code
    own = dimensions_of(target, code)
    assert own is not None
    outer = ElementLoops.over(own, site.scratch)
    counters = outer.counters
    added = site.scratch.counter()
    inner = factors.rows[-1]
    place = outer.position(code).element(target)
    order = [(inner, added), *zip(own, counters, strict=True)]
    if len(factors.rows) == 2:
        order[:2] = order[1::-1]
    dimensions, names = zip(*order, strict=True)
    add = Assign(
        place, Binary(Operator.PLUS, place, _one_product(factors, own, (*counters, added), code))
    )
    start = outer.around((Assign(place, constant(0, factors.kind)),))
    return (*start, *ElementLoops(dimensions, names).around((add,)))


def _one_product(factors: _Factors, own: Dimensions, at: tuple[Name, ...], code: Routine) -> Expr:
    """Return the product of one element of each factor.

    `at` are the counters of the result, whose dimensions are `own`, followed by that of the sum.
    """
    inner = factors.rows[-1]
    left_at: tuple[Name, ...] = (at[-1],)
    left_of: Dimensions = (inner,)
    right_at, right_of = left_at, left_of
    if len(factors.rows) == 2:
        left_at, left_of = (at[0], *left_at), (own[0], *left_of)
    if len(factors.columns) == 2:
        right_at, right_of = (*right_at, at[-2]), (*right_of, own[-1])
    left = ElementPosition(left_at, left_of, code).element(factors.left)
    right = ElementPosition(right_at, right_of, code).element(factors.right)
    return Binary(Operator.TIMES, left, right)


EXPANSIONS: Mapping[str, Callable[[CallSite], Expansion]] = {
    "abs": _absolute,
    "sign": _with_sign,
    "min": _extreme,
    "max": _extreme,
    "sum": _total,
    "product": _total,
    "maxval": _extreme_value,
    "minval": _extreme_value,
    "dot_product": _dot_product,
    "matmul": _matrix_product,
}
"""The functions that can be written out, by name."""
