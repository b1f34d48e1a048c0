"""Interface of the LFRic domain to the rest of the compiler."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.domains.build import BoundInvoke, KernelsByName, kernel_of
from psyclone_storage.domains.data import DataTable
from psyclone_storage.domains.lfric.binding import bind_lfric_call, vectors_of
from psyclone_storage.domains.lfric.operators import check_operators
from psyclone_storage.domains.lfric.rules import LfricRules, iteration_argument
from psyclone_storage.domains.lfric.slots import BindingContext
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke
from psyclone_storage.ir.schedule import KernelCall, Schedule


@dataclass(frozen=True, slots=True)
class LfricDomain:
    """LFRic domain, for building and planning."""

    rules: LfricRules = field(default_factory=LfricRules)

    def bind_invoke(
        self, invoke: ParsedInvoke, algorithm: ParsedAlgorithm, kernels: KernelsByName
    ) -> BoundInvoke:
        """Match every call of `invoke` with its kernel's metadata."""
        pairs = [(call, kernel_of(call, kernels)) for call in invoke.calls]
        vectors = frozenset(text for pair in pairs for text in vectors_of(*pair))
        data = DataTable(tuple(kernel.procedure for _, kernel in pairs))
        around = BindingContext(data, vectors)
        problems = list(_mixed_meshes(invoke, kernels))
        calls: list[KernelCall] = []
        for number, (call, kernel) in enumerate(pairs, start=1):
            bound = bind_lfric_call(call, kernel, around, f"{kernel.key}@loop{number}")
            problems += bound.problems
            if bound.call is not None:
                calls.append(bound.call)
        return BoundInvoke(tuple(calls), data, tuple(problems))

    def bounds_from(self, kernel: Kernel) -> int:
        """Return the position of the argument that determines loop bounds (spec 6.1)."""
        return iteration_argument(kernel)

    def check_schedule(self, schedule: Schedule) -> tuple[Diagnostic, ...]:
        """Return diagnostics for operators used in cells where they have no values.

        Other extents follow from metadata. A scalar is written only by a reduction, whose result
        all ranks have.
        """
        return tuple(check_operators(schedule, self.rules)) if schedule.distributed else ()


def _mixed_meshes(invoke: ParsedInvoke, kernels: KernelsByName) -> Iterator[Diagnostic]:
    """Yield diagnostics for kernels on one mesh in an invoke with inter-grid kernels (spec 1.11).

    A built-in operates on the dofs of its fields and may be combined with both kinds.
    """
    between = [call for call in invoke.calls if kernel_of(call, kernels).is_intergrid]
    if not between:
        return
    for call in invoke.calls:
        kernel = kernel_of(call, kernels)
        if kernel.is_intergrid or kernel.is_builtin:
            continue
        yield Diagnostic(
            "S109",
            f"'{call.name}' works on one mesh, but '{between[0].name}' in the same invoke maps "
            f"between two.",
            call.name_span,
            hint="Give the inter-grid kernels an invoke of their own.",
            related=(Related(between[0].name_span, "an inter-grid kernel"),),
        )
