"""Kernels for columns that call procedures of other modules: which come to the PSy layer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.explanation import explanation
from psyclone_storage.pipeline.request import CompileRequest
from psyclone_storage.transform.kernel import inline_with_callees as calling

STEP = "inline-calling-kernel"
HELPERS = """module helpers_mod
  use constants_mod, only: i_def, r_def, r_single, r_double
  implicit none
  private
  public :: squared, count_up, kept, near, either, again, hides, forced
  real(r_def), parameter :: own = 2.0_r_def
  real(r_def), public :: level = 1.0_r_def
  type, public :: law_type
  contains
    procedure, nopass :: forced
  end type law_type
  interface either
    procedure either_single, either_double
  end interface
contains
  pure real(r_def) function squared(x)
    real(r_def), intent(in) :: x
    squared = x * x + level
  end function squared
  pure real(r_single) function either_single(x) result(y)
    real(r_single), intent(in) :: x
    y = 2 * x
  end function either_single
  pure real(r_double) function either_double(x) result(y)
    real(r_double), intent(in) :: x
    y = 2 * x
  end function either_double
  subroutine count_up(x)
    real(r_def), intent(inout) :: x
    level = level + x
  end subroutine count_up
  subroutine kept(x)
    real(r_def), intent(inout) :: x
    integer(i_def), save :: times = 0
    times = times + 1
    x = x + times
  end subroutine kept
  subroutine near(x, far)
    real(r_def), intent(inout) :: x
    logical, intent(in), optional :: far
    if (present(far)) x = 2 * x
  end subroutine near
  recursive subroutine again(x)
    real(r_def), intent(inout) :: x
    if (x > 1) call again(x)
  end subroutine again
  subroutine hides(x)
    real(r_def), intent(inout) :: x
    x = own * x
  end subroutine hides
  subroutine forced(x)
    real(r_def), intent(inout) :: x
    x = 3 * x
  end subroutine forced
