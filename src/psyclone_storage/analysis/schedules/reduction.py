"""Scalar reductions, and their restrictions on loops in one parallel region.

A reduction is initialised before its parallel region, and complete on all ranks only after it.
Loops of the region must therefore not use a scalar, or a possible alias of it, that one of them
reduces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.aliases import aliases_in
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.walk import kernel_calls, path_to


class ReducedScalar(NamedTuple):
    """A reduced scalar and its operation."""

    datum: str
    op: ReductionOp


def reductions_in(block: sch.Compound) -> tuple[ReducedScalar, ...]:
    """Return the reductions of the calls inside `block`, in order."""
    return tuple(
        ReducedScalar(actual.datum, call.kernel.formula.reduction)
        for call in kernel_calls(block)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.access is Access.REDUCTION
        and call.kernel.formula is not None
        and call.kernel.formula.reduction is not None
        and actual.datum is not None
    )


def check_reductions_in_region(schedule: sch.Schedule, blocks: Sequence[sch.Statement]) -> Reasons:
    """Return diagnostics if `blocks` must not share a parallel region because of a reduction."""
    aliases = aliases_in(schedule)
    calls = [
        call for block in blocks if isinstance(block, sch.Compound)
        for call in kernel_calls(block)
    ]  # fmt: skip
    problems: dict[str, Diagnostic] = {}
    for call, datum in _reduced(calls):
        others = [
            other
            for other in calls
            if other is not call and aliases.closure((datum,)) & _passed(other)
        ]
        for other in others:
            problems.setdefault(
                datum,
                Diagnostic(
                    "S012",
                    f"'{call.kernel.name}' reduces to '{datum}', which '{other.kernel.name}' uses"
                    " in the same region.",
                    call.span,
                    hint="End the region between the two: the value is complete only after it.",
                ),
            )
    return tuple(problems.values())


def against_plain_sums(
    schedule: sch.Schedule, loop: sch.Loop, rules: Rules
) -> Iterator[tuple[str, str]]:
    """Yield reasons why the reductions of `loop` are not plain sums, each with a hint."""
    if not (reduced := reductions_in(loop)):
        return
    names = " and ".join(f"'{one.datum}'" for one in reduced)
    if rules.sums_exactly():
        yield f"it sums exactly to {names}, as EXACT_SUMS asks", ""
    for item in path_to(schedule, loop.uid)[:-1]:
        if isinstance(item, sch.DirectiveRegion) and item.options.reproducible:
            yield f"it sums to {names} in the order of threads", "Leave its sums as they are."


def _passed(call: sch.KernelCall) -> set[str]:
    return {actual.datum for actual in call.args if actual.datum is not None}


def _reduced(calls: Sequence[sch.KernelCall]) -> Iterator[tuple[sch.KernelCall, str]]:
    for call in calls:
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if described.access is Access.REDUCTION and actual.datum is not None:
                yield call, actual.datum
