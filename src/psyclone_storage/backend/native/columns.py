"""Units for LFRic as a module of Python, which binds data, and a file of C, which computes.

What a routine does between two exchanges is one function of C, printed as a subroutine of typed
code is: its arguments are the arrays, numbers and scalars that its statements name. What does not
change for the same data is found once by a function `_..._setup`. What a function reduces to it
gives back through a pointer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.backend.c.calls import CFunction
from psyclone_storage.backend.c.helpers import RANDOM, preamble
from psyclone_storage.backend.c.printer import CUnit, function_text, print_c, print_together
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.backend.meshes import abi
from psyclone_storage.backend.meshes.exact_sums import is_exact_sum
from psyclone_storage.backend.native.around import modules_around
from psyclone_storage.backend.native.column_lines import is_computed, set_between
from psyclone_storage.backend.native.loops import ENTRY, LoopsFunction, ScalarArgument, wrapped
from psyclone_storage.backend.native.ordering import given_to, imports_of, in_order
from psyclone_storage.backend.native.printer import NativeTexts
from psyclone_storage.backend.numpy.printer import indented, laid_out, lines_of, text_of
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.code import KernelCode, KernelModule
from psyclone_storage.ir.expr import (
    CallFunction,
    Element,
    Expr,
    Name,
    Origin,
    Sort,
    Star,
    Symbol,
    integer_value,
    walk,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, rewritten, walk_lines
from psyclone_storage.ir.symbols import SymbolTable
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Call,
    Comment,
    Declare,
    Do,
    HoldData,
    Line,
    Routine,
    Unit,
)

_LIBRARY = "_LIBRARY"
_DTYPES = {Intrinsic.REAL: "f8", Intrinsic.INTEGER: "i4"}
_C_TYPES = {"f8": "c_double", "i4": "c_int32"}
_NOWHERE = SourceText("generated", "")


def emit_python(unit: Unit, inlined: InlinedProcedures) -> str:
    """Return the module of Python alone."""
    return emit_columns(unit, inlined).python


def emit_c_beside(unit: Unit, inlined: InlinedProcedures) -> tuple[tuple[str, str], ...]:
    """Return the file of C that belongs beside the module: what its name ends in, and its text."""
    return ((".c", emit_columns(unit, inlined).c),)


def emit_columns(unit: Unit, inlined: InlinedProcedures) -> NativeTexts:
    """Return the texts of a module.

    Raises:
        CompileError: G004, a kernel has no form in C; G010, something else has none.
    """
    if foreign := [use.module for use in unit.uses if use.module]:
        message = f"Programs in Python have no module '{foreign[0]}'."
        raise CompileError(Diagnostic("G010", message, hint="Leave out what asks for it."))
    codes = {code.key: code for code in inlined.codes}
    _check_kernels(codes.values())
    plans = [_planned(routine, codes) for routine in unit.routines]
    loops = tuple(part.code for plan in plans for part in plan.parts)
    printed = print_together(loops, modules_around(codes)) if loops else CUnit((), frozenset())
    found = {function.name: function for function in printed.functions}
    made = [_made(plan, found, inlined.codes) for plan in plans]
    return NativeTexts(_python(unit, made), _c_text(unit, printed, made))


def _check_kernels(codes: Iterable[KernelCode]) -> None:
    """Print each kernel alone, so that all that is wrong with any has its own place."""
    problems: list[Diagnostic] = []
    for code in codes:
        try:
            print_c(code, modules_around({}))
        except CompileError as error:
            problems += error.problems
    if problems:
        raise CompileError(*problems)


# ---------------------------------------------------------------------------- what there is


@dataclass(frozen=True, slots=True)
class _ComputedPart:
    """Statements that one function of C does, as a subroutine, and what they reduce to.

    What is `exact` is summed into without rounding.
    """

    code: KernelCode
    reduced: tuple[str, ...]
    exact: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PlannedRoutine:
    """A routine before it is printed: its set-up, what it holds, and its parts for C."""

    routine: Routine
    before: tuple[Line, ...]
    held: HoldData | None
    parts: tuple[_ComputedPart, ...]


@dataclass(frozen=True, slots=True)
class _ColumnsRoutine:
    """A routine in Python: its functions in C, its set-up, its lines."""

    plan: _PlannedRoutine
    functions: tuple[LoopsFunction, ...]
    setup: tuple[str, ...]
    lines: tuple[str, ...]


def _planned(routine: Routine, codes: Mapping[str, KernelCode]) -> _PlannedRoutine:
    before = tuple(line for line in routine.body if not isinstance(line, HoldData))
    held = next((line for line in routine.body if isinstance(line, HoldData)), None)
    parts: list[_ComputedPart] = []
    data = frozenset(key_of(item.array) for item in held.items) if held else frozenset[str]()

    def collect(number: int, lines: tuple[Line, ...]) -> LoopsFunction:
        parts.append(_part(f"{routine.name}_{number}_loops", lines, routine, (codes, data)))
        return LoopsFunction("", "", ())

    if held is not None:
        in_order(held.body, collect, is_computed)
    return _PlannedRoutine(routine, before, held, tuple(parts))


def _part(
    name: str,
    lines: tuple[Line, ...],
    routine: Routine,
    about: tuple[Mapping[str, KernelCode], frozenset[str]],
) -> _ComputedPart:
    """Return statements as a subroutine, whose arguments are what they name.

    It is told `about` kernels, and which arrays have the values of data.
    """
    codes, data = about
    lines = rewritten(lines, _with_function)
    used = _names(lines)
    known = {item.key: item for item in (*routine.dummies, *routine.variables)}
    assigned = tuple(dict.fromkeys(_assigned(lines)))
    own = {item.key for item in routine.dummies}
    reduced = tuple(known[key].name for key in assigned if key in own)
    exact = tuple(known[key].name for key in used if key in known and is_exact_sum(known[key]))
    declared = [replace(known[key_of(one)], attributes=("intent(inout)",)) for one in exact]
    for key in used:
        if key in known and key not in assigned and known[key].name not in exact:
            declared += [_argument(known[key], written=key in data), *_extents(known[key])]
    declared += [_plain(known[key]) for key in assigned]
    declared += [_result(known[key_of(one)]) for one in reduced]
    dummies = tuple(item.name for item in declared if item.attributes)
    lines += tuple(Assign(Name(_found(one)), Name(one)) for one in reduced)
    module = _module(routine.name, [codes[key] for key in used if key in codes])
    return _ComputedPart(KernelCode(name, dummies, tuple(declared), lines, module), reduced, exact)


def _with_function(line: Line) -> tuple[Line, ...]:
    """Return an assignment for the call that asks for a pseudo-random number."""
    match line:
        case Call(Name(key="random_number"), (target,)):
            return (Assign(target, CallFunction(Name(RANDOM), ())),)
    return (line,)


def _module(name: str, called: list[KernelCode]) -> KernelModule:
    """Return a module that imports kernels."""
    symbols = {
        code.key: Symbol(
            code.key, code.key, Origin.IMPORTED, Sort.PROCEDURE, module=code.module.name
        )
        for code in called
    }
    place = _NOWHERE.whole()
    return KernelModule(name, place, place, symbols=SymbolTable(symbols))


def _names(lines: tuple[Line, ...]) -> dict[str, None]:
    """Return the names in statements, in lower case, in the order of their appearance."""
    found: dict[str, None] = {}
    for line in walk_lines(lines):
        for expr in expressions_of(line):
            for part in walk(expr):
                if isinstance(part, Name):
                    found[part.key] = None
    return found


def _assigned(lines: Iterable[Line]) -> Iterator[str]:
    """Yield the scalars that statements assign or count."""
    for line in walk_lines(tuple(lines)):
        match line:
            case Do(variable=variable):
                yield variable.key
            case Assign(target=Name(key=key)):
                yield key


def _plain(item: Declare) -> Declare:
    return Declare(item.name, item.type)


def _argument(item: Declare, *, written: bool) -> Declare:
    """Return the declaration of what a function is passed; of an array the last extent is open."""
    if not item.shape:
        return Declare(item.name, item.type, ("intent(in)",))
    intent = "intent(inout)" if written else "intent(in)"
    extents = tuple(Name(_extent(item, at)) for at in range(1, len(item.shape)))
    return Declare(item.name, item.type, (intent,), (*extents, Star()))


def _extents(item: Declare) -> Iterator[Declare]:
    for at in range(1, len(item.shape)):
        yield Declare(_extent(item, at), ScalarType(Intrinsic.INTEGER), ("intent(in)",))


def _extent(item: Declare, at: int) -> str:
    return f"{item.name}_n{at}"


def _result(item: Declare) -> Declare:
    return Declare(_found(item.name), item.type, ("intent(inout)",))


def _found(name: str) -> str:
    return f"{name}_found"


# ---------------------------------------------------------------------------- printing


def _made(
    plan: _PlannedRoutine, printed: Mapping[str, CFunction], codes: tuple[KernelCode, ...]
) -> _ColumnsRoutine:
    routine, held = plan.routine, plan.held
    if held is None:
        return _ColumnsRoutine(plan, (), (), tuple(lines_of(plan.before, {})))
    tables, counts, setup = _set_up(plan)
    names = NameTable(item.name for item in routine.dummies)
    run = names.fresh("run")

    def function(number: int, _lines: tuple[Line, ...]) -> LoopsFunction:
        part = plan.parts[number - 1]
        name = f"{routine.name}_{number}"
        return _function(name, part, printed[part.code.key], (plan, tables, counts))

    lines = in_order(held.body, function, is_computed)
    functions = [one for one in lines if isinstance(one, LoopsFunction)]
    imports, called = imports_of(functions, codes, names)
    text = [
        *(f"# {text_of(item.owner)}: {item.why}" for item in held.items),
        *imports,
        *(
            f'{abi.CHECK_VECTOR}({name}, {len(parts)}, "{name}")'
            for name, parts in _vectors(plan).items()
        ),
        f"with {_object_name(routine)}({_passed(plan)}) as {run}:",
        *indented(_body(lines, plan.parts, run, called)),
    ]
    return _ColumnsRoutine(plan, tuple(functions), tuple(setup), tuple(text))


def _body(
    lines: list[str | LoopsFunction],
    parts: tuple[_ComputedPart, ...],
    run: str,
    called: Mapping[ScalarArgument, str],
) -> Iterator[str]:
    """Yield what a routine does while data are held: functions are called by their numbers."""
    functions = [one for one in lines if isinstance(one, LoopsFunction)]
    for one in lines:
        if isinstance(one, str):
            yield one
        else:
            part = parts[functions.index(one)]
            yield from _run(run, given_to(functions, one, called), part)


def _run(run: str, given: str, part: _ComputedPart) -> Iterator[str]:
    """Yield the call of a function, and what becomes of what it reduces to."""
    declared = {item.name: item for item in part.code.declarations if isinstance(item, Declare)}
    for name in part.reduced:
        yield f"{_found(plain(name))} = ctypes.{_C_TYPES[_dtype(declared[name])]}()"
    found = "".join(f", {plain(name)}.{abi.ADDRESS}" for name in part.exact)
    found += "".join(f", ctypes.addressof({_found(plain(name))})" for name in part.reduced)
    yield f"{run}({given}{found})"
    for name in part.reduced:
        yield f"{plain(name)}.{abi.VALUE} = {_found(plain(name))}.{abi.VALUE}"


def _function(
    name: str,
    part: _ComputedPart,
    function: CFunction,
    about: tuple[_PlannedRoutine, tuple[str, ...], tuple[tuple[str, str], ...]],
) -> LoopsFunction:
    """Return the function that Python calls, which passes what is in tables."""
    plan, *_ = about
    places = _places(*about)
    results = {key_of(one) for one in part.exact}
    results |= {key_of(_found(one)) for one in part.reduced}
    scalars: list[ScalarArgument] = []
    declared: list[str] = []
    passed: list[str] = []
    for item in function.parameters:
        if not item.module and item.key in results:
            passed.append(f"({item.type.name} *)(intptr_t){item.name}")
        elif not item.module and item.key in places:
            passed.append(places[item.key])
        else:
            text = item.key if item.module else _scalar(item.key, plan)
            scalars.append(ScalarArgument(text, item.name, item.type.is_real, item.module))
            declared.append(f"{item.type.name} {item.name}")
            passed.append(f"&{item.name}" if item.module else item.name)
    declared += [
        f"int64_t {item.name}"
        for item in function.parameters
        if not item.module and item.key in results
    ]
    text_lines = [
        function_text(function, "static "),
        *wrapped(f"void {name}(", [*ENTRY, *declared], ")"),
        "{",
        *wrapped(f"    {function.name}(", passed, ");"),
        "}",
        "",
    ]
    return LoopsFunction(name, "\n".join(text_lines), tuple(scalars))


def _places(
    plan: _PlannedRoutine, tables: tuple[str, ...], counts: tuple[tuple[str, str], ...]
) -> dict[str, str]:
    """Return where C finds arrays and numbers, by their names."""
    assert plan.held is not None
    every = [*(item.array for item in plan.held.items), *tables]
    found = {key_of(array): f"data[{at}]" for at, array in enumerate(every)}
    return found | {key_of(count): f"counts[{at}]" for at, (count, _) in enumerate(counts)}


def _scalar(key: str, plan: _PlannedRoutine) -> str:
    """Return a scalar that is passed: the number in a result that the routine itself sets."""
    name = _spelled(key, plan)
    is_set = key in set_between(plan.held) or any(
        key_of(one) == key for part in plan.parts for one in part.reduced
    )
    return f"{name}.{abi.VALUE}" if is_set else name


def _spelled(key: str, plan: _PlannedRoutine) -> str:
    """Return an argument of a routine as the routine has it."""
    return plain(next(item.name for item in plan.routine.dummies if item.key == key))


# ---------------------------------------------------------------------------- set-up


def _set_up(
    plan: _PlannedRoutine,
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], list[str]]:
    """Return the arrays and numbers that a set-up finds, by name, and its statements.

    Of a number the second is how Python gets it.
    """
    declared = {item.name: item for item in plan.routine.variables}
    lines = [f"{name} = ({', '.join(parts)})" for name, parts in _vectors(plan).items()]
    tables: list[str] = []
    counts: list[tuple[str, str]] = []
    for line in plan.before:
        if isinstance(line, Blank | Comment):
            continue
        if not isinstance(line, Assign) or not isinstance(line.target, Name):
            raise InternalError("A set-up has more than values of variables.")
        name = line.target.text
        lines.append(f"{plain(name)} = {text_of(line.value)}")
        if not declared[name].shape:
            counts.append((name, plain(name)))
            continue
        tables.append(name)
        counts += _lengths(declared[name])
    assert plan.held is not None
    for at, item in enumerate(plan.held.items):
        owner = _data_names(plan)[at]
        rank = len(declared[item.array].shape)
        counts += [
            (_extent(declared[item.array], place), f"{owner}.storage.shape[{place - 1}]")
            for place in range(1, rank)
        ]
    groups = (map(plain, tables), (), (text for _, text in counts))
    for name, group in zip(("tables", "reals", "counts"), groups, strict=True):
        items = list(group)
        lines += laid_out(f"{name} = (", items, ",)" if len(items) == 1 else ")", "")
    lines.append("return tables, reals, counts")
    return tuple(tables), tuple(counts), lines


def _lengths(item: Declare) -> Iterator[tuple[str, str]]:
    for at in range(1, len(item.shape)):
        yield _extent(item, at), f"{plain(item.name)}.shape[{at - 1}]"


def _data_names(plan: _PlannedRoutine) -> list[str]:
    """Return the names by which a set-up knows what is held: parts of vectors have their own."""
    assert plan.held is not None
    names = NameTable(item.name for item in (*plan.routine.dummies, *plan.routine.variables))
    found = []
    for item in plan.held.items:
        match item.owner:
            case Element(Name(text), (at,)):
                found.append(plain(names.fresh(f"{text}_{(integer_value(at) or 0) + 1}")))
            case _:
                found.append(text_of(item.owner))
    return found


def _vectors(plan: _PlannedRoutine) -> dict[str, list[str]]:
    """Return the vectors of fields that are held, with the names of their parts."""
    assert plan.held is not None
    parts: dict[str, list[str]] = {}
    for item, name in zip(plan.held.items, _data_names(plan), strict=True):
        if isinstance(item.owner, Element):
            parts.setdefault(text_of(item.owner.base), []).append(name)
    return parts


def _given_names(plan: _PlannedRoutine) -> list[str]:
    """Return the arguments that a set-up asks besides data: rules, extents and depths."""
    asked = {
        part.text
        for line in plan.before
        if isinstance(line, Assign)
        for part in walk(line.value)
        if isinstance(part, Name)
    }
    assert plan.held is not None
    own = {text_of(_base(item.owner)) for item in plan.held.items}
    return [
        plain(item.name) for item in plan.routine.dummies
        if item.name in asked and item.name not in own
    ]  # fmt: skip


def _base(owner: Expr) -> Expr:
    return owner.base if isinstance(owner, Element) else owner


def _passed(plan: _PlannedRoutine) -> str:
    """Return what is passed to bind a routine's data."""
    assert plan.held is not None
    data = ", ".join(text_of(item.owner) for item in plan.held.items)
    given = _given_names(plan)
    if not given:
        return data
    return f"{data}, given=({', '.join(given)}{',' if len(given) == 1 else ''})"


