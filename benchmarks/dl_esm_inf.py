"""NEMOLite2D with dl_esm_inf itself, whose types have no storages: the bits of all fields.

    python benchmarks/dl_esm_inf.py MODEL LIBRARY
    python benchmarks/dl_esm_inf.py MODEL LIBRARY --points 64 --steps 20 --ranks 1 2 4

MODEL is `benchmarks/nemo/nemolite2d` of a checkout of https://github.com/stfc/PSycloneBench,
LIBRARY is `finite_difference/src` of one of https://github.com/stfc/dl_esm_inf: nothing of them is
kept or changed. The whole program is generated, plain and for the registry of storages, which has
loops on the host, or in regions for a device; the device is none, or emulated. It tells nothing of
what it does on the host between its invokes, or, by lines that are put into the algorithm, all that
it has to. Every rank writes all values of all fields, halos and padding included. The exit status
is 1 if a bit differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks" / "dl_esm_inf"
TIMER = ROOT / "benchmarks" / "nemolite2d" / "dl_timer.f90"
STORAGES = ROOT / "external" / "storage"
FIELDS = ("ua", "va", "un", "vn", "sshn_t", "sshn_u", "sshn_v", "ssha_t", "ssha_u", "ssha_v",
          "hu", "hv", "ht")  # fmt: skip
LOOKED_AT = ("ht", "sshn_t", "un", "vn")
COMMON = ("gocean2d_io_mod.f90", "physical_params_mod.f90", "model_mod.f90",
          "initialisation_mod.f90")  # fmt: skip
FLAGS = ("-O2", "-g", "-ffp-contract=off", "-fopenmp", "-w")
STEPS = (
    "inline-kernel-module; imports-to-arguments; acc-routine; acc-loop{collapse=0}; acc-parallel;"
    " acc-kernels"
)
IMPORTS = "  use values_mod, only: write_values\n"
TOLD = "  use wrapped_arrays_mod, only: bring_to_host, set_program_tells, storage_of\n"
NAMELIST = """&namctl
jpiglo = {points}, jpjglo = {points}, jphgr_msh = 1, dx = 1000.0, dy = 1000.0, dep_const = 100.0,
nit000 = 1, nitend = {steps}, irecord = {record}, rdt = 20.0, cbfr = 0.00015, visc = 0.1
/
"""


@dataclass(frozen=True)
class Way:
    """One way to make the program: its name, options, device, and whether it tells what it does."""

    name: str
    options: tuple[str, ...] = ()
    device: str = "none"
    tells: bool = False


HELD = ("--target", "registry")
THERE = (*HELD, "--apply", STEPS)
FLAGGED = ("--config-opts", "DIRTY_FLAGS=true")
PLAIN = Way("plain")
WAYS = (
    Way("registry, one memory", HELD),
    Way("registry, on the host beside a device", HELD, "emulated"),
    Way("registry, on the device", THERE, "emulated"),
    Way("registry, on the device, told", THERE, "emulated", tells=True),
    Way("registry, flags", (*HELD, *FLAGGED)),
    Way("registry, told, flags", (*HELD, *FLAGGED), tells=True),
    Way("registry, on the device, told, flags", (*THERE, *FLAGGED), "emulated", tells=True),
)


def main() -> int:
    """Build, run and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="the folder nemolite2d of PSycloneBench")
    parser.add_argument("library", type=Path, help="the folder of dl_esm_inf's sources")
    parser.add_argument("--points", type=int, default=64, help="points in each direction")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_library(given.library.resolve(), folder / "library")
        for device in {way.device for way in WAYS}:
            command(folder, "make", "-s", "-C", STORAGES, f"DEVICE={device}",
                    f"BUILD={folder / device}")  # fmt: skip
        programs = {way: build(way, given.model.resolve(), folder) for way in (PLAIN, *WAYS)}
        differing = 0
        for ranks in given.ranks:
            wanted, *_ = run(programs[PLAIN], given.points, given.steps, ranks)
            for way in (PLAIN, *WAYS):
                found, seconds, moved = run(programs[way], given.points, given.steps, ranks)
                bits = "the bits of plain" if found == wanted else "OTHER BITS"
                differing += found != wanted
                print(
                    f"{ranks} ranks  {way.name:40}{seconds:8.2f} CPU s  {bits}  {moved}", flush=True
                )
    return 1 if differing else 0


def command(folder: Path, *words: object, flags: tuple[str, ...] = FLAGS) -> str:
    """Run a command in a folder, and return what it prints; stop where it fails."""
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    around = {**os.environ, "PYTHONPATH": paths, "F90": "mpif90", "F90FLAGS": " ".join(flags),
              "AR": "ar", "ARFLAGS": "cr"}  # fmt: skip
    done = subprocess.run(list(map(str, words)), env=around, cwd=folder, capture_output=True,
                          text=True, check=False)  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def library_for(sources: Path, flags: tuple[str, ...], folder: Path) -> tuple[list[str], list[str]]:
    """Compile dl_esm_inf; return options to find its modules, and what programs are linked with."""
    build_library(sources.resolve(), folder, flags)
    return [f"-I{folder}"], [str(folder / "lib_dm_fd.a")]


