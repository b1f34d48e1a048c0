"""Real kinds of arguments, for targets that print kernels together with their calls.

Metadata declare an argument as real, and the algorithm declares its kind. A Python kernel is parsed
for the kinds of its call. For Fortran, the subroutine with these kinds is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.lfric import OBJECT_TYPES, OF_SIZE, REAL
from psyclone_storage.ir.expr import Expr, Literal, Unary
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import ArgKind, Kernel, KernelArg
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Actual, KernelCall, Program, Schedule
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.walk import kernel_calls, replaced

KindSizes = Mapping[str, int]
"""The bytes of the kinds of numbers, by their names in lower case."""


def with_precisions(
    program: Program, sizes: KindSizes, dummies: Callable[[Kernel], tuple[Dummy, ...]]
) -> Program:
    """Return `program` with kernels for the real kinds of their actual arguments.

    A literal gets the kind of the other reals in the call, if they all have the same kind.
    `dummies` returns the dummy arguments of a kernel's subroutine.
    """
    invokes = []
    for invoke in program.invokes:
        schedule = invoke.schedule
        for call in kernel_calls(schedule):
            changed = _with_precisions(call, schedule, sizes)
            if changed is not call:
                changed = replace(changed, dummies=dummies(changed.kernel))
                schedule = replaced(schedule, call.uid, changed)
        invokes.append(replace(invoke, schedule=schedule))
    return replace(program, invokes=tuple(invokes))


def _with_precisions(call: KernelCall, schedule: Schedule, sizes: KindSizes) -> KernelCall:
    if call.kernel.is_builtin:
        return call
    pairs = list(zip(call.kernel.args, call.args, strict=True))
    found = [_precision(arg, actual, schedule, sizes) for arg, actual in pairs]
    told = {one for one in found if one is not None}
    common = next(iter(told)) if len(told) == 1 else ""
    if not told - {""}:
        return call
    args = tuple(
        replace(arg, precision=one if one is not None else common)
        for (arg, _), one in zip(pairs, found, strict=True)
    )
    actuals = tuple(
        replace(actual, value=_of_kind(actual.value, common))
        if actual.datum is None and common and arg.intrinsic is Intrinsic.REAL
        else actual
        for arg, actual in pairs
    )
    return replace(call, kernel=replace(call.kernel, args=args), args=actuals)


def _precision(arg: KernelArg, actual: Actual, schedule: Schedule, sizes: KindSizes) -> str | None:
    """Return the kind of a real argument, '' for the default; None if it has no known kind.

    The kind of columnwise operators is fixed.
    """
    told = arg.intrinsic is Intrinsic.REAL and arg.kind is not ArgKind.COLUMNWISE_OPERATOR
    if not told or actual.datum is None:
        return None
    type_ = schedule.datum(actual.datum).type
    if isinstance(type_, DerivedType):
        known = OBJECT_TYPES.get(type_.name)
        if known is None:
            return None
        type_ = known.data
    if type_.intrinsic is not Intrinsic.REAL or (size := _size(type_, sizes)) not in OF_SIZE:
        return None
    return "" if size == _size(REAL, sizes) else OF_SIZE[size].kind


def _size(type_: ScalarType, sizes: KindSizes) -> int:
    """Return the number of bytes of a type, or 0 if unknown."""
    if type_.kind is None:
        return _DEFAULT
    return int(type_.kind) if type_.kind.isdecimal() else sizes.get(key_of(type_.kind), 0)


_DEFAULT = 4


def _of_kind(value: Expr, kind: str) -> Expr:
    """Return a real literal with another kind; return other expressions unchanged."""
    match value:
        case Literal(intrinsic=Intrinsic.REAL):
            return value.with_kind(kind)
        case Unary(op, operand):
            return Unary(op, _of_kind(operand, kind))
    return value


# ---------------------------------------------------------------------------- subroutines


def code_for(
    kernel: Kernel, codes: tuple[Routine, ...], dummies: tuple[Dummy, ...], sizes: KindSizes
) -> Routine:
    """Return the subroutine of a kernel that accepts arguments of the types in `dummies`.

    Raises:
        CompileError: G010, none or several of the subroutines accept them.
    """
    if len(codes) == 1:
        return codes[0]
    found = [code for code in codes if _takes(code, dummies, sizes)]
    if len(found) == 1:
        return found[0]
    kinds = dict.fromkeys(_words(kernel))
    message = (
        f"It is not known which subroutine '{kernel.procedure}' stands for in Python: "
        f"{'none' if not found else len(found)} of {len(codes)} "
        f"take{'s' if not found else ''} {' and '.join(kinds)}."
    )
    hint = "Say in the algorithm of which type its data are, or name a kernel for them."
    raise CompileError(Diagnostic("G010", message, kernel.span, hint=hint))


def _words(kernel: Kernel) -> Iterator[str]:
    for arg in kernel.args:
        if arg.intrinsic is Intrinsic.REAL:
            yield "reals of 32 bits" if arg.precision else "reals of 64 bits"


def _takes(code: Routine, dummies: tuple[Dummy, ...], sizes: KindSizes) -> bool:
    if len(code.dummies) != len(dummies):
        return False
    return all(
        _is_of(code, name, dummy.type, sizes)
        for name, dummy in zip(code.dummies, dummies, strict=True)
        if dummy.type.intrinsic is Intrinsic.REAL
    )


def _is_of(code: Routine, name: str, type_: ScalarType, sizes: KindSizes) -> bool:
    item = code.declared(name)
    if item is None or not isinstance(item.type, ScalarType):
        return False
    return _size(item.type, sizes) == _size(type_, sizes)
