"""Transformations of PSyclone on files without an API: what they make runs and gives equal bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.scripting.errors import GenerationError, TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.data import Literal
from psyclone_storage.scripting.psyir.datatypes import INTEGER_TYPE, ScalarType
from psyclone_storage.scripting.psyir.directives import (
    OMPDoDirective,
    OMPParallelDirective,
    OMPParallelDoDirective,
)
from psyclone_storage.scripting.psyir.expressions import Reference
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.session import finish
from psyclone_storage.scripting.psyir.statements import Assignment, UnknownDirective
from psyclone_storage.scripting.psyir.symbols import DataSymbol
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.file_benches import file_bench
from support.scripting_programs import finished, output_of, tree_on_bench

PROGRAM = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t
    integer :: i, j, k

    ! the nest
    do j = 1, m
      do i = 1, n
        t = a(i, j) * 2   ! twice
        a(i, j) = t + j
      end do
    end do
    do i = 1, n
      b(i) = b(i) + a(i, 1)
    end do
    do i = 2, n
      b(i) = b(i - 1) + 1
    end do
    do i = 1, n
      b(1) = b(1) + a(i, m)
    end do
    select case (mode)
    case (1)
      do i = 1, n
        b(i) = b(i) * 3
      end do
    case default
      b(1) = 0
    end select
    do i = 1, n
      call helper(b(i))
    end do
  end subroutine advance

  subroutine helper(x)
    real, intent(inout) :: x
    integer, save :: calls = 0
    calls = calls + 1
    x = x + 0.25
  end subroutine helper
end module columns_mod
"""
PARALLEL_DO = TRANSFORMATIONS["OMPParallelLoopTrans"]
DO = TRANSFORMATIONS["OMPLoopTrans"]
PARALLEL = TRANSFORMATIONS["OMPParallelTrans"]


def test_each_loop_is_accepted_or_refused_and_the_bits_stay(tmp_path: Path) -> None:
    tree = tree_on_bench(PROGRAM)
    accepted = []
    for loop in tree.walk(Loop):
        if loop.ancestor(OMPParallelDoDirective):
            continue
        try:
            PARALLEL_DO(omp_schedule="static").apply(loop)
        except TransformationError:
            accepted.append(False)
        else:
            accepted.append(True)
    assert accepted == [True, True, False, False, True, False]
    text = finished(tree)
    assert text.count("!$omp parallel do") == 3
    assert "select case (mode)\n    case (1)\n" in text
    before = output_of(PROGRAM, tmp_path / "before", 1)
    for threads in (1, 2, 4):
        assert output_of(text, tmp_path / f"after{threads}", threads) == before


def test_only_directives_are_added() -> None:
    tree = tree_on_bench(PROGRAM)
    PARALLEL_DO(omp_schedule="dynamic,4").apply(tree.walk(Loop)[0], {"collapse": True})
    text = finished(tree)
    lines = [line for line in text.splitlines(keepends=True) if "!$omp" not in line]
    assert "".join(lines) == PROGRAM
    assert "collapse(2)" in text
    assert "schedule(dynamic,4)" in text
    assert "private(t)" in text


def test_a_region_holds_loops_that_share_its_threads(tmp_path: Path) -> None:
    tree = tree_on_bench(PROGRAM)
    routine = tree.walk(Routine)[0]
    first, second = routine.walk(Loop, stop_type=Loop)[:2]
    PARALLEL().apply([first, second])
    (region,) = routine.walk(OMPParallelDirective)
    assert [node is kept for node, kept in zip(region.dir_body, (first, second), strict=True)] == [
        True, True,
    ]  # fmt: skip
    assert routine.children[0] is region
    for loop in (first, second):
        DO(omp_schedule="static").apply(loop)
    assert [type(node) for node in region.dir_body] == [OMPDoDirective, OMPDoDirective]
    assert first.ancestor(OMPDoDirective) is region.dir_body[0]
    text = finished(tree)
    assert text.count("!$omp do") == 2
    before = output_of(PROGRAM, tmp_path / "before", 1)
    assert output_of(text, tmp_path / "after", 4) == before


