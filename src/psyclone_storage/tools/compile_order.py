"""Compilation order of the files required by a generated PSy layer."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_names import defined_modules, used_modules


@dataclass(slots=True)
class CompileOrder:
    """Files in compilation order, and missing modules.

    - `files`: each file is after the files with the modules that it uses.

    - `missing`: a mapping from a missing module to the file that uses it.
    """

    files: list[Path] = field(default_factory=list)
    missing: dict[str, Path] = field(default_factory=dict)


def order_of_use(
    roots: Iterable[Path], index: SourceIndex, provided: Collection[str]
) -> CompileOrder:
    """Return the compilation order of `roots` and all files that they use.

    Modules in `provided` are already compiled. Others are searched in `index`. If several files
    have the same name, the first one is used.
    """
    order = CompileOrder()
    known = set(provided)
    for root in roots:
        _visit(root, index, known, order)
    return order


def missing_modules(text: str, provided: Collection[str]) -> tuple[str, ...]:
    """Return the modules used in a text that it does not define and that are not `provided`."""
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
    """Return the modules defined in `files`."""
    return tuple(name for file in files for name in defined_modules(read_source(file).text))


def compiled_modules(directories: Iterable[Path]) -> tuple[str, ...]:
    """Return the compiled modules in `directories`, found by their `.mod` files."""
    return tuple(file.stem.lower() for folder in directories for file in folder.glob("*.mod"))
