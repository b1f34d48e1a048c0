"""Statements by their uids: the index agrees with a search."""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.region import WHOLE
from psyclone_storage.ir.schedule import DirectiveRegion, HaloExchange, Loop
from psyclone_storage.ir.walk import by_uid, calls_of, find, place_near, statements
from unit.analysis.small import cells, dofs, schedule


def test_an_index_holds_what_is_found_in_the_order_of_the_tree() -> None:
    flat = schedule(dofs("u write w3"), cells("a write w3", "u read w3"))
    held = DirectiveRegion("region", Directive.OMP_PARALLEL, flat.body)
    nested = schedule()
    for body in (flat.body, (held,), ()):
        tree = type(nested)("t", (), body, distributed=True, annexed_clean=False)
        index = by_uid(tree)
        assert list(index.values()) == list(statements(tree))
        assert all(find(tree, uid) is item for uid, item in index.items())
        assert find(tree, "nowhere") is None


def test_of_two_statements_with_one_uid_the_first_is_found() -> None:
    one = schedule(dofs("u write w3"))
    (loop,) = one.body
    twice = type(one)("t", (), (loop, loop), distributed=True, annexed_clean=False)
    assert by_uid(twice)["loop1"] is find(twice, "loop1")


def test_a_statement_is_near_its_first_call_the_next_one_or_the_last() -> None:
    source = SourceText("alg.x90", "abcd")
    flat = schedule(dofs("u write w3"), cells("a write w3", "u read w3"), dofs("v write w3"))
    first, second, third = (
        replace(
            loop,
            body=tuple(replace(call, span=Span(source, at, at + 1)) for call in calls_of(loop)),
        )
        for at, loop in enumerate(flat.body)
        if isinstance(loop, Loop)
    )
    halo, mark, end = (
        HaloExchange(uid, "u", None, WHOLE, guarded=False) for uid in ("h", "m", "e")
    )
    region = DirectiveRegion("region", Directive.OMP_PARALLEL, (second, mark, third))
    tree = replace(flat, body=(halo, first, region, end))
    starts = {
        "h": 0,
        first.uid: 0,
        "region": 1,
        second.uid: 1,
        "m": 2,
        third.uid: 2,
        "e": 2,
        "?": 0,
    }
    for uid, start in starts.items():
        place = place_near(tree, uid)
        assert place is not None
        assert (uid, place.start) == (uid, start)
    assert place_near(replace(flat, body=(halo, end)), "h") is None
