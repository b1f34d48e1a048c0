"""Reports on a compilation: schedules and dependences."""

from __future__ import annotations

from typing import Any

from psyclone_storage.analysis.schedules.dependence import dag_dot
from psyclone_storage.ir import view
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.pipeline.compile import Build


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
