"""Libraries of generated C: compiled once, kept by content, never seen half written."""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from psyclone_storage.base.compilers import FailedCompilerError, NoCompilerError, find_c_compiler
from psyclone_storage.runtime import compiling

pytestmark = pytest.mark.skipif(find_c_compiler() is None, reason="no compiler for C")

TEXT = "int answer(void)\n{\n    return 42;\n}\n"


def with_compiler(monkeypatch: pytest.MonkeyPatch, path: Path, script: str) -> None:
    """Let a script be the compiler."""
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(compiling, "find_c_compiler", lambda: path)
    monkeypatch.setattr(compiling, "_identity", lambda: str(path))


def test_a_text_is_compiled_once(folder: Path, asked: list[list[str]]) -> None:
    assert [compiling.load_library(TEXT).answer() for _ in range(3)] == [42, 42, 42]
    assert len(asked) == 1
    assert [path.suffix for path in folder.iterdir()] == [".so", ".so"]
    compiling.load_library(TEXT.replace("42", "43"))
    assert len(asked) == 2


def test_options_and_compilers_make_other_libraries(
    folder: Path, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiling.load_library(TEXT)
    monkeypatch.setenv(compiling.OPTIONS_VARIABLE, "-O1")
    compiling.load_library(TEXT)
    assert ["-O1" in call for call in asked] == [False, True]
    assert all("-ffp-contract=off" in call for call in asked)
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "again"),
    [("-O1 -march=native", True), ("-O1", False), ("-O1 -march=x86-64", False), ("", False)],
)
def test_another_processor_needs_another_library_if_options_refer_to_it(
    options: str,
    again: bool,
    folder: Path,
    asked: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compute nodes use the libraries of a login node that were compiled for both."""
    monkeypatch.setenv(compiling.OPTIONS_VARIABLE, options)
    compiling.load_library(TEXT)
    monkeypatch.setattr(compiling, "_machine", lambda: "another one")
    compiling.load_library(TEXT)
    assert len(asked) == 1 + again
    assert folder.is_dir()


def test_threads_are_asked_for_where_there_are_some(asked: list[list[str]], folder: Path) -> None:
    del folder
    compiling.load_library(TEXT)
    compiling.load_library(TEXT.replace("return", "#pragma omp parallel\n    ;\n    return"))
    assert ["-fopenmp" in call for call in asked] == [False, True]


def test_a_folder_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    """A file stands where the folder would be, which not even root can write into."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(tmp_path / "file" / "kept"))
    assert compiling.load_library(TEXT).answer() == 42
    assert compiling.load_library(TEXT).answer() == 42
    assert len(asked) == 2


def test_a_user_without_a_home_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    def homeless(*_: object) -> Path:
        raise RuntimeError("no home")

    for name in (compiling.LIBRARIES_VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert compiling.libraries_folder() is None
    assert [compiling.load_library(TEXT).answer() for _ in range(2)] == [42, 42]
    assert len(asked) == 2


def test_a_library_that_is_torn_is_made_again(folder: Path) -> None:
    compiling.load_library(TEXT)
    path = folder / f"{compiling._digest(TEXT, compiling._identity())}.so"
    torn = path.with_name("torn.so")
    torn.write_bytes(path.read_bytes()[:100])
    torn.replace(path)
    script = (
        "from psyclone_storage.runtime.compiling import load_library\n"
        f"assert load_library({TEXT!r}).answer() == 42\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=dict(os.environ))
    assert ctypes.CDLL(str(path)).answer() == 42


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -9 $$", "it ended with"),
        ("echo no room >&2\nexit 3", "no room"),
        ("exit 0", "it ended with 0"),
    ],
)
def test_a_compiler_that_fails_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    with monkeypatch.context() as context:
        with_compiler(context, tmp_path / "cc", script)
        with pytest.raises(NoCompilerError, match=said):
            compiling.load_library(TEXT)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert compiling.load_library(TEXT).answer() == 42


def test_without_a_compiler_it_is_said_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    monkeypatch.setattr(compiling, "find_c_compiler", lambda: None)
    monkeypatch.setattr(compiling, "_identity", lambda: "")
    with pytest.raises(NoCompilerError, match=r"Install one.*or generate NumPy"):
        compiling.load_library(TEXT)


def test_a_cached_library_is_found_without_a_compiler(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is the last that any compiler made with these options."""
    compiling.load_library(TEXT)
    script = f'#!/bin/sh\nexec {find_c_compiler()} -Dint="__attribute__((aligned(4))) int" "$@"\n'
    with monkeypatch.context() as context:
        with_compiler(context, tmp_path / "cc", script)
        context.setattr(compiling, "_identity", lambda: "another")
        compiling.load_library(TEXT)
    newest = max(folder.glob("*.so"), key=lambda path: path.stat().st_mtime_ns)
    monkeypatch.setattr(compiling, "find_c_compiler", lambda: None)
    monkeypatch.setattr(compiling, "_identity", lambda: "")
    assert newest.stem == compiling._digest(TEXT, "")
    assert compiling.load_library(TEXT).answer() == 42
    monkeypatch.setenv(compiling.OPTIONS_VARIABLE, "-O0")
    with pytest.raises(NoCompilerError):
        compiling.load_library(TEXT)


def test_many_processes_at_once_get_whole_libraries(folder: Path) -> None:
    script = (
        "from psyclone_storage.runtime.compiling import load_library\n"
        "for number in range(4):\n"
        f"    text = {TEXT!r}.replace('42', str(number))\n"
        "    assert load_library(text).answer() == number\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script], env=dict(os.environ)) for _ in range(16)
    ]
    assert [process.wait() for process in running] == [0] * 16
    assert len(list(folder.iterdir())) == 8


SLOW = f"""
import sys, time
from pathlib import Path
from psyclone_storage.runtime.compiling import load_kept, load_library

def build(folder, made):
    with Path(sys.argv[1]).open("a") as builds:
        builds.write("built\\n")
    time.sleep(float(sys.argv[2]))
    load_library({TEXT!r})
    made.write_bytes(next(Path(sys.argv[3]).glob("[!s]*.so")).read_bytes()[:-64])

assert load_kept("slow", build, one_builds=True).answer() == 42
"""


def test_one_of_many_processes_builds(folder: Path, tmp_path: Path) -> None:
    """Also if the first that began to is killed."""
    builds = tmp_path / "builds"
    builds.touch()

    def start(seconds: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", SLOW, str(builds), seconds, str(folder)]
        return subprocess.Popen(words, env=dict(os.environ))

    first = start("1000")
    while not builds.read_text(encoding="utf-8"):
        time.sleep(0.01)
    running = [start("0.2") for _ in range(8)]
    time.sleep(0.5)
    first.kill()
    first.wait()
    assert [process.wait() for process in running] == [0] * 8
    assert builds.read_text(encoding="utf-8").split() == ["built"] * 2
    assert [path.suffix for path in folder.iterdir()] == [".so"] * 3


def test_a_library_is_built_where_nothing_can_be_locked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks here")

    def build(place: Path, made: Path) -> None:
        del place
        compiling.load_library(TEXT)
        made.write_bytes(next(folder.glob("*.so")).read_bytes())

    monkeypatch.setattr(compiling.fcntl, "flock", refuse)
    assert compiling.load_kept("unlocked", build, one_builds=True).answer() == 42
    file = folder / "file"
    file.touch()
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(file / "kept"))
    assert compiling.load_kept("unwritable", build, one_builds=True).answer() == 42


def test_a_build_that_fails_lets_the_next_in(folder: Path) -> None:
    def fail(place: Path, made: Path) -> None:
        raise NoCompilerError(f"not {made.relative_to(place)}")

    for _ in range(2):
        with pytest.raises(NoCompilerError, match="not made"):
            compiling.load_kept("failing", fail, one_builds=True)
    assert list(folder.iterdir()) == []


SECONDS = 60
"""The time within which processes begin to wait, on a busy machine."""
FAILING = """
import os, sys, time
from pathlib import Path
from psyclone_storage.base import compilers
from psyclone_storage.runtime.compiling import load_kept

def build(folder, made):
    with Path(sys.argv[1]).open("a") as builds:
        builds.write("built\\n")
    while not Path(sys.argv[2]).exists():
        time.sleep(0.01)
    raise getattr(compilers, sys.argv[3])("no room\\nin the compiler")

try:
    load_kept("failing", build, one_builds=True)
except compilers.NoCompilerError as error:
    print(str(error) == "no room\\nin the compiler", type(error).__name__)
"""


@pytest.mark.parametrize(
    ("is_launched", "kind"),
    [(True, "FailedCompilerError"), (True, "NoCompilerError"), (False, "FailedCompilerError")],
)
def test_waiting_ranks_share_a_failure_of_the_compiler(
    is_launched: bool, kind: str, folder: Path, tmp_path: Path
) -> None:
    builds, end = tmp_path / "builds", tmp_path / "end"
    builds.touch()
    environment = dict(os.environ)
    if is_launched:
        environment["PMI_SIZE"] = "5"

    def start() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", FAILING, str(builds), str(end), kind]
        return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)

    first = start()
    while not builds.read_text(encoding="utf-8"):
        time.sleep(0.01)
    running = [first, *(start() for _ in range(4))]
    lock = folder / "failing.lock"
    limit = time.monotonic() + SECONDS
    while len(_that_open(lock)) < 5 and time.monotonic() < limit:
        time.sleep(0.01)
    end.touch()
    said = [process.communicate()[0] for process in running]
    is_shared = is_launched and kind == "FailedCompilerError"
    assert said == [
        f"True {kind}\n",
        *[f"True {'SharedFailureError' if is_shared else kind}\n"] * 4,
    ]
    number = 1 if is_shared else 5
    assert builds.read_text(encoding="utf-8").split() == ["built"] * number
    assert list(folder.iterdir()) == []
    assert start().communicate()[0] == f"True {kind}\n"  # a failure is not cached
    assert builds.read_text(encoding="utf-8").split() == ["built"] * (number + 1)


@pytest.mark.parametrize("is_launched", [True, False])
def test_an_unrelated_process_compiles_after_a_failure(
    is_launched: bool, folder: Path, tmp_path: Path
) -> None:
    """Its environment differs; another launcher has started it, or none."""
    compiler, begun, end = tmp_path / "cc", tmp_path / "begun", tmp_path / "end"
    compiler.write_text(
        f"""#!/bin/sh
if [ -n "$BAD" ]; then
    touch {begun}
    while [ ! -e {end} ]; do sleep 0.01; done
    exit 1
fi
exec {find_c_compiler()} "$@"
""",
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    environment = {**os.environ, "CC": str(compiler)} | ({"PMI_SIZE": "2"} if is_launched else {})
    code = f"from psyclone_storage.runtime import compiling\ncompiling.load_library({TEXT!r})"
    shell = ["sh", "-c", '"$@"; exit $?', "sh"] if is_launched else []  # the parent process

    def start(**variables: str) -> subprocess.Popen[bytes]:
        words = [*shell, sys.executable, "-c", code]
        return subprocess.Popen(words, env=environment | variables, stderr=subprocess.PIPE)

    first, limit = start(BAD="1"), time.monotonic() + SECONDS
    while not begun.exists() and time.monotonic() < limit:
        time.sleep(0.01)
    second, lock = start(), next(folder.glob("*.lock"))
    while len(_that_open(lock)) < 2 and time.monotonic() < limit:
        time.sleep(0.01)
    end.touch()
    assert b"did not compile what was generated" in first.communicate()[1]
    assert (second.communicate()[1], second.returncode) == (b"", 0)


def test_a_signal_that_ends_the_compiler_is_no_failure_of_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for script, is_failure in (("kill -9 $$", False), ("exit 1", True), ("exit 0", True)):
        with_compiler(monkeypatch, tmp_path / "cc", script)
        with pytest.raises(NoCompilerError) as caught:
            compiling.load_library(TEXT)
        assert isinstance(caught.value, FailedCompilerError) == is_failure
    assert list(folder.iterdir()) == []


def _that_open(path: Path) -> set[str]:
    """Return the processes that have opened a file."""
    found = set()
    for one in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if one.readlink() == path:
                found.add(one.parts[2])
    return found


def test_a_process_that_was_killed_while_it_reported_a_failure(tmp_path: Path) -> None:
    lock = tmp_path / "made.lock"
    lock.write_text("place\nnot made", encoding="utf-8")
    with compiling._wait_for(lock):
        assert not lock.read_text(encoding="utf-8")


PROGRAM = """
import numpy as np
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def double(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = 2.0 * old[0, 0]


grid = Grid((3, 2))
old, new = Field(grid, values=np.arange(6.0).reshape(3, 2)), Field(grid)
invoke(double(new, old), name="doubled")
assert new.values.tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]

"""
"""What a user runs: an invoke, which is compiled."""


@pytest.mark.parametrize("kind", ["SharedFailureError", "FailedCompilerError"])
def test_one_rank_warns_of_a_compiler_that_fails(kind: str, tmp_path: Path) -> None:
    failing = f"""
from psyclone_storage.base.compilers import {kind}
from psyclone_storage.runtime import native

def fail(text):
    raise {kind}("no room")

native.load_library = fail
"""
    program = tmp_path / "program.py"
    program.write_text(failing + PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    is_warned = "computed by NumPy, as C cannot be compiled: no room" in done.stderr
    assert is_warned == (kind == "FailedCompilerError")


def another_user() -> dict[str, Any]:
    """Return how `subprocess` runs something as a user who is not root; skip if that cannot be."""
    if os.geteuid() != 0:
        return {}
    nobody = {"user": 65534, "group": 65534}
    told = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-c", "import psyclone_storage.gocean"]
    try:
        subprocess.run(words, check=True, capture_output=True, env=told, cwd="/", **nobody)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("another user cannot execute Python here, or cannot read what it needs")
    return nobody


def test_the_python_of_another_user_may_be_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the home directory of root."""
    hidden = tmp_path / "home" / "python"
    hidden.parent.mkdir(mode=0o700)
    hidden.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(hidden))
    if os.geteuid() == 0:
        with pytest.raises(pytest.skip.Exception, match="another user cannot execute Python"):
            another_user()
    else:
        assert another_user() == {}


def test_folders_that_can_be_read_alone_are_used() -> None:
    """Of libraries and of results: what is there is not made again, what is not is not kept."""
    user = another_user()
    with TemporaryDirectory() as scratch:
        root = Path(scratch)
        root.chmod(0o755)
        compiler, asked = root / "cc", root / "asked"
        compiler.write_text(f'#!/bin/sh\necho asked >> {asked}\nexec {find_c_compiler()} "$@"\n')
        compiler.chmod(0o755)
        asked.touch()
        asked.chmod(0o666)
        program = root / "program.py"
        program.write_text(PROGRAM, encoding="utf-8")
        folders = [root / "libraries", root / "results"]
        names = (compiling.LIBRARIES_VARIABLE, "PSYCLONE_STORAGE_CACHE")
        told = {**os.environ, **dict(zip(names, map(str, folders), strict=True))}
        told |= {"CC": str(compiler), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"}

        def run() -> int:
            """Run the program as the user; return how often the compiler was asked."""
            asked.write_text("", encoding="utf-8")
            subprocess.run([sys.executable, str(program)], check=True, env=told, cwd=root, **user)
            return len(asked.read_text(encoding="utf-8").split())

        for folder in folders:
            folder.mkdir(mode=0o700)
            os.chown(folder, user.get("user", -1), user.get("group", -1))
        assert run() == 1
        there = {path for folder in folders for path in folder.rglob("*")}
        assert all(any(folder in path.parents for path in there) for folder in folders)
        for path in (*folders, *there):
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            assert run() == 0
            program.write_text(
                PROGRAM.replace("2.0 *", "1.0 +").replace(
                    "[[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]", "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"
                )
            )
            assert run() == 1
            assert {path for folder in folders for path in folder.rglob("*")} == there
        finally:
            for path in (*folders, *there):
                path.chmod(0o700)


def test_a_process_that_has_waited_too_long_builds_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_LONGEST_WAIT", 0.1)
    compiling.load_library(TEXT)
    made = next(folder.glob("*.so"))
    text = TEXT.replace("42", "43")
    name = compiling._digest(text, compiling._identity())
    with (folder / f"{name}.lock").open("w", encoding="utf-8") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.warns(RuntimeWarning, match=r"more than 0 seconds.*compiles it, too"):
            assert compiling.load_library(text).answer() == 43
    assert made.exists()
