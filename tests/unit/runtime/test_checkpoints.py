"""Checkpoints on one rank: contents, errors, and programs that are killed while they write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points
from psyclone_storage.runtime.gocean.checkpoint import (
    CheckpointError,
    last_checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from psyclone_storage.runtime.ranks import SingleRank

VALUES = np.arange(24.0).reshape(6, 4)


def grid(points: tuple[int, int] = (6, 4), halo: int = 1) -> Grid:
    return Grid(points, halo=halo, ranks=SingleRank())


def test_values_with_the_points_around_the_domain_return(tmp_path: Path) -> None:
    one = Field(grid(), Points.U, values=VALUES)
    one.storage[...] = np.random.default_rng(1).random(one.storage.shape)
    write_checkpoint(tmp_path, {"u": one}, {"time": 0.1, "name": "run", "limit": float("inf")})
    two = Field(grid(halo=2), Points.U)
    found = read_checkpoint(tmp_path, {"u": two})
    assert found == {"time": 0.1, "name": "run", "limit": float("inf")}
    np.testing.assert_array_equal(two.storage.data_ro[1:-2, 1:-2], one.storage.data_ro[:-1, :-1])
    assert not two.is_dirty(2)


def test_types_are_preserved(tmp_path: Path) -> None:
    one = Field(grid(), values=VALUES.astype(np.int32), dtype=np.int32)
    write_checkpoint(tmp_path, {"n": one})
    two = Field(grid(), dtype=np.int32)
    read_checkpoint(tmp_path, {"n": two})
    np.testing.assert_array_equal(two.values, VALUES)


def test_layers_return(tmp_path: Path) -> None:
    one = Field(grid(), values=lambda x, y, k: x + 100.0 * y + 0.5 * k, layers=3)
    write_checkpoint(tmp_path, {"t": one})
    two = Field(grid(), layers=3)
    read_checkpoint(tmp_path, {"t": two})
    np.testing.assert_array_equal(two.values, one.values)
    with pytest.raises(
        CheckpointError, match=r"and 3 layers in the checkpoint, but .* and 2 layers"
    ):
        read_checkpoint(tmp_path, {"t": Field(grid(), layers=2)})


def test_only_the_last_checkpoints_remain(tmp_path: Path) -> None:
    field = Field(grid())
    for number in range(4):
        field.fill(float(number))
        write_checkpoint(tmp_path, {"h": field}, {"number": number})
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["000003", "000004"]
    assert read_checkpoint(tmp_path, {"h": field}) == {"number": 3}


def test_the_millionth_checkpoint_is_later_than_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "999998").mkdir()
    field = Field(grid())
    for number in (999999, 1000000):
        write_checkpoint(tmp_path, {"h": field}, {"number": number})
    assert {one.name for one in tmp_path.iterdir()} == {"999999", "1000000"}
    assert read_checkpoint(tmp_path, {"h": field}) == {"number": 1000000}


def test_incomplete_checkpoints_are_ignored_and_removed(tmp_path: Path) -> None:
    field = Field(grid(), values=1.0)
    write_checkpoint(tmp_path, {"h": field}, {"number": 1})
    (tmp_path / "000002.unfinished").mkdir()
    (tmp_path / "000000.removed").mkdir()
    assert last_checkpoint(tmp_path).name == "000001"
    write_checkpoint(tmp_path, {"h": field}, {"number": 2})
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["000001", "000002"]


def _other_points(path: Path) -> None:
    read_checkpoint(path, {"h": Field(grid(), Points.U)})


def _other_type(path: Path) -> None:
    read_checkpoint(path, {"h": Field(grid(), dtype=np.float32)})


def _other_name(path: Path) -> None:
    read_checkpoint(path, {"depth": Field(grid())})


def _other_grid(path: Path) -> None:
    read_checkpoint(path, {"h": Field(grid((4, 6)))})


def _missing_file(path: Path) -> None:
    (path / "000001" / "h-0.npy").unlink()
    read_checkpoint(path, {"h": Field(grid())})


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (_other_points, "'h' has T points of type <f8 in the checkpoint, but U points"),
        (_other_type, "but T points of type <f4 in the program"),
        (_other_name, "no field 'depth'; it has h"),
        (_other_grid, r"has \(6, 4\) points, but the grid has \(4, 6\) points"),
        (_missing_file, "h-0.npy"),
    ],
)
def test_other_fields_are_errors(read: Callable[[Path], None], says: str, tmp_path: Path) -> None:
    write_checkpoint(tmp_path, {"h": Field(grid())})
    with pytest.raises((CheckpointError, FileNotFoundError), match=says):
        read(tmp_path)


@pytest.mark.parametrize("parts", [[], [[[0, 0], [3, 4]]]])
def test_parts_that_omit_points_are_errors(parts: list[Any], tmp_path: Path) -> None:
    field = Field(grid(), values=VALUES)
    about = write_checkpoint(tmp_path, {"h": field}) / "checkpoint.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "parts": parts}))
    with pytest.raises(CheckpointError, match="is damaged: its parts omit points"):
        read_checkpoint(tmp_path, {"h": field})
    np.testing.assert_array_equal(field.values, VALUES)


@pytest.mark.parametrize(
    "other",
    [
        {"parts": 5}, {"parts": [[1]]}, {"points": "ab"}, {"points": 4}, {"fields": [1]},
        {"fields": {"h": {}}}, {"fields": {"h": 3}}, {"halo": "x"}, {"numbers": 7},
    ],
)  # fmt: skip
def test_damaged_descriptions_are_errors(other: dict[str, Any], tmp_path: Path) -> None:
    field = Field(grid(), values=VALUES)
    about = write_checkpoint(tmp_path, {"h": field}) / "checkpoint.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), **other}))
    with pytest.raises(CheckpointError, match="json' is damaged: it does not describe a check"):
        read_checkpoint(tmp_path, {"h": field})


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-8])


def _transposed(file: Path) -> None:
    np.save(file, np.load(file).T)


def _single(file: Path) -> None:
    np.save(file, np.load(file).astype(np.float32))


@pytest.mark.parametrize("damage", [_empty, _short, _transposed, _single, Path.unlink])
def test_damaged_parts_are_errors(damage: Callable[[Path], None], tmp_path: Path) -> None:
    field = Field(grid(), values=VALUES)
    file = write_checkpoint(tmp_path, {"h": field}) / "h-0.npy"
    damage(file)
    with pytest.raises(CheckpointError, match=r"h-0\.npy' is damaged"):
        read_checkpoint(tmp_path, {"h": field})
    np.testing.assert_array_equal(field.values, VALUES)


def test_wrong_arguments_are_errors(tmp_path: Path) -> None:
    field = Field(grid())
    with pytest.raises(FileNotFoundError, match="no complete checkpoint"):
        read_checkpoint(tmp_path / "none", {"h": field})
    with pytest.raises(ValueError, match="at least one field"):
        write_checkpoint(tmp_path, {})
    with pytest.raises(ValueError, match="on one grid"):
        write_checkpoint(tmp_path, {"h": field, "g": Field(grid())})
    with pytest.raises(ValueError, match="names no file"):
        write_checkpoint(tmp_path, {"../h": field})
    with pytest.raises(ValueError, match="At least one checkpoint"):
        write_checkpoint(tmp_path, {"h": field}, keep=0)
    with pytest.raises(TypeError):
        write_checkpoint(tmp_path, {"h": field}, {"grid": field})
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="Rank 0 cannot access"):
        write_checkpoint(tmp_path / "file", {"h": field})
    assert not list(tmp_path.glob("0*"))


PROGRAM = """
import sys
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.runtime.gocean.checkpoint import write_checkpoint
field = Field(Grid((200, 200)))
for number in range(1, 100000):
    field.fill(float(number))
    write_checkpoint(sys.argv[1], {"h": field}, {"number": number})
    print(number, flush=True)
