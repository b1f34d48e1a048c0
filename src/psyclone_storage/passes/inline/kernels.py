"""Inlining of the procedures called by Fortran kernels.

Most kernels call none, so the inliner is imported on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import replace
from psyclone_storage.ir.expr import CallFunction, Name, Origin, walk
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import InlinedCode, Routine
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
    why = ""
    if any(isinstance(line, DirectiveLine) for line in walk_lines(code.body)):
        why = f"directives in '{code.name}' speak of its statements and variables as they are"
    elif line := conditional_line(code):
        why = f"what '{code.name}' calls may depend on '{line}'"
    if why:
        return InlinedCode(code, ((code.module.routine, why),))
    from psyclone_storage.passes.inline.inliner import inline_calls  # noqa: PLC0415

    made = inline_calls(code, context)
    if made.code is code:
        return made
    use = replace(made.code.kernel_use, left=made.remaining)
    return replace(made, code=replace(made.code, kernel_use=use))


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
