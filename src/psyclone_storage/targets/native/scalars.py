"""Scalars passed to C functions with each call, as Python expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir.routine import Routine
from psyclone_storage.targets.native.functions import ExportedFunction, ScalarArgument


def call_arguments(function: ExportedFunction, called: Mapping[ScalarArgument, str]) -> list[str]:
    """Return the scalar arguments of a function.

    `called` are the local names of module variables.
    """
    return [called.get(replace(item, name=""), item.python) for item in function.scalars]


def module_imports(
    functions: Sequence[ExportedFunction], codes: tuple[Routine, ...], names: NameTable
) -> tuple[list[str], dict[ScalarArgument, str]]:
    """Return imports of module variables used by kernels, and their local names.

    They are read with each call, as in Python kernels.

    Raises:
        CompileError: P052, names of two variables differ only in case.
    """
    scalars = dict.fromkeys(item for function in functions for item in function.scalars)
    known = _known({(one.module, one.python) for one in scalars if one.module}, codes)
    lines: list[str] = []
    locals_: dict[tuple[str, str], str] = {}
    called: dict[ScalarArgument, str] = {}
    for one in scalars:
        if one.module:
            module, said = known[one.module, one.python]
            original, bracket, index = said.partition("[")
            if (local := locals_.get((module, original))) is None:
                local = locals_[module, original] = names.fresh(original)
                renamed = f" as {local}" if local != original else ""
                lines.append(f"from {module} import {original}{renamed}")
            called[replace(one, name="")] = f"{local}{bracket}{index}"
    return lines, called


def _known(
    read: set[tuple[str, str]], codes: tuple[Routine, ...]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Return module and original name of the variables in `read`, by key."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for key, module, name in _variables(codes):
        _, other = found.setdefault(key, (module, name))
        if key in read and other != name:
            message = f"Kernels of an invoke use '{other}' and '{name}' of the module '{module}'."
            hint = "Names are those of code in C, too: let them differ in more than case."
            raise CompileError(Diagnostic("P052", message, hint=hint))
    return found


def _variables(codes: tuple[Routine, ...]) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Yield the module variables that kernels may read: key, module and original name."""
    for code in codes:
        module = code.module
        for key, item in module.declared.items():
            yield (module.key, key), module.name, item.name
        for key, one in module.symbols.symbols.items():
            yield (one.module_key, key), one.module, one.name
