"""Check whether actual arguments match the metadata.

Single arguments and repeated arguments are checked. Nothing is built.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.text import counted
from psyclone_storage.domains.declared import (
    Declared,
    declared,
    intrinsic_of,
    is_named_constant,
    is_read_only,
    is_variable,
    write_real,
)
from psyclone_storage.domains.lfric.slots import (
    BindingContext,
    Slot,
    SlotKind,
    component_of_vector,
)
from psyclone_storage.infrastructures.lfric import (
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    REAL,
    default_type,
)
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.kernel import ArgKind, Iteration, Kernel, KernelArg
from psyclone_storage.ir.parsed import ParsedArgument, ParsedCall
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType


def wrong_count(call: ParsedCall, kernel: Kernel, slots: tuple[Slot, ...]) -> Diagnostic:
    """Return `S101`: the number of arguments in `call` differs from that of `slots`."""
    what = "Built-in" if kernel.is_builtin else "Kernel"
    related: tuple[Related, ...] = ()
    if kernel.span is not None:
        related = (Related(kernel.span, "its metadata is here"),)
    return Diagnostic(
        "S101",
        f"{what} '{call.name}' takes {counted(len(slots), 'argument')} "
        f"but is given {len(call.args)}.",
        call.name_span,
        hint="It takes: " + "; ".join(_describe(slot, kernel) for slot in slots) + ".",
        related=related,
    )


def _describe(slot: Slot, kernel: Kernel) -> str:
    match slot.kind:
        case SlotKind.ARGUMENT:
            return _describe_argument(kernel.args[slot.number], kernel, slot.number)
        case SlotKind.EXTENT | SlotKind.DIRECTION:
            return f"the {slot.kind.value} of argument {slot.number + 1}"
        case SlotKind.QUADRATURE:
            return f"a quadrature rule ({QUADRATURE_TYPES[kernel.quadratures[slot.number]].name})"
        case SlotKind.HALO_DEPTH:
            return "the depth of halo to compute"


def _describe_argument(arg: KernelArg, kernel: Kernel, position: int) -> str:
    letter = f"{kernel.formula.letters[position]}, " if kernel.formula else ""
    vector = f" vector of {arg.vector}" if arg.vector > 1 else ""
    on = f" on {' and '.join(arg.spaces)}" if arg.spaces and not kernel.is_builtin else ""
    return f"{letter}{arg.intrinsic.value} {arg.kind.value}{vector}{on} ({arg.access.value})"


def check_repeated_arguments(
    call: ParsedCall, kernel: Kernel, slots: tuple[Slot, ...]
) -> Iterator[Diagnostic]:
    """Yield `S102` for each argument that `call` passes more than once."""
    first: dict[str, ParsedArgument] = {}
    for slot, given in zip(slots, call.args, strict=True):
        if slot.kind is not SlotKind.ARGUMENT or ex.is_constant(given.expr):
            continue
        before = first.setdefault(ex.canonical(given.expr), given)
        if before is not given:
            yield _twice(given, before, kernel)
    yield from _components_beside(call, kernel, slots)


def _components_beside(
    call: ParsedCall, kernel: Kernel, slots: tuple[Slot, ...]
) -> Iterator[Diagnostic]:
    """Yield `S102` for each component passed together with its vector, if one is written."""
    passed = [
        (kernel.args[slot.number], given)
        for slot, given in zip(slots, call.args, strict=True)
        if slot.kind is SlotKind.ARGUMENT
    ]
    vectors = {ex.canonical(given.expr): (arg, given) for arg, given in passed if arg.vector > 1}
    for arg, given in passed:
        if arg.kind is not ArgKind.FIELD or not isinstance(given.expr, ex.Index):
            continue
        of_vector = vectors.get(ex.canonical(given.expr.base))
        if of_vector is not None and (arg.access.writes or of_vector[0].access.writes):
            yield _twice(given, of_vector[1], kernel)


def _twice(given: ParsedArgument, before: ParsedArgument, kernel: Kernel) -> Diagnostic:
    return Diagnostic(
        "S102",
        f"'{given.span.text or ex.spell(given.expr)}' is passed to '{kernel.name}' more than once.",
        given.span,
        "passed again here",
        "Pass a copy: two dummy arguments of one kernel may not be the same object.",
        (Related(before.span, "passed here first"),),
    )


def check_argument(
    slot: Slot, given: ParsedArgument, kernel: Kernel, around: BindingContext
) -> Iterator[Diagnostic]:
    """Yield diagnostics `S103` to `S108` if `given` does not match the kernel's `slot`."""
    match slot.kind:
        case SlotKind.ARGUMENT:
            arg = kernel.args[slot.number]
            if arg.kind.is_scalar:
                yield from _check_scalar(arg, given, kernel)
            else:
                yield from _check_object(arg, given, kernel, around)
            yield from _check_other_uses(arg, given, around)
        case SlotKind.QUADRATURE:
            yield from _check_quadrature(slot, given, kernel)
        case SlotKind.DIRECTION:
            yield from _check_direction(given)
        case SlotKind.EXTENT | SlotKind.HALO_DEPTH:
            yield from _check_levels(slot, given, kernel)


