"""Cached libraries that are damaged, that other users may have written, or that do not fit.

None of them is executed, and none of them ends a run.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from psyclone_storage.base.compilers import NoCompilerError, find_c_compiler
from psyclone_storage.runtime import compiling

pytestmark = pytest.mark.skipif(find_c_compiler() is None, reason="no compiler for C")

TEXT = "int answer(void)\n{\n    return 42;\n}\n"


# ------------------------------------------------------------------ damaged libraries

LARGE = TEXT.replace("int", "const char table[30000] = {1};\nint", 1).replace("42", "41 + table[0]")

DAMAGED = f"""
import sys
from pathlib import Path
from psyclone_storage.runtime.compiling import load_kept, load_library

folder = Path(sys.argv[1])
load_library({LARGE!r})
made = next(folder.glob("*.so")).read_bytes()
library = made[:-64]
built = []

def build(place, path):
    built.append(path)
    path.write_bytes(library)

def damage(number):
    changed = bytearray(made)
    changed[number] ^= 1
    return bytes(changed)

load_kept("whole", build)
other = (folder / "whole.so").read_bytes()
broken = [made[:size] for size in range(0, len(made), 4096)]
broken += [made[:-1], made[:-64], library, made + b"0", other]
broken += [damage(number) for number in range(0, len(made), len(made) // 97)]
for number, data in enumerate(broken):
    path = folder / (str(number) + ".so")
    path.touch(0o600)
    path.write_bytes(data)
    built.clear()
    for _ in range(2):
        assert load_kept(str(number), build).answer() == 42
    assert len(built) == 1, number
    assert path.read_bytes()[:-64] == library
print(len(broken))
"""
"""Loads libraries that are cut at each page, with flipped bits, and those of another key."""


def test_damaged_libraries_are_compiled_again(folder: Path) -> None:
    words = [sys.executable, "-c", DAMAGED, str(folder)]
    done = subprocess.run(words, check=False, env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def path_of(folder: Path, text: str) -> Path:
    """Return where the library of `text` is cached for the present compiler."""
    return folder / f"{compiling._digest(text, compiling._identity())}.so"


def test_the_verified_bytes_are_those_that_are_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither replaced nor cut after it was verified does a cached file change what runs."""
    text = TEXT.replace("42", "666")
    compiling.load_library(text)
    planted = path_of(folder, text).read_bytes()
    compiling.load_library(TEXT)
    path = path_of(folder, TEXT)
    usual = ctypes.CDLL

    def swapped(name: str) -> ctypes.CDLL:
        path.write_bytes(planted)
        return usual(name)

    monkeypatch.setattr(ctypes, "CDLL", swapped)
    library = compiling.load_library(TEXT)
    path.write_bytes(b"")
    assert library.answer() == 42


def test_a_process_that_is_killed_before_the_library_has_its_name(folder: Path) -> None:
    script = (
        "import os, pathlib, signal\n"
        "from psyclone_storage.runtime.compiling import load_library\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"load_library({TEXT!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, env=dict(os.environ))
    assert done.returncode == -9
    assert len(list(folder.glob(".*"))) == 1
    assert len(list(folder.glob("*.lock"))) == 1
    other = folder / "other.lock"
    with other.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert compiling.load_library(TEXT.replace("42", "43")).answer() == 43
    assert [path for path in folder.iterdir() if path.suffix != ".so"] == [other]


def test_a_process_that_is_killed_while_it_loads_a_copy_in_the_cache_folder(
    folder: Path, tmp_path: Path
) -> None:
    compiling.load_library(TEXT)
    mine = folder / "psyclone-storage-mine"
    mine.mkdir()
    os.utime(mine, (0, 0))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o777)
    script = (
        "import ctypes, os, signal\n"
        "from psyclone_storage.runtime.compiling import load_library\n"
        "ctypes.CDLL = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"load_library({TEXT!r})\n"
    )
    environment = {**os.environ, "TMPDIR": str(temporary)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], check=False, env=environment)
        assert done.returncode == -9
        (left,) = folder.glob(".*")
        assert left.is_dir()
    script = script.replace("ctypes.CDLL = ", "")
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    assert list(folder.glob(".*")) == []
    assert mine.is_dir()


def test_a_library_is_on_disk_before_it_has_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    order: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(opened: int) -> None:
        order.append("sync")
        sync(opened)

    def replaced(self: Path, target: Path) -> Path:
        order.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    compiling.load_library(TEXT)
    assert order == ["sync", "replace"] * 2


# ------------------------------------------------------------------ libraries of other users


def plant(folder: Path) -> Path:
    """Put a library with another answer where that of `TEXT` is cached; return its path."""
    compiling.load_library(TEXT)
    path = path_of(folder, TEXT)
    data = path.read_bytes()
    path.unlink()

    def build(place: Path, made: Path) -> None:
        del place
        made.write_bytes(data[:-64])

    compiling.load_kept(path.stem, build)
    return path


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_library_that_others_may_write_is_ignored(
    folder: Path, asked: list[list[str]], mode: int
) -> None:
    path = plant(folder)
    path.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"'{path}' .mode {mode:04o}.*; run 'chmod go-w'"):
        assert compiling.load_library(TEXT).answer() == 42
    assert len(asked) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    compiling.load_library(TEXT)
    assert len(asked) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
@pytest.mark.parametrize("of_folder", [False, True])
def test_what_another_user_owns_is_ignored(
    folder: Path, asked: list[list[str]], of_folder: bool
) -> None:
    path = plant(folder)
    os.chown(folder if of_folder else path, 65534, 65534)
    before = path.stat().st_ino
    with pytest.warns(RuntimeWarning, match=r"belongs to another user .uid 65534"):
        assert compiling.load_library(TEXT).answer() == 42
    assert len(asked) == 2
    assert (path.stat().st_ino == before) is of_folder


@pytest.mark.parametrize("shared", ["kept", "."])
@pytest.mark.parametrize("one_builds", [False, True])
def test_a_folder_that_others_may_write_is_ignored(
    folder: Path, asked: list[list[str]], shared: str, one_builds: bool
) -> None:
    path = plant(folder)
    (folder.parent / shared).chmod(0o777)

    def build(place: Path, made: Path) -> None:
        compiling._compile(TEXT, place, made)

    with pytest.warns(RuntimeWarning, match="Set PSYCLONE_STORAGE_LIBRARIES to a folder that only"):
        assert compiling.load_kept(path.stem, build, one_builds=one_builds).answer() == 42
    assert len(asked) == 2
    assert len(list(folder.iterdir())) == 2


def test_a_link_to_a_library_is_not_followed(folder: Path, asked: list[list[str]]) -> None:
    path = plant(folder)
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")
    with pytest.warns(RuntimeWarning, match=f"'{path}' is a symbolic link"):
        assert compiling.load_library(TEXT).answer() == 42
    assert len(asked) == 2
    assert not path.is_symlink()


def test_a_temporary_folder_that_others_may_replace_is_ignored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o777)
    monkeypatch.setattr(compiling, "gettempdir", lambda: str(temporary))
    with pytest.warns(RuntimeWarning, match="Set TMPDIR to a folder that only you"):
        assert [compiling.load_library(TEXT).answer() for _ in range(2)] == [42, 42]
    assert len(list(folder.iterdir())) == 2
    assert list(temporary.iterdir()) == []
    folder.chmod(0o777)
    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(NoCompilerError, match=r"no folder that only.*Set TMPDIR"),
    ):
        compiling.load_library(TEXT)
    temporary.chmod(0o1777)
    with pytest.warns(RuntimeWarning, match="PSYCLONE_STORAGE_LIBRARIES"):
        assert compiling.load_library(TEXT).answer() == 42


