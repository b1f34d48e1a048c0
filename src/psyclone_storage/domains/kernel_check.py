"""Check whether a kernel's subroutine matches its metadata.

The dummy arguments of the subroutine are compared with those required by the metadata: their
number, types, kinds, ranks, intents and declared extents. Names are ignored. A domain defines
permitted differences as an `InterfaceTolerance`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.base.text import counted
from psyclone_storage.ir.expr import Element, Expr, Literal, Name, spell, whole_number
from psyclone_storage.ir.interface import ANY, Dummy, Role, shape_of_extents
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import Declaration, ParsedRoutine
from psyclone_storage.ir.types import DataType, DerivedType, Intent, Intrinsic, ScalarType


def _as_named(extent: Expr) -> Expr:
    return extent


@dataclass(frozen=True, slots=True)
class InterfaceTolerance:
    """Permitted differences between the declarations of a subroutine and its metadata.

    - `kind`: returns whether a dummy may have another kind, given in lower case or '' for the
      default.

    - `undefined`: returns whether a dummy array may be `intent(out)`, so that elements not written
      become undefined.

    - `same_extent`: returns one name for extents that always have the same value.
    """

    kind: Callable[[Dummy, str], bool]
    undefined: Callable[[Dummy], bool]
    same_extent: Callable[[Expr], Expr] = _as_named


_EXTENTS = regex(r"[ \t]*\(([^()\n]*)\)")
_EXTENT = regex(r"[^,\s]+(?:[ \t]+[^,\s]+)*")


class _DummyPair(NamedTuple):
    """Required dummy, with the corresponding declaration in the subroutine."""

    number: int
    wanted: Dummy
    found: Declaration
    tolerance: InterfaceTolerance


_STRICT = InterfaceTolerance(lambda _, __: True, lambda _: True)


def check_interface(
    kernel: Kernel, routine: ParsedRoutine, wanted: tuple[Dummy, ...], tolerance: InterfaceTolerance
) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each difference between `routine` and the `wanted` dummies."""
    if len(wanted) != len(routine.dummies):
        return (_wrong_count(kernel, routine, wanted),)
    pairs = _pairs(routine, wanted, tolerance)
    known = {pair.number for pair in pairs}
    problems = [
        _undeclared(name, number, dummy, routine)
        for number, (dummy, name) in enumerate(zip(wanted, routine.dummies, strict=True), start=1)
        if number not in known
    ]
    meaning = {pair.found.key: pair.wanted.name for pair in pairs}
    for pair in pairs:
        problems += _differences(pair, kernel, meaning)
    return tuple(problems)


def check_contradictions(
    kernel: Kernel, routine: ParsedRoutine, wanted: tuple[Dummy, ...]
) -> Iterator[Diagnostic]:
    """Yield `M203` as warnings where `routine` cannot be what the metadata of `kernel` describe.

    Other differences are common in kernels that work. No kernel can increment an argument with
    `intent(in)`, and a field does not have the dofs of another named function space.
    """
    pairs = _pairs(routine, wanted, _STRICT) if len(wanted) == len(routine.dummies) else []
    meaning = {pair.found.key: pair.wanted.name for pair in pairs}
    for pair in pairs:
        increments = pair.wanted.access in (Access.INC, Access.READINC)
        if increments and pair.found.intent is Intent.IN and (text := _intent_problem(pair)):
            yield _difference(pair, kernel, text, Severity.WARNING)
        elif pair.wanted.rank == pair.found.rank == 1 and pair.wanted.role is Role.FIELD:
            said = _in_names_of_metadata(pair.found.shape[0], meaning)
            if _is_named_space(said) and _is_named_space(pair.wanted.shape[0]):
                yield from _extent_differences(pair, kernel, meaning, Severity.WARNING)


def _is_named_space(extent: Expr | None) -> bool:
    """Return whether an extent is the number of dofs on a function space of a certain kind."""
    name = extent.key if isinstance(extent, Name) else ""
    return name.startswith("undf_") and "any" not in name


