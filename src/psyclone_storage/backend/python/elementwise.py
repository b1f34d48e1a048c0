"""Statements on whole arrays and sections as loops over their elements.

Kernels in Python look at one element at a time. Sums and products of arrays are computed from the
first element on, before the statement that needs them. Where a statement reads an array which it
writes, at other elements, all values are computed first, into an array of the kernel's own. What is
not understood is left as it is, and so refused by who prints it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.backend.python.array_names import (
    ONE,
    ArrayNames,
    NoLoopsError,
    UnknownBoundsError,
    check_step,
    lower_of,
    of_dimension,
    of_triplet,
)
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.affine import AffineForm, affine_form, simplified
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    CallFunction,
    Element,
    Expr,
    Index,
    Literal,
    Name,
    Origin,
    Parenthesised,
    Range,
    Section,
    Sort,
    Unary,
    canonical,
    integer_value,
    walk,
    whole,
)
from psyclone_storage.ir.intrinsics import ELEMENTAL
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
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.ir.unit import Assign, Branch, Declare, Do, If, Line

_ZERO = Literal("0", Intrinsic.INTEGER)
_NOTHING = Literal("0.0", Intrinsic.REAL)
_RANK_OF_MATRIX = 2
_GUARDS = (Operator.AND, Operator.OR)
_OF_COMPILER = "which terms of a transposed matrix are added first is the compiler's choice"
_LARGEST = Literal("2147483647", Intrinsic.INTEGER)
_OF_ORDER: Mapping[str, tuple[str, str, Expr]] = {
    "minval": ("least", "min", _LARGEST),
    "maxval": ("most", "max", Binary(Operator.MINUS, Unary(Operator.MINUS, _LARGEST), ONE)),
}
"""Functions for the least and the greatest: a name, what joins two, the value of no elements."""
_SUMS = ("sum", "dot_product", *_OF_ORDER)
Bounds = tuple[tuple[Expr, Expr], ...]


class _OverlapError(Exception):
    """A statement that reads other elements of the array that it writes."""


def elementwise(code: KernelCode, scope: CScope) -> tuple[KernelCode, dict[Span | None, str]]:
    """Return `code` with loops in the place of statements on arrays.

    Beside it stands by its place why a statement on arrays is left as it is.
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    declared = {item.key for item in code.declarations if isinstance(item, Declare)}
    writer = _ElementwiseWriter(ArrayNames(scope), NameTable((*used, *declared, *code.dummy_keys)))
    body = rewritten(code.body, writer.line)
    made = replace(code, body=body, declarations=(*code.declarations, *writer.arrays.declared))
    return made, writer.reasons


