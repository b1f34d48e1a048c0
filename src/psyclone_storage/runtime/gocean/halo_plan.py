"""Plan of a halo exchange: the points that each rank sends and receives.

Each point of the domain is owned by the rank whose internal region contains it. Points outside the
domain, beyond a boundary that is not periodic, belong to the rank with the adjacent internal
region, because boundary kernels write them. A halo of depth d consists of all points within d
points of a rank's own ones. Corners come from the ranks that own them. Each rank derives the plan
from the decomposition, without communication.
"""

from __future__ import annotations

from itertools import product

from psyclone_storage.base.records import dataclass
from psyclone_storage.runtime.gocean.decomposition import Decomposition
from psyclone_storage.runtime.gocean.region import Region


@dataclass(frozen=True, slots=True)
class Message:
    """Message to or from one rank: regions of this rank's arrays, in a fixed order."""

    rank: int
    regions: tuple[Region, ...]

    @property
    def points(self) -> int:
        """Number of values for one field."""
        return sum(region.points for region in self.regions)


@dataclass(frozen=True, slots=True)
class ExchangePattern:
    """Messages of an exchange, and regions that a rank copies to its own halo.

    - `copied`: pairs of source and target region. They exist if a periodic domain makes a rank its
      own neighbour.
    """

    sent: tuple[Message, ...]
    received: tuple[Message, ...]
    copied: tuple[tuple[Region, Region], ...]

    @property
    def is_empty(self) -> bool:
        """True if this rank sends, receives and copies nothing."""
        return not (self.sent or self.received or self.copied)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Decomposition and periodicity of a domain, for one halo depth."""

    decomposition: Decomposition
    periodic: tuple[bool, bool]
    depth: int

    def owned(self, rank: int) -> Region:
        """Return the points owned by a rank, as a region of the domain."""
        return self._widened(rank, at_end=0, within=0)

    def needed(self, rank: int) -> Region:
        """Return the points owned by a rank and its halo, as a region of the domain."""
        return self._widened(rank, at_end=self.depth, within=self.depth)

    def _widened(self, rank: int, at_end: int, within: int) -> Region:
        """Return the points of a rank, extended on all sides.

        The extension is `at_end` points at a periodic end of the domain, `within` points inside the
        domain, and the whole halo at a boundary.
        """
        subdomain = self.decomposition.subdomains[rank]
        own = subdomain.domain
        ends = [at_end if closed else subdomain.halo for closed in self.periodic]
        before = [end if first == 0 else within for end, first in zip(ends, own.start, strict=True)]
        behind = [
            end if last == points else within
            for end, last, points in zip(ends, own.stop, self.decomposition.points, strict=True)
        ]
        return own.widened((before[0], before[1]), (behind[0], behind[1]))


def plan_exchange(
    decomposition: Decomposition, periodic: tuple[bool, bool], rank: int, depth: int
) -> ExchangePattern:
    """Return the exchange of `rank` to `depth`; `periodic` is given for x and y."""
    layout = _Layout(decomposition, periodic, depth)
    sent: list[Message] = []
    received: list[Message] = []
    copied: tuple[tuple[Region, Region], ...] = ()
    for other in range(len(decomposition.subdomains)):
        pairs = _matched(layout, sender=rank, receiver=other)
        if other == rank:
            copied = pairs
            continue
        if pairs:
            sent.append(Message(other, tuple(source for source, _ in pairs)))
        if pairs := _matched(layout, sender=other, receiver=rank):
            received.append(Message(other, tuple(target for _, target in pairs)))
    return ExchangePattern(tuple(sent), tuple(received), copied)


def _matched(layout: _Layout, sender: int, receiver: int) -> tuple[tuple[Region, Region], ...]:
    """Return pairs of regions that a sender copies to a receiver, in array indices of both.

    Images of a periodic domain on all sides are included. The order of regions is the same on both
    ranks.
    """
    subdomains, points = layout.decomposition.subdomains, layout.decomposition.points
    needed, owned = layout.needed(receiver), layout.owned(sender)
    images = [(-1, 0, 1) if closed else (0,) for closed in layout.periodic]
    found = []
    for y, x in product(images[1], images[0]):
        shift = (x * points[0], y * points[1])
        shared = needed.shared(owned.moved(shift))
        if shared.points and (sender != receiver or shift != (0, 0)):
            source = shared.moved((-shift[0], -shift[1]))
            found.append((subdomains[sender].local(source), subdomains[receiver].local(shared)))
    return tuple(found)
