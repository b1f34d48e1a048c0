"""Compile one algorithm file or many: one after another or several at a time.

Each file is compiled on its own: a problem in one does not keep the others from being written,
and every problem of every file is reported.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.cli.depfile import depfile_text
from psyclone_storage.cli.guard import failure
from psyclone_storage.cli.kernel_folder import KernelFolder
from psyclone_storage.cli.options import Options, algorithm_path, kernel_folder, psy_path
from psyclone_storage.cli.progress import Progress
from psyclone_storage.cli.report import Reports, gathered_reports, reports_of
from psyclone_storage.cli.trial import try_to_compile
from psyclone_storage.cli.write import write_text
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import (
    find_settings_file,
    shipped_settings_file,
    surroundings,
)
from psyclone_storage.config.settings import Settings
from psyclone_storage.driver.compile import Build, Compiler, LineLimit, Request, make_compiler


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one algorithm file.

    `printed` is what its script printed, `texts` are generated texts that go to standard output,
    with their headings; `targets` and `sources` are what a dependency rule needs.
    """

    problems: tuple[Diagnostic, ...]
    printed: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    reports: Reports = field(default_factory=Reports)
    targets: tuple[Path, ...] = ()
    sources: tuple[Path, ...] = ()


def run_batch(options: Options) -> tuple[Diagnostic, ...]:
    """Compile every file that `options` name and return all problems.

    Raises:
        CompileError: the settings, the script or the kernel folders are wrong, so that no file
            can be compiled.
    """
    settings = load_settings(options.config, options.config_opts, surroundings(os.environ))
    compiler = _make_compiler(options, settings)
    problems = list(settings.warnings)
    finished: list[Done] = []
    with Progress(len(options.files), sys.stderr) as progress:
        for file, done in _compile_each(options, compiler):
            progress.advance(file.name)
            print(done.printed, end="")
            finished.append(done)
            problems += done.problems
    _print_texts(finished)
    for path, text in _gathered(options, finished):
        problems += _write(path, text)
    return tuple(problems)


def _make_compiler(options: Options, settings: Settings) -> Compiler:
    folders = options.directories or tuple(
        dict.fromkeys(file.parent for file in options.files if file.parent.is_dir())
    )
    limit = LineLimit(options.line_length)
    request = Request(
        options.api,
        options.distributed,
        folders,
        options.script,
        options.steps,
        limit,
        options.profile,
        options.keywords,
        options.kernel_output,
        options.includes,
    )
    return make_compiler(settings, request)


# ------------------------------------------------------------------ one file or many


def _compile_each(options: Options, compiler: Compiler) -> Iterator[tuple[Path, Done]]:
    """Yield each file with what became of it, in the order in which they were given."""
    if options.jobs == 1 or len(options.files) == 1:
        for file in options.files:
            yield file, _compile_file(file, options, compiler)
        return
    # `futures` loads its pool, which costs as much as a small file, when it is asked for here.
    # Each worker keeps the kernels that it has read.
    sys.stdout.flush()
    given = (options, compiler)
    with futures.ProcessPoolExecutor(
        options.jobs, initializer=_set_up_worker, initargs=given
    ) as pool:
        yield from zip(options.files, pool.map(_compile_in_worker, options.files), strict=True)


_worker: list[tuple[Options, Compiler]] = []


def _set_up_worker(options: Options, compiler: Compiler) -> None:
    _worker.append((options, compiler))


def _compile_in_worker(file: Path) -> Done:
    """Compile `file` and keep what a script prints: the order of the files is the parent's."""
    options, compiler = _worker[0]
    with redirect_stdout(io.StringIO()) as printed:
        done = _compile_file(file, options, compiler)
    return replace(done, printed=printed.getvalue())


def _compile_file(file: Path, options: Options, compiler: Compiler) -> Done:
    """Compile `file`; a problem, a defect of this tool included, concerns this file alone."""
    try:
        with _kernels(options) as kernels:
            build = compiler.compile_algorithm(file, kernels)
            written = kernels.deliver() if kernels else ()
            done = _deliver(file, build, compiler, options)
            return replace(done, targets=(*done.targets, *written))
    except CompileError as error:
        return Done(error.problems)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return Done((failure(error, file),))


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


def _deliver(file: Path, build: Build, compiler: Compiler, options: Options) -> Done:
    """Write what belongs in files, and hand back what belongs on standard output."""
    outputs = {
        "Transformed algorithm code": (algorithm_path(file, options), build.algorithm_text),
        "Generated psy layer code": (psy_path(file, options), build.psy_text),
    }
    problems = build.warnings
    for path, text in outputs.values():
        if path is not None:
            problems += _write(path, text)
    if build.kernels:
        # Without the PSy layer that calls them, changed kernels must not stay.
        raise_if_any(problems)
    if options.compile:
        problems += try_to_compile(file, build, compiler, options)
    shown = () if options.reports or (options.compile and not options.writes) else outputs.items()
    return Done(
        problems,
        "",
        tuple((heading, text) for heading, (path, text) in shown if path is None),
        reports_of(file, build, options),
        tuple(path for path, _ in outputs.values() if path is not None),
        (file, *build.kernel_files),
    )


def _write(path: Path | None, text: str) -> tuple[Diagnostic, ...]:
    """Write `text` to `path`, or print it if that is None; return what is wrong with that."""
    if path is None:
        print(text, end="")
        return ()
    try:
        write_text(path, text)
    except CompileError as error:
        return error.problems
    return ()


# ------------------------------------------------------------------ all files together


def _print_texts(finished: list[Done]) -> None:
    for done in finished:
        for heading, text in done.texts:
            print(f"{heading}:\n{text}")


def _gathered(options: Options, finished: list[Done]) -> Iterator[tuple[Path | None, str]]:
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
