"""A schedule as text (`--schedule`) or JSON (`--schedule-json`).

Both are stable and contain the same information. `docs/reference/schedule-json.md` documents the
JSON format; `SCHEMA` is its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from psyclone_storage.base.source import Span
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.directive import RegionOptions
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import KernelArg
from psyclone_storage.ir.loop_split import Peel, describe_peel, describe_strips
from psyclone_storage.ir.region import Depth, describe_depth
from psyclone_storage.ir.transfer import EnterData, TaskWait, Update, Wait
from psyclone_storage.ir.walk import kernel_calls

SCHEMA = 1
"""The version of the JSON form; it grows when a key goes away or changes its meaning."""

Json = dict[str, object]
Paint = Callable[[str], str]

_BOLD, _PLAIN = "\033[1m", "\033[0m"


def _unpainted(text: str) -> str:
    return text


def _bold(text: str) -> str:
    return f"{_BOLD}{text}{_PLAIN}"


# ---------------------------------------------------------------------------- text


def schedule_text(schedule: sch.Schedule, *, colour: bool = False) -> str:
    """Return `schedule` as text with one line for each datum and statement.

    Names are bold if `colour`. Calls are indented below their loops.
    """
    paint = _bold if colour else _unpainted
    lines = [f"{paint(schedule.name)}: {_mode_text(schedule)}", "  data"]
    lines += _columns([(2, datum.name, _datum_text(datum)) for datum in schedule.all_data], paint)
    lines.append("  schedule")
    lines += _columns(list(_rows(schedule.body, 2)), paint)
    return "\n".join(lines) + "\n"


def _mode_text(schedule: sch.Schedule) -> str:
    if not schedule.distributed:
        return "one process"
    if any(call.kernel.points for call in kernel_calls(schedule)):
        return "distributed memory"
    annexed = "always" if schedule.annexed_clean else "not always"
    return f"distributed memory, annexed dofs {annexed} clean"


def _columns(rows: list[tuple[int, str, str]], paint: Paint) -> list[str]:
    """Return rows of (indent, name, text) as lines with aligned texts."""
    width = max((2 * indent + len(name) for indent, name, _ in rows), default=0)
    lines = []
    for indent, name, text in rows:
        pad = " " * (width - 2 * indent - len(name))
        lines.append(f"{'  ' * indent}{paint(name)}{pad}  {text}".rstrip())
    return lines


def _datum_text(datum: sch.Datum) -> str:
    if datum.role is not sch.DatumRole.ARGUMENT or datum.kind is None:
        return datum.role.value
    vector = f" vector of {datum.vector}" if datum.vector > 1 else ""
    return f"{datum.kind.value}{vector}, {datum.access.value}"


def line_text(item: sch.Statement, *, colour: bool = False) -> str:
    """Return `item` as one line, without nested statements; the name is bold if `colour`."""
    paint = _bold if colour else _unpainted
    return f"{paint(item.uid)}  {statement_text(item)}"


def block_text(item: sch.Statement, *, colour: bool = False) -> str:
    """Return `item` and its nested statements as text, in the format of `schedule_text`."""
    paint = _bold if colour else _unpainted
    return "\n".join(_columns(list(_rows((item,), 0)), paint)) + "\n"


def _rows(body: tuple[sch.Statement, ...], indent: int) -> Iterator[tuple[int, str, str]]:
    for item in body:
        yield indent, item.uid, statement_text(item)
        if isinstance(item, sch.Compound):
            yield from _rows(item.body, indent + 1)


def statement_text(item: sch.Statement) -> str:
    """Return a one-line description of `item`, without nested statements."""
    match item:
        case sch.Loop(over=over, extent=extent):
            size = f" ({item.tile} each)" if over.counts_tiles else ""
            text = f"{over.value}{size}, {extent_text(extent)}{_filled_text(item)}"
            text += f", {describe_peel(item.peel)}" if item.peel else ""
            text += f", {describe_strips(item.strips)}" if item.strips else ""
            text += _parts_text(item) + (", in a procedure of its own" if item.outlined else "")
            text += ", another for one level" if item.one_level else ""
            text += ", in mesh order on one thread" if item.for_threads else ""
            return "call once" if over is sch.Over.DOMAIN else text
        case sch.DirectiveRegion():
            return _construct_text(item)
        case sch.ProfileRegion(module=module, name=name):
            return f"profile {module}:{name}" if module else f"profile {name}"
        case sch.KernelCall():
            args = "; ".join(map(_arg_text, item.kernel.args, item.args))
            return f"{item.kernel.name}({args})"
        case sch.HaloExchange():
            return _exchange_text(item)
        case sch.MarkHalo():
            return _mark_text(item)
        case sch.FillHalo():
            return f"fill {places_text(item)} of {component_text(item.datum, item.component)}"
        case sch.GlobalReduction(datum=datum, op=op):
            return f"{op.value} of {datum} over all ranks"
        case EnterData() | Update() | Wait() | TaskWait():
            return _transfer_text(item)


def _transfer_text(item: EnterData | Update | Wait | TaskWait) -> str:
    match item:
        case EnterData(data=data, queue=queue):
            text = f"enter data: {', '.join(data) or 'nothing'}"
            return f"{text}, in queue {queue}" if queue >= 0 else text
        case Update():
            what = component_text(item.datum, item.component)
            text = f"update {item.to.value}'s copy of {what}"
            text += " if a device has one" if item.guarded else ""
            return f"{text} (pinned)" if item.pinned else text
        case Wait(queue=queue):
            return f"wait for queue {queue}"
        case TaskWait():
            return "wait for the tasks made so far"


def _construct_text(item: sch.DirectiveRegion) -> str:
    options = item.options
    queue = (f"async({options.queue})",) if options.queue >= 0 else ()
    text = " ".join((item.directive.value, *_option_texts(options), *queue))
    return f"{text}, reproducible" if options.reproducible else text


def _option_texts(options: RegionOptions) -> list[str]:
    """Return the texts of region options, except for the queue and reproducible sums."""
    asked = (
        (options.lanes, "simd"),
        (options.schedule, f"schedule({options.schedule and options.schedule.text})"),
        (options.collapse > 1, f"collapse({options.collapse})"),
        (options.sequential, "seq"),
        (options.gangs, "gang"),
        (options.vectors, "vector"),
        (options.independent, "independent"),
        (options.grain, f"grainsize({options.grain})"),
        (options.tasks, f"num_tasks({options.tasks})"),
        (options.nogroup, "nogroup"),
        (options.nowait, "nowait"),
        (options.present, "default(present)"),
    )
    return [text for wanted, text in asked if wanted]


def extent_text(extent: sch.Extent) -> str:
    """Return the range of a loop as text: `owned`, `owned and halo to level 2`."""
    if extent.reach is sch.Reach.ANNEXED:
        return "owned and annexed"
    if not extent.reach.in_halo:
        return str(extent.reach.value)
    start = "owned and halo" if extent.reach is sch.Reach.HALO else "halo only,"
    return f"{start} to level {describe_depth(extent.depth)}"


def _parts_text(item: sch.Loop) -> str:
    return ", if its parts have the same bounds" if item.parts else ""


def _filled_text(item: sch.Loop) -> str:
    depth = describe_depth(item.filled)
    return f", and halo to level {depth}, which is to be filled" if item.filled.terms else ""


def places_text(item: sch.FillHalo) -> str:
    """Return the filled part of a halo as text: `annexed dofs and halo to level 1`."""
    parts = ["annexed dofs"] if item.annexed else []
    if item.depth.terms:
        behind = f" behind level {describe_depth(item.beyond)}" if item.beyond.terms else ""
        parts.append(f"halo{behind} to level {describe_depth(item.depth)}")
    return " and ".join(parts)


def component_text(datum: str, component: int | None) -> str:
    """Return the name of a field or of a field-vector component: `u`, `u[2]`."""
    return datum if component is None else f"{datum}[{component}]"


def _exchange_text(item: sch.HaloExchange) -> str:
    verb = {sch.Phase.WHOLE: "exchange", sch.Phase.START: "start", sch.Phase.FINISH: "finish"}[
        item.phase
    ]
    what = component_text(item.datum, item.component)
    text = f"{verb} {what} to level {describe_depth(item.depth)}"
    text += " for its annexed dofs" if item.annexed_only else ""
    text += " if it is dirty" if item.guarded else ""
    text += ", from the device" if item.fetched else ""
    text += ", its halo to the device" if item.sent else ""
    text += ", in strips" if item.in_strips and item.fetched else ""
    others = [uid for uid in item.joint if uid != item.uid]
    together = "started with" if item.overlapped else "in one message with"
    text += f", {together} {', '.join(others)}" if others else ""
    return f"{text} (pinned)" if item.pinned else text


def _mark_text(item: sch.MarkHalo) -> str:
    what = component_text(item.datum, item.component)
    parts = ["dirty"] if item.dirty else []
    parts += [f"clean to level {describe_depth(item.clean)}"] if item.clean.terms else []
    return f"{what} is {', then '.join(parts)}"


def _arg_text(described: KernelArg, actual: sch.Actual) -> str:
    text = spell(actual.value)
    if described.grid_property:
        text = f"{described.grid_property} of {text}"
    if actual.datum is not None:
        text = component_text(actual.datum, actual.component)
    text += f": {described.access.value}"
    spaces = " from ".join(described.spaces)
    text += f" {spaces}" if spaces else ""
    text += f" on {described.mesh.value} mesh" if described.mesh else ""
    if described.stencil:
        extent = f" {spell(actual.extent)}" if actual.extent else ""
        text += f" stencil {described.stencil.value}{extent}"
    return f"{text} mask of cells" if described.is_mask else text


# ---------------------------------------------------------------------------- JSON


def schedule_json(schedule: sch.Schedule) -> Json:
    """Return `schedule` as a JSON value for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "name": schedule.name,
        "distributed": schedule.distributed,
        "annexed_clean": schedule.annexed_clean,
        "data": [_datum_json(datum) for datum in schedule.all_data],
        "statements": [_statement_json(item) for item in schedule.body],
    }


