"""Models with LFRic's own types, kernels and algorithms: the bits of their fields, and what moves.

    python benchmarks/lfric_core.py CORE
    python benchmarks/lfric_core.py CORE --model tracer --cells 48 --steps 10 --ranks 1 2 4
    python benchmarks/lfric_core.py CORE --apps APPS --model dynamics

CORE is a checkout of https://github.com/MetOffice/lfric_core, APPS one of lfric_apps that belongs
to it; nothing of them is kept or changed. What a model uses of them is compiled, with two
stand-ins: netCDF reads no files here, and the exchanges of YAXT go over plain MPI
(`benchmarks/lfric_core`). Modules of namelists, which LFRic's build writes, are made with the
values below. The models: `waves` is the example of this project, `tracer` does what LFRic's
applications `simple_diffusion` and `skeleton` do, `dynamics` calls algorithms of LFRic's science
library and of GungHo, `meshes` those that take fields to a coarser mesh and back, solve for columns
by banded matrices, and reconstruct a tracer at faces from the cells around.

Layers are plain, or plain with directives of OpenACC on the host, or ask the registry of storages,
with loops on the host or in regions for an emulated device; the waves tell nothing of what they do,
or all that they have to. Cells are coloured in all of them: what neighbours write to dofs that they
share may depend on the order of cells. Every rank writes what it owns. The exit status is 1 if a
bit differs.

Fields are compared between the numbers of ranks, too, dof by dof. Colours begin elsewhere on each
rank, and sums over ranks are added in another order: what is added at a dof by more than two cells,
or solved for with such sums, agrees but for rounding, all else to the last bit. One field is left
out: its solver, without an answer there, makes 1e20 of rounding, with PSyclone's layers as well.
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
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from kernels_on_device import namelist_modules

Numbers, Values = npt.NDArray[np.int64], npt.NDArray[np.float64]
Fields = dict[str, tuple[Numbers, Values]]
"""Numbers of dofs, and their values, for each field."""
ROUNDING = 1e-10
"""How far rounding may take a field, relative to its greatest value: solvers stop at 1e-6."""
ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks" / "lfric_core"
EXAMPLE = ROOT / "examples" / "lfric" / "shallow_water"
STORAGES = ROOT / "external" / "storage"
KINDS = {
    "field": ("real real32", "real real64", "integer int32"),
    "operator": ("real real32", "real real64"),
    "scalar": ("real real32", "real real64", "integer int32"),
}
"""The templates of LFRic, and the types and kinds that they are filled for."""
MACROS = [f"-D{kind}_PRECISION=64" for kind in ("RDEF", "R_SOLVER", "R_TRAN", "R_BL", "R_PHYS")]
FLAGS = ("-O1", "-w", "-fopenmp", "-ffp-contract=off", "-ffree-line-length-none", "-cpp",
         "-fallow-argument-mismatch", *MACROS)  # fmt: skip
USE = re.compile(r"^ *use *(?:, *intrinsic *)?(?:::)? *(\w+)", re.IGNORECASE | re.MULTILINE)
MODULE = re.compile(r"^ *module +(\w+) *$", re.IGNORECASE | re.MULTILINE)
KERNEL = re.compile(r"extends *\( *kernel_type *\)", re.IGNORECASE)
ALGORITHM = (".x90", ".X90")
SOURCES = (*ALGORITHM, ".f90", ".F90")
KERNELS = "import sys; from psyclone_storage.cli.kern import command; sys.exit(command())"
STEPS = "colour; inline-kernel-module; acc-routine; acc-loop; acc-parallel"
LAYERS_USE = ("scalar_mod", "function_space_mod", "mesh_mod", "lfric_strips_mod",
              "operator_mod", "lfric_sent_dofs_mod")  # fmt: skip
"""What layers use that no algorithm names."""
VALUES: dict[str, dict[str, object]] = {
    "base_mesh": {"geometry": "geometry_planar", "topology": "topology_fully_periodic",
                  "f_lat": 1.0},
    "finite_element": {"coord_system": "coord_system_xyz", "coord_order": 1, "nqp_h_exact": 3,
                       "nqp_v_exact": 3},
    "extrusion": {"domain_height": 2000.0, "planet_radius": 6371229.0},
    "planet": {"scaled_radius": 6371229.0, "scaled_omega": 7.292116e-5, "gravity": 9.80665,
               "cp": 1005.0, "rd": 287.05, "kappa": 287.05 / 1005.0, "p_zero": 100000.0},
    "solver": {"maximum_iterations": 20, "tolerance": 1e-6, "method": "method_cg", "gcrk": 4,
               "preconditioner": "preconditioner_diagonal"},
    "energy_correction": {"integral_method": "integral_method_fd"},
    "shallow_water_settings": {"thermal_swe": ".true.",
                               "momentum_form": "momentum_form_vector_invariant"},
    "formulation": {"rotating": ".true."},
    "multires_coupling": {"recovery_order": "recovery_order_linear",
                          "reconstruction": "reconstruction_reversible"},
    "timestepping": {"dt": 10.0, "alpha": 0.5},
    "gravity_wave_constants": {"cs_square": 1.0e5},
    "initial_temperature": {"bvf_square": 1.0e-4},
    "transport": {"operators": "operators_fv", "fv_horizontal_order": 2, "fv_vertical_order": 2,
                  "oned_reconstruction": ".false.",
                  "panel_edge_treatment": "panel_edge_treatment_none"},
}  # fmt: skip
"""The values of members of namelists; others are zero or false."""


@dataclass(frozen=True)
class Way:
    """One way to make the program: its name, options, and whether it tells what it does."""

    name: str
    options: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    tells: bool = False


HELD = ("--target", "registry")
ON_DEVICE = ("-s", str(HERE / "on_device.py"))
COLOURED = ("--apply", "colour")
WAYS = (
    Way("plain", COLOURED),
    Way("plain, OpenACC on the host", ON_DEVICE, ("-fopenacc",)),
    Way("registry, on the host", (*HELD, *COLOURED)),
    Way("registry, on the device", (*HELD, *ON_DEVICE)),
)
TOLD = (*WAYS, Way("registry, on the device, told", (*HELD, "--apply", STEPS), tells=True))


@dataclass(frozen=True)
class Model:
    """A program: its main file, the folders of sources in CORE and APPS, ways to make it.

    `rounded` are the fields that are rounded otherwise on another number of ranks, `unsteady` those
    whose solver runs away from rounding: nothing is to be compared there.
    """

    main: str
    folders: tuple[str, ...] = ()
    rounded: frozenset[str] = frozenset()
    unsteady: frozenset[str] = frozenset()
    ways: tuple[Way, ...] = WAYS
    own: tuple[Path, ...] = field(default=(), repr=False)


SCIENCE = ("core/components/science", "core/components/driver", "core/components/inventory")
MODELS = {
    "waves": Model("waves.f90", rounded=frozenset({"height", "velocity"}), ways=TOLD,
                   own=(EXAMPLE,)),
    "tracer": Model("tracer.f90", (*SCIENCE, "core/applications/simple_diffusion",
                                   "core/applications/skeleton")),
    "dynamics": Model("dynamics.f90", (*SCIENCE, "apps/science/shared", "apps/science/gungho",
                                       "apps/applications/transport",
                                       "apps/applications/shallow_water"),
                      rounded=frozenset({"vorticity", "wind"}), unsteady=frozenset({"curl"})),
    "meshes": Model("meshes.f90", (*SCIENCE, "apps/science/shared", "apps/science/gungho",
                                   "apps/applications/gravity_wave")),
}  # fmt: skip


def main() -> int:
    """Build, run and compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("core", type=Path, help="a checkout of lfric_core")
    parser.add_argument("--apps", type=Path, help="a checkout of lfric_apps that belongs to it")
    parser.add_argument("--model", choices=MODELS, default="waves")
    parser.add_argument("--cells", type=int, default=24, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_storages(folder)
        build = Build(MODELS[given.model], folder, given.core.resolve(),
                      given.apps and given.apps.resolve())  # fmt: skip
        build.compile_library()
        said = build.write_device_modules()
        print(next(line for line in said.splitlines() if "can run on a device" in line))
        programs = {way: build.program(way) for way in build.model.ways}
        differing = 0
        alone: Fields = {}
        for ranks in given.ranks:
            wanted = ""
            for way in build.model.ways:
                found, moved = run(programs[way], way, given, ranks)
                differing += found != (wanted or found)
                bits = "the bits of plain" if found == (wanted or found) else "OTHER BITS"
                print(f"{ranks} ranks  {way.name:32}{bits}  {moved}", flush=True)
                if not wanted:
                    fields = fields_in(programs[way] / f"run_{ranks}")
                    alone = alone or fields
                    said, wrong = compared(alone, fields, build.model)
                    print(f"{ranks} ranks  {'fields beside ' + str(given.ranks[0]):32}{said}")
                    differing += wrong
                wanted = wanted or found
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


def make_storages(folder: Path) -> None:
    """Compile the library of storages, with an emulated device."""
    command(folder, "make", "-s", "-C", STORAGES, "DEVICE=emulated",
            f"BUILD={folder / 'storages'}")  # fmt: skip


def library_for(
    core: Path, main: Path, also: tuple[Path, ...], flags: tuple[str, ...], folder: Path
) -> tuple[list[str], list[str]]:
    """Compile what `main` and the sources `also` use of lfric_core.

    Returns the options with which programs find modules, and what they are linked with.
    """
    folder.mkdir()
    make_storages(folder)
    more = ("-w", "-cpp", "-fallow-argument-mismatch", *MACROS)
    build = Build(Model(str(main)), folder, core.resolve(), None, (*flags, *more), also)
    build.compile_library()
    return build.linked


class Build:
    """What one model is made of: the modules that it uses, in an order to compile."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a model is made of
        self,
        model: Model,
        folder: Path,
        core: Path,
        apps: Path | None,
        flags: tuple[str, ...] = FLAGS,
        also: tuple[Path, ...] = (),
    ) -> None:
        """Find the modules that the model and the sources `also` use."""
        self.model = model
        self._flags = flags
        self._folder = folder
        self._library = folder / "library"
        self._library.mkdir()
        roots = {"core": core, "apps": apps}
        self._trees: list[Path] = []
        for root, rest in (name.split("/", 1) for name in model.folders):
            place = roots[root]
            if place is None:
                raise SystemExit("this model needs --apps")
            self._trees.append(place / rest / "source")
        infrastructure = core / "infrastructure"
        self._write_templates(infrastructure)
        self._write_namelists([place for place in (core, apps) if place])
        written = self._library.glob("*.f90")
        own = (*HERE.glob("*.f90"), *(STORAGES / "lfric").glob("*.f90"), *written)
        example = [_without_built(tree, folder / "own" / tree.name) for tree in model.own]
        trees = (infrastructure / "source", *self._trees, *example)
        self._folders = [word for tree in (self._library, *trees) for word in ("-d", tree)]
        self._for_devices = folder / "for_devices"
        homes: dict[str, Path] = {}
        for path in (*own, *(found for tree in trees for found in sources_below(tree))):
            for name in MODULE.findall(path.read_text(encoding="utf-8")):
                homes.setdefault(name.lower(), path)
        self._homes = homes
        asked = [name for path in (HERE / model.main, *also) for name in used_by(path)]
        asked += LAYERS_USE
        self._files = list(dict.fromkeys(self._in_order(asked, set())))
        self._generated = self._after_layers()

    def _write_templates(self, infrastructure: Path) -> None:
        templater = infrastructure / "build" / "tools" / "Templaterator"
        for name, kinds in KINDS.items():
            template = infrastructure / "source" / name / f"{name}_mod.t90"
            for words in kinds:
                kind, number = words.split()
                command(self._library, sys.executable, templater, template,
                        "-o", self._library / f"{name}_{number}_mod.f90",
                        "-s", f"type={kind}", "-s", f"kind={number}")  # fmt: skip

    def _write_namelists(self, trees: list[Path]) -> None:
        for module, text in namelist_modules(trees, VALUES):
            (self._library / f"{module}.f90").write_text(text, encoding="utf-8")

    def _in_order(self, names: Iterable[str], seen: set[str]) -> Iterator[Path]:
        """Yield the files that modules come from, each behind those that it uses."""
        for name in names:
            if name in seen or name not in self._homes:
                continue
            seen.add(name)
            yield from self._in_order(used_by(self._homes[name]), seen)
            yield self._homes[name]

    def _after_layers(self) -> list[Path]:
        """Return the algorithms, and the files that use them, in an order to compile."""
        found: list[Path] = []
        for path in self._files:
            uses = {self._homes.get(name) for name in used_by(path)}
            if path.suffix in ALGORITHM or uses.intersection(found):
                found.append(path)
        return found

    def compile_library(self) -> None:
        """Compile all that does not depend on a layer."""
        for path in self._files:
            if path not in self._generated:
                command(self._library, "mpif90", *self._flags, f"-I{self._folder / 'storages'}",
                        "-c", path, "-o", f"{path.stem}.o")  # fmt: skip

    @property
    def linked(self) -> tuple[list[str], list[str]]:
        """The options with which programs find modules, and what they are linked with."""
        storages = self._folder / "storages"
        objects = [*map(str, self._library.glob("*.o")), str(storages / "libfield_storage.a")]
        return [f"-I{self._library}", f"-I{storages}"], objects

    def write_device_modules(self) -> str:
        """Write the modules that kernels call as a device needs them; return what is said."""
        self._for_devices.mkdir()
        kernels = [path for path in self._files if KERNEL.search(path.read_text("utf-8"))]
        return command(self._folder, sys.executable, "-c", KERNELS, "-device",
                       *kernels, *self._folders, "-device-modules", self._for_devices)  # fmt: skip

    def program(self, way: Way) -> Path:
        """Generate and compile the program, and return its folder."""
        there = self._folder / way.name.replace(" ", "_").replace(",", "")
        there.mkdir()
        algorithms = [path for path in self._generated if path.suffix in ALGORITHM]
        for_devices = ("-d", self._for_devices) if way.options != COLOURED else ()
        command(there, sys.executable, "-m", "psyclone_storage", *algorithms, *for_devices,
                *self._folders, "-dm", "--output-dir", there, *way.options)  # fmt: skip
        changed = {path.name for path in there.glob("*.f90")}
        sources: list[Path | str] = []
        for path in self._generated:
            layer = [f"{path.stem}_psy.f90", f"{path.stem}.f90"]
            sources += layer if path.suffix in ALGORITHM else [path]
        kernels = sorted(changed.difference(map(str, sources)))
        modules, objects = self.linked
        command(there, "mpif90", *self._flags, *way.flags, *modules, *kernels, *sources,
                HERE / self.model.main, *objects, "-o", "program")  # fmt: skip
        return there


def _without_built(tree: Path, copy: Path) -> Path:
    """Return a copy of `tree` without what `make demo` has generated there."""
    return shutil.copytree(tree, copy, ignore=shutil.ignore_patterns("build"))


def sources_below(tree: Path) -> list[Path]:
    """Return the sources below a folder, in one order."""
    return sorted(path for path in tree.rglob("*") if path.suffix in SOURCES)


@cache
def used_by(path: Path) -> tuple[str, ...]:
    """Return the modules that a file uses, as the preprocessor leaves it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".F90", ".X90"):
        text = command(path.parent, "cpp", "-traditional-cpp", "-P", *MACROS, path)
    return tuple(name.lower() for name in USE.findall(text))


