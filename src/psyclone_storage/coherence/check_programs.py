"""Checker of transfer plans for programs: executes a program with random branches and iterations.

Each copy of an array has the number of the write that it contains. A use that needs the newest
values fails if its copy is older. An argument may be only a part of an array: it has copies of its
own during the call, and afterwards a copy of the array is valid if the part and the rest are. The
checker shares only the records of programs with the planner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from random import Random

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    JumpStep,
    Passed,
    Position,
    ProcedureName,
    ProgramArray,
    ProgramCall,
    ProgramProcedure,
    ProgramStep,
    ProgramTransfer,
    RepeatStep,
    StepSequence,
    WorkStep,
)
from psyclone_storage.ir.transfer import Side

_MOST_STEPS, _MOST_ITERATIONS = 2000, 3


@dataclass(frozen=True, slots=True)
class ProgramFault:
    """A use of an old copy, in a procedure."""

    procedure: ProcedureName
    datum: ProgramArray
    side: Side
    reason: str


@dataclass(slots=True)
class _ArrayCopies:
    """The copies of an array or of a part, by the number of the last write in them."""

    newest: int = 0
    copies: dict[Side, int] = field(default_factory=lambda: {Side.HOST: 0, Side.DEVICE: -1})
    has_gaps: bool = False

    def part(self, *, has_gaps: bool) -> _ArrayCopies:
        """Return the copies of a part of the array, which may not be contiguous."""
        return _ArrayCopies(self.newest, dict(self.copies), self.has_gaps or has_gaps)

    def join(self, part: _ArrayCopies) -> None:
        """Change the copies after those of a part have changed."""
        valid = {side: self.copies[side] == self.newest and part.copies[side] == part.newest
                 for side in Side}  # fmt: skip
        self.newest += 1
        for side in Side:
            self.copies[side] = self.newest if valid[side] else -1


_Arrays = dict[ProgramArray, _ArrayCopies]
"""The arrays of a procedure."""


class _ExecutedJumpError(Exception):
    """A jump to the end or to the next iteration of a loop, or out of a procedure."""

    def __init__(self, loop: int | None, *, again: bool) -> None:
        super().__init__()
        self.loop = loop
        self.again = again


class _ExecutedFaultError(Exception):
    """A fault, which ends the execution."""

    def __init__(self, fault: ProgramFault) -> None:
        super().__init__()
        self.fault = fault


@dataclass(slots=True)
class ProgramExecution:
    """The executions of a program with its transfers, and the number of transfers so far."""

    procedures: Mapping[ProcedureName, ProgramProcedure]
    transfers: Mapping[tuple[ProcedureName, int, int], tuple[ProgramTransfer, ...]]
    rng: Random
    moved: int = 0
    steps: int = 0
    _shared: dict[ProgramArray, _ArrayCopies] = field(default_factory=dict)

    def run(self, name: ProcedureName) -> ProgramFault | None:
        """Execute a procedure whose data are valid on the host; return the first fault."""
        self._shared.clear()
        arrays = {one: self._array(one) for one in self.procedures[name].body.data}
        for one in self.procedures[name].fresh:
            arrays[one] = _ArrayCopies()
            arrays[one].copies[Side.DEVICE] = 0
        try:
            self._call(name, arrays)
            for datum, array in arrays.items():
                if datum not in self.procedures[name].left:
                    self._need(name, datum, array, Side.HOST, "the caller may read it")
        except _ExecutedFaultError as error:
            return error.fault
        return None

    def _array(self, datum: ProgramArray) -> _ArrayCopies:
        return self._shared.setdefault(datum, _ArrayCopies())

    def _call(self, name: ProcedureName, arrays: _Arrays) -> None:
        procedure = self.procedures[name]
        for one in procedure.body.data:
            if one not in arrays:
                arrays[one] = self._array(one) if not one.procedure else _ArrayCopies()
                if one in procedure.fresh and one.procedure:
                    arrays[one].copies[Side.DEVICE] = 0
        try:
            self._block(procedure, procedure.body, arrays)
        except _ExecutedJumpError as jump:
            if jump.loop is not None:
                raise

    def _block(
        self,
        procedure: ProgramProcedure,
        body: StepSequence,
        arrays: _Arrays,
    ) -> None:
        last: ProgramStep | None = None
        for step in body.steps:
            follows = last is not None and step.line is last.line and step.line is not None
            last = step
            if follows:
                pass
            elif step.line is not None:
                self._move(procedure.name, (id(step.line), -1), arrays)
            else:
                self._move(procedure.name, (id(body.line), body.block), arrays)
            self._step(procedure, step, arrays)
        if not body.steps or body.steps[-1].line is not None:
            self._move(procedure.name, (id(body.line), body.block), arrays)

    def _step(
        self,
        procedure: ProgramProcedure,
        step: ProgramStep,
        arrays: _Arrays,
    ) -> None:
        self.steps += 1
        match step:
            case WorkStep():
                self._work(procedure.name, step, arrays)
            case ProgramCall(names, passed):
                at = self.rng.randrange(len(names))
                self._enter(names[at], passed[at], arrays)
            case ChoiceStep(branches, complete):
                at = self.rng.randrange(len(branches) + (not complete))
                if at < len(branches):
                    self._block(procedure, branches[at], arrays)
            case RepeatStep():
                self._repeat(procedure, step, arrays)
            case JumpStep(loop, again):
                raise _ExecutedJumpError(None if loop is None else id(loop), again=again)

    def _enter(self, name: ProcedureName, passed: tuple[Passed, ...], arrays: _Arrays) -> None:
        """Call a procedure with arrays of its caller, or with parts of these."""
        outer = {one.inner: arrays[one.outer] for one in passed}
        scattered = self.procedures[name].scattered
        parts = {
            one.inner: outer[one.inner].part(has_gaps=one.inner in scattered)
            for one in passed
            if not one.whole
        }
        self._call(name, {**outer, **parts})
        for inner, part in parts.items():
            outer[inner].join(part)

    def _work(self, name: ProcedureName, step: WorkStep, arrays: _Arrays) -> None:
        for datum, use in step.uses.items():
            if use.needs:
                self._need(name, datum, arrays[datum], step.side, "it is used")
        for datum, use in step.uses.items():
            if use.writes:
                arrays[datum].newest += 1
                arrays[datum].copies[step.side] = arrays[datum].newest
            if use.undefined:
                arrays[datum].copies[step.side.other] = arrays[datum].newest

    def _repeat(self, procedure: ProgramProcedure, loop: RepeatStep, arrays: _Arrays) -> None:
        number = self.rng.randrange(_MOST_ITERATIONS + 1) if self.steps < _MOST_STEPS else 0
        for _ in range(number):
            try:
                self._block(procedure, loop.body, arrays)
            except _ExecutedJumpError as jump:
                if jump.loop != id(loop.line):
                    raise
                if not jump.again:
                    return

    def _move(self, name: ProcedureName, at: tuple[int, int], arrays: _Arrays) -> None:
        for one in self.transfers.get((name, *at), ()):
            array = arrays[one.datum]
            if array.has_gaps or one.datum in self.procedures[name].unmoved:
                reason = "the procedure cannot transfer it"
                raise _ExecutedFaultError(ProgramFault(name, one.datum, one.to, reason))
            array.copies[one.to] = array.copies[one.to.other]
            self.moved += 1

    def _need(
        self, name: ProcedureName, datum: ProgramArray, array: _ArrayCopies, side: Side, reason: str
    ) -> None:
        if array.copies[side] != array.newest:
            raise _ExecutedFaultError(ProgramFault(name, datum, side, reason))


def executed(
    procedures: Iterable[ProgramProcedure], transfers: Iterable[ProgramTransfer], rng: Random
) -> ProgramExecution:
    """Return an execution of a program, whose branches and iterations `rng` chooses."""
    placed: dict[tuple[ProcedureName, int, int], list[ProgramTransfer]] = defaultdict(list)
    for one in transfers:
        at: Position = one.position
        placed[at.procedure, at.key, at.block].append(one)
    known = {key: tuple(found) for key, found in placed.items()}
    return ProgramExecution({one.name: one for one in procedures}, known, rng)


def check_program(
    procedures: Iterable[ProgramProcedure],
    transfers: Iterable[ProgramTransfer],
    roots: Iterable[ProcedureName],
    times: int = 100,
) -> ProgramFault | None:
    """Return the first fault of random executions of the procedures `roots`, None without one."""
    known, planned = tuple(procedures), tuple(transfers)
    for root in roots:
        execution = executed(known, planned, Random(0))
        for _ in range(times):
            execution.steps = 0
            fault = execution.run(root)
            if fault is not None:
                return fault
    return None
