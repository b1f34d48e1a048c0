"""Inlining of procedures that files call: equal bits, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.calls import Call, IntrinsicCall
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.session import commit
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.file_benches import file_bench
from support.scripting_programs import finished, output_of

TOOLS = """\
module tools_mod
  implicit none
  real, parameter :: ratio = 0.75
  real, private, parameter :: secret = 0.1
  integer :: count = 0
  interface twice
    module procedure twice_real, twice_integer
  end interface
contains
  subroutine scale(x, factor, n)
    integer, intent(in) :: n
    real, intent(inout) :: x(0:n - 1)
    real, intent(in) :: factor
    integer :: i
    do i = 0, n - 1
      x(i) = x(i) * factor + i
    end do
  end subroutine scale
  subroutine ranged(x, low)
    integer, intent(in) :: low
    real, intent(inout) :: x(low:)
    x(low) = x(low) + ratio
    x(low + 1) = low
  end subroutine ranged
  subroutine bounded(x)
    real, intent(inout) :: x(3:)
    x(3) = lbound(x, 1)
  end subroutine bounded
  subroutine early(x, n)
    integer, intent(in) :: n
    real, intent(inout) :: x
    if (n > 3) then
      x = x + 1
      return
    end if
    x = x * ratio
  end subroutine early
  real function shrunk(x)
    real, intent(in) :: x
    real :: t
    t = x * ratio
    if (t < 0.2) then
      shrunk = 0
      return
    end if
    shrunk = t
  end function shrunk
  subroutine swap(x, y)
    real, intent(inout) :: x, y
    real :: t
    t = x
    x = y
    y = t
  end subroutine swap
  subroutine counted(x)
    real, intent(inout) :: x
    count = count + 1
    x = x + count
  end subroutine counted
  subroutine kept(x)
    real, intent(inout) :: x
    integer, save :: calls = 0
    calls = calls + 1
    x = x + calls
  end subroutine kept
  subroutine hidden(x)
    real, intent(inout) :: x
    x = x + secret
  end subroutine hidden
  subroutine perhaps(x, y)
    real, intent(inout) :: x
    real, optional, intent(in) :: y
    if (present(y)) x = x + y
  end subroutine perhaps
  real function twice_real(x)
    real, intent(in) :: x
    twice_real = 2 * x
  end function twice_real
  integer function twice_integer(x)
    integer, intent(in) :: x
    twice_integer = 2 * x
  end function twice_integer
  recursive subroutine deep(x, n)
    integer, intent(in) :: n
    real, intent(inout) :: x
    x = x + n
    if (n > 0) call deep(x, n - 1)
  end subroutine deep
  subroutine nested(x)
    real, intent(inout) :: x
    real :: t
    t = shrunk(x)
    call swap(x, t)
  end subroutine nested
  function spread_out(n) result(y)
    integer, intent(in) :: n
    real, allocatable :: y(:)
    allocate (y(n))
    y = n
  end function spread_out
  elemental subroutine lift(x)
    real, intent(inout) :: x
    x = x + 0.5
  end subroutine lift
  subroutine chosen(x, k)
    real, intent(inout) :: x
    integer, intent(in) :: k
    select case (k)
    case (2)
      return
    end select
    x = k
  end subroutine chosen
  real function bumped(x)
    real, intent(inout) :: x
    x = x + 1
    bumped = x
  end function bumped
end module tools_mod
"""
HEAD = """\
module columns_mod
  use tools_mod, only: scale, ranged, early, grown => shrunk, swap, counted, kept, hidden
  use tools_mod, only: bounded, perhaps, twice, deep, nested, spread_out, lift, bumped, chosen
  implicit none
contains
  subroutine local_mean(x, y)
    real, intent(in) :: x(:)
    real, intent(out) :: y
    y = sum(x) / size(x)
  end subroutine local_mean
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t, ratio, x(n)
    integer :: i, j, k, count
    t = 0.3; ratio = 5; i = 7; k = 2; count = 4; x = b
"""
TAIL = """\
    b = b + t + ratio + i + k + count
    a(:, 1) = a(:, 1) + x
  end subroutine advance
