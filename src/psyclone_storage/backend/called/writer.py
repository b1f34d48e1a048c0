"""Procedures that a kernel calls, put in the place of their calls.

Kernels in Python call nothing but functions of the language; compilers do not look into other files
than that of a kernel in Fortran. A procedure that was found becomes statements among those of the
kernel, its variables locals of the kernel; what it sees of its module is seen from there. A call
stays where that is not certainly the same, and is told by its place; who prints Python refuses it.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.backend.c.scope import Callee, CScope, ModuleContext
from psyclone_storage.backend.c.types import PrintError
from psyclone_storage.backend.called.arguments import CallArguments, in_order
from psyclone_storage.backend.called.arrays import (
    NotInPlaceError,
    PassedArray,
    begins_at_one,
    check_extents,
    passed_array,
    stays,
)
from psyclone_storage.backend.called.code import (
    ProcedureNames,
    check_understood,
    may_be_folded,
    sets_first,
    written_in,
)
from psyclone_storage.backend.called.fortran import FortranModules, have_same_kinds
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.code import KernelCode, PlacedProcedure
from psyclone_storage.ir.expr import (
    Binary,
    CallFunction,
    Element,
    Expr,
    ImpliedDo,
    Index,
    Literal,
    Name,
    Origin,
    Sort,
    Symbol,
    walk,
)
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    everywhere,
    names_in,
    names_of_line,
    place_of_line,
    walk_lines,
    with_each_block,
    with_parts,
)
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declared_symbol
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Declare,
    Do,
    If,
    Imported,
    Line,
    Return,
    Select,
    Use,
    While,
)
from psyclone_storage.passes.structured_returns import reason_for_returns, without_returns

_GUARDS = (Operator.AND, Operator.OR)
_MOST_DEEP = 12


def with_called(
    code: KernelCode,
    around: ModuleContext,
    above: tuple[tuple[str, str], ...] = (),
    modules: FortranModules | None = None,
) -> tuple[KernelCode, dict[Span | None, str]]:
    """Return `code` with procedures in the place of their calls; `above` are those that call it.

    With `modules` it is code in Fortran that is made, and imports what it needs. Beside it stands
    by its place why a call is left as it is.
    """
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    declared = {item.key for item in code.declarations if isinstance(item, Declare)}
    internal = code.internal.names if code.internal is not None else ()
    known = (*code.dummy_keys, *code.module.symbols.symbols, code.key)
    taken = (*used, *declared, *internal, *known)
    writer = _CalledWriter(code, around, NameTable(taken), above, modules)
    body = writer.block(code.body)
    if not writer.placed:
        return code, writer.reasons
    table = code.module.symbols
    table = replace(table, symbols={**table.symbols, **writer.symbols})
    made = replace(
        code,
        body=body,
        declarations=(*code.declarations, *writer.declared.values()),
        uses=(*code.uses, *writer.uses),
        module=replace(code.module, symbols=table),
        placed=writer.procedures,
    )
    return made, writer.reasons


@dataclass(slots=True)
class _CalledWriter:
    """The writer of statements in the place of calls in one subroutine.

    What these need is `declared`, by its key; `symbols` are names of other modules that they see,
    which a kernel in Fortran `uses`. `placed` are the procedures, by module and name, and whether
    one of the calls is in a loop; `loops` is how many there are around the statement at hand.
    """

    code: KernelCode
    around: ModuleContext
    names: NameTable
    above: tuple[tuple[str, str], ...]
    modules: FortranModules | None = None
    declared: dict[str, Declare] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    reasons: dict[Span | None, str] = field(default_factory=dict)
    placed: dict[tuple[str, str], bool] = field(default_factory=dict)
    loops: int = 0

    @property
    def procedures(self) -> tuple[PlacedProcedure, ...]:
        """The procedures whose statements stand in the place of calls, each once."""
        return tuple(PlacedProcedure(*key, in_loop) for key, in_loop in self.placed.items())

    @property
    def scope(self) -> CScope:
        """The names that the subroutine sees."""
        return CScope(self.code, self.around)

    @property
    def arguments(self) -> CallArguments:
        """What is known of the arguments of calls."""
        return CallArguments(self.scope, self.symbol_of)

    def block(self, lines: Iterable[Line]) -> tuple[Line, ...]:
        """Return statements without calls."""
        return tuple(new for line in lines for new in self._line(line))

    def _line(self, line: Line) -> list[Line]:
        before: list[Line] = []
        known, placed = len(self.declared), dict(self.placed)
        try:
            new = self._without_calls(line, before)
        except (NotInPlaceError, PrintError) as error:
            self.placed = placed
            for key in tuple(self.declared)[known:]:
                del self.declared[key]
            if why := str(error) or getattr(error, "reason", ""):
                self.reasons[place_of_line(line)] = why
            return [self._inside(line)]
        if new is None:
            return before
        return [*before, self._inside(new)]

    def _inside(self, line: Line) -> Line:
        """Return a statement without calls in its blocks, if others may stand in these.

        A construct that masks, that has names of its own or that no order holds takes none.
        """
        of_type = isinstance(line, Select) and line.word != "case"
        if of_type or not isinstance(line, Do | While | If | Select):
            return line
        deeper = isinstance(line, Do | While)
        self.loops += deeper
        made = with_each_block(line, self.block)
        self.loops -= deeper
        return made

    def _without_calls(self, line: Line, before: list[Line]) -> Line | None:
        """Return a statement without calls in it, None for one that is a call itself."""
        place = place_of_line(line)
        match line:
            case Call(Name() as procedure, args):
                given = tuple(self._hoisted(arg, before, place) for arg in args)
                before += self._called(procedure, given, place)[0]
                return None
            case Assign(target, value):
                to = self._hoisted(target, before, place)
                return replace(line, target=to, value=self._hoisted(value, before, place))
            case Do():
                start, stop = (self._hoisted(one, before, place) for one in (line.start, line.stop))
                return replace(line, start=start, stop=stop)
            case Select(word="case"):
                return replace(line, selector=self._hoisted(line.selector, before, place))
            case If():
                return self._choice(line, before)
        return line

    def _choice(self, line: If, before: list[Line]) -> If:
        """Return a choice whose first condition calls nothing; one behind it becomes the first."""
        first, *others = line.branches
        test = self._hoisted(first.condition, before, first.place)
        first = replace(first, condition=test)
        if any(self._calls(one.condition) for one in others):
            # What a later condition computes is computed if no earlier one holds.
            rest = If(tuple(others), line.otherwise, extent=line.extent)
            return replace(line, branches=(first,), otherwise=(rest,))
        return replace(line, branches=(first, *others))

    # ------------------------------------------------------------------------ functions

    def _calls(self, expr: Expr) -> bool:
        found: list[Expr] = []

        def look(part: Expr) -> Expr:
            if self._is_called(part):
                found.append(part)
            return with_parts(part, look)

        look(expr)
        return bool(found)

    def _is_called(self, expr: Expr) -> bool:
        """Return whether an expression calls a function that somebody wrote."""
        if not isinstance(expr, CallFunction) or not isinstance(expr.base, Name):
            return False
        try:
            symbol = self._symbol(expr.base.key)
        except PrintError:
            return False
        return symbol.origin is not Origin.INTRINSIC and not symbol.is_data

    def _hoisted(self, expr: Expr, before: list[Line], place: Span | None) -> Expr:
        """Return an expression with variables for calls of functions, which go `before`."""

        def change(part: Expr) -> Expr:
            if isinstance(part, Binary) and part.op in _GUARDS and self._calls(part.right):
                raise NotInPlaceError("a function is called only if what stands before allows that")
            is_choice = isinstance(part, CallFunction) and getattr(part.base, "key", "") == "merge"
            if is_choice and self._calls(part):
                raise NotInPlaceError("a function is called for one of two values")
            if isinstance(part, ImpliedDo) and self._calls(part):
                raise NotInPlaceError("a function is called for each value of a counter")
            part = with_parts(part, change)
            if not self._is_called(part):
                return part
            assert isinstance(part, CallFunction)
            assert isinstance(part.base, Name)
            lines, result = self._called(part.base, part.items, place)
            if result is None:
                raise NotInPlaceError(f"'{part.base.text}' is no function")
            before.extend(lines)
            return result

        return change(expr)

    # ------------------------------------------------------------------------ which one

    def _called(
        self, procedure: Name, args: tuple[Expr, ...], place: Span | None
    ) -> tuple[list[Line], Name | None]:
        """Return the statements of what is called, and the variable of a function's result."""
        symbol = self._symbol(procedure.key)
        if symbol.origin in (Origin.LOCAL, Origin.DUMMY, Origin.INTRINSIC):
            raise NotInPlaceError(f"'{procedure.text}' is no procedure of a module")
        module = symbol.module_key or self.code.module.key
        # A procedure may have another name in its module, and another may have this one there.
        key = (module, key_of(symbol.name))
        if key in self.above or len(self.above) > _MOST_DEEP:
            raise NotInPlaceError(f"'{procedure.text}' calls itself")
        callee, given = self._chosen(procedure, key, args)
        code, reasons = self._merged(callee.code, (*self.above, key))
        if reasons:
            raise NotInPlaceError(f"of '{procedure.text}', {next(iter(reasons.values()))}")
        check_understood(code)
        if self.modules is not None:
            self.modules.check(callee.code, code)
        if code.internal is not None:
            raise NotInPlaceError(f"'{procedure.text}' has procedures of its own")
        spliced = _Spliced(self, replace(callee, code=code), place)
        lines = spliced.lines(given)
        for one in (PlacedProcedure(*key, False), *code.placed):
            known = (one.module, one.name)
            in_loop = one.in_loop or self.loops > 0
            self.placed[known] = in_loop or self.placed.get(known, False)
        return [Comment(code.name), *lines], spliced.result

    def _merged(
        self, code: KernelCode, above: tuple[tuple[str, str], ...]
    ) -> tuple[KernelCode, dict[Span | None, str]]:
        """Return a procedure with others in the place of its calls, and why calls stay."""
        if self.modules is None:
            return with_called(code, self.around, above)
        known = self.modules.known.get(id(code))
        if known is None:
            made = with_called(code, self.around, above, self.modules)
            known = self.modules.known[id(code)] = (code, *made)
        return known[1:]

    def _chosen(
        self, procedure: Name, key: tuple[str, str], args: tuple[Expr, ...]
    ) -> tuple[Callee, tuple[Expr, ...]]:
        """Return the procedure that is meant, and its arguments in its order."""
        found, name = self.around.procedures(*key), key[1]
        if not found:
            raise NotInPlaceError(f"the procedure '{procedure.text}' was not found")
        ordered = [(one, in_order(one.code, args)) for one in found]
        fitting = [
            (one, given)
            for one, given in ordered
            if given is not None and self._fits(one, given, is_generic=name in _generics(one))
        ]
        if not any(given for _, given in ordered) and args:
            raise NotInPlaceError(f"'{procedure.text}' is called with other arguments than it has")
        if len(fitting) != 1:
            raise NotInPlaceError(f"which procedure '{procedure.text}' stands for is not known")
        return fitting[0]

    def _fits(self, callee: Callee, given: tuple[Expr, ...], *, is_generic: bool) -> bool:
        """Return whether types and ranks of arguments may be those of a procedure's.

        They must be, and be known, behind a generic name, for which other modules may have more.
        """
        within, passed = CScope(callee.code, self.around), self.arguments
        if self.modules is not None:
            # A compiler has looked at types and ranks already, and knows the sizes of kinds.
            return not is_generic or have_same_kinds(self.scope, passed, within, given)
        for key, arg in zip(callee.code.dummy_keys, given, strict=True):
            symbol = within.symbol(key)
            try:
                type_, wanted = passed.type_of(arg), within.type_of(symbol)
            except PrintError:
                type_, wanted = None, None
            if (is_generic and type_ is None) or (type_ is not None and type_ != wanted):
                return False
            extents = passed.extents(arg) if is_generic else None
            if is_generic and (extents is None or len(extents) != len(symbol.shape)):
                return False
        return True

    # ------------------------------------------------------------------------ names

    def symbol_of(self, key: str) -> Symbol:
        """Return what a name in the subroutine stands for, also one that was declared here."""
        return self._symbol(key)

    def _symbol(self, key: str) -> Symbol:
        if key in self.declared:
            return declared_symbol(self.declared[key], Origin.LOCAL)
        return self.symbols.get(key) or self.scope.symbol(key)

    def declare(self, item: Declare, stem: str) -> Name:
        """Return a new variable that is declared like `item`."""
        name = self._fresh(stem)
        self.declared[key_of(name)] = replace(item, name=name)
        return Name(name)

    def _fresh(self, stem: str) -> str:
        """Return a new name, which is none of a function of the language that others may call."""
        wish = f"{stem}_own" if stem in PROCEDURES else stem
        name = self.names.fresh(wish)
        while self.modules is not None and self.modules.gives(self.code.uses, name):
            name = self.names.fresh(wish)
        return name

    def seen(self, symbol: Symbol, module: str) -> Name:
        """Return the name by which what belongs to another module is known here."""
        original = key_of(symbol.name)
        home = (key_of(module), original)
        if self.modules is not None and home[0] == self.code.module.key:
            if self._is_hidden_by_own(original):
                raise NotInPlaceError(f"'{symbol.name}' is another name where it is called")
            self.names.reserve(original)
            return Name(original)
        for key, known in self.symbols.items():
            if (known.module_key, key_of(known.name)) == home:
                return Name(key)
        try:
            own = self.scope.symbol(original)
        except PrintError:
            own = None
        is_here = own is not None and (own.module_key, key_of(own.name)) == home
        if is_here and original not in self.declared and original not in self.symbols:
            self.names.reserve(original)
            return Name(original)
        if self.modules is not None and self.modules.hidden(*home):
            raise NotInPlaceError(f"'{symbol.name}' is a private name of '{module}'")
        key = key_of(self._fresh(original))
        if self.modules is not None:
            self.uses.append(Use(module, (Imported(key, original),)))
        self.symbols[key] = replace(symbol, key=original, module=module, origin=Origin.IMPORTED)
        return Name(key)

    def _is_hidden_by_own(self, key: str) -> bool:
        """Return whether a name of the kernel's module is out of its sight."""
        return key in local_names(self.code) or key in self.declared or key in self.symbols

    def is_of_language(self, key: str) -> bool:
        """Return whether a name of a function of the language is that here, too."""
        return self._symbol(key).origin is Origin.INTRINSIC


