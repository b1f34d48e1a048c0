"""Storage accesses of a program, and the check of its final schedules (`--check`).

The check executes final schedules for all kinds of entry states. Statements that a script has
pinned are executed like any others. It does not check whether a kernel respects its metadata, or
whether infrastructures work as specified.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from psyclone_storage.base.diagnostic import CompileError, InternalError, raise_if_any
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.coherence.check_devices import check_transfers
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.check_storage_access import check_storage_access
from psyclone_storage.coherence.execution import Fault, prepare
from psyclone_storage.coherence.scenarios import (
    device_scenarios,
    storage_scenarios,
    typical_halo_scenarios,
)
from psyclone_storage.coherence.storage_access import (
    KernelKnowledge,
    check_storage_policy,
    plan_storage_access,
)
from psyclone_storage.infrastructures.gocean import ALL
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    HaloExchange,
    Invoke,
    KernelCall,
    Program,
    Schedule,
    names_of_data,
)
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.pipeline.kernels import KernelRepository


def with_storage_access(
    program: Program, policy: StoragePolicy, rules: Rules, kernels: KernelRepository
) -> Program:
    """Return `program` with the storage accesses of each invoke.

    Raises:
        CompileError: S116, a step or directive would create other copies of the same data.
    """
    schedules = [invoke.schedule for invoke in program.invokes]
    raise_if_any([one for item in schedules for one in check_storage_policy(item, policy)])
    knowledge = KernelKnowledge(rules, partial(_codes_of, kernels), kernels.api.dummies)
    planned = tuple(
        replace(invoke, held=plan_storage_access(invoke.schedule, knowledge, policy))
        for invoke in program.invokes
    )
    return replace(program, invokes=planned)


def _codes_of(kernels: KernelRepository, kernel: Kernel) -> tuple[Routine, ...]:
    """Return the subroutines of a kernel; () if they cannot be read."""
    try:
        return kernels.codes_of(kernel)
    except CompileError:
        return ()


def check_coherence(program: Program, rules: Rules) -> None:
    """Execute the schedules of `program` to check halo exchanges and device transfers.

    Raises:
        InternalError: a schedule reads a stale value or sets its state to clean. The message
            contains the invoke, the statement, the value, and its location in the algorithm.
    """
    for invoke in program.invokes:
        schedule = invoke.schedule
        faults = [*_halo_faults(schedule, rules), *_transfer_faults(schedule)]
        for found in faults[:1]:
            raise InternalError(
                f"The schedule of '{schedule.name}' is wrong at '{found.uid}': {found.message}",
                _place_of(schedule, found) or invoke.parsed.span,
            )


def _halo_faults(schedule: Schedule, rules: Rules) -> Iterator[Fault]:
    if not schedule.distributed:
        return
    shared = names_of_data(schedule.data) - rules.without_annexed(schedule)
    flagged = rules.knows_clean_halos()
    prepared = prepare(schedule)
    for scenario in typical_halo_scenarios(schedule, shared):
        if flagged or not scenario.flags:
            yield from check_halos(prepared, replace(scenario, flagged=flagged))


def _transfer_faults(schedule: Schedule) -> Iterator[Fault]:
    prepared = prepare(schedule)
    for scenario in device_scenarios(schedule, random.Random(schedule.name)):
        yield from check_transfers(prepared, scenario)


def check_storage_plans(program: Program, policy: StoragePolicy, kernels: KernelRepository) -> None:
    """Execute the schedules of `program` with their storage accesses.

    Raises:
        InternalError: a schedule reads a stale value, or leaves or loses a value. The message
            contains the invoke and the statement.
    """
    for invoke in program.invokes:
        for found in list(_storage_faults(invoke, policy, kernels))[:1]:
            raise InternalError(
                f"What '{invoke.schedule.name}' holds is wrong at '{found.uid}': {found.message}",
                invoke.parsed.span,
            )


def _storage_faults(
    invoke: Invoke, policy: StoragePolicy, kernels: KernelRepository
) -> Iterator[Fault]:
    schedule = invoke.schedule
    called = [call.kernel for call in kernel_calls(schedule) if not call.kernel.is_builtin]
    codes = {kernel.name: _codes_of(kernels, kernel) for kernel in called}
    prepared = prepare(schedule)
    for scenario in storage_scenarios(schedule, ALL):
        yield from check_storage_access(prepared, invoke.held, policy, codes, scenario)


def _place_of(schedule: Schedule, fault: Fault) -> Span | None:
    """Return the location where the algorithm passes the datum to a call.

    For an exchange, the call is the first one that reads the exchanged values.
    """
    by_uid = {item.uid: item for item in statements(schedule)}
    found = by_uid.get(fault.uid)
    if isinstance(found, HaloExchange) and found.reasons:
        found = by_uid.get(found.reasons[0].reader)
    if not isinstance(found, KernelCall):
        return None
    spans = (one.span for one in found.args if one.datum == fault.part.datum and one.span)
    return next(spans, found.span)
