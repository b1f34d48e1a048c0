"""Small algorithms as text, bound to kernels that are built by hand."""

from __future__ import annotations

from collections.abc import Sequence

from lfric_schedules import field_arg, kernel, operator_arg, scalar_arg
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.build import BoundInvoke
from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.domains.lfric.structures import STRUCTURES
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    SpaceFunctions,
    StencilShape,
)
from psyclone_storage.ir.parsed import ParsedAlgorithm
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm

WRITE = field_arg("w3", Access.WRITE)
READ = field_arg("w3")

DRAG = kernel(WRITE, READ, name="drag")
SMOOTH = kernel(WRITE, field_arg("w3", stencil=StencilShape.CROSS), name="smooth")
ADVECT = kernel(WRITE, field_arg("w3", stencil=StencilShape.XORY1D), name="advect")
METRIC = kernel(WRITE, field_arg("w0", vector=3), name="metric")
SCALE = kernel(WRITE, scalar_arg(), scalar_arg(Intrinsic.INTEGER), name="scale")
APPLY = kernel(WRITE, operator_arg("w3", "w3"), name="apply")
FILL = kernel(field_arg("w3", Access.READWRITE), name="fill", iteration=Iteration.HALO_CELL_COLUMN)
TABLE = kernel(
    WRITE, KernelArg(ArgKind.SCALAR_ARRAY, Intrinsic.REAL, Access.READ, rank=2), name="table"
)
PROJECT = kernel(
    WRITE,
    READ,
    name="project",
    functions=(SpaceFunctions("w3", (BasisOperation.BASIS,)),),
    shapes=(BasisShape.XYOZ, BasisShape.EVALUATOR, BasisShape.EDGE),
)
RESTRICT = kernel(
    field_arg("any_space_1", Access.WRITE, mesh=MeshRole.COARSE),
    field_arg("any_space_2", mesh=MeshRole.FINE),
    name="restrict",
)
KERNELS = (DRAG, SMOOTH, ADVECT, METRIC, SCALE, APPLY, FILL, TABLE, PROJECT, RESTRICT)


def algorithm(invokes: str, declarations: str = "", uses: str = "") -> ParsedAlgorithm:
    """Return the parsed text of a subroutine in a module with `invokes` as its statements."""
    text = (
        f"module alg_mod\n{uses}\ncontains\nsubroutine step()\n"
        f"{declarations}\n{invokes}\nend subroutine step\nend module alg_mod\n"
    )
    return link_algorithm(read_algorithm(SourceText("alg.x90", text)), STRUCTURES)


def known_kernels(more: Sequence[Kernel] = ()) -> dict[str, Kernel]:
    """Return the kernels of this file, `more` and every built-in by their names in lower case."""
    builtins = {name.lower(): found for name in builtin_names() if (found := builtin(name))}
    return builtins | {found.name: found for found in (*KERNELS, *more)}


def bound(invoke: str, declarations: str = "") -> BoundInvoke:
    """Return what the domain makes of one invoke of the calls `invoke`."""
    parsed = algorithm(f"call invoke({invoke})", declarations)
    return LfricDomain().bind_invoke(parsed.invokes[0], parsed, known_kernels())


def data_names(found: BoundInvoke) -> list[str]:
    """Return the names of the invoke's data in the order of its dummies."""
    return [datum.name for datum in found.data.in_order()]


def codes(found: BoundInvoke) -> list[str]:
    """Return the codes of what is wrong with an invoke."""
    return [problem.code for problem in found.problems]
