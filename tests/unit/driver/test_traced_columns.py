"""Invokes of LFRic that are compiled where they stand: what they take, and what they become."""

# ruff: noqa: F403, F405

from __future__ import annotations

import sys
from typing import Any

import pytest

from psyclone_storage.driver.traced import asked_for, compiled_invoke
from psyclone_storage.lfric import *


class Datum:
    """Something that is no number: what it has to be is for the runtime to say."""


@kernel(operates_on=CELL_COLUMN)
def cap(
    wind: field[GH_INC, W2],
    chi: field[3, GH_READ, W0],
    most: scalar[GH_REAL, GH_READ],
    count: scalar[GH_LOGICAL, GH_READ],
):
    if count:
        wind[0, 0] = min(wind[0, 0], most) + chi[0, 0, 0]


def data_of(*calls: Any) -> list[str]:
    frame = sys._getframe(1)
    made = compiled_invoke(calls, "", frame, asked_for(api="lfric"))
    return [datum.name for datum in made.build.program.invokes[0].schedule.data]


def test_one_object_has_one_name() -> None:
    u, v, total = Datum(), Datum(), Result()
    same = u
    assert data_of(setval_c(u, 0.0), inc_X_plus_Y(v, same), sum_X(total, v)) == ["u", "v", "total"]


def test_parts_of_sequences_are_objects_of_their_own() -> None:
    parts = [Datum(), Datum()]
    names = data_of(setval_X(parts[0], parts[1]))
    assert len(set(names)) == 2
    assert all(name.isidentifier() for name in names)


def test_vectors_and_conditions() -> None:
    wind, chi = Datum(), [Datum(), Datum(), Datum()]
    assert data_of(cap(wind, chi, 0.5, True)) == ["wind", "chi"]
    with pytest.raises(TypeError, match="vector of 3 fields"):
        data_of(cap(wind, chi[:2], 0.5, True))
    with pytest.raises(TypeError, match=r"True or False, not 1\.0"):
        data_of(cap(wind, chi, 0.5, 1.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (setval_c(1.0, 0.0), "takes a field, not a float"),
        (setval_c(Datum(), "text"), "takes a number, not a str"),
        (setval_c(Datum(), True), "takes a number, not a bool"),
        (setval_c(Datum()), "takes 2 arguments"),
    ],
)
def test_what_is_not_taken(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        data_of(call)
