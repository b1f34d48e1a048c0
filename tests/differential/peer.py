"""PSyclone from PyPI, run in this process and remembered on disk.

Owns the only contact with the peer: `PeerLayers` gives the texts that PSyclone writes for an
algorithm of the corpus, or the refusal that it ends with. The answers for its four settings are
kept in a file per algorithm, whose name holds a hash of all that they depend on. It compares
nothing.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.metadata
import json
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fparser.two.utils import Base

PSYCLONE = "psyclone"


@dataclass(frozen=True, slots=True)
class Mode:
    """Name one setting under which an algorithm is compiled.

    Attributes:
        distributed: the PSy layer is for distributed memory (`-dm` or `-nodm`).
        annexed: dof loops compute the annexed dofs too (`COMPUTE_ANNEXED_DOFS`).
    """

    distributed: bool
    annexed: bool

    def __str__(self) -> str:
        return ("dm" if self.distributed else "nodm") + ("-annexed" if self.annexed else "-owned")


MODES = tuple(Mode(dm, annexed) for dm in (True, False) for annexed in (True, False))


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold what a compiler made of an algorithm: its two texts, or a refusal."""

    layer: str = ""
    algorithm: str = ""
    refusal: str = ""


def peer_version() -> str | None:
    """Return the version of the installed PSyclone, or None where it is not installed."""
    try:
        return importlib.metadata.version(PSYCLONE)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class PeerLayers:
    """Give PSyclone's PSy layers for algorithms whose kernels lie in one folder.

    Attributes:
        kernels: the folder with the kernel sources.
        store: a folder for the answers, kept from one test session to the next.
    """

    kernels: Path
    store: Path

    def answer(self, algorithm: Path, mode: Mode) -> Answer:
        """Return what PSyclone makes of `algorithm` under `mode`."""
        kept = self.store / f"{algorithm.stem}-{_fingerprint(algorithm, self.kernels)}.json"
        if not kept.exists():
            self.store.mkdir(parents=True, exist_ok=True)
            remember_what_is_parsed()
            # Several test processes may want it at once: it appears whole or not at all.
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(run_all_modes(algorithm, self.kernels)))
            part.replace(kept)
        return Answer(**json.loads(kept.read_text())[str(mode)])


@cache
def _fingerprint(algorithm: Path, kernels: Path) -> str:
    digest = hashlib.sha256(f"{peer_version()}".encode())
    text = algorithm.read_text()
    digest.update(text.encode())
    lowered = text.lower()
    for kernel in sorted(kernels.glob("*.[fF]90")):
        if kernel.stem.lower() in lowered:
            digest.update(kernel.read_bytes())
    return digest.hexdigest()[:16]


def run_all_modes(algorithm: Path, kernels: Path) -> dict[str, dict[str, str]]:
    """Return what PSyclone answers under each setting, by the setting's name."""
    return {str(mode): _run(algorithm, kernels, mode) for mode in MODES}


@cache
def remember_what_is_parsed() -> None:
    """Let PSyclone read each file once, and set its parser up once.

    It reads an algorithm and all its kernels for each setting, the file of its built-ins for each
    call of one, and sets its parser up for each expression of metadata, with the same result: most
    of its time goes there.
    """
    import psyclone.parse.algorithm as algorithms  # noqa: PLC0415
    import psyclone.parse.kernel as kernels  # noqa: PLC0415
    from fparser.two.parser import ParserFactory  # noqa: PLC0415
    from fparser.two.symbol_table import SYMBOL_TABLES  # noqa: PLC0415

    parse, create = cache(kernels.fpapi.parse), ParserFactory.create
    ready: list[tuple[str | None, type]] = []

    def parsed(path: str, **options: object) -> object:
        return parse.__wrapped__(path, **options) if options else parse(path)

    def created(factory: ParserFactory, std: str | None = None) -> type:
        SYMBOL_TABLES.clear()
        if [known for known, _ in ready] != [std]:
            ready[:] = [(std, create(factory, std=std))]
        return ready[0][1]

    kernels.fpapi = SimpleNamespace(parse=parsed, walk=kernels.fpapi.walk)
    ParserFactory.create = created
    entry = kernels.expr.FORT_EXPRESSION
    entry.parseString = cache(entry.parse_string)
    # PSyclone writes into the tree of an algorithm: each setting has a copy.
    tree_of = lru_cache(maxsize=1)(algorithms.parse_fp2)
    algorithms.parse_fp2 = lambda path: _copied(tree_of(path))


def _copied(tree: Base) -> Base:
    """Return a copy of a tree of fparser2; the reader, which has the file open, is shared."""
    from fparser.two.utils import walk  # noqa: PLC0415

    readers = [node.item.reader for node in walk(tree) if getattr(node, "item", None)]
    return copy.deepcopy(tree, {id(reader): reader for reader in readers})


def _run(algorithm: Path, kernels: Path, mode: Mode) -> dict[str, str]:
    # PSyclone is an optional third party; this is the one file that imports it.
    from psyclone.configuration import Config  # noqa: PLC0415
    from psyclone.errors import PSycloneError  # noqa: PLC0415
    from psyclone.generator import generate  # noqa: PLC0415

    Config.get().load(None, f"COMPUTE_ANNEXED_DOFS={str(mode.annexed).lower()}")
    Config.get().api = "lfric"
    try:
        rewritten, layer = generate(
            str(algorithm),
            api="lfric",
            kernel_paths=[str(kernels)],
            distributed_memory=mode.distributed,
        )
        return {"layer": str(layer), "algorithm": str(rewritten)}
    except (PSycloneError, NotImplementedError) as error:
        return {"refusal": f"{type(error).__name__}: {error}"}


def gocean_layer(algorithm: Path, kernels: Path, *, distributed: bool) -> str | None:
    """Return PSyclone's PSy layer for a GOcean algorithm, or None if it refuses or fails."""
    # PSyclone is an optional third party; this is the one file that imports it.
    from psyclone.configuration import Config  # noqa: PLC0415
    from psyclone.errors import PSycloneError  # noqa: PLC0415
    from psyclone.generator import generate  # noqa: PLC0415

    remember_what_is_parsed()
    Config.get().load(None)
    Config.get().api = "gocean"
    try:
        _, layer = generate(
            str(algorithm),
            api="gocean",
            kernel_paths=[str(kernels)],
            distributed_memory=distributed,
        )
    except (PSycloneError, NotImplementedError, KeyError):
        return None
    return str(layer)
