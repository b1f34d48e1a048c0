"""Device regions: blocks of statements with an OpenACC or OpenMP directive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import is_

from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, with_changed_blocks

_REGIONS = (Directive.ACC_PARALLEL, Directive.ACC_KERNELS, Directive.OMP_TARGET)
_OPENS = regex(
    r"(?:acc\s+(?P<acc>parallel|kernels|serial)\b"
    r"|omp\s+(?P<omp>target)\b(?!\s*(?:data|enter|exit|update|end)\b))(?P<rest>.*)"
)
_OF_A_LOOP = regex(r"\s*(?:loop\b|(?:teams\s+|distribute\s+|parallel\s+|simd\s+)*(?:do|loop)\b)")
_PRIVATE = regex(r"\b(?:first|last)?private\s*\(([^()]*)\)")
_COPIED = regex(r"\b(?:first|last)private\b")
_ASYNC = regex(r"\b(?:async|nowait)\b")
_AROUND = (un.Comment, un.Blank, un.DirectiveLine)
_WORD = regex(r"[a-z]\w*")


def private_names(line: un.Line) -> frozenset[str]:
    """Return the names that a directive makes private."""
    if isinstance(line, un.DirectiveBlock):
        every = (*line.private, *line.firstprivate, *line.lastprivate)
        return frozenset(map(key_of, every))
    if not isinstance(line, un.DirectiveLine):
        return frozenset()
    found = _PRIVATE.finditer(key_of(line.text))
    return frozenset(name for one in found for name in _WORD.findall(one[1]))


def copies_private(line: un.Line) -> bool:
    """Return whether a directive copies values into private variables, or from them."""
    if isinstance(line, un.DirectiveBlock):
        return bool(line.firstprivate or line.lastprivate)
    return isinstance(line, un.DirectiveLine) and bool(_COPIED.search(key_of(line.text)))


def is_asynchronous(line: un.Line) -> bool:
    """Return whether the host does not wait for a region."""
    if isinstance(line, un.DirectiveBlock):
        return line.options.queue >= 0 or line.options.nowait
    return isinstance(line, un.DirectiveLine) and bool(_ASYNC.search(key_of(line.text)))


def region_kind(line: un.Line) -> str:
    """Return "block", "loop" or "open" for a line that begins a device region, or ""."""
    if isinstance(line, un.DirectiveBlock):
        return "block" if line.directive in _REGIONS else ""
    if isinstance(line, un.DirectiveLine):
        found = _OPENS.match(" ".join(key_of(line.text).split()))
        if found:
            return "loop" if _OF_A_LOOP.match(found["rest"]) else "open"
    return ""


def groups(lines: Iterable[un.Line]) -> Iterator[tuple[bool, tuple[un.Line, ...]]]:
    """Yield the device regions of a block and its other statements, with whether it is a region."""
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        kind = region_kind(line)
        if not kind or kind == "block":
            yield kind == "block", (line,)
            continue
        group = [line]
        while rest:
            group.append(rest.pop(0))
            if kind == "loop" and not isinstance(group[-1], _AROUND):
                if rest and is_end(rest[0]):
                    group.append(rest.pop(0))
                break
            if kind == "open" and is_end(group[-1]):
                break
        yield True, tuple(group)


def is_end(line: un.Line) -> bool:
    """Return whether a directive ends a region."""
    if not isinstance(line, un.DirectiveLine):
        return False
    words = key_of(line.text).split()
    ends = ("parallel", "kernels", "serial", "target")
    return words[1:2] == ["end"] and bool(set(ends) & set(words[2:3]))


def all_groups(lines: Iterable[un.Line]) -> Iterator[tuple[bool, tuple[un.Line, ...]]]:
    """Yield the groups of a block and of the blocks in its host statements."""
    for is_region, group in groups(lines):
        yield is_region, group
        if not is_region:
            for block in blocks_of(group[0]):
                yield from all_groups(block)


def host_lines(lines: Iterable[un.Line]) -> Iterator[un.Line]:
    """Yield the statements that are not in a device region."""
    for is_region, group in all_groups(lines):
        if not is_region:
            yield group[0]


def with_last(body: tuple[un.Line, ...], last: un.Line) -> tuple[un.Line, ...]:
    """Return the statements of a procedure with one more before each of its ends."""

    def change(lines: tuple[un.Line, ...]) -> tuple[un.Line, ...]:
        found: list[un.Line] = []
        for line in lines:
            if isinstance(line, un.Return):
                found.append(last)
            found.append(with_changed_blocks(line, change))
        same = len(found) == len(lines) and all(map(is_, found, lines))
        return lines if same else tuple(found)

    inner = change(body)
    ended = bool(inner) and isinstance(inner[-1], un.Return)
    return inner if ended else (*inner, last)
