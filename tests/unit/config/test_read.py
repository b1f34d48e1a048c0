"""Settings from text: both generations, every key, and everything that is wrong at once."""

from __future__ import annotations

import pickle
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Severity
from psyclone_storage.config.keys import KEYS
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.read import read_settings
from psyclone_storage.config.settings import (
    Api,
    DataMovement,
    FortranStandard,
    GoceanSettings,
    IterationSpace,
    JointExchanges,
    LfricSettings,
    RunTimeChecks,
    Settings,
)
from psyclone_storage.infrastructures.gocean import GridProperty
from psyclone_storage.ir.types import Intrinsic

BASE = default_settings()


def read(text: str, overrides: str = "") -> Settings:
    return read_settings(text, "x.cfg", base=BASE, overrides=overrides)


def problems(text: str, overrides: str = "") -> list[Diagnostic]:
    with pytest.raises(CompileError) as caught:
        read(text, overrides)
    return list(caught.value.problems)


def places(found: list[Diagnostic] | tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(problem.code, problem.span.text if problem.span else "") for problem in found]


def test_the_default_configuration_holds_every_key() -> None:
    assert BASE.warnings == ()
    assert BASE.api is Api.LFRIC
    assert BASE.distributed_memory
    assert not BASE.lfric.compute_annexed_dofs
    assert BASE.lfric.run_time_checks is RunTimeChecks.NONE
    assert BASE.fortran_standard is FortranStandard.F2008
    assert BASE.gocean.iteration_spaces == ()


def test_every_field_has_exactly_one_key() -> None:
    tables = {"default": Settings, "lfric": LfricSettings, "gocean": GoceanSettings}
    wanted = {(section, field.name) for section, kind in tables.items() for field in fields(kind)}
    parts = {("default", "lfric"), ("default", "gocean"), ("default", "warnings")}
    assert sorted((key.section, key.field) for key in KEYS) == sorted(wanted - parts)


def test_an_empty_file_changes_nothing() -> None:
    assert read("") == BASE


def test_settings_travel_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(BASE)) == BASE


def test_a_file_of_2019_is_read() -> None:
    settings = read(
        "[DEFAULT]\nDEFAULTAPI = gocean1.0\nDEFAULTSTUBAPI = dynamo0.3\n"
        "DISTRIBUTED_MEMORY = False\nREPRODUCIBLE_REDUCTIONS = yes\nREPROD_PAD_SIZE = 16\n"
        "[dynamo0.3]\naccess_mapping = gh_read: read, gh_mine: inc\nCOMPUTE_ANNEXED_DOFS = on\n"
        "[gocean1.0]\naccess_mapping = go_read: read\n"
        "iteration-spaces = go_offset_sw:go_ct:go_inner:{start}+1:{stop}-1:{start}:max(1,{stop})\n"
    )
    assert (settings.api, settings.stub_api) == (Api.GOCEAN, Api.LFRIC)
    assert not settings.distributed_memory
    assert settings.reproducible_reductions
    assert settings.reprod_pad_size == 16
    assert settings.lfric.compute_annexed_dofs
    assert settings.gocean.iteration_spaces == (
        IterationSpace(
            offset="go_offset_sw",
            field_type="go_ct",
            name="go_inner",
            outer_start="{start}+1",
            outer_stop="{stop}-1",
            inner_start="{start}",
            inner_stop="max(1,{stop})",
        ),
    )
    assert settings.gocean.grid_properties == BASE.gocean.grid_properties
    assert settings.warnings == ()


