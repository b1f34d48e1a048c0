"""Values in kernels in Python that are known at compile time.

A module's tables and numbers have the values that its text assigns to them. A local has the value
of its last assignment, as long as no control-flow path can have changed it. Offsets of fields,
lengths of arrays and the items of loops over tuples are such values.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from psyclone_storage.ir.affine import affine_form
from psyclone_storage.ir.expr import ArrayLiteral, Expr
from psyclone_storage.ir.intrinsics import FUNCTIONS
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.function_sources import ModuleTexts, no_modules
from psyclone_storage.languages.python.parse.functions import CallableImports, offered
from psyclone_storage.languages.python.parse.scope import ConstantArray, KernelScope
from psyclone_storage.languages.python.parse.tree import (
    PythonTree,
    left_operations,
    names_in_tree,
    read_tree,
)


class ListTable(tuple[Any, ...]):
    """The items of a list, which equals no tuple."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListTable) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, ListTable):
            raise TypeError
        return ListTable(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        raise TypeError

    def __mul__(self, count: Any) -> Any:
        return ListTable(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return ListTable(found) if isinstance(index, slice) else found


UNKNOWN_VALUE: Any = object()
"""The result where a value is not known at compile time."""
_LARGEST, _MOST_BITS, _MOST_ITEMS, _MOST_IMPORTS = 2**31 - 1, 31, 4096, 20
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Pow: operator.pow,
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Invert: operator.invert,
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda one, all_: one in all_,
    ast.NotIn: lambda one, all_: one not in all_,
}  # fmt: skip
_BUILTINS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "enumerate": lambda *args, **named: _Iterator(enumerate(*args, **named)),
    "float": float, "int": int, "len": len, "list": ListTable, "max": max, "min": min,
    "range": range, "reversed": lambda items: _Iterator(reversed(items)), "tuple": tuple,
    "zip": lambda *args: _Iterator(zip(*args, strict=False)),
}  # fmt: skip
_ARRAYS = ("array", "asarray", "float64")
_INTEGERS = ("int32", "int64", "intc", "intp")
"""NumPy integers with which Python computes as with its own."""


class _Iterator(tuple[Any, ...]):
    """The items of an iterator, for functions but not for operators."""

    __slots__ = ()

    def _fail(self, *_: object) -> Any:
        raise TypeError

    __getitem__ = __len__ = __add__ = __radd__ = __mul__ = __rmul__ = __eq__ = __ne__ = _fail
    __hash__ = None  # type: ignore[assignment]


class ArrayTable(tuple[Any, ...]):
    """The elements of a NumPy array: operators do not join or repeat them."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return the array with the elements of nested tuples; return a number unchanged."""
        return cls(map(cls.of, value)) if isinstance(value, tuple) else value


class ListItems(ast.Load):
    """Context of a tuple of expressions that represents a list."""


class ItemsOfAnyType(ast.Load):
    """Context of a tuple of expressions that may represent a list or a tuple."""


