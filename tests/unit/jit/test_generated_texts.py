"""Invokes of texts that are no modules: cells of a notebook, and what is executed."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import (
    GO_ALL_PTS,
    GO_EVERY,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    field,
    kernel,
    scalar,
)
from psyclone_storage.runtime.gocean import Field, Grid


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def times(new: field[GO_READWRITE, GO_EVERY], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


def ones() -> Field:
    return Field(Grid((4, 3)), values=1.0)


def test_cells_of_a_notebook() -> None:
    head = "from psyclone_storage.gocean import *\nimport math as m\nDEPTH = 2\n"
    cell = (
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def fill(new: field[GO_WRITE, GO_CT]):\n"
        "    new[0, 0] = m.sqrt(DEPTH * 8.0)\n"
    )
    names: dict[str, Any] = {"__name__": "__main__", "one": ones()}
    main = sys.modules["__main__"]
    for number, text in enumerate((head, cell, "invoke(fill(one), name='cell')\n")):
        file = f"<cell {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), names)
        main.DEPTH = 2
    assert np.all(names["one"].values == 4.0)


def test_a_kernel_of_no_module_is_refused(tmp_path: Path) -> None:
    """As of a program that is executed without a name: constants are read from modules."""
    file = tmp_path / "nameless.py"
    file.write_text(
        "from psyclone_storage.gocean import *\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\n"
        "SHARE = 0.5\n"
        "@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def part(y: field[GO_READWRITE, GO_EVERY]):\n"
        "    y[0, 0] = SHARE * y[0, 0]\n"
        "y = Field(Grid((3, 3)), values=2.0)\n"
        "invoke(part(y))\n"
    )
    text = compile(file.read_text(), str(file), "exec")
    with pytest.raises(CompileError, match="P052: The kernel 'part' is in no module"):
        exec(text, {})
    with pytest.MonkeyPatch.context() as patch:
        main = ModuleType("__main__")
        patch.setitem(sys.modules, "__main__", main)
        exec(text, vars(main))
    assert main.y.values[1, 1] == 1.0


def test_the_text_that_counts_is_that_which_runs(tmp_path: Path) -> None:
    """A file that is changed behind the program's back does not change what it computes."""
    file = tmp_path / "edited.py"
    file.write_text("from psyclone_storage.gocean import *\ninvoke(scale(new, 2.0))\n")
    code = compile(file.read_text(), str(file), "exec")
    file.write_text(file.read_text().replace("2.0", "9.0"))
    new = ones()
    exec(code, {"scale": times, "new": new})
    assert new.values.max() == 2.0
