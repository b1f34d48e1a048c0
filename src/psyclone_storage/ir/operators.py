"""Operators of expressions and their syntax.

The table for Fortran is here, because the intermediate representation prints itself in Fortran.
`languages.operators` contains the tables of other languages. User-defined operators are not in the
tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto

from psyclone_storage.base.records import dataclass


class Precedence(IntEnum):
    """Operator precedence, weakest first, on a scale that all languages share."""

    DEFINED = 0
    CHOICE = auto()
    EQUIVALENCE = auto()
    OR = auto()
    AND = auto()
    NOT = auto()
    EQUALITY = auto()
    RELATION = auto()
    CONCATENATION = auto()
    BIT_OR = auto()
    BIT_AND = auto()
    SUM = auto()
    PRODUCT = auto()
    PREFIX = auto()
    POWER = auto()
    DEFINED_PREFIX = auto()
    PRIMARY = auto()


class OperatorKind(Enum):
    """Kind of an operator, by the types of its operands and its result."""

    ARITHMETIC = "numbers of numbers"
    CONCATENATION = "a character value of two"
    RELATIONAL = "a logical value of two values"
    LOGICAL = "a logical value of logical values"
    DEFINED = "what a procedure of the author's computes"


class Operator(Enum):
    """An intrinsic operator; the value is its spelling in Fortran 90 and later.

    Unary plus and minus use the members of the binary operators. `rank` is the precedence in
    Fortran.
    """

    EQUIVALENT = ".eqv.", Precedence.EQUIVALENCE, OperatorKind.LOGICAL
    NOT_EQUIVALENT = ".neqv.", Precedence.EQUIVALENCE, OperatorKind.LOGICAL
    OR = ".or.", Precedence.OR, OperatorKind.LOGICAL
    AND = ".and.", Precedence.AND, OperatorKind.LOGICAL
    NOT = ".not.", Precedence.NOT, OperatorKind.LOGICAL
    EQUAL = "==", Precedence.EQUALITY, OperatorKind.RELATIONAL
    NOT_EQUAL = "/=", Precedence.EQUALITY, OperatorKind.RELATIONAL
    LESS = "<", Precedence.EQUALITY, OperatorKind.RELATIONAL
    LESS_EQUAL = "<=", Precedence.EQUALITY, OperatorKind.RELATIONAL
    GREATER = ">", Precedence.EQUALITY, OperatorKind.RELATIONAL
    GREATER_EQUAL = ">=", Precedence.EQUALITY, OperatorKind.RELATIONAL
    CONCATENATE = "//", Precedence.CONCATENATION, OperatorKind.CONCATENATION
    PLUS = "+", Precedence.SUM, OperatorKind.ARITHMETIC
    MINUS = "-", Precedence.SUM, OperatorKind.ARITHMETIC
    TIMES = "*", Precedence.PRODUCT, OperatorKind.ARITHMETIC
    DIVIDE = "/", Precedence.PRODUCT, OperatorKind.ARITHMETIC
    POWER = "**", Precedence.POWER, OperatorKind.ARITHMETIC

    spelling: str
    rank: Precedence
    kind: OperatorKind

    def __new__(cls, spelling: str, rank: Precedence, kind: OperatorKind) -> Operator:
        """Create a member that can be looked up by its spelling."""
        member = object.__new__(cls)
        member._value_ = spelling
        member.spelling, member.rank, member.kind = spelling, rank, kind
        return member

    # Members are their own only equals; hashing their names would cost a call in Python.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class DefinedOperator:
    """A user-defined operator `.word.`, in lower case.

    A binary one has the lowest precedence, a unary one the highest.
    """

    spelling: str

    @property
    def rank(self) -> Precedence:
        """The precedence as a binary operator."""
        return Precedence.DEFINED

    @property
    def kind(self) -> OperatorKind:
        """The kind of operation."""
        return OperatorKind.DEFINED


AnyOperator = Operator | DefinedOperator
"""What may stand between two operands, or before one."""

SPELLINGS = {operator.spelling: operator for operator in Operator}
"""The operators of the language by their spelling."""


# ---------------------------------------------------------------------------- writing


class Ranked:
    """Printed text with the precedence of its outermost operator."""

    __slots__ = ()
    text: str
    rank: int

    def within(self, rank: int) -> str:
        """Return the text as an operand, parenthesized if it binds more weakly than `rank`."""
        return f"({self.text})" if self.rank < rank else self.text


@dataclass(frozen=True, slots=True)
class RankedText(Ranked):
    """Printed text of an expression and its precedence, without a type."""

    text: str
    rank: int = Precedence.PRIMARY


class SignRule(Enum):
    """Rule for parentheses around operands with a leading sign."""

    NONE = "none"
    SIGNED = "an operand whose outermost operator is a sign"
    LEADING = "each operand whose text begins with a sign"

    def applies(self, operand: Ranked) -> bool:
        """Return whether the rule requires parentheses around `operand`."""
        match self:
            case SignRule.SIGNED:
                return operand.rank == Precedence.PREFIX
            case SignRule.LEADING:
                return operand.text.startswith(("-", "+"))
        return False


@dataclass(frozen=True, slots=True)
class Prefix:
    """A unary operator: its text, its precedence and the minimum precedence of the operand."""

    text: str
    rank: int
    operand: int
    signs: SignRule = SignRule.NONE

    def apply(self, operand: Ranked) -> str:
        """Return the text of the operator applied to `operand`."""
        rank = Precedence.PRIMARY if self.signs.applies(operand) else self.operand
        return f"{self.text}{operand.within(rank)}"


@dataclass(frozen=True, slots=True)
class Infix:
    """A binary operator: its text, its precedence and the minimum precedences of the operands.

    If it `chains`, operands with the same operator need no parentheses on either side.
    """

    text: str
    rank: int
    left: int
    right: int
    signs: SignRule = SignRule.NONE
    chains: bool = False

    def join(self, left: Ranked, right: Ranked) -> str:
        """Return the text of the operator applied to `left` and `right`."""
        first, second = left.text, f"({right.text})"
        if not self.chains or left.rank != self.rank:
            first = left.within(self.left)
        if self.chains and right.rank == self.rank:
            second = right.text
        elif not self.signs.applies(right):
            second = right.within(self.right)
        return f"{first}{self.text}{second}"


def left_associative(text: str, rank: int, signs: SignRule = SignRule.NONE) -> Infix:
    """Return a left-associative binary operator."""
    return Infix(f" {text} ", rank, rank, rank + 1, signs)


@dataclass(frozen=True, slots=True)
class OperatorTable:
    """The operators of one language, without those that the language cannot express.

    `choice` is the format of a conditional expression: {0} is the condition, {1} and {2} are the
    values.
    """

    prefixes: Mapping[AnyOperator, Prefix]
    infixes: Mapping[AnyOperator, Infix]
    choice: str = ""

    def unary(self, op: AnyOperator, operand: Ranked) -> RankedText:
        """Return the text of a unary operation."""
        row = self.prefixes[op]
        return RankedText(row.apply(operand), row.rank)

    def binary(self, op: AnyOperator, left: Ranked, right: Ranked) -> RankedText:
        """Return the text of a binary operation."""
        row = self.infixes[op]
        return RankedText(row.join(left, right), row.rank)

    def choose(self, condition: Ranked, first: Ranked, second: Ranked) -> RankedText:
        """Return the text of a conditional expression."""
        parts = (part.within(Precedence.CHOICE + 1) for part in (condition, first, second))
        return RankedText(self.choice.format(*parts), Precedence.CHOICE)


def fortran_infix(op: AnyOperator) -> Infix:
    """Return the Fortran syntax of a binary operator."""
    left, right = int(op.rank), op.rank + 1
    if op is Operator.POWER:
        left, right = right, left
    elif op.kind is OperatorKind.RELATIONAL:
        left = right
    return Infix(f" {op.spelling} ", op.rank, left, right, SignRule.LEADING)


FORTRAN = OperatorTable(
    {
        # A sign binds like an addition.
        Operator.PLUS: Prefix("+", Precedence.SUM, Precedence.PRODUCT),
        Operator.MINUS: Prefix("-", Precedence.SUM, Precedence.PRODUCT),
        Operator.NOT: Prefix(".not. ", Precedence.NOT, Precedence.EQUALITY),
    },
    {op: fortran_infix(op) for op in Operator if op is not Operator.NOT},
)
"""The operators of Fortran. Those that an author defines have no row."""