@dataclass(slots=True)
class _Spliced:
    """The statements of one procedure in the place of a call."""

    caller: _CalledWriter
    callee: Callee
    place: Span | None
    scalars: dict[str, Expr] = field(default_factory=dict)
    arrays: dict[str, PassedArray] = field(default_factory=dict)
    before: list[Line] = field(default_factory=list)
    behind: list[Line] = field(default_factory=list)
    result: Name | None = None

    def lines(self, given: tuple[Expr, ...]) -> list[Line]:
        """Return what a call with these arguments does."""
        code = self.callee.code
        within = CScope(code, self.caller.around)
        written = written_in(code.body)
        self._check_bounds(written)
        if self.callee.result and written & set(code.dummy_keys):
            raise NotInPlaceError(f"the function '{code.name}' changes its arguments")
        symbols = {key: within.symbol(key) for key in code.dummy_keys}
        outs = [arg for key, arg in zip(code.dummy_keys, given, strict=True) if key in written]
        bases = [arg.base if isinstance(arg, Index) else arg for arg in outs]
        changed = {name for base in bases for name in names_in(base)}
        caller = self.caller
        names = ProcedureNames(
            within, self.scalars, self.arrays, caller.seen, caller.is_of_language,
            keeps_kinds=caller.modules is not None,
        )  # fmt: skip
        for key, arg in zip(code.dummy_keys, given, strict=True):
            if not symbols[key].shape:
                self._scalar(names, symbols[key], arg, changed, is_written=key in written)
        for key, arg in zip(code.dummy_keys, given, strict=True):
            if symbols[key].shape:
                self._array(names, symbols[key], arg, changed, is_written=key in written)
        for item in code.declarations:
            if isinstance(item, Declare) and item.key not in code.dummy_keys:
                self._local(names, item)
        body = without_returns(code.body, negate=False)
        if reason := reason_for_returns(body):
            raise NotInPlaceError(reason)
        return [*self.before, *everywhere(body, names.changed), *self.behind]

    def _check_bounds(self, written: set[str]) -> None:
        """Refuse extents that are computed from what is changed behind."""
        code = self.callee.code
        used = {name for item in code.declarations if isinstance(item, Declare)
                for one in item.shape for name in names_in(one)}  # fmt: skip
        if changed := sorted(used & written):
            raise NotInPlaceError(f"'{changed[0]}' gives an extent in '{code.name}' and is changed")

    def _scalar(
        self,
        names: ProcedureNames,
        symbol: Symbol,
        arg: Expr,
        changed: set[str],
        *,
        is_written: bool,
    ) -> None:
        arg = arg if is_written else self._given_once(arg)
        if not self.caller.arguments.is_scalar(arg):
            raise NotInPlaceError(f"an array is passed for '{symbol.name}'")
        by_value = "value" in symbol.attributes
        is_known = isinstance(arg, Name | Literal) or self._is_of_the_call(arg)
        if is_known and self._is_constant(arg) and may_be_folded(self.callee.code.body, symbol.key):
            is_known = False
        if is_known and not by_value and (isinstance(arg, Name) or not is_written):
            self.scalars[symbol.key] = arg
            return
        if is_written and not by_value and not isinstance(arg, Element):
            raise NotInPlaceError(f"what is passed for '{symbol.name}' is no variable, and changes")
        index = arg.items if isinstance(arg, Element) else ()
        if is_written and not by_value and any(names_in(one) & changed for one in index):
            raise NotInPlaceError(f"what is passed for '{symbol.name}' depends on what changes")
        copy = self.caller.declare(Declare(symbol.name, names.typed(symbol)), symbol.key)
        self.scalars[symbol.key] = copy
        if not (is_written and sets_first(self.callee.code.body, symbol.key)):
            self.before.append(Assign(copy, arg, place=self.place))
        if is_written and not by_value:
            self.behind.append(Assign(arg, copy, place=self.place))

    def _given_once(self, arg: Expr) -> Expr:
        """Return what a whole number always is, an argument that is a local with one assignment."""
        code = self.caller.code
        declared = code.declared(arg.text) if isinstance(arg, Name) else None
        if not isinstance(arg, Name) or declared is None or arg.key in code.dummy_keys:
            return arg
        if declared.value is not None or declared.shape:
            return arg
        type_ = self.caller.arguments.type_of(arg)
        values: list[Expr | None] = []
        for line in walk_lines(code.body):
            match line:
                case Assign(Name() as name, value) if name.key == arg.key:
                    values.append(value)
                case Do(variable=name) if name.key == arg.key:
                    return arg
                case Assign() | Do() | If() | Select() | Comment() | Blank() | Return():
                    pass
                case _ if arg.key in names_of_line(line):
                    values.append(None)
        only = values[0] if len(values) == 1 else None
        if only is None or not self._is_of_the_call(only):
            return arg
        # An assignment converts: what is assigned is the local only if that has its type.
        is_same = type_ is not None and type_ == self.caller.arguments.type_of(only)
        return only if is_same else arg

    def _is_constant(self, arg: Expr) -> bool:
        """Return whether a compiler knows the value of an argument."""
        return all(self.caller.symbol_of(one).sort is Sort.CONSTANT for one in names_in(arg))

    def _is_of_the_call(self, arg: Expr) -> bool:
        """Return whether a whole number is one while the kernel is called."""
        for part in walk(arg):
            of_reals = isinstance(part, Literal) and part.intrinsic is not Intrinsic.INTEGER
            if isinstance(part, Index) or of_reals:
                return False
        for name in names_in(arg):
            symbol = self.caller.symbol_of(name)
            is_whole = isinstance(symbol.type, ScalarType) and (
                symbol.type.intrinsic is Intrinsic.INTEGER
            )
            if not is_whole or not stays(symbol):
                return False
        return True

    def _array(
        self,
        names: ProcedureNames,
        symbol: Symbol,
        arg: Expr,
        changed: set[str],
        *,
        is_written: bool,
    ) -> None:
        caller = self.caller
        shape = tuple(names.changed(one) for one in symbol.shape)
        found = passed_array(arg, shape, caller.symbol_of, caller.arguments.is_scalar)
        if found is None and not is_written and not caller.arguments.is_scalar(arg):
            copy = self._copied(names.typed(symbol), symbol, arg)
            try:
                found = passed_array(copy, shape, caller.symbol_of, caller.arguments.is_scalar)
            except NotInPlaceError:
                why = f"what is passed for '{symbol.name}' may have other extents"
                raise NotInPlaceError(why) from None
        if found is None:
            raise NotInPlaceError(f"what is passed for '{symbol.name}' is no array with a name")
        if any(names_in(one) & changed for one in found.names):
            raise NotInPlaceError(f"what is passed for '{symbol.name}' depends on what changes")
        self.arrays[symbol.key] = found

    def _copied(self, type_: ScalarType, symbol: Symbol, arg: Expr) -> Name:
        """Return a new array with the values, and the extents, of an expression."""
        extents = self.caller.arguments.extents(arg) or (None,)
        known = tuple(one for one in extents if one is not None)
        if len(known) < len(extents):
            why = f"it is not known how many elements are passed for '{symbol.name}'"
            raise NotInPlaceError(why)
        check_extents(known, symbol.name)
        copy = self.caller.declare(Declare(symbol.name, type_, (), known), symbol.key)
        self.before.append(Assign(copy, arg, place=self.place))
        return copy

    def _local(self, names: ProcedureNames, item: Declare) -> None:
        """Declare a variable of the procedure among those of the kernel."""
        type_ = names.typed(declared_symbol(item, Origin.LOCAL))
        made = Declare(item.name, type_, item.attributes)
        name = self.caller.declare(made, item.key)
        names.locals[item.key] = name
        value = None if item.value is None else names.changed(item.value)
        shape = tuple(names.changed(one) for one in item.shape)
        check_extents(shape, item.name)
        for one in sorted({one for extent in shape for one in names_in(extent)}):
            if self.caller.modules is not None and not stays(self.caller.symbol_of(one)):
                raise NotInPlaceError(f"'{one}' gives an extent of '{item.name}' and may change")
        self.caller.declared[name.key] = replace(made, name=name.text, shape=shape, value=value)
        if item.key == key_of(self.callee.result):
            if not all(begins_at_one(one) for one in item.shape):
                raise NotInPlaceError(f"the result of '{self.callee.code.name}' begins not at 1")
            self.result = name


def _generics(callee: Callee) -> frozenset[str]:
    """Return the names of a procedure's module that stand for several."""
    return callee.code.module.generics
