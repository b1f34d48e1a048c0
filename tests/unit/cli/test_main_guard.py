"""What a user sees of problems, and of defects of this tool."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from command import Outcome
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError, Severity
from psyclone_storage.cli.main_guard import lost_process, run_guarded
from psyclone_storage.cli.style import Style
from psyclone_storage.pipeline import compile as stages
from psyclone_storage.targets.apis import target_of
from psyclone_storage.targets.spec import Target
from unit.cli.conftest import Command

SOURCE = Path(__file__).parents[3] / "src"
PLAIN = Style()
ERROR = Diagnostic("L001", "No.")
WARNING = Diagnostic("P013", "Hm.", severity=Severity.WARNING)


def run(problems: Iterable[Diagnostic] | Exception, style: Style = PLAIN) -> int:
    def command() -> Iterable[Diagnostic]:
        if isinstance(problems, Exception):
            raise problems
        return problems

    return run_guarded(command, style)


def in_process(
    words: Sequence[str], folder: Path, stdout: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own, as a shell does."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        [sys.executable, "-m", "psyclone_storage", "-api", "lfric", "-d", "kernels", *words],
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def test_status_is_the_worst_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(()) == 0
    assert run((WARNING,)) == 0
    assert run((WARNING, ERROR)) == 1
    assert run(CompileError(ERROR)) == 1
    assert run(InternalError("Two stages disagree.")) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_defect_says_where_and_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ZeroDivisionError("division by zero")) == 2
    printed = re.sub(r":\d+:", ":<line>:", capsys.readouterr().err)
    assert printed == (
        "error[I001]: Internal error: ZeroDivisionError at test_main_guard.py:<line>: division by "
        "zero.\n"
        "  hint: This is a defect of psyclone-storage, not of your code: please report it.\n"
    )


def test_json_is_there_without_problems(capsys: pytest.CaptureFixture[str]) -> None:
    assert run((), Style("json")) == 0
    assert json.loads(capsys.readouterr().err) == []


def test_stopping_from_the_keyboard_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> Iterable[Diagnostic]:
        raise KeyboardInterrupt

    assert run_guarded(command, Style()) == 130
    assert capsys.readouterr().err == ""


def with_language(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    """Let every target print in another way."""

    def changed(*asked: object) -> Target:
        target = target_of(*asked)  # type: ignore[arg-type]
        return replace(target, language=replace(target.language, **changes))  # type: ignore[arg-type]

    monkeypatch.setattr(stages, "target_of", changed)


@pytest.mark.parametrize("words", ["", "-j 2 other.x90 --output-dir out"])
def test_a_defect_in_a_stage_names_the_file(
    monkeypatch: pytest.MonkeyPatch, command: Command, project: Path, words: str
) -> None:
    (project / "other.x90").write_text((project / "alg.x90").read_text())

    def broken(*_: object) -> object:
        raise KeyError("w9")

    with_language(monkeypatch, emit_algorithm=broken)
    done: Outcome = command("alg.x90", *words.split())
    assert done.status == 2
    assert done.err.count("error[I001]: Internal error: KeyError at test_main_guard.py:") == (
        2 if words else 1
    )
    assert "--> alg.x90" in done.err
    assert "Traceback" not in done.err


def test_generated_code_that_cannot_be_read_back_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    text = "subroutine other()\nend subroutine\n"
    with_language(monkeypatch, emit_unit=lambda *_: text)
    done = command("-opsy", "psy.f90", "alg.x90")
    assert done.status == 2
    assert "Generated code differs from what was to be generated." in done.err
    assert done.written == {}


def test_a_reader_that_leaves_is_no_problem(project: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with in_process(["alg.x90"], project, stdout=writing) as process:
        os.close(writing)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_is_reported(project: Path) -> None:
    with (
        Path("/dev/full").open("wb") as full,
        in_process(["alg.x90"], project, stdout=full) as process,
    ):
        assert process.stderr is not None
        text = process.stderr.read().decode()
    assert process.returncode == 1
    assert text.startswith("error[L004]: The operating system refuses to read or write: No space")


def test_closed_streams(project: Path) -> None:
    words = "-m psyclone_storage -api lfric -d kernels alg.x90 -oalg alg.f90"
    command = f"{sys.executable} {words}"

    def run_in_shell(text: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        return subprocess.run(
            text, shell=True, cwd=project, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    done = run_in_shell(f"{command} >&-")
    assert done.returncode == 1
    assert done.stderr.startswith("error[L004]: The operating system refuses to read or write")
    assert not (project / "alg.f90").exists()
    assert run_in_shell(f"{command} -opsy psy.f90 >&-").returncode == 0
    done = run_in_shell(f"{command} none.x90 -opsy psy.f90 2>&-")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("option", ["--version", "--help"])
@pytest.mark.parametrize("module", ["main", "kern"])
def test_help_for_a_closed_stream(module: str, option: str) -> None:
    program = f"import sys; from psyclone_storage.cli.{module} import command; sys.exit(command())"
    words = [sys.executable, "-c", program, option]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("error[L004]: The operating system refuses to read or write")
    assert "Exception ignored" not in done.stderr


def test_a_refusal_of_the_system_is_no_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(PermissionError(13, "Permission denied", "kernels/secret")) == 1
    assert capsys.readouterr().err == (
        "error[L004]: The operating system refuses 'kernels/secret': Permission denied.\n"
        "  hint: Look at the permissions, and at the space that is left on the disk.\n"
    )


def test_mistakes_in_options_are_json_if_that_is_asked_for(command: Command) -> None:
    done = command("--diagnostics", "json", "--schedul", "alg.x90")
    assert [problem["code"] for problem in json.loads(done.err)] == ["L001"]
    assert done.status == 1


def test_colour_is_put_where_it_is_wanted(command: Command) -> None:
    assert "\033[1;31merror[P001]" in command("--colour", "always", "none.x90").err
    assert "\033" not in command("none.x90").err
    assert "\033" in command("--colour", "always", "--schedule", "alg.x90").out


@pytest.mark.parametrize(
    ("status", "end", "hint"),
    [
        (-signal.SIGKILL, "was killed by signal 9 (SIGKILL)", ""),
        (-signal.SIGSEGV, "was killed by signal 11 (SIGSEGV)", "without '-j'"),
        (-99, "was killed by signal 99 (unknown)", "without '-j'"),
        (3, "ended itself with exit status 3", "os._exit"),
    ],
)
def test_hints_for_lost_processes_depend_on_the_reason(status: int, end: str, hint: str) -> None:
    found = lost_process("compiled 'a.x90'", Path("a.x90"), status)
    assert found.message == f"The process that compiled 'a.x90' {end}."
    assert hint in found.hint
    assert bool(hint) == bool(found.hint)
