"""Symbols and symbol tables of a file, in PSyclone's form.

There is one symbol object for each name in a scope. When the tree is converted back, a symbol that
a script has added becomes a declaration or an import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.scripting.errors import refusal
from psyclone_storage.scripting.psyir.datatypes import (
    ArrayType,
    DataType,
    Extent,
    UnresolvedType,
    datatype_of,
    declared_type,
)

# ---------------------------------------------------------------------------- interfaces


class SymbolInterface:
    """Base class of symbol interfaces: the origin of a symbol's storage or value."""


class AutomaticInterface(SymbolInterface):
    """The interface of a local variable."""


class DefaultModuleInterface(SymbolInterface):
    """The interface of a module variable."""


class StaticInterface(SymbolInterface):
    """The interface of a variable with the `save` attribute, or of a constant."""


class UnresolvedInterface(SymbolInterface):
    """The interface of a name without a known declaration."""


class ArgumentInterface(SymbolInterface):
    """The interface of a dummy argument, with the access that its intent allows."""

    def __init__(self, access: str = "unknown") -> None:
        self.access = access


class ImportInterface(SymbolInterface):
    """The interface of a name imported from `container_symbol`, where it is `orig_name`."""

    def __init__(self, container_symbol: ContainerSymbol, orig_name: str | None = None) -> None:
        self.container_symbol = container_symbol
        self.orig_name = orig_name


# ---------------------------------------------------------------------------- symbols


