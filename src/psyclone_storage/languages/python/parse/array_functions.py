"""Functions of local arrays, and functions that are written with operators, as expressions.

A sum adds the elements from the first to the last, as does a dot product.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import reduce

from psyclone_storage.languages.python.parse.scope import KernelScope
from psyclone_storage.languages.python.parse.sequences import sequence_items

Items = list[ast.expr]


def as_operations(scope: KernelScope, node: ast.Call) -> ast.expr | None:
    """Return a call as an expression of operators and other functions; None for other calls."""
    made = _of_array(scope, node) or _of_number(scope, node)
    return None if made is None else _placed(made, node)


def product_of(scope: KernelScope, left: ast.expr, right: ast.expr) -> ast.expr | None:
    """Return the dot product of two sequences of one length; None for anything else."""
    first, second = sequence_items(scope, left), sequence_items(scope, right)
    if not first or not second or len(first) != len(second):
        return None
    pairs = zip(first, second, strict=True)
    return _placed(_joined(ast.Add, [ast.BinOp(*_times(one, other)) for one, other in pairs]), left)


def is_tuple(scope: KernelScope, node: ast.expr) -> bool:
    """Return whether an expression is certainly a tuple or a written list."""
    is_variable = isinstance(node, ast.Name) and node.id in scope.parts
    return is_variable or isinstance(node, ast.Tuple | ast.List)


def _times(one: ast.expr, other: ast.expr) -> tuple[ast.expr, ast.operator, ast.expr]:
    return one, ast.Mult(), other


def _placed(made: ast.expr, place: ast.expr) -> ast.expr:
    """Return an expression whose new parts are at the place of another one."""
    for one in ast.walk(made):
        if isinstance(one, ast.expr) and not hasattr(one, "lineno"):
            ast.copy_location(one, place)
    return made


def _joined(op: type[ast.operator], items: Items) -> ast.expr:
    return reduce(lambda first, second: ast.BinOp(first, op(), second), items)


# ---------------------------------------------------------------------------- arrays


def _of_array(scope: KernelScope, node: ast.Call) -> ast.expr | None:
    """Return a function of all elements of arrays, as `np.sum(a)` or `a.sum()`."""
    word, args = scope.offered.numpy.meant(node.func), node.args
    match node.func:
        case ast.Attribute(ast.Name(id=name) as array, attr) if scope.local(name) is not None:
            word, args = attr, [array, *args]
        case ast.Name(id="max" | "min" as word) if len(args) == 1 and not _is_own(scope, word):
            items = sequence_items(scope, args[0])
            return ast.Call(node.func, items, []) if items and len(items) > 1 else None
    if node.keywords or (word not in _OF_ARRAYS and word not in ("dot", "inner")):
        return None
    if word in ("dot", "inner"):
        return product_of(scope, args[0], args[1]) if len(args) == len(("a", "b")) else None
    items = sequence_items(scope, args[0]) if len(args) == 1 else None
    return _OF_ARRAYS[word](scope, items) if items else None


def _is_own(scope: KernelScope, name: str) -> bool:
    return name in scope.offered.bound or name in scope.assigned or name in scope.arguments


def _extreme(word: str) -> Callable[[KernelScope, Items], ast.expr | None]:
    def made(scope: KernelScope, items: Items) -> ast.expr | None:
        def larger(first: ast.expr, second: ast.expr) -> ast.expr:
            return ast.Call(_of_numpy(scope, word), [first, second], [])

        return reduce(larger, items) if scope.offered.numpy.modules else None

    return made


def _of_numpy(scope: KernelScope, word: str) -> ast.expr:
    module = scope.offered.numpy.modules[0]
    return ast.Attribute(ast.Name(module, ast.Load()), word, ast.Load())


def _mean(_scope: KernelScope, items: Items) -> ast.expr:
    return ast.BinOp(_joined(ast.Add, items), ast.Div(), ast.Constant(len(items)))


_OF_ARRAYS: Mapping[str, Callable[[KernelScope, Items], ast.expr | None]] = {
    "sum": lambda _, items: _joined(ast.Add, items),
    "prod": lambda _, items: _joined(ast.Mult, items),
    "mean": _mean,
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
}


# ---------------------------------------------------------------------------- numbers


def _of_number(scope: KernelScope, node: ast.Call) -> ast.expr | None:
    known = scope.offered
    word = known.math.meant(node.func) or known.numpy.meant(node.func)
    match node.func, node.args:
        case ast.Name(id="float"), [ast.Constant(value=str(text))] if not _is_own(scope, "float"):
            return ast.Constant(float(text)) if _is_number(text) else None
    if node.keywords or len(node.args) != _ARGUMENTS.get(word):
        return None
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


def _is_infinite(value: ast.expr, op: ast.cmpop) -> ast.expr:
    size = ast.Call(ast.Name("abs", ast.Load()), [value], [])
    return ast.Compare(size, [op], [ast.Constant(math.inf)])


_OF_NUMBERS: Mapping[str, Callable[[ast.expr], ast.expr]] = {
    "isnan": lambda x: ast.Compare(x, [ast.NotEq()], [x]),
    "isinf": lambda x: _is_infinite(x, ast.Eq()),
    "isfinite": lambda x: _is_infinite(x, ast.Lt()),
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
