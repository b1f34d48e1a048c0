"""Parsing of `invoke(...)` in Python: calls, arguments and name, with locations.

Only the syntax is parsed. An argument is a variable with attributes and indices, or arithmetic on
numbers. A function call in an argument is an error, because it may have side effects. Constant
arithmetic is evaluated by Python's rules: `7 / 2` is 3.5.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import MAX_FORTRAN_NAME, did_you_mean
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import ParsedArgument, ParsedCall, routine_name
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.indices import from_one
from psyclone_storage.languages.python.parse.tree import PythonTree

_NAME = regex(r"[A-Za-z]\w*", re.ASCII)
_CALL_FORM = "Write a kernel with its arguments: 'kernel(field)'."
_SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
}  # fmt: skip
_COMPUTED: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}  # fmt: skip
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
_LARGEST = 2**31 - 1
_MOST_BITS = 1024


@dataclass(slots=True)
class InvokeReader:
    """Parser for the invokes of one file.

    - `real`: the type of real numbers.

    - `problems`: errors in all invokes.

    - `from_one`: convert indices in arguments from 0-based to 1-based.

    - `keeps_all`: keep an invalid argument as text, because its value is known elsewhere.
    """

    tree: PythonTree
    real: ScalarType
    problems: list[Diagnostic]
    from_one: bool = False
    keeps_all: bool = False

    def label(self, node: ast.Call) -> tuple[str | None, Span | None]:
        """Return the name given to an invoke, and its location."""
        found: tuple[str | None, Span | None] = None, None
        for keyword in node.keywords:
            place = self.tree.span(keyword.value)
            if keyword.arg != "name":
                self._refuse_keyword(keyword)
                continue
            value = keyword.value
            if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
                hint = f'Write name="{place.text}".' if _NAME.fullmatch(place.text) else ""
                self._refuse("P023", "The name of an invoke must be a string.", place, hint)
                continue
            label = value.value.strip()
            if self._is_name(label, place):
                found = label, place
        return found

    def calls(self, node: ast.Call) -> Iterator[ParsedCall]:
        """Yield the calls in an invoke."""
        if not node.args:
            self._refuse("P020", "This invoke calls nothing.", self.tree.span(node), _CALL_FORM)
        written: dict[str, tuple[str, Span]] = {}
        for item in node.args:
            place = self.tree.span(item)
            if not isinstance(item, ast.Call) or not isinstance(item.func, ast.Name):
                message = f"'{place.text}' is not a call of a kernel or a built-in."
                self._refuse("P021", message, place, _CALL_FORM)
                continue
            for keyword in item.keywords:
                message = f"'{item.func.id}' takes no arguments by keyword."
                hint = "Give the arguments in the order of the kernel's metadata."
                self._refuse("P028", message, self.tree.span(keyword), hint)
            args = tuple(self._arguments(item, item.func.id, written))
            yield ParsedCall(item.func.id, self.tree.span(item.func), args, place)

    def _arguments(
        self, call: ast.Call, name: str, written: dict[str, tuple[str, Span]]
    ) -> Iterator[ParsedArgument]:
        for node in call.args:
            place = self.tree.span(node)
            is_computed = _is_computed(node)
            expr = _computed(node, self.real) if is_computed else _argument(node, self.real)
            if self.from_one and expr is not None:
                expr = _counted_from_one(expr)
            if expr is None and self.keeps_all:
                yield ParsedArgument(ex.Verbatim(place.text), place)
                continue
            if expr is None:
                message = f"'{place.text}' is nothing that a kernel can be passed."
                hint = "Give it a name before the invoke, and pass that."
                if is_computed:
                    hint = "What its constants give together is no number that is finite."
                self._refuse("P029", message, place, hint, f"argument of '{name}'")
                continue
            text, _ = written.setdefault(ex.canonical(expr), (ast.unparse(node), place))
            if text != ast.unparse(node) and self.keeps_all:
                yield ParsedArgument(ex.Verbatim(place.text), place)
                continue
            if text != ast.unparse(node):
                message = f"'{place.text}' and '{text}' differ in case alone."
                hint = "Names are those of code in C and Fortran, too, where case does not matter."
                self._refuse("P052", message, place, hint)
            yield ParsedArgument(expr, place)

    def _refuse_keyword(self, keyword: ast.keyword) -> None:
        name = keyword.arg or "**"
        message = f"An invoke has no argument called '{name}'."
        hint = did_you_mean(name, ["name"]) or "Only 'name' can be given by keyword."
        self._refuse("P027", message, self.tree.span(keyword), hint)

    def _is_name(self, label: str, place: Span) -> bool:
        routine = routine_name(label)
        if not _NAME.fullmatch(label):
            message = f"'{label}' cannot name an invoke."
            hint = "A name has letters, digits and underscores, and a letter comes first."
            self._refuse("P024", message, place, hint)
            return False
        if len(routine) > MAX_FORTRAN_NAME:
            message = f"The routine '{routine}' has {len(routine)} characters, and may have"
            self._refuse("P024", f"{message} {MAX_FORTRAN_NAME}.", place)
            return False
        return True

    def _refuse(
        self, code: str, message: str, place: Span, hint: str = "", label: str = ""
    ) -> None:
        self.problems.append(Diagnostic(code, message, place, label=label, hint=hint))


def _argument(node: ast.expr, real: ScalarType) -> ex.Expr | None:
    """Return an argument as a typed expression, or None if it is invalid."""
    match node:
        case ast.Name(id=name):
            return ex.Name(name)
        case ast.Attribute(value=value, attr=name):
            base = _argument(value, real)
            return None if base is None or not _is_variable(value) else ex.Member(base, name)
        case ast.Subscript(value=value, slice=part) if _is_variable(value):
            base, parts = (
                _argument(value, real),
                part.elts if isinstance(part, ast.Tuple) else [part],
            )
            items = [_argument(one, real) or _key(one) for one in parts]
            if base is None or any(item is None for item in items):
                return None
            return ex.Element(base, tuple(item for item in items if item is not None))
        case ast.Constant(value=bool() as value):
            return nodes.truth(value)
        case ast.Constant(value=int() as value):
            return nodes.signed_integer(value)
        case ast.Constant(value=float() as value) if value != float("inf"):
            return nodes.real(value, real)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            inner = _argument(operand, real)
            sign = "-" if isinstance(op, ast.USub) else "+"
            return None if inner is None else nodes.unary_operation(inner, sign)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            first, second = _argument(left, real), _argument(right, real)
            if first is None or second is None:
                return None
            return nodes.binary_operation(_SIGNS[type(op)], first, second)
    return None


def _is_computed(node: ast.expr) -> bool:
    """Return whether an argument is arithmetic on constants, or an integer beyond 32 bits."""
    parts = list(ast.walk(node))
    is_large = any(
        isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > _LARGEST
        for one in parts
    )
    if not is_large and not any(isinstance(one, ast.BinOp) for one in parts):
        return False
    return all(isinstance(one, _ARITHMETIC) for one in parts)


def _computed(node: ast.expr, real: ScalarType) -> ex.Expr | None:
    """Return a constant expression as one literal; return None if the result is not finite.

    An integer outside the 32-bit range becomes a real.
    """
    value = _constant(node)
    if isinstance(value, int) and -_LARGEST <= value + (value < 0) <= _LARGEST:
        return nodes.signed_integer(value)
    try:
        value = float("nan") if value is None else float(value)
    except OverflowError:
        return None
    if not math.isfinite(value):
        return None
    made = nodes.real(abs(value), real)
    return made if math.copysign(1.0, value) > 0 else nodes.unary_operation(made)


def _constant(node: ast.expr) -> int | float | None:
    """Return the value of constant arithmetic in Python, or None if it has none."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            inner = _constant(operand)
            return inner if inner is None else -inner if isinstance(op, ast.USub) else +inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            first, second = _constant(left), _constant(right)
            if first is None or second is None or _is_huge(op, first, second):
                return None
            try:
                found = _COMPUTED[type(op)](first, second)
            except ArithmeticError:
                return None
            return found if isinstance(found, int | float) else None
    return None


