"""What may be one object: each two that may be one are once, and no others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from psyclone_storage.coherence.scenarios import (
    representative_parts,
    same_objects,
    storage_scenarios,
)
from psyclone_storage.ir.schedule import Schedule
from unit.analysis.small import cells, schedule


def fields(**aliases: str) -> Schedule:
    """Return a schedule of fields, each with the names of those that it may be."""
    made = schedule(*(cells(f"{name} readwrite w3") for name in aliases))
    data = tuple(replace(one, may_alias=tuple(aliases[one.name].split())) for one in made.data)
    return replace(made, data=data)


def found(made: Schedule) -> list[set[str]]:
    return [{"".join(sorted(group)) for group in groups} for groups in same_objects(made)]


@pytest.mark.parametrize(
    ("aliases", "expected"),
    [
        ({"a": "", "b": ""}, [set()]),
        ({"a": "b", "b": "a", "c": ""}, [set(), {"ab"}]),
        # Elements of two arrays, at two indices each that nobody knows.
        ({"f": "g", "g": "f", "p": "q", "q": "p"}, [set(), {"fg", "pq"}]),
        # Elements at indices that nobody knows may all be one, those at two numbers may not.
        ({"a": "b c", "b": "a c", "c": "a b"}, [set(), {"abc"}]),
        ({"i": "x y", "x": "i", "y": "i"}, [set(), {"ix"}, {"iy"}]),
        ({"i": "j x y", "j": "i x y", "x": "i j", "y": "i j"},
         [set(), {"ijx"}, {"ijy"}]),
    ],
)  # fmt: skip
def test_each_two_that_may_be_one_are_once(
    aliases: dict[str, str], expected: list[set[str]]
) -> None:
    assert found(fields(**aliases)) == expected


def test_storages_are_tried_with_all_of_them() -> None:
    made = fields(i="x y", x="i", y="i")
    worlds = {one.same for one in storage_scenarios(made)}
    assert worlds == set(same_objects(made))
    assert len(worlds) == 3


def test_what_a_kernel_is_passed_and_writes_is_apart() -> None:
    made = schedule(cells("a write w3", "b read w3"), cells("c readwrite w3"))
    data = tuple(replace(one, may_alias=tuple("abc".replace(one.name, ""))) for one in made.data)
    assert found(replace(made, data=data)) == [set(), {"ac"}, {"bc"}]


def test_an_element_is_a_component_of_a_vector() -> None:
    made = schedule(cells("v readwrite w3"), cells("x readwrite w3"), vectors={"v": 2})
    assert representative_parts(made, (frozenset("vx"),)) == {
        ("v", 1): ("v", 1),
        ("v", 2): ("v", 2),
        ("x", None): ("v", 1),
    }
