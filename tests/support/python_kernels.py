"""Small kernels in Fortran that are translated to Python and run there for one point.

Also runs programs that call kernels in processes that have imported the package already.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np

from command import run_command
from forked_calls import in_child
from psyclone_storage import gocean
from psyclone_storage.runtime.gocean import Field, Grid

_HEAD = """\
module {name}_mod
  use argument_mod
  use grid_mod
  use kernel_mod
  use kind_params_mod, only: go_wp
{imports}
  implicit none
"""
_TYPE = """\
  type, extends(kernel_type) :: {name}
    type(go_arg), dimension(2) :: meta_args = (/ &
      go_arg(GO_WRITE, GO_CT, GO_POINTWISE), &
      go_arg(GO_READ, GO_CT, GO_STENCIL(111,111,111)) /)
    integer :: iterates_over = GO_INTERNAL_PTS
    integer :: index_offset = GO_OFFSET_SW
  contains
    procedure, nopass :: code => {name}_code
  end type {name}
"""
_CODE = """\
  subroutine {name}_code(i, j, y, x)
    integer, intent(in) :: i, j
    real(go_wp), dimension(:,:), intent(out) :: y
    real(go_wp), dimension({bounds}), intent(in) :: x
{body}
  end subroutine {name}_code
"""


def module_text(bodies: dict[str, str], imports: str = "", bounds: str = ":,:") -> str:
    """Return a module `small_mod` with a kernel for each of `bodies`, which write `y` from `x`."""
    parts = [_HEAD.format(name="small", imports=imports)]
    parts += [_TYPE.format(name=name) for name in bodies]
    parts.append("contains\n")
    parts += [_CODE.format(name=name, body=body, bounds=bounds) for name, body in bodies.items()]
    return "".join([*parts, "end module small_mod\n"])


def run_in_python(text: str, folder: Path) -> str:
    """Return what a module of Fortran is in Python, or else what is said of it."""
    (folder / "small_mod.f90").write_text(text)
    words = ["psyclone-storage-kern", "-api", "gocean", "-gen", "python", "small_mod.f90"]
    done = run_command([*words, "-o", "small_mod.py"], folder)
    return (folder / "small_mod.py").read_text() if done.status == 0 else done.err


def loaded(text: str, folder: Path) -> ModuleType:
    """Return a module of Fortran as a module of Python that can be run."""
    made = run_in_python(text, folder)
    assert "error[" not in made, made
    module = ModuleType("small_mod")
    exec(compile(made, str(folder / "small_mod.py"), "exec"), module.__dict__)
    return module


def value_of(body: str, folder: Path, x: object = 4.0) -> float:
    """Return what a kernel of one body writes where `x` is around the point."""
    found: float = loaded(module_text({"small": body}), folder).small.at(0.0, x)
    return found


def printed_by(program: str) -> str:
    """Return what the text of a program prints in a process of its own, or how it fails."""
    return in_child(_printed, program)


def _printed(program: str) -> str:
    # The first NumPy array and the first grid import modules.
    assert gocean.configure is not None
    assert Field(Grid((1, 1))).max() == np.zeros(1)
    warnings.resetwarnings()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    return out.getvalue()
