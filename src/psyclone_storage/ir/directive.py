"""Directives of regions, with their meanings and options.

OpenMP directives distribute work among the threads of a team. OpenACC directives and OpenMP's
`target` run it on a device with separate memory. Printers define the syntax of each language; this
module only contains the names that users and scripts see.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass

_SHARING = (
    "omp do",
    "omp parallel do",
    "omp simd",
    "omp taskloop",
    "omp teams distribute parallel do",
    "omp teams loop",
    "omp loop",
    "acc loop",
)


class Directive(Enum):
    """Directive of a region, by the name that users and scripts know."""

    OMP_PARALLEL = "omp parallel"
    OMP_DO = "omp do"
    OMP_PARALLEL_DO = "omp parallel do"
    OMP_SIMD = "omp simd"
    OMP_SINGLE = "omp single"
    OMP_MASTER = "omp master"
    OMP_CRITICAL = "omp critical"
    OMP_TASK = "omp task"
    OMP_TASKLOOP = "omp taskloop"
    OMP_TARGET = "omp target"
    OMP_TEAMS_DO = "omp teams distribute parallel do"
    OMP_TEAMS_LOOP = "omp teams loop"
    OMP_LOOP = "omp loop"
    ACC_PARALLEL = "acc parallel"
    ACC_LOOP = "acc loop"
    ACC_KERNELS = "acc kernels"
    ACC_DATA = "acc data"
    ACC_UPDATE = "acc update"

    def __init__(self, word: str) -> None:
        self.opens_threads = word in ("omp parallel", "omp parallel do")
        """Whether a team of threads starts at its head and ends at its foot."""
        self.shares_work = word in _SHARING
        """Whether the iterations of its loop, the only one it holds, are dealt out."""
        self.is_of_one_thread = word in ("omp single", "omp master")
        """Whether one thread of a team does all that is inside."""
        self.makes_tasks = word in ("omp task", "omp taskloop")
        """Whether what is inside is left to any thread of a team, and maybe to later."""
        self.makes_teams = word.startswith("omp teams")
        """Whether a league of teams runs its loop; such a block is all that its target holds."""
        self.holds_data = word == "acc data"
        """Whether it keeps data somewhere, for regions inside of it to run there."""
        self.is_openacc = word.startswith("acc ")
        """Whether it belongs to OpenACC."""

    @property
    def surroundings(self) -> frozenset[Directive]:
        """The directives of which one must enclose this directive; empty if none is required."""
        return _SURROUNDINGS.get(self, frozenset())


_TEAM = frozenset({Directive.OMP_PARALLEL})
_ONE_THREAD = frozenset({Directive.OMP_SINGLE, Directive.OMP_MASTER})
_TARGET = frozenset({Directive.OMP_TARGET})
_SURROUNDINGS = {
    Directive.OMP_DO: _TEAM,
    Directive.OMP_SINGLE: _TEAM,
    Directive.OMP_MASTER: _TEAM,
    Directive.OMP_TASK: _ONE_THREAD,
    Directive.OMP_TASKLOOP: _ONE_THREAD,
    Directive.OMP_TEAMS_DO: _TARGET,
    Directive.OMP_TEAMS_LOOP: _TARGET,
    Directive.OMP_LOOP: _TARGET | _TEAM,
    Directive.ACC_LOOP: frozenset({Directive.ACC_PARALLEL, Directive.ACC_KERNELS}),
    Directive.ACC_UPDATE: frozenset({Directive.ACC_DATA}),
}


class DeviceLevel(Enum):
    """Level of parallelism on a device, from a single thread (`seq`) to gangs."""

    SEQ = "seq"
    VECTOR = "vector"
    WORKER = "worker"
    GANG = "gang"

    @property
    def rank(self) -> int:
        """The nesting level: 0 for `seq`, the innermost one."""
        return tuple(DeviceLevel).index(self)


@dataclass(frozen=True, slots=True)
class AccRoutineDirective:
    """A directive that makes a procedure callable in OpenACC device code (`acc routine`).

    One call may use parallelism up to `level`.
    """

    level: DeviceLevel


@dataclass(frozen=True, slots=True)
class DeclareTargetDirective:
    """A directive that makes a procedure callable in OpenMP device code (`declare target`)."""


@dataclass(frozen=True, slots=True)
class AccLoopDirective:
    """An OpenACC directive that distributes the next loop over `levels` (`acc loop`).

    Without levels, the compiler chooses them. `reductions` are pairs of operator and variable.
    Other clauses of an existing directive are not recorded.
    """

    levels: tuple[DeviceLevel, ...]
    private: tuple[str, ...] = ()
    reductions: tuple[tuple[str, str], ...] = ()


KernelDirective = AccRoutineDirective | DeclareTargetDirective | AccLoopDirective
"""What a directive in a kernel says that steps ask for, or give."""


class Sharing(Enum):
    """Policy that distributes loop iterations among threads."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    GUIDED = "guided"
    AUTO = "auto"
    RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class ThreadSchedule:
    """OpenMP loop schedule: a policy and the chunk size, 0 for the default size."""

    rule: Sharing
    chunk: int = 0

    @property
    def text(self) -> str:
        """The schedule in the syntax of recipes: `dynamic,4`."""
        return f"{self.rule.value},{self.chunk}" if self.chunk else self.rule.value


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """Options that a script sets for a directive region.

    Clauses that follow from the statements of the region are not included.

    - `collapse`: number of nested loops whose iterations are distributed together.
    - `gangs`, `vectors`: device levels that share the loop.
    - `sequential`: no level shares the loop.
    - `independent`: the user asserts that the iterations are independent.
    - `present`: the data must already be on the device.
    - `grain`, `tasks`: iterations of one task, or the number of tasks.
    - `nowait`: threads do not wait at the end of the region.
    - `nogroup`: the region does not wait for its tasks.
    - `reproducible`: combine partial reductions in thread order, so that runs with the same number
      of threads give identical results.
    - `lanes`: the iterations of a thread use vector (SIMD) lanes.
    - `queue`: the device queue (0 or more) to which the region is submitted asynchronously.
    - `unstructured`: data enter a device and leave it by directives of their own.
    - `sums`: sums and products of reals may be reassociated.
    """

    schedule: ThreadSchedule | None = None
    collapse: int = 1
    sequential: bool = False
    gangs: bool = False
    vectors: bool = False
    independent: bool = False
    grain: int = 0
    tasks: int = 0
    nogroup: bool = False
    nowait: bool = False
    present: bool = False
    reproducible: bool = False
    lanes: bool = False
    queue: int = -1
    unstructured: bool = False
    sums: bool = False


NO_OPTIONS = RegionOptions()
