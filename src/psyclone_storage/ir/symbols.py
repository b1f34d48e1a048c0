"""The symbols of modules and procedures, as the front end finds them.

A symbol is found by its `key` in a scope with the names that the reader has resolved.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import Origin, Sort, Symbol
from psyclone_storage.ir.types import Intent
from psyclone_storage.ir.unit import Declare, Use


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure of a module: its name, and all names in it, in lower case, and its place.

    `pure` says that it is declared to change nothing but its arguments; where that is known,
    `dummies` are those with their intents, in order, and `scalars` those that are no arrays.
    """

    name: str
    names: frozenset[str]
    place: Span = field(repr=False)
    is_function: bool = False
    pure: bool = False
    dummies: tuple[tuple[str, Intent | None], ...] = ()
    scalars: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ModuleSymbols:
    """Declarations of a module, by key, and its imports.

    `uses` are its imports, and `hidden` returns whether a key is private. The files in
    `included` are not read, and may declare any name. `on_device` are the keys of procedures and
    variables that its directives of OpenACC put on a device, with the arguments of the procedures.
    """

    name: str
    symbols: Mapping[str, Symbol]
    uses: tuple[Use, ...]
    default_private: bool = False
    public: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    included: tuple[str, ...] = ()
    on_device: Mapping[str, Procedure | None] = field(default_factory=dict)

    def hidden(self, key: str) -> bool:
        """Return whether those who use the module do not see the name `key`."""
        if key in self.public:
            return False
        return self.default_private or key in self.private


@dataclass(frozen=True, slots=True, eq=False)
class SymbolTable:
    """Resolved names of a procedure, by key.

    `structures` are the definitions of derived types, by their module and name. What is known of
    a name in `doubt` is not all: a statement that is not read, or an inner block, may say more.
    """

    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    structures: Mapping[tuple[str, str], Symbol] = field(default_factory=dict)
    doubt: frozenset[str] = frozenset()


def declared_symbol(item: Declare, origin: Origin) -> Symbol:
    """Return the symbol of a variable or constant that code declares."""
    sort = Sort.CONSTANT if "parameter" in item.attributes else Sort.VARIABLE
    if "external" in item.attributes:
        sort = Sort.FUNCTION
    words = (*item.attributes, *(("class",) if item.polymorphic else ()))
    return Symbol(item.key, item.name, origin, sort, item.type, item.shape, words,
                  item.value)  # fmt: skip


def declaration_of(symbol: Symbol) -> Declare:
    """Return the declaration of a variable or constant, whose type is known."""
    assert symbol.type is not None
    words = tuple(word for word in symbol.attributes if word != "class")
    return Declare(symbol.name, symbol.type, words, symbol.shape, "class" in symbol.attributes,
                   symbol.value)  # fmt: skip
