"""Units as a module of Python, which binds data, and a file of C, which computes.

What a routine does between two exchanges is one function of C. What does not change from call to
call, bounds of loops and properties of the grid, is found once for the same fields by a function
`_..._setup`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.backend.c.helpers import preamble
from psyclone_storage.backend.c.printer import CUnit, function_text, print_c
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.backend.grids import abi
from psyclone_storage.backend.native.device import device_preamble, points_function
from psyclone_storage.backend.native.loops import (
    CallTables,
    LoopsFunction,
    ReachedPoints,
    is_computed,
    loops_function,
    points_reached,
)
from psyclone_storage.backend.native.ordering import (
    always,
    given_to,
    imports_of,
    in_order,
    never,
)
from psyclone_storage.backend.numpy.printer import (
    indented,
    laid_out,
    lines_of,
    text_of,
    with_own_names,
)
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.infrastructures.gocean import WORKING_PRECISION
from psyclone_storage.ir.code import KernelCode, ModuleContext
from psyclone_storage.ir.expr import (
    CallFunction,
    Expr,
    Literal,
    Name,
    Origin,
    Sort,
    Symbol,
    intrinsic_called,
)
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Blank, Comment, HoldData, Line, Routine, Unit

_TABLES = ("arrays", "numbers", "counts")
PRECISION = Symbol(
    WORKING_PRECISION, WORKING_PRECISION, Origin.IMPORTED, Sort.CONSTANT,
    ScalarType(Intrinsic.INTEGER), value=Literal("8", Intrinsic.INTEGER),
)  # fmt: skip
_AROUND = ModuleContext(
    lambda _, name: PRECISION if name == WORKING_PRECISION else None, lambda _module, _name: ()
)
"""What a kernel in Python knows of other modules: the precision that it computes with."""


@dataclass(frozen=True, slots=True)
class NativeTexts:
    """A module of Python, and the C that it loads."""

    python: str
    c: str


@dataclass(frozen=True, slots=True)
class _NativeRoutine:
    """One routine: its functions in C, its set-up, and its lines in Python."""

    routine: Routine
    functions: tuple[LoopsFunction, ...]
    setup: tuple[str, ...]
    lines: tuple[str, ...]
    held: HoldData | None


@dataclass(frozen=True, slots=True)
class NativeForm:
    """What differs between the targets that compute in C.

    `library` is what loads the text, which is in files that end in `suffix`. `function` makes a
    function of loops; `before` is what stands before the functions of kernels. Where it is made for
    a `device`, each nest of loops is a function.
    """

    library: str
    suffix: str
    device: bool = False

    def before(self, kernels: Mapping[str, CUnit]) -> list[str]:
        """Return what stands before the functions of loops."""
        if self.device:
            return [device_preamble(kernels.values())]
        helpers = frozenset[str]().union(*(one.helpers for one in kernels.values()))
        texts = [function_text(function, "static inline ") for one in kernels.values()
                 for function in one.functions]  # fmt: skip
        return [preamble(helpers), *texts]

    def function(
        self,
        name: str,
        lines: tuple[Line, ...],
        tables: CallTables,
        kernels: Mapping[str, CUnit],
        codes: tuple[KernelCode, ...],
    ) -> LoopsFunction:
        """Return the function `name` that does `lines`."""
        if not self.device:
            return loops_function(name, lines, tables, kernels)
        return points_function(name, lines, tables, kernels, {code.key: code for code in codes})


_WORDS = abi.RESERVED | {abi.WITHIN}
"""The names that no argument of a routine may have."""
ON_HOST = NativeForm(abi.LIBRARY, ".c")
ON_DEVICE = NativeForm(abi.DEVICE_LIBRARY, ".cu", device=True)


def emit_native(unit: Unit, inlined: InlinedProcedures, form: NativeForm = ON_HOST) -> NativeTexts:
    """Return the texts of a module.

    Raises:
        CompileError: G004, a kernel has no form in C; G010, something else has none.
    """
    if foreign := [use.module for use in unit.uses if use.module]:
        message = f"Programs in Python have no module '{foreign[0]}'."
        raise CompileError(Diagnostic("G010", message, hint="Leave out what asks for it."))
    kernels = _printed(inlined)
    named = [with_own_names(routine, _WORDS) for routine in unit.routines]
    routines = [_native(routine, kernels, inlined.codes, form) for routine in named]
    return NativeTexts(_python(unit, routines, form), _c_text(unit, routines, kernels, form))


def emit_python(unit: Unit, inlined: InlinedProcedures, form: NativeForm = ON_HOST) -> str:
    """Return the module of Python alone."""
    return emit_native(unit, inlined, form).python


def emit_c_beside(
    unit: Unit, inlined: InlinedProcedures, form: NativeForm = ON_HOST
) -> tuple[tuple[str, str], ...]:
    """Return the file of C that belongs beside the module: what its name ends in, and its text."""
    return ((form.suffix, emit_native(unit, inlined, form).c),)


def _printed(inlined: InlinedProcedures) -> Mapping[str, CUnit]:
    """Return the kernels as functions of C, by their names in lower case."""
    found: dict[str, CUnit] = {}
    problems: list[Diagnostic] = []
    for code in inlined.codes:
        try:
            found[code.key] = print_kernel(code, bounds_checks=inlined.bounds_checks)
        except CompileError as error:
            problems += error.problems
    if problems:
        raise CompileError(*problems)
    return found


def print_kernel(code: KernelCode, *, bounds_checks: bool = False) -> CUnit:
    """Return a kernel in Python as a function of C.

    Raises:
        CompileError: G004, it has no form in C.
    """
    return print_c(code, replace(_AROUND, bounds_checks=bounds_checks))


# ---------------------------------------------------------------------------- C


def _c_text(
    unit: Unit, routines: list[_NativeRoutine], kernels: Mapping[str, CUnit], form: NativeForm
) -> str:
    parts = [f"/* {unit.comment or unit.name} */\n", *form.before(kernels)]
    parts += [function.text for one in routines for function in one.functions]
    return "\n".join(parts)


# ---------------------------------------------------------------------------- routines


def _native(
    routine: Routine,
    kernels: Mapping[str, CUnit],
    codes: tuple[KernelCode, ...],
    form: NativeForm,
) -> _NativeRoutine:
    before = tuple(line for line in routine.body if not isinstance(line, HoldData))
    held = next((line for line in routine.body if isinstance(line, HoldData)), None)
    if held is None:
        return _NativeRoutine(routine, (), (), tuple(lines_of(before, {})), None)
    setup, tables = _set_up(before, held, codes)
    lines = in_order(
        held.body,
        lambda number, part: form.function(
            f"{routine.name}_{number}", part, tables, kernels, codes
        ),
        is_computed,
        apart=always if form.device else never,
    )
    functions = [one for one in lines if isinstance(one, LoopsFunction)]
    names = NameTable(item.name for item in routine.dummies)
    run = names.fresh("run")
    imports, called = imports_of(functions, codes, names)
    body = [f"{run}({given_to(functions, one, called)})" if isinstance(one, LoopsFunction) else one
            for one in lines]  # fmt: skip
    text = [f"# {text_of(item.owner)}: {item.why}" for item in held.items]
    text += [*imports, f"with {_object_name(routine)}({_fields(held)}) as {run}:", *indented(body)]
    return _NativeRoutine(routine, tuple(functions), tuple(setup), tuple(text), held)


def _set_up(
    before: tuple[Line, ...], held: HoldData, codes: tuple[KernelCode, ...]
) -> tuple[list[str], CallTables]:
    """Return the statements that find what does not change, and the tables that hold it.

    That no point outside of an array is reached is checked before the tables are made.
    """
    storages = [item.array for item in held.items if _is_property(item)]
    lines: list[str] = []
    reals: list[str] = []
    counts: list[str] = []
    for line in before:
        if not isinstance(line, Assign) or not isinstance(line.target, Name):
            if not isinstance(line, Blank | Comment):
                raise InternalError("A set-up has more than values of variables.")
            continue
        name = line.target.text
        lines.append(f"{plain(name)} = {text_of(line.value)}")
        if name not in storages:
            is_call = isinstance(line.value, CallFunction)
            (reals if is_call and not intrinsic_called(line.value) else counts).append(name)
    reached = points_reached(held.body, {code.key: code for code in codes})
    lines += (_within(held, point) for point in reached)
    for name, group in zip(_TABLES, (storages, reals, counts), strict=True):
        end = ",)" if len(group) == 1 else ")"
        lines += laid_out(f"{name} = (", [*map(plain, group)], end, "")
    lines.append(f"return {', '.join(_TABLES)}")
    arrays = tuple(item.array for item in held.items)
    return lines, CallTables(arrays, tuple(reals), tuple(counts))


def _within(held: HoldData, one: ReachedPoints) -> str:
    """Return the statement that sees that a loop looks at no point outside of the arrays."""
    ends = [
        f"({_moved(first, before)}, {_moved(last, behind)})"
        for (first, last), (before, behind) in zip(
            (one.columns, one.rows), one.offsets, strict=True
        )
    ]
    return f"{abi.WITHIN}({text_of(held.items[0].owner)}, {', '.join(ends)})"


def _moved(index: Expr, by: int) -> str:
    text = text_of(index)
    return text if by == 0 else f"{text} {'+' if by > 0 else '-'} {abs(by)}"


def _is_property(item: Held) -> bool:
    """Return whether what is held is a property of the grid, which is no argument."""
    return item.owner == Name(item.array)


def _fields(held: HoldData) -> str:
    return ", ".join(text_of(item.owner) for item in held.items if not _is_property(item))


# ---------------------------------------------------------------------------- Python


def _python(unit: Unit, routines: list[_NativeRoutine], form: NativeForm) -> str:
    computing = any(one.held for one in routines)
    lines = [f'"""{unit.comment or unit.name}"""', ""]
    if computing:
        wanted = [*sorted([form.library, abi.ROUTINE]), abi.WITHIN]
        wanted += [abi.EXCHANGE] if _exchanges_together(routines) else []
        lines += [f"from {abi.MODULE} import {', '.join(wanted)}", ""]
        lines += [f"{_LIBRARY} = {form.library}(globals())", ""]
    for one in routines:
        lines += ["", *_routine(one), ""]
    return "\n".join(lines).rstrip() + "\n"


def _exchanges_together(routines: list[_NativeRoutine]) -> bool:
    return any(line.lstrip().startswith(f"{abi.EXCHANGE}(") for one in routines
               for line in one.lines)  # fmt: skip


def _routine(one: _NativeRoutine) -> Iterator[str]:
    routine = one.routine
    if one.held is not None:
        yield f"def {_setup_name(routine)}({_fields(one.held)}):"
        yield from indented(one.setup)
        yield ""
        yield ""
        yield f"{_object_name(routine)} = {abi.ROUTINE}("
        yield from indented(_described(one, one.held))
        yield ")"
        yield ""
        yield ""
    yield from laid_out(f"def {routine.name}(", [plain(item.name) for item in routine.dummies],
                        "):", "")  # fmt: skip
    lines = list(one.lines)
    if not any(line and not line.startswith("#") for line in lines):
        lines.append("return")
    yield from indented(lines)


def _described(one: _NativeRoutine, held: HoldData) -> Iterator[str]:
    """Yield what the runtime is told of a routine."""
    fields = [item for item in held.items if not _is_property(item)]
    words = ["written" if not item.covered else "covered" for item in fields]
    accesses = [word if item.written else "read" for word, item in zip(words, fields, strict=True)]
    types = ["".join(item.letter for item in part.scalars) for part in one.functions]
    functions = [f'("{part.name}", "{text}"{_launched(part)})'
                 for part, text in zip(one.functions, types, strict=True)]  # fmt: skip
    yield f"{_LIBRARY},"
    yield f"{_setup_name(one.routine)},"
    if any(part.launch for part in one.functions):
        yield from ("[", *indented([f"{text}," for text in functions]), "],")
    else:
        yield f"[{', '.join(functions)}],"
    yield f'"{" ".join(accesses)}",'
    yield from laid_out("meant=[", [f'"{item.meant}"' for item in fields], "],", "")


def _launched(part: LoopsFunction) -> str:
    """Return what a kernel of a device is passed from the tables, as Python is told."""
    if part.launch is None:
        return ""
    launch = part.launch
    return f", {launch.arrays}, {launch.counts}, {launch.reals}, {launch.alone}"


_LIBRARY = "_LIBRARY"


def _setup_name(routine: Routine) -> str:
    return f"_{routine.name}_setup"


def _object_name(routine: Routine) -> str:
    return f"_{routine.name.upper()}"
