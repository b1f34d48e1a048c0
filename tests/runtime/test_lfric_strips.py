"""LFRic's layers for OpenACC that transfer only the data of exchanges (`EXCHANGE_STRIPS`).

The transfer checker (`--check`) verifies the plan, and the program `strips` of
`test_infrastructure` verifies the transferred data. The waves of the example run here with a device
with separate memory (`openacc/emulated.c`), which counts the transfers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from libraries import EXTERNAL, archive_in
from psyclone_storage.cli.main import main
from runtime.answers import differing, merge_answers
from runtime.programs import ANNEXED, SERIAL, Mode, build_program, command, generate, run_program
from runtime.test_lfric_storage import DEVICE_STEPS
from runtime.test_transfers import WAVES

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


# ---------------------------------------------------------------------------- two memories

OPENACC = Path(__file__).parent / "openacc"
ON_DEVICE = f"fuse; {DEVICE_STEPS}; acc-enter-data{{queue=2}}"
OF_STRIPS = ("--config-opts", "EXCHANGE_STRIPS=true", "--apply", ON_DEVICE, "--check")
STEPS = """  use moves_mod, only: print_moves
  use waves_alg_mod"""
BEGUN = """  call create_comm(comm)
  call get_command_argument(1, word)
  read (word, *) steps
"""
LOOKING = """    call proxy%bring_to_host()
    values => proxy%data
    !$acc update host(values) if_present
"""


class Moved(NamedTuple):
    """What all ranks together have moved: between host and device, and to each other."""

    to_device: int
    to_device_bytes: int
    to_host: int
    to_host_bytes: int
    arguments: int
    exchanges: int
    messages: int
    sent_bytes: int


class Waves(NamedTuple):
    """The waves of the example, on a device or not."""

    program: Path

    def run(self, ranks: int, steps: int) -> tuple[list[str], Moved]:
        """Return what is known of the waves, the surface among it, and what was moved."""
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), str(self.program), str(steps)]
        printed = command(words, self.program.parent)
        lines = re.findall(r"^moved (.*)$", printed, re.MULTILINE)
        counts = [tuple(map(int, line.split())) for line in lines]
        surfaces = [self.program.parent / f"surface_{steps:03}.{rank}" for rank in range(ranks)]
        known = [line for line in printed.splitlines() if line.startswith("step")]
        known += [path.read_text(encoding="utf-8") for path in surfaces]
        return known, Moved(*map(sum, zip(*counts, strict=True)))


@pytest.fixture(scope="module")
def waves(library: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Waves, Waves]:
    """Return the waves beside a device that has memory of its own, and on the host."""
    on_device = waves_in(tmp_path_factory.mktemp("device"), library, OF_STRIPS, "-fopenacc")
    return on_device, waves_in(tmp_path_factory.mktemp("host"), library, ())


def waves_in(folder: Path, library: Path, options: tuple[str, ...], *flags: str) -> Waves:
    """Compile the example in a folder, with layers that options ask for."""
    text = (WAVES / "waves.f90").read_text(encoding="utf-8")
    for old, new in (
        ("  use waves_alg_mod", STEPS),
        ("  integer, parameter :: steps = 40, steps_between = 10\n",
         "  integer :: steps\n  character(8) :: word\n"),
        ("modulo(step, steps_between) == 0", "step == steps"),
        ("cells = 48,", "cells = 24,"),
        ("  call create_comm(comm)\n", BEGUN),
        ("    character(32) :: file_name\n",
         "    character(32) :: file_name\n    real(r_def), pointer, contiguous :: values(:)\n"),
        ("    call proxy%bring_to_host()\n", LOOKING),
        ("  call destroy_comm()\n", "  call print_moves()\n  call destroy_comm()\n"),
    ):  # fmt: skip
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "waves.f90").write_text(text, encoding="utf-8")
    words = (str(WAVES / "waves_alg_mod.x90"), "-d", str(WAVES / "kernels"), *options)
    assert main([*words, "-oalg", str(folder / "alg.f90"), "-opsy", str(folder / "psy.f90")]) == 0
    device = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-c"]
    command([*device, str(OPENACC / "emulated.c")], folder)
    sources = [FETCHING, *sorted(WAVES.glob("kernels/*.f90")), OPENACC / "moves_mod.f90"]
    own = [*map(str, sources), "psy.f90", "alg.f90", "waves.f90", "emulated.o"]
    command(["mpif90", "-fopenmp", "-O1", *flags, f"-I{library}", *own, archive_in(library),
             "-o", "waves"], folder)  # fmt: skip
    return Waves(folder / "waves")


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_exchanges_beside_a_device_move_what_is_sent_and_nothing_else(
    waves: tuple[Waves, Waves], ranks: int
) -> None:
    """An exchange brings its list of what is sent, of four bytes each, and what was received.

    What several ranks are sent comes from the device once. A list that stayed there would have its
    pointer stay, too, which libgomp never updates: each is brought anew. Surfaces have the bits of
    the host's, whose loops are not fused.
    """
    on_device, on_host = waves
    few_known, before = on_device.run(ranks, 1)
    known, after = on_device.run(ranks, 3)
    assert (few_known, known) == (on_host.run(ranks, 1)[0], on_host.run(ranks, 3)[0])
    more = Moved(*(late - early for early, late in zip(before, after, strict=True)))
    exchanges = more.exchanges if ranks > 1 else 0
    assert (exchanges > 0) is (more.sent_bytes > 0) is (ranks > 1)
    assert more.to_device == 2 * exchanges
    assert more.to_device_bytes == more.sent_bytes + more.to_host_bytes // 2
    assert more.to_host == exchanges
    assert more.to_host_bytes <= more.sent_bytes


def test_sums_in_fused_loops_are_shared_on_a_device(waves: tuple[Waves, Waves]) -> None:
    layer = (waves[0].program.parent / "psy.f90").read_text(encoding="utf-8")
    loops = re.findall(r"!\$acc loop ([^!]*)\n *do df = (.*?)\n    end do", layer, re.DOTALL)
    sums = [(clauses, body) for clauses, body in loops if re.search("X_innerproduct|sum_X", body)]
    assert len(sums) > 3
    assert max(body.count("Built-in") for _, body in sums) > 1
    for clauses, _ in sums:
        assert re.fullmatch(r"private\(df\), reduction\(\+:[\w, ]+\), independent", clauses)
