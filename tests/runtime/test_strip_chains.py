"""Loops over a grid that run strip by strip: the bits of the program without strips.

Later loops read rows to the south and north, write rows that earlier loops read, and modify rows in
place from both neighbours. Sizes include 1, 2, the strip height and its neighbours, and a grid of
which some rows fit in the cache. Two fields are elements of an array whose indices are equal for
some steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fortran import run
from libraries import archive_in
from psyclone_storage.cli.main import main

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

FLAGS = ("-O1", "-ffp-contract=off", "-fcheck=all")
STENCILS = {
    "south": ("go_read", "000,010,010", "w(i, j) = 0.5_go_wp * w(i, j) + r(i, j - 1) - r(i, j)"),
    "north": ("go_read", "010,010,000", "w(i, j) = 0.25_go_wp * w(i, j) + r(i, j + 1) + r(i, j)"),
    "around": (
        "go_read",
        "111,111,111",
        "w(i, j) = 0.5_go_wp * w(i, j) + r(i - 1, j + 1) * 0.25_go_wp - r(i + 1, j - 1)",
    ),
}
KERNEL = """module NAME_mod
  use argument_mod
  use grid_mod, only: go_offset_ne
  use kernel_mod
  use kind_params_mod, only: go_wp
  implicit none
  private
  type, public, extends(kernel_type) :: NAME
    type(go_arg) :: meta_args(ARGS) = (/ META /)
    integer :: iterates_over = POINTS
    integer :: index_offset = GO_OFFSET_NE
  contains
    procedure, nopass :: code => NAME_code
  end type NAME
  public :: NAME_code
contains
  subroutine NAME_code(i, j, w, r)
    integer, intent(in) :: i, j
    real(go_wp), intent(inout) :: w(:, :)
    real(go_wp), intent(in) :: r(:, :)
    BODY
  end subroutine NAME_code
end module NAME_mod
"""
ALGORITHM = """subroutine sea(a, b, c, d, e, m, n)
  use field_mod, only: r2d_field
  use south_mod, only: south
  use north_mod, only: north
  use around_mod, only: around
  use both_mod, only: both
  use copied_mod, only: copied
  implicit none
  type(r2d_field), intent(inout) :: a, b, c, d, e(2)
  integer, intent(in) :: m, n
  call invoke(south(b, a), north(c, b), copied(a, c), both(c), around(d, c), copied(e(m), d), &
      north(b, e(n)), both(b), south(a, b), around(c, a), copied(d, b))
end subroutine sea
"""
PROGRAM = """program strips
  use, intrinsic :: iso_fortran_env, only: int64
  use field_mod
  use gocean_mod
  use grid_mod
  use kind_params_mod, only: go_wp
  implicit none
  interface
    subroutine sea(a, b, c, d, e, m, n)
      import :: r2d_field
      type(r2d_field), intent(inout) :: a, b, c, d, e(2)
      integer, intent(in) :: m, n
    end subroutine sea
  end interface
  integer, parameter :: sizes(2, 8) = reshape([5, 1, 1, 2, 6, 3, 4, 4, 7, 5, 3, 6, 5, 17, &
      2600, 23], [2, 8])
  integer(int64) :: bits
  integer :: first, number
  character(8) :: word

  call get_command_argument(1, word)
  read (word, *) first
  call gocean_initialise()
  do number = first, 8
    bits = 0_int64
    call compute(sizes(1, number), sizes(2, number))
    print '(a, 2i4, i21)', 'bits', sizes(:, number), bits
  end do
  call gocean_finalise()

