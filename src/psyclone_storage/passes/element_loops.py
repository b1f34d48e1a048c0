"""Loop nests over array elements, and the element of an expression in an iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from psyclone_storage.analysis.bodies.shapes import Dimensions, Triplet, dimensions_of, rank_of
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import difference, simplified
from psyclone_storage.ir.intrinsics import ELEMENTAL
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Do, Line
from psyclone_storage.passes.scratch import Scratch


class NotScalarisedError(Exception):
    """No loops provably compute the same result as a statement; the text is the reason or empty."""


@dataclass(frozen=True, slots=True)
class LoopForm:
    """Form of generated loops: the name of the counter, and what it counts.

    Loops count the subscripts of an array or, with `from_first`, element positions: from 1 if the
    lower bound is 1, otherwise from 0.
    """

    counter: str = "idx"
    from_first: bool = False

    def counted(self, dimension: Triplet) -> Triplet:
        """Return the range of the counter for one dimension."""
        if not self.from_first:
            return dimension
        check_step(dimension)
        start = simplified(dimension.start)
        if ex.integer_value(start) == 1:
            return Triplet(start, dimension.stop)
        return Triplet(ex.whole(0), simplified(ex.Binary(Operator.MINUS, dimension.stop, start)))

    def subscript(self, at: ex.Expr, driver: Triplet, own: Triplet) -> ex.Expr:
        """Return the subscript in `own` that corresponds to the subscript `at` in `driver`."""
        if self.from_first:
            check_step(own)
            position = ex.Binary(Operator.MINUS, at, driver.start)
            return simplified(ex.Binary(Operator.PLUS, own.start, position))
        if ex.same(driver.step or ex.whole(1), own.step or ex.whole(1)):
            if ex.same(driver.start, own.start) or difference(own.start, driver.start) == 0:
                return at
            shift = ex.Binary(Operator.MINUS, own.start, driver.start)
            return simplified(ex.Binary(Operator.PLUS, at, shift))
        steps: ex.Expr = simplified(ex.Binary(Operator.MINUS, at, driver.start))
        if driver.step is not None:
            steps = ex.Binary(Operator.DIVIDE, steps, driver.step)
        if own.step is not None:
            steps = ex.Binary(Operator.TIMES, steps, own.step)
        return ex.Binary(Operator.PLUS, own.start, steps)


def check_step(dimension: Triplet) -> None:
    """Raise `NotScalarisedError` if the stride of a section is not 1."""
    if dimension.step is not None and ex.integer_value(dimension.step) != 1:
        raise NotScalarisedError("a section has a step")


OF_SUBSCRIPTS = LoopForm()
OF_ELEMENTS = LoopForm("at", from_first=True)


@dataclass(frozen=True, slots=True)
class ElementPosition:
    """A position in arrays of equal shape.

    `at` are subscripts in the index range of `driver`. `product` returns an element of a matrix
    product; without it, matrix products are not scalarised.
    """

    at: tuple[ex.Expr, ...]
    driver: Dimensions
    code: Routine
    form: LoopForm = OF_SUBSCRIPTS
    product: Callable[[ex.CallFunction, ElementPosition], ex.Expr] | None = None

    def element(self, expr: ex.Expr) -> ex.Expr:
        """Return the scalar expression for the element of `expr`.

        A scalar is returned unchanged.
        """
        match expr:
            case ex.Name() | ex.Section():
                return self._of_array(expr)
            case ex.CallFunction(base, items) if dimensions_of(expr, self.code) != ():
                return self._of_function(base, items, ex.intrinsic_called(expr))
            case ex.Index() if not isinstance(expr, ex.Element | ex.CallFunction):
                raise NotScalarisedError
            case ex.Unary() | ex.Binary() | ex.Keyword() | ex.Parenthesised():
                return with_parts(expr, self.element)
        return expr

    def _of_function(self, base: ex.Expr, items: tuple[ex.Expr, ...], word: str | None) -> ex.Expr:
        if word == "transpose":
            turned = replace(self, at=self.at[::-1], driver=self.driver[::-1])
            return turned.element(items[0])
        if word == "matmul" and self.product is not None:
            return self.product(ex.CallFunction(base, items), self)
        if word not in ELEMENTAL:
            raise NotScalarisedError
        return ex.CallFunction(base, tuple(map(self.element, items)))

    def _of_array(self, expr: ex.Name | ex.Section) -> ex.Expr:
        dimensions = dimensions_of(expr, self.code)
        if dimensions == ():
            return expr
        if dimensions is None or len(dimensions) != len(self.at):
            raise NotScalarisedError
        if isinstance(expr, ex.Name):
            return ex.Element(
                expr, tuple(map(self.form.subscript, self.at, self.driver, dimensions))
            )
        positions = iter(zip(self.at, self.driver, dimensions, strict=True))
        items: list[ex.Expr] = []
        for item in expr.items:
            if isinstance(item, ex.Range):
                items.append(self.form.subscript(*next(positions)))
            elif rank_of(item, self.code):
                at, driver, _ = next(positions)
                items.append(replace(self, at=(at,), driver=(driver,)).element(item))
            else:
                items.append(item)
        return ex.Element(expr.base, tuple(items))


@dataclass(frozen=True, slots=True)
class ElementLoops:
    """A loop nest over the elements of arrays of equal shape; the first dimension is innermost."""

    dimensions: Dimensions
    counters: tuple[ex.Name, ...]
    form: LoopForm = OF_SUBSCRIPTS

    @staticmethod
    def over(
        dimensions: Dimensions, scratch: Scratch, form: LoopForm = OF_SUBSCRIPTS
    ) -> ElementLoops:
        """Return loops over `dimensions` with new counters."""
        counters = tuple(scratch.counter(form.counter) for _ in dimensions)
        return ElementLoops(tuple(map(form.counted, dimensions)), counters, form)

    def position(self, code: Routine) -> ElementPosition:
        """Return the element position of the current iteration."""
        return ElementPosition(self.counters, self.dimensions, code, self.form)

    def around(self, body: Iterable[Line], place: Span | None = None) -> tuple[Line, ...]:
        """Return the loops with `body` inside."""
        lines = tuple(body)
        for count, counter in zip(self.dimensions, self.counters, strict=True):
            loop = Do(counter, count.start, count.stop, lines, count.step)
            lines = (replace(loop, place=place, extent=place),)
        return lines