def run(folder: Path, way: Way, given: argparse.Namespace, ranks: int) -> tuple[str, str]:
    """Run a program; return a digest of its files, and what the first rank moved.

    Stops where a rank has written none.
    """
    there = folder / f"run_{ranks}"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    tells = "tells" if way.tells else "nothing"
    said = command(there, "mpirun", "--oversubscribe", "-n", ranks, folder / "program",
                   given.cells, given.steps, tells)  # fmt: skip
    digest = hashlib.sha256()
    written = sorted(path for path in there.glob("*_*") if path.stat().st_size)
    if silent := set(map(str, range(ranks))) - {path.name.rpartition("_")[2] for path in written}:
        raise SystemExit(f"{folder.name} on {ranks} ranks: no files of {', '.join(sorted(silent))}")
    for path in written:
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    found = re.search(r"^moved: (\d+ transfers.*), \d+ avoided", said, re.MULTILINE)
    return digest.hexdigest(), found[1] if found else ""


def fields_in(folder: Path) -> Fields:
    """Return the fields that a run has written, each with its dofs in the order of their numbers.

    Stops where two ranks own a dof.
    """
    parts: defaultdict[str, list[tuple[Numbers, Values]]] = defaultdict(list)
    for path in sorted(folder.glob("*_*")):
        name, _, rank = path.name.rpartition("_")
        if rank.isdigit():
            numbers = np.fromfile(path, np.int64)
            half = len(numbers) // 2
            parts[name].append((numbers[:half], numbers[half:].view(np.float64)))
    found: Fields = {}
    for name, some in parts.items():
        numbers = np.concatenate([part for part, _ in some])
        if len(np.unique(numbers)) < len(numbers):
            raise SystemExit(f"{folder}: ranks share dofs of {name}")
        order = np.argsort(numbers)
        found[name] = (numbers[order], np.concatenate([part for _, part in some])[order])
    return found


def compared(wanted: Fields, found: Fields, model: Model) -> tuple[str, int]:
    """Return how fields differ, relative to their greatest value, and how many do so wrongly."""
    wrong, most = sorted(found.keys() ^ wanted.keys()), 0.0
    for name, (numbers, values) in found.items():
        if name not in wanted or name in model.unsteady:
            continue
        others, expected = wanted[name]
        if not np.array_equal(numbers, others):
            wrong.append(f"{name} (other dofs)")
        elif values.tobytes() != expected.tobytes():
            far = float(np.max(np.abs(values - expected)) / np.max(np.abs(expected)))
            most = max(most, far)
            if name not in model.rounded or not far <= ROUNDING:
                wrong.append(f"{name} ({far:.1e})")
    same = len(wanted.keys() - model.rounded - model.unsteady)
    said = f"{same} with the same bits, {len(model.rounded)} within {most:.1e}"
    return f"OTHERWISE: {', '.join(wrong)}" if wrong else said, len(wrong)


if __name__ == "__main__":
    sys.exit(main())
