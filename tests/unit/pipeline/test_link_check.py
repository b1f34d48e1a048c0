"""The check of a whole program, and what contracts pass on to other files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import run_command
from support.contract_program import (
    GRID,
    MAIN,
    PROGRAM,
    STEP,
    built,
    conflict,
    external,
    linked,
    transformed,
)

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


REGION = "  !$acc kernels\n  {0}(:) = 2.0 * {0}\n  !$acc end kernels\n"
BODY = "    subroutine ext(x)\n      real :: x(10)\n    end subroutine ext\n  end interface\n"
EXTERNAL = {
    "grid_mod.f90": GRID,
    "ext.f90": "subroutine ext(x)\n  use grid_mod, only : h\n  real :: x(10)\n"
    + REGION.format("h")
    + "  h(1) = 3.0\nend subroutine ext\n",
    "w_mod.f90": "module w_mod\n  implicit none\n  interface {}\n" + BODY + "end module w_mod\n",
    "main.f90": "program main\n  use grid_mod\n  use w_mod{}\n  h = 1.0\n  u = 1.0\n"
    + REGION.format("h")
    + "  call {}(u)\n"
    + REGION.format("h")
    + "  print *, h\nend program main\n",
}


@pytest.mark.parametrize(
    ("generic", "use", "called"),
    [
        ("", ", only : foo => ext", "foo"),
        ("general", "", "general"),
        ("general", ", only : foo => general", "foo"),
    ],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_procedure_is_called_by_another_name(
    generic: str, use: str, called: str, is_late: bool, tmp_path: Path
) -> None:
    """The interface of a module gives it; nothing may use its arrays unnoticed."""
    texts = {
        **EXTERNAL,
        "w_mod.f90": EXTERNAL["w_mod.f90"].format(generic),
        "main.f90": EXTERNAL["main.f90"].format(use, called),
    }
    names = ["grid_mod.f90", "ext.f90", "w_mod.f90", "main.f90"]
    if is_late:
        names = ["grid_mod.f90", "w_mod.f90", "main.f90", "ext.f90", "w_mod.f90"]
    done = [transformed(name, tmp_path, text=texts[name]) for name in names]
    assert all(one.status == 0 for one in done[:-1])
    if is_late:
        said = conflict(tmp_path, [f"out/{name}" for name in texts])
        assert "'main.f90' assumes that 'ext' is not in the program" in said
    else:
        assert done[-1].status == 1
        assert f"it is not known which procedure '{called}' is" in done[-1].err


def test_a_module_that_came_late_through_another_module_is_reported(tmp_path: Path) -> None:
    """The contract of the module in between does not change by it."""
    main = MAIN.replace("  use grid_mod, only : h, u\n  use step_mod, only : advance, show\n",
                        "  use all_mod\n  implicit none\n  real :: u(10)\n", 1)  # fmt: skip
    main = main.replace("  implicit none\n  integer", "  integer").replace("  h = 1.0\n", "")
    between = "module all_mod\n  use step_mod\nend module all_mod\n"
    names = ["all_mod.f90", "main.f90", "grid_mod.f90", "step_mod.f90", "all_mod.f90"]
    for name in names:
        text = {"all_mod.f90": between, "main.f90": main}.get(name)
        done = transformed(name, tmp_path, text=text)
        assert done.status == 0, done.err
    outputs = sorted({f"out/{name}" for name in names})
    said = conflict(tmp_path, outputs)
    assert "'main.f90' assumes that 'step_mod' is not in the program, but 'step_mod.f90'" in said
    assert transformed("main.f90", tmp_path).status == 0
    assert linked(tmp_path, outputs).status == 0


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


def effects_of(folder: Path, unit: str) -> dict[str, object]:
    """Return the contract of the first procedure of a unit."""
    table = json.loads((folder / "con" / f"{unit}.contract.json").read_text("utf-8"))
    found: dict[str, object] = table["procedures"][0]
    return found


@pytest.mark.parametrize(("pending", "left"), [("x", "grid_mod.u"), ("h", "grid_mod.h")])
def test_an_array_that_a_called_procedure_cannot_plan_has_no_copy(
    pending: str, left: str, tmp_path: Path
) -> None:
    """The reason is in the body of a procedure of another file."""
    step = STEP.replace("    !$acc", f"    call mpi_isend({pending}, 10)\n    !$acc", 1)
    for name, text in (("grid_mod.f90", None), ("step_mod.f90", step)):
        assert transformed(name, tmp_path, text=text).status == 0
    done = transformed("main.f90", tmp_path, "--explain")
    assert done.status == 0
    assert f"{left}: regions copy it, because 'mpi_isend' does not wait" in done.out
    other = {"x": "create(h)", "h": "create(u)"}[pending]
    assert f"enter data {other}" in done.written["out/main.f90"]


def test_a_variable_that_another_file_allocates_has_no_copy(tmp_path: Path) -> None:
    """The root is planned only if all files can be planned."""
    grid = GRID.replace("real :: h(10)", "real, allocatable :: h(:)\n  real :: h2(10)")
    step = STEP.replace("    !$acc", "    if (.not. allocated(h)) allocate(h(10))\n    !$acc", 1)
    assert transformed("grid_mod.f90", tmp_path, text=grid).status == 0
    done = transformed("step_mod.f90", tmp_path, "--explain", text=step)
    assert done.status == 0, done.err
    assert "grid_mod.h: regions copy it, because 'step_mod.advance' may allocate it" in done.out
    assert "enter data" not in done.written["out/step_mod.f90"]
    done = transformed("main.f90", tmp_path)
    assert "enter data create(u)" in done.written["out/main.f90"]


def test_a_contract_names_variables_that_change_also_through_other_files(tmp_path: Path) -> None:
    """A bound of an array may be such a variable."""
    texts = {
        "size_mod": "module size_mod\n  integer :: n = 1\nend module size_mod\n",
        "grow": "subroutine grow()\n  use size_mod\n  n = n + 1\nend subroutine grow\n",
        "outer": "subroutine outer()\n  call grow()\nend subroutine outer\n",
    }
    for name, text in texts.items():
        assert transformed(f"{name}.f90", tmp_path, text=text).status == 0
    assert effects_of(tmp_path, "grow")["changed"] == ["size_mod.n"]
    assert effects_of(tmp_path, "outer")["changed"] == ["size_mod.n"]


def test_a_contract_names_arguments_that_are_allocated_also_by_other_files(tmp_path: Path) -> None:
    head = "module {0}_mod\n{1}contains\n  subroutine {0}(a)\n    real, allocatable :: a(:)\n"
    end = "  end subroutine {0}\nend module {0}_mod\n"
    make = head.format("make", "") + "    allocate(a(10))\n" + end.format("make")
    outer = head.format("outer", "  use make_mod\n") + "    call make(a)\n" + end.format("outer")
    assert transformed("make.f90", tmp_path, text=make).status == 0
    assert transformed("outer.f90", tmp_path, text=outer).status == 0
    assert effects_of(tmp_path, "make_mod")["allocates"] == ["a"]
    assert effects_of(tmp_path, "outer_mod")["allocates"] == ["a"]


BOTH = """\
module both_mod
  implicit none
