"""Steps on files of plain Fortran: directives with derived clauses, edits, undo, preserved text."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive, RegionOptions, Sharing, ThreadSchedule
from psyclone_storage.ir.expr import Name, whole
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.transform.file_blocks import AddDirective
from psyclone_storage.transform.file_steps import apply_file_steps, read_file_steps
from psyclone_storage.transform.swap import SwapInKernel
from support.file_benches import file_bench, printed, share, subroutine_bench

TWO_LOOPS = """module two
  implicit none
contains
  subroutine step(a, b, n)  ! of a step
    integer, intent(in) :: n
    real, intent(inout) :: a(n, n), b(n, n)
    integer :: i, j
    real :: t
    DO j = 1, n   ! outer
      do i = 1, n
        t    = b(i,j)     ! as aligned
        a(i,j) = t + 1.0
      end do
    END DO        ! j
    do j = 1, n
      b(1, j) = a(1, j)
    end do
  end subroutine step
end module two
"""


def codes(error: pytest.ExceptionInfo[CompileError]) -> set[str]:
    """Return the codes of an error's problems."""
    return {problem.code for problem in error.value.problems}


def test_only_directive_lines_are_added() -> None:
    """All lines of the author stay, trailing comments included; clauses are those of the loop."""
    bench = file_bench(TWO_LOOPS)
    share(bench)
    text = printed(bench)
    added = [line for line in text.splitlines() if "!$omp" in line]
    assert [line for line in text.splitlines() if "!$omp" not in line] == TWO_LOOPS.splitlines()
    assert added == [
        "    !$omp parallel do default(shared), private(i, t)",
        "    !$omp end parallel do",
    ]


def test_clauses_follow_later_edits() -> None:
    """An edit that adds a scalar adds it to the clause; undo brings the old clause back."""
    bench = file_bench(TWO_LOOPS)
    share(bench, "loop3")
    before = bench.code("step").body
    assert "private" not in printed(bench)
    block = next(one for one in before if isinstance(one, un.DirectiveBlock))
    loop = next(one for one in block.body if isinstance(one, un.Do))
    changed = replace(loop, body=(un.Assign(Name("t"), whole(1)), *loop.body))
    after = tuple(replace(one, body=(changed,)) if one is block else one for one in before)
    bench.edit("step", before, after)
    assert "default(shared), private(t)" in printed(bench)
    bench.undo()
    assert "private" not in printed(bench)
    assert [entry.step.name for entry in bench.journal] == ["omp-parallel-do", "edit", "edit"]


def test_an_edit_that_breaks_a_region_is_refused() -> None:
    """Nothing changes, and the reason names the pair of accesses."""
    bench = file_bench(TWO_LOOPS)
    share(bench, "loop3")
    before = bench.code("step").body
    block = next(one for one in before if isinstance(one, un.DirectiveBlock))
    loop = next(one for one in block.body if isinstance(one, un.Do))
    carried = un.Assign(Name("t"), whole(1))
    reading = un.Assign(loop.body[0].target, Name("t"))  # type: ignore[union-attr]
    changed = replace(loop, body=(reading, carried))
    after = tuple(replace(one, body=(changed,)) if one is block else one for one in before)
    with pytest.raises(CompileError) as error:
        bench.edit("step", before, after)
    assert codes(error) == {"T095"}
    assert bench.code("step").body is before


def test_a_stale_edit_is_refused() -> None:
    """The statements that an edit expects must be the present ones."""
    bench = file_bench(TWO_LOOPS)
    before = bench.code("step").body
    bench.edit("step", before, before[1:])
    with pytest.raises(CompileError) as error:
        bench.edit("step", before, before)
    assert codes(error) == {"T095"}


def test_steps_of_kernels_take_any_routine() -> None:
    """A swap names the routine as its call; places that do not exist are refused."""
    bench = file_bench(TWO_LOOPS)
    bench.apply(SwapInKernel("step", loop=1))
    lines = [line.strip() for line in printed(bench).splitlines() if " do " in line.lower()]
    assert lines[0].startswith("do i = 1, n")
    with pytest.raises(CompileError) as error:
        bench.apply(SwapInKernel("stepp", loop=1))
    assert codes(error) == {"T003"}


