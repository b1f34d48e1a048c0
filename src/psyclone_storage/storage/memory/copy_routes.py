"""Copy routes from one memory to another: direct, peer, or staged via the host."""

from __future__ import annotations

from enum import Enum

from psyclone_storage.storage.core.allocation import Allocation
from psyclone_storage.storage.core.futures import Future, forward
from psyclone_storage.storage.core.spaces import SpaceKind
from psyclone_storage.storage.memory.base import Memory

Span = tuple[int, int]


class Route(Enum):
    """The kinds of routes."""

    DIRECT = "direct"
    PEER = "peer"
    STAGED = "staged"


def route(target: Memory, source: Memory) -> Route:
    """Return the route from `source` to `target`; staged if neither can copy directly."""
    if target.can_copy_from(source) or source.can_copy_to(target):
        both = target.space.kind is SpaceKind.DEVICE and source.space.kind is SpaceKind.DEVICE
        return Route.PEER if both else Route.DIRECT
    return Route.STAGED


class Router:
    """Copies between allocations in any two memories, on the best route."""

    def __init__(self, staging: Memory) -> None:
        """Use `staging`, from and to which all memories must be able to copy (HM-35)."""
        self._staging = staging

    def copy(
        self, ends: tuple[Memory, Memory], target: Allocation, source: Allocation, span: Span
    ) -> None:
        """Copy `span` from `source` to `target`; `ends` are the memories of target and source."""
        onto, origin = ends
        if onto.can_copy_from(origin):
            onto.memcpy_from(target, source, span)
        elif origin.can_copy_to(onto):
            origin.memcpy_to(target, source, span)
        else:
            middle = self._staging.allocate(sum(span))
            self.copy((self._staging, ends[1]), middle, source, span)
            self.copy((ends[0], self._staging), target, middle, span)

    def fetch(
        self, ends: tuple[Memory, Memory], target: Allocation, source: Allocation, span: Span
    ) -> None:
        """Copy as in `copy`, possibly without waiting: users of the replicas wait if necessary."""
        onto, origin = ends
        if onto.can_copy_from(origin):
            onto.fetch(target, source, span)
        else:
            self.copy(ends, target, source, span)

    def copy_async(
        self, ends: tuple[Memory, Memory], target: Allocation, source: Allocation, span: Span
    ) -> Future[None]:
        """Start `copy` on the stream of the participating device; return its future.

        Each half of a staged copy runs on the stream of its own device, one after the other, so
        that no device ever waits for another one.
        """
        onto, origin = ends
        if route(onto, origin) is Route.STAGED:
            return self._copy_staged_async(ends, target, source, span)
        stream = onto.stream or origin.stream
        if stream is None:
            self.copy(ends, target, source, span)
            return Future.completed(None)
        return stream.submit(self.copy, ends, target, source, span)

    def _copy_staged_async(
        self, ends: tuple[Memory, Memory], target: Allocation, source: Allocation, span: Span
    ) -> Future[None]:
        middle = self._staging.allocate(sum(span))
        finished: Future[None] = Future()

        def send_on(fetched: Future[None]) -> None:
            if fetched.exception() is not None:
                forward(fetched, finished)
                return
            sent = self.copy_async((ends[0], self._staging), target, middle, span)
            sent.then(lambda done: forward(done, finished))

        self.copy_async((self._staging, ends[1]), middle, source, span).then(send_on)
        return finished