def build_library(sources: Path, folder: Path, flags: tuple[str, ...] = FLAGS) -> None:
    """Compile dl_esm_inf, by its own makefile, for many ranks."""
    folder.mkdir()
    command(folder, "make", "-s", "-f", sources / "Makefile", "MPI=yes", flags=flags)
    # Kernels have variables of this kind, and fields have no flags. Not all sources are offered: a
    # module of the model has the name of one of them.
    (folder / "kinds").mkdir()
    for name in ("kind_params_mod.f90", "field_mod.f90"):
        shutil.copy(sources / name, folder / "kinds")


def build(way: Way, model: Path, folder: Path) -> Path:
    """Generate and compile the program, and return its folder."""
    there = folder / way.name.replace(" ", "_").replace(",", "")
    there.mkdir()
    text = (model / "psykal" / "nemolite2d_alg.f90").read_text(encoding="utf-8")
    (there / "alg.x90").write_text(changed(text, way.tells), encoding="utf-8")
    command(there, sys.executable, "-c",
            "from psyclone_storage.cli.main import main; exit(main())", "-api", "gocean",
            "alg.x90", "-d", model / "kernels" / "fortran", "-d", model / "common", "-d", HERE,
            "-d", folder / "library" / "kinds", "-dm", *way.options, "-oalg", "alg.f90", "-opsy",
            "psy.f90")  # fmt: skip
    kernels = sorted((model / "kernels" / "fortran").glob("*_mod.f90"))
    common = [model / "common" / name for name in COMMON]
    sources = [TIMER, *common, *kernels, HERE / "values_mod.f90", "psy.f90",
               "alg.f90"]  # fmt: skip
    storages = folder / way.device
    command(there, "mpif90", *FLAGS, f"-I{folder / 'library'}", f"-I{storages}", *sources,
            folder / "library" / "lib_dm_fd.a", storages / "libfield_storage.a", "-o",
            "program")  # fmt: skip
    return there


def changed(text: str, tells: bool) -> str:
    """Return the algorithm that writes its values in the end, and tells what it does if asked to.

    The host looks at fields for output, and at all of them in the end.
    """
    ending = "".join(f"  call write_values('{name}', {name}_fld)\n" for name in FIELDS)
    ending += "  call write_values('', ht_fld)\n"
    uses = IMPORTS
    if tells:
        uses += TOLD
        text = re.sub(r"^( *call gocean_initialise.*\n)", r"\1  call set_program_tells(.true.)\n",
                      text, count=1, flags=re.MULTILINE)  # fmt: skip
        # The model writes now and then only, and is asked to at each step.
        seldom = "".join(brought(name, "if (mod(istp, irecord) == 0) ") for name in LOOKED_AT)
        text = re.sub(r"^( *call model_write\(model_grid, istp)", seldom + r"\1", text,
                      flags=re.MULTILINE)  # fmt: skip
        checksum = re.compile(r"^( *! Compute and output some checksums.*\n)", re.MULTILINE)
        text = checksum.sub("".join(map(brought, FIELDS)) + r"\1", text, count=1)
    text = re.sub(r"^( *use dl_timer *\n)", uses + r"\1", text, count=1, flags=re.MULTILINE)
    return re.sub(r"^( *call model_finalise.*\n)", ending + r"\1", text, count=1,
                  flags=re.MULTILINE)  # fmt: skip


def brought(name: str, condition: str = "") -> str:
    """Return the line that brings a field to the host."""
    return f"  {condition}call bring_to_host(storage_of({name}_fld%data))\n"


def processor_time() -> float:
    """Return the processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder: Path, points: int, steps: int, ranks: int) -> tuple[list[str], float, str]:
    """Run a program; return digests, seconds of processor time, and what rank 1 moved."""
    there = folder / f"run_{ranks}"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    text = NAMELIST.format(points=points, steps=steps, record=steps // 2)
    (there / "namelist").write_text(text, encoding="utf-8")
    start = processor_time()
    said = command(there, "mpirun", "--oversubscribe", "-n", ranks, folder / "program")
    seconds = processor_time() - start
    files = [there / f"values_{rank}" for rank in range(1, ranks + 1)]
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    written = sorted(file.read_bytes() for file in there.glob("go2d_*.dat"))
    digests.append(hashlib.sha256(b"".join(written)).hexdigest())
    found = re.search(r"^moved: (\d+ transfers.*), \d+ avoided", said, re.MULTILINE)
    exchanges = re.search(r"^moved: (\d+ exchanges)", said, re.MULTILINE)
    parts = [one[1] for one in (exchanges, found) if one]
    return digests, seconds, ", ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
