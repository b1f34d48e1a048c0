"""Real kinds of arguments: metadata declare an argument as real, the algorithm declares its kind.

A Fortran kernel needs a subroutine for the kinds of each call. For targets that print kernels
together with their calls, a Python kernel is parsed for the kinds of its call, and the Fortran
subroutine with these kinds is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, Severity
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.domains.declared import declared
from psyclone_storage.infrastructures.lfric import OBJECT_TYPES, OF_SIZE, REAL
from psyclone_storage.ir.expr import Expr, Literal, Unary
from psyclone_storage.ir.interface import Dummy, Role
from psyclone_storage.ir.kernel import ArgKind, Kernel, KernelArg
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import Declaration, ParsedRoutine
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.schedule import Actual, KernelCall, Program, Schedule
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
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


# ---------------------------------------------------------------------------- Fortran kernels

_SCALARS = {Role.SCALAR, Role.SCALAR_ARRAY}
_OWN_KIND = {Role.FIELD, Role.DOF_VALUE, Role.OPERATOR, *_SCALARS}


def check_precisions(
    program: Program, sizes: KindSizes, routines: Callable[[Kernel], tuple[ParsedRoutine, ...]]
) -> Iterator[Diagnostic]:
    """Yield S119 for each argument whose real kind the subroutine of its kernel does not accept.

    `sizes` are those of the settings. Only kinds that these name count, because other names may
    denote any kind. Scalars must have the same name of a kind, because a build may choose other
    sizes; fields and operators need only have the same size.
    Kernels with several subroutines are skipped: those are for the sizes of kinds, `r_single` and
    `r_double`, and the build decides which one a kind such as `r_def` has.
    """
    seen: set[tuple[object, ...]] = set()
    for invoke in program.invokes:
        for call in kernel_calls(invoke.schedule):
            passed = tuple(_passed(one, invoke.schedule) for one in call.args)
            if len(codes := routines(call.kernel)) != 1 or call.kernel.is_builtin:
                continue
            for at, kind, dummy in _wrong_kinds(call, passed, codes[0], sizes):
                place = call.args[at].span
                if place is not None and (place, dummy.span) not in seen:
                    seen.add((place, dummy.span))
                    yield _wrong_kind(call.kernel, passed[at], place, kind, dummy)


def _passed(actual: Actual, schedule: Schedule) -> Expr:
    """Return an argument as the algorithm has it."""
    return actual.value if actual.datum is None else schedule.datum(actual.datum).actual


def _wrong_kinds(
    call: KernelCall, passed: tuple[Expr, ...], routine: ParsedRoutine, sizes: KindSizes
) -> Iterator[tuple[int, str, Declaration]]:
    """Yield the arguments, with their kinds, that differ from their dummies in `routine`."""
    if len(call.dummies) != len(routine.dummies):
        return
    known = {one.key: one for one in routine.declarations}
    for dummy, name in zip(call.dummies, routine.dummies, strict=True):
        found = known.get(key_of(name))
        if dummy.arg is None or dummy.role not in _OWN_KIND or found is None:
            continue
        kind, wanted = _real_kind(passed[dummy.arg]), _kind_of(found.type)
        if kind is None or wanted is None:
            continue
        same = wanted == kind if dummy.role in _SCALARS else sizes.get(wanted) == sizes.get(kind)
        if not same and {kind, wanted} <= sizes.keys() | {""}:
            yield dummy.arg, kind, found


def _real_kind(value: Expr) -> str | None:
    """Return the kind of a real argument, empty for the default one; None if it is not known."""
    while isinstance(value, Unary):
        value = value.operand
    if isinstance(value, Literal):
        return key_of(value.kind or "") if value.intrinsic is Intrinsic.REAL else None
    known = declared(value)
    if known is None:
        return None
    if isinstance(known.type, DerivedType):
        data = OBJECT_TYPES.get(known.type.name)
        return _kind_of(data.data) if data else None
    home = known.symbol.home_of_kind
    return home[1] if home else _kind_of(known.type)


def _kind_of(type_: DataType) -> str | None:
    if isinstance(type_, ScalarType) and type_.intrinsic is Intrinsic.REAL:
        return type_.kind_key
    return None


def _wrong_kind(
    kernel: Kernel, value: Expr, place: Span, kind: str, dummy: Declaration
) -> Diagnostic:
    text, wanted = place.text, _kind_of(dummy.type) or ""
    while isinstance(value, Unary):
        value = value.operand
    if isinstance(value, Literal):
        plain = text.partition("_")[0]
        hint = f"Write {plain}_{wanted}." if wanted else f"Write {plain}."
    else:
        hint = f"Pass data of kind '{wanted}', or add a subroutine for '{kind}' to an interface."
    has = f"has the kind '{kind}'" if kind else "has the default kind"
    expects = f"'{wanted}'" if wanted else "the default kind"
    return Diagnostic(
        "S119",
        f"'{text}' {has}, but '{dummy.name}' of the subroutine '{kernel.procedure}' expects"
        f" {expects}.",
        place,
        hint=hint,
        related=(Related(dummy.span, "declared here"),),
        severity=Severity.WARNING,
    )
