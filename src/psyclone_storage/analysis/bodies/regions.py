"""Directive blocks in the statements of an author: their data clauses, and whether they are legal.

The clauses follow from the statements in a block, so they are derived again after each change. A
block that a later change has made illegal is reported, never printed with wrong clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.accesses import unknown_calls
from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.independence import (
    check_nodes_understood,
    may_be_copied,
)
from psyclone_storage.analysis.bodies.nests import CodeFootprint, inner_node
from psyclone_storage.analysis.bodies.verdict import (
    Clauses,
    Verdict,
    called_procedures,
    flow_with,
    verdict_of,
)
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.facts import Facts
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import Variable
from psyclone_storage.ir.rewrite import (
    blocks_of,
    first_words,
    place_of_line,
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
    Directive.ACC_LOOP,
)
_NESTED = {
    Directive.OMP_PARALLEL: frozenset({Directive.OMP_DO, Directive.OMP_SINGLE, Directive.OMP_SIMD}),
    Directive.OMP_DO: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_PARALLEL_DO: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_SINGLE: frozenset({Directive.OMP_TASKLOOP, Directive.OMP_SIMD}),
    Directive.OMP_TASKLOOP: frozenset({Directive.OMP_SIMD}),
    Directive.OMP_TARGET: frozenset({Directive.OMP_TEAMS_DO, Directive.OMP_SIMD}),
    Directive.OMP_TEAMS_DO: frozenset({Directive.OMP_SIMD}),
    Directive.ACC_PARALLEL: frozenset({Directive.ACC_LOOP}),
    Directive.ACC_KERNELS: frozenset({Directive.ACC_LOOP}),
    Directive.ACC_LOOP: frozenset({Directive.ACC_LOOP}),
}
"""The directives that may be inside a block with a directive."""
_WITHOUT_FIRST = (Directive.OMP_SIMD, Directive.ACC_LOOP)
_WITHOUT_LAST = (Directive.OMP_TEAMS_DO, Directive.ACC_LOOP)
_WITHOUT_REDUCTIONS = (Directive.OMP_TASKLOOP,)
_DEVICE = (Directive.OMP_TEAMS_DO, Directive.ACC_LOOP, Directive.ACC_KERNELS)
_AUTHORED = regex(r"(?:omp|acc)\s+(?!threadprivate\b|declare\b|routine\b|requires\b)")
_IS_END = regex(r"(?:omp|acc)\s+end\b")
_OPENS = regex(
    r"(?P<kind>omp\s+(?:parallel|target|teams|single|master|masked|critical|task|workshare"
    r"|sections|ordered|do|simd|distribute|loop)\b|acc\s+(?:parallel|kernels|data|loop|serial)\b)"
)
_OF_A_LOOP = regex(r".*\b(?:do|simd|loop|distribute|taskloop|atomic)\b")
_IMPURE = regex(r"\bimpure\b")
_PURE = regex(r"\b(?:pure|elemental)\b")


@dataclass(frozen=True, slots=True)
class PlannedCode:
    """A routine whose directive blocks have their clauses.

    The `reasons` are against blocks whatever steps follow; those in `unfinished` are against the
    routine if no further step comes.
    """

    code: Routine
    reasons: Reasons = ()
    unfinished: Reasons = ()


def plan_regions(code: Routine, facts: Facts = ()) -> PlannedCode:
    """Return `code` with the clauses of all its directive blocks, and what is wrong with these."""
    if not any(isinstance(line, un.DirectiveBlock) for line in walk_lines(code.body)):
        return PlannedCode(code)
    planner = _Planner(code, facts)
    body = planner.lines(code.body, ())
    reasons = (*planner.reasons, *_beside_authored(code.body, []))
    return PlannedCode(
        replace(code, body=body),
        tuple(dict.fromkeys(reasons)),
        tuple(dict.fromkeys(planner.unfinished)),
    )


def directive_word(directive: Directive) -> str:
    """Return the word of a directive in the names of places, such as `omp-do`."""
    return directive.value.replace(" ", "-")


def is_pure(code: Routine) -> bool:
    """Return whether a routine is pure, so that it must not have executable directives."""
    words = key_of(code.prefix)
    return bool(_PURE.search(words)) and not _IMPURE.search(words)


class _Planner:
    """The clauses of the blocks of one routine, and the problems found on the way."""

    def __init__(self, code: Routine, facts: Facts) -> None:
        self._flow = flow_with(code, facts)
        self._facts = facts
        self._nodes = {id(node.line): node for node in self._flow.nodes}
        self._planned: dict[int, un.DirectiveBlock] = {}
        self.reasons: list[Diagnostic] = []
        self.unfinished: list[Diagnostic] = []
        self._pure = is_pure(code)

    def lines(
        self, lines: tuple[un.Line, ...], around: tuple[Directive, ...]
    ) -> tuple[un.Line, ...]:
        """Return statements with the clauses of the blocks in them."""
        return tuple(self._line(line, around) for line in lines)

    def _line(self, line: un.Line, around: tuple[Directive, ...]) -> un.Line:
        if not isinstance(line, un.DirectiveBlock):
            return with_each_block(line, lambda block: self.lines(block, around))
        kind = line.directive
        inner = replace(line, body=self.lines(line.body, (*around, kind)))
        self._check_surroundings(line, around)
        node = self._nodes[id(line)]
        if kind in _LOOP_DIRECTIVES:
            planned = self._planned[node.number] = self._loop(inner, node, line)
            return planned
        clean = replace(
            inner, private=(), firstprivate=(), lastprivate=(), reductions=(), analysed=True
        )
        if kind is Directive.OMP_PARALLEL:
            return _Team(self._flow, node, self._planned, self.unfinished).with_private(clean)
        self._check_block(clean, node)
        found = {
            pair: None
            for one in walk_lines(inner.body)
            if isinstance(one, un.DirectiveBlock)
            for pair in one.reductions
        }
        return replace(clean, reductions=tuple(found))

    def _refuse(self, line: un.Line, message: str, code: str = "T094", hint: str = "") -> None:
        place = _place(line)
        self.reasons.append(Diagnostic(code, message, place, hint=hint))

    def _check_surroundings(self, block: un.DirectiveBlock, around: tuple[Directive, ...]) -> None:
        kind = block.directive
        if self._pure:
            name = self._flow.code.name
            self._refuse(block, f"'{name}' is pure, so it cannot have '{kind.value}'.")
        if around and kind not in _NESTED.get(around[-1], frozenset()):
            message = f"'{kind.value}' cannot be inside '{around[-1].value}'."
            self._refuse(block, message, "T007")
        if kind.surroundings and not kind.surroundings & frozenset(around):
            wanted = " or ".join(sorted(f"'{one.value}'" for one in kind.surroundings))
            message = f"'{kind.value}' is not inside {wanted}."
            self.unfinished.append(Diagnostic("T094", message, _place(block)))

    # ------------------------------------------------------------------------ loops

    def _loop(
        self, block: un.DirectiveBlock, node: FlowNode, read: un.DirectiveBlock
    ) -> un.DirectiveBlock:
        """Return a block around a loop with its clauses."""
        held = [one for one in read.body if not isinstance(one, un.Comment | un.Blank)]
        if len(held) != 1 or not isinstance(held[0], un.Do):
            self._refuse(block, f"'{block.directive.value}' needs exactly one loop.")
            return block
        if block.options.sequential:
            return replace(block, analysed=True)
        loop = self._nodes[id(held[0])]
        nest = self._nest(block, loop)
        verdicts = [self._verdict(one, block) for one in nest]
        for verdict in verdicts:
            self.reasons += verdict.reasons
        for one in nest:
            self._check_counter(one, block)
        if block.directive in _DEVICE:
            self._check_calls(node)
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
        )

    def _verdict(self, loop: FlowNode, block: un.DirectiveBlock) -> Verdict:
        return verdict_of(loop, self._flow, self._facts, sums=block.options.sums)

    def _nest(self, block: un.DirectiveBlock, loop: FlowNode) -> list[FlowNode]:
        """Return the loops that a block shares together."""
        nest = [loop]
        while len(nest) < block.options.collapse:
            self.reasons += CodeFootprint(self._flow, nest[-1]).check_bounds()
            inner = inner_node(nest[-1], self._flow)
            if inner is None:
                message = f"The loop is a nest of {len(nest)}, not of {block.options.collapse}."
                self._refuse(block, message, "T084")
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
                self._refuse(block, message, "T084")

    def _check_calls(self, node: FlowNode) -> None:
        for name in sorted(called_procedures(node, self._flow) - HARMLESS):
            message = f"'{name}' is not compiled for a device."
            self._refuse(node.line, message, "T081")

    # ------------------------------------------------------------------------ other blocks

    def _check_block(self, block: un.DirectiveBlock, node: FlowNode) -> None:
        """Check a block for one thread, or one that runs on a device."""
        kind, flow = block.directive, self._flow
        if kind is Directive.OMP_SINGLE:
            self.reasons += _leaves(node, flow)
            return
        if kind is Directive.ACC_KERNELS:
            self.reasons += check_nodes_understood(flow.inside(node), flow)
            self.reasons += _leaves(node, flow)
            self._check_calls(node)
            if not any(isinstance(one.line, un.Do) for one in flow.inside(node)):
                self._refuse(block, f"'{kind.value}' has no loop in it.")
            return
        wanted = _NESTED.get(kind, frozenset())
        for line in block.body:
            if isinstance(line, un.Comment | un.Blank):
                continue
            if not isinstance(line, un.DirectiveBlock) or line.directive not in wanted:
                words = " or ".join(sorted(f"'{one.value}'" for one in wanted))
                message = f"'{first_words(line)}' in '{kind.value}' is not under {words}."
                self.unfinished.append(Diagnostic("T027", message, _place(line)))


class _Team:
    """A block that a team of threads runs, with statements that all threads run.

    Such a statement may only give scalars of the routine values that are the same for all threads;
    each thread then has its own copy.
    """

    def __init__(
        self,
        flow: Flow,
        node: FlowNode,
        planned: Mapping[int, un.DirectiveBlock],
        problems: list[Diagnostic],
    ) -> None:
        self._flow = flow
        self._planned = planned
        self._node = node
        self._problems = problems
        inside = flow.inside(node)
        self._shared = [one for one in inside if _shares_work(one.line)]
        numbers = {one.number for one in self._shared}
        within = {at for one in self._shared for at in range(one.number, one.stop)}
        self._serial = [one for one in inside if one.number not in within | numbers]

    def with_private(self, block: un.DirectiveBlock) -> un.DirectiveBlock:
        """Return the block with the private variables of its threads; note what is wrong."""
        flow = self._flow
        if not self._shared:
            self._refuse(block, "No statement in the parallel region shares work.")
            return block
        written = self._written_together()
        own: dict[Variable, FlowNode] = {}
        for node in self._serial:
            self._check_statement(node, written)
            for one in node.accesses:
                if one.writes:
                    own.setdefault(one.path.variable, node)
        exposed = flow.summaries[self._node.number - 1].exposed
        for variable, node in own.items():
            self._check_private(variable, node, written, exposed)
        declared = (flow.names.declaration(one) for one in own)
        names = (one.name for one in declared if one is not None)
        return replace(block, private=tuple(sorted(names, key=key_of)))

    def _written_together(self) -> frozenset[Variable]:
        """Return what work-sharing blocks may write, except for private variables."""
        found: set[Variable] = set()
        for node in self._shared:
            block = self._planned.get(node.number)
            own = frozenset(key_of(name) for name in block.private) if block else frozenset()
            found |= {
                one
                for one in self._flow.summaries[node.number - 1].written
                if one[0] not in own and not self._is_counter(one, node)
            }
            found |= {(key_of(name),) for name in (block.firstprivate if block else ())}
        return frozenset(found)

    def _is_counter(self, variable: Variable, node: FlowNode) -> bool:
        """Return whether a loop in a work-sharing block counts a variable."""
        assert isinstance(node.line, un.DirectiveBlock)
        if node.line.directive is Directive.OMP_SINGLE:
            return False
        loops = (one.line for one in self._flow.inside(node) if isinstance(one.line, un.Do))
        return variable in {(loop.variable.key,) for loop in loops}

    def _check_statement(self, node: FlowNode, written: frozenset[Variable]) -> None:
        line, names = node.line, self._flow.names
        if isinstance(line, un.Comment | un.Blank | un.Continue):
            return
        if not isinstance(line, un.Assign | un.If | un.Do | un.Select) or any(
            unknown_calls((line,), names, inside=False)
        ):
            self._refuse(line, f"All threads would run '{first_words(line)}'.")
            return
        for one in node.accesses:
            variable = one.path.variable
            if one.writes:
                continue
            aliased = names.is_shared(variable) and any(map(names.is_shared, written))
            if aliased or touches_any(variable, written):
                text = "%".join(variable)
                message = (
                    f"Threads write '{text}' in the region, and '{first_words(line)}' reads it."
                )
                self._refuse(line, message)

    def _check_private(
        self,
        variable: Variable,
        node: FlowNode,
        written: frozenset[Variable],
        exposed: frozenset[Variable],
    ) -> None:
        name, flow = "%".join(variable), self._flow
        if not may_be_copied(variable, flow):
            self._refuse(node.line, f"All threads would write '{name}'.")
        elif touches_any(variable, exposed):
            self._refuse(node.line, f"'{name}' has a value from before the region.")
        elif flow.is_read_later(self._node, variable):
            self._refuse(node.line, f"'{name}' is read after the region.")
        elif touches_any(variable, written):
            self._refuse(node.line, f"'{name}' is private, and a loop in the region writes it.")

    def _refuse(self, line: un.Line, message: str) -> None:
        hint = "End the region before the statement, or put it under 'omp-single'."
        self._problems.append(Diagnostic("T027", message, _place(line), hint=hint))


def _shares_work(line: un.Line) -> bool:
    return isinstance(line, un.DirectiveBlock) and line.directive in (
        Directive.OMP_DO,
        Directive.OMP_SINGLE,
    )


def _leaves(node: FlowNode, flow: Flow) -> Iterator[Diagnostic]:
    """Yield the statements that leave a block before its end (T094)."""
    summary = flow.summaries[node.number - 1]
    if summary.jumps or any(isinstance(one.line, un.Stop | un.Goto) for one in flow.inside(node)):
        yield Diagnostic("T094", "A statement leaves the region.", _place(node.line))


def _joined(parts: list[Clauses], counters: set[str]) -> Clauses:
    """Return the clauses of the loops of a nest that are shared together."""

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


def _place(line: un.Line) -> Span | None:
    """Return the place of a statement, or of the first in a block."""
    if isinstance(line, un.DirectiveBlock):
        return next((place for one in line.body if (place := _place(one))), None)
    return place_of_line(line)


# ---------------------------------------------------------------------------- authors' directives


_STRIP = "Use '--strip-directives' to drop the author's directives first."


def _beside_authored(lines: tuple[un.Line, ...], opened: list[str]) -> Iterator[Diagnostic]:
    """Yield blocks in constructs of an author's directives, and such directives in blocks."""
    pending = ""
    for line in lines:
        if isinstance(line, un.DirectiveLine):
            pending = _opened(line, opened) or pending
            continue
        if isinstance(line, un.Comment | un.Blank):
            continue
        inside = [one for one in walk_lines((line,)) if isinstance(one, un.DirectiveBlock)]
        if inside and (opened or pending):
            message = f"The block is inside a construct of the author: '{pending or opened[-1]}'."
            yield Diagnostic("T094", message, _place(inside[0]), hint=_STRIP)
        if isinstance(line, un.DirectiveBlock):
            yield from _authored_inside(line)
        else:
            for block in blocks_of(line):
                yield from _beside_authored(block, opened)
        pending = ""


def _opened(line: un.DirectiveLine, opened: list[str]) -> str:
    """Record a construct that a directive opens or ends; return the text if a loop follows it."""
    text = " ".join(key_of(line.text).split())
    if not _AUTHORED.match(text):
        return ""
    if _IS_END.match(text):
        del opened[-1:]
    elif _OPENS.match(text) and not _OF_A_LOOP.match(text):
        opened.append(text)
    else:
        return text
    return ""


def _authored_inside(block: un.DirectiveBlock) -> Iterator[Diagnostic]:
    for one in walk_lines(block.body):
        if isinstance(one, un.DirectiveLine) and _AUTHORED.match(key_of(one.text)):
            message = f"The block contains a directive of the author: '{one.text}'."
            yield Diagnostic("T094", message, one.place, hint=_STRIP)
