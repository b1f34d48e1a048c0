"""The bench for files of plain Fortran: loops of any routine, directives, and edits of statements.

Use of a `FileBench` by steps, recipes and reports::

    bench = FileBench(file, facts)         # file: a linked ir.routine.SourceFile
    bench.routines                         # keys in the order of the text
    bench.code("step")                     # the routine after the steps; `code.body` is frozen
    bench.loops("step")                    # its loops; `loop.uid` is stable over steps
    bench.verdict("step", "loop1")         # status, clauses, reasons, assumptions, blocking pairs
    bench.assume(Fact(FactKind.PURE, "f")) # promises; verdicts list those that they need
    bench.check(step), bench.apply(step)   # the reasons against a step, or the changed routines
    bench.edit("step", before, after)      # exchange the statements `before`, all of the body
    bench.edit(..., declares=..., uses=...)  # with new variables and imports
    bench.undo()
    bench.unfinished()                     # what is wrong unless further steps come
    bench.changed_file()                   # trees before and after, for `emit_changed`

Steps are `AddDirective("step", "loop1", directive=Directive.OMP_PARALLEL_DO)`, `EditRoutine`, and
those on the code of kernels, such as `SwapInKernel("step", loop=2)`: their `call` is the routine's
key here.

The statements of an edit that were in the body before must be the same objects: their text is
preserved. An edit may contain `unit.DirectiveBlock(directive, options, body)` without clauses. The
bench derives the clauses of all blocks of a routine again after each step. It refuses an edit that
makes a block illegal (T095, with the reasons). New loops need no uid. A block has the uid of its
first loop after its word: `omp-do(loop1)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from itertools import chain

from psyclone_storage.analysis.bodies.accesses import names_in_code
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.analysis.bodies.nests import CodeFootprint
from psyclone_storage.analysis.bodies.regions import (
    KnownVerdicts,
    PlannedCode,
    RegionContext,
    are_parallel_loops,
    has_blocks,
    plan_new,
    plan_regions,
    without_wrong,
)
from psyclone_storage.analysis.bodies.verdict import Verdict, cures_of, flow_with, verdict_of
from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr
from psyclone_storage.ir.facts import (
    FLOW_KINDS,
    NO_FACTS,
    AppliedFacts,
    Fact,
    FactKind,
    Facts,
    GroupedFacts,
)
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.linking import linked
from psyclone_storage.ir.loops import addressed, loops_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.rewrite import (
    contains_class,
    place_of_line,
    walk_lines,
)
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    ModuleContext,
    Routine,
    SourceFile,
    SpecificationItem,
    UseStatement,
)
from psyclone_storage.passes.inline.kernels import inline_statement, routines_calling
from psyclone_storage.transform.file_blocks import AddDirective, uid_of, with_block
from psyclone_storage.transform.file_copies import (
    CopyProcedure,
    check_in_module,
    with_copies,
    with_copy,
)
from psyclone_storage.transform.file_statements import (
    EditRoutine,
    InlineStatement,
    RewriteStatement,
    with_statement,
)
from psyclone_storage.transform.kernel.code import ChangesCode, check_loop_directives, placed
from psyclone_storage.transform.kernel.routine import check_still_for_device
from psyclone_storage.transform.workbench import Bench, JournalEntry, NamedStep

_WORD = regex(r"[a-z]\w*")


FileTree = Mapping[str, Routine]
"""The routines that steps have changed, by their keys."""


class FileBench(Bench[FileTree, NamedStep]):
    """The routines of a file with the steps applied to them; see the module's docstring."""

    def __init__(
        self, file: SourceFile, facts: Facts = (), around: ModuleContext | None = None
    ) -> None:
        """Start with a file, promises, and the modules whose procedures can be inlined."""
        super().__init__({})
        self._around = around
        self._file = file
        self._routines = file.routines()
        self._keys = {one.extent.start: key for key, one in self._routines.items() if one.extent}
        self._applying: dict[tuple[int, int], tuple[Routine, GroupedFacts]] = {}
        self._applied = AppliedFacts()
        self._former_facts: dict[int, Facts] = {}
        self._facts = NO_FACTS.with_facts(map(self._tied, facts))
        self._flows: dict[tuple[int, Facts], tuple[Routine, Flow]] = {}
        self._latest: dict[str, RoutineNames] = {}
        self._plans: dict[tuple[int, int], tuple[Routine, PlannedCode]] = {}
        self._verdicts: dict[tuple[int, int], tuple[Routine, KnownVerdicts]] = {}
        self._names: tuple[FileTree | None, frozenset[str]] = (None, frozenset())
        self.left_out: list[Diagnostic] = []
        self.unshared: dict[tuple[str, str], str] = {}
        self.has_searched_callers = False
        self._new: list[un.DirectiveBlock] = []
        self._statements: dict[int, tuple[Routine, Routine]] = {}
        self._parts: dict[tuple[str, int, int], Routine] = {}
        self._refused: dict[tuple[int, ChangesCode], Reasons] = {}
        self.journal: list[JournalEntry[FileTree, NamedStep]] = []

    # ------------------------------------------------------------------------ questions

    @property
    def routines(self) -> tuple[str, ...]:
        """The keys of the routines, in the order of the text."""
        return tuple(self._routines)

    @cached_property
    def _words(self) -> frozenset[str]:
        text, statements = self._file.source.text, self._file.statements
        words = (_WORD.findall(key_of(text[start:stop])) for start, stop in statements)
        return frozenset(chain.from_iterable(words))

    @property
    def names(self) -> frozenset[str]:
        """All words in the statements of the file, and the names of new variables."""
        tree, found = self._names
        if tree is not self._tree:
            items = (item for code in self._tree.values() for item in code.declarations)
            found = self._words.union(item.key for item in items if isinstance(item, un.Declare))
            self._names = (self._tree, found)
        return found

    @property
    def facts(self) -> GroupedFacts:
        """The promises made so far."""
        return self._facts

    def assume(self, *facts: Fact) -> None:
        """Record promises; those about a loop hold while it has its present statements."""
        if facts:
            self._facts = self._facts.with_facts(map(self._tied, facts))
        self._last = None

    def withdraw(self, facts: GroupedFacts) -> None:
        """Withdraw all promises but `facts`, which were made before."""
        if facts is not self._facts:
            self._facts = facts
            self._last = None

    def _tied(self, fact: Fact) -> Fact:
        """Return a promise about a loop with the statements that the loop has now."""
        if not fact.loop or fact.statements:
            return fact
        loops = (loop for loop in self.loops(fact.routine) if loop.uid == fact.loop)
        loop = next(loops, None)
        return fact if loop is None else replace(fact, statements=self._applied.digest(loop))

    def _context(self, code: Routine, former: Routine) -> RegionContext:
        routines = tuple({**self._routines, **self._tree}.values())
        return RegionContext(self._own(code), self._known(former), routines)

    def _key(self, code: Routine) -> str:
        """Return the key of a version of a routine."""
        return code.key if code.extent is None else self._keys.get(code.extent.start, code.key)

    def _own(self, code: Routine) -> GroupedFacts:
        """Return the promises that hold for a version of a routine."""
        known = (id(code), self._facts_key)
        if known not in self._applying:
            self._applying[known] = (code, self._applied.to(self._facts, self._key(code), code))
        return self._applying[known][1]

    @property
    def _facts_key(self) -> int:
        """The identity of the present promises, which is cheaper to hash than thousands of them."""
        return id(self._former_facts.setdefault(id(self._facts), self._facts))

    def code(self, routine: str) -> Routine:
        """Return a routine with the steps so far.

        Raises:
            CompileError: `T003`, the file has no such routine.
        """
        key = key_of(routine)
        found = self._tree.get(key) or self._routines.get(key)
        if found is None:
            hint = did_you_mean(routine, self.routines)
            message = f"There is no routine '{routine}'."
            file = self._file.source.name
            raise CompileError(Diagnostic("T003", message, file=file, hint=hint))
        return found

    def loops(self, routine: str) -> tuple[un.Do, ...]:
        """Return the loops of a routine in the order of its text."""
        return loops_of(self.code(routine))

    def flow(self, routine: str) -> Flow:
        """Return the data flow of a routine, with the promises.

        It is computed once: directives do not change it.
        """
        return self._flow_of(self.code(routine))

    def _flow_of(self, code: Routine) -> Flow:
        return self._flow_with_blocks(self._base(code))

    def _base(self, code: Routine) -> Routine:
        """Return a routine before the directives that were added since its last other change."""
        return self._statements.get(id(code), (code, code))[1]

    def _known(self, code: Routine) -> KnownVerdicts:
        """Return the verdicts that are known of the loops of a routine, for more to be added."""
        base = self._base(code)
        return self._verdicts.setdefault((id(base), self._facts_key), (base, {}))[1]

    def _flow_with_blocks(self, code: Routine) -> Flow:
        routine = self._key(code)
        flow = self._flow_given(code, self._own(code), self._latest.get(routine))
        self._latest[routine] = flow.names
        return flow

    def _flow_given(self, code: Routine, facts: Facts, former: RoutineNames | None = None) -> Flow:
        """Return the data flow of a routine, given promises; it is computed once."""
        known = facts.general if isinstance(facts, GroupedFacts) else facts
        key = (id(code), tuple(one for one in known if one.kind in FLOW_KINDS))
        if key not in self._flows:
            self._flows[key] = (code, flow_with(code, facts, former))
        return self._flows[key][1]

    def planned(self, code: Routine) -> PlannedCode:
        """Return a routine of the file with the clauses of its blocks; it is planned once."""
        key = (id(code), self._facts_key)
        if key not in self._plans:
            planned = PlannedCode(code)
            if has_blocks(code):
                flow = self._flow_with_blocks(code)
                planned = plan_regions(code, flow, self._context(code, code))
                self._statements[id(planned.code)] = (planned.code, self._base(code))
            self._plans[key] = (code, planned)
            if not planned.wrong:
                self._plans[id(planned.code), self._facts_key] = (planned.code, planned)
        return self._plans[key][1]

    def node(self, routine: str, uid: str) -> FlowNode:
        """Return a loop in the data flow of its routine.

        Raises:
            CompileError: `T003`, there is no such routine or loop.
        """
        for one in self.flow(routine).loops:
            if isinstance(one.line, un.Do) and one.line.uid == uid:
                return one
        known = [loop.uid for loop in self.loops(routine)]
        raise CompileError(self._missing(routine, uid, known))

    def verdict(self, routine: str, uid: str, *, sums: bool = True) -> Verdict:
        """Return the verdict on a loop."""
        known = self._known(self.code(routine))
        if (uid, sums) not in known:
            node = self.node(routine, uid)
            own = self._own(self.code(routine))
            known[uid, sums] = verdict_of(node, self.flow(routine), own, sums=sums)
        return known[uid, sums]

    def cures(self, routine: str, uid: str) -> Facts:
        """Return the promises that would make a loop independent, nothing if none is found."""
        base = self._base(self.code(routine))
        flow = partial(self._flow_given, base)
        return cures_of(self.node(routine, uid), base, self._own(base), flow)

    def footprint(self, routine: str, uid: str) -> CodeFootprint:
        """Return the footprint of a loop, for questions about other transformations."""
        return CodeFootprint(self.flow(routine), self.node(routine, uid))

    def threaded_call(self, module: str, names: Iterable[str]) -> Span | None:
        """Return a call of procedures in another file that several threads may execute."""
        self.has_searched_callers = True
        search = None if self._around is None else self._around.threaded_call
        return None if search is None else search(module, names)

    @property
    def file(self) -> SourceFile:
        """The file as it was read."""
        return self._file

    def derive(self) -> None:
        """Give the blocks that the file has already their clauses.

        Raises:
            CompileError: the reasons against blocks that are not legal.
        """
        for key, code in self._routines.items():
            if contains_class(code.body, un.DirectiveBlock):
                planned = self.planned(linked(addressed(code)))
                raise_if_any(planned.reasons)
                self._tree = {**self._tree, key: planned.code}

    def unfinished(self) -> Reasons:
        """Return what is wrong with the regions if no further step comes."""
        return tuple(one for key in self._tree for one in self.unfinished_in(key))

    def unfinished_in(self, routine: str) -> Reasons:
        """Return what is wrong with the regions of a routine if no further step comes."""
        planned = self.planned(self.code(routine))
        return (*planned.reasons, *planned.unfinished)

    def leave_out_unfinished(self, routine: str) -> None:
        """Leave out the regions of a routine that are unfinished, as steps.

        The loops that threads would share in such a region get threads of their own. The reasons
        are in `left_out`.
        """
        while reasons := self.unfinished_in(routine):
            self.left_out += reasons
            code = self.code(routine)
            self.edit(routine, code.body, without_wrong(code, self.planned(code)).body)

    def changed_file(self) -> tuple[SourceFile, SourceFile]:
        """Return the file as it was read and with the steps so far."""
        after = {key: self.planned(code).code for key, code in self._tree.items()}

        def change(unit: Routine) -> Routine:
            key = self._keys.get(unit.extent.start) if unit.extent is not None else None
            code = None if key is None else after.get(key)
            return with_copies(unit) if code is None else _with_code(unit, code)

        return self._file, self._file.changed(change)

    # ------------------------------------------------------------------------ steps

    def edit(
        self,
        routine: str,
        before: tuple[un.Line, ...],
        after: tuple[un.Line, ...],
        declares: tuple[un.Declare, ...] = (),
        uses: tuple[un.Use, ...] = (),
    ) -> Routine:
        """Exchange the statements `before` of a routine for `after`, as a step in the journal.

        The routine gets the variables `declares` and the imports `uses` in addition.

        Raises:
            CompileError: `T095`, the edit makes a region illegal; nothing has changed then.
        """
        self.apply(EditRoutine(routine, before, after, declares=declares, uses=uses))
        return self.code(routine)

    def attempt(self, step: NamedStep) -> tuple[FileTree, Reasons]:
        """Return the routines with `step`, or the reasons against it."""
        try:
            key, code = self._changed(step)
        except CompileError as error:
            return self._tree, error.problems
        if isinstance(step, AddDirective):
            old = self.code(key)
            context = self._context(code, old)
            planned = plan_new(code, self._new[0], self.flow(key), context)
            self._statements[id(planned.code)] = (planned.code, self._base(old))
            known = not has_blocks(old) or (id(old), self._facts_key) in self._plans
            if known and are_parallel_loops(planned.code.body):
                self._plans[id(planned.code), self._facts_key] = (planned.code, planned)
        else:
            if reasons := self._changed_elsewhere(key, code):
                return self._tree, reasons
            changed = linked(addressed(code), former=self.code(key))
            planned = self.planned(changed)
        reasons = planned.reasons or self._called_at_once(step)
        reasons = reasons or check_still_for_device(planned.code, self.code(key))
        if reasons:
            is_edit = not isinstance(step, AddDirective)
            return self._tree, _too_late(reasons) if is_edit else reasons
        return {**self._tree, key: planned.code}, ()

    def _called_at_once(self, step: NamedStep) -> Reasons:
        """Return the reasons against threads that call a routine with saved arrays."""
        saved = [one for one in self._facts.general if one.kind is FactKind.ONE_CALL]
        if not saved or not isinstance(step, AddDirective):
            return ()
        codes = {**self._routines, **self._tree}
        inside = replace(self.code(step.routine), body=self._new[0].body)
        place = next(filter(None, map(place_of_line, self._new[0].body)), None)
        return tuple(
            Diagnostic(
                "T060", f"'{one.name}' has saved arrays, so only one thread may call it.", place
            )
            for one in saved
            if " " in routines_calling({**codes, " ": inside}, one.routine)
        )

    def verify(self, tree: FileTree) -> Reasons:
        """Return nothing: `attempt` has planned all regions."""
        return ()

    def note(self, entry: JournalEntry[FileTree, NamedStep]) -> None:
        """Record a requested step."""
        self.journal.append(entry)

    def _changed_elsewhere(self, routine: str, code: Routine) -> Reasons:
        """Return the reasons against changed declarations that are in included files."""
        return tuple(
            Diagnostic("T060", f"'{one.name}' is declared in an included file.", item.place)
            for item in self._routines[routine].specification
            if isinstance(item, DeclarationStatement)
            and item.place is not None
            and item.place.source is not self._file.source
            for one in item.declares
            if code.declared(one.key) != one
        )

    def _changed(self, step: NamedStep) -> tuple[str, Routine]:
        """Return the routine that a step changes, and how."""
        match step:
            case EditRoutine(routine, before, after, declares=declares, uses=uses):
                code = self.code(routine)
                if code.body is not before and code.body != before:
                    message = f"'{routine}' has changed since the edit was prepared."
                    raise CompileError(Diagnostic("T095", message, code.module.routine))
                items = (*map(UseStatement, uses), *code.specification,
                         *(DeclarationStatement((item,)) for item in declares))  # fmt: skip
                return key_of(routine), replace(code, body=after, specification=items)
            case AddDirective(routine):
                return key_of(routine), self._directed(step)
            case RewriteStatement(routine, line, inner):
                code = self.code(routine)
                new = self._changed_alone(self._alone(code, line), inner)
                return key_of(routine), with_statement(code, line, new)
            case InlineStatement(routine, line, call):
                return key_of(routine), self._inlined(self.code(routine), line, call)
            case CopyProcedure(routine):
                known = (one for code in self._tree.values() for one in code.copies)
                code = self.code(routine)
                check_in_module(code, self._file.every_unit(), step)
                return key_of(routine), with_copy(code, step, self._around, self.names, known)
            case ChangesCode():
                code = self.code(step.call)
                reasons = (*check_loop_directives(code), *step.check_code(code))
                raise_if_any([placed(one, code.module.routine) for one in reasons])
                return key_of(step.call), step.transform_code(code)
        message = f"'{step.name}' does not apply to files."
        raise CompileError(Diagnostic("T004", message, file=self._file.source.name))

    def _alone(self, code: Routine, line: un.Line) -> Routine:
        """Return a routine with one of its statements, which is made once.

        Scripts request a step for each expression of a statement.
        """
        items = code.specification
        key = (self._key(code), id(line), id(items))
        if key not in self._parts:
            self._parts[key] = made = replace(code, body=(line,), whole=code)
            former = self._latest.get(key[0])
            if former is None or former.code.specification is not items:
                former = self._latest[key[0]] = names_in_code(made)
            names_in_code(made).inherit(former)
        return self._parts[key]

    def _changed_alone(self, alone: Routine, step: ChangesCode) -> Routine:
        """Return a routine with one statement after a step, whose reasons are searched once.

        Raises:
            CompileError: the reasons against the step.
        """
        key = (id(alone), step)
        if key not in self._refused:
            place = place_of_line(alone.body[0])
            self._refused[key] = tuple(placed(one, place) for one in step.check_code(alone))
        raise_if_any(self._refused[key])
        return step.transform_code(alone)

    def _inlined(self, code: Routine, line: un.Line, call: Expr | None) -> Routine:
        """Return a routine with the calls of one statement inlined, or only one of them.

        Raises:
            CompileError: `T070`, a call stays.
        """
        why, place = "", place_of_line(line)
        inner = (one for unit in self._file.every_unit() for one in unit.procedures
                 if unit.kind is not ScopeKind.MODULE)  # fmt: skip
        if self._around is None or any(one.extent == code.extent for one in inner):
            why = "the names of its modules are not known"
        else:
            made = inline_statement(code, line, self._around, call)
            for one in made.code.kernel_use.placed:
                keys = {one.name, f"{one.module}.{one.name}"} & self._tree.keys()
                if any(self._tree[key].body != self._routines[key].body for key in keys):
                    why = f"'{one.name}' has been changed before"
            for at, reason in made.remaining[:1]:
                why, place = reason, at
        if why:
            hint = "Leave the call, or change the procedure."
            raise CompileError(Diagnostic("T070", f"A call stays: {why}.", place, hint=hint))
        return with_statement(code, line, made.code)

    def _directed(self, step: AddDirective) -> Routine:
        code = self.code(step.routine)
        last = step.last or step.first
        self._new.clear()
        body = with_block(code.body, step, last, self._new)
        if body is None:
            known = tuple(uid for line in walk_lines(code.body) if (uid := uid_of(line)))
            for uid in (step.first, last):
                if uid not in known:
                    raise CompileError(self._missing(step.routine, uid, known))
            message = f"'{step.first}' and '{last}' are not in one block of statements."
            raise CompileError(Diagnostic("T023", message, code.module.routine))
        return replace(code, body=body)

    def _missing(self, routine: str, uid: str, known: Iterable[str]) -> Diagnostic:
        names = tuple(known)
        place = self.code(routine).module.routine
        hint = did_you_mean(uid, names) or f"There are: {', '.join(names)}."
        return Diagnostic("T003", f"There is no '{uid}' in '{routine}'.", place, hint=hint)


