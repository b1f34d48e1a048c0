"""Check that an infrastructure has the extensions that generated code will use.

Only the infrastructures of this project have these extensions, which settings enable. The check
requires the sources of the infrastructure in the searched directories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import Diagnostic, raise_if_any
from psyclone_storage.config.settings import Settings
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.targets.spec import AskedExtension


def with_extensions(
    settings: Settings,
    asks: Callable[[Settings], tuple[AskedExtension, ...]],
    index: SourceIndex,
) -> Settings:
    """Return `settings` for the infrastructure that the sources in `index` contain.

    A module without sources is assumed to have an extension, unless another infrastructure is
    recognised.

    Raises:
        CompileError: S117, the sources of a module lack an extension that has no replacement.
    """
    lacking = [(extension, *found) for extension in asks(settings)
               for found in _lacking(extension, index)]  # fmt: skip
    replaced = [extension.without for extension, *_ in lacking if extension.without is not None]
    if replaced:
        return with_extensions(replaced[0], asks, index)
    raise_if_any([
        Diagnostic(
            "S117",
            f"{extension.by} asks for {missing}.",
            file=str(file),
            hint=f"{extension.instead}, or generate for the infrastructure of this project.",
        )
        for extension, file, missing in lacking
    ])  # fmt: skip
    return settings


def _lacking(extension: AskedExtension, index: SourceIndex) -> Iterator[tuple[Path, str]]:
    """Yield the file of an infrastructure that lacks an extension, and a description."""
    module, name = extension.module, extension.name
    if not index.module_candidates(module) and extension.mark is not None:
        beside, only_ours = extension.mark
        for file in _without(beside, only_ours, index):
            lacking = f"the infrastructure of '{beside}' in '{file}' does not have"
            yield file, f"the module '{module}', which {lacking}"
    for file in _without(module, name, index):
        yield file, f"'{name}', which the module '{module}' in '{file}' does not have"


def _without(module: str, name: str, index: SourceIndex) -> Iterator[Path]:
    """Yield the file of a module if it is unique and does not contain a name."""
    found = index.module_candidates(module)
    if len(found) == 1 and not _has(index.read(found[0]).text, name):
        yield found[0]


def _has(text: str, name: str) -> bool:
    code = re.sub(r"!.*", "", text)
    return re.search(rf"\b{re.escape(name)}\b", code, re.IGNORECASE) is not None
