"""The state of a random test of one buffer: what it keeps, what it compares after each step."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from properties.storage_faces import FACES, PLACES, Face
from properties.storage_model import Model
from psyclone_storage.storage.accessors import (
    AccessConflictError,
    AccessDeadlockError,
    AccessMode,
    Buffer,
    DeviceAccessor,
    Future,
    HostAccessor,
    PoisonedDataError,
    memory_space,
)
from psyclone_storage.storage.core.locks import Policy
from psyclone_storage.storage.hmemo import HArray
from storage_threads import PATIENCE, wait_until

SIZE = 7
"""The elements of a new buffer."""


class UseOneBuffer(RuleBasedStateMachine):
    """Keep a buffer and its model, and compare them; whoever adds rules says what happens.

    `held` is a read access that this thread keeps over many steps.
    """

    buffer: Buffer
    model: Model

    def __init__(self) -> None:
        super().__init__()
        self.faces: dict[str, Face] = {}
        self.held: DeviceAccessor | None = None
        self.held_at = ""
        self.written = 0

    @initialize(chunks=st.integers(1, 3), init=st.sampled_from([None, 5]))
    def begin(self, chunks: int, init: int | None) -> None:
        self.buffer = Buffer(SIZE, "i8", label="field", chunks=chunks, init=init)
        self.model = Model(self.buffer.chunks.bounds, init)

    # -- what always holds -----------------------------------------------------------------------

    @invariant()
    def nothing_is_moved_in_vain(self) -> None:
        if not hasattr(self, "buffer"):
            return
        stats, most, least = self.buffer.stats, self.model.most, self.model.least
        settled = not self.buffer.replicas.busy
        assert stats.count <= most.count
        assert stats.nbytes <= most.nbytes
        if settled:
            assert least.count <= stats.count
            assert least.nbytes <= stats.nbytes
            self.model.settle(stats.count, stats.nbytes)
            self.check_places()

    def check_places(self) -> None:
        """Compare with the model who is current, as each of the faces says it."""
        model, array = self.model, HArray.over(self.buffer)
        for chunk, valid in enumerate(model.places):
            span = model.span(chunk)
            region = span.start, span.stop
            assert {p for p in PLACES if self.buffer.is_valid(p, region)} == valid
            assert self.buffer.is_initialised(region) == bool(valid)
        for place in PLACES:
            assert array.isValid(place) == model.has(place)
        assert (self.buffer.poisoned is not None) == model.poisoned

    def teardown(self) -> None:
        if not hasattr(self, "buffer"):
            return
        if self.held is not None:
            self.held.close().result(PATIENCE)
        self.buffer.wait()
        self.nothing_is_moved_in_vain()
        assert not self.buffer.table.holders
        assert not self.buffer.table.queue
        if not self.model.poisoned:
            assert self.model.agrees(np.array(HostAccessor(self.buffer, const=True)))

    # -- helpers ---------------------------------------------------------------------------------

    def face(self, name: str) -> Face:
        """Return the face of this name; it lives on, so that what it keeps can get stale."""
        if name not in self.faces:
            self.faces[name] = FACES[name](self.buffer)
        return self.faces[name]

    def drop_faces(self) -> None:
        """Forget all faces, which let the memory move again."""
        self.faces.clear()
        if self.buffer.exports:
            gc.collect()  # What failed lives on in its traceback.
        wait_until(lambda: not self.buffer.exports)

    def region(self, ends: tuple[int, int]) -> slice:
        """Return a region with at least one element."""
        first, last = sorted(end % self.model.size for end in ends)
        return slice(first, last + 1)

    def new_values(self) -> Any:
        """Return values for all elements, that are nowhere else."""
        self.written += 1
        return np.arange(self.model.size) + 10_000 * self.written

    def tag_of(self, place: str) -> str:
        """Return the full tag of a place."""
        return self.buffer.replicas.at(memory_space(place)).space.tag

    def refusal_of_read(self) -> type[Exception] | None:
        """Return the error that reading must raise now."""
        return PoisonedDataError if self.model.poisoned else None

    def refusal_of_write(
        self, policy: Policy, place: str, *, reads: bool
    ) -> type[Exception] | None:
        """Return the error that writing must raise while this thread holds a read access."""
        if self.held is None or (place == self.held_at and policy is not Policy.WAIT):
            return self.refusal_of_read() if reads else None
        return AccessDeadlockError if policy is Policy.WAIT else AccessConflictError

    def note_update(
        self,
        place: str,
        region: slice,
        values: Any,
        *,
        whole: bool,
        needed: list[int] | None = None,
    ) -> None:
        """Tell the model of a write through a face; one of the `whole` needs nothing.

        One that goes by chunks needs those that are `needed`, and leaves the others alone.
        """
        if whole:
            self.model.poisoned = False
        elif needed is not None:
            self.model.need(place, needed)
        else:
            self.model.need(place)
            self.model.claim(place)
        self.model.write(place, region, values[region])

    def note_no_write(self, place: str, mode: AccessMode) -> None:
        """Tell the model of an access to everything in which nobody wrote."""
        if mode.reads:
            self.model.need(place)
        else:
            self.model.known[:] = False
            self.model.poisoned = True
        self.model.claim(place)

    def attempt(
        self, error: type[Exception] | None, threaded: bool, work: Callable[..., Any], *args: Any
    ) -> Any:
        """Do the work, in another thread if it need not wait for this one, and check its error."""
        call: Callable[..., Any] = do_here if self.held or not threaded else do_elsewhere
        if error is None:
            return call(work, *args)
        with pytest.raises(error):
            call(work, *args)
        return None


def do_here(work: Callable[..., Any], *args: Any) -> Any:
    """Do the work in this thread."""
    return work(*args)


def do_elsewhere(work: Callable[..., Any], *args: Any) -> Any:
    """Do the work in another thread and wait for it."""
    return begin_elsewhere(work, *args).result(PATIENCE)


def begin_elsewhere(work: Callable[..., Any], *args: Any) -> Future[Any]:
    """Do the work in a new thread, which is not missed if it never comes back."""
    future: Future[Any] = Future()

    def serve() -> None:
        try:
            result = work(*args)
        except BaseException as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=serve, daemon=True).start()
    return future
