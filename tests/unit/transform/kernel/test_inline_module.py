"""Kernels that go into the PSy layer, with what they need of their module."""

from __future__ import annotations

import pytest

from psyclone_storage.transform.kernel.inline_module import (
    InlineKernelModule,
    InlinePointKernel,
)
from unit.analysis.small import cells, dofs, schedule
from unit.transform.benches import refused
from unit.transform.kernel.kernel_benches import bench, codes, module, printed

STEP = InlineKernelModule("call1")


def test_a_kernel_that_needs_nothing_stays_as_it_is() -> None:
    work = bench(module())
    lines = printed(work, STEP)
    assert lines[0] == "subroutine work_code(n, a)"
    assert [code.kernel_use.inlined for code in codes(work)] == [True]


def test_constants_come_along_with_what_they_are_made_of() -> None:
    two = "integer, parameter :: two = 2, other = 3"
    above = f"implicit none\n{two}\nreal, parameter :: half = 1.0 / two"
    lines = printed(bench(module("a(1) = half", "implicit none", above)), STEP)
    assert lines[1:4] == [
        "implicit none",
        "integer, parameter :: two = 2",
        "real, parameter :: half = 1.0 / two",
    ]


def test_imports_of_the_module_come_along_as_far_as_needed() -> None:
    above = "use constants_mod, only: r_def, i_def\nuse other_mod, only: other"
    lines = printed(bench(module("a(1) = 0.5_r_def", above=above)), STEP)
    assert lines[1] == "use constants_mod, only: r_def"
    assert not any("other" in line for line in lines)


def test_a_module_that_is_imported_as_a_whole_comes_along_if_a_name_may_be_from_it() -> None:
    above = "use constants_mod"
    assert "use constants_mod" in printed(bench(module("a(1) = pi", above=above)), STEP)
    assert "use constants_mod" not in printed(bench(module("a(1) = 1.0", above=above)), STEP)


def test_a_kernel_is_taken_out_of_its_module_once() -> None:
    work = bench(module())
    work.apply(STEP)
    assert refused(work, STEP) == ["T054"]


@pytest.mark.parametrize(
    ("body", "specification", "above", "below"),
    [
        ("call x()", "", "", "subroutine x()\ncall work_code()\nend subroutine"),
        (
            "call x()",
            "",
            "",
            "subroutine x()\ncontains\nsubroutine y()\nend subroutine\nend subroutine",
        ),
        (
            "call x()",
            "integer :: s",
            "use m_mod, only: s",
            "subroutine x()\nprint *, s\nend subroutine",
        ),
        ("call x()", "integer :: s", "use m_mod", "subroutine x()\nprint *, s\nend subroutine"),
        ("call x()", "real :: abs", "", "subroutine x()\nprint *, abs(2)\nend subroutine"),
        ("call general(n)", "", "interface general\nmodule procedure work_code\nend interface", ""),
        ("", "type(pair) :: p", "type :: pair\ninteger :: i\nend type", ""),
    ],
)
def test_what_would_have_to_come_along(
    body: str, specification: str, above: str, below: str
) -> None:
    work = bench(module(body, specification, above, below))
    assert refused(work, STEP) == ["T056"]


def test_a_variable_of_the_module_stays_where_it_is() -> None:
    work = bench(module("a(1) = x", above="real :: x"))
    assert refused(work, STEP) == ["T053"]


def test_code_that_depends_on_the_preprocessor_stays_in_its_file() -> None:
    conditional = module("#ifdef TWICE\na(1) = 2 * a(1)\n#endif")
    macro = "#define one 1.0\n" + module("a(1) = one")
    for text in (conditional, macro):
        assert refused(bench(text), InlineKernelModule("call1")) == ["T056"]
    assert not bench("#ifdef MPI\n#endif\n" + module()).check(InlineKernelModule("call1"))


def test_procedures_that_are_called_come_along_as_internal_ones() -> None:
    above = "use constants_mod, only: r_def, i_def\ninteger, parameter :: most = 3"
    below = """pure function twice(i) result(res)
  integer(i_def), intent(in) :: i
  integer(i_def) :: res
  res = min(2 * i, limit())
end function twice
integer function limit()
  limit = most
end function limit
subroutine other()
end subroutine other"""
    lines = printed(bench(module("a(1) = twice(n)", "", above, below)), STEP)
    assert "use constants_mod, only: i_def" in lines
    assert "integer, parameter :: most = 3" in lines
    start = lines.index("contains")
    assert lines[start + 1] == "pure function twice(i) result(res)"
    assert "end function twice" in lines
    assert lines[-2:] == ["end function limit", "end subroutine work_code"]
    assert "subroutine other()" not in lines


def test_everywhere_is_every_call_or_every_call_for_a_point() -> None:
    made = schedule(dofs("x write w3"), cells("y write w3"), dofs("z write w3"))
    for step, calls in (
        (InlineKernelModule, ["call1", "call2", "call3"]),
        (InlinePointKernel, ["call1", "call3"]),
    ):
        assert [place["call"] for place in step.places(made)] == calls
