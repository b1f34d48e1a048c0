"""GOcean's constant loop bounds on grids with halos of any width: values, on several ranks.

With storages, the stale copy of a field is NaN, on the host and on the emulated device.
"""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path

import pytest

from libraries import linked_with
from pairwise import selected
from psyclone_storage.cli.main import main
from runtime.programs import FLAGS, command

SOURCE = Path(__file__).parents[2] / "src"
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
KERNEL = """\
module {name}_mod
  use argument_mod
  use kernel_mod
  use kind_params_mod, only: go_wp
  use grid_mod, only: go_offset_ne
  implicit none
  type, extends(kernel_type) :: {name}
    type(go_arg) :: meta_args({count}) = (/ {args} /)
    integer :: iterates_over = {over}
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => {name}_code
  end type
contains
  subroutine {name}_code(i, j, new{dummy})
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: new(:, :)
    {declare}
    {line}
  end subroutine
end module
"""
OLD = "real(go_wp), intent(in) :: old(:, :)"
DECAY = KERNEL.format(
    name="decay", count=1, args="go_arg(GO_READWRITE, GO_CT, GO_POINTWISE)", over="GO_INTERNAL_PTS",
    dummy="", declare="", line="new(i, j) = 0.5_go_wp * new(i, j) + i - i",
)  # fmt: skip
SET_ALL = KERNEL.format(
    name="set_all", count=1, args="go_arg(GO_WRITE, GO_CT, GO_POINTWISE)", over="GO_ALL_PTS",
    dummy="", declare="", line="new(i, j) = 7.0_go_wp",
)  # fmt: skip
ALGORITHM = """\
program widths
  use decay_mod, only: decay
  use set_all_mod, only: set_all
  use smooth_mod, only: smooth
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  use parallel_mod, only: get_num_ranks
  implicit none
  type(grid_type), target :: grid
  type(r2d_field) :: h1, h2, h3, h4
  character(8) :: word
  integer :: width, i, j
  real(go_wp), pointer :: smoothed(:, :), set(:, :)
  call gocean_initialise()
  call get_command_argument(1, word)
  read (word, *) width
  grid = grid_type(go_arakawa_c, [go_bc_periodic, go_bc_periodic, go_bc_none], go_offset_ne)
  call grid%decompose(13, 11, halo_width=width)
  call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
  h1 = r2d_field(grid, go_t_points)
  h2 = r2d_field(grid, go_t_points)
  h3 = r2d_field(grid, go_t_points)
  h4 = r2d_field(grid, go_t_points)
  associate (own => grid%subdomain%internal, all => grid%subdomain%global)
    h1%data = 1.0_go_wp
    h3%data = 2.0_go_wp
    h4%data = 3.0_go_wp
    do j = own%ystart, own%ystop
      do i = own%xstart, own%xstop
        h2%data(i, j) = (i - own%xstart + all%xstart) + 100 * (j - own%ystart + all%ystart)
        h3%data(i, j) = h2%data(i, j)
      end do
    end do
    call invoke(smooth(h1, h2), decay(h3), set_all(h4), smooth(h2, h3))
    print '(a, 4(1x, f0.3))', 'sums', field_checksum(h1), field_checksum(h2), field_checksum(h3), &
      field_checksum(h4)
    smoothed => h1%get_data()
    set => h4%get_data()
    do j = 1, grid%ny
      do i = 1, grid%nx
        if (i >= own%xstart .and. i <= own%xstop .and. j >= own%ystart .and. j <= own%ystop) cycle
        if (abs(smoothed(i, j) - 1.0_go_wp) > 0) print '(a)', 'a point of the halo was written'
        if (i >= own%xstart - 1 .and. i <= own%xstop + 1 .and. j >= own%ystart - 1 .and. &
            j <= own%ystop + 1) cycle
        if (abs(set(i, j) - 3.0_go_wp) > 0) print '(a)', 'a point beyond the region was written'
      end do
    end do
  end associate
  call gocean_finalise()
end program widths
"""

ON_DEVICE = "inline-kernel-module; acc-routine; acc-loop; acc-parallel"
INSIDE, AROUND = "do j = jstart, jstop", "do j = jstart - 1, jstop + 1"
PYTHON = """\
import sys
from psyclone_storage.gocean import *
from psyclone_storage.runtime.gocean import Field, Grid

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,110,010")]):
    new[0, 0] = old[0, 0] + 2.0 * old[-1, 0] + 3.0 * old[0, -1]

@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def decay(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = 0.5 * new[0, 0]

@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_NE)
def set_all(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = 7.0

for width in (1, 2, 3):
    grid = Grid((13, 11), periodic=(True, False), halo=width)
    values = [[i + 100.0 * j for j in range(1, 12)] for i in range(1, 14)]
    h1, h2, h3, h4 = (Field(grid, values=values) for _ in range(4))
    invoke(smooth(h1, h2), decay(h3), set_all(h4), smooth(h2, h3))
    sums = [field.sum(reproducible=True) for field in (h1, h2, h3, h4)]
    written = (h4.storage.data_ro == 7.0).sum(axis=0)
    if grid.ranks.rank == 0:
        print("sums", width, *sums)
    if grid.ranks.size == 1:
        print("written", width, *written)
"""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


