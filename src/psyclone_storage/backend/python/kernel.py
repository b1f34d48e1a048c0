"""The subroutine of a kernel in Fortran as a kernel in Python: one function for one point.

Owns where values of locals tell a neighbour of the point: `jiu = ji + 1` is no variable in Python
but a distance. What becomes of a local on ways that join is followed, so that no element is taken
for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.backend.c.scope import CScope
from psyclone_storage.backend.c.types import PrintError
from psyclone_storage.backend.python.expressions import ExpressionWriter, Offset, checked
from psyclone_storage.backend.python.module import ModuleNames, reserved
from psyclone_storage.backend.python.values import INTEGER, SUM, NoPythonError
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Index,
    Name,
    Origin,
    Parenthesised,
    Range,
    Sort,
    Symbol,
    integer_value,
    spell,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import place_of_line, walk_lines
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Comment,
    Continue,
    Cycle,
    DirectiveLine,
    Do,
    Exit,
    If,
    Line,
    Opaque,
    Return,
    Select,
)

_STEP = "    "
_AXES = 2
_HINT = "Keep the kernel in Fortran, or write this by what kernels in Python have words for."


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of Python, and the place in Fortran that it comes from."""

    text: str
    place: Span | None = None

    def indented(self) -> PlacedLine:
        """Return the line one step to the right."""
        return PlacedLine(f"{_STEP}{self.text}" if self.text else "", self.place)


@dataclass(frozen=True, slots=True)
class _Distance:
    """What a whole number is that counts from the point: its axis, and how far it lies from it.

    One without an axis differs between ways that lead to it.
    """

    axis: int | None
    by: int = 0


_DIFFERS = _Distance(None)
Distances = dict[str, _Distance]


