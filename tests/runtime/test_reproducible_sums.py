"""Reproducible sums: the same bits each time, for a number of threads; without, they may differ.

Asked for by the settings, by a step or by a script; at any distance of the partial sums.
"""

from __future__ import annotations

import struct

import pytest

from runtime.summing import Summed

TIMES = 400
CLAUSE = ("-nodm", "--apply", "openmp-parallel-do")
REGION = ("-nodm", "--apply", "openmp-do; openmp-parallel")
SCRIPT = """\
from psyclone.psyir.transformations import OMPParallelTrans
from psyclone.transformations import LFRicOMPLoopTrans

def trans(psyir):
    for invoke in psyir.invokes.invoke_list:
        for loop in invoke.schedule.loops():
            OMPParallelTrans().apply(loop)
            LFRicOMPLoopTrans().apply(loop, options={"reprod": True})
"""

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]


def ordered(*options: str, padding: int = 8) -> tuple[str, ...]:
    settings = f"REPRODUCIBLE_REDUCTIONS=true REPROD_PAD_SIZE={padding}"
    return (*options, "--config-opts", settings)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("recipe", [CLAUSE, REGION], ids=["one loop", "region"])
def test_sums_have_the_same_bits_each_time(
    summed: Summed, recipe: tuple[str, ...], threads: int
) -> None:
    found = dict(summed(ordered(*recipe), 1, threads, TIMES))
    assert int(found.pop("differing"), 16) == 0
    assert found == summed(ordered(*recipe, padding=1), 1, threads)
    assert found == summed(ordered(*recipe, padding=100), 1, threads)


def test_a_script_asks_for_them(summed: Summed, tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("script") / "reproducible.py"
    script.write_text(SCRIPT, encoding="utf-8")
    found = dict(summed(("-nodm", "-s", str(script)), 1, 3, TIMES))
    assert int(found.pop("differing"), 16) == 0
    assert found == summed(ordered(*REGION), 1, 3)


def test_other_sums_depend_on_which_thread_is_first(summed: Summed) -> None:
    """Otherwise these values could not show that reproducible sums do not."""
    found = summed(CLAUSE, 1, 5, TIMES)
    assert int(found["differing"], 16) != 0


@pytest.mark.parametrize("recipe", [("-nodm",), REGION], ids=["one thread", "region"])
def test_a_procedure_sums_as_its_loop_did(summed: Summed, recipe: tuple[str, ...]) -> None:
    steps = "; ".join((*recipe[2:], "outline"))
    assert summed(("-nodm", "--apply", steps), 1, 1) == summed(recipe, 1, 1)


@pytest.mark.parametrize(("options", "ranks", "threads"), [
    (("-nodm", "--apply", "openmp-simd"), 1, 1),
    (("-nodm", "--apply", "openmp-parallel-do; openmp-simd; outline"), 1, 3),
    (("-dm", "--apply", "auto"), 2, 2),
])  # fmt: skip
def test_lanes_sum_the_same_numbers(
    summed: Summed, options: tuple[str, ...], ranks: int, threads: int
) -> None:
    expected, found = summed(("-nodm",), 1, 1), summed(options, ranks, threads)
    assert found.keys() == expected.keys()
    for name, bits in expected.items():
        # The sum of hundreds of sines is small, and rounded like each of them.
        margin = {"abs": 1e-4} if name == "narrow_sum" else {"rel": 1e-12}
        assert value_of(found[name]) == pytest.approx(value_of(bits), **margin), name


def value_of(bits: str) -> float:
    value: float = struct.unpack(">d", bytes.fromhex(bits.zfill(16)))[0]
    return value
