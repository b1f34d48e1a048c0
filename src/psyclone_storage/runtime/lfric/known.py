"""Attributes of objects that the Fortran library computes once."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar, overload

T = TypeVar("T")


class Described(Protocol):
    """Object that the Fortran library has described."""

    described: dict[str, Any]


class Known(Generic[T]):
    """Attribute with the name and the value given by the Fortran library."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, thing: None, owner: type) -> Known[T]: ...

    @overload
    def __get__(self, thing: Described, owner: type) -> T: ...

    def __get__(self, thing: Described | None, owner: type) -> T | Known[T]:
        """Return the value of the attribute."""
        if thing is None:
            return self
        found: T = thing.described[self._name]
        return found
