"""Transformation of files of plain Fortran: from the text of a file to its text with changes.

The stages are: read the file, resolve its names, apply a recipe and steps on a bench, print. Every
character of a statement that nothing changed is preserved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING

from psyclone_storage.analysis.bodies.places import place_of_access
from psyclone_storage.analysis.bodies.verdict import Clauses, Verdict
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity, raise_if_any
from psyclone_storage.base.hints import cure_of
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.settings import Settings
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.facts import ASSUMPTIONS as ASSUMED_KINDS
from psyclone_storage.ir.facts import Fact, FactKind, Facts, FactSource, of_routine
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, place_of_line, with_changed_blocks
from psyclone_storage.ir.routine import ModuleContext, Routine, SourceFile, UseStatement
from psyclone_storage.languages.fortran.parse.fixed_form import fixed_source
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.include_lines import included_file, inclusions
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.languages.sources.module_names import defined_modules
from psyclone_storage.pipeline.inputs import Inputs
from psyclone_storage.pipeline.line_lengths import read_checked
from psyclone_storage.pipeline.metadata_facts import facts_of_metadata
from psyclone_storage.pipeline.module_context import ModuleContexts
from psyclone_storage.pipeline.procedure_effects import ProcedureEffects
from psyclone_storage.pipeline.request import LineLimit
from psyclone_storage.pipeline.script_inputs import ScriptRecord, recorded_output
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.session import finish
from psyclone_storage.scripting.recipe import read_recipe
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_regions import profile_routines
from psyclone_storage.transform.file_steps import apply_file_steps, read_file_steps

ASSUMPTIONS = tuple(kind.value for kind in FactKind if kind in ASSUMED_KINDS)
"""The promises that the command line can make."""
SENTINELS = ("omp", "acc")
"""The families of directives that can be removed."""

if TYPE_CHECKING:
    from psyclone_storage.pipeline.contract_folder import ContractFolder
    from psyclone_storage.pipeline.device_reports import DataPlan
    from psyclone_storage.pipeline.program_uses import OutsideProcedures
    from psyclone_storage.pipeline.separate_plans import FilePlan

_CONDITIONAL = regex(r"^[ \t]*#[ \t]*(?:if|else|elif)", re.MULTILINE)
_FAMILY = regex(r"(?P<family>\w+)\b")


Comparison = Callable[[SourceFile], Iterable[Diagnostic]]
"""Yields warnings about the tree of a file."""


@dataclass(frozen=True, slots=True)
class FileRequest:
    """The options of a call for files.

    `script` is a recipe, whose `trans` gets `keywords`. `steps` are applied after it. The
    directives of the families in `stripped` are removed first. `assumed` are promises by their
    names. With `must_apply` a file without any change is an error. With `explained` each loop gets
    a description. `fixed_form` is the form of all files, None if their suffixes decide. `compare`
    yields warnings about a tree whose names are not resolved. With `profiled`, each routine is a
    region of a profiler. With `recorded`, the inputs of the recipe are recorded for a cache.
    """

    script: Path | None = None
    keywords: tuple[tuple[str, object], ...] = ()
    steps: str = ""
    line_limit: LineLimit = LineLimit.OFF
    stripped: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    must_apply: bool = False
    explained: bool = False
    fixed_form: bool | None = None
    compare: Comparison | None = None
    profiled: bool = False
    recorded: bool = True


@dataclass(frozen=True, slots=True)
class BlockingAccess:
    """One of the two accesses that block a loop; `line` is 0 for a new statement."""

    path: str
    written: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class LoopReason:
    """A reason against a loop, and how to fix it; `line` is 0 without a place."""

    code: str
    message: str
    fix: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class LoopReport:
    """The verdict on one loop of the author, and what was done with it.

    `line` is that of its first statement, `level` the number of loops around it. `directive` is the
    directive that shares its iterations, empty without one. `blocking` is the first pair of
    accesses that blocks the loop, and `cures` are the promises that would make it independent. The
    promises in `unneeded` were made, but the loop is proved without them. `unshared` is the reason
    for which `auto` shares no iterations of an independent loop.
    """

    routine: str
    uid: str
    counter: str
    status: str
    directive: str
    clauses: tuple[tuple[str, tuple[str, ...]], ...]
    assumptions: tuple[str, ...]
    blocking: tuple[BlockingAccess, ...]
    reasons: tuple[LoopReason, ...]
    cures: tuple[str, ...]
    unneeded: tuple[str, ...] = ()
    unshared: str = ""
    line: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class TransformedFile:
    """A file after its transformation; `sources` are all files that were read for it.

    `remarks` are warnings. `script` is the record of a recipe whose effects depend on nothing else.
    """

    text: str
    sources: tuple[Path, ...]
    loops: tuple[LoopReport, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()
    script: ScriptRecord | None = None


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file during its transformation, with its warnings and the record of its recipe."""

    path: Path
    file: SourceFile
    bench: FileBench
    remarks: tuple[Diagnostic, ...] = ()
    script: ScriptRecord | None = None


