"""Loops of a lowered routine as functions of C, with the kernels that they call in the same unit.

    static void invoke_0_1_loops(double *restrict p, ..., const int64_t nx, ...)    the loops
    void invoke_0_1(void *const *data, const double *reals, const int64_t *counts, ...)

The first has an argument for each array, so that a compiler knows of all of them that they are
apart: whoever binds data makes sure of that. The second is what Python calls: it takes arrays,
numbers of the grid, extents and bounds from three tables, and scalars by value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.backend.c.calls import CFunction
from psyclone_storage.backend.c.pragmas import OF_LOOPS, clauses_of, words_of
from psyclone_storage.backend.c.printer import CUnit
from psyclone_storage.backend.c.variables import Parameter
from psyclone_storage.backend.c.writer import RESERVED
from psyclone_storage.backend.numpy.kernel import offset_of
from psyclone_storage.backend.numpy.printer import text_of
from psyclone_storage.backend.numpy.spelling import literal
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Literal,
    Name,
    Parenthesised,
    integer_value,
    spell,
    walk,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, walk_lines
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import CType
from psyclone_storage.ir.unit import (
    Blank,
    Call,
    Comment,
    DirectiveBlock,
    Do,
    If,
    Line,
    TaskWaitLine,
)

ENTRY = ("void *const *data", "const double *reals", "const int64_t *counts")
"""What Python passes to each function: arrays, numbers and counts, by their positions."""
_STEP = "    "
_WIDTH = 100
_EXTENTS = ("nx", "ny")
_HINT = "Leave out the step or the kernel that asks for it, or generate NumPy."


@dataclass(frozen=True, slots=True)
class CallTables:
    """What a routine has in its tables, by name, in order: arrays, numbers, extents and bounds."""

    arrays: tuple[str, ...]
    reals: tuple[str, ...]
    counts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar that is passed with each call: what Python passes, and what C calls it.

    It is an expression of the routine's arguments, or the variable of a `module` by its key.
    `letter` says of which type it is.
    """

    python: str
    name: str
    letter: str
    module: str = ""


_OF_LETTER = {"d": "double", "f": "float", "i": "int32_t"}
_LETTERS = {name: letter for letter, name in _OF_LETTER.items()}


def letter_of(type_: CType) -> str:
    """Return the letter by which Python knows the type of a scalar; conditions are numbers."""
    return _LETTERS.get(type_.name, "i")


@dataclass(frozen=True, slots=True)
class LoopsFunction:
    """One exported function: its name, its text, and the scalars that it is passed, in order."""

    name: str
    text: str
    scalars: tuple[ScalarArgument, ...]
    launch: LaunchArguments | None = None


@dataclass(frozen=True, slots=True)
class LaunchArguments:
    """What a kernel of a device is passed: positions in the tables, in order, before the scalars.

    It runs in one thread `alone` where points see what others change.
    """

    arrays: tuple[int, ...]
    counts: tuple[int, ...]
    reals: tuple[int, ...]
    alone: bool


@dataclass(frozen=True, slots=True)
class ReachedPoints:
    """The points that calls in a loop look at: a range of columns, and one of rows."""

    columns: tuple[Expr, Expr]
    rows: tuple[Expr, Expr]
    offsets: tuple[tuple[int, int], tuple[int, int]]


def points_reached(
    lines: Iterable[Line], codes: Mapping[str, KernelCode]
) -> tuple[ReachedPoints, ...]:
    """Return how far the calls in `lines` look, by what `codes` do; each once."""
    seen: dict[ReachedPoints, None] = {}
    for call, loops in _calls(lines, {}):
        if (code := codes.get(key_of(spell(call.procedure)))) is not None:
            columns, rows = (_range(arg, loops) for arg in call.args[:2])
            seen[ReachedPoints(columns, rows, _spread(code))] = None
    return tuple(seen)


