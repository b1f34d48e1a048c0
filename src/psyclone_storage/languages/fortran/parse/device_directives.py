"""Procedures and variables that OpenACC directives in a module place on a device.

The search covers the text, because the statement reader treats directives as comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.types import Intent
from psyclone_storage.languages.fortran.parse.exports import intents_of
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode

_ROUTINE = regex(
    r"^[ \t]*!\$acc[ \t]+routine\b(?:[ \t]*\([ \t]*(?P<name>\w+)[ \t]*\))?",
    re.IGNORECASE | re.MULTILINE,
)
_DECLARE = regex(
    r"^[ \t]*!\$acc[ \t]+declare\b(?P<clauses>(?:[^\n!]*&[ \t]*\n[ \t]*!\$acc[ \t]*&?)*[^\n!]*)",
    re.IGNORECASE | re.MULTILINE,
)
_CLAUSE = regex(r"(?:create|copyin|device_resident)[ \t]*\(([^()]*)\)", re.IGNORECASE)
_CONTINUED = regex(r"&[ \t]*\n[ \t]*!\$acc[ \t]*&?", re.IGNORECASE)


def found_on_device(module: ScopeNode) -> dict[str, Procedure | None]:
    """Return the names that directives in `module` place on a device.

    The value is a procedure, or None for a variable. A generic name is included if all of its
    specific procedures are.
    """
    text = module.opening.source.text
    if "!$acc" not in text.lower():
        return {}
    first = min((scope.place.start for scope in module.children), default=module.stop)
    found = dict.fromkeys(_declared(text, module.place.start, first), None)
    routines = frozenset(_routines(text, module))
    procedures = {scope.key: as_called(scope) for scope in module.children if scope.key in routines}
    for one in module.generics:
        if one.name and one.names and all(name in procedures for name in one.names):
            procedures[one.name] = joined(one.name, [procedures[name] for name in one.names])
    return {**found, **procedures}


def as_called(scope: ScopeNode) -> Procedure:
    """Return the record of a device procedure for callers on the device.

    The procedure changes only its arguments. A function that changes an argument is recorded as a
    subroutine, because it has side effects.
    """
    dummies = intents_of(scope)
    changes = any(intent is not Intent.IN for _, intent in dummies)
    is_function = scope.kind is ScopeKind.FUNCTION and not changes
    place = scope.opening.whole()
    return Procedure(scope.key, frozenset(), place, is_function, True, dummies)


def joined(name: str, procedures: list[Procedure]) -> Procedure:
    """Return one record for the specific procedures of the generic `name`.

    A dummy argument has intent `in` only if it has this intent in all specific procedures.
    """
    most = max(len(one.dummies) for one in procedures)
    columns = [[one.dummies[at] for one in procedures if at < len(one.dummies)]
               for at in range(most)]  # fmt: skip
    given = [(name, intent) for one in procedures for name, intent in one.dummies]
    only = {key for key, _ in given} - {key for key, intent in given if intent is not Intent.IN}
    dummies = tuple(
        (column[0][0], Intent.IN if all(key in only for key, _ in column) else Intent.INOUT)
        for column in columns
    )
    first = procedures[0]
    is_function = all(one.is_function for one in procedures)
    return Procedure(name, frozenset(), first.place, is_function, True, dummies)


def _declared(text: str, start: int, stop: int) -> Iterator[str]:
    for directive in _DECLARE.finditer(text, start, stop):
        clauses = _CONTINUED.sub("", directive["clauses"])
        for names in _CLAUSE.findall(clauses):
            yield from (name.strip().lower() for name in names.split(","))


def _routines(text: str, module: ScopeNode) -> Iterator[str]:
    for directive in _ROUTINE.finditer(text, module.place.start, module.stop):
        innermost = module.innermost(directive.start())
        if directive["name"] and innermost is module:
            yield directive["name"].lower()
        elif innermost.parent is module:
            yield innermost.key
