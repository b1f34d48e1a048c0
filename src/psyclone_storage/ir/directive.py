"""The directives of regions, their meanings and options.

Two families: OpenMP shares work between the threads of a team, OpenACC (and OpenMP's `target`)
sends it to a device with a memory of its own. How a compiler is told is for a printer to know:
nothing here is spelt but the name by which people and scripts know a directive.
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
    OMP_TASK = "omp task"
    OMP_TASKLOOP = "omp taskloop"
    OMP_TARGET = "omp target"
    OMP_TEAMS_DO = "omp teams distribute parallel do"
    ACC_PARALLEL = "acc parallel"
    ACC_LOOP = "acc loop"
    ACC_KERNELS = "acc kernels"
    ACC_DATA = "acc data"

    def __init__(self, word: str) -> None:
        self.opens_threads = word in ("omp parallel", "omp parallel do")
        """Whether a team of threads starts at its head and ends at its foot."""
        self.shares_work = word in _SHARING
        """Whether the iterations of its loop, the only one it holds, are dealt out."""
        self.is_of_one_thread = word in ("omp single", "omp master")
        """Whether one thread of a team does all that is inside."""
        self.makes_tasks = word in ("omp task", "omp taskloop")
        """Whether what is inside is left to any thread of a team, and maybe to later."""
        self.holds_data = word == "acc data"
        """Whether it keeps data somewhere, for regions inside of it to run there."""
        self.is_openacc = word.startswith("acc ")
        """Whether it belongs to OpenACC."""

    @property
    def surroundings(self) -> frozenset[Directive]:
        """The directives of which one has to enclose it; empty if none is needed."""
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
    Directive.ACC_LOOP: frozenset({Directive.ACC_PARALLEL, Directive.ACC_KERNELS}),
}


class DeviceLevel(Enum):
    """Level of parallelism of a device, from one lane to the whole device."""

    SEQ = "seq"
    VECTOR = "vector"
    WORKER = "worker"
    GANG = "gang"

    @property
    def rank(self) -> int:
        """The place of the level, from the inside to the outside."""
        return tuple(DeviceLevel).index(self)


@dataclass(frozen=True, slots=True)
class AccRoutineDirective:
    """A procedure may be called by OpenACC code on a device; one call may use the `level`."""

    level: DeviceLevel


@dataclass(frozen=True, slots=True)
class DeclareTargetDirective:
    """A procedure may be called by OpenMP code on a device."""


@dataclass(frozen=True, slots=True)
class AccLoopDirective:
    """The next loop is shared by `levels`; without any, the compiler chooses them.

    An author may give more clauses than are recorded here. `reductions` are operators and names.
    """

    levels: tuple[DeviceLevel, ...]
    private: tuple[str, ...] = ()
    reductions: tuple[tuple[str, str], ...] = ()


KernelDirective = AccRoutineDirective | DeclareTargetDirective | AccLoopDirective
"""What a directive in a kernel says that steps ask for, or give."""


class Sharing(Enum):
    """By what rule iterations are dealt out to the threads of a team."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    GUIDED = "guided"
    AUTO = "auto"
    RUNTIME = "runtime"


@dataclass(frozen=True, slots=True)
class ThreadSchedule:
    """Schedule of iterations: a rule, `chunk` at a time, 0 if the rule decides."""

    rule: Sharing
    chunk: int = 0

    @property
    def text(self) -> str:
        """The schedule as a recipe asks for it: `dynamic,4`."""
        return f"{self.rule.value},{self.chunk}" if self.chunk else self.rule.value


@dataclass(frozen=True, slots=True)
class RegionOptions:
    """Options of a directive region from a script; clauses derived from its body are not here.

    `collapse` is the number of loops whose iterations are dealt out as one. `gangs` and `vectors`
    are the levels of a device that share a loop, which is `sequential` if none may, and
    `independent` where the user vouches for it. With `present` the data must be on the device.
    Tasks have `grain` iterations each, or there are `tasks` of them. With `nowait` no thread waits
    at the end of the region, with `nogroup` none for its tasks. `reproducible` asks for reductions
    that are summed in the order of the threads, so that the same number of threads gives the same
    bits. With `lanes` the iterations of a thread are shared by the lanes of vectors. `queue`, 0 or
    more, is where a region for a device is put while the host goes on. With `sums` the terms of
    sums and products of real numbers may be rounded in another order.
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
    sums: bool = False


NO_OPTIONS = RegionOptions()
