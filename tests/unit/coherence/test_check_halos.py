"""The halo checker on schedules that are small enough to be checked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.coherence.check_halos import check_halos, execute
from psyclone_storage.coherence.scenarios import HaloScenario, extent_names
from psyclone_storage.ir.expr import Name
from psyclone_storage.ir.kernel import Iteration
from psyclone_storage.ir.region import NOTHING, Depth
from psyclone_storage.ir.schedule import Extent, HaloExchange, MarkHalo, Phase, Reach, Schedule
from unit.analysis.small import cells, dofs, field, halo, matrices, operator, schedule

DIRTY = HaloScenario(levels=3, extents={}, shared=frozenset())
SHARED = replace(DIRTY, shared=frozenset({"u"}))
STENCIL = cells("a write w3", "u read w3 stencil 2")


def exchange(depth: int, *, guarded: bool = False, phase: Phase = Phase.WHOLE) -> HaloExchange:
    return HaloExchange(f"{phase.value}", "u", None, Depth.of(depth), guarded, phase=phase)


def around(before: tuple[object, ...], bare: Schedule, after: tuple[object, ...] = ()) -> Schedule:
    return replace(bare, body=(*before, *bare.body, *after))  # type: ignore[arg-type]


def messages(planned: Schedule, world: HaloScenario) -> list[str]:
    """Return what is wrong, but for the results `a`, whose marks these schedules leave out."""
    return [stale.message for stale in check_halos(planned, world) if stale.part.datum != "a"]


def test_a_stencil_reads_every_level_it_reaches() -> None:
    assert messages(schedule(STENCIL), DIRTY) == [
        "'call1' reads halo level 1 of 'u', which is stale.",
        "'call1' reads halo level 2 of 'u', which is stale.",
    ]


@pytest.mark.parametrize(("depth", "left"), [(1, 1), (2, 0)])
def test_an_exchange_makes_as_many_levels_right_as_it_says(depth: int, left: int) -> None:
    assert len(messages(around((exchange(depth),), schedule(STENCIL)), DIRTY)) == left


def test_nothing_touches_what_is_exchanged() -> None:
    start, finish = (exchange(1, phase=phase) for phase in (Phase.START, Phase.FINISH))
    clean = replace(DIRTY, flags=3)
    near = cells("a write w3", "u read w3 stencil 1")
    assert messages(around((start,), schedule(near), (finish,)), clean) == [
        "'call1' reads halo level 1 of 'u', which is stale."
    ]
    filled = (dofs("u write w3"), Extent(Reach.HALO, Depth.of(2)))
    assert messages(around((start,), schedule(filled), (finish,)), clean)[0] == (
        "'call1' writes halo level 1 of 'u' while it is exchanged."
    )
    assert messages(around((start, finish), schedule(near)), clean) == []


def test_an_exchange_that_lacks_an_end_never_ends() -> None:
    start, finish = (exchange(1, phase=phase) for phase in (Phase.START, Phase.FINISH))
    bare = schedule(cells("a write w3"))
    assert messages(around((), bare, (start,)), DIRTY) == [
        "'start' starts an exchange that is never finished.",
    ]
    assert messages(around((), bare, (finish,)), DIRTY) == [
        "'finish' waits for ever: 'nothing' was started."
    ]
    assert messages(around((start, start, finish), bare), DIRTY) == [
        "'start' waits for ever: 'start' was started."
    ]


def test_a_guard_believes_the_flags() -> None:
    guarded = around((exchange(2, guarded=True),), schedule(STENCIL))
    assert execute(guarded, DIRTY).exchanged == ("whole",)
    clean = replace(DIRTY, flags=2)
    assert execute(guarded, clean).exchanged == ()
    assert messages(guarded, clean) == []


def test_flags_that_a_write_did_not_reset_are_found_out() -> None:
    bare = schedule(dofs("u write w3"))
    promised = replace(DIRTY, flags=1)
    assert messages(bare, promised) == [
        "The invoke leaves halo level 1 of 'u' stale but calls it clean."
    ]
    mark = MarkHalo("mark", "u", None, dirty=True, clean=NOTHING)
    assert messages(around((), bare, (mark,)), promised) == []


def test_flags_that_promise_too_much_are_found_out() -> None:
    mark = MarkHalo("mark", "u", None, dirty=True, clean=Depth.of(2))
    bare = schedule((dofs("u write w3"), halo(1)))
    assert messages(around((), bare, (mark,)), DIRTY) == [
        "The invoke leaves halo level 2 of 'u' stale but calls it clean."
    ]


def test_cells_of_the_outermost_level_complete_no_sum() -> None:
    bare = schedule(cells("u inc w0"), cells("a write w3", "u read w0"))
    entered = replace(SHARED, flags=3)
    assert messages(bare, entered)[0].startswith("The invoke leaves halo level 1")
    reader = (cells("b inc w0", "u read w0"), halo(1))
    assert "'call2' reads halo level 1 of 'u', which is stale." in (
        messages(schedule(cells("u inc w0"), reader), entered)
    )


def test_an_increment_over_owned_cells_leaves_only_the_owner_right() -> None:
    owned = cells("u inc w0", iteration=Iteration.OWNED_CELL_COLUMN)
    bare = schedule(owned, cells("a write w3", "u read w0"))
    assert messages(bare, replace(SHARED, annexed_clean=True)) == [
        "'call2' reads the annexed dofs of 'u', which is stale."
    ]


def test_a_writer_over_owned_cells_makes_annexed_dofs_right() -> None:
    bare = schedule(cells("u write w0"), cells("a write w3", "u read w0"))
    assert messages(bare, SHARED) == []


def test_a_halo_kernel_leaves_deeper_levels_alone() -> None:
    mask = cells("u write w3", iteration=Iteration.HALO_CELL_COLUMN, depth="1")
    assert messages(schedule(mask, STENCIL), replace(DIRTY, flags=2)) == []
    assert messages(schedule(mask, STENCIL), DIRTY) == [
        "'call2' reads halo level 2 of 'u', which is stale."
    ]


def test_a_level_of_the_coarse_mesh_is_two_of_the_fine_one() -> None:
    restrict = (cells("a write w3 coarse", "u read w3 fine"), halo(1))
    assert messages(schedule(restrict), DIRTY) == [
        "'call1' reads halo level 1 of 'u', which is stale.",
        "'call1' reads halo level 2 of 'u', which is stale.",
    ]


def test_operators_have_values_in_one_level() -> None:
    reader = (cells("a write w3", operator("op", "read")), halo(2))
    assert messages(schedule(reader), DIRTY) == ["The operator 'op' has no values in halo level 2."]


def test_a_stencil_that_leaves_the_halo_is_told_apart() -> None:
    far = cells("a write w3", "u read w3 stencil 4")
    found = messages(schedule(far), replace(DIRTY, flags=3))
    assert found == ["'call1' reads halo level 4 of 'u', which does not exist."]


def test_an_exchange_to_level_zero_is_wrong() -> None:
    extent = Depth.value(Name("reach")).minus(1)
    bad = HaloExchange("bad", "u", None, extent, guarded=False)
    world = replace(DIRTY, extents={"reach": 1})
    assert messages(around((bad,), schedule(dofs("b write w3"))), world) == [
        "'bad' exchanges 0 levels of 3."
    ]


def test_what_was_sent_before_a_write_arrives_stale() -> None:
    start, finish = exchange(2, phase=Phase.START), exchange(2, phase=Phase.FINISH)
    bare = schedule(STENCIL)
    assert messages(around((start, finish), bare), DIRTY) == []
    write = schedule(dofs("u write w3")).body
    late = around((start, *write, finish), bare)
    assert "'call1' reads halo level 1 of 'u', which is stale." in messages(late, DIRTY)


def test_annexed_dofs_that_later_invokes_count_on_are_checked() -> None:
    bare = schedule(dofs("u write w0", owned=True), annexed=True)
    world = replace(SHARED, annexed_clean=True)
    assert messages(bare, world) == [
        "The invoke leaves the annexed dofs of 'u' stale but calls it clean."
    ]
    assert messages(bare, replace(world, shared=frozenset())) == []


def test_components_are_right_or_stale_on_their_own() -> None:
    second = cells("a write w3", field("u read w3 stencil 1", component=2))
    planned = schedule(second, vectors={"u": 2})
    whole = HaloExchange("halo", "u", 1, Depth.of(1), guarded=False)
    assert messages(around((whole,), planned), DIRTY) == [
        "'call1' reads halo level 1 of 'u[2]', which is stale."
    ]


def test_names_of_extents_are_listed() -> None:
    wide = (
        cells("a write w3", "u read w3 stencil width"),
        Extent(Reach.HALO, Depth.value(Name("reach"))),
    )
    assert extent_names(schedule(wide)) == {"width", "reach"}


@pytest.mark.parametrize(
    ("extent", "reach", "missing"),
    [("1", Reach.OWNED, 0), ("2", Reach.OWNED, 2), ("1", Reach.HALO, 2)],
)
def test_the_stencil_of_an_operator_needs_its_matrices(
    extent: str, reach: Reach, missing: int
) -> None:
    computed = Extent(reach, Depth.of(1) if reach is Reach.HALO else NOTHING)
    made = schedule((cells("a write w3", matrices(extent)), computed))
    expected = [f"The operator 'op' has no values in halo level {missing}."] if missing else []
    assert messages(made, DIRTY) == expected


def test_a_program_that_stops_reads_nothing() -> None:
    made = schedule(cells("a write w3", matrices("reach"), "u read w3 stencil 2"))
    assert execute(made, replace(DIRTY, extents={"reach": 2})).stale == ()
    assert execute(made, replace(DIRTY, extents={"reach": 1})).stale


def test_cells_that_a_mask_leaves_out_hold_what_they_held() -> None:
    described, actual = field("m read w3")
    mask = (replace(described, is_mask=True), actual)
    reader = cells("a write w3", "u read w3 stencil 1")
    fresh = (HaloExchange("m", "m", None, Depth.of(1), False),)
    for passed, left in (("u write w3", 1), ("u readwrite w3", 2)):
        made = schedule((cells(passed, mask), halo(1)), reader)
        stale = messages(around(fresh, made), DIRTY)
        assert len([text for text in stale if "level 1 of 'u'" in text]) == left
