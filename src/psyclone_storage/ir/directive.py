"""The directives that a construct can stand under, and what each of them means.

Two families: OpenMP shares work between the threads of a team, OpenACC (and OpenMP's `target`)
sends it to a device with a memory of its own.
"""

from __future__ import annotations

from enum import Enum


class Directive(Enum):
    """The instruction to a compiler at the head of a construct, as it is written."""

    OMP_PARALLEL = "omp parallel"
    OMP_DO = "omp do"
    OMP_PARALLEL_DO = "omp parallel do"
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

    @property
    def opens_threads(self) -> bool:
        """Whether a team of threads starts at its head and ends at its foot."""
        return self in (Directive.OMP_PARALLEL, Directive.OMP_PARALLEL_DO)

    @property
    def shares_work(self) -> bool:
        """Whether the iterations of its loop, the only one it holds, are dealt out."""
        return self in _SHARING

    @property
    def is_of_one_thread(self) -> bool:
        """Whether one thread of a team does all that is inside."""
        return self in (Directive.OMP_SINGLE, Directive.OMP_MASTER)

    @property
    def makes_tasks(self) -> bool:
        """Whether what is inside is left to any thread of a team, and maybe to later."""
        return self in (Directive.OMP_TASK, Directive.OMP_TASKLOOP)

    @property
    def on_device(self) -> bool:
        """Whether what is inside runs on a device."""
        return self in (Directive.ACC_PARALLEL, Directive.ACC_KERNELS, Directive.OMP_TARGET)

    @property
    def is_openacc(self) -> bool:
        """Whether it belongs to OpenACC."""
        return self.value.startswith("acc ")

    @property
    def surroundings(self) -> frozenset[Directive]:
        """The directives of which one has to be around it; none, if it stands for itself."""
        return _SURROUNDINGS.get(self, frozenset())


_SHARING = frozenset({
    Directive.OMP_DO,
    Directive.OMP_PARALLEL_DO,
    Directive.OMP_TASKLOOP,
    Directive.OMP_TEAMS_DO,
    Directive.ACC_LOOP,
})  # fmt: skip

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
