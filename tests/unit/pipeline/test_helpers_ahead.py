"""Functions that kernels in Python call, compiled ahead: they are in files that count."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from command import run_command
from psyclone_storage.runtime.gocean import Field, Grid
from unit.pipeline.test_mixed import loaded

FILES = {
    "alg.py": """
from psyclone_storage.gocean import *
from flow_mod import push


def run(new, old):
    invoke(push(new, old))
""",
    "flow_mod.py": """
from psyclone_storage.gocean import *
from physics.waves import speed as speed_of
from .tools import half

DEPTH = 100.0


def deep(x):
    return x > DEPTH


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def push(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = half(speed_of(old[0, 0])) if not deep(old[0, 0]) else DEPTH
""",
    "tools.py": "def half(x):\n    return 0.5 * x\n",
    "physics/waves.py": """
import math

GRAVITY = 9.81


def speed(depth):
    if depth < 0.0:
        return 0.0
    return math.sqrt(GRAVITY * depth)
""",
    "other/waves.py": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "kept"))
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def made(folder: Path, target: str = "c") -> str:
    words = ["alg.py", "-d", ".", "-oalg", "made.py", "-opsy", "alg_psy.py", "--target", target]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    beside = folder / "alg_psy.c"
    return beside.read_text() if beside.exists() else (folder / "alg_psy.py").read_text()


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_computes(folder: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "flow_mod.py").write_text(FILES["flow_mod.py"].replace(".tools", "tools"))
    made(folder, target)
    for name in ("flow_mod", "tools", "physics", "physics.waves"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    grid, values = Grid((4, 3)), np.array([[-1.0, 0.0, 1.0], *[[4.0, 200.0, 100.0]] * 3])
    new, old = Field(grid), Field(grid, values=values)
    loaded(folder / "made.py", monkeypatch).run(new, old)
    speed = np.sqrt(9.81 * np.maximum(values, 0.0)) * 0.5
    assert np.array_equal(new.values, np.where(values > 100.0, 100.0, speed))


@pytest.mark.parametrize("name", ["flow_mod.py", "tools.py", "physics/waves.py"])
def test_results_depend_on_what_is_called(folder: Path, name: str) -> None:
    first = made(folder)
    assert made(folder) == first
    text = FILES[name].replace("return 0.5 *", "return 0.25 *").replace("return 0.0", "return 1.0")
    (folder / name).write_text(text.replace("return x >", "return x <"))
    assert made(folder) != first


def refused(folder: Path) -> str:
    done = run_command(["alg.py", "-d", ".", "-oalg", "made.py", "-opsy", "alg_psy.py"], folder)
    assert done.status != 0
    assert "Traceback" not in done.err
    return done.err


def test_what_is_not_found(folder: Path) -> None:
    (folder / "tools.py").unlink()
    assert "The module 'tools' of the function 'half' is not found." in refused(folder)
    (folder / "tools.py").write_text("def half(x):\n    return missing(x)\n")
    found = refused(folder)
    assert "'missing' is no function" in found
    assert "--> tools.py:2:12" in found
    assert "--> flow_mod.py:15:17" in found
    (folder / "tools.py").write_text("def other(x):\n    return x\n")
    assert "The module '.tools' has no function 'half' that a kernel can call." in refused(folder)
    (folder / "tools.py").write_text("def half(x):\n    return x +\n")
    assert "error[P050]" in refused(folder)
