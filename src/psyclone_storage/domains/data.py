"""Data of one invoke while it is built: each distinct actual argument becomes one dummy.

This module determines the names and the order of the dummies. It also records which dummies may be
the same object.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.domains.declared import declared
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import affine_form, substitute_constants
from psyclone_storage.ir.kernel import Access, ArgKind
from psyclone_storage.ir.schedule import Datum, DatumRole
from psyclone_storage.ir.types import DataType

_WORD = regex(r"\w+")
_ORDER = tuple(DatumRole)
_CHANGED_BY_WRITES = (ArgKind.SCALAR, ArgKind.OPERATOR, ArgKind.COLUMNWISE_OPERATOR)


@dataclass(frozen=True, slots=True)
class ArgumentUse:
    """Properties of an actual argument derived from one of its uses."""

    actual: ex.Expr
    type: DataType
    span: Span
    role: DatumRole = DatumRole.ARGUMENT
    kind: ArgKind | None = None
    vector: int = 1
    rank: int = 0
    access: Access = Access.READ


class DataTable:
    """Data of one invoke, which change only while the invoke is built."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        self._names = NameTable(taken)
        self._data: dict[str, Datum] = {}

    def add(self, wanted: ArgumentUse) -> Datum:
        """Return the datum for an actual argument; create it if its text is new."""
        key = ex.canonical(wanted.actual)
        known = self._data.get(key)
        datum = _met_again(known, wanted) if known else self._met_first(wanted)
        self._data[key] = datum
        return datum

    def known(self, actual: ex.Expr) -> Datum | None:
        """Return the datum for a known actual argument, or None."""
        return self._data.get(ex.canonical(actual))

    def in_order(self) -> tuple[Datum, ...]:
        """Return all data in the order of the routine's dummies.

        Kernel arguments come first. They are followed by stencil extents, directions, quadratures
        and halo depths (spec 2.9).
        """
        data = sorted(self._data.values(), key=lambda datum: _ORDER.index(datum.role))
        aliases: dict[str, list[str]] = {datum.name: [] for datum in data}
        for array in _by_array(data):
            for first, second in combinations(array, 2):
                if _may_alias(first, second):
                    aliases[first.name].append(second.name)
                    aliases[second.name].append(first.name)
        return tuple(replace(datum, may_alias=tuple(aliases[datum.name])) for datum in data)

    def _met_first(self, wanted: ArgumentUse) -> Datum:
        name = "_".join(_WORD.findall(ex.spell(wanted.actual).lower()))
        return Datum(
            self._names.fresh(name if name[:1].isalpha() else f"arg_{name}"),
            wanted.actual,
            wanted.type,
            wanted.role,
            wanted.kind,
            wanted.vector,
            wanted.rank,
            wanted.access,
            span=wanted.span,
        )


def _met_again(known: Datum, wanted: ArgumentUse) -> Datum:
    access = known.access
    if wanted.access is not access:
        reduced = Access.REDUCTION in (wanted.access, access)
        access = Access.REDUCTION if reduced else Access.READWRITE
    return replace(
        known,
        access=access,
        kind=known.kind or wanted.kind,
        vector=max(known.vector, wanted.vector),
        role=min(known.role, wanted.role, key=_ORDER.index),
    )


def _by_array(data: Iterable[Datum]) -> Iterable[list[Datum]]:
    """Return the data grouped by the array or variable that contains them."""
    arrays: dict[str, list[Datum]] = defaultdict(list)
    for datum in data:
        arrays[ex.canonical(_without_indices(_designated(datum.actual)))].append(datum)
    return arrays.values()


def _designated(actual: ex.Expr) -> ex.Expr:
    """Return `actual` with associate names replaced by their selectors."""
    match actual:
        case ex.Name(symbol=ex.Symbol(attributes=words, value=value)) if (
            value and ex.ASSOCIATED in words
        ):
            return _with_known_indices(_designated(value))
        case ex.Index(base, items):
            return ex.Index(_designated(base), items)
        case ex.Member(base, name):
            return ex.Member(_designated(base), name)
    return actual


def _with_known_indices(selector: ex.Expr) -> ex.Expr:
    """Return a selector in which only constant indices are known; variables may have changed."""
    match selector:
        case ex.Index(base, items):
            values = map(substitute_constants, items)
            known = (
                ex.Range() if any(isinstance(part, ex.Name) for part in ex.walk(item)) else item
                for item in values
            )
            return ex.Index(_with_known_indices(base), tuple(known))
        case ex.Member(base, name):
            return ex.Member(_with_known_indices(base), name)
    return selector


def _without_indices(actual: ex.Expr) -> ex.Expr:
    match actual:
        case ex.Index(base):
            return _without_indices(base)
        case ex.Member(base, name):
            return ex.Member(_without_indices(base), name)
    return actual


def _indices(actual: ex.Expr) -> tuple[tuple[ex.Expr, ...], ...]:
    """Return the indices of each part of `actual`: for `s(i)%f` those of `s` and of `f`.

    Indices of an associate name for an array section are unknown.
    """
    match actual:
        case ex.Index(base, items):
            return (*_indices(base)[:-1], () if isinstance(base, ex.Index) else items)
        case ex.Member(base):
            return (*_indices(base), ())
    return ((),)


def _may_alias(first: Datum, second: Datum) -> bool:
    """Return whether two data in the same array may be one object that can change."""
    if first.kind is not second.kind or not _can_change(first, second):
        return False
    objects = _designated(first.actual), _designated(second.actual)
    pairs = zip(*map(_indices, objects), strict=True)
    return not any(
        _never_equal(substitute_constants(one), substitute_constants(other))
        for these, those in pairs
        for one, other in zip(these, those, strict=False)
    )


def _never_equal(one: ex.Expr, other: ex.Expr) -> bool:
    """Return whether two indices never select a common element."""
    (first, last), (first_of_other, last_of_other) = _ends(one), _ends(other)
    return _is_less(last, first_of_other) or _is_less(last_of_other, first)


def _ends(index: ex.Expr) -> tuple[ex.Expr | None, ex.Expr | None]:
    """Return the smallest and the largest selected index, with None for unknown ones."""
    if isinstance(index, ex.Range):
        return (index.lower, index.upper) if index.step is None else (None, None)
    return index, index


def _is_less(one: ex.Expr | None, other: ex.Expr | None) -> bool:
    """Return whether an index is certainly smaller than another; its names must be scalars."""
    if one is None or other is None:
        return False
    first, second = affine_form(one), affine_form(other)
    apart = second.minus(first).known
    return apart is not None and apart > 0 and all(map(_is_scalar, first.symbols.values()))


def _is_scalar(term: ex.Expr) -> bool:
    """Return whether a term is an integer with the same value wherever it is written."""
    known = declared(term)
    unknown = any(
        isinstance(part, ex.CallFunction | ex.Section | ex.Unresolved) for part in ex.walk(term)
    )
    return known is not None and known.rank == 0 and not unknown


def _can_change(first: Datum, second: Datum) -> bool:
    """Return whether one of two data may change; halos of fields may change without a write."""
    written = first.access.writes or second.access.writes
    return first.kind is ArgKind.FIELD or (first.kind in _CHANGED_BY_WRITES and written)
