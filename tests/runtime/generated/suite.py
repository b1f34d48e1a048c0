"""Writes the generated suite: kernels, algorithms, and the module that runs them by name."""

from __future__ import annotations

import shutil
from pathlib import Path

from runtime.generated.algorithms import write_kernel_algorithm
from runtime.generated.builtin_algorithms import write_builtin_algorithms
from runtime.generated.kernels import write_kernels

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "corpus" / "lfric" / "kernels"
KERNELS_PER_ALGORITHM = 7


def write_suite(folder: Path) -> list[str]:
    """Write the suite to a folder and its folder `kernels`; return the names of the algorithms."""
    kernels = folder / "kernels"
    kernels.mkdir(parents=True)
    for written in (*HERE.glob("*.f90"), *HERE.glob("*.x90")):
        shutil.copy(written, folder)
    subjects = write_kernels(KERNELS, kernels)
    between = [subject for subject in subjects if subject.kernel.is_intergrid]
    within = [subject for subject in subjects if not subject.kernel.is_intergrid]
    texts = {"intergrid": write_kernel_algorithm("intergrid", between, 0)}
    for start in range(0, len(within), KERNELS_PER_ALGORITHM):
        name = f"kernels_{start // KERNELS_PER_ALGORITHM + 1}"
        some = within[start : start + KERNELS_PER_ALGORITHM]
        texts[name] = write_kernel_algorithm(name, some, start)
    texts |= write_builtin_algorithms()
    for name, text in texts.items():
        (folder / f"{name}_alg_mod.x90").write_text(text, encoding="utf-8")
    names = [*texts, "forms"]
    (folder / "suite_mod.f90").write_text(write_list(names), encoding="utf-8")
    return names


def write_list(names: list[str]) -> str:
    """Return the module that knows all algorithms by name."""
    longest = max(map(len, names))
    listed = ", &\n".join(f"    '{name.ljust(longest)}'" for name in names)
    cases = "\n".join(f"    case ('{name}')\n      call run_{name}()" for name in names)
    uses = "\n".join(f"  use {name}_alg_mod, only: run_{name}" for name in names)
    return f"""!> Owns the list of the generated algorithms.
module suite_mod

{uses}

  implicit none
  private

  public :: run_algorithm

  character({longest}), parameter, public :: algorithms({len(names)}) = [ &
{listed}]

contains

  !> Run the algorithm of this name.
  subroutine run_algorithm(name)
    character(*), intent(in) :: name

    select case (name)
{cases}
    case default
      error stop 'run_algorithm: unknown name'
    end select
  end subroutine run_algorithm

end module suite_mod
"""
