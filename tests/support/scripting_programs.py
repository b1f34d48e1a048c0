"""Trees on benches for tests of transformations, and the output of programs that they make."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.scripting.psyir.containers import FileContainer
from psyclone_storage.scripting.psyir.session import finish
from support.file_benches import file_bench
from support.fortran import run

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


class Program(NamedTuple):
    """A compiled program, and what it prints by the number of threads."""

    path: Path
    outputs: dict[int, str]


_programs: dict[tuple[str, tuple[str, ...], str], Program] = {}
"""The programs of this process by compiler, flags and text."""


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
    """Return what the program prints with a number of threads.

    Each program is compiled once in a process, and runs once with each number of threads. `folder`
    receives the first program of its text and flags.
    """
    compiler = shutil.which("gfortran")
    if compiler is None:
        pytest.skip("no gfortran")
    key = (compiler, flags, text + main)
    if key not in _programs:
        folder.mkdir(exist_ok=True)
        (folder / "all.f90").write_text(text + main, encoding="utf-8")
        command = [compiler, *flags, "-O1", "all.f90", "-o", "run"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        _programs[key] = Program(folder / "run", {})
    program = _programs[key]
    if threads not in program.outputs:
        program.outputs[threads] = run([str(program.path)], OMP_NUM_THREADS=str(threads))
    return program.outputs[threads]
