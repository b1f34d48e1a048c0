"""The code of procedures that others call: subroutines and functions of a module.

A name of an interface stands for all the procedures of the module that the interface names.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.body import read_file
from psyclone_storage.frontend.fortran.module_symbols import symbol_of
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import Origin
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.symbols import declaration_of


def read_called(source: SourceText, module: str, name: str) -> tuple[tuple[KernelCode, str], ...]:
    """Return the procedures behind `name` in `module`, each with the name of its result.

    A subroutine has no result. Nothing is returned where the module has no such name, or where a
    procedure of an interface is none of the module's own.
    """
    file = read_file(source)
    reader = file.reader
    modules = [scope for scope in reader.opened if scope.kind is ScopeKind.MODULE]
    around = [scope for scope in modules if scope.name.lower() == module.lower()]
    if not around:
        return ()
    names = _specifics(around[0], name.lower())
    found = [scope for wanted in names for scope in reader.opened
             if scope.parent is around[0] and _is_procedure(scope, wanted)]  # fmt: skip
    if len(found) != len(names):
        return ()
    return tuple(_with_result(file.code(scope, around[0]), reader, scope) for scope in found)


def _specifics(module: OpenScope, name: str) -> tuple[str, ...]:
    for generic in module.generics:
        if generic.name == name and generic.procedures:
            return tuple(generic.procedures)
    return (name,)


def _is_procedure(scope: OpenScope, name: str) -> bool:
    is_called = scope.kind in (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION)
    return is_called and scope.name.lower() == name


def _with_result(code: KernelCode, reader: UnitReader, scope: OpenScope) -> tuple[KernelCode, str]:
    """Return a procedure with a declaration of its result, also where its head declares that."""
    if scope.kind is ScopeKind.SUBROUTINE:
        return code, ""
    result = (scope.result or scope.name).lower()
    if code.declared(result) is None:
        for item in reader.scope(scope).declarations:
            if item.name.lower() == result:
                declared = declaration_of(symbol_of(item, Origin.LOCAL))
                return replace(code, declarations=(*code.declarations, declared)), result
    return code, result
