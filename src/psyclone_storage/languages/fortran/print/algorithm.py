"""Algorithm text with each invoke replaced by a call of its generated routine.

This module lays out the calls and the `use` statements for the routines. Every other character is
unchanged, including line ends, tabs and comments. Only comments between the lines of an invoke are
lost.
"""

from __future__ import annotations

from collections.abc import Iterable

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import spell_as_written
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.parsed import Scope
from psyclone_storage.ir.schedule import Invoke, Program

_LIMIT = 132
_WIDTH = 100
_STEP = 4
_ALIGNED_UP_TO = 48
_MORE = " &"


@dataclass(frozen=True, slots=True)
class _StatementEdit:
    """Replacement text for the characters from `start` up to but excluding `stop`."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True, slots=True)
class _StatementPlace:
    """Location of an inserted statement.

    - `column`: the number of columns before the statement.

    - `indent`: the white space at the start of its line.

    - `reserved`: the number of columns needed for code after the statement on its last line.
    """

    column: int
    indent: str
    reserved: int = 0


def emit_algorithm(program: Program) -> str:
    """Return the algorithm text of `program` with calls of the generated routines.

    The outermost program units that call the routines import them, unless they already do.
    Generated lines have at most 132 characters.
    """
    source = program.algorithm.source.text
    newline = "\r\n" if "\r\n" in source else "\n"
    edits = [_replacement(invoke, newline) for invoke in program.invokes]
    edits += _imports(program, newline)
    return _edited(source, edits)


def _edited(text: str, edits: Iterable[_StatementEdit]) -> str:
    parts = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
        parts += [text[done : edit.start], edit.text]
        done = edit.stop
    return "".join([*parts, text[done:]])


def _replacement(invoke: Invoke, newline: str) -> _StatementEdit:
    span = invoke.parsed.span
    text = span.source.text
    actuals = [spell_as_written(datum.actual) for datum in invoke.schedule.data]
    place = _place(text, span.start, reserved=_code_behind(text, span.stop))
    head = f"call {invoke.name}("
    lines = _laid_out(head, actuals, ")", place)
    return _StatementEdit(span.start, span.stop, newline.join(lines))


def _imports(program: Program, newline: str) -> list[_StatementEdit]:
    """Return the insertions of `use` statements, one for each outermost unit with invokes."""
    wanted: dict[int, tuple[Scope, list[str]]] = {}
    for invoke in program.invokes:
        unit = invoke.parsed.scopes[-1]
        names = wanted.setdefault(unit.end_of_uses, (unit, []))[1]
        if not _is_imported(unit, program.name, invoke.name):
            names.append(invoke.name)
    text = program.algorithm.source.text
    return [
        _import(text, unit, program.name, names, newline)
        for unit, names in wanted.values()
        if names
    ]


def _is_imported(unit: Scope, module: str, routine: str) -> bool:
    for use in unit.uses:
        if use.module_key != key_of(module):
            continue
        if use.only is None or key_of(routine) in {used.key for used in use.only}:
            return True
    return False


def _import(
    text: str, unit: Scope, module: str, routines: list[str], newline: str
) -> _StatementEdit:
    at = unit.end_of_uses
    head = f"use {module}, only: "
    if text[at - 1] == "\n":
        indent = " " * unit.indent
        lines = _laid_out(head, routines, "", _StatementPlace(len(indent), indent))
        return _StatementEdit(at, at, indent + newline.join(lines) + newline)
    # The line of the unit's last `use` contains more statements.
    place = _place(text, at, reserved=_code_behind(text, at))
    lines = _laid_out(f"; {head}", routines, "", place)
    return _StatementEdit(at, at, newline.join(lines))


def _place(text: str, at: int, *, reserved: int) -> _StatementPlace:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    return _StatementPlace(len(before), indent, reserved)


def _code_behind(text: str, at: int) -> int:
    """Return the number of columns of code after `at` on its line, without a comment."""
    stop = text.find("\n", at)
    rest = text[at : stop if stop >= 0 else len(text)].rstrip()
    return 0 if rest.lstrip().startswith("!") else len(rest)


# ---------------------------------------------------------------------------- layout


def _laid_out(head: str, items: list[str], tail: str, place: _StatementPlace) -> list[str]:
    """Return `head`, the listed items and `tail` as lines; the first omits the text before it."""
    deeper = place.indent + " " * _STEP
    lines: list[str] = []
    line = " " * place.column
    shown = len(line)
    if shown + len(head) + len(_MORE) > _LIMIT:
        lines.append(_MORE.lstrip())
        line = deeper
    line += head
    aligned = " " * len(line) if len(line) <= _ALIGNED_UP_TO else deeper
    for number, item in enumerate(items):
        last = number == len(items) - 1
        piece = item + (tail if last else ",")
        ending = place.reserved if last else len(_MORE)
        if line.strip() and len(line) + len(piece) + ending > _WIDTH:
            lines.append(line.rstrip() + _MORE)
            line = aligned
        line += piece + ("" if last else " ")
    lines.append(line if items else line + tail)
    if place.reserved and len(lines[-1]) + place.reserved > _LIMIT:
        lines[-1] += _MORE
        lines.append(place.indent)
    lines = [part for whole in lines for part in _broken(whole)]
    return [lines[0][shown:] if lines[0] != "&" else "&", *lines[1:]]


def _broken(line: str) -> list[str]:
    """Split a line that is too long, if necessary in the middle of a word."""
    parts = []
    while len(line) > _LIMIT:
        parts.append(line[: _LIMIT - 1] + "&")
        line = "&" + line[_LIMIT - 1 :]
    return [*parts, line]
