"""Reads the procedures of a call tree as steps on host and device, for transfer plans.

A device region is a block of statements with an OpenACC or OpenMP directive, by a recipe or by the
author. Only arrays of intrinsic types are planned that are neither pointers nor targets. For other
data, and for arrays in `left_out`, regions copy what they need, as without a plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.array_uses import ArrayUse
from psyclone_storage.analysis.bodies.effects import ProcedureCall, call_sites
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import (
    ChoiceStep,
    CopyUse,
    JumpStep,
    Passed,
    ProcedureName,
    ProgramArray,
    ProgramCall,
    ProgramProcedure,
    ProgramStep,
    RepeatStep,
    StepSequence,
    WorkStep,
)
from psyclone_storage.ir.facts import FactKind
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import (
    blocks_of,
    expressions_of,
    first_words,
    place_of_line,
    walk_lines,
)
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.types import ScalarType
from psyclone_storage.pipeline.program_regions import (
    all_groups,
    copies_private,
    groups,
    host_lines,
    is_asynchronous,
    is_end,
    private_names,
    region_kind,
)
from psyclone_storage.pipeline.program_shapes import ArgumentShapes, value_of_argument
from psyclone_storage.pipeline.program_uses import ProgramUses, home_module, keeps_values

_STRUCTURE = (un.If, un.Select, un.Return, un.Exit, un.Cycle, un.Goto, un.Label)
"""Statements that are never one step: transfers are possible in branches."""
_DIRECTIVE = regex(r"!\$(?:acc|omp\s+target)")
_IF = regex(r"\bif\s*\(")
_NOT_PLANNED = {
    "pointer": "it is a pointer",
    "target": "it is a target, which a pointer may change",
    "volatile": "it is volatile",
    "asynchronous": "it is asynchronous",
    "optional": "it may be absent",
    "save": "it keeps its value between calls",
}


_Allocation = tuple[un.Allocate | un.Deallocate, tuple[tuple[str, ProgramArray], ...]]
"""A statement with the planned arrays that it allocates or deallocates, and their names there."""


@dataclass(frozen=True, slots=True)
class TreeProblem:
    """A reason why a procedure cannot be planned, with its place."""

    procedure: ProcedureName
    reason: str
    place: Span | None


class _UnplannedError(Exception):
    """A statement in a procedure with device regions is not understood."""

    def __init__(self, reason: str, place: Span | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


@dataclass(slots=True)
class ProgramTree:
    """The procedures of a call tree, callers first, with reasons for what is not planned.

    Those in `finished` are in other files; only their contracts are known. `pointed` are the names
    of arrays that pointers may denote, None if these are not known. `temporary` are arguments that
    may be no planned arrays, with reasons: without copies, transfers have no effect.
    """

    uses: ProgramUses
    finished: Mapping[ProcedureName, ProgramProcedure] = field(default_factory=dict)
    pointed: frozenset[str] | None = None
    procedures: dict[ProcedureName, ProgramProcedure] = field(default_factory=dict)
    left_out: dict[ProgramArray, str] = field(default_factory=dict)
    temporary: dict[ProgramArray, str] = field(default_factory=dict)
    problems: list[TreeProblem] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    allocated: dict[ProcedureName, list[_Allocation]] = field(default_factory=dict)
    root: ProcedureName | None = None
    _relevant: dict[ProcedureName, bool] = field(default_factory=dict)

    def read(self, *roots: ProcedureName) -> None:
        """Read procedures, and those that they call and that have device regions."""
        order: list[ProcedureName] = []
        for root in roots:
            self._visit(root, order, set())
        known, self.procedures = self.procedures, dict(self.procedures)
        new: dict[ProcedureName, ProgramProcedure] = {}
        for name in order:
            try:
                new[name] = self.procedures[name] = _ProcedureReader(self, name).procedure()
            except _UnplannedError as error:
                self.problems.append(TreeProblem(name, error.reason, error.place))
        self.procedures = {**dict(reversed(new.items())), **known}

    def close(self, name: ProcedureName) -> None:
        """Treat a procedure as host code for its callers.

        Its data are valid on the host at its entry and at its exit, and it deletes its copies.
        """
        self._relevant[name] = False

    def note_allocations(self, names: Iterable[ProcedureName]) -> None:
        """Note the statements of procedures that allocate or deallocate planned arrays."""
        for name in names:
            reader = _ProcedureReader(self, name)
            for line in walk_lines(self.uses.code(name).body):
                if isinstance(line, un.Allocate | un.Deallocate) and (data := reader.data_of(line)):
                    self.allocated.setdefault(name, []).append((line, data))

    def _visit(
        self, name: ProcedureName, order: list[ProcedureName], active: set[ProcedureName]
    ) -> None:
        """Add a procedure after those that it calls."""
        if name in self.finished or name in self.procedures:
            return
        if name in active:
            place = self.uses.procedures[name].place
            self.problems.append(TreeProblem(name, "it is recursive", place))
            return
        if name in order:
            return
        active.add(name)
        for inner in self.called_by(name):
            if self.is_relevant(inner):
                self._visit(inner, order, active)
        active.remove(name)
        order.append(name)

    def called_by(self, name: ProcedureName) -> tuple[ProcedureName, ...]:
        """Return the procedures that host statements of a procedure call."""
        code = self.uses.code(name)
        found: dict[ProcedureName, None] = {}
        for call in call_sites(host_lines(code.body), code):
            found |= dict.fromkeys(self.uses.called(call, code))
        return tuple(found)

    def uses_device(self, name: ProcedureName) -> Iterator[bool]:
        """Yield, for each host statement, whether it calls a procedure that uses the device.

        The called procedure is not in the program.
        """
        code = self.uses.code(name)
        return (self.uses.is_on_device(line, code) for line in host_lines(code.body))

    def is_relevant(self, name: ProcedureName) -> bool:
        """Return whether a procedure uses the device, also in procedures that it calls."""
        if name in self.finished:
            return True
        if name not in self._relevant:
            self._relevant[name] = False
            code = self.uses.code(name)
            inner = "" if code.internal is None else key_of(code.internal.text)
            own = any(is_region for is_region, _ in all_groups(code.body))
            own = own or bool(_DIRECTIVE.search(inner)) or any(self.uses_device(name))
            self._relevant[name] = own or any(map(self.is_relevant, self.called_by(name)))
        return self._relevant[name]


class _ProcedureReader:
    """Reads one procedure."""

    def __init__(self, tree: ProgramTree, name: ProcedureName) -> None:
        self._tree = tree
        self._name = name
        self._code = tree.uses.code(name)
        self._names = RoutineNames(self._code)
        self._shapes = ArgumentShapes(tree.uses, self._code)
        self._loops: list[tuple[str, un.Line]] = []

    def procedure(self) -> ProgramProcedure:
        """Return the steps of the procedure.

        Raises:
            _UnplannedError: a statement that matters is not understood.
        """
        body = self._sequence(self._code.body, None, 0)
        local, fresh, kept = set[ProgramArray](), set[ProgramArray](), set[ProgramArray]()
        for datum in body.data:
            if datum.procedure:
                item = self._code.declared(datum.name)
                is_dummy = datum.name in self._code.dummy_keys
                if datum.name == key_of(self._code.result):
                    fresh.add(datum)
                elif not is_dummy:
                    (local if item is None or item.value is None else kept).add(datum)
                elif item is not None and "intent(out)" in item.words:
                    fresh.add(datum)
        left = frozenset(local | kept)
        scattered = frozenset(one for one in body.data if self._may_have_gaps(one))
        return ProgramProcedure(
            self._name, body, frozenset(local | fresh), left, scattered=scattered
        )

    def _may_have_gaps(self, datum: ProgramArray) -> bool:
        """Return whether an array is an argument that may not be contiguous in memory."""
        item = self._code.declared(datum.name) if datum.procedure else None
        if item is None or datum.name not in self._code.dummy_keys:
            return False
        return (
            isinstance(item.shape[0], ex.Range)
            and item.shape[0].upper is None
            and ("contiguous" not in item.words)
        )

    # ------------------------------------------------------------------------ statements

    def _sequence(self, lines: tuple[un.Line, ...], owner: un.Line | None, at: int) -> StepSequence:
        steps: list[ProgramStep] = []
        for is_region, group in groups(lines):
            if is_region:
                steps.append(self._region(group))
            else:
                steps += self._statement(group[0])
        return StepSequence(tuple(steps), owner, at)

    def _region(self, group: tuple[un.Line, ...]) -> WorkStep:
        head = group[0]
        self._check_region(group)
        private = frozenset[str]()
        for line in walk_lines(group):
            own = private_names(line)
            if line is head and not copies_private(line):
                private = own
            else:
                for key in own:
                    if self.is_planned(key):
                        datum = self._tree.uses.datum(key, self._code)
                        self._tree.left_out.setdefault(datum, "it is private in a part of a region")
        uses = self._uses(group, private, on_device=True)
        return WorkStep(Side.DEVICE, uses, group[0], _place(group))

    def _check_region(self, group: tuple[un.Line, ...]) -> None:
        """Check that a region always runs on the device, and that the host waits for it.

        Raises:
            _UnplannedError: it does not, or its end is not found.
        """
        head, place = group[0], _place(group)
        if any(map(is_asynchronous, walk_lines(group))):
            raise _UnplannedError("a region is asynchronous", place)
        if isinstance(head, un.DirectiveBlock):
            may_stay = head.condition is not None
        else:
            may_stay = isinstance(head, un.DirectiveLine) and bool(_IF.search(key_of(head.text)))
            done = [one for one in group if not isinstance(one, un.Comment | un.Blank)]
            if not (is_end(done[-1]) or isinstance(done[-1], un.Do)):
                raise _UnplannedError("the end of a region is not found", place)
        if may_stay:
            raise _UnplannedError("a region may run on the host", place)

    def _statement(self, line: un.Line) -> Iterator[ProgramStep]:
        if not self._matters(line):
            uses = self._uses((line,), frozenset())
            if self._is_undefined_after(line):
                assert isinstance(line, un.Allocate | un.Deallocate)
                uses |= {one: replace(uses[one], undefined=True) for _, one in self.data_of(line)
                         if not uses[one].needs}  # fmt: skip
            if uses:
                yield WorkStep(Side.HOST, uses, line, place_of_line(line))
            return
        place = place_of_line(line)
        match line:
            case un.Call():
                yield from self._call(line)
            case un.If(branches, otherwise):
                yield from self._reads(line)
                inner = [self._sequence(one.body, line, at) for at, one in enumerate(branches)]
                if otherwise:
                    inner.append(self._sequence(otherwise, line, len(branches)))
                yield ChoiceStep(tuple(inner), bool(otherwise), line, place)
            case un.Select(cases=cases):
                yield from self._reads(line)
                inner = [self._sequence(one.body, line, at + 1) for at, one in enumerate(cases)]
                default = any(not one.guards for one in cases)
                yield ChoiceStep(tuple(inner), default, line, place)
            case un.Do(body=body, name=name):
                yield from self._reads(line)
                self._loops.append((key_of(name), line))
                yield RepeatStep(self._sequence(body, line, 0), line, place)
                self._loops.pop()
            case un.While(body=body, name=name):
                reads = tuple(self._reads(line))
                yield from reads
                self._loops.append((key_of(name), line))
                inside = self._sequence(body, line, 0)
                self._loops.pop()
                again = tuple(WorkStep(Side.HOST, one.uses, None, one.place) for one in reads)
                steps = (*inside.steps, *again)
                yield RepeatStep(StepSequence(steps, line, 0), line, place)
            case un.Return():
                yield JumpStep(line=line, place=place)
            case un.Exit() | un.Cycle():
                yield from self._jump(line)
            case _:
                raise _UnplannedError(_why_not(line), place)

    def _jump(self, line: un.Exit | un.Cycle) -> Iterator[ProgramStep]:
        """Yield a jump; before the next iteration, the condition of a `do while` is read again."""
        place = place_of_line(line)
        loop = self._loop(key_of(line.name) if line.name else "", place)
        again = isinstance(line, un.Cycle)
        if again and isinstance(loop, un.While):
            for one in self._reads(loop):
                yield WorkStep(Side.HOST, one.uses, line, place)
        yield JumpStep(loop, again, line, place)

    def _is_undefined_after(self, line: un.Line) -> bool:
        """Return whether arrays that a statement allocates or deallocates have no values after it.

        Some programs read elements that they never write. Therefore a new array has values if that
        costs only one transfer: if the root allocates it outside loops.
        """
        if isinstance(line, un.Allocate) and not keeps_values(line):
            return bool(self._loops) or self._name != self._tree.root
        return isinstance(line, un.Deallocate)

    def _loop(self, name: str, place: Span | None) -> un.Line:
        for own, line in reversed(self._loops):
            if not name or own == name:
                return line
        raise _UnplannedError("it jumps out of a construct that is not a loop", place)

    def _matters(self, line: un.Line) -> bool:
        """Return whether a statement consists of several steps, or jumps."""
        if isinstance(line, un.Call):
            names = self._tree.uses.called(ProcedureCall(line.procedure, line.args), self._code)
            on_device = self._tree.uses.is_on_device(line, self._code)
            return on_device or any(map(self._tree.is_relevant, names))
        if isinstance(line, _STRUCTURE):
            return True
        if isinstance(line, un.Do | un.While) and not self._leaves(line):
            return any(self._is_relevant_inside(one) for one in walk_lines(line.body))
        return any(
            is_region or any(self._matters(one) for one in group)
            for block in blocks_of(line)
            for is_region, group in groups(block)
        )

    def _is_relevant_inside(self, line: un.Line) -> bool:
        if isinstance(line, un.Call):
            return self._matters(line)
        return region_kind(line) != ""

    def _leaves(self, loop: un.Do | un.While) -> bool:
        """Return whether a loop contains a jump out of it."""
        own = {key_of(one.name) for one in walk_lines((loop,)) if isinstance(one, un.Do | un.While)}
        for line in walk_lines(loop.body):
            if isinstance(line, un.Return | un.Goto | un.Label):
                return True
            if isinstance(line, un.Exit | un.Cycle) and line.name and key_of(line.name) not in own:
                return True
        return False

    def _reads(self, line: un.Line) -> Iterator[WorkStep]:
        """Yield the reads of the conditions and bounds of a construct."""
        values = tuple(expressions_of(line))
        output = un.InputOutput("write", (ex.Star(),), values)
        if uses := self._uses((output,), frozenset()):
            yield WorkStep(Side.HOST, uses, line, place_of_line(line))

    # ------------------------------------------------------------------------ uses

    def _uses(
        self, lines: tuple[un.Line, ...], private: frozenset[str], *, on_device: bool = False
    ) -> dict[ProgramArray, CopyUse]:
        """Return the uses of the planned arrays by statements, including those by calls."""
        found: dict[ProgramArray, CopyUse] = {}
        unwritten = on_device and FactKind.UNWRITTEN_UNUSED in self._tree.uses.assumed
        for variable, use in self._tree.uses.uses_of_lines(self._code, lines).items():
            key = variable[0]
            if key not in private and self.is_planned(key):
                datum = self._tree.uses.datum(key, self._code)
                # `z%re` is a part of `z`.
                whole = len(variable) == 1 and self._tree.uses.has_fixed_shape(key, self._code)
                own = _use(use if whole else _uncovered(use), unwritten=unwritten)
                found[datum] = found[datum].joined(own) if datum in found else own
        shared, unknown = self._tree.uses.shared_by_calls(self._code, walk_lines(lines))
        self._tree.unknown |= unknown
        for datum, use in shared.items():
            own = _use(use, unwritten=unwritten)
            found[datum] = found[datum].joined(own) if datum in found else own
        return found

    def is_planned(self, key: str) -> bool:
        """Return whether a name denotes an array of an intrinsic type; note why it is left out."""
        item = self._names.declaration((key,))
        if item is None or not item.shape or "parameter" in item.words:
            return False
        datum = self._tree.uses.datum(key, self._code)
        pointed = self._tree.pointed
        is_free = pointed is not None and not pointed & {key, datum.name}
        is_free = is_free and not (key in self._code.dummy_keys and self._name == self._tree.root)
        words = item.words - {"target"} if is_free else item.words
        if self._name != self._tree.root:
            words -= {"optional"}
        reason = next((why for word, why in _NOT_PLANNED.items() if word in words), "")
        if not isinstance(item.type, ScalarType):
            return False
        if key in self._names.aliases or key in self._names.unclear:
            reason = "other statements may change its meaning"
        if key in self._code.dummy_keys and self._tree.uses.may_allocate(self._name, key):
            reason = "it may be allocated here"
        if isinstance(item.shape[-1], ex.Star):
            reason = "its size is not known"
        if item.value is not None and datum.procedure:
            reason = _NOT_PLANNED["save"]
        once = not datum.procedure or self._code.kind is ScopeKind.PROGRAM
        if reason == _NOT_PLANNED["save"] and once:
            reason = ""
        if reason:
            self._tree.left_out.setdefault(datum, reason)
        return True

    def data_of(self, line: un.Allocate | un.Deallocate) -> tuple[tuple[str, ProgramArray], ...]:
        """Return the planned arrays that a statement allocates or deallocates, with their names."""
        paths = filter(None, map(path_of, line.arrays))
        keys = (path.root for path in paths if len(path.variable) == 1)
        return tuple((key, self._tree.uses.datum(key, self._code)) for key in keys
                     if self.is_planned(key))  # fmt: skip

    def _call(self, line: un.Call) -> Iterator[ProgramStep]:
        place = place_of_line(line)
        names = self._tree.uses.called(ProcedureCall(line.procedure, line.args), self._code)
        passed = tuple((*self._passed(line, name), *self._shared(name)) for name in names)
        for each in passed:
            self._leave_out_overlaps(each)
        read: list[ex.Expr] = []
        given: list[ex.Expr] = []
        for value in map(value_of_argument, line.args):
            path = path_of(value)
            if path is not None and self.is_planned(path.root):
                read += path.subscripts
                given.append(value)
                if names and len(path.variable) > 1:
                    outer = self._tree.uses.datum(path.root, self._code)
                    self._tree.left_out.setdefault(outer, f"'{ex.spell(value)}' is passed")
                if not names and self._shapes.is_discontiguous(path):
                    outer = self._tree.uses.datum(path.root, self._code)
                    why = "a copy of a section of it may be passed to a procedure"
                    self._tree.left_out.setdefault(outer, why)
            else:
                read.append(value)
        output = un.InputOutput("write", (ex.Star(),), tuple(read))
        if read and (uses := self._uses((output,), frozenset())):
            yield WorkStep(Side.HOST, uses, line, place)
        if names:
            yield ProgramCall(names, passed, line, place)
        elif given:
            uses = self._uses((replace(line, args=tuple(given)),), frozenset())
            yield WorkStep(Side.DEVICE, uses, line, place)

    def _passed(self, line: un.Call, name: ProcedureName) -> Iterator[Passed]:
        own = self._tree.uses.code(name)
        reader = _ProcedureReader(self._tree, name)
        for at, arg in enumerate(line.args):
            key = own.dummy_keys[at] if at < len(own.dummy_keys) else ""
            key = arg.key if isinstance(arg, ex.Keyword) else key
            inner = ProgramArray(home_module(own), own.key, key)
            value, path = value_of_argument(arg), path_of(value_of_argument(arg))
            is_array = path is not None and len(path.variable) == 1 and self.is_planned(path.root)
            if not is_array or path is None:
                if name not in self._tree.finished and reader.is_planned(key):
                    self._tree.temporary.setdefault(inner, f"'{ex.spell(value)}' is passed as it")
                continue
            outer = self._tree.uses.datum(path.root, self._code)
            if not reader.is_planned(key):
                why = f"it is passed to '{name}' as an argument that is no array"
                self._tree.left_out.setdefault(outer, why)
                continue
            if self._shapes.may_be_copied(path, own, key):
                why = f"a copy of it may be passed to '{name}'"
                self._tree.left_out.setdefault(outer, why)
            whole = isinstance(value, ex.Name) or path.is_whole
            whole = whole and self._shapes.are_equal(line, own, key, path.root)
            yield Passed(inner, outer, whole)

    def _leave_out_overlaps(self, passed: Iterable[Passed]) -> None:
        """Leave out arrays that a procedure knows as a whole and, by another name, in part."""
        wholes: dict[ProgramArray, bool] = {}
        for one in passed:
            if wholes.setdefault(one.outer, one.whole) is not one.whole:
                why = "a procedure knows it as a whole and, by another name, in part"
                self._tree.left_out.setdefault(one.outer, why)

    def _shared(self, name: ProcedureName) -> Iterator[Passed]:
        """Yield the variables of modules that a called procedure uses."""
        known = self._tree.finished.get(name) or self._tree.procedures.get(name)
        for datum in () if known is None else sorted(known.data):
            if not datum.procedure:
                yield Passed(datum, datum)


def _why_not(line: un.Line) -> str:
    """Return why a statement with several steps cannot be planned."""
    if isinstance(line, un.Label):
        return f"other statements may jump to label {line.number}"
    if isinstance(line, un.Conditional):
        return f"'{first_words(line)}' selects statements (preprocess the file first)"
    return f"'{first_words(line)}' is not understood"


def _uncovered(use: ArrayUse) -> ArrayUse:
    return ArrayUse(use.exposed, use.written)


def _use(use: ArrayUse, *, unwritten: bool) -> CopyUse:
    return CopyUse(use.exposed or (use.written and not use.covered and not unwritten), use.written)


def _place(group: tuple[un.Line, ...]) -> Span | None:
    return next(filter(None, map(place_of_line, walk_lines(group))), None)
