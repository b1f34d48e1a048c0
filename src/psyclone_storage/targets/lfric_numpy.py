"""Target: LFRic in Python with kernels in NumPy."""

from __future__ import annotations

from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.lfric_meshes import meshes
from psyclone_storage.targets.numpy.columns import emit_column_module
from psyclone_storage.targets.python import python, resolve_without_translation
from psyclone_storage.targets.spec import Target

TARGET = Target(
    python(LFRIC_WORDS, emit_column_module, resolve=resolve_without_translation), meshes
)
