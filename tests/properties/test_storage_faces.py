"""Random sequences of uses of one buffer through all its faces, against a model of it.

After each step the values that a face gave are those of the model, no face disagrees with it about
who is current, and not one transfer was made that the model could do without. The environment
variable `PSYCLONE_STORAGE_THOROUGH` sets the number of sequences for a long run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from properties.storage_faces import FACES, FAILURES, LEFT_BEHIND, PLACES, KernelError
from properties.storage_machine import SIZE, UseOneBuffer, begin_elsewhere, do_elsewhere
from psyclone_storage.storage import RDWR, WRONLY, as_storage
from psyclone_storage.storage.accessors import (
    AccessConflictError,
    AccessMode,
    Buffer,
    DeviceAccessor,
    GpuTask,
)
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import AllocationInUseError, StorageError
from psyclone_storage.storage.core.locks import Policy
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.hmemo import HArray, WriteAccess, WriteOnlyAccess
from storage_threads import PATIENCE, wait_for_queue

SEQUENCES = int(os.environ.get("PSYCLONE_STORAGE_THOROUGH", "100"))
STEPS = 50

places = st.sampled_from(PLACES)
devices = st.sampled_from(PLACES[1:3])
all_uses = [(name, place) for name, face in FACES.items() for place in face.places]
uses = st.sampled_from(all_uses)
whole_uses = st.sampled_from([use for use in all_uses if FACES[use[0]].overwrites])
failures = st.sampled_from([(way, place) for way, places in FAILURES.items() for place in places])
ends = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE))


class OneBuffer(UseOneBuffer):
    """Use one buffer at random, in all the ways there are."""

    # -- one face at a time ----------------------------------------------------------------------

    @rule(use=uses, threaded=st.booleans())
    def read(self, use: tuple[str, str], threaded: bool) -> None:
        name, place = use
        error = self.refusal_of_read()
        found = self.attempt(error, threaded, self.face(name).read, place)
        if error is None:
            self.model.need(place)
            assert self.model.agrees(found)

    @rule(use=uses, ends=ends, threaded=st.booleans())
    def update(self, use: tuple[str, str], ends: tuple[int, int], threaded: bool) -> None:
        name, place = use
        region, values = self.region(ends), self.new_values()
        face = self.face(name)
        whole = face.notices and len(values[region]) == self.model.size
        by_chunk = face.by_chunk and len(self.model.chunks) > 1
        needed = self.model.chunks_cut_by(region) if by_chunk else None
        error = self.refusal_of_write(face.policy, place, reads=not (whole or by_chunk))
        self.attempt(error, threaded, face.update, place, region, values[region])
        if error is None:
            self.note_update(place, region, values, whole=whole, needed=needed)

    @rule(use=uses, threaded=st.booleans())
    def overwrite(self, use: tuple[str, str], threaded: bool) -> None:
        name, place = use
        face, values = self.face(name), self.new_values()
        error = self.refusal_of_write(face.policy, place, reads=not face.overwrites)
        self.attempt(error, threaded, face.overwrite, place, values)
        if error is None:
            self.note_update(place, slice(0, self.model.size), values, whole=face.overwrites)

    @rule()
    def synchronize_the_storage(self) -> None:
        """Bring the side that is behind up to date, or both where each is in part (GDP-117)."""
        self.buffer.wait()  # What is on its way does not count as being there yet.
        host = self.model.is_complete(("host", "uvm"))
        device = self.model.is_complete(PLACES[1:])
        mixed = any(self.model.places) and not host and not device
        error = self.refusal_of_read() if host != device or mixed else None
        storage = as_storage(self.buffer, device="gpu", managed="gt4py")
        self.attempt(error, False, storage.synchronize)
        if error is None and (device > host or mixed):
            self.model.need("host")
        if error is None and (host > device or mixed):
            self.model.need("gpu")

    # -- parts of the buffer ---------------------------------------------------------------------

    @rule(place=places, ends=ends)
    def read_a_region(self, place: str, ends: tuple[int, int]) -> None:
        region = self.region(ends)
        request = AccessRequest(region=(region.start, region.stop))
        if self.refusal_of_read():
            return
        accessor = DeviceAccessor(self.buffer, place, const=True, request=request)
        with accessor:
            self.model.need(place, self.model.chunks_in(region))
            assert self.model.agrees(np.array(accessor.kernel_array[region]), region)

    @rule(place=places, ends=ends, mode=st.sampled_from([AccessMode.RDWR, AccessMode.WRONLY]))
    def write_a_region(self, place: str, ends: tuple[int, int], mode: AccessMode) -> None:
        """Write a region: what is promised to be overwritten is needed only where it is cut."""
        region, values = self.region(ends), self.new_values()
        request = AccessRequest(region=(region.start, region.stop))
        accessor = DeviceAccessor(self.buffer, place, mode=mode, request=request)
        error = self.refusal_of_write(Policy.WAIT, place, reads=mode.reads)
        if error is not None:
            with pytest.raises(error):
                accessor.__enter__()
            return
        with accessor:
            accessor.kernel_array[region] = values[region]
        chunks = self.model.chunks_in if mode.reads else self.model.chunks_cut_by
        self.model.need(place, chunks(region))
        self.model.write(place, region, values[region])

    @rule(place=devices, ends=ends, arriving=st.booleans())
    def read_a_stencil(self, place: str, ends: tuple[int, int], arriving: bool) -> None:
        """Give a kernel a part: only that is moved, or nothing if all of it is `arriving`."""
        region, error = self.region(ends), self.refusal_of_read()
        if arriving and error is None:
            self.buffer.prefetch(place)
            self.model.need(place, background=True)
        task = GpuTask("reads").register(self.buffer, (region,)).setup(place)
        found = self.attempt(error, False, task.run, lambda patch: np.array(patch.array))
        if error is None:
            self.model.peek(place, region)
            assert self.model.agrees(found, region)

    @rule(place=places, chunk=st.none() | st.integers(0, 2), wait=st.booleans())
    def prefetch(self, place: str, chunk: int | None, wait: bool) -> None:
        """Start a transfer; whether it has ended is nobody's business in the steps to come."""
        if chunk is None:
            chunks, start = list(self.model.chunks), HArray.over(self.buffer).prefetch(place)
        else:
            chunks = [chunk % len(self.model.chunks)]
            span = self.model.span(chunks[0])
            start = self.buffer.prefetch(place, (span.start, span.stop))
        error = self.refusal_of_read()
        if error is not None:
            assert isinstance(start.exception(PATIENCE), error)
            return
        self.model.need(place, chunks, background=True)
        if wait:
            start.result(PATIENCE)

    # -- several at a time -----------------------------------------------------------------------

    @precondition(lambda self: self.held is None and not self.model.poisoned)
    @rule(place=places)
    def begin_to_hold(self, place: str) -> None:
        self.held, self.held_at = DeviceAccessor(self.buffer, place, const=True), place
        self.held.open().result(PATIENCE)
        self.model.need(place)

    @precondition(lambda self: self.held is not None)
    @rule()
    def let_go(self) -> None:
        assert self.held is not None
        self.held.close().result(PATIENCE)
        self.held = None

    @precondition(lambda self: not self.model.poisoned)
    @rule(first=uses, second=uses)
    def read_in_two_threads(self, first: tuple[str, str], second: tuple[str, str]) -> None:
        both = [(self.face(name), place) for name, place in (first, second)]
        started = [begin_elsewhere(face.read, place) for face, place in both]
        found = [future.result(PATIENCE) for future in started]
        for _, place in both:
            self.model.need(place, background=True)
        assert all(map(self.model.agrees, found))

    @precondition(lambda self: self.held is None and not self.model.poisoned)
    @rule(first=places, second=places)
    def update_in_two_threads(self, first: str, second: str) -> None:
        """Add on two sides at once: nothing is lost, whoever comes first."""

        def add(place: str, amount: int) -> None:
            with DeviceAccessor(self.buffer, place) as accessor:
                accessor.kernel_array[...] += amount

        pairs = ((first, 100), (second, 1000))
        for future in [begin_elsewhere(add, place, amount) for place, amount in pairs]:
            future.result(PATIENCE)
        last = self.buffer.point_of_truth()[0]
        order = (second, first) if self.tag_of(first) == last.tag else (first, second)
        for place in order:
            self.model.need(place)
            self.model.claim(place)
        self.model.values += sum(amount for _, amount in pairs)

    @precondition(lambda self: self.held is None and not self.model.poisoned)
    @rule(writer=places, reader=uses)
    def read_while_another_writes(self, writer: str, reader: tuple[str, str]) -> None:
        """Let a reader wait for a writer: it gets the new values, and they are moved once."""
        name, place = reader
        values, face = self.new_values(), self.face(name)
        accessor = DeviceAccessor(self.buffer, writer)
        accessor.open().result(PATIENCE)
        self.model.need(writer)
        self.model.write(writer, slice(0, self.model.size), values)
        if face.policy is Policy.RAISE:
            with pytest.raises(AccessConflictError):
                do_elsewhere(face.read, place)
            accessor.kernel_array[...] = values
            accessor.close().result(PATIENCE)
            return
        reading = begin_elsewhere(face.read, place)
        wait_for_queue(self.buffer)
        accessor.kernel_array[...] = values
        accessor.close().result(PATIENCE)
        found = reading.result(PATIENCE)
        self.model.need(place)
        assert self.model.agrees(found)

    # -- failures --------------------------------------------------------------------------------

    @precondition(lambda self: self.held is None)
    @rule(failure=failures)
    def fail(self, failure: tuple[Callable[[Buffer, str], None], str]) -> None:
        """Fail in the middle of a write: nobody reads what is left, unless they insist."""
        way, place = failure
        error = self.refusal_of_read()
        self.attempt(error or KernelError, False, way, self.buffer, place)
        if error is None:
            self.model.need(place)
            left = np.full(self.model.size, LEFT_BEHIND)
            self.model.write(place, slice(0, self.model.size), left)
            self.model.poisoned = True

    @precondition(lambda self: self.held is None)
    @rule(place=places, mode=st.sampled_from([AccessMode.READ_WRITE, AccessMode.WRITE_ONLY]))
    def drop_an_open_accessor(self, place: str, mode: AccessMode) -> None:
        """Lose an open accessor: what it had given up has no values, what it had not stays."""
        if mode.reads and self.model.poisoned:
            return
        accessor = DeviceAccessor(self.buffer, place, mode=mode)
        accessor.open().result(PATIENCE)
        with pytest.warns(ResourceWarning):
            del accessor
        self.note_no_write(place, mode)

    @precondition(lambda self: self.held is None)
    @rule(place=places, other=places, mode=st.sampled_from([RDWR, WRONLY]))
    def refuse_an_access_amid_another(self, place: str, other: str, mode: AccessMode) -> None:
        """End a writing block by a refusal: it is as if the block had written nothing."""
        if (mode.reads and self.model.poisoned) or self.tag_of(place) == self.tag_of(other):
            return
        with pytest.raises(AccessConflictError), self.buffer.acquire(place, mode):
            self.buffer.acquire(other, AccessMode.READ)
        self.note_no_write(place, mode)

    @precondition(lambda self: self.model.poisoned and self.held is None)
    @rule(use=whole_uses)
    def recover(self, use: tuple[str, str]) -> None:
        """Write everything anew, which ends a failure."""
        self.overwrite(use, False)
        assert self.buffer.poisoned is None

    @precondition(lambda self: self.model.poisoned)
    @rule(place=places)
    def read_what_failed(self, place: str) -> None:
        request = AccessRequest(ignore_failed=True)
        with self.buffer.acquire(place, AccessMode.READ, Policy.RAISE, request) as access:
            self.model.need(place)
            assert self.model.agrees(np.array(access.kernel_array))

    # -- memory ----------------------------------------------------------------------------------

    @precondition(lambda self: len(self.model.chunks) == 1 and self.held is None)
    @rule(
        size=st.integers(1, 2 * SIZE), place=places, how=st.sampled_from(["array", "write", "all"])
    )
    def resize(self, size: int, place: str, how: str) -> None:
        """Change the size: what fits keeps its value, and nothing is moved but to be written."""
        self.drop_faces()
        array = HArray.over(self.buffer)
        match how:
            case "array":
                array.resize(size)
                self.model.resize(size)
            case "write" if not self.model.poisoned:
                with WriteAccess(array, place) as access:
                    access.resize(size)
                self.model.need(place)
                self.model.claim(place)
                self.model.resize(size)
            case _:
                with WriteOnlyAccess(array, place, size) as access:
                    self.model.resize(size)
                    values = self.new_values()
                    access.kernel_array[...] = values
                self.model.write(place, slice(0, size), values)
                self.model.poisoned = False

    @precondition(lambda self: len(self.model.chunks) == 1)
    @rule(face=st.sampled_from(sorted(FACES)))
    def resize_what_is_in_use(self, face: str) -> None:
        """Ask for more room than there is, while somebody looks at the memory: nothing happens."""
        if self.model.places[0] == set():
            return
        room = max(self.buffer.capacity(place) for place in PLACES) // self.buffer.itemsize
        with self.buffer.pin():
            assert self.buffer.exports > 0
            with pytest.raises(AccessConflictError if self.held else AllocationInUseError):
                HArray.over(self.buffer).resize(room + 1)
        assert self.buffer.size == self.model.size
        self.face(face)

    @precondition(lambda self: len(self.model.chunks) == 1 and self.held is None)
    @rule(size=st.integers(1, SIZE))
    def purge(self, size: int) -> None:
        self.drop_faces()
        HArray.over(self.buffer).purge()
        self.buffer.resize(size)
        self.model.forget_all((0, size))

    @precondition(lambda self: self.held is None)
    @rule(place=places)
    def free_a_replica(self, place: str) -> None:
        """Free the memory at one place, unless the only values are in it."""
        self.drop_faces()
        if {place} in self.model.places:
            with pytest.raises(StorageError):
                self.buffer.drop_replica(place)
            return
        self.buffer.drop_replica(place)
        for valid in self.model.places:
            valid.discard(place)


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    use_device("emulated", Emulation(latency=1e-4))
    yield
    use_device("auto")


def test_all_faces_of_a_buffer_agree_with_the_model() -> None:
    run_state_machine_as_test(
        OneBuffer,
        settings=settings(
            max_examples=SEQUENCES,
            stateful_step_count=STEPS,
            suppress_health_check=list(HealthCheck),
        ),
    )
