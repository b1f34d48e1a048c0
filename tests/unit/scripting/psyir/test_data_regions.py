"""Data of device regions in files, on an emulated device with separate memory.

There, values that were not copied are no numbers, and those that were not copied back are old.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.psyir.containers import FileContainer, Routine
from psyclone_storage.scripting.psyir.directives import (
    ACCDataDirective,
    ACCKernelsDirective,
    ACCUpdateDirective,
)
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from support.scripting_programs import finished, output_of, tree_on_bench

DEVICE = Path(__file__).parents[3] / "runtime" / "openacc" / "emulated.c"
KERNELS = TRANSFORMATIONS["ACCKernelsTrans"]
PARALLEL = TRANSFORMATIONS["ACCParallelTrans"]
LOOP = TRANSFORMATIONS["ACCLoopTrans"]
DATA = TRANSFORMATIONS["ACCDataTrans"]
ENTER = TRANSFORMATIONS["ACCEnterDataTrans"]
UPDATE = TRANSFORMATIONS["ACCUpdateTrans"]

FIRST = "do j = 1, m\n do i = 1, n\n  t = a(i, j) + b(i)\n  a(i, j) = t\n end do\nend do\n"
SECOND = "do i = 2, n - 1\n c(i) = 2 * a(i, 1)\nend do\n"
THIRD = "do i = 1, n / 2\n b(i) = b(i) + c(i + 1)\nend do\n"


def program_of(body: str, declared: str = "") -> str:
    """Return the text of a module with one subroutine, for the program of the tests."""
    return f"""\
module columns_mod
  implicit none
  type part_type
    real, allocatable :: v(:)
    real :: w(50)
    integer :: k
  end type