class FileTransformer:
    """Transforms files that share settings, options, and the modules that they use."""

    def __init__(self, settings: Settings, request: FileRequest, inputs: Inputs) -> None:
        self._settings = settings
        self._request = request
        self._inputs = inputs
        self._recipe = None if request.script is None else read_recipe(request.script)
        self._finder = ModuleFinder(inputs.index, frozenset(settings.ignore_modules))
        self._steps = read_file_steps(request.steps)
        self._procedures = ProcedureEffects.of_modules(self._finder)

    def transform(self, path: Path) -> TransformedFile:
        """Return the file at `path` with all that was requested.

        Raises:
            CompileError: the file cannot be read, the recipe failed, a step was refused, or what
                was requested is not complete.
        """
        return self.finished(self.opened(path))

    def opened(self, path: Path) -> OpenFile:
        """Return the file at `path` after the recipe and the steps, for more steps.

        Raises:
            CompileError: the file cannot be read, the recipe failed, or a step was refused.
        """
        file = self._read(path)
        remarks = (*self._compared(file), *self._ambiguous(file))
        file, context = self._linked(file)
        stripped = _without_directives(file, frozenset(self._request.stripped))
        known = facts_of_metadata(file, self._settings)
        facts = (*self._facts(), *self._promised(file), *known)
        bench = FileBench(stripped, facts, context)
        bench.derive()
        record = self._run_recipe(bench)
        apply_file_steps(bench, self._steps)
        if self._request.profiled:
            profile_routines(bench)
        return OpenFile(path, file, bench, remarks, record)

    def finished(self, opened: OpenFile) -> TransformedFile:
        """Return an open file with its changes.

        Raises:
            CompileError: what was requested is not complete.
        """
        path, bench = opened.path, opened.bench
        raise_if_any(bench.unfinished())
        if self._request.must_apply and not bench.history:
            message = f"No step has changed '{path}'."
            raise CompileError(Diagnostic("T096", message, file=str(path)))
        text = emit_changed(opened.file, bench.changed_file()[1])
        loops = tuple(loop_reports(bench)) if self._request.explained else ()
        left_out = (replace(one, severity=Severity.WARNING) for one in bench.left_out)
        remarks = (*opened.remarks, *dict.fromkeys(left_out))
        script = self._request.script
        used = (*self._inputs.used(path), *(() if script is None else (script,)))
        return TransformedFile(text, used, loops, remarks, opened.script)

    def planned(self, files: Iterable[OpenFile], root: str, *, storages: bool) -> DataPlan:
        """Insert the transfers of a call tree, whose procedures are in several files.

        They are directives, or calls of `storages`.

        Raises:
            CompileError: there is no procedure `root`, or its data cannot be planned.
        """
        from psyclone_storage.pipeline.storage_plans import plan_device_data  # noqa: PLC0415

        benches, outside = (one.bench for one in files), self._outside_procedures
        return plan_device_data(benches, self._finder, root, outside, storages=storages)

    def planned_alone(self, opened: OpenFile, root: str, folder: ContractFolder) -> FilePlan:
        """Insert the data directives of one file, with contracts of procedures in other files.

        Raises:
            CompileError: the procedure `root` is in the file, and its data cannot be planned.
        """
        from psyclone_storage.pipeline.separate_plans import SeparatePlanner  # noqa: PLC0415

        folder = folder.without(opened.file)
        files = {name: self._linked(read_file(one))[0] for name, one in folder.sources.items()}
        outside = self._outside_procedures
        return SeparatePlanner(opened.bench, self._finder, outside, folder, files).plan(root)

    @property
    def _outside_procedures(self) -> OutsideProcedures:
        """The procedures in the settings that may be outside the files."""
        from psyclone_storage.pipeline.program_uses import OutsideProcedures  # noqa: PLC0415

        settings = self._settings
        words = settings.read_only_procedures, settings.device_procedures
        return OutsideProcedures(*(frozenset(map(key_of, one)) for one in words))

    def _linked(self, file: SourceFile) -> tuple[SourceFile, ModuleContext]:
        """Return a file with its names resolved, and the modules around it.

        Files share the effects of procedures, unless one has modules of its own.
        """
        finder, effects = self._finder.within(file.source), self._procedures
        if finder is not self._finder:
            effects = ProcedureEffects.of_modules(finder)
        context = ModuleContexts(finder, procedures=effects).of(file.source)
        return link_file(file, finder, context), context

    def _compared(self, file: SourceFile) -> Iterable[Diagnostic]:
        """Return the warnings about the tree of a file, if they were requested."""
        compare = self._request.compare
        return () if compare is None else compare(file)

    def _ambiguous(self, file: SourceFile) -> Iterator[Diagnostic]:
        """Yield a warning for each used module that files with different contents define (P061)."""
        done = set(defined_modules(file.source.text))
        for unit in file.every_unit():
            for item in unit.specification:
                if not isinstance(item, UseStatement) or item.use.module_key in done:
                    continue
                done.add(item.use.module_key)
                paths = self._inputs.index.files_defining(item.use.module_key)
                if len(paths) > 1:
                    names = listed(map(str, paths), "and")
                    message = f"The module '{item.use.module}' is in {names}; the first is read."
                    yield Diagnostic("P061", message, item.place, severity=Severity.WARNING)

    def _run_recipe(self, bench: FileBench) -> ScriptRecord | None:
        """Run the recipe if there is one; return its record if its effects can be cached."""
        if self._recipe is None:
            return None
        tree = FileContainer.on(bench)
        is_recorded = self._request.recorded
        with recorded_output() as printed:
            self._recipe.run_on_file(tree, dict(self._request.keywords), is_watched=is_recorded)
        finish(tree)
        reads = self._recipe.reads
        if not is_recorded or reads.others or bench.has_searched_callers:
            return None
        from psyclone_storage.pipeline.deterministic_scripts import script_record  # noqa: PLC0415

        return script_record(self._recipe.path, reads.files, reads.variables, printed)

    def _read(self, path: Path) -> SourceFile:
        """Return the tree of the file at `path`; its names are not resolved.

        Raises:
            CompileError: the file cannot be read, or a unit is not closed.
        """
        limited = self._request.line_limit is LineLimit.ALL
        source = read_checked(self._inputs.index, path, limited)
        if "\0" in source.text:
            message = f"'{path}' is not a text file."
            raise CompileError(Diagnostic("P001", message, file=str(path)))
        if (form := self._request.fixed_form) is not None:
            source = self._inputs.index.texts.read(path)
            source = fixed_source(source) if form else source
        self._note_included(source, set())
        file = read_file(source)
        raise_if_any(tuple(_not_closed(file)))
        return file

    def _note_included(self, source: SourceText, seen: set[Path]) -> None:
        """Record the files that a text includes, and those that these include, as inputs."""
        index = self._inputs.index
        for found in inclusions(source):
            path = included_file(found, index.folders)
            if path is not None and path not in seen:
                seen.add(path)
                self._note_included(index.read(path), seen)

    def _facts(self) -> Facts:
        return tuple(
            Fact(FactKind(name), source=FactSource.COMMAND, place=f"--assume {name}")
            for name in self._request.assumed
        )

    def _promised(self, file: SourceFile) -> Facts:
        """Return the promises of the author's directives that are removed."""
        if "omp" not in self._request.stripped:
            return ()
        from psyclone_storage.analysis.bodies.authored import (  # noqa: PLC0415
            promises_of_directives,
        )

        codes = file.routines().items()
        return tuple(fact for key, code in codes for fact in promises_of_directives(code, key))


