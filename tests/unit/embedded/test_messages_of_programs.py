"""What programs in Python print about errors that their users correct, and what they accept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from psyclone_storage.cli.main import main

pytestmark = pytest.mark.compiled

HEAD = """
import sys
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def shift(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,013,000")]):
    new[0, 0] = old[3, 0]
"""
MODULE = """
module factor_mod
  use kind_params_mod, only: go_wp
  implicit none
  real(go_wp), parameter :: factor = 3.0_go_wp
end module factor_mod
"""
KERNEL = """
module scale_mod
  use argument_mod
  use kernel_mod
  use kind_params_mod, only: go_wp
  use factor_mod, only: factor
  implicit none
  type, extends(kernel_type) :: scale
    type(go_arg), dimension(2) :: meta_args = (/ &
      go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
      go_arg(GO_READ, GO_CT, GO_POINTWISE) /)
    integer :: ITERATES_OVER = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_ANY
  contains
    procedure, nopass :: code => scale_code
  end type scale
contains
  subroutine scale_code(i, j, new, old)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(inout) :: new
    real(go_wp), dimension(:,:), intent(in) :: old
    new(i,j) = factor * old(i,j)
  end subroutine scale_code
end module scale_mod
"""


def run(folder: Path, text: str) -> tuple[int, str]:
    program = folder / "model.py"
    program.write_text(HEAD + text)
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=os.environ
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("distributed", [True, False, None])
@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("periodic", [True, False])
def test_a_narrow_halo_names_kernel_stencil_and_fix(
    tmp_path: Path, target: str, distributed: bool | None, periodic: bool
) -> None:
    status, output = run(
        tmp_path,
        f"configure(target={target!r}, distributed={distributed})\n"
        f"grid = Grid((4, 4), periodic=({periodic}, {periodic}))\n"
        "invoke(shift(Field(grid), Field(grid)))\n",
    )
    assert status == 1
    for words in ("'shift'", "'old'", "GO_STENCIL('000,013,000')", "Grid(..., halo=3)"):
        assert words in output
    assert output.count('File "') == 1


def test_a_compile_error_is_printed_once_with_frames_of_the_program(tmp_path: Path) -> None:
    status, output = run(
        tmp_path,
        "grid = Grid((4, 4), halo=3)\n"
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def wrong(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):\n"
        "    new[0, 0] = old[1, 0]\n"
        "def step(new, old):\n"
        "    invoke(wrong(new, old))\n"
        "step(Field(grid), Field(grid))\n",
    )
    assert status == 1
    assert output.count('File "') == 2
    assert output.count("'old' is looked at outside of its stencil") == 1
    assert "Error" not in output


def test_another_hook_gets_the_error_with_frames_of_the_program(tmp_path: Path) -> None:
    status, output = run(
        tmp_path,
        "import traceback\n"
        "def hook(kind, error, trace):\n"
        "    print('hooked', len(traceback.extract_tb(trace)))\n"
        "sys.excepthook = hook\n"
        "grid = Grid((4, 4))\n"
        "invoke(shift(Field(grid), Field(grid)))\n",
    )
    assert status == 1
    assert output == "hooked 1\n"


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_dirty_flags_are_accepted(tmp_path: Path, target: str) -> None:
    status, output = run(
        tmp_path,
        f"configure(target={target!r}, distributed=True, config_opts='DIRTY_FLAGS=true')\n"
        "grid = Grid((6, 4), halo=3, periodic=(True, True))\n"
        "old = Field(grid, values=lambda x, y: x + 10 * y)\n"
        "new = Field(grid)\n"
        "for _ in range(3):\n"
        "    invoke(shift(new, old))\n"
        "print(new.values[0].tolist(), new.is_dirty())\n",
    )
    assert (status, output) == (0, "[14.0, 24.0, 34.0, 44.0] True\n")


@pytest.mark.parametrize("given", ["'kernels'", "['kernels']"])
def test_kernels_in_fortran_are_found_in_folders(
    tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "modules").mkdir()
    (tmp_path / "kernels" / "scale_mod.f90").write_text(KERNEL)
    (tmp_path / "kernels" / "factor_mod.f90").write_text(MODULE)
    status, output = run(
        tmp_path,
        f"configure(directories={given})\n"
        "scale = fortran_kernel('scale_mod.f90', 'scale')\n"
        "grid = Grid((4, 4))\n"
        "new = Field(grid)\n"
        "invoke(scale(new, Field(grid, values=2.0)))\n"
        "print(new.max())\n",
    )
    assert (status, output) == (0, "6.0\n")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    status, output = run(tmp_path, "configure(directories=['nowhere'])\n")
    assert status == 1
    assert "nowhere', one of the 'directories', is not a folder" in output


@pytest.mark.parametrize("other", ["", "from math import *\n", "import math\n"])
def test_star_imports_of_kernels_are_compiled_ahead(tmp_path: Path, other: str) -> None:
    (tmp_path / "shift_mod.py").write_text(HEAD)
    program = tmp_path / "model.py"
    program.write_text(
        f"from shift_mod import *\n{other}from psyclone_storage.gocean import *\n"
        "def step(new, old):\n    invoke(shift(new, old))\n"
    )
    made = tmp_path / "psy.py"
    words = ["-d", str(tmp_path), "-oalg", str(tmp_path / "alg.py"), "-opsy", str(made)]
    assert main([str(program), *words]) == 0
    assert "def invoke_0_shift(" in made.read_text()
