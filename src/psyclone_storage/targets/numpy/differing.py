"""Values and jumps of a kernel for one point that differ from point to point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import walk_lines
from psyclone_storage.ir.routine import Routine


@dataclass(frozen=True, slots=True)
class PointMask:
    """The points for which statements are executed: those where all `terms` hold."""

    terms: tuple[str, ...] = ()

    def narrowed(self, term: str) -> PointMask:
        """Return the mask combined with the condition `term`."""
        return PointMask((*self.terms, term))

    def with_all(self, terms: Iterable[str]) -> PointMask:
        """Return the mask combined with those `terms` that are not empty."""
        return PointMask((*self.terms, *filter(None, terms)))

    @property
    def text(self) -> str:
        """The text of the combined condition."""
        return " & ".join(self.terms)

    @property
    def test(self) -> str:
        """The text of the condition, also where it holds for all points."""
        return self.text or "np.True_"


@dataclass(frozen=True, slots=True)
class MaskedLoop:
    """An enclosing loop: its name, and the masks of points that stay in it or in an iteration.

    Masks without a name are not needed. A loop that runs `once` is a construct that jumps leave.
    """

    name: str
    stays: str
    goes_on: str
    once: bool


def masks_of(loops: Iterable[MaskedLoop]) -> Iterator[str]:
    """Yield the masks of loops, empty where a loop does not need one."""
    for loop in loops:
        yield from (loop.stays, loop.goes_on)


def diverging(body: Iterable[un.Line], varies: Callable[[ex.Expr], bool]) -> bool:
    """Return whether some points may leave a loop, or an iteration, before others do."""
    for line in walk_lines(body):
        if isinstance(line, un.If) and any(varies(one.condition) for one in line.branches):
            inner = [*(part for one in line.branches for part in one.body), *line.otherwise]
            if any(isinstance(one, un.Exit | un.Cycle) for one in walk_lines(inner)):
                return True
    return False


def varying_names(code: Routine) -> set[str]:
    """Return the keys of locals whose values differ between points."""
    found: set[str] = set()
    while True:
        before = len(found)
        _spread(code.body, code, found, masked=False)
        if len(found) == before:
            return found


def _spread(lines: Iterable[un.Line], code: Routine, found: set[str], *, masked: bool) -> bool:
    """Add to `found` the varying locals in `lines`; return whether points may leave early."""
    for line in lines:
        match line:
            case un.Assign(ex.Name(text), value):
                if masked or varies_at(value, found, code):
                    found.add(key_of(text))
            case un.Assign(ex.Index(ex.Name(text), items), value) if key_of(text) not in map(
                key_of, code.dummies
            ):
                if masked or any(varies_at(one, found, code) for one in (value, *items)):
                    found.add(key_of(text))
            case un.If(branches, otherwise):
                inner = masked or any(varies_at(one.condition, found, code) for one in branches)
                parts = [*(one.body for one in branches), otherwise]
                for part in parts:
                    masked |= _spread(part, code, found, masked=inner)
            case un.Do(stop=stop, body=body):
                left_inside = any(isinstance(one, un.Return) for one in walk_lines(body))
                masked = masked or left_inside
                inner = _jumps_vary(body, found, code) or varies_at(stop, found, code)
                _spread(body, code, found, masked=masked or inner)
            case un.Return():
                return masked
    return masked


def _jumps_vary(body: Iterable[un.Line], varying: set[str], code: Routine) -> bool:
    """Return whether a jump out of a loop, or to its next iteration, is for some points only."""
    return diverging(body, lambda expr: varies_at(expr, varying, code))


def varies_at(expr: ex.Expr, varying: set[str], code: Routine) -> bool:
    """Return whether a value may differ between points."""
    for part in ex.walk(expr):
        if isinstance(part, ex.Name):
            declared = code.declared(part.text)
            is_dummy = key_of(part.text) in map(key_of, code.dummies)
            is_field = declared is not None and bool(declared.shape) and is_dummy
            if key_of(part.text) in varying or is_field:
                return True
    return False
