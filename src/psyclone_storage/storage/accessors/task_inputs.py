"""The inputs of a task: acquire each one, pass it to the kernel, release it.

If a task writes a buffer, all registrations of that buffer share one access, because a task cannot
wait for itself. Each read-only registration is a separate access: to the whole buffer, or to the
patch of a read stencil.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.storage.accessors.accessor_buffer import shape_of
from psyclone_storage.storage.accessors.region_copy import bytes_to_move, gather, sources_of
from psyclone_storage.storage.accessors.stencil import Stencil
from psyclone_storage.storage.core.allocation import WindowSpec
from psyclone_storage.storage.core.buffer import CoherentBuffer
from psyclone_storage.storage.core.locks import AccessMode, Policy
from psyclone_storage.storage.core.spaces import MemorySpace, SpaceKind
from psyclone_storage.storage.core.token import AccessRequest, AccessToken
from psyclone_storage.storage.memory.registry import memory_of


@dataclass(frozen=True, slots=True)
class Registration:
    """One input: the registered facade, its buffer and shape, stencil and mode.

    If `stencil` is absent (None), the whole buffer is read.
    """

    face: Any
    buffer: CoherentBuffer
    shape: tuple[int, ...]
    stencil: Stencil | None
    mode: AccessMode

    def cost_at(self, space: MemorySpace) -> int:
        """Return the number of bytes to transfer if the task runs in `space`."""
        leaves = self.mode.writes and self.buffer.hints.preferred
        away = self.buffer.nbytes if leaves and space not in self.buffer.hints.preferred else 0
        if not self.mode.reads:
            return away
        if self.stencil is not None:
            return away + bytes_to_move(self.buffer, self.stencil, space)
        chunks = self.buffer.chunks
        spans = [chunks.span(chunk) for chunk in range(chunks.count)]
        stale = [
            span
            for span in spans
            if self.buffer.is_initialised(span) and not self.buffer.is_valid(space, span)
        ]
        return away + sum(b - a for a, b in stale) * self.buffer.itemsize


@dataclass(frozen=True, slots=True)
class InputPlace:
    """The memory space of an input, and the space in which its kernel runs."""

    space: MemorySpace
    executing: MemorySpace

    @property
    def reachable(self) -> bool:
        """Return whether the executing host or device can access memory in the input's space."""
        if self.space is self.executing:
            return True
        if self.space.kind is SpaceKind.DEVICE:
            return False
        on_device = self.executing.kind is SpaceKind.DEVICE
        return self.space.device_accessible if on_device else self.space.host_accessible


class Input(Protocol):
    """The methods of an input that a task needs."""

    def ask(self, request: AccessRequest) -> Sequence[AccessToken]:
        """Return the access tokens that the input needs, not yet acquired."""

    def argument(self, registration: Registration) -> Any:
        """Return the kernel argument for one of the registrations of this input."""


class WholeInput:
    """The whole buffer, in a space that the executing device can access."""

    def __init__(self, registration: Registration, mode: AccessMode, place: InputPlace) -> None:
        """Use the buffer of `registration`; `mode` may include the modes of other registrations."""
        self._buffer = registration.buffer
        self._mode = mode
        self._place = place
        self._token: AccessToken | None = None

    def ask(self, request: AccessRequest) -> Sequence[AccessToken]:
        """Return an access token for the whole buffer."""
        token = self._buffer.token(self._place.space, self._mode, Policy.WAIT, request)
        self._token = token
        return (token,)

    def argument(self, registration: Registration) -> Any:
        """Return the array for the kernel, in the shape of the buffer."""
        token = self._token
        assert token is not None
        memory = memory_of(self._place.executing)
        if memory.queues_work:
            # Another thread may have acquired the access: the queue of this thread must wait.
            memory.follow(token.allocation, token.mode.writes, token.span)
        buffer = registration.buffer
        spec = WindowSpec(buffer.dtype, shape_of(buffer), writable=token.mode.writes)
        return memory.kernel_view(memory.window(token.allocation, spec))


class PatchInput:
    """A copy of a read stencil's elements in the space of the task."""

    def __init__(self, registration: Registration, stencil: Stencil, place: InputPlace) -> None:
        """Use the elements of `stencil`."""
        self._buffer = registration.buffer
        self._stencil = stencil
        self._space = place.executing
        self._tokens: dict[int, AccessToken] = {}

    def ask(self, request: AccessRequest) -> Sequence[AccessToken]:
        """Return a read access to each chunk of the stencil, in the space to copy from."""
        sources = sources_of(self._buffer, self._stencil, self._space)
        spans = self._buffer.chunks.span
        self._tokens = {
            chunk: self._buffer.token(
                source, AccessMode.READ, Policy.WAIT, replace(request, region=spans(chunk))
            )
            for chunk, source in sources.items()
        }
        return list(self._tokens.values())

    def argument(self, registration: Registration) -> Any:
        """Return the patch."""
        return gather(self._buffer, self._stencil, self._tokens, self._space)


def plan_inputs(registrations: Sequence[Registration], places: Sequence[InputPlace]) -> list[Input]:
    """Return the input object of each registration; registrations that share an access share it."""
    writers: dict[int, AccessMode] = {}
    for registration in registrations:
        if registration.mode.writes:
            together = [r.mode for r in registrations if r.buffer is registration.buffer]
            reads = any(mode.reads for mode in together)
            writers[id(registration.buffer)] = (
                AccessMode.READ_WRITE if reads else AccessMode.WRITE_ONLY
            )
    shared: dict[int, Input] = {}
    inputs: list[Input] = []
    for registration, place in zip(registrations, places, strict=True):
        key = id(registration.buffer)
        if key in writers:
            if key not in shared:
                shared[key] = WholeInput(registration, writers[key], place)
            inputs.append(shared[key])
        elif registration.stencil is not None:
            inputs.append(PatchInput(registration, registration.stencil, place))
        else:
            inputs.append(WholeInput(registration, AccessMode.READ, place))
    return inputs
