"""Builds the programs of the generated suite, two compilers at a time.

Where layers are made to be mutated, each of their places asks what to do; without a mutation, that
is what was generated.
"""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fortran import join
from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.held_windows import check_windows
from runtime.mutations import (
    EXCHANGES,
    HOLDS,
    LOOPS,
    MARKS,
    SUMS,
    Place,
    number_places,
    number_registered,
)
from runtime.programs import (
    FAST,
    FLAGS,
    SOURCES,
    SUPPORT,
    Mode,
    command,
    compile_sources,
)

HELPERS = ("mixing_mod.f90", "objects_mod.f90")
AT_ONCE = 2
PLACES = "places"
# What fills dofs for the sake of signalling values alone changes no answer, and is tested apart.
_FOR_VALUES = "FILL_BEFORE_INCREMENT=false"
OWNED = Mode("owned", ("-dm", "--config-opts", f"COMPUTE_ANNEXED_DOFS=false {_FOR_VALUES}"))
ANNEXED = Mode("annexed", ("-dm", "--config-opts", f"COMPUTE_ANNEXED_DOFS=true {_FOR_VALUES}"))
MUTATED = (OWNED, ANNEXED)
KINDS = (EXCHANGES, MARKS, SUMS, LOOPS)
HELD = (EXCHANGES, MARKS, *HOLDS)


def build_support(library: Path, suite: Path, folder: Path) -> Path:
    """Compile in `folder` what does not depend on generated layers and return the folder."""
    helpers = [*(SOURCES / name for name in SUPPORT), *(suite / name for name in HELPERS)]
    compile_sources(helpers, folder, (library,), FAST)
    kernels = sorted(suite.glob("kernels/*.f90"))
    compile_in_parts(joined(kernels, folder, "kernels"), folder, (library,))
    command(["ar", "cr", "libsupport.a", *sorted(map(str, folder.glob("*.o")))], folder)
    return folder


def generate(mode: Mode, suite: Path, folder: Path) -> list[Place]:
    """Generate the PSy layers of a suite in `folder`, and return what can be mutated in them."""
    algorithms = sorted(map(str, suite.glob("*.x90")))
    words = ["-d", str(suite / "kernels"), "--output-dir", str(folder), *mode.options]
    assert main([*algorithms, *words]) == 0
    layers = sorted(folder.glob("*_psy.f90"))
    if mode in MUTATED:
        return number_places(layers, KINDS)
    if "--target" in mode.options:
        check_windows(layers)
    if "storage" in mode.options:
        return number_places(layers, HELD)
    return number_registered(layers) if "registry" in mode.options else []


def write_places(places: list[Place], folder: Path) -> None:
    """Keep, beside the program of a mode, what can be mutated in it."""
    (folder / PLACES).write_bytes(pickle.dumps(places))


def read_places(folder: Path) -> list[Place]:
    """Return what can be mutated in the program of a mode."""
    places: list[Place] = pickle.loads((folder / PLACES).read_bytes())
    return places


def build_program(library: Path, support: Path, suite: Path, folder: Path) -> Path:
    """Compile and link the layers and algorithms in `folder` and return the program."""
    modules = (library, support)
    compile_in_parts(joined(sorted(folder.glob("*_psy.f90")), folder, "psy"), folder, modules)
    compile_in_parts(joined(sorted(folder.glob("*_alg_mod.f90")), folder, "alg"), folder, modules)
    compile_sources([suite / "suite_mod.f90", SOURCES / "main.f90"], folder, modules)
    objects = sorted(map(str, folder.glob("*.o")))
    archives = [str(support / "libsupport.a"), archive_in(library)]
    command(["mpif90", *FLAGS, *objects, *archives, "-o", "program"], folder)
    return folder / "program"


def joined(sources: list[Path], folder: Path, name: str) -> list[Path]:
    """Return files with the modules of `sources`, as many as are compiled at a time."""
    parts = [sources[start::AT_ONCE] for start in range(AT_ONCE)]
    return [join(part, folder / f"joined_{name}_{n}") for n, part in enumerate(parts)]


def compile_in_parts(sources: list[Path], folder: Path, modules: tuple[Path, ...]) -> None:
    """Compile sources that do not depend on each other."""
    parts = [sources[start::AT_ONCE] for start in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda part: compile_sources(part, folder, modules), filter(None, parts)))
