"""Regions of a file: those that loops share, those with data on a device, those of a profiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import is_

from psyclone_storage.analysis.bodies.regions import is_pure
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.infrastructures import profiling as abi
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.rewrite import (
    blocks_of,
    first_words,
    place_of_line,
    walk_lines,
    with_changed_blocks,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.passes.scratch import names_of
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_statements import EditRoutine

_MODULE = str(abi.ProfileModule.PROFILE)
_SHARING = (Directive.OMP_DO, Directive.OMP_SINGLE, Directive.OMP_MASTER)


def with_teams(lines: tuple[un.Line, ...], chosen: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return statements in which each run of blocks that share work has one parallel region.

    Only the statements `chosen`, and those in them, are changed. A run without a shared loop
    does not change.
    """
    return _with_teams(lines, {id(one) for one in walk_lines(chosen)})


def _with_teams(lines: tuple[un.Line, ...], wanted: set[int]) -> tuple[un.Line, ...]:
    found: list[un.Line] = []
    run: list[un.Line] = []

    def end() -> None:
        last = max((at for at, one in enumerate(run) if _shares(one)), default=-1)
        inside, after = run[: last + 1], run[last + 1 :]
        blocks = (one for one in inside if isinstance(one, un.DirectiveBlock))
        if any(one.directive is Directive.OMP_DO for one in blocks):
            found.append(un.DirectiveBlock(Directive.OMP_PARALLEL, NO_OPTIONS, (*inside,)))
            inside = []
        found.extend((*inside, *after))
        run.clear()

    for line in lines:
        chosen = id(line) in wanted
        if chosen and (_shares(line) or (run and isinstance(line, un.Comment | un.Blank))):
            run.append(line)
            continue
        end()
        is_region = isinstance(line, un.DirectiveBlock)
        found.append(
            line if is_region else with_changed_blocks(line, lambda one: _with_teams(one, wanted))
        )
    end()
    return lines if len(found) == len(lines) and all(map(is_, found, lines)) else tuple(found)


def _shares(line: un.Line) -> bool:
    return isinstance(line, un.DirectiveBlock) and line.directive in _SHARING


def without_barriers(bench: FileBench, routine: str) -> tuple[un.Line, ...]:
    """Return the statements of a routine without the barriers that are proved unnecessary.

    A barrier after a shared loop, or after a block for one thread, is unnecessary if the blocks
    that may run before the next barrier are independent of it.
    """
    body = bench.code(routine).body
    before = _problems(bench, routine, body)
    count = sum(1 for one in walk_lines(body) if _waits(one))
    for number in reversed(range(count)):
        tried = _without_barrier(body, number)
        if not _problems(bench, routine, tried) - before:
            body = tried
    return body


def _waits(line: un.Line) -> bool:
    return (
        isinstance(line, un.DirectiveBlock)
        and line.directive in (Directive.OMP_DO, Directive.OMP_SINGLE)
        and not line.options.nowait
    )


def _without_barrier(lines: tuple[un.Line, ...], number: int) -> tuple[un.Line, ...]:
    """Return `lines` with `nowait` on the directive `number` of those that end in a barrier."""
    waiting = [id(one) for one in walk_lines(lines) if _waits(one)][number]

    def change(block: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        found: list[un.Line] = []
        for line in block:
            inner = with_changed_blocks(line, change)
            if id(line) == waiting and isinstance(inner, un.DirectiveBlock):
                inner = replace(inner, options=replace(inner.options, nowait=True))
            found.append(inner)
        return block if all(map(is_, found, block)) else tuple(found)

    return change(lines)


def with_data(bench: FileBench, routine: str) -> tuple[un.Line, ...]:
    """Return the statements of a routine with their data on a device from its first region on.

    Statements of the host that access the data are under `acc update`. The data leave the device
    after the last region.

    Raises:
        CompileError: `T085`, there is no region for a device.
    """
    body = bench.code(routine).body
    at = [number for number, line in enumerate(body) if _has_region(line)]
    if not at:
        message = f"'{routine}' has no OpenACC region that needs data."
        raise CompileError(Diagnostic("T085", message, bench.code(routine).module.routine))
    before, inside, after = body[: at[0]], body[at[0] : at[-1] + 1], body[at[-1] + 1 :]
    options = RegionOptions(unstructured=True)
    tried = (*before, un.DirectiveBlock(Directive.ACC_DATA, options, _updated(inside)), *after)
    planned = bench.planned(linked(addressed(replace(bench.code(routine), body=tried))))
    needed = (
        bool(line.items)
        for line in walk_lines(planned.code.body)
        if isinstance(line, un.DirectiveBlock) and line.directive is Directive.ACC_UPDATE
    )
    return _without_updates(tried, needed)


def _has_region(line: un.Line) -> bool:
    kinds = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)
    return any(
        isinstance(one, un.DirectiveBlock) and one.directive in kinds for one in walk_lines((line,))
    )


