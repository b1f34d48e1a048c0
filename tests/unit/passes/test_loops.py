"""Rewrites of nests do the same to the loops of a schedule and to those of a subroutine."""

from __future__ import annotations

from typing import Any

import pytest

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Name, whole
from psyclone_storage.ir.nests import Nest, inner_loop, statements_of
from psyclone_storage.ir.schedule import Extent, Loop, Over, Reach
from psyclone_storage.ir.unit import Assign, Comment, Do
from psyclone_storage.passes.nests import fuse, strip_mine, swap, tile, tile_inner

LEAF = Assign(Name("a"), whole(1))
Names = list[Any]


def loop(uid: str, *body: Any) -> Loop:
    return Loop(uid, Over.ROWS, Extent(Reach.ALL), 0, body)


def do(uid: str, *body: Any) -> Do:
    return Do(Name(uid), whole(1), whole(9), body, uid=uid)


def strips(one: Any) -> tuple[Any, Any]:
    """Split either kind of loop: the loop over strips is the new one."""
    return replace(one, uid=f"strips of {one.uid}", body=()), one


def names(nest: Nest) -> Names:
    """Return the uids of a nest from the outside to the inside, then what is in it."""
    inner = [item for item in nest.body if isinstance(item, Loop | Do)]
    return [nest.uid, *(names(inner[0]) if len(inner) == 1 else nest.body)]


KINDS = pytest.mark.parametrize("made", [loop, do])


@KINDS
def test_swapping_twice_is_the_identity(made: Any) -> None:
    nest = made("outer", made("inner", LEAF))
    assert names(swap(nest)) == ["inner", "outer", LEAF]
    assert swap(swap(nest)) == nest


@KINDS
def test_strips_and_tiles_keep_the_order_of_the_loops(made: Any) -> None:
    nest = made("outer", made("inner", LEAF))
    assert names(strip_mine(nest, strips)) == ["strips of outer", "outer", "inner", LEAF]
    tiles = ["strips of outer", "strips of inner", "outer", "inner", LEAF]
    assert names(tile(nest, strips)) == tiles
    assert names(tile_inner(nest, strips)) == ["strips of inner", "outer", "inner", LEAF]


@KINDS
def test_fusing_keeps_the_order_of_the_statements(made: Any) -> None:
    other = Assign(Name("b"), whole(2))
    assert fuse(made("first", LEAF), made("second", other)) == made("first", LEAF, other)


@KINDS
def test_a_loop_beside_another_statement_is_no_nest(made: Any) -> None:
    for body in ((), (LEAF,), (made("inner", LEAF), LEAF), (made("a", LEAF), made("b", LEAF))):
        outer = made("outer", *body)
        assert inner_loop(outer) is None
        for rewrite in (swap, lambda one: tile(one, strips), lambda one: tile_inner(one, strips)):
            with pytest.raises(InternalError, match="outer"):
                rewrite(outer)


def test_loops_of_two_kinds_are_no_nest() -> None:
    assert inner_loop(loop("outer", do("inner", LEAF))) is None
    assert inner_loop(do("outer", loop("inner", LEAF))) is None


def test_comments_are_not_statements() -> None:
    nest = do("outer", Comment("why"), do("inner", LEAF))
    assert names(swap(nest))[:2] == ["inner", "outer"]
    assert [item.uid for item in statements_of(nest)] == ["inner"]
