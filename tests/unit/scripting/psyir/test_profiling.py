"""Regions of a profiler in files, and classes of scripts that look for the longest regions."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.calls import Call
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import Assignment, CodeBlock
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

PROFILER = """\
module profile_psy_data_mod
  implicit none
  type profile_PSyDataType
    integer :: depth = 0
  contains
    procedure :: PreStart, PostEnd
  end type
  integer :: open = 0
contains
  subroutine PreStart(this, module_name, region_name, before, after)
    class(profile_PSyDataType), intent(inout) :: this
    character(*), intent(in) :: module_name, region_name
    integer, intent(in) :: before, after
    this%depth = this%depth + 1 + before + after
    open = open + 1
    print '(a,1x,a)', module_name, region_name
  end subroutine
  subroutine PostEnd(this)
    class(profile_PSyDataType), intent(inout) :: this
    this%depth = this%depth - 1
    open = open - 1
    if (this%depth /= 0) stop 9
  end subroutine
end module
"""
HEAD = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: i, profile_psy_data
    profile_psy_data = 1
"""
TAIL = """\
  end subroutine advance
end module columns_mod
"""
BODY = """\
    do i = 1, n
      b(i) = b(i) + i
    end do
    if (mode == 1) then
      a(1, 1) = 4
      if (b(1) > 1000) return
      do i = 1, m
        if (i > 7) exit
        a(:, i) = i
      end do
    end if
    b(2) = 3
"""


def test_statements_are_measured(tmp_path: Path) -> None:
    """The names of the file are free for the author; each region has a number of its own."""
    tree = tree_on_bench(HEAD + BODY + TAIL)
    routine = tree.routines[0]
    TRANSFORMATIONS["ProfileTrans"]().apply(routine.walk(Loop)[0])
    TRANSFORMATIONS["ProfileTrans"]().apply(routine.walk(Loop)[1])
    options = {"region_name": ("here", "it's")}
    TRANSFORMATIONS["ProfileTrans"]().apply(routine.children[:3], options=options)
    text = finished(tree)
    done = output_of(PROFILER + text, tmp_path / "after", 1).splitlines()
    names = ["here it's", "columns_mod advance-r0", "columns_mod advance-r1"]
    assert done[:3] == names
    before = output_of(HEAD + BODY + TAIL, tmp_path / "before", 1)
    assert done[3:] == before.splitlines()


REFUSED = {
    "a return in it": (BODY, lambda routine: routine.children[2:4]),
    "an exit out of it": (BODY, lambda routine: routine.walk(Loop)[1].loop_body.children),
    "no neighbours": (BODY, lambda routine: [routine.children[1], routine.children[3]]),
    "under a mask": (
        "where (b > 0)\n b = 1 / b\nelsewhere\n b = 2\nend where\n",
        lambda routine: routine.walk(Assignment)[1:2],
    ),
    "by many threads": (
        "!$omp parallel\n b(1) = 3\n!$omp end parallel\n",
        lambda routine: routine.walk(Assignment)[1:2],
    ),
    "a jump": ("goto 10\nb(1) = 3\n10 continue\n", lambda routine: routine.walk(Assignment)[1:2]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_region_that_may_not_end_is_refused(name: str) -> None:
    body, chosen = REFUSED[name]
    tree = tree_on_bench(HEAD + body + TAIL)
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["ProfileTrans"]().apply(chosen(tree.routines[0]))
    assert finished(tree) == HEAD + body + TAIL


def test_nothing_is_measured_in_pure_procedures_and_shared_loops() -> None:
    tree = tree_on_bench(HEAD.replace("  subroutine", "  pure subroutine") + BODY + TAIL)
    with pytest.raises(TransformationError, match="pure"):
        TRANSFORMATIONS["ProfileTrans"]().apply(tree.walk(Loop)[0])
    tree = tree_on_bench(HEAD + BODY + TAIL)
    loop = tree.walk(Loop)[0]
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loop)
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["ProfileTrans"]().apply(loop.loop_body.children)


def test_a_class_of_a_script_measures_the_longest_runs(tmp_path: Path) -> None:
    """A run that the transformation refuses is left out, with a warning."""
    base = TRANSFORMATIONS["MaximalRegionTrans"]

    class Longest(base):  # type: ignore[misc, valid-type]
        _allowed_contiguous_statements = (Assignment, Call, CodeBlock)
        _transformation = TRANSFORMATIONS["ProfileTrans"]

        def _satisfies_minimum_region_rules(self, region: list[object]) -> bool:
            return len(region) > 1 and super()._satisfies_minimum_region_rules(region)

    tree = tree_on_bench(HEAD + BODY + TAIL)
    routine = tree.routines[0]
    Longest().validate(routine)
    Longest().apply(routine.children)
    assert tree.bench is not None
    text = finished(tree)
    assert text.count("%PreStart(") == 1
    assert output_of(PROFILER + text, tmp_path / "after", 1)
    with pytest.raises(TransformationError, match="_transformation"):
        base().apply(routine)
