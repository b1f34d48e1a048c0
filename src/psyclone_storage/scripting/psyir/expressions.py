"""Expression nodes that a script may edit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, ClassVar, Self, TypeVar

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import FUNCTIONS, SUBROUTINES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.scripting.errors import GenerationError, refusal
from psyclone_storage.scripting.psyir.data import DataNode, OtherExpression, node_of
from psyclone_storage.scripting.psyir.datatypes import (
    DataType,
    datatype_of_value,
)
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.symbols import RoutineSymbol, Symbol

# ---------------------------------------------------------------------------- references


class Reference(DataNode):
    """A reference to a named entity."""

    def __init__(self, symbol: Symbol, parent: LiveNode | None = None) -> None:
        super().__init__()
        self._symbol: Symbol | None = symbol
        self.cached_expr = self.origin = ex.Name(symbol.name)
        self._parent = parent

    @property
    def name(self) -> str:
        """The name, without components and subscripts, in lower case."""
        own: Symbol | None = getattr(self, "_symbol", None)
        return key_of(own.name) if own is not None else self._root().key

    def _root(self) -> ex.Name:
        expr = self.origin
        while isinstance(expr, ex.Member | ex.Index):
            expr = expr.base
        return expr if isinstance(expr, ex.Name) else ex.Name("")

    @property
    def symbol(self) -> Symbol:
        """The symbol of the name in its scope."""
        own: Symbol | None = getattr(self, "_symbol", None)
        if own is None:
            scope = _scope_of(self)
            if scope is None:
                return Symbol(self._root().text)
            own = self._symbol = scope.symbol_table.of_name(self._root())
            assert own is not None
        return own

    @symbol.setter
    def symbol(self, new: Symbol) -> None:
        self._symbol = new
        self.touch()

    @property
    def datatype(self) -> DataType:
        """The type of the named entity."""
        return self.symbol.datatype

    @property
    def is_array(self) -> bool:
        """Return whether the named entity is an array."""
        return self.symbol.is_array

    @property
    def is_write(self) -> bool:
        """Return whether the statement assigns a value to this reference."""
        parent: Any = self.parent
        return getattr(parent, "lhs", None) is self

    @property
    def is_read(self) -> bool:
        """Return whether the statement reads the value of this reference."""
        return not self.is_write

    def _base(self) -> ex.Name:
        own: Symbol | None = getattr(self, "_symbol", None)
        root = self._root()
        if own is None or key_of(own.name) == root.key:
            return root
        return ex.Name(own.name)

    def _rebuilt(self) -> ex.Expr:
        return self._base()

    def _shown(self) -> Iterable[LiveNode]:
        return ()

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return False

    def get_signature_and_indices(self) -> tuple[Signature, list[list[DataNode]]]:
        """Return the signature (variable and component names), and the subscripts of each."""
        return Signature(self.name), [[]]


def _scope_of(node: LiveNode) -> Any:
    at: LiveNode | None = node
    while at is not None and not hasattr(type(at), "symbol_table"):
        at = at.parent
    return at


class Signature(tuple[str, ...]):
    """The names of a variable and its components, such as `Signature("grid", "lon")`."""

    __slots__ = ()

    def __new__(cls, *names: str | tuple[str, ...]) -> Self:
        """Return the signature of the given names, or tuples of names."""
        parts = [name for one in names for name in ([one] if isinstance(one, str) else one)]
        return super().__new__(cls, parts)

    @property
    def var_name(self) -> str:
        """The name of the variable."""
        return self[0]

    @property
    def is_structure(self) -> bool:
        """Return whether the signature has a component."""
        return len(self) > 1

    def __str__(self) -> str:
        return "%".join(self)


class _Subscripted(DataNode):
    """Base class of nodes with subscripts, which are the last children."""

    @property
    def indices(self) -> list[Any]:
        """The subscripts."""
        return [child for child in self.children if not isinstance(child, Member)]


def _subscript(item: Any) -> DataNode:
    """Return the node of a subscript; the string `":"` selects a whole dimension."""
    if isinstance(item, str):
        if item != ":":
            raise GenerationError(f"A subscript is an expression or ':', not '{item}'.")
        return Range.showing(ex.Range())
    if not isinstance(item, DataNode):
        raise GenerationError(f"A '{type(item).__name__}' is not a subscript.")
    return item


class ArrayReference(_Subscripted, Reference):
    """A reference to elements of an array."""

    @classmethod
    def create(cls, symbol: Symbol, indices: Sequence[Any]) -> Self:
        """Return `symbol(indices)`; the string `":"` selects a whole dimension."""
        new = cls(symbol)
        new.origin = ex.Index(ex.Name(symbol.name), ())
        new.children.extend(map(_subscript, indices))
        return new

    def _shown(self) -> Iterable[LiveNode]:
        items = self.origin.items if isinstance(self.origin, ex.Index) else ()
        return map(node_of, items)

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, DataNode)

    def _rebuilt(self) -> ex.Expr:
        items = tuple(child.frozen() for child in self.children)
        kind = type(self.origin) if isinstance(self.origin, ex.Index) else ex.Index
        return kind(self._base(), items) if items else self._base()

    def get_signature_and_indices(self) -> tuple[Signature, list[list[DataNode]]]:
        """Return the signature, and the subscripts."""
        return Signature(self.name), [self.indices]


class Member(DataNode):
    """A structure component, called `name`; its children are inner components and subscripts."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @classmethod
    def of_chain(cls, chain: Sequence[ex.Expr]) -> Member:
        """Return the nodes of the components in `chain`, outermost first."""
        first, *rest = chain
        items: tuple[ex.Expr, ...] = ()
        if rest and isinstance(rest[0], ex.Index):
            items, rest = rest[0].items, rest[1:]
        assert isinstance(first, ex.Member)
        kinds = (ArrayOfStructuresMember if items else StructureMember) if rest else (
            ArrayMember if items else Member
        )  # fmt: skip
        new = kinds(key_of(first.name))
        new.origin = first
        inner = [Member.of_chain(rest)] if rest else []
        new.children.fill([*inner, *map(node_of, items)])
        return new

    @property
    def member(self) -> Member:
        """The inner component."""
        found: Member = self.children[0]
        return found

    def _shown(self) -> Iterable[LiveNode]:
        return ()

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, DataNode)

    def appended_to(self, base: ex.Expr) -> ex.Expr:
        """Return the expression of this component and its inner components, applied to `base`."""
        origin = self.origin
        text = origin.name if isinstance(origin, ex.Member) else self.name
        symbol = origin.symbol if isinstance(origin, ex.Member) else None
        expr: ex.Expr = ex.Member(base, text, symbol)
        inner = [child for child in self.children if isinstance(child, Member)]
        items = tuple(child.frozen() for child in self.children if not isinstance(child, Member))
        if items:
            expr = ex.Index(expr, items)
        return inner[0].appended_to(expr) if inner else expr

    def frozen(self) -> ex.Expr:
        """Return the component without the structure that contains it."""
        return self.appended_to(ex.Name(""))

    def debug_string(self) -> str:
        """Return the component as Fortran text."""
        return ex.spell_as_written(self.frozen()).lstrip("%")


