"""The code of procedures that others call: subroutines and functions of a module.

A name of an interface stands for all the procedures of the module that the interface names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.body import read_file, statements_between
from psyclone_storage.frontend.fortran.constructs import read_whole_lines
from psyclone_storage.frontend.fortran.elements import elements
from psyclone_storage.frontend.fortran.module_symbols import symbol_of
from psyclone_storage.frontend.fortran.procedures import read_bindings
from psyclone_storage.frontend.fortran.specification import END_TYPE
from psyclone_storage.frontend.fortran.statements import scan
from psyclone_storage.frontend.fortran.units import OpenScope, UnitReader, read_units
from psyclone_storage.ir.code import KernelCode, Specified
from psyclone_storage.ir.expr import Expr, Name, Origin
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import (
    everywhere,
    names_of_line,
    rewritten,
    substituted,
    walk_lines,
)
from psyclone_storage.ir.scopes import local_names
from psyclone_storage.ir.symbols import declaration_of
from psyclone_storage.ir.unit import Declare, Line, Opaque, ScopedBlock

_TYPE = regex(r"type\b(?!\s*\()(?:.*::|\s)\s*(?P<name>[a-z]\w*)\s*$", re.IGNORECASE)
_GENERIC = regex(
    r"generic\b[^:]*::\s*(?P<name>[a-z]\w*)\s*=>\s*(?P<names>[\w\s,]+)$", re.IGNORECASE
)
FINAL = "final("
"""The name by which `read_bound` returns the final procedures of a type."""
_FINAL = regex(r"final\b\s*(?:::)?\s*(?P<names>\w[\w\s,]*)$", re.IGNORECASE)
_OVERLOAD = regex(
    r"(?:interface|generic\b[^:]*::)\s*(?P<word>operator|assignment|read|write)\s*"
    r"\(\s*(?P<operator>[^\s()]+)\s*\)\s*(?:=>\s*(?P<names>[\w\s,]+))?$"
)
_LISTED = regex(r"(?:module\s+)?procedure\b\s*(?:::)?\s*(?P<names>[\w\s,]+)$")
_DOTTED = {".eq.": "==", ".ne.": "/=", ".lt.": "<", ".le.": "<=", ".gt.": ">", ".ge.": ">="}
_PROCEDURES = (ScopeKind.SUBROUTINE, ScopeKind.FUNCTION)


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


def read_with_internal(source: SourceText, module: str, name: str) -> tuple[KernelCode, ...]:
    """Return a procedure of `module`, and after it its internal procedures.

    Those see the names of the procedure around them as names of their own. Nothing is returned
    where the module has no such procedure.
    """
    file = read_file(source)
    for scope in file.reader.opened:
        around = scope.parent
        if around is None or around.name.lower() != module.lower():
            continue
        if _is_procedure(scope, name) and around.kind in (ScopeKind.MODULE, ScopeKind.SUBMODULE):
            code = _with_result(file.code(scope, around), file.reader, scope)[0]
            inner = [item for item in file.reader.opened if item.parent is scope]
            inside = (file.code(item, around) for item in inner if item.kind in _PROCEDURES)
            return code, *(_seeing(code, item) for item in inside)
    return ()


def _seeing(outer: KernelCode, inner: KernelCode) -> KernelCode:
    """Return an internal procedure with the declarations and imports around it."""
    hidden = local_names(inner)
    seen = (item for item in outer.declarations
            if not isinstance(item, Declare) or item.key not in hidden)  # fmt: skip
    declarations = (*seen, *inner.declarations)
    return replace(inner, declarations=declarations, uses=(*inner.uses, *outer.uses))


def with_constructs(code: KernelCode) -> KernelCode:
    """Return `code` with the statements of the constructs that it contains as text.

    The statements of a `block` replace it: its declarations and imports become those of the
    procedure. A name that is also used outside of the block gets a suffix that begins with '@'.
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
    return replace(code, body=body, uses=tuple(uses), declarations=tuple(declarations))


