"""Random steps on any schedule: every step of the catalogue that does not read code of kernels.

A new step is included when it is in the catalogue. Its options are generated from their names or
from their defaults.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir.schedule import Compound, Schedule
from psyclone_storage.ir.walk import path_to, statements
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.step import Step, StepPlace
from psyclone_storage.transform.workbench import Workbench

OF_CODE = frozenset({"version-one-level"})
"""Steps that read no code, and look at what others have put into a loop: no loop here has any."""
ON_SCHEDULES = tuple(
    name
    for name, kind in STEPS.items()
    if not hasattr(kind, "calls_to_read") and name not in OF_CODE
)
ON_GRIDS = frozenset(
    {"constant-loop-bounds", "swap-loops", "tile-loops", "tile-columns", "chunk-loop"}
)
ON_PLANES = tuple(name for name in ON_SCHEDULES if name not in ON_GRIDS)

VALUES: Mapping[str, Sequence[object]] = {
    "schedule": ("static", "dynamic", "guided,2", "static,0"),
    "depth": (-1, 0, 1, 2, 3),
    "collapse": (-1, 0, 1, 2),
    "grainsize": (-1, 0, 1, 4),
    "num_tasks": (0, 0, 3),
    "queue": (-1, -1, 1, 2),
    "rows": (0, 1, 2, 3),
    "columns": (1, 2, 3),
    "size": (0, 1, 2, 3),
    "region": ("", "phase"),
    "module": ("", "tracer"),
    "to": ("host", "device", "moon"),
    "data": ("", "f0", "a"),
    "reproducible": (False, True),
}
BY_TYPE: Mapping[type, Sequence[object]] = {bool: (False, True), int: (0, 1, 2)}
FAMILIES = ("openmp-", "acc-")
CLOSING = ("openmp-single", "openmp-taskwait", "openmp-parallel", "openmp-target", "acc-parallel")
"""Steps without which the others may be left unfinished."""

ASKED_OFTEN = 0.3
ANYWHERE = 0.2


@dataclass
class Tried:
    """What came of the steps on one schedule."""

    bench: Workbench
    seen: list[Schedule]
    refused: list[tuple[Schedule, Step, tuple[Diagnostic, ...]]] = field(default_factory=list)

    @property
    def accepted(self) -> Counter[str]:
        """How often each step was accepted."""
        return Counter(applied.step.name for applied in self.bench.history)


def family(rng: random.Random, names: Sequence[str]) -> Sequence[str]:
    """Return the steps that one recipe might use: those of one kind of threads, and all others."""
    chosen = rng.choice(FAMILIES)
    return [name for name in names if name.startswith(chosen) or not name.startswith(FAMILIES)]


def random_step(rng: random.Random, schedule: Schedule, names: Sequence[str]) -> Step | None:
    """Return a step that somebody could ask for, legal or not; None if none has a place."""
    for name in rng.sample(names, len(names)):
        kind = STEPS[name]
        places = list(kind.places(schedule))
        if not places or rng.random() < ANYWHERE:
            places += [anywhere(rng, schedule, kind)]
            if name != "move" and rng.random() < 0.5:
                continue
        return kind(**rng.choice(places), **options(rng, kind))
    return None


def anywhere(rng: random.Random, schedule: Schedule, kind: type[Step]) -> StepPlace:
    """Return statements that the step might be asked for by somebody who knows nothing of it.

    Where it has a first and a last one, these stand in order in one body.
    """
    uids = [item.uid for item in statements(schedule)]
    needed = [one.name for one in fields(kind) if one.default is MISSING]  # type: ignore[arg-type]
    if needed != ["first", "last"]:
        return {each: rng.choice(uids) for each in needed}
    first = rng.choice(uids)
    around = path_to(schedule, first)[-2:-1]
    body = around[0].body if around and isinstance(around[0], Compound) else schedule.body
    after = [item.uid for item in body]
    return {"first": first, "last": rng.choice(after[after.index(first) :])}


def options(rng: random.Random, kind: type[Step]) -> dict[str, object]:
    """Return values for some of the options of a step; no kernel here has a body for `force`."""
    chosen = {}
    for one in fields(kind):  # type: ignore[arg-type]
        if one.default is MISSING or one.name == "force" or rng.random() > ASKED_OFTEN:
            continue
        chosen[one.name] = rng.choice(VALUES.get(one.name) or BY_TYPE[type(one.default)])
    return chosen


def try_steps(bench: Workbench, rng: random.Random, names: Sequence[str], times: int) -> Tried:
    """Ask for steps and apply those that are accepted.

    One is asked for everywhere, then random ones somewhere, then what finishes them.
    """
    tried = Tried(bench, [bench.schedule])
    chosen = family(rng, names)
    _try_everywhere(tried, rng.choice(chosen))
    for _ in range(times):
        step = random_step(rng, bench.schedule, chosen)
        if step is not None:
            _try(tried, step)
    for name in CLOSING:
        _try_everywhere(tried, name)
    return tried


def _try_everywhere(tried: Tried, name: str) -> None:
    for place in list(STEPS[name].places(tried.bench.schedule)):
        _try(tried, STEPS[name](**place))


def _try(tried: Tried, step: Step) -> None:
    reasons = tried.bench.check(step)
    if reasons:
        tried.refused.append((tried.bench.schedule, step, reasons))
    else:
        tried.seen.append(tried.bench.apply(step))
