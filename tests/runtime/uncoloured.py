"""Lets what threads do happen at the same time, in the worst way that may be, on one thread.

Owns the change of the text of coloured layers. Where the colours of a loop are dropped, all its
cells take place at once, by `lfric/at_once_mod.f90`; where a variable is no longer private, or not
reduced, each thread finds in it what another has put there. No luck is needed to see that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from runtime.mutations import MODULE, ROUTINE, USE, Place
from runtime.thread_clauses import ASSIGNED, names_in_clauses

COLOURS = re.compile(r"^( *)do colour = .*$")
CALL = re.compile(r"^ *call (\w+)_code\(")
DATA = re.compile(r"\b\w+_data\b")
USES = f"{USE}, share\n  use at_once_mod, only: begin_all, begin_one, end_all, end_one"


def number_colours(layers: Iterable[Path]) -> list[Place]:
    """Rewrite coloured `layers` in place so that every coloured loop asks; return the places."""
    found: list[Place] = []
    for path in layers:
        algorithm = path.stem.removesuffix("_psy").removesuffix("_alg_mod")
        text = path.read_text(encoding="utf-8")
        loops = text.count("do colour = ")
        before = len(found)
        lines = list(_with_shared(text.split("\n"), algorithm, found))
        variables = len(found) - before
        path.write_text("\n".join(_with_questions(lines, algorithm, found)), encoding="utf-8")
        assert len(found) - before - variables == loops
    return found


def _with_shared(lines: list[str], algorithm: str, found: list[Place]) -> Iterator[str]:
    """Yield the lines of a layer; variables of a thread may be shared where they are assigned."""
    routine, mine = "", dict[str, int]()
    assigned = ""
    for line in lines:
        if opening := ROUTINE.match(line):
            routine = opening[1]
        if "!$omp parallel" in line:
            mine = dict.fromkeys(names_in_clauses(line), 0)
        elif "!$omp end parallel" in line:
            mine = {}
        yield line
        if (match := ASSIGNED.match(line)) and match[2] in mine:
            assigned = match[2]
            if not mine[assigned]:
                name = f"{algorithm}/{routine}/private({assigned})/{len(found) + 1}"
                found.append(Place(len(found) + 1, algorithm, name, ("drop",)))
                mine[assigned] = len(found)
        if assigned and not line.endswith("&"):
            yield f"      call share({mine[assigned]}, {assigned})"
            assigned = ""


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
        loops = sum("/colours(" in place.name for place in found)
        loop = [line]
        while loop[-1] != end:
            loop.append(next(rest))
        kernel = next(match[1] for one in loop if (match := CALL.match(one)))
        name = f"{algorithm}/{routine}/colours({kernel})/{loops + 1}"
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