def test_a_region_that_is_not_finished_is_left_out(tmp_path: Path) -> None:
    tree = tree_on_bench(PROGRAM)
    routine = tree.walk(Routine)[0]
    loops = routine.walk(Loop, stop_type=Loop)
    PARALLEL().apply(loops[:3])
    DO(omp_schedule="static").apply(loops[0])
    text = finished(tree)
    assert "!$omp parallel do" in text
    assert "!$omp parallel default" not in text
    assert output_of(text, tmp_path / "after", 4) == output_of(PROGRAM, tmp_path / "before", 1)


def test_promises_become_facts_with_their_lines() -> None:
    tree = tree_on_bench(PROGRAM)
    loops = tree.walk(Loop)
    call = loops[-1].loop_body[0]
    call.routine.symbol.is_pure = True
    PARALLEL_DO(omp_schedule="static").apply(loops[-1], ignore_dependencies_for=["b"])
    assert tree.bench is not None
    facts = {str(fact).partition(" (")[0]: fact.place for fact in tree.bench.facts}
    assert set(facts) == {"pure 'helper'", "ignored 'b'"}
    assert all(place.startswith("test_transformations.py:") for place in facts.values())


def test_a_promise_that_did_not_help_is_withdrawn() -> None:
    tree = tree_on_bench(PROGRAM)
    with pytest.raises(TransformationError, match="helper"):
        PARALLEL_DO(omp_schedule="static").apply(
            tree.walk(Loop)[-1], options={"ignore_dependencies_for": ["b"]}
        )
    assert tree.bench is not None
    assert tree.bench.facts == ()


