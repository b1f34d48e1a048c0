"""Compile one algorithm file or many: one after another or several at a time.

Each file is compiled on its own: a problem in one does not keep the others from being written,
and every problem of every file is reported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.cli.depfile import depfile_text
from psyclone_storage.cli.options import Options
from psyclone_storage.cli.progress import Progress
from psyclone_storage.cli.report import Reports, gathered_reports, reports_of
from psyclone_storage.cli.trial import try_to_compile
from psyclone_storage.cli.write import write_text
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import surroundings
from psyclone_storage.config.settings import Settings
from psyclone_storage.driver.compile import Build, Compiler, Request, make_compiler


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one algorithm file.

    `texts` are generated texts that go to standard output, with their headings; `targets` and
    `sources` are what a dependency rule needs; `build` is kept only where a later stage wants it.
    """

    problems: tuple[Diagnostic, ...]
    texts: tuple[tuple[str, str], ...] = ()
    reports: Reports = Reports()
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
    progress = Progress(len(options.files), sys.stderr)
    for file, done in _compile_each(options, compiler):
        progress.advance(file.name)
        finished.append(done)
        problems += done.problems
    progress.close()
    _print_texts(finished)
    _write_reports(options, finished)
    if options.depfile is not None:
        common = _common_sources(options)
        rules = [(done.targets, (*done.sources, *common)) for done in finished if done.targets]
        write_text(options.depfile, depfile_text(rules))
    return tuple(problems)


def _make_compiler(options: Options, settings: Settings) -> Compiler:
    folders = options.directories or tuple(dict.fromkeys(file.parent for file in options.files))
    line_limit = options.line_length == "all"
    request = Request(options.api, options.distributed, folders, options.script, line_limit)
    return make_compiler(settings, request)


def _common_sources(options: Options) -> tuple[Path, ...]:
    return tuple(path for path in (options.script, Path(options.config)) if path and path.is_file())


# ------------------------------------------------------------------ one file or many


def _compile_each(options: Options, compiler: Compiler) -> Iterator[tuple[Path, Done]]:
    """Yield each file with what became of it, in the order in which they were given."""
    if options.jobs == 1 or len(options.files) == 1:
        for file in options.files:
            yield file, _compile_file(file, options, compiler)
        return
    # Forked workers share the kernel index; each keeps the kernels that it has read.
    with ProcessPoolExecutor(
        options.jobs, get_context("fork"), _set_up_worker, (options, compiler)
    ) as pool:
        yield from zip(options.files, pool.map(_compile_in_worker, options.files), strict=True)


_worker: list[tuple[Options, Compiler]] = []


def _set_up_worker(options: Options, compiler: Compiler) -> None:
    _worker.append((options, compiler))


def _compile_in_worker(file: Path) -> Done:
    options, compiler = _worker[0]
    return _compile_file(file, options, compiler)


def _compile_file(file: Path, options: Options, compiler: Compiler) -> Done:
    try:
        build = compiler.compile_algorithm(file)
        return _deliver(file, build, compiler, options)
    except CompileError as error:
        return Done(error.problems)
    except Exception as error:
        error.add_note(f"while compiling '{file}'")
        raise


def _deliver(file: Path, build: Build, compiler: Compiler, options: Options) -> Done:
    """Write what belongs in files, and hand back what belongs on standard output."""
    outputs = {
        "Transformed algorithm code": (_algorithm_path(file, options), build.algorithm_text),
        "Generated psy layer code": (_psy_path(file, options), build.psy_text),
    }
    for path, text in outputs.values():
        if path is not None:
            write_text(path, text)
    problems = build.warnings
    if options.compile:
        problems += try_to_compile(file, build, compiler, options)
    shown = () if options.reports or options.compile and not options.writes else outputs.items()
    return Done(
        problems,
        tuple((heading, text) for heading, (path, text) in shown if path is None),
        reports_of(file, build, options),
        tuple(path for path, _ in outputs.values() if path is not None),
        (file, *build.kernel_files),
    )


def _algorithm_path(file: Path, options: Options) -> Path | None:
    if options.output_dir is not None:
        return options.output_dir / f"{file.stem}.f90"
    return options.algorithm_output


def _psy_path(file: Path, options: Options) -> Path | None:
    if options.output_dir is not None:
        return options.output_dir / f"{file.stem}_psy.f90"
    return options.psy_output


# ------------------------------------------------------------------ reports


def _print_texts(finished: list[Done]) -> None:
    for done in finished:
        for heading, text in done.texts:
            print(f"{heading}:\n{text}")


def _write_reports(options: Options, finished: list[Done]) -> None:
    for destination, text in gathered_reports([done.reports for done in finished], options):
        if destination is None:
            print(text, end="")
        else:
            write_text(destination, text)
