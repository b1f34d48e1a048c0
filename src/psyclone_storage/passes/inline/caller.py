"""Names in a routine during inlining: existing ones and those of inlined statements."""

from __future__ import annotations

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Name, Origin, Symbol
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import names_of_line, walk_lines
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declared_symbol
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.ir.unit import Declare, Imported, Use
from psyclone_storage.passes.inline.arguments import CallArguments
from psyclone_storage.passes.inline.legality import InlineError


@dataclass(slots=True)
class CallerNames:
    """Name table of a routine; `declared` are the variables added for inlined statements.

    `symbols` are entities of other modules that these statements use. A Fortran routine imports
    them by `uses`.
    """

    code: Routine
    around: ModuleContext
    names: NameTable
    declared: dict[str, Declare] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)

    @classmethod
    def of(cls, code: Routine, around: ModuleContext) -> CallerNames:
        """Return the name table of `code`, with all its names reserved."""
        used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
        declared = {item.key for item in code.declarations if isinstance(item, Declare)}
        internal = code.internal.names if code.internal is not None else ()
        known = (*code.dummy_keys, *code.module.symbols.symbols, code.key)
        return cls(code, around, NameTable((*used, *declared, *internal, *known)))

    @property
    def is_fortran(self) -> bool:
        """Return whether the result is Fortran, with named kinds and imported modules."""
        return self.around.is_hidden is not None

    @property
    def scope(self) -> CScope:
        """The scope of the original routine."""
        return CScope(self.code, self.around)

    @property
    def arguments(self) -> CallArguments:
        """Types and extents of call arguments."""
        return CallArguments(self.scope, self.symbol_of)

    def symbol_of(self, key: str) -> Symbol:
        """Return the symbol of a name in the routine, including added names."""
        if key in self.declared:
            return declared_symbol(self.declared[key], Origin.LOCAL)
        return self.symbols.get(key) or self.scope.symbol(key)

    def declare(self, item: Declare, stem: str) -> Name:
        """Declare a new variable like `item`, named after `stem`, and return it."""
        name = self._fresh(stem)
        self.declared[key_of(name)] = replace(item, name=name)
        return Name(name)

    def _fresh(self, stem: str) -> str:
        """Return a new name that differs from intrinsics that inlined statements may call."""
        wish = f"{stem}_own" if stem in PROCEDURES else stem
        name = self.names.fresh(wish)
        while self._is_imported(name):
            name = self.names.fresh(wish)
        return name

    def _is_imported(self, name: str) -> bool:
        """Return whether an import of the routine provides `name`.

        Raises:
            InlineError: it is unknown.
        """
        imported = self.around.imported
        found = None if imported is None else imported(self.code.uses, name)
        if found is not None and not found.is_resolved:
            raise InlineError(f"whether '{found.module}' has a '{name}' is not known")
        return found is not None

    def name_of(self, symbol: Symbol, module: str) -> Name:
        """Return the routine's name of an entity of another module, importing it if necessary."""
        original = key_of(symbol.name)
        home = (key_of(module), original)
        if self.is_fortran and home[0] == self.code.module.key:
            if self._is_shadowed(original):
                raise InlineError(f"'{symbol.name}' is another name where it is called")
            self.names.reserve(original)
            return Name(original)
        for key, known in self.symbols.items():
            if (known.module_key, key_of(known.name)) == home:
                return Name(key)
        try:
            own = self.scope.symbol(original)
        except PrintError:
            own = None
        is_here = own is not None and (own.module_key, key_of(own.name)) == home
        if is_here and original not in self.declared and original not in self.symbols:
            self.names.reserve(original)
            return Name(original)
        if self.around.is_hidden is not None and self.around.is_hidden(*home):
            raise InlineError(f"'{symbol.name}' is a private name of '{module}'")
        key = key_of(self._fresh(original))
        if self.is_fortran:
            self.uses.append(Use(module, (Imported(key, original),)))
        self.symbols[key] = replace(symbol, key=original, module=module, origin=Origin.IMPORTED)
        return Name(key)

    def _is_shadowed(self, key: str) -> bool:
        """Return whether a name of the routine's module is redefined in the routine."""
        return key in local_names(self.code) or key in self.declared or key in self.symbols

    def is_intrinsic(self, key: str) -> bool:
        """Return whether the name of an intrinsic also denotes it in the routine."""
        return self.symbol_of(key).origin is Origin.INTRINSIC