@pytest.mark.parametrize(
    ("first", "last", "code"),
    [("loop9", "", "T003"), ("loop1", "loop2", "T023")],
)
def test_places_that_do_not_exist(first: str, last: str, code: str) -> None:
    """An unknown loop, and two loops that are not neighbours."""
    bench = file_bench(TWO_LOOPS)
    step = AddDirective("step", first, last, Directive.OMP_PARALLEL)
    assert {reason.code for reason in bench.check(step)} == {code}


def test_a_team_has_private_scalars_for_what_all_threads_do() -> None:
    """A scalar that all threads compute alike is private; a shared result is refused."""
    body = """
do i = 1, n
  a(i) = 1.0
end do
t = 2.0 * n
do i = 1, n
  b(i) = a(i) * t
end do
"""
    bench = subroutine_bench(body, "integer :: i\n    real :: a(n), b(n), t")
    share(bench, "loop1", Directive.OMP_DO)
    share(bench, "loop2", Directive.OMP_DO)
    assert {one.code for one in bench.unfinished()} == {"T094"}
    bench.apply(AddDirective("work", "omp-do(loop1)", "omp-do(loop2)", Directive.OMP_PARALLEL))
    assert bench.unfinished() == ()
    assert "!$omp parallel default(shared), private(t)" in printed(bench)


@pytest.mark.parametrize(
    "between",
    ["t = a(1)", "b(1) = 0.0", "call other()", "t = t + 1.0", "print *, n"],
)
def test_what_all_threads_would_do_is_not_finished(between: str) -> None:
    """Values that threads change, shared results, calls and messages are refused in a region."""
    body = f"""
t = 0.0
do i = 1, n
  a(i) = 1.0
end do
{between}
do i = 1, n
  b(i) = a(i) * t
end do
"""
    bench = subroutine_bench(body, "integer :: i\n    real :: a(n), b(n), t")
    share(bench, "loop1", Directive.OMP_DO)
    share(bench, "loop2", Directive.OMP_DO)
    bench.apply(AddDirective("work", "omp-do(loop1)", "omp-do(loop2)", Directive.OMP_PARALLEL))
    assert "T027" in {one.code for one in bench.unfinished()}


def test_directives_of_the_author_are_in_the_way() -> None:
    """A block cannot be inside a construct of the author, nor contain such a directive."""
    body = """
!$omp parallel
do i = 1, n
  a(i) = 1.0
end do
!$omp end parallel
do i = 1, n
  !$omp atomic
  a(1) = 1.0
end do
do i = 1, n
  a(i) = 1.0
end do
"""
    bench = subroutine_bench(body, "integer :: i\n    real :: a(n)")
    found = {
        uid: {one.code for one in bench.check(AddDirective("work", uid))}
        for uid in ("loop1", "loop2", "loop3")
    }
    assert found["loop1"] == {"T094"}
    assert "T094" in found["loop2"]
    assert found["loop3"] == set()


def test_collapse_needs_a_rectangular_nest_of_independent_loops() -> None:
    """Bounds that depend on an outer counter and dependent inner loops are refused."""
    body = """
do j = 1, n
  do i = 1, j
    a(i, j) = 1.0
  end do
end do
do j = 1, n
  do i = 2, n
    a(i, j) = a(i - 1, j)
  end do
end do
do j = 1, n
  do i = 1, n
    a(i, j) = 2.0
  end do
end do
"""
    bench = subroutine_bench(body, "integer :: i, j\n    real :: a(n, n)")
    two = RegionOptions(collapse=2)
    found = [
        {one.code for one in bench.check(AddDirective("work", uid, options=two))}
        for uid in ("loop1", "loop3", "loop5")
    ]
    assert found == [{"T063"}, {"T062"}, set()]


