"""The workbench: a schedule under transformation, the only mutable object of the compiler.

For each step, the workbench checks and applies it, derives exchanges and transfers again, checks
legality and structure of the result, and records it. Steps that need kernel code find it in the
calls. If threads come to share kernels, the workbench checks the state that these keep between
calls.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.ir.keys import keys_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.rules import KernelSource, Rules, SharedProcedure
from psyclone_storage.ir.schedule import KernelCall, Schedule, Statement
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import find, kernel_calls, place_near, replaced
from psyclone_storage.transform.halos import keeps_plan
from psyclone_storage.transform.kernel.state import check_shared_state
from psyclone_storage.transform.legality import (
    check_constructs,
    check_flights,
    check_point_reductions,
)
from psyclone_storage.transform.step import (
    Step,
    check_present,
    needs_code,
    shares_calls,
)
from psyclone_storage.transform.transfers import with_derived

_Codes = Mapping[str, tuple[Routine, ...]]
"""The subroutines behind calls, by the uid of the call."""


Tree = TypeVar("Tree")
StepOf = TypeVar("StepOf", bound="NamedStep")


class NamedStep(Protocol):
    """A step of any kind; `name` is its command-line name."""

    @property
    def name(self) -> str:
        """The name."""


@dataclass(frozen=True, slots=True)
class Applied(Generic[Tree, StepOf]):
    """An applied step and the tree before it, which allows undo."""

    step: StepOf
    before: Tree


@dataclass(frozen=True, slots=True)
class JournalEntry(Generic[Tree, StepOf]):
    """A requested step: the trees before and after it, or the diagnostics against it."""

    step: StepOf
    before: Tree
    after: Tree | None
    reasons: Reasons = ()
    undone: bool = False


@dataclass(frozen=True, slots=True)
class _TriedStep(Generic[Tree, StepOf]):
    """A step, the tree on which it was tried, and the result."""

    step: StepOf
    before: Tree
    after: Tree
    reasons: Reasons


class Bench(ABC, Generic[Tree, StepOf]):
    """A tree with the steps applied to it so far.

    Subclasses provide `attempt`, which checks a step and returns the changed tree.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._history: list[Applied[Tree, StepOf]] = []
        self._last: _TriedStep[Tree, StepOf] | None = None

    @property
    def history(self) -> tuple[Applied[Tree, StepOf], ...]:
        """The steps applied so far and not undone, in order."""
        return tuple(self._history)

    @abstractmethod
    def attempt(self, step: StepOf) -> tuple[Tree, Reasons]:
        """Return the result of `step` on the current tree, or the diagnostics against it."""

    @abstractmethod
    def verify(self, tree: Tree) -> Reasons:
        """Return diagnostics for an invalid tree after any step."""

    @abstractmethod
    def note(self, entry: JournalEntry[Tree, StepOf]) -> None:
        """Record a requested step."""

    def check(self, step: StepOf) -> Reasons:
        """Return diagnostics if `step` is illegal; empty if it can be applied."""
        return self._tried(step)[1]

    def apply(self, step: StepOf) -> Tree:
        """Apply `step` with all derived changes, and return the new tree.

        Raises:
            CompileError: the diagnostics against the step; the tree is unchanged.
            InternalError: the step produced an invalid tree.
        """
        after, reasons = self._tried(step)
        self.note(JournalEntry(step, self._tree, None if reasons else after, reasons))
        if reasons:
            raise CompileError(*reasons)
        if problems := self.verify(after):
            raise InternalError(f"'{step.name}' broke the tree: {problems[0].message}")
        self._history.append(Applied(step, self._tree))
        self._tree = after
        return after

    def undo(self) -> Tree:
        """Undo the last step and return the tree before it.

        Raises:
            CompileError: `T009`, there is nothing to undo.
        """
        if not self._history:
            raise CompileError(Diagnostic("T009", "There is no step to undo.", self.place))
        last = self._history.pop()
        self.note(JournalEntry(last.step, self._tree, last.before, undone=True))
        self._tree = last.before
        return self._tree

    @property
    def place(self) -> Span | None:
        """The position for diagnostics without one."""
        return None

    def _tried(self, step: StepOf) -> tuple[Tree, Reasons]:
        """Return the result of `step` on the tree, and the diagnostics against it.

        The last result is cached, because callers usually check a step before applying it.
        """
        kept = self._last
        if kept is None or kept.before is not self._tree or kept.step != step:
            kept = self._last = _TriedStep(step, self._tree, *self.attempt(step))
        return kept.after, kept.reasons


Journal = dict[str, list[JournalEntry[Schedule, Step]]]
"""What was asked for in each invoke, in order, by the invoke's name."""