"""


def test_the_last_checkpoint_of_a_killed_program_is_complete(tmp_path: Path) -> None:
    """The program is killed at 12 points of its work."""
    field = Field(grid((200, 200)))
    for attempt in range(12):
        folder = tmp_path / str(attempt)
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE, text=True
        ) as program:
            assert program.stdout is not None
            last = 0
            for _ in range(3 + attempt % 3):
                last = int(program.stdout.readline())
            # Between the phases of the next checkpoints.
            for _ in range(attempt * 300):
                os.getpid()
            program.send_signal(signal.SIGKILL)
            program.wait()
        number = read_checkpoint(folder, {"h": field})["number"]
        assert number >= last
        assert field.min() == field.max() == number
        description = last_checkpoint(folder) / "checkpoint.json"
        assert json.loads(description.read_text())["numbers"] == {"number": number}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"boundaries": "closed"}, r"boundaries .*open.*but the grid has .*closed"),
        ({"boundaries": ("open", "periodic")}, r"boundaries .*open.*but the grid has .*periodic"),
        ({"offset": Offset.SOUTH_WEST}, "offset ne, but the grid has sw"),
    ],
)
def test_a_grid_with_another_surrounding_is_refused(
    given: dict[str, Any], says: str, tmp_path: Path
) -> None:
    write_checkpoint(tmp_path, {"t": Field(grid(), values=VALUES)})
    other = Field(Grid((6, 4), halo=1, ranks=SingleRank(), **given), values=7.0)
    with pytest.raises(CheckpointError, match=says):
        read_checkpoint(tmp_path, {"t": other})
    assert (other.values == 7.0).all()


def test_checkpoints_of_earlier_versions_can_be_read(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, {"t": Field(grid(), values=VALUES)}) / "checkpoint.json"
    described = json.loads(path.read_text())
    del described["offset"], described["boundaries"]
    path.write_text(json.dumps(described))
    other = Field(grid())
    read_checkpoint(tmp_path, {"t": other})
    np.testing.assert_array_equal(other.values, VALUES)


def test_numbers_of_numpy_are_read_as_those_of_python(tmp_path: Path) -> None:
    one = Field(grid(), values=VALUES)
    numbers = {"n": np.int64(3), "x": np.float32(0.5), "on": np.bool_(True), "all": [np.int32(4)]}
    write_checkpoint(tmp_path, {"h": one}, numbers)
    found = read_checkpoint(tmp_path, {"h": one})
    assert found == {"n": 3, "x": 0.5, "on": True, "all": [4]}
    assert [type(value) for value in found.values()] == [int, float, bool, list]
    with pytest.raises(TypeError, match=r"number 'z' of a checkpoint is 1j, .* type complex"):
        write_checkpoint(tmp_path, {"h": one}, {"n": 1, "z": 1j})


@pytest.mark.parametrize("text", ["{", "[]", "{}", "\udcff"])
def test_a_damaged_description_is_named(text: str, tmp_path: Path) -> None:
    one = Field(grid(), values=VALUES)
    file = write_checkpoint(tmp_path, {"h": one}) / "checkpoint.json"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CheckpointError, match=r"checkpoint\.json' is damaged|cannot access a file"):
        read_checkpoint(tmp_path, {"h": one})
