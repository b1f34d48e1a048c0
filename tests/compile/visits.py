"""A program that counts how often each dof is visited, in colours and without, and checks itself.

Owns its schedule, its texts, and how a layer made of the schedule is linked with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fortran import Compiler, run, written
from lfric_schedules import (
    built_in,
    call,
    dof_loop,
    field,
    field_arg,
    kernel,
    loop,
    program,
    scalar,
)
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.expr import Literal, Unary
from psyclone_storage.ir.kernel import Access, ReductionOp
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rules import Rules
from psyclone_storage.ir.schedule import (
    Extent,
    GlobalReduction,
    KernelCall,
    Loop,
    Over,
    Program,
    Reach,
    Schedule,
)
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.walk import replaced, statements
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure
from psyclone_storage.transform.catalogue import apply_request, read_steps
from psyclone_storage.transform.step import needs_code
from psyclone_storage.transform.workbench import Workbench

SMALL_PLANE = Path(__file__).parent / "lfric_infrastructure" / "run" / "small_plane.f90"
COUNTING_KERNEL = """\
module work_mod
  use constants_mod, only: i_def, r_def
  implicit none
contains
  subroutine work_code(nlayers, visits, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: visits(undf)
    integer(i_def) :: df
    do df = 1, ndf
      visits(map(df):map(df)+nlayers-1) = visits(map(df):map(df)+nlayers-1) + 1.0_r_def
    end do
  end subroutine work_code
end module work_mod
"""
# Both loops visit the faces between cells twice, the top and the bottom of the domain once. With
# 6 x 4 cells in 5 layers, each with 6 faces, that is 2 * 720 visits.
MAIN = """\
program main
  use alg_psy, only: invoke_test
  use constants_mod, only: i_def, r_def
  use field_mod, only: field_type
  use fs_continuity_mod, only: W2
  use mesh_mod, only: mesh_type
  use small_plane_mod, only: check, new_mesh, space
  implicit none
  type(mesh_type), pointer :: mesh
  type(field_type) :: visits
  real(r_def) :: low, high, total
  mesh => new_mesh('plane', 6, 4)
  call visits%initialise(space(mesh, W2), 'visits')
  call invoke_test(visits, low, high, total)
  call check(low == 2.0_r_def, 'the least count is 2')
  call check(high == -2.0_r_def, 'the largest of the negated counts is -2')
  call check(total == 1440.0_r_def, 'there are 1440 visits')
end program main
"""


def visits() -> Program:
    """Count, in colours and without, how often a dof is visited; reduce the counts."""
    made = kernel(field_arg("w2", Access.INC))
    coloured = loop(call(made, "f1"), over=Over.CELLS_OF_COLOUR, uid="loop2")
    data = (field("f1"), scalar("low"), scalar("high"), scalar("total"))
    minus = Unary(Operator.MINUS, Literal("1.0_r_def", Intrinsic.REAL, "r_def"))
    return program(
        data,
        dof_loop(built_in("setval_c", "f1", Literal("0.0", Intrinsic.REAL)), uid="loop1"),
        Loop("colours", Over.COLOURS, Extent(Reach.OWNED), 0, (coloured,)),
        loop(call(made, "f1"), uid="loop3"),
        dof_loop(built_in("minval_X", "low", "f1"), uid="loop4"),
        GlobalReduction("g1", "low", ReductionOp.MIN),
        dof_loop(built_in("sum_X", "total", "f1"), uid="loop5"),
        GlobalReduction("g2", "total", ReductionOp.SUM),
        dof_loop(built_in("inc_a_times_X", minus, "f1"), uid="loop6"),
        dof_loop(built_in("maxval_X", "high", "f1"), uid="loop7"),
        GlobalReduction("g3", "high", ReductionOp.MAX),
    )


def transformed(steps: str, planned: Callable[[Schedule, Rules], Schedule]) -> tuple[Schedule, str]:
    """Return the schedule that is `planned`, after `steps`, and its PSy layer.

    Its kernels are called as they are: nothing is said of what is in them.
    """
    counting = visits()
    (invoke,) = counting.invokes
    rules = LfricRules()
    bench = Workbench(planned(_with_named_calls(invoke.schedule), rules), rules)
    for request in read_steps(steps):
        if not needs_code(request.step):
            apply_request(bench, request)
    after = replace(invoke, schedule=bench.schedule)
    return bench.schedule, emit_unit(
        lower_program(replace(counting, invokes=(after,)), lfric_infrastructure())
    )


def link_visits(
    compiler: Compiler, layer: str, folder: Path, *flags: str, kernel_text: str = COUNTING_KERNEL
) -> Path:
    """Compile the program with a layer, without a warning, and return it."""
    texts = {"work": kernel_text, "psy": layer, "main": MAIN}
    return compiler.linked([SMALL_PLANE, *written(folder, texts)], folder, *flags)


def check_visits(counting: Path, threads: int = 1) -> None:
    """Run the program, which says nothing if all is right."""
    assert run([str(counting)], OMP_NUM_THREADS=str(threads)) == ""


def _with_named_calls(schedule: Schedule) -> Schedule:
    """Return the schedule with calls that are named after their loops."""
    for item in statements(schedule):
        if isinstance(item, Loop) and isinstance(inner := item.body[0], KernelCall):
            named = replace(item, body=(replace(inner, uid=f"call@{item.uid}"),))
            schedule = replaced(schedule, item.uid, named)
    return schedule
