"""Reports on a compilation: schedules, dependences and explanations."""

from __future__ import annotations

from typing import Any

from psyclone_storage.analysis.schedules.dependence import dag_dot
from psyclone_storage.coherence import explain
from psyclone_storage.coherence.explain import explain_storage_access, explain_transfers
from psyclone_storage.ir import view
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.pipeline.compile import Build
from psyclone_storage.transform.catalogue import explain_refusals
from psyclone_storage.transform.halos import without_halos


def schedules_text(build: Build, *, colour: bool = False) -> str:
    """Return all schedules as readable text."""
    texts = (view.schedule_text(item.schedule, colour=colour) for item in build.program.invokes)
    return "\n".join(texts)


def schedule_objects(build: Build) -> tuple[dict[str, Any], ...]:
    """Return all schedules as JSON values (docs/reference/schedule-json.md)."""
    return tuple(view.schedule_json(item.schedule) for item in build.program.invokes)


def kernel_files(build: Build) -> dict[str, str]:
    """Return the file of each kernel by name; '' for a built-in."""
    calls = (call for item in build.program.invokes for call in kernel_calls(item.schedule))
    kernels = {call.kernel.name: call.kernel for call in calls}
    return {name: one.span.source.name if one.span else "" for name, one in kernels.items()}


def dag_text(build: Build) -> str:
    """Return the dependences of all schedules in the Graphviz language."""
    return "\n".join(dag_dot(item.schedule) for item in build.program.invokes)


def explanation(build: Build) -> str:
    """Return the reasons for all exchanges, tests and transfers, and the rejected steps.

    It also includes the mesh requirements of tiled colouring, specialised stencil sizes and
    single-level loops, and the inlined procedures of kernels.
    """
    halos = [
        explain.explain_halos(without_halos(item.schedule), build.rules)
        for item in build.program.invokes
    ]
    steps = [
        f"{name}, steps that were refused\n"
        + "".join(f"  {line}\n" for line in explain_refusals(refusals))
        for name, refusals in build.refused
    ]
    messages = filter(
        None, (explain.explain_messages(item.schedule) for item in build.program.invokes)
    )
    tiles = filter(None, (explain.explain_tiles(item.schedule) for item in build.program.invokes))
    columns = filter(
        None, (explain.explain_columns(item.schedule) for item in build.program.invokes)
    )
    levels = filter(None, (explain.explain_levels(item.schedule) for item in build.program.invokes))
    calls = filter(None, (explain.explain_calls(item.schedule) for item in build.program.invokes))
    transfers = filter(None, (explain_transfers(item.schedule) for item in build.program.invokes))
    held = filter(
        None, (explain_storage_access(item.name, item.held) for item in build.program.invokes)
    )
    return "\n".join(
        (*halos, *messages, *tiles, *columns, *levels, *calls, *transfers, *held, *steps)
    )
