"""All procedures of a module with their statements, for interprocedural analyses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.symbols import Procedure
from psyclone_storage.languages.fortran.parse.body import code_of
from psyclone_storage.languages.fortran.parse.device_directives import as_called, joined
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import FileScopes, ScopeNode
from psyclone_storage.languages.fortran.parse.spec_statements import read_procedure

_NAME = regex(r"[a-z]\w*")


@dataclass(slots=True)
class ModuleCode:
    """Procedures of a module, parsed on demand.

    - `generics`: lower-case generic names with the keys of their specific procedures.

    - `submodules`: some procedures are defined in other files.
    """

    source: SourceText
    name: str
    generics: Mapping[str, tuple[str, ...]]
    submodules: bool
    _file: FileScopes = field(repr=False)
    _scopes: dict[str, ScopeNode | None] = field(repr=False)

    @property
    def procedures(self) -> tuple[str, ...]:
        """Keys of all procedures."""
        return tuple(self._scopes)

    def code(self, key: str) -> Routine | None:
        """Return the procedure `key`.

        Return None if undefined or defined in several `#if` branches.
        """
        scope = self._scopes.get(key)
        return None if scope is None else code_of(scope)

    def as_called(self, key: str) -> Procedure | None:
        """Return the record of the procedure or generic `key` for callers on a device, or None."""
        scopes = [self._scopes.get(one) for one in self.generics.get(key, (key,))]
        found = [as_called(scope) for scope in scopes if scope is not None]
        return joined(key, found) if found and len(found) == len(scopes) else None

    def is_recursive(self, key: str) -> bool:
        """Return whether a procedure is declared `recursive`."""
        scope = self._scopes.get(key)
        return scope is not None and scope.head is not None and "recursive" in scope.head.words

    def names_in(self, statements: frozenset[str]) -> frozenset[str]:
        """Return all names in specification statements that start with a given keyword."""
        inside = (scope.place.start for scope in self._scopes.values() if scope is not None)
        first = min(inside, default=len(self.source.text))
        texts = (item.text.lower() for item in self._file.statements if item.offset(0) < first)
        found = (_NAME.findall(text) for text in texts if _word(text) in statements)
        return frozenset(name for names in found for name in names[1:])


def _word(text: str) -> str:
    """Return the first word of a statement, or '' if it does not exist."""
    found = _NAME.match(text)
    return found.group() if found else ""


def read_modules(source: SourceText) -> Iterator[ModuleCode]:
    """Yield the modules of a file."""
    file = read_scopes(source)
    declared = (item for one in file.modules for block in one.generics for item in block.statements)
    heads = (*map(read_procedure, declared), *(scope.head for scope in file.scopes))
    separate = any(head is not None and "module" in head.words for head in heads)
    for module in file.modules:
        count = Counter(scope.key for scope in module.procedures)
        scopes = {
            scope.key: scope if count[scope.key] == 1 else None for scope in module.procedures
        }
        generics = {one.name: one.names for one in module.generics if one.name and not one.abstract}
        yield ModuleCode(source, module.key, generics, separate, file, scopes)
