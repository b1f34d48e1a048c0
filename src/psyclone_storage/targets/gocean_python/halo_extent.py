"""Run-time checks that kernels access only points inside the arrays of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, Index, Name, spell, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import expressions_of, names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Call, DirectiveBlock, Do, HoldData, If, Line
from psyclone_storage.targets.gocean_python import abi
from psyclone_storage.targets.numpy.kernel import offset_of
from psyclone_storage.targets.python_host import expression_text


def reach_checks(held: HoldData, codes: Mapping[str, Routine]) -> Iterator[str]:
    """Yield statements that check the points accessed by kernel calls."""
    for one in _points_reached(held.body, codes):
        ends = [
            f"({_moved(first, least)}, {_moved(last, greatest)})"
            for (first, last), (least, greatest) in zip(
                (one.columns, one.rows), one.offsets, strict=True
            )
        ]
        yield f"{abi.WITHIN}({expression_text(held.items[0].owner)}, {', '.join(ends)})"


@dataclass(frozen=True, slots=True)
class _ReachedPoints:
    """The index range of a loop, and the minimum and maximum offsets that its calls access."""

    columns: tuple[Expr, Expr]
    rows: tuple[Expr, Expr]
    offsets: tuple[tuple[int, int], tuple[int, int]]


def _points_reached(
    lines: Iterable[Line], codes: Mapping[str, Routine]
) -> tuple[_ReachedPoints, ...]:
    seen: dict[_ReachedPoints, None] = {}
    for call, loops in _calls(lines, {}):
        if (code := codes.get(key_of(spell(call.procedure)))) is not None:
            columns, rows = (_range(arg, loops) for arg in call.args[:2])
            original = code.kernel_use.original or code
            if len(code.dummies) > len(original.dummies) and columns[1] == call.args[0]:
                # The kernel runs the loop over columns, from its first to its last argument.
                columns = columns[0], call.args[-1]
            code = original
            seen[_ReachedPoints(columns, rows, _offsets(code))] = None
    return tuple(seen)


def _offsets(code: Routine) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the minimum and maximum offset, in columns and rows, that the code accesses."""
    elements = [
        part
        for line in walk_lines(code.body)
        for expr in expressions_of(line)
        for part in walk(expr)
        if isinstance(part, Index)
    ]
    known = [one for part in elements if (one := offset_of(part, code)) is not None] or [(0, 0)]
    columns, rows = zip(*known, strict=True)
    return (min(columns), max(columns)), (min(rows), max(rows))


def _calls(
    lines: Iterable[Line], loops: Mapping[str, Do]
) -> Iterator[tuple[Call, Mapping[str, Do]]]:
    for line in lines:
        match line:
            case Call():
                yield line, loops
            case Do(variable=variable, body=body):
                yield from _calls(body, {**loops, variable.text: line})
            case DirectiveBlock(body=body):
                yield from _calls(body, loops)
            case If(otherwise=otherwise):
                # Where the bounds of loops differ between branches, the last branch reaches as far.
                yield from _calls(otherwise, loops)


def _range(index: Expr, loops: Mapping[str, Do]) -> tuple[Expr, Expr]:
    """Return the first and last value of an index over all tiles.

    Limits that depend on enclosing counters increase with them.
    """
    if not isinstance(index, Name) or index.text not in loops:
        return index, index
    loop = loops[index.text]
    if isinstance(loop.start, Name) and loop.start.text in loops:
        return _range(loop.start, loops)
    around = {name: _range(Name(name), loops) for name in names_in(loop.start) & loops.keys()}
    return substituted(loop.start, {name: first for name, (first, _) in around.items()}), loop.stop


def _moved(index: Expr, by: int) -> str:
    text = expression_text(index)
    return text if by == 0 else f"{text} {'+' if by > 0 else '-'} {abs(by)}"
