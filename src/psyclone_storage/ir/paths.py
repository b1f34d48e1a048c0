"""Access paths: a variable, a component of a structure, an element or a section.

A path goes from a variable down to a part of it: `diag%rho(i, j)` is the variable `diag`, its
component `rho` and two subscripts. Two paths are compared step by step: other components are other
data, and subscripts are handed to the caller, who knows something about their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Range, spell

Variable = tuple[str, ...]
"""A variable or a component of one, by their keys from the outside to the inside."""


@dataclass(frozen=True, slots=True)
class Component:
    """A step to a component of a structure, by its key."""

    key: str


@dataclass(frozen=True, slots=True)
class Subscripts:
    """A step to an element, or to a section where a subscript is a `Range`; or to a substring."""

    items: tuple[Expr, ...]


PathStep = Component | Subscripts


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A part of the variable whose key is `root`; all of it without `steps`."""

    root: str
    steps: tuple[PathStep, ...] = ()

    @property
    def variable(self) -> Variable:
        """The variable with its components, whatever the subscripts are."""
        components = (step.key for step in self.steps if isinstance(step, Component))
        return (self.root, *components)

    @property
    def subscripts(self) -> tuple[Expr, ...]:
        """All subscripts, the outermost structure's first."""
        return tuple(
            item for step in self.steps if isinstance(step, Subscripts) for item in step.items
        )

    @property
    def is_whole(self) -> bool:
        """Return whether it covers its variable: each of its subscripts is a plain `:`."""
        return all(item == Range() for item in self.subscripts)

    def __str__(self) -> str:
        """Return the path as Fortran spells it."""
        return self.root + "".join(map(_spelled, self.steps))


def _spelled(step: PathStep) -> str:
    if isinstance(step, Component):
        return f"%{step.key}"
    return f"({', '.join(map(spell, step.items))})"


def path_of(expr: Expr) -> AccessPath | None:
    """Return the path of `expr`, None if it is not a path."""
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
    """Return whether `inner` is `outer` or a component somewhere in it."""
    return inner[: len(outer)] == outer


def share_data(first: Variable, second: Variable) -> bool:
    """Return whether one of two variables is the other or holds it."""
    return is_part_of(first, second) or is_part_of(second, first)


def aligned(first: AccessPath, second: AccessPath) -> tuple[tuple[Expr, Expr], ...] | None:
    """Return the pairs of subscripts that meet where two paths touch the same data.

    None if they never do. Where one path has subscripts and the other none, or where they have
    another number of them, nothing is known about that step, and it has no pair.
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
    """Return whether `whole` is all of `part` or more.

    `holds` returns for a subscript of `whole` and one of `part` whether the first contains the
    second.
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
    """Return whether `whole` is `part` followed by nothing but plain `:`."""
    rest = whole.steps[len(part.steps) :]
    return (
        whole.root == part.root
        and whole.steps[: len(part.steps)] == part.steps
        and AccessPath(whole.root, rest).is_whole
        and all(isinstance(step, Subscripts) for step in rest)
    )


def prefixes(variable: Variable) -> Iterator[Variable]:
    """Yield `variable` and all that it is a component of, the outermost first."""
    for length in range(1, len(variable) + 1):
        yield variable[:length]
