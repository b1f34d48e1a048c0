"""Parsing of executable statements as nested unit lines.

A construct is stored as text if its first statement is not understood or if a preprocessor
conditional splits it. The surrounding statements are still parsed. In a kernel, names are looked up
independently of their position. Constructs with local names and preprocessor conditionals are
therefore also stored as text there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.rewrite import walk_lines, with_each_block
from psyclone_storage.ir.routine import declarations_in, uses_in
from psyclone_storage.languages.fortran.parse.actions import read_simple
from psyclone_storage.languages.fortran.parse.brackets import closing
from psyclone_storage.languages.fortran.parse.comments import (
    NestingError,
    conditional_branches,
    conditional_run,
    conditional_step,
    conditional_word,
    is_conditional,
    remark_line,
)
from psyclone_storage.languages.fortran.parse.construct_heads import (
    LABELLED_DO,
    construct_of,
    end_name,
    ended_construct,
    is_assigned,
    is_case,
    opens,
    other_branch,
    read_case,
    read_head,
    read_mask,
    unnamed_text,
)
from psyclone_storage.languages.fortran.parse.spec_part import (
    end_of_specification,
    read_items,
)
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError
from psyclone_storage.languages.fortran.parse.trivia import (
    Element,
    Remark,
    opaque,
    source_of,
    start_of,
    stop_of,
    words_in,
)

_DIRECTIVE = regex(r"^[ \t]*#[ \t]*(\w+)", re.MULTILINE)
_IF = regex(r"if\s*\(", re.IGNORECASE)
_WHERE = regex(r"where\s*\(", re.IGNORECASE)
_FORALL = regex(r"forall\s*\(", re.IGNORECASE)
_FORMAT = regex(r"format\s*(?P<text>\(.*\))$", re.IGNORECASE)
_THEN = regex(r"then(?:\s+\w+)?$", re.IGNORECASE)
_END_WORDS = {
    un.Select: "select", un.Associate: "associate", un.Forall: "forall", un.Critical: "critical",
}  # fmt: skip


def read_lines(body: Sequence[Element]) -> tuple[un.Line, ...]:
    """Parse the statements of a kernel; a trailing comment is moved before its statement."""
    try:
        return tuple(_ElementCursor(body, whole=False).everything())
    except NestingError:
        return (opaque(body),)


def read_whole_lines(body: Sequence[Element]) -> tuple[un.Line, ...]:
    """Parse all statements in `body` in order, together with the text between them."""
    run = tuple(_outside_of_statements(body))
    reading = _ElementCursor(run, whole=True)
    found: list[un.Line] = []
    while not reading.at_end():
        start = reading.position
        try:
            found += reading.step()
        except NestingError:
            return (*found, opaque(run[start:]))
    return tuple(found)


def _outside_of_statements(body: Sequence[Element]) -> Iterator[Element]:
    """Yield the elements except comments between the lines of one statement."""
    before: list[Remark] = []
    for item in body:
        if isinstance(item, Remark):
            before.append(item)
            continue
        yield from (one for one in before if one.place.start < item.offset(0))
        before = []
        yield item
    yield from before


def _divides(statement: SourceStatement) -> bool:
    """Return whether a statement ends a construct or starts another branch."""
    text = statement.text
    return bool(ended_construct(text) or other_branch(text) or is_case(text))


class _ElementCursor:
    """Position in a sequence of elements, advanced while lines are parsed."""

    def __init__(self, run: Sequence[Element], *, whole: bool, labels: Sequence[str] = ()) -> None:
        self._run = run
        self._whole = whole
        self._at = 0
        self._labels = [*labels]
        self._ended = ""

    @property
    def position(self) -> int:
        """Number of elements already parsed."""
        return self._at

    def at_end(self) -> bool:
        """Return whether all elements are parsed."""
        return self._at >= len(self._run)

    def everything(self) -> Iterator[un.Line]:
        """Yield all lines; raise `NestingError` for the end of a construct that was not started."""
        while not self.at_end():
            yield from self.step()

    def step(self, until: str = "") -> Sequence[un.Line]:
        """Parse the next element, or the construct that starts with it, and return its lines."""
        element = self._run[self._at]
        if isinstance(element, Remark):
            return (self._remark(element),)
        if element.label:
            return self._labelled(element, until)
        if _divides(element):
            raise NestingError
        return (*self._trailing(), self._statement(element))

    def _block(self, until: str = "") -> Iterator[un.Line]:
        """Yield lines up to the end statement of the construct or branch, which is not consumed.

        A loop with the label `until` ends after the statement with this label.
        """
        while not self.at_end():
            element = self._run[self._at]
            if isinstance(element, SourceStatement) and not element.label and _divides(element):
                return
            yield from self.step(until)
            if self._ended:
                return

    # ------------------------------------------------------------------------ between statements

    def _remark(self, remark: Remark) -> un.Line:
        if not is_conditional(remark):
            self._at += 1
            return remark_line(remark)
        if conditional_step(remark) != 1:
            raise NestingError
        if self._whole:
            return self._conditional()
        stop = conditional_run(self._run, self._at)
        _check_balance(self._run[self._at : stop])
        return self._opaque(stop)

    def _conditional(self) -> un.Line:
        """Parse a preprocessor conditional; store it as text if a branch splits a construct."""
        start = self._at
        places = conditional_branches(self._run, start)
        parts: list[un.ConditionalBranch] = []
        try:
            for first, last in pairwise(places):
                inner = self._run[first + 1 : last]
                body = tuple(_ElementCursor(inner, whole=True, labels=self._labels).everything())
                head = self._run[first]
                assert isinstance(head, Remark)
                parts.append(un.ConditionalBranch(head.text, body, place=head.place))
        except NestingError:
            return self._opaque(self._end_of(start))
        self._at = places[-1] + 1
        return un.Conditional(tuple(parts), extent=self._extent(start))

    def _trailing(self) -> Iterator[un.Line]:
        """Yield the trailing comment of the current statement in a kernel, and remove it."""
        following = self._at + 1
        if not self._whole and following < len(self._run):
            element = self._run[following]
            if isinstance(element, Remark) and element.trailing:
                self._run = (*self._run[:following], *self._run[following + 1 :])
                yield remark_line(element)

    # ------------------------------------------------------------------------ statements

    def _labelled(self, statement: SourceStatement, until: str) -> Sequence[un.Line]:
        form = _FORMAT.match(statement.text)
        if form:
            self._at += 1
            place = Span(statement.source, start_of(statement), stop_of(statement))
            return (un.Format(statement.label, form["text"], place=place),)
        first = start_of(statement)
        place = Span(statement.source, first, first + len(statement.label))
        label = un.Label(statement.label, place=place)
        before = tuple(self._trailing())
        if _number(statement.label) not in self._labels:
            if _divides(statement):
                raise NestingError
            return (*before, label, self._statement(statement))
        if _number(statement.label) != until:
            raise NestingError
        self._ended = until
        if ended_construct(statement.text) == "do":
            self._at += 1
            return (*before, label)
        if opens(statement.text) or _divides(statement):
            raise NestingError
        return (*before, label, self._action(statement))

    def _statement(self, statement: SourceStatement) -> un.Line:
        if statement.split:
            return self._opaque(self._end_of(self._at))
        if not opens(statement.text):
            return self._action(statement)
        start, labels = self._at, [*self._labels]
        try:
            line = self._construct(statement)
        except (NestingError, UnreadableError):
            line = None
        is_kept_whole = isinstance(line, un.Associate) and not self._whole
        if line is not None and not is_kept_whole:
            return line
        self._at, self._labels, self._ended = start, labels, ""
        found = self._opaque(self._end_of(start))
        return replace(found, associate=line) if isinstance(line, un.Associate) else found

    def _action(self, statement: SourceStatement) -> un.Line:
        text = statement.text
        line = self._under_mask(statement) if _IF.match(text) else _simple(text, statement, 0)
        if line is None:
            return self._opaque(self._at + 1)
        self._at += 1
        return line

    def _under_mask(self, statement: SourceStatement) -> un.Line | None:
        """Parse an `if` statement without `then`, whose condition is followed by one statement."""
        try:
            mask = read_mask(statement.text)
        except UnreadableError:
            return None
        if not mask.rest or mask.rest[0].isdigit() or mask.rest[0] in "=%":
            return _simple(statement.text, statement, 0)
        action = _simple(mask.rest, statement, mask.rest_at) or un.Opaque(
            mask.rest,
            words_in(mask.rest),
            place=statement.span(mask.rest_at, len(statement.text)),
        )
        whole = statement.whole()
        return un.If((un.Branch(mask.condition, (action,), place=whole),), extent=whole)

    # ------------------------------------------------------------------------ constructs

    def _construct(self, statement: SourceStatement) -> un.Line | None:
        """Parse the construct that starts here.

        Return None if its first statement is not understood.
        """
        text = unnamed_text(statement.text)
        name = construct_of(statement.text)
        if _IF.match(text):
            return self._choice(statement, text, name)
        if _WHERE.match(text):
            return self._masks(statement, text, name)
        head = read_head(text)
        match head:
            case None:
                return None
            case un.ScopedBlock() if not self._whole:
                return None
            case un.Select():
                if not self._whole and head.word != "case":
                    return None
                return self._selection(statement, head, name)
            case un.ScopedBlock():
                return self._scope(name)
        start = self._at
        self._at += 1
        if found := LABELLED_DO.match(text):
            label = _number(found["label"])
            body = self._labelled_body(label)
            if isinstance(head, un.Do | un.While):
                head, body = _ended_by_label(head, body, label)
        else:
            body = tuple(self._block())
            self._close(_END_WORDS.get(type(head), "do"), name)
        extent = self._extent(start)
        if isinstance(head, un.Critical):
            return replace(head, body=body, name=name, extent=extent)
        return replace(head, body=body, name=name, place=statement.whole(), extent=extent)

    def _labelled_body(self, label: str) -> tuple[un.Line, ...]:
        """Return the statements up to the one with `label`, which can end several nested loops."""
        self._labels.append(label)
        body = tuple(self._block(label))
        self._labels.pop()
        if self._ended != label:
            raise NestingError
        if label not in self._labels:
            self._ended = ""
        return body

    def _choice(self, statement: SourceStatement, text: str, name: str) -> un.Line:
        start = self._at
        branches: list[un.Branch] = []
        otherwise: tuple[un.Line, ...] | None = None
        current: SourceStatement | None = statement
        while current is not None:
            word = other_branch(current.text) if branches else "elseif"
            if otherwise is not None or word == "elsewhere":
                raise NestingError
            mask = read_mask(text if not branches else current.text) if word == "elseif" else None
            self._at += 1
            body = tuple(self._block())
            if mask is None:
                otherwise = body
            elif _THEN.match(mask.rest):
                branches.append(un.Branch(mask.condition, body, place=current.whole()))
            else:
                raise NestingError
            current = self._next_branch()
        self._close("if", name)
        return un.If(tuple(branches), otherwise or (), name=name, extent=self._extent(start))

    def _masks(self, statement: SourceStatement, text: str, name: str) -> un.Line:
        start = self._at
        branches: list[un.Branch] = []
        otherwise: tuple[un.Line, ...] | None = None
        current: SourceStatement | None = statement
        while current is not None:
            if otherwise is not None or (branches and other_branch(current.text) != "elsewhere"):
                raise NestingError
            head = current.text if branches else text
            mask = read_mask(head) if "(" in head else None
            self._at += 1
            body = tuple(self._block())
            if mask is None:
                otherwise = body
            else:
                branches.append(un.Branch(mask.condition, body, place=current.whole()))
            current = self._next_branch()
        self._close("where", name)
        return un.Where(tuple(branches), otherwise or (), name=name, extent=self._extent(start))

    def _next_branch(self) -> SourceStatement | None:
        element = None if self.at_end() else self._run[self._at]
        if isinstance(element, SourceStatement) and other_branch(element.text):
            return element
        return None

    def _selection(self, statement: SourceStatement, head: un.Select, name: str) -> un.Line:
        start = self._at
        self._at += 1
        before = tuple(self._block())
        cases: list[un.Case] = []
        while not self.at_end():
            element = self._run[self._at]
            if not isinstance(element, SourceStatement) or not is_case(element.text):
                break
            case = read_case(element.text)
            self._at += 1
            cases.append(replace(case, body=tuple(self._block()), place=element.whole()))
        self._close("select", name)
        place, extent = statement.whole(), self._extent(start)
        found = replace(head, cases=tuple(cases), before=before, name=name)
        return replace(found, place=place, extent=extent)

    def _scope(self, name: str) -> un.Line | None:
        """Parse a `block` construct with its declarations."""
        start = self._at
        stop = self._end_of(start)
        inside = self._run[start + 1 : stop - 1]
        first = end_of_specification(inside)
        specification = read_items(inside[:first], whole=False)
        if any(isinstance(item, un.DirectiveLine) for item in specification):
            return None
        inner = _ElementCursor(inside[first:], whole=True)
        body = tuple(inner.everything())
        self._at = stop - 1
        self._close("block", name)
        parts = (uses_in(specification), declarations_in(specification), body)
        return un.ScopedBlock(*parts, name=name, extent=self._extent(start))

    def _close(self, word: str, name: str) -> None:
        element = None if self.at_end() else self._run[self._at]
        if (
            not isinstance(element, SourceStatement)
            or ended_construct(element.text) != word
            or element.label
        ):
            raise NestingError
        if end_name(element.text) not in ("", name.lower()):
            raise NestingError
        self._at += 1

    # ------------------------------------------------------------------------ what is opaque

    def _extent(self, start: int) -> Span:
        first, last = self._run[start], self._run[self._at - 1]
        begin = first.offset(0) if isinstance(first, SourceStatement) else start_of(first)
        return Span(source_of(first), begin, stop_of(last))

    def _opaque(self, stop: int) -> un.Opaque:
        run = self._run[self._at : stop]
        self._at = stop
        found = opaque(run)
        first = run[0]
        if isinstance(first, SourceStatement) and first.label:
            return _without_label(found, first)
        return found

    def _end_of(self, start: int) -> int:
        """Return the position after the construct, statement or conditional at `start`."""
        balance = _Balance()
        for place in range(start, len(self._run)):
            balance.pass_over(self._run[place])
            if balance.is_even():
                return place + 1
        raise NestingError


class _Balance:
    """Number of open constructs while elements are skipped."""

    def __init__(self) -> None:
        self._depth = 0
        self._labels: list[str] = []
        self._conditionals: list[tuple[int, int | None]] = []

    def is_even(self) -> bool:
        """Return whether no construct, labelled loop or preprocessor conditional is open."""
        return not (self._depth or self._labels or self._conditionals)

    def pass_over(self, element: Element) -> None:
        """Update the counters for `element`; raise `NestingError` for an `end` without a start.

        In a preprocessor conditional only the first branch is counted.
        """
        if isinstance(element, SourceStatement):
            for word in _directives_in(element):
                self._directive(word)
            self._statement(element)
        else:
            self._directive(conditional_word(element))

    def _directive(self, word: str) -> None:
        if word in ("else", "elif") and self._conditionals:
            depth, first = self._conditionals[-1]
            self._conditionals[-1] = (depth, self._depth if first is None else first)
            self._depth = depth
        elif word in ("if", "ifdef", "ifndef"):
            self._conditionals.append((self._depth, None))
        elif word == "endif":
            if not self._conditionals:
                raise NestingError
            _, first = self._conditionals.pop()
            self._depth = self._depth if first is None else first

    def _statement(self, statement: SourceStatement) -> None:
        text = unnamed_text(statement.text)
        if found := LABELLED_DO.match(text):
            self._labels.append(_number(found["label"]))
            return
        number = _number(statement.label)
        if number in self._labels:
            self._labels = [label for label in self._labels if label != number]
            return
        if ended_construct(statement.text):
            self._depth -= 1
        elif opens(statement.text):
            self._depth += 1
        if self._depth < 0:
            raise NestingError


def _directives_in(statement: SourceStatement) -> Iterator[str]:
    """Yield the keywords of preprocessor lines between the lines of one statement."""
    if statement.split:
        yield from _DIRECTIVE.findall(statement.whole().text)


def _simple(text: str, statement: SourceStatement, at: int) -> un.Line | None:
    """Parse a simple statement `text`, which starts at position `at` of `statement`.

    `where` and `forall` statements are included.
    """
    place = statement.span(at, len(statement.text))
    try:
        if _WHERE.match(text) and not is_assigned(text):
            mask = read_mask(text)
            inner = _simple(mask.rest, statement, at + mask.rest_at)
            branch = () if inner is None else (un.Branch(mask.condition, (inner,), place=place),)
            return un.Where(branch, extent=place) if branch else None
        if _FORALL.match(text) and not is_assigned(text):
            mask_end = closing(text, text.index("(")) + 1
            head = read_head(text[:mask_end].strip())
            rest = text[mask_end:].lstrip()
            inner = _simple(rest, statement, at + len(text) - len(rest))
            if not isinstance(head, un.Forall) or inner is None:
                return None
            return replace(head, body=(inner,), place=place, extent=place)
    except UnreadableError:
        return None
    line = read_simple(text)
    return None if line is None else replace(line, place=place)


def _check_balance(run: Sequence[Element]) -> None:
    """Raise `NestingError` if a branch of a preprocessor conditional cuts through a construct."""
    depth = 0
    for element in run:
        if isinstance(element, SourceStatement):
            if ended_construct(element.text):
                depth -= 1
            elif opens(element.text) and not LABELLED_DO.match(unnamed_text(element.text)):
                depth += 1
            if depth < 0 or (depth == 0 and other_branch(element.text)):
                raise NestingError
    if depth:
        raise NestingError


def _without_label(found: un.Opaque, statement: SourceStatement) -> un.Opaque:
    """Return a statement stored as text without its label, which has a line of its own."""
    assert found.place is not None
    first = statement.offset(0)
    place = Span(found.place.source, first, found.place.stop)
    return replace(found, text=place.text.replace("\r\n", "\n"), place=place)


def _number(label: str) -> str:
    """Return a label without leading zeros, which have no meaning."""
    return label.lstrip("0")


def _ended_by_label(
    head: un.Do | un.While, body: tuple[un.Line, ...], label: str
) -> tuple[un.Do | un.While, tuple[un.Line, ...]]:
    """Return a loop that ends at `label`, and its body, without this label and its `continue`.

    Jumps to the end of the loop are `cycle`. The label stays if other statements may jump there.
    """
    last = body[-1]
    place = last.label if isinstance(last, un.Do | un.While) else None
    new = body
    for at, line in enumerate(body):
        if isinstance(line, un.Label) and _number(line.number) == label:
            end = tuple(one for one in body[at + 1 :] if not isinstance(one, un.Continue))
            new = (*(body[:at] if end else _cycling(body[:at], label)), *end)
            place = line.place
    if place is None or any(_may_jump(line, label) for line in walk_lines(new)):
        return head, body
    return replace(head, label=place), new


def _cycling(lines: Iterable[un.Line], label: str) -> Iterator[un.Line]:
    """Yield statements of a loop with jumps to `label` as `cycle`; inner loops stay."""
    for line in lines:
        if isinstance(line, un.Goto) and line.selector is None and _may_jump(line, label):
            yield un.Cycle(place=line.place)
        elif isinstance(line, un.Do | un.While | un.DoConcurrent):
            yield line
        else:
            yield with_each_block(line, lambda block: tuple(_cycling(block, label)))


def _may_jump(line: un.Line, label: str) -> bool:
    """Return whether a statement may jump to `label`."""
    match line:
        case un.Goto(labels):
            return label in map(_number, labels)
        case un.Opaque(text):
            return text.startswith("#") or re.search(rf"\b0*{label}\b", text) is not None
        case un.InputOutput(controls=parts):
            return any(re.search(rf"\b0*{label}\b", spell(part)) for part in parts)
        case un.Call(args=parts):
            return any(re.match(rf"\*\s*0*{label}\b", spell(part)) for part in parts)
    return isinstance(line, un.Include)
