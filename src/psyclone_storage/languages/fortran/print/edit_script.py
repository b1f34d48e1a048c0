"""Printing of a changed file with every unchanged character of the author's text kept.

Changes are found by location. Each node read from a file records its location, and a node is
unchanged if it equals the node read there. Only statements that are new, changed or removed are
replaced in the text. If only the first statement of a construct has changed, only that statement is
replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import get_args

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import spell_as_written
from psyclone_storage.ir.rewrite import blocks_of, place_of_line, with_each_block
from psyclone_storage.ir.routine import (
    DeclarationStatement,
    Routine,
    SourceFile,
    SpecificationItem,
    UseStatement,
)
from psyclone_storage.languages.fortran.print.fixed_form import edit_in_form, text_run
from psyclone_storage.languages.fortran.print.line_breaks import (
    COMMENT_AFTER,
    LineBreaks,
    TextEdit,
    TextRun,
    end_of_line,
    start_of_line,
    with_comment,
    with_trailing_comments,
)
from psyclone_storage.languages.fortran.print.loop_labels import LoopLabels
from psyclone_storage.languages.fortran.print.printer import (
    emit_action,
    emit_declarations,
    emit_lines,
    emit_use,
)
from psyclone_storage.languages.fortran.print.wrap import GOAL, wrapped

EditedNode = un.Line | SpecificationItem | Routine
_Insertion = Callable[[Sequence[str], int], Iterator[TextEdit]]
_SIGN = "\0"
_MARK = regex(rf"(?P<indent> *)!{_SIGN}(?P<run>\d+)")
_SEPARATOR = regex(r"[ \t]*;[ \t]*")
_SEPARATOR_BEFORE = regex(r"[ \t]*;[ \t]*\Z")
_STEP = 2
_GENERATED = get_args(un.Generated)
_WITHOUT_PLACE = (un.If, un.Where, un.Critical, un.ScopedBlock, un.Conditional)


def emit_changed(before: SourceFile, after: SourceFile) -> str:
    """Return the text of `before` with the changes that are in `after`."""
    text = before.source.as_written
    found = (edit_in_form(edit, before.source) for edit in _Difference(before).of_file(after))
    edits = sorted(found, key=lambda edit: (edit.start, edit.stop))
    newline = "\r\n" if "\r\n" in text else "\n"
    parts: list[str] = []
    position = 0
    for edit in edits:
        if edit.start < position:
            if edit.text:
                raise InternalError("Two edits of a file overlap.")
            continue
        parts += [text[position : edit.start], edit.text.replace("\n", newline)]
        position = edit.stop
    return "".join((*parts, text[position:]))


def node_extent(node: EditedNode) -> Span | None:
    """Return the location of a node in its file, or None for a generated node."""
    if isinstance(node, _GENERATED):
        return None
    found: Span | None = getattr(node, "extent", None)
    return found or (None if isinstance(node, _WITHOUT_PLACE) else getattr(node, "place", None))


class _Difference:
    """Differences between two trees of one file."""

    def __init__(self, before: SourceFile) -> None:
        self._source = before.source
        self._text = before.source.text
        self._units = before.units
        self._breaks = LineBreaks(self._text, before.statements)
        bodies = [unit.body for unit in before.every_unit()]
        self._labels = LoopLabels(bodies)
        self._written = {self._key(written.node): written for written in _placed(bodies)}

    def of_file(self, after: SourceFile) -> Iterator[TextEdit]:
        """Yield the edits that change the file to `after`."""
        return self._of_blocks(self._units, after.units, partial(self._breaks.before, 0), 0)

    def _of_blocks(
        self,
        before: Sequence[EditedNode],
        after: Sequence[EditedNode],
        at_head: _Insertion,
        indent: int,
    ) -> Iterator[TextEdit]:
        """Yield the edits of one block; `at_head` inserts indented lines into an empty block."""
        old = [node for node in before if node_extent(node) is not None]
        pairs = list(self._matched(old, after))
        ends = [(-1, -1), *pairs, (len(old), len(after))]
        for (old_from, new_from), (old_to, new_to) in pairwise(ends):
            gone, new = old[old_from + 1 : old_to], after[new_from + 1 : new_to]
            if gone:
                following = old[old_to] if old_to < len(old) else None
                yield from self._replaced(gone, new, old[: old_from + 1][-1:], following)
            elif new:
                neighbours = (old[old_from] if old_from >= 0 else None,
                              old[old_to] if old_to < len(old) else None)  # fmt: skip
                yield from self._inserted(new, neighbours, at_head, indent)
            if old_to < len(old):
                yield from self._inside(old[old_to], after[new_to])

    def _matched(
        self, old: Sequence[EditedNode], after: Sequence[EditedNode]
    ) -> Iterator[tuple[int, int]]:
        """Yield the pairs of positions of nodes that are in both blocks, in source order."""
        known = {self._key(node): at for at, node in enumerate(old)}
        last = -1
        for at, node in enumerate(after):
            place = node_extent(node)
            found = known.get(self._key(node), -1) if place is not None else -1
            if found > last and type(old[found]) is type(node):
                yield found, at
                last = found

    def _key(self, node: EditedNode) -> tuple[bool, int, int]:
        place = node_extent(node)
        if place is None:
            return (False, -1, -1)
        return (place.source is self._source, place.start, place.stop)

    # ------------------------------------------------------------------------ one node

    def _inside(self, old: EditedNode, new: EditedNode) -> Iterator[TextEdit]:
        """Yield the edits that change `old` to `new`, which have the same location."""
        if old is new or old == new:
            return
        if isinstance(old, Routine) and isinstance(new, Routine):
            yield from self._unit(old, new)
            return
        edits = None
        if not isinstance(old, _NotLines) and not isinstance(new, _NotLines):
            edits = self._construct(old, new)
        yield from self._replaced([old], [new], (), None) if edits is None else edits

    def _construct(self, old: un.Line, new: un.Line) -> list[TextEdit] | None:
        """Return the edits inside a construct, or None if the whole construct must be replaced."""
        blocks = list(zip(blocks_of(old), blocks_of(new), strict=False))
        place = node_extent(old)
        if not blocks or place is None or len(blocks_of(old)) != len(blocks_of(new)):
            return None
        if _is_one_line(old):
            return self._action_behind(old, new)
        if any(not first and second for first, second in blocks):
            return None
        heads = self._heads(old, new)
        if heads is None:
            return None
        at_head = partial(self._breaks.before, place.start)
        edits: list[TextEdit] = []
        for first, second in blocks:
            edits += self._of_blocks(first, second, at_head, self._indent_at(place.start))
        end = _end_in_body(old)
        if end is not None and (heads or any(edit.moves_end(*end) for edit in edits)):
            return None
        return [*heads, *edits]

    def _action_behind(self, old: un.Line, new: un.Line) -> list[TextEdit] | None:
        """Return the edit of the statement after a one-line condition, or None if more differs."""
        match (old, new):
            case (un.If((mine,)), un.If((other,), ())) | (
                un.Where((mine,)),
                un.Where((other,), ()),
            ):
                if mine.condition != other.condition or len(other.body) != 1:
                    return None
                place = node_extent(mine.body[0])
                if place is None or not _is_simple(other.body[0]):
                    return None
                return [self._instead(place, emit_action(other.body[0]))]
        return None

    def _heads(self, old: un.Line, new: un.Line) -> list[TextEdit] | None:
        """Return the edits of a construct's head statements, or None if more differs."""
        if with_each_block(old, _no_lines) == with_each_block(new, _no_lines):
            return []
        if isinstance(old, un.If | un.Where) and isinstance(new, un.If | un.Where):
            if old.name != new.name:
                return None
            word, then, other = ("if", " then", "else if") if isinstance(new, un.If) else (
                "where", "", "elsewhere"
            )  # fmt: skip
            name = f"{new.name}: " if new.name else ""
            heads = [
                (
                    first.place,
                    f"{other if at else name + word} ({spell_as_written(second.condition)}){then}",
                )
                for at, (first, second) in enumerate(zip(old.branches, new.branches, strict=True))
                if first.condition != second.condition
            ]
            return self._head_edits(heads)
        if isinstance(old, un.Select) and isinstance(new, un.Select):
            return self._head_edits(_cases(old, new))
        place = place_of_line(old)
        if place is None or isinstance(
            old, un.If | un.Where | un.ScopedBlock | un.Conditional | un.Critical
        ):
            return None
        if getattr(old, "name", "") != getattr(new, "name", ""):
            return None
        text = "\n".join(list(emit_lines((with_each_block(new, _no_lines),), 0))[:-1])
        return self._head_edits([(place, text)])

    def _head_edits(self, heads: Sequence[tuple[Span | None, str]]) -> list[TextEdit] | None:
        if any(place is None for place, _ in heads):
            return None
        return [self._instead(place, text) for place, text in heads if place is not None]

    def _instead(self, place: Span, text: str) -> TextEdit:
        """Return the edit that replaces a statement by `text`."""
        lines = wrapped(text, self._indent_at(place.start))
        return TextEdit(place.start, place.stop, "\n".join(lines).lstrip())

    def _unit(self, old: Routine, new: Routine) -> Iterator[TextEdit]:
        """Yield the edits of a unit: first statement, specification, statements and procedures."""
        extent = old.extent
        assert extent is not None
        self._labels.enter(old.body, new.body)
        if old.opening != new.opening and old.place is not None:
            yield TextEdit(old.place.start, old.place.stop, new.opening)
        first, breaks = old.place, self._breaks
        head = partial(breaks.after, first.stop) if first else partial(breaks.before, extent.start)
        indent = self._indent_at(extent.start) + _STEP
        mine = self._written_here(old)
        places = list(filter(None, map(node_extent, mine)))
        yield from self._of_blocks(mine, self._written_here(new), head, indent)
        body = partial(self._breaks.after, places[-1].stop) if places else head
        yield from self._of_blocks(old.body, new.body, body, indent)
        if old.contains is not None:
            inner = partial(self._breaks.after, old.contains.stop)
            yield from self._of_blocks(old.contained, new.contained, inner, indent)
        elif new.contained and old.end is not None:
            lines = ["contains", *self._lines(new.contained, " " * indent)]
            yield from self._breaks.before(old.end.start, lines, 0)

    def _written_here(self, unit: Routine) -> list[SpecificationItem]:
        """Return the specification of a unit without the items of included files."""
        return [one for one in unit.specification if self._key(one)[0] or not node_extent(one)]

    # ------------------------------------------------------------------------ text

    def _replaced(
        self,
        gone: Sequence[EditedNode],
        new: Sequence[EditedNode],
        before: Sequence[EditedNode],
        following: EditedNode | None,
    ) -> Iterator[TextEdit]:
        """Yield the edit that replaces neighbouring nodes by others, possibly by nothing."""
        places = [place for node in gone if (place := node_extent(node)) is not None]
        start, stop = places[0].start, places[-1].stop
        labelled = (
            bool(before) and isinstance(before[-1], un.Label) and not isinstance(gone[0], un.Label)
        )
        if not new:
            yield from self._removed(start, stop, "continue" if labelled else "")
            return
        indent = self._indent_at(start)
        lines, stop = self._lines_behind_comment(new, self._lead_at(start), stop)
        if _needs_a_line(new[0]):
            yield from self._breaks.joints_before(start)
        start, text = self._fitted(start, lines, indent, new[0], labelled=labelled)
        if _needs_a_line(new[-1]):
            joints = tuple(self._breaks.joints_after(stop))
            yield from joints
            rest = self._text[stop : end_of_line(self._text, stop)].strip()
            if not joints and rest and not rest.startswith("!"):
                separator = _SEPARATOR.match(self._text, stop)
                stop = separator.end() if separator else stop
                text += "\n" + " " * indent
        yield TextEdit(start, stop, text)

    def _fitted(
        self, start: int, lines: Sequence[str], indent: int, first: EditedNode, *, labelled: bool
    ) -> tuple[int, str]:
        """Return the start offset and text for lines that replace the code at `start`."""
        text = "\n".join(lines)
        head = start_of_line(self._text, start)
        alone = not self._text[head:start].strip(" \t&")
        if alone and len(lines[0]) - len(lines[0].lstrip()) != indent:
            return head, text
        if alone or not _needs_a_line(first):
            return start, text.lstrip(" \t") if lines[0].strip() else text
        separator = None if labelled else _SEPARATOR_BEFORE.search(self._text, head, start)
        start = start if separator is None else separator.start()
        return start, ("continue\n" if labelled else "\n") + text

    def _removed(self, start: int, stop: int, instead: str) -> Iterator[TextEdit]:
        joints = (*self._breaks.joints_before(start), *self._breaks.joints_after(stop))
        if instead or joints:
            yield from joints
            yield TextEdit(start, stop, instead)
            return
        first, last = start_of_line(self._text, start), end_of_line(self._text, stop)
        if not self._text[first:start].strip() and not self._text[stop:last].strip():
            yield TextEdit(first, min(last + 1, len(self._text)), "")
            return
        separator = _SEPARATOR.match(self._text, stop)
        yield TextEdit(start, separator.end() if separator else stop, "")

    def _inserted(
        self,
        new: Sequence[EditedNode],
        neighbours: tuple[EditedNode | None, EditedNode | None],
        at_head: _Insertion,
        indent: int,
    ) -> Iterator[TextEdit]:
        """Yield the insertion of nodes between two others, or into an empty block."""
        before, after = (None if node is None else node_extent(node) for node in neighbours)
        if before is not None and isinstance(neighbours[0], un.Label):
            column = before.stop - start_of_line(self._text, before.stop)
            inside = self._lines(new, self._lead_at(before.start))
            lines = (" continue", *inside, " " * column)
            yield TextEdit(before.stop, before.stop, "\n".join(lines))
        elif before is not None:
            lead = self._lead_at(before.start)
            yield from self._breaks.after(before.stop, self._lines(new, lead), len(lead))
        elif after is not None:
            lead = self._lead_at(after.start)
            yield from self._breaks.before(after.start, self._lines(new, lead), len(lead))
        else:
            yield from at_head(self._lines(new, " " * indent), indent)

    def _lines_behind_comment(
        self, nodes: Sequence[EditedNode], lead: str, stop: int
    ) -> tuple[list[str], int]:
        """Return the lines that replace text ending at `stop`, and the new end of that text.

        A trailing comment of an author's statement remains on its line if more lines follow.
        """
        runs: list[TextRun] = []
        marked = self._marked_lines(nodes, len(lead), runs)
        runs = with_trailing_comments(runs, self._source)
        comment = COMMENT_AFTER.match(self._text, stop)
        at_end = [number for number, run in enumerate(runs) if run.stop == stop]
        last = _MARK.match(marked[-1])
        if comment is None or not at_end or (last and int(last["run"]) == at_end[-1]):
            return _unmarked(marked, runs, lead), stop
        run = runs[at_end[-1]]
        runs[at_end[-1]] = with_comment(run, comment, self._source)
        return _unmarked(marked, runs, lead), comment.end()

    def _lines(self, nodes: Sequence[EditedNode], lead: str) -> list[str]:
        """Return the lines of nodes, indented by `lead`; text by the author is unchanged."""
        runs: list[TextRun] = []
        marked = self._marked_lines(nodes, len(lead), runs)
        return _unmarked(marked, with_trailing_comments(runs, self._source), lead)

    def _marked_lines(
        self, nodes: Sequence[EditedNode], indent: int, runs: list[TextRun]
    ) -> list[str]:
        found: list[str] = []
        lines: list[un.Line] = []
        for node in nodes:
            if not isinstance(node, _NotLines) and (not _is_one_line(node) or self._as_read(node)):
                lines.append(node)
                continue
            found += emit_lines(self._marked(lines, runs), indent)
            found += _emitted(node, indent)
            lines = []
        return [*found, *emit_lines(self._marked(lines, runs), indent)]

    def _marked(self, block: Sequence[un.Line], runs: list[TextRun]) -> Iterator[un.Line]:
        """Yield statements with a marker for each run of unchanged text; store it in `runs`."""
        at = 0
        while at < len(block):
            stop = self._end_of_run(block, at)
            run = self._run_of(block[at:stop])
            if run is None:
                yield with_each_block(block[at], lambda inner: tuple(self._marked(inner, runs)))
                at += 1
            else:
                yield un.Comment(f"{_SIGN}{len(runs)}", as_written=True)
                runs.append(run)
                at = stop

    def _end_of_run(self, block: Sequence[un.Line], at: int) -> int:
        """Return the end of the sequence of unchanged statements that starts at `at`."""
        last = self._as_read(block[at])
        stop = at + 1
        for number in range(at + 1, len(block)):
            if isinstance(block[number], un.Blank):
                continue
            node = self._as_read(block[number])
            if last is None or node is None or (node.block, node.at) != (last.block, last.at + 1):
                break
            last, stop = node, number + 1
        while stop > at + 1 and self._is_no_end(block[stop - 1]):
            stop -= 1
        return stop

    def _is_no_end(self, line: un.Line) -> bool:
        """Return whether the source text must not be split after a statement or comment.

        A label must be followed by its statement. A comment between continuation lines cannot be
        separated.
        """
        place = node_extent(line)
        if isinstance(line, un.Label | un.Blank) or place is None:
            return True
        return isinstance(line, _Remark) and self._is_in_joint(place)

    def _is_in_joint(self, place: Span) -> bool:
        return any(self._breaks.joints_after(place.start))

    def _as_read(self, line: un.Line) -> _Written | None:
        """Return the original position of an unchanged statement, or None for a changed one."""
        extent = node_extent(line)
        if extent is None or not self._labels.may_copy(extent):
            return None
        found = self._written.get(self._key(line))
        return found if found is not None and found.node == line else None

    def _run_of(self, lines: Sequence[un.Line]) -> TextRun | None:
        """Return the source text of neighbouring statements, or None if it cannot be reused."""
        first, last = self._as_read(lines[0]), self._as_read(lines[-1])
        if first is None or last is None or isinstance(last.node, un.Label):
            return None
        start, stop = node_extent(first.node), node_extent(last.node)
        is_remark = isinstance(first.node, _Remark)
        if start is None or stop is None or (is_remark and self._is_in_joint(start)):
            return None
        if not self._labels.may_copy(start.to(stop)):
            return None
        return text_run(self._source, start.start, stop.stop)

    def _indent_at(self, at: int) -> int:
        return len(self._lead_at(at))

    def _lead_at(self, at: int) -> str:
        """Return the white space at the start of the line that contains `at`."""
        line = self._text[start_of_line(self._text, at) : at]
        return line[: len(line) - len(line.lstrip())]


