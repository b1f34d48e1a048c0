"""Loops along rows that process runs of points with the same branch (`transform.unswitch`).

    do i_strip = start, stop, 32
      last = min(i_strip + 31, stop)
      first = i_strip
      do while (first <= last)
        do i = first, last; if (.not. condition) exit; end do
        if (i > first) then
          next = i
          do i = first, next - 1; lifted(i - i_strip + 1) = sin(...); end do
          do i = first, next - 1; statements of the branch; end do
          first = next
        else
          all statements, for the one point i
          first = first + 1
        end if
      end do
    end do

All points that take the branch use the code of the same loop, so that results are rounded
identically in every strip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.branch_strips import ALONG_ROWS, changed_in_strips, hot_path
from psyclone_storage.ir.cached_values import CachedArray, CachePart
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    expressions_of,
    names_in,
    negated,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.routine import LiftedValue, Routine
from psyclone_storage.ir.schedule import KernelCall, Loop
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.used import names_in_declaration
from psyclone_storage.lowering.arguments import actual_arguments
from psyclone_storage.lowering.cached_values import PointCache, caches_values, type_of_bits
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.passes.inline.block import inlined_block, kinds_in_block

_ONE = ex.whole(1)
_COMMENT = un.Comment("Points that take the way with most work are computed without branches")
_NO_VECTORS = un.Comment("GCC$ novector", as_written=True)
"""For gfortran, whose vectors of `sin` round in another way than those of single points."""

Lower = Callable[[KernelCall, ex.Expr], tuple[un.Line, ...]]
Lines = tuple[un.Line, ...]


def takes_strips(context: LoweringContext, loop: Loop) -> bool:
    """Return whether a loop should and can be processed in strips."""
    calls = _calls(loop)
    if loop.over not in ALONG_ROWS or len(calls) < len(loop.body) or context.on_device:
        return False
    return any(map(hot_path, calls)) and not changed_in_strips(context.schedule, loop)


def strips(
    context: LoweringContext, loop: Loop, ends: tuple[ex.Expr, ex.Expr], lower: Lower
) -> un.Do:
    """Return the loop over strips of the points of `loop`.

    `ends` are the first and last column. `lower` returns all statements of a call, with branches.
    """
    names = context.work.kept("names in strips", lambda: _StripNames.of(context))
    parts = tuple(_PointCall(context, call, names, lower) for call in _calls(loop))
    size = max(part.path.strip for part in parts if part.path)
    stop = ex.intrinsic("min", ex.Binary(Operator.PLUS, names.strip, ex.whole(size - 1)), ends[1])
    ahead = tuple(line for part in parts for line in part.lifted())
    caches = tuple(cache for part in parts for cache in part.caches())
    together: Lines = (
        un.Assign(names.next, names.point),
        *((_NO_VECTORS, names.run(names.run_end, ahead)) if ahead else ()),
        *(line for cache in caches for line in _refreshed(cache, names)),
        names.run(names.run_end, (line for part in parts for line in part.without_branches())),
        un.Assign(names.first, names.next),
    )
    alone: Lines = (
        *(line for part in parts for line in part.all()),
        un.Assign(names.first, ex.Binary(Operator.PLUS, names.first, _ONE)),
    )
    runs: Lines = (
        names.run(names.last, (line for part in parts for line in part.leaves())),
        _COMMENT,
        un.If((un.Branch(ex.Binary(Operator.GREATER, names.point, names.first), together),), alone),
    )
    own = (
        *(
            un.Declare(one.text, context.ops.integer)
            for one in (names.first, names.next, names.last)
        ),
        *((un.Declare(names.stale.text, type_of_bits(context.work)),) if caches else ()),
        *(one for part in parts for one in part.arrays(size)),
    )
    body = (
        un.Assign(names.last, stop),
        un.Assign(names.first, names.strip),
        un.While(ex.Binary(Operator.LESS_EQUAL, names.first, names.last), runs),
    )
    return un.Do(names.strip, ends[0], ends[1], (un.ScopedBlock((), own, body),), ex.whole(size))


def _refreshed(cache: PointCache, names: _StripNames) -> Lines:
    """Return the statements that compute the cached values of a run if one is outdated."""
    run_end, stale = names.run_end, names.stale
    renewed = (_NO_VECTORS, names.run(run_end, cache.renewed(stale)))
    return (
        un.Assign(stale, ex.whole(0)),
        names.run(run_end, (cache.compared(stale),)),
        un.If((un.Branch(ex.Binary(Operator.NOT_EQUAL, stale, ex.whole(0)), renewed),)),
    )


def _calls(loop: Loop) -> tuple[KernelCall, ...]:
    return tuple(item for item in loop.body if isinstance(item, KernelCall))


@dataclass(frozen=True, slots=True)
class _StripNames:
    """Variables of strip loops: strip, point, the limits of runs, and the stale cached values."""

    strip: ex.Name
    point: ex.Name
    first: ex.Name
    next: ex.Name
    last: ex.Name
    stale: ex.Name

    @property
    def run_end(self) -> ex.Expr:
        """Return the last point of a run."""
        return ex.Binary(Operator.MINUS, self.next, _ONE)

    def run(self, end: ex.Expr, lines: Iterable[un.Line]) -> un.Do:
        """Return a loop over the points from the first of a run to `end`."""
        return un.Do(self.point, self.first, end, tuple(lines))

    @staticmethod
    def of(context: LoweringContext) -> _StripNames:
        """Return variables with unused names."""
        counted = context.counter("i_strip"), context.counter("i")
        return _StripNames(*counted, *map(context.work.fresh, ("first", "next", "last", "stale")))


class _PointCall:
    """The statements of one call for a point: all of them, and those on the hot path, if any."""

    def __init__(
        self, context: LoweringContext, call: KernelCall, names: _StripNames, lower: Lower
    ) -> None:
        self.path = hot_path(call)
        self._context = context
        self._call = call
        self._names = names
        self._lower = lower
        offset = ex.Binary(Operator.MINUS, names.point, names.strip)
        index = ex.Binary(Operator.PLUS, offset, _ONE)
        lifted = self.path.lifted if self.path else ()
        cached = [one for one in lifted if one.cached_by and caches_values(context)]
        self._caches = {one.name: self._cache_of(one) for one in cached}
        self._lifted = [one for one in lifted if one.name not in self._caches]
        self._arrays = [context.work.fresh(one.name) for one in self._lifted]
        self._known: dict[str, ex.Expr] = {
            **{name: parts[CachePart.VALUES] for name, (_, parts) in self._caches.items()},
            **{
                one.name: ex.Element(array, (index,))
                for one, array in zip(self._lifted, self._arrays, strict=True)
            },
        }

    def arrays(self, size: int) -> Iterator[un.Declare]:
        """Yield the arrays for precomputed values, with one element for each point of a strip."""
        for one, array in zip(self._lifted, self._arrays, strict=True):
            kind = one.type.kind
            if kind is not None:
                kind = self._context.work.imported_kind(kind, self._code.uses)
            type_ = ScalarType(one.type.intrinsic, kind)
            yield un.Declare(array.text, type_, (), (ex.whole(size),))

    def leaves(self) -> Lines:
        """Return statements that exit a loop at the first point that leaves the hot path."""
        conditions = self.path.conditions if self.path else ()
        return self._placed(
            tuple(un.If((un.Branch(negated(one), (un.Exit(),)),)) for one in conditions)
        )

    def lifted(self) -> Lines:
        """Return the statements that precompute values for one point."""
        return self._placed(tuple(un.Assign(ex.Name(one.name), one.value) for one in self._lifted))

    def caches(self) -> Iterator[PointCache]:
        """Yield the caches of values of this call."""
        for one in self.path.lifted if self.path else ():
            if one.name in self._caches:
                element, parts = self._caches[one.name]
                computed = self._placed((un.Assign(ex.Name(one.name), one.value),))
                yield PointCache(element, parts, computed)

    def without_branches(self) -> Lines:
        """Return the statements of the hot path, which use precomputed values."""
        return self._placed(self.path.body) if self.path else self.all()

    def all(self) -> Lines:
        """Return all statements of the kernel, with branches."""
        return self._lower(self._call, self._names.point)

    def _cache_of(self, lifted: LiftedValue) -> tuple[ex.Expr, Mapping[CachePart, ex.Expr]]:
        """Return the element on which a cached value depends, and those of its cache."""
        element, call = lifted.cached_by, self._call
        assert element is not None
        args = actual_arguments(self._context, call, self._names.point)
        placed = substituted(element, dict(zip(self._code.dummy_keys, args, strict=True)))
        assert isinstance(placed, ex.Element)
        at = self._code.dummy_keys.index(key_of(ex.canonical(element.base)))
        dummy = call.dummies[at]
        assert dummy.arg is not None
        field = call.args[dummy.arg].value
        name = f"{lifted.name.removesuffix('_of_strip')}_{self._code.dummies[at]}"
        arrays = (
            CachedArray(call.uid, name, part, dummy.property_name, field) for part in CachePart
        )
        parts = {one.part: ex.Element(self._context.value(one), placed.items) for one in arrays}
        return placed, parts

    @property
    def _code(self) -> Routine:
        return self._call.codes[0]

    def _placed(self, body: Lines) -> Lines:
        """Return statements of the kernel with its dummies replaced by the actual arguments."""
        if not body:
            return ()
        args = actual_arguments(self._context, self._call, self._names.point)
        code = _with_body(self._code, body)
        code = replace(code, dummies=(*code.dummies, *self._known))
        return inlined_block(code, (*args, *self._known.values()), self._context.work.imported_kind)


def _with_body(code: Routine, body: Lines) -> Routine:
    """Return `code` with the statements `body` and only the declarations and imports they need."""
    exprs = [expr for line in walk_lines(body) for expr in expressions_of(line)]
    names = frozenset[str]().union(*map(names_in, exprs))
    declared = [item for item in code.declarations if isinstance(item, un.Declare)]
    own = [item for item in declared if item.key not in code.dummy_keys]
    needed = names
    while (more := needed.union(*_of_declarations(own, needed))) != needed:
        needed = more
    kept = tuple(item for item in declared if item.key in needed or item not in own)
    cut = replace(
        code.with_specification(declarations=kept),
        body=body,
        kernel_use=replace(code.kernel_use, hot_path=None),
    )
    needed |= kinds_in_block(cut)
    uses = (
        replace(use, names=tuple(name for name in use.names if name.key in needed))
        for use in code.uses
    )
    return cut.with_specification(uses=uses)


def _of_declarations(
    declared: list[un.Declare], needed: frozenset[str]
) -> Iterator[frozenset[str]]:
    """Yield the names in the declarations of needed variables."""
    for item in declared:
        if item.key in needed:
            yield names_in_declaration(item)
