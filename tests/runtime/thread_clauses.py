"""What directives say of the variables that each thread has for itself, and what becomes of those.

Reads generated Fortran by lines and shares nothing with the back end, which writes the clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

CLAUSE = re.compile(r"\b(?:private|firstprivate|lastprivate|reduction)\((?:[^:()]*:)?([^()]*)\)")
SHARED = r"(?:parallel|taskloop|teams|kernels)"
OPENING = re.compile(rf"^ *!\$(?:omp|acc) (?!end\b).*\b{SHARED}\b")
ENDING = re.compile(rf"^ *!\$(?:omp|acc) end .*\b{SHARED}\b")
ASSIGNED = re.compile(r"^( *)(\w+) = ")
COUNTED = re.compile(r"^ *do (\w+) = ")


@dataclass(slots=True)
class Threads:
    """A part of a layer that threads share.

    Attributes:
        listed: the variables that clauses name.
        assigned: the scalars that are assigned in it.
        counted: the variables that loops in it count with.
    """

    listed: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)

    @property
    def private_by_language(self) -> set[str]:
        """Variables that are private whether a clause says so or not (OpenMP 5.0, 2.19.1.1)."""
        return self.counted - self.assigned

    def racing(self, without: str = "") -> set[str]:
        """Return what threads change and share if a variable is not in the clauses."""
        return self.assigned - (self.listed - {without})


def names_in_clauses(directive: str) -> list[str]:
    """Return the variables that the clauses of a directive name."""
    return [name.strip() for names in CLAUSE.findall(directive) for name in names.split(",")]


def parts_for_threads(layer: str) -> Iterator[Threads]:
    """Yield the outermost constructs of a layer that several threads take part in."""
    depth, part = 0, Threads()
    for line in _whole(layer.split("\n")):
        if ENDING.match(line):
            depth -= 1
            if depth == 0:
                yield part
                part = Threads()
        elif OPENING.match(line):
            depth += 1
        if depth:
            _read(line, part)


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Yield directives and statements with their continuation lines."""
    waiting = ""
    for line in lines:
        text = (
            re.sub(r"^ *!\$(?:omp|acc)&?", "", line) if waiting.lstrip().startswith("!$") else line
        )
        waiting = waiting + text if not waiting else f"{waiting} {text.lstrip()}"
        if waiting.endswith("&"):
            waiting = waiting[:-1].rstrip()
            continue
        yield waiting
        waiting = ""


def _read(line: str, part: Threads) -> None:
    if line.lstrip().startswith("!$"):
        part.listed |= set(names_in_clauses(line))
    elif match := COUNTED.match(line):
        part.counted.add(match[1])
    elif match := ASSIGNED.match(line):
        part.assigned.add(match[2])
