"""Scalars of an invoke that kernels receive with several types.

A Python number may be passed both as a real and as an integer. In C each type is a separate
argument with the same value.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import Expr, Name
from psyclone_storage.ir.rewrite import rewritten
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DataType
from psyclone_storage.ir.unit import Call, Declare, GeneratedRoutine, Line

VALUE_OF = "value of "
"""An attribute of a variable that has the value of a scalar argument, with its name."""


def with_scalar_types(routine: GeneratedRoutine, codes: Mapping[str, Routine]) -> GeneratedRoutine:
    """Return a routine with a variable for each additional type of a scalar argument."""
    names = NameTable(item.name for item in (*routine.dummies, *routine.variables))
    scalars = {item.key: item for item in routine.dummies if not item.shape}
    made: dict[tuple[str, DataType], Declare] = {}

    def passed(actual: Expr, wanted: Declare | None) -> Expr:
        known = scalars.get(actual.key) if isinstance(actual, Name) else None
        if known is None or wanted is None or wanted.shape or _is_alike(known, wanted):
            return actual
        if (key := (known.key, wanted.type)) not in made:
            attributes = (f"{VALUE_OF}{known.name}",)
            made[key] = Declare(names.fresh(known.name), wanted.type, attributes)
        return Name(made[key].name)

    def changed(line: Line) -> tuple[Line, ...]:
        match line:
            case Call(Name(key=key), args) if (code := codes.get(key)) is not None:
                dummies = map(code.declared, code.dummies)
                return (replace(line, args=tuple(map(passed, args, dummies))),)
        return (line,)

    body = rewritten(routine.body, changed)
    return replace(routine, variables=(*routine.variables, *made.values()), body=body)


def _is_alike(known: Declare, wanted: Declare) -> bool:
    return getattr(known.type, "intrinsic", None) == getattr(wanted.type, "intrinsic", None)
