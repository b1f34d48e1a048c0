"""What is done while data are held: functions of C, and statements of Python between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from psyclone_storage.backend.native.loops import LoopsFunction, ScalarArgument
from psyclone_storage.backend.numpy.printer import lines_of
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.unit import Blank, Comment, Line


def in_order(
    body: tuple[Line, ...],
    function: Callable[[int, tuple[Line, ...]], LoopsFunction],
    computed: Callable[[Line], bool],
    *,
    each: bool = False,
) -> list[str | LoopsFunction]:
    """Return what is done while data are held: statements of Python, and functions of loops.

    What is `computed` is done in C; with `each`, every such statement has a function of its own.
    """
    lines: list[str | LoopsFunction] = []
    number = 0
    for in_c, part in _parts(body, computed, each=each):
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
    body: tuple[Line, ...], computed: Callable[[Line], bool], *, each: bool
) -> list[tuple[bool, tuple[Line, ...]]]:
    """Return statements that are done in C, and those in Python; remarks go with what follows.

    With `each`, every statement that is done in C is a part of its own.
    """
    parts: list[tuple[bool, list[Line]]] = []
    waiting: list[Line] = []
    for line in body:
        waiting.append(line)
        if isinstance(line, Blank | Comment):
            continue
        if not parts or parts[-1][0] is not computed(line) or (each and computed(line)):
            parts.append((computed(line), []))
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
    """
    known = {(code.module.key, key): (code.module.name, item.name)
             for code in codes for key, item in code.module.declared.items()}  # fmt: skip
    known |= {(one.module_key, key): (one.module, one.name)
              for code in codes for key, one in code.module.symbols.symbols.items()}  # fmt: skip
    lines: list[str] = []
    called: dict[ScalarArgument, str] = {}
    for one in dict.fromkeys(item for function in functions for item in function.scalars):
        if one.module:
            module, original = known[one.module, one.python]
            local = names.fresh(original)
            renamed = f" as {local}" if local != original else ""
            lines.append(f"from {module} import {original}{renamed}")
            called[replace(one, name="")] = local
    return lines, called
