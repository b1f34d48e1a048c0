"""Draw the pictures of the documentation, as SVG, from data.

`halo.svg` is computed from a mesh of squares on two ranks; `tendencies.svg` is one
invoke of the demo, as described by `--schedule-json`; `speeds.svg` shows the first table of the
page on performance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import product, takewhile
from pathlib import Path
from typing import Any

from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import CompileRequest, make_compiler
from psyclone_storage.tools.reports import schedule_objects

PERFORMANCE = Path(__file__).resolve().parent / "design" / "performance.md"
DEMO = Path(__file__).resolve().parents[1] / "examples" / "lfric" / "demo"

INK, FAINT, PAPER = "#1f2933", "#9aa5b1", "#ffffff"
OWNED, ANNEXED, CLEAN, STALE, UNKNOWN = "#2b6cb0", "#d97706", "#2f855a", "#c53030", "#cbd2d9"
LEVELS = ("#ffffff", "#e3ecf5", "#f3f6fa")


Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels."""


def pictures() -> dict[str, str]:
    """Return the text of every picture by the name of its file."""
    return {
        "halo.svg": draw_halo(),
        "tendencies.svg": draw_schedule("invoke_tendencies"),
        "speeds.svg": draw_speeds(),
    }


# ---------------------------------------------------------------------------- SVG


@dataclass(frozen=True, slots=True)
class Font:
    """The style of a text: size in pixels, colour, and anchor."""

    size: int = 13
    colour: str = INK
    anchor: str = "start"
    weight: str = "normal"


def _svg(width: int, height: int, title: str, shapes: list[str]) -> str:
    body = "\n".join(f"  {shape}" for shape in shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        ' font-family="Helvetica, Arial, sans-serif">\n'
        f"  <title>{escape(title)}</title>\n"
        f'  <rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def _text(x: float, y: float, text: str, font: Font = Font()) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{font.size}" fill="{font.colour}"'
        f' text-anchor="{font.anchor}" font-weight="{font.weight}">{escape(text)}</text>'
    )


def _rect(box: Box, fill: str, edge: str = "none") -> str:
    x, y, width, height = box
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        f' fill="{fill}" stroke="{edge}"/>'
    )


def _circle(x: float, y: float, radius: float, fill: str, edge: str = INK) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{edge}"/>'


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, width: int = 1) -> str:
    return (
        f'<line x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
        f' stroke="{colour}" stroke-width="{width}"/>'
    )


# ---------------------------------------------------------------------------- dofs of a partition

OWNED_COLUMNS, HALO_LEVELS, ROWS, CELL = 3, 2, 3, 58


def _level(column: int) -> int:
    """Return the halo level of a column of cells: 0 is owned."""
    return max(0, column - OWNED_COLUMNS + 1)


def _corner_name(column: int) -> str:
    """Return the kinds of the dofs on a line of corners: the line is to the left of cell `column`.

    A dof has the level of the innermost cell that it lies on. On the border between the ranks the
    other rank owns it.
    """
    inner, outer = _level(max(0, column - 1)), _level(column)
    if inner == 0:
        return "owned" if outer == 0 else "annexed"
    return f"halo {inner}"


def _centre_name(column: int) -> str:
    level = _level(column)
    return f"halo {level}" if level else "owned"


_FILL = {"owned": OWNED, "annexed": ANNEXED, "halo 1": "#7f9cc0", "halo 2": "#c9d6e6"}


