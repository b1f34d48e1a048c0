"""Tests of read stencils against NumPy's indexing: selected elements and output positions."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from psyclone_storage.storage.accessors import (
    Box,
    Buffer,
    GpuTask,
    IndexMap,
    memory_space,
    read_stencil,
)
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.memory.registry import memory_of

RELAXED = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.spec("ACC-32")
def test_no_stencil_is_the_whole_buffer() -> None:
    assert read_stencil(None, (3, 4)) is None


@pytest.mark.spec("ACC-31")
@pytest.mark.parametrize("empty", [(), [], {}, slice(2, 2), (slice(0, 3), range(0)), np.array([])])
def test_stencils_without_elements_are_empty(empty: Any) -> None:
    stencil = read_stencil(empty, (3, 4))
    assert stencil is not None
    assert (stencil.size, stencil.flat().size) == (0, 0)


@pytest.mark.spec("ACC-30", "ACC-35")
@pytest.mark.parametrize(
    ("given_as", "kind", "numbers"),
    [
        (slice(1, 3), Box, [4, 5, 6, 7, 8, 9, 10, 11]),
        ((slice(1, 3), slice(1, 2)), Box, [5, 9]),
        ((range(3), range(3, 4)), Box, [3, 7, 11]),
        (slice(None, None, 2), IndexMap, [0, 1, 2, 3, 8, 9, 10, 11]),
        ([7, 2, 7], IndexMap, [2, 7]),
        ({5, 0}, IndexMap, [0, 5]),
        (np.array([11, 3]), IndexMap, [3, 11]),
        ((8, 1), IndexMap, [1, 8]),
        ([(2, 3), (0, 1)], IndexMap, [1, 11]),
        (np.array([[1, 0], [0, 2]]), IndexMap, [2, 4]),
        ({9: 0, 4: 1}, IndexMap, [9, 4]),
    ],
)
def test_the_forms_of_a_stencil(given_as: Any, kind: type, numbers: list[int]) -> None:
    stencil = read_stencil(given_as, (3, 4))
    assert isinstance(stencil, kind)
    assert stencil.flat().tolist() == numbers
    assert stencil.size == len(numbers)
    assert read_stencil(stencil, (3, 4)) is stencil


@pytest.mark.spec("ACC-35")
def test_local_indices() -> None:
    box = Box((1, 2), (3, 4), (3, 4))
    assert box.local((1, 2)) == (0, 0)
    assert box.local((2, 3)) == (1, 1)
    assert Box((2,), (5,), (8,)).local(4) == 2
    table = read_stencil([7, 2], (3, 4))
    assert table is not None
    assert (table.local(2), table.local(7), table.local((1, 3))) == (0, 1, 1)
    for stencil, outside in ((box, (0, 2)), (box, (1, 4)), (table, 3)):
        with pytest.raises(IndexError, match="outside of the read stencil"):
            stencil.local(outside)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ([12], IndexError),
        ([-1], IndexError),
        ([(3, 0)], IndexError),
        ((slice(0, 1),) * 3, IndexError),
        ({0: 0, 1: 2}, ValueError),
        ([0.5], TypeError),
    ],
)
def test_what_is_no_stencil(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_stencil(wrong, (3, 4))


@pytest.mark.parametrize("wrong", ["all", 3])
def test_what_is_no_stencil_at_all(wrong: Any) -> None:
    with pytest.raises(TypeError, match="made of slices, indices or a mapping"):
        read_stencil(wrong, (3, 4))


@st.composite
def selections(draw: Any) -> tuple[tuple[int, ...], int, Any]:
    """Return a search strategy that produces a shape, a number of chunks and a stencil."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    chunks = draw(st.integers(1, shape[0]))
    bounds = [sorted(draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape]
    numbers = st.integers(0, int(np.prod(shape)) - 1)
    stencil = draw(
        st.one_of(
            st.just(tuple(slice(a, b) for a, b in bounds)),
            st.lists(numbers, min_size=1, max_size=6),
            st.lists(numbers, min_size=1, max_size=6, unique=True).map(
                lambda found: {number: local for local, number in enumerate(found)}
            ),
        )
    )
    return shape, chunks, stencil


@pytest.mark.spec("ACC-30", "ACC-35", "ACC-4")
@RELAXED
@given(
    selection=selections(), places=st.lists(st.sampled_from(["host", "gpu", "gpu:1"]), min_size=5)
)
def test_a_patch_has_the_values_of_its_global_indices(
    device: str, selection: tuple[tuple[int, ...], int, Any], places: list[str]
) -> None:
    shape, chunks, given_as = selection
    values = np.arange(float(np.prod(shape))).reshape(shape)
    buffer = Buffer(values, chunks=chunks)
    for chunk, place in zip(range(chunks), places, strict=False):
        space = place if device == "emulated" else place.removesuffix(":1")
        buffer.prefetch(space, buffer.chunks.span(chunk)).result(60)
    buffer.stats.reset()
    stencil = read_stencil(given_as, shape)
    assert stencil is not None
    assume(stencil.size)
    task = GpuTask("look").register(buffer, given_as)
    seen: list[Any] = []
    task.run(lambda patch: seen.append((patch.array.tolist(), patch.shape, len(patch))))
    assert seen == [
        (
            values.ravel()[stencil.flat()].reshape(stencil.local_shape).tolist(),
            stencil.local_shape,
            stencil.size,
        )
    ]
    assert task.mapping(buffer) == stencil
    assert buffer.stats.nbytes <= stencil.size * 8


@pytest.mark.spec("ACC-30", "HM-76")
def test_a_patch_waits_for_a_chunk_on_its_way_and_copies_its_part_of_others() -> None:
    use_device("emulated", Emulation(latency=0.01))
    buffer = Buffer(np.arange(8.0), chunks=2)
    stream = memory_of(memory_space("gpu")).stream
    assert stream is not None
    bus_is_free = threading.Event()
    stream.submit(bus_is_free.wait, 10)
    arriving = buffer.prefetch("gpu", (0, 4))
    task = GpuTask("look").register(buffer, slice(2, 6)).setup("gpu")
    ready = task.prepare()
    assert not arriving.done()
    assert not ready.done()
    bus_is_free.set()
    ready.result(60)
    assert arriving.done()
    seen: list[Any] = []
    task.execute(lambda patch: seen.extend(np.array(patch.array).tolist()))
    task.finalize().result(60)
    assert seen == [2.0, 3.0, 4.0, 5.0]
    assert (buffer.stats.count, buffer.stats.nbytes) == (2, 4 * 8 + 2 * 8)


@pytest.mark.parametrize("index", [(1,), (1, 1, 1), ()])
def test_an_index_has_a_number_for_each_dimension_of_a_box(index: tuple[int, ...]) -> None:
    box = Box((1, 1), (3, 3), (4, 4))
    assert box.local((1, 2)) == (0, 1)
    with pytest.raises(ValueError, match="argument"):
        box.local(index)


@pytest.mark.spec("ACC-35")
def test_a_patch_gives_the_position_of_a_global_index() -> None:
    buffer = Buffer(np.arange(12.0))
    task = GpuTask("look").register(buffer, {9: 1, 4: 0})

    def look(patch: Any) -> list[Any]:
        return [(patch.local(number), float(patch[number])) for number in (4, 9)]

    assert task.run(look) == [(0, 4.0), (1, 9.0)]
