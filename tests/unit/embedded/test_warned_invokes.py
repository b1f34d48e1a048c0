"""Warnings of the compilation of an invoke in a running program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def relax(a: field[GO_READWRITE, GO_CT, GO_STENCIL("000,110,000")]):
    a[0, 0] = 0.5 * (a[0, 0] + a[-1, 0])


grid = Grid((4, 3))
heat = Field(grid, values=1.0)
for _ in range(2):
    invoke(relax(heat))
"""


def test_each_run_prints_a_warning_once(tmp_path: Path) -> None:
    """The order of points matters to the kernel; a cached invoke must not hide this."""
    program = tmp_path / "relax.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "PSYCLONE_STORAGE_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(program)]
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr.count("warning[S121]") == 1
        assert done.stderr.startswith(f"{program}:13: UserWarning: ")
