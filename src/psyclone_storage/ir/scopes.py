"""Origins of the names that a kernel's subroutine takes from enclosing scopes.

Names that the subroutine declares or imports, intrinsic functions and keywords are left out. All
names in an opaque statement count as used.
"""

from __future__ import annotations

import re

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.intrinsics import PURE
from psyclone_storage.ir.keys import keys_of
from psyclone_storage.ir.routine import Between, Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.ir.unit import Declare, Imported, Opaque, Use
from psyclone_storage.ir.used import names_in_declaration

WORDS = frozenset(
    """allocatable associate asynchronous block call case character class close complex concurrent
    contiguous continue critical cycle deallocate allocate default dimension do double else elseif
    elsewhere end endassociate endblock enddo endif endselect endwhere exit external false forall
    go goto if implicit in inout integer intent interface intrinsic is kind len logical none
    nullify only open optional out parameter pointer precision print procedure rank read real
    result return save select stop subroutine function target then to true type use value volatile
    where while write""".split()
)
"""Words of statements that may stand in an opaque one. A variable of such a name is not found."""

_PROCEDURE = regex(
    r"^(?!\s*end\b)[^!'\"\n]*?\b(?:subroutine|function)\s+(?P<name>[a-z]\w*)",
    re.IGNORECASE | re.MULTILINE,
)
_OF_PROCEDURES = regex(r"(?:abstract|external|interface|procedure)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RoutineScope:
    """Names that a subroutine takes from enclosing scopes, in lower case.

    - `constants`, `procedures`: those of its module. `others`: types and other entities there.
    - `uses`: the module's imports, restricted to the names needed.
    - `unknown`: names that may come from modules imported as a whole, or are undeclared.

    Variables that are passed to a Python kernel are not included.
    """

    constants: tuple[Declare, ...]
    procedures: frozenset[str]
    others: frozenset[str]
    uses: tuple[Use, ...]
    unknown: frozenset[str]


def surroundings(code: Routine) -> RoutineScope:
    """Return the names that `code` takes from enclosing scopes.

    Constants include all constants to which they refer.
    """
    module, inside = code.module, local_names(code)
    wanted = code.used_names - inside - module.passed_variables
    constants: list[Declare] = []
    for item in reversed(module.declarations):
        if isinstance(item, Declare) and item.key in wanted:
            constants.insert(0, item)
            wanted = wanted | (names_in_declaration(item) - inside)
    left = wanted - {item.key for item in constants}
    procedures = left & (module.generics | {item.name for item in module.procedures})
    left -= procedures
    uses = tuple(use for item in module.uses if (use := _narrowed(item, left)).names)
    left -= {name.key for use in uses for name in use.names}
    opaque = [item.names for item in module.declarations if isinstance(item, Opaque)]
    others = left & frozenset[str]().union(*opaque)
    return RoutineScope(tuple(constants), procedures, others - PURE - WORDS, uses,
                        left - others - PURE - WORDS)  # fmt: skip


def _narrowed(use: Use, wanted: frozenset[str]) -> Use:
    names = tuple(name for name in use.names if name.key in wanted)
    return Use(use.module, names, use.intrinsic)


def imports_of(code: Routine) -> tuple[tuple[Use, Imported], ...]:
    """Return the names that the subroutine or its module imports by name.

    Imports of the module that a local name hides are left out.
    """
    hidden = local_names(code)
    around = ((use, name) for use in code.module.uses for name in use.names)
    return (
        *((use, name) for use in code.uses for name in use.names),
        *((use, name) for use, name in around if name.key not in hidden),
    )


# ---------------------------------------------------------------------------- names


def local_names(code: Routine) -> frozenset[str]:
    """Return the lower-case names that a subroutine declares or imports itself."""
    opaque = (item.names for item in code.declarations if isinstance(item, Opaque))
    return _certain_names(code).union(*opaque)


@kept_lately
def host_names(contained: tuple[Routine | Between, ...]) -> frozenset[str]:
    """Return the names outside of internal procedures that these may use.

    Preprocessor directives may remove declarations, so that the names are those of the host.
    """
    found = {name for item in contained if isinstance(item, Opaque) for name in item.names}
    for one in contained:
        if isinstance(one, Routine):
            texts = (item.text for item in one.declarations if isinstance(item, Opaque))
            is_sure = not any("#" in text for text in texts)
            found |= one.used_names - (_certain_names(one) if is_sure else {*one.dummy_keys})
    return frozenset(found)


def seen_procedures(code: Routine, around: tuple[Procedure, ...]) -> tuple[Procedure, ...]:
    """Return the procedures of enclosing units that no local name of `code` hides."""
    stated = (
        item.names
        for item in code.declarations
        if isinstance(item, Opaque) and _OF_PROCEDURES.match(item.text)
    )
    hidden = _certain_names(code).union(*stated) if around else frozenset[str]()
    if not any(one.name in hidden for one in around):
        return around
    return tuple(one for one in around if one.name not in hidden)


def _certain_names(code: Routine) -> frozenset[str]:
    declared = {item.key for item in code.declarations if isinstance(item, Declare)}
    imported = {name.key for use in code.uses for name in use.names}
    internal = {one.key for one in code.procedures}
    for item in code.contained:
        if isinstance(item, Opaque):
            internal |= keys_of(found["name"] for found in _PROCEDURE.finditer(item.text))
    return frozenset({*declared, *imported, *code.dummy_keys, *internal})
