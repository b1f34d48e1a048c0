"""Exports of a module that statement analysis needs: derived types and pure procedures."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.parsed import Declaration
from psyclone_storage.ir.routine import Structure
from psyclone_storage.ir.types import Intent
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode


def structures_in(module: ScopeNode) -> Iterator[Structure]:
    """Yield the derived types that `module` defines, with their components."""
    own = {definition.structure.name.lower() for definition in module.definitions}
    for item in module.file.structures():
        if item.name.lower() in own:
            components = tuple(map(unit_declaration, item.components))
            yield Structure(item.name.lower(), components, module.name.lower())


def unit_declaration(item: Declaration) -> Declare:
    """Return a parsed declaration as a unit declaration."""
    words = item.attributes
    return Declare(item.name, item.type, words, item.shape, "class" in words, item.value)


def scalars_of(scope: ScopeNode, names: frozenset[str]) -> frozenset[str]:
    """Return the dummy arguments that are certainly scalars.

    `names` are all words used in `scope`.
    """
    if names & {"dimension", "codimension", "pointer", "target", "allocatable"}:
        return frozenset()  # statements of their own may make arrays of variables
    plain = {item.key for item in scope.parsed.declarations if not item.shape}
    return frozenset(plain & {name.lower() for name in scope.dummies})


def intents_of(scope: ScopeNode) -> tuple[tuple[str, Intent | None], ...]:
    """Return the dummy arguments of a procedure with their intents, in order and lower case."""
    given = {item.key: item.intent for item in scope.parsed.declarations}
    return tuple((name.lower(), given.get(name.lower())) for name in scope.dummies)
