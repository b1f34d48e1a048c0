"""GOcean, as the driver knows it: its parts, and what its settings mean."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.backend.abi_storage import ACQUIRE
from psyclone_storage.backend.gocean import abi
from psyclone_storage.backend.gocean.table import gocean_infrastructure
from psyclone_storage.backend.gocean_registry.table import gocean_registry
from psyclone_storage.backend.gocean_storage.table import gocean_storage
from psyclone_storage.backend.grids.native import grids_in_c, grids_in_cuda
from psyclone_storage.backend.grids.table import grids_in_python
from psyclone_storage.backend.infrastructure import Infrastructure
from psyclone_storage.base.records import replace
from psyclone_storage.config.settings import Settings
from psyclone_storage.domain.build import Domain
from psyclone_storage.domain.gocean.arguments import build_dummies
from psyclone_storage.domain.gocean.domain import GoceanDomain
from psyclone_storage.domain.gocean.kernel_check import check_kernel
from psyclone_storage.domain.gocean.metadata import interpret
from psyclone_storage.domain.gocean.rules import GoceanRules
from psyclone_storage.domain.gocean.words import Tables, current_spelling
from psyclone_storage.driver.accesses import accesses_meant
from psyclone_storage.driver.fortran import FORTRAN
from psyclone_storage.driver.grid_settings import read_bound, read_path
from psyclone_storage.driver.python import (
    GOCEAN_WORDS,
    python,
    python_with_c,
    python_with_cuda,
)
from psyclone_storage.driver.rows import (
    OTHERS_FIELDS,
    ApiParts,
    AskedExtension,
    ScheduleDefaults,
    Target,
)
from psyclone_storage.infrastructures.gocean import GridProperty
from psyclone_storage.ir.kernel import GridBounds, Kernel
from psyclone_storage.ir.parsed import ParsedKernel


def interpret_gocean(parsed: ParsedKernel, settings: Settings) -> Kernel:
    """Return the GOcean kernel that `parsed` describes, with the tables of `settings`."""
    return interpret(parsed, _tables(settings))


def _tables(settings: Settings) -> Tables:
    gocean = settings.gocean
    properties = {current_spelling(name): known for name, known in gocean.grid_properties.items()}
    bounds = {
        (space.offset, space.field_type, current_spelling(space.name)): GridBounds(
            *map(
                read_bound,
                (space.outer_start, space.outer_stop, space.inner_start, space.inner_stop),
            )
        )
        for space in gocean.iteration_spaces
    }
    accesses = {
        current_spelling(word): meaning
        for word, meaning in accesses_meant(gocean.access_mapping).items()
    }
    return Tables(accesses, properties, bounds)


def _domain(settings: Settings) -> Domain:
    return GoceanDomain(GoceanRules(settings.gocean.dirty_flags, settings.gocean.split_exchanges))


def _choices(settings: Settings) -> ScheduleDefaults:  # noqa: ARG001 - every API has some
    return ScheduleDefaults()


def _infrastructure(settings: Settings) -> Infrastructure:
    known = settings.gocean.grid_properties
    return gocean_infrastructure(
        {current_spelling(name): read_path(one.path) for name, one in known.items()}
    )


def _storages(settings: Settings) -> Infrastructure:
    known = _properties(settings)
    return gocean_storage({name: read_path(one.path) for name, one in known.items()}, known)


def _registry(settings: Settings) -> Infrastructure:
    known = _properties(settings)
    return gocean_registry({name: read_path(one.path) for name, one in known.items()}, known)


def _properties(settings: Settings) -> dict[str, GridProperty]:
    return {current_spelling(name): one for name, one in settings.gocean.grid_properties.items()}


def _extensions(settings: Settings) -> tuple[AskedExtension, ...]:
    """Return what dl_esm_inf does not have."""
    asked = (
        ("JOINT_EXCHANGES", settings.joint_exchanges, abi.EXCHANGE_SEVERAL),
        ("DIRTY_FLAGS", settings.gocean.dirty_flags, abi.IS_DIRTY),
        ("SPLIT_EXCHANGES", settings.gocean.split_exchanges, abi.EXCHANGE_START),
        ("SPLIT_EXCHANGES", settings.gocean.split_exchanges, abi.EXCHANGE_FINISH),
    )
    return tuple(
        AskedExtension(f"The setting '{name}'", abi.GOceanModule.FIELD, procedure)
        for name, chosen, procedure in asked
        if chosen
    )


def _extensions_of_storages(settings: Settings) -> tuple[AskedExtension, ...]:
    held = AskedExtension("The target 'storage'", abi.GOceanModule.FIELD, ACQUIRE, OTHERS_FIELDS)
    return (held, *_extensions(settings))


def _fields_ask(settings: Settings) -> Settings:
    """Return settings for fields that say whether halos are stale, and split exchanges."""
    known = replace(settings.gocean, dirty_flags=True, split_exchanges=True)
    return replace(settings, gocean=known)


def _exchanges_apart(settings: Settings) -> Settings:
    """Return settings for fields that start and finish their exchanges apart."""
    return replace(settings, gocean=replace(settings.gocean, split_exchanges=True))


def _grids(settings: Settings) -> Infrastructure:
    known = settings.gocean.grid_properties
    return grids_in_python({current_spelling(name): one.rank for name, one in known.items()})


def _grids_in_c(settings: Settings) -> Infrastructure:
    return grids_in_c(_properties(settings))


def _grids_in_cuda(settings: Settings) -> Infrastructure:
    return grids_in_cuda(_properties(settings))


def _no_builtin(name: str) -> None:
    """Return nothing: there is no built-in for GOcean."""


GOCEAN = ApiParts(
    _domain,
    interpret_gocean,
    _choices,
    (),
    _no_builtin,
    "gocean_infrastructure",
    build_dummies,
    check_kernel,
    abi.GOceanModule.KINDS,
    checks_syntax=True,
)

TARGETS: Mapping[str, Target] = {
    "dl_esm_inf": Target(FORTRAN, _infrastructure, asks=_extensions),
    "c": Target(python_with_c(GOCEAN_WORDS), _grids_in_c, _exchanges_apart),
    "storage": Target(FORTRAN, _storages, _fields_ask, _extensions_of_storages),
    "registry": Target(FORTRAN, _registry, asks=_extensions),
    "numpy": Target(python(GOCEAN_WORDS), _grids, _exchanges_apart),
    "cuda": Target(python_with_cuda(GOCEAN_WORDS), _grids_in_cuda, _exchanges_apart),
}
"""What can be generated for grids, by name; the first is what is by default."""
