"""Printer of Python modules with a function for each routine of a unit.

NumPy, C or CUDA code computes. For NumPy, two loops around a point kernel become one call that
receives slices of columns and rows. A loop over tiles remains a loop. Directives for threads and
devices become comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from json import dumps

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.infrastructures.profiling import PYTHON_PROFILER
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Binary, Element, Expr, Index, Name, integer_value
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import everywhere, substituted
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.expressions import Spelling, UnsupportedError, python_identifier
from psyclone_storage.targets.python_halo_checks import HALO_CHECKS

PROFILING = "psyclone_storage.runtime.profiling"
_STEP = "    "
_WIDTH = 100


def _part_of_sequence(expr: Index, _spelling: Spelling) -> str | None:
    """Return an item of a sequence with a constant index as text, or None."""
    match expr:
        case Element(Name(text), (item,)) if integer_value(item) is not None:
            return f"{python_identifier(text)}[{integer_value(item)}]"
    return None


_SPELLING = Spelling(lambda _: False, _part_of_sequence, lambda _: False)
Box = Mapping[str, tuple[Expr, Expr]]
"""The first and last index of each counter that a box of points has instead of a loop."""


def require_no_modules(unit: un.Unit) -> None:
    """Raise `CompileError` G010 if a unit uses a Fortran module."""
    if foreign := [use.module for use in unit.uses if use.module]:
        message = f"Programs in Python have no module '{foreign[0]}'."
        raise CompileError(Diagnostic("G010", message, hint="Leave out what asks for it."))


def emit_module(
    unit: un.Unit,
    functions: Iterable[Iterable[str]],
    module: str,
    words_of: Callable[[str], Iterable[str]],
    opening: str = "",
) -> str:
    """Return the text of a module with `functions`, ending in a newline.

    It imports `words_of` its text from `module`. The statement `opening` follows the imports.
    """
    blocks = ["\n".join(lines) for lines in functions]
    text = "\n".join(blocks)
    head = [f'"""{unit.comment or unit.name}"""', ""]
    head += ["import ctypes", ""] if "ctypes.c_" in text else []
    head += ["import numpy as np", ""] if "np." in text else []
    imports = (
        [f"from {module} import {', '.join(words)}"] if (words := list(words_of(text))) else []
    )
    if re.search(rf"(?<![\w.]){PYTHON_PROFILER}\.start\(", text):
        imports.append(f"from {PROFILING} import {PYTHON_PROFILER}")
    if re.search(rf"(?<![\w.]){HALO_CHECKS}\.begin\(", text):
        imports.append(f"from {module} import {HALO_CHECKS}")
    head += [*imports, ""] if imports else []
    return "\n\n\n".join(["\n".join([*head, opening]).rstrip(), *blocks]) + "\n"


def called_words(words: Iterable[str], text: str) -> list[str]:
    """Return the `words` that occur as function calls in a text."""
    return [word for word in words if re.search(rf"(?<![\w.]){word}\(", text)]


def emit_function(routine: un.GeneratedRoutine, body: Iterable[str]) -> list[str]:
    """Return the lines of a function with the name and arguments of a routine."""
    dummies = [python_identifier(dummy.name) for dummy in routine.dummies]
    lines = list(body)
    while lines and not lines[0]:
        lines.pop(0)
    if not any(line and not line.startswith("#") for line in lines):
        lines.append("return")
    return [*bracketed_list(f"def {routine.name}(", dummies, "):", ""), *indented_lines(lines)]


def with_own_names(routine: un.GeneratedRoutine, words: Collection[str]) -> un.GeneratedRoutine:
    """Return a routine whose arguments are renamed if they are in `words`."""
    taken = NameTable({*words, *(one.name for one in (*routine.dummies, *routine.variables))})
    fresh = {item.key: taken.fresh(item.name) for item in routine.dummies if item.name in words}
    if not fresh:
        return routine
    values = {key: Name(name) for key, name in fresh.items()}
    return replace(
        routine,
        dummies=tuple(
            replace(item, name=fresh.get(item.key, item.name)) for item in routine.dummies
        ),
        body=tuple(
            replace(line, items=tuple(
                replace(item, owner=substituted(item.owner, values)) for item in line.items
            )) if isinstance(line, un.HoldData) else line
            for line in everywhere(routine.body, lambda expr: substituted(expr, values))
        ),
    )  # fmt: skip


def indented_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines indented by one level."""
    for line in lines:
        yield f"{_STEP}{line}" if line else ""


def bracketed_list(head: str, items: list[str], tail: str, indent: str) -> Iterator[str]:
    """Yield a bracketed list, on one line if it fits."""
    whole = f"{indent}{head}{', '.join(items)}{tail}"
    if len(whole) <= _WIDTH - 2 * len(_STEP):
        yield whole
        return
    yield f"{indent}{head}"
    line = f"{indent}{_STEP}"
    for item in items:
        piece = f"{item},"
        if line.strip() and len(line) + len(piece) > _WIDTH - 2 * len(_STEP):
            yield line.rstrip()
            line = f"{indent}{_STEP}"
        line += f"{piece} "
    yield line.rstrip()
    yield f"{indent}{tail}"


def lines_of(body: Iterable[un.Line], box: Box) -> Iterator[str]:
    """Yield the text of statements; `box` maps point counters to ranges."""
    for line in body:
        yield from _line(line, box)


