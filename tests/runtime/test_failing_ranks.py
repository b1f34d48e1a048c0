"""An error on one rank ends all ranks of a Python program; none waits forever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "ranks" / "failing.py"
SECONDS = 120

pytestmark = [pytest.mark.mpi, pytest.mark.compiled]

MESSAGES = {
    "before a collective call": "ValueError: deliberate",
    "in an invoke": "takes a field, not a float.",
    "index": "'old': index 1000000000 is out of bounds, as the length is 3.",
    "compile error": "error[M207]",
    "error of a kernel": "'missing' is not defined.",
    "in a thread": "ValueError: deliberate",
    "interrupt": "KeyboardInterrupt\n",
}


def run(
    ranks: int, *words: str, options: tuple[str, ...] = (), program: Path = PROGRAM
) -> tuple[int, str]:
    """Run a program on several ranks; one that does not end is a failure."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), sys.executable,
               *options, str(program), *words]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("way", MESSAGES)
def test_an_error_on_one_rank_ends_all(way: str, ranks: int) -> None:
    status, output = run(ranks, way, str(ranks - 1))
    assert status == 1
    assert output.count(MESSAGES[way]) == 1
    assert f"Rank {ranks - 1} of {ranks} ended with " in output
    assert "the greatest" not in output


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_killed_rank_ends_all(ranks: int) -> None:
    status, output = run(ranks, "killed", "1")
    assert status != 0
    assert "the greatest" not in output


@pytest.mark.parametrize("way", ["before a collective call", "compile error"])
def test_an_error_on_all_ranks_is_printed_once(way: str) -> None:
    status, output = run(4, way, "all")
    assert status == 1
    assert output.count(MESSAGES[way]) == 1
    assert output.count("ended with") == 1


def test_a_hook_that_was_installed_before_is_called() -> None:
    status, output = run(2, "before a collective call", "1", "hooked")
    assert status == 1
    assert output.count("previous hook: deliberate") == 1


def test_a_hook_that_fails_does_not_keep_the_others_waiting() -> None:
    status, output = run(2, "before a collective call", "1", "broken hook")
    assert status == 1
    assert "previous hook: deliberate" in output


def test_a_stream_that_cannot_be_flushed_does_not_keep_the_others_waiting() -> None:
    status, output = run(2, "before a collective call", "1", "no stream")
    assert status == 1
    assert "Rank 1 of 2 ended with ValueError" in output


@pytest.mark.parametrize("way", ["in a child", "exit of a thread"])
def test_what_does_not_end_a_rank_aborts_nothing(way: str) -> None:
    status, output = run(2, way, "1")
    assert status == 0
    assert output.count("the greatest is 1.0") == 2


def test_programs_that_import_mpi4py_run_with_its_module() -> None:
    status, output = run(2, "before a collective call", "1", "own MPI", options=("-m", "mpi4py"))
    assert status == 1
    assert "ValueError: deliberate" in output
    assert "ended with" not in output


def test_a_missing_mpi4py_is_one_message(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import sys\n"
        "sys.modules['mpi4py'] = None\n"
        "from psyclone_storage.runtime.gocean import Grid\n"
        "grid = Grid((8, 8))\n"
    )
    status, output = run(4, program=program)
    assert status == 1
    assert output.count("pip install 'psyclone-storage[mpi]'") == 1
    assert output.count("Traceback") == 1
    assert "runtime/ranks.py" not in output


def test_an_mpi_library_that_cannot_be_loaded_is_one_message(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import sys\n"
        "class Unloadable:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'mpi4py.MPI':\n"
        "            raise RuntimeError('cannot load MPI library\\nlibmpi.so: no such file')\n"
        "sys.meta_path.insert(0, Unloadable())\n"
        "from psyclone_storage.runtime.gocean import Grid\n"
        "grid = Grid((8, 8))\n"
    )
    status, output = run(4, program=program)
    assert status == 1
    assert output.count("cannot load MPI library libmpi.so: no such file") == 1
    assert output.count("Traceback") == 1
    assert "runtime/ranks.py" not in output


def test_grids_take_communicators_of_mpi4py(tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "from psyclone_storage.runtime.gocean import Field, Grid\n"
        "half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)\n"
        "for one in (MPI.COMM_WORLD, MPI.COMM_SELF, half):\n"
        "    grid = Grid((8, 8), periodic=(True, True), ranks=one)\n"
        "    field = Field(grid, values=1.0)\n"
        "    field.exchange()\n"
        "    assert grid.ranks.size == one.size and field.sum() == 64.0\n"
        "from psyclone_storage.runtime.ranks import MpiRanks\n"
        "def refused(make, words):\n"
        "    try:\n"
        "        make()\n"
        "    except TypeError as error:\n"
        "        assert words in str(error), error\n"
        "    else:\n"
        "        raise AssertionError(make)\n"
        "for wrong in (3, MPI.COMM_NULL, 'world', MpiRanks):\n"
        "    refused(lambda: Grid((8, 8), ranks=wrong), 'MpiRanks(communicator)')\n"
        "    refused(lambda: MpiRanks(wrong), 'MpiRanks takes an intracommunicator')\n"
        "print('done')\n"
    )
    status, output = run(4, program=program)
    assert status == 0
    assert output.count("done") == 4
