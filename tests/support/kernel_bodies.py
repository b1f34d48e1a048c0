"""Kernels that are compiled and called from a test, before and after a transformation.

A kernel becomes a shared library, with a subroutine around it that has arrays of constant extents,
so that kernels with any kind of dummy argument can be called with NumPy arrays.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import InlinedCode, Routine
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.passes.inline.kernels import inline_procedures
from psyclone_storage.pipeline.module_context import ModuleContexts

Values = Mapping[str, np.ndarray]
Change = Callable[[Routine], Routine]

NO_MODULES = ModuleFinder(index_directories(()))
KINDS = """module constants_mod
  implicit none
  integer, parameter :: r_def = kind(0.0d0)
  integer, parameter :: r_single = kind(0.0)
  integer, parameter :: i_def = kind(0)
end module constants_mod
"""
_TYPES = {"float64": "real(8)", "float32": "real(4)", "int32": "integer(4)"}
_NUMBERS = count()


def code_of(body: str, declarations: str = "", dummies: str = "") -> Routine:
    """Return a small kernel; `dummies` are its arguments, `declarations` declare everything."""
    return code_in(kernel_module(body, declarations, dummies))


def kernel_module(body: str, declarations: str = "", dummies: str = "", head: str = "") -> str:
    """Return the text of a module `small_mod` with the subroutine `small_code`."""
    return "\n".join(
        (
            "module small_mod",
            "use constants_mod, only: r_def, r_single, i_def",
            "implicit none",
            head,
            "contains",
            f"subroutine small_code({dummies})",
            declarations,
            body,
            "end subroutine small_code",
            "end module small_mod",
        )
    )


def code_in(text: str, name: str = "small_code") -> Routine:
    """Return the subroutine `name` of a module's text."""
    return resolve_code(read_code(SourceText("small_mod.f90", text), name), NO_MODULES)


def inlined(code: Routine, finder: ModuleFinder) -> InlinedCode:
    """Return a kernel with the procedures inlined that it calls, as far as they are found."""
    context = ModuleContexts(finder).of(code.module.source)
    return inline_procedures(replace(code, module=replace(code.module, context=context)))


def text_of(code: Routine) -> str:
    """Return the statements of a subroutine, a line each, without indentation."""
    lines = [line.strip() for line in emit_code(code)]
    return "\n".join(line for line in lines if line)


@dataclass(frozen=True)
class Library:
    """A compiled kernel; `argument_names` are its dummies in order."""

    handle: ctypes.CDLL
    argument_names: tuple[str, ...]

    def run(self, values: Values) -> dict[str, np.ndarray]:
        """Return all arguments as the kernel leaves them."""
        own = {name: np.array(values[name], order="F") for name in self.argument_names}
        self.handle.run(*(own[name].ctypes.data_as(ctypes.c_void_p) for name in own))
        return own


def compiled(folder: Path, code: Routine, values: Values, *others: str) -> Library:
    """Compile a kernel with the texts of `others` for arguments of the shapes of `values`."""
    place = folder / f"kernel{next(_NUMBERS)}"
    place.mkdir()
    source = "\n".join((KINDS, *others, _around(code), _caller(code, values)))
    (place / "all.f90").write_text(source)
    command = "gfortran -O1 -g -fcheck=all -ffp-contract=off -shared -fPIC all.f90 -o all.so"
    done = subprocess.run(command.split(), cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{source}"
    return Library(ctypes.CDLL(str(place / "all.so")), code.dummies)


def _around(code: Routine) -> str:
    """Return the module of a kernel with the subroutine as it is now."""
    text = code.module.source.text
    place = code.module.routine
    return "\n".join((text[: place.start], *emit_code(code), text[place.stop :]))


def _caller(code: Routine, values: Values) -> str:
    return "\n".join(
        (
            f"subroutine run({', '.join(code.dummies)}) bind(c)",
            f"use {code.module.name}, only: {code.name}",
            *(_declared(name, values[name]) for name in code.dummies),
            f"call {code.name}({', '.join(code.dummies)})",
            "end subroutine run",
        )
    )


def _declared(name: str, value: np.ndarray) -> str:
    extents = ", ".join(map(str, value.shape))
    return f"{_TYPES[value.dtype.name]} :: {name}" + (f"({extents})" if extents else "")


def compare(
    folder: Path, code: Routine, change: Change, samples: Iterator[Values], *others: str
) -> Routine:
    """Check that a changed kernel gives the same values to the last bit; return it.

    All `samples` have the same shapes.
    """
    changed = change(code)
    assert text_of(changed) != text_of(code)
    first, *rest = samples
    before = compiled(folder, code, first, *others)
    after = compiled(folder, changed, first, *others)
    for values in (first, *rest):
        expected, found = before.run(values), after.run(values)
        for name in code.dummies:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    return changed


def samples(
    shapes: Mapping[str, tuple[int, ...]], number: int = 3, **whole: int | list[int]
) -> Iterator[Values]:
    """Yield random values for real arrays of `shapes`, with the given integers."""
    random = np.random.default_rng(20260101)
    for _ in range(number):
        arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
        yield {**arrays, **{name: np.array(value, dtype=np.int32) for name, value in whole.items()}}
