"""Random sequences of accesses against a model that is too simple to be wrong."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from psyclone_storage.storage.buffer import Buffer, BufferOptions
from psyclone_storage.storage.chunks import row_blocks
from psyclone_storage.storage.locks import AccessMode, Policy
from psyclone_storage.storage.token import Request

SPACES = ["host", "gpu", "gpu:1", "uvm"]
CHUNKS, WIDTH = 3, 4

steps = st.lists(
    st.tuples(
        st.sampled_from(["read", "update", "overwrite", "prefetch", "open"]),
        st.sampled_from(SPACES),
        st.integers(0, CHUNKS - 1),
        st.integers(1, CHUNKS),
    ),
    max_size=25,
)


class Model:
    """Keep one value per chunk, and the set of places that have it."""

    def __init__(self) -> None:
        self.values = [7] * CHUNKS
        self.places: list[set[str]] = [set() for _ in range(CHUNKS)]
        self.transfers = 0

    def need(self, space: str, chunks: range) -> None:
        for chunk in chunks:
            if self.places[chunk] and space not in self.places[chunk]:
                self.transfers += 1
            self.places[chunk].add(space)

    def write(self, space: str, chunks: range, value: int) -> None:
        for chunk in chunks:
            self.values[chunk] = value
            self.places[chunk] = {space}


@given(steps)
@settings(max_examples=150, deadline=None)
def test_values_are_right_and_no_transfer_is_wasted(
    program: list[tuple[str, str, int, int]],
) -> None:
    options = BufferOptions(init=7, chunks=row_blocks(CHUNKS, WIDTH, CHUNKS))
    buffer, model = Buffer(CHUNKS * WIDTH, "i8", options), Model()
    for value, (verb, space, first, count) in enumerate(program):
        chunks = range(first, min(first + count, CHUNKS))
        request = Request(region=(chunks.start * WIDTH, chunks.stop * WIDTH))
        window = slice(*request.region)
        expected = [model.values[chunk] for chunk in chunks for _ in range(WIDTH)]
        if verb != "overwrite":
            model.need(space, chunks)
        match verb:
            case "prefetch":
                buffer.prefetch(space, request.region)
            case "read":
                with buffer.acquire(space, AccessMode.READ, Policy.RAISE, request) as access:
                    assert access.kernel_array[window].tolist() == expected
            case "open":
                token = buffer.open(space, AccessMode.READ, request).result(5)
                assert token.kernel_array[window].tolist() == expected
                buffer.close(token).result(5)
            case "update" | "overwrite":
                mode = AccessMode.READ_WRITE if verb == "update" else AccessMode.WRITE_ONLY
                with buffer.acquire(space, mode, Policy.WAIT, request) as access:
                    if verb == "update":
                        assert access.kernel_array[window].tolist() == expected
                    access.kernel_array[window] = value
                model.write(space, chunks, value)
    buffer.wait()
    # A prefetch may set the initial value on two sides at once, which spares a transfer.
    assert buffer.stats.count <= model.transfers
    if not any(verb == "prefetch" for verb, *_ in program):
        assert buffer.stats.count == model.transfers
    for chunk in range(CHUNKS):
        region = (chunk * WIDTH, (chunk + 1) * WIDTH)
        assert {s for s in SPACES if buffer.is_valid(s, region)} == model.places[chunk]
