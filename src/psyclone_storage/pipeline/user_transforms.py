"""What a user asks for beyond a translation: a script, steps, and regions for a profiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic, Severity, raise_if_any
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.rules import KernelSource, Rules
from psyclone_storage.ir.schedule import Program
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.pipeline.steps import (
    TO_DEVICE,
    Refused,
    apply_steps,
    left_on_host,
    tried_in_vain,
    unfinished,
    with_profiles,
)
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.recipe import Recipe, read_recipe
from psyclone_storage.scripting.settings import Compilation
from psyclone_storage.transform.catalogue import StepRequest, read_steps, without_moves
from psyclone_storage.transform.profile import ProfileGranularity
from psyclone_storage.transform.workbench import Journal

_NOT_COMPILED = "T081"


@dataclass(frozen=True, slots=True)
class Requested:
    """A script, the steps after it, and what a profiler is to tell apart, in this order.

    Nobody need bring to a device what is kept `in_storages`.
    """

    recipe: Recipe | None
    steps: tuple[StepRequest, ...]
    profile: frozenset[ProfileGranularity]
    context: ScriptContext
    in_storages: bool = False

    @property
    def script_files(self) -> tuple[Path, ...]:
        """The script, and the files that it has read so far: its modules, and what it opened."""
        if self.recipe is None:
            return ()
        return tuple(dict.fromkeys((self.recipe.path, *self.recipe.reads.files)))

    @property
    def asks_for_device(self) -> bool:
        """Whether steps are to put kernels on a device with a memory of its own."""
        return any(request.step.name in TO_DEVICE for request in self.steps)

    @property
    def takes_shared_loops(self) -> bool:
        """Whether steps may find built-ins in shared loops: nothing counts or names loops.

        A script counts them, a step may be given the place of one, a profiler tells calls apart.
        """
        counted = self.recipe is not None or bool(self.profile)
        return not counted and not any(one.has_place for one in self.steps)

    def without_moves(self) -> Requested:
        """Return this for storages that move data themselves: recipes do not enter them."""
        context = replace(self.context, recipes_move=False)
        return replace(self, steps=without_moves(self.steps), context=context)

    def apply(
        self, program: Program, rules: Rules, kernels: KernelSource, journal: Journal | None = None
    ) -> tuple[Program, Refused]:
        """Return `program` after all that, and which steps were refused where; `journal` has all.

        Raises:
            CompileError: something was begun and not finished, or refused where it was named.
        """
        if self.recipe is not None:
            context = replace(self.context, journal=journal)
            program = self.recipe.run(program, rules, kernels, context)
        program, refused = apply_steps(program, self.steps, rules, kernels, journal)
        program = with_profiles(program, self.profile, rules)
        found = unfinished(program, refused, in_storages=self.in_storages)
        raise_if_any([one for one in found if self.recipe is None or one.code != _NOT_COMPILED])
        return program, refused

    def warnings(self, program: Program, refused: Refused, rules: Rules) -> tuple[Diagnostic, ...]:
        """Return which steps were `refused` everywhere, and which kernels stay on the host.

        And those that a script runs on a device without having compiled them for it: PSyclone lets
        that pass, as compilers may find a way or say so; so does a script's recipe.
        """
        left = (*tried_in_vain(refused), *left_on_host(program, refused, rules))
        if self.recipe is None:
            return left
        found = unfinished(program, in_storages=self.in_storages)
        return left + tuple(
            replace(one, severity=Severity.WARNING) for one in found if one.code == _NOT_COMPILED
        )


def read_requested(
    request: CompileRequest,
    settings: Settings,
    name: Api,
    distributed: bool,
    emitted: Callable[[Program, str | None], str],
) -> Requested:
    """Return what `request` asks for: a script, steps as text, and what to profile.

    A script may ask for the settings and the name of the API, and whether data are `distributed`;
    `emitted` gives the code of a program.

    Raises:
        CompileError: the script is missing, or a step does not exist.
    """
    told = Compilation(settings, name, distributed, request.kernel_output, request.includes)
    return Requested(
        read_recipe(request.script) if request.script else None,
        read_steps(request.steps),
        frozenset(map(ProfileGranularity, request.profile)),
        ScriptContext(told, emitted, dict(request.keywords)),
    )
