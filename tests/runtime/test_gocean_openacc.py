"""GOcean's layers for OpenACC with a device with separate memory, by libgomp's rules.

Missing and stale data are NaN there (`openacc/emulated.c`); each transfer is counted. The same
files without OpenACC are the host program.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.programs import command

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

EXAMPLE = Path(__file__).parents[2] / "examples" / "gocean" / "shallow_water"
DEVICE = Path(__file__).parent / "openacc" / "emulated.c"
STEPS, LOOKS = 20, 10
FIELDS, ARRAYS_OF_GRIDS, GRIDS = 7, 4, 1
BASINS = 2
LOOKED_AT = 8
"""Fields that the host looks at: at the height twice, and six times where it sums at the end."""
FIELD = re.compile(r"\b(height|depth_u|depth_v|u|v|u_at_v|v_at_u)\b")
RUN = ("mpirun", "--oversubscribe", "-n")
NOT_ALL = (
    "acc-routine; acc-kernels{first=loop1 last=loop2}; acc-kernels{first=loop4 last=loop5};"
    " acc-enter-data"
)
"""Steps that leave a loop on the host, between others on the device."""


class Moved(NamedTuple):
    """What all ranks have moved between host and device."""

    to_device: int
    to_device_bytes: int
    to_host: int
    to_host_bytes: int
    arguments: int


class Basins(NamedTuple):
    """The example with two basins, whose steps take turns: on the host, and beside a device."""

    host: Path
    device: Path
    partly: Path


@pytest.fixture(scope="module")
def basins(gocean_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Basins:
    folder = tmp_path_factory.mktemp("basins")
    device = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-c"]
    command([*device, str(DEVICE)], folder)
    all_of_it = generated(folder, "device", "openacc")
    partly = generated(folder, "partly", NOT_ALL)
    return Basins(
        built(gocean_library, all_of_it, "host"),
        built(gocean_library, all_of_it, "device", "-fopenacc"),
        built(gocean_library, partly, "partly", "-fopenacc"),
    )


def generated(folder: Path, name: str, steps: str) -> Path:
    """Return the folder of the example, with two basins, that has been given steps."""
    folder = folder / name
    folder.mkdir()
    words = ["-api", "gocean", str(EXAMPLE / "shallow_water.x90"), "-d", str(EXAMPLE / "kernels")]
    assert main([*words, "-dm", "--check", "--apply", steps, "--output-dir", str(folder)]) == 0
    program = folder / "shallow_water.f90"
    text = program.read_text(encoding="utf-8")
    for old, new in (
        ("steps = 400, steps_between = 100", f"steps = {STEPS}, steps_between = {LOOKS}"),
        ("  call gocean_finalise()", "  call emulated_print()\n  call gocean_finalise()"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    lines = re.sub(r"&\n *", "", text).splitlines()
    twice = [line for one in lines for line in ((one, second(one)) if second(one) else (one,))]
    assert len(twice) - len(lines) > 12
    program.write_text("\n".join(twice) + "\n", encoding="utf-8")
    return folder


def second(line: str) -> str:
    """Return the line for the second basin, which is not as deep; none if there is but one."""
    code = line.partition("!")[0]
    if not FIELD.search(code) or code.lstrip().startswith("use "):
        return ""
    renamed = FIELD.sub(r"\1_b", code)
    return renamed.replace("'start'", "'start b'").replace("'end'", "'end b'").replace(
        "= 100.0", "= 60.0"
    ).replace("prefix", "'b_'//prefix")  # fmt: skip


def built(library: Path, folder: Path, name: str, *flags: str) -> Path:
    kernels = [*EXAMPLE.glob("kernels/*.f90"), *folder.glob("*_[0-9]_mod.f90")]
    sources = [*map(str, sorted(kernels)), "shallow_water_psy.f90", "shallow_water.f90"]
    command(["mpif90", "-fopenmp", "-O1", *flags, f"-I{library}", *sources, "../emulated.o",
             archive_in(library), "-o", name], folder)  # fmt: skip
    return folder / name


def run(program: Path, ranks: int) -> tuple[list[str], Moved]:
    """Return what a program prints of its fields, and what it has moved."""
    folder = program.parent / f"{program.name}_{ranks}"
    folder.mkdir(exist_ok=True)
    lines = command([*RUN, str(ranks), str(program), "surface"], folder).splitlines()
    counts = [map(int, line.split()[1:]) for line in lines if line.startswith("moved")]
    assert len(counts) == ranks
    surfaces = sorted(folder.glob("*surface_*"))
    assert len(surfaces) == 6
    known = sorted(line for line in lines if not line.startswith("moved"))
    known += [path.read_text(encoding="utf-8") for path in surfaces]
    assert (len(known), len(set(known))) == (10, 9)  # both start with the same hill
    return known, Moved(*map(sum, zip(*counts, strict=True)))


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_time_loop_moves_arrays_once_and_then_strips(basins: Basins, ranks: int) -> None:
    """One routine is called for two basins: what it is passed is at the same place on the stack.

    Each array goes to the device once, and so does each object in which arrays are.
    """
    known, moved = run(basins.device, ranks)
    assert known == run(basins.host, ranks)[0]
    entered = ranks * (BASINS * (FIELDS + FIELDS) + ARRAYS_OF_GRIDS + GRIDS)
    looked_at = ranks * BASINS * LOOKED_AT
    strips = moved.to_device - entered
    assert moved.to_host - looked_at == strips
    assert (strips > 0) is (ranks > 1)


def test_values_go_to_and_fro_where_a_loop_stays_on_the_host(basins: Basins) -> None:
    known, moved = run(basins.partly, 1)
    assert known == run(basins.host, 1)[0]
    assert moved.to_device > STEPS * BASINS
