"""Facts: assertions by the user that the compiler cannot prove, with their origin.

A legality check uses a fact only where its proof fails. Its verdict lists the facts used, so that a
report can show on which assertions the result depends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import chain, product

from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.rewrite import with_each_block
from psyclone_storage.ir.routine import Routine


class FactKind(Enum):
    """Kind of a fact, by the word used in reports and on the command line."""

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
    DATA_COMPONENTS = "unknown-components-are-data"
    """Brackets after a component of a type whose definition is not at hand are subscripts."""
    ONE_CALL = "one-call-at-a-time"
    """No two threads call a procedure at the same time."""
    UNWRITTEN_UNUSED = "unwritten-elements-unused"
    """Elements that a device region does not write are not read later, if it reads none before."""
    COLUMNS = "columns"
    """No two cells, the last subscript of a dofmap, share a dof, or an element at an offset."""


ASSUMPTIONS = frozenset(
    {FactKind.DISTINCT_POINTERS, FactKind.DATA_COMPONENTS, FactKind.UNWRITTEN_UNUSED}
)
"""Promises about all names of a routine, which the command line can make."""
FLOW_KINDS = ASSUMPTIONS | {FactKind.PURE, FactKind.COLUMNS}
"""Promises that change the data flow of a routine; others concern the verdicts on loops."""


class FactSource(Enum):
    """Source of a fact."""

    RECIPE = "recipe"
    COMMAND = "command line"
    METADATA = "metadata"
    DIRECTIVE = "directive"
    """A directive of the author that has been removed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One assertion by the user.

    `name` is the procedure or variable, empty if the kind needs none. `routine` (its key in the
    file) and `loop` (a uid) restrict the scope; empty means everywhere. An assertion about a loop
    holds for the `statements` that the loop had at that time (`digest_of_loop`). `place` is where
    the user wrote the assertion, such as `recipe.py:41`.
    """

    kind: FactKind
    name: str = ""
    routine: str = ""
    loop: str = ""
    source: FactSource = FactSource.RECIPE
    place: str = field(default="", compare=False)
    statements: str = field(default="", repr=False)

    def __str__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"{self.kind.value}{name} ({self.place or self.source.value})"


Facts = tuple[Fact, ...]


class GroupedFacts(tuple[Fact, ...]):
    """Facts, and the same in `groups` by the routine and the loop that they are about.

    A recipe makes thousands. Therefore, a question about a loop does not look at all of them.
    """

    groups: Mapping[tuple[str, str], Facts]

    @classmethod
    def of(cls, facts: Iterable[Fact], groups: Mapping[tuple[str, str], Facts]) -> GroupedFacts:
        """Return facts with their groups, which are given."""
        made = cls(facts)
        made.groups = groups
        return made

    def with_facts(self, facts: Iterable[Fact]) -> GroupedFacts:
        """Return these facts and others, each once."""
        new: dict[tuple[str, str], list[Fact]] = {}
        for one in facts:
            new.setdefault((key_of(one.routine), one.loop), []).append(one)
        groups, added = dict(self.groups), list[Fact]()
        for key, items in new.items():
            group = groups.get(key, ())
            groups[key] = tuple(dict.fromkeys((*group, *items)))
            added += groups[key][len(group) :]
        return GroupedFacts.of((*self, *added), groups)

    @property
    def general(self) -> Iterator[Fact]:
        """The facts that are not about a loop."""
        found = (group for (_, loop), group in self.groups.items() if not loop)
        return chain.from_iterable(found)


NO_FACTS = GroupedFacts.of((), {})


def digest_of_loop(loop: un.Do) -> str:
    """Return a digest of a loop's place in the text and its statements, without directives."""
    place = loop.place
    where = "" if place is None else f"{place.source.name}:{place.start}"
    (plain,) = _plain((loop,))
    return digest_of(f"{where} {plain!r}")


def _plain(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    found: list[un.Line] = []
    for line in lines:
        if isinstance(line, un.DirectiveBlock):
            found += _plain(line.body)
        elif not isinstance(line, un.DirectiveLine | un.Comment | un.Blank):
            found.append(with_each_block(line, _plain))
    return tuple(found)


def names_of_kind(facts: Facts, kind: FactKind, loop: str | None = None) -> frozenset[str]:
    """Return the keys of the names in facts of one kind that apply to a loop."""
    return frozenset(
        key_of(one.name) for one in facts if one.kind is kind and one.loop in ("", loop)
    )


def of_routine(facts: Facts, routine: str, loop: str | None = None) -> Facts:
    """Return the facts that apply to the routine with the key `routine`.

    With `loop`, the uid of a loop, those about other loops are left out.
    """
    if loop is not None and isinstance(facts, GroupedFacts):
        places = {*product(("", routine), ("", loop))}
        groups = (group for place, group in facts.groups.items() if place in places)
        return tuple(chain.from_iterable(groups))
    return tuple(
        one
        for one in facts
        if (loop is None or one.loop in ("", loop)) and key_of(one.routine) in ("", routine)
    )


class AppliedFacts:
    """Promises as they hold for versions of routines, made once for each group and routine."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str, str], tuple[Facts, Facts]] = {}
        self._digests: dict[int, tuple[un.Do, str]] = {}

    def to(self, facts: GroupedFacts, routine: str, code: Routine) -> GroupedFacts:
        """Return the promises that hold for `code`, a version of the routine `routine`.

        A promise about a loop holds if the loop has the statements that it had at that time.
        """
        own = {key: group for key, group in facts.groups.items() if key[0] in ("", routine)}
        loops = loops_of(code) if any(loop for _, loop in own) else ()
        by_uid = {loop.uid: loop for loop in loops}
        found: dict[tuple[str, str], Facts] = {}
        for (name, uid), group in own.items():
            if not uid or uid in by_uid:
                digest = self.digest(by_uid[uid]) if uid else ""
                place = (name and key_of(code.key), uid)
                found[place] = found.get(place, ()) + self._held(group, code.key, digest)
        return GroupedFacts.of(chain.from_iterable(found.values()), found)

    def _held(self, group: Facts, routine: str, digest: str) -> Facts:
        """Return those of a group that hold for a loop with this digest, for a version."""
        known = (id(group), routine, digest)
        if known not in self._made:
            made = tuple(
                replace(one, routine=one.routine and routine, statements="")
                for one in group
                if not one.loop or one.statements == digest
            )
            self._made[known] = (group, made)
        return self._made[known][1]

    def digest(self, loop: un.Do) -> str:
        """Return the digest of a loop, as a promise about it records."""
        if id(loop) not in self._digests:
            self._digests[id(loop)] = (loop, digest_of_loop(loop))
        return self._digests[id(loop)][1]
