"""Small schedules, written in a line or two: fields by name and access, kernels by their loops."""

from __future__ import annotations

from dataclasses import replace

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.lfric.rules import LfricRules, iteration_argument
from psyclone_storage.ir.expr import Expr, Literal, Name
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Formula,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    ReductionOp,
    StencilShape,
)
from psyclone_storage.ir.region import Depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    Extent,
    HaloExchange,
    KernelCall,
    Loop,
    MarkHalo,
    Over,
    Reach,
    Schedule,
    Statement,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

RULES = LfricRules()
ACCESSES = {access.value: access for access in Access}

Passed = tuple[KernelArg, Actual]


def extent_of(text: str) -> Expr:
    return Literal(text, Intrinsic.INTEGER) if text.isdigit() else Name(text)


def field(text: str, *, component: int | None = None) -> Passed:
    """Return an argument from text such as `u read w2`, `u read w3 stencil 2`, `u inc w0 fine`.

    `u read w3 data 4` has four values at each dof.
    """
    name, access, space, *more = text.split()
    stencil = more[0] == "stencil" if more else False
    data_per_dof = more[1] if more and more[0] == "data" else ""
    described = KernelArg(
        ArgKind.FIELD,
        Intrinsic.REAL,
        ACCESSES[access],
        space,
        stencil=StencilShape.CROSS if stencil else None,
        mesh=MeshRole(more[0]) if more and not stencil and not data_per_dof else None,
        data_per_dof=data_per_dof,
    )
    extent = extent_of(more[1]) if stencil else None
    return described, Actual(name, Name(name), component, extent)


def operator(name: str, access: str) -> Passed:
    described = KernelArg(ArgKind.OPERATOR, Intrinsic.REAL, ACCESSES[access], "w2", "w3")
    return described, Actual(name, Name(name))


def matrices(extent: str, name: str = "op") -> Passed:
    """Return an operator of which the matrices of neighbours are read."""
    described, actual = operator(name, "read")
    stencil = replace(described, stencil=StencilShape.CROSS)
    return stencil, replace(actual, extent=extent_of(extent))


def scalar(name: str, access: str = "reduction") -> Passed:
    described = KernelArg(ArgKind.SCALAR, Intrinsic.REAL, ACCESSES[access])
    return described, Actual(name, Name(name))


def call(
    number: int,
    *passed: Passed | str,
    iteration: Iteration = Iteration.CELL_COLUMN,
    depth: str = "",
) -> KernelCall:
    pairs = [field(item) if isinstance(item, str) else item for item in passed]
    args = tuple(described for described, _ in pairs)
    reduces = any(described.access is Access.REDUCTION for described in args)
    formula = Formula(("r", "X"), Name("X"), ReductionOp.SUM) if reduces else None
    kernel = Kernel(f"k{number}_type", f"k{number}_mod", "code", iteration, args, formula=formula)
    actuals = tuple(actual for _, actual in pairs)
    halo_depth = extent_of(depth) if depth else None
    return KernelCall(f"call{number}", kernel, actuals, halo_depth=halo_depth)


def cells(*passed: Passed | str, **options: object) -> KernelCall:
    return call(0, *passed, **options)  # type: ignore[arg-type]


def dofs(*passed: Passed | str, owned: bool = False) -> KernelCall:
    return call(0, *passed, iteration=Iteration.OWNED_DOF if owned else Iteration.DOF)


def built_in(*passed: Passed | str, owned: bool = False) -> KernelCall:
    """Return a call for each dof that is a formula, not a subroutine."""
    made = dofs(*passed, owned=owned)
    formula = made.kernel.formula or Formula((), Name("X"))
    return replace(made, kernel=replace(made.kernel, formula=formula))


def draw(name: str) -> KernelCall:
    """Return a call that sets a field to random numbers."""
    made = dofs(f"{name} write w3", owned=True)
    formula = Formula(("X",), Name("next"), is_random=True)
    return replace(made, kernel=replace(made.kernel, formula=formula))


def halo(depth: int | str) -> Extent:
    known = Depth.of(depth) if isinstance(depth, int) else Depth.value(Name(depth))
    return Extent(Reach.HALO, known)


def schedule(
    *calls: KernelCall | tuple[KernelCall, Extent],
    annexed: bool = False,
    distributed: bool = True,
    vectors: dict[str, int] | None = None,
    fills: bool = True,
) -> Schedule:
    """Return the schedule of `calls`, each in the loop that LFRic's rules give, or as far as said.

    The calls are numbered from 1: `call1` of `k1_type` in `loop1`.
    """
    base = Schedule("small", (), (), distributed, annexed, fills=fills)
    loops: list[Statement] = []
    for number, item in enumerate(calls, 1):
        one, extent = item if isinstance(item, tuple) else (item, None)
        kernel = replace(one.kernel, name=f"k{number}_type", module=f"k{number}_mod")
        one = replace(one, uid=f"call{number}", kernel=kernel)
        extent = extent or RULES.initial_extent(one, base)
        over = Over.DOFS if kernel.iteration.over_dofs else Over.CELLS
        loops.append(Loop(f"loop{number}", over, extent, iteration_argument(kernel), (one,)))
    body = tuple(loops)
    return replace(base, body=body, data=data_of(body, vectors or {}))


def data_of(body: tuple[Statement, ...], vectors: dict[str, int]) -> tuple[Datum, ...]:
    found: dict[str, Datum] = {}
    for loop in body:
        assert isinstance(loop, Loop)
        for item in loop.body:
            assert isinstance(item, KernelCall)
            for described, actual in zip(item.kernel.args, item.args, strict=True):
                name = actual.datum
                if name is not None and name not in found:
                    plain = described.kind.is_scalar
                    kind = ScalarType(Intrinsic.REAL) if plain else DerivedType("field_type")
                    size = vectors.get(name, 1)
                    datum = Datum(name, Name(name), kind, kind=described.kind, vector=size)
                    found[name] = datum
    return tuple(found.values())


def with_places(planned: Schedule) -> Schedule:
    """Return the schedule with every call on a line of its own in `alg.x90`."""
    source = SourceText("alg.x90", "\n" * 20)
    body: list[Statement] = []
    for number, item in enumerate(planned.body, 1):
        if isinstance(item, Loop):
            inner = tuple(replace(one, span=source.span(number, number + 1)) for one in item.body)
            item = replace(item, body=inner)  # noqa: PLW2901
        body.append(item)
    return replace(planned, body=tuple(body))


def uids(planned: Schedule) -> list[str]:
    return [item.uid for item in planned.body]


def exchanges(planned: Schedule) -> dict[str, HaloExchange]:
    return {item.uid: item for item in planned.body if isinstance(item, HaloExchange)}


def marks(planned: Schedule) -> dict[str, MarkHalo]:
    return {item.uid: item for item in planned.body if isinstance(item, MarkHalo)}
