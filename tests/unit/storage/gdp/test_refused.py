"""What an assignment refuses, it refuses before it gives anything up (seed 1, __setitem__)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.hmemo import Context, LArray
from psyclone_storage.storage.kokkos import View

REFUSED = [
    (..., 1 << 40, OverflowError),
    (..., "many", ValueError),
    (..., None, TypeError),
    (..., [1, "2x", 3], ValueError),
    (..., [1, 2], ValueError),
    (slice(1, 3), [1, 2, 3], ValueError),
    (0, [1, 2], ValueError),
    (0, 1 << 40, OverflowError),
    (7, 1, IndexError),
    ([0, 9], 1, IndexError),
    ([0, 1], [1, 2, 3], ValueError),
    ((0, 0), 1, IndexError),
]


@pytest.fixture(params=[{}, {"managed": None}, {"managed": "cuda"}], ids=str)
def fresh(request: pytest.FixtureRequest, device: str) -> gt.Storage:  # noqa: ARG001
    """Return a storage whose newest values are on the device."""
    made = gt.zeros((3,), "i4", device="gpu", **request.param)
    with made.access("gpu", gt.RDWR) as array:
        array[...] = 5
    return made


@pytest.mark.spec("GDP-106", "GDP-125")
@pytest.mark.parametrize(("key", "value", "error"), REFUSED, ids=str)
def test_a_refused_assignment_leaves_the_newer_values(
    fresh: gt.Storage, key: Any, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        fresh[key] = value
    assert fresh.buffer.poisoned is None
    assert [fresh[index] for index in range(3)] == [5, 5, 5]


def test_what_numpy_takes_is_taken(fresh: gt.Storage) -> None:
    fresh[...] = 1.9
    fresh[0] = 7
    fresh[1:] = [True, 2.5]
    fresh[[2]] = np.int64(9)
    assert [fresh[index] for index in range(3)] == [7, 1, 9]


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("bad", ["many", None, 1 << 40], ids=str)
def test_other_faces_refuse_before_they_write(bad: Any) -> None:
    array = LArray(3, Context.getContextPtr(Context.CUDA, 0), 5, dtype="i4")
    with pytest.raises((OverflowError, TypeError, ValueError)):
        array[1] = bad
    assert [int(array[index]) for index in range(3)] == [5, 5, 5]
    view = View["int*"]("v", 3)
    view[0] = 5
    with pytest.raises((OverflowError, TypeError, ValueError)):
        view[0] = bad
    assert view[0] == 5
