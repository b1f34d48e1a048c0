"""Caches for values that depend only on a grid property (`transform.kernel.cache_invariants`).

A cache consists of three saved arrays of the shape of the property: the values, the elements from
which they were computed, and flags for the elements that are set. A value is used only if its
element still has the same bits, so the cache needs no knowledge about who changes the property, and
serves any number of grids. `threadprivate` gives each thread that calls the routine its own cache;
the threads of the routine's parallel regions share it through pointers.
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

_FLAG = ScalarType(Intrinsic.INTEGER, "selected_int_kind(2)")
_TYPES = {CachePart.VALUES: REAL, CachePart.KEYS: REAL, CachePart.KNOWN: _FLAG}
_MORE_DIGITS = 3
"""The decimal digits that an integer has more than a real number of the same size."""
_SAVED = ("allocatable", "save", "target")
_COMMENT = """Make the arrays of a cache at least as large as a grid property.
Larger arrays contain no values."""


def type_of_part(part: CachePart) -> ScalarType:
    """Return the type of an array of a cache."""
    return _TYPES[part]


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
    wished = un.Declare(f"{prefix}{cache.name}_{part.value}", _TYPES[part], attributes, colons(2))
    key = ("cache", cache.call, cache.name, part, prefix)
    return work.variable(SetupSection.CACHES, key, wished)


def _reserving(work: Workspace, name: str) -> un.GeneratedRoutine:
    """Return the procedure that makes the arrays of a cache large enough."""
    array, columns, rows = map(ex.Name, ("property", "columns", "rows"))
    parts = [ex.Name(part.value) for part in CachePart]
    dummies = (
        un.Declare(array.text, REAL, ("intent(in)",), colons(2)),
        *(
            un.Declare(part.value, _TYPES[part], ("allocatable", "intent(inout)"), colons(2))
            for part in CachePart
        ),
    )
    known = ex.Name(CachePart.KNOWN.value)
    extents = tuple(zip((columns, rows), (1, 2), strict=True))

    def size(of: ex.Expr, dimension: int) -> ex.Expr:
        return ex.intrinsic("size", of, ex.whole(dimension))

    more_columns, more_rows = (
        ex.Binary(Operator.GREATER, one, size(known, at)) for one, at in extents
    )
    grown: tuple[un.Line, ...] = (
        *(un.Assign(one, ex.intrinsic("max", one, size(known, at))) for one, at in extents),
        _if(ex.Binary(Operator.OR, more_columns, more_rows), un.Deallocate(tuple(parts))),
    )
    made: tuple[un.Line, ...] = (
        un.Allocate(tuple(ex.Element(part, (columns, rows)) for part in parts)),
        un.Assign(ex.Section(known, colons(2)), ex.whole(0)),
    )
    body: tuple[un.Line, ...] = (
        *(un.Assign(one, size(array, at)) for one, at in extents),
        _if(ex.intrinsic("allocated", known), *grown),
        _if(ex.Unary(Operator.NOT, ex.intrinsic("allocated", known)), *made),
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

    def outdated(self, work: Workspace) -> ex.Expr:
        """Return the condition that the cached value is not that of the element.

        Bits are compared as integers of the same size: under options such as `-ffast-math`, a
        compiler assumes that no real number is NaN and ignores the signs of zeros.
        """
        one = ex.Literal("1.0", Intrinsic.REAL).with_kind(work.kind(REAL.kind or ""))
        digits = ex.Binary(Operator.PLUS, ex.intrinsic("precision", one), ex.whole(_MORE_DIGITS))
        mold = ex.intrinsic("int", ex.whole(0), ex.intrinsic("selected_int_kind", digits))
        key, known = self.parts[CachePart.KEYS], self.parts[CachePart.KNOWN]
        first, second = (ex.intrinsic("transfer", item, mold) for item in (key, self.element))
        unset = ex.Binary(Operator.EQUAL, known, ex.whole(0))
        return ex.Binary(Operator.OR, unset, ex.Binary(Operator.NOT_EQUAL, first, second))

    def renewed(self) -> tuple[un.Line, ...]:
        """Return the statements that set the cache at a point."""
        return (
            *self.computed,
            un.Assign(self.parts[CachePart.KEYS], self.element),
            un.Assign(self.parts[CachePart.KNOWN], ex.whole(1)),
        )
