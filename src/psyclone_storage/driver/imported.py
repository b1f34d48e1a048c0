"""What the names are that kernels import: constants, variables, or something that nobody knows.

The modules that kernels import from are looked for where the kernels are. Only their specification
parts are read, once each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from psyclone_storage.analysis.bodies.intrinsics import PURE
from psyclone_storage.frontend.files import read_source
from psyclone_storage.frontend.fortran.modules import read_modules
from psyclone_storage.frontend.modules import INTRINSIC_MODULES
from psyclone_storage.frontend.search import SourceIndex
from psyclone_storage.ir.code import ImportedVariable, KernelCode
from psyclone_storage.ir.parsed import Declaration, Scope
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.transform.kernel.scopes import (
    imports_of,
    local_names,
    surroundings,
    used_kinds,
    used_names,
)


class Origin(NamedTuple):
    """The module that a name comes from, and its declaration; None for what is no variable."""

    module: str
    declaration: Declaration | None = None

    @property
    def is_constant(self) -> bool:
        """Whether it is declared as a constant."""
        return self.declaration is not None and "parameter" in self.declaration.attributes

    @property
    def is_variable(self) -> bool:
        """Whether it is declared as a variable."""
        return self.declaration is not None and not self.is_constant


@dataclass(slots=True)
class Modules:
    """The modules below some directories, but for `ignored` ones. What was read once is kept."""

    index: SourceIndex
    ignored: frozenset[str] = frozenset()
    _read: dict[Path, tuple[Scope, ...]] = field(default_factory=dict)

    def origin(self, module: str, name: str, behind: frozenset[str] = frozenset()) -> Origin | None:
        """Return where `name`, which `module` offers, comes from; None if nobody knows.

        A module offers what it declares and what it imports. `behind` are the modules that are
        being asked.
        """
        home, name = module.lower(), name.lower()
        if home in INTRINSIC_MODULES:
            return Origin(home)
        scope = None if home in behind else self._scope(home)
        if scope is None:
            return None
        for declaration in scope.declarations:
            if declaration.name.lower() == name:
                return Origin(scope.name, declaration)
        return self._imported(scope, name, behind | {home})

    def home_of_kind(self, origin: Origin) -> tuple[str, str] | None:
        """Return the module and the name behind the kind of a variable's type, None if unknown."""
        declared = origin.declaration
        kind = declared.type.kind if declared and isinstance(declared.type, ScalarType) else None
        found = self.origin(origin.module, kind) if kind and kind.isidentifier() else None
        if found is not None and found.declaration is not None:
            return found.module, found.declaration.name
        return self._named_import(origin.module, kind) if kind else None

    def _named_import(self, module: str, name: str) -> tuple[str, str] | None:
        """Return what `module` imports by the name `name`, or as a whole from its one import."""
        scope = self._scope(module.lower())
        assert scope is not None
        for use in scope.uses:
            for item in use.renames if use.only is None else use.only:
                if item.local.lower() == name.lower():
                    return use.module, item.original
        whole = [use.module for use in scope.uses if use.only is None]
        return (whole[0], name) if len(whole) == 1 and name.isidentifier() else None

    def _imported(self, scope: Scope, name: str, behind: frozenset[str]) -> Origin | None:
        found: list[Origin | None] = []
        for use in scope.uses:
            for item in use.renames if use.only is None else use.only:
                if item.local.lower() == name:
                    return self.origin(use.module, item.original, behind)
            if use.only is None:
                found.append(self.origin(use.module, name, behind))
        declared = next((item for item in found if item and item.declaration), None)
        return declared or (None if None in found else Origin(scope.name))

    def _scope(self, module: str) -> Scope | None:
        if module in self.ignored:
            return None
        for path in self.index.candidates(module):
            if path not in self._read:
                self._read[path] = read_modules(read_source(path))
            for scope in self._read[path]:
                if scope.name.lower() == module:
                    return scope
        return None


@dataclass(frozen=True, slots=True)
class KnownImports:
    """The names that a kernel imports, in lower case, by what they are."""

    constants: frozenset[str]
    variables: tuple[ImportedVariable, ...]
    unresolved: frozenset[str]


def imports_known(code: KernelCode, modules: Modules) -> KnownImports:
    """Return what the names are that `code` takes from other modules.

    Constants are all that it and its module import by name, and what it uses of modules that are
    imported as a whole; the rest is what it uses. A kind is a constant wherever it comes from.
    """
    used = used_names(code)
    origins = {
        name.local.lower(): modules.origin(use.module, name.original)
        for use, name in imports_of(code)
    }
    constants = {name for name, origin in origins.items() if origin and origin.is_constant}
    whole = [use.module for use in (*code.uses, *code.module.uses) if use.whole]
    unknown = surroundings(code).unknown - used_kinds(code)
    words = (used & PURE) - local_names(code)
    origins = {name: origin for name, origin in origins.items() if name in used}
    origins |= {name: _of_whole(modules, whole, name) for name in unknown}
    # A variable may have the name of a function of the language.
    origins |= {
        name: origin
        for name in words
        if (origin := _of_whole(modules, whole, name)) and origin.is_variable
    }
    variables = tuple(
        ImportedVariable(name, origin.module, _declared(origin), modules.home_of_kind(origin))
        for name, origin in sorted(origins.items())
        if origin is not None and origin.is_variable
    )
    constants |= {name for name, origin in origins.items() if origin and origin.is_constant}
    unresolved = {name for name, origin in origins.items() if origin is None}
    return KnownImports(frozenset(constants), variables, frozenset(unresolved - used_kinds(code)))


def _of_whole(modules: Modules, whole: list[str], name: str) -> Origin | None:
    """Return where a name comes from that one of the modules `whole` offers, if any does."""
    found = [modules.origin(module, name) for module in whole]
    declared = next((item for item in found if item and item.declaration), None)
    return declared or (None if None in found or not found else Origin(""))


def _declared(origin: Origin) -> Declare:
    declared = origin.declaration
    assert declared is not None
    return Declare(declared.name, declared.type, declared.attributes, declared.shape)