# ---------------------------------------------------------------------------- texts


def _c_text(unit: Unit, printed: CUnit, made: list[_ColumnsRoutine]) -> str:
    own = {part.code.key for one in made for part in one.plan.parts}
    parts = [f"/* {unit.comment or unit.name} */\n", preamble(printed.helpers)]
    parts += [
        function_text(one, "static inline ") for one in printed.functions if one.name not in own
    ]
    parts += [function.text for one in made for function in one.functions]
    return "\n".join(parts)


def _python(unit: Unit, made: list[_ColumnsRoutine]) -> str:
    lines = [f'"""{unit.comment or unit.name}"""', ""]
    text = "\n".join(line for one in made for line in one.lines)
    if "ctypes." in text:
        lines += ["import ctypes", ""]
    if any(one.plan.held for one in made):
        wanted = [abi.LIBRARY, abi.ROUTINE]
        wanted += [abi.EXACT_SUM] if f"= {abi.EXACT_SUM}()" in text else []
        wanted += [word for word in (abi.CHECK_VECTOR, abi.EXCHANGE) if _is_called(word, text)]
        lines += [f"from {abi.MODULE} import {', '.join(wanted)}", ""]
        lines += [f"{_LIBRARY} = {abi.LIBRARY}(globals())", ""]
    for one in made:
        lines += ["", *_routine(one), ""]
    return "\n".join(lines).rstrip() + "\n"


