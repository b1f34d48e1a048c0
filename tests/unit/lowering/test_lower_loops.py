"""Bounds of loops, depths of halo, exchanges, marks and dummies of a routine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lfric_schedules import (
    PLAIN,
    body_of,
    built_in,
    call,
    dof_loop,
    field,
    field_arg,
    kernel,
    loop,
    lowered,
    operator,
    passed,
    program,
    scalar,
)
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Binary, Literal, Name
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth
from psyclone_storage.ir.schedule import (
    Datum,
    DatumRole,
    Extent,
    HaloExchange,
    MarkHalo,
    Over,
    Phase,
    Reach,
    Reason,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.lowering.lowering import lower_program
from psyclone_storage.targets.lfric_storage.table import lfric_storage

INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
HALO = Datum("halo", Name("halo"), INTEGER, DatumRole.HALO_DEPTH)
ONE = Literal("1_i_def", Intrinsic.INTEGER, "i_def")
REACH = Datum("reach", Name("reach"), INTEGER, DatumRole.EXTENT)


def writer() -> Kernel:
    return kernel(field_arg("w3", Access.WRITE))


def bounds(extent: Extent, over: Over = Over.CELLS) -> list[str]:
    """Return the two statements that set the bounds of a loop."""
    item = call(writer(), "f1") if over is Over.CELLS else built_in("setval_X", "f1", "f2")
    text = lowered((field("f1"), field("f2"), HALO, REACH), loop(item, extent=extent, over=over))
    return [line for line in body_of(text) if line.startswith(("loop1_start", "loop1_stop"))]


@pytest.mark.parametrize(
    ("extent", "stop"),
    [
        (Extent(Reach.ALL), "f1_proxy%vspace%get_ncell()"),
        (Extent(Reach.OWNED), "mesh%get_last_edge_cell()"),
        (Extent(Reach.HALO, Depth.of(2)), "mesh%get_last_halo_cell(2)"),
        (Extent(Reach.HALO, Depth.value(Name("halo"))), "mesh%get_last_halo_cell(halo)"),
        (Extent(Reach.HALO, WHOLE), "mesh%get_last_halo_cell(max_halo_depth)"),
    ],
)
def test_bounds_of_a_loop_over_cells(extent: Extent, stop: str) -> None:
    assert bounds(extent) == ["loop1_start = 1", f"loop1_stop = {stop}"]


def test_a_loop_over_the_halo_alone_starts_behind_the_owned_cells() -> None:
    assert bounds(Extent(Reach.HALO_ONLY, Depth.value(Name("halo")))) == [
        "loop1_start = mesh%get_last_edge_cell() + 1",
        "loop1_stop = mesh%get_last_halo_cell(halo)",
    ]


@pytest.mark.parametrize(
    ("extent", "stop"),
    [
        (Extent(Reach.ALL), "get_undf()"),
        (Extent(Reach.OWNED), "get_last_dof_owned()"),
        (Extent(Reach.ANNEXED), "get_last_dof_annexed()"),
        (Extent(Reach.HALO, Depth.of(1)), "get_last_dof_halo(1)"),
    ],
)
def test_bounds_of_a_loop_over_dofs(extent: Extent, stop: str) -> None:
    assert bounds(extent, Over.DOFS)[1] == f"loop1_stop = f1_proxy%vspace%{stop}"


def test_an_extent_without_a_meaning_is_refused() -> None:
    with pytest.raises(InternalError, match="Cells have no extent 'annexed'"):
        bounds(Extent(Reach.ANNEXED))


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (Depth.of(3), "3"),
        (Depth.value(Name("halo")).plus(Depth.of(1)), "halo + 1"),
        (Depth.value(Name("halo")).plus(Depth.value(Name("reach"))), "halo + reach"),
        (Depth.value(Name("halo")).times(2), "2 * halo"),
        (Depth.value(Binary(Operator.MINUS, Name("halo"), ONE)).times(2), "2 * (halo - 1_i_def)"),
        (WHOLE.minus(1), "max_halo_depth - 1"),
        (Depth.value(Name("halo")).max(Depth.of(2)), "max(2_i_def, halo)"),
        (Depth.value(Name("halo")).max(Depth.value(Name("reach"))), "max(halo, reach)"),
    ],
)
def test_the_depth_of_an_exchange(depth: Depth, text: str) -> None:
    exchange = HaloExchange("h", "f1", None, depth, guarded=False)
    body = body_of(lowered((field("f1"), HALO, REACH), exchange))
    assert f"call f1_proxy%halo_exchange(depth={text})" in body


def test_an_exchange_that_may_be_needless_is_guarded() -> None:
    exchange = HaloExchange("h", "f1", None, Depth.of(2), guarded=True)
    body = body_of(lowered((field("f1"),), exchange))
    start = body.index("if (f1_proxy%is_dirty(depth=2)) then")
    assert body[start + 1 : start + 3] == ["call f1_proxy%halo_exchange(depth=2)", "end if"]


@pytest.mark.parametrize(
    ("phase", "procedure"),
    [(Phase.START, "halo_exchange_start"), (Phase.FINISH, "halo_exchange_finish")],
)
def test_the_halves_of_an_exchange(phase: Phase, procedure: str) -> None:
    exchange = HaloExchange("h", "f1", None, Depth.of(1), guarded=False, phase=phase)
    assert f"call f1_proxy%{procedure}(depth=1)" in body_of(lowered((field("f1"),), exchange))


@pytest.mark.parametrize("joint", [(), ("a", "b")], ids=["alone", "together"])
def test_a_layer_with_storages_says_that_it_moves_what_is_exchanged_alone(
    joint: tuple[str, ...],
) -> None:
    def exchange(uid: str, name: str, phase: Phase) -> HaloExchange:
        more = {"guarded": False, "phase": phase, "joint": tuple(uid[0] + one for one in joint)}
        return HaloExchange(uid, name, None, Depth.of(1), **more)  # type: ignore[arg-type]

    starts = [exchange(f"s{uid}", f"f{uid}", Phase.START) for uid in "ab"]
    ends = [exchange(f"f{uid}", f"f{uid}", Phase.FINISH) for uid in "ab"]
    text = lowered((field("fa"), field("fb")), *starts, *ends, target=lfric_storage())
    calls = [line for line in body_of(text) if "exchange" in line]
    assert calls == (
        [
            "call joint_exchange%start([fa_proxy, fb_proxy], [1, 1], by_parts=.true.)",
            "call joint_exchange%finish()",
        ]
        if joint
        else [
            "call fa_proxy%halo_exchange_start(depth=1, by_parts=.true.)",
            "call fb_proxy%halo_exchange_start(depth=1, by_parts=.true.)",
            "call fa_proxy%halo_exchange_finish(depth=1)",
            "call fb_proxy%halo_exchange_finish(depth=1)",
        ]
    )


def test_annexed_dofs_alone_need_one_level() -> None:
    exchange = HaloExchange("h", "f1", None, NOTHING, guarded=False, annexed_only=True)
    assert "call f1_proxy%halo_exchange(depth=1)" in body_of(lowered((field("f1"),), exchange))


def test_an_exchange_of_a_vector_is_one_of_a_component_or_of_all() -> None:
    data = (field("chi", vector=3),)
    one = body_of(lowered(data, HaloExchange("h", "chi", 2, Depth.of(1), guarded=False)))
    assert [line for line in one if "exchange" in line] == [
        "call chi_proxy(2)%halo_exchange(depth=1)"
    ]
    every = body_of(lowered(data, HaloExchange("h", "chi", None, Depth.of(1), guarded=False)))
    assert [line for line in every if "exchange" in line] == [
        f"call chi_proxy({number})%halo_exchange(depth=1)" for number in (1, 2, 3)
    ]


def test_an_exchange_says_why_it_is_there() -> None:
    reason = Reason("work_type@loop2", "in halo cells to level 1", "setval_c@loop1", "it stale")
    exchange = HaloExchange("h", "f1", None, Depth.of(1), guarded=False, reasons=(reason,))
    text = lowered((field("f1"),), exchange)
    assert "    ! f1 is read by work_type in halo cells to level 1\n" in text
    assert "    ! and setval_c left it stale\n" in text


@pytest.mark.parametrize(
    ("dirty", "clean", "expected"),
    [
        (True, NOTHING, ["call f1_proxy%set_dirty()"]),
        (True, Depth.of(1), ["call f1_proxy%set_dirty()", "call f1_proxy%set_clean(1)"]),
        (False, WHOLE, ["call f1_proxy%set_clean(max_halo_depth)"]),
        (False, NOTHING, []),
    ],
)
def test_marks_of_a_halo(dirty: bool, clean: Depth, expected: list[str]) -> None:
    mark = MarkHalo("m", "f1", None, dirty, clean)
    body = body_of(lowered((field("f1"),), mark))
    assert [line for line in body if "%set_" in line] == expected


def test_an_invoke_of_built_ins_has_no_mesh() -> None:
    text = lowered((field("f1"), field("f2")), dof_loop(built_in("setval_X", "f1", "f2")))
    assert "mesh" not in text
    assert "map" not in text
    assert "ndf" not in text


def test_bounds_are_named_after_the_place_in_the_schedule() -> None:
    item = loop(call(writer(), "f1"), uid="loop2.fused+3")
    assert "do cell = loop2_fused_3_start, loop2_fused_3_stop" in body_of(
        lowered((field("f1"),), item)
    )


def test_a_loop_stands_apart_from_what_is_before_it() -> None:
    exchange = HaloExchange("h", "f1", None, Depth.of(1), guarded=False)
    loops = [loop(call(writer(), "f1"), uid=f"loop{at}") for at in (1, 2)]
    text = lowered((field("f1"),), loops[0], exchange, loops[1])
    assert "end do\n\n    call f1_proxy%halo_exchange(depth=1)\n    do cell" in text


def test_objects_are_targets_that_are_not_changed() -> None:
    text = lowered((field("f1"), operator("op"), scalar("a")), loop(call(writer(), "f1")))
    assert "type(field_type), target, intent(in) :: f1" in text
    assert "type(operator_type), target, intent(in) :: op" in text
    assert "real(kind=r_def), intent(in) :: a" in text


def test_a_name_of_the_algorithm_goes_before_those_of_generated_code() -> None:
    made = kernel(field_arg("w3", Access.WRITE), field_arg("w3"), field_arg("w3"))
    text = lowered((field("f1_data"), field("f1"), field("work_code")),
                   loop(call(made, "f1", "f1_data", "work_code")))  # fmt: skip
    assert "f1_data_1 => f1_proxy%data" in body_of(text)
    assert "use work_mod, only: work_code_1 => work_code" in text
    assert "call work_code_1(nlayers_f1, f1_data_1, f1_data_data, work_code_data, " in text


def test_two_kernels_of_one_procedure_name_are_told_apart() -> None:
    first, second = writer(), kernel(field_arg("w3", Access.WRITE), module="other_mod")
    text = lowered((field("f1"),), loop(call(first, "f1")), loop(call(second, "f1"), uid="loop2"))
    assert "use other_mod, only: work_code_1 => work_code" in text
    assert "call work_code_1(nlayers_f1" in text


def test_a_type_without_a_proxy_is_refused() -> None:
    unknown = Datum("f1", Name("f1"), DerivedType("my_type"), kind=field("f1").kind)
    with pytest.raises(InternalError, match="'f1' is neither a field nor an operator"):
        lower_program(program((unknown,), loop(call(writer(), "f1"))), PLAIN)


def test_a_call_outside_of_a_loop_is_refused() -> None:
    with pytest.raises(InternalError, match="outside of any loop"):
        lower_program(program((field("f1"),), call(writer(), passed("f1"))), PLAIN)


def test_lowering_twice_gives_the_same_unit() -> None:
    made = program((field("f1"),), loop(call(writer(), "f1")))
    assert lower_program(made, PLAIN) == lower_program(made, PLAIN)


@pytest.mark.parametrize("intrinsic", [Intrinsic.REAL, Intrinsic.INTEGER])
def test_a_call_for_some_cells_looks_at_its_mask_first(intrinsic: Intrinsic) -> None:
    mask = replace(field_arg("wtheta"), is_mask=True, intrinsic=intrinsic)
    made = call(kernel(field_arg("w3", Access.READWRITE), mask), "f1", "f2")
    body = body_of(lowered((field("f1"), field("f2")), loop(made)))
    start = body.index("do cell = loop1_start, loop1_stop")
    assert body[start + 1] == "if (f2_data(map_wtheta(1, cell)) > 0) then"
    assert body[start + 2].startswith("call work_code(nlayers_f1, f1_data, f2_data,")
    assert body[start + 3 : start + 5] == ["end if", "end do"]
