"""PSyclone's rewrites of loops and statements on nodes of files: equal bits, or a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.calls import IntrinsicCall
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.expressions import Reference
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import Assignment
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

HEAD = """\
module columns_mod
  implicit none
contains
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    real :: t, c(n), d(n, m)
    integer :: i, j, k
    c = 0; d = 0; t = 0; k = 3
"""
TAIL = """\
    a = a + d
    b = b + c + t + k
  end subroutine advance
end module columns_mod
"""
NEST = """\
    do j = 1, m
      do i = 1, n
        a(i, j) = a(i, j) * 2 + j
      end do
    end do
"""


def tree_of(statements: str) -> FileContainer:
    return tree_on_bench(HEAD + statements + TAIL)


def nodes_of(tree: FileContainer, kind: type[LiveNode], text: str = "") -> list[LiveNode]:
    found = tree.walk(kind)
    return [one for one in found if text in one.debug_string()]


REWRITES = {
    "LoopSwapTrans": (NEST, Loop, "do j", {}),
    "ChunkLoopTrans": (NEST, Loop, "do i = 1", {"chunksize": 7}),
    "LoopTiling2DTrans": (NEST, Loop, "do j", {"tilesize": 8}),
    "LoopTilingTrans": (NEST, Loop, "do j", {"tiledims": [3, 16]}),
    "HoistTrans": (
        "    do i = 1, n\n      t = k * 2.0\n      c(i) = t + i\n    end do\n",
        Assignment, "t = k * 2.0", {},
    ),
    "HoistLoopBoundExprTrans": (
        "    do i = 2 * k, size(c) - k\n      c(i) = c(i) + i\n    end do\n", Loop, "do i", {},
    ),
    "ArrayAssignment2LoopsTrans": (
        "    d(2:, :) = a(:n-1, :) * 2 + spread(b(2:), 2, m) * 0\n    c(:) = c(:) + b(n:1:-1)\n",
        Assignment, "c(:) = ", {},
    ),
    "Reference2ArrayRangeTrans": ("    c = b * 2\n", Assignment, "c = b", {}),
    "Abs2CodeTrans": ("    t = abs(b(2) - 3)\n", IntrinsicCall, "abs", {}),
    "Sign2CodeTrans": ("    t = sign(b(2), -3.0e-3) + sign(k, m - 9)\n", IntrinsicCall, "sign", {}),
    "Max2CodeTrans": ("    t = max(b(2), a(1, 1), b(5))\n", IntrinsicCall, "max", {}),
    "Min2CodeTrans": ("    k = min(k, n, m)\n", IntrinsicCall, "min", {}),
    "Sum2LoopTrans": ("    k = sum(int(b(2:5)))\n", IntrinsicCall, "sum", {}),
    "Maxval2LoopTrans": ("    t = maxval(b(2:)) + 1\n", IntrinsicCall, "maxval", {}),
    "Minval2LoopTrans": ("    t = minval(a)\n", IntrinsicCall, "minval", {}),
    "Product2LoopTrans": ("    k = product(int(b(1:3)) + 1)\n", IntrinsicCall, "product", {}),
    "DotProduct2CodeTrans": ("    k = dot_product(int(b), int(b))\n",
                             IntrinsicCall, "dot_product", {}),
    "Matmul2CodeTrans": ("    c = 0\n    d(:, 1) = matmul(a, b(1:m) * 0)\n",
                         IntrinsicCall, "matmul", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_a_rewrite_of_a_node_changes_no_bit(name: str, tmp_path: Path) -> None:
    """Other statements keep their text; the journal has the step; a second application is idle."""
    statements, kind, text, options = REWRITES[name]
    tree = tree_of(statements)
    node = nodes_of(tree, kind, text)[0]
    transformation = TRANSFORMATIONS[name]()
    try:
        transformation.validate(node, options=options)
    except TransformationError as error:
        pytest.fail(f"{name}: {error}")
    transformation.apply(node, options=options)
    assert tree.bench is not None
    assert len(tree.bench.journal) == 1
    result = finished(tree)
    assert result != HEAD + statements + TAIL
    assert result.endswith(TAIL)
    assert output_of(result, tmp_path / "after", 1) == output_of(
        HEAD + statements + TAIL, tmp_path / "before", 1
    )


def test_two_loops_are_fused(tmp_path: Path) -> None:
    """They must follow one another, in this order."""
    statements = (
        "    do i = 1, n\n      c(i) = b(i) * 2\n    end do\n"
        "    do k = 1, n\n      b(k) = c(k) + 1\n    end do\n"
        "    do i = 1, n\n      c(i) = b(i)\n    end do\n"
    )
    tree = tree_of(statements)
    first, second, third = tree.walk(Loop)
    fuse = TRANSFORMATIONS["LoopFuseTrans"]()
    for pair in ((first, third), (second, first)):
        with pytest.raises(TransformationError, match="follow one another"):
            fuse.apply(*pair)
    with pytest.raises(TransformationError, match="two loops"):
        fuse.apply(first)
    crossing = tree_of(statements.replace("c(k) + 1", "c(n + 1 - k)"))
    with pytest.raises(TransformationError):
        fuse.apply(*crossing.walk(Loop)[:2])
    plain = statements.replace("do k", "do i").replace("b(k) = c(k)", "b(i) = c(i)")
    fusible = tree_of(plain)
    fuse.apply(*fusible.walk(Loop)[:2])
    result = finished(fusible)
    assert result.count("end do") == 2
    before = HEAD + plain + TAIL
    assert output_of(result, tmp_path / "after", 1) == output_of(before, tmp_path / "before", 1)


TRAPS = {
    "a dependence to the north-west": (
        "LoopSwapTrans", Loop, "do j",
        "    do j = 2, m\n     do i = 2, n\n      a(i-1, j) = a(i, j-1)\n     end do\n    end do\n",
    ),
    "bounds of a triangle": (
        "LoopSwapTrans", Loop, "do j",
        "    do j = 1, m\n      do i = j, n\n        a(i, j) = 0\n      end do\n    end do\n",
    ),
    "a loop that ends early": (
        "LoopSwapTrans", Loop, "do j",
        "    do j = 1, m\n     do i = 1, n\n      if (a(i, j) > 3) exit\n     end do\n    end do\n",
    ),
    "chunks of a loop with a step": (
        "ChunkLoopTrans", Loop, "do i", "    do i = n, 1, k - 4\n      c(i) = i\n    end do\n",
    ),
    "a target that is read before": (
        "HoistTrans", Assignment, "t = k",
        "    do i = 1, n\n      c(i) = t\n      t = k\n    end do\n",
    ),
    "a target that is written twice": (
        "HoistTrans", Assignment, "t = k",
        "    do i = 1, n\n      t = k\n      c(i) = t\n      t = i\n    end do\n",
    ),
    "a value that changes": (
        "HoistTrans", Assignment, "t = k",
        "    do i = 1, n\n      t = k\n      k = k + 1\n      c(i) = t\n    end do\n",
    ),
    "a target in the step": (
        "HoistTrans", Assignment, "k = 2",
        "    do i = 1, n, k\n      k = 2\n      c(i) = i\n    end do\n",
    ),
    "an assignment under a condition": (
        "HoistTrans", Assignment, "t = 5",
        "    do i = 1, n\n      if (b(i) > 1) then\n        t = 5\n      end if\n    end do\n",
    ),
    "an exit before the assignment": (
        "HoistTrans", Assignment, "t = 5",
        "    do i = 1, n\n      if (b(i) < 1) exit\n      t = 5\n    end do\n",
    ),
    "elements that are read after they are written": (
        "ArrayAssignment2LoopsTrans", Assignment, "b(2:)", "    b(2:) = b(:n-1)\n",
    ),
    "a reduction of the written array": (
        "ArrayAssignment2LoopsTrans", Assignment, "b(:)", "    b(:) = b(:) / sum(b)\n",
    ),
    "a reversed reading": (
        "ArrayAssignment2LoopsTrans", Assignment, "b(:)", "    b(:) = b(n:1:-1)\n",
    ),
    "a function that is not known": (
        "ArrayAssignment2LoopsTrans", Assignment, "b(:)", "    b(:) = other(b(:))\n",
    ),
    "a call of another function": (
        "Sum2LoopTrans", IntrinsicCall, "maxval", "    t = maxval(b)\n",
    ),
    "an array where a scalar is needed": (
        "Max2CodeTrans", IntrinsicCall, "max", "    b(:) = max(b(:), c(:))\n",
    ),
    "the sign of a zero": (
        "Sign2CodeTrans", IntrinsicCall, "sign", "    t = sign(3.0, -0.0)\n",
    ),
    "the sign of a variable that may be zero": (
        "Sign2CodeTrans", IntrinsicCall, "sign", "    t = sign(2.0, 1.0) + sign(b(2), (-b(1)))\n",
    ),
    "a statement in a forall": (
        "Max2CodeTrans", IntrinsicCall, "max", "    forall (i = 1:n) b(i) = max(b(i), real(i))\n",
    ),
    "a statement in a forall construct": (
        "Min2CodeTrans", IntrinsicCall, "min",
        "    forall (i = 1:n)\n      c(i) = 3\n      b(i) = min(b(i), c(i))\n    end forall\n",
    ),
    "loops in a forall": (
        "ArrayAssignment2LoopsTrans", Assignment, "d(j, :)",
        "    forall (j = 1:n) d(j, :) = a(j, :)\n",
    ),
    "a statement in a where": (
        "Abs2CodeTrans", IntrinsicCall, "abs", "    where (b > 3) b = abs(t - 3)\n",
    ),
    "a new variable in do concurrent": (
        "Sum2LoopTrans", IntrinsicCall, "sum",
        "    do concurrent (j = 1:n)\n      c(j) = sum(a(j, :))\n    end do\n",
    ),
}  # fmt: skip


SHARED = """\
module shared_mod
  implicit none
  integer, target :: wide(40)
  integer, pointer :: part(:) => null()
