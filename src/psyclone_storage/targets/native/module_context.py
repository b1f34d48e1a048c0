"""Modules around the code that is printed in C: kernels, their variables, kinds of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Literal, Origin, Sort, Symbol
from psyclone_storage.ir.routine import Callee, ModuleContext, Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType


def modules_around(
    codes: Mapping[str, Routine], kinds: Mapping[str, int], *, bounds_checks: bool = False
) -> ModuleContext:
    """Return the modules of kernels, and constants that are `kinds` of numbers in any module."""
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
    """Yield the variables that a kernel in Python reads, its module's own and those of others.

    A name has one type in a module, so kernels of one module agree on it. Variables of modules in
    Fortran, of which a kernel is one procedure, are not seen from Python.
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
    """Return the constant of a kind of numbers that have so many bytes."""
    value = Literal(str(size), Intrinsic.INTEGER)
    type_ = ScalarType(Intrinsic.INTEGER)
    return Symbol(name, name, Origin.IMPORTED, Sort.CONSTANT, type_, value=value)
