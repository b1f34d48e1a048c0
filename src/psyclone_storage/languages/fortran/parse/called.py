"""Code of called procedures: subroutines and functions of a module.

The name of a generic interface denotes all specific procedures of that interface.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Expr, Name, Origin
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import (
    everywhere,
    names_of_line,
    rewritten,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declaration_of
from psyclone_storage.ir.unit import Declare, Line, Opaque, ScopedBlock
from psyclone_storage.languages.fortran.parse.body import code_of
from psyclone_storage.languages.fortran.parse.constructs import read_whole_lines
from psyclone_storage.languages.fortran.parse.module_symbols import symbol_of
from psyclone_storage.languages.fortran.parse.procedures import read_bindings
from psyclone_storage.languages.fortran.parse.scope_reader import GENERIC, read_scopes
from psyclone_storage.languages.fortran.parse.scopes import ScopeNode
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.trivia import elements

FINAL = "final("
"""The name by which `read_bound` returns the final procedures of a type."""
_FINAL = regex(r"final\b\s*(?:::)?\s*(?P<names>\w[\w\s,]*)$", re.IGNORECASE)
_OVERLOAD = regex(
    r"(?:interface|generic\b[^:]*::)\s*(?P<word>operator|assignment|read|write)\s*"
    r"\(\s*(?P<operator>[^\s()]+)\s*\)\s*(?:=>\s*(?P<names>[\w\s,]+))?$"
)
_DOTTED = {".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">="}
_MODULES = (ScopeKind.MODULE, ScopeKind.SUBMODULE)


def read_called(source: SourceText, module: str, name: str) -> tuple[tuple[Routine, str], ...]:
    """Return the procedures that `name` denotes in `module`, each with its result name.

    The result name of a subroutine is ''. The function returns an empty tuple if the module does
    not have this name, or if a specific procedure is defined elsewhere.
    """
    around = next((one for one in read_scopes(source).modules if one.key == module.lower()), None)
    if around is None:
        return ()
    names = _specifics(around, name.lower())
    found = [scope for wanted in names for scope in around.procedures if scope.key == wanted]
    if len(found) != len(names):
        return ()
    return tuple(map(_with_result, found))


def read_with_internal(source: SourceText, module: str, name: str) -> tuple[Routine, ...]:
    """Return a module procedure followed by its internal procedures.

    Names of the host procedure become local names of its internal procedures. The function returns
    an empty tuple if the module does not have this procedure.
    """
    for around in read_scopes(source).scopes:
        if around.key != module.lower() or around.kind not in _MODULES:
            continue
        for scope in around.procedures:
            if scope.key == name:
                code = _with_result(scope)[0]
                inside = (code_of(item, around) for item in scope.procedures)
                return code, *(_seeing(code, item) for item in inside)
    return ()


def _seeing(outer: Routine, inner: Routine) -> Routine:
    """Return an internal procedure with the declarations and imports of its host procedure."""
    hidden = local_names(inner)
    seen = (item for item in outer.declarations
            if not isinstance(item, Declare) or item.key not in hidden)  # fmt: skip
    declarations = (*seen, *inner.declarations)
    uses = (*inner.uses, *outer.uses)
    return inner.with_specification(declarations=declarations, uses=uses)


def with_constructs(code: Routine) -> Routine:
    """Return `code` with the constructs that are stored as text replaced by their statements.

    The statements of a `block` construct replace the construct. Its declarations and imports are
    moved to the procedure. A name also used outside the block gets a suffix starting with '@'.
    """
    opaque = any(isinstance(line, Opaque) for line in walk_lines(code.body))
    if code.module.is_python or not opaque:
        return code
    opened = rewritten(code.body, _opened)
    uses, declarations = [*code.uses], [*code.declarations]
    used = _names(opened) + Counter(local_names(code))

    def dissolved(line: Line) -> tuple[Line, ...]:
        if not isinstance(line, ScopedBlock):
            return (line,)
        inside, suffix = _names((line,)), f"@{len(declarations) + len(uses)}"
        own = {item.key: item.name for item in line.declarations if isinstance(item, Declare)}
        own |= {item.key: item.local for use in line.uses for item in use.names}
        new = {key: own[key] + suffix for key in own if used[key] > inside[key]}
        for use in line.uses:
            names = (replace(one, local=new.get(one.key, one.local)) for one in use.names)
            uses.append(replace(use, names=tuple(names)))
        declarations.extend(_renamed(item, new) for item in line.declarations)
        values: dict[str, Expr] = {key: Name(name) for key, name in new.items()}
        return everywhere(line.body, lambda expr: substituted(expr, values))

    body = rewritten(opened, dissolved)
    return replace(code.with_specification(uses=uses, declarations=declarations), body=body)


def _renamed(item: Specified, new: Mapping[str, str]) -> Specified:
    """Return a declaration with variables renamed."""
    if isinstance(item, Declare):
        return replace(item, name=new.get(item.key, item.name))
    if isinstance(item, Opaque):
        return replace(item, names=frozenset(new.get(key, key) for key in item.names))
    return item


def _opened(line: Line) -> Iterable[Line]:
    """Parse a construct stored as text and return its statements; return other lines unchanged."""
    if not isinstance(line, Opaque) or line.place is None:
        return (line,)
    place = line.place
    inside = read_scopes(place.source).statements_between(place.start, place.stop)
    return read_whole_lines(list(elements(inside, place)))


def _names(lines: Iterable[Line]) -> Counter[str]:
    """Return the number of lines that use each name."""
    return Counter(name for line in walk_lines(lines) for name in names_of_line(line))


def specific_procedures(source: SourceText, module: str, name: str) -> tuple[str, ...]:
    """Return the specific procedures, in lower case, that `name` denotes in a module.

    For a name that is not generic, this is the procedure of that name. The function returns an
    empty tuple if the interface describes an external procedure.
    """
    found: list[str] = []
    for scope in read_scopes(source).modules:
        if scope.key == module.lower():
            for generic in scope.generics:
                if generic.name == name:
                    found += generic.names
                elif not generic.name and any(name == body.lower() for body, _ in generic.bodies):
                    return ()
    return tuple(dict.fromkeys(found)) or (name,)


def has_interface(source: SourceText, module: str, name: str) -> bool:
    """Return whether a module contains an interface for the generic `name` (in lower case)."""
    scopes = (one for one in read_scopes(source).modules if one.key == module.lower())
    return any(generic.name == name for scope in scopes for generic in scope.generics)


def bound_procedures(source: SourceText, type_name: str, binding: str) -> tuple[str, ...]:
    """Return the procedures, in lower case, to which a type-bound name refers.

    The function returns an empty tuple if the type does not define the binding itself or defers it.
    """
    targets: dict[str, tuple[str, ...]] = {}
    for statement in _bindings(source, type_name):
        if "deferred" in statement.text.lower():
            continue
        for bound in read_bindings(statement):
            targets[bound.name.lower()] = (bound.target.lower(),)
        if generic := GENERIC.match(statement.text):
            names = re.findall(r"\w+", generic["names"].lower())
            targets[generic["name"].lower()] = tuple(names)
        if final := _FINAL.match(statement.text):
            names = re.findall(r"\w+", final["names"].lower())
            targets[FINAL] = (*targets.get(FINAL, ()), *names)
    found = targets.get(binding, ())
    return tuple(dict.fromkeys(one for name in found for one in targets.get(name, (name,))))


def _bindings(source: SourceText, type_name: str) -> Iterator[SourceStatement]:
    """Yield the statements after `contains` in all derived types named `type_name`."""
    for scope in read_scopes(source).scopes:
        for definition in scope.definitions:
            if definition.structure.name == type_name:
                yield from definition.bindings


def read_operators(source: SourceText) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the procedures for each defined operator, assignment, and input or output.

    Keys are such as `operator(+)`, `assignment(=)`, `read(...)` and `write(...)`. A value contains
    pairs: a procedure name in lower case and '', or a binding and its derived type.
    """
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for scope in read_scopes(source).scopes:
        for definition in scope.definitions:
            for statement in definition.bindings:
                if opened := _OVERLOAD.match(statement.text.lower()):
                    names = re.findall(r"\w+", opened["names"] or "")
                    pairs = tuple((one, definition.structure.name) for one in names)
                    found[_overload(opened)] = (*found.get(_overload(opened), ()), *pairs)
        for block in scope.generics:
            if opened := _OVERLOAD.match(block.opening.text.lower()):
                pairs = tuple((one, "") for one in block.procedures)
                found[_overload(opened)] = (*found.get(_overload(opened), ()), *pairs)
    return found


def _overload(opened: re.Match[str]) -> str:
    """Return the canonical name of a defined operator or assignment, such as `operator(==)`."""
    return f"{opened['word']}({_DOTTED.get(opened['operator'], opened['operator'])})"


def _specifics(module: ScopeNode, name: str) -> tuple[str, ...]:
    for generic in module.generics:
        if generic.name == name and generic.procedures:
            return tuple(generic.procedures)
    return (name,)


def _with_result(scope: ScopeNode) -> tuple[Routine, str]:
    """Return a procedure with an explicit declaration of its result, and the result name."""
    code = code_of(scope)
    if scope.kind is ScopeKind.SUBROUTINE:
        return code, ""
    result = (scope.result or scope.name).lower()
    if code.declared(result) is None:
        for item in scope.parsed.declarations:
            if item.key == result:
                declared = declaration_of(symbol_of(item, Origin.LOCAL))
                declarations = (*code.declarations, declared)
                return code.with_specification(declarations=declarations), result
    return code, result
