"""Conditional and other constructs of a file, in PSyclone's form if it has a class for them.

An `if` with several branches, or a `select case`, becomes a chain of if blocks: each block is the
only statement in the `else` of the previous one. A `where` becomes loops around if blocks. A
construct that a script does not edit keeps its source text. A `select case` is written as an `if`
once its conditions or the order of its cases are edited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import ClassVar, Self

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import blocks_of, names_of_line, with_each_block
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.scripting.errors import GenerationError, refusal
from psyclone_storage.scripting.psyir.data import DataNode, node_of
from psyclone_storage.scripting.psyir.known_nodes import Known
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.statements import (
    Schedule,
    Statement,
    statement_of,
)
from psyclone_storage.scripting.psyir.symbols import Symbol

_ELSE_IF, _CASE, _WHERE, _ONE_LINE = "was_elseif", "was_case", "was_where", "was_single_stmt"


class IfBlock(Statement):
    """A conditional construct: a condition, a body and an optional `else` body."""

    never_in_expressions: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.part: un.Branch | un.Case | None = None

    @classmethod
    def create(
        cls,
        condition: DataNode,
        if_body: Iterable[LiveNode],
        else_body: Iterable[LiveNode] | None = None,
    ) -> Self:
        """Return an if block with a condition and the bodies for both outcomes."""
        new = cls()
        new.children.extend([condition, Schedule(children=if_body)])
        if else_body is not None:
            new.children.append(Schedule(children=else_body))
        return new

    @classmethod
    def of_line(cls, line: un.Line) -> Self:
        """Return the node of an `if` or `select case` in the source file."""
        new = super().of_line(line)
        new.part = None
        if isinstance(line, un.If):
            new.part = line.branches[0]
            if (
                len(line.branches) == 1
                and line.extent is not None
                and line.extent == line.branches[0].place
            ):
                new.annotations.append(_ONE_LINE)
        elif isinstance(line, un.Select):
            new.part = _tested(line)[0]
            new.annotations.append(_CASE)
        return new

    # ------------------------------------------------------------------ shape

    def _shown(self) -> Iterator[LiveNode]:
        source, part = self.source, self.part
        if isinstance(source, un.If | un.Where):
            yield node_of(source.branches[0].condition)
            yield Schedule.of_block(source.branches[0].body, self.known_nodes)
            rest = source.branches[1:]
            if rest:
                yield self._nested(replace(source, branches=rest, name="", extent=None), _ELSE_IF)
            elif source.otherwise:
                yield Schedule.of_block(source.otherwise, self.known_nodes)
        elif isinstance(source, un.Select) and isinstance(part, un.Case):
            condition = node_of(_condition(source, part))
            condition.is_implicit = True
            yield condition
            yield Schedule.of_block(part.body, self.known_nodes)
            if len(_tested(source)) > 1:
                yield self._nested(_rest(source, 1), _CASE)
            elif default := _default(source):
                yield Schedule.of_block(default[0].body, self.known_nodes)

    def _nested(self, rest: un.If | un.Where | un.Select, word: str) -> Schedule:
        """Return an `else` body with the remaining branches of a construct as one if block."""
        block = IfBlock.of_line(rest)
        block.annotations = [word]
        block.known_nodes = self.known_nodes
        body = Schedule()
        body.children.fill([block])
        body.forget()
        return body

    def blocks(self) -> Sequence[LiveNode]:
        """Return the bodies for both outcomes."""
        return self.children[1:]

    def _accepts(self, position: int, child: LiveNode) -> bool:
        kind = Schedule if position else DataNode
        return isinstance(child, kind) and position < 3 and len(self._children or ()) < 3

    @property
    def condition(self) -> DataNode:
        """The condition."""
        found: DataNode = self.children[0]
        return found

    @property
    def if_body(self) -> Schedule:
        """The statements to execute if the condition is true."""
        found: Schedule = self.children[1]
        return found

    @property
    def else_body(self) -> Schedule | None:
        """The statements to execute if the condition is false; None without an `else`."""
        return self.children[2] if len(self.children) > 2 else None

    def _chain(self, word: str) -> list[IfBlock]:
        """Return the chain of if blocks, from this one on, that represents one source construct."""
        found = [self]
        while (body := found[-1].else_body) is not None and len(body) == 1:
            inner = body[0]
            if not isinstance(inner, IfBlock) or word not in inner.annotations or inner.lead:
                break
            found.append(inner)
        return found

    # ------------------------------------------------------------------ frozen

    def _made(self) -> un.Line:
        if len(self.children) < 2:
            raise GenerationError("An if block needs a condition and a body.")
        if isinstance(self.source, un.Select):
            chain = self._chain(_CASE)
            kept = self._as_select(self.source, chain)
            if kept is not None:
                return kept
            _check_tests(self.source)
            for block in chain:
                block.annotations = [_ELSE_IF] if block is not self else []
            return self._as_if(chain)
        return self._as_if(self._chain(_ELSE_IF))

    def _as_if(self, chain: Sequence[IfBlock]) -> un.If:
        branches = tuple(block.branch() for block in chain)
        last = chain[-1].else_body
        otherwise = () if last is None else last.block()
        if isinstance(self.source, un.If):
            return replace(self.source, branches=branches, otherwise=otherwise)
        return un.If(branches, otherwise)

    def branch(self) -> un.Branch:
        """Return the branch that consists of the condition and the body."""
        condition, body = self.condition.frozen(), self.if_body.block()
        if isinstance(self.part, un.Branch):
            return replace(self.part, condition=condition, body=body)
        return un.Branch(condition, body)

    def _as_select(self, source: un.Select, chain: Sequence[IfBlock]) -> un.Select | None:
        """Return the `select case` with edited bodies; None if its structure was edited."""
        tested, default = _tested(source), _default(source)
        parts = [block.part for block in chain]
        last = chain[-1].else_body
        if parts != list(tested) or not all(block.condition.is_implicit for block in chain):
            return None
        bodies = {
            id(case): block.if_body.block() for case, block in zip(tested, chain, strict=True)
        }
        if default:
            bodies[id(default[0])] = () if last is None else last.block()
        cases = tuple(replace(case, body=bodies[id(case)]) for case in source.cases)
        if not default and last is not None and last.block():
            cases += (un.Case((), last.block()),)
        return replace(source, cases=cases)

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the nodes to show `line`, into which a step has transformed this construct."""
        word = _CASE if isinstance(line, un.Select) else _ELSE_IF
        if self._children is None or not isinstance(line, un.If | un.Select):
            self.source = self.cached_line = line
            self.show_again(known or Known())
            return
        chain = self._chain(word)
        parts, otherwise = _parts(line)
        last = chain[-1].else_body
        if len(parts) != len(chain) or (last is None) != (otherwise is None):
            self.source = self.cached_line = line
            self.show_again(known or Known())
            self.part = parts[0]
            return
        for number, (block, part) in enumerate(zip(chain, parts, strict=True)):
            block.if_body.sync(part.body, known)
            if isinstance(part, un.Branch) and part.condition != block.condition.frozen():
                block.children[0] = node_of(part.condition)
            block.part = part
            block.source = _rest(line, number)
            if number:
                block.cached_line = None
                block.parent.forget()
        if last is not None and otherwise is not None:
            last.sync(otherwise, known)
        self.source = self.cached_line = line


