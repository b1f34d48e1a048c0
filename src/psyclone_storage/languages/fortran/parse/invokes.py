"""Parsing of `call invoke(...)`: its calls, their arguments and its label, with locations.

Only the syntax is parsed. Whether a call names a kernel or a built-in is determined later.
"""

from __future__ import annotations

import re

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related, raise_if_any
from psyclone_storage.base.names import MAX_FORTRAN_NAME, did_you_mean
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.parsed import ParsedArgument, ParsedCall, routine_name
from psyclone_storage.languages.fortran.parse.brackets import closing, list_items, punctuation
from psyclone_storage.languages.fortran.parse.reader import MAX_DEPTH, read_expression
from psyclone_storage.languages.fortran.parse.statements import SourceStatement
from psyclone_storage.languages.fortran.parse.tokens import TooDeepError, UnreadableError

_INVOKE = regex(r"call\s+invoke\s*(?:\(|$)", re.IGNORECASE)
_IF = regex(r"if\s*\(", re.IGNORECASE)
_BLANKS = regex(r"\s*")
_KEYWORD = regex(r"(?P<name>[a-z]\w*)\s*=(?!=)\s*", re.IGNORECASE)
_CALL = regex(r"(?P<name>[a-z]\w*)\s*\(", re.IGNORECASE)
_STRING = regex(r"'([^']*)'|\"([^\"]*)\"")
_DIRECTIVE = regex(r"^[ \t]*(#[^\r\n]*)", re.MULTILINE)
_NAME = regex(r"[a-z]\w*", re.IGNORECASE)
_NESTED = "Write its kernels and built-ins in one invoke, or a second 'call invoke' statement."
_CALL_FORM = (
    "Write a kernel or a built-in with its arguments, 'kernel_type(field)', and a comma between"
    " two of them."
)


