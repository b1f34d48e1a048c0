"""Printer of grid units as NumPy modules: invokes, and a function for each kernel."""

from __future__ import annotations

from collections.abc import Container

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import CallFunction, Expr, Name
from psyclone_storage.ir.rewrite import names_inside, rewritten
from psyclone_storage.ir.unit import Assign, Call, GeneratedRoutine, Line, Unit
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.kernel import name_of_reading
from psyclone_storage.targets.python_host import (
    emit_function,
    emit_module,
    lines_of,
    require_no_modules,
    with_own_names,
)


def emit_numpy_module(unit: Unit, inlined: InlinedProcedures) -> str:
    """Return the text of a module, ending in a newline.

    Raises:
        CompileError: G010, Python cannot express a part of it.
    """
    require_no_modules(unit)
    kernels = [*map(list, inlined.procedures)]
    heads = {lines[0] for lines in kernels}
    routines = [with_own_names(_with_numbers(one, heads), abi.RESERVED) for one in unit.routines]
    functions = [emit_function(routine, lines_of(routine.body, {})) for routine in routines]
    return emit_module(unit, [*functions, *kernels], abi.MODULE, _words)


def _with_numbers(routine: GeneratedRoutine, heads: Container[str]) -> GeneratedRoutine:
    """Return a routine that passes real scalars to kernels as numbers of Python.

    A scalar may be a number of NumPy, or the result of a reduction. It is converted before fields
    are held, because they would lose their values by an error, unless reductions may change it.
    For the same reason, module variables are read before that; `heads` are the first lines of the
    functions for kernels.
    """
    reals = {item.key for item in routine.dummies if item.type == abi.REAL}
    changes = any(not names_inside(line).isdisjoint(abi.REDUCING) for line in routine.body)
    used: dict[str, Line] = {}
    read: dict[str, Line] = {}

    def passed(actual: Expr) -> Expr:
        if not isinstance(actual, Name) or actual.key not in reals:
            return actual
        number = CallFunction(Name(abi.TO_REAL), (actual,))
        used[actual.key] = Assign(actual, number)
        return number if changes else actual

    def changed(line: Line) -> tuple[Line, ...]:
        match line:
            case Call(Name(kernel), args):
                reading = name_of_reading(kernel)
                if f"def {reading}():" in heads:
                    read[kernel] = Call(Name(reading), ())
                return (replace(line, args=tuple(map(passed, args))),)
        return (line,)

    body = rewritten(routine.body, changed)
    before = read.values() if changes else (*read.values(), *used.values())
    return replace(routine, body=(*before, *body))


def _words(text: str) -> list[str]:
    return sorted(name for name in abi.FROM_MODULE if f"{name}(" in text)