def _not_closed(file: SourceFile) -> Iterator[Diagnostic]:
    """Yield the units without an end (P005).

    A unit in alternatives of the preprocessor is read once, so its end may seem to be missing.
    """
    if _CONDITIONAL.search(file.source.text):
        return
    for unit in file.every_unit():
        if unit.end is None and unit.extent is not None:
            opening = unit.extent if unit.place is None else unit.place
            what = f"'{unit.opening}'" if unit.opening else "The main program"
            message = f"{what} is not closed by an 'end' statement."
            yield Diagnostic("P005", message, opening, label="opened here")


def _without_directives(file: SourceFile, families: frozenset[str]) -> SourceFile:
    """Return a file without the author's directives of some families in its statements."""

    def change(unit: Routine) -> Routine:
        body = _without_lines(unit.body, families)
        return unit if body is unit.body else replace(unit, body=body)

    return file.changed(change) if families else file


def _without_lines(lines: tuple[un.Line, ...], families: frozenset[str]) -> tuple[un.Line, ...]:
    found: list[un.Line] = []
    for line in lines:
        if isinstance(line, un.DirectiveLine):
            family = _FAMILY.match(key_of(line.text))
            if family is not None and family["family"] in families:
                continue
        found.append(with_changed_blocks(line, lambda one: _without_lines(one, families)))
    same = len(found) == len(lines) and all(map(is_, found, lines))
    return lines if same else tuple(found)