contains
  subroutine advance(n, a, b, m)
    integer, intent(in) :: n
    integer, target, intent(inout) :: a(:), b(:)
    integer, intent(inout) :: m(3, 3)
    integer :: i, t, u
    equivalence (t, u)
{statements}
  end subroutine advance
end module shared_mod
"""
SHARED_TRAPS = {
    "a pointer with an initial value": (
        "ArrayAssignment2LoopsTrans", Assignment, "part(1:9)", "part(1:9) = wide(1:9)",
    ),
    "its target": (
        "ArrayAssignment2LoopsTrans", Assignment, "wide(2:9)", "wide(2:9) = part(1:8)",
    ),
    "an element of the pointer": (
        "ArrayAssignment2LoopsTrans", Assignment, "wide(2:9)", "wide(2:9) = wide(2:9) + part(2)",
    ),
    "dummies that are targets": (
        "ArrayAssignment2LoopsTrans", Assignment, "a(2:9)", "a(2:9) = b(1:8)",
    ),
    "an invariant read through the pointer": (
        "HoistTrans", Assignment, "t = part",
        "do i = 1, n\nt = part(1)\nwide(2) = wide(2) + 1\nm(i, 1) = t\nend do",
    ),
    "an invariant in an equivalence": (
        "HoistTrans", Assignment, "t = 3", "do i = 1, n\nt = 3\nu = i\nm(i, 1) = t\nend do",
    ),
}  # fmt: skip


@pytest.mark.parametrize("trap", sorted(SHARED_TRAPS))
def test_a_rewrite_that_an_alias_makes_unsafe_is_refused(trap: str) -> None:
    name, kind, text, statements = SHARED_TRAPS[trap]
    tree = tree_on_bench(SHARED.format(statements=statements))
    with pytest.raises(TransformationError):
        TRANSFORMATIONS[name]().apply(nodes_of(tree, kind, text)[-1])
    assert finished(tree) == SHARED.format(statements=statements)


def test_a_product_with_an_alias_of_its_target_has_a_result_of_its_own() -> None:
    tree = tree_on_bench(SHARED.format(statements="part(1:3) = matmul(m, wide(1:3))"))
    TRANSFORMATIONS["Matmul2CodeTrans"]().apply(nodes_of(tree, IntrinsicCall, "matmul")[0])
    assert "part(1:3) = res_matmul\n" in finished(tree)


@pytest.mark.parametrize("trap", sorted(TRAPS))
def test_an_unsafe_rewrite_is_refused(trap: str) -> None:
    """Nothing changes then, and `validate` agrees; the journal has the refusal."""
    name, kind, text, statements = TRAPS[trap]
    tree = tree_of(statements)
    node = nodes_of(tree, kind, text)[-1 if kind is Assignment else 0]
    transformation = TRANSFORMATIONS[name]()
    with pytest.raises(TransformationError):
        transformation.validate(node)
    with pytest.raises(TransformationError):
        transformation.apply(node)
    assert finished(tree) == HEAD + statements + TAIL
    assert tree.bench is not None
    assert all(entry.reasons for entry in tree.bench.journal)


@pytest.mark.parametrize("target", ["w", "other", "o%w"])
def test_an_array_that_gives_its_bounds_keeps_its_name(target: str) -> None:
    """An allocation by `w = c` takes the bounds of `c`, but not those of `c(:)`."""
    text = (HEAD + f"    {target} = e\n    w = e * 2\n    w = 0\n    c = e\n" + TAIL).replace(
        "    integer :: i",
        "    real, allocatable :: w(:)\n    real :: e(-1:n - 2)\n    integer :: i",
    )
    tree = tree_on_bench(text.replace("implicit none", "use others\n  implicit none"))
    ranges = TRANSFORMATIONS["Reference2ArrayRangeTrans"]()
    for assignment in nodes_of(tree, Assignment):
        if assignment.debug_string() == f"{target} = e\n":
            for part in (assignment, *assignment.children):
                with pytest.raises(TransformationError, match="with the bounds of 'e'"):
                    ranges.apply(part)
        elif "e" in assignment.debug_string() or assignment.debug_string() == "w = 0\n":
            ranges.apply(assignment.lhs)
    result = finished(tree)
    assert f"    {target} = e\n    w = e(:) * 2\n    w = 0\n    c(:) = e(:)\n" in result


def test_a_statement_stays_the_same_node_while_others_change(tmp_path: Path) -> None:
    """A recipe may collect nodes once, before it rewrites them and their neighbours."""
    statements = (
        "    d = 0\n    t = max(b(1), b(2))\n    c = b * 3\n"
        "    if (max(t, b(3)) > 0) then\n      d(:, 1) = t\n    end if\n"
    )
    tree = tree_of(statements)
    (routine,) = tree.walk(Routine)
    first = routine.children.index(nodes_of(tree, Assignment, "d = 0")[-1])
    whole, largest, other, choice = routine.children[first : first + 4]
    (inner,) = choice.if_body
    for assignment in (whole, other):
        TRANSFORMATIONS["Reference2ArrayRangeTrans"]().apply(assignment.lhs)
    for holder in (largest, choice):
        (call,) = [one for one in holder.walk(IntrinsicCall) if one.routine.name == "max"]
        TRANSFORMATIONS["Max2CodeTrans"]().apply(call)
    added = nodes_of(tree, Assignment, "res_max = ")
    assert len(added) >= 2
    for assignment in (whole, inner, other):
        TRANSFORMATIONS["ArrayAssignment2LoopsTrans"]().apply(assignment)
    assert largest.debug_string() == "t = res_max\n"
    assert all(one.root is tree for one in (largest, choice, *added))
    result = finished(tree)
    assert "(:" not in result.removesuffix(TAIL)
    before = HEAD + statements + TAIL
    assert output_of(result, tmp_path / "after", 1) == output_of(before, tmp_path / "before", 1)


def test_a_loop_stays_the_same_node_in_a_new_loop(tmp_path: Path) -> None:
    """No script has seen the loop around it that a rewrite makes."""
    statements = NEST + NEST.replace("do j", "do k").replace(", j)", ", k)").replace("+ j", "+ k")
    tree = tree_of(statements + "    i = 0; j = 0; k = 0\n")
    loops = tree.walk(Loop)
    for loop in loops:
        TRANSFORMATIONS["ChunkLoopTrans"]().apply(loop, options={"chunksize": 3})
    assert all(loop.root is tree for loop in loops)
    assert len(tree.walk(Loop)) == 2 * len(loops)
    before = HEAD + statements + "    i = 0; j = 0; k = 0\n" + TAIL
    result = finished(tree)
    assert output_of(result, tmp_path / "after", 1) == output_of(before, tmp_path / "before", 1)


def test_hoisting_keeps_the_value_of_a_loop_without_iterations(tmp_path: Path) -> None:
    """The assignment runs only if the loop has an iteration."""
    statements = "    do i = 1, mode - 1\n      k = 7\n      c(i) = k\n    end do\n"
    tree = tree_of(statements)
    TRANSFORMATIONS["HoistTrans"]().apply(nodes_of(tree, Assignment, "k = 7")[0])
    result = finished(tree)
    assert "if (1 <= mode - 1) then" in result
    assert output_of(result, tmp_path / "after", 1) == output_of(
        HEAD + statements + TAIL, tmp_path / "before", 1
    )


def test_equal_statements_that_steps_made_have_their_own_nodes() -> None:
    """Hoisting makes the same guarded assignment in two loops."""
    nest = "do j = 1, m\n do i = 1, n\n  k = j\n  a(i, j) = a(i, j) + k\n end do\nend do\n"
    tree = tree_of(nest + nest)
    hoist = TRANSFORMATIONS["HoistTrans"]()
    inner = [loop for loop in tree.walk(Loop) if loop.ancestor(Loop)]
    for loop in reversed(inner):
        hoist.apply(loop.loop_body[0])
    for loop in inner:
        around = loop.ancestor(Loop)
        assert len(around.loop_body.children) == 2
        assert around.loop_body[1] is loop
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(inner[0])
    assert finished(tree).count("k = j") == 2


def test_new_variables_have_names_that_no_statement_uses() -> None:
    """The module that provides a name may not be at hand."""
    text = (HEAD + "    t = abs(b(1))\n    b(2) = res_abs\n" + TAIL).replace(
        "implicit none", "use others\n  implicit none"
    )
    tree = tree_on_bench(text)
    TRANSFORMATIONS["Abs2CodeTrans"]().apply(nodes_of(tree, IntrinsicCall, "abs")[0])
    result = finished(tree)
    assert "real :: res_abs_1" in result
    assert "b(2) = res_abs\n" in result


def test_all_calls_of_a_statement_may_be_requested_one_by_one() -> None:
    """The first application expands them; the others have nothing to do."""
    tree = tree_of("    t = abs(b(1)) + abs(b(2))\n")
    for call in tree.walk(IntrinsicCall):
        if call.intrinsic is IntrinsicCall.Intrinsic.ABS:
            TRANSFORMATIONS["Abs2CodeTrans"]().apply(call)
    assert "abs(" not in finished(tree)
    other = tree_of("    c = b\n")
    for reference in other.walk(Reference):
        TRANSFORMATIONS["Reference2ArrayRangeTrans"]().apply(reference)
    assert "c(:) = b(:)" in finished(other)


def test_a_loop_under_a_directive_gets_new_clauses() -> None:
    """New counters of a statement in a shared loop are private."""
    tree = tree_of("    do j = 1, m\n      d(:, j) = a(:, j) * 2\n    end do\n")
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(tree.walk(Loop)[0])
    TRANSFORMATIONS["ArrayAssignment2LoopsTrans"]().apply(nodes_of(tree, Assignment, "d(:, j)")[0])
    assert "private(idx)" in finished(tree)
    assert len(tree.walk(Loop)) == 2
    assert len(tree.walk(Routine)) == 1


REGIONS = """\
    do i = 1, n
      c(i) = i * 2
    end do
    ! between the loops
    do i = 1, n
      b(i) = b(i) + 1
    end do
    do i = 1, n
      c(i) = c(i) + b(n + 1 - i)
    end do
    t = c(1)
    if (mode > 0) then
      do j = 1, m
        d(:, j) = j
      end do
    end if
