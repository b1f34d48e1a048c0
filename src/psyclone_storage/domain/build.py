"""Parsed algorithm and kernels in, program out: one schedule per invoke, one loop per call.

Nothing is exchanged between ranks in what is built here; the halo plan comes later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.domain.data import DataTable
from psyclone_storage.ir.kernel import Iteration, Kernel
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedCall, ParsedInvoke
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    Invoke,
    KernelCall,
    Loop,
    Over,
    Program,
    Schedule,
)

Kernels = Mapping[str, Kernel]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What the schedules are built for: whether data are spread over ranks, and whether loops
    over dofs compute annexed dofs too."""

    distributed: bool
    annexed_clean: bool


class Domain(Protocol):
    """What building a program asks of a domain."""

    @property
    def rules(self) -> Rules:
        """What the domain knows about its loops."""

    def bind_invoke(
        self, invoke: ParsedInvoke, algorithm: ParsedAlgorithm, kernels: Kernels
    ) -> BoundInvoke:
        """Match every call of `invoke` with its kernel."""

    def bounds_from(self, kernel: Kernel) -> int:
        """Return the position of the argument that gives the bounds of a loop over `kernel`."""


@dataclass(frozen=True, slots=True)
class BoundInvoke:
    """The calls of an invoke over its data, or what is wrong with them."""

    calls: tuple[KernelCall, ...]
    data: DataTable
    problems: tuple[Diagnostic, ...]


def build_program(
    algorithm: ParsedAlgorithm, kernels: Kernels, domain: Domain, options: BuildOptions
) -> Program:
    """Build the program of `algorithm`; `kernels` maps each name used in an invoke, in lower
    case, to its kernel or built-in.

    Raises:
        CompileError: every disagreement between the algorithm and the kernels' metadata.
    """
    problems: list[Diagnostic] = []
    invokes: list[Invoke] = []
    for number, parsed in enumerate(algorithm.invokes):
        bound = domain.bind_invoke(parsed, algorithm, kernels)
        problems += bound.problems
        if not bound.problems:
            name = routine_name(parsed, number, kernels)
            schedule = _build_schedule(name, bound, domain, options)
            invokes.append(Invoke(schedule, parsed))
    raise_if_any(problems)
    return Program(f"{algorithm.unit.name.lower()}_psy", algorithm, tuple(invokes))


def routine_name(parsed: ParsedInvoke, number: int, kernels: Kernels) -> str:
    """Return the name of the routine that an invoke becomes (spec 2.9).

    It is the invoke's label with `invoke_` before it; without a label, its number in the file,
    followed by the kernel's name if it calls exactly one kernel that is no built-in.
    """
    if parsed.label is not None:
        label = parsed.label.lower()
        return label if label.startswith("invoke_") else f"invoke_{label}"
    names = [call.name.lower() for call in parsed.calls]
    if len(names) == 1 and not kernels[names[0]].is_builtin:
        return f"invoke_{number}_{names[0]}"
    return f"invoke_{number}"


def kernel_of(call: ParsedCall, kernels: Kernels) -> Kernel:
    """Return the kernel or built-in that `call` names."""
    return kernels[call.name.lower()]


def _build_schedule(
    name: str, bound: BoundInvoke, domain: Domain, options: BuildOptions
) -> Schedule:
    empty = Schedule(name, bound.data.in_order(), (), options.distributed, options.annexed_clean)
    loops = (
        _build_loop(number, call, domain, empty)
        for number, call in enumerate(bound.calls, start=1)
        if options.distributed or call.kernel.iteration is not Iteration.HALO_CELL_COLUMN
    )
    return replace(empty, body=tuple(loops))


def _build_loop(number: int, call: KernelCall, domain: Domain, schedule: Schedule) -> Loop:
    uid = f"loop{number}"
    extent = domain.rules.initial_extent(call, schedule)
    position = domain.bounds_from(call.kernel)
    return Loop(uid, _over(call.kernel), extent, position, (call,))


def _over(kernel: Kernel) -> Over:
    if kernel.iteration is Iteration.DOMAIN:
        return Over.DOMAIN
    return Over.DOFS if kernel.iteration.over_dofs else Over.CELLS
