"""What a user learns of threads beside the code: whose word it trusts, and which sums vary."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.records import replace
from psyclone_storage.driver.kernels import Kernels
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.schedule import Compound, DirectiveRegion, KernelCall, Program, Statement
from psyclone_storage.ir.unit import Unit
from psyclone_storage.ir.walk import kernel_calls, statements


def with_thread_notes(unit: Unit, program: Program, kernels: Kernels) -> Unit:
    """Return `unit` with a comment above each routine that trusts the settings.

    It trusts them where threads share a kernel that changes what it keeps from call to call, and
    that THREAD_SAFE_PROCEDURES names.
    """
    if not kernels.settings.thread_safe_procedures:
        return unit
    notes = {
        invoke.name: tuple(dict.fromkeys(_notes(invoke.schedule.body, kernels)))
        for invoke in program.invokes
    }
    routines = tuple(
        replace(item, comment="\n".join(filter(None, (item.comment, *notes.get(item.name, ())))))
        for item in unit.routines
    )
    return replace(unit, routines=routines)


def unordered_sums(program: Program) -> Iterator[Diagnostic]:
    """Yield each sum that is not reproducible, of those that are not exact (G003, a warning).

    That is one on a device.
    """
    for invoke in program.invokes:
        for item in statements(invoke.schedule):
            if not isinstance(item, DirectiveRegion) or not item.runs_on_device:
                continue
            for call in kernel_calls(item):
                formula = call.kernel.formula
                if formula is not None and formula.reduction is ReductionOp.SUM:
                    yield Diagnostic(
                        "G003",
                        f"The sum of '{call.kernel.name}' is not reproducible on a device.",
                        call.span,
                        hint="Sum on the host, with 'openmp-do' or 'openmp-parallel-do'.",
                        severity=Severity.WARNING,
                    )


def _notes(body: tuple[Statement, ...], kernels: Kernels) -> Iterator[str]:
    for item in body:
        if isinstance(item, DirectiveRegion) and item.directive.value.startswith("omp "):
            for call in kernel_calls(item):
                yield from _of_call(call, kernels)
        elif isinstance(item, Compound):
            yield from _notes(item.body, kernels)


def _of_call(call: KernelCall, kernels: Kernels) -> Iterator[str]:
    if call.kernel.is_builtin:
        return
    from psyclone_storage.transform.kernel.state import changed_state  # noqa: PLC0415

    for code in call.codes or kernels.procedures_with_saved_state(call.kernel):
        if kernels.is_thread_safe(call.kernel, code) and any(changed_state(code)):
            yield (
                f"Threads share '{code.name}', which changes what it keeps from call to call:"
                " THREAD_SAFE_PROCEDURES of the settings says that they may."
            )
