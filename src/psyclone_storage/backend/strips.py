"""Loops along rows whose branches are asked for a strip of points before (`transform.unswitch`).

    do i_strip = start, stop, 32
      last = min(i_strip + 31, stop)
      do i = i_strip, last; if (.not. condition) exit; end do
      if (i > last) then
        do i = i_strip, last; lifted(i - i_strip + 1) = sin(...); end do
        do i = i_strip, last; what is done where the condition holds; end do
      else
        do i = i_strip, last; where it holds the same, else all statements; end do
      end if
    end do

What is done where conditions hold is the same text in both, so that a compiler rounds in the same
way, multiplying and adding in one step in the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from psyclone_storage.backend.arguments import actual_arguments
from psyclone_storage.backend.in_place import imported_kind, in_place_lines, kinds_in_place
from psyclone_storage.backend.infrastructure import LoweringContext
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    Element,
    Expr,
    Name,
    Parenthesised,
    Unary,
    intrinsic,
    logical,
    whole,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    everywhere,
    expressions_of,
    names_in,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.schedule import KernelCall, Loop, Over
from psyclone_storage.ir.scopes import names_in_declaration, used_names
from psyclone_storage.ir.strips import changed_in_strips, hot_path
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Branch,
    Comment,
    Declare,
    Do,
    Exit,
    If,
    Line,
    ScopedBlock,
)

_ALONG_ROWS = (Over.COLUMNS, Over.COLUMNS_OF_TILE)
_LOGICAL = ScalarType(Intrinsic.LOGICAL)
_COMMENT = Comment("Points that all take the way with most work are computed without branches")
_NO_VECTORS = Comment("GCC$ novector", as_written=True)
"""For gfortran, whose vectors of `sin` round in another way than those of single points."""

Lower = Callable[[KernelCall, Expr], tuple[Line, ...]]
Lines = tuple[Line, ...]


def takes_strips(context: LoweringContext, loop: Loop) -> bool:
    """Return whether a loop is to look at strips of points, and may."""
    calls = _calls(loop)
    if loop.over not in _ALONG_ROWS or len(calls) < len(loop.body) or context.on_device:
        return False
    return any(map(hot_path, calls)) and not changed_in_strips(context.schedule, loop)


def strips(context: LoweringContext, loop: Loop, ends: tuple[Expr, Expr], lower: Lower) -> Do:
    """Return the loop over strips of the points of `loop`.

    `ends` are the first and the last column. `lower` gives the statements of a call with all its
    branches.
    """
    names = context.work.kept("names in strips", lambda: _StripNames.of(context))
    parts = tuple(_PointCall(context, call, names, lower) for call in _calls(loop))
    size = max(part.path.strip for part in parts if part.path)
    stop = intrinsic("min", Binary(Operator.PLUS, names.first, whole(size - 1)), ends[1])

    def over(lines: Iterable[Line]) -> Do:
        return Do(names.point, names.first, names.last, tuple(lines))

    ahead = tuple(line for part in parts for line in part.lifted())
    together: Lines = (over(line for part in parts for line in part.without_branches()),)
    if ahead:
        together = (_NO_VECTORS, over(ahead), *together)
    apart = over(line for part in parts for line in part.with_choice())
    own = (
        Declare(names.last.text, context.ops.integer),
        Declare(names.alike.text, _LOGICAL),
        *(one for part in parts for one in part.arrays(size)),
    )
    body = (
        Assign(names.last, stop),
        over(line for part in parts for line in part.leaves()),
        _COMMENT,
        If((Branch(Binary(Operator.GREATER, names.point, names.last), together),), (apart,)),
    )
    return Do(names.first, ends[0], ends[1], (ScopedBlock((), own, body),), whole(size))


def _calls(loop: Loop) -> tuple[KernelCall, ...]:
    return tuple(item for item in loop.body if isinstance(item, KernelCall))


@dataclass(frozen=True, slots=True)
class _StripNames:
    """What loops over strips count, and what each has for itself: where it ends, and a choice."""

    first: Name
    last: Name
    point: Name
    alike: Name

    @staticmethod
    def of(context: LoweringContext) -> _StripNames:
        """Return names that nothing else in a routine has."""
        first, point = context.counter("i_strip"), context.counter("i")
        return _StripNames(first, context.work.fresh("last"), point, context.work.fresh("alike"))


class _PointCall:
    """The statements of one call for a point: all of them, and those on its hot path, if any."""

    def __init__(
        self, context: LoweringContext, call: KernelCall, names: _StripNames, lower: Lower
    ) -> None:
        self.path = hot_path(call)
        self._context = context
        self._call = call
        self._names = names
        self._lower = lower
        offset = Binary(Operator.MINUS, names.point, names.first)
        index = Binary(Operator.PLUS, offset, whole(1))
        lifted = self.path.lifted if self.path else ()
        self._arrays = [context.work.fresh(one.name) for one in lifted]
        self._known = {
            one.name: Element(array, (index,))
            for one, array in zip(lifted, self._arrays, strict=True)
        }

    def arrays(self, size: int) -> Iterator[Declare]:
        """Yield the arrays of what is lifted, with an element for each point of a strip."""
        for one, array in zip(self.path.lifted if self.path else (), self._arrays, strict=True):
            kind = one.type.kind
            if kind is not None:
                kind = imported_kind(self._code, kind, self._context.work)
            type_ = ScalarType(one.type.intrinsic, kind)
            yield Declare(array.text, type_, (), (whole(size),))

    def leaves(self) -> Lines:
        """Return what leaves a loop at the first point that takes another way."""
        conditions = self.path.conditions if self.path else ()
        return self._placed(tuple(If((Branch(_negated(one), (Exit(),)),)) for one in conditions))

    def lifted(self) -> Lines:
        """Return what computes the values that are lifted, for one point."""
        lifted = self.path.lifted if self.path else ()
        return self._placed(tuple(Assign(Name(one.name), one.value) for one in lifted))

    def without_branches(self) -> Lines:
        """Return what is done on the hot path, where lifted values are known."""
        return self._placed(self.path.body) if self.path else self._all()

    def with_choice(self) -> Lines:
        """Return all that is done for a point: the same on the hot path, where it takes that."""
        if (path := self.path) is None:
            return self._all()
        alike, values = self._names.alike, {one.name: one.value for one in path.lifted}
        asked = NameTable(used_names(self._code)).fresh(alike.text)
        line: Line = Assign(Name(asked), logical(True))
        for condition in reversed(path.conditions):
            line = If((Branch(condition, (line,)),))
        whole_body = everywhere(path.body, lambda expr: substituted(expr, values))
        chosen = If((Branch(alike, self._placed(whole_body)),), self._all())
        return (Assign(alike, logical(False)), *self._placed((line,), {asked: alike}), chosen)

    @property
    def _code(self) -> KernelCode:
        return self._call.codes[0]

    def _all(self) -> Lines:
        return self._lower(self._call, self._names.point)

    def _placed(self, body: Lines, more: Mapping[str, Expr] | None = None) -> Lines:
        """Return `body`, in the kernel's names, where the call is; `more` are names of values."""
        if not body:
            return ()
        passed = {**self._known, **(more or {})}
        args = actual_arguments(self._context, self._call, self._names.point)
        code = _with_body(self._code, body)
        code = replace(code, dummies=(*code.dummies, *passed))
        return in_place_lines(code, (*args, *passed.values()), self._context.work)


