"""Labels that end loops in edited text, and the jumps to them that are read as `cycle`.

A copy of a loop must not repeat its label, and a jump needs the label of its own loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import blocks_of, walk_lines

_LabelledLoop = un.Do | un.While


class LoopLabels:
    """The loops of a file that end with labels, and those that the changed file keeps."""

    def __init__(self, bodies: Iterable[Sequence[un.Line]]) -> None:
        lines = [line for body in bodies for line in walk_lines(body)]
        self._parts = {place: [*_jumps(line.body)] for line, place in _labelled(lines)}
        innermost = {line.label: place for line, place in _labelled(lines)}
        for label, place in innermost.items():
            self._parts[place] += [label] if label is not None else []
        self._kept: frozenset[Span] = frozenset()

    def enter(self, before: Sequence[un.Line], after: Sequence[un.Line]) -> None:
        """Continue with a routine; it keeps the loops that occur once in both versions."""
        if self._parts:
            old, new = (
                Counter(place for _, place in _labelled(walk_lines(body)))
                for body in (before, after)
            )
            self._kept = frozenset(place for place in old if new[place] == 1)

    def may_copy(self, extent: Span) -> bool:
        """Return whether the text at `extent` contains labels and jumps only with their loops."""
        for loop, parts in self._parts.items():
            if extent.start <= loop.start and loop.stop <= extent.stop:
                if loop not in self._kept:
                    return False
            elif any(extent.start <= place.start < extent.stop for place in parts):
                return False
        return True


def _labelled(lines: Iterable[un.Line]) -> Iterator[tuple[un.Do | un.While, Span]]:
    """Yield the loops that end with a label, with their extents."""
    for line in lines:
        if isinstance(line, _LabelledLoop) and line.label is not None and line.extent is not None:
            yield line, line.extent


def _jumps(lines: Iterable[un.Line]) -> Iterator[Span]:
    """Yield the places of jumps that are read as `cycle`, without those in inner loops."""
    for line in lines:
        if isinstance(line, un.Cycle) and line.place is not None and line.place.text[0] in "gG":
            yield line.place
        if not isinstance(line, _LabelledLoop):
            for block in blocks_of(line):
                yield from _jumps(block)
