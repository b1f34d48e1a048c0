"""Steps on files of plain Fortran as text, and `auto`, which chooses directives by itself.

The syntax is that of the steps on schedules: `name{option=value ...}`, with semicolons between.
Places are `routine=` with `loop=`, or with `first=` and `last=`. Steps on the code of kernels keep
their names; `loop` is the number of the loop for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import is_

from psyclone_storage.analysis.bodies.nests import CodeFootprint, inner_node
from psyclone_storage.analysis.bodies.regions import is_pure, without_wrong
from psyclone_storage.analysis.bodies.verdict import called_procedures
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, fields, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive, RegionOptions
from psyclone_storage.ir.expr import integer_value
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.rewrite import blocks_of, walk_lines, with_changed_blocks
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective
from psyclone_storage.transform.file_statements import EditRoutine
from psyclone_storage.transform.kernel.code import ChangesCode
from psyclone_storage.transform.openmp import read_schedule

_REQUEST = regex(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*")
_DIRECTIVES = {
    "openmp-parallel-do": Directive.OMP_PARALLEL_DO,
    "openmp-do": Directive.OMP_DO,
    "openmp-parallel": Directive.OMP_PARALLEL,
    "openmp-simd": Directive.OMP_SIMD,
    "openmp-single": Directive.OMP_SINGLE,
    "openmp-master": Directive.OMP_MASTER,
    "openmp-critical": Directive.OMP_CRITICAL,
    "openmp-taskloop": Directive.OMP_TASKLOOP,
    "openmp-target": Directive.OMP_TARGET,
    "openmp-teams-do": Directive.OMP_TEAMS_DO,
    "openmp-teams-loop": Directive.OMP_TEAMS_LOOP,
    "openmp-loop": Directive.OMP_LOOP,
    "acc-loop": Directive.ACC_LOOP,
    "acc-parallel": Directive.ACC_PARALLEL,
    "acc-kernels": Directive.ACC_KERNELS,
}
_PLACES = ("routine", "loop", "first", "last")
_OPTIONS: Mapping[str, tuple[str, type]] = {
    "collapse": ("collapse", int),
    "sums": ("sums", bool),
    "sequential": ("sequential", bool),
    "gang": ("gangs", bool),
    "vector": ("vectors", bool),
    "grainsize": ("grain", int),
    "num_tasks": ("tasks", int),
    "queue": ("queue", int),
    "default_present": ("present", bool),
    "schedule": ("schedule", str),
}
"""The options of directives, with the fields and types of their values."""
_LEAST = {"collapse": 1, "grainsize": 1, "num_tasks": 1, "queue": 0, "work": 0}
"""The least values of options of directives and of `auto`."""
_CODE_STEPS = {name: step for name, step in STEPS.items() if issubclass(step, ChangesCode)}
AUTO = "auto"
_AUTO = {"sums": bool, "work": int}

MANY = 1000
"""The number of iterations of a loop whose bounds are not known, for the amount of its work."""
LEAST_WORK = 2_000
"""The number of statements that a loop must execute before `auto` starts threads for it."""
_FEW = 32
_OF_CALL = 100


@dataclass(frozen=True, slots=True)
class FileStepRequest:
    """A requested step, with its options by name, and its place in the text of the request."""

    name: str
    values: tuple[tuple[str, str | int | bool], ...]
    place: Span


def read_file_steps(text: str) -> tuple[FileStepRequest, ...]:
    """Return the steps that `text` requests.

    Raises:
        CompileError: `T040`, a step does not exist or cannot be read; `T041`, an option does not
            exist or has a wrong value.
    """
    source, start = SourceText("--apply", text), 0
    problems: list[Diagnostic] = []
    found: list[FileStepRequest] = []
    for part in text.split(";"):
        blanks = len(part) - len(part.lstrip())
        place = source.span(start + blanks, start + blanks + len(part.strip()))
        start += len(part) + 1
        if not part.strip():
            continue
        try:
            found.append(_read(part, place))
        except CompileError as error:
            problems += error.problems
    if problems:
        raise CompileError(*problems)
    return tuple(found)


def apply_file_steps(bench: FileBench, requests: Iterable[FileStepRequest]) -> None:
    """Apply requested steps to the routines of a file.

    Raises:
        CompileError: the reasons against a step.
    """
    for request in requests:
        values = dict(request.values)
        if request.name == AUTO:
            for routine in bench.routines:
                _Auto(bench, routine, values).apply()
        elif request.name in _DIRECTIVES:
            bench.apply(_directive_step(bench, request, values))
        else:
            given = {("call" if key == "routine" else key): one for key, one in values.items()}
            if "call" not in given:
                given["call"] = _only_routine(bench, request)
            bench.apply(_CODE_STEPS[request.name](**given))  # type: ignore[arg-type]


# ---------------------------------------------------------------------------- reading


def _read(text: str, place: Span) -> FileStepRequest:
    found = _REQUEST.fullmatch(text)
    if found is None:
        hint = "Write it as 'name' or 'name{option=value option=value}', with ';' between steps."
        raise CompileError(Diagnostic("T040", f"'{text.strip()}' is not a step.", place, hint=hint))
    name = found[1]
    known = (AUTO, *_DIRECTIVES, *_CODE_STEPS)
    if name not in known:
        hint = did_you_mean(name, known) or f"There are {listed(known, 'and')}."
        message = f"There is no step '{name}' for files without an API."
        raise CompileError(Diagnostic("T040", message, place, hint=hint))
    types = _types_of(name)
    return FileStepRequest(
        name, tuple(_option(name, word, types, place) for word in (found[2] or "").split()), place
    )


def _types_of(name: str) -> Mapping[str, type]:
    """Return the options of a step with their types."""
    if name == AUTO:
        return _AUTO
    if name in _DIRECTIVES:
        return {**dict.fromkeys(_PLACES, str), **{key: of for key, (_, of) in _OPTIONS.items()}}
    step = _CODE_STEPS[name]
    types = {one.name: type(one.default) for one in fields(step)}
    return {**types, "routine": str, "call": str}


def _option(
    name: str, word: str, types: Mapping[str, type], place: Span
) -> tuple[str, str | int | bool]:
    key, equals, text = word.partition("=")
    if key not in types or not equals:
        hint = did_you_mean(key, tuple(types)) or f"There are {listed(tuple(types), 'and')}."
        message = f"The step '{name}' has no option '{word}'."
        raise CompileError(Diagnostic("T041", message, place, hint=hint))
    kind = types[key]
    if kind is bool and text in ("true", "false"):
        return key, text == "true"
    if kind is int and re.fullmatch(r"-?\d+", text):
        least = _LEAST.get(key) if name in (AUTO, *_DIRECTIVES) else None
        if least is not None and int(text) < least:
            message = f"The option '{key}' of the step '{name}' is at least {least}, not {text}."
            raise CompileError(Diagnostic("T041", message, place))
        return key, int(text)
    if kind in (bool, int):
        wanted = "'true' or 'false'" if kind is bool else "an integer"
        message = f"The option '{key}' of the step '{name}' takes {wanted}, not '{text}'."
        raise CompileError(Diagnostic("T041", message, place))
    return key, text


def _directive_step(
    bench: FileBench, request: FileStepRequest, values: Mapping[str, str | int | bool]
) -> AddDirective:
    routine = str(values.get("routine") or _only_routine(bench, request))
    first = str(values.get("loop") or values.get("first") or "")
    if not first:
        message = f"The step '{request.name}' needs 'loop', or 'first' and 'last'."
        raise CompileError(Diagnostic("T041", message, request.place))
    given: dict[str, object] = {
        _OPTIONS[key][0]: one for key, one in values.items() if key in _OPTIONS
    }
    if "schedule" in given:
        given["schedule"] = read_schedule(str(given["schedule"]), request.place)
    options = RegionOptions(**given)  # type: ignore[arg-type]
    return AddDirective(
        routine, first, str(values.get("last", "")), _DIRECTIVES[request.name], options
    )


def _only_routine(bench: FileBench, request: FileStepRequest) -> str:
    if len(bench.routines) == 1:
        return bench.routines[0]
    hint = f"There are {listed(bench.routines, 'and')}." if bench.routines else ""
    message = f"The step '{request.name}' needs 'routine'."
    raise CompileError(Diagnostic("T041", message, request.place, hint=hint))


# ---------------------------------------------------------------------------- auto


class _Auto:
    """The choice of directives for the loops of one routine.

    The outermost independent loops with enough work get threads; adjacent ones share a region. A
    loop with few iterations shares them with the loop inside, if both are independent.
    """

    def __init__(
        self, bench: FileBench, routine: str, values: Mapping[str, str | int | bool]
    ) -> None:
        self._bench = bench
        self._routine = routine
        self._sums = bool(values.get("sums", False))
        self._work = int(values.get("work", LEAST_WORK))
        self._code = bench.code(routine)

    def apply(self) -> None:
        """Apply the directives, as one edit of the routine."""
        body = self._code.body
        if is_pure(self._code) or not any(isinstance(one, un.Do) for one in walk_lines(body)):
            return
        after = self._block(body, together=True)
        if after == body:
            return
        step = EditRoutine(self._routine, body, after, AUTO)
        if self._bench.check(step):
            step = replace(step, after=self._legal(body))
        else:
            code = replace(self._code, body=after)
            step = replace(step, after=without_wrong(code, self._bench.planned(code)).body)
        if step.after != body:
            self._bench.apply(step)

    def _legal(self, body: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        """Return the statements with each directive that is legal by itself."""
        changed = self._block(body, together=False)
        blocks = [one for one in walk_lines(changed) if isinstance(one, un.DirectiveBlock)]
        refused: set[int] = set()
        for block in blocks:
            alone = _only(changed, {id(block)})
            if reasons := self._bench.planned(replace(self._code, body=alone)).reasons:
                refused.add(id(block))
                self._note(block, reasons[0].message)
        return _only(changed, {id(block) for block in blocks} - refused)

    def _note(self, block: un.DirectiveBlock, why: str) -> None:
        """Record why the loops of a block get no directive."""
        for line in block.body:
            if isinstance(line, un.Do):
                self._bench.unshared[self._routine, line.uid] = why

    def _block(self, lines: tuple[un.Line, ...], *, together: bool) -> tuple[un.Line, ...]:
        found: list[un.Line] = []
        for line in lines:
            if isinstance(line, un.DirectiveBlock):
                found.append(line)
            elif isinstance(line, un.Do) and (options := self._chosen(line)) is not None:
                kind = Directive.OMP_DO if together else Directive.OMP_PARALLEL_DO
                found.append(un.DirectiveBlock(kind, options, (line,)))
            else:
                found.append(
                    with_changed_blocks(line, lambda one: self._block(one, together=together))
                )
        if all(map(is_, found, lines)):
            return lines
        return _with_teams(found) if together else tuple(found)

    def _chosen(self, loop: un.Do) -> RegionOptions | None:
        """Return the options of the directive for a loop, None if it gets none."""
        verdict = self._bench.verdict(self._routine, loop.uid, sums=self._sums)
        if not verdict.is_independent:
            return None
        if (amount := self._amount(loop)) < self._work:
            why = f"it executes about {amount} statements, fewer than 'work={self._work}'"
            self._bench.unshared[self._routine, loop.uid] = why
            return None
        if any(isinstance(one, un.DirectiveBlock) for one in walk_lines(loop.body)):
            return None
        return RegionOptions(collapse=self._collapse(loop), sums=self._sums)

    def _collapse(self, loop: un.Do) -> int:
        trips = _trips(loop)
        if trips is None or trips >= _FEW:
            return 1
        flow = self._bench.flow(self._routine)
        outer = self._bench.node(self._routine, loop.uid)
        inner = inner_node(outer, flow)
        if inner is None or not isinstance(inner.line, un.Do):
            return 1
        counters = {loop.variable.key}
        depends = any(one.root in counters for one in inner.accesses if not one.writes)
        verdict = self._bench.verdict(self._routine, inner.line.uid, sums=self._sums)
        bounds = CodeFootprint(flow, outer).check_bounds()
        return 2 if verdict.is_independent and not depends and not bounds else 1

    def _amount(self, loop: un.Do) -> int:
        """Return the number of statements that a loop executes, an estimate."""
        flow = self._bench.flow(self._routine)
        node = self._bench.node(self._routine, loop.uid)
        calls = called_procedures(node, flow) - HARMLESS
        return _amount((loop,)) * (_OF_CALL if calls else 1)


def _amount(lines: Iterable[un.Line]) -> int:
    total = 0
    for line in lines:
        if isinstance(line, un.Comment | un.Blank | un.DirectiveLine):
            continue
        if isinstance(line, un.Do):
            trips = _trips(line)
            total += (MANY if trips is None else trips) * _amount(line.body)
        else:
            total += 1 + sum(map(_amount, blocks_of(line)))
    return total


def _trips(loop: un.Do) -> int | None:
    """Return the number of iterations of a loop, None if it is not known."""
    step = 1 if loop.step is None else integer_value(loop.step)
    start, stop = integer_value(loop.start), integer_value(loop.stop)
    if start is None or stop is None or not step:
        return None
    return max(0, (stop - start + step) // step)


def _with_teams(lines: list[un.Line]) -> tuple[un.Line, ...]:
    """Return statements in which adjacent loops for threads share one region."""
    found: list[un.Line] = []
    run: list[un.Line] = []

    def end() -> None:
        held = [one for one in run if isinstance(one, un.DirectiveBlock)]
        last = max((at for at, one in enumerate(run) if one in held), default=-1)
        inside, after = run[: last + 1], run[last + 1 :]
        if len(held) > 1:
            found.append(un.DirectiveBlock(Directive.OMP_PARALLEL, RegionOptions(), (*inside,)))
        elif held:
            found.append(replace(held[0], directive=Directive.OMP_PARALLEL_DO))
        found.extend(after)
        run.clear()

    for line in lines:
        is_loop = isinstance(line, un.DirectiveBlock) and line.directive is Directive.OMP_DO
        if is_loop or (run and isinstance(line, un.Comment | un.Blank)):
            run.append(line)
        else:
            end()
            found.append(line)
    end()
    return tuple(found)


def _only(lines: tuple[un.Line, ...], wanted: set[int]) -> tuple[un.Line, ...]:
    """Return statements without the directives of all blocks but some."""

    def each() -> Iterator[un.Line]:
        for line in lines:
            if not isinstance(line, un.DirectiveBlock):
                yield with_changed_blocks(line, lambda block: _only(block, wanted))
            elif id(line) in wanted:
                yield line
            else:
                yield from line.body

    found = tuple(each())
    return lines if len(found) == len(lines) and all(map(is_, found, lines)) else found
