"""Regions of a file that several loops share, and those with fewest barriers and data copies."""

from __future__ import annotations

from collections.abc import Iterator
from operator import is_

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.rewrite import walk_lines, with_changed_blocks
from psyclone_storage.transform.file_bench import EditRoutine, FileBench

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
