"""Side effects of statements other than assignments to local variables, and their call sites.

Effects on paths that certainly end the program are ignored: after `stop`, no result depends on data
that threads changed concurrently. `ends` identifies statements other than `stop` that end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import DEFINED, SUBROUTINES
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import AnyOperator, DefinedOperator, OperatorKind
from psyclone_storage.ir.rewrite import blocks_of, expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

Ends = Callable[[un.Line], bool]
"""A function that returns whether a statement certainly ends the program."""

ASSIGNMENT = "assignment(=)"
_JUMPS = (un.Return, un.Cycle, un.Exit, un.Goto, un.Opaque)
_MESSAGE_UNITS = frozenset({"output_unit", "error_unit"})
_GENERATOR = "it changes the state of the random number generator"
ACTIONS = {
    "random_seed": _GENERATOR,
    "random_init": _GENERATOR,
    "execute_command_line": "it runs a command of the operating system",
}
"""The effects of intrinsic subroutines on something other than their arguments."""
_NO_NUMBERS = (Intrinsic.LOGICAL, Intrinsic.CHARACTER)
_OPERANDS: dict[OperatorKind | None, set[Intrinsic]] = {
    OperatorKind.ARITHMETIC: {Intrinsic.REAL},
    OperatorKind.CONCATENATION: {Intrinsic.CHARACTER},
    OperatorKind.LOGICAL: {Intrinsic.LOGICAL},
    OperatorKind.RELATIONAL: {Intrinsic.REAL, Intrinsic.CHARACTER},
}
"""The types to which intrinsic operators apply; `REAL` represents all numeric types."""
_OPAQUE_CALL = regex(r"\bcall\s+([a-z]\w*)", re.IGNORECASE)
_OPAQUE_OPERATOR = regex(
    r"(?<![\d.])\.(?!(?:not|and|or|eqv|neqv|eq|ne|lt|le|gt|ge|true|false)\.)[a-z]+\.",
    re.IGNORECASE,
)
_OPAQUE_FILE = regex(
    r"^\s*(?:if\s*\(.*\)\s*)?(read|open|close|rewind|backspace|endfile)\s*\(",
    re.IGNORECASE | re.MULTILINE,
)


FINAL_PATTERN = regex(r"^[ \t]*final\b\s*(?:::)?\s*\w", re.IGNORECASE | re.MULTILINE)
OVERLOADS = regex(
    r"\b(?:interface|generic\b[^:\n]*::)[\s&]*(?:operator|assignment|read|write)\s*\("
    rf"|{FINAL_PATTERN.pattern}",
    re.IGNORECASE | re.MULTILINE,
)
"""Statements of a module that define operators, assignments or I/O procedures."""
_THREADPRIVATE = regex(r"!\$omp\s+threadprivate\s*\((?P<names>[^)]*)\)", re.IGNORECASE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProcedureCall:
    """A call of a subroutine or function: the procedure designator and the arguments."""

    procedure: ex.Expr
    args: tuple[ex.Expr, ...] = ()
    place: Span | None = None

    def dummies(self, at: int, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of a procedure's dummy arguments that may be the argument at `at`.

        A type-bound procedure may get the object as any argument, or not at all.
        """
        arg = self.args[at]
        if isinstance(arg, ex.Keyword):
            return (arg.key,)
        return keys[at : at + (2 if isinstance(self.procedure, ex.Member) else 1)]


@dataclass(frozen=True, slots=True)
class Effect:
    """A side effect on something other than a variable: a description and its place."""

    text: str
    place: Span | None


def base_of(target: ex.Expr) -> str:
    """Return the key of the variable that `target` is part of; else an empty string."""
    while isinstance(target, ex.Index | ex.Member | ex.Keyword):
        target = target.value if isinstance(target, ex.Keyword) else target.base
    return target.key if isinstance(target, ex.Name) else ""


