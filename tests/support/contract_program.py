"""A small program whose files are planned one by one, for tests of contracts."""

from __future__ import annotations

from pathlib import Path

from support.command import Outcome, run_command

GRID = """\
module grid_mod
  implicit none
  real :: h(10), u(10)
end module grid_mod
"""
STEP = """\
module step_mod
  use grid_mod, only : h
  implicit none
contains
  subroutine advance(x)
    real, intent(inout) :: x(10)
    integer :: i
    !$acc parallel loop
    do i = 1, 10
      x(i) = x(i) + h(i)
    end do
  end subroutine advance
  subroutine show(y)
    real, intent(in) :: y(10)
    print *, y
  end subroutine show
end module step_mod
"""
MAIN = """\
program main
  use grid_mod, only : h, u
  use step_mod, only : advance, show
  implicit none
  integer :: step
  h = 1.0
  u = 2.0
  do step = 1, 5
    call advance(u)
  end do
  call show(u)
end program main
"""
PROGRAM = {"grid_mod.f90": GRID, "step_mod.f90": STEP, "main.f90": MAIN}


def transformed(
    name: str, folder: Path, *more: str, text: str | None = None, root: str = "main"
) -> Outcome:
    if text is not None or not (folder / name).exists():
        (folder / name).write_text(PROGRAM[name] if text is None else text, "utf-8")
    words = ["--device-data", root, "--contracts", "con", *more, name, "-o", f"out/{name}"]
    return run_command(words, folder)


def built(folder: Path, *more: str) -> list[str]:
    """Transform all files, and return the outputs."""
    for name in PROGRAM:
        done = transformed(name, folder, *more)
        assert done.status == 0, done.err
    return [f"out/{name}" for name in PROGRAM]


def linked(folder: Path, outputs: list[str] | None = None) -> Outcome:
    files = [f"out/{name}" for name in PROGRAM] if outputs is None else outputs
    return run_command(["--link-check", *files], folder)


def conflict(folder: Path, outputs: list[str] | None = None) -> str:
    """Return the messages of a check that fails, in one line."""
    done = linked(folder, outputs)
    assert done.status == 1, done.out
    assert "Traceback" not in done.err
    assert "I001" not in done.err
    return " ".join(done.err.split())


def external(name: str, called: str) -> str:
    return (
        f"subroutine {name}(x)\n  real, intent(inout) :: x(10)\n  !$acc kernels\n  x = x + 1.0\n"
        f"  !$acc end kernels\n  call {called}(x)\nend subroutine {name}\n"
    )
