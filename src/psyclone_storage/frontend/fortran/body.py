"""The code of a kernel's subroutine, and what the module around it offers.

Statements are told apart in `specified` and `constructs`; `reader` reads the expressions, types and
entities in them. What is not understood is kept as it is written (`ir.unit.Opaque`).
Nothing is read unless somebody asks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.frontend.fortran.brackets import closing
from psyclone_storage.frontend.fortran.constructs import read_lines
from psyclone_storage.frontend.fortran.device_directives import as_called, joined
from psyclone_storage.frontend.fortran.elements import (
    Element,
    Remark,
    RemarkKind,
    elements,
    names_in,
    opaque,
    stop_of,
)
from psyclone_storage.frontend.fortran.offers import intents_of, is_pure, scalars_of, structures_in
from psyclone_storage.frontend.fortran.procedures import subroutine_names
from psyclone_storage.frontend.fortran.specification import END_TYPE, TYPE_DEFINITION
from psyclone_storage.frontend.fortran.specified import (
    INTERFACE,
    Specification,
    end_of_specification,
    read_specification,
)
from psyclone_storage.frontend.fortran.statements import SourceStatement, scan
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader, read_units
from psyclone_storage.ir.code import (
    STATEMENT_FUNCTION,
    KernelCode,
    KernelModule,
    Structure,
)
from psyclone_storage.ir.loops import addressed
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import Procedure, SymbolTable
from psyclone_storage.ir.unit import Declare, Opaque

_HEAD = regex(
    r"(?P<prefix>.*?)\b(?:subroutine|function)\s+[a-z]\w*(?:\s*(?P<dummies>\())?", re.IGNORECASE
)
_PROCEDURES = (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION)
_NOT_NESTED = ("P005", "P006")
_REMEMBERED = 4


def read_code(source: SourceText, name: str) -> KernelCode:
    """Return the subroutine `name` of a module.

    Raises `CompileError` if no module of the file has such a subroutine (P048), or the units of
    the file cannot be told apart (P005, P006).
    """
    file = read_file(source)
    reader, statements = file.reader, file.statements
    raise_if_any([problem for problem in reader.problems if problem.code in _NOT_NESTED])
    for scope in reader.opened:
        around = scope.parent
        if around is not None and _is_wanted(scope, around, name.lower()):
            return _with_helpers(file.code(scope, around), around, reader, statements)
    hint = did_you_mean(name, sorted(subroutine_names(source)))
    message = f"The subroutine '{name}' is in no module of '{source.name}'."
    raise CompileError(Diagnostic("P048", message, file=source.name, hint=hint))


@dataclass(slots=True)
class ReadFile:
    """The units and statements of a file, and its modules, by their places, once read."""

    reader: UnitReader
    statements: list[SourceStatement]
    _modules: dict[int, KernelModule] = field(default_factory=dict)

    def code(self, scope: OpenScope, around: OpenScope) -> KernelCode:
        """Return the procedure of `scope`, in the module `around`, both of the reader."""
        begin = around.opening.offset(0)
        if begin not in self._modules:
            self._modules[begin] = _module(self.reader, around, scope, self.statements)
        own = replace(self._modules[begin], routine=_place(scope), symbols=SymbolTable())
        return _code(scope, own, self.statements)


@lru_cache(maxsize=_REMEMBERED)
def read_file(source: SourceText) -> ReadFile:
    """Return what a file holds, which is asked for each of its procedures that is called."""
    return ReadFile(read_units(source)[0], list(scan(source)))


def _with_helpers(
    code: KernelCode, around: OpenScope, reader: UnitReader, statements: list[SourceStatement]
) -> KernelCode:
    """Return `code` with the procedures of its module that it may call, directly or not."""
    inside = {item.name.lower(): item for item in reader.opened if item.parent is around}
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
    known = {scope.name.lower(): as_called(reader, scope) for scope in called}
    known |= {
        item.name: joined(item.name, [known[name] for name in item.procedures])
        for item in around.generics
        if item.procedures and not item.bodies and all(one in known for one in item.procedures)
    }
    module = replace(code.module, known=tuple(known.values()))
    own = (replace(module, routine=_place(scope), symbols=SymbolTable()) for scope in called)
    helpers = (_code(*pair, statements) for pair in zip(called, own, strict=True))
    return replace(code, module=module, helpers=tuple(helpers))


def code_of(reader: UnitReader, scope: OpenScope, statements: list[SourceStatement]) -> KernelCode:
    """Return the procedure of `scope`, which is in a module that `reader` has read."""
    around = scope.parent
    assert around is not None
    return _code(scope, _module(reader, around, scope, statements), statements)


def _is_wanted(scope: OpenScope, around: OpenScope, name: str) -> bool:
    is_of_module = scope.kind is ScopeKind.SUBROUTINE and around.kind is ScopeKind.MODULE
    return is_of_module and scope.name.lower() == name


def _module(
    reader: UnitReader, around: OpenScope, scope: OpenScope, statements: list[SourceStatement]
) -> KernelModule:
    first = around.opening.whole().stop
    inside = statements_between(statements, first, around.stop)
    last = _contains(inside[:-1])
    place = Span(around.opening.source, first, inside[last].offset(0))
    specification = read_specification(list(elements(inside[:last], place)))
    own = [item for item in reader.opened if item.parent is around and item.kind in _PROCEDURES]
    heads = (INTERFACE.match(item.text) for item in inside[:-1])
    return KernelModule(
        around.name,
        Span(around.opening.source, _end_before(reader, around), around.stop),
        _place(scope),
        specification.uses,
        specification.declarations,
        tuple(_procedure(item, reader, statements) for item in own),
        frozenset(head["name"].lower() for head in heads if head and head["name"]),
        structures=_structures(reader, around),
    )


def _structures(reader: UnitReader, around: OpenScope) -> tuple[Structure, ...]:
    """Return the derived types of a module, by their plain names and as those of the module."""
    own = tuple(structures_in(reader, around))
    return (*(replace(item, module="") for item in own), *own)


def _end_before(reader: UnitReader, around: OpenScope) -> int:
    """Return the end of the unit before `around`, 0 if it is the first."""
    first = around.opening.offset(0)
    units = [item.stop for item in reader.opened if item.parent is None and item.stop <= first]
    return max(units, default=0)


def _procedure(
    scope: OpenScope, reader: UnitReader, statements: list[SourceStatement]
) -> Procedure:
    place = _place(scope)
    inside = statements_between(statements, place.start, place.stop)
    names = frozenset[str]().union(*(names_in(item.text) for item in inside))
    is_function = scope.kind is ScopeKind.FUNCTION
    pure = is_pure(scope)
    dummies = intents_of(reader, scope) if pure else ()
    scalars = scalars_of(reader, scope, names) if pure else frozenset[str]()
    return Procedure(scope.name.lower(), names, place, is_function, pure, dummies, scalars)


def _code(scope: OpenScope, module: KernelModule, statements: list[SourceStatement]) -> KernelCode:
    text = scope.opening.text
    head = _HEAD.match(text)
    prefix = head["prefix"].strip() if head else ""
    close = closing(text, head.start("dummies")) if head and head["dummies"] else -1
    run = _elements(scope, statements)
    contains = _contains(run)
    body = end_of_specification(run[:contains])
    specification = read_specification(run[:body])
    if functions := end_of_functions(run[body:contains], specification):
        body += functions
        specification = read_specification(run[:body])
    code = KernelCode(
        scope.name,
        scope.dummies,
        specification.declarations,
        read_lines(run[body:contains]),
        module,
        specification.uses,
        prefix,
        specification.directives,
        text[close + 1 :].strip() if close >= 0 else "",
        _internal(run[contains + 1 :]),
        specified=_specified(scope, run[:body]),
    )
    return addressed(code)


def _specified(scope: OpenScope, run: list[Element]) -> Span:
    """Return the place of a specification part, which ends with a declaration or a directive."""
    start = scope.opening.whole().stop
    kinds = (RemarkKind.COMMENT, RemarkKind.BLANK)
    items = [item for item in run if not (isinstance(item, Remark) and item.kind in kinds)]
    return Span(scope.opening.source, start, stop_of(items[-1]) if items else start)


def end_of_functions(run: Sequence[Element], specification: Specification) -> int:
    """Return the position behind the statement functions at the start of `run`.

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
        found = STATEMENT_FUNCTION.match(item.text)
        if found is None or found["name"].lower() not in scalars - unclear:
            break
        end = place
    return end


def _place(scope: OpenScope) -> Span:
    return Span(scope.opening.source, scope.opening.offset(0), scope.stop)


def _elements(scope: OpenScope, statements: list[SourceStatement]) -> list[Element]:
    """Return all that stands between the opening and the end statement of `scope`."""
    first = scope.opening.whole().stop
    inside = statements_between(statements, first, scope.stop)
    place = Span(scope.opening.source, first, inside[-1].offset(0))
    return list(elements(inside[:-1], place))


def statements_between(
    statements: list[SourceStatement], start: int, stop: int
) -> list[SourceStatement]:
    """Return the statements that begin between two offsets, of all in the order of their text."""
    first = bisect_left(statements, start, key=_begin)
    return statements[first : bisect_left(statements, stop, lo=first, key=_begin)]


def _begin(statement: SourceStatement) -> int:
    return statement.offset(0)


def _contains(run: Sequence[Element]) -> int:
    """Return the position of the `contains` of the scope itself, behind the end if none.

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
