"""Functions of local arrays, and functions that are written with operators, as expressions.

A sum adds the elements from the first to the last, as does a dot product. Functions of arrays whose
extents are known only at run time become loops before the current statement.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TypeVar

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.affine import difference
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.constructs import is_unsupported, unsupported
from psyclone_storage.languages.python.parse.scope import (
    KernelScope,
    LocalVariable,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.sequences import (
    indexed,
    is_own_name,
    selected_items,
    sequence_items,
)

Items = list[ast.expr]
Code = TypeVar("Code", ast.expr, ast.stmt)
_OF_KNOWN = (
    "Functions of arrays take a local array, a row of one, a table or a tuple, also with a slice"
    " with constant bounds. Write a loop over anything else."
)


def as_operations(scope: KernelScope, node: ast.Call) -> ast.expr | TypedExpression | None:
    """Return a call as an expression of operators and other functions; None for other calls.

    A function of something that is no known array is an error, as is a construct in its place.
    """
    if is_unsupported(node.func):
        return scope.refuse("P051", unsupported(node.func), node.func)
    called = _array_call(scope, node)
    if called is None:
        made = _of_number(scope, node)
        return _placed(made, node) if isinstance(made, ast.expr) else made
    result = _of_array(scope, called) or _by_loop(scope, called)
    if result is not None:
        return _placed(result, node)
    what = f"'{scope.text(node)}' is not supported in kernels."
    return scope.refuse("P051", what, node, _OF_KNOWN)


def product_of(scope: KernelScope, left: ast.expr, right: ast.expr) -> ast.expr | None:
    """Return the dot product of two sequences of one length; None for anything else."""
    call = _ArrayCall("dot", left, [left, right])
    first, second = selected_items(scope, left), selected_items(scope, right)
    if not first or not second or len(first) != len(second):
        made = _by_loop(scope, call)
    else:
        products: Items = [ast.BinOp(*_times(*one)) for one in zip(first, second, strict=True)]
        made = reduce(partial(_combined, scope, call), products)
    return None if made is None else _placed(made, left)


def _times(one: ast.expr, other: ast.expr) -> tuple[ast.expr, ast.operator, ast.expr]:
    return one, ast.Mult(), other


def _placed(made: Code, place: ast.expr) -> Code:
    """Return code whose new parts are at the place of an expression."""
    for one in ast.walk(made):
        if isinstance(one, ast.expr | ast.stmt) and not hasattr(one, "lineno"):
            ast.copy_location(one, place)
    return made


# ---------------------------------------------------------------------------- arrays


@dataclass(frozen=True, slots=True)
class _ArrayCall:
    """Call of a function of all elements of arrays.

    - `builtin`: the called name if the function is one of Python, as `max(a)`.
    """

    word: str
    place: ast.expr
    arrays: list[ast.expr]
    builtin: ast.expr | None = None


def _array_call(scope: KernelScope, node: ast.Call) -> _ArrayCall | None:
    """Return a call of a function of arrays, as `np.sum(a)` or `a.sum()`; None for other calls."""
    word, args = scope.offered.numpy.meant(node.func), node.args
    match node.func:
        case ast.Attribute(array, attr) if _is_of_array(scope, array):
            word, args = attr, [array, *args]
        case ast.Name(id="max" | "min" as name) if len(args) == 1 and not is_own_name(scope, name):
            return _ArrayCall(name, node, [] if node.keywords else args, node.func)
    if word not in _OF_ARRAYS:
        return None
    return _ArrayCall(word, node, [] if node.keywords else args)


def _is_of_array(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression is a local array, or a part of one, but no list."""
    base, _ = indexed(node)
    if not isinstance(base, ast.Name) or base.id in scope.lists:
        return False
    return scope.local(base.id) is not None


def _of_array(scope: KernelScope, call: _ArrayCall) -> ast.expr | None:
    """Return a function of arrays whose elements are known one by one."""
    if call.word in _PRODUCTS:
        return product_of(scope, *call.arrays) if len(call.arrays) == len(("a", "b")) else None
    items = selected_items(scope, call.arrays[0]) if len(call.arrays) == 1 else None
    if not items or not _is_offered(scope, call):
        return None
    if call.builtin is not None:
        return ast.Call(call.builtin, items, []) if len(items) > 1 else None
    items = _elements_of(scope, ast.Tuple(items, ast.Load()))
    if not items:
        return None
    result = reduce(partial(_combined, scope, call), items)
    return _completed(call, result, ast.Constant(len(items)))


