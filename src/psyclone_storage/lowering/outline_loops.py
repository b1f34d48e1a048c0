"""Outlining of loops into procedures with values and arrays as dummy arguments.

In the routine of an invoke, values are accessed through objects and pointers, which may alias and
be noncontiguous. Dummy arguments of a procedure do not alias, are contiguous, and scalars can be
passed by value. The routine evaluates all values of the infrastructure and passes them. A
work-sharing directive moves with its loop and binds to the parallel region of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir import schedule as sch
from psyclone_storage.ir.cached_values import CachedArray
from psyclone_storage.ir.expr import Expr, Literal, Member, Name, canonical, spell
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.kernel import ArgKind
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.ir.unit import Call, Declare, GeneratedRoutine, Line
from psyclone_storage.ir.walk import kernel_calls
from psyclone_storage.lowering.cached_values import caches_values, type_of_part
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.outline_cells import one_level, procedure_for
from psyclone_storage.lowering.routine_builder import Workspace, colons

_NO_NAME = regex(r"\W+")
"""What the names of statements have and those of procedures must not: `columns@loop1`."""

_CHANGED, _READ, _BY_VALUE = ("intent(inout)",), ("intent(in)",), ("value", "intent(in)")
"""How something is passed to a procedure, as attributes of its dummy argument."""

Nested = Callable[[LoweringContext, sch.Statement], tuple[Line, ...]]


def outlined_loop(statement: sch.Statement) -> sch.Loop | None:
    """Return the loop of `statement` if the statement is to be outlined, otherwise None."""
    match statement:
        case sch.Loop(outlined=True):
            return statement
        case sch.DirectiveRegion(directive=directive, body=(sch.Loop(outlined=True) as loop,)):
            return loop if directive.shares_work and not statement.runs_on_device else None
    return None


def outlined(
    context: LoweringContext, statement: sch.Statement, loop: sch.Loop, nested: Nested
) -> tuple[Line, ...]:
    """Return the call of a new procedure that executes `statement`.

    `nested` lowers a statement; `loop` is the outlined loop. `transform.outline` ensures that the
    statements request only values that `_Passed` provides.
    """
    if loop.over.starts_cells:
        return _cells_outlined(context, statement, loop, nested)
    known = (
        context.work.imports.local(datum.module, spell(datum.actual))
        for datum in context.schedule.imported
    )
    work = context.work.within(sch.data_keys(context.schedule), known)
    passed = _Passed(context, kernel_calls(loop), work)
    values = {**context.ops.values, **passed.answers()}
    within = replace(context, work=work, ops=replace(context.ops, values=values), outlines=False)
    lines = nested(within, statement)
    name = work.imports.procedure(_wished_name(context, loop))
    procedure = GeneratedRoutine(name, tuple(passed.dummies), work.declarations(), lines)
    context.work.procedures.append(procedure)
    return (Call(Name(name), tuple(passed.actuals)),)


def _cells_outlined(
    context: LoweringContext, statement: sch.Statement, loop: sch.Loop, nested: Nested
) -> tuple[Line, ...]:
    lines = nested(replace(context, outlines=False), statement)
    name = context.work.imports.procedure(_wished_name(context, loop))
    made = procedure_for(context, name, kernel_calls(loop), lines)
    if made is None:
        return lines
    procedure, call = made
    context.work.procedures.append(procedure)
    if not loop.one_level:
        return (call,)
    name = context.work.imports.procedure(f"{_wished_name(context, loop)}_one_level")
    version, choice = one_level(context, name, kernel_calls(loop), (procedure, call))
    context.work.procedures.append(version)
    return (choice,)


def _wished_name(context: LoweringContext, loop: sch.Loop) -> str:
    return f"{context.schedule.name}_{_NO_NAME.sub('_', loop.uid)}"


class _Passed:
    """The arguments of an outlined procedure, collected while its statements are lowered.

    Scalars of the algorithm keep their names.
    """

    def __init__(
        self, context: LoweringContext, calls: tuple[sch.KernelCall, ...], work: Workspace
    ) -> None:
        self._context = context
        self._work = work
        self._known: dict[str, Name] = {}
        self._described = {
            (dummy.role, dummy.property_name): dummy for call in calls for dummy in call.dummies
        }
        self._written = {
            actual.datum
            for call in calls
            for described, actual in zip(call.kernel.args, call.args, strict=True)
            if described.access.writes
        }
        self._changeable = {*_changeable(calls)}
        self.dummies: list[Declare] = []
        self.actuals: list[Expr] = []
        for datum in _scalars(context.schedule, calls):
            type_ = context.ops.value_type(datum)
            self._pass(Name(datum.name), datum.name, type_, self._of_scalar(datum.name))

    def answers(self) -> dict[type[ops.RuntimeValue], Callable[[LoweringContext, Any], Expr]]:
        """Return functions for the requested values that become dummy arguments."""
        values: dict[type[ops.RuntimeValue], Callable[[LoweringContext, Any], Expr]] = {
            ops.DataOf: self._data,
            ops.GridPropertyOf: self._property,
            ops.LoopStart: self._bound,
            ops.LoopEnd: self._bound,
            ops.PointsEnd: self._bound,
        }
        if caches_values(self._context):
            values[CachedArray] = self._cached
        return values

    def _data(self, _: LoweringContext, asked: ops.DataOf) -> Expr:
        datum, component = asked.datum, asked.component
        wish = datum.name if component is None else f"{datum.name}_{component}"
        field = self._described.get((Role.FIELD, ""))
        shape = colons(field.rank if field else 1)
        type_ = self._context.ops.value_type(datum)
        value = self._context.value(asked)
        attributes = _CHANGED if datum.name in self._written else _READ
        return self._pass(value, wish, type_, attributes, shape)

    def _property(self, _: LoweringContext, asked: ops.GridPropertyOf) -> Expr:
        dummy = self._described[Role.GRID_PROPERTY, asked.name]
        value = self._context.value(asked)
        attributes = _READ if dummy.rank or asked.name in self._changeable else _BY_VALUE
        wish, shape = _own_name(value, asked.name), colons(dummy.rank)
        return self._pass(value, wish, dummy.type, attributes, shape)

    def _cached(self, _: LoweringContext, asked: CachedArray) -> Expr:
        value, type_ = self._context.value(asked), type_of_part(self._context.work, asked.part)
        return self._pass(value, spell(value), type_, _CHANGED, colons(2))

    def _bound(
        self, _: LoweringContext, asked: ops.LoopStart | ops.LoopEnd | ops.PointsEnd
    ) -> Expr:
        value = self._context.value(asked)
        wish = "start" if isinstance(asked, ops.LoopStart) else "stop"
        name, type_ = _own_name(value, wish), self._context.ops.integer
        return self._pass(value, name, type_, _BY_VALUE)

    def _of_scalar(self, name: str) -> tuple[str, ...]:
        """Return the attributes of the dummy argument for a scalar variable."""
        if name in self._written:
            return _CHANGED
        return _READ if name in self._changeable else _BY_VALUE

    def _pass(
        self,
        value: Expr,
        wish: str,
        type_: ScalarType,
        attributes: tuple[str, ...],
        shape: tuple[Expr, ...] = (),
    ) -> Expr:
        """Return the dummy argument for `value`; a literal is returned unchanged."""
        if isinstance(value, Literal):
            return value
        key = canonical(value)
        if key not in self._known:
            name = self._known[key] = self._work.fresh(wish)
            all_attributes = ("contiguous", *attributes) if shape else attributes
            declared = Declare(name.text, type_, all_attributes, shape)
            self.dummies.append(self._work.dummy(declared))
            self.actuals.append(value)
        return self._known[key]


def _changeable(calls: tuple[sch.KernelCall, ...]) -> Iterator[str]:
    """Yield the scalars that kernels might modify because they lack `intent(in)`.

    Passing them by value would lose such modifications. Inlined statements are known not to modify
    them.
    """
    for call in calls:
        for code in call.codes:
            if code.kernel_use.in_place:
                continue
            for name, dummy in zip(code.dummies, call.dummies, strict=False):
                declared = code.declared(name)
                if dummy.rank or (declared is not None and "intent(in)" in declared.attributes):
                    continue
                datum = None if dummy.arg is None else call.args[dummy.arg].datum
                yield dummy.property_name or datum or ""


def _own_name(value: Expr, otherwise: str) -> str:
    """Return the name of a value in the routine, or `otherwise`."""
    match value:
        case Name(name) | Member(_, name):
            return name
    return otherwise


def _scalars(schedule: sch.Schedule, calls: tuple[sch.KernelCall, ...]) -> tuple[sch.Datum, ...]:
    """Return the scalar variables of the algorithm that `calls` pass, without module variables."""
    names = {
        actual.datum
        for call in calls
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if described.kind is ArgKind.SCALAR
    }
    data = schedule.all_data
    return tuple(
        datum for datum in data if datum.name in names and datum.role is not sch.DatumRole.IMPORTED
    )
