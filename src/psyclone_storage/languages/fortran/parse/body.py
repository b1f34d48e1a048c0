"""The code of a kernel's subroutine, and the declarations of the enclosing module.

Statements are told apart in `specified` and `constructs`; `reader` reads the expressions, types and
entities in them. Unsupported text is preserved verbatim (`ir.unit.Opaque`). Everything is read
lazily.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import code as kc
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.program_units import ProgramUnit, SourceFile
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import Procedure, SymbolTable
from psyclone_storage.ir.unit import Declare, Opaque
from psyclone_storage.languages.fortran.parse.constructs import read_lines
from psyclone_storage.languages.fortran.parse.device_directives import as_called, joined
from psyclone_storage.languages.fortran.parse.exports import intents_of, scalars_of, structures_in
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.spec_part import (
    Specification,
    end_of_specification,
    read_specification,
)
from psyclone_storage.languages.fortran.parse.spec_statements import END_TYPE, TYPE_DEFINITION
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.trivia import (
    Element,
    Remark,
    RemarkKind,
    elements,
    opaque,
    stop_of,
    words_in,
)

_NOT_NESTED = ("P005", "P006")


def read_code(source: SourceText, name: str) -> kc.KernelCode:
    """Return the subroutine `name` of a module.

    Raises `CompileError` if no module of the file has such a subroutine (P048), or the units of
    the file cannot be told apart (P005, P006).
    """
    file = read_scopes(source)
    raise_if_any([problem for problem in file.problems if problem.code in _NOT_NESTED])
    for scope in file.scopes:
        if _is_wanted(scope, name.lower()):
            return _with_helpers(code_of(scope), scope)
    hint = did_you_mean(name, sorted(subroutine_names(source)))
    message = f"The subroutine '{name}' is in no module of '{source.name}'."
    raise CompileError(Diagnostic("P048", message, file=source.name, hint=hint))


class FileRoutines:
    """The procedures and main programs of a file, each as code with its names resolved.

    `file` is linked. The names in `keys` are in the order of the text; one that several routines
    have is preceded by the name of the unit around it. A main program without name is `main`.
    """

    def __init__(self, file: SourceFile, resolve: Callable[[kc.KernelCode], kc.KernelCode]) -> None:
        self.file = file
        self._resolve = resolve
        self._codes: dict[str, kc.KernelCode] = {}
        scopes = read_scopes(file.source)
        by_start = {scope.opening.offset(0): scope for scope in scopes.scopes}
        found = [
            (unit, by_start[unit.extent.start])
            for unit in file.every_unit()
            if unit.extent is not None and unit.kind in _ROUTINES and unit.extent.start in by_start
        ]
        counts = Counter(scope.key for _, scope in found)
        self._found: dict[str, tuple[ProgramUnit, ScopeNode]] = {}
        for unit, scope in found:
            around = scope.parent
            several = counts[scope.key] > 1 and around is not None
            key = f"{around.key}.{scope.key}" if several and around else scope.key or "main"
            self._found.setdefault(key, (unit, scope))

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the routines, in lower case."""
        return tuple(self._found)

    def unit(self, key: str) -> ProgramUnit:
        """Return the program unit of a routine."""
        return self._found[key][0]

    def code(self, key: str) -> kc.KernelCode:
        """Return a routine, read on the first request."""
        if key not in self._codes:
            unit, scope = self._found[key]
            place = scope.place
            own = replace(_surroundings(scope), routine=place, symbols=SymbolTable())
            code = replace(_code(scope, own), body=unit.body)
            self._codes[key] = addressed(self._resolve(code))
        return self._codes[key]


def _surroundings(scope: ScopeNode) -> kc.KernelModule:
    """Return the declarations of all scopes around a procedure, the inner ones first."""
    found = kc.KernelModule("", scope.place, scope.place)
    for outer in reversed(tuple(scope.outwards())[1:]):
        one = _module(outer)
        found = replace(
            one,
            name=found.name or one.name,
            uses=(*one.uses, *found.uses),
            declarations=(*one.declarations, *found.declarations),
            procedures=(*one.procedures, *found.procedures),
            generics=one.generics | found.generics,
            structures=(*one.structures, *found.structures),
        )
    return found


_ROUTINES = (ScopeKind.PROGRAM, ScopeKind.SUBROUTINE, ScopeKind.FUNCTION, ScopeKind.SEPARATE)


def code_of(scope: ScopeNode, module: ScopeNode | None = None) -> kc.KernelCode:
    """Return the procedure of `scope`, which is in `module`, its parent if none is given."""
    around = module or scope.parent
    assert around is not None
    own = replace(_module(around), routine=scope.place, symbols=SymbolTable())
    return _code(scope, own)


def _with_helpers(code: kc.KernelCode, scope: ScopeNode) -> kc.KernelCode:
    """Return `code` with the procedures of its module that it may call, directly or not."""
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
    return replace(code, module=module, helpers=tuple(map(_code, called, own)))


