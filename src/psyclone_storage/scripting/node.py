"""Base class of the nodes in a script's tree: a position in the tree.

`views` and `containers` define the content at a position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent as indent_lines
from typing import TypeVar

WantedNode = TypeVar("WantedNode", bound="Node")
NodeClasses = type[WantedNode] | tuple[type[WantedNode], ...]


class Node:
    """Node in the tree of a program.

    Scripts test the classes of nodes so often that an abstract base class, whose `isinstance` is
    slower, would take a noticeable share of their time.
    """

    __slots__ = ()

    @property
    def parent(self) -> Node | None:
        """Enclosing node, or None for the root."""
        raise NotImplementedError

    @property
    def children(self) -> Sequence[Node]:
        """Child nodes, in order."""
        raise NotImplementedError

    def node_str(self, colour: bool = False) -> str:
        """Return the node on one line, without its children; in bold if `colour` is true."""
        raise NotImplementedError

    def view(self, depth: int = 0, colour: bool = False, indent: str = "    ") -> str:
        """Return the node with all its children as readable text; in bold if `colour` is true.

        The text is indented by `depth` times `indent`.
        """
        return indent_lines(self._text(colour=colour), depth * indent)

    def _text(self, *, colour: bool) -> str:
        """Return the node with all its children as readable text."""
        raise NotImplementedError

    # ------------------------------------------------------------------ around

    @property
    def root(self) -> Node:
        """Root of the tree."""
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
        """Return the nearest enclosing node of the class `ancestor_type`, or None.

        - `excluding`: classes that are skipped.

        - `include_self`: the search starts at this node.

        - `limit`: the node at which the search ends.

        - `shared_with`: a node that the result must also enclose.
        """
        node = self if include_self else self.parent
        while node is not None:
            if isinstance(node, ancestor_type):
                is_excluded = excluding is not None and isinstance(node, excluding)
                is_shared = shared_with is None or shared_with.is_descendant_of(node)
                if is_shared and not is_excluded:
                    return node
            node = None if limit is not None and node.is_same(limit) else node.parent
        return None

    def is_same(self, other: object) -> bool:
        """Return whether `other` is the same node: views of the same statement are equal."""
        return self == other

    # ---------------------------------------------------------------- siblings

    @property
    def siblings(self) -> Sequence[Node]:
        """All children of the parent, including this node."""
        return (self,) if self.parent is None else self.parent.children

    @property
    def position(self) -> int:
        """Position among the siblings, counted from 0."""
        return self.siblings.index(self)

    def sameParent(  # noqa: N802  # pylint: disable=invalid-name
        self, node_2: Node
    ) -> bool:
        """Return whether `node_2` is a sibling of this node."""
        return self.parent is not None and self.parent.is_same(node_2.parent)

    def following(self, same_routine_scope: bool = True) -> list[Node]:
        """Return the later siblings, which are always in the same routine."""
        return list(self.siblings[self.position + 1 :])

    def preceding(self, reverse: bool = False, same_routine_scope: bool = True) -> list[Node]:
        """Return the earlier siblings, nearest first if `reverse` is true.

        They are always in the same routine.
        """
        earlier = list(self.siblings[: self.position])
        return earlier[::-1] if reverse else earlier

    def immediately_follows(self, node: Node) -> bool:
        """Return whether `node` is the sibling directly before this node."""
        return self.sameParent(node) and node.position + 1 == self.position

    def immediately_precedes(self, node: Node) -> bool:
        """Return whether `node` is the sibling directly after this node."""
        return node.immediately_follows(self)

    # ------------------------------------------------------------------ inside

    @property
    def descendants(self) -> list[Node]:
        """All nodes inside this node, in preorder."""
        return list(_all_below(self))[1:]

    def walk(
        self,
        my_type: NodeClasses[WantedNode],
        stop_type: NodeClasses[Node] | None = None,
        depth: int | None = None,
    ) -> list[WantedNode]:
        """Return this node and all nodes inside that have the class or classes `my_type`.

        Nodes inside a node of the class `stop_type` are omitted. If `depth` is given, nodes at
        another depth are omitted. The depth of the root is 1.
        """
        found = [node for node in _all_below(self, stop_type) if isinstance(node, my_type)]
        return [node for node in found if depth is None or _depth_of(node) == depth]

    def has_descendant(self, descendant_type: NodeClasses[Node]) -> bool:
        """Return whether this node or a node inside has the class `descendant_type`."""
        return any(isinstance(node, descendant_type) for node in _all_below(self))

    def is_descendant_of(self, potential_ancestor: Node) -> bool:
        """Return whether this node is inside `potential_ancestor`."""
        parent = self.parent
        return parent is not None and (
            parent.is_same(potential_ancestor) or parent.is_descendant_of(potential_ancestor)
        )

    def is_descendent_of(self, other: Node) -> bool:
        """Return whether this node is inside `other`, like `is_descendant_of`."""
        return self.is_descendant_of(other)


def _depth_of(node: Node) -> int:
    return 1 if node.parent is None else _depth_of(node.parent) + 1


def _all_below(node: Node, stop_type: NodeClasses[Node] | None = None) -> Iterator[Node]:
    yield node
    if stop_type is not None and isinstance(node, stop_type):
        return
    for child in node.children:
        yield from _all_below(child, stop_type)
