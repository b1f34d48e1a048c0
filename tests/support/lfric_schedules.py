"""Small kernels and schedules, built by hand, for the tests of the back end."""

from __future__ import annotations

import re
from dataclasses import replace

from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.domains.lfric.arguments import build_lfric_dummies
from psyclone_storage.domains.lfric.builtins import builtin
from psyclone_storage.ir.expr import Expr, Index, Literal, Name
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Iteration,
    Kernel,
    KernelArg,
)
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedInvoke, Scope, ScopeKind
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    Extent,
    Invoke,
    KernelCall,
    Loop,
    Over,
    Program,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure

SOURCE = SourceText("alg.f90", "program alg\n")
SPAN = Span(SOURCE, 0, 1)
REAL = ScalarType(Intrinsic.REAL, "r_def")
INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
PLAIN = lfric_infrastructure()
OWNED = Extent(Reach.OWNED)


def field_arg(space: str, access: Access = Access.READ, **more: object) -> KernelArg:
    """Return the metadata of a real field."""
    return replace(
        KernelArg(ArgKind.FIELD, Intrinsic.REAL, access, space),
        **more,  # type: ignore[arg-type]
    )


def operator_arg(to: str, source: str, access: Access = Access.READ) -> KernelArg:
    """Return the metadata of an operator that maps from `source` to `to`."""
    return KernelArg(ArgKind.OPERATOR, Intrinsic.REAL, access, to, source)


def scalar_arg(intrinsic: Intrinsic = Intrinsic.REAL) -> KernelArg:
    """Return the metadata of a scalar that is read."""
    return KernelArg(ArgKind.SCALAR, intrinsic, Access.READ)


def kernel(*args: KernelArg, name: str = "work", **more: object) -> Kernel:
    """Return the kernel `<name>_type` of the module `<name>_mod`."""
    plain = Kernel(f"{name}_type", f"{name}_mod", f"{name}_code", Iteration.CELL_COLUMN, args)
    return replace(plain, **more)  # type: ignore[arg-type]


def field(name: str, type_name: str = "field_type", vector: int = 1) -> Datum:
    """Return a field as a dummy argument of an invoke."""
    return Datum(name, Name(name), DerivedType(type_name), kind=ArgKind.FIELD, vector=vector)


def operator(name: str, type_name: str = "operator_type") -> Datum:
    """Return an operator as a dummy argument of an invoke."""
    return Datum(name, Name(name), DerivedType(type_name), kind=ArgKind.OPERATOR)


def scalar(name: str, data_type: DataType = REAL) -> Datum:
    """Return a scalar as a dummy argument of an invoke."""
    return Datum(name, Name(name), data_type, kind=ArgKind.SCALAR)


def passed(name: str | Expr, **more: object) -> Actual:
    """Return the actual argument `name`, or a constant."""
    if isinstance(name, str):
        return replace(Actual(name, Name(name)), **more)  # type: ignore[arg-type]
    return replace(Actual(None, name), **more)  # type: ignore[arg-type]


def call(called: Kernel, *args: str | Expr | Actual, **more: object) -> KernelCall:
    """Return a call of a kernel with its dummies in the order of the LFRic interface."""
    actuals = tuple(item if isinstance(item, Actual) else passed(item) for item in args)
    plain = KernelCall(f"{called.name}@loop1", called, actuals, build_lfric_dummies(called))
    return replace(plain, **more)  # type: ignore[arg-type]


def built_in(name: str, *args: str | Expr | Actual) -> KernelCall:
    """Return a use of the built-in `name`."""
    found = builtin(name.lower())
    assert found is not None
    return call(found, *args)


def loop(
    *calls: KernelCall,
    extent: Extent = OWNED,
    over: Over = Over.CELLS,
    uid: str = "loop1",
    bounds_from: int = 0,
) -> Loop:
    """Return a loop over cells that takes its bounds from the first argument."""
    return Loop(uid, over, extent, bounds_from, calls)


def dof_loop(*calls: KernelCall, extent: Extent = OWNED, uid: str = "loop1") -> Loop:
    """Return a loop over dofs whose bounds come from the first field of its first call."""
    first = next(at for at, arg in enumerate(calls[0].kernel.args) if not arg.kind.is_scalar)
    return Loop(uid, Over.DOFS, extent, first, calls)


def program(data: tuple[Datum, ...], *body: Statement, distributed: bool = True) -> Program:
    """Return a program of one invoke, `invoke_test` in the module `alg_psy`."""
    schedule = Schedule("invoke_test", data, body, distributed, True)
    scope = Scope(ScopeKind.PROGRAM, "alg", (), (), 0, 0, SPAN)
    parsed = ParsedInvoke((), None, None, (scope,), SPAN)
    algorithm = ParsedAlgorithm(SOURCE, scope, (scope,), (parsed,))
    return Program("alg_psy", algorithm, (Invoke(schedule, parsed),))


def lowered(
    data: tuple[Datum, ...],
    *body: Statement,
    distributed: bool = True,
    target: Infrastructure = PLAIN,
) -> str:
    """Return the Fortran of a program of one invoke."""
    return emit_unit(lower_program(program(data, *body, distributed=distributed), target))


def cell_program(data: tuple[Datum, ...], called: KernelCall, **more: object) -> str:
    """Return the Fortran of one loop over owned cells, which has no bounds worth a look."""
    return lowered(data, loop(called), **more)  # type: ignore[arg-type]


def called(text: str) -> str:
    """Return the one kernel call of generated Fortran, without the name of the kernel."""
    calls = [line for line in lines_of(text) if line.startswith("call work_code(")]
    assert len(calls) == 1
    return calls[0].removeprefix("call work_code(").removesuffix(")")


def lines_of(text: str) -> list[str]:
    """Return the statements of generated Fortran, continued lines joined, without comments."""
    joined = re.sub(r"&\n *", "", text)
    stripped = (" ".join(line.split()) for line in joined.split("\n"))
    return [line for line in stripped if line and not line.startswith("! ")]


def body_of(text: str) -> list[str]:
    """Return the executable statements of generated Fortran."""
    declared = ("use ", "type(", "class(", "real(", "integer(", "logical(", "real ", "integer ")
    lines = lines_of(text)
    inside = lines[next(i for i, line in enumerate(lines) if line.startswith("subroutine")) + 1 :]
    return [line for line in inside if not ("::" in line and line.startswith(declared))]


def component(name: str, number: int) -> Actual:
    """Return the component `number` of the field vector `name` as an actual argument."""
    value = Index(Name(name), (Literal(str(number), Intrinsic.INTEGER),))
    return Actual(name, value, component=number)
