"""What the accesses of a settings file mean."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.ir.kernel import Access

# What a settings file calls an access; `sum` is the word of 2019 for a reduction.
_ACCESSES = {access.value: access for access in Access} | {"sum": Access.REDUCTION}


def accesses_meant(mapping: Mapping[str, str]) -> Mapping[str, Access]:
    """Return the access that each word of metadata stands for, by the settings."""
    return {word: _ACCESSES[meaning] for word, meaning in mapping.items()}
