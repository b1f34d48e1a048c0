"""Transformations of nodes in files without an API.

Options of a transformation become facts, and its application becomes a step of the file's
workbench. A transformation class supports nodes of files if it has a method `_on_file`, which
returns the step for a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any

from psyclone_storage.analysis.bodies.shapes import find_declaration
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive, RegionOptions, Sharing, ThreadSchedule
from psyclone_storage.ir.expr import Element, Expr, Name
from psyclone_storage.ir.facts import Fact, FactKind, Facts
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import is_named_outside
from psyclone_storage.scripting.errors import TransformationError, refusal
from psyclone_storage.scripting.psyir.calls import Call, IntrinsicCall
from psyclone_storage.scripting.psyir.choices import WhereLoop
from psyclone_storage.scripting.psyir.containers import Routine
from psyclone_storage.scripting.psyir.data import DataNode
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.session import apply_step, routine_around
from psyclone_storage.scripting.psyir.statements import Assignment, Schedule, Statement
from psyclone_storage.scripting.psyir.symbols import calling_line
from psyclone_storage.transform.file_bench import FileBench
from psyclone_storage.transform.file_blocks import AddDirective
from psyclone_storage.transform.file_statements import EditRoutine, RewriteStatement
from psyclone_storage.transform.kernel.code import ChangesCode

_ANYWHERE = frozenset(
    """allow_string allow_strings collapse enable_reductions force force_private
    ignore_dependencies_for node-type-check node_type_check nowait privatise_arrays reduction_ops
    reprod sequential verbose""".split()
)
"""Options of all transformations of loops and regions of files.

