"""Of the ranks of a node one compiles an invoke; a failure reaches all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from psyclone_storage.base.compilers import find_c_compiler

PROGRAM = """
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]

grid = Grid((16, 16))
old, new = Field(grid, values=1.0), Field(grid)
invoke(double(new, old))
invoke(double(old, new), double(new, old))
print(f"the sum is {new.sum()}")
"""
COMPILER = """#!/bin/sh
echo run >> {log}
sleep 0.2
{rest}
"""
RANKS = 4
SECONDS = 120

pytestmark = [pytest.mark.mpi, pytest.mark.compiled]


def run(folder: Path, rest: str) -> tuple[int, str, int]:
    """Run the program on a cold cache; return also how often the compiler ran."""
    program, compiler, log = folder / "model.py", folder / "cc", folder / "log"
    program.write_text(PROGRAM)
    if not compiler.exists():
        compiler.write_text(COMPILER.format(log=log, rest=rest))
    compiler.chmod(0o755)
    cold = {"CC": str(compiler), "PSYCLONE_STORAGE_LIBRARIES": str(folder / "libraries")}
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(RANKS), sys.executable]
    done = subprocess.run(
        [*command, str(program)], capture_output=True, text=True, timeout=SECONDS, check=False,
        env=os.environ | cold,
    )  # fmt: skip
    runs = len(log.read_text().split()) if log.exists() else 0
    return done.returncode, done.stdout + done.stderr, runs


def test_one_rank_compiles_each_invoke(tmp_path: Path) -> None:
    status, output, runs = run(tmp_path, f'exec {find_c_compiler()} "$@"')
    assert (status, output.count("the sum is 2048.0")) == (0, RANKS)
    assert runs == 2
    status, output, runs = run(tmp_path, f'exec {find_c_compiler()} "$@"')
    assert (status, runs) == (0, 2), "nothing is compiled again with the same compiler"


def test_a_compiler_that_fails_keeps_no_rank_waiting(tmp_path: Path) -> None:
    """Each rank falls back to NumPy; ranks that have waited do not repeat the warning."""
    status, output, runs = run(tmp_path, "sleep 3; echo 'error: deliberate' >&2; exit 1")
    assert (status, output.count("the sum is 2048.0")) == (0, RANKS)
    assert 1 <= output.count("error: deliberate") < RANKS
    assert runs < 2 * RANKS


def test_a_compiling_rank_that_is_killed_ends_the_program(tmp_path: Path) -> None:
    status, output, _ = run(tmp_path, "kill -9 $PPID; sleep 1")
    assert status != 0
    assert "the sum" not in output