class CompileTimeValues:
    """The evaluation of expressions; `look_up` returns the value of a name."""

    def __init__(self, known: CallableImports, look_up: Callable[[str], Any]) -> None:
        self._known = known
        self._look_up = look_up

    def of(self, node: ast.expr) -> Any:
        """Return the value of an expression as CPython computes it, or `UNKNOWN_VALUE`."""
        try:
            value = self._of(node)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return UNKNOWN_VALUE
        is_iterator = isinstance(value, _Iterator)
        return value if not is_iterator and _is_usual(value) else UNKNOWN_VALUE

    def _of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                found = self._look_up(node.id)
                return self._constant(node) if found is UNKNOWN_VALUE else found
            case ast.Attribute():
                return self._constant(node)
            case ast.List() | ast.Tuple(ctx=ListItems()):
                return ListTable(map(self._needed, node.elts))
            case ast.Tuple(ctx=ItemsOfAnyType()):
                return UNKNOWN_VALUE
            case ast.Tuple():
                return tuple(map(self._needed, node.elts))
            case ast.Subscript():
                return _element(self._needed(node.value), self._needed(node.slice))
            case ast.Call():
                return self._call(node)
        return self._of_operation(node)

    def _of_operation(self, node: ast.expr) -> Any:
        match node:
            case ast.UnaryOp(op, operand):
                return _UNARY[type(op)](self._operand(operand))
            case ast.BinOp():
                return self._of_chain(list(left_operations(node)))
            case ast.Compare(left, ops, comparators):
                values = [self._operand(one) for one in (left, *map(members, comparators))]
                pairs = zip(ops, values, values[1:], strict=False)
                return all(_COMPARED[type(op)](one, other) for op, one, other in pairs)
            case ast.BoolOp(op, values=parts):
                for one in parts[:-1]:
                    if bool(value := self._operand(one)) is isinstance(op, ast.Or):
                        return value
                return self._needed(parts[-1])
            case ast.IfExp(test, body, orelse):
                return self._needed(body if self._operand(test) else orelse)
        return UNKNOWN_VALUE

    def _of_chain(self, chain: list[ast.BinOp]) -> Any:
        value = self._operand(chain[-1].left)
        for one in reversed(chain):
            value = self._operation(one.op, value, self._operand(one.right))
            if value is UNKNOWN_VALUE:
                raise ValueError
        return value

    def _needed(self, node: ast.expr) -> Any:
        value = self._of(node)
        if value is UNKNOWN_VALUE:
            raise ValueError
        return value

    def _operand(self, node: ast.expr) -> Any:
        value = self._needed(node)
        if isinstance(value, ArrayTable):
            raise TypeError  # NumPy computes element by element
        return value

    def _array(self, node: ast.Call) -> Any:
        """Return the elements of an array if its type does not change them."""
        value = ArrayTable.of(self._needed(node.args[0]))
        if not node.keywords:
            return value
        (said,) = node.keywords
        type_ = self._known.numpy.meant(said.value) or getattr(said.value, "id", "")
        is_kept = (type_ in ("float", "float64") and _types_in(value) == {float}) or (
            type_ in ("int", *_INTEGERS) and _types_in(value) == {int}
        )
        return value if said.arg == "dtype" and is_kept else UNKNOWN_VALUE

    def _constant(self, node: ast.expr) -> Any:
        found = self._known.constant(node)
        return UNKNOWN_VALUE if found is None else found

    def _operation(self, op: ast.operator, left: Any, right: Any) -> Any:
        is_wide = isinstance(op, ast.Pow | ast.LShift) and abs(right) > _MOST_BITS
        if is_wide or (
            isinstance(left, tuple) and isinstance(op, ast.Mult) and right > _MOST_ITEMS
        ):
            return UNKNOWN_VALUE
        return _BINARY[type(op)](left, right)

    def _call(self, node: ast.Call) -> Any:
        known, args = self._known, node.args
        word = known.numpy.meant(node.func)
        if word in _ARRAYS and len(args) == 1:
            return self._array(node)
        if word in _INTEGERS and len(args) == 1 and not node.keywords:
            value = self._needed(args[0])
            return value if is_int(value) else UNKNOWN_VALUE
        if (word := known.math.meant(node.func)) and hasattr(math, word) and not node.keywords:
            return getattr(math, word)(*map(self._needed, args))
        if not isinstance(node.func, ast.Name) or node.func.id in known.bound:
            return UNKNOWN_VALUE
        named = {one.arg: self._needed(one.value) for one in node.keywords if one.arg}
        function = _BUILTINS.get(node.func.id)
        if function is None or self._look_up(node.func.id) is not UNKNOWN_VALUE:
            return UNKNOWN_VALUE
        return function(*map(self._needed, args), **named)


def _types_in(value: Any) -> set[type]:
    """Return the types of the numbers in a table."""
    return {type(one) for one in _flat(value)}


def members(node: ast.expr) -> ast.expr:
    """Return a tuple in place of a set, which has members, but no order and no index."""
    if not isinstance(node, ast.Set):
        return node
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)


