"""Algorithms of LFRic in Python compute the bits of those in Fortran, on any ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from command import run_command
from fortran import join
from lfric_in_python import KERNELS
from libraries import archive_in
from runtime.answers import Answers, differing, invalid, merge_answers
from runtime.programs import FLAGS, command, compile_sources
from runtime.twin_data import MAKING
from runtime.twins import (
    EXCHANGES,
    MAIN,
    POSITIVE,
    in_fortran,
    in_python,
    kernel_modules,
    twins,
    with_fortran_kernels,
)
from translated import translate, translate_columns

pytestmark = [
    pytest.mark.fortran,
    pytest.mark.mpi,
    pytest.mark.usefixtures("kept_invokes", "quickly"),
]

RANKS = (1, 2, 4, 6)
OWNED = ("--config-opts", "COMPUTE_ANNEXED_DOFS=false")
LEAST = 180
KERNELS_OF_SUITE = "joined_kernels"
"""The object of kernels that are not called here, and of which some have names of the corpus'."""
MOST_KERNELS = 90
ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
WAVES = ROOT / "examples" / "python" / "gravity_wave" / "gravity_wave.py"


def counts_of(answers: Answers) -> list[float]:
    """Return how many exchanges each algorithm makes, which are among its answers."""
    return [float(value) for name, value in answers.items() if name.endswith(f"/{EXCHANGES}")]


def run(words: list[str], ranks: int, folder: Path) -> Answers:
    """Return what a program writes on some ranks."""
    folder.mkdir()
    command(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *words], folder)
    return merge_answers((folder / f"values.{rank}").read_bytes() for rank in range(ranks))


def test_values_and_exchanges_are_those_of_fortran(
    library: Path, support: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    found = twins()
    assert len(found) > LEAST
    fortran, python = tmp_path / "fortran", tmp_path / "python"
    fortran.mkdir()
    python.mkdir()
    (fortran / "twins_alg_mod.x90").write_text(in_fortran(found))
    (fortran / "main.f90").write_text(MAIN)
    (python / "making.py").write_text(f"POSITIVE = {POSITIVE}\n{MAKING}")
    (python / "run.py").write_text(in_python(found))
    translated = translate_columns(python, kernel_modules(found))
    assert len(translated) > MOST_KERNELS
    asked = ("-d", str(KERNELS))
    translate(fortran / "twins_alg_mod.x90", tmp_path / "twins.py", *asked, api="lfric")
    text = (tmp_path / "twins.py").read_text()
    (tmp_path / "twins.py").write_text(with_fortran_kernels(text, translated))
    words = ["-api", "lfric", *OWNED, "-d"]
    files = ["-oalg", "twins_alg_mod.f90", "-opsy", "twins_psy.f90"]
    beside = ["-oalg", "python/twins.py", "-opsy", "python/twins_psy.py"]
    for folder, words_ in (
        (fortran, ["twins_alg_mod.x90", *words, str(KERNELS), *files]),
        (tmp_path, ["twins.py", *words, str(python), *beside]),
    ):
        done = run_command(words_, folder)
        assert done.status == 0, done.err
    used = sorted({KERNELS / f"{line.split()[1].rstrip(',')}.f90"
                   for line in in_fortran(found).splitlines()
                   if line.startswith("  use ") and "kernel" in line})  # fmt: skip
    sources = [*used, *(fortran / f"twins_{part}.f90" for part in ("psy", "alg_mod"))]
    joined = join(sources, fortran / "joined")
    compile_sources([joined, fortran / "main.f90"], fortran, (library, support))
    shared = (one for one in support.glob("*.o") if one.stem != KERNELS_OF_SUITE)
    objects = sorted(map(str, (*shared, *fortran.glob("*.o"))))
    command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "program"], fortran)
    python_words = ["env", f"PYTHONPATH={python}:{os.environ.get('PYTHONPATH', '')}",
                    sys.executable, str(python / "run.py")]  # fmt: skip
    for ranks in RANKS if pytestconfig.getoption("--matrix") else (1, 6):
        wanted = run([str(fortran / "program")], ranks, tmp_path / f"fortran{ranks}")
        assert invalid(wanted) == []
        counts = counts_of(wanted)
        assert len(counts) == len(found)
        assert sum(counts) > len(found)
        assert differing(wanted, run(python_words, ranks, tmp_path / f"python{ranks}")) == []


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_example_keeps_its_sum(ranks: int, tmp_path: Path) -> None:
    words = ["env", f"PYTHONPATH={SRC}", sys.executable, str(WAVES)]
    if ranks > 1:
        words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *words]
    start, end = (line.split() for line in command(words, tmp_path).splitlines())
    assert float(end[1]) == pytest.approx(float(start[1]), rel=1e-13)
    assert float(end[2]) == pytest.approx(float(start[2]), rel=0.02)
    assert float(end[2]) != float(start[2])
