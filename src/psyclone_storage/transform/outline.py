"""Outlining of loops into procedures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import ClassVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.analysis.schedules.reduction import against_plain_sums
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.datum_parts import DatumPart
from psyclone_storage.ir.devices import MOVED
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access, ArgKind
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import (
    kernel_calls,
    path_to,
    place_of,
    statements,
)
from psyclone_storage.transform.step import ReplacesLoop

_PASSED = (ArgKind.FIELD, ArgKind.GRID_PROPERTY, ArgKind.SCALAR)


@dataclass(frozen=True, slots=True)
class OutlineLoop(ReplacesLoop):
    """Move a loop, with its work-sharing directive, into a procedure of its own.

    The procedure receives the arrays of the loop as contiguous dummy arguments, which a compiler
    may assume not to overlap. In the routine of the invoke they are components and pointer targets,
    which may overlap. Scalars that are only read are passed by value, so that they are not loaded
    at each point. As a result, compilers vectorise loops without run-time tests and keep values in
    registers. The computation does not change. This must be the last step for a loop, because other
    steps need its statements.

    Cell loops with kernels inlined by `inline-call` are outlined automatically if that is legal
    with `aliases`: inlined kernels would otherwise be slower than called ones. If fields are in
    storages, so are point loops whose kernels are visible to the compiler.

    Data with different names are assumed to be different objects, unless they are elements of one
    array. With `aliases` they may alias, such as two pointers to one field: a cell loop is then
    rejected if one kernel may write data that another receives under a different name.

    Rejected for nested loops; for kernels that are not inlined by `inline-call` (or for points,
    copied by `inline-kernel-module`); for kernels that change a scalar; for exact sums and sums in
    thread order; if two elements of an array may be the same; in tasks, in which its arrays would
    be private; and on a device.

    before: loop1 over rows { columns@loop1 { u%data(i, j) = v%data(i, j) } }
    after:  call invoke_0_loop1(u%data, v%data, ...)
    """

    name: ClassVar[str] = "outline"

    aliases: bool = False

    def check_loop(self, schedule: sch.Schedule, rules: Rules, loop: sch.Loop) -> Reasons:
        """Return diagnostics if the loop cannot be outlined."""
        if loop.outlined:
            message = f"'{loop.uid}' stands in a procedure of its own already."
            return (Diagnostic("T082", message, place_of(loop)),)
        reasons = (
            *_about_place(schedule, loop),
            *_about_calls(schedule, loop),
            *(_about_names_in_place(loop) if self.aliases else ()),
            *against_plain_sums(schedule, loop, rules),
        )
        return tuple(
            Diagnostic(
                "T059",
                f"'{loop.uid}' cannot stand in a procedure of its own: {why}.",
                place_of(loop),
                hint=hint,
            )
            for why, hint in dict(reasons).items()
        )

    def transform_loop(self, schedule: sch.Schedule, rules: Rules, loop: sch.Loop) -> sch.Statement:
        """Return the loop, outlined."""
        return replace(loop, outlined=True)


def is_in_place(call: sch.KernelCall) -> bool:
    """Return whether a kernel call is replaced by the kernel's statements."""
    return any(code.kernel_use.in_place for code in call.codes)


def about_names(calls: tuple[sch.KernelCall, ...]) -> Iterator[tuple[str, str]]:
    """Yield reasons why data of `calls` may alias, each with a hint.

    Two data of one kind may be the same object if one call writes the one and another call receives
    the other. Data passed to the same kernel do not alias by the rules of Fortran, if the kernel is
    certainly called; under a mask it may not be.
    """
    uses = [(call, _passed_objects(call)) for call in calls]
    apart = {
        frozenset((one, other))
        for call, use in uses
        if not any(described.is_mask for described in call.kernel.args)
        for one, (_, writes) in use.items()
        for other in use
        if writes
    }
    for (_, use), (_, beside) in permutations(uses, 2):
        for one, (kind, writes) in use.items():
            for other, (other_kind, _) in beside.items():
                told = one.datum == other.datum or {one, other} in apart
                if writes and kind is other_kind and not told:
                    first, second = sorted((one.datum, other.datum))
                    hint = "Apply 'outline' without 'aliases' if they are not."
                    yield f"'{first}' and '{second}' may be one object by two names", hint


