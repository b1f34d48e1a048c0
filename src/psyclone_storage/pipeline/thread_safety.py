"""Thread safety: comments on trusted kernels, and warnings on unknown effects, sums and order."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import GridStencil, ReductionOp
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.schedule import Compound, DirectiveRegion, KernelCall, Program, Statement
from psyclone_storage.ir.unit import Unit
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.pipeline.kernels import KernelRepository


def add_thread_comments(unit: Unit, program: Program, kernels: KernelRepository) -> Unit:
    """Return `unit` with a comment on each routine that relies on THREAD_SAFE_PROCEDURES.

    Threads of such a routine execute a kernel with saved state.
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


def check_reproducible_sums(program: Program) -> Iterator[Diagnostic]:
    """Yield a warning for each sum on a device, which is not reproducible (G003)."""
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


def check_known_effects(program: Program, kernels: KernelRepository) -> Iterator[Diagnostic]:
    """Yield a warning about procedures with unknown effects that threads call (S016)."""
    unknown: dict[str, KernelCall] = {}
    for invoke in program.invokes:
        for call in _shared_calls(invoke.schedule.body):
            if not call.kernel.is_builtin and not _is_trusted(call, kernels):
                for name in kernels.unknown_procedures(call.kernel, call.codes):
                    unknown.setdefault(name, call)
    if unknown:
        (first, *_), setting = unknown.values(), ", ".join(unknown)
        names = listed(unknown, "and")
        yield Diagnostic(
            "S016",
            f"Threads call procedures whose effects are not known: {names}.",
            first.span,
            label=f"'{first.kernel.procedure}' calls {listed(_called_by(first, unknown), 'and')}",
            hint="Pass the directory of their modules with '-d'; each file must be named after its"
            f" module. If threads may call them, set 'THREAD_SAFE_PROCEDURES = {setting}' in the"
            " settings.",
            severity=Severity.WARNING,
        )


def check_order_of_points(program: Program, kernels: KernelRepository) -> Iterator[Diagnostic]:
    """Yield S121 for each kernel that reads neighbours of a field which it writes.

    Its result depends on the order of the points. With distributed memory this order depends on the
    number of ranks. A kernel in THREAD_SAFE_PROCEDURES never reads a point that it writes.
    """
    found: dict[str, Diagnostic] = {}
    for invoke in program.invokes:
        for call in kernel_calls(invoke.schedule) if invoke.schedule.distributed else ():
            if call.kernel.name not in found and not _is_trusted(call, kernels):
                found.update((call.kernel.name, one) for one in _reads_of_written(call))
    yield from found.values()


def _reads_of_written(call: KernelCall) -> Iterator[Diagnostic]:
    used = tuple(zip(call.kernel.args, call.args, strict=True))
    written = {actual.datum for arg, actual in used if arg.access.writes}
    for arg, actual in used:
        stencil = arg.stencil if actual.datum in written else None
        if isinstance(stencil, GridStencil) and stencil.depth:
            name = call.kernel.name
            yield Diagnostic(
                "S121",
                f"'{name}' reads neighbours in '{spell(actual.value)}', which it writes: the"
                " result depends on the order of the points, and on the number of ranks.",
                actual.span or call.span,
                hint="Read the neighbours from a copy of the field. If the kernel reads no point"
                f" that it writes, set 'THREAD_SAFE_PROCEDURES = {name}' in the settings.",
                related=(Related(arg.span, "the metadata"),) if arg.span else (),
                severity=Severity.WARNING,
            )


def _called_by(call: KernelCall, unknown: dict[str, KernelCall]) -> list[str]:
    return [name for name, first in unknown.items() if first is call]


def _is_trusted(call: KernelCall, kernels: KernelRepository) -> bool:
    named = kernels.settings.thread_safe_procedures
    return any(key_of(name) in named for name in (call.kernel.procedure, call.kernel.name))


def _shared_calls(body: tuple[Statement, ...]) -> Iterator[KernelCall]:
    """Yield the calls in parallel regions, on the host or on a device."""
    for item in body:
        if isinstance(item, DirectiveRegion) and not item.directive.holds_data:
            yield from kernel_calls(item)
        elif isinstance(item, Compound):
            yield from _shared_calls(item.body)


def _notes(body: tuple[Statement, ...], kernels: KernelRepository) -> Iterator[str]:
    for call in _shared_calls(body):
        yield from _of_call(call, kernels)


def _of_call(call: KernelCall, kernels: KernelRepository) -> Iterator[str]:
    if call.kernel.is_builtin:
        return
    from psyclone_storage.transform.kernel.state import check_shared_state  # noqa: PLC0415

    for one in kernels.shared_procedures(call.kernel, call.codes):
        trusted = kernels.is_thread_safe(call.kernel, one.code)
        if trusted and any(check_shared_state(one.code, passed=one.passed, aimed=one.aimed)):
            yield (
                f"Threads share '{one.code.name}', which changes what it keeps from call to call:"
                " THREAD_SAFE_PROCEDURES of the settings says that they may."
            )
