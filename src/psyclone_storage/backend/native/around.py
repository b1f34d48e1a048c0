"""What C for columns knows of other modules: kernels, their variables, the kinds of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.lfric import LOGICAL, SIZES
from psyclone_storage.ir.code import Callee, KernelCode, ModuleContext
from psyclone_storage.ir.expr import Literal, Origin, Sort, Symbol
from psyclone_storage.ir.types import Intrinsic, ScalarType

_OF_LOGICALS = 4


def modules_around(
    codes: Mapping[str, KernelCode], *, bounds_checks: bool = False
) -> ModuleContext:
    """Return what is known of other modules: the kernels, their variables, the kinds of numbers."""
    variables = {
        (one.module_key, one.key): one for code in codes.values() for one in _variables(code)
    }

    def symbol(module: str, name: str) -> Symbol | None:
        return _kind(name) or variables.get((module, name))

    def procedures(_module: str, name: str) -> tuple[Callee, ...]:
        return (Callee(codes[name]),) if name in codes else ()

    return ModuleContext(symbol, procedures, bounds_checks)


def _variables(code: KernelCode) -> Iterator[Symbol]:
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


def _kind(name: str) -> Symbol | None:
    size = _OF_LOGICALS if name == LOGICAL.kind else SIZES.get(name)
    if size is None:
        return None
    value = Literal(str(size), Intrinsic.INTEGER)
    type_ = ScalarType(Intrinsic.INTEGER)
    return Symbol(name, name, Origin.IMPORTED, Sort.CONSTANT, type_, value=value)
