"""Kernels that a device may call, and what they must not use."""

from __future__ import annotations

import pytest

from psyclone_storage.languages.fortran.print.kernel import (
    KernelNames,
    emit_kernel_module,
    numbered_names,
)
from psyclone_storage.transform.kernel.inline_module import InlineKernelModule
from psyclone_storage.transform.kernel.routine import DeclareTarget, MakeAccRoutine
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, module, printed


def test_the_directive_stands_behind_the_declarations() -> None:
    lines = printed(bench(module("a(1) = 0.0")), MakeAccRoutine("call1"))
    assert lines == [
        "subroutine work_code(n, a)",
        "integer, intent(in) :: n",
        "real, intent(inout) :: a(n)",
        "!$acc routine seq",
        "a(1) = 0.0",
        "end subroutine work_code",
    ]


def test_the_level_of_parallelism_is_the_callers() -> None:
    lines = printed(bench(module()), MakeAccRoutine("call1", "vector"))
    assert "!$acc routine vector" in lines


def test_openmp_has_a_directive_of_its_own() -> None:
    assert "!$omp declare target" in printed(bench(module()), DeclareTarget("call1"))


def test_both_directives_may_stand_side_by_side() -> None:
    work = bench(module())
    work.apply(MakeAccRoutine("call1"))
    lines = printed(work, DeclareTarget("call1"))
    assert lines[3:5] == ["!$acc routine seq", "!$omp declare target"]


def test_no_directive_comes_twice() -> None:
    work = bench(module(specification="!$acc routine seq"))
    assert refused(work, MakeAccRoutine("call1")) == ["T054"]


def test_a_level_that_does_not_exist() -> None:
    assert refused(bench(module()), MakeAccRoutine("call1", "warp")) == ["T057"]


@pytest.mark.parametrize(
    ("body", "specification", "above"),
    [
        ("a(1) = gravity", "use planet_mod, only: gravity", ""),
        ("a(1) = gravity", "", "use planet_mod, only: gravity"),
        ("a(1) = gravity", "", "use planet_mod"),
        ("call lookup(a)", "use tables_mod, only: lookup", ""),
        ("call helper(a)", "", ""),
        ("call twice(a)", "", ""),
        ("a(1) = apply(n)", "", "use functions_mod, only: apply"),
    ],
)
def test_what_may_not_be_on_the_device(body: str, specification: str, above: str) -> None:
    below = (
        "subroutine helper(a)\nreal :: a(:)\ncall lookup(a)\nend subroutine\n"
        "recursive subroutine twice(a)\nreal :: a(:)\ncall other(a)\nend subroutine\n"
        "recursive subroutine other(a)\nreal :: a(:)\ncall twice(a)\nend subroutine"
    )
    text = module(body, specification, above, below)
    assert set(refused(bench(text), MakeAccRoutine("call1"))) == {"T055"}
    assert bench(text).check(MakeAccRoutine("call1", force=True)) == ()
    assert set(refused(bench(text), DeclareTarget("call1"))) == {"T055"}


@pytest.mark.parametrize(
    ("body", "specification", "above"),
    [
        ("a(1) = 0.5_r_def", "use constants_mod, only: r_def", ""),
        ("a(1) = real(n, r_def)", "real(r_def) :: x", "use constants_mod, only: r_def"),
        ("a(1) = half", "", "real, parameter :: half = 0.5"),
        ("stencil = 2\na(1) = stencil", "integer :: stencil", "use argument_mod, only: STENCIL"),
        ("a(1) = max(sqrt(a(1)), 1.0)", "", "use constants_mod"),
        ("do while (a(1) > 1.0)\na(1) = a(1) / 2\nend do", "", "use constants_mod"),
    ],
)
def test_constants_and_functions_of_the_language_are_everywhere(
    body: str, specification: str, above: str
) -> None:
    assert bench(module(body, specification, above)).check(MakeAccRoutine("call1")) == ()


@pytest.mark.parametrize("statement", ["write(*, *) n", "stop", "call f(n .plus. n)"])
def test_a_statement_that_is_not_understood_and_leaves_the_kernel(statement: str) -> None:
    reasons = refused(bench(module(statement)), MakeAccRoutine("call1", force=True))
    assert reasons == ["T052"]


HELPERS = """subroutine helper(a)
  use kinds_mod, only: wide
  real :: a(:)  ! all of it
  a = half(a(1))
end subroutine
real function half(x)
  real, intent(in) :: x; half = x / 2
end function
subroutine not_called(a)
  real :: a(:)
  print *, a
end subroutine"""


def test_procedures_of_the_module_that_are_called_get_the_directive_too() -> None:
    work = bench(module("call helper(a)", below=HELPERS))
    work.apply(MakeAccRoutine("call1"))
    (code,) = work.codes_of("call1")
    names = KernelNames("work_mod", "work_code", "work_type", ("work_code",))
    text = emit_kernel_module((code,), names, numbered_names(names, 0))
    assert text.count("!$acc routine seq") == 3
    assert "  real, intent(in) :: x\n    !$acc routine seq\nhalf = x / 2" in text
    assert "  real :: a(:)  ! all of it\n    !$acc routine seq\n  a = half" in text
    reasons = refused(work, InlineKernelModule("call1"))
    assert reasons == ["T056"]


def test_what_a_procedure_of_the_module_does_counts() -> None:
    for line in ("print *, a", "stop", "b = b + a(1)", "call lookup(a)"):
        below = f"subroutine helper(a)\nreal :: a(:)\nreal, save :: b\n{line}\nend subroutine"
        work = bench(module("call helper(a)", below=below))
        assert refused(work, MakeAccRoutine("call1"))


def test_a_generic_name_stands_for_what_is_in_the_module() -> None:
    above = "interface both\nmodule procedure helper, half\n{more}end interface"
    outside = "subroutine outside(n)\ninteger :: n\nend subroutine\n"
    for more, refused_with in (("", []), (outside, ["T055"])):
        text = module("call both(a)\ncall helper(a)", "", above.format(more=more), HELPERS)
        reasons = bench(text).check(MakeAccRoutine("call1"))
        assert [reason.code for reason in reasons] == refused_with


def test_with_force_helpers_are_the_users_word() -> None:
    below = "subroutine helper(a)\nreal :: a(:)\nprint *, a\nend subroutine"
    work = bench(module("call helper(a)", below=below))
    assert work.check(MakeAccRoutine("call1", force=True)) == ()
