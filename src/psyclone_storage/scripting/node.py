"""What everything that a script walks over has in common: a place in a tree.

It knows nothing of what stands at the place; `views` and `containers` do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TypeVar

Wanted = TypeVar("Wanted", bound="Node")
Kinds = type[Wanted] | tuple[type[Wanted], ...]


class Node(ABC):
    """A place in the tree of a program."""

    __slots__ = ()

    @property
    @abstractmethod
    def parent(self) -> Node | None:
        """What is directly around this, None at the top."""

    @property
    @abstractmethod
    def children(self) -> tuple[Node, ...]:
        """What is directly inside, in order."""

    @abstractmethod
    def node_str(self, colour: bool = False) -> str:
        """Return this in one line, without what is inside; in bold letters if `colour`."""

    @abstractmethod
    def view(self) -> str:
        """Return this, and all inside, as readable text."""

    # ------------------------------------------------------------------ around

    @property
    def root(self) -> Node:
        """The top of the tree."""
        node: Node = self
        while node.parent is not None:
            node = node.parent
        return node

    def ancestor(self, wanted: Kinds[Wanted], *, include_self: bool = False) -> Wanted | None:
        """Return the nearest node around this one that is of the class `wanted`, or None."""
        node = self if include_self else self.parent
        while node is not None and not isinstance(node, wanted):
            node = node.parent
        return node

    # ------------------------------------------------------------------ beside

    @property
    def siblings(self) -> tuple[Node, ...]:
        """All that stands beside this, with this itself."""
        return (self,) if self.parent is None else self.parent.children

    @property
    def position(self) -> int:
        """The number of this among its siblings, from 0."""
        return self.siblings.index(self)

    def sameParent(  # noqa: N802  # pylint: disable=invalid-name
        self, other: Node
    ) -> bool:
        """Return whether `other` stands beside this."""
        return self.parent is not None and self.parent == other.parent

    def following(self) -> list[Node]:
        """Return the later siblings of this."""
        return list(self.siblings[self.position + 1 :])

    def preceding(self, *, reverse: bool = False) -> list[Node]:
        """Return the earlier siblings of this, the nearest one first if `reverse`."""
        earlier = list(self.siblings[: self.position])
        return earlier[::-1] if reverse else earlier

    def immediately_follows(self, other: Node) -> bool:
        """Return whether `other` is the sibling just before this."""
        return self.sameParent(other) and other.position + 1 == self.position

    def immediately_precedes(self, other: Node) -> bool:
        """Return whether `other` is the sibling just after this."""
        return other.immediately_follows(self)

    # ------------------------------------------------------------------ inside

    @property
    def descendants(self) -> list[Node]:
        """All that is inside of this, the outer before the inner."""
        return list(_all_below(self))[1:]

    def walk(self, wanted: Kinds[Wanted], stop_type: Kinds[Node] | None = None) -> list[Wanted]:
        """Return this and all below it that are of the class or classes `wanted`, in order.

        What is inside of a node of the class `stop_type` is left out.
        """
        return [node for node in _all_below(self, stop_type) if isinstance(node, wanted)]

    def is_descendent_of(self, other: Node) -> bool:
        """Return whether this is inside of `other`."""
        parent = self.parent
        return parent is not None and (parent == other or parent.is_descendent_of(other))


def _all_below(node: Node, stop_type: Kinds[Node] | None = None) -> Iterator[Node]:
    yield node
    if stop_type is not None and isinstance(node, stop_type):
        return
    for child in node.children:
        yield from _all_below(child, stop_type)
