"""Kernels that steps have changed, compiled by a Fortran compiler; GOcean's also run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compile.test_corpus_layers import CORPORA, compile_all, modules
from gocean_runs import EXAMPLE, LIBRARY, run, run_waves
from psyclone_storage.cli.main import main

__all__ = ["modules"]

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
"""All steps, in two compilations of the whole corpus: each takes half a minute."""


def waves_with(
    folder: Path, library: Path, f90: tuple[str, ...], words: list[str], *flags: str
) -> list[str]:
    """Return what the wave example prints, whose kernels are changed as `words` say."""
    algorithm, layer, changed = folder / "alg.f90", folder / "psy.f90", folder / "kernels"
    command = ["-api", "gocean", "-nodm", str(EXAMPLE / "shallow_water.x90"), *words]
    command += ["-d", str(EXAMPLE / "kernels"), "-okern", str(changed)]
    assert main([*command, "-oalg", str(algorithm), "-opsy", str(layer)]) == 0
    kernels = [*sorted((EXAMPLE / "kernels").glob("*.f90")), *sorted(changed.glob("*"))]
    sources = map(str, (*kernels, layer, algorithm, library / LIBRARY))
    options = ["-O1", "-Wall", "-Werror", *flags, f"-I{library}", f"-J{folder}"]
    run([*f90, *options, *sources, "-o", str(folder / "waves")])
    return run_waves(folder / "waves", 1)


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_changed_kernels_give_the_same_answers(
    steps: str, gocean_library: Path, f90: tuple[str, ...], tmp_path: Path,
    waves: Callable[..., list[str]],
) -> None:  # fmt: skip
    words = ["--apply", steps]
    assert waves_with(tmp_path, gocean_library, f90, words, "-fopenmp") == waves("-nodm")
    names = sorted(path.name for path in tmp_path.glob("kernels/*"))
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
    steps: str, modules: Callable[[str], Path], f90: tuple[str, ...], tmp_path: Path
) -> None:
    algorithms = sorted((CORPORA / "lfric").glob("*.x90"))
    kernels, changed = CORPORA / "lfric" / "kernels", tmp_path / "kernels"
    words = ["-api", "lfric", *map(str, algorithms), "-d", str(kernels), "-okern", str(changed)]
    assert main([*words, "--apply", steps, "--output-dir", str(tmp_path)]) == 0
    texts = sorted(changed.glob("*.f90"))
    assert len(texts) > 10 or "inline" in steps
    layers = sorted(tmp_path.glob("*_psy.f90"))
    flags = (f"-I{modules('lfric')}", "-Wno-unused-parameter")
    compile_all(f90, [*texts, *layers], tmp_path, flags)
