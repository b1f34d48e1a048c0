"""What a routine for columns finds once for the same data: maps and other arrays, and numbers."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.backend.native.column_parts import (
    PlannedRoutine,
    extent_of,
    extents_of_table,
)
from psyclone_storage.backend.native.threads import threads_text
from psyclone_storage.backend.numpy.printer import laid_out, text_of
from psyclone_storage.backend.numpy.spelling import plain
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.expr import Element, Expr, Name, integer_value, walk
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.unit import Assign, Blank, Comment, Declare


@dataclass(frozen=True, slots=True)
class ColumnTables:
    """The arrays and numbers that a set-up finds, by name, and its statements.

    Of a number the second is how Python gets it.
    """

    arrays: tuple[str, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ()

    def count(self, name: str) -> int:
        """Return where a number is."""
        return next(at for at, (key, _) in enumerate(self.counts) if key == name)


def set_up(plan: PlannedRoutine) -> ColumnTables:
    """Return what the set-up of a routine finds."""
    declared = {item.name: item for item in plan.routine.variables}
    lines = [f"{name} = ({', '.join(parts)})" for name, parts in vectors_of(plan).items()]
    tables: list[str] = []
    counts: list[tuple[str, str]] = []
    for line in plan.before:
        if isinstance(line, Blank | Comment):
            continue
        if not isinstance(line, Assign) or not isinstance(line.target, Name):
            raise InternalError("A set-up has more than values of variables.")
        name = line.target.text
        lines.append(f"{plain(name)} = {text_of(line.value)}")
        if not declared[name].shape:
            counts.append((name, plain(name)))
            continue
        tables.append(name)
        counts += _lengths(declared[name])
    assert plan.held is not None
    for at, item in enumerate(plan.held.items):
        owner = data_names(plan)[at]
        rank = len(declared[item.array].shape)
        counts += [
            (extent_of(declared[item.array], place), f"{owner}.storage.shape[{place - 1}]")
            for place in range(1, rank)
        ]
    counts += [
        (threads_name(number), threads_text(part.shared))
        for number, part in enumerate(plan.parts, 1)
        if part.shared is not None
    ]
    groups = (map(plain, tables), (), (text for _, text in counts))
    for name, group in zip(("tables", "reals", "counts"), groups, strict=True):
        items = list(group)
        lines += laid_out(f"{name} = (", items, ",)" if len(items) == 1 else ")", "")
    lines.append("return tables, reals, counts")
    return ColumnTables(tuple(tables), tuple(counts), tuple(lines))


def threads_name(number: int) -> str:
    """Return by what name it is known how many threads a part has, by its number; none has it."""
    return f"%threads {number}"


def _lengths(item: Declare) -> Iterator[tuple[str, str]]:
    for at in range(1, extents_of_table(item) + 1):
        yield extent_of(item, at), f"{plain(item.name)}.shape[{at - 1}]"


def data_names(plan: PlannedRoutine) -> list[str]:
    """Return the names by which a set-up knows what is held: parts of vectors have their own."""
    assert plan.held is not None
    names = NameTable(item.name for item in (*plan.routine.dummies, *plan.routine.variables))
    found = []
    for item in plan.held.items:
        match item.owner:
            case Element(Name(text), (at,)):
                found.append(plain(names.fresh(f"{text}_{(integer_value(at) or 0) + 1}")))
            case _:
                found.append(text_of(item.owner))
    return found


def vectors_of(plan: PlannedRoutine) -> dict[str, list[str]]:
    """Return the vectors of fields that are held, with the names of their parts."""
    assert plan.held is not None
    parts: dict[str, list[str]] = {}
    for item, name in zip(plan.held.items, data_names(plan), strict=True):
        if isinstance(item.owner, Element):
            parts.setdefault(text_of(item.owner.base), []).append(name)
    return parts


def given_names(plan: PlannedRoutine) -> list[str]:
    """Return the arguments that a set-up asks besides data: rules, extents and depths."""
    asked = {
        part.text
        for line in plan.before
        if isinstance(line, Assign)
        for part in walk(line.value)
        if isinstance(part, Name)
    }
    assert plan.held is not None
    own = {text_of(_base(item.owner)) for item in plan.held.items}
    return [
        plain(item.name) for item in plan.routine.dummies
        if item.name in asked and item.name not in own
    ]  # fmt: skip


def _base(owner: Expr) -> Expr:
    return owner.base if isinstance(owner, Element) else owner


def passed_to(plan: PlannedRoutine) -> str:
    """Return what is passed to bind a routine's data."""
    assert plan.held is not None
    data = ", ".join(text_of(item.owner) for item in plan.held.items)
    given = given_names(plan)
    if not given:
        return data
    return f"{data}, given=({', '.join(given)}{',' if len(given) == 1 else ''})"


def places_of(plan: PlannedRoutine, tables: ColumnTables) -> dict[str, tuple[str, int]]:
    """Return the table in which C finds arrays and numbers, and where, by their names."""
    assert plan.held is not None
    every = [*(item.array for item in plan.held.items), *tables.arrays]
    found = {key_of(array): ("data", at) for at, array in enumerate(every)}
    return found | {key_of(count): ("counts", at) for at, (count, _) in enumerate(tables.counts)}