@dataclass(slots=True)
class KernelWriter:
    """The writer of one kernel; what has no form in Python is noted in `problems`."""

    code: KernelCode
    scope: CScope
    module: ModuleNames
    distances: Distances
    read: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, code: KernelCode, scope: CScope, module: ModuleNames) -> KernelWriter:
        """Return a writer of `code`, whose names are seen from `scope`."""
        index = {key: _Distance(axis) for axis, key in enumerate(code.dummy_keys[:_AXES])}
        return cls(code, scope, module, index)

    def lines(self) -> list[PlacedLine]:
        """Return the body of the function."""
        if self.code.internal is not None:
            self._refuse("it has procedures of its own", self.code.internal.place)
        for item in self.code.declarations:
            if isinstance(item, Opaque) and "save" in item.names:
                self._refuse("its variables keep their values between calls", item.place)
        body = self._block(without_end(self.code.body)) or [PlacedLine("pass")]
        return [*(PlacedLine(line) for line in self.read.values()), *body]

    def arguments(self) -> list[str]:
        """Return the names of the arguments behind those of the point."""
        return [self.local(key) for key in self.code.dummy_keys[_AXES:]]

    # ------------------------------------------------------------------------ names

    def local(self, key: str) -> str:
        """Return an argument or a local variable by its name in Python."""
        return self.module.local(key)

    def offset(self, items: tuple[Expr, ...]) -> Offset:
        """Return how far from the point an element lies."""
        if len(items) != _AXES:
            text = ", ".join(map(spell, items))
            raise NoPythonError(f"'({text})' is no element of a field in two dimensions")
        first, second = (self.distance(item, axis) for axis, item in enumerate(items))
        return first, second

    def distance(self, item: Expr, axis: int) -> int:
        """Return how far from the point an index lies along an axis."""
        found = self._distance(item)
        if found is None or found.axis != axis:
            raise NoPythonError(f"'{spell(item)}' is no distance from the point that is known")
        return found.by

    def array(self, key: str) -> str | None:
        """Return an argument that is an array."""
        declared = self.code.declared(key)
        if key not in self.code.dummy_keys or declared is None or not declared.shape:
            return None
        for bound in declared.shape:
            lower = bound.lower if isinstance(bound, Range) else None
            if lower is not None and self.scope.integer(lower) != 1:
                raise NoPythonError(f"'{declared.name}' begins at {spell(lower)}, not at 1")
        return self.local(key)

    def scalar(self, symbol: Symbol, scope: CScope) -> str:
        """Return a scalar: of the kernel, or of a module."""
        key = symbol.key
        if symbol.sort is Sort.CONSTANT:
            return self.module.constant(symbol, scope)
        if key in self.distances:
            raise NoPythonError(f"'{symbol.name}' is the number of a point, which Python hides")
        if symbol.origin in (Origin.LOCAL, Origin.DUMMY):
            if "save" in symbol.attributes or symbol.value is not None:
                raise NoPythonError(f"'{symbol.name}' keeps its value between calls")
            return self.local(key)
        home = symbol.module_key
        if not home or home == self.code.module.key:
            return self.module.variable(symbol, scope)
        return self._of_other_module(symbol, scope)

    def _of_other_module(self, symbol: Symbol, scope: CScope) -> str:
        """Return a local that holds what a variable of another module is when the kernel runs."""
        type_ = scope.type_of(symbol)
        checked(type_, symbol.name)
        original = key_in_python(symbol.name)
        if original != key_of(symbol.name) and scope.around.symbol(symbol.module_key, original):
            raise NoPythonError(f"'{symbol.name}' and '{original}' would be one name in Python")
        word = {"real": "float", "integer": "int", "logical": "bool"}[type_.intrinsic.value]
        name = self.local(symbol.key)
        self.module.imported.setdefault(symbol.module_key)
        self.read.setdefault(name, f"{name}: {word} = {symbol.module_key}.{original}")
        return name

    def _distance(self, expr: Expr) -> _Distance | None:
        match expr:
            case Name():
                return self.distances.get(expr.key)
            case Parenthesised(operand):
                return self._distance(operand)
            case Binary(Operator.PLUS | Operator.MINUS as op, left, right):
                inner, by = self._distance(left), integer_value(right)
                if op is Operator.PLUS and inner is None:
                    inner, by = self._distance(right), integer_value(left)
                if inner is not None and inner.axis is not None and by is not None:
                    return _Distance(inner.axis, inner.by + (by if op is Operator.PLUS else -by))
        return None

    # ------------------------------------------------------------------------ statements

    @property
    def _expressions(self) -> ExpressionWriter:
        return ExpressionWriter(self.scope, self)

    def _block(self, lines: Iterable[Line]) -> list[PlacedLine]:
        found: list[PlacedLine] = []
        for line in lines:
            try:
                found += self._line(line)
            except NoPythonError as error:
                self._refuse(error.reason, error.place or place_of_line(line))
            except PrintError as error:
                self._refuse(error.reason, place_of_line(line))
        return found

    def _line(self, line: Line) -> list[PlacedLine]:
        place = place_of_line(line)
        match line:
            case Blank():
                return [PlacedLine("")]
            case Comment(text):
                words = text.strip().lstrip("!<>").strip()
                return [PlacedLine(f"# {words}")] if words.strip("-=*") else []
            case Continue() | DirectiveLine():
                return []
            case Assign():
                return [PlacedLine(text, place) for text in self._assign(line)]
            case If():
                return self._if(line)
            case Select(word="case", alias=None):
                return self._select(line)
            case Do():
                return self._do(line)
            case Return(None):
                return [PlacedLine("return", place)]
            case Exit(name) | Cycle(name) if self.loops and name in ("", self.loops[-1]):
                return [PlacedLine("break" if isinstance(line, Exit) else "continue", place)]
        raise NoPythonError("kernels in Python have no words for this statement")

    def _assign(self, line: Assign) -> Iterator[str]:
        target = line.target
        match target:
            case Name() if self.array(target.key) is None:
                yield from self._local(target, line.value)
            case Index(Name() as name, items) if (array := self.array(name.key)) is not None:
                if any(isinstance(item, Range) for item in items):
                    raise NoPythonError("a kernel in Python writes one point")
                if self.offset(items) != (0, 0):
                    raise NoPythonError(f"'{name.text}' is written off the point")
                type_ = self.scope.type_of(self.scope.symbol(name.key))
                checked(type_, name.text)
                yield f"{array}[0, 0] = {self._expressions.assigned(line.value, type_)}"
            case _:
                raise NoPythonError(f"'{spell(target)}' cannot be assigned to")

    def _local(self, name: Name, value: Expr) -> Iterator[str]:
        """Yield an assignment to a local; none for one that counts from the point from here on."""
        symbol = self.scope.symbol(name.key)
        if symbol.origin is not Origin.LOCAL:
            raise NoPythonError(f"'{name.text}' is no local variable, and is assigned to")
        type_ = self.scope.type_of(symbol)
        checked(type_, name.text)
        distance = self._distance(value) if type_ == INTEGER else None
        if distance is not None:
            self.distances = {**self.distances, name.key: distance}
            self.counted.add(name.key)
            return
        text = self._expressions.assigned(value, type_)
        self.distances = {key: one for key, one in self.distances.items() if key != name.key}
        yield f"{self.scalar(symbol, self.scope)} = {text}"

    def _if(self, line: If) -> list[PlacedLine]:
        ways = [(branch.condition, branch.body, branch.place) for branch in line.branches]
        texts = [(self._expressions.condition(test), body, place) for test, body, place in ways]
        return self._choice(texts, line.otherwise)

    def _select(self, line: Select) -> list[PlacedLine]:
        selector = self._expressions.whole(line.selector)
        texts: list[tuple[str, tuple[Line, ...], Span | None]] = []
        otherwise: tuple[Line, ...] = ()
        for case in line.cases:
            if not case.guards:
                otherwise = case.body
                continue
            tests = [self._guard(selector.within(_TIGHT), guard) for guard in case.guards]
            texts.append((" or ".join(tests), case.body, case.place))
        if not texts:
            return self._block(otherwise)
        return self._choice(texts, otherwise)

    def _guard(self, selector: str, guard: Expr) -> str:
        if not isinstance(guard, Range):
            return f"{selector} == {self._expressions.whole(guard).within(_TIGHT)}"
        tests = []
        if guard.lower is not None:
            tests.append(f"{selector} >= {self._expressions.whole(guard.lower).within(_TIGHT)}")
        if guard.upper is not None:
            tests.append(f"{selector} <= {self._expressions.whole(guard.upper).within(_TIGHT)}")
        return " and ".join(tests)

    def _choice(
        self, ways: list[tuple[str, tuple[Line, ...], Span | None]], otherwise: tuple[Line, ...]
    ) -> list[PlacedLine]:
        """Return branches; behind them the locals count what they count on all ways there."""
        before, ends = self.distances, list[Distances]()
        found: list[PlacedLine] = []
        for number, (test, body, place) in enumerate(ways):
            found.append(PlacedLine(f"{'elif' if number else 'if'} {test}:", place))
            found += self._inner(body)
            if not _leaves(body):
                ends.append(self.distances)
            self.distances = before
        if any(not isinstance(one, Blank | Comment) for one in otherwise):
            found += [PlacedLine("else:"), *self._inner(otherwise)]
        if not _leaves(otherwise):
            ends.append(self.distances)
        self.distances = _joined(ends, before)
        return found

    def _inner(self, body: tuple[Line, ...]) -> list[PlacedLine]:
        lines = self._block(without_end(body))
        if all(not line.text or line.text.startswith("#") for line in lines):
            lines.append(PlacedLine("pass"))
        return [line.indented() for line in lines]

    def _do(self, line: Do) -> list[PlacedLine]:
        writer = self._expressions
        start, stop = writer.whole(line.start), writer.whole(line.stop)
        step = 1 if line.step is None else integer_value(line.step)
        if not step:
            raise NoPythonError("the step of this loop is not known")
        last = integer_value(line.stop)
        sign = "+" if step > 0 else "-"
        behind = (
            f"{stop.within(SUM)} {sign} 1" if last is None else str(last + (1 if step > 0 else -1))
        )
        bounds = [start.text, behind, *([str(step)] if step != 1 else [])]
        changed = _assigned_in(line.body) | {line.variable.key}
        before = {key: _DIFFERS if key in changed else one for key, one in self.distances.items()}
        self.distances = {key: one for key, one in before.items() if key != line.variable.key}
        head = f"for {self.local(line.variable.key)} in range({', '.join(bounds)}):"
        self.loops.append(line.name)
        found = [PlacedLine(head, line.place), *self._inner(line.body)]
        self.loops.pop()
        # Behind the loop nobody knows on which turn, and where in it, a local was last counted.
        self.distances = {**before, **dict.fromkeys(changed & self.counted, _DIFFERS)}
        return found

    def _refuse(self, why: str, place: Span | None) -> None:
        message = f"The kernel '{self.code.name}' has no form in Python: {why}."
        where = place or self.code.module.routine
        self.problems.append(Diagnostic("G006", message, where, hint=_HINT))


