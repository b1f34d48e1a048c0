"""Generated code for storage accesses, common to all infrastructures with storages.

Fortran code calls procedures bound to the object with the storage, and a pointer, the window, is
associated with the values in the memory space. Python code binds all data of a routine at once.
`ir.storage_access` contains the planned accesses; their reasons become comments.
"""

from __future__ import annotations

from collections import defaultdict

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.ir.expr import Expr, Member, Name
from psyclone_storage.ir.insertion import Insertion
from psyclone_storage.ir.kernel import Access
from psyclone_storage.ir.schedule import Datum, HaloExchange, Schedule
from psyclone_storage.ir.storage_access import AcquireData, PrefetchData, ReleaseData, StorageAction
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.unit import Call, Comment, Line
from psyclone_storage.ir.walk import kernel_calls, statements
from psyclone_storage.lowering import runtime_names_storage as abi
from psyclone_storage.lowering.infrastructure import LoweringContext


def space_word(context: LoweringContext, side: Side) -> Name:
    """Return the constant of a memory space, imported."""
    return storage_word(context, abi.SPACES[side])


def storage_word(context: LoweringContext, word: str) -> Name:
    """Return a constant of the storage library, imported."""
    return Name(context.work.imports.local(abi.WORDS_MODULE, word))


def acquire_lines(
    context: LoweringContext, asked: AcquireData, owner: Expr, window: Expr, *more: Expr
) -> tuple[Line, ...]:
    """Return the statements that acquire values through `owner`, with a comment on the reason."""
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
    """Return the statement that releases the values of `owner`."""
    return (Call(Member(owner, abi.RELEASE), (space_word(context, asked.side),)),)


def prefetch_lines(context: LoweringContext, asked: PrefetchData, owner: Expr) -> tuple[Line, ...]:
    """Return the statements that start the transfer of the values of `owner`."""
    return (
        Comment(f"{named_part(asked)}: begins to be brought to where it is needed next"),
        Call(Member(owner, abi.PREFETCH), (space_word(context, asked.side),)),
    )


def named_part(asked: AcquireData | ReleaseData | PrefetchData) -> str:
    """Return the name of a datum, with its component."""
    return asked.datum if asked.component is None else f"{asked.datum}({asked.component})"


def marks_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return no statement: a write access already marks other copies as stale."""
    return ()


def knows_itself(_context: LoweringContext, _asked: object) -> tuple[Line, ...]:
    """Return no statement: an acquire transfers missing values."""
    return ()


def why_held(context: LoweringContext, datum: Datum, action: AcquireData) -> str:
    """Return a comment on the uses of a datum, and whether its old values are needed."""
    found = ", ".join(_uses_by_datum(context.schedule).get(datum.name, ()))
    if datum.name in _prefetched_data(context.held.insertions):
        found += (
            f"; on its way from the beginning, waited for by {_named(context, action.users[0])}"
        )
    if action.covered is not Fresh.NO:
        return f"{found}; not brought, as {action.why}"
    return f"{found}; brought, as {action.why}" if datum.access is Access.WRITE else found


@kept_lately
def _uses_by_datum(schedule: Schedule) -> dict[str, dict[str, None]]:
    """Return descriptions of the uses of each datum: calls in order, exchanges last."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for call in kernel_calls(schedule):
        for described, actual in zip(call.kernel.args, call.args, strict=True):
            if actual.datum is not None:
                verb = _VERBS.get(described.access, "read and written")
                found[actual.datum][f"{verb} by {call.kernel.name}"] = None
    for item in statements(schedule):
        if isinstance(item, HaloExchange):
            found[item.datum]["its halo is exchanged"] = None
    return dict(found)


@kept_lately
def _prefetched_data(insertions: tuple[Insertion[StorageAction], ...]) -> frozenset[str]:
    planned = (one.statement for one in insertions)
    return frozenset(one.datum for one in planned if isinstance(one, PrefetchData))


def _named(context: LoweringContext, user: str) -> str:
    """Return the kernel name of a call, or `user` itself for other statements."""
    calls = {call.uid: call.kernel.name for call in kernel_calls(context.schedule)}
    return calls.get(user, user)


_VERBS = {Access.READ: "read", Access.WRITE: "written", Access.REDUCTION: "set"}