def _check_other_uses(
    arg: KernelArg, given: ParsedArgument, around: BindingContext
) -> Iterator[Diagnostic]:
    """Yield `S112` if an undeclared argument is used differently in the same invoke."""
    before = around.data.known(given.expr)
    if before is None or before.kind is None or declared(given.expr) is not None:
        return
    wanted = default_type(arg.kind, arg.intrinsic)
    is_array = (before.vector > 1, before.rank) == (arg.vector > 1, arg.rank)
    if before.type == wanted and is_array:
        return
    related = (Related(before.span, "used here first"),) if before.span else ()
    yield Diagnostic(
        "S112",
        f"'{given.span.text}' is used as two different things in one invoke.",
        given.span,
        f"used as {arg.intrinsic.value} {arg.kind.value} here",
        "Declare it in this file, so that its type is known.",
        related,
    )


def _check_object(
    arg: KernelArg, given: ParsedArgument, kernel: Kernel, around: BindingContext
) -> Iterator[Diagnostic]:
    wish = "field vector" if arg.vector > 1 else arg.kind.value
    if not is_variable(given.expr):
        yield Diagnostic(
            "S104",
            f"'{kernel.name}' expects a {wish}, but '{given.span.text}' is not a variable.",
            given.span,
            hint=f"Pass the name of a {wish}.",
        )
        return
    known = declared(given.expr)
    if known is None:
        return
    yield from _check_object_type(arg, given, kernel, known)
    part = component_of_vector(given.expr, arg, around)
    many, size = f"an array of {arg.vector} fields", _size(known)
    if arg.vector > 1 and known.rank == 0:
        yield _wrong_rank(given, kernel, known, many, "is a single one")
    elif arg.vector > 1 and known.rank > 1:
        yield _wrong_rank(given, kernel, known, many, _rank_text(known))
    elif arg.vector == 1 and known.rank != 0 and part is None:
        yield _wrong_rank(given, kernel, known, f"a single {wish}", "is an array")
    elif arg.vector > 1 and size is not None and size < arg.vector:
        yield _wrong_rank(given, kernel, known, many, f"has {counted(size, 'element')}")


def _rank_text(known: Declared) -> str:
    return "is a scalar" if known.rank == 0 else f"has {counted(known.rank, 'dimension')}"


def _size(known: Declared) -> int | None:
    shape = known.symbol.shape
    return ex.whole_number(shape[0]) if len(shape) == 1 else None


def _wrong_rank(
    given: ParsedArgument, kernel: Kernel, known: Declared, wish: str, has: str
) -> Diagnostic:
    return Diagnostic(
        "S106",
        f"'{kernel.name}' expects {wish}, but '{given.span.text}' {has}.",
        given.span,
        related=known.places,
    )


