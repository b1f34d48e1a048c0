"""Facts about plain Fortran files that the metadata of LFRic kernels provide.

A kernel may be transformed like any other file. Its metadata contain the function spaces of its
dofmaps: on a discontinuous space no two columns share a dof.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.settings import Api, Settings
from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir.facts import Fact, FactKind, Facts, FactSource
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine, SourceFile
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel

if TYPE_CHECKING:
    from psyclone_storage.targets.spec import ApiParts

_KERNEL = "kernel_type"


def facts_of_metadata(file: SourceFile, settings: Settings) -> Facts:
    """Return what the metadata of the kernels in a file promise about their dofmaps.

    A kernel whose metadata are not complete, or whose subroutine has other arguments than they
    require, promises nothing; nor does a dofmap that the subroutine may change.
    """
    if _KERNEL not in key_of(file.source.text):
        return ()
    from psyclone_storage.targets.apis import api_parts  # noqa: PLC0415 (few files are kernels)

    return tuple(_facts(file, settings, api_parts(Api.LFRIC)))


def _facts(file: SourceFile, settings: Settings, parts: ApiParts) -> Iterator[Fact]:
    source = file.source
    routines = file.routines()
    for name in kernel_types(source):
        try:
            parsed = read_kernel(source, name)
            kernel = parts.interpret(parsed, settings)
            wanted = parts.dummies(kernel)
        except CompileError:
            continue
        for implementation in parsed.implementations:
            key = key_of(implementation)
            routine = routines.get(key)
            if routine is None or len(routine.dummies) != len(wanted):
                continue
            for own, dummy in zip(routine.dummies, wanted, strict=True):
                if dummy.role is not Role.WHOLE_DOFMAP or is_continuous(dummy.space):
                    continue
                if _is_read_only(routine, own):
                    entry = None if dummy.arg is None else kernel.args[dummy.arg].span
                    where = "" if entry is None else f"{source.name}:{entry.line}"
                    yield Fact(FactKind.COLUMNS, own, key, "", FactSource.METADATA, where)


def _is_read_only(routine: Routine, name: str) -> bool:
    """Return whether a dummy argument is declared with `intent(in)`."""
    declared = routine.declared(key_of(name))
    words = () if declared is None else declared.words
    return "intent(in)" in {"".join(word.split()) for word in words}
