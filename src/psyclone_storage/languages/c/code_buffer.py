"""Output buffer for printed statements: indented lines, fresh names, and the called helpers.

A statement that needs temporaries is enclosed in braces together with their declarations. No jump
can then skip a declaration.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from psyclone_storage.base.regex import regex
from psyclone_storage.ir.typing import CType

_WIDTH = 100
_STEP = "    "
_GLUE = "\0"
_SUBSCRIPT = regex(r"\[[^][]{,60}\]")
RESERVED = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while asm class delete friend new operator private protected public
    template this throw try virtual bool true false main errno
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
    fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llround log log10 log1p log2 logb
    lround modf nan nearbyint nextafter pow remainder rint round scalbn sin sinh sqrt tan tanh
    tgamma trunc j0 j1 jn y0 y1 yn gamma index signgam""".split()
)
"""Words that are no names of variables in C, or that are names of functions."""


class CWriter:
    """Lines of one function: its prologue, followed by its statements."""

    def __init__(self) -> None:
        self.prologue: list[tuple[int, str]] = []
        self.body: list[tuple[int, str]] = []
        self.helpers: set[str] = set()
        self.automatic: list[str] = []
        self._lines = self.body
        self._depth = 1
        self._taken: set[str] = set()
        self._declared = 0

    # ------------------------------------------------------------------------ names

    def name(self, stem: str) -> str:
        """Return an unused name: `stem`, with a suffix if it is already used or reserved."""
        name, number = stem, 1
        if name in RESERVED:
            name = f"{stem}_"
        while name in self._taken or name in RESERVED:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def release(self, name: str) -> None:
        """Make a name available again after the end of its variable's scope."""
        self._taken.discard(name)

    def helper(self, name: str) -> str:
        """Request a helper function, which is emitted before all others; return its name."""
        self.helpers.add(name)
        return name

    # ------------------------------------------------------------------------ lines

    def put(self, text: str) -> None:
        """Add a line."""
        self._lines.append((self._depth, text))

    def label(self, name: str) -> None:
        """Add a label, followed by an empty statement."""
        self._lines.append((self._depth, f"{name}:;"))

    def temporary(self, type_: CType, value: str, stem: str, *, changes: bool = False) -> str:
        """Declare a scalar temporary initialised with `value`, and return its name.

        The temporary is constant unless `changes` is true.
        """
        name = self.name(stem)
        self.declare(f"{'' if changes else 'const '}{type_.name} {name} = {value};")
        return name

    def declare(self, text: str) -> None:
        """Add a declaration."""
        self._declared += 1
        self.put(text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Put the lines written in this context into a braced block with the head `head`."""
        self.put(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.put(tail)

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Put the lines written in this context into braces if they contain a declaration."""
        lines, start, before = self._lines, len(self._lines), self._declared
        yield
        if self._declared > before:
            inside = [(depth + 1, text) for depth, text in lines[start:]]
            lines[start:] = [(self._depth, "{"), *inside, (self._depth, "}")]
            self._declared = before

    @contextmanager
    def in_prologue(self) -> Iterator[None]:
        """Move the lines written in this context to the prologue, which precedes all statements."""
        lines, depth, declared = self._lines, self._depth, self._declared
        self._lines, self._depth = self.prologue, 1
        yield
        self._lines, self._depth, self._declared = lines, depth, declared

    def undo_to(self, mark: tuple[int, int, int]) -> None:
        """Discard the lines after `mark`, because their statement cannot be printed."""
        length, self._depth, self._declared = mark
        del self._lines[length:]

    def mark(self) -> tuple[int, int, int]:
        """Return the current end of the output, for `undo_to`."""
        return len(self._lines), self._depth, self._declared


def laid_out(lines: list[tuple[int, str]]) -> list[str]:
    """Return indented lines, with long ones broken at blanks."""
    found: list[str] = []
    for depth, text in lines:
        indent = _STEP * depth
        if text.startswith("#"):
            found.append(f"{indent}{text}")
            continue
        if text.endswith(":;"):
            indent = _STEP * (depth - 1)
        comment = "// " if text.startswith("// ") else ""
        wrapped = textwrap.wrap(
            text if comment else _SUBSCRIPT.sub(lambda part: part[0].replace(" ", _GLUE), text),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + (comment or _STEP),
            break_long_words=False,
            break_on_hyphens=False,
        )
        found += [line.replace(_GLUE, " ") for line in wrapped] or [""]
    return found
