"""Independence of loop iterations: loops that may run in any order, or in parallel.

Two accesses conflict if one of them is a write and they may overlap in different iterations. There
is no conflict if the variable can be private to each iteration, or if the loop is a reduction of
the variable; a parallel loop then needs the corresponding clause. All other conflicts are reported
with both accesses and their positions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product

from psyclone_storage.analysis.bodies.accesses import (
    associated_lines,
    moves_memory,
    reads_of,
    unknown_calls,
    unknown_lines,
)
from psyclone_storage.analysis.bodies.def_use import Summary, touches_any
from psyclone_storage.analysis.bodies.dependence_tests import (
    DependenceTests,
    IterationOrder,
    condition_to_run,
)
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, Item, summary_of_iteration
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.places import place_of_access
from psyclone_storage.analysis.bodies.private_copies import (
    is_own_array,
    is_private_scalar,
    may_be_copied,
)
from psyclone_storage.analysis.bodies.reductions import LoopReduction, reduction_of
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic, Related
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.affine import Polynomial
from psyclone_storage.ir.expr import Expr, Index, same, walk
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import place_of_line, rewritten
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.unit import Do, If, InputOutput, Line, Opaque, Stop


@dataclass(frozen=True, slots=True)
class Independence:
    """The result of the analysis of a loop: any order is valid if there are no `reasons`.

    Each iteration then has its own copies of the `private` variables, and `reductions` are combined
    at the end. Copies of `firstprivate` variables start with the value from before the loop, and
    the last iteration defines the final value of `lastprivate` variables. A `lastprivate` variable
    is also `firstprivate` if the loop may have no iteration. Some proofs rely on the promises
    `used`. `blocking` are the pairs of accesses in the reasons.
    """

    reasons: Reasons
    private: tuple[str, ...] = ()
    reductions: tuple[LoopReduction, ...] = ()
    firstprivate: tuple[str, ...] = ()
    lastprivate: tuple[str, ...] = ()
    used: frozenset[FactKind | str] = frozenset()
    blocking: tuple[Conflict, ...] = ()

    @property
    def rounded(self) -> tuple[LoopReduction, ...]:
        """The reductions whose rounding depends on the order of iterations."""
        return tuple(item for item in self.reductions if not item.exact)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses that may overlap in different iterations; the first is a write."""

    first: Item
    second: Item


@dataclass(frozen=True, slots=True)
class LoopPromises:
    """Promises about one loop: variables without conflicts, and private variables.

    `ignored` and `private` are keys of variables. With `independent`, all dependences are ignored.
    `values` allows copies of variables with an initial or final value (`firstprivate`,
    `lastprivate`), which not all directives support. The polynomials in `tested` are known to be
    nonnegative.
    """

    ignored: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    independent: bool = False
    values: bool = False
    tested: tuple[Polynomial, ...] = ()


NO_PROMISES = LoopPromises()


def independence_of(
    loop: FlowNode, flow: Flow, promises: LoopPromises = NO_PROMISES
) -> Independence:
    """Return whether the iterations of `loop` are independent, with reasons (T052, T062)."""
    found = _Conflicts(loop, flow, promises.tested)
    sharing = _Sharing(loop, flow, promises)
    inside = flow.inside(loop)
    reasons = list(check_nodes_understood(inside, flow))
    if promises.independent and reasons:
        sharing.used.add(FactKind.INDEPENDENT)
        reasons = list(check_nodes_understood(filter(_is_conditional, inside), flow))
    reasons += _early_ends(loop, flow)
    reasons += _of_threads(loop, found.items, flow)
    counter = _counter(loop)
    if flow.is_read_later(loop, (counter,)):
        message = f"The value that the loop over '{counter}' leaves in '{counter}' may be read."
        hint = f"Count with a variable that nothing reads after the loop, not with '{counter}'."
        reasons.append(Diagnostic("T062", message, place_of_line(loop.line), hint=hint))
    sharing.private |= found.privates
    blocking = []
    for variable, conflict in found.conflicts.items():
        own = [
            one
            for one in found.items
            if flow.names.is_same(one.path.root, variable[0]) and not one.access.of_shape
        ]
        if not sharing.resolves(variable, own) and not (reasons and _is_word(conflict, flow)):
            blocking.append(conflict)
            reasons.append(_reason(conflict, loop, flow))
    reasons += _changed_bounds(loop, sharing, flow)
    return Independence(
        tuple(dict.fromkeys(reasons)),
        tuple(sorted(sharing.private)),
        tuple(sharing.reductions),
        tuple(sorted(sharing.first)),
        tuple(sorted(sharing.last)),
        frozenset(sharing.used),
        tuple(blocking),
    )


