"""Derived types of LFRic with components that an algorithm passes to kernels."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.infrastructures.lfric import VECTOR_TYPES
from psyclone_storage.ir.expr import Origin, Range, Sort, Symbol
from psyclone_storage.ir.types import DerivedType


def _vector(name: str, element: str) -> Symbol:
    fields = Symbol(
        "vector", "vector", Origin.HOST, Sort.VARIABLE, DerivedType(element), (Range(),)
    )
    type_ = DerivedType(name)
    return Symbol(name, name, Origin.IMPORTED, Sort.TYPE, type_, components=(fields,))


STRUCTURES: Mapping[str, Symbol] = {
    name: _vector(name, element) for name, element in VECTOR_TYPES.items()
}
"""Their definitions, by their names in lower case."""
