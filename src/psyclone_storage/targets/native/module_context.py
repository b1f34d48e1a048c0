"""Module context for code printed in C: kernels, module variables and kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Literal, Origin, Sort, Symbol
from psyclone_storage.ir.routine import Callee, ModuleContext, Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType


def modules_around(
    codes: Mapping[str, Routine], kinds: Mapping[str, int], *, bounds_checks: bool = False
) -> ModuleContext:
    """Return the context with the modules of kernels, and constants for `kinds`."""
    variables = {
        (one.module_key, one.key): one for code in codes.values() for one in _variables(code)
    }

    def symbol(module: str, name: str) -> Symbol | None:
        if name in kinds:
            return kind_symbol(name, kinds[name])
        return variables.get((module, name))

    def procedures(_module: str, name: str) -> tuple[Callee, ...]:
        return (Callee(codes[name]),) if name in codes else ()

    return ModuleContext(symbol, procedures, bounds_checks)


def _variables(code: Routine) -> Iterator[Symbol]:
    """Yield the variables that a Python kernel reads, of its own and other modules.

    A name has one type in a module, so that kernels of one module agree. Variables of Fortran
    modules are not visible from Python.
    """
    module = code.module
    if not module.is_python:
        return
    for key in module.declared:
        own = module.symbol(key)
        if own is not None and own.sort is Sort.VARIABLE:
            yield replace(own, origin=Origin.IMPORTED, module=module.name)
    yield from module.symbols.symbols.values()


def kind_symbol(name: str, size: int) -> Symbol:
    """Return the constant for a kind parameter with the given size in bytes."""
    value = Literal(str(size), Intrinsic.INTEGER)
    type_ = ScalarType(Intrinsic.INTEGER)
    return Symbol(name, name, Origin.IMPORTED, Sort.CONSTANT, type_, value=value)
