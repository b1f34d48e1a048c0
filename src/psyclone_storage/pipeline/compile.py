"""The stages of a compilation, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    InternalError,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.settings import API_NAMES, Api, JointExchanges, Settings
from psyclone_storage.domains.argument_values import check_argument_values
from psyclone_storage.domains.build import BuildOptions, build_program, check_calls
from psyclone_storage.ir.devices import has_device
from psyclone_storage.ir.loops import loops_of
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import Program, Schedule
from psyclone_storage.ir.storage_access import StoragePolicy
from psyclone_storage.ir.unit import Unit
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.languages.sources.included_invokes import check_included_invokes
from psyclone_storage.languages.sources.kernel_search import SourceIndex, index_directories
from psyclone_storage.pipeline.kernel_naming import (
    KernelNumbering,
    KernelText,
    LocalNumbering,
    NumberedProgram,
    name_kernels,
)
from psyclone_storage.pipeline.kernels import (
    CalledKernels,
    KernelRepository,
    find_kernels,
    with_codes,
)
from psyclone_storage.pipeline.line_lengths import read_checked
from psyclone_storage.pipeline.precisions import check_precisions, with_precisions
from psyclone_storage.pipeline.request import CompileRequest, LineLimit, suffixes_of
from psyclone_storage.pipeline.thread_safety import (
    add_thread_comments,
    check_known_effects,
    check_order_of_points,
    check_reproducible_sums,
)
from psyclone_storage.targets.apis import api_parts, lower, target_of
from psyclone_storage.targets.extensions import with_extensions
from psyclone_storage.targets.spec import ApiParts, ApiRow, Language, NativeTexts, Target
from psyclone_storage.transform.aggregate_exchanges import with_joint_exchanges
from psyclone_storage.transform.default_passes import (
    with_outlined_columns,
    with_outlined_points,
    with_shared_loops,
)
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.marks import eliminate_dead_halo_flags
from psyclone_storage.transform.transfers import with_transfers

if TYPE_CHECKING:
    from psyclone_storage.pipeline.user_transforms import Refused, UserTransforms
    from psyclone_storage.transform.workbench import Journal


@dataclass(frozen=True, slots=True)
class Build:
    """Result of a compilation: the final program, the texts, and the kernel files that were read.

    - `rules`: the halo rules of the domain.

    - `refused`: the rejected steps.

    - `kernels`: the kernels changed by steps, each for a separate file.

    - `beside`: other texts of the PSy layer, each with the suffix of its file.

    - `journal`: the steps requested in each invoke.

    - `faster_layers`: kernels with loops over layers were rewritten where that gains.
    """

    program: Program
    algorithm_text: str
    psy_text: str
    kernel_files: tuple[Path, ...]
    rules: Rules
    warnings: tuple[Diagnostic, ...] = ()
    refused: Refused = ()
    kernels: tuple[KernelText, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    journal: Journal = field(default_factory=dict)
    faster_layers: bool = False


Notes = tuple[Diagnostic, ...]
"""Warnings about an algorithm."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """State shared by the compilations of several algorithms."""

    settings: Settings
    api: ApiParts
    target: Target
    distributed: bool
    kernels: KernelRepository
    requested: UserTransforms | None = None
    breaks_lines: bool = False
    includes: tuple[Path, ...] = ()
    checks: bool = False

    @property
    def script_files(self) -> tuple[Path, ...]:
        """Script, and the files that it has read so far."""
        return self.requested.script_files if self.requested else ()

    def compile_algorithm(self, path: Path, numbering: KernelNumbering | None = None) -> Build:
        """Compile the algorithm file at `path`; `numbering` numbers changed kernels.

        Raises:
            CompileError: all errors in the user's files found by one stage.
            InternalError: a stage violated an invariant.
        """
        source = read_checked(self.kernels.index, path, self.kernels.line_limit)
        return self.compile_text(source, numbering)

    def compile_text(self, source: SourceText, numbering: KernelNumbering | None = None) -> Build:
        """Compile the text of an algorithm, like `compile_algorithm`."""
        algorithm = self.kernels.read_algorithm(source)
        notes = _notes(algorithm, self.includes, self.kernels.index)
        try:
            return self._compiled(algorithm, notes, numbering or LocalNumbering())
        except CompileError as error:
            raise CompileError(*notes, *error.problems) from error

    def _compiled(
        self, algorithm: ParsedAlgorithm, notes: Notes, numbering: KernelNumbering
    ) -> Build:
        called = find_kernels(algorithm, self.kernels)
        if called.problems:
            domain = self.api.domain(self.settings)
            raise CompileError(*called.problems, *check_calls(algorithm, called.by_name, domain))
        return self.compile_parsed(algorithm, called, notes, numbering)

    def compile_parsed(
        self,
        algorithm: ParsedAlgorithm,
        called: CalledKernels,
        notes: Notes,
        numbering: KernelNumbering,
    ) -> Build:
        """Compile a parsed algorithm with the kernels in `called`.

        Raises:
            CompileError: all errors found by one stage.
        """
        program, rules = self.planned(algorithm, called)
        notes += (*check_argument_values(program), *check_order_of_points(program, self.kernels))
        journal: Journal = {}
        refused: Refused = ()
        if self.requested is not None:
            if self.requested.allows_shared_loops:
                program = self._shared(program, rules)
            program, refused = self.requested.apply(program, rules, self.kernels, journal)
            self._check_schedules(program)
        program = self._finished(program, rules, checks=self.checks)
        raise_if_any([*self.target.refuses(program, rules)])
        placed, unit = self._lowered(program, numbering)
        psy_text, beside = self._psy_texts(unit, placed)
        build = Build(
            program=program,
            algorithm_text=self._algorithm_text(program),
            psy_text=psy_text,
            kernel_files=called.files,
            rules=rules,
            warnings=(
                *notes,
                *self.kernels.warnings_of(called.files),
                *self.kernels.interface_warnings(called.by_name.values()),
                *(() if self._is_native else self.kernels.private_procedures(program)),
                *(check_reproducible_sums(program) if self._wants_order else ()),
                *check_known_effects(program, self.kernels),
                *check_precisions(
                    program, self.settings.lfric.precision_map, self.kernels.routines_of
                ),
                *(self.requested.warnings(program, refused, rules) if self.requested else ()),
            ),
            refused=refused,
            journal=journal,
            kernels=placed.kernels,
            beside=beside,
            faster_layers=self._rewrites_layers,
        )
        if self.settings.backend_checks_enabled:
            helpers = {
                one.name: tuple(item.name for item in one.dummies)
                for one in (*unit.outlined, *unit.helpers)
            }
            inlined = {} if self._is_native else dict(placed.heads)
            check_output(build, inlined | helpers, self.target.language)
        return build

    def _check_schedules(self, program: Program) -> None:
        """Raise `CompileError` if a schedule is impossible with the distribution of its data."""
        check = self.api.domain(self.settings).check_schedule
        raise_if_any([one for invoke in program.invokes for one in check(invoke.schedule)])

    def planned(self, algorithm: ParsedAlgorithm, called: CalledKernels) -> tuple[Program, Rules]:
        """Return the schedules of an algorithm with halo exchanges, and the halo rules.

        Raises:
            CompileError: all inconsistencies in the invokes.
        """
        domain = self.api.domain(self.settings)
        program = build_program(algorithm, called.by_name, domain, self._build_options())
        rules = domain.rules
        sizes = self.target.infrastructure(self.settings).sizes
        if sizes:
            program = with_precisions(program, sizes, self.api.dummies)
        return _with_each(program, lambda schedule: with_halos(schedule, rules)), rules

    def _build_options(self) -> BuildOptions:
        """Return the options of new schedules."""
        chosen = self.api.choices(self.settings)
        return BuildOptions(self.distributed, chosen.annexed_clean, chosen.fills_before_increment)

    def text_of(self, program: Program, routine: str | None = None) -> str:
        """Return the PSy layer of the current `program`, or only one of its routines.

        It differs from the final text only in the numbers of changed kernels, which are allocated
        when their files are written.

        Raises:
            CompileError: the target language cannot express a kernel, or storages cannot hold the
                data.
        """
        program = self._finished(program, self.api.domain(self.settings).rules)
        placed, unit = self._lowered(program, LocalNumbering())
        if routine is not None:
            unit = replace(
                unit, routines=tuple(one for one in unit.routines if one.name == routine)
            )
        return self._psy_texts(unit, placed)[0]

    def _shared(self, program: Program, rules: Rules) -> Program:
        """Return `program` with fused loops of built-ins, unless settings disable fusion."""
        if not self.api.choices(self.settings).fuses_built_ins:
            return program
        return _with_each(program, partial(with_shared_loops, rules=rules))

    def _finished(self, program: Program, rules: Rules, *, checks: bool = False) -> Program:
        """Return `program` after the final passes that settings and target require."""
        program = self._shared(program, rules)
        program = _with_each(program, partial(with_outlined_columns, rules=rules))
        contract = self.target.infrastructure(self.settings).holding
        if contract is not None and not contract.at_once:
            program = _with_each(program, partial(with_outlined_points, rules=rules))
        if contract is None and self._shares_device(program):
            in_strips = rules.exchanges_in_strips()
            program = _with_each(
                program, partial(with_transfers, in_strips=in_strips, beside_device=True)
            )
        if self.settings.joint_exchanges is not JointExchanges.SEPARATE:
            together = partial(
                with_joint_exchanges,
                halves=self.target.infrastructure(self.settings).starts_together,
                overlapped=self.settings.joint_exchanges is JointExchanges.OVERLAPPED,
            )
            program = _with_each(program, together)
        if not self.target.infrastructure(self.settings).reads_all_flags:
            program = _with_each(program, eliminate_dead_halo_flags)
        if checks:
            _check_coherence(program, rules)
        if self.target.language.prints_kernels:
            program = with_codes(
                program, self.kernels, self.target.infrastructure(self.settings).sizes
            )
            program = self._with_faster_layers(program)
        if contract is not None:
            program = _with_storage_access(program, contract, rules, self.kernels)
            if checks:
                _check_storage_plans(program, contract, self.kernels)
        return program

    @property
    def _rewrites_layers(self) -> bool:
        """True if loops over layers may be rewritten: bounds checks need the original order."""
        asked = self.target.infrastructure(self.settings).faster_layers
        return asked and not self.settings.bounds_checks

    def _with_faster_layers(self, program: Program) -> Program:
        """Return `program` with kernels that compute several columns or layers together.

        The module is large, so it is imported only if a kernel has loops.
        """
        if not self._rewrites_layers or not _has_loops_in_kernels(program):
            return program
        from psyclone_storage.transform.kernel.layers import (  # noqa: PLC0415
            with_faster_layers,
        )

        return _with_each(program, with_faster_layers)

    def _shares_device(self, program: Program) -> bool:
        """Return whether an invoke may find data on a device that another invoke has left there.

        All files of a model are compiled with the same steps. Even if a device step is rejected in
        all of this file, other files may leave data on the device.
        """
        asked = self.requested is not None and self.requested.asks_for_device
        return asked or any(has_device(invoke.schedule) for invoke in program.invokes)

    def _lowered(
        self, program: Program, numbering: KernelNumbering
    ) -> tuple[NumberedProgram, Unit]:
        """Return `program` with the names of changed kernels, and its lowered module."""
        placed = name_kernels(program, numbering, self.target.language)
        inlined = replace(placed.inlined, bounds_checks=self.settings.bounds_checks)
        placed = replace(placed, inlined=inlined)
        unit = lower(self.target, placed.program, self.settings)
        return placed, add_thread_comments(unit, program, self.kernels)

    def _algorithm_text(self, program: Program) -> str:
        language = self.target.language
        text = language.emit_algorithm(program)
        return language.within_limit(text) if self.breaks_lines else text

    def _psy_texts(self, unit: Unit, placed: NumberedProgram) -> NativeTexts:
        language = self.target.language
        if language.emit_native is not None:
            text, beside = language.emit_native(unit, placed.inlined)
        else:
            text, beside = language.emit_unit(unit, placed.inlined), ()
        without_blanks = self.settings.backend_indentation_disabled
        return language.without_indentation(text) if without_blanks else text, beside

    @property
    def _is_native(self) -> bool:
        """True if the generated code is no Fortran, and imports no kernels."""
        return self.target.language.emit_native is not None

    @property
    def _wants_order(self) -> bool:
        """True if rounded partial sums must be added in a fixed order."""
        exact = self.api.choices(self.settings).exact_sums
        return self.settings.reproducible_reductions and not exact


def make_compiler(
    settings: Settings,
    request: CompileRequest,
    index: SourceIndex | None = None,
    row: ApiRow | None = None,
) -> Compiler:
    """Return a compiler: select the domain, index the kernels, and read the script.

    - `index`: the index of the directories, if it exists already.

    - `row`: the parts of an API used instead of the requested one.

    Raises:
        CompileError: a directory or the script is missing, a step does not exist, or an
            infrastructure lacks an extension that settings require.
    """
    name = API_NAMES[request.api] if request.api else settings.api
    api, target = row or (
        api_parts(name),
        target_of(name, request.target, request.suffix, settings.data_movement),
    )
    index = index or index_directories(request.directories, request.includes, suffixes_of(request))
    settings = target.adapted(with_extensions(settings, target.asks, index))
    distributed = request.distributed
    if distributed is None:
        distributed = settings.distributed_memory
    made = Compiler(
        settings,
        api,
        target,
        distributed,
        KernelRepository(
            index,
            api,
            target.language,
            settings,
            request.line_limit is LineLimit.ALL,
            request.beside,
        ),
        breaks_lines=request.line_limit is LineLimit.OUTPUT,
        includes=request.includes,
        checks=request.checks,
    )
    return replace(made, requested=_user_transforms(request, made, name))


def _has_loops_in_kernels(program: Program) -> bool:
    calls = (call for item in program.invokes for call in kernel_calls(item.schedule))
    return any(loops_of(code) for call in calls for code in call.codes)


def _check_coherence(program: Program, rules: Rules) -> None:
    from psyclone_storage.pipeline.coherence import check_coherence  # noqa: PLC0415

    check_coherence(program, rules)


def _with_storage_access(
    program: Program, policy: StoragePolicy, rules: Rules, kernels: KernelRepository
) -> Program:
    from psyclone_storage.pipeline.coherence import with_storage_access  # noqa: PLC0415

    return with_storage_access(program, policy, rules, kernels)


def _check_storage_plans(
    program: Program, policy: StoragePolicy, kernels: KernelRepository
) -> None:
    from psyclone_storage.pipeline.coherence import check_storage_plans  # noqa: PLC0415

    check_storage_plans(program, policy, kernels)


def _user_transforms(request: CompileRequest, made: Compiler, name: Api) -> UserTransforms | None:
    """Return the transformations that a user requests, or None.

    The modules for steps and scripts are large, so they are imported only if necessary.
    """
    if not (request.script or request.steps or request.profile):
        return None
    from psyclone_storage.pipeline.user_transforms import read_user_transforms  # noqa: PLC0415

    found = read_user_transforms(request, made.settings, name, made.distributed, made.text_of)
    holding = made.target.infrastructure(made.settings).holding
    if holding is not None and holding.directives_act:
        found = found.without_moves()
    return replace(found, in_storages=holding is not None)


def _with_each(program: Program, change: Callable[[Schedule], Schedule]) -> Program:
    """Return `program` with a function applied to each schedule, and check the results."""
    invokes = tuple(replace(invoke, schedule=change(invoke.schedule)) for invoke in program.invokes)
    for invoke in invokes:
        if problems := check_schedule(invoke.schedule):
            raise InternalError(problems[0].message)
    return replace(program, invokes=invokes)


_NOT_CALLED = regex(r"^[^!'\"\n]*(?<![\w%])(?P<invoke>invoke)\s*\(", re.IGNORECASE | re.MULTILINE)
"""An invoke in Fortran that is not called as a subroutine; an array may have the name, too."""


def _notes(algorithm: ParsedAlgorithm, includes: tuple[Path, ...], index: SourceIndex) -> Notes:
    included = check_included_invokes(algorithm.source, includes, index.read)
    notes = (*algorithm.warnings, *included)
    if algorithm.invokes:
        return notes
    name = algorithm.source.name
    message = f"'{name}' has no invoke: its text is passed on unchanged."
    note = Diagnostic("P013", message, file=name, severity=Severity.WARNING)
    found = None if name.endswith(".py") else _NOT_CALLED.search(algorithm.source.text)
    if found:
        place = algorithm.source.span(*found.span("invoke"))
        note = replace(note, span=place, hint="Write 'call invoke(...)' as a statement.")
    return (*notes, note)


def check_output(build: Build, private: Mapping[str, tuple[str, ...]], language: Language) -> None:
    """Parse the generated texts as a check.

    `private` maps the names of the other routines in the PSy layer, including kernels, to their
    dummy arguments. The name of an argument may have a suffix `_` or `_1` if a module requires it.

    Raises:
        InternalError: the algorithm still contains an invoke, or a routine cannot be parsed.
    """
    try:
        algorithm = language.read_algorithm(SourceText("generated algorithm", build.algorithm_text))
        routines = language.heads(SourceText("generated PSy layer", build.psy_text))
    except CompileError as error:
        raise InternalError(f"Generated code cannot be read: {error}") from error
    wanted = dict(private) | {
        invoke.name: tuple(datum.name for datum in invoke.schedule.data)
        for invoke in build.program.invokes
    }
    if (
        algorithm.invokes
        or routines.keys() != wanted.keys()
        or not all(_are_called(names, wanted[name]) for name, names in routines.items())
    ):
        raise InternalError("Generated code differs from what was to be generated.")


def _are_called(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(names) == len(wanted) and all(
        re.fullmatch(rf"{re.escape(name)}(_\d*)?", found)
        for found, name in zip(names, wanted, strict=True)
    )
