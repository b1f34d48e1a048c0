"""Random invokes for storages: kernels that write all, some or none of their points, both APIs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from gocean_programs import TABLES, program
from properties.random_schedules import RULES, random_case
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies as grid_dummies
from psyclone_storage.domains.gocean.metadata import interpret_gocean_metadata
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies as mesh_dummies
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Schedule
from psyclone_storage.ir.walk import kernel_calls, replaced
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.metadata import read_kernel
from psyclone_storage.transform.halos import with_halos

BODIES = {
    "always": "a(i,j) = 2.0 * b(i,j)",
    "both": "if (b(i,j) > 0.0) then\n a(i,j) = 1.0\n else\n a(i,j) = 2.0\n end if",
    "late": "x = b(i,j)\n do k = 1, 3\n x = x + 1.0\n end do\n a(i,j) = x",
    "some": "if (b(i,j) > 0.0) a(i,j) = 1.0",
    "leaves": "if (b(i,j) > 0.0) return\n a(i,j) = 1.0",
    "looks": "a(i,j) = a(i,j) + b(i,j)",
    "turns": "do k = 1, 3\n a(i,j) = b(i,j)\n end do",
    "chooses": "if (b(i,j) > 0.0) then\n a(i,j) = 1.0\n else if (b(i,j) < 0.0) then\n"
    " a(i,j) = 2.0\n end if",
    "tests": "if (a(i,j) > 0.0) x = 1.0\n a(i,j) = x",
}
OVER = ("go_internal_pts", "go_all_pts")
ACCESSES = ("go_write", "go_readwrite")
STENCILS = ("go_pointwise", "go_stencil(000,110,000)")


def grid_text(name: str, body: str, access: str, over: str, stencil: str) -> str:
    """Return the module of a kernel that changes its first argument and reads its second."""
    return f"""module {name}_mod
type, extends(kernel_type) :: {name}
type(go_arg) :: meta_args(2) = (/ go_arg({access}, go_ct, go_pointwise), &
 go_arg(go_read, go_ct, {stencil}) /)
integer :: iterates_over = {over}
integer :: index_offset = go_offset_ne
contains
procedure, nopass :: code => {name}_code
end type
contains
subroutine {name}_code(i, j, a, b)
integer, intent(in) :: i, j
real(go_wp), intent(inout) :: a(:,:)
real(go_wp), intent(in) :: b(:,:)
real(go_wp) :: x
integer :: k
{body}
end subroutine
end module
"""


def grid_kernels() -> tuple[Mapping[str, Kernel], Mapping[str, tuple[Routine, ...]]]:
    """Return kernels for grids by name, and the code of each."""
    kernels, codes = {}, {}
    for which, body in BODIES.items():
        for number, over in enumerate(OVER):
            for access in ACCESSES:
                for reach, stencil in enumerate(STENCILS):
                    name = f"{which}{number}{access[3:]}{reach}"
                    source = SourceText(f"{name}.f90", grid_text(name, body, access, over, stencil))
                    kernels[name] = interpret_gocean_metadata(read_kernel(source, name), TABLES)
                    codes[name] = (read_code(source, f"{name}_code"),)
    return kernels, codes


KERNELS, CODES = grid_kernels()


def grid_case(seed: int) -> Schedule:
    """Return an invoke of up to five calls for points of a grid, with its halo exchanges."""
    rng = random.Random(seed)
    calls = []
    for _ in range(rng.randint(1, 5)):
        first, second = rng.sample("abc", 2)
        calls.append(f"{rng.choice(sorted(KERNELS))}({first}, {second})")
    made = program(KERNELS, ", ".join(calls), distributed=rng.random() < 0.7)
    return made.invokes[0].schedule


def mesh_case(seed: int) -> Schedule:
    """Return an LFRic invoke with its halo exchanges; some names may be one object."""
    schedule = random_case(seed).schedule
    for call in kernel_calls(schedule):
        schedule = replaced(schedule, call.uid, replace(call, dummies=mesh_dummies(call.kernel)))
    if seed % 3 == 0 and len(schedule.data) > 3 and schedule.data[1].name == "f1":
        first, second, *others = schedule.data
        if first.vector == second.vector:
            first = replace(first, may_alias=("f1",))
            second = replace(second, may_alias=("f0",))
            schedule = replace(schedule, data=(first, second, *others))
    return with_halos(schedule, RULES)


def mesh_code(kernel: Kernel) -> tuple[Routine, ...]:
    """Return code that writes each argument that the kernel writes, some of it on a condition.

    Kernels with an odd number in their names leave values as they are.
    """
    dummies = mesh_dummies(kernel)
    if not dummies:
        return ()
    names = ", ".join(dummy.name for dummy in dummies)
    number = int(kernel.name.removeprefix("kernel").removesuffix("_type"))
    body = "\n".join(
        written_column(dummy, dummies, number) if dummy.shape else f"{dummy.name} = 0.0"
        for dummy in dummies
        if dummy.access.writes
    )
    if number % 2:
        body = f"if (nlayers > 3) then\n{body}\nend if"
    text = f"module m\ncontains\nsubroutine code({names})\n{body}\nend subroutine\nend module\n"
    return (read_code(SourceText("m.f90", text), "code"),)


def written_column(dummy: Dummy, dummies: tuple[Dummy, ...], number: int) -> str:
    """Return what writes a column of a field: of four kernels one leaves out the lowest level."""
    of_space = [one for one in dummies if one.space == dummy.space]
    dofmap = next((one.name for one in of_space if one.role is Role.DOFMAP), None)
    ndf = next((one.name for one in of_space if one.role is Role.NDF), None)
    if dofmap is None or ndf is None:
        return f"{dummy.name}(1) = 0.0"
    first = 1 if number % 4 == 2 else 0
    loops = [f"do df = 1, {ndf}", f"do k = {first}, nlayers - 1"]
    if number % 3:
        loops.reverse()
    inside = f"{dummy.name}({dofmap}(df) + k) = 0.0"
    return "\n".join((*loops, inside, "end do", "end do"))


GRID_RULES = GoceanRules()
GRID_DUMMIES, MESH_DUMMIES = grid_dummies, mesh_dummies
