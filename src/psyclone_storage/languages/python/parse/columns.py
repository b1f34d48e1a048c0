"""Argument access in kernels for cell columns, dofs and the whole domain.

A field element is selected by a dof and a layer, using the map from cells to dofs. An operator
element is selected by two dofs and a layer. The roles of the dummies determine the arrays and
numbers that are passed for this purpose. All indices start at 0 in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import Enum

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.expr import Binary, Element, Expr, Name, integer_value
from psyclone_storage.ir.interface import OF_VALUES, Dummy, Role, selecting_words
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.api_words import Dialect
from psyclone_storage.languages.python.parse.imports import ImportedNames, imported_names
from psyclone_storage.languages.python.parse.indices import (
    from_one,
    is_within,
    read_index,
    reversed_range,
)
from psyclone_storage.languages.python.parse.local_arrays import (
    is_refused,
    local_array,
    read_element,
    written_element,
)
from psyclone_storage.languages.python.parse.promotion import double
from psyclone_storage.languages.python.parse.scope import (
    UNKNOWN,
    CountedRange,
    KernelScope,
    TypedExpression,
)
from psyclone_storage.languages.python.parse.tree import PythonTree

_WHOLE = Intrinsic.INTEGER
_MAPS = (Role.DOFMAP, Role.WHOLE_DOFMAP)
_FROM_ZERO = (Role.NLAYERS,)
_WAYS: Mapping[Role, str] = {
    Role.FIELD: "[dof, layer]",
    Role.OPERATOR: "[dof_to, dof_from, layer]",
    Role.CMA_MATRIX: "[band, row]",
    Role.DOF_VALUE: "[0]",
}


class _ElementForm(Enum):
    """Index form of a field element in Python."""

    OWN = "[dof, layer]"
    STENCIL = "[dof, layer] or [dof, layer, neighbour]"
    BRANCHES = "[dof, layer] or [dof, layer, neighbour, branch]"
    FINE = "[dof, layer, x, y]"
    DOMAIN = "[dof, layer, cell]"


@dataclass(frozen=True, slots=True)
class ColumnAccess:
    """Access rules for one kernel.

    - `own`: the names of its arguments, in order.

    - `passed`: all dummies by name.
    """

    own: tuple[str, ...]
    passed: Mapping[str, Dummy]
    dialect: Dialect
    words: ImportedNames

    has_arrays: bool = True
    has_python_scalars: bool = False

    @property
    def hint(self) -> str:
        """Hint that explains how to write an element of an argument."""
        field, vector = "a field's is 'x[dof, layer]'", "a vector's 'x[part, dof, layer]'"
        matrices = "an operator's 'm[to, from, layer]', a columnwise one's 'm[band, row]'"
        return f"Write an element: {field}, {vector}, {matrices}."

    def assigned(self, name: str, dummy: Dummy) -> str:
        """Return a hint that explains how to assign an element of the argument `name`."""
        way = _WAYS.get(dummy.role, "") if dummy.component is None else "[part, dof, layer]"
        return f"Write '{name}{way} = ...'."

    def within(self, tree: PythonTree) -> ColumnAccess:
        """Return the same rules with the imported names of another file."""
        return replace(self, words=imported_names(tree, self.dialect.module))

    # ------------------------------------------------------------------------ elements

    def read(self, scope: KernelScope, node: ast.Subscript) -> TypedExpression:
        """Return the expression for an element of an argument, a mesh array or a local array."""
        if isinstance(node.value, ast.Call):
            return self._of_table(scope, node, node.value)
        if (local := local_array(scope, node)) is not None:
            return read_element(scope, node, local)
        found = self._element(scope, node)
        if found is None:
            return UNKNOWN
        dummy, expr = found
        name = scope.text(node.value)
        is_whole = dummy.role is Role.DOF_VALUE
        given = (
            scope.has_element(_key(scope, node)) if is_whole else _array_of(expr) in scope.written
        )
        if not dummy.access.reads and not given:
            what = f"'{name}' is only written, but is looked at here before it has a value."
            return scope.refuse("M206", what, node, "Let its access be one that reads, too.")
        if dummy.role is Role.CMA_MATRIX:
            scope.called.setdefault("real", scope.tree.span(node))
            expr = double(scope, nodes.intrinsic_call("real", expr, Name(scope.real.kind or "")))
        return TypedExpression(expr, dummy.type.intrinsic)

    def target(
        self, scope: KernelScope, node: ast.Subscript, value: TypedExpression
    ) -> Expr | None:
        """Return the expression for an assigned element.

        Record an error and return None if illegal.
        """
        if (local := local_array(scope, node)) is not None:
            return written_element(scope, node, local, value)
        found = self._element(scope, node)
        if found is None:
            return None
        dummy, expr = found
        if not scope.may_write(node, dummy):
            return None
        if not scope.accepts(node, scope.text(node.value), dummy.type.intrinsic, value):
            return None
        scope.gives_element(_key(scope, node))
        scope.written.add(_array_of(expr))
        return expr

    def _element(self, scope: KernelScope, node: ast.Subscript) -> tuple[Dummy, Expr] | None:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if is_refused(scope, node):
            return None
        if name not in scope.arguments or scope.arguments[name].role is Role.SCALAR:
            what = f"'{scope.text(node.value)}' has no elements that a kernel could look at."
            scope.refuse("P051", what, node.value, self.hint)
            return None
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = self._component(scope, node, name, parts)
        if found is None:
            return None
        own, dummy = found
        expr = self._placed(scope, node, (own, dummy), parts)
        return None if expr is None else (dummy, expr)

    def _component(
        self, scope: KernelScope, node: ast.Subscript, name: str, parts: list[ast.expr]
    ) -> tuple[str, Dummy] | None:
        """Return the selected dummy; remove the component index of a field vector from `parts`."""
        arg = self.own.index(scope.code(name))
        every = [(own, one) for own, one in self.passed.items() if _has_values(one, arg)]
        if every[0][1].component is None:
            return every[0]
        first = parts.pop(0) if parts else None
        number = first.value if isinstance(first, ast.Constant) else None
        if isinstance(number, bool) or not isinstance(number, int) or number >= len(every):
            what = f"'{scope.text(node)}' does not say which component of '{name}' is meant."
            hint = f"The component comes first, and is written out: 0 to {len(every) - 1}."
            scope.refuse("P051", what, node, hint)
            return None
        return every[number]

    def _placed(
        self,
        scope: KernelScope,
        node: ast.Subscript,
        of: tuple[str, Dummy],
        parts: list[ast.expr],
    ) -> Expr | None:
        """Return the element of a dummy for the given index parts, or None after an error."""
        own, dummy = of
        values = [read_index(scope, part) for part in parts]
        if any(value is None for value in values):
            return None
        known = [value for value in values if value is not None]
        for part, value, extent in zip(parts, known, self._extents(dummy), strict=False):
            if extent is not None and not is_within(scope, part, value, extent):
                return None
        match dummy.role:
            case Role.DOF_VALUE if len(known) == 1 and integer_value(known[0]) == 0:
                return Name(own)
            case Role.SCALAR_ARRAY if len(known) == dummy.rank:
                return Element(Name(own), tuple(map(from_one, known)))
            case Role.OPERATOR if len(known) in self._lengths_of_matrix(dummy):
                return self._of_operator(own, dummy, known)
            case Role.CMA_MATRIX if len(known) == _OF_BANDS:
                return Element(Name(own), (*map(from_one, known), Name(self._name(Role.CELL))))
            case Role.FIELD:
                place = self._dof(scope, node, dummy, known)
                return None if place is None else Element(Name(own), (place,))
        form = _WAYS.get(dummy.role, "[index]")
        if dummy.role is Role.OPERATOR and len(self._lengths_of_matrix(dummy)) > 1:
            form = f"{form[:-1]}, neighbour]"
        what = f"'{scope.text(node)}' is no element of '{scope.text(node.value)}'."
        scope.refuse("P051", what, node, f"Write '{scope.text(node.value)}{form}'.")
        return None

    def _extents(self, dummy: Dummy) -> tuple[Expr | None, ...]:
        """Return the extents for the parts of an index, with None for unknown ones."""
        match dummy.role:
            case Role.SCALAR_ARRAY | Role.CMA_MATRIX:
                return self._known(dummy.shape)
            case Role.OPERATOR:
                _, to, source = self._known(dummy.shape)
                return to, source, Name(self._name(Role.NLAYERS))
            case Role.FIELD:
                dofs = self._known(self.passed[self._map(dummy)].shape[:1])
                near = [one.shape[1:] for one in self.passed.values()
                        if one.role is Role.STENCIL_MAP and one.arg == dummy.arg]  # fmt: skip
                return (*dofs, None, *self._known(near[0] if near else ()))
        return ()

    def _known(self, shape: tuple[Expr, ...]) -> tuple[Expr | None, ...]:
        """Return extents, with None for those that contain names not passed to the kernel."""
        return tuple(
            one
            if all(name in self.passed and self.passed[name].name == name for name in names_in(one))
            else None
            for one in shape
        )

    def _lengths_of_matrix(self, dummy: Dummy) -> tuple[int, ...]:
        """Return the allowed numbers of index parts for an operator; neighbours come last."""
        near = [one.rank for one in self.passed.values()
                if one.role is Role.STENCIL_CELLS and one.arg == dummy.arg]  # fmt: skip
        return (_OF_MATRIX, *(_OF_MATRIX + rank for rank in near))

    def _of_operator(self, own: str, dummy: Dummy, index: list[Expr]) -> Expr:
        """Return an operator element; the first array index combines cell and layer."""
        to, source, layer, *others = index
        cell: Expr = Name(self._name(Role.CELL))
        if others:
            near = Name(self._near(dummy, Role.STENCIL_CELLS))
            cell = Element(near, tuple(map(from_one, others)))
        before = nodes.binary_operation("-", cell, nodes.signed_integer(1))
        start = nodes.binary_operation(
            "*", nodes.parenthesized(before), Name(self._name(Role.NLAYERS))
        )
        place = _plus(_plus(start, layer), nodes.signed_integer(1))
        return Element(Name(own), (place, from_one(to), from_one(source)))

    def _dof(
        self, scope: KernelScope, node: ast.Subscript, dummy: Dummy, index: list[Expr]
    ) -> Expr | None:
        """Return the number of a dof in a layer, in the current cell or a neighbouring one."""
        way = self._way(dummy)
        if len(index) < _OF_FIELD or len(index) not in _lengths(way):
            name = scope.text(node.value)
            what = f"'{scope.text(node)}' is no element of '{name}'."
            scope.refuse("P051", what, node, f"Write '{name}' with {way.value}.")
            return None
        dof, layer, *others = index
        if way in (_ElementForm.STENCIL, _ElementForm.BRANCHES) and others:
            near = self._near(dummy, Role.STENCIL_MAP)
            found = Element(Name(near), (from_one(dof), *map(from_one, others)))
        elif way is _ElementForm.FINE:
            cells = Element(Name(self._name(Role.CELL_MAP)), tuple(map(from_one, others)))
            found = Element(Name(self._map(dummy)), (from_one(dof), cells))
        else:
            found = Element(Name(self._map(dummy)), tuple(map(from_one, (dof, *others))))
        return _plus(found, layer)

    def _way(self, dummy: Dummy) -> _ElementForm:
        roles = {one.role for one in self.passed.values()}
        if Role.NCELL_2D_NO_HALOS in roles:
            return _ElementForm.DOMAIN
        if self.passed[self._map(dummy)].role is Role.WHOLE_DOFMAP:
            return _ElementForm.FINE
        of_arg = {one.role for one in self.passed.values() if one.arg == dummy.arg}
        if Role.STENCIL_MAX_BRANCH in of_arg:
            return _ElementForm.BRANCHES
        return _ElementForm.STENCIL if Role.STENCIL_MAP in of_arg else _ElementForm.OWN

    def _map(self, dummy: Dummy) -> str:
        """Return the name of the dofmap of a field."""
        maps = [
            (name, one) for name, one in self.passed.items()
            if one.role in _MAPS and one.space == dummy.space
        ]  # fmt: skip
        return next((name for name, one in maps if one.arg == dummy.arg), maps[0][0])

    def _near(self, dummy: Dummy, role: Role) -> str:
        """Return the name of the dummy that describes the stencil of a field."""
        return next(
            name for name, one in self.passed.items() if one.role is role and one.arg == dummy.arg
        )

    def _name(self, role: Role) -> str:
        """Return the name of the only dummy with a role."""
        return next(name for name, one in self.passed.items() if one.role is role)

    def extent(self, scope: KernelScope, node: ast.Subscript, part: int) -> Expr | None:
        """Return the extent of a local array, or the number of layers for a field, else None."""
        if (local := local_array(scope, node)) is not None:
            return local.shape[part] if part < len(local.shape) else None
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        dummy = scope.arguments.get(name)
        if dummy is None or dummy.role is not Role.FIELD:
            return None
        layer = _LAYER if dummy.component is None else _LAYER + 1
        return Name(self._name(Role.NLAYERS)) if part == layer else None

    # ------------------------------------------------------------------------ loops

    def counted(self, scope: KernelScope, node: ast.expr) -> CountedRange | None:
        """Return the range of `layers()`, `dofs(W3)` or similar calls, possibly reversed."""
        backwards = reversed_range(node)
        found = self._range(scope, backwards or node)
        if found is None:
            return None
        dummy, length = found
        from_zero = dummy.role in _FROM_ZERO
        first: Expr = nodes.signed_integer(0 if from_zero else 1)
        last = nodes.binary_operation("-", length, nodes.signed_integer(1)) if from_zero else length
        step = None
        if backwards is not None:
            first, last, step = last, first, nodes.signed_integer(-1)
        return CountedRange(first, last, step, taken=True, from_one=not from_zero)

    def length(self, scope: KernelScope, node: ast.expr) -> TypedExpression | None:
        """Return the length of a range, such as the number of layers or of dofs per cell."""
        found = self._range(scope, node)
        return None if found is None else TypedExpression(found[1], _WHOLE)

    def _range(self, scope: KernelScope, node: ast.expr) -> tuple[Dummy, Expr] | None:
        word = self.words.meant(node.func) if isinstance(node, ast.Call) else ""
        if word not in self.dialect.ranges or not isinstance(node, ast.Call):
            return None
        role = self.dialect.ranges[word]
        branch: list[ast.expr] = []
        selecting = node.args
        if role is Role.STENCIL_SIZE and len(node.args) == _WITH_BRANCH:
            selecting, branch = node.args[:1], node.args[1:]
        found = self._selected(scope, node, (word, role), selecting)
        if found is None:
            return _NOTHING, UNKNOWN.expr
        name, dummy = found
        if dummy.rank != len(branch):
            what = f"'{scope.text(node)}' does not say of which branch."
            scope.refuse("P051", what, node, f"Write '{word}(name, branch)'.")
            return _NOTHING, UNKNOWN.expr
        index = [value for part in branch if (value := read_index(scope, part)) is not None]
        return dummy, Element(Name(name), tuple(map(from_one, index))) if index else Name(name)

    def number(self, scope: KernelScope, node: ast.Call) -> TypedExpression | None:
        """Return an integer parameter of a columnwise operator, or None for another call."""
        word = self.words.meant(node.func)
        if word not in self.dialect.numbers:
            return None
        found = self._selected(scope, node, (word, self.dialect.numbers[word]), node.args)
        return UNKNOWN if found is None else TypedExpression(Name(found[0]), _WHOLE)

    # ------------------------------------------------------------------------ tables

    def _of_table(self, scope: KernelScope, node: ast.Subscript, call: ast.Call) -> TypedExpression:
        word = self.words.meant(call.func)
        if word not in self.dialect.tables:
            what = f"'{scope.text(call)}' has no elements that a kernel could look at."
            return scope.refuse("P051", what, call, self.hint)
        found = self._selected(scope, call, (word, self.dialect.tables[word]), call.args)
        if found is None:
            return UNKNOWN
        name, dummy = found
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = [value for part in parts if (value := read_index(scope, part)) is not None]
        if len(index) < len(parts):
            return UNKNOWN
        if len(index) != dummy.rank:
            what = f"'{scope.text(call)}' has {dummy.rank} dimensions, not {len(index)}."
            return scope.refuse("P051", what, node)
        for part, value, extent in zip(parts, index, self._known(dummy.shape), strict=True):
            if extent is not None and not is_within(scope, part, value, extent):
                return UNKNOWN
        element: Expr = Element(Name(name), tuple(map(from_one, index)))
        if dummy.role in self.dialect.from_one:
            element = nodes.binary_operation("-", element, nodes.signed_integer(1))
        return TypedExpression(element, dummy.type.intrinsic)

    def _selected(
        self,
        scope: KernelScope,
        node: ast.Call,
        meant: tuple[str, Role],
        selecting: list[ast.expr],
    ) -> tuple[str, Dummy] | None:
        """Return the only dummy of a role that the arguments select, or None after an error."""
        word, role = meant
        every = [(name, one) for name, one in self.passed.items() if one.role is role]
        said = [scope.code(scope.text(one)).lower() for one in selecting]
        found = [(name, one) for name, one in every if selecting_words(one, self.own).fit(said)]
        if len(found) == 1:
            return found[0]
        what = f"'{scope.text(node)}' does not say which of {len(found)} it means."
        hint = f"Write one of: {', '.join(self._ways_to_say(word, every))}."
        if not found:
            what = f"A kernel with these metadata has no '{scope.text(node)}'."
        scope.refuse("P051", what, node, hint if every else "Ask for it in the metadata.")
        return None

    def _ways_to_say(self, word: str, every: list[tuple[str, Dummy]]) -> Iterator[str]:
        for _, one in every:
            words = [*(said := selecting_words(one, self.own)).first, *said.behind[:1]]
            yield f"'{word}({', '.join(words)})'"


_OF_MATRIX, _OF_FIELD, _OF_BANDS, _WITH_BRANCH, _LAYER = 3, 2, 2, 2, 1
_NOTHING = Dummy(Role.NDF, "", ScalarType(_WHOLE))


def _has_values(dummy: Dummy, arg: int) -> bool:
    return dummy.role in OF_VALUES and dummy.arg == arg


def _lengths(way: _ElementForm) -> tuple[int, ...]:
    """Return the allowed numbers of index parts."""
    match way:
        case _ElementForm.STENCIL | _ElementForm.DOMAIN:
            return (2, 3) if way is _ElementForm.STENCIL else (3,)
        case _ElementForm.BRANCHES:
            return 2, 4
        case _ElementForm.FINE:
            return (4,)
    return (2,)


def _key(scope: KernelScope, node: ast.Subscript) -> str:
    """Return a key that identifies an array element by its text."""
    return f"{scope.code(ast.unparse(node.value))}[{ast.unparse(node.slice)}]"


def _array_of(element: Expr) -> str:
    """Return the name of the array that contains an element."""
    base = element.base if isinstance(element, Element) else element
    return base.text if isinstance(base, Name) else ""


def _plus(first: Expr, second: Expr) -> Expr:
    """Return a sum without a zero term, evaluated from left to right."""
    match second:
        case Binary(Operator.PLUS, left, right):
            return nodes.binary_operation("+", _plus(first, left), right)
        case Binary(Operator.MINUS, left, right):
            return nodes.binary_operation("-", _plus(first, left), right)
    if integer_value(second) == 0:
        return first
    return nodes.binary_operation("+", first, second)
