"""Local arrays of a kernel: `a = np.zeros((len(layers()), 3))`, indexed from 0.

Extents are integers known when the kernel is called: constants, arguments, and lengths of loop
ranges. Each execution of the statement sets all elements to zero.
"""

from __future__ import annotations

import ast

from psyclone_storage.ir.expr import CallFunction, Element, Expr, Name, integer_value, walk
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.expressions import read_number
from psyclone_storage.languages.python.parse.indices import (
    from_one,
    is_within,
    is_written,
    read_index,
)
from psyclone_storage.languages.python.parse.scope import (
    UNKNOWN,
    KernelScope,
    LocalVariable,
    TypedExpression,
)

_MAKES = "zeros"
_TYPES = {"float": Intrinsic.REAL, "int": Intrinsic.INTEGER, "bool": Intrinsic.LOGICAL}
_SIZED = ("float32", "float64")
_MOST_DIMENSIONS = 7
_WRITE = "Write 'a = np.zeros(extent)' or 'np.zeros((first, second), dtype=int)', or bool."


def is_array(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression creates an array."""
    return isinstance(node, ast.Call) and scope.offered.numpy.meant(node.func) == _MAKES


def local_array(scope: KernelScope, node: ast.Subscript) -> LocalVariable | None:
    """Return the local array that a subscript refers to, or None."""
    found = scope.local(node.value.id) if isinstance(node.value, ast.Name) else None
    return found if found is not None and found.shape else None


def make_array(scope: KernelScope, node: ast.Assign) -> list[Line]:
    """Return the statement that sets a new array to zero; declare the array at its first use."""
    target, call = node.targets[0], node.value
    if not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
        scope.refuse("P051", f"'{scope.text(target)}' cannot be an array.", target, _WRITE)
        return []
    name = target.id
    if not scope.access.has_arrays:
        what = "A kernel for a point has no arrays of its own."
        scope.refuse("P051", what, node, "Write a local for each number.")
        return []
    if name in scope.arguments or scope.code(name) in scope.counters:
        scope.refuse("P051", f"'{name}' cannot be an array.", target, "Give it another name.")
        return []
    found, shape = _type(scope, call), _shape(scope, call)
    if found is None or not shape:
        return []
    type_, real = found
    known = scope.local(name)
    if known is not None and (known.shape, known.type, known.real) != (shape, type_, real):
        what = f"'{name}' has another type or other extents elsewhere."
        scope.refuse("P054", what, node, "Give each array a name of its own.")
        return []
    if known is None:
        scope.locals[scope.code(name)] = LocalVariable(type_, scope.tree.span(target), shape, real)
    scope.gives_value(name)
    zero = {
        Intrinsic.REAL: nodes.real(0.0, scope.real),
        Intrinsic.INTEGER: nodes.signed_integer(0),
    }
    value = zero.get(type_, nodes.truth(False))
    return [Assign(Name(scope.code(name)), value, place=scope.tree.span(node))]


def _type(scope: KernelScope, call: ast.Call) -> tuple[Intrinsic, ScalarType | None] | None:
    """Return the element type of a new array; record an error and return None if invalid."""
    said = call.keywords[0].value if call.keywords else None
    if len(call.keywords) > 1 or (call.keywords and call.keywords[0].arg != "dtype"):
        what = f"'{scope.text(call.keywords[-1])}' says nothing of an array of a kernel."
        scope.refuse("P051", what, call.keywords[-1], _WRITE)
        return None
    word = "float" if said is None else scope.text(said)
    sized = "" if said is None else scope.offered.numpy.meant(said)
    if sized in _SIZED and word not in _TYPES:
        is_single = sized == _SIZED[0]
        if not is_single or scope.single is not None:
            return Intrinsic.REAL, scope.single if is_single else scope.real
        what = f"'{word}' is of single precision, in which this kernel has no data."
        scope.refuse("P051", what, call.keywords[0], _WRITE)
        return None
    type_ = _TYPES.get(word)
    if type_ is None:
        what = f"'{scope.text(call.keywords[0])}' says nothing of an array of a kernel."
        scope.refuse("P051", what, call.keywords[0], _WRITE)
        return None
    return type_, scope.real if type_ is Intrinsic.REAL else None


def _shape(scope: KernelScope, call: ast.Call) -> tuple[Expr, ...]:
    """Return the extents of a new array; record an error and return () if they are unknown."""
    if len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        scope.refuse("P051", f"'{scope.text(call)}' has no extents.", call, _WRITE)
        return ()
    said = call.args[0]
    parts = said.elts if isinstance(said, ast.Tuple | ast.List) else [said]
    if not 0 < len(parts) <= _MOST_DIMENSIONS:
        what = f"An array of a kernel has one to {_MOST_DIMENSIONS} dimensions."
        scope.refuse("P051", what, said, _WRITE)
        return ()
    found = [_extent(scope, part) for part in parts]
    return tuple(one for one in found if one is not None) if None not in found else ()


def _extent(scope: KernelScope, part: ast.expr) -> Expr | None:
    read = read_number(scope, part)
    if read.type is None:
        return None
    value = integer_value(read.expr)
    known = is_known_where_called(scope, read.expr)
    if read.type is not Intrinsic.INTEGER or not known or (value is not None and value < 0):
        what = f"'{scope.text(part)}' is no extent that is known where the kernel is called."
        hint = "Write whole numbers, arguments, or lengths as 'len(layers())'."
        scope.refuse("P054", what, part, hint)
        return None
    return read.expr


def is_known_where_called(scope: KernelScope, extent: Expr) -> bool:
    """Return whether an extent contains only read-only arguments and constants."""
    known = {name.lower() for name, one in scope.passed.items() if not one.access.writes}
    constants = {name.lower() for name in (*scope.used, scope.real.kind or "")}
    return not names_in(extent) - _functions(extent) - known - constants


def _functions(expr: Expr) -> frozenset[str]:
    """Return the names of the intrinsic functions in an expression."""
    return frozenset(
        part.base.key
        for part in walk(expr)
        if isinstance(part, CallFunction) and isinstance(part.base, Name)
    )


# ---------------------------------------------------------------------------- elements


def read_element(scope: KernelScope, node: ast.Subscript, local: LocalVariable) -> TypedExpression:
    """Return an array element as a typed expression."""
    found = _element(scope, node, local)
    return UNKNOWN if found is None else TypedExpression(found, local.type)


def written_element(
    scope: KernelScope, node: ast.Subscript, local: LocalVariable, value: TypedExpression
) -> Expr | None:
    """Return an assigned array element; record an error and return None if that is illegal."""
    found = _element(scope, node, local)
    wanted = local.type or Intrinsic.REAL
    if found is None or not scope.accepts(node, scope.text(node.value), wanted, value):
        return None
    if not scope.is_free(node):
        return None
    return found


def _element(scope: KernelScope, node: ast.Subscript, local: LocalVariable) -> Expr | None:
    name = scope.text(node.value)
    if not scope.has_value(name):
        what = f"'{name}' may have no value here."
        scope.refuse("P053", what, node, "Make it on every way that leads here.")
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) != len(local.shape):
        what = f"'{name}' has {len(local.shape)} dimensions, not {len(parts)}."
        scope.refuse("P051", what, node, "Write a number for each.")
        return None
    index = [read_index(scope, part) for part in parts]
    for part, at, extent in zip(parts, index, local.shape, strict=True):
        value, most = integer_value(at) if at is not None else None, integer_value(extent)
        if is_written(part) and value is not None and most is not None and value >= most:
            what = f"'{scope.text(part)}' is behind the last element of '{name}'."
            scope.refuse("P051", what, part, f"It has {most}, counted from 0.")
            return None
        if at is not None and not is_within(scope, part, at, extent):
            return None
    known = [one for one in index if one is not None]
    return (
        Element(Name(scope.code(name)), tuple(map(from_one, known)))
        if len(known) == len(index)
        else None
    )
