"""Text scan of a procedure for variables that persist between calls, and for calls.

Only the text is scanned, because parsing a body is many times slower. Most procedures change only
their arguments and local variables and need no further analysis. `analysis.bodies.effects` analyses
the others exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.parsed import ParsedUse, ScopeKind
from psyclone_storage.ir.unit import Use
from psyclone_storage.languages.fortran.parse.module_symbols import uses_of
from psyclone_storage.languages.fortran.parse.scope_reader import END, read_scopes
from psyclone_storage.languages.fortran.parse.spec_statements import (
    ProcedureHead,
    read_procedure,
    read_use,
)
from psyclone_storage.languages.fortran.parse.statements import SourceStatement

_STRING = regex(r"'[^']*'|\"[^\"]*\"")
_BRACKETS = regex(r"\([^()]*\)")
_MODULES = (ScopeKind.MODULE, ScopeKind.SUBMODULE)
_PROCEDURES = ("", "subroutine", "function")
_KEPT = regex(
    r"\bsave\b|^(?:data|common|equivalence|namelist|external|pointer)\b|^include\s*['\"]",
    re.IGNORECASE,
)
_DECLARATION = regex(
    r"(?:integer|real|logical|character|complex|double\s*precision|type|class)\b"
    r"\s*(?:\*\s*\d+)?\s*@?(?P<attributes>\s*,[^:=]*(?=::))?\s*(?:::)?(?P<entities>\s*\w.*)",
    re.IGNORECASE,
)
_STRUCTURE = regex(r"(?:type|class)\b", re.IGNORECASE)
_ASSIGNMENT = regex(
    r"(?:(?:else\s*)?(?:if|where|forall)\s*@?\s*)?"
    r"(?:do\s+(?:concurrent\s*)?)?(?P<name>[a-z]\w*)\s*@?\s*(?:%[\w%@\s]*)?=(?!=)",
    re.IGNORECASE,
)
_ALLOCATION = regex(r"\b(?:(?:de)?allocate|nullify)\s*\((?P<items>.*)", re.IGNORECASE)
_ALLOCATED = regex(r"(?:^|[(,=]|::)\s*(?P<name>[a-z]\w*)(?!\s*=)\b", re.IGNORECASE)
_CALL = regex(r"\bcall\s+(?P<name>[a-z]\w*)\s*(?P<more>%)?", re.IGNORECASE)
_REFERENCE = regex(r"(?<![\w%.])(?P<name>[a-z]\w*)\s*\(", re.IGNORECASE)
_COMPONENT = regex(r"%\s*[a-z]\w*\s*\(", re.IGNORECASE)
_COMPONENT_SET = regex(r"(?:if\s*@\s*)?(?P<name>[a-z]\w*)\s*@?\s*%[\w%@\s]*=(?!=)", re.IGNORECASE)
_NAME = regex(r"(?<![\w%.])[a-z]\w*(?!\s*=(?!=))", re.IGNORECASE)
_TRANSFER = regex(
    r"(?:if\s*@\s*)?(?:(?:read|write|open|close|inquire|rewind|backspace|endfile|flush)\s*@"
    r"|(?:read|print|rewind|backspace|endfile)\s+[*\w'@])",
    re.IGNORECASE,
)
_POINTS = regex(r"[\w)%]\s*=>|\bassociate\s*\(|\.(?!(?:not|and|or|eqv|neqv|eq|ne|lt|le|gt|ge|true"
                r"|false)\.)[a-z]+\.|^(?:\w+\s*:\s*)?block$|^entry\b", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StateInText:
    """Result of scanning the text of a procedure.

    - `may_change`: the procedure may change a saved or non-local variable, or it contains a
      statement that needs a closer analysis.

    - `called`: names that may be called, with the non-local names in their arguments. Statement
      keywords are included, because a procedure can have such a name.

    - `uses`: the imports of the procedure.

    - `has_structures`: it declares objects of derived types, or accesses components.

    - `changes_arguments`: it may assign to a dummy argument.

    - `found`: false if the file does not contain the procedure.

    - `pure`: it is declared `pure` or `elemental`.
    """

    may_change: bool = False
    called: Mapping[str, frozenset[str]] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()
    changes_arguments: bool = False
    has_structures: bool = False
    found: bool = False
    pure: bool = False


def read_state(source: SourceText, module: str, name: str) -> StateInText:
    """Scan the text of the subroutine or function `name` of a module in `source`."""
    reading = _Reading()
    for statement in _statements_of(source, module, name):
        reading.take(statement)
    return reading.result()


def _statements_of(source: SourceText, module: str, name: str) -> Iterator[SourceStatement]:
    """Yield the statements of a module procedure and its internal procedures, except interfaces."""
    modules = (one for one in read_scopes(source).scopes
               if one.kind in _MODULES and one.key == module.lower())  # fmt: skip
    inside = (scope for one in modules for scope in one.procedures if scope.key == name.lower())
    scope = next(inside, None)
    if scope is None:
        return
    hidden = [(block.opening.offset(0), block.stop) for block in scope.interface_blocks()]
    for statement in scope.statements:
        at = statement.offset(0)
        if not any(start <= at < stop for start, stop in hidden):
            yield statement


def _head(statement: SourceStatement) -> ProcedureHead | None:
    """Parse the first statement of a procedure; return None for other statements."""
    low = statement.text.lower()
    return read_procedure(statement) if "function" in low or "subroutine" in low else None


class _Reading:
    """Scan of a procedure, statement by statement; internal procedures share its names."""

    def __init__(self) -> None:
        self._declared: list[set[str]] = []
        self._arguments: set[str] = set()
        self._internal: set[str] = set()
        self._changed: list[set[str]] = []
        self._called: dict[str, set[str]] = {}
        self._uses: list[ParsedUse] = []
        self._may_change = self._changes_arguments = self._found = self._pure = False
        self._has_structures = False

    def take(self, statement: SourceStatement) -> None:
        """Record the declarations, calls and assignments of one statement."""
        text = statement.text
        low = text.lower()
        head = _head(statement)
        if head is not None:
            self._open(head)
        elif (end := END.match(text)) and (end["kind"] or "").lower() in _PROCEDURES:
            self._close()
        elif low.startswith("use") and (use := _use(statement)) is not None:
            self._uses.append(use)
        elif not self._declares(plain := _STRING.sub("''", text)):
            self._act(plain)

    def _open(self, head: ProcedureHead) -> None:
        dummies = {name.lower() for name in head.dummies}
        if self._found:
            self._internal.add(head.name.lower())
        else:
            self._arguments = set(dummies)
            self._pure = head.is_pure
        self._found = True
        own = {head.name.lower(), *([head.result.lower()] if head.result else ())}
        self._declared.append(dummies | own | (self._declared[-1] if self._declared else set()))
        self._changed.append(set())

    def _close(self) -> None:
        declared, changed = self._declared.pop(), self._changed.pop()
        self._may_change |= not changed <= declared
        self._changes_arguments |= bool(changed & self._arguments)
        if not self._declared:
            self._called = {name: passed - declared for name, passed in self._called.items()
                            if name not in declared}  # fmt: skip

    def _declares(self, plain: str) -> bool:
        """Return whether a statement is a declaration; record the declared names."""
        short = _without_brackets(plain)
        if _KEPT.search(short):
            self._may_change = True
            return True
        found = _DECLARATION.match(short)
        if found is None:
            return False
        attributes = (found["attributes"] or "").lower()
        if "external" in attributes:
            return True
        self._has_structures |= _STRUCTURE.match(short) is not None
        if "pointer" in attributes or ("parameter" not in attributes and "=" in found["entities"]):
            self._may_change = True
        self._declared[-1].update(re.findall(r"\w+", found["entities"].lower()))
        return True

    def _act(self, plain: str) -> None:
        short = _without_brackets(plain)
        self._changed[-1].update(_changed(plain, short))
        self._has_structures |= "%" in plain
        target = _COMPONENT_SET.match(short)
        if target is not None and target["name"].lower() not in self._arguments:
            self._may_change = True
        if _TRANSFER.match(short) or _POINTS.search(plain) or _COMPONENT.search(plain):
            self._may_change = True
        call = _CALL.search(plain)
        if call is not None:
            self._may_change |= call["more"] is not None
            self._may_change |= call["name"].lower() in self._declared[-1]
            self._note(call["name"], plain[call.end() :])
            plain = plain[: call.start()] + plain[call.end() :]
        for found in _REFERENCE.finditer(plain):
            key = found["name"].lower()
            if key not in self._declared[-1]:
                self._note(key, plain[found.end() :])

    def _note(self, name: str, arguments: str) -> None:
        """Record a call of `name` with all non-local names in the text of its arguments."""
        names = {one.lower() for one in _NAME.findall(arguments)}
        self._called.setdefault(name.lower(), set()).update(names - self._declared[-1])

    def result(self) -> StateInText:
        """Return the result for all statements scanned."""
        while self._declared:
            self._close()
        self._may_change |= any(self._called.get(name) for name in self._internal)
        called = {name: frozenset(passed - self._internal) for name, passed in self._called.items()
                  if name not in self._internal}  # fmt: skip
        return StateInText(self._may_change, called, uses_of(tuple(self._uses)),
                           self._changes_arguments, self._has_structures, self._found,
                           self._pure)  # fmt: skip


def _use(statement: SourceStatement) -> ParsedUse | None:
    try:
        return read_use(statement)
    except CompileError:
        return None


def _without_brackets(text: str) -> str:
    shorter = _BRACKETS.sub("@", text)
    while shorter != text:
        text, shorter = shorter, _BRACKETS.sub("@", shorter)
    return text


def _changed(plain: str, short: str) -> Iterable[str]:
    assignment = _ASSIGNMENT.match(short)
    if assignment is not None:
        yield assignment["name"].lower()
    allocation = _ALLOCATION.search(plain)
    if allocation is not None:
        items = allocation["items"].rpartition("::")[2]
        for name in _ALLOCATED.findall(_without_brackets(items)):
            yield name.lower()
