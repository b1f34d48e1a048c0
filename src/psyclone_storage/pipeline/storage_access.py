"""What the invokes of a program ask of storages, where a target has some."""

from __future__ import annotations

from functools import partial

from psyclone_storage.analysis.schedules.check_holding import check_holding, storage_worlds
from psyclone_storage.analysis.schedules.holding import (
    KernelKnowledge,
    check_contract,
    plan_holding,
)
from psyclone_storage.base.diagnostic import CompileError, InternalError, raise_if_any
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import ALL
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.holding import HoldingContract
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.pipeline.kernels import Kernels


def with_holding(
    program: Program, contract: HoldingContract, rules: Rules, kernels: Kernels
) -> Program:
    """Return `program` with what each invoke asks of storages.

    Raises:
        CompileError: S116, something else would keep copies of the same data.
    """
    schedules = [invoke.schedule for invoke in program.invokes]
    raise_if_any([one for item in schedules for one in check_contract(item, contract)])
    knowledge = KernelKnowledge(rules, partial(_codes_of, kernels), kernels.api.dummies)
    planned = tuple(
        replace(invoke, held=plan_holding(invoke.schedule, knowledge, contract))
        for invoke in program.invokes
    )
    return replace(program, invokes=planned)


def _codes_of(kernels: Kernels, kernel: Kernel) -> tuple[KernelCode, ...]:
    """Return the subroutines of a kernel, none where they cannot be read."""
    try:
        return kernels.codes_of(kernel)
    except CompileError:
        return ()


def check_plans(program: Program, contract: HoldingContract, kernels: Kernels) -> None:
    """Execute the plans of `program` against the adversary with storages.

    Raises:
        InternalError: one reads, leaves or loses a value; with the invoke and the statement.
    """
    for invoke in program.invokes:
        schedule = invoke.schedule
        called = [call.kernel for call in kernel_calls(schedule) if not call.kernel.is_builtin]
        codes = {kernel.name: _codes_of(kernels, kernel) for kernel in called}
        for world in storage_worlds(schedule, ALL):
            for found in check_holding(schedule, invoke.held, contract, codes, world)[:1]:
                raise InternalError(
                    f"What '{schedule.name}' holds is wrong at '{found.uid}': {found.message}",
                    invoke.parsed.span,
                )