def _datum_json(datum: sch.Datum) -> Json:
    return {
        "name": datum.name,
        "actual": spell(datum.actual),
        "role": datum.role.value,
        "kind": datum.kind.value if datum.kind else None,
        "components": datum.vector,
        "rank": datum.rank,
        "access": datum.access.value,
        "place": _place_json(datum.span),
    }


def _statement_json(item: sch.Statement) -> Json:
    match item:
        case sch.Loop():
            return {
                "statement": "loop",
                "uid": item.uid,
                "over": item.over.value,
                "reach": item.extent.reach.value,
                "depth": _depth_json(item.extent.depth),
                "filled": _depth_json(item.filled),
                "tile": item.tile or None,
                "parts": [part.call for part in item.parts],
                "outlined": item.outlined,
                "one_level": item.one_level,
                "peel": _peel_json(item.peel),
                "body": [_statement_json(inner) for inner in item.body],
            }
        case sch.DirectiveRegion():
            return {
                "statement": "construct",
                "uid": item.uid,
                "directive": item.directive.value,
                "clauses": _option_texts(item.options),
                "reproducible": item.options.reproducible,
                "queue": _queue_json(item.options.queue),
                "body": [_statement_json(inner) for inner in item.body],
            }
        case sch.ProfileRegion():
            return {
                "statement": "region",
                "uid": item.uid,
                "module": item.module or None,
                "name": item.name,
                "with_exchanges": item.with_exchanges,
                "body": [_statement_json(inner) for inner in item.body],
            }
        case sch.KernelCall():
            return _call_json(item)
        case sch.HaloExchange():
            return _exchange_json(item)
        case sch.MarkHalo() | sch.FillHalo():
            return _levels_json(item)
        case sch.GlobalReduction():
            return {
                "statement": "global reduction",
                "uid": item.uid,
                "datum": item.datum,
                "operation": item.op.value,
            }
        case EnterData() | Update() | Wait() | TaskWait():
            return _transfer_json(item)


