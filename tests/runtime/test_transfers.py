"""Complete programs make no more transfers between host and device than the minimum (`transfers`).

A tidal model has thirteen fields and uses all twelve arrays of the grid; the waves of LFRic's
example are computed with conjugate gradients. Both run in regions on an emulated device, with
fields that have storages and with a registry of storages that receives notifications.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from libraries import GOCEAN_EMULATED, Library, archive_in, linked_with
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import Build, make_compiler
from psyclone_storage.pipeline.request import CompileRequest
from runtime.programs import command
from runtime.test_lfric_storage import DEVICE_STEPS
from transfers import DEVICE, HOST, SIDES, Use, least_by_force, least_of, least_transfers, trace_of
from transfers import uses_of as uses_in

SOURCES = Path(__file__).parent / "transfers"
WAVES = Path(__file__).parents[2] / "examples" / "lfric" / "shallow_water"
POINTS = "inline-kernel-module; acc-routine; acc-loop{collapse=0}; acc-parallel"
TARGETS = ("storage", "registry")
RUN = ["mpirun", "--oversubscribe", "-n"]
LOOK = Use(HOST, needs=True, writes=False)
CALL = re.compile(r"^( *)call (invoke_\w+)\(", re.MULTILINE)
COUNTED = ("velocity", "height", "basin%mass", "basin%divergence", "work%change", "work%residual",
           "work%direction", "work%image", "work%thrust", "work%outflow")  # fmt: skip

USED = """  use moved_mod, only: add_moved, print_moved
  use wrapped_arrays_mod, only: set_program_tells
"""
PREPARED = """  call prepare(basin, width, layer, &
               quadrature_xyoz_type(points, quadrature_rule_gaussian_type()))
"""
BEGUN = """  call set_program_tells(.true.)
  call get_command_argument(1, word)
  read (word, *) steps
  call get_command_argument(2, word)
  read (word, *) steps_between
"""
TABLES = ("map of W2", "map of W3", "boundary of W2", "cells of colours")
"""Tables of LFRic that the waves use: none of them ever changes."""
TABLES_OF_QUADRATURE = 5
"""Those of the one routine that uses quadrature, which is called twice, with tables that are made
anew for each call: basis functions and weights."""

LOOKING = """    call proxy%bring_to_host()
    print '(a)', 'runs look'
