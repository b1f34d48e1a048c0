"""Fields and grids of GOcean on a device.

Fields and grids are objects that contain arrays: an object is entered before its components. A
field records whether its values are on a device (`data_on_device`). This flag guards all transfers
and remains correct if a routine is called with other fields. Grids have no such flag; entering
present data is cheap.

The infrastructure does not implement transfers, but must make them when a program accesses a field
that is on a device. Fields therefore receive the transfer procedures, which are in the generated
module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.infrastructures.gocean import (
    INTEGER,
    REAL,
    WORKING_PRECISION,
    RequiredProperty,
)
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.devices import entered_data
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.expr import Section as ArraySection
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.runtime_ops import CopyTo, EnterDevice
from psyclone_storage.ir.schedule import KernelCall, Program, Schedule
from psyclone_storage.ir.transfer import EnterData, Side, Update
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.walk import statements
from psyclone_storage.lowering.device_enter import enter_object
from psyclone_storage.lowering.device_regions import enter_lines
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import (
    ModuleImports,
    SetupSection,
)
from psyclone_storage.targets.dl_esm_inf import abi
from psyclone_storage.targets.dl_esm_inf.paths import Paths

_PART = ("startx", "starty", "nx", "ny")
_TRUE = ex.logical(True)
_FALSE = ex.logical(False)


def enter_fields(paths: Paths, context: LoweringContext, enter: EnterDevice) -> tuple[un.Line, ...]:
    """Return the statements that enter the fields and grids of the routine's device regions."""
    fields = [_field_entered(paths, context, name, enter.queue) for name in enter.data]
    others = [
        item
        for item in field_and_grid_items(paths, context, enter.calls, enter.lines)
        if _root(item.what) not in enter.data or any(map(_is_grid, ex.walk(item.what)))
    ]
    return (
        un.Comment("Give the device what it does not have"),
        *fields,
        *enter_lines(others, enter.queue),
    )


def _field_entered(paths: Paths, context: LoweringContext, name: str, queue: int) -> un.If:
    flag, data = _flag(name), paths.reach(RequiredProperty.DATA, ex.Name(name))
    entered = enter_object(context, name, abi.FIELD, "enter_field", queue)
    handed = (
        un.PointerAssign(ex.Member(ex.Name(name), member), ex.Name(procedure))
        for procedure, member in abi.MEMBER_OF.items()
    )
    body: tuple[un.Line, ...] = (
        entered,
        un.EnterDataLine((data,), queue),
        un.Assign(flag, _TRUE),
        *handed,
    )
    return un.If((un.Branch(ex.Unary(Operator.NOT, flag), body),))


def transfer_procedures(
    program: Program, imports: ModuleImports
) -> tuple[un.GeneratedRoutine, ...]:
    """Return the transfer procedures for fields, if data are entered on a device."""
    bodies = (statements(invoke.schedule) for invoke in program.invokes)
    if not any(isinstance(item, EnterData) for body in bodies for item in body):
        return ()
    kind = imports.local(abi.GOceanModule.KINDS, WORKING_PRECISION)
    address = DerivedType(imports.local(abi.GOceanModule.C_BINDING, "c_ptr"))
    return (
        _mover(abi.READ_FROM_DEVICE, Side.HOST, kind, address),
        _mover(abi.WRITE_TO_DEVICE, Side.DEVICE, kind, address),
    )


