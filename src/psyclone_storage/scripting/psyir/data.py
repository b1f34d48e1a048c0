"""Base class of expression nodes, and constants."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import ClassVar, Self

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import types as ty
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.scripting.errors import GenerationError
from psyclone_storage.scripting.psyir.datatypes import (
    DataType,
    UnresolvedType,
    intrinsic_type,
    kind_of,
    scalar_datatype,
)
from psyclone_storage.scripting.psyir.live import LiveNode


@singledispatch
def node_of(expr: ex.Expr) -> DataNode:
    """Return the node of the expression `expr`."""
    return OtherExpression.showing(expr)


class DataNode(LiveNode):
    """An expression, or a part of one."""

    can_be_assigned: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.cached_expr: ex.Expr | None = None
        self.origin: ex.Expr | None = None

    @classmethod
    def showing(cls, expr: ex.Expr) -> Self:
        """Return the node of an expression in the source file."""
        new = cls.__new__(cls)
        DataNode.__init__(new)
        new.cached_expr = new.origin = expr
        return new

    def frozen(self) -> ex.Expr:
        """Return the immutable expression."""
        if self.cached_expr is None:
            self.cached_expr = self._rebuilt()
        return self.cached_expr

    def _rebuilt(self) -> ex.Expr:
        """Return the expression built from the children."""
        parts = iter(self.children)
        assert self.origin is not None
        return with_parts(self.origin, lambda _: next(parts).frozen())

    def forget(self) -> None:
        """Drop the cached expression."""
        super().forget()
        self.cached_expr = None

    def _shown(self) -> Iterable[LiveNode]:
        return map(node_of, () if self.origin is None else ex.children(self.origin))

    def _accepts(self, position: int, child: LiveNode) -> bool:
        count = len(self._children or ())
        limit = 0 if self.origin is None else len(ex.children(self.origin))
        return isinstance(child, DataNode) and position < limit and count < limit

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DataNode)
            and type(other) is type(self)
            and other.frozen() == self.frozen()
        )

    def __hash__(self) -> int:
        return id(self)

    @property
    def datatype(self) -> DataType:
        """The type of the value, if a declaration specifies it."""
        return UnresolvedType()

    def debug_string(self) -> str:
        """Return the expression as Fortran text."""
        return ex.spell_as_written(self.frozen())

    def _details(self) -> str:
        return self.debug_string()

    def get_symbol_names(self) -> list[str]:
        """Return the names used in the expression."""
        return [part.text for part in ex.walk(self.frozen()) if isinstance(part, ex.Name)]


class OtherExpression(DataNode):
    """An expression for which PSyclone has no class; its operands are nodes."""

    parse_tree_nodes: tuple[object, ...] = ()


# ---------------------------------------------------------------------------- constants


_LOGICAL = {"true": ".true.", "false": ".false."}


class Literal(DataNode):
    """A literal constant; `value` is its text without kind and quotes."""

    can_be_assigned: ClassVar[bool] = False

    def __init__(self, value: str, datatype: DataType, parent: LiveNode | None = None) -> None:
        super().__init__()
        self._datatype: DataType | None = datatype
        self.origin = self.cached_expr = _literal(str(value), datatype)
        self._parent = parent

    @property
    def value(self) -> str:
        """The text of the constant, without kind and quotes."""
        literal = self.origin
        assert isinstance(literal, ex.Literal)
        if literal.intrinsic in (ty.Intrinsic.CHARACTER, ty.Intrinsic.LOGICAL):
            found = literal.value
            return key_of(str(found)) if isinstance(found, bool) else str(found)
        return key_of(literal.text.partition("_")[0])

    @property
    def datatype(self) -> DataType:
        """The type of the constant."""
        own: DataType | None = getattr(self, "_datatype", None)
        if own is not None:
            return own
        literal = self.origin
        assert isinstance(literal, ex.Literal)
        return scalar_datatype(ty.ScalarType(literal.intrinsic, literal.kind))


def _literal(value: str, datatype: object) -> ex.Literal:
    """Return a constant for a script; without a known type, the text determines the type."""
    intrinsic, kind = intrinsic_type(datatype), kind_of(datatype)
    is_whole = value.lstrip("+-").isdigit()
    match intrinsic:
        case ty.Intrinsic.LOGICAL:
            if key_of(value) not in _LOGICAL:
                message = f"'{value}' is not a logical constant: write 'true' or 'false'."
                raise GenerationError(message)
            return _of_kind(ex.Literal(_LOGICAL[key_of(value)], intrinsic), kind)
        case ty.Intrinsic.CHARACTER:
            quote = '"' if "'" in value and '"' not in value else "'"
            text = value.replace(quote, quote * 2)
            return ex.Literal(f"{quote}{text}{quote}", intrinsic)
        case ty.Intrinsic.REAL:
            return _of_kind(ex.Literal(f"{value}.0" if is_whole else value, intrinsic), kind)
        case ty.Intrinsic.INTEGER if not is_whole:
            raise GenerationError(f"'{value}' is not an integer constant.")
    is_real = intrinsic is None and not is_whole
    return _of_kind(ex.Literal(value, ty.Intrinsic.REAL if is_real else ty.Intrinsic.INTEGER), kind)


def _of_kind(literal: ex.Literal, kind: str | None) -> ex.Literal:
    return literal if kind is None else literal.with_kind(kind)


@node_of.register
def _(expr: ex.Literal) -> DataNode:
    return Literal.showing(expr)
