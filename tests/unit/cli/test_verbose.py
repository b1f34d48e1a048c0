"""What `--verbose` says, and what `--traceback` shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command import Outcome, run_command
from psyclone_storage import __version__
from psyclone_storage.cli.main import main

CORPUS = Path(__file__).parents[2] / "corpus" / "lfric"
OUTPUTS = ["-oalg", "a.f90", "-opsy", "p.f90"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an algorithm and the kernels of the corpus."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(CORPUS / "named_invoke.x90", work / "alg.x90")
    (work / "kernels").symlink_to(CORPUS / "kernels")
    return work


def run(folder: Path, *words: str) -> Outcome:
    return run_command([*words, "-api", "lfric", "-d", "kernels", "alg.x90", *OUTPUTS], folder)


def test_it_says_where_settings_and_kernels_come_from(folder: Path) -> None:
    (folder / "mine.cfg").write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = false\n")
    done = run(folder, "-v", "-c", "mine.cfg", "--config-opts", "COMPUTE_ANNEXED_DOFS=true")
    assert (done.status, done.out) == (0, "")
    lines = done.err.splitlines()
    assert lines[0].startswith(f"psyclone-storage {__version__}, Python 3.")
    assert lines[1].endswith("psyclone.cfg', the default")
    assert lines[2:] == [
        "settings: 'mine.cfg', named by '-c'",
        "settings:   DISTRIBUTED_MEMORY = false (mine.cfg:2)",
        "settings:   COMPUTE_ANNEXED_DOFS = true (--config-opts)",
        "api: lfric (-api)",
        "distributed memory: no (settings)",
        "kernels: looked for in and below 'kernels' (-d)",
        "alg.x90: kernel 'nodal_pressure_kernel_type' in 'kernels/nodal_pressure_kernel_mod.f90'",
        "alg.x90: built-in 'setval_c'",
    ]


def test_a_long_value_is_cut(folder: Path) -> None:
    (folder / "mine.cfg").write_text(f"[DEFAULT]\nIGNORE_MODULES = {'netcdf, ' * 40}mpi\n")
    (line,) = [line for line in run(folder, "--verbose", "-c", "mine.cfg").err.splitlines()
               if "IGNORE" in line]  # fmt: skip
    assert line.endswith("... (mine.cfg:2)")
    assert len(line) < 140


def test_it_says_what_is_known_from_an_earlier_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(folder.parent / "kept"))
    first, second = run(folder, "-v"), run(folder, "-v")
    kept = "alg.x90: translated as in an earlier call"
    assert kept not in first.err
    assert kept in second.err
    assert second.err.replace(f"{kept}\n", "") == first.err


def test_without_it_nothing_is_said(folder: Path) -> None:
    assert run(folder).err == ""


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_it_is_not_mixed_with_what_programs_read(folder: Path, form: str) -> None:
    done = run(folder, "-v", "--diagnostics", form)
    assert done.status == 1
    assert json.loads(done.err)


def test_alone_it_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["-v"])
    assert capsys.readouterr().out.startswith(f"psyclone-storage version: {__version__} ")


def test_the_calls_behind_a_problem_are_shown_if_asked_for(folder: Path) -> None:
    (folder / "s.py").write_text("import json\n\ndef trans(psy):\n    json.loads('{')\n")
    asked, other = run(folder, "-s", "s.py", "--traceback"), run(folder, "-s", "s.py")
    assert "Traceback" in asked.err
    assert "decoder.py" in asked.err
    assert "Traceback" not in other.err
    assert asked.err.startswith(other.err.rstrip())


def test_a_defect_shows_its_calls_if_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psyclone_storage.pipeline.compile.build_program", lambda *_: 1 / 0)
    assert "in compile_algorithm" in run(folder, "--traceback", "--no-cache").err
    assert "Traceback" not in run(folder, "--no-cache").err
