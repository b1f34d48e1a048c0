"""Division of a buffer into chunks.

The layout is a pure function of its arguments, so that all nodes compute the same one (ACC-27).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache

from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class ChunkLayout:
    """The boundaries of chunks: `bounds` are ascending element numbers, from 0 to the size."""

    bounds: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise `ValueError` unless the bounds ascend from 0."""
        pairs = zip(self.bounds, self.bounds[1:], strict=False)
        if len(self.bounds) < 2 or self.bounds[0] != 0 or any(a > b for a, b in pairs):
            raise ValueError(f"Chunk bounds must ascend from 0, unlike {self.bounds}.")

    @property
    def count(self) -> int:
        """Return the number of chunks."""
        return len(self.bounds) - 1

    @property
    def size(self) -> int:
        """Return the number of elements of all chunks."""
        return self.bounds[-1]

    def span(self, chunk: int) -> tuple[int, int]:
        """Return the first element of a chunk, and the first one after it."""
        return self.bounds[chunk], self.bounds[chunk + 1]

    def bytes_of(self, chunks: tuple[int, int], itemsize: int) -> tuple[int, int]:
        """Return the first byte of a range of chunks, and their size in bytes."""
        start, stop = self.bounds[chunks[0]], self.bounds[chunks[1]]
        return start * itemsize, (stop - start) * itemsize

    def touched_by(self, region: tuple[int, int]) -> tuple[int, int]:
        """Return the range of chunks that contain elements of `region`, a pair (first, end).

        The end is exclusive in both ranges.
        """
        start, stop = region
        if not 0 <= start <= stop <= self.size:
            raise IndexError(f"Elements {start}:{stop} do not lie in a buffer of {self.size}.")
        if start == stop:
            return 0, 0
        return bisect_right(self.bounds, start) - 1, bisect_left(self.bounds, stop)

    def covers(self, region: tuple[int, int], chunk: int) -> bool:
        """Return whether `region` contains the whole of `chunk`."""
        start, stop = self.span(chunk)
        return region[0] <= start and stop <= region[1]


@lru_cache(maxsize=1024)
def whole(size: int) -> ChunkLayout:
    """Return the layout with one chunk."""
    return ChunkLayout((0, size))


def row_blocks(rows: int, row_size: int, count: int) -> ChunkLayout:
    """Divide `rows` rows of `row_size` elements into `count` blocks of rows.

    The sizes of the blocks differ by at most one row; the larger ones come first. Raises
    `ValueError` if there are fewer rows than blocks.
    """
    if count < 1 or count > max(rows, 1):
        raise ValueError(f"{rows} rows cannot be divided into {count} blocks.")
    share, larger = divmod(rows, count)
    starts = [block * share + min(block, larger) for block in range(count + 1)]
    return ChunkLayout(tuple(start * row_size for start in starts))
