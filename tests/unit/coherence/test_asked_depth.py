"""Kernels that the algorithm asks to compute a depth of halo, which may be 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.scenarios import HaloScenario
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.ir.expr import Binary, Expr, Literal, Name
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    StencilShape,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import describe_depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    DatumRole,
    HaloExchange,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.transform.halos import with_halos

RULES = LfricRules()
ONE = Literal("1", Intrinsic.INTEGER)
FIELDS = ("a", "b", "c")


def field(access: Access, space: str, stencil: StencilShape | None = None) -> KernelArg:
    return KernelArg(ArgKind.FIELD, Intrinsic.REAL, access, space, stencil=stencil)


def kernel(iteration: Iteration, *args: KernelArg) -> Kernel:
    return Kernel("k_type", "k_mod", "k_code", iteration, args)


def loops(*calls: tuple[Kernel, tuple[str, ...], Expr | None]) -> Schedule:
    data = [
        Datum(name, Name(name), DerivedType("field_type"), kind=ArgKind.FIELD) for name in FIELDS
    ]
    depth = Datum("hd", Name("hd"), ScalarType(Intrinsic.INTEGER), DatumRole.HALO_DEPTH)
    empty = Schedule("invoke_0", (*data, depth), (), distributed=True, annexed_clean=False)
    body = []
    for number, (used, names, asked) in enumerate(calls, start=1):
        args = tuple(
            Actual(name, Name(name), extent=ONE if arg.stencil else None)
            for name, arg in zip(names, used.args, strict=True)
        )
        call = KernelCall(f"call{number}", used, args, halo_depth=asked)
        extent = RULES.initial_extent(call, empty)
        body.append(Loop(f"loop{number}", Over.CELLS, extent, 0, (call,)))
    return with_halos(Schedule("invoke_0", empty.data, tuple(body), True, False), RULES)


def exchanged(schedule: Schedule) -> list[tuple[str, str]]:
    return [
        (item.uid, describe_depth(item.depth))
        for item in schedule.body
        if isinstance(item, HaloExchange)
    ]


def stale(
    schedule: Schedule, depth: int, shared: frozenset[str] = frozenset()
) -> tuple[object, ...]:
    return tuple(
        problem
        for flags in (0, 1, 2, 3)
        for problem in check_halos(schedule, HaloScenario(3, {"hd": depth}, shared, flags, False))
    )


BLEND = kernel(
    Iteration.OWNED_AND_HALO_CELL_COLUMN, field(Access.WRITE, "w3"), field(Access.READ, "w3")
)
SMOOTH = kernel(
    Iteration.CELL_COLUMN, field(Access.WRITE, "w3"), field(Access.READ, "w3", StencilShape.CROSS)
)
NODES = kernel(
    Iteration.OWNED_AND_HALO_CELL_COLUMN, field(Access.WRITE, "w3"), field(Access.READ, "w0")
)
ADD = kernel(Iteration.OWNED_AND_HALO_CELL_COLUMN, field(Access.INC, "w0"))
READ_NODES = kernel(Iteration.CELL_COLUMN, field(Access.WRITE, "w3"), field(Access.READ, "w0"))


RESTRICT = kernel(
    Iteration.OWNED_AND_HALO_CELL_COLUMN,
    replace(field(Access.WRITE, "w3"), mesh=MeshRole.COARSE),
    replace(field(Access.READ, "wtheta"), mesh=MeshRole.FINE),
)


@pytest.mark.parametrize(
    ("asked", "levels"),
    [
        (Binary(Operator.PLUS, ONE, ONE), "4"),
        (Binary(Operator.MINUS, Binary(Operator.PLUS, ONE, ONE), ONE), "2"),
        (Name("hd"), "2 * hd"),
        (Binary(Operator.MINUS, Name("hd"), ONE), "2 * (hd - 1)"),
    ],
)
def test_a_depth_between_two_meshes_is_doubled_as_a_whole(asked: Expr, levels: str) -> None:
    schedule = loops((RESTRICT, ("b", "a"), asked))
    assert exchanged(schedule) == [("halo(a)@loop1", levels)]


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_was_computed_to_a_depth_may_be_stale_at_level_one(depth: int) -> None:
    schedule = loops((BLEND, ("b", "a"), Name("hd")), (SMOOTH, ("c", "b"), None))
    assert exchanged(schedule) == [("halo(a)@loop1", "hd"), ("halo(b)@loop2", "1")]
    assert stale(schedule, depth) == ()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_annexed_dofs_are_asked_for_by_level_one(depth: int) -> None:
    schedule = loops((NODES, ("b", "a"), Name("hd")))
    assert exchanged(schedule) == [("halo(a)@loop1", "max(1, hd)")]
    assert stale(schedule, depth, frozenset({"a"})) == ()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_sums_over_no_halo_cells_leave_annexed_dofs_stale(depth: int) -> None:
    schedule = loops((ADD, ("a",), Name("hd")), (READ_NODES, ("b", "a"), None))
    assert ("halo(a)@loop2", "1") in exchanged(schedule)
    assert stale(schedule, depth, frozenset({"a"})) == ()


def test_a_depth_of_zero_is_the_owned_cells() -> None:
    schedule = loops((BLEND, ("b", "a"), Literal("0", Intrinsic.INTEGER)))
    (loop,) = schedule.body[:1]
    assert isinstance(loop, Loop)
    assert loop.extent.reach is Reach.OWNED
    assert exchanged(schedule) == []


COPY = kernel(Iteration.OWNED_AND_HALO_DOF, field(Access.WRITE, "w0"), field(Access.READ, "w0"))


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_dofs_to_a_depth_of_halo_begin_with_annexed_ones(depth: int) -> None:
    shared = frozenset({"a", "b"})
    schedule = loops((COPY, ("b", "a"), Name("hd")), (READ_NODES, ("c", "b"), None))
    assert exchanged(schedule) == [("halo(a)@loop1", "max(1, hd)")]
    assert stale(schedule, depth, shared) == ()


def test_dofs_to_a_depth_of_none_are_owned_and_annexed_ones() -> None:
    schedule = loops((COPY, ("b", "a"), Literal("0", Intrinsic.INTEGER)))
    assert schedule.body[1].extent.reach is Reach.ANNEXED
    assert exchanged(schedule) == [("halo(a)@loop1", "1")]
