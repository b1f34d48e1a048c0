"""Translation of a file of Fortran kernels to Python: heads, bodies and imports."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import Span
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import ModuleContext, Routine
from psyclone_storage.ir.typing import CScope
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.python.parse.tree import BY_PRODUCTS
from psyclone_storage.languages.python.translate.constant_arrays import (
    with_arrays_of_modules,
    without_constant_arrays,
)
from psyclone_storage.languages.python.translate.element_types import values_of_modules
from psyclone_storage.languages.python.translate.kernel import KernelWriter
from psyclone_storage.languages.python.translate.module import ModuleNames
from psyclone_storage.languages.python.translate.protocols import (
    ArgumentForm,
    KernelForm,
    PlacedLine,
    TranslatedKernel,
)
from psyclone_storage.languages.python.translate.values import NoPythonError
from psyclone_storage.passes.array_functions import scalarise
from psyclone_storage.passes.inline.inliner import inline_calls

_STEP = "    "
_WIDTH = 100
_DESCRIBED = "Let 'meta_args' describe what the subroutine takes behind its point."
_OFFSET = regex(r"\[(-?\d+), (-?\d+)\]")
_TIED = "\N{NO-BREAK SPACE}"
_POWER = regex(r"\*\*(?!(-[12]|[0-3])(?![\w.]))")
"""A power that differs from a product of few factors."""
_HEAD = regex(r"(?P<head>\s*(?:[\w\[\], ]+ = |(?:if|elif) ))(?P<value>.+?)(?P<end>:?)\Z")


@dataclass(frozen=True, slots=True)
class PythonText:
    """Python text with the Fortran location of each line."""

    text: str
    places: tuple[Span | None, ...]


def emit_kernels(
    kernels: Sequence[TranslatedKernel],
    around: ModuleContext,
    form: KernelForm,
    title: str,
    *,
    in_place: bool = False,
) -> PythonText:
    """Return a Python module with `kernels`; `title` becomes its docstring.

    If `in_place` is true, the module is never imported, and constants are replaced by their values.

    Raises:
        CompileError: G006, at each statement that cannot be translated.
    """
    ready: list[_ReadyKernel] = []
    problems: list[Diagnostic] = []
    for one in kernels:
        try:
            ready.append(_ready(one, around, form))
        except NoPythonError as error:
            problems.append(_undescribed(one, error))
    taken = {item.key for one in ready for item in one.code.declarations
             if isinstance(item, Declare)}  # fmt: skip
    taken |= {key_of(one.parsed.name) for one in kernels}
    names = ModuleNames.of(taken, in_place=in_place)
    lines: list[PlacedLine] = []
    for made in ready:
        try:
            found, wrong = _kernel(made, around, names)
            lines += found
            problems += wrong
        except NoPythonError as error:
            problems.append(_undescribed(made.kernel, error))
    if problems:
        raise CompileError(*problems)
    opening = [PlacedLine(line) for line in _opening(title, form.module, names, lines)]
    return wrapped_text([*opening, *lines])


def _undescribed(one: TranslatedKernel, error: NoPythonError) -> Diagnostic:
    place = error.place or one.parsed.span
    return Diagnostic("G006", f"{error.reason}.", place, hint=_DESCRIBED)


@dataclass(frozen=True, slots=True)
class _ReadyKernel:
    """Kernel with inlined calls, and with array statements converted to loops where possible.

    - `reasons`: by location, reasons for which other array statements were not converted.
    """

    kernel: TranslatedKernel
    form: ArgumentForm
    code: Routine
    reasons: Mapping[Span | None, str]


def _ready(one: TranslatedKernel, around: ModuleContext, form: KernelForm) -> _ReadyKernel:
    of = form.of(one)
    inlined = inline_calls(one.code, around)
    code = inlined.code
    reasons: dict[Span | None, str] = {}
    if of.has_arrays:
        code = with_arrays_of_modules(code, CScope(code, around))
        code = without_constant_arrays(code, CScope(code, around))
        code, reasons = scalarise(code, values_of_modules(code, around))
    return _ReadyKernel(one, of, code, {**reasons, **dict(inlined.remaining)})


def _kernel(
    ready: _ReadyKernel, around: ModuleContext, names: ModuleNames
) -> tuple[list[PlacedLine], list[Diagnostic]]:
    """Return the lines of a kernel, and its errors."""
    one, of, code = ready.kernel, ready.form, ready.code
    if len(one.parsed.implementations) > 1:
        message = f"The kernel '{one.parsed.name}' has several subroutines, one for each type."
        hint = "Write a kernel for each type, with one subroutine."
        return [], [Diagnostic("G006", message, one.parsed.span, hint=hint)]
    scope = CScope(code, around)
    writer = KernelWriter(code, scope, names, of, reasons=ready.reasons, begun=one.begun)
    body = [line.indented() for line in writer.lines()]
    return [PlacedLine(""), PlacedLine(""), *of.head(writer), *body], writer.problems


def _opening(
    title: str, words: str, names: ModuleNames, lines: Iterable[PlacedLine]
) -> Iterator[str]:
    text = "\n".join(line.text for line in (*lines, *map(PlacedLine, names.declared)))
    yield f'"""{title}"""'
    yield ""
    if _POWER.search(text):
        yield BY_PRODUCTS
        yield ""
    if "math." in text:
        yield "import math"
        yield ""
    others = sorted([*names.imported, *(["numpy as np"] if "np." in text else [])])
    yield from (f"import {name}" for name in others)
    if others:
        yield ""
    yield f"from {words} import *"
    if names.declared:
        yield ""
        yield from names.declared


# ---------------------------------------------------------------------------- lines


def wrapped_text(lines: Iterable[PlacedLine]) -> PythonText:
    """Return lines as one text, with long lines split."""
    texts: list[str] = []
    places: list[Span | None] = []
    for line in lines:
        for part in _wrapped(line.text):
            texts.append(part)
            places.append(line.place)
    return PythonText("\n".join(texts) + "\n", tuple(places))


def _wrapped(text: str) -> list[str]:
    """Split a line that is too long by putting parentheses around its value or condition."""
    found = _HEAD.match(text)
    if len(text) <= _WIDTH or found is None:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    inner = indent + _STEP
    value = _OFFSET.sub(rf"[\1,{_TIED}\2]", found["value"])
    parts = textwrap.wrap(
        value, _WIDTH - len(inner), break_long_words=False, break_on_hyphens=False
    )
    lines = [f"{inner}{part.replace(_TIED, ' ')}" for part in parts]
    return [f"{found['head']}(", *lines, f"{indent}){found['end']}"]
