"""Printing of typed statements as C statements.

Each statement that cannot be printed causes one diagnostic. Printing then continues with the next
statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Name, Range
from psyclone_storage.ir.intrinsics import SUBROUTINES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.rewrite import first_words, names_in, place_of_line
from psyclone_storage.ir.typing import LOGICAL, CScope, CType, PrintError
from psyclone_storage.languages.c import exact_sums
from psyclone_storage.languages.c.arrays import Arrays
from psyclone_storage.languages.c.code_buffer import CWriter
from psyclone_storage.languages.c.expressions import Expressions
from psyclone_storage.languages.c.pragmas import (
    OF_LOOPS,
    REDUCED,
    WITH_PRIVATE,
    clauses_of,
    words_of,
)
from psyclone_storage.languages.c.types import ArrayValue, CValue, is_number
from psyclone_storage.languages.c.variables import Array
from psyclone_storage.languages.operators import C

HINT = "Write it in another way, or leave this kernel in Fortran."


@dataclass
class _OpenConstruct:
    """Open construct with the labels used by jumps out of it.

    - `exit`: the label after the construct, or ''.

    - `next`: the label at the end of a loop body, or ''.
    """

    name: str
    is_loop: bool
    exit: str = ""
    next: str = ""


@dataclass
class Statements:
    """Printer of the statements of one procedure."""

    writer: CWriter
    scope: CScope
    expressions: Expressions
    arrays: Arrays
    subroutine: Callable[[str, tuple[Expr, ...], CScope], None]
    returned: str
    problems: list[Diagnostic] = field(default_factory=list)
    _open: list[_OpenConstruct] = field(default_factory=list)
    _pragmas: list[str] = field(default_factory=list)

    def lines(self, lines: tuple[un.Line, ...]) -> None:
        """Print statements in order."""
        for line in lines:
            self.expressions.place = place_of_line(line) or self.expressions.place
            with self.caught(place_of_line(line)), self.writer.statement():
                self._line(line)

    @contextmanager
    def caught(self, place: Span | None) -> Iterator[None]:
        """Record a `PrintError` raised in this context as a diagnostic at `place`.

        The lines written for the statement are discarded.
        """
        mark = self.writer.mark()
        try:
            yield
        except PrintError as refusal:
            self.writer.undo_to(mark)
            self.problems.append(problem(refusal, place, self.scope))

    def _line(self, line: un.Line) -> None:
        match line:
            case un.Assign(target, value):
                self.arrays.assign(target, value, self.scope)
            case un.Call(Name(key=exact_sums.ADD_EXACTLY), (Name(key=key), value)):
                self._add_exactly(key, value)
            case un.Call(Name() as name, args):
                if name.key in SUBROUTINES:
                    raise PrintError(f"the subroutine '{name.key}' is not printed", name.text)
                self.subroutine(name.key, args, self.scope)
            case un.Do() | un.If() | un.Select() | un.While() | un.Where():
                self._construct(line)
            case un.Exit() | un.Cycle():
                self._jump(line)
            case un.DirectiveBlock():
                self._directive(line)
            case un.Return(None):
                self.writer.put(f"return{self.returned};")
            case un.TaskWaitLine():
                self.writer.put("#pragma omp taskwait")
            case un.Comment(text):
                self.writer.put(f"// {text.strip()}" if text.strip() else "")
            case un.Continue() | un.Blank() | un.DirectiveLine():
                pass
            case _:
                raise PrintError(f"the statement '{first_words(line)}' is not printed")

    def _construct(self, line: un.Do | un.If | un.Select | un.While | un.Where) -> None:
        match line:
            case un.Do():
                self._do(line)
            case un.If():
                self._if(line)
            case un.Select():
                self._select(line)
            case un.While():
                self._while(line)
            case un.Where():
                self._where(line, None)

    def _directive(self, block: un.DirectiveBlock) -> None:
        """Print the body of a directive for CPU threads; ignore a directive for a device."""
        words = words_of(block.directive, block.options)
        if not words:
            self.lines(block.body)
            return
        own = [self.expressions.scalar(Name(name), self.scope).text for name in block.private]
        clauses = [*clauses_of(block.directive, block.options)]
        if own and block.directive in WITH_PRIVATE:
            clauses.append(f"private({', '.join(own)})")
        if block.directive.shares_work:
            clauses += [f"reduction({REDUCED[op]}:{self._reduced(name)})"
                        for name, op in block.reductions]  # fmt: skip
        pragma = f"#pragma omp {' '.join((words, *clauses))}"
        if block.directive in OF_LOOPS:
            self._pragmas.append(pragma)
            self.lines(block.body)
            return
        self.writer.put(pragma)
        with self.writer.block(""):
            self.lines(block.body)

    def _reduced(self, name: str) -> str:
        """Return a variable in a `reduction` clause.

        For an array, return a section of all elements.
        """
        if not self.scope.symbol(key_of(name)).shape:
            return self.expressions.scalar(Name(name), self.scope).text
        array = self.expressions.variables.array(key_of(name), self.scope)
        return f"{array.name}[:{' * '.join(array.extents())}]"

    def _add_exactly(self, key: str, value: Expr) -> None:
        """Print the addition of a value to an exact sum."""
        to = self.expressions.variables.array(key, self.scope).name
        added = self.expressions.scalar(value, self.scope).text
        self.writer.put(f"{self.writer.helper(exact_sums.HELPER)}({to}, {added});")

    def _condition(self, expr: Expr) -> CValue:
        value = self.expressions.scalar(expr, self.scope)
        if not value.type.is_logical:
            raise PrintError("a condition is no truth value")
        return value

    # ------------------------------------------------------------------------ loops

    def _do(self, loop: un.Do) -> None:
        counter = self.expressions.scalar(loop.variable, self.scope)
        if not counter.type.is_integer:
            raise PrintError(f"'{loop.variable.text}' counts in reals", loop.variable.text)
        start = self.expressions.scalar(loop.start, self.scope)
        stop = self._kept(loop.stop, counter.type, "stop")
        step = "1" if loop.step is None else self._kept(loop.step, counter.type, "step")
        name = counter.text if counter.rank > Precedence.PREFIX else f"({counter.text})"
        if step == "1":
            test, move = f"{name} <= {stop}", f"++{name}"
        elif is_number(step) and step != "0":
            sign = ">=" if step.startswith("-") else "<="
            test, move = f"{name} {sign} {stop}", f"{name} += {step}"
        else:
            test = f"{step} > 0 ? {name} <= {stop} : {name} >= {stop}"
            move = f"{name} += {step}"
        self._loop(loop.name, f"for ({counter.text} = {start.text}; {test}; {move})", loop.body)

    def _kept(self, expr: Expr, type_: CType, stem: str) -> str:
        """Return a loop bound as text that is evaluated once."""
        value = self.expressions.scalar(expr, self.scope)
        if not value.type.is_integer:
            raise PrintError("a loop is bounded by a real")
        number = self.scope.integer(expr)
        if number is not None:
            return str(number)
        if value.rank >= Precedence.SUM and self._stays(expr):
            return value.text
        return self.writer.temporary(type_, value.text, stem)

    def _stays(self, expr: Expr) -> bool:
        """Return whether an expression contains only literals and read-only by-value arguments."""
        parameters = self.expressions.variables.parameters
        by_value = {
            key for key, item in parameters.items() if item.by_value and item.intent == "in"
        }
        return names_in(expr) <= by_value

    def _loop(self, name: str, head: str, body: tuple[un.Line, ...]) -> None:
        construct = _OpenConstruct(key_of(name), is_loop=True)
        self._open.append(construct)
        if self._pragmas:
            # Bounds are computed before: the directive immediately precedes the loop.
            self.writer.put(self._pragmas.pop())
        with self.writer.block(head):
            self.lines(body)
            if construct.next:
                self.writer.label(construct.next)
        self._open.pop()
        if construct.exit:
            self.writer.label(construct.exit)

    def _while(self, loop: un.While) -> None:
        construct = _OpenConstruct(key_of(loop.name), is_loop=True)
        self._open.append(construct)
        with self.writer.block("for (;;)"):
            if loop.condition is not None:
                with self.writer.statement():
                    condition = self._condition(loop.condition)
                    self.writer.put(f"if ({C.unary(Operator.NOT, condition).text})")
                    self.writer.put("    break;")
            self.lines(loop.body)
            if construct.next:
                self.writer.label(construct.next)
        self._open.pop()
        if construct.exit:
            self.writer.label(construct.exit)

    def _jump(self, line: un.Exit | un.Cycle) -> None:
        """Print a jump out of a construct or to the end of a loop body."""
        loops = [item for item in self._open if item.is_loop]
        wanted = key_of(line.name)
        named = [item for item in self._open if item.name == wanted] if wanted else loops
        if not named:
            raise PrintError("a jump leaves a construct that is not printed", line.name)
        target = named[-1]
        if loops and target is loops[-1]:
            self.writer.put("break;" if isinstance(line, un.Exit) else "continue;")
        elif isinstance(line, un.Exit):
            target.exit = target.exit or self.writer.name(f"after_{target.name}")
            self.writer.put(f"goto {target.exit};")
        else:
            target.next = target.next or self.writer.name(f"next_{target.name}")
            self.writer.put(f"goto {target.next};")

    # ------------------------------------------------------------------------ choices

    @contextmanager
    def _leavable(self, name: str) -> Iterator[None]:
        """Open a named construct other than a loop, so that statements can jump to its end."""
        construct = _OpenConstruct(key_of(name), is_loop=False)
        self._open.append(construct)
        yield
        self._open.pop()
        if construct.exit:
            self.writer.label(construct.exit)

    def _if(self, choice: un.If) -> None:
        with self._leavable(choice.name):
            self._branches(choice.branches, choice.otherwise)

    def _branches(self, branches: tuple[un.Branch, ...], otherwise: tuple[un.Line, ...]) -> None:
        first, rest = branches[0], branches[1:]
        value = CValue("0", LOGICAL)
        self.expressions.place = first.place or self.expressions.place
        with self.caught(first.place):
            value = self._condition(first.condition)
        with self.writer.block(f"if ({value.text})"):
            self.lines(first.body)
        if rest:
            with self.writer.block("else"), self.writer.statement():
                self._branches(rest, otherwise)
        elif otherwise:
            with self.writer.block("else"):
                self.lines(otherwise)

    def _select(self, select: un.Select) -> None:
        if select.word != "case":
            raise PrintError(f"'select {select.word}' is not printed")
        value = self.expressions.scalar(select.selector, self.scope)
        name = self.writer.temporary(value.type, value.text, "selected")
        selected = CValue(name, value.type)
        named = [case for case in select.cases if case.guards]
        default = [case for case in select.cases if not case.guards]
        otherwise = default[0].body if default else ()
        with self._leavable(select.name):
            self._cases(selected, named, otherwise)

    def _cases(
        self, selected: CValue, cases: list[un.Case], otherwise: tuple[un.Line, ...]
    ) -> None:
        if not cases:
            self.lines(otherwise)
            return
        tests: list[str] = []
        with self.caught(cases[0].place):
            tests = [self._guard(selected, guard) for guard in cases[0].guards]
        with self.writer.block(f"if ({' || '.join(tests) or '0'})"):
            self.lines(cases[0].body)
        if len(cases) > 1 or otherwise:
            with self.writer.block("else"):
                self._cases(selected, cases[1:], otherwise)

    def _guard(self, selected: CValue, guard: Expr) -> str:
        if not isinstance(guard, Range):
            value = self.expressions.scalar(guard, self.scope)
            return C.binary(Operator.EQUAL, selected, value).text
        tests = []
        if guard.lower is not None:
            lower = self.expressions.scalar(guard.lower, self.scope)
            tests.append(C.binary(Operator.GREATER_EQUAL, selected, lower).text)
        if guard.upper is not None:
            upper = self.expressions.scalar(guard.upper, self.scope)
            tests.append(C.binary(Operator.LESS_EQUAL, selected, upper).text)
        text = " && ".join(tests) or "1"
        return f"({text})" if len(tests) > 1 else text

    # ------------------------------------------------------------------------ masks

    def _where(self, where: un.Where, outer: Array | None) -> None:
        """Print a `where` construct.

        Each mask is evaluated before the statements that it controls.
        """
        waiting = outer
        for place, branch in enumerate(where.branches):
            condition = self.expressions.evaluate(branch.condition, self.scope)
            if not isinstance(condition, ArrayValue) or not condition.type.is_logical:
                raise PrintError("the mask of a 'where' is no array of truth values")
            mask = self._mask(condition, waiting)
            self._masked(branch.body, mask)
            if place + 1 < len(where.branches) or where.otherwise:
                waiting = self._rest(mask, waiting)
        if where.otherwise and waiting is not None:
            self._masked(where.otherwise, waiting)

    def _mask(self, condition: ArrayValue, waiting: Array | None) -> Array:
        def at(indices: tuple[str, ...]) -> CValue:
            test = condition.at(indices)
            if waiting is None:
                return test
            text = f"{waiting.element(indices).text} && {test.within(Precedence.AND + 1)}"
            return CValue(text, LOGICAL, Precedence.AND)

        return self.arrays.stored_array(ArrayValue(LOGICAL, condition.extents, at), "mask")

    def _rest(self, mask: Array, waiting: Array | None) -> Array:
        """Return a mask that is true where no previous mask of the `where` construct was true."""

        def at(indices: tuple[str, ...]) -> CValue:
            text = f"!{mask.element(indices).text}"
            if waiting is None:
                return CValue(text, LOGICAL, Precedence.PREFIX)
            return CValue(f"{waiting.element(indices).text} && {text}", LOGICAL, Precedence.AND)

        return self.arrays.stored_array(ArrayValue(LOGICAL, mask.extents(), at), "rest")

    def _masked(self, lines: tuple[un.Line, ...], mask: Array) -> None:
        for line in lines:
            with self.caught(place_of_line(line)), self.writer.statement():
                match line:
                    case un.Assign(target, value):
                        self.arrays.assign(target, value, self.scope, mask)
                    case un.Where():
                        self._where(line, mask)
                    case un.Comment() | un.Blank():
                        self._line(line)
                    case _:
                        raise PrintError(f"'{first_words(line)}' under a mask is not printed")


def problem(refusal: PrintError, place: Span | None, scope: CScope) -> Diagnostic:
    """Return the error in the statement at `place`, located at the offending name."""
    span = place or scope.code.module.routine
    if refusal.name and place is not None:
        found = re.search(rf"\b{re.escape(refusal.name)}\b", place.text, re.IGNORECASE)
        if found:
            span = Span(place.source, place.start + found.start(), place.start + found.end())
    elif refusal.name:
        span = scope.code.place_of(refusal.name)
    elif place is None:
        span = scope.code.place_of(scope.code.name)
    name = scope.code.name
    message = f"The subroutine '{name}' has no form in C: {refusal.reason}."
    return Diagnostic("G004", message, span, hint=HINT)
