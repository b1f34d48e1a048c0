"""Inlining of the procedures called by Fortran kernels, and by single statements of routines.

Most kernels call none, so the inliner is imported on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import CallFunction, Expr, Name, Origin, walk
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import InlinedCode, ModuleContext, Routine
from psyclone_storage.ir.unit import Call, DirectiveLine, Line
from psyclone_storage.passes.inline.legality import conditional_line


@kept_with_first
def inline_procedures(code: Routine) -> InlinedCode:
    """Return a Fortran kernel with calls of known module procedures inlined."""
    context = code.module.context
    if (
        context is None
        or code.kernel_use.in_place
        or not any(True for _ in called_names(code.body))
    ):
        return InlinedCode(code)
    if why := _reason_in_text(code):
        return InlinedCode(code, ((code.module.routine, why),))
    from psyclone_storage.passes.inline.inliner import inline_calls  # noqa: PLC0415

    made = inline_calls(code, context)
    if made.code is code:
        return made
    use = replace(made.code.kernel_use, left=made.remaining)
    return replace(made, code=replace(made.code, kernel_use=use))


def _reason_in_text(code: Routine) -> str:
    """Return why no call of a routine can be inlined, whatever it calls; empty without reason."""
    if any(isinstance(line, DirectiveLine) for line in walk_lines(code.body)):
        return f"directives in '{code.name}' speak of its statements and variables as they are"
    if line := conditional_line(code):
        return f"what '{code.name}' calls may depend on '{line}'"
    return ""


def inline_statement(
    code: Routine, line: Line, context: ModuleContext, call: Expr | None = None
) -> InlinedCode:
    """Return `code` with a statement alone, whose calls are inlined, without those in its blocks.

    If `call` is a part of the statement, only this call is inlined. The calls remain, with the
    reasons, if one of them cannot be inlined.
    """
    alone = replace(code, body=(line,), whole=code)
    if why := _reason_in_text(code):
        return InlinedCode(alone, ((place_of_line(line), why),))
    from psyclone_storage.passes.inline.inliner import inline_calls  # noqa: PLC0415

    made = inline_calls(alone, context, inside=False, only=call)
    if made.remaining or made.code is not alone:
        return made
    return InlinedCode(alone, ((place_of_line(line), "the statement calls no known procedure"),))


def routines_calling(routines: Mapping[str, Routine], key: str) -> tuple[str, ...]:
    """Return the keys of the routines of a file that may call one of them, also through others.

    A type-bound call, or one of a generic name, may call any routine.
    """
    generics = {"", *(name for code in routines.values() for name in code.module.generics)}
    called = {one: set(called_names(code.body)) for one, code in routines.items()}
    found: dict[str, None] = {}
    left = [key]
    while left:
        names = generics | {left[-1], left.pop().rpartition(".")[2]}
        new = [one for one in routines if one not in found and called[one] & names]
        found.update(dict.fromkeys(new))
        left += new
    return tuple(found)


def called_names(body: Iterable[Line]) -> Iterator[str]:
    """Yield the keys of called procedures, empty for a type-bound call."""
    for line in walk_lines(body):
        if isinstance(line, Call):
            yield line.procedure.key if isinstance(line.procedure, Name) else ""
        for expr in expressions_of(line):
            for part in walk(expr):
                if isinstance(part, CallFunction) and isinstance(part.base, Name):
                    symbol = part.base.symbol
                    if symbol is None or symbol.origin is not Origin.INTRINSIC:
                        yield part.base.key
