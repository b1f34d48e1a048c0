"""What is made of an object is kept with that object: not with an equal one, and no longer."""

from __future__ import annotations

import gc
import pickle
import random
import weakref
from collections.abc import Iterator

from psyclone_storage.base import memo
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, field, replace


@dataclass(frozen=True)
class Text:
    """Letters, and a remark that takes no part in comparing."""

    letters: str
    remark: str = field(default="", compare=False)


ASKED: list[str] = []


@kept_with_first
def said(text: Text, times: int) -> list[str]:
    """Return what is asked for anew each time."""
    ASKED.append(text.letters)
    return [f"{text.letters} {text.remark}"] * times


@kept_with_first
def length(text: Text) -> int:
    """Return a number for the object alone."""
    return len(text.letters)


def test_an_object_is_asked_once_for_the_same_arguments() -> None:
    text, before = Text("a"), len(ASKED)
    assert said(text, 2) is said(text, 2)
    assert said(text, 1) == ["a "]
    assert (length(text), length(text), len(ASKED) - before) == (1, 1, 2)


def test_what_is_kept_is_no_part_of_the_object_and_not_that_of_an_equal_one() -> None:
    text, other = Text("a", "one"), Text("a", "other")
    assert said(text, 1) == ["a one"]
    assert text == other
    assert (hash(text), repr(text)) == (hash(Text("a")), repr(Text("a", "one")))
    assert said(other, 1) == ["a other"]
    assert said(replace(text, letters="b"), 1) == ["b one"]


def test_what_is_kept_goes_with_the_object() -> None:
    text = Text("gone")
    said(text, 1)
    reference = weakref.ref(text)
    del text
    gc.collect()
    assert reference() is None


class Piece:
    """An item that equals no other."""


@dataclass(frozen=True)
class Body:
    """A version of a tuple of pieces."""

    body: tuple[Piece, ...]
    versions: memo.Versions = field(default_factory=memo.Versions, compare=False, repr=False)


def test_only_items_that_are_new_are_made() -> None:
    made: list[Piece] = []

    @memo.kept_by_item
    def numbered(item: Piece) -> int:
        made.append(item)
        return id(item)

    pieces = tuple(Piece() for _ in range(40))
    other = Piece()
    versions = [
        pieces,
        (*pieces[:20], other, *pieces[20:]),
        (other, *pieces[:20], *pieces[21:]),
        (*pieces[1:], pieces[0]),
        pieces[::-1],
        (),
        pieces,
    ]
    whole = Body(())
    for version in versions:
        assert numbered(replace(whole, body=version)) == tuple(map(id, version))
    assert made[:41] == [*pieces, other]


def test_versions_of_other_arguments_take_no_part() -> None:
    @memo.kept_by_item
    def joined(item: Piece, prefix: list[str]) -> tuple[Piece, str]:
        return item, prefix[0]

    one, other = (Piece(), Piece())
    pieces = Body((one, other))
    assert joined(pieces, ["a"]) == ((one, "a"), (other, "a"))
    assert joined(pieces, ["b"]) == ((one, "b"), (other, "b"))


def test_a_splice_has_what_differs() -> None:
    a, b, c, d = (Piece() for _ in range(4))
    splice = memo.splice_between((a, b, c), (a, d, b, c))
    assert splice == (((1, 1, (d,)),), (), (d,))
    splice = memo.splice_between((a, b, c), (b, d, c))
    assert (splice.removed, splice.added) == ((a,), (d,))
    assert memo.splice_between((a, a), (a,)).size == 1
    assert memo.splice_between((), ()) == ((), (), ())


def test_items_between_two_changes_are_in_no_splice() -> None:
    pieces = tuple(Piece() for _ in range(100))
    one, other = Piece(), Piece()
    later = (*pieces[:10], one, *pieces[11:90], other, *pieces[90:])
    splice = memo.splice_between(pieces, later)
    assert splice.changes == ((10, 11, (one,)), (90, 90, (other,)))
    assert (splice.removed, splice.added) == ((pieces[10],), (one, other))
    assert splice.replaced(tuple(range(100))) == (10,)


def test_a_change_may_be_longer_than_those_searched_for_first() -> None:
    pieces = tuple(Piece() for _ in range(100))
    one, other = Piece(), Piece()
    splice = memo.splice_between(pieces, (*pieces[:10], one, *pieces[60:99], other))
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
        splice = memo.splice_between(earlier, tuple(later))
        assert splice.updated(earlier, lambda item: item) == tuple(later)
        stay = [item for item in earlier if item not in splice.removed]
        assert stay == [item for item in later if item not in splice.added]
        # An item that only one version has is in one list; a moved one is in both.
        assert set(splice.removed) - set(splice.added) == set(earlier) - set(later)
        assert set(splice.added) - set(splice.removed) == set(later) - set(earlier)


