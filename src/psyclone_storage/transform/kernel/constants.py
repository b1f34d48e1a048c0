"""Kernel arguments that become compile-time constants.

The numbers of dofs come from the table of function spaces on quadrilateral cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.lfric import SPACES
from psyclone_storage.ir.expr import whole
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import find, place_near
from psyclone_storage.transform.kernel.code import OnCall, check_called, check_each, with_each

_UNSET = -1


@dataclass(frozen=True, slots=True)
class SetKernelConstants(OnCall):
    """Replace numbers of layers, dofs and quadrature points in a kernel by constants.

    `number_of_layers` is that of the mesh. `element_order_h` and `element_order_v`, or
    `element_order` for both, are the orders of the function spaces. With `quadrature`, the number
    of quadrature points is the order plus three in each direction. Other numbers remain arguments,
    such as the dofs of `any_space_1`, which only the algorithm knows. Replaced arguments are still
    passed, but not used: the user is responsible for correct values.

    before: ndf_w0 is an argument
    after:  ndf_w0_dummy is, and `integer, parameter :: ndf_w0 = 8`
    """

    name: ClassVar[str] = "kernel-constants"

    number_of_layers: int = _UNSET
    element_order: int = _UNSET
    element_order_h: int = _UNSET
    element_order_v: int = _UNSET
    quadrature: bool = False

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the constants cannot be set."""
        if problems := self._check_options(place_near(schedule, self.call)) or check_called(
            schedule, self.call
        ):
            return problems
        dummies = _dummies(schedule, self.call)
        return check_each(schedule, self.call, lambda code: self._reasons(code, dummies))

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return `schedule` with constants in the kernel."""
        dummies = _dummies(schedule, self.call)
        return with_each(
            schedule, self.call, lambda code: _with_constants(code, self._values(code, dummies))
        )

    def _orders(self) -> tuple[int, int]:
        """Return the horizontal and vertical element order."""
        if self.element_order != _UNSET:
            return self.element_order, self.element_order
        return self.element_order_h, self.element_order_v

    def _check_options(self, place: Span | None) -> Reasons:
        """Return diagnostics for invalid options (T057)."""
        horizontal, vertical = self._orders()
        given = (self.element_order_h, self.element_order_v) != (_UNSET, _UNSET)
        problems = []
        if self.element_order != _UNSET and given:
            problems.append("'element_order' stands for both orders: give it or them.")
        if (horizontal < 0) != (vertical < 0) or min(horizontal, vertical) < _UNSET:
            problems.append("The orders of the elements are both given, and are 0 or more.")
        if self.number_of_layers != _UNSET and self.number_of_layers < 1:
            problems.append("The number of layers is 1 or more.")
        if self.quadrature and horizontal == _UNSET:
            problems.append("The number of quadrature points follows from the orders: give them.")
        if self.number_of_layers == _UNSET and horizontal == _UNSET:
            problems.append("Neither the number of layers nor the order of the elements is given.")
        return tuple(Diagnostic("T057", problem, place) for problem in problems)

    def _reasons(self, code: Routine, dummies: tuple[Dummy, ...]) -> Iterator[Diagnostic]:
        values = self._values(code, dummies)
        if not values:
            message = f"'{code.name}' has no argument that would be constant."
            yield Diagnostic("T058", message, code.module.routine)
        for name in values:
            if code.declared(name) is None:
                message = f"The declaration of '{name}' in '{code.name}' is not understood."
                yield Diagnostic("T058", message, code.module.routine)

    def _values(self, code: Routine, dummies: tuple[Dummy, ...]) -> Mapping[str, int]:
        """Return the values of the arguments that become constants, by name."""
        pairs = zip(code.dummies, dummies, strict=False)
        values = {name: self._value(dummy) for name, dummy in pairs}
        return {name: value for name, value in values.items() if value is not None}

    def _value(self, dummy: Dummy) -> int | None:
        horizontal, vertical = self._orders()
        if dummy.role is Role.NLAYERS:
            return None if self.number_of_layers == _UNSET else self.number_of_layers
        if horizontal == _UNSET:
            return None
        match dummy.role:
            case Role.NDF if dummy.space in SPACES and (count := SPACES[dummy.space].dofs):
                return count(horizontal, vertical)
            case Role.NPOINTS_XY if self.quadrature:
                return (horizontal + 3) ** 2
            case Role.NPOINTS_Z if self.quadrature:
                return vertical + 3
        return None


def _dummies(schedule: Schedule, uid: str) -> tuple[Dummy, ...]:
    call = find(schedule, uid)
    assert isinstance(call, KernelCall)
    return call.dummies


def _with_constants(code: Routine, values: Mapping[str, int]) -> Routine:
    names = NameTable(code.used_names | {*code.dummy_keys})
    renamed = {key_of(name): names.fresh(f"{name}_dummy") for name in values}
    sizes = {key_of(name): value for name, value in values.items()}

    def declared(item: Specified) -> tuple[Specified, ...]:
        if not isinstance(item, Declare) or item.key not in renamed:
            return (item,)
        value = whole(sizes[item.key])
        constant = replace(item, attributes=("parameter",), value=value)
        return (constant, replace(item, name=renamed[item.key]))

    declarations = (new for item in code.declarations for new in declared(item))
    pairs = tuple((key, key_of(name)) for key, name in renamed.items())
    use = replace(code.kernel_use, constants=code.kernel_use.constants + pairs)
    return replace(
        code.with_specification(declarations=declarations),
        dummies=tuple(renamed.get(key_of(name), name) for name in code.dummies),
        kernel_use=use,
    )
