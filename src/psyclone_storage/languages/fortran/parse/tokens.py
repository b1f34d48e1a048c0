"""Tokens of an expression, type specification or entity.

This module defines the syntax of names, literals and operators in free-form Fortran. A character
that cannot start a token raises `UnreadableError`. The order of tokens is not checked.
"""

from __future__ import annotations

import re
from enum import IntEnum

from psyclone_storage.base.regex import regex

_TOKEN = regex(
    r"""[ \t]*(?:
      (?P<name>[a-z]\w*+(?!['"]))
    | (?P<mark>\(/(?![=/)])|/\)|\*\*|//|==|/=|<=|>=|=>|\.\.|[-+*/<>=(),:%\[\]])
    | (?P<real>(?:\d+\.(?![ ]*[a-z]+[ ]*\.)\d*|\.\d+)(?:[edq][+-]?\d+)?(?:_\w+)?
        |\d+[edq][+-]?\d+(?:_\w+)?)
    | (?P<integer>\d+(?:_\w+)?(?![\w'"]))
    | (?P<logical>\.(?:true|false)\.(?:_\w+)?)
    | (?P<operator>\.[a-z]+\.)
    | (?P<boz>[bozx](?:'[0-9a-f]+'|"[0-9a-f]+"))
    | (?P<string>(?:\w+_)?(?:'(?:[^']|'')*'|"(?:[^"]|"")*"))
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_BLANK = regex(r"[ \t]*\Z")


class UnreadableError(ValueError):
    """Error: invalid Fortran; `position` is the position of the first invalid character."""

    def __init__(self, text: str, position: int = 0) -> None:
        super().__init__(text, position)
        self.text = text
        self.position = position


class TooDeepError(UnreadableError):
    """Error: an expression is nested too deeply for this compiler."""


class TokenKind(IntEnum):
    """Kind of a token; the values are the group numbers of the regular expression."""

    END = 0
    NAME = 1
    MARK = 2
    REAL = 3
    INTEGER = 4
    LOGICAL = 5
    OPERATOR = 6
    BOZ = 7
    STRING = 8


class Tokens:
    """Tokens of a text: their kinds, texts, and start and stop positions.

    The last token has the kind `END`. Names and literals are as written. Marks have no letter case.
    """

    __slots__ = ("kinds", "source", "starts", "stops", "texts")

    def __init__(self, source: str) -> None:
        self.source = source
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self.stops: list[int] = []
        position, match = 0, _TOKEN.match
        while found := match(source, position):
            kind = found.lastindex or TokenKind.END
            position = found.end()
            self._add(kind, found[kind], position)
        if not _BLANK.match(source, position):
            raise UnreadableError(source, position)
        self._add(TokenKind.END, "", len(source))

    def _add(self, kind: int, text: str, stop: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.starts.append(stop - len(text))
        self.stops.append(stop)
