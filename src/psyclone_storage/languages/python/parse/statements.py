"""Conversion of statements in Python kernels to typed code.

This module also determines which local variables certainly have a value after each statement. A
`return` ends the kernel for the current point. A loop iterates over a `range`. Its loop variable
has no value after the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import Related
from psyclone_storage.ir.expr import Expr, Name, integer_value
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Branch, Cycle, Do, Exit, If, Line, Return
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse import promotion as precision
from psyclone_storage.languages.python.parse.expressions import read, read_condition, read_number
from psyclone_storage.languages.python.parse.imports import dotted
from psyclone_storage.languages.python.parse.local_arrays import is_array, make_array
from psyclone_storage.languages.python.parse.operations import operation
from psyclone_storage.languages.python.parse.rounding_integers import as_real_if_rounded
from psyclone_storage.languages.python.parse.scope import (
    A_VALUE,
    CountedRange,
    KernelScope,
    TypedExpression,
    both,
    fits,
)
from psyclone_storage.languages.python.parse.slices import assign_slices, has_slice
from psyclone_storage.languages.python.parse.weak_types import UNKNOWN_NUMBER

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
_NO_STATEMENT = "A kernel cannot have this statement."
_STATEMENTS = "Write assignments, 'if', 'for ... in range(...)' and 'return'."
ANNOTATIONS = {"float": _REAL, "int": _WHOLE, "bool": _TRUTH}


def read_block(scope: KernelScope, body: Iterable[ast.stmt]) -> tuple[Line, ...]:
    """Return the statements of `body`; errors are recorded in `scope`."""
    lines: list[Line] = []
    for node in body:
        reader = _READERS.get(type(node))
        scope.before, around = [], scope.before
        if reader is None:
            scope.refuse("P051", _NO_STATEMENT, node, _STATEMENTS)
        else:
            made = reader(scope, node)
            lines += [*scope.before, *made]
        scope.before = around
    return tuple(lines)


# ---------------------------------------------------------------------------- assignments


def _assign(scope: KernelScope, node: ast.Assign) -> list[Line]:
    if len(node.targets) > 1:
        scope.refuse("P051", "A kernel assigns to one name at a time.", node)
        return []
    if is_array(scope, node.value):
        return make_array(scope, node)
    target = node.targets[0]
    if isinstance(target, ast.Subscript) and _is_sliced(scope, target):
        return assign_slices(scope, node, target, node.value)
    value = read(scope, node.value)
    return _assigned(scope, node, node.targets[0], value)


def _annotated(scope: KernelScope, node: ast.AnnAssign) -> list[Line]:
    said = ANNOTATIONS.get(scope.text(node.annotation))
    if said is None or node.value is None or not isinstance(node.target, ast.Name):
        what = f"'{scope.text(node)}' gives no local of a kernel its type and value."
        scope.refuse("P051", what, node, "Write 'name: float = value', or int or bool.")
        return []
    module, _, name = _of_module(node.value).rpartition(".")
    if module in scope.modules and scope.offered.constant(node.value) is None:
        variable = TypedExpression(scope.variable_of(module, name, said), said)
        return _assigned(scope, node, node.target, variable)
    value = read(scope, node.value)
    if value.type is not None and value.type is not said:
        what = f"'{scope.text(node.value)}' is {A_VALUE[value.type]}, not {A_VALUE[said]}."
        scope.refuse("P054", what, node.value)
        return []
    return _assigned(scope, node, node.target, value)


def _of_module(value: ast.expr) -> str:
    """Return a dotted name, or an element of such an array with constant indices, as text."""
    match value:
        case ast.Subscript(value=ast.Attribute() as array, slice=ast.Constant() | ast.Tuple()):
            parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            index = [part.value for part in parts
                     if isinstance(part, ast.Constant) and isinstance(part.value, int)
                     and not isinstance(part.value, bool)]  # fmt: skip
            if index and len(index) == len(parts) and dotted(array):
                return f"{dotted(array)}[{', '.join(map(str, index))}]"
    return dotted(value)


def _augmented(scope: KernelScope, node: ast.AugAssign) -> list[Line]:
    if isinstance(node.target, ast.Subscript) and _is_sliced(scope, node.target):
        old_slice = ast.copy_location(
            ast.Subscript(node.target.value, node.target.slice, ast.Load()), node.target
        )
        made = ast.copy_location(ast.BinOp(old_slice, node.op, node.value), node)
        return assign_slices(scope, node, node.target, made)
    old = read_number(scope, node.target)
    if old.may_change:
        what = f"'{scope.text(node.target)}' may be what 'np.where' gives, which changes in place."
        hint = "Other names may stand for it, too: write 'a = a + b' for 'a += b'."
        scope.refuse("P051", what, node, hint)
    value = read_number(scope, node.value)
    if old.type is None or value.type is None:
        return []
    return _assigned(scope, node, node.target, operation(scope, node, node.op, (old, value)))


def _is_sliced(scope: KernelScope, target: ast.Subscript) -> bool:
    return scope.access.has_arrays and has_slice(target.slice)


def _assigned(
    scope: KernelScope, node: ast.stmt, target: ast.expr, value: TypedExpression
) -> list[Line]:
    match target:
        case ast.Name():
            to = _local(scope, target, value)
        case ast.Subscript():
            to = scope.access.target(scope, target, value)
        case _:
            scope.refuse("P051", f"'{scope.text(target)}' cannot be assigned to.", target)
            return []
    if to is None or value.type is None:
        return []
    return [Assign(to, _converted(scope, target, value), place=scope.tree.span(node))]


def _converted(scope: KernelScope, target: ast.expr, value: TypedExpression) -> Expr:
    """Return a value converted for its assignment target.

    A rounded number is assigned to a real without conversion to an integer.
    """
    array = target.value if isinstance(target, ast.Subscript) else target
    name = array.id if isinstance(array, ast.Name) else ""
    local, dummy = scope.local(name), scope.arguments.get(name)
    wanted = local.type if local is not None else dummy and dummy.type.intrinsic
    if wanted is not _REAL:
        return value.expr
    made = as_real_if_rounded(scope, value)
    if not precision.has_room(scope, local or dummy, made):
        precision.refuse(scope, target)
    return made.expr


def _local(scope: KernelScope, target: ast.Name, value: TypedExpression) -> Expr | None:
    name = target.id
    if (dummy := scope.arguments.get(name)) is not None:
        what = f"'{name}' is an argument, which a kernel cannot assign to."
        hint = scope.access.assigned(name, dummy) if dummy.rank else "Give the value another name."
        scope.refuse("M204", what, target, hint)
        return None
    if scope.code(name) in scope.counters:
        scope.refuse("P051", f"'{name}' counts the loop around.", target, "Use another name.")
        return None
    known = scope.local(name)
    scope.gives_value(name)
    scope.forgets(name)
    scope.from_one.discard(scope.code(name))
    if known is not None and known.shape:
        what = f"'{name}' is an array and is given a number."
        scope.refuse("P054", what, target, f"Write '{name}[...] = ...', or another name.")
        return None
    if (
        known is not None
        and known.type is not None
        and value.type is not None
        and not fits(value.type, known.type)
    ):
        what = f"'{name}' is {A_VALUE[known.type]} and is given {A_VALUE[value.type]}."
        hint = "A local has one type. Write '0.0', not '0', where it gets its first value."
        related = (Related(known.first, "its first value"),)
        scope.refuse("P054", what, target, hint, related)
        return None
    precision.record_local(scope, scope.code(name), value, scope.tree.span(target))
    if value.may_change:
        scope.changing.add(scope.code(name))
    return Name(scope.code(name))


# ---------------------------------------------------------------------------- control


def _if(scope: KernelScope, node: ast.If) -> list[Line]:
    """Return an `if` construct; names have a value after it if they have one in all branches."""
    branches: list[Branch] = []
    left: frozenset[str] | None = None
    otherwise: list[ast.stmt] = [node]
    while len(otherwise) == 1 and isinstance(otherwise[0], ast.If):
        one = otherwise[0]
        if branches and scope.helpers is not None and scope.helpers.is_called(scope, one.test):
            # What has to be done before the condition is done where it is reached.
            break
        test = read_condition(scope, one.test)
        before = scope.known
        with scope.reached(None):
            body = read_block(scope, one.body)
        branches.append(Branch(test.expr, body, place=scope.tree.span(one)))
        left, scope.known = both(left, scope.known), before
        otherwise = one.orelse
    with scope.reached(None):
        last = read_block(scope, otherwise)
    scope.known = both(left, scope.known)
    return [If(tuple(branches), last, extent=scope.tree.span(node))]


def _for(scope: KernelScope, node: ast.For) -> list[Line]:
    bounds = scope.access.counted(scope, node.iter) or _range(scope, node)
    target = node.target
    if node.orelse:
        scope.refuse("P051", "A loop of a kernel has no 'else'.", node.orelse[0])
    if not isinstance(target, ast.Name):
        scope.refuse("P051", "A loop of a kernel counts one name.", target)
        return []
    name = scope.code(target.id)
    counter = _local(scope, target, TypedExpression(Name(name), _WHOLE, kinds=UNKNOWN_NUMBER))
    if counter is not None and (known := scope.locals[name].type) is not _WHOLE:
        scope.refuse(
            "P054", f"'{target.id}' is {A_VALUE[known or _REAL]}, and cannot count.", target
        )
    before = scope.known
    scope.counters.append(name)
    scope.from_one -= {name}
    scope.from_one |= {name} if bounds is not None and bounds.from_one else set()
    jumps = any(isinstance(one, ast.Break | ast.Continue) for one in ast.walk(node))
    certain = None
    if scope.certain is not None and bounds is not None and bounds.taken and not jumps:
        certain = {**scope.certain, name: bounds}
    with scope.reached(certain):
        body = read_block(scope, node.body)
    scope.counters.pop()
    after = scope.known if bounds is not None and bounds.taken and not jumps else before
    scope.known = None if after is None else after - {name}
    if before is not None and scope.known is None:
        scope.known = before - {name}
    if counter is None or bounds is None:
        return []
    span = scope.tree.span(node)
    first, last, step = bounds.first, bounds.last, bounds.step
    return [Do(Name(name), first, last, body, step, place=span, extent=span)]


def _range(scope: KernelScope, node: ast.For) -> CountedRange | None:
    call = node.iter
    is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    if not isinstance(call, ast.Call) or not is_range or scope.text(call.func) != "range":
        what = f"'{scope.text(call)}' is nothing that a kernel can loop over."
        scope.refuse("P051", what, call, "Write 'for name in range(first, behind_last)'.")
        return None
    if call.keywords or not 1 <= len(call.args) <= _ALL_OF_RANGE:
        scope.refuse("P051", "A 'range' has one to three bounds.", call)
        return None
    values = [read_number(scope, one) for one in call.args]
    if any(value.type is not _WHOLE for value in values):
        if all(value.type is not None for value in values):
            scope.refuse("P054", "The bounds of a 'range' are whole numbers.", call)
        return None
    first = values[0].expr if len(values) > 1 else nodes.signed_integer(0)
    behind = values[min(1, len(values) - 1)].expr
    by = values[2].expr if len(values) == _ALL_OF_RANGE else None
    step = 1 if by is None else integer_value(by)
    if not step:
        scope.refuse("P051", "The step of a 'range' is a number that is written out.", call)
        return None
    start, stop = integer_value(first), integer_value(behind)
    turns = start is not None and stop is not None and bool(range(start, stop, step))
    return CountedRange(first, _before(behind, step), by, turns)


_ALL_OF_RANGE = 3


def _before(behind: Expr, step: int) -> Expr:
    """Return the last value that a loop can reach before the exclusive end `behind`."""
    value = integer_value(behind)
    if value is not None:
        return nodes.signed_integer(value - 1 if step > 0 else value + 1)
    return nodes.binary_operation("-" if step > 0 else "+", behind, nodes.signed_integer(1))


def _return(scope: KernelScope, node: ast.Return) -> list[Line]:
    if node.value is not None:
        what = "A kernel returns nothing: what it computes it writes into its arguments."
        scope.refuse("P051", what, node)
    scope.known = None
    return [Return(place=scope.tree.span(node))]


def _jump(scope: KernelScope, node: ast.Break | ast.Continue) -> list[Line]:
    scope.known = None
    kind = Exit if isinstance(node, ast.Break) else Cycle
    return [kind(place=scope.tree.span(node))]


def _expression(scope: KernelScope, node: ast.Expr) -> list[Line]:
    """Return the statements of an inlined call statement; record an error for other expressions."""
    if isinstance(node.value, ast.Call) and scope.helpers is not None:
        found = scope.helpers.statements(scope, node.value)
        if found is not None:
            return found
    scope.refuse("P051", _NO_STATEMENT, node, _STATEMENTS)
    return []


def _pass(_scope: KernelScope, _node: ast.Pass) -> list[Line]:
    return []


_READERS: Mapping[type[ast.stmt], Callable[[KernelScope, Any], list[Line]]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: _for,
    ast.Return: _return,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Expr: _expression,
    ast.Pass: _pass,
}
