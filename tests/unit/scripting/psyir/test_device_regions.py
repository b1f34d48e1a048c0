"""Regions of files that run on a device: accepted ones give equal bits, unsafe ones are refused.

gfortran runs the regions on the host, where a scalar without a clause is a copy as on a device.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.directives import (
    ACCDirective,
    Directive,
    OMPLoopDirective,
    OMPTargetDirective,
    OMPTeamsLoopDirective,
)
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

TARGET = TRANSFORMATIONS["OMPTargetTrans"]
OMP_LOOP = TRANSFORMATIONS["OMPLoopTrans"]
ACC_LOOP = TRANSFORMATIONS["ACCLoopTrans"]
ACC_PARALLEL = TRANSFORMATIONS["ACCParallelTrans"]
ACC_KERNELS = TRANSFORMATIONS["ACCKernelsTrans"]

BODY = """\
do j = 1, m
  do i = 1, n
    t = a(i, j) * 2
    if (t > 1) t = t - 1
    a(i, j) = t + j
  end do
end do
do i = 1, n
  b(i) = b(i) + a(i, 1)
end do
count = 0
least = 5
do i = 1, n
  if (b(i) > 2) count = count + 1
  least = min(least, b(i))
end do
b(2) = count + least
do j = 1, m
  do k = 1, 3
    w(k) = a(k, j) + k
  end do
  a(4, j) = w(1) + w(3)
end do
if (mode == 1) b(3) = j
"""


def program_of(body: str, declared: str = "") -> str:
    """Return the text of a module with one subroutine, for the program of the tests."""
    return f"""\
module columns_mod
  implicit none
  real, save :: kept
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t, least, w(3)
    integer :: i, j, k, count
    {declared}
{indent(body, "    ")}  end subroutine advance
end module columns_mod
"""


def outermost(tree: FileContainer) -> list[Loop]:
    """Return the outermost loops of a file."""
    return tree.walk(Loop, stop_type=Loop)


def offloaded(loop: Loop, word: str, options: dict[str, object] | None = None) -> None:
    """Apply directives to a loop and the region around it, as NEMO's script does."""
    given = {"collapse": True, "enable_reductions": True, **(options or {})}
    if word == "kernels":
        ACC_KERNELS().apply(loop)
        return
    region = ACC_PARALLEL(default_present=False) if word == "acc" else TARGET()
    shared = ACC_LOOP()
    if word != "acc":
        shared = OMP_LOOP(omp_schedule="none", omp_directive=word)
    region.validate(loop)
    shared.apply(loop, given)
    region.apply(loop.parent.parent)


@pytest.mark.parametrize(
    ("word", "directive"),
    [
        ("teamsloop", "!$omp teams loop"),
        ("teamsdistributeparalleldo", "!$omp teams distribute parallel do"),
        ("loop", "!$omp loop"),
        ("acc", "!$acc loop"),
        ("kernels", "!$acc kernels"),
    ],
)
def test_each_loop_on_a_device_gives_equal_bits(word: str, directive: str, tmp_path: Path) -> None:
    """Private scalars and arrays, collapsed nests, and reductions that are read after the loop."""
    text = program_of(BODY.replace("b(3) = j", "b(3) = 7"))
    tree = tree_on_bench(text)
    for loop in outermost(tree):
        offloaded(loop, word)
    made = finished(tree)
    lines = [line for line in made.splitlines(keepends=True) if "!$" not in line]
    assert "".join(lines) == text
    assert made.count(directive) == 4
    flags = ("-fopenmp",) if "omp" in made else ("-fopenacc",)
    before = output_of(text, tmp_path / "before", 1, flags)
    for threads in (1, 4):
        assert output_of(made, tmp_path / f"after{threads}", threads, flags) == before


def test_a_target_maps_what_a_loop_reduces() -> None:
    """Without `map` the region would reduce its own copy."""
    tree = tree_on_bench(program_of(BODY.replace("b(3) = j", "b(3) = 7")))
    for loop in outermost(tree):
        offloaded(loop, "teamsloop")
    made = finished(tree)
    assert [line.strip() for line in made.splitlines() if "omp target" in line] == [
        "!$omp target",
        "!$omp target",
        "!$omp target map(tofrom: least, count)",
        "!$omp target",
    ]
    assert "!$omp teams loop default(shared), private(t), collapse(2)" in made
    assert len(tree.walk(OMPTargetDirective)) == len(tree.walk(OMPTeamsLoopDirective)) == 4


