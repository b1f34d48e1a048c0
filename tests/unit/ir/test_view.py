"""A schedule as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.ir.view import SCHEMA, schedule_json, schedule_text
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import (
    RULES,
    cells,
    dofs,
    field,
    halo,
    operator,
    scalar,
    schedule,
    with_places,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "schedule-json.md"

BARE = schedule(
    dofs(field("u write any_space_1", component=2)),
    (cells("a readwrite w3", "u read w2 stencil reach", operator("op", "read")), halo(1)),
    dofs(scalar("s"), "a read w3"),
    vectors={"u": 2},
)
PLANNED = with_places(with_halos(BARE, RULES))


def test_text_names_data_and_statements_in_order() -> None:
    assert schedule_text(PLANNED) == (
        "small: distributed memory, annexed dofs not always clean\n"
        "  data\n"
        "    u   field vector of 2, read\n"
        "    a   field, read\n"
        "    op  operator, read\n"
        "    s   scalar, read\n"
        "  schedule\n"
        "    loop1             dofs, owned\n"
        "      call1           k1_type(u[2]: write any_space_1)\n"
        "    mark(u[2])@loop1  u[2] is dirty\n"
        "    halo(a)@loop2     exchange a to level 1 if it is dirty\n"
        "    halo(u[1])@loop2  exchange u[1] to level reach + 1 if it is dirty\n"
        "    halo(u[2])@loop2  exchange u[2] to level reach + 1\n"
        "    loop2             cells, owned and halo to level 1\n"
        "      call2           k2_type(a: readwrite w3; u: read w2 stencil cross reach;"
        " op: read w2 from w3)\n"
        "    mark(a)@loop2     a is dirty, then clean to level 1\n"
        "    loop3             dofs, owned\n"
        "      call3           k3_type(s: reduction; a: read w3)\n"
        "    reduce(s)@loop3   sum of s over all ranks\n"
    )


def test_colour_changes_nothing_but_the_names() -> None:
    bright = schedule_text(PLANNED, colour=True)
    assert "\033[1mloop1\033[0m" in bright
    assert bright.replace("\033[1m", "").replace("\033[0m", "") == schedule_text(PLANNED)
    assert "\033" not in schedule_text(PLANNED)


def test_json_holds_what_the_text_says() -> None:
    whole = json.loads(json.dumps(schedule_json(PLANNED)))
    assert (whole["schema"], whole["name"], whole["distributed"]) == (SCHEMA, "small", True)
    kinds = [item["statement"] for item in whole["statements"]]
    assert kinds == [
        "loop", "mark halo", "halo exchange", "halo exchange", "halo exchange", "loop",
        "mark halo", "loop", "global reduction",
    ]  # fmt: skip
    exchange = whole["statements"][4]
    assert (exchange["datum"], exchange["component"], exchange["guarded"]) == ("u", 2, False)
    assert exchange["depth"] == {
        "text": "reach + 1",
        "terms": [{"whole": False, "names": ["reach"], "constant": 1}],
    }
    assert exchange["reasons"][0]["writer"] == "call1"
    call = whole["statements"][5]["body"][0]
    assert call["kernel"] == "k2_type"
    assert call["place"] == {"file": "alg.x90", "line": 7, "column": 1}
    assert call["args"][1]["stencil"] == "cross"


def keys_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_in(inner)


def test_every_key_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = {key for key in keys_in(schedule_json(PLANNED)) if f"`{key}`" not in page}
    assert missing == set()
    assert f"version {SCHEMA}" in page
