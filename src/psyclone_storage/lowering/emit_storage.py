"""Access to data in generated code: one spelling for all infrastructures with storages.

Fortran code calls a procedure bound to the object that has a storage, and a pointer, the window, is
set to the values that code for the space works on. In Python all data of a routine are bound at
once. The accesses are planned before (`ir.storage_access`); their reasons are printed here.
"""

from __future__ import annotations

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.ir.expr import Expr, Member, Name
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import Datum, HaloExchange
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, ReleaseData
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Call, Comment, Line
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.lowering import runtime_names_storage as abi
from psyclone_storage.lowering.infrastructure import LoweringContext


def space_word(context: LoweringContext, side: Side) -> Name:
    """Return the name of a space, imported."""
    return storage_word(context, abi.SPACES[side])


def storage_word(context: LoweringContext, word: str) -> Name:
    """Return the name of a constant of the storage library, imported."""
    return Name(context.work.imports.local(abi.WORDS_MODULE, word))


def acquire_lines(
    context: LoweringContext, asked: AcquireData, owner: Expr, window: Expr, *more: Expr
) -> tuple[Line, ...]:
    """Return what acquires values through their `owner`, under the reason for the access."""
    access, reason = abi.READ, asked.why
    if asked.writes and asked.covered is Fresh.NO:
        access, reason = abi.READ_WRITE, f"brought, as {asked.why}"
    elif asked.writes:
        access, reason = abi.WRITE, f"not brought, as {asked.why}"
    args = (space_word(context, asked.side), storage_word(context, access), window, *more)
    return (
        Comment(f"{named_part(asked)}: {reason}"),
        Call(Member(owner, abi.ACQUIRE), args),
    )


def release_lines(context: LoweringContext, asked: ReleaseData, owner: Expr) -> tuple[Line, ...]:
    """Return what releases the values of `owner`."""
    return (Call(Member(owner, abi.RELEASE), (space_word(context, asked.side),)),)


def prefetch_lines(context: LoweringContext, asked: PrefetchData, owner: Expr) -> tuple[Line, ...]:
    """Return what begins to bring the values of `owner`."""
    return (
        Comment(f"{named_part(asked)}: begins to be brought to where it is needed next"),
        Call(Member(owner, abi.PREFETCH), (space_word(context, asked.side),)),
    )


def named_part(asked: AcquireData | ReleaseData | PrefetchData) -> str:
    """Return the name of a datum, with its component."""
    return asked.datum if asked.component is None else f"{asked.datum}({asked.component})"


def marks_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return nothing: an access that writes has marked all other copies."""
    return ()


def knows_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return nothing: an acquire brings what is not there."""
    return ()


def why_held(context: LoweringContext, datum: Datum, action: AcquireData) -> str:
    """Return what the routine does with a datum, and whether it needs old values for that."""
    by = [
        f"{_VERBS.get(described.access, 'read and written')} by {call.kernel.name}"
        for call in kernel_calls(context.schedule)
        for described, actual in zip(call.kernel.args, call.args, strict=True)
        if actual.datum == datum.name
    ]
    items = statements(context.schedule)
    if any(isinstance(item, HaloExchange) and item.datum == datum.name for item in items):
        by.append("its halo is exchanged")
    found = ", ".join(dict.fromkeys(by))
    if any(
        isinstance(one.statement, PrefetchData) and one.statement.datum == datum.name
        for one in context.held.insertions
    ):
        found += (
            f"; on its way from the beginning, waited for by {_named(context, action.users[0])}"
        )
    if action.covered is not Fresh.NO:
        return f"{found}; not brought, as {action.why}"
    return f"{found}; brought, as {action.why}" if datum.access is Access.WRITE else found


def _named(context: LoweringContext, user: str) -> str:
    """Return the kernel of a call, or what else uses a datum."""
    calls = {call.uid: call.kernel.name for call in kernel_calls(context.schedule)}
    return calls.get(user, user)


_VERBS = {Access.READ: "read", Access.WRITE: "written", Access.REDUCTION: "set"}
