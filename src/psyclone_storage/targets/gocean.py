"""GOcean's API and Fortran targets, and the interpretation of its settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.base.records import replace
from psyclone_storage.config.settings import DirtyFlags, JointExchanges, Settings
from psyclone_storage.domains.build import Domain
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies
from psyclone_storage.domains.gocean.builtins import reduction
from psyclone_storage.domains.gocean.domain import GoceanDomain
from psyclone_storage.domains.gocean.kernel_check import check_gocean_procedure
from psyclone_storage.domains.gocean.metadata import interpret_gocean_metadata
from psyclone_storage.domains.gocean.words import Tables, current_spelling
from psyclone_storage.infrastructures.gocean import REAL, value_type
from psyclone_storage.infrastructures.gocean_words import REDUCTIONS
from psyclone_storage.ir.kernel import ArgKind, GridBounds, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ParsedKernel
from psyclone_storage.languages.sources.kernel_search import SUFFIXES
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.lowering.runtime_names_storage import ACQUIRE
from psyclone_storage.targets.dl_esm_inf import abi
from psyclone_storage.targets.dl_esm_inf.table import gocean_infrastructure
from psyclone_storage.targets.dl_esm_inf_registry.table import gocean_registry
from psyclone_storage.targets.dl_esm_inf_storage.table import gocean_storage
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.gocean_settings import (
    gocean_rules,
    grid_paths,
    parse_loop_bound,
    properties_of_grids,
    with_grid_halo_checks,
)
from psyclone_storage.targets.halo_checks import refuse_halo_checks
from psyclone_storage.targets.spec import (
    OTHERS_FIELDS,
    ApiParts,
    AskedExtension,
    ScheduleDefaults,
    Target,
    TargetRow,
    access_words,
)


def interpret_gocean(parsed: ParsedKernel, settings: Settings) -> Kernel:
    """Return the GOcean kernel described by `parsed`, using the tables in `settings`."""
    kernel = interpret_gocean_metadata(parsed, _tables(settings))
    if key_of(parsed.source.name).endswith(SUFFIXES):
        raise_if_any(tuple(_check_extensions(kernel)))
    return kernel


def _check_extensions(kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each argument that Fortran's fields of two dimensions cannot be."""
    for arg in kernel.args:
        if arg.layers:
            what = "Kernels in Fortran have no fields with layers: GOcean's API has two dimensions."
            hint = "Leave out 'go_layers', or write the kernel in Python."
            yield Diagnostic("M102", what, arg.span, hint=hint)
        elif arg.kind is ArgKind.FIELD and value_type(arg.intrinsic, arg.precision) != REAL:
            what = "Fields of kernels in Fortran have reals of the kind 'go_wp' alone."
            hint = "Leave out the type of the values, or write the kernel in Python."
            yield Diagnostic("M102", what, arg.span, hint=hint)


def _tables(settings: Settings) -> Tables:
    gocean = settings.gocean
    bounds = {
        (space.offset, space.field_type, current_spelling(space.name)): GridBounds(
            *map(
                parse_loop_bound,
                (space.outer_start, space.outer_stop, space.inner_start, space.inner_stop),
            )
        )
        for space in gocean.iteration_spaces
    }
    accesses = {
        current_spelling(word): meaning
        for word, meaning in access_words(gocean.access_mapping).items()
    }
    return Tables(accesses, properties_of_grids(settings), bounds)


def _domain(settings: Settings) -> Domain:
    return GoceanDomain(gocean_rules(settings))


def _choices(settings: Settings) -> ScheduleDefaults:  # noqa: ARG001 - every API has some
    return ScheduleDefaults()


def _infrastructure(settings: Settings) -> Infrastructure:
    return with_grid_halo_checks(gocean_infrastructure(grid_paths(settings)), settings)


def _storages(settings: Settings) -> Infrastructure:
    refuse_halo_checks(settings.gocean.run_time_checks, "the target 'storage'")
    return gocean_storage(grid_paths(settings), properties_of_grids(settings))


def _registry(settings: Settings) -> Infrastructure:
    refuse_halo_checks(settings.gocean.run_time_checks, "the target 'registry'")
    has_flags = settings.gocean.dirty_flags is DirtyFlags.REGISTRY
    return gocean_registry(grid_paths(settings), properties_of_grids(settings), has_flags=has_flags)


def _extensions(settings: Settings) -> tuple[AskedExtension, ...]:
    """Return the extensions missing in the original dl_esm_inf that the settings require."""
    joint = settings.joint_exchanges
    asked = (
        ("JOINT_EXCHANGES", joint is JointExchanges.JOINT, abi.EXCHANGE_SEVERAL),
        ("JOINT_EXCHANGES", joint is JointExchanges.OVERLAPPED, abi.EXCHANGE_START),
        ("DIRTY_FLAGS", settings.gocean.dirty_flags is DirtyFlags.FIELDS, abi.IS_DIRTY),
        ("SPLIT_EXCHANGES", settings.gocean.split_exchanges, abi.EXCHANGE_START),
        ("SPLIT_EXCHANGES", settings.gocean.split_exchanges, abi.EXCHANGE_FINISH),
    )
    return tuple(
        AskedExtension(f"The setting '{name}'", abi.GOceanModule.FIELD, procedure)
        for name, chosen, procedure in asked
        if chosen
    )


def _extensions_of_registry(settings: Settings) -> tuple[AskedExtension, ...]:
    """Return the required extensions; the registry records flags where fields have none."""
    in_registry = replace(settings.gocean, dirty_flags=DirtyFlags.REGISTRY)
    registered = replace(settings, gocean=in_registry)
    return tuple(
        one._replace(without=registered) if one.name == abi.IS_DIRTY else one
        for one in _extensions(settings)
    )


def _extensions_of_storages(settings: Settings) -> tuple[AskedExtension, ...]:
    held = AskedExtension("The target 'storage'", abi.GOceanModule.FIELD, ACQUIRE, OTHERS_FIELDS)
    return (held, *_extensions(settings))


def _fields_ask(settings: Settings) -> Settings:
    """Return settings for fields with dirty flags and split exchanges."""
    known = replace(settings.gocean, dirty_flags=DirtyFlags.FIELDS, split_exchanges=True)
    return replace(settings, gocean=known)


GOCEAN = ApiParts(
    _domain,
    interpret_gocean,
    _choices,
    tuple(REDUCTIONS),
    reduction,
    "gocean_infrastructure",
    build_gocean_dummies,
    check_gocean_procedure,
    abi.GOceanModule.KINDS,
    checks_syntax=True,
    builtins_in_python=True,
)


def _c() -> Target:
    from psyclone_storage.targets.gocean_c import TARGET  # noqa: PLC0415

    return TARGET


def _numpy() -> Target:
    from psyclone_storage.targets.gocean_numpy import TARGET  # noqa: PLC0415

    return TARGET


def _cuda() -> Target:
    from psyclone_storage.targets.gocean_cuda import TARGET  # noqa: PLC0415

    return TARGET


TARGETS: Mapping[str, TargetRow] = {
    "dl_esm_inf": Target(FORTRAN, _infrastructure, asks=_extensions),
    "c": _c,
    "storage": Target(FORTRAN, _storages, _fields_ask, _extensions_of_storages),
    "registry": Target(FORTRAN, _registry, asks=_extensions_of_registry),
    "numpy": _numpy,
    "cuda": _cuda,
}
"""The targets of GOcean by name, the default one first; those in Python are imported on use."""
