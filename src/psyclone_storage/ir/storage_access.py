"""Accesses of generated code to storages.

A storage tracks at run time which of its replicas are valid. An invoke therefore makes no
assumption about its data at entry; it declares which data it accesses, where and how.
`coherence.storage_access` plans these records, and an infrastructure generates their code. Without
storages, the statements of `ir.transfer` take their role.
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
    """Acquires a datum, or one component of a field vector, on one side.

    - `writes`: copies on the other side become stale.
    - `covered`: whether all values are written before any is read, so that no transfer is needed.
      MAYBE means that the internal region, or one value at each dof, is written. This is everything
      unless the halo is wider or dofs have several values.
    - `may_be`: other data that may be the same object at run time.
    - `users`: the calls that need the access, in order.
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
    """Declares the values on one side modified while the datum is acquired."""

    datum: str
    component: int | None
    side: Side


@dataclass(frozen=True, slots=True)
class ReleaseData:
    """Releases a datum on one side; `again` means that it is acquired again later."""

    datum: str
    component: int | None
    side: Side
    again: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class PrefetchData:
    """Starts the transfer of a datum to a side on which it is acquired later.

    `writer` is the statement that made the copy there stale, empty if that may have happened
    outside the invoke.
    """

    datum: str
    component: int | None
    side: Side
    writer: str = field(default="", compare=False)


StorageAction = AcquireData | TouchData | ReleaseData | PrefetchData


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """The storage actions of a schedule, in order."""

    insertions: tuple[Insertion[StorageAction], ...] = ()

    @property
    def acquired(self) -> tuple[AcquireData, ...]:
        """The acquire actions, in order."""
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
    """Properties of an infrastructure with storages that a plan depends on.

    - `home`: the side on which loops run outside regions.
    - `through_exchanges`: data may stay acquired during an exchange. Otherwise they are released
      before it and acquired again.
    - `at_once`: one call binds all data at the start of the invoke. Accesses that are open at the
      last use end with the invoke.
    - `directives_act`: device regions run on the device, and data directives would create a second
      copy of stored data. Otherwise everything runs on `home`.
    - `waits_apart`: each statement waits for its own data, so transfers for later statements start
      with the invoke.
    """

    home: Side = Side.HOST
    through_exchanges: bool = True
    at_once: bool = True
    directives_act: bool = False
    waits_apart: bool = False