class _Sharing:
    """The clauses that resolve the conflicts of variables."""

    def __init__(self, loop: FlowNode, flow: Flow, promises: LoopPromises) -> None:
        self._loop = loop
        self._flow = flow
        self._promises = promises
        self.private: set[str] = set()
        self.first: set[str] = set()
        self.last: set[str] = set()
        self.reductions: list[LoopReduction] = []
        self.used: set[FactKind | str] = set()
        self._invariant: dict[Expr, bool] = {}
        self._summaries: dict[tuple[Expr, bool], Summary] = {}

    def resolves(self, variable: Variable, items: list[Item]) -> bool:
        """Return whether a data clause or a promise resolves the conflict of a variable."""
        name = variable[0]
        reduction = reduction_of(variable, items, self._loop, self._flow)
        if reduction is not None:
            self.reductions.append(reduction)
        elif is_own_array(variable, self._loop, self._flow):
            self.private.add(name)
        elif self._promises.values and self._has_value(variable):
            pass
        elif name in self._promises.private:
            self.used.add(name)
            self.private.add(name)
        elif name in self._promises.ignored or self._promises.independent:
            self.used.add(name if name in self._promises.ignored else FactKind.INDEPENDENT)
            self._as_promised(variable)
        else:
            return False
        return True

    def _has_value(self, variable: Variable) -> bool:
        """Return whether `firstprivate` or `lastprivate` copies are correct for a scalar."""
        loop, flow = self._loop, self._flow
        if flow.has_jumps or not may_be_copied(variable, flow):
            return False
        body = flow.body(loop)
        later = flow.is_read_later(loop, variable)
        if not touches_any(variable, body.exposed):
            if not later or body.sets is None or variable not in body.sets:
                return False
            self.last.add(variable[0])
            if condition_to_run(_do(loop)) is not True:
                self.first.add(variable[0])
            return True
        if not self._is_guarded(variable, later=later):
            return False
        self.first.add(variable[0])
        if later:
            self.last.add(variable[0])
        return True

    def _is_guarded(self, variable: Variable, *, later: bool) -> bool:
        """Return whether all iterations write a scalar before reading it, or none writes it.

        A condition that is invariant in the loop decides which. If the scalar is read `later`,
        each iteration that writes it must do so on all paths.
        """
        guards = dict.fromkeys(
            number
            for item in self._flow.items_in(self._loop)
            if item.writes and item.variable == variable
            for number in item.node.around
            if number > self._loop.number
        )
        lines = (self._flow.node(number).line for number in guards)
        choices = (one for one in lines if isinstance(one, If) and not one.name)
        conditions = dict.fromkeys(one.branches[0].condition for one in choices)
        return any(
            all(_is_settled(variable, one, later=later) for one in self._choices_of(condition))
            for condition in conditions
            if self._has_one_value(condition)
        )

    def _has_one_value(self, condition: Expr) -> bool:
        if condition not in self._invariant:
            self._invariant[condition] = is_invariant(condition, self._loop, self._flow)
        return self._invariant[condition]

    def _choices_of(self, condition: Expr) -> Iterator[Summary]:
        """Yield the cached summaries of an iteration in which a condition is true, and false."""
        for holds in (True, False):
            known = self._summaries.get((condition, holds))
            if known is None:
                known = _with_choice(self._loop, condition, self._flow, holds=holds)
                self._summaries[condition, holds] = known
            yield known

    def _as_promised(self, variable: Variable) -> None:
        """Add a `firstprivate` clause for a promised scalar that is not read after the loop."""
        loop, flow = self._loop, self._flow
        if may_be_copied(variable, flow) and not flow.is_read_later(loop, variable):
            self.first.add(variable[0])


