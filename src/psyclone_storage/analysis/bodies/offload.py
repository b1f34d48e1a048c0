"""Checks of device regions: unsupported statements and data, and data to copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from psyclone_storage.analysis.bodies.accesses import reads_of
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.independence import check_nodes_understood
from psyclone_storage.analysis.bodies.teams import conflict_between, place_of_block, touched_by
from psyclone_storage.analysis.bodies.verdict import called_by
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import AccRoutineDirective, DeclareTargetDirective, Directive
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Literal,
    Member,
    Name,
    Star,
    Unary,
    walk,
)
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Variable, is_part_of, path_of, prefixes, share_data
from psyclone_storage.ir.rewrite import first_words, place_of_line
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType

_OF_HOST = (
    un.Allocate,
    un.Deallocate,
    un.Nullify,
    un.PointerAssign,
    un.InputOutput,
    un.Stop,
    un.Critical,
)
PlannedBlocks = Mapping[int, un.DirectiveBlock]
"""Blocks with their clauses, by the number of the statement."""


def check_on_device(nodes: Iterable[FlowNode], flow: Flow) -> Iterator[Diagnostic]:
    """Yield diagnostics for statements that only the host can execute, and for host-only data."""
    reported: set[str] = set()
    for node in nodes:
        place = place_of_line(node.line)
        if isinstance(node.line, _OF_HOST) or _may_allocate(node.line, flow):
            message = f"A device cannot run '{first_words(node.line)}'."
            yield Diagnostic("T087", message, place)
        for one in node.accesses:
            key = one.path.root
            if key in reported:
                continue
            declared = flow.names.declaration((key,))
            if declared is not None and declared.shape and isinstance(declared.shape[-1], Star):
                message = f"'{declared.name}' has an assumed size, so no region can copy it."
            elif key in flow.names.threadprivate:
                message = f"'{key}' has a value for each thread, which devices do not have."
            else:
                continue
            reported.add(key)
            yield Diagnostic("T083", message, place)


def called_on_device(
    code: Routine, others: Iterable[Routine], *, is_openacc: bool
) -> frozenset[str]:
    """Return the procedures in the module of `code` that directives compile for a device.

    `others` are the routines of the file.
    """
    wanted = AccRoutineDirective if is_openacc else DeclareTargetDirective
    places = {one.name: one.place.start for one in code.module.procedures}
    return frozenset(
        one.key
        for one in others
        if any(isinstance(item.meaning, wanted) for item in one.directives)
        and one.extent is not None
        and places.get(one.key) == one.extent.start
        and one.key not in map(key_of, code.dummies)
    )


def is_for_device(code: Routine) -> bool:
    """Return whether directives compile a routine for a device."""
    marks = AccRoutineDirective | DeclareTargetDirective
    return any(isinstance(item.meaning, marks) for item in code.directives)


def _may_allocate(line: un.Line, flow: Flow) -> bool:
    """Return whether an assignment may reallocate its target."""
    path = path_of(line.target) if isinstance(line, un.Assign) else None
    if not isinstance(line, un.Assign) or path is None or isinstance(line.target, Index):
        return False
    declared = flow.names.declaration(path.variable)
    if declared is None or not declared.shape or "allocatable" not in declared.words:
        return False
    read = (one.path.variable for one in reads_of(line.value, flow.names))
    found = [flow.names.declaration(one) for one in read]
    return any(one is None or one.shape for one in found) or any(
        not isinstance(part, Name | Literal | Unary | Binary) for part in walk(line.value)
    )


def blocks_in(node: FlowNode, flow: Flow) -> tuple[FlowNode, ...]:
    """Return the blocks with directives that are direct children of a region."""
    return tuple(
        one
        for one in flow.inside(node)
        if isinstance(one.line, un.DirectiveBlock) and one.around[-1:] == (node.number,)
    )


def check_unordered(node: FlowNode, planned: PlannedBlocks, flow: Flow) -> Iterator[Diagnostic]:
    """Yield diagnostics for loops of a region whose gangs would need synchronisation."""
    blocks = blocks_in(node, flow)
    for one in blocks:
        block = one.line
        assert isinstance(block, un.DirectiveBlock)
        if block.options.sequential:
            message = "All gangs would run a sequential loop of the region."
            yield Diagnostic("T027", message, place_of_line(block.body[0]))
    for first, second in combinations(blocks, 2):
        name = conflict_between(first, second, planned, flow)
        if name is not None:
            which = f"may write and access '{name}'" if name else "may call procedures"
            message = f"Gangs {which} at once, as they do not wait between loops of a region."
            hint = "Give each loop a region of its own, or use 'acc kernels'."
            place = place_of_line(second.line) or place_of_line(node.line)
            yield Diagnostic("T027", message, place, hint=hint)


def copied_scalars(
    node: FlowNode, block: un.DirectiveBlock, planned: PlannedBlocks, flow: Flow
) -> tuple[un.DeviceItem, ...]:
    """Return the scalars that a region changes for later statements, except for reductions.

    By default, a region has private copies of scalars, initialised with the value from before. A
    `firstprivate` variable is not read later, unless it is `lastprivate`, too.
    """
    combined = {key_of(name) for name, _ in block.reductions}
    found: dict[str, str] = {}
    for one in (node,) if is_serial(node, flow) else blocks_in(node, flow):
        inner = planned.get(one.number)
        copies = set() if inner is None else {*inner.firstprivate} - {*inner.lastprivate}
        own = combined | {key_of(name) for name in copies}
        _, written = touched_by(one, planned, flow)
        for variable in written:
            key, declared = variable[0], flow.names.declaration(variable[:1])
            if len(variable) > 1 or key in own:
                continue
            if declared is None or (not declared.shape and isinstance(declared.type, ScalarType)):
                found[key] = key if declared is None else declared.name
    return tuple(un.DeviceItem(Name(found[key]), written=True) for key in sorted(found))


def is_serial(node: FlowNode, flow: Flow) -> bool:
    """Return whether one thread of a device runs all statements of a region."""
    return not any(isinstance(one.line, un.DirectiveBlock) for one in flow.inside(node))


def counters_after(node: FlowNode, flow: Flow) -> Iterator[str]:
    """Yield the counters of the loops in a region that statements after it read.

    OpenMP makes them private in the region.
    """
    for loop in flow.inside(node):
        if isinstance(loop.line, un.Do) and flow.is_read_later(node, (loop.line.variable.key,)):
            yield loop.line.variable.text


def scalars_after(node: FlowNode, planned: PlannedBlocks, flow: Flow) -> frozenset[Variable]:
    """Return the scalar variables that a region changes for the host."""
    _, written = _touched_on_device(node, planned, flow)
    declared = {one: flow.names.declaration(one) for one in written}
    return frozenset(one for one, item in declared.items() if item is None or not item.shape)


# ---------------------------------------------------------------------------- data regions


@dataclass(frozen=True, slots=True)
class DeviceData:
    """Data that the device regions of a block access: `items` by variable, and `problems`."""

    items: Mapping[Variable, un.DeviceItem]
    problems: Reasons

    def touched(self, variable: Variable, flow: Flow) -> Iterator[un.DeviceItem]:
        """Yield the items that may overlap with a variable."""
        for own, item in self.items.items():
            if share_data(own, variable) or (
                flow.names.is_shared(variable) and flow.names.may_share(own, variable)
            ):
                yield item


def data_in(node: FlowNode, planned: PlannedBlocks, flow: Flow) -> DeviceData:
    """Return the non-scalar data that the device regions in a block access.

    Regions copy scalars themselves. A structure precedes its allocatable components and pointers.
    """
    items: dict[Variable, un.DeviceItem] = {}
    problems: dict[str, Diagnostic] = {}
    for region in _regions_in(node, flow):
        touched, written = _touched_on_device(region, planned, flow)
        for variable in sorted(touched):
            objects = _objects_of(variable, flow)
            if isinstance(objects, str):
                place = place_of_block(region.line)
                problems.setdefault(objects, Diagnostic("T083", objects, place))
                continue
            for level, one in enumerate(objects):
                changes = one == objects[-1] and touches_any(variable, written)
                known = items.get(one)
                if known is None or (changes and not known.written):
                    items[one] = un.DeviceItem(_spelled(one, flow), level, changes)
    for text in _clashes(items, flow):
        problems.setdefault(text, Diagnostic("T083", text, place_of_block(node.line)))
    return DeviceData(items, tuple(problems.values()))


def check_host_statements(node: FlowNode, data: DeviceData, flow: Flow) -> Iterator[Diagnostic]:
    """Yield diagnostics for host statements in a data region that access its data.

    The host may read data that no region changes. Blocks with `acc update` may access any data.
    """
    host = [one for one in flow.inside(node) if _is_on_host(one, node, flow)]
    yield from check_nodes_understood(host, flow)
    for one in host:
        if isinstance(one.line, un.DirectiveBlock):
            continue
        if set(called_by(one.line, flow)) - HARMLESS:
            message = f"A procedure that '{first_words(one.line)}' calls may access the data."
            yield Diagnostic("T086", message, place_of_line(one.line))
        if _may_allocate(one.line, flow):
            touched = (access.path.variable for access in one.accesses)
            if any(True for variable in touched for _ in data.touched(variable, flow)):
                message = f"'{first_words(one.line)}' moves data that are on the device."
                yield Diagnostic("T086", message, place_of_line(one.line))
        if any(_is_updated(flow.node(number).line) for number in one.around):
            continue
        for access in one.accesses:
            variable = access.path.variable
            found = (item for item in data.touched(variable, flow))
            if any(access.writes or item.written for item in found):
                how = "changes" if access.writes else "reads"
                text = "%".join(variable)
                message = f"The host {how} '{text}' in the region, while it is on the device."
                hint = "End the region before the statement, or use 'ACCEnterDataTrans'."
                yield Diagnostic("T086", message, place_of_line(one.line), hint=hint)
                break


def updated_items(node: FlowNode, planned: PlannedBlocks, flow: Flow) -> tuple[un.DeviceItem, ...]:
    """Return the data to update for the host statements of a block in a data region.

    Data that the host changes are marked as `written`.
    """
    around = [flow.node(number) for number in node.around]
    outer = next((one for one in around if _is_data(one.line)), None)
    if outer is None:
        return ()
    data = data_in(outer, planned, flow)
    found: dict[Expr, bool] = {}
    for one in flow.inside(node):
        for access in one.accesses:
            for item in data.touched(access.path.variable, flow):
                if access.writes or item.written:
                    found[item.what] = found.get(item.what, False) or access.writes
    return tuple(un.DeviceItem(what, written=changes) for what, changes in found.items())


def _regions_in(node: FlowNode, flow: Flow) -> Iterator[FlowNode]:
    return (one for one in flow.inside(node) if _is_region(one.line))


def _touched_on_device(
    region: FlowNode, planned: PlannedBlocks, flow: Flow
) -> tuple[frozenset[Variable], frozenset[Variable]]:
    assert isinstance(region.line, un.DirectiveBlock)
    blocks: tuple[FlowNode, ...] = (region,)
    if region.line.directive is Directive.ACC_PARALLEL:
        blocks = blocks_in(region, flow)
    parts = [touched_by(one, planned, flow) for one in blocks]
    return (
        frozenset().union(*(touched for touched, _ in parts)),
        frozenset().union(*(written for _, written in parts)),
    )


def _objects_of(variable: Variable, flow: Flow) -> tuple[Variable, ...] | str:
    """Return the memory objects that contain a variable, outermost first, or an error message.

    The result is empty for a plain scalar or a constant.
    """
    found: list[Variable] = []
    has_shape = False
    for part in prefixes(variable):
        declared = flow.names.declaration(part)
        if declared is None:
            return f"The declaration of '{'%'.join(part)}' is not known, so no region can copy it."
        if declared.polymorphic:
            return f"'{declared.name}' is polymorphic, so no region can copy it."
        is_apart = bool(declared.words & {"allocatable", "pointer"})
        if len(part) == 1:
            is_plain = not declared.shape and isinstance(declared.type, ScalarType)
            if "parameter" in declared.words or (is_plain and not is_apart):
                return ()
            found.append(part)
        elif is_apart:
            if has_shape:
                text = "%".join(part)
                return (
                    f"'{text}' has a copy for each element of an array, so no region can copy it."
                )
            found.append(part)
        has_shape = has_shape or bool(declared.shape)
    return tuple(found)


def _clashes(items: Mapping[Variable, un.DeviceItem], flow: Flow) -> Iterator[str]:
    """Yield reasons why the data of a region cannot be copied separately."""
    for first, second in combinations(items, 2):
        texts = "%".join(first), "%".join(second)
        nested = is_part_of(second, first) or is_part_of(first, second)
        if nested and items[min(first, second, key=len)].written:
            yield f"A region changes both '{texts[0]}' and '{texts[1]}', which it contains."
        elif not nested and (items[first].written or items[second].written):
            names = flow.names
            if (
                names.is_shared(first)
                and names.is_shared(second)
                and names.may_share(first, second)
            ):
                yield f"'{texts[0]}' and '{texts[1]}' may be the same data, with two copies."


def _spelled(variable: Variable, flow: Flow) -> Expr:
    found: Expr = Name(variable[0])
    for part in prefixes(variable):
        declared = flow.names.declaration(part)
        name = part[-1] if declared is None else declared.name
        found = Name(name) if len(part) == 1 else Member(found, name)
    return found


def _is_on_host(node: FlowNode, region: FlowNode, flow: Flow) -> bool:
    around = (flow.node(number).line for number in node.around if number > region.number)
    return not _is_region(node.line) and not any(map(_is_region, around))


def _is_region(line: un.Line) -> bool:
    kinds = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)
    return isinstance(line, un.DirectiveBlock) and line.directive in kinds


def _is_data(line: un.Line) -> bool:
    return isinstance(line, un.DirectiveBlock) and line.directive.holds_data


def _is_updated(line: un.Line) -> bool:
    return isinstance(line, un.DirectiveBlock) and line.directive is Directive.ACC_UPDATE
