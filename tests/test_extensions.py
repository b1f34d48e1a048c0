"""Count the files that a new loop form, pass or target enters outside its own.

Each test copies the package, writes the files of a small extension, enters its rows into the
product's tables, compiles with the copy and runs the result.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from package_copy import ROOT, PackageCopy

CORPUS = ROOT / "tests" / "corpus" / "gocean"

# ---------------------------------------------------------------------------- a loop form

PHASE_LIMITS = '''
"""Limits of loops over phases of rows, and over the rows of one phase."""

from psyclone_storage.ir.expr import Binary, whole
from psyclone_storage.ir.operators import Operator


def of_phases(_start, _stop, phases, _within):
    return whole(0), whole(phases - 1), None


def in_phase(start, stop, phases, within):
    return Binary(Operator.PLUS, start, within[0]), stop, whole(phases)
'''

PHASES = '''
"""A step that visits every n-th row, then the rows after those, as red-black orders do."""

from typing import ClassVar

from psyclone_storage.analysis.footprints import check_parallel
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir.schedule import Over
from psyclone_storage.transform.nests import OnScheduleNest


@dataclass(frozen=True, slots=True)
class PhaseRows(OnScheduleNest):
    """Visit the rows of a grid in phases; rows must not depend on each other."""

    name: ClassVar[str] = "phase-rows"

    phases: int = 2

    def check_nest(self, nest):
        return check_parallel(nest)

    def transform_loop(self, schedule, rules, loop):
        inside = replace(loop, uid=f"phase({loop.uid})", over=Over.ROWS_OF_PHASE, tile=self.phases)
        return replace(loop, over=Over.ROW_PHASES, tile=self.phases, body=(inside,))
'''

PHASE_ROWS = (
    (
        "ir/schedule.py",
        '    COLUMNS = "columns", "i", "inner", Axis.EAST\n',
        """\
    ROW_PHASES = "phases of rows", "j_phase", "outer", Axis.NORTH, (), of_phases, True
    ROWS_OF_PHASE = "rows of a phase", "j", "outer", Axis.NORTH, ("j_phase",), in_phase
""",
        "from psyclone_storage.ir.phases import in_phase, of_phases\n",
    ),
    (
        "transform/catalogue.py",
        "        ColourLoop,\n",
        "        PhaseRows,\n",
        "from psyclone_storage.transform.phases import PhaseRows\n",
    ),
)

# ---------------------------------------------------------------------------- a target that runs

PLAIN_LOOPS = '''
"""GOcean in Python with plain loops over the points of each kernel."""

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.unit import Assign
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean_python.table import grids_in_python
from psyclone_storage.targets.gocean_settings import grid_ranks
from psyclone_storage.targets.numpy.printer import emit_numpy_module
from psyclone_storage.targets.python import python
from psyclone_storage.targets.spec import Target


def emit_loops(code):
    i, j = code.dummies[:2]
    lines = [f"def {code.name}({', '.join(code.dummies)}):",
             f"    columns, rows = {i}, {j}",
             f"    for {j} in range(rows.start, rows.stop):",
             f"        for {i} in range(columns.start, columns.stop):"]
    for line in code.body:
        match line:
            case Assign(target, value):
                lines.append(f"            {spelled(target)} = {spelled(value)}")
            case _:
                raise InternalError(f"{line} is no assignment.")
    return lines


def spelled(expr):
    match expr:
        case ex.Name(text):
            return text
        case ex.Literal(text):
            return text.partition("_")[0]
        case ex.Binary(op, left, right):
            return f"({spelled(left)} {op.spelling} {spelled(right)})"
        case ex.Element(base, subscripts):
            return f"{spelled(base)}[{', '.join(map(spelled, subscripts))}]"
    raise InternalError(f"{expr} has no spelling.")


TARGET = Target(
    python(GOCEAN_WORDS, emit_numpy_module, emit_code=emit_loops),
    lambda settings: grids_in_python(grid_ranks(settings), exact_sums=False),
)
'''

PLAIN_ROW = (
    "targets/gocean.py",
    '    "dl_esm_inf": Target(FORTRAN, _infrastructure, asks=_extensions),\n',
    '    "plain": PLAIN,\n',
    "from psyclone_storage.targets.plain_loops.table import TARGET as PLAIN\n",
)

# ---------------------------------------------------------------------------- a pass

SQUARES = '''
"""Multiplication instead of the square of a variable or an element."""

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import everywhere, with_parts


def squares_to_products(code):
    return replace(code, body=everywhere(code.body, product))


def product(expr):
    expr = with_parts(expr, product)
    match expr:
        case ex.Binary(Operator.POWER, ex.Name() | ex.Element() as base, ex.Literal("2")):
            return ex.Binary(Operator.TIMES, base, base)
    return expr
'''

SQUARES_STEP = '''
"""The step of the pass."""

from typing import ClassVar

from psyclone_storage.base.records import dataclass
from psyclone_storage.passes.scratch import nothing_to_do
from psyclone_storage.passes.squares import squares_to_products
from psyclone_storage.transform.kernel.code import ChangesCode


@dataclass(frozen=True, slots=True)
class MultiplySquares(ChangesCode):
    """Multiply instead of squaring."""

    name: ClassVar[str] = "multiply-squares"

    def check_code(self, code):
        if squares_to_products(code) == code:
            return (nothing_to_do(code, "has no square"),)
        return ()

    def transform_code(self, code):
        return squares_to_products(code)
'''

SQUARES_ROW = (
    "transform/catalogue.py",
    "        ColourLoop,\n",
    "        MultiplySquares,\n",
    "from psyclone_storage.transform.squares import MultiplySquares\n",
)

WAVES = """
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def energy(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")],
):
    new[0, 0] = 0.5 * old[0, 0] ** 2 + 0.25 * (old[-1, 0] - old[0, 1])


