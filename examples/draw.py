"""Draw what an example has computed, seen from above, as one SVG.

    gocean/shallow_water/run --ranks 2
    python draw.py basin gocean/shallow_water/build > basin.svg

The pictures are `basin`, `tracer`, `waves`, `spread` and `globe`. A picture has a panel for each of
several times, north at the top; a colour means the same in all of them. Where the files are those
of several ranks, thin lines divide what the ranks own. Neighbours of one colour in a row are one
rectangle, and all rectangles of one colour are one path, in units of cells. A globe is seen from
far away.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, product
from math import hypot
from pathlib import Path

SIDE, GAP, TOP, BOTTOM = 200, 16, 30, 50
INK, PAPER = "#1f2933", "#ffffff"

RED_AND_BLUE = ((33, 102, 172), (247, 247, 247), (178, 24, 43))
YELLOW_TO_BLUE = ((255, 255, 217), (127, 205, 187), (29, 120, 180), (8, 29, 88))

Colours = tuple[tuple[int, int, int], ...]
"""Red, green and blue at equal distances from the least value to the greatest."""

Rows = list[list[float]]
"""A value for each cell, row by row from south to north."""

Point = tuple[float, float, float]
"""A place or a direction, from the centre of a globe; north is the last."""


@dataclass(frozen=True, slots=True)
class Cells:
    """What is in the cells of a plane, and which rank owns each, row by row from south to north."""

    values: Rows
    owners: list[list[int]]

    def all_values(self) -> list[float]:
        """Return what is in all cells."""
        return [value for row in self.values for value in row]


@dataclass(frozen=True, slots=True)
class Globe:
    """What is in the cells of a globe with a radius of 1.

    Attributes:
        corners: where the corners of each cell are, one after the other.
        values: what is in each.
        owners: which rank owns each.
    """

    corners: list[tuple[Point, ...]]
    values: list[float]
    owners: list[int]

    def all_values(self) -> list[float]:
        """Return what is in all cells."""
        return self.values


@dataclass(frozen=True, slots=True)
class Scale:
    """Which shade a value has: shades go in equal steps from `least` to `greatest`."""

    least: float
    greatest: float
    shades: int
    colours: Colours

    def shade_of(self, value: float) -> int:
        """Return the number of the shade nearest to `value`, which may lie beyond the scale."""
        part = (value - self.least) / (self.greatest - self.least)
        return max(0, min(self.shades - 1, round(part * (self.shades - 1))))

    def colour_of(self, shade: int) -> str:
        """Return the colour of a shade, mixed of its two neighbours among the colours."""
        place = shade / (self.shades - 1) * (len(self.colours) - 1)
        low = min(int(place), len(self.colours) - 2)
        mixed = (
            round(first + (second - first) * (place - low))
            for first, second in zip(self.colours[low], self.colours[low + 1], strict=True)
        )
        return "#" + "".join(f"{value:02x}" for value in mixed)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of an example: which files, and what their values are."""

    title: str
    stem: str
    """How the names of the files begin; a number of three digits follows."""
    numbers: tuple[int, ...]
    caption: Callable[[int], str]
    unit: str
    scale: Callable[[Sequence[Cells | Globe]], Scale]
    above: Point | None = None
    """What a globe is seen from; none for a plane."""


# ---------------------------------------------------------------------------- what is drawn


def even_scale(panels: Sequence[Cells | Globe]) -> Scale:
    """Return a scale with rest in its middle, as far as values go after the beginning.

    The hill of the beginning is several times as high as the waves that it becomes.
    """
    furthest = max(abs(value) for cells in panels[1:] for value in cells.all_values())
    return Scale(-furthest, furthest, 17, RED_AND_BLUE)


def scale_up_to(greatest: float) -> Callable[[Sequence[Cells | Globe]], Scale]:
    """Return what makes a scale from nothing to `greatest`."""
    return lambda _: Scale(0.0, greatest, 12, YELLOW_TO_BLUE)


def minutes(seconds_per_step: float) -> Callable[[int], str]:
    """Return what tells the time of a step."""
    return lambda step: f"after {step * seconds_per_step / 60:.0f} minutes" if step else "start"


PICTURES = {
    "basin": Picture(
        "Waves in a closed, rotating basin", "surface_", (0, 100, 200, 400), minutes(50.0), "m",
        even_scale,
    ),
    "tracer": Picture(
        "A tracer in the wind", "tracer_", (0, 16, 32, 64), minutes(50.0), "in a cell",
        scale_up_to(1.0),
    ),
    "waves": Picture(
        "Waves by mixed finite elements", "surface_", (0, 10, 20, 40),
        minutes(2.0 * 1000.0 / (9.81 * 100.0) ** 0.5), "m", even_scale,
    ),
    "spread": Picture(
        "Two spots, spread by multigrid cycles", "spread_", (1, 2, 4, 16),
        lambda cycle: f"after {cycle} {'cycle' if cycle == 1 else 'cycles'}", "in a cell",
        scale_up_to(2.4e-3),
    ),
    "globe": Picture(
        "A tracer over a corner of the cube", "globe_", (0, 32, 64, 96),
        lambda step: f"after {step} hours" if step else "start", "in a cell", scale_up_to(1.0),
        above=(3**-0.5, 3**-0.5, 3**-0.5),
    ),
}  # fmt: skip


