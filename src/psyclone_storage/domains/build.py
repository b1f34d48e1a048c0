"""Conversion of a parsed algorithm and its kernels to a program of schedules.

Each invoke becomes a schedule, and each call becomes a loop. Halo exchanges are planned later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.names import NameTable, module_word
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.domains.data import DataTable
from psyclone_storage.domains.declared import check_declared_bounds
from psyclone_storage.domains.undeclared import check_all_declared
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.kernel import Iteration, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedCall, ParsedInvoke
from psyclone_storage.ir.rules import Rules

KernelsByName = Mapping[str, Kernel]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options for building schedules.

    - `distributed`: data are distributed over ranks.

    - `annexed_clean`: loops over dofs also compute annexed dofs.

    - `fills`: values that a loop increments are initialised before it.
    """

    distributed: bool
    annexed_clean: bool
    fills: bool = True


class Domain(Protocol):
    """Interface of a domain for building a program."""

    @property
    def rules(self) -> Rules:
        """Halo rules of the domain for its loops."""

    def bind_invoke(
        self, invoke: ParsedInvoke, algorithm: ParsedAlgorithm, kernels: KernelsByName
    ) -> BoundInvoke:
        """Match every call of `invoke` with its kernel."""

    def bounds_from(self, kernel: Kernel) -> int:
        """Return the position of the argument that gives loop bounds for `kernel`."""

    def check_schedule(self, schedule: sch.Schedule) -> tuple[Diagnostic, ...]:
        """Return diagnostics for operations that are impossible with distributed data."""


@dataclass(frozen=True, slots=True)
class BoundCall:
    """Kernel call with checked arguments, or diagnostics."""

    call: sch.KernelCall | None
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class BoundInvoke:
    """Calls of an invoke with their data, and diagnostics."""

    calls: tuple[sch.KernelCall, ...]
    data: DataTable
    problems: tuple[Diagnostic, ...]


def build_program(
    algorithm: ParsedAlgorithm, kernels: KernelsByName, domain: Domain, options: BuildOptions
) -> sch.Program:
    """Build the program of `algorithm`.

    `kernels` maps the lower-case name of each call in an invoke to its kernel or built-in.

    Raises:
        CompileError: all disagreements between the algorithm and the kernels' metadata.
    """
    problems: list[Diagnostic] = []
    invokes: list[sch.Invoke] = []
    names = routine_names(algorithm, kernels)
    for name, parsed in zip(names, algorithm.invokes, strict=True):
        bound = domain.bind_invoke(parsed, algorithm, kernels)
        found = (
            *check_all_declared(parsed, algorithm),
            *check_declared_bounds(parsed),
            *bound.problems,
        )
        problems += found
        if not found:
            schedule = _build_schedule(name, bound, domain, options)
            problems += domain.check_schedule(schedule)
            invokes.append(sch.Invoke(schedule, parsed))
    raise_if_any(problems)
    return sch.Program(f"{module_word(algorithm.unit.key)}_psy", algorithm, tuple(invokes))


def check_calls(
    algorithm: ParsedAlgorithm, kernels: KernelsByName, domain: Domain
) -> tuple[Diagnostic, ...]:
    """Return diagnostics for the calls of the kernels in `kernels`.

    It is used to report such errors together with missing kernels.
    """
    problems: list[Diagnostic] = []
    for parsed in algorithm.invokes:
        calls = tuple(call for call in parsed.calls if call.key in kernels)
        problems += (*check_all_declared(parsed, algorithm), *check_declared_bounds(parsed))
        problems += domain.bind_invoke(replace(parsed, calls=calls), algorithm, kernels).problems
    return tuple(problems)


def routine_names(algorithm: ParsedAlgorithm, kernels: KernelsByName) -> tuple[str, ...]:
    """Return the names of the routines generated for the invokes (spec 2.9).

    The name is `invoke_` followed by the label. Without a label, the number of the invoke in the
    file is used, followed by the kernel's name if the invoke calls exactly one kernel other than a
    built-in. A generated name is shortened or numbered if it is too long for Fortran or already
    used in the file.
    """
    labels = [_from_label(parsed) for parsed in algorithm.invokes]
    scopes = (algorithm.unit, *algorithm.scopes)
    taken = [scope.name for scope in scopes]
    taken += [item.name for scope in scopes for item in scope.declarations]
    taken += [name.local for scope in scopes for use in scope.uses for name in use.only or ()]
    table = NameTable([*filter(None, labels), *taken])
    return tuple(
        label or table.fresh(_from_calls(parsed, number, kernels))
        for number, (label, parsed) in enumerate(zip(labels, algorithm.invokes, strict=True))
    )


def _from_label(parsed: ParsedInvoke) -> str | None:
    if parsed.label is None:
        return None
    label = key_of(parsed.label)
    return label if label.startswith("invoke_") else f"invoke_{label}"


def _from_calls(parsed: ParsedInvoke, number: int, kernels: KernelsByName) -> str:
    names = [call.key for call in parsed.calls]
    if len(names) == 1 and not kernels[names[0]].is_builtin:
        return f"invoke_{number}_{names[0]}"
    return f"invoke_{number}"


def kernel_of(call: ParsedCall, kernels: KernelsByName) -> Kernel:
    """Return the kernel or built-in named in `call`."""
    return kernels[call.key]


def _build_schedule(
    name: str, bound: BoundInvoke, domain: Domain, options: BuildOptions
) -> sch.Schedule:
    empty = sch.Schedule(
        name,
        bound.data.in_order(),
        (),
        options.distributed,
        options.annexed_clean,
        fills=options.fills,
    )
    loops = (
        _build_loop(number, call, domain, empty)
        for number, call in enumerate(bound.calls, start=1)
        if options.distributed or call.kernel.iteration is not Iteration.HALO_CELL_COLUMN
    )
    return replace(empty, body=tuple(loops))


def _build_loop(
    number: int, call: sch.KernelCall, domain: Domain, schedule: sch.Schedule
) -> sch.Loop:
    uid = f"loop{number}"
    extent = domain.rules.initial_extent(call, schedule)
    position = domain.bounds_from(call.kernel)
    outer, *inner = _nest(call.kernel)
    body: sch.KernelCall | sch.Loop = call
    for over in reversed(inner):
        body = sch.Loop(f"{over.value}@{uid}", over, extent, position, (body,))
    return sch.Loop(uid, outer, extent, position, (body,))


def _nest(kernel: Kernel) -> tuple[sch.Over, ...]:
    """Return the kinds of the loops around a call of `kernel`, outermost first."""
    match kernel.iteration:
        case Iteration.GRID_POINT:
            return (sch.Over.ROWS, sch.Over.COLUMNS)
        case Iteration.DOMAIN:
            return (sch.Over.DOMAIN,)
    return (sch.Over.DOFS if kernel.iteration.over_dofs else sch.Over.CELLS,)