def _is_offered(scope: KernelScope, call: _ArrayCall) -> bool:
    """Return whether a kernel can call all that a function consists of."""
    is_numpy = call.word in _EXTREMES and call.builtin is None
    return not is_numpy or bool(scope.offered.numpy.modules)


def _combined(scope: KernelScope, call: _ArrayCall, first: ast.expr, second: ast.expr) -> ast.expr:
    """Return what a function makes of its result so far and the next element."""
    if call.word in _EXTREMES:
        function = call.builtin or _of_numpy(scope, _EXTREMES[call.word])
        return ast.Call(function, [first, second], [])
    return ast.BinOp(first, ast.Mult() if call.word == "prod" else ast.Add(), second)


def _completed(call: _ArrayCall, result: ast.expr, count: ast.expr) -> ast.expr:
    """Return a result divided by the number of elements if the mean is called for."""
    if call.word != "mean":
        return result
    mean = ast.BinOp(result, ast.Div(), count)
    if isinstance(count, ast.Constant):
        return mean
    # Python raises an error for a division of numbers by 0, and NumPy does not.
    return ast.IfExp(
        ast.Compare(count, [ast.Gt()], [ast.Constant(0)]), mean, ast.Constant(math.nan)
    )


def _elements_of(scope: KernelScope, item: ast.expr) -> Items:
    """Return the elements of a row of an array, or an item itself; none if they are unknown."""
    if isinstance(item, ast.Tuple):
        sizes = {len(one.elts) if isinstance(one, ast.Tuple) else 0 for one in item.elts}
        elements = [part for one in item.elts for part in _elements_of(scope, one)]
        return elements if len(sizes) == 1 else []
    base, index = indexed(item)
    local = scope.local(base.id) if isinstance(base, ast.Name) else None
    if local is None or len(index) >= len(local.shape):
        return [item]
    rows = sequence_items(scope, item) or []
    return [part for one in rows for part in _elements_of(scope, one)]


def _by_loop(scope: KernelScope, call: _ArrayCall) -> ast.expr | None:
    """Return a function of whole local arrays, which loops before this statement compute.

    The arrays of a product have the same extent and type, and extremes have no start.
    """
    is_product = call.word in _PRODUCTS
    names = [one.id if isinstance(one, ast.Name) else "" for one in call.arrays]
    found = [one for one in map(scope.local, names) if one is not None and one.shape]
    if len(found) != 1 + is_product or len(names) != len(found) or not _is_offered(scope, call):
        return None
    if scope.helpers is None or is_own_name(scope, "range"):
        return None
    first, last = found[0], found[-1]
    takes_rows = not is_product and call.builtin is None
    if (
        first.type not in (Intrinsic.REAL, Intrinsic.INTEGER)
        or (first.type, first.real) != (last.type, last.real)
        or (not takes_rows and {len(one.shape) for one in found} != {1})
        or difference(first.shape[0], last.shape[0]) != 0
    ):
        return None
    return _looped(scope, call, first)


def _looped(scope: KernelScope, call: _ArrayCall, array: LocalVariable) -> ast.expr:
    """Return the result of loops over all elements of arrays with the shape of `array`."""
    place = call.place
    local = scope.fresh(
        f"{call.word}_of_array", array.type, scope.tree.span(place), array.real, array.kinds
    )
    result = scope.alias(local.text, place)
    counters = [scope.alias(scope.fresh_name("element"), place) for _ in array.shape]
    extents = _names_of(scope, local, array.shape)
    elements = [ast.Subscript(one, _index(counters), ast.Load()) for one in call.arrays]
    added = elements[0] if len(elements) == 1 else ast.BinOp(*_times(*elements))
    body = _assigned(result, _combined(scope, call, result, added))
    for counter, extent in zip(counters[::-1], extents[::-1], strict=True):
        bounds = ast.Call(ast.Name("range", ast.Load()), [extent], [])
        body = ast.For(_stored(counter), bounds, [body], [])
    statements = [*_start(scope, call, (local, result), array), body]
    if scope.helpers is not None:
        scope.helpers.put_before(scope, [_placed(one, place) for one in statements])
    count = reduce(lambda one, other: ast.BinOp(*_times(one, other)), extents)
    return _completed(call, result, count)