def continuing(lines: Iterable[un.Line], ends: Ends) -> Iterator[un.Line]:
    """Yield the statements, nested ones included, after which the program may continue.

    Blocks that certainly end the program are omitted.
    """
    block = tuple(lines)
    if _ends(block, ends):
        return
    for line in block:
        yield line
        for inner in blocks_of(line):
            yield from continuing(inner, ends)


def _ends(block: tuple[un.Line, ...], ends: Ends) -> bool:
    """Return whether executing `block` always ends the program."""
    for line in block:
        if isinstance(line, un.Stop) or ends(line):
            return True
        if any(isinstance(inner, _JUMPS) for inner in walk_lines((line,))):
            return False
    return False


# ---------------------------------------------------------------------------- files


def is_internal(line: un.InputOutput, code: Routine) -> bool:
    """Return whether an I/O statement uses a character variable as an internal file."""
    if line.word not in ("read", "write"):
        return False
    unit = unit_of(line)
    if not isinstance(unit, ex.Name | ex.Index | ex.Member):
        return False
    declared = code.symbol(base_of(unit)).type
    return declared is None or not (
        isinstance(declared, ScalarType) and declared.intrinsic is Intrinsic.INTEGER
    )


def other_effects(lines: Iterable[un.Line], code: Routine) -> Iterator[Effect]:
    """Yield the effects of `lines` on files and on the random number generator.

    Messages to standard output and standard error are ignored: only their order may change.
    """
    for line in lines:
        place = place_of_line(line)
        if isinstance(line, un.InputOutput) and _uses_file(line, code):
            yield Effect(f"it uses a file ('{line.word}')", place)
        elif isinstance(line, un.Opaque) and (found := _OPAQUE_FILE.search(line.text)):
            yield Effect(f"it uses a file ('{key_of(found[1])}')", place)
        elif isinstance(line, un.Call) and (name := intrinsic_subroutine(line, code)) in ACTIONS:
            yield Effect(ACTIONS[name], place)


def intrinsic_subroutine(line: un.Call, code: Routine) -> str:
    """Return the name of the intrinsic subroutine that a statement calls, or ""."""
    if not isinstance(line.procedure, ex.Name):
        return ""
    symbol = code.symbol(line.procedure.key)
    return symbol.key if symbol.origin is ex.Origin.INTRINSIC else ""


def defined_arguments(line: un.Call, code: Routine) -> Iterator[ex.Expr]:
    """Yield the arguments that a call of an intrinsic subroutine may define."""
    name = intrinsic_subroutine(line, code)
    if name not in DEFINED:
        return
    for dummy, arg in zip(SUBROUTINES[name], line.args, strict=False):
        key = arg.key if isinstance(arg, ex.Keyword) else dummy
        if key in DEFINED[name]:
            yield arg.value if isinstance(arg, ex.Keyword) else arg


def _uses_file(line: un.InputOutput, code: Routine) -> bool:
    if line.word in ("inquire", "flush", "print") or is_internal(line, code):
        return False
    return line.word != "write" or not _is_for_messages(unit_of(line), code)


def _is_for_messages(unit: ex.Expr | None, code: Routine) -> bool:
    if isinstance(unit, ex.Star):
        return True
    if isinstance(unit, ex.Name):
        symbol = code.symbol(unit.key)
        return symbol.origin is ex.Origin.IMPORTED and key_of(symbol.name) in _MESSAGE_UNITS
    return False


def unit_of(line: un.InputOutput) -> ex.Expr | None:
    """Return the I/O unit of a statement, or None if it has none."""
    for at, control in enumerate(line.controls):
        if isinstance(control, ex.Keyword):
            if control.key == "unit":
                return control.value
        elif at == 0:
            return control
    return None


# ---------------------------------------------------------------------------- other names


