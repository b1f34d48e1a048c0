"""Data types in PSyclone's form."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import types as ty
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.typed import Typing
from psyclone_storage.scripting.errors import refusal


class DataType:
    """A data type."""

    @property
    def is_array(self) -> bool:
        """Return whether it is an array type."""
        return False


class UnresolvedType(DataType):
    """The type of a name whose declaration was not found."""


class NoType(DataType):
    """The type of a subroutine's result, which has no value."""


class UnsupportedFortranType(DataType):
    """A type of which only the text `declaration` is known.

    `partial_datatype` contains the properties that could be determined.
    """

    def __init__(self, declaration: str, partial_datatype: DataType | None = None) -> None:
        self.declaration = declaration
        self.partial_datatype = partial_datatype


class DerivedDataType(DataType):
    """A derived type, identified by its `name`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DerivedDataType) and key_of(other.name) == key_of(self.name)

    def __hash__(self) -> int:
        return hash(key_of(self.name))


class Precision(Enum):
    """A precision without a kind name or a number of bytes."""

    SINGLE = "single"
    DOUBLE = "double"
    UNDEFINED = "undefined"


class ScalarIntrinsic(Enum):
    """The intrinsic types, with PSyclone's names."""

    REAL = ty.Intrinsic.REAL
    INTEGER = ty.Intrinsic.INTEGER
    BOOLEAN = ty.Intrinsic.LOGICAL
    CHARACTER = ty.Intrinsic.CHARACTER
    COMPLEX = ty.Intrinsic.COMPLEX


class Extent(Enum):
    """An extent without an expression in the declaration."""

    DEFERRED = "deferred"
    ATTRIBUTE = "attribute"


class ScalarType(DataType):
    """An intrinsic type with a precision: a number of bytes, a kind name or a kind symbol."""

    Intrinsic = ScalarIntrinsic
    Precision = Precision

    def __init__(self, intrinsic: Any, precision: Any) -> None:
        self.intrinsic = intrinsic
        self.precision = precision

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ScalarType)
            and other.intrinsic is self.intrinsic
            and _kind(other) == _kind(self)
        )

    def __hash__(self) -> int:
        return hash((self.intrinsic, _kind(self)))

    def __str__(self) -> str:
        return f"Scalar<{self.intrinsic.name}, {_kind(self) or 'UNDEFINED'}>"

    @classmethod
    def _default(cls, name: str) -> ScalarType:
        return cls(ScalarIntrinsic[name], Precision.UNDEFINED)

    @classmethod
    def integer_type(cls) -> ScalarType:
        """Return the default integer type."""
        return cls._default("INTEGER")

    @classmethod
    def real_type(cls) -> ScalarType:
        """Return the default real type."""
        return cls._default("REAL")

    @classmethod
    def boolean_type(cls) -> ScalarType:
        """Return the default logical type."""
        return cls._default("BOOLEAN")

    @classmethod
    def character_type(cls) -> ScalarType:
        """Return the default character type."""
        return cls._default("CHARACTER")


def _precision(type_: ScalarType) -> str:
    """Return the precision as a Fortran kind; an empty string for the default kind."""
    precision = type_.precision
    if precision is Precision.DOUBLE:
        return "kind(1.0d0)"
    if isinstance(precision, Enum):
        return ""
    return str(getattr(precision, "name", precision))


def _kind(type_: ScalarType) -> str:
    return key_of(_precision(type_))


def intrinsic_type(type_: object) -> ty.Intrinsic | None:
    """Return the intrinsic type of a PSyIR type, or None."""
    found = getattr(type_, "intrinsic", None)
    return found.value if isinstance(found, ScalarIntrinsic) else None


def kind_of(type_: object) -> str | None:
    """Return the kind of a PSyIR type as text, None for the default kind."""
    scalar = getattr(type_, "elemental_type", type_)
    return _precision(scalar) or None if isinstance(scalar, ScalarType) else None


