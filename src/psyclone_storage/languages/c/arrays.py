"""Array operations printed as C loops: array assignments and transformational intrinsics.

Loops visit array elements in memory order, as gfortran does, so that sums are bitwise equal. If an
assignment reads the array that it changes, the values read are first stored in a temporary array.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, Index, Keyword, Name, children, same, walk
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.typing import INTEGER, LOGICAL, CScope, CType, PrintError
from psyclone_storage.languages.c.code_buffer import CWriter
from psyclone_storage.languages.c.operators import binary_value
from psyclone_storage.languages.c.types import ArrayValue, CValue, common_type, is_number
from psyclone_storage.languages.c.variables import Array, Dimension, Evaluate
from psyclone_storage.languages.operators import C

_LARGEST = {4: ("INT32_MIN", "INT32_MAX"), 8: ("INT64_MIN", "INT64_MAX"),
            2: ("INT16_MIN", "INT16_MAX"), 1: ("INT8_MIN", "INT8_MAX")}  # fmt: skip
LARGEST_REAL = {4: "FLT_MAX", 8: "DBL_MAX"}
_REDUCING = frozenset({"sum", "product", "maxval", "minval", "any", "all", "count"})


@dataclass(slots=True)
class Arrays:
    """Printer of whole-array operations in one procedure."""

    writer: CWriter
    evaluate: Evaluate

    # ------------------------------------------------------------------------ loops

    @contextmanager
    def loops(self, extents: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Open nested loops over all elements of an array shape; yield the index variables.

        The first index belongs to the innermost loop.
        """
        names = [self.writer.name("at") for _ in extents]
        heads = [
            f"for (int64_t {name} = 0; {name} < {extent}; ++{name})"
            for name, extent in zip(names, extents, strict=True)
        ]
        with ExitStack() as blocks:
            for head in reversed(heads):
                blocks.enter_context(self.writer.block(head))
            yield tuple(names)
        for name in names:
            self.writer.release(name)

    def made_room(self, type_: CType, extents: tuple[str, ...], stem: str) -> Array:
        """Declare a temporary array with these extents and return it."""
        name = self.writer.name(stem)
        kept = tuple(self._kept(extent) for extent in extents)
        self.writer.declare(f"{type_.name} {name}[{room_for(name, kept, self.writer)}];")
        return Array(name, type_, tuple(Dimension("1", extent) for extent in kept))

    def _kept(self, extent: str) -> str:
        if is_number(extent) or extent.isidentifier():
            return extent
        name = self.writer.name("extent")
        self.writer.declare(f"const int64_t {name} = {extent};")
        return name

    def stored(self, value: ArrayValue, stem: str = "kept") -> ArrayValue:
        """Evaluate an array expression into a temporary array.

        Return that array as an expression.
        """
        return self.stored_array(value, stem).whole()

    def stored_array(self, value: ArrayValue, stem: str = "kept") -> Array:
        """Evaluate an array expression into a temporary array, and return that array."""
        made = self.made_room(value.type, value.extents, stem)
        with self.loops(made.extents()) as indices:
            self.writer.put(f"{made.element(indices).text} = {value.at(indices).text};")
        return made

    # ------------------------------------------------------------------------ assignments

    def assign(self, target: Expr, value: Expr, scope: CScope, mask: Array | None = None) -> None:
        """Print an assignment to a scalar or an array.

        If `mask` is given, only elements for which it is true are assigned.
        """
        key = _changed_name(target)
        into, new = self.evaluate(target, scope), self.evaluate(value, scope)
        _check_assigned(into.type, new.type)
        if isinstance(into, CValue):
            if isinstance(new, ArrayValue) or mask is not None:
                raise PrintError("an array is assigned to a scalar")
            self.writer.put(f"{into.text} = {new.text};")
            return
        if isinstance(target, Index) and any(_mentions(item, key) for item in target.items):
            raise PrintError(f"'{key}' is changed and says which elements are changed", key)
        if isinstance(new, ArrayValue) and new.rank != into.rank:
            raise PrintError("arrays of different ranks are assigned")
        extents = into.extents
        if isinstance(new, ArrayValue) and _overlaps(target, value, key):
            kept = ArrayValue(new.type, _clearest(extents, new.extents), new.at)
            new = self.stored(kept)
        elif isinstance(new, CValue) and _mentions(value, key):
            new = CValue(self.writer.temporary(new.type, new.text, "value"), new.type)
        if isinstance(new, ArrayValue):
            extents = _clearest(extents, new.extents)
        with self.loops(extents) as indices:
            text = new.at(indices).text if isinstance(new, ArrayValue) else new.text
            condition = f"if ({mask.element(indices).text}) " if mask else ""
            self.writer.put(f"{condition}{into.at(indices).text} = {text};")

    # ------------------------------------------------------------------------ functions

    def transforming(
        self, word: str, items: tuple[Expr, ...], scope: CScope
    ) -> CValue | ArrayValue | None:
        """Print a call of a transformational array intrinsic; return None if it is not supported.

        `word` is the intrinsic's name in lower case.
        """
        if word in _REDUCING:
            return self._reduced(word, items, scope)
        if word == "dot_product":
            return self._dot_product(*self._two(items, scope))
        if word == "matmul":
            first, second = self._two(items, scope)
            _check_order(items, min(first.rank, second.rank))
            return self._product(first, second)
        if word == "transpose" and len(items) == 1:
            value = self._array(items[0], scope)
            turned = ArrayValue(value.type, value.extents[::-1], lambda at: value.at(at[::-1]))
            return self.stored(turned)
        if word == "spread":
            return self._spread(items, scope)
        return None

    def _spread(self, items: tuple[Expr, ...], scope: CScope) -> ArrayValue:
        """Return the value of the intrinsic `spread`: copies of an array along a new dimension."""
        values = [item.value if isinstance(item, Keyword) else item for item in items]
        place = scope.integer(values[1]) if len(values) == 3 else None
        if place is None:
            raise PrintError("'spread' in a dimension that is not known is not printed", "spread")
        source, count = self.evaluate(values[0], scope), self.evaluate(values[2], scope)
        if isinstance(count, ArrayValue):
            raise PrintError("the number of copies is an array", "spread")
        inner = source.extents if isinstance(source, ArrayValue) else ()
        extents = (*inner[: place - 1], count.text, *inner[place - 1 :])

        def at(indices: tuple[str, ...]) -> CValue:
            if isinstance(source, CValue):
                return source
            return source.at((*indices[: place - 1], *indices[place:]))

        return self.stored(ArrayValue(source.type, extents, at))

    def _array(self, expr: Expr, scope: CScope) -> ArrayValue:
        value = self.evaluate(expr, scope)
        if isinstance(value, CValue):
            raise PrintError("a scalar stands where an array is needed")
        return value

    def _two(self, items: tuple[Expr, ...], scope: CScope) -> tuple[ArrayValue, ArrayValue]:
        if len(items) != 2:
            raise PrintError("a product is not of two arrays")
        plain = [item.value if isinstance(item, Keyword) else item for item in items]
        return self._array(plain[0], scope), self._array(plain[1], scope)

    def _dot_product(self, first: ArrayValue, second: ArrayValue) -> CValue:
        if first.rank != 1 or second.rank != 1 or first.type.is_logical:
            raise PrintError("'dot_product' of these is not printed", "dot_product")
        type_ = common_type(first.type, second.type)
        total = self.writer.temporary(type_, "0", "total", changes=True)
        with self.loops(_clearest(first.extents, second.extents)) as indices:
            self._add(CValue(total, type_), self._times(first.at(indices), second.at(indices)))
        return CValue(total, type_)

    def _times(self, first: CValue, second: CValue) -> CValue:
        return binary_value(Operator.TIMES, first, second, self.writer.helper)

    def _add(self, total: CValue, value: CValue) -> None:
        self.writer.put(f"{total.text} = {C.binary(Operator.PLUS, total, value).text};")

    def _product(self, first: ArrayValue, second: ArrayValue) -> ArrayValue:
        """Return a matrix product.

        Terms of each element are added in increasing order of the index.
        """
        if first.type.is_logical or (first.rank, second.rank) not in {(2, 2), (2, 1), (1, 2)}:
            raise PrintError("'matmul' of these is not printed", "matmul")
        type_ = common_type(first.type, second.type)
        inner = _clearest(first.extents[-1:], second.extents[:1])[0]
        extents = (*first.extents[:-1], *second.extents[1:])
        made = self.made_room(type_, extents, "product")
        with self.loops(made.extents()) as indices:
            element = made.element(indices)
            self.writer.put(f"{element.text} = 0;")
            rows, columns = indices[: first.rank - 1], indices[first.rank - 1 :]
            with self.loops((inner,)) as middle:
                term = self._times(first.at((*rows, *middle)), second.at((*middle, *columns)))
                self._add(element, term)
        return made.whole()

    def _reduced(self, word: str, items: tuple[Expr, ...], scope: CScope) -> CValue | ArrayValue:
        """Print a reduction of all elements, or of those along one dimension; return its value."""
        value = self._array(items[0], scope)
        place, mask = self._options(word, items[1:], scope)
        if place is None or value.rank == 1:
            total = self._started(word, value.type)
            with self.loops(value.extents) as indices:
                self._combined(word, total, value.at(indices), mask, indices)
            return self._finished(word, total, value.type)
        if not 1 <= place <= value.rank:
            raise PrintError(f"'{word}' of a dimension that the array has not", word)
        outer = (*value.extents[: place - 1], *value.extents[place:])
        made = self.made_room(_type_of_reduced(word, value.type), outer, "reduced")
        with self.loops(made.extents()) as indices:
            total = self._started(word, value.type)
            with self.loops((value.extents[place - 1],)) as along:
                full = (*indices[: place - 1], *along, *indices[place - 1 :])
                self._combined(word, total, value.at(full), mask, full)
            result = self._finished(word, total, value.type)
            self.writer.put(f"{made.element(indices).text} = {result.text};")
        return made.whole()

    def _finished(self, word: str, total: tuple[str, str], type_: CType) -> CValue:
        """Return the result of a reduction, which includes the case that all elements are NaN."""
        name, met = total
        if met:
            least = ("-" if word == "maxval" else "") + LARGEST_REAL[type_.size]
            self.writer.put(f"if ({met} < 2) {name} = {met} ? NAN : {least};")
        return CValue(name, _type_of_reduced(word, type_))

    def _options(
        self, word: str, items: tuple[Expr, ...], scope: CScope
    ) -> tuple[int | None, CValue | ArrayValue | None]:
        place: int | None = None
        mask: CValue | ArrayValue | None = None
        for item in items:
            inner = item.value if isinstance(item, Keyword) else item
            value = self.evaluate(inner, scope)
            if value.type.is_logical:
                mask = value
            else:
                place = scope.integer(inner)
                if place is None or word == "mask":
                    raise PrintError(f"'{word}' of a dimension that is not known", word)
        return place, mask

    def _started(self, word: str, type_: CType) -> tuple[str, str]:
        """Declare the result variable of a reduction and, for extrema of reals, a status variable.

        The status variable records whether the array has an element that is not NaN.
        """
        result, met = _type_of_reduced(word, type_), ""
        if word in {"any", "all", "count"}:
            if not type_.is_logical:
                raise PrintError(f"'{word}' of numbers", word)
            start = "1" if word == "all" else "0"
        elif type_.is_logical:
            raise PrintError(f"'{word}' of truth values", word)
        elif word in {"sum", "product"}:
            start = "0" if word == "sum" else "1"
        elif type_.is_real:
            start = "-INFINITY" if word == "maxval" else "INFINITY"
            met = self.writer.temporary(INTEGER, "0", "met", changes=True)
        else:
            start = _LARGEST[type_.size][word == "minval"]
        return self.writer.temporary(result, start, word, changes=True), met

    def _combined(
        self,
        word: str,
        started: tuple[str, str],
        value: CValue,
        mask: CValue | ArrayValue | None,
        indices: tuple[str, ...],
    ) -> None:
        """Print the statement that combines one array element with the result of a reduction."""
        total, met = started
        condition = ""
        if mask is not None:
            held = mask.at(indices) if isinstance(mask, ArrayValue) else mask
            condition = f"if ({held.text}) "
        result = CValue(total, value.type)
        if word in {"sum", "product"}:
            op = Operator.PLUS if word == "sum" else Operator.TIMES
            text = binary_value(op, result, value, self.writer.helper).text
            self.writer.put(f"{condition}{total} = {text};")
        elif word in {"maxval", "minval"}:
            op = Operator.GREATER if word == "maxval" else Operator.LESS
            with self.writer.block(condition.strip()) if condition else nullcontext():
                if met:
                    name = self.writer.temporary(value.type, value.text, "item")
                    value = CValue(name, value.type)
                    self.writer.put(f"{met} |= {name} == {name} ? 2 : 1;")
                larger = C.binary(op, value, result).text
                self.writer.put(f"if ({larger}) {total} = {value.text};")
        elif word == "count":
            self.writer.put(f"{condition}{total} += {value.text};")
        else:
            test = value if word == "any" else C.unary(Operator.NOT, value)
            self.writer.put(f"if ({test.text}) {total} = {int(word == 'any')};")