def _is_settled(variable: Variable, summary: Summary, *, later: bool) -> bool:
    if not touches_any(variable, summary.written):
        return True
    if touches_any(variable, summary.exposed):
        return False
    return not later or (summary.sets is not None and variable in summary.sets)


def is_invariant(
    condition: Expr, loop: FlowNode, flow: Flow, counted: frozenset[str] = frozenset()
) -> bool:
    """Return whether a condition is invariant in `loop`.

    The counters in `counted` have the same values in all iterations.
    """
    changed = loop_variant(loop, flow) - {(key,) for key in counted}
    read = [one.path.variable for one in reads_of(condition, flow.names)]
    calls = (part for part in walk(condition) if isinstance(part, Index))
    names = flow.names
    functions = (word for part in calls if (word := names.function_called(part)) is not None)
    if any(names.procedure(word) or not names.is_harmless(word) for word in functions):
        return False
    return not any(
        touches_any(one, changed) or any(names.may_share(one, other) for other in changed)
        for one in read
    )


def _with_choice(loop: FlowNode, condition: Expr, flow: Flow, *, holds: bool) -> Summary:
    """Return the summary of an iteration in which a condition is true, or false."""

    def chosen(line: Line) -> tuple[Line, ...]:
        if not isinstance(line, If) or line.name:
            return (line,)
        if not same(line.branches[0].condition, condition):
            return (line,)
        if holds:
            return line.branches[0].body
        rest = line.branches[1:]
        return (replace(line, branches=rest),) if rest else line.otherwise

    line = _do(loop)
    changed = replace(line, body=rewritten(line.body, chosen))
    return summary_of_iteration(changed, flow.names)


def _counter(loop: FlowNode) -> str:
    return _do(loop).variable.key


def _do(loop: FlowNode) -> Do:
    assert isinstance(loop.line, Do)
    return loop.line


class _Conflicts:
    """The first conflict of each variable that a loop writes, and the private scalars."""

    __slots__ = ("conflicts", "items", "privates")

    def __init__(self, loop: FlowNode, flow: Flow, tested: tuple[Polynomial, ...]) -> None:
        self.items = flow.items_in(loop)
        self.privates: set[str] = set()
        self.conflicts: dict[Variable, Conflict] = {}
        tests = DependenceTests(flow, loop, loop_variant(loop, flow), tested)
        groups = _groups(self.items)
        for variable, items in groups.items():
            writes = [item for item in items if item.writes]
            if not writes:
                continue
            if is_private_scalar(variable, writes, loop, flow):
                self.privates.add(variable[0])
                continue
            others = [
                one for name, group in groups.items() if flow.names.may_share(variable, name)
                for one in group
            ]  # fmt: skip
            orders = (IterationOrder(loop, loop), IterationOrder(loop, loop, earlier=True))
            others.sort(key=partial(_is_unlike, variable, flow))
            for write, other in product(writes, others):
                if not all(tests.never(write, other, (order,)) for order in orders):
                    self.conflicts.setdefault(variable, Conflict(write, other))
                    break


def _is_unlike(variable: Variable, flow: Flow, item: Item) -> tuple[bool, bool, bool]:
    """Return a sort key that puts the accesses with the most likely conflicts first."""
    names, root = flow.names, item.path.root
    is_other = variable[0] in names.aliases and root not in names.aliases
    is_counter = is_other and root in names.counters
    return names.declaration(item.variable) is None or is_counter, is_other, item.writes


def _groups(items: Iterable[Item]) -> dict[Variable, list[Item]]:
    """Return the accesses by variable; of equivalent accesses, only the first."""
    groups: dict[Variable, dict[tuple[object, ...], Item]] = defaultdict(dict)
    for item in items:
        key = (item.path, item.writes, item.access.of_shape, item.node.around)
        groups[item.variable].setdefault(key, item)
    return {variable: list(found.values()) for variable, found in groups.items()}


def loop_variant(loop: FlowNode, flow: Flow) -> frozenset[Variable]:
    """Return the variables that may have other values in other iterations of a loop."""
    written = flow.written(loop)
    shared = [one for one in written if flow.names.is_shared(one)]
    if not shared:
        return written
    touched = {one.path.variable for node in flow.inside(loop) for one in node.accesses}
    return written | {
        one for one in touched if any(flow.names.may_share(one, other) for other in shared)
    }


