"""Examples without a checkout: complete, runnable, and without overwriting existing files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command import run_command
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.package_files import shared_file
from psyclone_storage.cli.examples import unpack_examples


def test_examples_and_what_they_link_to_are_written(tmp_path: Path) -> None:
    done = run_command(["--examples", "there"], tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "'there/examples'" in done.out
    made = tmp_path / "there"
    assert os.access(made / "examples/lfric/demo/run", os.X_OK)
    assert (made / "external/lfric_infrastructure").is_dir()
    assert {path.name for path in made.iterdir()} == {"examples", "external"}
    assert not [path for path in made.rglob("*") if path.name == "build"]


def test_an_algorithm_among_them_compiles(tmp_path: Path) -> None:
    run_command(["--examples", "."], tmp_path)
    demo = "examples/lfric/demo"
    words = [f"{demo}/gravity_wave_alg_mod.x90", "-d", f"{demo}/kernels", "--output-dir", "out"]
    done = run_command(words, tmp_path)
    assert (done.status, done.err) == (0, "")
    assert len(done.written) == 2


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "external").mkdir()
    (tmp_path / "external" / "mine.txt").write_text("mine")
    done = run_command(["--examples", "."], tmp_path)
    assert done.status == 1
    assert "error[L003]: 'external' is there already" in done.err
    assert done.written == {}
    assert {path.name for path in tmp_path.iterdir()} == {"external"}


def test_what_stops_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shared(name: str) -> Path:
        if name == "external":
            raise OSError(28, "No space left on device")
        return shared_file(name)

    monkeypatch.setattr("psyclone_storage.cli.examples.shared_file", shared)
    with pytest.raises(OSError, match="No space"):
        unpack_examples(tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []
    monkeypatch.undo()
    unpack_examples(tmp_path / "there")
    with pytest.raises(CompileError):
        unpack_examples(tmp_path / "there")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_command(["--examples", "file/there"], tmp_path)
    assert done.status == 1
    assert "error[L004]" in done.err