_TIGHT = 5


def key_in_python(name: str) -> str:
    """Return the name that a variable of a module has in Python."""
    key = key_of(name)
    return f"{key}_" if reserved(key) else key


def _joined(ends: list[Distances], before: Distances) -> Distances:
    """Return what locals count where ways join; one on which they differ is not known."""
    if not ends:
        return before
    keys = {key for end in ends for key in end}
    found = {}
    for key in keys:
        values = {end.get(key) for end in ends}
        only = next(iter(values))
        found[key] = only if len(values) == 1 and only is not None else _DIFFERS
    return found


def _leaves(body: tuple[Line, ...]) -> bool:
    """Return whether the last statement leaves: what stands behind is never reached from here."""
    done = [line for line in body if not isinstance(line, Blank | Comment)]
    return bool(done) and isinstance(done[-1], Return | Exit | Cycle)


def _assigned_in(body: tuple[Line, ...]) -> set[str]:
    """Return the keys of the names that statements assign to, those of counters included."""
    found: set[str] = set()
    for line in walk_lines(body):
        match line:
            case Assign(Name() as name) | Do(variable=name):
                found.add(name.key)
    return found


def without_end(body: tuple[Line, ...]) -> tuple[Line, ...]:
    """Return statements without blank lines at their ends."""
    start, stop = 0, len(body)
    while start < stop and isinstance(body[start], Blank):
        start += 1
    while stop > start and isinstance(body[stop - 1], Blank):
        stop -= 1
    return body[start:stop]
