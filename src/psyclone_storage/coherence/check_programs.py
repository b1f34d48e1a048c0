"""Checker of transfer plans for programs: executes a program with random branches and iterations.

Each copy of an array has the number of the write that it contains. A use that needs the newest
values fails if its copy is older. An argument may be only a part of an array: a write of it needs
the newest values of the rest, and a transfer of it makes no copy of the array valid. The checker
shares only the records of programs with the planner.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from random import Random

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    JumpStep,
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
    """The copies of an array, by the number of the last write in them."""

    newest: int = 0
    copies: dict[Side, int] = field(default_factory=lambda: {Side.HOST: 0, Side.DEVICE: -1})


@dataclass(slots=True)
class _Frame:
    """The arrays of a procedure; `parts` are only parts of arrays."""

    arrays: dict[ProgramArray, _ArrayCopies]
    parts: frozenset[ProgramArray] = frozenset()


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
            self._call(name, _Frame(arrays))
            for datum, array in arrays.items():
                if datum not in self.procedures[name].left:
                    self._need(name, datum, array, Side.HOST, "the caller may read it")
        except _ExecutedFaultError as error:
            return error.fault
        return None

    def _array(self, datum: ProgramArray) -> _ArrayCopies:
        return self._shared.setdefault(datum, _ArrayCopies())

    def _call(self, name: ProcedureName, frame: _Frame) -> None:
        procedure, arrays = self.procedures[name], frame.arrays
        for one in procedure.body.data:
            if one not in arrays:
                arrays[one] = self._array(one) if not one.procedure else _ArrayCopies()
                if one in procedure.fresh and one.procedure:
                    arrays[one].copies[Side.DEVICE] = 0
        try:
            self._block(procedure, procedure.body, frame)
        except _ExecutedJumpError as jump:
            if jump.loop is not None:
                raise

    def _block(
        self,
        procedure: ProgramProcedure,
        body: StepSequence,
        frame: _Frame,
    ) -> None:
        last: ProgramStep | None = None
        for step in body.steps:
            follows = last is not None and step.line is last.line and step.line is not None
            last = step
            if follows:
                pass
            elif step.line is not None:
                self._move(procedure.name, (id(step.line), -1), frame)
            else:
                self._move(procedure.name, (id(body.line), body.block), frame)
            self._step(procedure, step, frame)
        if not body.steps or body.steps[-1].line is not None:
            self._move(procedure.name, (id(body.line), body.block), frame)

    def _step(
        self,
        procedure: ProgramProcedure,
        step: ProgramStep,
        frame: _Frame,
    ) -> None:
        self.steps += 1
        match step:
            case WorkStep():
                self._work(procedure.name, step, frame)
            case ProgramCall(names, passed):
                at = self.rng.randrange(len(names))
                inner = {one.inner: frame.arrays[one.outer] for one in passed[at]}
                some = (one for one in passed[at] if not one.whole or one.outer in frame.parts)
                self._call(names[at], _Frame(inner, frozenset(one.inner for one in some)))
            case ChoiceStep(branches, complete):
                at = self.rng.randrange(len(branches) + (not complete))
                if at < len(branches):
                    self._block(procedure, branches[at], frame)
            case RepeatStep():
                self._repeat(procedure, step, frame)
            case JumpStep(loop, again):
                raise _ExecutedJumpError(None if loop is None else id(loop), again=again)

    def _work(self, name: ProcedureName, step: WorkStep, frame: _Frame) -> None:
        for datum, use in step.uses.items():
            if use.needs or (use.writes and datum in frame.parts):
                self._need(name, datum, frame.arrays[datum], step.side, "it is used")
        for datum, use in step.uses.items():
            if use.writes:
                frame.arrays[datum].newest += 1
                frame.arrays[datum].copies[step.side] = frame.arrays[datum].newest
            if use.undefined:
                frame.arrays[datum].copies[step.side.other] = frame.arrays[datum].newest

    def _repeat(self, procedure: ProgramProcedure, loop: RepeatStep, frame: _Frame) -> None:
        number = self.rng.randrange(_MOST_ITERATIONS + 1) if self.steps < _MOST_STEPS else 0
        for _ in range(number):
            try:
                self._block(procedure, loop.body, frame)
            except _ExecutedJumpError as jump:
                if jump.loop != id(loop.line):
                    raise
                if not jump.again:
                    return

    def _move(self, name: ProcedureName, at: tuple[int, int], frame: _Frame) -> None:
        for one in self.transfers.get((name, *at), ()):
            array = frame.arrays[one.datum]
            if one.datum not in frame.parts:
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
