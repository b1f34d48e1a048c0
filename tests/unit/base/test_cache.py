"""A folder of entries: bounded, whole or absent, and shared by commands that are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from psyclone_storage.base import fingerprint
from psyclone_storage.base.cache import Cache
from psyclone_storage.base.fingerprint import tool_digest
from psyclone_storage.base.temporaries import temporary_name
from psyclone_storage.base.trusted import write_owned

KEYS = [f"{number:x}{number:063x}" for number in range(16)]


def content(key: str) -> bytes:
    return f"content of {key} ".encode() * 2000


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    Cache(tmp_path).keep(KEYS[3], b"some\n\x00bytes")
    assert Cache(tmp_path).find(KEYS[3]) == b"some\n\x00bytes"
    assert Cache(tmp_path).find(KEYS[4]) is None


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def test_the_folder_stays_below_its_limit(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=16 * 10_000)
    for number in range(60):
        cache.keep(f"a{number:063x}", noise(1000 + number))
    sizes = [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()]
    assert 5_000 < sum(sizes) <= 10_000
    assert cache.find(f"a{59:063x}") is not None


def test_what_was_used_last_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=16 * 10_000)
    old = time.time() - 10 * 86_400
    for number in range(9):
        cache.keep(f"a{number:063x}", noise(1000))
        os.utime(tmp_path / "a" / f"a{number:063x}", (old + number, old + number))
    assert cache.find(f"a{0:063x}")
    cache.keep(f"a{99:063x}", noise(1500))
    assert cache.find(f"a{0:063x}")
    assert cache.find(f"a{99:063x}")
    assert cache.find(f"a{1:063x}") is None


def ended_process() -> int:
    """Return the number of a process that has ended."""
    process = multiprocessing.Process(target=os.getpid)
    process.start()
    process.join()
    return process.pid or 0


def test_what_a_killed_command_left_is_taken_away(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEYS[1], b"a")
    running = temporary_name(tmp_path / "1" / "x")
    dead = running.with_name(running.name.replace(f"-{os.getpid()}-", f"-{ended_process()}-"))
    left = [dead, running]
    for path in left:
        path.write_bytes(b"part")
    cache.keep(KEYS[1], b"b")
    assert [path.exists() for path in left] == [False, True]
    assert cache.find(KEYS[1]) == b"b"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_rights_is_only_read(tmp_path: Path) -> None:
    Cache(tmp_path).keep(KEYS[1], b"a")
    for path in (tmp_path, tmp_path / "1"):
        path.chmod(0o500)
    Cache(tmp_path).keep(KEYS[1], b"b")
    Cache(tmp_path).keep(KEYS[2], b"b")
    assert Cache(tmp_path).find(KEYS[1]) == b"a"
    for path in (tmp_path, tmp_path / "1"):
        path.chmod(0o700)


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEYS[1], b"a")

    def full(path: Path, data: bytes) -> None:
        write_owned(path, data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("psyclone_storage.base.cache.write_owned", full)
    cache.keep(KEYS[1], b"b")
    monkeypatch.undo()
    assert cache.find(KEYS[1]) == b"a"
    assert [path.name for path in (tmp_path / "1").iterdir()] == [KEYS[1]]


@pytest.mark.parametrize("shared", [".", "kept", "kept/1", f"kept/1/{KEYS[1]}"])
def test_what_others_may_write_is_ignored(tmp_path: Path, shared: str) -> None:
    Cache(tmp_path / "kept").keep(KEYS[1], b"a")
    (tmp_path / shared).chmod(0o777)
    cache = Cache(tmp_path / "kept")
    assert cache.find(KEYS[1]) is None
    assert cache.find(KEYS[1]) is None
    assert len(cache.ignored) == 1
    assert "mode 0777" in next(iter(cache.ignored))
    is_file = shared.endswith(KEYS[1])
    cache.keep(KEYS[1], b"b")
    cache.keep(KEYS[3], b"b")
    assert (cache.find(KEYS[1]) == b"b") is (cache.find(KEYS[3]) == b"b") is is_file
    assert len(cache.ignored) == 1


def test_an_entry_under_the_name_of_another_is_ignored(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep(KEYS[1], b"a")
    folder = tmp_path / "1"
    planted = KEYS[1][:-1] + "f"
    (folder / planted).write_bytes((folder / KEYS[1]).read_bytes())
    (folder / planted).chmod(0o600)
    assert cache.find(planted) is None


def test_damaged_entries_are_ignored(tmp_path: Path) -> None:
    """Each is cut at every byte, and has every bit changed."""
    cache = Cache(tmp_path)
    cache.keep(KEYS[1], b"some bytes")
    path = tmp_path / "1" / KEYS[1]
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert cache.find(KEYS[1]) is None
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        assert cache.find(KEYS[1]) in (None, b"some bytes")


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_folders_and_entries_are_for_this_user_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        Cache(tmp_path / "a" / "b").keep(KEYS[1], b"a")
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in sorted((tmp_path).rglob("*"))]
    assert modes == [0o700, 0o700, 0o700, 0o600]


def hammer(folder: Path, seed: int) -> None:
    """Keep and find entries for ever; end with status 3 if one is not what was kept."""
    draw = random.Random(seed)
    cache = Cache(folder, limit=16 * 3000)
    while True:
        key = draw.choice(KEYS)
        found = cache.find(key)
        if found not in (None, content(key)):
            os._exit(3)
        cache.keep(key, content(key))


def test_commands_at_once_may_be_killed(tmp_path: Path) -> None:
    processes = [
        multiprocessing.Process(target=hammer, args=(tmp_path, seed)) for seed in range(16)
    ]
    for process in processes:
        process.start()
    cache, limit = Cache(tmp_path), time.monotonic() + 60
    while not any(map(cache.find, KEYS)) and time.monotonic() < limit:
        time.sleep(0.01)
    time.sleep(0.5)
    for process in processes:
        assert process.is_alive()
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
    found = [cache.find(key) for key in KEYS]
    assert all(data in (None, content(key)) for data, key in zip(found, KEYS, strict=True))
    assert any(found)


def test_threads_that_keep_one_entry_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(4, timeout=60)

    def write(path: Path, data: bytes) -> None:
        together.wait()
        write_owned(path, data)
        together.wait()

    monkeypatch.setattr("psyclone_storage.base.cache.write_owned", write)
    cache = Cache(tmp_path)
    for number in range(5):
        key = KEYS[number]
        threads = [threading.Thread(target=cache.keep, args=(key, content(key))) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert cache.find(key) == content(key)
    monkeypatch.undo()
    cache.keep(KEYS[9], b"a")
    assert cache.find(KEYS[9]) == b"a"
    assert not list(tmp_path.rglob(".*"))


def package(folder: Path) -> Path:
    (folder / "room").mkdir(parents=True)
    (folder / "share").mkdir()
    for name in ("a.py", "room/b.py", "share/c.py"):
        (folder / name).write_text("x = 1\n")
    return folder


def test_the_tool_is_known_by_its_sources(tmp_path: Path) -> None:
    cache, tool = Cache(tmp_path / "kept"), package(tmp_path / "tool")
    first = tool_digest(cache, tool)
    assert tool_digest(cache, package(tmp_path / "same")) == first
    known = (tool / "room" / "b.py").stat()
    (tool / "room" / "b.py").write_text("x = 2\n")
    os.utime(tool / "room" / "b.py", ns=(known.st_atime_ns, known.st_mtime_ns))
    second = tool_digest(cache, tool)
    (tool / "room" / "b.py").rename(tool / "room" / "c.py")
    third = tool_digest(cache, tool)
    (tool / "share" / "c.py").write_text("other")
    assert len({first, second, third}) == 3
    assert tool_digest(cache, tool) == third


def test_sources_in_excluded_subpackages_do_not_count(tmp_path: Path) -> None:
    cache, tool = Cache(tmp_path / "kept"), package(tmp_path / "tool")
    (tool / "other" / "room").mkdir(parents=True)
    (tool / "other" / "room" / "d.py").write_text("x = 1\n")
    first = tool_digest(cache, tool, excluded=["room"])
    (tool / "room" / "b.py").write_text("x = 2\n")
    assert tool_digest(cache, tool, excluded=["room"]) == first
    assert len({first, tool_digest(cache, tool), tool_digest(cache, tool, excluded=["other"])}) == 3
    (tool / "other" / "room" / "d.py").write_text("x = 2\n")
    assert tool_digest(cache, tool, excluded=["room"]) != first


def test_the_digest_of_settled_sources_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, tool = Cache(tmp_path / "kept"), package(tmp_path / "tool")
    first = tool_digest(cache, tool)
    assert not (tmp_path / "kept").exists()
    monkeypatch.setattr(fingerprint, "_SETTLED", -60.0)
    assert tool_digest(cache, tool) == first

    def refused(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(fingerprint, "open", refused, raising=False)
    assert tool_digest(cache, tool) == first


def test_what_cannot_be_read_is_no_tool(tmp_path: Path) -> None:
    cache, tool = Cache(tmp_path / "kept"), package(tmp_path / "tool")
    (tool / "room" / ".#b.py").symlink_to("somebody@somewhere.1234")
    assert not tool_digest(cache, tool)
    (tool / "room" / ".#b.py").unlink()
    assert tool_digest(cache, tool)
    for name in ("a.py", "room/b.py"):
        (tool / name).rename((tool / name).with_suffix(".pyc"))
    assert not tool_digest(cache, tool)
    assert not tool_digest(cache, tool / "a.pyc")
