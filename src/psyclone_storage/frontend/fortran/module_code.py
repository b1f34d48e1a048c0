"""All procedures of a module with their statements, for whoever follows calls into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.body import code_of
from psyclone_storage.frontend.fortran.device_directives import as_called, joined
from psyclone_storage.frontend.fortran.statements import SourceStatement, scan
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader, read_units
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.symbols import Procedure

_PROCEDURES = (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION)
_NAME = regex(r"[a-z]\w*")
_OF_SUBMODULE = regex(r"(?:\w+\s+)*?module\s+(?:(?:pure|elemental|impure|recursive)\s+)*"
                      r"(?:\w+(?:\s*\([^()]*\))?\s+)?(?:subroutine|function)\s+\w+")  # fmt: skip


@dataclass(slots=True)
class ModuleCode:
    """The procedures of a module, read when they are asked for.

    `generics` are the names that stand for several of them, by their keys. With `submodules` there
    are procedures that other files have.
    """

    source: SourceText
    name: str
    generics: Mapping[str, tuple[str, ...]]
    submodules: bool
    _reader: UnitReader = field(repr=False)
    _statements: list[SourceStatement] = field(repr=False)
    _scopes: dict[str, OpenScope | None] = field(repr=False)

    @property
    def procedures(self) -> tuple[str, ...]:
        """The keys of all procedures."""
        return tuple(self._scopes)

    def code(self, key: str) -> KernelCode | None:
        """Return the procedure `key`, None if there is none, or several by preprocessor."""
        scope = self._scopes.get(key)
        return None if scope is None else code_of(self._reader, scope, self._statements)

    def as_called(self, key: str) -> Procedure | None:
        """Return the procedure or generic name `key` as callers on a device have to know it."""
        scopes = [self._scopes.get(one) for one in self.generics.get(key, (key,))]
        found = [as_called(self._reader, scope) for scope in scopes if scope is not None]
        return joined(key, found) if found and len(found) == len(scopes) else None

    def is_recursive(self, key: str) -> bool:
        """Return whether a procedure is declared to be one that may call itself."""
        scope = self._scopes.get(key)
        return scope is not None and "recursive" in scope.opening.text.lower()

    def names_in(self, statements: frozenset[str]) -> frozenset[str]:
        """Return all names in those statements of the specification part that begin with a word."""
        inside = (scope.opening.offset(0) for scope in self._scopes.values() if scope is not None)
        first = min(inside, default=len(self.source.text))
        texts = (item.text.lower() for item in self._statements if item.offset(0) < first)
        found = (_NAME.findall(text) for text in texts if _word(text) in statements)
        return frozenset(name for names in found for name in names[1:])


def _word(text: str) -> str:
    """Return the first word of a statement, nothing of a declaration that has it for a name."""
    found = _NAME.match(text)
    return found.group() if found else ""


def read_modules(source: SourceText) -> Iterator[ModuleCode]:
    """Yield the modules of a file."""
    reader, statements = read_units(source)[0], list(scan(source))
    separate = any(_OF_SUBMODULE.match(item.text.lower()) for item in statements)
    for module in reader.opened:
        if module.kind is not ScopeKind.MODULE:
            continue
        inside = [scope for scope in reader.opened
                  if scope.parent is module and scope.kind in _PROCEDURES]  # fmt: skip
        count = Counter(scope.name.lower() for scope in inside)
        scopes = {
            scope.name.lower(): scope if count[scope.name.lower()] == 1 else None
            for scope in inside
        }
        generics = {
            one.name: (*one.procedures, *(name.lower() for name, _ in one.bodies))
            for one in module.generics
            if one.name and not one.abstract
        }
        yield ModuleCode(
            source, module.name.lower(), generics, separate, reader, statements, scopes
        )
