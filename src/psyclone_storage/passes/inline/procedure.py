"""A call of a procedure and the statements that replace it."""

from __future__ import annotations

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import everywhere, names_in, names_of_line, walk_lines
from psyclone_storage.ir.routine import Callee
from psyclone_storage.ir.symbols import declared_symbol
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.typing import CScope
from psyclone_storage.passes.inline.array_arguments import (
    PassedArray,
    check_extents,
    is_unmodified,
    passed_array,
    starts_at_one,
)
from psyclone_storage.passes.inline.caller import CallerNames
from psyclone_storage.passes.inline.legality import (
    InlineError,
    may_be_folded,
    writes_before_reads,
    written_in,
)
from psyclone_storage.passes.inline.substitution import Substitution
from psyclone_storage.passes.structured_returns import reason_for_returns, without_returns

_OF_BOUNDS = ("lbound", "ubound")
_NUMBERS = (Intrinsic.REAL, Intrinsic.INTEGER, Intrinsic.LOGICAL)


@dataclass(slots=True)
class InlinedProcedure(Substitution):
    """A call of `callee` with `actuals`, in the order of its dummies, and its replacement.

    Dummies map to `scalars` and `arrays` of the caller, variables to its new `locals`. Statements
    in `before` and `after` surround those of the procedure. `result` is the variable with a
    function result.
    """

    caller: CallerNames
    callee: Callee
    actuals: tuple[ex.Expr, ...]
    place: Span | None
    scalars: dict[str, ex.Expr] = field(default_factory=dict)
    arrays: dict[str, PassedArray] = field(default_factory=dict)
    locals: dict[str, ex.Name] = field(default_factory=dict)
    before: list[un.Line] = field(default_factory=list)
    after: list[un.Line] = field(default_factory=list)
    result: ex.Name | None = None

    @property
    def scope(self) -> CScope:
        """The scope of the original procedure."""
        return CScope(self.callee.code, self.caller.around)

    def lines(self) -> list[un.Line]:
        """Return the statements that replace the call."""
        code = self.callee.code
        written = written_in(code.body)
        self._check_extents(written)
        if self.callee.result and written & set(code.dummy_keys):
            raise InlineError(f"the function '{code.name}' changes its arguments")
        pairs = list(zip(map(self.scope.symbol, code.dummy_keys), self.actuals, strict=True))
        outs = [arg for symbol, arg in pairs if symbol.key in written]
        bases = [arg.base if isinstance(arg, ex.Index) else arg for arg in outs]
        changed = {name for base in bases for name in names_in(base)}
        for symbol, arg in pairs:
            if not symbol.shape:
                self._scalar(symbol, arg, changed, is_written=symbol.key in written)
        for symbol, arg in pairs:
            if symbol.shape:
                self._array(symbol, arg, changed, is_written=symbol.key in written)
        for item in code.declarations:
            if isinstance(item, un.Declare) and item.key not in code.dummy_keys:
                self._local(item)
        body = without_returns(code.body, negate=False)
        if reason := reason_for_returns(body):
            raise InlineError(reason)
        return [*self.before, *everywhere(body, self.changed), *self.after]

    # ------------------------------------------------------------------------ names

    def literal(self, literal: ex.Literal) -> ex.Expr:
        """Return a literal with the caller's name of its kind parameter."""
        kind = literal.kind
        return literal if kind is None or kind.isdigit() else literal.with_kind(self._kind(kind))

    def other_name(self, name: ex.Name) -> ex.Expr:
        """Return the caller's name of a variable of the procedure or of an entity visible in it."""
        if name.key in self.locals:
            return self.locals[name.key]
        symbol = self.scope.symbol(name.key)
        if symbol.origin is ex.Origin.INTRINSIC:
            if not self.caller.is_intrinsic(name.key):
                raise InlineError(f"'{name.text}' is another name where it is called")
            return name
        if symbol.origin in (ex.Origin.LOCAL, ex.Origin.DUMMY) or not symbol.is_data:
            raise InlineError(f"what '{name.text}' stands for is not known where it is called")
        return self.caller.name_of(symbol, symbol.module or self.callee.code.module.key)

    def check_expression(self, expr: ex.Expr) -> None:
        """Check that an expression has the same value in the caller.

        Raises:
            InlineError: it inquires array bounds that differ, or uses a foreign counter.
        """
        match expr:
            case ex.CallFunction(ex.Name(key=word), items) if word in _OF_BOUNDS:
                for item in items:
                    self._check_bounds(item.value if isinstance(item, ex.Keyword) else item)
            case ex.ImpliedDo(variable=counter) if counter.key not in self.locals:
                raise InlineError(f"'{counter.text}' counts and is no variable of its own")

    def _check_bounds(self, array: ex.Expr) -> None:
        if not isinstance(array, ex.Name) or array.key not in self.arrays:
            return
        if not self.arrays[array.key].keeps_bounds:
            raise InlineError(f"the bounds of '{array.text}' are others where it is called")

    def _type_of(self, symbol: ex.Symbol) -> ScalarType:
        """Return the type of a variable, with a kind that the caller knows."""
        if not self.caller.is_fortran:
            found = self.scope.type_of(symbol)
            return ScalarType(found.intrinsic, str(found.size))
        if not isinstance(symbol.type, ScalarType) or symbol.type.intrinsic not in _NUMBERS:
            raise InlineError(f"'{symbol.name}' is no number and no truth value")
        kind = symbol.type.kind
        return ScalarType(symbol.type.intrinsic, None if kind is None else self._kind(kind))

    def _kind(self, text: str) -> str:
        """Return a kind parameter as the caller writes it; in Fortran, by name."""
        if text.isdigit() or not self.caller.is_fortran:
            return text if text.isdigit() else str(self.scope.kind(text))
        found = self.changed(ex.Name(text)) if text.isidentifier() else None
        if not isinstance(found, ex.Name):
            raise InlineError(f"the kind '{text}' has no name where it is called")
        return found.text

    # ------------------------------------------------------------------------ arguments

    def _check_extents(self, written: set[str]) -> None:
        """Check that the procedure does not modify the values in its array extents.

        Raises:
            InlineError: it modifies one.
        """
        code = self.callee.code
        used = {name for item in code.declarations if isinstance(item, un.Declare)
                for one in item.shape for name in names_in(one)}  # fmt: skip
        if changed := sorted(used & written):
            raise InlineError(f"'{changed[0]}' gives an extent in '{code.name}' and is changed")

    def _scalar(
        self, symbol: ex.Symbol, arg: ex.Expr, changed: set[str], *, is_written: bool
    ) -> None:
        arg = arg if is_written else self._value_of_local(arg)
        if not self.caller.arguments.is_scalar(arg):
            raise InlineError(f"an array is passed for '{symbol.name}'")
        by_value = "value" in symbol.attributes
        is_known = isinstance(arg, ex.Name | ex.Literal) or self._is_constant_integer(arg)
        if is_known and self._is_constant(arg) and may_be_folded(self.callee.code.body, symbol.key):
            is_known = False
        if is_known and not by_value and (isinstance(arg, ex.Name) or not is_written):
            self.scalars[symbol.key] = arg
            return
        if is_written and not by_value and not isinstance(arg, ex.Element):
            raise InlineError(f"what is passed for '{symbol.name}' is no variable, and changes")
        index = arg.items if isinstance(arg, ex.Element) else ()
        if is_written and not by_value and any(names_in(one) & changed for one in index):
            raise InlineError(f"what is passed for '{symbol.name}' depends on what changes")
        copy = self.caller.declare(un.Declare(symbol.name, self._type_of(symbol)), symbol.key)
        self.scalars[symbol.key] = copy
        if not (is_written and writes_before_reads(self.callee.code.body, symbol.key)):
            self.before.append(un.Assign(copy, arg, place=self.place))
        if is_written and not by_value:
            self.after.append(un.Assign(arg, copy, place=self.place))

    def _value_of_local(self, arg: ex.Expr) -> ex.Expr:
        """Return the value of `arg` if it is an integer local with a single assignment.

        Any other argument is returned unchanged.
        """
        code = self.caller.code
        declared = code.declared(arg.text) if isinstance(arg, ex.Name) else None
        if not isinstance(arg, ex.Name) or declared is None or arg.key in code.dummy_keys:
            return arg
        if declared.value is not None or declared.shape:
            return arg
        type_ = self.caller.arguments.type_of(arg)
        values: list[ex.Expr | None] = []
        for line in walk_lines(code.body):
            match line:
                case un.Assign(ex.Name() as name, value) if name.key == arg.key:
                    values.append(value)
                case un.Do(variable=name) if name.key == arg.key:
                    return arg
                case (
                    un.Assign()
                    | un.Do()
                    | un.If()
                    | un.Select()
                    | un.Comment()
                    | un.Blank()
                    | un.Return()
                ):
                    pass
                case _ if arg.key in names_of_line(line):
                    values.append(None)
        only = values[0] if len(values) == 1 else None
        if only is None or not self._is_constant_integer(only):
            return arg
        # An assignment converts: what is assigned is the local only if that has its type.
        is_same = type_ is not None and type_ == self.caller.arguments.type_of(only)
        return only if is_same else arg

    def _is_constant(self, arg: ex.Expr) -> bool:
        """Return whether the value of an argument is a compile-time constant."""
        return all(self.caller.symbol_of(one).sort is ex.Sort.CONSTANT for one in names_in(arg))

    def _is_constant_integer(self, arg: ex.Expr) -> bool:
        """Return whether an argument is an integer that cannot change during the call."""
        for part in ex.walk(arg):
            of_reals = isinstance(part, ex.Literal) and part.intrinsic is not Intrinsic.INTEGER
            if isinstance(part, ex.Index) or of_reals:
                return False
        for name in names_in(arg):
            symbol = self.caller.symbol_of(name)
            is_whole = isinstance(symbol.type, ScalarType) and (
                symbol.type.intrinsic is Intrinsic.INTEGER
            )
            if not is_whole or not is_unmodified(symbol):
                return False
        return True

    def _array(
        self, symbol: ex.Symbol, arg: ex.Expr, changed: set[str], *, is_written: bool
    ) -> None:
        caller = self.caller
        shape = tuple(self.changed(one) for one in symbol.shape)
        found = passed_array(arg, shape, caller.symbol_of, caller.arguments.is_scalar)
        if found is None and not is_written and not caller.arguments.is_scalar(arg):
            copy = self._copied(self._type_of(symbol), symbol, arg)
            try:
                found = passed_array(copy, shape, caller.symbol_of, caller.arguments.is_scalar)
            except InlineError:
                why = f"what is passed for '{symbol.name}' may have other extents"
                raise InlineError(why) from None
        if found is None:
            raise InlineError(f"what is passed for '{symbol.name}' is no array with a name")
        if any(names_in(one) & changed for one in found.names):
            raise InlineError(f"what is passed for '{symbol.name}' depends on what changes")
        self.arrays[symbol.key] = found

    def _copied(self, type_: ScalarType, symbol: ex.Symbol, arg: ex.Expr) -> ex.Name:
        """Return a new array with the values and extents of an array expression."""
        extents = self.caller.arguments.extents(arg) or (None,)
        known = tuple(one for one in extents if one is not None)
        if len(known) < len(extents):
            why = f"it is not known how many elements are passed for '{symbol.name}'"
            raise InlineError(why)
        check_extents(known, symbol.name)
        copy = self.caller.declare(un.Declare(symbol.name, type_, (), known), symbol.key)
        self.before.append(un.Assign(copy, arg, place=self.place))
        return copy

    def _local(self, item: un.Declare) -> None:
        """Declare a local variable of the procedure in the caller."""
        type_ = self._type_of(declared_symbol(item, ex.Origin.LOCAL))
        made = un.Declare(item.name, type_, item.attributes)
        name = self.caller.declare(made, item.key)
        self.locals[item.key] = name
        value = None if item.value is None else self.changed(item.value)
        shape = tuple(self.changed(one) for one in item.shape)
        check_extents(shape, item.name)
        for one in sorted({one for extent in shape for one in names_in(extent)}):
            if self.caller.is_fortran and not is_unmodified(self.caller.symbol_of(one)):
                raise InlineError(f"'{one}' gives an extent of '{item.name}' and may change")
        self.caller.declared[name.key] = replace(made, name=name.text, shape=shape, value=value)
        if item.key == key_of(self.callee.result):
            if not all(starts_at_one(one) for one in item.shape):
                raise InlineError(f"the result of '{self.callee.code.name}' begins not at 1")
            self.result = name
