"""Loop nodes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from psyclone_storage.base.records import replace
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.scripting.errors import GenerationError, refusal
from psyclone_storage.scripting.psyir.data import DataNode, node_of
from psyclone_storage.scripting.psyir.known_nodes import Known
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.statements import Schedule, Statement, statement_of
from psyclone_storage.scripting.psyir.symbols import Symbol


class Loop(Statement):
    """A counted `do` loop."""

    never_in_expressions: ClassVar[bool] = True
    _types: ClassVar[dict[str, str]] = {}

    def __init__(self, variable: Symbol | None = None, **_: object) -> None:
        super().__init__()
        self._variable = variable
        self.explicitly_private_symbols: set[Symbol] = set()

    @classmethod
    def create(
        cls,
        variable: Symbol,
        start: DataNode,
        stop: DataNode,
        step: DataNode,
        children: Iterable[LiveNode],
    ) -> Self:
        """Return a loop with the given bounds and body."""
        new = cls(variable)
        new.children.extend([start, stop, step, Schedule(children=children)])
        return new

    @classmethod
    def set_loop_type_inference_rules(cls, rules: Mapping[str, Mapping[str, str]] | None) -> None:
        """Define loop types by the names of loop variables; None removes all definitions.

        Raises:
            TransformationError: `T015`, a rule is not `{"variable": name}`.
        """
        for name, rule in (rules or {}).items():
            if set(rule) != {"variable"}:
                raise refusal(f"The rule of loops of type '{name}' has no key but 'variable'.")
        Loop._types = {
            key_of(rule["variable"]): name for name, rule in (rules or {}).items()
        }  # fmt: skip

    @property
    def loop_type(self) -> str | None:
        """The loop type that the name of the variable implies, None without a matching rule."""
        return Loop._types.get(key_of(self.variable.name))

    @property
    def _do(self) -> un.Do | None:
        return self.source if isinstance(self.source, un.Do) else None

    def _shown(self) -> Iterable[LiveNode]:
        loop = self._do
        if loop is None:
            return
        step = node_of(loop.step or ex.whole(1))
        step.is_implicit = loop.step is None
        yield from (node_of(loop.start), node_of(loop.stop), step)
        yield Schedule.of_block(loop.body, self.known_nodes)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the body."""
        return self.children[3:]

    def _accepts(self, position: int, child: LiveNode) -> bool:
        kind = Schedule if position == 3 else DataNode
        return isinstance(child, kind) and position < 4 and len(self._children or ()) < 4

    def _made(self) -> un.Line:
        if len(self.children) != 4:
            raise GenerationError("A loop needs a start, a stop, a step and a body.")
        start, stop, step, body = self.children
        plain = step.is_implicit or (self._do is None and step.frozen() == ex.whole(1))
        increment = None if plain else step.frozen()
        first, last = start.frozen(), stop.frozen()
        if self._do is not None:
            name = self._do.variable
            if self._variable is not None and key_of(self._variable.name) != name.key:
                name = ex.Name(self._variable.name)
            return replace(self._do, variable=name, start=first, stop=last, step=increment,
                           body=body.block())  # fmt: skip
        if self._variable is None:
            raise GenerationError("A loop needs a variable.")
        return un.Do(ex.Name(self._variable.name), first, last, body.block(), increment)

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the node to show `line`, into which a step has transformed this loop."""
        assert isinstance(line, un.Do)
        if self.is_unseen(line):
            return
        body = self.loop_body
        body.sync(line.body, known)
        if self.source is not None and self._children is not None:
            old = self.line() if self.cached_line is not None else self.source
            assert isinstance(old, un.Do)
            if (old.start, old.stop, old.step, old.variable) != (
                line.start, line.stop, line.step, line.variable,
            ):  # fmt: skip
                self.source, self._variable = line, None
                fresh = [*self._shown()][:3]
                self._children.reset([*fresh, body])
        self.source = self.cached_line = line

    @property
    def variable(self) -> Symbol:
        """The symbol of the loop variable."""
        if self._variable is None:
            if self._do is None:
                raise GenerationError("A loop needs a variable.")
            scope = self.ancestor(Schedule)
            if scope is None:
                return Symbol(self._do.variable.text)
            self._variable = scope.symbol_table.of_name(self._do.variable)
        return self._variable

    @variable.setter
    def variable(self, new: Symbol) -> None:
        if not isinstance(new, Symbol):
            raise GenerationError(f"The variable of a loop is a symbol, not {new!r}.")
        self._variable = new
        self.touch()

    @property
    def start_expr(self) -> Any:
        """The initial value of the loop variable."""
        return self.children[0]

    @start_expr.setter
    def start_expr(self, new: DataNode) -> None:
        self.children[0] = new

    @property
    def stop_expr(self) -> Any:
        """The limit of the loop variable."""
        return self.children[1]

    @stop_expr.setter
    def stop_expr(self, new: DataNode) -> None:
        self.children[1] = new

    @property
    def step_expr(self) -> Any:
        """The increment of the loop variable."""
        return self.children[2]

    @step_expr.setter
    def step_expr(self, new: DataNode) -> None:
        self.children[2] = new

    @property
    def loop_body(self) -> Any:
        """The statements in the loop."""
        return self.children[3]


class WhileLoop(Statement):
    """A `do while` loop."""

    never_in_expressions: ClassVar[bool] = True

    def _shown(self) -> Iterable[LiveNode]:
        if isinstance(self.source, un.While):
            condition = node_of(self.source.condition or ex.logical(True))
            condition.is_implicit = self.source.condition is None
            yield condition
            yield Schedule.of_block(self.source.body, self.known_nodes)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the body."""
        return self.children[1:]

    def _accepts(self, position: int, child: LiveNode) -> bool:
        kind = Schedule if position == 1 else DataNode
        return isinstance(child, kind) and position < 2 and len(self._children or ()) < 2

    def _made(self) -> un.Line:
        condition, body = self.children
        test = None if condition.is_implicit else condition.frozen()
        if isinstance(self.source, un.While):
            return replace(self.source, condition=test, body=body.block())
        return un.While(test, body.block())

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the node to show `line`, into which a step has transformed this loop."""
        assert isinstance(line, un.While)
        if self.is_unseen(line):
            return
        self.loop_body.sync(line.body, known)
        self.source = self.cached_line = line

    @property
    def condition(self) -> Any:
        """The condition."""
        return self.children[0]

    @property
    def loop_body(self) -> Any:
        """The statements in the loop."""
        return self.children[1]


@statement_of.register
def _(line: un.Do) -> Statement:
    return Loop.of_line(line)


@statement_of.register
def _(line: un.While) -> Statement:
    return WhileLoop.of_line(line)
