"""What is made of an object is kept with that object: not with an equal one, and no longer."""

from __future__ import annotations

import gc
import pickle
import weakref

import pytest

from psyclone_storage.base import memo, splices
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
    def numbered(item: Piece) -> tuple[int, ...]:
        made.append(item)
        return (id(item),)

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
    def joined(item: Piece, prefix: list[str]) -> tuple[tuple[Piece, str], ...]:
        return ((item, prefix[0]),)

    one, other = (Piece(), Piece())
    pieces = Body((one, other))
    assert joined(pieces, ["a"]) == ((one, "a"), (other, "a"))
    assert joined(pieces, ["b"]) == ((one, "b"), (other, "b"))


def test_an_item_may_occur_twice() -> None:
    a, b = Piece(), Piece()

    @memo.kept_by_item
    def numbered(item: Piece) -> tuple[int, ...]:
        return (id(item),)

    whole = Body(())
    for version in ((a, b), (a, a, b), (b, a, a), (a, b, a), (a,), (a, b, b, a)):
        assert numbered(replace(whole, body=version)) == tuple(map(id, version))


def test_results_belong_to_the_versions_of_one_object_and_go_with_them() -> None:
    made: list[Piece] = []

    @memo.kept_by_item
    def numbered(item: Piece) -> tuple[int, ...]:
        made.append(item)
        return (id(item),)

    pieces = (Piece(), Piece())
    one = Body(pieces)
    assert numbered(one) == numbered(replace(one, body=pieces)) == numbered(Body(pieces))
    assert made == [*pieces, *pieces]
    made.clear()
    copied = pickle.loads(pickle.dumps(Body((), one.versions)))
    assert numbered(replace(copied, body=pieces)) == tuple(map(id, pieces))
    assert made == [*pieces]
    reference = weakref.ref(pieces[0])
    del one, copied, pieces
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


def test_results_move_to_similar_versions_and_are_copied_for_others() -> None:
    made: list[dict[int, Piece]] = []

    @memo.kept_by_version(dict[int, Piece])
    def by_id(known: dict[int, Piece], _: Body, splice: memo.Splice[Piece]) -> dict[int, Piece]:
        for item in splice.removed:
            known.pop(id(item), None)
        known.update((id(item), item) for item in splice.added)
        made.append(known)
        return known

    pieces = tuple(Piece() for _ in range(200))
    whole = Body(pieces)
    versions = [pieces, pieces[1:], pieces, pieces[:150], pieces, pieces[:149], pieces[1:]]
    for version in versions:
        assert by_id(replace(whole, body=version)).keys() == {*map(id, version)}
    assert made[1] is made[0] is made[2]
    assert made[3] is not made[0]
    assert len({id(one) for one in made}) == 2


def test_an_update_that_fails_leaves_no_result() -> None:
    fails: list[bool] = [False]

    @memo.kept_by_version(list[Piece])
    def items(known: list[Piece], body: Body, _: memo.Splice[Piece]) -> list[Piece]:
        known.clear()
        if fails[0]:
            raise ValueError("fails")
        known.extend(body.body)
        return known

    pieces = tuple(Piece() for _ in range(30))
    whole = Body(pieces)
    assert items(whole) == [*pieces]
    fails[0] = True
    with pytest.raises(ValueError, match="fails"):
        items(replace(whole, body=pieces[1:]))
    fails[0] = False
    assert items(whole) == [*pieces]


def test_equal_results_leave_the_concatenation_as_it_is() -> None:
    @memo.kept_by_item
    def marked(item: Piece) -> tuple[Piece, ...]:
        return (item,) if item in kept else ()

    kept = {Piece() for _ in range(20)}
    others = [Piece() for _ in range(20)]
    body = [item for pair in zip(kept, others, strict=True) for item in pair]
    whole = Body(tuple(body))
    first = marked(whole)
    for at in (1, 21, 39):
        body[at] = Piece()
        assert marked(replace(whole, body=tuple(body))) is first
    del body[0]
    assert marked(replace(whole, body=tuple(body))) == first[1:]


def test_only_the_part_between_changed_results_is_concatenated_again() -> None:
    versions, pieces = memo.Versions(), tuple(Piece() for _ in range(100))
    made: splices.Joined[Piece] = splices.Joined()
    made.put(0, 0, [(item,) for item in pieces])
    before = made.whole(versions.derive)
    other = Piece()
    made.put(40, 41, [()])
    made.put(41, 43, [(other,), (pieces[42],)])
    made.put(99, 100, [(pieces[99],)])
    made.put(0, 2, [(pieces[0],), (pieces[1],)])
    after = made.whole(versions.derive)
    assert after == (*pieces[:40], other, *pieces[42:])
    assert versions._common_ends(before, after) == (40, 57)
    made.put(10, 12, [pieces[10:12]])
    assert made.whole(versions.derive) is after
    made.put(10, 11, [(other, *pieces[10:12])])
    made.put(20, 22, [pieces[21:23]])
    assert made.whole() == (*after[:10], other, *after[10:])


def test_known_common_items_are_not_compared() -> None:
    pieces, versions = tuple(Piece() for _ in range(1000)), memo.Versions()
    body, seen = pieces, [pieces]
    for at in (500, 510, 505, 498):
        later = (*body[:at], Piece(), *body[at + 1 :])
        versions.derive(body, later, at, len(body) - at - 1)
        body = later
        seen.append(body)
    for one in seen:
        for other in seen:
            if one is other:
                continue
            # Different objects show that these ends are not compared.
            start, stop = versions._common_ends(one, other)
            assert start >= 498
            assert stop >= 1000 - 511
            assert versions.splice(one, other) == splices.splice_between(one, other)
    assert versions._common_ends(pieces, tuple(pieces[1:])) == (0, 0)