class Symbol:
    """A name in a scope."""

    def __init__(self, name: str, interface: SymbolInterface | None = None, **_: object) -> None:
        self.name = name
        self.interface = interface or UnresolvedInterface()
        self.known: ex.Symbol | None = None
        self._is_pure: bool | None = None
        self.promised_at = ""

    @property
    def is_pure(self) -> bool | None:
        """Return whether a script has declared the procedure pure; None without such a promise."""
        return self._is_pure

    @is_pure.setter
    def is_pure(self, value: bool | None) -> None:
        self._is_pure = value
        self.promised_at = calling_line()

    @property
    def is_import(self) -> bool:
        """Return whether it is imported from a module."""
        return isinstance(self.interface, ImportInterface)

    @property
    def is_unresolved(self) -> bool:
        """Return whether its declaration is unknown."""
        return isinstance(self.interface, UnresolvedInterface)

    @property
    def is_argument(self) -> bool:
        """Return whether it is a dummy argument."""
        return isinstance(self.interface, ArgumentInterface)

    @property
    def is_automatic(self) -> bool:
        """Return whether it is a local variable."""
        return isinstance(self.interface, AutomaticInterface)

    @property
    def is_static(self) -> bool:
        """Return whether it has the `save` attribute or is a constant."""
        return isinstance(self.interface, StaticInterface)

    @property
    def is_modulevar(self) -> bool:
        """Return whether it is a module variable."""
        return isinstance(self.interface, DefaultModuleInterface)

    @property
    def datatype(self) -> DataType:
        """The data type."""
        return datatype_of(self.known) if self.known is not None else UnresolvedType()

    @property
    def is_array(self) -> bool:
        """Return whether it is known to be an array."""
        return bool(self.shape)

    @property
    def shape(self) -> list[Any]:
        """The extents of an array, an empty list for other symbols."""
        if self.known is not None:
            return list(self.known.shape)
        return list(getattr(self.datatype, "shape", ()))

    @property
    def is_constant(self) -> bool:
        """Return whether it is a named constant."""
        return self.known is not None and self.known.sort is ex.Sort.CONSTANT

    def specialise(self, subclass: type[Symbol], **properties: object) -> None:
        """Change the class of this object to `subclass`, and set attributes such as `datatype`."""
        self.__class__ = subclass
        for name, value in properties.items():
            setattr(self, name, value)

    def copy(self) -> Symbol:
        """Return a copy of the symbol."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __str__(self) -> str:
        return f"{self.name}: {type(self).__name__}"


def calling_line() -> str:
    """Return file name and line number of the script code that is running."""
    frame = sys._getframe(1)  # noqa: SLF001  # pylint: disable=protected-access
    own = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


class TypedSymbol(Symbol):
    """A symbol with a data type."""

    def __init__(
        self,
        name: str,
        datatype: DataType | None = None,
        interface: SymbolInterface | None = None,
        **more: object,
    ) -> None:
        super().__init__(name, interface or AutomaticInterface(), **more)
        self._datatype = datatype

    @property
    def datatype(self) -> DataType:
        """The data type."""
        own: DataType | None = getattr(self, "_datatype", None)
        return own if own is not None else super().datatype

    @datatype.setter
    def datatype(self, new: DataType | None) -> None:
        self._datatype = new


class DataSymbol(TypedSymbol):
    """A variable or a constant."""

    @property
    def is_array(self) -> bool:
        """Return whether it is known to be an array."""
        return self.datatype.is_array or super().is_array


class RoutineSymbol(TypedSymbol):
    """A procedure; a script may declare it pure by assigning to `is_pure`."""

    is_elemental: bool | None = None


class GenericInterfaceSymbol(RoutineSymbol):
    """A generic procedure name."""


class DataTypeSymbol(Symbol):
    """A derived type."""


class ContainerSymbol(Symbol):
    """A module that is imported, completely if `wildcard_import`."""

    def __init__(self, name: str, wildcard_import: bool = False, **more: object) -> None:
        super().__init__(name, **more)  # type: ignore[arg-type]
        self.wildcard_import = wildcard_import


_CLASSES: dict[ex.Sort, type[Symbol]] = {
    ex.Sort.VARIABLE: DataSymbol,
    ex.Sort.CONSTANT: DataSymbol,
    ex.Sort.FUNCTION: RoutineSymbol,
    ex.Sort.SUBROUTINE: RoutineSymbol,
    ex.Sort.PROCEDURE: RoutineSymbol,
    ex.Sort.INTERFACE: GenericInterfaceSymbol,
    ex.Sort.TYPE: DataTypeSymbol,
}
_MISSING = object()
AnySymbol = TypeVar("AnySymbol", bound=Symbol)


class SymbolTable:
    """The symbols of one scope; look-ups include the enclosing scopes.

    `declares` and `uses` are the declarations and imports of the scope, `dummies` its dummy
    arguments.
    """

    def __init__(
        self,
        declares: Iterable[un.Declare] = (),
        uses: Iterable[un.Use] = (),
        dummies: Iterable[str] = (),
        outer: SymbolTable | None = None,
    ) -> None:
        self._declares = {item.key: item for item in declares}
        self._uses = tuple(uses)
        self._imported = {name.key: use for use in self._uses for name in use.names}
        self._dummies = [key_of(name) for name in dummies]
        self.outer = outer
        self._symbols: dict[str, Symbol] = {}
        self._tags: dict[str, Symbol] = {}
        self.added: dict[str, Symbol] = {}
        self._mentioned: dict[str, ex.Name] = {}
        self.node: Any = None

    # ------------------------------------------------------------------ look-up

    def mention(self, names: Iterable[ex.Name]) -> None:
        """Record the entities that the names in the scope's statements denote."""
        for name in names:
            self._mentioned.setdefault(name.key, name)

    def of_name(self, name: ex.Name) -> Symbol:
        """Return the symbol of a name in a statement; create it if necessary."""
        found = self._found(name.key)
        if found is None:
            found = self._symbols[name.key] = _made(name.text, name.symbol, UnresolvedInterface())
        return found

    def _found(self, key: str) -> Symbol | None:
        table: SymbolTable | None = self
        while table is not None:
            found = table.own_symbol(key)
            if found is not None:
                return found
            table = table.outer
        name = self._mentioned.get(key)
        if name is None or name.symbol is None or name.symbol.origin is ex.Origin.INTRINSIC:
            return None
        found = self._symbols[key] = _made(name.text, name.symbol, _interface(name.symbol))
        return found

    def own_symbol(self, key: str) -> Symbol | None:
        """Return the symbol that this scope declares or imports by name, or None."""
        found = self._symbols.get(key)
        if found is None and (key in self._declares or key in self._dummies):
            found = self._symbols[key] = self._declared(key)
        elif found is None and key in self._imported:
            use = self._imported[key]
            local = next(name for name in use.names if name.key == key)
            interface = ImportInterface(self._container(use.module), local.original)
            name = self._mentioned.get(key)
            known = name.symbol if name is not None else None
            found = self._symbols[key] = _made(local.local, known, interface)
        return found

    def _declared(self, key: str) -> Symbol:
        from_text = self._declares.get(key)
        if from_text is None:
            return _made(key, None, ArgumentInterface())
        words = from_text.attributes
        sort = ex.Sort.CONSTANT if "parameter" in words else ex.Sort.VARIABLE
        origin = ex.Origin.DUMMY if key in self._dummies else ex.Origin.LOCAL
        if "external" in words:
            sort = ex.Sort.FUNCTION
        known = ex.Symbol(
            key, from_text.name, origin, sort, from_text.type, from_text.shape, words,
            from_text.value,
        )  # fmt: skip
        interface: SymbolInterface = AutomaticInterface()
        if key in self._dummies:
            intents = [word[7:-1] for word in words if word.startswith("intent(")]
            interface = ArgumentInterface(intents[0] if intents else "unknown")
        elif "parameter" in words or "save" in words or from_text.value is not None:
            interface = StaticInterface()
        elif self.node is not None and not self.node.is_routine:
            interface = DefaultModuleInterface()
        return _made(from_text.name, known, interface)

    def _container(self, module: str) -> ContainerSymbol:
        key = key_of(module)
        found = self._symbols.get(key)
        if not isinstance(found, ContainerSymbol):
            whole = any(use.whole and key_of(use.module) == key for use in self._uses)
            found = self._symbols[key] = ContainerSymbol(module, wildcard_import=whole)
        return found

    def _all(self) -> list[Symbol]:
        """Return all symbols of the scope, including those that a script has added."""
        for use in self._uses:
            self._container(use.module)
        for key in (*self._dummies, *self._declares, *self._imported):
            self.own_symbol(key)
        return list(self._symbols.values())

    def lookup(self, name: str, otherwise: Any = _MISSING, **_: object) -> Any:
        """Return the symbol `name` in this or an enclosing scope.

        Raises:
            KeyError: the name is unknown and `otherwise` is not given.
        """
        key = key_of(name)
        found = self._found(key)
        if found is None and any(key_of(use.module) == key for use in self._uses):
            found = self._container(name)
        if found is not None:
            return found
        if otherwise is _MISSING:
            raise KeyError(f"Could not find '{name}' in the symbol table.")
        return otherwise

    def lookup_with_tag(self, tag: str) -> Symbol:
        """Return the symbol that was created with `tag`.

        Raises:
            KeyError: there is no such symbol.
        """
        return self._tags[tag]

    def promises(self) -> list[Symbol]:
        """Return the procedures, here or in outer scopes, that a script has declared pure."""
        found = [one for one in self._symbols.values() if one.promised_at and one.is_pure]
        return found if self.outer is None else [*found, *self.outer.promises()]

    def __contains__(self, name: str) -> bool:
        return self.own_symbol(key_of(name)) is not None

    @property
    def symbols(self) -> list[Symbol]:
        """All symbols of the scope."""
        return self._all()

    @property
    def datasymbols(self) -> list[Symbol]:
        """The variables and constants of the scope."""
        return [one for one in self._all() if isinstance(one, DataSymbol)]

    @property
    def imported_symbols(self) -> list[Symbol]:
        """The symbols that are imported by name."""
        return [one for one in self._all() if one.is_import]

    @property
    def containersymbols(self) -> list[ContainerSymbol]:
        """The modules that the scope imports."""
        return [one for one in self._all() if isinstance(one, ContainerSymbol)]

    @property
    def argument_list(self) -> list[Symbol]:
        """The dummy arguments, in order."""
        return [self.of_name(ex.Name(key)) for key in self._dummies]

    # ------------------------------------------------------------------ additions

    def add(self, new_symbol: Symbol, tag: str | None = None) -> None:
        """Add a symbol.

        Raises:
            KeyError: the scope already has a symbol with this name or tag.
        """
        key = key_of(new_symbol.name)
        if self.own_symbol(key) is not None or (tag is not None and tag in self._tags):
            raise KeyError(f"The symbol table has a symbol '{new_symbol.name}' already.")
        self._symbols[key] = self.added[key] = new_symbol
        if tag is not None:
            self._tags[tag] = new_symbol
        if self.node is not None:
            self.node.touch()

    def new_symbol(
        self,
        root_name: str = "tmp",
        tag: str | None = None,
        symbol_type: type[AnySymbol] = Symbol,  # type: ignore[assignment]
        **properties: Any,
    ) -> AnySymbol:
        """Add a symbol called `root_name`, with a numeric suffix if the name is in use."""
        properties.pop("shadowing", None)
        name, number = root_name, 0
        while self.lookup(name, otherwise=None) is not None or key_of(name) in self._mentioned:
            number += 1
            name = f"{root_name}_{number}"
        made = symbol_type(name, **properties)
        self.add(made, tag)
        return made

    def find_or_create(self, name: str, **properties: Any) -> Any:
        """Return the symbol `name`; add it if it does not exist."""
        found = self.lookup(name, otherwise=None)
        return self.new_symbol(name, **properties) if found is None else found

    def find_or_create_tag(self, tag: str, root_name: str | None = None, **properties: Any) -> Any:
        """Return the symbol with `tag`; add it if it does not exist."""
        if tag in self._tags:
            return self._tags[tag]
        return self.new_symbol(root_name or tag, tag, **properties)

    def merge(self, other: SymbolTable) -> None:
        """Move the symbols that a script has added to `other` into this table."""
        if other is self:
            return
        for key, symbol in other.added.items():
            if self.own_symbol(key) is None:
                self.add(symbol)

    # ------------------------------------------------------------------ frozen

    def new_uses(self) -> tuple[un.Use, ...]:
        """Return the imports that a script has added."""
        found: dict[str, list[un.Imported]] = {}
        for symbol in self.added.values():
            if isinstance(symbol, ContainerSymbol):
                found.setdefault(symbol.name, [])
            elif isinstance(symbol.interface, ImportInterface):
                original = symbol.interface.orig_name or symbol.name
                module = symbol.interface.container_symbol.name
                found.setdefault(module, []).append(un.Imported(symbol.name, original))
        whole = {
            key_of(one.name)
            for one in self.added.values()
            if isinstance(one, ContainerSymbol) and one.wildcard_import
        }
        return tuple(
            un.Use(module, tuple(names), whole=key_of(module) in whole)
            for module, names in found.items()
            if names or key_of(module) in whole
        )

    def new_declarations(self) -> tuple[un.Declare, ...]:
        """Return the declarations of the variables that a script has added."""
        return tuple(
            self._declaration(symbol)
            for symbol in self.added.values()
            if isinstance(symbol, DataSymbol) and not symbol.is_import and not symbol.is_unresolved
        )

    def _declaration(self, symbol: DataSymbol) -> un.Declare:
        type_ = symbol.datatype
        shape: tuple[ex.Expr, ...] = ()
        words: tuple[str, ...] = ()
        if isinstance(type_, ArrayType):
            shape = tuple(map(_bound, type_.shape))
            words = ("allocatable",) if ex.Range() in shape else ()
        if symbol.is_argument:
            raise refusal(f"The argument '{symbol.name}' cannot be added to a routine.")
        return un.Declare(symbol.name, declared_type(type_), words, shape)


def _bound(extent: Any) -> ex.Expr:
    """Return the expression of an array extent that a script specifies."""
    if isinstance(extent, Extent):
        return ex.Range()
    if isinstance(extent, tuple):
        return ex.Range(*map(_bound, extent))
    if isinstance(extent, int):
        return ex.whole(extent) if extent >= 0 else ex.Unary(Operator.MINUS, ex.whole(-extent))
    if hasattr(extent, "frozen"):
        expr: ex.Expr = extent.frozen()
        return expr
    return extent  # type: ignore[no-any-return]


def _interface(symbol: ex.Symbol) -> SymbolInterface:
    match symbol.origin:
        case ex.Origin.IMPORTED:
            return ImportInterface(ContainerSymbol(symbol.module), symbol.name)
        case ex.Origin.HOST:
            return DefaultModuleInterface()
        case ex.Origin.UNRESOLVED:
            return UnresolvedInterface()
    return AutomaticInterface()


def _made(name: str, known: ex.Symbol | None, interface: SymbolInterface) -> Symbol:
    """Return the symbol of a resolved entity, or of a name alone."""
    kind = _CLASSES.get(known.sort, Symbol) if known is not None else Symbol
    new = kind(name, interface=interface)
    new.known = known
    return new
