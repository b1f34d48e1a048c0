"""Contracts of files that are planned alone: their contents, and damaged files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import run_command
from support.contract_program import (
    PROGRAM,
    STEP,
    built,
    conflict,
    linked,
    transformed,
)

# ---------------------------------------------------------------------------- contracts


def test_the_contracts_of_a_program_are_met(tmp_path: Path) -> None:
    done = linked(tmp_path, built(tmp_path))
    assert (done.status, done.out, done.err) == (0, "3 files: all contracts are met\n", "")
    assert done.written == {}


def test_the_data_of_the_program_stay_on_the_device(tmp_path: Path) -> None:
    built(tmp_path)
    text = (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert "!$acc enter data create(h, u)" in text
    before, _, after = text.partition("  do step")
    assert "!$acc update device(h, u)" in before
    assert "!$acc update host(u)" in after
    assert "update" not in (tmp_path / "out" / "step_mod.f90").read_text("utf-8")


def test_commands_read_no_source_of_another_file(tmp_path: Path) -> None:
    """The sources of finished files are removed; the dependencies are their contracts."""
    for name in PROGRAM:
        assert transformed(name, tmp_path, "--depfile", f"{name}.d").status == 0
        (tmp_path / name).unlink()
    rule = (tmp_path / "main.f90.d").read_text("utf-8").split("\n\n")[0]
    assert rule.split()[2::2] == [
        "main.f90", "con/grid_mod.contract.json", "con/step_mod.contract.json",
    ]  # fmt: skip
    assert linked(tmp_path).status == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print *, y", "! shown\n    print *, 'y', y"),
        ("x(i) = x(i) + h(i)", "x(i) = x(i) + 2.0 * h(i)"),
        ("    integer :: i\n", "    integer :: i, unused\n    real :: local(10)\n"),
    ],
)
def test_an_edit_of_a_body_leaves_its_contract(old: str, new: str, tmp_path: Path) -> None:
    built(tmp_path)
    path = tmp_path / "con" / "step_mod.contract.json"
    before = path.stat().st_mtime_ns
    assert old in STEP
    done = transformed("step_mod.f90", tmp_path, text=STEP.replace(old, new))
    assert {"out/step_mod.f90", "out/step_mod.f90.link.json"} <= done.written.keys()
    assert "con/step_mod.contract.json" not in done.written
    assert path.stat().st_mtime_ns == before
    assert linked(tmp_path).status == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print *, y", "print *, y, h"),
        ("x(i) = x(i) + h(i)", "x(i) = h(i)"),
        ("    end do\n", "    end do\n    print *, x\n"),
        ("subroutine show(y)\n    real", "subroutine show(y)\n    real, volatile"),
    ],
)
def test_an_edit_that_changes_a_contract_makes_its_callers_stale(
    old: str, new: str, tmp_path: Path
) -> None:
    built(tmp_path)
    assert old in STEP
    done = transformed("step_mod.f90", tmp_path, text=STEP.replace(old, new))
    assert done.status == 0, done.err
    assert "con/step_mod.contract.json" in done.written
    said = conflict(tmp_path)
    assert "'main.f90' relies on another contract of 'step_mod' than that of 'step_mod.f90'" in said
    assert "main.f90:3:3" in said
    assert "step_mod.f90:1:1" in said
    transformed("main.f90", tmp_path)
    assert linked(tmp_path).status == 0


# ---------------------------------------------------------------------------- damaged files


def test_an_edited_output_is_reported(tmp_path: Path) -> None:
    built(tmp_path)
    with (tmp_path / "out" / "step_mod.f90").open("a") as stream:
        stream.write("! more\n")
    assert "'out/step_mod.f90' is not the text that was written for 'step_mod.f90'" in (
        conflict(tmp_path)
    )


def test_an_edited_source_is_reported(tmp_path: Path) -> None:
    built(tmp_path)
    (tmp_path / "step_mod.f90").write_text(STEP + "! more\n", "utf-8")
    said = conflict(tmp_path)
    assert "'out/step_mod.f90' is out of date: 'step_mod.f90' has changed" in said


TWO_CALLERS = """module m
  implicit none
