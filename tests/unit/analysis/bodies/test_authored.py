"""Promises by directives of the author: only those that hold without the directives."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.analysis.bodies.authored import promises_of_directives
from psyclone_storage.analysis.bodies.verdict import VerdictStatus
from psyclone_storage.ir.facts import ASSUMPTIONS, Fact, FactKind, FactSource
from support.command import run_command
from support.file_benches import file_bench

HEAD = """subroutine work(a, b, k, n)
  use others, only: run
  implicit none
  integer, intent(in) :: n, k(n)
  real, intent(inout) :: a(n), b(n)
  integer :: i, first, last
  real :: t, total, tmp(4)
"""
BODY = """do i = 1, n
  first = k(i)
  a(first) = a(first) + b(i)
end do
"""


def promised(text: str) -> dict[FactKind, set[str]]:
    """Return the names that the directives in statements promise, by kind."""
    code = file_bench(f"{HEAD}{text}end subroutine work\n").code("work")
    found: dict[FactKind, set[str]] = {}
    for fact in promises_of_directives(code, "work"):
        assert fact.source is FactSource.DIRECTIVE
        assert fact.loop == "loop1"
        found.setdefault(fact.kind, set()).add(fact.name)
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("!$omp parallel do private(first)\n", "!$omp end parallel do\n"),
        ("!$OMP PARALLEL DO &\n!$OMP& SHARED(a) &\n!$omp schedule(static) PRIVATE( First )\n",
         ""),
        ("!$omp parallel default(none), private(i, first)\n!$omp do schedule(dynamic)\n",
         "!$omp end do\n!$omp end parallel\n"),
        ("!$omp parallel private(first)\nif (n > 3) then\n!$omp do\n",
         "!$omp end do nowait\nend if\n!$omp end parallel\n"),
        ("!$omp parallel do private(first) proc_bind(close)\n! a remark\n\n", ""),
    ],
)  # fmt: skip
def test_a_shared_loop_is_promised_to_be_independent(before: str, after: str) -> None:
    """The clauses of the directive and of the region around it count; the counter does not."""
    found = promised(f"{before}{BODY}{after}")
    assert found == {FactKind.INDEPENDENT: {""}, FactKind.PRIVATE: {"first"}}


@pytest.mark.parametrize(
    "text",
    [
        f"!$omp parallel do reduction(+: a)\n{BODY}",
        f"!$omp parallel do firstprivate(first)\n{BODY}",
        f"!$omp parallel do lastprivate(first)\n{BODY}",
        f"!$omp parallel do default(private)\n{BODY}",
        f"!$omp parallel do ordered\n{BODY}",
        f"!$omp parallel do simd\n{BODY}",
        f"!$omp parallel do private(first\n{BODY}",
        f"!$omp parallel do private(first) if(n > 10)\n{BODY}",
        f"!$omp parallel do private(first) num_threads &\n!$omp (1)\n{BODY}",
        f"!$omp parallel do private(first) schedule(static, 4)\n{BODY}",
        f"!$omp parallel do private(first) schedule(monotonic: dynamic, n)\n{BODY}",
        f"!$omp parallel if(n > 10)\n!$omp do private(first)\n{BODY}!$omp end parallel\n",
        f"!$omp parallel num_threads(1)\n!$omp do private(first)\n{BODY}!$omp end parallel\n",
        f"!$omp do private(first)\n{BODY}",
        f"!$omp simd\n{BODY}",
        f"!$omp taskloop\n{BODY}",
        f"!$acc parallel loop\n{BODY}",
        f"!$omp target\n!$omp parallel do private(first)\n{BODY}!$omp end target\n",
        f"!$omp parallel\n!$omp single\n!$omp do\n{BODY}!$omp end single\n!$omp end parallel\n",
        f"!$omp parallel reduction(+: t)\n!$omp do\n{BODY}!$omp end parallel\n",
        BODY.replace("  a(", "  !$omp atomic\n  a(").join(("!$omp parallel do\n", "")),
        BODY.replace("  a(", "  !$omp critical\n  a(").join(
            ("!$omp parallel do\n", "!$omp end critical\n")
        ),
        f"!$omp parallel do\nt = 0\n{BODY}",
        f"!$omp parallel\n!$omp end parallel\n!$omp do\n{BODY}",
        BODY,
    ],
)
def test_other_directives_promise_nothing(text: str) -> None:
    """Threads would combine values, take turns, or be others than those of the region."""
    assert not promised(text)


@pytest.mark.parametrize(
    "statements",
    [
        "t = 0\n!$omp do\ndo i = 1, n\n  t = t + a(i)\nend do\n",
        "!$omp do\ndo i = 1, n\n  t = a(i)\nend do\n!$omp critical\nb = t\n!$omp end critical\n",
        "tmp = 0\n!$omp do\ndo i = 1, n\n  tmp(k(i)) = tmp(k(i)) + 1\n  a(i) = tmp(1)\nend do\n",
    ],
)
def test_a_thread_that_collects_values_promises_nothing(statements: str) -> None:
    """A variable of a thread has its value from one iteration to the next one of the thread."""
    assert not promised(f"!$omp parallel private(t, tmp)\n{statements}!$omp end parallel\n")


CALLS = """subroutine work(a, n)
  use others_mod, only: run, state
  implicit none
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i, first, last
  !$omp parallel default(shared) private(i, first, last)
  !$omp do
  do i = 1, n, 4
    first = i
    if (first + 3 >= n) then
      last = n
    else
      last = first + 3
    end if
    call run(state, last, a(first:last))
  end do
  !$omp end do
  !$omp end parallel
  do i = 2, n
    a(i) = a(i-1)
  end do
