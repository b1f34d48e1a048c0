"""Transformations under PSyclone's names, of 1.8 and of today, in terms of our steps.

One module holds the words for loops, for OpenMP, for OpenACC and for kernels each; what they have
in common is in `transformation`.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.scripting import words_kernels, words_loops, words_openacc, words_openmp
from psyclone_storage.scripting.transformation import Transformation

_WORDS = (words_loops, words_openmp, words_openacc, words_kernels)

TRANSFORMATIONS: Mapping[str, type[Transformation]] = {
    name: type(name, (kind,), {"__doc__": kind.__doc__})
    for words in _WORDS
    for kind, names in words.NAMES.items()
    for name in names.split()
}
"""Transformations under PSyclone's names, of both generations."""
