"""Own the functions of `cupy.cuda.runtime` that the runtime of storages calls.

Source: NVIDIA, "CUDA Runtime API", memory management and device management.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cupy_stand_in import machine
from cupy_stand_in.machine import CUDARuntimeError

__all__ = ["CUDARuntimeError"]

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost = 0, 1, 2  # noqa: N816
memcpyDeviceToDevice, memcpyDefault = 3, 4  # noqa: N816


class PointerAttributes(NamedTuple):
    """Be what the runtime knows of a pointer."""

    device: int
    devicePointer: int  # noqa: N815 - CUDA's word
    hostPointer: int  # noqa: N815
    type: int


def getDeviceCount() -> int:  # noqa: N802
    return len(machine.MACHINE.boards)


def getDevice() -> int:  # noqa: N802
    return machine.current_id()


def setDevice(device: int) -> None:  # noqa: N802
    machine.make_current(device)


def deviceSynchronize() -> None:  # noqa: N802
    machine.board_of(machine.current_id()).synchronize()


def streamSynchronize(stream: int) -> None:  # noqa: N802
    machine.queue_of(stream).synchronize()


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:  # noqa: ARG001, N802
    machine.copy_async(dst, src, size, machine.queue_of(stream))


def memcpyPeerAsync(*args: int) -> None:  # noqa: N802
    target, _, source, _, size, stream = args
    machine.copy_async(target, source, size, machine.queue_of(stream))


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:  # noqa: N802
    pages = machine.pages_at(ptr, size)
    machine.queue_of(stream).put(lambda: pages.fill(value), what="fill", uses=[(ptr, size, True)])


def pointerGetAttributes(ptr: int) -> PointerAttributes:  # noqa: N802
    board, host = machine.find_board(ptr), machine.find_host(ptr)
    if board is not None:
        return PointerAttributes(board.id, ptr, 0, 2)
    if host is None:
        return PointerAttributes(-2, 0, 0, 0)
    return PointerAttributes(host.device_id, ptr, ptr, 3 if host.kind == "managed" else 1)


def deviceCanAccessPeer(device: int, peer: int) -> int:  # noqa: ARG001, N802
    return 0


def getDeviceProperties(device: int) -> dict[str, Any]:  # noqa: N802
    board = machine.board_of(device)
    return {"name": b"a stand-in for a GPU", "totalGlobalMem": board.capacity}


def runtimeGetVersion() -> int:  # noqa: N802
    return 0


def driverGetVersion() -> int:  # noqa: N802
    return 0