def test_a_file_of_today_is_read() -> None:
    settings = read(
        "[DEFAULT]\nPSYIR_ROOT_NAME = tmp\nVALID_PSY_DATA_PREFIXES = a, b\n"
        "OCL_DEVICES_PER_NODE = 2\nJOINT_EXCHANGES = true\nDATA_MOVEMENT = Storage\n"
        "IGNORE_MODULES = NetCDF, mpi\n"
        "FORTRAN_STANDARD = F2003\n"
        "BACKEND_CHECKS_ENABLED = 0\nBACKEND_INDENTATION_DISABLED = 1\n"
        "[lfric]\nsupported_fortran_datatypes = real, integer\n"
        "default_kind = real: r_solver, integer: i_def\nprecision_map = i_def: 8,\n r_solver: 4\n"
        "FILL_BEFORE_INCREMENT = false\nFUSE_BUILT_INS = false\n"
        "EXACT_SUMS = true\nEXCHANGE_STRIPS = true\nRUN_TIME_CHECKS = warn\n"
        "NUM_ANY_SPACE = 3\nNUM_ANY_DISCONTINUOUS_SPACE = 4\n"
        "[gocean]\nDEBUG_MODE = true\n"
    )
    assert settings.psyir_root_name == "tmp"
    assert settings.valid_psy_data_prefixes == ("a", "b")
    assert settings.ocl_devices_per_node == 2
    assert settings.joint_exchanges is JointExchanges.JOINT
    assert settings.data_movement is DataMovement.STORAGE
    assert settings.ignore_modules == ("netcdf", "mpi")
    assert settings.fortran_standard is FortranStandard.F2003
    assert not settings.backend_checks_enabled
    assert settings.backend_indentation_disabled
    assert settings.lfric == LfricSettings(
        compute_annexed_dofs=False,
        fill_before_increment=False,
        fuse_built_ins=False,
        exact_sums=True,
        exchange_strips=True,
        run_time_checks=RunTimeChecks.WARN,
        supported_fortran_datatypes=("real", "integer"),
        default_kind={"real": "r_solver", "integer": "i_def"},
        precision_map={"i_def": 8, "r_solver": 4},
        num_any_space=3,
        num_any_discontinuous_space=4,
        access_mapping=BASE.lfric.access_mapping,
    )
    assert settings.gocean.debug_mode


def test_grid_properties_are_read() -> None:
    area = BASE.gocean.grid_properties["go_grid_area_t"]
    assert area == GridProperty("{0}%grid%area_t", 2, Intrinsic.REAL)
    assert len(BASE.gocean.grid_properties) == 31


@pytest.mark.parametrize(
    ("word", "meaning"), [("true", RunTimeChecks.ERROR), ("false", RunTimeChecks.NONE)]
)
def test_run_time_checks_may_be_a_boolean(word: str, meaning: RunTimeChecks) -> None:
    assert read(f"[lfric]\nRUN_TIME_CHECKS = {word}\n").lfric.run_time_checks is meaning


def test_access_names_that_are_left_out_keep_their_meaning() -> None:
    mapping = read("[lfric]\naccess_mapping = gh_read: write\n").lfric.access_mapping
    assert mapping["gh_read"] == "write"
    assert mapping["gh_inc"] == "inc"


def test_a_key_in_default_counts_for_the_sections() -> None:
    text = "[DEFAULT]\nNUM_ANY_SPACE = 7\n"
    assert read(text).lfric.num_any_space == 7
    assert read(text + "[lfric]\nNUM_ANY_SPACE = 8\n").lfric.num_any_space == 8


def test_overrides_win() -> None:
    settings = read("[lfric]\nNUM_ANY_SPACE = 7\n", "num_any_space=9 DISTRIBUTED_MEMORY=false")
    assert settings.lfric.num_any_space == 9
    assert not settings.distributed_memory


