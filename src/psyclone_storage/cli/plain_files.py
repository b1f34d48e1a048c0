"""Transform files without an API: one after another or several at a time.

A problem in one file does not keep those of the others from being reported. All outputs are
written together, or none.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.reading import resolved
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.cli.depfile import depfile_text
from psyclone_storage.cli.main_guard import as_errors, failure, lost_process
from psyclone_storage.cli.options import CommandOptions, algorithm_path
from psyclone_storage.cli.output_clashes import overwrites_input
from psyclone_storage.cli.report import Reports
from psyclone_storage.cli.results import Results, Translation, open_results
from psyclone_storage.cli.write import Output, write_together
from psyclone_storage.config.load import settings_of
from psyclone_storage.config.locate import read_settings_texts, search_context
from psyclone_storage.config.settings import Settings
from psyclone_storage.pipeline.inputs import Inputs, find_inputs
from psyclone_storage.pipeline.request import CompileRequest, LineLimit
from psyclone_storage.pipeline.script_inputs import print_again

if TYPE_CHECKING:
    from psyclone_storage.pipeline.contract_folder import ContractFolder
    from psyclone_storage.pipeline.device_reports import DataPlan
    from psyclone_storage.pipeline.files import Comparison, FileTransformer, OpenFile
    from psyclone_storage.pipeline.separate_plans import FilePlan


@dataclass(frozen=True, slots=True)
class _Done:
    """Transformation of one file, or its problems.

    Of `made`, the text of the algorithm is that of the file, and the reports are on its loops.
    """

    path: Path
    made: Translation | None
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """A plan of device data; `alone` is that of a file with contracts of others."""

    data: DataPlan
    alone: FilePlan | None = None


def run_files(options: CommandOptions) -> tuple[Diagnostic, ...]:
    """Transform every file that `options` name and return all problems.

    Raises:
        CompileError: the settings or steps are wrong, a file has a problem, or an output cannot be
            written. Nothing is written then.
    """
    if options.page:
        from psyclone_storage.cli.page import check_template_engine  # noqa: PLC0415

        check_template_engine()
    texts = read_settings_texts(options.config, search_context(os.environ))
    settings = settings_of(texts, options.config_opts)
    remarks = (*options.remarks, *settings.warnings)
    asked, inputs, folder = _inputs(options, settings)
    remarks += inputs.warnings
    results = None
    if not options.file_options.device_data:
        results = open_results(options, tuple(texts.values()), asked, inputs, with_script=True)
    known = {file: _known(file, results) for file in options.files}
    remarks += results.ignored() if results else ()
    if options.strict and remarks:
        raise CompileError(*as_errors(remarks))
    files = tuple(file for file in options.files if known[file] is None)
    new: dict[Path, _Done] = {}
    plan: _Plan | None = None
    if files:
        transformer = _transformer(options, settings, inputs, recorded=results is not None)
        new, plan = _made(files, options, transformer, folder)
    finished = tuple(new.get(file) or _Done(file, known[file]) for file in options.files)
    _keep(results, new.values())
    problems = [problem for done in finished for problem in done.problems]
    if problems:
        raise CompileError(*remarks, *problems)
    remarks += tuple(remark for done in finished if done.made for remark in done.made.warnings)
    if options.strict and remarks:
        raise CompileError(*as_errors(remarks))
    _write(options, finished, plan)
    return remarks


def _inputs(
    options: CommandOptions, settings: Settings
) -> tuple[CompileRequest, Inputs, ContractFolder | None]:
    """Return the files that may be read, and the contracts, of which interfaces are read."""
    folders = options.includes or tuple(dict.fromkeys(file.parent for file in options.files))
    asked = CompileRequest(
        directories=options.directories, includes=(*folders, *options.directories),
        steps=options.steps, line_limit=LineLimit(options.line_length),
    )  # fmt: skip
    # The modules that a file uses are read with those that they use.
    inputs = find_inputs(settings, asked, by_content=True)
    inputs = replace(inputs, deep=True, single=len(options.files) == 1)
    if options.file_options.contracts is None:
        return asked, inputs, None
    from psyclone_storage.pipeline.contract_folder import read_contracts  # noqa: PLC0415

    folder = read_contracts(options.file_options.contracts, options.files[0], inputs.index)
    return asked, replace(inputs, index=folder.index(inputs.index)), folder


def _made(
    files: tuple[Path, ...],
    options: CommandOptions,
    transformer: FileTransformer,
    folder: ContractFolder | None,
) -> tuple[dict[Path, _Done], _Plan | None]:
    """Return what becomes of each file, and the plan of device data, if one was requested."""
    plan: _Plan | None = None
    made: Iterable[_Done]
    if options.file_options.device_data:
        made, plan = _with_data(options, transformer, folder)
    else:
        made = _each(files, options.jobs, partial(_transformed, transformer=transformer))
    return {done.path: done for done in made}, plan


def _keep(results: Results | None, new: Iterable[_Done]) -> None:
    """Cache the new results."""
    for done in new:
        if results and done.made is not None:
            results.keep(done.path, done.made)


def _known(file: Path, results: Results | None) -> Translation | None:
    """Return the cached result for a file, and print what its recipe has printed."""
    found = results.find(file) if results else None
    if found is not None and found.script is not None:
        print_again(found.script)
    return found


def _transformer(
    options: CommandOptions, settings: Settings, inputs: Inputs, *, recorded: bool
) -> FileTransformer:
    """Return what transforms files; it is imported only if a file must be transformed."""
    from psyclone_storage.pipeline.files import FileRequest, FileTransformer  # noqa: PLC0415

    given = options.file_options
    explained = options.explain or given.loops is not None or options.page is not None
    request = FileRequest(
        options.script,
        options.keywords,
        options.steps,
        LineLimit(options.line_length),
        given.stripped,
        given.assumed,
        given.must_apply,
        explained,
        options.fixed_form,
        _second_reader() if options.second_reader else None,
        bool(options.profile),
        recorded,
    )
    return FileTransformer(settings, request, inputs)


def _second_reader() -> Comparison:
    """Return the comparison with fparser2, which is imported only if it is requested.

    Raises:
        CompileError: `L017`, fparser is not installed.
    """
    try:
        from psyclone_storage.tools.second_opinion import check_second_reading  # noqa: PLC0415
    except ImportError:
        message = "'--frontend fparser2' needs fparser, which is not installed."
        hint = "Install it: pip install fparser."
        raise CompileError(Diagnostic("L017", message, hint=hint)) from None
    return check_second_reading


def _each(files: tuple[Path, ...], jobs: int, work: partial[_Done]) -> Iterator[_Done]:
    """Yield what becomes of each file, in their order."""
    number = min(jobs, len(files))
    if number <= 1:
        yield from map(work, files)
        return
    from psyclone_storage.cli.workers import Workers  # noqa: PLC0415

    sys.stdout.flush()
    with Workers(work, number, _lost) as workers:
        yield from workers.each(files)


def _lost(path: Path, status: int) -> _Done:
    return _Done(path, None, (lost_process(f"transformed '{path}'", path, status),))


def _transformed(path: Path, transformer: FileTransformer) -> _Done:
    """Transform one file; a problem, a defect of this tool included, concerns this file alone."""
    try:
        return _finished(transformer.opened(path), transformer)
    except CompileError as error:
        return _Done(path, None, error.problems)
    except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
        return _Done(path, None, (failure(error, path),))


def _finished(opened: OpenFile, transformer: FileTransformer) -> _Done:
    """Return an open file with its changes and reports, or its problems."""
    from psyclone_storage.pipeline.files import loop_object, loops_text  # noqa: PLC0415

    path = opened.path
    try:
        made = transformer.finished(opened)
        table = tuple(loop_object(path, loop) for loop in made.loops)
        reports = Reports(loops_text(path, made.loops), table)
        parts = (made.text, "", made.sources, made.remarks, reports)
        return _Done(path, Translation(*parts, script=made.script))
    except CompileError as error:
        return _Done(path, None, error.problems)


def _with_data(
    options: CommandOptions, transformer: FileTransformer, folder: ContractFolder | None
) -> tuple[tuple[_Done, ...], _Plan | None]:
    """Return the files with planned transfers, and the plan; without a plan, their problems."""
    opened: list[OpenFile] = []
    failed: list[_Done] = []
    for path in options.files:
        try:
            opened.append(transformer.opened(path))
        except CompileError as error:
            failed.append(_Done(path, None, error.problems))
    if failed:
        return tuple(failed), None
    root = options.file_options.device_data
    if folder is not None:
        alone = transformer.planned_alone(opened[0], root, folder)
        plan = _Plan(alone.data, alone)
    else:
        storages = options.file_options.device_storages
        plan = _Plan(transformer.planned(opened, root, storages=storages))
    return tuple(_finished(one, transformer) for one in opened), plan


def _loop_reports(
    options: CommandOptions, made: list[tuple[Path, Translation]]
) -> Iterator[Output]:
    """Yield the page and the table of loops, if they are written to files."""
    loops = options.file_options.loops
    if options.page is not None:
        from psyclone_storage.cli.page import loops_page_text  # noqa: PLC0415

        tables = [(str(path), one.reports.schedules) for path, one in made]
        yield Output(options.page, loops_page_text(tables))
    if loops is not None and loops != "-":
        yield Output(Path(loops), _loops_json(made))


def _plan_reports(
    options: CommandOptions, plan: _Plan | None, shown: list[str]
) -> Iterator[Output]:
    """Add the text on a plan to `shown`, and yield the table of transfers, if requested."""
    if plan is None:
        return
    from psyclone_storage.pipeline.device_reports import plan_json, plan_text  # noqa: PLC0415

    if options.explain:
        shown.append(plan_text(plan.data))
    if options.file_options.transfers is not None:
        yield Output(options.file_options.transfers, plan_json(plan.data))


def _loops_json(made: list[tuple[Path, Translation]]) -> str:
    table = [loop for _, one in made for loop in one.reports.schedules]
    return json.dumps(table, indent=2) + "\n"


def _contract_files(
    options: CommandOptions, plan: _Plan | None, made: Translation
) -> tuple[Output, ...]:
    """Return the record of the output and the contracts, if the file was planned alone."""
    folder, target = options.file_options.contracts, options.output
    if plan is None or plan.alone is None or folder is None or target is None:
        return ()
    from psyclone_storage.cli.contracts import contract_outputs  # noqa: PLC0415

    text = made.algorithm_text
    return tuple(contract_outputs(plan.alone, options.files[0], folder, target, text))


def _write(
    options: CommandOptions,
    finished: tuple[_Done, ...],
    plan: _Plan | None = None,
) -> None:
    """Write all texts and reports together; what has no file goes to standard output."""
    made = [(done.path, done.made) for done in finished if done.made is not None]
    loops = options.file_options.loops
    outputs: list[Output] = []
    shown: list[str] = []
    for path, one in made:
        target = algorithm_path(path, options)
        if target is not None:
            outputs.append(Output(target, one.algorithm_text))
        elif not (options.reports or loops == "-"):
            shown.append(one.algorithm_text)
        if options.explain:
            shown.append(one.reports.text)
    outputs += _loop_reports(options, made)
    outputs += _plan_reports(options, plan, shown)
    if loops == "-":
        shown.append(_loops_json(made))
    read = {resolved(source) for _, one in made for source in one.sources}
    if clashes := [overwrites_input(one.path) for one in outputs if resolved(one.path) in read]:
        raise CompileError(*clashes)
    depfile, stamp = options.build_files.depfile, options.build_files.stamp
    if depfile is not None:
        rules = [((stamp or target,), one.sources) for path, one in made
                 if (target := algorithm_path(path, options)) is not None]  # fmt: skip
        outputs.append(Output(depfile, depfile_text(depfile, rules)))
    for _, one in made:
        outputs += _contract_files(options, plan, one)

    def show() -> None:
        for text in shown:
            print(text, end="")
        sys.stdout.flush()

    write_together(outputs, show)
    if stamp is not None:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
