"""Check for arguments that are computed from variables which the same invoke changes.

Fortran evaluates the arguments of an invoke before its first kernel runs. An expression of a
variable that an earlier kernel of the invoke changes therefore has the old value. Sequential calls
of the kernels would use the new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.diagnostic import Diagnostic, Related, Severity
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.schedule import Datum, KernelCall, Program, Schedule
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.walk import kernel_calls

_VALUES = "data"  # the component of a grid's field that contains its values

_Value = tuple[bool, str]
"""Whether the values are those of a field, and the canonical text of the field or variable."""


def check_argument_values(program: Program) -> Iterator[Diagnostic]:
    """Yield S120 for each argument with an old value; the calls have the order of the algorithm."""
    for invoke in program.invokes:
        yield from _old_values(invoke.schedule)


def _old_values(schedule: Schedule) -> Iterator[Diagnostic]:
    changed: dict[str, KernelCall] = {}
    values: dict[_Value, set[str]] = {}
    for call in kernel_calls(schedule):
        for actual in call.args:
            if actual.datum is None or actual.span is None:
                continue
            given = _values_used(schedule.datum(actual.datum).actual)
            if used := set[str]().union(*(values[one] for one in given if one in values)):
                for name in filter(used.__contains__, changed):
                    yield _diagnostic(actual.span, schedule.datum(name), call, changed[name])
        for arg, actual in zip(call.kernel.args, call.args, strict=True):
            if arg.access.writes and actual.datum is not None:
                changed.setdefault(actual.datum, call)
                values.setdefault(_value_of(schedule.datum(actual.datum)), set()).add(actual.datum)


def _value_of(changed: Datum) -> _Value:
    return isinstance(changed.type, DerivedType), ex.canonical(changed.actual)


def _values_used(given: ex.Expr) -> Iterator[_Value]:
    """Yield the values from which the argument `given` is computed, or of which it is a part."""
    for part in ex.walk(given):
        if isinstance(part, ex.Member) and key_of(part.name) == _VALUES:
            yield True, ex.canonical(part.base)
        if part is not given:
            yield False, ex.canonical(part)


def _diagnostic(place: Span, changed: Datum, call: KernelCall, writer: KernelCall) -> Diagnostic:
    name = ex.spell(changed.actual)
    return Diagnostic(
        "S120",
        f"'{place.text}' is evaluated before the invoke, but '{writer.kernel.name}' changes"
        f" '{name}' in the invoke.",
        place,
        hint=f"Call '{call.kernel.name}' in a later invoke to use the new value of '{name}'.",
        related=(Related(writer.span, f"changes '{name}'"),) if writer.span else (),
        severity=Severity.WARNING,
    )
