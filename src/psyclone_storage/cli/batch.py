"""Compile one algorithm file or many: one after another or several at a time.

Each file is compiled on its own: a problem in one does not keep the outputs of the others from
being written, and every problem of every file is reported. What is written is written together when
all are compiled: if one output cannot be, nothing is changed.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.cli.conflicts import overwrites_input
from psyclone_storage.cli.depfile import depfile_text
from psyclone_storage.cli.guard import as_errors, failure
from psyclone_storage.cli.kernel_folder import KernelFolder, discard
from psyclone_storage.cli.options import Options, algorithm_path, kernel_folder, psy_path
from psyclone_storage.cli.progress import Progress
from psyclone_storage.cli.report import Reports, gathered_reports, reports_of
from psyclone_storage.cli.results import Results, Translation, open_results
from psyclone_storage.cli.write import Output, differs, write_together
from psyclone_storage.config.load import read_settings_texts, settings_of
from psyclone_storage.config.locate import (
    find_settings_file,
    shipped_settings_file,
    surroundings,
)
from psyclone_storage.config.settings import Settings
from psyclone_storage.driver.inputs import Inputs, find_inputs
from psyclone_storage.driver.request import CompileRequest, LineLimit, for_file

if TYPE_CHECKING:
    from psyclone_storage.driver.compile import Build, Compiler

CHECKING = "PSYCLONE_STORAGE_CHECK"
"""The environment variable that stands for '--check', if it is set to anything."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one algorithm file.

    `printed` is what its script printed, `texts` are generated texts that go to standard output,
    with their headings, `outputs` those that go to files; `kernels` are files that are there
    already, to be taken away if the outputs fail. `sources` are what a dependency rule needs.
    `translation` is what another call may be given instead of compiling.
    """

    problems: tuple[Diagnostic, ...]
    printed: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    reports: Reports = field(default_factory=Reports)
    outputs: tuple[Output, ...] = ()
    kernels: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()
    translation: Translation | None = None

    @property
    def targets(self) -> tuple[Path, ...]:
        """The files that are made of the sources."""
        return (*(output.path for output in self.outputs), *self.kernels)


def run_batch(options: Options) -> tuple[Diagnostic, ...]:
    """Compile every file that `options` name and return all problems.

    Raises:
        CompileError: the settings, the script or the kernel folders are wrong, so that no file
            can be compiled; or an output cannot be written.
    """
    texts = read_settings_texts(options.config, surroundings(os.environ))
    settings = settings_of(texts, options.config_opts)
    if options.strict and settings.warnings:
        raise CompileError(*as_errors(settings.warnings))
    request = for_file(_request(options), options.files[0])
    inputs = find_inputs(settings, request)
    results = open_results(options, tuple(texts.values()), request, inputs)
    known = _known(options, results)
    compiler = None if all(known.values()) else _make_compiler(settings, request, inputs)
    problems = list(settings.warnings)
    finished: list[FileResult] = []
    try:
        with (
            Progress(len(options.files), sys.stderr) as progress,
            _compiled(options, known, compiler) as compiled,
        ):
            for file in options.files:
                done = known[file] or next(compiled)
                progress.advance(file.name)
                if results and done.translation:
                    results.keep(file, done.translation)
                print(done.printed, end="")
                finished.append(_agreeing(done, finished))
                problems += finished[-1].problems
        _write_all(options, finished)
    except CompileError as error:
        _discard(finished)
        raise CompileError(*problems, *error.problems) from error
    except BaseException:
        _discard(finished)
        raise
    return tuple(problems)


def _request(options: Options) -> CompileRequest:
    folders = options.directories or tuple(
        dict.fromkeys(file.parent for file in options.files if file.parent.is_dir())
    )
    return CompileRequest(
        options.api,
        options.distributed,
        folders,
        options.script,
        options.steps,
        LineLimit(options.line_length),
        options.profile,
        options.keywords,
        options.kernel_output,
        options.includes,
        not options.directories,
        checks=options.checks or bool(os.environ.get(CHECKING)),
    )


def _make_compiler(settings: Settings, request: CompileRequest, inputs: Inputs) -> Compiler:
    """Return the compiler, which is loaded only where something has to be compiled."""
    from psyclone_storage.driver.compile import make_compiler  # noqa: PLC0415

    return make_compiler(settings, request, inputs.index)


# ------------------------------------------------------------------ one file or many


def _known(options: Options, results: Results | None) -> dict[Path, FileResult | None]:
    """Return what becomes of each file whose translation is known from an earlier call."""
    found = {file: results.find(file) if results else None for file in options.files}
    return {file: _done(file, one, options) if one else None for file, one in found.items()}


@contextmanager
def _compiled(
    options: Options, known: Mapping[Path, FileResult | None], compiler: Compiler | None
) -> Iterator[Iterator[FileResult]]:
    """Give what becomes of each file of which that is not known, in their order."""
    files = tuple(file for file in options.files if not known[file])
    if compiler is None:
        yield iter(())
    elif options.jobs == 1 or len(files) == 1:
        yield (_compile_file(file, options, compiler) for file in files)
    else:
        from psyclone_storage.cli.workers import Workers  # noqa: PLC0415

        sys.stdout.flush()
        given = partial(_compile_in_worker, options=options, compiler=compiler)
        with Workers(given, min(options.jobs, len(files))) as workers:
            yield workers.each(files)


def _compile_in_worker(file: Path, options: Options, compiler: Compiler) -> FileResult:
    """Compile `file` and keep what a script prints: the order of the files is the parent's."""
    with redirect_stdout(io.StringIO()) as printed:
        done = _compile_file(file, options, compiler)
    return replace(done, printed=printed.getvalue())


