"""Caching of values that do not change between invokes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.branch_strips import hot_path
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.routine import LiftedValue, Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.walk import find, place_of, replaced
from psyclone_storage.transform.kernel.code import OnCall, calls_for, check_call, codes_of
from psyclone_storage.transform.kernel.unswitch import with_path
from psyclone_storage.transform.step import StepPlace

_OF_GRIDS = (Iteration.GRID_POINT,)
_SHIFTS = (Operator.PLUS, Operator.MINUS)


@dataclass(frozen=True, slots=True)
class CacheInvariants(OnCall):
    """Cache function values that depend only on a grid property and constants between invokes.

    A function such as `sin` that `unswitch` evaluates before the loop without branches often has an
    argument that never changes. The layer then saves its values, with the elements of the grid
    property from which they were computed. Later invokes compare these elements with the property,
    and compute only the values whose element has other bits. Results are therefore bit-identical
    without any assumption about the program: it may change the property, replace the grid, or use
    several grids. A cache needs 16 bytes for each grid point.

    Apply it after `unswitch` and before `outline`. Infrastructures with storages, and layers in
    Python or C, compute the values as before.

    Rejected if no function value on the hot path depends on exactly one element of one real grid
    property, with the subscripts of the point or constant offsets to them, and otherwise on
    literals and named constants.

    before: do i = first, next - 1; sin_of_strip(...) = sin(gphiu(i, j) * d2r); end do
    after:  if (any element differs) then; do ...; values(i, j) = sin(gphiu(i, j) * d2r); ...
    """

    name: ClassVar[str] = "cache-invariants"

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield every kernel call for a grid point."""
        return calls_for(schedule, _OF_GRIDS)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the call computes no value that can be cached."""
        if problems := check_call(schedule, self.call):
            return problems
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        code, place = codes_of(schedule, self.call)[0], place_of(call)
        if (path := hot_path(call)) is None:
            message = f"'{code.name}' has no hot path whose function values could be cached."
            return (Diagnostic("T067", message, place, hint="Apply 'unswitch' first."),)
        if any(one.cached_by for one in path.lifted):
            message = f"The values of '{self.call}' are cached already."
            return (Diagnostic("T082", message, place),)
        if any(map(_Invariants(call, code).element_of, path.lifted)):
            return ()
        message = f"No function value of '{code.name}' depends on one grid property alone."
        return (Diagnostic("T067", message, place),)

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with cached values."""
        call = find(schedule, self.call)
        assert isinstance(call, KernelCall)
        path = hot_path(call)
        assert path is not None
        invariants = _Invariants(call, call.codes[0])
        lifted = (replace(one, cached_by=invariants.element_of(one)) for one in path.lifted)
        return replaced(schedule, call.uid, with_path(call, replace(path, lifted=tuple(lifted))))


class _Invariants:
    """The values of a kernel call that depend on one element of a grid property."""

    def __init__(self, call: KernelCall, code: Routine) -> None:
        self._code = code
        dummies = dict(zip(code.dummy_keys, call.dummies, strict=True))
        self._point = [
            next((key for key, dummy in dummies.items() if dummy.role is role), "")
            for role in (Role.GRID_INDEX_I, Role.GRID_INDEX_J)
        ]
        self._properties = {
            key
            for key, dummy in dummies.items()
            if dummy.role is Role.GRID_PROPERTY and dummy.arg is not None
        }

    def element_of(self, lifted: LiftedValue) -> ex.Element | None:
        """Return the only element on which a value depends, or None if it cannot be cached."""
        found: dict[str, ex.Element] = {}
        if not self._collect(lifted.value, found):
            return None
        match tuple(found.values()):
            case (element,) if self._serves(element, lifted):
                return element
        return None

    def _collect(self, expr: ex.Expr, elements: dict[str, ex.Element]) -> bool:
        """Collect the elements of properties in `expr`; return whether the rest is constant."""
        match expr:
            case ex.Element(ex.Name(key=key)) if key in self._properties:
                elements[ex.canonical(expr)] = expr
                return True
            case ex.Literal():
                return True
            case ex.Name():
                symbol = expr.symbol or self._code.symbol(expr.key)
                return symbol.sort is ex.Sort.CONSTANT
            case ex.CallFunction(_, items) if ex.intrinsic_called(expr) is not None:
                return all(self._collect(item, elements) for item in items)
            case ex.Binary(_, left, right):
                return self._collect(left, elements) and self._collect(right, elements)
            case ex.Unary(_, operand) | ex.Parenthesised(operand):
                return self._collect(operand, elements)
        return False

    def _serves(self, element: ex.Element, lifted: LiftedValue) -> bool:
        """Return whether `element` has the type of the value, and belongs to one point."""
        declared = self._code.declared(key_of(ex.canonical(element.base)))
        if declared is None or declared.type != lifted.type:
            return False
        if any(one != ex.Range() for one in declared.shape) or len(element.items) != 2:
            return False
        return all(
            key and _is_shifted(item, key)
            for key, item in zip(self._point, element.items, strict=True)
        )


def _is_shifted(expr: ex.Expr, key: str) -> bool:
    """Return whether `expr` is the variable `key`, possibly plus or minus an integer literal."""
    match expr:
        case ex.Name():
            return expr.key == key
        case ex.Binary(op, ex.Name() as base, shift) if op in _SHIFTS:
            return base.key == key and ex.integer_value(shift) is not None
    return False
