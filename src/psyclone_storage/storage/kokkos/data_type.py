"""Data types of views: parsing, printing and const qualification of `const int**[3]`.

A data type is an element type, one `*` for each dimension whose extent is known at run time, and
one `[n]` for each compile-time extent (VIEW-1). Both classes here are subclasses of `str` with the
canonical spelling, which determines printing, comparison and hashing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from psyclone_storage.base.regex import regex
from psyclone_storage.storage.core.errors import ViewTypeError

MAX_RANK = 8

_NAMED = {
    "bool": "?", "char": "b", "signed char": "i1", "unsigned char": "u1",
    "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned int": "u4",
    "long": "i8", "unsigned long": "u8", "long long": "q", "unsigned long long": "Q",
    "half_t": "f2", "float": "f4", "double": "f8", "long double": "g",
    "complex<float>": "c8", "complex<double>": "c16",
}  # fmt: skip
_ALIASES = {
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short",
    "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int",
    "int64_t": "long", "uint64_t": "unsigned long", "size_t": "unsigned long",
    "ptrdiff_t": "long", "unsigned": "unsigned int", "long int": "long", "short int": "short",
    "unsigned long int": "unsigned long", "long long int": "long long",
}  # fmt: skip
_OF_DTYPE = {
    np.dtype(code): name
    for name, code in _NAMED.items()
    if name not in ("char", "long long", "unsigned long long")
}
_SPEC = regex(r"(?P<scalar>[A-Za-z_][\w:<>, ]*?)\s*(?P<stars>[*\s]*)(?P<brackets>[\[\]\d\s]*)")
_BRACKET = regex(r"\[(\d+)\]")
_registered: dict[str, np.dtype[Any]] = {}


class ElementType(str):
    """An element type such as `const int`, with the corresponding NumPy type."""

    __slots__ = ("name", "dtype", "const")
    name: str
    dtype: np.dtype[Any]
    const: bool

    def __new__(cls, name: str, dtype: np.dtype[Any], const: bool = False) -> ElementType:
        """Create the type from its name without `const`."""
        self = super().__new__(cls, f"const {name}" if const else name)
        self.name = name
        self.dtype = dtype
        self.const = const
        return self

    def with_const(self, const: bool) -> ElementType:
        """Return the const or non-const version of the type (VIEW-25, VIEW-26)."""
        return self if self.const is const else ElementType(self.name, self.dtype, const)

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Pickle name, NumPy type and constness."""
        return self.name, self.dtype, self.const


