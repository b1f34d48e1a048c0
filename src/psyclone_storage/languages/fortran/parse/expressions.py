"""Parsing of Fortran expressions by precedence climbing.

Each token is read once, without backtracking. This module defines operator precedence and the
syntax of designators, references, constructors and literals. It does not decide whether a name with
parentheses is an array or a function. Invalid text raises `UnreadableError` with the position of
the first unexpected token. Image selectors are not supported.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.intrinsics import PROCEDURES
from psyclone_storage.ir.operators import (
    SPELLINGS,
    AnyOperator,
    DefinedOperator,
    Operator,
    OperatorKind,
)
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.tokens import TokenKind, Tokens, UnreadableError

_OLDER = {
    ".eq.": Operator.EQUAL, ".ne.": Operator.NOT_EQUAL, ".lt.": Operator.LESS,
    ".le.": Operator.LESS_EQUAL, ".gt.": Operator.GREATER, ".ge.": Operator.GREATER_EQUAL,
}  # fmt: skip
_WORDS = {**_OLDER, **SPELLINGS}
_DEFINED = 0
_NOT, _COMPARISON, _SIGN, _POWER = (
    Operator.NOT.rank, Operator.EQUAL.rank, Operator.PLUS.rank, Operator.POWER.rank,
)  # fmt: skip
_NUMBERS = {TokenKind.INTEGER: Intrinsic.INTEGER, TokenKind.REAL: Intrinsic.REAL,
            TokenKind.LOGICAL: Intrinsic.LOGICAL}  # fmt: skip
_WITHOUT_LENGTH = {
    one.value: ScalarType(one)
    for one in (Intrinsic.INTEGER, Intrinsic.REAL, Intrinsic.LOGICAL, Intrinsic.COMPLEX)
}
_CLOSING = {"[": "]", "(/": "/)"}


class ExpressionParser:
    """Position in a sequence of tokens, advanced while expressions are parsed."""

    def __init__(self, source: str) -> None:
        self.tokens = Tokens(source)
        self.texts = self.tokens.texts
        self.kinds = self.tokens.kinds
        self.at = 0

    def fail(self) -> UnreadableError:
        """Return the error for an unexpected token at the current position."""
        return UnreadableError(self.tokens.source, self.tokens.starts[self.at])

    def expect_end(self) -> None:
        """Raise `UnreadableError` if tokens remain."""
        if self.kinds[self.at] != TokenKind.END:
            raise self.fail()

    def skip(self, mark: str) -> bool:
        """Consume `mark` if it is the next token, and return whether it is."""
        if self.texts[self.at] != mark:
            return False
        self.at += 1
        return True

    def expect(self, mark: str) -> None:
        """Consume `mark`; raise `UnreadableError` if it is not the next token."""
        if self.texts[self.at] != mark:
            raise self.fail()
        self.at += 1

    def name(self) -> str:
        """Consume a name and return it."""
        if self.kinds[self.at] != TokenKind.NAME:
            raise self.fail()
        self.at += 1
        return self.texts[self.at - 1]

    # ------------------------------------------------------------------------ operations

    def expression(self, least: int = _DEFINED) -> ex.Expr:
        """Parse an expression with operators of precedence `least` or higher."""
        left = self._operand(least)
        compared = False
        while (op := self._operator()) is not None:
            rank = op.rank
            if rank < least:
                return left
            if rank == _COMPARISON:
                if compared:
                    raise self.fail()
                compared = True
            elif rank < _COMPARISON:
                compared = False
            self.at += 1
            # Powers are computed from the right, all others from the left.
            left = ex.Binary(op, left, self.expression(rank if rank == _POWER else rank + 1))
        return left

    def _operator(self) -> AnyOperator | None:
        """Return the binary operator at the current position, or None."""
        text = self.texts[self.at]
        kind = self.kinds[self.at]
        if kind == TokenKind.MARK:
            return SPELLINGS.get(text)
        if kind == TokenKind.OPERATOR:
            word = text.lower()
            found = _WORDS.get(word)
            return None if found is Operator.NOT else found or DefinedOperator(word)
        return None

    def _operand(self, least: int) -> ex.Expr:
        text, kind = self.texts[self.at], self.kinds[self.at]
        if kind == TokenKind.NAME:
            return self._designator()
        if kind == TokenKind.OPERATOR:
            word = text.lower()
            op = _WORDS.get(word)
            if op is not None and (op is not Operator.NOT or least > _NOT):
                raise self.fail()
            self.at += 1
            if op is not None:
                return ex.Unary(op, self.expression(_NOT + 1))
            return ex.Unary(DefinedOperator(word), self._primary())
        if kind == TokenKind.MARK and text in ("-", "+"):
            if least > _SIGN:
                raise self.fail()
            self.at += 1
            return ex.Unary(SPELLINGS[text], self.expression(_SIGN + 1))
        return self._primary()

    # ------------------------------------------------------------------------ primaries

    def _primary(self) -> ex.Expr:
        text, kind = self.texts[self.at], self.kinds[self.at]
        match kind:
            case TokenKind.NAME:
                return self._designator()
            case TokenKind.INTEGER | TokenKind.REAL | TokenKind.LOGICAL:
                self.at += 1
                value, mark, kind_name = text.partition("_")
                return ex.Literal(value.lower() + mark + kind_name, _NUMBERS[TokenKind(kind)],
                               kind_name or None)  # fmt: skip
            case TokenKind.STRING:
                return self._string()
            case TokenKind.BOZ:
                self.at += 1
                return ex.BozLiteral(text)
        if text == "(":
            return self._in_brackets()
        if kind == TokenKind.MARK and text in _CLOSING:
            return self._constructor()
        raise self.fail()

    def _string(self) -> ex.Expr:
        text = self.texts[self.at]
        self.at += 1
        prefix = text[: text.index(text[-1])]
        literal = ex.Literal(text, Intrinsic.CHARACTER, prefix[:-1] or None)
        return ex.Index(literal, self._items()) if self.texts[self.at] == "(" else literal

    def _in_brackets(self) -> ex.Expr:
        """Parse text in parentheses: an expression or a complex constant."""
        self.at += 1
        inner = self.expression()
        if self.skip(","):
            inner = ex.ComplexLiteral(inner, self.expression())
            self.expect(")")
            return inner
        self.expect(")")
        # Brackets count where they determine the order of a computation.
        if isinstance(inner, ex.Binary) and inner.op.kind is OperatorKind.ARITHMETIC:
            return replace(inner, bracketed=True)
        return inner

    def _constructor(self) -> ex.Expr:
        """Parse an array constructor.

        One with the type of characters, or with a derived type, is stored as text.
        """
        first = self.at
        closing = _CLOSING[self.texts[first]]
        self.at += 1
        if self._skip_type():
            start, type_ = self.tokens.starts[first], self._type_between(first, self.at - 2)
            converted: list[ex.Expr] = []
            while not self.skip(closing):
                converted.append(self._constructor_item())
                if self.texts[self.at] != closing:
                    self.expect(",")
            if type_ is not None:
                return ex.TypedArrayLiteral(type_, tuple(converted))
            return ex.Verbatim(self.tokens.source[start : self.tokens.stops[self.at - 1]])
        items = [self._constructor_item()]
        while self.skip(","):
            items.append(self._constructor_item())
        self.expect(closing)
        return ex.ArrayLiteral(tuple(items))

    def _type_between(self, first: int, last: int) -> ScalarType | None:
        """Return the type of numbers or truth values named by the tokens between two tokens."""
        word, *rest = self.texts[first + 1 : last]
        found = _WITHOUT_LENGTH.get(word.lower())
        match rest:
            case []:
                return found
            case ["(", kind, ")"] | ["(", "kind" | "KIND", "=", kind, ")"] if found is not None:
                return replace(found, kind=kind)
        return None

    def _skip_type(self) -> bool:
        """Consume a type specification with `::` at the start of a constructor.

        Return whether found.
        """
        depth = 0
        for place in range(self.at, len(self.texts) - 1):
            text = self.texts[place]
            if text in ("(", "[", "(/"):
                depth += 1
            elif text in (")", "]", "/)"):
                depth -= 1
            if depth < 0 or (depth == 0 and text == ","):
                return False
            if depth == 0 and text == ":" and self.texts[place + 1] == ":":
                if place == self.at:  # no type
                    return False
                self.at = place + 2
                return True
        return False

    def _constructor_item(self) -> ex.Expr:
        """Parse an item of an array constructor: an expression or an implied `do` loop."""
        if self.texts[self.at] != "(":
            return self.expression()
        loop = self._implied_do()
        return loop if loop is not None else self.expression()

    def _implied_do(self) -> ex.ImpliedDo | None:
        """Parse an implied `do` loop `(items, i = first, last)`; return None for other text."""
        head = self._head_of_implied_do()
        if head is None:
            return None
        self.at += 1
        items = [self._constructor_item()]
        self.expect(",")
        while self.at < head:
            items.append(self._constructor_item())
            self.expect(",")
        variable = self.name()
        self.expect("=")
        bounds = [self.expression()]
        while self.skip(","):
            bounds.append(self.expression())
        if not 2 <= len(bounds) <= 3:
            raise self.fail()
        self.expect(")")
        step = bounds[2] if len(bounds) == 3 else None
        return ex.ImpliedDo(tuple(items), ex.Name(variable), bounds[0], bounds[1], step)

    def _head_of_implied_do(self) -> int | None:
        """Return the position of `i =` in the current parentheses, or None."""
        depth = 0
        for place in range(self.at, len(self.texts) - 1):
            text = self.texts[place]
            if text in ("(", "[", "(/"):
                depth += 1
            elif text in (")", "]", "/)"):
                depth -= 1
                if depth == 0:
                    return None
            elif depth == 1 and text == "=" and self.kinds[place] == TokenKind.MARK:
                return place - 1
        return None

    # ------------------------------------------------------------------------ designators

    def _designator(self) -> ex.Expr:
        """Parse a name with all following subscripts, arguments and components."""
        name = self.name()
        opened = self.texts[self.at] == "("
        if opened and name.lower() in PROCEDURES:
            name = name.lower()
        found: ex.Expr = ex.Name(name)
        while True:
            if self.texts[self.at] == "(":
                found = ex.Index(found, self._items())
            elif self.skip("%"):
                found = ex.Member(found, self.name())
            else:
                return found

    def _items(self) -> tuple[ex.Expr, ...]:
        """Parse a list of subscripts or arguments in parentheses."""
        self.at += 1
        if self.skip(")"):
            return ()
        items = [self._item()]
        while self.skip(","):
            items.append(self._item())
        self.expect(")")
        return tuple(items)

    def _item(self) -> ex.Expr:
        text = self.texts[self.at]
        if self.kinds[self.at] == TokenKind.NAME and self.texts[self.at + 1] == "=":
            self.at += 2
            return ex.Keyword(text, self._argument())
        if text == ":":
            return self._triplet(None)
        found = self._argument()
        return self._triplet(found) if self.texts[self.at] == ":" else found

    def _argument(self) -> ex.Expr:
        """Parse an actual argument; a variable in parentheses is passed as an expression."""
        opened = self.texts[self.at] == "("
        found = self.expression()
        if opened and isinstance(found, ex.Name | ex.Index | ex.Member):
            return ex.Parenthesised(found)
        return found

    def _triplet(self, lower: ex.Expr | None) -> ex.Range:
        """Parse the rest of a subscript triplet, starting at its first `:`."""
        self.at += 1
        upper = None if self.texts[self.at] in (":", ",", ")") else self.expression()
        step = self.expression() if self.skip(":") else None
        return ex.Range(lower, upper, step)

    # ------------------------------------------------------------------------ shapes

    def shape(self) -> tuple[ex.Expr, ...]:
        """Parse a list of dimensions in parentheses."""
        self.expect("(")
        dimensions = [self._dimension()]
        while self.skip(","):
            dimensions.append(self._dimension())
        self.expect(")")
        return tuple(dimensions)

    def _dimension(self) -> ex.Expr:
        if self.texts[self.at] in ("*", ".."):
            self.at += 1
            return ex.Star() if self.texts[self.at - 1] == "*" else ex.Verbatim("..")
        lower = None if self.texts[self.at] == ":" else self.expression()
        if not self.skip(":"):
            assert lower is not None
            return lower
        if self.skip("*"):
            return ex.Range(lower, ex.Star())
        return ex.Range(lower, None if self.texts[self.at] in (",", ")") else self.expression())