contains

  subroutine compute(nx, ny)
    integer, intent(in) :: nx, ny
    type(grid_type), target :: grid
    type(r2d_field) :: a, b, c, d, e(2)
    integer :: step

    grid = grid_type(go_arakawa_c, [go_bc_none, go_bc_none, go_bc_none], go_offset_ne)
    call grid%decompose(nx, ny, halo_width=1)
    call grid_init(grid, 1.0_go_wp, 1.0_go_wp)
    call make(grid, a, 1)
    call make(grid, b, 2)
    call make(grid, c, 3)
    call make(grid, d, 4)
    call make(grid, e(1), 5)
    call make(grid, e(2), 6)
    do step = 1, 4
      call sea(a, b, c, d, e, 1 + mod(step, 2), 2 - step / 3)
    end do
    call look(a)
    call look(b)
    call look(c)
    call look(d)
    call look(e(1))
    call look(e(2))
  end subroutine compute

  subroutine make(grid, field, seed)
    type(grid_type), target, intent(in) :: grid
    type(r2d_field), intent(inout) :: field
    integer, intent(in) :: seed
    integer :: i, j

    field = r2d_field(grid, go_t_points)
    associate (all => grid%subdomain%global, own => grid%subdomain%internal)
      do j = 1, size(field%data, 2)
        do i = 1, size(field%data, 1)
          field%data(i, j) = sin(real(seed * (i - own%xstart + all%xstart) &
              + 7 * (j - own%ystart + all%ystart), go_wp))
        end do
      end do
    end associate
  end subroutine make

  subroutine look(field)
    type(r2d_field), intent(in) :: field
    integer :: i, j

    associate (own => field%internal)
      do j = own%ystart, own%ystop
        do i = own%xstart, own%xstop
          bits = ishftc(bits, 5) + transfer(field%data(i, j), 0_int64)
        end do
      end do
    end associate
  end subroutine look

end program strips
"""
ELEMENT = """subroutine sea(a, b, c, d, e, m, n)
  use field_mod, only: r2d_field
  use south_mod, only: south
  use scaled_mod, only: scaled
  implicit none
  type(r2d_field), intent(inout) :: a, b, c, d, e(2)
  integer, intent(in) :: m, n
  call invoke(south(b, a), scaled(c, VALUE), south(d, c))