def _spread(code: KernelCode) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the least and the greatest distance, in columns and in rows, at which code looks."""
    elements = [
        part
        for line in walk_lines(code.body)
        for expr in expressions_of(line)
        for part in walk(expr)
        if isinstance(part, Index)
    ]
    known = [one for part in elements if (one := offset_of(part, code)) is not None] or [(0, 0)]
    columns, rows = zip(*known, strict=True)
    return (min(columns), max(columns)), (min(rows), max(rows))


def _calls(
    lines: Iterable[Line], loops: Mapping[str, Do]
) -> Iterator[tuple[Call, Mapping[str, Do]]]:
    for line in lines:
        match line:
            case Call():
                yield line, loops
            case Do(variable=variable, body=body):
                yield from _calls(body, {**loops, variable.text: line})
            case DirectiveBlock(body=body):
                yield from _calls(body, loops)
            case If(otherwise=apart):
                # Where the bounds of loops differ, each reaches as far as it says.
                yield from _calls(apart, loops)


def _range(index: Expr, loops: Mapping[str, Do]) -> tuple[Expr, Expr]:
    """Return what an index counts, all tiles together."""
    if not isinstance(index, Name) or index.text not in loops:
        return index, index
    loop = loops[index.text]
    if isinstance(loop.start, Name) and loop.start.text in loops:
        return _range(loop.start, loops)
    return loop.start, loop.stop


def is_computed(line: Line) -> bool:
    """Return whether a statement is done in C; a test around halo exchanges is not."""
    if isinstance(line, If):
        return any(is_computed(inner) for block in blocks_of(line) for inner in block)
    return isinstance(line, Do | DirectiveBlock | TaskWaitLine)


def loops_function(
    name: str, lines: tuple[Line, ...], tables: CallTables, kernels: Mapping[str, CUnit]
) -> LoopsFunction:
    """Return the function `name` that does `lines`, which call functions of `kernels`, by name.

    Raises:
        CompileError: G010, something has no form in C.
    """
    writing = LoopsWriter.of(tables, kernels)
    body = list(writing.lines(lines, 1))
    taken = writing.taken()
    text = [
        *wrapped(f"static void {name}_loops(", taken.declared, ")"),
        "{",
        *body,
        "}",
        "",
        *wrapped(f"void {name}(", [*ENTRY, *taken.scalars], ")"),
        "{",
        *wrapped(f"{_STEP}{name}_loops(", taken.passed, ");"),
        "}",
        "",
    ]
    return LoopsFunction(name, "\n".join(text), tuple(writing.scalars))


@dataclass(frozen=True, slots=True)
class TakenArguments:
    """The arguments of a function: as it declares them, and what they are passed.

    `scalars` are the declarations of those that are no part of tables, `positions` those in the
    tables of the others.
    """

    declared: tuple[str, ...]
    passed: tuple[str, ...]
    scalars: tuple[str, ...]
    positions: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def wrapped(head: str, items: Iterable[str], end: str) -> Iterator[str]:
    """Yield a list in brackets, in lines that are not too long."""
    indent = head[: len(head) - len(head.lstrip())] + _STEP
    line = head
    texts = list(items)
    for number, item in enumerate(texts, 1):
        piece = f"{item}{end if number == len(texts) else ', '}"
        if len(line) + len(piece.rstrip()) > _WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += piece
    yield line if texts else f"{head}{end}"


@dataclass(slots=True)
class LoopsWriter:
    """The writer of one function's statements; `arrays` are those it uses, with their types."""

    tables: CallTables
    kernels: Mapping[str, CUnit]
    fresh: NameTable
    named: dict[str, str]
    arrays: dict[str, str] = field(default_factory=dict)
    scalars: list[ScalarArgument] = field(default_factory=list)
    counters: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def taken(self) -> TakenArguments:
        """Return what the statements that were written take."""
        tables, every = self.tables, (*_EXTENTS, *self.tables.counts)
        arrays = [one for one in tables.arrays if one in self.arrays]
        counts = [one for one in every if one in _EXTENTS or one in self.used]
        reals = [one for one in tables.reals if one in self.used]
        named = {**self.named, **{one: one for one in _EXTENTS}}
        scalars = [f"{_OF_LETTER[one.letter]} {one.name}" for one in self.scalars]
        declared = [
            *(f"{self.arrays[one]} *restrict {named[one]}" for one in arrays),
            *(f"const int64_t {named[one]}" for one in counts),
            *(f"const double {named[one]}" for one in reals),
            *scalars,
        ]
        positions = (
            tuple(map(tables.arrays.index, arrays)),
            tuple(map(every.index, counts)),
            tuple(map(tables.reals.index, reals)),
        )
        passed = [
            f"{table}[{at}]"
            for table, group in zip(("data", "counts", "reals"), positions, strict=True)
            for at in group
        ]
        passed += [one.name for one in self.scalars]
        return TakenArguments(tuple(declared), tuple(passed), tuple(scalars), positions)

    @classmethod
    def of(cls, tables: CallTables, kernels: Mapping[str, CUnit]) -> LoopsWriter:
        """Return what writes functions with these tables, and has names for what is in them."""
        functions = [one.name for unit in kernels.values() for one in unit.functions]
        fresh = NameTable((*RESERVED, *_EXTENTS, *functions, "data", "reals", "counts"))
        every = (*tables.arrays, *tables.reals, *tables.counts)
        return cls(tables, kernels, fresh, {name: fresh.fresh(name) for name in every})

    def c_name(self, name: str) -> str:
        """Return what a name is in C."""
        self.used.add(name)
        if name not in self.named:
            self.named[name] = self.fresh.fresh(name)
        return self.named[name]

    def lines(self, lines: Iterable[Line], depth: int) -> Iterator[str]:
        """Yield the text of statements."""
        for line in lines:
            yield from self._line(line, depth)

    def _line(self, line: Line, depth: int) -> Iterator[str]:
        indent = _STEP * depth
        match line:
            case Blank():
                yield ""
            case Comment(text):
                yield from (f"{indent}/* {one.strip()} */" for one in text.splitlines())
            case Do():
                yield from self._do(line, depth)
            case Call(procedure, args):
                yield from self._call(procedure, args, indent)
            case DirectiveBlock():
                yield from self._directive(line, depth)
            case If(branches=(branch,), otherwise=otherwise):
                yield f"{indent}if ({self.text(branch.condition)}) {{"
                yield from self.lines(branch.body, depth + 1)
                yield f"{indent}}} else {{"
                yield from self.lines(otherwise, depth + 1)
                yield f"{indent}}}"
            case TaskWaitLine():
                yield f"{indent}#pragma omp taskwait"
            case _:
                raise _no_form(f"a statement of the class {type(line).__name__}")

    def _do(self, line: Do, depth: int) -> Iterator[str]:
        step = 1 if line.step is None else integer_value(line.step)
        if step is None or step < 1:
            raise InternalError("A loop over points has no step that is known.")
        counter = self.counter(line.variable)
        start, stop = self.text(line.start), self.text(line.stop)
        step_text = f"++{counter}" if step == 1 else f"{counter} += {step}"
        indent = _STEP * depth
        yield f"{indent}for (int32_t {counter} = {start}; {counter} <= {stop}; {step_text}) {{"
        yield from self.lines(line.body, depth + 1)
        yield f"{indent}}}"

    def counter(self, variable: Name) -> str:
        """Return what the counter of a loop is in C."""
        self.counters.add(variable.text)
        return self.c_name(variable.text)

    def _directive(self, block: DirectiveBlock, depth: int) -> Iterator[str]:
        """Yield what is under a directive for threads, or for a device, which says nothing here."""
        words = words_of(block.directive, block.options)
        if not words:
            yield from self.lines(block.body, depth)
            return
        indent = _STEP * depth
        clauses = clauses_of(block.directive, block.options)
        yield f"{indent}#pragma omp {' '.join((words, *clauses))}"
        if block.directive in OF_LOOPS:
            yield from self.lines(block.body, depth)
            return
        yield f"{indent}{{"
        yield from self.lines(block.body, depth + 1)
        yield f"{indent}}}"

    # ------------------------------------------------------------------------ calls

    def _call(self, procedure: Expr, args: tuple[Expr, ...], indent: str) -> Iterator[str]:
        function = self._function(procedure)
        dummies = [item for item in function.parameters if not item.module]
        passed = [text for pair in zip(dummies, args, strict=True) for text in self._passed(*pair)]
        for item in function.parameters:
            if item.module:
                wished = ScalarArgument(item.key, item.key, letter_of(item.type), item.module)
                passed.append(f"&{self._scalar(wished)}")
        yield from wrapped(f"{indent}{function.name}(", passed, ");")

    def _function(self, procedure: Expr) -> CFunction:
        unit = self.kernels.get(key_of(spell(procedure)))
        if unit is None:
            raise _no_form(f"a call of '{spell(procedure)}', which is no kernel")
        return unit.main

    def _passed(self, parameter: Parameter, actual: Expr) -> tuple[str, ...]:
        if not parameter.is_array:
            if not parameter.by_value:
                raise _no_form(f"the scalar '{spell(actual)}', which a kernel changes")
            return (self._value(parameter, actual),)
        if not isinstance(actual, Name) or actual.text not in self.tables.arrays:
            raise InternalError(f"'{spell(actual)}' is passed for an array.")
        const = "const " if parameter.intent == "in" else ""
        known = self.arrays.get(actual.text, f"{const}{parameter.type.name}")
        if known.removeprefix("const ") != parameter.type.name:
            raise _no_form(f"'{spell(actual)}' with values of two types")
        self.arrays[actual.text] = known if const else parameter.type.name
        return (self.named[actual.text], *_EXTENTS[: len(parameter.assumed)])

    def _value(self, parameter: Parameter, actual: Expr) -> str:
        """Return a scalar, which Python passes unless it is a constant, a bound or a counter."""
        names = {part.text for part in walk(actual) if isinstance(part, Name)}
        known = {*self.counters, *self.tables.counts, *self.tables.reals}
        if isinstance(actual, Literal) or (names and names <= known):
            return self.text(actual)
        stem = actual.text if isinstance(actual, Name) else parameter.key
        return self._scalar(ScalarArgument(text_of(actual), stem, letter_of(parameter.type)))

    def _scalar(self, wished: ScalarArgument) -> str:
        """Return the name of a scalar in C, which is `wished`, or like its own."""
        for one in self.scalars:
            if replace(one, name=wished.name) == wished:
                return one.name
        made = replace(wished, name=self.fresh.fresh(wished.name))
        self.scalars.append(made)
        return made.name

    # ------------------------------------------------------------------------ expressions

    def text(self, expr: Expr) -> str:
        """Return an expression of counters, bounds and constants."""
        match expr:
            case Literal(intrinsic=Intrinsic.INTEGER | Intrinsic.REAL):
                return literal(expr)
            case Name(text):
                return self.c_name(text)
            case Parenthesised(operand):
                return f"({self.text(operand)})"
            case Binary():
                word = "&&" if expr.op is Operator.AND else expr.op.spelling
                return f"({self.text(expr.left)} {word} {self.text(expr.right)})"
            case Index(Name(word), (first, second)) if key_of(word) in ("min", "max"):
                one, other = self.text(first), self.text(second)
                sign = "<" if key_of(word) == "min" else ">"
                return f"({one} {sign} {other} ? {one} : {other})"
        raise _no_form(f"'{spell(expr)}'")


def _no_form(what: str) -> CompileError:
    message = f"A PSy layer in C has no words for {what}."
    return CompileError(Diagnostic("G010", message, hint=_HINT))