def _names_of(scope: KernelScope, result: Name, shape: Sequence[Expr]) -> Items:
    """Return names of the extents of an array for the loops that compute a result."""
    names = [f"extent {number} of {result.text}" for number in range(len(shape))]
    sizes = (TypedExpression(one, Intrinsic.INTEGER) for one in shape)
    scope.values = {**scope.values, **dict(zip(names, sizes, strict=True))}
    return [ast.Name(one, ast.Load()) for one in names]


def _start(
    scope: KernelScope, call: _ArrayCall, result: tuple[Name, ast.expr], array: LocalVariable
) -> list[ast.stmt]:
    """Return the first assignment of a result: extremes start with an element.

    Sums and products start with a number, and thus have a value for arrays without elements.
    """
    local, alias = result
    if call.word in _EXTREMES:
        zeros = _index([ast.Constant(0) for _ in array.shape])
        return [_assigned(alias, ast.Subscript(call.arrays[0], zeros, ast.Load()))]
    first = int(call.word == "prod")
    number = nodes.signed_integer(first)
    if array.type is Intrinsic.REAL:
        number = nodes.real(float(first), array.real or scope.real)
    scope.before.append(Assign(local, number, place=scope.tree.span(call.place)))
    return []


def _assigned(target: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([_stored(target)], value)


def _stored(name: ast.expr) -> ast.expr:
    return ast.Name(ast.unparse(name), ast.Store())


def _index(parts: Items) -> ast.expr:
    return ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]


def _of_numpy(scope: KernelScope, word: str) -> ast.expr:
    module = scope.offered.numpy.modules[0]
    return ast.Attribute(ast.Name(module, ast.Load()), word, ast.Load())


_EXTREMES: Mapping[str, str] = {"max": "maximum", "min": "minimum"}
_PRODUCTS = ("dot", "inner")
_OF_ARRAYS = ("sum", "prod", "mean", *_EXTREMES, *_PRODUCTS)


# ---------------------------------------------------------------------------- numbers


def _of_number(scope: KernelScope, node: ast.Call) -> ast.expr | TypedExpression | None:
    known = scope.offered
    word = known.math.meant(node.func) or known.numpy.meant(node.func)
    match node.func, node.args:
        case ast.Name(id="float"), [ast.Constant(value=str(text))] if not is_own_name(
            scope, "float"
        ):
            return ast.Constant(float(text)) if _is_number(text) else None
    if word not in _ARGUMENTS:
        return None
    if node.keywords or len(node.args) != _ARGUMENTS[word]:
        noun = "argument" if _ARGUMENTS[word] == 1 else "arguments"
        what = f"'{scope.text(node.func)}' takes {_ARGUMENTS[word]} {noun} by order."
        return scope.refuse("P051", what, node)
    if word == "clip" and known.numpy.modules:
        value, least, most = node.args
        inner = ast.Call(_of_numpy(scope, "maximum"), [value, least], [])
        return ast.Call(_of_numpy(scope, "minimum"), [inner, most], [])
    return _OF_NUMBERS[word](node.args[0]) if word in _OF_NUMBERS else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_finite(value: ast.expr) -> ast.expr:
    ends = [ast.UnaryOp(ast.USub(), ast.Constant(math.inf)), ast.Constant(math.inf)]
    return ast.Compare(ends[0], [ast.Lt(), ast.Lt()], [value, ends[1]])


def _is_infinite(value: ast.expr) -> ast.expr:
    is_number = ast.Compare(value, [ast.Eq()], [value])
    return ast.BoolOp(ast.And(), [is_number, ast.UnaryOp(ast.Not(), _is_finite(value))])


_OF_NUMBERS: Mapping[str, Callable[[ast.expr], ast.expr]] = {
    "isnan": lambda x: ast.Compare(x, [ast.NotEq()], [x]),
    "isinf": _is_infinite,
    "isfinite": _is_finite,
    "square": lambda x: ast.BinOp(x, ast.Mult(), x),
    **dict.fromkeys(
        ("degrees", "rad2deg"),
        lambda x: ast.BinOp(x, ast.Mult(), ast.Constant(180.0 / math.pi)),
    ),
    **dict.fromkeys(
        ("radians", "deg2rad"),
        lambda x: ast.BinOp(x, ast.Mult(), ast.Constant(math.pi / 180.0)),
    ),
}
_ARGUMENTS = {**dict.fromkeys(_OF_NUMBERS, 1), "clip": 3}
