"""Kernels as Fortran: a subroutine that was read, and the module around it, printed back.

The subroutine is printed from its code; the rest of the module is its author's text, in which
names alone are exchanged: a changed kernel stands beside the author's own (spec 7.9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from psyclone_storage.backend.fortran.limit import within_limit
from psyclone_storage.backend.fortran.printer import emit_declarations, emit_lines, emit_use
from psyclone_storage.backend.fortran.wrap import wrapped
from psyclone_storage.ir.code import KernelCode, Specified
from psyclone_storage.ir.unit import Declare

_STEP = 2
_TOKEN = re.compile(
    r"(?P<skipped>![^\n]*|'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"|%\s*[a-z]\w*)|(?P<name>[a-z]\w*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class KernelNames:
    """What a changed kernel is called: its module, its subroutine and its type."""

    module: str
    procedure: str
    type: str


def numbered_names(code: KernelCode, type_name: str, number: int) -> KernelNames:
    """Return the names of the changed kernel `number`, counted from 0.

    The number stands before the `_mod`, `_code` or `_type` that a name ends in, which a name
    without one gets (spec 7.9).
    """
    return KernelNames(
        f"{base_name(code.module.name)}_{number}_mod",
        f"{base_name(code.name, '_code')}_{number}_code",
        f"{base_name(type_name, '_type')}_{number}_type",
    )


def base_name(name: str, ending: str = "_mod") -> str:
    """Return `name` without its `ending`, if it has it."""
    return name[: -len(ending)] if name.lower().endswith(ending) else name


def emit_kernel_module(code: KernelCode, type_name: str, names: KernelNames) -> str:
    """Return the module of `code` under new names; comments and strings keep the old ones."""
    exchange = {
        code.module.name.lower(): names.module,
        code.name.lower(): names.procedure,
        type_name.lower(): names.type,
    }
    module, routine = code.module.place, code.module.routine
    text = routine.source.text
    before, after = text[module.start : routine.start], text[routine.stop : module.stop]
    whole = before + "\n".join(emit_code(code)).lstrip() + after
    return within_limit(_renamed(whole, exchange)).strip("\n") + "\n"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    def exchanged(found: re.Match[str]) -> str:
        word = found.group()
        return word if found["skipped"] else names.get(word.lower(), word)

    return _TOKEN.sub(exchanged, text)


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
