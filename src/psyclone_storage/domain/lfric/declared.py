"""What an algorithm declares about an actual argument: its type and rank.

Looks through the scopes around an invoke, through structures defined in the same file and through
the field-vector types of LFRic. What another module declares is not read: the answer is then None.
"""

from __future__ import annotations

from dataclasses import dataclass

from psyclone_storage.domain.lfric.precision import VECTOR_TYPES
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Range
from psyclone_storage.ir.parsed import Declaration, ParsedAlgorithm, Scope
from psyclone_storage.ir.types import DataType, DerivedType


@dataclass(frozen=True, slots=True)
class Declared:
    """The type and rank of an expression, and the declaration that says so."""

    type: DataType
    rank: int
    source: Declaration


def declared(expr: Expr, scopes: tuple[Scope, ...], algorithm: ParsedAlgorithm) -> Declared | None:
    """Return what is declared about `expr` as seen from the innermost of `scopes`, or None."""
    match expr:
        case Name(name):
            return _variable(name, scopes, algorithm)
        case Index(base, items):
            whole = declared(base, scopes, algorithm)
            if whole is None or whole.rank != len(items):
                return None
            sections = sum(isinstance(item, Range) for item in items)
            return Declared(whole.type, sections, whole.source)
        case Member(base, name):
            owner = declared(base, scopes, algorithm)
            return _component(owner, name, algorithm)
    return None


def _variable(name: str, scopes: tuple[Scope, ...], algorithm: ParsedAlgorithm) -> Declared | None:
    """Return what the innermost scope that knows `name` says about it.

    A name of an `associate` construct stands for an expression, which is looked up outside of it.
    """
    wanted = name.lower()
    for depth, scope in enumerate(scopes):
        for association in scope.associations:
            if association.name.lower() == wanted:
                return declared(association.expr, scopes[depth + 1 :], algorithm)
        found = _among(scope.declarations, wanted)
        if found is not None:
            return found
    return None


def _component(owner: Declared | None, name: str, algorithm: ParsedAlgorithm) -> Declared | None:
    """Return component `name` of `owner`'s type.

    Where the type of the owner is not known, a component name that only one type of the file has
    tells as much.
    """
    wanted = name.lower()
    if owner is not None and isinstance(owner.type, DerivedType):
        element = VECTOR_TYPES.get(owner.type.name)
        if element is not None and wanted == "vector":
            return Declared(DerivedType(element), 1, owner.source)
        for structure in algorithm.types:
            if structure.name.lower() == owner.type.name:
                return _among(structure.components, wanted)
    candidates = [
        found
        for structure in algorithm.types
        if (found := _among(structure.components, wanted)) is not None
    ]
    types = {(candidate.type, candidate.rank) for candidate in candidates}
    return candidates[0] if len(types) == 1 else None


def _among(components: tuple[Declaration, ...], name: str) -> Declared | None:
    for component in components:
        if component.name.lower() == name:
            return Declared(component.type, component.rank, component)
    return None