def run(new, old):
    invoke(energy(new, old))
"""

RUN_WAVES = """
import numpy as np
from psyclone_storage.runtime.gocean import Field, Grid
import alg

grid = Grid((5, 4), (1.0, 1.0))
values = (np.arange(20.0).reshape(5, 4) + 1.0) ** 2 % 17
new, old = Field(grid), Field(grid, values=values)
alg.run(new, old)
padded = np.pad(values, 1, mode="edge")
wanted = 0.5 * padded[1:-1, 1:-1] ** 2 + 0.25 * (padded[:-2, 1:-1] - padded[1:-1, 2:])
found = new.gather()
assert np.array_equal(found[1:-1, 1:-1], wanted[1:-1, 1:-1]), (found, wanted)
print("equal")
"""


@pytest.fixture
def copy(tmp_path: Path) -> PackageCopy:
    return PackageCopy(tmp_path / "copy")


def test_a_loop_form_is_its_own_files_and_two_tables(copy: PackageCopy, tmp_path: Path) -> None:
    copy.add_own("ir/phases.py", PHASE_LIMITS)
    copy.add_own("transform/phases.py", PHASES)
    for row in PHASE_ROWS:
        copy.put(*row)
    assert copy.outside == {"ir/schedule.py", "transform/catalogue.py"}
    recipe = "phase-rows{phases=3}; openmp-parallel-do"
    folders = f"(Path({str(CORPUS / 'kernels')!r}),)"
    request = f"CompileRequest('gocean', True, {folders}, steps={recipe!r})"
    layer = copy.compile(request, CORPUS / "one_kernel.x90")
    assert "do j_phase = 0, 2\n" in layer
    assert "do j = new%whole%ystart + j_phase, new%whole%ystop, 3" in layer
    assert "private(j_phase, j, i)" in layer
    files = copy.compile_python(WAVES, tmp_path / "c", "--target", "c", "--apply", recipe)
    assert "private(j_phase, j, i)" in files[".c"]
    assert "for (j_phase = 0; j_phase <= 2; ++j_phase) {" in files[".c"]
    assert "j += 3) {" in files[".c"]
    copy.compile_python(WAVES, tmp_path / "numpy", "--target", "numpy", "--apply", recipe)
    for target in ("numpy", *(["c"] if shutil.which("cc") else [])):
        assert copy.run(RUN_WAVES, folder=tmp_path / target) == "equal\n"


def test_a_target_with_its_own_printer_is_one_folder_and_one_row(
    copy: PackageCopy, tmp_path: Path
) -> None:
    copy.write("targets/plain_loops", {"table.py": PLAIN_LOOPS})
    copy.put(*PLAIN_ROW)
    assert copy.outside == {"targets/gocean.py"}
    files = copy.compile_python(WAVES, tmp_path / "waves", "--target", "plain")
    assert "new[i, j] = ((0.5 * (old[i, j] ** 2)) + " in files[".py"]
    assert copy.run(RUN_WAVES, folder=tmp_path / "waves") == "equal\n"


def test_a_pass_is_its_own_files_and_one_row(copy: PackageCopy, tmp_path: Path) -> None:
    copy.add_own("passes/squares.py", SQUARES)
    copy.add_own("transform/squares.py", SQUARES_STEP)
    copy.put(*SQUARES_ROW)
    assert copy.outside == {"transform/catalogue.py"}
    recipe = ("--target", "numpy", "--apply", "multiply-squares")
    files = copy.compile_python(WAVES, tmp_path / "waves", *recipe)
    assert "** 2" not in files[".py"]
    assert "0.5 * (old[at(0, 0)] * old[at(0, 0)])" in files[".py"]
    assert copy.run(RUN_WAVES, folder=tmp_path / "waves") == "equal\n"
