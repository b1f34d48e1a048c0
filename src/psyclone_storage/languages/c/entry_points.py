"""Loops over the points of a structured grid that call a C function, and their CUDA form.

    void decay_code_loop(i_first, i_last, j_first, j_last, ...)      loops, shared among threads
    __global__ void decay_code_points(i_first, ..., j_last, ...)     a point for each thread

The bounds are inclusive. They are followed by the function's arguments except the indices.

Points are computed in parallel only if no point reads data that another point changes. An array
that is changed must therefore be accessed only at the current point. Other functions are not
parallel and have no CUDA form. The caller ensures that changed arguments do not alias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.ir.expr import Element, Expr, Name, children
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, place_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Line
from psyclone_storage.languages.c.calls import CFunction
from psyclone_storage.languages.c.helpers import cuda_preamble, preamble
from psyclone_storage.languages.c.printer import CUnit, function_text
from psyclone_storage.languages.c.statements import HINT

_Frame = Callable[[Routine, CUnit], str]
"""What calls a function for all points."""


def emit_loops(units: tuple[tuple[Routine, CUnit], ...]) -> str:
    """Return a C file with functions and loops over grid points; the functions are private."""
    return _file(units, "static inline ", _loop, preamble)


def emit_cuda(units: tuple[tuple[Routine, CUnit], ...]) -> str:
    """Return a CUDA file with one kernel per function.

    Raises:
        CompileError: `G005`, points see what others change, or arrays have no constant length.
    """
    problems = [problem for code, unit in units for problem in _not_for_devices(code, unit)]
    if problems:
        raise CompileError(*problems)
    return _file(units, "static __device__ ", _points, cuda_preamble)


def _file(
    units: tuple[tuple[Routine, CUnit], ...],
    before: str,
    frame: _Frame,
    preamble_of: Callable[[Iterable[str]], str],
) -> str:
    helpers = frozenset[str]().union(*(unit.helpers for _, unit in units))
    functions: dict[str, CFunction] = {}
    for _, unit in units:
        functions.update((function.name, function) for function in unit.functions)
    texts = [preamble_of(helpers)]
    texts += [function_text(function, before) for function in functions.values()]
    texts += [frame(code, unit) for code, unit in units]
    return "\n".join(texts)


def _loop(code: Routine, unit: CUnit) -> str:
    """Return loops over grid points; the inner loop follows memory order."""
    function = unit.main
    first, second = (item.name for item in function.parameters[:2])
    lines = [*function.head_lines(loop=("loop", _bounds(function))), "{"]
    if not cross_point_writes(code) and not unit.shared:
        lines.append("#pragma omp parallel for")
    for depth, name in ((1, second), (2, first)):
        head = f"for (int32_t {name} = {name}_first; {name} <= {name}_last; ++{name})"
        lines.append("    " * depth + head)
    return "\n".join((*lines, f"            {_call(function)}", "}", ""))


def _points(code: Routine, unit: CUnit) -> str:  # noqa: ARG001 - as other frames
    """Return a CUDA kernel that computes one grid point per thread."""
    function = unit.main
    first, second = (item.name for item in function.parameters[:2])
    lines = [*function.head_lines('extern "C" __global__ ', loop=("points", _bounds(function)))]
    lines.append("{")
    for name, axis in ((first, "x"), (second, "y")):
        place = f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
        lines.append(f"    const int32_t {name} = {name}_first + (int32_t) ({place});")
    lines.append(f"    if ({first} <= {first}_last && {second} <= {second}_last)")
    return "\n".join((*lines, f"        {_call(function)}", "}", ""))


def _bounds(function: CFunction) -> tuple[str, ...]:
    names = [item.name for item in function.parameters[:2]]
    return tuple(f"const int32_t {name}_{end}" for name in names for end in ("first", "last"))


def _call(function: CFunction) -> str:
    names = [name for item in function.parameters for name in (item.name, *item.assumed)]
    return f"{function.name}({', '.join(names)});"


# ---------------------------------------------------------------------------- order of points


def cross_point_writes(code: Routine) -> tuple[tuple[str, Line], ...]:
    """Return the written arguments that are accessed at other points, with their statements."""
    point = tuple(Name(name) for name in code.dummies[:2])
    changed = {key_of(name) for name in code.dummies if _may_change(code, name)}
    found: list[tuple[str, Line]] = []
    for line in walk_lines(code.body):
        for expr in expressions_of(line):
            found += [(name, line) for name in _elsewhere(expr, changed, point)]
    return tuple(found)


def _may_change(code: Routine, name: str) -> bool:
    declared = code.declared(name)
    return declared is None or "in" not in _intents(declared.attributes)


def _intents(attributes: tuple[str, ...]) -> set[str]:
    words = (key_of("".join(word.split())) for word in attributes)
    return {word[7:-1] for word in words if word.startswith("intent(")}


def _elsewhere(expr: Expr, changed: set[str], point: tuple[Name, ...]) -> list[str]:
    """Return the written arrays that an expression accesses at other points."""
    if isinstance(expr, Element) and isinstance(expr.base, Name) and expr.base.key in changed:
        same = tuple(getattr(item, "key", "") for item in expr.items[-len(point) :])
        if same == tuple(name.key for name in point):
            layer = expr.items[: -len(point)]
            return [name for part in layer for name in _elsewhere(part, changed, point)]
    if isinstance(expr, Name):
        return [expr.key] if expr.key in changed else []
    return [name for part in children(expr) for name in _elsewhere(part, changed, point)]


def _not_for_devices(code: Routine, unit: CUnit) -> list[Diagnostic]:
    problems = []
    for name, line in cross_point_writes(code):
        message = (
            f"'{code.name}' has no form in CUDA: '{name}' is changed, and used elsewhere than at"
            " the point, so that the order of points shows."
        )
        problems.append(Diagnostic("G005", message, place_of_line(line), hint=HINT))
    if unit.shared:
        message = (
            f"'{code.name}' has no form in CUDA: all points share '{unit.shared[0]}', a variable of"
            " a module."
        )
        problems.append(Diagnostic("G005", message, code.place_of(unit.shared[0]), hint=HINT))
    return [*problems, *check_array_lengths(code, unit)]


def check_array_lengths(code: Routine, unit: CUnit, hint: str = HINT) -> list[Diagnostic]:
    """Return a diagnostic for each local array of a kernel with a length known only at run time."""
    problems = []
    for function in unit.functions:
        for name in function.automatic:
            message = (
                f"'{code.name}' has no form in CUDA: the length of '{name}' in '{function.name}'"
                " is not known when it is compiled."
            )
            place = code.place_of(name if function is unit.main else function.key[1])
            problems.append(Diagnostic("G005", message, place, hint=hint))
    return problems