def smooth(reach: int) -> str:
    """Return a kernel that reads a point so far to the west and one to the south."""
    return KERNEL.format(
        name="smooth", count=2,
        args="go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &\n"
        f"go_arg(GO_READ, GO_CT, GO_STENCIL(000,{reach}10,0{reach}0))",
        over="GO_INTERNAL_PTS", dummy=", old", declare=OLD,
        line=f"new(i, j) = old(i, j) + 2 * old(i - {reach}, j) + 3 * old(i, j - {reach})",
    )  # fmt: skip


def built(library: Path, folder: Path, reach: int, *options: str) -> Path:
    """Return the program, generated with some options."""
    folder.mkdir()
    kernels = {"decay": DECAY, "set_all": SET_ALL, "smooth": smooth(reach)}
    for name, text in kernels.items():
        (folder / f"{name}_mod.f90").write_text(text)
    (folder / "alg.x90").write_text(ALGORITHM)
    words = ["-api", "gocean", "-d", str(folder), "--check", *options]
    out = ["-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]
    assert main([str(folder / "alg.x90"), *words, *out]) == 0
    sources = [*(f"{name}_mod.f90" for name in kernels), "psy.f90", "alg.f90"]
    command(["mpif90", *FLAGS, *sources, *linked_with(library), "-o", "program"], folder)
    return folder / "program"


@pytest.mark.parametrize("reach", [1, 2])
@pytest.mark.parametrize(
    "recipe",
    ["constant-loop-bounds", "constant-loop-bounds; fuse; tile-loops; openmp-parallel-do"],
    ids=["plain", "fused"],
)
def test_constant_bounds_follow_the_halo_width(
    gocean_library: Path, tmp_path: Path, recipe: str, reach: int
) -> None:
    plain = built(gocean_library, tmp_path / "plain", reach, "-nodm")
    serial = built(gocean_library, tmp_path / "serial", reach, "-nodm", "--apply", recipe)
    on_ranks = built(gocean_library, tmp_path / "ranks", reach, "-dm", "--apply", recipe)
    exchanging = built(gocean_library, tmp_path / "exchanging", reach, "-dm")
    for width in (width for width in (1, 2, 3, 5) if width >= reach):
        answers = {_said(on_ranks, ranks, width) for ranks in (1, 2, 4)}
        assert answers == {_said(exchanging, 1, width)}
        assert _said(serial, 1, width) == _said(plain, 1, width)


FUSED_FOR_THREADS = "; fuse; openmp-parallel-do"


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(("storage", "registry"), ("", FUSED_FOR_THREADS, f"; {ON_DEVICE}"))],
        ("storage", ""), ("registry", FUSED_FOR_THREADS), ("storage", f"; {ON_DEVICE}"),
    ),
)  # fmt: skip
def test_storages_keep_the_points_beyond_constant_bounds(
    gocean_library: Path, emulated_gocean: Path, tmp_path: Path, combination: tuple[str, str]
) -> None:
    """A loop over all points writes all of a field only where the halo is one point wide."""
    target, steps = combination
    words = ("-dm", "--target", target, "--apply", f"constant-loop-bounds{steps}")
    plain = built(gocean_library, tmp_path / "plain", 1, "-dm")
    stored = built(emulated_gocean, tmp_path / "stored", 1, *words)
    text = (tmp_path / "stored" / "psy.f90").read_text()
    assert (text.count(f"{INSIDE}\n"), text.count(f"{AROUND}\n")) == (3 - ("fuse" in steps), 1)
    for width in (1, 2, 3, 5):
        answers = {_said(stored, ranks, width) for ranks in (1, 2, 4)}
        assert answers == {_said(plain, 1, width)}


FUSED = "constant-loop-bounds; fuse"


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(("c", "numpy"), ("constant-loop-bounds", FUSED))],
        ("c", FUSED),
        ("numpy", "constant-loop-bounds"),
    ),
)
def test_constant_bounds_follow_the_halo_width_in_python(
    tmp_path: Path, combination: tuple[str, str]
) -> None:
    target, recipe = combination
    pytest.importorskip("mpi4py")
    (tmp_path / "al.py").write_text(PYTHON)
    plain = _said_in_python(tmp_path, "plain", "1", "--target", target)
    assert len(plain) == 6
    for ranks in ("1", "2", "4"):
        words = ("--target", target, "--check", "--apply", recipe)
        said = _said_in_python(tmp_path, f"bounded_{ranks}", ranks, *words)
        assert _layer(tmp_path / f"bounded_{ranks}") != _layer(tmp_path / "plain")
        assert said == (plain if ranks == "1" else plain[:3])


def _layer(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.glob("*_psy*")) if path.is_file()]


def _said_in_python(folder: Path, name: str, ranks: str, *options: str) -> list[str]:
    made = folder / name
    made.mkdir()
    out = ["-oalg", str(made / "al.py"), "-opsy", str(made / "al_psy.py")]
    assert main([str(folder / "al.py"), *options, *out]) == 0
    words = ["env", f"PYTHONPATH={SOURCE}", *MPIRUN, ranks, sys.executable, "al.py"]
    return sorted(re.findall(r"sums .*|written .*", command(words, made)))


def _said(program: Path, ranks: int, width: int) -> str:
    said = command([*MPIRUN, str(ranks), str(program), str(width)], program.parent)
    assert "was written" not in said
    return re.findall(r"sums .*", said)[0]
