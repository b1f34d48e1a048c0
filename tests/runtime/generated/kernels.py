"""Kernels with the metadata of the corpus' kernels and bodies in which every argument matters.

Converts a module of the corpus to one of the generated suite: all text up to `contains` is
preserved, and the subroutines are generated. Subroutines with boundary dofs are preserved, because
their possible results are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.config.settings import Api
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Iteration, Kernel
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.fortran.parse.routine import read_routine
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.apis import api_parts
from psyclone_storage.tools.kernel_stub import lower_stub
from runtime.generated.bodies import write_body

LFRIC = api_parts(Api.LFRIC)
OWN_NUMBERS = {
    *(Role.FIELD, Role.DOF_VALUE, Role.OPERATOR, Role.CMA_MATRIX, Role.SCALAR, Role.SCALAR_ARRAY),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel of the corpus.

    Attributes:
        kernel: what its metadata say.
        implementations: the dummy arguments of each of its subroutines, with the kinds of numbers
            that these declare.
    """

    kernel: Kernel
    implementations: tuple[tuple[str, tuple[Dummy, ...]], ...]


def read_subjects(path: Path) -> list[Subject]:
    """Read the kernels of a file."""
    source = read_source(path)
    return [read_subject(source, name) for name in kernel_types(source)]


def read_subject(source: SourceText, name: str) -> Subject:
    """Read one kernel of a file."""
    parsed = read_kernel(source, name)
    kernel = LFRIC.interpret(parsed, default_settings())
    implementations = []
    for procedure in parsed.implementations:
        routine = read_routine(source, procedure)
        types = {declared.name: declared.type for declared in routine.declarations}
        dummies = []
        for dummy, written in zip(LFRIC.dummies(kernel), routine.dummies, strict=True):
            declared = types[written]
            if dummy.role in OWN_NUMBERS and isinstance(declared, ScalarType):
                dummies.append(replace(dummy, type=declared))
            else:
                dummies.append(dummy)
        implementations.append((procedure, tuple(dummies)))
    return Subject(kernel, tuple(implementations))


def write_kernels(corpus: Path, folder: Path) -> list[Subject]:
    """Write the modules of all kernels of a corpus to a folder, and return the kernels.

    A kernel for halo cells only has a twin for owned cells, which computes the same.
    """
    subjects: list[Subject] = []
    for path in sorted(corpus.glob("*.f90")):
        found = read_subjects(path)
        subjects += found
        text = write_module(path.read_text(encoding="utf-8"), found)
        (folder / path.name).write_text(text, encoding="utf-8")
        if found[0].kernel.iteration is Iteration.HALO_CELL_COLUMN:
            twin = folder / f"{twin_of(path.stem)}.f90"
            twin.write_text(write_twin(text, found[0].kernel), encoding="utf-8")
    return subjects


def twin_of(name: str) -> str:
    """Return the name, for the twin, of a module, a type or a procedure of a kernel."""
    return f"owned_{name}"


def write_twin(module: str, kernel: Kernel) -> str:
    """Return the module of a kernel for halo cells as one for owned cells."""
    names = "|".join((kernel.module, kernel.name, kernel.procedure))
    twin = re.sub(rf"(?i)\b({names})\b", lambda name: twin_of(name[0]), module)
    return re.sub(r"(?i)\bhalo_cell_column\b", "OWNED_CELL_COLUMN", twin)


def write_module(written: str, subjects: list[Subject]) -> str:
    """Return the module of kernels with bodies of ours."""
    if any(takes_boundary(subject) for subject in subjects):
        return written
    module = subjects[0].kernel.module
    head = re.split(r"(?im)^contains *\n", written)[0]
    routines = [
        write_routine(subject.kernel, procedure, dummies)
        for subject in subjects
        for procedure, dummies in subject.implementations
    ]
    return "\n".join((head + "contains\n", *routines, f"end module {module}\n"))


def takes_boundary(subject: Subject) -> bool:
    """Return whether the subroutines of a kernel take boundary dofs."""
    return any(
        dummy.role is Role.BOUNDARY_DOFS
        for _, dummies in subject.implementations
        for dummy in dummies
    )


def write_routine(kernel: Kernel, procedure: str, dummies: tuple[Dummy, ...]) -> str:
    """Return one subroutine of a kernel."""
    stub = lower_stub(replace(kernel, procedure=procedure), dummies, "constants_mod")
    return "\n".join(with_body(emit_unit(stub).splitlines(), write_body(kernel, dummies)))


def with_body(module: list[str], body: list[str]) -> Iterator[str]:
    """Yield the subroutine in a stub, with a body in the place of the remark in it."""
    start = next(n for n, line in enumerate(module) if line.lstrip().startswith("subroutine "))
    end = next(n for n, line in enumerate(module) if line.lstrip().startswith("end subroutine"))
    first = next(n for n in range(start, end) if not module[n].endswith("&")) + 1
    yield from module[start:first]
    yield "    use, intrinsic :: iso_fortran_env, only: real64"
    yield "    use constants_mod"
    yield "    use mixing_mod"
    for line in module[first : end + 1]:
        yield from (f"    {text}".rstrip() for text in body) if "TODO" in line else (line,)
