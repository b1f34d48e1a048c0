"""Printer of typed statements as NumPy code, with vectorised loops.

Arrays are counted from 0. If `vectorize` allows it, a loop is vectorised: its counter becomes an
array of values, or a `range` if it is used only in subscripts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.c.bounds import start_of_message
from psyclone_storage.languages.c.exact_sums import ADD_EXACTLY
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.numpy.column_expressions import OF_EIGHT, OF_FOUR, ValueWriter
from psyclone_storage.targets.numpy.expressions import UnsupportedError, python_identifier
from psyclone_storage.targets.numpy.vectorize import (
    ColumnFacts,
    CountedLoop,
    Fold,
    asked_first,
    is_surely,
    terms_of,
)
from psyclone_storage.targets.python_host import bracketed_list, indented_lines

_HINT = "Leave it to target 'c', or write it as assignments, choices and counted loops."


@dataclass(slots=True)
class ProcedureWriter(ValueWriter):
    """Writes the statements of one procedure, which may be a kernel.

    `counter` is that of the vectorised loop. `kernels` are the kernels that may be called.
    """

    facts: ColumnFacts = ColumnFacts()
    counter: str = ""
    kernels: Mapping[str, Routine] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    problems: list[Diagnostic] = field(default_factory=list)

    # ------------------------------------------------------------------ statements

    def block(self, lines: Iterable[un.Line], behind: tuple[un.Line, ...] = ()) -> list[str]:
        """Return the text of statements; `behind` are those executed after them."""
        every, found = tuple(lines), []
        for at, line in enumerate(every):
            self.spelling = replace(
                self.spelling, place=start_of_message(self.code.name, place_of_line(line))
            )
            try:
                found += self._line(line, (*every[at + 1 :], *behind))
            except UnsupportedError as error:
                self.refuse(line, str(error))
        return found or ["pass"]

    def refuse(self, line: un.Line, why: str) -> None:
        """Record that a statement is not supported (G010)."""
        place = place_of_line(line) or self.code.module.routine
        message = f"'{self.code.name}' cannot be printed for NumPy: {why}."
        self.problems.append(Diagnostic("G010", message, place, hint=_HINT))

    def _line(self, line: un.Line, behind: tuple[un.Line, ...]) -> list[str]:
        match line:
            case un.Blank() | un.Continue():
                return []
            case un.Comment(text):
                return [f"# {part.strip()}".rstrip() for part in text.splitlines()]
            case un.Assign():
                return [self._assign(line)]
            case un.If():
                return self._if(line, behind)
            case un.Do():
                return self._do(line, behind)
            case un.DirectiveBlock(directive, _, body):
                return [f"# {directive.value}: one thread does it", *self.block(body, behind)]
            case un.Call():
                return self._call(line)
            case un.While(condition=condition, body=body, name=""):
                test = "True" if condition is None else self.spelling.of(condition)
                return [f"while {test}:", *indented_lines(self.block(body, (*body, *behind)))]
            case un.Return(None):
                return [self.ending()]
            case un.Exit(""):
                return ["break"]
            case un.Cycle(""):
                return ["continue"]
        raise UnsupportedError("NumPy has no words for this statement")

    def _call(self, line: un.Call) -> list[str]:
        match line:
            case un.Call(ex.Name(text=text), (total, value)) if text == ADD_EXACTLY:
                return [f"{self.spelling.of(total)}.{abi.ADD_TO_SUM}({self._of_turns(value)})"]
            case un.Call(ex.Name(key="random_number"), (target,)):
                return [f"{self.spelling.of(target)} = np.random.random()"]
            case un.Call(ex.Name(text=text, key=key), args) if key in self.kernels:
                changed = changed_scalars(self.kernels[key])
                found = [self.spelling.of(args[at]) for at in changed]
                before = f"{', '.join(found)} = " if found else ""
                passed = [*map(self.spelling.of, args)]
                return [*bracketed_list(f"{before}{python_identifier(text)}(", passed, ")", "")]
        raise UnsupportedError("it calls a procedure that does not stand in its place")

    def ending(self) -> str:
        """Return the statement that ends a procedure and returns its modified scalars."""
        return f"return {', '.join(self.returned)}".rstrip()

    def _assign(self, line: un.Assign) -> str:
        value, target = self.converted(line), line.target
        match target:
            case ex.Name():
                declared = self.code.declared(target.text)
                if declared is not None and declared.shape:
                    return f"{self.name(target)}[...] = {value}"
                return f"{self.name(target)} = {value}"
            case ex.Index():
                text = self.spelling.element(target)
                if text is None:
                    raise UnsupportedError("this cannot be assigned to")
                added = self._added_to(target, line.value)
                return f"{text} = {value}" if added is None else f"{text} {added}"
        raise UnsupportedError("this cannot be assigned to")

    def _added_to(self, target: ex.Expr, value: ex.Expr) -> str | None:
        """Return an in-place addition for an array element, or None."""
        match value:
            case ex.Binary(Operator.PLUS | Operator.MINUS as op, left, right) if (
                isinstance(target, ex.Element)
                and ex.canonical(left) == ex.canonical(target)
                and self.kind(target) is self.kind(right)
            ):
                return f"{op.spelling}= {self.spelling.of(right)}"
        return None

    def converted(self, line: un.Assign) -> str:
        """Return the value of an assignment, converted to the type of the target."""
        text, wanted, found = (
            self.spelling.of(line.value),
            *map(self.kind, (line.target, line.value)),
        )
        if wanted is Intrinsic.INTEGER and found is None:
            raise UnsupportedError("the type of a value is not known")
        if wanted is Intrinsic.INTEGER and found is Intrinsic.REAL:
            return f"{abi.WHOLE}({text})"
        if wanted is Intrinsic.INTEGER and isinstance(line.value, ex.Binary):
            return f"{abi.KEPT}({text})"
        if wanted is Intrinsic.REAL and isinstance(line.target, ex.Name):
            return self._as_kept(line.target, line.value, text)
        return text

    def _as_kept(self, target: ex.Name, value: ex.Expr, text: str) -> str:
        """Return a value converted to the precision of a local variable."""
        is_short = self.is_short(target)
        is_real = self.kind(value) is Intrinsic.REAL
        if is_real and (not self.has_short or (is_short and self.is_short(value))):
            return text
        return f"{OF_FOUR if is_short else OF_EIGHT}({text})"

    def _if(self, line: un.If, behind: tuple[un.Line, ...]) -> list[str]:
        found: list[str] = []
        for word, branch in zip(
            ["if", *["elif"] * len(line.branches)], line.branches, strict=False
        ):
            found.append(f"{word} {self.spelling.of(branch.condition)}:")
            found += indented_lines(self.block(branch.body, behind))
        if line.otherwise:
            found += ["else:", *indented_lines(self.block(line.otherwise, behind))]
        return found

    # ------------------------------------------------------------------ loops

    def _do(self, line: un.Do, behind: tuple[un.Line, ...]) -> list[str]:
        if line.name:
            raise UnsupportedError("a loop with a name may be left from inside of another")
        step = 1 if line.step is None else ex.integer_value(line.step)
        if not step:
            raise UnsupportedError("the step of this loop is not known")
        key = line.variable.key
        if not self.varying:
            loop = CountedLoop(line, self.code, behind, self.facts)
            if asked_first(behind, key):
                raise UnsupportedError(f"the counter '{line.variable.text}' is asked for behind it")
            if loop.is_done_at_once():
                return self._at_once(loop, step)
        shift = 1 if ex.integer_value(line.start) == 1 and self._is_index_alone(line) else 0
        start, stop = self._ends(line, step, shift)
        bounds = [start, stop] if step == 1 else [start, stop, str(step)]
        if step == 1 and start == "0":
            bounds = [stop]
        inner = self._with(from_0=key) if shift else self
        body = inner.block(line.body, (*line.body, *behind))
        return [
            f"for {self.name(line.variable)} in range({', '.join(bounds)}):",
            *indented_lines(body),
        ]

    def _ends(self, line: un.Do, step: int, shift: int) -> tuple[str, str]:
        """Return the first value of a counter and its exclusive end, both minus `shift`."""
        behind = 1 if step > 0 else -1
        return self.shifted(line.start, -shift), self.shifted(line.stop, behind - shift)

    def _is_index_alone(self, line: un.Do) -> bool:
        """Return whether a counter is used only within subscripts of arrays that start at 1."""
        asked = sum(
            isinstance(part, ex.Name) and part.key == line.variable.key
            for one in walk_lines(line.body)
            for expr in expressions_of(one)
            for part in ex.walk(expr)
        )
        items = [
            (lower, item)
            for one in walk_lines(line.body)
            for expr in expressions_of(one)
            for part in ex.walk(expr)
            if isinstance(part, ex.Element) and isinstance(part.base, ex.Name)
            for lower, item in zip(self.lowers(part), part.items, strict=False)
        ]  # fmt: skip
        direct = sum(
            terms_of(item).get(line.variable.key) == 1 for lower, item in items if lower == 1
        )
        return direct == asked

    def _at_once(self, loop: CountedLoop, step: int) -> list[str]:
        line, key = loop.loop, loop.key
        name = self.name(line.variable)
        inner = self._with(varying=loop.varying() | {key})
        inner.counter, folds = key, loop.folds()
        is_range = step == 1 and ex.integer_value(line.start) == 1 and inner.is_range(line, folds)
        start, stop = self._ends(line, step, 1 if is_range else 0)
        if is_range:
            inner.ranged = key
            head = f"{name} = slice({start}, {stop})"
        else:
            bounds = [start, stop] if step == 1 else [start, stop, str(step)]
            head = f"{name} = np.arange({stop if bounds[:-1] == ['0'] else ', '.join(bounds)})"
        body: list[str] = []
        for one in line.body:
            match one:
                case un.Assign(ex.Name(key=local)) if local in folds:
                    body.append(inner.folded(folds[local]))
                case un.Blank():
                    pass
                case _:
                    body += inner.block((one,))
        return [head, *body]

    def is_range(self, line: un.Do, folds: Mapping[str, Fold]) -> bool:
        """Return whether a counter is used only as a complete subscript of arrays that start at 1.

        A slice is a view, so no local variable may refer to it, and it has no length.
        """
        asked = indices = 0
        for one in walk_lines(line.body):
            match one:
                case un.Assign(ex.Name(key=key), value):
                    fold = folds.get(key)
                    is_new = (
                        isinstance(value, ex.Binary) if fold is None else self._is_long(fold.value)
                    )
                case un.Call(args=(_, value)):
                    is_new = self._is_long(value)
                case _:
                    is_new = True
            if not is_new:
                return False
            for expr in expressions_of(one):
                for part in ex.walk(expr):
                    asked += isinstance(part, ex.Name) and part.key == line.variable.key
                    if isinstance(part, ex.Element) and len(part.items) == 1:
                        at = part.items[0]
                        is_it = isinstance(at, ex.Name) and at.key == line.variable.key
                        indices += is_it and self.lowers(part) == [1]
        return asked == indices

    def folded(self, fold: Fold) -> str:
        """Return the statement that reduces the values of all iterations, in order."""
        name = self.name(fold.name)
        if self.is_short(fold.name) and not self.is_short(fold.value):
            raise UnsupportedError("a sum of numbers of eight bytes is kept in four each time")
        return f"{name} = {fold.how}({name}, {self._of_turns(fold.value)})"

    def _of_turns(self, value: ex.Expr) -> str:
        """Return the values of all iterations, broadcast if they are equal by construction."""
        text = self.spelling.of(value)
        if not self.counter or self._is_long(value):
            return text
        return f"np.broadcast_to({text}, {self.name(ex.Name(self.counter))}.shape)"

    def _is_long(self, value: ex.Expr) -> bool:
        """Return whether a value certainly is an array with one element per iteration."""
        return is_surely(value, self._is_of_counter)

    def _is_of_counter(self, expr: ex.Expr) -> bool:
        match expr:
            case ex.Name(key=key):
                return key == self.counter
            case ex.Element(ex.Name(), items):
                return any(self._is_long(one) for one in items)
        return False

    def _with(self, *, varying: frozenset[str] | None = None, from_0: str = "") -> ProcedureWriter:
        """Return a writer for a loop body, whose counter may start at 0."""
        counted = self.counted | ({from_0} - {""})
        return replace(self, varying=self.varying if varying is None else varying, counted=counted)


def changed_scalars(code: Routine) -> list[int]:
    """Return the positions of scalar arguments that are modified."""
    every = [code.declared(name) for name in code.dummies]
    return [
        at for at, item in enumerate(every)
        if item is not None and not item.shape and "intent(in)" not in item.attributes
    ]  # fmt: skip
