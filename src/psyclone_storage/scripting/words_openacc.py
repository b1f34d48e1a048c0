"""PSyclone's names for what OpenACC does."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.scripting.transformation import Transformation, Unsupported

NAMES: Mapping[type[Transformation], str] = {
    Unsupported: """
        ACCDataTrans ACCEnterDataTrans ACCKernelsTrans ACCLoopTrans ACCParallelTrans
        ACCUpdateTrans
    """,
}
"""What PSyclone calls each of them, in both of its generations."""