# ---------------------------------------------------------------------------- reports


def loop_reports(bench: FileBench) -> Iterator[LoopReport]:
    """Yield a report on each loop of the author, in the order of the text."""
    for routine in bench.routines:
        yield from _reports(bench, routine, bench.code(routine).body, 0, "")


def _reports(
    bench: FileBench, routine: str, lines: tuple[un.Line, ...], level: int, directive: str
) -> Iterator[LoopReport]:
    for line in lines:
        if isinstance(line, un.DirectiveBlock):
            word = line.directive.value if line.directive.shares_work else directive
            yield from _reports(bench, routine, line.body, level, word)
            continue
        if isinstance(line, un.Do):
            place = place_of_line(line)
            if place is not None:
                report = _report(bench, routine, line, directive)
                yield replace(report, line=place.line, level=level)
        inner = level + isinstance(line, un.Do)
        for block in blocks_of(line):
            yield from _reports(bench, routine, block, inner, "")


def _report(bench: FileBench, routine: str, loop: un.Do, directive: str) -> LoopReport:
    verdict = bench.verdict(routine, loop.uid)
    cures = () if verdict.is_independent else bench.cures(routine, loop.uid)
    condition = verdict.condition
    is_provable = verdict.is_independent or condition is not None
    clauses = verdict.clauses if is_provable else Clauses()
    assumed = (one for one in of_routine(bench.facts, routine) if one.kind is FactKind.ONE_CALL)
    found = (
        ("if", () if condition is None else (spell(condition),)),
        ("private", clauses.private),
        ("firstprivate", clauses.firstprivate),
        ("lastprivate", clauses.lastprivate),
        ("reduction", tuple(f"{one.operator.spelling}:{one.name}" for one in clauses.reductions)),
    )
    return LoopReport(
        routine,
        loop.uid,
        loop.variable.text,
        verdict.status.value,
        directive,
        tuple((word, names) for word, names in found if names),
        tuple(map(str, (*verdict.assumptions, *assumed))),
        tuple(_blocking(verdict)),
        tuple(_reasons(verdict)),
        tuple(f"{one.kind.value} {one.name}".strip() for one in cures),
        tuple(map(str, verdict.unneeded)),
        "" if directive else bench.unshared.get((routine, loop.uid), ""),
    )


