"""Execution of a schedule in a scenario: the common part of all checkers.

The executor performs the statements in order, expands loops and regions, and merges names that are
aliases in the scenario. Subclasses define the state of an object and the effects of calls,
exchanges and transfers.

To be independent of the planners, it uses none of their code: no three-valued facts, rules of a
domain or event tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.coherence.scenarios import SameObjects, representative_parts
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.datum_parts import DatumPart, passed_parts
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.kernel import ArgKind, KernelArg


class Scenario(Protocol):
    """Base of all scenarios; names in one set of `same` denote the same object."""

    @property
    def same(self) -> SameObjects:
        """The sets of names that denote the same object."""
        ...


_WITHOUT_REPLICAS = (ArgKind.SCALAR, ArgKind.SCALAR_ARRAY, ArgKind.GRID_PROPERTY)

ObjectState = TypeVar("ObjectState")
Choice = TypeVar("Choice", bound=Scenario)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault found by a checker: the statement, the datum and a message."""

    uid: str
    part: DatumPart
    message: str


class PassedData(NamedTuple):
    """An argument of a call that passes a datum, with its position and the parts it consists of."""

    position: int
    described: KernelArg
    actual: sch.Actual
    parts: tuple[DatumPart, ...]


@dataclass(frozen=True)
class CallStep:
    """A call with its loop and its enclosing regions, outermost first.

    `memo` caches results of the checker for this step.
    """

    call: sch.KernelCall
    loop: sch.Loop
    regions: tuple[sch.DirectiveRegion, ...]
    passed: tuple[PassedData, ...]
    memo: dict[object, object] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class PreparedSchedule:
    """A schedule prepared for execution: the steps of each outermost statement, by uid."""

    schedule: sch.Schedule
    steps: tuple[tuple[str, tuple[CallStep | sch.Statement, ...]], ...]


def prepare(schedule: sch.Schedule | PreparedSchedule) -> PreparedSchedule:
    """Return a schedule prepared for execution in many scenarios."""
    if isinstance(schedule, PreparedSchedule):
        return schedule
    data = sch.data_by_name(schedule)
    steps = ((item.uid, tuple(_steps(item, None, (), data))) for item in _outermost(schedule.body))
    return PreparedSchedule(schedule, tuple(steps))


def _outermost(body: Iterable[sch.Statement]) -> Iterator[sch.Statement]:
    for item in body:
        if isinstance(item, sch.ProfileRegion):
            yield from _outermost(item.body)
        else:
            yield item


def _steps(
    item: sch.Statement,
    loop: sch.Loop | None,
    regions: tuple[sch.DirectiveRegion, ...],
    data: dict[str, sch.Datum],
) -> Iterator[CallStep | sch.Statement]:
    if isinstance(item, sch.KernelCall):
        if loop is not None:
            yield CallStep(item, loop, regions, tuple(_passed(item, data)))
    elif isinstance(item, sch.Compound):
        inner = item if isinstance(item, sch.Loop) else loop
        around = (*regions, item) if isinstance(item, sch.DirectiveRegion) else regions
        for one in item.body:
            yield from _steps(one, inner, around, data)
    else:
        yield item


def _passed(call: sch.KernelCall, data: dict[str, sch.Datum]) -> Iterator[PassedData]:
    for at, (described, actual) in enumerate(zip(call.kernel.args, call.args, strict=True)):
        if described.kind not in _WITHOUT_REPLICAS and actual.datum in data:
            yield PassedData(at, described, actual, passed_parts(actual, data))


class Execution(Generic[Choice, ObjectState]):
    """Execution of a schedule in one scenario; `objects` maps a representative part to a state."""

    def __init__(self, prepared: PreparedSchedule, scenario: Choice) -> None:
        self.prepared = prepared
        self.schedule = prepared.schedule
        self.scenario = scenario
        self.faults: list[Fault] = []
        self.objects: dict[DatumPart, ObjectState] = {}
        self._same = representative_parts(self.schedule, scenario.same)

    def run(self) -> tuple[Fault, ...]:
        """Execute the schedule and return the faults in order."""
        for uid, steps in self.prepared.steps:
            self.reach(uid)
            for step in steps:
                self._perform(step)
        self.reach(END)
        self.finish()
        return tuple(self.faults)

    def _perform(self, step: CallStep | sch.Statement) -> None:
        match step:
            case CallStep():
                self.call(step)
            case sch.HaloExchange():
                self.exchange(step)
            case sch.FillHalo():
                self.fill(step, DatumPart(step.datum, step.component))
            case _:
                self.other(step)

    def representative(self, part: DatumPart) -> DatumPart:
        """Return the part that represents the object of `part` among its aliases."""
        return self._same.get(part, part)

    def object_of(self, part: DatumPart) -> ObjectState:
        """Return the state of the object that `part` names; initially its state at entry."""
        one = self.representative(part)
        if one not in self.objects:
            self.objects[one] = self.initial(part)
        return self.objects[one]

    def report(self, uid: str, part: DatumPart, message: str) -> None:
        """Record a fault."""
        self.faults.append(Fault(uid, part, message))

    # ------------------------------------------------------------------ the model

    def initial(self, part: DatumPart) -> ObjectState:
        """Return the state of an object at entry."""
        raise NotImplementedError

    def reach(self, uid: str) -> None:
        """Execute the actions planned before an outermost statement, or before `END`."""

    def call(self, step: CallStep) -> None:
        """Execute a call for all iterations of its loop: all reads, then all writes."""
        raise NotImplementedError

    def exchange(self, exchange: sch.HaloExchange) -> None:
        """Execute a halo exchange, or one phase of it."""
        raise NotImplementedError

    def fill(self, fill: sch.FillHalo, part: DatumPart) -> None:
        """Initialise a part of a halo."""
        raise NotImplementedError

    def other(self, statement: sch.Statement) -> None:
        """Execute any other statement."""

    def finish(self) -> None:
        """Check the state that later invokes rely on."""
        raise NotImplementedError