@pytest.mark.parametrize(("word", "refused"), [
    ("teamsloop", True), ("loop", True), ("acc", True), ("teamsdistributeparalleldo", False),
])  # fmt: skip
def test_an_array_is_reduced_only_where_compilers_can_do_it(
    word: str, refused: bool, tmp_path: Path
) -> None:
    """With 'loop' gfortran 12 loses the sums of an array with variable extents, or rejects it."""
    text = program_of(
        "c = 1\ndo i = 1, 30\n c(mod(i, 3) + 1) = c(mod(i, 3) + 1) + i\nend do\nb = b + c\n",
        "integer :: c(n)",
    )
    tree = tree_on_bench(text)
    if refused:
        with pytest.raises(TransformationError, match="reduction of the array 'c'"):
            offloaded(outermost(tree)[0], word)
        assert finished(tree) == text
        return
    offloaded(outermost(tree)[0], word)
    made = finished(tree)
    assert "reduction(+:c)" in made
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(made, tmp_path / "after", 4) == before


def test_the_counter_that_is_read_later_keeps_its_value() -> None:
    """The counter of a loop on a device is a copy, so a loop before a read of it stays."""
    tree = tree_on_bench(program_of(BODY))
    with pytest.raises(TransformationError, match="'j'"):
        offloaded(outermost(tree)[3], "teamsloop")


TRAPS = {
    "last value": ("do i = 1, n\n t = b(i)\n b(i) = t + 1\nend do\nb(1) = t\n", ""),
    "carried": ("do i = 2, n\n b(i) = b(i - 1) + 1\nend do\n", ""),
    "scalar": ("do i = 1, n\n b(i) = t\n t = b(i) + i\nend do\n", ""),
    "saved": ("do i = 1, n\n kept = b(i)\n b(i) = kept + 1\nend do\n", ""),
    "call": ("do i = 1, n\n b(i) = twice(b(i))\nend do\n", "real, external :: twice"),
    "output": ("do i = 1, n\n print *, b(i)\nend do\n", ""),
    "allocation": (
        "do i = 1, n\n allocate (p(3))\n p = b(i)\n b(i) = p(1)\n deallocate (p)\nend do\n",
        "real, allocatable :: p(:)",
    ),
    "leaving": ("do i = 1, n\n if (b(i) > 3) exit\n b(i) = 1\nend do\n", ""),
    "pointers": (
        "p => c(2:)\ndo i = 1, 58\n c(i) = p(i)\nend do\n",
        "real, target :: c(60); real, pointer :: p(:)",
    ),
}


@pytest.mark.parametrize("word", ["teamsloop", "teamsdistributeparalleldo", "loop", "acc"])
@pytest.mark.parametrize("trap", TRAPS)
def test_an_unsafe_loop_is_refused(trap: str, word: str) -> None:
    text = program_of(*TRAPS[trap])
    tree = tree_on_bench(text)
    with pytest.raises(TransformationError):
        offloaded(outermost(tree)[0], word)
    assert finished(tree) == text


@pytest.mark.parametrize("word", ["teamsloop", "acc", "kernels"])
def test_an_array_of_assumed_size_has_no_copy(word: str) -> None:
    """No compiler knows how much of it a region needs."""
    text = program_of("do i = 1, n\n b(i) = 1\nend do\n").replace("b(n)", "b(*)")
    tree = tree_on_bench(text)
    with pytest.raises(TransformationError, match="assumed size"):
        offloaded(outermost(tree)[0], word)


def test_nothing_else_is_in_the_target_of_teams() -> None:
    """OpenMP starts teams only at the head of a target region."""
    tree = tree_on_bench(program_of(BODY))
    first, second = outermost(tree)[:2]
    for loop in (first, second):
        OMP_LOOP(omp_schedule="none", omp_directive="teamsloop").apply(loop)
    with pytest.raises(TransformationError, match="must be all"):
        TARGET().apply([first.parent.parent, second.parent.parent])


def test_loops_of_one_target_run_in_order(tmp_path: Path) -> None:
    """Without teams one thread of the device runs the region, and the second loop reads `a`."""
    text = program_of(BODY.replace("b(3) = j", "b(3) = 7"))
    tree = tree_on_bench(text)
    first, second = outermost(tree)[:2]
    for loop in (first, second):
        OMP_LOOP(omp_schedule="none", omp_directive="loop").apply(loop)
    TARGET().apply([first.parent.parent, second.parent.parent])
    made = finished(tree)
    assert made.count("!$omp target") == 1
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(made, tmp_path / "after", 4) == before


def test_loop_shares_the_threads_of_a_region(tmp_path: Path) -> None:
    text = program_of(BODY.replace("b(3) = j", "b(3) = 7"))
    tree = tree_on_bench(text)
    first, second = outermost(tree)[:2]
    for loop in (first, second):
        OMP_LOOP(omp_schedule="none", omp_directive="loop").apply(loop)
    TRANSFORMATIONS["OMPParallelTrans"]().apply([first.parent.parent, second.parent.parent])
    made = finished(tree)
    assert len(tree.walk(OMPLoopDirective)) == 2
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(made, tmp_path / "after", 4) == before