def _line(line: un.Line, box: Box) -> Iterator[str]:
    match line:
        case un.Blank():
            yield ""
        case un.Comment(text):
            yield from (f"# {part.strip()}".rstrip() for part in text.splitlines())
        case un.Assign(target, value):
            yield f"{expression_text(target)} = {expression_text(value)}"
        case un.Call(procedure, args):
            yield from _called(procedure, args, box)
        case un.If(branches, otherwise):
            for word, branch in zip(["if", *["elif"] * len(branches)], branches, strict=False):
                yield f"{word} {expression_text(branch.condition)}:"
                yield from indented_lines(list(lines_of(branch.body, box)) or ["pass"])
            if otherwise:
                yield "else:"
                yield from indented_lines(lines_of(otherwise, box))
        case un.Do():
            yield from _do(line, box)
        case un.HoldData():
            yield from _held(line, box)
        case un.DirectiveBlock(directive, _, inner):
            yield f"# {directive.value}: done by NumPy for all points at a time"
            yield from lines_of(inner, box)
        case (
            un.EnterDataLine()
            | un.ExitDataLine()
            | un.UpdateLine()
            | un.QueueWaitLine()
            | un.TaskWaitLine()
            | un.DirectiveLine()
        ):
            # The storage runtime knows where values are, and NumPy has no threads to wait for.
            pass
        case _:
            raise _refused(f"a statement of the class {type(line).__name__}")


def _refused(what: str) -> CompileError:
    message = f"A PSy layer in Python has no words for {what}."
    return CompileError(Diagnostic("G010", message, hint="Leave out the step that asks for it."))


def _do(line: un.Do, box: Box) -> Iterator[str]:
    """Yield a loop, or for a point loop its body for all points at once."""
    variable, is_point = line.variable, _is_point(line)
    if line.step is None and is_point:
        yield from lines_of(line.body, {**box, variable.text: (line.start, line.stop)})
        return
    inside = {**box, variable.text: (variable, variable)} if is_point else box
    step = 1 if line.step is None else integer_value(line.step)
    bounds = [expression_text(line.start), _index_after(line.stop)]
    if step != 1:
        bounds.append(str(step))
    yield f"for {python_identifier(variable.text)} in range({', '.join(bounds)}):"
    yield from indented_lines(lines_of(line.body, inside))


def _is_point(line: un.Do) -> bool:
    """Return whether a loop counts the columns or rows of its calls."""
    calls = list(_calls(line.body))
    if not calls:
        raise _refused("statements of a kernel in the place of its call")
    return all(line.variable in call.args[:2] for call in calls)


def _calls(lines: Iterable[un.Line]) -> Iterator[un.Call]:
    for line in lines:
        match line:
            case un.Call():
                yield line
            case un.Do(body=body) | un.DirectiveBlock(body=body):
                yield from _calls(body)


def _called(procedure: Expr, args: tuple[Expr, ...], box: Box) -> Iterator[str]:
    items = [
        f"slice({expression_text(box[arg.text][0])}, {_index_after(box[arg.text][1])})"
        if isinstance(arg, Name) and arg.text in box
        else expression_text(arg)
        for arg in args
    ]
    yield from bracketed_list(f"{expression_text(procedure)}(", items, ")", "")


def _held(line: un.HoldData, box: Box) -> Iterator[str]:
    yield from head_of_held(line)
    yield from indented_lines(lines_of(line.body, box))


def held_remarks(line: un.HoldData) -> Iterator[str]:
    """Yield comments on why data are acquired."""
    yield from (f"# {expression_text(item.owner)}: {item.why}" for item in line.items)


def head_of_held(line: un.HoldData, types: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the start of the block that acquires data, with the requirements on them.

    `types` are the NumPy types of the values, by array name.
    """
    yield from held_remarks(line)
    read = [item for item in line.items if not item.written and not item.moved]
    moved = [item for item in line.items if item.moved]
    written = [item for item in line.items if item.written and not item.covered]
    covered = [item for item in line.items if item.covered]
    groups = [("read", read), ("moved", moved), ("written", written), ("covered", covered)]
    given = [
        f"{word}=({', '.join(owners)}{',' if len(owners) == 1 else ''})"
        for word, items in groups
        if (owners := [expression_text(item.owner) for item in items])
    ]
    every = (*read, *moved, *written, *covered)
    if moved:
        given.append(f"depths=({', '.join(str(item.moved) for item in moved)},)")
    if line.sets_flags:
        given.append("sets_flags=True")
    if meant := [f'"{item.meant}"' for item in every if item.meant]:
        given.append(f"meant=({', '.join(meant)}{',' if len(meant) == 1 else ''})")
    if types is not None:
        said = [dumps(f"{types[item.array]} {expression_text(item.owner)}") for item in every]
        given.append(f"types=({', '.join(said)}{',' if len(said) == 1 else ''})")
    arrays = ", ".join(item.array for item in every)
    one = "," if len(line.items) == 1 else ""
    yield from bracketed_list(f"with {abi.HELD}(", given, f") as ({arrays}{one}):", "")


def _index_after(stop: Expr) -> str:
    """Return the text of the index after the last one."""
    match stop:
        case Binary(Operator.MINUS, before, by) if integer_value(by) == 1:
            return expression_text(before)
    value = integer_value(stop)
    return str(value + 1) if value is not None else f"{expression_text(stop)} + 1"


def expression_text(expr: Expr) -> str:
    """Return an expression of the algorithm or set-up in Python syntax."""
    try:
        return _SPELLING.of(expr)
    except UnsupportedError as error:
        raise InternalError(f"A PSy layer in Python: {error}.") from error
