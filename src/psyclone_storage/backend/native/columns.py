"""Units for LFRic as a module of Python, which binds data, and a file of C, which computes.

What a routine does between two exchanges is one function of C, printed as a subroutine of typed
code is: its arguments are the arrays, numbers and scalars that its statements name. What does not
change for the same data is found once by a function `_..._setup`. What a function reduces to it
gives back through a pointer. On a device each loop is a function, and a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from psyclone_storage.backend.c import exact_sums
from psyclone_storage.backend.c.calls import CFunction
from psyclone_storage.backend.c.frames import unknown_lengths
from psyclone_storage.backend.c.helpers import preamble
from psyclone_storage.backend.c.printer import CUnit, function_text, print_c, print_together
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.backend.meshes import abi
from psyclone_storage.backend.native.around import modules_around
from psyclone_storage.backend.native.column_functions import (
    ColumnsFunction,
    device_function,
    host_function,
    types_of,
)
from psyclone_storage.backend.native.column_lines import is_computed
from psyclone_storage.backend.native.column_parts import (
    ComputedPart,
    PlannedRoutine,
    dtype_of,
    found_name,
    made_ready,
    planned,
)
from psyclone_storage.backend.native.column_setup import (
    ColumnTables,
    data_names,
    given_names,
    passed_to,
    set_up,
    vectors_of,
)
from psyclone_storage.backend.native.device import device_words
from psyclone_storage.backend.native.loops import LoopsFunction, ScalarArgument
from psyclone_storage.backend.native.ordering import given_to, imports_of, in_order, never
from psyclone_storage.backend.native.printer import NativeTexts
from psyclone_storage.backend.native.threads import begins_new
from psyclone_storage.backend.numpy.printer import indented, laid_out, lines_of, text_of
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.unit import Declare, HoldData, Line, Routine, Unit

_LIBRARY = "_LIBRARY"
_C_TYPES = {"f4": "c_float", "f8": "c_double", "i4": "c_int32"}
_LENGTHS = "Apply 'kernel-constants', by which it is, or call this kernel in an invoke in C."


@dataclass(frozen=True, slots=True)
class ColumnsForm:
    """What differs between the targets that compute columns in C.

    `library` is what loads the text, which is in files that end in `suffix`. `function` makes what
    Python calls for a part, which threads of a `device` share.
    """

    library: str
    suffix: str
    function: Callable[
        [str, ComputedPart, CFunction, PlannedRoutine, ColumnTables], ColumnsFunction
    ]
    device: bool = False

    def before(self, helpers: Iterable[str], functions: Iterable[CFunction]) -> list[str]:
        """Return what stands before the functions that Python calls: helpers, and kernels."""
        helpers = {*helpers}
        if self.device and exact_sums.HELPER in helpers:
            helpers.add(exact_sums.GIVING)
        words = device_words(helpers) if self.device else preamble(helpers)
        of_kernel = "static __device__ " if self.device else "static inline "
        return [words, *(function_text(one, of_kernel) for one in functions)]


ON_HOST = ColumnsForm(abi.LIBRARY, ".c", host_function)
ON_DEVICE = ColumnsForm(abi.DEVICE_LIBRARY, ".cu", device_function, device=True)


def emit_python(unit: Unit, inlined: InlinedProcedures, form: ColumnsForm = ON_HOST) -> str:
    """Return the module of Python alone."""
    return emit_columns(unit, inlined, form).python


def emit_c_beside(
    unit: Unit, inlined: InlinedProcedures, form: ColumnsForm = ON_HOST
) -> tuple[tuple[str, str], ...]:
    """Return the file of C that belongs beside the module: what its name ends in, and its text."""
    return ((form.suffix, emit_columns(unit, inlined, form).c),)


emit_python_of_device = partial(emit_python, form=ON_DEVICE)
emit_cuda_beside = partial(emit_c_beside, form=ON_DEVICE)


def emit_columns(
    unit: Unit, inlined: InlinedProcedures, form: ColumnsForm = ON_HOST
) -> NativeTexts:
    """Return the texts of a module.

    Raises:
        CompileError: G004, a kernel has no form in C; G005, it has none in CUDA; G010, something
            else has none.
    """
    if foreign := [use.module for use in unit.uses if use.module]:
        message = f"Programs in Python have no module '{foreign[0]}'."
        raise CompileError(Diagnostic("G010", message, hint="Leave out what asks for it."))
    codes = {code.key: code for code in inlined.codes}
    _check_kernels(codes.values(), form)
    plans = [planned(routine, codes, on_device=form.device) for routine in unit.routines]
    loops = tuple(part.code for plan in plans for part in plan.parts)
    around = modules_around(codes, bounds_checks=inlined.bounds_checks)
    printed = print_together(loops, around) if loops else CUnit((), frozenset())
    if form.device and "psy_random" in printed.helpers:
        message = "Kernels of CUDA have no pseudo-random numbers, which 'setval_random' sets."
        raise CompileError(Diagnostic("G010", message, hint="Set them in an invoke in C."))
    found = {function.name: function for function in printed.functions}
    made = [_made(plan, found, inlined.codes, form) for plan in plans]
    return NativeTexts(_python(unit, made, form), _c_text(unit, printed, made, form))


def _check_kernels(codes: Iterable[KernelCode], form: ColumnsForm) -> None:
    """Print each kernel alone, so that all that is wrong with any has its own place."""
    problems: list[Diagnostic] = []
    for code in codes:
        try:
            unit = print_c(code, modules_around({}))
        except CompileError as error:
            problems += error.problems
        else:
            problems += unknown_lengths(code, unit, _LENGTHS) if form.device else ()
    if problems:
        raise CompileError(*problems)


# ---------------------------------------------------------------------------- what there is


@dataclass(frozen=True, slots=True)
class _ColumnsRoutine:
    """A routine in Python: its functions in C, its set-up, its lines."""

    plan: PlannedRoutine
    functions: tuple[ColumnsFunction, ...]
    setup: tuple[str, ...]
    lines: tuple[str, ...]


# ---------------------------------------------------------------------------- printing


def _made(
    plan: PlannedRoutine,
    printed: Mapping[str, CFunction],
    codes: tuple[KernelCode, ...],
    form: ColumnsForm,
) -> _ColumnsRoutine:
    routine, held = plan.routine, plan.held
    if held is None:
        return _ColumnsRoutine(plan, (), (), tuple(lines_of(plan.before, {})))
    tables = set_up(plan)
    made: list[ColumnsFunction] = []
    names = NameTable(item.name for item in routine.dummies)
    run = names.fresh("run")

    def function(number: int, _lines: tuple[Line, ...]) -> LoopsFunction:
        part = plan.parts[number - 1]
        name = f"{routine.name}_{number}"
        made.append(form.function(name, part, printed[part.code.key], plan, tables))
        return made[-1].function

    lines = in_order(held.body, function, is_computed, apart=begins_new if form.device else never)
    functions = [one for one in lines if isinstance(one, LoopsFunction)]
    imports, called = imports_of(functions, codes, names)
    text = [
        *(f"# {text_of(item.owner)}: {item.why}" for item in held.items),
        *imports,
        *(
            f'{abi.CHECK_VECTOR}({name}, {len(parts)}, "{name}")'
            for name, parts in vectors_of(plan).items()
        ),
        *made_ready(routine),
        f"with {_object_name(routine)}({passed_to(plan)}) as {run}:",
        *indented(_body(lines, plan.parts, run, called)),
    ]
    return _ColumnsRoutine(plan, tuple(made), tables.lines, tuple(text))


def _body(
    lines: list[str | LoopsFunction],
    parts: tuple[ComputedPart, ...],
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


def _run(run: str, given: str, part: ComputedPart) -> Iterator[str]:
    """Yield the call of a function, and what becomes of what it reduces to."""
    declared = {item.name: item for item in part.code.declarations if isinstance(item, Declare)}
    for name in part.reduced:
        yield f"{found_name(plain(name))} = ctypes.{_C_TYPES[dtype_of(declared[name])]}()"
    found = "".join(f", {plain(name)}.{abi.ADDRESS}" for name in part.exact)
    found += "".join(f", ctypes.addressof({found_name(plain(name))})" for name in part.reduced)
    yield f"{run}({given}{found})"
    for name in part.reduced:
        value = f"{found_name(plain(name))}.{abi.VALUE}"
        value = f"np.float32({value})" if declared[name].type == SINGLE else value
        yield f"{plain(name)}.{abi.VALUE} = {value}"


# ---------------------------------------------------------------------------- texts


def _c_text(unit: Unit, printed: CUnit, made: list[_ColumnsRoutine], form: ColumnsForm) -> str:
    own = {part.code.key for one in made for part in one.plan.parts}
    kernels = [one for one in printed.functions if one.name not in own]
    parts = [f"/* {unit.comment or unit.name} */\n", *form.before(printed.helpers, kernels)]
    parts += [part.function.text for one in made for part in one.functions]
    return "\n".join(parts)


def _python(unit: Unit, made: list[_ColumnsRoutine], form: ColumnsForm) -> str:
    lines = [f'"""{unit.comment or unit.name}"""', ""]
    text = "\n".join(line for one in made for line in one.lines)
    if "ctypes." in text:
        lines += ["import ctypes", ""]
    if "np." in text:
        lines += ["import numpy as np", ""]
    if any(one.plan.held for one in made):
        wanted = sorted([form.library, abi.ROUTINE])
        wanted += [abi.EXACT_SUM] if f"= {abi.EXACT_SUM}()" in text else []
        wanted += [abi.SCALAR_ARRAY] if f"= {abi.SCALAR_ARRAY}(" in text else []
        wanted += [word for word in (abi.CHECK_VECTOR, abi.EXCHANGE) if _is_called(word, text)]
        lines += [f"from {abi.MODULE} import {', '.join(wanted)}", ""]
        lines += [f"{_LIBRARY} = {form.library}(globals())", ""]
    for one in made:
        lines += ["", *_routine(one), ""]
    return "\n".join(lines).rstrip() + "\n"


def _is_called(word: str, text: str) -> bool:
    return any(line.lstrip().startswith(f"{word}(") for line in text.splitlines())


def _routine(one: _ColumnsRoutine) -> Iterator[str]:
    plan, routine = one.plan, one.plan.routine
    if plan.held is not None:
        taken = [*data_names(plan), *given_names(plan)]
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
    types = [dtype_of(declared[item.array]) for item in held.items]
    functions = [
        f'("{function.function.name}", {types_of(part, function)})'
        for part, function in zip(one.plan.parts, one.functions, strict=True)
    ]
    yield f"{_LIBRARY},"
    yield f"{_setup_name(one.plan.routine)},"
    if any(function.launch for function in one.functions):
        yield from ("[", *indented([f"{text}," for text in functions]), "],")
    else:
        yield f"[{', '.join(functions)}],"
    yield f'"{" ".join(accesses)}",'
    yield f'"{" ".join(types)}",'
    yield from laid_out("meant=[", [f'"{item.meant}"' for item in held.items], "],", "")


def _setup_name(routine: Routine) -> str:
    return f"_{routine.name}_setup"


def _object_name(routine: Routine) -> str:
    return f"_{routine.name.upper()}"
