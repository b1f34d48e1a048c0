"""Named pipes, sockets, devices, huge files and unreadable folders where a command reads files."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from unit.cli.conftest import Command

SOURCE = Path(__file__).parents[3] / "src"
KINDS = ("pipe", "socket", "device", "huge", "folder")
PLACES = ("alg.x90", "kernels/wind_tendency_kernel_mod.f90", "script.py", "settings.cfg")


def run(
    project: Path, *words: str, text: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, which must end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "psyclone_storage", "-api", "lfric", *words],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "HOME": str(project)},
        input=text,
        stdin=None if text else subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def put(path: Path, kind: str) -> None:
    """Make a special file at `path`."""
    path.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(path))
        case "device":
            path.symlink_to("/dev/zero")
        case "huge":
            with path.open("wb") as file:
                file.truncate(2**40)
        case _:
            path.mkdir()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_special_file_is_a_diagnostic_that_names_it(
    place: str, kind: str, jobs: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(project / "alg.x90", project / "other.x90")
    monkeypatch.chdir(project)  # the path of a socket must be short
    put(Path(place), kind)
    words = {"script.py": ["-s", place], "settings.cfg": ["-c", place]}.get(place, [])
    files = ["alg.x90", "other.x90", "-j", jobs, "--output-dir", "out"]
    done = run(project, "-d", "kernels", *words, *files)
    said = done.stderr.decode()
    assert done.returncode == 1
    # A folder of that name is no file of the module.
    assert (Path(place).stem if kind == "folder" else place) in said
    assert "Traceback" not in said
    assert "I001" not in said


def test_special_files_among_changed_kernels_do_not_block(project: Path) -> None:
    for scheme in ("multiple", "single"):
        folder = project / scheme
        folder.mkdir()
        os.mkfifo(folder / "wind_tendency_kernel_0_mod.f90")
        words = f"-d kernels -okern {scheme} --kernel-renaming {scheme} --apply acc-routine"
        done = run(project, *words.split(), "-opsy", "psy.f90", "alg.x90")
        assert done.returncode == int(scheme == "single")
        assert b"I001" not in done.stderr


def test_an_explicit_stream_is_an_algorithm(project: Path) -> None:
    text = (project / "alg.x90").read_bytes()
    done = run(project, "-d", "kernels", "-opsy", "psy.f90", "/dev/stdin", text=text)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (project / "psy.f90").is_file()


def test_an_unreadable_folder_matters_only_for_its_modules(
    project: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = project / "kernels" / "secret"
    secret.mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    done = command("-opsy", "psy.f90", "alg.x90")
    assert done.status == 0
    assert done.err.startswith(
        "warning[P033]: The folder 'kernels/secret' below '-d kernels' cannot be read: "
    )
    assert "psy.f90" in done.written
    assert command("-opsy", "psy.f90", "alg.x90", "--warnings", "error").status == 1
    (project / "kernels" / "wind_tendency_kernel_mod.f90").rename(secret / "a_mod.f90")
    done = command("-opsy", "psy.f90", "alg.x90")
    assert done.status == 1
    assert "error[P031]" in done.err
    assert "warning[P033]" in done.err
