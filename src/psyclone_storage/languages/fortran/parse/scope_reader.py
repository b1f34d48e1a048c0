"""Parsing of the scopes of a file: their first and last statements and specification parts.

Only specification statements are parsed. All other statements are listed with their scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import Verbatim
from psyclone_storage.ir.parsed import (
    Association,
    ScopeKind,
)
from psyclone_storage.languages.fortran.parse.brackets import first_outside, list_items
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.scopes import (
    INDENT,
    FileScopes,
    InterfaceBlock,
    ScopeNode,
    Standing,
)
from psyclone_storage.languages.fortran.parse.spec_statements import (
    read_declarations,
    read_procedure,
    read_structure,
    read_use,
)
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_INCLUDED = regex(r"include\s*(['\"])(?P<name>[^'\"]+)\1", re.IGNORECASE)
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
_UNIT = regex(
    r"(?:(?P<kind>program|module)\s+|submodule\s*\([^()]*\)\s*)(?P<name>[a-z]\w*)$", re.IGNORECASE
)
_SEPARATE = regex(r"module\s+procedure\s+(?P<name>[a-z]\w*)$", re.IGNORECASE)
_BLOCK = regex(r"(?:\w+\s*:\s*)?block$", re.IGNORECASE)
_ASSOCIATE = regex(r"(?:\w+\s*:\s*)?associate\s*\((?P<list>.*)\)$", re.IGNORECASE)
_SELECT = regex(
    r"(?:\w+\s*:\s*)?(?:select\s*(?:type|rank)|change\s*team)\s*\("
    r"(?P<list>.*=>.*)\)(?:\s*\w+)?$",
    re.IGNORECASE,
)
_ASSIGNED = regex(r"\w+\s*(?:\([^()]*\)\s*)?[=%]")
_BLOCK_DATA = regex(r"block\s*data\b", re.IGNORECASE)
_END_BLOCK_DATA = regex(r"end\s*(?:block\s*data\b.*)?$", re.IGNORECASE)
_INTERFACE = regex(
    r"(?P<abstract>abstract\s+)?interface\b(?!\s*[=(%])"
    r"(?:\s*(?P<name>(?!(?:operator|assignment|read|write)\s*\()[a-z]\w*)$)?",
    re.IGNORECASE,
)
_LISTED = regex(r"(?:module\s+)?procedure\b\s*(?:::)?\s*(?P<names>[\w\s,]+)$", re.IGNORECASE)
GENERIC = regex(r"generic\b[^:]*::\s*(?P<name>[a-z]\w*)\s*=>\s*(?P<names>[\w\s,]+)$", re.IGNORECASE)
"""A statement that declares a generic name, in a module or in a derived type."""
_END_INTERFACE = regex(r"end\s*interface\b", re.IGNORECASE)
END = regex(
    r"end(?:\s*(?P<kind>subroutine|function|program|module|submodule|procedure|block|associate)\b"
    r"(?:\s*\w+)?)?$",
    re.IGNORECASE,
)
"""A statement that ends a program unit, a procedure, or a construct with declarations."""
_REST_OF_LINE = regex(r"[ \t]*(?:![^\n]*)?\r?(?:\n|\Z)")
_CONSTRUCTS = (ScopeKind.BLOCK, ScopeKind.ASSOCIATE)
_UNITS = (ScopeKind.PROGRAM, ScopeKind.MODULE, ScopeKind.SUBMODULE)
_DIRECTIVE = regex(r"^[ \t]*#", re.MULTILINE)
_PREFIXES = (
    "pure", "impure", "elemental", "recursive", "non_recursive", "attributes", "subroutine",
    "function",
)  # fmt: skip
_TYPES = (
    "real", "integer", "logical", "character", "complex", "class", "double", "doubleprecision",
)  # fmt: skip
_SELECTING = ("select", "selecttype", "selectrank", "change", "changeteam")
_ATTRIBUTES = (
    "parameter", "dimension", "common", "external", "allocatable", "pointer", "target", "data",
    "save", "equivalence", "codimension", "volatile", "asynchronous", "namelist",
)  # fmt: skip
_REMEMBERED = 16


@lru_cache(maxsize=_REMEMBERED)
def read_scopes(source: SourceText) -> FileScopes:
    """Return the scopes of a file; the result is cached."""
    file = FileScopes(source)
    file.others.extend(_ScopeReader(file).others())
    return file


class _ScopeReader:
    """Parser for the scopes of one file; its state is the stack of open scopes."""

    def __init__(self, file: FileScopes) -> None:
        self._file = file
        self._statements = iter(file.statements)
        self._scope: ScopeNode | None = None
        self._rules: dict[str, Callable[[SourceStatement], bool]] = {
            "use": self._use,
            "program": self._unit,
            "module": self._module,
            "submodule": self._unit,
            "interface": self._interface,
            "generic": self._generic,
            "abstract": self._interface,
            "block": self._block,
            "associate": self._associate,
            **dict.fromkeys(_SELECTING, self._select),
            "type": self._type,
            "implicit": self._implicit,
            "include": self._include,
            "enumerator": self._other_names,
            "procedure": self._other_names,
            **dict.fromkeys(_ATTRIBUTES, self._attribute),
            **dict.fromkeys(_TYPES, self._declaration),
            **dict.fromkeys(_PREFIXES, self._procedure),
        }

    def others(self) -> Iterator[Standing]:
        """Yield each statement outside the specification parts, with its enclosing scope."""
        for statement in self._statements:
            head = _WORD.match(statement.text)
            word = head.group().lower() if head else ""
            if self._scope is not None and self._scope.indent < 0:
                self._scope.indent = _indent_in(self._scope, statement, word)
            if word[:3] == "end" and self._end(statement):
                continue
            if word == "contains" and self._scope is not None:
                self._scope.has_contains = True
            rule = self._rules.get(word) or self._named_construct(statement, word)
            if rule is None or not self._try(rule, statement):
                yield statement, self._scope
        while self._scope is not None:
            self._close(self._scope, len(self._file.source.text), complete=False)

    def _try(self, rule: Callable[[SourceStatement], bool], statement: SourceStatement) -> bool:
        """Apply the parser `rule`; record an error and treat the statement as parsed."""
        try:
            return rule(statement)
        except CompileError as error:
            self._file.problems.extend(error.problems)
            return True

    def _named_construct(
        self, statement: SourceStatement, word: str
    ) -> Callable[[SourceStatement], bool] | None:
        rest = statement.text[len(word) :].lstrip()
        if not rest.startswith(":"):
            return None
        if rest[1:].lstrip()[:6].lower() in ("select", "change"):
            return self._select
        return self._associate if "associate" in rest.lower() else self._block

    # ------------------------------------------------------------------------ rules

    def _use(self, statement: SourceStatement) -> bool:
        use = read_use(statement)
        scope = self._scope
        if use is None or scope is None:
            return False
        scope.uses.append(use)
        if statement.conditional <= scope.opening.conditional:
            scope.end_of_uses = _behind(statement)
        return True

    def _unit(self, statement: SourceStatement) -> bool:
        unit = _UNIT.match(statement.text)
        if unit is None:
            return False
        kind = ScopeKind((unit.group("kind") or "submodule").lower())
        self._open(kind, unit.group("name"), statement)
        return True

    def _module(self, statement: SourceStatement) -> bool:
        separate = _SEPARATE.match(statement.text)
        if separate:
            self._open(ScopeKind.SEPARATE, separate.group("name"), statement)
            return True
        return self._unit(statement) or self._procedure(statement)

    def _procedure(self, statement: SourceStatement) -> bool:
        head = read_procedure(statement)
        if head is None:
            return False
        self._check_contains(statement)
        scope = self._open(ScopeKind(head.kind), head.name, statement)
        scope.head = head
        if (result := head.read_result()) is not None:
            scope.declarations.append(result)
        return True

    def _check_contains(self, statement: SourceStatement) -> None:
        """Report the first procedure of a unit that no `contains` separates from declarations.

        A file that is included, or a line for the preprocessor, may have the `contains`.
        """
        unit = self._scope
        if unit is None or unit.has_contains or unit.kind not in _UNITS:
            return
        unit.has_contains = True
        if not unit.included and not _DIRECTIVE.search(self._file.source.text):
            what = f"'{statement.text}' follows declarations without 'contains'."
            hint = f"Write 'contains' before the first procedure of '{unit.name}'."
            self._file.problems.append(Diagnostic("P017", what, statement.whole(), hint=hint))

    def _interface(self, statement: SourceStatement) -> bool:
        head = _INTERFACE.match(statement.text)
        if head is None:
            return False
        is_abstract = head["abstract"] is not None
        generic = InterfaceBlock((head["name"] or "").lower(), statement, is_abstract)
        if self._scope is not None:
            self._scope.generics.append(generic)
        self._note_names(statement)
        self._skip(_END_INTERFACE, statement, generic)
        return True

    def _generic(self, statement: SourceStatement) -> bool:
        """Record the procedures of a generic name that a statement declares."""
        head = GENERIC.match(statement.text)
        if head is None or self._scope is None:
            return False
        names = _WORD.findall(head["names"].lower())
        stop = statement.whole().stop
        block = InterfaceBlock(head["name"].lower(), statement, stop=stop, procedures=names)
        self._scope.generics.append(block)
        self._note_names(statement)
        return True

    def _implicit(self, statement: SourceStatement) -> bool:
        if self._scope is not None:
            self._scope.implicit = statement.text.lower().removeprefix("implicit").strip()
        return True

    def _include(self, statement: SourceStatement) -> bool:
        if self._scope is not None:
            name = _INCLUDED.match(statement.text)
            self._scope.included.append(name["name"] if name else "")
        return False

    def _other_names(self, statement: SourceStatement) -> bool:
        """Record the names in a statement with unusual declarations, such as enumerators."""
        self._note_names(statement)
        if self._scope is not None:
            self._scope.named.append(statement.text)
        return False

    def _attribute(self, statement: SourceStatement) -> bool:
        if self._scope is not None and not _ASSIGNED.match(statement.text):
            self._scope.untyped.update(_WORD.findall(statement.text.lower()))
        return False

    def _note_names(self, statement: SourceStatement) -> None:
        if self._scope is not None:
            self._scope.others.update(_WORD.findall(statement.text.lower()))

    def _block(self, statement: SourceStatement) -> bool:
        if _BLOCK_DATA.match(statement.text):
            self._skip(_END_BLOCK_DATA, statement)
            return True
        if not _BLOCK.match(statement.text):
            return False
        self._open(ScopeKind.BLOCK, "", statement)
        return True

    def _associate(self, statement: SourceStatement) -> bool:
        head = _ASSOCIATE.match(statement.text)
        if head is None:
            return False
        scope = self._open(ScopeKind.ASSOCIATE, "", statement)
        for start, stop in list_items(statement.text, *head.span("list")):
            scope.associations += _association(statement, start, stop)
        return True

    def _select(self, statement: SourceStatement) -> bool:
        """Record the associate names of `select type (name => selector)` and `change team`."""
        head = _SELECT.match(statement.text)
        if head is not None and self._scope is not None:
            for start, stop in list_items(statement.text, *head.span("list")):
                self._scope.associations += _association(statement, start, stop)
        return False

    def _type(self, statement: SourceStatement) -> bool:
        definition = read_structure(statement, self._statements)
        if definition is None:
            return self._declaration(statement)
        self._file.problems.extend(definition.problems)
        if self._scope is not None:
            self._scope.definitions.append(definition)
            if any(one.code == "P005" for one in definition.problems):
                self._scope.has_contains = True
        return True

    def _declaration(self, statement: SourceStatement) -> bool:
        if "function" in statement.text.lower() and self._procedure(statement):
            return True
        declared = read_declarations(statement)
        if self._scope is not None:
            self._scope.declarations += declared
        return bool(declared)

    def _skip(
        self, end: re.Pattern[str], opening: SourceStatement, generic: InterfaceBlock | None = None
    ) -> None:
        """Skip the statements up to the one that matches `end`; record them in `generic`."""
        depth = 0
        for statement in self._statements:
            if generic is not None:
                generic.stop = statement.whole().stop
            if end.match(statement.text):
                return
            self._note_names(statement)
            if generic is not None:
                generic.statements.append(statement)
                depth += _note_procedures(generic, statement, depth)
        self._file.problems.append(_not_closed(opening))

    # ------------------------------------------------------------------------ the stack

    def _open(self, kind: ScopeKind, name: str, statement: SourceStatement) -> ScopeNode:
        parent, file = self._scope, self._file
        scope = ScopeNode(kind, name, statement, parent, file, _behind(statement))
        file.scopes.append(scope)
        if parent is not None:
            parent.children.append(scope)
        self._scope = scope
        return scope

    def _end(self, statement: SourceStatement) -> bool:
        end = END.match(statement.text)
        if end is None:
            return False
        named = (end.group("kind") or "").lower()
        scope = self._scope
        while scope is not None and not _closes(named, scope):
            scope = scope.parent
        if scope is None:
            self._stray(statement)
            return True
        stop = statement.whole().stop
        while self._scope is not scope.parent:
            self._close(self._scope, stop, complete=self._scope is scope)
        return True

    def _close(self, scope: ScopeNode | None, stop: int, *, complete: bool) -> None:
        if scope is None:
            return
        scope.stop = stop
        if not complete and scope.opening.conditional == 0:
            self._file.problems.append(_not_closed(scope.opening))
        self._scope = scope.parent

    def _stray(self, statement: SourceStatement) -> None:
        if statement.conditional == 0:
            self._file.problems.append(
                Diagnostic(
                    "P006",
                    f"'{statement.text}' closes nothing that is open here.",
                    statement.whole(),
                )
            )


def _note_procedures(generic: InterfaceBlock, statement: SourceStatement, depth: int) -> int:
    """Record a statement of an interface; return the change of the nesting depth."""
    if depth == 0 and (listed := _LISTED.match(statement.text)):
        generic.procedures += _WORD.findall(listed["names"].lower())
        return 0
    if depth and END.match(statement.text):
        return -1
    head = read_procedure(statement)
    if head is None:
        return 0
    if depth == 0:
        generic.bodies.append((head.name, head.kind))
    return 1


def _closes(named: str, scope: ScopeNode) -> bool:
    """Return whether `end <named>` ends `scope`; a plain `end` ends a unit or a procedure."""
    if not named:
        return scope.kind not in _CONSTRUCTS
    return scope.kind is ScopeKind(named)


def _not_closed(opening: SourceStatement) -> Diagnostic:
    return Diagnostic(
        "P005",
        f"'{opening.text}' is not closed by an 'end' statement.",
        opening.whole(),
        label="opened here",
    )


def _behind(statement: SourceStatement) -> int:
    """Return the offset where a statement can be inserted after `statement`.

    It is the start of the next line if no other statement follows on the line.
    """
    stop = statement.whole().stop
    rest = _REST_OF_LINE.match(statement.source.text, stop)
    return rest.end() if rest else stop


def _indent_in(scope: ScopeNode, statement: SourceStatement, word: str) -> int:
    """Return the indentation of the statements in `scope`; `statement` is its first statement."""
    if word == "contains" or word.startswith("end"):
        return _indent(scope.opening) + INDENT
    return _indent(statement)


def _indent(statement: SourceStatement) -> int:
    start = statement.offset(0)
    line = statement.source.text[statement.source.text.rfind("\n", 0, start) + 1 : start]
    return len(line) - len(line.lstrip(" \t"))


def _association(statement: SourceStatement, start: int, stop: int) -> list[Association]:
    """Parse `name => selector`, or `name[*] => selector`.

    A selector that is not an expression is kept as text.
    """
    arrow = first_outside(statement.text, "=>", start)
    if not start < arrow < stop:
        return []
    selector = statement.text[arrow + 2 : stop].strip()
    try:
        expr = read_expression(selector)
    except UnreadableError:
        expr = Verbatim(selector)
    name = statement.text[start:arrow].partition("[")[0].rstrip()
    return [Association(name, expr, statement.span(start, start + len(name)))]
