"""Printer of units as a Python module, which binds data, and a C or CUDA file.

The statements between two exchanges form one C function. Its arguments are the arrays, numbers and
scalars that the statements use. Values that do not change for the same data, such as loop bounds
and maps, are computed once by the function `_..._setup`. Reduction results are returned by pointer.
On a device each loop is a function and a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures.lfric import SINGLE
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.unit import Declare, GeneratedRoutine, HoldData, Unit
from psyclone_storage.languages.c import exact_sums
from psyclone_storage.languages.c.calls import CFunction
from psyclone_storage.languages.c.entry_points import check_array_lengths
from psyclone_storage.languages.c.helpers import cuda_preamble, preamble
from psyclone_storage.languages.c.printer import (
    CUnit,
    check_nothing,
    function_text,
    print_together,
)
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.targets.gocean_python import abi as grids
from psyclone_storage.targets.lfric_python import abi as meshes
from psyclone_storage.targets.native.apis import GRIDS, MESHES, ProgramApi
from psyclone_storage.targets.native.functions import (
    ExportedFunction,
    device_function,
    host_function,
)
from psyclone_storage.targets.native.module_context import modules_around
from psyclone_storage.targets.native.parts import (
    ComputedPart,
    PlannedRoutine,
    dtype_of,
    found_name,
    made_ready,
    planned,
)
from psyclone_storage.targets.native.scalars import call_arguments, module_imports
from psyclone_storage.targets.native.setup import (
    ArgumentTables,
    bound_data,
    is_of_grid,
    set_up,
    setup_arguments,
    vector_checks,
)
from psyclone_storage.targets.native.statements import statement_groups
from psyclone_storage.targets.numpy.expressions import python_identifier
from psyclone_storage.targets.python_host import (
    bracketed_list,
    called_words,
    emit_function,
    emit_module,
    held_remarks,
    indented_lines,
    lines_of,
    require_no_modules,
    with_own_names,
)

_LIBRARY = "_LIBRARY"
_C_TYPES = {"f4": "c_float", "f8": "c_double", "i4": "c_int32"}
_LENGTHS = "Apply 'kernel-constants', by which it is, or call this kernel in an invoke in C."
_CUDA_WORDS = """\
#ifndef PSY_ON_HOST
#define PSY_KERNEL extern "C" __global__
#endif
"""


@dataclass(frozen=True, slots=True)
class NativeForm:
    """Differences between the C and CUDA targets.

    `library` is the runtime class that loads the generated source, from files with `suffix`.
    `function` generates the entry point of a part. On a `device`, threads share its iterations.
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


