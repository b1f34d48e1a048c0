"""Assignments of kernels in Python: to locals, elements, tuples and several targets."""

from __future__ import annotations

import ast

from psyclone_storage.base.diagnostic import Related
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.languages.python.parse import promotion as precision
from psyclone_storage.languages.python.parse.compile_time import (
    UNKNOWN_VALUE,
    value_of,
)
from psyclone_storage.languages.python.parse.expressions import read, read_number
from psyclone_storage.languages.python.parse.imports import dotted
from psyclone_storage.languages.python.parse.local_arrays import is_array, make_array
from psyclone_storage.languages.python.parse.operations import operation
from psyclone_storage.languages.python.parse.rounding_integers import as_real_if_rounded
from psyclone_storage.languages.python.parse.scope import (
    A_VALUE,
    KernelScope,
    TypedExpression,
    fits,
)
from psyclone_storage.languages.python.parse.sequences import (
    LiveElement,
    indexed,
    is_iterator,
    iterated_items,
    tuple_of,
    type_of_sequence,
    typed_items,
)
from psyclone_storage.languages.python.parse.slices import assign_slices, has_slice

_REAL, _WHOLE, _TRUTH = Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL
_OF_CONDITIONS = (ast.BitAnd, ast.BitOr, ast.BitXor)
ANNOTATIONS = {"float": _REAL, "int": _WHOLE, "bool": _TRUTH}


def read_assignment(scope: KernelScope, node: ast.Assign) -> list[Line]:
    """Return the statements of an assignment."""
    if len(node.targets) > 1:
        return _assign_in_turn(scope, node)
    target = node.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        return _assign_items(scope, node, target)
    if is_array(scope, node.value):
        if isinstance(target, ast.Name) and target.id in scope.parts:
            what = f"'{target.id}' is a tuple and is given an array."
            scope.refuse("P054", what, target, "Give the array another name.")
            return []
        return make_array(scope, node)
    if isinstance(target, ast.Subscript) and _is_sliced(scope, target):
        return assign_slices(scope, node, target, node.value)
    if isinstance(target, ast.Name) and (made := _assign_tuple(scope, node, target)) is not None:
        return made
    known = value_of(scope, node.value)
    value = read(scope, node.value)
    lines = assign_value(scope, node, target, value)
    if isinstance(target, ast.Name) and known is not UNKNOWN_VALUE:
        scope.current[target.id] = known
    return lines


def _assign_in_turn(scope: KernelScope, node: ast.Assign) -> list[Line]:
    """Return the assignments of one value to several targets, from the left."""
    items, type_ = (None, None) if _of_array(scope, node.value) else typed_items(scope, node.value)
    if items is not None:
        made: list[Line] = []
        if not all(map(_is_plain, items)):
            kept, made = in_temporaries(scope, items, node)
            items = kept.elts
        value = tuple_of(items, type_, node.value)
        for target in node.targets:
            made += read_assignment(scope, ast.copy_location(ast.Assign([target], value), node))
        return made
    value, made = in_temporaries(scope, [node.value], node)
    for target in node.targets:
        made += read_assignment(scope, ast.copy_location(ast.Assign([target], value.elts[0]), node))
    return made


def _is_live(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, LiveElement)


