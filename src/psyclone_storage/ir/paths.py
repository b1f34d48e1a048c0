"""Access paths: a variable, a component of a structure, an array element or a section.

`diag%rho(i, j)` is the variable `diag`, its component `rho` and two subscripts. Paths are compared
step by step. Different components never overlap; the caller compares subscripts, because it knows
their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Range, spell

Variable = tuple[str, ...]
"""A variable or a component of one, by their keys from the outside to the inside."""


@dataclass(frozen=True, slots=True)
class Component:
    """A path step to a component of a structure."""

    key: str


@dataclass(frozen=True, slots=True)
class Subscripts:
    """A path step to an array element, an array section or a substring."""

    items: tuple[Expr, ...]


PathStep = Component | Subscripts


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A part of the variable with the key `root`; without `steps`, all of it."""

    root: str
    steps: tuple[PathStep, ...] = ()

    @property
    def variable(self) -> Variable:
        """The variable and its components, without subscripts."""
        components = (step.key for step in self.steps if isinstance(step, Component))
        return (self.root, *components)

    @property
    def subscripts(self) -> tuple[Expr, ...]:
        """All subscripts, from the outermost structure inwards."""
        return tuple(
            item for step in self.steps if isinstance(step, Subscripts) for item in step.items
        )

    @property
    def is_whole(self) -> bool:
        """Return whether the path covers its whole variable: each subscript is `:`."""
        return all(item == Range() for item in self.subscripts)

    def __str__(self) -> str:
        """Return the path in Fortran syntax."""
        return self.root + "".join(map(_spelled, self.steps))


def _spelled(step: PathStep) -> str:
    if isinstance(step, Component):
        return f"%{step.key}"
    return f"({', '.join(map(spell, step.items))})"


def path_of(expr: Expr) -> AccessPath | None:
    """Return the access path of `expr`, or None if it is not a data reference."""
    steps: list[PathStep] = []
    while not isinstance(expr, Name):
        match expr:
            case Member(base, _):
                steps.append(Component(expr.key))
            case Index(base, items):
                steps.append(Subscripts(items))
            case _:
                return None
        expr = base
    return AccessPath(expr.key, tuple(reversed(steps)))


# ---------------------------------------------------------------------------- comparing


def is_part_of(inner: Variable, outer: Variable) -> bool:
    """Return whether `inner` equals `outer` or is a component of it at any level."""
    return inner[: len(outer)] == outer


def share_data(first: Variable, second: Variable) -> bool:
    """Return whether two variables overlap: they are equal or one contains the other."""
    return is_part_of(first, second) or is_part_of(second, first)


def aligned(first: AccessPath, second: AccessPath) -> tuple[tuple[Expr, Expr], ...] | None:
    """Return the pairs of corresponding subscripts of two paths that may overlap.

    The function returns None if they never overlap. A step has no pairs if only one path has
    subscripts there or if the numbers of subscripts differ.
    """
    if first.root != second.root:
        return None
    pairs: list[tuple[Expr, Expr]] = []
    ahead, behind = list(first.steps), list(second.steps)
    while ahead and behind:
        one, other = ahead[0], behind[0]
        if isinstance(one, Component) and isinstance(other, Component):
            if one.key != other.key:
                return None
        elif isinstance(one, Subscripts) and isinstance(other, Subscripts):
            if len(one.items) == len(other.items):
                pairs += zip(one.items, other.items, strict=True)
        elif isinstance(one, Subscripts):
            del ahead[0]
            continue
        else:
            del behind[0]
            continue
        del ahead[0], behind[0]
    return tuple(pairs)


def covers(whole: AccessPath, part: AccessPath, holds: Callable[[Expr, Expr], bool]) -> bool:
    """Return whether `whole` contains all data of `part`.

    `holds(first, second)` returns whether a subscript of `whole` contains one of `part`.
    """
    if whole.root != part.root or len(whole.steps) > len(part.steps):
        return _is_all_behind(whole, part)
    for one, other in zip(whole.steps, part.steps, strict=False):
        if isinstance(one, Component) or isinstance(other, Component):
            if one != other:
                return False
        elif len(one.items) != len(other.items) or not all(map(holds, one.items, other.items)):
            return False
    return True


def _is_all_behind(whole: AccessPath, part: AccessPath) -> bool:
    """Return whether `whole` is `part` followed only by `:` subscripts."""
    rest = whole.steps[len(part.steps) :]
    return (
        whole.root == part.root
        and whole.steps[: len(part.steps)] == part.steps
        and AccessPath(whole.root, rest).is_whole
        and all(isinstance(step, Subscripts) for step in rest)
    )


def prefixes(variable: Variable) -> Iterator[Variable]:
    """Yield `variable` and all structures that contain it, outermost first."""
    for length in range(1, len(variable) + 1):
        yield variable[:length]
