"""Statements on whole arrays and sections as loops over their elements.

Kernels in Python look at one element at a time. Sums and products of arrays are computed from the
first element on, before the statement that needs them. A statement that reads an array which it
writes, at other elements, is left as it is, and so refused by who prints it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.backend.c.scope import CScope
from psyclone_storage.backend.c.types import PrintError
from psyclone_storage.backend.python.sums import IndexSum, summed
from psyclone_storage.backend.python.values import DOUBLE, INTEGER
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    CallFunction,
    Element,
    Expr,
    Index,
    Keyword,
    Literal,
    Name,
    Origin,
    Parenthesised,
    Range,
    Section,
    Sort,
    Symbol,
    Unary,
    canonical,
    integer_value,
    spell,
    walk,
)
from psyclone_storage.ir.intrinsics import ELEMENTAL, LIKE_FIRST
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    names_in,
    names_of_line,
    place_of_line,
    rewritten,
    walk_lines,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Declare, Do, If, Line

_ONE = Literal("1", Intrinsic.INTEGER)
_ZERO = Literal("0", Intrinsic.INTEGER)
_NOTHING = Literal("0.0", Intrinsic.REAL)
_RANK_OF_MATRIX = 2
_GUARDS = (Operator.AND, Operator.OR)
_LARGEST = Literal("2147483647", Intrinsic.INTEGER)
_OF_ORDER: Mapping[str, tuple[str, str, Expr]] = {
    "minval": ("least", "min", _LARGEST),
    "maxval": ("most", "max", Binary(Operator.MINUS, Unary(Operator.MINUS, _LARGEST), _ONE)),
}
"""Functions for the least and the greatest: a name, what joins two, the value of no elements."""
_SUMS = ("sum", "dot_product", *_OF_ORDER)
Bounds = tuple[tuple[Expr, Expr], ...]


class _NoLoopsError(Exception):
    """A statement that has no form as loops which certainly do the same; the text may say why."""


class _UnknownBoundsError(_NoLoopsError):
    """An array whose declaration does not say where it ends."""


class _OverlapError(Exception):
    """A statement that reads other elements of the array that it writes."""


def elementwise(code: KernelCode, scope: CScope) -> tuple[KernelCode, dict[Span | None, str]]:
    """Return `code` with loops in the place of statements on arrays.

    Beside it stands by its place why a statement on arrays is left as it is.
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    declared = {item.key for item in code.declarations if isinstance(item, Declare)}
    writer = _ElementwiseWriter(scope, NameTable((*used, *declared, *code.dummy_keys)))
    body = rewritten(code.body, writer.line)
    made = replace(code, body=body, declarations=(*code.declarations, *writer.declared))
    return made, writer.reasons


