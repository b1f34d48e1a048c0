"""What can be said about a compilation besides the code."""

from __future__ import annotations

from typing import Any

from psyclone_storage.analysis.dependence import dag_dot
from psyclone_storage.analysis.explain import explain_schedule
from psyclone_storage.domain.lfric.domain import LfricDomain
from psyclone_storage.driver.compile import Build
from psyclone_storage.ir.view import schedule_as_dict, view_schedule


def schedule_text(build: Build) -> str:
    """Return every schedule as readable text."""
    return "\n".join(view_schedule(invoke.schedule) for invoke in build.program.invokes)


def schedule_objects(build: Build) -> tuple[dict[str, Any], ...]:
    """Return every schedule as values that JSON can hold (docs/reference/schedule-json.md)."""
    return tuple(schedule_as_dict(invoke.schedule) for invoke in build.program.invokes)


def dag_text(build: Build) -> str:
    """Return the dependences of every schedule in the language of Graphviz."""
    return "\n".join(dag_dot(invoke.schedule) for invoke in build.program.invokes)


def explanation(build: Build) -> str:
    """Return why each exchange and each run-time test of every schedule is there."""
    rules = LfricDomain().rules
    return "\n".join(explain_schedule(invoke.schedule, rules) for invoke in build.program.invokes)
