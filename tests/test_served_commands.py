"""A served command behaves like a newly started one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from cpu_times import taken
from served_commands import Call, served


def answer(call: Call) -> int:
    """Say what is seen of the call, and end as its first word says."""
    end, *rest = call.words
    if end == "killed":
        os.kill(os.getpid(), 9)
    if end == "leaves":
        raise SystemExit("with a text")
    if end == "fails":
        raise ValueError(rest)
    seen = [rest, str(Path.cwd()), os.environ["SEEN"], input()]
    sys.stdout.write(json.dumps(seen))
    sys.stderr.write("wrong\n")
    return int(end)


@pytest.fixture(scope="module", params=[False, True], ids=["served", "without a C compiler"])
def program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("of it's")
    with ExitStack() as serving:
        with pytest.MonkeyPatch.context() as changed:
            if request.param:
                changed.setattr("shutil.which", lambda _: None)
            command = serving.enter_context(served("test_served_commands:answer", forks=True))
        assert request.param == (command.caller[0] == sys.executable)
        command.write(folder / "program", "0", "its own")
        command.write(folder / "other")
        yield folder / "program"


def called(program: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *words],
        cwd=folder,
        env={"SEEN": "a=b\nc"},
        input="said\n",
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_that_is_given_arrives(program: Path, tmp_path: Path) -> None:
    words = ["", "two words", "line\nline", "é$HOME'\"", "x" * 100_000]
    done = called(program, *words, folder=tmp_path)
    assert json.loads(done.stdout) == [["its own", *words], str(tmp_path), "a=b\nc", "said"]
    assert (done.returncode, done.stderr) == (0, "wrong\n")


def test_it_ends_as_it_would(program: Path, tmp_path: Path) -> None:
    other = program.with_name("other")
    ends = {
        word: called(other, word, folder=tmp_path) for word in ("3", "killed", "leaves", "fails")
    }
    assert [done.returncode for done in ends.values()] == [3, -9, 1, 1]
    assert ends["fails"].stderr.endswith("ValueError: []\n")


def test_many_are_called_at_once(program: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        each = [str(number) for number in range(12)]
        found = list(pool.map(lambda word: called(program, word, folder=tmp_path), each))
    assert [json.loads(done.stdout)[0] for done in found] == [["its own", word] for word in each]


def test_who_serves_ends_with_who_has_asked_for_it() -> None:
    with served("test_served_commands:answer", forks=True) as command:
        place = Path(command.caller[1])
        assert place.exists()
    assert not place.parent.exists()


def work(call: Call) -> int:
    """Take as many seconds of CPU time as the first word says."""
    while time.process_time() < float(call.words[0]):
        pass
    return 0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc")
def test_cpu_times_include_servers_that_run(tmp_path: Path) -> None:
    with served("test_served_commands:work", forks=True) as command:
        if command.caller[0] == sys.executable:
            pytest.skip("no C compiler")
        command.write(tmp_path / "program")
        before = taken()
        subprocess.run([tmp_path / "program", "0.5"], check=True)
        end = time.monotonic() + 60
        while taken() - before < 0.45 and time.monotonic() < end:
            time.sleep(0.01)
        during = taken() - before
    assert during >= 0.45
    assert taken() - before >= during
