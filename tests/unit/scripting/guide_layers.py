"""What the tests of the developers' guide work on: small schedules, and layers of the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.schedule import KernelCall as CallRecord
from psyclone_storage.scripting import (
    Argument,
    HaloExchange,
    Psy,
    Schedule,
)
from psyclone_storage.scripting.psyclone_modules import psyclone_alias
from psyclone_storage.scripting.psyclone_names import MODULES
from psyclone_storage.tools.factories import PSyFactory, parse
from unit.analysis.small import RULES
from unit.scripting.test_changes import program

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus" / "lfric"
GRIDS = CORPUS.parent / "gocean"
KERNELS = CORPUS / "kernels"


def small(*calls: CallRecord, psyclone: bool = False) -> Schedule:
    """Return the schedule of calls that are written in a line."""
    file = Psy(program(*calls), RULES, psyclone=psyclone)
    return file.invokes.invoke_list[0].schedule


def layer(name: str, *, distributed: bool = True, annexed: bool = False, grid: bool = False) -> Psy:
    """Return the PSy layer of an algorithm of the corpus."""
    settings = default_settings()
    settings = replace(settings, lfric=replace(settings.lfric, compute_annexed_dofs=annexed))
    folder, api = (GRIDS, "gocean") if grid else (CORPUS, "lfric")
    paths = [folder / "kernels"]
    _, info = parse(folder / f"{name}.x90", api, kernel_paths=paths, settings=settings)
    return PSyFactory(api, distributed).create(info)


def one(name: str, **options: bool) -> Schedule:
    """Return the schedule of the first invoke of an algorithm of the corpus."""
    return layer(name, **options).invokes.invoke_list[0].schedule


def fields(tree: Schedule) -> list[object]:
    """Return the fields that are exchanged, in order."""
    return [exchange.args[0].name for exchange in tree.walk(HaloExchange)]


@contextmanager
def as_in_a_script(**words: str) -> Iterator[dict[str, object]]:
    """Let PSyclone's modules be ours; give those names of them that are asked for."""
    with psyclone_alias(MODULES):
        found: dict[str, object] = {}
        for name, module in words.items():
            exec(f"from {module.replace('__', '.')} import {name}", found)
        yield found


def names_of(args: Sequence[Argument]) -> list[str]:
    return [arg.use.statement for arg in args]
