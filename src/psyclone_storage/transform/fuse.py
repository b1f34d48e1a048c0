"""Loop fusion: two neighbouring loops become one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from psyclone_storage.analysis.order import may_fuse
from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Loop, Schedule
from psyclone_storage.ir.walk import replaced
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import Place, Reasons, loop_named, missing


@dataclass(frozen=True, slots=True)
class FuseLoops:
    """Make one loop of a loop and the one that follows it; it keeps the name of the first.

    Halo exchanges between the two do not stand in the way unless they are pinned: those for the
    second loop are made before the first. `same_space` is the user's word that two loops over dofs
    have the same bounds where the metadata say `any_space`.

    Refused unless both run over the same things equally far, and unless no iteration then sees the
    work of the other loop too early or too late, as through a stencil (PSyclone's defect B2).

    before: loop1 { k1 } halo(w)@loop2 loop2 { k2(w, stencil) }
    after:  halo(w)@loop1 loop1 { k1 k2(w, stencil) }
    """

    name: ClassVar[str] = "fuse"

    first: str
    second: str
    same_space: bool = False

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[Place]:
        """Yield every two neighbouring loops."""
        for first, second in pairwise(without_halos(schedule).body):
            if isinstance(first, Loop) and isinstance(second, Loop):
                yield {"first": first.uid, "second": second.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against one loop."""
        if problems := missing(schedule, self.first, self.second):
            return problems
        bare = without_halos(schedule)
        return may_fuse(bare, rules, self.first, self.second, same_space=self.same_space)

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with one loop that has both bodies."""
        raise_if_any(self.check(schedule, rules))
        bare = without_halos(schedule)
        first, second = loop_named(bare, self.first), loop_named(bare, self.second)
        joined = replace(first, body=first.body + second.body)
        return replaced(replaced(bare, second.uid), first.uid, joined)
