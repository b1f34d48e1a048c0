"""Words of metadata and annotations, as objects that say what was written and mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from psyclone_storage.base.records import dataclass


@dataclass(frozen=True, slots=True)
class MetadataWord:
    """A word of metadata, by its name in the API's own spelling; called, it takes items."""

    name: str
    items: tuple[Any, ...] = ()

    def __call__(self, *items: Any) -> MetadataWord:
        """Return the word with `items`, as in `GO_STENCIL("000,011,000")`."""
        return MetadataWord(self.name, items)

    def __repr__(self) -> str:
        """Return the word as it is written."""
        return f"{self.name}({', '.join(map(repr, self.items))})" if self.items else self.name


LookUp = Callable[[str, tuple[Any, ...]], Any]
AROUND: ContextVar[LookUp] = ContextVar("AROUND")
"""What `layers()` and its like are while a kernel is run for one column."""


@dataclass(frozen=True, slots=True)
class ColumnWord:
    """A word of bodies of kernels: what they loop over, arrays that are no arguments, and numbers.

    A number of turns is what is looped over, unless the word is that of a number itself.
    """

    name: str
    is_number: bool = False

    def __call__(self, *said: Any) -> Any:
        """Return what the word stands for in the column that a kernel is run for.

        Raises:
            RuntimeError: no kernel is run: compiled kernels are read.
        """
        look_up = AROUND.get(None)
        if look_up is None:
            raise RuntimeError(f"'{self.name}' is a word for the bodies of kernels.")
        found = look_up(self.name, said)
        return range(found) if isinstance(found, int) and not self.is_number else found

    def __repr__(self) -> str:
        """Return the word as it is written."""
        return self.name


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A type by which a program says what a variable is; brackets behind it hold extents."""

    name: str

    def __getitem__(self, extents: Any) -> TypeWord:
        """Return the type, which is that of an array: what it says is read and not run."""
        return self

    def __repr__(self) -> str:
        """Return the word as it is written."""
        return self.name


@dataclass(frozen=True, slots=True)
class Annotation:
    """What an argument of a kernel is: a word such as `field`, and its items in brackets."""

    name: str
    items: tuple[Any, ...] = ()

    def __getitem__(self, items: Any) -> Annotation:
        """Return the annotation with its items, as in `field[GO_READ, GO_CT]`."""
        return Annotation(self.name, items if isinstance(items, tuple) else (items,))

    def __repr__(self) -> str:
        """Return the annotation as it is written."""
        return f"{self.name}[{', '.join(map(repr, self.items))}]" if self.items else self.name
