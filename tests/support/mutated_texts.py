"""Programs in Python with some of their words changed, and how many of them are tried."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
WORDS = [
    *"( ) [ ] , : . = == + - * / // % ** @ 0 1 2.5 1e400 9999999999 if for return in range".split(),
    *"while lambda None True field scalar grid_property kernel GO_READ GO_STENCIL not and".split(),
    *('"000,010,000"', "'", "#", "\n", "\n    ", "\t", "é", "\0", "abs", "yield", "await", ":="),
]
WORDS_OF_COLUMNS = [
    *(word for word in WORDS if "GO_" not in word),
    *"GH_READ GH_WRITE GH_INC W3 W2 WTHETA STENCIL CROSS XORY1D operator scalar_array".split(),
    *"layers() dofs(W3) neighbours basis np.zeros(3) np.zeros len reversed GH_INTEGER a k".split(),
]
_ROUND = 1_000_000


def seeds(start: int, count: int, rounds: int) -> Iterator[int]:
    """Yield some numbers from `start` on, and others for each round behind the first."""
    for one in range(max(1, rounds)):
        yield from range(start + one * _ROUND, start + one * _ROUND + count)


def mutated(rng: random.Random, text: str, words: list[str] | None = None) -> str:
    """Return a text with some of its words left out, doubled, exchanged or replaced."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                tokens[at] = ""
            case 1:
                tokens[at] *= 2
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                tokens[at] = rng.choice(words or WORDS)
    return "".join(tokens)
