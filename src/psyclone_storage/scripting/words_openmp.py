"""PSyclone's names for what OpenMP does."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.scripting.transformation import Options, Transformation, Unsupported, ends
from psyclone_storage.scripting.views import Place
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.step import Step


class ParallelLoop(Transformation):
    """Run a loop under `omp parallel do`."""

    def __init__(self, omp_schedule: str = "static") -> None:
        self.omp_schedule = omp_schedule

    def _step(self, nodes: tuple[Place, ...], options: Options) -> Step:
        return ParallelDo(nodes[0].uid, self.omp_schedule)


class WorkshareLoop(Transformation):
    """Run a loop under `omp do`; `reprod` asks for reproducible sums."""

    options: Mapping[str, object] = {"reprod": False}

    def __init__(self, omp_schedule: str = "static") -> None:
        self.omp_schedule = omp_schedule

    def _step(self, nodes: tuple[Place, ...], options: Options) -> Step:
        return ShareLoop(nodes[0].uid, self.omp_schedule, reproducible=bool(options["reprod"]))


class ParallelRegion(Transformation):
    """Put one or several neighbouring nodes under `omp parallel`."""

    def _step(self, nodes: tuple[Place, ...], options: Options) -> Step:
        return OpenParallelRegion(*ends(nodes))


NAMES: Mapping[type[Transformation], str] = {
    ParallelLoop: """
        OMPParallelLoopTrans DynamoOMPParallelLoopTrans GOceanOMPParallelLoopTrans
        LFRicOMPParallelLoopTrans
    """,
    WorkshareLoop: """
        OMPLoopTrans DynamoOMPLoopTrans Dynamo0p3OMPLoopTrans GOceanOMPLoopTrans LFRicOMPLoopTrans
    """,
    ParallelRegion: "OMPParallelTrans",
    Unsupported: """
        OMPMasterTrans OMPSingleTrans OMPTargetTrans OMPTaskTrans
        OMPTaskloopTrans OMPTaskwaitTrans
    """,
}
"""What PSyclone calls each of them, in both of its generations."""