end module helpers_mod
"""
KERNEL = """module {name}_mod
  use argument_mod, only: arg_type, CELL_COLUMN, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL
  use constants_mod, only: i_def, r_def, r_double, r_single
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  {head}
  implicit none
  {own}
  type, extends(kernel_type) :: {name}_type
    type(arg_type) :: meta_args(1) = (/ arg_type(GH_FIELD, GH_REAL, GH_READWRITE, W3) /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: {name}_code
  end type {name}_type
contains
  subroutine {name}_code(nlayers, y, ndf, undf, map)
    {use}
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: y(undf)
    integer(i_def) :: k
    {local}
    do k = 0, nlayers - 1
      {body}
    end do
    {behind}
  end subroutine {name}_code
  {inside}
end module {name}_mod
"""
ALGORITHM = """subroutine go(y)
  use add_mod, only: add_type
  use field_mod, only: field_type
  type(field_type), intent(inout) :: y
  call invoke(add_type(y), add_type(y))
end subroutine go
"""
OWN = """pure real(r_def) function mine(x)
    use helpers_mod, only: of => squared
    real(r_def), intent(in) :: x
    mine = of(x) + of(2 * x)
  end function mine"""
Y = "y(map(1) + k)"
NO_LOOP = "T067 No loop of 'add_code' calls a procedure of another module"
STAYS = "T070 A call in 'add_code' stays:"
SQUARE = f"{Y} = squared({Y})"


EMPTY = dict.fromkeys(("head", "own", "local", "behind", "inside", "body"), "") | {
    "name": "add",
    "use": "use helpers_mod",
}


def built(folder: Path, steps: str = STEP, **parts: str) -> Build:
    text = KERNEL.format(**EMPTY | parts)
    (folder / "helpers_mod.f90").write_text(HELPERS, encoding="utf-8")
    (folder / "add_mod.f90").write_text(text, encoding="utf-8")
    (folder / "alg.x90").write_text(ALGORITHM, encoding="utf-8")
    request = CompileRequest("lfric", False, (folder,), steps=steps)
    compiler = make_compiler(default_settings(), request)
    return compiler.compile_algorithm(folder / "alg.x90")


def reasons(build: Build) -> set[str]:
    """Return why the step was refused, without names of the kernel."""
    ((_, refusals),) = build.refused
    found = (one for one in refusals if one.step.name == STEP)
    return {f"{reason.code} {reason.message}" for one in found for reason in one.reasons}


@pytest.mark.parametrize(
    ("parts", "inside"),
    [
        ({"body": SQUARE}, "squared = x*x + level"),
        ({"body": f"{Y} = mine({Y})", "inside": OWN}, "mine = squared + squared"),
        ({"body": f"{Y} = {Y} + either({Y})", "local": "real(r_double) :: z"}, ""),
        ({"body": f"z = k\n z = either(z)\n {Y} = z", "local": "real(r_double) :: z"}, "y_1 = 2*"),
        ({"body": f"call forced({Y})", "behind": "call near(y(1))"}, "x = 3*x"),
    ],
)
def test_procedures_called_in_loops_stand_in_the_layer(
    tmp_path: Path, parts: dict[str, str], inside: str
) -> None:
    text = built(tmp_path, **parts).psy_text
    assert ("use add_mod" in text) is not bool(inside)
    assert text.count("  subroutine add_code(") == bool(inside)
    assert text.count("call add_code(") == 2
    assert inside.replace(" ", "") in re.sub(r"_\d+\b|[ \n&]", "", text) or "_1" in inside


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"body": f"{Y} = 2 * {Y}"}, NO_LOOP),
        ({"body": f"{Y} = 1", "behind": "y(1) = squared(y(1))"}, NO_LOOP),
        ({"body": f"{Y} = mine({Y})", "inside": OWN.replace("of", "abs").replace(
            "use helpers_mod, only: abs => squared", "")}, NO_LOOP),
        ({"body": f"call count_up({Y})"}, f"{STAYS} 'count_up' changes"),
        ({"body": f"call kept({Y})"}, f"{STAYS} 'times' of 'kept' keeps its"),
        ({"body": f"call near({Y})"}, f"{STAYS} 'near' is called with"),
        ({"body": f"call again({Y})"}, f"{STAYS} of 'again', 'again' calls"),
        ({"body": f"call hides({Y})"}, f"{STAYS} 'own' is a private name"),
        ({"body": f"call law%forced({Y})", "local": "type(law_type) :: law"}, "T067 No loop of"),
        ({"body": f"call {{0}}({Y})", "local": "external {0}"}, STAYS),
        ({"body": SQUARE, "own": "real(r_def) :: state = 1", "behind": "y(1) = state"},
         "T053 'add_code' uses 'state', a variable of its module"),
        ({"body": SQUARE, "local": "integer, save :: n = 0", "behind": "n = n + 1"},
         "T053 'add_code' saves 'n' from call to call"),
        ({"body": SQUARE, "behind": "call keep(y(1))", "inside": "subroutine keep(x)\n"
          "real(r_def), intent(inout) :: x\ninteger, save :: n = 0\nn = n + 1\nx = x*n\n"
          "end subroutine keep"}, "T053 'keep' saves 'n' from call to call"),
        ({"body": f"!$acc loop seq\n do n = 1, 2\n {SQUARE}\n end do", "local": "integer :: n"},
         "T0"),
    ],
)  # fmt: skip
def test_what_stays_in_its_module_says_why(tmp_path: Path, parts: dict[str, str], why: str) -> None:
    build = built(tmp_path, **{word: text.replace("{0}", "far") for word, text in parts.items()})
    assert "use add_mod, only: add_code" in build.psy_text
    assert "subroutine add_code(" not in build.psy_text
    assert any(reason.startswith(why) for reason in reasons(build)), reasons(build)


CHOSEN = """
#ifdef FAST
  use fast_mod
#else
  use helpers_mod
#endif
"""
BETWEEN = """module between_mod
  use constants_mod, only: i_def, r_def
  {head}
  implicit none
contains
  {before}
  pure real(r_def) function twice(x)
    real(r_def), intent(in) :: x
    twice = {value}
  end function twice
  {behind}
end module between_mod
"""
OTHER = "subroutine other()\n#ifdef FAST\n print *, 1\n#endif\nend subroutine other"


@pytest.mark.parametrize(
    ("parts", "line"),
    [({"head": CHOSEN, "value": "squared(x)"}, "#ifdef FAST"),
     ({"before": "\n#ifndef FAST\n", "behind": "\n#endif"}, "#ifndef FAST"),
     ({"behind": OTHER, "head": "\n#ifdef FAST\n ! nothing\n#endif\n"}, "")],
)  # fmt: skip
def test_what_a_preprocessor_chooses_stays(
    tmp_path: Path, parts: dict[str, str], line: str
) -> None:
    """Whichever branch is read, a compiler may see another one."""
    words = {"head": "", "before": "", "behind": "", "value": "2 * x"} | parts
    (tmp_path / "between_mod.F90").write_text(BETWEEN.format(**words), encoding="utf-8")
    build = built(tmp_path, body=f"{Y} = twice({Y})", use="use between_mod, only: twice")
    assert ("subroutine add_code(" in build.psy_text) is not bool(line)
    said = {f"{STAYS} 'twice' may depend on '{line}'."}
    assert reasons(build) == said if line else not build.refused


@pytest.mark.parametrize(
    "steps", [STEP, "inline-procedures", "inline-kernel-module", "inline-call; inline-point-kernel"]
)
def test_kernels_of_chosen_modules_stay(tmp_path: Path, steps: str) -> None:
    build = built(tmp_path, steps, body=SQUARE, head=CHOSEN, use="")
    assert "use add_mod, only: add_code" in build.psy_text
    ((_, refusals),) = build.refused
    said = {reason.message for one in refusals for reason in one.reasons}
    assert any("may depend on '#ifdef FAST'" in one for one in said), said


FORMED = """module formed_mod
  use constants_mod, only: i_def, r_def
  implicit none
contains
  subroutine formed(n, x, map)
    integer(i_def), intent(in) :: n, map(n)
    real(r_def), intent(inout) :: x
    real(r_def) :: parts({extent}), add_code
    add_code = 2 * x
    parts = add_code
    x = sum(parts)
  end subroutine formed
  subroutine set(x, y)
    real(r_def), intent(in) :: x
    real(r_def), intent(out) :: y
    {first}
    if (x > 0) return
    y = 2 * x
  end subroutine set
end module formed_mod
"""
OF_FORMED = "use formed_mod, only: formed, set"


@pytest.mark.parametrize(
    ("extent", "given", "inside"),
    [("n", "12 / nlayers", ""), ("12 / n", "nlayers", ""), ("mod(12, n)", "nlayers", ""),
     ("map(n)", "nlayers", ""), ("n / 2", "nlayers", "parts(nlayers/2)"),
     ("0:2 * (n - 1)", "nlayers", "parts(0:2*(nlayers-1))")],
)  # fmt: skip
def test_extents_can_be_computed_where_nothing_is_called(
    tmp_path: Path, extent: str, given: str, inside: str
) -> None:
    """Arrays of the kernel are made at its begin, also where no condition lets the call be."""
    text = FORMED.format(extent=extent, first="")
    (tmp_path / "formed_mod.f90").write_text(text, encoding="utf-8")
    body = f"if (nlayers > 1) call formed({given}, {Y}, map)"
    build = built(tmp_path, body=body, use=OF_FORMED)
    assert ("subroutine add_code(" in build.psy_text) is bool(inside), reasons(build)
    assert inside in build.psy_text.replace(" ", "")
    if inside:
        assert "add_code_1 = 2 * x" in build.psy_text
    else:
        ((one),) = reasons(build)
        assert re.search(r"the extent '.*' of 'parts' might have no value", one), one


@pytest.mark.parametrize(
    ("value", "given", "inside"),
    [("12 / n", "0", "12 / n"), ("mod(12, n)", "none", "mod(12, n)"), ("2**n", "3", "2 ** n"),
     ("n / 2", "0", "0 / 2"), ("max(n, 1)", "none", "max(none, 1)"),
     ("12 / n", "nlayers", "12 / nlayers")],
)  # fmt: skip
def test_what_a_compiler_refuses_of_constants_is_given_a_variable(
    tmp_path: Path, value: str, given: str, inside: str
) -> None:
    """It computes them where a condition excludes them, too."""
    text = FORMED.format(extent="2", first="").replace("    parts = add_code\n", "")
    text = text.replace("sum(parts)", value).replace("add_code = 2 * x", "if (n == 0) return")
    (tmp_path / "formed_mod.f90").write_text(text, encoding="utf-8")
    local = "integer(i_def), parameter :: none = 0"
    build = built(tmp_path, body=f"call formed({given}, {Y}, map)", use=OF_FORMED, local=local)
    assert f"x = {inside}" in build.psy_text
    assert (f"\n      n = {given}\n" in build.psy_text) is ("n" in re.findall(r"\w+", inside))


@pytest.mark.parametrize(
    ("first", "copied"),
    [("", True), ("y = 0", False), ("if (x > 1) then\n y = 0\n else\n y = x\n end if", False),
     ("if (x > 1) y = 0", True), ("if (x > 1) then\n y = 0\n else\n y = x + y\n end if", True)],
)  # fmt: skip
def test_what_a_procedure_leaves_unset_keeps_its_value(
    tmp_path: Path, first: str, copied: bool
) -> None:
    """Fortran calls it undefined; compilers let it be, and so does a copy."""
    text = FORMED.format(extent="n", first=first)
    (tmp_path / "formed_mod.f90").write_text(text, encoding="utf-8")
    build = built(tmp_path, body=f"call set(2.0_r_def, {Y})", use=OF_FORMED)
    assert "y(map(1) + k) = y_1" in build.psy_text
    assert ("y_1 = y(map(1) + k)" in build.psy_text) is copied


KEEPS = "subroutine up(m)\n integer, intent(inout) :: m\n m = m + 1\n end subroutine up"
COUNTS = "integer function up(m)\n integer m\n intent(inout) m\n m = m + 1\n up = m\nend function"


@pytest.mark.parametrize(
    ("parts", "why"),
    [({"local": "integer :: n = 0", "behind": "call up(n)", "inside": KEEPS},
      "'add_code' saves 'n'"),
     ({"local": "integer, save :: n = 0", "behind": "y(1) = up(n)", "inside": COUNTS},
      "'add_code' saves 'n'"),
     ({"local": "integer, target :: n = 0\n integer, pointer :: p", "behind": "p => n\n p = 1"},
      "'add_code' saves 'n'"),
     ({"behind": "block\n integer, save :: n\n n = 1\n end block"}, "holds 'integer, save :: n'"),
     ({"behind": "call up(y(1))\n contains\n subroutine up(x)\n real(r_def) :: x\n"
       " integer :: n = 0\n n = n + 1\n x = n\n end subroutine"}, "holds 'integer :: n = 0'"),
     ({"behind": "block\n integer, parameter :: n = 1\n real(kind=r_def) :: x(2)\n"
       " x(1::2) = n\n y(1:2) = x\n end block"}, "")],
)  # fmt: skip
def test_what_is_kept_in_any_way_stays(tmp_path: Path, parts: dict[str, str], why: str) -> None:
    build = built(tmp_path, "inline-kernel-module", body=f"{Y} = 1", use="", **parts)
    assert ("use add_mod" in build.psy_text) is bool(why)
    said = [reason for _, every in build.refused for one in every for reason in one.reasons]
    assert all(one.code == "T053" and why in one.message for one in said), said


def test_functions_of_modules_that_are_not_found_are_told(tmp_path: Path) -> None:
    """Without its module nobody knows that a name is a function's."""
    build = built(tmp_path, body=f"{Y} = far({Y})", use="use far_mod, only: far")
    assert reasons(build) == {f"{STAYS} what 'far' stands for was not found."}
    ((_, refusals),) = build.refused
    assert "'-d'" in refusals[0].reasons[0].hint


def test_calls_that_stay_are_explained(tmp_path: Path) -> None:
    build = built(tmp_path, "auto", body=f"{SQUARE}\n      call near({Y}, .true.)")
    text = explanation(build)
    assert "add_code with 'squared (helpers_mod)'" in text
    assert re.search(r"a call at add_mod.f90:\d+ stays: 'far' of 'near' is no plain variable", text)
    assert "call near(" in build.psy_text


def test_long_kernels_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "MOST_STATEMENTS", 4)
    assert "subroutine add_code(" in built(tmp_path, body=SQUARE).psy_text
    build = built(tmp_path, body=f"{SQUARE}\n {SQUARE}")
    assert "use add_mod" in build.psy_text
    assert reasons(build) == {
        "T070 'add_code' would have 7 statements with 'squared', and 4 are the most."
    }