def _with_code(unit: Routine, code: Routine) -> Routine:
    """Return a unit with the statements of `code`, and its new variables and imports."""
    known = {item.key for item in unit.declarations if isinstance(item, un.Declare)}
    new = tuple(
        DeclarationStatement((item,))
        for item in code.declarations
        if isinstance(item, un.Declare) and item.key not in known
    )
    uses = tuple(UseStatement(use) for use in code.uses if use not in unit.uses)
    marks = (one for one in code.directives if one not in unit.directives)
    present = {item.key: item for item in code.declarations if isinstance(item, un.Declare)}
    changed = tuple(
        DeclarationStatement((present[item.key],))
        for item in unit.declarations
        if isinstance(item, un.Declare) and present.get(item.key, item) != item
    )
    same = (_unchanged(item, present) for item in unit.specification)
    items = (*uses, *(one for one in same if one is not None), *changed, *new, *marks)
    return replace(unit, body=code.body, specification=items, copies=code.copies)


def _unchanged(
    item: SpecificationItem, present: Mapping[str, un.Declare]
) -> SpecificationItem | None:
    """Return a declaration without variables that steps have changed, None if none is left."""
    if not isinstance(item, DeclarationStatement):
        return item
    left = tuple(one for one in item.declares if present.get(one.key, one) == one)
    if len(left) == len(item.declares):
        return item
    return replace(item, declares=left) if left else None


def _too_late(reasons: Reasons) -> Reasons:
    """Return that an edit makes regions illegal (T095), with the reasons."""
    return tuple(
        replace(one, code="T095", message=f"The edit makes a region illegal: {one.message}")
        for one in reasons
    )
