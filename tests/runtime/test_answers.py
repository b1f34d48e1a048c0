"""Answers of ranks are put together as they are, and only if each dof comes from one rank."""

from __future__ import annotations

import numpy as np
import pytest

from runtime.answers import NAME, Answers, differing, invalid, merge_answers


def record(name: str, size: int, ids: list[int], values: list[float]) -> bytes:
    """Return what a rank writes for a field, or for a scalar, whose size is -1."""
    numbers = np.array([size, len(values), *ids], np.int64)
    return name.ljust(NAME).encode() + numbers.tobytes() + np.array(values).tobytes()


def merged(*ranks: bytes) -> Answers:
    return merge_answers(ranks)


def test_values_of_ranks_are_in_the_order_of_their_ids() -> None:
    answers = merged(
        record("a/f", 3, [2, 0], [2.0, 0.5]) + record("a/s", -1, [], [7.0]),
        record("a/f", 3, [1], [1.0]) + record("a/s", -1, [], [7.0]),
    )
    assert {name: values.tolist() for name, values in answers.items()} == {
        "a/f": [0.5, 1.0, 2.0],
        "a/s": 7.0,
    }


@pytest.mark.parametrize(
    ("ranks", "problem"),
    [
        ([record("f", 2, [0, 1], [1.0, 1.0]), record("f", 2, [1], [1.0])], "two ranks own"),
        ([record("f", 2, [0], [1.0]), record("f", 2, [], [])], "owned by no rank"),
        ([record("f", 1, [1], [1.0])], "owned by no rank"),
        ([record("s", -1, [], [1.0]), record("s", -1, [], [2.0])], "ranks differ"),
        ([record("f", 1, [0], [1.0]), record("f", 2, [1], [1.0])], "f"),
        ([b"", b""], "there is no answer"),
        ([record("f", 1, [0], [1.0]), b""], "not all ranks report: .'f'"),
        (
            [record("f", 1, [0], [1.0]) + record("s", -1, [], [1.0]), record("f", 1, [], [])],
            "not all ranks report: .'s'",
        ),
    ],
)
def test_answers_that_do_not_fit_are_refused(ranks: list[bytes], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        merge_answers(ranks)


def test_a_bit_is_a_difference_but_in_what_is_no_number() -> None:
    payload = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    one = merged(record("a", 2, [0, 1], [0.0, 1.0]) + record("b", 1, [0], [np.nan]))
    other = merged(record("a", 2, [0, 1], [-0.0, 1.0]) + record("b", 1, [0], [payload]))
    assert differing(one, other) == ["a"]
    assert differing(one, one) == []
    assert invalid(one) == ["b"]
    with pytest.raises(AssertionError):
        differing(one, merged(record("a", 1, [0], [0.0]) + record("b", 1, [0], [0.0])))
