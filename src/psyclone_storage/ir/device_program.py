"""Uses of data by the procedures of a program, on the host and on a device, as a tree.

A procedure is a sequence of steps: work on one side, calls, branches, loops and jumps. Steps refer
to the statements of the source, before which transfers are inserted. Each array has one copy on the
host and one on the device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeAlias

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Line


class ProcedureName(NamedTuple):
    """A procedure: its module, empty for an external procedure, and its name, in lower case."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.module else self.name


class ProgramArray(NamedTuple):
    """An array: a variable of a module, or of a procedure if `procedure` is not empty."""

    module: str
    procedure: str
    name: str

    def __str__(self) -> str:
        return ".".join(part for part in (self.module, self.procedure, self.name) if part)


class Valid(Enum):
    """The valid copies of an array."""

    HOST = "host"
    DEVICE = "device"
    BOTH = "both"

    def has(self, side: Side) -> bool:
        """Return whether the copy on a side is valid."""
        return self is Valid.BOTH or self.value == side.value


class Contract(NamedTuple):
    """The states of an array at the entry and at the exit of a procedure."""

    entry: Valid
    exit: Valid


@dataclass(frozen=True, slots=True)
class FixedStates:
    """The contracts that the transfers of a finished procedure allow, with the costs of these.

    `part` are those for an argument that is only a part of an array. `on_device` means that a
    device region uses the array.
    """

    whole: Mapping[Contract, float]
    part: Mapping[Contract, float]
    on_device: bool = True


@dataclass(frozen=True, slots=True)
class CopyUse:
    """A use of an array on one side.

    `needs` means that the copy must be valid before: the use reads it, or writes only a part. After
    an `undefined` use, no copy has values, so that both count as valid.
    """

    needs: bool
    writes: bool
    undefined: bool = False

    def joined(self, other: CopyUse) -> CopyUse:
        """Return one use that requires what both require."""
        return CopyUse(self.needs or other.needs, self.writes or other.writes)


@dataclass(frozen=True)
class WorkStep:
    """Statements that only one side executes."""

    side: Side
    uses: Mapping[ProgramArray, CopyUse]
    line: Line | None = field(repr=False, default=None)
    place: Span | None = field(repr=False, default=None)

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays that the step uses."""
        return frozenset(self.uses)


@dataclass(frozen=True, slots=True)
class Passed:
    """An array that a procedure knows as `inner` and its caller as `outer`.

    `whole` is false for an argument that is only a part of the array.
    """

    inner: ProgramArray
    outer: ProgramArray
    whole: bool = True


@dataclass(frozen=True)
class ProgramCall:
    """A call of a procedure, or of one of several that a generic name may mean."""

    procedures: tuple[ProcedureName, ...]
    passed: tuple[tuple[Passed, ...], ...]
    line: Line | None = field(repr=False, default=None)
    place: Span | None = field(repr=False, default=None)

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays of the caller that the procedures use."""
        return frozenset(one.outer for each in self.passed for one in each)

    @cached_property
    def by_outer(self) -> Mapping[ProgramArray, tuple[tuple[ProcedureName, Passed], ...]]:
        """The arguments for each array of the caller, with their procedures."""
        found: dict[ProgramArray, list[tuple[ProcedureName, Passed]]] = defaultdict(list)
        for name, each in zip(self.procedures, self.passed, strict=True):
            for one in each:
                found[one.outer].append((name, one))
        return {outer: tuple(every) for outer, every in found.items()}


@dataclass(frozen=True)
class ChoiceStep:
    """Branches of which one is executed, or none if not `complete`."""

    branches: tuple[StepSequence, ...]
    complete: bool
    line: Line | None = field(repr=False, default=None)
    place: Span | None = field(repr=False, default=None)

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays that the branches use."""
        return frozenset[ProgramArray]().union(*(one.data for one in self.branches))


@dataclass(frozen=True)
class RepeatStep:
    """A loop, whose number of iterations is not known."""

    body: StepSequence
    line: Line | None = field(repr=False, default=None)
    place: Span | None = field(repr=False, default=None)

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays that the body uses."""
        return self.body.data


@dataclass(frozen=True)
class JumpStep:
    """A jump out of `loop`, to its next iteration (`again`), or out of the procedure (None)."""

    loop: Line | None = field(repr=False, default=None)
    again: bool = False
    line: Line | None = field(repr=False, default=None)
    place: Span | None = field(repr=False, default=None)
    data: frozenset[ProgramArray] = frozenset()


ProgramStep: TypeAlias = "WorkStep | ProgramCall | ChoiceStep | RepeatStep | JumpStep"


