"""Statements by their uids: the index agrees with a search."""

from __future__ import annotations

from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import DirectiveRegion
from psyclone_storage.ir.walk import by_uid, find, statements
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
