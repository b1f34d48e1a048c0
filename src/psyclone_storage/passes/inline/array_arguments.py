"""Array arguments of inlined procedures.

An element of the dummy argument is an element of the actual argument, with shifted subscripts if
the lower bounds differ. A call is rejected if the elements might not correspond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import difference, simplified
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.passes.inline.legality import InlineError

ONE = ex.Literal("1", Intrinsic.INTEGER)
_POINTS = ("pointer", "allocatable")
_WHOLE = (Operator.PLUS, Operator.MINUS, Operator.TIMES)


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension of a passed array: lower bounds in the callee and caller, and the last element.

    `extent` is the extent declared by the callee, None if assumed. `is_full` means that the
    complete dimension of the actual array is passed.
    """

    begins: ex.Expr
    lower: ex.Expr
    upper: ex.Expr | None
    extent: ex.Expr | None
    is_full: bool

    def moved(self, index: ex.Expr) -> ex.Expr:
        """Return the caller's subscript for a subscript of the callee."""
        if difference(self.begins, self.lower) == 0:
            return index
        back = ex.Binary(Operator.MINUS, index, self.begins)
        return simplified(ex.Binary(Operator.PLUS, back, self.lower))

    def triplet(self, item: ex.Range) -> ex.Range:
        """Return the caller's triplet for a triplet of the callee."""
        lower = self.lower if item.lower is None else self.moved(item.lower)
        upper = self._last if item.upper is None else self.moved(item.upper)
        if self.is_full and item.lower is None and item.upper is None:
            return replace(item, lower=None, upper=None)
        return replace(item, lower=lower, upper=upper)

    @property
    def _last(self) -> ex.Expr | None:
        if self.extent is None:
            return self.upper
        last = ex.Binary(Operator.PLUS, self.lower, self.extent)
        return simplified(ex.Binary(Operator.MINUS, last, ONE))


class _ShiftedAxis(_Axis):
    """A dimension with lower bound 1 in the actual array; subscripts are not simplified."""

    __slots__ = ()

    def moved(self, index: ex.Expr) -> ex.Expr:
        """Return the caller's subscript for a subscript of the callee."""
        if ex.whole_number(self.begins) == 1:
            return index
        return ex.Binary(Operator.PLUS, ex.Binary(Operator.MINUS, index, self.begins), ONE)

    def triplet(self, item: ex.Range) -> ex.Range:
        """Return the caller's triplet for a triplet of the callee."""
        lower, upper = (
            None if one is None else self.moved(one) for one in (item.lower, item.upper)
        )
        return replace(item, lower=lower, upper=upper)


@dataclass(frozen=True, slots=True)
class PassedArray:
    """An actual array argument: passed dimensions, and fixed subscripts in the others."""

    base: ex.Expr
    places: tuple[_Axis | ex.Expr, ...]

    @property
    def names(self) -> tuple[ex.Expr, ...]:
        """Return the caller's expressions that select the elements."""
        found = [one for one in self.places if not isinstance(one, _Axis)]
        for one in self.places:
            if isinstance(one, _Axis):
                found += [part for part in (one.begins, one.lower, one.upper, one.extent) if part]
        return tuple(found)

    def at(self, items: Sequence[ex.Expr], is_element: bool) -> ex.Expr:
        """Return the element or section for the callee's subscripts."""
        rest = list(items)
        found: list[ex.Expr] = []
        for one in self.places:
            if not isinstance(one, _Axis):
                found.append(one)
                continue
            if not rest:
                raise InlineError(f"'{ex.spell(self.base)}' is looked at with fewer indices")
            item = rest.pop(0)
            found.append(one.triplet(item) if isinstance(item, ex.Range) else one.moved(item))
        if rest:
            raise InlineError(f"'{ex.spell(self.base)}' is looked at with more indices")
        return (ex.Element if is_element else ex.Section)(self.base, tuple(found))

    @property
    def _axes(self) -> tuple[_Axis, ...]:
        return tuple(one for one in self.places if isinstance(one, _Axis))

    @property
    def _is_base(self) -> bool:
        axes = self._axes
        return len(axes) == len(self.places) and all(one.is_full for one in axes)

    @property
    def keeps_bounds(self) -> bool:
        """Return whether its bounds equal those of `whole`; a section has lower bound 1."""
        return self._is_base or all(ex.integer_value(one.begins) == 1 for one in self._axes)

    def whole(self) -> ex.Expr:
        """Return all passed elements as an array expression."""
        if self._is_base:
            return self.base
        return self.at([ex.Range()] * len(self._axes), is_element=False)


