"""Checker for storage accesses: reports stale reads, lost values and wrong final states.

An object has parts: internal points, boundary points, and values beyond, such as wider halos. Each
part and each replica of it has a version, which counts writes. A storage tracks whether each
replica of the whole object is valid, as the plan declares, and transfers whole objects. If it
considers a replica valid, but one of its parts is outdated, a value is lost.

The scenario determines where the values are at entry, whether guarded exchanges happen, and whether
values beyond the region of a field exist.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.coherence.check_coverage import ValuePart, covered_parts
from psyclone_storage.coherence.execution import (
    CallStep,
    Execution,
    Fault,
    PreparedSchedule,
    prepare,
)
from psyclone_storage.coherence.scenarios import StorageScenario
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir import storage_access as sa
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.transfer import Side

_ALL = frozenset(ValuePart)
_NOTHING = frozenset[ValuePart]()

CodesByKernel = Mapping[str, tuple[Routine, ...]]


def check_storage_access(
    schedule: sch.Schedule | PreparedSchedule,
    plan: sa.StoragePlan,
    policy: sa.StoragePolicy,
    codes: CodesByKernel,
    scenario: StorageScenario,
) -> tuple[Fault, ...]:
    """Return all faults of `plan` in a scenario; `codes` are the kernels' subroutines by name."""
    return _StorageExecution(prepare(schedule), scenario, plan, policy, codes).run()


@dataclass(slots=True)
class _ReplicaParts:
    """A replica on one side: the version of each part, and its validity flag in the storage."""

    versions: dict[ValuePart, int]
    valid: bool


@dataclass(slots=True)
class _StorageModel:
    """One object; `open` are its current accesses: the side, and whether they write."""

    truth: dict[ValuePart, int]
    copies: dict[Side, _ReplicaParts]
    open: list[tuple[DatumPart, Side, bool]] = field(default_factory=list)

    def bring(self, side: Side) -> None:
        """Copy the valid replica to `side` if the replica there is not valid."""
        here, there = self.copies[side], self.copies[side.other]
        if not here.valid and there.valid:
            here.versions = dict(there.versions)
            here.valid = True

    def believe(self, side: Side) -> None:
        """Mark only the replica on `side` as valid."""
        self.copies[side].valid = True
        self.copies[side.other].valid = False


