"""Lowering of built-ins: their formula replaces a call at each dof.

Operands of another kind than the result are converted explicitly, to avoid compiler warnings.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import ArgKind, Formula
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.runtime_ops import AddExactly, DataOf
from psyclone_storage.ir.schedule import KernelCall
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Assign, Call, Line
from psyclone_storage.lowering.arguments import scalar_value
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.reductions import combine_partial, is_exact


def written_argument(call: KernelCall) -> int:
    """Return the position of the argument that a built-in writes."""
    (written,) = (at for at, arg in enumerate(call.kernel.args) if arg.access.writes)
    return written


def formula_line(
    context: LoweringContext, call: KernelCall, formula: Formula, index: ex.Expr
) -> Line:
    """Return the statement of the built-in `call` for dof `index`."""
    operands = {
        letter: _operand(context, call, position, index)
        for position, letter in enumerate(formula.letters)
    }
    written = written_argument(call)
    target = operands[formula.letters[written]]
    if formula.is_random:
        return Call(ex.Name("random_number"), (target,))
    kinds = _kinds(context, call, formula)
    value = _substituted(formula.value, operands, kinds)
    if formula.reduction is not None:
        datum = context.datum(call, written)
        if is_exact(context, datum, formula.reduction):
            (line,) = context.lines(AddExactly(datum, value))
            return line
        target = context.partial_sums.get(datum.name, target)
        return Assign(target, combine_partial(formula.reduction, target, value))
    return Assign(target, _converted(context, call, formula, value))


def _operand(context: LoweringContext, call: KernelCall, position: int, index: ex.Expr) -> ex.Expr:
    if call.kernel.args[position].kind is not ArgKind.FIELD:
        return scalar_value(context, call, position)
    actual = call.args[position]
    data = context.value(DataOf(context.of(actual), actual.component))
    return ex.Element(data, (index,))


def _kinds(context: LoweringContext, call: KernelCall, formula: Formula) -> Mapping[str, str]:
    """Return the kind parameters of the arguments by their letters."""
    kinds: dict[str, str] = {}
    for letter, actual in zip(formula.letters, call.args, strict=True):
        data_type = _type_of(context, call, actual.datum, actual.value)
        if data_type is not None and data_type.kind is not None:
            kinds[letter] = context.work.kind(data_type.kind)
    return kinds


def _type_of(
    context: LoweringContext, call: KernelCall, datum: str | None, value: ex.Expr
) -> ScalarType | None:
    if datum is not None:
        return context.ops.value_type(context.schedule.datum(datum))
    constants = [part for part in ex.walk(value) if isinstance(part, ex.Literal)]
    if not constants:
        raise InternalError(f"An argument of '{call.kernel.name}' is neither data nor constant.")
    return ScalarType(constants[0].intrinsic, constants[0].kind)


def _substituted(
    value: ex.Expr, operands: Mapping[str, ex.Expr], kinds: Mapping[str, str]
) -> ex.Expr:
    """Return `value` with letters replaced by the arguments of the built-in."""
    match value:
        case ex.Name(text):
            return operands.get(text, value)
        case ex.CallFunction(ex.Name("kind"), (ex.Name(letter),)):
            return ex.Name(kinds[letter])
        case ex.Index(base, items):
            changed = tuple(_substituted(item, operands, kinds) for item in items)
            return value.__class__(base, changed)
        case ex.Keyword(name, inner):
            return ex.Keyword(name, _substituted(inner, operands, kinds))
        case ex.Unary(op, operand):
            return ex.Unary(op, _substituted(operand, operands, kinds))
        case ex.Binary(op, left, right):
            return ex.Binary(
                op, _substituted(left, operands, kinds), _substituted(right, operands, kinds)
            )
    return value


def _converted(
    context: LoweringContext, call: KernelCall, formula: Formula, value: ex.Expr
) -> ex.Expr:
    """Return `value` converted to the kind of the result, if an operand may have another kind."""
    written = written_argument(call)
    target = _type_of(context, call, call.args[written].datum, call.args[written].value)
    is_conversion = ex.intrinsic_called(value) in {"real", "int"}
    if target is None or target.kind is None or is_conversion:
        return value
    read = {part.text for part in ex.walk(formula.value) if isinstance(part, ex.Name)}
    for letter, actual in zip(formula.letters, call.args, strict=True):
        operand = _type_of(context, call, actual.datum, actual.value)
        if letter not in read or operand is None or operand.intrinsic is not target.intrinsic:
            continue
        if operand.kind is not None and key_of(operand.kind) != key_of(target.kind):
            kind = ex.Keyword("kind", ex.Name(context.work.kind(target.kind)))
            return ex.intrinsic(target.intrinsic.value, value, kind)
    return value
