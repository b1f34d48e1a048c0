"""The words of GOcean for programs in Python: `from psyclone_storage.gocean import *`.

They are those of the API's metadata, from the table that kernels in Fortran are read with. Any
other word that begins with `GO_` can be imported by name: properties of a grid are settings.
"""

from __future__ import annotations

from psyclone_storage.base.results import Result
from psyclone_storage.embedded.invoke import complete_invokes, configure, invoke
from psyclone_storage.embedded.kernel import (
    BuiltIn,
    FortranKernel,
    PythonKernel,
    fortran_kernel,
    kernel,
)
from psyclone_storage.embedded.words import (
    Annotation,
    ColumnWord,
    MetadataWord,
    field,
    scalar,
)
from psyclone_storage.infrastructures import gocean_words as _table
from psyclone_storage.infrastructures.gocean import PROPERTIES

grid_property = Annotation("grid_property")
GO_STENCIL = MetadataWord("GO_STENCIL")

_BODY = {word: ColumnWord(word) for word in _table.RANGES}
_WORDS = {word.upper(): MetadataWord(word.upper()) for word in (*_table.WORDS, *PROPERTIES)}
_BUILTINS = {name: BuiltIn(name) for name in _table.REDUCTIONS}

__all__ = [  # noqa: PLE0604 - the words are those of the table
    "GO_STENCIL",
    "FortranKernel",
    "PythonKernel",
    "Result",
    "complete_invokes",
    "configure",
    "field",
    "fortran_kernel",
    "grid_property",
    "invoke",
    "kernel",
    "scalar",
    *_WORDS,
    *_BODY,
    *_BUILTINS,
]


def __getattr__(name: str) -> MetadataWord | ColumnWord | BuiltIn:
    """Return a word of metadata or of bodies, or a built-in."""
    for table in (_WORDS, _BODY, _BUILTINS):
        if name in table:
            return table[name]
    if name.startswith("GO_") and name.isupper():
        return MetadataWord(name)
    raise AttributeError(f"module 'psyclone_storage.gocean' has no attribute '{name}'")
