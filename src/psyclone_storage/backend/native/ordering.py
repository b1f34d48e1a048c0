"""What is done while data are held: functions of C, and statements of Python between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from psyclone_storage.backend.native.loops import LoopsFunction, ScalarArgument
from psyclone_storage.backend.numpy.printer import lines_of
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.unit import Blank, Comment, Line

Apart = Callable[[Line, Line], bool]
"""Says of two statements of C that follow each other whether each has a function of its own."""


def never(_before: Line, _line: Line) -> bool:
    """Return False: what follows each other is one function."""
    return False


def always(_before: Line, _line: Line) -> bool:
    """Return True: each statement has a function of its own."""
    return True


def in_order(
    body: tuple[Line, ...],
    function: Callable[[int, tuple[Line, ...]], LoopsFunction],
    computed: Callable[[Line], bool],
    *,
    apart: Apart = never,
) -> list[str | LoopsFunction]:
    """Return what is done while data are held: statements of Python, and functions of loops.

    What is `computed` is done in C; two such statements that follow each other have functions of
    their own if they are to be `apart`.
    """
    lines: list[str | LoopsFunction] = []
    number = 0
    for in_c, part in _parts(body, computed, apart):
        if in_c:
            number += 1
            lines.append(function(number, part))
        else:
            lines += lines_of(part, {})
    return lines


def given_to(
    functions: list[LoopsFunction], one: LoopsFunction, called: Mapping[ScalarArgument, str]
) -> str:
    """Return what a function is called by, its number, and the scalars that it is passed."""
    scalars = (called.get(replace(item, name=""), item.python) for item in one.scalars)
    return ", ".join((str(functions.index(one)), *scalars))


def _parts(
    body: tuple[Line, ...], computed: Callable[[Line], bool], apart: Apart
) -> list[tuple[bool, tuple[Line, ...]]]:
    """Return statements that are done in C, and those in Python; remarks go with what follows."""
    parts: list[tuple[bool, list[Line]]] = []
    waiting: list[Line] = []
    for line in body:
        waiting.append(line)
        if isinstance(line, Blank | Comment):
            continue
        in_c = computed(line)
        if not parts or parts[-1][0] is not in_c or (in_c and apart(parts[-1][1][-1], line)):
            parts.append((in_c, []))
        parts[-1][1].extend(waiting)
        waiting = []
    return [(in_c, _without_ends(part)) for in_c, part in parts]


def _without_ends(part: list[Line]) -> tuple[Line, ...]:
    """Return statements without empty lines before the first."""
    start = next(at for at, line in enumerate(part) if not isinstance(line, Blank))
    return tuple(part[start:])


def imports_of(
    functions: list[LoopsFunction], codes: tuple[KernelCode, ...], names: NameTable
) -> tuple[list[str], dict[ScalarArgument, str]]:
    """Return imports of the variables of kernels' modules, and what each is called here.

    They are read with each call, as kernels read them.

    Raises:
        CompileError: P052, names of two of them differ in case alone.
    """
    scalars = dict.fromkeys(item for function in functions for item in function.scalars)
    known = _known({(one.module, one.python) for one in scalars if one.module}, codes)
    lines: list[str] = []
    locals_: dict[tuple[str, str], str] = {}
    called: dict[ScalarArgument, str] = {}
    for one in scalars:
        if one.module:
            module, said = known[one.module, one.python]
            original, bracket, index = said.partition("[")
            if (local := locals_.get((module, original))) is None:
                local = locals_[module, original] = names.fresh(original)
                renamed = f" as {local}" if local != original else ""
                lines.append(f"from {module} import {original}{renamed}")
            called[replace(one, name="")] = f"{local}{bracket}{index}"
    return lines, called


def _known(
    read: set[tuple[str, str]], codes: tuple[KernelCode, ...]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the module and the name there of variables by their keys; some of them are `read`."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for key, module, name in _variables(codes):
        _, other = found.setdefault(key, (module, name))
        if key in read and other != name:
            message = f"Kernels of an invoke use '{other}' and '{name}' of the module '{module}'."
            hint = "Names are those of code in C, too: let them differ in more than case."
            raise CompileError(Diagnostic("P052", message, hint=hint))
    return found


def _variables(codes: tuple[KernelCode, ...]) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Yield the variables of modules that kernels read: their key, the module, the name there."""
    for code in codes:
        module = code.module
        for key, item in module.declared.items():
            yield (module.key, key), module.name, item.name
        for key, one in module.symbols.symbols.items():
            yield (one.module_key, key), one.module, one.name
