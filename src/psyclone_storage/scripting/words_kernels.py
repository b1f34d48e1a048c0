"""PSyclone's names for changes of kernels, of their bodies and of how they are called."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.scripting.transformation import Transformation, Unsupported

NAMES: Mapping[type[Transformation], str] = {
    Unsupported: """
        Dynamo0p3KernelConstTrans InlineTrans KernelModuleInlineTrans LFRicKernelConstTrans
        Matmul2CodeTrans Reference2ArrayRangeTrans
    """,
}
"""What PSyclone calls each of them, in both of its generations."""
