"""Small kernels of LFRic in Fortran that are translated to Python and run there for one column."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from command import run_command

_MODULE = """\
module small_mod
  use argument_mod
  use constants_mod, only: i_def, r_def, l_def
  use fs_continuity_mod, only: w0, w3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type) :: small_type
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(gh_field, gh_real, gh_readwrite, w3), &
      arg_type(gh_field*2, gh_real, gh_read, w0), &
      arg_type(gh_operator, gh_real, gh_read, w3, w0), &
      arg_type(gh_field, gh_integer, gh_read, w3), &
      arg_type(gh_scalar, gh_real, gh_read) /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: code => small_code
  end type small_type
contains
  subroutine small_code(cell, nlayers, y, x_1, x_2, ncell_3d, m, idx, a, &
                        ndf_w3, undf_w3, map_w3, ndf_w0, undf_w0, map_w0)
    integer(i_def), intent(in) :: cell, nlayers, ncell_3d, ndf_w3, undf_w3, ndf_w0, undf_w0
    integer(i_def), intent(in) :: map_w3(ndf_w3), map_w0(ndf_w0)
    real(r_def), intent(inout) :: y(undf_w3)
    real(r_def), intent(in) :: x_1(undf_w0), x_2(undf_w0)
    real(r_def), intent(in) :: m(ncell_3d, ndf_w3, ndf_w0)
    integer(i_def), intent(in) :: idx(undf_w3)
    real(r_def), intent(in) :: a
{body}
  end subroutine small_code
end module small_mod
"""


def module_text(body: str) -> str:
    """Return a module `small_mod` with a kernel `small_type` of one body."""
    return _MODULE.format(body=body)


def in_python(text: str, folder: Path) -> str:
    """Return what a module of Fortran is in Python, or else what is said of it."""
    (folder / "small_mod.f90").write_text(text)
    words = ["psyclone-storage-kern", "-api", "lfric", "-gen", "python", "small_mod.f90"]
    done = run_command([*words, "-o", "small_mod.py"], folder)
    return (folder / "small_mod.py").read_text() if done.status == 0 else done.err


def loaded(body: str, folder: Path) -> ModuleType:
    """Return a kernel of one body as a module of Python that can be run."""
    made = in_python(module_text(body), folder)
    assert "error[" not in made, made
    module = ModuleType("small_mod")
    exec(compile(made, str(folder / "small_mod.py"), "exec"), module.__dict__)
    return module
