"""Rewrite array statements, reductions and matrix products as loops of scalar statements.

Sums and products of arrays are computed before the statement that uses them, in element order. A
statement is unchanged if loops could compute a different result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.shapes import Dimensions, Triplet, dimensions_of
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import ELEMENTAL
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    names_in,
    place_of_line,
    rewritten,
    with_expressions,
    with_parts,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Branch, If, Line
from psyclone_storage.passes.element_loops import (
    OF_ELEMENTS,
    ElementLoops,
    ElementPosition,
    NotScalarisedError,
    check_step,
)
from psyclone_storage.passes.scalarise import reads_other_elements
from psyclone_storage.passes.scratch import Scratch, names_of

Refusals = dict[Span | None, str]
_NOTHING = ex.Literal("0.0", Intrinsic.REAL)
_RANK_OF_MATRIX = 2
_GUARDS = (Operator.AND, Operator.OR)
_OF_COMPILER = "which terms of a transposed matrix are added first is the compiler's choice"
_LARGEST = ex.Literal("2147483647", Intrinsic.INTEGER)
_EXTREMES: Mapping[str, tuple[str, str, ex.Expr]] = {
    "minval": ("least", "min", _LARGEST),
    "maxval": (
        "most",
        "max",
        ex.Binary(Operator.MINUS, ex.Unary(Operator.MINUS, _LARGEST), ex.whole(1)),
    ),
}
"""Functions for the least and the greatest: a name, what joins two, the value of no elements."""
_REDUCTIONS = ("sum", "dot_product", *_EXTREMES)


class _UnknownBoundsError(NotScalarisedError):
    """The upper bound of an array dimension is not declared."""


@dataclass(frozen=True, slots=True)
class Values:
    """Values and types that are not declared in the routine itself.

    `integer` returns the value of a constant expression, or None. `type_of` returns the type of the
    elements of an expression, or raises `NotScalarisedError`.
    """

    integer: Callable[[ex.Expr], int | None]
    type_of: Callable[[ex.Expr, Routine], ScalarType]


def scalarise(code: Routine, values: Values) -> tuple[Routine, Refusals]:
    """Return `code` with loops instead of array statements, and the unchanged statements.

    The second result maps source positions to the reasons why statements are unchanged.
    """
    code = linked(code)
    # Without statements, which might change them, arrays have the bounds of their declarations.
    scratch = Scratch(replace(code, body=()), names_of(code))
    scalariser = _Scalariser(scratch, values)
    body = rewritten(code.body, scalariser.line)
    return replace(scratch.code, body=body), scalariser.reasons


@dataclass(slots=True)
class _Scalariser:
    """State of the pass for one routine."""

    scratch: Scratch
    values: Values
    reasons: Refusals = field(default_factory=dict)
    place: Span | None = None

    @property
    def code(self) -> Routine:
        """The routine's declarations, including the variables added so far."""
        return self.scratch.code

    def line(self, line: Line) -> Iterable[Line]:
        """Return the statements that replace `line`; `line` itself if nothing changes."""
        line = with_expressions(line, self._without_sizes)
        self.place = place_of_line(line)
        try:
            match line:
                case Assign():
                    return self._assign(line)
                case If():
                    return self._if(line)
        except NotScalarisedError as error:
            if why := str(error):
                self.reasons[self.place] = why
        return [line]

    def _if(self, line: If) -> list[Line]:
        """Return an `if` construct whose first condition contains no reductions.

        The reductions are computed before the construct.
        """
        before: list[Line] = []
        first, *others = line.branches
        self.place = first.place
        test = self._without_reductions(first.condition, before)
        if not before:
            return [line]
        return [*before, replace(line, branches=(replace(first, condition=test), *others))]

    # ------------------------------------------------------------------------ assignments

    def _assign(self, line: Assign) -> list[Line]:
        before: list[Line] = []
        value = line.value
        if not isinstance(value, ex.ArrayLiteral):
            value = self._without_lists(value, before)
        value = self._without_reductions(value, before)
        new = replace(line, value=value) if before else line
        dimensions = self._dimensions(line.target)
        return [*before, *(self._assigned(new, dimensions) if dimensions else [new])]

    def _assigned(self, line: Assign, dimensions: Dimensions) -> Iterable[Line]:
        base = line.target.base if isinstance(line.target, ex.Index) else line.target
        if not isinstance(base, ex.Name):
            raise NotScalarisedError
        if isinstance(line.value, ex.ArrayLiteral):
            return self._listed(line, base.key, line.value.items, dimensions)
        if isinstance(line.target, ex.Index) and any(
            base.key in names_in(item) for item in line.target.items
        ):
            raise NotScalarisedError

        def assigned(position: ElementPosition) -> Assign:
            return replace(line, target=position.element(line.target),
                           value=position.element(line.value))  # fmt: skip

        # Also where a copy is needed: the names of these variables stay taken.
        loops = self._loops(dimensions, assigned)
        if reads_other_elements(line, self.code):
            return self._copied(line, base, dimensions)
        return loops

    def _copied(self, line: Assign, base: ex.Name, dimensions: Dimensions) -> Iterator[Line]:
        """Yield loops that compute all values in a temporary before assigning any.

        before: a(2:n) = a(1:n-1)
        after:  values(i) = a(i) for all elements; a(1+i) = values(i) for all elements
        """
        type_ = self.code.symbol(base.key).type
        if not isinstance(type_, ScalarType):
            raise NotScalarisedError
        extents = tuple(self._extent_at_call(one, base) for one in dimensions)
        values = self.scratch.variable("values", type_, extents)

        def computed(position: ElementPosition) -> Assign:
            return replace(line, target=position.element(values),
                           value=position.element(line.value))  # fmt: skip

        def assigned(position: ElementPosition) -> Assign:
            return replace(line, target=position.element(line.target),
                           value=position.element(values))  # fmt: skip

        yield from self._loops(dimensions, computed)
        yield from self._loops(dimensions, assigned)

    def _extent_at_call(self, one: Triplet, base: ex.Name) -> ex.Expr:
        """Return the number of elements if it is known at the entry of the routine."""
        extent = one.count
        known = self.values.integer(extent)
        if known is not None:
            return ex.whole(max(known, 0))
        symbols = [self.code.symbol(key) for key in names_in(extent)]
        known_outside = (ex.Origin.DUMMY, ex.Origin.INTRINSIC)
        if any(
            one.origin not in known_outside and one.sort is not ex.Sort.CONSTANT for one in symbols
        ):
            what = f"other elements of '{base.text}' are read where it is written, and it is not"
            raise NotScalarisedError(f"{what} known where the kernel is called how many there are")
        return ex.intrinsic("max", extent, ex.whole(0))

    def _listed(
        self, line: Assign, key: str, items: tuple[ex.Expr, ...], dimensions: Dimensions
    ) -> list[Line]:
        """Return one assignment for each item of an array constructor."""
        if any(self._dimensions(item) or key in names_in(item) for item in items):
            raise NotScalarisedError
        if len(dimensions) != 1:
            raise NotScalarisedError
        # Both sides have one extent in every program: only one that is known may be another one.
        if self.values.integer(dimensions[0].count) not in (None, len(items)):
            raise NotScalarisedError
        driver = (Triplet(ex.whole(0), ex.whole(len(items) - 1)),)
        return [
            Assign(
                ElementPosition((ex.whole(place),), driver, self.code, OF_ELEMENTS).element(
                    line.target
                ),
                item,
                place=line.place,
            )
            for place, item in enumerate(items)
        ]

    def _loops(
        self,
        dimensions: Dimensions,
        body: Callable[[ElementPosition], Line],
    ) -> tuple[Line, ...]:
        """Return loops over elements.

        Matrix products are computed before `body` in each iteration.
        """
        loops = ElementLoops.over(dimensions, self.scratch, OF_ELEMENTS)
        before: list[Line] = []
        position = replace(
            loops.position(self.code),
            product=lambda product, at: self._product(product, at, before),
        )
        line = body(position)
        return loops.around((*before, line), self.place)

    # ------------------------------------------------------------------------ reductions

    def _without_reductions(self, expr: ex.Expr, before: list[Line]) -> ex.Expr:
        """Return `expr` with variables instead of reductions, which are computed in `before`."""

        def change(part: ex.Expr) -> ex.Expr:
            if isinstance(part, ex.Binary) and part.op in _GUARDS and _has_reductions(part.right):
                what = "a sum is computed only if what stands before it allows that"
                raise NotScalarisedError(what)
            part = with_parts(part, change)
            word = ex.intrinsic_called(part)
            match part:
                case ex.CallFunction(_, (array,)) if word in ("sum", *_EXTREMES):
                    terms = array
                case ex.CallFunction(_, (first, second)) if word == "dot_product":
                    terms = ex.Binary(Operator.TIMES, first, second)
                case _:
                    return part
            dimensions = self._dimensions(terms)
            return self._reduced(word, terms, dimensions, before) if dimensions else part

        return change(expr)

    def _reduced(
        self, word: str, terms: ex.Expr, dimensions: Dimensions, before: list[Line]
    ) -> ex.Expr:
        """Return a variable with the reduction of `terms`; append its loops to `before`."""
        type_ = self.values.type_of(terms, self.code)
        is_real = type_.intrinsic is Intrinsic.REAL
        stem, joined, start = _EXTREMES.get(
            word, ("total", "", _NOTHING if is_real else ex.whole(0))
        )
        if joined and is_real:
            return self._real_extreme(stem, terms, dimensions, before)
        total = self.scratch.variable(stem, type_)

        def body(position: ElementPosition) -> Line:
            term = position.element(terms)
            value = (
                ex.intrinsic(joined, total, term)
                if joined
                else ex.Binary(Operator.PLUS, total, term)
            )
            return Assign(total, value, place=self.place)

        loops = self._loops(dimensions, body)
        before += [Assign(total, start, place=self.place), *loops]
        return total

    def _real_extreme(
        self, stem: str, terms: ex.Expr, dimensions: Dimensions, before: list[Line]
    ) -> ex.Expr:
        """Return a variable with the minimum or maximum of reals; append its loops to `before`.

            after:  found = .false.; least = huge(least)
                    do ...: if (.not. found) then; least = x(i); found = x(i) == x(i)
                            else if (x(i) < least) then; least = x(i)

        NaN elements are skipped; the result is NaN if all elements are NaN.
        """
        found = self.scratch.variable("found", ScalarType(Intrinsic.LOGICAL))
        extreme = self.scratch.variable(stem, self.values.type_of(terms, self.code))
        comparison = Operator.LESS if stem == "least" else Operator.GREATER

        def body(position: ElementPosition) -> Line:
            term = position.element(terms)
            taken = Assign(extreme, term, place=self.place)
            is_number = Assign(found, ex.Binary(Operator.EQUAL, term, term), place=self.place)
            first = Branch(ex.Unary(Operator.NOT, found), (taken, is_number), place=self.place)
            other = Branch(ex.Binary(comparison, term, extreme), (taken,), place=self.place)
            return If((first, other), (), extent=self.place)

        of_none: ex.Expr = ex.intrinsic("huge", extreme)
        if stem == "most":
            of_none = ex.Unary(Operator.MINUS, of_none)
        before += [
            Assign(found, ex.logical(False), place=self.place),
            Assign(extreme, of_none, place=self.place),
            *self._loops(dimensions, body),
        ]
        return extreme

    def _product(
        self, product: ex.CallFunction, position: ElementPosition, before: list[Line]
    ) -> ex.Expr:
        """Return an element of a matrix-vector or matrix-matrix product."""
        left, right = product.items
        if _has_transposed(left, right):
            raise NotScalarisedError(_OF_COMPILER)
        # The product of an integer and a real number is computed as one of real numbers.
        types = [self.values.type_of(factor, self.code) for factor in (left, right)]
        real = [one for one in types if one.intrinsic is Intrinsic.REAL]
        if not real:
            raise NotScalarisedError
        total = self.scratch.variable("total", real[0])
        along = ElementLoops.over(self._dimensions(left)[-1:], self.scratch, OF_ELEMENTS)

        row = replace(
            position,
            at=(position.at[0], *along.counters),
            driver=(position.driver[0], *along.dimensions),
            product=None,
        )
        column = replace(
            position,
            at=(*along.counters, *position.at[1:]),
            driver=(*along.dimensions, *position.driver[1:]),
            product=None,
        )
        term = ex.Binary(Operator.TIMES, row.element(left), column.element(right))
        add = Assign(total, ex.Binary(Operator.PLUS, total, term), place=self.place)
        before += [Assign(total, _NOTHING, place=self.place), *along.around((add,), self.place)]
        return total

    # ------------------------------------------------------------------------ shapes

    def _dimensions(self, expr: ex.Expr) -> Dimensions:
        """Return the subscript ranges of an array expression; empty for a scalar."""
        match expr:
            case ex.Unary(_, operand) | ex.Parenthesised(operand):
                return self._dimensions(operand)
            case ex.Binary(_, left, right):
                return self._of_first((left, right))
            case ex.CallFunction(_, items):
                return self._of_function(ex.intrinsic_called(expr), items)
            case ex.Name() | ex.Section():
                found = dimensions_of(expr, self.code)
                if found is None or not all(map(_is_declared, found)):
                    raise _UnknownBoundsError
                for dimension in found:
                    check_step(dimension)
                return found
            case ex.Index() if not isinstance(expr, ex.Element):
                raise NotScalarisedError
        return ()

    def _of_function(self, word: str | None, items: tuple[ex.Expr, ...]) -> Dimensions:
        if word in ELEMENTAL:
            return self._of_first(items)
        if word == "matmul":
            return self._of_product(*items)
        turned = self._dimensions(items[0])[::-1] if word == "transpose" else ()
        if len(turned) != _RANK_OF_MATRIX:
            raise NotScalarisedError
        return turned

    def _of_first(self, items: Iterable[ex.Expr]) -> Dimensions:
        """Return the dimensions of the first array operand with declared bounds."""
        unknown: NotScalarisedError | None = None
        for item in items:
            try:
                if found := self._dimensions(item):
                    return found
            except _UnknownBoundsError as error:
                unknown = error
        if unknown is not None:
            raise unknown
        return ()

    def _of_product(self, first: ex.Expr, second: ex.Expr) -> Dimensions:
        if _has_transposed(first, second):
            raise NotScalarisedError(_OF_COMPILER)
        left, right = self._dimensions(first), self._dimensions(second)
        if len(left) != _RANK_OF_MATRIX or not right:
            raise NotScalarisedError
        return (*left[:-1], *right[1:])

    def _without_sizes(self, expr: ex.Expr) -> ex.Expr:
        """Return `expr` with calls of `size` replaced by extents."""

        def change(part: ex.Expr) -> ex.Expr:
            part = with_parts(part, change)
            match part:
                case ex.CallFunction(_, (ex.Name() as array, *which)) if (
                    ex.intrinsic_called(part) == "size"
                ):
                    return self._size(array, tuple(which)) or part
            return part

        return change(expr)

    def _size(self, array: ex.Name, which: tuple[ex.Expr, ...]) -> ex.Expr | None:
        """Return the size of an array, in total or along one dimension; None if unknown."""
        dimensions = dimensions_of(array, self.code)
        counts = [self.values.integer(one.count) for one in dimensions or ()]
        extents = [max(one, 0) for one in counts if one is not None]
        if not extents or len(extents) < len(counts) or len(which) > 1:
            return None
        place = ex.integer_value(which[0]) if which else None
        if which and (place is None or not 1 <= place <= len(extents)):
            return None
        return ex.whole(math.prod(extents) if place is None else extents[place - 1])

    def _without_lists(self, expr: ex.Expr, before: list[Line]) -> ex.Expr:
        """Return `expr` with array constructors replaced by temporary arrays."""

        def change(part: ex.Expr) -> ex.Expr:
            part = with_parts(part, change)
            if not isinstance(part, ex.ArrayLiteral):
                return part
            types = list(filter(None, map(self._type_if_known, part.items)))
            if not types or any(map(self._dimensions, part.items)):
                raise NotScalarisedError
            values = self.scratch.variable("values", types[0], (ex.whole(len(part.items)),))
            before.extend(
                Assign(ex.Element(values, (ex.whole(place),)), item, place=self.place)
                for place, item in enumerate(part.items, 1)
            )
            return values

        return change(expr)

    def _type_if_known(self, item: ex.Expr) -> ScalarType | None:
        try:
            return self.values.type_of(item, self.code)
        except NotScalarisedError:
            return None


def _is_declared(one: Triplet) -> bool:
    """Return whether the bounds of a dimension are declared.

    They are not if they come from `lbound` or `ubound`.
    """
    return all(
        ex.intrinsic_called(bound) not in ("lbound", "ubound") for bound in (one.start, one.stop)
    )


def _has_reductions(expr: ex.Expr) -> bool:
    return any(
        isinstance(part, ex.CallFunction)
        and isinstance(part.base, ex.Name)
        and part.base.key in _REDUCTIONS
        for part in ex.walk(expr)
    )


def _has_transposed(*factors: ex.Expr) -> bool:
    return any(
        ex.intrinsic_called(part) == "transpose" for factor in factors for part in ex.walk(factor)
    )
