"""The Python mesh runtime for LFRic, as configured by the settings."""

from __future__ import annotations

from psyclone_storage.config.settings import RunTimeChecks, Settings
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.lfric_python.table import meshes_in_c
from psyclone_storage.targets.lfric_settings import with_lfric_halo_checks


def meshes(settings: Settings) -> Infrastructure:
    """Return the infrastructure for Python programs on meshes."""
    checks = settings.lfric.run_time_checks in (RunTimeChecks.WARN, RunTimeChecks.ERROR)
    exact = settings.lfric.exact_sums or settings.reproducible_reductions
    plain = meshes_in_c(exact_sums=exact, run_time_checks=checks)
    return with_lfric_halo_checks(plain, settings)
