"""Target: LFRic in Python with loops and kernels in C; Fortran kernels stay Fortran."""

from __future__ import annotations

from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.lfric_meshes import meshes
from psyclone_storage.targets.native.printer import emit_meshes_c
from psyclone_storage.targets.python import heads_of_invokes, python, resolve_without_translation
from psyclone_storage.targets.spec import Target

TARGET = Target(
    python(
        LFRIC_WORDS,
        emit_native=emit_meshes_c,
        heads=heads_of_invokes,
        resolve=resolve_without_translation,
    ),
    meshes,
)