def _is_huge(op: ast.operator, first: float, second: float) -> bool:
    """Return whether an integer power would be too large to compute."""
    if not isinstance(op, ast.Pow) or not isinstance(first, int) or not isinstance(second, int):
        return False
    return first.bit_length() * second > _MOST_BITS


def constant_of(expr: ex.Expr) -> bool | int | float | None:
    """Return the Python value of a literal argument, or None for other expressions."""
    match expr:
        case ex.Literal():
            value = expr.value
            if isinstance(value, str):
                return None
            return value if isinstance(value, int) else float(value)
        case ex.Unary(op, operand) if op in (Operator.PLUS, Operator.MINUS):
            inner = constant_of(operand)
            return inner if inner is None else -inner if op is Operator.MINUS else +inner
    return None


def _counted_from_one(expr: ex.Expr) -> ex.Expr:
    """Return a variable with its indices converted to 1-based."""
    match expr:
        case ex.Member(base, name):
            return ex.Member(_counted_from_one(base), name)
        case ex.Element(base, items):
            return ex.Element(_counted_from_one(base), tuple(map(_place_from_one, items)))
    return expr


def _place_from_one(item: ex.Expr) -> ex.Expr:
    """Return an index converted to 1-based; a text key is unchanged."""
    is_text = isinstance(item, ex.Literal) and item.intrinsic is Intrinsic.CHARACTER
    return item if is_text else from_one(item)


def _key(node: ast.expr) -> ex.Expr | None:
    """Return a text index as a character literal, or None for another expression."""
    match node:
        case ast.Constant(value=str() as value):
            return ex.Literal(repr(value), Intrinsic.CHARACTER)
    return None


def _is_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
