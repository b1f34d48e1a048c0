"""Uses of arrays by a sequence of statements: read before written, written, completely written.

The data flow treats an array as one variable. Here, a read is exposed only if earlier writes among
the statements do not cover the elements that it reads. An array is covered if the statements always
write all its elements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from psyclone_storage.analysis.bodies.accesses import accesses_of
from psyclone_storage.analysis.bodies.coverage import Coverage
from psyclone_storage.analysis.bodies.flow import Flow, Item, flow_of
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Literal, Name
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic

_COUNTER, _SINK = Name("_once"), Name("_sink")
_ONE = Literal("1", Intrinsic.INTEGER)


@dataclass(frozen=True, slots=True)
class ArrayUse:
    """Uses of a variable by statements.

    - `exposed`: they may read elements that they have not written before.
    - `written`: they may write elements.
    - `covered`: they write all elements, on every path to their end.
    """

    exposed: bool = False
    written: bool = False
    covered: bool = False


def array_uses(
    code: Routine, lines: Iterable[un.Line], assumed: frozenset[FactKind] = frozenset()
) -> Mapping[Variable, ArrayUse]:
    """Return the uses of each variable by `lines`, which are statements of `code`."""
    body = tuple(lines)
    if not any(isinstance(line, un.CompoundStatement) for line in body) and len(body) == 1:
        return _uses_of_statement(body[0], RoutineNames(code, assumed))
    flow = _flow_of_block(code, body, assumed)
    touched = {item.variable for item in flow.items_in(flow.node(1))}
    names = [one[0] for one in sorted(touched) if len(one) == 1]
    reads = tuple(un.Assign(_SINK, Name(key)) for key in names)
    flow = _flow_of_block(code, (*body, *reads), assumed)
    behind = len(flow.nodes) - len(reads)
    items: dict[Variable, list[Item]] = defaultdict(list)
    for item in flow.items_in(flow.node(1)):
        items[item.variable].append(item)
    summary = flow.body(flow.node(1))
    sets = summary.sets or frozenset()
    return {one: _use_of(one, items[one], flow, behind, sets) for one in touched}


def _uses_of_statement(line: un.Line, names: RoutineNames) -> Mapping[Variable, ArrayUse]:
    found: dict[Variable, ArrayUse] = {}
    for one in accesses_of(line, names):
        known = found.get(one.path.variable, ArrayUse())
        if one.writes:
            whole = isinstance(line, un.Assign) and one.path.is_whole
            known = replace(known, written=True, covered=known.covered or whole)
        else:
            known = replace(known, exposed=True)
        found[one.path.variable] = known
    return found


def _flow_of_block(code: Routine, body: tuple[un.Line, ...], assumed: frozenset[FactKind]) -> Flow:
    """Return the data flow of statements in a loop with one iteration."""
    return flow_of(replace(code, body=(un.Do(_COUNTER, _ONE, _ONE, body),)), assumed)


def _use_of(
    variable: Variable, items: list[Item], flow: Flow, behind: int, sets: frozenset[Variable]
) -> ArrayUse:
    loop = flow.node(1)
    writes = [item for item in items if item.writes]
    reads = [item for item in items if not item.writes and item.node.number <= behind]
    ends = [item for item in items if not item.writes and item.node.number > behind]
    if not writes:
        return ArrayUse(exposed=bool(reads))
    if flow.has_jumps:
        return ArrayUse(bool(reads), written=True)
    coverage = Coverage(flow, variable)

    def is_covered(read: Item) -> bool:
        return coverage.is_covered(read, loop, writes)

    exposed = not all(map(is_covered, reads)) and variable in flow.body(loop).exposed
    covered = variable in sets or (bool(ends) and all(map(is_covered, ends)))
    return ArrayUse(exposed, written=True, covered=covered)