def test_a_loop_without_a_region_is_left_out() -> None:
    """`loop` outside of target and parallel, and teams outside of target, are not OpenMP."""
    for word in ("loop", "teamsloop"):
        tree = tree_on_bench(program_of(BODY))
        OMP_LOOP(omp_schedule="none", omp_directive=word).apply(outermost(tree)[0])
        assert finished(tree) == program_of(BODY)


@pytest.mark.parametrize(
    "second",
    [
        "do i = 1, n\n b(i) = a(n + 1 - i, 1)\nend do\n",
        "do i = 1, n\n a(i, 2) = b(i)\nend do\n",
    ],
)
def test_gangs_do_not_wait_between_loops_of_a_region(second: str) -> None:
    """One region around two loops needs that they are independent, in either order of steps."""
    body = "do i = 1, n\n a(i, 1) = i\nend do\n" + second
    for region_first in (True, False):
        tree = tree_on_bench(program_of(body))
        loops = outermost(tree)
        if region_first:
            ACC_PARALLEL().apply(loops)
            for loop in loops:
                ACC_LOOP().apply(loop)
            assert "!$acc parallel" not in finished(tree)
            continue
        for loop in loops:
            ACC_LOOP().apply(loop)
        with pytest.raises(TransformationError, match="'a'"):
            ACC_PARALLEL().apply([loop.parent.parent for loop in loops])


def test_independent_loops_share_a_region_of_gangs(tmp_path: Path) -> None:
    """Private scalars of both loops have one name."""
    body = (
        "do i = 1, n\n t = i\n a(i, 1) = t\nend do\ndo i = 1, n\n t = b(i)\n b(i) = t + 1\nend do\n"
    )
    text = program_of(body)
    tree = tree_on_bench(text)
    loops = outermost(tree)
    for loop in loops:
        ACC_LOOP().apply(loop)
    ACC_PARALLEL(default_present=False).apply([loop.parent.parent for loop in loops])
    made = finished(tree)
    assert made.count("!$acc parallel") == 1
    assert len(tree.walk(ACCDirective)) == 3
    before = output_of(text, tmp_path / "before", 1, ("-fopenacc",))
    assert output_of(made, tmp_path / "after", 1, ("-fopenacc",)) == before


def test_all_gangs_would_run_a_sequential_loop() -> None:
    """They would all add to the same elements, so it is only allowed inside a shared loop."""
    tree = tree_on_bench(program_of("do i = 1, n\n b(i) = b(i) + 1\nend do\n"))
    ACC_LOOP().apply(outermost(tree)[0], {"sequential": True})
    with pytest.raises(TransformationError, match="All gangs"):
        ACC_PARALLEL().apply(tree.walk(Directive)[0])


def test_clauses_of_a_target_follow_later_edits() -> None:
    """A reduction that an edit removes is not mapped any more."""
    body = "do i = 1, n\n b(i) = 1\n k = k + 1\nend do\nb(1) = k\n"
    tree = tree_on_bench(program_of("k = 0\n" + body))
    loop = outermost(tree)[0]
    offloaded(loop, "teamsloop")
    assert "map(tofrom: k)" in finished(tree)
    loop.loop_body[1].detach()
    made = finished(tree)
    assert "map" not in made
    assert "reduction" not in made


def test_routines_are_not_confused() -> None:
    """A region belongs to the routine of its loop."""
    tree = tree_on_bench(program_of(BODY))
    routine = tree.walk(Routine)[0]
    offloaded(outermost(tree)[0], "teamsloop")
    assert routine.walk(OMPTargetDirective)


CALLED = """\
module columns_mod
  implicit none
  real, save :: kept
contains
  pure real function twice(x)   ! of one value
    real, intent(in) :: x
    ! nothing else
    twice = 2 * x

  end function twice
  pure real function shifted(x)
    real, intent(in) :: x
    shifted = x + kept
  end function shifted
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: i
    do i = 1, n
      b(i) = twice(b(i))
    end do
    a(1, 1) = mode
  end subroutine advance
end module columns_mod
"""
FAMILIES = {
    "teamsloop": ("OMPDeclareTargetTrans", "!$omp declare target", "-fopenmp"),
    "acc": ("ACCRoutineTrans", "!$acc routine seq", "-fopenacc"),
}


