"""Binding of a call in a GOcean algorithm to the data of its invoke.

An algorithm passes fields and scalars in metadata order. Generated code gets grid properties from
one of the fields. If a call disagrees with its metadata, all diagnostics are returned instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.text import counted
from psyclone_storage.domains.build import BoundCall
from psyclone_storage.domains.data import ArgumentUse, DataTable
from psyclone_storage.domains.declared import (
    Declared,
    declared,
    is_named_constant,
    is_variable,
    write_real,
)
from psyclone_storage.domains.gocean.arguments import build_gocean_dummies
from psyclone_storage.infrastructures.gocean import (
    FIELD_TYPE,
    WORKING_PRECISION,
    field_type,
    value_type,
)
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import Access, ArgKind, GridStencil, Kernel, KernelArg
from psyclone_storage.ir.parsed import ParsedArgument, ParsedCall
from psyclone_storage.ir.schedule import Actual, KernelCall
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType

_GRID_ACCESSES = (Access.READ, Access.READWRITE, Access.WRITE)


@dataclass(frozen=True, slots=True)
class _Given:
    """Argument in metadata, with the actual argument passed for it, and the type of its datum."""

    arg: KernelArg
    passed: ParsedArgument
    known: Declared | None
    type: DataType

    @property
    def text(self) -> str:
        """Actual argument as written."""
        return self.passed.span.text or ex.spell(self.passed.expr)


def field_types(pairs: Iterable[tuple[ParsedCall, Kernel]]) -> dict[str, DataType]:
    """Return the types of the fields that kernels declare, by the text of the actual argument.

    Reductions accept fields of each type.
    """
    return {
        ex.canonical(passed.expr): _type_of(arg, None)
        for call, kernel in pairs
        if not kernel.is_builtin
        for arg, passed in zip(_passed_arguments(kernel), call.args, strict=False)
        if arg.kind is ArgKind.FIELD
    }


def _passed_arguments(kernel: Kernel) -> list[KernelArg]:
    return [arg for arg in kernel.args if arg.kind is not ArgKind.GRID_PROPERTY]


def bind_gocean_call(
    call: ParsedCall, kernel: Kernel, data: DataTable, uid: str, types: Mapping[str, DataType]
) -> BoundCall:
    """Match the arguments of `call` with the metadata of `kernel` and add them to `data`.

    `types` are those of `field_types`.
    """
    wanted = _passed_arguments(kernel)
    if len(wanted) != len(call.args):
        return BoundCall(None, (_wrong_count(call, kernel, wanted),))
    givens = [_given(kernel, *one, types) for one in zip(wanted, call.args, strict=True)]
    problems = [*_repeated(kernel, givens)]
    for given in givens:
        problems += [*_check(kernel, given), *_check_other_uses(given, data)]
    if problems:
        return BoundCall(None, tuple(problems))
    actuals = iter([_actual(given, data) for given in givens])
    grid = _field_for_grid(call, wanted, data)
    args = tuple(
        Actual(None, grid) if arg.kind is ArgKind.GRID_PROPERTY else next(actuals)
        for arg in kernel.args
    )
    dummies = () if kernel.is_builtin else build_gocean_dummies(kernel)
    return BoundCall(KernelCall(uid, kernel, args, dummies, span=call.span), ())


def _given(
    kernel: Kernel, arg: KernelArg, passed: ParsedArgument, types: Mapping[str, DataType]
) -> _Given:
    known = declared(passed.expr)
    type_ = _type_of(arg, known)
    if kernel.is_builtin and arg.kind is ArgKind.FIELD:
        type_ = types.get(ex.canonical(passed.expr), type_)
    return _Given(arg, passed, known, type_)


def _field_for_grid(call: ParsedCall, wanted: list[KernelArg], data: DataTable) -> ex.Expr:
    """Return the field from which the grid is taken (spec 5.1).

    It is the first field that is only read. Without such a field, it is the first one that is read
    and written, and otherwise the first one that is written.
    """
    fields = [
        (_GRID_ACCESSES.index(arg.access), position)
        for position, arg in enumerate(wanted)
        if arg.kind is ArgKind.FIELD
    ]
    _, position = min(fields)
    datum = data.known(call.args[position].expr)
    return ex.Name(datum.name) if datum else call.args[position].expr


def _actual(given: _Given, data: DataTable) -> Actual:
    arg, passed = given.arg, given.passed
    if ex.is_constant(passed.expr):
        return Actual(None, passed.expr, span=passed.span)
    datum = data.add(
        ArgumentUse(passed.expr, given.type, passed.span, kind=arg.kind, access=arg.access)
    )
    extent = None
    if isinstance(arg.stencil, GridStencil):
        extent = ex.whole(arg.stencil.depth)
    return Actual(datum.name, ex.Name(datum.name), extent=extent, span=passed.span)


def _type_of(arg: KernelArg, known: Declared | None) -> DataType:
    """Return the declared type of a scalar if known, else the type given by metadata."""
    if arg.kind is ArgKind.FIELD:
        values = value_type(arg.intrinsic, arg.precision)
        return DerivedType(field_type(values, has_layers=bool(arg.layers)))
    if known is not None and isinstance(known.type, ScalarType):
        return known.type
    return value_type(arg.intrinsic)


# ---------------------------------------------------------------------------- agreement


def _wrong_count(call: ParsedCall, kernel: Kernel, wanted: list[KernelArg]) -> Diagnostic:
    taken = "; ".join(_describe(arg) for arg in wanted)
    related = (Related(kernel.span, "its metadata is here"),) if kernel.span else ()
    return Diagnostic(
        "S101",
        f"Kernel '{call.name}' takes {counted(len(wanted), 'argument')} but is given"
        f" {len(call.args)}.",
        call.name_span,
        hint=f"It takes: {taken}. Properties of the grid are not passed by an algorithm.",
        related=related,
    )


def _describe(arg: KernelArg) -> str:
    on = f" on {arg.space}" if arg.space else ""
    return f"{arg.intrinsic.value} {arg.kind.value}{on} ({arg.access.value})"


def _repeated(kernel: Kernel, givens: list[_Given]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each object passed more than once, if the kernel writes it."""
    first: dict[str, _Given] = {}
    for given in givens:
        before = first.setdefault(ex.canonical(given.passed.expr), given)
        if before is given or not (before.arg.access.writes or given.arg.access.writes):
            continue
        yield Diagnostic(
            "S102",
            f"'{given.text}' is passed to '{kernel.name}' more than once, and written.",
            given.passed.span,
            "passed again here",
            "Pass a copy: two dummy arguments of one kernel may not be the same object.",
            (Related(before.passed.span, "passed here first"),),
        )


