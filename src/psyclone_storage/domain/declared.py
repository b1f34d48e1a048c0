"""What an algorithm declares about an actual argument: its type and rank.

Looks through the scopes around an invoke, and through structures that are defined in the same file
or that the domain knows. What another module declares is not read: the answer is then None.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Range
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import Declaration, ParsedAlgorithm, Scope
from psyclone_storage.ir.types import DataType, DerivedType


@dataclass(frozen=True, slots=True)
class VisibleScopes:
    """What can be seen from an invoke: the scopes around it, the innermost first, and the file.

    `vectors` are types of the domain with a component `vector`, an array of the type that they
    are mapped to.
    """

    scopes: tuple[Scope, ...]
    algorithm: ParsedAlgorithm
    vectors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Declared:
    """The type and rank of an expression, and the declaration that says so."""

    type: DataType
    rank: int
    source: Declaration


def declared(expr: Expr, seen: VisibleScopes) -> Declared | None:
    """Return what is declared about `expr`, or None."""
    match expr:
        case Name(name):
            return _variable(name, seen)
        case Index(base, items):
            whole = declared(base, seen)
            if whole is None or whole.rank != len(items):
                return None
            sections = sum(isinstance(item, Range) for item in items)
            return Declared(whole.type, sections, whole.source)
        case Member(base, name):
            owner = declared(base, seen)
            return _component(owner, name, seen)
    return None


def _variable(name: str, seen: VisibleScopes) -> Declared | None:
    """Return what the innermost scope that knows `name` says about it.

    A name of an `associate` construct stands for an expression, which is looked up outside of it.
    """
    wanted = key_of(name)
    for depth, scope in enumerate(seen.scopes):
        for association in scope.associations:
            if association.key == wanted:
                return declared(association.expr, replace(seen, scopes=seen.scopes[depth + 1 :]))
        found = _among(scope.declarations, wanted)
        if found is not None:
            return found
    return None


def _component(owner: Declared | None, name: str, seen: VisibleScopes) -> Declared | None:
    """Return component `name` of `owner`'s type.

    Where the type of the owner is not known, a component name that only one type of the file has
    tells as much.
    """
    wanted = key_of(name)
    if owner is not None and isinstance(owner.type, DerivedType):
        element = seen.vectors.get(owner.type.name)
        if element is not None and wanted == "vector":
            return Declared(DerivedType(element), 1, owner.source)
        for structure in seen.algorithm.types:
            if structure.key == owner.type.name:
                return _among(structure.components, wanted)
    candidates = [
        found
        for structure in seen.algorithm.types
        if (found := _among(structure.components, wanted)) is not None
    ]
    types = {(candidate.type, candidate.rank) for candidate in candidates}
    return candidates[0] if len(types) == 1 else None


def _among(components: tuple[Declaration, ...], name: str) -> Declared | None:
    for component in components:
        if component.key == name:
            return Declared(component.type, component.rank, component)
    return None


def is_variable(expr: Expr) -> bool:
    """Return whether `expr` designates an object: a name, a component or an element."""
    match expr:
        case Name(_):
            return True
        case Member(base, _) | Index(base, _):
            return is_variable(base)
    return False
