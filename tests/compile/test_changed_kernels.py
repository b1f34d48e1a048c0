"""Kernels that steps have changed, compiled by a Fortran compiler; GOcean's also run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compile.conftest import CORPORA
from fortran import check_sources
from gocean_runs import run_waves
from pairwise import part_of
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

STEPS = {
    "inlined": "inline-kernel-module",
    "for_devices": "acc-routine; omp-declare-target",
    "inlined_for_devices": "acc-routine; inline-kernel-module",
}
CONSTANTS = "kernel-constants{number_of_layers=20 element_order=0 quadrature=true}"
OF_CORPUS = {
    "inlined": f"{STEPS['inlined_for_devices']}; {CONSTANTS}",
    "written": f"{CONSTANTS}; {STEPS['for_devices']}",
}
"""All steps, in two compilations: of a half of the corpus each, and of all with `--matrix`."""


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_changed_kernels_give_the_same_answers(
    steps: str,
    waves_in: Callable[..., Path],
    waves: Callable[..., list[str]],
    tmp_path: Path,
) -> None:
    assert run_waves(waves_in(tmp_path, "-nodm", "--apply", steps)) == waves("-nodm")
    names = sorted(path.name for path in tmp_path.glob("changed/*"))
    assert names == ([] if "inline" in steps else [
        "continuity_0_mod.f90", "coriolis_0_mod.f90", "coriolis_1_mod.f90",
        "momentum_0_mod.f90", "momentum_1_mod.f90",
    ])  # fmt: skip
    layer = (tmp_path / "psy.f90").read_text()
    called = "call continuity_code(" if "inline" in steps else "call continuity_0_code("
    assert called in layer
    assert "use continuity_mod" not in layer


@pytest.mark.parametrize("steps", OF_CORPUS.values(), ids=OF_CORPUS)
def test_layers_and_changed_kernels_of_the_corpus_compile(
    steps: str, modules: Callable[[str], list[str]], f90: tuple[str, ...], tmp_path: Path
) -> None:
    at = [*OF_CORPUS.values()].index(steps)
    algorithms = part_of(sorted((CORPORA / "lfric").glob("*.x90")), at, len(OF_CORPUS))
    kernels, changed = CORPORA / "lfric" / "kernels", tmp_path / "kernels"
    words = ["-api", "lfric", *map(str, algorithms), "-d", str(kernels), "-okern", str(changed)]
    assert main([*words, "--apply", steps, "--output-dir", str(tmp_path)]) == 0
    texts = sorted(changed.glob("*.f90"))
    assert len(texts) > 10 or "inline" in steps
    layers = sorted(tmp_path.glob("*_psy.f90"))
    flags = (*modules("lfric"), "-Wno-unused-parameter")
    check_sources(f90, [*texts, *layers], tmp_path, *flags)
