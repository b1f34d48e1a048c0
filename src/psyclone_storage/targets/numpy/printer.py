"""Printer of grid units as NumPy modules: invokes, and a function for each kernel."""

from __future__ import annotations

from psyclone_storage.ir.unit import Unit
from psyclone_storage.languages.fortran.print.printer import InlinedProcedures
from psyclone_storage.targets.gocean_python import abi
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
    routines = [with_own_names(one, abi.RESERVED) for one in unit.routines]
    functions = [emit_function(routine, lines_of(routine.body, {})) for routine in routines]
    return emit_module(unit, [*functions, *inlined.procedures], abi.MODULE, _words)


def _words(text: str) -> list[str]:
    return sorted(name for name in abi.FROM_MODULE if f"{name}(" in text)