def test_a_promise_is_listed_if_it_was_needed() -> None:
    """Purity of a procedure that is not found; a promise that proves nothing is not listed."""
    body = """
do i = 1, n
  call other(a(i))
end do
do i = 1, n
  a(i) = 1.0
end do
"""
    fact = Fact(FactKind.PURE, "other", place="recipe.py:3")
    bench = subroutine_bench(body, "integer :: i\n    real :: a(n)")
    assert bench.verdict("work", "loop1").status.value == "unknown"
    cures = bench.cures("work", "loop1")
    assert {(one.kind, one.name) for one in cures} >= {(FactKind.PURE, "other")}
    bench.assume(fact, *(one for one in cures if one.kind is not FactKind.PURE))
    assert fact in bench.verdict("work", "loop1").assumptions
    assert bench.verdict("work", "loop2").assumptions == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a(i) = a(i - 1) + b(i)", set()),
        ("a(2 * i) = b(i)\n b(i) = a(2 * i - 4)", set()),
        ("a(1) = b(i)", set()),
        ("if (b(i) > 0.0) w(1) = b(i)\n b(i) = w(1)", {(FactKind.PRIVATE, "w")}),
        ("s = s + b(i)\n b(i) = s", set()),
        ("s = s + b(i)\n if (s > 2.0) b(i) = s", set()),
        ("if (s > 2.0) b(i) = s\n s = b(i)", set()),
        ("if (b(i) > 0.0) s = b(i)\n b(i) = s", {(FactKind.PRIVATE, "s")}),
        ("if (b(i) < 0.0) cycle\n b(i) = s\n s = b(i)", {(FactKind.PRIVATE, "s")}),
        ("b(i) = w(1)\n w(1) = b(i) + 1.0", set()),
        ("a(idx(i)) = b(i)", {(FactKind.IGNORED, "a")}),
        ("a(i) = a(idx(i)) + b(i)", {(FactKind.IGNORED, "a")}),
        ("a(idx(i)) = b(i)\n b(i) = b(i + 1)", set()),
        ("call other(n)\n a(idx(i)) = 1.0", {(FactKind.PURE, "other"), (FactKind.IGNORED, "a")}),
    ],
)
def test_no_promise_is_proposed_that_is_certainly_false(
    body: str, expected: set[tuple[FactKind, str]]
) -> None:
    declared = "real :: a(0:n), b(0:n), w(2), s\n integer :: idx(n), i\n external :: other"
    bench = subroutine_bench(f"do i = 1, n\n{body}\nend do\nprint *, a, b", declared)
    cures = bench.cures("work", "loop1")
    assert {(one.kind, one.name) for one in cures} == expected
    bench.assume(*cures)
    assert bench.verdict("work", "loop1").is_independent == bool(expected)


@pytest.mark.parametrize(
    ("second", "is_legal"),
    [
        ("b(i) = a(n - i + 1)", False),
        ("a(i) = 0.0", False),
        ("b(i) = real(i)", True),
        ("a(i + n) = a(i + n) + 1.0", True),
        ("a(i + n - 1) = 1.0", False),
        ("a(i + k) = 1.0", False),
    ],
)
def test_nowait_needs_independent_statements_before_the_barrier(
    second: str, is_legal: bool
) -> None:
    """A region is unfinished if two loops access elements that one of them writes."""
    loops = f"do i = 1, n\n  a(i) = i\nend do\ndo i = 1, n\n  {second}\nend do"
    bench = subroutine_bench(loops, "real :: a(2 * n), b(n)\n    integer :: i, k")
    options = RegionOptions(nowait=True)
    share(bench, "loop1", Directive.OMP_DO, options)
    share(bench, "loop2", Directive.OMP_DO, options)
    bench.apply(
        AddDirective("work", "omp-do(loop1)", "omp-do(loop2)", directive=Directive.OMP_PARALLEL)
    )
    reasons = bench.unfinished()
    assert bool(reasons) is not is_legal
    if not is_legal:
        assert "Without a barrier" in reasons[0].message
        assert "'a'" in reasons[0].message


STATIC = ThreadSchedule(Sharing.STATIC)


