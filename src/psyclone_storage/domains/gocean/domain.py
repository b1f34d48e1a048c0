"""Interface of the GOcean domain to the rest of the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.domains.build import BoundInvoke, KernelsByName, kernel_of
from psyclone_storage.domains.data import DataTable
from psyclone_storage.domains.gocean.binding import bind_gocean_call, field_types
from psyclone_storage.domains.gocean.metadata import first_written
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.infrastructures.gocean import ANY_OFFSET
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access, ArgKind, Kernel
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedCall, ParsedInvoke
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.walk import kernel_calls

_INDICES = ("i", "j")
"""The variables of the loops, which no datum is called after."""


@dataclass(frozen=True, slots=True)
class GoceanDomain:
    """GOcean domain, for building and planning."""

    rules: Rules = field(default_factory=GoceanRules)

    def bind_invoke(
        self, invoke: ParsedInvoke, algorithm: ParsedAlgorithm, kernels: KernelsByName
    ) -> BoundInvoke:
        """Match every call of `invoke` with its kernel's metadata."""
        pairs = [(call, kernel_of(call, kernels)) for call in invoke.calls]
        data = DataTable((*_INDICES, *(kernel.procedure for _, kernel in pairs)))
        problems = list(_mixed_offsets(pairs))
        calls: list[KernelCall] = []
        types = field_types(pairs)
        for number, (call, kernel) in enumerate(pairs, start=1):
            uid = f"{kernel.key}@loop{number}"
            bound = bind_gocean_call(call, kernel, data, uid, types)
            problems += bound.problems
            if bound.call is not None:
                calls.append(bound.call)
        return BoundInvoke(tuple(calls), data, tuple(problems))

    def bounds_from(self, kernel: Kernel) -> int:
        """Return the position of the first field that `kernel` writes, or that it reduces."""
        if kernel.is_builtin:
            return next(at for at, arg in enumerate(kernel.args) if arg.kind is ArgKind.FIELD)
        return first_written(kernel.args)

    def check_schedule(self, schedule: Schedule) -> tuple[Diagnostic, ...]:
        """Return diagnostics for scalars that are written while points are distributed (S114)."""
        return tuple(_written_scalars(schedule)) if schedule.distributed else ()


def _written_scalars(schedule: Schedule) -> Iterator[Diagnostic]:
    for call in kernel_calls(schedule):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            is_reduced = described.access is Access.REDUCTION
            if described.kind is ArgKind.SCALAR and described.access.writes and not is_reduced:
                yield Diagnostic(
                    "S114",
                    f"'{call.kernel.name}' writes the scalar '{spell(actual.value)}', which would"
                    " have a value of its own on each rank.",
                    actual.span or call.span,
                    hint="Compile without distributed memory ('-nodm'), or write a field.",
                    related=(Related(described.span, "the metadata"),) if described.span else (),
                )


def _mixed_offsets(pairs: list[tuple[ParsedCall, Kernel]]) -> Iterator[Diagnostic]:
    """Yield the calls whose index offset differs from that of earlier calls (spec 5.1).

    A kernel for any offset can be combined with all others.
    """
    chosen: tuple[ParsedCall, str] | None = None
    for call, kernel in pairs:
        offset = kernel.points.offset if kernel.points else ANY_OFFSET
        if offset == ANY_OFFSET:
            continue
        if chosen is None:
            chosen = (call, offset)
        elif offset != chosen[1]:
            first, before = chosen
            yield Diagnostic(
                "S113",
                f"'{call.name}' is written for '{offset}', but '{first.name}' in the same invoke"
                f" for '{before}'.",
                call.name_span,
                hint="Fields are on one grid, which has one offset.",
                related=(Related(first.name_span, f"'{before}'"),),
            )