end subroutine sea
"""
NAMES = (*STENCILS, "both", "copied", "scaled")

Strips = Callable[..., Path]


def kernel(name: str) -> str:
    """Return the module of a kernel."""
    points, point = "GO_INTERNAL_PTS", "GO_CT, GO_POINTWISE"
    if name == "both":
        meta = "go_arg(GO_READWRITE, GO_CT, GO_STENCIL(010,010,010))"
        body = "w(i, j) = w(i, j) + 0.25_go_wp * w(i, j - 1) - 0.125_go_wp * w(i, j + 1)"
        text = KERNEL.replace("w, r)", "w)").replace("    real(go_wp), intent(in) :: r(:, :)\n", "")
        return filled(text, name, (meta, "1", points, body))
    if name == "scaled":
        meta = f"go_arg(GO_READWRITE, {point}), go_arg(GO_READ, GO_R_SCALAR, GO_POINTWISE)"
        text = KERNEL.replace("r(:, :)", "r")
        return filled(text, name, (meta, "2", points, "w(i, j) = w(i, j) * r"))
    if name == "copied":
        meta = "go_arg(GO_WRITE, GO_EVERY, GO_POINTWISE), go_arg(GO_READ, GO_EVERY, GO_POINTWISE)"
        return filled(KERNEL, name, (meta, "2", "GO_ALL_PTS", "w(i, j) = r(i, j)"))
    access, stencil, body = STENCILS[name]
    meta = f"go_arg(GO_READWRITE, {point}), go_arg({access}, GO_CT, GO_STENCIL({stencil}))"
    return filled(KERNEL, name, (meta, "2", points, body))


def filled(text: str, name: str, parts: tuple[str, str, str, str]) -> str:
    """Return the text of a kernel with its metadata, number of arguments, points and body."""
    meta, number, points, body = parts
    text = text.replace("NAME", name).replace("META", meta).replace("ARGS", number)
    return text.replace("POINTS", points).replace("BODY", body)


@pytest.fixture(scope="module")
def strips(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Strips:
    """Return a function that generates the layer with options and compiles the program."""

    def made(*options: str, algorithm: str = ALGORITHM) -> Path:
        folder = tmp_path_factory.mktemp("strips")
        for name in NAMES:
            (folder / f"{name}_mod.f90").write_text(kernel(name), encoding="utf-8")
        (folder / "alg.x90").write_text(algorithm, encoding="utf-8")
        layer = [str(folder / "psy.f90"), str(folder / "alg.f90")]
        words = ["-api", "gocean", str(folder / "alg.x90"), "-d", str(folder), *options]
        assert main([*words, "-opsy", layer[0], "-oalg", layer[1]]) == 0
        (folder / "strips.f90").write_text(PROGRAM, encoding="utf-8")
        kernels = [str(folder / f"{name}_mod.f90") for name in NAMES]
        sources = [*kernels, *layer, str(folder / "strips.f90"), archive_in(gocean_library)]
        command = ["mpif90", *FLAGS, "-fopenmp", f"-I{gocean_library}", f"-J{folder}", *sources]
        run([*command, "-o", str(folder / "strips")])
        return folder / "strips"

    return made


def bits_of(program: Path, ranks: int = 1, threads: int = 1) -> list[str]:
    """Return the bits of each rank; several ranks need the larger sizes."""
    first = 1 if ranks == 1 else 7
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), str(program)]
    lines = run([*words, str(first)], OMP_NUM_THREADS=str(threads)).splitlines()
    found = sorted(line for line in lines if line.startswith("bits"))
    assert len(found) == ranks * (9 - first)
    return found


@pytest.fixture(scope="module")
def plain(strips: Strips) -> list[str]:
    """Return the bits of the program without steps."""
    return bits_of(strips("-nodm"))


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_serial_strips(strips: Strips, plain: list[str], rows: int) -> None:
    program = strips("-nodm", "--apply", f"strip-mine-chain{{rows={rows}}}")
    assert "do j_strip" in (program.parent / "psy.f90").read_text(encoding="utf-8")
    assert bits_of(program) == plain


def test_threads_share_the_rows_of_a_strip(strips: Strips, plain: list[str]) -> None:
    steps = "inline-point-call; fuse; tile-columns{size=2}; openmp-do; openmp-parallel; outline"
    program = strips("-nodm", "--apply", f"{steps}; strip-mine-chain{{rows=4}}")
    assert "do j_strip" in (program.parent / "psy.f90").read_text(encoding="utf-8")
    assert bits_of(program, threads=3) == plain


def test_columns_outside(strips: Strips, plain: list[str]) -> None:
    steps = "swap-loops; strip-mine-chain{rows=2}"
    assert bits_of(strips("-nodm", "--apply", steps)) == plain


def test_strips_that_fit_in_the_cache(strips: Strips, plain: list[str]) -> None:
    """A mebibyte contains some rows of the largest grid, and all rows of the others."""
    assert bits_of(strips("-nodm", "--apply", "strip-mine-chain")) == plain


@pytest.mark.parametrize("threads", [1, 3])
def test_auto_has_strips_on_one_thread(strips: Strips, plain: list[str], threads: int) -> None:
    program = strips("-nodm", "--apply", "auto")
    text = (program.parent / "psy.f90").read_text(encoding="utf-8")
    assert "do j_strip" in text
    assert "max(1, last_row - first_row + 1), one_thread)" in text.replace("&\n", "")
    assert bits_of(program, threads=threads) == plain


def test_exchanges_divide_a_chain(strips: Strips) -> None:
    without, divided = strips("-dm"), strips("-dm", "--apply", "strip-mine-chain{rows=3}")
    assert "do j_strip" in (divided.parent / "psy.f90").read_text(encoding="utf-8")
    for ranks in (1, 2, 4):
        assert bits_of(divided, ranks) == bits_of(without, ranks)


@pytest.mark.parametrize("steps", ["strip-mine-chain{rows=1}", "inline-point-call; fuse", "auto"])
@pytest.mark.parametrize(
    ("value", "apart"), [("b%data(3, 4)", True), ("0.5 * b%data(3, 4)", False)]
)
def test_elements_of_changed_fields_as_scalars(
    strips: Strips, steps: str, value: str, *, apart: bool
) -> None:
    """The whole field must be computed before a kernel reads an element; a product is a copy."""
    algorithm = ELEMENT.replace("VALUE", value)
    program = strips("-nodm", "--apply", steps, algorithm=algorithm)
    text = (program.parent / "psy.f90").read_text(encoding="utf-8")
    assert bits_of(program) == bits_of(strips("-nodm", algorithm=algorithm))
    if steps.startswith("strip"):
        assert ("do j_strip" in text) is not apart