class _StorageExecution(Execution[StorageScenario, _StorageModel]):
    """Executes a schedule with storages that follow a plan."""

    def __init__(
        self,
        prepared: PreparedSchedule,
        scenario: StorageScenario,
        plan: sa.StoragePlan,
        policy: sa.StoragePolicy,
        codes: CodesByKernel,
    ) -> None:
        super().__init__(prepared, scenario)
        self.plan, self.policy, self.codes = plan, policy, codes

    def initial(self, part: DatumPart) -> _StorageModel:
        kinds = [kind for kind in ValuePart if self.scenario.wide or kind is not ValuePart.BEYOND]
        current = {
            Side.HOST: part.datum in self.scenario.on_host,
            Side.DEVICE: part.datum in self.scenario.on_device,
        }
        copies = {
            side: _ReplicaParts(dict.fromkeys(kinds, 0 if valid else -1), valid)
            for side, valid in current.items()
        }
        return _StorageModel(dict.fromkeys(kinds, 0), copies)

    def reach(self, uid: str) -> None:
        """Perform the actions that the plan inserts before a statement."""
        for action in self.plan.before(uid):
            self._act(action)

    def call(self, step: CallStep) -> None:
        call, side = step.call, self._side_of(step.regions)
        uses = [(one.position, part) for one in step.passed for part in one.parts]
        for at, part in uses:
            if call.kernel.args[at].access.reads:
                self._read(call.uid, part, side, _ALL)
        for at, part in uses:
            if call.kernel.args[at].access.writes:
                codes = call.known_codes or self.codes.get(call.kernel.name, ())
                covered = covered_parts(step.loop, call, at, codes, self.scenario.all_points)
                self._write(call.uid, part, side, covered)

    def _side_of(self, regions: tuple[sch.DirectiveRegion, ...]) -> Side:
        moves = (one.place is Side.DEVICE and not one.copies for one in regions)
        return Side.DEVICE if self.policy.directives_act and any(moves) else self.policy.home

    def exchange(self, exchange: sch.HaloExchange) -> None:
        """Exchange a halo within an open access, or acquire the datum for it."""
        if exchange.guarded and not self.scenario.exchanges:
            return
        uid, home = exchange.uid, self.policy.home
        part = DatumPart(exchange.datum, exchange.component)
        model = self.object_of(part)
        if not self.policy.through_exchanges:
            if model.open:
                self.report(uid, part, f"'{part.text}' is held while it is exchanged.")
            if exchange.phase is sch.Phase.START:
                return
            model.bring(home)
            model.open.append((part, home, True))
        if exchange.phase is not sch.Phase.START:
            self._write(uid, part, home, _NOTHING)
        else:
            self._read(uid, part, home, _ALL)
        if not self.policy.through_exchanges:
            model.open.pop()
            model.believe(home)

    def fill(self, fill: sch.FillHalo, part: DatumPart) -> None:
        self._write(fill.uid, part, self.policy.home, _NOTHING)

    def finish(self) -> None:
        """Check that no access is open and that each replica marked valid is up to date."""
        for part, model in self.objects.items():
            if model.open:
                self.report("end", part, f"The invoke does not release '{part.text}'.")
            if not any(copy.valid for copy in model.copies.values()):
                self.report("end", part, f"Nobody has '{part.text}' any more.")
            for side, copy in model.copies.items():
                if copy.valid and copy.versions != model.truth:
                    where = f"for current on the {side.value}, but is not."
                    self.report("end", part, f"'{part.text}' is taken {where}")

    def _act(self, action: sa.StorageAction) -> None:
        part = DatumPart(action.datum, action.component)
        model, side = self.object_of(part), action.side
        match action:
            case sa.AcquireData():
                self._acquire(action, part, model)
            case sa.TouchData():
                if not any(where is side for _, where, _ in model.open):
                    self.report("touch", part, f"'{part.text}' is touched where nobody has it.")
                model.believe(side)
            case sa.ReleaseData():
                mine = [one for one in model.open if one[:2] == (part, side)]
                if not mine:
                    self.report("release", part, f"'{part.text}' is released, but not held.")
                else:
                    model.open.remove(mine[-1])
            case sa.PrefetchData():
                if any(writes for _, _, writes in model.open):
                    message = f"'{part.text}' is brought while it is written."
                    self.report("prefetch", part, message)
                model.bring(side)

    def _acquire(self, asked: sa.AcquireData, part: DatumPart, model: _StorageModel) -> None:
        others = [one for one in model.open if one[0] == part or one[0].datum not in asked.may_be]
        if others and (asked.writes or any(writes for _, _, writes in others)):
            self.report("acquire", part, f"'{part.text}' is acquired while it is held.")
        wide = self.scenario.wide
        brings = asked.covered is Fresh.NO or (asked.covered is Fresh.MAYBE and wide)
        if brings:
            model.bring(asked.side)
        model.open.append((part, asked.side, asked.writes))
        if asked.writes:
            other = model.copies[asked.side.other]
            other.valid = other.valid and brings

    def _read(self, uid: str, part: DatumPart, side: Side, kinds: frozenset[ValuePart]) -> None:
        """Check that the parts `kinds` of a replica may be read: acquired and not stale."""
        model = self.object_of(part)
        if not any(where is side for _, where, _ in model.open):
            self.report(uid, part, f"'{uid}' uses '{part.text}', which is not held there.")
        for kind in model.truth:
            if kind in kinds and model.copies[side].versions[kind] != model.truth[kind]:
                where = f"{kind.value} on the {side.value}, where it is stale"
                self.report(uid, part, f"'{uid}' reads '{part.text}' {where}.")

    def _write(self, uid: str, part: DatumPart, side: Side, covered: frozenset[ValuePart]) -> None:
        """Write a replica: all values of `covered`, and some values of the other parts."""
        model = self.object_of(part)
        if not any(where is side and writes for _, where, writes in model.open):
            message = f"'{uid}' writes '{part.text}', which is not held for that."
            self.report(uid, part, message)
        self._read(uid, part, side, _ALL - covered)
        for kind in model.truth:
            model.truth[kind] += 1
            model.copies[side].versions[kind] = model.truth[kind]
