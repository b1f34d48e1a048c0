"""Transformations requested by a user: a script, steps, and profiled regions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity, raise_if_any
from psyclone_storage.base.hints import cure_of
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.ir.devices import device_calls
from psyclone_storage.ir.rules import KernelSource, Rules
from psyclone_storage.ir.schedule import Invoke, Loop, Program, Schedule
from psyclone_storage.ir.walk import (
    find,
    kernel_calls,
    outer_loops,
    place_of,
    statements,
)
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.scripting.context import ScriptContext
from psyclone_storage.scripting.recipe import Recipe, read_recipe
from psyclone_storage.scripting.settings import Compilation
from psyclone_storage.transform.catalogue import (
    Refusal,
    StepRequest,
    apply_request,
    check_places,
    read_steps,
    without_moves,
)
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.openacc import AccKernels
from psyclone_storage.transform.profile import ProfileGranularity, regions_for
from psyclone_storage.transform.workbench import Journal, Workbench

_NOT_COMPILED = "T081"
_LACKS_SOURCE = "T097"


@dataclass(frozen=True, slots=True)
class UserTransforms:
    """Script, the steps after it, and profiled regions, applied in this order.

    If `in_storages` is true, steps need not enter data on a device.
    """

    recipe: Recipe | None
    steps: tuple[StepRequest, ...]
    profile: frozenset[ProfileGranularity]
    context: ScriptContext
    in_storages: bool = False

    @property
    def script_files(self) -> tuple[Path, ...]:
        """Script, and the files that it has read so far."""
        if self.recipe is None:
            return ()
        return tuple(dict.fromkeys((self.recipe.path, *self.recipe.reads.files)))

    @property
    def asks_for_device(self) -> bool:
        """True if steps offload kernels to a device with separate memory."""
        return any(request.step.name in TO_DEVICE for request in self.steps)

    @property
    def allows_shared_loops(self) -> bool:
        """True if loops of built-ins may be fused before the steps.

        This is not allowed if a script counts loops, a step contains the location of a loop, or a
        profiler measures single calls.
        """
        counted = self.recipe is not None or bool(self.profile)
        return not counted and not any(one.has_place for one in self.steps)

    def without_moves(self) -> UserTransforms:
        """Return the same transformations without data entry, for storages that transfer data."""
        context = replace(self.context, recipes_move=False)
        return replace(self, steps=without_moves(self.steps), context=context)

    def apply(
        self, program: Program, rules: Rules, kernels: KernelSource, journal: Journal | None = None
    ) -> tuple[Program, Refused]:
        """Return the transformed `program` and the rejected steps; record all steps in `journal`.

        Raises:
            CompileError: a transformation is incomplete, or a step with a location was rejected.
        """
        if self.recipe is not None:
            context = replace(self.context, journal=journal)
            program = self.recipe.run(program, rules, kernels, context)
        program, refused = apply_steps(program, self.steps, rules, kernels, journal)
        program = with_profiles(program, self.profile, rules)
        found = check_completion(program, refused, in_storages=self.in_storages)
        raise_if_any([one for one in found if self.recipe is None or one.code != _NOT_COMPILED])
        return program, refused

    def warnings(self, program: Program, refused: Refused, rules: Rules) -> tuple[Diagnostic, ...]:
        """Return warnings about steps rejected everywhere and about kernels on the host.

        For a script, kernels that are not compiled for the device also cause a warning. PSyclone
        accepts them, because some compilers support them.
        """
        left = (
            *check_missing_sources(refused),
            *check_useless_steps(refused),
            *check_host_kernels(program, refused, rules),
        )
        if self.recipe is None:
            return left
        found = check_completion(program, in_storages=self.in_storages)
        return left + tuple(
            replace(one, severity=Severity.WARNING) for one in found if one.code == _NOT_COMPILED
        )


def read_user_transforms(
    request: CompileRequest,
    settings: Settings,
    name: Api,
    distributed: bool,
    emitted: Callable[[Program, str | None], str],
) -> UserTransforms:
    """Return the transformations of `request`: script, steps, and profiled regions.

    A script can read the settings, the name of the API, and whether data are `distributed`.
    `emitted` returns the generated code of a program.

    Raises:
        CompileError: the script is missing, or a step does not exist.
    """
    told = Compilation(settings, name, distributed, request.kernel_output, request.includes)
    return UserTransforms(
        read_recipe(request.script) if request.script else None,
        read_steps(request.steps),
        frozenset(map(ProfileGranularity, request.profile)),
        ScriptContext(told, emitted, dict(request.keywords)),
    )


Refused = tuple[tuple[str, tuple[Refusal, ...]], ...]
"""The refused steps of each invoke, by its name."""


def apply_steps(
    program: Program,
    requests: tuple[StepRequest, ...],
    rules: Rules,
    source: KernelSource,
    journal: Journal | None = None,
) -> tuple[Program, Refused]:
    """Return `program` after the steps, and the rejected steps; record all in `journal`.

    A step with a location is applied to the invokes that have this location. A rejected step that
    no invoke and no recipe accepted is marked as `in_vain`.

    Raises:
        CompileError: no invoke has the location of a step, or the step is rejected there.
    """
    benches = [Workbench(invoke.schedule, rules, source, journal) for invoke in program.invokes]
    refused: dict[str, list[Refusal]] = {}
    done: set[str] = set()
    for request in requests:
        absent = [check_places(bench, request) for bench in benches]
        if request.has_place and all(absent):
            raise CompileError(*(problem for problems in absent for problem in problems))
        for bench, problems in zip(benches, absent, strict=True):
            if not problems:
                before = bench.schedule
                refused.setdefault(bench.schedule.name, []).extend(apply_request(bench, request))
                done |= {request.step.name} if bench.schedule is not before else set()
    vain = _asked_by_name(requests) - done
    invokes = tuple(
        replace(invoke, schedule=bench.schedule)
        for invoke, bench in zip(program.invokes, benches, strict=True)
    )
    return replace(program, invokes=invokes), tuple(
        (name, tuple(replace(item, in_vain=item.step.name in vain) for item in items))
        for name, items in refused.items()
        if items
    )


def _asked_by_name(requests: tuple[StepRequest, ...]) -> set[str]:
    """Return the names of steps that are requested directly, not by a recipe."""
    tried = {request.step.name for request in requests if request.of_recipe}
    return {request.step.name for request in requests} - tried


def with_profiles(program: Program, grains: frozenset[ProfileGranularity], rules: Rules) -> Program:
    """Return `program` with profiled regions: kernels inside invokes."""
    for grain in (ProfileGranularity.KERNELS, ProfileGranularity.INVOKES):
        if grain in grains:
            invokes = tuple(_profiled(invoke, grain, rules) for invoke in program.invokes)
            program = replace(program, invokes=invokes)
    return program


def _profiled(invoke: Invoke, grain: ProfileGranularity, rules: Rules) -> Invoke:
    bench = Workbench(invoke.schedule, rules)
    for step in regions_for(invoke.schedule, grain):
        bench.apply(step)
    return replace(invoke, schedule=bench.schedule)


def check_completion(
    program: Program, refused: Refused = (), *, in_storages: bool = False
) -> tuple[Diagnostic, ...]:
    """Return errors for transformations that a recipe or the command line left incomplete.

    If a step that would complete a transformation was rejected, the reasons of the rejection come
    first. They are preceded by the reasons against steps that would have avoided this rejection.
    """
    refusals = dict(refused)
    found: dict[Diagnostic, None] = {}
    problems: list[Diagnostic] = []
    for invoke in program.invokes:
        here = refusals.get(invoke.name, ())
        for problem in check_finished(invoke.schedule, in_storages=in_storages):
            tried = [one for one in here if _would_help(one, problem, invoke.schedule)]
            before = [one for one in here if any(_was_to_help(one, refusal) for refusal in tried)]
            found |= dict.fromkeys(reason for one in before for reason in one.reasons)
            vain = frozenset(one.step.name for one in before)
            reasons = [_reason_beside(vain, reason) for one in tried for reason in one.reasons]
            found |= dict.fromkeys(reasons)
            problems.append(_after_refusals(problem, tried, reasons))
    return (*found, *problems)


def _would_help(refusal: Refusal, problem: Diagnostic, schedule: Schedule) -> bool:
    """Return whether the step of `refusal` is a remedy for `problem` at its location."""
    place = find(schedule, refusal.uid)
    is_there = place is not None and place_of(place) == problem.span
    return is_there and refusal.step.name in problem.remedies


def _was_to_help(earlier: Refusal, refusal: Refusal) -> bool:
    """Return whether the `earlier` step is a remedy for a reason of `refusal`."""
    mends = any(earlier.step.name in reason.remedies for reason in refusal.reasons)
    return mends and earlier.uid == refusal.uid


def _reason_beside(vain: frozenset[str], reason: Diagnostic) -> Diagnostic:
    """Return `reason` with a hint if its remedies were rejected."""
    names = [name for name in reason.remedies if name in vain]
    if not names:
        return reason
    hint = f"{listed(names, 'and')} would mend it, and was refused there, for the reasons above."
    left = tuple(name for name in reason.remedies if name not in vain)
    return replace(reason, hint=hint, remedies=left)


def _after_refusals(
    problem: Diagnostic, tried: list[Refusal], reasons: list[Diagnostic]
) -> Diagnostic:
    """Return `problem` with a hint that names a common remedy for all `reasons`, if any."""
    if not tried:
        return problem
    names = listed(list(dict.fromkeys(refusal.step.name for refusal in tried)), "and")
    hint = f"{names} was refused there, for the reasons above."
    first = [step for step in reasons[0].remedies if all(step in one.remedies for one in reasons)]
    if first:
        hint = f"{names} was refused there: apply '{first[0]}' before, as the first of all steps."
    return replace(problem, hint=hint)


NOTHING_TO_DO = frozenset({
    "T004", "T005", "T006", "T012", "T033", "T050", "T054", "T058", "T067", "T082", "T088",
})  # fmt: skip
"""Codes of reasons why a step does not apply to a place."""


def check_useless_steps(refused: Refused) -> Iterator[Diagnostic]:
    """Yield a warning for each step rejected everywhere it could apply (T092).

    For steps that offload loops, `check_host_kernels` yields the kernels instead.
    """
    reasons: dict[str, list[Diagnostic]] = {}
    for _, refusals in refused:
        for refusal in refusals:
            if refusal.in_vain and refusal.step.name not in TO_DEVICE:
                silent = NOTHING_TO_DO | {_LACKS_SOURCE}
                found = [one for one in refusal.reasons if one.code not in silent]
                reasons.setdefault(refusal.step.name, []).extend(found)
    for name, problems in reasons.items():
        for first, *others in (tuple(dict.fromkeys(problems)),) if problems else ():
            hint = f"{cure_of(first)} '--explain' has all reasons." if others else cure_of(first)
            yield Diagnostic(
                "T092",
                f"'{name}' could be applied nowhere: {first.message}",
                first.span,
                hint=hint,
                related=first.related,
                file=first.file,
                severity=Severity.WARNING,
            )


def check_missing_sources(refused: Refused) -> Iterator[Diagnostic]:
    """Yield a warning for each rejection for which the source of a module was missing (T097)."""
    reasons = (one for _, refusals in refused for refusal in refusals for one in refusal.reasons)
    for reason in dict.fromkeys(one for one in reasons if one.code == _LACKS_SOURCE):
        yield replace(reason, severity=Severity.WARNING)


TO_DEVICE = frozenset({"acc-loop", "acc-parallel", "acc-kernels"})
"""The steps that offload loops to a device with separate memory."""


def check_host_kernels(program: Program, refused: Refused, rules: Rules) -> Iterator[Diagnostic]:
    """Yield a warning for each kernel that a step failed to offload to a device (T090).

    Kernels for which no such step was requested are on the host intentionally. The data of other
    kernels may be on the device even if nothing else of the program is.
    """
    refusals = dict(refused)
    for invoke in program.invokes:
        schedule = invoke.schedule
        there = {call.uid for call in device_calls(schedule)}
        reasons: dict[str, tuple[int, str]] = {}
        for number, refusal in enumerate(refusals.get(invoke.name, ())):
            if refusal.step.name in TO_DEVICE and refusal.reasons:
                reasons.setdefault(refusal.uid, (number, refusal.reasons[0].message))
        for loop in outer_loops(schedule):
            inside = (loop.uid, *(item.uid for item in statements(loop)))
            found = [reasons[uid] for uid in inside if uid in reasons]
            names = [call.kernel.name for call in kernel_calls(loop) if call.uid not in there]
            if names and found:
                _, first = min(found)
                yield _left(loop, names, first, _check_kernels_region(schedule, loop, rules))


def _check_kernels_region(schedule: Schedule, loop: Loop, rules: Rules) -> Reasons:
    """Return reasons against `acc-kernels` around `loop`, or what it would leave incomplete."""
    step = AccKernels(loop.uid, loop.uid)
    if reasons := step.check(schedule, rules):
        return reasons
    before = check_finished(schedule)
    after = check_finished(step.apply(schedule, rules))
    return tuple(problem for problem in after if problem not in before)


def _left(loop: Loop, names: list[str], reason: str, against: Reasons) -> Diagnostic:
    verb = "stays" if len(set(names)) == 1 else "stay"
    what = listed(list(dict.fromkeys(names)), "and")
    hint = "Apply 'acc-kernels' after the other steps: its points are computed there, in order."
    return Diagnostic(
        "T090",
        f"{what} {verb} on the host, to which its data are copied: {reason}",
        place_of(loop),
        hint="" if against else hint,
        severity=Severity.WARNING,
    )
