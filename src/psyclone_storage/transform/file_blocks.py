"""Placement of directives around statements of a file."""

from __future__ import annotations

from psyclone_storage.analysis.bodies.regions import directive_word
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import NO_OPTIONS, Directive, RegionOptions
from psyclone_storage.ir.rewrite import blocks_of, walk_lines, with_each_block


@dataclass(frozen=True, slots=True)
class AddDirective:
    """Put a directive around the loop `first`, or around the statements from `first` to `last`.

    `first` and `last` are uids of loops or blocks; `loop` is accepted by directives of loops, which
    need no `last`. Instead of both, `around` may have the first and the last statement themselves.
    """

    routine: str
    first: str = ""
    last: str = ""
    directive: Directive = Directive.OMP_PARALLEL_DO
    options: RegionOptions = NO_OPTIONS
    around: tuple[un.Line, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """The word of the directive."""
        return directive_word(self.directive)


def uid_of(line: un.Line) -> str:
    """Return the uid of a loop or of a block with a directive, an empty string for others."""
    if isinstance(line, un.Do):
        return line.uid
    if isinstance(line, un.DirectiveBlock):
        first = next((one.uid for one in walk_lines(line.body) if isinstance(one, un.Do)), "")
        return f"{directive_word(line.directive)}({first})"
    return ""


def with_block(
    lines: tuple[un.Line, ...], step: AddDirective, last: str, new: list[un.DirectiveBlock]
) -> tuple[un.Line, ...] | None:
    """Return statements with the block of a step in them, None if its places are not found.

    The block is added to `new`.
    """
    found = _range_of(lines, step, last)
    if found is not None:
        start, stop = found
        new.append(un.DirectiveBlock(step.directive, step.options, lines[start:stop]))
        return (*lines[:start], new[-1], *lines[stop:])
    for at, line in enumerate(lines):
        if not isinstance(line, un.CompoundStatement):
            continue
        changed = [with_block(block, step, last, new) for block in blocks_of(line)]
        if any(block is not None for block in changed):
            pairs = zip(blocks_of(line), changed, strict=True)
            parts = iter([old if new is None else new for old, new in pairs])
            inner = with_each_block(line, lambda _, parts=parts: next(parts))  # type: ignore[misc]
            if isinstance(inner, un.DirectiveBlock):
                inner = replace(inner, analysed=False)
            return (*lines[:at], inner, *lines[at + 1 :])
    return None


def _range_of(lines: tuple[un.Line, ...], step: AddDirective, last: str) -> tuple[int, int] | None:
    """Return where the statements of a step start and stop, None if they are not in this block."""
    if step.around:
        ends = [
            at for at, line in enumerate(lines) if line is step.around[0] or line is step.around[-1]
        ]
        return (ends[0], ends[-1] + 1) if len(ends) == len({*map(id, step.around)}) else None
    uids = [uid_of(line) for line in lines]
    if step.first in uids and last in uids[uids.index(step.first) :]:
        return uids.index(step.first), uids.index(last) + 1
    return None
