"""Transformation steps: protocol, common bases and common diagnostics.

A step is an immutable record of one change and its place. It implements this change and its
legality rules, and does not handle halo exchanges: `transform.workbench` derives them again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import ClassVar, Protocol, TypeGuard

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.memo import kept_by_item
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Compound, DirectiveRegion, Loop, Over, Schedule, Statement
from psyclone_storage.ir.walk import (
    by_uid,
    find,
    kernel_calls,
    outer_loops_of,
    path_to,
    place_near,
    place_of,
    replaced,
    statements,
    with_inside,
)

StepPlace = Mapping[str, str]


class Step(Protocol):
    """A change of a schedule.

    Its fields are the places to which it applies (uids) and its options. `name` is its command-line
    name.
    """

    name: ClassVar[str]

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the step is illegal; empty if it can be applied."""

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule, whose derived statements may be out of date.

        Raises:
            CompileError: the diagnostics of `check`, if there are any.
        """

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield all places, as values of fields, to which the step may apply."""


class NeedsCode(Protocol):
    """A step that needs the code of kernels, which `check` and `apply` find in the calls."""

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the uids of the existing calls whose code the step needs."""


class SharesCalls(Protocol):
    """A step after which several threads may execute the same kernel concurrently."""

    @property
    def force(self) -> bool:
        """True if the user asserts that state kept by kernels is harmless."""

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the uids of the existing calls that threads will execute concurrently."""


def needs_code(step: Step) -> TypeGuard[NeedsCode]:
    """Return whether a step needs the code of kernels."""
    return hasattr(step, "calls_to_read")


def shares_calls(step: Step) -> TypeGuard[SharesCalls]:
    """Return whether several threads may execute the same kernel concurrently after a step."""
    return hasattr(step, "calls_to_share")


# ---------------------------------------------------------------------------- bases of steps


class CheckedStep:
    """Base of steps that apply `transform` if `check` returns no diagnostics."""

    __slots__ = ()

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the step is illegal."""
        raise NotImplementedError

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule; `check` returned no diagnostics."""
        raise NotImplementedError

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule, or raise `CompileError` with the diagnostics of `check`."""
        raise_if_any(self.check(schedule, rules))
        return self.transform(schedule, rules)


@dataclass(frozen=True, slots=True)
class OnLoop(CheckedStep):
    """Base of steps on one loop of a schedule."""

    loop: str

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return the loops of a top-level statement to which the step may apply.

        By default, these are the outermost loops.
        """
        return outer_loops_of(item)

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the place of each candidate."""
        return places_on_loops(schedule, cls)

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return diagnostics if the loop does not exist or the step is illegal."""
        problems = check_is_loop(schedule, self.loop)
        return problems or self.check_loop(schedule, rules, loop_named(schedule, self.loop))

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return diagnostics if the step is illegal for `loop`."""
        raise NotImplementedError


class ReplacesLoop(OnLoop):
    """Base of steps that replace one loop of a schedule by another statement."""

    __slots__ = ()

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the schedule with another statement instead of the loop."""
        loop = loop_named(schedule, self.loop)
        return replaced(schedule, loop.uid, self.transform_loop(schedule, rules, loop))

    def transform_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Statement:
        """Return the statement that replaces `loop`."""
        raise NotImplementedError


