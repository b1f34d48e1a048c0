"""Contents of `psyclone.cfg` as frozen and typed data.

This module defines the names and types of the settings. Default values are only in
`config/psyclone.cfg`, which `config.load` reads before any other file.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.infrastructures.gocean import GridProperty


class Api(Enum):
    """API whose algorithms and kernels can be compiled."""

    LFRIC = "lfric"
    GOCEAN = "gocean"


API_NAMES: Mapping[str, Api] = {
    "lfric": Api.LFRIC,
    "dynamo0.3": Api.LFRIC,
    "gocean": Api.GOCEAN,
    "gocean1.0": Api.GOCEAN,
}
"""Every spelling of an API: today's names, and those of 2019."""


class RunTimeChecks(Enum):
    """Checks in generated code.

    `WARN` and `ERROR` log a field on another space than its kernel requires, and similar errors.
    `HALOS` also checks the halos of fields and their flags.
    """

    NONE = "none"
    WARN = "warn"
    ERROR = "error"
    HALOS = "halos"


class JointExchanges(Enum):
    """Communication of adjacent halo exchanges.

    `SEPARATE` completes one after the other. `JOINT` sends one message to each neighbour for all of
    them, which requires an extension of the infrastructure. `OVERLAPPED` starts all of them and
    then finishes all, which requires that the infrastructure has asynchronous exchanges.
    """

    SEPARATE = "false"
    JOINT = "true"
    OVERLAPPED = "overlapped"


class DirtyFlags(Enum):
    """Records of clean halos: none, in the fields, or in a registry of their storages.

    The registry is used for the target `registry` if fields cannot record it.
    """

    NONE = "none"
    FIELDS = "fields"
    REGISTRY = "registry"


class DataMovement(Enum):
    """Mechanism of transfers between host and device: directives of a recipe, or storages.

    `STORAGE` means the storages in this project's infrastructures. `REGISTRY` means a registry for
    other infrastructures.
    """

    RECIPE = "recipe"
    STORAGE = "storage"
    REGISTRY = "registry"


class FortranStandard(Enum):
    """Language standard of source files."""

    F2003 = "f2003"
    F2008 = "f2008"


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """Loop bounds that a GOcean kernel can request by `name` in `iterates_over`.

    They apply to one index offset and one field type. A bound is a Fortran expression in which
    `{start}` and `{stop}` are the first and last index of the internal region.
    """

    offset: str
    field_type: str
    name: str
    outer_start: str
    outer_stop: str
    inner_start: str
    inner_stop: str


@dataclass(frozen=True, slots=True)
class LfricSettings:
    """Settings in the section `[lfric]`, or `[dynamo0.3]` in files of 2019.

    - `precision_map`: the size in bytes of each kind.

    - `default_kind`: the kind of each Fortran type.

    - `access_mapping`: the meaning of each access name.
    """

    compute_annexed_dofs: bool
    fill_before_increment: bool
    fuse_built_ins: bool
    exact_sums: bool
    exchange_strips: bool
    run_time_checks: RunTimeChecks
    supported_fortran_datatypes: tuple[str, ...]
    default_kind: Mapping[str, str]
    precision_map: Mapping[str, int]
    num_any_space: int
    num_any_discontinuous_space: int
    access_mapping: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class GoceanSettings:
    """Settings in the section `[gocean]`, or `[gocean1.0]` in files of 2019.

    - `dirty_flags`: what records whether the halos of fields are clean.

    - `run_time_checks`: only checks of halos have an effect.

    - `split_exchanges`: the start and the end of an exchange are separate.
    """

    grid_properties: Mapping[str, GridProperty]
    iteration_spaces: tuple[IterationSpace, ...]
    access_mapping: Mapping[str, str]
    dirty_flags: DirtyFlags
    run_time_checks: RunTimeChecks
    split_exchanges: bool
    debug_mode: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a file, typed and checked.

    - `reprod_pad_size`: a number of array elements.

    - `exact_sums` (LFRic): requires the infrastructure of this project.

    - `thread_safe_procedures`: kernels, by the lower-case names of their subroutines or types.

    - `read_only_procedures`: procedures, by their lower-case names, that only read their arguments.

    - `device_procedures`: procedures, by their lower-case names, that use arrays on the device.

    - `bounds_checks`: check the array indices of kernels executed in C.

    - `warnings`: warnings about the settings file. They are ignored in comparisons.
    """

    api: Api
    stub_api: Api
    distributed_memory: bool
    reproducible_reductions: bool
    reprod_pad_size: int
    bounds_checks: bool
    joint_exchanges: JointExchanges
    halo_check_interval: int
    data_movement: DataMovement
    thread_safe_procedures: tuple[str, ...]
    read_only_procedures: tuple[str, ...]
    device_procedures: tuple[str, ...]
    psyir_root_name: str
    valid_psy_data_prefixes: tuple[str, ...]
    ocl_devices_per_node: int
    ignore_modules: tuple[str, ...]
    fortran_standard: FortranStandard
    backend_checks_enabled: bool
    backend_indentation_disabled: bool
    lfric: LfricSettings
    gocean: GoceanSettings
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
