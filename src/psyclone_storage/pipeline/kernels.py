"""Kernels that algorithms call, with cached files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import (
    CompileError,
    Diagnostic,
    InternalError,
    Related,
    Severity,
    raise_if_any,
)
from psyclone_storage.base.names import listed
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.domains.imports import Import, find_imports
from psyclone_storage.domains.kernel_check import check_contradictions
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import KernelPlace, ParsedAlgorithm, ParsedRoutine
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import SharedProcedure
from psyclone_storage.ir.schedule import Program
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.languages.fortran.parse.module_symbols import check_exported
from psyclone_storage.languages.sources.kernel_search import (
    PACKAGE_FILE,
    SourceIndex,
    find_kernel,
    index_with,
)
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.pipeline.line_lengths import read_checked
from psyclone_storage.pipeline.module_context import ModuleContexts
from psyclone_storage.pipeline.precisions import code_for
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.targets.spec import ApiParts, Language

if TYPE_CHECKING:
    from psyclone_storage.pipeline.effects import SharedEffects

Dummies = tuple[Dummy, ...]
_CONDITIONAL = regex(r"^[ \t]*#", re.MULTILINE)


@dataclass(slots=True)
class KernelRepository:
    """Kernels in directory trees, with a cache shared by several algorithms.

    - `beside`: if several files define a kernel, the file in the folder of the algorithm is used.

    - `warnings`: warnings for the files that were read.
    """

    index: SourceIndex
    api: ApiParts
    language: Language
    settings: Settings
    line_limit: bool = False
    beside: bool = False
    warnings: dict[Path, tuple[Diagnostic, ...]] = field(default_factory=dict)
    _known: dict[tuple[Path, str], Kernel] = field(default_factory=dict)
    _counted: dict[tuple[SourceText, str], tuple[Diagnostic, ...]] = field(default_factory=dict)
    _routines: dict[tuple[SourceText, str], tuple[ParsedRoutine, ...]] = field(default_factory=dict)
    _codes: dict[tuple[SourceText, str, Dummies], Routine] = field(default_factory=dict)
    _modules: ModuleFinder = field(init=False)
    _contexts: ModuleContexts = field(init=False)
    _effects: SharedEffects | None = None

    def __post_init__(self) -> None:
        """Create the module finder for the directories with kernels."""
        self._modules = ModuleFinder(self.index, frozenset(self.settings.ignore_modules))
        self._contexts = ModuleContexts(self._modules, self.api.infrastructure)

    def read_algorithm(self, source: SourceText) -> ParsedAlgorithm:
        """Return an algorithm with the names in its invokes resolved.

        Raises:
            CompileError: the algorithm cannot be parsed.
        """
        algorithm = self.language.read_algorithm(source)
        found = self._modules.constant, self._modules.complete_type
        return self.language.link_algorithm(algorithm, self.api.structures, *found)

    def find(self, wanted: Import) -> tuple[Kernel, Path]:
        """Return the kernel that an algorithm imports, and its file.

        Raises:
            CompileError: the kernel is not found, or its metadata are wrong.
        """
        place = self._place_of(self._innermost(wanted))
        path = Path(place.source.name)
        key = (path, place.name)
        if key not in self._known:
            source = read_checked(self.index, path, self.line_limit)
            parsed = self.language.read_kernel(source, place.name, wanted_by=wanted.call.name_span)
            if self.api.checks_syntax:
                found = self.language.check_syntax(source, parsed.implementations)
                raise_if_any(found)
                self.warnings[path] = found
            module = place.module if "." in place.module else parsed.module
            parsed = replace(parsed, module=module)
            self._known[key] = self.api.interpret(parsed, self.settings)
        return self._known[key], path

    def wrong_counts(self, kernel: Kernel) -> tuple[Diagnostic, ...]:
        """Return `M201` for each subroutine whose number of dummy arguments does not match.

        Some subroutines are not checked: those that cannot be read, those with arguments that
        depend on the preprocessor, and those without arguments, which are placeholders.
        """
        if kernel.span is None:
            return ()
        key = (kernel.span.source, kernel.key)
        if key not in self._counted:
            found = (self.api.check_kernel(kernel, one) for one in self.routines_of(kernel))
            self._counted[key] = tuple(
                problem for each in found for problem in each if problem.code == "M201"
            )
        return self._counted[key]

    def interface_warnings(self, kernels: Iterable[Kernel]) -> Iterator[Diagnostic]:
        """Yield `M203` as warnings for subroutines that contradict the metadata of `kernels`."""
        for kernel in kernels:
            for routine in self.routines_of(kernel):
                yield from check_contradictions(kernel, routine, self.api.dummies(kernel))

    def private_procedures(self, program: Program) -> Iterator[Diagnostic]:
        """Yield `M208` as warnings for procedures that generated Fortran imports but cannot."""
        calls = [call for one in program.invokes for call in kernel_calls(one.schedule)]
        uses = [(call.kernel, code.kernel_use) for call in calls for code in call.codes]
        here = {kernel for kernel, use in uses if use.inlined or use.in_place}
        for kernel in dict.fromkeys(call.kernel for call in calls):
            if kernel.span is not None and kernel not in here:
                source = kernel.span.source
                for one in check_exported(source, kernel.module, kernel.procedure, kernel.span):
                    yield replace(one, severity=Severity.WARNING)

    def routines_of(self, kernel: Kernel) -> tuple[ParsedRoutine, ...]:
        """Return the interfaces of the subroutines of a kernel, without those that are skipped."""
        if kernel.span is None:
            return ()
        key = (kernel.span.source, kernel.key)
        if key not in self._routines:
            names = kernel.implementations or (kernel.procedure,)
            found = (self._routine(key[0], name) for name in names)
            self._routines[key] = tuple(one for one in found if one is not None)
        return self._routines[key]

    def _routine(self, source: SourceText, name: str) -> ParsedRoutine | None:
        try:
            routine = self.language.read_routine(source, name)
        except CompileError:
            return None
        if routine is None or not routine.dummies or _CONDITIONAL.search(routine.span.text):
            return None
        return routine

    def warnings_of(self, files: tuple[Path, ...]) -> Iterator[Diagnostic]:
        """Yield the warnings for the given files, which were read."""
        for path in files:
            yield from self.warnings.get(path, ())

    def codes_of(self, kernel: Kernel) -> tuple[Routine, ...]:
        """Return the subroutines of `kernel`, from the file that contains its metadata.

        Raises:
            CompileError: a subroutine cannot be read.
        """
        if kernel.span is None:
            raise InternalError(f"The kernel '{kernel.name}' was read from no file.")
        names = kernel.implementations or (kernel.procedure,)
        source = kernel.span.source
        dummies = self.api.dummies(kernel)
        return tuple(self._code(source, key_of(name), dummies) for name in names)

    def shared_procedures(
        self, kernel: Kernel, codes: tuple[Routine, ...]
    ) -> tuple[SharedProcedure, ...]:
        """Return the procedures executed by `kernel` that may change shared data.

        Procedures that are not found or cannot be read are omitted. Texts are scanned first,
        because parsing bodies is expensive.
        """
        return self._effects_of(kernel, codes)[0]

    def unknown_procedures(self, kernel: Kernel, codes: tuple[Routine, ...]) -> tuple[str, ...]:
        """Return the procedures that `kernel` calls, also indirectly, and that are not found."""
        return self._effects_of(kernel, codes)[1]

    def _effects_of(
        self, kernel: Kernel, codes: tuple[Routine, ...]
    ) -> tuple[tuple[SharedProcedure, ...], tuple[str, ...]]:
        if kernel.span is None:
            return (), ()
        source, names = kernel.span.source, kernel.implementations or (kernel.procedure,)
        if self._effects is None:
            from psyclone_storage.pipeline.effects import SharedEffects  # noqa: PLC0415

            shipped = shared_file(f"external/{self.api.infrastructure}")
            finder = self._modules.among(index_with(self._modules.index, shipped))
            trusted = frozenset(self.settings.thread_safe_procedures)
            self._effects = SharedEffects(finder, self.language.state, trusted=trusted)
        return self._effects.of_kernel(kernel.procedure, source, kernel.module, names, codes)

    def is_thread_safe(self, kernel: Kernel, code: Routine) -> bool:
        """Return whether the settings declare `code` or its `kernel` thread-safe."""
        named = self.settings.thread_safe_procedures
        return any(key_of(name) in named for name in (kernel.procedure, kernel.name, code.name))

    def _code(self, source: SourceText, name: str, dummies: tuple[Dummy, ...]) -> Routine:
        key = source, name, dummies if self.language.prints_kernels else ()
        if key not in self._codes:
            code = self.language.read_code(source, name, dummies, self._modules_for)
            code = self.language.resolve(code, self._modules, dummies)
            if not self.language.prints_kernels:
                context = self._contexts.of(source)
                code = replace(code, module=replace(code.module, context=context))
            self._codes[key] = code
        return self._codes[key]

    def _modules_for(self, name: str, importing: SourceText) -> tuple[SourceText, ...]:
        """Return the files that may define a module which a file imports by `name`.

        Each leading dot denotes a parent folder of the importing file. If several files match, the
        one in the folder of the importing file is used, or in that of its outermost package.
        """
        folder, suffix = Path(importing.name).resolve().parent, self.language.suffixes[0]
        way = [one for one in name.lstrip(".").split(".") if one]
        for _ in range(len(name) - len(name.lstrip(".")) - 1):
            folder = folder.parent
        paths = sorted(self.index.candidates((way or [folder.name])[-1]), key=_is_package)
        found = {_without_suffix(path): path for path in paths if path.suffix == suffix}
        if name.startswith("."):
            near = found.get(folder.joinpath(*way))
            return (self.index.read(near),) if near else ()
        found = {place: path for place, path in found.items()
                 if list(place.parts[-len(way) :]) == way}  # fmt: skip
        root = self._root_of(folder)
        beside = [path for place, path in found.items()
                  if place == root.joinpath(*way) or place.parent == folder == root]  # fmt: skip
        return tuple(self.index.read(path) for path in beside or found.values())

    def _root_of(self, folder: Path) -> Path:
        """Return a folder, or the one that contains the outermost package around it."""
        packages = (path.resolve() for path in self.index.candidates(folder.name))
        if any(_is_package(path) and path.parent == folder for path in packages):
            return self._root_of(folder.parent)
        return folder

    def _innermost(self, wanted: Import) -> Import:
        """Return the import, or a kernel of the same name that hides it."""
        for module in wanted.hiding:
            for path in self.index.candidates(module):
                at = KernelPlace(self.index.read(path), wanted.local, module)
                if self._exported(at, whole=True):
                    return replace(wanted, original=wanted.local, modules=(module,), hiding=())
        return wanted

    def _offered(self, wanted: Import, module: str, source: SourceText) -> KernelPlace | None:
        """Return the definition of the kernel `wanted` that the file of a module provides."""
        at = KernelPlace(source, wanted.original, module)
        return self._exported(at, whole=wanted.doubt is not None)

    def _exported(self, at: KernelPlace, *, whole: bool) -> KernelPlace | None:
        """Return the definition of a kernel that the file of a module defines or imports.

        If the module is imported as a `whole`, private names are excluded.
        """
        if self.language.follow_imports is not None:
            return self.language.follow_imports(at, whole, self._imported_by)
        return at if at.name in self.language.kernel_types(at.source) else None

    def _imported_by(self, name: str, importing: SourceText) -> tuple[SourceText, ...]:
        """Return the files that may define a module; Fortran files only if there are no others."""
        fortran = (path for path in self.index.candidates(name) if path.suffix != ".py")
        return self._modules_for(name, importing) or tuple(map(self.index.read, fortran))

    def _place_beside(self, wanted: Import) -> KernelPlace | None:
        """Return the kernel that the algorithm itself or a file in its folder provides.

        A file in the folder must be preferred and the only one. Other files are not read, because
        earlier outputs in subfolders may be among them.
        """
        algorithm = wanted.call.name_span.source
        if wanted.modules == (key_of(Path(algorithm.name).stem),):
            at = KernelPlace(algorithm, wanted.original, wanted.modules[0])
            if at.name in self.language.kernel_types(algorithm):
                return at
        if not self.beside:
            return None
        folder = Path(algorithm.name).resolve().parent
        paths = {
            path: module for module in wanted.modules for path in self.index.candidates(module)
        }
        near = [
            place
            for path, module in paths.items()
            if path.resolve().parent == folder
            and (place := self._offered(wanted, module, self.index.read(path)))
        ]
        return near[0] if len(near) == 1 and len(paths) > 1 else None

    def _place_of(self, wanted: Import) -> KernelPlace:
        """Return the definition of the kernel `wanted`.

        If modules are imported as a whole, or several files have the module's name, it is in the
        file that provides a kernel of this name. Files with the same text count as one.
        """
        if near := self._place_beside(wanted):
            return near
        files = {
            self.index.read(path).text: (module, path)
            for module in reversed(wanted.modules)
            for path in reversed(self.index.candidates(module))
        }
        is_sure = len(files) == 1 and not wanted.doubt
        if is_sure and self.language.follow_imports is None:
            module, path = next(iter(files.values()))
            return KernelPlace(self.index.read(path), wanted.original, module)
        found = (self._offered(wanted, module, SourceText(str(path), text))
                 for text, (module, path) in files.items())  # fmt: skip
        places = {(place.source.text, place.name): place for place in found if place}
        if len(places) == 1:
            return next(iter(places.values()))
        if not places and wanted.doubt:
            raise CompileError(wanted.doubt)
        is_python = self.language.follow_imports is not None
        if wanted.doubt and is_python and len({place.module for place in places.values()}) > 1:
            raise CompileError(_in_several(wanted, list(places.values())))
        module = wanted.modules[0]
        path = find_kernel(self.index, wanted.call.name, module, wanted.call.name_span)
        return KernelPlace(self.index.read(path), wanted.original, module)


def _in_several(wanted: Import, places: list[KernelPlace]) -> Diagnostic:
    name = wanted.call.name
    files = listed(sorted(place.source.name for place in places), "and")
    hint = f"Import '{name}' by name from one of the modules."
    message = f"The kernel '{name}' could be in {files}."
    return Diagnostic("P032", message, wanted.call.name_span, hint=hint)


def _is_package(path: Path) -> bool:
    return path.stem == PACKAGE_FILE


def _without_suffix(path: Path) -> Path:
    """Return the resolved path of a module, that of the folder for a package."""
    real = path.resolve()
    return real.parent if _is_package(real) else real.with_suffix("")


@dataclass(frozen=True, slots=True)
class CalledKernels:
    """Kernels and built-ins that an algorithm calls, by lower-case name.

    - `files`: the files from which they were read.

    - `problems`: diagnostics for missing kernels.
    """

    by_name: Mapping[str, Kernel]
    files: tuple[Path, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def find_kernels(algorithm: ParsedAlgorithm, kernels: KernelRepository) -> CalledKernels:
    """Return the kernels and built-ins that `algorithm` calls, their files, and diagnostics."""
    api, language = kernels.api, kernels.language
    known = api.builtins if language.prints_kernels or not api.builtins_in_python else ()
    imports = find_imports(algorithm, known, language.import_form)
    problems = list(imports.problems)
    found = {key_of(name): kernel for name in imports.builtins if (kernel := api.builtin(name))}
    files: dict[Path, None] = {}
    first: dict[str, Import] = {}
    for wanted in imports.kernels:
        try:
            kernel, path = kernels.find(wanted)
            if found.setdefault(wanted.local, kernel) is not kernel:
                problems.append(_of_two(wanted, first[wanted.local]))
            first.setdefault(wanted.local, wanted)
            files[path] = None
            problems += kernels.wrong_counts(kernel)
        except CompileError as error:
            problems += error.problems
    return CalledKernels(found, tuple(files), tuple(map(_with_api, problems)))


def _with_api(problem: Diagnostic) -> Diagnostic:
    """Return `problem` with another hint if its name is unknown, but a built-in of an API."""
    if problem.code != "S110" or problem.span is None:
        return problem
    name = problem.span.text
    of_api = next((str(api.value) for api in Api if api_parts(api).builtin(name)), "")
    hint = f"'{name}' is a built-in of '-api {of_api}' alone: call a kernel instead."
    return replace(problem, hint=hint) if of_api else problem


def _of_two(wanted: Import, first: Import) -> Diagnostic:
    """Return the diagnostic for a name that scopes import from two different modules."""
    message = f"'{wanted.local}' is another kernel here than in another procedure of the file."
    hint = "Rename one of the two where it is imported: 'use <module>, only: <new> => <old>'."
    related = (Related(first.call.name_span, "another kernel is called here"),)
    return Diagnostic("S118", message, wanted.call.name_span, hint=hint, related=related)


def with_codes(program: Program, kernels: KernelRepository, sizes: Mapping[str, int]) -> Program:
    """Return `program` with the code of each called kernel, for the module with the calls.

    `sizes` contains the number of bytes of each kind. A kernel inlined by a step is called instead,
    which is equivalent.

    Raises:
        CompileError: all errors in the code of kernels.
    """
    problems: dict[str, tuple[Diagnostic, ...]] = {}
    invokes = []
    for invoke in program.invokes:
        schedule = invoke.schedule
        for call in kernel_calls(schedule):
            if call.kernel.is_builtin:
                continue
            try:
                codes = call.codes or kernels.codes_of(call.kernel)
                codes = (code_for(call.kernel, codes, kernels.api.dummies(call.kernel), sizes),)
            except CompileError as error:
                problems[call.kernel.procedure] = error.problems
                continue
            own = tuple(
                replace(
                    code,
                    kernel_use=replace(
                        code.kernel_use, inlined=True, in_place=False, hot_path=None
                    ),
                    module=replace(code.module, name=call.kernel.module),
                )
                for code in codes
            )
            schedule = replaced(schedule, call.uid, replace(call, codes=own))
        invokes.append(replace(invoke, schedule=schedule))
    raise_if_any([problem for found in problems.values() for problem in found])
    return replace(program, invokes=tuple(invokes))
