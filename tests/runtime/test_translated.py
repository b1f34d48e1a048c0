"""Algorithms and kernels translated to Python compute the bits of the Fortran, on any ranks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from pairwise import selected
from runtime.gocean_suite import ALGORITHMS, SOURCES, build_program, generate, run_all
from runtime.programs import Answers, Mode, Run, command, merge_answers
from runtime.sanitizing import checked
from translated import translate, translate_algorithm, translate_kernels

SOURCE = Path(__file__).parents[2] / "src"
DISTRIBUTED = Mode("distributed", ("-dm",))
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
NAMES = [path.stem for path in ALGORITHMS]
INTERIORS = """\
def trans(psy):
    for invoke in psy.invokes.invoke_list:
        invoke.schedule.apply("split-interior; overlap")
"""
CUTS = [
    (1, "best", ""),
    (2, "y", INTERIORS),
    (4, "best", ""),
    (6, "best", ""),
    (6, "best", INTERIORS),
]
"""Each rank generates the invokes of a recipe itself, so any run has one on few ranks."""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]
pytest.importorskip("mpi4py")


@pytest.fixture(scope="module")
def run_of_fortran(
    gocean_parts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """Return what the Fortran writes on one rank."""
    folder = tmp_path_factory.mktemp("fortran")
    generate(DISTRIBUTED, folder)
    return run_all(build_program(*gocean_parts, folder), DISTRIBUTED, 1)


def values_of(run: Run) -> dict[tuple[str, str], float]:
    """Return the answers of the Fortran on one rank."""
    return {key: float(value) for key, value in merge_answers(run).items()}


Found = tuple[Answers, set[int]]
"""Answers of Python, and how many exchanges its ranks say that there were."""
Runner = Callable[..., Found]


@pytest.fixture(scope="module")
def in_python(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return what runs the translated corpus on a number of ranks and a cut of the domain.

    The two others are the target, and the order in which threads of a device follow each other. All
    algorithms are run, if not some `names`, perhaps with `variables` of their surroundings.
    """
    folder = tmp_path_factory.mktemp("python")
    translate_kernels(folder)
    for file in (SOURCES / "kernels").glob("*.f90"):
        translate(file, folder / f"{file.stem}.py")
    for file in ALGORITHMS:
        translate_algorithm(file, folder)
    paths = os.pathsep.join((str(SOURCE), os.environ.get("PYTHONPATH", "")))
    # What the first of all ranks compiles the others find, of invokes as of C.
    kept = [f"PSYCLONE_STORAGE_{name}={folder / 'kept' / name}" for name in ("LIBRARIES", "CACHE")]
    settings = ["env", f"PYTHONPATH={paths}", *kept]

    @cache
    def found(  # noqa: PLR0913 - what a run is
        ranks: int,
        cut: str,
        target: str,
        order: int,
        recipe: str = "",
        *,
        names: tuple[str, ...] = tuple(NAMES),
        variables: tuple[str, ...] = (),
    ) -> Found:
        work = folder / f"{target}{order}{cut}{ranks}{bool(recipe)}{len(names)}{bool(variables)}"
        work.mkdir()
        program = ["env", *variables, sys.executable, str(SOURCES / "translated.py"), str(folder)]
        program += [target, cut, *names]
        device = [f"PSYCLONE_STORAGE_THREAD_ORDER={order}", "PSYCLONE_STORAGE_DEVICE=emulated"]
        chosen = [*settings, *(device if target == "cuda" else ())]
        if recipe:
            (work / "recipe.py").write_text(recipe)
            chosen.append("RECIPE=recipe.py")
        said = command([*chosen, *MPIRUN, str(ranks), *program], work)
        exchanges = [int(count) for count in re.findall(r"exchanges (\d+)", said)]
        assert len(exchanges) == ranks
        files = [work / f"answers.{rank}" for rank in range(ranks)]
        lines = tuple(tuple(file.read_text("utf-8").splitlines()) for file in files)
        return merge_answers(Run(lines, ())), set(exchanges)

    return found


@pytest.mark.parametrize("cut", selected(CUTS, CUTS[1], CUTS[3]))
def test_bits_and_exchanges_are_those_of_fortran(
    run_of_fortran: Run, in_python: Runner, cut: tuple[int, str, str]
) -> None:
    ranks, cut_at, recipe = cut
    answers, exchanges = in_python(ranks, cut_at, "c", 0, recipe)
    check(values_of(run_of_fortran), answers)
    (of_rank,) = run_of_fortran.statistics
    assert exchanges == {of_rank.exchanges}
    assert of_rank.exchanges > len(NAMES)


@pytest.mark.parametrize(
    ("ranks", "order"),
    [(1, 0), *(pytest.param(1, order, marks=pytest.mark.matrix) for order in (1, 2)), (4, 2)],
)
def test_kernels_of_a_device_compute_them_in_any_order_of_threads(
    run_of_fortran: Run, in_python: Runner, ranks: int, order: int
) -> None:
    answers, _ = in_python(ranks, "best", "cuda", order)
    check(values_of(run_of_fortran), answers)


SAMPLE = tuple(NAMES[::7])
"""What runs under sanitizers in any run: a part of the corpus."""


@pytest.mark.parametrize(
    ("ranks", "names"),
    [(2, SAMPLE), *(pytest.param(ranks, tuple(NAMES), marks=pytest.mark.matrix)
                    for ranks in (1, 4))],
)  # fmt: skip
def test_kernels_of_a_device_do_nothing_undefined(
    run_of_fortran: Run, in_python: Runner, ranks: int, names: tuple[str, ...]
) -> None:
    """Those that pack messages are among them."""
    answers, exchanges = in_python(ranks, "best", "cuda", 2, names=names, variables=(*checked(),))
    check(values_of(run_of_fortran), answers, names)
    assert min(exchanges) > 0


def check(
    of_fortran: Mapping[tuple[str, str], float],
    answers: Answers,
    names: tuple[str, ...] = tuple(NAMES),
) -> None:
    """See that answers are those of the Fortran, bit for bit, for the algorithms of these names."""
    found = {key: float.fromhex(value) for key, value in answers.items()}
    assert found.keys() == {key for key in of_fortran if key[0].split("/")[1] in names}
    different = {key[0] for key, value in found.items() if not same(value, of_fortran[key])}
    assert different == set()
    assert {key[0].split("/")[1] for key in found} == {*names}
    assert len(NAMES) == 30


def same(first: float, second: float) -> bool:
    """Return whether two numbers are equal; that are NaN are alike."""
    return first.hex() == second.hex()
