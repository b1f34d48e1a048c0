"""OpenMP in generated LFRic code compiles without warnings and computes the serial results."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile.visits import check_visits, link_visits, transformed
from fortran import Compiler
from psyclone_storage.ir.schedule import DirectiveRegion
from psyclone_storage.ir.walk import statements
from psyclone_storage.transform.halos import with_halos
from psyclone_storage.transform.legality import check_finished

RECIPES = {
    "one_loop_each": "colour; openmp-parallel-do{schedule=dynamic,2}",
    "regions": "colour; fuse; openmp-do; openmp-parallel",
    "auto": "auto",
    "reproducible": "colour; openmp-do{reproducible=true}; openmp-parallel",
}


@pytest.mark.fortran
@pytest.mark.parametrize("steps", RECIPES.values(), ids=RECIPES)
def test_threads_give_the_serial_answers(steps: str, compiler: Compiler, tmp_path: Path) -> None:
    schedule, layer = transformed(steps, with_halos)
    assert check_finished(schedule) == ()
    assert sum(isinstance(item, DirectiveRegion) for item in statements(schedule)) > 3
    program = link_visits(compiler, layer, tmp_path, "-fopenmp")
    for threads in (1, 2, 4):
        check_visits(program, threads)
