"""Generated procedures that enter data on a device through saved pointers.

When gfortran enters data, it also enters the variable that refers to them: a pointer descriptor, or
the address of a dummy argument. A variable on the stack has another address in the next call, and
libgomp does not update data that are present, so a region could use the pointer of an earlier call.
These procedures therefore enter persistent data through a saved pointer that no region accesses.
Data that are deleted when the routine ends do not have this problem.
"""

from __future__ import annotations

from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Name, intrinsic
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.types import DataType, Intrinsic, ScalarType
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.routine_builder import colons

_ENTERED = Name("entered")
_COMMENT = "Give a device {}, by a pointer that no region uses: gfortran lets that stay there, too"
"""What is said of such a procedure."""
_INTEGER = ScalarType(Intrinsic.INTEGER)


def enter_values(context: LoweringContext, array: un.Declare, queue: int = -1) -> un.Call:
    """Return the call that enters the values of a contiguous array on a device.

    Values already present are unchanged and stay on the device when the routine ends.
    """
    scalar = array.type
    assert isinstance(scalar, ScalarType)
    kind = key_of(scalar.kind or "values")
    wish = f"enter_{scalar.intrinsic.value}_{kind}{_of_queue(queue)}"
    number, values = Name("number"), Name("values")
    dummies = (
        un.Declare(number.text, _INTEGER, ("intent(in)",)),
        un.Declare(values.text, scalar, ("target", "intent(in)"), (number,)),
    )
    procedure = _procedure(context, wish, dummies, queue, "values")
    return un.Call(procedure, (intrinsic("size", Name(array.name)), Name(array.name)))


def enter_object(
    context: LoweringContext, name: str, type_: DataType, wish: str, queue: int = -1
) -> un.Call:
    """Return the call that enters an object of a derived type, without its components."""
    dummies = (un.Declare("object", type_, ("target", "intent(in)")),)
    procedure = _procedure(context, wish + _of_queue(queue), dummies, queue, "an object")
    return un.Call(procedure, (Name(name),))


def _procedure(
    context: LoweringContext, wish: str, dummies: tuple[un.Declare, ...], queue: int, what: str
) -> Name:
    """Return the name of the module procedure that enters the last of `dummies`."""
    declared = tuple(map(context.work.dummy, dummies))
    given = declared[-1]
    shape = colons(len(given.shape))
    saved = replace(given, name=_ENTERED.text, attributes=("pointer", "save"), shape=shape)
    body = (un.PointerAssign(_ENTERED, Name(given.name)), un.EnterDataLine((_ENTERED,), queue))

    def made(name: str) -> un.GeneratedRoutine:
        return un.GeneratedRoutine(name, declared, (saved,), body, _COMMENT.format(what))

    return Name(context.work.imports.helper(wish, made))


def _of_queue(queue: int) -> str:
    return f"_queue_{queue}" if queue >= 0 else ""
