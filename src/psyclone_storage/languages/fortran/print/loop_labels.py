"""Labels at the ends of loops in edited text, and the jumps to them that are read as `cycle`.

A copy of a loop must not repeat its label, and a jump needs the label of its own loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import blocks_of, walk_lines

_Loop = un.Do | un.While | un.DoConcurrent


class LoopLabels:
    """The labels that end the loops of a file, and those that the changed file keeps."""

    def __init__(self, bodies: Iterable[Sequence[un.Line]]) -> None:
        self._places = [pair for body in bodies for pair in _places(body, None)]
        self._kept: frozenset[Span] = frozenset()

    def enter(self, before: Sequence[un.Line], after: Sequence[un.Line]) -> None:
        """Continue with a routine; it keeps what occurs once in both versions."""
        if self._places:
            old, new = (Counter(filter(None, map(_extent, walk_lines(x)))) for x in (before, after))
            self._kept = frozenset(one for one in old if new[one] == 1)

    def may_copy(self, extent: Span) -> bool:
        """Return whether the text at `extent` may be used for its statements.

        A label is used once. A jump is used with the whole loop that has its label.
        """
        return all(
            part in self._kept
            and (part is place or (extent.start <= part.start and part.stop <= extent.stop))
            for place, part in self._places
            if extent.start <= place.start < extent.stop
        )


def _places(lines: Iterable[un.Line], loop: Span | None) -> Iterator[tuple[Span, Span]]:
    """Yield labels without jumps, and replaced jumps with the extents of their loops."""
    for line in lines:
        place = _extent(line)
        match line:
            case un.Label(is_target=False) if place is not None:
                yield place, place
            case un.Cycle() if place is not None and loop is not None and place.text[0] in "gG":
                yield place, loop
        for block in blocks_of(line):
            yield from _places(block, place if isinstance(line, _Loop) else loop)


def _extent(line: un.Line) -> Span | None:
    """Return the location of a loop, a label or a jump."""
    if isinstance(line, _Loop):
        return line.extent
    return line.place if isinstance(line, un.Label | un.Cycle) else None
