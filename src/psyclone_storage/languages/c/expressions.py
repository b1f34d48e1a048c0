"""Printing of typed expressions as C expressions.

A value is represented by its text. If an expression needs statements, for example a sum over an
array, they are printed before the statement that uses the value.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.checked import CheckedIndex, EagerChoice, EagerCondition, is_checked
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, REAL, CScope, CType, PrintError
from psyclone_storage.languages.c import bounds
from psyclone_storage.languages.c.code_buffer import CWriter
from psyclone_storage.languages.c.helpers import RANDOM
from psyclone_storage.languages.c.operators import (
    ELEMENTAL,
    WITH_KIND,
    binary_value,
    elemental,
    unary,
)
from psyclone_storage.languages.c.types import (
    ArrayValue,
    CValue,
    integer_literal,
    is_number,
    minus,
    plus,
)
from psyclone_storage.languages.c.variables import Array, Variables
from psyclone_storage.languages.intrinsics import LIMITS

Transforming = Callable[[str, tuple[ex.Expr, ...], CScope], CValue | ArrayValue | None]
"""Prints a function of whole arrays, None for one that it does not know."""

Calling = Callable[[str, tuple[ex.Expr, ...], CScope], CValue | ArrayValue]
"""Prints a call of a function that somebody wrote."""


@dataclass(slots=True)
class Expressions:
    """Printer of the expressions of one procedure."""

    writer: CWriter
    variables: Variables
    transforming: Transforming
    calling: Calling
    place: Span | None = None
    array: str = ""

    def scalar(self, expr: ex.Expr, scope: CScope) -> CValue:
        """Print a scalar expression; raise `PrintError` if it is an array."""
        value = self.evaluate(expr, scope)
        if isinstance(value, ArrayValue):
            raise PrintError(f"'{ex.spell(expr)}' is an array where one value is needed")
        return value

    def evaluate(self, expr: ex.Expr, scope: CScope) -> CValue | ArrayValue:
        """Print an expression of any rank."""
        match expr:
            case ex.Literal():
                return literal_value(expr, scope)
            case ex.Name():
                return self.variables.value(expr.key, scope)
            case ex.CallFunction(ex.Name() as name, _):
                return self._called(expr, name.key, scope)
            case ex.Element() | ex.Section():
                return self._subscripted(expr, scope)
            case ex.Parenthesised(operand):
                return self.evaluate(operand, scope)
            case ex.Unary(op, operand):
                return mapped(lambda item: unary(op, item),
                              self.evaluate(operand, scope))  # fmt: skip
            case ex.Binary():
                return self._operation(expr, scope)
            case ex.ArrayLiteral(items):
                return self._list(items, scope)
            case ex.Index(ex.Name() as name, items):
                if scope.symbol(name.key).origin is ex.Origin.INTRINSIC:
                    return self._function(name.key, items, scope)
                reason = f"nobody knows whether '{name.text}' is an array or a function"
                raise PrintError(reason, name.text)
            case ex.Member():
                raise PrintError(f"the component '{ex.spell(expr)}' is not printed", expr.name)
        raise PrintError(f"'{ex.spell(expr)}' is not printed")

    def _operation(self, expr: ex.Binary, scope: CScope) -> CValue | ArrayValue:
        """Print a binary operation; C computes both operands of `&` and `|`."""
        if isinstance(expr, EagerCondition) and is_checked(expr.right):
            rank = Precedence.BIT_AND if expr.op is Operator.AND else Precedence.BIT_OR
            texts = (self.scalar(one, scope).within(rank + 1) for one in (expr.left, expr.right))
            return CValue((" & " if expr.op is Operator.AND else " | ").join(texts), LOGICAL, rank)
        return mapped(
            lambda first, second: binary_value(expr.op, first, second, self.writer.helper),
            self.evaluate(expr.left, scope),
            self.evaluate(expr.right, scope),
        )

    # ------------------------------------------------------------------------ arrays

    def _called(self, call: ex.CallFunction, key: str, scope: CScope) -> CValue | ArrayValue:
        """Print a call of the function `key`."""
        if isinstance(call, EagerChoice) and any(map(is_checked, call.items[:2])):
            chosen = self.scalar(ex.CallFunction(call.base, call.items), scope)
            values = (self.scalar(one, scope).text for one in call.items[:2] if is_checked(one))
            before = "".join(f"(void) ({text}), " for text in values)
            return CValue(f"({before}{chosen.text})", chosen.type)
        if not isinstance(call, CheckedIndex):
            return self._function(key, call.items, scope)
        if scope.around.bounds_checks:
            return self._from_the_end(call.items, scope)
        for helper in (bounds.HELPER, bounds.INDEX):
            self.writer.helper(helper)
        index, extent = (_whole(self.scalar(item, scope)) for item in call.items)
        where = bounds.CheckedPlace(scope.code.name, self.place, self.array)
        return bounds.checked_index(index, extent, where)

    def _from_the_end(self, items: tuple[ex.Expr, ...], scope: CScope) -> CValue:
        """Print an index to be checked, plus the extent if it is negative."""
        value, size = (_whole(self.scalar(item, scope)) for item in items)
        text = f"({value.text}) + (({value.text}) < 0) * ({size.text})"
        return CValue(text, value.type, Precedence.SUM)

    def subscripted_array(self, expr: ex.Index, scope: CScope) -> Array:
        """Return the array of which `expr` is an element or a section."""
        if not isinstance(expr.base, ex.Name):
            raise PrintError(f"the component '{ex.spell(expr.base)}' is not printed")
        array = self.variables.array(expr.base.key, scope)
        if len(array.dimensions) != len(expr.items):
            raise PrintError(f"'{ex.spell(expr)}' has another number of subscripts", expr.base.text)
        return array

    def _subscripted(self, expr: ex.Index, scope: CScope) -> CValue | ArrayValue:
        """Print an array element or section."""
        array = self.subscripted_array(expr, scope)
        places: list[Callable[[str], str] | str] = []
        extents: list[str] = []
        outer, self.array = self.array, ex.spell(expr.base)
        for item, dimension in zip(expr.items, array.dimensions, strict=True):
            if isinstance(item, ex.Range):
                place, extent = self._triplet(item, dimension.lower, dimension.extent, scope)
                places.append(place)
                extents.append(extent)
                continue
            value = self.evaluate(item, scope)
            if isinstance(value, ArrayValue):
                places.append(_gathered(value, dimension.lower))
                extents.append(value.extents[0])
            else:
                places.append(minus(_whole(value).within(Precedence.SUM), dimension.lower))
        self.array = outer

        def at(indices: tuple[str, ...]) -> CValue:
            waiting = iter(indices)
            found = [item if isinstance(item, str) else item(next(waiting)) for item in places]
            if scope.around.bounds_checks:
                self.writer.helper(bounds.HELPER)
                where = bounds.CheckedPlace(scope.code.name, self.place, ex.spell(expr.base))
                return bounds.checked_element(array, tuple(found), where)
            return array.element(tuple(found))

        return ArrayValue(array.type, tuple(extents), at) if extents else at(())

    def _triplet(
        self, item: ex.Range, first: str, extent: str, scope: CScope
    ) -> tuple[Callable[[str], str], str]:
        """Return a function that maps an index of a section to the array index, and the extent.

        `item` is the subscript triplet of the section.
        """
        step = "1" if item.step is None else self.kept(item.step, "step", scope)
        if item.lower is None and item.upper is None and step == "1":
            if not extent:
                raise PrintError("the size of an array is not known")
            return (lambda index: index), extent
        last = plus(minus(first, "1"), _factor(extent)) if extent else ""
        backwards = step.startswith("-")
        if (item.lower is None or item.upper is None) and not is_number(step):
            raise PrintError("a section without bounds has a step that is not known")
        start = self.kept(item.lower, "first", scope) if item.lower else (
            last if backwards else first)  # fmt: skip
        stop = self.kept(item.upper, "last", scope) if item.upper else (
            first if backwards else last)  # fmt: skip
        if not stop or not start:
            raise PrintError("the size of an array is not known")
        offset = minus(start, first)
        if step == "1":
            return (lambda index: plus(offset, index)), plus(minus(stop, start), "1")
        count = f"({plus(minus(stop, start), '1')}) / 1" if step == "1" else (
            f"({minus(stop, start)} + {step}) / ({step})")  # fmt: skip
        return (lambda index: f"{offset} + {_factor(index)} * ({step})"), count

    def kept(self, expr: ex.Expr, stem: str, scope: CScope) -> str:
        """Return an integer expression as text that later statements can use without reevaluation.

        A temporary is declared if needed.
        """
        value = scope.integer(expr)
        if value is not None:
            return str(value)
        found = _whole(self.scalar(expr, scope))
        if found.rank >= Precedence.SUM and "[" not in found.text and "(" not in found.text:
            return found.text
        return self.writer.temporary(found.type, found.text, stem)

    def _list(self, items: tuple[ex.Expr, ...], scope: CScope) -> ArrayValue:
        """Print an array constructor as a constant array that is declared before the statement."""
        values = [self.scalar(item, scope) for item in items]
        if not values:
            raise PrintError("an array constructor has no element")
        type_, size = values[0].type, len(values)
        name = self.writer.name("list")
        texts = ", ".join(value.text for value in values)
        self.writer.declare(f"const {type_.name} {name}[{size}] = {{{texts}}};")
        return ArrayValue(type_, (str(size),), lambda at: CValue(f"{name}[{at[0]}]", type_))

    # ------------------------------------------------------------------------ functions

    def _function(
        self, word: str, items: tuple[ex.Expr, ...], scope: CScope
    ) -> CValue | ArrayValue:
        if word == RANDOM:
            return CValue(f"{self.writer.helper('psy_random')}()", DOUBLE)
        symbol = scope.symbol(word)
        if symbol.origin is not ex.Origin.INTRINSIC:
            return self.calling(word, items, scope)
        found = self._inquired(word, items, scope) or self.transforming(word, items, scope)
        if found is not None:
            return found
        if word not in ELEMENTAL:
            raise PrintError(f"the function '{word}' is not printed", word)
        items, kind = _without_kind(word, items, scope)
        if any(isinstance(item, ex.Keyword) for item in items):
            items = _in_order(word, items)
        values = [self.evaluate(item, scope) for item in items]
        helper = self.writer.helper
        return mapped(lambda *found: elemental(word, found, kind, helper), *values)

    def _inquired(self, word: str, items: tuple[ex.Expr, ...], scope: CScope) -> CValue | None:
        """Print an inquiry function such as `kind`, `size` or `huge`; return None for others."""
        if word in LIMITS and len(items) == 1:
            value = self.evaluate(items[0], scope)
            text = _limit(word, value.type)
            if not text:
                raise PrintError(f"'{word}' of such a value is not printed", word)
            return CValue(text, value.type)
        if word == "kind":
            value = self.evaluate(items[0], scope)
            return CValue(str(value.type.size), INTEGER)
        if word in {"size", "lbound", "ubound"}:
            return self._extent_of(word, items, scope)
        if word == "present" and isinstance(items[0], ex.Name):
            parameter = self.variables.parameters[items[0].key]
            return CValue(f"{parameter.name} != 0", LOGICAL, Precedence.EQUALITY)
        return None

    def _extent_of(self, word: str, items: tuple[ex.Expr, ...], scope: CScope) -> CValue | None:
        items = tuple(item.value if isinstance(item, ex.Keyword) and item.key == "dim" else item
                      for item in items)  # fmt: skip
        if any(isinstance(item, ex.Keyword) for item in items) or len(items) > 2:
            raise PrintError(f"'{word}' with a kind is not printed", word)
        place = scope.integer(items[1]) if len(items) == 2 else None
        if len(items) == 2 and place is None:
            raise PrintError(f"'{word}' of a dimension that is not known is not printed", word)
        if word != "size":
            return self._bound_of(word, items[0], place, scope)
        value = self.evaluate(items[0], scope)
        if isinstance(value, CValue):
            raise PrintError("a scalar has no size", word)
        wanted = value.extents if place is None else (value.extents[place - 1],)
        if all(is_number(text) for text in wanted):
            size = 1
            for text in wanted:
                size *= max(0, int(text))
            return CValue(str(size), INTEGER)
        largest = self.writer.helper("psy_max_i8")
        text = " * ".join(text if is_number(text) else f"{largest}(0, {text})" for text in wanted)
        return CValue(f"(int32_t) ({text})", INTEGER, Precedence.PREFIX)

    def _bound_of(self, word: str, item: ex.Expr, place: int | None, scope: CScope) -> CValue:
        if not isinstance(item, ex.Name) or place is None:
            raise PrintError(f"'{word}' of this is not printed", word)
        dimension = self.variables.array(item.key, scope).dimensions[place - 1]
        if not is_number(dimension.extent) and not is_number(dimension.lower):
            raise PrintError(f"'{word}' of an array that may be empty is not printed", word)
        if word == "lbound":
            if dimension.lower == "1" or is_number(dimension.extent):
                return CValue(dimension.lower, INTEGER)
            text = f"{dimension.extent} > 0 ? {dimension.lower} : 1"
            return CValue(f"({text})", INTEGER)
        if dimension.lower == "1":
            largest = self.writer.helper("psy_max_i8")
            return CValue(f"(int32_t) {largest}(0, {dimension.extent})", INTEGER, Precedence.PREFIX)
        text = plus(minus(dimension.lower, "1"), dimension.extent)
        return CValue(
            f"(int32_t) ({dimension.extent} > 0 ? {text} : 0)", INTEGER, Precedence.PREFIX
        )


def mapped(operation: Callable[..., CValue], *operands: CValue | ArrayValue) -> CValue | ArrayValue:
    """Apply an operation to scalars, or elementwise if an operand is an array."""
    arrays = [item for item in operands if isinstance(item, ArrayValue)]
    if not arrays:
        return operation(*operands)
    shape = arrays[0]
    if any(item.rank != shape.rank for item in arrays):
        raise PrintError("arrays of different ranks are combined")

    def at(indices: tuple[str, ...]) -> CValue:
        return operation(*(item.at(indices) if isinstance(item, ArrayValue) else item
                           for item in operands))  # fmt: skip

    return ArrayValue(at(("0",) * shape.rank).type, _clearest(arrays), at)


def _clearest(arrays: list[ArrayValue]) -> tuple[str, ...]:
    """Return the common extents of arrays of one shape, as integer literals wherever possible."""
    return tuple(
        next((text for text in texts if is_number(text)), texts[0])
        for texts in zip(*(item.extents for item in arrays), strict=True)
    )


def literal_value(expr: ex.Literal, scope: CScope) -> CValue:
    """Print a literal constant."""
    type_, value = scope.literal_type(expr), expr.value
    match value:
        case bool():
            return CValue("1" if value else "0", type_)
        case int():
            text = integer_literal(value)
            return CValue(text if type_.size <= INTEGER.size else f"INT64_C({value})", type_)
        case ex.DecimalNumber() if float(value) == float("inf"):
            return CValue("INFINITY", type_)
        case ex.DecimalNumber():
            return CValue(f"{_decimal(value)}f" if type_ == REAL else _decimal(value), type_)
    raise PrintError("a text has no value that a kernel computes with", expr.text)


def _decimal(value: ex.DecimalNumber) -> str:
    """Return a decimal number with all its digits, in exponent form if it has many zeros."""
    digits, power = str(value.digits), value.exponent
    if power > _MOST_ZEROS or len(digits) + power < -_MOST_ZEROS:
        return f"{digits[0]}.{digits[1:] or '0'}e{power + len(digits) - 1}"
    if power >= 0:
        return f"{digits}{'0' * power}.0"
    digits = digits.rjust(1 - power, "0")
    return f"{digits[:power]}.{digits[power:]}"


_MOST_ZEROS = 6


def _whole(value: CValue) -> CValue:
    if not value.type.is_integer:
        raise PrintError("a subscript or a bound is not an integer")
    return value


def _gathered(value: ArrayValue, lower: str) -> Callable[[str], str]:
    """Return a function that maps an index to an element of a vector subscript, counted from 0."""
    if value.rank != 1 or not value.type.is_integer:
        raise PrintError("a subscript is not a list of integers")
    return lambda index: minus(value.at((index,)).within(Precedence.SUM), lower)


def _factor(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _without_kind(
    word: str, items: tuple[ex.Expr, ...], scope: CScope
) -> tuple[tuple[ex.Expr, ...], int | None]:
    """Return the arguments of an intrinsic without `kind`, and the value of `kind` or None."""
    if word not in WITH_KIND or len(items) < 2:
        return items, None
    kind = items[1].value if isinstance(items[1], ex.Keyword) else items[1]
    value = scope.integer(kind)
    if value is None:
        raise PrintError(f"the kind '{ex.spell(kind)}' has no value that is known")
    type_ = REAL if word in {"real", "anint", "aint"} else LOGICAL if word == "logical" else INTEGER
    if CType(type_.intrinsic, value) not in _KNOWN:
        raise PrintError(f"a {type_.intrinsic.value} of {value} bytes is not printed")
    return items[:1], value


_KNOWN = {
    *(CType(Intrinsic.REAL, size) for size in (4, 8)),
    *(CType(Intrinsic.INTEGER, size) for size in (1, 2, 4, 8)),
    *(CType(Intrinsic.LOGICAL, size) for size in (1, 4, 8)),
}
_KEYWORDS = {
    "merge": ("tsource", "fsource", "mask"), "sign": ("a", "b"), "mod": ("a", "p"),
    "modulo": ("a", "p"), "atan2": ("y", "x"),
}  # fmt: skip


def _in_order(word: str, items: tuple[ex.Expr, ...]) -> tuple[ex.Expr, ...]:
    """Return the arguments of an intrinsic in positional order, without keywords."""
    words = _KEYWORDS.get(word)
    given = {item.key: item.value for item in items if isinstance(item, ex.Keyword)}
    plain = [item for item in items if not isinstance(item, ex.Keyword)]
    if words is None or len(plain) + len(given) != len(words) or not given.keys() <= set(words):
        raise PrintError(f"'{word}' with such keywords is not printed", word)
    return (*plain, *(given[key] for key in words[len(plain) :]))


def _limit(word: str, type_: CType) -> str:
    """Return the C macro for a numeric limit of a type, or '' if C has none."""
    if type_.is_real:
        prefix = "FLT" if type_ == REAL else "DBL"
    elif type_.is_integer and word == "huge":
        prefix = f"INT{8 * type_.size}"
    else:
        return ""
    return f"{prefix}_{LIMITS[word].c}"
