"""Conditions for statements on a device, and for the presence of their data.

The steps for OpenACC, and for OpenMP `target` and tasks, share these checks, as do the final checks
of a recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.dependence import dependences, takes_random_numbers
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.source import Span
from psyclone_storage.ir.devices import device_calls
from psyclone_storage.ir.directive import AccRoutineDirective, DeclareTargetDirective, Directive
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import Access, BasisOperation, Kernel
from psyclone_storage.ir.schedule import DirectiveRegion, KernelCall, Loop, Schedule, Statement
from psyclone_storage.ir.transfer import EnterData, TaskWait
from psyclone_storage.ir.walk import kernel_calls, path_to, place_near, place_of, statements
from psyclone_storage.transform.kernel.routine import check_device_routine


def check_waits(schedule: Schedule, block: Sequence[Statement]) -> Reasons:
    """Return diagnostics for dependent statements in `block` without synchronisation (T080)."""
    return tuple(
        must_wait(schedule, first, second)
        for first, second in combinations(block, 2)
        if dependences(schedule, first, second)
    )


def must_wait(schedule: Schedule, first: Statement, second: Statement) -> Diagnostic:
    """Return a diagnostic: `second` may start before `first`, on which it depends, has finished."""
    edge = dependences(schedule, first, second)[0]
    other = f"'{first.uid}'" if first.uid != second.uid else "itself, an iteration before"
    return Diagnostic(
        "T080",
        f"'{second.uid}' has to wait for {other}, but nothing makes it: for '{edge.datum}'"
        f" this is a {edge.kind.value}.",
        place_of(second),
        hint="End the region, or wait, between the two.",
    )


def check_device_support(block: Sequence[Statement]) -> Reasons:
    """Return diagnostics for calls that cannot run on a device (T087; if inlined, T052, T055)."""
    calls = [
        call
        for item in block
        if isinstance(item, Loop | DirectiveRegion)
        for call in kernel_calls(item)
    ]
    return tuple(reason for call in calls for reason in _on_the_host(call))


def _on_the_host(call: KernelCall) -> Iterator[Diagnostic]:
    kernel = call.kernel
    yield from _in_place(call)
    yield from _looks_up(kernel, call.span)
    if takes_random_numbers(call):
        yield Diagnostic(
            "T087",
            f"'{kernel.name}' takes random numbers, which come from the host.",
            call.span,
        )
    for dummy in call.dummies:
        if dummy.role is Role.IMPORTED and dummy.rank:
            yield Diagnostic(
                "T087",
                f"'{kernel.name}' is passed '{dummy.name}', an array of a module, which nothing"
                " gives to a device.",
                call.span,
            )
    for described, actual in zip(kernel.args, call.args, strict=True):
        scalar = described.kind.is_scalar and described.access.writes
        if scalar and described.access is not Access.REDUCTION:
            yield Diagnostic(
                "T087",
                f"'{kernel.name}' changes the scalar '{actual.datum}', of which each iteration on"
                " a device has its own.",
                call.span,
            )


def check_kernel_on_device(kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield diagnostics for features of `kernel` that only the host supports (T087)."""
    yield from _looks_up(kernel, kernel.span)
    for described in kernel.args:
        scalar = described.kind.is_scalar and described.access.writes
        if scalar and described.access is not Access.REDUCTION:
            message = (
                f"'{kernel.name}' changes a scalar, of which each iteration on a device has its"
                " own."
            )
            yield Diagnostic("T087", message, kernel.span)
            return


def _looks_up(kernel: Kernel, place: Span | None) -> Iterator[Diagnostic]:
    if any(BasisOperation.ORIENTATION in wanted.operations for wanted in kernel.functions):
        yield Diagnostic(
            "T087",
            f"'{kernel.name}' asks for the orientation of a cell, which only the host can look up.",
            place,
        )


def _in_place(call: KernelCall) -> Iterator[Diagnostic]:
    """Yield diagnostics for host-only features in the inlined statements of `call`."""
    if not call.is_called:
        yield from (reason for code in call.codes for reason in check_device_routine(code))


# ---------------------------------------------------------------------------- at the end


def check_devices(schedule: Schedule, *, in_storages: bool = False) -> Reasons:
    """Return diagnostics for incomplete device code or tasks at the end of a recipe."""
    return (
        *(() if in_storages else _without_data(schedule)),
        *_divided(schedule),
        *_not_compiled(schedule),
        *_not_awaited(schedule),
    )


_MOVES_WHAT_IS_MISSING = (Directive.ACC_KERNELS, Directive.ACC_PARALLEL)
"""Regions that get their data moved by the compiler, unless a clause says that they are there."""