def _pairs(
    routine: ParsedRoutine, wanted: tuple[Dummy, ...], tolerance: InterfaceTolerance
) -> list[_DummyPair]:
    """Return the declared dummies with the wanted ones."""
    declared = {declaration.key: declaration for declaration in routine.declarations}
    return [
        _DummyPair(number, dummy, declared[key_of(name)], tolerance)
        for number, (dummy, name) in enumerate(zip(wanted, routine.dummies, strict=True), start=1)
        if key_of(name) in declared
    ]


def _wrong_count(kernel: Kernel, routine: ParsedRoutine, wanted: tuple[Dummy, ...]) -> Diagnostic:
    return Diagnostic(
        "M201",
        f"'{routine.name}' has {counted(len(routine.dummies), 'argument')}, but the metadata of "
        f"'{kernel.name}' asks for {len(wanted)}.",
        routine.span,
        hint="It asks for: " + ", ".join(dummy.name for dummy in wanted) + ".",
        related=(*_first_different(routine, wanted), *_metadata(kernel.span)),
    )


def _first_different(routine: ParsedRoutine, wanted: tuple[Dummy, ...]) -> Iterator[Related]:
    """Yield the place of the first dummy argument of another type or rank than the `wanted` one."""
    declared = {one.key: one for one in routine.declarations}
    text = routine.span.text
    at = text.find("(") + 1
    for name, dummy in zip(routine.dummies, wanted, strict=False):
        head = re.compile(rf"\b{name}\b", re.IGNORECASE).search(text, at)
        found = declared.get(key_of(name))
        if head is None or found is None:
            return
        at = head.end()
        same = isinstance(found.type, ScalarType) and found.type.intrinsic is dummy.type.intrinsic
        if not same or found.rank != dummy.rank:
            start = routine.span.start + head.start()
            place = routine.span.source.span(start, start + len(name))
            yield Related(place, f"the metadata ask for '{dummy.name}' here")
            return


def _undeclared(name: str, number: int, wanted: Dummy, routine: ParsedRoutine) -> Diagnostic:
    return Diagnostic(
        "M202",
        f"Argument {number} of '{routine.name}', '{name}', is not declared.",
        routine.span,
        hint=f"Declare it as: {describe_dummy(wanted)}.",
    )


def _metadata(span: Span | None) -> tuple[Related, ...]:
    return (Related(span, "the metadata"),) if span else ()


def describe_dummy(dummy: Dummy) -> str:
    """Return the declaration of `dummy` as Fortran text."""
    shape = f"({', '.join(map(spell, dummy.shape))})" if dummy.shape else ""
    kind = f"({dummy.type.kind})" if dummy.type.kind else ""
    return f"{dummy.type.intrinsic.value}{kind}, intent({dummy.intent}) :: {dummy.name}{shape}"


# ------------------------------------------------------------------ one argument


def _differences(pair: _DummyPair, kernel: Kernel, meaning: dict[str, str]) -> Iterator[Diagnostic]:
    checks = (_type_problem, _kind_problem, _rank_problem, _intent_problem)
    texts = [text for check in checks if (text := check(pair))]
    for text in texts:
        yield _difference(pair, kernel, text)
    if not texts:
        yield from _extent_differences(pair, kernel, meaning, Severity.ERROR)
    if _has_default_integer_kind(pair):
        text = f"has the default kind, not '{pair.wanted.type.kind}'"
        yield _difference(pair, kernel, text, Severity.WARNING)


