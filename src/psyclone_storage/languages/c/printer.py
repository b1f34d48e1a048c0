"""A kernel's subroutine, and the procedures that it calls, as functions of C.

    void continuity_code(const int32_t ji, ..., double *restrict ssha, const int64_t ssha_n1, ...)

Arguments are passed in Fortran's order: scalars that are only read by value, all else by pointers.
A pointer to an array of assumed shape is followed by its extents. Variables of modules are further
arguments, after the others. A procedure that cannot be printed as a whole is refused, with every
reason at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Callee, ModuleContext, Routine
from psyclone_storage.ir.typing import CScope, CType, PrintError
from psyclone_storage.ir.unit import Opaque
from psyclone_storage.languages.c import bounds
from psyclone_storage.languages.c.arrays import Arrays, room_for
from psyclone_storage.languages.c.calls import Calls, CFunction
from psyclone_storage.languages.c.code_buffer import RESERVED, CWriter, laid_out
from psyclone_storage.languages.c.expressions import Expressions
from psyclone_storage.languages.c.helpers import preamble
from psyclone_storage.languages.c.statements import Statements, problem
from psyclone_storage.languages.c.types import ArrayValue, CValue, is_number
from psyclone_storage.languages.c.variables import Variables

_HARMLESS = ("implicit none", "intrinsic", "external")


@dataclass(frozen=True, slots=True)
class CUnit:
    """C functions in which callees precede callers, with the helper functions that they use."""

    functions: tuple[CFunction, ...]
    helpers: frozenset[str]

    @property
    def main(self) -> CFunction:
        """The requested function."""
        return self.functions[-1]

    @property
    def shared(self) -> tuple[str, ...]:
        """The module variables that the requested function reads or changes."""
        return tuple(item.key for item in self.main.parameters if item.module)


def print_c(code: Routine, around: ModuleContext) -> CUnit:
    """Return the subroutine `code` and all procedures that it calls as C functions.

    Raises:
        CompileError: `G004`, every statement and declaration that has no form in C.
    """
    program = _Program(around)
    function = program.printed(Callee(code))
    assert function is program.functions[-1]
    return CUnit(tuple(program.functions), frozenset(program.helpers))


def check_nothing(_code: Routine, _unit: CUnit) -> list[Diagnostic]:
    """Return an empty list: no additional check."""
    return []


def print_together(
    kernels: Iterable[Routine],
    callers: Iterable[Routine],
    around: ModuleContext,
    check: Callable[[Routine, CUnit], list[Diagnostic]] = check_nothing,
) -> CUnit:
    """Return kernels, followed by subroutines that call them, as C functions without duplicates.

    The kernels must not call procedures.

    Raises:
        CompileError: `G004` as for `print_c`, and the diagnostics that `check` returns. They cover
            all kernels, or only the first caller with an error.
    """
    program = _Program(replace(around, procedures=lambda _module, _name: ()))
    problems: list[Diagnostic] = []
    for code in kernels:
        try:
            function = program.printed(Callee(code))
        except CompileError as error:
            problems += error.problems
        else:
            problems += check(code, CUnit((function,), frozenset()))
    if problems:
        raise CompileError(*problems)
    program.around = around
    for code in callers:
        program.printed(Callee(code))
    return CUnit(tuple(program.functions), frozenset(program.helpers))


def emit_c(units: tuple[CUnit, ...]) -> str:
    """Return a C file with the functions of `units`, without duplicates."""
    helpers = frozenset[str]().union(*(unit.helpers for unit in units))
    functions: dict[str, CFunction] = {}
    own = {unit.main.name for unit in units}
    for unit in units:
        for function in unit.functions:
            functions.setdefault(function.name, function)
    texts = [preamble(helpers)]
    for name, function in functions.items():
        texts.append(function_text(function, "" if name in own else "static "))
    return "\n".join(texts)


def function_text(function: CFunction, before: str = "") -> str:
    """Return the text of a function; `before` is put before its declaration."""
    return "\n".join((*function.head_lines(before), "{", *function.lines, "}", ""))


@dataclass
class _Program:
    """Functions printed so far."""

    around: ModuleContext
    functions: list[CFunction] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    _open: list[tuple[str, str]] = field(default_factory=list)

    def printed(self, callee: Callee) -> CFunction:
        """Return the function of a procedure; print it if necessary."""
        code = callee.code
        key = (code.module.key, code.key)
        for function in self.functions:
            if function.key == key:
                return function
        if key in self._open:
            raise PrintError(f"'{code.name}' calls itself", code.name)
        self._open.append(key)
        try:
            function = _Routine(callee, self, key).function()
        except CompileError as error:
            if len(self._open) == 1:
                raise
            first = error.problems[0]
            where = f" (line {first.span.line} of '{first.span.source.name}')" if first.span else ""
            reason = first.message.partition(": ")[2].removesuffix(".")
            raise PrintError(
                f"'{code.name}' is not printed, as {reason}{where}", code.name
            ) from error
        finally:
            self._open.pop()
        self.functions.append(function)
        return function

    def name(self, key: tuple[str, str]) -> str:
        """Return a C name for the function of a procedure."""
        taken = {function.name for function in self.functions}
        name = key[1]
        while name in taken or name in RESERVED:
            name = f"{key[0]}_{name}"
        return name


class _Routine:
    """Printer of one procedure."""

    def __init__(self, callee: Callee, program: _Program, key: tuple[str, str]) -> None:
        self._callee = callee
        self._program = program
        self._key = key
        self._code = callee.code
        self._scope = CScope(callee.code, program.around)
        self._writer = CWriter()
        self._variables = Variables(self._scope, self._writer, self._evaluate)
        self._arrays = Arrays(self._writer, self._evaluate)
        self._expressions = Expressions(
            self._writer, self._variables, self._arrays.transforming, self._function_called
        )
        self._calls = Calls(
            self._writer, self._expressions, self._arrays, program.around, program.printed
        )

    def _evaluate(self, expr: Expr, scope: CScope) -> CValue | ArrayValue:
        return self._expressions.evaluate(expr, scope)

    def _function_called(
        self, key: str, args: tuple[Expr, ...], scope: CScope
    ) -> CValue | ArrayValue:
        return self._calls.function(key, args, scope)

    def function(self) -> CFunction:
        """Return the printed function.

        Raise `CompileError` with all constructs that C cannot express.
        """
        problems = self._declared()
        unclear = [problem(error, None, self._scope) for error in self._variables.declare_dummies()]
        problems += unclear
        result = self._result(problems)
        returned = f" {self._name_of_result()}" if result is not None else ""
        statements = Statements(
            self._writer, self._scope, self._expressions, self._arrays, self._calls.subroutine,
            returned, problems,
        )  # fmt: skip
        if not unclear:
            statements.lines(self._code.body)
        lines: tuple[str, ...] = ()
        if not problems:
            with statements.caught(None):
                lines = self._lines(returned)
        if problems:
            raise CompileError(*_each_once(problems))
        self._program.helpers |= self._writer.helpers
        parameters = tuple(self._variables.parameters.values())
        name = self._program.name(self._key)
        automatic = tuple(self._writer.automatic)
        return CFunction(self._key, name, parameters, result, lines, automatic)

    def _declared(self) -> list[Diagnostic]:
        """Return diagnostics for internal procedures and declarations that cannot be printed."""
        problems: list[Diagnostic] = []
        for item in self._code.declarations:
            if isinstance(item, Opaque) and not _is_harmless(item.text):
                refusal = PrintError(
                    f"the declaration '{item.text.splitlines()[0]}' is not printed"
                )
                problems.append(problem(refusal, item.place, self._scope))
        if self._code.internal is not None:
            refusal = PrintError("it has procedures of its own")
            problems.append(problem(refusal, None, self._scope))
        return problems

    def _result(self, problems: list[Diagnostic]) -> CType | None:
        """Return the type of a function's scalar value, or None.

        Make an array result an argument.
        """
        if not self._callee.result:
            return None
        try:
            symbol = self._scope.symbol(self._callee.result)
            type_ = self._scope.type_of(symbol)
            if not symbol.shape:
                self._variables.value(symbol.key, self._scope)
                return type_
            self._variables.add_result(symbol)
        except PrintError as refusal:
            problems.append(problem(refusal, None, self._scope))
        return None

    def _name_of_result(self) -> str:
        value = self._variables.value(self._callee.result, self._scope)
        assert isinstance(value, CValue)
        return value.text

    def _lines(self, returned: str) -> tuple[str, ...]:
        """Return the lines of the body: declarations, initialisations and statements."""
        variables, writer = self._variables, self._writer
        for parameter in tuple(variables.parameters.values()):
            if parameter.assumed:
                variables.array(parameter.key, self._scope)
        rooms = {
            array.name: room_for(array.name, array.extents(), writer)
            for array in variables.local_arrays.values()
        }
        arrays = [
            (1, f"{array.type.name} {array.name}[{rooms[array.name]}];")
            for array in variables.local_arrays.values()
        ]
        scalars: dict[str, list[str]] = {}
        for key, type_ in variables.locals.items():
            value = variables.value(key, self._scope)
            assert isinstance(value, CValue)
            scalars.setdefault(type_.name, []).append(value.text)
        declared = [(1, f"{name} {', '.join(keys)};") for name, keys in scalars.items()]
        checks = [] if returned else self._checks_of_room(rooms)
        head = laid_out([*declared, *writer.prologue, *checks, *arrays])
        body = laid_out(writer.body)
        last = [f"    return{returned};"] if returned else []
        return (*head, *([""] if head and body else []), *body, *last)

    def _checks_of_room(self, rooms: Mapping[str, str]) -> list[tuple[int, str]]:
        """Return the statement that ends a kernel in Python whose arrays are too large to exist."""
        name = next((name for name, room in rooms.items() if not is_number(room)), None)
        if name is None or not self._code.module.is_python:
            return []
        for helper in (bounds.HELPER, bounds.ROOM):
            self._writer.helper(helper)
        where = bounds.CheckedPlace(self._code.name, self._code.place_of(name), name)
        return [(1, f"if (!{bounds.check_of_room([*rooms.values()], where)})"), (2, "return;")]


def _is_harmless(text: str) -> bool:
    return " ".join(key_of(text).split()).startswith(_HARMLESS)


def _each_once(problems: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in source order without duplicates."""
    found: dict[tuple[int, str], Diagnostic] = {}
    for item in problems:
        found.setdefault((item.span.start if item.span else 0, item.message), item)
    return tuple(found[key] for key in sorted(found))