end module columns_mod
"""
RIGHT = {
    "names of the caller": "call scale(b, t, n)\n",
    "a part of an array": "call scale(a(2:5, 3), t + 1, 4)\n",
    "lower bounds": "call ranged(b, k)\n",
    "a shifted section": "call ranged(b(3:), -4)\n",
    "an early return": "call early(t, mode)\ncall early(b(3), n)\n",
    "keywords": "call scale(n=n, factor=ratio, x=b)\n",
    "a renamed function": "t = grown(b(2)) + grown(t) * k\n",
    "a function in a condition":
        "if (grown(t) > 0.1) then\n t = 4\nelse if (k > 2) then\n t = 9\nend if\n",
    "two elements": "k = 3\ncall swap(b(k), b(k + 1))\n",
    "a procedure that calls others": "call nested(b(4))\n",
    "a procedure of this module": "call local_mean(b(::1), t)\n",
    "no iteration": "call scale(b, t, 0)\n",
    "an expression": "call local_mean(b * 2, t)\n",
    "a single line": "if (k > 1) call early(t, k)\n",
    "a generic name": "t = twice(t)\n",
}  # fmt: skip


def _tree(statements: str, folder: Path) -> FileContainer:
    """Return the tree of a file, whose modules are in a folder."""
    (folder / "tools_mod.f90").write_text(TOOLS, encoding="utf-8")
    return FileContainer.on(file_bench(HEAD + statements + TAIL, folders=(folder,)))


def _call(tree: FileContainer) -> Call:
    routine = tree.routines[-1]
    calls = [one for one in routine.walk(Call) if not isinstance(one, IntrinsicCall)]
    return calls[0]


@pytest.mark.parametrize("name", RIGHT)
def test_the_statements_of_a_procedure_replace_its_call(name: str, tmp_path: Path) -> None:
    statements = RIGHT[name]
    tree = _tree(statements, tmp_path)
    TRANSFORMATIONS["InlineTrans"]().apply(_call(tree))
    text = finished(tree)
    assert text != HEAD + statements + TAIL
    before = output_of(TOOLS + HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(TOOLS + text, tmp_path / "after", 1) == before


@pytest.mark.parametrize(("position", "left"), [(0, "t * grown(b(2))"), (1, "grown(t) * t")])
def test_one_of_several_calls_is_inlined(position: int, left: str, tmp_path: Path) -> None:
    statements = "t = grown(t) * grown(b(2))\n"
    tree = _tree(statements, tmp_path)
    calls = [one for one in tree.routines[-1].walk(Call) if not isinstance(one, IntrinsicCall)]
    TRANSFORMATIONS["InlineTrans"]().apply(calls[position])
    text = finished(tree)
    assert f" = {left.replace(' t', ' shrunk').replace('t *', 'shrunk *')}" in text
    before = output_of(TOOLS + HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(TOOLS + text, tmp_path / "after", 1) == before


def test_another_call_of_the_statement_is_no_reason(tmp_path: Path) -> None:
    """The reason is that of the chosen call; a function in an argument may stay, too."""
    statements = "t = bumped(t) + grown(b(2))\ncall swap(t, b(int(grown(t)) + 1))\n"
    tree = _tree(statements, tmp_path)
    calls = {
        one.routine.name: one
        for one in tree.routines[-1].walk(Call)
        if not isinstance(one, IntrinsicCall)
    }
    inline = TRANSFORMATIONS["InlineTrans"]()
    with pytest.raises(TransformationError, match="'bumped' changes its arguments"):
        inline.apply(calls["bumped"])
    inline.apply(calls["grown"])
    text = finished(tree)
    assert "call swap(t, b(int(shrunk" in text
    assert "bumped(t) + grown(b(2))" in text
    before = output_of(TOOLS + HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(TOOLS + text, tmp_path / "after", 1) == before


REFUSED = {
    "bounds of an argument": "call bounded(b)\n",
    "a variable of a module changes": "call counted(t)\n",
    "a variable keeps its value": "call kept(t)\n",
    "a private name": "call hidden(t)\n",
    "an optional argument": "call perhaps(t)\n",
    "an optional argument that is present": "call perhaps(t, ratio)\n",
    "a recursive procedure": "call deep(t, 3)\n",
    "an allocatable result": "b(1:3) = spread_out(3)\n",
    "an elemental procedure for an array": "call lift(b)\n",
    "a function that changes its argument": "t = bumped(t) + bumped(ratio)\n",
    "a function that is perhaps not called": "if (k > 1 .and. grown(t) > 0) t = 3\n",
    "a condition that is computed again": "do while (grown(t) < 1)\n t = t * 2\nend do\n",
    "a later condition under an earlier one":
        "if (k > 1) then\n t = 1\nelse if (grown(t) > 0) then\n t = 3\nend if\n",
    "elements with gaps": "call local_mean(b(1:n:2), t)\n",
    "an unknown procedure": "call elsewhere(t)\n",
    "a directive": "!$omp parallel do private(t)\ndo j = 1, m\n call early(a(1, j), k)\nend do\n",
    "one of an array that a subscript selects": "call scale(b([2, 1, 3]), t, 3)\n",
    "a subscript that the procedure changes": "call swap(t, b(int(t) + 1))\n",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_stays_if_a_value_might_change(name: str, tmp_path: Path) -> None:
    tree = _tree(REFUSED[name], tmp_path)
    call = _call(tree)
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["InlineTrans"]().apply(call)
    assert finished(tree) == HEAD + REFUSED[name] + TAIL


def test_a_loop_with_an_inlined_procedure_gets_threads(tmp_path: Path) -> None:
    """The variables of the procedure are private; the script holds its nodes on."""
    statements = "do j = 1, m\n call early(a(1, j), j)\n t = j\n call swap(a(2, j), t)\nend do\n"
    tree = _tree(statements, tmp_path)
    loop = next(one for one in tree.routines[-1].walk(Loop))
    for call in [one for one in loop.walk(Call) if not isinstance(one, IntrinsicCall)]:
        TRANSFORMATIONS["InlineTrans"]().apply(call)
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(loop)
    text = finished(tree)
    assert "private(t" in text or "t_1" in text
    before = output_of(TOOLS + HEAD + statements + TAIL, tmp_path / "before", 1)
    assert output_of(TOOLS + text, tmp_path / "after", 4) == before


def test_a_procedure_that_a_script_has_changed_is_not_inlined(tmp_path: Path) -> None:
    tree = _tree("call local_mean(b, t)\n", tmp_path)
    changed = next(one for one in tree.routines if one.name == "local_mean")
    assignment = changed.walk(Assignment)[0]
    assignment.rhs.replace_with(assignment.rhs.children[0].copy())
    assert tree.bench is not None
    commit(changed, tree.bench)
    with pytest.raises(TransformationError, match="has been changed"):
        TRANSFORMATIONS["InlineTrans"]().apply(_call(tree))


def test_the_reason_names_the_construct_of_a_return(tmp_path: Path) -> None:
    """A return in a `select` construct is not one in a loop."""
    tree = _tree("call chosen(t, k)\n", tmp_path)
    with pytest.raises(TransformationError, match="from within a construct like 'select'"):
        TRANSFORMATIONS["InlineTrans"]().apply(_call(tree))
