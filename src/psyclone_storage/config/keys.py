"""Table of all keys of settings files, for both generations.

It defines the section of each key, its field in `Settings`, and its decoder. `config.read` reads
the files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass
from psyclone_storage.config import decode, gocean
from psyclone_storage.config.scan import Entry, SettingsWord
from psyclone_storage.config.settings import (
    API_NAMES,
    DataMovement,
    DirtyFlags,
    FortranStandard,
    JointExchanges,
    RunTimeChecks,
)

SECTIONS: Mapping[str, str] = {
    "default": "default",
    "lfric": "lfric",
    "dynamo0.3": "lfric",
    "gocean": "gocean",
    "gocean1.0": "gocean",
}
"""The section that each heading opens, headings in lower case."""

ACCESSES = ("read", "write", "readwrite", "inc", "readinc", "sum", "reduction")

_STANDARDS = {standard.value: standard for standard in FortranStandard}
_MOVEMENTS = {movement.value: movement for movement in DataMovement}
_JOINT = {choice.value: choice for choice in JointExchanges}
_CHECKS = {check.value: check for check in RunTimeChecks}


@dataclass(frozen=True, slots=True)
class SettingsKey:
    """Settings key: its section, its name in lower case, its field and its decoder.

    - `unused`: the reason why the key has no effect. Such keys are accepted, because PSyclone's
      files contain them.
    """

    section: str
    name: str
    field: str
    decode: Callable[[Entry], object]
    unused: str = ""


def _run_time_checks(entry: Entry) -> RunTimeChecks:
    """Decode a name of checks; an older boolean value means `error` or `none`."""
    meaning = decode.BOOLEANS.get(entry.value.text.lower())
    if meaning is None:
        return decode.choose_value(entry.value, _CHECKS)
    return RunTimeChecks.ERROR if meaning else RunTimeChecks.NONE


def _dirty_flags(entry: Entry) -> DirtyFlags:
    return DirtyFlags.FIELDS if decode.boolean(entry) else DirtyFlags.NONE


def _joint_exchanges(entry: Entry) -> JointExchanges:
    """Decode `overlapped` or a boolean value."""
    meaning = decode.BOOLEANS.get(entry.value.text.lower())
    if meaning is None:
        return decode.choose_value(entry.value, _JOINT)
    return JointExchanges.JOINT if meaning else JointExchanges.SEPARATE


def _access(word: SettingsWord) -> str:
    return decode.choose_value(word, {access: access for access in ACCESSES})


KEYS: tuple[SettingsKey, ...] = (
    SettingsKey("default", "defaultapi", "api", decode.choice(API_NAMES)),
    SettingsKey("default", "defaultstubapi", "stub_api", decode.choice(API_NAMES)),
    SettingsKey("default", "distributed_memory", "distributed_memory", decode.boolean),
    SettingsKey("default", "reproducible_reductions", "reproducible_reductions", decode.boolean),
    SettingsKey("default", "reprod_pad_size", "reprod_pad_size", decode.positive),
    SettingsKey("default", "bounds_checks", "bounds_checks", decode.boolean),
    SettingsKey("default", "joint_exchanges", "joint_exchanges", _joint_exchanges),
    SettingsKey("default", "halo_check_interval", "halo_check_interval", decode.positive),
    SettingsKey("default", "data_movement", "data_movement", decode.choice(_MOVEMENTS)),
    SettingsKey("default", "thread_safe_procedures", "thread_safe_procedures", decode.words),
    SettingsKey("default", "read_only_procedures", "read_only_procedures", decode.words),
    SettingsKey("default", "device_procedures", "device_procedures", decode.words),
    SettingsKey(
        "default",
        "psyir_root_name",
        "psyir_root_name",
        decode.name,
        unused="Names are made of those that they stand for.",
    ),
    SettingsKey(
        "default",
        "valid_psy_data_prefixes",
        "valid_psy_data_prefixes",
        decode.fortran_names,
        unused="Regions for a profiler call the library 'profile'; there are no others.",
    ),
    SettingsKey(
        "default",
        "ocl_devices_per_node",
        "ocl_devices_per_node",
        decode.positive,
        unused="No OpenCL is generated.",
    ),
    SettingsKey("default", "ignore_modules", "ignore_modules", decode.words),
    SettingsKey(
        "default",
        "fortran_standard",
        "fortran_standard",
        decode.choice(_STANDARDS),
        unused="Files are read as Fortran 2008, of which 2003 is a part.",
    ),
    SettingsKey("default", "backend_checks_enabled", "backend_checks_enabled", decode.boolean),
    SettingsKey(
        "default", "backend_indentation_disabled", "backend_indentation_disabled", decode.boolean
    ),
    SettingsKey("lfric", "compute_annexed_dofs", "compute_annexed_dofs", decode.boolean),
    SettingsKey("lfric", "fill_before_increment", "fill_before_increment", decode.boolean),
    SettingsKey("lfric", "fuse_built_ins", "fuse_built_ins", decode.boolean),
    SettingsKey("lfric", "exact_sums", "exact_sums", decode.boolean),
    SettingsKey("lfric", "exchange_strips", "exchange_strips", decode.boolean),
    SettingsKey("lfric", "run_time_checks", "run_time_checks", _run_time_checks),
    SettingsKey(
        "lfric",
        "supported_fortran_datatypes",
        "supported_fortran_datatypes",
        decode.words,
        unused="LFRic's data are real, integer or logical.",
    ),
    SettingsKey(
        "lfric",
        "default_kind",
        "default_kind",
        decode.mapping(decode.name_word),
        unused="What an algorithm does not declare has the kind r_def, i_def or l_def.",
    ),
    SettingsKey(
        "lfric",
        "precision_map",
        "precision_map",
        decode.mapping(decode.positive_word),
    ),
    SettingsKey("lfric", "num_any_space", "num_any_space", decode.positive),
    SettingsKey(
        "lfric", "num_any_discontinuous_space", "num_any_discontinuous_space", decode.positive
    ),
    SettingsKey("lfric", "access_mapping", "access_mapping", decode.mapping(_access)),
    SettingsKey("gocean", "grid-properties", "grid_properties", gocean.grid_properties),
    SettingsKey("gocean", "iteration-spaces", "iteration_spaces", gocean.iteration_spaces),
    SettingsKey("gocean", "access_mapping", "access_mapping", decode.mapping(_access)),
    SettingsKey("gocean", "dirty_flags", "dirty_flags", _dirty_flags),
    SettingsKey("gocean", "run_time_checks", "run_time_checks", _run_time_checks),
    SettingsKey("gocean", "split_exchanges", "split_exchanges", decode.boolean),
    SettingsKey(
        "gocean",
        "debug_mode",
        "debug_mode",
        decode.boolean,
        unused="No checks of an algorithm are generated for grids.",
    ),
)


def heading(section: str) -> str:
    """Return the heading of a section in a file: `[DEFAULT]`, `[lfric]`, or `[gocean]`."""
    return "[DEFAULT]" if section == "default" else f"[{section}]"


def known_headings() -> str:
    """Return the current headings as a list for a hint."""
    return listed(heading(section) for section in dict.fromkeys(SECTIONS.values()))
