"""The waves of the LFRic example with LFRic's own types: the bits of its fields, and what moves.

    python benchmarks/lfric_core.py CORE
    python benchmarks/lfric_core.py CORE --cells 48 --steps 10 --ranks 1 2 4

CORE is a checkout of https://github.com/MetOffice/lfric_core, of which nothing is kept or changed.
Its infrastructure is compiled as far as the model uses it, with two stand-ins: netCDF reads no
files here, and the exchanges of YAXT go over plain MPI (`benchmarks/lfric_core`). Layers are plain,
or ask the registry of storages, with loops on the host or in regions for an emulated device; the
program tells nothing of what it does, or all that it has to. Every rank writes what it owns. The
exit status is 1 if a bit differs.
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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks" / "lfric_core"
MODEL = ROOT / "examples" / "lfric" / "shallow_water"
STORAGES = ROOT / "external" / "storage"
STRIPS = [STORAGES / "lfric" / name for name in ("lfric_sent_dofs_mod.f90", "lfric_strips_mod.f90")]
STANDING_IN = (HERE / "netcdf.f90", HERE / "yaxt.f90")
KINDS = {
    "field": ("real real32", "real real64", "integer int32"),
    "operator": ("real real32", "real real64"),
    "scalar": ("real real32", "real real64", "integer int32"),
}
"""The templates of LFRic, and the types and kinds that they are filled for."""
MACROS = [f"-D{kind}_PRECISION=64" for kind in ("RDEF", "R_SOLVER", "R_TRAN", "R_BL", "R_PHYS")]
FLAGS = ("-O1", "-w", "-fopenmp", "-ffp-contract=off", "-ffree-line-length-none")
USE = re.compile(r"^ *use *(?:, *intrinsic *)?(?:::)? *(\w+)", re.IGNORECASE | re.MULTILINE)
MODULE = re.compile(r"^ *module +(\w+) *$", re.IGNORECASE | re.MULTILINE)
STEPS = "colour; inline-kernel-module; acc-routine; acc-loop; acc-parallel"


@dataclass(frozen=True)
class Way:
    """One way to make the program: its name, options, and whether it tells what it does."""

    name: str
    options: tuple[str, ...] = ()
    tells: bool = False


HELD = ("--target", "registry")
PLAIN = Way("plain")
WAYS = (
    PLAIN,
    Way("registry, on the host", HELD),
    Way("registry, on the device", (*HELD, "--apply", STEPS)),
    Way("registry, on the device, told", (*HELD, "--apply", STEPS), tells=True),
)


def main() -> int:
    """Build, run and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("core", type=Path, help="a checkout of lfric_core")
    parser.add_argument("--cells", type=int, default=24, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command(folder, "make", "-s", "-C", STORAGES, "DEVICE=emulated",
                f"BUILD={folder / 'storages'}")  # fmt: skip
        build_library(given.core.resolve() / "infrastructure", folder / "library")
        programs = {way: build(way, folder) for way in WAYS}
        differing = 0
        for ranks in given.ranks:
            wanted = ""
            for way in WAYS:
                found, moved = run(programs[way], way, given, ranks)
                wanted = wanted or found
                differing += found != wanted
                bits = "the bits of plain" if found == wanted else "OTHER BITS"
                print(f"{ranks} ranks  {way.name:32}{bits}  {moved}", flush=True)
    return 1 if differing else 0


def command(folder: Path, *words: object) -> str:
    """Run a command in a folder, and return what it prints; stop where it fails."""
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    around = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(list(map(str, words)), env=around, cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build_library(infrastructure: Path, folder: Path) -> None:
    """Compile what the model uses of LFRic, and the objects beside it."""
    folder.mkdir()
    templater = infrastructure / "build" / "tools" / "Templaterator"
    for name, kinds in KINDS.items():
        template = infrastructure / "source" / name / f"{name}_mod.t90"
        for words in kinds:
            kind, number = words.split()
            written = folder / f"{name}_{number}_mod.f90"
            command(folder, sys.executable, templater, template, "-o", written,
                    "-s", f"type={kind}", "-s", f"kind={number}")  # fmt: skip
    files = (*STANDING_IN, *folder.glob("*.f90"), *infrastructure.glob("source/**/*.[fF]90"))
    homes = {
        name.lower(): path
        for path in files
        for name in MODULE.findall(path.read_text(encoding="utf-8"))
    }
    asked = [name for path in sources_of_model() for name in used_by(path)]
    for path in in_order(homes, asked):
        command(folder, "mpif90", *FLAGS, "-cpp", *MACROS, "-fallow-argument-mismatch", "-c", path,
                "-o", f"{path.stem}.o")  # fmt: skip


def sources_of_model() -> list[Path]:
    """Return the sources of the model that are not generated, and its algorithm."""
    return [*sorted(MODEL.glob("kernels/*.f90")), MODEL / "waves_alg_mod.x90", *STRIPS,
            HERE / "main.f90"]  # fmt: skip


def used_by(path: Path) -> list[str]:
    """Return the modules that a file uses, as the preprocessor leaves it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".F90":
        text = command(path.parent, "cpp", "-traditional-cpp", "-P", *MACROS, path)
    return [name.lower() for name in USE.findall(text)]


def in_order(homes: dict[str, Path], asked: list[str]) -> list[Path]:
    """Return the files that modules come from, and those that these use, in an order to compile."""
    found: dict[Path, None] = {}
    seen: set[str] = set()

    def visit(names: list[str]) -> Iterator[Path]:
        for name in names:
            if name in seen or name not in homes:
                continue
            seen.add(name)
            yield from visit(used_by(homes[name]))
            yield homes[name]

    # Layers use what the algorithm does not name.
    more = ["scalar_mod", "function_space_mod", "mesh_mod"]
    for path in visit([*asked, *more]):
        found[path] = None
    return list(found)


def build(way: Way, folder: Path) -> Path:
    """Generate and compile the program, and return its folder."""
    there = folder / way.name.replace(" ", "_").replace(",", "")
    there.mkdir()
    command(there, sys.executable, "-m", "psyclone_storage", MODEL / "waves_alg_mod.x90", "-d",
            MODEL / "kernels", "-dm", "--output-dir", there, *way.options)  # fmt: skip
    kernels = sorted(MODEL.glob("kernels/*.f90"))
    sources = [*STRIPS, *kernels, "waves_alg_mod_psy.f90", "waves_alg_mod.f90", HERE / "main.f90"]
    library, storages = folder / "library", folder / "storages"
    command(there, "mpif90", *FLAGS, f"-I{library}", f"-I{storages}", *sources,
            *library.glob("*.o"), storages / "libfield_storage.a", "-o", "program")  # fmt: skip
    return there


def run(folder: Path, way: Way, given: argparse.Namespace, ranks: int) -> tuple[str, str]:
    """Run a program; return a digest of all values, and what the first rank moved."""
    there = folder / f"run_{ranks}"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    tells = "tells" if way.tells else "nothing"
    said = command(there, "mpirun", "--oversubscribe", "-n", ranks, folder / "program",
                   given.cells, given.steps, tells)  # fmt: skip
    digest = hashlib.sha256()
    for path in sorted(there.glob("*_*")):
        digest.update(path.read_bytes())
    found = re.search(r"^moved: (\d+ transfers.*), \d+ avoided", said, re.MULTILINE)
    return digest.hexdigest(), found[1] if found else ""


if __name__ == "__main__":
    sys.exit(main())