@pytest.mark.parametrize(
    ("second", "schedules", "is_legal"),
    [
        ("do i = 1, n\n b(i) = a(i)\nend do", (STATIC, STATIC), True),
        ("do j = 1, n\n b(j) = a(j)\n a(j) = 1.0\nend do", (STATIC, STATIC), True),
        ("do i = 1, n\n b(i) = a(i)\nend do", (STATIC, None), False),
        ("do i = 1, n\n b(i) = a(i)\nend do", (STATIC, replace(STATIC, chunk=4)), False),
        ("do i = 1, n\n b(i) = a(i)\nend do", (ThreadSchedule(Sharing.DYNAMIC),) * 2, False),
        ("do i = 1, n - 1\n b(i) = a(i)\nend do", (STATIC, STATIC), False),
        ("do i = 2, n + 1\n b(i - 1) = a(i - 1)\nend do", (STATIC, STATIC), False),
        ("do i = 1, n\n b(i) = a(i + 1)\nend do", (STATIC, STATIC), False),
        ("do i = 1, n\n b(i) = a(1)\nend do", (STATIC, STATIC), False),
    ],
)
def test_equal_schedules_give_each_thread_the_same_iterations(
    second: str, schedules: tuple[ThreadSchedule | None, ...], is_legal: bool
) -> None:
    loops = f"do i = 1, n\n  a(i) = i\nend do\n{second}"
    bench = subroutine_bench(loops, "real :: a(n + 1), b(n)\n    integer :: i, j")
    for uid, schedule in zip(("loop1", "loop2"), schedules, strict=True):
        share(bench, uid, Directive.OMP_DO, RegionOptions(schedule, nowait=True))
    bench.apply(
        AddDirective("work", "omp-do(loop1)", "omp-do(loop2)", directive=Directive.OMP_PARALLEL)
    )
    assert bool(bench.unfinished()) is not is_legal


def test_a_barrier_ends_the_effect_of_nowait() -> None:
    """The second loop waits at its end, so the third may read what the first has written."""
    body = "".join(
        f"do i = 1, n\n  {line}\nend do\n"
        for line in ("a(i) = i", "b(i) = i", "c(i) = a(n - i + 1)")
    )
    bench = subroutine_bench(body, "real :: a(n), b(n), c(n)\n    integer :: i")
    share(bench, "loop1", Directive.OMP_DO, RegionOptions(nowait=True))
    share(bench, "loop2", Directive.OMP_DO)
    share(bench, "loop3", Directive.OMP_DO)
    bench.apply(
        AddDirective("work", "omp-do(loop1)", "omp-do(loop3)", directive=Directive.OMP_PARALLEL)
    )
    assert bench.unfinished() == ()
    text = printed(bench)
    assert text.count("!$omp end do nowait") == 1
    assert "!$omp do nowait" not in text


def test_nowait_in_a_serial_loop_may_meet_the_loop_again() -> None:
    """Threads may be in the next iteration of the serial loop, where the block reads its data."""
    body = """do k = 1, 3
  do i = 1, n
    a(i) = a(i) + k
  end do
  do i = 1, n
    b(i) = i
  end do
end do"""
    bench = subroutine_bench(body, "real :: a(n), b(n)\n    integer :: i, k")
    share(bench, "loop2", Directive.OMP_DO, RegionOptions(nowait=True))
    share(bench, "loop3", Directive.OMP_DO, RegionOptions(nowait=True))
    bench.apply(AddDirective("work", "loop1", directive=Directive.OMP_PARALLEL))
    assert any("'a'" in one.message for one in bench.unfinished())


def test_auto_does_not_copy_the_counter_of_a_serial_loop_in_a_region() -> None:
    """OpenMP makes 'j' private in a region, so copies of 'j' need 'parallel do'."""
    body = """do i = 1, n
  do j = 1, n
    a(j, i) = 1
  end do
end do
do i = 1, n
  a(i, 1) = j
end do"""
    bench = subroutine_bench(body, "real :: a(n, n)\n    integer :: i, j")
    apply_file_steps(bench, read_file_steps("auto{work=1}"))
    text = printed(bench)
    assert "!$omp parallel do default(shared), firstprivate(j), lastprivate(j)" in text
    assert "!$omp do" not in text
    assert bench.unfinished() == ()


