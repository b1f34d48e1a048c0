"""Local arrays of a kernel: `a = np.zeros((len(layers()), 3))`, indexed from 0.

Extents are integers known when the kernel is called: constants, arguments, and lengths of loop
ranges. Each execution of the statement sets all elements to zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import product, takewhile
from math import isfinite, prod
from typing import Any

from psyclone_storage.base.index_errors import MOST_LOCAL_ELEMENTS as _MOST
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import (
    CallFunction,
    Element,
    Expr,
    Literal,
    Name,
    integer_value,
    walk,
)
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse import promotion as precision
from psyclone_storage.languages.python.parse.array_functions import product_of
from psyclone_storage.languages.python.parse.compile_time import is_int, value_of, written
from psyclone_storage.languages.python.parse.constructs import unsupported
from psyclone_storage.languages.python.parse.expressions import read, read_number
from psyclone_storage.languages.python.parse.extremes import index_with_check
from psyclone_storage.languages.python.parse.indices import (
    from_one,
    is_within,
    is_written,
    read_index,
    refuse_negative,
)
from psyclone_storage.languages.python.parse.operations import LARGEST
from psyclone_storage.languages.python.parse.rounding_integers import as_real
from psyclone_storage.languages.python.parse.scope import (
    A_VALUE,
    UNKNOWN,
    KernelScope,
    LocalVariable,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.sequences import MOST_ITEMS, indexed, sequence_items
from psyclone_storage.languages.python.parse.weak_types import (
    DOUBLE,
    SINGLE,
    UNKNOWN_NUMBER,
    WEAK,
    Kind,
    NumberKinds,
)

_MAKES: Mapping[str, float | None] = {"zeros": 0.0, "empty": 0.0, "ones": 1.0, "full": None}
_LISTS = ("array", "asarray")
_TYPES = {"float": Intrinsic.REAL, "int": Intrinsic.INTEGER, "bool": Intrinsic.LOGICAL}
_SIZED = ("float32", "float64")
_MOST_DIMENSIONS = 7
_SHORTER = "Local arrays are on the stack of a thread: use a field, or fewer elements."
_WRITE = "Write 'a = np.zeros(extent)' or 'np.zeros((first, second), dtype=int)', or bool."


def is_array(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression creates an array."""
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return _product_rows(scope, node) is not None
        case ast.Call(func=function):
            word = scope.offered.numpy.meant(function)
            return word in _MAKES or word in _LISTS
    return _is_list(node)


def _is_list(node: ast.expr) -> bool:
    match node:
        case ast.List():
            return True
        case ast.BinOp(left=ast.List(), op=ast.Mult()) | ast.BinOp(right=ast.List(), op=ast.Mult()):
            return True
    return False


def local_array(scope: KernelScope, node: ast.Subscript) -> LocalVariable | None:
    """Return the local array that a subscript refers to, or None."""
    base, _ = indexed(node)
    found = scope.local(base.id) if isinstance(base, ast.Name) else None
    return found if found is not None and found.shape else None


def is_refused(scope: KernelScope, node: ast.Subscript) -> bool:
    """Return whether a subscript refers to a local variable without a type, due to an error."""
    base, _ = indexed(node)
    found = scope.local(base.id) if isinstance(base, ast.Name) else None
    return found is not None and found.type is None


def make_array(scope: KernelScope, node: ast.Assign) -> list[Line]:
    """Return the statements that set a new array; declare the array at its first use."""
    target = node.targets[0]
    made = _make_array(scope, node)
    if isinstance(target, ast.Name) and scope.local(target.id) is None:
        scope.locals[scope.code(target.id)] = LocalVariable(None, scope.tree.span(target))
        scope.gives_value(target.id)
    return made


