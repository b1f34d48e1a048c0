"""PSyclone's names for what is not here: extraction, checks of data, OpenCL, code without an API.

A script can import and make all of them, for many do so and use them on some machines only. They
are refused where they are applied. A name that another module of words supports is that one's.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.scripting.transformation import Transformation, Unsupported

NAMES: Mapping[type[Transformation], str] = {
    Unsupported: """
        DebugChecksumTrans DynamoExtractRegionTrans ExtractRegionTrans ExtractTrans
        GOceanExtractRegionTrans GOceanExtractTrans LFRicExtractTrans ReadOnlyVerifyTrans
        ValueRangeCheckTrans

        GOOpenCLTrans OCLTrans

        ACCDataTrans ACCEnterDataTrans ACCKernelsTrans ACCLoopTrans ACCParallelTrans
        ACCRoutineTrans ACCUpdateTrans

        MaximalOMPParallelRegionTrans OMPCPURoutineTrans OMPCriticalTrans
        OMPDeclareTargetTrans OMPMasterTrans OMPMinimiseSyncTrans OMPParallelTrans OMPSingleTrans
        OMPTargetTrans OMPTaskTrans OMPTaskloopTrans OMPTaskwaitTrans

        AllArrayAccess2LoopTrans ArrayAccess2LoopTrans DataNodeToTempTrans
        FoldConditionalReturnExpressionsTrans HoistLocalArraysTrans HoistLoopBoundExprTrans
        HoistTrans IncreaseRankLoopArraysTrans InlineTrans
        ReplaceInductionVariablesTrans ReplaceReferenceByLiteralTrans ScalarisationTrans
    """,
}
"""What PSyclone calls each of them, in both of its generations."""
