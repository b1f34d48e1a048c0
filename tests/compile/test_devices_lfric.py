"""LFRic's code for devices: it compiles without a warning and gives the serial answers."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compile.test_lowered_lfric import (
    COUNTING_KERNEL,
    FLAGS,
    MAIN,
    SMALL_PLANE,
    Compiler,
    compiler,
    visits,
)
from compile.test_openmp_lfric import with_named_calls
from psyclone_storage.backend.fortran.printer import emit_unit
from psyclone_storage.backend.lower import lower_program
from psyclone_storage.domain.lfric.rules import LfricRules
from psyclone_storage.transform.catalogue import grant, read_steps
from psyclone_storage.transform.transfers import with_derived
from psyclone_storage.transform.workbench import Workbench

__all__ = ["compiler"]

RECIPES = {
    "parallel": ("-fopenacc", "colour; acc-loop; acc-parallel; acc-enter-data; acc-update"),
    "kernels": ("-fopenacc", "acc-kernels{queue=1}; acc-enter-data"),
    "data": ("-fopenacc", "colour; acc-loop; acc-kernels; acc-data"),
    "targets": ("-fopenmp", "colour; openmp-teams-do; openmp-target"),
}


def transformed(steps: str) -> str:
    """Return the PSy layer of the program that counts visits, after `steps`."""
    program = visits()
    (invoke,) = program.invokes
    rules = LfricRules()
    bench = Workbench(with_derived(with_named_calls(invoke.schedule), rules), rules)
    for wish in read_steps(steps):
        grant(bench, wish)
    after = replace(invoke, schedule=bench.schedule)
    return emit_unit(lower_program(replace(program, invokes=(after,))))


@pytest.mark.fortran
@pytest.mark.parametrize(("flag", "steps"), RECIPES.values(), ids=RECIPES)
def test_devices_give_the_serial_answers(
    flag: str, steps: str, compiler: Compiler, tmp_path: Path
) -> None:
    directive = "acc" if flag == "-fopenacc" else "omp"
    routine = "acc routine seq" if directive == "acc" else "omp declare target"
    layer = transformed(steps)
    assert layer.count(f"!${directive} ") > 8
    kernel = COUNTING_KERNEL.replace(
        "    integer(i_def) :: df\n", f"    integer(i_def) :: df\n    !${routine}\n"
    )
    texts = {
        "small_plane": SMALL_PLANE.read_text(encoding="utf-8"),
        "work": kernel,
        "psy": layer,
        "main": MAIN,
    }
    # gfortran believes that the copy of a sum that each gang starts with has no value.
    flags = [*FLAGS, flag, "-Wno-uninitialized", "-Wno-maybe-uninitialized"]
    for stem, text in texts.items():
        source = tmp_path / f"{stem}.f90"
        source.write_text(text, encoding="utf-8")
        assert not compiler.complaints(source, *flags)
    objects = [str(tmp_path / f"{stem}.o") for stem in texts]
    library = str(compiler.modules / "liblfric_infrastructure.a")
    runnable = tmp_path / "main"
    command = [*compiler.command, flag, *objects, library, "-o", str(runnable)]
    subprocess.run(command, check=True)
    surroundings = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [str(runnable)], env=surroundings, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
