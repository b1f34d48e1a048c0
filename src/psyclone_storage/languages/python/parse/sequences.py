"""Sequences in kernels in Python whose length is known at compile time, item by item.

These are tuples and lists, tables of the module, ranges, local arrays, the results of functions
that return tuples, and `enumerate`, `zip` and `reversed` of sequences.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from psyclone_storage.ir.expr import integer_value
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.compile_time import (
    UNKNOWN_VALUE,
    ArrayTable,
    ItemsOfAnyType,
    ListItems,
    ListTable,
    is_int,
    value_of,
    written,
)
from psyclone_storage.languages.python.parse.scope import KernelScope, TypedExpression

MOST_ITEMS = 1000
_TYPES: Mapping[type, type] = {ListTable: list, tuple: tuple, range: range}
_OF_SEQUENCES = ("enumerate", "reversed", "zip")


class LiveElement(ast.Load):
    """Context of an element that a loop over an array reads when it reaches the element.

    The items of tuples and lists that are written out are copies.
    """


def sequence_items(scope: KernelScope, node: ast.expr) -> list[ast.expr] | None:
    """Return the items of a sequence as expressions; None if `node` is no known sequence.

    Statements that a called function needs are added to those before the current statement.
    """
    return None if is_iterator(scope, node) else iterated_items(scope, node)


def type_of_sequence(scope: KernelScope, node: ast.expr) -> type | None:
    """Return `tuple`, `list` or `range` if an expression certainly has this type, else None."""
    match node:
        case ast.List() | ast.Tuple(ctx=ListItems()):
            return list
        case ast.Tuple():
            return None if isinstance(node.ctx, ItemsOfAnyType) else tuple
        case ast.Name(id=name) if name in scope.parts:
            return None if name in scope.lists else tuple
        case ast.Subscript() if _is_of_tuple(scope, node):
            item = item_of(scope, node)
            return None if item is None else type_of_sequence(scope, item)
        case ast.Name() | ast.Subscript() | ast.Call() | ast.BinOp():
            return _TYPES.get(type(value_of(scope, node)))
    return None


def typed_items(scope: KernelScope, node: ast.expr) -> tuple[list[ast.expr] | None, type | None]:
    """Return the items of a sequence and its type, as `sequence_items` and `type_of_sequence`."""
    items, type_ = sequence_items(scope, node), type_of_sequence(scope, node)
    if items is not None and isinstance(node, ast.Call):
        type_ = type_ or tuple
    return items, type_


def tuple_of(items: list[ast.expr], type_: type | None, place: ast.expr) -> ast.Tuple:
    """Return items as one expression, from which `typed_items` returns them and their type."""
    context = ast.Load if type_ is tuple else ListItems if type_ is list else ItemsOfAnyType
    return ast.copy_location(ast.Tuple(items, context()), place)


def _is_of_tuple(scope: KernelScope, node: ast.Subscript) -> bool:
    base, _ = indexed(node)
    return isinstance(base, ast.Name) and base.id in scope.parts


def is_iterator(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression is an iterator, which has neither a length nor an index."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in _OF_SEQUENCES and not is_own_name(scope, node.func.id)


def iterated_items(scope: KernelScope, node: ast.expr) -> list[ast.expr] | None:
    """Return the items of a sequence or an iterator, as `sequence_items` does."""
    if isinstance(node, ast.Tuple | ast.List):
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else node.elts
    value = value_of(scope, node)
    if value is not UNKNOWN_VALUE:
        is_long = not isinstance(value, tuple | range) or len(value) > MOST_ITEMS
        return None if is_long else [written(one, node) for one in value]
    match node:
        case ast.Name(id=name) if name in scope.parts:
            return [ast.copy_location(ast.Name(one, ast.Load()), node) for one in scope.parts[name]]
        case ast.Subscript() if _is_of_tuple(scope, node):
            item = item_of(scope, node)
            return None if item is None else sequence_items(scope, item)
        case ast.Name() | ast.Subscript():
            return _elements(scope, node)
        case ast.Call():
            return _of_call(scope, node)
    return None


def _of_call(scope: KernelScope, node: ast.Call) -> list[ast.expr] | None:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "divmod" and not is_own_name(scope, name) and len(node.args) == 2:
        first, second = node.args
        return [ast.copy_location(ast.BinOp(first, op, second), node)
                for op in (ast.FloorDiv(), ast.Mod())]  # fmt: skip
    if is_iterator(scope, node):
        return _of_function(scope, node, name)
    return None if scope.helpers is None else scope.helpers.parts(scope, node)


def is_own_name(scope: KernelScope, name: str) -> bool:
    """Return whether a name of Python is one of the program here."""
    return name in scope.offered.bound or name in scope.assigned or name in scope.arguments


def _of_function(scope: KernelScope, node: ast.Call, name: str) -> list[ast.expr] | None:
    start = 0
    if name == "enumerate" and (said := [*node.args[1:], *(one.value for one in node.keywords)]):
        start = value_of(scope, said[0])
        names = [one.arg for one in node.keywords]
        if not isinstance(start, int) or len(said) > 1 or names not in ([], ["start"]):
            return None
    args = node.args[:1] if name == "enumerate" else node.args
    found = [iterated_items(scope, one) for one in args]
    known = [one for one in found if one is not None]
    if len(known) != len(args) or not known or (node.keywords and name != "enumerate"):
        return None
    if name == "enumerate":
        numbers = (written(number, node) for number in range(start, start + len(known[0])))
        return _tuples(node, [[*numbers], known[0]])
    if name == "zip":
        return _tuples(node, known)
    return known[0][::-1]


def _tuples(node: ast.Call, columns: Sequence[Sequence[ast.expr]]) -> list[ast.expr]:
    rows = zip(*columns, strict=False)
    return [ast.copy_location(ast.Tuple([*row], ast.Load()), node) for row in rows]


def _elements(scope: KernelScope, node: ast.expr) -> list[ast.expr] | None:
    """Return the elements of a local array, or of a row of one."""
    base, index = indexed(node)
    local = scope.local(base.id) if isinstance(base, ast.Name) else None
    if local is None or len(index) >= len(local.shape):
        return None
    count = integer_value(local.shape[len(index)])
    if count is None or count > MOST_ITEMS:
        return None
    places = [
        ast.copy_location(ast.Tuple([*index, written(number, node)], ast.Load()), node)
        for number in range(count)
    ]
    return [ast.copy_location(ast.Subscript(base, one, LiveElement()), node) for one in places]


def selected_items(scope: KernelScope, node: ast.expr) -> list[ast.expr] | None:
    """Return the items of a sequence or of a slice; None if they are not known one by one.

    The items of a slice are to be read at once, because slices of lists are copies.
    """
    base, index = indexed(node)
    if not isinstance(node, ast.Subscript) or not any(map(_is_slice, index)):
        return sequence_items(scope, node)
    table = value_of(scope, base)
    if any(map(_is_slice, indexed(node.value)[1])) or (
        table is not UNKNOWN_VALUE and not has_index(table, node.slice)
    ):
        return None
    if isinstance(table, ArrayTable):
        return _selected_of_table(scope, node, table, index)
    return _selected(scope, base, index)


def _selected_of_table(
    scope: KernelScope, node: ast.expr, table: ArrayTable, index: Sequence[ast.expr]
) -> list[ast.expr] | None:
    """Return what an index with slices selects of a table; None if a part of it is not known."""
    with scope.fixing():
        parts = [
            _slice_of(scope, one) if isinstance(one, ast.Slice) else value_of(scope, one)
            for one in index
        ]
    if not all(isinstance(one, slice) or is_int(one) for one in parts):
        return None
    try:
        return [written(one, node) for one in _part_of_table(table, parts)]
    except (IndexError, TypeError):
        return None


def _part_of_table(table: Any, index: Sequence[Any]) -> Any:
    if not index:
        return table
    first, *others = index
    chosen = table[first]
    if isinstance(first, slice):
        return tuple(_part_of_table(one, others) for one in chosen)
    return _part_of_table(chosen, others)


def _slice_of(scope: KernelScope, node: ast.Slice) -> slice | None:
    """Return a slice with constant bounds; None for others."""
    parts = (node.lower, node.upper, node.step)
    with scope.fixing():
        bounds = [None if one is None else value_of(scope, one) for one in parts]
    is_known = bounds[-1] != 0 and all(one is None or is_int(one) for one in bounds)
    return slice(*bounds) if is_known else None


def _is_slice(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice)


def _selected(
    scope: KernelScope, node: ast.expr, index: Sequence[ast.expr]
) -> list[ast.expr] | None:
    """Return what an index with slices selects; None if this is not known."""
    if not index:
        return [node]
    items, (first, *others) = sequence_items(scope, node), index
    if items is None:
        return None
    if isinstance(first, ast.Slice):
        if (part := _slice_of(scope, first)) is None:
            return None
        chosen = items[part]
    elif value_of(scope, node) is UNKNOWN_VALUE:
        chosen = [ast.copy_location(ast.Subscript(node, first, ast.Load()), node)]
    else:
        return None
    found = [_selected(scope, one, others) for one in chosen]
    known = [one for one in found if one is not None]
    return [part for one in known for part in one] if len(known) == len(found) else None


def indexed(node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """Return an array, and all parts of its index: `a[i][j]` is `a[i, j]`."""
    index: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [*parts, *index]
        node = node.value
    return node, index


def has_index(table: tuple[Any, ...], index: ast.expr) -> bool:
    """Return whether a table may have an index: tuples and lists take one number at a time."""
    return isinstance(table, ArrayTable) or not isinstance(index, ast.Tuple)


def item_of(scope: KernelScope, node: ast.Subscript) -> ast.expr | None:
    """Return the item of a tuple that a subscript selects; None if that is not known."""
    base, index = indexed(node)
    name = base.id if isinstance(base, ast.Name) else ""
    if name in scope.arguments or not (name in scope.parts or isinstance(base, ast.Call)):
        return None
    found: ast.expr = base
    for part in index:
        items = sequence_items(scope, found)
        with scope.fixing():
            number = value_of(scope, part)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if items is None or not is_number or not -len(items) <= number < len(items):
            return None
        found = items[number]
    return found


def length(scope: KernelScope, node: ast.Call, name: str) -> TypedExpression | None:
    """Return the length of a sequence or of a range of the API; None for another call."""
    if name != "len" or len(node.args) != 1 or node.keywords or is_own_name(scope, name):
        return None
    if is_iterator(scope, node.args[0]):
        what = f"'{scope.text(node.args[0])}' is an iterator, which has no length."
        return scope.refuse("P051", what, node, "Write 'tuple(...)' around it.")
    base, index = indexed(node.args[0])
    local = scope.local(base.id) if isinstance(base, ast.Name) else None
    if local is not None and len(index) < len(local.shape) and not any(map(_is_slice, index)):
        return TypedExpression(local.shape[len(index)], Intrinsic.INTEGER)
    found = scope.access.length(scope, node.args[0])
    if found is not None:
        return found
    if (items := selected_items(scope, node.args[0])) is None:
        what = f"The length of '{scope.text(node.args[0])}' is not known in a kernel."
        return scope.refuse("P051", what, node, "Layers, local arrays, tables and tuples have one.")
    written_here = isinstance(node.args[0], ast.Tuple | ast.List)
    if written_here and value_of(scope, node.args[0]) is UNKNOWN_VALUE:
        # Python computes the items, which may raise an error.
        text = scope.text(node.args[0])
        what = f"The items of '{text}' are computed, but only its length is used."
        return scope.refuse("P051", what, node, f"Write {len(items)}.")
    return TypedExpression(nodes.signed_integer(len(items)), Intrinsic.INTEGER)
