"""Units as a module of Python, which binds data, and a file of C or CUDA, which computes.

What a routine does between two exchanges is one function of C, printed as a subroutine of typed
code is: its arguments are the arrays, numbers and scalars that its statements name. What does not
change for the same data, such as bounds of loops and maps of the mesh, is found once by a function
`_..._setup`. A function returns what it reduces to through a pointer. On a device each loop is a
function, and a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from psyclone_storage.backend.c import exact_sums
from psyclone_storage.backend.c.calls import CFunction
from psyclone_storage.backend.c.frames import unknown_lengths
from psyclone_storage.backend.c.helpers import CUDA_HEADERS, preamble
from psyclone_storage.backend.c.printer import CUnit, function_text, no_check, print_together
from psyclone_storage.backend.fortran.printer import InlinedProcedures
from psyclone_storage.backend.grids import abi as grids
from psyclone_storage.backend.meshes import abi as meshes
from psyclone_storage.backend.native.apis import GRIDS, MESHES, ProgramApi
from psyclone_storage.backend.native.around import modules_around
from psyclone_storage.backend.native.functions import (
    ExportedFunction,
    device_function,
    host_function,
)
from psyclone_storage.backend.native.parts import (
    ComputedPart,
    PlannedRoutine,
    dtype_of,
    found_name,
    made_ready,
    planned,
)
from psyclone_storage.backend.native.scalars import call_arguments, module_imports
from psyclone_storage.backend.native.setup import (
    ArgumentTables,
    bound_data,
    is_of_grid,
    set_up,
    setup_arguments,
    vector_parts,
)
from psyclone_storage.backend.native.statements import statement_groups
from psyclone_storage.backend.numpy.printer import (
    indented,
    laid_out,
    lines_of,
    text_of,
    with_own_names,
)
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.unit import Declare, HoldData, Routine, Unit

_LIBRARY = "_LIBRARY"
_C_TYPES = {"f4": "c_float", "f8": "c_double", "i4": "c_int32"}
_LENGTHS = "Apply 'kernel-constants', by which it is, or call this kernel in an invoke in C."
_CUDA_WORDS = """\
#ifndef PSY_ON_HOST
#define PSY_KERNEL extern "C" __global__
#endif
"""


@dataclass(frozen=True, slots=True)
class NativeTexts:
    """A module of Python, and the C that it loads."""

    python: str
    c: str


@dataclass(frozen=True, slots=True)
class NativeForm:
    """Differences between the targets that compute in C.

    `library` is what loads the text, which is in files that end in `suffix`. `function` makes what
    Python calls for a part, which threads of a `device` share.
    """

    api: ProgramApi
    library: str
    suffix: str
    function: Callable[
        [str, ComputedPart, CFunction, PlannedRoutine, ArgumentTables], ExportedFunction
    ]
    device: bool = False


_GRIDS_ON_HOST = NativeForm(GRIDS, grids.LIBRARY, ".c", host_function)
_GRIDS_ON_DEVICE = NativeForm(GRIDS, grids.DEVICE_LIBRARY, ".cu", device_function, device=True)
_MESHES_ON_HOST = NativeForm(MESHES, meshes.LIBRARY, ".c", host_function)
_MESHES_ON_DEVICE = NativeForm(MESHES, meshes.DEVICE_LIBRARY, ".cu", device_function, device=True)


def emit_native(unit: Unit, inlined: InlinedProcedures, form: NativeForm) -> NativeTexts:
    """Return the texts of a module.

    Raises:
        CompileError: G004, a kernel has no form in C; G005, it has none in CUDA; G010, something
            else has none.
    """
    if foreign := [use.module for use in unit.uses if use.module]:
        message = f"Programs in Python have no module '{foreign[0]}'."
        raise CompileError(Diagnostic("G010", message, hint="Leave out what asks for it."))
    codes = {code.key: code for code in inlined.codes}
    share = form.api.share if form.device else None
    routines = [
        form.api.typed(with_own_names(routine, form.api.reserved), codes)
        for routine in unit.routines
    ]
    plans = [planned(routine, codes, form.api.intent_of, share) for routine in routines]
    printed = _printed(inlined, plans, form)
    found = {function.name: function for function in printed.functions}
    made = [_made(plan, found, inlined.codes, form) for plan in plans]
    return NativeTexts(_python(unit, made, form), _c_text(unit, printed, made, form))


def _emit_python(unit: Unit, inlined: InlinedProcedures, *, form: NativeForm) -> str:
    return emit_native(unit, inlined, form).python


def _emit_c(
    unit: Unit, inlined: InlinedProcedures, *, form: NativeForm
) -> tuple[tuple[str, str], ...]:
    """Return the file that belongs to the module: what its name ends in, and its text."""
    return ((form.suffix, emit_native(unit, inlined, form).c),)


emit_grids_python = partial(_emit_python, form=_GRIDS_ON_HOST)
emit_grids_c = partial(_emit_c, form=_GRIDS_ON_HOST)
emit_grids_device_python = partial(_emit_python, form=_GRIDS_ON_DEVICE)
emit_grids_cuda = partial(_emit_c, form=_GRIDS_ON_DEVICE)
emit_meshes_python = partial(_emit_python, form=_MESHES_ON_HOST)
emit_meshes_c = partial(_emit_c, form=_MESHES_ON_HOST)
emit_meshes_device_python = partial(_emit_python, form=_MESHES_ON_DEVICE)
emit_meshes_cuda = partial(_emit_c, form=_MESHES_ON_DEVICE)


# ---------------------------------------------------------------------------- C


def _printed(
    inlined: InlinedProcedures, plans: Iterable[PlannedRoutine], form: NativeForm
) -> CUnit:
    """Return kernels and parts as functions of C."""
    loops = [part.code for plan in plans for part in plan.parts]
    codes = {code.key: code for code in inlined.codes}
    around = modules_around(codes, form.api.kinds, bounds_checks=inlined.bounds_checks)
    check = partial(unknown_lengths, hint=_LENGTHS) if form.device else no_check
    printed = print_together(inlined.codes, loops, around, check)
    if form.device and "psy_random" in printed.helpers:
        message = "Kernels of CUDA have no pseudo-random numbers, which 'setval_random' sets."
        raise CompileError(Diagnostic("G010", message, hint="Set them in an invoke in C."))
    return printed


def _c_text(unit: Unit, printed: CUnit, made: list[_NativeRoutine], form: NativeForm) -> str:
    """Return helpers, kernels, and the functions that Python calls."""
    own = {part.code.key for one in made for part in one.plan.parts}
    kernels = [one for one in printed.functions if one.name not in own]
    helpers, before, words = {*printed.helpers}, "static inline ", ""
    if form.device:
        before, words = "static __device__ ", _device_preamble(helpers)
    parts = [f"/* {unit.comment or unit.name} */\n", words or preamble(helpers)]
    parts += [function_text(one, before) for one in kernels]
    parts += [function.text for one in made for function in one.functions]
    return "\n".join(parts)


def _device_preamble(helpers: set[str]) -> str:
    """Return the words of CUDA, and the helpers that functions call."""
    if exact_sums.HELPER in helpers:
        helpers.add(exact_sums.GIVING)
    own = preamble(helpers, CUDA_HEADERS).replace("static inline", "static inline __device__")
    return f"{_CUDA_WORDS}\n{own}"


# ---------------------------------------------------------------------------- routines


@dataclass(frozen=True, slots=True)
class _NativeRoutine:
    """A routine in Python: its functions in C, its set-up, its lines."""

    plan: PlannedRoutine
    functions: tuple[ExportedFunction, ...]
    setup: tuple[str, ...]
    lines: tuple[str, ...]


def _made(
    plan: PlannedRoutine,
    printed: Mapping[str, CFunction],
    codes: tuple[KernelCode, ...],
    form: NativeForm,
) -> _NativeRoutine:
    routine, held = plan.routine, plan.held
    if held is None:
        return _NativeRoutine(plan, (), (), tuple(lines_of(plan.before, {})))
    checks = form.api.checks(held, {code.key: code for code in codes})
    tables = set_up(plan, form.api.tables, checks)
    functions = tuple(
        form.function(f"{routine.name}_{number}", part, printed[part.code.key], plan, tables)
        for number, part in enumerate(plan.parts, 1)
    )
    names = NameTable(item.name for item in routine.dummies)
    run = names.fresh("run")
    imports, called = module_imports(functions, codes, names)
    calls = [", ".join((str(number), *call_arguments(one, called)))
             for number, one in enumerate(functions)]  # fmt: skip
    text = [
        *(f"# {text_of(item.owner)}: {item.why}" for item in held.items),
        *imports,
        *(
            f'{meshes.CHECK_VECTOR}({name}, {len(parts)}, "{name}")'
            for name, parts in vector_parts(plan).items()
        ),
        *made_ready(routine),
        f"with {_object_name(routine)}({bound_data(plan)}) as {run}:",
        *indented(_body(plan, run, calls, apart=form.device)),
    ]
    return _NativeRoutine(plan, functions, tables.lines, tuple(text))


def _body(plan: PlannedRoutine, run: str, calls: list[str], *, apart: bool) -> Iterator[str]:
    """Yield the statements done while data are held: functions are called by their numbers."""
    assert plan.held is not None
    waiting = iter(zip(plan.parts, calls, strict=True))
    for in_c, group in statement_groups(plan.held.body, apart=apart):
        if in_c:
            part, given = next(waiting)
            yield from _call(run, given, part)
        else:
            yield from lines_of(group, {})


def _call(run: str, given: str, part: ComputedPart) -> Iterator[str]:
    """Yield the call of a function, and what becomes of what it reduces to."""
    declared = {item.name: item for item in part.code.declarations if isinstance(item, Declare)}
    for name in part.reduced:
        yield f"{found_name(plain(name))} = ctypes.{_C_TYPES[dtype_of(declared[name])]}()"
    found = "".join(f", {plain(name)}.{meshes.ADDRESS}" for name in part.exact)
    found += "".join(f", ctypes.addressof({found_name(plain(name))})" for name in part.reduced)
    yield f"{run}({given}{found})"
    for name in part.reduced:
        value = f"{found_name(plain(name))}.{meshes.VALUE}"
        value = f"np.float32({value})" if declared[name].type == SINGLE else value
        yield f"{plain(name)}.{meshes.VALUE} = {value}"


# ---------------------------------------------------------------------------- Python


def _python(unit: Unit, made: list[_NativeRoutine], form: NativeForm) -> str:
    lines = [f'"""{unit.comment or unit.name}"""', ""]
    text = "\n".join(line for one in made for line in (*one.setup, *one.lines))
    if "ctypes." in text:
        lines += ["import ctypes", ""]
    if "np." in text:
        lines += ["import numpy as np", ""]
    if any(one.plan.held for one in made):
        wanted = sorted([form.library, meshes.ROUTINE])
        wanted += [word for word in form.api.words if _is_called(word, text)]
        lines += [f"from {form.api.module} import {', '.join(wanted)}", ""]
        lines += [f"{_LIBRARY} = {form.library}(globals())", ""]
    for one in made:
        lines += ["", *_routine(one, form), ""]
    return "\n".join(lines).rstrip() + "\n"


def _is_called(word: str, text: str) -> bool:
    """Return whether a statement is a call of a function, or assigns what it returns."""
    starts = (line.lstrip().rpartition(" = ")[2] for line in text.splitlines())
    return any(start.startswith(f"{word}(") for start in starts)


def _routine(one: _NativeRoutine, form: NativeForm) -> Iterator[str]:
    plan, routine = one.plan, one.plan.routine
    if plan.held is not None:
        yield from laid_out(f"def {_setup_name(routine)}(", setup_arguments(plan), "):", "")
        yield from indented(one.setup)
        yield ""
        yield ""
        yield f"{_object_name(routine)} = {meshes.ROUTINE}("
        yield from indented(_described(one, plan.held, form.api))
        yield ")"
        yield ""
        yield ""
    dummies = [plain(item.name) for item in routine.dummies]
    yield from laid_out(f"def {routine.name}(", dummies, "):", "")
    lines = list(one.lines)
    if not any(line and not line.startswith("#") for line in lines):
        lines.append("return")
    yield from indented(lines)


def _described(one: _NativeRoutine, held: HoldData, api: ProgramApi) -> Iterator[str]:
    """Yield the arguments by which the runtime describes a routine."""
    items = [item for item in held.items if not is_of_grid(item)]
    words = ["covered" if item.covered else "written" for item in items]
    accesses = [word if item.written else "read" for word, item in zip(words, items, strict=True)]
    declared = {item.name: item for item in one.plan.routine.variables}
    functions = [f'("{part.name}", "{part.types}"{api.launch(part)})' for part in one.functions]
    yield f"{_LIBRARY},"
    yield f"{_setup_name(one.plan.routine)},"
    if any(function.launch for function in one.functions):
        yield from ("[", *indented([f"{text}," for text in functions]), "],")
    else:
        yield f"[{', '.join(functions)}],"
    yield f'"{" ".join(accesses)}",'
    if api.types:
        yield f'"{" ".join(dtype_of(declared[item.array]) for item in items)}",'
    yield from laid_out("meant=[", [f'"{item.meant}"' for item in items], "],", "")


def _setup_name(routine: Routine) -> str:
    return f"_{routine.name}_setup"


def _object_name(routine: Routine) -> str:
    return f"_{routine.name.upper()}"
