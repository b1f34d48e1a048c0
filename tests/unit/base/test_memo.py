"""What is made of an object is kept with that object: not with an equal one, and no longer."""

from __future__ import annotations

import gc
import weakref

from psyclone_storage.base.memo import kept_with_first
from psyclone_storage.base.records import dataclass, field, replace


@dataclass(frozen=True)
class Text:
    """Letters, and a remark that takes no part in comparing."""

    letters: str
    remark: str = field(default="", compare=False)


ASKED: list[str] = []


@kept_with_first
def said(text: Text, times: int) -> list[str]:
    """Return what is asked for anew each time."""
    ASKED.append(text.letters)
    return [f"{text.letters} {text.remark}"] * times


@kept_with_first
def length(text: Text) -> int:
    """Return a number for the object alone."""
    return len(text.letters)


def test_an_object_is_asked_once_for_the_same_arguments() -> None:
    text, before = Text("a"), len(ASKED)
    assert said(text, 2) is said(text, 2)
    assert said(text, 1) == ["a "]
    assert (length(text), length(text), len(ASKED) - before) == (1, 1, 2)


def test_what_is_kept_is_no_part_of_the_object_and_not_that_of_an_equal_one() -> None:
    text, other = Text("a", "one"), Text("a", "other")
    assert said(text, 1) == ["a one"]
    assert text == other
    assert (hash(text), repr(text)) == (hash(Text("a")), repr(Text("a", "one")))
    assert said(other, 1) == ["a other"]
    assert said(replace(text, letters="b"), 1) == ["b one"]


def test_what_is_kept_goes_with_the_object() -> None:
    text = Text("gone")
    said(text, 1)
    reference = weakref.ref(text)
    del text
    gc.collect()
    assert reference() is None
