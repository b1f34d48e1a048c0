"""Steps on GOcean loops preserve results; constant bounds are those of the table.

The wave example runs with each recipe on one and on two threads: all printed numbers equal those of
the serial code. For constant bounds, kernels mark the points for which they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import linked_with
from psyclone_storage.cli.main import main
from psyclone_storage.domains.gocean.table import known_bounds
from psyclone_storage.ir.expr import Expr, Literal, integer_value
from psyclone_storage.ir.kernel import FIRST_INTERNAL, LAST_INTERNAL
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.ir.types import Intrinsic

pytestmark = pytest.mark.fortran

Run = Callable[..., list[str]]

RECIPES = (
    "swap-loops",
    "swap-loops; openmp-parallel-do",
    "tile-loops{rows=3 columns=5}; openmp-parallel-do",
    "fuse; tile-loops{rows=7 columns=2}; openmp-do; openmp-parallel",
    "chunk-loop{size=3}; openmp-parallel-do{schedule=dynamic}",
    "fuse{in_order=true}",
    "constant-loop-bounds; fuse; openmp-parallel-do",
)


@pytest.mark.parametrize("memory", ["-dm", "-nodm"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_points_in_another_order_have_the_same_values(waves: Run, recipe: str, memory: str) -> None:
    expected = waves("-nodm")
    assert waves(memory, "--apply", recipe, threads=1) == expected
    assert waves(memory, "--apply", recipe, threads=2) == expected


def test_flags_of_halos_do_not_change_the_answer(waves: Run) -> None:
    assert waves("-dm", "--config-opts", "DIRTY_FLAGS=true") == waves("-nodm")


SWEEP = """program sweep
  use edges_mod, only: edges
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  implicit none
  type(grid_type), target :: grid
  type(r2d_field) :: height
  real(go_wp), allocatable :: wanted(:, :)
  integer :: i, j
  call gocean_initialise()
  grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
  call grid%decompose(150, 9, halo_width=1)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  height = r2d_field(grid, go_t_points)
  do concurrent (j = 1:size(height%data, 2), i = 1:size(height%data, 1))
    height%data(i, j) = sin(real(i + 7 * j, go_wp))
  end do
  wanted = height%data
  associate (box => height%internal)
    do j = box%ystart, box%ystop
      do i = box%xstart, box%xstop
        wanted(i, j) = 0.5_go_wp * (wanted(i - 1, j - 1) + wanted(i, j))
      end do
    end do
    do j = box%ystart, box%ystop
      do i = box%xstart, box%xstop
        wanted(i, j) = 0.5_go_wp * (wanted(i, j - 1) + wanted(i, j))
      end do
    end do
  end associate
  call edges(height)
  print *, count(transfer(wanted, [0]) /= transfer(height%data, [0])), any(wanted > 0)
