"""Parsing of expressions, types and declared entities.

Results are cached by text, because the same text occurs often in a source tree. Plain names and
literals, the most frequent arguments, are recognised without a parser. Invalid text raises
`UnreadableError` with a position in the text. The caller converts this position to a file location.
"""

from __future__ import annotations

import re
from functools import lru_cache

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.expr import Expr, Literal, Name, is_shallow
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.expressions import ExpressionParser
from psyclone_storage.languages.fortran.parse.tokens import TokenKind, TooDeepError, UnreadableError

MAX_DEPTH = 250
"""The deepest nesting of an expression; the recursion of later stages is limited."""

_REMEMBERED = 1 << 14
_NAME = regex(r"[A-Za-z]\w*", re.ASCII)
_NUMBER = regex(r"(?P<text>(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?)(?:_(?P<kind>\w+))?", re.ASCII)
_INTRINSICS = {intrinsic.value: intrinsic for intrinsic in Intrinsic}
_DOUBLE = "kind(0.0d0)"


@dataclass(frozen=True, slots=True)
class DeclaredType:
    """Parsed type specification.

    - `details`: additional attributes: `class` for a polymorphic entity, and a character length as
      `len=...`.
    """

    type: DataType
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """Declared name with its own shape and initial value.

    - `details`: additional attributes: a character length as `len=...`, and the codimension of a
      coarray.
    """

    name: str
    shape: tuple[Expr, ...] = ()
    value: Expr | None = None
    details: tuple[str, ...] = ()


def read_expression(text: str) -> Expr:
    """Return the expression written in `text`; raise `UnreadableError` if it is invalid."""
    if _NAME.fullmatch(text):
        return Name(text)
    number = _NUMBER.fullmatch(text)
    if number:
        whole = number.group("text").isdigit()
        return Literal(text, Intrinsic.INTEGER if whole else Intrinsic.REAL, number.group("kind"))
    return _expression(text)


@lru_cache(maxsize=_REMEMBERED)
def _expression(text: str) -> Expr:
    parser = ExpressionParser(text)
    try:
        found = parser.expression()
    except RecursionError:
        raise TooDeepError(text) from None
    parser.expect_end()
    if len(parser.texts) > MAX_DEPTH and not is_shallow(found, MAX_DEPTH):
        raise TooDeepError(text)
    return found


@lru_cache(maxsize=_REMEMBERED)
def read_type(text: str) -> DeclaredType:
    """Parse a type specification such as `real(r_def)` or `class(t)`."""
    parser = _Parser(text)
    found = parser.type()
    parser.expect_end()
    return found


def read_entity(text: str) -> Entity:
    """Parse one entity of a declaration: its name, shape and initial value."""
    return Entity(text) if _NAME.fullmatch(text) else _entity(text)


@lru_cache(maxsize=_REMEMBERED)
def _entity(text: str) -> Entity:
    parser = _Parser(text)
    found = parser.entity()
    parser.expect_end()
    return found


@lru_cache(maxsize=_REMEMBERED)
def read_shape(text: str) -> tuple[Expr, ...]:
    """Parse the dimensions in `dimension(text)`."""
    parser = _Parser(f"({text})")
    try:
        found = parser.shape()
        parser.expect_end()
    except UnreadableError as error:
        raise UnreadableError(text, min(max(error.position - 1, 0), len(text))) from None
    return found


class _Parser(ExpressionParser):
    """Parser for the parts of a declaration: expressions, types and entities."""

    def type(self) -> DeclaredType:
        """Parse a type specification."""
        word = self.name().lower()
        if word == "double" and self.kinds[self.at] == TokenKind.NAME:
            word += self.name().lower()
        if word == "doubleprecision":
            return DeclaredType(ScalarType(Intrinsic.REAL, _DOUBLE))
        if word in ("type", "class"):
            return self._derived(word)
        if word not in _INTRINSICS:
            self.at -= 1
            raise self.fail()
        if word == "character":
            return self._character()
        return DeclaredType(ScalarType(_INTRINSICS[word], self._kind()))

    def _derived(self, word: str) -> DeclaredType:
        details: tuple[str, ...] = ("class",) if word == "class" else ()
        self.expect("(")
        if self.skip("*"):
            found: DataType = DerivedType("*")
        elif word == "type" and self.texts[self.at].lower() in (*_INTRINSICS, "double"):
            inner = self.type()
            found, details = inner.type, inner.details
        else:
            found = DerivedType(self.name().lower())
            if self.texts[self.at] == "(":
                self._skip_brackets()
        self.expect(")")
        return DeclaredType(found, details)

    def _kind(self) -> str | None:
        """Parse the kind in a type specification; return its text, or None if there is no kind."""
        if self.skip("*"):
            return self._written_integer()
        if not self.skip("("):
            return None
        if self._is_keyword("kind"):
            self.at += 2
        kind = self._written()
        self.expect(")")
        return kind

    def _character(self) -> DeclaredType:
        length, kind = None, None
        if self.skip("*"):
            length = self._old_length()
            self.skip(",")
        elif self.skip("("):
            named = self._is_keyword("kind")
            while not self.skip(")"):
                if self._is_keyword("kind") or (length is not None and not named):
                    self.at += 2 * self._is_keyword("kind")
                    kind = self._written()
                else:
                    self.at += 2 * self._is_keyword("len")
                    length = self._length()
                if self.texts[self.at] != ")":
                    self.expect(",")
        details = () if length is None else (_length_word(length),)
        return DeclaredType(ScalarType(Intrinsic.CHARACTER, kind), details)

    def _old_length(self) -> str:
        """Parse a character length after `*`."""
        if not self.skip("("):
            return self._written_integer()
        length = self._length()
        self.expect(")")
        return length

    def _length(self) -> str:
        if self.texts[self.at] in ("*", ":"):
            self.at += 1
            return self.texts[self.at - 1]
        return self._written()

    def _is_keyword(self, word: str) -> bool:
        return self.texts[self.at].lower() == word and self.texts[self.at + 1] == "="

    def _written(self) -> str:
        """Parse an expression and return its source text."""
        start = self.tokens.starts[self.at]
        self.expression()
        return self.tokens.source[start : self.tokens.stops[self.at - 1]]

    def _written_integer(self) -> str:
        if self.kinds[self.at] != TokenKind.INTEGER:
            raise self.fail()
        self.at += 1
        return self.texts[self.at - 1]

    def _skip_brackets(self) -> None:
        depth = 0
        while self.kinds[self.at] != TokenKind.END:
            depth += (self.texts[self.at] == "(") - (self.texts[self.at] == ")")
            self.at += 1
            if depth == 0:
                return
        raise self.fail()

    def entity(self) -> Entity:
        """Parse a declared entity."""
        name = self.name()
        shape = self.shape() if self.texts[self.at] == "(" else ()
        details = []
        if self.texts[self.at] == "[":
            details.append(self._codimension())
        if self.skip("*"):
            details.append(_length_word(self._old_length()))
        value = self.expression() if self.skip("=") or self.skip("=>") else None
        return Entity(name, shape, value, tuple(details))

    def _codimension(self) -> str:
        start = self.tokens.starts[self.at]
        while not self.skip("]"):
            if self.kinds[self.at] == TokenKind.END:
                raise self.fail()
            self.at += 1
        text = self.tokens.source[start : self.tokens.stops[self.at - 1]]
        return f"codimension{''.join(text.split())}".lower()


def _length_word(length: str) -> str:
    return f"len={''.join(length.split())}".lower()