def _mover(name: str, side: Side, kind: str, address: DerivedType) -> un.GeneratedRoutine:
    """Return the procedure that copies a part of an array to `side`."""
    array = "to" if side is Side.HOST else "from"
    other = un.Declare("from" if side is Side.HOST else "to", address, ("intent(in)",))
    intent = "intent(inout)" if side is Side.HOST else "intent(in)"
    real, two = ScalarType(Intrinsic.REAL, kind), (ex.Range(), ex.Range())
    values = un.Declare(array, real, ("target", intent), two)
    bounds = [un.Declare(word, INTEGER, ("intent(in)",)) for word in _PART]
    blocking = un.Declare("blocking", ScalarType(Intrinsic.LOGICAL), ("intent(in)",))
    part = un.Declare(_PACKED, real, ("allocatable",), two)
    there = (un.Declare(_THERE, real, ("pointer",), two),) if side is Side.DEVICE else ()
    rows = ArraySection(ex.Name(array), (ex.Range(), _span("starty", "ny")))
    whole_rows = ex.Binary(
        Operator.EQUAL, ex.Name("nx"), ex.intrinsic("size", ex.Name(array), ex.whole(1))
    )
    return un.GeneratedRoutine(
        name,
        (*((other, values) if side is Side.HOST else (values, other)), *bounds, blocking),
        (part, *there, un.Declare("i", INTEGER), un.Declare("j", INTEGER)),
        (
            un.If(
                (un.Branch(whole_rows, (un.UpdateLine(side, (rows,)),)),),
                tuple(_moved_packed(ex.Name(array), side)),
            ),
        ),
        "Move values of a field, as its infrastructure asks for them: "
        f"the {side.value} has them then.",
    )


_PACKED = "part"
_THERE = "there"
"""The values that a device is to change: those of the host are an input of the procedure."""


def _moved_packed(array: ex.Name, side: Side) -> Iterator[un.Line]:
    """Yield the transfer of a part as one packed block; the alternative transfers single rows."""
    part = ex.Name(_PACKED)
    there = ArraySection(array, (_span("startx", "nx"), _span("starty", "ny")))
    to_host = side is Side.HOST
    place = array if to_host else ex.Name(_THERE)
    on_device = ex.Index(place, (_from("startx", ex.Name("i")), _from("starty", ex.Name("j"))))
    packed = ex.Index(part, (ex.Name("i"), ex.Name("j")))
    copy = un.Assign(packed, on_device) if to_host else un.Assign(on_device, packed)
    inner = un.Do(ex.Name("i"), ex.whole(1), ex.Name("nx"), (copy,))
    loops = un.Do(ex.Name("j"), ex.whole(1), ex.Name("ny"), (inner,))
    shared = RegionOptions(collapse=2, independent=True)
    loop = un.DirectiveBlock(Directive.ACC_LOOP, shared, (loops,), private=("j", "i"))
    yield un.Allocate((ex.Index(part, (ex.Name("nx"), ex.Name("ny"))),))
    if not to_host:
        yield un.Assign(part, there)
        yield un.PointerAssign(ex.Name(_THERE), array)
    yield un.EnterDataLine((part,), values=not to_host)
    yield un.DirectiveBlock(Directive.ACC_PARALLEL, RegionOptions(present=True), (loop,))
    if to_host:
        yield un.UpdateLine(Side.HOST, (part,))
    yield un.ExitDataLine((part,))
    if to_host:
        yield un.Assign(there, part)


def _span(start: str, count: str) -> ex.Range:
    return ex.Range(ex.Name(start), _from(start, ex.Name(count)))


def _from(start: str, number: ex.Expr) -> ex.Expr:
    """Return the index `start + number - 1`."""
    return ex.Binary(Operator.MINUS, ex.Binary(Operator.PLUS, ex.Name(start), number), ex.whole(1))


def field_and_grid_items(
    paths: Paths,
    context: LoweringContext,  # noqa: ARG001 - the interface of all infrastructures
    calls: Iterable[KernelCall],
    lines: Iterable[un.Line],
) -> tuple[un.DeviceItem, ...]:
    """Return the device items of the arguments of `calls` and of grids in the bounds of `lines`."""
    found: dict[ex.Expr, un.DeviceItem] = {}
    for item in (*_of_calls(paths, calls), *_of_bounds(lines)):
        known = found.get(item.what, item)
        found[item.what] = item if item.written else known
    return tuple(found.values())