# ---------------------------------------------------------------------------- reading


def read_cells(folder: Path, stem: str, number: int) -> Cells:
    """Return what all ranks have written: rows of values, or x, y and value in each line.

    Raises:
        SystemExit: nothing was written.
    """
    whole = folder / f"{stem}{number:03}.txt"
    if whole.is_file():
        lines = whole.read_text(encoding="utf-8").splitlines()
        values = [[float(word) for word in line.split()] for line in lines]
        return Cells(values, [[0] * len(row) for row in values])
    values: dict[tuple[float, float], float] = {}
    owners: dict[tuple[float, float], int] = {}
    for file in folder.glob(f"{stem}{number:03}.*"):
        rank = int(re.sub(r".*\.", "", file.name))
        for line in file.read_text(encoding="utf-8").splitlines():
            x, y, value = map(float, line.split())
            values[y, x], owners[y, x] = value, rank
    if not values:
        raise SystemExit(f"There is no {whole.stem} in {folder}: run the example first.")
    xs, ys = sorted({x for _, x in values}), sorted({y for y, _ in values})
    return Cells(
        [[values[y, x] for x in xs] for y in ys],
        [[owners[y, x] for x in xs] for y in ys],
    )


def read_globe(folder: Path, stem: str, number: int) -> Globe:
    """Return what all ranks have written: the four corners of a cell and its value in each line.

    Raises:
        SystemExit: nothing was written.
    """
    globe = Globe([], [], [])
    for file in sorted(folder.glob(f"{stem}{number:03}.*")):
        for line in file.read_text(encoding="utf-8").splitlines():
            *places, value = map(float, line.split())
            globe.corners.append(tuple(zip(places[::3], places[1::3], places[2::3], strict=True)))
            globe.values.append(value)
            globe.owners.append(int(file.suffix[1:]))
    if not globe.values:
        raise SystemExit(f"There is no {stem}{number:03} in {folder}: run the example first.")
    return globe


# ---------------------------------------------------------------------------- drawing


