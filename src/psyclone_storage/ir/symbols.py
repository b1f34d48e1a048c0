"""What a name stands for: its type, its shape, and where it comes from.

A symbol is found by its `key`, the name in lower case, in a scope that knows what the front end has
resolved. One whose origin is `UNRESOLVED` is a name that nobody could look up: whoever has to
know what it is refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.types import DataType, ScalarType
from psyclone_storage.ir.unit import Declare, Use


class Origin(Enum):
    """Where a name in a procedure comes from."""

    LOCAL = "declared in the procedure"
    DUMMY = "an argument of the procedure"
    HOST = "declared in the module around the procedure"
    IMPORTED = "imported from another module"
    INTRINSIC = "provided by the language"
    UNRESOLVED = "not found"


class Sort(Enum):
    """What a name stands for."""

    VARIABLE = "variable"
    CONSTANT = "constant"
    FUNCTION = "function"
    SUBROUTINE = "subroutine"
    PROCEDURE = "procedure"
    INTERFACE = "interface"
    TYPE = "type"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name and what it stands for.

    `key` is the name in lower case where it is used, `name` the name as its declaration has it, in
    `module`, which is empty for what no module declares. `type` is that of a variable, a constant
    or a function's value, None where it is not known. `components` are those of a derived type's
    definition, `bindings` the names, in lower case, of its procedures, and `extends` the type that
    it extends. `home_of_kind` is the module that the
    kind of the type comes from and the kind's name there, where that is known.
    """

    key: str
    name: str
    origin: Origin
    sort: Sort = Sort.UNKNOWN
    type: DataType | None = None
    shape: tuple[Expr, ...] = ()
    attributes: tuple[str, ...] = ()
    value: Expr | None = None
    module: str = ""
    components: tuple[Declare, ...] = ()
    bindings: frozenset[str] = frozenset()
    extends: str = ""
    home_of_kind: tuple[str, str] | None = None

    @property
    def is_resolved(self) -> bool:
        """Whether it is known what the name stands for."""
        return self.origin is not Origin.UNRESOLVED

    @property
    def is_data(self) -> bool:
        """Whether it stands for a variable or a constant."""
        return self.sort in (Sort.VARIABLE, Sort.CONSTANT)

    @property
    def is_called(self) -> bool:
        """Whether it stands for a procedure, of whatever kind."""
        return self.sort in (Sort.FUNCTION, Sort.SUBROUTINE, Sort.PROCEDURE)

    @property
    def rank(self) -> int:
        """The number of dimensions, 0 for a scalar."""
        return len(self.shape)

    @property
    def kind(self) -> str | None:
        """The kind of the type as it is written, None where none is."""
        return self.type.kind if isinstance(self.type, ScalarType) else None

    @property
    def declared(self) -> Declare:
        """The declaration of a variable or constant."""
        assert self.type is not None
        words = tuple(word for word in self.attributes if word != "class")
        return Declare(self.name, self.type, words, self.shape, "class" in self.attributes,
                       self.value)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModuleSymbols:
    """What a module declares, by its key, and what it imports.

    `uses` are its imports, and `hidden` tells of a key whether others may not see it. With
    `includes` a file is included, which may declare any name.
    """

    name: str
    symbols: Mapping[str, Symbol]
    uses: tuple[Use, ...]
    default_private: bool = False
    public: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    includes: bool = False

    def hidden(self, key: str) -> bool:
        """Return whether those who use the module do not see the name `key`."""
        if key in self.public:
            return False
        return self.default_private or key in self.private


@dataclass(frozen=True, slots=True, eq=False)
class SymbolTable:
    """What the front end has found out about the names in a procedure, by their keys.

    `structures` are the definitions of derived types, by their module and name.
    """

    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    structures: Mapping[tuple[str, str], Symbol] = field(default_factory=dict)


def declared_symbol(item: Declare, origin: Origin) -> Symbol:
    """Return the symbol of a variable or constant that code declares."""
    sort = Sort.CONSTANT if "parameter" in item.attributes else Sort.VARIABLE
    if "external" in item.attributes:
        sort = Sort.FUNCTION
    words = (*item.attributes, *(("class",) if item.polymorphic else ()))
    return Symbol(item.name.lower(), item.name, origin, sort, item.type, item.shape, words,
                  item.value)  # fmt: skip
