"""Variables of which each iteration of a loop, or each thread, may have a copy."""

from __future__ import annotations

from psyclone_storage.analysis.bodies.coverage import Coverage
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.ir.expr import Keyword, Member, Name
from psyclone_storage.ir.paths import Variable, path_of
from psyclone_storage.ir.rewrite import Plain
from psyclone_storage.ir.scopes import host_names
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Allocate, Assign, Deallocate


def may_be_copied(variable: Variable, flow: Flow) -> bool:
    """Return whether a clause may contain a variable: a plain scalar local to the routine."""
    key, code = variable[0], flow.code
    declared = code.declared(key)
    if len(variable) > 1 or declared is None or declared.shape:
        return False
    if key in flow.names.threadprivate:
        return False
    if key in flow.names.unclear or key in flow.names.aliases or flow.names.is_shared(variable):
        return False
    if key in host_names(code.contained):
        return False
    hidden = {"volatile", "allocatable", "parameter", "asynchronous", "optional"}
    return isinstance(declared.type, ScalarType) and not declared.words & hidden


def is_private_scalar(variable: Variable, writes: list[Item], loop: FlowNode, flow: Flow) -> bool:
    """Return whether a scalar is private: each iteration sets it before reading it.

    It must not be read after the loop.
    """
    return (
        len(variable) == 1
        and not flow.names.is_shared(variable)
        and not flow.names.may_be_absent(variable[0])
        and not any(item.path.subscripts for item in writes)
        and not touches_any(variable, flow.body(loop).exposed)
        and not flow.is_read_later(loop, variable)
        and is_allocated_anew(variable[0], loop, flow)
    )


def is_own_array(variable: Variable, loop: FlowNode, flow: Flow) -> bool:
    """Return whether an array can be private to each iteration."""
    names = flow.names
    declared = names.declaration(variable)
    if len(variable) > 1 or declared is None or not declared.shape:
        return False
    if not names.is_local(variable[0]) or names.is_shared(variable):
        return False
    if not is_allocated_anew(variable[0], loop, flow):
        return False
    items = flow.items_of(variable[0])
    inside = (item for item in items if loop.number < item.node.number < loop.stop)
    if "allocatable" in declared.words and not any(item.access.of_shape for item in inside):
        items = tuple(item for item in items if not _is_allocation(item))
    return Coverage(flow, variable).is_own(loop, items)


def _is_allocation(item: Item) -> bool:
    """Return whether a read belongs to a statement that allocates or deallocates the variable.

    Such a statement needs no values.
    """
    line = item.node.line
    if item.writes or not isinstance(line, Allocate | Deallocate):
        return False
    return any(
        path_of(one) == item.access.path for one in line.arrays if not isinstance(one, Keyword)
    )


def is_allocated_anew(root: str, loop: FlowNode, flow: Flow) -> bool:
    """Return whether no statement needs the shape that another iteration gave to a variable.

    Inquiries about the shape are reads. Assignments to elements and components need it, too. The
    lower bounds of an array that has the right shape before an assignment do not change.
    """
    names = flow.names
    writes = [item for item in flow.items_of(root) if item.writes]
    changes = [item.node for item in writes if item.access.of_shape]
    if not any(loop.number < node.number < loop.stop for node in changes):
        return True
    first = min(
        (node.number for node in changes if node.around[-1:] == (loop.number,)), default=loop.stop
    )
    declared = names.declaration((root,))
    if declared is not None and declared.shape and not all(map(_has_default_bounds, changes)):
        return False
    again = _next_allocation(writes, loop, flow)
    return all(
        first < item.node.number < loop.stop or item.node.number > again
        for item in writes
        if item.node not in changes and names.reallocations.is_allocated(item.variable)
    )


def _next_allocation(writes: list[Item], loop: FlowNode, flow: Flow) -> int:
    """Return the number of the first assignment to a whole variable that always follows a loop.

    It gives the variable a shape. Without one, return the number after the last statement.
    """
    for node in flow.nodes[loop.stop - 1 :]:
        is_next = (node.around, node.blocks) == (loop.around, loop.blocks)
        own = (item for item in writes if item.node is node and item.access.of_shape)
        if is_next and isinstance(node.line, Assign) and any(not it.path.steps for it in own):
            return node.number
        if not isinstance(node.line, Plain):
            break
    return len(flow.nodes) + 1


def _has_default_bounds(node: FlowNode) -> bool:
    """Return whether a statement that allocates an array gives it the lower bounds 1."""
    line = node.line
    return isinstance(line, Assign) and not isinstance(line.value, Name | Member)
