"""Random operations of all facades leave no memory behind.

`PSYCLONE_STORAGE_RUNS=10000` extends the test to 10^6 operations on each kind of device.
"""

from __future__ import annotations

import contextlib
import gc
import random
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import psyclone_storage.storage as gt
from psyclone_storage.storage import kokkos
from psyclone_storage.storage.accessors import Buffer, DeviceAccessor, HostAccessor
from psyclone_storage.storage.core.context import ContextKind
from psyclone_storage.storage.core.errors import PoisonedDataError
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.hmemo import Context, HArray, ReadAccess, WriteAccess, WriteOnlyAccess
from psyclone_storage.storage.memory.pending_work import UNREPORTED
from storage_devices import device_in_place
from storage_threads import RUNS

OPERATIONS = 100
"""The operations of one run."""
SIZE = 64
READ, RDWR = AccessMode.READ, AccessMode.READ_WRITE
SPACES = (None, "gpu")
Operation = Callable[[random.Random], object]


@pytest.fixture(params=["emulated", "stand-in"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    with device_in_place(request.param):
        yield request.param


class Objects:
    """Objects of all facades that live long, and operations on them."""

    def __init__(self) -> None:
        self.fields = {name: gt.zeros((8, 8), device="gpu", label=name) for name in "abc"}
        self.block = gt.bound(self.fields, device="gpu", writes=("c",))
        self.array = HArray(SIZE, np.float64)
        with WriteOnlyAccess(self.array, Context.getContextPtr(), SIZE) as found:
            found[...] = 0.0
        self.shared = Buffer(np.zeros(SIZE))
        self.view = kokkos.View["double*"]("view", SIZE)
        self.mirror = kokkos.create_mirror_view(kokkos.HostSpace, self.view)
        self.context = Context.getContextPtr(ContextKind.CUDA)

    def operations(self) -> tuple[Operation, ...]:
        return (
            self.access, self.bind, self.bind_again, self.slice, self.fail, self.prefetch,
            self.create, self.harray, self.accessor, self.copy_view, self.touch, self.move,
        )  # fmt: skip

    def field(self, chance: random.Random) -> Any:
        return self.fields[chance.choice("abc")]

    def access(self, chance: random.Random) -> None:
        with self.field(chance).access(chance.choice(SPACES), chance.choice((READ, RDWR))):
            pass

    def bind(self, chance: random.Random) -> None:
        with gt.bound(self.fields, device=chance.choice(SPACES), writes=(chance.choice("abc"),)):
            pass

    def bind_again(self, _: random.Random) -> None:
        with self.block:
            pass

    def slice(self, chance: random.Random) -> None:
        field = self.field(chance)
        field[chance.randrange(8), 1:] = float(chance.randrange(9))
        assert field[1:3, ::2].shape == (2, 4)

    def fail(self, chance: random.Random) -> None:
        field = self.field(chance)
        with pytest.raises(ZeroDivisionError), field.access(chance.choice(SPACES), RDWR):
            raise ZeroDivisionError
        with contextlib.suppress(PoisonedDataError):
            field.buffer.acquire("gpu").release()
            raise AssertionError
        field[...] = 0.0

    def prefetch(self, chance: random.Random) -> None:
        self.field(chance).buffer.prefetch(chance.choice(("host", "gpu", "gpu:1"))).result()

    def create(self, chance: random.Random) -> None:
        made = gt.full((4, 4), 1.0, device="gpu")
        made.buffer.make_valid(chance.choice(("host", "gpu")))

    def harray(self, chance: random.Random) -> None:
        kind, context = chance.choice((ReadAccess, WriteAccess)), chance.choice((None, "gpu"))
        where = Context.getContextPtr() if context is None else self.context
        with kind(self.array, where):
            pass

    def accessor(self, chance: random.Random) -> None:
        const = chance.random() < 0.5
        with DeviceAccessor(self.shared, const=const):
            pass
        assert HostAccessor(self.shared, const)[0] == 0.0

    def copy_view(self, chance: random.Random) -> None:
        kokkos.deep_copy(self.view, float(chance.randrange(9)))
        kokkos.deep_copy(self.mirror, self.view)

    def touch(self, chance: random.Random) -> None:
        self.field(chance).set_host_modified()

    def move(self, chance: random.Random) -> None:
        field = self.field(chance)
        field.set_host_modified()
        field.host_to_device()
        field.set_device_modified()
        field.device_to_host()


def run(objects: Objects, count: int, chance: random.Random) -> None:
    operations = objects.operations()
    for _ in range(count):
        chance.choice(operations)(chance)


def test_random_operations_leave_nothing_behind(kind: str) -> None:
    objects, chance = Objects(), random.Random(kind)
    run(objects, 2000, chance)
    gc.collect()
    before = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(objects, max(2000, OPERATIONS * RUNS), chance)
    gc.collect()
    after = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Up to a thousand weak references to destroyed buffers may still exist.
    assert after[0] - before[0] < 2500
    assert after[1] - before[1] < 3000
    assert not UNREPORTED.take()
