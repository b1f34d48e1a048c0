"""Inlining of the procedures that a routine calls.

Python kernels may only call intrinsics, and compilers do not inline procedures of other files into
a Fortran kernel. The statements of a procedure replace its call, and its local variables become
locals of the caller. A call remains if the result might differ; the reason is returned with the
position of the call. The Python printers reject kernels with remaining calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir import routine as rt
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Binary, CallFunction, Expr, ImpliedDo, Name, Origin, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import (
    place_of_line,
    with_each_block,
    with_parts,
)
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.passes.inline.arguments import have_same_kinds, ordered_actuals
from psyclone_storage.passes.inline.caller import CallerNames
from psyclone_storage.passes.inline.legality import (
    InlineError,
    check_movable,
    check_understood,
)
from psyclone_storage.passes.inline.procedure import InlinedProcedure

_GUARDS = (Operator.AND, Operator.OR)
_MOST_DEEP = 12

_Procedure = tuple[str, str]
"""The keys of a module and of a procedure in it."""


def inline_calls(
    code: rt.Routine,
    around: rt.ModuleContext,
    callers: tuple[_Procedure, ...] = (),
    *,
    inside: bool = True,
    only: Expr | None = None,
) -> rt.InlinedCode:
    """Return `code` with calls inlined; `callers` are the enclosing calls, outermost first.

    Without `inside`, calls in the blocks of constructs remain. If `only` is a reference to a
    function, all other calls remain.
    """
    names = CallerNames.of(code, around)
    inliner = _Inliner(names, callers, inside=inside, only=only)
    body = inliner.block(code.body)
    remaining = tuple(inliner.reasons.items())
    if not inliner.placed:
        return rt.InlinedCode(code, remaining)
    table = code.module.symbols
    table = replace(table, symbols={**table.symbols, **names.symbols})
    specified = code.with_specification(
        uses=(*code.uses, *names.uses),
        declarations=(*code.declarations, *names.declared.values()),
    )
    made = replace(
        specified,
        body=body,
        module=replace(code.module, symbols=table),
        kernel_use=replace(code.kernel_use, placed=inliner.procedures),
    )
    return rt.InlinedCode(made, remaining)


@dataclass(slots=True)
class _Inliner:
    """Inlines the calls in one routine.

    `placed` maps each inlined procedure (module, name) to whether one of its calls is in a loop.
    `loops` is the number of enclosing loops. Without `inside`, calls in blocks remain. If `only` is
    a reference to a function, all other calls remain.
    """

    names: CallerNames
    callers: tuple[_Procedure, ...]
    inside: bool = True
    only: Expr | None = None
    reasons: dict[Span | None, str] = field(default_factory=dict)
    placed: dict[_Procedure, bool] = field(default_factory=dict)
    loops: int = 0

    @property
    def procedures(self) -> tuple[rt.PlacedProcedure, ...]:
        """The inlined procedures."""
        return tuple(rt.PlacedProcedure(*key, in_loop) for key, in_loop in self.placed.items())

    def block(self, lines: Iterable[un.Line]) -> tuple[un.Line, ...]:
        """Return statements with inlined calls."""
        return tuple(new for line in lines for new in self._line(line))

    def _line(self, line: un.Line) -> list[un.Line]:
        before: list[un.Line] = []
        known, placed = len(self.names.declared), dict(self.placed)
        try:
            new = self._without_calls(line, before)
        except (InlineError, PrintError) as error:
            self.placed = placed
            for key in tuple(self.names.declared)[known:]:
                del self.names.declared[key]
            if why := str(error) or getattr(error, "reason", ""):
                self.reasons[place_of_line(line)] = why
            return [self._inside(line)]
        if new is None:
            return before
        return [*before, self._inside(new)]

    def _inside(self, line: un.Line) -> un.Line:
        """Return a statement with inlined calls in its blocks, if the construct allows it.

        Masked constructs, constructs that declare names, and unordered loops do not allow it.
        """
        of_type = isinstance(line, un.Select) and line.word != "case"
        if not self.inside or of_type or not isinstance(line, un.Do | un.While | un.If | un.Select):
            return line
        deeper = isinstance(line, un.Do | un.While)
        self.loops += deeper
        made = with_each_block(line, self.block)
        self.loops -= deeper
        return made

    def _without_calls(self, line: un.Line, before: list[un.Line]) -> un.Line | None:
        """Return `line` with its calls replaced, None if the statement is a call itself.

        The replacing statements are appended to `before`.
        """
        place = place_of_line(line)
        match line:
            case un.Call(Name() as procedure, args):
                given = tuple(self._hoisted(arg, before, place) for arg in args)
                if self.only is not None:
                    return replace(line, args=given)
                before += self._called(procedure, given, place)[0]
                return None
            case un.Assign(target, value):
                to = self._hoisted(target, before, place)
                return replace(line, target=to, value=self._hoisted(value, before, place))
            case un.Do():
                start, stop = (self._hoisted(one, before, place) for one in (line.start, line.stop))
                return replace(line, start=start, stop=stop)
            case un.Select(word="case"):
                return replace(line, selector=self._hoisted(line.selector, before, place))
            case un.If():
                return self._choice(line, before)
        return line

    def _choice(self, line: un.If, before: list[un.Line]) -> un.If:
        """Return an `if` with calls in conditions replaced; later branches may become nested."""
        first, *others = line.branches
        test = self._hoisted(first.condition, before, first.place)
        first = replace(first, condition=test)
        if any(self._calls(one.condition) for one in others):
            # What a later condition computes is computed if no earlier one holds.
            rest = un.If(tuple(others), line.otherwise, extent=line.extent)
            return replace(line, branches=(first,), otherwise=(rest,))
        return replace(line, branches=(first, *others))

    # ------------------------------------------------------------------------ functions

    def _calls(self, expr: Expr) -> bool:
        return any(map(self._is_called, walk(expr)))

    def _is_called(self, expr: Expr) -> bool:
        """Return whether an expression calls a function that is to be inlined."""
        if self.only is not None and expr is not self.only:
            return False
        if not isinstance(expr, CallFunction) or not isinstance(expr.base, Name):
            return False
        try:
            symbol = self.names.symbol_of(expr.base.key)
        except PrintError:
            return False
        return symbol.origin is not Origin.INTRINSIC and not symbol.is_data

    def _hoisted(self, expr: Expr, before: list[un.Line], place: Span | None) -> Expr:
        """Return `expr` with function calls replaced by variables, which `before` computes."""

        def change(part: Expr) -> Expr:
            if isinstance(part, Binary) and part.op in _GUARDS and self._calls(part.right):
                raise InlineError("a function is called only if what stands before allows that")
            is_choice = isinstance(part, CallFunction) and getattr(part.base, "key", "") == "merge"
            if is_choice and self._calls(part):
                raise InlineError("a function is called for one of two values")
            if isinstance(part, ImpliedDo) and self._calls(part):
                raise InlineError("a function is called for each value of a counter")
            is_called = self._is_called(part)
            part = with_parts(part, change)
            if not is_called:
                return part
            assert isinstance(part, CallFunction)
            assert isinstance(part.base, Name)
            lines, result = self._called(part.base, part.items, place)
            if result is None:
                raise InlineError(f"'{part.base.text}' is no function")
            before.extend(lines)
            return result

        return change(expr)

    # ------------------------------------------------------------------------ procedures

    def _called(
        self, procedure: Name, args: tuple[Expr, ...], place: Span | None
    ) -> tuple[list[un.Line], Name | None]:
        """Return the statements of a procedure, and the variable of a function result."""
        names = self.names
        symbol = names.symbol_of(procedure.key)
        if symbol.origin in (Origin.LOCAL, Origin.DUMMY, Origin.INTRINSIC):
            raise InlineError(f"'{procedure.text}' is no procedure of a module")
        # A procedure may have another name in its module, and another may have this one there.
        key = (symbol.module_key or names.code.module.key, key_of(symbol.name))
        if key in self.callers or len(self.callers) > _MOST_DEEP:
            raise InlineError(f"'{procedure.text}' calls itself")
        callee, actuals = self._callee(procedure, key, args)
        inner = self._inlined(callee.code, (*self.callers, key))
        if inner.remaining:
            raise InlineError(f"of '{procedure.text}', {inner.remaining[0][1]}")
        code = inner.code
        check_understood(code)
        if names.is_fortran:
            check_movable(callee.code, code)
        if code.internal is not None:
            raise InlineError(f"'{procedure.text}' has procedures of its own")
        call = InlinedProcedure(names, replace(callee, code=code), actuals, place)
        lines = call.lines()
        for one in (rt.PlacedProcedure(*key, False), *code.kernel_use.placed):
            known = (one.module, one.name)
            in_loop = one.in_loop or self.loops > 0
            self.placed[known] = in_loop or self.placed.get(known, False)
        return [un.Comment(code.name), *lines], call.result

    def _inlined(self, code: rt.Routine, callers: tuple[_Procedure, ...]) -> rt.InlinedCode:
        """Return a procedure with its own calls inlined."""
        around = self.names.around
        if not self.names.is_fortran:
            return inline_calls(code, around, callers)
        if id(code) not in around.inlined:
            around.inlined[id(code)] = (code, inline_calls(code, around, callers))
        return around.inlined[id(code)][1]

    def _callee(
        self, procedure: Name, key: _Procedure, args: tuple[Expr, ...]
    ) -> tuple[rt.Callee, tuple[Expr, ...]]:
        """Return the called procedure, and the arguments in the order of its dummies."""
        found, name = self.names.around.procedures(*key), key[1]
        if not found:
            raise InlineError(f"the procedure '{procedure.text}' was not found")
        ordered = [(one, ordered_actuals(one.code, args)) for one in found]
        fitting = [
            (one, actuals)
            for one, actuals in ordered
            if actuals is not None
            and self._fits(one, actuals, is_generic=name in one.code.module.generics)
        ]
        if not any(actuals for _, actuals in ordered) and args:
            raise InlineError(f"'{procedure.text}' is called with other arguments than it has")
        if len(fitting) != 1:
            raise InlineError(f"which procedure '{procedure.text}' stands for is not known")
        return fitting[0]

    def _fits(self, callee: rt.Callee, actuals: tuple[Expr, ...], *, is_generic: bool) -> bool:
        """Return whether the types and ranks of arguments may match a procedure.

        For a generic name, which other modules may extend, they must be known to match.
        """
        names = self.names
        within, passed = CScope(callee.code, names.around), names.arguments
        if names.is_fortran:
            # A compiler has checked types and ranks already, and knows the sizes of kinds.
            return not is_generic or have_same_kinds(names.scope, passed, within, actuals)
        for key, arg in zip(callee.code.dummy_keys, actuals, strict=True):
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