def _negated(condition: Expr) -> Expr:
    match condition:
        case Unary(Operator.NOT, Parenthesised(operand)) | Unary(Operator.NOT, operand):
            return operand
    return Unary(Operator.NOT, Parenthesised(condition))


def _with_body(code: KernelCode, body: Lines) -> KernelCode:
    """Return `code` with other statements, and what these need of its declarations and imports."""
    exprs = [expr for line in walk_lines(body) for expr in expressions_of(line)]
    names = frozenset[str]().union(*map(names_in, exprs))
    declared = [item for item in code.declarations if isinstance(item, Declare)]
    own = [item for item in declared if item.key not in code.dummy_keys]
    needed = names
    while (more := needed.union(*_of_declarations(own, needed))) != needed:
        needed = more
    kept = tuple(item for item in declared if item.key in needed or item not in own)
    cut = replace(code, body=body, declarations=kept, hot_path=None)
    needed |= kinds_in_place(cut)
    uses = (
        replace(use, names=tuple(name for name in use.names if name.key in needed))
        for use in code.uses
    )
    return replace(cut, uses=tuple(uses))


def _of_declarations(declared: list[Declare], needed: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the names in the declarations of what is needed."""
    for item in declared:
        if item.key in needed:
            yield names_in_declaration(item)
