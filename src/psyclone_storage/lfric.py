"""The words of LFRic for programs in Python: `from psyclone_storage.lfric import *`.

They are those of the API's metadata, from the table that kernels in Fortran are read with, those
that bodies of kernels loop over, and the types of data. Wildcards of spaces beyond the usual
numbers can be imported by name.
"""

from __future__ import annotations

from psyclone_storage.base.results import Result
from psyclone_storage.embedded.invoke import configure
from psyclone_storage.embedded.invoke import invoke_columns as invoke
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
    TypeWord,
    field,
    scalar,
)
from psyclone_storage.infrastructures import lfric_words as _table

operator = Annotation("operator")
columnwise_operator = Annotation("columnwise_operator")
scalar_array = Annotation("scalar_array")
STENCIL = MetadataWord("STENCIL")
func_type = MetadataWord("func_type")
reference_element_data_type = MetadataWord("reference_element_data_type")
mesh_data_type = MetadataWord("mesh_data_type")

x_direction, y_direction = _table.DIRECTIONS.values()

_WORDS = {word.upper(): MetadataWord(word.upper()) for word in _table.WORDS}
_WORDS |= {word: MetadataWord(word) for word in _table.PROPERTIES}
_BODY = {word: ColumnWord(word, word in _table.NUMBERS) for word in _table.BODY_WORDS}
_TYPES = {word: TypeWord(word) for word in _table.DECLARED_TYPES}
_BUILTINS = {name: BuiltIn(name) for name in _table.BUILTINS}

__all__ = [  # noqa: PLE0604 - the words are those of the table
    "STENCIL",
    "FortranKernel",
    "PythonKernel",
    "Result",
    "columnwise_operator",
    "configure",
    "field",
    "fortran_kernel",
    "func_type",
    "invoke",
    "kernel",
    "mesh_data_type",
    "operator",
    "reference_element_data_type",
    "scalar",
    "scalar_array",
    "x_direction",
    "y_direction",
    *_WORDS,
    *_BODY,
    *_TYPES,
    *_BUILTINS,
]


def __getattr__(name: str) -> MetadataWord | ColumnWord | TypeWord | BuiltIn:
    """Return a word of metadata or of bodies, a type, or a built-in."""
    for table in (_WORDS, _BODY, _TYPES, _BUILTINS):
        if name in table:
            return table[name]
    if name.startswith(_table.WILDCARDS):
        return MetadataWord(name)
    raise AttributeError(f"module 'psyclone_storage.lfric' has no attribute '{name}'")
