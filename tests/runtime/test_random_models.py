"""Random models in Python compute the same by any recipe, on any number of ranks.

`pytest --campaign 84` tries 504 of them; `random_models.py` runs one again by its number.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from mutated_texts import seeds
from properties import random_models
from runtime.programs import command

ROOT = Path(__file__).parents[2]
MPIRUN = ("mpirun", "--oversubscribe", "--bind-to", "none", "-n")
MODELS, BATCH = 6, 24

pytestmark = [pytest.mark.mpi]


def answers(folder: Path, ranks: int, numbers: Iterable[int]) -> dict[int, list[str]]:
    """Return what models compute as they are and by their recipes, or why they do not."""
    waiting, found = list(numbers), {}
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))
    words = ["env", f"PYTHONPATH={paths}", "OMP_NUM_THREADS=2", *MPIRUN, str(ranks), sys.executable]
    words += [random_models.__file__, str(folder)]
    while waiting:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        file = folder / f"answers_{ranks}_{batch[0]}.json"
        command([*words, str(file), *map(str, batch)], folder)
        found |= {int(key): value for key, value in json.loads(file.read_text()).items()}
    return found


def test_recipes_keep_what_random_models_compute(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    pytest.importorskip("mpi4py")
    numbers = list(seeds(0, MODELS, pytestconfig.getoption("--campaign")))
    random_models.write_models(tmp_path, numbers)
    alone = answers(tmp_path, 1, numbers)
    legal = [number for number in numbers if random_models.is_answer(alone[number][0])]
    accepted = [number for number in legal if random_models.is_answer(alone[number][1])]
    for ranks in (1, 2, 4):
        found = alone if ranks == 1 else answers(tmp_path, ranks, accepted)
        wrong = [one for one in accepted if set(found[one]) != {alone[one][0]}]
        assert wrong == [], ranks
    assert len(legal) >= 0.5 * len(numbers)
    assert len(accepted) >= 0.8 * len(legal)
    refused = [alone[one][1] for one in legal if one not in accepted]
    assert all(random_models.is_refusal(one) for one in refused), refused
