"""The operators of expressions, and how a language writes them.

Fortran's column of the table of operators is here, because the intermediate representation prints
itself in Fortran; `languages.operators` has the columns of the other languages. An operator that
an author defines is no member of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum, auto

from psyclone_storage.base.records import dataclass


class Precedence(IntEnum):
    """Precedence of operators, weakest first. All languages share the scale."""

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
    """Kinds of operators by operands and result."""

    ARITHMETIC = "numbers of numbers"
    CONCATENATION = "a character value of two"
    RELATIONAL = "a logical value of two values"
    LOGICAL = "a logical value of logical values"
    DEFINED = "what a procedure of the author's computes"


class Operator(Enum):
    """An operator of the language; the value is its spelling in Fortran 90 and later.

    A sign before one operand is the operator between two of the same spelling. `rank` is its
    precedence in Fortran.
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
        """Make a member that is found by its spelling."""
        member = object.__new__(cls)
        member._value_ = spelling
        member.spelling, member.rank, member.kind = spelling, rank, kind
        return member

    # Members are their own only equals; hashing their names would cost a call in Python.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class DefinedOperator:
    """An operator that an author defines: `.word.`, in lower case.

    Between two operands it binds more weakly than all others, before one more strongly.
    """

    spelling: str

    @property
    def rank(self) -> Precedence:
        """The precedence between two operands."""
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
        """Return the text as an operand that needs brackets if it binds more weakly than `rank`."""
        return f"({self.text})" if self.rank < rank else self.text


@dataclass(frozen=True, slots=True)
class RankedText(Ranked):
    """An untyped printed expression."""

    text: str
    rank: int = Precedence.PRIMARY


class SignRule(Enum):
    """Operands with a leading sign that need brackets after an operator."""

    NONE = "none"
    SIGNED = "an operand whose outermost operator is a sign"
    LEADING = "each operand whose text begins with a sign"

    def applies(self, operand: Ranked) -> bool:
        """Return whether an operand needs brackets."""
        match self:
            case SignRule.SIGNED:
                return operand.rank == Precedence.PREFIX
            case SignRule.LEADING:
                return operand.text.startswith(("-", "+"))
        return False


@dataclass(frozen=True, slots=True)
class Prefix:
    """An operator before one operand: its text, its rank, and the least rank of the operand."""

    text: str
    rank: int
    operand: int
    signs: SignRule = SignRule.NONE

    def apply(self, operand: Ranked) -> str:
        """Return the text of the operation."""
        rank = Precedence.PRIMARY if self.signs.applies(operand) else self.operand
        return f"{self.text}{operand.within(rank)}"


@dataclass(frozen=True, slots=True)
class Infix:
    """An operator between two operands: its text, its rank, and the least ranks of the operands.

    An operation that `chains` is written without brackets on both sides of the same operator.
    """

    text: str
    rank: int
    left: int
    right: int
    signs: SignRule = SignRule.NONE
    chains: bool = False

    def join(self, left: Ranked, right: Ranked) -> str:
        """Return the text of the operation."""
        first, second = left.text, f"({right.text})"
        if not self.chains or left.rank != self.rank:
            first = left.within(self.left)
        if self.chains and right.rank == self.rank:
            second = right.text
        elif not self.signs.applies(right):
            second = right.within(self.right)
        return f"{first}{self.text}{second}"


def left_associative(text: str, rank: int, signs: SignRule = SignRule.NONE) -> Infix:
    """Return an operator that groups from the left."""
    return Infix(f" {text} ", rank, rank, rank + 1, signs)


@dataclass(frozen=True, slots=True)
class OperatorTable:
    """The operators of one language. It lacks operators that the language cannot express.

    `choice` is the form of a choice by a condition, 0, between two values, 1 and 2.
    """

    prefixes: Mapping[AnyOperator, Prefix]
    infixes: Mapping[AnyOperator, Infix]
    choice: str = ""

    def unary(self, op: AnyOperator, operand: Ranked) -> RankedText:
        """Return an operation on one operand."""
        row = self.prefixes[op]
        return RankedText(row.apply(operand), row.rank)

    def binary(self, op: AnyOperator, left: Ranked, right: Ranked) -> RankedText:
        """Return an operation on two operands."""
        row = self.infixes[op]
        return RankedText(row.join(left, right), row.rank)

    def choose(self, condition: Ranked, first: Ranked, second: Ranked) -> RankedText:
        """Return a choice between two values."""
        parts = (part.within(Precedence.CHOICE + 1) for part in (condition, first, second))
        return RankedText(self.choice.format(*parts), Precedence.CHOICE)


def fortran_infix(op: AnyOperator) -> Infix:
    """Return an operator between two operands as Fortran writes it."""
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