def test_the_routine_of_a_step_on_a_kernel_is_used_among_several() -> None:
    """Only a step without 'routine' needs a file with one routine."""
    one = "subroutine {}(a, n)\ninteger :: n, i, j\nreal :: a(n, n)\n"
    loops = "do i = 1, n\ndo j = 1, n\na(j, i) = 1\nend do\nend do\nend subroutine\n"
    bench = file_bench("".join(one.format(name) + loops for name in ("first", "second")))
    apply_file_steps(bench, read_file_steps("kernel-swap{routine=second loop=1}"))
    assert printed(bench).count("do j = 1, n\n") == 2
    assert [
        routine for routine in bench.routines if bench.code(routine).body[0].variable.key == "j"
    ] == ["second"]
    with pytest.raises(CompileError, match="needs 'routine'"):
        apply_file_steps(bench, read_file_steps("kernel-swap{loop=1}"))


@pytest.mark.parametrize(
    "step",
    ["openmp-do{loop=loop1 collapse=0}", "openmp-do{loop=loop1 collapse=-1}", "auto{work=-5}"],
)
def test_numbers_below_the_least_value_are_refused(step: str) -> None:
    """The message has the least value."""
    with pytest.raises(CompileError, match="at least"):
        read_file_steps(step)


def test_promises_are_proposed_for_loops_beside_directives() -> None:
    """The directives of other loops do not change the numbers of the statements."""
    bench = file_bench(TWO_LOOPS.replace("a(i,j) = t", "call other(a(i,j)); a(i,j) = t"))
    share(bench, "loop3")
    assert bench.cures("step", "loop1")[0] == Fact(FactKind.PURE, "other", "step")


COMPONENTS = """subroutine work(n, other)
  use types_mod, only: grid_type, state
  implicit none
  integer, intent(in) :: n
  type(grid_type), intent(inout) :: other
  real :: b(n)
  integer :: i
  do i = 1, n
    b(i) = state%depth(i) + other%height(i, 1)
  end do
  do i = 1, n
    b(i) = b(i) + state%sum(i)
  end do
  b(:) = state%sum(:)
end subroutine work
"""


def test_components_of_unknown_types_may_be_functions() -> None:
    """A promise makes them data; so does a range in brackets anywhere in the routine."""
    plain = file_bench(COMPONENTS)
    assert not plain.verdict("work", "loop1").is_independent
    assert plain.verdict("work", "loop2").is_independent
    fact = Fact(FactKind.DATA_COMPONENTS)
    assert fact in plain.cures("work", "loop1")
    promised = file_bench(COMPONENTS, (fact,))
    assert promised.verdict("work", "loop1").assumptions == (fact,)
    assert promised.verdict("work", "loop2").assumptions == ()


def test_functions_of_known_types_are_no_data() -> None:
    """The promise is about types whose definitions are not at hand."""
    text = """module known_mod
  implicit none
  type :: grid_type
    integer :: calls
  contains
    procedure :: height
  end type
contains
  subroutine work(n, other)
    integer, intent(in) :: n
    class(grid_type), intent(inout) :: other
    real :: b(n)
    integer :: i
    do i = 1, n
      b(i) = other%height(i)
    end do
  end subroutine work
  real function height(self, i)
    class(grid_type), intent(inout) :: self
    integer, intent(in) :: i
    self%calls = self%calls + 1
    height = self%calls
  end function height
end module known_mod
"""
    bench = file_bench(text, (Fact(FactKind.DATA_COMPONENTS),))
    assert not bench.verdict("work", "loop1").is_independent


def test_results_of_steps_are_cached_until_a_promise_changes() -> None:
    """The last results are those of the same step on the same routines and with the same facts."""
    bench = file_bench(TWO_LOOPS.replace("a(i,j) = t", "a(i,1) = t"))
    step = AddDirective("step", "loop1")
    assert bench.check(step)
    bench.assume(Fact(FactKind.IGNORED, "a", "step", "loop1"))
    assert not bench.check(step)
    other = AddDirective("step", "loop3")
    assert not bench.check(other)
    bench.apply(step)
    bench.apply(other)
    assert printed(bench).count("!$omp parallel do") == 2
    bench.undo()
    assert printed(bench).count("!$omp parallel do") == 1


