"""Files are written together or not at all, each one whole, and only when they change."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from builds.dying_command import die_after
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.base.temporaries import temporary_name
from psyclone_storage.cli import write
from psyclone_storage.cli.write import Output, given_name, is_stream, write_together


def write_text(path: Path, text: str) -> None:
    write_together((Output(path, text),))


def hints(error: CompileError) -> list[str]:
    return [problem.hint for problem in error.problems]


def test_a_new_file_and_its_folder_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "alg.f90"
    write_text(path, "program alg\n")
    assert path.read_text() == "program alg\n"


def test_a_file_that_another_command_removes_is_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream is written in place, where other commands read an incomplete text."""
    path = tmp_path / "work_0_mod.f90"
    path.touch()
    state = Path.stat

    def removed(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = state(self, follow_symlinks=follow_symlinks)
        path.unlink(missing_ok=True)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", removed)
        assert not is_stream(path)
    assert not path.exists()
    os.mkfifo(path)
    assert is_stream(path)


def test_a_temporary_file_that_is_gone_gives_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(FileNotFoundError):
        given_name(tmp_path / "gone", tmp_path / "work_0_mod.f90")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_does_not_change_keeps_its_time(tmp_path: Path) -> None:
    path = tmp_path / "alg.f90"
    write_text(path, "program alg\n")
    os.utime(path, (1, 1))
    write_text(path, "program alg\n")
    assert path.stat().st_mtime == 1
    write_text(path, "program other\n")
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
        write_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_without_a_reader_is_an_error(
    is_link: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "_LONGEST_WAIT", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if is_link:
        pipe, target = tmp_path / "link", pipe
        pipe.symlink_to(target)
    with pytest.raises(CompileError, match="no process reads this named pipe") as caught:
        write_together(outputs(tmp_path, "alg.f90", pipe.name))
    assert hints(caught.value) == ["Start the process that reads the pipe first."]
    assert not (tmp_path / "alg.f90").exists()


def test_a_pipe_may_be_opened_later_by_its_reader(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Timer(0.3, lambda: found.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "text" * 10**5)
    reader.join()
    assert found == ["text" * 10**5]


def test_a_reader_that_ends_early_is_an_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Timer(0.1, lambda: pipe.open("rb", buffering=0).close())
    reader.start()
    with pytest.raises(CompileError, match="Broken pipe") as caught:
        write_text(pipe, "text" * 10**6)
    reader.join()
    assert hints(caught.value) == ["Let the process that reads the pipe read it to its end."]


def test_a_socket_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("psy.f90")
        with pytest.raises(CompileError, match="cannot be written: ") as caught:
            write_text(Path("psy.f90"), "text")
    assert hints(caught.value) == ["Write to a regular file or a named pipe."]


def test_much_text_goes_through_a_pipe(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", bytearray()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)

    def read() -> None:
        while data := os.read(reader, 2**16):
            found.extend(data)

    writer = os.open(pipe, os.O_WRONLY)  # `read` must not end before the text
    thread = threading.Thread(target=read)
    thread.start()
    write_text(pipe, "text" * 10**6)
    os.close(writer)
    thread.join()
    os.close(reader)
    assert found == b"text" * 10**6


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/dev/stdout"])
def test_an_open_file_keeps_what_others_write(tmp_path: Path, name: str) -> None:
    """A shell opens `log` once, and several commands write to it, as after `>> log`."""
    log = tmp_path / "log"
    with log.open("wb", buffering=0) as opened:
        opened.write(b"first ")
        program = f"from pathlib import Path; from {write.__name__} import *\n"
        program += "write_together((Output(Path(sys.argv[1]), 'second '),))"
        words = [sys.executable, "-c", f"import sys; {program}", name.format(opened.fileno())]
        subprocess.run(words, stdout=opened, pass_fds=[opened.fileno()], check=True)
        opened.write(b"third")
    assert log.read_bytes() == b"first second third"


@pytest.mark.parametrize("number", [987, 10**12])
def test_a_file_that_is_not_open_is_an_error(number: int) -> None:
    with pytest.raises(CompileError, match="cannot be written: Bad file descriptor"):
        write_text(Path(f"/dev/fd/{number}"), "text")


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


# ------------------------------------------------------------------ files that belong together


def contents(folder: Path) -> dict[str, str]:
    """Return every file below `folder` with its text, and every folder with nothing."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
    }


def outputs(folder: Path, *names: str) -> list[Output]:
    return [Output(folder / name, f"new {name}") for name in names]


def test_all_files_change_or_none(tmp_path: Path) -> None:
    (tmp_path / "alg.f90").write_text("old")
    (tmp_path / "folder").mkdir()
    before = contents(tmp_path)
    with pytest.raises(CompileError) as found:
        write_together(
            outputs(tmp_path, "alg.f90", "new/psy.f90", "folder", "alg.f90/x", "/proc/none/x")
        )
    assert [problem.code for problem in found.value.problems] == ["L003"] * 3
    assert contents(tmp_path) == before
    write_together(outputs(tmp_path, "alg.f90", "new/psy.f90"))
    after = {"alg.f90": "new alg.f90", "new": "", "new/psy.f90": "new new/psy.f90"}
    assert contents(tmp_path) == before | after


def test_a_folder_of_others_is_not_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    folder.chmod(0o555)
    if os.access(folder, os.W_OK):
        folder = Path("/proc")
    with pytest.raises(CompileError, match=r"'.*psy.f90' cannot be written"):
        write_together(outputs(tmp_path, "alg.f90", str(folder / "psy.f90")))
    assert list(contents(tmp_path)) == ["theirs"]


def test_two_texts_for_one_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(CompileError, match=r"L002.*would be written twice"):
        write_together(outputs(tmp_path, "alg.f90", "link/alg.f90"))
    assert list(contents(tmp_path)) == ["link"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_is_written_elsewhere_comes_before_any_file(
    tmp_path: Path, error: type[BaseException]
) -> None:
    (tmp_path / "alg.f90").write_text("old")
    before = contents(tmp_path)

    def fail() -> None:
        assert (tmp_path / "alg.f90").read_text() == "old"
        raise error

    with pytest.raises(error):
        write_together(outputs(tmp_path, "alg.f90", "new/deep/psy.f90"), fail)
    assert contents(tmp_path) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_keeps_the_files_as_they_are(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="'/dev/full' cannot be written: No space") as caught:
        write_together(outputs(tmp_path, "alg.f90", "/dev/full"))
    assert hints(caught.value) == ["Free space on this device, or write to another one."]
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("has_links", [True, False])
def test_files_are_put_back_if_a_later_one_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    (tmp_path / "alg.f90").write_text("old")
    os.utime(tmp_path / "alg.f90", (1, 1))
    before = contents(tmp_path)
    replace = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if target.name == "psy.f90":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        return replace(path, target)

    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "replace", refuse)
    if not has_links:
        monkeypatch.setattr(Path, "hardlink_to", no_link)
    with pytest.raises(CompileError, match=r"'.*psy.f90' cannot be written: Operation not"):
        write_together(outputs(tmp_path, "alg.f90", "first.f90", "psy.f90"))
    assert contents(tmp_path) == before
    assert (tmp_path / "alg.f90").stat().st_mtime == 1


def test_an_old_file_that_cannot_be_put_back_stays_beside_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "alg.f90").write_text("old")
    replace = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if target.name == "psy.f90" or path.read_text() == "old":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(CompileError, match=r"'.*psy.f90' cannot be written: Operation not"):
        write_together(outputs(tmp_path, "alg.f90", "psy.f90"))
    assert "old" in contents(tmp_path).values()


def test_a_shared_file_is_made_once_and_must_be_the_same(tmp_path: Path) -> None:
    path = tmp_path / "work_0_mod.f90"
    same = Output(path, "text", shared=True)
    write_together((same, same))
    os.utime(path, (1, 1))
    write_together((same,))
    assert path.stat().st_mtime == 1
    with pytest.raises(CompileError, match="L015"):
        write_together((*outputs(tmp_path, "psy.f90"), Output(path, "other", shared=True)))
    assert contents(tmp_path) == {"work_0_mod.f90": "text"}


def test_a_shared_file_that_is_made_meanwhile_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "work_0_mod.f90"
    given = (*outputs(tmp_path, "psy.f90"), Output(path, "text", shared=True))
    with pytest.raises(CompileError, match="L015"):
        write_together(given, lambda: bool(path.write_text("other")) and None)
    assert contents(tmp_path) == {"work_0_mod.f90": "other"}
    path.unlink()
    write_together(given, lambda: bool(path.write_text("text")) and None)
    assert contents(tmp_path) == {"work_0_mod.f90": "text", "psy.f90": "new psy.f90"}


def test_temporary_files_of_killed_commands_are_removed(tmp_path: Path) -> None:
    """Also next to other files, and if nothing changes; never those of a running command."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine = temporary_name(tmp_path / "alg.f90").name
    machine = mine.split("-")[-3]
    dead, running = f"{machine}-{gone.pid}-0", f"{machine}-{os.getpid()}-7"
    names = {
        f".alg.f90.psyclone-storage-{dead}": False,
        f".other.f90.psyclone-storage-{dead}": False,
        f".alg.f90.psyclone-storage-{running}": True,
        f".alg.f90.psyclone-storage-00000000-{gone.pid}-0": True,
        f".old.f90.psyclone-storage-00000000-{gone.pid}-0": False,
        f".alg.f90.{dead}": True,
        f"alg.f90.psyclone-storage-{dead}": True,
        ".alg.f90.text": True,
    }
    write_together(outputs(tmp_path, "alg.f90"))
    for name in names:
        (tmp_path / name).write_text("part")
        if name.startswith(".old"):
            os.utime(tmp_path / name, (1, 1))
    claim = tmp_path / f"..work_0_mod.claim.psyclone-storage-{dead}"
    claim.mkdir()
    (claim / "owner").write_text("psy.f90")
    write_together(outputs(tmp_path, "alg.f90"))
    kept = [name for name, is_kept in names.items() if is_kept]
    assert sorted(contents(tmp_path)) == sorted(["alg.f90", *kept])


def test_names_of_temporary_files_fit(tmp_path: Path) -> None:
    for name in ("a" * 255, "é" * 127):
        write_text(tmp_path / name, "text")
        write_text(tmp_path / name, "other")
        assert contents(tmp_path) == {name: "other"}
        (tmp_path / name).unlink()


@pytest.mark.parametrize("shared", [True, False])
def test_a_killed_command_looks_complete_only_if_it_is(tmp_path: Path, shared: bool) -> None:
    """What a build checks, the algorithm and the PSy layer, is replaced after all the rest."""
    rest = ("work_0_mod.f90", "psy.d", "report.txt")
    given = outputs(tmp_path, "alg.f90", "psy.f90", "psy.c", *rest)
    given[3] = replace(given[3], shared=shared)
    complete = {output.path.name: output.text for output in given}

    for old in (None, "old"):
        states = []
        for killed_before in range(len(given) - shared):  # a shared file gets a second name
            for name in complete:
                (tmp_path / name).unlink(missing_ok=True)
                if old and not (shared and name == rest[0]):
                    (tmp_path / name).write_text(old)
            assert killed(given, killed_before) == -signal.SIGKILL
            found = {name: text for name, text in contents(tmp_path).items() if name in complete}
            assert found != complete
            states.append([name for name in complete if found.get(name) == complete[name]])
            if {"alg.f90", "psy.f90"} & set(states[-1]):
                assert {"psy.c", *rest} <= set(states[-1])
        assert ["psy.f90", "psy.c", *rest] in states
        write_together(given)
        assert contents(tmp_path) == complete


def killed(given: list[Output], before: int) -> int:
    """Write `given` in a process that is killed when all but the first targets are replaced."""
    process = os.fork()
    if process == 0:
        die_after(before)
        write_together(given)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_a_part_of_a_shared_file_is_completed(tmp_path: Path) -> None:
    """Where files have one name only, a command may die between making and filling it."""
    path = tmp_path / "work_0_mod.f90"
    path.write_text("te")
    write_together((Output(path, "text", shared=True),))
    assert path.read_text() == "text"


def test_an_outdated_shared_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "work_0_mod.f90"
    path.write_text("old")
    write_together((Output(path, "text", shared=True, outdated="old"),))
    assert path.read_text() == "text"
    with pytest.raises(CompileError, match="L015"):
        write_together((Output(path, "new", shared=True, outdated="old"),))