`node-type-check` and `verbose` change nothing: what a statement may do decides, whatever its class,
and the journal has the reasons. Private arrays are found without `privatise_arrays`.
"""


_NAMES_ANYTHING = regex(r"^[ \t]*(?:#|include\b)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """Request of a script to transform nodes of one routine.

    - `name`: the name of the transformation.

    - `bench`: the workbench of the file.

    - `options`: the options of the transformation.
    """

    name: str
    nodes: tuple[LiveNode, ...]
    routine: Routine
    bench: FileBench
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def loop(self) -> Loop:
        """Loop to be transformed, which must be the only node.

        Raises:
            TransformationError: `T015`, there are other nodes.
        """
        node = self.nodes[0]
        if len(self.nodes) != 1 or not isinstance(node, Loop):
            raise refusal(f"'{self.name}' takes a loop, not '{type(node).__name__}'.")
        if isinstance(node, WhereLoop) or not isinstance(node.line(), un.Do):
            raise refusal(
                f"'{self.name}' does not take a 'where', which is one statement for all elements."
            )
        return node

    @property
    def uid(self) -> str:
        """The uid of the loop."""
        loop = self.loop.line()
        assert isinstance(loop, un.Do)
        return loop.uid

    def names(self, option: str) -> tuple[str, ...]:
        """Return the names listed by an option.

        Raises:
            TransformationError: `T015`, the option is not a list of names.
        """
        value = self.options.get(option) or ()
        names = [value] if isinstance(value, str) else list(value)
        if not all(isinstance(name, str) for name in names):
            raise refusal(f"The option '{option}' of '{self.name}' is a list of names.")
        return tuple(names)

    def facts(self) -> Facts:
        """Return the facts that the options assert."""
        loops = [node.line() for node in self.nodes if isinstance(node, Loop)]
        uids = [loop.uid for loop in loops if isinstance(loop, un.Do)]
        if not uids:
            return ()
        key = self.routine.key
        kinds = (
            ("ignore_dependencies_for", FactKind.IGNORED),
            ("force_private", FactKind.PRIVATE),
        )
        found = [
            Fact(kind, self._known(name, option), key, uid, place=calling_line())
            for uid in uids
            for option, kind in kinds
            for name in self.names(option)
        ]
        if self.options.get("force"):
            place = calling_line()
            found += [Fact(FactKind.INDEPENDENT, "", key, uid, place=place) for uid in uids]
        return tuple(found)

    def _known(self, name: str, option: str) -> str:
        """Return a name used in the file; for a component, the name of its variable.

        Recipes list the names of several loops, so the name may belong to another routine.

        Raises:
            TransformationError: `T015`, no routine of the file has the name.
        """
        variable = name.partition("%")[0].strip()
        if key_of(variable) not in self.bench.names:
            message = f"The file has no variable '{variable}', which the option '{option}' of"
            hint = did_you_mean(key_of(variable), sorted(self.bench.names))
            raise refusal(f"{message} '{self.name}' lists.", hint)
        return variable

    def region(self, directive: Directive, options: RegionOptions) -> AddDirective:
        """Return the step that encloses the nodes in a directive.

        Raises:
            TransformationError: `T023`, the nodes are not neighbours.
        """
        inside = self.neighbours()
        around = (inside[0],) if len(inside) == 1 else (inside[0], inside[-1])
        key = self.routine.key
        return AddDirective(key, directive=directive, options=options, around=around)

    def neighbours(self) -> tuple[un.Line, ...]:
        """Return the statements of the nodes, with the comments between them.

        Raises:
            TransformationError: `T023`, the nodes are not neighbours.
        """
        inside = self.nodes
        if len(inside) == 1 and isinstance(inside[0], Schedule):
            inside = tuple(inside[0].children)
        nodes = [node for node in inside if isinstance(node, Statement)]
        first = nodes[0].position if nodes else 0
        following = nodes[0].siblings[first : first + len(nodes)] if nodes else []
        if len(nodes) != len(inside) or not nodes or not all(map(is_, following, nodes)):
            raise refusal(f"'{self.name}' takes statements that follow one another.")
        lines = tuple(line for node in nodes for line in node.lines())
        return lines[len(nodes[0].lead) : len(lines) - len(nodes[-1].trail)]

    def on_statement(self, step: ChangesCode, *, masked: bool = False) -> RewriteStatement:
        """Return the step that changes the code of the statement which contains the only node.

        With `masked`, the statement of an assignment in a `where` is the complete `where`.
        """
        line = self.statement()
        node: LiveNode | None = self.nodes[0] if masked else None
        while node is not None and (node := node.ancestor(WhereLoop)) is not None:
            line = node.line()
        return RewriteStatement(self.routine.key, line, step)

    def nothing(self) -> EditRoutine:
        """Return the step that changes nothing."""
        body = self.bench.code(self.routine.key).body
        return EditRoutine(self.routine.key, body, body)

    def may_be_array(self) -> bool:
        """Return whether the only node may be the name of a whole array."""
        node = self.nodes[0]
        expr = node.frozen() if isinstance(node, DataNode) else None
        if not isinstance(expr, Name):
            return not isinstance(expr, Element)
        declared = find_declaration(self.bench.code(self.routine.key), expr.text)
        return declared is None or bool(declared.shape)

    def statement(self) -> un.Line:
        """Return the statement that contains the only node.

        Raises:
            TransformationError: `T015`, there are several nodes, or they are no part of one.
        """
        node = self.nodes[0] if len(self.nodes) == 1 else None
        holder = None if node is None else node.ancestor(Statement, include_self=True)
        while isinstance(holder, LiveNode) and not _is_in_block(holder):
            holder = holder.ancestor(Statement)
        if not isinstance(holder, Statement):
            raise refusal(f"'{self.name}' takes one statement, or a part of one.")
        return holder.line()

    def called(self) -> tuple[un.Line, Expr | None]:
        """Return the statement of the only node, a call, and the reference if it is a function.

        Raises:
            TransformationError: `T015`, the node is something else.
        """
        node = self.nodes[0]
        if not isinstance(node, Call) or isinstance(node, IntrinsicCall):
            raise refusal(f"'{self.name}' takes a call of a procedure.")
        return self.statement(), None if node.is_statement else node.frozen()

    def assignment_in_loop(self) -> tuple[un.Line, un.Line]:
        """Return the loop around the only node, which has to be an assignment, and its statement.

        Raises:
            TransformationError: `T015`, the node is something else, or directly in no loop.
        """
        node = self.nodes[0]
        around = node.ancestor(Loop)
        if not isinstance(node, Assignment) or around is None or node.parent.parent is not around:
            raise refusal(f"'{self.name}' takes an assignment that is directly in a loop.")
        return around.line(), node.line()

    def is_target_used_outside(self, loop: un.Line, line: un.Line) -> bool:
        """Return whether a statement outside `loop` names the target of `line`, or may do so.

        Included lines and macros may name any variable.
        """
        if not isinstance(line, un.Assign) or not isinstance(line.target, Name):
            return True
        if _may_name_anything(self.bench.file.source):
            return True
        return is_named_outside(self.bench.code(self.routine.key).body, line.target.key, loop)

    def two_loops(self) -> tuple[un.Do, un.Do]:
        """Return two nodes, which have to be loops.

        Raises:
            TransformationError: `T015`, they are something else.
        """
        loops = [node.line() for node in self.nodes if isinstance(node, Loop)]
        found = [loop for loop in loops if isinstance(loop, un.Do)]
        if len(self.nodes) != 2 or len(found) != 2:
            raise refusal(f"'{self.name}' takes two loops.")
        return found[0], found[1]

    def loop_number(self, loop: un.Do | None = None) -> int:
        """Return the number of a loop in its routine, from 1; by default that of the only node.

        Raises:
            TransformationError: `T015`, the node is no loop.
        """
        uid = self.uid if loop is None else loop.uid
        return [one.uid for one in self.bench.loops(self.routine.key)].index(uid) + 1

    def lines(self) -> tuple[un.Line, ...]:
        """Return the statements that the nodes contain, those of a routine for that."""
        found: list[un.Line] = []
        for node in self.nodes:
            if isinstance(node, Schedule):
                found += node.block()
            elif isinstance(node, Statement):
                found += node.lines()
        return tuple(found)

    def over_loop(self, directive: Directive, options: RegionOptions) -> AddDirective:
        """Return the step that applies a directive to the loop, with the loops to collapse.

        Raises:
            TransformationError: `T015`, the node is not a loop.
        """
        options = replace(options, sums=bool(self.options.get("enable_reductions")))
        wanted = self._levels()
        step = AddDirective(self.routine.key, self.uid, directive=directive, options=options)
        if wanted == 1 and wanted is not True:
            return step
        if self.bench.check(step):
            return step
        while wanted is True or step.options.collapse < wanted:
            more = replace(step.options, collapse=step.options.collapse + 1)
            longer = replace(step, options=more)
            if self.bench.check(longer):
                break
            step = longer
        return step

    def _levels(self) -> int:
        """Return the requested number of loops to collapse; True means as many as possible.

        Raises:
            TransformationError: `T015`, the option has another value.
        """
        wanted = self.options.get("collapse")
        if wanted is None or wanted is False:
            return 1
        if isinstance(wanted, int) and wanted >= 1:
            return wanted
        message = f"The option 'collapse' of '{self.name}' is a positive integer or True"
        raise refusal(f"{message}, not {wanted!r}.")


@kept_with_first
def _may_name_anything(source: SourceText) -> bool:
    """Return whether a file has included lines or macros."""
    return _NAMES_ANYTHING.search(source.text) is not None


def _is_in_block(node: LiveNode) -> bool:
    """Return whether a node is a statement, and not a function in an expression."""
    return isinstance(node.parent, Schedule)


def thread_schedule(text: str) -> ThreadSchedule | None:
    """Return the OpenMP schedule named by `text`; None for `none`.

    Raises:
        TransformationError: `T015`, OpenMP has no such schedule.
    """
    rule, _, chunk = key_of(text).partition(",")
    if rule == "none":
        return None
    known = {one.value: one for one in Sharing}
    if rule not in known or (chunk and not chunk.strip().isdigit()):
        hint = did_you_mean(rule, known)
        raise refusal(f"OpenMP has no schedule '{text}'.", hint)
    return ThreadSchedule(known[rule], int(chunk or 0))


def live_nodes(node: object, more: Sequence[object] = ()) -> tuple[LiveNode, ...]:
    """Return the nodes of files that a transformation is applied to, nothing for others.

    Those in `more` are further arguments, as of a transformation of two loops.
    """
    nodes: tuple[Any, ...] = (node,)
    if not isinstance(node, LiveNode) and isinstance(node, Sequence):
        nodes = tuple(node)
    if not nodes or not all(isinstance(one, LiveNode) for one in nodes):
        return ()
    return (*nodes, *(one for one in more if isinstance(one, LiveNode)))


def transform_file(
    transformation: Any, nodes: tuple[LiveNode, ...], given: Mapping[str, object], *, check: bool
) -> None:
    """Apply a transformation to nodes of a file; only check it if `check` is true.

    Raises:
        TransformationError: all reasons for which it is rejected.
    """
    name = transformation.name
    _check_options(transformation, given)
    if not hasattr(transformation, "_on_file"):
        raise refusal(f"'{name}' is not supported for files without an API.")
    around = nodes[0].ancestor(Routine, include_self=True)
    if around is None and getattr(transformation, "rewrites_statement", False):
        return
    routine, bench = routine_around(around or nodes[0])
    options = {**transformation.options, **given}
    request = NodeRequest(name, nodes, routine, bench, options)
    before = bench.facts
    if facts := request.facts():
        bench.assume(*facts)
    try:
        is_done = _tried(transformation, request, check=check)
    except CompileError:
        bench.withdraw(before)
        raise
    if check or not is_done:
        bench.withdraw(before)


def _check_options(transformation: Any, given: Mapping[str, object]) -> None:
    for option in given:
        if option not in _ANYWHERE and option not in transformation.options:
            known = (*_ANYWHERE, *transformation.options)
            names = listed(sorted(known), "and")
            hint = did_you_mean(option, known) or f"The options are {names}."
            raise refusal(f"'{transformation.name}' has no option '{option}'.", hint)


def _tried(transformation: Any, request: NodeRequest, *, check: bool) -> bool:
    """Apply the step of a transformation, or only `check` it; return whether there is any to do."""
    step = transformation._on_file(request)  # noqa: SLF001  # pylint: disable=protected-access
    if isinstance(step, EditRoutine) and step.before is step.after:
        return False
    reasons = request.bench.check(step)
    # pylint: disable-next=protected-access
    if reasons and transformation._is_idle(reasons):  # noqa: SLF001
        return False
    if not check:
        apply_step(request.routine, request.bench, step)
    elif reasons:
        raise TransformationError(*reasons)
    return True


def whole_routine(request: NodeRequest) -> str:
    """Return the key of the routine of a file that a transformation is applied to.

    Raises:
        TransformationError: `T015`, the node is not a routine.
    """
    if request.nodes != (request.routine,):
        raise refusal(f"'{request.name}' takes a routine, not a part of one.")
    return request.routine.key
