"""Executable constructs: the statements and remarks of a body as nested lines of a unit.

Counted loops and choices are opened; any other construct, one that has a name or a label, and all
between `#if` and `#endif` are opaque as a whole. Where the preprocessor cuts through a
construct nothing of the body is understood, and all of it is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from psyclone_storage.frontend.fortran.brackets import closing
from psyclone_storage.frontend.fortran.elements import Element, Kind, Remark, names_in, opaque
from psyclone_storage.frontend.fortran.executable import (
    read_action,
    read_condition,
    read_counted,
)
from psyclone_storage.frontend.fortran.statements import Statement
from psyclone_storage.ir.unit import (
    Assign,
    Blank,
    Branch,
    Call,
    Comment,
    DirectiveLine,
    Do,
    If,
    Line,
    Opaque,
)

_NAMED = re.compile(r"[a-z]\w*\s*:(?!:)\s*", re.IGNORECASE)
_DO = re.compile(r"do\b(?!\s*[=(%])", re.IGNORECASE)
_LABELLED_DO = re.compile(r"do\s+(\d+)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"(?P<word>if|where|forall|associate|change\s*team)\s*\(", re.IGNORECASE)
_OTHER = re.compile(r"select\s*(?:case|type|rank)\s*\(|block$|critical$", re.IGNORECASE)
_END = re.compile(
    r"end\s*(?:do|if|where|forall|associate|select|block|critical|team)(?:\s+\w+)?$", re.IGNORECASE
)
_ELSE = re.compile(r"else(?:\s*if\s*\(.*)?(?:\s+\w+)?$", re.IGNORECASE)
_PLAIN_ELSE = re.compile(r"else$", re.IGNORECASE)
_CONDITIONAL = re.compile(r"#\s*(if|ifdef|ifndef|endif|else|elif)\b")


class TangledError(ValueError):
    """The constructs do not nest as the text is read."""


def read_lines(body: Sequence[Element]) -> tuple[Line, ...]:
    """Return the lines that `body` is."""
    try:
        reading = _Reading(body)
        lines = tuple(reading.block())
        reading.expect_end()
    except TangledError:
        return (opaque(body),)
    return lines


def remark_line(remark: Remark) -> Comment | Blank | DirectiveLine | Opaque:
    """Return a single line between two statements as a line of a unit."""
    match remark.kind:
        case Kind.COMMENT:
            return Comment(remark.text, as_written=True)
        case Kind.BLANK:
            return Blank()
        case Kind.DIRECTIVE:
            return DirectiveLine(remark.text)
        case Kind.PREPROCESSOR | Kind.SENTINEL:
            return opaque([remark])


def conditional_run(run: Sequence[Element], position: int) -> int:
    """Return the position behind the `#endif` of the `#if` at `position`, which may be none.

    Raises `TangledError` if it is not closed.
    """
    depth = 0
    for place in range(position, len(run)):
        depth += conditional_step(run[place])
        if depth <= 0:
            return place + 1
    raise TangledError


def conditional_step(element: Element) -> int:
    """Return 1 for an `#if`, -1 for an `#endif`, 0 for anything else."""
    if not isinstance(element, Remark) or element.kind is not Kind.PREPROCESSOR:
        return 0
    found = _CONDITIONAL.match(element.text)
    word = found.group(1) if found else ""
    return {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word, 0)


class _Reading:
    """A position in a run of elements, moved on as lines are read."""

    def __init__(self, run: Sequence[Element]) -> None:
        self._run = run
        self._at = 0

    def expect_end(self) -> None:
        """Raise `TangledError` unless everything has been read."""
        if self._at < len(self._run):
            raise TangledError

    def block(self) -> Iterator[Line]:
        """Yield lines up to the statement that ends the construct or branch, which is left."""
        while self._at < len(self._run):
            element = self._run[self._at]
            if isinstance(element, Remark):
                yield self._remark(element)
            elif _END.match(element.text) or _ELSE.match(element.text):
                return
            else:
                yield from self._trailing()
                yield self._statement(element)

    def _remark(self, remark: Remark) -> Line:
        step = conditional_step(remark)
        if step == 0 and not _CONDITIONAL.match(remark.text if _is_cpp(remark) else ""):
            self._at += 1
            return remark_line(remark)
        if step != 1:
            raise TangledError
        stop = conditional_run(self._run, self._at)
        return self._opaque(stop, balanced=True)

    def _trailing(self) -> Iterator[Line]:
        """Yield the comment behind the statement here, and take it out of the run."""
        following = self._at + 1
        if following < len(self._run):
            element = self._run[following]
            if isinstance(element, Remark) and element.trailing:
                self._run = (*self._run[:following], *self._run[following + 1 :])
                yield remark_line(element)

    def _statement(self, statement: Statement) -> Line:
        if statement.label or statement.split:
            return self._opaque(self._end_of(self._at))
        if not _opens(statement.text):
            return self._action(statement)
        counted = read_counted(statement.text)
        if counted is not None:
            self._at += 1
            body = tuple(self.block())
            self._close("do")
            head = (counted.variable, counted.start, counted.stop)
            return Do(*head, body, counted.step, place=statement.whole())
        condition = read_condition(statement.text)
        if condition is not None and not condition.action:
            return self._choice(statement)
        return self._opaque(self._end_of(self._at))

    def _action(self, statement: Statement) -> Line:
        condition = read_condition(statement.text)
        if condition is not None and condition.action:
            action = read_action(condition.action) or _one_opaque(condition.action)
            self._at += 1
            body = (_placed(action, statement),)
            return If((Branch(condition.expr, body, place=statement.whole()),))
        line = read_action(statement.text)
        if line is None:
            return self._opaque(self._at + 1)
        self._at += 1
        return _placed(line, statement)

    def _choice(self, head: Statement) -> Line:
        """Return the choice that starts here, opaque if one of its conditions is not understood."""
        start = self._at
        branches: list[Branch] = []
        otherwise: tuple[Line, ...] = ()
        current: Statement | None = head
        while current is not None:
            condition = read_condition(current.text)
            self._at += 1
            lines = tuple(self.block())
            if condition is not None and not condition.action:
                branches.append(Branch(condition.expr, lines, place=current.whole()))
            elif _PLAIN_ELSE.match(current.text):
                otherwise = lines
            else:
                self._at = start
                return self._opaque(self._end_of(start))
            current = self._next_branch()
        self._close("if")
        return If(tuple(branches), otherwise)

    def _next_branch(self) -> Statement | None:
        element = self._run[self._at] if self._at < len(self._run) else None
        if isinstance(element, Statement) and _ELSE.match(element.text):
            return element
        return None

    def _close(self, word: str) -> None:
        element = self._run[self._at] if self._at < len(self._run) else None
        wanted = "end" + word
        if not isinstance(element, Statement) or "".join(element.text.lower().split()) != wanted:
            raise TangledError
        self._at += 1

    def _end_of(self, start: int) -> int:
        """Return the position behind the construct or statement at `start`."""
        first = self._run[start]
        assert isinstance(first, Statement)
        if labelled := _LABELLED_DO.match(_unnamed(first.text)):
            return self._label(labelled.group(1), start)
        depth = 0
        for place in range(start, len(self._run)):
            element = self._run[place]
            if isinstance(element, Statement):
                depth += _depth_step(element)
                if depth <= 0:
                    return place + 1
        raise TangledError

    def _label(self, label: str, start: int) -> int:
        """Return the position behind the last statement, from `start` on, with that label."""
        for place in range(start + 1, len(self._run)):
            element = self._run[place]
            if isinstance(element, Statement) and element.label == label:
                return place + 1
        raise TangledError

    def _opaque(self, stop: int, *, balanced: bool = False) -> Opaque:
        run = self._run[self._at : stop]
        if balanced:
            _check_balance(run)
        self._at = stop
        return opaque(run)


def _check_balance(run: Sequence[Element]) -> None:
    """Raise `TangledError` if a branch of a preprocessor conditional cuts through a construct."""
    depth = 0
    for element in run:
        if isinstance(element, Statement):
            depth += _depth_step(element)
            if depth < 0 or (depth == 0 and _ELSE.match(element.text)):
                raise TangledError
    if depth:
        raise TangledError


def _is_cpp(remark: Remark) -> bool:
    return remark.kind is Kind.PREPROCESSOR


def _depth_step(statement: Statement) -> int:
    if _END.match(statement.text):
        return -1
    return 1 if _opens(statement.text) and not _LABELLED_DO.match(_unnamed(statement.text)) else 0


def _opens(text: str) -> bool:
    """Return whether a statement opens a construct."""
    text = _unnamed(text)
    if _DO.match(text) or _OTHER.match(text):
        return True
    head = _BRACKETED.match(text)
    if head is None:
        return False
    rest = text[closing(text, head.end() - 1) + 1 :].strip()
    return rest.lower() == ("then" if head["word"].lower() == "if" else "")


def _unnamed(text: str) -> str:
    named = _NAMED.match(text)
    return text[named.end() :] if named else text


def _placed(line: Line, statement: Statement) -> Line:
    """Return `line`, which `statement` is or holds, with its place."""
    return replace(line, place=statement.whole()) if isinstance(line, Assign | Call) else line


def _one_opaque(text: str) -> Opaque:
    return Opaque(text, names_in(text))