contains
  subroutine work(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(:, :), b(:)
    real, allocatable :: c(:)
    real :: t
    integer :: i, j, k
    {declared}
    allocate (c(n))
    c = 0
{indent(body, "    ")}    a(:, m) = a(:, m) + c
  end subroutine work
  subroutine advance(n, m, a, b, mode)
    integer, intent(in) :: n, m, mode
    real, intent(inout) :: a(n, m), b(n)
    integer :: sizes(3)
    sizes = [n, m, mode]   ! gfortran copies scalars back, even constants
    call work(sizes(1), sizes(2), a, b, sizes(3))
  end subroutine advance
end module columns_mod
"""


def on_device(tree: FileContainer, **options: object) -> list[ACCKernelsDirective]:
    """Put each outermost loop into a region of its own, and return the regions."""
    for loop in tree.walk(Loop, stop_type=Loop):
        KERNELS().apply(loop, **options)
    return tree.walk(ACCKernelsDirective)


def directives(text: str) -> list[str]:
    """Return the directives in a text."""
    return [line.strip() for line in text.splitlines() if "!$acc" in line]


def same_bits(before: str, after: str, folder: Path) -> None:
    """Check that two programs print the same, one of them with a device.

    The device does not know structured regions of data: these run on the host.
    """
    expected = output_of(before, folder / "before", 1, ())
    device = () if "acc data" in after else (str(DEVICE),)
    assert output_of(after, folder / "after", 1, ("-fopenacc", *device)) == expected


def test_a_data_region_copies_what_its_regions_use(tmp_path: Path) -> None:
    """Data that a region changes in part are copied in, too; scalars are not listed."""
    text = program_of(FIRST + SECOND + THIRD)
    tree = tree_on_bench(text)
    DATA().apply(on_device(tree, default_present=True))
    made = finished(tree)
    assert directives(made)[0] == "!$acc data copy(a, b, c)"
    assert len(directives(made)) == 8
    same_bits(text, made, tmp_path)


def test_data_that_no_region_changes_are_only_copied_in(tmp_path: Path) -> None:
    text = program_of(SECOND)
    tree = tree_on_bench(text)
    DATA().apply(on_device(tree, default_present=True))
    made = finished(tree)
    assert directives(made)[0] == "!$acc data copyin(a), copy(c)"
    same_bits(text, made, tmp_path)


def test_the_host_must_not_use_data_that_are_on_a_device() -> None:
    """It would read old values, or its own would be lost."""
    for statement in ("t = c(3)", "c(3) = t", "b(1) = 4", "call other(t)", "call other(a)"):
        text = program_of(FIRST + SECOND + statement + "\n" + THIRD)
        text += "subroutine other(x)\n real :: x\n x = 1\nend subroutine\n"
        tree = tree_on_bench(text)
        on_device(tree)
        routine = tree.walk(Routine)[0]
        with pytest.raises(TransformationError, match=r"T086|T052"):
            DATA().apply(routine.children[2:6])


def test_the_host_may_use_other_data(tmp_path: Path) -> None:
    """Scalars, other arrays, and data that no region changes."""
    text = program_of(SECOND + "t = a(2, 1) + d(2)\nd(3) = t\n" + SECOND, "real :: d(5)")
    text = text.replace("c = 0\n", "c = 0; d = 1\n")
    tree = tree_on_bench(text)
    on_device(tree)
    routine = tree.walk(Routine)[0]
    DATA().apply(routine.children[3:7])
    assert len(tree.walk(ACCDataDirective)) == 1
    same_bits(text, finished(tree), tmp_path)


def test_an_edit_that_uses_data_of_a_region_is_refused() -> None:
    tree = tree_on_bench(program_of(FIRST + "t = 1\n" + SECOND + "c(2) = t\n"))
    on_device(tree)
    routine = tree.walk(Routine)[0]
    DATA().apply(routine.children[2:5])
    region = tree.walk(ACCDataDirective)[0]
    region.dir_body.addchild(routine.children[3].detach(), 1)
    with pytest.raises(TransformationError, match="T095"):
        finished(tree)


def test_data_stay_on_the_device_while_the_host_works(tmp_path: Path) -> None:
    """The host gets new values before its statements, and the device after them."""
    host = "t = c(3)\nk = 2\nif (t > 0) then\n c(4) = t\n a(1, 1) = 5\nend if\n"
    text = program_of(FIRST + SECOND + host + "k = k + 1\n" + THIRD + "b(k) = t + c(4)\n")
    tree = tree_on_bench(text)
    on_device(tree, default_present=True)
    routine = tree.walk(Routine)[0]
    UPDATE().apply(routine)
    ENTER().apply(routine)
    UPDATE().apply(routine)
    made = finished(tree)
    assert [one for one in directives(made) if "kernels" not in one] == [
        "!$acc enter data copyin(a, b, c)",
        "!$acc update if_present self(c, a)",
        "!$acc update if_present device(c, a)",
        "!$acc exit data copyout(a, b, c)",
    ]
    assert len(tree.walk(ACCUpdateDirective)) == 1
    same_bits(text, made, tmp_path)
    expected = output_of(text, tmp_path / "before", 1, ())
    for directive in directives(made)[-8:]:
        if "update" in directive or "exit" in directive:
            without = made.replace(directive, "!")
            found = output_of(without, tmp_path / "without", 1, ("-fopenacc", str(DEVICE)))
            assert found != expected, directive


def test_updates_are_inside_loops_of_the_host(tmp_path: Path) -> None:
    """A region in a loop of the host reads what the loop changes between its iterations."""
    body = (
        "do k = 1, 3\n do i = 1, n\n  b(i) = b(i) * 2 + c(i)\n end do\n c(k) = b(k) + 1\nend do\n"
    )
    text = program_of(body)
    tree = tree_on_bench(text)
    KERNELS().apply(tree.walk(Loop)[1])
    ENTER().apply(tree.walk(Routine)[0])
    made = finished(tree)
    assert made.count("!$acc update if_present self(b, c)") == 1
    assert made.count("!$acc update if_present device(c)") == 1
    same_bits(text, made, tmp_path)


def test_components_follow_their_structure(tmp_path: Path) -> None:
    body = (
        "allocate (p%v(n)); p%v = b; p%w = 1; p%k = 2\n"
        "do i = 1, n\n p%v(i) = p%v(i) + b(i)\nend do\n"
        "do i = 1, n\n b(i) = p%v(i) * 2\nend do\n"
    )
    text = program_of(body, "type(part_type) :: p")
    tree = tree_on_bench(text)
    DATA().apply(on_device(tree))
    made = finished(tree)
    assert directives(made)[:2] == ["!$acc data copyin(p), copy(b)", "!$acc data copy(p%v)"]
    same_bits(text, made, tmp_path)


REFUSED = {
    "polymorphic": ("do i = 1, n\n p%w(i) = b(i)\nend do\n", "class(part_type), pointer :: p"),
    "array of structures": (
        "do i = 1, 3\n do j = 1, n\n  p(i)%v(j) = b(j)\n end do\nend do\n",
        "type(part_type) :: p(3)",
    ),
    "both": (
        "do i = 1, n\n p%v(i) = b(i)\n p%w(i) = p%v(i)\nend do\n", "type(part_type) :: p",
    ),
    "pointers": (
        "do i = 1, n\n p(i) = q(i) + p(i)\nend do\n", "real, pointer :: p(:), q(:)",
    ),
    "unknown": ("do i = 1, n\n c(i) = other%x(i)\nend do\n", "type(other_type) :: other"),
    "scalars": ("do i = 1, n\n t = i\nend do\n", ""),
    "leaving": ("do i = 1, n\n if (b(i) > 2) return\n c(i) = 1\nend do\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("trap", REFUSED)
def test_data_that_cannot_be_copied_are_refused(trap: str) -> None:
    body, declared = REFUSED[trap]
    tree = tree_on_bench(program_of(body, declared))
    with pytest.raises(TransformationError):
        DATA().apply(on_device(tree))


def test_entering_data_needs_a_region() -> None:
    text = program_of(FIRST)
    tree = tree_on_bench(text)
    with pytest.raises(TransformationError, match="T085"):
        ENTER().apply(tree.walk(Routine)[0])
    UPDATE().apply(tree.walk(Routine)[0])
    assert finished(tree) == text


def test_the_host_waits_for_a_queue(tmp_path: Path) -> None:
    """After the last region of a run, before another queue, and at the end of a block."""
    body = FIRST + SECOND + "t = c(2)\n" + THIRD + "if (mode == 1) then\n" + FIRST + "end if\n"
    text = program_of(body)
    tree = tree_on_bench(text)
    for number, loop in enumerate(tree.walk(Loop, stop_type=Loop)):
        KERNELS().apply(loop, async_queue=2 if number == 2 else 1)
    made = finished(tree)
    assert directives(made) == [
        "!$acc kernels async(1)",
        "!$acc end kernels",
        "!$acc kernels async(1)",
        "!$acc end kernels",
        "!$acc wait(1)",
        "!$acc kernels async(2)",
        "!$acc end kernels",
        "!$acc wait(2)",
        "!$acc kernels async(1)",
        "!$acc end kernels",
        "!$acc wait(1)",
    ]
    same_bits(text, made, tmp_path)


def test_a_scalar_that_a_region_changes_is_awaited() -> None:
    """The host passes the scalar when it starts the next region."""
    body = "do i = 1, n\n t = max(t, b(i))\nend do\ndo i = 1, n\n b(i) = b(i) - t\nend do\n"
    for between, waits in (("", 2), ("do i = 1, n\n c(i) = 1\nend do\n", 2)):
        first, second = body.split("end do\n", 1)
        text = program_of("t = 0\n" + first + "end do\n" + between + second)
        tree = tree_on_bench(text)
        on_device(tree, async_queue=1)
        assert finished(tree).count("!$acc wait(1)") == waits


def test_a_region_with_an_array_assignment_has_work(tmp_path: Path) -> None:
    text = program_of("a(:, 2) = b * 2\nt = 1\n")
    tree = tree_on_bench(text)
    routine = tree.walk(Routine)[0]
    with pytest.raises(TransformationError, match="loop"):
        KERNELS().validate(routine.children[3])
    KERNELS().validate(routine.children[3], {"disable_loop_check": True})
    KERNELS().apply(routine.children[2])
    same_bits(text, finished(tree), tmp_path)


def test_scalars_of_a_parallel_region_come_back(tmp_path: Path) -> None:
    text = program_of("k = 0\ndo i = 1, n\n if (b(i) > 2) k = k + 1\nend do\nb(1) = k\n")
    tree = tree_on_bench(text)
    loop = tree.walk(Loop)[0]
    LOOP().apply(loop, {"enable_reductions": True})
    PARALLEL(default_present=False).apply(loop.parent.parent)
    made = finished(tree)
    assert "!$acc parallel copy(k)" in made
    same_bits(text, made, tmp_path)


MOVING = {
    "reallocated": ("c = b(2:)\n", ""),
    "deallocated": ("deallocate (c)\nallocate (c(n))\n", ""),
    "pointer": ("p => d\np => e\n", "real, pointer :: p(:); real, target :: d(9), e(9)"),
    "condition": ("if (c(1) > 0) then\n" + SECOND + "end if\n", ""),
    "loop": ("do while (c(1) < 0)\n" + SECOND + "end do\n", ""),
}


@pytest.mark.parametrize("trap", MOVING)
def test_the_host_must_not_move_data_of_a_device(trap: str) -> None:
    """An update cannot help: the device has a copy at the old address, or none."""
    body, declared = MOVING[trap]
    last = "do i = 1, 5\n p(i) = b(i) + c(i)\nend do\n" if declared else THIRD
    first = last if declared else SECOND
    tree = tree_on_bench(program_of(first + body + last, declared))
    on_device(tree)
    with pytest.raises(TransformationError, match="T095: The edit makes a region illegal"):
        ENTER().apply(tree.walk(Routine)[0])


@pytest.mark.parametrize(
    ("statement", "is_legal"),
    [("c = 1", True), ("c = -t", True), ("c = b", False), ("c = [b, t]", False),
     ("c(:) = b(:)", True), ("p => c", False), ("nullify (p)", False)],
)  # fmt: skip
def test_a_device_allocates_nothing(statement: str, is_legal: bool) -> None:
    body = f"do i = 1, 3\n b(i) = 1\nend do\n{statement}\n"
    tree = tree_on_bench(program_of(body, "real, pointer :: p(:)"))
    routine = tree.walk(Routine)[0]
    nodes = routine.children[2:4]
    if is_legal:
        KERNELS().apply(nodes)
        return
    with pytest.raises(TransformationError, match="T087"):
        KERNELS().apply(nodes)
