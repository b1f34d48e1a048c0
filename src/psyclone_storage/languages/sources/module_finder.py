"""Modules in directory trees, and the entities of the names that they export.

A module is searched in the file that uses it, in the file with its name, in the directory trees and
then in the include folders. It exports its declarations, the declarations in included files, and
its imports. If a module or an included file is not found, names that it might export are
unresolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import INCOMPLETE, Expr, Name, Origin, Sort, Symbol
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.rewrite import with_parts
from psyclone_storage.ir.symbols import ModuleSymbols
from psyclone_storage.ir.unit import Use
from psyclone_storage.languages.fortran.parse.comments import is_preprocessed
from psyclone_storage.languages.fortran.parse.module_symbols import read_module_symbols
from psyclone_storage.languages.sources.kernel_search import SourceIndex
from psyclone_storage.languages.sources.module_names import defined_modules

INCLUDE = regex(
    r"^[ \t]*(?:#[ \t]*)?include[ \t]*(['\"])(?P<name>.*?)\1.*$", re.IGNORECASE | re.MULTILINE
)
"""A line that includes a file."""


@dataclass(slots=True)
class ModuleFinder:
    """Finder of module declarations, with cached results.

    Modules in `ignored` are not read. Those in the file `own` have priority.
    """

    index: SourceIndex
    ignored: frozenset[str] = frozenset()
    own: SourceText | None = None
    _read: dict[Path, tuple[ModuleSymbols, ...]] = field(default_factory=dict)
    _of_source: dict[SourceText, tuple[ModuleSymbols, ...]] = field(default_factory=dict)
    _texts: dict[SourceText, SourceText] = field(default_factory=dict)
    _found: dict[tuple[str, str], Symbol | None] = field(default_factory=dict)

    def among(self, index: SourceIndex) -> ModuleFinder:
        """Return a finder for the files of `index`, which shares the parsed files."""
        return replace(self, index=index, _found={}, _texts={})

    def within(self, source: SourceText) -> ModuleFinder:
        """Return a finder for a file, whose own modules have priority; it shares parsed files."""
        if all(self._is_found_in(source, name) for name in defined_modules(source.text)):
            return self
        return replace(self, own=source, _found={}, _texts={})

    def _is_found_in(self, source: SourceText, name: str) -> bool:
        """Return whether a module is found in a file, without priority for the file."""
        first = self.index.module_candidates(name)[:1]
        return any(str(path) == source.name and self.index.read(path) is source for path in first)

    def module(self, name: str) -> ModuleSymbols | None:
        """Return the declarations of the module `name`, or None if it is not found."""
        if name.lower() in self.ignored:
            return None
        own = None if self.own is None else self.of_source(self.own, name)
        if own is not None:
            return own
        for path in self.index.module_candidates(name):
            if path not in self._read:
                self._read[path] = self._modules_of(self.index.read(path))
            for found in self._read[path]:
                if found.name.lower() == name.lower():
                    return found
        return None

    def source_of(self, name: str) -> SourceText | None:
        """Return the file of the module `name`, or None if it is not found."""
        if self.module(name) is None:
            return None
        if self.own is not None and self.of_source(self.own, name) is not None:
            return self.own
        for path in self.index.module_candidates(name):
            if any(found.name.lower() == name.lower() for found in self._read[path]):
                return self.index.read(path)
        return None

    def of_source(self, source: SourceText, name: str) -> ModuleSymbols | None:
        """Return the declarations of the module `name` in `source`, or None."""
        if source not in self._of_source:
            self._of_source[source] = self._modules_of(source)
        for found in self._of_source[source]:
            if found.name.lower() == name.lower():
                return found
        return None

    def _modules_of(self, source: SourceText) -> tuple[ModuleSymbols, ...]:
        """Return the declarations of the modules in a file, including those in included files."""
        beside = Path(source.name).parent
        return tuple(
            self._with_included(found, beside, frozenset()) for found in read_module_symbols(source)
        )

    def with_declarations(
        self, scope: ModuleSymbols, included: tuple[str, ...], source: SourceText
    ) -> ModuleSymbols:
        """Return a scope of a file with the declarations in some of the files that it includes."""
        beside = Path(source.name).parent
        return self._with_included(replace(scope, included=included), beside, frozenset())

    def _with_included(
        self, scope: ModuleSymbols, beside: Path, around: frozenset[Path]
    ) -> ModuleSymbols:
        """Return a module with the declarations of its included files that are found."""
        symbols, uses, missing = dict(scope.symbols), list(scope.uses), list[str]()
        for name in scope.included:
            path = self.included(name, beside)
            if path is None or path in around:
                missing.append(name)
                continue
            text = f"module {scope.name}\n{self.index.read(path).text}\nend module {scope.name}\n"
            for part in read_module_symbols(SourceText(str(path), text)):
                inner = self._with_included(part, path.parent, around | {path})
                symbols = {**inner.symbols, **symbols}
                uses += inner.uses
                missing += inner.included
        if not scope.included:
            return scope
        return replace(scope, symbols=symbols, uses=tuple(uses), included=tuple(missing))

    def included(self, name: str, beside: Path) -> Path | None:
        """Return the file named by an `include` line in the folder `beside`, or None."""
        paths = (folder / name for folder in (beside, *self.index.folders))
        return next((path for path in paths if name and path.is_file()), None)

    def with_included(self, source: SourceText) -> SourceText:
        """Return a file with the text of its included files; nested includes are not expanded."""
        if source not in self._texts:

            def text_of(found: re.Match[str]) -> str:
                path = self.included(found["name"], Path(source.name).parent)
                if path is None:
                    return f"include '{found['name']}'"
                return INCLUDE.sub("include 'nested'", self.index.read(path).text)

            text = INCLUDE.sub(text_of, source.text)
            same = text == source.text
            self._texts[source] = source if same else SourceText(source.name, text)
        return self._texts[source]

    def offered(self, module: str, name: str) -> Symbol | None:
        """Return the entity that `module` exports as `name`, or None if it has no such name.

        An unresolved symbol means that the entity is unknown.
        """
        return self._offered(module.lower(), name.lower(), frozenset())

    def seen_in_submodule(self, module: str, name: str) -> Symbol | None:
        """Return the entity of `name` in a submodule of `module`, including private names, or None.

        An unresolved symbol means that the entity is unknown.
        """
        key, scope = name.lower(), self.module(module)
        if scope is None:
            return Symbol(key, key, Origin.UNRESOLVED, module=module)
        found = scope.symbols.get(key) or self.imported(scope.uses, key)
        if found is None and scope.included:
            return Symbol(key, key, Origin.UNRESOLVED, module=module)
        return found

    def imported(self, uses: Iterable[Use], name: str) -> Symbol | None:
        """Return the entity that `uses` import as `name`, or None."""
        return self._imported(uses, name.lower(), frozenset())

    def origins(self, uses: Iterable[Use], name: str) -> Iterator[tuple[str, str]]:
        """Yield the modules from which `uses` may import `name`, with its name there."""
        for use in uses:
            if (original := self._original(use, name.lower())) is not None:
                yield use.module.lower(), original

    def constant(self, uses: Iterable[Use], name: str) -> Symbol | None:
        """Return the entity that `uses` import as `name`, with the value of a constant, or None.

        All names in the value are linked to symbols. A constant has no value if the preprocessor
        may change the module that declares it, or a module through which it is imported.
        """
        return self._constant(tuple(uses), name.lower(), frozenset())

    def _constant(
        self, uses: tuple[Use, ...], key: str, within: frozenset[tuple[str, str]]
    ) -> Symbol | None:
        found = self.imported(uses, key)
        if found is None or not self._is_certain(uses, key, frozenset()):
            return found and replace(found, value=None)
        return self._with_value(found, within)

    def _is_certain(self, uses: tuple[Use, ...], key: str, within: frozenset[str]) -> bool:
        """Return whether no module through which `uses` import a name is preprocessed."""
        return all(
            self._is_certain_in(use.module.lower(), original, within)
            for use in uses
            if (original := self._original(use, key)) is not None
        )

    def _is_certain_in(self, module: str, key: str, within: frozenset[str]) -> bool:
        if module in within or self._offered(module, key, within) is None:
            return True
        scope, source = self.module(module), self.source_of(module)
        if scope is None or source is None:
            return True
        if is_preprocessed(source):
            return False
        return key in scope.symbols or self._is_certain(scope.uses, key, within | {module})

    def _original(self, use: Use, key: str) -> str | None:
        """Return the name in its module of the entity that `use` may import as `key`, or None."""
        for item in use.names:
            if item.local.lower() == key:
                return item.original.lower()
        renamed = any(item.original.lower() == key for item in use.names)
        is_offered = use.whole and not renamed and not self._hides(use.module.lower(), key)
        return key if is_offered else None

    def _with_value(self, symbol: Symbol, within: frozenset[tuple[str, str]]) -> Symbol:
        """Return a symbol with its value.

        The value equals None if it is used in its own definition.
        """
        place = symbol.module.lower(), symbol.name.lower()
        is_constant = symbol.sort is Sort.CONSTANT and symbol.value is not None
        source = self.source_of(symbol.module) if is_constant and place not in within else None
        scope = self.module(symbol.module) if source else None
        if symbol.value is None or source is None or scope is None or is_preprocessed(source):
            return replace(symbol, value=None)

        def linked(part: Expr) -> Expr:
            if not isinstance(part, Name):
                return with_parts(part, linked)
            own = scope.symbols.get(part.key)
            if own is not None:
                return Name(part.text, self._with_value(own, within | {place}))
            return Name(part.text, self._constant(scope.uses, part.key, within | {place}))

        return replace(symbol, value=linked(symbol.value))

    def structure(self, module: str | None, name: str) -> Symbol | None:
        """Return the definition of the derived type `name` in `module`, or None."""
        found = self.offered(module, name) if module else None
        return found if found is not None and found.sort is Sort.TYPE else None

    def complete_type(self, module: str, name: str, component: str) -> Symbol | None:
        """Return a derived type that `module` exports, with the parts of its parent types.

        The function returns None if a part may be unknown. A type without `component` is complete
        only if its modules are defined in one file each.
        """
        modules = {module.lower()}
        found = self._complete(module.lower(), name.lower(), frozenset(), modules)
        if found is None or component in found.bindings:
            return found
        is_known = any(item.key == component for item in found.components)
        return found if is_known or all(map(self.index.is_defined_once, modules)) else None

    def _complete(
        self, module: str, key: str, within: frozenset[tuple[str, str]], modules: set[str]
    ) -> Symbol | None:
        """Return a complete type; add the modules that define it and its parents to `modules`."""
        found = self.structure(module, key)
        scope = self.module(found.module) if found is not None and found.module else None
        if found is None or scope is None or INCOMPLETE in found.attributes:
            return None
        if (module, key) in within or not self._is_certain_in(module, key, frozenset()):
            return None
        modules.add(found.module.lower())
        if not found.extends:
            return found
        above = scope.symbols.get(found.extends) or self.imported(scope.uses, found.extends)
        home = above.module.lower() if above else ""
        around = within | {(module, key)}
        parent = self._complete(home, above.name.lower(), around, modules) if above else None
        if parent is None or not self._is_certain(scope.uses, found.extends, frozenset()):
            return None
        return replace(
            found,
            components=(*parent.components, *found.components),
            bindings=found.bindings | parent.bindings | {found.extends},
        )

    def _offered(self, module: str, key: str, behind: frozenset[str]) -> Symbol | None:
        if module in INTRINSIC_MODULES:
            return _of_language(module, key)
        if module in behind:
            return None
        if behind:
            # What is found from inside of a circle of imports may be less than all.
            return self._looked_up(module, key, behind)
        if (module, key) not in self._found:
            self._found[module, key] = self._looked_up(module, key, behind)
        return self._found[module, key]

    def _looked_up(self, module: str, key: str, behind: frozenset[str]) -> Symbol | None:
        scope = self.module(module)
        if scope is None:
            return Symbol(key, key, Origin.UNRESOLVED, module=module)
        if own := scope.symbols.get(key):
            kind = self._home_of_kind(scope, own)
            return replace(own, origin=Origin.IMPORTED, home_of_kind=kind)
        found = self._imported(scope.uses, key, behind | {module})
        if found is None and scope.included:
            return Symbol(key, key, Origin.UNRESOLVED, module=module)
        return found

    def _imported(self, uses: Iterable[Use], key: str, behind: frozenset[str]) -> Symbol | None:
        whole: list[Symbol] = []
        for use in uses:
            original, home = self._original(use, key), use.module.lower()
            if original is None:
                continue
            found = self._offered(home, original, behind)
            if any(item.local.lower() == key for item in use.names):
                found = found or Symbol(key, key, Origin.UNRESOLVED, module=home)
                return replace(found, key=key)
            whole += [found] if found else []
        return next((item for item in whole if item.is_resolved), whole[0] if whole else None)

    def _hides(self, module: str, key: str) -> bool:
        """Return whether a `use` of a whole module does not import this name."""
        if module in INTRINSIC_MODULES:
            return key not in INTRINSIC_MODULES[module]
        scope = self.module(module)
        return scope is not None and scope.hidden(key)

    def _home_of_kind(self, scope: ModuleSymbols, own: Symbol) -> tuple[str, str] | None:
        """Return the module and the name of the kind of a type, or None if it is unknown.

        A name imported from a module that is not found is attributed to that module.
        """
        kind = own.kind.lower() if own.kind and own.kind.isidentifier() else None
        if kind is None:
            return None
        if kind in scope.symbols:
            return scope.name, scope.symbols[kind].name
        found = self.imported(scope.uses, kind)
        if found is not None and found.is_resolved and found.module:
            return found.module, found.name
        for use in scope.uses:
            for item in use.names:
                if item.local.lower() == kind:
                    return use.module, item.original
        whole = [use.module for use in scope.uses if use.whole]
        return (whole[0], own.kind or kind) if len(whole) == 1 else None


def _of_language(module: str, key: str) -> Symbol:
    """Return the entity that an intrinsic module exports; unknown names are treated as kinds."""
    sort = INTRINSIC_MODULES[module].get(key, Sort.CONSTANT)
    return Symbol(key, key, Origin.IMPORTED, sort, module=module)
