"""What `--explain` says of LFRic's programs in Python on devices, and that it is what happens."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import run_command
from psyclone_storage import storage
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.lfric import Result
from psyclone_storage.runtime.lfric import Field, Mesh

KERNELS = """
from psyclone_storage.lfric import *


@kernel(operates_on=CELL_COLUMN)
def push(wind: field[GH_INC, W2], pressure: field[GH_READ, W3]):
    for k in layers():
        wind[0, k] -= pressure[0, k]
"""
ALGORITHM = """
from explained_kernels import push
from psyclone_storage.lfric import *


def step(other, wind, pressure, total):
    invoke(setval_c(other, 0.5), push(wind, pressure), sum_X(total, other), setval_X(last, wind))
"""
BLOCK = re.compile(r"^(\w+): ([^\n]+)\n((?:  [^\n]+\n?)+)", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "explained_kernels.py").write_text(KERNELS)
    (tmp_path / "explained.py").write_text(ALGORITHM)
    monkeypatch.syspath_prepend(tmp_path)
    storage.use_device("emulated")
    yield tmp_path
    storage.use_device("auto")
    sys.modules.pop("explained_psy", None)


def explained(folder: Path, target: str) -> dict[tuple[str, str], str]:
    """Return what is said of each datum under each heading."""
    words = ["explained.py", "-api", "lfric", "-d", ".", "--target", target, "--apply", "colour"]
    done = run_command([*words, "--explain", "-oalg", "a.py", "-opsy", "explained_psy.py"], folder)
    assert done.status == 0, done.err
    return {(name, heading): rest for name, heading, rest in BLOCK.findall(done.out)}


def test_what_is_said_of_a_device_is_what_is_moved(folder: Path) -> None:
    if find_fortran_compiler() is None or find_c_compiler() is None:
        pytest.skip("no compilers")
    said = explained(folder, "cuda")
    changed = "changed on the device"
    early = {name for name, heading in said if heading.startswith("brought to the device early")}
    assert early == {"wind", "pressure"}
    for name in ("other", "last"):
        assert "brought: never, as setval" in said[name, changed]
    assert "if it is stale there, as its halo is exchanged" in said["pressure", changed]
    assert not any("host" in heading for _, heading in said)
    from explained_psy import invoke_0  # type: ignore[import-not-found]  # noqa: PLC0415

    mesh = Mesh.planar((4, 3), layers=2, device="gpu")
    data: dict[str, Any] = {
        name: Field(mesh.space("W3" if name == "pressure" else "W2"), name, values=1.0)
        for name in ("other", "wind", "pressure", "last")
    }
    total = Result()
    for _ in range(3):
        invoke_0(data["other"], data["wind"], data["pressure"], total, data["last"])
    moved = {name: one.storage.buffer.stats.count for name, one in data.items()}
    assert moved == {name: int(name in early) for name in data}
    assert total.value == 0.5 * data["other"].space.ndof_global
    np.testing.assert_array_equal(data["last"].values, data["wind"].values)
    text = (folder / "explained_psy.py").read_text()
    for name in early:
        assert re.search(rf"# {name}: [^\n]*; on its way from the beginning", text)


def test_of_the_host_nothing_is_said_to_come_early(folder: Path) -> None:
    said = explained(folder, "c")
    assert {heading for _, heading in said if "changed" in heading} == {"changed on the host"}
    assert not any("early" in heading or "device" in heading for _, heading in said)
