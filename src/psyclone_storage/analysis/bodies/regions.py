"""Directive blocks that transformations added: data clauses and legality.

The clauses follow from the statements in a block, so they are computed again after each change. A
block that a later change has made illegal is reported, and never printed with wrong clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import is_

from psyclone_storage.analysis.bodies.authored import check_authored
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.independence import (
    check_nodes_understood,
)
from psyclone_storage.analysis.bodies.nests import CodeFootprint, inner_node
from psyclone_storage.analysis.bodies.offload import (
    called_on_device,
    check_host_statements,
    check_on_device,
    check_unordered,
    copied_scalars,
    counters_after,
    data_in,
    is_for_device,
    is_serial,
    scalars_after,
    updated_items,
)
from psyclone_storage.analysis.bodies.teams import Team, place_of_block
from psyclone_storage.analysis.bodies.verdict import (
    Clauses,
    Verdict,
    called_procedures,
    flow_with,
    verdict_of,
)
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.facts import Facts
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import (
    blocks_of,
    contains_class,
    first_words,
    walk_lines,
    with_each_block,
)
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic, ScalarType

_LOOP_DIRECTIVES = (
    Directive.OMP_DO,
    Directive.OMP_PARALLEL_DO,
    Directive.OMP_SIMD,
    Directive.OMP_TASKLOOP,
    Directive.OMP_TEAMS_DO,
    Directive.OMP_TEAMS_LOOP,
    Directive.OMP_LOOP,
    Directive.ACC_LOOP,
)
_OF_ONE_THREAD = frozenset({Directive.OMP_TASKLOOP, Directive.OMP_SIMD, Directive.OMP_CRITICAL})
_NESTED = {
    Directive.OMP_PARALLEL: frozenset(
        {
            Directive.OMP_DO,
            Directive.OMP_LOOP,
            Directive.OMP_SINGLE,
            Directive.OMP_MASTER,
            Directive.OMP_SIMD,
        }
    ),
    Directive.OMP_DO: frozenset({Directive.OMP_SIMD, Directive.OMP_CRITICAL}),
    Directive.OMP_PARALLEL_DO: frozenset({Directive.OMP_SIMD, Directive.OMP_CRITICAL}),
    Directive.OMP_SINGLE: _OF_ONE_THREAD,
    Directive.OMP_MASTER: _OF_ONE_THREAD,
    Directive.OMP_TASKLOOP: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_TARGET: frozenset(
        {
            Directive.OMP_TEAMS_DO,
            Directive.OMP_TEAMS_LOOP,
            Directive.OMP_LOOP,
            Directive.OMP_SIMD,
        }
    ),
    Directive.OMP_TEAMS_DO: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_TEAMS_LOOP: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_LOOP: frozenset({Directive.OMP_SIMD}),
    Directive.ACC_PARALLEL: frozenset({Directive.ACC_LOOP}),
    Directive.ACC_KERNELS: frozenset({Directive.ACC_LOOP}),
    Directive.ACC_LOOP: frozenset({Directive.ACC_LOOP}),
    Directive.ACC_DATA: frozenset(
        {Directive.ACC_PARALLEL, Directive.ACC_KERNELS, Directive.ACC_UPDATE}
    ),
}
"""The directives that may be nested directly in a block, by its directive."""
_WITHOUT_FIRST = (Directive.OMP_SIMD, Directive.OMP_LOOP, Directive.ACC_LOOP)
_WITHOUT_LAST = (
    Directive.OMP_TEAMS_DO,
    Directive.OMP_TEAMS_LOOP,
    Directive.OMP_LOOP,
    Directive.ACC_LOOP,
)
_WITHOUT_REDUCTIONS = (Directive.OMP_TASKLOOP,)
_ON_TARGET = (Directive.OMP_TEAMS_DO, Directive.OMP_TEAMS_LOOP)
_NO_TEAMS = "Apply 'openmp-teams-do' to each loop, or end the region before the statement."
_NO_COLLAPSE = "Leave out 'collapse'."
_OTHER_DIRECTIVE = "Put the loop under 'openmp-parallel-do', which has this clause."
_REDUCES_SCALARS = (Directive.OMP_TEAMS_LOOP, Directive.OMP_LOOP, Directive.ACC_LOOP)
"""Directives with which gfortran mishandles or rejects the reduction of an array."""
_DEVICE = (
    Directive.OMP_TEAMS_DO,
    Directive.OMP_TEAMS_LOOP,
    Directive.OMP_LOOP,
    Directive.ACC_LOOP,
)
_ANY_STATEMENT = (Directive.OMP_CRITICAL, Directive.ACC_DATA, Directive.ACC_UPDATE)
_IMPURE = regex(r"\bimpure\b")
_PURE = regex(r"\b(?:pure|elemental)\b")


KnownVerdicts = dict[tuple[str, bool], Verdict]
"""The verdicts on the loops of one version of a routine, by uid and `sums`."""


@dataclass(frozen=True, slots=True)
class RegionContext:
    """Promises about a routine, verdicts on its loops, and the routines of its file.

    New verdicts are added to `verdicts`.
    """

    facts: Facts = ()
    verdicts: KnownVerdicts = field(default_factory=dict)
    routines: tuple[Routine, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedCode:
    """A routine whose directive blocks have their clauses.

    `reasons` are errors of blocks that later steps cannot resolve. `unfinished` are errors unless a
    later step resolves them, in the blocks `wrong`.
    """

    code: Routine
    reasons: Reasons = ()
    unfinished: Reasons = ()
    wrong: tuple[un.DirectiveBlock, ...] = ()


def has_blocks(code: Routine) -> bool:
    """Return whether a routine has directive blocks."""
    return contains_class(code.body, un.DirectiveBlock)


def are_parallel_loops(lines: Iterable[un.Line]) -> bool:
    """Return whether all directive blocks are separate parallel loops with their clauses.

    No block around such a loop, and no other loop, changes these clauses.
    """
    for line in lines:
        if not contains_class((line,), un.DirectiveBlock):
            continue
        if not isinstance(line, un.DirectiveBlock):
            if not are_parallel_loops(chain.from_iterable(blocks_of(line))):
                return False
        elif contains_class(line.body, un.DirectiveBlock) or not (
            line.directive is Directive.OMP_PARALLEL_DO and line.analysed
        ):
            return False
    return True


def plan_regions(code: Routine, flow: Flow, context: RegionContext) -> PlannedCode:
    """Return `code` with the clauses of all its directive blocks, and their errors.

    `flow` is the data flow of `code` with the same promises.
    """
    return _Planner(code, flow, context).plan()


def plan_new(
    code: Routine, new: un.DirectiveBlock, flow: Flow, context: RegionContext
) -> PlannedCode:
    """Return `code` with the clauses of its block `new`, and the errors of that block.

    `flow` is the data flow before the block was added. Blocks around the new one get their clauses
    from `plan_regions` later.
    """
    if new.directive not in _LOOP_DIRECTIVES:
        flow = flow_with(code, context.facts, flow.names)
    return _Planner(code, flow, context, new).plan()


def without_wrong(code: Routine, planned: PlannedCode) -> Routine:
    """Return `code` without the blocks with errors that no later step has resolved.

    `planned` is the result of `plan_regions` for `code`. Worksharing loops in such a block become
    parallel loops.
    """
    wrong = {id(block) for block in planned.wrong}
    orphans = not planned.reasons

    def without(line: un.Line) -> tuple[un.Line, ...]:
        if not isinstance(line, un.DirectiveBlock):
            return (with_each_block(line, lambda block: _flat(map(without, block))),)
        body = _flat(map(without, line.body))
        if id(line) not in wrong:
            return (line if all(map(is_, body, line.body)) else replace(line, body=body),)
        if line.directive is Directive.OMP_DO and orphans:
            return (_on_its_own(line),)
        return tuple(_on_its_own(one) for one in body)

    return replace(code, body=_flat(map(without, code.body)))


def _flat(parts: Iterable[tuple[un.Line, ...]]) -> tuple[un.Line, ...]:
    return tuple(line for part in parts for line in part)


def _on_its_own(line: un.Line) -> un.Line:
    """Return statements in which worksharing loops are replaced by parallel loops."""
    if isinstance(line, un.DirectiveBlock):
        if line.directive is Directive.OMP_DO:
            options = replace(line.options, nowait=False)
            return replace(line, directive=Directive.OMP_PARALLEL_DO, options=options)
        return line
    return with_each_block(line, lambda block: tuple(map(_on_its_own, block)))


def directive_word(directive: Directive) -> str:
    """Return the word for a directive in loop selectors, such as `omp-do`."""
    return directive.value.replace(" ", "-")


def is_pure(code: Routine) -> bool:
    """Return whether a routine is pure, so that it must not have executable directives."""
    words = key_of(code.prefix)
    return bool(_PURE.search(words)) and not _IMPURE.search(words)


class _Planner:
    """The clauses of the blocks of one routine, and the errors found."""

    def __init__(
        self,
        code: Routine,
        flow: Flow,
        context: RegionContext,
        only: un.DirectiveBlock | None = None,
    ) -> None:
        self._code = code
        self._flow = flow
        self._facts = context.facts
        self._known = context.verdicts
        self._routines = context.routines
        self._only = only
        self._nodes = flow.by_statement
        self._planned: dict[int, un.DirectiveBlock] = {}
        self.reasons: list[Diagnostic] = []
        self.unfinished: list[Diagnostic] = []

        self._wrong: list[un.DirectiveBlock] = []
        self._pure = is_pure(code)

    def plan(self) -> PlannedCode:
        """Return the routine with the clauses of its blocks."""
        body = self.lines(self._code.body, ())
        authored = contains_class(self._flow.code.body, un.DirectiveLine)
        beside = check_authored(self._code.body) if authored else ()
        reasons = (*self.reasons, *beside)
        return PlannedCode(
            replace(self._code, body=body),
            tuple(dict.fromkeys(reasons)),
            tuple(dict.fromkeys(self.unfinished)),
            tuple(self._wrong),
        )

    def lines(
        self, lines: tuple[un.Line, ...], around: tuple[Directive, ...]
    ) -> tuple[un.Line, ...]:
        """Return statements with the clauses of the blocks nested in them."""
        found = self._with_waits(lines, [self._line(line, around) for line in lines])
        return lines if all(map(is_, found, lines)) else found

    def _line(self, line: un.Line, around: tuple[Directive, ...]) -> un.Line:
        if not isinstance(line, un.DirectiveBlock):
            if not contains_class((line,), un.DirectiveBlock):
                return line
            return with_each_block(line, lambda block: self.lines(block, around))
        body = self.lines(line.body, (*around, line.directive))
        inner = line if body is line.body else replace(line, body=body)
        count = len(self.unfinished) + len(self.reasons)
        planned = self._block(line, inner, around)
        if len(self.unfinished) + len(self.reasons) > count:
            self._wrong.append(line)
        return planned

    def _block(
        self, line: un.DirectiveBlock, inner: un.DirectiveBlock, around: tuple[Directive, ...]
    ) -> un.DirectiveBlock:
        """Return a block with its clauses; the blocks nested in it already have theirs."""
        kind = line.directive
        self._check_surroundings(line, around)
        if self._only is not None and line is not self._only:
            self._note(line, inner)
            return inner
        if kind in _LOOP_DIRECTIVES:
            planned = self._loop(inner, line)
            self._note(line, planned)
            return planned
        node = self._nodes[id(line)]
        clean = replace(
            inner, private=(), firstprivate=(), lastprivate=(), reductions=(), analysed=True
        )
        if kind is Directive.OMP_PARALLEL:
            return Team(self._flow, node, self._planned, self.unfinished).with_private(clean)
        self._check_block(clean, node)
        found = {
            pair: None
            for one in walk_lines(inner.body)
            if isinstance(one, un.DirectiveBlock)
            for pair in one.reductions
        }
        clean = replace(clean, items=(), reductions=tuple(found))
        if kind in (Directive.OMP_TARGET, Directive.ACC_PARALLEL):
            clean = replace(clean, items=copied_scalars(node, clean, self._planned, self._flow))
        elif kind is Directive.ACC_DATA:
            data = data_in(node, self._planned, self._flow)
            self.reasons += (*data.problems, *check_host_statements(node, data, self._flow))
            clean = replace(clean, reductions=(), items=tuple(data.items.values()))
            if not data.items:
                self._refuse(line, "No region in it needs data on the device.")
        elif kind is Directive.ACC_UPDATE:
            clean = replace(clean, items=updated_items(node, self._planned, self._flow))
        self._note(line, clean)
        return clean

    def _with_waits(
        self, lines: tuple[un.Line, ...], planned: list[un.Line]
    ) -> tuple[un.Line, ...]:
        """Return statements with the necessary waits of the host for asynchronous regions.

        Consecutive regions in one queue need no wait, unless one reads a scalar that an earlier one
        changes: the host passes scalars when it launches a region.
        """
        changed: set[Variable] = set()
        for at, line in enumerate(planned):
            if not isinstance(line, un.DirectiveBlock) or line.options.queue < 0:
                continue
            node = self._nodes.get(id(lines[at]))
            if node is None:
                continue
            changed |= scalars_after(node, self._planned, self._flow)
            following = next((
                number
                for number in range(at + 1, len(planned))
                if not isinstance(planned[number], un.Comment | un.Blank)
            ), None)  # fmt: skip
            waits = following is None or self._is_apart(line, lines[following], changed)
            if waits:
                changed.clear()
            if line.waits is not waits:
                planned[at] = replace(line, waits=waits)
        return tuple(planned)

    def _is_apart(self, line: un.DirectiveBlock, after: un.Line, changed: set[Variable]) -> bool:
        """Return whether the statement after a region in a queue must wait for the region."""
        if not isinstance(after, un.DirectiveBlock) or after.options.queue != line.options.queue:
            return True
        node = self._nodes.get(id(after))
        if node is None:
            return True
        summary = self._flow.summaries[node.number - 1]
        return any(touches_any(one, summary.exposed | summary.written) for one in changed)

    def _note(self, line: un.DirectiveBlock, planned: un.DirectiveBlock) -> None:
        if node := self._nodes.get(id(line)):
            self._planned[node.number] = planned

    def _refuse(self, line: un.Line, message: str, code: str = "T094", hint: str = "") -> None:
        place = place_of_block(line)
        self.reasons.append(Diagnostic(code, message, place, hint=hint))

    def _check_surroundings(self, block: un.DirectiveBlock, around: tuple[Directive, ...]) -> None:
        kind = block.directive
        if self._pure:
            name = self._flow.code.name
            self._refuse(block, f"'{name}' is pure, so it cannot have '{kind.value}'.")
        if is_for_device(self._code):
            name = self._flow.code.name
            self._refuse(block, f"Devices call '{name}', so it cannot have '{kind.value}'.")
        if around and kind not in _NESTED.get(around[-1], frozenset()):
            message = f"'{kind.value}' cannot be inside '{around[-1].value}'."
            self._refuse(block, message, "T007")
        if kind.surroundings and not kind.surroundings & frozenset(around):
            wanted = " or ".join(sorted(f"'{one.value}'" for one in kind.surroundings))
            message = f"'{kind.value}' is not inside {wanted}."
            self.unfinished.append(Diagnostic("T094", message, place_of_block(block)))

    # ------------------------------------------------------------------------ loops

    def _loop(self, block: un.DirectiveBlock, read: un.DirectiveBlock) -> un.DirectiveBlock:
        """Return a block around a loop with its clauses."""
        held = [one for one in read.body if not isinstance(one, un.Comment | un.Blank)]
        if len(held) != 1 or not isinstance(held[0], un.Do):
            self._refuse(block, f"'{block.directive.value}' needs exactly one loop.")
            return block
        if block.options.sequential:
            return replace(block, analysed=True)
        loop = self._nodes.get(id(held[0])) or self._flow.by_uid[held[0].uid]
        nest = self._nest(block, loop)
        verdicts = [self._verdict(one, block) for one in nest]
        condition = self._condition(block, verdicts)
        for verdict in verdicts if condition is None else ():
            self.reasons += verdict.reasons
        for one in nest:
            self._check_counter(one, block)
        if block.directive in _DEVICE:
            self._check_device(loop, block)
        counters = {one.line.variable.key for one in nest if isinstance(one.line, un.Do)}
        clauses = _joined([verdict.clauses for verdict in verdicts], counters)
        self._check_clauses(block, clauses)
        return replace(
            block,
            private=clauses.private,
            firstprivate=clauses.firstprivate,
            lastprivate=clauses.lastprivate,
            reductions=clauses.operations,
            analysed=True,
            condition=condition,
        )

    def _condition(self, block: un.DirectiveBlock, verdicts: list[Verdict]) -> Expr | None:
        """Return the run-time condition for parallel execution of a loop, None without one."""
        is_alone = block.directive is Directive.OMP_PARALLEL_DO and len(verdicts) == 1
        return verdicts[0].condition if is_alone else None

    def _verdict(self, loop: FlowNode, block: un.DirectiveBlock) -> Verdict:
        assert isinstance(loop.line, un.Do)
        key = (loop.line.uid, block.options.sums)
        if key not in self._known:
            self._known[key] = verdict_of(loop, self._flow, self._facts, sums=key[1])
        return self._known[key]

    def _nest(self, block: un.DirectiveBlock, loop: FlowNode) -> list[FlowNode]:
        """Return the loops that a block collapses."""
        nest = [loop]
        while len(nest) < block.options.collapse:
            self.reasons += CodeFootprint(self._flow, nest[-1]).check_bounds()
            inner = inner_node(nest[-1], self._flow)
            if inner is None:
                message = f"The loop is a nest of {len(nest)}, not of {block.options.collapse}."
                fits = f"Write 'collapse={len(nest)}'." if len(nest) > 1 else _NO_COLLAPSE
                self._refuse(block, message, "T084", fits)
                break
            outer = {one.line.variable.key for one in nest if isinstance(one.line, un.Do)}
            self._check_rectangular(inner, outer)
            nest.append(inner)
        return nest

    def _check_rectangular(self, inner: FlowNode, outer: set[str]) -> None:
        used = {one.root for one in inner.accesses if not one.writes} & outer
        for name in sorted(used):
            message = f"The bounds of an inner loop depend on '{name}'."
            self._refuse(inner.line, message, "T063")

    def _check_counter(self, loop: FlowNode, block: un.DirectiveBlock) -> None:
        assert isinstance(loop.line, un.Do)
        key = loop.line.variable.key
        declared = self._flow.names.declaration((key,))
        kind = declared.type if declared is not None else None
        if not isinstance(kind, ScalarType) or kind.intrinsic is not Intrinsic.INTEGER:
            known = "is not known to be" if kind is None else "is not"
            message = f"The counter '{loop.line.variable.text}' {known} an integer."
            self._refuse(loop.line, message)
        elif self._flow.names.is_shared((key,)):
            message = f"A pointer may alias the counter '{loop.line.variable.text}'."
            self._refuse(loop.line, message)

    def _check_clauses(self, block: un.DirectiveBlock, clauses: Clauses) -> None:
        kind = block.directive
        unfit = (
            (clauses.firstprivate, "firstprivate", _WITHOUT_FIRST),
            (clauses.lastprivate, "lastprivate", _WITHOUT_LAST),
            (clauses.operations, "reduction", _WITHOUT_REDUCTIONS),
        )
        for names, word, without in unfit:
            if names and kind in without:
                name = names[0] if isinstance(names[0], str) else names[0][0]
                message = f"'{kind.value}' has no clause '{word}', which '{name}' needs."
                hint = _OTHER_DIRECTIVE
                if word == "reduction":
                    hint = f"Compute '{name}' in a loop with another directive."
                elif kind.is_openacc or kind in _ON_TARGET:
                    hint = f"Use '{name}' only in the iteration that sets it."
                self._refuse(block, message, "T084", hint)
        for name, _ in clauses.operations if kind in _REDUCES_SCALARS else ():
            declared = self._flow.names.declaration((key_of(name),))
            if declared is None or declared.shape:
                message = f"'{kind.value}' needs a reduction of the array '{name}'."
                hint = "Some compilers support that only with 'parallel do' in the directive."
                self._refuse(block, message, "T084", hint)

    def _check_device(self, node: FlowNode, block: un.DirectiveBlock) -> None:
        """Check that a device can run the statements in a construct."""
        self.reasons += check_on_device(self._flow.inside(node), self._flow)
        called = called_procedures(node, self._flow) - HARMLESS
        if called:
            is_openacc = block.directive.is_openacc
            called -= called_on_device(self._code, self._routines, is_openacc=is_openacc)
        for name in sorted(called):
            message = f"'{name}' is not compiled for a device."
            self._refuse(node.line, message, "T081")

    # ------------------------------------------------------------------------ other blocks

    def _check_block(self, block: un.DirectiveBlock, node: FlowNode) -> None:
        """Check a block for one thread, or a device region."""
        kind, flow = block.directive, self._flow
        if kind in _ANY_STATEMENT or kind.is_of_one_thread:
            self.reasons += _leaves(node, flow)
            return
        if kind is Directive.ACC_KERNELS:
            self.reasons += check_nodes_understood(flow.inside(node), flow)
            self.reasons += _leaves(node, flow)
            self._check_device(node, block)
            return
        if kind is Directive.ACC_PARALLEL:
            self.reasons += check_unordered(node, self._planned, self._flow)
        if kind is Directive.OMP_TARGET and is_serial(node, flow):
            self._check_serial(node, block)
            return
        wanted = _NESTED.get(kind, frozenset())
        held = [one for one in block.body if not isinstance(one, un.Comment | un.Blank)]
        for line in held if len(held) > 1 else ():
            if isinstance(line, un.DirectiveBlock) and line.directive.makes_teams:
                message = f"'{line.directive.value}' must be all that its region holds."
                self._refuse(line, message, "T089")
        for line in held:
            if not isinstance(line, un.DirectiveBlock) or line.directive not in wanted:
                words = " or ".join(sorted(f"'{one.value}'" for one in wanted))
                message = f"'{first_words(line)}' in '{kind.value}' is not under {words}."
                hint = _NO_TEAMS if kind is Directive.OMP_TARGET else ""
                self.unfinished.append(Diagnostic("T027", message, place_of_block(line), hint=hint))

    def _check_serial(self, node: FlowNode, block: un.DirectiveBlock) -> None:
        """Check a region in which no loop has a directive, unless further steps change that."""
        others, self.reasons = self.reasons, []
        self.reasons += check_nodes_understood(self._flow.inside(node), self._flow)
        self.reasons += _leaves(node, self._flow)
        self._check_device(node, block)
        for name in sorted(set(counters_after(node, self._flow))):
            message = f"'{name}' counts a loop in the region and is read after it."
            self._refuse(block, message, "T083", "Use another variable in the loop.")
        self.unfinished += self.reasons
        self.reasons = others


def _leaves(node: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield the statements that leave a block before its end (T094)."""
    summary = flow.summaries[node.number - 1]
    if summary.jumps or any(isinstance(one.line, un.Stop | un.Goto) for one in flow.inside(node)):
        yield Diagnostic("T094", "A statement leaves the region.", place_of_block(node.line))


def _joined(parts: list[Clauses], counters: set[str]) -> Clauses:
    """Return the combined clauses of the collapsed loops of a nest."""

    def names(chosen: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        found = {name for part in chosen for name in part if key_of(name) not in counters}
        return tuple(sorted(found, key=key_of))

    first = names(part.firstprivate for part in parts)
    last = names(part.lastprivate for part in parts[:1])
    private = names(part.private for part in parts)
    reductions = {one.name: one for part in reversed(parts) for one in part.reductions}
    taken = {*first, *last, *reductions}
    return Clauses(
        tuple(name for name in private if name not in taken),
        first,
        last,
        tuple(reductions.values()),
        names(part.arrays for part in parts),
    )