def draw_halo() -> str:
    """Draw the cells and dofs of one rank at its border with another, for two spaces."""
    columns = OWNED_COLUMNS + HALO_LEVELS
    panel = columns * CELL
    shapes: list[str] = []
    for left, title in (
        (40, "continuous: dofs on corners"),
        (110 + panel, "discontinuous: dofs in cells"),
    ):
        shapes.append(_text(left, 28, title, Font(15, weight="bold")))
        for column, row in product(range(columns), range(ROWS)):
            fill = LEVELS[_level(column)]
            shapes.append(_rect((left + column * CELL, 62 + row * CELL, CELL, CELL), fill, FAINT))
        border = left + OWNED_COLUMNS * CELL
        shapes.append(_line((border, 54), (border, 70 + ROWS * CELL), INK, 3))
        shapes.append(_text(border - 8, 50, "owned cells", Font(12, anchor="end")))
        shapes += [
            _text(border + (level - 0.5) * CELL, 50, f"halo {level}", Font(12, anchor="middle"))
            for level in range(1, HALO_LEVELS + 1)
        ]
    shapes += [
        _circle(40 + column * CELL, 62 + row * CELL, 7, _FILL[_corner_name(column)])
        for column, row in product(range(columns + 1), range(ROWS + 1))
    ]
    shapes += [
        _circle(110 + panel + (column + 0.5) * CELL, 62 + (row + 0.5) * CELL, 7,
                _FILL[_centre_name(column)])
        for column, row in product(range(columns), range(ROWS))
    ]  # fmt: skip
    shapes += _halo_legend(40, 62 + ROWS * CELL + 36)
    return _svg(2 * panel + 150, 62 + ROWS * CELL + 60, "Dofs of one rank", shapes)


def _halo_legend(x: float, y: float) -> list[str]:
    meanings = {
        "owned": "owned by this rank",
        "annexed": "annexed: on an owned cell, owned by another rank",
        "halo 1": "halo level 1",
        "halo 2": "halo level 2",
    }
    shapes = []
    for name, meaning in meanings.items():
        shapes += [_circle(x, y - 4, 6, _FILL[name]), _text(x + 12, y, meaning, Font(12))]
        x += 40 + 6.2 * len(meaning)
    return shapes


# ---------------------------------------------------------------------------- a schedule

ROW, COLUMN, LEFT, TOP = 34, 118, 130, 76


@cache
def _schedules() -> tuple[dict[str, Any], ...]:
    compiler = make_compiler(default_settings(), CompileRequest(directories=(DEMO / "kernels",)))
    build = compiler.compile_algorithm(DEMO / "gravity_wave_alg_mod.x90")
    return schedule_objects(build)


def draw_schedule(name: str) -> str:
    """Draw an invoke: a row for each field, a column for each loop and exchange.

    The bar of a row says what is known of the field's halo: it turns red where a loop leaves it
    stale, and green where it is exchanged.
    """
    schedule = next(item for item in _schedules() if item["name"] == name)
    fields = [item["name"] for item in schedule["data"] if item["kind"] == "field"]
    steps = [item for item in schedule["statements"] if item["statement"] != "mark halo"]
    shapes: list[str] = []
    for at, step in enumerate(steps):
        shapes += _heading(LEFT + (at + 0.5) * COLUMN, step)
    for at, field in enumerate(fields):
        y = TOP + (at + 0.5) * ROW
        shapes.append(_text(LEFT - 12, y + 4, field.removeprefix("self_"), Font(anchor="end")))
        shapes += _bar(field, schedule["statements"], y)
    bottom = TOP + len(fields) * ROW
    shapes += _schedule_legend(LEFT, bottom + 34)
    width = LEFT + len(steps) * COLUMN + 20
    return _svg(width, bottom + 56, f"The schedule of {name}", shapes)


def _heading(x: float, step: dict[str, Any]) -> list[str]:
    if step["statement"] == "halo exchange":
        guard = "if dirty" if step["guarded"] else "always"
        first, second, third = "exchange", f"to level {step['depth']['text']}", guard
        colour = CLEAN
    else:
        kernel = step["body"][0]["kernel"].removesuffix("_kernel_type")
        reach = f"owned, halo {step['depth']['text']}" if step["reach"] == "halo" else step["reach"]
        first, second, third = kernel, f"{step['over']}, {reach}", ""
        colour = INK
    font = Font(12, colour, "middle")
    return [
        _text(x, 26, first, Font(12, colour, "middle", "bold")),
        _text(x, 42, second, font),
        _text(x, 58, third, font),
    ]