@dataclass(frozen=True, slots=True)
class InvokeLabel:
    """Label of an invoke, with its location."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class InvokeCall:
    """Parsed `call invoke(...)` without its enclosing scopes."""

    calls: tuple[ParsedCall, ...]
    label: InvokeLabel | None
    span: Span


def find_invoke(statement: SourceStatement) -> int:
    """Return the position of `call` if a statement is or ends with an invoke, else -1."""
    text = statement.text
    if "invoke" not in text and "invoke" not in text.lower():
        return -1
    start = action_start(text)
    return start if start >= 0 and _INVOKE.match(text, start) else -1


def action_start(text: str) -> int:
    """Return where the action of a statement begins: after the condition of an `if`, else at 0.

    A condition without its closing parenthesis gives -1.
    """
    condition = _IF.match(text)
    if not condition:
        return 0
    close = closing(text, condition.end() - 1)
    return -1 if close < 0 else _end_of_blanks(text, close + 1)


def read_invoke(statement: SourceStatement, start: int) -> InvokeCall:
    """Parse the invoke whose `call` is at position `start`.

    Raises:
        CompileError: all errors in the invoke.
    """
    problems: list[Diagnostic] = []
    opening, close = _brackets(statement, start)
    calls: list[ParsedCall] = []
    labels: list[InvokeLabel] = []
    for first, stop in list_items(statement.text, opening + 1, close):
        try:
            item = _read_item(statement, first, stop)
        except CompileError as error:
            problems.extend(error.problems)
            continue
        if isinstance(item, InvokeLabel):
            labels.append(item)
        else:
            calls.append(item)
    span = statement.span(start, close + 1)
    problems.extend(_check_labels(labels))
    if not calls and not problems:
        problems.append(Diagnostic("P020", "This invoke calls nothing.", span, hint=_CALL_FORM))
    raise_if_any(problems)
    return InvokeCall(tuple(calls), labels[0] if labels else None, span)


def _brackets(statement: SourceStatement, start: int) -> tuple[int, int]:
    """Return the positions of an invoke's parentheses.

    Raise `CompileError` if they do not match.
    """
    text = statement.text
    if statement.split:
        raise _problem(
            "P010",
            "A preprocessor line stands inside this invoke.",
            _directive(statement),
            hint="Preprocess the file first, or put one whole invoke into each branch.",
        )
    opening = text.find("(", start)
    if opening < 0:
        span = statement.span(start, len(text))
        raise _problem("P020", "This invoke calls nothing.", span, hint=_CALL_FORM)
    quote = next((at for at, _, mark in punctuation(text, opening, len(text)) if mark in "'\""), -1)
    if quote >= 0:
        raise _problem(
            "P011", "This string is not closed on its line.", statement.span(quote, quote + 1)
        )
    close = closing(text, opening)
    if close < 0:
        raise _problem(
            "P007",
            "This bracket of the invoke is not closed.",
            statement.span(_unclosed(text, opening), _unclosed(text, opening) + 1),
            label="opened here",
        )
    behind = _end_of_blanks(text, close + 1)
    if behind < len(text):
        raise _problem(
            "P007",
            "There is text behind the closing bracket of the invoke.",
            statement.span(behind, len(text)),
            label="one bracket too many before this?",
        )
    return opening, close


def _directive(statement: SourceStatement) -> Span:
    """Return the location of the first preprocessor line between the lines of a statement."""
    whole = statement.whole()
    found = _DIRECTIVE.search(whole.source.text, whole.start, whole.stop)
    return whole.source.span(*found.span(1)) if found else whole


def _unclosed(text: str, opening: int) -> int:
    """Return the position of the innermost unclosed bracket."""
    stack: list[int] = []
    for at, _, mark in punctuation(text, opening, len(text)):
        if mark in "([":
            stack.append(at)
        elif mark in ")]":
            stack.pop()
    return stack[-1]


def _end_of_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return blanks.end() if blanks else start


def _read_item(statement: SourceStatement, start: int, stop: int) -> ParsedCall | InvokeLabel:
    text = statement.text
    if start == stop:
        place = statement.span(start, stop)
        raise _problem("P021", "There is nothing between these commas.", place, hint=_CALL_FORM)
    keyword = _KEYWORD.match(text, start, stop)
    if keyword:
        return _read_keyword(statement, keyword, stop)
    head = _CALL.match(text, start, stop)
    close = closing(text, head.end() - 1) if head else -1
    if head is None or close + 1 != stop:
        raise _problem(
            "P021",
            f"'{text[start:stop]}' is not a call of a kernel or a built-in.",
            statement.span(start, stop),
            hint=_CALL_FORM,
        )
    if head.group("name").lower() == "invoke":
        place = statement.span(start, stop)
        raise _problem("P021", "An invoke cannot contain an invoke.", place, hint=_NESTED)
    problems: list[Diagnostic] = []
    arguments = []
    for first, last in list_items(text, head.end(), close):
        try:
            arguments.append(_read_argument(statement, first, last, head.group("name")))
        except CompileError as error:
            problems.extend(error.problems)
    raise_if_any(problems)
    return ParsedCall(
        head.group("name"),
        statement.span(*head.span("name")),
        tuple(arguments),
        statement.span(start, stop),
    )


def _read_argument(statement: SourceStatement, start: int, stop: int, call: str) -> ParsedArgument:
    text = statement.text[start:stop]
    span = statement.span(start, stop)
    if not text:
        raise _problem("P029", f"An argument of '{call}' is missing here.", span)
    keyword = _KEYWORD.match(text)
    if keyword:
        raise _problem(
            "P028",
            f"'{call}' takes no arguments by keyword, but '{keyword.group('name')}' is given so.",
            span,
            hint="Give the arguments in the order of the kernel's metadata.",
        )
    try:
        return ParsedArgument(read_expression(text), span)
    except TooDeepError:
        message = f"An argument of '{call}' is nested more than {MAX_DEPTH} levels deep."
        hint = "Assign a part of it to a variable before the invoke."
        raise _problem("P029", message, span, hint=hint) from None
    except UnreadableError:
        message = f"'{text}' is not a Fortran expression."
        raise _problem("P029", message, span, label=f"argument of '{call}'") from None


def _read_keyword(statement: SourceStatement, keyword: re.Match[str], stop: int) -> InvokeLabel:
    name = keyword.group("name")
    if name.lower() != "name":
        raise _problem(
            "P027",
            f"An invoke has no argument called '{name}'.",
            statement.span(*keyword.span("name")),
            hint=did_you_mean(name, ["name"]) or "Only 'name' can be given by keyword.",
        )
    value = statement.text[keyword.end() : stop]
    span = statement.span(keyword.end(), stop) if value else statement.span(*keyword.span())
    literal = _STRING.fullmatch(value)
    if literal is None:
        raise _problem(
            "P023",
            "The name of an invoke must be a string literal.",
            span,
            hint=f'Write name="{value}".' if _NAME.fullmatch(value) else "",
        )
    label = (literal.group(1) or literal.group(2) or "").strip()
    _check_name(label, span)
    return InvokeLabel(label, span)


def _check_name(label: str, span: Span) -> None:
    if not _NAME.fullmatch(label):
        raise _problem(
            "P024",
            f"'{label}' cannot name an invoke, because it is not a Fortran name.",
            span,
            hint="A name has letters, digits and underscores, and a letter comes first.",
        )
    routine = routine_name(label)
    if len(routine) > MAX_FORTRAN_NAME:
        raise _problem(
            "P024",
            f"The routine '{routine}' has {len(routine)} characters; Fortran allows"
            f" {MAX_FORTRAN_NAME}.",
            span,
        )


def _check_labels(labels: list[InvokeLabel]) -> list[Diagnostic]:
    return [
        Diagnostic(
            "P022",
            "An invoke has one name only.",
            label.span,
            label="second name",
            related=(Related(labels[0].span, "first name"),),
        )
        for label in labels[1:]
    ]


def _problem(
    code: str, message: str, span: Span, *, label: str = "", hint: str = ""
) -> CompileError:
    return CompileError(Diagnostic(code, message, span, label=label, hint=hint))
