"""Kernels with versions, for stencils of known sizes and for one level, leave the same bits.

On a periodic plane all stencils are full, and on one with borders some are smaller. Compiled with
all that the processor has: one that multiplies and adds in one step shows what is rounded less.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.programs import FLAGS, command, compile_sources
from runtime.test_infrastructure import ANSWER, SHARED

QUICK = ("-O2", "-march=native", "-fcheck=no-all")
HEADER = """module {name}_mod
  use argument_mod, only: arg_type, CELL_COLUMN, CROSS, GH_FIELD, GH_READ, GH_READWRITE, GH_REAL, &
                          GH_WRITE, REGION, STENCIL, X1D
  use constants_mod, only: i_def, r_def
  use fs_continuity_mod, only: W3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: {name}_type
    type(arg_type) :: meta_args({count}) = (/ arg_type(GH_FIELD, GH_REAL, {access}, W3), &
      {stencils} /)
    integer :: operates_on = CELL_COLUMN
  contains
    procedure, nopass :: {name}_code
  end type {name}_type
contains
  subroutine {name}_code(nlayers, mean, {dummies}, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf, map(ndf)
    real(r_def), intent(inout) :: mean(undf)
{declared}
    integer(i_def) :: k, s
{body}  end subroutine {name}_code
end module {name}_mod
"""
FIELD = """    integer(i_def), intent(in) :: n_{0}, {0}_at(ndf, n_{0})
    real(r_def), intent(in) :: {0}(undf)
"""
LEVELS = "    do k = 0, nlayers - 1\n      {}\n    end do\n"
SUM = "    do s = {}, n_{}\n  {}    end do\n"
MEAN = "mean(map(1) + k)"


def kernel(name: str, shapes: str, *parts: str, access: str = "GH_WRITE") -> str:
    """Return a kernel that reads stencils of `shapes` from x, and from y if these are two."""
    fields = dict(zip("xy", shapes.split(), strict=False))
    return HEADER.format(
        name=name, access=access, count=1 + len(fields), body="".join(parts),
        stencils=", &\n      ".join(
            f"arg_type(GH_FIELD, GH_REAL, GH_READ, W3, STENCIL({shape}))"
            for shape in fields.values()),
        dummies=", ".join(f"{one}, n_{one}, {one}_at" for one in fields),
        declared="".join(FIELD.format(one) for one in fields),
    )  # fmt: skip


def each(value: str) -> str:
    """Return a loop over levels that sets the mean."""
    return LEVELS.format(f"{MEAN} = {value}")


def added(value: str, of: str = "x", start: int = 2) -> str:
    return SUM.format(start, of, each(value).replace("\n    ", "\n      "))


PLUS = f"{MEAN} + x(x_at(1, s) + k)"
TIMES = "x(x_at(1, 1) + k) * x(x_at(1, s) + k)"


def blurred(shape: str) -> str:
    first = each("0.3_r_def * x(x_at(1, 1) + k) + 1.0_r_def")
    last = each(f"{MEAN} / real(n_x, r_def)")
    return kernel(f"blur_{shape.lower()}", shape, first, added(PLUS), last)


KERNELS = {
    **{f"blur_{shape.lower()}": blurred(shape) for shape in ("CROSS", "REGION", "X1D")},
    "pair": kernel(
        "pair", "CROSS X1D", each("0.3_r_def * x(x_at(1, 1) + k)"),
        added(f"{MEAN} + {TIMES}", start=1), each(f"{MEAN} / real(n_x, r_def)"),
        added(f"{MEAN} - 0.1_r_def * y(y_at(1, s) + k)", "y"), each(f"{MEAN} / n_y")),
    "weighed": kernel("weighed", "CROSS", each("0.0_r_def"),
                      added(f"{MEAN} + {TIMES} * real(s - 1, r_def)")),
    "chosen": kernel(
        "chosen", "CROSS", each(f"merge({TIMES.replace('(1, s)', '(1, 3)')}, 1.0_r_def, n_x > 4)"),
        added(PLUS)),
    "converted": kernel(
        "converted", "CROSS", each(f"real({TIMES.replace('(1, s)', '(1, 3)')}, r_def)"),
        added(PLUS)),
    "scaled": kernel("scaled", "CROSS", each("1.0_r_def"),
                     added(f"({PLUS}) * x(x_at(1, 1) + k)")),
    "apart": kernel("apart", "CROSS", each(TIMES.replace("(1, s)", "(1, 3)")),
                    each(f"{MEAN} + x(x_at(1, 2) + k)"), added(PLUS)),
    "plain": kernel("plain", "CROSS", each("x(x_at(1, 1) + k)"), added(PLUS),
                    each(f"{MEAN} / real(n_x, r_def)")),
    "known": kernel("known", "CROSS", each("0.5_r_def"),
                    added(f"{MEAN} + real(s, r_def) * 0.1_r_def"), each(f"{MEAN} / n_x"),
                    added(PLUS)),
}  # fmt: skip
"""Kernels by their names. Those that are not safe would leave other bits if all ran together."""
SAFE = ("blur_cross", "blur_region", "blur_x1d", "pair")
OF_ONE_LEVEL = ("blur_region", "plain")
"""Kernels of which `auto` makes a version for one level."""
CALLS = [
    *(f"{name}_type(means({{}}), x, {far})" for name in SAFE[:3] for far in ("far", "1", "2", "3")),
    *(f"{name}_type(means({{}}), x, far)" for name in KERNELS if name not in SAFE),
    *(f"pair_type(means({{}}), x, {far}, y, {far})" for far in ("far", "2")),
    "pair_type(means({}), x, 1, y, far)",
]
USES = "".join(f"  use {name}_mod, only: {name}_type\n" for name in KERNELS)
CALLED = "".join(f"    call invoke({call.format(at)})\n" for at, call in enumerate(CALLS, 1))
ALGORITHM = f"""module sizes_alg_mod
  use constants_mod, only: i_def, r_def
  use field_mod, only: field_type
{USES}  implicit none
contains
  subroutine blur(means, x, y, far)
    type(field_type), intent(inout) :: means({len(CALLS)}), x, y
    integer(i_def), intent(in) :: far
{CALLED}  end subroutine blur
end module sizes_alg_mod
"""
PROGRAM = f"""program sizes
  use checks_mod, only: answer, finish_checks, new_mesh, space, start_checks
  use constants_mod, only: i_def, i_halo_index, i_native, l_def, r_def
  use field_mod, only: field_proxy_type, field_type
  use fs_continuity_mod, only: W3
  use function_space_mod, only: function_space_type
  use, intrinsic :: iso_fortran_env, only: int64
  use mesh_mod, only: mesh_type
  use sizes_alg_mod, only: blur
  implicit none
  type(function_space_type), pointer :: fs
  type(mesh_type), pointer :: mesh
  type(field_type) :: x, y, means({len(CALLS)})
  type(field_proxy_type) :: proxy
  integer(i_def) :: far, plane, at, i
  integer(int64) :: mixed
  character(len=20) :: name

  call start_checks()
  do plane = 1, 4  ! two of three layers, two of one
    write (name, '(a, i0)') 'plane', plane
    mesh => new_mesh(trim(name), logical(mod(plane, 2) == 1, l_def), 9_i_def, 8_i_def, &
                     height=merge(3_i_def, 1_i_def, plane < 3))
    fs => space(mesh, W3)
    call set_field(x, 1.3_r_def)
    call set_field(y, 0.7_r_def)
    do far = 1, 3
      do at = 1, size(means)
        call set_field(means(at), 0.9_r_def)
      end do
      call blur(means, x, y, far)
      do at = 1, size(means)
        proxy = means(at)%get_proxy()
        mixed = 0
        do i = 1, fs%get_last_dof_owned()
          mixed = ieor(ishftc(mixed, 7), transfer(proxy%data(i), mixed))
        end do
        write (name, '(2(i0, a), i0)') plane, '-', far, '-', at
        call answer(trim(name), transfer(mixed, 1.0_r_def))
      end do
    end do
  end do
  call finish_checks()
contains
  subroutine set_field(field, seed)
    type(field_type), intent(inout) :: field
    real(r_def), intent(in) :: seed
    integer(i_halo_index), allocatable :: ids(:)
    call fs%get_global_dof_id(ids)
    call field%initialise(fs)
    proxy = field%get_proxy()
    proxy%data = sin(seed * real(ids(:size(proxy%data)) + 1, r_def))
  end subroutine set_field
end program sizes
"""
RECIPES = {
    "in place": ("-nodm", "--apply", "inline-summing-call"),
    "auto": ("-nodm", "--apply", "auto"),
    "storage": ("-nodm", "--target", "storage", "--apply", "inline-summing-call"),
}

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Built = Callable[[tuple[str, ...]], tuple[str, dict[str, str]]]


@pytest.fixture(scope="module")
def ran(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Return what gives a generated layer and the bits that it leaves, by options."""
    sources = tmp_path_factory.mktemp("sources")
    for name, text in {**KERNELS, "sizes_alg": ALGORITHM, "sizes": PROGRAM}.items():
        suffix = {"sizes_alg": "_mod.x90", "sizes": ".f90"}.get(name, "_mod.f90")
        (sources / f"{name}{suffix}").write_text(text, encoding="utf-8")

    @cache
    def built(options: tuple[str, ...]) -> tuple[str, dict[str, str]]:
        folder = tmp_path_factory.mktemp("sizes")
        algorithm = str(sources / "sizes_alg_mod.x90")
        words = [algorithm, "-d", str(sources), "--output-dir", str(folder), *options]
        assert main(words) == 0
        layer = folder / "sizes_alg_mod_psy.f90"
        kernels = folder / "kernels.f90"
        kernels.write_text("".join(KERNELS.values()), encoding="utf-8")
        parts = [SHARED, kernels, layer, folder / "sizes_alg_mod.f90", sources / "sizes.f90"]
        compile_sources(parts, folder, (library,), *QUICK)
        objects = [f"{path.stem}.o" for path in parts]
        command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "sizes"], folder)
        output = command(["env", "OMP_NUM_THREADS=2", str(folder / "sizes")], folder)
        return layer.read_text(encoding="utf-8"), dict(ANSWER.findall(output))

    return built


@pytest.mark.parametrize("recipe", RECIPES)
def test_versions_leave_the_same_bits(ran: Built, recipe: str) -> None:
    layer, found = ran(RECIPES[recipe])
    _, expected = ran(("-nodm",))
    assert len(set(expected.values())) > 80  # most have an extent of their own, on four planes
    names = dict(zip((f"{at}" for at in range(1, len(CALLS) + 1)), CALLS, strict=True))
    other = {one for one, bits in expected.items() if found[one] != bits}
    assert {f"{one} {names[one.split('-')[-1]]}" for one in other} == set()
    sizes = set(re.findall(r"_sizes\w*\(.*\) == (\d+)_i_def", layer))
    assert sorted(map(int, sizes)) == [3, 5, 7, 9, 13]
    versions = re.findall(r"subroutine invoke_\d+_(\w+)_type_\w+_one_level\(", layer)
    assert set(versions) == (set(OF_ONE_LEVEL) if recipe == "auto" else set())
