"""Function spaces: which exist, what neighbours share, how long their basis vectors are.

The tables hold for both generations, which differ only in how many spaces they know (spec 1.4).
Names are in lower case everywhere below the metadata reader.
"""

from __future__ import annotations

from enum import Enum

from psyclone_storage.base.records import dataclass


class Continuity(Enum):
    """Whether cells share dofs of a space with their neighbours.

    A `CONTINUOUS` space has dofs on faces, edges or corners that two or more cells share; a
    `DISCONTINUOUS` one has none. `ANY` may be either, and so must be treated as shared.
    """

    CONTINUOUS = "continuous"
    DISCONTINUOUS = "discontinuous"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Space:
    """A function space with a name of its own.

    `basis` and `diff_basis` are the lengths of the vector that a basis function, and its
    derivative, has at one point: 1 for a scalar, 3 for a vector.
    """

    continuity: Continuity
    basis: int
    diff_basis: int


_SCALAR_AND_GRADIENT = (1, 3)
_VECTOR_AND_CURL = (3, 3)
_VECTOR_AND_DIVERGENCE = (3, 1)

SPACES: dict[str, Space] = {
    "w0": Space(Continuity.CONTINUOUS, *_SCALAR_AND_GRADIENT),
    "w1": Space(Continuity.CONTINUOUS, *_VECTOR_AND_CURL),
    "w2": Space(Continuity.CONTINUOUS, *_VECTOR_AND_DIVERGENCE),
    "w2h": Space(Continuity.CONTINUOUS, *_VECTOR_AND_DIVERGENCE),
    "w2v": Space(Continuity.DISCONTINUOUS, *_VECTOR_AND_DIVERGENCE),
    "w2broken": Space(Continuity.DISCONTINUOUS, *_VECTOR_AND_DIVERGENCE),
    "w2trace": Space(Continuity.CONTINUOUS, *_SCALAR_AND_GRADIENT),
    "w2htrace": Space(Continuity.CONTINUOUS, *_SCALAR_AND_GRADIENT),
    "w2vtrace": Space(Continuity.DISCONTINUOUS, *_SCALAR_AND_GRADIENT),
    "w3": Space(Continuity.DISCONTINUOUS, *_SCALAR_AND_GRADIENT),
    "wtheta": Space(Continuity.DISCONTINUOUS, *_SCALAR_AND_GRADIENT),
    "wchi": Space(Continuity.ANY, *_SCALAR_AND_GRADIENT),
    "any_w2": Space(Continuity.ANY, *_VECTOR_AND_DIVERGENCE),
}
"""Every space but the numbered wildcards."""

READ_ONLY_SPACES = frozenset({"wchi"})
"""Spaces that no kernel may write: `wchi` holds the coordinates of the mesh."""

ANY_W2_MEMBERS = ("w2", "w2h", "w2v", "w2broken")
"""The spaces that `any_w2` stands for; the trace spaces are not among them."""

ANY_SPACE = "any_space_"
ANY_DISCONTINUOUS_SPACE = "any_discontinuous_space_"


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest number of each wildcard, from NUM_ANY_SPACE and NUM_ANY_DISCONTINUOUS_SPACE."""

    any_space: int = 10
    any_discontinuous_space: int = 10


DEFAULT_LIMITS = Limits()


def space_names(limits: Limits) -> tuple[str, ...]:
    """Return the name of every space that metadata may mention."""
    return (
        *SPACES,
        *(f"{ANY_SPACE}{number}" for number in range(1, limits.any_space + 1)),
        *(
            f"{ANY_DISCONTINUOUS_SPACE}{number}"
            for number in range(1, limits.any_discontinuous_space + 1)
        ),
    )


def is_wildcard(space: str) -> bool:
    """Return whether `space` is numbered, and stands for another space in each call."""
    return space.startswith((ANY_SPACE, ANY_DISCONTINUOUS_SPACE))


def is_space(space: str, limits: Limits) -> bool:
    """Return whether `space` is the name of a space, a wildcard within `limits` included."""
    if space in SPACES:
        return True
    prefix, _, number = space.rpartition("_")
    most = {
        ANY_SPACE: limits.any_space,
        ANY_DISCONTINUOUS_SPACE: limits.any_discontinuous_space,
    }.get(f"{prefix}_", 0)
    return number.isascii() and number.isdigit() and number[0] != "0" and int(number) <= most


def continuity_of(space: str) -> Continuity:
    """Return what is known of the continuity of `space`, which must be a valid name."""
    if space.startswith(ANY_DISCONTINUOUS_SPACE):
        return Continuity.DISCONTINUOUS
    return Continuity.ANY if space.startswith(ANY_SPACE) else SPACES[space].continuity


def is_continuous(space: str) -> bool:
    """Return whether cells may share dofs of `space`: what is not known counts as shared."""
    return continuity_of(space) is not Continuity.DISCONTINUOUS


def basis_dimension(space: str) -> int | None:
    """Return the length of a basis function's value: 1 or 3, None for a wildcard."""
    return None if is_wildcard(space) else SPACES[space].basis


def diff_basis_dimension(space: str) -> int | None:
    """Return the length of a differential basis function's value, None for a wildcard."""
    return None if is_wildcard(space) else SPACES[space].diff_basis