def _emit(
    unit: Unit, inlined: InlinedProcedures, *, form: NativeForm
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a Python module, and the files that it loads: pairs of suffix and text.

    Raises:
        CompileError: G004, a kernel cannot be expressed in C; G005, in CUDA; G010, another
            construct is not supported.
    """
    require_no_modules(unit)
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
    return _python(unit, made, form), ((form.suffix, _c_text(unit, printed, made, form)),)


emit_grids_c = partial(_emit, form=_GRIDS_ON_HOST)
emit_grids_cuda = partial(_emit, form=_GRIDS_ON_DEVICE)
emit_meshes_c = partial(_emit, form=_MESHES_ON_HOST)
emit_meshes_cuda = partial(_emit, form=_MESHES_ON_DEVICE)


# ---------------------------------------------------------------------------- C


def _printed(
    inlined: InlinedProcedures, plans: Iterable[PlannedRoutine], form: NativeForm
) -> CUnit:
    """Return kernels and parts as C functions."""
    loops = [part.code for plan in plans for part in plan.parts]
    codes = {code.key: code for code in inlined.codes}
    around = modules_around(codes, form.api.kinds, bounds_checks=inlined.bounds_checks)
    check = partial(check_array_lengths, hint=_LENGTHS) if form.device else check_nothing
    printed = print_together(inlined.codes, loops, around, check)
    if form.device and "psy_random" in printed.helpers:
        message = "Kernels of CUDA have no pseudo-random numbers, which 'setval_random' sets."
        raise CompileError(Diagnostic("G010", message, hint="Set them in an invoke in C."))
    return printed


def _c_text(unit: Unit, printed: CUnit, made: list[_NativeRoutine], form: NativeForm) -> str:
    """Return the C file: helpers, kernels, and the functions that Python calls."""
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
    """Return the CUDA preamble with the required helpers."""
    if exact_sums.HELPER in helpers:
        helpers.add(exact_sums.GIVING)
    return f"{_CUDA_WORDS}\n{cuda_preamble(helpers)}"


# ---------------------------------------------------------------------------- routines


@dataclass(frozen=True, slots=True)
class _NativeRoutine:
    """A routine in Python: its C functions, its set-up and its lines."""

    plan: PlannedRoutine
    functions: tuple[ExportedFunction, ...]
    setup: tuple[str, ...]
    lines: tuple[str, ...]


def _made(
    plan: PlannedRoutine,
    printed: Mapping[str, CFunction],
    codes: tuple[Routine, ...],
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
    names = NameTable([*(item.name for item in routine.dummies), *form.api.words])
    run = names.fresh("run")
    imports, called = module_imports(functions, codes, names)
    calls = [", ".join((str(number), *call_arguments(one, called)))
             for number, one in enumerate(functions)]  # fmt: skip
    text = [
        *held_remarks(held),
        *imports,
        *vector_checks(plan),
        *made_ready(routine),
        f"with {_object_name(routine)}({bound_data(plan)}) as {run}:",
        *indented_lines(_body(plan, run, calls, apart=form.device)),
    ]
    return _NativeRoutine(plan, functions, tables.lines, tuple(text))


def _body(plan: PlannedRoutine, run: str, calls: list[str], *, apart: bool) -> Iterator[str]:
    """Yield the statements executed while data are acquired; C functions are called by number."""
    assert plan.held is not None
    waiting = list(zip(plan.parts, calls, strict=True))
    for in_c, group in statement_groups(plan.held.body, apart=apart):
        if in_c:
            part, given = waiting.pop(0)
            yield from _call(run, given, part)
        else:
            yield from lines_of(group, {})


def _call(run: str, given: str, part: ComputedPart) -> Iterator[str]:
    """Yield the call of a C function, and the assignment of its reduction results."""
    declared = {item.name: item for item in part.code.declarations if isinstance(item, Declare)}
    for name in part.reduced:
        type_ = _C_TYPES[dtype_of(declared[name])]
        yield f"{found_name(python_identifier(name))} = ctypes.{type_}()"
    found = "".join(f", {python_identifier(name)}.{meshes.ADDRESS}" for name in part.exact)
    found += "".join(
        f", ctypes.addressof({found_name(python_identifier(name))})" for name in part.reduced
    )
    yield f"{run}({given}{found})"
    for name in part.reduced:
        value = f"{found_name(python_identifier(name))}.{meshes.VALUE}"
        value = f"np.float32({value})" if declared[name].type == SINGLE else value
        yield f"{python_identifier(name)}.{meshes.VALUE} = {value}"


# ---------------------------------------------------------------------------- Python


def _python(unit: Unit, made: list[_NativeRoutine], form: NativeForm) -> str:
    functions = [lines for one in made for lines in _functions(one, form)]
    if not any(one.plan.held for one in made):
        return emit_module(unit, functions, form.api.module, partial(called_words, form.api.words))
    always = sorted([form.library, meshes.ROUTINE])
    return emit_module(
        unit,
        functions,
        form.api.module,
        lambda text: [*always, *called_words(form.api.words, text)],
        f"{_LIBRARY} = {form.library}(globals())",
    )


def _functions(one: _NativeRoutine, form: NativeForm) -> Iterator[list[str]]:
    """Yield the set-up of a routine, the object that binds data, and the Python function."""
    plan, routine = one.plan, one.plan.routine
    if plan.held is not None:
        head = bracketed_list(f"def {_setup_name(routine)}(", setup_arguments(plan), "):", "")
        yield [*head, *indented_lines(one.setup)]
        described = indented_lines(_described(one, plan.held, form.api))
        yield [f"{_object_name(routine)} = {meshes.ROUTINE}(", *described, ")"]
    yield emit_function(routine, one.lines)


def _described(one: _NativeRoutine, held: HoldData, api: ProgramApi) -> Iterator[str]:
    """Yield the arguments that describe a routine to the runtime."""
    items = [item for item in held.items if not is_of_grid(item)]
    accesses = [_access(item) for item in items]
    declared = {item.name: item for item in one.plan.routine.variables}
    functions = [f'("{part.name}", "{part.types}"{api.launch(part)})' for part in one.functions]
    yield f"{_LIBRARY},"
    yield f"{_setup_name(one.plan.routine)},"
    if any(function.launch for function in one.functions):
        yield from ("[", *indented_lines([f"{text}," for text in functions]), "],")
    else:
        yield f"[{', '.join(functions)}],"
    yield f'"{" ".join(accesses)}",'
    if api.types:
        yield f'"{" ".join(dtype_of(declared[item.array]) for item in items)}",'
    yield from bracketed_list("meant=[", [f'"{item.meant}"' for item in items], "],", "")
    if held.sets_flags:
        yield "sets_flags=True,"


def _access(item: Held) -> str:
    """Return the word that describes the access of a routine to data."""
    if not item.written:
        return f"moved={item.moved}" if item.moved else "read"
    return "covered" if item.covered else "written"


def _setup_name(routine: GeneratedRoutine) -> str:
    return f"_{routine.name}_setup"


def _object_name(routine: GeneratedRoutine) -> str:
    return f"_{routine.name.upper()}"
