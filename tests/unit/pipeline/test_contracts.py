"""Contracts of files that are planned alone, and the check of a whole program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import Outcome, run_command

GRID = """\
module grid_mod
  implicit none
  real :: h(10), u(10)
end module grid_mod
"""
STEP = """\
module step_mod
  use grid_mod, only : h
  implicit none
contains
  subroutine advance(x)
    real, intent(inout) :: x(10)
    integer :: i
    !$acc parallel loop
    do i = 1, 10
      x(i) = x(i) + h(i)
    end do
  end subroutine advance
  subroutine show(y)
    real, intent(in) :: y(10)
    print *, y
  end subroutine show
end module step_mod
"""
MAIN = """\
program main
  use grid_mod, only : h, u
  use step_mod, only : advance, show
  implicit none
  integer :: step
  h = 1.0
  u = 2.0
  do step = 1, 5
    call advance(u)
  end do
  call show(u)
end program main
"""
PROGRAM = {"grid_mod.f90": GRID, "step_mod.f90": STEP, "main.f90": MAIN}


def transformed(
    name: str, folder: Path, *more: str, text: str | None = None, root: str = "main"
) -> Outcome:
    if text is not None or not (folder / name).exists():
        (folder / name).write_text(PROGRAM[name] if text is None else text, "utf-8")
    words = ["--device-data", root, "--contracts", "con", *more, name, "-o", f"out/{name}"]
    return run_command(words, folder)


def built(folder: Path, *more: str) -> list[str]:
    """Transform all files, and return the outputs."""
    for name in PROGRAM:
        done = transformed(name, folder, *more)
        assert done.status == 0, done.err
    return [f"out/{name}" for name in PROGRAM]


def linked(folder: Path, outputs: list[str] | None = None) -> Outcome:
    files = [f"out/{name}" for name in PROGRAM] if outputs is None else outputs
    return run_command(["--link-check", *files], folder)


def conflict(folder: Path, outputs: list[str] | None = None) -> str:
    """Return the messages of a check that fails, in one line."""
    done = linked(folder, outputs)
    assert done.status == 1, done.out
    assert "Traceback" not in done.err
    assert "I001" not in done.err
    return " ".join(done.err.split())


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


def test_an_edited_contract_with_a_new_digest_is_reported(tmp_path: Path) -> None:
    from psyclone_storage.pipeline.contract_files import sealed  # noqa: PLC0415

    built(tmp_path)
    path = tmp_path / "con" / "step_mod.contract.json"
    table = json.loads(path.read_text("utf-8"))
    table["procedures"][0]["regions"] = []
    content = {
        key: value for key, value in table.items() if key not in ("digest", "kind", "version")
    }
    path.write_text(sealed("contract", content), "utf-8")
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


# ---------------------------------------------------------------------------- conflicts


def test_a_file_that_was_transformed_too_early_is_reported(tmp_path: Path) -> None:
    """Without a contract, the caller assumes that the module is not in the program."""
    assert transformed("grid_mod.f90", tmp_path).status == 0
    assert transformed("main.f90", tmp_path).status == 0
    assert transformed("step_mod.f90", tmp_path).status == 0
    said = conflict(tmp_path)
    assert (
        "'main.f90' assumes that 'step_mod' is not in the program, but 'step_mod.f90' defines it"
        in said
    )
    assert "main.f90:3:3" in said
    assert "step_mod.f90:1:1" in said


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    built(tmp_path)
    said = conflict(tmp_path, ["out/grid_mod.f90", "out/main.f90"])
    assert "'main.f90' relies on the contract of 'step_mod', which no file defines" in said


def test_a_program_without_its_root_is_reported(tmp_path: Path) -> None:
    built(tmp_path)
    said = conflict(tmp_path, ["out/grid_mod.f90", "out/step_mod.f90"])
    assert "No file defines 'main', which creates the copies on the device" in said


def test_two_files_that_define_a_unit_are_reported(tmp_path: Path) -> None:
    outputs = built(tmp_path)
    (tmp_path / "copy.f90").write_text(STEP, "utf-8")
    words = ["--device-data", "main", "--contracts", "other", "copy.f90", "-o", "out/copy.f90"]
    assert run_command(words, tmp_path).status == 0
    said = conflict(tmp_path, [*outputs, "out/copy.f90"])
    assert "'step_mod' is defined in 'step_mod.f90' and in 'copy.f90'" in said


def test_a_second_file_does_not_replace_the_contract_of_the_first(tmp_path: Path) -> None:
    built(tmp_path)
    (tmp_path / "copy.f90").write_text(STEP.replace("print *, y", "print *, h"), "utf-8")
    words = ["--device-data", "main", "--contracts", "con", "copy.f90", "-o", "out/copy.f90"]
    done = run_command(words, tmp_path)
    assert done.status == 1
    assert "error[T099]: 'step_mod' is defined in 'step_mod.f90' and in 'copy.f90'" in done.err
    assert done.written == {}
    (tmp_path / "step_mod.f90").write_text("! moved to copy.f90\n", "utf-8")
    assert run_command(words, tmp_path).status == 0


def test_different_roots_and_promises_are_reported(tmp_path: Path) -> None:
    built(tmp_path)
    promise = ("--assume", "unwritten-elements-unused")
    assert transformed("step_mod.f90", tmp_path, *promise, root="step_mod.advance").status == 0
    assert transformed("main.f90", tmp_path).status == 0
    said = conflict(tmp_path)
    assert "'grid_mod.f90' and 'step_mod.f90' have different roots" in said
    assert "'grid_mod.f90' and 'step_mod.f90' rely on different promises" in said


def external(name: str, called: str) -> str:
    return (
        f"subroutine {name}(x)\n  real, intent(inout) :: x(10)\n  !$acc kernels\n  x = x + 1.0\n"
        f"  !$acc end kernels\n  call {called}(x)\nend subroutine {name}\n"
    )


def test_recursion_through_files_is_reported(tmp_path: Path) -> None:
    """After several commands each contract is up to date, but it assumes itself."""
    outputs = built(tmp_path)
    for _ in range(4):
        for name, called in (("first", "second"), ("second", "first")):
            done = transformed(f"{name}.f90", tmp_path, text=external(name, called))
            assert done.status == 0, done.err
    said = conflict(tmp_path, [*outputs, "out/first.f90", "out/second.f90"])
    assert "'first' and 'second' in 'first.f90' and 'second.f90' call each other" in said
    assert "relies on another" not in said


def test_a_recursive_procedure_of_another_file_is_refused_by_the_root(tmp_path: Path) -> None:
    assert transformed("one.f90", tmp_path, text=external("one", "one")).status == 0
    text = (
        "program main\n  real :: u(10)\n  u = 0.0\n  call one(u)\n  print *, u\nend program main\n"
    )
    done = transformed("main.f90", tmp_path, text=text)
    assert done.status == 1
    assert "error[T098]: The data of 'one' cannot be planned: it is recursive." in done.err
    assert "one.f90" in done.err


def test_an_external_procedure_without_a_contract_is_an_assumption(tmp_path: Path) -> None:
    """A library is not in the program; a file that is transformed later is a conflict."""
    text = external("one", "two")
    assert transformed("one.f90", tmp_path, text=text, root="one").status == 0
    assert linked(tmp_path, ["out/one.f90"]).status == 0
    text = external("two", "three")
    assert transformed("two.f90", tmp_path, text=text, root="one").status == 0
    said = conflict(tmp_path, ["out/one.f90", "out/two.f90"])
    assert "'one.f90' assumes that 'two' is not in the program, but 'two.f90' defines it" in said
    assert "one.f90:6:3" in said


def test_an_entry_of_another_file_is_no_library_procedure(tmp_path: Path) -> None:
    text = external("one", "second")
    assert transformed("one.f90", tmp_path, text=text, root="one").status == 0
    text = "subroutine two(x)\n  real :: x(10)\n  x = 1.0\n  entry second(x)\n  x = 2.0\nend\n"
    assert transformed("two.f90", tmp_path, text=text, root="one").status == 0
    said = conflict(tmp_path, ["out/one.f90", "out/two.f90"])
    assert "assumes that 'second' is not in the program, but 'two.f90' defines it" in said


def test_a_library_procedure_with_an_interface_is_an_assumption(tmp_path: Path) -> None:
    step = STEP.replace(
        "contains\n", "  interface\n    subroutine lib(x)\n      real :: x(10)\n"
        "    end subroutine\n  end interface\ncontains\n", 1,
    )  # fmt: skip
    main = MAIN.replace("advance, show", "advance, show, lib").replace("call show", "call lib")
    texts = {"grid_mod.f90": GRID, "step_mod.f90": step, "main.f90": main}
    for name, text in texts.items():
        assert transformed(name, tmp_path, text=text).status == 0
    assert linked(tmp_path).status == 0
    lib = "subroutine lib(x)\n  use grid_mod\n  real :: x(10)\n  h = x\nend subroutine lib\n"
    assert transformed("lib.f90", tmp_path, text=lib).status == 0
    said = conflict(tmp_path, [*(f"out/{name}" for name in texts), "out/lib.f90"])
    assert "'main.f90' assumes that 'lib' is not in the program, but 'lib.f90' defines it" in said


def test_a_procedure_in_text_that_a_module_includes_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "more.inc").write_text(
        "  subroutine more()\n    h(3) = 7.0\n  end subroutine more\n", "utf-8"
    )
    text = STEP.replace("end module", "  include 'more.inc'\nend module")
    assert transformed("grid_mod.f90", tmp_path).status == 0
    assert transformed("step_mod.f90", tmp_path, text=text).status == 0
    main = MAIN.replace("advance, show", "advance, show, more").replace(
        "call show(u)", "call more()"
    )
    done = transformed("main.f90", tmp_path, text=main)
    assert done.status == 1
    assert "it is not known which procedure 'more' is" in done.err


def test_declarations_in_included_files_are_part_of_a_contract(tmp_path: Path) -> None:
    (tmp_path / "arrays.inc").write_text("  real :: h(10), u(10)\n", "utf-8")
    grid = "module grid_mod\n  implicit none\n  include 'arrays.inc'\nend module grid_mod\n"
    assert transformed("grid_mod.f90", tmp_path, text=grid).status == 0
    (tmp_path / "arrays.inc").unlink()
    for name in ("step_mod.f90", "main.f90"):
        assert transformed(name, tmp_path).status == 0
    text = (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert "!$acc enter data create(h, u)" in text


def test_a_file_in_fixed_form_has_a_contract(tmp_path: Path) -> None:
    text = (
        "      SUBROUTINE ADD(X,\n     1   N)\nC     A COMMENT\n      INTEGER N\n      REAL X(N)\n"
        "!$ACC KERNELS\n      X(:) = X + 1.0\n!$ACC END KERNELS\n      END\n"
    )
    assert transformed("add.f", tmp_path, text=text).status == 0
    main = (
        "program main\n  real :: u(10)\n  u = 1.0\n  call add(u, 10)\n  print *, u\nend program\n"
    )
    assert transformed("main.f90", tmp_path, text=main).status == 0
    assert "!$acc update device(u)" in (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert linked(tmp_path, ["out/add.f", "out/main.f90"]).status == 0


def test_a_contract_of_a_file_is_no_input_of_the_file(tmp_path: Path) -> None:
    """Make would find a circular dependency."""
    for _ in range(2):
        words = ("--depfile", "one.d")
        assert transformed("one.f90", tmp_path, *words, text=external("one", "two")).status == 0
    assert "contract" not in (tmp_path / "one.d").read_text("utf-8")


def test_a_comment_is_no_use_of_a_contract(tmp_path: Path) -> None:
    """Otherwise two files would depend on each other."""
    built(tmp_path)
    done = transformed("grid_mod.f90", tmp_path, "--depfile", "grid.d", text=f"! step_mod\n{GRID}")
    assert done.status == 0
    assert "step_mod" not in (tmp_path / "grid.d").read_text("utf-8")


BASE = """\
module base_mod
  implicit none
  type :: base
  contains
    procedure :: change
  end type base