def names_behind(code: Routine) -> dict[str, frozenset[str]]:
    """Return, for each name that may alias other variables, the names of these variables.

    Such names are pointers, also in copied or constructed objects, and `associate` names.
    """
    found: dict[str, frozenset[str]] = {}
    pairs = []
    for line in walk_lines(code.body):
        if isinstance(line, un.PointerAssign):
            pairs.append((base_of(line.target), base_of(line.value)))
        elif isinstance(line, un.Associate):
            pairs += [(name.key, base_of(value)) for name, value in line.pairs]
        elif isinstance(line, un.Assign) and has_pointers(line.target, code):
            parts = line.value.items if isinstance(line.value, ex.Index) else ()
            pairs += [(base_of(line.target), base_of(one)) for one in (line.value, *parts)]
        elif isinstance(line, un.Allocate):
            named = [one for one in line.arrays if isinstance(one, ex.Keyword)]
            values = [base_of(one.value) for one in named if one.key == "source"]
            objects = [one for one in line.arrays if has_pointers(one, code)]
            pairs += [(base_of(one), value) for one in objects for value in values]
        elif isinstance(line, un.Select) and line.alias is not None:
            pairs.append((line.alias.key, base_of(line.selector)))
    pairs = [(name, value) for name, value in pairs if name and value]
    for _ in pairs:
        for name, value in pairs:
            found[name] = found.get(name, frozenset()) | {value} | found.get(value, frozenset())
    return found


def has_pointers(target: ex.Expr, code: Routine) -> bool:
    """Return whether a variable is an object with pointer components."""
    kind = Typing(code.symbol, code.structure).type_of(target)
    own = code.structure(kind) if isinstance(kind, DerivedType) else None
    return own is not None and any("pointer" in part.attributes for part in own.components)


def threadprivate_in(text: str) -> frozenset[str]:
    """Return the keys of the names in the `threadprivate` directives in a text."""
    listed = " ".join(found["names"] for found in _THREADPRIVATE.finditer(text))
    return frozenset(map(key_of, _WORD.findall(listed)))


# ---------------------------------------------------------------------------- calls


def module_of(kind: DerivedType, code: Routine) -> str:
    """Return the module that defines a derived type, in lower case."""
    return key_of(kind.module or code.symbol(kind.name).module or code.module.name)


def call_sites(
    lines: Iterable[un.Line], code: Routine, *, overloaded: bool = False
) -> Iterator[ProcedureCall]:
    """Yield the calls in `lines` of `code`: subroutines, functions in expressions, operators.

    A procedure that is passed as an argument counts as called. Operators and assignments that may
    be user-defined are calls of `operator(+)` etc. and `assignment(=)`; I/O of derived types calls
    `write(formatted)` etc. If `overloaded` is false, operators of intrinsic types are intrinsic.
    """
    typing = Typing(code.symbol, code.structure) if overloaded or _has_structures(code) else None
    is_function = cache(lambda key: _is_function(code.symbol(key)))
    for line in lines:
        place = place_of_line(line)
        parts = expressions_of(line)
        if isinstance(line, un.Call):
            yield ProcedureCall(line.procedure, line.args, place)
            parts = parts[1:]
        elif isinstance(line, un.Opaque):
            yield from _in_opaque(line, code)
        elif typing:
            yield from _by_language(line, typing)
        for expr in parts:
            for part in ex.walk(expr):
                yield from _called_by(part, is_function, typing, place)
    opaque = [item.names for item in code.declarations if isinstance(item, un.Opaque)]
    for key in sorted(frozenset[str]().union(*opaque)):
        if is_function(key):
            yield ProcedureCall(ex.Name(key))


def defined_operations(line: un.Line, typing: Typing) -> Iterator[ProcedureCall]:
    """Yield the calls of user-defined operators and assignments that `line` may contain.

    An assignment of a derived type counts, although it may be intrinsic.
    """
    if isinstance(line, un.Assign):
        yield from _by_language(line, typing)
    place = place_of_line(line)
    for expr in expressions_of(line):
        for part in ex.walk(expr):
            if isinstance(part, ex.Unary | ex.Binary):
                yield from _called_by(part, lambda _: False, typing, place)


