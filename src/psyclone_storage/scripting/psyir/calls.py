"""Call nodes of a file: subroutines, functions and intrinsic procedures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, Self

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import FUNCTIONS, PURE, SUBROUTINES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of
from psyclone_storage.scripting.psyir.data import DataNode, OtherExpression, node_of
from psyclone_storage.scripting.psyir.datatypes import (
    DataType,
    UnresolvedType,
    datatype_of_value,
)
from psyclone_storage.scripting.psyir.expressions import (
    ArrayReference,
    CallExpression,
    Reference,
    argument_nodes,
    component_node,
    frozen_arguments,
    intrinsic_named,
    target_node,
)
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.statements import Schedule, Statement, statement_of
from psyclone_storage.scripting.psyir.symbols import Symbol


class Call(Statement, CallExpression):
    """A subroutine call or a function reference; child 0 is the name of the procedure."""

    def __init__(self) -> None:
        Statement.__init__(self)
        CallExpression.__init__(self)
        self.lead = self.trail = ()
        self.source = self.cached_line = None

    @classmethod
    def showing(cls, expr: ex.Expr) -> Self:
        """Return the node of a function reference in the source file."""
        new = cls()
        new.cached_expr = new.origin = expr
        return new

    @classmethod
    def create(cls, routine: Any, arguments: Iterable[Any] = ()) -> Self:
        """Return a call of a symbol or name; an argument may be a pair (keyword, value)."""
        new = cls()
        new.children.append(Reference(routine) if isinstance(routine, Symbol) else routine)
        for item in arguments:
            keyword, value = item if isinstance(item, tuple) else (None, item)
            new.children.append(value)
            value.keyword = keyword
        return new

    def _shown(self) -> Iterator[LiveNode]:
        if isinstance(self.source, un.Call):
            yield node_of(self.source.procedure)
            yield from argument_nodes(self.source.args)
        elif self.origin is not None:
            yield from super()._shown()

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, Reference if position == 0 else DataNode)

    def forget(self) -> None:
        """Drop the cached statement or expression."""
        LiveNode.forget(self)
        self.cached_line = self.cached_expr = None

    def _made(self) -> un.Line:
        name, *arguments = (*self.children,)
        procedure, args = name.frozen(), frozen_arguments(arguments)
        if isinstance(self.source, un.Call):
            return replace(self.source, procedure=procedure, args=args)
        return un.Call(procedure, args)

    @property
    def is_statement(self) -> bool:
        """Return whether this is a call of a subroutine."""
        return self.source is not None or isinstance(self.parent, Schedule)

    def debug_string(self) -> str:
        """Return the call as Fortran text."""
        kind: Any = Statement if self.is_statement else DataNode
        text: str = kind.debug_string(self)
        return text

    def _details(self) -> str:
        return self.debug_string().strip()

    __hash__ = DataNode.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other or (not self.is_statement and DataNode.__eq__(self, other))

    @property
    def routine(self) -> Any:
        """The reference to the procedure."""
        return self.children[0]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The argument nodes."""
        return tuple(self.children[1:])

    @property
    def argument_names(self) -> list[str | None]:
        """The keywords of the arguments, None for each positional argument."""
        return [child.keyword for child in self.children[1:]]

    def append_named_arg(self, name: str | None, arg: DataNode) -> None:
        """Append an argument with the keyword `name`."""
        self.children.append(arg)
        arg.keyword = name

    @property
    def is_pure(self) -> bool | None:
        """Return whether a script has declared the procedure pure, None without such a promise."""
        found: bool | None = self.routine.symbol.is_pure
        return found

    @property
    def is_elemental(self) -> bool | None:
        """Return whether the procedure is elemental, None if unknown."""
        return getattr(self.routine.symbol, "is_elemental", None)


_STATEMENTS = ("allocate", "deallocate", "nullify")
_ALL = {name.upper(): name for name in sorted({*FUNCTIONS, *SUBROUTINES, *_STATEMENTS})}


class IntrinsicCall(Call):
    """A call of an intrinsic procedure, or an allocate, deallocate or nullify statement."""

    Intrinsic = Enum("Intrinsic", _ALL)  # type: ignore[misc]

    @classmethod
    def create(cls, routine: Any, arguments: Iterable[Any] = ()) -> Self:
        """Return a call of `routine`, a member of `Intrinsic`."""
        return super().create(Symbol(routine.value), arguments)

    def _shown(self) -> Iterator[LiveNode]:
        if self.source is not None and not isinstance(self.source, un.Call):
            yield Reference(Symbol(key_of(type(self.source).__name__)))
            yield from map(target_node, expressions_of(self.source))
            return
        yield from super()._shown()

    def _made(self) -> un.Line:
        if self.source is None or isinstance(self.source, un.Call):
            return super()._made()
        arrays = frozen_arguments(self.children[1:])
        if isinstance(self.source, un.Nullify):
            return replace(self.source, pointers=arrays)
        assert isinstance(self.source, un.Allocate | un.Deallocate)
        return replace(self.source, arrays=arrays)

    @property
    def intrinsic(self) -> Any:
        """The procedure, a member of `Intrinsic`."""
        return self.Intrinsic(key_of(self.routine.name))

    @property
    def datatype(self) -> DataType:
        """The type of a function result, if the types of all arguments are known."""
        is_function = self.source is None and isinstance(self.origin, ex.Index)
        return datatype_of_value(self.frozen()) if is_function else UnresolvedType()

    @property
    def is_pure(self) -> bool | None:
        """Return whether the intrinsic procedure is pure."""
        return key_of(self.routine.name) in PURE


@statement_of.register
def _(line: un.Call) -> Statement:
    is_intrinsic = intrinsic_named(line.procedure) is not None
    return IntrinsicCall.of_line(line) if is_intrinsic else Call.of_line(line)


@statement_of.register(un.Allocate)
@statement_of.register(un.Deallocate)
@statement_of.register(un.Nullify)
def _(line: un.Line) -> Statement:
    return IntrinsicCall.of_line(line)


@node_of.register
def _indexed(expr: ex.Index) -> DataNode:
    is_call = isinstance(expr, ex.CallFunction | ex.StructureConstructor)
    if isinstance(expr.base, ex.Member) and not is_call and expr.items:
        return component_node(expr)
    if is_call or not expr.items or _may_be_call(expr):
        is_intrinsic = is_call and intrinsic_named(expr.base) is not None
        return IntrinsicCall.showing(expr) if is_intrinsic else Call.showing(expr)
    if isinstance(expr.base, ex.Name):
        return ArrayReference.showing(expr)
    return OtherExpression.showing(expr)


def _may_be_call(expr: ex.Index) -> bool:
    return isinstance(expr, ex.Unresolved) and isinstance(expr.base, ex.Name)
