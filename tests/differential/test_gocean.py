"""GOcean's PSy layers compared with PSyclone's: the same calls and loops, and no more exchanges.

Both texts are reduced to the calls of kernels, with their arguments and the bounds of the enclosing
loops, and the exchanges. Calls must be identical. Each of our exchanges must also be one of
PSyclone's, and may be missing or deeper for a reason that is listed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from differential.peer import gocean_layer
from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

pytestmark = pytest.mark.differential

CORPUS = Path(__file__).parents[1] / "corpus" / "gocean"
ALGORITHMS = sorted(path.stem for path in CORPUS.glob("*.x90"))

_KIND = "a constant with a kind ends PSyclone with a KeyError"
_TWICE = "PSyclone refuses a field that is passed twice, even if both are only read"
REFUSED = {
    "boundaries": _KIND,
    "named": _KIND,
    "offset_any": _KIND,
    "scalars_expressions": _KIND,
    "scalars_literal": _KIND,
    "stencil_one_sided": _KIND,
    "read_between": _TWICE,
    "same_field_read_twice": _TWICE,
    "renamed_kernel": "PSyclone does not look behind the local name of a kernel",
}
OTHER_NAMES = {"array_elements": ("tracers_2", "tracers")}
"""Dummies that PSyclone calls otherwise: ours, theirs."""

DEEPER = ("stencil_far", "stencil_near_then_far")
"""Exchanges of PSyclone have depth 1, whatever the stencil is (W16)."""

_DO = re.compile(r"do (\w+) = (.+?), (.+?)(?:, 1)?$")
_CALL = re.compile(r"call (\w+)\((.*)\)$")
_EXCHANGE = re.compile(r"call (\S+)%halo_exchange\((?:depth=)?(.+)\)$")


@dataclass(frozen=True)
class Layer:
    """What a PSy layer does: its calls, each with the loops around it, and its exchanges."""

    calls: tuple[str, ...]
    exchanges: tuple[tuple[str, str], ...]


def read_layer(text: str) -> Layer:
    """Read the routines of a PSy layer; blanks and case do not count, nor `dim=` in `size`."""
    joined = re.sub(r"&\s*\n\s*&?", "", text).lower()
    calls, exchanges, around = [], [], []
    for line in (part.strip() for part in joined.splitlines()):
        if found := _DO.match(line):
            around.append(f"{found[1]}={found[2]}:{found[3]}")
        elif line.replace(" ", "") == "enddo":
            around.pop()
        elif found := _EXCHANGE.match(line):
            exchanges.append((found[1], found[2]))
        elif found := _CALL.match(line):
            calls.append(_plain(f"{around} {found[1]}({found[2]})"))
    return Layer(tuple(calls), tuple(exchanges))


def _plain(text: str) -> str:
    return text.replace(" ", "").replace("dim=", "")


def ours(name: str, *, distributed: bool) -> Layer:
    request = CompileRequest("gocean", distributed, (CORPUS / "kernels",))
    compiler = make_compiler(default_settings(), request)
    return read_layer(compiler.compile_algorithm(CORPUS / f"{name}.x90").psy_text)


def theirs(name: str, *, distributed: bool) -> Layer | None:
    """Return PSyclone's layer, or None if it refuses the algorithm."""
    algorithm = CORPUS / f"{name}.x90"
    text = gocean_layer(algorithm, CORPUS / "kernels", distributed=distributed)
    return None if text is None else read_layer(text)


@pytest.mark.parametrize("distributed", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_calls_and_exchanges(name: str, distributed: bool) -> None:
    peer = theirs(name, distributed=distributed)
    mine = ours(name, distributed=distributed)
    assert (peer is None) == (name in REFUSED)
    if peer is None:
        return
    assert [_with_names_of_peer(call, name) for call in mine.calls] == list(peer.calls)
    exchanged = [(_with_names_of_peer(field, name), depth) for field, depth in mine.exchanges]
    assert {field for field, _ in exchanged} <= {field for field, _ in peer.exchanges}
    assert len(exchanged) <= len(peer.exchanges)
    deeper = any(depth != "1" for _, depth in exchanged)
    assert deeper == (distributed and name in DEEPER)


def _with_names_of_peer(text: str, name: str) -> str:
    return text.replace(*OTHER_NAMES[name]) if name in OTHER_NAMES else text