contains
  subroutine change(self)
    class(base), intent(in) :: self
  end subroutine change
end module base_mod
"""


def test_a_type_in_an_unknown_file_may_override_a_procedure(tmp_path: Path) -> None:
    main = MAIN.replace("  use step_mod", "  use base_mod, only : base\n  use step_mod").replace(
        "  call show(u)\n", "  call object%change()\n"
    )
    for kind, status in (("type(base)", 0), ("class(base), allocatable", 1)):
        text = main.replace("  integer :: step", f"  {kind} :: object\n  integer :: step")
        for name, own in (("grid_mod.f90", None), ("step_mod.f90", None), ("base_mod.f90", BASE)):
            assert transformed(name, tmp_path, text=own).status == 0
        done = transformed("main.f90", tmp_path, text=text)
        assert done.status == status
    assert "it is not known which procedure 'object%change' is" in done.err


INLINE = """\
from psyclone.psyir.nodes import Call
from psyclone.psyir.transformations import InlineTrans
from psyclone.transformations import TransformationError


def trans(psyir):
    for call in psyir.walk(Call):
        InlineTrans().apply(call)
"""


def test_a_recipe_cannot_use_the_body_of_a_contract(tmp_path: Path) -> None:
    assert transformed("grid_mod.f90", tmp_path).status == 0
    assert transformed("step_mod.f90", tmp_path).status == 0
    (tmp_path / "inline.py").write_text(INLINE, "utf-8")
    done = transformed("main.f90", tmp_path, "-s", "inline.py")
    assert done.status == 1
    assert "'advance' has statements that are not understood" in done.err
    assert done.written == {}


def test_the_root_uses_the_directives_of_the_regions(tmp_path: Path) -> None:
    """The file of the root has no region of its own."""
    text = STEP.replace("!$acc parallel loop", "!$omp target teams distribute parallel do")
    for name in PROGRAM:
        own = text if name == "step_mod.f90" else None
        assert transformed(name, tmp_path, text=own).status == 0
    found = (tmp_path / "out" / "main.f90").read_text("utf-8")
    assert "!$omp target enter data" in found
    assert "!$acc" not in found


def test_regions_of_two_kinds_in_one_tree_are_refused(tmp_path: Path) -> None:
    """Copies of OpenACC and of OpenMP are different ones."""
    built(tmp_path)
    text = MAIN.replace("  call show(u)\n", "  !$omp target\n  u = h\n  !$omp end target\n")
    done = transformed("main.f90", tmp_path, text=text)
    assert done.status == 1
    assert "it has regions of OpenACC and of OpenMP" in done.err
    words = ["--device-data", "main", *PROGRAM, "--output-dir", "all"]
    done = run_command(words, tmp_path)
    assert done.status == 1
    assert "it has regions of OpenACC and of OpenMP" in done.err


# ---------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--contracts con main.f90 -o new.f90", "needs '--device-data' and '-o'"),
        ("--contracts con --device-data main main.f90", "needs '--device-data' and '-o'"),
        (
            "--contracts con --device-data main main.f90 grid_mod.f90 -o new.f90",
            "plans one file, but several files are given",
        ),
        ("--link-check main.f90 -o new.f90", "'--link-check' transforms nothing"),
        ("--link-check main.f90 --device-data main", "'--link-check' transforms nothing"),
        ("--link-check nothing.f90", "'nothing.f90.link.json' cannot be used"),
    ],
)
def test_options_that_do_not_fit(words: str, said: str, tmp_path: Path) -> None:
    for name, text in PROGRAM.items():
        (tmp_path / name).write_text(text, "utf-8")
    done = run_command(words.split(), tmp_path)
    assert done.status == 1
    assert said in done.err
    assert "Traceback" not in done.err
    assert done.written == {}


def test_a_folder_of_contracts_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "con").write_text("", "utf-8")
    done = transformed("grid_mod.f90", tmp_path)
    assert done.status == 1
    assert "error[L003]" in done.err
    assert done.written == {}