@pytest.mark.parametrize("word", FAMILIES)
def test_a_procedure_for_devices_may_be_called_there(word: str, tmp_path: Path) -> None:
    name, directive, flag = FAMILIES[word]
    tree = tree_on_bench(CALLED)
    loop = outermost(tree)[0]
    with pytest.raises(TransformationError, match="'twice' is not compiled for a device"):
        offloaded(loop, word)
    (other,) = set(FAMILIES) - {word}
    TRANSFORMATIONS[FAMILIES[other][0]]().apply(tree.walk(Routine)[0])
    with pytest.raises(TransformationError, match="'twice' is not compiled for a device"):
        offloaded(loop, word)
    tree = tree_on_bench(CALLED)
    TRANSFORMATIONS[name]().apply(tree.walk(Routine)[0])
    offloaded(outermost(tree)[0], word)
    made = finished(tree)
    assert [line for line in made.splitlines() if "!$" not in line] == CALLED.splitlines()
    head, _, rest = made.partition(directive)
    assert head.rstrip().endswith("real, intent(in) :: x")
    assert rest.lstrip().startswith("! nothing else")
    before = output_of(CALLED, tmp_path / "before", 1, (flag,))
    assert output_of(made, tmp_path / "after", 4, (flag,)) == before


@pytest.mark.parametrize("word", FAMILIES)
def test_what_a_procedure_for_devices_must_not_have(word: str) -> None:
    """A module variable, a second directive, regions, and later edits that add such."""
    mark = TRANSFORMATIONS[FAMILIES[word][0]]()
    tree = tree_on_bench(CALLED)
    twice, shifted, advance = tree.walk(Routine)
    with pytest.raises(TransformationError, match="'kept'"):
        mark.apply(shifted)
    with pytest.raises(TransformationError, match="a routine"):
        mark.apply(twice.children[-1])
    mark.apply(twice)
    mark.apply(twice)
    assert finished(tree).count(FAMILIES[word][1]) == 1
    with pytest.raises(TransformationError, match="'twice'"):
        mark.apply(advance)
    mark.apply(advance, force=True)
    with pytest.raises(TransformationError, match="Devices call 'advance'"):
        offloaded(outermost(tree)[0], word)
    twice.children[-1].replace_with(shifted.children[-1].copy())
    with pytest.raises(TransformationError, match="'kept'"):
        finished(tree)


def test_a_routine_with_regions_is_not_for_devices() -> None:
    tree = tree_on_bench(program_of("do i = 1, n\n b(i) = b(i) + 1\nend do\n"))
    offloaded(outermost(tree)[0], "teamsloop")
    with pytest.raises(TransformationError, match="regions"):
        TRANSFORMATIONS["OMPDeclareTargetTrans"]().apply(tree.walk(Routine)[0])


def test_copies_that_nothing_reads_later_are_not_mapped(tmp_path: Path) -> None:
    """The guard is the same in all iterations: each writes the scalar first, or none does."""
    body = "t = 3\ndo i = 1, n\n if (mode == 1) t = b(i)\n b(i) = t + 1\nend do\n"
    text = program_of(body)
    tree = tree_on_bench(text)
    offloaded(outermost(tree)[0], "teamsloop")
    made = finished(tree)
    assert "firstprivate(t)" in made
    assert "map(" not in made
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(made, tmp_path / "after", 4) == before


SERIAL = """\
t = 2
do i = 1, n
  t = t + b(i)
  b(i) = t
end do
w = 3
if (t > 1) w(2) = t
b(3) = w(2) + w(1) + t
"""


def test_one_thread_of_a_device_runs_a_region_without_directives(tmp_path: Path) -> None:
    """The region changes scalars, which need `map`; gfortran copies them otherwise."""
    text = program_of(SERIAL)
    tree = tree_on_bench(text)
    TARGET().apply(tree.walk(Routine)[0].children[1:4])
    made = finished(tree)
    assert "!$omp target map(tofrom: t)\n    do i = 1, n" in made
    before = output_of(text, tmp_path / "before", 1)
    assert output_of(made, tmp_path / "after", 4) == before


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("b(1) = i\n", "'i' counts a loop in the region"),
        ("", "A device cannot run 'print"),
        ("", "A statement leaves the region"),
    ],
)
def test_a_region_that_a_device_cannot_run_is_left_out(last: str, reason: str) -> None:
    inside = {"A dev": "print *, t\n", "A sta": "if (t > 3) return\n"}.get(reason[:5], "")
    tree = tree_on_bench(text := program_of(SERIAL.replace("w = 3\n", f"{inside}w = 3\n") + last))
    TARGET().apply(tree.walk(Routine)[0].children[1 : 4 + bool(inside)])
    assert finished(tree) == text
    assert tree.bench is not None
    assert any(reason in one.message for one in tree.bench.left_out)


def test_an_optional_dummy_is_the_reason() -> None:
    body = "do i = 1, n\n y = b(i)\n b(i) = y + 1\nend do\n"
    text = program_of(body, "real, optional :: y").replace("b, mode)", "b, mode, y)")
    with pytest.raises(TransformationError, match="'y' may be absent, so threads cannot"):
        TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(tree_on_bench(text).walk(Loop)[0])