def _check_object_type(
    arg: KernelArg, given: ParsedArgument, kernel: Kernel, known: Declared
) -> Iterator[Diagnostic]:
    wish = f"{arg.intrinsic.value} {arg.kind.value}"
    if isinstance(known.type, ScalarType):
        yield _wrong_type(given, kernel, known, wish, f"is {_spelled(known.type)}")
        return
    holds = OBJECT_TYPES.get(known.type.name)
    if holds is None:
        return
    if holds.kind is not arg.kind or holds.data.intrinsic is not arg.intrinsic:
        held = _with_article(f"{holds.data.intrinsic.value} {holds.kind.value}")
        has = f"is {held} ('{known.type.name}')"
        yield _wrong_type(given, kernel, known, wish, has)


def _spelled(data_type: DataType) -> str:
    if isinstance(data_type, DerivedType):
        return f"of type '{data_type.name}'"
    kind = f"({data_type.kind})" if data_type.kind else ""
    return _with_article(f"{data_type.intrinsic.value}{kind}")


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _contrast(kernel: Kernel, wish: str, given: ParsedArgument, has: str) -> str:
    return f"'{kernel.name}' expects {_with_article(wish)}, but '{given.span.text}' {has}."


def _wrong_type(
    given: ParsedArgument, kernel: Kernel, known: Declared, wish: str, has: str
) -> Diagnostic:
    return Diagnostic(
        "S105",
        _contrast(kernel, wish, given, has),
        given.span,
        related=known.places,
    )


_NUMBERS = (Intrinsic.REAL, Intrinsic.INTEGER)


def _check_scalar(arg: KernelArg, given: ParsedArgument, kernel: Kernel) -> Iterator[Diagnostic]:
    if arg.access.writes and (is_named_constant(given.expr) or not is_variable(given.expr)):
        has = "is a named constant" if is_named_constant(given.expr) else "is not a variable"
        yield Diagnostic(
            "S103",
            f"'{kernel.name}' writes to this argument, but '{given.span.text}' {has}.",
            given.span,
            hint="Pass a variable that can hold the result.",
        )
        return
    if arg.kind is ArgKind.SCALAR_ARRAY and not is_variable(given.expr):
        yield Diagnostic(
            "S104",
            f"'{kernel.name}' expects an array, but '{given.span.text}' is not a variable.",
            given.span,
        )
        return
    known = declared(given.expr)
    if arg.access.writes and known is not None and is_read_only(known):
        has = "is declared with 'intent(in)'"
        yield Diagnostic(
            "S103",
            f"'{kernel.name}' writes to this argument, but '{given.span.text}' {has}.",
            given.span,
            hint="Pass a local variable, or declare it with 'intent(inout)'.",
            related=known.places,
        )
        return
    wish = f"{arg.intrinsic.value} {arg.kind.value}"
    literal = _literal(given.expr)
    if literal is not None and literal.intrinsic is not arg.intrinsic:
        has = f"is {_with_article(literal.intrinsic.value)} literal"
        if given.span.text.lstrip("+-").isdigit() and literal.intrinsic is Intrinsic.REAL:
            has = "is too large for one of 32 bits"
        remedy = _remedy(arg, given, kernel, literal.intrinsic)
        yield Diagnostic("S105", _contrast(kernel, wish, given, has), given.span, hint=remedy)
        return
    if known is None:
        found = intrinsic_of(given.expr)
        if found not in (None, arg.intrinsic):
            has = f"is {_with_article(found.value)} expression"
            remedy = _remedy(arg, given, kernel, found)
            yield Diagnostic("S105", _contrast(kernel, wish, given, has), given.span, hint=remedy)
        return
    if isinstance(known.type, DerivedType) or known.type.intrinsic is not arg.intrinsic:
        type_ = None if isinstance(known.type, DerivedType) else known.type.intrinsic
        wrong = _wrong_type(given, kernel, known, wish, f"is {_spelled(known.type)}")
        yield replace(wrong, hint=_remedy(arg, given, kernel, type_))
    elif known.rank != arg.rank:
        has = "is an array" if arg.rank == 0 else _rank_text(known)
        text = "a scalar" if arg.rank == 0 else f"an array of {counted(arg.rank, 'dimension')}"
        yield _wrong_rank(given, kernel, known, text, has)


_PLAIN = regex(r"(?P<digits>[+-]?\d+)(?:_\w+)?")