def room_for(name: str, extents: tuple[str, ...], writer: CWriter) -> str:
    """Return the number of elements to allocate for the array `name`, at least 1, as C text.

    If the number is not constant, the array is recorded as automatic.
    """
    if all(is_number(extent) for extent in extents):
        size = 1
        for extent in extents:
            size *= max(0, int(extent))
        return str(max(1, size))
    writer.automatic.append(name)
    largest = writer.helper("psy_max_i8")
    return " * ".join(f"{largest}(1, {extent})" for extent in extents)


def _check_order(items: tuple[Expr, ...], rank: int) -> None:
    """Raise `PrintError` for a matrix product in which gfortran's order of additions is unknown."""
    turned = [isinstance(item, Index) and item.base == Name("transpose") for item in items]
    if all(turned) or (any(turned) and rank == 1):
        raise PrintError("gfortran adds the terms of a product with 'transpose' in an order of its"
                      " own", "transpose")  # fmt: skip


def _type_of_reduced(word: str, type_: CType) -> CType:
    if word == "count":
        return INTEGER
    return LOGICAL if word in {"any", "all"} else type_


def _check_assigned(into: CType, value: CType) -> None:
    if into.is_logical is not value.is_logical:
        raise PrintError("a truth value and a number are assigned to each other")


def _changed_name(target: Expr) -> str:
    base = target.base if isinstance(target, Index) else target
    if not isinstance(base, Name):
        raise PrintError("a component is changed")
    return base.key


def _mentions(expr: Expr, key: str) -> bool:
    return any(isinstance(part, Name) and part.key == key for part in walk(expr))


def _overlaps(target: Expr, value: Expr, key: str) -> bool:
    """Return whether `value` reads elements of the array `key` other than those of `target`."""
    if same(target, value):
        return False
    match value:
        case Name():
            return value.key == key
        case Index(base, items):
            inner = isinstance(base, Name) and base.key == key
            return inner or any(_overlaps(target, item, key) for item in items)
    return any(_overlaps(target, part, key) for part in children(value))


def _clearest(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the common extents of two arrays, as integer literals wherever one array has them."""
    return tuple(
        one if is_number(one) or not is_number(two) else two
        for one, two in zip(first, second, strict=True)
    )
