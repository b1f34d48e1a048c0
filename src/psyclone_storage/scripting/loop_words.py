"""Properties of a loop in PSyclone's terms: its iterations and halo exchanges."""

from __future__ import annotations

from collections.abc import Sequence

from psyclone_storage.coherence.halo_effects import HaloEffects
from psyclone_storage.ir import schedule as tree
from psyclone_storage.ir.walk import find, statements
from psyclone_storage.scripting.arguments import Argument
from psyclone_storage.scripting.node import Node
from psyclone_storage.transform.asynchronous import UnpinExchange, exchanges_instead
from psyclone_storage.transform.workbench import Workbench


def fields_beyond_owned(
    bench: Workbench, path: Sequence[tree.Statement], args: Sequence[Argument]
) -> list[Argument]:
    """Return the first of `args` for each field that a loop reads beyond owned dofs.

    `path` leads to the loop. All reads of the outermost loop in `path` are considered.
    """
    outer = next(item for item in path if isinstance(item, tree.Loop))
    effects = HaloEffects(bench.schedule, bench.rules).of(outer, outer.filled)
    names = {effect.part.datum for effect in effects if effect.need is not None}
    found: dict[str, Argument] = {}
    for arg in args:
        if arg.name in names and arg.use.access.reads:
            found.setdefault(arg.name, arg)
    return list(found.values())


def exchanges_before(bench: Workbench, args: Sequence[Argument]) -> list[Node]:
    """Return the exchanges that last wrote the data read by `args`, in schedule order."""
    sources = [one for arg in args for one in arg.backward_write_dependencies()]
    nodes = {one.use.statement: one.call for one in sources if one.use.exchange}
    found = (nodes.get(item.uid) for item in statements(bench.schedule))
    return [node for node in found if node is not None]


def drop_needless(bench: Workbench, args: Sequence[Argument]) -> None:
    """Remove moved or split exchanges of data written by `args`, if no loop needs them."""
    later = [one for arg in args for one in arg.forward_read_dependencies() if one.use.exchange]
    for uid in dict.fromkeys(one.use.statement for one in later):
        found = find(bench.schedule, uid)
        is_pinned = isinstance(found, tree.HaloExchange) and found.pinned
        if is_pinned and not exchanges_instead(bench.schedule, bench.rules, uid):
            bench.apply(UnpinExchange(uid))


def reasons_of(exchange: tree.HaloExchange) -> tuple[str, ...]:
    """Return one line for each read that needs `exchange`, with the cause of the stale halo."""
    return tuple(
        f"{reason.reader} reads it {reason.read}; "
        f"{reason.writer or 'what ran before the invoke'} left {reason.written}"
        for reason in exchange.reasons
    )
