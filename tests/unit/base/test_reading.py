"""Input files: regular files and explicit streams are read, other special files are rejected."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from psyclone_storage.base import reading
from psyclone_storage.base.reading import read_input


def special(folder: Path, kind: str) -> Path:
    """Return the path of a special file."""
    path = folder / "special"
    if kind == "a named pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    else:
        path = Path("/dev/zero")
    return path


@pytest.mark.parametrize("kind", ["a named pipe", "a socket", "a device file"])
@pytest.mark.parametrize("is_link", [False, True])
def test_special_files_are_rejected(kind: str, is_link: bool, tmp_path: Path) -> None:
    path = special(tmp_path, kind)
    if is_link:
        path, target = tmp_path / "link", path
        path.symlink_to(target)
    with pytest.raises(OSError, match=f"it is {kind}, not a regular file"):
        read_input(path)


def test_a_file_that_becomes_a_pipe_does_not_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    state = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda _: state)
    with pytest.raises(OSError, match="it is a named pipe"):
        read_input(path)


@pytest.mark.parametrize("size", [0, 99, 100, 101, 10**12])
def test_the_size_is_limited(size: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(size)
    if size <= 100:
        assert len(read_input(path, 100)) == size
        return
    with pytest.raises(OSError, match="it is larger than 0 MiB"):
        read_input(path, 100)


@pytest.mark.parametrize("size", [0, 100, 100_000])
def test_an_explicit_stream_is_read_up_to_the_limit(size: int) -> None:
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as stream:
            stream.write(b"x" * size)

    thread = threading.Thread(target=write)
    thread.start()
    assert read_input(Path(f"/dev/fd/{reader}")) == b"x" * size
    thread.join()
    os.close(reader)
    with pytest.raises(OSError, match=f"larger than {reading.LIMIT // 2**20} MiB"):
        read_input(Path("/dev/fd") / str(os.open("/dev/zero", os.O_RDONLY)))
