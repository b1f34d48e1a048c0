"""Questions about the data of a file's nodes: accesses, dependences, and data of regions.

The answers come from the analyses that transformations use. A dependence that PSyclone overlooks,
as of pointers that may alias, is reported.
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
    """Kind of an access; a procedure that may change an argument has READWRITE access."""

    READ = "read"
    WRITE = "write"
    READWRITE = "readwrite"


@dataclass(frozen=True, slots=True)
class AccessInfo:
    """Access of the statement or expression `node` to a variable."""

    access_type: AccessType
    node: LiveNode

    @property
    def is_any_write(self) -> bool:
        """Return whether it may change the variable."""
        return self.access_type is not AccessType.READ

    @property
    def is_any_read(self) -> bool:
        """Return whether it may read the variable."""
        return self.access_type is not AccessType.WRITE


class AccessSequence(list[AccessInfo]):
    """The accesses to one variable, in the order of the text."""

    def __init__(self, signature: Signature) -> None:
        super().__init__()
        self.signature = signature

    @property
    def var_name(self) -> str:
        """The name of the variable, with its components."""
        return str(self.signature)

    def is_written(self) -> bool:
        """Return whether an access may change the variable."""
        return any(one.is_any_write for one in self)

    def is_read(self) -> bool:
        """Return whether an access may read the variable."""
        return any(one.is_any_read for one in self)

    def is_written_first(self) -> bool:
        """Return whether the first access only changes the variable."""
        return bool(self) and not self[0].is_any_read

    def all_write_accesses(self) -> list[AccessInfo]:
        """Return the accesses that may change the variable."""
        return [one for one in self if one.is_any_write]

    def all_read_accesses(self) -> list[AccessInfo]:
        """Return the accesses that may read the variable."""
        return [one for one in self if one.is_any_read]


class VariablesAccessMap(dict[Signature, AccessSequence]):
    """The accesses to all variables, by their signatures."""

    @property
    def all_signatures(self) -> list[Signature]:
        """The signatures, sorted."""
        return sorted(self)

    def is_read(self, signature: Signature) -> bool:
        """Return whether a variable may be read."""
        return self[signature].is_read()

    def is_written(self, signature: Signature) -> bool:
        """Return whether a variable may be changed."""
        return self[signature].is_written()

    def add(self, found: Iterable[MemoryAccess], node: LiveNode) -> None:
        """Add the accesses of a node."""
        for one in found:
            kind = AccessType.WRITE if one.writes else AccessType.READ
            signature = Signature(one.path.variable)
            sequence = self.setdefault(signature, AccessSequence(signature))
            sequence.append(AccessInfo(kind, node))


def reference_accesses(node: LiveNode) -> VariablesAccessMap:
    """Return the accesses of a node of a routine to variables, by names in lower case.

    Raises:
        TransformationError: `T015`, the node is in no routine of a file.
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
    """Kinds of messages about loops."""

    WARN_SCALAR_REDUCTION = 102
    ERROR_WRITE_WRITE_RACE = 201
    ERROR_DEPENDENCY = 202
    ERROR_UNKNOWN = 299


@dataclass(frozen=True, slots=True)
class Message:
    """Reason why the iterations of a loop depend on each other."""

    text: str
    code: DTCode
    var_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the reason with its number."""
        return f"{self.text} ({self.code.value})"


class DependencyTools:
    """Questions about dependences between the iterations of loops."""

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore PSyclone's options: the analysis needs none."""
        self._messages: list[Message] = []

    def get_all_messages(self) -> list[Message]:
        """Return the reasons against the last loop."""
        return list(self._messages)

    def can_loop_be_parallelised(
        self,
        loop: Loop,
        test_all_variables: bool = False,
        signatures_to_ignore: Sequence[Signature] | None = None,
    ) -> bool:
        """Return whether the iterations of a loop are independent; all variables are tested.

        Scalars that need a private copy do not matter. A reduction is a dependence here, since its
        clause is not known to be written.

        Raises:
            TransformationError: `T015`, `loop` is no loop of a routine.
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
    """The variables that a region reads from outside, and those that it may change."""

    def __init__(self, read: Iterable[Variable] = (), written: Iterable[Variable] = ()) -> None:
        self.read_list = [("", Signature(one)) for one in sorted(read)]
        self.write_list = [("", Signature(one)) for one in sorted(written)]

    @property
    def signatures_read(self) -> list[Signature]:
        """The signatures of the variables that the region reads."""
        return [signature for _, signature in self.read_list]

    @property
    def signatures_written(self) -> list[Signature]:
        """The signatures of the variables that the region may change."""
        return [signature for _, signature in self.write_list]

    def is_read(self, signature: Signature) -> bool:
        """Return whether the region reads a variable."""
        return signature in self.signatures_read


class CallTreeUtils:
    """Questions about the data of regions."""

    def get_in_out_parameters(self, node_list: Any, **_: object) -> ReadWriteInfo:
        """Return what neighbouring nodes read before they set it, and what they may change.

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
        """Return what neighbouring nodes read before they set it."""
        return self.get_in_out_parameters(node_list).signatures_read

    def get_output_parameters(self, node_list: Any, **_: object) -> list[Signature]:
        """Return what neighbouring nodes may change."""
        return self.get_in_out_parameters(node_list).signatures_written