class StructureMember(Member):
    """A component that is a structure."""


class ArrayMember(_Subscripted, Member):
    """A component that is an array."""


class ArrayOfStructuresMember(ArrayMember, StructureMember):
    """A component that is an array of structures."""


class StructureReference(Reference):
    """A reference to a component of a structure."""

    @property
    def member(self) -> Member:
        """The outermost component."""
        found: Member = self.children[0]
        return found

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, Member if position == 0 else DataNode)

    def _rebuilt(self) -> ex.Expr:
        base: ex.Expr = self._base()
        items = tuple(child.frozen() for child in self.children[1:])
        if items:
            base = ex.Index(base, items)
        return self.member.appended_to(base)

    def get_signature_and_indices(self) -> tuple[Signature, list[list[DataNode]]]:
        """Return the signature (variable and component names), and the subscripts of each."""
        names, indices = [self.name], [list(self.children[1:])]
        at: LiveNode | None = self.member
        while isinstance(at, Member):
            names.append(at.name)
            indices.append([child for child in at.children if not isinstance(child, Member)])
            at = next((child for child in at.children if isinstance(child, Member)), None)
        return Signature(*names), indices


class ArrayOfStructuresReference(_Subscripted, StructureReference):
    """A reference to a component of elements of an array of structures."""


# ---------------------------------------------------------------------------- operations