def _compile_file(file: Path, options: Options, compiler: Compiler) -> FileResult:
    """Compile `file`; a problem, a defect of this tool included, concerns this file alone."""
    try:
        with _kernels(options) as kernels:
            build = compiler.compile_algorithm(file, kernels)
            tried = _tried(file, build, compiler, options)
            made = _translation(file, build, tried, options)
            done = _done(file, made, options)
            if kernels is not None:
                outputs = (*done.outputs, *kernels.outputs)
                done = replace(done, outputs=outputs, kernels=kernels.written)
            return done if build.kernels else replace(done, translation=made)
    except CompileError as error:
        return FileResult(error.problems)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return FileResult((failure(error, file),))


@contextmanager
def _kernels(options: Options) -> Iterator[KernelFolder | None]:
    """Give the folder of changed kernels, None if nothing is to be written; tidy up on failure."""
    folder = kernel_folder(options)
    if folder is None:
        yield None
        return
    kernels = KernelFolder(folder, single=options.kernel_renaming == "single")
    try:
        yield kernels
    except BaseException:
        kernels.discard()
        raise


def _tried(
    file: Path, build: Build, compiler: Compiler, options: Options
) -> tuple[Diagnostic, ...]:
    """Return what a Fortran compiler says of `build`, if it is to be asked."""
    if not options.compile:
        return ()
    from psyclone_storage.cli.trial import try_to_compile  # noqa: PLC0415

    return try_to_compile(file, build, compiler, options)


def _translation(
    file: Path, build: Build, tried: tuple[Diagnostic, ...], options: Options
) -> Translation:
    warnings = (*build.warnings, *tried)
    if options.strict and warnings:
        raise CompileError(*as_errors(warnings))
    reports = reports_of(file, build, options)
    texts = (build.algorithm_text, build.psy_text)
    return Translation(*texts, build.kernel_files, warnings, reports, build.beside)


def _done(file: Path, made: Translation, options: Options) -> FileResult:
    """Return what belongs in files, what belongs on standard output, and what is wrong."""
    outputs = {
        "Transformed algorithm code": (algorithm_path(file, options), made.algorithm_text),
        "Generated psy layer code": (psy_path(file, options), made.psy_text),
    }
    path = psy_path(file, options)
    for suffix, text in made.beside:
        beside = None if path is None else path.with_suffix(suffix)
        outputs[f"Generated {suffix} beside it"] = (beside, text)
    shown = () if options.reports or (options.compile and not options.writes) else outputs.items()
    return FileResult(
        made.warnings,
        "",
        tuple((heading, text) for heading, (path, text) in shown if path is None),
        made.reports,
        tuple(Output(path, text) for path, text in outputs.values() if path is not None),
        (),
        (file, *made.kernel_files),
    )


# ------------------------------------------------------------------ all files together


def _agreeing(done: FileResult, earlier: list[FileResult]) -> FileResult:
    """Return `done`, or that it differs from an `earlier` file in a kernel that both share."""
    known = {
        output.path: output.text for other in earlier for output in other.outputs if output.shared
    }
    problems = [
        differs(output.path)
        for output in done.outputs
        if output.shared and known.get(output.path, output.text) != output.text
    ]
    return FileResult((*done.problems, *problems), done.printed) if problems else done


def _discard(finished: list[FileResult]) -> None:
    for done in finished:
        discard(done.kernels)


def _write_all(options: Options, finished: list[FileResult]) -> None:
    """Write all outputs to their files and all else to standard output, or change no file.

    Raises:
        CompileError: an output cannot be written, or is what was read.
    """
    reports = tuple(_gathered(options, finished))
    outputs = [output for done in finished for output in done.outputs]
    if any(done.sources for done in finished):
        outputs += [Output(path, text) for path, text in reports if path is not None]
    _check_inputs(outputs, finished)

    def show() -> None:
        for heading, text in (text for done in finished for text in done.texts):
            print(f"{heading}:\n{text}")
        for path, text in reports:
            if path is None:
                print(text, end="")
        sys.stdout.flush()

    write_together(outputs, show)


def _check_inputs(outputs: list[Output], finished: list[FileResult]) -> None:
    read = {source.resolve() for done in finished for source in done.sources}
    problems = [
        overwrites_input(output.path) for output in outputs if output.path.resolve() in read
    ]
    raise_if_any(problems)


def _gathered(options: Options, finished: list[FileResult]) -> Iterator[tuple[Path | None, str]]:
    """Yield each report on all files, and the dependencies, with where they go."""
    yield from gathered_reports([done.reports for done in finished], options)
    if options.depfile is not None:
        common = _common_sources(options)
        rules = [(done.targets, (*done.sources, *common)) for done in finished if done.targets]
        yield options.depfile, depfile_text(rules)


def _common_sources(options: Options) -> tuple[Path, ...]:
    """Return what every output depends on: the script, and a settings file of the user's."""
    chosen = find_settings_file(options.config, surroundings(os.environ))
    settings = () if chosen == shipped_settings_file() else (chosen,)
    return (*((options.script,) if options.script else ()), *settings)
