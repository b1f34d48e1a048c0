"""Where exchanges and marks go, decision by decision."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.coherence.check_halos import check_halos
from psyclone_storage.coherence.halos import ElisionReason, plan_halos
from psyclone_storage.coherence.scenarios import HaloScenario, halo_scenarios
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.region import NOTHING, WHOLE, Depth, describe_depth
from psyclone_storage.ir.schedule import (
    DirectiveRegion,
    Extent,
    FillHalo,
    GlobalReduction,
    HaloExchange,
    Loop,
    Phase,
    Reach,
    Schedule,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.view import places_text
from psyclone_storage.transform.halos import with_halos, without_halos
from psyclone_storage.transform.legality import check_constructs
from unit.analysis.small import (
    RULES,
    built_in,
    cells,
    dofs,
    exchanges,
    field,
    halo,
    marks,
    operator,
    scalar,
    schedule,
    uids,
)

STENCIL = cells("a write w3", "u read w3 stencil 1")
DEEP = cells("a write w3", "u read w3 stencil 2")
DEEP_W0 = ("u read w0 stencil 2",)


def planned(
    *calls: object,
    annexed: bool = False,
    vectors: dict[str, int] | None = None,
    fills: bool = True,
) -> Schedule:
    made = schedule(*calls, annexed=annexed, vectors=vectors, fills=fills)  # type: ignore[arg-type]
    return with_halos(made, RULES)


def summary(result: Schedule) -> dict[str, str]:
    """Return of each exchange its depth, with a `?` if it is guarded."""
    return {
        uid: describe_depth(item.depth) + ("?" if item.guarded else "")
        for uid, item in exchanges(result).items()
    }


# ---------------------------------------------------------------------------- placement


def test_what_was_written_outside_is_exchanged_under_a_guard() -> None:
    assert summary(planned(STENCIL)) == {"halo(u)@loop1": "1?"}


def test_what_was_written_inside_is_exchanged_without_a_guard() -> None:
    result = planned(dofs("u write w3"), STENCIL)
    assert uids(result) == [
        "loop1", "mark(u)@loop1", "halo(u)@loop2", "loop2", "mark(a)@loop2",
    ]  # fmt: skip
    assert summary(result) == {"halo(u)@loop2": "1"}


def test_one_exchange_before_the_first_reader_goes_as_deep_as_any_needs() -> None:
    assert summary(planned(STENCIL, DEEP, STENCIL)) == {"halo(u)@loop1": "2?"}


def test_a_write_ends_the_life_of_an_exchange() -> None:
    result = planned(STENCIL, dofs("u readwrite w3"), DEEP)
    assert summary(result) == {"halo(u)@loop1": "1?", "halo(u)@loop3": "2"}


def test_depths_of_run_time_extents_are_joined_symbolically() -> None:
    wide = cells("a write w3", "u read w3 stencil extent")
    assert summary(planned(dofs("u write w3"), wide, DEEP)) == {"halo(u)@loop2": "max(2, extent)"}


REACHING = cells("a write w3", "u read w3 stencil reach")


@pytest.mark.parametrize(
    "calls",
    [
        (dofs("u write w3"), REACHING, STENCIL),
        (dofs("u write w3"), STENCIL, REACHING),
        (REACHING, STENCIL),
        (cells("u inc w0"), cells("a write w3", "u read w0 stencil reach")),
        (REACHING,),
    ],
)
@pytest.mark.parametrize("reach", [0, 1, 2])
def test_a_stencil_may_reach_nowhere(calls: tuple[object, ...], reach: int) -> None:
    for flags in range(4):
        world = HaloScenario(
            3, {"reach": reach}, frozenset({"u"} if len(calls) == 2 else ()), flags
        )
        assert check_halos(planned(*calls), world) == ()


def test_several_arguments_of_one_loop_share_no_exchange_but_each_has_its_own() -> None:
    result = planned(cells("a write w3", "u read w3 stencil 1", "v read w3 stencil 2"))
    assert summary(result) == {"halo(u)@loop1": "1?", "halo(v)@loop1": "2?"}


def test_components_of_a_vector_are_exchanged_one_by_one_and_only_where_dirty() -> None:
    result = planned(STENCIL, dofs(field("u write w3", component=2)), STENCIL, vectors={"u": 3})
    assert summary(result) == {
        "halo(u[1])@loop1": "1?",
        "halo(u[2])@loop1": "1?",
        "halo(u[3])@loop1": "1?",
        "halo(u[2])@loop3": "1",
    }


def test_operators_and_scalars_are_never_exchanged() -> None:
    call = cells("a inc w2", operator("op", "read"))
    assert summary(planned(call)) == {}
    assert summary(planned(dofs(scalar("s"), "a read w2"))) == {}


def test_a_serial_schedule_has_no_exchanges_no_marks_and_no_global_sums() -> None:
    serial = schedule(STENCIL, dofs(scalar("s"), "u read w3"), distributed=False)
    assert uids(with_halos(serial, RULES)) == ["loop1", "loop2"]


# ---------------------------------------------------------------------------- annexed dofs


def test_readers_of_annexed_dofs_exchange_unless_annexed_dofs_are_kept_clean() -> None:
    reader = cells("a write w3", "u read w0")
    result = planned(reader)
    assert summary(result) == {"halo(u)@loop1": "1?"}
    assert exchanges(result)["halo(u)@loop1"].annexed_only
    assert summary(planned(reader, annexed=True)) == {}


def test_a_builtin_leaves_annexed_dofs_dirty_unless_it_computes_them() -> None:
    pair = (dofs("u write any_space_1"), cells("a write w3", "u read w0"))
    assert summary(planned(*pair)) == {"halo(u)@loop2": "1"}
    assert summary(planned(*pair, annexed=True)) == {}


@pytest.mark.spec("B6")
def test_a_kernel_that_only_writes_needs_annexed_dofs_of_what_it_reads() -> None:
    result = planned(dofs("u write any_space_1"), cells("a write w0", "u read w0"))
    assert summary(result) == {"halo(u)@loop2": "1"}


@pytest.mark.spec("W7")
def test_a_kernel_that_only_writes_leaves_annexed_dofs_clean() -> None:
    result = planned(cells("u write w0", "b read w3"), cells("a write w3", "u read w0"))
    assert summary(result) == {}


def test_random_numbers_make_annexed_dofs_dirty_and_the_next_reader_cleans_them() -> None:
    result = planned(
        dofs("u write any_space_1", owned=True), cells("a write w3", "u read w0"), annexed=True
    )
    assert summary(result) == {"halo(u)@loop2": "1"}


def test_random_numbers_that_nobody_reads_are_exchanged_at_the_end() -> None:
    result = planned(dofs("u write any_space_1", owned=True), annexed=True)
    assert uids(result) == ["loop1", "mark(u)@loop1", "halo(u)@end"]
    assert summary(result) == {"halo(u)@end": "1"}
    assert summary(planned(dofs("u write any_space_1", owned=True))) == {}


def test_random_numbers_on_a_discontinuous_space_need_no_exchange() -> None:
    result = planned(
        dofs("u write any_space_1", owned=True), cells("a write w3", "u read w3"), annexed=True
    )
    assert summary(result) == {}


def test_builtins_over_annexed_dofs_read_them() -> None:
    result = planned(
        dofs("u write any_space_1", owned=True),
        dofs("a write any_space_1", "u read any_space_1"),
        annexed=True,
    )
    assert summary(result) == {"halo(u)@loop2": "1"}


# ---------------------------------------------------------------------------- increments


def test_an_increment_whose_field_is_exchanged_next_needs_no_exchange_before() -> None:
    calls = (dofs("u write any_space_1"), cells("u inc w0"), cells("b write w3", *DEEP_W0))
    assert summary(planned(*calls)) == {"halo(u)@loop3": "2"}


def test_an_increment_at_the_end_needs_no_exchange() -> None:
    made = schedule(dofs("u write any_space_1"), cells("u inc w0"))
    plan = plan_halos(made, RULES)
    assert plan.exchanges == ()
    assert [(item.part.datum, item.because) for item in plan.elided] == [
        ("u", ElisionReason.CARRIED)
    ]


def test_an_increment_before_a_reader_of_annexed_dofs_needs_them_clean() -> None:
    result = planned(cells("u inc w0"), cells("a write w3", "u read w0"))
    assert summary(result) == {"halo(u)@loop1": "1?"}


def test_increments_in_a_row_wait_for_the_exchange_that_comes_in_any_case() -> None:
    adds = [cells("u inc w0")] * 5
    calls = (*adds, cells("b write w3", *DEEP_W0))
    assert summary(planned(*calls)) == {"halo(u)@loop6": "2"}


def test_readinc_reads_the_outermost_level_as_well() -> None:
    assert summary(planned(cells("u readinc w0"))) == {"halo(u)@loop1": "1?"}


def test_an_increment_deep_in_the_halo_exchanges_one_level_less_if_someone_reads_it() -> None:
    deep = (cells("u inc w0"), halo(3))
    reader = (cells("b inc w0", "u read w0"), halo(2))
    result = planned(deep, reader)
    assert summary(result) == {"halo(u)@loop1": "2?"}
    assert filled(result)["fill(u)@loop1"] == "halo behind level 2 to level 3"


def test_an_increment_to_a_run_time_depth_never_asks_for_depth_zero() -> None:
    deep = (cells("u inc w0"), halo("reach"))
    reader = (cells("b inc w0", "u read w0"), halo(1))
    assert summary(planned(deep, reader))["halo(u)@loop1"] == "max(1, reach - 1)?"


# ---------------------------------------------------------------------------- never filled

ADD = cells("u inc w0")
SETS = built_in("u write any_space_1")
COPIES = built_in("u write any_space_1", "v read any_space_1")
SCALES = built_in("u readwrite any_space_1")
ON_OWNED = dofs("u write any_space_1", owned=True)


def filled(result: Schedule) -> dict[str, str]:
    """Return which dofs are given numbers because a loop adds to them."""
    fills = (item for item in result.body if isinstance(item, FillHalo))
    return {item.uid: places_text(item) for item in fills}


def computed(result: Schedule) -> dict[str, str]:
    """Return to which level of halo loops over dofs compute besides."""
    loops = (item for item in result.body if isinstance(item, Loop))
    return {item.uid: describe_depth(item.filled) for item in loops if item.filled.terms}


@pytest.mark.parametrize("annexed", [False, True])
@pytest.mark.parametrize(
    ("calls", "levels", "place", "found"),
    [
        pytest.param((ADD,), {}, "loop1 1", {}, id="a field from outside"),
        pytest.param((SETS, ADD), {"loop1": "1"}, "", {}, id="a constant"),
        pytest.param((SETS, ADD, ADD), {"loop1": "1"}, "", {}, id="two sums"),
        pytest.param((SETS, (ADD, halo(3))), {"loop1": "3"}, "", {}, id="deep in the halo"),
        pytest.param((SETS, SCALES, ADD), {}, "loop3 1", {}, id="a chain"),
        pytest.param((COPIES, ADD), {}, "loop2 1", {}, id="of what is not clean"),
        pytest.param((COPIES, ADD, COPIES, ADD), {}, "loop2 1", {}, id="two of them"),
        pytest.param(((SETS, halo(1)), ADD), {}, "", {}, id="by the recipe"),
        pytest.param((SETS, dofs(scalar("s"), "u read w0")), {}, "", {}, id="nothing added"),
        pytest.param(
            (SETS, cells("b write w3", "u read w0 stencil 2"), ADD),
            {},
            "",
            {"halo(u)@loop2": "2"},
            id="exchanged anyway",
        ),
    ],
)
def test_what_a_kernel_adds_to_is_filled_without_an_exchange(
    calls: tuple[object, ...],
    levels: dict[str, str],
    place: str,
    found: dict[str, str],
    *,
    annexed: bool,
) -> None:
    result = planned(*calls, annexed=annexed)
    loop, _, level = place.partition(" ")
    which = f"halo to level {level}" if annexed else f"annexed dofs and halo to level {level}"
    assert filled(result) == ({f"fill(u)@{loop}": which} if place else {})
    assert (computed(result), summary(result)) == (levels, found)
    for world in halo_scenarios(result, frozenset({"u"})):
        assert check_halos(result, world) == ()


def test_what_a_loop_computes_besides_is_told_to_the_flags() -> None:
    assert marks(planned(SETS, ADD))["mark(u)@loop1"].clean == Depth.of(1)


def test_what_owners_alone_have_written_is_filled_or_restored() -> None:
    off, on = (planned(ON_OWNED, ADD, annexed=annexed) for annexed in (False, True))
    assert (filled(off), summary(off)) == (
        {"fill(u)@loop2": "annexed dofs and halo to level 1"},
        {},
    )
    assert (filled(on), summary(on)) == ({}, {"halo(u)@loop2": "1"})


def test_annexed_dofs_that_a_kernel_has_written_are_not_filled() -> None:
    result = planned(SETS, cells("u write w0"), ADD)
    assert filled(result) == {"fill(u)@loop3": "halo to level 1"}
    assert computed(result) == {}


def test_only_what_lies_behind_the_levels_that_hold_numbers_is_filled() -> None:
    reader = cells("b write w3", "u read w0")
    result = planned((SETS, halo(1)), (ADD, halo(3)), reader)
    assert filled(result) == {"fill(u)@loop2": "halo behind level 1 to level 3"}
    assert summary(result) == {}


def test_a_kernel_on_owned_cells_adds_to_annexed_dofs_alone() -> None:
    result = planned((ADD, Extent(Reach.OWNED)))
    assert filled(result) == {"fill(u)@loop1": "annexed dofs"}


@pytest.mark.parametrize("annexed", [False, True])
def test_levels_that_may_be_none_are_exchanged_as_nobody_knows_behind_which_dof(
    *, annexed: bool
) -> None:
    """A kernel asked to compute `reach` levels, which may be 0, leaves that many filled."""
    mask = cells("u write w0", iteration=Iteration.OWNED_AND_HALO_CELL_COLUMN, depth="reach")
    result = planned(mask, ADD, annexed=annexed)
    assert (filled(result), summary(result)) == ({}, {"halo(u)@loop2": "1?"})
    for world in halo_scenarios(result, frozenset({"u"})):
        assert check_halos(result, world) == ()


def test_nothing_is_filled_with_what_is_on_its_way() -> None:
    made = schedule(COPIES, cells("a write w3", "v read w2 stencil 1"), ADD)
    start = replace(pinned("start", Phase.START), datum="v")
    finish = replace(pinned("finish", Phase.FINISH), datum="v")
    around = (start, made.body[0], finish, *made.body[1:])
    result = with_halos(replace(made, body=around), RULES)
    assert filled(result) == {"fill(u)@loop3": "annexed dofs and halo to level 1"}
    assert summary(result) == {"start": "1?", "finish": "1?"}
    for world in halo_scenarios(result, frozenset({"u"})):
        assert check_halos(result, world) == ()


def test_a_new_field_is_new_under_any_name_that_may_be_another() -> None:
    calls = (built_in("v write any_space_1"), cells("u write w0"), ADD)
    made = schedule(*calls, annexed=True)
    data = tuple(replace(item, may_alias=tuple({"u", "v"} - {item.name})) for item in made.data)
    result = with_halos(replace(made, data=data), RULES)
    assert (summary(result), filled(result)) == ({}, {"fill(u)@loop3": "halo to level 1"})


def test_what_is_filled_is_derived() -> None:
    made = schedule(SETS, ADD, COPIES, ADD)
    assert without_halos(with_halos(made, RULES)) == made
    assert with_halos(with_halos(made, RULES), RULES) == with_halos(made, RULES)


def test_a_device_traps_nothing_so_that_nothing_is_filled_for_it() -> None:
    made = schedule(COPIES, ADD)
    region = DirectiveRegion("region", Directive.ACC_KERNELS, (made.body[1],), place=Side.DEVICE)
    there = replace(made, body=(made.body[0], region))
    assert filled(with_halos(there, RULES)) == {}
    held = replace(region, directive=Directive.ACC_DATA)
    on_host = with_halos(replace(made, body=(made.body[0], held)), RULES)
    assert filled(on_host) == {"fill(u)@loop2": "annexed dofs and halo to level 1"}


@pytest.mark.parametrize("aliases", [False, True])
def test_what_is_filled_for_a_region_is_filled_before_it_unless_it_may_be_read_there(
    *, aliases: bool
) -> None:
    reads = cells("b write w3", "v read w0 stencil 1")
    made = schedule(reads, SETS, SCALES, ADD)
    region = DirectiveRegion("region", Directive.OMP_PARALLEL, made.body)
    other = {"u": ("v",), "v": ("u",)} if aliases else {}
    data = tuple(replace(item, may_alias=other.get(item.name, ())) for item in made.data)
    result = with_halos(replace(made, body=(region,), data=data), RULES)
    refused = check_constructs(result)
    assert bool(refused) is aliases
    assert bool(filled(result)) is not aliases
    for world in halo_scenarios(result, frozenset({"u"})):
        assert check_halos(result, world) == ()


def test_nothing_need_be_filled_where_a_setting_says_so() -> None:
    for annexed in (False, True):
        result = planned(COPIES, ADD, annexed=annexed, fills=False)
        assert (filled(result), summary(result)) == ({}, {})


def test_the_adversary_sees_what_was_never_filled() -> None:
    world = HaloScenario(2, {}, frozenset({"u"}), filled=False)
    messages = [found.message for found in check_halos(schedule(SETS, ADD), world)]
    assert messages == [
        "'call2' adds to the annexed dofs of 'u', which nothing has ever filled.",
        "'call2' adds to halo level 1 of 'u', which nothing has ever filled.",
    ]
    assert check_halos(schedule(SETS, ADD), replace(world, filled=True)) == ()
    assert check_halos(schedule(SETS, ADD, fills=False), world) == ()


def test_the_adversary_sees_that_what_is_filled_is_no_longer_right() -> None:
    fill = FillHalo("fill(u)", "u", None, annexed=True, beyond=NOTHING, depth=Depth.of(1))
    made = schedule(cells("b write w3", "u read w0 stencil 1"))
    spoilt = replace(made, body=(fill, *made.body))
    first, *_ = check_halos(spoilt, HaloScenario(2, {}, frozenset({"u"}), 2))
    assert first.message == "'call1' reads the annexed dofs of 'u', which is stale."
    deep = replace(fill, beyond=Depth.of(2), depth=Depth.of(3), annexed=False)
    found = check_halos(replace(made, body=(deep,)), HaloScenario(2, {}, frozenset({"u"}), 2))
    assert [one.message for one in found] == ["'fill(u)' fills 3 levels of 2."]


# ---------------------------------------------------------------------------- what is left


def test_redundant_computation_replaces_an_exchange() -> None:
    result = planned((dofs("u write w3"), halo(1)), STENCIL)
    assert summary(result) == {}
    assert marks(result)["mark(u)@loop1"].clean == Depth.of(1)


def test_depths_that_cannot_be_compared_are_left_to_the_flags() -> None:
    result = planned((dofs("u write w3"), halo("reach")), DEEP)
    assert summary(result) == {"halo(u)@loop2": "2?"}


def test_a_stencil_may_reach_further_than_the_whole_halo_of_other_fields() -> None:
    everywhere = Extent(Reach.HALO, WHOLE)
    result = planned((dofs("u write w3"), everywhere), DEEP)
    assert summary(result) == {"halo(u)@loop2": "2?"}
    mark = marks(result)["mark(u)@loop1"]
    assert (mark.dirty, mark.clean) == (True, WHOLE)


def test_halo_kernels_keep_what_is_clean_beyond_them() -> None:
    mask = cells("u write w3", iteration=Iteration.HALO_CELL_COLUMN, depth="1")
    result = planned((dofs("u write w3"), halo(2)), mask, DEEP)
    assert summary(result) == {}
    assert list(marks(result)) == ["mark(u)@loop1", "mark(a)@loop3"]


def test_halo_kernels_count_as_right_where_they_wrote() -> None:
    mask = cells("u write w3", iteration=Iteration.HALO_CELL_COLUMN, depth="2")
    result = planned(dofs("u write w3"), mask, DEEP)
    assert summary(result) == {}
    mark = marks(result)["mark(u)@loop2"]
    assert (mark.dirty, mark.clean) == (False, Depth.of(2))


# ---------------------------------------------------------------------------- marks


@pytest.mark.spec("W6")
def test_a_field_that_is_dirty_is_not_made_dirty_again() -> None:
    result = planned(dofs("u write w3"), dofs("u readwrite w3"), dofs("u readwrite w3"))
    assert list(marks(result)) == ["mark(u)@loop1"]


def test_a_field_that_is_dirty_is_only_made_clean() -> None:
    result = planned(dofs("u write w3"), (dofs("u write w3"), halo(1)))
    mark = marks(result)["mark(u)@loop2"]
    assert (mark.dirty, mark.clean) == (False, Depth.of(1))


def test_a_field_that_was_exchanged_is_made_dirty() -> None:
    result = planned(STENCIL, dofs("u write w3"))
    mark = marks(result)["mark(u)@loop2"]
    assert (mark.dirty, mark.clean) == (True, NOTHING)


def test_global_reductions_follow_their_loops() -> None:
    result = planned(dofs(scalar("s"), "u read w3"), dofs(scalar("t"), "u read w3"))
    assert uids(result) == ["loop1", "reduce(s)@loop1", "loop2", "reduce(t)@loop2"]
    assert isinstance(result.body[1], GlobalReduction)


# ---------------------------------------------------------------------------- pinned


def pinned(uid: str, phase: Phase, depth: int = 1, *, guarded: bool = True) -> HaloExchange:
    return HaloExchange(uid, "u", None, Depth.of(depth), guarded, phase=phase, pinned=True)


def test_a_pinned_exchange_is_a_fact() -> None:
    bare = schedule(cells("b write w3"), STENCIL)
    moved = replace(bare, body=(pinned("halo(u)@loop2", Phase.WHOLE), *bare.body))
    result = with_halos(moved, RULES)
    assert list(exchanges(result)) == ["halo(u)@loop2"]
    assert without_halos(result) == moved


def test_a_pinned_exchange_that_is_too_shallow_is_followed_by_a_deeper_one() -> None:
    bare = schedule(DEEP)
    moved = replace(bare, body=(pinned("halo(u)@loop1", Phase.WHOLE), *bare.body))
    result = with_halos(moved, RULES)
    assert summary(result) == {"halo(u)@loop1": "1?", "halo(u)@loop1#2": "2?"}


def test_a_split_exchange_counts_where_it_finishes() -> None:
    bare = schedule(cells("b write w3"), STENCIL)
    first, second = bare.body
    start, finish = pinned("start", Phase.START), pinned("finish", Phase.FINISH)
    result = with_halos(replace(bare, body=(start, first, finish, second)), RULES)
    assert list(exchanges(result)) == ["start", "finish"]


def test_a_write_under_a_running_exchange_is_a_defect() -> None:
    bare = schedule(dofs("u write w3"))
    start, finish = pinned("start", Phase.START), pinned("finish", Phase.FINISH)
    with pytest.raises(InternalError, match="'u' is written while its exchange runs"):
        plan_halos(replace(bare, body=(start, *bare.body, finish)), RULES)


def test_a_halo_that_is_needed_under_a_running_exchange_is_a_defect() -> None:
    bare = schedule(STENCIL)
    start, finish = pinned("start", Phase.START), pinned("finish", Phase.FINISH)
    with pytest.raises(InternalError, match="'u' is read while its exchange runs"):
        plan_halos(replace(bare, body=(start, *bare.body, finish)), RULES)


# ---------------------------------------------------------------------------- as a whole


def test_reasons_name_the_reads_and_the_write() -> None:
    result = planned(dofs("u write w3"), STENCIL, DEEP)
    reasons = exchanges(result)["halo(u)@loop2"].reasons
    assert [reason.reader for reason in reasons] == ["call2", "call3"]
    assert {reason.writer for reason in reasons} == {"call1"}
    assert reasons[1].read == "with a stencil that reaches halo level 2"


def test_a_thousand_loops_repeat_the_plan_of_four() -> None:
    kinds = (cells("u inc w0", "v read w2"), dofs("v write w2", "u read w0"), STENCIL, DEEP)
    few, some, many = (
        len(plan_halos(schedule(*kinds * rounds), RULES).exchanges) for rounds in (10, 20, 250)
    )
    assert some > few
    assert many - some == 23 * (some - few)
