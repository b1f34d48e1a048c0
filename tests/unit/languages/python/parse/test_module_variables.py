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


READS = """\
import m4
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def row(u: field[GO_READWRITE, GO_EVERY]):
    a: float = m4.wide[1]
    u[0, 0] = a


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def whole(u: field[GO_READWRITE, GO_EVERY]):
    a: float = m4.row
    u[0, 0] = a


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def cut(u: field[GO_READWRITE, GO_EVERY]):
    n: int = m4.wide[1, 1]
    u[0, 0] = n


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def outside(u: field[GO_READWRITE, GO_EVERY]):
    a: float = m4.wide[5, 0]
    u[0, 0] = a
"""


@pytest.mark.parametrize(
    ("kernel", "error", "said"),
    [
        ("row", TypeError, r"'m4.wide\[1\]' as one number, and it is an array .* \(7,\)"),
        ("whole", TypeError, "'m4.row' as one number"),
        ("cut", TypeError, r"'m4.wide\[1, 1\]' as int, and it is .* of the type float64"),
        ("outside", IndexError, r"'m4.wide\[5, 0\]', which is not there: index 5 is out of"),
    ],
)
def test_what_is_no_single_value_of_its_type_is_refused(
    kernel: str,
    error: type[Exception],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As many elements as there are points in a row: NumPy would write one to each of them.
    there = ModuleType("m4")
    vars(there).update(wide=np.arange(14.0).reshape(2, 7), row=np.arange(7.0))
    monkeypatch.setitem(sys.modules, "m4", there)
    file = tmp_path / "reads_mod.py"
    file.write_text(READS)
    module = ModuleType("reads_mod")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "reads_mod", module)
    exec(compile(READS, str(file), "exec"), module.__dict__)
    u = Field(Grid((4, 4), periodic=(True, True)), label="u")
    configure(target="numpy")
    try:
        with pytest.raises(error, match=said):
            invoke(getattr(module, kernel)(u))
    finally:
        configure()