@dataclass(slots=True)
class _ElementwiseWriter:
    """The writer of loops; the counters and sums that these need are declared among `arrays`.

    What is left as it is has `reasons`, by its place.
    """

    arrays: ArrayNames
    names: NameTable
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
        except NoLoopsError as error:
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
        if self.arrays.symbol("size").origin is not Origin.INTRINSIC:
            return None
        extents: list[int] = []
        for one in self.arrays.symbol(array.key).shape:
            lower, upper = (one.lower or ONE, one.upper) if isinstance(one, Range) else (ONE, one)
            known = None if upper is None else self.arrays.scope.integer(
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
        listed = line.value
        if not isinstance(listed, ArrayLiteral):
            listed = self._without_lists(listed, before, line.place)
        value = self._without_sums(listed, before, place_of_line(line))
        new = replace(line, value=value) if before else line
        bounds = self._bounds(line.target)
        return [*before, *([new] if bounds is None else self._assigned(new, bounds))]

    def _without_lists(self, expr: Expr, before: list[Line], place: Span | None) -> Expr:
        """Return an expression with arrays in the place of values that are written one by one."""

        def change(part: Expr) -> Expr:
            part = with_parts(part, change)
            if not isinstance(part, ArrayLiteral):
                return part
            types = list(filter(None, map(self.arrays.type_if_known, part.items)))
            if not types or any(self._bounds(item) is not None for item in part.items):
                raise NoLoopsError
            extent = Literal(str(len(part.items)), Intrinsic.INTEGER)
            values = Name(self._declared("values", types[0], (extent,)))
            for place_, item in enumerate(part.items, 1):
                at = Element(values, (Literal(str(place_), Intrinsic.INTEGER),))
                before.append(Assign(at, item, place=place))
            return values

        return change(expr)

    # ------------------------------------------------------------------------ assignments

    def _assigned(self, line: Assign, bounds: Bounds) -> list[Line]:
        base = line.target.base if isinstance(line.target, Index) else line.target
        if not isinstance(base, Name):
            raise NoLoopsError
        if isinstance(line.value, ArrayLiteral):
            return self._listed(line, base.key, line.value.items)
        if isinstance(line.target, Index) and base.key in _names_of(line.target.items):
            raise NoLoopsError

        def body(offsets: list[AffineForm]) -> list[Line]:
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
        type_ = self.arrays.symbol(base.key).type
        if not isinstance(type_, ScalarType):
            raise NoLoopsError
        extents = [self._extent_where_called(one, base) for one in bounds]
        values = Name(self._declared("values", type_, tuple(extents)))

        def kept(offsets: list[AffineForm]) -> Element:
            return Element(values, tuple(one.shifted(1).expr for one in offsets))

        def computed(offsets: list[AffineForm]) -> list[Line]:
            before: list[Line] = []
            value = self._at(line.value, list(offsets), before, line.place)
            return [*before, Assign(kept(offsets), value, place=line.place)]

        def assigned(offsets: list[AffineForm]) -> list[Line]:
            before: list[Line] = []
            target = self._at(line.target, list(offsets), before, line.place)
            if before:
                raise NoLoopsError
            return [Assign(target, kept(offsets), place=line.place)]

        first = self._loops(bounds, computed, line.place)
        return [*first, *self._loops(bounds, assigned, line.place)]

    def _extent_where_called(self, one: tuple[Expr, Expr], base: Name) -> Expr:
        """Return how many elements there are, as an array of the kernel may have them."""
        extent = affine_form(Binary(Operator.MINUS, one[1], one[0])).shifted(1)
        known = self.arrays.scope.integer(extent.expr)
        if known is not None:
            return Literal(str(max(known, 0)), Intrinsic.INTEGER)
        symbols = [self.arrays.symbol(key) for key in names_in(extent.expr)]
        if any(one.origin not in (Origin.DUMMY, Origin.INTRINSIC) and one.sort is not Sort.CONSTANT
               for one in symbols):  # fmt: skip
            what = f"other elements of '{base.text}' are read where it is written, and it is not"
            raise NoLoopsError(f"{what} known where the kernel is called how many there are")
        return CallFunction(Name("max"), (extent.expr, _ZERO))

    def _listed(self, line: Assign, key: str, items: tuple[Expr, ...]) -> list[Line]:
        """Return an assignment for each of some values."""
        if any(self._bounds(item) is not None or key in names_in(item) for item in items):
            raise NoLoopsError
        target = self._bounds(line.target) or ()
        if len(target) != 1:
            raise NoLoopsError
        # Both sides have one extent in every program: only one that is known may be another one.
        extent = self.arrays.scope.integer(Binary(Operator.MINUS, target[0][1], target[0][0]))
        if extent not in (None, len(items) - 1):
            raise NoLoopsError
        return [
            Assign(
                self._at(line.target, [affine_form(whole(place))], [], None), item, place=line.place
            )
            for place, item in enumerate(items)
        ]

    def _loops(
        self, bounds: Bounds, body: Callable[[list[AffineForm]], list[Line]], place: Span | None
    ) -> list[Line]:
        """Return loops over elements; the last dimension is the outermost."""
        counters = [Name(self._declared("at", ScalarType(Intrinsic.INTEGER))) for _ in bounds]
        offsets, ends = [], []
        for counter, (lower, upper) in zip(counters, bounds, strict=True):
            first = affine_form(lower)
            is_one = first.known == 1
            offsets.append(affine_form(counter).shifted(-1 if is_one else 0))
            last = upper if is_one else simplified(Binary(Operator.MINUS, upper, lower))
            ends.append((ONE if is_one else _ZERO, last))
        lines = body(offsets)
        for counter, (first_, last) in zip(counters, ends, strict=True):
            lines = [Do(counter, first_, last, tuple(lines), None, place=place, extent=place)]
        return lines

    def _declared(self, stem: str, type_: ScalarType, shape: tuple[Expr, ...] = ()) -> str:
        name = self.names.fresh(stem)
        self.arrays.declared.append(Declare(name, type_, (), shape))
        return name

    # ------------------------------------------------------------------------ sums

    def _without_sums(self, expr: Expr, before: list[Line], place: Span | None) -> Expr:
        """Return an expression with variables in the place of sums, which `before` computes."""

        def change(part: Expr) -> Expr:
            if isinstance(part, Binary) and part.op in _GUARDS and _has_sums(part.right):
                raise NoLoopsError("a sum is computed only if what stands before it allows that")
            part = with_parts(part, change)
            if not self.arrays.is_of_language(part):
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

    def _reduced(
        self, word: str, terms: Expr, bounds: Bounds, before: list[Line], place: Span | None
    ) -> Expr:
        """Return a variable that loops `before` the statement sum to, or take the least to."""
        if word in _OF_ORDER and self.arrays.is_real(terms):
            return self._extreme(word, terms, bounds, before, place)
        total = Name(self._declared(_OF_ORDER.get(word, ("total",))[0], self.arrays.type_of(terms)))

        def body(offsets: list[AffineForm]) -> list[Line]:
            inner: list[Line] = []
            term = self._at(terms, list(offsets), inner, place)
            value: Expr = Binary(Operator.PLUS, total, term)
            if word in _OF_ORDER:
                value = CallFunction(Name(_OF_ORDER[word][1]), (total, term))
            return [*inner, Assign(total, value, place=place)]

        loops = self._loops(bounds, body, place)
        start: Expr = _NOTHING if self.arrays.is_real(terms) else _ZERO
        if word in _OF_ORDER:
            start = _OF_ORDER[word][2]
        before += [Assign(total, start, place=place), *loops]
        return total

    def _extreme(
        self, word: str, terms: Expr, bounds: Bounds, before: list[Line], place: Span | None
    ) -> Expr:
        """Return a variable that loops `before` the statement give the least or greatest of reals.

        after:  found = .false.; least = huge(least)
                do ...: if (.not. found) then; least = x(i); found = x(i) == x(i)
                        else if (x(i) < least) then; least = x(i)

        What is no number is passed over, and is the answer if all are none.
        """
        stem = _OF_ORDER[word][0]
        found = Name(self._declared("found", ScalarType(Intrinsic.LOGICAL)))
        type_ = self.arrays.type_of(terms)
        extreme = Name(self._declared(stem, type_))
        comparison = Operator.LESS if stem == "least" else Operator.GREATER

        def body(offsets: list[AffineForm]) -> list[Line]:
            inner: list[Line] = []
            term = self._at(terms, list(offsets), inner, place)
            taken = Assign(extreme, term, place=place)
            is_number = Assign(found, Binary(Operator.EQUAL, term, term), place=place)
            first = Branch(Unary(Operator.NOT, found), (taken, is_number), place=place)
            other = Branch(Binary(comparison, term, extreme), (taken,), place=place)
            return [*inner, If((first, other), (), extent=place)]

        of_none: Expr = CallFunction(Name("huge"), (extreme,))
        if stem == "most":
            of_none = Unary(Operator.MINUS, of_none)
        before += [
            Assign(found, Literal(".false.", Intrinsic.LOGICAL), place=place),
            Assign(extreme, of_none, place=place),
            *self._loops(bounds, body, place),
        ]
        return extreme

    # ------------------------------------------------------------------------ arrays

    def _bounds(self, expr: Expr) -> Bounds | None:
        """Return the bounds of an array, from lower to upper; None for a scalar."""
        match expr:
            case Name():
                return tuple(map(of_dimension, self.arrays.shape(expr))) or None
            case Section(Name() as base, items):
                return self._of_section(base, items)
            case CallFunction() if not self.arrays.is_of_language(expr):
                raise NoLoopsError
            case CallFunction(Name(key="matmul"), (first, second)):
                return self._of_product(first, second)
            case CallFunction(Name(key="transpose"), (matrix,)):
                found = self._bounds(matrix) or ()
                if len(found) != _RANK_OF_MATRIX:
                    raise NoLoopsError
                return tuple(reversed(found))
            case CallFunction(Name(key=word), items) if word in ELEMENTAL:
                return self._of_first(items)
            case Index() if not isinstance(expr, Element):
                raise NoLoopsError
            case Unary(_, operand) | Parenthesised(operand):
                return self._bounds(operand)
            case Binary(_, left_, right_):
                return self._of_first((left_, right_))
        return None

    def _of_product(self, first: Expr, second: Expr) -> Bounds:
        if _is_transposed(first, second):
            raise NoLoopsError(_OF_COMPILER)
        left, right = self._bounds(first) or (), self._bounds(second) or ()
        if len(left) != _RANK_OF_MATRIX or not right:
            raise NoLoopsError
        return (*left[:-1], *right[1:])

    def _of_first(self, items: tuple[Expr, ...]) -> Bounds | None:
        unknown: NoLoopsError | None = None
        for item in items:
            try:
                if (found := self._bounds(item)) is not None:
                    return found
            except UnknownBoundsError as error:
                unknown = error
        if unknown is not None:
            raise unknown
        return None

    def _of_section(self, base: Name, items: tuple[Expr, ...]) -> Bounds | None:
        shape = self.arrays.symbol(base.key).shape
        found: list[tuple[Expr, Expr]] = []
        if len(shape) != len(items):
            raise NoLoopsError
        for item, extent in zip(items, shape, strict=True):
            if isinstance(item, Range):
                found.append(of_triplet(item, extent))
            elif inner := self._bounds(item):
                found += inner
        return tuple(found) or None

    def _at(
        self, expr: Expr, offsets: list[AffineForm], before: list[Line], place: Span | None
    ) -> Expr:
        """Return the element of an array that lies so far behind its first; scalars as they are.

        What has to be computed first is put `before` the statement.
        """
        match expr:
            case Name() if shape := self.arrays.shape(expr):
                if len(shape) != len(offsets):
                    raise NoLoopsError
                first = [lower_of(one) for one in shape]
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
                raise NoLoopsError
            case CallFunction(_, items):
                parts = (self._at(item, list(offsets), before, place) for item in items)
                return replace(expr, items=tuple(parts))
        return with_parts(expr, lambda part: self._at(part, list(offsets), before, place))

    def _of_items(self, base: Name, items: tuple[Expr, ...], offsets: list[AffineForm]) -> Expr:
        index: list[Expr] = []
        rest = list(offsets)
        for item, extent in zip(items, self.arrays.symbol(base.key).shape, strict=True):
            is_triplet = isinstance(item, Range)
            if not is_triplet and not self._bounds(item):
                index.append(item)
                continue
            if not rest:
                raise NoLoopsError
            by = rest.pop(0)
            if isinstance(item, Range):
                check_step(item)
                index.append(_moved(item.lower or lower_of(extent), by))
            else:
                index.append(self._at(item, [by], [], None))
        if rest:
            raise NoLoopsError
        return Element(base, tuple(index))

    def _row_by_column(
        self,
        factors: tuple[Expr, Expr],
        offsets: list[AffineForm],
        before: list[Line],
        place: Span | None,
    ) -> Expr:
        """Return an element of the product of a matrix and a vector or another matrix."""
        left, right = factors
        if _is_transposed(*factors):
            raise NoLoopsError(_OF_COMPILER)
        inner = (self._bounds(left) or ())[-1:]
        # The product of a whole and a real number is computed as one of real numbers.
        types = [self.arrays.type_of(left), self.arrays.type_of(right)]
        real = [one for one in types if one.intrinsic is Intrinsic.REAL]
        if not real:
            raise NoLoopsError
        total = Name(self._declared("total", real[0]))

        def body(along: list[AffineForm]) -> list[Line]:
            inner_before: list[Line] = []
            first = self._at(left, [offsets[0], *along], inner_before, place)
            second = self._at(right, [*along, *offsets[1:]], inner_before, place)
            if inner_before:
                raise NoLoopsError
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


def _moved(first: Expr, by: AffineForm) -> Expr:
    """Return an index that lies so far behind the first."""
    return affine_form(first).plus(by).expr


def _without(value: Expr, target: Expr) -> Expr:
    """Return a value without the element that is written."""
    wanted = canonical(target)

    def change(part: Expr) -> Expr:
        return _ZERO if canonical(part) == wanted else with_parts(part, change)

    return change(value)


def _names_of(items: Iterable[Expr]) -> set[str]:
    return {name for item in items for name in names_in(item)}
