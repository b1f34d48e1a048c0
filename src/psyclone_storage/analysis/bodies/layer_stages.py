"""Stages of a loop over layers: which statements have to be executed one layer after the other.

Some scalars have a value from the previous layer, such as a sum. The statements that set them are
`serial`. Statements `first` compute what these need, for all layers of a block. The others, `rest`,
use scalars of the serial statements, and no other result of another layer.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.analysis.bodies.columns import (
    scalars_set_by,
    sets_scalars,
    statements_ahead,
)
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import independence_of
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.checked import is_checked
from psyclone_storage.ir.rewrite import expressions_of, names_in, names_inside, walk_lines
from psyclone_storage.ir.routine import Routine

_Silent = un.Comment | un.Blank | un.Continue
_Plain = un.Assign | un.If | un.Do | _Silent
_Loaded = ex.Element | ex.Name | ex.Literal


@dataclass(frozen=True, slots=True)
class LaterLine:
    """A statement of the last stage, with the serial scalars that it uses.

    It needs their values from `before` and `after` the serial statements of its layer.
    """

    line: un.Line
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LayerStages:
    """The statements of a loop; `loads` set scalars to elements, which any stage may repeat."""

    loads: tuple[un.Assign, ...]
    first: tuple[un.Line, ...]
    serial: tuple[un.Line, ...]
    rest: tuple[LaterLine, ...]


def layer_stages(node: FlowNode, flow: Flow) -> LayerStages | None:
    """Return the stages of a loop, None if other results than scalars pass from layer to layer."""
    loop = node.line
    assert isinstance(loop, un.Do)
    body = _Body(loop)
    if not body.is_plain:
        return None
    carried = frozenset(
        key
        for key in body.set_by(range(len(body.lines)))
        if touches_any((key,), flow.bodies[node.number].exposed) or flow.is_read_later(node, (key,))
    )
    serial = body.serial(carried)
    rest = [at for at in body.others if at not in serial]
    uses = body.uses(rest, serial)
    if uses is None or not body.can_precede(serial, rest, carried):
        return None
    if not _are_independent(replace(loop, body=body.at(sorted({*body.ahead, *rest}))), flow.code):
        return None
    loads = [at for at in body.ahead if body.is_load(at)]
    computed = [at for at in body.ahead if at not in loads]
    first = body.ahead_of(serial, computed)
    third = body.needed([at for at in computed if at not in first], rest)
    later = tuple(uses.get(at, LaterLine(body.lines[at])) for at in sorted({*third, *rest}))
    repeated = tuple(line for line in body.at(loads) if isinstance(line, un.Assign))
    return LayerStages(repeated, body.at(first), body.at(sorted(serial)), later)


def _are_independent(loop: un.Do, code: Routine) -> bool:
    """Return whether the iterations of a loop can be executed in any order, and in parts."""
    flow = flow_of(replace(code, body=(loop,)))
    found = independence_of(flow.loops[0], flow)
    if found.reasons or found.reductions or found.firstprivate or found.lastprivate:
        return False
    return not any(code.symbol(key).rank for key in found.private)


class _Body:
    """The statements of a loop, which are referred to by their positions."""

    def __init__(self, loop: un.Do) -> None:
        self.lines = tuple(line for line in loop.body if not isinstance(line, _Silent))
        ids = statements_ahead(loop)
        self.ahead = [at for at, line in enumerate(self.lines) if id(line) in ids]
        self.others = [at for at, line in enumerate(self.lines) if id(line) not in ids]
        self._set = [scalars_set_by((line,)) for line in self.lines]
        inside = tuple(walk_lines(self.lines))
        assigned = [line.target for line in inside if isinstance(line, un.Assign)]
        self._assigned = [one.key for one in assigned if isinstance(one, ex.Name)]
        self._arrays = frozenset(
            one.base.key for one in assigned
            if isinstance(one, ex.Element) and isinstance(one.base, ex.Name)
        )  # fmt: skip
        counters = {line.variable.key for line in inside if isinstance(line, un.Do)}
        self.is_plain = (
            all(isinstance(line, _Plain) for line in inside)
            and len(set(map(id, self.lines))) == len(self.lines)
            and counters.isdisjoint({*self._assigned, loop.variable.key})
            and loop.variable.key not in self._assigned
            and not any(is_checked(expr) for line in inside for expr in expressions_of(line))
        )

    def at(self, positions: Iterable[int]) -> tuple[un.Line, ...]:
        """Return the statements at some positions."""
        return tuple(self.lines[at] for at in positions)

    def set_by(self, positions: Iterable[int]) -> frozenset[str]:
        """Return the scalars that statements assign."""
        return frozenset[str]().union(*(self._set[at] for at in positions))

    def serial(self, carried: frozenset[str]) -> frozenset[int]:
        """Return the statements that set `carried`, and those that these need."""
        of_others = self.set_by(self.others)
        found: set[int] = set()
        needed = carried
        while new := {at for at in self.others if at not in found and self._set[at] & needed}:
            found |= new
            needed |= of_others & _names(self.at(new))
        return frozenset(found)

    def can_precede(self, serial: frozenset[int], rest: list[int], carried: frozenset[str]) -> bool:
        """Return whether the serial statements can be executed before the rest, for many layers."""
        ahead = self.set_by(self.ahead)
        return (
            any(map(_computes, self.at(rest)))
            and all(map(sets_scalars, self.at(serial)))
            and not self._arrays & _names(self.at(serial))
            and not ahead & (carried | self.set_by(serial))
        )

    def uses(self, rest: list[int], serial: frozenset[int]) -> dict[int, LaterLine] | None:
        """Return the statements of the rest, None if one needs a value from in between."""
        found: dict[int, LaterLine] = {}
        for at in rest:
            before: set[str] = set()
            after: set[str] = set()
            for key in _names(self.at((at,))) & self.set_by(serial):
                places = [one for one in serial if key in self._set[one]]
                if min(places) < at < max(places):
                    return None
                (after if max(places) < at else before).add(key)
            found[at] = LaterLine(self.lines[at], frozenset(before), frozenset(after))
        return found

    def needed(self, candidates: list[int], users: Iterable[int]) -> list[int]:
        """Return the candidates that set what other statements use, in order."""
        found: set[int] = set()
        names = _names(self.at(users))
        while new := {at for at in candidates if at not in found and self._set[at] & names}:
            found |= new
            names |= _names(self.at(new))
        return sorted(found)

    def ahead_of(self, serial: frozenset[int], computed: list[int]) -> list[int]:
        """Return the computed statements that have to precede the serial ones, in order.

        These set what the serial statements use. A statement that reads a scalar before one of
        these sets it anew is among them, as are all statements that set a scalar of these.
        """
        found = set(self.needed(computed, serial))
        while True:
            set_ahead, names = self.set_by(found), _names(self.at(found))
            more = {
                at
                for at in computed
                if at not in found
                and (
                    self._set[at] & (set_ahead | names)
                    or _names(self.at((at,))) & self.set_by(one for one in found if one > at)
                )
            }
            if not more:
                return sorted(found)
            found |= more

    def is_load(self, at: int) -> bool:
        """Return whether a statement sets a scalar, once, to a value that exists before."""
        match self.lines[at]:
            case un.Assign(ex.Name(key=key), value) if isinstance(value, _Loaded):
                return self._assigned.count(key) == 1 and names_in(value).isdisjoint(self._assigned)
        return False


def _names(lines: Iterable[un.Line]) -> frozenset[str]:
    return frozenset[str]().union(*map(names_inside, lines))


def _computes(line: un.Line) -> bool:
    """Return whether a statement computes a value, apart from indices."""
    return any(
        isinstance(inner, un.Assign) and not isinstance(inner.value, _Loaded)
        for inner in walk_lines((line,))
    )
