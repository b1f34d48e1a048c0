"""Base of all nodes that a script walks over: a position in a tree.

`views` and `containers` define the content at a position.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from textwrap import indent as indent_lines
from typing import TypeVar

WantedNode = TypeVar("WantedNode", bound="Node")
NodeClasses = type[WantedNode] | tuple[type[WantedNode], ...]


class Node(ABC):
    """A place in the tree of a program."""

    __slots__ = ()

    @property
    @abstractmethod
    def parent(self) -> Node | None:
        """The enclosing node, None at the top."""

    @property
    @abstractmethod
    def children(self) -> Sequence[Node]:
        """The child nodes, in order."""

    @abstractmethod
    def node_str(self, colour: bool = False) -> str:
        """Return this in one line, without what is inside; in bold letters if `colour`."""

    def view(self, depth: int = 0, colour: bool = False, indent: str = "    ") -> str:
        """Return this, and all inside, as readable text; in bold letters if `colour`.

        The text is indented by `depth` times `indent`.
        """
        return indent_lines(self._text(colour=colour), depth * indent)

    @abstractmethod
    def _text(self, *, colour: bool) -> str:
        """Return this, and all inside, as readable text."""

    # ------------------------------------------------------------------ around

    @property
    def root(self) -> Node:
        """The top of the tree."""
        node: Node = self
        while node.parent is not None:
            node = node.parent
        return node

    def ancestor(
        self,
        ancestor_type: NodeClasses[WantedNode],
        excluding: NodeClasses[Node] | None = None,
        include_self: bool = False,
        limit: Node | None = None,
        shared_with: Node | None = None,
    ) -> WantedNode | None:
        """Return the nearest node around this one that is of the class `ancestor_type`, or None.

        Classes `excluding` do not count; the search ends at `limit`; the node is also around
        `shared_with` if that is given.
        """
        node = self if include_self else self.parent
        while node is not None:
            is_excluded = excluding is not None and isinstance(node, excluding)
            is_shared = shared_with is None or shared_with.is_descendant_of(node)
            if isinstance(node, ancestor_type) and is_shared and not is_excluded:
                return node
            node = None if limit is not None and node.is_same(limit) else node.parent
        return None

    def is_same(self, other: object) -> bool:
        """Return whether `other` is this node: views are equal if they show the same statement."""
        return self == other

    # ---------------------------------------------------------------- siblings

    @property
    def siblings(self) -> Sequence[Node]:
        """All children of the parent, this one included."""
        return (self,) if self.parent is None else self.parent.children

    @property
    def position(self) -> int:
        """The number of this among its siblings, from 0."""
        return self.siblings.index(self)

    def sameParent(  # noqa: N802  # pylint: disable=invalid-name
        self, node_2: Node
    ) -> bool:
        """Return whether `node_2` is a sibling of this."""
        return self.parent is not None and self.parent.is_same(node_2.parent)

    def following(self, same_routine_scope: bool = True) -> list[Node]:
        """Return the later siblings of this, which are always in the same routine."""
        return list(self.siblings[self.position + 1 :])

    def preceding(self, reverse: bool = False, same_routine_scope: bool = True) -> list[Node]:
        """Return the earlier siblings of this, the nearest one first if `reverse`.

        They are always in the same routine.
        """
        earlier = list(self.siblings[: self.position])
        return earlier[::-1] if reverse else earlier

    def immediately_follows(self, node: Node) -> bool:
        """Return whether `node` is the sibling just before this."""
        return self.sameParent(node) and node.position + 1 == self.position

    def immediately_precedes(self, node: Node) -> bool:
        """Return whether `node` is the sibling just after this."""
        return node.immediately_follows(self)

    # ------------------------------------------------------------------ inside

    @property
    def descendants(self) -> list[Node]:
        """All that is inside of this, the outer before the inner."""
        return list(_all_below(self))[1:]

    def walk(
        self,
        my_type: NodeClasses[WantedNode],
        stop_type: NodeClasses[Node] | None = None,
        depth: int | None = None,
    ) -> list[WantedNode]:
        """Return this and all below it that are of the class or classes `my_type`, in order.

        What is inside of a node of the class `stop_type` is left out, and so is every node of
        another `depth` if that is given; the depth of the root is 1.
        """
        found = [node for node in _all_below(self, stop_type) if isinstance(node, my_type)]
        return [node for node in found if depth is None or _depth_of(node) == depth]

    def has_descendant(self, descendant_type: NodeClasses[Node]) -> bool:
        """Return whether this or a node inside of it is of the class `descendant_type`."""
        return any(isinstance(node, descendant_type) for node in _all_below(self))

    def is_descendant_of(self, potential_ancestor: Node) -> bool:
        """Return whether this is inside of `potential_ancestor`."""
        parent = self.parent
        return parent is not None and (
            parent.is_same(potential_ancestor) or parent.is_descendant_of(potential_ancestor)
        )

    def is_descendent_of(self, other: Node) -> bool:
        """Return whether this is inside of `other`, as `is_descendant_of` does."""
        return self.is_descendant_of(other)


def _depth_of(node: Node) -> int:
    return 1 if node.parent is None else _depth_of(node.parent) + 1


def _all_below(node: Node, stop_type: NodeClasses[Node] | None = None) -> Iterator[Node]:
    yield node
    if stop_type is not None and isinstance(node, stop_type):
        return
    for child in node.children:
        yield from _all_below(child, stop_type)
