"""Array slices in Python kernels: `a[1:3] = 2.0 * b[:2]` becomes loops over elements.

As in NumPy and Fortran, the whole right side is evaluated before an element changes. If the right
side contains other elements of the assigned array, its values are first stored in a local array.
The lengths of slices must be equal as far as they are known at compile time.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from psyclone_storage.analysis.bodies.shapes import Triplet
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import difference, simplified
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Assign, Line
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.expressions import read
from psyclone_storage.languages.python.parse.functions import NUMPY
from psyclone_storage.languages.python.parse.indices import from_one, read_index
from psyclone_storage.languages.python.parse.local_arrays import is_known_where_called
from psyclone_storage.languages.python.parse.promotion import (
    fresh_local,
    has_room,
    of_elements,
    refuse,
)
from psyclone_storage.languages.python.parse.rounding_integers import as_real_if_rounded
from psyclone_storage.languages.python.parse.scope import (
    CountedRange,
    KernelScope,
    LocalVariable,
    TypedExpression,
)
from psyclone_storage.passes.element_loops import ElementLoops

_OPERATIONS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True, slots=True)
class _Slice:
    """Slice of one dimension: its first index, its step, and its length."""

    start: ast.expr | None
    step: int
    length: ex.Expr


class _RefusedError(Exception):
    """Error: a slice is invalid; a diagnostic is already recorded."""


def has_slice(node: ast.expr) -> bool:
    """Return whether an expression contains slices."""
    return any(isinstance(one, ast.Slice) for one in ast.walk(node))


def assign_slices(
    scope: KernelScope, node: ast.stmt, target: ast.Subscript, value: ast.expr
) -> list[Line]:
    """Return loops that assign to the elements of a slice; return [] after an error."""
    try:
        return _Assignment(scope, node, target).lines(value)
    except _RefusedError:
        return []


@dataclass(slots=True)
class _Assignment:
    """Assignment to array slices, parsed with a loop variable in place of each slice."""

    scope: KernelScope
    node: ast.stmt
    target: ast.Subscript

    def lines(self, value: ast.expr) -> list[Line]:
        """Return the loops and their preceding statements."""
        wanted = self._slices(self.target)
        self._check_index()
        if not has_slice(value):
            return self._filled(wanted, value)
        self._check_operations(value)
        for one in ast.walk(value):
            if isinstance(one, ast.Subscript) and has_slice(one.slice):
                self._check_lengths(one, wanted)
        counters = self._counters(wanted)
        found = read(self.scope, self._element(value, counters))
        into = self._into(wanted, counters, found)
        if into is None or found.type is None:
            return []
        found = self._converted(into, found)
        place = self.scope.tree.span(self.node)
        if all(one == into for one in _elements_of(into, found.expr)):
            return list(self._loops(wanted, counters, Assign(into, found.expr, place=place)))
        between = self._room(wanted, counters, found)
        return [
            *self._loops(wanted, counters, Assign(between, found.expr, place=place)),
            *self._loops(wanted, counters, Assign(into, between, place=place)),
        ]

    def _filled(self, wanted: Sequence[_Slice], value: ast.expr) -> list[Line]:
        """Return the loops that assign one number to all elements."""
        found = read(self.scope, value)
        counters = self._counters(wanted)
        into = self._into(wanted, counters, found)
        if into is None or found.type is None:
            return []
        found = self._converted(into, found)
        place = self.scope.tree.span(self.node)
        number = found.expr
        if not isinstance(number, ex.Literal | ex.Name):
            number = fresh_local(self.scope, "filled", found, place)
            self.scope.before.append(Assign(number, found.expr, place=place))
        return list(self._loops(wanted, counters, Assign(into, number, place=place)))

    # ------------------------------------------------------------------------ what is refused

    def _refuse(self, code: str, what: str, place: ast.AST, hint: str = "") -> _RefusedError:
        self.scope.refuse(code, what, place, hint)
        return _RefusedError()

    def _check_index(self) -> None:
        """Raise an error if the index of the assigned slice reads an array element."""
        for one in ast.walk(self.target.slice):
            if isinstance(one, ast.Subscript):
                what = f"'{self.scope.text(one)}' says which elements change."
                raise self._refuse("P051", what, one, "Give it to a local before.")

    def _calls(self, node: ast.AST) -> bool:
        helpers = self.scope.helpers
        return isinstance(node, ast.Call) and bool(helpers and helpers.is_called(self.scope, node))

    def _check_operations(self, node: ast.expr) -> None:
        """Raise an error for operations that Python does not apply elementwise."""
        if not has_slice(node):
            return
        parts: Sequence[ast.expr] = ()
        match node:
            case ast.Subscript():
                return
            case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
                parts = (operand,)
            case ast.BinOp(left, op, right) if isinstance(op, _OPERATIONS):
                parts = (left, right)
            case ast.Call(func, args, []) if self._is_elementwise(func):
                parts = args
            case ast.Compare(left, [_], [right]):
                parts = (left, right)
            case _:
                what = f"'{self.scope.text(node)}' is not done element by element."
                hint = "Write operations on numbers and functions of NumPy, or a loop."
                raise self._refuse("P051", what, node, hint)
        for part in parts:
            if isinstance(part, ast.Compare) and not isinstance(node, ast.Call):
                what = f"'{self.scope.text(part)}' is no number."
                raise self._refuse("P054", what, part, "Write 'np.where(...)' around it.")
            self._check_operations(part)

    def _is_elementwise(self, func: ast.expr) -> bool:
        offered = self.scope.offered
        return offered.function(func) is not None and (
            offered.numpy.meant(func) in NUMPY or self.scope.text(func) == "abs"
        )

    def _check_lengths(self, node: ast.Subscript, wanted: Sequence[_Slice]) -> None:
        found = self._slices(node)
        if len(found) == len(wanted) and all(
            difference(one.length, other.length) == 0
            for one, other in zip(found, wanted, strict=True)
        ):
            return
        what = f"'{self.scope.text(node)}' has another shape than '{self.scope.text(self.target)}'."
        hint = "It has to be the same for all that is known when the kernel is compiled."
        raise self._refuse("P054", what, node, hint)

    # ------------------------------------------------------------------------ slices

    def _slices(self, node: ast.Subscript) -> list[_Slice]:
        """Return the slices of an array, in order."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [
            self._slice(node, number, part)
            for number, part in enumerate(parts)
            if isinstance(part, ast.Slice)
        ]

    def _slice(self, node: ast.Subscript, number: int, part: ast.Slice) -> _Slice:
        for one in ast.walk(part):
            if isinstance(one, ast.Subscript):
                what = f"'{self.scope.text(one)}' is no bound of a slice."
                raise self._refuse("P051", what, one, "Give it to a local before.")
        step = 1 if part.step is None else getattr(part.step, "value", 0)
        if isinstance(step, bool) or not isinstance(step, int) or step < 1:
            what = f"'{self.scope.text(part)}' does not count upwards in steps that are written."
            raise self._refuse("P051", what, part, "Write a loop.")
        # pylint: disable-next=assignment-from-no-return  # only columns know extents
        most = self.scope.access.extent(self.scope, node, number)
        start = nodes.signed_integer(0) if part.lower is None else self._bound(part.lower)
        stop = most if part.upper is None else self._bound(part.upper)
        if stop is None:
            what = f"It is not known where '{self.scope.text(node)}' ends."
            raise self._refuse("P051", what, node, "Write the index behind the last one.")
        behind, last = ex.integer_value(stop), None if most is None else ex.integer_value(most)
        if behind is not None and last is not None and behind > last:
            what = f"'{self.scope.text(part)}' ends behind the last element."
            raise self._refuse("P051", what, part, f"There are {last}, counted from 0.")
        length = stop if ex.integer_value(start) == 0 else nodes.binary_operation("-", stop, start)
        known = ex.integer_value(simplified(length))
        if known is not None:
            length = nodes.signed_integer(max(0, -(-known // step)))
        elif step > 1:
            what = f"It is not known how many elements '{self.scope.text(part)}' has."
            raise self._refuse("P051", what, part, "Write a loop.")
        return _Slice(part.lower, step, length)

    def _bound(self, node: ast.expr) -> ex.Expr:
        found = read_index(self.scope, node)
        if found is None:
            raise _RefusedError
        return found

    # ------------------------------------------------------------------------ elements

    def _counters(self, wanted: Sequence[_Slice]) -> list[str]:
        """Return the names of new loop variables, one for each slice."""
        place, names = self.scope.tree.span(self.node), []
        for number, one in enumerate(wanted):
            name = f"element {number}"
            code = self.scope.fresh("element", Intrinsic.INTEGER, place)
            first = nodes.signed_integer(0)
            self.scope.ranges[code.text] = CountedRange(first, _before(one.length))
            counted = TypedExpression(code, Intrinsic.INTEGER)
            self.scope.values = {**self.scope.values, name: counted}
            names.append(name)
        return names

    def _into(
        self, wanted: Sequence[_Slice], counters: Sequence[str], found: TypedExpression
    ) -> ex.Element | None:
        """Return the assigned element; its index must not read elements of the same array."""
        target = _with_counters(self.target, counters)
        # pylint: disable-next=assignment-from-no-return  # each kind of access has its own
        into = self.scope.access.target(self.scope, target, found)
        if not isinstance(into, ex.Element):
            return None
        for one in (*into.items, *(part.length for part in wanted)):
            if _elements_of(into, one):
                place = next(filter(self._calls, ast.walk(self.target.slice)), self.target)
                what = f"'{self.scope.text(place)}' says which elements change."
                raise self._refuse("P051", what, place, "Give it to a local before.")
        return into

    def _element(self, value: ast.expr, counters: Sequence[str]) -> ast.expr:
        """Return the assigned expression for the element with the indices `counters`."""
        return _InElement(counters).visit(_copied(value))  # type: ignore[no-any-return]

    def _converted(self, into: ex.Expr, found: TypedExpression) -> TypedExpression:
        array = self.target.value.id if isinstance(self.target.value, ast.Name) else ""
        local, dummy = self.scope.local(array), self.scope.arguments.get(array)
        wanted = local.type if local is not None else dummy and dummy.type.intrinsic
        if wanted is not Intrinsic.REAL:
            return found
        made = as_real_if_rounded(self.scope, found)
        return made if has_room(self.scope, local or dummy, made) else refuse(self.scope, self.node)

    def _room(
        self, wanted: Sequence[_Slice], counters: Sequence[str], found: TypedExpression
    ) -> ex.Expr:
        """Return an element of a temporary array that stores the right side."""
        for one in wanted:
            if not is_known_where_called(self.scope, one.length):
                what = (
                    f"'{self.scope.text(self.target)}' is changed while other elements of it are"
                    " read, and its length is not known where the kernel is called."
                )
                raise self._refuse("P054", what, self.target, "Write a loop, or constant bounds.")
        name = self.scope.fresh_name("kept")
        shape = tuple(one.length for one in wanted)
        place = self.scope.tree.span(self.node)
        real = of_elements(self.scope, found)
        self.scope.locals[name] = LocalVariable(found.type, place, shape, real)
        index = (from_one(self.scope.values[one].expr) for one in counters)
        return ex.Element(ex.Name(name), tuple(index))

    def _loops(
        self, wanted: Sequence[_Slice], counters: Sequence[str], line: Line
    ) -> tuple[Line, ...]:
        """Return loops around a statement; the loop over the first dimension is innermost."""
        dimensions = tuple(Triplet(nodes.signed_integer(0), _before(one.length)) for one in wanted)
        found = [self.scope.values[name].expr for name in counters]
        names = tuple(name for name in found if isinstance(name, ex.Name))
        return ElementLoops(dimensions, names).around((line,), self.scope.tree.span(self.node))


def _elements_of(into: ex.Element, expr: ex.Expr) -> list[ex.Element]:
    """Return the elements in an expression that belong to the assigned array."""
    return [
        part for part in ex.walk(expr) if isinstance(part, ex.Element) and part.base == into.base
    ]


def _before(length: ex.Expr) -> ex.Expr:
    value = ex.integer_value(length)
    return (
        nodes.signed_integer(value - 1)
        if value is not None
        else nodes.binary_operation("-", length, nodes.signed_integer(1))
    )


class _InElement(ast.NodeTransformer):
    """Transformer that replaces slices by loop variables."""

    def __init__(self, counters: Sequence[str]) -> None:
        self._counters = counters

    # pylint: disable-next=invalid-name  # the visitor's word
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Return the element that replaces a slice; return other subscripts unchanged."""
        return _with_counters(node, self._counters) if has_slice(node.slice) else node


def _with_counters(node: ast.Subscript, counters: Sequence[str]) -> ast.Subscript:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    waiting = iter(counters)
    made = [_at(one, next(waiting)) if isinstance(one, ast.Slice) else one for one in parts]
    index = ast.copy_location(ast.Tuple(made, ast.Load()), node.slice)
    found = ast.Subscript(node.value, index if len(made) > 1 else made[0], node.ctx)
    return ast.copy_location(found, node)


def _at(part: ast.Slice, counter: str) -> ast.expr:
    """Return the index of an element of a slice."""
    found: ast.expr = ast.Name(counter, ast.Load())
    if part.step is not None and getattr(part.step, "value", 1) != 1:
        found = ast.BinOp(part.step, ast.Mult(), found)
    if part.lower is not None and getattr(part.lower, "value", None) != 0:
        # A constant at the end is folded with that of counting from 1.
        found = ast.BinOp(found, ast.Add(), part.lower)
    for one in ast.walk(found):
        if not hasattr(one, "lineno"):
            ast.copy_location(one, part)
    return found


def _copied(node: ast.expr) -> ast.expr:
    """Return a copy of an expression with the same locations."""
    match node:
        case ast.BinOp(left, op, right):
            made: ast.expr = ast.BinOp(_copied(left), op, _copied(right))
        case ast.UnaryOp(op, operand):
            made = ast.UnaryOp(op, _copied(operand))
        case ast.Call(func, args, keywords):
            made = ast.Call(func, [_copied(one) for one in args], keywords)
        case ast.Compare(left, ops, others):
            made = ast.Compare(_copied(left), ops, [_copied(one) for one in others])
        case _:
            return node
    return ast.copy_location(made, node)