def _parts(
    line: un.If | un.Select,
) -> tuple[Sequence[un.Branch | un.Case], tuple[un.Line, ...] | None]:
    """Return the conditional parts of a construct, and the statements of its `else`."""
    if isinstance(line, un.If):
        return line.branches, line.otherwise or None
    return _tested(line), next((case.body for case in _default(line)), None)


def _rest(line: un.If | un.Select, number: int) -> un.If | un.Select:
    """Return a construct without its first `number` parts."""
    if number == 0:
        return line
    if isinstance(line, un.If):
        return replace(line, branches=line.branches[number:], name="", extent=None)
    cases = (*_tested(line)[number:], *_default(line))
    return replace(line, cases=cases, before=(), extent=None)


# ---------------------------------------------------------------------------- select case


def _tested(source: un.Select) -> tuple[un.Case, ...]:
    return tuple(case for case in source.cases if case.guards)


def _default(source: un.Select) -> tuple[un.Case, ...]:
    return tuple(case for case in source.cases if not case.guards)[:1]


def _condition(source: un.Select, case: un.Case) -> ex.Expr:
    """Return the condition that selects a case."""
    tests = [_test(source.selector, guard) for guard in case.guards]
    return reduce(lambda one, other: ex.Binary(Operator.OR, one, other), tests)


def _test(selector: ex.Expr, guard: ex.Expr) -> ex.Expr:
    if isinstance(guard, ex.Range):
        ends = [
            ex.Binary(op, selector, end)
            for op, end in (
                (Operator.GREATER_EQUAL, guard.lower),
                (Operator.LESS_EQUAL, guard.upper),
            )
            if end is not None
        ]
        return reduce(lambda one, other: ex.Binary(Operator.AND, one, other), ends)
    logical = isinstance(guard, ex.Literal) and guard.intrinsic is Intrinsic.LOGICAL
    return ex.Binary(Operator.EQUIVALENT if logical else Operator.EQUAL, selector, guard)


