"""A target is a folder and a row, an API its own folders and three files outside: both tried.

The package is copied, the folders are written, the rows are put in, and the command compiles with
what came out. What is counted is what had to be touched. `test_extensions.py` adds a loop form, a
pass and a target that runs in the same way.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from package_copy import ROOT, PackageCopy

CORPUS = ROOT / "tests" / "corpus" / "gocean"

# ---------------------------------------------------------------------------- a target

MATRICES = '''
"""A library of matrices: fields are objects with values, and halos are swapped by a procedure."""

from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.spec import Target
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import CallFunction, Member, Name, whole
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.schedule import Axis
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Call, Declare
from psyclone_storage.ir.walk import kernel_calls

MATRIX = DerivedType("matrix", "matrices_mod")


def dummies(context):
    return tuple(
        Declare(datum.name, MATRIX if datum.kind is ArgKind.FIELD else datum.type,
                ("intent(inout)",))
        for datum in context.schedule.data
    )


def rows_or_columns(context, asked):
    call = kernel_calls(asked.loop)[0]
    field = call.args[asked.loop.bounds_from].value
    axis = 2 if asked.loop.over.axis is Axis.NORTH else 1
    return CallFunction(Member(field, "extent"), (whole(axis),))


def swapped(context, asked):
    name = context.work.imports.local("matrices_mod", "swap")
    return (Call(Name(name), (Name(asked.datum.name), asked.depth)),)


def infrastructure(settings):
    return Infrastructure(
        "Matrices",
        frozenset({"matrix", "matrices_mod", "swap"}),
        lambda kind: "kinds_mod",
        ScalarType(Intrinsic.INTEGER),
        lambda datum: ScalarType(Intrinsic.REAL, "wp"),
        dummies,
        {
            ops.DataOf: lambda context, asked: Member(Name(asked.datum.name), "values"),
            ops.LoopStart: lambda context, asked: whole(1),
            ops.LoopEnd: rows_or_columns,
            ops.GridPropertyOf: lambda context, asked: Member(asked.field, asked.name),
        },
        {ops.Exchange: swapped},
        lambda context, calls, lines: (),
    )
'''

TARGET_ROW = (
    "targets/gocean.py",
    '    "dl_esm_inf": Target(FORTRAN, _infrastructure, asks=_extensions),\n',
    '    "matrices": Target(FORTRAN, infrastructure),\n',
    "from psyclone_storage.targets.matrices.table import infrastructure\n",
)

# ---------------------------------------------------------------------------- an API

METADATA = '''
"""The metadata of kernels for the elements of vectors: `vec_arg(vec_read)`."""

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, Kernel, KernelArg
from psyclone_storage.ir.types import Intrinsic, ScalarType

WORDS = {"vec_read": Access.READ, "vec_write": Access.WRITE}
REAL = ScalarType(Intrinsic.REAL)


def interpret(parsed, settings):
    args = tuple(argument(item) for item in parsed.component("meta_args").items)
    return Kernel(parsed.name, parsed.module, parsed.procedure, Iteration.DOF, args,
                  implementations=parsed.implementations, span=parsed.span)


def argument(item):
    word = item.items[0].span.text.lower()
    if word not in WORDS:
        raise CompileError(Diagnostic("M011", f"'{word}' is no access of a vector.", item.span))
    return KernelArg(ArgKind.FIELD, Intrinsic.REAL, WORDS[word], "vector", span=item.span)


def dummies(kernel):
    return tuple(
        Dummy(Role.DOF_VALUE, f"x_{at}", REAL, arg=at, access=arg.access)
        for at, arg in enumerate(kernel.args)
    )
'''

DOMAIN = '''
"""Vectors: each element is computed from those at the same place, so that no halo is ever read."""

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.domains.build import BoundInvoke, kernel_of
from psyclone_storage.domains.data import ArgumentUse, DataTable
from psyclone_storage.domains.vectors.metadata import dummies
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.region import NOTHING
from psyclone_storage.ir.rules import HaloLeft, HaloNeed
from psyclone_storage.ir.schedule import Actual, Extent, KernelCall, Reach
from psyclone_storage.ir.types import DerivedType


class Rules:
    def may_fill(self, loop):
        return False

    def initial_extent(self, call, schedule):
        return Extent(Reach.ALL)

    def halo_need(self, schedule, loop, call, arg):
        return HaloNeed(NOTHING, False, "at its own place only")

    def halo_left(self, schedule, loop, call, arg):
        return HaloLeft(NOTHING, Fresh.YES, "no halo")

    def without_annexed(self, schedule):
        return frozenset(datum.name for datum in schedule.data)

    def check_extent(self, loop, call):
        return ()

    def known_bounds(self, loop):
        return None

    def _no(self, *about):
        return False

    keeps_annexed_clean = shares_dofs = knows_clean_halos = _no
    overlaps_exchanges = exchanges_in_strips = sums_in_order = sums_exactly = _no


class Domain:
    rules = Rules()

    def bind_invoke(self, invoke, algorithm, kernels):
        data = DataTable()
        calls = [self.bound(number, call, kernel_of(call, kernels), data)
                 for number, call in enumerate(invoke.calls, start=1)]
        return BoundInvoke(tuple(calls), data, ())

    def bound(self, number, call, kernel, data):
        actuals = []
        for described, given in zip(kernel.args, call.args, strict=True):
            wanted = ArgumentUse(given.expr, DerivedType("vector", "vectors_mod"), given.span,
                            kind=ArgKind.FIELD, access=described.access)
            name = data.add(wanted).name
            actuals.append(Actual(name, Name(name), span=given.span))
        uid = f"{kernel.name.lower()}@loop{number}"
        return KernelCall(uid, kernel, tuple(actuals), dummies(kernel), span=call.name_span)

    def bounds_from(self, kernel):
        return 0

    def check_schedule(self, schedule):
        return ()
'''

VECTORS = '''
"""A library of vectors."""

from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.expr import CallFunction, Member, Name, whole
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.ir.walk import kernel_calls


def values(datum):
    return Member(Name(datum.name), "x")


def length(context, asked):
    loop = asked.loop
    datum = context.datum(kernel_calls(loop)[0], loop.bounds_from)
    return CallFunction(Name("size"), (values(datum),))


def infrastructure(settings):
    return Infrastructure(
        "Vectors",
        frozenset({"vector", "vectors_mod"}),
        lambda kind: "kinds_mod",
        ScalarType(Intrinsic.INTEGER),
        lambda datum: ScalarType(Intrinsic.REAL),
        lambda context: tuple(
            Declare(datum.name, datum.type, ("intent(inout)",)) for datum in context.schedule.data
        ),
        {
            ops.DataOf: lambda context, asked: values(asked.datum),
            ops.LoopStart: lambda context, asked: whole(1),
            ops.LoopEnd: length,
        },
        {},
        lambda context, calls, lines: (),
    )
'''

PARTS = '''
"""The API for vectors."""

from psyclone_storage.targets.vector_tables.table import infrastructure
from psyclone_storage.domains.vectors.domain import Domain
from psyclone_storage.domains.vectors.metadata import dummies, interpret
from psyclone_storage.targets.fortran import FORTRAN
from psyclone_storage.targets.spec import ApiParts, ScheduleDefaults, Target

VECTORS = ApiParts(
    lambda settings: Domain(),
    interpret,
    lambda settings: ScheduleDefaults(),
    (),
    lambda name: None,
    "vectors",
    dummies,
    lambda kernel, routine: (),
    "kinds_mod",
)
TARGETS = {"library": Target(FORTRAN, infrastructure)}
'''

API_ROWS = (
    (
        "targets/apis.py",
        "_APIS: Mapping[Api, Callable[[], _ApiRows]] = {\n",
        "    Api.VECTORS: lambda: (VECTORS, TARGETS),\n",
        "from psyclone_storage.targets.vectors import TARGETS, VECTORS\n",
    ),
    ("config/settings.py", '    LFRIC = "lfric"\n', '    VECTORS = "vectors"\n', ""),
    ("config/settings.py", '    "lfric": Api.LFRIC,\n', '    "vectors": Api.VECTORS,\n', ""),
)

KERNEL = """module scale_mod
  use vector_kernels_mod
  type, extends(vector_kernel) :: scale_type
    type(vec_arg), dimension(2) :: meta_args = (/ vec_arg(vec_write), vec_arg(vec_read) /)
  contains
    procedure, nopass :: scale_code
  end type scale_type
