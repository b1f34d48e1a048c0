"""One-line notation that defines built-ins.

    aX_plus_Y(Z, a, X, Y): Z = a*X + Y

This line defines the built-in `aX_plus_Y` with a field `Z`, a scalar `a` and two fields. At every
dof it assigns the value on the right to the argument on the left. An upper-case letter is a field,
and a lower-case letter is a scalar. Arguments have the intrinsic type of their group, unless it is
given, as in `n: integer`. `r = sum(...)`, `r = minval(...)` and `r = maxval(...)` are reductions
with the scalar result `r`.

Two functions have a special meaning, and each back end prints them in its own way.
`random_number()` is a new pseudo-random number in [0, 1) for every dof. `kind(Y)` is the kind that
the field `Y` has in the invoke, which the definition does not contain.

An invalid line is a defect of the table, so it raises `InternalError`.
"""

from __future__ import annotations

import ast

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import Access, ArgKind, Formula, KernelArg, ReductionOp
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic

_LINE = regex(r"(?P<name>\w+)\((?P<letters>[^)]*)\): (?P<written>\w+) = (?P<value>.+)")
_OPERATORS: dict[type[ast.operator], Operator] = {
    ast.Add: Operator.PLUS,
    ast.Sub: Operator.MINUS,
    ast.Mult: Operator.TIMES,
    ast.Div: Operator.DIVIDE,
    ast.Pow: Operator.POWER,
}
_REDUCTIONS = {
    "sum": ReductionOp.SUM,
    "minval": ReductionOp.MIN,
    "maxval": ReductionOp.MAX,
}
_SPACE = "any_space_1"
_RANDOM = ex.intrinsic("random_number")


@dataclass(frozen=True, slots=True)
class BuiltinDefinition:
    """Built-in as defined by its line: name, arguments and formula."""

    name: str
    args: tuple[KernelArg, ...]
    formula: Formula


def read_definition(line: str, default: Intrinsic) -> BuiltinDefinition:
    """Parse one line of the notation; `default` is the type of arguments without a given type.

    Every field is on the function space `any_space_1` (spec 3.1). The access of the written
    argument is `READWRITE` if its old value is used, `REDUCTION` for the result of a reduction, and
    otherwise `WRITE`.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise InternalError(f"'{line}' does not define a built-in.")
    value, reduction = _read_value(match["value"])
    access = _written_access(match["written"], value, reduction)
    letters = [_read_letter(text, default) for text in match["letters"].split(", ")]
    args = tuple(
        _argument(letter, kind, access if letter == match["written"] else Access.READ)
        for letter, kind in letters
    )
    names = tuple(letter for letter, _ in letters)
    formula = Formula(names, value, reduction, is_random=value == _RANDOM)
    return BuiltinDefinition(match["name"], args, formula)


def _read_value(text: str) -> tuple[ex.Expr, ReductionOp | None]:
    value = _read(ast.parse(text, mode="eval").body)
    match value:
        case ex.CallFunction(ex.Name(function), (reduced,)) if function in _REDUCTIONS:
            return reduced, _REDUCTIONS[function]
    return value, None


def _read(node: ast.expr) -> ex.Expr:
    match node:
        case ast.Name(text):
            return ex.Name(text)
        case ast.BinOp(left, op, right):
            return ex.Binary(_OPERATORS[type(op)], _read(left), _read(right))
        case ast.Call(ast.Name(function), args, keywords):
            named = (ex.Keyword(word.arg or "", _read(word.value)) for word in keywords)
            return ex.intrinsic(function, *map(_read, args), *named)
    raise InternalError(f"A built-in's value cannot hold '{ast.unparse(node)}'.")


def _written_access(letter: str, value: ex.Expr, reduction: ReductionOp | None) -> Access:
    if reduction is not None:
        return Access.REDUCTION
    return Access.READWRITE if _reads(value, letter) else Access.WRITE


def _reads(value: ex.Expr, letter: str) -> bool:
    """Return whether `value` uses the value of `letter`, not only its kind."""
    match value:
        case ex.Name(text):
            return text == letter
        case ex.CallFunction(ex.Name("kind"), _):
            return False
    return any(_reads(part, letter) for part in ex.children(value))


def _read_letter(text: str, default: Intrinsic) -> tuple[str, Intrinsic]:
    letter, _, stated = text.partition(": ")
    return letter, Intrinsic(stated) if stated else default


def _argument(letter: str, of_type: Intrinsic, access: Access) -> KernelArg:
    if letter.isupper():
        return KernelArg(ArgKind.FIELD, of_type, access, space=_SPACE)
    return KernelArg(ArgKind.SCALAR, of_type, access)
