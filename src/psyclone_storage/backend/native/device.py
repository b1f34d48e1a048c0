"""Loops of a lowered routine as kernels of CUDA: one kernel for each nest of loops.

    PSY_KERNEL void invoke_0_1_points(double *restrict p, ..., const int64_t i_first, ...)

A point is computed in a thread of its own. Where points see what others change, or several kernels
share a nest, one thread computes all of them in their order. On a machine without a GPU the same
text is compiled as C: a header there gives CUDA's words a meaning, and `PSY_LAUNCH` runs the
threads one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.backend.c.frames import dependences
from psyclone_storage.backend.c.helpers import CUDA_HEADERS, preamble
from psyclone_storage.backend.c.printer import CUnit, function_text
from psyclone_storage.backend.native.loops import (
    ENTRY,
    CallTables,
    LaunchArguments,
    LoopsFunction,
    LoopsWriter,
    wrapped,
)
from psyclone_storage.base.records import replace
from psyclone_storage.ir.code import KernelCode
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.unit import Blank, Call, Comment, DirectiveBlock, Do, Line, TaskWaitLine

_STEP = "    "
_WORDS = """\
#ifndef PSY_ON_HOST
#define PSY_KERNEL extern "C" __global__
#endif
"""


def device_preamble(kernels: Iterable[CUnit]) -> str:
    """Return what stands before all kernels: words, helpers, and the functions for one point."""
    units = tuple(kernels)
    helpers = frozenset[str]().union(*(one.helpers for one in units))
    functions = [function_text(one, "static __device__ ") for unit in units
                 for one in unit.functions]  # fmt: skip
    return "\n".join([device_words(helpers), *functions])


def device_words(helpers: Iterable[str]) -> str:
    """Return the words of CUDA and the helpers that functions call."""
    own = preamble(helpers, CUDA_HEADERS).replace("static inline", "static inline __device__")
    return f"{_WORDS}\n{own}"


def points_function(
    name: str,
    lines: tuple[Line, ...],
    tables: CallTables,
    kernels: Mapping[str, CUnit],
    codes: Mapping[str, KernelCode],
) -> LoopsFunction:
    """Return the kernel `name` that does one nest of loops.

    Raises:
        CompileError: G010, something has no form in C.
    """
    writing = LoopsWriter.of(tables, kernels)
    plain = tuple(_without_directives(lines))
    alone, body = _body(writing, plain, codes)
    taken = writing.taken()
    columns, rows = ("1", "1") if alone else ("counts[0]", "counts[1]")
    text = [
        *wrapped(f"PSY_KERNEL void {name}_points(", taken.declared, ")"),
        "{",
        *body,
        "}",
        "",
        "#ifdef PSY_ON_HOST",
        *wrapped(f"void {name}(", [*ENTRY, *taken.scalars], ")"),
        "{",
        f"{_STEP}PSY_LAUNCH({columns}, {rows},",
        *wrapped(f"{_STEP * 2}{name}_points(", taken.passed, "));"),
        "}",
        "#endif",
        "",
    ]
    launch = LaunchArguments(*taken.positions, alone)
    return LoopsFunction(name, "\n".join(text), tuple(writing.scalars), launch)


def _without_directives(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield statements without what threads of a host are told."""
    for line in lines:
        if isinstance(line, DirectiveBlock):
            yield from _without_directives(line.body)
        elif not isinstance(line, TaskWaitLine):
            yield line


def _body(
    writing: LoopsWriter, lines: tuple[Line, ...], codes: Mapping[str, KernelCode]
) -> tuple[bool, list[str]]:
    """Return whether one thread does all, and the statements."""
    nest = _done(lines)
    outer = _without_tiles(nest[0]) if len(nest) == 1 else None
    inner = _only(outer, Do)
    call = _only(inner, Call)
    if isinstance(outer, Do) and isinstance(inner, Do) and isinstance(call, Call):
        code = codes.get(key_of(spell(call.procedure)))
        if code is not None and not dependences(code):
            return False, list(_in_threads(writing, outer, inner))
    return True, [
        f"{_STEP}/* The order of points shows: one thread computes them all. */",
        f"{_STEP}if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y == 0) {{",
        *writing.lines(lines, 2),
        f"{_STEP}}}",
    ]


def _done(lines: tuple[Line, ...]) -> list[Line]:
    return [line for line in lines if not isinstance(line, Blank | Comment)]


def _without_tiles(line: Line) -> Line:
    """Return loops over tiles of columns, over rows and in a tile as loops over rows and columns.

    Tiles are for threads of a host. Others than these three loops stay as they are.
    """
    if not isinstance(line, Do) or line.step is None:
        return line
    rows = _only(replace(line, step=None), Do)
    columns = _only(rows, Do)
    if not (isinstance(rows, Do) and isinstance(columns, Do) and columns.start == line.variable):
        return line
    return replace(rows, body=(replace(columns, start=line.start, stop=line.stop),))


def _only(line: Line | None, kind: type[Do] | type[Call]) -> Line | None:
    """Return the one statement in a plain loop if it is of this kind."""
    if not isinstance(line, Do) or line.step is not None:
        return None
    inner = _done(tuple(_without_directives(line.body)))
    return inner[0] if len(inner) == 1 and isinstance(inner[0], kind) else None


def _in_threads(writing: LoopsWriter, outer: Do, inner: Do) -> Iterator[str]:
    tests = []
    for loop, axis in ((outer, "y"), (inner, "x")):
        counter = writing.counter(loop.variable)
        place = f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
        start = writing.text(loop.start)
        yield f"{_STEP}const int64_t {counter} = {start} + (int64_t) ({place});"
        tests.append(f"{counter} <= {writing.text(loop.stop)}")
    yield f"{_STEP}if ({' && '.join(tests)}) {{"
    yield from writing.lines(_without_directives(inner.body), 2)
    yield f"{_STEP}}}"
