"""Helper functions for text: indentation, plurals, escaping."""

from __future__ import annotations


def indented(text: str, by: int) -> str:
    """Return `text` with all nonempty lines indented by `by` spaces."""
    pad = " " * by
    return "\n".join(pad + line if line else line for line in text.split("\n"))


def counted(number: int, noun: str) -> str:
    """Return the number with the noun in singular or plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def visible(text: str) -> str:
    """Return a line of `text` with control and format characters escaped, except tabs.

    A terminal would interpret them: they can move the cursor, change colours or reverse text.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in "\t\xa0" else one.encode("unicode_escape").decode()
        for one in text
    )
