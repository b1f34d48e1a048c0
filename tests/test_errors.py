"""Every folder of `errors/`: the diagnostics of the command, character by character.

A folder `<code>_<name>` contains the input of a user, the command-line arguments in `options`, and
in `expected.txt` the expected standard error.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import run_folder
from psyclone_storage.base.codes import CODES

ERRORS = Path(__file__).parent / "errors"
DEFAULT_OPTIONS = "-api lfric -d kernels alg.x90"

# Codes that no input of the command line can cause, each with the reason and where it is tested.
_ORDER = "asked by a transformation: tests/unit/analysis/schedules/test_order.py"
_RULES = "asked by a transformation: tests/unit/domains/lfric/test_rules.py"
_BENCH = "only a script undoes steps: tests/unit/transform/test_workbench.py"
_VERIFY = "a defect of a stage, reported as I001: tests/unit/ir/test_verify.py"
NOT_FROM_THE_COMMAND_LINE: dict[str, str] = {
    "I001": "a defect of this tool: tests/unit/cli/test_guard.py",
    "L004": "depends on the system: tests/unit/cli/test_guard.py",
    "P033": "root can read every folder: tests/unit/languages/sources/test_kernel_search.py",
    "P048": "P047 comes before it: tests/unit/languages/fortran/parse/test_routine.py",
    "L020": "depends on the system: tests/unit/cli/test_limits.py",
    "L018": "depends on who owns a folder: tests/unit/cli/test_results.py",
    "L017": "depends on what is installed: tests/test_page.py",
    "S002": _RULES,
    **dict.fromkeys(("S003", "S005", "S006", "S007", "S008", "S009"), _ORDER),
    **dict.fromkeys(("T008", "T009"), _BENCH),
    **{code: _VERIFY for code in CODES if code.startswith("V")},
}


def codes_of_folders() -> set[str]:
    return {path.name.partition("_")[0] for path in ERRORS.iterdir() if path.is_dir()}


def test_error(error_case: Path, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    done = run_folder(error_case, DEFAULT_OPTIONS, tmp_path)
    expected = error_case / "expected.txt"
    if pytestconfig.getoption("--update-golden"):
        expected.write_text(done.err, encoding="utf-8")
    assert done.err == expected.read_text(encoding="utf-8")
    assert "Traceback" not in done.err
    reported = re.findall(r"^(error|warning)\[(\w+)\]", done.err, re.MULTILINE)
    assert error_case.name.partition("_")[0] in {code for _, code in reported}
    if any(severity == "error" for severity, _ in reported):
        assert done.status == 1
        assert done.written == {}
    else:
        assert done.status == 0


def test_every_code_has_a_folder() -> None:
    assert set(CODES) - codes_of_folders() == set(NOT_FROM_THE_COMMAND_LINE)


def test_every_folder_is_named_after_a_code() -> None:
    assert codes_of_folders() <= set(CODES)


@pytest.mark.parametrize("code", sorted(one for one in NOT_FROM_THE_COMMAND_LINE if one[0] in "ST"))
def test_a_reason_without_a_folder_is_tested_where_it_says(code: str) -> None:
    place = Path(__file__).parents[1] / NOT_FROM_THE_COMMAND_LINE[code].rpartition(": ")[2]
    assert f'"{code}"' in place.read_text(encoding="utf-8")
