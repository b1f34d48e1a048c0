"""Actual array arguments of procedures that are inlined.

An element of the dummy is an element of the actual array, at another index if their bounds differ.
A call is refused if the elements might differ.
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
    """A dimension: where it begins for the procedure and where in the array, and its last element.

    `extent` is what the procedure declares, none where that is the array's. It `is_full` if it is
    all of the array's own dimension.
    """

    begins: ex.Expr
    lower: ex.Expr
    upper: ex.Expr | None
    extent: ex.Expr | None
    is_full: bool

    def moved(self, index: ex.Expr) -> ex.Expr:
        """Return an index of the procedure as one of the array."""
        if difference(self.begins, self.lower) == 0:
            return index
        back = ex.Binary(Operator.MINUS, index, self.begins)
        return simplified(ex.Binary(Operator.PLUS, back, self.lower))

    def triplet(self, item: ex.Range) -> ex.Range:
        """Return a triplet of the procedure as one of the array."""
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
    """A dimension that begins at 1 in the array; its indices keep their form."""

    __slots__ = ()

    def moved(self, index: ex.Expr) -> ex.Expr:
        """Return an index of the procedure as one of the array."""
        if ex.whole_number(self.begins) == 1:
            return index
        return ex.Binary(Operator.PLUS, ex.Binary(Operator.MINUS, index, self.begins), ONE)

    def triplet(self, item: ex.Range) -> ex.Range:
        """Return a triplet of the procedure as one of the array."""
        lower, upper = (
            None if one is None else self.moved(one) for one in (item.lower, item.upper)
        )
        return replace(item, lower=lower, upper=upper)


@dataclass(frozen=True, slots=True)
class PassedArray:
    """The elements of an array that a procedure is passed: some dimensions, others at an index."""

    base: ex.Expr
    places: tuple[_Axis | ex.Expr, ...]

    @property
    def names(self) -> tuple[ex.Expr, ...]:
        """Return the expressions that select the elements, as the caller computes them."""
        found = [one for one in self.places if not isinstance(one, _Axis)]
        for one in self.places:
            if isinstance(one, _Axis):
                found += [part for part in (one.begins, one.lower, one.upper, one.extent) if part]
        return tuple(found)

    def at(self, items: Sequence[ex.Expr], is_element: bool) -> ex.Expr:
        """Return an element or a section, by the indices of the procedure."""
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
        """Return whether its first and last indices are those of `whole`; a section begins at 1."""
        return self._is_base or all(ex.integer_value(one.begins) == 1 for one in self._axes)

    def whole(self) -> ex.Expr:
        """Return all elements that are passed."""
        if self._is_base:
            return self.base
        return self.at([ex.Range()] * len(self._axes), is_element=False)


def passed_array(
    arg: ex.Expr,
    shape: tuple[ex.Expr, ...],
    symbol_of: Callable[[str], ex.Symbol],
    is_scalar: Callable[[ex.Expr], bool],
) -> PassedArray | None:
    """Return what the array `arg` is for a procedure that declares `shape`, in the caller's words.

    None where it is no array that has a name. Raise `InlineError` where elements may be others.
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
    """Return what the array `arg`, which begins at 1, is for a procedure that declares `shape`.

    `changed` returns a bound of the procedure as an expression of the caller.
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
    """Return whether a variable keeps its value while its procedure runs."""
    return symbol.sort is ex.Sort.CONSTANT or "intent(in)" in symbol.attributes


def _axis(
    base: ex.Name, item: ex.Range, own: ex.Expr, declared: ex.Expr, *, is_last: bool
) -> _Axis:
    """Return the dimension of an array for one that a procedure declares."""
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
    """Return the declared bounds of a dimension, None for an upper bound that is not declared."""
    if not isinstance(declared, ex.Range):
        return ONE, None if isinstance(declared, ex.Star) else declared
    upper = None if isinstance(declared.upper, ex.Star) else declared.upper
    return declared.lower or ONE, upper


def starts_at_one(declared: ex.Expr) -> bool:
    """Return whether a dimension certainly begins where one of an expression does."""
    return ex.integer_value(declared_bounds(declared)[0]) == 1


def check_extents(extents: Iterable[ex.Expr], name: str) -> None:
    """Refuse extents of an array that might have no value where the call is not reached.

    The array of the caller is made at its begin, whatever conditions are around the call.
    """
    for extent in extents:
        if not _has_value(extent):
            raise InlineError(f"the extent '{ex.spell(extent)}' of '{name}' might have no value")


def _has_value(extent: ex.Expr) -> bool:
    """Return whether an integer can be computed for all values of the scalars in it."""
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
    """Return how many elements there are from `lower` to `upper`."""
    span = ex.Binary(Operator.MINUS, upper, lower)
    return simplified(ex.Binary(Operator.PLUS, span, ONE))
