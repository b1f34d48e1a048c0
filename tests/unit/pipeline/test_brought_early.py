"""Data of layers for devices that begin to be brought early: planned, said, and seen to overlap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from command import run_command
from psyclone_storage import storage
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
)
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage.memory.races import Trace, traced

MODEL = """from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]


def step(new, old, late, forcing):
    invoke(double(new, old), double(late, forcing), name="step")
"""


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def add(to: field[GO_READWRITE, GO_CT], some: field[GO_READ, GO_CT]):
    to[0, 0] = to[0, 0] + some[0, 0]


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    storage.use_device("emulated", storage.Emulation(order="late"))
    configure(target="cuda")
    yield
    configure()
    storage.use_device("auto")


def step(new: Field, old: Field, late: Field, forcing: Field) -> None:
    invoke(double(new, old), add(late, forcing), name="step")


def kernels_beside(trace: Trace, label: str) -> int:
    """Return beside how many kernels a field may be on its way to the device."""
    return sum(
        any(use.label == label and use.place != "host" for use in copy.uses)
        for copy, _ in trace.beside("copy", "kernel")
    )


def test_what_a_later_kernel_needs_comes_while_others_compute() -> None:
    grid = Grid((8, 8), device="gpu")
    new, old, late, forcing = (
        Field(grid, label=name, values=np.ones((8, 8)))
        for name in ("new", "old", "late", "forcing")
    )
    step(new, old, late, forcing)
    for one in (old, forcing):
        one.storage[...] = 3.0
    with traced() as trace:
        step(new, old, late, forcing)
    assert kernels_beside(trace, "forcing") == 1
    assert kernels_beside(trace, "old") == 0
    assert len([one for one in trace.pieces if one.what == "kernel"]) == 2
    assert set(new.values.ravel().tolist()) == {6.0}
    assert set(late.values.ravel().tolist()) == {5.0}


def test_the_layer_and_the_explanation_say_so(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    files = ("-oalg", "alg.py", "-opsy", "model_psy.py")
    done = run_command(["model.py", *files, "--target", "cuda", "--check", "--explain"], tmp_path)
    assert done.status == 0, done.err
    layer = done.written["model_psy.py"]
    assert "# forcing: read by double; on its way from the beginning, waited for by double" in layer
    assert "# old: read by double\n" in layer
    assert "4 times data are acquired of storages, 2 times brought early" in done.out
    assert "forcing: brought to the device early, before" in done.out


def test_on_the_host_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    files = ("-oalg", "alg.py", "-opsy", "model_psy.py")
    done = run_command(["model.py", *files, "--explain"], tmp_path)
    assert "early" not in done.out
    assert "on its way" not in done.written["model_psy.py"]