contains
  subroutine scale_code(y, x)
    real, intent(out) :: y
    real, intent(in) :: x
    y = 2.0 * x
  end subroutine scale_code
end module scale_mod
"""
ALGORITHM = """program alg
  use vectors_mod, only: vector
  use scale_mod, only: scale_type
  implicit none
  type(vector) :: a, b
  call invoke(scale_type(b, a), scale_type(a, b))
end program alg
"""


@pytest.fixture
def copy(tmp_path: Path) -> PackageCopy:
    return PackageCopy(tmp_path / "copy")


def test_a_target_is_one_folder_and_one_row(copy: PackageCopy) -> None:
    copy.write("targets/matrices", {"table.py": MATRICES})
    copy.put(*TARGET_ROW)
    assert (copy.folders, copy.outside) == ({"targets/matrices"}, {"targets/gocean.py"})
    folders = f"(Path({str(CORPUS / 'kernels')!r}),)"
    algorithm = CORPUS / "continuity.x90"
    asked = f"CompileRequest('gocean', True, {folders}, target='matrices')"
    layer = copy.compile(asked, algorithm)
    assert "use matrices_mod, only: matrix, swap" in layer
    assert "call swap(height, 1)" in layer
    assert "do j = 1, flux_x%extent(2)" in layer
    assert "call flux_u_code(i, j, flux_x%values, height%values, u%values)" in layer
    for word in ("r2d_field", "internal", "halo_exchange", "%data"):
        assert word not in layer
    plain = copy.compile(f"CompileRequest('gocean', True, {folders})", algorithm)
    assert "call height%halo_exchange(1)" in plain


def test_an_api_is_its_folders_and_three_files_outside(copy: PackageCopy, tmp_path: Path) -> None:
    copy.write("domains/vectors", {"metadata.py": METADATA, "domain.py": DOMAIN})
    copy.write("targets/vector_tables", {"table.py": VECTORS})
    copy.add("targets/vectors.py", PARTS)
    for row in API_ROWS:
        copy.put(*row)
    assert copy.outside == {"targets/vectors.py", "targets/apis.py", "config/settings.py"}
    (tmp_path / "copy" / "external" / "vectors").mkdir(parents=True)  # its infrastructure
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "scale_mod.f90").write_text(KERNEL, encoding="utf-8")
    algorithm = tmp_path / "alg.x90"
    algorithm.write_text(ALGORITHM, encoding="utf-8")
    folders = f"(Path({str(tmp_path / 'kernels')!r}),)"
    request = f"CompileRequest('vectors', True, {folders}, steps='fuse; openmp-parallel-do')"
    layer = copy.compile(request, algorithm)
    assert "use vectors_mod, only: vector" in layer
    assert "do df = 1, size(b%x)" in layer
    assert "call scale_code(b%x(df), a%x(df))" in layer
    assert "call scale_code(a%x(df), b%x(df))" in layer
    assert "!$omp parallel do default(shared), private(df), schedule(static)" in layer
