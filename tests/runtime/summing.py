"""A program that sums fields of reals of all magnitudes, built with options and run on threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from libraries import archive_in
from psyclone_storage.cli.main import main
from runtime.programs import FLAGS, command, compile_sources
from runtime.test_infrastructure import ANSWER, SHARED

PROGRAM = Path(__file__).parent / "sums"

Summed = Callable[..., dict[str, str]]
"""Runs code generated with options on ranks of threads, and gives the bits of the sums.

With `times` the sums are made again so often; `differing` says how often they had other bits.
"""


def sums_of(library: Path, new_folder: Callable[[], Path]) -> Summed:
    """Return what builds and runs the program against `library`, once for the same options."""

    @cache
    def built(options: tuple[str, ...]) -> Path:
        folder = new_folder()
        algorithm = str(PROGRAM / "sums_alg_mod.x90")
        assert main([algorithm, "--output-dir", str(folder), *options]) == 0
        layers = [folder / "sums_alg_mod_psy.f90", folder / "sums_alg_mod.f90"]
        sources = [SHARED, *layers, PROGRAM / "sums.f90"]
        compile_sources(sources, folder, (library,))
        objects = [f"{path.stem}.o" for path in sources]
        command(["mpif90", *FLAGS, *objects, archive_in(library), "-o", "sums"], folder)
        return folder / "sums"

    @cache
    def ran(options: tuple[str, ...], ranks: int, threads: int, times: int = 0) -> dict[str, str]:
        program = built(options)
        environment = ["env", f"OMP_NUM_THREADS={threads}"]
        mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        words = [str(times)] if times else []
        output = command([*environment, *mpirun, str(program), *words], program.parent)
        return dict(ANSWER.findall(output))

    return ran
