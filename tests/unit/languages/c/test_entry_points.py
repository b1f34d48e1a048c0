"""Loops over points around functions of C: when points may be computed in any order."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.c.entry_points import cross_point_writes, emit_cuda, emit_loops
from psyclone_storage.languages.c.printer import CUnit
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.targets.c_printer import CPrinter


def printed(body: str, declarations: str = "") -> tuple[Routine, CUnit]:
    text = "\n".join(
        ("module m", "real :: rate", "contains", "subroutine s(i, j, a, b, n)",
         "integer, intent(in) :: i, j, n", "real, intent(inout) :: a(:, :)",
         "real, intent(in) :: b(:, :)", declarations, body, "end subroutine s",
         "subroutine change(x)", "real, intent(inout) :: x(:, :)", "x(1, 1) = 1",
         "end subroutine change", "end module m", "")
    )  # fmt: skip
    printer = CPrinter(ModuleFinder(SourceIndex((), {})))
    return printer.printed(SourceText("m.f90", text), "s")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("a(i, j) = a(I, J) + b(i + 1, j - n)", []),
        ("if (a(i, j) > b(i, j - 1)) a(i, j) = 0", []),
        ("a(i, j) = a(i - 1, j)", ["a"]),
        ("a(i, j + 1) = b(i, j)", ["a"]),
        ("a(j, i) = b(i, j)", ["a"]),
        ("a(i, :) = b(i, j)", ["a"]),
        ("a = 0", ["a"]),
        ("call change(a)", ["a"]),
        ("a(i, j) = a(int(a(i, 1)), j)", ["a", "a"]),
    ],
)
def test_what_points_see_of_each_other(body: str, names: list[str]) -> None:
    pair = printed(body)
    found = [name for name, _ in cross_point_writes(pair[0])]
    assert sorted(set(found)) == sorted(set(names))
    assert ("#pragma omp" in emit_loops((pair,))) == (not names)


def test_a_loop_runs_along_memory_and_takes_bounds_first() -> None:
    lines = emit_loops((printed("a(i, j) = b(i, j) * n"),)).splitlines()
    head = "void s_loop(const int32_t i_first, const int32_t i_last, const int32_t j_first,"
    assert head in lines
    assert [line.strip() for line in lines[-5:]] == [
        "#pragma omp parallel for",
        "for (int32_t j = j_first; j <= j_last; ++j)",
        "for (int32_t i = i_first; i <= i_last; ++i)",
        "s(i, j, a, a_n1, a_n2, b, b_n1, b_n2, n);",
        "}",
    ]


@pytest.mark.parametrize(
    ("body", "declarations", "reason"),
    [
        ("a(i, j) = a(i - 1, j)", "", "'a' is changed, and used elsewhere"),
        ("a(i, j) = rate", "", "all points share 'rate'"),
        ("own = 1\na(i, j) = own(1)", "real :: own(n)", "the length of 'own' in 's'"),
        ("a(i, j) = sum(spread(b(i, j), 1, n))", "", "the length of 'kept' in 's'"),
    ],
)
def test_what_has_no_form_in_cuda(body: str, declarations: str, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        emit_cuda((printed(body, declarations),))
    (problem,) = caught.value.problems
    assert problem.code == "G005"
    assert reason in problem.message
    assert problem.span is not None


def test_a_variable_that_all_points_share_keeps_a_loop_to_one_thread() -> None:
    assert "#pragma omp" not in emit_loops((printed("rate = rate + b(i, j)"),))


def test_a_kernel_of_cuda_computes_no_point_beyond_the_last() -> None:
    text = emit_cuda((printed("a(i, j) = b(i, j)"),))
    assert "if (i <= i_last && j <= j_last)" in text
    assert "static __device__ void s(" in text
    assert 'extern "C" __global__ void s_points(' in text
