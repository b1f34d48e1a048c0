"""Lowered LFRic schedules compile, without a warning, against the infrastructure.

Each program is small and uses one group of features. Its kernel is a subroutine without a body,
whose dummy arguments have the types and shapes that the LFRic interface gives them, so that a
wrong argument is a compiler's error.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from compile.visits import check_visits, link_visits, visits
from fortran import Compiler, written
from lfric_schedules import (
    built_in,
    call,
    component,
    dof_loop,
    field,
    field_arg,
    kernel,
    loop,
    operator,
    operator_arg,
    passed,
    program,
    scalar,
    scalar_arg,
)
from libraries import STRICT
from psyclone_storage.ir.expr import Literal, Name, spell
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    BasisOperation,
    BasisShape,
    CmaKind,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    ReductionOp,
    SpaceFunctions,
    StencilShape,
)
from psyclone_storage.ir.region import WHOLE, Depth
from psyclone_storage.ir.schedule import (
    Datum,
    DatumRole,
    Extent,
    GlobalReduction,
    HaloExchange,
    Loop,
    MarkHalo,
    Over,
    Phase,
    Program,
    Reach,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.languages.fortran.print.printer import emit_unit
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.lfric_fortran.checks import CheckLevel
from psyclone_storage.targets.lfric_fortran.table import lfric_infrastructure

READ, WRITE, INC = Access.READ, Access.WRITE, Access.INC
READWRITE, REDUCTION = Access.READWRITE, Access.REDUCTION
INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
SOLVER = ScalarType(Intrinsic.REAL, "r_solver")


def number(name: str, role: DatumRole) -> Datum:
    return Datum(name, Name(name), INTEGER, role)


def quadrature(name: str, shape: str) -> Datum:
    return Datum(name, Name(name), DerivedType(f"quadrature_{shape}_type"), DatumRole.QUADRATURE)


def columnwise(name: str) -> Datum:
    kind = ArgKind.COLUMNWISE_OPERATOR
    return Datum(name, Name(name), DerivedType("columnwise_operator_type"), kind=kind)


# ---------------------------------------------------------------------------- programs


def plain() -> Program:
    """Fields, a vector, an operator, a scalar, an array; exchanges of every kind."""
    made = kernel(
        field_arg("w3", READWRITE),
        field_arg("w2", vector=3),
        operator_arg("w3", "any_space_1"),
        scalar_arg(),
        scalar_arg(Intrinsic.LOGICAL),
        KernelArg(ArgKind.SCALAR_ARRAY, Intrinsic.INTEGER, READ, rank=2),
    )
    depth = Depth.value(Name("halo"))
    data = (
        field("f1"),
        field("chi", vector=3),
        operator("op"),
        scalar("a"),
        scalar("flag", ScalarType(Intrinsic.LOGICAL, "l_def")),
        Datum("table", Name("table"), INTEGER, kind=ArgKind.SCALAR_ARRAY, rank=2),
        number("halo", DatumRole.HALO_DEPTH),
    )
    return program(
        data,
        HaloExchange("h1", "f1", None, depth.max(Depth.of(2)), guarded=True),
        HaloExchange("h2", "chi", 2, WHOLE, guarded=False, phase=Phase.START),
        HaloExchange("h3", "chi", 2, WHOLE, guarded=False, phase=Phase.FINISH),
        loop(
            call(made, "f1", "chi", "op", "a", "flag", "table"),
            extent=Extent(Reach.HALO, depth),
        ),
        MarkHalo("m1", "f1", None, True, depth.minus(1)),
        loop(
            call(made, "f1", "chi", "op", Literal("0.5_r_def", Intrinsic.REAL, "r_def"),
                 Literal(".true.", Intrinsic.LOGICAL), "table"),
            extent=Extent(Reach.HALO_ONLY, WHOLE),
            uid="loop2",
        ),
        MarkHalo("m2", "f1", None, False, WHOLE),
    )  # fmt: skip


def serial() -> Program:
    made = kernel(field_arg("w3", READWRITE), field_arg("any_w2"))
    body = loop(call(made, "f1", "f2"), extent=Extent(Reach.ALL))
    return program((field("f1"), field("f2")), body, distributed=False)


def stencils() -> Program:
    shapes = [*StencilShape]
    fields = [field(f"f{at}") for at in range(len(shapes))]
    made = kernel(field_arg("w3", WRITE), *(field_arg("w2", stencil=shape) for shape in shapes))
    ways = {StencilShape.XORY1D: Name("way")}
    actuals = [
        passed(datum.name, extent=Name("reach"), direction=ways.get(shape))
        for datum, shape in zip(fields, shapes, strict=True)
    ]
    reach, way = number("reach", DatumRole.EXTENT), number("way", DatumRole.DIRECTION)
    return program((field("out"), *fields, reach, way), loop(call(made, "out", *actuals)))


def quadratures() -> Program:
    both = (BasisOperation.BASIS, BasisOperation.DIFF_BASIS)
    made = kernel(
        field_arg("w1", INC),
        field_arg("any_space_1"),
        functions=(SpaceFunctions("w1", both), SpaceFunctions("any_space_1", both)),
        shapes=(BasisShape.XYOZ, BasisShape.FACE, BasisShape.EDGE, BasisShape.EVALUATOR),
        targets=("w1", "any_space_1"),
    )
    rules = tuple(quadrature(f"q{shape}", shape) for shape in ("xyoz", "face", "edge"))
    quads = tuple(passed(rule.name) for rule in rules)
    item = call(made, "f1", "f2", quadratures=quads)
    return program((field("f1"), field("f2"), *rules), loop(item))


def columns() -> Program:
    cma = KernelArg(ArgKind.COLUMNWISE_OPERATOR, Intrinsic.REAL, WRITE, "w3", "wtheta")
    assembly = kernel(operator_arg("w3", "wtheta"), cma, cma=CmaKind.ASSEMBLY, name="assemble")
    apply = kernel(
        field_arg("w3", READWRITE),
        field_arg("wtheta"),
        replace(cma, access=READ),
        cma=CmaKind.APPLY,
        name="apply",
    )
    product = kernel(cma, replace(cma, access=READ), cma=CmaKind.MATRIX_MATRIX, name="multiply")
    data = (operator("op"), columnwise("c1"), columnwise("c2"), *solver_fields())
    return program(
        data,
        loop(call(assembly, "op", "c1"), extent=Extent(Reach.HALO, Depth.of(1))),
        loop(call(product, "c2", "c1"), uid="loop2"),
        loop(call(apply, "s1", "s2", "c2"), uid="loop3"),
    )


def meshes() -> Program:
    fine, coarse = field_arg("w1", INC, mesh=MeshRole.FINE), field_arg("w3", mesh=MeshRole.COARSE)
    item = call(kernel(fine, coarse), "fine", "coarse")
    return program((field("fine"), field("coarse")), loop(item, bounds_from=1))


def elements() -> Program:
    made = kernel(
        field_arg("w3", WRITE),
        reference_element=(
            "normals_to_horizontal_faces",
            "outward_normals_to_vertical_faces",
            "normals_to_faces",
        ),
        mesh_properties=("adjacent_face",),
    )
    boundary = kernel(field_arg("any_space_1", INC), name="enforce_bc")
    operators = kernel(operator_arg("w2", "w3", READWRITE), name="enforce_operator_bc")
    return program(
        (field("f1"), operator("op")),
        loop(call(made, "f1")),
        loop(call(boundary, "f1"), uid="loop2"),
        loop(call(operators, "op"), uid="loop3"),
    )


def colours() -> Program:
    made = kernel(field_arg("w2", INC))
    inner = [
        loop(call(made, "f1"), over=Over.CELLS_OF_COLOUR, extent=extent, uid=f"inner{at}")
        for at, extent in enumerate((Extent(Reach.HALO, Depth.of(1)), Extent(Reach.OWNED)))
    ]
    outer = (Loop(f"outer{at}", Over.COLOURS, Extent(Reach.OWNED), 0, (item,))
             for at, item in enumerate(inner))  # fmt: skip
    return program((field("f1"),), *outer)


def dofs() -> Program:
    made = kernel(
        field_arg("w3", WRITE), field_arg("w3", vector=2), scalar_arg(), iteration=Iteration.DOF
    )
    domain = kernel(field_arg("w3", READWRITE), iteration=Iteration.DOMAIN, name="everywhere")
    return program(
        (field("f1"), field("chi", vector=2), scalar("a")),
        loop(call(made, "f1", "chi", "a"), over=Over.DOFS, extent=Extent(Reach.ANNEXED)),
        loop(call(domain, "f1"), over=Over.DOMAIN, uid="loop2"),
    )


def solver_fields() -> tuple[Datum, ...]:
    return field("s1", "r_solver_field_type"), field("s2", "r_solver_field_type")


def built_ins() -> Program:
    uses = (
        built_in("X_plus_Y", "f1", "f2", component("chi", 2)),
        built_in("inc_a_times_X", "a", "s1"),
        built_in("setval_c", "s1", Literal("0.1_r_def", Intrinsic.REAL, "r_def")),
        built_in("setval_X", "s2", "f1"),
        built_in("inc_X_powint_n", "f1", "n"),
        built_in("setval_random", "f2"),
        built_in("real_to_int_X", "n1", "s1"),
        built_in("int_to_real_X", "s1", "n1"),
        built_in("real_to_real_X", "s1", "f1"),
        built_in("sign_X", "f1", "a", "f2"),
        built_in("int_max_aX", "n1", "n", "n1"),
    )
    data = (
        field("f1"), field("f2"), field("chi", vector=3), *solver_fields(),
        field("n1", "integer_field_type"), scalar("a"), scalar("n", INTEGER),
    )  # fmt: skip
    return program(data, *(dof_loop(use, uid=f"loop{at}") for at, use in enumerate(uses)))


def reductions() -> Program:
    data = (field("f1"), *solver_fields(), scalar("low"), scalar("high"), scalar("s", SOLVER))
    return program(
        data,
        dof_loop(built_in("minval_X", "low", "f1")),
        GlobalReduction("g1", "low", ReductionOp.MIN),
        dof_loop(built_in("maxval_X", "high", "f1"), uid="loop2"),
        GlobalReduction("g2", "high", ReductionOp.MAX),
        dof_loop(built_in("X_innerproduct_Y", "s", "s1", "s2"), uid="loop3"),
        GlobalReduction("g3", "s", ReductionOp.SUM),
    )


PROGRAMS = {
    made.__name__: made
    for made in (
        plain, serial, stencils, quadratures, columns, meshes, elements, colours, dofs, built_ins,
        reductions, visits,
    )
}  # fmt: skip

# ---------------------------------------------------------------------------- compiling


def stub(kernel_: Kernel, dummies: tuple[Dummy, ...], types: dict[int, str]) -> str:
    """Return a module with a kernel that does nothing; `types` hold the data of some arguments."""

    def declared(dummy: Dummy) -> str:
        kind = f"{dummy.type.intrinsic.value}({dummy.type.kind})"
        data_type = types.get(dummy.arg, kind) if dummy.type.intrinsic is Intrinsic.REAL else kind
        shape = f"({', '.join(map(spell, dummy.shape))})"
        return f"  {data_type} :: {dummy.name}{shape if dummy.shape else ''}"

    names = [dummy.name for dummy in dummies]
    scalars_first = sorted(dummies, key=lambda dummy: dummy.rank)
    head = [f"module {kernel_.module}", "use constants_mod", "implicit none", "contains"]
    start = f"subroutine {kernel_.procedure}(" + ", &\n  ".join(names) + ")"
    tail = [f"end subroutine {kernel_.procedure}", f"end module {kernel_.module}", ""]
    return "\n".join([*head, start, *map(declared, scalars_first), *tail])


@cache
def lowered_program(name: str, level: CheckLevel) -> str:
    return emit_unit(lower_program(PROGRAMS[name](), lfric_infrastructure(level)))


@pytest.mark.fortran
@pytest.mark.parametrize("level", [CheckLevel.NONE, CheckLevel.ERROR], ids=lambda item: item.value)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_lowered_program_compiles_without_a_warning(
    name: str, level: CheckLevel, compiler: Compiler, tmp_path: Path
) -> None:
    schedule = PROGRAMS[name]().invokes[0].schedule
    for item in kernel_calls(schedule):
        if item.kernel.is_builtin:
            continue
        solver = {
            at: "real(r_solver)"
            for at, actual in enumerate(item.args)
            if actual.datum in ("s1", "s2")
        }
        text = stub(item.kernel, item.dummies, solver)
        (source,) = written(tmp_path, {item.kernel.module: text})
        assert not compiler.complaints(source, tmp_path)
    (source,) = written(tmp_path, {"psy": lowered_program(name, level)})
    assert not compiler.complaints(source, tmp_path, *STRICT, "-O2")


@pytest.mark.fortran
def test_a_wrong_argument_is_noticed(compiler: Compiler, tmp_path: Path) -> None:
    item = kernel_calls(plain().invokes[0].schedule)[0]
    shorter = stub(item.kernel, item.dummies[1:], {})
    layer = lowered_program("plain", CheckLevel.NONE)
    kernel_file, source = written(tmp_path, {item.kernel.module: shorter, "psy": layer})
    assert not compiler.complaints(kernel_file, tmp_path)
    assert "Error" in compiler.complaints(source, tmp_path, *STRICT)


@pytest.mark.fortran
def test_a_lowered_program_computes_what_its_schedule_says(
    compiler: Compiler, tmp_path: Path
) -> None:
    layer = lowered_program("visits", CheckLevel.ERROR)
    check_visits(link_visits(compiler, layer, tmp_path, "-fcheck=all"))
