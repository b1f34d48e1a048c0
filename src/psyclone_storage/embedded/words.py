"""Words of metadata and annotations, as objects that only represent the text."""

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
        """Return the word in source form."""
        return f"{self.name}({', '.join(map(repr, self.items))})" if self.items else self.name


LookUp = Callable[[str, tuple[Any, ...]], Any]
AROUND: ContextVar[LookUp] = ContextVar("AROUND")
"""The values of `layers()` and similar words while a kernel runs for one column."""


@dataclass(frozen=True, slots=True)
class ColumnWord:
    """A word of kernel bodies: loop ranges, arrays that are not arguments, and numbers.

    A number is the length of a loop range, unless the word `is_number`.
    """

    name: str
    is_number: bool = False

    def __call__(self, *said: Any) -> Any:
        """Return the value of the word in the column that a kernel runs for.

        Raises:
            RuntimeError: no kernel runs: compiled kernels are only parsed.
        """
        look_up = AROUND.get(None)
        if look_up is None:
            raise RuntimeError(f"'{self.name}' is a word for the bodies of kernels.")
        found = look_up(self.name, said)
        return range(found) if isinstance(found, int) and not self.is_number else found

    def __repr__(self) -> str:
        """Return the word in source form."""
        return self.name


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A type in the declaration of a variable; brackets after it contain extents."""

    name: str

    def __getitem__(self, extents: Any) -> TypeWord:
        """Return the type of an array; the declaration is only parsed."""
        return self

    def __repr__(self) -> str:
        """Return the word in source form."""
        return self.name


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of a kernel argument: a word such as `field`, and its items in brackets."""

    name: str
    items: tuple[Any, ...] = ()

    def __getitem__(self, items: Any) -> Annotation:
        """Return the annotation with its items, as in `field[GO_READ, GO_CT]`."""
        return Annotation(self.name, items if isinstance(items, tuple) else (items,))

    def __repr__(self) -> str:
        """Return the annotation in source form."""
        return f"{self.name}[{', '.join(map(repr, self.items))}]" if self.items else self.name


field = Annotation("field")
scalar = Annotation("scalar")
