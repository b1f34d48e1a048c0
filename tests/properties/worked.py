"""Random schedules of both APIs with the random steps that were tried on them, each made once."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

from gocean_programs import program
from lfric_schedules import program as lfric_program
from pairwise import some_of
from properties.random_grids import KERNELS, ON_RANKS, random_invoke
from properties.random_schedules import RULES, Case, random_case
from properties.random_steps import ON_PLANES, ON_SCHEDULES, Tried, try_steps
from properties.small_meshes import Grid, Plane
from properties.thread_model import Mesh
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program, Schedule
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.targets.apis import lower, target_of
from psyclone_storage.transform.transfers import with_derived
from psyclone_storage.transform.workbench import Workbench

STEPS_TRIED = 20
PLANES, GRIDS = range(some_of(1000)), range(some_of(400))
ALIASED = range(some_of(200))
"""The seeds of LFRic schedules with fields that may be one object."""
SETTINGS = default_settings()


@dataclass(frozen=True)
class Worked:
    """A program of one invoke, the steps that were tried on its schedule, and its small mesh."""

    program: Program
    rules: Rules
    tried: Tried
    mesh: Mesh

    @property
    def start(self) -> Schedule:
        """The schedule before any step."""
        return self.tried.seen[0]

    @property
    def schedule(self) -> Schedule:
        """The schedule after all steps."""
        return self.tried.bench.schedule

    def text(self) -> str:
        """Return the generated layer."""
        invoke = replace(self.program.invokes[0], schedule=self.schedule)
        api = Api.LFRIC if isinstance(self.mesh, Plane) else Api.GOCEAN
        return emit_unit(lower(target_of(api), replace(self.program, invokes=(invoke,)), SETTINGS))


@cache
def case_of(seed: int, *, aliased: bool = False) -> Case:
    """Return a random LFRic schedule whose calls know their dummy arguments."""
    case = random_case(seed, aliased=aliased)
    schedule = case.schedule
    for call in kernel_calls(schedule):
        if not call.kernel.is_builtin:
            full = replace(call, dummies=build_lfric_dummies(call.kernel))
            schedule = replaced(schedule, call.uid, full)
    return replace(case, schedule=schedule)


@cache
def on_plane(seed: int, *, aliased: bool = False) -> Worked:
    """Return an LFRic schedule after random steps."""
    case = case_of(seed, aliased=aliased)
    start = with_derived(case.schedule, RULES)
    tried = try_steps(Workbench(start, RULES), random.Random(seed), ON_PLANES, STEPS_TRIED)
    made = lfric_program(start.data, *start.body)
    made = replace(made, invokes=(replace(made.invokes[0], schedule=start),))
    return Worked(made, RULES, tried, Plane(start, case.shared))


@cache
def on_grid(seed: int) -> Worked:
    """Return a GOcean schedule after random steps; every second one is for ranks."""
    rng, rules = random.Random(seed), GoceanRules(split_exchanges=True)
    ranks = seed % 2 == 0
    calls = random_invoke(rng, ON_RANKS) if ranks else random_invoke(rng)
    made = program(KERNELS, calls, distributed=ranks)
    bench = Workbench(made.invokes[0].schedule, rules)
    return Worked(made, rules, try_steps(bench, rng, ON_SCHEDULES, STEPS_TRIED), Grid())


def all_worked() -> list[Worked]:
    """Return the schedules of both APIs."""
    return [*map(on_plane, PLANES), *map(on_grid, GRIDS)]


def accepted() -> Counter[str]:
    """Return how often each step was accepted on any schedule."""
    return sum((one.tried.accepted for one in all_worked()), Counter())
