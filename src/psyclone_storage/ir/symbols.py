"""Symbols of modules and procedures, as provided by the front end.

Lookups use the `key` of a symbol within a scope.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.expr import OVERLAPPING, Origin, Sort, Symbol
from psyclone_storage.ir.types import Intent
from psyclone_storage.ir.unit import Declare, Use


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure of a module: its name, all names in it (lower case) and its position.

    `pure` means that it is declared to change only its arguments. Then `dummies` are the arguments
    with their intents, in order, and `scalars` those that are not arrays. `closed` means that it
    reads only its arguments and constants, also through other procedures. `sets` are scalar
    arguments that it defines on every control-flow path, before it reads them.
    """

    name: str
    names: frozenset[str]
    place: Span = field(repr=False)
    is_function: bool = False
    pure: bool = False
    dummies: tuple[tuple[str, Intent | None], ...] = ()
    scalars: frozenset[str] = frozenset()
    closed: bool = False
    sets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ModuleSymbols:
    """The declarations of a module by key, and its imports.

    `included` are include files, which are not read and may declare any name. `on_device` are the
    keys of procedures and variables that OpenACC directives place on a device, with the procedures'
    arguments.
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
        """Return whether `key` is private in the module."""
        if key in self.public:
            return False
        return self.default_private or key in self.private


@dataclass(frozen=True, slots=True, eq=False)
class SymbolTable:
    """Resolved names of a procedure, by key.

    `structures` are derived types by module and name. Names in `doubt` are not completely known: a
    statement that was not parsed, or an inner block, may redefine them.
    """

    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    structures: Mapping[tuple[str, str], Symbol] = field(default_factory=dict)
    doubt: frozenset[str] = frozenset()


def declared_symbol(item: Declare, origin: Origin) -> Symbol:
    """Return the symbol of a declared variable or constant."""
    sort = Sort.CONSTANT if "parameter" in item.attributes else Sort.VARIABLE
    if "external" in item.attributes:
        sort = Sort.FUNCTION
    words = (*item.attributes, *(("class",) if item.polymorphic else ()))
    return Symbol(item.key, item.name, origin, sort, item.type, item.shape, words,
                  item.value)  # fmt: skip


def declaration_of(symbol: Symbol) -> Declare:
    """Return the declaration of a variable or constant whose type is known."""
    assert symbol.type is not None
    words = tuple(word for word in symbol.attributes if word not in ("class", OVERLAPPING))
    return Declare(symbol.name, symbol.type, words, symbol.shape, "class" in symbol.attributes,
                   symbol.value)  # fmt: skip