def _of_calls(paths: Paths, calls: Iterable[KernelCall]) -> Iterator[un.DeviceItem]:
    for call in calls:
        for dummy in call.dummies:
            if dummy.arg is None or dummy.role not in (Role.FIELD, Role.GRID_PROPERTY):
                continue
            field = call.args[dummy.arg].value
            yield un.DeviceItem(field)
            if dummy.role is Role.FIELD:
                written = call.kernel.args[dummy.arg].access.writes
                yield un.DeviceItem(paths.reach(RequiredProperty.DATA, field), 1, written)
                continue
            path = paths.reach(dummy.property_name, field)
            yield from _grids(path)
            if dummy.rank:
                yield un.DeviceItem(path, 2)


def _of_bounds(lines: Iterable[un.Line]) -> Iterator[un.DeviceItem]:
    for line in walk_lines(lines):
        if isinstance(line, un.Do):
            for bound in (line.start, line.stop):
                yield from _grids(bound)


def _grids(expr: ex.Expr) -> Iterator[un.DeviceItem]:
    """Yield the fields and grids that `expr` accesses."""
    for part in ex.walk(expr):
        if isinstance(part, ex.Member) and _is_grid(part):
            yield un.DeviceItem(part.base)
            yield un.DeviceItem(part, 1)


def _is_grid(expr: ex.Expr) -> bool:
    return isinstance(expr, ex.Member) and expr.key == abi.GRID


def _root(expr: ex.Expr) -> str:
    """Return the name of the object of which `expr` is a part."""
    while isinstance(expr, ex.Member | ex.Index):
        expr = expr.base
    return expr.text if isinstance(expr, ex.Name) else ""


def copy_field(paths: Paths, context: LoweringContext, copy: CopyTo) -> tuple[un.Line, ...]:
    """Return the copy of a field's values, under a test if the field may not be on the device.

    A procedure copies them to the device as an argument: for an update of a component, libgomp
    would overwrite the address in the device object.
    """
    name = copy.datum.name
    data = paths.reach(RequiredProperty.DATA, ex.Name(name))
    line: un.Line = un.UpdateLine(copy.side, (data,))
    if copy.side is Side.DEVICE:
        line = un.Call(
            ex.Name(context.work.imports.helper(_UPDATE, partial(_update, context))), (data,)
        )
    return (un.If((un.Branch(_flag(name), (line,)),)),) if copy.guarded else (line,)


_UPDATE = "update_device"


def _update(context: LoweringContext, name: str) -> un.GeneratedRoutine:
    """Return the procedure that copies the values of a field to the device."""
    values = un.Declare("values", REAL, ("intent(in)",), (ex.Range(), ex.Range()))
    return un.GeneratedRoutine(
        name,
        (context.work.dummy(values),),
        (),
        (un.UpdateLine(Side.DEVICE, (ex.Name(values.name),)),),
        "Give the device the values of a field that it has.",
    )


def on_host(
    context: LoweringContext, names: Iterable[str], call: un.Line, *, beside_device: bool
) -> tuple[un.Line, ...]:
    """Return a call of a host exchange in a routine that transfers the values itself.

    The device flags are cleared during the call, because the infrastructure would transfer again.
    """
    if not beside_device and not _moves_data(context.schedule):
        return (call,)
    before: list[un.Line] = []
    after: list[un.Line] = []
    for name in dict.fromkeys(names):
        flag = _flag(name)
        there: ex.Expr = _TRUE
        if name not in entered_data(context.schedule):
            wished = un.Declare(f"{name}_on_device", ScalarType(Intrinsic.LOGICAL))
            there = context.work.variable(SetupSection.COUNTERS, (name, abi.ON_DEVICE), wished)
            before.append(un.Assign(there, flag))
        before.append(un.Assign(flag, _FALSE))
        after.append(un.Assign(flag, there))
    # Two names may be one object: what was saved first is put back last.
    return (*before, call, *reversed(after))


@kept_lately
def _moves_data(schedule: Schedule) -> bool:
    return any(isinstance(item, EnterData | Update) for item in statements(schedule))


def _flag(name: str) -> ex.Expr:
    return ex.Member(ex.Name(name), abi.ON_DEVICE)
