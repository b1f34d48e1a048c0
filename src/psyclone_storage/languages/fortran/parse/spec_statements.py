"""Parsing of specification statements: `use`, declarations, derived types, procedure heads.

One statement, or the statements of one type definition, is converted to records with exact
locations. The enclosing scope is not considered. The function returns None for another kind of
statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeVar

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.parsed import Declaration, ParsedStructure, ParsedUse, UsedName
from psyclone_storage.ir.types import DataType, Intent
from psyclone_storage.languages.fortran.parse.brackets import (
    closing,
    first_outside,
    list_items,
    missing_mark,
)
from psyclone_storage.languages.fortran.parse.reader import (
    DeclaredType,
    Entity,
    read_entity,
    read_shape,
    read_type,
)
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError

_TYPE_HEAD = regex(
    r"(?P<word>real|integer|logical|character|complex|type|class|double\s*precision)\b"
    r"(?:\s*\*\s*\d+|\s*\*\s*\(|\s*\()?",
    re.IGNORECASE,
)
_OLD_STYLE_NAMES = regex(r"\s*[a-z]\w*\s*(?:[,(*]|$)", re.IGNORECASE)
END_TYPE = regex(r"end\s*type\b", re.IGNORECASE)
TYPE_DEFINITION = regex(
    r"type\b(?!\s*\(|\s+is\s*\()(?:(?P<attributes>[^:]*)::)?\s*(?P<name>[a-z]\w*)"
    r"(?:\s*\([\w\s,]*\))?$",
    re.IGNORECASE,
)
_EXTENDS = regex(r"\bextends\s*\(\s*(\w+)\s*\)", re.IGNORECASE)
_PREFIX = regex(
    r"(?:(?:pure|impure|elemental|recursive|non_recursive|module)\b\s*|attributes\s*\([^()]*\)\s*"
    r"|(?P<type>(?:real|integer|logical|character|complex|type|class|double\s*precision)\b"
    r"(?:\s*\*\s*\d+)?\s*(?:\((?:[^()]|\([^()]*\))*\))?)\s*)*",
    re.IGNORECASE,
)
_PROCEDURE = regex(r"\b(?P<kind>subroutine|function)\s+(?P<name>[a-z]\w*)", re.IGNORECASE)
_OPENING = regex(r"\s*\(")
_WORDS = regex(r"[a-z]\w*")
_RESULT = regex(r"\bresult\s*\(\s*(\w+)\s*\)", re.IGNORECASE)
_USE = regex(
    r"use\b\s*(?:,\s*(?:non_)?intrinsic\s*)?(?:::)?\s*(?P<module>[a-z]\w*)\s*"
    r"(?:,\s*(?P<only>only\s*:)?|$)",
    re.IGNORECASE,
)
_USED = regex(
    r"(?P<local>[a-z]\w*|[a-z]+\s*\([^()]*\))(?:\s*=>\s*(?P<original>.+))?", re.IGNORECASE
)
_ONLY = regex(r"only\s+(?=[a-z]\w*(?:\s*=>.*)?$)", re.IGNORECASE)
_INTENT = regex(r"intent\s*\(\s*(in|out|in\s*out)\s*\)", re.IGNORECASE)
_DIMENSION = regex(r"dimension\s*\((.*)\)$", re.IGNORECASE)

_BINDING = regex(
    r"(?:procedure|generic)\b\s*(?:\([^()]*\))?(?:[^:]*::)?\s*(?P<names>[a-z]\w*\b.*)$",
    re.IGNORECASE,
)
_INSERTED = regex(r"^[ \t]*(?:#|include\b|[!c*]\$)", re.IGNORECASE | re.MULTILINE)
_OTHER_IN_TYPE = regex(r"(?:private|sequence)$|final\b", re.IGNORECASE)
_BOUND_NAME = regex(r"(?:^|,)\s*([a-z]\w*)", re.IGNORECASE)

_REMEMBERED = 1 << 14

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """Derived type with its own components, and the name of the type that it extends.

    - `components`: the statements up to `contains`.

    - `bindings`: the statements after `contains`.

    - `procedures`: lower-case names of type-bound procedures and procedure components.

    - `problems`: errors in the components.
    """

    structure: ParsedStructure
    parent: str
    components: tuple[SourceStatement, ...]
    bindings: tuple[SourceStatement, ...]
    procedures: frozenset[str]
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class ProcedureHead:
    """First statement of a subroutine or function.

    - `dummies`: argument names as written.

    - `result`: the result name of a function.

    - `prefix`: the text before the keyword `subroutine` or `function`.

    - `suffix`: the text after the arguments.

    - `type`: the position of the result type in the prefix.
    """

    kind: str
    name: str
    dummies: tuple[str, ...]
    result: str
    prefix: str
    suffix: str
    type: tuple[int, int] | None
    statement: SourceStatement

    @property
    def words(self) -> frozenset[str]:
        """Words of the prefix in lower case."""
        return frozenset(_WORDS.findall(self.prefix.lower()))

    @property
    def is_pure(self) -> bool:
        """True if the procedure is declared without side effects."""
        return "pure" in self.words or ("elemental" in self.words and "impure" not in self.words)

    def read_result(self) -> Declaration | None:
        """Return the declaration of the result in the prefix, or None.

        Raises:
            CompileError: the type cannot be parsed.
        """
        if self.type is None or not self.result:
            return None
        try:
            declared = _read(read_type, self.statement.text, *self.type)
        except _UnreadablePartError as error:
            raise error.at(self.statement) from None
        place = self.statement.whole()
        return Declaration(self.result, declared.type, (), declared.details, None, place)


@kept_with_first
def read_use(statement: SourceStatement) -> ParsedUse | None:
    """Parse a `use` statement; return None for other statements.

    Raises:
        CompileError: a name in the list is invalid.
    """
    head = _USE.match(statement.text)
    if head is None:
        return None
    names = []
    for start, stop in list_items(statement.text, head.end(), len(statement.text)):
        item = _USED.fullmatch(statement.text, start, stop)
        if item is None:
            raise CompileError(_wrong_name(statement, start, stop))
        original = item.group("original") or item.group("local")
        names.append(UsedName(item.group("local"), original, statement.span(start, stop)))
    only = tuple(names) if head.group("only") else None
    renames = () if head.group("only") else tuple(names)
    return ParsedUse(head.group("module"), only, renames, statement.whole())


def _wrong_name(statement: SourceStatement, start: int, stop: int) -> Diagnostic:
    """Return the error at an invalid name in the list of a `use` statement."""
    text = statement.text[start:stop]
    if without_colon := _ONLY.match(text):
        message = "The colon after 'only' is missing."
        hint = f"Write 'only: {text[without_colon.end() :]}'."
        start += without_colon.end()
        return Diagnostic("P009", message, statement.span(start, stop), hint=hint)
    message = f"'{text}' cannot stand in the list of a 'use' statement."
    return Diagnostic("P009", message, statement.span(start, stop))


@kept_with_first
def read_procedure(statement: SourceStatement) -> ProcedureHead | None:
    """Parse the first statement of a subroutine or function; return None for other statements."""
    text = statement.text
    prefix = _PREFIX.match(text)
    head = _PROCEDURE.match(text, prefix.end()) if prefix else None
    if prefix is None or head is None:
        return None
    opening = _OPENING.match(text, head.end())
    close = closing(text, opening.end() - 1) if opening else -1
    listed = list_items(text, opening.end(), close) if opening and close >= 0 else []
    dummies = tuple(text[start:stop] for start, stop in listed)
    name = head.group("name")
    named = _RESULT.search(text, max(head.end(), close))
    kind = head.group("kind").lower()
    result = "" if kind == "subroutine" else named.group(1) if named else name
    written = (prefix.group("type") or "").rstrip()
    start = prefix.start("type")
    place = (start, start + len(written)) if written else None
    suffix = text[close + 1 :].strip() if close >= 0 else ""
    return ProcedureHead(
        kind, name, dummies, result, prefix.group().strip(), suffix, place, statement
    )


@kept_with_first
def read_declarations(statement: SourceStatement) -> tuple[Declaration, ...]:
    """Parse a type declaration statement; return an empty tuple for any other statement.

    Raises:
        CompileError: a part of the declaration cannot be parsed.
    """
    try:
        declared = _declared_names(statement.text)
    except _UnreadablePartError as error:
        raise error.at(statement) from None
    return tuple(
        Declaration(
            item.name,
            item.type,
            item.shape,
            item.attributes,
            item.intent,
            statement.span(item.start, item.start + len(item.name)),
            item.value,
        )
        for item in declared
    )


class _DeclaredName(NamedTuple):
    """Declared name, with its start position in the text."""

    name: str
    start: int
    type: DataType
    shape: tuple[Expr, ...]
    attributes: tuple[str, ...]
    intent: Intent | None
    value: Expr | None


class _UnreadablePartError(Exception):
    """Error: text from `start` to `stop` cannot be parsed; a more precise location is included."""

    def __init__(self, text: str, start: int, stop: int, place: tuple[int, int, str]) -> None:
        super().__init__(text[start:stop])
        self._part = text[start:stop]
        self._first, self._last, self._hint = start + place[0], start + place[1], place[2]

    def at(self, statement: SourceStatement) -> CompileError:
        """Return the error for the statement that contains the text."""
        return CompileError(
            Diagnostic(
                "P008",
                f"'{self._part}' in this declaration is not Fortran that can be read.",
                statement.span(self._first, self._last),
                label="cannot be read",
                hint=self._hint,
            )
        )


@lru_cache(maxsize=_REMEMBERED)
def _declared_names(text: str) -> tuple[_DeclaredName, ...]:
    """Return the names that a declaration declares; results are cached by text."""
    split = _split_declaration(text)
    if split is None:
        return ()
    head, entities = split
    (start, stop), *places = list_items(text, 0, head)
    declared = _read(read_type, text, start, stop)
    words, intent, shape = _read_attributes(text, places)
    found = []
    for start, stop in list_items(text, entities, len(text)):
        entity = _read(read_entity, text, start, stop)
        attributes = words + _details(declared, entity)
        found.append(
            _DeclaredName(
                entity.name,
                start,
                declared.type,
                entity.shape or shape,
                attributes,
                intent,
                entity.value,
            )
        )
    return tuple(found)


def _split_declaration(text: str) -> tuple[int, int] | None:
    """Return the end of the attributes and the start of the names; None if not a declaration."""
    head = _TYPE_HEAD.match(text)
    if head is None:
        return None
    colons = first_outside(text, "::")
    if colons >= 0:
        return colons, colons + 2
    bracketed = head.group().endswith("(")
    if not bracketed and head.group("word").lower() in ("type", "class"):
        return None
    stop = closing(text, head.end() - 1) + 1 if bracketed else head.end()
    if not stop:
        return None
    names = _OLD_STYLE_NAMES.match(text, stop)
    return (stop, stop) if names else None


def _read_attributes(
    text: str, places: list[tuple[int, int]]
) -> tuple[tuple[str, ...], Intent | None, tuple[Expr, ...]]:
    """Return attributes as words, with the intent and the shape."""
    words: list[str] = []
    intent = None
    shape: tuple[Expr, ...] = ()
    for start, stop in places:
        word = text[start:stop]
        words.append("".join(word.split()).lower())
        if found := _INTENT.match(word):
            intent = Intent("".join(found.group(1).split()).lower())
        elif found := _DIMENSION.match(word):
            shape = _read(read_shape, text, start + found.start(1), start + found.end(1))
    return tuple(words), intent, shape


def _details(declared: DeclaredType, entity: Entity) -> tuple[str, ...]:
    """Return the attributes of type and entity; a length given for the entity has priority."""
    has_length = any(word.startswith("len=") for word in entity.details)
    common = (word for word in declared.details if not (has_length and word.startswith("len=")))
    return (*common, *entity.details)


def read_structure(
    statement: SourceStatement, body: Iterator[SourceStatement]
) -> TypeDefinition | None:
    """Parse the derived type that `statement` starts; consume its statements from `body`.

    For another statement The function returns None, and nothing is consumed.
    """
    head = TYPE_DEFINITION.match(statement.text)
    if head is None:
        return None
    components: list[SourceStatement] = []
    bindings: list[SourceStatement] = []
    into = components
    problems: list[Diagnostic] = []
    end = statement
    for part in body:
        end = part
        is_contains = part.text.lower() == "contains"
        if END_TYPE.match(part.text):
            break
        if (is_contains and into is bindings) or read_procedure(part):
            problems.append(_type_not_closed(statement))
            break
        if is_contains:
            into = bindings
        else:
            into.append(part)
    declared: list[Declaration] = []
    for part in components:
        try:
            declared += read_declarations(part)
        except CompileError as error:
            problems += error.problems
    procedures = {
        name.lower()
        for part in (*components, *bindings)
        if (found := _BINDING.match(part.text))
        for name in _BOUND_NAME.findall(found["names"])
    }
    parent = _EXTENDS.search(head.group("attributes") or "")
    structure = ParsedStructure(
        head.group("name").lower(),
        tuple(declared),
        statement.span(*head.span("name")),
        is_complete=not problems
        and not _has_inserted(statement, end)
        and all(map(_is_understood, (*components, *bindings))),
    )
    return TypeDefinition(
        structure,
        parent.group(1).lower() if parent else "",
        tuple(components),
        tuple(bindings),
        frozenset(procedures),
        tuple(problems),
    )


def _is_understood(part: SourceStatement) -> bool:
    """Return whether a statement of a derived type is read; a macro may add components.

    The statement must have no errors.
    """
    known = _BINDING.match(part.text) or _OTHER_IN_TYPE.match(part.text)
    return known is not None or bool(read_declarations(part))


def _has_inserted(first: SourceStatement, last: SourceStatement) -> bool:
    """Return whether lines between statements may be conditional, or come from another file."""
    text = first.source.text
    return _INSERTED.search(text, first.offset(0), last.offset(0)) is not None


def _type_not_closed(opening: SourceStatement) -> Diagnostic:
    message = f"'{opening.text}' is not closed by 'end type'."
    hint = "Write 'end type' after its last component or procedure."
    return Diagnostic("P005", message, opening.whole(), label="opened here", hint=hint)


def _read(rule: Callable[[str], T], text: str, start: int, stop: int) -> T:
    """Apply the parser `rule` to a part of `text`."""
    try:
        return rule(text[start:stop])
    except UnreadableError as error:
        place = missing_mark(text[start:stop], error.position) or (0, stop - start, "")
        raise _UnreadablePartError(text, start, stop, place) from None