class Operation(DataNode):
    """An operator and its operands."""

    can_be_assigned: ClassVar[bool] = False

    @property
    def operator(self) -> Any:
        """The operator."""
        assert isinstance(self.origin, ex.Binary | ex.Unary)
        return _named(type(self), self.origin.op)

    @property
    def datatype(self) -> DataType:
        """The type of the value, if the types of all operands are known."""
        return datatype_of_value(self.frozen())


_BINARY = {
    "ADD": Operator.PLUS, "SUB": Operator.MINUS, "MUL": Operator.TIMES, "DIV": Operator.DIVIDE,
    "POW": Operator.POWER, "EQ": Operator.EQUAL, "NE": Operator.NOT_EQUAL, "GT": Operator.GREATER,
    "LT": Operator.LESS, "GE": Operator.GREATER_EQUAL, "LE": Operator.LESS_EQUAL,
    "AND": Operator.AND, "OR": Operator.OR, "EQV": Operator.EQUIVALENT,
    "NEQV": Operator.NOT_EQUIVALENT, "CONCAT": Operator.CONCATENATE,
}  # fmt: skip
_UNARY = {"MINUS": Operator.MINUS, "PLUS": Operator.PLUS, "NOT": Operator.NOT}


class BinaryOperation(Operation):
    """A binary operator with its operands."""

    Operator = Enum("Operator", list(_BINARY))  # type: ignore[misc]

    @classmethod
    def create(cls, operator: Any, lhs: DataNode, rhs: DataNode) -> Self:
        """Return the operation `lhs operator rhs`."""
        op = _BINARY[operator.name]
        new = cls.showing(ex.Binary(op, ex.whole(0), ex.whole(0)))
        return _with_operands(new, lhs, rhs)

    def _rebuilt(self) -> ex.Expr:
        origin = self.origin
        assert isinstance(origin, ex.Binary)
        left, right = (child.frozen() for child in self.children)
        return ex.Binary(origin.op, left, right, origin.bracketed)


class UnaryOperation(Operation):
    """A unary operator with its operand."""

    Operator = Enum("Operator", list(_UNARY))  # type: ignore[misc]

    @classmethod
    def create(cls, operator: Any, operand: DataNode) -> Self:
        """Return the operation `operator operand`."""
        return _with_operands(cls.showing(ex.Unary(_UNARY[operator.name], ex.whole(0))), operand)


Made = TypeVar("Made", bound=DataNode)


def _with_operands(new: Made, *operands: DataNode) -> Made:
    new.children.clear()
    for operand in operands:
        new.children.append(operand)
    return new


def _named(kind: Any, operator: object) -> Any:
    table = _BINARY if kind is BinaryOperation else _UNARY
    for name, one in table.items():
        if one is operator:
            return kind.Operator[name]
    raise refusal(f"The operator '{getattr(operator, 'spelling', operator)}' has no name here.")


class Range(DataNode):
    """A subscript triplet; omitted bounds are represented as calls of `lbound` and `ubound`."""

    def __init__(self) -> None:
        super().__init__()
        self.origin = ex.Range()

    @classmethod
    def create(cls, start: DataNode, stop: DataNode, step: DataNode | None = None) -> Self:
        """Return `start:stop:step`."""
        return _with_operands(cls(), start, stop, *([] if step is None else [step]))

    def _shown(self) -> Iterable[LiveNode]:
        assert isinstance(self.origin, ex.Range)
        origin = self.origin
        for part, word in ((origin.lower, "lbound"), (origin.upper, "ubound"), (origin.step, "")):
            if part is not None:
                yield node_of(part)
                continue
            expr = ex.intrinsic(word, *self._array_and_dimension()) if word else ex.whole(1)
            node = node_of(expr)
            node.is_implicit = True
            yield node

    def _array_and_dimension(self) -> tuple[ex.Expr, ...]:
        """Return the subscripted array, and the number of this dimension, counted from 1."""
        array, parent = "", self.parent
        number = 1
        if isinstance(parent, _Subscripted):
            number += next(n for n, item in enumerate(parent.indices) if item is self)
            array = getattr(parent, "name", "")
        return ex.Name(array), ex.whole(number)

    def _rebuilt(self) -> ex.Expr:
        parts = [None if child.is_implicit else child.frozen() for child in self.children]
        return ex.Range(*parts)

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, DataNode) and position < 3 and len(self._children or ()) < 3

    @property
    def start(self) -> Any:
        """The lower bound of the triplet."""
        return self.children[0]

    @start.setter
    def start(self, new: DataNode) -> None:
        self.children[0] = new

    @property
    def stop(self) -> Any:
        """The upper bound of the triplet."""
        return self.children[1]

    @stop.setter
    def stop(self, new: DataNode) -> None:
        self.children[1] = new

    @property
    def step(self) -> Any:
        """The stride of the triplet."""
        return self.children[2]

    @step.setter
    def step(self, new: DataNode) -> None:
        self.children[2] = new