contains
  subroutine both(x)
    real, intent(inout) :: x(:)
    !$acc kernels
    x(:) = x + 1.0
    !$acc end kernels
    print *, x
  end subroutine both
end module both_mod
"""


@pytest.mark.parametrize(
    ("passed", "declared", "is_planned"),
    [("u", "x(:)", True), ("u(1:5)", "x(5)", True), ("u(1:5)", "x(:)", False)],
)
def test_a_procedure_transfers_no_part_that_may_have_gaps(
    passed: str, declared: str, is_planned: bool, tmp_path: Path
) -> None:
    """Its transfers might move more than the part, so the array is left out where it is created."""
    main = (
        f"program main\n  use both_mod, only : both\n  real :: u(10)\n  u = 1.0\n"
        f"  call both({passed})\n  !$acc kernels\n  u(:) = 2.0 * u\n  !$acc end kernels\n"
        "  print *, u\nend program main\n"
    )
    text = BOTH.replace("x(:)\n", f"{declared}\n")
    assert transformed("both_mod.f90", tmp_path, text=text).status == 0
    assert "update host(x)" in (tmp_path / "out" / "both_mod.f90").read_text("utf-8")
    done = transformed("main.f90", tmp_path, "--explain", text=main)
    assert done.status == 0
    assert ("enter data create(u)" in done.written["out/main.f90"]) == is_planned
    why = "main.u: regions copy it, because a part of it that may not be contiguous is used on both"
    assert (why in done.out) != is_planned


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
