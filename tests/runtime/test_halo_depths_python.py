"""Redundant computation and asserted spaces in LFRic programs in Python, by value."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command import run_command

PROGRAM = """\
import sys
from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh

def run(one, two, x):
    invoke(setval_c(one, 2.0), setval_X(two, one), setval_c(x, 3.0), inc_a_times_X(2.0, x),
           name="step")

mesh = Mesh.planar((6, 4), (1.0, 1.0), layers=3, halo_depth=3)
a, b = Field(mesh.space("W3"), "a", halo_depth=2), Field(mesh.space("W3"), "b")
x = Field(mesh.space(sys.argv[1]), "x", halo_depth=3)
run(a, b, x)
print(a.sum(), b.sum(), x.sum())
"""
FUSED = "fuse{first=loop2 second=loop3 same_space=true}"

pytestmark = pytest.mark.fortran


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize(
    ("recipe", "space", "said"),
    [
        ("compute-redundantly{depth=0}", "W2", "144.0 144.0 1440.0"),
        ("compute-redundantly{depth=1}", "W2", "144.0 144.0 1440.0"),
        ("compute-redundantly{depth=2}", "W2", "The halo of the field 'b' is 1 deep, not 2"),
        (FUSED, "W3", "144.0 144.0 432.0"),
        (FUSED, "W2", "owned, annexed and all dofs: remove 'same_space' from the recipe"),
    ],
)
def test_what_steps_rely_on_is_checked(
    tmp_path: Path, target: str, recipe: str, space: str, said: str
) -> None:
    (tmp_path / "al.py").write_text(PROGRAM)
    made = tmp_path / "made"
    made.mkdir()
    words = ["psyclone-storage", "al.py", "--target", target, "--apply", recipe, "--check"]
    out = ["-oalg", str(made / "al.py"), "-opsy", str(made / "al_psy.py")]
    assert run_command([*words, *out], tmp_path).status == 0
    done = subprocess.run(
        [sys.executable, "al.py", space], cwd=made, capture_output=True, text=True, check=False
    )
    assert said in done.stdout + done.stderr
