"""Names in GOcean metadata, and tables extended by the settings.

Current names start with `go_`. Names before 2018 do not. All other modules use the current spelling
in lower case.
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

_ACCESSES = {word: Access(value) for word, value in ACCESSES.items()}


@dataclass(frozen=True, slots=True)
class Tables:
    """Settings of GOcean.

    - `accesses`: the access types by name.

    - `properties`: the grid properties that a kernel can request.

    - `bounds`: the loop bounds of a set of points, by index offset, type of field and name of the
      set.
    """

    accesses: Mapping[str, Access] = field(default_factory=lambda: _ACCESSES)
    properties: Mapping[str, GridProperty] = field(default_factory=dict)
    bounds: Mapping[tuple[str, str, str], GridBounds] = field(default_factory=dict)

    @property
    def points(self) -> tuple[str, ...]:
        """Names of all sets of points."""
        names = (INTERNAL, EXTERNAL, ALL, *(name for _, _, name in self.bounds))
        return tuple(dict.fromkeys(names))


def word_of(item: MetadataItem) -> str:
    """Return the name in `item` in its current spelling, or '' for another item."""
    if item.keyword is not None or not isinstance(item.expr, Name):
        return ""
    return current_spelling(item.expr.text)


def gocean_constructor(item: MetadataItem) -> str:
    """Return the name before the parentheses of an item such as `go_arg(...)`, or ''."""
    match item.expr:
        case StructureConstructor(Name(name), _):
            return current_spelling(name)
    return ""


def current_spelling(word: str) -> str:
    """Return `word` in its current spelling, in lower case with the prefix `go_`."""
    lower = key_of(word)
    return lower if lower.startswith("go_") else f"go_{lower}"


def unknown_gocean_word(
    item: MetadataItem, code: str, what: str, known: Collection[str]
) -> Diagnostic:
    """Return the diagnostic for an unknown word, with a suggestion.

    `what` completes the sentence "'word' is not ...".
    """
    word = word_of(item) or canonical(item.expr)
    hint = did_you_mean(word, known) or f"It must be {listed(known)}."
    return Diagnostic(code, f"'{item.span.text}' is not {what}.", item.span, hint=hint)