contains
  subroutine root(a)
    real, intent(inout) :: a(10)
    call leaf(a, 10)
    print *, a
    call middle(a)
  end subroutine root
  subroutine middle(y)
    real, intent(inout) :: y(10)
    call leaf(y(2:6), 5)
  end subroutine middle
  subroutine leaf(x, k)
    integer, intent(in) :: k
    real, intent(inout) :: x(k)
    !$acc kernels
    x(:) = 2.0 * x
    !$acc end kernels
  end subroutine leaf
end module m
"""


def test_a_procedure_with_two_callers_has_the_contract_of_its_plan(tmp_path: Path) -> None:
    """One of the callers passes a part."""
    (tmp_path / "main.f90").write_text(TWO_CALLERS)
    words = ["--device-data", "root", "--contracts", "contracts", "main.f90", "-o", "new.f90"]
    done = run_command(words, tmp_path)
    assert done.status == 0, done.err
    assert "!$acc" in done.written["new.f90"]


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


DAMAGES = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "edited": lambda text: text.replace('"acc"', '"omp"'),
    "another version": lambda text: text.replace('"version": 1', '"version": 2'),
    "another kind": lambda text: text.replace('"kind": "contract"', '"kind": "link record"'),
    "a list": lambda _: "[1, 2]",
    "a number": lambda _: "17",
    "nested": lambda _: "[" * 100000,
    "not text": lambda text: text.replace("grid", "\udcff"),
    "without keys": lambda _: '{"kind": "contract", "version": 1}',
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_contract_is_refused(name: str, tmp_path: Path) -> None:
    built(tmp_path)
    path = tmp_path / "con" / "step_mod.contract.json"
    text = DAMAGES[name](path.read_text("utf-8"))
    path.write_text(text, "utf-8", errors="surrogateescape")
    done = transformed("main.f90", tmp_path)
    assert done.status == 1
    assert "error[L021]: 'con/step_mod.contract.json' cannot be used" in done.err
    assert done.written == {}
    assert "error[L021]" in conflict(tmp_path)
    assert transformed("step_mod.f90", tmp_path).status == 0
    assert linked(tmp_path).status == 0


def resealed(path: Path, keys: tuple[str | int, ...], value: object) -> None:
    """Change a value in a file of contracts, and its digest."""
    from psyclone_storage.pipeline.contract_files import sealed  # noqa: PLC0415

    table = json.loads(path.read_text("utf-8"))
    kind = table["kind"]
    part = table
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    content = {
        key: value for key, value in table.items() if key not in ("digest", "kind", "version")
    }
    path.write_text(sealed(kind, content), "utf-8")


@pytest.mark.parametrize("value", [None, 5, [[]], {"a": [5]}, "a\0b"])
@pytest.mark.parametrize(
    "keys",
    [
        ("source",),
        ("promises",),
        ("entries",),
        ("left_out",),
        ("procedures", 0, "name"),
        ("procedures", 0, "left_out"),
        ("procedures", 0, "problems"),
    ],
)
def test_a_contract_with_values_of_another_type_is_refused(
    keys: tuple[str | int, ...], value: object, tmp_path: Path
) -> None:
    built(tmp_path)
    resealed(tmp_path / "con" / "step_mod.contract.json", keys, value)
    done = transformed("main.f90", tmp_path)
    said = conflict(tmp_path)
    assert done.status == (0 if "cannot be used" not in said else 1), done.err
    assert "error[L021]" in said or "is not the contract that was written for" in said


def test_a_contract_with_a_cost_that_is_too_large_is_refused(tmp_path: Path) -> None:
    built(tmp_path)
    keys = ("procedures", 0, "states", 0, "whole", 0, "cost")
    resealed(tmp_path / "con" / "step_mod.contract.json", keys, 10**400)
    assert "it is not a contract" in transformed("main.f90", tmp_path).err
    assert "it is not a contract" in conflict(tmp_path)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("source", "file"), 5),
        (("source", "file"), "a\0b"),
        (("root", "line"), "x"),
        (("root", "name"), []),
        (("contracts",), None),
        (("units",), [{"name": [], "line": 1, "digest": ""}]),
        (("used",), [{"name": "h", "line": "x", "digest": ""}]),
        (("outside",), [{"name": {}, "line": 1, "digest": ""}]),
        (
            ("procedures",),
            [{"name": "q", "line": 1, "calls": [{"name": [], "line": 1, "digest": ""}]}],
        ),
    ],
)
def test_a_record_with_values_of_another_type_is_refused(
    keys: tuple[str | int, ...], value: object, tmp_path: Path
) -> None:
    built(tmp_path)
    resealed(tmp_path / "out" / "main.f90.link.json", keys, value)
    assert "'out/main.f90.link.json' cannot be used: it is not a link record" in conflict(tmp_path)


@pytest.mark.parametrize("name", ["con/step_mod.contract.json", "out/step_mod.f90.link.json"])
def test_a_link_to_itself_cannot_be_written(name: str, tmp_path: Path) -> None:
    """No other file is changed."""
    built(tmp_path)
    path = tmp_path / name
    path.unlink()
    path.symlink_to(path.name)
    text = STEP.replace("x(i) + h(i)", "x(i)")
    done = transformed("step_mod.f90", tmp_path, text=text)
    assert done.status == 1
    assert f"error[L003]: '{name}' cannot be written" in done.err
    assert done.written == {}


def test_an_edited_contract_with_a_new_digest_is_reported(tmp_path: Path) -> None:
    built(tmp_path)
    keys = ("procedures", 0, "regions")
    resealed(tmp_path / "con" / "step_mod.contract.json", keys, [])
    said = conflict(tmp_path)
    assert "'con/step_mod.contract.json' is not the contract that was written for" in said


def test_a_contract_under_the_name_of_another_is_refused(tmp_path: Path) -> None:
    built(tmp_path)
    text = (tmp_path / "con" / "grid_mod.contract.json").read_text("utf-8")
    (tmp_path / "con" / "step_mod.contract.json").write_text(text, "utf-8")
    done = transformed("main.f90", tmp_path)
    assert "it is the contract of 'grid_mod'" in done.err
    assert done.status == 1


@pytest.mark.parametrize("name", ["truncated", "empty", "a list", "nested", "another version"])
def test_a_damaged_record_is_reported(name: str, tmp_path: Path) -> None:
    built(tmp_path)
    path = tmp_path / "out" / "main.f90.link.json"
    path.write_text(DAMAGES[name](path.read_text("utf-8")), "utf-8")
    said = conflict(tmp_path)
    assert "error[L021]: 'out/main.f90.link.json' cannot be used" in said


def test_a_file_without_a_record_is_reported(tmp_path: Path) -> None:
    outputs = built(tmp_path)
    (tmp_path / "other.f90").write_text("subroutine other()\nend subroutine\n", "utf-8")
    said = conflict(tmp_path, [*outputs, "other.f90"])
    assert "error[L021]: 'other.f90.link.json' cannot be used: No such file" in said
    assert "Transform the source of 'other.f90' with '--device-data' and '--contracts'" in said


KILLED = """\
import os, pathlib, sys
left = int(sys.argv.pop(1))
def replace(self, target, replaced=pathlib.Path.replace):
    global left
    if left == 0:
        os.kill(os.getpid(), 9)
    left -= 1
    return replaced(self, target)
pathlib.Path.replace = replace
from psyclone_storage.cli.main import main
sys.exit(main())
"""


def test_a_command_that_is_killed_while_it_writes_leaves_a_conflict(tmp_path: Path) -> None:
    """It is killed before each of its files is replaced; a second command completes them."""
    written = set[str]()
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        built(folder)
        names = {str(path.relative_to(folder)) for path in folder.rglob("*")}
        text = STEP.replace("print *, y", "print *, y, h")
        (folder / "step_mod.f90").write_text(text, "utf-8")
        words = ["--device-data", "main", "--contracts", "con", "step_mod.f90", "-o"]
        command = [sys.executable, "-c", KILLED, str(number), *words, "out/step_mod.f90"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
        assert "error[T099]" in linked(folder).err
        written |= transformed("step_mod.f90", folder).written.keys()
        assert transformed("main.f90", folder).status == 0
        assert linked(folder).status == 0
        assert {str(path.relative_to(folder)) for path in folder.rglob("*")} == names
    assert number == 3
    assert written == {
        "con/step_mod.contract.json", "out/step_mod.f90", "out/step_mod.f90.link.json",
    }  # fmt: skip