def _make_array(scope: KernelScope, node: ast.Assign) -> list[Line]:
    target, call = node.targets[0], node.value
    if not isinstance(target, ast.Name):
        scope.refuse("P051", f"'{scope.text(target)}' cannot be an array.", target, _WRITE)
        return []
    word = scope.offered.numpy.meant(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or word in _LISTS:
        return _make_list(scope, node, target)
    name, call = target.id, _by_order(call, word)
    if name in scope.arguments or scope.code(name) in scope.counters:
        scope.refuse("P051", f"'{name}' cannot be an array.", target, "Give it another name.")
        return []
    value = _fill(scope, call, word)
    fill = UNKNOWN if value is None else read(scope, value)
    if value is None or fill.type is None:
        return []
    if word == "full":
        call = ast.copy_location(ast.Call(call.func, call.args[:1], call.keywords), call)
    found, shape = _type(scope, call, fill.type), _shape(scope, call)
    if found is None or not shape or not _declared(scope, node, target, (*found, shape)):
        return []
    filled = _value_of_elements(scope, value, found[0], fill)
    place = scope.tree.span(node)
    return [] if filled is None else [Assign(Name(scope.code(name)), filled, place=place)]


def _by_order(call: ast.Call, word: str) -> ast.Call:
    """Return a call with the extents and the value of the elements as arguments by order."""
    said = {one.arg: one for one in call.keywords}
    names = ("shape", "fill_value") if word == "full" else ("shape",)
    given = [*takewhile(said.__contains__, names[len(call.args) :])]
    args = [*call.args, *(said.pop(name).value for name in given)]
    return ast.copy_location(ast.Call(call.func, args, [*said.values()]), call)


def _fill(scope: KernelScope, call: ast.Call, word: str) -> ast.expr | None:
    """Return the value of all elements of a new array; None, with a note, if it is missing."""
    value = _MAKES[word]
    if value is not None:
        return written(value, call)
    if len(call.args) != len(("extent", "value")):
        scope.refuse("P051", f"'{scope.text(call)}' has no extents and value.", call, _WRITE)
        return None
    return call.args[1]


def _value_of_elements(
    scope: KernelScope, value: ast.expr, type_: Intrinsic, fill: TypedExpression
) -> Expr | None:
    """Return the value of all elements of a new array as their type has it; None if invalid."""
    known = value_of(scope, value)
    is_known = isinstance(known, int | float) and isfinite(known)
    if type_ is Intrinsic.REAL and fill.type is not Intrinsic.LOGICAL:
        return as_real(scope, fill).expr
    if is_known and type_ is Intrinsic.INTEGER and abs(known) > LARGEST:
        what = f"'{scope.text(value)}' is more than an integer in a kernel can be."
        scope.refuse("P054", what, value)
        return None
    if is_known:
        made = {
            Intrinsic.REAL: nodes.real(float(known), scope.real),
            Intrinsic.INTEGER: nodes.signed_integer(int(known)),
        }
        return made.get(type_) or nodes.truth(bool(known))
    if type_ is fill.type:
        return fill.expr
    what = f"'{scope.text(value)}' is {A_VALUE[fill.type or type_]}, and the elements are not."
    scope.refuse("P054", what, value, "Convert it, as in 'int(...)' or '... != 0.0'.")
    return None


def _declared(
    scope: KernelScope,
    node: ast.stmt,
    target: ast.Name,
    wanted: tuple[Intrinsic, ScalarType | None, tuple[Expr, ...]],
) -> bool:
    """Declare an array the first time; return whether it agrees with what is known of it."""
    type_, real, shape = wanted
    name, known = target.id, scope.local(target.id)
    if known is not None and (known.shape, known.type, known.real) != (shape, type_, real):
        what = f"'{name}' has another type or other extents elsewhere."
        scope.refuse("P054", what, node, "Give each array a name of its own.")
        return False
    others = sum(_size_of(one.shape) for one in scope.locals.values() if one.shape)
    if known is None and others + _size_of(shape) > _MOST:
        what = f"With '{name}', local arrays have more than {_MOST} elements."
        scope.refuse("P051", what, node, _SHORTER)
    if known is None:
        scope.locals[scope.code(name)] = LocalVariable(type_, scope.tree.span(target), shape, real)
    scope.current.pop(name, None)
    scope.gives_value(name)
    return True


def _make_list(scope: KernelScope, node: ast.Assign, target: ast.Name) -> list[Line]:
    """Return the assignments of the elements of a new array that are written one by one."""
    rows = _product_rows(scope, node.value) or _rows(scope, node.value)
    shape = () if rows is None else _extents(rows)
    if rows is None or not shape:
        what = f"'{scope.text(node.value)}' is no array of numbers."
        scope.refuse("P051", what, node.value, _WRITE)
        return []
    values = [read(scope, one) for one in _flat(rows)]
    types = {one.type for one in values}
    if None in types:
        return []
    if types == {Intrinsic.REAL, Intrinsic.INTEGER}:
        types = {Intrinsic.REAL}
    if len(types) != 1:
        scope.refuse("P054", "The elements of an array have one type.", node.value)
        return []
    (type_,) = types
    made = [*scope.before]
    scope.before = []
    extents = tuple(map(nodes.signed_integer, shape))
    kinds = _kinds_of_elements(scope, node.value, values)
    if type_ is Intrinsic.REAL and kinds is None:
        precision.refuse(scope, node.value)
        return []
    real = scope.real if type_ is Intrinsic.REAL else None
    if real is not None and kinds is not None and kinds.one is Kind.SINGLE:
        real = scope.single
    kept, lines = _kept_elements(scope, node, values, type_)
    scope.lists |= {target.id} if _is_list(node.value) else set()
    if type_ is None or not _declared(scope, node, target, (type_, real, extents)):
        return []
    if scope.single is not None and type_ is Intrinsic.REAL and kinds != DOUBLE:
        name = scope.code(target.id)
        scope.locals[name] = replace(scope.locals[name], kinds=kinds)
    return [*made, *lines, *_elements(scope, node, Name(scope.code(target.id)), (shape, kept))]


def _kinds_of_elements(
    scope: KernelScope, node: ast.expr, values: list[TypedExpression]
) -> NumberKinds | None:
    """Return the kinds of the elements of a new array; None for a list with several kinds.

    A list keeps the kinds of its elements. An array of NumPy has one, that of 4 bytes if all
    elements have it.
    """
    if scope.single is None:
        return WEAK
    found = {precision.kinds_of(scope, one).one for one in values}
    if found == {Kind.SINGLE}:
        return SINGLE
    if not isinstance(node, ast.List | ast.BinOp):
        return DOUBLE
    if found == {Kind.WEAK}:
        return UNKNOWN_NUMBER
    return DOUBLE if found == {Kind.DOUBLE} else None


def _elements(
    scope: KernelScope, node: ast.stmt, array: Name, content: tuple[tuple[int, ...], list[Expr]]
) -> Iterator[Line]:
    """Yield the assignments of the elements of an array, given its extents and the elements."""
    shape, kept = content
    for index, expr in zip(product(*map(range, shape)), kept, strict=True):
        at = tuple(nodes.signed_integer(part + 1) for part in index)
        yield Assign(Element(array, at), expr, place=scope.tree.span(node))


def _kept_elements(
    scope: KernelScope, node: ast.stmt, values: list[TypedExpression], type_: Intrinsic | None
) -> tuple[list[Expr], list[Line]]:
    """Return the elements of an array as locals, which are computed before it is assigned."""
    kept: list[Expr] = []
    made: list[Line] = []
    for value in values:
        expr = as_real(scope, value).expr if type_ is Intrinsic.REAL else value.expr
        if not isinstance(expr, Literal):
            local = scope.fresh("element", type_, scope.tree.span(node), _real_of(scope, value))
            made.append(Assign(local, expr, place=scope.tree.span(node)))
            expr = local
        kept.append(expr)
    return kept, made


def _real_of(scope: KernelScope, value: TypedExpression) -> ScalarType:
    """Return the type of a real that is stored before an array is assigned."""
    return precision.of_elements(scope, value) or scope.real


Rows = list[Any]
"""Elements, or rows of elements."""


def _rows(scope: KernelScope, node: ast.expr) -> Rows | None:
    """Return the elements of a list that is written out, or of a list of lists."""
    match node:
        case ast.Call(args=[inner], keywords=[]):
            return _rows(scope, inner)
        case (
            ast.BinOp(left=ast.List() as items, op=ast.Mult(), right=by)
            | ast.BinOp(left=by, op=ast.Mult(), right=ast.List() as items)
        ):
            with scope.fixing():
                count = value_of(scope, by)
            one = sequence_items(scope, items)
            if not is_int(count) or one is None or not 0 < count * len(one) <= MOST_ITEMS:
                return None
            return [*one] * count
    found = sequence_items(scope, node)
    if found is None:
        return None
    rows = [_rows(scope, one) if isinstance(one, ast.List | ast.Tuple) else one for one in found]
    return None if None in rows else rows


def _product_rows(scope: KernelScope, node: ast.expr) -> Rows | None:
    """Return the elements of the product of a matrix and a vector; None for other values."""
    match node:
        case ast.BinOp(left, ast.MatMult(), right):
            rows = sequence_items(scope, left)
            if rows is None or not all(sequence_items(scope, row) for row in rows):
                return None
            made = [product_of(scope, row, right) for row in rows]
            return None if None in made else [*made]
    return None


def _extents(rows: Rows) -> tuple[int, ...]:
    """Return the extents of an array; nothing if its rows differ in length."""
    inner = {_extents(one) if isinstance(one, list) else () for one in rows}
    if len(inner) != 1 or (any(isinstance(one, list) for one in rows) and inner == {()}):
        return ()
    return (len(rows), *inner.pop())


def _flat(rows: Rows) -> list[ast.expr]:
    return [part for one in rows for part in (_flat(one) if isinstance(one, list) else [one])]


def _type(
    scope: KernelScope, call: ast.Call, usual: Intrinsic | None
) -> tuple[Intrinsic, ScalarType | None] | None:
    """Return the element type of a new array; record an error and return None if invalid."""
    said = call.keywords[0].value if call.keywords else None
    if len(call.keywords) > 1 or (call.keywords and call.keywords[0].arg != "dtype"):
        what = f"'{scope.text(call.keywords[-1])}' is no argument for arrays of kernels."
        scope.refuse("P051", what, call.keywords[-1], _WRITE)
        return None
    if said is None and usual is not None:
        return usual, scope.real if usual is Intrinsic.REAL else None
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
        what = f"'{scope.text(call.keywords[0])}' is no argument for arrays of kernels."
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
    shape = tuple(one for one in found if one is not None)
    if _size_of(shape) > _MOST:
        scope.refuse(
            "P051", f"'{scope.text(call)}' has more than {_MOST} elements.", said, _SHORTER
        )
        return ()
    return shape if len(shape) == len(found) else ()


def _size_of(shape: tuple[Expr, ...]) -> int:
    """Return the number of elements of an array, with 1 for each unknown extent."""
    return prod(value or 1 for one in shape if (value := integer_value(one)) is not None)


def _extent(scope: KernelScope, part: ast.expr) -> Expr | None:
    found = read_number(scope, part)
    if found.type is None:
        return None
    value = integer_value(found.expr)
    known = is_known_where_called(scope, found.expr)
    if found.type is not Intrinsic.INTEGER or not known or (value is not None and value < 0):
        what = f"'{scope.text(part)}' is no extent that is known where the kernel is called."
        hint = "Write integers, arguments, or lengths as 'len(layers())'."
        scope.refuse("P054", what, part, hint)
        return None
    return found.expr


def is_known_where_called(scope: KernelScope, extent: Expr) -> bool:
    """Return whether an extent contains only read-only scalar arguments and constants."""
    scalars = (name for name, one in scope.passed.items() if not (one.rank or one.access.writes))
    known = {name.lower() for name in scalars}
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
    kinds = local.kinds if local.type is Intrinsic.REAL else None
    # A list keeps the kind of what is assigned to its elements.
    if kinds is not None and precision.kinds_of(scope, value).one is not kinds.one:
        precision.refuse(scope, node)
        return None
    base, _ = indexed(node)
    if not scope.is_free(ast.copy_location(ast.Subscript(base, node.slice, ast.Store()), node)):
        return None
    return found


def _element(scope: KernelScope, node: ast.Subscript, local: LocalVariable) -> Expr | None:
    base, _ = indexed(node)
    name = base.id if isinstance(base, ast.Name) else ""
    if not scope.has_value(name):
        what = f"'{name}' may have no value here."
        scope.refuse("P053", what, node, "Make it on every way that leads here.")
        return None
    _, parts = indexed(node)
    if sliced := [part for part in parts if isinstance(part, ast.Slice)]:
        scope.refuse("P051", unsupported(sliced[0]), sliced[0], "Write a loop over the elements.")
        return None
    if len(parts) != len(local.shape):
        what = f"'{name}' has {len(local.shape)} dimensions, not {len(parts)}."
        scope.refuse("P051", what, node, "Write a number for each.")
        return None
    index = [_index(scope, part, extent, name)
             for part, extent in zip(parts, local.shape, strict=True)]  # fmt: skip
    known = [one for one in index if one is not None]
    return (
        Element(Name(scope.code(name)), tuple(map(from_one, known)))
        if len(known) == len(index)
        else None
    )


def _index(scope: KernelScope, part: ast.expr, extent: Expr, name: str) -> Expr | None:
    """Return a part of an index, counted from 0; None, with a note, if it is out of range."""
    with scope.fixing():
        known, most = value_of(scope, part), integer_value(extent)
    if scope.literals and is_int(known) and most is not None:
        if not -most <= known < most:
            what = f"'{scope.text(part)}' is out of range: '{name}' has {most} elements."
            scope.refuse("P051", what, part)
            return None
        return nodes.signed_integer(known % most)
    if is_int(known) and known < 0 and scope.certain is not None:
        refuse_negative(scope, part)
        return None
    at = read_index(scope, part)
    if at is None:
        return None
    value = integer_value(at)
    if is_written(part) and value is not None and most is not None and value >= most:
        what = f"'{scope.text(part)}' is behind the last element of '{name}'."
        scope.refuse("P051", what, part, f"It has {most}, counted from 0.")
        return None
    return index_with_check(at, extent) if is_within(scope, part, at, extent) else None
