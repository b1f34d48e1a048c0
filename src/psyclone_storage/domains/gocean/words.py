"""The words of GOcean metadata, and the tables that the settings add to them.

Owns the spelling of both generations: today every word begins with `go_`, before 2018 none did.
Everywhere else a word is in today's spelling and in lower case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.infrastructures.gocean import (
    ALL,
    EXTERNAL,
    INTERNAL,
    GridProperty,
)
from psyclone_storage.infrastructures.gocean_words import ACCESSES
from psyclone_storage.ir.expr import Name, StructureConstructor, canonical
from psyclone_storage.ir.kernel import Access, GridBounds
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import MetadataItem


@dataclass(frozen=True, slots=True)
class Tables:
    """Settings of GOcean.

    `properties` are those of a grid that a kernel can ask for. `bounds` holds the loop bounds of
    a set of points, by index offset, type of field and name of the set.
    """

    accesses: Mapping[str, Access] = field(default_factory=lambda: ACCESSES)
    properties: Mapping[str, GridProperty] = field(default_factory=dict)
    bounds: Mapping[tuple[str, str, str], GridBounds] = field(default_factory=dict)

    @property
    def points(self) -> tuple[str, ...]:
        """The names of all sets of points."""
        names = (INTERNAL, EXTERNAL, ALL, *(name for _, _, name in self.bounds))
        return tuple(dict.fromkeys(names))


def word_of(item: MetadataItem) -> str:
    """Return the word that `item` is, or an empty text if it is something else."""
    if item.keyword is not None or not isinstance(item.expr, Name):
        return ""
    return current_spelling(item.expr.text)


def gocean_constructor(item: MetadataItem) -> str:
    """Return the word before the brackets of an item such as `go_arg(...)`, or an empty text."""
    match item.expr:
        case StructureConstructor(Name(name), _):
            return current_spelling(name)
    return ""


def current_spelling(word: str) -> str:
    """Return `word` in today's spelling: in lower case, with `go_` before it."""
    lower = key_of(word)
    return lower if lower.startswith("go_") else f"go_{lower}"


def unknown_gocean_word(
    item: MetadataItem, code: str, what: str, known: Collection[str]
) -> Diagnostic:
    """Say that `item` is not one of the `known` words, and which was probably meant.

    `what` completes the sentence "'word' is not ...".
    """
    word = word_of(item) or canonical(item.expr)
    hint = did_you_mean(word, known) or f"It must be {listed(known)}."
    return Diagnostic(code, f"'{item.span.text}' is not {what}.", item.span, hint=hint)
