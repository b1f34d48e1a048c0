"""The Python mesh runtime for LFRic, as configured by the settings."""

from __future__ import annotations

from psyclone_storage.config.settings import RunTimeChecks, Settings
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.lfric_python.table import meshes_in_c


def meshes(settings: Settings) -> Infrastructure:
    """Return the infrastructure for Python programs on meshes."""
    checks = settings.lfric.run_time_checks is not RunTimeChecks.NONE
    exact = settings.lfric.exact_sums or settings.reproducible_reductions
    return meshes_in_c(exact_sums=exact, run_time_checks=checks)
