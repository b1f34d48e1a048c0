"""The names of the PSyData interface (spec 7.7) by which generated code calls a profiler.

Any library that provides them can be linked, PSyclone's among them.
"""

from __future__ import annotations

from enum import StrEnum

from psyclone_storage.ir.types import DerivedType


class ProfileModule(StrEnum):
    """The module that a profiler provides."""

    PROFILE = "profile_psy_data_mod"


class Caliper(StrEnum):
    """Type-bound procedures of the variable of a profiled region."""

    START = "PreStart"
    STOP = "PostEnd"


TYPE = DerivedType("profile_PSyDataType", ProfileModule.PROFILE)
VARIABLE = "profile_psy_data"
RESERVED = frozenset({*ProfileModule, TYPE.name})
