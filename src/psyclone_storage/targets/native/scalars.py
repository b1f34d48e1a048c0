"""Scalars passed to C functions with each call, as Python expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir.routine import Routine
from psyclone_storage.targets.gocean_python.abi import MODULE_VALUE
from psyclone_storage.targets.native.functions import ExportedFunction, ScalarArgument

_KINDS: Mapping[str, str] = {"d": "float", "i": "int"}


def call_arguments(function: ExportedFunction, called: Mapping[ScalarArgument, str]) -> list[str]:
    """Return the scalar arguments of a function.

    `called` are the local names of module variables.
    """
    return [called.get(replace(item, name=""), item.python) for item in function.scalars]


def module_imports(
    functions: Sequence[ExportedFunction], codes: tuple[Routine, ...], names: NameTable
) -> tuple[list[str], dict[ScalarArgument, str]]:
    """Return statements that read the module variables of kernels, and their local names.

    They are read with each call, as in Python kernels. Values that the first function does not
    check are checked here, because fields would lose their values by an error of a later one.

    Raises:
        CompileError: P052, names of two variables differ only in case.
    """
    scalars = [[replace(item, name="") for item in one.scalars if item.module] for one in functions]
    read = dict.fromkeys(chain.from_iterable(scalars))
    known = _known({(one.module, one.python) for one in read}, codes)
    lines, locals_ = _imports([known[one.module, one.python] for one in read], names)
    called: dict[ScalarArgument, str] = {}
    for one in read:
        module, said = known[one.module, one.python]
        original, bracket, index = said.partition("[")
        local = locals_[module, original]
        called[one] = f"{local}{bracket}{index}"
        if one not in scalars[0] and one.letter in _KINDS:
            called[one] = names.fresh(f"{original}_value")
            lines.append(f"{called[one]} = {_checked(original, local, one.letter, index)}")
    return lines, called


def _checked(name: str, local: str, letter: str, index: str) -> str:
    """Return an expression that reads a variable, or its element, and checks its type."""
    parts = [f'"{name}"', local, f'"{_KINDS[letter]}"', *filter(None, [index.rstrip("]")])]
    return f"{MODULE_VALUE}({', '.join(parts)})"


def _imports(
    read: Iterable[tuple[str, str]], names: NameTable
) -> tuple[list[str], dict[tuple[str, str], str]]:
    """Return imports of variables, each with its module, and their local names."""
    lines: list[str] = []
    found: dict[tuple[str, str], str] = {}
    for module, said in read:
        original = said.partition("[")[0]
        if (module, original) not in found:
            local = found[module, original] = names.fresh(original)
            renamed = f" as {local}" if local != original else ""
            lines.append(f"from {module} import {original}{renamed}")
    return lines, found


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
