"""Plans of device data of small programs, for tests: a module with a kernel, and its callers."""

from __future__ import annotations

import json
from pathlib import Path

from support.command import Outcome, run_command

KERNEL = """\
module kernel_mod
  implicit none
  real :: table(10)
contains
  subroutine kernel(x, y)
    real, intent(in) :: x(10)
    real, intent(inout) :: y(10)
    integer :: i
    !$acc parallel loop
    do i = 1, 10
      y(i) = y(i) + x(i) * table(i)
    end do
    !$acc end parallel loop
  end subroutine kernel
end module kernel_mod
"""


def planned(folder: Path, text: str, *words: str, root: str = "root") -> Outcome:
    (folder / "kernel_mod.f90").write_text(KERNEL, "utf-8")
    (folder / "main.f90").write_text(text, "utf-8")
    command = ["--device-data", root, "--transfers-json", "plan.json", "--output-dir", "out"]
    return run_command([*command, *words, "kernel_mod.f90", "main.f90"], folder)


def plan_of(folder: Path, text: str, *words: str) -> dict[str, object]:
    done = planned(folder, text, *words)
    assert done.status == 0, done.err
    found: dict[str, object] = json.loads((folder / "plan.json").read_text("utf-8"))
    return found


def moves(plan: dict[str, object]) -> list[tuple[str, str, str]]:
    transfers = plan["transfers"]
    assert isinstance(transfers, list)
    return [(one["array"].split(".")[-1], one["to"], one["procedure"]) for one in transfers]


def root(body: str, declared: str = "", uses: str = "") -> str:
    return (
        f"subroutine root(a, b)\n  use kernel_mod, only : kernel\n{uses}  implicit none\n"
        f"  real, intent(inout) :: a(10), b(10)\n  integer :: i\n"
        f"{declared}{body}end subroutine\n"
    )


LOOP = "  do i = 1, 5\n    call kernel(a, b)\n  end do\n"
