"""Queries about variables in a file: accesses, dependences and data of regions.

The results come from the analyses that transformations use. Dependences that PSyclone ignores, such
as those through pointers that may alias, are reported, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from psyclone_storage.analysis.bodies.accesses import MemoryAccess, accesses_of, reads_of
from psyclone_storage.analysis.bodies.def_use import Summary, summary_of_sequence
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.verdict import Verdict
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.facts import Fact, FactKind
from psyclone_storage.ir.paths import Variable
from psyclone_storage.scripting.errors import refusal
from psyclone_storage.scripting.psyir.data import DataNode
from psyclone_storage.scripting.psyir.expressions import Signature
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.loops import Loop
from psyclone_storage.scripting.psyir.session import routine_around
from psyclone_storage.scripting.psyir.statements import Schedule, Statement
from psyclone_storage.scripting.psyir.symbols import calling_line

# ---------------------------------------------------------------------------- accesses


class AccessType(Enum):
    """The kind of an access; READWRITE for an argument that a procedure may modify."""

    READ = "read"
    WRITE = "write"
    READWRITE = "readwrite"


@dataclass(frozen=True, slots=True)
class AccessInfo:
    """One access to a variable by the statement or expression `node`."""

    access_type: AccessType
    node: LiveNode

    @property
    def is_any_write(self) -> bool:
        """Return whether the access may modify the variable."""
        return self.access_type is not AccessType.READ

    @property
    def is_any_read(self) -> bool:
        """Return whether the access may read the variable."""
        return self.access_type is not AccessType.WRITE


class AccessSequence(list[AccessInfo]):
    """The accesses to one variable, in source order."""

    def __init__(self, signature: Signature) -> None:
        super().__init__()
        self.signature = signature

    @property
    def var_name(self) -> str:
        """The name of the variable, including components."""
        return str(self.signature)

    def is_written(self) -> bool:
        """Return whether an access may modify the variable."""
        return any(one.is_any_write for one in self)

    def is_read(self) -> bool:
        """Return whether an access may read the variable."""
        return any(one.is_any_read for one in self)

    def is_written_first(self) -> bool:
        """Return whether the first access only writes."""
        return bool(self) and not self[0].is_any_read

    def all_write_accesses(self) -> list[AccessInfo]:
        """Return the accesses that may modify the variable."""
        return [one for one in self if one.is_any_write]

    def all_read_accesses(self) -> list[AccessInfo]:
        """Return the accesses that may read the variable."""
        return [one for one in self if one.is_any_read]


class VariablesAccessMap(dict[Signature, AccessSequence]):
    """The accesses to all variables, by signature."""

    @property
    def all_signatures(self) -> list[Signature]:
        """The signatures, sorted."""
        return sorted(self)

    def is_read(self, signature: Signature) -> bool:
        """Return whether a variable may be read."""
        return self[signature].is_read()

    def is_written(self, signature: Signature) -> bool:
        """Return whether a variable may be modified."""
        return self[signature].is_written()

    def add(self, found: Iterable[MemoryAccess], node: LiveNode) -> None:
        """Add the accesses of a node."""
        for one in found:
            kind = AccessType.WRITE if one.writes else AccessType.READ
            signature = Signature(one.path.variable)
            sequence = self.setdefault(signature, AccessSequence(signature))
            sequence.append(AccessInfo(kind, node))


def reference_accesses(node: LiveNode) -> VariablesAccessMap:
    """Return the accesses of a node to variables, by lower-case name.

    Raises:
        TransformationError: `T015`, the node is not in a routine of a file.
    """
    routine, bench = routine_around(node)
    names = RoutineNames(bench.code(routine.key))
    found = VariablesAccessMap()
    if isinstance(node, DataNode) and not isinstance(node.parent, Schedule):
        found.add(reads_of(node.frozen(), names), node)
        return found
    for inner in node.walk(Statement):
        if isinstance(inner.parent, Schedule):
            for line in inner.lines():
                found.add(accesses_of(line, names), inner)
    return found


LiveNode.find_accesses = staticmethod(reference_accesses)

# ---------------------------------------------------------------------------- dependences


class DTCode(Enum):
    """The kinds of messages about loops."""

    WARN_SCALAR_REDUCTION = 102
    ERROR_WRITE_WRITE_RACE = 201
    ERROR_DEPENDENCY = 202
    ERROR_UNKNOWN = 299


@dataclass(frozen=True, slots=True)
class Message:
    """A reason why the iterations of a loop depend on each other."""

    text: str
    code: DTCode
    var_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the text with the number of its kind."""
        return f"{self.text} ({self.code.value})"


