"""Printing of OpenMP and OpenACC directives and their data clauses in Fortran.

Only this module knows the syntax of directives. Returned texts do not include `!$`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import (
    AccLoopDirective,
    AccRoutineDirective,
    DeclareTargetDirective,
    Directive,
    KernelDirective,
    RegionOptions,
    Sharing,
)
from psyclone_storage.ir.expr import Expr, spell
from psyclone_storage.ir.kernel import ReductionOp
from psyclone_storage.ir.transfer import Side

StandAlone = (
    un.EnterDataLine
    | un.ExitDataLine
    | un.UpdateLine
    | un.QueueWaitLine
    | un.TaskWaitLine
    | un.ReductionLine
)

_WORDS = {
    Directive.OMP_PARALLEL: "omp parallel",
    Directive.OMP_DO: "omp do",
    Directive.OMP_PARALLEL_DO: "omp parallel do",
    Directive.OMP_SIMD: "omp simd",
    Directive.OMP_SINGLE: "omp single",
    Directive.OMP_MASTER: "omp master",
    Directive.OMP_CRITICAL: "omp critical",
    Directive.OMP_TASK: "omp task",
    Directive.OMP_TASKLOOP: "omp taskloop",
    Directive.OMP_TARGET: "omp target",
    Directive.OMP_TEAMS_DO: "omp teams distribute parallel do",
    Directive.OMP_TEAMS_LOOP: "omp teams loop",
    Directive.OMP_LOOP: "omp loop",
    Directive.ACC_PARALLEL: "acc parallel",
    Directive.ACC_LOOP: "acc loop",
    Directive.ACC_KERNELS: "acc kernels",
    Directive.ACC_DATA: "acc data",
}
_SHARINGS = {
    Sharing.STATIC: "static",
    Sharing.DYNAMIC: "dynamic",
    Sharing.GUIDED: "guided",
    Sharing.AUTO: "auto",
    Sharing.RUNTIME: "runtime",
}
_SIDES = {Side.HOST: "host", Side.DEVICE: "device"}
_OPERATORS = {
    ReductionOp.SUM: "+",
    ReductionOp.MIN: "min",
    ReductionOp.MAX: "max",
    ReductionOp.PRODUCT: "*",
    ReductionOp.AND: ".and.",
    ReductionOp.OR: ".or.",
    ReductionOp.EQUIVALENT: ".eqv.",
    ReductionOp.NOT_EQUIVALENT: ".neqv.",
}
_WITHOUT_FOOT = (Directive.ACC_LOOP,)
_NOWAIT_AT_END = (Directive.OMP_DO, Directive.OMP_SINGLE)
"""The directives whose end directive has the clause `nowait`, as before OpenMP 5.2."""
_ALL_SHARED = (
    Directive.OMP_PARALLEL,
    Directive.OMP_PARALLEL_DO,
    Directive.OMP_TEAMS_DO,
    Directive.OMP_TEAMS_LOOP,
)
_PRIVATE = (
    *_ALL_SHARED,
    Directive.OMP_TASK,
    Directive.OMP_TASKLOOP,
    Directive.OMP_LOOP,
    Directive.ACC_LOOP,
)
_REGIONS_WITH_COPIES = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS)


def spell_block(block: un.DirectiveBlock) -> tuple[list[str], list[str]]:
    """Return the directives before a block and the directives after it."""
    kind = block.directive
    if kind is Directive.ACC_DATA:
        return (_entered if block.options.unstructured else _data_region)(block.items)
    if kind is Directive.ACC_UPDATE:
        return _updates(block.items)
    asked = (*_about_data(block), *_asked(kind, block.options))
    words = _WORDS[kind] + (" simd" if block.options.lanes else "")
    head = f"{words} {', '.join(asked)}".strip()
    if kind in _WITHOUT_FOOT:
        return [head], []
    at_end = " nowait" if kind in _NOWAIT_AT_END and block.options.nowait else ""
    wait = [f"acc wait({block.options.queue})"] if block.waits else []
    return [head], [_end(words) + at_end, *wait]


def spell_directive(line: StandAlone) -> str:
    """Return the text of a stand-alone directive."""
    match line:
        case un.EnterDataLine(items, values=values, openmp=True):
            return f"omp target enter data map({'to' if values else 'alloc'}: {_listed(items)})"
        case un.ExitDataLine(items, openmp=True):
            return f"omp target exit data map(delete: {_listed(items)})"
        case un.UpdateLine(to, items, openmp=True):
            return f"omp target update {'to' if to is Side.DEVICE else 'from'}({_listed(items)})"
        case un.EnterDataLine(items, queue, values):
            how = "copyin" if values else "create"
            return " ".join((f"acc enter data {how}({_listed(items)})", *_queue(queue)))
        case un.ExitDataLine(items, finalize=finalize):
            return f"acc exit data delete({_listed(items)}){' finalize' if finalize else ''}"
        case un.UpdateLine(to, items, if_present):
            condition = " if_present" if if_present else ""
            return f"acc update {_SIDES[to]}({_listed(items)}){condition}"
        case un.QueueWaitLine(queue):
            return f"acc wait({queue})"
        case un.TaskWaitLine():
            return "omp taskwait"
        case un.ReductionLine(name):
            combine = f"omp declare reduction(+ : {name} : omp_out = omp_out + omp_in)"
            return f"{combine} initializer(omp_priv = {name}())"


def spell_meaning(meaning: KernelDirective | None) -> str:
    """Return the text of a directive in a kernel, or '' for None."""
    match meaning:
        case AccRoutineDirective(level):
            return f"acc routine {level.value}"
        case DeclareTargetDirective():
            return "omp declare target"
        case AccLoopDirective(levels, private, reductions):
            words = ["acc loop", *(level.value for level in levels), "independent"]
            words += [f"private({', '.join(private)})"] if private else []
            return " ".join((*words, *(f"reduction({op}:{name})" for op, name in reductions)))
    raise InternalError("A directive has neither a text nor a meaning.")


def _end(words: str) -> str:
    family, _, rest = words.partition(" ")
    return f"{family} end {rest}"


def _asked(kind: Directive, options: RegionOptions) -> Iterator[str]:
    """Yield the clauses requested for the directive before a block."""
    if (sharing := options.schedule) is not None:
        chunk = f",{sharing.chunk}" if sharing.chunk else ""
        yield f"schedule({_SHARINGS[sharing.rule]}{chunk})"
    asked = (
        (options.collapse > 1, f"collapse({options.collapse})"),
        (options.sequential, "seq"),
        (options.gangs, "gang"),
        (options.vectors, "vector"),
        (options.independent, "independent"),
        (options.grain > 0, f"grainsize({options.grain})"),
        (options.tasks > 0, f"num_tasks({options.tasks})"),
        (options.nogroup, "nogroup"),
        (options.nowait and kind not in _NOWAIT_AT_END, "nowait"),
        (options.present, "default(present)"),
    )
    yield from (text for wanted, text in asked if wanted)
    yield from _queue(options.queue)


def _queue(queue: int) -> tuple[str, ...]:
    return (f"async({queue})",) if queue >= 0 else ()


# ---------------------------------------------------------------------------- data


def _about_data(block: un.DirectiveBlock) -> Iterator[str]:
    kind, shared = block.directive, not block.options.sequential
    if kind in _ALL_SHARED:
        yield "default(shared)"
    if block.condition is not None:
        yield f"if({spell(block.condition)})"
    if (kind in _PRIVATE or block.analysed) and shared and block.private:
        yield f"private({', '.join(block.private)})"
    if shared and block.firstprivate:
        yield f"firstprivate({', '.join(block.firstprivate)})"
    if shared and block.lastprivate:
        yield f"lastprivate({', '.join(block.lastprivate)})"
    if kind.shares_work and shared:
        yield from _reductions(block.reductions)
    scalars = [name for name, _ in block.reductions]
    if kind is Directive.OMP_TARGET:
        yield from _maps(block.items, scalars)
    elif kind in _REGIONS_WITH_COPIES and block.analysed:
        scalars += [spell(item.what) for item in block.items if item.written]
    if scalars and kind in _REGIONS_WITH_COPIES:
        yield f"copy({', '.join(scalars)})"


def _reductions(reductions: Iterable[tuple[str, ReductionOp]]) -> Iterator[str]:
    by_operation: dict[ReductionOp, list[str]] = {}
    for name, op in reductions:
        by_operation.setdefault(op, []).append(name)
    for op, names in by_operation.items():
        yield f"reduction({_OPERATORS[op]}:{', '.join(names)})"


def _maps(items: Iterable[un.DeviceItem], scalars: Iterable[str]) -> Iterator[str]:
    """Yield `map` clauses: `to` for data only read, and `tofrom` for changed data.

    Without these clauses a compiler copies all data in both directions.
    """
    read = [spell(item.what) for item in items if not item.written]
    changed = [*(spell(item.what) for item in items if item.written), *scalars]
    for how, names in (("to", read), ("tofrom", changed)):
        if names:
            yield f"map({how}: {', '.join(names)})"


def _data_region(items: Iterable[un.DeviceItem]) -> tuple[list[str], list[str]]:
    """Return nested data regions, one per component level: objects must precede their parts."""
    levels: dict[int, list[un.DeviceItem]] = {}
    for item in dict.fromkeys(items):
        levels.setdefault(item.level, []).append(item)
    word = _WORDS[Directive.ACC_DATA]
    heads = [f"{word} {', '.join(_copies(levels[level]))}" for level in sorted(levels)]
    return heads, [_end(word)] * len(heads)


def _entered(items: Iterable[un.DeviceItem]) -> tuple[list[str], list[str]]:
    """Return directives by which data enter a device and leave it; objects precede their parts."""
    levels: dict[int, list[un.DeviceItem]] = {}
    for item in dict.fromkeys(items):
        levels.setdefault(item.level, []).append(item)
    heads = [
        f"acc enter data copyin({_listed(item.what for item in levels[level])})"
        for level in sorted(levels)
    ]
    return heads, [f"acc exit data {', '.join(_left(levels[one]))}" for one in sorted(levels)[::-1]]


def _left(level: Iterable[un.DeviceItem]) -> Iterator[str]:
    for how, written in (("copyout", True), ("delete", False)):
        if names := ", ".join(spell(item.what) for item in level if item.written is written):
            yield f"{how}({names})"


def _updates(items: tuple[un.DeviceItem, ...]) -> tuple[list[str], list[str]]:
    """Return the updates of the host before its statements, and of the device after them."""
    changed = [item.what for item in items if item.written]
    head = f"acc update if_present self({_listed(item.what for item in items)})"
    foot = f"acc update if_present device({_listed(changed)})"
    return [head] if items else [], [foot] if changed else []


def _copies(level: Iterable[un.DeviceItem]) -> Iterator[str]:
    for how, written in (("copyin", False), ("copy", True)):
        if names := ", ".join(spell(item.what) for item in level if item.written is written):
            yield f"{how}({names})"


def _listed(items: Iterable[Expr]) -> str:
    return ", ".join(map(spell, items))