def _check(kernel: Kernel, given: _Given) -> Iterator[Diagnostic]:
    """Yield diagnostics `S104` to `S106` if an actual argument does not match the metadata."""
    is_field = given.arg.kind is ArgKind.FIELD
    wish = "a field" if is_field else f"a scalar of type {given.arg.intrinsic.value}"
    start = f"'{kernel.name}' expects {wish}, but '{given.text}'"
    place, known = given.passed.span, given.known
    if is_field and not is_variable(given.passed.expr):
        hint = f"Pass a variable of type '{FIELD_TYPE}'."
        yield Diagnostic("S104", f"{start} is not a variable.", place, hint=hint)
        return
    is_fixed = is_named_constant(given.passed.expr)
    if given.arg.access.writes and (is_fixed or not is_variable(given.passed.expr)):
        has = "is a named constant" if is_fixed else "is not a variable"
        message = f"'{kernel.name}' writes to this argument, but '{given.text}' {has}."
        yield Diagnostic("S103", message, place)
    literal = _literal(given.passed.expr)
    if literal is not None and literal.intrinsic is not given.arg.intrinsic:
        message = f"{start} is a constant of type {literal.intrinsic.value}."
        reads_real = given.arg.intrinsic is Intrinsic.REAL and given.text.lstrip("+-").isdigit()
        hint = write_real(given.text, WORKING_PRECISION) if reads_real else ""
        yield Diagnostic("S105", message, place, hint=hint)
    if known is None:
        return
    if not _fits(given.arg, known.type):
        message = f"{start} is of type {_spelled(known.type)}."
        yield Diagnostic("S105", message, place, related=known.places)
    elif known.rank:
        message = f"{start} is an array of {counted(known.rank, 'dimension')}."
        yield Diagnostic("S106", message, place, related=known.places)


def _check_other_uses(given: _Given, data: DataTable) -> Iterator[Diagnostic]:
    """Yield `S112` if an undeclared argument is used differently in another call.

    An unknown type follows from the metadata, which must therefore agree.
    """
    before = data.known(given.passed.expr)
    if before is None or given.known is not None or before.type == given.type:
        return
    yield Diagnostic(
        "S112",
        f"'{given.text}' is used as two different things in one invoke.",
        given.passed.span,
        f"used as {given.arg.intrinsic.value} {given.arg.kind.value} here",
        "Declare it in this file, so that its type is known.",
        (Related(before.span, "used here first"),) if before.span else (),
    )


def _fits(arg: KernelArg, known: DataType) -> bool:
    """Return whether an object of a declared type can match the metadata.

    An unknown derived type may be an extension of the field type.
    """
    if arg.kind is ArgKind.FIELD:
        return isinstance(known, DerivedType)
    return isinstance(known, ScalarType) and known.intrinsic is arg.intrinsic


def _spelled(known: DataType) -> str:
    return f"'{known.name}'" if isinstance(known, DerivedType) else known.intrinsic.value


def _literal(expr: ex.Expr) -> ex.Literal | None:
    """Return the literal constant in `expr`, possibly negated, or None."""
    while isinstance(expr, ex.Unary):
        expr = expr.operand
    return expr if isinstance(expr, ex.Literal) else None
