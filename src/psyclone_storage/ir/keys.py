"""Keys: names without case, under which things are looked up.

Fortran compares names without case, and prints keep their author's spelling. A name has a
key, and no other module folds case.
"""

from __future__ import annotations

from collections.abc import Iterable


def key_of(name: str) -> str:
    """Return the key of a name that is a text alone."""
    return name.lower()


def keys_of(names: Iterable[str]) -> frozenset[str]:
    """Return the keys of names that are texts alone."""
    return frozenset(map(str.lower, names))


class Named:
    """Something that has a name."""

    __slots__ = ()
    name: str

    @property
    def key(self) -> str:
        """The name in lower case."""
        return self.name.lower()


class RenamedImport:
    """A name that is known here as `local`, and as `original` where it comes from."""

    __slots__ = ()
    local: str
    original: str

    @property
    def key(self) -> str:
        """The name here in lower case."""
        return self.local.lower()

    @property
    def original_key(self) -> str:
        """The name where it comes from, in lower case."""
        return self.original.lower()


class FromModule:
    """Something that belongs to a module, or takes names from one."""

    __slots__ = ()
    module: str

    @property
    def module_key(self) -> str:
        """The module's name in lower case."""
        return self.module.lower()


class OfKind:
    """Something with a type, of whose kind an author has a spelling."""

    __slots__ = ()
    kind: str | None

    @property
    def kind_key(self) -> str:
        """The kind in lower case, empty without one."""
        return (self.kind or "").lower()


class Attributed:
    """A declaration, whose attributes an author has spelled."""

    __slots__ = ()
    attributes: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """The attributes in lower case."""
        return frozenset(map(str.lower, self.attributes))