"""


def test_the_least_is_what_trying_everything_finds() -> None:
    drawn = random.Random(7)
    for _ in range(300):
        some = [
            Use(drawn.choice(SIDES), drawn.random() < 0.7, drawn.random() < 0.4)
            for _ in range(drawn.randint(1, 6))
        ]
        assert least_transfers(some) == least_by_force(some)


def built_from(path: Path, api: str, target: str, steps: str, *, distributed: bool) -> Build:
    """Return what an algorithm is compiled to, for loops on a device."""
    request = CompileRequest(
        api, distributed, directories=(path.parent / "kernels",), target=target, steps=steps
    )
    compiler = make_compiler(default_settings(), request)
    return compiler.compile_text(SourceText(path.name, path.read_text(encoding="utf-8")))


# ---------------------------------------------------------------------------- tides


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize("target", TARGETS)
def test_a_model_of_tides_moves_as_little_as_can_be(
    built: Callable[[Library], Path], target: str, tmp_path: Path
) -> None:
    """Each field and array of the grid goes there once, and three come back for each output."""
    build = built_from(SOURCES / "tides.x90", "gocean", target, POINTS, distributed=False)
    (tmp_path / "tides_psy.f90").write_text(build.psy_text, encoding="utf-8")
    (tmp_path / "tides.f90").write_text(build.algorithm_text, encoding="utf-8")
    library = built(GOCEAN_EMULATED)
    sources = [SOURCES / "kernels" / "tides_mod.f90", "tides_psy.f90", "tides.f90"]
    compiled = ["mpif90", "-fopenmp", "-O1", *map(str, sources), *linked_with(library)]
    command([*compiled, "-o", "tides"], tmp_path)
    printed = command([*RUN, "1", str(tmp_path / "tides")], tmp_path)
    (invoke,) = build.program.invokes
    looks = [(name, LOOK) for name in ("height", "u", "v")]
    runs = re.findall(r"^runs (\w+)$", printed, re.MULTILINE)
    least, first = least_of(
        trace_of(runs, {"advance": list(uses_in(invoke.schedule)), "look": looks})
    )
    assert (runs.count("advance"), runs.count("look")) == (60, 3)
    assert (first, least - first) == (13 + 12, 3 * 3)
    moved = re.search(r"moved: (\d+) transfers to the device .*, (\d+) to the host", printed)
    assert moved is not None
    assert (int(moved[1]), int(moved[2])) == (first, least - first)


# ---------------------------------------------------------------------------- waves


class Moved(NamedTuple):
    """What a rank says in the end: of its fields and operators, of all else, of its messages."""

    to_device: int
    to_device_bytes: int
    to_host: int
    to_host_bytes: int
    others_to_device: int
    others_to_host: int
    sent_bytes: int


class Waves(NamedTuple):
    """The waves of the example, for a target."""

    build: Build
    program: Path

    def run(self, ranks: int, steps: int, between: int) -> tuple[list[str], list[Moved]]:
        """Return what is run, in order, and what each rank has moved."""
        folder = self.program.parent
        for file in folder.glob("moved_*.txt"):
            file.unlink()
        words = [*RUN, str(ranks), str(self.program), str(steps), str(between)]
        printed = command(words, folder)
        files = [folder / f"moved_{rank}.txt" for rank in range(ranks)]
        counts = [Moved(*map(int, file.read_text(encoding="utf-8").split())) for file in files]
        return re.findall(r"^runs (\w+)$", printed, re.MULTILINE), counts


def waves_that_count(text: str) -> str:
    """Return the example so that it tells what it looks at, and counts what it moves."""
    counted = "".join(f"  call add_moved({name}%values)\n" for name in COUNTED)
    changes = (
        ("  use waves_alg_mod", f"{USED}  use waves_alg_mod"),
        (
            "  integer, parameter :: steps = 40, steps_between = 10\n",
            "  integer :: steps, steps_between\n  character(8) :: word\n",
        ),
        ("cells = 48,", "cells = 24,"),
        ("  call create_comm(comm)\n", f"  call create_comm(comm)\n{BEGUN}"),
        (PREPARED, 2 * PREPARED),
        ("    write (file_name,", f"{LOOKING}    write (file_name,"),
        ("  call destroy_comm()\n", f"{counted}  call print_moved()\n  call destroy_comm()\n"),
    )
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def waves(
    emulated_parts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Waves]:
    """Return the program for each target."""
    return {
        target: waves_for(target, emulated_parts[0], tmp_path_factory.mktemp(target))
        for target in TARGETS
    }


def waves_for(target: str, library: Path, folder: Path) -> Waves:
    """Compile the example in a folder."""
    path = WAVES / "waves_alg_mod.x90"
    build = built_from(path, "lfric", target, DEVICE_STEPS, distributed=True)
    tracing = CALL.sub(r"\1print '(a)', 'runs \2'\n\g<0>", build.algorithm_text)
    (folder / "psy.f90").write_text(build.psy_text, encoding="utf-8")
    (folder / "alg.f90").write_text(tracing, encoding="utf-8")
    changed = waves_that_count((WAVES / "waves.f90").read_text(encoding="utf-8"))
    (folder / "waves.f90").write_text(changed, encoding="utf-8")
    kernels = sorted(map(str, WAVES.glob("kernels/*.f90")))
    own = [str(SOURCES / "moved_mod.f90"), "psy.f90", "alg.f90", "waves.f90"]
    words = ["mpif90", "-fopenmp", "-O1", f"-I{library}", *kernels, *own, archive_in(library)]
    command([*words, "-o", "waves"], folder)
    return Waves(build, folder / "waves")


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize("target", TARGETS)
def test_the_waves_of_lfric_move_as_little_as_can_be(waves: dict[str, Waves], target: str) -> None:
    """A registry brings what kernels overwrite: it may have several values at a dof."""
    program = waves[target]
    runs, (moved,) = program.run(1, 6, 2)
    routines = {
        invoke.schedule.name: list(uses_in(invoke.schedule, kernels_cover=target == "storage"))
        for invoke in program.build.program.invokes
    }
    least, first = least_of(trace_of(runs, {**routines, "look": [("height", LOOK)]}))
    assert runs.count("invoke_multiply") > 100
    assert {use.side for uses in routines.values() for _, use in uses} == {DEVICE}
    assert (moved.to_device, moved.to_host) == (first, least - first)
    assert least - first == runs.count("look") - 1  # at the first, the host has it still
    assert (moved.others_to_device, moved.others_to_host) == (len(TABLES) + TABLES_OF_QUADRATURE, 0)


@pytest.mark.fortran
@pytest.mark.mpi
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_exchanges_move_strips(waves: dict[str, Waves], target: str, ranks: int) -> None:
    """What two steps more bring is what their messages have.

    What several ranks are sent comes from the device once, or once for each of them.
    """
    _, few = waves[target].run(ranks, 1, 1000)
    _, many = waves[target].run(ranks, 3, 1000)
    before, after = (Moved(*map(sum, zip(*counts, strict=True))) for counts in (few, many))
    sent = after.sent_bytes - before.sent_bytes
    fetched = after.to_host_bytes - before.to_host_bytes
    assert (sent > 0) is (fetched > 0) is (ranks > 1)
    assert fetched <= sent
    assert after.to_device_bytes - before.to_device_bytes == sent
    assert (after.others_to_device, after.others_to_host) == (before.others_to_device, 0)
