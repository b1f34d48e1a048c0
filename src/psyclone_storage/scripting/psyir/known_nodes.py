"""Nodes before a step, which are used again after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from psyclone_storage.ir import unit as un
from psyclone_storage.languages.fortran.print.edit_script import node_extent

Remark = un.Comment | un.Blank | un.DirectiveLine
"""Lines that belong to the next statement, or to the statement on the same line."""


class Known:
    """The nodes of a routine before a step, for reuse after it.

    A node belongs to the record that it showed, if the identity of that is in `unchanged`.
    Otherwise nodes are matched by the uid of a loop or by the source position of the statement.
    """

    def __init__(self, nodes: Iterable[Any] = (), unchanged: Collection[int] = ()) -> None:
        self._unchanged = unchanged
        self._same: dict[int, list[Any]] = {}
        self._like: dict[object, list[Any]] = {}
        for node in nodes:
            line = node.line()
            self._same.setdefault(id(line), []).append(node)
            if (key := _key(line)) is not None:
                self._like.setdefault(key, []).append(node)

    def find(self, block: tuple[un.Line, ...], at: int) -> Any:
        """Return the node of the statement at index `at` of a block, None if it is new."""
        line = block[at]
        for node in self._same.get(id(line), ()):
            if node.begins(block, at):
                self._take(node, line)
                return node
        for node in self._like.get(_key(line), ()):
            if node.is_one_record and id(node.line()) not in self._unchanged:
                self._take(node, line)
                node.sync(line, self)
                return node
        return None

    def has(self, line: un.Line) -> bool:
        """Return whether a node represents this record."""
        return bool(self._same.get(id(line)))

    def _take(self, node: Any, line: un.Line) -> None:
        """Remove a node from the candidates for other statements."""
        for nodes in (self._same.get(id(line), []), self._like.get(_key(line), [])):
            for number, one in enumerate(nodes):
                if one is node:
                    del nodes[number]
                    break


def _key(line: un.Line) -> object:
    """Return a key of a statement that a step preserves, such as a loop's uid or a position."""
    if isinstance(line, un.Do) and line.uid:
        return line.uid
    if isinstance(line, un.DirectiveBlock):
        inside = (one for one in line.body if not isinstance(one, Remark))
        first = next(inside, None)
        return None if first is None else (line.directive, _key(first))
    extent = node_extent(line)
    return line if extent is None else (type(line), extent.start, extent.stop)