def _unmarked(lines: Sequence[str], runs: Sequence[TextRun], lead: str) -> list[str]:
    """Replace the markers in lines by the texts of `runs`.

    Generated lines start with `lead` instead of the same number of blanks.
    """
    found = []
    blanks = " " * len(lead)
    for line in lines:
        mark = _MARK.match(line)
        run = runs[int(mark.group("run"))] if mark else None
        if mark is None or run is None:
            found.append(line.replace(blanks, lead, 1) if line.startswith(blanks) else line)
        elif not run.dropped:
            indent = mark.group("indent").replace(blanks, lead, 1)
            found.append(run.text if run.indented else indent + run.text)
    return found


_Remark = un.Comment | un.DirectiveLine | un.Blank
_NotLines = DeclarationStatement | UseStatement | Routine


@dataclass(frozen=True, slots=True)
class _Written:
    """Statement as read from the file: number `at` of the located statements in its block."""

    node: un.Line
    block: int
    at: int


def _placed(bodies: Sequence[tuple[un.Line, ...]]) -> Iterator[_Written]:
    """Yield all statements with a location, block by block."""
    blocks = [*bodies]
    for number, block in enumerate(blocks):
        placed = [line for line in block if node_extent(line) is not None]
        for at, line in enumerate(placed):
            yield _Written(line, number, at)
        blocks += [inner for line in block for inner in blocks_of(line)]