PRECISIONS = """  interface add_code
    procedure add_code_32, add_code_64
  end interface
"""


def test_all_subroutines_of_an_interface_come_and_add_together(tmp_path: Path) -> None:
    """One that is in the layer already is not taken out of its module by the next step."""
    sums = (
        "do n = 1, nlayers\n do k = 0, nlayers - 1\n total(k) = total(k) + y(map(n) + k)\n"
        "end do\n end do\n y(1) = total(0)"
    )
    local = "integer :: n\n real(r_def) :: total(0:99)"
    parts = {"body": SQUARE, "local": local, "behind": sums, "own": PRECISIONS}
    text = KERNEL.format(**EMPTY | parts)
    begin, end = text.index("  subroutine add_code("), text.index("end module")
    code, head = text[begin:end], text[:begin]
    for kind, size in (("r_single", "32"), ("r_def", "64")):
        called = code.replace("add_code", f"add_code_{size}")
        head += called if kind == "r_def" else called.replace("real(r_def)", "real(r_single)")
    head = head.replace("squared(y(map(1) + k))", "y(map(1) + k)", 1)
    built(tmp_path, body=SQUARE)
    (tmp_path / "add_mod.f90").write_text(f"{head}end module add_mod\n", encoding="utf-8")
    request = CompileRequest("lfric", False, (tmp_path,), steps=f"{STEP}; inline-summing-call")
    build = make_compiler(default_settings(), request).compile_algorithm(tmp_path / "alg.x90")
    assert "module procedure add_code_32, add_code_64" in build.psy_text
    assert not any(refusals for _, refusals in build.refused)
    assert build.psy_text.count("  subroutine add_code_") == 2
    assert build.psy_text.count("do n = 1, nlayers - 3, 4") == 2
    assert "squared(" not in build.psy_text
