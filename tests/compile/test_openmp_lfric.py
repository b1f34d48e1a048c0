"""OpenMP in generated LFRic code: it compiles without a warning and gives the serial answers."""

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
from psyclone_storage.backend.fortran.printer import emit_unit
from psyclone_storage.backend.lower import lower_program
from psyclone_storage.domain.lfric.rules import LfricRules
from psyclone_storage.ir.schedule import Construct, KernelCall, Loop, Schedule
from psyclone_storage.ir.walk import replaced, statements
from psyclone_storage.transform.catalogue import grant, read_steps
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_finished
from psyclone_storage.transform.workbench import Workbench

__all__ = ["compiler"]

RECIPES = {
    "one_loop_each": "colour; openmp-parallel-do{schedule=dynamic,2}",
    "regions": "colour; fuse; openmp-do; openmp-parallel",
    "auto": "auto",
    "reproducible": "colour; openmp-do{reproducible=true}; openmp-parallel",
}


def with_named_calls(schedule: Schedule) -> Schedule:
    """Return the schedule with calls that are named after their loops."""
    for loop in statements(schedule):
        if isinstance(loop, Loop) and isinstance(call := loop.body[0], KernelCall):
            named = replace(loop, body=(replace(call, uid=f"call@{loop.uid}"),))
            schedule = replaced(schedule, loop.uid, named)
    return schedule


def transformed(steps: str) -> str:
    """Return the PSy layer of the program that counts visits, after `steps`."""
    program = visits()
    (invoke,) = program.invokes
    rules = LfricRules()
    bench = Workbench(with_halos(with_named_calls(invoke.schedule), rules), rules)
    for wish in read_steps(steps):
        grant(bench, wish)
    assert check_finished(bench.schedule) == ()
    assert sum(isinstance(item, Construct) for item in statements(bench.schedule)) > 3
    after = replace(invoke, schedule=bench.schedule)
    return emit_unit(lower_program(replace(program, invokes=(after,))))


@pytest.mark.fortran
@pytest.mark.parametrize("steps", RECIPES.values(), ids=RECIPES)
def test_threads_give_the_serial_answers(steps: str, compiler: Compiler, tmp_path: Path) -> None:
    texts = {
        "small_plane": SMALL_PLANE.read_text(encoding="utf-8"),
        "work": COUNTING_KERNEL,
        "psy": transformed(steps),
        "main": MAIN,
    }
    for stem, text in texts.items():
        source = tmp_path / f"{stem}.f90"
        source.write_text(text, encoding="utf-8")
        assert not compiler.complaints(source, *FLAGS, "-fopenmp")
    objects = [str(tmp_path / f"{stem}.o") for stem in texts]
    library = str(compiler.modules / "liblfric_infrastructure.a")
    runnable = tmp_path / "main"
    command = [*compiler.command, "-fopenmp", *objects, library, "-o", str(runnable)]
    subprocess.run(command, check=True)
    for threads in ("1", "2", "4"):
        surroundings = {**os.environ, "OMP_NUM_THREADS": threads}
        done = subprocess.run(
            [str(runnable)], env=surroundings, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, ""), threads