class SharesIterations(ReplacesLoop):  # pylint: disable=abstract-method
    """Base of steps that run the iterations of one loop concurrently."""

    __slots__ = ()

    @classmethod
    def candidates(cls, item: Statement) -> Iterable[Loop]:
        """Return every loop except those over colours or the domain, outer loops first."""
        return (
            loop
            for loop in loops_inside(item)
            if not (loop.over.in_sequence or loop.over is Over.DOMAIN)
        )

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the calls in the loop."""
        return calls_inside(schedule, self.loop)


# ---------------------------------------------------------------------------- common questions


def loops_inside(item: Statement) -> tuple[Loop, ...]:
    """Return all loops of a statement, outer ones first."""
    return tuple(one for one in with_inside(item) if isinstance(one, Loop))


def places_on_loops(schedule: Schedule, kind: type[OnLoop]) -> Iterator[StepPlace]:
    """Yield the place of each loop of a schedule to which a kind of step may apply."""
    return iter(_places_by_item(schedule, kind))


@kept_by_item
def _places_by_item(item: Statement, kind: type[OnLoop]) -> tuple[StepPlace, ...]:
    return tuple({"loop": loop.uid} for loop in kind.candidates(item))


def calls_inside(schedule: Schedule, uid: str) -> tuple[str, ...]:
    """Return the uids of the calls inside the statement `uid`; empty if it does not exist."""
    found = find(schedule, uid)
    calls = kernel_calls(found) if isinstance(found, Compound) else ()
    return tuple(call.uid for call in calls)


def check_present(schedule: Schedule, *uids: str) -> Reasons:
    """Return diagnostics for statements that do not exist (T003), with the closest name."""
    absent = [uid for uid in uids if find(schedule, uid) is None]
    if not absent:
        return ()
    known = tuple(by_uid(schedule))
    return tuple(
        Diagnostic(
            "T003",
            f"There is no '{uid}' in '{schedule.name}'.",
            place_near(schedule, uid),
            hint=did_you_mean(uid, known) or f"There are: {', '.join(known)}.",
        )
        for uid in absent
    )


def check_is_loop(schedule: Schedule, uid: str) -> Reasons:
    """Return diagnostics if `uid` is not a loop of `schedule` (T003, T004)."""
    if problems := check_present(schedule, uid):
        return problems
    if isinstance(find(schedule, uid), Loop):
        return ()
    return (Diagnostic("T004", f"'{uid}' is not a loop.", place_near(schedule, uid)),)


def loop_named(schedule: Schedule, uid: str) -> Loop:
    """Return the loop `uid`, which `check_is_loop` has accepted."""
    loop = find(schedule, uid)
    assert isinstance(loop, Loop)
    return loop


def check_no_directive(
    schedule: Schedule,
    uid: str,
    *,
    around: Collection[Directive] = (),
    inside: Collection[Directive] = (),
) -> Reasons:
    """Return diagnostics if `uid` is inside a directive region or contains one (T007).

    Regions with directives in `around` may enclose it, and those in `inside` may be inside it.
    """
    path = path_to(schedule, uid)
    held = statements(path[-1]) if isinstance(path[-1], Compound) else iter(())
    outer = [item for item in path[:-1] if not _has(item, around)]
    inner = [item for item in (path[-1], *held) if not _has(item, inside)]
    around_or_inside = [item for item in (*outer, *inner) if isinstance(item, DirectiveRegion)]
    return *_outlined(path), *(
        Diagnostic(
            "T007",
            f"'{uid}' is bound to the directive '{item.directive.value}' of '{item.uid}'.",
            place_of(path[-1]),
            hint="Change the loop first and add directives last.",
        )
        for item in around_or_inside
    )


def check_not_split(schedule: Schedule, uid: str) -> Reasons:
    """Return a diagnostic if `uid` is in a part of a split loop (T036)."""
    found = [item for item in path_to(schedule, uid) if isinstance(item, Loop) and item.peel]
    return tuple(
        Diagnostic(
            "T036",
            f"'{item.uid}' is a part of '{item.peel.of}', of which every iteration is in one part.",
            place_of(item),
            hint="Change the loop first and cut it with 'split-interior' then.",
        )
        for item in found[:1]
        if item.peel
    )


def _outlined(path: tuple[Statement, ...]) -> Iterator[Diagnostic]:
    for item in path:
        if isinstance(item, Loop) and item.outlined:
            message = f"'{item.uid}' stands in a procedure of its own."
            hint = "Change the loop first and apply 'outline' last."
            yield Diagnostic("T007", message, place_of(path[-1]), hint=hint)
    for item in loops_inside(path[-1]):
        if item.strips:
            message = f"'{item.uid}' runs in strips of a chain."
            hint = "Change the loop first and apply 'strip-mine-chain' last."
            yield Diagnostic("T007", message, place_of(path[-1]), hint=hint)


def _has(item: Statement, directives: Collection[Directive]) -> bool:
    return isinstance(item, DirectiveRegion) and item.directive in directives
