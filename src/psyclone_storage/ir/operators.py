"""The operators of expressions: what each is, how Fortran spells it, and how strongly it binds.

This is the one table of them. An operator that an author defines is no member of it: nobody here
knows what it computes.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass


class OperatorKind(Enum):
    """What operators compute, and of what."""

    ARITHMETIC = "numbers of numbers"
    CONCATENATION = "a character value of two"
    RELATIONAL = "a logical value of two values"
    LOGICAL = "a logical value of logical values"
    DEFINED = "what a procedure of the author's computes"


class Operator(Enum):
    """An operator of the language; the value is its spelling in Fortran 90 and later.

    A sign before one operand is the operator between two of the same spelling. `rank` says how
    strongly it binds.
    """

    EQUIVALENT = ".eqv.", 1, OperatorKind.LOGICAL
    NOT_EQUIVALENT = ".neqv.", 1, OperatorKind.LOGICAL
    OR = ".or.", 2, OperatorKind.LOGICAL
    AND = ".and.", 3, OperatorKind.LOGICAL
    NOT = ".not.", 4, OperatorKind.LOGICAL
    EQUAL = "==", 5, OperatorKind.RELATIONAL
    NOT_EQUAL = "/=", 5, OperatorKind.RELATIONAL
    LESS = "<", 5, OperatorKind.RELATIONAL
    LESS_EQUAL = "<=", 5, OperatorKind.RELATIONAL
    GREATER = ">", 5, OperatorKind.RELATIONAL
    GREATER_EQUAL = ">=", 5, OperatorKind.RELATIONAL
    CONCATENATE = "//", 6, OperatorKind.CONCATENATION
    PLUS = "+", 7, OperatorKind.ARITHMETIC
    MINUS = "-", 7, OperatorKind.ARITHMETIC
    TIMES = "*", 8, OperatorKind.ARITHMETIC
    DIVIDE = "/", 8, OperatorKind.ARITHMETIC
    POWER = "**", 9, OperatorKind.ARITHMETIC

    spelling: str
    rank: int
    kind: OperatorKind

    def __new__(cls, spelling: str, rank: int, kind: OperatorKind) -> Operator:
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
    def rank(self) -> int:
        """How strongly it binds between two operands."""
        return 0

    @property
    def kind(self) -> OperatorKind:
        """What it computes."""
        return OperatorKind.DEFINED


AnyOperator = Operator | DefinedOperator
"""What may stand between two operands, or before one."""

SPELLINGS = {operator.spelling: operator for operator in Operator}
"""The operators of the language by their spelling."""
