"""Names of one Python module: kernels, constants, and modules with variables that are read.

A constant is defined in the Python module. A variable of another module is read from there when a
kernel runs. A variable of the kernel's own module becomes a variable of the Python module.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.infrastructures.lfric_words import BODY_WORDS
from psyclone_storage.ir.expr import Expr, Name, Section, Sort, Symbol
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import REAL, CScope
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.expressions import ExpressionWriter, checked
from psyclone_storage.languages.python.translate.values import NoPythonError

_WORDS = ("kernel", "field", "scalar", "grid_property", "invoke", "configure", "math", "np",
          "abs", "bool", "float", "int", "len", "max", "min", "operator", "pow", "range",
          "reversed", "scalar_array", "columnwise_operator", "func_type", "mesh_data_type",
          "reference_element_data_type", *BODY_WORDS)  # fmt: skip
RESERVED = (*_WORDS, *(key_of(word) for word in keyword.kwlist), *keyword.softkwlist)
"""What the names of a kernel in Python may not be: words of the language and of kernels."""
NOTHING = {Intrinsic.REAL: "0.0", Intrinsic.INTEGER: "0", Intrinsic.LOGICAL: "False"}
"""Values that stand where any will do, by types."""


@dataclass(slots=True)
class ModuleNames:
    """Names and declarations of a Python module."""

    fresh: NameTable
    declared: list[str] = field(default_factory=list)
    imported: dict[str, None] = field(default_factory=dict)
    in_place: bool = False
    _known: dict[tuple[str, str], str] = field(default_factory=dict)
    _locals: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, taken: Iterable[str], *, in_place: bool = False) -> ModuleNames:
        """Return the names for a module in which the names `taken` are already used.

        Constants are `in_place` if the module is never imported.
        """
        return cls(NameTable((*RESERVED, *taken)), in_place=in_place)

    def local(self, key: str) -> str:
        """Return a unique name for an argument or a local variable."""
        if key not in self._locals:
            self._locals[key] = self.fresh.fresh(f"{key}_") if reserved(key) else key
        return self._locals[key]

    def constant(self, symbol: Symbol, scope: CScope) -> str:
        """Return the name of a constant, which is declared in the module."""
        within = scope.home_of(symbol)
        # One kernel's own constant is not that of another one in the same file.
        home = (within.module or f"of {scope.code.name}", symbol.key)
        if home not in self._known:
            if symbol.value is None:
                raise NoPythonError(f"the value of '{symbol.name}' is not known")
            writer = ExpressionWriter(within, _OfConstants(self))
            type_ = scope.type_of(symbol)
            if type_ == REAL:
                raise NoPythonError(f"the constant '{symbol.name}' is of single precision")
            checked(type_, symbol.name)
            value = writer.assigned(symbol.value, type_)
            if self.in_place:
                return value if value.replace(".", "").isalnum() else f"({value})"
            self._known[home] = self.fresh.fresh(symbol.key)
            self.declared.append(f"{self._known[home]} = {value}")
        return self._known[home]

    def variable(self, symbol: Symbol, scope: CScope) -> str:
        """Return the name of a variable of the kernel's module, which is declared in the module."""
        home = ("", symbol.key)
        if self.in_place:
            raise NoPythonError(f"'{symbol.name}' is a variable of its module, not of Python's")
        if home not in self._known:
            type_ = scope.type_of(symbol)
            checked(type_, symbol.name)
            value = NOTHING[type_.intrinsic]
            if symbol.value is not None:
                value = ExpressionWriter(scope, _OfConstants(self)).assigned(symbol.value, type_)
            self._known[home] = self.fresh.fresh(symbol.key)
            self.declared.append(f"{self._known[home]} = {value}")
        return self._known[home]


@dataclass(frozen=True, slots=True)
class _OfConstants:
    """Names in the values of constants, which can only be other constants."""

    module: ModuleNames

    def element(self, name: Name, items: tuple[Expr, ...]) -> CValue | None:
        """Return None, because there are no arrays."""
        return None

    def summed(self, section: Section) -> CValue | None:
        """Return None, because there are no arrays."""
        return None

    def scalar(self, symbol: Symbol, scope: CScope) -> CValue:
        """Return a constant."""
        if symbol.sort is not Sort.CONSTANT:
            raise NoPythonError(f"'{symbol.name}' is no constant")
        return CValue(self.module.constant(symbol, scope), scope.type_of(symbol))


def reserved(name: str) -> bool:
    """Return whether a name is reserved in Python kernels."""
    return key_of(name) in RESERVED
