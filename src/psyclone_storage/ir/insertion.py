"""A planned statement, and where to insert it into a schedule."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

END = "end"
"""The place after the last statement of a schedule."""

Inserted = TypeVar("Inserted")


class Insertion(NamedTuple, Generic[Inserted]):
    """A statement to insert before the statement with the uid `before`, or at `END`.

    It may be moved earlier, but not before the statement `after`.
    """

    before: str
    statement: Inserted
    after: str = ""
