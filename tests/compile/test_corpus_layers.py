"""Every algorithm of the corpora, compiled by us and then with its kernels by a Fortran compiler.

A warning is a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from compile.conftest import CORPORA
from fortran import check_sources
from pairwise import part_of, selected
from psyclone_storage.cli.main import main

pytestmark = pytest.mark.fortran

MODES = {
    "distributed": ["-dm"],
    "annexed": ["-dm", "--config-opts", "COMPUTE_ANNEXED_DOFS=true RUN_TIME_CHECKS=warn"],
    "serial": ["-nodm"],
    "inlined": ["-dm", "--apply", "intrinsics-to-code; arrays-to-loops; inline-call"],
}


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(("lfric", "lfric_2019"), MODES)],
        ("lfric", "annexed"), ("lfric", "inlined"),
        ("lfric_2019", "distributed"), ("lfric_2019", "serial"),
    ),
)  # fmt: skip
def test_the_layers_of_a_corpus_compile_without_a_warning(
    combination: tuple[str, str],
    modules: Callable[[str], list[str]],
    f90: tuple[str, ...],
    tmp_path: Path,
) -> None:
    corpus, mode = combination
    at = [*MODES].index(mode) // 2
    algorithms = part_of(sorted((CORPORA / corpus).glob("*.x90")), at, 2)
    kernels = CORPORA / corpus / "kernels"
    changed = tmp_path / "kernels"
    words = ["-api", "lfric", *map(str, algorithms), "-d", str(kernels), "-okern", str(changed)]
    assert main([*words, *MODES[mode], "--output-dir", str(tmp_path)]) == 0
    layers = sorted(tmp_path.glob("*_psy.f90"))
    assert len(layers) == len(algorithms)
    # Kernels of several subroutines are changed by the steps, and not inlined.
    texts = sorted(changed.glob("*.f90"))
    check_sources(f90, [*texts, *layers], tmp_path, *modules(corpus))
