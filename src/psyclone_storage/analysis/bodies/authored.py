"""Directives in the source: constructs that exclude other directives, and loop promises.

If the source distributes a loop over threads, its iterations are independent by the programmer's
promise. The promise is used after the directive has been removed, and only if other clauses, and
the directives around the loop, do not change its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.bodies.def_use import touches_any
from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.teams import place_of_block
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.facts import Fact, FactKind, Facts, FactSource
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import blocks_of, walk_lines
from psyclone_storage.ir.routine import Routine

_EXECUTABLE = regex(r"(?:omp|acc)\s+(?!threadprivate\b|declare\b|routine\b|requires\b)")
_IS_END = regex(r"(?:omp|acc)\s+end\b")
_OPENS = regex(
    r"(?P<kind>omp\s+(?:parallel|target|teams|single|master|masked|critical|task|workshare"
    r"|sections|ordered|do|simd|distribute|loop)\b|acc\s+(?:parallel|kernels|data|loop|serial)\b)"
)
_OF_A_LOOP = regex(r".*\b(?:do|simd|loop|distribute|taskloop|atomic)\b")
_SHARES = regex(r"omp (?P<team>parallel )?do\b(?! simd)")
_TEAM = regex(r"omp parallel\b(?! (?:do|sections|workshare|loop|master|masked)\b)")
_CLAUSE = regex(r"[\s,]*(?P<word>[a-z_]+)\s*(?:\((?P<inside>(?:[^()]|\([^()]*\))*)\))?[\s,]*")
_NEUTRAL = frozenset({"collapse", "nowait", "proc_bind", "schedule", "shared"})
"""Clauses that neither affect the values of variables nor select a single thread."""
_STRIP = "Use '--strip-directives' to drop the author's directives first."


def check_authored(lines: tuple[un.Line, ...]) -> Iterator[Diagnostic]:
    """Yield problems of blocks inside source directives, and of source directives in blocks."""
    yield from _beside_authored(lines, [])


def _beside_authored(
    lines: tuple[un.Line, ...], opened: list[un.DirectiveLine]
) -> Iterator[Diagnostic]:
    for line, pending in _with_directives(lines, opened):
        inside = [one for one in walk_lines((line,)) if isinstance(one, un.DirectiveBlock)]
        if inside and (opened or pending):
            text = _words(pending or opened[-1])
            message = f"The block is inside a construct of the author: '{text}'."
            yield Diagnostic("T094", message, place_of_block(inside[0]), hint=_STRIP)
        if isinstance(line, un.DirectiveBlock):
            yield from _authored_inside(line)
        else:
            for block in blocks_of(line):
                yield from _beside_authored(block, opened)


def _with_directives(
    lines: tuple[un.Line, ...], opened: list[un.DirectiveLine]
) -> Iterator[tuple[un.Line, un.DirectiveLine | None]]:
    """Yield each statement with the directive before it; record constructs in `opened`."""
    pending: un.DirectiveLine | None = None
    for line in lines:
        if isinstance(line, un.DirectiveLine):
            pending = _opened(line, opened) or pending
        elif not isinstance(line, un.Comment | un.Blank):
            yield line, pending
            pending = None


def _words(line: un.DirectiveLine) -> str:
    return " ".join(key_of(line.text).split())


def _opened(line: un.DirectiveLine, opened: list[un.DirectiveLine]) -> un.DirectiveLine | None:
    """Record a construct that a directive opens or ends; return directives of loops."""
    text = _words(line)
    if not _EXECUTABLE.match(text):
        return None
    if _IS_END.match(text):
        if not _OF_A_LOOP.match(text):
            del opened[-1:]
    elif _OPENS.match(text) and not _OF_A_LOOP.match(text):
        opened.append(line)
    else:
        return line
    return None


def _authored_inside(block: un.DirectiveBlock) -> Iterator[Diagnostic]:
    for one in walk_lines(block.body):
        if isinstance(one, un.DirectiveLine) and _EXECUTABLE.match(key_of(one.text)):
            message = f"The block contains a directive of the author: '{one.text}'."
            yield Diagnostic("T094", message, one.place, hint=_STRIP)


# ---------------------------------------------------------------------------- promises


def promises_of_directives(code: Routine, key: str) -> Facts:
    """Return the promises that OpenMP directives in the source make about the loops of `code`.

    `key` is the key of the routine in its file. A directive makes no promise if threads combine or
    preserve values: in reductions, in variables with a value from before the loop or used after it,
    or through other directives in the loop. Nor does it if only some iterations may run
    concurrently: with a condition, a number of threads, or chunks of iterations.
    """
    if not any(isinstance(line, un.DirectiveLine) for line in walk_lines(code.body)):
        return ()
    return tuple(_Promises(code, key).of_block(code.body, []))


class _Promises:
    """The promises of the directives in one routine."""

    def __init__(self, code: Routine, key: str) -> None:
        self._key = key
        self._flow: Flow = flow_of(code)
        self._nodes = {id(node.line): node for node in self._flow.nodes}

    def of_block(
        self, lines: tuple[un.Line, ...], opened: list[un.DirectiveLine]
    ) -> Iterator[Fact]:
        """Yield the promises about the loops of a block inside the constructs `opened`."""
        for line, pending in _with_directives(lines, opened):
            if pending is not None and isinstance(line, un.Do):
                yield from self._of_loop(line, pending, opened)
            for block in blocks_of(line):
                yield from self.of_block(block, opened)

    def _of_loop(
        self, loop: un.Do, directive: un.DirectiveLine, opened: list[un.DirectiveLine]
    ) -> Iterator[Fact]:
        """Yield the promises of a directive about the loop after it."""
        head = _SHARES.match(_words(directive))
        if head is None or (head["team"] is None) != (len(opened) == 1):
            return
        own = _private_by(_words(directive)[head.end() :])
        if own is None or any(
            isinstance(one, un.DirectiveLine) and _EXECUTABLE.match(key_of(one.text))
            for one in walk_lines(loop.body)
        ):
            return
        for region in opened:
            team = _TEAM.match(_words(region))
            outer = None if team is None else _private_by(_words(region)[team.end() :])
            if outer is None or not all(self._is_temporary(name, region, loop) for name in outer):
                return
            own |= outer
        where = directive.place
        place = "" if where is None else f"{where.source.name}:{where.line}"

        def fact(kind: FactKind, name: str = "") -> Fact:
            return Fact(kind, name, self._key, loop.uid, FactSource.DIRECTIVE, place)

        yield fact(FactKind.INDEPENDENT)
        for name in sorted(own - {loop.variable.key}):
            yield fact(FactKind.PRIVATE, name)

    def _is_temporary(self, name: str, region: un.DirectiveLine, loop: un.Do) -> bool:
        """Return whether a thread's private copy transfers no value between iterations.

        The copy exists as long as the parallel region, so a thread might accumulate values in it.
        """
        flow, node = self._flow, self._nodes[id(loop)]
        if not any(one.writes for one in flow.items_of(name) if _is_inside(one.node, node)):
            return True
        if flow.is_read_later(node, (name,)):
            return False
        declared = flow.names.declaration((name,))
        if declared is None or not declared.shape:
            return not touches_any((name,), flow.body(node).exposed)
        start = self._nodes[id(region)].number
        return not any(start < one.node.number < node.number for one in flow.items_of(name))


def _is_inside(node: FlowNode, loop: FlowNode) -> bool:
    return loop.number < node.number < loop.stop


def _private_by(clauses: str) -> set[str] | None:
    """Return the variables in `private` clauses, None if there are other relevant clauses."""
    found: set[str] = set()
    at = 0
    while at < len(clauses):
        clause = _CLAUSE.match(clauses, at)
        if clause is None:
            return None
        at = clause.end()
        inside = clause["inside"] or ""
        if clause["word"] == "private":
            found |= {name.strip() for name in inside.split(",")}
        elif clause["word"] == "default":
            if inside.strip() not in ("shared", "none"):
                return None
        elif clause["word"] not in _NEUTRAL or (clause["word"] == "schedule" and "," in inside):
            return None
    return found