def _is_wanted(scope: ScopeNode, name: str) -> bool:
    is_of_module = scope.parent is not None and scope.parent.kind is ScopeKind.MODULE
    return is_of_module and scope.kind is ScopeKind.SUBROUTINE and scope.key == name


def _module(around: ScopeNode) -> kc.KernelModule:
    """Return the declarations that a module provides to its procedures; it is read once for all."""
    if around.module is None:
        around.module = _read_module(around)
    return around.module


def _read_module(around: ScopeNode) -> kc.KernelModule:
    first = around.opening.whole().stop
    inside = around.statements[1:]
    last = _contains(inside[:-1])
    place = Span(around.opening.source, first, inside[last].offset(0))
    run = list(elements(inside[:last], place))
    if around.kind not in (ScopeKind.MODULE, ScopeKind.SUBMODULE):
        run = run[: end_of_specification(run)]
    specification = read_specification(run)
    return kc.KernelModule(
        around.name,
        Span(around.opening.source, _end_before(around), around.stop),
        around.place,
        specification.uses,
        specification.declarations,
        tuple(map(_procedure, around.procedures)),
        frozenset(one.name for one in around.generics if one.name),
        structures=_structures(around),
    )


def _structures(around: ScopeNode) -> tuple[kc.Structure, ...]:
    """Return the derived types of a module, by their plain names and as those of the module."""
    own = tuple(structures_in(around))
    return (*(replace(item, module="") for item in own), *own)


def _end_before(around: ScopeNode) -> int:
    """Return the end of the unit before `around`, 0 if it is the first."""
    first = around.place.start
    units = [item.stop for item in around.file.scopes if item.parent is None and item.stop <= first]
    return max(units, default=0)


def _procedure(scope: ScopeNode) -> Procedure:
    names = frozenset[str]().union(*(words_in(item.text) for item in scope.statements))
    is_function = scope.kind is ScopeKind.FUNCTION
    pure = scope.head is not None and scope.head.is_pure
    dummies = intents_of(scope) if pure else ()
    scalars = scalars_of(scope, names) if pure else frozenset[str]()
    return Procedure(scope.key, names, scope.place, is_function, pure, dummies, scalars)


def _code(scope: ScopeNode, module: kc.KernelModule) -> kc.KernelCode:
    head = scope.head
    run = _elements(scope)
    contains = _contains(run)
    body = end_of_specification(run[:contains])
    specification = read_specification(run[:body])
    if functions := end_of_functions(run[body:contains], specification):
        body += functions
        specification = read_specification(run[:body])
    code = kc.KernelCode(
        scope.name,
        scope.dummies,
        specification.declarations,
        read_lines(run[body:contains]),
        module,
        specification.uses,
        "" if head is None else head.prefix,
        specification.directives,
        "" if head is None else head.suffix,
        _internal(run[contains + 1 :]),
        specified=_specified(scope, run[:body]),
    )
    return addressed(code)


def _specified(scope: ScopeNode, run: list[Element]) -> Span:
    """Return the place of a specification part, which ends with a declaration or a directive."""
    start = scope.opening.whole().stop
    kinds = (RemarkKind.COMMENT, RemarkKind.BLANK)
    items = [item for item in run if not (isinstance(item, Remark) and item.kind in kinds)]
    return Span(scope.opening.source, start, stop_of(items[-1]) if items else start)


def end_of_functions(run: Sequence[Element], specification: Specification) -> int:
    """Return the position after the statement functions at the start of `run`.

    They belong to the specification part and define functions, whose types are declared there.
    """
    unclear = frozenset[str]().union(
        *(item.names for item in specification.declarations if isinstance(item, Opaque))
    )
    scalars = {
        item.name.lower()
        for item in specification.declarations
        if isinstance(item, Declare) and not item.shape and not item.attributes
    }
    end = 0
    for place, item in enumerate(run, 1):
        if isinstance(item, Remark):
            continue
        found = kc.STATEMENT_FUNCTION.match(item.text)
        if found is None or found["name"].lower() not in scalars - unclear:
            break
        end = place
    return end


def _elements(scope: ScopeNode) -> list[Element]:
    """Return all elements between the opening and the end statement of `scope`."""
    first = scope.opening.whole().stop
    inside = scope.statements[1:]
    place = Span(scope.opening.source, first, inside[-1].offset(0))
    return list(elements(inside[:-1], place))


def _contains(run: Sequence[Element]) -> int:
    """Return the position of the `contains` of the scope itself, the end of `run` if it has none.

    That of a type comes before `end type`.
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


def _internal(run: list[Element]) -> Opaque | None:
    """Return the internal procedures in `run` without the lines around them."""
    inner = [place for place, item in enumerate(run) if not isinstance(item, Remark)]
    return opaque(run[inner[0] : inner[-1] + 1]) if inner else None