def _is_called(word: str, text: str) -> bool:
    return any(line.lstrip().startswith(f"{word}(") for line in text.splitlines())


def _routine(one: _ColumnsRoutine) -> Iterator[str]:
    plan, routine = one.plan, one.plan.routine
    if plan.held is not None:
        taken = [*_data_names(plan), *_given_names(plan)]
        yield from laid_out(f"def {_setup_name(routine)}(", taken, "):", "")
        yield from indented(one.setup)
        yield ""
        yield ""
        yield f"{_object_name(routine)} = {abi.ROUTINE}("
        yield from indented(_described(one, plan.held))
        yield ")"
        yield ""
        yield ""
    dummies = [plain(item.name) for item in routine.dummies]
    yield from laid_out(f"def {routine.name}(", dummies, "):", "")
    lines = list(one.lines)
    if not any(line and not line.startswith("#") for line in lines):
        lines.append("return")
    yield from indented(lines)


def _described(one: _ColumnsRoutine, held: HoldData) -> Iterator[str]:
    """Yield what the runtime is told of a routine."""
    words = ["covered" if item.covered else "written" for item in held.items]
    accesses = [
        word if item.written else "read" for word, item in zip(words, held.items, strict=True)
    ]
    declared = {item.name: item for item in one.plan.routine.variables}
    types = [_dtype(declared[item.array]) for item in held.items]
    functions = [
        f'("{function.name}", "{_types(part, function)}")'
        for part, function in zip(one.plan.parts, one.functions, strict=True)
    ]
    yield f"{_LIBRARY},"
    yield f"{_setup_name(one.plan.routine)},"
    yield f"[{', '.join(functions)}],"
    yield f'"{" ".join(accesses)}",'
    yield f'"{" ".join(types)}",'
    yield from laid_out("meant=[", [f'"{item.meant}"' for item in held.items], "],", "")


def _types(part: _ComputedPart, function: LoopsFunction) -> str:
    scalars = "".join("d" if item.is_real else "i" for item in function.scalars)
    return scalars + "l" * (len(part.exact) + len(part.reduced))


def _dtype(item: Declare) -> str:
    assert isinstance(item.type, ScalarType)
    return _DTYPES[item.type.intrinsic]


def _setup_name(routine: Routine) -> str:
    return f"_{routine.name}_setup"


def _object_name(routine: Routine) -> str:
    return f"_{routine.name.upper()}"
