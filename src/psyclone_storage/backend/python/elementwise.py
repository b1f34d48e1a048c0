"""Statements on whole arrays and sections as loops over their elements.

Kernels in Python look at one element at a time. Sums and products of arrays are computed from the
first element on, before the statement that needs them. A statement that reads an array which it
writes, at other elements, is left as it is, and so refused by who prints it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
    Literal,
    Name,
    Origin,
    Parenthesised,
    Range,
    Section,
    Symbol,
    Unary,
    canonical,
    integer_value,
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
    with_parts,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Declare, Do, If, Line

_ONE = Literal("1", Intrinsic.INTEGER)
_ZERO = Literal("0", Intrinsic.INTEGER)
_NOTHING = Literal("0.0", Intrinsic.REAL)
_GUARDS = (Operator.AND, Operator.OR)
_SUMS = ("sum", "dot_product")
Bounds = tuple[tuple[Expr, Expr], ...]


class _NoLoopsError(Exception):
    """A statement that has no form as loops which certainly do the same; the text may say why."""


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
                raise _NoLoopsError(f"other elements of '{base.text}' are read where it is written")
            return [*before, Assign(target, value, place=line.place)]

        return self._loops(bounds, body, line.place)

    def _listed(self, line: Assign, key: str, items: tuple[Expr, ...]) -> list[Line]:
        """Return an assignment for each of some values."""
        if any(self._bounds(item) is not None or key in names_in(item) for item in items):
            raise _NoLoopsError
        target = self._bounds(line.target) or ()
        if len(target) != 1:
            raise _NoLoopsError
        extent = summed(Binary(Operator.MINUS, target[0][1], target[0][0])).plus(1)
        if extent.terms or extent.constant != len(items):
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

    def _declared(self, stem: str, type_: ScalarType) -> str:
        name = self.names.fresh(stem)
        self.declared.append(Declare(name, type_))
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
                case _:
                    return part
            bounds = self._bounds(terms)
            if bounds is None:
                return part
            return self._total(terms, bounds, before, place)

        return change(expr)

    def _is_of_language(self, expr: Expr) -> bool:
        """Return whether an expression calls a function of the language, and no author's."""
        if not isinstance(expr, CallFunction) or not isinstance(expr.base, Name):
            return False
        return self.scope.symbol(expr.base.key).origin is Origin.INTRINSIC

    def _total(self, terms: Expr, bounds: Bounds, before: list[Line], place: Span | None) -> Expr:
        total = Name(self._declared("total", self._type_of(terms)))

        def body(offsets: list[IndexSum]) -> list[Line]:
            inner: list[Line] = []
            term = self._at(terms, list(offsets), inner, place)
            return [*inner, Assign(total, Binary(Operator.PLUS, total, term), place=place)]

        loops = self._loops(bounds, body, place)
        before += [Assign(total, _NOTHING if self._is_real(terms) else _ZERO, place=place), *loops]
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
                symbol = self.scope.symbol(expr.key)
                return tuple(map(_of_dimension, symbol.shape)) if symbol.shape else None
            case Section(Name() as base, items):
                return self._of_section(base, items)
            case CallFunction() if not self._is_of_language(expr):
                raise _NoLoopsError
            case CallFunction(Name(key="matmul"), (first, second)):
                left, right = self._bounds(first) or (), self._bounds(second) or ()
                if not left or len(right) != 1:
                    raise _NoLoopsError
                return left[:-1]
            case CallFunction(Name(key=word), items) if word in ELEMENTAL:
                return self._of_first(items)
            case Index() if not isinstance(expr, Element):
                raise _NoLoopsError
            case Unary(_, operand) | Parenthesised(operand):
                return self._bounds(operand)
            case Binary(_, left_, right_):
                return self._of_first((left_, right_))
        return None

    def _of_first(self, items: tuple[Expr, ...]) -> Bounds | None:
        found = (self._bounds(item) for item in items)
        return next((one for one in found if one is not None), None)

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
            case Name() if shape := self.scope.symbol(expr.key).shape:
                if len(shape) != len(offsets):
                    raise _NoLoopsError
                first = [_of_dimension(one)[0] for one in shape]
                return Element(expr, tuple(map(_moved, first, offsets)))
            case Section(Name() as base, items):
                return self._of_items(base, items, offsets)
            case CallFunction(Name(key="matmul"), (left, right)):
                return self._row_by_column((left, right), offsets, before, place)
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
                index.append(_moved(_of_triplet(item, extent)[0], by))
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
        """Return an element of the product of a matrix and a vector."""
        left, right = factors
        inner = (self._bounds(left) or ())[-1:]
        total = Name(self._declared("total", self._type_of(Binary(Operator.TIMES, left, right))))
        if not self._is_real(Binary(Operator.TIMES, left, right)):
            raise _NoLoopsError

        def body(along: list[IndexSum]) -> list[Line]:
            inner_before: list[Line] = []
            first = self._at(left, [*offsets, *along], inner_before, place)
            second = self._at(right, list(along), inner_before, place)
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


def _of_dimension(one: Expr) -> tuple[Expr, Expr]:
    """Return the bounds that a declaration gives a dimension."""
    if not isinstance(one, Range):
        return _ONE, one
    if one.upper is None:
        raise _NoLoopsError
    return one.lower or _ONE, one.upper


def _of_triplet(item: Range, extent: Expr) -> tuple[Expr, Expr]:
    """Return the bounds of a triplet in a dimension."""
    if item.step is not None and integer_value(item.step) != 1:
        raise _NoLoopsError("a section has a step")
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