def _about_names_in_place(loop: sch.Loop) -> Iterator[tuple[str, str]]:
    calls = kernel_calls(loop)
    if loop.over.starts_cells and any(map(is_in_place, calls)):
        yield from about_names(calls)


def _passed_objects(call: sch.KernelCall) -> dict[DatumPart, tuple[ArgKind, bool]]:
    """Return the fields and operators that `call` receives: the kind, and whether it writes."""
    used: dict[DatumPart, tuple[ArgKind, bool]] = {}
    for described, actual in zip(call.kernel.args, call.args, strict=True):
        if described.kind in MOVED and actual.datum is not None:
            key = DatumPart(actual.datum, actual.component)
            _, writes = used.get(key, (described.kind, False))
            used[key] = described.kind, writes or described.access.writes
    return used


_Reason = tuple[str, str]
"""What stands in the way, and what may be done about it."""


def _about_place(schedule: sch.Schedule, loop: sch.Loop) -> Iterator[_Reason]:
    for item in path_to(schedule, loop.uid)[:-1]:
        if isinstance(item, sch.Loop):
            yield f"it is inside of '{item.uid}'", f"Outline '{item.uid}'."
        if isinstance(item, sch.DirectiveRegion) and item.runs_on_device:
            yield f"'{item.uid}' runs it on a device", ""
    for item in (*path_to(schedule, loop.uid), *statements(loop)):
        if isinstance(item, sch.DirectiveRegion) and item.directive.makes_tasks:
            # Tasks have dummy arguments of a procedure for themselves (OpenMP 5.0, 2.19.1.1), so
            # that what they write would be lost.
            hint = "Share it by 'openmp-do' or 'openmp-parallel-do'."
            yield f"each task of '{item.uid}' would have the arrays for itself", hint
    if loop.over is sch.Over.DOMAIN:
        yield "its kernel is called once for all cells, and is a procedure already", ""
    if any(
        one.parts for one in (loop, *(item for item in loop.body if isinstance(item, sch.Loop)))
    ):
        yield "it was fused under a test of its bounds", ""


def _about_calls(schedule: sch.Schedule, loop: sch.Loop) -> Iterator[_Reason]:
    calls = kernel_calls(loop)
    of_cells = loop.over.starts_cells
    passed = tuple(ArgKind) if of_cells else _PASSED
    may_call = of_cells and any(map(is_in_place, calls))
    for call in calls:
        kernel = call.kernel
        seen = is_in_place(call) if of_cells else bool(call.codes)
        if kernel.formula is None and not (may_call or seen):
            yield f"it calls '{kernel.name}'", f"Apply 'inline-call' to '{call.uid}'."
        for described in kernel.args:
            if described.access is Access.REDUCTION and kernel.formula is not None:
                continue
            if described.kind.is_scalar and described.access.writes:
                yield f"'{kernel.name}' changes a scalar", ""
            elif described.kind not in passed:
                yield f"'{kernel.name}' takes what is no field and no single number", ""
    for pair in _shared(schedule, calls):
        one, other = (spell(schedule.datum(name).actual) for name in pair)
        yield f"'{one}' and '{other}' may be the same object, and one is written", ""


def _shared(schedule: sch.Schedule, calls: tuple[sch.KernelCall, ...]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of possibly aliased data of `calls` of which one is written."""
    written: dict[str, bool] = {}
    for call in calls:
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if actual.datum is not None:
                written[actual.datum] = written.get(actual.datum, False) or described.access.writes
    aliases = aliases_in(schedule)
    for name, is_written in written.items():
        for other in aliases.others(name):
            if is_written and other in written:
                yield name, other