def test_promises_that_no_proof_needed_are_listed() -> None:
    """Those about an independent loop, or about a procedure that is known to be pure."""
    text = TWO_LOOPS.replace("t    = b(i,j) ", "t    = known(b(i,j))").replace(
        "end module two",
        "  pure real function known(x)\n    real, intent(in) :: x\n    known = x\n"
        "  end function known\nend module two",
    )
    facts = (
        Fact(FactKind.IGNORED, "a", "step", "loop1"),
        Fact(FactKind.PRIVATE, "t", "step", "loop1"),
        Fact(FactKind.IGNORED, "b", "step", "loop3"),
        Fact(FactKind.PURE, "known", "step"),
        Fact(FactKind.PURE, "elsewhere", "step"),
    )
    bench = file_bench(text, facts)
    verdict = bench.verdict("step", "loop1")
    assert verdict.assumptions == ()
    assert verdict.unneeded == (*facts[:2], facts[3])
    assert bench.verdict("step", "loop3").unneeded == (facts[2],)
    needed = file_bench(TWO_LOOPS.replace("a(i,j) = t", "a(i,1) = t"), facts[:2])
    verdict = needed.verdict("step", "loop1")
    assert (verdict.assumptions, verdict.unneeded) == (facts[:1], facts[1:2])
    carried = file_bench(TWO_LOOPS.replace("a(i,j) = t", "a(i,1) = t"), facts[1:2])
    assert carried.verdict("step", "loop1").unneeded == ()


PROMISED = """subroutine work(a, b, k, n)
  integer, intent(in) :: n, k(n)
  real, intent(inout) :: a(n), b(n)
  integer :: i
  do i = 1, n
    a(k(i)) = b(i)
  end do
  do i = 1, n
    a(k(i)) = b(i)
  end do
end subroutine work
"""


def test_a_promise_ends_with_a_change_of_the_statements() -> None:
    """Directives and remarks change nothing; a promise for the new statements holds again."""
    fact = Fact(FactKind.INDEPENDENT, "", "work", "loop1")
    bench = file_bench(PROMISED, (fact,))
    share(bench)
    assert bench.verdict("work", "loop1").assumptions == (fact,)
    before = bench.code("work").body
    block = next(one for one in before if isinstance(one, un.DirectiveBlock))
    loop = block.body[0]
    assert isinstance(loop, un.Do)
    longer = replace(loop, body=(*loop.body, *loop.body))
    remarked = replace(loop, body=(un.Comment("a remark"), *loop.body))

    def edited(new: un.Do) -> tuple[un.Line, ...]:
        return tuple(replace(one, body=(new,)) if one is block else one for one in before)

    with pytest.raises(CompileError):
        bench.edit("work", before, edited(longer))
    bench.edit("work", before, edited(remarked))
    assert bench.verdict("work", "loop1").is_independent
    bench.undo()
    bench.undo()
    bench.edit("work", bench.code("work").body, (longer,))
    assert not bench.verdict("work", "loop1").is_independent
    bench.assume(fact)
    assert bench.verdict("work", "loop1").is_independent


def test_no_loop_inherits_a_promise_with_a_uid() -> None:
    """Another loop with the same statements is one of which the author said nothing."""
    bench = file_bench(PROMISED, (Fact(FactKind.INDEPENDENT, "", "work", "loop1"),))
    first, second = bench.loops("work")
    assert not bench.verdict("work", "loop2").is_independent
    bench.edit("work", bench.code("work").body, (replace(second, uid=first.uid),))
    assert [loop.uid for loop in bench.loops("work")] == ["loop1"]
    assert not bench.verdict("work", "loop1").is_independent


def test_the_hint_of_a_clause_names_a_directive_that_has_it() -> None:
    """`simd` has no `firstprivate`; smaller numbers do not help."""
    body = "do i = 1, n\n t = a(i)\n a(i) = t + 1\nend do\na(1) = t"
    bench = subroutine_bench(body, "real :: a(n), t\n    integer :: i")
    with pytest.raises(CompileError, match="firstprivate") as caught:
        share(bench, "loop1", Directive.OMP_SIMD)
    assert "'openmp-parallel-do'" in caught.value.problems[0].hint
    with pytest.raises(CompileError, match="a nest of 1") as caught:
        share(bench, "loop1", Directive.OMP_PARALLEL_DO, RegionOptions(collapse=2))
    assert caught.value.problems[0].hint == "Leave out 'collapse'."
