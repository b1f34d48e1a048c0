"""Profiling calls around a region, with one saved variable for each region."""

from __future__ import annotations

from psyclone_storage.infrastructures import profiling as abi
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.schedule import ProfileRegion
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Call, Declare, Line
from psyclone_storage.lowering.routine_builder import SetupSection, Workspace

_ATTRIBUTES = ("save", "target")
_NO_DATA = ex.whole(0)
"""How many variables are handed to a profiler: to one that times, none, before and after."""


def profiled(
    work: Workspace, module: str, region: ProfileRegion, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """Return `lines` between the start and stop calls for `region`.

    `module` is the generated module, the default module name of the region.
    """
    wished = Declare(abi.VARIABLE, abi.TYPE, _ATTRIBUTES)
    variable = work.variable(SetupSection.COUNTERS, ("profile", region.uid), wished)
    names = (_text(region.module or module), _text(region.name))
    start = Call(ex.Member(variable, abi.Caliper.START), (*names, _NO_DATA, _NO_DATA))
    return (start, *lines, Call(ex.Member(variable, abi.Caliper.STOP)))


def profiled_in_python(
    _work: Workspace, module: str, region: ProfileRegion, lines: tuple[Line, ...]
) -> tuple[Line, ...]:
    """Return `lines` between calls of the profiler of the Python runtime."""
    names = tuple(python_text(one) for one in (region.module or module, region.name))
    start, stop = (
        Call(ex.Member(ex.Name(abi.PYTHON_PROFILER), word), names) for word in ("start", "stop")
    )
    return (start, *lines, stop)


def _text(name: str) -> ex.Expr:
    doubled = name.replace("'", "''")
    return ex.Literal(f"'{doubled}'", Intrinsic.CHARACTER)


def python_text(name: str) -> ex.Expr:
    """Return a text as a literal of Python."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return ex.Literal(f'"{escaped}"', Intrinsic.CHARACTER)
