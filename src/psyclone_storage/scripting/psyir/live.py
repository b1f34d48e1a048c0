"""Base class of the nodes of a file: a tree that a script may edit while iterating over it.

A node is created from an immutable record of `ir` when a script first accesses it. It caches the
record until the script edits the node or its descendants; the record is then rebuilt from the
children. Unedited statements keep their original record, so the printer preserves their text byte
for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self, SupportsIndex

from psyclone_storage.scripting.errors import GenerationError, PSycloneError, refusal
from psyclone_storage.scripting.node import Node, NodeClasses, WantedNode


class LiveNode(Node):
    """A node of a file; nodes are compared by identity."""

    never_in_expressions: ClassVar[bool] = False
    """Whether nodes of the class are statements or contain statements."""

    find_accesses: ClassVar[Callable[[LiveNode], Any]]
    """The analysis of accesses, which the module `tools` registers."""

    fixed: ClassVar[str] = ""
    """The error message if children cannot be removed, else an empty string."""

    def __init__(self) -> None:
        self._parent: LiveNode | None = None
        self._children: Children | None = None
        self.keyword: str | None = None
        self.is_implicit = False
        self.annotations: list[str] = []
        self.ast: object = None

    # ------------------------------------------------------------------ children

    def _shown(self) -> Iterable[LiveNode]:
        """Return the initial children, created on first access."""
        return ()

    def _accepts(self, position: int, child: LiveNode) -> bool:
        """Return whether `child` is allowed as the child at index `position`."""
        return False

    @property
    def children(self) -> Children:
        """The child nodes, in a list that a script may edit."""
        if self._children is None:
            self._children = Children(self)
            self._children.fill(self._shown())
        return self._children

    @children.setter
    def children(self, new: Sequence[LiveNode]) -> None:
        self.pop_all_children()
        self.children.extend(new)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the children that are statements or contain statements."""
        return self.children

    def adopt(self, child: LiveNode) -> None:
        """Become the parent of `child`.

        Raises:
            GenerationError: `child` already has a parent.
        """
        if child.parent is not None:
            message = f"A '{type(child).__name__}' has a parent already: detach or copy it first."
            raise GenerationError(message)
        if child.is_same(self) or self.is_descendant_of(child):
            raise GenerationError(f"A '{type(child).__name__}' cannot be its own ancestor.")
        child.set_parent(self)

    def set_parent(self, parent: LiveNode | None) -> None:
        """Set the parent without changing its list of children."""
        self._parent = parent

    def expect(self, position: int, child: object) -> LiveNode:
        """Return `child` if it is allowed at index `position`.

        Raises:
            GenerationError: it is not allowed.
        """
        if isinstance(child, LiveNode) and self._accepts(position, child):
            return child
        kind, own = type(child).__name__, type(self).__name__
        raise GenerationError(f"A '{kind}' cannot be child {position} of '{own}'.")

    def touch(self) -> None:
        """Drop the cached records of this node and its ancestors, after an edit."""
        node: LiveNode | None = self
        while node is not None:
            node.forget()
            node = node.parent

    def forget(self) -> None:
        """Drop the cached record of this node."""
        self.is_implicit = False

    # ------------------------------------------------------------------ position

    @property
    def parent(self) -> Any:
        """The parent node; None for the root."""
        return self._parent

    def is_same(self, other: object) -> bool:
        """Return whether `other` is the same object."""
        return self is other

    @property
    def siblings(self) -> Any:
        """All children of the parent, including this node."""
        return [self] if self._parent is None else self._parent.children

    @property
    def position(self) -> int:
        """The index of this node among its siblings, starting at 0."""
        return 0 if self._parent is None else self._parent.children.index(self)

    @property
    def abs_position(self) -> int:
        """The index of this node in a preorder traversal of the tree, starting at 0."""
        for number, node in enumerate(_preorder(self.root, None, deep=True)):
            if node is self:
                return number
        raise GenerationError("A node is not among the children of its parent.")

    @property
    def depth(self) -> int:
        """The number of ancestors."""
        return 0 if self._parent is None else self._parent.depth + 1

    @property
    def scope(self) -> Any:
        """The nearest node with a symbol table, this node or an ancestor.

        Raises:
            GenerationError: no such node exists.
        """
        node: LiveNode | None = self
        while node is not None and not hasattr(type(node), "symbol_table"):
            node = node.parent
        if node is None:
            raise GenerationError(f"No scope encloses '{self.node_str()}'.")
        return node

    def path_from(self, ancestor: LiveNode) -> list[int]:
        """Return the child indices on the path from `ancestor` to this node.

        Raises:
            ValueError: `ancestor` is not an ancestor of this node.
        """
        if self is ancestor:
            return []
        if self._parent is None:
            raise ValueError(f"'{ancestor.node_str()}' is no ancestor of '{self.node_str()}'.")
        return [*self._parent.path_from(ancestor), self.position]

    def walk(
        self,
        my_type: NodeClasses[WantedNode],
        stop_type: NodeClasses[Node] | None = None,
        depth: int | None = None,
    ) -> list[WantedNode]:
        """Return this node and its descendants that are instances of `my_type`, in preorder.

        The descendants of an instance of `stop_type` are skipped. With `depth`, only nodes at that
        depth are returned.
        """
        kinds = my_type if isinstance(my_type, tuple) else (my_type,)
        deep = not all(getattr(kind, "never_in_expressions", False) for kind in kinds)
        found = [
            node for node in _preorder(self, stop_type, deep=deep) if isinstance(node, my_type)
        ]
        return [node for node in found if depth is None or getattr(node, "depth", None) == depth]

    # ------------------------------------------------------------------ edits

    def addchild(self, child: LiveNode, index: int | None = None) -> None:
        """Append `child`, or insert it at `index`."""
        self.children.insert(len(self.children) if index is None else index, child)

    def detach(self) -> Self:
        """Remove this node from its parent, and return it.

        Raises:
            GenerationError: the parent requires this child.
        """
        if self._parent is not None:
            self._parent.children.pop(self.position)
        return self

    def replace_with(self, node: LiveNode, keep_name_in_context: bool = True) -> None:
        """Replace this node by `node`, which has no parent.

        If `keep_name_in_context`, a keyword argument keeps its keyword.

        Raises:
            GenerationError: this node has no parent, or `node` has one.
        """
        if self._parent is None:
            raise GenerationError("A node without a parent cannot be replaced.")
        keyword = self.keyword if keep_name_in_context else None
        self._parent.children[self.position] = node
        node.keyword = keyword

    def pop_all_children(self) -> list[Any]:
        """Detach all children, and return them."""
        found = list(self.children)
        self.children.clear()
        return found

    def copy(self) -> Self:
        """Return a copy of this node and its descendants, without a parent."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.become_copy(self._children)
        return new

    def become_copy(self, children: Children | None) -> None:
        """Replace the attributes that a copied node must not share with the original."""
        self._parent = None
        self.annotations = list(self.annotations)
        self._children = None
        if children is not None:
            self._children = Children(self)
            self._children.fill(child.copy() for child in children)

    def reference_accesses(self) -> Any:
        """Return the accesses to variables by signature, in source order."""
        return type(self).find_accesses(self)

    # ------------------------------------------------------------------ text

    def node_str(self, colour: bool = False) -> str:
        """Return a one-line description: the class and its distinguishing properties."""
        name = type(self).__name__
        text = f"\033[1m{name}\033[0m" if colour else name
        return f"{text}[{self._details()}]"

    def _details(self) -> str:
        return ""

    def _text(self, *, colour: bool) -> str:
        lines = [self.node_str(colour)]
        for number, child in enumerate(self.children):
            first, *rest = child.view(colour=colour).splitlines()
            lines += [f"    {number}: {first}", *(f"    {line}" for line in rest)]
        return "\n".join(lines) + "\n"

    def debug_string(self) -> str:
        """Return the node as Fortran text."""
        raise GenerationError(f"A '{type(self).__name__}' has no text of its own.")

    def origin_string(self) -> str:
        """Return the first line of the node as Fortran text."""
        return self.debug_string().strip().partition("\n")[0]

    def __str__(self) -> str:
        return self.node_str()


def _preorder(top: Node, stop_type: NodeClasses[Node] | None, *, deep: bool) -> Iterator[Node]:
    """Yield a node and its descendants, those in expressions only if `deep`.

    The list of children of a node is read after the node was yielded.
    """
    waiting: list[Any] = [top]
    while waiting:
        node = waiting.pop()
        yield node
        if stop_type is None or not isinstance(node, stop_type):
            waiting.extend(reversed(node.children if deep else node.blocks()))


class Children(list[Any]):
    """The list of children of a node; editing it edits the tree."""

    def __init__(self, owner: LiveNode) -> None:
        super().__init__()
        self._owner = owner

    def fill(self, nodes: Iterable[LiveNode]) -> None:
        """Append the initial children, without dropping cached records."""
        for node in nodes:
            node.set_parent(self._owner)
            super().append(node)

    def release(self, node: LiveNode) -> None:
        """Remove a node that a step has moved, without dropping cached records."""
        super().pop(self.index(node))
        node.set_parent(None)

    def reset(self, nodes: Sequence[LiveNode]) -> None:
        """Replace the children after a step, without dropping cached records."""
        self.exchange(0, len(self), nodes)

    def exchange(self, start: int, stop: int, nodes: Sequence[LiveNode]) -> None:
        """Replace the children from index `start` to `stop` as `reset` does."""
        kept = set(map(id, nodes))
        for node in self[start:stop]:
            if id(node) not in kept and node.parent is self._owner:
                node.set_parent(None)
        super().__setitem__(slice(start, stop), nodes)
        for node in nodes:
            node.set_parent(self._owner)

    def _checked(self, position: int, child: object) -> LiveNode:
        node = self._owner.expect(position, child)
        self._owner.adopt(node)
        return node

    def _released(self, node: LiveNode) -> LiveNode:
        node.set_parent(None)
        node.keyword = None
        self._owner.touch()
        return node

    def index(self, value: object, start: SupportsIndex = 0, stop: SupportsIndex = -1) -> int:
        """Return the index of the node `value`, compared by identity.

        Raises:
            ValueError: the node is not in the list.
        """
        for number, node in enumerate(self):
            if node is value:
                return number
        raise ValueError("The node is not among these children.")

    def __contains__(self, value: object) -> bool:
        return any(node is value for node in self)

    def append(self, value: Any) -> None:
        """Add a node at the end."""
        self.insert(len(self), value)

    def extend(self, values: Iterable[Any]) -> None:
        """Add nodes at the end."""
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Self:  # type: ignore[misc]
        self.extend(values)
        return self

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Insert a node before index `index`."""
        at = int(index)
        at = max(0, at + len(self)) if at < 0 else min(at, len(self))
        super().insert(at, self._checked(at, value))
        self._owner.touch()

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Remove a node, and return it."""
        if self._owner.fixed:
            raise refusal(self._owner.fixed)
        return self._released(super().pop(index))

    def remove(self, value: Any) -> None:
        """Remove the node `value`, compared by identity."""
        self.pop(self.index(value))

    def clear(self) -> None:
        """Remove all nodes, including required ones."""
        found = list(self)
        super().clear()
        for node in found:
            self._released(node)

    def __delitem__(self, index: Any) -> None:
        for number in sorted(self._numbers(index), reverse=True):
            self.pop(number)

    def __setitem__(self, index: Any, value: Any) -> None:
        numbers = self._numbers(index)
        if not isinstance(index, slice):
            numbers, value = [range(len(self))[index]], [value]
        new = list(value)
        at = numbers[0] if numbers else range(len(self) + 1)[index.start or 0]
        old = [self[number] for number in numbers]
        keywords = [node.keyword for node in old]
        for node in old:
            super().pop(self.index(node))
            self._released(node)
        try:
            for number, node in enumerate(new):
                self.insert(at + number, node)
        except PSycloneError:
            for node in new:
                if node in self:
                    super().pop(self.index(node))
                    self._released(node)
            for number, node, keyword in zip(numbers, old, keywords, strict=True):
                self.insert(number, node)
                node.keyword = keyword
            raise

    def _numbers(self, index: Any) -> list[int]:
        chosen = range(len(self))[index]
        return list(chosen) if isinstance(chosen, range) else [chosen]

    def reverse(self) -> None:
        """Reverse the order of the nodes."""
        super().reverse()
        self._owner.touch()

    def sort(self, **_: Any) -> None:
        """Raise `GenerationError`: nodes cannot be sorted."""
        raise GenerationError("Nodes have no order but that of the program.")