@pytest.mark.parametrize(
    ("name", "keywords", "message"),
    [
        ("OMPParallelLoopTrans", {"colapse": 2}, "no option 'colapse'"),
        ("OMPParallelLoopTrans", {"ignore_dependencies_for": [3]}, "is a list of names"),
        ("ColourTrans", {}, "'ColourTrans' is not supported for files"),
        ("LFRicAsyncHaloExchangeTrans", {}, "is not supported for files"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    name: str, keywords: dict[str, object], message: str
) -> None:
    with pytest.raises(TransformationError, match=message):
        TRANSFORMATIONS[name]().apply(tree_on_bench(PROGRAM).walk(Loop)[0], **keywords)


def test_a_schedule_that_openmp_does_not_have_is_refused() -> None:
    with pytest.raises(TransformationError, match="no schedule 'statik'"):
        PARALLEL_DO(omp_schedule="statik").apply(tree_on_bench(PROGRAM).walk(Loop)[0])


def test_nodes_keep_their_identity_over_edits_and_directives() -> None:
    tree = tree_on_bench(PROGRAM)
    routine = tree.walk(Routine)[0]
    loops = routine.walk(Loop)
    made = Assignment.create(
        Reference(routine.symbol_table.lookup("t")), Literal("0", ScalarType.real_type())
    )
    routine.children.insert(0, made)
    parallel = PARALLEL_DO(omp_schedule="static")
    parallel.apply(loops[0])
    assert routine.children[0] is made
    loops[1].loop_body.children.insert(0, UnknownDirective(" IVDEP", "DIR"))
    parallel.apply(loops[2])
    made.rhs.replace_with(Literal("1", ScalarType.real_type()))
    text = finished(tree)
    assert "t = 1.0" in text
    assert "!DIR$ IVDEP\n        t = a(i, j) * 2   ! twice" in text
    assert [one is other for one, other in zip(routine.walk(Loop), loops, strict=True)] == [
        True
    ] * 7


def test_an_edit_that_makes_a_region_illegal_is_refused() -> None:
    tree = tree_on_bench(PROGRAM)
    routine = tree.walk(Routine)[0]
    loops = routine.walk(Loop)
    PARALLEL_DO(omp_schedule="static").apply(loops[2])
    shifted = loops[2].walk(Assignment)[0].rhs.children[0]
    shifted.indices[0].replace_with(Literal("1", INTEGER_TYPE))
    with pytest.raises(TransformationError, match="The edit makes a region illegal"):
        finish(tree)


def test_new_variables_are_private_to_threads() -> None:
    tree = tree_on_bench(PROGRAM)
    routine = tree.walk(Routine)[0]
    loop = routine.walk(Loop)[2]
    flag = routine.symbol_table.new_symbol("flag", symbol_type=DataSymbol, datatype=INTEGER_TYPE)
    loop.loop_body.children.insert(
        0, Assignment.create(Reference(flag), Literal("1", INTEGER_TYPE))
    )
    PARALLEL_DO(omp_schedule="static").apply(loop)
    text = finished(tree)
    assert "integer :: flag\n" in text
    assert "private(flag)" in text


@pytest.mark.parametrize("option", ["force_private", "ignore_dependencies_for"])
def test_a_name_that_the_file_does_not_have_is_refused(option: str) -> None:
    tree = tree_on_bench(PROGRAM)
    loop = tree.walk(Loop)[0]
    with pytest.raises(TransformationError, match="no variable 'modee'") as caught:
        PARALLEL_DO(omp_schedule="static").apply(loop, {option: ["modee"]})
    assert "mode" in caught.value.problems[0].hint
    PARALLEL_DO(omp_schedule="static").validate(loop, ignore_dependencies_for=["x"])


@pytest.mark.parametrize("wanted", [0, -3, "x", 1.5])
def test_collapse_is_a_positive_integer_or_true(wanted: object) -> None:
    loop = tree_on_bench(PROGRAM).walk(Loop)[0]
    with pytest.raises(TransformationError, match="positive integer or True"):
        PARALLEL_DO(omp_schedule="static").apply(loop, collapse=wanted)


def test_the_hint_of_an_unknown_option_has_the_options() -> None:
    loop = tree_on_bench(PROGRAM).walk(Loop)[0]
    with pytest.raises(TransformationError) as caught:
        PARALLEL_DO(omp_schedule="static").apply(loop, zzz=1)
    assert "collapse" in caught.value.problems[0].hint
    assert "ignore_dependencies_for" in caught.value.problems[0].hint


def test_a_file_is_named_in_messages() -> None:
    tree = tree_on_bench(PROGRAM)
    with pytest.raises(TransformationError, match=r"'program\.f90' is a file"):
        PARALLEL_DO(omp_schedule="static").apply(tree)


def test_nodes_that_no_program_has_are_refused() -> None:
    tree = tree_on_bench(PROGRAM)
    one = Literal("1.0", ScalarType(ScalarType.Intrinsic.REAL, ScalarType.Precision.UNDEFINED))
    with pytest.raises(GenerationError, match="'Literal' cannot be child 0"):
        tree.walk(Assignment)[0].lhs.replace_with(one)
    with pytest.raises(GenerationError, match="symbol, not None"):
        tree.walk(Loop)[0].variable = None
    assert finished(tree) == PROGRAM


@pytest.mark.parametrize(
    ("second", "nowaits"), [("b(i) = b(i) + i", 2), ("b(i) = a(n - i + 1, 1)", 0)]
)
def test_nowait_compiles_and_changes_no_value(second: str, nowaits: int, tmp_path: Path) -> None:
    """Before OpenMP 5.2 the clause belongs to the end directive; a race drops it."""
    program = f"""\
module columns_mod
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: i
    do i = 1, n
      a(i, 1) = a(i, 1) * 2
    end do
    do i = 1, n
      {second}
    end do
  end subroutine advance
end module columns_mod
"""
    tree = tree_on_bench(program)
    for loop in tree.walk(Loop):
        DO(omp_schedule="static").apply(loop, nowait=True)
    PARALLEL().apply(tree.walk(Routine)[0].children[:])
    text = finished(tree)
    assert text.count("!$omp end do nowait") == nowaits
    before = output_of(program, tmp_path / "before", 1)
    for threads in (2, 4):
        assert output_of(text, tmp_path / f"after{threads}", threads) == before


FORCED = """subroutine work(a, b, k, n)
  integer, intent(in) :: n, k(n)
  real, intent(inout) :: a(n), b(n)
  integer :: i
  do i = 1, n
    a(k(i)) = b(i)
  end do
  do i = 1, n
    b(i) = b(max(i - 1, 1)) + 1
  end do
end subroutine work
"""


def forced() -> tuple[Routine, list[Loop]]:
    """Return a routine and its loops, the first of which is promised to be independent."""
    promise = Fact(FactKind.INDEPENDENT, "", "work", "loop1")
    routine = FileContainer.on(file_bench(FORCED, (promise,))).walk(Routine)[0]
    return routine, routine.walk(Loop)


def is_shared(loop: Loop) -> bool:
    """Return whether a loop gets a directive."""
    try:
        PARALLEL_DO().apply(loop)
    except TransformationError:
        return False
    return True


def test_a_promise_does_not_hold_for_statements_that_come_later() -> None:
    """They come from a loop that is fused, from another loop, or from the same one."""
    _, loops = forced()
    assert is_shared(loops[0])
    assert not is_shared(loops[1])
    routine, loops = forced()
    TRANSFORMATIONS["LoopFuseTrans"]().apply(*loops)
    assert not is_shared(routine.walk(Loop)[0])
    _, loops = forced()
    statement = loops[1].loop_body.children[0].detach()
    loops[1].detach()
    loops[0].loop_body.addchild(statement)
    assert not is_shared(loops[0])


def test_a_loop_does_not_take_the_promise_of_one_that_is_gone() -> None:
    """Neither the loop that follows nor a copy of it."""
    routine, loops = forced()
    loops[0].detach()
    routine.addchild(loops[1].copy())
    assert [is_shared(loop) for loop in routine.walk(Loop)] == [False, False]


def test_an_edit_of_a_loop_under_a_forced_directive_is_refused() -> None:
    """The promise was about the statements at that time."""
    tree = tree_on_bench(FORCED)
    loops = tree.walk(Loop)
    PARALLEL_DO().apply(loops[0], force=True)
    loops[0].loop_body.addchild(loops[1].detach().loop_body.children[0].detach())
    with pytest.raises(TransformationError) as error:
        finish(tree)
    assert {problem.code for problem in error.value.problems} == {"T095"}


MASKS = """module masks_mod
  implicit none
  integer, parameter :: wp = kind(1.0d0), low = int(z'0F')
contains
  subroutine masked(n, a, b, c)
    integer, intent(in) :: n, a(n)
    integer, intent(out) :: b(n)
    real(wp), intent(out) :: c(3, n)
    integer :: i, k
    do i = 1, n
      b(i) = iand(a(i), b'0000000011111111') + ior(z"f0", low) + int(O'17')
    end do
    do i = 1, n
      c(:, i) = [real(wp) :: a(i), 2, 3] + [real(kind=wp) :: (k * 0.5, k = 1, 3)]
      c(1, i) = c(1, i) + sum([integer :: 1.9, b(i) * 0.3])
    end do
    do i = 2, n
      c(:, i) = c(:, i) + [real :: c(1, i - 1), 1, 2]
    end do
  end subroutine masked
end module masks_mod
"""
MASKED = """
program main
  use masks_mod
  implicit none
  integer :: b(60), i
  real(wp) :: c(3, 60)
  call masked(60, [(i * 37 - 400, i = 1, 60)], b, c)
  print *, b
  print '(3z18)', c
end program main
"""


def test_bits_and_constructors_with_types_do_not_block_loops(tmp_path: Path) -> None:
    """A typed constructor converts its items, and reads what they read."""
    tree = tree_on_bench(MASKS)
    first, second, third = tree.walk(Loop)
    for loop in (first, second):
        TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loop)
    with pytest.raises(TransformationError, match=r"'c\(1, i - 1\)' is read"):
        TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(third)
    before = output_of(MASKS, tmp_path / "before", main=MASKED)
    assert output_of(finished(tree), tmp_path / "after", 3, main=MASKED) == before
