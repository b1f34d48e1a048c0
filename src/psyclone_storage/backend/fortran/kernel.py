"""Kernels as Fortran: a subroutine that was read, and the module around it, printed back.

The subroutine is printed from its code; the rest of the module is its author's text, in which
names alone are exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.backend.fortran.printer import emit_declarations, emit_lines, emit_use
from psyclone_storage.backend.fortran.wrap import wrapped
from psyclone_storage.ir.code import KernelCode, Specified
from psyclone_storage.ir.unit import Declare

_STEP = 2


def emit_code(code: KernelCode, indent: int = _STEP) -> list[str]:
    """Return the lines of a subroutine whose first line starts behind `indent` blanks."""
    inner = indent + _STEP
    lines = wrapped(_head(code), indent)
    for use in code.uses:
        lines += wrapped(emit_use(use), inner)
    lines += _specified(code.declarations, inner)
    lines += emit_lines(code.directives, inner)
    lines += emit_lines(code.body, inner)
    if code.internal is not None:
        lines += [" " * indent + "contains", *emit_lines((code.internal,), inner)]
    return [*lines, f"{' ' * indent}end subroutine {code.name}"]


def _head(code: KernelCode) -> str:
    prefix = f"{code.prefix} " if code.prefix else ""
    suffix = f" {code.suffix}" if code.suffix else ""
    return f"{prefix}subroutine {code.name}({', '.join(code.dummies)}){suffix}"


def _specified(items: Iterable[Specified], indent: int) -> Iterator[str]:
    """Yield a specification part; neighbours of one type are declared together."""
    run: list[Declare] = []
    for item in items:
        if isinstance(item, Declare):
            run.append(item)
            continue
        yield from emit_declarations(run, indent)
        run = []
        yield from emit_lines((item,), indent)
    yield from emit_declarations(run, indent)
