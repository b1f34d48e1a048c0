"""Splitting of free-form Fortran into logical statements with exact source positions.

This module handles continuation lines, comments, `;`, labels, strings and preprocessor lines. The
text of a statement is joined and contains no comments. Each position in it can be converted to an
offset in the file.

Comments are dropped, including directives with a `!` sentinel (`!$omp`, `!$`). Preprocessor lines
never become statements. All branches of a conditional are read. Each statement records its nesting
depth in conditionals. Statements are not parsed here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from functools import lru_cache
from itertools import islice
from threading import Lock

from psyclone_storage.base.memo import Keeper
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span

# A line without strings, `;` and inner `&`: by far the most lines are like this.
_PLAIN = regex(
    r"[ \t]*(?P<lead>&)?(?P<code>[^\s!'\"&;#][^!'\"&;\r\n]*)?(?P<more>&)?"
    r"[ \t]*(?:![^\n]*)?\r?(?:\n|\Z)"
)
_DIRECTIVE = regex(r"[ \t]*#[ \t]*(\w*)(?:[^\n]*\\\r?\n)*[^\n]*\n?")
_LEAD = regex(r"[ \t]*&")
_TOKEN = regex(
    r"(?P<code>[^!'\"&;\r\n]+)|(?P<string>'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\")|(?P<mark>.)"
)
_FIXED_TOKEN = regex(
    r"(?P<code>[^!'\";\r\n]+)|(?P<string>'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\")|(?P<mark>.)"
)
_LINES = regex(r"[^\n]*\n?")
_LAST_COLUMN = 72
_REST_OF_STRING = {
    "'": regex(r"(?:[^'\n]|'')*'"),
    '"': regex(r'(?:[^"\n]|"")*"'),
}
_MORE = regex(r"&[ \t]*(?:![^\n]*)?\r?(?:\n|\Z)")
_STRING_GOES_ON = regex(r"&[ \t]*\r?(?:\n|\Z)")
_HEAD = regex(r"\s*(?:(\d{1,5})[ \t]+(?=[A-Za-z]))?")
_COMMENT = regex(r"[ \t]*!")
_REMEMBERED = 64
"""How many texts keep their statements: more than an algorithm has kernels."""
_AHEAD = 16
_OPENING = frozenset({"if", "ifdef", "ifndef"})


@dataclass(frozen=True, slots=True)
class SourceStatement(Keeper):
    """Logical statement.

    - `text`: the joined and trimmed text without the `label`.

    - `starts`, `offsets`: the text from position `starts[i]` on is at `offsets[i]` in the file.

    - `conditional`: the number of enclosing preprocessor conditionals.

    - `split`: true if there is a preprocessor line between its lines.
    """

    source: SourceText
    text: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]
    label: str
    conditional: int
    split: bool

    def offset(self, position: int) -> int:
        """Return the file offset of the character at `position` of the text."""
        piece = bisect_right(self.starts, position) - 1
        return self.offsets[piece] + position - self.starts[piece]

    def span(self, start: int, stop: int) -> Span:
        """Return the location of the characters from `start` up to but excluding `stop`.

        An empty range is mapped to the nearest character, because an empty span cannot be shown.
        """
        start = min(start, len(self.text) - 1)
        last = min(max(start, stop - 1), len(self.text) - 1)
        return Span(self.source, self.offset(start), self.offset(last) + 1)

    def whole(self) -> Span:
        """Return the location of the statement without its label."""
        return self.span(0, len(self.text))


def scan(source: SourceText) -> Iterator[SourceStatement]:
    """Yield the non-empty statements of `source` in order.

    An unclosed string ends at the end of its line. Statements are cached, and the text is scanned
    only as far as requested.
    """
    return iter(_scanned(source))


@lru_cache(maxsize=_REMEMBERED)
def _scanned(source: SourceText) -> _Statements:
    if source.written is not None:
        return _Statements(_FixedScanner(source).statements())
    return _Statements(_Scanner(source).statements())


class _Statements:
    """Cached statements of one text, scanned on demand, for any number of readers."""

    __slots__ = ("_found", "_lock", "_rest")

    def __init__(self, rest: Iterator[SourceStatement]) -> None:
        self._found: list[SourceStatement] = []
        self._rest = rest
        self._lock = Lock()

    def __iter__(self) -> Iterator[SourceStatement]:
        at = 0
        while at < len(self._found) or self._goes_on(at):
            yield self._found[at]
            at += 1

    def _goes_on(self, at: int) -> bool:
        """Return whether there is a statement at position `at`; scan up to it if necessary."""
        with self._lock:
            if at == len(self._found):
                self._found += islice(self._rest, _AHEAD)
            return at < len(self._found)


class _Scanner:
    """State of the scanner between two lines: the parts of an incomplete statement."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._text = source.text
        self._pieces: list[tuple[int, int]] = []
        self._joined: list[bool] = []
        self._quote = ""
        self._goes_on = False
        self._conditional = 0
        self._split = False

    def statements(self) -> Iterator[SourceStatement]:
        """Yield the statements in order."""
        text, position, plain = self._text, 0, _PLAIN.match
        while position < len(text):
            line = None if self._quote else plain(text, position)
            if line is None:
                position = yield from self._tricky_line(position)
                continue
            position = line.end()
            lead, code, more = line.group("lead", "code", "more")
            if code is None:
                self._goes_on = self._goes_on or more is not None
                continue
            if more is None and not self._pieces and not code[0].isdigit():
                self._goes_on = False
                yield self._simple(code.rstrip(), line.start("code"))
                continue
            self._add(line.start("code"), line.end("code"), joined=lead is not None)
            self._goes_on = more is not None
            if not self._goes_on:
                yield from self._finish()
        yield from self._finish()

    def _simple(self, text: str, offset: int) -> SourceStatement:
        """Return an unlabelled statement that occupies a whole line."""
        return SourceStatement(self._source, text, (0,), (offset,), "", self._conditional, False)

    def _tricky_line(self, position: int) -> Generator[SourceStatement, None, int]:
        """Yield the statements that end on the line at `position`.

        Return the start of the next line.
        """
        text = self._text
        directive = None if self._quote else _DIRECTIVE.match(text, position)
        if directive:
            self._note_directive(directive.group(1))
            return directive.end()
        end = text.find("\n", position)
        following = len(text) if end < 0 else end + 1
        lead = _LEAD.match(text, position) if self._goes_on else None
        if self._goes_on and not lead and _COMMENT.match(text, position):
            return following
        at = start = lead.end() if lead else position
        joined = lead is not None or bool(self._quote)
        self._goes_on = False
        while at < following:
            at, what = self._token(at, following)
            if what == "code":
                continue
            self._add(start, at, joined=joined)
            start = at = at + (what == ";")
            joined = False
            if what == "more":
                self._goes_on = True
                return following
            yield from self._finish()
            if what == "end":
                return following
        self._add(start, at, joined=joined)
        yield from self._finish()
        return following

    def _token(self, at: int, following: int) -> tuple[int, str]:
        """Return the end and kind of the token at `at`: code, `;`, more (continuation) or end.

        For all kinds except code, the position is the start of the token.
        """
        if self._quote:
            return self._string(at)
        token = _TOKEN.match(self._text, at, following)
        if token is None:
            return at, "end"
        if token.lastgroup != "mark":
            return token.end(), "code"
        match token.group():
            case ";":
                return at, ";"
            case "!" | "\r" | "\n":
                return at, "end"
            case "&" if _MORE.match(self._text, at):
                return at, "more"
            case "'" | '"' as quote:
                self._quote = quote
                return at + 1, "code"
        return at + 1, "code"

    def _string(self, at: int) -> tuple[int, str]:
        """Continue an open string to its end on this line or to the continuation mark `&`."""
        closing = _REST_OF_STRING[self._quote].match(self._text, at)
        if closing:
            self._quote = ""
            return closing.end(), "code"
        end = self._text.find("\n", at)
        end = len(self._text) if end < 0 else end
        mark = self._text.rfind("&", at, end)
        if mark >= 0 and _STRING_GOES_ON.match(self._text, mark):
            return mark, "more"
        self._quote = ""
        return end, "end"

    def _note_directive(self, word: str) -> None:
        if word in _OPENING:
            self._conditional += 1
        elif word == "endif":
            self._conditional = max(0, self._conditional - 1)
        self._split = self._split or bool(self._pieces)

    def _add(self, start: int, stop: int, *, joined: bool) -> None:
        if stop > start:
            self._pieces.append((start, stop))
            self._joined.append(joined)

    def _finish(self) -> Iterator[SourceStatement]:
        """Yield the statement that consists of the parts so far, unless they are blank."""
        pieces, joined, split = self._pieces, self._joined, self._split
        if not pieces:
            return
        self._pieces, self._joined, self._split, self._quote = [], [], False, ""
        while len(pieces) > 1 and self._text[slice(*pieces[0])].isspace():
            del pieces[0], joined[0]
        label = self._drop_label(pieces)
        text = ""
        starts: list[int] = []
        offsets: list[int] = []
        for (start, stop), is_joined in zip(pieces, joined, strict=True):
            piece = self._text[start:stop]
            part = piece if text else piece.lstrip()
            if text and not is_joined:
                text += " "
            starts.append(len(text))
            offsets.append(stop - len(part))
            text += part
        text = text.rstrip()
        if text:
            yield SourceStatement(
                self._source, text, tuple(starts), tuple(offsets), label, self._conditional, split
            )

    def _drop_label(self, pieces: list[tuple[int, int]]) -> str:
        """Skip blanks and a label at the start of the first part; return the label."""
        start, stop = pieces[0]
        head = _HEAD.match(self._text, start, stop)
        if head is None:
            return ""
        pieces[0] = (head.end(), stop)
        return head.group(1) or ""


