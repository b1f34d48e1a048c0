"""Names of the PSyData profiling interface (spec 7.7) in generated code.

Any library with this interface can be linked, such as PSyclone's.
"""

from __future__ import annotations

from enum import StrEnum

from psyclone_storage.ir.types import DerivedType


class ProfileModule(StrEnum):
    """The module of the profiling library."""

    PROFILE = "profile_psy_data_mod"


class Caliper(StrEnum):
    """Type-bound procedures called for a profiled region."""

    START = "PreStart"
    STOP = "PostEnd"


TYPE = DerivedType("profile_PSyDataType", ProfileModule.PROFILE)
VARIABLE = "profile_psy_data"
PYTHON_PROFILER = "profiler"
"""The profiler in Python programs, of `psyclone_storage.runtime.profiling`."""
RESERVED = frozenset({*ProfileModule, TYPE.name})
