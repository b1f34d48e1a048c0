"""Kernels with a subroutine for each kind: in Python they are the one of double precision."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run_command

KERNEL = """\
module twice_mod
  use argument_mod, only: arg_type, gh_field, gh_scalar, gh_real, gh_write, gh_read, cell_column
  use constants_mod, only: i_def
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use fs_continuity_mod, only: w3
  use kernel_mod, only: kernel_type
  implicit none
  type, extends(kernel_type), public :: twice_type
    type(arg_type) :: meta_args(2) = (/ arg_type(gh_field, {type}, gh_write, w3), &
                                        arg_type(gh_scalar, gh_real, gh_read) /)
    integer :: operates_on = cell_column
  end type
  interface twice_code
    module procedure {names}
  end interface
contains
{bodies}end module twice_mod
"""
BODY = """\
  subroutine {name}(nlayers, h, a, ndf, undf, map)
    integer(i_def), intent(in) :: nlayers, ndf, undf
    integer(i_def), dimension(ndf), intent(in) :: map
    {type}, dimension(undf), intent(inout) :: h
    real({kind}), intent(in) :: a
    h(map(1)) = {value}
  end subroutine {name}
"""
SINGLE = BODY.format(name="in_single", type="real(real32)", kind="real32", value="1.0*a")
DOUBLE = BODY.format(name="in_double", type="real(real64)", kind="real64", value="2.0_real64*a")
WHOLE = BODY.format(name="in_whole", type="integer(i_def)", kind="real64", value="3")
MIXED = BODY.format(name="in_both", type="real(real64)", kind="real32", value="4.0_real64*a")


def translate(folder: Path, bodies: str, type_: str = "gh_real") -> tuple[str, str]:
    """Return what a kernel of several subroutines becomes, and what is said."""
    names = [line.split()[1].partition("(")[0] for line in bodies.splitlines()
             if line.startswith("  subroutine")]  # fmt: skip
    text = KERNEL.format(type=type_, names=", ".join(names), bodies=bodies)
    file = folder / "twice_mod.f90"
    # Metadata without a procedure name the interface of the module by the name of the kernel.
    file.write_text(
        text.replace(
            "  end type\n", "  contains\n    procedure, nopass :: twice_code\n  end type\n"
        )
    )
    words = ["psyclone-storage-kern", "-api", "lfric", "-gen", "python", str(file)]
    done = run_command(words, folder)
    return done.out, done.err


@pytest.mark.parametrize(
    ("bodies", "type_", "value"),
    [
        (SINGLE + DOUBLE, "gh_real", "= 2.0 * a"),
        (DOUBLE + SINGLE, "gh_real", "= 2.0 * a"),
        (SINGLE + WHOLE + DOUBLE, "gh_real", "= 2.0 * a"),
        (MIXED + DOUBLE, "gh_real", "= 2.0 * a"),
    ],
)
def test_the_one_of_double_precision_is_taken(
    tmp_path: Path, bodies: str, type_: str, value: str
) -> None:
    made, said = translate(tmp_path, bodies, type_)
    assert value in made, said


@pytest.mark.parametrize(
    ("bodies", "which"),
    [
        (SINGLE + MIXED, "none of which has"),
        (DOUBLE + DOUBLE.replace("in_double", "again"), "several of which have"),
    ],
)
def test_what_cannot_be_told_is_refused(tmp_path: Path, bodies: str, which: str) -> None:
    made, said = translate(tmp_path, bodies)
    assert not made
    assert "error[G006]" in said
    assert which in said
