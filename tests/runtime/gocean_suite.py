"""Build the GOcean programs of the run tests from the corpus and the files in `gocean/`.

Defines the sets of sources, and the files that configure a program. `programs.py` runs programs on
ranks and reads their results; `gocean/main.f90` documents the command line.
"""

from __future__ import annotations

from pathlib import Path

from fortran import join
from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.programs import FLAGS, Mode, Run, command, compile_sources, run_program

HERE = Path(__file__).parent
SOURCES = HERE / "gocean"
CORPUS = HERE.parent / "corpus" / "gocean"

# One is a program by itself; the other numbers points in the indices of a rank, which depend on
# how the domain is cut.
LEFT_OUT = {"in_a_program", "indices"}
ALGORITHMS = sorted(
    path for path in (*CORPUS.glob("*.x90"), *SOURCES.glob("*.x90")) if path.stem not in LEFT_OUT
)
KERNELS = sorted((*CORPUS.glob("kernels/*.f90"), *SOURCES.glob("kernels/*.f90")))


def build_support(library: Path, folder: Path) -> Path:
    """Compile in `folder` what does not depend on generated code and return the folder."""
    support = [
        HERE / "lfric" / "mutation_mod.f90",
        SOURCES / "world_mod.f90",
        SOURCES / "away_mod.f90",
        HERE / "lfric" / "misleading_mod.f90",
    ]
    compile_sources([*support, *KERNELS], folder, (library,))
    return folder


def generate(mode: Mode, folder: Path) -> list[Path]:
    """Generate the PSy layers of all algorithms in `folder` and return their files."""
    kernels = ("-d", str(CORPUS / "kernels"), "-d", str(SOURCES / "kernels"))
    words = ["-api", "gocean", *map(str, ALGORITHMS), *kernels]
    assert main([*words, "--output-dir", str(folder), *mode.options]) == 0
    return sorted(folder.glob("*_psy.f90"))


def build_program(library: Path, support: Path, folder: Path) -> Path:
    """Compile and link the generated layers and algorithms in `folder` and return the program."""
    layers = sorted(folder.glob("*_psy.f90"))
    algorithms = sorted(set(folder.glob("*.f90")) - set(layers))
    # To start the compiler for each, and to read the modules of kernels, would be half of the time.
    joined = [join(layers, folder / "joined_psy"), join(algorithms, folder / "joined_algorithms")]
    program = [SOURCES / "suite_mod.f90", SOURCES / "main.f90"]
    compile_sources([*joined, *program], folder, (library, support))
    objects = sorted(str(path) for path in (*support.glob("*.o"), *folder.glob("*.o")))
    command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "program"], folder)
    return folder / "program"


def run_all(program: Path, mode: Mode, ranks: int, cut: str = "best") -> Run:
    """Run every algorithm once, on a domain that is cut across `x`, across `y`, or as is `best`."""
    folder = program.with_name(f"{cut}{ranks}")
    table = program.with_name("all.txt")
    lines = [f"0 none {path.stem}\n" for path in ALGORITHMS]
    table.write_text("".join(lines), encoding="utf-8")
    return run_program(program, mode, ranks, folder, cut, str(table))
