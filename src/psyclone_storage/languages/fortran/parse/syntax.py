"""Check for statements that cannot be valid Fortran.

The statements around invokes are passed on verbatim. Without this check, the compiler would report
errors later, in a generated file. Brackets, strings, first words of statements, tokens next to
operators, and the nesting of constructs are checked. A statement may pass these checks and still be
invalid. A reported statement is always invalid.

In a file for the preprocessor a word may be a macro, and a branch may open a construct that another
branch closes. Neither is checked there.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import NamedTuple

from psyclone_storage.base.diagnostic import Diagnostic, Severity
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.brackets import closing, punctuation
from psyclone_storage.languages.fortran.parse.construct_heads import LABELLED_DO
from psyclone_storage.languages.fortran.parse.statements import SourceStatement

_REMEMBERED = 1 << 14
_TOKEN = regex(
    r"""\s*(?:
      (?P<string>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<value>\.(?:true|false)\.(?:_\w+)?
        | (?:\d+(?:\.(?![a-z]+\s*\.)\d*)?|\.\d+)(?:[edq][+-]?\d+)?(?:_\w+)?)
    | (?P<not>\.not\.)
    | (?P<dotted>\.[a-z]+\.)
    | (?P<name>[a-z_$][\w$]*)
    | (?P<open>\(/(?![=/])|[(\[])
    | (?P<close>/\)|[)\]])
    | (?P<sign>[+-])
    | (?P<operator>\*\*|//|==|/=|<=|>=|[*/<>])
    | (?P<mark>=>|::|[:,=%])
    | (?P<other>\S)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_PREPROCESSED = regex(r"^[ \t]*#", re.MULTILINE)
_LABELLED = regex(r"[a-z]\w*\s*:(?!:)\s*", re.IGNORECASE)
_BALANCED = regex(r"[^'\"()\[\]]*(?:\([^'\"()\[\]]*\)[^'\"()\[\]]*)*$")
_WORD = regex(r"[a-z]\w*", re.IGNORECASE)
_IF = regex(r"(?:else\s*)?if\s*\(", re.IGNORECASE)
_THEN = regex(r"\s*then(?:\s+\w+)?$", re.IGNORECASE)
_ARITHMETIC = regex(r"\s*\d+\s*,")
_DO = regex(r"do\s+(?!while\b|concurrent\b)(?=[a-z]\w*\s*=)", re.IGNORECASE)
_OPENING = (
    ("if", regex(r"if\s*\(.*(?<!\w)then(?:\s+\w+)?$", re.IGNORECASE)),
    ("do", regex(r"do(?:\s*$|\s+(?!\d)[a-z])", re.IGNORECASE)),
    ("select", regex(r"select\s*(?:case|type|rank)\b", re.IGNORECASE)),
)
_CLOSING = regex(r"end\s*(if|do|select)\b", re.IGNORECASE)
# What a statement begins with that is no assignment and is not read as a specification.
_WORDS = frozenset(
    """allocate allocatable assign asynchronous backspace bind block call case class close
    codimension common contains contiguous continue critical cycle data deallocate dimension do
    else elseif
    elsewhere end endfile endif entry enum enumerator equivalence error event exit external fail
    final flush forall form format generic go goto if implicit import include inquire intent
    interface intrinsic lock module namelist nullify open optional parameter pause pointer print
    private procedure protected public read return rewind save select selectcase selecttype
    sequence stop submodule sync target type unlock use value volatile wait where while
    write enddo endselect endwhere endforall endassociate endblock endinterface endenum
    endprogram endmodule endsubmodule endsubroutine endfunction endprocedure endtype
    endcritical dowhile doconcurrent doubleprecision change""".split()
)


def check_statement(statement: SourceStatement, *, has_macros: bool = False) -> Diagnostic | None:
    """Return a warning if `statement` cannot be Fortran (P014), or None if all checks pass.

    If `has_macros` is true, the first word of a statement may be a macro.
    """
    text = statement.text
    problem = _problem_of(text)
    if problem is None or (has_macros and problem.is_word):
        return None
    (start, stop), why = problem.place, problem.why
    return Diagnostic(
        "P014",
        f"This statement is not Fortran: {why}.",
        statement.span(start, stop),
        hint=problem.hint or "Mend it: it is passed on as it is, and a compiler will refuse it.",
        severity=Severity.WARNING,
    )


class SyntaxCheck:
    """Syntax check for the statements outside the specification parts of a file."""

    def __init__(self, source: SourceText) -> None:
        self._preprocessed = bool(_PREPROCESSED.search(source.text))
        self._nesting = _Nesting()
        self._broken: list[Diagnostic] = []

    def look_at(self, statement: SourceStatement, scope: object) -> None:
        """Record the detectable errors in `statement`; `scope` is its enclosing scope."""
        if not self._preprocessed:
            self._broken += self._nesting.follow(statement, scope)
        problem = check_statement(statement, has_macros=self._preprocessed)
        if problem is not None and not statement.split:
            self._broken.append(problem)

    def warnings(self) -> tuple[Diagnostic, ...]:
        """Return all errors, after every statement was checked."""
        return (*self._broken, *self._nesting.left_open())


@dataclass(slots=True)
class _Nesting:
    """Open constructs of each scope while its statements are read.

    A scope is identified by any hashable object.
    """

    _open: dict[Hashable, list[tuple[str, SourceStatement]]] = field(default_factory=dict)
    _labels: set[tuple[Hashable, str]] = field(default_factory=set)

    def follow(self, statement: SourceStatement, scope: Hashable) -> Iterator[Diagnostic]:
        """Yield a diagnostic if `statement` ends no open construct (P014).

        Record one that it starts.
        """
        stack = self._open.setdefault(scope, [])
        text = _unlabelled(statement.text)
        ends = _CLOSING.match(text)
        if found := LABELLED_DO.match(text):
            self._labels.add((scope, found["label"]))
        if (scope, statement.label) in self._labels:
            self._labels.remove((scope, statement.label))
            return
        if ends is None:
            stack += [(word, statement) for word, form in _OPENING if form.match(text)]
            return
        word = ends[1].lower()
        if stack and stack[-1][0] == word:
            stack.pop()
            return
        yield _misplaced(statement, f"there is no '{word}' for it to close")
        if any(opened == word for opened, _ in stack):
            while stack.pop()[0] != word:
                pass

    def left_open(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each construct that is never closed."""
        for stack in self._open.values():
            for word, statement in stack:
                yield _misplaced(statement, f"no 'end {word}' closes it")


def _misplaced(statement: SourceStatement, why: str) -> Diagnostic:
    return Diagnostic(
        "P014",
        f"This statement is not Fortran where it stands: {why}.",
        statement.whole(),
        severity=Severity.WARNING,
    )


class _Problem(NamedTuple):
    """Syntax error in a statement: its position, the reason, and how to correct it, if known.

    - `is_word`: true if the first word of the statement is wrong.
    """

    place: tuple[int, int]
    why: str
    is_word: bool = False
    hint: str = ""


def _unlabelled(text: str) -> str:
    label = _LABELLED.match(text)
    return text[label.end() :] if label else text


@lru_cache(maxsize=_REMEMBERED)
def _problem_of(text: str) -> _Problem | None:
    """Return the syntax error in a statement, or None; results are cached by text."""
    return _unbalanced(text) or _form(text)


def _unbalanced(text: str) -> _Problem | None:
    if _BALANCED.match(text):
        return None
    open_at: list[int] = []
    for at, _, mark in punctuation(text, 0, len(text)):
        if mark in "'\"":
            return _Problem((at, at + 1), "this string is not closed")
        if mark in "([":
            open_at.append(at)
        elif mark in ")]":
            if not open_at:
                return _Problem((at, at + 1), "this bracket closes nothing")
            open_at.pop()
    if not open_at:
        return None
    return _Problem((open_at[-1], open_at[-1] + 1), "this bracket is not closed")


def _form(text: str, start: int = 0) -> _Problem | None:
    """Return the syntax error in the statement at `start`, or None."""
    if start == 0 and (label := _LABELLED.match(text)):
        start = label.end()
    if _is_assignment(text, start):
        return _expression(text, start, len(text), assigns=True)
    if condition := _IF.match(text, start):
        return _conditional(text, condition.end() - 1)
    if head := _DO.match(text, start):
        return _expression(text, head.end(), len(text), commas=2)
    word = _WORD.match(text, start)
    if word is None:
        return _Problem((start, len(text)), "it begins with no word")
    first = word.group().lower()
    if first == "call":
        return _expression(text, word.end(), len(text))
    if first not in _WORDS and not re.match(r"end\s*\w*$", text[start:], re.IGNORECASE):
        why = f"no statement begins with '{word.group()}'"
        is_call = text[word.end() :].lstrip()[:1] == "("
        hint = f"Write 'call {word.group()}(...)' if it is a subroutine." if is_call else ""
        return _Problem(word.span(), why, is_word=True, hint=hint)
    return None


def _conditional(text: str, opening: int) -> _Problem | None:
    """Return the syntax error in an `if` statement whose condition starts at `opening`."""
    close = closing(text, opening)
    if problem := _expression(text, opening, close + 1):
        return problem
    if _THEN.match(text, close + 1) or _ARITHMETIC.match(text, close + 1):
        return None
    start = close + 1 + len(text[close + 1 :]) - len(text[close + 1 :].lstrip())
    if start == len(text):
        why = "neither 'then' nor a statement stands behind the condition"
        return _Problem((close, close + 1), why)
    return _form(text, start)


def _is_assignment(text: str, start: int) -> bool:
    """Return whether a variable followed by `=` is at position `start`."""
    word = _WORD.match(text, start)
    if word is None:
        return False
    at = word.end()
    while at < len(text):
        if text[at] in "([":
            at = closing(text, at) + 1
        elif text[at] == "%" or text[at].isspace():
            at += 1
        elif (part := _WORD.match(text, at)) and text[start:at].rstrip().endswith("%"):
            at = part.end()
        else:
            return text[at] == "=" and text[at : at + 2] != "=="
    return False


def _expression(
    text: str, start: int, stop: int, *, assigns: bool = False, commas: int = 0
) -> _Problem | None:
    """Return the first error in the sequence of tokens from `start` to `stop`, or None.

    With `assigns`, the text is an assignment. With `commas`, it is a loop variable with its bounds
    and at most this number of commas.
    """
    reading = _ExpressionState(assigns or commas > 0, commas)
    for token in _TOKEN.finditer(text, start, stop):
        kind = token.lastgroup or "other"
        if not reading.takes(kind, token[kind]):
            why = f"'{token[kind]}' cannot follow what stands before it"
            return _Problem(token.span(kind), why)
    if reading.wants:
        return _Problem((max(start, stop - 1), stop), "something is missing behind it")
    return None


class _ExpressionState:
    """State of an expression check: an operand is expected if `wants` is true, else an operator."""

    def __init__(self, assigns: bool, commas: int) -> None:
        self.wants = True
        self._assigns = assigns
        self._commas = commas
        self._depth = 0
        self._before = ("", "")
        self._may_be_empty = False

    def takes(self, kind: str, token: str) -> bool:
        """Return whether the token is allowed here; consume it."""
        allowed = self._operand(kind, token) if self.wants else self._operator(kind, token)
        self._before = (kind, token)
        return allowed

    def _operand(self, kind: str, token: str) -> bool:
        _, before = self._before
        match kind:
            case "name" | "value" | "string":
                self.wants = False
            case "open":
                self._depth += 1
                self._may_be_empty = False
            case "close":
                self._depth -= 1
                self.wants = False
                return before in (":", "*", "::") or (before == "(" and self._may_be_empty)
            case "operator":
                return token == "*" and self._depth > 0 and before in ("(", ",", ":", "=")
            case "mark" if token == ",":
                return self._depth > 0 and before in (":", "::", "*")
            case "mark":
                starts = before in ("(", "[", "(/", ",", ":", "=")
                return self._depth > 0 and starts and token in (":", "::")
            case "dotted":
                return token.lower() not in (".and.", ".or.", ".eqv.", ".neqv.")
        return kind in ("name", "value", "string", "open", "sign", "not", "dotted")

    def _operator(self, kind: str, token: str) -> bool:
        before, text = self._before
        match kind:
            case "open":
                self._depth += 1
                self.wants = self._may_be_empty = True
                return before in ("name", "close", "string")
            case "close":
                self._depth -= 1
                return True
            case "sign" | "operator" | "dotted":
                self.wants = True
                return True
            case "mark":
                return self._mark(token)
            case "string":
                return before == "name" and text.endswith("_")
        return False

    def _mark(self, token: str) -> bool:
        """Return whether a punctuation mark is allowed after an operand; an operand must follow."""
        self.wants = True
        if token == "=" and self._depth == 0:
            allowed, self._assigns = self._assigns, False
            return allowed
        if token == "=>" and self._depth == 0:
            return self._assigns
        if token == "," and self._depth == 0:
            self._commas -= 1
            return self._commas >= 0
        return self._depth > 0 or token == "%"