@dataclass(slots=True)
class _ElementwiseWriter:
    """The writer of loops; the counters and sums that these need are `declared`.

    What is left as it is has `reasons`, by its place.
    """

    scope: CScope
    names: NameTable
    declared: list[Declare] = field(default_factory=list)
    reasons: dict[Span | None, str] = field(default_factory=dict)

    def line(self, line: Line) -> Iterable[Line]:
        """Return what a statement becomes: itself, where there is nothing to do."""
        line = with_expressions(line, self._without_sizes)
        try:
            match line:
                case Assign():
                    return self._assign(line)
                case If():
                    return self._if(line)
        except _NoLoopsError as error:
            if why := str(error):
                self.reasons[place_of_line(line)] = why
        except PrintError:
            pass
        return [line]

    def _without_sizes(self, expr: Expr) -> Expr:
        """Return an expression with extents in the place of the sizes of arrays."""

        def change(part: Expr) -> Expr:
            part = with_parts(part, change)
            match part:
                case CallFunction(Name(key="size"), (Name() as array, *dimension)):
                    return self._size(array, tuple(dimension)) or part
            return part

        try:
            return change(expr)
        except PrintError:
            return expr

    def _size(self, array: Name, dimension: tuple[Expr, ...]) -> Expr | None:
        """Return how many elements an array has, in all or along one dimension; None if unknown."""
        if self.scope.symbol("size").origin is not Origin.INTRINSIC:
            return None
        extents: list[int] = []
        for one in self.scope.symbol(array.key).shape:
            lower, upper = (one.lower or _ONE, one.upper) if isinstance(one, Range) else (_ONE, one)
            known = None if upper is None else self.scope.integer(
                Binary(Operator.MINUS, upper, lower))  # fmt: skip
            if known is None:
                return None
            extents.append(max(known + 1, 0))
        if not extents or len(dimension) > 1:
            return None
        which = integer_value(dimension[0]) if dimension else None
        if dimension and (which is None or not 1 <= which <= len(extents)):
            return None
        found = math.prod(extents) if which is None else extents[which - 1]
        return Literal(str(found), Intrinsic.INTEGER)

    def _if(self, line: If) -> list[Line]:
        """Return a choice; what its first condition sums is computed before."""
        before: list[Line] = []
        first, *others = line.branches
        test = self._without_sums(first.condition, before, first.place)
        if not before:
            return [line]
        return [*before, replace(line, branches=(replace(first, condition=test), *others))]

    def _assign(self, line: Assign) -> list[Line]:
        before: list[Line] = []
        value = self._without_sums(line.value, before, place_of_line(line))
        new = replace(line, value=value) if before else line
        bounds = self._bounds(line.target)
        return [*before, *([new] if bounds is None else self._assigned(new, bounds))]

    # ------------------------------------------------------------------------ assignments

    def _assigned(self, line: Assign, bounds: Bounds) -> list[Line]:
        base = line.target.base if isinstance(line.target, Index) else line.target
        if not isinstance(base, Name):
            raise _NoLoopsError
        if isinstance(line.value, ArrayLiteral):
            return self._listed(line, base.key, line.value.items)
        if isinstance(line.target, Index) and base.key in _names_of(line.target.items):
            raise _NoLoopsError

        def body(offsets: list[IndexSum]) -> list[Line]:
            before: list[Line] = []
            target = self._at(line.target, list(offsets), before, line.place)
            value = self._at(line.value, list(offsets), before, line.place)
            if base.key in names_in(_without(value, target)) or any(
                base.key in names_of_line(one) for one in walk_lines(before)
            ):
                raise _OverlapError
            return [*before, Assign(target, value, place=line.place)]

        try:
            return self._loops(bounds, body, line.place)
        except _OverlapError:
            return self._first_computed(line, base, bounds)

    def _first_computed(self, line: Assign, base: Name, bounds: Bounds) -> list[Line]:
        """Return loops that compute all values before the first is assigned.

        before: a(2:n) = a(1:n-1)
        after:  values(i) = a(i) for all elements; a(1+i) = values(i) for all elements
        """
        type_ = self.scope.symbol(base.key).type
        if not isinstance(type_, ScalarType):
            raise _NoLoopsError
        extents = [self._extent_where_called(one, base) for one in bounds]
        values = Name(self._declared("values", type_, tuple(extents)))

        def kept(offsets: list[IndexSum]) -> Element:
            return Element(values, tuple(one.plus(1).expr for one in offsets))

        def computed(offsets: list[IndexSum]) -> list[Line]:
            before: list[Line] = []
            value = self._at(line.value, list(offsets), before, line.place)
            return [*before, Assign(kept(offsets), value, place=line.place)]

        def assigned(offsets: list[IndexSum]) -> list[Line]:
            before: list[Line] = []
            target = self._at(line.target, list(offsets), before, line.place)
            if before:
                raise _NoLoopsError
            return [Assign(target, kept(offsets), place=line.place)]

        first = self._loops(bounds, computed, line.place)
        return [*first, *self._loops(bounds, assigned, line.place)]

    def _extent_where_called(self, one: tuple[Expr, Expr], base: Name) -> Expr:
        """Return how many elements there are, as an array of the kernel may have them."""
        extent = summed(Binary(Operator.MINUS, one[1], one[0])).plus(1)
        known = self.scope.integer(extent.expr)
        if known is not None:
            return Literal(str(max(known, 0)), Intrinsic.INTEGER)
        symbols = [self.scope.symbol(key) for key in names_in(extent.expr)]
        if any(one.origin not in (Origin.DUMMY, Origin.INTRINSIC) and one.sort is not Sort.CONSTANT
               for one in symbols):  # fmt: skip
            what = f"other elements of '{base.text}' are read where it is written, and it is not"
            raise _NoLoopsError(f"{what} known where the kernel is called how many there are")
        return CallFunction(Name("max"), (extent.expr, _ZERO))

    def _listed(self, line: Assign, key: str, items: tuple[Expr, ...]) -> list[Line]:
        """Return an assignment for each of some values."""
        if any(self._bounds(item) is not None or key in names_in(item) for item in items):
            raise _NoLoopsError
        target = self._bounds(line.target) or ()
        if len(target) != 1:
            raise _NoLoopsError
        # Both sides have one extent in every program: only one that is known may be another one.
        extent = self.scope.integer(Binary(Operator.MINUS, target[0][1], target[0][0]))
        if extent not in (None, len(items) - 1):
            raise _NoLoopsError
        return [
            Assign(self._at(line.target, [IndexSum((), place)], [], None), item, place=line.place)
            for place, item in enumerate(items)
        ]

    def _loops(
        self, bounds: Bounds, body: Callable[[list[IndexSum]], list[Line]], place: Span | None
    ) -> list[Line]:
        """Return loops over elements; the last dimension is the outermost."""
        counters = [Name(self._declared("at", ScalarType(Intrinsic.INTEGER))) for _ in bounds]
        offsets, ends = [], []
        for counter, (lower, upper) in zip(counters, bounds, strict=True):
            first = summed(lower)
            is_one = not first.terms and first.constant == 1
            offsets.append(IndexSum(((1, counter),), -1 if is_one else 0))
            last = upper if is_one else summed(Binary(Operator.MINUS, upper, lower)).expr
            ends.append((_ONE if is_one else _ZERO, last))
        lines = body(offsets)
        for counter, (first_, last) in zip(counters, ends, strict=True):
            lines = [Do(counter, first_, last, tuple(lines), None, place=place, extent=place)]
        return lines

    def _declared(self, stem: str, type_: ScalarType, shape: tuple[Expr, ...] = ()) -> str:
        name = self.names.fresh(stem)
        self.declared.append(Declare(name, type_, (), shape))
        return name

    # ------------------------------------------------------------------------ sums

    def _without_sums(self, expr: Expr, before: list[Line], place: Span | None) -> Expr:
        """Return an expression with variables in the place of sums, which `before` computes."""

        def change(part: Expr) -> Expr:
            if isinstance(part, Binary) and part.op in _GUARDS and _has_sums(part.right):
                raise _NoLoopsError("a sum is computed only if what stands before it allows that")
            part = with_parts(part, change)
            if not self._is_of_language(part):
                return part
            match part:
                case CallFunction(Name(key="sum"), (array,)):
                    terms = array
                case CallFunction(Name(key="dot_product"), (first, second)):
                    terms = Binary(Operator.TIMES, first, second)
                case CallFunction(Name(key="minval" | "maxval"), (array,)):
                    terms = array
                case _:
                    return part
            bounds = self._bounds(terms)
            if bounds is None:
                return part
            word = part.base.key if isinstance(part.base, Name) else ""
            return self._reduced(word, terms, bounds, before, place)

        return change(expr)

    def _is_of_language(self, expr: Expr) -> bool:
        """Return whether an expression calls a function of the language, and no author's."""
        if not isinstance(expr, CallFunction) or not isinstance(expr.base, Name):
            return False
        return self.scope.symbol(expr.base.key).origin is Origin.INTRINSIC

    def _reduced(
        self, word: str, terms: Expr, bounds: Bounds, before: list[Line], place: Span | None
    ) -> Expr:
        """Return a variable that loops `before` the statement sum to, or take the least to."""
        if word in _OF_ORDER and self._is_real(terms):
            raise _NoLoopsError(f"'{word}' of real numbers is not known where one is no number")
        total = Name(self._declared(_OF_ORDER.get(word, ("total",))[0], self._type_of(terms)))

        def body(offsets: list[IndexSum]) -> list[Line]:
            inner: list[Line] = []
            term = self._at(terms, list(offsets), inner, place)
            value: Expr = Binary(Operator.PLUS, total, term)
            if word in _OF_ORDER:
                value = CallFunction(Name(_OF_ORDER[word][1]), (total, term))
            return [*inner, Assign(total, value, place=place)]

        loops = self._loops(bounds, body, place)
        start: Expr = _NOTHING if self._is_real(terms) else _ZERO
        if word in _OF_ORDER:
            start = _OF_ORDER[word][2]
        before += [Assign(total, start, place=place), *loops]
        return total

    def _is_real(self, terms: Expr) -> bool:
        return self._type_of(terms).intrinsic is Intrinsic.REAL

    def _type_of(self, terms: Expr) -> ScalarType:
        """Return the type of what is summed, which is that of all that it is made of."""
        types = {self.scope.type_of(one): one.type for one in self._operands(terms)}
        for wanted in (DOUBLE, INTEGER):
            if set(types) == {wanted} and isinstance(found := types[wanted], ScalarType):
                return found
        raise _NoLoopsError

    def _operands(self, expr: Expr) -> Iterable[Symbol]:
        """Yield the variables whose values an expression is computed from, not those of indices."""
        match expr:
            case Name() | Section(Name()) | Element(Name()):
                name = expr if isinstance(expr, Name) else expr.base
                yield self.scope.symbol(name.key)  # type: ignore[union-attr]
            case CallFunction(Name(key="real"), (_, kind)) if self._is_of_language(expr):
                kind = kind.value if isinstance(kind, Keyword) else kind
                type_ = ScalarType(Intrinsic.REAL, spell(kind))
                yield Symbol("real", "real", Origin.LOCAL, Sort.VARIABLE, type_)
            case Binary(Operator.POWER, left, right) if integer_value(right) is not None:
                yield from self._operands(left)
            case CallFunction(Name(key=word), items) if word in LIKE_FIRST:
                for item in items:
                    yield from self._operands(item)
            case Unary(_, operand) | Parenthesised(operand):
                yield from self._operands(operand)
            case Binary(_, left, right):
                yield from self._operands(left)
                yield from self._operands(right)
            case _:
                raise _NoLoopsError

    # ------------------------------------------------------------------------ arrays

    def _bounds(self, expr: Expr) -> Bounds | None:
        """Return the bounds of an array, from lower to upper; None for a scalar."""
        match expr:
            case Name():
                return tuple(map(_of_dimension, self._shape(expr))) or None
            case Section(Name() as base, items):
                return self._of_section(base, items)
            case CallFunction() if not self._is_of_language(expr):
                raise _NoLoopsError
            case CallFunction(Name(key="matmul"), (first, second)):
                left, right = self._bounds(first) or (), self._bounds(second) or ()
                # Which terms of a transposed matrix are added first is the compiler's choice.
                if len(left) != _RANK_OF_MATRIX or not right or _is_transposed(first, second):
                    raise _NoLoopsError
                return (*left[:-1], *right[1:])
            case CallFunction(Name(key="transpose"), (matrix,)):
                found = self._bounds(matrix) or ()
                if len(found) != _RANK_OF_MATRIX:
                    raise _NoLoopsError
                return tuple(reversed(found))
            case CallFunction(Name(key=word), items) if word in ELEMENTAL:
                return self._of_first(items)
            case Index() if not isinstance(expr, Element):
                raise _NoLoopsError
            case Unary(_, operand) | Parenthesised(operand):
                return self._bounds(operand)
            case Binary(_, left_, right_):
                return self._of_first((left_, right_))
        return None

    def _shape(self, name: Name) -> tuple[Expr, ...]:
        """Return the dimensions of an array; none for a scalar, as the totals are."""
        if any(one.name == name.text for one in self.declared):
            return ()
        return self.scope.symbol(name.key).shape

    def _of_first(self, items: tuple[Expr, ...]) -> Bounds | None:
        unknown: _NoLoopsError | None = None
        for item in items:
            try:
                if (found := self._bounds(item)) is not None:
                    return found
            except _UnknownBoundsError as error:
                unknown = error
        if unknown is not None:
            raise unknown
        return None

    def _of_section(self, base: Name, items: tuple[Expr, ...]) -> Bounds | None:
        shape = self.scope.symbol(base.key).shape
        found: list[tuple[Expr, Expr]] = []
        if len(shape) != len(items):
            raise _NoLoopsError
        for item, extent in zip(items, shape, strict=True):
            if isinstance(item, Range):
                found.append(_of_triplet(item, extent))
            elif inner := self._bounds(item):
                found += inner
        return tuple(found) or None

    def _at(
        self, expr: Expr, offsets: list[IndexSum], before: list[Line], place: Span | None
    ) -> Expr:
        """Return the element of an array that lies so far behind its first; scalars as they are.

        What has to be computed first is put `before` the statement.
        """
        match expr:
            case Name() if shape := self._shape(expr):
                if len(shape) != len(offsets):
                    raise _NoLoopsError
                first = [_lower(one) for one in shape]
                return Element(expr, tuple(map(_moved, first, offsets)))
            case Section(Name() as base, items):
                return self._of_items(base, items, offsets)
            case CallFunction(Name(key="matmul"), (left, right)):
                return self._row_by_column((left, right), offsets, before, place)
            case CallFunction(Name(key="transpose"), (matrix,)):
                return self._at(matrix, list(reversed(offsets)), before, place)
            case Element():
                return expr
            case Index() if not (
                isinstance(expr.base, Name)
                and isinstance(expr, CallFunction)
                and expr.base.key in ELEMENTAL
            ):
                raise _NoLoopsError
            case CallFunction(_, items):
                parts = (self._at(item, list(offsets), before, place) for item in items)
                return replace(expr, items=tuple(parts))
        return with_parts(expr, lambda part: self._at(part, list(offsets), before, place))

    def _of_items(self, base: Name, items: tuple[Expr, ...], offsets: list[IndexSum]) -> Expr:
        index: list[Expr] = []
        rest = list(offsets)
        for item, extent in zip(items, self.scope.symbol(base.key).shape, strict=True):
            is_triplet = isinstance(item, Range)
            if not is_triplet and not self._bounds(item):
                index.append(item)
                continue
            if not rest:
                raise _NoLoopsError
            by = rest.pop(0)
            if isinstance(item, Range):
                _check_step(item)
                index.append(_moved(item.lower or _lower(extent), by))
            else:
                index.append(self._at(item, [by], [], None))
        if rest:
            raise _NoLoopsError
        return Element(base, tuple(index))

    def _row_by_column(
        self,
        factors: tuple[Expr, Expr],
        offsets: list[IndexSum],
        before: list[Line],
        place: Span | None,
    ) -> Expr:
        """Return an element of the product of a matrix and a vector or another matrix."""
        left, right = factors
        inner = (self._bounds(left) or ())[-1:]
        total = Name(self._declared("total", self._type_of(Binary(Operator.TIMES, left, right))))
        if not self._is_real(Binary(Operator.TIMES, left, right)):
            raise _NoLoopsError

        def body(along: list[IndexSum]) -> list[Line]:
            inner_before: list[Line] = []
            first = self._at(left, [offsets[0], *along], inner_before, place)
            second = self._at(right, [*along, *offsets[1:]], inner_before, place)
            if inner_before:
                raise _NoLoopsError
            term = Binary(Operator.TIMES, first, second)
            return [Assign(total, Binary(Operator.PLUS, total, term), place=place)]

        before += [Assign(total, _NOTHING, place=place), *self._loops(inner, body, place)]
        return total


