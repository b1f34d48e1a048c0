"""Trees on benches for tests of transformations, and the output of programs that they make."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.session import finish
from support.file_benches import file_bench

MAIN = """
program main
  use columns_mod
  implicit none
  real :: a(50, 20), b(50)
  integer :: i, j
  a = reshape([(1.0 / i, i = 1, 1000)], [50, 20])
  b = [(sqrt(real(j)), j = 1, 50)]
  call advance(50, 20, a, b, 1)
  write (*, '(z8.8)') a, b
end program
"""


def tree_on_bench(text: str) -> FileContainer:
    return FileContainer.on(file_bench(text))


def finished(tree: FileContainer) -> str:
    finish(tree)
    assert tree.bench is not None
    return emit_changed(*tree.bench.changed_file())


def output_of(
    text: str,
    folder: Path,
    threads: int = 1,
    flags: tuple[str, ...] = ("-fopenmp",),
    main: str = MAIN,
) -> str:
    """Return what the program prints with a number of threads."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran")
    folder.mkdir(exist_ok=True)
    (folder / "all.f90").write_text(text + main, encoding="utf-8")
    command = [compiler, *flags, "-O1", "all.f90", "-o", "run"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    environment = {"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(folder / "run")], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout
