"""Fortran kernels translated to Python and printed as C compute the same as gfortran."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import run_command
from printed_bodies import GOOD, Bodies, Printed, checked
from properties.python_kernels import AROUND, codes_of
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.gocean import REAL
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.c.printer import print_c
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.sources.files import read_source

pytestmark = pytest.mark.fortran

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "tests" / "corpus" / "gocean" / "kernels"
CONSTRUCTS = Path(__file__).parent / "translated" / "constructs_mod.f90"
INTERFACES = ROOT / "external" / "gocean_infrastructure"
CONSTANTS = {"most", "tenth", "third", "pi", "to_radians"}
REFUSED = {"number_points_mod.f90", "wall_u_mod.f90"}
"""Files of the corpus whose kernels look at the number of a point, and at the size of an array."""


@pytest.fixture(autouse=True)
def c_compiler() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")


def translated(file: Path, folder: Path) -> str:
    """Return the kernels of a file in Python."""
    words = ["psyclone-storage-kern", "-api", "gocean", "-gen", "python", str(file)]
    done = run_command(words, folder)
    assert done.status == 0, done.err
    return done.out


def beside_fortran(file: Path, folder: Path) -> Iterator[Printed]:
    """Yield the kernels of a file, the form in C made from Python."""
    bodies, source = Bodies([file.parent, INTERFACES]), read_source(file)
    text = translated(file, folder)
    codes = [with_constants(code, text) for code in codes_of(text)]
    names = [read_kernel(source, name).implementations[0] for name in kernel_types(source)]
    for code, name in zip(codes, names, strict=True):
        printed = bodies.printed(source, name, f"{file.stem}_{name}".lower())
        assert isinstance(printed, Printed), printed
        yield replace_unit(printed, code)


def literal(value: float) -> Expr:
    """Return a number as typed code has it."""
    return nodes.signed_integer(value) if isinstance(value, int) else nodes.real(value, REAL)


def with_constants(code: Routine, text: str) -> Routine:
    """Return code with the values that its module gives to what is a constant in Fortran."""
    values: dict[str, float] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            exec(ast.unparse(node), {}, values)
    found = tuple(
        replace(item, attributes=("parameter",), value=literal(values[item.name]))
        if isinstance(item, Declare) and item.name in CONSTANTS else item
        for item in code.module.declarations
    )  # fmt: skip
    return replace(code, module=replace(code.module, declarations=found))


def replace_unit(printed: Printed, code: Routine) -> Printed:
    """Return a kernel with the form in C of `code`, whose arguments are called as in Fortran."""
    unit = print_c(code, AROUND)
    own = {key: one.name for key, one in code.module.symbols.symbols.items()}
    parameters = []
    dummies = iter(printed.code.dummy_keys)
    for item in unit.main.parameters:
        key = own.get(item.key, item.key) if item.module else next(dummies)
        home = printed.code.module.key if item.module == "work_mod" else item.module
        parameters.append(replace(item, key=key, module=home))
    main = replace(unit.main, parameters=tuple(parameters))
    return Printed(printed.code, replace(unit, functions=(*unit.functions[:-1], main)),
                   printed.tag, printed.scope, printed.source)  # fmt: skip


def check(kernels: list[Printed], folder: Path) -> dict[str, str]:
    """Return what is wrong with kernels, by name."""
    answers = {kernel.name: answer for kernel, answer in checked(kernels, folder, 5)}
    assert len(answers) == len(kernels)
    return {name: answer for name, answer in answers.items() if answer}


def test_constructs_compute_equal_bits(tmp_path: Path) -> None:
    kernels = list(beside_fortran(CONSTRUCTS, tmp_path))
    assert len(kernels) == 6
    assert check(kernels, tmp_path) == {}


def test_the_corpus_computes_equal_bits(tmp_path: Path) -> None:
    files = [file for file in sorted(KERNELS.glob("*.f90")) if file.name not in REFUSED]
    kernels = [one for file in files for one in beside_fortran(file, tmp_path)]
    assert len(kernels) == 18
    assert set(check(kernels, tmp_path).values()) <= GOOD - {"no valid input"}