def _has_sums(expr: Expr) -> bool:
    return any(
        isinstance(part, CallFunction) and isinstance(part.base, Name) and part.base.key in _SUMS
        for part in walk(expr)
    )


def _is_transposed(*factors: Expr) -> bool:
    return any(
        isinstance(part, CallFunction)
        and isinstance(part.base, Name)
        and part.base.key == "transpose"
        for factor in factors
        for part in walk(factor)
    )


def _of_dimension(one: Expr) -> tuple[Expr, Expr]:
    """Return the bounds that a declaration gives a dimension."""
    if not isinstance(one, Range):
        return _ONE, one
    if one.upper is None:
        raise _UnknownBoundsError
    return one.lower or _ONE, one.upper


def _lower(one: Expr) -> Expr:
    """Return the number of the first element in a dimension."""
    return _ONE if not isinstance(one, Range) or one.lower is None else one.lower


def _check_step(item: Range) -> None:
    if item.step is not None and integer_value(item.step) != 1:
        raise _NoLoopsError("a section has a step")


def _of_triplet(item: Range, extent: Expr) -> tuple[Expr, Expr]:
    """Return the bounds of a triplet in a dimension."""
    _check_step(item)
    if item.lower is not None and item.upper is not None:
        return item.lower, item.upper
    lower, upper = _of_dimension(extent)
    return item.lower or lower, item.upper or upper


def _moved(first: Expr, by: IndexSum) -> Expr:
    """Return an index that lies so far behind the first."""
    found = summed(first)
    return summed(IndexSum((*found.terms, *by.terms), found.constant + by.constant).expr).expr


def _without(value: Expr, target: Expr) -> Expr:
    """Return a value without the element that is written."""
    wanted = canonical(target)

    def change(part: Expr) -> Expr:
        return _ZERO if canonical(part) == wanted else with_parts(part, change)

    return change(value)


def _names_of(items: Iterable[Expr]) -> set[str]:
    return {name for item in items for name in names_in(item)}
