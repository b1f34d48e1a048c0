"""Translation of names in algorithms: data passed to kernels, and numbers in expressions.

Expressions are written in the same way as in kernels (`expressions.py`). This module defines the
meaning of their names. Data of unknown types are passed unchanged.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import affine_form
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.typing import CScope, CType, PrintError
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.expressions import ExpressionWriter, checked
from psyclone_storage.languages.python.translate.lower_bounds import check_begins_at_one
from psyclone_storage.languages.python.translate.module import ModuleNames
from psyclone_storage.languages.python.translate.values import NoPythonError

_TAKEN = (*keyword.kwlist, "invoke", "range", "float", "int", "abs", "min", "max", "math", "np")
_ENDED = "is read behind the loop that it counts"


_SINGLE = 4


@dataclass(frozen=True, slots=True)
class AlgorithmNames:
    """Names in one procedure of an algorithm.

    - `declared`: the declarations by key.

    - `dummies`: the dummy arguments.

    - `ended`: loop variables after their loops, which must not be read because their values differ.

    - `first`: the first index of data arrays in Python.

    - `results`: arguments that an invoke computes, as objects that contain a number.

    - `words`: names of the API, which are kept.

    - `authors`: names of user procedures, even if an intrinsic has the same name.

    - `says_types`: the procedure may pass single-precision numbers.
    """

    scope: CScope
    declared: Mapping[str, Declare]
    dummies: frozenset[str]
    ended: frozenset[str] = frozenset()
    first: int = 1
    results: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    says_types: bool = False

    @staticmethod
    def name(text: str) -> str:
        """Return the Python name for a Fortran name."""
        key = key_of(text)
        return f"{key}_" if key in _TAKEN else key

    # ------------------------------------------------------------------------ what is written

    @property
    def _writer(self) -> ExpressionWriter:
        return ExpressionWriter(self.scope, self)

    def passed(self, expr: ex.Expr) -> str:
        """Return the text of a kernel argument; data of any type are passed unchanged."""
        match expr:
            case ex.Name() | ex.Member() | ex.Index():
                if (text := self._path(expr)) is not None:
                    return text
        self._check_types(expr)
        return self._writer.of(expr).text

    def assigned(self, expr: ex.Expr, to: Declare) -> str:
        """Return a value converted for assignment to a variable."""
        type_ = self.scope.type_of(self.scope.symbol(to.key))
        if to.shape:
            raise NoPythonError(f"'{to.name}' is an array, and is assigned to")
        checked(type_, to.name)
        self._check_types(expr)
        return self._writer.assigned(expr, type_)

    def condition(self, expr: ex.Expr) -> str:
        """Return a condition."""
        self._check_types(expr)
        return self._writer.condition(expr)

    def whole(self, expr: ex.Expr, rank: int = 0) -> str:
        """Return an integer as an operand of an operator with precedence `rank`."""
        self._check_types(expr)
        return self._writer.whole(expr).within(rank)

    def type_of(self, name: ex.Name) -> CType | None:
        """Return the type of a variable of the procedure, or None if it is unknown."""
        if name.key not in self.declared:
            return None
        return self.scope.type_of(self.scope.symbol(name.key))

    def _check_types(self, expr: ex.Expr) -> None:
        for part in ex.walk(expr):
            if isinstance(part, ex.Member):
                raise NoPythonError(f"the type of '{ex.spell(part)}' is not known")
            if isinstance(part, ex.Index) and isinstance(part.base, ex.Name):
                self._check_function(part.base, part)

    def _check_function(self, name: ex.Name, part: ex.Expr) -> None:
        """Raise an error for a function that may be a user function instead of an intrinsic."""
        if name.key in self.declared:
            return
        home = self.scope.code.module.key
        if name.key in self.authors or self.scope.around.symbol(home, name.key) is not None:
            raise NoPythonError(f"'{ex.spell(part)}' is a function of an author's")

    # ------------------------------------------------------------------------ data

    def _path(self, expr: ex.Expr) -> str | None:
        """Return the text of a variable, component or element; None for a number or a function."""
        match expr:
            case ex.Name() if expr.key in self.words and self._is_elsewhere(expr.key):
                return expr.key
            case ex.Name():
                if self._is_elsewhere(expr.key) and self._constant(expr.key) is not None:
                    return None
                return self._data_name(expr)
            case ex.Member(base, name):
                if keyword.iskeyword(key_of(name)):
                    raise NoPythonError(f"'{name}' is a word of Python")
                return f"{self._path(base)}.{self.name(name)}"
            case ex.Index(ex.Name() as base, items):
                known = self.declared.get(base.key)
                if known is None or not known.shape:
                    return None
                self._check_first(known)
                return f"{self._data_name(base)}[{', '.join(map(self._index, items))}]"
            case ex.Index(ex.Member() as base, items):
                component, scope = self._component(base)
                self._check_first(component, scope)
                return f"{self._path(base)}[{', '.join(map(self._index, items))}]"
        return None

    def _check_first(self, array: Declare | ex.Symbol, scope: CScope | None = None) -> None:
        """Raise an error for an array with a lower bound other than 1 if indices are 0-based."""
        if not self.first:
            check_begins_at_one(array, scope or self.scope)

    def _component(self, expr: ex.Member) -> tuple[ex.Symbol, CScope]:
        """Return the component of a structure, with the scope of its definition."""
        type_, scope = self._structure_of(expr.base)
        while type_ is not None:
            try:
                found = scope.symbol(key_of(type_.name))
            except PrintError:
                break
            scope = scope.home_of(found)
            for one in found.components:
                if one.key == key_of(expr.name):
                    return one, scope
            type_ = DerivedType(found.extends) if found.extends else None
        raise NoPythonError(f"it is not known where '{ex.spell(expr)}' begins")

    def _structure_of(self, expr: ex.Expr) -> tuple[DerivedType | None, CScope]:
        match expr:
            case ex.Name() if expr.key in self.declared:
                type_ = self.declared[expr.key].type
                return type_ if isinstance(type_, DerivedType) else None, self.scope
            case ex.Index(base):
                return self._structure_of(base)
            case ex.Member():
                found, scope = self._component(expr)
                return found.type if isinstance(found.type, DerivedType) else None, scope
        return None, self.scope

    def _index(self, item: ex.Expr) -> str:
        self._check_types(item)
        self._writer.whole(item)
        moved = item if self.first else affine_form(item).shifted(-1).expr
        return self._writer.whole(moved).text

    def _data_name(self, name: ex.Name) -> str:
        self._check_name(name.key, name.text)
        return self.name(name.text)

    def _check_name(self, key: str, text: str) -> None:
        if self._is_elsewhere(key):
            raise NoPythonError(f"'{text}' is declared elsewhere")
        if key in self.ended:
            raise NoPythonError(f"'{text}' {_ENDED}")
        if not self.says_types and not isinstance(self.declared[key].type, DerivedType):
            self._check_precision(text, self.scope.type_of(self.scope.symbol(key)))

    @staticmethod
    def _check_precision(text: str, type_: CType) -> None:
        if type_.is_real and type_.size == _SINGLE:
            raise NoPythonError(f"'{text}' is of single precision")

    def _is_elsewhere(self, key: str) -> bool:
        return key not in self.declared

    def _constant(self, key: str) -> ex.Symbol | None:
        """Return a constant of another module, or None."""
        try:
            found = self.scope.symbol(key)
        except PrintError:
            return None
        return found if found.sort is ex.Sort.CONSTANT else None

    # ------------------------------------------------------------------------ numbers

    def element(self, name: ex.Name, items: tuple[ex.Expr, ...]) -> CValue | None:
        """Return an element of an array that is a dummy argument; return None for a scalar."""
        known = self.declared.get(name.key)
        if known is None or not known.shape:
            return None
        if name.key not in self.dummies:
            raise NoPythonError(f"the value of '{ex.spell(ex.Index(name, items))}' is not known")
        type_ = self.scope.type_of(self.scope.symbol(name.key))
        checked(type_, name.text)
        self._check_first(known)
        return CValue(f"{self._data_name(name)}[{', '.join(map(self._index, items))}]", type_)

    def summed(self, section: ex.Section) -> CValue | None:
        """Raise `NoPythonError`, because array sections are not supported."""
        raise NoPythonError(f"'{ex.spell(section)}' is a section of an array")

    def scalar(self, symbol: ex.Symbol, scope: CScope) -> CValue:
        """Return a variable of the procedure, or the value of a module constant."""
        type_ = scope.type_of(symbol)
        if symbol.key in self.declared:
            self._check_name(symbol.key, symbol.name)
            self._check_precision(symbol.name, type_)
            end = ".value" if symbol.key in self.results else ""
            return CValue(f"{self.name(symbol.name)}{end}", type_)
        if symbol.sort is not ex.Sort.CONSTANT:
            raise NoPythonError(f"'{symbol.name}' is declared elsewhere")
        text = ModuleNames.of((), in_place=True).constant(symbol, scope)
        return CValue(text, type_)
