"""NumPy text for values in typed code: expressions and array elements.

Arrays are counted from 0. Operations that NumPy computes differently from C are rejected, and so is
single precision in Fortran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.infrastructures.lfric import SINGLE, SINGLE_KINDS, SOMETIMES_SINGLE
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import EXACT
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.rewrite import names_in
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.intrinsics import INTRINSICS, LIMITS
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.native.parts import found_name
from psyclone_storage.targets.numpy.expressions import (
    Spelling,
    UnsupportedError,
    python_identifier,
    python_literal,
)
from psyclone_storage.targets.numpy.vectorize import is_surely

_OF_LIBRARY = {
    word: names.c
    for word, names in INTRINSICS.items()
    if names.c and names.numpy and word not in EXACT
}
"""Functions that the mathematical library of C computes, with their names there."""
OF_FOUR, OF_EIGHT = "np.float32", "np.float64"
_PAIR = 2
_MEET = (
    Operator.PLUS, Operator.MINUS, Operator.TIMES, Operator.DIVIDE, Operator.LESS,
    Operator.LESS_EQUAL, Operator.GREATER, Operator.GREATER_EQUAL, Operator.EQUAL,
    Operator.NOT_EQUAL,
)  # fmt: skip
_EXTREMES = {"min": abi.LESSER, "max": abi.GREATER}


@dataclass(slots=True)
class ValueWriter:
    """Writes the values in one procedure, which may be a kernel.

    `varying` are locals with one value for each iteration of the vectorised loop. `ranged` is its
    counter if it is a `range`. Counters in `counted` start at 0, one less than in the source.
    Reductions in `found` use a separate variable.
    """

    code: Routine
    varying: frozenset[str] = frozenset()
    ranged: str = ""
    counted: frozenset[str] = frozenset()
    found: frozenset[str] = frozenset()
    spelling: Spelling = field(init=False)
    typing: Typing = field(init=False)

    def __post_init__(self) -> None:
        """Create the writer of expressions."""
        self.typing = Typing(self.code.symbol, self.code.structure, any_kind=True)
        self.spelling = Spelling(
            self._varies, self._element, self._is_whole, self._own, self._may_raise
        )

    # ------------------------------------------------------------------ expressions

    def kind(self, expr: ex.Expr) -> Intrinsic | None:
        """Return the intrinsic type of a value, or None if it is unknown."""
        found = self.typing.type_of(expr)
        return found.intrinsic if isinstance(found, ScalarType) else None

    def name(self, name: ex.Name) -> str:
        """Return a name as spelled in its declaration; renamed if it conflicts with NumPy names."""
        declared = self.code.declared(name.text)
        text = declared.name if declared is not None else name.text
        if name.key in self.found:
            return found_name(python_identifier(text))
        return python_identifier(text, abi.NUMPY_WORDS)

    def _varies(self, expr: ex.Expr) -> bool:
        return bool(self.varying) and bool(names_in(expr) & self.varying)

    def is_short(self, expr: ex.Expr) -> bool:
        """Return whether a value is explicitly single precision; always false for Fortran."""
        if not self.code.module.is_python:
            return False
        match expr:
            case ex.Literal(_, Intrinsic.REAL, kind):
                return kind is not None and key_of(kind) in SINGLE_KINDS
            case ex.Name(text) | ex.Element(ex.Name(text)) | ex.Section(ex.Name(text)):
                declared = self.code.declared(text)
                return declared is not None and self._has_singles(declared)
            case ex.CallFunction(ex.Name(key="real"), items):
                return len(items) == 1 or not self._is_double(items[1])
            case ex.CallFunction(ex.Name(key=word), items):
                return self._are_short(items[:-1] if word == "merge" else items)
            case ex.Unary(_, operand):
                return self.is_short(operand)
            case ex.Binary(_, left, right):
                return self._are_short((left, right))
        return False

    @property
    def has_short(self) -> bool:
        """Return whether the kernel declares single-precision data, except operator matrices."""
        if not self.code.module.is_python:
            return False
        declared = (one for one in self.code.declarations if isinstance(one, Declare))
        return any(map(self._has_singles, declared))

    def _are_short(self, values: Iterable[ex.Expr]) -> bool:
        reals = [one for one in values if self.kind(one) is Intrinsic.REAL]
        return bool(reals) and all(map(self.is_short, reals))

    def _met(self, expr: ex.Binary) -> ex.Binary:
        """Return an operation with integers converted for single-precision operands."""
        sides = expr.left, expr.right
        if expr.op not in _MEET or not self._are_short(sides):
            return expr
        left, right = (
            ex.CallFunction(ex.Name("real"), (one, ex.Name(str(SINGLE.kind))))
            if self.kind(one) is Intrinsic.INTEGER and not isinstance(one, ex.Literal)
            else one
            for one in sides
        )
        return expr if (left, right) == sides else replace(expr, left=left, right=right)

    def _is_whole(self, expr: ex.Expr) -> bool:
        """Return whether a value is an integer.

        Raises:
            UnsupportedError: the type is unknown.
        """
        kind = self.kind(expr)
        if kind is None and not is_surely(expr, lambda one: self.kind(one) is Intrinsic.REAL):
            raise UnsupportedError("the type of a value is not known")
        return kind is Intrinsic.INTEGER

    def _may_raise(self, expr: ex.Binary) -> bool:
        """Return whether both operands of a division may be Python numbers, which raise on 0."""
        if self.is_short(expr):
            return False
        return not is_surely(expr.left, self._is_stored) and not is_surely(
            expr.right, self._is_stored
        )

    def _is_stored(self, expr: ex.Expr) -> bool:
        """Return whether a value is an element of a NumPy array."""
        match expr:
            case ex.Element(ex.Name(text)):
                declared = self.code.declared(text)
                return declared is not None and bool(declared.shape)
        return False

    def _own(self, expr: ex.Expr) -> str | None:
        match expr:
            case ex.Name():
                return self._named(expr)
            case ex.Literal(intrinsic=Intrinsic.REAL) if self._is_single(expr):
                raise UnsupportedError("it computes in single precision")
            case ex.Literal() if self.is_short(expr):
                return f"{OF_FOUR}({python_literal(expr)})"
            case ex.Binary(Operator.POWER):
                return self._power(expr)
            case ex.Binary() if (met := self._met(expr)) is not expr:
                return f"({self.spelling.of(met)})"
            case ex.CallFunction(ex.Name(key=word), items):
                return self._function(word, items)
        return None

    def _named(self, name: ex.Name) -> str | None:
        if name.key in self.counted:
            return f"({self.name(name)} + 1)"
        found = self.code.symbol(name.text)
        if found.sort is ex.Sort.CONSTANT and found.module and found.value is not None:
            if isinstance(found.value, ex.Literal):
                return python_literal(found.value)
            raise UnsupportedError(f"the value of the constant '{name.text}' is no number")
        declared = self.code.declared(name.text)
        is_passed = declared is not None and declared.shape and self.code.module.is_python
        in_fortran = not self.code.module.is_python
        if in_fortran and declared is not None and not is_passed and self._has_singles(declared):
            raise UnsupportedError("it computes in single precision")
        return self.name(name)

    def _has_singles(self, declared: Declare) -> bool:
        """Return whether a variable is, or for Fortran may be, single precision."""
        kind = declared.type.kind_key if isinstance(declared.type, ScalarType) else None
        in_fortran = not self.code.module.is_python and kind in SOMETIMES_SINGLE
        return in_fortran or kind in SINGLE_KINDS

    def _is_single(self, expr: ex.Literal) -> bool:
        """Return whether a Fortran literal without kind differs in double precision."""
        in_fortran = not self.code.module.is_python
        if not in_fortran or expr.kind is not None or expr.is_double:
            return False
        value = float(python_literal(expr))
        return abs(value) > _LARGEST_IN_BOTH or value * _FRACTIONS_IN_BOTH % 1.0 != 0.0

    def _power(self, expr: ex.Binary) -> str | None:
        exponent = ex.integer_value(expr.right)
        base = self.spelling.of(expr.left)
        if self._is_whole(expr):
            if exponent is None or exponent < 0:
                raise UnsupportedError("the power of an integer is not known to be one")
            return None
        if exponent is not None and exponent < 0:
            one = OF_FOUR if self.is_short(expr.left) else OF_EIGHT
            return f"({one}(1.0) / {abi.POWER}({base}, {-exponent}))"
        if exponent is not None and exponent > 1:
            return f"{abi.POWER}({base}, {exponent})"
        if exponent is None and self._is_whole(expr.right):
            if self._varies(expr.right):
                raise UnsupportedError("the exponent differs from level to level")
            return f"{abi.WHOLE_POWER}({base}, {self.spelling.of(expr.right)})"
        if exponent is None:
            return f'{abi.OF_LIBRARY}("pow", {base}, {self.spelling.of(expr.right)})'
        return None

    def _function(self, word: str, items: tuple[ex.Expr, ...]) -> str | None:
        if word in _EXTREMES and not self._is_whole(items[0]):
            text = self.spelling.of(items[0])
            for item in items[1:]:
                text = f"{_EXTREMES[word]}({text}, {self.spelling.of(item)})"
            return text
        if word in _OF_LIBRARY:
            texts = ", ".join(map(self.spelling.of, items))
            return f'{abi.OF_LIBRARY}("{_OF_LIBRARY[word]}", {texts})'
        if word in LIMITS and self.kind(items[0]) is Intrinsic.REAL:
            return f"np.finfo(float).{LIMITS[word].finfo}"
        if word == "huge" and self._is_whole(items[0]):
            return "np.iinfo(np.int32).max"
        if word == "sum" and len(items) == 1 and not self._is_whole(items[0]):
            return f"{abi.ADDED}(0.0, {self.spelling.of(items[0])})"
        if word == "dot_product" and not self._is_whole(items[0]):
            factors = " * ".join(self.spelling.of(one, Precedence.PRODUCT + 1) for one in items)
            return f"{abi.ADDED}(0.0, {factors})"
        if word in ("int", "floor", "ceiling") and items:
            rounds = "" if word == "int" else f"np.{INTRINSICS[word].numpy}"
            return f"{abi.WHOLE}({rounds}({self.spelling.of(items[0])}))"
        if word == "real" and len(items) == 2 and self._is_double(items[1]):
            return f"np.float64({self.spelling.of(items[0])})"
        if word == "real" and not self.code.module.is_python:
            raise UnsupportedError("it computes in single precision")
        if word == "real" and len(items) == _PAIR:
            return f"{OF_FOUR}({self.spelling.of(items[0])})"
        return None

    @staticmethod
    def _is_double(kind: ex.Expr) -> bool:
        kind = kind.value if isinstance(kind, ex.Keyword) else kind
        return not (isinstance(kind, ex.Name) and kind.key in SINGLE_KINDS | SOMETIMES_SINGLE)

    # ------------------------------------------------------------------ elements

    def lowers(self, expr: ex.Index) -> list[int | None]:
        """Return the lower bound of each dimension of an array, None if unknown."""
        declared = self.code.declared(expr.base.text) if isinstance(expr.base, ex.Name) else None
        if declared is None:
            return []
        return [
            1 if not isinstance(one, ex.Range) or one.lower is None else ex.integer_value(one.lower)
            for one in declared.shape
        ]

    def _element(self, expr: ex.Index, spelling: Spelling) -> str | None:
        """Return the text of array elements, or None if `expr` is not an array reference."""
        outer, self.spelling = self.spelling, replace(spelling, array=ex.spell(expr.base))
        try:
            return self._element_here(expr)
        finally:
            self.spelling = outer

    def _element_here(self, expr: ex.Index) -> str | None:
        if not isinstance(expr.base, ex.Name) or not isinstance(expr, ex.Element | ex.Section):
            return None
        declared = self.code.declared(expr.base.text)
        if declared is None or not declared.shape:
            return None
        if not self.code.module.is_python and self._has_singles(declared):
            raise UnsupportedError("it computes in single precision")
        lowers = self.lowers(expr)
        if len(lowers) != len(expr.items):
            raise UnsupportedError(f"'{expr.base.text}' has another number of indices")
        several = [
            one for one in expr.items if not isinstance(one, ex.Range) and self._is_array(one)
        ]
        if len(several) > 1 or (several and len(expr.items) > 1):
            raise UnsupportedError(f"'{expr.base.text}' is looked at by several arrays of indices")
        pairs = zip(lowers, expr.items, declared.shape, strict=True)
        items = ", ".join(self._index(lower, item, extent) for lower, item, extent in pairs)
        return f"{self.name(expr.base)}[{items}]"

    def _is_array(self, expr: ex.Expr) -> bool:
        """Return whether a subscript is an array, not counting the vectorised counter."""
        for part in ex.walk(expr):
            if isinstance(part, ex.Section):
                return True
            if isinstance(part, ex.Name):
                declared = self.code.declared(part.text)
                inside = any(
                    isinstance(one, ex.Element) and one.base == part for one in ex.walk(expr)
                )
                if declared is not None and declared.shape and not inside:
                    return True
        return False

    def _index(self, lower: int | None, item: ex.Expr, extent: ex.Expr) -> str:
        if lower is None:
            first = extent.lower if isinstance(extent, ex.Range) else None
            if isinstance(item, ex.Range) or first is None:
                raise UnsupportedError("an array begins where the text does not tell")
            return self.shifted(ex.Binary(Operator.MINUS, item, first), 0)
        if isinstance(item, ex.Range):
            if item.step is not None:
                raise UnsupportedError("elements with a step between them are looked at")
            start = "" if item.lower is None else self.shifted(item.lower, -lower)
            stop = "" if item.upper is None else self.shifted(item.upper, 1 - lower)
            return f"{'' if start == '0' else start}:{stop}"
        if isinstance(item, ex.Name) and item.key == self.ranged:
            return self.name(item)
        return self.shifted(item, -lower)

    def shifted(self, expr: ex.Expr, by: int) -> str:
        """Return an integer expression plus `by`, with constants folded."""
        parts = list(_summands(expr, 1))
        by += sum(
            sign for sign, one in parts if isinstance(one, ex.Name) and one.key in self.counted
        )
        constant, rest = by, []
        for sign, one in parts:
            value = ex.integer_value(one)
            if value is None:
                rest.append((sign, one))
            else:
                constant += sign * value
        rest.sort(key=lambda item: item[0] < 0)
        text = ""
        for sign, one in rest:
            spelled = self._plainly(one)
            if text:
                text += f" {'+' if sign > 0 else '-'} {spelled}"
            else:
                text = spelled if sign > 0 else f"-{self._plainly(one, Precedence.PRODUCT + 1)}"
        if not text:
            return str(constant)
        if constant:
            text += f" {'+' if constant > 0 else '-'} {abs(constant)}"
        return text

    def _plainly(self, expr: ex.Expr, outer: int = Precedence.SUM + 1) -> str:
        """Return a summand; a counter that starts at 0 is returned without correction."""
        if isinstance(expr, ex.Name) and expr.key in self.counted:
            return self.name(expr)
        return self.spelling.of(expr, outer)


_LARGEST_IN_BOTH, _FRACTIONS_IN_BOTH = 2.0**20, 2.0**10


def _summands(expr: ex.Expr, sign: int) -> Iterator[tuple[int, ex.Expr]]:
    match expr:
        case ex.Binary(Operator.PLUS, left, right):
            yield from (*_summands(left, sign), *_summands(right, sign))
        case ex.Binary(Operator.MINUS, left, right):
            yield from (*_summands(left, sign), *_summands(right, -sign))
        case ex.Unary(Operator.MINUS, operand):
            yield from _summands(operand, -sign)
        case _:
            yield sign, expr
