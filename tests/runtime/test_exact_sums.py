"""EXACT_SUMS: sums are bit-for-bit identical on any number of ranks and threads, and only with it.

The values are real numbers of all magnitudes, so that plain sums depend on the order. The program
is in `sums/`; the waves example, whose solver stops depending on sums, runs as for a user.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from libraries import LFRIC_OF_EXAMPLES, Library, copy_library
from pairwise import selected
from psyclone_storage.cli.main import main
from runtime.examples import EXAMPLES, BuiltExample
from runtime.programs import command
from runtime.summing import Summed
from runtime.test_infrastructure import ANSWER

IN_PYTHON = Path(__file__).parent / "sums" / "sums.py"
THREADED = ("--apply", "openmp-parallel-do")
REPRODUCIBLE = ("--apply", "openmp-do{reproducible=true}; openmp-parallel")
RANKS = (1, 2, 4, 6)
COMMON = ("total", "product_sum", "square")
SRC = Path(__file__).parents[2] / "src"

pytestmark = [pytest.mark.fortran, pytest.mark.mpi, pytest.mark.usefixtures("kept_invokes")]


def exactly(*options: str) -> tuple[str, ...]:
    return ("-dm", "--config-opts", "EXACT_SUMS=true", *options)


@pytest.mark.parametrize("ranks", RANKS)
def test_exact_sums_do_not_depend_on_the_ranks(summed: Summed, ranks: int) -> None:
    expected = summed(exactly(), 1, 1)
    assert set(expected) == {"total", "product_sum", "square", "narrow_sum"}
    assert summed(exactly(), ranks, 1) == expected


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (1, 2), (2, 2), (4, 2)])
@pytest.mark.parametrize("recipe", [THREADED, REPRODUCIBLE], ids=["clause", "reproducible"])
def test_exact_sums_do_not_depend_on_the_threads(
    summed: Summed, recipe: tuple[str, ...], ranks: int, threads: int
) -> None:
    assert summed(exactly(*recipe), ranks, threads) == summed(exactly(), 1, 1)


@pytest.mark.parametrize("recipe", [(), THREADED], ids=["one thread", "two threads"])
def test_code_for_one_process_sums_as_exactly(summed: Summed, recipe: tuple[str, ...]) -> None:
    alone = ("-nodm", "--config-opts", "EXACT_SUMS=true", *recipe)
    assert summed(alone, 1, 2) == summed(exactly(), 1, 1)


def test_other_sums_do_depend_on_ranks_and_threads(summed: Summed) -> None:
    """Otherwise these values could not show that exact sums do not."""
    plain = summed(("-dm",), 1, 1)
    assert all(summed(("-dm",), ranks, 1) != plain for ranks in RANKS[1:])
    threaded = ("-dm", *THREADED)
    assert summed(threaded, 1, 2) != summed(threaded, 1, 1)


@cache
def in_python(program: Path, *words: str, ranks: int = 1, threads: int = 1) -> dict[str, str]:
    """Return the bits of the sums that the program in Python finds."""
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    told = ["env", f"OMP_NUM_THREADS={threads}", f"PYTHONPATH={SRC}"]
    return dict(
        ANSWER.findall(
            command([*told, *mpirun, sys.executable, str(program), *words], IN_PYTHON.parent)
        )
    )


def in_python_ahead(folder: Path, *options: str) -> Path:
    """Return the program in Python, compiled ahead with options."""
    made = folder / "ahead.py"
    files = ("-oalg", str(made), "-opsy", str(folder / "sums_psy.py"))
    assert main([str(IN_PYTHON), "-api", "lfric", *files, *options]) == 0
    return made


@pytest.mark.parametrize("ranks", selected(RANKS, 1, 4))
def test_sums_in_python_have_the_bits_of_fortran(summed: Summed, ranks: int) -> None:
    found = in_python(IN_PYTHON, "EXACT_SUMS=true", ranks=ranks)
    wanted = summed(exactly(), 1, 1)
    assert {name: found[name] for name in COMMON} == {name: wanted[name] for name in COMMON}
    assert found["scaled"] == in_python(IN_PYTHON, "EXACT_SUMS=true")["scaled"]


ASKED = {
    "exact": exactly(*THREADED),
    "reproducible": ("-dm", *REPRODUCIBLE),
    "setting": ("-dm", "--config-opts", "REPRODUCIBLE_REDUCTIONS=true", *THREADED),
}


@pytest.mark.parametrize(
    "combination",
    selected(
        [*product(ASKED, ((1, 1), (1, 2), (4, 2)))],
        ("exact", (1, 2)), ("reproducible", (4, 2)), ("setting", (1, 1)), ("setting", (1, 2)),
    ),
)  # fmt: skip
def test_sums_in_python_do_not_depend_on_the_threads(
    summed: Summed, combination: tuple[str, tuple[int, int]], tmp_path: Path
) -> None:
    asked, (ranks, threads) = combination
    ahead = in_python_ahead(tmp_path, *ASKED[asked])
    text = (tmp_path / "sums_psy.c").read_text(encoding="utf-8")
    assert "reduction(+:total_exact[:70])" in text
    assert reduced_twice(text) == []
    found, wanted = in_python(ahead, ranks=ranks, threads=threads), summed(exactly(), 1, 1)
    assert {name: found[name] for name in COMMON} == {name: wanted[name] for name in COMMON}


def reduced_twice(text: str) -> list[str]:
    """Return directives of whole teams that reduce, where loops inside of them do."""
    teams = [line for line in text.splitlines() if "#pragma omp parallel" in line]
    return [line for line in teams if "reduction" in line and "parallel for" not in line]


@pytest.mark.parametrize("recipe", ["openmp-do; openmp-parallel", "auto"])
def test_rounded_sums_in_python_are_shared_by_threads(recipe: str, tmp_path: Path) -> None:
    ahead = in_python_ahead(tmp_path, "-dm", "--apply", recipe)
    text = (tmp_path / "sums_psy.c").read_text(encoding="utf-8")
    assert "#pragma omp for" in text
    assert "reduction(+:total)" in text
    assert reduced_twice(text) == []
    exact = in_python(IN_PYTHON, "EXACT_SUMS=true")
    for threads in (1, 2):
        for name, bits in in_python(ahead, threads=threads).items():
            assert value(bits) == pytest.approx(value(exact[name]), rel=1e-9)


def value(bits: str) -> float:
    """Return the number that an answer has the bits of."""
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


def test_code_in_python_for_one_process_sums_as_exactly(summed: Summed, tmp_path: Path) -> None:
    ahead = in_python_ahead(tmp_path, "-nodm", "--config-opts", "EXACT_SUMS=true")
    found, wanted = in_python(ahead), summed(exactly(), 1, 1)
    assert {name: found[name] for name in COMMON} == {name: wanted[name] for name in COMMON}


def test_other_sums_in_python_do_depend_on_ranks() -> None:
    alone = in_python(IN_PYTHON, "EXACT_SUMS=false")
    assert all(in_python(IN_PYTHON, "EXACT_SUMS=false", ranks=ranks) != alone for ranks in (2, 4))


@pytest.fixture(scope="session")
def waves(
    tools: Path, built: Callable[[Library], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int, bool], list[str]]:
    """Return what gives the surface that the example ends with, place by place, as written."""

    @cache
    def script(exact: bool) -> BuiltExample:
        build = tmp_path_factory.mktemp("waves")
        copy_library(built(LFRIC_OF_EXAMPLES), build / "library")
        settings = build / "psyclone.cfg"
        settings.write_text(f"[lfric]\nEXACT_SUMS = {str(exact).lower()}\n", encoding="utf-8")
        variables = {"PSYCLONE_CONFIG": str(settings)}
        return BuiltExample(EXAMPLES / "lfric" / "shallow_water" / "run", tools, build, variables)

    @cache
    def ran(ranks: int, exact: bool) -> list[str]:
        script(exact)(ranks)
        files = sorted(script(exact).build.glob("surface*.*"))
        assert len({path.suffix for path in files}) == ranks
        return sorted(
            f"{path.stem} {line}"
            for path in files
            for line in path.read_text(encoding="utf-8").splitlines()
        )

    return ran


@pytest.mark.parametrize("ranks", selected(RANKS[1:], 2, 6))
def test_waves_have_the_same_bits_on_any_number_of_ranks(
    waves: Callable[[int, bool], list[str]], ranks: int
) -> None:
    assert waves(ranks, True) == waves(1, True)


def test_waves_with_other_sums_have_not(waves: Callable[[int, bool], list[str]]) -> None:
    assert waves(4, False) != waves(1, False)
