"""Variables of a procedure in C: how each is passed, declared and printed.

Arrays are contiguous and have Fortran's memory layout. A pointer to the first element represents an
array. Array bounds that are known on entry to a procedure are stored in constants.
"""

from __future__ import annotations

from collections.abc import Callable

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Precedence
from psyclone_storage.ir.typing import LONG, CScope, CType, PrintError
from psyclone_storage.languages.c.code_buffer import CWriter
from psyclone_storage.languages.c.types import (
    ArrayValue,
    CValue,
    integer_literal,
    is_number,
    minus,
    plus,
)

Evaluate = Callable[[ex.Expr, CScope], CValue | ArrayValue]
"""Prints an expression whose names a scope knows."""

_REFUSED = ("pointer", "allocatable", "volatile", "asynchronous", "save", "codimension")


@dataclass(frozen=True, slots=True)
class Dimension:
    """Array dimension: its lower bound and its extent, '' if unknown."""

    lower: str
    extent: str


@dataclass(frozen=True, slots=True)
class Array:
    """Array with its C name, element type and dimensions."""

    name: str
    type: CType
    dimensions: tuple[Dimension, ...]

    def element(self, positions: tuple[str, ...]) -> CValue:
        """Return the element at `positions`, counted from 0."""
        return CValue(f"{self.name}[{self.offset(positions)}]", self.type)

    def offset(self, positions: tuple[str, ...]) -> str:
        """Return the linear offset of the element at `positions`.

        Extents have 64 bits. They come first, so that all sums have 64 bits: compilers do not
        vectorise conditional accesses with narrower sums, which might overflow.
        """
        text = positions[-1]
        for position, dimension in zip(positions[-2::-1], self.dimensions[-2::-1], strict=True):
            inner = text if text.isidentifier() or is_number(text) else f"({text})"
            if text == "0":
                text = position
            else:
                product = f"{dimension.extent} * {inner}"
                text = product if position == "0" else f"{product} + {position}"
        return text

    def whole(self) -> ArrayValue:
        """Return the whole array as an expression."""
        return ArrayValue(self.type, self.extents(), self.element)

    def extents(self) -> tuple[str, ...]:
        """Return the extents; raise `PrintError` if one is unknown."""
        if any(not dimension.extent for dimension in self.dimensions):
            raise PrintError(f"the size of '{self.name}' is not known", self.name)
        return tuple(dimension.extent for dimension in self.dimensions)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a C function.

    - `name`: the name of the Fortran dummy argument `key`, or of the variable `key` of `module`.

    - `by_value`: the argument is passed by value; otherwise it is passed as a pointer.

    - `optional`: the pointer may be null.

    - `assumed`: names of the extents that follow an array of assumed shape as parameters.
    """

    key: str
    name: str
    type: CType
    intent: str
    is_array: bool = False
    by_value: bool = False
    assumed: tuple[str, ...] = ()
    module: str = ""
    optional: bool = False

    def texts(self) -> tuple[str, ...]:
        """Return the declarations of the parameter and its extents."""
        constant = "const " if self.intent == "in" else ""
        if self.by_value:
            return (f"{constant}{self.type.name} {self.name}",)
        pointer = f"{constant}{self.type.name} *restrict {self.name}"
        return (pointer, *(f"const int64_t {extent}" for extent in self.assumed))


@dataclass
class Variables:
    """Variables used by one procedure, collected while it is printed."""

    scope: CScope
    writer: CWriter
    evaluate: Evaluate
    parameters: dict[str, Parameter] = field(default_factory=dict)
    locals: dict[str, CType] = field(default_factory=dict)
    local_arrays: dict[str, Array] = field(default_factory=dict)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _arrays: dict[tuple[str, str], Array] = field(default_factory=dict)

    def declare_dummies(self) -> list[PrintError]:
        """Record the dummies of the procedure in order.

        Return an error for each one without a C form.
        """
        problems: list[PrintError] = []
        code = self.scope.code
        for item in code.declarations:
            if (key := key_of(getattr(item, "name", ""))) and code.declared(key):
                self._names.setdefault(("", key), self.writer.name(key))
        for name in code.dummies:
            try:
                self.parameters[key_of(name)] = self._dummy(self.scope.symbol(key_of(name)))
            except PrintError as problem:
                problems.append(problem)
        return problems

    def _dummy(self, symbol: ex.Symbol) -> Parameter:
        self._check(symbol)
        type_, name = self.scope.type_of(symbol), self._name("", symbol.key)
        intent, optional = intent_of(symbol), "optional" in symbol.attributes
        if not symbol.shape:
            by_value = not optional and (intent == "in" or "value" in symbol.attributes)
            return Parameter(symbol.key, name, type_, intent, by_value=by_value, optional=optional)
        count = len(symbol.shape)
        assumed = tuple(
            self.writer.name(f"{name}_n{place}" if count > 1 else f"{name}_n")
            for place, item in enumerate(symbol.shape, 1)
            if is_assumed(item)
        )
        return Parameter(
            symbol.key, name, type_, intent, is_array=True, assumed=assumed, optional=optional
        )

    def add_result(self, symbol: ex.Symbol) -> None:
        """Add a parameter for the array result of a function."""
        type_, name = self.scope.type_of(symbol), self._name("", symbol.key)
        self.parameters[symbol.key] = Parameter(symbol.key, name, type_, "out", is_array=True)

    def _check(self, symbol: ex.Symbol) -> None:
        for word in symbol.attributes:
            if word in _REFUSED or word.startswith("bind"):
                raise PrintError(f"'{symbol.name}' has the attribute '{word}'", symbol.key)

    # ------------------------------------------------------------------------ uses

    def value(self, key: str, scope: CScope) -> CValue | ArrayValue:
        """Print a reference to a variable or a named constant."""
        symbol = scope.symbol(key)
        if not symbol.is_data:
            raise PrintError(f"'{key}' is no variable", key)
        if symbol.shape:
            return self.array(key, scope).whole()
        if symbol.sort is ex.Sort.CONSTANT:
            return self._constant(symbol, scope)
        return self._scalar(symbol)

    def array(self, key: str, scope: CScope) -> Array:
        """Return an array, declaring it at its first use."""
        symbol = scope.symbol(key)
        home = (scope.home_of(symbol).module, symbol.key)
        if home not in self._arrays:
            self._arrays[home] = self._made_array(symbol, scope)
        return self._arrays[home]

    def extents_of(self, parameter: Parameter) -> tuple[Dimension, ...]:
        """Return the dimensions of an array argument."""
        return self.array(parameter.key, self.scope).dimensions

    def passed_on(self, key: str, scope: CScope) -> str:
        """Return the pointer to a module variable, for passing it to another function."""
        return self._of_module(scope.symbol(key)).name

    # ------------------------------------------------------------------------ scalars

    def _scalar(self, symbol: ex.Symbol) -> CValue:
        if symbol.origin is ex.Origin.DUMMY:
            parameter = self.parameters[symbol.key]
        elif symbol.origin is ex.Origin.LOCAL:
            if symbol.key not in self.locals:
                self._check(symbol)
                if symbol.value is not None:
                    raise PrintError(f"'{symbol.name}' keeps its value between calls", symbol.key)
                self.locals[symbol.key] = self.scope.type_of(symbol)
            return CValue(self._name("", symbol.key), self.locals[symbol.key])
        else:
            parameter = self._of_module(symbol)
        if parameter.by_value:
            return CValue(parameter.name, parameter.type)
        return CValue(f"*{parameter.name}", parameter.type, Precedence.PREFIX)

    def _of_module(self, symbol: ex.Symbol) -> Parameter:
        """Return the parameter by which a module variable is passed."""
        module = symbol.module_key or self.scope.code.module.key
        key = f"{module}%{symbol.key}"
        if key not in self.parameters:
            self._check(symbol)
            type_ = self.scope.type_of(symbol)
            name = self._name(module, symbol.key)
            self.parameters[key] = Parameter(
                symbol.key, name, type_, "inout", bool(symbol.shape), module=module
            )
        return self.parameters[key]

    def _constant(self, symbol: ex.Symbol, scope: CScope) -> CValue:
        """Print a reference to a scalar constant, declaring it in the prologue if necessary."""
        within = scope.home_of(symbol)
        type_, home = scope.type_of(symbol), (within.module, symbol.key)
        if home not in self._names or home not in self._known_constants:
            value = within.integer(ex.Name(symbol.name)) if type_.is_integer else None
            if value is not None:
                return CValue(
                    integer_literal(value),
                    type_,
                    Precedence.PREFIX if value < 0 else Precedence.PRIMARY,
                )
            if symbol.value is None:
                raise PrintError(
                    f"the value of the constant '{symbol.name}' is not known", symbol.key
                )
            made = self.evaluate(symbol.value, within)
            if isinstance(made, ArrayValue):
                raise PrintError(f"the constant '{symbol.name}' is no scalar", symbol.key)
            with self.writer.in_prologue():
                name = self._name(*home)
                self.writer.put(f"const {type_.name} {name} = {made.text};")
            self._known_constants.add(home)
        return CValue(self._names[home], type_)

    _known_constants: set[tuple[str, str]] = field(default_factory=set)

    # ------------------------------------------------------------------------ arrays

    def _made_array(self, symbol: ex.Symbol, scope: CScope) -> Array:
        type_ = scope.type_of(symbol)
        if symbol.sort is ex.Sort.CONSTANT:
            return self._constant_array(symbol, type_, scope)
        if symbol.origin in (ex.Origin.DUMMY, ex.Origin.LOCAL):
            self._check(symbol)
            name = self._name("", symbol.key)
            assumed = self.parameters[symbol.key].assumed if symbol.key in self.parameters else ()
            made = Array(name, type_, self._dimensions(symbol, name, assumed, self.scope))
            if symbol.origin is ex.Origin.LOCAL and symbol.key not in self.parameters:
                if symbol.value is not None:
                    raise PrintError(f"'{symbol.name}' keeps its value between calls", symbol.key)
                self.local_arrays[symbol.key] = made
            return made
        parameter = self._of_module(symbol)
        home = self.scope.within(parameter.module)
        return Array(parameter.name, type_, self._dimensions(symbol, parameter.name, (), home))

    def _dimensions(
        self, symbol: ex.Symbol, name: str, assumed: tuple[str, ...], scope: CScope
    ) -> tuple[Dimension, ...]:
        found, extents = [], list(assumed)
        for place, item in enumerate(symbol.shape, 1):
            stem = f"{name}_{{}}{place}" if len(symbol.shape) > 1 else f"{name}_{{}}"
            if is_assumed(item):
                if not extents:
                    raise PrintError(f"the shape of '{symbol.name}' is not declared", symbol.key)
                lower = item.lower if isinstance(item, ex.Range) else None
                first = "1" if lower is None else self._bound(lower, stem.format("l"), scope)
                found.append(Dimension(first, extents.pop(0)))
                continue
            lower = item.lower if isinstance(item, ex.Range) else None
            upper = item.upper if isinstance(item, ex.Range) else item
            first = "1" if lower is None else self._bound(lower, stem.format("l"), scope)
            if upper is None or is_star(upper):
                found.append(Dimension(first, ""))
                continue
            found.append(Dimension(first, self._extent(first, upper, stem.format("n"), scope)))
        return tuple(found)

    def _bound(self, expr: ex.Expr, stem: str, scope: CScope) -> str:
        value = scope.integer(expr)
        if value is not None:
            return str(value)
        return self._kept(self._whole_number(expr, scope).text, stem)

    def _extent(self, lower: str, upper: ex.Expr, stem: str, scope: CScope) -> str:
        value = scope.integer(upper)
        if value is not None and is_number(lower):
            return str(max(0, value - int(lower) + 1))
        last = self._whole_number(upper, scope)
        text = plus(minus(last.within(Precedence.SUM), lower), "1")
        if last.type == LONG and self._is_constant_argument(text):
            return text
        return self._kept(text, stem)

    def _is_constant_argument(self, name: str) -> bool:
        return any(item.name == name and item.by_value and item.intent == "in"
                   for item in self.parameters.values())  # fmt: skip

    def _kept(self, text: str, stem: str) -> str:
        """Declare an integer constant computed in the prologue, and return its name."""
        with self.writer.in_prologue():
            name = self.writer.name(stem)
            self.writer.put(f"const {LONG.name} {name} = {text};")
        return name

    def _whole_number(self, expr: ex.Expr, scope: CScope) -> CValue:
        with self.writer.in_prologue():
            value = self.evaluate(expr, scope)
        if isinstance(value, ArrayValue) or not value.type.is_integer:
            raise PrintError("a bound of an array is not an integer")
        return value

    def _constant_array(self, symbol: ex.Symbol, type_: CType, scope: CScope) -> Array:
        """Return a named constant array, which is declared in the prologue."""
        within = scope.home_of(symbol)
        name = self._name(within.module, symbol.key)
        if symbol.value is None:
            raise PrintError(f"the value of the constant '{symbol.name}' is not known", symbol.key)
        items = _listed(symbol.value)
        shape = symbol.shape
        dimensions = self._dimensions_of_constant(symbol, name, len(items), within)
        size = 1
        for dimension in dimensions:
            size *= int(dimension.extent)
        texts = [self._item(item, within) for item in items]
        if len(items) == 1 and not isinstance(symbol.value, ex.ArrayLiteral | ex.Index):
            texts *= size
        if len(texts) != size or not shape:
            raise PrintError(f"the value of the constant '{symbol.name}' is no list", symbol.key)
        with self.writer.in_prologue():
            self.writer.put(f"const {type_.name} {name}[{size}] = {{{', '.join(texts)}}};")
        return Array(name, type_, dimensions)

    def _dimensions_of_constant(
        self, symbol: ex.Symbol, name: str, count: int, scope: CScope
    ) -> tuple[Dimension, ...]:
        shape = symbol.shape
        if len(shape) == 1 and (is_star(shape[0]) or is_assumed(shape[0])):
            return (Dimension("1", str(count)),)
        found = self._dimensions(symbol, name, (), scope)
        if not all(is_number(item.extent) for item in found):
            raise PrintError(f"the shape of the constant '{symbol.name}' is not known", symbol.key)
        return found

    def _item(self, item: ex.Expr, scope: CScope) -> str:
        value = self.evaluate(item, scope)
        if isinstance(value, ArrayValue):
            raise PrintError("a list of constants holds arrays")
        return value.text

    # ------------------------------------------------------------------------ names

    def _name(self, module: str, key: str) -> str:
        if (module, key) not in self._names:
            self._names[module, key] = self.writer.name(key)
        return self._names[module, key]


def intent_of(symbol: ex.Symbol) -> str:
    """Return the intent of a dummy argument: `in`, `out` or `inout`."""
    words = [key_of("".join(word.split())) for word in symbol.attributes]
    return next((word[7:-1] for word in words if word.startswith("intent(")), "inout")


def is_assumed(item: ex.Expr) -> bool:
    """Return whether a dimension has assumed shape: its extent is that of the actual argument."""
    return isinstance(item, ex.Range) and item.upper is None


def is_star(item: ex.Expr) -> bool:
    """Return whether a dimension has assumed size (`*`)."""
    return isinstance(item, ex.Star)


def _listed(expr: ex.Expr) -> tuple[ex.Expr, ...]:
    """Return the elements of a constant array in memory order."""
    match expr:
        case ex.ArrayLiteral(items):
            return items
        case ex.Index(ex.Name() as name, items) if name.key == "reshape" and len(items) == 2:
            return _listed(items[0])
    return (expr,)
