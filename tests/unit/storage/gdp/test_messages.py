"""Tests that errors name the storage, its size and an alternative."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.errors import AccessReleasedError, MemoryExhaustedError

KINDS = [{}, {"device": "gpu"}, {"device": "gpu", "managed": None}]


@pytest.mark.spec("GDP-2")
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("keywords", KINDS, ids=str)
@pytest.mark.parametrize(
    ("operation", "named"),
    [
        (lambda s: s + 1, "add"),
        (lambda s: 2.0 * s, "mul"),
        (lambda s: -s, "neg"),
        (lambda s: np.ones(3) - s, "subtract"),
        (lambda s: operator.iadd(s, 1), "iadd"),
        (lambda s: s < 1.0, "lt"),
        (np.sum, "sum"),
        (np.sqrt, "sqrt"),
        (lambda s: np.concatenate([s, s]), "concatenate"),
        (lambda s: np.where(s, 1, 2), "where"),
    ],
)
def test_arithmetic_says_with_what_to_compute(keywords: Any, operation: Any, named: str) -> None:
    storage = gt.ones((3,), label="theta", **keywords)
    said = rf'"theta" of shape \(3,\).*{named}.*data_ro.*access'
    with pytest.raises(TypeError, match=said):
        operation(storage)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("keywords", [*KINDS, {"device": "gpu", "managed": "cuda"}], ids=str)
@pytest.mark.parametrize("extent", [1 << 45, 1 << 62, 1 << 70])
def test_a_size_that_is_too_large(keywords: Any, extent: int) -> None:
    with pytest.raises(MemoryExhaustedError, match=r'"theta".* B.*smaller'):
        gt.zeros((extent,), label="theta", **keywords).to_ndarray()
    with pytest.raises(MemoryError, match=r"^A (storage|buffer without a label) "):
        gt.empty((extent,), **keywords)[...] = 1.0


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("space", ["host", "gpu"])
@pytest.mark.parametrize("size", [1 << 45, 1 << 62, 1 << 70])
def test_a_buffer_that_is_too_large(space: str, size: int) -> None:
    with pytest.raises(MemoryExhaustedError, match=r'"theta" needs .* B at node:0'):
        CoherentBuffer(size, options=BufferOptions("theta")).acquire(space)
    buffer = CoherentBuffer(8)
    with pytest.raises(MemoryExhaustedError, match="without a label needs"):
        buffer.reserve(size, space)
    with buffer.acquire():
        assert buffer.size == 8


@pytest.mark.parametrize("dtype", [">f8", ">i2"])
def test_another_byte_order(dtype: str) -> None:
    values = np.arange(3).astype(dtype)
    with pytest.raises(TypeError, match=rf'"theta".*{dtype}.*newbyteorder\("="\)'):
        gt.storage(values, label="theta")
    made = gt.storage(values.astype(values.dtype.newbyteorder("=")), label="theta")
    assert [made[index] for index in range(3)] == [0, 1, 2]


def test_what_has_no_label_is_not_called_by_an_empty_one() -> None:
    token = CoherentBuffer(3).acquire()
    token.release()
    with pytest.raises(AccessReleasedError, match="an unlabelled buffer"):
        token.release()