def _remedy(arg: KernelArg, given: ParsedArgument, kernel: Kernel, has: Intrinsic | None) -> str:
    """Return a hint on how to pass a scalar of the type of `arg`, or ''."""
    plain = _PLAIN.fullmatch(given.span.text)
    from_integer = (has, arg.intrinsic) == (Intrinsic.INTEGER, Intrinsic.REAL)
    if not kernel.is_builtin:
        return write_real(plain["digits"], REAL.kind) if plain and from_integer else ""
    if not from_integer:
        return f"Pass {_with_article(arg.intrinsic.value)} scalar."
    return f"Write {plain['digits']}.0." if plain else f"Write real({given.span.text}, r_def)."


def _literal(expr: ex.Expr) -> ex.Literal | None:
    """Return the literal constant in `expr`, possibly negated, or None."""
    while isinstance(expr, ex.Unary):
        expr = expr.operand
    return expr if isinstance(expr, ex.Literal) else None


def _check_quadrature(slot: Slot, given: ParsedArgument, kernel: Kernel) -> Iterator[Diagnostic]:
    wanted = QUADRATURE_TYPES[kernel.quadratures[slot.number]].name
    known = declared(given.expr)
    if not is_variable(given.expr):
        yield Diagnostic(
            "S104",
            f"'{kernel.name}' expects a quadrature rule of type '{wanted}', "
            f"but '{given.span.text}' is not a variable.",
            given.span,
        )
    elif known is not None and _is_other_than(wanted, known):
        wish = f"quadrature rule of type '{wanted}'"
        yield _wrong_type(given, kernel, known, wish, f"is {_spelled(known.type)}")


def _is_other_than(wanted: str, known: Declared) -> bool:
    """Return whether `known` certainly differs from the type `wanted`.

    An unknown derived type may be an extension of that type.
    """
    if isinstance(known.type, ScalarType):
        return True
    rules = {rule.name for rule in QUADRATURE_TYPES.values()}
    return known.type.name != wanted and known.type.name in rules | set(OBJECT_TYPES)


def _check_direction(given: ParsedArgument) -> Iterator[Diagnostic]:
    if not is_variable(given.expr):
        yield Diagnostic(
            "S107",
            f"A stencil direction is a variable or 'x_direction' or 'y_direction', "
            f"not '{given.span.text}'.",
            given.span,
            hint="Use the names from module 'flux_direction_mod'.",
        )
        return
    yield from _check_integer(given, "A stencil direction")


def _check_levels(slot: Slot, given: ParsedArgument, kernel: Kernel) -> Iterator[Diagnostic]:
    """Yield diagnostics for an invalid halo depth or stencil extent.

    The halo depth may be 0 for a kernel over owned and halo cells. A stencil extent, and the depth
    of a kernel over halo cells only, must be at least 1.
    """
    what = f"A {slot.kind.value}"
    both = kernel.iteration is not Iteration.HALO_CELL_COLUMN
    least = 0 if slot.kind is SlotKind.HALO_DEPTH and both else 1
    literal = _literal(given.expr)
    if literal is None:
        yield from _check_integer(given, what)
    elif literal.intrinsic is not Intrinsic.INTEGER:
        yield Diagnostic("S108", f"{what} is an integer, not '{given.span.text}'.", given.span)
    elif literal is not given.expr or (ex.whole_number(literal) or 0) < least:
        text = f"{what} is at least {least} here, not '{given.span.text}'."
        yield Diagnostic("S108", text, given.span)


def _check_integer(given: ParsedArgument, what: str) -> Iterator[Diagnostic]:
    for part in (given.expr, *ex.walk(given.expr)):
        known = declared(part) if is_variable(part) else None
        if known is None:
            continue
        is_integer = (
            isinstance(known.type, ScalarType) and known.type.intrinsic is Intrinsic.INTEGER
        )
        if part is given.expr and not (is_integer and known.rank == 0):
            yield Diagnostic(
                "S108",
                f"{what} is an integer scalar, but '{ex.spell(part)}' is not.",
                given.span,
                related=known.places,
            )
        return
