"""LFRic in Python on a device: the bits of C in any order of threads, and nothing moved twice."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pairwise import selected
from runtime.programs import command
from runtime.sanitizing import checked
from runtime.twins import (
    UNKNOWN_LENGTHS,
    compiled_in_python,
    program_in_python,
    twins,
    with_known_lengths,
    write_in_python,
)

pytestmark = [
    pytest.mark.fortran,
    pytest.mark.mpi,
    pytest.mark.usefixtures("kept_invokes", "quickly"),
]
pytest.importorskip("mpi4py")

PROGRAM = Path(__file__).parent / "lfric" / "on_device.py"
CORPUS = PROGRAM.with_name("run_corpus.py")
ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
WAVES = ROOT / "examples" / "python" / "gravity_wave" / "gravity_wave.py"
COLOURS = """
def trans(psy):
    for schedule in psy.children:
        schedule.apply("colour")
"""


def launched(words: list[str], ranks: int, folder: Path, *surroundings: str) -> None:
    """Run a program on some ranks, with variables of its surroundings."""
    folder.mkdir(exist_ok=True)
    many = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    path = f"PYTHONPATH={SRC}:{os.environ.get('PYTHONPATH', '')}"
    command(["env", path, *surroundings, *(many if ranks > 1 else []), *words], folder)


# ---------------------------------------------------------------------------- kernels of all kinds


def found(folder: Path, way: str, ranks: int) -> list[list[str]]:
    files = [folder / f"found.{way}.{rank}" for rank in range(ranks)]
    return [file.read_text("utf-8").splitlines() for file in files]


def without_moves(lines: list[list[str]]) -> list[list[str]]:
    return [[line for line in of_rank if not line.startswith("moved")] for of_rank in lines]


ANNEXED = ("false", "true")


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 4))
def test_bits_are_those_of_c_and_nothing_moves_twice(ranks: int, tmp_path: Path) -> None:
    ways = [
        f"{target}{order}{annexed}:{target}:{order}:"
        f"COMPUTE_ANNEXED_DOFS={annexed} EXACT_SUMS={annexed}:colour"
        for annexed in ANNEXED
        for target, orders in (("c", "0"), ("cuda", "012"), ("numpy", "0" if ranks < 4 else ""))
        for order in orders
    ]
    launched([sys.executable, str(PROGRAM), *ways], ranks, tmp_path)
    for annexed in ANNEXED:
        wanted = found(tmp_path, f"c0{annexed}", ranks)
        assert all("finite True" in of_rank for of_rank in wanted)
        for order in "012":
            answers = found(tmp_path, f"cuda{order}{annexed}", ranks)
            assert without_moves(answers) == without_moves(wanted)
            assert all(of_rank.count("moved True 0") == 2 for of_rank in answers)
        if ranks < 4:
            computed = without_moves(found(tmp_path, f"numpy0{annexed}", ranks))
            assert computed == without_moves(wanted)


def test_tiles_of_a_colour_have_threads(tmp_path: Path) -> None:
    ways = [f"{target}:{target}:2::colour{{tiling=true}}" for target in ("c", "cuda")]
    launched([sys.executable, str(PROGRAM), *ways], 1, tmp_path)
    c, cuda = (without_moves(found(tmp_path, target, 1)) for target in ("c", "cuda"))
    assert c == cuda


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 1, 2))
def test_the_example_computes_the_same_on_a_device(ranks: int, tmp_path: Path) -> None:
    text = WAVES.read_text("utf-8").replace("STEPS = 32, 400", "STEPS = 32, 40")
    printed = []
    for target, device in (("c", "None"), ("cuda", "'gpu'")):
        asked = f'configure(target="{target}", script="{tmp_path / "colours.py"}")\n'
        on_device = text.replace("layers=2)", f"layers=2, device={device})")
        assert on_device != text
        (tmp_path / f"{target}.py").write_text(
            on_device.replace("CELLS, STEPS", asked + "CELLS, STEPS")
        )
        (tmp_path / "colours.py").write_text(COLOURS)
        words = ["env", f"PYTHONPATH={SRC}", "PSYCLONE_STORAGE_DEVICE=emulated"]
        words += ["PSYCLONE_STORAGE_THREAD_ORDER=1"]
        words += ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        words += [sys.executable, str(tmp_path / f"{target}.py")]
        printed.append(command(words, tmp_path))
    assert printed[0].count("\n") == 2
    assert printed[0] == printed[1]


# ---------------------------------------------------------------------------- the corpus


def values(folder: Path, ranks: int) -> list[bytes]:
    return [(folder / f"values.{rank}").read_bytes() for rank in range(ranks)]


def test_the_corpus_has_the_bits_of_c_in_any_order_of_threads_and_by_numpy(
    corpus_in_python: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    assert len(with_known_lengths()) == len(twins()) - 3
    every = pytestconfig.getoption("--matrix")
    for ranks, orders in ((1, "012"), (2, "1"), (4, "2")) if every else ((1, "01"), (2, "2")):
        folder = tmp_path / str(ranks)
        ways = [f"{corpus_in_python / 'c'}:{folder / 'c'}::0"]
        ways += [f"{corpus_in_python / 'cuda'}:{folder / one}:gpu:{one}" for one in orders]
        if ranks < 4:
            ways.append(f"{corpus_in_python / 'without' / 'numpy'}:{folder / 'numpy'}::0")
        launched([sys.executable, str(CORPUS), *ways], ranks, folder,
                 "PSYCLONE_STORAGE_DEVICE=emulated")  # fmt: skip
        wanted = values(folder / "c", ranks)
        assert all(wanted)
        for way in orders:
            assert values(folder / way, ranks) == wanted
        if ranks < 4:
            found = zip(values(folder / "numpy", ranks), wanted, strict=True)
            assert all(by_c.startswith(by_numpy) and by_numpy for by_numpy, by_c in found)


def test_arrays_of_kernels_have_lengths_that_a_step_makes_known(tmp_path: Path) -> None:
    (one,) = [one for one in twins() if UNKNOWN_LENGTHS in str(one.algorithm.invokes)]
    steps = "colour; kernel-constants{number_of_layers=3 element_order=0}"
    folder = tmp_path / "one"
    write_in_python([one], folder)
    launched(compiled_in_python(folder, "c"), 1, tmp_path / "of_c")
    launched(compiled_in_python(folder, "cuda", steps), 1, tmp_path / "of_cuda",
             "PSYCLONE_STORAGE_DEVICE=emulated", "ON_DEVICE=gpu")  # fmt: skip
    assert values(tmp_path / "of_cuda", 1) == values(tmp_path / "of_c", 1)


def test_the_corpus_does_nothing_undefined(tmp_path: Path) -> None:
    words = program_in_python(with_known_lengths()[::3], tmp_path / "cuda", "cuda")
    launched(words, 1, tmp_path / "of_cuda", *checked(), "PSYCLONE_STORAGE_DEVICE=emulated",
             "ON_DEVICE=gpu", "PSYCLONE_STORAGE_THREAD_ORDER=2")  # fmt: skip
