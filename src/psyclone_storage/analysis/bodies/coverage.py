"""Coverage of the reads of an array by earlier writes, which allows the array to be private.

A loop may have a private copy of an array for each iteration if an iteration writes all elements
that it reads, and if they are not read after the loop. A write certainly precedes a read if every
control-flow path to the read contains the write, and if the loops that contain only the write run
to completion. The elements that these loops write together then form a box.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from psyclone_storage.analysis.bodies.dependence_tests import CounterRange, Symbols, counter_of
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item
from psyclone_storage.analysis.bodies.inequalities import NonNegativePolynomials
from psyclone_storage.ir.affine import Polynomial, constant_polynomial
from psyclone_storage.ir.expr import Expr, Range, Star, Verbatim
from psyclone_storage.ir.paths import Subscripts, Variable
from psyclone_storage.ir.rewrite import blocks_of, names_in
from psyclone_storage.ir.unit import (
    Assign,
    Cycle,
    Do,
    Exit,
    Forall,
    Goto,
    If,
    Opaque,
    Return,
    Select,
    Where,
)

_Extent = tuple[Polynomial | None, Polynomial | None]
"""The lowest and the highest subscript in a dimension, None for an unknown one."""

_WRITE, _READ = "#w", "#r"
_JUMPS = (Cycle, Exit, Goto, Return, Opaque)


class Coverage:
    """Coverage analysis of the elements of one variable."""

    __slots__ = ("_flow", "_symbols", "_variable")

    def __init__(self, flow: Flow, variable: Variable) -> None:
        self._flow = flow
        self._variable = variable
        self._symbols = Symbols(flow)

    def is_own(self, loop: FlowNode, items: Iterable[Item]) -> bool:
        """Return whether the variable can be private to each iteration of `loop`.

        `items` are all accesses of the routine to the variable and its components.
        """
        if self._flow.has_jumps:
            return False
        found = tuple(items)
        inside = [item for item in found if loop.number < item.node.number < loop.stop]
        for item in found:
            if item.writes:
                continue
            if loop.number < item.node.number < loop.stop:
                writes = [one for one in inside if one.writes]
            else:
                writes = [one for one in found if one.writes and self._is_later(one, item, loop)]
                if item.node.number <= loop.number and not self._comes_again(item, loop):
                    continue
            if not (self.is_covered(item, loop, writes) or self._follows(item, loop, writes)):
                return False
        return True

    def is_covered(self, read: Item, loop: FlowNode, writes: Iterable[Item]) -> bool:
        """Return whether some of `writes` in `loop` have set all elements of `read`.

        Subscripts are within the declared bounds.
        """
        boxes = [self._box(one, read) for one in self._before(read, loop, tuple(writes))]
        if any(one.holds(self._variable) for one in boxes):
            return True
        return len(boxes) > 1 and any(one.joins(boxes, self._variable) for one in boxes)

    def _follows(self, read: Item, loop: FlowNode, writes: Iterable[Item]) -> bool:
        """Return whether earlier iterations of an inner loop have set all elements of `read`.

        The first iterations may read what `writes` have set before the inner loop.
        """
        found = tuple(writes)
        boxes = [self._box(one, read) for one in self._before(read, loop, found)]
        for write in found if boxes else ():
            for at in range(_shared(write.node, read.node)):
                inner = self._flow.node(write.node.around[at])
                if inner.number <= loop.number or not self._repeats(write, inner, at + 1, found):
                    continue
                between = (inner, *self._flow.inside(inner))
                later = _Box(self._symbols, write, read, at + 1, between)
                carried = later.carried(counter_of(inner, self._flow, self._symbols))
                if carried and any(one.starts(boxes, *carried) for one in boxes):
                    return True
        return False

    def _repeats(self, write: Item, inner: FlowNode, shared: int, writes: tuple[Item, ...]) -> bool:
        """Return whether each iteration of a loop completes a write and the loops around it."""
        return (
            isinstance(inner.line, Do)
            and isinstance(write.node.line, Assign)
            and self._completes(write.node.around[shared:], write, writes)
            and not any(isinstance(one.line, _JUMPS) for one in self._flow.inside(inner))
        )

    def _comes_again(self, read: Item, loop: FlowNode) -> bool:
        """Return whether a read before `loop` is executed again after it, in an outer loop."""
        return bool(set(self._loops(read.node)) & set(self._loops(loop)))

    def _is_later(self, write: Item, read: Item, loop: FlowNode) -> bool:
        """Return whether a write that precedes `read` is executed between `loop` and the read."""
        if read.node.number > loop.number:
            return write.node.number >= loop.stop
        shared = set(self._loops(read.node)) & set(self._loops(loop))
        return max(shared, default=0) in self._loops(write.node)

    def _loops(self, node: FlowNode) -> list[int]:
        return [at for at in node.around if hasattr(self._flow.node(at).line, "body")]

    # ------------------------------------------------------------------------ one write

    def _completes(self, inner: Iterable[int], write: Item, writes: tuple[Item, ...]) -> bool:
        """Return whether the constructs `inner` around a write always set its elements.

        A choice does so if it has a last branch without condition, and one of `writes` in each
        branch is equal, in loops with equal bounds.
        """
        return all(
            isinstance(self._flow.node(number).line, Do)
            or self._is_in_all_branches(number, write, writes)
            for number in inner
        )

    def _is_in_all_branches(self, number: int, write: Item, writes: tuple[Item, ...]) -> bool:
        line = self._flow.node(number).line
        match line:
            case If(otherwise=(_, *_)) | Where(otherwise=(_, *_)):
                first = 0
            case Select(word="case") if not all(case.guards for case in line.cases):
                first = 1
            case _:
                return False
        own = self._loops_of(_inside(number, write.node))
        found = set[int]()
        for one in writes:
            if one.path != write.path or number not in one.node.around:
                continue
            inner = _inside(number, one.node)
            is_equal = isinstance(one.node.line, Assign) and self._loops_of(inner) == own
            if is_equal and (one == write or self._completes(inner, one, writes)):
                found.add(one.node.blocks[-1 - len(inner)])
        return found.issuperset(range(first, len(blocks_of(line))))

    def _loops_of(self, numbers: Iterable[int]) -> list[tuple[Expr | None, ...]]:
        """Return the counters and bounds of the loops among some constructs."""
        return [
            (
                line.variable,
                *(part and node.clear(part) for part in (line.start, line.stop, line.step)),
            )
            for node in map(self._flow.node, numbers)
            if isinstance(line := node.line, Do)
        ]

    def _before(self, read: Item, loop: FlowNode, writes: tuple[Item, ...]) -> list[Item]:
        """Return the writes that always end before a read; see `_completes`."""
        return [one for one in writes if self._precedes(one, read, loop, writes)]

    def _precedes(self, write: Item, read: Item, loop: FlowNode, writes: tuple[Item, ...]) -> bool:
        """Return whether `write` and the constructs that contain only it end before `read`."""
        shared = _shared(write.node, read.node)
        around = [self._flow.node(number).line for number in write.node.around]
        if any(isinstance(one, Forall) for one in around):
            return False
        if any(isinstance(one, Where) for one in around[:shared]):
            return False
        if not isinstance(write.node.line, Assign):
            return False
        inside = loop.number < read.node.number < loop.stop
        if inside and loop.number not in write.node.around[:shared]:
            return False
        first, last = _top(write.node, shared), _top(read.node, shared)
        if first >= last:
            return False
        if not self._completes(write.node.around[shared:], write, writes):
            return False
        top = self._flow.node(first)
        return not any(isinstance(one.line, _JUMPS) for one in self._flow.inside(top))

    def _box(self, write: Item, read: Item) -> _Box:
        shared = _shared(write.node, read.node)
        first, last = _top(write.node, shared), _top(read.node, shared)
        between = self._flow.nodes[first - 1 : self._flow.node(last).stop - 1]
        return _Box(self._symbols, write, read, shared, between)


def _shared(first: FlowNode, second: FlowNode) -> int:
    """Return the number of constructs, with the same block, that contain both statements."""
    found = 0
    for one, other in zip(
        zip(first.around, first.blocks, strict=True),
        zip(second.around, second.blocks, strict=True),
        strict=False,
    ):
        if one != other:
            break
        found += 1
    return found


def _inside(number: int, node: FlowNode) -> tuple[int, ...]:
    """Return the constructs around a statement that are inside the construct `number`."""
    return node.around[node.around.index(number) + 1 :]


def _top(node: FlowNode, shared: int) -> int:
    """Return the number of the statement in the shared block that contains `node`."""
    return node.around[shared] if len(node.around) > shared else node.number


def _is_marked(value: Polynomial) -> bool:
    """Return whether a polynomial has a symbol that may differ between two accesses."""
    return any(key.endswith((_WRITE, _READ)) for key in value.symbols)


class _Box:
    """The elements that a write sets in all iterations of the loops around the write only.

    The first `shared` constructs contain the read, too. The statements `between` may be executed
    after the write and before the read.
    """

    __slots__ = ("_alone", "_facts", "_flow", "_read", "_symbols", "_written", "_write")

    def __init__(
        self,
        symbols: Symbols,
        write: Item,
        read: Item,
        shared: int,
        between: Iterable[FlowNode],
    ) -> None:
        flow = self._flow = symbols.flow
        self._symbols = symbols
        self._write, self._read = write, read
        self._written = frozenset(
            one.path.variable for node in between for one in node.accesses if one.writes
        )
        alone = (flow.node(number) for number in write.node.around[shared:])
        loops = (one for one in alone if isinstance(one.line, Do))
        self._alone = [counter_of(one, flow, symbols) for one in loops]
        facts: list[Polynomial] = []
        for at, number in enumerate(read.node.around):
            loop = flow.node(number)
            if isinstance(loop.line, Do):
                counter = counter_of(loop, flow, symbols)
                mark = _READ if at >= shared else ""
                own = counter.range_of(symbols.polynomial(loop.line.variable))
                facts += [self._marked(fact, mark) if mark else fact for fact in own]
        self._facts = NonNegativePolynomials(tuple(facts))

    def holds(self, variable: Variable) -> bool:
        """Return whether the box contains all elements that are read."""
        if self._write.variable != variable or self._read.variable[: len(variable)] != variable:
            return False
        box = self._subscripts(self._write, ())
        if not box or self._write.path.is_whole:
            return self._write.path.is_whole and all(map(self._runs, self._alone))
        wanted = self._subscripts(self._read, variable)
        if len(box) != len(wanted):
            return False
        used: set[str] = set()
        pairs = enumerate(zip(box, wanted, strict=True))
        inside = all(self._dimension(one, other, at, used) for at, (one, other) in pairs)
        return inside and self._all_run(used)

    def starts(
        self, boxes: Iterable[_Box], dimension: int, low: Polynomial, high: Polynomial
    ) -> bool:
        """Return whether adjacent boxes contain what is read between two subscripts.

        The boxes differ in `dimension`, for which the subscripts are given.
        """
        extents = [one for box in boxes if (one := box.extent_in(dimension)) is not None]
        read = self._marked(low, _READ), self._marked(high, _READ)
        ranges = self._ranges(read, dimension)
        return (None, None) in extents or any(self._cover(extents, one) for one in ranges)

    def extent_in(self, dimension: int) -> _Extent | None:
        """Return the extent in one dimension if the box contains what is read in all others.

        A whole dimension has unknown ends.
        """
        write, read = (self._subscripts(one, one.variable) for one in (self._write, self._read))
        if self._write.variable != self._read.variable or len(write) != len(read):
            return None
        used = set[str]()
        for at, (one, other) in enumerate(zip(write, read, strict=True)):
            if at != dimension and not self._dimension(one, other, at, used):
                return None
        own = write[dimension]
        found = (None, None) if own == Range() else self._extent(own, used)
        if found is None or any(end is not None and _is_marked(end) for end in found):
            return None
        return found if self._all_run(used) else None

    def carried(self, counter: CounterRange) -> tuple[int, Polynomial, Polynomial] | None:
        """Return the dimension in which the write precedes the read by iterations of a loop.

        The polynomials are the bounds of the elements that the first iterations read. Return None
        if earlier iterations do not certainly set the elements of later ones.
        """
        write, read = (self._subscripts(one, one.variable) for one in (self._write, self._read))
        if counter.step not in (1, -1) or counter.first is None or len(write) != len(read):
            return None
        key, used, dimension = Polynomial({(counter.name,): 1}), set[str](), -1
        ends = constant_polynomial(0), constant_polynomial(0)
        for at, (one, other) in enumerate(zip(write, read, strict=True)):
            if isinstance(one, Range) or counter.name not in names_in(one):
                if not self._dimension(one, other, at, used):
                    return None
                continue
            mine, theirs = (self._symbols.polynomial(each).minus(key) for each in (one, other))
            if dimension >= 0 or mine.known is None or theirs.known is None:
                return None
            if (mine.known - theirs.known) * counter.step <= 0:
                return None
            dimension, far = at, counter.first.plus(theirs)
            near = counter.first.plus(constant_polynomial(mine.known - counter.step))
            ends = (far, near) if counter.step > 0 else (near, far)
        return (dimension, *ends) if dimension >= 0 and self._all_run(used) else None

    def joins(self, boxes: Iterable[_Box], variable: Variable) -> bool:
        """Return whether adjacent boxes contain all elements read.

        The boxes differ in one dimension.
        """
        wanted = self._subscripts(self._read, variable)
        found = (box.extents() for box in boxes)
        extents = [one for one in found if one is not None and len(one) == len(wanted)]
        ranges = [self._ranges(self._wanted(read, at), at) for at, read in enumerate(wanted)]
        for split, parts in enumerate(ranges):
            others = [(at, both) for at, both in enumerate(ranges) if at != split]
            long = [
                one[split]
                for one in extents
                if all(any(self._cover([one[at]], part) for part in both) for at, both in others)
            ]
            if len(long) > 1 and any(self._cover(long, part) for part in parts):
                return True
        return False

    def _ranges(self, read: _Extent, dimension: int) -> list[_Extent]:
        """Return ranges with all elements read, which are within the declared bounds."""
        lows, highs = zip(read, self._declared(dimension), strict=True)
        return [(low, high) for low, high in product(lows, highs) if low and high]

    def _cover(self, extents: Iterable[_Extent], wanted: _Extent) -> bool:
        """Return whether overlapping or adjacent extents contain `wanted`.

        From the lowest subscript, each step leads to one that all lower subscripts precede.
        """
        first, last = wanted
        assert first is not None
        assert last is not None
        one = constant_polynomial(1)
        found, new = {first}, [first]
        while new:
            start = new.pop()
            if self._facts.imply(start.minus(one).minus(last)):
                return True
            for low, high in extents:
                if low is None or high is None:
                    continue
                after = high.plus(one)
                if after not in found and self._facts.imply(start.minus(low)):
                    found.add(after)
                    new.append(after)
        return False

    def extents(self) -> tuple[_Extent, ...] | None:
        """Return the extents of the subscripts of the write, None if they are not fixed."""
        used: set[str] = set()
        found: list[_Extent] = []
        for at, item in enumerate(self._subscripts(self._write, self._write.variable)):
            extent = self._declared(at) if item == Range() else self._extent(item, used)
            if extent is None or any(end is None or _is_marked(end) for end in extent):
                return None
            found.append(extent)
        return tuple(found) if self._all_run(used) else None

    def _all_run(self, used: set[str]) -> bool:
        """Return whether all loops around the write only, except for the counters `used`, run."""
        return all(self._runs(one) for one in self._alone if one.name + _WRITE not in used)

    def _runs(self, counter: CounterRange) -> bool:
        """Return whether a loop around the write only certainly has an iteration."""
        if counter.first is None or counter.last is None or not counter.step:
            return False
        apart = self._marked(counter.last.minus(counter.first), _WRITE)
        return self._facts.imply(apart if counter.step > 0 else constant_polynomial(0).minus(apart))

    def _subscripts(self, item: Item, variable: Variable) -> tuple[Expr, ...]:
        """Return the only subscript list of a path; without one, return `:` for each dimension."""
        brackets = [step for step in item.path.steps if isinstance(step, Subscripts)]
        if len(brackets) == 1:
            return brackets[0].items
        declared = self._flow.names.declaration(variable) if variable else None
        return tuple(Range() for _ in declared.shape) if declared and not brackets else ()

    def _dimension(self, write: Expr, read: Expr, at: int, used: set[str]) -> bool:
        """Return whether a subscript of the write covers the one of the read."""
        if write == Range():
            return True
        box = self._extent(write, used)
        low, high = self._wanted(read, at)
        if box is None or low is None or high is None:
            return False
        return self._facts.imply(low.minus(box[0])) and self._facts.imply(box[1].minus(high))

    def _extent(self, expr: Expr, used: set[str]) -> tuple[Polynomial, Polynomial] | None:
        """Return the extent of a write's subscript if it is contiguous, else None."""
        if isinstance(expr, Range):
            if expr.lower is None or expr.upper is None or expr.step is not None:
                return None
            low, high = self._value(expr.lower, _WRITE), self._value(expr.upper, _WRITE)
        else:
            low = high = self._value(expr, _WRITE)
        for counter in self._alone:
            key = counter.name + _WRITE
            if key not in low.symbols | high.symbols:
                continue
            factor = low.factors.get((key,), 0)
            if isinstance(expr, Range) or abs(factor) != 1 or key in used:
                return None
            if counter.step not in (1, -1) or counter.first is None or counter.last is None:
                return None
            used.add(key)
            ends = [self._marked(end, _WRITE) for end in (counter.first, counter.last)]
            upward = (counter.step > 0) == (factor > 0)
            first, last = ends if upward else ends[::-1]
            low, high = low.replaced({key: first}), high.replaced({key: last})
        return low, high

    def _wanted(self, expr: Expr, at: int) -> _Extent:
        """Return the extent of a read's subscript."""
        if not isinstance(expr, Range):
            only = self._value(expr, _READ)
            return only, only
        if expr.step is not None:
            return None, None
        declared = self._declared(at)
        ends = zip((expr.lower, expr.upper), declared, strict=True)
        low, high = (end if own is None else self._value(own, _READ) for own, end in ends)
        return low, high

    def _declared(self, at: int) -> _Extent:
        """Return the bounds of a dimension of the variable, if they are known and fixed."""
        declared = self._flow.names.declaration(self._read.variable)
        shape = declared.shape if declared is not None else ()
        if at >= len(shape):
            return None, None
        extent = shape[at]
        parts = (extent.lower, extent.upper) if isinstance(extent, Range) else (None, extent)
        if parts[1] is None or isinstance(parts[1], Star | Verbatim) or self._is_changed(parts):
            return None, None
        low = constant_polynomial(1) if parts[0] is None else self._symbols.polynomial(parts[0])
        return low, self._symbols.polynomial(parts[1])

    def _is_changed(self, parts: tuple[Expr | None, ...]) -> bool:
        wanted = {name for part in parts if part is not None for name in names_in(part)}
        return any(
            one.writes and one.root in wanted for node in self._flow.nodes for one in node.accesses
        )

    def _value(self, expr: Expr, mark: str) -> Polynomial:
        return self._marked(self._symbols.polynomial(expr), mark)

    def _marked(self, value: Polynomial, mark: str) -> Polynomial:
        """Return a polynomial with marked symbols where the values differ between the accesses."""
        return value.renamed(
            lambda key: key + mark if self._symbols.changes(key, self._written) else key
        )
