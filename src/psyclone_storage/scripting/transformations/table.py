"""Table of transformations with the names of PSyclone 1.8 and the current version.

The other modules of this folder define a class for each supported transformation, and `base`
defines the base class. Unsupported transformations can be imported and created, because many
scripts use them only on some machines. They are rejected when applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations import (
    kernel_bodies,
    kernel_modules,
    loops,
    openacc,
    openmp,
    profiling,
)
from psyclone_storage.scripting.transformations.base import Transformation, Unsupported

TABLE: tuple[tuple[type[Transformation], str], ...] = (
    (loops.Colour, "ColourTrans Dynamo0p3ColourTrans LFRicColourTrans"),
    (
        loops.RedundantComputation,
        "Dynamo0p3RedundantComputationTrans LFRicRedundantComputationTrans",
    ),
    (loops.GeneralLoopFuse, "LoopFuseTrans"),
    (loops.LoopFuse, "DynamoLoopFuseTrans GOceanLoopFuseTrans LFRicLoopFuseTrans"),
    (loops.LoopSwap, "LoopSwapTrans GOLoopSwapTrans"),
    (loops.ChunkLoop, "ChunkLoopTrans"),
    (loops.LoopTiling2D, "LoopTiling2DTrans"),
    (loops.LoopTiling, "LoopTilingTrans"),
    (loops.ConstLoopBounds, "GOConstLoopBoundsTrans"),
    (loops.Move, "MoveTrans"),
    (loops.AsyncHaloExchange, "Dynamo0p3AsyncHaloExchangeTrans LFRicAsyncHaloExchangeTrans"),
    (
        openmp.ParallelLoop,
        """
            OMPParallelLoopTrans DynamoOMPParallelLoopTrans GOceanOMPParallelLoopTrans
            LFRicOMPParallelLoopTrans
        """,
    ),
    (
        openmp.WorkshareLoop,
        """
            OMPLoopTrans DynamoOMPLoopTrans Dynamo0p3OMPLoopTrans GOceanOMPLoopTrans
            LFRicOMPLoopTrans
        """,
    ),
    (openmp.ParallelRegion, "OMPParallelTrans"),
    (openmp.SingleRegion, "OMPSingleTrans"),
    (openmp.MasterRegion, "OMPMasterTrans"),
    (openmp.TaskLoops, "OMPTaskloopTrans"),
    (openmp.Task, "OMPTaskTrans"),
    (openmp.TaskWaits, "OMPTaskwaitTrans"),
    (openmp.TargetRegion, "OMPTargetTrans"),
    (openacc.AccLoops, "ACCLoopTrans"),
    (openacc.AccParallelRegion, "ACCParallelTrans"),
    (openacc.AccKernelsRegion, "ACCKernelsTrans"),
    (openacc.AccDataRegion, "ACCDataTrans"),
    (openacc.EnterDataOfSchedule, "ACCEnterDataTrans"),
    (openacc.UpdateOfSchedule, "ACCUpdateTrans"),
    (kernel_bodies.writes_out("abs"), "Abs2CodeTrans"),
    (kernel_bodies.writes_out("sign"), "Sign2CodeTrans"),
    (kernel_bodies.writes_out("min"), "Min2CodeTrans"),
    (kernel_bodies.writes_out("max"), "Max2CodeTrans"),
    (kernel_bodies.writes_out("dot_product"), "DotProduct2CodeTrans"),
    (kernel_bodies.writes_out("matmul"), "Matmul2CodeTrans"),
    (kernel_bodies.writes_out("sum"), "Sum2CodeTrans Sum2LoopTrans"),
    (kernel_bodies.writes_out("product"), "Product2CodeTrans Product2LoopTrans"),
    (kernel_bodies.writes_out("maxval"), "Maxval2CodeTrans Maxval2LoopTrans"),
    (kernel_bodies.writes_out("minval"), "Minval2CodeTrans Minval2LoopTrans"),
    (
        kernel_bodies.AssignInLoops,
        "ArrayAssignment2LoopsTrans NemoExplicitLoopTrans NemoAllArrayRange2LoopTrans",
    ),
    (kernel_bodies.WriteRanges, "Reference2ArrayRangeTrans"),
    (kernel_bodies.IncreaseRankOfArrays, "IncreaseRankLoopArraysTrans"),
    (kernel_bodies.UseScalars, "ScalarisationTrans"),
    (kernel_bodies.KeepLocalArrays, "HoistLocalArraysTrans"),
    (kernel_bodies.ComputeInVariable, "DataNodeToTempTrans"),
    (kernel_bodies.Inline, "InlineTrans"),
    (kernel_bodies.MoveBounds, "GOMoveIterationBoundariesInsideKernelTrans"),
    (kernel_bodies.Hoist, "HoistTrans"),
    (kernel_bodies.HoistLoopBounds, "HoistLoopBoundExprTrans"),
    (kernel_modules.InlineModule, "KernelModuleInlineTrans"),
    (kernel_modules.PassImports, "KernelImportsToArguments KernelGlobalsToArguments"),
    (kernel_modules.AccRoutine, "ACCRoutineTrans"),
    (kernel_modules.DeclareForTarget, "OMPDeclareTargetTrans"),
    (kernel_modules.KernelConstants, "Dynamo0p3KernelConstTrans LFRicKernelConstTrans"),
    (profiling.Profile, "ProfileTrans ProfileRegionTrans"),
    # Extraction and checks of data.
    (
        Unsupported,
        """
            DebugChecksumTrans DynamoExtractRegionTrans ExtractRegionTrans ExtractTrans
            GOceanExtractRegionTrans GOceanExtractTrans LFRicExtractTrans ReadOnlyVerifyTrans
            ValueRangeCheckTrans
        """,
    ),
    (Unsupported, "GOOpenCLTrans OCLTrans"),
    (openmp.CriticalRegion, "OMPCriticalTrans"),
    (openmp.MaximalParallelRegions, "MaximalOMPParallelRegionTrans"),
    (openmp.MinimalBarriers, "OMPMinimiseSyncTrans"),
    (profiling.MaximalRegions, "MaximalRegionTrans"),
    (Unsupported, "OMPCPURoutineTrans"),
    # Code without an API.
    (
        Unsupported,
        """
            AllArrayAccess2LoopTrans ArrayAccess2LoopTrans
            FoldConditionalReturnExpressionsTrans
            ReplaceInductionVariablesTrans
            ReplaceReferenceByLiteralTrans
        """,
    ),
)
"""What each of ours is called by PSyclone, in both of its generations."""


def _named() -> Iterator[tuple[str, type[Transformation]]]:
    for kind, names in TABLE:
        for name in names.split():
            yield name, type(name, (kind,), {"__doc__": kind.__doc__})


TRANSFORMATIONS: Mapping[str, type[Transformation]] = dict(_named())
"""Transformations under PSyclone's names, of both generations."""