def _updated(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    """Return statements of which those without regions are under `acc update`."""
    found: list[un.Line] = []
    run: list[un.Line] = []

    def end() -> None:
        inside, stop = run[:], len(run)
        while stop and isinstance(run[stop - 1], un.Comment | un.Blank):
            stop -= 1
        if stop:
            found.append(un.DirectiveBlock(Directive.ACC_UPDATE, NO_OPTIONS, (*inside[:stop],)))
        found.extend(inside[stop:])
        run.clear()

    for line in lines:
        if isinstance(line, un.Comment | un.Blank):
            (run or found).append(line)
        elif _has_region(line):
            end()
            is_block = isinstance(line, un.DirectiveBlock)
            found.append(line if is_block else with_changed_blocks(line, _updated))
        else:
            run.append(line)
    end()
    return tuple(found)


def _without_updates(lines: tuple[un.Line, ...], needed: Iterator[bool]) -> tuple[un.Line, ...]:
    """Return statements without the updates that are not `needed`, in the order of the text."""
    found: list[un.Line] = []
    for line in lines:
        is_update = isinstance(line, un.DirectiveBlock) and line.directive is Directive.ACC_UPDATE
        if is_update and not next(needed):
            assert isinstance(line, un.DirectiveBlock)
            found += line.body
        elif is_update:
            found.append(line)
        else:
            found.append(with_changed_blocks(line, lambda one: _without_updates(one, needed)))
    return lines if len(found) == len(lines) and all(map(is_, found, lines)) else tuple(found)


def _problems(bench: FileBench, routine: str, body: tuple[un.Line, ...]) -> set[Diagnostic]:
    """Return the diagnostics for the regions of a routine after `body` replaces its body."""
    tree, reasons = bench.attempt(EditRoutine(routine, bench.code(routine).body, body))
    if reasons:
        return set(reasons)
    code = tree.get(routine)
    return set() if code is None else set(bench.planned(code).unfinished)


# ---------------------------------------------------------------------------- profiling

_HOLDS_NO_CALL = (un.Where, un.Forall, un.DoConcurrent, un.DirectiveBlock, un.Critical)
_LEAVES = regex(r"\b(?:return|exit|cycle|go\s*to|entry)\b", re.IGNORECASE)


def profiled_region(
    bench: FileBench, routine: str, inside: tuple[un.Line, ...], names: tuple[str, str] | None
) -> EditRoutine:
    """Return the step that measures neighbouring statements as one region of a profiler.

    `names` are those of a module and a region; by default the module is that of the routine, and
    the region has its name and a number.

    Raises:
        CompileError: `T034`, the statements cannot be a region.
    """
    code = bench.code(routine)
    place = place_of_line(inside[0])
    if why := _unfit_region(bench, routine, inside):
        raise CompileError(Diagnostic("T034", f"A profiler cannot measure this: {why}.", place))
    declared, uses = _variable(code)
    starts = (one for one in walk_lines(code.body) if isinstance(one, un.Call))
    number = sum(ex.spell(one.procedure).endswith(f"%{abi.Caliper.START}") for one in starts)
    module, region = names or (code.module.name or code.name, f"{code.name}-r{number}")
    calls = _calls(ex.Name(declared.name), module, region)
    after = _between(code.body, inside, *calls)
    return EditRoutine(routine, code.body, after, "profile", (declared,), uses)


def profile_routines(bench: FileBench) -> None:
    """Measure the statements of each routine as one region; list refusals in `left_out`."""
    for routine in bench.routines:
        body = bench.code(routine).body
        try:
            if body:
                bench.apply(profiled_region(bench, routine, body, None))
        except CompileError as error:
            bench.left_out += error.problems


def _variable(code: Routine) -> tuple[un.Declare, tuple[un.Use, ...]]:
    """Return a variable for a region, and the import of its type if the routine has none."""
    taken = NameTable(names_of(code))
    known = (name for use in code.uses for name in use.names if use.module == _MODULE)
    imported = next(known, None)
    uses: tuple[un.Use, ...] = ()
    if imported is None:
        imported = un.Imported(taken.fresh(abi.TYPE.name), abi.TYPE.name)
        uses = (un.Use(_MODULE, (imported,)),)
    kind = replace(abi.TYPE, name=imported.local, module=None)
    return un.Declare(taken.fresh(abi.VARIABLE), kind, ("save", "target")), uses


def _calls(variable: ex.Name, *names: str) -> tuple[un.Call, un.Call]:
    """Return the calls before and after a region; a profiler that measures time gets no data."""
    texts = ("'" + one.replace("'", "''") + "'" for one in names)
    words = (ex.Literal(one, Intrinsic.CHARACTER) for one in texts)
    start = un.Call(ex.Member(variable, abi.Caliper.START), (*words, ex.whole(0), ex.whole(0)))
    return start, un.Call(ex.Member(variable, abi.Caliper.STOP))


def _unfit_region(bench: FileBench, routine: str, inside: tuple[un.Line, ...]) -> str:
    """Return why statements cannot be a region of a profiler, an empty string if they can."""
    code, flow = bench.code(routine), bench.flow(routine)
    if is_pure(code):
        return "the routine is pure"
    if flow.has_jumps:
        return "the routine has labels to which statements jump"
    if any(isinstance(one, un.DirectiveLine) for one in walk_lines(code.body)):
        return "threads may execute it, by the directives of the routine"
    chosen = {id(one) for one in inside}
    for line in walk_lines(code.body):
        if isinstance(line, _HOLDS_NO_CALL) and any(
            id(one) in chosen for block in blocks_of(line) for one in walk_lines(block)
        ):
            return f"'{first_words(line)}' cannot contain calls of a profiler"
    for node in flow.nodes:
        if id(node.line) in chosen and flow.summaries[node.number - 1].jumps:
            return f"'{first_words(node.line)}' may leave it"
    texts = (one.text for one in walk_lines(inside) if isinstance(one, un.Opaque))
    return "a statement may leave it" if any(map(_LEAVES.search, texts)) else ""


def _between(
    lines: tuple[un.Line, ...], inside: tuple[un.Line, ...], start: un.Line, stop: un.Line
) -> tuple[un.Line, ...]:
    """Return statements with one before and one after those that are `inside`."""
    found: list[un.Line] = []
    for line in lines:
        if line is inside[0]:
            found.append(start)
        found.append(with_changed_blocks(line, lambda one: _between(one, inside, start, stop)))
        if line is inside[-1]:
            found.append(stop)
    return lines if len(found) == len(lines) and all(map(is_, found, lines)) else tuple(found)