def _call_json(call: sch.KernelCall) -> Json:
    return {
        "statement": "kernel call",
        "uid": call.uid,
        "kernel": call.kernel.name,
        "module": call.kernel.module or None,
        "iteration": call.kernel.iteration.value,
        "halo_depth": spell(call.halo_depth) if call.halo_depth else None,
        "place": _place_json(call.span),
        "args": [
            {
                "datum": actual.datum,
                "value": described.grid_property or spell(actual.value),
                "component": actual.component,
                "kind": described.kind.value,
                "access": described.access.value,
                "spaces": list(described.spaces),
                "mesh": described.mesh.value if described.mesh else None,
                "stencil": described.stencil.value if described.stencil else None,
                "extent": spell(actual.extent) if actual.extent else None,
                "mask": described.is_mask,
            }
            for described, actual in zip(call.kernel.args, call.args, strict=True)
        ],
    }


def _exchange_json(item: sch.HaloExchange) -> Json:
    return {
        "statement": "halo exchange",
        "uid": item.uid,
        "datum": item.datum,
        "component": item.component,
        "depth": _depth_json(item.depth),
        "guarded": item.guarded,
        "annexed_only": item.annexed_only,
        "phase": item.phase.value,
        "pinned": item.pinned,
        "fetched": item.fetched,
        "sent": item.sent,
        "joint": list(item.joint),
        "reasons": [
            {
                "reader": reason.reader,
                "read": reason.read,
                "writer": reason.writer or None,
                "written": reason.written,
            }
            for reason in item.reasons
        ],
    }