def _is_plain(node: ast.expr) -> bool:
    """Return whether an expression is a number or a name."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def in_temporaries(
    scope: KernelScope, items: list[ast.expr], node: ast.stmt, *, live: bool = False
) -> tuple[ast.Tuple, list[Line]]:
    """Return expressions whose values are kept, and the statements that compute them.

    The items of iterated arrays may be `live`: they are read where they are used.
    """
    made: list[Line] = []
    names: list[ast.expr] = []
    for item in items:
        if _is_plain(item) or (live and _is_live(item)):
            names.append(item)
            continue
        inner, type_ = (None, None) if _of_array(scope, item) else typed_items(scope, item)
        if inner is not None:
            value, lines = in_temporaries(scope, inner, node, live=live)
            made += lines
            names.append(tuple_of(value.elts, type_, item))
            continue
        found = read(scope, item)
        made += scope.before
        scope.before = []
        if found.type is None:
            names.append(item)
            continue
        local = precision.fresh_local(scope, "item", found, scope.tree.span(item))
        if found.may_change:
            scope.changing.add(local.text)
        made.append(Assign(local, found.expr, place=scope.tree.span(node)))
        names.append(scope.alias(local.text, item))
    return ast.copy_location(ast.Tuple(names, ast.Load()), node), made


def _assign_items(scope: KernelScope, node: ast.Assign, target: ast.Tuple | ast.List) -> list[Line]:
    """Return the assignments of a sequence to several targets: all values are computed first."""
    if any(isinstance(one, ast.Starred) for one in target.elts):
        scope.refuse("P051", "Starred targets are not supported in kernels.", target)
        return []
    items = iterated_items(scope, node.value)
    if items is None:
        what = f"'{scope.text(node.value)}' is no sequence whose length is known at compile time."
        scope.refuse("P051", what, node.value, "Assign to one name, or write a tuple.")
        return []
    if len(items) != len(target.elts):
        what = f"{len(items)} values are assigned to {len(target.elts)} targets."
        scope.refuse("P051", what, node)
        return []
    made = [*scope.before]
    scope.before = []
    if _overlap(target.elts, items):
        value, lines = in_temporaries(scope, items, node)
        items, made = value.elts, [*made, *lines]
    for one, item in zip(target.elts, items, strict=True):
        made += assign_before(scope, ast.copy_location(ast.Assign([one], item), node))
    return made


def assign_before(scope: KernelScope, node: ast.Assign) -> list[Line]:
    """Return an assignment after the statements that have to precede it."""
    around, scope.before = scope.before, []
    made = read_assignment(scope, node)
    before, scope.before = scope.before, around
    return [*before, *made]


def _overlap(targets: list[ast.expr], items: list[ast.expr]) -> bool:
    """Return whether a value may depend on a target that is assigned before it."""
    for number, target in enumerate(targets):
        later = [one for item in items[number + 1 :] for one in ast.walk(item)]
        if isinstance(target, ast.Name):
            names = (target.id, target.id.partition("[")[0])  # an item 't[0]' is a part of 't'
            if any(isinstance(one, ast.Name) and one.id in names for one in later):
                return True
        elif any(isinstance(one, ast.Name | ast.Call) for one in later):
            return True
    return any(isinstance(one, ast.Call) for item in items[1:] for one in ast.walk(item))


def _assign_tuple(scope: KernelScope, node: ast.Assign, target: ast.Name) -> list[Line] | None:
    """Return the assignments to the items of a tuple; None for another value."""
    if is_iterator(scope, node.value):
        what = f"'{scope.text(node.value)}' is an iterator, which kernels do not assign to a name."
        scope.refuse("P051", what, node.value, "Write it in the loop, or 'tuple(...)' around it.")
        return []
    items, type_ = None, None
    if not _may_be_array(scope, node.value):
        items, type_ = typed_items(scope, node.value)
    name = target.id
    if items is None:
        if name in scope.parts:
            what = f"'{name}' is a tuple and is given a number."
            scope.refuse("P054", what, target, "Give the number another name.")
            return []
        return None
    if any(_has_item(one, name) for one in items):
        what = f"'{name}' is an item of the tuple that is assigned to it."
        scope.refuse("P054", what, node.value, "Give each tuple a name of its own.")
        return []
    if type_ is not tuple and scope.loops and name in scope.parts and name not in scope.lists:
        # Earlier statements of the loop may have compared it as a tuple.
        what = f"'{name}' is a tuple and is given a list, an array or a range in a loop."
        scope.refuse("P054", what, target, "Give the list another name.")
        return []
    parts = tuple(f"{name}[{number}]" for number in range(len(items)))
    if scope.parts.setdefault(name, parts) != parts or scope.local(name) is not None:
        what = f"'{name}' has {len(scope.parts[name])} items and is given {len(parts)}."
        if scope.local(name) is not None:
            what = f"'{name}' is no tuple and is given one."
        scope.refuse("P054", what, target, "Give each tuple a name of its own.")
        return []
    for number, part in enumerate(parts):
        if part not in scope.names:
            scope.names = {**scope.names, part: scope.fresh_name(f"{scope.code(name)}_{number}")}
    known = value_of(scope, node.value)
    scope.lists |= set() if type_ is tuple else {name}
    targets = [ast.copy_location(ast.Name(part, ast.Store()), target) for part in parts]
    scope.assigned |= set(parts)
    made = ast.copy_location(ast.Tuple(items, ast.Load()), node.value)
    whole = ast.copy_location(ast.Tuple([*targets], ast.Store()), target)
    lines = _assign_items(scope, ast.copy_location(ast.Assign([whole], made), node), whole)
    scope.current.pop(name, None)
    if known is not UNKNOWN_VALUE:
        scope.current[name] = known
    return lines


def _of_array(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression is a local, or an element or a row of a local array."""
    base, _ = indexed(node)
    return isinstance(base, ast.Name) and scope.local(base.id) is not None


def _has_item(node: ast.expr, name: str) -> bool:
    """Return whether a value is a variable, or a tuple that contains it."""
    match node:
        case ast.Name(known):
            return known == name
        case ast.Tuple(items) | ast.List(items):
            return any(_has_item(one, name) for one in items)
        case ast.IfExp(_, first, second):
            return _has_item(first, name) or _has_item(second, name)
    return False


