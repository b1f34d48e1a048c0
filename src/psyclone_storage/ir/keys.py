"""Keys: names in lower case, used for lookups.

Fortran names are case-insensitive, and printed code preserves the spelling of the source. All case
folding is in this module.
"""

from __future__ import annotations

from collections.abc import Iterable


def key_of(name: str) -> str:
    """Return the lookup key of a name: the name in lower case."""
    return name.lower()


def keys_of(names: Iterable[str]) -> frozenset[str]:
    """Return the lookup keys of several names."""
    return frozenset(map(str.lower, names))


class Named:
    """Mixin for objects with a name."""

    __slots__ = ()
    name: str

    @property
    def key(self) -> str:
        """The name in lower case."""
        return self.name.lower()


class RenamedImport:
    """An imported name: `local` in the importing scope, `original` in its module."""

    __slots__ = ()
    local: str
    original: str

    @property
    def key(self) -> str:
        """The local name in lower case."""
        return self.local.lower()

    @property
    def original_key(self) -> str:
        """The original name in lower case."""
        return self.original.lower()


class FromModule:
    """Mixin for objects that belong to a module or import from one."""

    __slots__ = ()
    module: str

    @property
    def module_key(self) -> str:
        """The module's name in lower case."""
        return self.module.lower()


class OfKind:
    """Mixin for objects with a kind parameter, as spelled in the source."""

    __slots__ = ()
    kind: str | None

    @property
    def kind_key(self) -> str:
        """The kind parameter in lower case, or an empty text."""
        return (self.kind or "").lower()


class Attributed:
    """Mixin for declarations with attributes, as spelled in the source."""

    __slots__ = ()
    attributes: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """The attributes in lower case."""
        return frozenset(map(str.lower, self.attributes))
