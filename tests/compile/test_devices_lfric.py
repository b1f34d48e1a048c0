"""LFRic's code for devices compiles without warnings and computes the serial results."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile.visits import COUNTING_KERNEL, check_visits, link_visits, transformed
from fortran import Compiler
from psyclone_storage.transform.transfers import with_derived

RECIPES = {
    "parallel": ("-fopenacc", "colour; acc-loop; acc-parallel; acc-enter-data; acc-update"),
    "kernels": ("-fopenacc", "acc-kernels{queue=1}; acc-enter-data{queue=2}"),
    "data": ("-fopenacc", "colour; acc-loop; acc-kernels; acc-data"),
    "targets": ("-fopenmp", "colour; openmp-teams-do; openmp-target"),
}


@pytest.mark.fortran
@pytest.mark.parametrize(("flag", "steps"), RECIPES.values(), ids=RECIPES)
def test_devices_give_the_serial_answers(
    flag: str, steps: str, compiler: Compiler, tmp_path: Path
) -> None:
    directive = "acc" if flag == "-fopenacc" else "omp"
    routine = "acc routine seq" if directive == "acc" else "omp declare target"
    _, layer = transformed(steps, with_derived)
    assert layer.count(f"!${directive} ") > 8
    kernel = COUNTING_KERNEL.replace(
        "    integer(i_def) :: df\n", f"    integer(i_def) :: df\n    !${routine}\n"
    )
    # gfortran believes that the copy of a sum that each gang starts with has no value.
    flags = (flag, "-Wno-uninitialized", "-Wno-maybe-uninitialized")
    program = link_visits(compiler, layer, tmp_path, *flags, kernel_text=kernel)
    check_visits(program, threads=2)
