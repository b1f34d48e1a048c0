"""Invokes that stay on the host while others of the model leave their data on a device."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from command import Outcome, run_command

TESTS = Path(__file__).parents[2]
SWEEPS = TESTS / "errors" / "T090_stays_on_the_host" / "kernels"
GOCEAN = """\
module edges_mod
  use field_mod, only: r2d_field
  use spread_east_mod, only: spread_east
  use sweep_mod, only: sweep
contains
  subroutine edges(height, depth)
    type(r2d_field), intent(inout) :: height, depth
    {invokes}
  end subroutine edges
end module edges_mod
"""
LFRIC = """\
module noise_alg_mod
  use field_mod, only: field_type
contains
  subroutine add_noise(theta, mass)
    type(field_type), intent(inout) :: theta, mass
    {invokes}
  end subroutine add_noise
end module noise_alg_mod
"""
THERE_AND_HERE = "call invoke(spread_east(height))\n    call invoke(sweep(height))"
ONLY_HERE = "call invoke(sweep(height), sweep(depth))"


def compiled(folder: Path, api: str, invokes: str, *words: str) -> Outcome:
    text = {"gocean": GOCEAN, "lfric": LFRIC}[api].format(invokes=invokes)
    (folder / "alg.x90").write_text(text, encoding="utf-8")
    if not (folder / "kernels").is_dir():
        shutil.copytree(SWEEPS, folder / "kernels")
    given = ["-api", api, "-d", "kernels", "-nodm", "--check", *words, "alg.x90"]
    done = run_command([*given, "-oalg", "alg.f90", "-opsy", "psy.f90"], folder)
    assert done.status == 0, done.err
    return done


def routine(done: Outcome, name: str) -> list[str]:
    """Return the statements of a routine behind its declarations."""
    text = done.written["psy.f90"]
    found = re.search(rf"subroutine {name}\(.*?end subroutine {name}", text, re.DOTALL)
    assert found
    return [line.strip() for line in found[0].partition("! Loops")[2].splitlines()]


GUARDED = [
    "if (height%data_on_device) then",
    "!$acc update host(height%data)",
    "end if",
    "if (height%data_on_device) then",
    "call update_device(height%data)",
    "end if",
]


def transfers(done: Outcome, name: str) -> list[str]:
    words = ("data_on_device", "!$acc", "update_device", "end if")
    return [line for line in routine(done, name) if any(word in line for word in words)]


def test_an_invoke_on_the_host_brings_what_another_has_left_on_a_device(tmp_path: Path) -> None:
    done = compiled(tmp_path, "gocean", THERE_AND_HERE, "--apply", "openacc")
    assert transfers(done, "invoke_1_sweep") == GUARDED
    assert done.err.count("warning[T090]: 'sweep' stays on the host, to which") == 1


def test_copies_of_lfric_ask_whether_a_device_has_them(tmp_path: Path) -> None:
    invokes = "call invoke(setval_X(theta, mass))\n    call invoke(setval_random(theta))"
    done = compiled(tmp_path, "lfric", invokes, "--apply", "openacc")
    assert [line for line in routine(done, "invoke_1") if "!$acc" in line] == [
        "!$acc update host(theta_data) if_present",
        "!$acc update device(theta_data) if_present",
    ]
    assert done.err.count("warning[T090]: 'setval_random' stays on the host") == 1


def test_a_file_of_which_all_stays_on_the_host_is_one_of_a_model(tmp_path: Path) -> None:
    done = compiled(tmp_path, "gocean", ONLY_HERE, "--apply", "openacc")
    assert transfers(done, "invoke_0") == [
        *GUARDED[:3],
        *(line.replace("height", "depth") for line in GUARDED[:3]),
        *GUARDED[3:],
        *(line.replace("height", "depth") for line in GUARDED[3:]),
    ]
    assert done.err.count("warning[T090]") == 2


def test_a_script_that_puts_one_invoke_on_a_device_is_enough(tmp_path: Path) -> None:
    script = "def trans(psy):\n    psy.invokes.invoke_list[0].schedule.apply('openacc')\n"
    (tmp_path / "there.py").write_text(script, encoding="utf-8")
    done = compiled(tmp_path, "gocean", THERE_AND_HERE, "-s", "there.py")
    assert transfers(done, "invoke_1_sweep") == GUARDED


def test_a_file_is_told_by_an_update_that_another_uses_a_device(tmp_path: Path) -> None:
    done = compiled(tmp_path, "gocean", "call invoke(sweep(height))", "--apply", "acc-update")
    assert transfers(done, "invoke_0_sweep") == GUARDED


@pytest.mark.parametrize(
    "words", [(), ("--target", "storage", "--apply", "acc-routine; acc-loop; acc-parallel")]
)
def test_nothing_moves_where_nobody_uses_a_device_or_storages_do_it(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = compiled(tmp_path, "gocean", ONLY_HERE, *words)
    assert "!$acc" not in done.written["psy.f90"]
    assert "data_on_device" not in done.written["psy.f90"]


@pytest.mark.parametrize("calls", [False, True])
def test_what_no_device_runs_is_not_recommended_for_one(calls: bool, tmp_path: Path) -> None:
    shutil.copytree(SWEEPS, tmp_path / "kernels")
    if calls:
        file = tmp_path / "kernels" / "sweep_mod.f90"
        text = file.read_text(encoding="utf-8")
        before = "    height(i, j) ="
        assert text.count(before) == 1
        file.write_text(text.replace(before, f"    call other(height)\n{before}"), encoding="utf-8")
    hint = compiled(tmp_path, "gocean", THERE_AND_HERE, "--apply", "openacc").err.partition("hint:")
    assert ("acc-kernels" in hint[2]) is not calls
