"""LFRic settings: the rules of halos and their run-time checks."""

from __future__ import annotations

from psyclone_storage.config.settings import Settings
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.halo_checks import with_halo_checks


def lfric_rules(settings: Settings) -> LfricRules:
    """Return the halo rules for the settings."""
    lfric = settings.lfric
    return LfricRules(settings.reproducible_reductions, lfric.exact_sums, lfric.exchange_strips)


def with_lfric_halo_checks(plain: Infrastructure, settings: Settings) -> Infrastructure:
    """Return an infrastructure with the checks of halos that the settings request."""
    asked, every = settings.lfric.run_time_checks, settings.halo_check_interval
    return with_halo_checks(plain, lfric_rules(settings), asked, every)
