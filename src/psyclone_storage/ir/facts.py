"""Promises about a program that no analysis proves, with their provenance.

A fact is used only where a proof fails. A verdict lists the facts that it used, so that a report
lists which promises are needed.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.keys import key_of


class FactKind(Enum):
    """Subject of a promise, by the word that reports and the command line use."""

    PURE = "pure"
    """A procedure changes only its arguments."""
    IGNORED = "ignored"
    """No two iterations of a loop touch the same data of a variable."""
    PRIVATE = "private"
    """Each iteration of a loop may have its own copy of a variable."""
    INDEPENDENT = "independent"
    """The iterations of a loop may run in any order."""
    DISTINCT_POINTERS = "component-pointers-distinct"
    """Pointer components with different names do not alias."""


FLOW_KINDS = (FactKind.PURE, FactKind.DISTINCT_POINTERS)
"""Promises that change the data flow of a routine; others concern the verdicts on loops."""


class FactSource(Enum):
    """Origin of a promise."""

    RECIPE = "recipe"
    COMMAND = "command line"
    METADATA = "metadata"
    DIRECTIVE = "directive"
    """A directive of the author that has been removed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A promise of one kind.

    `name` is the procedure or variable, empty if the kind has none. `routine` and `loop`, the uid
    of a loop, limit the promise; an empty string means all. `place` is where it was made, such as
    `recipe.py:41`.
    """

    kind: FactKind
    name: str = ""
    routine: str = ""
    loop: str = ""
    source: FactSource = FactSource.RECIPE
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"{self.kind.value}{name} ({self.place or self.source.value})"


Facts = tuple[Fact, ...]


def names_of_kind(facts: Facts, kind: FactKind, loop: str | None = None) -> frozenset[str]:
    """Return the keys of the names that facts of one kind promise, for a loop or for all."""
    return frozenset(
        key_of(one.name) for one in facts if one.kind is kind and one.loop in ("", loop)
    )


def of_routine(facts: Facts, routine: str) -> Facts:
    """Return the facts that apply to a routine, by its key."""
    return tuple(one for one in facts if key_of(one.routine) in ("", routine))