def is_int(value: Any) -> bool:
    """Return whether a value is an integer, which conditions are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _element(array: Any, index: Any) -> Any:
    if isinstance(index, tuple) and not isinstance(array, ArrayTable):
        raise TypeError
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(array, ArrayTable) and isinstance(part, bool):
            raise TypeError  # NumPy selects by a mask and adds a dimension
        array = array[part]
    return array


def _is_usual(value: Any) -> bool:
    """Return whether a value is one that kernels can have: a number, or a table of these."""
    if isinstance(value, tuple | range):
        return len(value) <= _MOST_ITEMS and all(map(_is_usual, value))
    if isinstance(value, bool | float):
        return True
    return isinstance(value, int) and abs(value) <= _LARGEST


def shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the extents of a table of numbers of one type; None for other values."""
    if not isinstance(value, tuple):
        return ()
    shapes = {shape_of(one) for one in value}
    if len(shapes) != 1 or None in shapes:
        return None
    (inner,) = shapes
    return None if inner is None else (len(value), *inner)


def constant_array(
    scope: KernelScope, place: ast.Subscript, table: tuple[Any, ...]
) -> ConstantArray:
    """Return a table as an array that the code has, which is declared once for each name."""
    flat = _flat(table)
    type_ = Intrinsic.INTEGER
    if any(isinstance(one, float) for one in flat):
        type_ = Intrinsic.REAL
    elif all(isinstance(one, bool) for one in flat):
        type_ = Intrinsic.LOGICAL
    if {type(one) for one in flat} not in ({bool}, {int}, {float}):
        scope.refuse("P054", "The elements of a table that is indexed have one type.", place)
    wish = _name_of_table(place)
    key = repr((type_, table, wish))
    if key not in scope.arrays:
        scope.arrays[key] = ConstantArray(scope.name_of_constant(wish), type_, table)
    return scope.arrays[key]


def _name_of_table(place: ast.expr) -> str:
    """Return the name by which messages about an index refer to a table."""
    while isinstance(place, ast.Subscript):
        place = place.value
    name = place.id.strip("_") if isinstance(place, ast.Name) and place.id.isascii() else ""
    return name if name[:1].isalpha() and name.lower() not in FUNCTIONS else "table"


def _flat(table: Any) -> list[Any]:
    if not isinstance(table, tuple):
        return [table]
    return [one for part in table for one in _flat(part)]


def declared_arrays(scope: KernelScope) -> Iterator[Declare]:
    """Yield the declarations of the tables that the code needs as arrays, first index fastest."""
    for one in scope.arrays.values():
        shape = shape_of(one.value) or ()
        values = [_at(one.value, index[::-1]) for index in product(*map(range, shape[::-1]))]
        items = tuple(_literal(scope, value) for value in values)
        made: Expr = ArrayLiteral(items)
        extents = tuple(map(nodes.signed_integer, shape))
        if len(shape) > 1:
            made = nodes.intrinsic_call("reshape", made, ArrayLiteral(extents))
        type_ = nodes.scalar_type(one.type, scope.real)
        yield Declare(one.name, type_, ("parameter",), extents, value=made)


def _at(table: Any, index: tuple[int, ...]) -> Any:
    for part in index:
        table = table[part]
    return table


def _literal(scope: KernelScope, value: float) -> Expr:
    if isinstance(value, bool):
        return nodes.truth(value)
    if isinstance(value, int):
        return nodes.signed_integer(value)
    made = nodes.real(abs(value), scope.real)
    return nodes.unary_operation(made) if _is_signed(value) else made


def written(value: Any, place: ast.expr) -> ast.expr:
    """Return a value as an expression at the place of another one."""
    if isinstance(value, tuple | range):
        of_list = ListItems() if isinstance(value, ListTable) else ast.Load()
        made: ast.expr = ast.Tuple([written(one, place) for one in value], of_list)
    elif isinstance(value, int | float) and not isinstance(value, bool) and _is_signed(value):
        made = ast.UnaryOp(ast.USub(), ast.copy_location(ast.Constant(-value), place))
    else:
        made = ast.Constant(value)
    return ast.copy_location(made, place)


def _is_signed(value: float) -> bool:
    return math.copysign(1.0, value) < 0


