"""Numbers the halo exchanges of generated layers, so that the running program may change one.

Owns the change of the text, and what is made of what the program then says. An exchange asks
`lfric/mutation_mod.f90` whether to happen, and how deep; nothing else of the layer is touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from runtime.programs import Run

EXCHANGE = re.compile(
    r"^(?P<indent> *)call (?P<proxy>[\w%()]+)%halo_exchange\((?:depth=)?(?P<depth>.*)\)$",
    re.MULTILINE,
)
MODULE = re.compile(r"^module \w+\n", re.MULTILINE)
ROUTINE = re.compile(r"^ *subroutine (\w+)", re.MULTILINE)
USE = "  use mutation_mod, only: depth_of, performs\n"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange of a layer.

    Attributes:
        number: the number that the program knows it by, from 1.
        algorithm: the algorithm whose layer it is in.
        place: the algorithm, the routine, the field and its place among the routine's exchanges
            of that field, such as `stencils/invoke_chain/x/2`.
    """

    number: int
    algorithm: str
    place: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one mutation.

    Attributes:
        mutation: the place of the exchange and what was done to it, `drop` or `shorten`.
        reached: whether the program has done something else because of it.
        noticed: whether the answers have changed.
    """

    mutation: str
    reached: bool
    noticed: bool


def number_exchanges(layers: Iterable[Path]) -> list[Exchange]:
    """Rewrite `layers` in place so that every exchange asks, and return the exchanges."""
    found: list[Exchange] = []
    for path in layers:
        text = path.read_text(encoding="utf-8")
        algorithm = path.stem.removesuffix("_psy").removesuffix("_alg_mod")
        matches = list(EXCHANGE.finditer(text))
        assert len(matches) == text.count("%halo_exchange(")
        exchanges = list_exchanges(text, matches, algorithm, len(found) + 1)
        pairs = zip(matches, exchanges, strict=True)
        changed = [(match.span(), asking(match, exchange.number)) for match, exchange in pairs]
        for (start, end), call in reversed(changed):
            text = text[:start] + call + text[end:]
        text, modules = MODULE.subn(rf"\g<0>{USE}", text, count=1)
        assert modules
        path.write_text(text, encoding="utf-8")
        found += exchanges
    return found


def list_exchanges(
    text: str, matches: list[re.Match[str]], algorithm: str, first: int
) -> list[Exchange]:
    """Return the exchanges that were matched in the layer of an algorithm."""
    met: list[str] = []
    exchanges = []
    for number, match in enumerate(matches, first):
        routine = ROUTINE.findall(text, 0, match.start())[-1]
        met.append(f"{algorithm}/{routine}/{match['proxy'].removesuffix('_proxy')}")
        exchanges.append(Exchange(number, algorithm, f"{met[-1]}/{met.count(met[-1])}"))
    return exchanges


def asking(match: re.Match[str], number: int) -> str:
    """Return the exchange as one that asks."""
    depth = f"depth_of({number}, {match['depth']})"
    call = f"call {match['proxy']}%halo_exchange(depth={depth})"
    return f"{match['indent']}if (performs({number})) {call}"


def lines_of(exchanges: list[Exchange]) -> list[str]:
    """Return the mutations to try, and each algorithm without one for comparison."""
    algorithms = sorted({exchange.algorithm for exchange in exchanges})
    plain = [f"0 none {name}\n" for name in algorithms]
    return plain + [
        f"{exchange.number} {change} {exchange.algorithm}\n"
        for exchange in exchanges
        for change in ("drop", "shorten")
    ]


def judge(run: Run, exchanges: list[Exchange]) -> list[Outcome]:
    """Return what came of each mutation over all meshes."""
    lines = [line.split() for line in run.answers[0]]
    right = {(mesh, name): digest for mesh, _, change, name, _, digest in lines if change == "none"}
    reached: dict[str, bool] = {}
    noticed: dict[str, bool] = {}
    for mesh, number, change, algorithm, was_mutated, digest in lines:
        if change == "none":
            continue
        mutation = f"{change} {exchanges[int(number) - 1].place}"
        reached[mutation] = reached.get(mutation, False) or was_mutated == "T"
        noticed[mutation] = noticed.get(mutation, False) or digest != right[mesh, algorithm]
    return [Outcome(mutation, reached[mutation], noticed[mutation]) for mutation in reached]