def test_a_folder_that_others_may_write_when_it_is_needed_is_reported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user makes the folder writable after it has been checked."""
    del folder
    check = compiling.check_folder

    def check_and_open(path: Path, *, create: bool = False, shared: bool = False) -> None:
        if create:
            path.parent.chmod(0o777)
        check(path, create=create, shared=shared)

    monkeypatch.setattr(compiling, "gettempdir", lambda: str(tmp_path / "missing"))
    monkeypatch.setattr(compiling, "check_folder", check_and_open)
    with pytest.raises(NoCompilerError, match=r"other users may write to .*Set TMPDIR"):
        compiling.load_library(TEXT)


def test_folders_are_created_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0)
    try:
        compiling.load_library(TEXT)
    finally:
        os.umask(before)
    made = sorted((tmp_path / "cache").rglob("*"))
    assert [path.name for path in made[:2]] == ["psyclone-storage", "libraries"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o600, 0o600]
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_a_relative_folder_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, "kept/here")
    monkeypatch.chdir(tmp_path)
    assert [compiling.load_library(TEXT).answer() for _ in range(2)] == [42, 42]
    assert len(asked) == 1
    assert len(list((tmp_path / "kept" / "here").iterdir())) == 2


# ------------------------------------------------------------------ file systems


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str, str], Path]]:
    """Return what mounts a file system in memory with some options; skip if that cannot be."""
    done: list[Path] = []

    def mount(name: str, options: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"mode=0700,{options}", "tmpfs", str(place)]
        try:
            code = subprocess.run(words, check=False, capture_output=True).returncode
        except OSError:
            code = 1
        if code:
            pytest.skip("no file system can be mounted")
        done.append(place)
        return place

    yield mount
    for place in done:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_library_is_loaded_where_a_folder_is_mounted_without_execution(
    mounted: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: list[list[str]],
) -> None:
    """Of the cache folder and the temporary folder, one has to permit execution."""
    noexec = mounted("noexec", "noexec")
    (tmp_path / "usual").mkdir(mode=0o700)
    for at, (cache, temporary) in enumerate((("noexec", "usual"), ("usual", "noexec"))):
        monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(tmp_path / cache / "kept"))
        monkeypatch.setattr(compiling, "gettempdir", lambda name=temporary: str(tmp_path / name))
        assert [compiling.load_library(TEXT).answer() for _ in range(3)] == [42] * 3
        assert len(asked) == at + 1
        assert len(list((tmp_path / cache / "kept").iterdir())) == 2
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(noexec / "kept"))
    with pytest.raises(NoCompilerError, match=r"Set TMPDIR .* permits execution"):
        compiling.load_library(TEXT)


def test_a_full_file_system_ends_no_run(
    mounted: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: list[list[str]],
) -> None:
    """A library that does not fit is not cached, or loaded from the other folder."""
    full = mounted("full", "size=8k")
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(full))
    assert [compiling.load_library(TEXT).answer() for _ in range(2)] == [42, 42]
    assert len(asked) == 2
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(tmp_path / "kept"))
    assert compiling.load_library(TEXT).answer() == 42
    monkeypatch.setattr(compiling, "gettempdir", lambda: str(full))
    assert compiling.load_library(TEXT).answer() == 42
    assert len(asked) == 3
    assert list(full.iterdir()) == []


def test_a_file_system_that_is_read_only_is_done_without(
    mounted: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch, asked: list[list[str]]
) -> None:
    monkeypatch.setenv(compiling.LIBRARIES_VARIABLE, str(mounted("cache", "ro") / "kept"))
    assert [compiling.load_library(TEXT).answer() for _ in range(2)] == [42, 42]
    assert len(asked) == 2
