"""Accesses of generated code to storages that track which of their replicas are current.

A storage knows at run time which of its replicas are current. So an invoke knows nothing of them at
its entry and owes nothing at its end; it states which data it accesses, where, and what for.
`coherence.storage_access` plans where these records go; a table of an infrastructure defines the
code for each. Their counterpart for devices without storages are the statements of `ir.transfer`.
"""

from __future__ import annotations

from collections import defaultdict

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.insertion import Insertion
from psyclone_storage.ir.transfer import Side


@dataclass(frozen=True, slots=True)
class AcquireData:
    """Acquire a datum, or one component of a field vector, on one side.

    If it `writes`, copies on the other side are stale from then on. `covered`: all
    values are written before any is read, so that none has to be brought: YES brings nothing, NO
    brings what is not current, and with MAYBE all points of the field's region are written, or one
    value at each of its dofs, which are all of its values if its halo is not wider than that region
    and no dof has more of them. `may_be` names other data that may be the same object at run time.
    `users` are the calls that it is for, in order.
    """

    datum: str
    component: int | None
    side: Side
    writes: bool
    covered: Fresh = Fresh.NO
    may_be: tuple[str, ...] = ()
    users: tuple[str, ...] = field(default=(), compare=False)
    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class TouchData:
    """Declare the values on one side new, where the datum is acquired."""

    datum: str
    component: int | None
    side: Side


@dataclass(frozen=True, slots=True)
class ReleaseData:
    """Release a datum on one side; it is acquired `again` later, or was for the last time."""

    datum: str
    component: int | None
    side: Side
    again: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class PrefetchData:
    """Start the transfer of a datum to one side, where it is acquired later.

    `writer` is the statement that made the copy there stale; it is empty if that may have happened
    outside of the invoke.
    """

    datum: str
    component: int | None
    side: Side
    writer: str = field(default="", compare=False)


StorageAction = AcquireData | TouchData | ReleaseData | PrefetchData


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """All actions on storages of a schedule, in order."""

    insertions: tuple[Insertion[StorageAction], ...] = ()

    @property
    def acquired(self) -> tuple[AcquireData, ...]:
        """The acquires, in order."""
        return tuple(
            one.statement for one in self.insertions if isinstance(one.statement, AcquireData)
        )

    def before(self, uid: str) -> tuple[StorageAction, ...]:
        """Return the actions before the statement `uid`, in order."""
        return _actions_by_place(self.insertions).get(uid, ())


@kept_lately
def _actions_by_place(
    insertions: tuple[Insertion[StorageAction], ...],
) -> dict[str, tuple[StorageAction, ...]]:
    found: dict[str, list[StorageAction]] = defaultdict(list)
    for one in insertions:
        found[one.before].append(one.statement)
    return {place: tuple(actions) for place, actions in found.items()}


@dataclass(frozen=True, slots=True)
class StoragePolicy:
    """The requirements of an infrastructure with storages on a plan.

    `home` is where loops run that no region puts elsewhere. Data may be exchanged while they are
    held if that is so `through_exchanges`; else they are released before and acquired after. With
    `at_once` one call binds the data of an invoke when it begins, and accesses that are open at the
    last use end when it ends. Where `directives_act` a region on a device runs there, and those
    that bring data there would make a second copy of what a storage keeps; else all runs at home.
    Where what computes `waits_apart`, each statement for its own data, those of later ones begin to
    be brought when the invoke begins.
    """

    home: Side = Side.HOST
    through_exchanges: bool = True
    at_once: bool = True
    directives_act: bool = False
    waits_apart: bool = False