def _levels_json(item: sch.MarkHalo | sch.FillHalo) -> Json:
    """Return the JSON value of a statement that sets halo flags or halo values."""
    about = {"uid": item.uid, "datum": item.datum, "component": item.component}
    if isinstance(item, sch.MarkHalo):
        state = {"dirty": item.dirty, "clean": _depth_json(item.clean)}
        return {"statement": "mark halo", **about, **state}
    levels = {"beyond": _depth_json(item.beyond), "depth": _depth_json(item.depth)}
    reader = item.reader or None
    return {"statement": "fill halo", **about, "annexed": item.annexed, **levels, "reader": reader}


def _transfer_json(item: EnterData | Update | Wait | TaskWait) -> Json:
    match item:
        case EnterData(uid, data, queue):
            return {
                "statement": "enter data",
                "uid": uid,
                "data": list(data),
                "queue": _queue_json(queue),
            }
        case Update():
            return {
                "statement": "update",
                "uid": item.uid,
                "datum": item.datum,
                "component": item.component,
                "to": item.to.value,
                "guarded": item.guarded,
                "pinned": item.pinned,
                "reader": item.reader or None,
                "writer": item.writer or None,
            }
        case Wait(uid, queue):
            return {"statement": "wait", "uid": uid, "queue": _queue_json(queue)}
        case TaskWait(uid):
            return {"statement": "wait for tasks", "uid": uid}


def _queue_json(queue: int) -> int | None:
    return queue if queue >= 0 else None


def _peel_json(peel: Peel | None) -> Json | None:
    if peel is None:
        return None
    margins = peel.interior.margins
    return {
        "section": peel.section.value,
        "of": peel.of,
        "depth": _depth_json(peel.interior.depth),
        "margins": margins
        and {
            "west": margins.west,
            "east": margins.east,
            "south": margins.south,
            "north": margins.north,
        },
    }


def _depth_json(depth: Depth) -> Json:
    return {
        "text": describe_depth(depth),
        "terms": [
            {"whole": term.whole, "names": list(term.names), "constant": term.constant}
            for term in depth.terms
        ],
    }


def _place_json(span: Span | None) -> Json | None:
    if span is None:
        return None
    return {"file": span.source.name, "line": span.line, "column": span.column}