class DataType(str):
    """A data type: element type, number of run-time dimensions, compile-time extents."""

    __slots__ = ("scalar", "rank_dynamic", "static")
    scalar: ElementType
    rank_dynamic: int
    static: tuple[int, ...]

    def __new__(cls, scalar: ElementType, rank_dynamic: int, static: tuple[int, ...]) -> DataType:
        """Create the type; raise `ViewTypeError` for more than 8 dimensions."""
        if rank_dynamic + len(static) > MAX_RANK:
            raise ViewTypeError(
                f'The data type "{_spelled(scalar, rank_dynamic, static)}" has '
                f"{rank_dynamic + len(static)} dimensions: a view has at most {MAX_RANK}."
            )
        self = super().__new__(cls, _spelled(scalar, rank_dynamic, static))
        self.scalar = scalar
        self.rank_dynamic = rank_dynamic
        self.static = static
        return self

    @property
    def rank(self) -> int:
        """Return the number of dimensions."""
        return self.rank_dynamic + len(self.static)

    def with_const(self, const: bool) -> DataType:
        """Return the const or non-const version of the type (VIEW-21)."""
        return DataType(self.scalar.with_const(const), self.rank_dynamic, self.static)

    def at_run_time(self) -> DataType:
        """Return the type with the same rank and without compile-time extents (VIEW-34)."""
        return DataType(self.scalar, self.rank, ())

    def with_rank(self, rank: int) -> DataType:
        """Return the type with the same elements and `rank` run-time dimensions."""
        return DataType(self.scalar, rank, ())

    def completed(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return all extents: the run-time ones, then the compile-time ones of the type."""
        return extents[: self.rank_dynamic] + self.static

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Pickle element type, number of run-time dimensions and compile-time extents."""
        return self.scalar, self.rank_dynamic, self.static


DataSpec: TypeAlias = "str | DataType"


def register_type(name: str, dtype: Any) -> ElementType:
    """Register `name` for a NumPy type, for use in data types (VIEW-3).

    Raises `ViewTypeError` for a name that is not an identifier or already has another meaning, and
    for a type that contains Python objects.
    """
    wanted = np.dtype(dtype)
    known = _registered.get(name) or _builtin(name)
    if not name.isidentifier() or (known is not None and known != wanted):
        raise ViewTypeError(
            f'"{name}" cannot become the name of {wanted}: it '
            + (f"means {known} already." if known is not None else "must be an identifier.")
        )
    _registered[name] = _checked(wanted)
    return ElementType(name, wanted)


def data_type(spec: DataSpec, dims: str | None = None) -> DataType:
    """Return the data type that `spec` denotes, such as `const int***[5][3]` (VIEW-1 to VIEW-4).

    With `dims`, such as `**[3]`, `spec` is a NumPy type or convertible to one. Raises
    `ViewTypeError` for a syntax error or an unknown element type.
    """
    if dims is not None:
        scalar = scalar_of(np.dtype(spec))
        return _with_dims(scalar, dims, f"{scalar}{dims}")
    if isinstance(spec, DataType):
        return spec
    if not isinstance(spec, str):
        raise ViewTypeError(
            f'A view needs a data type such as "double**", not {spec!r}; after a NumPy type '
            f'write the dimensions, as in View[dtype, "**"].'
        )
    return _parsed(spec)


def scalar_of(dtype: np.dtype[Any]) -> ElementType:
    """Return the element type that corresponds to a NumPy type."""
    named = _OF_DTYPE.get(dtype)
    if named is None:
        named = next((name for name, known in _registered.items() if known == dtype), None)
    return ElementType(named or _anonymous(_checked(dtype)), dtype)


@lru_cache(maxsize=256)
def _parsed(spec: str) -> DataType:
    found = _SPEC.fullmatch(spec.strip())
    if found is None or not found["scalar"].strip():
        raise _malformed(spec)
    words = found["scalar"].split()
    rest = " ".join(word for word in words if word != "const")
    scalar = _scalar_named(rest, spec).with_const("const" in words)
    return _with_dims(scalar, found["stars"] + found["brackets"], spec)


def _with_dims(scalar: ElementType, dims: str, spec: str) -> DataType:
    packed = "".join(dims.split())
    stars = len(packed) - len(packed.lstrip("*"))
    brackets = packed[stars:]
    if _BRACKET.sub("", brackets):
        raise _malformed(spec)
    return DataType(scalar, stars, tuple(int(n) for n in _BRACKET.findall(brackets)))


def _malformed(spec: str) -> ViewTypeError:
    if re.search(r"\]\s*\*", spec):
        return ViewTypeError(
            f'"{spec}" has a "*" after a "[n]": dimensions known at run time come first.'
        )
    return ViewTypeError(
        f'"{spec}" is not a data type: write an element type, one "*" for each dimension known at '
        f'run time, then one "[n]" for each known before, as in "const int**[3]".'
    )


def _scalar_named(name: str, spec: str) -> ElementType:
    plain = re.sub(r"\s*([<>])\s*", r"\1", name.replace("std::", "").replace("Kokkos::", ""))
    known = _registered.get(plain)
    if known is not None:
        return ElementType(plain, known)
    builtin = _builtin(plain)
    if builtin is not None:
        canonical = _ALIASES.get(plain, plain)
        return ElementType(canonical if canonical in _NAMED else _OF_DTYPE[builtin], builtin)
    raise ViewTypeError(
        f'"{name}" in "{spec}" is not an element type: register_type("{name}", dtype) makes a '
        f"structured NumPy type known under that name."
    )


def _builtin(name: str) -> np.dtype[Any] | None:
    canonical = _ALIASES.get(name, name)
    if canonical in _NAMED:
        return np.dtype(_NAMED[canonical])
    return next((dtype for dtype in _OF_DTYPE if dtype.name == name), None)


def _checked(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.hasobject:
        raise ViewTypeError(f"{dtype} holds Python objects, which cannot live in a view.")
    return dtype


def _anonymous(dtype: np.dtype[Any]) -> str:
    return f"dtype({dtype.descr if dtype.names else dtype.str!r})"


def _spelled(scalar: str, rank_dynamic: int, static: tuple[int, ...]) -> str:
    return scalar + "*" * rank_dynamic + "".join(f"[{extent}]" for extent in static)