def test_an_item_may_occur_twice() -> None:
    a, b = Piece(), Piece()

    @memo.kept_by_item
    def numbered(item: Piece) -> int:
        return id(item)

    whole = Body(())
    for version in ((a, b), (a, a, b), (b, a, a), (a, b, a), (a,), (a, b, b, a)):
        assert numbered(replace(whole, body=version)) == tuple(map(id, version))


def test_results_belong_to_the_versions_of_one_object_and_go_with_them() -> None:
    made: list[Piece] = []

    @memo.kept_by_item
    def numbered(item: Piece) -> int:
        made.append(item)
        return id(item)

    pieces = (Piece(), Piece())
    one = Body(pieces)
    assert numbered(one) == numbered(replace(one, body=pieces)) == numbered(Body(pieces))
    assert made == [*pieces, *pieces]
    copied = pickle.loads(pickle.dumps(Body((), one.versions)))
    assert not copied.versions.results(numbered.__wrapped__)  # type: ignore[attr-defined]
    reference = weakref.ref(pieces[0])
    del one, pieces
    made.clear()
    gc.collect()
    assert reference() is None


def test_versions_compare_two_tuples_once() -> None:
    pieces, versions = tuple(Piece() for _ in range(40)), memo.Versions()
    splice = versions.splice(pieces[:30], pieces)
    assert splice.added == pieces[30:]
    for size in range(12):
        short, long = pieces[:size], (*pieces[:size], pieces[20])
        assert versions.splice(short, long).added == (pieces[20],)
        assert versions.splice(short, long) is versions.splice(short, long)


def noted_version(
    chosen: random.Random, versions: memo.Versions, earlier: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """Return a version with random changes, which `versions` knows."""
    cuts = sorted(chosen.randrange(len(earlier) + 1) for _ in range(2 * chosen.randrange(1, 4)))
    changes = tuple(
        memo.SplicedRange(start, stop, tuple(Piece() for _ in range(chosen.randrange(3))))
        for start, stop in zip(cuts[::2], cuts[1::2], strict=True)
    )
    later = memo.with_changes(earlier, changes)
    versions.note(earlier, later, changes)
    return later


def test_noted_changes_are_combined() -> None:
    chosen = random.Random(11)
    for _ in range(300):
        earlier = tuple(Piece() for _ in range(chosen.randrange(30)))
        versions, chain = memo.Versions(), [earlier]
        for _ in range(chosen.randrange(1, 6)):
            chain.append(noted_version(chosen, versions, chain[-1]))
        later = chain[-1]
        for ancestor in chain:
            splice = versions.splice(ancestor, later)
            assert splice.updated(ancestor, lambda item: item) == later
            assert set(ancestor) - set(later) <= set(splice.removed)
            assert set(later) - set(ancestor) <= set(splice.added)
            assert splice.removed == splice.replaced(ancestor)


def test_results_of_all_items_are_joined() -> None:
    asked: list[Piece] = []

    @memo.kept_in_sequence
    def several(item: Piece, kept: dict[Piece, tuple[int, ...]]) -> tuple[int, ...]:
        asked.append(item)
        return kept[item]

    @memo.found_by_item
    def few(item: Piece, kept: dict[Piece, tuple[int, ...]]) -> tuple[int, ...]:
        return kept[item]

    chosen = random.Random(5)
    pool = [Piece() for _ in range(30)]
    kept = {piece: tuple(range(max(0, at - 20))) for at, piece in enumerate(pool)}
    whole, body = Body(()), ()
    for _ in range(300):
        at = chosen.randrange(len(body) + 1)
        body = (*body[:at], chosen.choice(pool), *body[at + chosen.randrange(3) :])
        body = body[chosen.randrange(2) :] if len(body) > 25 else body
        tree = replace(whole, body=body)
        expected = tuple(number for piece in body for number in kept[piece])
        assert several(tree, kept) == few(tree, kept) == expected
    assert len(asked) < 1500


def test_the_time_for_a_noted_change_does_not_depend_on_the_size() -> None:
    class Counted(tuple[Piece, ...]):
        """A tuple that counts the visits of its items."""

        __slots__ = ()

        def __iter__(self) -> Iterator[Piece]:
            visited.append(len(self))
            return super().__iter__()

    visited: list[int] = []
    versions = memo.Versions()
    earlier = Counted(Piece() for _ in range(1000))
    later = Counted((*earlier[:500], Piece(), *earlier[501:]))
    visited.clear()
    versions.note(earlier, later, (memo.SplicedRange(500, 501, later[500:501]),))
    splice = versions.splice(earlier, later)
    assert (splice.removed, splice.added) == ((earlier[500],), (later[500],))
    assert not visited
    memo.splice_between(earlier, later)
    assert visited
