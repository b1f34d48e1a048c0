"""Specification statements: `use`, declarations, derived types, heads of procedures.

Turns one statement, or the statements of one type definition, into parsed forms with exact
places. Which scope they belong to is not decided here. A statement of another kind gives None.
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
    r"type\b(?!\s*\()(?:(?P<attributes>[^:]*)::)?\s*(?P<name>[a-z]\w*)$", re.IGNORECASE
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
_BOUND_NAME = regex(r"(?:^|,)\s*([a-z]\w*)", re.IGNORECASE)

_REMEMBERED = 1 << 14

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """A derived type as written: its own components, and the name of the type it extends.

    `components` are the statements up to `contains`, `bindings` those after it. `procedures` are,
    in lower case, the names of its procedures, including procedure components. `problems` are the
    errors in its components.
    """

    structure: ParsedStructure
    parent: str
    components: tuple[SourceStatement, ...]
    bindings: tuple[SourceStatement, ...]
    procedures: frozenset[str]
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class ProcedureHead:
    """The statement that opens a subroutine or function.

    `dummies` are as written. A function has a `result`. `prefix` is the text before the word
    `subroutine` or `function`, `suffix` that after the arguments, and `type` where the prefix has
    the type of the result.
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
        """The words of the prefix in lower case."""
        return frozenset(_WORDS.findall(self.prefix.lower()))

    @property
    def is_pure(self) -> bool:
        """True if it is declared to change nothing but its arguments."""
        return "pure" in self.words or ("elemental" in self.words and "impure" not in self.words)

    def read_result(self) -> Declaration | None:
        """Return the declaration of the result that the prefix contains, None if it does not.

        Raises `CompileError` if the type cannot be read.
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
    """Return the `use` statement that `statement` is, or None.

    Raises `CompileError` at an invalid name in the list.
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
    """Return the head of a subroutine or function that `statement` is, or None."""
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
    """Return what a type declaration statement declares; nothing for any other statement.

    Raises `CompileError` at the part that cannot be read.
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
    """One name that a text declares; it begins at `start`."""

    name: str
    start: int
    type: DataType
    shape: tuple[Expr, ...]
    attributes: tuple[str, ...]
    intent: Intent | None
    value: Expr | None


class _UnreadablePartError(Exception):
    """A part of a text that cannot be read, from `start` to `stop`, with a more precise place."""

    def __init__(self, text: str, start: int, stop: int, place: tuple[int, int, str]) -> None:
        super().__init__(text[start:stop])
        self._part = text[start:stop]
        self._first, self._last, self._hint = start + place[0], start + place[1], place[2]

    def at(self, statement: SourceStatement) -> CompileError:
        """Return the error for the statement that has the text."""
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
    """Return the names that a text declares, which many statements have."""
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
    """Return where the attributes end and where the declared names start, if it is one."""
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
    """Return the attributes as words, the intent and the shape that they give."""
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
    """Return the attributes of type and entity; a length of the entity itself counts."""
    has_length = any(word.startswith("len=") for word in entity.details)
    common = (word for word in declared.details if not (has_length and word.startswith("len=")))
    return (*common, *entity.details)


def read_structure(
    statement: SourceStatement, body: Iterator[SourceStatement]
) -> TypeDefinition | None:
    """Return the derived type that `statement` opens, or None; takes its statements from `body`."""
    head = TYPE_DEFINITION.match(statement.text)
    if head is None:
        return None
    components: list[SourceStatement] = []
    bindings: list[SourceStatement] = []
    into = components
    problems: list[Diagnostic] = []
    for part in body:
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
        head.group("name").lower(), tuple(declared), statement.span(*head.span("name"))
    )
    extended = parent.group(1).lower() if parent else ""
    return TypeDefinition(
        structure,
        extended,
        tuple(components),
        tuple(bindings),
        frozenset(procedures),
        tuple(problems),
    )


def _type_not_closed(opening: SourceStatement) -> Diagnostic:
    message = f"'{opening.text}' is not closed by 'end type'."
    hint = "Write 'end type' after its last component or procedure."
    return Diagnostic("P005", message, opening.whole(), label="opened here", hint=hint)


def _read(rule: Callable[[str], T], text: str, start: int, stop: int) -> T:
    """Apply `rule` to a part of `text`."""
    try:
        return rule(text[start:stop])
    except UnreadableError as error:
        place = missing_mark(text[start:stop], error.position) or (0, stop - start, "")
        raise _UnreadablePartError(text, start, stop, place) from None