end subroutine work
"""


def test_a_stripped_directive_becomes_a_promise(tmp_path: Path) -> None:
    """The report has the promises that were needed with their lines; other loops get none."""
    (tmp_path / "calls.f90").write_text(CALLS)
    steps = ["--apply", "openmp-parallel-do{loop=loop1}"]
    done = run_command(["calls.f90", *steps, "--strip-directives", "omp", "--explain"], tmp_path)
    assert done.status == 0, done.err
    assert "needs the promise: independent (calls.f90:8)" in done.out
    assert "private(first, last)" in done.out
    assert done.out.count("needs the promise") == 1
    kept = run_command(["calls.f90", *steps], tmp_path)
    assert kept.status == 1
    assert "T094" in kept.err


COUNTED = """subroutine work(a, n)
  implicit none
  external fill
  integer, intent(in) :: n
  real, intent(inout) :: a(n)
  integer :: i, j, k
  do j = 1, n
    do i = 1, n
      call fill(n, i, j)
    end do
  end do
  k = 1
  do i = 1, n
    call fill(n, i, k)
  end do
end subroutine work
"""


def test_a_procedure_does_not_change_the_counter_of_an_active_loop() -> None:
    """Any other variable that is passed without an intent may be changed."""
    bench = file_bench(COUNTED, (Fact(FactKind.PURE, "fill", "work"),))
    assert bench.verdict("work", "loop1").is_independent
    assert bench.verdict("work", "loop1").clauses.private == ("i",)
    assert bench.verdict("work", "loop2").is_independent
    assert not bench.verdict("work", "loop3").is_independent


NAMESAKES = """subroutine {first}(b, n)
  integer, intent(in) :: n
  integer, intent(inout) :: b(n)
  call inner
contains
  subroutine inner
    integer :: i
    !$omp parallel do
    do i = 1, n
      b(b(i)) = i
    end do
  end subroutine inner
end subroutine {first}
subroutine {second}(b, n)
  integer, intent(in) :: n
  integer, intent(inout) :: b(n)
  call inner
contains
  subroutine inner
    integer :: i
    do i = 1, n
      b(b(i)) = i
    end do
  end subroutine inner
end subroutine {second}
"""


def test_a_promise_does_not_hold_for_a_procedure_of_the_same_name(tmp_path: Path) -> None:
    """Internal procedures of two hosts; the promised one may come first or last in the alphabet."""
    for first, second in (("top", "other"), ("other", "top")):
        (tmp_path / "two.f90").write_text(NAMESAKES.format(first=first, second=second))
        done = run_command(["two.f90", "--strip-directives", "omp", "--explain"], tmp_path)
        assert done.status == 0, done.err
        assert f"{first}.inner.loop1 over i: independent" in done.out
        assert f"{second}.inner.loop1 over i: carried" in done.out


MODULES = """module m1
contains
  subroutine s(b, n)
    integer, intent(in) :: n
    integer, intent(inout) :: b(n)
    integer :: i
    do i = 1, n
      b(b(i)) = i
    end do
  end subroutine s
