"""Random interrupts of storage operations: values stay intact, or a later access raises an error.

Each trial makes buffers with known values in a random state, interrupts one operation of a facade
by `KeyboardInterrupt` and then reads the values in both memories. Each buffer must have the values
from before the operation, or those after it, or raise a `StorageError`; after a write of all values
it must work again.

Interrupts are real signals of an interval timer, or exceptions that a trace function raises where
CPython handles signals. As a program:
`python tests/support/random_interrupts.py --count 1000 --seed 1`.
The device is emulated, or the stand-in for CuPy runs the code for GPUs (only with a trace: a signal
would also interrupt the stand-in).
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import psyclone_storage.storage as gt
from interrupts import LAST_PLACE, interrupts_of_a_timer, signalled, traced
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.accessors import DeviceAccessor, HostAccessor
from psyclone_storage.storage.accessors.tasks import GpuTask
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.device import Emulation, use_device
from psyclone_storage.storage.core.errors import StorageError
from psyclone_storage.storage.core.hints import Hints
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.token import AccessRequest
from psyclone_storage.storage.hmemo import Context, HArray, ReadAccess, WriteAccess, WriteOnlyAccess
from psyclone_storage.storage.memory.pending_work import UNREPORTED
from storage_devices import device_in_place

READ, RDWR, WRONLY = AccessMode.READ, AccessMode.READ_WRITE, AccessMode.WRITE_ONLY
MODES = (READ, RDWR, WRONLY)
SPACES = ("host", "gpu")
SIZE = 8
Values = tuple[float, ...]


class Trial(NamedTuple):
    """An operation, and for each of its buffers the sets of values that it may have afterwards."""

    work: Callable[[], object]
    allowed: list[tuple[CoherentBuffer, set[Values]]]


# ---------------------------------------------------------------------------- states


def plain(value: float, size: int = SIZE) -> Values:
    """Return as many equal values."""
    return (value,) * size


def put(buffer: CoherentBuffer, value: float, rng: random.Random) -> None:
    """Give a buffer values on the host, on the device or on both, written last at either."""
    place = rng.choice(SPACES)
    with buffer.acquire(place, WRONLY) as token:
        token.array[...] = value
    if rng.random() < 0.4:
        buffer.make_valid("gpu" if place == "host" else "host")


def new_buffer(rng: random.Random, **words: Any) -> CoherentBuffer:
    """Return a buffer of ones in a random state."""
    chunks = ChunkLayout((0, 3, SIZE)) if rng.random() < 0.2 else None
    hints = Hints(read_mostly=True) if rng.random() < 0.15 else Hints()
    buffer = CoherentBuffer(SIZE, "f8", BufferOptions(chunks=chunks, hints=hints, **words))
    put(buffer, 1.0, rng)
    return buffer


def values_of(buffer: CoherentBuffer, space: str) -> Values:
    """Read all values in a memory."""
    with buffer.acquire(space, READ, Policy.WAIT) as token:
        array = token.array
        found = np.array(array if space == "host" else array.get())
    return tuple(float(value) for value in found)


# ---------------------------------------------------------------------------- operations


def an_access(rng: random.Random) -> Trial:
    buffer, space, mode = new_buffer(rng), rng.choice(SPACES), rng.choice(MODES)

    def work() -> None:
        with buffer.acquire(space, mode) as token:
            if mode.writes:
                token.array[...] = 2.0

    return Trial(work, [(buffer, {plain(1.0), plain(2.0)} if mode.writes else {plain(1.0)})])


def an_access_by_hand(rng: random.Random) -> Trial:
    buffer, space, mode = new_buffer(rng), rng.choice(SPACES), rng.choice(MODES)

    def work() -> None:
        token = buffer.acquire(space, mode)
        if mode.writes:
            token.array[...] = 2.0
        token.release()

    return Trial(work, [(buffer, {plain(1.0), plain(2.0)} if mode.writes else {plain(1.0)})])


def an_access_to_a_region(rng: random.Random) -> Trial:
    buffer, space = new_buffer(rng), rng.choice(SPACES)
    first, last = sorted(rng.sample(range(SIZE + 1), 2))
    after = tuple(2.0 if first <= at < last else 1.0 for at in range(SIZE))
    mode = rng.choice((RDWR, WRONLY))

    def work() -> None:
        with buffer.acquire(space, mode, request=AccessRequest(region=(first, last))) as token:
            token.array[first:last] = 2.0

    return Trial(work, [(buffer, {plain(1.0), after})])


def a_touch(rng: random.Random) -> Trial:
    """Declare one memory new: it has the same values, or older ones."""
    buffer = new_buffer(rng)
    for space in SPACES:
        buffer.make_valid(space)
    space = rng.choice(SPACES)
    return Trial(lambda: buffer.touch(space), [(buffer, {plain(1.0)})])


def a_transfer(rng: random.Random) -> Trial:
    buffer, space = new_buffer(rng), rng.choice(SPACES)
    if rng.random() < 0.5:
        return Trial(lambda: buffer.make_valid(space), [(buffer, {plain(1.0)})])
    return Trial(lambda: buffer.prefetch(space).result(), [(buffer, {plain(1.0)})])


def a_first_value(rng: random.Random) -> Trial:
    """Use a buffer that is filled with a value when it is first used."""
    buffer = CoherentBuffer(SIZE, "f8", BufferOptions(init=1.0))
    space, mode = rng.choice(SPACES), rng.choice(MODES)

    def work() -> None:
        with buffer.acquire(space, mode) as token:
            if mode.writes:
                token.array[...] = 2.0

    return Trial(work, [(buffer, {plain(1.0), plain(2.0)} if mode.writes else {plain(1.0)})])


def a_change_of_memory(rng: random.Random) -> Trial:
    """Grow, reserve, or free a replica that others can replace."""
    buffer = CoherentBuffer(SIZE, "f8")
    put(buffer, 1.0, rng)
    kind = rng.randrange(4)
    if kind == 0:
        place = rng.choice(SPACES)
        return Trial(lambda: buffer.reserve(4 * SIZE, place), [(buffer, {plain(1.0)})])
    if kind == 1:
        buffer.make_valid("host")
        buffer.make_valid("gpu")
        place = rng.choice(SPACES)
        return Trial(lambda: buffer.drop_replica(place), [(buffer, {plain(1.0)})])
    if kind == 2:
        return Trial(lambda: buffer.resize(SIZE // 2),
                     [(buffer, {plain(1.0), plain(1.0, SIZE // 2)})])  # fmt: skip

    def purge() -> None:
        buffer.purge()

    return Trial(purge, [(buffer, {plain(1.0), ()})])


def an_assignment(rng: random.Random) -> Trial:
    a = gt.ones((SIZE,), device="gpu")
    put(a.buffer, 1.0, rng)
    if rng.random() < 0.5:
        return Trial(lambda: a.__setitem__(..., 2.0), [(a.buffer, {plain(1.0), plain(2.0)})])
    b = gt.ones((SIZE,), device="gpu")
    put(b.buffer, 3.0, rng)

    def work() -> None:
        a[...] = b

    return Trial(work, [(a.buffer, {plain(1.0), plain(3.0)}), (b.buffer, {plain(3.0)})])


def an_assignment_of_a_part(rng: random.Random) -> Trial:
    a = gt.ones((SIZE,), device="gpu")
    put(a.buffer, 1.0, rng)
    at = rng.randrange(SIZE)
    after = tuple(2.0 if n == at else 1.0 for n in range(SIZE))
    allowed = [(a.buffer, {plain(1.0), after})]
    if rng.random() < 0.5:
        return Trial(lambda: a.__setitem__(at, 2.0), allowed)
    return Trial(lambda: a[at : at + 1].__setitem__(..., 2.0), allowed)


def an_element(rng: random.Random) -> Trial:
    a = gt.ones((SIZE,), device="gpu")
    put(a.buffer, 1.0, rng)
    if rng.random() < 0.5:
        assert a[1] == 1.0
    return Trial(lambda: a[(2,)] + a[1:].to_numpy()[0], [(a.buffer, {plain(1.0)})])


def a_block(rng: random.Random) -> Trial:
    a, b = gt.ones((SIZE,), device="gpu"), gt.ones((SIZE,), device="gpu")
    device = rng.choice((None, "gpu"))
    block = gt.bound({"a": a, "b": b}, device=device, writes=("b",))
    if rng.random() < 0.5:
        with block:
            pass
    put(a.buffer, 1.0, rng)
    put(b.buffer, 1.0, rng)

    def work() -> None:
        with block as arrays:
            arrays["b"][...] = 2.0

    return Trial(work, [(a.buffer, {plain(1.0)}), (b.buffer, {plain(1.0), plain(2.0)})])


def a_side(rng: random.Random) -> Trial:
    a = gt.ones((SIZE,), device="gpu")
    put(a.buffer, 1.0, rng)
    space, mode = rng.choice((None, "gpu")), rng.choice(("r", "rw", "w"))

    def work() -> None:
        with a.access(space, mode=mode) as array:
            if mode != "r":
                array[...] = 2.0

    return Trial(work, [(a.buffer, {plain(1.0), plain(2.0)} if mode != "r" else {plain(1.0)})])


def an_array(rng: random.Random) -> Trial:
    array = HArray(SIZE, 1.0)
    buffer = array.acquire(None, READ).buffer
    put(buffer, 1.0, rng)
    kind = rng.choice((ReadAccess, WriteAccess, WriteOnlyAccess))
    context = Context.get(Context.CUDA) if rng.random() < 0.6 else Context.host()

    def work() -> None:
        with kind(array, context) as access:
            if kind is not ReadAccess:
                access.get()[...] = 2.0

    return Trial(work, [(buffer, {plain(1.0)} if kind is ReadAccess else {plain(1.0), plain(2.0)})])


def an_array_resized(rng: random.Random) -> Trial:
    array = HArray(SIZE, 1.0)
    buffer = array.acquire(None, READ).buffer
    put(buffer, 1.0, rng)
    context = Context.get(Context.CUDA) if rng.random() < 0.6 else Context.host()

    def work() -> None:
        with WriteOnlyAccess(array, context, 2 * SIZE) as access:
            access.get()[...] = 2.0

    return Trial(work, [(buffer, {plain(1.0), plain(2.0, 2 * SIZE)})])


def a_view(rng: random.Random) -> Trial:
    source = kokkos.View["double*", rng.choice((kokkos.HostSpace, kokkos.CudaSpace))]("s", SIZE)
    target = kokkos.View["double*", rng.choice((kokkos.HostSpace, kokkos.CudaSpace))]("t", SIZE)
    kokkos.deep_copy(source, 3.0)
    kokkos.deep_copy(target, 1.0)
    buffers = [view.handle.memory.buffer for view in (source, target)]
    kind = rng.randrange(3)
    if kind == 0:
        return Trial(lambda: kokkos.deep_copy(target, source),
                     [(buffers[0], {plain(3.0)}), (buffers[1], {plain(1.0), plain(3.0)})])  # fmt: skip  # noqa: E501
    if kind == 1:
        return Trial(lambda: kokkos.deep_copy(target, 2.0),
                     [(buffers[1], {plain(1.0), plain(2.0)})])  # fmt: skip

    def work() -> None:
        with target.opened() as array:
            array[...] = 2.0

    return Trial(work, [(buffers[1], {plain(1.0), plain(2.0)})])


def a_dual_view(rng: random.Random) -> Trial:
    dual = kokkos.DualView["double*", kokkos.CudaSpace]("t", SIZE)
    buffer = dual.h_view.handle.memory.buffer
    put(buffer, 1.0, rng)

    def work() -> None:
        with dual.h_view.opened() as array:
            array[...] = 2.0
        dual.modify_host()
        dual.sync_device()
        with dual.d_view.opened() as array:
            array[...] = 4.0
        dual.modify_device()
        dual.sync_host()

    return Trial(work, [(buffer, {plain(1.0), plain(2.0), plain(4.0)})])


def an_accessor(rng: random.Random) -> Trial:
    buffer, mode = new_buffer(rng), rng.choice(MODES)

    def work() -> None:
        with DeviceAccessor(buffer, "gpu", mode=mode) as accessor:
            if mode.writes:
                accessor.array[...] = 2.0

    return Trial(work, [(buffer, {plain(1.0), plain(2.0)} if mode.writes else {plain(1.0)})])


def an_accessor_by_hand(rng: random.Random) -> Trial:
    buffer, mode = new_buffer(rng), rng.choice(MODES)

    def work() -> None:
        accessor = DeviceAccessor(buffer, rng.choice(SPACES), mode=mode)
        accessor.open().result()
        if mode.writes:
            accessor.array[...] = 2.0
        accessor.close().result()

    return Trial(work, [(buffer, {plain(1.0), plain(2.0)} if mode.writes else {plain(1.0)})])


def a_task(rng: random.Random) -> Trial:
    a, b = new_buffer(rng), new_buffer(rng)

    def work() -> None:
        task = GpuTask("task")
        task.register(a, None, "RDONLY")
        task.register(b, None, "RDWR")
        task.run(lambda *_: None)

    return Trial(work, [(a, {plain(1.0)}), (b, {plain(1.0)})])


def a_use_on_the_host(rng: random.Random) -> Trial:
    buffer = CoherentBuffer(SIZE, "f8")
    put(buffer, 1.0, rng)
    accessor = HostAccessor(buffer)

    def work() -> None:
        accessor[3] = 2.0

    after = tuple(2.0 if at == 3 else 1.0 for at in range(SIZE))
    return Trial(work, [(buffer, {plain(1.0), after})])


FACES: dict[str, list[Callable[[random.Random], Trial]]] = {
    "core": [
        an_access, an_access_by_hand, an_access_to_a_region, a_touch, a_transfer, a_first_value,
        a_change_of_memory,
    ],
    "gdp": [an_assignment, an_assignment_of_a_part, an_element, a_block, a_side],
    "hmemo": [an_array, an_array_resized],
    "kokkos": [a_view, a_dual_view],
    "accessors": [an_accessor, an_accessor_by_hand, a_task, a_use_on_the_host],
}  # fmt: skip


# ---------------------------------------------------------------------------- the campaign


class Campaign:
    """Trials of all facades in turn; `wrong` describes those that lost values."""

    def __init__(
        self, seed: int, way: str, faces: tuple[str, ...] = tuple(FACES), device: str = "emulated"
    ) -> None:
        """Begin with a seed; `way` is "signal" or "trace"."""
        self.seed, self.way, self.device = seed, way, device
        self.kinds = [(face, kind) for face in faces for kind in FACES[face]]
        self.wrong: list[str] = []
        self.seen: Counter[str] = Counter()
        self._known: dict[str, float] = {}
        self.patience = 60.0

    def run(self, count: int) -> None:
        """Interrupt that many operations."""
        number = 0
        while self.seen["interrupted"] < count:
            number += 1
            rng = random.Random(f"{self.seed} {number}")
            faulthandler.dump_traceback_later(self.patience, exit=True)
            face, kind = rng.choice(self.kinds)
            if self.device == "emulated":
                order = rng.choice(("", "", "late", "eager"))
                use_device("emulated", Emulation(strict=rng.random() < 0.7, order=order))
            self._try(number, f"{face}: {kind.__name__}", kind, rng)
            UNREPORTED.clear()

    def _try(
        self, number: int, name: str, kind: Callable[[random.Random], Trial], rng: random.Random
    ) -> None:
        state = rng.getstate()
        if name not in self._known or rng.random() < 0.02:
            trial = kind(rng)
            begin = time.perf_counter()
            found = traced(trial.work, sys.maxsize)[1] if self.way == "trace" else 0
            if not found:
                trial.work()
            self._known[name] = max(self._known.get(name, 0), found or time.perf_counter() - begin)
            del trial
            rng.setstate(state)
        trial = kind(rng)
        limit = self._known[name]
        if self.way == "trace":
            came = traced(trial.work, rng.randint(1, int(limit)))[0]
        else:
            came = signalled(trial.work, max(1e-6, rng.random() * min(limit, 0.002) * 1.1))
        self.seen["interrupted" if came else "finished"] += 1
        allowed = trial.allowed
        del trial
        for buffer, values in allowed:
            for problem in self._problems(buffer, values, rng):
                place = " > ".join(LAST_PLACE) if came else "after its end"
                self.wrong.append(f"{name}, number {number}, interrupted at {place}: {problem}")

    def _problems(
        self, buffer: CoherentBuffer, allowed: set[Values], rng: random.Random
    ) -> Iterator[str]:
        spaces = rng.sample(SPACES, 2)
        if buffer.table.holders:
            # What an interrupted call held in a reference cycle ends when that is collected.
            gc.collect()
        try:
            found = [values_of(buffer, space) for space in spaces]
        except StorageError:
            self.seen["raised"] += 1
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            yield f"a read fails: {error!r}"
        else:
            self.seen["intact"] += 1
            if found[0] != found[1] or found[0] not in allowed:
                yield f"{spaces} have {found}, not {allowed}"
        try:
            with buffer.acquire(spaces[0], WRONLY, Policy.WAIT) as token:
                token.array[...] = 7.0
            found = [values_of(buffer, spaces[1]), values_of(buffer, spaces[0])]
            if found != [plain(7.0, buffer.size)] * 2:
                yield f"{spaces} have {found} after a write of 7"
        except Exception as error:  # noqa: BLE001  # pylint: disable=broad-exception-caught
            yield f"a write fails: {error!r}"
        buffer.wait()
        if buffer.table.holders or buffer.table.queue or buffer.table.writers:
            yield "an access is held or waits"


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--how", choices=("signal", "trace"), default="signal")
    parser.add_argument("--device", choices=("emulated", "stand-in"), default="emulated")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for a trial")
    parser.add_argument("--faces", nargs="*", choices=tuple(FACES), default=tuple(FACES))
    asked = parser.parse_args()
    with device_in_place(asked.device, 1), interrupts_of_a_timer():
        campaign = Campaign(asked.seed, asked.how, tuple(asked.faces), asked.device)
        campaign.patience = asked.patience
        campaign.run(asked.count)
    faulthandler.cancel_dump_traceback_later()
    print(dict(campaign.seen), f"{len(campaign.wrong)} wrong")  # noqa: T201
    kinds = Counter(line.partition(",")[0] for line in campaign.wrong)
    print(*(f"{number} {kind}" for kind, number in kinds.most_common()), sep="\n")  # noqa: T201
    print(*campaign.wrong[:20], sep="\n")  # noqa: T201
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