class _FixedScanner(_Scanner):
    """The scanner of a file in fixed form: a statement goes on while continuation lines follow it.

    The text is the view of `fixed_form`.
    """

    _is_full = False
    """Whether the code of the last line fills it, so that a name may go on in the next line."""

    def statements(self) -> Iterator[SourceStatement]:
        """Yield the statements in order."""
        position = 0
        waiting: list[str] = []
        for line in _LINES.findall(self._text):
            start, position = position, position + len(line)
            code = line.lstrip(" \t")
            if line.startswith("#"):
                waiting.append(line[1:].split(maxsplit=1)[0].strip() if line[1:].strip() else "")
            elif code.startswith("&"):
                self._noted(waiting)
                yield from self._read(start + len(line) - len(code) + 1, position, joined=True)
            elif code.strip() and not code.startswith("!"):
                yield from self._finish()
                self._noted(waiting)
                self._is_full = False
                yield from self._read(start, position, joined=False)
        yield from self._finish()

    def _noted(self, waiting: list[str]) -> None:
        """Count the lines of the preprocessor before a line."""
        for word in waiting:
            self._note_directive(word)
        waiting.clear()

    def _read(self, start: int, stop: int, *, joined: bool) -> Iterator[SourceStatement]:
        """Add the code of a line; yield the statements that end in it."""
        joined = joined and (self._is_full or bool(self._quote))
        at = start
        line_start = self._text.rfind("\n", 0, start) + 1
        has_tab = self._text[line_start : line_start + 1] == "\t"
        stop = min(stop, line_start + _LAST_COLUMN - 5 * has_tab)
        while at < stop:
            if self._quote:
                closing = self._text.find(self._quote, at, stop)
                if closing < 0:
                    at = start + len(self._text[start:stop].rstrip("\r\n"))
                    break
                self._quote, at = "", closing + 1
                continue
            token = _FIXED_TOKEN.match(self._text, at, stop)
            if token is None or token["mark"] == "!":
                break
            if token["mark"] == ";":
                self._add(start, at, joined=joined)
                yield from self._finish()
                start, joined = at + 1, False
            elif token["mark"] in ("'", '"'):
                self._quote = token["mark"]
            at = token.end()
        self._add(start, at, joined=joined)
        filled = at - line_start >= _LAST_COLUMN and self._text[at - 1 : at].strip()
        self._is_full = bool(filled)
