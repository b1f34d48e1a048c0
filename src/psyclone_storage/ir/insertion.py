"""The record of a planned statement: what to insert into a schedule, and where."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

END = "end"
"""The place after the last statement of a schedule."""

Inserted = TypeVar("Inserted")


class Insertion(NamedTuple, Generic[Inserted]):
    """A statement to insert before the statement `before`, or at `END`.

    It may be inserted earlier, but not before the statement `after`.
    """

    before: str
    statement: Inserted
    after: str = ""