class ArrayType(DataType):
    """The type of an array: its element type, and `shape` with an entry for each dimension.

    An entry is an expression or a number for the upper bound, a pair of bounds, or one of `Extent`.
    """

    Extent = Extent

    def __init__(self, datatype: Any, shape: Sequence[Any]) -> None:
        self.elemental_type = datatype
        self.shape = list(shape)

    @property
    def is_array(self) -> bool:
        """Return whether it is an array type."""
        return True

    @property
    def intrinsic(self) -> Any:
        """The intrinsic type of the elements."""
        return getattr(self.elemental_type, "intrinsic", self.elemental_type)

    @property
    def precision(self) -> Any:
        """The precision of the elements."""
        return getattr(self.elemental_type, "precision", None)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ArrayType)
            and other.elemental_type == self.elemental_type
            and len(other.shape) == len(self.shape)
        )

    def __hash__(self) -> int:
        return hash((self.elemental_type, len(self.shape)))


def datatype_of(symbol: ex.Symbol) -> DataType:
    """Return the declared type of a symbol."""
    if symbol.type is None:
        return UnresolvedType()
    if "pointer" in symbol.attributes or "target" in symbol.attributes:
        return UnsupportedFortranType(symbol.name, _of_shape(symbol))
    return _of_shape(symbol)


def _of_shape(symbol: ex.Symbol) -> DataType:
    assert symbol.type is not None
    element = scalar_datatype(symbol.type)
    if not symbol.shape:
        return element
    return ArrayType(element, [_extent(one) for one in symbol.shape])


def datatype_of_value(expr: ex.Expr) -> DataType:
    """Return the type of an expression, unresolved if a type or rank in it is unknown.

    The bounds of an array are not stated.
    """
    known = {part.key: part.symbol for part in ex.walk(expr) if isinstance(part, ex.Name)}

    def symbol(key: str) -> ex.Symbol:
        return known.get(key) or ex.Symbol(key, key, ex.Origin.UNRESOLVED)

    typing = Typing(symbol, lambda _: None)
    type_, rank = typing.type_of(expr), typing.rank_of(expr)
    if type_ is None or rank is None:
        return UnresolvedType()
    element = scalar_datatype(type_)
    return ArrayType(element, [Extent.DEFERRED] * rank) if rank else element


def _extent(extent: ex.Expr) -> object:
    if isinstance(extent, ex.Range):
        if extent.upper is None:
            return Extent.DEFERRED
        return extent.upper if extent.lower is None else (extent.lower, extent.upper)
    return extent


def scalar_datatype(type_: ty.DataType) -> DataType:
    """Return the PSyIR type of a scalar."""
    if isinstance(type_, ty.DerivedType):
        return DerivedDataType(type_.name)
    if type_.intrinsic is ty.Intrinsic.CHARACTER and type_.kind is not None:
        return UnsupportedFortranType(f"character({type_.kind})")
    precision = Precision.UNDEFINED if type_.kind is None else type_.kind
    return ScalarType(ScalarIntrinsic(type_.intrinsic), precision)


def declared_type(type_: object) -> ty.DataType:
    """Return the type in a Fortran declaration for the PSyIR type `type_`.

    Raises:
        TransformationError: `T015`, no declaration can be written for it.
    """
    if isinstance(type_, ArrayType):
        return declared_type(type_.elemental_type)
    if isinstance(type_, ScalarType):
        return ty.ScalarType(type_.intrinsic.value, _precision(type_) or None)
    if isinstance(type_, DerivedDataType):
        return ty.DerivedType(key_of(type_.name))
    raise refusal(f"A variable of type '{type(type_).__name__}' cannot be declared.")


INTEGER_TYPE = ScalarType.integer_type()
REAL_TYPE = ScalarType.real_type()
BOOLEAN_TYPE = ScalarType.boolean_type()
CHARACTER_TYPE = ScalarType.character_type()
REAL_DOUBLE_TYPE = ScalarType(ScalarIntrinsic.REAL, Precision.DOUBLE)
