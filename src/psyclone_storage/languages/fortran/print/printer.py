"""Printing of units as Fortran 2008 that is readable for debugging.

Each kind of node has one `match` case. Lines have at most 132 columns, each indentation step is two
blanks, and keywords are in lower case. The text depends only on the unit and contains neither date
nor path, so equal programs give equal files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Name, spell_as_written, walk
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import DataType, DerivedType, ScalarType
from psyclone_storage.languages.fortran.print.directives import (
    spell_block,
    spell_directive,
    spell_meaning,
)
from psyclone_storage.languages.fortran.print.wrap import commented, wrapped

_STEP = 2


@dataclass(frozen=True, slots=True)
class InlinedProcedures:
    """Private additions to a module, as printed lines.

    - `specified`: lines for its specification part.

    - `procedures`: lines after its own procedures.

    - `codes`: the added subroutines as typed code, for languages that print them together with
      their callers.

    - `bounds_checks`: C code checks array indices.
    """

    specified: tuple[tuple[str, ...], ...] = ()
    procedures: tuple[tuple[str, ...], ...] = ()
    codes: tuple[Routine, ...] = ()
    bounds_checks: bool = False


_NOTHING_INLINED = InlinedProcedures()


def emit_unit(unit: un.Unit, inlined: InlinedProcedures = _NOTHING_INLINED) -> str:
    """Return the text of a module."""
    lines = commented(unit.comment, 0) if unit.comment else []
    lines.append(f"module {unit.name}")
    for use in unit.uses:
        lines += wrapped(emit_use(use), _STEP)
    lines += ["", "  implicit none", "", "  private"]
    for routine in (*unit.routines, *unit.outlined):
        lines += wrapped(f"public :: {routine.name}", _STEP)
    for specified in inlined.specified:
        lines += ["", *specified]
    lines += ["", "contains"]
    for routine in (*unit.routines, *unit.outlined, *unit.helpers):
        lines += ["", *_routine(routine)]
    for procedure in inlined.procedures:
        lines += ["", *procedure]
    lines += ["", f"end module {unit.name}"]
    return "\n".join(lines) + "\n"


def emit_use(use: un.Use) -> str:
    """Return a `use` statement."""
    names = ", ".join(
        name.local if name.local == name.original else f"{name.local} => {name.original}"
        for name in use.names
    )
    nature = ", intrinsic ::" if use.intrinsic else ""
    if use.whole:
        return f"use{nature} {use.module}" + (f", {names}" if names else "")
    return f"use{nature} {use.module}, only: {names}"


def _routine(routine: un.GeneratedRoutine) -> Iterator[str]:
    if routine.comment:
        yield from commented(routine.comment, _STEP)
    dummies = ", ".join(dummy.name for dummy in routine.dummies)
    yield from wrapped(f"subroutine {routine.name}({dummies})", _STEP)
    for dummy in sorted(routine.dummies, key=_needs_others):
        yield from wrapped(_declaration(dummy, _entity(dummy)), 2 * _STEP)
    if routine.variables:
        yield ""
    groups: dict[str, list[un.Declare]] = {}
    for variable in routine.variables:
        groups.setdefault(_declaration(variable, ""), []).append(variable)
    for alike in groups.values():
        entities = ", ".join(map(_entity, alike))
        yield from wrapped(_declaration(alike[0], entities), 2 * _STEP)
    yield from emit_lines(routine.directives, 2 * _STEP)
    yield ""
    yield from emit_lines(routine.body, 2 * _STEP)
    yield f"  end subroutine {routine.name}"


def emit_declarations(declares: Iterable[un.Declare], indent: int) -> Iterator[str]:
    """Yield declarations in order; neighbours that differ only in the entity are combined."""
    for head, alike in groupby(declares, key=lambda item: _declaration(item, "")):
        yield from wrapped(head + ", ".join(map(_entity, alike)), indent)


def _needs_others(declare: un.Declare) -> bool:
    """Return whether an extent uses another variable, which must be declared before."""
    return any(isinstance(part, Name) for extent in declare.shape for part in walk(extent))


def _declaration(declare: un.Declare, entities: str) -> str:
    head = ", ".join((_type(declare.type, declare.polymorphic), *declare.attributes))
    return f"{head} :: {entities}"


def _entity(declare: un.Declare) -> str:
    name = f"{declare.name}({_listed(declare.shape)})" if declare.shape else declare.name
    return name if declare.value is None else f"{name} = {spell_as_written(declare.value)}"


def _type(data_type: DataType, polymorphic: bool) -> str:
    match data_type:
        case DerivedType(name):
            return f"class({name})" if polymorphic else f"type({name})"
        case ScalarType(intrinsic, None):
            return intrinsic.value
        case ScalarType(intrinsic, kind):
            return f"{intrinsic.value}(kind={kind})"


def emit_lines(lines: Iterable[un.Line], indent: int) -> Iterator[str]:
    """Yield the lines of statements; the outermost are indented by `indent` blanks."""
    label = ""
    for line in lines:
        if isinstance(line, un.Label):
            yield from _labelled(label, "continue", indent) if label else ()
            label = line.number
        elif not label or isinstance(line, un.Blank):
            yield from _line(line, indent)
        else:
            yield from _behind_label(label, line, indent)
            label = ""
    if label:
        yield from _labelled(label, "continue", indent)


def _behind_label(label: str, line: un.Line, indent: int) -> Iterator[str]:
    """Yield a labelled statement; before a comment, the label is put on its own line."""
    if isinstance(
        line,
        un.Comment | un.DirectiveLine | un.Opaque | un.Conditional | un.ScopedBlock | un.Format,
    ):
        yield from _labelled(label, "continue", indent)
        yield from _line(line, indent)
        return
    first, *further = _line(line, indent)
    yield from _labelled(label, first.strip(), indent)
    yield from further


def _labelled(label: str, text: str, indent: int) -> Iterator[str]:
    yield f"{label} ".ljust(indent) + text


def _line(line: un.Line, indent: int) -> Iterator[str]:
    match line:
        case un.Blank() | un.Comment() | un.DirectiveLine() | un.Opaque():
            yield from _carried(line, indent)
        case un.Do() | un.While() | un.DoConcurrent():
            yield from _loop(line, indent)
        case un.ScopedBlock() | un.Critical() | un.Associate() | un.Forall():
            yield from _scope(line, indent)
        case un.If() | un.Where():
            yield from _choice(line, indent)
        case un.Select():
            yield from _selection(line, indent)
        case un.Conditional(parts):
            for part in parts:
                yield part.text
                yield from emit_lines(part.body, indent)
            yield "#endif"
        case _ if isinstance(line, un.Generated):
            yield from _directed(line, indent)
        case _:
            yield from wrapped(emit_action(line), indent)


def _carried(
    line: un.Blank | un.Comment | un.DirectiveLine | un.Opaque, indent: int
) -> Iterator[str]:
    match line:
        case un.Blank():
            yield ""
        case un.Comment(text, as_written):
            yield from [f"{' ' * indent}!{text}"] if as_written else commented(text, indent)
        case un.DirectiveLine(text, meaning):
            yield from _directive(text or spell_meaning(meaning), indent)
        case un.Opaque(text):
            yield from _verbatim(text, indent)


def _directed(line: un.Generated, indent: int) -> Iterator[str]:
    """Yield a directive, or a block with the directives around it."""
    if isinstance(line, un.HoldData):
        raise InternalError("Data are not held by a program in Fortran.")
    if not isinstance(line, un.DirectiveBlock):
        yield from _directive(spell_directive(line), indent)
        return
    heads, feet = spell_block(line)
    for text in heads:
        yield from _directive(text, indent)
    yield from emit_lines(line.body, indent)
    for text in feet:
        yield from _directive(text, indent)


def emit_action(line: un.Line) -> str:
    """Return the text of a simple statement on one line of any length."""
    match line:
        case un.Assign(target, value):
            return f"{spell_as_written(target)} = {spell_as_written(value)}"
        case un.PointerAssign(target, value):
            return f"{spell_as_written(target)} => {spell_as_written(value)}"
        case un.Call(procedure, args):
            return f"call {spell_as_written(procedure)}({_listed(args)})"
        case un.Allocate(arrays, kind):
            return (
                f"allocate({kind} :: {_listed(arrays)})"
                if kind
                else (f"allocate({_listed(arrays)})")
            )
        case un.Deallocate(arrays):
            return f"deallocate({_listed(arrays)})"
        case un.Nullify(pointers):
            return f"nullify({_listed(pointers)})"
        case un.InputOutput(word, controls, items):
            return _transfer(word, controls, items)
        case un.Format(label, text):
            return f"{label} format{text}"
        case un.Include(file):
            return f"include {file}"
    return _jump(line)


def _jump(line: un.Line) -> str:
    match line:
        case un.Return(value):
            return "return" if value is None else f"return {spell_as_written(value)}"
        case un.Exit(name):
            return f"exit {name}".rstrip()
        case un.Cycle(name):
            return f"cycle {name}".rstrip()
        case un.Stop(code, error, quiet):
            word = "error stop" if error else "stop"
            text = word if code is None else f"{word} {spell_as_written(code)}"
            return text if quiet is None else f"{text}, quiet={spell_as_written(quiet)}"
        case un.Continue():
            return "continue"
        case un.Goto((label,), None):
            return f"go to {label}"
        case un.Goto(labels, selector) if selector is not None:
            return f"go to ({', '.join(labels)}), {spell_as_written(selector)}"
    raise InternalError(f"Statement of class {type(line).__name__} has no spelling.")


_WITHOUT_BRACKETS = frozenset({"print"})


def _transfer(word: str, controls: tuple[Expr, ...], items: tuple[Expr, ...]) -> str:
    if word in _WITHOUT_BRACKETS:
        return f"{word} {_listed((*controls, *items))}"
    return f"{word}({_listed(controls)}) {_listed(items)}".rstrip()


def _loop(line: un.Do | un.While | un.DoConcurrent, indent: int) -> Iterator[str]:
    match line:
        case un.Do(variable, start, stop, _, step):
            bounds = _listed((start, stop) if step is None else (start, stop, step))
            head = f"do {variable.text} = {bounds}"
        case un.While(condition):
            head = "do" if condition is None else f"do while ({spell_as_written(condition)})"
        case un.DoConcurrent():
            head = f"do concurrent {_counted(line)} {line.locality}".rstrip()
    yield from _construct(head, "end do", line.name, line.body, indent)


def _scope(
    line: un.ScopedBlock | un.Critical | un.Associate | un.Forall, indent: int
) -> Iterator[str]:
    match line:
        case un.ScopedBlock(uses, declarations, body):
            yield from wrapped(f"{line.name}: block" if line.name else "block", indent)
            for use in uses:
                yield from wrapped(emit_use(use), indent + _STEP)
            yield from _specified(declarations, indent + _STEP)
            yield from emit_lines(body, indent + _STEP)
            yield " " * indent + f"end block {line.name}".rstrip()
        case un.Critical(body):
            yield from _construct("critical", "end critical", line.name, body, indent)
        case un.Associate(pairs, body):
            listed = ", ".join(f"{name.text} => {spell_as_written(value)}" for name, value in pairs)
            head = f"associate ({listed})"
            yield from _construct(head, "end associate", line.name, body, indent)
        case un.Forall():
            head = f"forall {_counted(line)}"
            yield from _construct(head, "end forall", line.name, line.body, indent)


def _specified(
    items: tuple[un.Declare | un.Comment | un.Blank | un.Opaque, ...], indent: int
) -> Iterator[str]:
    """Yield the specification part of a block in order."""
    for declares, group in groupby(items, key=lambda item: isinstance(item, un.Declare)):
        if declares:
            found = (item for item in group if isinstance(item, un.Declare))
            yield from emit_declarations(found, indent)
        else:
            yield from emit_lines(
                (item for item in group if not isinstance(item, un.Declare)), indent
            )


def _construct(
    head: str, end: str, name: str, body: tuple[un.Line, ...], indent: int
) -> Iterator[str]:
    yield from wrapped(f"{name}: {head}" if name else head, indent)
    yield from emit_lines(body, indent + _STEP)
    yield " " * indent + f"{end} {name}".rstrip()


def _counted(line: un.DoConcurrent | un.Forall) -> str:
    """Return the loop variables and mask of `do concurrent` or `forall`, in parentheses."""
    controls = [
        f"{one.variable.text} = {spell_as_written(one.start)}:{spell_as_written(one.stop)}"
        + ("" if one.step is None else f":{spell_as_written(one.step)}")
        for one in line.controls
    ]
    mask = [] if line.mask is None else [spell_as_written(line.mask)]
    kind = f"{line.kind} :: " if line.kind else ""
    return f"({kind}{', '.join((*controls, *mask))})"


def _selection(line: un.Select, indent: int) -> Iterator[str]:
    selector = spell_as_written(line.selector)
    if line.alias:
        selector = f"{line.alias.text} => {selector}"
    head = f"select {line.word} ({selector})"
    yield from wrapped(f"{line.name}: {head}" if line.name else head, indent)
    yield from emit_lines(line.before, indent)
    for case in line.cases:
        default = "class default" if line.word == "type" else f"{line.word} default"
        text = f"{case.word} ({_listed(case.guards)})" if case.guards else default
        yield from wrapped(text, indent)
        yield from emit_lines(case.body, indent + _STEP)
    yield " " * indent + f"end select {line.name}".rstrip()


def _verbatim(text: str, indent: int) -> Iterator[str]:
    """Yield author's statements: indent only the first line, and leave the others unchanged.

    A preprocessor line starts in the first column.
    """
    first, *further = text.split("\n")
    yield first if first.startswith("#") else " " * indent + first
    yield from further


def _choice(line: un.If | un.Where, indent: int) -> Iterator[str]:
    word, then, other = ("if", " then", "else if") if isinstance(line, un.If) else (
        "where", "", "elsewhere"
    )  # fmt: skip
    for number, branch in enumerate(line.branches):
        head = f"{other if number else word} ({spell_as_written(branch.condition)}){then}"
        yield from wrapped(f"{line.name}: {head}" if line.name and not number else head, indent)
        yield from emit_lines(branch.body, indent + _STEP)
    if line.otherwise:
        yield " " * indent + ("else" if then else other)
        yield from emit_lines(line.otherwise, indent + _STEP)
    yield " " * indent + f"end {word} {line.name}".rstrip()


def _directive(text: str, indent: int) -> Iterator[str]:
    """Yield a directive; continuation lines repeat its sentinel."""
    sentinel = f"!${text.split(maxsplit=1)[0]}"
    first, *further = wrapped(f"!${text}", indent)
    yield first
    for line in further:
        yield f"{' ' * (indent)}{sentinel} {line.strip()}"


def _listed(items: tuple[Expr, ...]) -> str:
    return ", ".join(map(spell_as_written, items))
