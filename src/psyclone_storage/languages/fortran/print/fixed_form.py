"""New lines of free-form Fortran as lines of fixed form, among those of an author."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.print.line_breaks import (
    TextEdit,
    TextRun,
    end_of_line,
    start_of_line,
)

LAST_COLUMN = 72
"""The last column of a statement."""

_CODE = 6
_LINE, _PART = "\1", "\2"
_DIRECTIVE = regex(r"[ \t]*(?P<sentinel>!\$(?:omp|acc))[ \t]*&?[ \t]*(?P<text>.*)", 2)
_LABELLED = regex(r"[ \t]*(?P<label>\d{1,5})[ \t]+(?P<code>.*)")


def protected(text: str, whole_lines: bool) -> str:
    """Return an author's text with signs that exclude it from changes by `fixed_lines`."""
    first = _LINE if whole_lines else _PART
    return first + text.replace("\n", f"\n{_LINE}")


def edit_in_form(edit: TextEdit, source: SourceText) -> TextEdit:
    """Return an edit in the form of its file; columns that are no code stay where they are."""
    if source.written is None:
        return edit
    text, start, stop = source.text, edit.start, edit.stop
    head = text[start_of_line(text, start) : start]
    new = "\n".join(fixed_lines((head + edit.text).split("\n")))
    if new.startswith(head):
        new = new.removeprefix(head)
    else:
        start, head = start - len(head), ""
    line = start_of_line(text, stop)
    ignored = source.written[line + LAST_COLUMN : end_of_line(text, stop)].strip()
    if ignored and max(line, edit.start) < stop <= line + LAST_COLUMN:
        last = (head + new).rpartition("\n")[2]
        new, stop = new + " " * (LAST_COLUMN - len(last)), line + LAST_COLUMN
    return TextEdit(start, stop, new)


def text_run(source: SourceText, start: int, stop: int) -> TextRun:
    """Return the statements from `start` to `stop` as written, `protected` if in fixed form.

    The ignored columns of a line are a comment for the reader. They are left out if the statement
    before them is not in the run.
    """
    head = start_of_line(source.text, start)
    own_lines = not source.text[head:start].strip()
    text = source.as_written[head if own_lines else start : stop].replace("\r\n", "\n")
    if source.written is None:
        return TextRun(text, start, stop, indented=own_lines)
    if source.text[start] == "!" != source.written[start] and start > head:
        rest = text.partition("\n")[2]
        return TextRun(protected(rest, True), start, stop, indented=True, dropped=not rest)
    return TextRun(protected(text, own_lines), start, stop, indented=own_lines)


def fixed_lines(lines: Sequence[str]) -> list[str]:
    """Return lines in fixed form; those of an author that are among them are unchanged.

    The first column of each line is column 1.
    """
    return [line for statement in _joined(lines) for line in _fixed(statement)]


def _joined(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with the free-form continuations of statements and directives removed."""
    waiting = ""
    for line in lines:
        text = line
        if waiting:
            directive = _DIRECTIVE.match(line)
            text = waiting + (directive["text"] if directive else line.lstrip().removeprefix("&"))
        waiting = ""
        is_code = _DIRECTIVE.match(text) or not text.lstrip().startswith("!")
        if text.endswith("&") and is_code and not _protected(text):
            waiting = text[:-1].rstrip() + " "
            continue
        yield text
    if waiting:
        yield waiting


def _protected(line: str) -> bool:
    return _LINE in line or _PART in line


def _fixed(line: str) -> Iterator[str]:
    if _protected(line):
        before, sign, text = line.partition(_LINE if _LINE in line else _PART)
        yield text if sign == _LINE else before + text
        return
    directive = _DIRECTIVE.match(line)
    if directive is not None:
        sentinel = directive["sentinel"]
        yield from _cut(directive["text"].rstrip(), f"{sentinel} ", f"{sentinel}&")
        return
    body = line.lstrip(" ")
    if not body or line[0] in "\t#":
        yield line
        return
    if body.startswith("!"):
        yield body if len(line) - len(body) < _CODE else line
        return
    labelled = _LABELLED.match(line)
    head, code = ("", body) if labelled is None else (labelled["label"], labelled["code"])
    indent = max(0, len(line) - len(body) - _CODE) if labelled is None else 0
    yield from _cut(
        " " * min(indent, LAST_COLUMN // 2) + code.rstrip(), head.ljust(_CODE), "     &"
    )


def _cut(text: str, first: str, further: str) -> Iterator[str]:
    """Yield text in lines of at most 72 columns, broken at blanks and commas where possible."""
    head, room = first, LAST_COLUMN - _CODE
    while len(text) > room:
        places = [at + 1 for at, one in enumerate(text[:room]) if one in " ,"]
        quoted = text[:room].count("'") % 2 or text[:room].count('"') % 2
        at = room if quoted or not places or places[-1] < room // 2 else places[-1]
        yield (head + text[:at]).rstrip() if not quoted else head + text[:at]
        head, text = further, text[at:]
    yield (head + text).rstrip()
