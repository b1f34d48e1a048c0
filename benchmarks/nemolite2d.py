"""NEMOLite2D in Fortran and in Python: the bits of all fields, and the time of a step.

    python benchmarks/nemolite2d.py PATH                the folder nemolite2d of PSycloneBench
    python benchmarks/nemolite2d.py PATH --points 512 --steps 100

PATH is `benchmarks/nemo/nemolite2d` of a checkout of https://github.com/stfc/PSycloneBench: its
kernels and its algorithm are taken from there, and nothing of them is kept. Fortran is what
`psyclone-storage` makes of them, compiled with gfortran without contraction. Python is what
`psyclone-storage-kern -gen python` makes of them, its invokes compiled to C where they stand; the
algorithm also calls the kernels in Fortran, and some in each language. Fortran with storages has
all loops in regions for a device, which is emulated: what it moves is printed beside the least that
it could. So it is with OpenACC alone, by libgomp's rules: there the objects that arrays lie in go
to the device, too. Grid and initial values are ours. The exit status is 1 if a field differs in a
bit, or if more is moved than need be.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks" / "nemolite2d"
LIBRARY = ROOT / "external" / "gocean_infrastructure"
RULES_OF_LIBGOMP = ROOT / "tests" / "runtime" / "openacc" / "emulated.c"
ALGORITHM = Path("psykal") / "nemolite2d_alg.f90"
KERNELS = Path("kernels") / "fortran"
CONSTANTS = Path("common") / "physical_params_mod.f90"
STEP = re.compile(r"^ *subroutine +step *\(.*?^ *end +subroutine +step *$",
                  re.IGNORECASE | re.MULTILINE | re.DOTALL)  # fmt: skip
OTHER = re.compile(r"^ *use +gocean2d_io_mod.*\n", re.IGNORECASE | re.MULTILINE)
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
FIELDS = ("ua", "va", "un", "vn", "sshn_t", "sshn_u", "sshn_v", "ssha_t", "ssha_u", "ssha_v")
DEPTHS = ("hu", "hv", "ht")
HALO = 2
DIFFERENT = 6
"""How many of the fields differ: velocities and heights, now and then, are equal after a step."""
ON_DEVICE = "as CUDA, emulated"
STORAGES = "Fortran with storages"
OPENACC = "Fortran with OpenACC"
LIBGOMP = "libgomp"
STEPS = (
    "inline-kernel-module; imports-to-arguments; acc-routine; acc-loop{collapse=0}; acc-parallel;"
    " acc-kernels"
)
HELD_ON_DEVICE = ("--target", "storage", "--apply", STEPS)
LIVING_ON_DEVICE = ("--apply", f"{STEPS}; acc-enter-data", "--check")
WRITTEN = re.compile(r"^ *call (\w+)%acquire\(\w+, access_(?:read_)?write,", re.MULTILINE)
GRID_ARRAYS = 12
"""The arrays of the grid that kernels read."""
LEAST_MOVES = [
    f"transfers in the first step: {len(FIELDS) + len(DEPTHS) + GRID_ARRAYS} host to device",
    "transfers in all others: none",
    "transfers for an output of three fields: 3 device to host",
]
"""What a model in Python moves on a device."""
LOOKED_AT = re.compile(r"^ *call print_statistics\(.*\n", re.MULTILINE)
COUNTED = re.compile(r"^moved (\d+) \d+ (\d+) ", re.MULTILINE)
MOVED = re.compile(r"^(\w+): (\d+) transfers to the device .*, (\d+) to the host", re.MULTILINE)
IN_PYTHON, IN_FORTRAN, MIXED = "kernels in Python", "kernels in Fortran", "kernels in both"
WAYS = (IN_PYTHON, IN_FORTRAN, MIXED, ON_DEVICE)
KERNEL = re.compile(r"^from (\w+) import (\w+)$", re.MULTILINE)
SEA_LEVEL = re.compile(r"(go_arg\(GO_READ, *)GO_C[UV](, *GO_STENCIL\((?:000,011|010,010),000\)\))")
"""The sea level at T points, which metadata of 'next_sshu' and 'next_sshv' call one at U or V."""
MODEL = "rdt = 20.0\ncbfr = 0.00015\nvisc = 0.1\n"


MovedArrays = tuple[tuple[int, int], tuple[int, int]]
"""How many arrays go to the device and back: in all steps, and for the output."""


@dataclass(frozen=True)
class Setting:
    """How large the model is, and for how long it runs."""

    points: int
    steps: int


def main() -> int:
    """Build, run and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="the folder nemolite2d of PSycloneBench")
    parser.add_argument("--points", type=int, default=256, help="points in each direction")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    setting = Setting(given.points, given.steps)
    if given.run:
        run_in_python(given.run, setting)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {"Fortran": of_fortran(given.path, folder / "fortran", setting)}
        moved, least, found[STORAGES] = of_storages(given.path, folder / "storages", setting)
        sent, needed, found[OPENACC] = of_openacc(given.path, folder / "openacc", setting)
        for way in WAYS:
            found[way] = of_python(given.path, folder / way.replace(" ", "_"), setting, way)
    wanted, _ = found["Fortran"]
    if len(set(wanted)) < DIFFERENT:
        raise SystemExit("The model in Fortran computes nothing.")
    for way, (digests, said) in found.items():
        bits = "the bits of Fortran" if digests == wanted else "OTHER BITS"
        print(f"{way:24}{said.split()[-1]:>14} s a step  {bits}")
        for field, mine, other in zip(FIELDS, digests, wanted, strict=True):
            if mine != other:
                print(f"    {field} differs")
    print(f"{STORAGES}: in and out {moved[0]} in all steps, {moved[1]} for output; least: {least}")
    print(f"{OPENACC}: in and out {sent[0]} in all steps, {sent[1]} for output; least: {needed}")
    same = all(digests == wanted for digests, _ in found.values())
    return 0 if same and (moved, sent) == (least, needed) else 1


