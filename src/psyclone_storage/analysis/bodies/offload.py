"""Regions that run on a device: statements and data that they must not have, and copied scalars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.teams import conflict_between, touched_by
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import AccRoutineDirective, DeclareTargetDirective
from psyclone_storage.ir.expr import Name, Star
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import first_words, place_of_line
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import ScalarType

_OF_HOST = (un.InputOutput, un.Stop, un.Allocate, un.Deallocate, un.Critical)
PlannedBlocks = Mapping[int, un.DirectiveBlock]
"""Blocks with their clauses, by the number of the statement."""


def check_on_device(nodes: Iterable[FlowNode], flow: Flow) -> Iterator[Diagnostic]:
    """Yield diagnostics for statements that only the host can run, and data that stay there."""
    reported: set[str] = set()
    for node in nodes:
        place = place_of_line(node.line)
        if isinstance(node.line, _OF_HOST):
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
    """Return the procedures of the module of `code` that directives compile for a device.

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


def blocks_in(node: FlowNode, flow: Flow) -> tuple[FlowNode, ...]:
    """Return the blocks with directives directly in a region."""
    return tuple(
        one
        for one in flow.inside(node)
        if isinstance(one.line, un.DirectiveBlock) and one.around[-1:] == (node.number,)
    )


def check_unordered(node: FlowNode, planned: PlannedBlocks, flow: Flow) -> Iterator[Diagnostic]:
    """Yield diagnostics for blocks of a region whose gangs would have to wait for each other."""
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
    """Return the scalars that a region changes for statements after it, except for reductions.

    Without a clause a region has its own copies of scalars, which start with the value from before.
    """
    combined = {key_of(name) for name, _ in block.reductions}
    found: dict[str, str] = {}
    for one in blocks_in(node, flow):
        _, written = touched_by(one, planned, flow)
        for variable in written:
            key, declared = variable[0], flow.names.declaration(variable[:1])
            if len(variable) > 1 or key in combined:
                continue
            if declared is None or (not declared.shape and isinstance(declared.type, ScalarType)):
                found[key] = key if declared is None else declared.name
    return tuple(un.DeviceItem(Name(found[key]), written=True) for key in sorted(found))