def _difference(
    pair: _DummyPair,
    kernel: Kernel,
    text: str,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    arg = pair.wanted.arg
    entry = kernel.args[arg].span if arg is not None else kernel.span
    return Diagnostic(
        "M203",
        f"Argument {pair.number}, '{pair.found.name}', {text}.",
        pair.found.span,
        hint=f"The metadata asks for: {describe_dummy(pair.wanted)}.",
        related=_metadata(entry),
        severity=severity,
    )


def _type_problem(pair: _DummyPair) -> str:
    wanted, found = pair.wanted.type, pair.found.type
    if isinstance(found, DerivedType):
        return f"is of type '{found.name}', not {wanted.intrinsic.value}"
    if found.intrinsic is not wanted.intrinsic:
        return f"is {found.intrinsic.value}, not {wanted.intrinsic.value}"
    return ""


def _kind_problem(pair: _DummyPair) -> str:
    wanted, found = pair.wanted.type, pair.found.type
    if isinstance(found, DerivedType) or found.intrinsic is not wanted.intrinsic:
        return ""
    if _kind(found) == _kind(wanted) or _has_default_integer_kind(pair):
        return ""
    if pair.tolerance.kind(pair.wanted, _kind(found)):
        return ""
    has = f"the kind '{found.kind}'" if found.kind else "the default kind"
    wish = f"'{wanted.kind}'" if wanted.kind else "the default one"
    return f"has {has}, not {wish}"


def _has_default_integer_kind(pair: _DummyPair) -> bool:
    """Return whether an integer is declared without a kind.

    Existing kernels often do so. This works if the model's kind is the compiler's default kind.
    """
    wanted, found = pair.wanted.type, pair.found.type
    both = isinstance(found, ScalarType) and found.intrinsic is wanted.intrinsic
    is_default = both and wanted.intrinsic is Intrinsic.INTEGER and not _kind(found)
    return is_default and wanted.kind is not None


def _kind(data_type: DataType) -> str:
    return data_type.kind_key if isinstance(data_type, ScalarType) else ""


def _rank_problem(pair: _DummyPair) -> str:
    wanted, found = pair.wanted.rank, pair.found.rank
    if found == wanted:
        return ""
    if wanted == 0:
        return "is an array, not a scalar"
    return f"has {counted(found, 'dimension')}, not {wanted}" if found else "is not an array"


def _intent_problem(pair: _DummyPair) -> str:
    """Return the error in the intent, or ''.

    The intent may be more restrictive than the metadata. It must not allow writing a read argument,
    and must not be `out` for a partly written one.
    """
    wanted, found = pair.wanted.intent, pair.found.intent
    if found is None:
        return "has no intent"
    if wanted is Intent.IN and found is not Intent.IN:
        return f"has the intent '{found}', but the metadata says that it is read"
    if wanted is not Intent.IN and found is Intent.IN:
        return "has the intent 'in', but the metadata says that it is written"
    if found is Intent.OUT and pair.wanted.rank > 0 and not pair.tolerance.undefined(pair.wanted):
        return "has the intent 'out', which leaves what the kernel does not write undefined"
    return ""


def _extent_differences(
    pair: _DummyPair, kernel: Kernel, meaning: dict[str, str], severity: Severity
) -> Iterator[Diagnostic]:
    """Yield the first error in an extent that is another dummy argument or a number.

    A number is accepted where metadata require a named extent. Assumed shapes and expressions are
    also accepted.
    """
    shapes = zip(pair.wanted.shape, pair.found.shape, strict=True)
    for dimension, (wanted, found) in enumerate(shapes, start=1):
        said = _in_names_of_metadata(found, meaning)
        known = isinstance(said, Name | Element) or isinstance(wanted, Literal)
        if wanted == ANY or said is None or not known:
            continue
        if pair.tolerance.same_extent(said) == pair.tolerance.same_extent(wanted):
            continue
        has, wish = spell(found), spell(wanted)
        text, hint = f"which is not '{wish}'", ""
        if has == wish:
            text = f"but the dummy argument '{has}' is at the position of '{spell(said)}'"
            hint = "Correct the order of the dummy arguments."
        text = f"has extent '{has}' in dimension {dimension}, {text}"
        problem = _difference(pair, kernel, text, severity)
        place = _place_of_extent(pair.found.span, dimension) or problem.span
        yield replace(problem, span=place, hint=hint or problem.hint)
        return


def _place_of_extent(name: Span, dimension: int) -> Span | None:
    extents = _EXTENTS.match(name.source.text, name.stop)
    if extents is None:
        return None
    items = list(_EXTENT.finditer(name.source.text, *extents.span(1)))
    place = items[dimension - 1].span() if dimension <= len(items) else None
    return name.source.span(*place) if place else None


def _in_names_of_metadata(extent: Expr, meaning: dict[str, str]) -> Expr | None:
    """Return `extent` with the names used by metadata, or None if it cannot be compared."""
    match extent:
        case Literal() if (number := whole_number(extent)) is not None:
            return shape_of_extents(number)[0]
        case Name(key=key) if key in meaning:
            return Name(meaning[key])
        case Element(Name(key=key), (Literal(),) as items) if key in meaning:
            return Element(Name(meaning[key]), items)
    return None