def _end_in_body(line: un.Line) -> tuple[int, int] | None:
    """Return the location of a construct's last statement if that also ends the construct.

    Examples are the single statement of a `forall` and the labelled statement that ends a loop. The
    label is included.
    """
    placed = [one for one in blocks_of(line)[-1] if node_extent(one) is not None]
    whole = node_extent(line)
    if isinstance(line, un.Do | un.While) and line.label is not None and whole is not None:
        return line.label.start, whole.stop
    last = node_extent(placed[-1]) if placed else None
    if last is None or whole is None:
        return None
    if isinstance(placed[-1], un.Label):
        return last.start, last.start
    if last.stop != whole.stop:
        return None
    inner = _end_in_body(placed[-1]) if blocks_of(placed[-1]) else None
    labels = [
        one for one in map(node_extent, placed[-2:-1]) if isinstance(placed[-2], un.Label) and one
    ]
    return inner or (labels[0].start if labels else last.start, last.stop)


def _no_lines(_: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
    return ()


def _is_one_line(node: EditedNode) -> bool:
    """Return whether a node is an `if` or `where` with one statement after the condition."""
    return (
        isinstance(node, un.If | un.Where)
        and len(node.branches) == 1
        and node.branches[0].place is not None
        and node.branches[0].place == node.extent
    )


def _is_simple(line: un.Line) -> bool:
    """Return whether a statement may follow a condition on the same line."""
    return not (
        blocks_of(line) or _needs_a_line(line) or isinstance(line, un.Label | un.Blank | un.Format)
    )


def _needs_a_line(node: EditedNode) -> bool:
    """Return whether a node needs a line of its own."""
    return isinstance(
        node,
        un.Comment | un.DirectiveLine | un.Opaque | un.Conditional | Routine | un.Generated,
    )


def _cases(old: un.Select, new: un.Select) -> list[tuple[Span | None, str]]:
    heads: list[tuple[Span | None, str]] = []
    bare = replace(new, cases=(), before=())
    if replace(old, cases=(), before=()) != bare:
        heads.append((old.place if old.name == new.name else None, next(emit_lines((bare,), 0))))
    for first, second in zip(old.cases, new.cases, strict=True):
        if (first.guards, first.word) != (second.guards, second.word):
            only = replace(bare, cases=(replace(second, body=()),))
            heads.append((first.place, list(emit_lines((only,), 0))[-2]))
    return heads


def _emitted(node: EditedNode, indent: int) -> Iterator[str]:
    match node:
        case DeclarationStatement(declares):
            yield from emit_declarations(declares, indent)
        case UseStatement(use):
            yield from wrapped(emit_use(use), indent)
        case Routine():
            yield from _emitted_unit(node, indent)
        case un.If((branch,), ()) | un.Where((branch,), ()) if len(branch.body) == 1:
            (inner,) = branch.body
            word = "if" if isinstance(node, un.If) else "where"
            simple = _is_simple(inner)
            head = f"{word} ({spell_as_written(branch.condition)}) "
            text = head + emit_action(inner) if simple else ""
            if text and len(text) + indent <= GOAL:
                yield " " * indent + text
            else:
                yield from emit_lines((node,), indent)
        case _:
            yield from emit_lines((node,), indent)


def _emitted_unit(unit: Routine, indent: int) -> Iterator[str]:
    inner = indent + _STEP
    yield from wrapped(unit.opening, indent) if unit.opening else ()
    for item in (*unit.specification, *unit.body):
        yield from _emitted(item, inner)
    if unit.contained:
        yield " " * indent + "contains"
        for one in unit.contained:
            yield from _emitted(one, inner)
    yield " " * indent + f"end {unit.kind.value} {unit.name}".rstrip()
