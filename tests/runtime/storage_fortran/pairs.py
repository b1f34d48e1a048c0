"""A storage in Fortran and a buffer in Python that are used alike, and what they must agree on.

After each use, what was refused and why, where the values are current, which transfers there were,
how many writes, and the values themselves must agree. The halo, which only Fortran has, is compared
with a list of flags.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from hypothesis import strategies as st

from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.device import use_device
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    ConstBufferError,
    StorageError,
)
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.core.stats import Direction
from psyclone_storage.storage.core.token import AccessRequest, AccessToken
from psyclone_storage.storage.interop.fortran import (
    FortranLibrary,
    FortranOptions,
    FortranStorage,
    HaloDepthError,
)
from psyclone_storage.storage.memory.base import host_pages
from psyclone_storage.storage.memory.queues import DeviceQueue
from psyclone_storage.storage.memory.registry import memory_of

HALO_DEPTH = 3
SPACES = ("host", "gpu")
READ, WRITE, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
Operation = tuple[Any, ...]


class Memory(Enum):
    """Whose memory it is."""

    OWN = "own"
    HOST_GIVEN = "host given"
    BOTH_GIVEN = "both given"
    READ_ONLY = "read-only"


@dataclass(frozen=True)
class World:
    """What a sequence of uses is made of."""

    size: int
    dtype: str
    memory: Memory

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The first values of memory that is given."""
        return np.arange(1, self.size + 1, dtype=self.dtype)


def bytes_at(address: int, count: int) -> np.ndarray[Any, Any]:
    return np.frombuffer((ctypes.c_ubyte * count).from_address(address), np.uint8)


def wait_for_device() -> None:
    """Wait for all that the emulated device has to do."""
    memory = memory_of(memory_space("gpu"))
    memory.stream.run(lambda: None)
    for queue in tuple(memory.jobs):
        if isinstance(queue, DeviceQueue):
            queue.finish()


@dataclass
class InPython:
    """A buffer, used by the words that the storage in Fortran has.

    With one memory for both sides, every space is the host. An exchange is an access of somebody
    else: it lets others read, and writes when it ends.
    """

    buffer: CoherentBuffer
    is_shared: bool
    accesses: dict[str, list[AccessToken]] = field(default_factory=lambda: {"host": [], "gpu": []})
    exchange: tuple[AccessToken, int] | None = None
    dirty: list[bool] = field(default_factory=lambda: [True] * HALO_DEPTH)

    def home(self, space: str) -> str:
        return "host" if self.is_shared else space

    def acquire(self, space: str, mode: AccessMode) -> None:
        home = self.home(space)
        self.accesses[home].append(self.buffer.acquire(home, mode, Policy.RAISE))
        if mode.writes:
            self.set_dirty()

    def release(self, space: str) -> None:
        if not self.accesses[self.home(space)]:
            raise AccessReleasedError
        self.accesses[self.home(space)].pop().release()

    def get(self, space: str, mode: AccessMode) -> None:
        self.buffer.acquire(self.home(space), mode, Policy.RAISE).release()
        if mode.writes:
            self.set_dirty()

    def touch(self, space: str) -> None:
        if self.exchange is None:
            self.buffer.touch(self.home(space))
        else:
            self.buffer.acquire(self.home(space), WRITE, Policy.RAISE).release()
        self.set_dirty()

    def begin_exchange(self, depth: int, space: str) -> None:
        self._check(depth)
        if self.exchange is not None:
            raise AccessConflictError
        if self.buffer.const:
            raise ConstBufferError
        self.exchange = self._other_access(self.home(space), READ), depth

    def end_exchange(self) -> None:
        if self.exchange is None:
            raise AccessReleasedError
        token, depth = self.exchange
        self._other_access(token.space.tag, READ_WRITE).release()
        token.release()
        self.exchange = None
        self.set_clean(depth)

    def leave_device(self) -> None:
        self.buffer.drop_replica("gpu")

    def set_dirty(self) -> None:
        self.dirty = [True] * HALO_DEPTH

    def set_clean(self, depth: int) -> None:
        self._check(depth)
        self.dirty[:depth] = [False] * depth

    def is_valid(self, space: str) -> bool:
        return self.buffer.is_valid(self.home(space))

    def memory(self, space: str) -> np.ndarray[Any, Any] | None:
        """Return the bytes of a replica, after all that its device has queued."""
        replica = self.buffer.replicas.find(memory_space(self.home(space)))
        if replica is None or replica.allocation is None:
            return None
        if not self.is_shared:
            wait_for_device()
        return host_pages(replica.allocation)[: self.buffer.nbytes]

    def _other_access(self, space: str, mode: AccessMode) -> AccessToken:
        return self.buffer.acquire(space, mode, Policy.RAISE, AccessRequest(owner="exchange"))

    @staticmethod
    def _check(depth: int) -> None:
        if not 1 <= depth <= HALO_DEPTH:
            raise HaloDepthError


def made_in_python(world: World, is_shared: bool) -> InPython:
    options = BufferOptions(label="twin", const=world.memory is Memory.READ_ONLY)
    buffer = CoherentBuffer(world.size, world.dtype, options)
    if world.memory is not Memory.OWN:
        allocation, _ = memory_of(memory_space("host")).adopt(world.values)
        buffer.adopt(allocation)
    if world.memory is Memory.BOTH_GIVEN and not is_shared:
        memory = memory_of(memory_space("gpu"))
        given = memory.new_array(np.dtype(world.dtype), (world.size,))
        given[...] = 0
        allocation, _ = memory.adopt(given)
        buffer.adopt(allocation, valid=False)
    return InPython(buffer, is_shared)


