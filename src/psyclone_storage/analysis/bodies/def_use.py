"""What statements do with variables on all their paths: read too early, set for certain, jump.

A summary is made of those of the parts, each of which is looked at once. Variables are those of
`ir.paths`: a component is a variable of its own. Elements of arrays are read and written, but only
an assignment to a whole array sets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.paths import Variable, is_part_of, prefixes

Jump = tuple[str, int]
"""`cycle` or `exit`, and the number of the construct; `return` has the number 0."""

NOTHING: frozenset[Variable] = frozenset()


@dataclass(frozen=True, slots=True)
class Summary:
    """What some statements do, one after the other.

    `exposed` are the variables that they may read before having set them, `written` those that they
    may change. `sets` are those that are set whatever path is taken, None if control never gets
    behind the statements. `jumps` lead out of them, each with what is set by then.
    """

    exposed: frozenset[Variable] = NOTHING
    sets: frozenset[Variable] | None = NOTHING
    written: frozenset[Variable] = NOTHING
    jumps: Mapping[Jump, frozenset[Variable]] = field(default_factory=dict)

    def then(self, after: Summary) -> Summary:
        """Return the summary of these statements and those `after` them."""
        if self.sets is None:
            return Summary(self.exposed, None, self.written | after.written, self.jumps)
        jumps = dict(self.jumps)
        for jump, sets in after.jumps.items():
            jumps[jump] = _both(jumps.get(jump), self.sets | sets)
        return Summary(
            self.exposed | without(after.exposed, self.sets),
            None if after.sets is None else self.sets | after.sets,
            self.written | after.written,
            jumps,
        )

    def or_else(self, other: Summary) -> Summary:
        """Return the summary of a choice between these statements and others."""
        jumps = dict(self.jumps)
        for jump, sets in other.jumps.items():
            jumps[jump] = _both(jumps.get(jump), sets)
        return Summary(
            self.exposed | other.exposed,
            _both_or_none(self.sets, other.sets),
            self.written | other.written,
            jumps,
        )

    def landing(self, *ends: Jump) -> Summary:
        """Return the summary of a construct behind which the jumps `ends` land."""
        sets = self.sets
        for end in ends:
            sets = _both_or_none(sets, self.jumps.get(end))
        jumps = {jump: given for jump, given in self.jumps.items() if jump not in ends}
        return Summary(self.exposed, sets, self.written, jumps)

    def at_most(self) -> Summary:
        """Return the summary of statements that may not be run at all."""
        return self.or_else(Summary())


def _both(first: frozenset[Variable] | None, second: frozenset[Variable]) -> frozenset[Variable]:
    return second if first is None else first & second


def _both_or_none(
    first: frozenset[Variable] | None, second: frozenset[Variable] | None
) -> frozenset[Variable] | None:
    """Return what is set on two paths, of which None is no path at all."""
    if first is None or second is None:
        return first if second is None else second
    return first & second


def without(
    variables: frozenset[Variable], gone: frozenset[Variable] | None
) -> frozenset[Variable]:
    """Return `variables` without those that are in `gone`, or that are components of those."""
    if not gone:
        return variables
    return frozenset(one for one in variables if not any(part in gone for part in prefixes(one)))


def in_sequence(parts: Iterable[Summary]) -> Summary:
    """Return the summary of `parts`, one after the other."""
    total = Summary()
    for part in parts:
        total = total.then(part)
    return total


def touches_any(variable: Variable, others: Iterable[Variable]) -> bool:
    """Return whether `variable` is one of `others`, holds one, or is a component of one."""
    return any(is_part_of(variable, one) or is_part_of(one, variable) for one in others)