def _may_be_array(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression may be an array, of which a local would be another name."""
    if isinstance(node, ast.Name) and (local := scope.local(node.id)) is not None and local.shape:
        return True
    is_expression = isinstance(node, ast.List | ast.Subscript | ast.Constant | ast.BinOp)
    return is_expression and type_of_sequence(scope, node) is not tuple


def read_annotated(scope: KernelScope, node: ast.AnnAssign) -> list[Line]:
    """Return the assignment to a local with an annotation, or of a variable of a module."""
    said = ANNOTATIONS.get(scope.text(node.annotation))
    if said is None or node.value is None or not isinstance(node.target, ast.Name):
        what = f"'{scope.text(node)}' gives no local of a kernel its type and value."
        scope.refuse("P051", what, node, "Write 'name: float = value', or int or bool.")
        return []
    module, _, name = _of_module(node.value).rpartition(".")
    if module in scope.modules and scope.offered.constant(node.value) is None:
        variable = TypedExpression(scope.variable_of(module, name, said), said)
        return assign_value(scope, node, node.target, variable)
    value = read(scope, node.value)
    if value.type is not None and value.type is not said:
        what = f"'{scope.text(node.value)}' is {A_VALUE[value.type]}, not {A_VALUE[said]}."
        scope.refuse("P054", what, node.value)
        return []
    return assign_value(scope, node, node.target, value)


def _of_module(value: ast.expr) -> str:
    """Return names with dots between them, or an element of such a one that is written out."""
    match value:
        case ast.Subscript(value=ast.Attribute() as array, slice=ast.Constant() | ast.Tuple()):
            parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
            index = [part.value for part in parts
                     if isinstance(part, ast.Constant) and isinstance(part.value, int)
                     and not isinstance(part.value, bool)]  # fmt: skip
            if index and len(index) == len(parts) and dotted(array):
                return f"{dotted(array)}[{', '.join(map(str, index))}]"
    return dotted(value)


def read_augmented(scope: KernelScope, node: ast.AugAssign) -> list[Line]:
    """Return an assignment such as `a += b`."""
    if isinstance(node.target, ast.Subscript) and _is_sliced(scope, node.target):
        old_slice = ast.copy_location(
            ast.Subscript(node.target.value, node.target.slice, ast.Load()), node.target
        )
        made = ast.copy_location(ast.BinOp(old_slice, node.op, node.value), node)
        return assign_slices(scope, node, node.target, made)
    if isinstance(node.op, _OF_CONDITIONS) and read(scope, node.target).type is _TRUTH:
        made = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        return assign_value(scope, node, node.target, read(scope, made))
    old = read_number(scope, node.target)
    if old.may_change:
        what = f"'{scope.text(node.target)}' may be what 'np.where' gives, which changes in place."
        hint = "Other names may stand for it, too: write 'a = a + b' for 'a += b'."
        scope.refuse("P051", what, node, hint)
    value = read_number(scope, node.value)
    if old.type is None or value.type is None:
        return []
    known = value_of(scope, ast.BinOp(node.target, node.op, node.value))
    lines = assign_value(scope, node, node.target, operation(scope, node, node.op, (old, value)))
    if isinstance(node.target, ast.Name) and known is not UNKNOWN_VALUE:
        scope.current[node.target.id] = known
    return lines


def _is_sliced(scope: KernelScope, target: ast.Subscript) -> bool:
    return scope.access.has_arrays and has_slice(target.slice)


def assign_value(
    scope: KernelScope, node: ast.stmt, target: ast.expr, value: TypedExpression
) -> list[Line]:
    """Return the assignment of a value that is read already."""
    match target:
        case ast.Name():
            to = assigned_local(scope, target, value)
        case ast.Subscript():
            to = scope.access.target(scope, target, value)
        case _:
            scope.refuse("P051", f"'{scope.text(target)}' cannot be assigned to.", target)
            return []
    if to is None or value.type is None:
        return []
    return [Assign(to, _converted(scope, target, value), place=scope.tree.span(node))]


def _converted(scope: KernelScope, target: ast.expr, value: TypedExpression) -> Expr:
    """Return a value as what it is assigned to has it: a real number has no bounds."""
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


def assigned_local(scope: KernelScope, target: ast.Name, value: TypedExpression) -> Expr | None:
    """Return a local that is given a value; None, with a note, if that cannot be."""
    name = target.id
    if (dummy := scope.arguments.get(name)) is not None:
        what = f"'{name}' is an argument, which a kernel cannot assign to."
        hint = scope.access.assigned(name, dummy) if dummy.rank else "Give the value another name."
        scope.refuse("M204", what, target, hint)
        return None
    if scope.code(name) in scope.counters or name in scope.literals:
        scope.refuse("P051", f"'{name}' counts the loop around.", target, "Use another name.")
        return None
    scope.current.pop(name, None)
    if name in scope.parts:
        what = f"'{name}' is a tuple and is given a number."
        scope.refuse("P054", what, target, "Give the number another name.")
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
