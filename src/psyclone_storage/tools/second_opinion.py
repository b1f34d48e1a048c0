"""Compare the reading of a Fortran file by this package with that of fparser2.

The program units, the statements with their kinds, names and expressions are compared. Statements
that this package preserves as text although fparser2 understands them are listed, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Any

from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.records import fields
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Member, Name, Parenthesised, Verbatim, spell
from psyclone_storage.ir.expr import walk as parts_of
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import DeclarationStatement, SourceFile, UseStatement
from psyclone_storage.languages.fortran.parse.reader import DeclaredType, Entity
from psyclone_storage.tools.second_reader import SecondStatement, StatementPart, read_second

# By the class of a statement in fparser2: the classes that it has here.
_KINDS: dict[str, tuple[type, ...]] = {
    "Assignment_Stmt": (un.Assign,),
    "Pointer_Assignment_Stmt": (un.PointerAssign,),
    "Call_Stmt": (un.Call,),
    "Nonlabel_Do_Stmt": (un.Do, un.While, un.DoConcurrent),
    "Label_Do_Stmt": (un.Do, un.While, un.DoConcurrent),
    "Forall_Stmt": (un.Forall,),
    "Forall_Construct_Stmt": (un.Forall,),
    **dict.fromkeys(
        ("If_Stmt", "If_Then_Stmt", "Else_If_Stmt", "Where_Stmt", "Where_Construct_Stmt",
         "Masked_Elsewhere_Stmt"), (un.Branch,)),
    **dict.fromkeys(("Select_Case_Stmt", "Select_Type_Stmt"), (un.Select,)),
    **dict.fromkeys(("Case_Stmt", "Type_Guard_Stmt"), (un.Case,)),
    **dict.fromkeys(
        ("Write_Stmt", "Read_Stmt", "Print_Stmt", "Open_Stmt", "Close_Stmt", "Inquire_Stmt",
         "Rewind_Stmt", "Backspace_Stmt", "Endfile_Stmt", "Flush_Stmt", "Wait_Stmt"),
        (un.InputOutput,)),
    "Allocate_Stmt": (un.Allocate,),
    "Deallocate_Stmt": (un.Deallocate,),
    "Nullify_Stmt": (un.Nullify,),
    "Associate_Stmt": (un.Associate,),
    "Return_Stmt": (un.Return,),
    "Exit_Stmt": (un.Exit,),
    "Cycle_Stmt": (un.Cycle,),
    "Stop_Stmt": (un.Stop,),
    "Error_Stop_Stmt": (un.Stop,),
    "Continue_Stmt": (un.Continue,),
    "Goto_Stmt": (un.Goto, un.Cycle),
    "Computed_Goto_Stmt": (un.Goto,),
    "Format_Stmt": (un.Format,),
    "Include_Stmt": (un.Include,),
    "Use_Stmt": (UseStatement,),
    "Type_Declaration_Stmt": (DeclarationStatement,),
}  # fmt: skip

_REMARKS = (un.Comment, un.Blank, un.DirectiveLine)
# What declares something in an interface, a type or a block construct has no record by design.
_TEXT = ("Type_Declaration_Stmt", "Use_Stmt")


def check_second_reading(file: SourceFile) -> Iterator[Diagnostic]:
    """Yield a warning (P060) for each place that the two readers understand differently.

    `file` is a tree whose names are not resolved. A file that fparser2 cannot parse has one
    warning.
    """
    source = file.source
    second = read_second(source)
    if second.refused:
        yield _warning(source, second.refused, "fparser2 cannot parse the file from here on.")
        return
    ours = {
        one.place.line: f"{one.kind.value} {one.key}".strip()
        for one in file.every_unit()
        if one.place is not None
    }
    own = _OwnStatements(file)
    for line in sorted({*ours, *second.units, *own.counts, *second.statements}):
        unit, other = ours.get(line, "no unit"), second.units.get(line, "no unit")
        if unit != other:
            yield _warning(source, line, f"fparser2 reads '{other}', this tool reads '{unit}'.")
        statements = second.statements.get(line, ())
        if own.counts[line] != len(statements):
            yield _warning(
                source,
                line,
                f"{len(statements)} statements start in this line for fparser2, "
                f"{own.counts[line]} for this tool.",
            )
            continue
        for number, statement in enumerate(statements):
            for message in own.compared(line, number, statement):
                yield _warning(source, line, message)


def _warning(source: SourceText, line: int, message: str) -> Diagnostic:
    number = min(max(line, 1), source.line_of(len(source.text)))
    text = source.line(number)
    start = source.start_of_line(number) + len(text) - len(text.lstrip())
    place = source.span(start, start + max(len(text.strip()), 1))
    return Diagnostic("P060", message, place, severity=Severity.WARNING)


class _OwnStatements:
    """The statements of a file as this package reads them, by line and number in the line."""

    def __init__(self, file: SourceFile) -> None:
        self.counts: Counter[int] = Counter()
        self._source = file.source
        self._starts: list[int] = []
        self._keys: list[tuple[int, int]] = []
        line, last = 0, 0
        for start, stop in sorted(file.statements):
            # To fparser2, statements after a semicolon start in the line of the first one.
            between = file.source.text[last:start]
            if not line or ";" not in between or "\n" in between:
                line = file.source.line_of(start)
            last = stop
            self._starts.append(start)
            self._keys.append((line, self.counts[line]))
            self.counts[line] += 1
        self._records: dict[tuple[int, int], list[Any]] = {}
        self._texts: list[Span] = []
        for unit in file.every_unit():
            blocks = [one for one in walk_lines(unit.body) if isinstance(one, un.ScopedBlock)]
            self._texts += [one.extent for one in blocks if one.extent is not None]
            for item in (*unit.specification, *_records(unit.body)):
                self._add(item)

    def _add(self, item: Any) -> None:
        if item.place is None or isinstance(item, _REMARKS):
            return
        at = bisect_right(self._starts, item.place.start) - 1
        if isinstance(item, un.Opaque):
            self._texts.append(item.place)
        elif at >= 0:
            self._records.setdefault(self._keys[at], []).append(item)

    def _is_text(self, line: int) -> bool:
        return any(one.line <= line <= self._source.line_of(one.stop) for one in self._texts)

    def compared(
        self, line: int, number: int, statements: tuple[SecondStatement, ...]
    ) -> Iterator[str]:
        """Yield what differs between a statement of fparser2 and its records here."""
        records = [*self._records.get((line, number), ())]
        for theirs in statements:
            wanted = _KINDS.get(theirs.kind)
            if wanted is None:
                return
            if not records:
                if not self._is_text(line):
                    yield f"fparser2 reads '{theirs.kind}', this tool reads no such statement."
                elif theirs.kind not in _TEXT:
                    yield f"This tool preserves as text what fparser2 reads as '{theirs.kind}'."
                return
            record = records.pop(0)
            if not isinstance(record, wanted):
                kind = type(record).__name__
                yield f"fparser2 reads '{theirs.kind}', this tool reads '{kind}'."
                return
            if theirs.parts is not None:
                yield from _compared_parts(tuple(_parts(record)), theirs.parts)


def _compared_parts(
    ours: tuple[StatementPart, ...], theirs: tuple[StatementPart, ...]
) -> Iterator[str]:
    """Yield the parts of a statement that the two readers understand differently."""
    if len(ours) != len(theirs):
        yield f"fparser2 reads {len(theirs)} parts, this tool reads {len(ours)}."
        return
    for first, second in zip(ours, theirs, strict=True):
        if not agree(first, second):
            yield f"fparser2 reads '{_shown(second)}', this tool reads '{_shown(first)}'."


def _shown(part: StatementPart) -> str:
    match part:
        case str():
            return part
        case Entity(name, shape):
            return f"{name}({', '.join(map(spell, shape))})" if shape else name
        case DeclaredType(type_):
            return str(type_)
    return spell(part)


def _records(lines: tuple[un.Line, ...]) -> Iterator[Any]:
    """Yield the statements, branches and cases that have places of their own."""
    for line in walk_lines(lines):
        match line:
            case un.If(branches) | un.Where(branches):
                yield from branches
            case un.Select(cases=cases):
                yield from (line, *cases)
            case un.Opaque(associate=un.Associate() as inner):
                yield inner
            case un.Critical() | un.ScopedBlock() | un.Conditional() | un.Label():
                pass
            case _ if not isinstance(line, un.Generated):
                yield line


def _parts(record: Any) -> Iterator[StatementPart]:
    """Yield the parts of a statement in the order of `second_reader`."""
    match record:
        case un.Branch(condition) | un.While(condition):
            if condition is not None:
                yield condition
        case un.Select(selector):
            yield selector
        case un.Case(guards):
            yield from guards
        case un.Allocate() | un.Deallocate() | un.Nullify() | un.InputOutput():
            found = (_words(one) for one in expressions_of(record))
            yield ", ".join(sorted(frozenset[str]().union(*found)))
        case UseStatement(use):
            names = {name for one in use.names for name in (one.local, one.original)}
            plain = {key_of(name) for name in {use.module, *names} if name.isidentifier()}
            yield ", ".join(sorted(plain))
        case DeclarationStatement(declares):
            first = declares[0]
            yield DeclaredType(first.type, ("class",) if first.polymorphic else ())
            for one in declares:
                yield Entity(one.name, one.shape, one.value)
        case _:
            yield from expressions_of(record)


def _words(expr: Expr) -> frozenset[str]:
    """Return all names in an expression, those of components included."""
    return frozenset(part.key for part in parts_of(expr) if isinstance(part, Name | Member))


# ---------------------------------------------------------------------------- comparing


def agree(ours: Any, theirs: Any) -> bool:
    """Return whether both readers understood the same.

    What fparser2 carries along as text ours may understand, if it is the same text. A variable in
    brackets that is an argument is a node of ours alone. Names of kinds, and of functions that only
    one of them knows as the language's own, may differ in case.
    """
    if isinstance(ours, Parenthesised):
        ours = ours.operand
    if isinstance(theirs, Verbatim):
        return _bare(spell(ours)) == _bare(theirs.text)
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, str):
        return _bare(ours) == _bare(str(theirs))
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    if hasattr(ours, "__dataclass_fields__"):
        names = [field.name for field in fields(ours)]
        if isinstance(ours, Entity):
            names.remove("details")
        return all(agree(getattr(ours, name), getattr(theirs, name)) for name in names)
    return bool(ours == theirs)


_BRACKETS = {ord(mark): None for mark in "()[]/"}


def _bare(text: str) -> str:
    return (
        key_of("".join(text.split())).replace("kind=", "").replace("len=", "").translate(_BRACKETS)
    )
