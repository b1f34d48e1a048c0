"""Batches with `-j` that signals end at random moments: no process, temporary file or torn output.

A long campaign: `KILLED_BATCHES=200 pytest -n 0 tests/properties/test_killed_batches.py`.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from command import NOT_INPUT

TESTS = Path(__file__).parents[1]
CASE = TESTS / "cases" / "lfric" / "increment_then_stencil"
KERNELS = ("wind_tendency_kernel_mod.f90", "wind_to_cell_kernel_mod.f90")
COUNT = int(os.environ.get("KILLED_BATCHES", "8"))
SEED = int(os.environ.get("KILLED_BATCHES_SEED", "1"))
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FILES = 5
LONG_AGO = 600  # seconds, after which a temporary file of a dead process is removed
OUTPUTS = ("out", "changed", "scratch", "cache")
COMPILER = "#!/bin/sh\nsleep 0.02\n"


@dataclass(frozen=True)
class Batch:
    """A folder with a batch to run, how long it takes, and what it writes."""

    folder: Path
    wall: float
    expected: dict[str, str]

    def start(self) -> subprocess.Popen[bytes]:
        """Start the batch in a session of its own."""
        words = (
            "-api lfric -d kernels --output-dir out -okern changed --apply acc-routine -j 3"
            " --kernel-renaming multiple --compile --f90 ./compiler --no-cache"
        )
        environment = {
            **os.environ,
            "PYTHONPATH": str(TESTS.parent / "src"),
            "TMPDIR": str(self.folder / "scratch"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
        }
        return subprocess.Popen(
            [
                "env",
                "--default-signal=HUP",
                sys.executable,
                "-m",
                "psyclone_storage",
                *words.split(),
                *self._files(),
            ],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _files(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.x90"))

    def written(self) -> dict[str, str]:
        """Return the texts of all files in the folders of outputs."""
        return {
            str(path.relative_to(self.folder)): path.read_text(encoding="utf-8")
            for name in ("out", "changed")
            for path in (self.folder / name).rglob("*")
            if path.is_file()
        }

    def temporaries(self) -> list[Path]:
        """Return everything that a batch should have removed."""
        hidden = [one for name in OUTPUTS for one in (self.folder / name).rglob(".*")]
        return [*hidden, *(self.folder / "scratch").iterdir()]

    def clear(self) -> None:
        """Remove what a batch has written."""
        for name in ("out", "changed"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Batch:
    folder = tmp_path_factory.mktemp("batch") / "project"
    shutil.copytree(CASE, folder, ignore=shutil.ignore_patterns(*NOT_INPUT))
    text = (folder / "alg.x90").read_text(encoding="utf-8")
    for number in range(FILES):
        name = f"alg{number}.x90"
        changed = text.replace("halo_increment", f"halo{number}_increment")
        (folder / name).write_text(changed, encoding="utf-8")
    (folder / "alg.x90").unlink()
    for name in ("kernels", "scratch", "cache"):
        (folder / name).mkdir()
    for name in KERNELS:
        shutil.copy(TESTS / "corpus" / "lfric" / "kernels" / name, folder / "kernels")
    (folder / "compiler").write_text(COMPILER, encoding="utf-8")
    (folder / "compiler").chmod(0o755)
    assert finished(Batch(folder, 0, {}).start()) == (0, b"", b"")
    Batch(folder, 0, {}).clear()
    begin = time.monotonic()
    assert finished(Batch(folder, 0, {}).start()) == (0, b"", b"")
    wall = time.monotonic() - begin
    made = Batch(folder, wall, Batch(folder, 0, {}).written())
    assert len(made.expected) == 4 * FILES
    made.clear()
    return made


def finished(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Return the status and the output of a process when no process holds its pipes."""
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def members(session: int) -> list[str]:
    """Return the commands of the processes in a session."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(state[3]) == session and state[0] != "Z":
                found.append((folder / "cmdline").read_text(encoding="utf-8"))
        except OSError:
            continue
    return found


def left_after(session: int) -> list[str]:
    """Return the processes of a session that are there after some seconds."""
    deadline = time.monotonic() + 10
    while (found := members(session)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="sessions are read from /proc")
def test_a_batch_that_is_killed_leaves_nothing(batch: Batch) -> None:
    chance = random.Random(SEED)
    ended = dict.fromkeys(SIGNALS, 0)
    for trial in range(COUNT):
        number = SIGNALS[trial % len(SIGNALS)]
        with batch.start() as process:
            time.sleep(chance.uniform(0.0, 1.1 * batch.wall))
            if chance.random() < 0.5 and number != signal.SIGKILL:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            status, out, err = finished(process)
        said = f"trial {trial}, {number.name}, status {status}: {err.decode()}"
        ended[number] += status not in (0, 1)
        assert left_after(process.pid) == [], said
        assert out == b"", said
        assert b"I001" not in err, said
        written = batch.written()
        left = batch.temporaries()
        if number != signal.SIGKILL:
            assert left == [], said
            assert written.keys() in (set(), batch.expected.keys()), said
        check_whole(batch, {name: text for name, text in written.items() if "/." not in name})
        if left or trial % 8 == 0:
            check_next(batch, left)
        batch.clear()
    assert sum(ended.values()) > COUNT // 3


def check_whole(batch: Batch, written: dict[str, str]) -> None:
    """Check that files are complete."""
    for name, text in written.items():
        assert text == batch.expected[name]


def check_next(batch: Batch, left: list[Path]) -> None:
    """Check that the next batch succeeds and removes temporary files that are `left`."""
    for path in left:
        os.utime(path, (time.time() - LONG_AGO,) * 2)
    assert finished(batch.start()) == (0, b"", b"")
    assert batch.written() == batch.expected
    assert batch.temporaries() == []
