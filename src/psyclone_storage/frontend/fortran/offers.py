"""What a module offers to those who analyse statements: derived types and pure procedures."""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.regex import regex
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader
from psyclone_storage.ir.code import Structure
from psyclone_storage.ir.parsed import Declaration
from psyclone_storage.ir.types import Intent
from psyclone_storage.ir.unit import Declare

_PROCEDURE = regex(r"\b(?:subroutine|function)\b", re.IGNORECASE)
_WORDS = regex(r"[a-z]\w*", re.IGNORECASE)


def structures_in(reader: UnitReader, module: OpenScope) -> Iterator[Structure]:
    """Yield the derived types that `module` defines, with their components."""
    own = {definition.structure.name.lower() for definition in module.definitions}
    for item in reader.structures():
        if item.name.lower() in own:
            components = tuple(map(declare, item.components))
            yield Structure(item.name.lower(), components, module.name.lower())


def declare(item: Declaration) -> Declare:
    """Return what was read of a declaration as one of a unit."""
    words = item.attributes
    return Declare(item.name, item.type, words, item.shape, "class" in words, item.value)


def is_pure(scope: OpenScope) -> bool:
    """Return whether a procedure is declared to change nothing but its arguments."""
    text = scope.opening.text
    found = _PROCEDURE.search(text)
    words = {word.lower() for word in _WORDS.findall(text[: found.start() if found else 0])}
    return "pure" in words or ("elemental" in words and "impure" not in words)


def scalars_of(reader: UnitReader, scope: OpenScope, names: frozenset[str]) -> frozenset[str]:
    """Return the dummy arguments of a procedure, with `names` in it, that are known scalars."""
    if names & {"dimension", "codimension", "pointer", "target", "allocatable"}:
        return frozenset()  # statements of their own may make arrays of variables
    declared = reader.scope(scope).declarations
    plain = {item.name.lower() for item in declared if not item.shape}
    return frozenset(plain & {name.lower() for name in scope.dummies})


def intents_of(reader: UnitReader, scope: OpenScope) -> tuple[tuple[str, Intent | None], ...]:
    """Return the dummy arguments of a procedure with their intents, in order and lower case."""
    given = {item.name.lower(): item.intent for item in reader.scope(scope).declarations}
    return tuple((name.lower(), given.get(name.lower())) for name in scope.dummies)
