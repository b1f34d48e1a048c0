"""Printing of changed kernels: the subroutine and its module.

The subroutine is printed from typed code. The rest of the module is the author's text with some
names replaced, so that the changed and the original kernel can be used together (spec 7.9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.regex import regex
from psyclone_storage.ir.directive import AccRoutineDirective, DeclareTargetDirective
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.ir.unit import Declare, DirectiveLine
from psyclone_storage.languages.fortran.print.line_length import within_limit
from psyclone_storage.languages.fortran.print.printer import emit_declarations, emit_lines, emit_use
from psyclone_storage.languages.fortran.print.wrap import wrapped

_STEP = 2
_OfRoutines = AccRoutineDirective | DeclareTargetDirective
_REST_OF_LINE = regex(r"[ \t]*(?:![^\n]*)?(?=\n|\Z)")
_SEPARATOR = regex(r"[ \t]*;[ \t]*")
_TOKEN = regex(
    r"(?P<skipped>![^\n]*|'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"|%\s*[a-z]\w*)|(?P<name>[a-z]\w*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class KernelNames:
    """Names of a kernel: its module, the called procedure, its type, and its subroutines.

    The called procedure is the subroutine itself or a generic interface of all subroutines.
    """

    module: str
    procedure: str
    type: str
    specifics: tuple[str, ...]


def kernel_names(kernel: Kernel) -> KernelNames:
    """Return the original names of `kernel`."""
    specifics = kernel.implementations or (kernel.procedure,)
    return KernelNames(kernel.module, kernel.procedure, kernel.name, specifics)


def numbered_names(names: KernelNames, number: int) -> KernelNames:
    """Return the names of the changed kernel with this number, counted from 0.

    The number is inserted before the suffix `_mod`, `_code` or `_type`. A name without a suffix
    gets one (spec 7.9).
    """
    return KernelNames(
        f"{base_name(names.module)}_{number}_mod",
        _numbered_code(names.procedure, number),
        f"{base_name(names.type, '_type')}_{number}_type",
        tuple(_numbered_code(name, number) for name in names.specifics),
    )


def _numbered_code(name: str, number: int) -> str:
    return f"{base_name(name, '_code')}_{number}_code"


def base_name(name: str, ending: str = "_mod") -> str:
    """Return `name` without the suffix `ending`, if present."""
    return name[: -len(ending)] if key_of(name).endswith(ending) else name


def emit_kernel_module(codes: tuple[Routine, ...], old: KernelNames, new: KernelNames) -> str:
    """Return the module of the subroutines `codes` with new names.

    Comments and strings keep the old names.
    """
    place = codes[0].module.place
    text, parts, start = place.source.text, [], place.start
    edits = [*map(_changed, codes), *_in_helpers(codes)]
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[start : edit.start], edit.text]
        start = edit.stop
    whole = "".join((*parts, text[start : place.stop]))
    return within_limit(_renamed(whole, _exchange(old, new))).strip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class _Edit:
    """Replacement text for the characters of a file from `start` up to but excluding `stop`."""

    start: int
    stop: int
    text: str


def _changed(code: Routine) -> _Edit:
    routine = code.module.routine
    return _Edit(routine.start, routine.stop, "\n".join(emit_code(code)).lstrip())


def _in_helpers(codes: tuple[Routine, ...]) -> Iterator[_Edit]:
    """Yield edits that add the device directives of subroutines to the procedures they call."""
    others = {code.key for code in codes}
    wanted: dict[Routine, dict[DirectiveLine, None]] = {}
    for code in codes:
        routines = (one for one in code.directives if isinstance(one.meaning, _OfRoutines))
        for line in routines:
            for helper in code.kernel_use.helpers:
                said = {one.meaning for one in helper.directives}
                if helper.key not in others and line.meaning not in said:
                    wanted.setdefault(helper, {})[line] = None
    for helper, lines in wanted.items():
        if helper.specified is not None:
            whole, stop = helper.specified.source.text, helper.specified.stop
            text = "\n".join(emit_lines(tuple(lines), 2 * _STEP))
            if rest := _SEPARATOR.match(whole, stop):
                yield _Edit(stop, rest.end(), f"\n{text}\n")
            elif comment := _REST_OF_LINE.match(whole, stop):
                yield _Edit(comment.end(), comment.end(), f"\n{text}")


def _exchange(old: KernelNames, new: KernelNames) -> Mapping[str, str]:
    """Return a mapping from old names in lower case to new names."""
    specifics = zip(old.specifics, new.specifics, strict=True)
    pairs = (
        *specifics,
        (old.procedure, new.procedure),
        (old.module, new.module),
        (old.type, new.type),
    )
    return {key_of(before): after for before, after in pairs}


def emit_interface(name: str, specifics: Iterable[str]) -> list[str]:
    """Return the lines of the interface `name` for subroutines of the same module."""
    inside = wrapped(f"module procedure {', '.join(specifics)}", 2 * _STEP)
    indent = " " * _STEP
    return [f"{indent}interface {name}", *inside, f"{indent}end interface {name}"]


def _renamed(text: str, names: Mapping[str, str]) -> str:
    def exchanged(found: re.Match[str]) -> str:
        word = found.group()
        return word if found["skipped"] else names.get(key_of(word), word)

    return _TOKEN.sub(exchanged, text)


def emit_code(code: Routine, indent: int = _STEP) -> list[str]:
    """Return the lines of a subroutine; the first one is indented by `indent` blanks."""
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


def _head(code: Routine) -> str:
    prefix = f"{code.prefix} " if code.prefix else ""
    suffix = f" {code.suffix}" if code.suffix else ""
    return f"{prefix}subroutine {code.name}({', '.join(code.dummies)}){suffix}"


def _specified(items: Iterable[Specified], indent: int) -> Iterator[str]:
    """Yield a specification part; consecutive declarations of one type are combined."""
    run: list[Declare] = []
    for item in items:
        if isinstance(item, Declare):
            run.append(item)
            continue
        yield from emit_declarations(run, indent)
        run = []
        yield from emit_lines((item,), indent)
    yield from emit_declarations(run, indent)