class TransInfo:
    """All transformations by number and by name, for scripts of 2019."""

    @property
    def num_trans(self) -> int:
        """Number of transformations."""
        return len(TRANSFORMATIONS)

    @property
    def list(self) -> str:
        """Table of all transformations with one line each."""
        lines = [
            f"{number}: {name}: {' '.join((kind.__doc__ or '').split())}"
            for number, (name, kind) in enumerate(TRANSFORMATIONS.items(), start=1)
        ]
        return f"There are {len(lines)} transformations available:\n" + "\n".join(lines)

    def get_trans_num(self, number: int) -> Transformation:
        """Return a new transformation by its number, counted from 1.

        Raises:
            TransformationError: `T015`, there is no such number.
        """
        if not 0 < number <= len(TRANSFORMATIONS):
            message = f"There is no transformation {number}; there are {len(TRANSFORMATIONS)}."
            raise TransformationError(Diagnostic("T015", message))
        return tuple(TRANSFORMATIONS.values())[number - 1]()

    def get_trans_name(self, name: str) -> Transformation:
        """Return a new transformation by its name.

        Raises:
            TransformationError: `T015`, there is no such name.
        """
        if name not in TRANSFORMATIONS:
            message = f"There is no transformation '{name}'."
            hint = did_you_mean(name, TRANSFORMATIONS)
            raise TransformationError(Diagnostic("T015", message, hint=hint))
        return TRANSFORMATIONS[name]()
