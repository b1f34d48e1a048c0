"""Differences between Python programs for grids and for meshes with C or CUDA code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.gocean import SINGLE, WORKING_PRECISION
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

    - `module`: the runtime module. `words`: its functions, imported if called.
    - `reserved`: names that arguments must not have.
    - `kinds`: sizes in bytes of kinds. `tables`: names of the tables that a set-up returns.
    - `checks`: statements at the start of a set-up. `intent_of`: intent of data in C.
    - `share`: distribution of statements over device threads. `launch`: launch arguments in Python.
    - `typed`: adds variables for all types that kernels receive. `types`: whether Python states the
      types of data.
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
    """Return the code of one thread for loops over columns; a single thread does reductions."""
    names = NameTable(one.name for one in (*routine.dummies, *routine.variables))
    if any(reduced_names(assigned_scalars(lines), routine)):
        lines = without_directives(lines)
    return in_threads(lines, names, _most_threads(lines, routine))


def _most_threads(lines: tuple[Line, ...], routine: GeneratedRoutine) -> int:
    """Return the maximum number of threads, which is less if each has an exact sum."""
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
    (grids.WITHIN, grids.EXCHANGE, grids.MODULE_VALUE, *grids.REDUCING),
    grids.RESERVED | {grids.WITHIN},
    {WORKING_PRECISION: 8, str(SINGLE.kind): 4},
    ("arrays", "numbers", "counts"),
    reach_checks,
    lambda item: "inout" if item.written else "in",
    points_in_threads,
    with_scalar_types,
    _point_launch,
)
MESHES = ProgramApi(
    meshes.MODULE,
    (
        meshes.EXACT_SUM,
        meshes.SCALAR_ARRAY,
        meshes.CHECK_VECTOR,
        meshes.EXCHANGE,
        meshes.MODULE_VALUE,
    ),
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