def _bar(field: str, statements: list[dict[str, Any]], y: float) -> list[str]:
    """Draw the state of the halo of `field` over all steps, and above it the steps."""
    bars, signs = [], []
    state, start, x = UNKNOWN, float(LEFT), float(LEFT)
    for item in statements:
        middle = x + COLUMN / 2
        kind, change = item["statement"], None
        if kind == "loop":
            signs += [_sign(middle, y, access) for access in _accesses(item, field)]
        elif item["datum"] == field:
            change = CLEAN if kind == "halo exchange" else STALE
            if kind == "halo exchange":
                signs.append(_arrow(middle, y))
        if change is not None:
            at = middle if kind == "halo exchange" else middle - COLUMN
            bars.append(_rect((start, y - 4, at - start, 8), state))
            state, start = change, at
        x += 0 if kind == "mark halo" else COLUMN
    bars.append(_rect((start, y - 4, x - start, 8), state))
    return bars + signs


def _accesses(loop: dict[str, Any], field: str) -> list[str]:
    return [arg["access"] for call in loop["body"] for arg in call["args"] if arg["datum"] == field]


def _sign(x: float, y: float, access: str) -> str:
    """Draw an access: a ring reads, a disc writes, a disc in a ring does both."""
    if access == "read":
        return _circle(x, y, 8, PAPER)
    return _circle(x, y, 8, INK if access == "write" else FAINT)


def _arrow(x: float, y: float) -> str:
    points = ((-12, 0), (-5, -6), (-5, -2), (5, -2), (5, -6), (12, 0), (5, 6), (5, 2), (-5, 2),
              (-5, 6))  # fmt: skip
    path = " ".join(f"{x + dx:g},{y + dy:g}" for dx, dy in points)
    return f'<polygon points="{path}" fill="{CLEAN}" stroke="{PAPER}"/>'


def _schedule_legend(x: float, y: float) -> list[str]:
    meanings = (
        (_sign(x + 8, y - 4, "read"), 8, "read"),
        (_sign(x + 76, y - 4, "write"), 76, "written"),
        (_sign(x + 164, y - 4, "inc"), 164, "both"),
        (_arrow(x + 240, y - 4), 244, "halo exchange"),
        (_rect((x + 356, y - 8, 18, 8), UNKNOWN), 366, "halo: known at run time only"),
        (_rect((x + 560, y - 8, 18, 8), STALE), 570, "stale"),
        (_rect((x + 640, y - 8, 18, 8), CLEAN), 650, "clean"),
    )
    return [
        shape
        for sign, offset, meaning in meanings
        for shape in (sign, _text(x + offset + 14, y, meaning, Font(12)))
    ]


# ---------------------------------------------------------------------------- speeds


def draw_speeds() -> str:
    """Draw how much faster `auto` and hand-written code are than PSyclone's best script."""
    shapes, scale, left, y, most = [], 80, 230, 40, 1.0
    for name, threads, times in _timings():
        peer = times["PSyclone's best"]
        label = f"{name}, {threads} thread{'s' * (threads != '1')}"
        shapes.append(_text(left - 10, y + 17, label, Font(anchor="end")))
        for word, colour in (("`auto`", OWNED), ("hand-written", FAINT)):
            if word in times:
                speed = peer / times[word]
                most = max(most, speed)
                shapes.append(_rect((left, y, speed * scale, 12), colour))
                shapes.append(_text(left + speed * scale + 6, y + 10, f"{speed:.2f}", Font(11)))
                y += 14
        y += 10
    mark = f'<line x1="{left + scale}" y1="30" x2="{left + scale}" y2="{y}" stroke="{INK}"/>'
    title = "Speed relative to PSyclone's best script"
    shapes += [mark, _text(left, 22, f"{title}: auto (blue), hand-written (grey)")]
    return _svg(left + round((most + 0.7) * scale), y + 12, title, shapes)


def _timings() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield case, threads and milliseconds by column of the first table on performance."""
    rows = [
        line.strip("| ") for line in PERFORMANCE.read_text("utf-8").split("\n") if line[:1] == "|"
    ]
    titles = rows[0].split(" | ")
    for row in takewhile(lambda row: row.count("|") >= len(titles) - 2, rows[2:]):
        name, threads, *words = row.split(" | ")
        columns = zip(titles[2:], words, strict=False)
        yield name, threads, {title: float(one) for title, one in columns if _is_time(one)}


def _is_time(word: str) -> bool:
    return word.replace(".", "").isdecimal()
