"""Names of arrays that pointers may denote, in all procedures of a program."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from psyclone_storage.analysis.bodies.effects import ProcedureCall, call_sites
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import ProcedureName
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import expressions_of, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.languages.fortran.parse.spec_statements import read_use
from psyclone_storage.languages.fortran.parse.statements import scan
from psyclone_storage.pipeline.program_uses import ProgramUses

_POINTER = "=>"
"""The key that represents the names of all pointers."""
_TARGET = regex(r"=>\s*(\w+)")
_FOR_OPENMP = regex(r"^([ \t]*)!\$(?=[ \t])", re.MULTILINE)
"""The mark of a statement that is a comment without OpenMP."""


def pointed_names(uses: ProgramUses, units: Iterable[Routine]) -> frozenset[str]:
    """Return the names of arrays that pointers may denote, in any unit of the files.

    They are the names after `=>`, those in statements that are not read, and those of arguments for
    which a procedure may associate a pointer. Procedures that are not known may do so, unless they
    are in the settings. An array has all names of its imports.
    """
    found, passed = _in_procedures(uses)
    texts = dict[int, SourceText]()
    for unit in units:
        texts[id(unit.module.source)] = unit.module.source
        values = (item.value for item in unit.declarations if isinstance(item, un.Declare))
        found.update(*(_in_constructors(one) for one in values if one is not None))
    for source in texts.values():
        for target, pointer in _in_text(source):
            passed[pointer].add(target)
    queue = [_POINTER, *found]
    for one in queue:
        new = passed[one] - found
        found |= new
        queue += new
    return frozenset(found)


def _in_procedures(uses: ProgramUses) -> tuple[set[str], dict[str, set[str]]]:
    """Return the names that procedures point to, and those that they pass as each argument."""
    found, passed = set[str](), defaultdict[str, set[str]](set)
    calls = _Calls(uses)
    for name in uses.procedures:
        code = uses.code(name)
        found |= frozenset() if code.internal is None else code.internal.names
        for line in walk_lines(code.body):
            found.update(_of_line(line))
            for call in call_sites((line,), code):
                for actual, dummy in calls.associated(call, code):
                    passed[dummy].add(actual)
    return found, passed


def _in_text(source: SourceText) -> Iterator[tuple[str, str]]:
    """Yield the names after `=>` in a file, each with the new name of an import, or `_POINTER`."""
    if "=>" not in source.text:
        return
    text = _FOR_OPENMP.sub(r"\1  ", source.text)
    for statement in scan(source if text == source.text else replace(source, text=text)):
        imported = read_use(statement) if "=>" in statement.text else None
        if imported is None:
            yield from ((key_of(one), _POINTER) for one in _TARGET.findall(statement.text))
        else:
            names = (*(imported.only or ()), *imported.renames)
            yield from ((one.original_key, one.key) for one in names)


def _of_line(line: un.Line) -> Iterator[str]:
    if isinstance(line, un.Opaque):
        yield from line.names
    for expr in expressions_of(line):
        yield from _in_constructors(expr)


def _in_constructors(expr: ex.Expr) -> Iterator[str]:
    for part in ex.walk(expr):
        if isinstance(part, ex.StructureConstructor):
            yield from names_in(part)


@dataclass(slots=True)
class _Calls:
    """Finds the arguments for which procedures may associate pointers."""

    uses: ProgramUses
    _unclear: dict[ProcedureName, frozenset[str]] = field(default_factory=dict)

    def associated(self, call: ProcedureCall, code: Routine) -> Iterator[tuple[str, str]]:
        """Yield such arguments of a call, with the names of the procedure for them."""
        names = self.uses.called(call, code)
        key = call.procedure.key if isinstance(call.procedure, ex.Name) else ""
        outside = self.uses.outside.readers | self.uses.outside.on_device
        if not names and (key in HARMLESS or key in outside):
            return
        for at, arg in enumerate(call.args):
            path = path_of(arg.value if isinstance(arg, ex.Keyword) else arg)
            if path is None:
                continue
            if not names:
                yield path.root, _POINTER
            for one in names:
                yield from ((path.root, dummy) for dummy in self._targets(one, call, at))

    def _targets(self, name: ProcedureName, call: ProcedureCall, at: int) -> Iterator[str]:
        """Yield the names of the dummy arguments for an argument that are targets, or `_POINTER`.

        Separate statements may make a dummy argument a pointer.
        """
        code = self.uses.code(name)
        if name not in self._unclear:
            self._unclear[name] = RoutineNames(code).unclear
        for key in call.dummies(at, code.dummy_keys) or ("",):
            item = code.declared(key)
            if item is None or "pointer" in item.words or key in self._unclear[name]:
                yield _POINTER
            elif "target" in item.words:
                yield key