def _renamed(item: Specified, new: Mapping[str, str]) -> Specified:
    """Return a declaration with new names for some variables."""
    if isinstance(item, Declare):
        return replace(item, name=new.get(item.key, item.name))
    if isinstance(item, Opaque):
        return replace(item, names=frozenset(new.get(key, key) for key in item.names))
    return item


def _opened(line: Line) -> Iterable[Line]:
    """Return the statements of a construct that is carried as text, or the line itself."""
    if not isinstance(line, Opaque) or line.place is None:
        return (line,)
    place = line.place
    inside = statements_between(read_file(place.source).statements, place.start, place.stop)
    return read_whole_lines(list(elements(inside, place)))


def _names(lines: Iterable[Line]) -> Counter[str]:
    """Count the lines in which each name is used."""
    return Counter(name for line in walk_lines(lines) for name in names_of_line(line))


def read_specifics(source: SourceText, module: str, name: str) -> tuple[str, ...]:
    """Return the procedures, in lower case, that `name` refers to in a module.

    They are those of a generic interface, or the one of this name. Nothing is returned for an
    interface of a procedure that no module has.
    """
    found: list[str] = []
    for scope in read_units(source)[0].opened:
        if scope.kind is ScopeKind.MODULE and scope.name.lower() == module.lower():
            for generic in scope.generics:
                if generic.name == name:
                    found += [*generic.procedures, *(body for body, _ in generic.bodies)]
                elif not generic.name and any(name == body.lower() for body, _ in generic.bodies):
                    return ()
    return tuple(dict.fromkeys(key.lower() for key in found)) or (name,)


def read_bound(source: SourceText, type_name: str, binding: str) -> tuple[str, ...]:
    """Return the procedures, in lower case, that a type-bound name refers to.

    Nothing is returned where the type does not name the binding itself, or defers it.
    """
    inside = False
    targets: dict[str, tuple[str, ...]] = {}
    for statement in scan(source):
        head = _TYPE.match(statement.text)
        inside = (inside or (head is not None and head["name"].lower() == type_name)) and not (
            END_TYPE.match(statement.text)
        )
        if inside and "deferred" not in statement.text.lower():
            for bound in read_bindings(statement):
                targets[bound.name.lower()] = (bound.target.lower(),)
            if generic := _GENERIC.match(statement.text):
                names = re.findall(r"\w+", generic["names"].lower())
                targets[generic["name"].lower()] = tuple(names)
            if final := _FINAL.match(statement.text):
                names = re.findall(r"\w+", final["names"].lower())
                targets[FINAL] = (*targets.get(FINAL, ()), *names)
    found = targets.get(binding, ())
    return tuple(dict.fromkeys(one for name in found for one in targets.get(name, (name,))))


def read_operators(source: SourceText) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the procedures of `operator(...)`, `assignment(=)`, `read(...)` and `write(...)`.

    Each is a pair: a procedure name in lower case and nothing, or a binding and the name of its
    type.
    """
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    type_name = name = ""
    for statement in scan(source):
        text = statement.text.lower()
        if head := _TYPE.match(text):
            type_name = head["name"]
        if opened := _OVERLOAD.match(text):
            name = f"{opened['word']}({_DOTTED.get(opened['operator'], opened['operator'])})"
            names = re.findall(r"\w+", opened["names"] or "")
            found[name] = (*found.get(name, ()), *((one, type_name) for one in names))
        elif name and (listed := _LISTED.match(text)):
            names = re.findall(r"\w+", listed["names"])
            found[name] = (*found[name], *((one, "") for one in names))
        elif text.startswith("end"):
            name = "" if "interface" in text else name
    return found


def _specifics(module: OpenScope, name: str) -> tuple[str, ...]:
    for generic in module.generics:
        if generic.name == name and generic.procedures:
            return tuple(generic.procedures)
    return (name,)


def _is_procedure(scope: OpenScope, name: str) -> bool:
    return scope.kind in _PROCEDURES and scope.name.lower() == name


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
