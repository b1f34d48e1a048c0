"""GOcean's corpus in Python, translated from Fortran by the command."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from command import run_command
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.module_names import defined_modules

CORPUS = Path(__file__).parents[1] / "corpus" / "gocean"
BY_HAND = {"wall_u_mod"}
"""Modules whose kernel looks at the size of an array, and is written in Python by hand."""
NO_FORM = {"number_points_mod"}
"""Modules whose kernel looks at the number of a point, which kernels in Python do not know."""
ALGORITHMS = [file for file in sorted(CORPUS.glob("*.x90")) if file.stem != "indices"]


def translate(file: Path, to: Path, *words: str, api: str = "gocean") -> None:
    """Write a file of Fortran in Python, or fail."""
    command = ["psyclone-storage-kern", "-api", api, "-gen", "python", *words]
    done = run_command([*command, str(file), "-o", str(to)], to.parent)
    assert done.status == 0, done.err


def translate_kernels(folder: Path) -> None:
    """Write all kernels of the corpus in Python into a folder."""
    for file in sorted((CORPUS / "kernels").glob("*.f90")):
        if file.stem in BY_HAND:
            shutil.copy(CORPUS / "python" / "kernels" / f"{file.stem}.py", folder)
        elif file.stem not in NO_FORM:
            translate(file, folder / f"{file.stem}.py")


def translate_algorithm(file: Path, folder: Path) -> Path:
    """Write an algorithm in Python into a folder, under the name of its module; return the file."""
    modules = defined_modules(read_source(file).text)
    to = folder / f"{next(iter(modules), file.stem)}.py"
    translate(file, to, "-d", str(CORPUS / "kernels"))
    return to


COLUMNS = CORPUS.parent / "lfric" / "kernels"


def translate_columns(folder: Path, modules: Iterable[str]) -> frozenset[str]:
    """Write kernels of LFRic's corpus in Python into a folder; return the modules that can be.

    The others are there in Fortran.
    """
    found: list[str] = []
    for module in modules:
        file, to = COLUMNS / f"{module}.f90", folder / f"{module}.py"
        words = ["-api", "lfric", "-gen", "python", str(file), "-o", str(to)]
        done = run_command(["psyclone-storage-kern", *words], folder)
        assert ("error[G006]" in done.err) is bool(done.status), done.err
        if done.status:
            shutil.copy(file, folder)
        else:
            found.append(module)
    return frozenset(found)
