"""Names and types of arguments in C and CUDA: all targets compute the same bits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.python_kernels import SETTINGS
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage.core.device import DeviceKind, use_device

KERNEL = """
from psyclone_storage.gocean import *

data = 2.0
counts = 3
reals = 4.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def odd(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
):
    new[0, 0] = old[1, 0] * rate + step * data + counts - reals
"""
SHAPE = (23, 9)


def built(folder: Path, actuals: str, target: str, steps: str) -> Build:
    """Return what is made of one call, whose actual arguments that are names are passed to it."""
    (folder / "odd_mod.py").write_text(KERNEL)
    names = ", ".join(dict.fromkeys(one for one in actuals.split(", ") if one.isidentifier()))
    text = (
        "from psyclone_storage.gocean import invoke\nfrom odd_mod import odd\n\n\n"
        f"def run({names}):\n    invoke(odd({actuals}))\n"
    )
    asked = CompileRequest(
        "gocean", distributed=False, directories=(folder,), suffix=".py", target=target, steps=steps
    )
    return make_compiler(SETTINGS, asked).compile_text(SourceText("alg.py", text))


def computed(build: Build, target: str) -> list[Any]:
    """Return the values of all fields after the invoke; scalars are 3."""
    names: dict[str, Any] = {"__name__": "psy"}
    for _, text in build.beside:
        names["__c__"] = text
    exec(compile(build.psy_text, "<psy>", "exec"), names)
    grid = Grid(SHAPE, halo=2, device="gpu" if target == "cuda" else None)
    random = np.random.default_rng(3)
    (invoke,) = build.program.invokes
    passed = [
        Field(grid, values=random.random(SHAPE)) if datum.kind is ArgKind.FIELD else 3
        for datum in invoke.schedule.data
    ]
    names[invoke.name](*passed)
    return [np.array(one.storage.to_numpy()) for one in passed if isinstance(one, Field)]


@pytest.mark.parametrize(
    ("actuals", "steps"),
    [
        ("data, counts, reals, tables", ""),
        ("odd_code, b, invoke_0_odd_1_loops, n", ""),
        ("i, j, nx, ny", ""),
        ("i_first, j_last, thread, threads", ""),
        ("column, row, blockIdx, step", ""),
        ("double, register, main, go_wp", ""),
        ("a, b, -1.5, -3", ""),
        ("a, b, 1e-30, 3", "auto"),
        # One number for a real and for an integer.
        ("a, b, r, r", ""),
        # A thread has a column of its own also where the outer loop counts columns.
        ("a, b, r, n", "swap-loops"),
        ("a, b, r, n", "tile-loops{rows=2 columns=3}; openmp-parallel-do"),
    ],
)
def test_all_targets_compute_the_same(
    actuals: str, steps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "odd_mod", raising=False)
    use_device(DeviceKind.EMULATED)
    found = {
        target: computed(built(tmp_path, actuals, target, steps), target)
        for target in ("numpy", "c", "cuda")
    }
    for target in ("c", "cuda"):
        assert all(map(np.array_equal, found[target], found["numpy"])), target
    assert not np.array_equal(*found["numpy"])


def test_a_number_is_passed_once_for_each_type(tmp_path: Path) -> None:
    build = built(tmp_path, "a, b, r, r", "c", "")
    assert '("invoke_0_odd_1", "didid")' in build.psy_text
    assert "run(0, r, r, " in build.psy_text


@pytest.mark.parametrize("target", ["numpy", "c"])
def test_a_field_with_the_name_of_a_module_imports_nothing(target: str, tmp_path: Path) -> None:
    text = built(tmp_path, "ctypes, b, r, n", target, "").psy_text
    assert "ctypes.internal" in text
    assert "import ctypes" not in text
