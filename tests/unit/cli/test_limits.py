"""Limits of the system and of the compiler: a diagnostic, never a stack trace."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from psyclone_storage.cli.main_guard import run_guarded
from psyclone_storage.cli.style import Style
from unit.cli.conftest import Command

SOURCE = Path(__file__).parents[3] / "src"
LENGTH = 10_000
CHAINS = {
    "components": "a" + "%b" * LENGTH,
    "indices": "a" + "(1)%b" * LENGTH,
    "lines": "a" + "&\n%b" * 2000,
    "sum": "a" + "+1" * LENGTH,
    "power": "a" + "**1" * LENGTH,
    "brackets": "(" * LENGTH + "a" + ")" * LENGTH,
    "calls": "f(" * LENGTH + "a" + ")" * LENGTH,
    "signs": "-" * LENGTH + "a",
    "negations": ".not. " * LENGTH + "a",
}
PYTHON = {
    "def s(a, a):\n    pass": "duplicate argument 'a' in function definition",
    "return 1": "'return' outside function",
    "yield 1": "'yield' outside function",
    "def s():\n    break": "'break' outside loop",
    "nonlocal x": "nonlocal declaration not allowed at module level",
    "def s():\n    nonlocal zz": "no binding for nonlocal 'zz' found",
    "x = 1\ndef s(x):\n    global x": "name 'x' is parameter and global",
    "def s():\n    from x import *": "import * only allowed at module level",
    "from __future__ import nope": "",
    "# coding: nonsense": "unknown encoding: nonsense",
    "1 = x": "cannot assign to literal here. Maybe you meant '==' instead of '='.",
}


def limited(limit: str, project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command under a limit of the shell."""
    command = [sys.executable, "-m", "psyclone_storage", "-api", "lfric", "-d", "kernels", *words]
    return subprocess.run(
        ["/bin/sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *command],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")
@pytest.mark.parametrize(
    "limit", ["-n 6", "-n 9", "-v 34000", "-v 40000", "-v 42000", "-v 43000", "-v 43500"]
)
def test_a_limit_of_the_system_is_a_diagnostic(limit: str, project: Path) -> None:
    shutil.copy(project / "alg.x90", project / "other.x90")
    done = limited(limit, project, "--output-dir", "out", "-j", "2", "alg.x90", "other.x90")
    if "site" in done.stderr or "Fatal Python error" in done.stderr:
        pytest.skip("Python does not start")
    assert done.returncode in (0, 1), done.stderr
    assert (done.returncode == 0) == (done.stderr == "")
    assert "Traceback" not in done.stderr
    assert "I001" not in done.stderr
    assert "L019" not in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "hint"),
    [
        (MemoryError(), "L020", "ulimit -v"),
        (RecursionError(), "L020", ""),
        (OSError(errno.EMFILE, "Too many open files", "kernels"), "L004", "ulimit -n"),
        (OSError(errno.ENOSPC, "No space left on device", "kernels"), "L004", "space"),
    ],
)
def test_exhaustion_is_no_defect(
    error: Exception, code: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> tuple[()]:
        raise error

    assert run_guarded(command, Style()) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error[{code}]: ")
    assert hint in said.partition("hint: ")[2]
    assert "Traceback" not in said


def test_names_of_files_are_escaped_in_verbose_output(project: Path, command: Command) -> None:
    odd = "odd\x1b[2J.x90"
    shutil.copy(project / "alg.x90", project / odd)
    done = command("-v", "-opsy", "psy.f90", odd)
    assert done.status == 0
    assert "odd\\x1b[2J.x90: kernel " in done.err
    assert "\x1b" not in done.err


@pytest.mark.parametrize("chain", CHAINS)
def test_a_long_chain_is_a_diagnostic_at_its_place(
    chain: str, project: Path, command: Command
) -> None:
    text = (project / "alg.x90").read_text(encoding="utf-8")
    (project / "alg.x90").write_text(text.replace("1005.0_r_def", CHAINS[chain]), encoding="utf-8")
    done = command("alg.x90")
    assert done.status == 1
    assert done.err.startswith("error[P029]: ")
    assert "nested more than 250 levels deep" in done.err or "is not a Fortran" in done.err
    assert "--> alg.x90:" in done.err
    assert len(done.err) < 1000


def test_a_chain_within_the_limit_is_accepted(project: Path, command: Command) -> None:
    text = (project / "alg.x90").read_text(encoding="utf-8")
    chain = "1.0_r_def" + " + 1.0_r_def" * 100
    (project / "alg.x90").write_text(text.replace("1005.0_r_def", chain), encoding="utf-8")
    assert command("alg.x90").status == 0


@pytest.mark.parametrize("text", PYTHON)
def test_python_that_cpython_rejects_is_not_python(
    text: str, project: Path, command: Command
) -> None:
    program = f"{text}\nimport psyclone_storage.gocean\n"
    (project / "program.py").write_text(program, encoding="utf-8")
    done = command("-api", "gocean", "program.py")
    assert done.status == 1
    assert done.err.startswith(f"error[P050]: 'program.py' is not Python: {PYTHON[text]}")
    assert "--> program.py:" in done.err


@pytest.mark.parametrize("form", ["text", "github"])
def test_control_characters_do_not_reach_the_terminal(
    form: str, project: Path, command: Command
) -> None:
    text = (project / "alg.x90").read_text(encoding="utf-8")
    odd = "\x1b[31mx\x07\x9b1m\u202e\x7f\r\t"
    (project / "alg.x90").write_text(text.replace("1005.0_r_def", f"'{odd}"), encoding="utf-8")
    name = "odd\x1b[2J\n.x90"
    (project / name).write_text(text, encoding="utf-8")
    for words in (["alg.x90"], [f"{name}x"], ["-d", odd, "alg.x90"]):
        done = command("--diagnostics", form, *words)
        assert done.status == 1
        assert not set(done.err).intersection("\x1b\x07\x9b\u202e\x7f\r")
        assert "\\x1b[" in done.err or (form, words) == ("github", ["alg.x90"])


def test_marks_are_below_escaped_characters(project: Path, command: Command) -> None:
    text = (project / "alg.x90").read_text(encoding="utf-8")
    (project / "alg.x90").write_text(text.replace("1005.0_r_def", "'\x1b' \x1b+"), encoding="utf-8")
    shown, marks = command("alg.x90").err.splitlines()[2:4]
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "'\\x1b' \\x1b+"


def test_two_dashes_end_the_options(project: Path, command: Command) -> None:
    for name in ("-x.x90", "--schedule"):
        shutil.copy(project / "alg.x90", project / name)
        done = command("-opsy", "psy.f90", "-oalg", "alg.f90", "--", name)
        assert (done.status, done.err) == (0, "")
        assert done.written
        (project / "psy.f90").unlink()
    assert command("--output-dir", "out", "alg.x90", "--", "-x.x90").status == 0
    assert "No ALGORITHM is given" in command("--").err
    assert "'-oalg' takes a value" in command("-oalg", "--", "alg.x90").err


@pytest.mark.parametrize(
    "words",
    [
        ["--diagnostics", "json"],
        ["--diagnostics", "json", "--colour"],
        ["--diagnostics=json", "-j", "x", "alg.x90"],
        ["-s", "--diagnostics", "json"],
        ["--diagnostics", "json", "--nonsense", "--", "--diagnostics", "text"],
        ["--diagnostics", "json", "--traceback=1", "alg.x90"],
        ["--colour", "--diagnostics", "json"],
    ],
)
def test_usage_errors_have_the_requested_form(words: list[str], command: Command) -> None:
    done = command(*words)
    assert done.status == 1
    assert done.err.startswith("[\n  {")
