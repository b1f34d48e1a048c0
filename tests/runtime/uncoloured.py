"""Lets the cells of a colour, or of all colours of a loop, happen at the same time.

Owns the change of the text of coloured layers. Where a place is dropped, its colours are: then all
cells of the loop take place at once, by `lfric/at_once_mod.f90`, and no luck is needed to see what
threads would do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runtime.mutations import MODULE, ROUTINE, USE, Place

COLOURS = re.compile(r"^( *)do colour = .*$")
CALL = re.compile(r"^ *call (\w+)_code\(")
DATA = re.compile(r"\b\w+_data\b")
USES = f"{USE}\n  use at_once_mod, only: begin_all, begin_one, end_all, end_one"


def number_colours(layers: Iterable[Path]) -> list[Place]:
    """Rewrite coloured `layers` in place so that every coloured loop asks; return the places."""
    found: list[Place] = []
    for path in layers:
        algorithm = path.stem.removesuffix("_psy").removesuffix("_alg_mod")
        text = path.read_text(encoding="utf-8")
        loops = text.count("do colour = ")
        before = len(found)
        lines = _with_questions(text.split("\n"), algorithm, found)
        path.write_text("\n".join(lines), encoding="utf-8")
        assert len(found) - before == loops
    return found


def _with_questions(lines: list[str], algorithm: str, found: list[Place]) -> Iterator[str]:
    """Yield the lines of a layer with those that ask; nothing else may run in parallel."""
    routine, rest = "", iter(lines)
    for line in rest:
        if opening := ROUTINE.match(line):
            routine = opening[1]
        if "!$omp" in line:
            continue
        colours = COLOURS.match(line)
        if not colours:
            yield line
            if MODULE.match(line):
                yield USES
            continue
        number, end = len(found) + 1, f"{colours[1]}end do"
        loop = [line]
        while loop[-1] != end:
            loop.append(next(rest))
        kernel = next(match[1] for one in loop if (match := CALL.match(one)))
        name = f"{algorithm}/{routine}/colours({kernel})/{number}"
        found.append(Place(number, algorithm, name, ("drop",)))
        yield from _at_once(loop, number)


def _at_once(loop: list[str], number: int) -> Iterator[str]:
    """Yield a loop over colours in which cells that might run in parallel do so."""
    indent = " " * (len(loop[0]) - len(loop[0].lstrip()))
    data = list(dict.fromkeys(DATA.findall("\n".join(loop))))

    def each(does: str) -> Iterator[str]:
        for at, name in enumerate(data, start=1):
            yield f"{indent}call {does}({at}, {name})"

    def only(condition: str, does: str) -> Iterator[str]:
        yield from (f"{indent}if ({condition}) then", *each(does), f"{indent}end if")

    whole, colour = f".not. performs({number})", f"performs({number})"
    yield from only(whole, "begin_all")
    calling = False
    for line in loop[:-1]:
        if "!$omp parallel" in line:
            yield from only(colour, "begin_all")
        elif "!$omp end parallel" in line:
            yield from only(colour, "end_all")
        else:
            if CALL.match(line):
                calling = True
                yield from each("begin_one")
            yield line
            if calling and not line.endswith("&"):
                calling = False
                yield from each("end_one")
    yield loop[-1]
    yield from only(whole, "end_all")
