"""Files are written whole or not at all, and only when they change."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.cli.write import write_text


def test_a_new_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "alg.f90"
    assert write_text(path, "program alg\n")
    assert path.read_text() == "program alg\n"


def test_a_file_that_does_not_change_keeps_its_time(tmp_path: Path) -> None:
    path = tmp_path / "alg.f90"
    write_text(path, "program alg\n")
    os.utime(path, (1, 1))
    assert not write_text(path, "program alg\n")
    assert path.stat().st_mtime == 1
    assert write_text(path, "program other\n")
    assert path.stat().st_mtime > 1


def test_line_ends_and_foreign_bytes_come_back(tmp_path: Path) -> None:
    path = tmp_path / "alg.f90"
    data = b"! caf\xe9\r\nprogram alg\r\n"
    write_text(path, data.decode("utf-8", "surrogateescape"))
    assert path.read_bytes() == data


def test_the_rights_of_a_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "alg.f90"
    write_text(path, "old")
    path.chmod(0o640)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    write_text(tmp_path / "alg.f90", "new")
    assert (tmp_path / "alg.f90").stat().st_mode == usual.stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.f90", tmp_path / "link.f90"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "alg.f90"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(CompileError, match=r"'.*alg\.f90' cannot be written: No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["alg.f90"]
