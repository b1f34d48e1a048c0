"""Run-time checks of halos (RUN_TIME_CHECKS = halos) in Python programs, on several ranks.

They report nothing for layers as generated, and each dropped exchange or flag update that changes a
value. Fields are on grids; NumPy and C compute.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import product
from pathlib import Path

import pytest

from command import run_command
from pairwise import selected
from runtime.programs import command

SRC = Path(__file__).parents[2] / "src"
PROGRAM = Path(__file__).parent / "grids" / "checked.py"
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
CHECKS = "RUN_TIME_CHECKS=halos"
STATEMENT = re.compile(
    r"^( +)((?:[\w\[\]]+\.)?(?:exchange|set_dirty|set_clean)\(.*\))$", re.MULTILINE
)
DROPPED = re.compile(r"if performs\(\d+\): .*")
LEAST_WRONG = 7
DROPPING = """
import os
DROPPED = [int(os.environ.get("DROPPED", "-1"))]
MUTATIONS = {count}


def performs(number):
    return number != DROPPED[0]
"""

ALGORITHM = '''"""Kernels with stencils of several widths, and fields of several types."""

from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def near(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("111,111,111")],
):
    new[0, 0] = 0.25 * (old[-1, -1] + old[1, 1]) + 0.5 * old[0, -1] + old[-1, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def far(
    new: field[GO_READWRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("11111,11111,11111,11111,11111")],
):
    new[0, 0] = new[0, 0] + 0.25 * (old[-2, 0] + old[0, 2])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def less_exact(
    new: field[GO_WRITE, GO_CT, GO_FLOAT32],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_FLOAT32],
):
    new[0, 0] = 0.25 * (old[-1, 0] + old[1, 0])


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def counts(
    new: field[GO_WRITE, GO_CT, GO_LAYERS, GO_INT32],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,010,010"), GO_LAYERS, GO_INT32],
):
    for k in layers():
        new[0, 0, k] = (old[0, -1, k] % 100 + 2 * (old[0, 1, k] % 100) + k) % 97


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def in_layers(
    new: field[GO_WRITE, GO_CT, GO_LAYERS],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,111,000"), GO_LAYERS],
):
    for k in layers():
        new[0, 0, k] = 0.5 * (old[-1, 0, k] + old[1, 0, k]) + k


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def everywhere(new: field[GO_READWRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = new[0, 0] + 0.125 * old[0, 0]


def first(one, two, three, fixed):
    invoke(near(two, one), far(three, one), everywhere(two, three), near(one, two),
           near(three, fixed), far(one, three), name="first")


def second(small, less, count, counted, deep, deeper):
    invoke(less_exact(less, small), less_exact(small, less), counts(counted, count),
           counts(count, counted), in_layers(deeper, deep), in_layers(deep, deeper),
           name="second")
'''

pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("kept_invokes", "quickly")]
BOUNDARIES = ("open", "closed", "periodic", "prescribed")
CHECKED = (("numpy", "true", 4), ("c", "false", 2), ("c", "true", 1), ("numpy", "false", 6))
"""Targets, settings of flags, and numbers of ranks."""


def numbered(text: str) -> str:
    """Return a layer in which each exchange and flag update can be left out, by its number."""
    count = iter(range(len(STATEMENT.findall(text))))
    text, made = STATEMENT.subn(
        lambda found: f"{found[1]}if performs({next(count)}): {found[2]}", text
    )
    head, end, rest = text.partition("\n\n\n")
    return f"{head}\n{DROPPING.format(count=made)}{end}{rest}"


def grid_runs(
    folder: Path, target: str, flags: str, words: list[str], ranks: int
) -> list[list[str]]:
    """Return for each run its number, the ranks with errors, whether values differ, an error."""
    pytest.importorskip("mpi4py")
    (folder / "algorithm.py").write_text(ALGORITHM)
    asked = ["algorithm.py", "-api", "gocean", "--target", target]
    out = ["-oalg", "changed.py", "-opsy", "layer.py"]
    done = run_command([*asked, "--config-opts", f"{CHECKS} DIRTY_FLAGS={flags}", *out], folder)
    assert done.status == 0, done.err
    layer = folder / "layer.py"
    layer.write_text(numbered(layer.read_text()))
    paths = os.pathsep.join((str(folder), str(SRC), os.environ.get("PYTHONPATH", "")))
    program = [sys.executable, str(PROGRAM), "layer", *words]
    said = command(["env", f"PYTHONPATH={paths}", *MPIRUN, str(ranks), *program], folder)
    return [line.split(" ", 4)[1:] for line in said.splitlines() if line.startswith("run ")]


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(BOUNDARIES, CHECKED)],
        *(
            (boundaries, CHECKED[(at + half) % len(CHECKED)])
            for at, boundaries in enumerate(BOUNDARIES)
            for half in (0, 2)
        ),
    ),
)
def test_layers_for_grids_have_no_errors(
    tmp_path: Path, combination: tuple[str, tuple[str, str, int]]
) -> None:
    """Also if a field is written by hand and marked."""
    boundaries, (target, flags, ranks) = combination
    runs = grid_runs(tmp_path, target, flags, ["marked", boundaries], ranks)
    assert [run[:3] for run in runs] == [["all:", "0", "False"]], runs


@pytest.mark.parametrize(("target", "ranks"), [("numpy", 2), ("c", 4)])
def test_a_write_without_a_mark_is_reported(tmp_path: Path, target: str, ranks: int) -> None:
    runs = grid_runs(tmp_path, target, "true", ["unmarked", "periodic"], ranks)
    ((_, count, _, error),) = runs
    assert count == str(ranks)
    assert re.fullmatch(
        r"invoke_first, rank 0: field 'fixed': level 1 of the halo is marked clean, differs from "
        r"its owners, and near \(algorithm.py:\d+\) reads it; last written by "
        r"no loop with checks\.",
        error,
    )


@pytest.mark.parametrize(
    ("flags", "ranks", "boundaries"),
    [("true", 2, "periodic"), ("true", 4, "open"), ("false", 4, "closed"), ("false", 2, "open")],
)
def test_each_statement_dropped_for_grids_is_reported(
    tmp_path: Path, flags: str, ranks: int, boundaries: str
) -> None:
    """Marks of fields that are dirty already change nothing."""
    runs = grid_runs(tmp_path, "numpy", flags, ["mutated", boundaries], ranks)
    dropped = DROPPED.findall((tmp_path / "layer.py").read_text())
    assert len(dropped) == len(runs) - 1
    silent = [one for one, run in zip(dropped, runs[1:], strict=True) if run[1] == "0"]
    wrong = [one for one, run in zip(dropped, runs[1:], strict=True) if run[2] == "True"]
    assert set(silent) & set(wrong) == set()
    assert [one for one in silent if "exchange" in one] == []
    assert len(wrong) > LEAST_WRONG
