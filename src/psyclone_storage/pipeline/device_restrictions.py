"""Restrictions of transfer plans: statements to be understood, and arrays that are left out.

A plan is wrong if a statement uses an array unnoticed. Therefore all procedures that a call tree
may execute are checked, also those without device regions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.analysis.bodies.effects import (
    FINAL_PATTERN,
    OVERLOADS,
    ProcedureCall,
    call_sites,
    module_of,
)
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import ProcedureName, ProgramArray
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import ScopeKind
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typed import Typing
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.pipeline.overloads import is_overload
from psyclone_storage.pipeline.program_regions import host_lines
from psyclone_storage.pipeline.program_tree import ProgramTree, TreeProblem
from psyclone_storage.pipeline.program_uses import home_module, may_allocate_target

_MANAGED = regex(
    r"(?:acc\s+(?:data|enter\s+data|exit\s+data|update|declare|host_data)"
    r"|omp\s+target\s+(?:data|enter|exit|update))\b"
)
_OF_HOST = regex(r"(?:omp|acc)\b(?!\s+(?:routine|declare|wait|end)\b)")
_HIDES = regex(r"\bcall\b|!\$|\bentry\b")
_HARMLESS = regex(
    r"(?:implicit|private|public|protected|intrinsic|external|import|interface|character)\b"
    r"|type\b(?!\s*\()"
)
"""Declarations that do not change the meaning of an array of numbers: components are not arrays."""
_NONBLOCKING = regex(r"mpi_(?:i(?!nit|nfo)\w+|\w+_init)$")
_ENTRY = regex(r"\s*entry\s+(?P<name>\w+)")
_SEPARATE = regex(
    r"\bmodule[ \t]+(?:\w+(?:\([^)\n]*\))?[ \t]+)*?(?:subroutine|function)[ \t]+(\w+)",
    re.IGNORECASE,
)
_EXTENDS = regex(r"\bextends\s*\(", re.IGNORECASE)
_SAVE_ALL = regex(r"\s*save\s*$")
_POINTER = regex(r"\s*procedure\b")
_FINAL = regex(rf"{FINAL_PATTERN.pattern}[\w, \t]*", re.IGNORECASE | re.MULTILINE)
_WORD = regex(r"\w+")


@dataclass(slots=True)
class Restrictions:
    """The restrictions of a call tree.

    `modules` are the modules in the given files, and `entries` names of `entry` statements in other
    files. If not `complete`, the program has modules that are not known.
    """

    tree: ProgramTree
    modules: Mapping[str, Routine]
    entries: frozenset[str] = frozenset()
    complete: bool = True
    _named: frozenset[str] = frozenset()
    _overloads: bool = False
    _final: tuple[ProcedureName, ...] = ()
    _open: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Find the names by which statements may call procedures of the program."""
        codes = self.tree.uses.procedures
        entries = {name for code in codes.values() for name in entries_of(code)}
        pointers = (
            item.names
            for code in (*codes.values(), *self.modules.values())
            for item in code.declarations
            if isinstance(item, un.Opaque) and _POINTER.match(key_of(item.text))
        )
        self._named = frozenset(self.entries | entries | {one.name for one in codes}).union(
            *pointers
        )
        texts = {key: one.module.source.text for key, one in self.modules.items()}
        self._overloads = any(map(OVERLOADS.search, texts.values()))
        # The procedures of submodules, whose files may be compiled without a plan.
        separate = {name for text in texts.values() for name in _SEPARATE.findall(text)}
        self._named |= {key_of(name) for name in separate}
        final = {
            ProcedureName(key, word)
            for key, text in texts.items()
            for found in _FINAL.finditer(text)
            for word in _WORD.findall(key_of(found[0]))
        }
        self._final = tuple(sorted(final & codes.keys()))
        self._open = frozenset(
            key
            for key, module in self.modules.items()
            if any(isinstance(item, un.Include) for item in module.contained)
        )

    def problems(self, names: Iterable[ProcedureName]) -> Iterator[TreeProblem]:
        """Yield the reasons against a plan for each of some procedures."""
        for name in self._final:
            if self.tree.is_relevant(name) or self.tree.uses.of(name) is None:
                reason = "it is a final procedure, which is not called explicitly"
                yield TreeProblem(name, reason, self.tree.uses.procedures[name].place)
        for name in names:
            for reason, place in dict.fromkeys(self._of_procedure(name)):
                yield TreeProblem(name, reason, place)

    def _of_procedure(self, name: ProcedureName) -> Iterator[tuple[str, Span | None]]:
        code, relevant = self.tree.uses.code(name), self.tree.is_relevant(name)
        inner = code.internal
        if inner is not None and (
            relevant or inner.names & self._named or _HIDES.search(key_of(inner.text))
        ):
            yield "it has internal procedures", code.place
        for line in walk_lines(code.body):
            place = place_of_line(line)
            yield from self._of_calls(line, code)
            if isinstance(line, un.Include):
                yield "it includes text", place
            elif isinstance(line, un.Opaque) and (
                relevant or len(line.text.split()) < 2 or _ENTRY.match(key_of(line.text))
            ):
                yield f"'{line.text.split(chr(10))[0]}' is not understood", place
            elif isinstance(line, un.DirectiveLine):
                words = " ".join(key_of(line.text).split())
                if _MANAGED.match(words):
                    yield f"'{line.text}' already moves data", place
        if relevant:
            for line in host_lines(code.body):
                if isinstance(line, un.DirectiveLine) and _OF_HOST.match(key_of(line.text)):
                    yield f"'{line.text}' is a directive for host statements", line.place

    def _of_calls(self, line: un.Line, code: Routine) -> Iterator[tuple[str, Span | None]]:
        for call in call_sites((line,), code):
            place = call.place or code.place
            what = ex.spell(call.procedure)
            names = self.tree.uses.called(call, code)
            regions = any(map(self.tree.is_relevant, names))
            by_name = isinstance(line, un.Call) and call.procedure is line.procedure
            if regions and not (by_name and isinstance(call.procedure, ex.Name)):
                yield f"'{what}' has device regions, but no plain call", place
            elif (
                (regions and not self.tree.uses.is_certain(call, code))
                or (not names and self._may_be_known(call, code))
                or self._may_be_overridden(call, code)
            ):
                yield f"it is not known which procedure '{what}' is", place

    def _may_be_known(self, call: ProcedureCall, code: Routine) -> bool:
        """Return whether an unknown call may execute a procedure of the program."""
        procedure = call.procedure
        if isinstance(procedure, ex.Member):
            kind = Typing(code.symbol, code.structure).type_of(procedure.base)
            own = {code.module.key, *self.modules}
            return not isinstance(kind, DerivedType) or module_of(kind, code) in own
        if not isinstance(procedure, ex.Name):
            return True
        if self._may_be_included(procedure.key, code):
            return True
        item = code.declared(procedure.key)
        if procedure.key in code.dummy_keys or (item is not None and "pointer" in item.words):
            return True
        if is_overload(procedure.key):
            return self._overloads
        return not self._named.isdisjoint({procedure.key, *self.tree.uses.names(call, code)})

    def _may_be_overridden(self, call: ProcedureCall, code: Routine) -> bool:
        """Return whether a type in another module may override a type-bound procedure."""
        if not isinstance(call.procedure, ex.Member) or not self.tree.uses.is_open(call, code):
            return False
        kind = Typing(code.symbol, code.structure).type_of(call.procedure.base)
        home = module_of(kind, code) if isinstance(kind, DerivedType) else ""
        sources = (one.module.source for key, one in self.modules.items() if key != home)
        return not self.complete or any(_EXTENDS.search(source.text) for source in sources)

    def _may_be_included(self, key: str, code: Routine) -> bool:
        """Return whether a name may be that of a procedure in text that a module includes."""
        symbol = code.symbol(key)
        if symbol.origin is ex.Origin.UNRESOLVED:
            uses = (*code.uses, *code.module.uses)
            seen = {code.module.key, *(use.module_key for use in uses)}
            return symbol.module_key in self.modules or not seen.isdisjoint(self._open)
        home = code.module.key if symbol.origin is ex.Origin.HOST else symbol.module_key
        return home in self._open and symbol.is_called

    # ------------------------------------------------------------------------ arrays

    def left_out(self, names: Iterable[ProcedureName]) -> dict[ProgramArray, str]:
        """Return arrays that some procedures allocate or hide, with reasons."""
        found: dict[ProgramArray, str] = {}
        for key, module in self.modules.items():
            for name in _hidden_names(module.declarations):
                found[ProgramArray(key, "", name)] = "other statements may change its meaning"
        for one in self._final:
            uses = self.tree.uses.of(one)
            why = f"the final procedure '{one}' uses it"
            found |= dict.fromkeys(() if uses is None else uses.shared, why)
        for one in names:
            code = self.tree.uses.code(one)
            saves_all = code.kind is not ScopeKind.PROGRAM and any(
                isinstance(item, un.Opaque) and _SAVE_ALL.match(key_of(item.text))
                for item in code.declarations
            )
            for item in code.declarations:
                if saves_all and isinstance(item, un.Declare) and item.key not in code.dummy_keys:
                    array = ProgramArray(home_module(code), code.key, item.key)
                    found.setdefault(array, "it keeps its value between calls")
            for name in _hidden_names(code.declarations):
                found.setdefault(
                    self.tree.uses.datum(name, code), "other statements may change its meaning"
                )
            for array in self._redeclared(code):
                found.setdefault(array, f"its name has two meanings in '{one}'")
            for array, why in (*self._allocated(one, code), *self._pending(code)):
                found.setdefault(array, why)
        return found

    def _redeclared(self, code: Routine) -> Iterator[ProgramArray]:
        """Yield variables of modules whose names a block of a procedure declares again."""
        uses = (*code.uses, *code.module.uses)
        for key in code.module.symbols.doubt:
            symbol = self.tree.uses.finder.imported(uses, key)
            if symbol is not None and symbol.module_key:
                yield ProgramArray(symbol.module_key, "", key_of(symbol.name))
            else:
                yield ProgramArray(home_module(code), "", key)

    def _allocated(self, name: ProcedureName, code: Routine) -> Iterator[tuple[ProgramArray, str]]:
        """Yield arrays that statements allocate for which no copy is created."""
        assigned = [line.target for line in walk_lines(code.body)
                    if isinstance(line, un.Assign) and may_allocate_target(line, code)]  # fmt: skip
        targets = [one for one in assigned if self._is_allocatable(one, code)]
        targets += self.tree.uses.passed_to_allocate(walk_lines(code.body), code)
        for one in targets:
            path = path_of(one.value if isinstance(one, ex.Keyword) else one)
            if path is not None and len(path.variable) == 1:
                yield self.tree.uses.datum(path.root, code), f"'{name}' may allocate it"

    def _pending(self, code: Routine) -> Iterator[tuple[ProgramArray, str]]:
        """Yield arrays whose communication MPI may complete after the call."""
        for line in walk_lines(code.body):
            if not isinstance(line, un.Call) or not isinstance(line.procedure, ex.Name):
                continue
            if _NONBLOCKING.match(line.procedure.key):
                for arg in line.args:
                    path = path_of(arg.value if isinstance(arg, ex.Keyword) else arg)
                    if path is not None and len(path.variable) == 1:
                        why = f"'{line.procedure.key}' does not wait for its communication"
                        yield self.tree.uses.datum(path.root, code), why

    def _is_allocatable(self, target: ex.Expr, code: Routine) -> bool:
        path = path_of(target)
        assert path is not None
        item, array = code.declared(path.root), self.tree.uses.datum(path.root, code)
        if item is None and array.module in self.modules:
            item = self.modules[array.module].declared(array.name)
        return item is not None and "allocatable" in item.words


def entries_of(code: Routine) -> Iterator[str]:
    """Yield the names of the `entry` statements of a procedure."""
    for line in code.body:
        found = _ENTRY.match(key_of(line.text)) if isinstance(line, un.Opaque) else None
        if found is not None:
            yield found["name"]


def _hidden_names(declarations: Iterable[object]) -> Iterator[str]:
    """Yield the names in declarations that are not read, such as `namelist` and `target` ones."""
    for item in declarations:
        if isinstance(item, un.Opaque) and not _HARMLESS.match(key_of(item.text).lstrip()):
            yield from item.names
