"""Differences between versions of a tuple, and what follows them."""

from __future__ import annotations

import random

from psyclone_storage.base.splices import Joined, Positions, splice_between


class Piece:
    """An item that is equal to itself only."""


def test_a_splice_has_what_differs() -> None:
    a, b, c, d = (Piece() for _ in range(4))
    splice = splice_between((a, b, c), (a, d, b, c))
    assert splice == (((1, 1, (d,)),), (), (d,))
    splice = splice_between((a, b, c), (b, d, c))
    assert (splice.removed, splice.added) == ((a,), (d,))
    assert splice_between((a, a), (a,)).size == 1
    assert splice_between((), ()) == ((), (), ())


def test_items_between_two_changes_are_in_no_splice() -> None:
    pieces = tuple(Piece() for _ in range(100))
    one, other = Piece(), Piece()
    later = (*pieces[:10], one, *pieces[11:90], other, *pieces[90:])
    splice = splice_between(pieces, later)
    assert splice.changes == ((10, 11, (one,)), (90, 90, (other,)))
    assert (splice.removed, splice.added) == ((pieces[10],), (one, other))


def test_a_change_may_be_longer_than_those_searched_for_first() -> None:
    pieces = tuple(Piece() for _ in range(100))
    one, other = Piece(), Piece()
    splice = splice_between(pieces, (*pieces[:10], one, *pieces[60:99], other))
    assert splice.changes == ((10, 60, (one,)), (99, 100, (other,)))


def test_a_splice_has_moved_items_twice_and_makes_the_later_version() -> None:
    chosen = random.Random(7)
    for _ in range(500):
        earlier = tuple(Piece() for _ in range(chosen.randrange(40)))
        later = list(earlier)
        for _ in range(chosen.randrange(6)):
            at = chosen.randrange(len(later) + 1)
            kind = chosen.choice(("add", "remove", "move", "cut"))
            if kind == "add":
                later.insert(at, Piece())
            elif kind == "remove":
                del later[at : at + 1]
            elif kind == "cut":
                del later[at : at + 25]
            elif later:
                later.insert(at, later.pop(chosen.randrange(len(later))))
        splice = splice_between(earlier, tuple(later))
        made: Joined[Piece] = Joined()
        made.put(0, 0, [(item,) for item in earlier])
        before = made.whole()
        made.update(splice, lambda item: (item,))
        assert before == earlier
        assert made.whole() == tuple(later)
        stay = [item for item in earlier if item not in splice.removed]
        assert stay == [item for item in later if item not in splice.added]
        # An item that only one version has is in one list; a moved one is in both.
        assert set(splice.removed) - set(splice.added) == set(earlier) - set(later)
        assert set(splice.added) - set(splice.removed) == set(later) - set(earlier)


def test_positions_follow_all_changes() -> None:
    chosen = random.Random(11)
    body = tuple(Piece() for _ in range(5))
    positions = Positions()
    positions.update(splice_between((), body))
    for number in range(3000):
        later = list(body)
        # Insertions at one place use up the labels there.
        at = 2 if number < 500 else chosen.randrange(len(later) + 1)
        if number < 500 or chosen.random() < 0.5:
            later[at:at] = [Piece() for _ in range(chosen.randrange(1, 4))]
        elif later:
            later.insert(at, later.pop(chosen.randrange(len(later))))
            del later[chosen.randrange(len(later)) :][:2]
        positions.update(splice_between(body, tuple(later)))
        body = tuple(later)
        assert all(positions.of(item, body) == at for at, item in enumerate(body[:9]))
    assert [positions.of(item, body) for item in body] == [*range(len(body))]
