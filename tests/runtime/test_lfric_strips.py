"""LFRic's layers for OpenACC that fetch what an exchange sends, as `EXCHANGE_STRIPS` asks for.

There is one memory here, where nothing need be fetched. That it is planned where it has to be is
for the adversary of transfers (`--check`), and that what is found is what is sent for the program
`strips` of `test_infrastructure`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from libraries import EXTERNAL
from runtime.answers import differing, merge_answers
from runtime.programs import ANNEXED, SERIAL, Mode, build_program, command, generate, run_program
from runtime.test_lfric_storage import DEVICE_STEPS

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

FETCHING = EXTERNAL / "storage" / "lfric" / "lfric_fetch_mod.f90"
STRIPS = Mode(
    "annexed",
    (
        *ANNEXED.options[:-1],
        f"{ANNEXED.options[-1]} EXCHANGE_STRIPS=true",
        *("--apply", f"{DEVICE_STEPS}; acc-enter-data; overlap", "--check"),
    ),
)


def test_what_fetches_is_compiled_for_a_device(library: Path, tmp_path: Path) -> None:
    flags = ("-fopenacc", "-std=f2008", "-Wall", "-Werror", f"-I{library}")
    command(["mpif90", *flags, "-c", str(FETCHING)], tmp_path)


def test_layers_that_fetch_strips_compute_what_others_do(
    library: Path, support: Path, tmp_path: Path
) -> None:
    answers = []
    for mode, ranks in ((SERIAL, 1), (STRIPS, 4)):
        folder = tmp_path / mode.name
        folder.mkdir()
        layers = generate(mode, folder)
        fetched = sum(path.read_text(encoding="utf-8").count("call fetch_sent(") for path in layers)
        assert (fetched > 50) is (mode is STRIPS)
        run = run_program(build_program(library, support, folder), mode, ranks, folder / "run")
        answers.append(merge_answers(run.values))
    assert differing(*answers) == []
