"""Def-use summaries of statements over all paths: exposed reads, definitions, jumps.

The summary of a construct is composed of those of its parts, each of which is analysed once.
Variables are those of `ir.paths`: a component is a separate variable. Elements of an array are read
and written, but only an assignment to the whole array counts as a definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.paths import Variable, prefixes, share_data

Jump = tuple[str, int]
"""The word `cycle` or `exit` with the number of its construct, or `return` with 0."""

NOTHING: frozenset[Variable] = frozenset()


@dataclass(frozen=True, slots=True)
class Summary:
    """Def-use summary of a sequence of statements.

    - `exposed`: the variables that the statements may read before they define them.
    - `written`: the variables that they may change.
    - `sets`: the variables defined on every control-flow path, None if no path reaches the end.
    - `jumps`: the jumps out of the statements, each with the variables defined before it.
    """

    exposed: frozenset[Variable] = NOTHING
    sets: frozenset[Variable] | None = NOTHING
    written: frozenset[Variable] = NOTHING
    jumps: Mapping[Jump, frozenset[Variable]] = field(default_factory=dict)

    def then(self, after: Summary) -> Summary:
        """Return the summary of these statements followed by those of `after`."""
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
        """Return the summary of a branch between these statements and others."""
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
        """Return the summary of a construct at whose end the jumps `ends` land."""
        sets = self.sets
        for end in ends:
            sets = _both_or_none(sets, self.jumps.get(end))
        jumps = {jump: given for jump, given in self.jumps.items() if jump not in ends}
        return Summary(self.exposed, sets, self.written, jumps)

    def at_most(self) -> Summary:
        """Return the summary of statements that may not be executed."""
        return self.or_else(Summary())


def _both(first: frozenset[Variable] | None, second: frozenset[Variable]) -> frozenset[Variable]:
    return second if first is None else first & second


def _both_or_none(
    first: frozenset[Variable] | None, second: frozenset[Variable] | None
) -> frozenset[Variable] | None:
    """Return the variables defined on both of two paths; None means that there is no path."""
    if first is None or second is None:
        return first if second is None else second
    return first & second


def without(
    variables: frozenset[Variable], gone: frozenset[Variable] | None
) -> frozenset[Variable]:
    """Return `variables` without those in `gone` and without their components."""
    if not gone:
        return variables
    roots = {one[0] for one in gone}
    kept = {one for one in variables if one[0] not in roots}
    if len(kept) == len(variables):
        return variables
    doubtful = variables - kept
    kept.update(one for one in doubtful if not any(part in gone for part in prefixes(one)))
    return frozenset(kept)


def summary_of_sequence(parts: Iterable[Summary]) -> Summary:
    """Return the summary of `parts`, executed sequentially."""
    total = Summary()
    for part in parts:
        total = total.then(part)
    return total


def touches_any(variable: Variable, others: Iterable[Variable]) -> bool:
    """Return whether `variable` is one of `others`, contains one or is a component of one."""
    root = variable[0]
    return any(one[0] == root and share_data(variable, one) for one in others)