def _check_tests(source: un.Select) -> None:
    """Reject a selector with possible side effects, because it would be evaluated repeatedly.

    Raises:
        TransformationError: `T015`, the selector may call a function.
    """
    for part in ex.walk(source.selector):
        if isinstance(part, ex.Index) and not isinstance(part, ex.Element | ex.Section):
            raise refusal(
                f"'select case ({ex.spell(source.selector)})' cannot become an 'if': its selector"
                " may call a function, once for each test.",
                hint="Assign the selector to a variable first.",
            )


@statement_of.register
def _select(line: un.Select) -> Statement | None:
    """Return the if block of a `select case`; None for `select type` or `select rank`."""
    if line.word != "case" or line.alias is not None or not _tested(line):
        return None
    if any(case.word != "case" for case in line.cases) or len(_default(line)) > 1:
        return None
    return IfBlock.of_line(line)


# ---------------------------------------------------------------------------- where


class WhereLoop(Loop):
    """A loop over the elements of a `where`, which keeps its source text."""

    @classmethod
    def of_where(cls, line: un.Where, rank: int, number: int = 1) -> Self:
        """Return the loop nest over `rank` dimensions, starting with dimension `number`."""
        new = cls(Symbol(f"widx{number}"))
        new.source = new.cached_line = line
        new._rank, new._number = rank, number
        new.annotations.append(_WHERE)
        return new

    def __init__(self, variable: Symbol | None = None, **_: object) -> None:
        super().__init__(variable)
        self._rank = self._number = 1

    def _shown(self) -> Iterator[LiveNode]:
        assert isinstance(self.source, un.Where)
        array, number = _array_of(self.source), ex.whole(self._rank - self._number + 1)
        yield node_of(ex.intrinsic("lbound", array, number))
        yield node_of(ex.intrinsic("ubound", array, number))
        yield node_of(ex.whole(1))
        body = Schedule()
        if self._number < self._rank:
            inner: Statement = WhereLoop.of_where(self.source, self._rank, self._number + 1)
        else:
            inner = IfBlock.of_line(self.source)
            inner.annotations = [_WHERE]
        body.children.fill([inner])
        body.forget()
        yield body

    def _made(self) -> un.Line:
        raise refusal(
            "A 'where' cannot be edited: it is one statement for all elements.",
            hint="Write it as loops around an 'if' first.",
        )

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the node to show `line`, into which a step has transformed this statement."""
        Statement.sync(self, line, known)


def _array_of(line: un.Where) -> ex.Expr:
    """Return the array that the first assignment of a `where` defines, without subscripts."""
    target = _target(line)
    return target.base if isinstance(target, ex.Index) else target or ex.Name("")


def _target(line: un.Where) -> ex.Expr | None:
    bodies = (*(branch.body for branch in line.branches), line.otherwise)
    found = (one for body in bodies for one in body if isinstance(one, un.Assign))
    first = next(found, None)
    return None if first is None else first.target


@statement_of.register
def _where(line: un.Where) -> Statement | None:
    """Return the loop nest of a `where`, or None if its rank is unknown."""
    target = _target(line)
    rank = 0
    if isinstance(target, ex.Index):
        rank = sum(isinstance(item, ex.Range) for item in target.items)
    elif isinstance(target, ex.Name | ex.Member) and target.symbol is not None:
        rank = target.symbol.rank
    return WhereLoop.of_where(line, rank) if rank else None


@statement_of.register
def _(line: un.If) -> Statement:
    return IfBlock.of_line(line)


# ---------------------------------------------------------------------------- other constructs


class OtherConstruct(Statement):
    """A construct for which PSyclone has no class; its blocks are nodes."""

    fixed: ClassVar[str] = "A block of this construct cannot be removed."

    def _shown(self) -> Iterable[LiveNode]:
        assert self.source is not None
        return [Schedule.of_block(block, self.known_nodes) for block in blocks_of(self.source)]

    def blocks(self) -> Sequence[LiveNode]:
        """Return the blocks of the construct."""
        return self.children

    def _made(self) -> un.Line:
        assert self.source is not None
        blocks = iter(self.children)
        return with_each_block(self.source, lambda _: next(blocks).block())

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the nodes to show `line`, into which a step has transformed this construct."""
        if self.is_unseen(line):
            return
        for child, block in zip(self.children, blocks_of(line), strict=True):
            child.sync(block, known)
        self.source = self.cached_line = line

    def get_symbol_names(self) -> list[str]:
        """Return the names used in the first statement of the construct."""
        assert self.source is not None
        return sorted(names_of_line(self.source))


@statement_of.register(un.DoConcurrent)
@statement_of.register(un.Forall)
@statement_of.register(un.Associate)
@statement_of.register(un.Critical)
@statement_of.register(un.ScopedBlock)
@statement_of.register(un.Conditional)
def _(line: un.Line) -> Statement:
    return OtherConstruct.of_line(line)
