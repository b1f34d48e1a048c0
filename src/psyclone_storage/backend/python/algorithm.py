"""Algorithms in Fortran as algorithms in Python: invokes, what is around them, grids and fields.

Each procedure with invokes becomes a function, a program one that is called where the file is run.
Statements around invokes are those that numbers need: assignments, choices, loops. Indices count as
in Fortran. What has no form that does the same is refused by its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from psyclone_storage.backend.python.file import PythonText, laid_out
from psyclone_storage.backend.python.forms import PlacedLine
from psyclone_storage.backend.python.kernel import without_end
from psyclone_storage.backend.python.numbers import AlgorithmExpressions
from psyclone_storage.backend.python.values import INTEGER, SUM, NoPythonError
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures import gocean as words
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Expr,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    integer_value,
    spell,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.program_units import (
    DeclarationStatement,
    ProgramUnit,
    SourceFile,
    UnitKind,
    UseStatement,
)
from psyclone_storage.ir.rewrite import place_of_line, walk_lines
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Continue,
    Cycle,
    Declare,
    Do,
    Exit,
    If,
    Line,
    Return,
    Use,
    While,
)

_STEP = "    "
_WIDTH = 100
_INVOKE = "invoke"
_HINT = "Translate the rest by hand, or keep the algorithm in Fortran."
_POINTS = {f"go_{place}_points": f"Points.{place.upper()}" for place in "tuvf"}
_OFFSETS = {words.NORTH_EAST: "Offset.NORTH_EAST", words.SOUTH_WEST: "Offset.SOUTH_WEST"}
_RUNTIME = "psyclone_storage.runtime.gocean"
HomeOf = Callable[[str, tuple[Use, ...]], tuple[str, str] | None]
"""Gives the module of a kernel and its name there, None where no import has it."""


def has_invokes(unit: ProgramUnit) -> bool:
    """Return whether a unit has invokes of its own."""
    return any(isinstance(line, Call) and _is_invoke(line) for line in walk_lines(unit.body))


def _is_invoke(call: Call) -> bool:
    return isinstance(call.procedure, Name) and call.procedure.key == _INVOKE


def emit_algorithm(
    file: SourceFile, units: tuple[ProgramUnit, ...], home_of: HomeOf, title: str
) -> PythonText:
    """Return a module with a function for each of `units`, which are units of `file`.

    Raises:
        CompileError: G006, at each statement that has no form in Python.
    """
    imports: dict[str, None] = {}
    lines: list[PlacedLine] = []
    problems: list[Diagnostic] = []
    for unit in units:
        writer = _UnitWriter(unit, tuple(_uses(file, unit)), home_of, imports)
        body = writer.lines()
        problems += writer.problems
        head = f"def {_named(unit.name)}({', '.join(map(_named, unit.dummies))}):"
        lines += [PlacedLine(""), PlacedLine(""), PlacedLine(head, unit.place)]
        lines += [line.indented() for line in body or [PlacedLine("pass")]]
        if unit.kind is UnitKind.PROGRAM:
            call = f"{_named(unit.name)}()"
            lines += map(PlacedLine, ["", "", 'if __name__ == "__main__":', f"{_STEP}{call}"])
    if problems:
        raise CompileError(*problems)
    head = f"from {_RUNTIME} import "
    made = [one.removeprefix(head) for one in sorted(imports) if one.startswith(head)]
    kernels = [one for one in sorted(imports) if not one.startswith(head)]
    opening = [f'"""{title}"""', "", *kernels, "", "from psyclone_storage.gocean import invoke"]
    opening += [head + ", ".join(made)] if made else []
    return laid_out([*map(PlacedLine, opening), *lines])


def _uses(file: SourceFile, unit: ProgramUnit) -> Iterator[Use]:
    """Yield the imports that a unit sees, its own first."""
    around = [one for one in file.every_unit() if unit in one.contained]
    for one in (unit, *around):
        for item in one.specification:
            if isinstance(item, UseStatement):
                yield item.use


def _counters(body: tuple[Line, ...]) -> frozenset[str]:
    """Return the counters of the loops in `body`, which count something else behind them."""
    return frozenset(line.variable.key for line in walk_lines(body) if isinstance(line, Do))


def _named(name: str) -> str:
    return AlgorithmExpressions.name(name)


@dataclass(slots=True)
class _UnitWriter:
    """The writer of one procedure."""

    unit: ProgramUnit
    uses: tuple[Use, ...]
    home_of: HomeOf
    imports: dict[str, None]
    problems: list[Diagnostic] = field(default_factory=list)
    grids: dict[str, list[str]] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()

    @property
    def declared(self) -> dict[str, Declare]:
        """The declarations of the unit, by their keys."""
        return {
            one.key: one
            for item in self.unit.specification
            if isinstance(item, DeclarationStatement)
            for one in item.declares
        }

    @property
    def numbers(self) -> AlgorithmExpressions:
        """What writes expressions."""
        return AlgorithmExpressions(self.declared, self.ended)

    def lines(self) -> list[PlacedLine]:
        """Return the body of the function."""
        found: list[PlacedLine] = []
        self._check_names()
        for one in self.declared.values():
            if one.value is not None and "parameter" in one.attributes:
                try:
                    found.append(
                        PlacedLine(f"{_named(one.name)} = {self.numbers.of(one.value, one)}")
                    )
                except NoPythonError as error:
                    self._refuse(error.reason, self.unit.place)
            elif one.value is not None:
                self._refuse(f"'{one.name}' keeps its value between calls", self.unit.place)
        return [*found, *self._block(self.unit.body)]

    def _check_names(self) -> None:
        """Refuse names that differ in Fortran alone."""
        keys = {*self.declared, *map(key_of, self.unit.dummies), key_of(self.unit.name)}
        keys |= {item.key for use in self.uses for item in use.names}
        for key in sorted(keys):
            if (named := _named(key)) != key and named in keys:
                self._refuse(f"'{key}' and '{named}' would be one name", self.unit.place)

    def _refuse(self, why: str, place: Span | None) -> None:
        message = f"'{self.unit.name}' has no form in Python: {why}."
        where = place or self.unit.place
        self.problems.append(Diagnostic("G006", message, where, hint=_HINT))

    def _block(self, lines: Iterable[Line]) -> list[PlacedLine]:
        found: list[PlacedLine] = []
        for line in without_end(tuple(lines)):
            place = place_of_line(line)
            try:
                found += [one if one.place else PlacedLine(one.text, place)
                          for one in self._line(line)]  # fmt: skip
            except NoPythonError as error:
                self._refuse(error.reason, place)
        return found

    def _inner(self, lines: tuple[Line, ...]) -> list[PlacedLine]:
        body = self._block(lines)
        if all(not line.text or line.text.startswith("#") for line in body):
            body.append(PlacedLine("pass"))
        return [line.indented() for line in body]

    def _line(self, line: Line) -> list[PlacedLine]:
        match line:
            case Blank():
                return [PlacedLine("")]
            case Comment(text):
                said = text.strip().lstrip("!<>").strip()
                return [PlacedLine(f"# {said}")] if said.strip("-=*") else []
            case Continue():
                return []
            case Call() if _is_invoke(line):
                return [PlacedLine(text) for text in self._invoke(line)]
            case Call():
                return [PlacedLine(text) for text in self._grid_call(line)]
            case Assign():
                return [PlacedLine(text) for text in self._assign(line)]
            case If():
                return self._if(line)
            case Do(name=""):
                return self._do(line)
            case While(name="", condition=condition):
                self.ended |= _counters(line.body)
                test = "True" if condition is None else self.numbers.condition(condition)
                body = self._inner(line.body)
                self.ended |= _counters(line.body)
                return [PlacedLine(f"while {test}:"), *body]
            case Return(None):
                return [PlacedLine("return")]
            case Exit("") | Cycle(""):
                return [PlacedLine("break" if isinstance(line, Exit) else "continue")]
        raise NoPythonError("there are no words in Python for this statement")

    def _if(self, line: If) -> list[PlacedLine]:
        found: list[PlacedLine] = []
        before, behind = self.ended, self.ended
        for number, branch in enumerate(line.branches):
            self.ended = before
            word = "elif" if number else "if"
            head = f"{word} {self.numbers.condition(branch.condition)}:"
            found += [PlacedLine(head, branch.place), *self._inner(branch.body)]
            behind |= self.ended
        self.ended = before
        if line.otherwise:
            found += [PlacedLine("else:"), *self._inner(line.otherwise)]
        self.ended |= behind
        return found

    def _do(self, line: Do) -> list[PlacedLine]:
        step = 1 if line.step is None else integer_value(line.step)
        if not step:
            raise NoPythonError("the step of this loop is not known")
        by, last = (1 if step > 0 else -1), integer_value(line.stop)
        behind = str(last + by) if last is not None else (
            f"{self.numbers.whole(line.stop, SUM)} {'+' if by > 0 else '-'} 1")  # fmt: skip
        bounds = [self.numbers.whole(line.start), behind, *([str(step)] if step != 1 else [])]
        key = line.variable.key
        is_own = key in self.declared and key not in map(key_of, self.unit.dummies)
        if not is_own or self.numbers.type_of(line.variable) != INTEGER:
            raise NoPythonError(f"'{line.variable.text}' is no whole number of its own")
        head = f"for {_named(line.variable.text)} in range({', '.join(bounds)}):"
        self.ended = (self.ended | _counters(line.body)) - {key}
        body = self._inner(line.body)
        self.ended |= _counters(line.body) | {key}
        return [PlacedLine(head, line.place), *body]

    # ------------------------------------------------------------------------ invokes

    def _invoke(self, call: Call) -> Iterator[str]:
        items: list[str] = []
        label = ""
        for arg in call.args:
            match arg:
                case Keyword("name", Literal(intrinsic=Intrinsic.CHARACTER) as text):
                    label = f'name="{text.value}"'
                case Index(Name() as name, given):
                    passed = ", ".join(map(self.numbers.of, given))
                    items.append(f"{self._kernel(name)}({passed})")
                case _:
                    raise NoPythonError(f"'{spell(arg)}' is no call of a kernel")
        if label:
            items.append(label)
        whole = f"invoke({', '.join(items)})"
        if len(items) == 1 or (label and len(items) == 2 and len(whole) < _WIDTH - len(_STEP)):
            yield whole
            return
        yield "invoke("
        yield from (f"{_STEP}{item}," for item in items)
        yield ")"

    def _kernel(self, name: Name) -> str:
        home = self.home_of(name.key, self.uses)
        if home is None:
            raise NoPythonError(f"it is not known which module has the kernel '{name.text}'")
        module, original = home
        renamed = "" if original == name.key else f" as {_named(name.key)}"
        self.imports[f"from {module} import {original}{renamed}"] = None
        return _named(name.key)

    # ------------------------------------------------------------------------ grids and fields

    def _assign(self, line: Assign) -> Iterator[str]:
        if not isinstance(line.target, Name):
            raise NoPythonError(f"'{spell(line.target)}' cannot be assigned to")
        key, name = line.target.key, _named(line.target.text)
        match line.value:
            case Index(Name() as made, (_, ArrayLiteral(bounds), Name() as offset)) if (
                made.key == "grid_type"
            ):
                self.grids[key] = [self._periodic(bounds), self._word(offset, _OFFSETS, "Offset")]
                return
            case Index(Name() as made, (grid, Name() as points)) if made.key == "r2d_field":
                where = self._word(points, _POINTS, "Points")
                self.imports[f"from {_RUNTIME} import Field"] = None
                yield f'{name} = Field({self.numbers.of(grid)}, {where}, "{name}")'
                return
        if key not in self.declared or key in map(key_of, self.unit.dummies):
            raise NoPythonError(f"'{line.target.text}' is known elsewhere, and is assigned to")
        yield f"{name} = {self.numbers.of(line.value, self.declared[key])}"
        self.ended -= {key}

    def _periodic(self, bounds: tuple[Expr, ...]) -> str:
        known = ("go_bc_periodic", "go_bc_external", "go_bc_none")
        ends = [bound.key if isinstance(bound, Name) else "" for bound in bounds[:2]]
        if any(end not in known for end in ends):
            raise NoPythonError("it is not known how the grid ends")
        return f"({', '.join(str(end == known[0]) for end in ends)})"

    def _word(self, name: Name, table: dict[str, str], kind: str) -> str:
        if name.key not in table:
            raise NoPythonError(f"'{name.text}' is no word of grids in Python")
        self.imports[f"from {_RUNTIME} import {kind}"] = None
        return table[name.key]

    def _grid_call(self, line: Call) -> Iterator[str]:
        """Yield what makes a grid, once all is known that it is made of."""
        match line.procedure, line.args:
            case Member(Name() as grid, "decompose" | "DECOMPOSE"), (columns, rows) if (
                grid.key in self.grids
            ):
                points = f"({self.numbers.of(columns)}, {self.numbers.of(rows)})"
                self.grids[grid.key].append(points)
            case Name() as procedure, (Name() as grid, dx, dy) if (
                procedure.key == "grid_init" and len(self.grids.get(grid.key, ())) == 3
            ):
                periodic, offset, points = self.grids[grid.key]
                spacing = f"({self.numbers.of(dx)}, {self.numbers.of(dy)})"
                self.imports[f"from {_RUNTIME} import Grid"] = None
                yield (f"{_named(grid.text)} = Grid({points}, {spacing}, periodic={periodic},"
                       f" offset={offset})")  # fmt: skip
            case _:
                raise NoPythonError(f"it is not known what '{spell(line.procedure)}' does")
