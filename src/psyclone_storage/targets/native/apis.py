"""Differences between programs in Python for grids and for meshes of columns, where C computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.gocean import WORKING_PRECISION
from psyclone_storage.infrastructures.lfric import LOGICAL, SIZES
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.unit import GeneratedRoutine, HoldData, Line
from psyclone_storage.targets.gocean_python import abi as grids
from psyclone_storage.targets.gocean_python.halo_extent import reach_checks
from psyclone_storage.targets.gocean_python.scalar_types import with_scalar_types
from psyclone_storage.targets.lfric_python import abi as meshes
from psyclone_storage.targets.lfric_python.exact_sums import is_exact_sum
from psyclone_storage.targets.native.functions import ExportedFunction
from psyclone_storage.targets.native.parts import (
    ShareAmongThreads,
    assigned_scalars,
    names_in_order,
    reduced_names,
)
from psyclone_storage.targets.native.thread_mapping import (
    MOST_SUMMING,
    MOST_THREADS,
    SharedLoop,
    in_threads,
    points_in_threads,
    without_directives,
)

_OF_LOGICALS = 4


@dataclass(frozen=True, slots=True)
class ProgramApi:
    """Differences between programs for grids and for meshes.

    `module` is the runtime, from which a module imports `words` where it calls them; arguments have
    none of the `reserved` names. `kinds` are the bytes of kinds of numbers. A set-up returns its
    `tables` under these names, after `checks`. `intent_of` is that of data in C. In a routine
    that is `typed` each variable has the type that kernels take. On a device threads `share`
    statements, and Python states the arguments of a `launch`. With `types` it states those of data.
    """

    module: str
    words: tuple[str, ...]
    reserved: frozenset[str]
    kinds: Mapping[str, int]
    tables: tuple[str, str, str]
    checks: Callable[[HoldData, Mapping[str, Routine]], Iterable[str]]
    intent_of: Callable[[Held], str]
    share: ShareAmongThreads
    typed: Callable[[GeneratedRoutine, Mapping[str, Routine]], GeneratedRoutine]
    launch: Callable[[ExportedFunction], str]
    types: bool = False


def _share_loops(
    lines: tuple[Line, ...], routine: GeneratedRoutine, _codes: Mapping[str, Routine]
) -> tuple[tuple[Line, ...], SharedLoop | None]:
    """Return what one thread does of loops over columns: reductions are done by one alone."""
    names = NameTable(one.name for one in (*routine.dummies, *routine.variables))
    if any(reduced_names(assigned_scalars(lines), routine)):
        lines = without_directives(lines)
    return in_threads(lines, names, _most_threads(lines, routine))


def _most_threads(lines: tuple[Line, ...], routine: GeneratedRoutine) -> int:
    """Return how many threads there are at most: fewer where each has digits of an exact sum."""
    used = names_in_order(lines)
    is_summing = any(is_exact_sum(item) for item in routine.variables if item.key in used)
    return MOST_SUMMING if is_summing else MOST_THREADS


def _point_launch(function: ExportedFunction) -> str:
    if (launch := function.launch) is None:
        return ""
    return f", {launch.arrays}, {launch.counts}, {launch.reals}, {launch.alone}"


def _column_launch(function: ExportedFunction) -> str:
    if (launch := function.launch) is None:
        return ""
    result = "i" if function.results else ""
    places = f"{launch.arrays}, {launch.counts}, {launch.threads}, {launch.colours}"
    return f', "{result}", {places}, "{launch.results}"'


GRIDS = ProgramApi(
    grids.MODULE,
    (grids.WITHIN, grids.EXCHANGE),
    grids.RESERVED | {grids.WITHIN},
    {WORKING_PRECISION: 8},
    ("arrays", "numbers", "counts"),
    reach_checks,
    lambda item: "inout" if item.written else "in",
    points_in_threads,
    with_scalar_types,
    _point_launch,
)
MESHES = ProgramApi(
    meshes.MODULE,
    (meshes.EXACT_SUM, meshes.SCALAR_ARRAY, meshes.CHECK_VECTOR, meshes.EXCHANGE),
    frozenset(),
    {**SIZES, **dict.fromkeys([LOGICAL.kind or ""], _OF_LOGICALS)},
    ("tables", "reals", "counts"),
    lambda _held, _codes: (),
    lambda _item: "inout",
    _share_loops,
    lambda routine, _codes: routine,
    _column_launch,
    types=True,
)