end program sweep
"""


def test_tiles_of_columns_sweep_to_the_same_bits(
    gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    """The columns, 150, are no multiple of those of a tile, 64."""
    case = Path(__file__).parents[1] / "cases" / "gocean" / "tiled_columns"
    words = ["-api", "gocean", "-nodm", str(case / "alg.x90"), "-d", str(case / "kernels")]
    made = [str(tmp_path / "psy.f90"), str(tmp_path / "alg.f90")]
    assert main([*words, "--apply", "auto", "-opsy", made[0], "-oalg", made[1]]) == 0
    assert "i_tile + 63" in Path(made[0]).read_text(encoding="utf-8")
    (tmp_path / "sweep.f90").write_text(SWEEP, encoding="utf-8")
    kernels = map(str, sorted((case / "kernels").glob("*.f90")))
    sources = [*kernels, *made, str(tmp_path / "sweep.f90"), *linked_with(gocean_library)]
    command = [*f90, "-fopenmp", "-fcheck=all", f"-J{tmp_path}"]
    run([*command, *sources, "-o", str(tmp_path / "sweep")])
    assert run([str(tmp_path / "sweep")], OMP_NUM_THREADS="2").split() == ["0", "T"]


# ---------------------------------------------------------------------------- constant bounds

NX, NY = 7, 5
STOP = {"inner": NX + 1, "outer": NY + 1}
FIELDS = ("ct", "cu", "cv", "cf", "every")
POINTS = {"t": "go_t_points", "u": "go_u_points", "v": "go_v_points", "f": "go_f_points"}
SETS = ("internal", "all")


@pytest.mark.parametrize("offset", ["ne", "sw"])
def test_constant_bounds_are_those_of_the_table(
    offset: str, gocean_library: Path, f90: tuple[str, ...], tmp_path: Path
) -> None:
    kinds = [(field, points) for field in FIELDS for points in SETS]
    for field, points in kinds:
        name = f"mark_{field}_{points}_mod.f90"
        (tmp_path / name).write_text(marker(field, points, offset), encoding="utf-8")
    (tmp_path / "marks.x90").write_text(marks(kinds, offset), encoding="utf-8")
    plain = marked(tmp_path, gocean_library, f90)
    constant = marked(
        tmp_path, gocean_library, f90, "--apply", "constant-loop-bounds{of_table=true}"
    )
    for (field, points), before, after in zip(kinds, plain, constant, strict=True):
        known = known_bounds(f"go_offset_{offset}", f"go_{field}", f"go_{points}_pts")
        assert known is not None
        bounds = known.bounds
        texts = (bounds.inner_start, bounds.inner_stop, bounds.outer_start, bounds.outer_stop)
        assert after == [
            index(text, STOP["inner" if at < 2 else "outer"]) for at, text in enumerate(texts)
        ], (field, points)
        if known.own:
            assert before == after, (field, points)


def index(bound: Expr, stop: int) -> int:
    """Return the value of a bound of an internal region from 2 to `stop`."""
    ends = {FIRST_INTERNAL.text: number(2), LAST_INTERNAL.text: number(stop)}
    value = integer_value(substituted(bound, ends))
    assert value is not None
    return value


def number(value: int) -> Literal:
    return Literal(str(value), Intrinsic.INTEGER)


def marked(folder: Path, library: Path, f90: tuple[str, ...], *options: str) -> list[list[int]]:
    """Return the first and last column and row of the points that each kernel is called for."""
    layer, algorithm = folder / "psy.f90", folder / "alg.f90"
    words = ["-api", "gocean", "-nodm", str(folder / "marks.x90"), "-d", str(folder), *options]
    assert main([*words, "-oalg", str(algorithm), "-opsy", str(layer)]) == 0
    kernels = sorted(folder.glob("mark_*_mod.f90"))
    sources = [*map(str, (*kernels, layer, algorithm)), *linked_with(library)]
    command = [*f90, "-fcheck=all", "-Wall", "-Werror", f"-J{folder}"]
    run([*command, *sources, "-o", str(folder / "marks")])
    lines = run([str(folder / "marks")]).splitlines()
    return [[int(word) for word in line.split()] for line in lines]


def marker(field: str, points: str, offset: str) -> str:
    """Return the module of a kernel that sets to 1 the points that it is called for."""
    name = f"mark_{field}_{points}"
    return f"""module {name}_mod
  use argument_mod
  use grid_mod, only: go_offset_{offset}
  use kernel_mod
  use kind_params_mod, only: go_wp
  implicit none
  private
  type, public, extends(kernel_type) :: {name}
    type(go_arg) :: meta_args(1) = (/ go_arg(GO_WRITE, GO_{field}, GO_POINTWISE) /)
    integer :: iterates_over = GO_{points}_PTS
    integer :: index_offset = GO_OFFSET_{offset}
  contains
    procedure, nopass :: code => {name}_code
  end type {name}
  public :: {name}_code
contains
  subroutine {name}_code(i, j, field)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: field(:, :)
    field(i, j) = 1.0_go_wp
  end subroutine {name}_code
end module {name}_mod
"""


def marks(kinds: list[tuple[str, str]], offset: str) -> str:
    """Return a program that calls all marking kernels and prints which points they marked."""
    names = [f"mark_{field}_{points}" for field, points in kinds]
    uses = "\n".join(f"  use {name}_mod, only: {name}" for name in names)
    steps = "\n".join(
        f"  field = r2d_field(grid, go_{'all' if kind == 'every' else kind[-1]}_points)\n"
        f"  call invoke({name}(field))\n  call show()"
        for name, (kind, _) in zip(names, kinds, strict=True)
    )
    return f"""program marks
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
{uses}
  implicit none
  type(grid_type), target :: grid
  type(r2d_field) :: field
  call gocean_initialise()
  grid = grid_type(GO_ARAKAWA_C, [GO_BC_NONE, GO_BC_NONE, GO_BC_NONE], GO_OFFSET_{offset})
  call grid%decompose({NX}, {NY}, halo_width=1)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
{steps}
  call gocean_finalise()
contains
  subroutine show()
    print '(4i4)', findloc(any(field%data > 0.5_go_wp, 2), .true., 1), &
        findloc(any(field%data > 0.5_go_wp, 2), .true., 1, back=.true.), &
        findloc(any(field%data > 0.5_go_wp, 1), .true., 1), &
        findloc(any(field%data > 0.5_go_wp, 1), .true., 1, back=.true.)
  end subroutine show
end program marks
"""