def step_of(path: Path) -> str:
    """Return the subroutine with the invoke, without what is not for it."""
    found = STEP.search((path / ALGORITHM).read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"'{path / ALGORITHM}' has no subroutine 'step'.")
    return OTHER.sub("", found[0]) + "\n"


def step_by_hand(path: Path) -> str:
    """Return the step of NEMOLite2D that a person has written, and what calls it as `step`.

    What it takes for the size of the grid is here where the points of the grid end that are
    computed.
    """
    file = path / "manual_versions" / "psykal_serial" / "time_step_mod.f90"
    text = file.read_text(encoding="utf-8")
    for end, size in (("xstop", "nx"), ("ystop", "ny")):
        text = text.replace(f"ssha%grid%subdomain%global%{size}", f"ssha%internal%{end}")
    around = HERE / "by_hand.f90"
    return text + around.read_text(encoding="utf-8")


def command(*words: object, **more: str) -> str:
    """Run a command, and return what it prints; stop where it fails."""
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    around = {**os.environ, "PYTHONPATH": paths, **more}
    done = subprocess.run(list(map(str, words)), env=around, capture_output=True, text=True,
                          check=False)  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{words[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compiler(name: str) -> tuple[str, ...]:
    """Return how a command of ours is called."""
    return sys.executable, "-c", f"from psyclone_storage.cli.{name} import main; exit(main())"


# ---------------------------------------------------------------------------- Fortran


def of_storages(
    path: Path, folder: Path, setting: Setting
) -> tuple[MovedArrays, MovedArrays, tuple[list[str], str]]:
    """Return what is moved in all steps and for the output, the least that could be, and the rest.

    Each array goes in once, and each field that steps have changed out when it is written.
    """
    written, said = of_fortran(path, folder, setting, HELD_ON_DEVICE, "emulated")
    counts = {name: (int(there), int(back)) for name, there, back in MOVED.findall(said)}
    computed, all_of_it = counts["computed"], counts["written"]
    for_output = (all_of_it[0] - computed[0], all_of_it[1] - computed[1])
    changed = set(WRITTEN.findall((folder / "step_psy.f90").read_text(encoding="utf-8")))
    least = ((len(FIELDS) + len(DEPTHS) + GRID_ARRAYS, 0), (0, len(changed & set(FIELDS))))
    return (computed, for_output), least, (written, said)


def of_openacc(
    path: Path, folder: Path, setting: Setting
) -> tuple[MovedArrays, MovedArrays, tuple[list[str], str]]:
    """Return what OpenACC moves in all steps and for the output, the least that it could, the rest.

    With the arrays go the objects that they lie in, fields and their grid; each field that is
    written comes back, as nobody knows which of them the steps have changed.
    """
    written, said = of_fortran(path, folder, setting, LIVING_ON_DEVICE, LIBGOMP)
    computed, all_of_it = (tuple(map(int, found)) for found in COUNTED.findall(said))
    for_output = (all_of_it[0] - computed[0], all_of_it[1] - computed[1])
    fields = len(FIELDS) + len(DEPTHS)
    least = ((fields + GRID_ARRAYS + fields + 1, 0), (0, len(FIELDS)))
    return ((computed[0], computed[1]), for_output), least, (written, said)


def of_fortran(
    path: Path, folder: Path, setting: Setting, options: tuple[str, ...] = (), device: str = "none"
) -> tuple[list[str], str]:
    """Return the digests of all fields that the model in Fortran computes, and what it says.

    Fields have a `device`, or it stands beside the program in the place of libgomp's.
    """
    folder.mkdir()
    (folder / "step.x90").write_text(step_of(path), encoding="utf-8")
    command(*compiler("main"), "-api", "gocean", folder / "step.x90", "-d", path / KERNELS, "-nodm",
            "-d", HERE, "-d", path / CONSTANTS.parent, *options, "-oalg", folder / "step.f90",
            "-opsy", folder / "step_psy.f90")  # fmt: skip
    of_fields = "none" if device == LIBGOMP else device
    command("make", "-s", "-C", LIBRARY, "MESSAGES=serial", f"DEVICE={of_fields}",
            f"BUILD={folder / 'library'}")  # fmt: skip
    kernels = sorted((path / KERNELS).glob("*_mod.f90"))
    before = [HERE / "dl_timer.f90", path / CONSTANTS, HERE / "model_mod.f90"]
    sources = [*before, *kernels, folder / "step_psy.f90", folder / "step.f90"]
    main_program = folder / "main.f90"
    text = (HERE / "main.f90").read_text(encoding="utf-8")
    beside: tuple[Path | str, ...] = ()
    if device == LIBGOMP:
        text = LOOKED_AT.sub(lambda found: f"{found[0]}  call emulated_print()\n", text)
        command("gcc", "-O1", "-c", RULES_OF_LIBGOMP, "-o", folder / "emulated.o")
        beside = ("-fopenacc", folder / "emulated.o")
    main_program.write_text(text, encoding="utf-8")
    sources += [HERE / "bay_mod.f90", main_program]
    includes = (f"-J{folder}", f"-I{folder / 'library'}")
    archive = folder / "library" / "libgocean_infrastructure.a"
    command("gfortran", *FLAGS, "-w", *includes, *sources, *beside, archive, "-o", folder / "model")
    written = folder / "fields"
    said = command(folder / "model", setting.points, setting.steps, written)
    return list(digests(written, setting)), said


def digests(file: Path, setting: Setting) -> Iterator[str]:
    """Yield a digest of each field in a file."""
    values, size = file.read_bytes(), 8 * setting.points**2
    if len(values) != size * len(FIELDS):
        raise SystemExit(f"'{file}' has {len(values)} bytes, and not {size} for each field.")
    for start in range(0, len(values), size):
        yield hashlib.sha256(values[start : start + size]).hexdigest()


# ---------------------------------------------------------------------------- Python


def of_python(path: Path, folder: Path, setting: Setting, way: str) -> tuple[list[str], str]:
    """Return the digests of all fields that the model in Python computes, and its time.

    The `way` says in which language kernels are.
    """
    folder.mkdir()
    modules = folder / "modules"
    modules.mkdir()
    shutil.copy(HERE / "model_mod.f90", modules)
    shutil.copy(path / CONSTANTS, modules)
    (folder / "step.x90").write_text(step_of(path), encoding="utf-8")
    translate = (*compiler("kern"), "-api", "gocean", "-gen", "python")
    for number, file in enumerate(sorted((path / KERNELS).glob("*_mod.f90"))):
        in_fortran = way == IN_FORTRAN or (way == MIXED and number % 2)
        corrected = (modules if in_fortran else folder) / file.name
        text = file.read_text(encoding="utf-8")
        if file.name == "time_update_mod.f90":
            text = SEA_LEVEL.sub(r"\1GO_CT\2", text)
        corrected.write_text(text, encoding="utf-8")
        if not in_fortran:
            command(*translate, "-d", modules, corrected, "-o", folder / f"{file.stem}.py")
    command(*translate, folder / "step.x90", "-o", folder / "step_mod.py")
    with_fortran(folder / "step_mod.py", modules)
    (folder / "model_mod.py").write_text(MODEL, encoding="utf-8")
    device = {"PSYCLONE_STORAGE_DEVICE": "emulated"} if way == ON_DEVICE else {}
    said = command(sys.executable, __file__, path, "--run", folder, "--points", setting.points,
                   "--steps", setting.steps, **device)  # fmt: skip
    moves = said.splitlines()[:-1]
    for line in moves:
        print(f"{way:24}{line}")
    if device and moves != LEAST_MOVES:
        raise SystemExit(f"{way}: least are {', '.join(LEAST_MOVES)}")
    return list(digests(folder / "fields", setting)), said.split()[-1]


def with_fortran(algorithm: Path, modules: Path) -> None:
    """Let an algorithm take the kernels of `modules` from there, in Fortran."""

    def found(match: re.Match[str]) -> str:
        file = modules / f"{match[1]}.f90"
        is_there = file.is_file()
        return f'{match[2]} = fortran_kernel("{file}", "{match[2]}")' if is_there else match[0]

    text = KERNEL.sub(found, algorithm.read_text(encoding="utf-8"))
    algorithm.write_text(f"from psyclone_storage.gocean import fortran_kernel\n{text}")


def run_in_python(folder: Path, setting: Setting) -> None:
    """Run the translated model, and write all fields as the program in Fortran does."""
    import numpy as np  # noqa: PLC0415 - a process of its own runs the model

    from psyclone_storage.gocean import configure  # noqa: PLC0415
    from psyclone_storage.runtime.gocean import Field, Grid, Points  # noqa: PLC0415

    device = "gpu" if os.environ.get("PSYCLONE_STORAGE_DEVICE") else None
    configure(target="cuda" if device else "c")
    sys.path.insert(0, str(folder))
    from step_mod import step  # noqa: PLC0415  # pylint: disable=import-error

    # Kernels for boundaries look, if a mask says so, one point further than Fortran has a halo: in
    # Python it has to be there.
    extent = setting.points + 2 * HALO
    mask = np.zeros((extent, extent), np.int32)
    mask[HALO:-HALO, HALO:-HALO] = 1
    mask[:, :HALO] = -1
    grid = Grid((setting.points, setting.points), (1000.0, 1000.0), mask=mask, halo=HALO,
                device=device)  # fmt: skip
    places = {"u": Points.U, "v": Points.V, "t": Points.T}
    fields = {}
    for name in (*FIELDS, *DEPTHS):
        place = places[name[0] if len(name) == 2 and name[1] in "an" else name[-1]]
        fields[name] = Field(grid, place, name)
    # All values come from the host, as they do where a model reads its state from a file.
    for name, field in fields.items():
        field.storage[...] = np.full(grid.shape, 100.0 if name in DEPTHS else 0.0)
    order = ("ua", "va", "un", "vn", "sshn_t", "sshn_u", "sshn_v", "ssha_t", "ssha_u", "ssha_v",
             "hu", "hv", "ht")  # fmt: skip
    passed = [fields[name] for name in order]
    moved = Transfers(device)
    step(1, *passed)
    moved.print("in the first step")
    start = time.perf_counter()
    for number in range(2, setting.steps + 1):
        step(number, *passed)
    seconds = (time.perf_counter() - start) / max(1, setting.steps - 1)
    moved.print("in all others")
    for name in ("ua", "va", "sshn_t"):
        _ = fields[name].values
    moved.print("for an output of three fields")
    with (folder / "fields").open("wb") as file:
        for name in FIELDS:
            file.write(fields[name].values.tobytes(order="F"))
    print(f"seconds a step: {seconds:.5E}")


class Transfers:
    """What has moved between host and device since it was last asked."""

    def __init__(self, device: str | None) -> None:
        self._device = device
        self._counts: Counter[str] = Counter()
        if device:
            from psyclone_storage.storage.core.stats import GLOBAL_STATS  # noqa: PLC0415

            GLOBAL_STATS.add_callback(lambda event: self._counts.update([event.direction.value]))

    def print(self, when: str) -> None:
        """Print how many transfers there were, each way."""
        if self._device:
            found = ", ".join(f"{number} {way}" for way, number in sorted(self._counts.items()))
            print(f"transfers {when}: {found or 'none'}")
        self._counts.clear()


if __name__ == "__main__":
    sys.exit(main())