def draw(picture: Picture, panels: Sequence[Cells | Globe]) -> str:
    """Return the text of a picture, with one panel for each of its numbers."""
    scale = picture.scale(panels)
    greatest = max(value for cells in panels for value in cells.all_values())
    unit = picture.unit + (", and more" if greatest > 1.01 * scale.greatest else "")
    width, height = len(panels) * (SIDE + GAP) + GAP, TOP + SIDE + BOTTOM
    shapes = [
        shape
        for at, (number, cells) in enumerate(zip(picture.numbers, panels, strict=True))
        for shape in draw_panel(GAP + at * (SIDE + GAP), picture, number, cells, scale)
    ]
    body = "\n".join(f"  {shape}" for shape in (*shapes, *draw_scale(scale, unit)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="Helvetica, Arial, sans-serif" font-size="13" fill="{INK}">\n'
        f"  <title>{picture.title}</title>\n"
        f'  <rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def draw_panel(
    left: int, picture: Picture, number: int, cells: Cells | Globe, scale: Scale
) -> Iterator[str]:
    """Yield the shapes of one panel: its caption, its cells, the borders of ranks, its frame."""
    yield f'<text x="{left}" y="{TOP - 10}">{picture.caption(number)}</text>'
    if isinstance(cells, Cells):
        yield from draw_plane(left, cells, scale)
    elif picture.above:
        yield from draw_globe(left, cells, scale, picture.above)


def draw_plane(left: int, cells: Cells, scale: Scale) -> Iterator[str]:
    """Yield the shapes of a plane."""
    size = len(cells.values)
    paths: dict[int, str] = defaultdict(str)
    for number, row in enumerate(reversed(cells.values)):
        column = 0
        for shade, same in groupby(map(scale.shade_of, row)):
            length = len(list(same))
            paths[shade] += f"M{column} {number}h{length}v1h-{length}z"
            column += length
    place = f"translate({left} {TOP}) scale({SIDE / size:g})"
    yield f'<g transform="{place}" shape-rendering="crispEdges">'
    for shade in sorted(paths):
        yield f'<path fill="{scale.colour_of(shade)}" d="{paths[shade]}"/>'
    yield "</g>"
    if borders := "".join(borders_of(cells.owners)):
        line = f'stroke="{INK}" stroke-opacity="0.6" stroke-width="{size / SIDE:g}"'
        yield f'<path transform="{place}" {line} d="{borders}"/>'
    frame = f'x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"'
    yield f'<rect {frame} fill="none" stroke="{INK}"/>'


def borders_of(owners: list[list[int]]) -> Iterator[str]:
    """Yield the lines between cells of two ranks, those along a row or a column in one piece."""
    rows = owners[::-1]
    size = len(rows)
    for at, sideways in product(range(1, size), (True, False)):
        columns = [(row[at - 1], row[at]) for row in rows]
        pairs = list(zip(rows[at - 1], rows[at], strict=True)) if sideways else columns
        start = 0
        for differs, same in groupby(first != second for first, second in pairs):
            length = len(list(same))
            if differs:
                yield f"M{start} {at}h{length}" if sideways else f"M{at} {start}v{length}"
            start += length


def draw_globe(left: int, globe: Globe, scale: Scale, above: Point) -> Iterator[str]:
    """Yield the shapes of a globe, as far as it can be seen; the least value is its ground."""
    paths: dict[int, str] = defaultdict(str)
    sides: dict[frozenset[Point], int] = {}
    borders = ""
    for corners, value, owner in zip(globe.corners, globe.values, globe.owners, strict=True):
        if min(along(corner, above) for corner in corners) < 0:
            continue
        if shade := scale.shade_of(value):
            paths[shade] += f"M{'L'.join(flat(corner, above) for corner in corners)}z"
        for first, second in pairwise((*corners, corners[0])):
            if sides.setdefault(frozenset((first, second)), owner) != owner:
                borders += f"M{flat(first, above)}L{flat(second, above)}"
    middle = f"translate({left + SIDE / 2:g} {TOP + SIDE / 2:g})"
    yield f'<circle transform="{middle}" r="{SIDE / 2:g}" fill="{scale.colour_of(0)}"/>'
    for shade in sorted(paths):
        colour = scale.colour_of(shade)
        line = f'stroke="{colour}" stroke-width="0.4"'
        yield f'<path transform="{middle}" fill="{colour}" {line} d="{paths[shade]}"/>'
    if borders:
        line = f'stroke="{INK}" stroke-opacity="0.6"'
        yield f'<path transform="{middle}" {line} d="{borders}"/>'
    yield f'<circle transform="{middle}" r="{SIDE / 2:g}" fill="none" stroke="{INK}"/>'


def flat(place: Point, above: Point) -> str:
    """Return where a place of a globe is drawn, from the middle, north up, as seen from above."""
    length = hypot(above[0], above[1])
    east = (-above[1] / length, above[0] / length, 0.0)
    north = (-above[2] * east[1], above[2] * east[0], length)
    x, y = along(place, east) * SIDE / 2, -along(place, north) * SIDE / 2
    return f"{x:.1f} {y:.1f}"


def along(place: Point, direction: Point) -> float:
    """Return how far a place is in a direction."""
    return sum(one * other for one, other in zip(place, direction, strict=True))


def draw_scale(scale: Scale, unit: str) -> Iterator[str]:
    """Yield the shapes of a scale of colours with the values at its ends and in the middle."""
    step, top = 14, TOP + SIDE + 12
    for shade in range(scale.shades):
        box = f'x="{GAP + shade * step}" y="{top}" width="{step}" height="12"'
        yield f'<rect {box} fill="{scale.colour_of(shade)}"/>'
    length = scale.shades * step
    yield f'<rect x="{GAP}" y="{top}" width="{length}" height="12" fill="none" stroke="{INK}"/>'
    ends = (
        (GAP, "start", f"{scale.least:.2g}"),
        (GAP + length / 2, "middle", f"{(scale.least + scale.greatest) / 2:.2g}"),
        (GAP + length, "end", f"{scale.greatest:.2g}"),
    )
    for x, anchor, text in ends:
        sign = text.replace("-", "&#8722;")
        yield f'<text x="{x:g}" y="{top + 26}" text-anchor="{anchor}">{sign}</text>'
    yield f'<text x="{GAP + length + 8}" y="{top + 11}">{unit}</text>'


def main(words: list[str]) -> None:
    """Print the picture that `words` ask for: its name, and the folder of the files."""
    if len(words) != 2 or words[0] not in PICTURES:
        raise SystemExit(f"usage: draw.py {{{','.join(PICTURES)}}} FOLDER")
    picture, folder = PICTURES[words[0]], Path(words[1])
    read = read_globe if picture.above else read_cells
    panels = [read(folder, picture.stem, number) for number in picture.numbers]
    sys.stdout.write(draw(picture, panels))


if __name__ == "__main__":
    main(sys.argv[1:])
