"""In which order the files that a generated PSy layer needs must be compiled."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_names import defined_modules, used_modules


@dataclass(slots=True)
class CompileOrder:
    """Files, each after those whose modules it uses, and the modules that were not found.

    `missing` maps a module to the file that uses it.
    """

    files: list[Path] = field(default_factory=list)
    missing: dict[str, Path] = field(default_factory=dict)


def order_of_use(
    roots: Iterable[Path], index: SourceIndex, provided: Collection[str]
) -> CompileOrder:
    """Return the order in which `roots` and all that they use can be compiled.

    Modules in `provided` are there already; others are looked up in `index`. Of several files of
    one name the first is taken.
    """
    order = CompileOrder()
    known = set(provided)
    for root in roots:
        _visit(root, index, known, order)
    return order


def missing_modules(text: str, provided: Collection[str]) -> tuple[str, ...]:
    """Return the modules that the text uses which are neither in `provided` nor its own."""
    own = {*defined_modules(text), *provided}
    return tuple(name for name in used_modules(text) if name not in own)


def _visit(file: Path, index: SourceIndex, known: set[str], order: CompileOrder) -> None:
    text = read_source(file).text
    own = defined_modules(text)
    if own and set(own) <= known:
        return
    known.update(own)
    for module in used_modules(text):
        if module in known:
            continue
        found = index.candidates(module)
        if found:
            _visit(found[0], index, known, order)
        known.add(module)
        if not found:
            order.missing.setdefault(module, file)
    order.files.append(file)


def modules_defined_in(files: Iterable[Path]) -> tuple[str, ...]:
    """Return the modules that `files` define."""
    return tuple(name for file in files for name in defined_modules(read_source(file).text))


def compiled_modules(directories: Iterable[Path]) -> tuple[str, ...]:
    """Return the modules that have been compiled into `directories`, by their `.mod` files."""
    return tuple(file.stem.lower() for folder in directories for file in folder.glob("*.mod"))