def _without_data(schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for regions whose data are not on the device, and for unused data."""
    enters = [item for item in statements(schedule) if isinstance(item, EnterData)]
    for item in statements(schedule):
        if not isinstance(item, DirectiveRegion) or enters:
            continue
        implicit = item.directive in _MOVES_WHAT_IS_MISSING and not item.options.present
        if implicit or item.copies or not item.runs_on_device:
            continue
        around = path_to(schedule, item.uid)
        if not any(isinstance(one, DirectiveRegion) and one.directive.holds_data
                   for one in around):  # fmt: skip
            yield Diagnostic(
                "T083",
                f"'{item.uid}' counts on data that nothing gives to the device.",
                place_of(item),
                hint="Apply 'acc-enter-data', or 'acc-data' around it.",
                remedies=("acc-enter-data", "acc-data"),
            )
    if enters and not device_calls(schedule):
        yield Diagnostic(
            "T085",
            f"'{schedule.name}' gives data to a device, but runs nothing there.",
            place_near(schedule, ""),
        )


def _divided(schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for statements that run partly on the host and partly on the device."""
    for item in statements(schedule):
        inside = isinstance(item, DirectiveRegion) and item.directive.holds_data
        if isinstance(item, DirectiveRegion) and not inside:
            continue
        if not isinstance(item, Loop | DirectiveRegion):
            continue
        held = (one for one in statements(item) if isinstance(one, DirectiveRegion))
        regions = [one for one in held if one.runs_on_device and not one.copies]
        there = sum(len(kernel_calls(region)) for region in regions)
        if (there or inside) and there < len(kernel_calls(item)):
            yield Diagnostic(
                "T086",
                f"Not all of '{item.uid}' runs on the device.",
                place_of(item),
                hint="Apply 'acc-kernels' or 'acc-parallel' to the rest, too.",
                remedies=("acc-kernels", "acc-parallel"),
            )


def _not_compiled(schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for kernels that run on a device but are not compiled for it."""
    seen: set[tuple[str, str]] = set()
    for item in statements(schedule):
        if not isinstance(item, DirectiveRegion) or not item.runs_on_device:
            continue
        wanted, step = (
            (AccRoutineDirective, "acc-routine")
            if item.directive.is_openacc
            else (DeclareTargetDirective, "omp-declare-target")
        )
        for call in kernel_calls(item):
            key = (call.kernel.name, step)
            yield from _in_place(call)
            if not call.is_called or key in seen or _says(call, wanted):
                continue
            seen.add(key)
            yield Diagnostic(
                "T081",
                f"'{call.kernel.name}' is called on a device, but is not compiled for it.",
                call.span,
                hint=f"Apply '{step}' to it.",
                remedies=(step,),
            )


def _says(call: KernelCall, wanted: type[AccRoutineDirective | DeclareTargetDirective]) -> bool:
    return bool(call.codes) and all(
        any(isinstance(directive.meaning, wanted) for directive in code.directives)
        for code in call.codes
    )


# ---------------------------------------------------------------------------- waits of threads


def _not_awaited(schedule: Schedule) -> Iterator[Diagnostic]:
    """Yield diagnostics for dependences on tasks or single-thread regions without a wait (T080)."""
    for item in statements(schedule):
        if isinstance(item, DirectiveRegion) and item.directive is Directive.OMP_PARALLEL:
            yield from _in_team(schedule, item.body)
        if isinstance(item, DirectiveRegion) and item.directive.is_of_one_thread:
            yield from _after(schedule, item.body, leaves_tasks)
        if isinstance(item, Loop):
            for task in filter(leaves_tasks, item.body):
                yield Diagnostic(
                    "T080",
                    f"Iterations of '{item.uid}' have to wait for '{task.uid}', but nothing makes"
                    " them.",
                    place_of(item),
                    hint="Let 'openmp-taskloop' wait (nogroup=false), or take the whole loop as a"
                    " task.",
                )


def _in_team(schedule: Schedule, body: Sequence[Statement]) -> Iterator[Diagnostic]:
    """Yield diagnostics for missing synchronisation of a thread team, including inside loops.

    One thread may still execute an iteration when another one begins the next.
    """
    yield from _after(schedule, body, _has_no_barrier)
    for item in body:
        if isinstance(item, Loop):
            yield from dict.fromkeys(_after(schedule, item.body * 2, _has_no_barrier))
            yield from _in_team(schedule, item.body)


def _after(
    schedule: Schedule, body: Sequence[Statement], leaves: Callable[[Statement], bool]
) -> Iterator[Diagnostic]:
    pending: dict[str, Statement] = {}
    for item in body:
        if isinstance(item, TaskWait):
            pending.clear()
        for earlier in pending.values():
            if _of_first_thread(earlier) and _of_first_thread(item):
                continue
            if dependences(schedule, earlier, item):
                yield must_wait(schedule, earlier, item)
        if leaves(item):
            pending[item.uid] = item


def _of_first_thread(item: Statement) -> bool:
    """Return whether the master thread executes all of `item`, hence in order.

    Any thread may execute tasks that are not awaited.
    """
    if isinstance(item, Loop):
        return all(map(_of_first_thread, item.body))
    if not isinstance(item, DirectiveRegion) or item.directive is not Directive.OMP_MASTER:
        return False
    waits = [at for at, inside in enumerate(item.body) if isinstance(inside, TaskWait)]
    return not any(map(leaves_tasks, item.body[max(waits, default=0) :]))


def _has_no_barrier(item: Statement) -> bool:
    if isinstance(item, Loop):
        return any(map(_has_no_barrier, item.body))
    if not isinstance(item, DirectiveRegion):
        return False
    return item.directive is Directive.OMP_MASTER or item.options.nowait


def leaves_tasks(item: Statement) -> bool:
    """Return whether tasks of `item` may still run when its thread continues."""
    if not isinstance(item, DirectiveRegion):
        return False
    return item.directive is Directive.OMP_TASK or (
        item.directive is Directive.OMP_TASKLOOP and item.options.nogroup
    )