def has_shape(name: str, flow: Flow) -> bool:
    """Return whether a variable is known to be an array."""
    declared = flow.names.declaration((name,))
    return declared is not None and bool(declared.shape)


# ---------------------------------------------------------------------------- reasons


def _is_conditional(node: FlowNode) -> bool:
    """Return whether a statement is a line of conditional compilation (`!$`)."""
    return isinstance(node.line, Opaque) and node.line.text.lstrip().startswith("!$")


def check_nodes_understood(nodes: Iterable[FlowNode], flow: Flow) -> Reasons:
    """Return the problems of statements whose effects are not known (T052)."""
    return tuple(dict.fromkeys(_unknown(nodes, flow)))


def _unknown(nodes: Iterable[FlowNode], flow: Flow) -> Iterator[Diagnostic]:
    for node in nodes:
        yield from flow.names.of_statement(node.line, _not_understood)


def _not_understood(line: Line, names: RoutineNames) -> Reasons:
    """Return the problems of one statement whose effects are not known."""
    name = names.code.name
    associated = associated_lines(line, names)
    alone = (line,) if associated is None else associated
    inside = associated is not None
    place = place_of_line(line)
    found: list[Diagnostic] = []
    for _, text in unknown_lines(alone, inside=inside):
        found.append(Diagnostic("T052", f"'{text.strip()}' of '{name}' is not understood.", place))
    for _, procedure in unknown_calls(alone, names, inside=inside):
        found.append(_of_unknown_type(procedure, place, names) or Diagnostic(
            "T052", f"'{name}' calls '{procedure}', whose effects are unknown.", place,
            hint=UNKNOWN_HINT,
        ))  # fmt: skip
    if moves_memory(line):
        message = f"'{name}' allocates arrays or moves pointers."
        found.append(Diagnostic("T052", message, place))
    if isinstance(line, InputOutput):
        message = f"'{name}' reads or writes a file: '{line.word}'."
        found.append(Diagnostic("T052", message, place))
    return tuple(found)


def _of_unknown_type(called: str, place: Span | None, names: RoutineNames) -> Diagnostic | None:
    """Return the problem (T100) if a part of `called` has a type that is not found, else None."""
    parts = tuple(called.split("%"))
    for end in range(1, len(parts)):
        declared = names.declaration(parts[:end])
        if declared is None or not isinstance(declared.type, DerivedType):
            return None
        if names.code.structure(declared.type) is not None:
            continue
        kind = declared.type
        modules = listed(_modules_with(kind, names))
        return Diagnostic(
            "T100",
            f"The type '{kind.name}' of '{'%'.join(parts[:end])}' is not found: '{called}(...)' "
            f"may be a call.",
            place,
            hint=f"Name the folder of the module {modules} with '-d'.",
        )
    return None


def _modules_with(kind: DerivedType, names: RoutineNames) -> list[str]:
    """Return the modules of which one may define or export a derived type."""
    if kind.module:
        return [kind.module]
    uses = (*names.code.uses, *names.code.module.uses)
    named = [use.module for use in uses for one in use.names if key_of(one.local) == kind.name]
    return list(dict.fromkeys(named or [use.module for use in uses if use.whole]))


UNKNOWN_HINT = (
    "An array with a declaration and a procedure that is declared 'pure' are understood; '-I' names"
    " the folders of their modules."
)


def _of_threads(loop: FlowNode, items: Iterable[Item], flow: Flow) -> Iterator[Diagnostic]:
    """Yield problems for variables of which each thread has a copy, `threadprivate` (T062)."""
    for name in sorted({item.path.root for item in items} & flow.names.threadprivate):
        yield Diagnostic(
            "T062",
            f"'{name}' is 'threadprivate', so each thread has another '{name}' in the loop over"
            f" '{_counter(loop)}'.",
            place_of_line(loop.line),
        )