def passed_array(
    arg: ex.Expr,
    shape: tuple[ex.Expr, ...],
    symbol_of: Callable[[str], ex.Symbol],
    is_scalar: Callable[[ex.Expr], bool],
) -> PassedArray | None:
    """Return the mapping of the array argument `arg` to a dummy with shape `shape`.

    The function returns None if `arg` is not a named array.

    Raises:
        InlineError: the elements might not correspond.
    """
    base = arg.base if isinstance(arg, ex.Section) else arg
    if not isinstance(base, ex.Name):
        return None
    symbol = symbol_of(base.key)
    if set(symbol.attributes) & set(_POINTS):
        raise InlineError(f"'{base.text}' is a pointer or allocatable, and is passed")
    for name in sorted({name for one in symbol.shape for name in names_in(one)}):
        if not is_unmodified(symbol_of(name)):
            raise InlineError(f"'{name}' gives an extent of '{base.text}' and may have changed")
    every: Sequence[ex.Expr] = [ex.Range()] * len(symbol.shape)
    given = arg.items if isinstance(arg, ex.Section) else every
    if len(given) != len(symbol.shape):
        raise InlineError(f"'{base.text}' is passed with other dimensions than it has")
    places: list[_Axis | ex.Expr] = []
    rest = list(shape)
    for item, own in zip(given, symbol.shape, strict=True):
        if not isinstance(item, ex.Range):
            if not is_scalar(item):
                raise InlineError(f"elements of '{base.text}' are passed that need a copy")
            places.append(item)
            continue
        if not rest:
            raise InlineError(f"'{base.text}' has more dimensions than the argument")
        places.append(_axis(base, item, own, rest.pop(0), is_last=not rest))
    if rest:
        raise InlineError(f"'{base.text}' has fewer dimensions than the argument")
    return PassedArray(base, tuple(places))


def shifted_array(
    arg: ex.Expr, shape: tuple[ex.Expr, ...], changed: Callable[[ex.Expr], ex.Expr]
) -> PassedArray:
    """Return the mapping of the array `arg` with lower bounds 1 to a dummy with shape `shape`.

    `changed` converts a bound of the callee to an expression of the caller.
    """
    axes: Iterator[_Axis] = (
        _ShiftedAxis(changed(declared_bounds(one)[0]), ONE, None, None, is_full=True)
        for one in shape
    )
    if not isinstance(arg, ex.Index) or not any(isinstance(item, ex.Range) for item in arg.items):
        return PassedArray(arg, tuple(axes))
    if any(isinstance(item, ex.Range) and item != ex.Range() for item in arg.items):
        raise InternalError(f"A part of an array is passed: '{ex.spell(arg)}'.")
    places = tuple(next(axes) if isinstance(item, ex.Range) else item for item in arg.items)
    return PassedArray(arg.base, places)


def is_unmodified(symbol: ex.Symbol) -> bool:
    """Return whether a variable cannot change while its procedure runs."""
    return symbol.sort is ex.Sort.CONSTANT or "intent(in)" in symbol.attributes


def _axis(
    base: ex.Name, item: ex.Range, own: ex.Expr, declared: ex.Expr, *, is_last: bool
) -> _Axis:
    """Return the mapping of one array dimension to a declared dimension of the dummy."""
    if item.step is not None and ex.integer_value(item.step) != 1:
        raise InlineError(f"a section of '{base.text}' with a step is passed")
    first, last = declared_bounds(own)
    lower, upper = item.lower or first, item.upper or last
    begins, ends = declared_bounds(declared)
    if ends is None:
        # The argument has the array's extent.
        is_full = item == ex.Range() and difference(begins, first) == 0
        return _Axis(begins, lower, upper, None, is_full)
    extent = extent_between(begins, ends)
    is_equal = upper is not None and difference(extent_between(lower, upper), extent) == 0
    if not is_last and not is_equal:
        raise InlineError(f"'{base.text}' may have other extents than the argument")
    same = difference(begins, first) == 0
    return _Axis(begins, lower, upper, extent, is_equal and same and item == ex.Range())


def declared_bounds(declared: ex.Expr) -> tuple[ex.Expr, ex.Expr | None]:
    """Return the lower and upper bound of a declared dimension.

    None for an undeclared upper bound.
    """
    if not isinstance(declared, ex.Range):
        return ONE, None if isinstance(declared, ex.Star) else declared
    upper = None if isinstance(declared.upper, ex.Star) else declared.upper
    return declared.lower or ONE, upper


def starts_at_one(declared: ex.Expr) -> bool:
    """Return whether a dimension certainly has lower bound 1."""
    return ex.integer_value(declared_bounds(declared)[0]) == 1


def check_extents(extents: Iterable[ex.Expr], name: str) -> None:
    """Check that array extents can be evaluated unconditionally.

    The caller allocates the array at its start, even if the call is conditional.

    Raises:
        InlineError: an extent may have no value.
    """
    for extent in extents:
        if not _has_value(extent):
            raise InlineError(f"the extent '{ex.spell(extent)}' of '{name}' might have no value")


def _has_value(extent: ex.Expr) -> bool:
    """Return whether an integer expression has a value for all values of its variables."""
    match extent:
        case ex.Name() | ex.Literal() | ex.Star():
            return True
        case ex.Range(lower=lower, upper=upper):
            return all(one is None or _has_value(one) for one in (lower, upper))
        case ex.Binary(Operator.DIVIDE, left, right):
            return _has_value(left) and ex.integer_value(right) not in (None, 0)
        case ex.Binary(op, left, right):
            return op in _WHOLE and _has_value(left) and _has_value(right)
        case ex.Parenthesised(operand) | ex.Unary(_, operand):
            return _has_value(operand)
        case ex.CallFunction(items=items):
            asks = ex.intrinsic_called(extent) in ("max", "min", "abs")
            return ex.intrinsic_called(extent) == "size" or (asks and all(map(_has_value, items)))
    return False


def extent_between(lower: ex.Expr, upper: ex.Expr) -> ex.Expr:
    """Return the number of elements from `lower` to `upper`."""
    span = ex.Binary(Operator.MINUS, upper, lower)
    return simplified(ex.Binary(Operator.PLUS, span, ONE))
