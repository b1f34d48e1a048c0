"""Table of operators, with a row per operator and a column per language.

The column for Fortran is `ir.operators.FORTRAN`.
"""

from __future__ import annotations

from psyclone_storage.ir.operators import (
    SPELLINGS,
    Infix,
    Operator,
    OperatorKind,
    OperatorTable,
    Precedence,
    Prefix,
    SignRule,
    left_associative,
)

_TABLE = """
Fortran  C   precedence  Python  precedence  NumPy  precedence
.eqv.    ==  EQUALITY    ==      EQUALITY    ==     EQUALITY
.neqv.   !=  EQUALITY    !=      EQUALITY    !=     EQUALITY
.or.     ||  OR          or      OR          |      BIT_OR
.and.    &&  AND         and     AND         &      BIT_AND
==       ==  EQUALITY    ==      EQUALITY    ==     EQUALITY
/=       !=  EQUALITY    !=      EQUALITY    !=     EQUALITY
<        <   RELATION    <       EQUALITY    <      EQUALITY
<=       <=  RELATION    <=      EQUALITY    <=     EQUALITY
>        >   RELATION    >       EQUALITY    >      EQUALITY
>=       >=  RELATION    >=      EQUALITY    >=     EQUALITY
+        +   SUM         +       SUM         +      SUM
-        -   SUM         -       SUM         -      SUM
*        *   PRODUCT     *       PRODUCT     *      PRODUCT
/        /   PRODUCT     /       PRODUCT     /      PRODUCT
"""
_ROWS = tuple(line.split() for line in _TABLE.strip().splitlines()[1:])
_C, _PYTHON, _NUMPY = (
    [(SPELLINGS[row[0]], row[at], Precedence[row[at + 1]]) for row in _ROWS] for at in (1, 3, 5)
)

REMAINDER = left_associative("%", Precedence.PRODUCT)
"""The remainder of C and Python, with the sign of the dividend in C and the divisor in Python."""
FLOOR_QUOTIENT = left_associative("//", Precedence.PRODUCT)
"""Python's quotient, rounded down."""
BITS = {
    word: Infix(f" {text} ", rank, Precedence.PREFIX, Precedence.PREFIX)
    for word, text, rank in (
        ("iand", "&", Precedence.BIT_AND),
        ("ieor", "^", Precedence.BIT_AND),
        ("ior", "|", Precedence.BIT_OR),
    )
}
"""The operators of C for Fortran's functions of bits."""
COMPLEMENT = Prefix("~", Precedence.PREFIX, Precedence.PREFIX)
SHIFT = Infix(" >> ", Precedence.SUM, Precedence.PREFIX, Precedence.PREFIX)
SHIFTS = {
    "shiftl": Infix(" << ", Precedence.SUM, Precedence.PREFIX, Precedence.PREFIX),
    "shifta": SHIFT,
}
"""The shifts of C and Python for Fortran's functions; Python's bind more weakly than sums."""
POWER = Infix("**", Precedence.POWER, Precedence.POWER + 1, Precedence.PREFIX)
"""Python's power. C has a function."""


def _c_infix(op: Operator, text: str, rank: Precedence) -> Infix:
    match op.kind:
        case OperatorKind.ARITHMETIC:
            return left_associative(text, rank)
        case OperatorKind.RELATIONAL:
            return Infix(f" {text} ", rank, Precedence.SUM, Precedence.SUM)
    if rank == Precedence.EQUALITY:
        return Infix(f" {text} ", rank, Precedence.RELATION, Precedence.RELATION)
    # Brackets are not needed around "and" in "or", but C compilers warn without them.
    return Infix(f" {text} ", rank, Precedence.EQUALITY, Precedence.EQUALITY, chains=True)


def _python_infix(op: Operator, text: str, rank: Precedence, signs: SignRule) -> Infix:
    if rank == Precedence.EQUALITY:
        # Python chains comparisons: `a < b < c` has another meaning.
        return Infix(f" {text} ", rank, Precedence.BIT_OR, Precedence.BIT_OR)
    arithmetic = op.kind is OperatorKind.ARITHMETIC
    return left_associative(text, rank, signs if arithmetic else SignRule.NONE)


C = OperatorTable(
    {
        Operator.NOT: Prefix("!", Precedence.PREFIX, Precedence.PREFIX),
        # `--x` would decrement.
        Operator.MINUS: Prefix("-", Precedence.PREFIX, Precedence.PREFIX, SignRule.LEADING),
    },
    {row[0]: _c_infix(*row) for row in _C},
    "{0} ? {1} : {2}",
)
PYTHON = OperatorTable(
    {
        Operator.NOT: Prefix("not ", Precedence.NOT, Precedence.NOT),
        Operator.PLUS: Prefix("+", Precedence.PREFIX, Precedence.POWER),
        Operator.MINUS: Prefix("-", Precedence.PREFIX, Precedence.POWER),
    },
    {
        Operator.POWER: POWER,
        **{row[0]: _python_infix(*row, SignRule.SIGNED) for row in _PYTHON},
    },
    "{1} if {0} else {2}",
)
"""Python for readers, with brackets around the sign in `a - (-b)`."""
NUMPY = OperatorTable(
    {
        Operator.PLUS: Prefix("+", Precedence.PREFIX, Precedence.PREFIX),
        Operator.MINUS: Prefix("-", Precedence.PREFIX, Precedence.PREFIX),
    },
    {
        Operator.POWER: POWER,
        **{row[0]: _python_infix(*row, SignRule.NONE) for row in _NUMPY},
    },
)
"""Python for arrays of NumPy, whose conditions have the operators of bits."""