def test_an_override_of_a_key_in_several_sections_sets_each() -> None:
    settings = read("[lfric]\nRUN_TIME_CHECKS = warn\n", "RUN_TIME_CHECKS=halos")
    assert settings.lfric.run_time_checks is RunTimeChecks.HALOS
    assert settings.gocean.run_time_checks is RunTimeChecks.HALOS
    assert places(problems("", "RUN_TIME_CHECKS=loud")) == [("C004", "loud")]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("[DEFAULT]\nwords\n", "C002", "words"),
        ("[lfric]\nNUM_ANY_SPACE=1\nnum_any_space=2\n", "C003", "num_any_space"),
        ("[lfric]\nNUM_ANY_SPACE=1\n[dynamo0.3]\nNUM_ANY_SPACE=2\n", "C003", "NUM_ANY_SPACE"),
        ("[DEFAULT]\nDISTRIBUTED_MEMORY = perhaps\n", "C004", "perhaps"),
        ("[DEFAULT]\nDISTRIBUTED_MEMORY =\n", "C004", "DISTRIBUTED_MEMORY"),
        ("[DEFAULT]\nDEFAULTAPI = nemo\n", "C004", "nemo"),
        ("[DEFAULT]\nREPROD_PAD_SIZE = 0\n", "C004", "0"),
        ("[DEFAULT]\nVALID_PSY_DATA_PREFIXES = ok, 2bad\n", "C004", "2bad"),
        ("[DEFAULT]\nFORTRAN_STANDARD = f77\n", "C004", "f77"),
        ("[lfric]\nRUN_TIME_CHECKS = loud\n", "C004", "loud"),
        ("[lfric]\nprecision_map = r_def: 8, r_um 4\n", "C004", "r_um 4"),
        ("[lfric]\nprecision_map = r_def: 8, r_def: 4\n", "C004", "r_def: 4"),
        ("[lfric]\nprecision_map = r_def: big\n", "C004", "big"),
        ("[lfric]\naccess_mapping = gh_read: reed\n", "C004", "reed"),
        ("[gocean]\niteration-spaces = a:b:c\n", "C004", "a:b:c"),
        (
            "[gocean]\niteration-spaces = go_offset_x:go_ct:n:1:2:1:2\n",
            "C004",
            "go_offset_x",
        ),
        ("[gocean]\niteration-spaces = go_offset_sw:go_ct:n:1:(2:1:2\n", "C004", "(2"),
        ("[gocean]\niteration-spaces = go_offset_sw:go_ct:n:1:{end}:1:2\n", "C004", "{end}"),
        ("[gocean]\ngrid-properties = go_grid_x: {0}%%x: scalar\n", "C004", None),
        ("[gocean]\ngrid-properties = go_grid_x: x: scalar: real\n", "C004", "x"),
        ("[gocean]\ngrid-properties = go_grid_x: {0}%%x: scalar: real\n", "C005", None),
        ("[lfric]\ndefault_kind = real: r_def\n", "C005", "real: r_def"),
        ("[lfric]\nsupported_fortran_datatypes = real, int\n", "C005", "real, int"),
        (
            "[lfric]\ndefault_kind = real: r_x, integer: i_def, logical: l_def\n",
            "C005",
            "real: r_x, integer: i_def, logical: l_def",
        ),
        ("[DEFAULT]\nPSYIR_ROOT_NAME = %(other)s\n", "C009", "%(other)s"),
    ],
)
def test_a_mistake_is_reported_at_its_place(text: str, code: str, place: str | None) -> None:
    ((found_code, found_place),) = places(problems(text))
    assert found_code == code
    assert place in (None, found_place)


@pytest.mark.parametrize(
    ("overrides", "place"),
    [("alone", "alone"), ("NUM_ANY_SPACES=1", "NUM_ANY_SPACES"), ("access_mapping=a:b",) * 2],
)
def test_a_mistaken_override_is_reported(overrides: str, place: str) -> None:
    ((code, found),) = places(problems("", overrides))
    assert code == "C008"
    assert found in place


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("[lfrik]\nx = 1\n", "C006", "'lfric'"),
        ("[nemo]\n", "C006", "[gocean]"),
        ("[lfric]\nNUM_ANY_SPACES = 1\n", "C006", "'num_any_space'"),
        ("[gocean]\nDISTRIBUTED_MEMORY = false\n", "C007", "[DEFAULT]"),
    ],
)
def test_what_has_no_effect_is_a_warning(text: str, code: str, hint: str) -> None:
    settings = read(text)
    (warning,) = settings.warnings
    assert (warning.code, warning.severity) == (code, Severity.WARNING)
    assert hint in warning.hint
    assert settings == BASE


def test_everything_is_reported_at_once_from_top_to_bottom() -> None:
    text = "[DEFAULT]\nDISTRIBUTED_MEMORY = x\n[lfric]\nfoo = 1\nNUM_ANY_SPACE = y\n"
    assert places(problems(text, "bar=1")) == [
        ("C004", "x"),
        ("C006", "foo"),
        ("C004", "y"),
        ("C008", "bar"),
    ]


def test_without_a_base_every_key_must_be_there() -> None:
    with pytest.raises(CompileError) as caught:
        read_settings("", "x.cfg")
    assert {problem.code for problem in caught.value.problems} == {"C005"}
    assert len(caught.value.problems) == len(KEYS)


@pytest.mark.differential
def test_the_file_that_comes_with_psyclone_is_read_unchanged() -> None:
    file = Path(sys.prefix) / "share" / "psyclone" / "psyclone.cfg"
    settings = read(file.read_text(encoding="utf-8"))
    assert settings.warnings == ()
    assert settings.gocean == BASE.gocean
    assert settings.lfric.default_kind == BASE.lfric.default_kind
