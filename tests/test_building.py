"""Results that are built once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest

from building import built_once, fingerprint


def test_the_first_builds_and_the_others_wait(tmp_path: Path) -> None:
    builds: list[Path] = []

    def build(folder: Path) -> None:
        assert not any(folder.iterdir())
        (folder / "product").write_text("ready", encoding="utf-8")
        builds.append(folder)

    def use(_: int) -> str:
        return (built_once(tmp_path / "made", build) / "product").read_text(encoding="utf-8")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(8))) == ["ready"] * 8
    assert builds == [tmp_path / "made"]


def test_a_build_that_failed_is_tried_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        built_once(tmp_path / "made", fail)
    made = built_once(tmp_path / "made", lambda folder: (folder / "product").touch())
    assert [path.name for path in made.iterdir()] == ["product"]


KILLED = """\
import os, signal, sys
from pathlib import Path
from building import built_once

def half(folder):
    (folder / "half").touch()
    print("building", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)

built_once(Path(sys.argv[1]), half)
"""


def test_a_process_that_is_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    """Another session waits for it, and then builds."""
    words = [sys.executable, "-c", KILLED, str(tmp_path / "made")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "support")}
    with (
        subprocess.Popen(words, stdin=PIPE, stdout=PIPE, env=environment) as process,
        ThreadPoolExecutor(1) as pool,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"building\n"
        waiting = pool.submit(
            built_once, tmp_path / "made", lambda folder: (folder / "product").touch()
        )
        assert [path.name for path in (tmp_path / "made").iterdir()] == ["half"]
        assert not waiting.done()
        process.stdin.close()
        made = waiting.result()
    assert process.returncode == -signal.SIGKILL
    assert [path.name for path in made.iterdir()] == ["product"]


def test_a_fingerprint_follows_names_contents_and_words(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    source = tmp_path / "deep" / "a.f90"
    source.write_text("end", encoding="utf-8")

    def name(*words: str) -> str:
        return fingerprint(tmp_path, tmp_path.rglob("*.f90"), *words)

    names = [name("-O0"), name("-O0"), name()]
    source.write_text("END", encoding="utf-8")
    names.append(name("-O0"))
    source.rename(source.with_name("b.f90"))
    names.append(name("-O0"))
    assert names[0] == names[1]
    assert len(set(names)) == 4