class Workbench(Bench[Schedule, Step]):
    """A schedule with planned exchanges, and the steps applied to it so far.

    `source` provides the code of kernels; without it no step may request it. `journal` records each
    requested step.
    """

    def __init__(
        self,
        schedule: Schedule,
        rules: Rules,
        source: KernelSource | None = None,
        journal: Journal | None = None,
    ) -> None:
        super().__init__(schedule)
        self._journal = journal
        self._rules = rules
        self._source = source
        self._planned: bool | None = None

    @property
    def schedule(self) -> Schedule:
        """The current schedule."""
        return self._tree

    @property
    def rules(self) -> Rules:
        """The domain's rules for loops."""
        return self._rules

    @property
    def place(self) -> Span | None:
        """The position of the invoke."""
        return place_near(self._tree, "")

    def __getitem__(self, uid: str) -> Statement:
        """Return the statement `uid`.

        Raises:
            CompileError: `T003`, there is no such statement; `T008`, a step has removed it.
        """
        if (found := find(self._tree, uid)) is not None:
            return found
        for applied in reversed(self._history):
            if find(applied.before, uid) is not None:
                message = f"'{uid}' is no longer there: '{applied.step.name}' has removed it."
                place = place_near(self._tree, uid)
                raise CompileError(Diagnostic("T008", message, place, hint="Undo that step first."))
        raise CompileError(*check_present(self._tree, uid))

    def codes_of(self, uid: str) -> tuple[Routine, ...]:
        """Return the subroutines of the call `uid`, as changed by the steps so far.

        Raises:
            CompileError: `T004`, `uid` is not a kernel call; or the kernel cannot be read.
        """
        call = self[uid]
        if isinstance(call, KernelCall) and call.known_codes:
            return call.known_codes
        if not isinstance(call, KernelCall) or call.kernel.is_builtin or self._source is None:
            message = f"'{uid}' has no code of its own to look at."
            raise CompileError(Diagnostic("T004", message, place_near(self._tree, uid)))
        return self._source.codes_of(call.kernel)

    def verify(self, tree: Schedule) -> Reasons:
        """Return diagnostics for an invalid schedule after any step."""
        return check_schedule(tree)

    def note(self, entry: JournalEntry[Schedule, Step]) -> None:
        """Record a requested step in the journal of the invoke."""
        if self._journal is not None:
            self._journal.setdefault(self._tree.name, []).append(entry)

    def attempt(self, step: Step) -> tuple[Schedule, Reasons]:
        """Return the schedule after `step` with derived changes, or the diagnostics against it."""
        try:
            codes = self._codes_for(step)
        except CompileError as error:
            return self._tree, error.problems
        given = _with_own_codes(self._tree, codes)
        if reasons := (*step.check(given, self._rules), *self._races_in_kernels(step)):
            return self._tree, reasons
        changed = step.apply(given, self._rules)
        if reasons := check_point_reductions(changed):
            return self._tree, reasons
        if self._is_planned() and keeps_plan(self._tree, changed, self._rules):
            return changed, ()
        if reasons := check_flights(changed, self._rules):
            return self._tree, reasons
        planned = with_derived(changed, self._rules)
        return planned, check_constructs(planned)

    def _is_planned(self) -> bool:
        """Return whether the schedule contains its derived statements and is legal.

        Every applied step preserves this, so only the initial schedule is tested, once.
        """
        if self._planned is None:
            first = self._history[0].before if self._history else self._tree
            self._planned = (
                with_derived(first, self._rules) == first
                and not check_flights(first, self._rules)
                and not check_constructs(first)
            )
        return self._planned

    def _races_in_kernels(self, step: Step) -> Reasons:
        """Return diagnostics for state that kernels change if threads share their calls."""
        if not shares_calls(step) or step.force:
            return ()
        found: dict[Diagnostic, None] = {}
        for uid in step.calls_to_share(self._tree):
            call = find(self._tree, uid)
            if not isinstance(call, KernelCall) or call.kernel.is_builtin:
                continue
            for one in self._shared(call):
                mentioned = None if one.callers else self._mentioned
                races = check_shared_state(one.code, mentioned, one.passed, one.callers, one.aimed)
                found.update(dict.fromkeys(races))
        return tuple(found)

    def _shared(self, call: KernelCall) -> Iterator[SharedProcedure]:
        """Yield the procedures that threads share by `call`, except those declared thread-safe."""
        if self._source is None:
            yield from map(SharedProcedure, call.codes)
            return
        for one in self._source.shared_procedures(call.kernel, call.codes):
            if not self._source.is_thread_safe(call.kernel, one.code):
                yield one

    def _mentioned(self, code: Routine, name: str) -> bool:
        """Return whether a kernel that may run concurrently with `code` has `name` in its file.

        Threads that continue with the next loop without waiting may run it at the same time. Only
        the text is searched, without the subroutine `code` itself.
        """
        word = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
        own = code.module.routine
        for call in kernel_calls(self._tree):
            if call.kernel.is_builtin or call.kernel.span is None:
                continue
            source = call.kernel.span.source
            if source is not own.source:
                texts: tuple[str, ...] = (source.text,)
            elif code.key in keys_of((*call.kernel.implementations, call.kernel.procedure)):
                continue
            else:
                texts = (source.text[: own.start], source.text[own.stop :])
            if any(map(word.search, texts)):
                return True
        return False

    def _codes_for(self, step: Step) -> _Codes:
        """Return the code that `step` needs, by call, for calls without changed code.

        Raises:
            CompileError: a kernel cannot be read.
            InternalError: the workbench has no source of kernels.
        """
        name = step.name
        if not needs_code(step):
            return {}
        codes = {}
        for uid in step.calls_to_read(self._tree):
            call = find(self._tree, uid)
            if not isinstance(call, KernelCall) or call.known_codes or call.kernel.is_builtin:
                continue
            if self._source is None:
                raise InternalError(f"'{name}' needs code, but there is no source of it.")
            codes[uid] = self._source.codes_of(call.kernel)
        return codes


def _with_own_codes(schedule: Schedule, codes: _Codes) -> Schedule:
    for uid, own_codes in codes.items():
        call = find(schedule, uid)
        assert isinstance(call, KernelCall)
        schedule = replaced(schedule, uid, replace(call, own_codes=own_codes))
    return schedule
