"""LFRic fields, maps and tables on a device.

Device regions access only named arrays, so their data are derived from the lowered lines. Fields,
operators and the infrastructure's maps, which never change, stay on the device. Data of one routine
call, such as basis functions, are copied at its start and deleted at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.ir import unit as un
from psyclone_storage.ir.devices import moved_data
from psyclone_storage.ir.expr import Binary, Member, Name, Range, Section, walk, whole
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, expressions_of
from psyclone_storage.ir.runtime_ops import CopyTo, DataOf, EnterDevice
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.transfer import Side
from psyclone_storage.lowering.device_enter import enter_values
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.field_values import proxy
from psyclone_storage.targets.lfric_fortran.type_bound_names import bound


def enter_device(context: LoweringContext, enter: EnterDevice) -> tuple[un.Line, ...]:
    """Return the statements that enter all data of the routine's device regions.

    Data that do not persist are deleted at the end of the routine.
    """
    names = tuple(dict.fromkeys(arrays_in(context, enter.lines)))
    staying = tuple(array for name in names for array in _staying(context, name))
    known = {array.name for array in staying}
    lines: list[un.Line] = [enter_values(context, array, enter.queue) for array in staying]
    if passing := tuple(Name(name) for name in names if name not in known):
        lines.append(un.EnterDataLine(passing, enter.queue))
        context.work.at_end(un.ExitDataLine(passing))
    return tuple(lines)


def region_items(
    context: LoweringContext, calls: Iterable[KernelCall], lines: Iterable[un.Line]
) -> tuple[un.DeviceItem, ...]:
    """Return the arrays that a device region accesses, and whether it modifies them."""
    written = {
        context.value(DataOf(context.schedule.datum(use.datum), use.component))
        for use in moved_data(context.schedule, tuple(calls))
        if use.writes
    }
    names = map(Name, dict.fromkeys(arrays_in(context, lines)))
    return tuple(un.DeviceItem(name, written=name in written) for name in names)


def copy_to(context: LoweringContext, copy: CopyTo) -> tuple[un.Line, ...]:
    """Return the copy of a field, a field-vector component or an operator.

    The halo of a field is contiguous, after the owned dofs. The values to send are not; a separate
    module finds them.
    """
    array = context.value(DataOf(copy.datum, copy.component))
    if copy.halo_depth is not None:
        space = Member(proxy(context, copy.datum, copy.component), abi.FieldMember.SPACE)
        if copy.side is Side.HOST:
            fetch_sent = Name(context.work.imports.local(abi.FETCH_MODULE, abi.FETCH_SENT))
            return (un.Call(fetch_sent, (array, space, copy.halo_depth)),)
        first = Binary(Operator.PLUS, bound(space, abi.SpaceProcedure.LAST_OWNED), whole(1))
        last = bound(space, abi.SpaceProcedure.LAST_HALO, copy.halo_depth)
        array = Section(array, (Range(first, last),))
    return (un.UpdateLine(copy.side, (array,), if_present=copy.guarded),)


def arrays_in(context: LoweringContext, lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the names of all arrays in `lines`, in order."""
    arguments = {datum.name for datum in context.schedule.data if datum.rank}
    for name in _names(lines):
        found = context.work.found(name)
        if (found and found[1].shape) or name in arguments:
            yield name


def _names(lines: Iterable[un.Line]) -> Iterator[str]:
    """Yield the names in loop bounds, assignments, conditions and arguments, in order."""
    for line in lines:
        if isinstance(line, un.ScopedBlock):
            continue
        parts = line.args if isinstance(line, un.Call) else expressions_of(line)
        yield from (one.text for part in parts for one in walk(part) if isinstance(one, Name))
        for block in blocks_of(line):
            yield from _names(block)


def _staying(context: LoweringContext, name: str) -> Iterator[un.Declare]:
    """Yield the declaration of an array that outlives the routine and is constant on the host."""
    if found := context.work.found(name):
        section, declared = found
        if "pointer" in declared.attributes and section is not SetupSection.QUADRATURE:
            yield declared
