"""Caches for values that depend only on a grid property (`transform.kernel.cache_invariants`).

A cache consists of two saved arrays of the shape of the property: the values, and the bits of the
elements from which they were computed, as integers. A value is used only if its element still has
the same bits, so the cache needs no knowledge about who changes the property, and serves any number
of grids. Keys that are not set have the bits of the largest integer, which is a NaN; values of such
an element are always computed. `threadprivate` gives each thread that calls the routine its own
cache; the threads of the routine's parallel regions share it through pointers.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.gocean import INTEGER, REAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.cached_values import CachedArray, CachePart
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.runtime_ops import GridPropertyOf
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection, Workspace, colons

_MORE_DIGITS = 3
"""The decimal digits that an integer has more than a real number of the same size."""
_SAVED = ("allocatable", "save", "target")
_COMMENT = """Make the arrays of a cache at least as large as a grid property.
Larger arrays contain no values."""


def type_of_part(work: Workspace, part: CachePart) -> ScalarType:
    """Return the type of an array of a cache."""
    return REAL if part is CachePart.VALUES else type_of_bits(work)


def type_of_bits(work: Workspace) -> ScalarType:
    """Return the integer type of the size of a real number.

    Bits are compared as integers: under options such as `-ffast-math`, a compiler assumes that no
    real number is NaN and ignores the signs of zeros.
    """
    digits = f"precision(1.0_{work.kind(REAL.kind or '')}) + {_MORE_DIGITS}"
    return ScalarType(Intrinsic.INTEGER, f"selected_int_kind({digits})")


def caches_values(context: LoweringContext) -> bool:
    """Return whether generated code can cache values between invokes."""
    return CachedArray in context.ops.values


def cached_array(context: LoweringContext, asked: CachedArray) -> ex.Expr:
    """Return the pointer to an array of a cache; the set-up makes the array large enough."""
    work = context.work
    if work.first(("cache", asked.call, asked.name)):
        saved = [_declared(work, asked, part, _SAVED, "saved_") for part in CachePart]
        names = ", ".join(one.text for one in saved)
        work.specify(un.DirectiveLine(f"omp threadprivate({names})"))
        reserve = work.imports.helper("reserve_cache", lambda name: _reserving(work, name))
        shape = context.value(GridPropertyOf(asked.grid_property, asked.field))
        work.add(SetupSection.CACHES, un.Call(ex.Name(reserve), (shape, *saved)))
        for part, array in zip(CachePart, saved, strict=True):
            pointer = _declared(work, asked, part, ("pointer", "contiguous"))
            work.add(SetupSection.CACHES, un.PointerAssign(pointer, array))
    return _declared(work, asked, asked.part, ())


def _declared(
    work: Workspace,
    cache: CachedArray,
    part: CachePart,
    attributes: tuple[str, ...],
    prefix: str = "",
) -> ex.Name:
    type_ = type_of_part(work, part)
    wished = un.Declare(f"{prefix}{cache.name}_{part.value}", type_, attributes, colons(2))
    key = ("cache", cache.call, cache.name, part, prefix)
    return work.variable(SetupSection.CACHES, key, wished)


def _reserving(work: Workspace, name: str) -> un.GeneratedRoutine:
    """Return the procedure that makes the arrays of a cache large enough."""
    array, columns, rows = map(ex.Name, ("property", "columns", "rows"))
    parts = [ex.Name(part.value) for part in CachePart]
    dummies = (
        un.Declare(array.text, REAL, ("intent(in)",), colons(2)),
        *(
            un.Declare(
                part.value, type_of_part(work, part), ("allocatable", "intent(inout)"), colons(2)
            )
            for part in CachePart
        ),
    )
    keys = ex.Name(CachePart.KEYS.value)
    extents = tuple(zip((columns, rows), (1, 2), strict=True))

    def size(of: ex.Expr, dimension: int) -> ex.Expr:
        return ex.intrinsic("size", of, ex.whole(dimension))

    more_columns, more_rows = (
        ex.Binary(Operator.GREATER, one, size(keys, at)) for one, at in extents
    )
    grown: tuple[un.Line, ...] = (
        *(un.Assign(one, ex.intrinsic("max", one, size(keys, at))) for one, at in extents),
        _if(ex.Binary(Operator.OR, more_columns, more_rows), un.Deallocate(tuple(parts))),
    )
    made: tuple[un.Line, ...] = (
        un.Allocate(tuple(ex.Element(part, (columns, rows)) for part in parts)),
        un.Assign(ex.Section(keys, colons(2)), ex.intrinsic("huge", keys)),
    )
    body: tuple[un.Line, ...] = (
        *(un.Assign(one, size(array, at)) for one, at in extents),
        _if(ex.intrinsic("allocated", keys), *grown),
        _if(ex.Unary(Operator.NOT, ex.intrinsic("allocated", keys)), *made),
    )
    counters = tuple(un.Declare(one.text, INTEGER) for one in (columns, rows))
    return un.GeneratedRoutine(name, tuple(map(work.dummy, dummies)), counters, body, _COMMENT)


def _if(condition: ex.Expr, *body: un.Line) -> un.If:
    return un.If((un.Branch(condition, body),))


# ---------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class PointCache:
    """The cache of one value at a point: the element it depends on, and the cache's elements.

    `computed` are the statements that compute the value.
    """

    element: ex.Expr
    parts: Mapping[CachePart, ex.Expr]
    computed: tuple[un.Line, ...]

    def compared(self, stale: ex.Name) -> un.Line:
        """Return the statement that sets bits of `stale` if the value is not that of the element.

        It has no branch, so compilers vectorise loops that contain it.
        """
        bits, unset = ex.intrinsic("transfer", self.element, stale), ex.intrinsic("huge", stale)
        different = ex.intrinsic("ieor", self.parts[CachePart.KEYS], bits)
        is_set = ex.Binary(Operator.NOT_EQUAL, bits, unset)
        return un.Assign(
            stale, ex.intrinsic("ior", stale, ex.intrinsic("merge", different, unset, is_set))
        )

    def renewed(self, stale: ex.Name) -> tuple[un.Line, ...]:
        """Return the statements that set the cache at a point; `stale` has the type of bits."""
        bits = ex.intrinsic("transfer", self.element, stale)
        return (*self.computed, un.Assign(self.parts[CachePart.KEYS], bits))