def _changed_bounds(loop: FlowNode, sharing: _Sharing, flow: Flow) -> Iterator[Diagnostic]:
    """Yield problems for variables in the loop bounds that would need a clause (T062)."""
    assert isinstance(loop.line, Do)
    named = sharing.private | sharing.first | sharing.last | {_counter(loop)}
    named.update(one.name for one in sharing.reductions)
    bounds = (loop.line.start, loop.line.stop, loop.line.step)
    reads = (one for bound in bounds if bound is not None for one in reads_of(bound, flow.names))
    for name in sorted({one.root for one in reads} & named):
        yield Diagnostic(
            "T062",
            f"The bounds of the loop over '{_counter(loop)}' read '{name}', which its iterations"
            " change.",
            place_of_line(loop.line),
            hint=f"Copy '{name}' to another variable before the loop, and use that in the bounds.",
        )


def _is_word(conflict: Conflict, flow: Flow) -> bool:
    """Return whether a conflict concerns an undeclared name in an unknown statement."""
    for item in (conflict.first, conflict.second):
        line = item.node.line
        if flow.names.declaration(item.variable) is not None:
            continue
        if associated_lines(line, flow.names) is None and any(unknown_lines((line,))):
            return True
    return False


def _early_ends(loop: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield problems for statements that end a loop before its last iteration (T062)."""
    for node in flow.inside(loop):
        leaves = isinstance(node.line, Stop) or any(
            target < loop.number or jump == ("exit", loop.number)
            for jump in flow.summaries[node.number - 1].jumps
            for target in (jump[1],)
        )
        if leaves and not flow.inside(node):
            yield Diagnostic(
                "T062",
                f"The loop over '{_counter(loop)}' may end before its last iteration.",
                place_of_line(node.line),
            )


def _reason(conflict: Conflict, loop: FlowNode, flow: Flow) -> Diagnostic:
    first, second = conflict.first, conflict.second
    variable = first.variable
    if not first.path.subscripts and not has_shape(variable[0], flow):
        if flow.names.may_be_absent(variable[0]) and not touches_any(
            variable, flow.body(loop).exposed
        ):
            message = f"'{variable[0]}' may be absent, so threads cannot have copies of it."
            hint = f"Use a local variable instead of '{variable[0]}' in the loop."
            return Diagnostic("T062", message, place_of_access(first), hint=hint)
        return scalar_reason(loop, "%".join(variable), (first, second), None)
    return element_reason(loop, first, second, flow.names.aliases)


def element_reason(
    loop: FlowNode, first: Item, second: Item, aliases: frozenset[str] = frozenset()
) -> Diagnostic:
    """Return the diagnostic for two accesses that may overlap in different iterations (T062)."""
    one, other = str(first.access.path), str(second.access.path)
    name = "%".join(first.variable)
    related = place_of_access(second)
    verb = "written" if second.writes else "read"
    pair = f"'{one}' is written, and '{other}' is {verb}"
    if first.path.root != second.path.root and {first.path.root, second.path.root} & aliases:
        pair = f"{pair}, which may share its storage"
    return Diagnostic(
        "T062",
        f"Iterations of the loop over '{_counter(loop)}' may touch the same elements of '{name}':"
        f" {pair}.",
        place_of_access(first),
        hint="Subscripts that are sums of loop counters and constants can be told apart.",
        related=(Related(related, f"'{other}' is {verb} here"),) if related else (),
    )


def rounded_reason(loop: FlowNode, reduction: LoopReduction) -> Diagnostic:
    """Return the diagnostic for a reduction whose rounding depends on the order (T062)."""
    return Diagnostic(
        "T062",
        f"Another order of the iterations of the loop over '{_counter(loop)}' rounds"
        f" '{reduction.name}' in another way.",
        place_of_line(loop.line),
        hint="Give 'sums' if that is all right.",
    )


def scalar_reason(
    loop: FlowNode, name: str, pair: tuple[Item, ...], place: Span | None
) -> Diagnostic:
    """Return the diagnostic for a scalar whose value is used outside its iteration (T062)."""
    places = [(item, place_of_access(item)) for item in pair]
    related = tuple(
        Related(span, f"'{item.access.path}' is {'written' if item.writes else 'read'} here")
        for item, span in places[1:]
        if span is not None
    )
    return Diagnostic(
        "T062",
        f"'{name}' brings a value from one iteration of the loop over '{_counter(loop)}' to"
        " another, or out of the loop.",
        places[0][1] if places else place,
        related=related,
    )
