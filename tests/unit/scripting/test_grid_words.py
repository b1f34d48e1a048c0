"""PSyclone's words for loops over a grid, in both of its generations."""

from __future__ import annotations

from pathlib import Path

import pytest

from gocean_programs import READ, WRITE, kernel, program
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import LAST_INTERNAL
from psyclone_storage.ir.schedule import Loop, Schedule
from psyclone_storage.ir.walk import statements
from psyclone_storage.scripting.recipe import read_recipe

KERNELS = {
    "copy": kernel(WRITE, READ, name="copy"),
    "copy_u": kernel("go_write, go_cu, go_pointwise", READ, name="copy_u"),
    "outside": kernel(WRITE, READ, name="outside", over="go_all_pts", offset="go_offset_any"),
}
OLD = """from psyclone.transformations import {0}
def trans(psy):
    schedule = psy.invokes.get("invoke_0").schedule
    {1}
    return psy
"""
NEW = """from psyclone.psyir.transformations import {0}
from psyclone.psyir.nodes import Loop
def trans(psyir):
    loop = psyir.walk(Loop)[0]
    {1}
"""


def run(folder: Path, text: str, calls: str) -> Schedule:
    """Return the schedule that a script leaves of one invoke without distributed memory."""
    path = folder / "optimise.py"
    path.write_text(text, encoding="utf-8")
    given = program(KERNELS, calls, distributed=False)
    return read_recipe(path).run(given, GoceanRules()).invokes[0].schedule


def loops(made: Schedule) -> list[tuple[str, str, int]]:
    return [
        (item.uid, item.over.value, item.tile)
        for item in statements(made)
        if isinstance(item, Loop)
    ]


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        (
            "LoopSwapTrans",
            "LoopSwapTrans().apply(loop)",
            [("columns@loop1", "columns", 0), ("loop1", "rows", 0)],
        ),
        (
            "ChunkLoopTrans",
            "ChunkLoopTrans().apply(loop, chunksize=8)",
            [
                ("loop1", "tiles of rows", 8),
                ("chunk(loop1)", "rows of a tile", 8),
                ("columns@loop1", "columns", 0),
            ],
        ),
        (
            "LoopTiling2DTrans",
            "LoopTiling2DTrans().apply(loop, options={'tilesize': 4})",
            [
                ("loop1", "tiles of rows", 4),
                ("columns@loop1", "tiles of columns", 4),
                ("tile(loop1)", "rows of a tile", 4),
                ("tile(columns@loop1)", "columns of a tile", 4),
            ],
        ),
        (
            "LoopTilingTrans",
            "LoopTilingTrans().apply(loop, tiledims=[4, 16])",
            [
                ("loop1", "tiles of rows", 4),
                ("columns@loop1", "tiles of columns", 16),
                ("tile(loop1)", "rows of a tile", 4),
                ("tile(columns@loop1)", "columns of a tile", 16),
            ],
        ),
    ],
)
def test_words_for_nests(
    tmp_path: Path, name: str, line: str, expected: list[tuple[str, str, int]]
) -> None:
    assert (
        loops(run(tmp_path, NEW.format(name, line), "copy(a, b), copy(c, b)"))[: len(expected)]
        == expected
    )


def test_constant_bounds_are_for_a_whole_schedule(tmp_path: Path) -> None:
    line = "schedule, _ = GOConstLoopBoundsTrans().apply(schedule)"
    made = run(tmp_path, OLD.format("GOConstLoopBoundsTrans", line), "copy(a, b), copy_u(c, b)")
    bounds = [spell(item.bounds.inner_stop) for item in statements(made) if isinstance(item, Loop)
              if item.bounds]  # fmt: skip
    last = spell(LAST_INTERNAL)
    assert bounds == [last, last, f"{last} - 1", f"{last} - 1"]


def test_constant_bounds_can_be_left_out(tmp_path: Path) -> None:
    line = "GOConstLoopBoundsTrans().apply(schedule, const_bounds=False)"
    made = run(tmp_path, OLD.format("GOConstLoopBoundsTrans", line), "copy(a, b), copy(c, b)")
    assert not any(isinstance(item, Loop) and item.bounds for item in statements(made))


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("LoopTilingTrans", "LoopTilingTrans().apply(loop, tiledims=[4])", "a size for rows and"),
        ("ChunkLoopTrans", "ChunkLoopTrans().apply(loop, chunksize='8')", "takes integers"),
        ("LoopTiling2DTrans", "LoopTiling2DTrans().apply(loop, tilesize=0)", "cannot have 0 rows"),
        ("LoopSwapTrans", "LoopSwapTrans().apply(loop.children[0])", "does not hold one loop"),
    ],
)
def test_words_are_refused(tmp_path: Path, name: str, line: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        run(tmp_path, NEW.format(name, line), "copy(a, b)")
    assert any(message in problem.message for problem in caught.value.problems)