# ---------------------------------------------------------------------------- modules


def module_values(
    tree: PythonTree, beside: ModuleTexts = no_modules, depth: int = _MOST_IMPORTS
) -> dict[str, Any]:
    """Return the values that a module's text assigns once, outside of blocks, to names."""
    known = offered(tree)
    found: dict[str, Any] = {}
    several = _assigned_again(tree)
    values = CompileTimeValues(known, lambda name: found.get(name, UNKNOWN_VALUE))
    for node in tree.module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made = {name: values.of(value)}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                made = {name: values.of(value)}
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                made = _parts(targets, values.of(value))
            case ast.ImportFrom() if depth:
                made = _imported(tree, node, beside, depth)
            case _:
                continue
        found |= {key: one for key, one in made.items() if key not in several}
    return {key: one for key, one in found.items() if one is not UNKNOWN_VALUE}


def _parts(targets: list[ast.expr], value: Any) -> dict[str, Any]:
    names = [one.id for one in targets if isinstance(one, ast.Name)]
    is_right = isinstance(value, tuple) and len(value) == len(targets) == len(names)
    return dict(zip(names, value if is_right else [UNKNOWN_VALUE] * len(names), strict=True))


def _imported(
    tree: PythonTree, node: ast.ImportFrom, beside: ModuleTexts, depth: int
) -> dict[str, Any]:
    texts = beside("." * node.level + (node.module or ""), tree.source)
    if len(texts) != 1:
        return {}
    theirs = module_values(read_tree(texts[0]), beside, depth - 1)
    return {one.asname or one.name: theirs[one.name] for one in node.names if one.name in theirs}


def _assigned_again(tree: PythonTree) -> set[str]:
    """Return the names of a module that may have several values, or whose elements may change."""
    first: set[str] = set()
    again: set[str] = set()
    direct = {id(one) for node in tree.module.body for one in _targets(node)}
    for node in ast.walk(tree.module):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if id(node) in direct:
                again |= {name} & first
                first.add(name)
            case ast.Global(names=names):
                again |= set(names)
            case ast.AugAssign(target=ast.Name(id=name)):
                again.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                again.add(name)
    inside = {
        one.id
        for node in tree.module.body
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and id(one) not in direct
    }
    return again | inside


def _targets(node: ast.stmt) -> list[ast.AST]:
    if isinstance(node, ast.Assign):
        return [one for target in node.targets for one in ast.walk(target)]
    return [node.target] if isinstance(node, ast.AnnAssign) else []


# ---------------------------------------------------------------------------- kernels


def value_of(scope: KernelScope, node: ast.expr) -> Any:
    """Return the value of an expression in a kernel; `UNKNOWN_VALUE` if it is not known.

    Numbers of the module are read when the kernel runs; see `KernelScope.fixing`.
    """
    return CompileTimeValues(scope.offered, lambda name: _named(scope, name)).of(node)


def _named(scope: KernelScope, name: str) -> Any:
    if name in scope.literals:
        return scope.literals[name]
    if (value := scope.values.get(name)) is not None:
        is_whole = value.type is Intrinsic.INTEGER
        known = affine_form(value.expr).polynomial.known if is_whole else None
        return scope.current.get(name, UNKNOWN_VALUE) if known is None else known
    if name in scope.assigned:
        return scope.current.get(name, UNKNOWN_VALUE) if scope.has_value(name) else UNKNOWN_VALUE
    if name in scope.arguments:
        return UNKNOWN_VALUE
    found = scope.tables.get(name, UNKNOWN_VALUE)
    is_known = scope.fixes if isinstance(found, int) else not isinstance(found, float)
    return found if is_known else UNKNOWN_VALUE


def folded_condition(scope: KernelScope, node: ast.expr) -> bool | None:
    """Return a condition that depends on the iteration of an unrolled loop; None for others.

    Variables of the module have no part in it: they are read when the kernel runs.
    """
    if names_in_tree(node).isdisjoint(scope.literals):
        return None
    value = value_of(scope, node)
    return None if value is UNKNOWN_VALUE else bool(value)
