"""Translation of Fortran algorithms to Python: invokes and the surrounding code.

Each procedure with invokes becomes a function. A program becomes a function that is called when the
file is run. Only statements for numbers are supported: assignments, branches and loops. Any other
statement is an error at its location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.source import Span
from psyclone_storage.infrastructures.lfric import UNNAMED_REAL
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import names_in, place_of_line, walk_lines
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    KernelModule,
    ModuleContext,
    Routine,
    SourceFile,
    UseStatement,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.typing import INTEGER, CScope, PrintError
from psyclone_storage.languages.python.translate.algorithm_imports import KernelImports
from psyclone_storage.languages.python.translate.algorithm_names import AlgorithmNames
from psyclone_storage.languages.python.translate.arguments import (
    is_passed_as_written,
    without_brackets,
)
from psyclone_storage.languages.python.translate.data_declarations import DataForm
from psyclone_storage.languages.python.translate.kernel import without_end
from psyclone_storage.languages.python.translate.module_writer import PythonText, wrapped_text
from psyclone_storage.languages.python.translate.protocols import PlacedLine
from psyclone_storage.languages.python.translate.values import NoPythonError

_STEP = "    "
_WIDTH = 100
_INVOKE = "invoke"
_HINT = "Translate the rest by hand, or keep the algorithm in Fortran."


@dataclass(frozen=True, slots=True)
class Surrounding:
    """Procedure or an enclosing unit: its imports, and its name if it is a module."""

    uses: tuple[un.Use, ...]
    module: str = ""


HomeOf = Callable[[str, tuple[Surrounding, ...]], tuple[str, str] | None]
"""Gives the module of a kernel and its name there, None where no import has it."""


def has_invokes(unit: Routine) -> bool:
    """Return whether a unit contains invokes directly."""
    return any(isinstance(line, un.Call) and _is_invoke(line) for line in walk_lines(unit.body))


def _is_invoke(call: un.Call) -> bool:
    return isinstance(call.procedure, ex.Name) and call.procedure.key == _INVOKE


@dataclass(frozen=True, slots=True)
class AlgorithmContext:
    """Context of the units in a file.

    - `home_of`: returns the module of a kernel.

    - `around`: returns the module context of nested units.

    - `data`: creates the rules for data.
    """

    home_of: HomeOf
    around: Callable[[tuple[Surrounding, ...]], ModuleContext]
    data: Callable[[], DataForm]


def translate_algorithm(
    file: SourceFile, units: tuple[Routine, ...], context: AlgorithmContext, title: str
) -> PythonText:
    """Return a Python module with a function for each of `units`, which belong to `file`.

    Raises:
        CompileError: G006, at each statement that cannot be translated.
    """
    imports = KernelImports(frozenset(_named(unit.name) for unit in units))
    words: dict[str, None] = {}
    made: dict[str, None] = {}
    lines: list[PlacedLine] = []
    problems: list[Diagnostic] = []
    authors = frozenset(key_of(unit.name) for unit in file.every_unit())
    for unit in units:
        around = tuple(_surroundings(file, unit))
        writer = _UnitWriter(
            unit,
            around,
            context.home_of,
            _scope(unit, around, file, context),
            authors | {item.key for one in around for use in one.uses for item in use.names},
            context.data(),
            imports,
            words,
        )
        body = writer.lines()
        problems += writer.problems
        made |= writer.data.imports
        lines += _function(unit, writer.said, body)
    if problems:
        raise CompileError(*problems)
    opening = _opening(title, context.data(), (imports, words, made), lines)
    return wrapped_text([*map(PlacedLine, opening), *lines])


def _function(
    unit: Routine, said: Callable[[str], str], body: list[PlacedLine]
) -> Iterator[PlacedLine]:
    """Yield a function with annotated arguments; for a program, also yield its call."""
    dummies = [f"{_named(name)}{said(name)}" for name in unit.dummies]
    yield from (PlacedLine(""), PlacedLine(""))
    opening, between = f"def {_named(unit.name)}(", ", ".join(dummies)
    if len(opening) + len(between) + len("):") <= _WIDTH:
        yield PlacedLine(f"{opening}{between}):", unit.place)
    else:
        yield PlacedLine(opening, unit.place)
        yield from (PlacedLine(f"{_STEP}{one},", unit.place) for one in dummies)
        yield PlacedLine("):", unit.place)
    yield from (line.indented() for line in body or [PlacedLine("pass")])
    if unit.kind is ScopeKind.PROGRAM:
        call = f"{_named(unit.name)}()"
        yield from map(PlacedLine, ["", "", 'if __name__ == "__main__":', f"{_STEP}{call}"])


def _opening(
    title: str,
    data: DataForm,
    needed: tuple[KernelImports, dict[str, None], dict[str, None]],
    lines: list[PlacedLine],
) -> list[str]:
    """Return the text before the functions: docstring and required imports."""
    imports, words, made = needed
    text = "\n".join(line.text for line in lines)
    opening = [f'"""{title}"""', ""]
    opening += ["import math", ""] if "math." in text else []
    opening += ["import numpy as np", ""] if "np." in text else []
    opening += [*imports.lines(), ""] if imports.homes else []
    opening += _imported(data.module, sorted([*words, _INVOKE], key=key_of))
    opening += [f"from {data.runtime} import {', '.join(sorted(made))}"] if made else []
    return opening


def _imported(module: str, words: list[str]) -> list[str]:
    """Return an import of names from a module as lines."""
    whole = f"from {module} import {', '.join(words)}"
    if len(whole) <= _WIDTH:
        return [whole]
    return [f"from {module} import (", *(f"{_STEP}{word}," for word in words), ")"]


def _scope(
    unit: Routine,
    around: tuple[Surrounding, ...],
    file: SourceFile,
    context: AlgorithmContext,
) -> CScope:
    """Return the scope of a unit for name lookup."""
    whole = file.source.whole()
    module = KernelModule(f"{unit.name} ", whole, unit.extent or whole, is_python=True)
    return CScope(replace(unit, module=module), context.around(around))


def _surroundings(file: SourceFile, unit: Routine) -> Iterator[Surrounding]:
    """Yield a unit and its enclosing units, starting with the innermost."""
    around = [one for one in file.every_unit() if unit in _within(one)]
    for one in (unit, *reversed(around)):
        uses = tuple(item.use for item in one.specification if isinstance(item, UseStatement))
        yield Surrounding(uses, one.name if one.kind is ScopeKind.MODULE else "")


def _within(unit: Routine) -> Iterator[Routine]:
    """Yield the procedures nested in a unit at any depth."""
    for inner in unit.contained:
        if isinstance(inner, Routine):
            yield inner
            yield from _within(inner)


def _counters(body: tuple[un.Line, ...]) -> frozenset[str]:
    """Return the loop variables in `body`, whose values after a loop differ in Python."""
    return frozenset(line.variable.key for line in walk_lines(body) if isinstance(line, un.Do))


def _named(name: str) -> str:
    return AlgorithmNames.name(name)


@dataclass(slots=True)
class _UnitWriter:
    """Translator of one procedure."""

    unit: Routine
    around: tuple[Surrounding, ...]
    home_of: HomeOf
    scope: CScope
    authors: frozenset[str]
    data: DataForm
    imports: KernelImports
    words: dict[str, None]
    problems: list[Diagnostic] = field(default_factory=list)
    ended: frozenset[str] = frozenset()
    taken: set[str] = field(default_factory=set)

    @property
    def declared(self) -> dict[str, un.Declare]:
        """Declarations of the unit by key."""
        return {
            one.key: one
            for item in self.unit.specification
            if isinstance(item, DeclarationStatement)
            for one in item.declares
        }

    @property
    def numbers(self) -> AlgorithmNames:
        """Writer of expressions."""
        dummies = frozenset(map(key_of, self.unit.dummies))
        return AlgorithmNames(
            self.scope,
            self.declared,
            dummies,
            self.ended,
            self.data.first,
            self.results,
            self.data.words,
            self.authors,
            bool(self.data.types),
        )

    @property
    def results(self) -> frozenset[str]:
        """Arguments that an invoke computes.

        A caller passes them as objects that contain a number.
        """
        found = {
            arg.items[0].key
            for line in walk_lines(self.unit.body) if isinstance(line, un.Call) and _is_invoke(line)
            for arg in line.args
            if isinstance(arg, ex.Index) and isinstance(arg.base, ex.Name) and arg.items
            and arg.base.key in self.data.reducing and isinstance(arg.items[0], ex.Name)
        }  # fmt: skip
        return frozenset(found & set(map(key_of, self.unit.dummies)))

    def said(self, name: str) -> str:
        """Return the type annotation of a variable, or '' if metadata determine its type."""
        declared = self.declared.get(key_of(name))
        if declared is None:
            return ""
        type_ = declared.type
        word = key_of(type_.name if isinstance(type_, DerivedType) else type_.kind or "")
        if type_ == ScalarType(Intrinsic.REAL):
            word = UNNAMED_REAL
        if word not in self.data.types:
            return ""
        self.words[word] = None
        extents = map(ex.integer_value, declared.shape)
        shape = ", ".join(":" if one is None else str(one) for one in extents)
        return f": {word}[{shape}]" if shape else f": {word}"

    def lines(self) -> list[PlacedLine]:
        """Return the body of the function."""
        found: list[PlacedLine] = []
        self._check_names()
        if self.unit.kind is ScopeKind.SEPARATE:
            self._refuse("its arguments are declared elsewhere", self.unit.place)
        for one in self.declared.values():
            if one.value is not None and "parameter" in one.attributes:
                try:
                    found.append(
                        PlacedLine(f"{_named(one.name)} = {self.numbers.assigned(one.value, one)}")
                    )
                except (NoPythonError, PrintError) as error:
                    self._refuse(error.reason, self.unit.place)
            elif one.value is not None:
                self._refuse(f"'{one.name}' keeps its value between calls", self.unit.place)
        found += self._block(self.unit.body)
        if self.unit.kind is ScopeKind.FUNCTION:
            try:
                found.append(PlacedLine(self._return(), self.unit.end))
            except (NoPythonError, PrintError) as error:
                self._refuse(error.reason, self.unit.place)
        return found

    def _return(self) -> str:
        """Return the statement that ends the procedure; a function returns its result."""
        if self.unit.kind is not ScopeKind.FUNCTION:
            return "return"
        result = ex.Name(self.unit.result or self.unit.name)
        declared = self.declared.get(result.key)
        if declared is None or declared.shape or isinstance(declared.type, DerivedType):
            raise NoPythonError(f"it is not declared that its result '{result.text}' is a number")
        return f"return {self.numbers.passed(result)}"

    def _check_names(self) -> None:
        """Record errors for different Fortran names that would become one Python name."""
        keys = {*self.declared, *map(key_of, self.unit.dummies), key_of(self.unit.name)}
        keys |= {item.key for one in self.around for use in one.uses for item in use.names}
        for key in sorted(keys):
            if (named := _named(key)) != key and named in keys:
                self._refuse(f"'{key}' and '{named}' would be one name", self.unit.place)

    def _refuse(self, why: str, place: Span | None) -> None:
        message = f"'{self.unit.name}' has no form in Python: {why}."
        where = place or self.unit.place
        self.problems.append(Diagnostic("G006", message, where, hint=_HINT))

    def _block(self, lines: Iterable[un.Line]) -> list[PlacedLine]:
        found: list[PlacedLine] = []
        for line in without_end(tuple(lines)):
            place = place_of_line(line)
            try:
                found += [one if one.place else PlacedLine(one.text, place)
                          for one in self._line(line)]  # fmt: skip
            except (NoPythonError, PrintError) as error:
                self._refuse(error.reason, place)
        return found

    def _inner(self, lines: tuple[un.Line, ...]) -> list[PlacedLine]:
        body = self._block(lines)
        if all(not line.text or line.text.startswith("#") for line in body):
            body.append(PlacedLine("pass"))
        return [line.indented() for line in body]

    def _line(self, line: un.Line) -> list[PlacedLine]:
        match line:
            case un.Blank():
                return [PlacedLine("")]
            case un.Comment(text):
                said = text.strip().lstrip("!<>").strip()
                return [PlacedLine(f"# {said}")] if said.strip("-=*") else []
            case un.Continue() | un.DirectiveLine():
                return []
            case un.Call() if _is_invoke(line):
                return [PlacedLine(text) for text in self._invoke(line)]
            case un.Call():
                return [PlacedLine(text) for text in self.data.called(self.numbers, line)]
            case un.Assign():
                return [PlacedLine(text) for text in self._assign(line)]
            case un.Return(None):
                return [PlacedLine(self._return())]
            case un.Exit("") | un.Cycle(""):
                return [PlacedLine("break" if isinstance(line, un.Exit) else "continue")]
        return self._control(line)

    def _control(self, line: un.Line) -> list[PlacedLine]:
        match line:
            case un.If():
                return self._if(line)
            case un.Select(word="case", alias=None):
                return self._select(line)
            case un.Do(name=""):
                return self._do(line)
            case un.While(name="", condition=condition):
                self.ended |= _counters(line.body)
                test = "True" if condition is None else self.numbers.condition(condition)
                body = self._inner(line.body)
                self.ended |= _counters(line.body)
                return [PlacedLine(f"while {test}:"), *body]
        raise NoPythonError("there are no words in Python for this statement")

    def _if(self, line: un.If) -> list[PlacedLine]:
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

    def _select(self, line: un.Select) -> list[PlacedLine]:
        """Return an `if` statement for a `select case` construct."""
        selector = self.numbers.whole(line.selector, Precedence.SUM)
        branches: list[un.Branch] = []
        otherwise: tuple[un.Line, ...] = ()
        for case in line.cases:
            if any(isinstance(one, ex.Range) for one in case.guards):
                raise NoPythonError("there are no words in Python for a range of values")
            tests = [ex.Binary(Operator.EQUAL, line.selector, guard) for guard in case.guards]
            if tests:
                condition = reduce(lambda one, other: ex.Binary(Operator.OR, one, other), tests)
                branches.append(un.Branch(condition, case.body, place=case.place))
            else:
                otherwise = case.body
        if not branches:
            raise NoPythonError(f"nothing is chosen by '{selector}'")
        return self._if(un.If(tuple(branches), otherwise))

    def _do(self, line: un.Do) -> list[PlacedLine]:
        step = 1 if line.step is None else ex.integer_value(line.step)
        if not step:
            raise NoPythonError("the step of this loop is not known")
        by, last = (1 if step > 0 else -1), ex.integer_value(line.stop)
        if last is not None:
            behind = str(last + by)
        else:
            stop = self.numbers.whole(line.stop, Precedence.SUM)
            behind = f"{stop} {'+' if by > 0 else '-'} 1"
        bounds = [self.numbers.whole(line.start), behind, *([str(step)] if step != 1 else [])]
        key = line.variable.key
        is_own = key in self.declared and key not in map(key_of, self.unit.dummies)
        if not is_own or self.numbers.type_of(line.variable) != INTEGER:
            raise NoPythonError(f"'{line.variable.text}' is no integer of its own")
        head = f"for {_named(line.variable.text)} in range({', '.join(bounds)}):"
        self.ended = (self.ended | _counters(line.body)) - {key}
        body = self._inner(line.body)
        self.ended |= _counters(line.body) | {key}
        return [PlacedLine(head, line.place), *body]

    # ------------------------------------------------------------------------ invokes

    def _invoke(self, call: un.Call) -> Iterator[str]:
        items: list[str] = []
        label = ""
        found: dict[str, str] = {}
        seen: set[str] = set()
        before: dict[str, str] = {}
        for arg in call.args:
            match arg:
                case ex.Keyword("name", ex.Literal(intrinsic=Intrinsic.CHARACTER) as text):
                    label = f'name="{text.value}"'
                case ex.Index(ex.Name() as name, given):
                    self._check_made(given)
                    passed = [self._passed(one, before) for one in given]
                    items.append(f"{self._kernel(name)}({', '.join(passed)})")
                    if name.key in self.data.reducing and passed[0] not in map(
                        _named, self.results
                    ):
                        result = self._result(given[0])
                        # What an earlier call of the invoke reads is the number from before.
                        found.setdefault(result, result if result in seen else "")
                    seen |= {_named(key) for one in given for key in names_in(one)}
                case _:
                    raise NoPythonError(f"'{ex.spell(arg)}' is no call of a kernel")
        self._check_computed(call, {*found, *map(_named, self.results)})
        if found:
            self.words["Result"] = None
        yield from (f"{name} = {without_brackets(text)}" for text, name in before.items())
        yield from (f"{one}{self.said(one)} = Result({value})" for one, value in found.items())
        yield from _laid_out(items, label)
        yield from (f"{one} = {one}.value" for one in found)

    def _passed(self, expr: ex.Expr, before: dict[str, str]) -> str:
        """Return a kernel argument; a computed value is assigned to a local variable in `before`.

        Equal expressions share one local variable, so that equal fields are recognised.
        """
        text = self.numbers.passed(expr)
        if is_passed_as_written(text):
            return text
        if text in before:
            return before[text]
        taken = {*self.declared, *map(key_of, self.unit.dummies), *self.taken}
        name = NameTable(map(_named, taken)).fresh("value")
        self.taken.add(name)
        before[text] = name
        return name

    def _check_computed(self, call: un.Call, found: set[str]) -> None:
        """Raise an error for an argument computed from a number that the same invoke computes."""
        for arg in call.args:
            for one in arg.items if isinstance(arg, ex.Index) else ():
                names = set(map(_named, names_in(one))) & found
                if names and not isinstance(one, ex.Name):
                    raise NoPythonError(
                        f"'{ex.spell(one)}' is computed from a number that the invoke finds"
                    )

    def _result(self, expr: ex.Expr) -> str:
        """Return the variable that receives a number computed by an invoke."""
        if not isinstance(expr, ex.Name) or expr.key in map(key_of, self.unit.dummies):
            raise NoPythonError(
                f"'{ex.spell(expr)}' is no number of its own, and an invoke finds it"
            )
        if expr.key in _counters(self.unit.body):
            raise NoPythonError(f"'{ex.spell(expr)}' counts a loop, and an invoke finds it")
        self.ended -= {expr.key}
        return _named(expr.text)

    def _check_made(self, given: tuple[ex.Expr, ...]) -> None:
        """Raise an error for data that no statement creates."""
        for expr in given:
            for part in ex.walk(expr):
                one = self.declared.get(part.key) if isinstance(part, ex.Name) else None
                if one is None or one.key in map(key_of, self.unit.dummies):
                    continue
                if isinstance(one.type, DerivedType) and not self.data.is_made(one.type.name):
                    raise NoPythonError(f"it is not known what '{one.name}' is made of")

    def _kernel(self, name: ex.Name) -> str:
        home = self.home_of(name.key, self.around)
        built_in = self.data.built_ins.get(name.key)
        if built_in is None:
            if home is None:
                raise NoPythonError(f"it is not known which module has the kernel '{name.text}'")
            return self.imports.named(_named(name.key), home)
        names = {*map(_named, self.declared), *self.imports.units}
        if home is not None or built_in in names:
            raise NoPythonError(f"'{name.text}' is a built-in, and something else")
        self.words[built_in] = None
        return built_in

    def _assign(self, line: un.Assign) -> Iterator[str]:
        made = self.data.made(self.numbers, line)
        if made is not None:
            yield from made
            return
        if not isinstance(line.target, ex.Name):
            raise NoPythonError(f"'{ex.spell(line.target)}' cannot be assigned to")
        key, name = line.target.key, _named(line.target.text)
        if key not in self.declared or key in map(key_of, self.unit.dummies):
            raise NoPythonError(f"'{line.target.text}' is known elsewhere, and is assigned to")
        yield f"{name} = {self.numbers.assigned(line.value, self.declared[key])}"
        self.ended -= {key}


def _laid_out(items: list[str], label: str) -> Iterator[str]:
    """Yield the lines of an invoke."""
    if label:
        items = [*items, label]
    whole = f"invoke({', '.join(items)})"
    if len(items) == 1 or (label and len(items) == 2 and len(whole) < _WIDTH - len(_STEP)):
        yield whole
        return
    yield "invoke("
    yield from (f"{_STEP}{item}," for item in items)
    yield ")"