class DependencyTools:
    """Queries about dependences between the iterations of loops."""

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore PSyclone's options: the analysis needs none."""
        self._messages: list[Message] = []

    def get_all_messages(self) -> list[Message]:
        """Return the messages about the last analysed loop."""
        return list(self._messages)

    def can_loop_be_parallelised(
        self,
        loop: Loop,
        test_all_variables: bool = False,
        signatures_to_ignore: Sequence[Signature] | None = None,
    ) -> bool:
        """Return whether the iterations of a loop are independent; always tests all variables.

        Scalars that can be privatised do not matter. A reduction counts as a dependence, because it
        is unknown whether the script will add a reduction clause.

        Raises:
            TransformationError: `T015`, `loop` is not a loop of a routine.
        """
        if not isinstance(loop, Loop):
            raise refusal(f"A '{type(loop).__name__}' is no loop.")
        routine, bench = routine_around(loop)
        line = loop.line()
        if not isinstance(line, un.Do):
            raise refusal("A 'where' is no loop with iterations.")
        before = bench.facts
        ignored = [one[0] for one in signatures_to_ignore or ()]
        place = calling_line()
        bench.assume(
            *(Fact(FactKind.IGNORED, one, routine.key, line.uid, place=place) for one in ignored)
        )
        verdict = bench.verdict(routine.key, line.uid)
        bench.withdraw(before)
        self._messages = list(_messages(verdict))
        return not self._messages


def _messages(verdict: Verdict) -> Iterator[Message]:
    pairs = {pair.first.variable[0]: pair for pair in verdict.blocking}
    for reason in verdict.reasons:
        named = [name for name in pairs if f"'{name}" in reason.message]
        code = DTCode.ERROR_UNKNOWN
        if named:
            is_race = pairs[named[0]].second.writes
            code = DTCode.ERROR_WRITE_WRITE_RACE if is_race else DTCode.ERROR_DEPENDENCY
        yield Message(reason.message, code, tuple(named))
    if not verdict.reasons:
        for name, _ in verdict.clauses.operations:
            text = f"Variable '{name}' is the result of a reduction."
            yield Message(text, DTCode.WARN_SCALAR_REDUCTION, (name,))


# ---------------------------------------------------------------------------- regions


class ReadWriteInfo:
    """The variables that a region reads from outside, and those that it may modify."""

    def __init__(self, read: Iterable[Variable] = (), written: Iterable[Variable] = ()) -> None:
        self.read_list = [("", Signature(one)) for one in sorted(read)]
        self.write_list = [("", Signature(one)) for one in sorted(written)]

    @property
    def signatures_read(self) -> list[Signature]:
        """The signatures of the variables that the region reads."""
        return [signature for _, signature in self.read_list]

    @property
    def signatures_written(self) -> list[Signature]:
        """The signatures of the variables that the region may modify."""
        return [signature for _, signature in self.write_list]

    def is_read(self, signature: Signature) -> bool:
        """Return whether the region reads a variable."""
        return signature in self.signatures_read


class CallTreeUtils:
    """Queries about the data of regions."""

    def get_in_out_parameters(self, node_list: Any, **_: object) -> ReadWriteInfo:
        """Return the variables that consecutive nodes read before writing, or may modify.

        Raises:
            TransformationError: `T015`, the nodes are not statements of a routine.
        """
        given = [node_list] if isinstance(node_list, LiveNode) else list(node_list)
        nodes = [one for one in given if isinstance(one, Statement)]
        if not nodes or len(nodes) < len(given):
            raise refusal("Statements are needed to find what they read and change.")
        routine, bench = routine_around(nodes[0])
        wanted = {id(line) for node in nodes for line in node.lines()}
        flow = bench.flow(routine.key)
        parts: list[Summary] = []
        stop = 0
        for node in flow.nodes:
            if id(node.line) in wanted and node.number >= stop:
                parts.append(flow.summaries[node.number - 1])
                stop = node.stop
        total = summary_of_sequence(parts)
        return ReadWriteInfo(total.exposed, total.written)

    def get_input_parameters(self, node_list: Any, **_: object) -> list[Signature]:
        """Return the variables that consecutive nodes read before writing them."""
        return self.get_in_out_parameters(node_list).signatures_read

    def get_output_parameters(self, node_list: Any, **_: object) -> list[Signature]:
        """Return the variables that consecutive nodes may modify."""
        return self.get_in_out_parameters(node_list).signatures_written
