"""Messages of what a device has: in its memory where MPI takes that, else by way of the host."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.runtime import messages as runtime_messages
from psyclone_storage.runtime.messages import PackedMessages
from psyclone_storage.runtime.native import address_of
from psyclone_storage.runtime.ranks import SingleRank
from psyclone_storage.storage.core.errors import AccessConflictError
from psyclone_storage.storage.interop import mpi
from storage_devices import device_in_place


class Neighbour(SingleRank):
    """Another rank that gives back what it is sent; `noted` is what happens, in order."""

    def __init__(self) -> None:
        self.noted: list[Any] = []
        self.passed: list[int] = []
        self._messages: tuple[Any, Any] = (None, None)

    def prepare(self, received: Any, sent: Any) -> Any:
        """Note where messages are."""
        ((_, (target,), _),), ((_, (source,), _),) = received, sent
        self.passed += [address_of(target), address_of(source)]
        self._messages = target, source
        self.noted.append("prepare")
        return self

    def start(self) -> None:
        """Read what is sent now: what the device has not done yet is not in it."""
        self.noted.append("start")

    def finish(self) -> None:
        """Write what is received."""
        target, source = self._messages
        if isinstance(source, np.ndarray):
            target[...] = source
        else:
            target.set(source.get())
        self.noted.append("finish")


@pytest.mark.parametrize("takes_devices", ["0", "1"])
def test_messages_are_where_mpi_takes_them(
    takes_devices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mpi.VARIABLE, takes_devices)
    ranks = Neighbour()
    with device_in_place("stand-in"):
        sent, received = (gt.zeros((4,), device="gpu") for _ in range(2))
        wait = mpi.wait_for_device
        monkeypatch.setattr(
            runtime_messages,
            "wait_for_device",
            lambda array: (wait(array), ranks.noted.append("waited")),
        )
        messages = PackedMessages(ranks, [(1, received)], [(1, sent)], "gpu")
        for number in (1.0, 2.0):
            with sent.access("gpu", gt.WRONLY) as array:
                array[...] = number
            before = sent.buffer.stats.count, received.buffer.stats.count
            ranks.noted.clear()
            messages.start()
            prepared = ["prepare"] if number == 1.0 else []
            assert ranks.noted == ["waited"] * int(takes_devices) + prepared + ["start"]
            other_side = None if takes_devices == "1" else "gpu"
            with pytest.raises(AccessConflictError), received.access(other_side, gt.RDONLY):
                pass
            messages.finish()
            moved = sent.buffer.stats.count - before[0], received.buffer.stats.count - before[1]
            assert moved == ((0, 0) if takes_devices == "1" else (1, 0))
            assert received.is_current("gpu") is (takes_devices == "1")
            assert (received.data_ro == number).all()
        assert len(ranks.passed) == 2
        on_device = [address_of(one.to_cupy()) for one in (received, sent)]
        assert (ranks.passed == on_device) is (takes_devices == "1")


def test_a_device_is_waited_for_and_no_host() -> None:
    waited: list[bool] = []
    device = SimpleNamespace(synchronize=lambda: waited.append(True))
    for array in (np.zeros(3), SimpleNamespace(device=device)):
        mpi.wait_for_device(array)
    assert waited == [True]