@dataclass(frozen=True)
class StepSequence:
    """Steps in the order of execution: a block of the construct `line`, None for a procedure."""

    steps: tuple[ProgramStep, ...] = ()
    line: Line | None = field(repr=False, default=None)
    block: int = 0

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays that the steps use."""
        return frozenset[ProgramArray]().union(*(one.data for one in self.steps))

    def without(self, data: frozenset[ProgramArray]) -> StepSequence:
        """Return the steps without some arrays."""
        return StepSequence(
            tuple(_without(step, data) for step in self.steps), self.line, self.block
        )

    @cached_property
    def has_jumps(self) -> bool:
        """True if a step, also a nested one, is a jump."""
        return any(map(_has_jumps, self.steps))

    def steps_with(self, datum: ProgramArray) -> tuple[ProgramStep, ...]:
        """Return the steps that use an array or contain jumps."""
        numbers = self._numbers.get(datum, ())
        if self.has_jumps:
            jumps = (at for at, one in enumerate(self.steps) if _has_jumps(one))
            numbers = sorted({*numbers, *jumps})
        return tuple(self.steps[at] for at in numbers)

    @cached_property
    def _numbers(self) -> Mapping[ProgramArray, Sequence[int]]:
        found: dict[ProgramArray, list[int]] = defaultdict(list)
        for at, step in enumerate(self.steps):
            for datum in step.data:
                found[datum].append(at)
        return found


@dataclass(frozen=True)
class ProgramProcedure:
    """A procedure with device regions, its own or those of procedures that it calls.

    `fresh` are arrays without values at entry, `left` those whose values are not used after the
    procedure; local variables are both. `unmoved` are arrays that it cannot transfer, `scattered`
    arguments that it cannot transfer if they are only a part of an array, because the part may not
    be contiguous. A finished procedure has no steps: `fixed` are its contracts.
    """

    name: ProcedureName
    body: StepSequence
    fresh: frozenset[ProgramArray] = frozenset()
    left: frozenset[ProgramArray] = frozenset()
    fixed: Mapping[ProgramArray, FixedStates] | None = None
    unmoved: frozenset[ProgramArray] = frozenset()
    scattered: frozenset[ProgramArray] = frozenset()

    @cached_property
    def data(self) -> frozenset[ProgramArray]:
        """The arrays that the procedure uses."""
        return self.body.data if self.fixed is None else frozenset(self.fixed)

    def without(self, data: frozenset[ProgramArray]) -> ProgramProcedure:
        """Return the procedure without some arrays."""
        if self.fixed is None:
            return replace(self, body=self.body.without(data))
        rest = {one: states for one, states in self.fixed.items() if one not in data}
        return replace(self, fixed=rest)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the source: before the statement `line`, or at the end of a block of it."""

    procedure: ProcedureName
    line: Line | None = field(compare=False, repr=False, default=None)
    block: int = -1
    key: int = 0
    """The identity of `line`, because equal statements occur at several places."""


@dataclass(frozen=True, slots=True)
class ProgramTransfer:
    """A copy of an array to the side `to`; `weight` is its estimated number of executions."""

    datum: ProgramArray
    to: Side
    position: Position
    weight: float = field(default=1.0, compare=False)


def nested_steps(sequence: StepSequence) -> Iterator[ProgramStep]:
    """Yield all steps of a sequence, including those in branches and loops."""
    for step in sequence.steps:
        yield step
        match step:
            case ChoiceStep(branches):
                for one in branches:
                    yield from nested_steps(one)
            case RepeatStep(body):
                yield from nested_steps(body)


def _has_jumps(step: ProgramStep) -> bool:
    match step:
        case ChoiceStep(branches):
            return any(one.has_jumps for one in branches)
        case RepeatStep(body):
            return body.has_jumps
    return isinstance(step, JumpStep)


def _without(step: ProgramStep, data: frozenset[ProgramArray]) -> ProgramStep:
    match step:
        case WorkStep(side, uses):
            kept = {one: use for one, use in uses.items() if one not in data}
            return WorkStep(side, kept, step.line, step.place)
        case ProgramCall(names, passed):
            inner = tuple(
                tuple(one for one in each if one.inner not in data and one.outer not in data)
                for each in passed
            )
            return ProgramCall(names, inner, step.line, step.place)
        case ChoiceStep(branches):
            parts = tuple(one.without(data) for one in branches)
            return ChoiceStep(parts, step.complete, step.line, step.place)
        case RepeatStep(body):
            return RepeatStep(body.without(data), step.line, step.place)
    return step
