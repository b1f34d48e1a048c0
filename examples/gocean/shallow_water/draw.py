"""Draw what the example has written: the surface of the water at several times, as one SVG.

    ./run --ranks 2
    python draw.py build > ../../../docs/pictures/basin.svg

Each square is a basin seen from above, north at the top: blue is below rest, red above it. Colours
have the same meaning in all squares; neighbours of one colour in a row are one rectangle, and all
rectangles of one colour are one path.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import groupby
from pathlib import Path

SIDE, GAP, TOP, BOTTOM = 200, 16, 30, 46
SHADES = 6
LOW, REST, HIGH = (33, 102, 172), (247, 247, 247), (178, 24, 43)
SECONDS_PER_STEP = 50
SHOWN = ("000", "100", "200", "400")

Rows = list[list[float]]


def main(folder: Path) -> None:
    """Print the picture of the surfaces in `folder`."""
    panels = {step: read_surface(folder / f"surface_{step}.txt") for step in SHOWN}
    # The hill of the beginning is several times as high as the waves that it becomes.
    later = list(panels.values())[1:]
    scale = max(abs(height) for rows in later for row in rows for height in row)
    width = len(panels) * (SIDE + GAP) + GAP
    shapes = [
        shape
        for number, (step, rows) in enumerate(panels.items())
        for shape in draw_panel(GAP + number * (SIDE + GAP), step, rows, scale)
    ]
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + SIDE + BOTTOM}"'
        ' role="img" font-family="Helvetica, Arial, sans-serif" shape-rendering="crispEdges">\n'
        "  <title>Waves in a closed, rotating basin</title>\n"
        f'  <rect width="{width}" height="{TOP + SIDE + BOTTOM}" rx="6" fill="#ffffff"/>'
    )
    print("\n".join(f"  {shape}" for shape in [*shapes, *draw_scale(scale)]))
    print("</svg>")


def read_surface(path: Path) -> Rows:
    """Return heights in metres, row by row from south to north."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[float(word) for word in line.split()] for line in lines]


def draw_panel(left: int, step: str, rows: Rows, scale: float) -> list[str]:
    """Return the shapes of one basin and its title."""
    cell = SIDE / len(rows)
    hours = int(step) * SECONDS_PER_STEP / 3600
    shapes = [f'<text x="{left}" y="{TOP - 10}" font-size="13">after {hours:.1f} hours</text>']
    paths: dict[int, str] = defaultdict(str)
    for number, row in enumerate(reversed(rows)):
        column = 0
        for shade, cells in groupby(shade_of(height, scale) for height in row):
            length = len(list(cells))
            corner = f"M{left + column * cell:g} {TOP + number * cell:g}"
            paths[shade] += f"{corner}h{length * cell:g}v{cell:g}h{-length * cell:g}z"
            column += length
    shapes += [f'<path fill="{colour(shade)}" d="{paths[shade]}"/>' for shade in sorted(paths)]
    frame = f'x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}"'
    return [*shapes, f'<rect {frame} fill="none" stroke="#1f2933"/>']


def draw_scale(scale: float) -> list[str]:
    """Return the shapes of a scale of colours, and what its ends mean."""
    step, top = 14, TOP + SIDE + 14
    left = GAP + 64
    shapes = [
        f'<rect x="{left + number * step}" y="{top}" width="{step}" height="14"'
        f' fill="{colour(number - SHADES)}"/>'
        for number in range(2 * SHADES + 1)
    ]
    right = left + (2 * SHADES + 1) * step + 8
    below = f'<text x="{GAP}" y="{top + 12}" font-size="13">&#8722;{scale:.2f} m</text>'
    above = f'<text x="{right}" y="{top + 12}" font-size="13">+{scale:.2f} m and more</text>'
    return [*shapes, below, above]


def shade_of(height: float, scale: float) -> int:
    """Return the shade of a height, from -SHADES to SHADES."""
    return max(-SHADES, min(SHADES, round(height / scale * SHADES)))


def colour(shade: int) -> str:
    """Return the colour of a shade."""
    end = LOW if shade < 0 else HIGH
    part = abs(shade) / SHADES
    mixed = (round(rest + (full - rest) * part) for rest, full in zip(REST, end, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