end module m1
module m2
contains
  subroutine s(b, n)
    integer, intent(in) :: n
    integer, intent(inout) :: b(n)
    integer :: i
    do i = 1, n
      b(b(i)) = i
    end do
  end subroutine s
end module m2
"""


def test_a_promise_does_not_hold_for_a_module_procedure_of_the_same_name() -> None:
    """Promises name the routine by its key, and so do those about procedures in it."""
    bench = file_bench(MODULES, (Fact(FactKind.INDEPENDENT, "", "m2.s", "loop1"),))
    assert not bench.verdict("m1.s", "loop1").is_independent
    assert bench.verdict("m2.s", "loop1").is_independent
    main = MODULES.replace("module m1\ncontains\n", "").replace("end module m1\n", "")
    bench = file_bench(main, (Fact(FactKind.INDEPENDENT, "", "s", "loop1"),))
    assert bench.verdict("s", "loop1").is_independent
    assert not bench.verdict("m2.s", "loop1").is_independent


def test_conditional_compilation_stays_unknown() -> None:
    """A promise does not say what a line does that only a compiler with OpenMP reads."""
    line = "    !$ if (n > 3) b(i) = 0\n"
    text = MODULES.replace("b(b(i)) = i\n", f"b(b(i)) = i\n{line}", 1)
    facts = tuple(Fact(FactKind.INDEPENDENT, "", f"m{number}.s", "loop1") for number in (1, 2))
    bench = file_bench(text, facts)
    assert bench.verdict("m1.s", "loop1").status is VerdictStatus.UNKNOWN
    assert bench.verdict("m2.s", "loop1").is_independent


POINTERS = """subroutine work(n, b, c)
  use types_mod, only: unknown_type
  integer, intent(in) :: n
  type(unknown_type), intent(inout) :: b, c(:)
  integer :: i
  do i = 1, n
    {statement}
  end do
end subroutine work
"""


@pytest.mark.parametrize(
    ("statement", "is_independent"),
    [
        ("b%x(i) = b%y(n + 1 - i)", True),
        ("b%g%x(i) = b%g%y(n + 1 - i)", True),
        ("b%x(i) = c(1)%y(n + 1 - i)", True),
        ("b%x(i) = c(1)%x(n + 1 - i)", False),
        ("b%x(i) = c(1)%x%y(n + 1 - i)", False),
        ("b%g%x(i) = c(1)%h%x(n + 1 - i)", False),
        ("c(i)%x = i", False),
        ("b%h(i)%p(1) = i", False),
    ],
)
def test_components_of_one_name_may_alias(statement: str, is_independent: bool) -> None:
    """The promise is about components of different names, not about those of two elements."""
    text = POINTERS.format(statement=statement)
    bench = file_bench(text, tuple(map(Fact, ASSUMPTIONS)))
    assert bench.verdict("work", "loop1").is_independent is is_independent
    assert not file_bench(text).verdict("work", "loop1").is_independent


@pytest.mark.parametrize("brackets", ["()", "(i=i)", "(i, j=1)"])
def test_brackets_that_no_array_has_call_a_function(brackets: str) -> None:
    """The promise about components of unknown types does not make them data."""
    text = POINTERS.replace("(inout) :: b", "(in) :: b").replace(", c(:)", "\n  real :: a(n)")
    text = text.replace(", c)", ", a)")
    facts = (Fact(FactKind.DATA_COMPONENTS),)
    called = file_bench(text.format(statement=f"a(i) = b%f{brackets}"), facts)
    assert called.verdict("work", "loop1").status is VerdictStatus.UNKNOWN
    data = file_bench(text.format(statement="a(i) = b%f(i)"), facts)
    assert data.verdict("work", "loop1").is_independent