def made_in_fortran(world: World, library: FortranLibrary) -> FortranStorage:
    options = FortranOptions("twin", HALO_DEPTH, world.memory is Memory.READ_ONLY)
    if world.memory is Memory.OWN:
        return library.create((world.size,), world.dtype, options)
    storage = library.wrap(world.values, options)
    if world.memory is Memory.BOTH_GIVEN and library.device != "none":
        device = np.zeros(world.size, world.dtype)
        storage.attach_device(device.__array_interface__["data"][0])
        storage.owner = (storage.owner, device)
    return storage


def code_of(use: Callable[[], None]) -> str:
    """Return the code of the error that `use` raises, an empty text if it raises none."""
    try:
        use()
    except StorageError as error:
        return error.code
    return ""


@dataclass
class Pair:
    """The two, and what they must agree on."""

    python: InPython
    fortran: FortranStorage
    written: int = 0

    def do(self, operation: Operation) -> None:
        name, *arguments = operation
        if name == "write":
            self.write(*arguments)
            return
        written = self.written_by(name, arguments)
        codes = [
            code_of(lambda side=side: getattr(side, name)(*arguments))  # type: ignore[misc]
            for side in (self.python, self.fortran)
        ]
        assert codes[0] == codes[1], operation
        if written and not codes[0]:
            self.overwrite(written)

    def written_by(self, name: str, arguments: list[Any]) -> str:
        """Return where an operation leaves new values; an empty text if nowhere."""
        match name, arguments:
            case "touch", [space]:
                return space
            case "acquire" | "get", [space, mode] if mode.writes:
                return space
            case "end_exchange", [] if self.python.exchange is not None:
                return "host" if self.python.exchange[0].space.host_accessible else "gpu"
        return ""

    def write(self, space: str) -> None:
        """Write other values on both, if there is access for it."""
        held = self.python.accesses[self.python.home(space)]
        if held and held[-1].mode.writes:
            self.overwrite(space)

    def overwrite(self, space: str) -> None:
        """Write other values on both."""
        memory = self.python.memory(space)
        assert memory is not None
        self.written += 1
        dtype = self.python.buffer.dtype
        values = np.arange(self.python.buffer.size, dtype=dtype) + self.written * 100
        memory[...] = values.view(np.uint8)
        if memory.size:
            bytes_at(self.fortran.address(space), memory.size)[...] = memory

    def compare(self) -> None:
        buffer, fortran = self.python.buffer, self.fortran
        to_device = buffer.stats.of(Direction.HOST_TO_DEVICE)
        to_host = buffer.stats.of(Direction.DEVICE_TO_HOST)
        done = fortran.statistics
        assert (done.to_device, done.to_device_bytes) == (to_device.count, to_device.nbytes)
        assert (done.to_host, done.to_host_bytes) == (to_host.count, to_host.nbytes)
        assert fortran.version == buffer.version
        assert [fortran.is_dirty(depth + 1) for depth in range(HALO_DEPTH)] == self.python.dirty
        for space in SPACES:
            assert fortran.is_valid(space) == self.python.is_valid(space)
            self._compare_values(space)

    def _compare_values(self, space: str) -> None:
        """Compare values that are current, and what an emulated device holds where they are not."""
        memory = self.python.memory(space)
        if memory is None or not memory.size:
            return
        emulated = space == "gpu" and self.fortran.library.device == "emulated"
        if self.python.is_valid(space) or emulated:
            assert np.array_equal(bytes_at(self.fortran.address(space), memory.size), memory)


worlds = st.builds(
    World,
    size=st.sampled_from((0, 1, 3, 8, 17)),
    dtype=st.sampled_from(("f4", "f8", "i4", "i8")),
    memory=st.sampled_from(Memory),
)
spaces = st.sampled_from(SPACES)
modes = st.sampled_from((READ, WRITE, READ_WRITE))
operations = st.one_of(
    st.tuples(st.just("acquire"), spaces, modes),
    st.tuples(st.just("release"), spaces),
    st.tuples(st.just("get"), spaces, modes),
    st.tuples(st.just("write"), spaces),
    st.tuples(st.just("touch"), spaces),
    st.tuples(st.just("begin_exchange"), st.integers(0, HALO_DEPTH + 1), spaces),
    st.tuples(st.just("end_exchange")),
    st.tuples(st.just("set_clean"), st.integers(0, HALO_DEPTH + 1)),
    st.tuples(st.just("set_dirty")),
    st.tuples(st.just("leave_device")),
)


@st.composite
def uses(draw: st.DrawFn) -> tuple[Operation, ...]:
    """Draw uses of which many go well: an access or an exchange, one thing within, and its end."""
    found: list[Operation] = []
    for _ in range(draw(st.integers(1, 10))):
        space, within = draw(spaces), draw(operations)
        match draw(st.sampled_from(("access", "exchange", "alone"))):
            case "access":
                found += [("acquire", space, draw(modes)), within, ("release", space)]
            case "exchange":
                depth = draw(st.integers(1, HALO_DEPTH))
                found += [("begin_exchange", depth, space), within, ("end_exchange",)]
            case _:
                found.append(within)
    return tuple(found)


def check_agreement(library: FortranLibrary, world: World, sequence: Iterable[Operation]) -> None:
    """Make a sequence of uses of both; fail where they do not agree."""
    use_device("emulated")
    python = made_in_python(world, is_shared=library.device == "none")
    pair = Pair(python, made_in_fortran(world, library))
    try:
        pair.compare()
        for operation in sequence:
            pair.do(operation)
            pair.compare()
    finally:
        pair.fortran.abandon()
        pair.fortran.close()
