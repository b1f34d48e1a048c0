"""Steps of transformations: their protocol, common bases and common diagnostics.

A step is a frozen record of what is to be done and where. It knows one change and its rules, and
nothing of the halo exchanges that follow from it: `transform.workbench` derives those anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import ClassVar, Protocol, TypeGuard

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Compound, DirectiveRegion, Loop, Over, Schedule, Statement
from psyclone_storage.ir.walk import (
    by_uid,
    find,
    kernel_calls,
    outer_loops,
    path_to,
    place_near,
    place_of,
    replaced,
    statements,
)

StepPlace = Mapping[str, str]


class Step(Protocol):
    """One change of a schedule.

    Its fields are the places it works on, by uid, and its options. `name` is how the command line
    calls it.
    """

    name: ClassVar[str]

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the step; nothing if it may be applied."""

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule, whose derived statements may be out of date.

        Raises:
            CompileError: the reasons of `check`, if there are any.
        """

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the places, as values of fields, that "everywhere" means."""


class NeedsCode(Protocol):
    """A step that looks at the code of kernels: `check` and `apply` find it at the calls."""

    def calls_to_read(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the uids of the calls whose code the step needs, those that are there."""


class SharesCalls(Protocol):
    """A step after which several threads may be in the same kernel at once."""

    @property
    def force(self) -> bool:
        """True if the user answers for the state that kernels keep from call to call."""

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the uids of the calls that threads come to share, those that are there."""


def needs_code(step: Step) -> TypeGuard[NeedsCode]:
    """Return whether a step looks at the code of kernels."""
    return hasattr(step, "calls_to_read")


def shares_calls(step: Step) -> TypeGuard[SharesCalls]:
    """Return whether several threads may be in the same kernel after a step."""
    return hasattr(step, "calls_to_share")


# ---------------------------------------------------------------------------- bases of steps


class CheckedStep:
    """Base of steps that apply `transform` unless `check` reports a reason against it."""

    __slots__ = ()

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return all reasons against the step."""
        raise NotImplementedError

    def transform(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule; `check` has reported nothing."""
        raise NotImplementedError

    def apply(self, schedule: Schedule, rules: Rules) -> Schedule:
        """Return the changed schedule, or raise `CompileError` with the reasons of `check`."""
        raise_if_any(self.check(schedule, rules))
        return self.transform(schedule, rules)


@dataclass(frozen=True, slots=True)
class OnLoop(CheckedStep):
    """Base of steps on one loop of a schedule."""

    loop: str

    @classmethod
    def candidates(cls, schedule: Schedule) -> Iterable[Loop]:
        """Return the loops that "everywhere" means: by default, all outer loops."""
        return outer_loops(schedule)

    @classmethod
    def places(cls, schedule: Schedule) -> Iterator[StepPlace]:
        """Yield the place of each candidate."""
        for loop in cls.candidates(schedule):
            yield {"loop": loop.uid}

    def check(self, schedule: Schedule, rules: Rules) -> Reasons:
        """Return why there is no such loop, or all reasons against the step on it."""
        problems = check_is_loop(schedule, self.loop)
        return problems or self.check_loop(schedule, rules, loop_named(schedule, self.loop))

    def check_loop(self, schedule: Schedule, rules: Rules, loop: Loop) -> Reasons:
        """Return all reasons against the step on `loop`."""
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
    def candidates(cls, schedule: Schedule) -> Iterable[Loop]:
        """Return every loop except those over colours or the domain, outer loops first."""
        for loop in loops_in(schedule):
            if not (loop.over.in_sequence or loop.over is Over.DOMAIN):
                yield loop

    def calls_to_share(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the calls in the loop."""
        return calls_inside(schedule, self.loop)


# ---------------------------------------------------------------------------- common questions


def loops_in(schedule: Schedule) -> Iterator[Loop]:
    """Yield all loops of a schedule, outer loops first."""
    return (item for item in statements(schedule) if isinstance(item, Loop))


def calls_inside(schedule: Schedule, uid: str) -> tuple[str, ...]:
    """Return the uids of the calls inside the statement `uid`, if that is there."""
    found = find(schedule, uid)
    calls = kernel_calls(found) if isinstance(found, Compound) else ()
    return tuple(call.uid for call in calls)


def check_present(schedule: Schedule, *uids: str) -> Reasons:
    """Return that statements are not there (T003), with the nearest name that is."""
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
    """Return why `uid` is no loop of `schedule` (T003, T004)."""
    if problems := check_present(schedule, uid):
        return problems
    if isinstance(find(schedule, uid), Loop):
        return ()
    return (Diagnostic("T004", f"'{uid}' is not a loop.", place_near(schedule, uid)),)


def loop_named(schedule: Schedule, uid: str) -> Loop:
    """Return the loop `uid`, which `not_a_loop` has found to be one."""
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
    """Return that `uid` is in a construct or contains one, so that its shape is fixed (T007).

    Constructs with a directive of `around` may be around it, those with one of `inside` inside.
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
    """Return that `uid` is in a part of a loop that was cut, which fits the others (T036)."""
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


def _has(item: Statement, directives: Collection[Directive]) -> bool:
    return isinstance(item, DirectiveRegion) and item.directive in directives
