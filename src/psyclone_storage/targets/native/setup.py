"""Set-up of a routine: arrays and numbers that are computed once for the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.expr import Element, Expr, Name, integer_value, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.transfer import Held
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare
from psyclone_storage.targets.lfric_python import abi
from psyclone_storage.targets.native.parts import (
    PlannedRoutine,
    extent_of,
    extents_of_table,
    has_extents,
)
from psyclone_storage.targets.native.thread_mapping import SharedLoop, threads_text
from psyclone_storage.targets.numpy.expressions import python_identifier
from psyclone_storage.targets.python_host import bracketed_list, expression_text

_ON_GRIDS = 2
"""The extents of arrays of a grid that are those of the grid; they come last."""


@dataclass(frozen=True, slots=True)
class ArgumentTables:
    """The tables of arrays and numbers for C functions, and the set-up statements.

    `places` maps a key to the table and the position in it. `lines` return the tables, without the
    data and grid extents that the runtime adds at the front.
    """

    places: dict[str, tuple[str, int]]
    lines: tuple[str, ...]

    def count(self, name: str) -> int:
        """Return the position of a count in its table."""
        return self.places[key_of(name)][1]


def set_up(
    plan: PlannedRoutine, words: tuple[str, str, str], checks: Iterable[str] = ()
) -> ArgumentTables:
    """Return the tables of a routine, with the names `words`; `checks` are executed first."""
    assert plan.held is not None
    declared = {item.name: item for item in plan.routine.variables}
    given = {item.array for item in plan.held.items}
    lines = [f"{name} = ({', '.join(parts)})" for name, parts in vector_parts(plan).items()]
    arrays, reals, counts = _Table("data"), _Table("reals"), _Table("counts")
    arrays.passed += [item.array for item in plan.held.items]
    counts.passed += [one.text for one in declared[plan.held.items[0].array].shape[-_ON_GRIDS:]
                      if isinstance(one, Name)]  # fmt: skip
    for item, value in _found_variables(plan, declared):
        name = python_identifier(item.name)
        lines.append(f"{name} = {value}")
        if item.shape:
            arrays.found[item.name] = name
            counts.found |= {} if item.name in given else _lengths(item)
        else:
            (reals if _is_real(item) else counts).found[item.name] = name
    counts.found |= dict(_counts_of_data(plan, declared))
    lines += checks
    for word, table in zip(words, (arrays, reals, counts), strict=True):
        texts = list(table.found.values())
        lines += bracketed_list(f"{word} = (", texts, ",)" if len(texts) == 1 else ")", "")
    lines.append(f"return {', '.join(words)}")
    places = {key: place for table in (arrays, reals, counts) for key, place in table.places()}
    return ArgumentTables(places, tuple(lines))


@dataclass(slots=True)
class _Table:
    """A table for C: entries passed by the runtime, followed by entries computed by the set-up."""

    name: str
    passed: list[str] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)

    def places(self) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield the key of each entry, with the table name and position."""
        for at, name in enumerate(dict.fromkeys((*self.passed, *self.found))):
            yield key_of(name), (self.name, at)


def _found_variables(
    plan: PlannedRoutine, declared: Mapping[str, Declare]
) -> Iterator[tuple[Declare, str]]:
    """Yield the variables computed in the set-up, with the texts of their values."""
    for line in plan.before:
        if isinstance(line, Blank | Comment):
            continue
        if not isinstance(line, Assign) or not isinstance(line.target, Name):
            raise InternalError("A set-up has more than values of variables.")
        yield declared[line.target.text], expression_text(line.value)


def _is_real(item: Declare) -> bool:
    return isinstance(item.type, ScalarType) and item.type.intrinsic is Intrinsic.REAL


def _counts_of_data(
    plan: PlannedRoutine, declared: Mapping[str, Declare]
) -> Iterator[tuple[str, str]]:
    """Yield the extents of data that are not grid extents, and the numbers of threads."""
    assert plan.held is not None
    for owner, item in zip(data_names(plan), plan.held.items, strict=True):
        array = declared[item.array]
        if not has_extents(array):
            for place in range(1, len(array.shape)):
                yield extent_of(array, place), f"{owner}.storage.shape[{place - 1}]"
    for number, part in enumerate(plan.parts, 1):
        if isinstance(part.shared, SharedLoop):
            yield threads_name(number), threads_text(part.shared)


def is_of_grid(item: Held) -> bool:
    """Return whether data are a grid property, which is not an argument."""
    return item.owner == Name(item.array)


def threads_name(number: int) -> str:
    """Return the key of the number of threads of a part; it is not a valid identifier."""
    return f"%threads {number}"


def _lengths(item: Declare) -> dict[str, str]:
    """Return the texts of the passed extents of an array, by name."""
    return {extent_of(item, at): f"{python_identifier(item.name)}.shape[{at - 1}]"
            for at in range(1, extents_of_table(item) + 1)}  # fmt: skip


def data_names(plan: PlannedRoutine) -> list[str]:
    """Return the names of data in a set-up; components of vectors have separate names."""
    assert plan.held is not None
    names = NameTable(item.name for item in (*plan.routine.dummies, *plan.routine.variables))
    found = []
    for item in plan.held.items:
        match item.owner:
            case Element(Name(text), (at,)):
                found.append(
                    python_identifier(names.fresh(f"{text}_{(integer_value(at) or 0) + 1}"))
                )
            case _:
                found.append(expression_text(item.owner))
    return found


def setup_arguments(plan: PlannedRoutine) -> list[str]:
    """Return the arguments of a set-up: data and other arguments that it reads."""
    assert plan.held is not None
    data = [name for name, item in zip(data_names(plan), plan.held.items, strict=True)
            if not is_of_grid(item)]  # fmt: skip
    return [*data, *given_names(plan)]


def vector_parts(plan: PlannedRoutine) -> dict[str, list[str]]:
    """Return the acquired field vectors, with the names of their components."""
    assert plan.held is not None
    parts: dict[str, list[str]] = {}
    for item, name in zip(plan.held.items, data_names(plan), strict=True):
        if isinstance(item.owner, Element):
            parts.setdefault(expression_text(item.owner.base), []).append(name)
    return parts


def vector_checks(plan: PlannedRoutine) -> Iterator[str]:
    """Yield statements that check the lengths of field vectors."""
    for name, parts in vector_parts(plan).items():
        yield f'{abi.CHECK_VECTOR}({name}, {len(parts)}, "{name}")'


def given_names(plan: PlannedRoutine) -> list[str]:
    """Return the arguments of a set-up other than data: rules, extents and depths."""
    asked = {
        part.text
        for line in plan.before
        if isinstance(line, Assign)
        for part in walk(line.value)
        if isinstance(part, Name)
    }
    assert plan.held is not None
    own = {expression_text(_base(item.owner)) for item in plan.held.items}
    return [
        python_identifier(item.name) for item in plan.routine.dummies
        if item.name in asked and item.name not in own
    ]  # fmt: skip


def _base(owner: Expr) -> Expr:
    return owner.base if isinstance(owner, Element) else owner


def bound_data(plan: PlannedRoutine) -> str:
    """Return the arguments for binding a routine's data."""
    assert plan.held is not None
    data = ", ".join(
        expression_text(item.owner) for item in plan.held.items if not is_of_grid(item)
    )
    given = given_names(plan)
    if not given:
        return data
    return f"{data}, given=({', '.join(given)}{',' if len(given) == 1 else ''})"
