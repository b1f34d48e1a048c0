"""The sentences of `--explain`."""

from __future__ import annotations

from psyclone_storage.coherence.explain import explain_halos, explain_tiles
from psyclone_storage.transform.colour import ColourLoop
from unit.analysis.small import RULES, cells, dofs, halo, schedule, with_places
from unit.transform.benches import bench

STENCIL = cells("a write w3", "u read w3 stencil 2")


def test_each_exchange_says_who_needs_it_who_wrote_and_where() -> None:
    planned = with_places(schedule(dofs("u write w3"), STENCIL))
    assert explain_halos(planned, RULES) == (
        "small: 1 halo exchange, 0 proved unnecessary\n"
        "\n"
        "u, before loop2: exchanged to level 2\n"
        "  needed:  'k2_type' (alg.x90:3) reads it with a stencil that reaches halo level 2\n"
        "  stale:   'k1_type' (alg.x90:2) leaves its halo stale: only owned dofs are computed\n"
        "  always:  no guard needed\n"
    )


def test_a_guard_says_what_is_not_known() -> None:
    text = explain_halos(schedule(STENCIL), RULES)
    assert (
        "  stale:   it was written before this invoke, which may have left its halo stale" in text
    )
    assert "  guarded: how the halo was left before this invoke, only the run-time flags" in text
    wide = (dofs("u write w3"), halo("reach"))
    assert "  guarded: whether that is enough depends on extents" in (
        explain_halos(schedule(wide, STENCIL), RULES)
    )


def test_components_that_fare_alike_share_their_lines() -> None:
    text = explain_halos(schedule(STENCIL, STENCIL, vectors={"u": 3}), RULES)
    assert "3 halo exchanges, 3 proved unnecessary" in text
    assert text.count("u[1], u[2], u[3], before loop1: exchanged to level 2") == 1
    assert "u[1], u[2], u[3], before loop2: 'k2_type'" in text


def test_each_exchange_that_is_not_there_says_why() -> None:
    reader = cells("a write w3", "u read w0")
    assert "annexed dofs are clean before and after every invoke" in (
        explain_halos(schedule(reader, annexed=True), RULES)
    )
    assert "'k1_type' leaves its halo stale and its annexed dofs clean" in (
        explain_halos(schedule(cells("u write w0"), reader), RULES)
    )
    assert "an exchange before an earlier loop reaches far enough" in (
        explain_halos(schedule(reader, reader), RULES)
    )
    assert "stale copies only stay stale" in (
        explain_halos(schedule(cells("u inc w0"), fills=False), RULES)
    )
    assert "its function space has no annexed dofs" in (
        explain_halos(
            schedule(cells("a write w3", "u read any_space_1"), cells("a write w3", "u read w3")),
            RULES,
        )
    )


def test_the_end_of_an_invoke_needs_annexed_dofs_for_the_next() -> None:
    text = explain_halos(schedule(dofs("u write w0", owned=True), annexed=True), RULES)
    assert "u, at the end: exchanged to level 1" in text
    assert "it is read in later invokes, which count on clean annexed dofs" in text


def test_a_serial_schedule_exchanges_nothing() -> None:
    assert explain_halos(schedule(STENCIL, distributed=False), RULES) == (
        "small: one process has every value, so nothing is exchanged.\n"
    )


def test_tiles_of_colours_ask_for_a_mesh_with_tiles() -> None:
    work = bench(cells("u inc w0"), cells("v inc w0"), cells("w inc w0"))
    work.apply(ColourLoop("loop1"))
    assert explain_tiles(work.schedule) == ""
    work.apply(ColourLoop("loop2", tiling=True))
    work.apply(ColourLoop("loop3", tiling=True))
    text = explain_tiles(work.schedule)
    assert text.startswith("small: tiles of colours in 'loop2', 'loop3'\n")
    assert "On a mesh that was made without tiles\n  each is a cell" in text
    assert "On one thread that is slower than no colours." in text
    work = bench(cells("u inc w0"))
    work.apply(ColourLoop("loop1", tiling=True, for_threads=True))
    assert "One thread visits all cells in the order of the mesh" in explain_tiles(work.schedule)