def _blocking(verdict: Verdict) -> Iterator[BlockingAccess]:
    """Yield the two accesses of the first blocking pair, if there is one."""
    pairs = () if any(one.code == "T100" for one in verdict.reasons) else verdict.blocking[:1]
    for pair in pairs:
        for item in (pair.first, pair.second):
            place = place_of_access(item)
            line = 0 if place is None else place.line
            yield BlockingAccess(str(item.access.path), item.writes, line)


def _reasons(verdict: Verdict) -> Iterator[LoopReason]:
    for one in verdict.reasons:
        line = 0 if one.span is None else one.span.line
        yield LoopReason(one.code, one.message, cure_of(one), line)


def _reason_lines(report: LoopReport) -> Iterator[str]:
    """Yield the blocking accesses and the reasons as lines of text."""
    for access in report.blocking:
        where = f"line {access.line}" if access.line else "a new line"
        yield f"{where}: '{access.path}' is {'written' if access.written else 'read'}"
    for reason in report.reasons:
        where = f"line {reason.line}: " if reason.line else ""
        yield f"{where}{reason.code}: {reason.message}"
    for fix in dict.fromkeys(one.fix for one in report.reasons if one.code == "T100"):
        yield f"hint: {fix}"


def loops_text(path: Path, loops: tuple[LoopReport, ...]) -> str:
    """Return the reports on the loops of a file as text."""
    lines: list[str] = []
    for one in loops:
        under = f", under '{one.directive}'" if one.directive else ""
        head = f"{path}:{one.line}: {'  ' * one.level}{one.routine}.{one.uid} over {one.counter}"
        lines.append(f"{head}: {one.status}{under}")
        indent = "    " + "  " * one.level
        lines += [f"{indent}{word}({', '.join(names)})" for word, names in one.clauses]
        lines += [f"{indent}needs the promise: {text}" for text in one.assumptions]
        lines += [f"{indent}does not need the promise: {text}" for text in one.unneeded]
        lines += [f"{indent}{text}" for text in _reason_lines(one)]
        if one.unshared:
            lines.append(f"{indent}not shared: {one.unshared}")
        if one.cures:
            lines.append(f"{indent}independent with the promises: {', '.join(one.cures)}")
    shared = sum(1 for one in loops if one.directive)
    provable = sum(1 for one in loops if one.status == "independent")
    lines.append(f"{path}: {len(loops)} loops, {provable} independent, {shared} shared")
    return "\n".join(lines) + "\n"


def loop_object(path: Path, one: LoopReport) -> dict[str, object]:
    """Return the report on a loop as JSON has it."""
    return {
        "file": str(path),
        "routine": one.routine,
        "loop": one.uid,
        "line": one.line,
        "counter": one.counter,
        "level": one.level,
        "verdict": one.status,
        "directive": one.directive,
        "unshared": one.unshared,
        "clauses": [{"kind": word, "names": list(names)} for word, names in one.clauses],
        "assumptions": list(one.assumptions),
        "unneeded": list(one.unneeded),
        "blocking": [
            {"path": access.path, "access": "write" if access.written else "read",
             "line": access.line or None}
            for access in one.blocking
        ],
        "reasons": [
            {"code": reason.code, "message": reason.message, "fix": reason.fix,
             "line": reason.line or None}
            for reason in one.reasons
        ],
        "cures": list(one.cures),
    }  # fmt: skip
