"""Who may have written a cached file: decided from states, and from real files of other users."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from psyclone_storage.base import trusted
from psyclone_storage.base.trusted import (
    UntrustedError,
    check_folder,
    check_owned,
    check_parent,
    read_owned,
    write_owned,
)

ME, OTHER, SYSTEM = 1000, 1001, 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


def state(mode: int, owner: int) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, owner, owner, 0, 0, 0, 0))


def is_accepted(check: Callable[..., None], *words: object) -> bool:
    try:
        check("/some/where", *words)
    except UntrustedError:
        return False
    return True


@pytest.mark.parametrize("kind", [stat.S_IFREG, stat.S_IFDIR])
def test_a_cached_file_or_folder_is_ours_and_only_we_write_it(kind: int) -> None:
    """All modes of three owners: accepted are ours without write permission for others."""
    accepted = 0
    for owner in (0, ME, OTHER):
        for mode in range(0o10000):
            expected = owner == ME and not mode & 0o022
            assert is_accepted(check_owned, state(kind | mode, owner), ME) is expected
            accepted += expected
    assert accepted == 0o10000 // 4


def test_a_parent_is_ours_or_the_systems_and_others_cannot_replace_what_it_holds() -> None:
    for owner in (0, ME, OTHER, SYSTEM):
        for mode in range(0o10000):
            safe = not mode & 0o022 or bool(mode & stat.S_ISVTX)
            expected = owner != OTHER and safe
            found = is_accepted(check_parent, state(stat.S_IFDIR | mode, owner), ME, SYSTEM)
            assert found is expected


def test_a_symbolic_link_is_ours_or_the_systems() -> None:
    """Linux shows mode 0777 for each link."""
    for owner, expected in ((0, True), (ME, True), (OTHER, False)):
        assert is_accepted(check_parent, state(stat.S_IFLNK | 0o777, owner), ME) is expected


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_every_level_is_created_private(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        check_folder(tmp_path / "a" / "b" / "c", create=True)
        write_owned(tmp_path / "a" / "b" / "c" / "file", b"text", durable=True)
    finally:
        os.umask(before)
    made = sorted(tmp_path.rglob("*"))
    assert [stat.S_IMODE(one.stat().st_mode) for one in made] == [0o700] * 3 + [0o600]
    assert read_owned(made[-1]) == b"text"


@pytest.mark.parametrize("level", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o720, 0o702])
def test_each_level_is_checked(tmp_path: Path, level: str, mode: int) -> None:
    folder = tmp_path / "a" / "b" / "c"
    check_folder(folder, create=True)
    (tmp_path / level).chmod(mode)
    with pytest.raises(
        UntrustedError, match=f"'{tmp_path / level}' .mode {mode:04o}.*; run 'chm"
    ) as found:
        check_folder(folder)
    assert ("umask 002" in str(found.value)) is (mode & 0o022 == 0o020)
    with pytest.raises(UntrustedError):
        check_folder(folder / "new", create=True)
    assert not (folder / "new").exists()


def test_a_sticky_parent_is_safe_and_a_sticky_cache_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    check_folder(folder / "b", create=True)
    folder.chmod(0o1777)
    check_folder(folder / "b")
    check_folder(folder, shared=True)
    with pytest.raises(UntrustedError):
        check_folder(folder)


def test_symbolic_links_lead_to_folders_that_are_checked_as_well(tmp_path: Path) -> None:
    real = tmp_path / "real"
    check_folder(real / "kept", create=True)
    for name, target in (("near", "real/kept"), ("far", str(real / "kept")), ("up", "x/../real")):
        (tmp_path / name).symlink_to(target)
    check_folder(tmp_path / "near")
    check_folder(tmp_path / "far")
    with pytest.raises(FileNotFoundError):
        check_folder(tmp_path / "up")
    (tmp_path / "x").mkdir()
    check_folder(tmp_path / "up")
    (tmp_path / "x").chmod(0o777)
    with pytest.raises(UntrustedError, match="/x'"):
        check_folder(tmp_path / "up")
    real.chmod(0o777)
    for name in ("near", "far"):
        with pytest.raises(UntrustedError, match="real'"):
            check_folder(tmp_path / name)
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(UntrustedError, match="too many"):
        check_folder(tmp_path / "round")


def test_a_relative_path_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_folder(Path("a/../b"), create=True)
    assert (tmp_path / "b").is_dir()
    tmp_path.chmod(0o777)
    with pytest.raises(UntrustedError, match=str(tmp_path)):
        check_folder(Path("b"))


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    write_owned(tmp_path / "real", b"text")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "folder").mkdir(0o700)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "folder", "pipe"):
        with pytest.raises((UntrustedError, IsADirectoryError)):
            read_owned(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_owned(tmp_path / "nothing")
    with pytest.raises(FileExistsError):
        write_owned(tmp_path / "link", b"through")
    (tmp_path / "real").chmod(0o620)
    with pytest.raises(UntrustedError, match="mode 0620"):
        read_owned(tmp_path / "real")


def test_the_opened_file_is_checked_and_not_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is replaced between opening and checking is not the one that is read."""
    write_owned(tmp_path / "file", b"ours")
    usual = os.fstat

    def replaced(opened: int) -> os.stat_result:
        planted = tmp_path / "planted"
        planted.write_bytes(b"planted")
        planted.chmod(0o666)
        planted.replace(tmp_path / "file")
        return usual(opened)

    monkeypatch.setattr(trusted.os, "fstat", replaced)
    assert read_owned(tmp_path / "file") == b"ours"
    monkeypatch.undo()
    with pytest.raises(UntrustedError):
        read_owned(tmp_path / "file")


# ------------------------------------------------------------------ real users


@pytest.fixture
def shared() -> Iterator[Path]:
    """Return a folder that all users can reach."""
    with TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        yield Path(scratch)


def as_user(user: int, act: Callable[[], object]) -> int:
    """Return the exit status of a child process that acts as a user."""
    child = os.fork()
    if child == 0:
        status = 3
        try:
            os.setgid(user)
            os.setuid(user)
            act()
            status = 0
        except UntrustedError:
            status = 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@as_root
def test_files_of_each_user_are_read_by_that_user_alone(shared: Path) -> None:
    shared.chmod(0o1777)
    for owner in (0, ME, OTHER):
        folder = shared / str(owner)

        def plant(folder: Path = folder) -> None:
            check_folder(folder, create=True)
            write_owned(folder / "file", b"text")
            folder.chmod(0o755)
            (folder / "file").chmod(0o644)

        assert as_user(owner, plant) == 0
        for reader in (0, ME, OTHER):
            expected = 0 if reader == owner else 1
            assert as_user(reader, lambda folder=folder: check_folder(folder)) == expected
            assert as_user(reader, lambda file=folder / "file": read_owned(file)) == expected


@as_root
def test_a_link_of_another_user_in_a_sticky_folder_is_not_followed(shared: Path) -> None:
    shared.chmod(0o1777)
    assert as_user(ME, lambda: check_folder(shared / "mine", create=True)) == 0
    assert as_user(OTHER, lambda: (shared / "link").symlink_to("mine")) == 0
    assert as_user(ME, lambda: check_folder(shared / "mine")) == 0
    assert as_user(ME, lambda: check_folder(shared / "link")) == 1
