"""What the invokes of a program ask of storages, where a target has some."""

from __future__ import annotations

from psyclone_storage.analysis.schedules.holding import (
    KernelKnowledge,
    check_contract,
    plan_holding,
)
from psyclone_storage.base.diagnostic import CompileError, raise_if_any
from psyclone_storage.base.records import replace
from psyclone_storage.driver.kernels import Kernels
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.holding import HoldingContract
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program


def with_holding(
    program: Program, contract: HoldingContract, rules: Rules, kernels: Kernels
) -> Program:
    """Return `program` with what each invoke asks of storages.

    Raises:
        CompileError: S116, something else would keep copies of the same data.
    """

    def codes_of(kernel: Kernel) -> tuple[KernelCode, ...]:
        try:
            return kernels.codes_of(kernel)
        except CompileError:
            return ()

    schedules = [invoke.schedule for invoke in program.invokes]
    raise_if_any([one for item in schedules for one in check_contract(item, contract)])
    knowledge = KernelKnowledge(rules, codes_of, kernels.api.dummies)
    planned = tuple(
        replace(invoke, held=plan_holding(invoke.schedule, knowledge, contract))
        for invoke in program.invokes
    )
    return replace(program, invokes=planned)
