"""OpenMP pragmas in C: the directive names, and the clauses set by a recipe."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.kernel import ReductionOp

_PRAGMAS = {
    Directive.OMP_PARALLEL: "parallel",
    Directive.OMP_DO: "for",
    Directive.OMP_PARALLEL_DO: "parallel for",
    Directive.OMP_SIMD: "simd",
    Directive.OMP_SINGLE: "single",
    Directive.OMP_MASTER: "master",
    Directive.OMP_CRITICAL: "critical",
    Directive.OMP_TASK: "task",
    Directive.OMP_TASKLOOP: "taskloop",
    Directive.OMP_TEAMS_DO: "parallel for",
}
OF_LOOPS = (
    Directive.OMP_DO, Directive.OMP_PARALLEL_DO, Directive.OMP_SIMD, Directive.OMP_TASKLOOP,
    Directive.OMP_TEAMS_DO,
)  # fmt: skip
"""Those of a loop, which stands behind them."""

WITH_PRIVATE = (
    Directive.OMP_PARALLEL, Directive.OMP_DO, Directive.OMP_PARALLEL_DO, Directive.OMP_TASK,
    Directive.OMP_TASKLOOP, Directive.OMP_TEAMS_DO,
)  # fmt: skip
"""Those by which a thread gets variables of its own."""
REDUCED = {ReductionOp.SUM: "+", ReductionOp.MIN: "min", ReductionOp.MAX: "max"}


def words_of(directive: Directive, options: RegionOptions) -> str:
    """Return the start of a directive's pragma, or '' if the directive is for a device."""
    words = _PRAGMAS.get(directive, "")
    return f"{words} simd" if options.lanes else words


def clauses_of(directive: Directive, options: RegionOptions) -> Iterator[str]:
    """Yield the clauses that the options of a region request."""
    if (sharing := options.schedule) is not None and directive in OF_LOOPS:
        chunk = f", {sharing.chunk}" if sharing.chunk else ""
        if directive is not Directive.OMP_TASKLOOP:
            yield f"schedule({sharing.rule.value}{chunk})"
    asked = (
        (options.collapse > 1, f"collapse({options.collapse})"),
        (options.grain > 0, f"grainsize({options.grain})"),
        (options.tasks > 0, f"num_tasks({options.tasks})"),
        (options.nogroup, "nogroup"),
        (options.nowait, "nowait"),
    )
    yield from (text for wanted, text in asked if wanted)
