"""Transformations under PSyclone's names, of 1.8 and of today, in terms of our steps.

Each module `words_*` holds the words for one matter; what they have in common is in
`transformation`. A name that is supported anywhere is not missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.scripting import (
    words_kernel_modules,
    words_kernels,
    words_loops,
    words_missing,
    words_openacc,
    words_openmp,
    words_psydata,
)
from psyclone_storage.scripting.transformation import (
    Transformation,
    TransformationError,
    Unsupported,
)

_WORDS = (
    words_missing,
    words_loops,
    words_openmp,
    words_openacc,
    words_kernels,
    words_kernel_modules,
    words_psydata,
)

_KINDS = [(kind, names) for words in _WORDS for kind, names in words.NAMES.items()]

TRANSFORMATIONS: Mapping[str, type[Transformation]] = {
    name: type(name, (kind,), {"__doc__": kind.__doc__})
    for kind, names in sorted(_KINDS, key=lambda item: item[0] is not Unsupported)
    for name in names.split()
}
"""Transformations under PSyclone's names, of both generations."""


class TransInfo:
    """All transformations by number and by name, as scripts of 2019 ask for them."""

    @property
    def num_trans(self) -> int:
        """How many transformations there are."""
        return len(TRANSFORMATIONS)

    @property
    def list(self) -> str:
        """A table of all transformations, one line each."""
        lines = [
            f"{number}: {name}: {' '.join((kind.__doc__ or '').split())}"
            for number, (name, kind) in enumerate(TRANSFORMATIONS.items(), start=1)
        ]
        return f"There are {len(lines)} transformations available:\n" + "\n".join(lines)

    def get_trans_num(self, number: int) -> Transformation:
        """Return a new transformation by its number, from 1.

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