# ---------------------------------------------------------------------------- calls


class CallExpression(DataNode):
    """A function reference; child 0 is the name, the others are the arguments."""

    def _shown(self) -> Iterator[LiveNode]:
        assert isinstance(self.origin, ex.Index)
        base = node_of(self.origin.base)
        if isinstance(base, Reference) and intrinsic_named(self.origin.base):
            base.symbol = RoutineSymbol(base.name)
        yield base
        yield from argument_nodes(self.origin.items)

    def _rebuilt(self) -> ex.Expr:
        name, *arguments = self.children
        kind = type(self.origin) if isinstance(self.origin, ex.Index) else ex.CallFunction
        return kind(name.frozen(), frozen_arguments(arguments))


def argument_nodes(items: Iterable[ex.Expr]) -> Iterator[DataNode]:
    """Yield the nodes of the arguments `items`."""
    for item in items:
        node = node_of(item.value if isinstance(item, ex.Keyword) else item)
        node.keyword = item.name if isinstance(item, ex.Keyword) else None
        yield node


def frozen_arguments(nodes: Iterable[Any]) -> tuple[ex.Expr, ...]:
    """Return the argument expressions of the nodes."""
    return tuple(
        node.frozen() if node.keyword is None else ex.Keyword(node.keyword, node.frozen())
        for node in nodes
    )


def intrinsic_named(expr: ex.Expr) -> str | None:
    """Return the name of the intrinsic procedure that `expr` denotes, or None."""
    if not isinstance(expr, ex.Name):
        return None
    symbol = expr.symbol
    if symbol is not None and symbol.origin is not ex.Origin.INTRINSIC:
        return None
    return expr.key if expr.key in FUNCTIONS or expr.key in SUBROUTINES else None


@node_of.register
def _(expr: ex.Name) -> DataNode:
    return Reference.showing(expr)


@node_of.register
def _(expr: ex.Binary) -> DataNode:
    kind = BinaryOperation if isinstance(expr.op, Operator) else OtherExpression
    return kind.showing(expr)


@node_of.register
def _(expr: ex.Unary) -> DataNode:
    kind = UnaryOperation if isinstance(expr.op, Operator) else OtherExpression
    return kind.showing(expr)


@node_of.register
def _(expr: ex.Range) -> DataNode:
    return Range.showing(expr)


def _structure(expr: ex.Expr) -> StructureReference:
    """Return the node of a structure component in the source file."""
    chain: list[ex.Expr] = []
    at: ex.Expr = expr
    while isinstance(at, ex.Member | ex.Index):
        chain.insert(0, at)
        at = at.base
    items: tuple[ex.Expr, ...] = ()
    if isinstance(chain[0], ex.Index):
        items, chain = chain[0].items, chain[1:]
    new = (ArrayOfStructuresReference if items else StructureReference).showing(expr)
    new.children.fill([Member.of_chain(chain), *map(node_of, items)])
    return new


@node_of.register(ex.Member)
def component_node(expr: ex.Expr) -> DataNode:
    """Return the node of a structure component, or of elements of a component."""
    at: ex.Expr = expr
    while isinstance(at, ex.Member | ex.Element | ex.Section | ex.Unresolved):
        if isinstance(at, ex.Index) and (isinstance(at.base, ex.Index) or not at.items):
            return OtherExpression.showing(expr)
        at = at.base
    plain = isinstance(at, ex.Name)
    return _structure(expr) if plain else OtherExpression.showing(expr)


def target_node(expr: ex.Expr) -> DataNode:
    """Return the node of an assignment's target; parentheses are subscripts, never a call."""
    if isinstance(expr, ex.Index) and isinstance(expr.base, ex.Name):
        return ArrayReference.showing(expr)
    return node_of(expr)
