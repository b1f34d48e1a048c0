"""LFRic's API and Fortran targets, and the interpretation of its settings."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.config.settings import JointExchanges, RunTimeChecks, Settings
from psyclone_storage.domains.build import Domain
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.domains.lfric.kernel_check import check_lfric_procedure
from psyclone_storage.domains.lfric.metadata import interpret_lfric_metadata
from psyclone_storage.domains.lfric.passed import passed_to
from psyclone_storage.domains.lfric.structures import STRUCTURES
from psyclone_storage.infrastructures.lfric import Limits
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.halo_checks import refuse_halo_checks
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure
from psyclone_storage.targets.lfric_registry.table import lfric_registry
from psyclone_storage.targets.lfric_settings import lfric_rules, with_lfric_halo_checks
from psyclone_storage.targets.lfric_storage.abi import SET_HALO_DIRTY
from psyclone_storage.targets.lfric_storage.table import lfric_storage
from psyclone_storage.targets.spec import (
    OTHERS_FIELDS,
    ApiParts,
    AskedExtension,
    ScheduleDefaults,
    Target,
    TargetRow,
    access_words,
)


def interpret_lfric(parsed: ParsedKernel, settings: Settings) -> Kernel:
    """Return the LFRic kernel described by `parsed`, using the limits and words in `settings`."""
    lfric = settings.lfric
    limits = Limits(lfric.num_any_space, lfric.num_any_discontinuous_space)
    return interpret_lfric_metadata(parsed, limits, access_words(lfric.access_mapping))


def _domain(settings: Settings) -> Domain:
    return LfricDomain(lfric_rules(settings))


def _choices(settings: Settings) -> ScheduleDefaults:
    lfric = settings.lfric
    return ScheduleDefaults(
        lfric.compute_annexed_dofs,
        lfric.fuse_built_ins,
        lfric.exact_sums,
        lfric.fill_before_increment,
    )


def _infrastructure(settings: Settings) -> Infrastructure:
    exact, padding = settings.lfric.exact_sums, settings.reprod_pad_size
    plain = lfric_infrastructure(_level(settings), exact_sums=exact, padding=padding)
    return with_lfric_halo_checks(plain, settings)


def _level(settings: Settings) -> CheckLevel:
    """Return the reaction to errors of an algorithm; checks of halos include these checks."""
    asked = settings.lfric.run_time_checks
    return CheckLevel.ERROR if asked is RunTimeChecks.HALOS else CheckLevel(asked.value)


def _level_with_storages(settings: Settings, target: str) -> CheckLevel:
    refuse_halo_checks(settings.lfric.run_time_checks, f"the target '{target}'")
    return _level(settings)


def _storages(settings: Settings) -> Infrastructure:
    level = _level_with_storages(settings, "storage")
    exact, padding = settings.lfric.exact_sums, settings.reprod_pad_size
    return lfric_storage(level, exact_sums=exact, padding=padding)


def _registry(settings: Settings) -> Infrastructure:
    level = _level_with_storages(settings, "registry")
    exact, padding = settings.lfric.exact_sums, settings.reprod_pad_size
    return lfric_registry(level, exact_sums=exact, padding=padding)


_OF_OURS = ("field_parent_mod", SET_HALO_DIRTY)
"""A name that LFRic's own proxies lack."""


def _extensions(settings: Settings) -> tuple[AskedExtension, ...]:
    """Return the extensions missing in the original LFRic that the settings require."""
    joint = settings.joint_exchanges is JointExchanges.JOINT
    overlapped = replace(settings, joint_exchanges=JointExchanges.OVERLAPPED)
    asked = (
        ("JOINT_EXCHANGES", joint, abi.JOINT_EXCHANGE, overlapped),
        ("EXACT_SUMS", settings.lfric.exact_sums, abi.EXACT_SUM, None),
    )
    return tuple(
        AskedExtension(
            f"The setting '{name}'", str(wanted.module), wanted.name, mark=_OF_OURS, without=without
        )
        for name, chosen, wanted, without in asked
        if chosen
    )


def _extensions_of_storages(settings: Settings) -> tuple[AskedExtension, ...]:
    held = AskedExtension("The target 'storage'", *_OF_OURS, OTHERS_FIELDS)
    return (held, *_extensions(settings))


LFRIC = ApiParts(
    _domain,
    interpret_lfric,
    _choices,
    builtin_names(),
    builtin,
    "lfric_infrastructure",
    build_lfric_dummies,
    check_lfric_procedure,
    abi.LFRicModule.CONSTANTS,
    checks_syntax=True,
    structures=STRUCTURES,
    passed=passed_to,
)


def _c() -> Target:
    from psyclone_storage.targets.lfric_c import TARGET  # noqa: PLC0415

    return TARGET


def _numpy() -> Target:
    from psyclone_storage.targets.lfric_numpy import TARGET  # noqa: PLC0415

    return TARGET


def _cuda() -> Target:
    from psyclone_storage.targets.lfric_cuda import TARGET  # noqa: PLC0415

    return TARGET


TARGETS: Mapping[str, TargetRow] = {
    "lfric": Target(FORTRAN, _infrastructure, asks=_extensions),
    "c": _c,
    "storage": Target(FORTRAN, _storages, asks=_extensions_of_storages),
    "registry": Target(FORTRAN, _registry, asks=_extensions),
    "numpy": _numpy,
    "cuda": _cuda,
}
"""The targets of LFRic by name, the default one first; those in Python are imported on use."""
