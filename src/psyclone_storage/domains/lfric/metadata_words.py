"""Interpretation of names in LFRic metadata.

The tables are in `infrastructures.lfric_words`. A misspelt name becomes a diagnostic with a hint.
Names are case-insensitive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.infrastructures.lfric import (
    ANY_DISCONTINUOUS_SPACE,
    ANY_SPACE,
    SPACES,
    Limits,
    is_space,
    is_wildcard,
    space_names,
)
from psyclone_storage.infrastructures.lfric_words import (
    ACCESSES,
    ARG_KINDS,
    DATA_TYPES,
    ITERATIONS,
    ITERATIONS_2019,
    MESHES,
    OPERATIONS,
    SHAPES,
    STENCILS,
)
from psyclone_storage.ir.expr import Name, StructureConstructor, canonical
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import MetadataItem
from psyclone_storage.ir.types import Intrinsic

T = TypeVar("T")

__all__ = [
    "ACCESSES",
    "ALLOWED_DATA_TYPES",
    "ARG_KINDS",
    "DATA_TYPES",
    "GOCEAN_HINT",
    "ITERATIONS",
    "ITERATIONS_2019",
    "MESHES",
    "OPERATIONS",
    "SHAPES",
    "STENCILS",
    "constructor_of",
    "look_up_space",
    "look_up_word",
    "unknown_word",
]

ALLOWED_DATA_TYPES: Mapping[ArgKind, tuple[Intrinsic, ...]] = {
    ArgKind.FIELD: (Intrinsic.REAL, Intrinsic.INTEGER),
    ArgKind.OPERATOR: (Intrinsic.REAL,),
    ArgKind.COLUMNWISE_OPERATOR: (Intrinsic.REAL,),
    ArgKind.SCALAR: (Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL),
    ArgKind.SCALAR_ARRAY: (Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL),
}
GOCEAN_HINT = "Kernels of GOcean need '-api gocean'."


def constructor_of(item: MetadataItem) -> str:
    """Return the name before the parentheses of an item such as `arg_type(...)`, or ''."""
    match item.expr:
        case StructureConstructor(Name(name), _):
            return key_of(name)
    return ""


def look_up_word(
    item: MetadataItem,
    table: Mapping[str, T],
    code: str,
    what: str,
    problems: list[Diagnostic],
) -> T | None:
    """Return the meaning of `item` in `table`; add a diagnostic and return None if unknown.

    `what` completes the sentence "'word' is not ...".
    """
    found = table.get(canonical(item.expr)) if item.keyword is None else None
    if found is None:
        problems.append(unknown_word(item, code, what, table))
    return found


def unknown_word(
    item: MetadataItem, code: str, what: str, known: Mapping[str, object] | tuple[str, ...]
) -> Diagnostic:
    """Return the diagnostic for an unknown word, with a suggestion."""
    word = canonical(item.expr)
    if word.startswith("go_"):
        hint = GOCEAN_HINT
    else:
        hint = did_you_mean(word, known) or f"It must be {listed(known)}."
    return Diagnostic(code, f"'{item.span.text}' is not {what}.", item.span, hint=hint)


def look_up_space(
    item: MetadataItem, limits: Limits, code: str, problems: list[Diagnostic]
) -> str | None:
    """Return the function space that `item` names, in lower case; add a diagnostic if unknown."""
    space = canonical(item.expr)
    if item.keyword is None and is_space(space, limits):
        return space
    if is_wildcard(space) and space.rpartition("_")[2].isdigit():
        hint = (
            f"Wildcards are numbered from 1, up to {limits.any_space} for 'any_space' and"
            f" {limits.any_discontinuous_space} for 'any_discontinuous_space'. The settings"
            " NUM_ANY_SPACE and NUM_ANY_DISCONTINUOUS_SPACE raise these limits."
        )
        problems.append(
            Diagnostic(code, f"There is no function space '{item.span.text}'.", item.span, "", hint)
        )
    else:
        known = listed((*SPACES, f"{ANY_SPACE}n", f"{ANY_DISCONTINUOUS_SPACE}n"))
        hint = did_you_mean(space, space_names(limits)) or f"It must be {known}."
        message = f"'{item.span.text}' is not a function space."
        problems.append(Diagnostic(code, message, item.span, hint=hint))
    return None
