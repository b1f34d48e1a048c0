"""Traversal of schedules: search statements and rebuild parts of the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from types import UnionType
from typing import Any, TypeVar

from psyclone_storage.base.memo import kept_by_item, kept_by_version, kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import Span
from psyclone_storage.base.splices import Positions, Splice, without_one
from psyclone_storage.ir import schedule as sch

Block = sch.Schedule | sch.Compound
"""Whatever has statements inside."""

Region = sch.DirectiveRegion | sch.ProfileRegion
"""The statements that hold loops."""

ScheduleTree = TypeVar(
    "ScheduleTree", sch.Schedule, sch.Loop, sch.DirectiveRegion, sch.ProfileRegion
)


@kept_with_first
def _inside(tree: sch.Compound) -> tuple[sch.Statement, ...]:
    return tuple(_below(tree.body, _inside, sch.Compound))


@kept_with_first
def _calls(tree: sch.Compound) -> tuple[sch.KernelCall, ...]:
    return tuple([item for item in _inside(tree) if isinstance(item, sch.KernelCall)])


@kept_with_first
def _opened(tree: sch.Compound) -> tuple[sch.Statement, ...]:
    return tuple(_below(tree.body, _opened, Region))


@kept_with_first
def _uids(tree: sch.Compound) -> tuple[str, ...]:
    return tuple([item.uid for item in _inside(tree)])


def with_inside(item: sch.Statement) -> tuple[sch.Statement, ...]:
    """Return a statement and all statements below it in order, parents before children."""
    return (item, *_inside(item)) if isinstance(item, sch.Compound) else (item,)


def calls_of(item: sch.Statement) -> tuple[sch.KernelCall, ...]:
    """Return the kernel calls of a statement, which may be a call itself."""
    if isinstance(item, sch.Compound):
        return _calls(item)
    return (item,) if isinstance(item, sch.KernelCall) else ()


_all_statements = kept_by_item(with_inside)
_all_calls = kept_by_item(calls_of)


@kept_by_item
def _all_in_sequence(item: sch.Statement) -> tuple[sch.Statement, ...]:
    return sequential_statements(item) if isinstance(item, Region) else (item,)


def outer_loops_of(item: sch.Statement) -> tuple[sch.Loop, ...]:
    """Return the outermost loops of a statement, which may be a loop itself."""
    if isinstance(item, Region):
        return outer_loops(item)
    return (item,) if isinstance(item, sch.Loop) else ()


_all_outer_loops = kept_by_item(outer_loops_of)

_FEW = 8
"""A search of the body is faster if it has at most so many times more statements than wanted."""

_ItemTable = dict[str, tuple[sch.Statement, ...]]


def _updated_items(
    known: _ItemTable,
    _: sch.Schedule,
    splice: Splice[sch.Statement],
) -> _ItemTable:
    """Return the table from uids to top-level statements, updated for a change of the body.

    A uid has several statements in a version that `repeated_uids` rejects.
    """
    for item in splice.removed:
        for uid in _own_uids(item):
            left = without_one(known[uid], item)
            if left:
                known[uid] = left
            else:
                del known[uid]
    for item in splice.added:
        for uid in _own_uids(item):
            known[uid] = (*known.get(uid, ()), item)
    return known


_items_by_uid = kept_by_version(_ItemTable)(_updated_items)


def _own_uids(item: sch.Statement) -> tuple[str, ...]:
    return (item.uid, *_uids(item)) if isinstance(item, sch.Compound) else (item.uid,)


def repeated_uids(schedule: sch.Schedule) -> list[str]:
    """Return the uids that several statements have."""
    if len(_items_by_uid(schedule)) == _number_of_uids(schedule):
        return []
    uses = Counter(chain.from_iterable(map(_own_uids, schedule.body)))
    return [uid for uid, number in uses.items() if number > 1]


def _updated_number(known: int, _: sch.Schedule, splice: Splice[sch.Statement]) -> int:
    """Return the number of statements of a schedule, updated for a change of the body."""
    removed, added = (sum(map(len, map(_own_uids, part))) for part in splice[1:])
    return known - removed + added


_number_of_uids = kept_by_version(int)(_updated_number)


def _updated_positions(
    known: Positions, _: sch.Schedule, splice: Splice[sch.Statement]
) -> Positions:
    """Return the positions of statements in the body, updated for a change of the body."""
    known.update(splice)
    return known


_positions = kept_by_version(Positions)(_updated_positions)


def position_in(schedule: sch.Schedule, item: sch.Statement) -> int:
    """Return the position of a statement in the body of a schedule."""
    return _positions(schedule).of(item, schedule.body)


def positions_in(schedule: sch.Schedule, items: Collection[sch.Statement]) -> list[int]:
    """Return the positions of statements in the body of a schedule, in ascending order."""
    body, positions = schedule.body, _positions(schedule)
    if _FEW * len(items) < len(body):
        return sorted(positions.of(item, body) for item in items)
    wanted = set(map(id, items))
    return [at for at, item in enumerate(body) if id(item) in wanted]


def place_in_body(tree: Block, uid: str) -> int:
    """Return the position of the statement `uid` in the body of `tree`, -1 if it is not there."""
    if isinstance(tree, sch.Schedule):
        item = item_with(tree, uid)
        return position_in(tree, item) if item is not None and item.uid == uid else -1
    return next((at for at, item in enumerate(tree.body) if item.uid == uid), -1)


def item_with(schedule: sch.Schedule, uid: str) -> sch.Statement | None:
    """Return the statement of the body that is the statement `uid` or contains it."""
    items = _items_by_uid(schedule).get(uid, ())
    if len(items) > 1:
        return min(items, key=lambda item: position_in(schedule, item))
    return items[0] if items else None


def statements(tree: Block) -> tuple[sch.Statement, ...]:
    """Return all statements below `tree` in order, parents before children."""
    return _all_statements(tree) if isinstance(tree, sch.Schedule) else _inside(tree)


def kernel_calls(tree: Block) -> tuple[sch.KernelCall, ...]:
    """Return the kernel calls below `tree`, in order."""
    return _all_calls(tree) if isinstance(tree, sch.Schedule) else _calls(tree)


@kept_with_first
def calls_in(loop: sch.Loop) -> tuple[tuple[sch.Loop, sch.KernelCall], ...]:
    """Return each call below `loop` with its innermost loop."""
    found: list[tuple[sch.Loop, sch.KernelCall]] = []
    for item in _opened(loop):
        if isinstance(item, sch.KernelCall):
            found.append((loop, item))
        elif isinstance(item, sch.Loop):
            found += calls_in(item)
    return tuple(found)


def sequential_statements(tree: Block) -> tuple[sch.Statement, ...]:
    """Return the statements in execution order: regions are expanded, loops are not."""
    if isinstance(tree, sch.Schedule):
        return _all_in_sequence(tree)
    return tuple([item for item in _opened(tree) if not isinstance(item, Region)])


def outer_loops(
    tree: sch.Schedule | sch.DirectiveRegion | sch.ProfileRegion,
) -> tuple[sch.Loop, ...]:
    """Return the outermost loops of `tree`, in order."""
    if isinstance(tree, sch.Schedule):
        return _all_outer_loops(tree)
    return tuple([item for item in _opened(tree) if isinstance(item, sch.Loop)])


def sets_flags(schedule: sch.Schedule) -> bool:
    """Return whether the statements of a schedule test or set the flags of halos."""
    return any(
        isinstance(item, sch.MarkHalo) or (isinstance(item, sch.HaloExchange) and item.guarded)
        for item in sequential_statements(schedule)
    )


def data_in_flight(schedule: sch.Schedule, data: Iterable[str]) -> frozenset[str]:
    """Return those of `data` that have exchanges with separate start and end."""
    return frozenset(filter(_in_flight(schedule).__getitem__, data))


def _updated_flights(
    known: Counter[str], _: sch.Schedule, splice: Splice[sch.Statement]
) -> Counter[str]:
    """Return the number of parts of exchanges by datum, updated for a change of the body."""
    known.subtract(chain.from_iterable(map(_parts_of_exchanges, splice.removed)))
    known.update(chain.from_iterable(map(_parts_of_exchanges, splice.added)))
    return known


_in_flight = kept_by_version(Counter[str])(_updated_flights)


def _parts_of_exchanges(item: sch.Statement) -> Iterator[str]:
    """Yield the data of exchanges in a statement that have separate start and end."""
    for one in sequential_statements(item) if isinstance(item, Region) else (item,):
        if isinstance(one, sch.HaloExchange) and one.phase is not sch.Phase.WHOLE:
            yield one.datum


def by_uid(tree: Block) -> dict[str, sch.Statement]:
    """Return all statements below `tree` by uid, in order; for duplicates, the first."""
    found: dict[str, sch.Statement] = {}
    for item in statements(tree):
        found.setdefault(item.uid, item)
    return found


def _below(
    body: tuple[sch.Statement, ...],
    inside: Callable[[Any], tuple[sch.Statement, ...]],
    opened: type | UnionType,
) -> list[sch.Statement]:
    """Return the statements of `body`; after each of the type `opened`, those `inside` it."""
    found: list[sch.Statement] = []
    for item in body:
        found.append(item)
        if isinstance(item, opened):
            found += inside(item)
    return found


def find(tree: Block, uid: str) -> sch.Statement | None:
    """Return the statement with this uid, or None."""
    return path[-1] if (path := path_to(tree, uid)) else None


def place_of(statement: sch.Statement) -> Span | None:
    """Return the algorithm position of the first kernel call inside `statement`."""
    if isinstance(statement, sch.KernelCall):
        return statement.span
    if not isinstance(statement, sch.Compound):
        return None
    return next((call.span for call in kernel_calls(statement)), None)


def place_near(schedule: sch.Schedule, uid: str) -> Span | None:
    """Return the algorithm position of the statement `uid` or of the call that it serves.

    A derived statement serves the next call, or the last one if none follows. For an unknown uid,
    the position of the first call is returned.
    """
    body, item = schedule.body, item_with(schedule, uid)
    if item is None:
        calls = chain.from_iterable(map(calls_of, body))
        return next((call.span for call in calls if call.span is not None), None)
    place = position_in(schedule, item)
    around = with_inside(item)
    at = next(at for at, one in enumerate(around) if one.uid == uid)
    later = (body[other] for other in range(place + 1, len(body)))
    earlier = (body[other] for other in range(place - 1, -1, -1))
    following = chain(
        around[at:],
        chain.from_iterable(map(with_inside, later)),
        reversed(around[:at]),
        chain.from_iterable(reversed(with_inside(one)) for one in earlier),
    )
    return next((place for place in map(place_of, following) if place is not None), None)


def path_to(tree: Block, uid: str) -> tuple[sch.Statement, ...]:
    """Return the statements from the outermost one down to `uid`; empty if it does not exist."""
    if isinstance(tree, sch.Schedule):
        item = item_with(tree, uid)
        return () if item is None else _path_in((item,), uid)
    return _path_in(tree.body, uid) if uid in _uids(tree) else ()


def _path_in(body: tuple[sch.Statement, ...], uid: str) -> tuple[sch.Statement, ...]:
    for statement in body:
        if statement.uid == uid:
            return (statement,)
        if isinstance(statement, sch.Compound) and uid in _uids(statement):
            return (statement, *_path_in(statement.body, uid))
    return ()


def replaced(tree: ScheduleTree, uid: str, *new: sch.Statement) -> ScheduleTree:
    """Return `tree` with the statement `uid` replaced by `new`; other nodes are shared."""
    if isinstance(tree, sch.Schedule):
        item = item_with(tree, uid)
        if item is None:
            return tree
        at = position_in(tree, item)
        body = _replaced_at(tree.body, at, uid, new)
        tree.versions.derive(tree.body, body, at, len(tree.body) - at - 1)
    else:
        body = _replaced(tree.body, uid, new)
    return tree if body is tree.body else replace(tree, body=body)


def _replaced(
    body: tuple[sch.Statement, ...], uid: str, new: tuple[sch.Statement, ...]
) -> tuple[sch.Statement, ...]:
    """Return `body` with the statement `uid` replaced; `body` itself if `uid` is absent."""
    for at, item in enumerate(body):
        if item.uid == uid or (isinstance(item, sch.Compound) and uid in _uids(item)):
            return _replaced_at(body, at, uid, new)
    return body


def _replaced_at(
    body: tuple[sch.Statement, ...], at: int, uid: str, new: tuple[sch.Statement, ...]
) -> tuple[sch.Statement, ...]:
    """Return `body` with the statement `uid`, inside the statement at `at`, replaced by `new`."""
    item = body[at]
    if isinstance(item, sch.Compound) and item.uid != uid:
        new = (replace(item, body=_replaced(item.body, uid, new)),)
    return (*body[:at], *new, *body[at + 1 :])