"""
DO = TRANSFORMATIONS["OMPLoopTrans"]


def test_the_longest_regions_have_the_fewest_barriers(tmp_path: Path) -> None:
    """Adjacent shared loops get one region; a barrier stays where a later loop needs it."""
    tree = tree_of(REGIONS)
    for loop in tree.walk(Loop):
        DO(omp_schedule="static").apply(loop)
    (routine,) = tree.walk(Routine)
    TRANSFORMATIONS["MaximalOMPParallelRegionTrans"]().apply(routine)
    TRANSFORMATIONS["OMPMinimiseSyncTrans"]().apply(routine)
    assert tree.bench is not None
    assert not tree.bench.unfinished()
    result = finished(tree)
    directives = [line.strip() for line in result.splitlines() if "!$omp" in line]
    assert directives == [
        "!$omp parallel default(shared)",
        "!$omp do schedule(static)",
        "!$omp end do nowait",
        "!$omp do schedule(static)",
        "!$omp end do",
        "!$omp do schedule(static)",
        "!$omp end do nowait",
        "!$omp end parallel",
        "!$omp parallel default(shared)",
        "!$omp do schedule(static)",
        "!$omp end do nowait",
        "!$omp end parallel",
    ]
    assert [line for line in result.splitlines() if "!$omp" not in line] == (
        HEAD + REGIONS + TAIL
    ).splitlines()
    before = output_of(HEAD + REGIONS + TAIL, tmp_path / "before", 1)
    for threads in (1, 2, 4):
        assert output_of(result, tmp_path / f"after{threads}", threads) == before


def test_regions_are_not_made_twice() -> None:
    """A second application has nothing to do, and is no step."""
    tree = tree_of(REGIONS)
    for loop in tree.walk(Loop):
        DO().apply(loop)
    (routine,) = tree.walk(Routine)
    for _ in range(2):
        TRANSFORMATIONS["MaximalOMPParallelRegionTrans"]().apply(routine)
        TRANSFORMATIONS["OMPMinimiseSyncTrans"]().apply(routine)
    assert tree.bench is not None
    assert len(tree.bench.history) == 4 + 2
    assert finished(tree).count("!$omp parallel") == 2


def _in_region(statement: str, name: str, kind: type[LiveNode] = Assignment) -> FileContainer:
    """Return a tree with a shared loop and a statement under a directive in one region."""
    tree = tree_of(f"    do i = 1, n\n      c(i) = b(i)\n    end do\n{statement}")
    loop = tree.walk(Loop)[0]
    node = nodes_of(tree, kind, statement.strip())[0]
    DO().apply(loop)
    TRANSFORMATIONS[name]().apply(node)
    (routine,) = tree.walk(Routine)
    first, second = [one for one in routine.children if "!$omp" in one.debug_string()]
    TRANSFORMATIONS["OMPParallelTrans"]().apply([first, second])
    return tree


def test_master_has_no_barrier() -> None:
    """One thread runs the statement; no thread waits for it, so a later loop must not need it."""
    tree = _in_region("    t = c(3)\n", "OMPMasterTrans")
    assert tree.bench is not None
    assert not tree.bench.unfinished()
    assert "!$omp master" in finished(tree)
    text = "    k = 1\n    do i = 1, n\n      c(i) = k\n    end do\n"
    for name, count in (("OMPMasterTrans", 1), ("OMPSingleTrans", 0)):
        tree = tree_of(text)
        assignment = nodes_of(tree, Assignment, "k = 1")[0]
        TRANSFORMATIONS[name]().apply(assignment)
        DO().apply(tree.walk(Loop)[0])
        (routine,) = tree.walk(Routine)
        nodes = [one for one in routine.children if "!$omp" in one.debug_string()]
        TRANSFORMATIONS["OMPParallelTrans"]().apply(nodes)
        assert tree.bench is not None
        assert len(tree.bench.unfinished()) == count, name


def test_critical_is_for_statements_of_a_shared_loop(tmp_path: Path) -> None:
    """It makes no loop independent, and all threads of a region would run it."""
    text = "    do i = 1, n\n      k = max(k, int(b(i)))\n      c(i) = i\n    end do\n"
    tree = tree_of(text)
    TRANSFORMATIONS["OMPCriticalTrans"]().apply(nodes_of(tree, Assignment, "c(i) = i")[0])
    TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(tree.walk(Loop)[0])
    result = finished(tree)
    assert "!$omp critical\n      c(i) = i\n      !$omp end critical\n" in result
    assert "reduction(max:k)" in result
    before = output_of(HEAD + text + TAIL, tmp_path / "before", 1)
    for threads in (1, 4):
        assert output_of(result, tmp_path / f"after{threads}", threads) == before
    carried = tree_of("    do i = 2, n\n      c(i) = c(i - 1) + b(i)\n    end do\n")
    TRANSFORMATIONS["OMPCriticalTrans"]().apply(nodes_of(carried, Assignment, "c(i) =")[0])
    with pytest.raises(TransformationError):
        TRANSFORMATIONS["OMPParallelLoopTrans"]().apply(carried.walk(Loop)[0])
    with pytest.raises(TransformationError, match="cannot be inside"):
        _in_region("    k = k + 1\n", "OMPCriticalTrans")
    leaving = tree_of("    do i = 1, n\n      if (b(i) > 3) cycle\n      c(i) = 1\n    end do\n")
    block = leaving.walk(Loop)[0].loop_body
    with pytest.raises(TransformationError, match="leaves the region"):
        TRANSFORMATIONS["OMPCriticalTrans"]().apply(block.children[0])


def test_references_of_scalars_and_elements_do_not_rewrite_their_statement() -> None:
    """Only the reference of a whole array does, and a second application finds nothing to do."""
    tree = tree_of("    c = b * t + a(k, 1)\n")
    transformation = TRANSFORMATIONS["Reference2ArrayRangeTrans"]()
    statement = nodes_of(tree, Assignment, "c = b")[0]
    named = {node.debug_string(): node for node in statement.walk(Reference)}
    assert tree.bench is not None
    for text in ("t", "k", "a(k, 1)"):
        transformation.apply(named[text])
        assert not tree.bench.journal, text
    transformation.apply(named["b"])
    assert len(tree.bench.journal) == 1
    assert "c(:) = b(:) * t + a(k, 1)" in finished(tree)


@pytest.mark.parametrize(
    ("statement", "moves"),
    [
        ("t = k * 2.0", True),
        ("k = size(c)", True),  # 'c' is assigned in the loop, but not its extent
        ("t = i * 2.0", False),
        ("t = c(1) * 2.0", False),
        ("t = k + b(j)", False),
    ],
)
def test_an_assignment_leaves_its_loop_only_if_nothing_in_it_changes_its_value(
    statement: str, moves: bool
) -> None:
    tree = tree_of(
        f"    do i = 1, n\n      {statement}\n      j = i\n      c(i) = t + k\n    end do\n"
    )
    node = nodes_of(tree, Assignment, statement)[0]
    transformation = TRANSFORMATIONS["HoistTrans"]()
    if moves:
        transformation.apply(node)
        lines = [line.strip() for line in finished(tree).splitlines()]
        assert lines.index(statement) < lines.index("do i = 1, n")
    else:
        with pytest.raises(TransformationError):
            transformation.apply(node)


def test_statements_that_move_out_of_a_loop_stay_the_same_nodes() -> None:
    """Those around it do, too; the nodes have the text that the steps made."""
    tree = tree_of(
        "    do j = 1, 2\n      do i = 1, 3\n        t = k * 2.0\n        d(i, j) = t + i\n"
        "      end do\n    end do\n    c(1) = t\n"
    )
    moved, stays, after = (
        nodes_of(tree, Assignment, text)[0] for text in ("t = k * 2.0", "d(i, j)", "c(1) = t")
    )
    outer, inner = nodes_of(tree, Loop, "d(i, j)")
    for _ in range(2):
        TRANSFORMATIONS["HoistTrans"]().apply(moved)
    assert moved.ancestor(Loop) is None
    assert stays.ancestor(Loop) is inner
    assert inner.ancestor(Loop) is outer
    shown = [id(node) for node in tree.walk(Routine)[0].walk(Assignment)]
    assert [shown.count(id(node)) for node in (moved, stays, after)] == [1, 1, 1]
    assert "t = k" not in outer.debug_string()
