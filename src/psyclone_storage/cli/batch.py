"""Compilation of one or many algorithm files, one after another or in parallel.

Each file is compiled separately. An error in one file does not prevent the outputs of others, and
all errors of all files are reported. Outputs are written together after all compilations. If one
cannot be written, no file is changed.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.stopping import deferred, ending, interruptible
from psyclone_storage.cli.file_result import (
    FileResult,
    agreeing,
    layer_file,
    owner_in_folder,
    owners_in_folder,
    release_all,
    write_all,
)
from psyclone_storage.cli.kernel_folder import KernelFolder, Scheme
from psyclone_storage.cli.main_guard import as_errors, failure, lost_process
from psyclone_storage.cli.options import CommandOptions, algorithm_path, kernel_folder, psy_path
from psyclone_storage.cli.progress import Progress
from psyclone_storage.cli.report import reports_of
from psyclone_storage.cli.results import Results, Translation, open_results
from psyclone_storage.cli.write import Output
from psyclone_storage.config.load import settings_of
from psyclone_storage.config.locate import (
    read_settings_texts,
    search_context,
)
from psyclone_storage.config.settings import Settings
from psyclone_storage.pipeline.inputs import Inputs, find_inputs
from psyclone_storage.pipeline.request import CompileRequest, LineLimit, check_languages, for_file

if TYPE_CHECKING:
    from psyclone_storage.cli.ordered_workers import Turns
    from psyclone_storage.pipeline.compile import Build, Compiler

Turn = Callable[[], None]
"""Waits until it is a file's turn to be given numbers."""

CHECKING = "PSYCLONE_STORAGE_CHECK"
"""The environment variable that stands for '--check', if it is set to anything."""


def run_batch(options: CommandOptions) -> tuple[Diagnostic, ...]:
    """Compile the files in `options` and return all diagnostics.

    Raises:
        CompileError: no file can be compiled because of an error in the settings, the script or the
            kernel folders; or an output cannot be written.
    """
    if options.page:
        _check_pages()
    texts = read_settings_texts(options.config, search_context(os.environ))
    settings = settings_of(texts, options.config_opts)
    remarks = (*options.remarks, *settings.warnings)
    if options.strict and remarks:
        raise CompileError(*as_errors(remarks))
    check_languages(options.files)
    request = for_file(_request(options), options.files[0])
    if options.verbose:
        _tell_settings(options, texts, settings, request)
    inputs = replace(find_inputs(settings, request), single=len(options.files) == 1)
    remarks += inputs.warnings
    results = open_results(options, tuple(texts.values()), request, inputs)
    known = _known(options, results)
    remarks += results.ignored() if results else ()
    if options.strict and remarks:
        raise CompileError(*as_errors(remarks))
    compiler = None if all(known.values()) else _make_compiler(settings, request, inputs)
    problems = list(remarks)
    finished: list[FileResult] = []
    with ending(partial(release_all, options)):
        try:
            with (
                Progress(len(options.files), sys.stderr) as progress,
                _compiled(options, known, compiler, inputs) as compiled,
            ):
                for file in options.files:
                    done = known[file] or next(compiled)
                    progress.advance(file.name)
                    if results and done.translation:
                        results.keep(file, done.translation)
                    print(done.printed, end="")
                    _tell_kernels(file, done, is_kept=known[file] is not None)
                    finished.append(agreeing(done, finished))
                    problems += finished[-1].problems
            write_all(options, finished)
        except CompileError as error:
            raise CompileError(*problems, *error.problems) from error
    return tuple(problems)


def _request(options: CommandOptions) -> CompileRequest:
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
        target=options.target,
        checks=options.checks or bool(os.environ.get(CHECKING)),
    )


def _make_compiler(settings: Settings, request: CompileRequest, inputs: Inputs) -> Compiler:
    """Return the compiler, which is imported only if a file must be compiled."""
    if request.script:
        from psyclone_storage.tools.factories import make_scripted_compiler  # noqa: PLC0415

        return make_scripted_compiler(settings, request, inputs.index)
    from psyclone_storage.pipeline.compile import make_compiler  # noqa: PLC0415

    return make_compiler(settings, request, inputs.index)


def _check_pages() -> None:
    from psyclone_storage.cli.page import check_template_engine  # noqa: PLC0415

    check_template_engine()


def _tell_settings(
    options: CommandOptions, texts: Mapping[Path, str], settings: Settings, request: CompileRequest
) -> None:
    """Print the current settings, and the directories of kernels."""
    from psyclone_storage.cli import verbose  # noqa: PLC0415

    verbose.tell(verbose.setting_lines(options, texts, settings))
    given = bool(options.directories)
    verbose.tell(verbose.folder_lines(request.directories, request.includes, given=given))


def _tell_kernels(file: Path, done: FileResult, *, is_kept: bool) -> None:
    """Print the locations of the kernels of `file`, if requested."""
    if not done.reports.found:
        return
    from psyclone_storage.cli import verbose  # noqa: PLC0415

    kept = [f"{file}: translated as in an earlier call"] if is_kept else []
    verbose.tell([*kept, *done.reports.found])


# ------------------------------------------------------------------ one file or many


