"""Run-time checks of halos around the loops of generated code (RUN_TIME_CHECKS = halos).

Before a loop, the halos that it reads must be clean, and in every n-th call of an invoke their
values equal those of their owners. After a loop, the state of the halos that it wrote is recorded,
and dirty levels are spoilt. The rules of the domain define what a loop reads and leaves. The
run-time module of each infrastructure does the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.coherence.halo_effects import HaloEffect, HaloEffects
from psyclone_storage.coherence.halos import ElisionReason, plan_halos
from psyclone_storage.config.settings import RunTimeChecks
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import device_regions
from psyclone_storage.ir.region import NOTHING
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    Compound,
    FillHalo,
    KernelCall,
    Loop,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.unit import Comment, Line
from psyclone_storage.ir.walk import kernel_calls, sequential_statements
from psyclone_storage.lowering.halo_depth import depth_value
from psyclone_storage.lowering.infrastructure import Infrastructure, LoweringContext


def with_halo_checks(
    infrastructure: Infrastructure, rules: Rules, asked: RunTimeChecks, every: int
) -> Infrastructure:
    """Return an infrastructure whose generated code checks halos, if the setting requests it.

    In the first of `every` calls of an invoke, values are compared. Lowering raises `CompileError`
    G010 for loops on a device.
    """
    if asked is not RunTimeChecks.HALOS:
        return infrastructure
    return replace(
        infrastructure,
        beside=partial(_around_statement, infrastructure, rules),
        around=partial(_around_routine, infrastructure, rules, every),
        reads_all_flags=True,
    )


@dataclass(frozen=True, slots=True)
class _RoutineFacts:
    """Facts about a schedule: effects of loops, calls by uid, and reads of stale replicas.

    `carried` are loops and parts: the loop only adds to values that stay stale. `filled` are those
    where a statement before the loop has overwritten such values.
    """

    effects: HaloEffects
    calls: Mapping[str, KernelCall]
    carried: frozenset[tuple[str, DatumPart]]
    filled: frozenset[tuple[str, DatumPart]]
    keeps_annexed: bool

    def of(self, loop: Loop) -> tuple[HaloEffect, ...]:
        return self.effects.of(loop, loop.filled)


def _facts(rules: Rules, context: LoweringContext) -> _RoutineFacts:
    def find() -> _RoutineFacts:
        schedule = context.schedule
        effects = HaloEffects(schedule, rules)
        return _RoutineFacts(
            effects,
            {call.uid: call for call in kernel_calls(schedule)},
            frozenset(_carried(schedule, rules)),
            frozenset(_filled(schedule, effects)),
            rules.keeps_annexed_clean(schedule),
        )

    return context.work.kept("halo checks", find)


def _carried(schedule: Schedule, rules: Rules) -> Iterator[tuple[str, DatumPart]]:
    for elided in plan_halos(schedule, rules).elided:
        if elided.because is ElisionReason.CARRIED:
            yield elided.loop, elided.part


def _filled(schedule: Schedule, effects: HaloEffects) -> Iterator[tuple[str, DatumPart]]:
    """Yield each part with initialised halo values, and the next loop that accesses it."""
    waiting: set[DatumPart] = set()
    for item in sequential_statements(schedule):
        if isinstance(item, FillHalo):
            waiting.add(DatumPart(item.datum, item.component))
        elif isinstance(item, Loop):
            accessed = waiting & effects.parts(item)
            yield from ((item.uid, part) for part in accessed)
            waiting -= accessed


def _loops(statement: Statement) -> tuple[Loop, ...]:
    """Return the outermost loops of a top-level statement, in execution order."""
    if isinstance(statement, Loop):
        return (statement,)
    if not isinstance(statement, Compound):
        return ()
    return tuple(item for item in sequential_statements(statement) if isinstance(item, Loop))


def _around_statement(
    plain: Infrastructure,
    rules: Rules,
    context: LoweringContext,
    statement: Statement,
    lines: tuple[Line, ...],
) -> tuple[Line, ...]:
    """Return a statement with the checks before and after it."""
    lines = plain.beside(context, statement, lines)
    loops = _loops(statement) if context.schedule.distributed else ()
    if not loops:
        return lines
    facts = _facts(rules, context)
    before: list[Line] = []
    written: dict[DatumPart, ops.NoteWrite] = {}
    for loop in loops:
        for effect in facts.of(loop):
            place = loop.uid, effect.part
            carried = place in facts.carried
            if not carried and place not in facts.filled and effect.part not in written:
                before += _needed(facts, context, effect)
            if effect.left is not None:
                written[effect.part] = _noted(facts, context, loop, effect)
    after = (line for note in written.values() for line in context.lines(note))
    return (*before, *lines, *after)


def _needed(facts: _RoutineFacts, context: LoweringContext, effect: HaloEffect) -> Iterator[Line]:
    need = effect.need
    if need is None or not (need.annexed or need.depth.terms):
        return
    part = effect.part
    datum = context.schedule.datum(part.datum)
    depth = depth_value(context, need.depth)
    reader = f"{_place(facts.calls[effect.reader])} reads it"
    yield from context.lines(ops.CheckHalo(datum, part.component, depth, need.annexed, reader))


def _noted(
    facts: _RoutineFacts, context: LoweringContext, loop: Loop, effect: HaloEffect
) -> ops.NoteWrite:
    """Return the note of a write; annexed dofs that were stale may stay so if it only adds."""
    left = effect.left
    assert left is not None
    carried = (loop.uid, effect.part) in facts.carried
    return ops.NoteWrite(
        context.schedule.datum(effect.part.datum),
        effect.part.component,
        depth_value(context, left.clean),
        Fresh.MAYBE if carried else left.annexed,
        loop.extent.reach is Reach.HALO_ONLY,
        _place(facts.calls[effect.writer]),
    )


def _place(call: KernelCall) -> str:
    span = call.span
    if span is None:
        return call.kernel.name
    return f"{call.kernel.name} ({span.source.name.rpartition('/')[2]}:{span.line})"


def _around_routine(
    plain: Infrastructure,
    rules: Rules,
    every: int,
    context: LoweringContext,
    lines: tuple[Line, ...],
) -> tuple[Line, ...]:
    """Return the statements of a routine with the begin and the end of its checks.

    At the end, the flags of all written fields are checked.
    """
    schedule = context.schedule
    if schedule.distributed and any(device_regions(schedule)):
        raise CompileError(_no_halo_checks("loops on a device"))
    if not schedule.distributed or not schedule.body:
        return plain.around(context, lines)
    facts = _facts(rules, context)
    annexed = facts.keeps_annexed
    ends: list[Line] = [Comment("Run-time check of the halos of written fields")]
    for part in dict.fromkeys(_written(facts, schedule)):
        datum = schedule.datum(part.datum)
        depth = depth_value(context, NOTHING)
        asked = ops.CheckHalo(datum, part.component, depth, annexed, "the invoke ends")
        ends += context.lines(asked)
    begin = context.lines(ops.BeginHaloChecks(every, annexed))
    end = context.lines(ops.EndHaloChecks())
    return plain.around(context, (*begin, *lines, *ends, *end))


def _written(facts: _RoutineFacts, schedule: Schedule) -> Iterator[DatumPart]:
    for item in sequential_statements(schedule):
        if isinstance(item, Loop):
            yield from (effect.part for effect in facts.of(item) if effect.left is not None)


def refuse_halo_checks(asked: RunTimeChecks, what: str) -> None:
    """Raise `CompileError` G010 if the setting requests checks of halos, for `what`."""
    if asked is RunTimeChecks.HALOS:
        raise CompileError(_no_halo_checks(what))


def _no_halo_checks(what: str) -> Diagnostic:
    return Diagnostic(
        "G010",
        f"RUN_TIME_CHECKS = halos does not support {what}.",
        hint="Check the halos in a build for the host without it, or set RUN_TIME_CHECKS = none.",
    )
