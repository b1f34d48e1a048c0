"""Procedures of modules, parsed on demand, with the declarations of the enclosing module."""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import routine as rt
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.scopes import local_names, seen_procedures
from psyclone_storage.ir.symbols import Procedure, SymbolTable
from psyclone_storage.languages.fortran.parse.device_directives import as_called, joined
from psyclone_storage.languages.fortran.parse.exports import intents_of, scalars_of, structures_in
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.spec_part import (
    read_items,
)
from psyclone_storage.languages.fortran.parse.spec_statements import END_TYPE, TYPE_DEFINITION
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.syntax_tree import read_unit
from psyclone_storage.languages.fortran.parse.trivia import (
    Element,
    elements,
    words_in,
)

_NOT_NESTED = ("P005", "P006")


def read_code(source: SourceText, name: str) -> rt.Routine:
    """Return the subroutine `name` of a module.

    Raises:
        CompileError: P048, no module of the file has this subroutine; P005 or P006, the program
            units do not nest correctly.
    """
    file = read_scopes(source)
    raise_if_any([problem for problem in file.problems if problem.code in _NOT_NESTED])
    for scope in file.scopes:
        if _is_wanted(scope, name.lower()):
            return _with_helpers(code_of(scope), scope)
    hint = did_you_mean(name, sorted(subroutine_names(source)))
    message = f"The subroutine '{name}' is in no module of '{source.name}'."
    raise CompileError(Diagnostic("P048", message, file=source.name, hint=hint))


def code_of(scope: ScopeNode, module: ScopeNode | None = None) -> rt.Routine:
    """Return the procedure of `scope`; `module` is the enclosing scope, by default the parent."""
    around = module or scope.parent
    assert around is not None
    own = replace(_module(around), routine=scope.place, symbols=SymbolTable())
    return _code(scope, own)


def _with_helpers(code: rt.Routine, scope: ScopeNode) -> rt.Routine:
    """Return `code` with all procedures of its module that it calls directly or indirectly."""
    around = scope.parent
    assert around is not None
    inside = {item.key: item for item in around.children}
    names = {item.name: item.names for item in code.module.procedures}
    names |= {item.name: frozenset(item.procedures) for item in around.generics if item.name}
    found: set[str] = set()
    new = code.used_names - local_names(code)
    while new := new - found:
        found |= new
        new = frozenset[str]().union(*(names.get(key, frozenset()) for key in new))
    called = [inside[key] for key in sorted(found & inside.keys() - {code.key})]
    if not called:
        return code
    known = {item.key: as_called(item) for item in called}
    known |= {
        item.name: joined(item.name, [known[name] for name in item.procedures])
        for item in around.generics
        if item.procedures and not item.bodies and all(one in known for one in item.procedures)
    }
    module = replace(code.module, known=tuple(known.values()))
    own = (replace(module, routine=item.place, symbols=SymbolTable()) for item in called)
    use = rt.KernelUse(helpers=tuple(map(_code, called, own)))
    return replace(code, module=module, kernel_use=use)


def _is_wanted(scope: ScopeNode, name: str) -> bool:
    is_of_module = scope.parent is not None and scope.parent.kind is ScopeKind.MODULE
    return is_of_module and scope.kind is ScopeKind.SUBROUTINE and scope.key == name


def _module(around: ScopeNode) -> rt.KernelModule:
    """Return the declarations of a module that its procedures can use; the result is cached."""
    if around.module is None:
        around.module = _read_module(around)
    return around.module


def _read_module(around: ScopeNode) -> rt.KernelModule:
    first = around.opening.whole().stop
    inside = around.statements[1:]
    last = _contains(inside[:-1])
    place = Span(around.opening.source, first, inside[last].offset(0))
    specification = read_items(list(elements(inside[:last], place)), whole=False)
    return rt.KernelModule(
        around.name,
        Span(around.opening.source, _end_before(around), around.stop),
        around.place,
        rt.uses_in(specification),
        rt.declarations_in(specification),
        tuple(map(procedure_of, around.procedures)),
        frozenset(one.name for one in around.generics if one.name),
        structures=_structures(around),
    )


def _structures(around: ScopeNode) -> tuple[rt.Structure, ...]:
    """Return the derived types of a module, each both without and with its module name."""
    own = tuple(structures_in(around))
    return (*(replace(item, module="") for item in own), *own)


def _end_before(around: ScopeNode) -> int:
    """Return the end of the preceding program unit, or 0 for the first unit."""
    first = around.place.start
    units = [item.stop for item in around.file.scopes if item.parent is None and item.stop <= first]
    return max(units, default=0)


def procedure_of(scope: ScopeNode, *, promised: bool = False) -> Procedure:
    """Return the record of a procedure for its callers; it is pure if that is `promised`."""
    names = frozenset[str]().union(*(words_in(item.text) for item in scope.statements))
    is_function = scope.kind is ScopeKind.FUNCTION
    pure = promised or (scope.head is not None and scope.head.is_pure)
    dummies = intents_of(scope) if pure else ()
    scalars = scalars_of(scope, names) if pure else frozenset[str]()
    return Procedure(scope.key, names, scope.place, is_function, pure, dummies, scalars)


def _code(scope: ScopeNode, module: rt.KernelModule) -> rt.Routine:
    code = read_unit([scope.opening, *_elements(scope)], module)
    seen = seen_procedures(code, module.procedures)
    return replace(code, module=replace(module, procedures=seen))


def _elements(scope: ScopeNode) -> list[Element]:
    """Return all elements between the first and the last statement of `scope`."""
    first = scope.opening.whole().stop
    inside = scope.statements[1:]
    place = Span(scope.opening.source, first, inside[-1].offset(0))
    return list(elements(inside[:-1], place))


def _contains(run: Sequence[Element]) -> int:
    """Return the position of the `contains` statement of a scope, or the end of `run`.

    A `contains` statement inside a derived type is ignored.
    """
    in_type = False
    for place, item in enumerate(run):
        if isinstance(item, SourceStatement):
            in_type = (
                in_type or TYPE_DEFINITION.match(item.text) is not None
            ) and not END_TYPE.match(item.text)
            if item.text.lower() == "contains" and not in_type:
                return place
    return len(run)
