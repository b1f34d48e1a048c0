"""Variables of other modules in kernels in Python: each is itself, whatever others are called."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from psyclone_storage.gocean import configure, invoke
from psyclone_storage.runtime.gocean import Field, Grid

TEXT = """\
import m3
import m3_sub
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def put(u: field[GO_READWRITE, GO_EVERY]):
    a: float = m3.g
    b: float = m3.G
    c: float = m3.sub_d_e
    d: float = m3_sub.d_e
    e: float = m3.of[1, 0]
    f: float = m3.of[0, 1]
    u[0, 0] = a + b + c + d + e + f


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def add(u: field[GO_READWRITE, GO_EVERY]):
    m3_0sub_d_0e_of_module = 0.5
    a: float = m3_sub.d_e
    u[0, 0] = u[0, 0] + 2.0 * a + m3_0sub_d_0e_of_module


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def more(u: field[GO_READWRITE, GO_EVERY]):
    a: float = m3.G
    u[0, 0] = u[0, 0] + 3.0 * a
"""


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_names_that_differ_in_case_or_in_where_they_are_cut(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {
        "m3": {"g": 1.0, "G": 100.0, "sub_d_e": 1e3, "of": np.array([[0.0, 1e5], [1e6, 0.0]])},
        "m3_sub": {"d_e": 1e4},
    }
    for name, own in values.items():
        module = ModuleType(name)
        vars(module).update(own)
        monkeypatch.setitem(sys.modules, name, module)
    file = tmp_path / "put_mod.py"
    file.write_text(TEXT)
    module = ModuleType("put_mod")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "put_mod", module)
    exec(compile(TEXT, str(file), "exec"), module.__dict__)
    u = Field(Grid((4, 4), periodic=(True, True)), label="u")
    configure(target=target)
    try:
        invoke(module.put(u))
        assert np.all(u.values == 1111101.0)
        invoke(module.put(u), module.add(u), module.more(u))
        assert np.all(u.values == 1131401.5)
    finally:
        configure()