def _by_language(line: un.Line, typing: Typing) -> Iterator[ProcedureCall]:
    """Yield the calls of user-defined assignment or I/O procedures."""
    place = place_of_line(line)
    if isinstance(line, un.Assign) and _is_defined(None, typing, line.target, line.value):
        yield ProcedureCall(ex.Name(ASSIGNMENT), (line.target, line.value), place)
    elif isinstance(line, un.InputOutput):
        word = "read" if line.word == "read" else "write"
        for item in line.items:
            if isinstance(typing.type_of(item), DerivedType):
                for form in ("formatted", "unformatted"):
                    yield ProcedureCall(ex.Name(f"{word}({form})"), (item,), place)


def set_functions(code: Routine) -> Iterator[str]:
    """Yield the functions whose pointer result is the target of an assignment."""
    for line in walk_lines(code.body):
        target = line.target if isinstance(line, un.Assign) else None
        while isinstance(target, ex.Index | ex.Member):
            target = target.base
            if isinstance(target, ex.Name) and code.symbol(target.key).sort is ex.Sort.FUNCTION:
                yield target.key


def _has_structures(code: Routine) -> bool:
    """Return whether any variable or function in `code` has a derived type."""
    symbols = code.module.symbols.symbols.values()
    types = [symbol.type for symbol in symbols]
    types += [item.type for item in code.declarations if isinstance(item, un.Declare)]
    return any(isinstance(one, DerivedType) for one in types) or any(
        symbol.sort is ex.Sort.TYPE for symbol in symbols
    )


def _is_defined(kind: OperatorKind | None, typing: Typing, *operands: ex.Expr) -> bool:
    """Return whether an operation or assignment with these operands may be user-defined."""
    types = [typing.type_of(operand) for operand in operands]
    if any(isinstance(one, DerivedType) for one in types):
        return True
    found = {one.intrinsic for one in types if isinstance(one, ScalarType)}
    sorts = {one if one in _NO_NUMBERS else Intrinsic.REAL for one in found}
    return len(sorts) > 1 or (kind in _OPERANDS and not sorts <= _OPERANDS[kind])


def _called_by(
    part: ex.Expr, is_function: Callable[[str], bool], typing: Typing | None, place: Span | None
) -> Iterator[ProcedureCall]:
    match part:
        case ex.CallFunction(base, items) | ex.Unresolved(base, items):
            yield ProcedureCall(base, items, place)
        case ex.Name() if is_function(part.key):
            yield ProcedureCall(part, (), place)
        case ex.Unary(op, operand) if _is_called(op, typing, operand):
            yield ProcedureCall(ex.Name(f"operator({op.spelling})"), (operand,), place)
        case ex.Binary(op, left, right) if _is_called(op, typing, left, right):
            yield ProcedureCall(ex.Name(f"operator({op.spelling})"), (left, right), place)


def _is_called(op: AnyOperator, typing: Typing | None, *operands: ex.Expr) -> bool:
    """Return whether an operator may be a user-defined procedure."""
    if isinstance(op, DefinedOperator):
        return True
    return typing is not None and _is_defined(op.kind, typing, *operands)


def _is_function(symbol: ex.Symbol) -> bool:
    around = symbol.origin in (ex.Origin.HOST, ex.Origin.IMPORTED)
    return around and symbol.is_called


def _in_opaque(line: un.Opaque, code: Routine) -> Iterator[ProcedureCall]:
    called = {key_of(name) for name in _OPAQUE_CALL.findall(line.text)}
    called |= {key for key in line.names if _is_function(code.symbol(key))}
    called |= {f"operator({key_of(word)})" for word in _OPAQUE_OPERATOR.findall(line.text)}
    for key in sorted(called):
        yield ProcedureCall(ex.Name(key), (), place_of_line(line))