def _known(options: CommandOptions, results: Results | None) -> dict[Path, FileResult | None]:
    """Return the cached result for each file, or None if it must be compiled."""
    found = {file: results.find(file) if results else None for file in options.files}
    return {file: _done(file, one, options) if one else None for file, one in found.items()}


@dataclass(frozen=True, slots=True)
class _WorkerTask:
    """Data required to compile any file of a call."""

    options: CommandOptions
    compiler: Compiler
    inputs: Inputs

    def sources(self, file: Path, build: Build) -> tuple[Path, ...]:
        """Return the files read for `file`: all if they are needed later, else only kernels."""
        if not self.options.build_files.depfile and (
            self.options.script or not self.options.cached
        ):
            return (file, *build.kernel_files)
        return tuple(dict.fromkeys((*self.inputs.used(file), *self.compiler.script_files)))

    @property
    def script_and_settings(self) -> tuple[Path, ...]:
        """Files that determine how kernels are changed."""
        config = self.options.config
        return (*self.compiler.script_files, *([Path(config)] if config else ()))


@contextmanager
def _compiled(
    options: CommandOptions,
    known: Mapping[Path, FileResult | None],
    compiler: Compiler | None,
    inputs: Inputs,
) -> Iterator[Iterator[FileResult]]:
    """Yield an iterator over the results of the files that must be compiled, in order."""
    files = tuple(file for file in options.files if not known[file])
    if compiler is None:
        yield iter(())
    elif options.jobs == 1 or len(files) == 1:
        given = _WorkerTask(options, compiler, inputs)
        yield (_compile_file(file, given) for file in files)
    else:
        from psyclone_storage.cli.ordered_workers import Turns  # noqa: PLC0415
        from psyclone_storage.cli.workers import Workers  # noqa: PLC0415

        sys.stdout.flush()
        turns = Turns(len(files))
        work = partial(
            _compile_in_worker, given=_WorkerTask(options, compiler, inputs), turns=turns
        )
        number = min(options.jobs, len(files))
        lost = partial(_lost, turns=turns)
        with Workers(work, number, lost, partial(release_all, options)) as workers:
            yield workers.each(tuple(enumerate(files)))


def _compile_in_worker(numbered: tuple[int, Path], given: _WorkerTask, turns: Turns) -> FileResult:
    """Compile a file in a worker process and capture the output of its script.

    The parent process prints it in the order of the files.
    """
    place, file = numbered
    try:
        with redirect_stdout(io.StringIO()) as printed:
            done = _compile_file(file, given, turns.of(place))
    finally:
        turns.finish(place)
    return replace(done, printed=printed.getvalue())


def _lost(numbered: tuple[int, Path], status: int, turns: Turns) -> FileResult:
    """Return the diagnostic for a worker process that died; a negative `status` is a signal."""
    place, file = numbered
    turns.finish(place)
    return FileResult((lost_process(f"compiled '{file}'", file, status),))


def _compile_file(file: Path, given: _WorkerTask, turn: Turn = lambda: None) -> FileResult:
    """Compile `file`; any error, including an internal error, concerns only this file."""
    options, compiler = given.options, given.compiler
    try:
        with _kernels(file, options, turn) as kernels:
            build = compiler.compile_algorithm(file, kernels)
            tried = _tried(file, build, compiler, options)
            sources = given.sources(file, build)
            made = _translation(build, tried, options, sources)
            done = _done(file, made, options)
            if build.kernels and kernels is not None:
                records = kernels.records(given.script_and_settings)
                return replace(done, kernels=kernels.outputs, records=records)
            return done if build.kernels else replace(done, translation=made)
    except CompileError as error:
        return FileResult(error.problems)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return FileResult((failure(error, file),))


@contextmanager
def _kernels(file: Path, options: CommandOptions, turn: Turn) -> Iterator[KernelFolder | None]:
    """Yield the folder of changed kernels, or None if nothing is written; clean up on failure."""
    folder = kernel_folder(options)
    if folder is None:
        yield None
        return
    scheme = Scheme(options.kernel_renaming)
    together = partial(owners_in_folder, options)
    kernels = KernelFolder(folder, layer_file(file, options), scheme, turn, together)
    with deferred():
        try:
            with interruptible():
                yield kernels
        except BaseException:
            kernels.discard()
            raise


def _tried(
    file: Path, build: Build, compiler: Compiler, options: CommandOptions
) -> tuple[Diagnostic, ...]:
    """Return the messages of a Fortran compiler for the generated code, if requested."""
    if not options.compile:
        return ()
    from psyclone_storage.cli.trial_compile import try_to_compile  # noqa: PLC0415

    return try_to_compile(file, build, compiler, options)


def _translation(
    build: Build,
    tried: tuple[Diagnostic, ...],
    options: CommandOptions,
    sources: tuple[Path, ...],
) -> Translation:
    warnings = (*build.warnings, *tried)
    if options.strict and warnings:
        raise CompileError(*as_errors(warnings))
    reports = reports_of(sources[0], build, options)
    texts = (build.algorithm_text, build.psy_text)
    return Translation(*texts, sources, warnings, reports, build.beside)


def _done(file: Path, made: Translation, options: CommandOptions) -> FileResult:
    """Return the outputs for files and for standard output, and the diagnostics."""
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
        owner=owner_in_folder(file, options),
        sources=made.sources,
    )
