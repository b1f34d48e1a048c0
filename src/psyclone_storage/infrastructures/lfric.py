"""LFRic: function spaces, kinds of numbers, and types of objects.

The tables cover both generations of metadata, which differ only in the number of function spaces
(spec 1.4). Names of spaces are in lower case in all modules except the metadata reader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import lru_cache

from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.kernel import ArgKind, BasisShape
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

# ---------------------------------------------------------------------------- function spaces


class Continuity(Enum):
    """Continuity of a function space: whether cells share dofs with their neighbours.

    A `CONTINUOUS` space has dofs on faces, edges or corners that two or more cells share. A
    `DISCONTINUOUS` space has none. `ANY` may be either, and must be treated as shared.
    """

    CONTINUOUS = "continuous"
    DISCONTINUOUS = "discontinuous"
    ANY = "any"


DofCount = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Space:
    """Named function space.

    - `basis`, `diff_basis`: the vector length of a basis function and of its derivative: 1 for a
      scalar, 3 for a vector.

    - `constant`: the run-time identifier of the space; '' for a name that denotes several spaces.

    - `dofs`: a function from the horizontal and vertical order to the number of dofs of a
      quadrilateral cell, if known.

    - `column`: dofs of the lowest order on a column of quadrilaterals, without double counting of
      shared dofs: the number per layer, and the number on the one additional level.
    """

    continuity: Continuity
    basis: int
    diff_basis: int
    constant: str = ""
    dofs: DofCount | None = None
    column: tuple[int, int] | None = None


_SCALAR_AND_GRADIENT = (1, 3)
_VECTOR_AND_CURL = (3, 3)
_VECTOR_AND_DIVERGENCE = (3, 1)
_CONTINUOUS, _DISCONTINUOUS = Continuity.CONTINUOUS, Continuity.DISCONTINUOUS


def _edges(h: int, v: int) -> int:
    return 2 * (h + 1) * (h + 2) * (v + 2) + (h + 2) ** 2 * (v + 1)


def _faces_across(h: int, v: int) -> int:
    return 2 * (h + 1) * (h + 2) * (v + 1)


def _faces_below(h: int, v: int) -> int:
    return (h + 1) ** 2 * (v + 2)


def _faces(h: int, v: int) -> int:
    return _faces_across(h, v) + _faces_below(h, v)


SPACES: Mapping[str, Space] = {
    "w0": Space(
        _CONTINUOUS, *_SCALAR_AND_GRADIENT, "W0", lambda h, v: (h + 2) ** 2 * (v + 2), (1, 1)
    ),
    "w1": Space(_CONTINUOUS, *_VECTOR_AND_CURL, "W1", _edges, (3, 2)),
    "w2": Space(_CONTINUOUS, *_VECTOR_AND_DIVERGENCE, "W2", _faces, (3, 1)),
    "w2h": Space(_CONTINUOUS, *_VECTOR_AND_DIVERGENCE, "W2H", _faces_across, (2, 0)),
    "w2trace": Space(
        _CONTINUOUS, *_SCALAR_AND_GRADIENT, "W2trace",
        lambda h, v: 4 * (h + 1) * (v + 1) + 2 * (h + 1) ** 2, (3, 1),
    ),
    "w2htrace": Space(_CONTINUOUS, *_SCALAR_AND_GRADIENT, "W2Htrace", None, (2, 0)),
    "w3": Space(
        _DISCONTINUOUS, *_SCALAR_AND_GRADIENT, "W3", lambda h, v: (h + 1) ** 2 * (v + 1), (1, 0)
    ),
    "wtheta": Space(_DISCONTINUOUS, *_SCALAR_AND_GRADIENT, "Wtheta", _faces_below, (1, 1)),
    "w2v": Space(_DISCONTINUOUS, *_VECTOR_AND_DIVERGENCE, "W2V", _faces_below, (1, 1)),
    "w2vtrace": Space(_DISCONTINUOUS, *_SCALAR_AND_GRADIENT, "W2Vtrace", None, (1, 1)),
    "w2broken": Space(_DISCONTINUOUS, *_VECTOR_AND_DIVERGENCE, "W2broken", _faces, (6, 0)),
    "wchi": Space(Continuity.ANY, *_SCALAR_AND_GRADIENT, "Wchi", None, (1, 0)),
    "any_w2": Space(Continuity.ANY, *_VECTOR_AND_DIVERGENCE),
}  # fmt: skip
"""Every space but the numbered wildcards."""

OPERATOR_DEPTH = 1
"""Operators are computed, never exchanged, to this depth of the halo."""

CELL_SPACE = "w3"
"""A space that has, at its lowest order, one dof in each cell and layer, which no cells share."""

SPACES_OF_LAYERS = frozenset({"w3", "w2broken"})
"""Spaces whose dofs belong to one cell of one layer: the dofs of a column lie layers apart."""

READ_ONLY_SPACES = frozenset({"wchi"})
"""Spaces that no kernel may write: `wchi` holds the coordinates of the mesh."""

ANY_W2 = "any_w2"
ANY_W2_MEMBERS = ("w2", "w2h", "w2v", "w2broken")
"""The spaces that `any_w2` stands for; the trace spaces are not among them."""

ANY_SPACE = "any_space_"
ANY_DISCONTINUOUS_SPACE = "any_discontinuous_space_"


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers of wildcards, from NUM_ANY_SPACE and NUM_ANY_DISCONTINUOUS_SPACE."""

    any_space: int = 10
    any_discontinuous_space: int = 10


DEFAULT_LIMITS = Limits()


def space_names(limits: Limits) -> tuple[str, ...]:
    """Return the names of all spaces that metadata may use."""
    return (
        *SPACES,
        *(f"{ANY_SPACE}{number}" for number in range(1, limits.any_space + 1)),
        *(
            f"{ANY_DISCONTINUOUS_SPACE}{number}"
            for number in range(1, limits.any_discontinuous_space + 1)
        ),
    )


def is_wildcard(space: str) -> bool:
    """Return whether `space` is a numbered wildcard, which is a different space in each call."""
    return space.startswith((ANY_SPACE, ANY_DISCONTINUOUS_SPACE))


def is_space(space: str, limits: Limits) -> bool:
    """Return whether `space` is the name of a space, or of a wildcard within `limits`."""
    if space in SPACES:
        return True
    prefix, _, number = space.rpartition("_")
    most = {
        ANY_SPACE: limits.any_space,
        ANY_DISCONTINUOUS_SPACE: limits.any_discontinuous_space,
    }.get(f"{prefix}_", 0)
    return number.isascii() and number.isdigit() and number[0] != "0" and int(number) <= most


def continuity_of(space: str) -> Continuity:
    """Return the known continuity of `space`, which must be a valid name."""
    if space.startswith(ANY_DISCONTINUOUS_SPACE):
        return Continuity.DISCONTINUOUS
    return Continuity.ANY if space.startswith(ANY_SPACE) else SPACES[space].continuity


@kept_lately
def discontinuous_data(passed: Collection[tuple[str, str]]) -> frozenset[str]:
    """Return the data that are passed on discontinuous spaces and never on continuous ones.

    `passed` are pairs of a space and a datum.
    """
    known: dict[Continuity, set[str]] = defaultdict(set)
    for space, datum in passed:
        known[continuity_of(space)].add(datum)
    return frozenset(known[Continuity.DISCONTINUOUS] - known[Continuity.CONTINUOUS])


@lru_cache(maxsize=256)
def is_continuous(space: str) -> bool:
    """Return whether cells may share dofs of `space`; an unknown continuity counts as shared."""
    return continuity_of(space) is not Continuity.DISCONTINUOUS


def basis_dimension(space: str) -> int | None:
    """Return the vector length of a basis function, 1 or 3; None for a wildcard."""
    return None if is_wildcard(space) else SPACES[space].basis


def diff_basis_dimension(space: str) -> int | None:
    """Return the vector length of a differential basis function; None for a wildcard."""
    return None if is_wildcard(space) else SPACES[space].diff_basis


def spaces_meant(space: str) -> tuple[str, ...]:
    """Return the spaces that `space` in metadata may denote; () if it may be any space."""
    if space == ANY_W2:
        return ANY_W2_MEMBERS
    if space.startswith(ANY_DISCONTINUOUS_SPACE):
        return tuple(name for name in SPACES if not is_continuous(name))
    return (space,) if space in SPACES else ()


# ---------------------------------------------------------------------------- kinds of numbers

KINDS_MODULE = "constants_mod"
_FORTRAN_KINDS = "iso_fortran_env"
_SINGLE = DerivedType("scalar_real32_type", "scalar_real32_mod")
_DOUBLE = DerivedType("scalar_real64_type", "scalar_real64_mod")


@dataclass(frozen=True, slots=True)
class KindParameter:
    """Kind parameter: its module, and the type of the object that reduces values over ranks."""

    intrinsic: Intrinsic
    module: str = KINDS_MODULE
    reduced_by: DerivedType | None = None


KINDS: Mapping[str, KindParameter] = {
    "r_def": KindParameter(Intrinsic.REAL, reduced_by=DerivedType("scalar_type", "scalar_mod")),
    "r_solver": KindParameter(
        Intrinsic.REAL, reduced_by=DerivedType("r_solver_scalar_type", "r_solver_scalar_mod")
    ),
    "r_tran": KindParameter(
        Intrinsic.REAL, reduced_by=DerivedType("r_tran_scalar_type", "r_tran_scalar_mod")
    ),
    "r_bl": KindParameter(Intrinsic.REAL),
    "real32": KindParameter(Intrinsic.REAL, _FORTRAN_KINDS, _SINGLE),
    "real64": KindParameter(Intrinsic.REAL, _FORTRAN_KINDS, _DOUBLE),
    "r_single": KindParameter(Intrinsic.REAL, reduced_by=_SINGLE),
    "r_double": KindParameter(Intrinsic.REAL, reduced_by=_DOUBLE),
    "i_def": KindParameter(
        Intrinsic.INTEGER, reduced_by=DerivedType("integer_scalar_type", "integer_scalar_mod")
    ),
    "int32": KindParameter(Intrinsic.INTEGER, _FORTRAN_KINDS),
    "int64": KindParameter(Intrinsic.INTEGER, _FORTRAN_KINDS),
    "l_def": KindParameter(Intrinsic.LOGICAL),
}
"""Kinds of which more is known than that `constants_mod` has them."""

SOMETIMES_SINGLE = frozenset({"r_solver", "r_tran"})
"""Kinds of reals that have four bytes in some builds of LFRic, and eight in others."""

REAL = ScalarType(Intrinsic.REAL, "r_def")
INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
LOGICAL = ScalarType(Intrinsic.LOGICAL, "l_def")
SOLVER_REAL = ScalarType(Intrinsic.REAL, "r_solver")
SINGLE_KINDS = frozenset(name for name, kind in KINDS.items() if kind.reduced_by == _SINGLE)
"""The kinds of reals that have four bytes whatever LFRic is built with."""
EXACT_KIND = "real64"
"""The kind of the reals that can be summed without rounding."""

SIZES: Mapping[str, int] = {
    **dict.fromkeys(("r_solver", "r_tran", "r_single", "real32", "i_def", "int32"), 4),
    **dict.fromkeys(("r_def", "r_bl", "r_double", "real64", "int64"), 8),
    **dict.fromkeys(("r_phys", "r_um", "r_second", "r_ncdf"), 8),
}
"""The bytes of the kinds of numbers in the infrastructure that programs in Python load."""
UNNAMED_REAL = "r_single"
"""The kind of reals that are declared without one."""
SINGLE, DOUBLE = ScalarType(Intrinsic.REAL, "real32"), ScalarType(Intrinsic.REAL, EXACT_KIND)
OF_SIZE: Mapping[int, ScalarType] = {4: SINGLE, 8: DOUBLE}
"""The reals that have so many bytes where programs are in Python: others of a size are these."""

DEFAULT_TYPES: Mapping[Intrinsic, ScalarType] = {
    scalar.intrinsic: scalar for scalar in (REAL, INTEGER, LOGICAL)
}
"""The type of what nobody declares."""


def module_of_kind(kind: str) -> str:
    """Return the module that defines a kind parameter."""
    return KINDS[kind].module if kind in KINDS else KINDS_MODULE


# ---------------------------------------------------------------------------- types of objects


@dataclass(frozen=True, slots=True)
class ProxiedType:
    """Type whose objects are accessed through a proxy, and the type of its data."""

    name: str
    proxy: str
    module: str
    data: ScalarType

    @property
    def proxy_type(self) -> DerivedType:
        """Type of the proxy, with its module."""
        return DerivedType(self.proxy, self.module)

    @property
    def type(self) -> DerivedType:
        """Type of the object, with its module."""
        return DerivedType(self.name, self.module)


@dataclass(frozen=True, slots=True)
class ObjectType(ProxiedType):
    """Type of a field or operator; `kind` is the kind of kernel argument."""

    kind: ArgKind


def _names(stem: str) -> tuple[str, str, str]:
    return f"{stem}_type", f"{stem}_proxy_type", f"{stem}_mod"


def _object(stem: str, data: ScalarType, kind: ArgKind) -> ObjectType:
    return ObjectType(*_names(stem), data, kind)


def _real(kind: str) -> ScalarType:
    return ScalarType(Intrinsic.REAL, kind)


_OBJECTS = (
    _object("field", REAL, ArgKind.FIELD),
    _object("r_solver_field", SOLVER_REAL, ArgKind.FIELD),
    _object("r_tran_field", _real("r_tran"), ArgKind.FIELD),
    _object("r_bl_field", _real("r_bl"), ArgKind.FIELD),
    _object("field_real32", _real("real32"), ArgKind.FIELD),
    _object("field_real64", _real("real64"), ArgKind.FIELD),
    _object("integer_field", INTEGER, ArgKind.FIELD),
    _object("operator", REAL, ArgKind.OPERATOR),
    _object("r_solver_operator", SOLVER_REAL, ArgKind.OPERATOR),
    _object("r_tran_operator", _real("r_tran"), ArgKind.OPERATOR),
    _object("operator_real32", _real("real32"), ArgKind.OPERATOR),
    _object("operator_real64", _real("real64"), ArgKind.OPERATOR),
    _object("columnwise_operator", SOLVER_REAL, ArgKind.COLUMNWISE_OPERATOR),
)
OBJECT_TYPES: Mapping[str, ObjectType] = {known.name: known for known in _OBJECTS}
"""Fields and operators, by the name of their type."""

VECTOR_TYPES: Mapping[str, str] = {
    f"{prefix}field_vector_type": f"{prefix}field_type"
    for prefix in ("", "r_solver_", "r_tran_", "r_bl_")
}
"""A component `vector` of one of these is an array of the type on the right."""

QUADRATURE_TYPES: Mapping[BasisShape, ProxiedType] = {
    BasisShape.XYOZ: ProxiedType(*_names("quadrature_xyoz"), REAL),
    BasisShape.FACE: ProxiedType(*_names("quadrature_face"), REAL),
    BasisShape.EDGE: ProxiedType(*_names("quadrature_edge"), REAL),
}


def default_type(kind: ArgKind, intrinsic: Intrinsic) -> DerivedType | ScalarType:
    """Return the type that an undeclared argument is assumed to have."""
    if kind.is_scalar:
        return DEFAULT_TYPES[intrinsic]
    data = REAL if kind.is_operator or intrinsic is Intrinsic.REAL else INTEGER
    if kind is ArgKind.COLUMNWISE_OPERATOR:
        data = SOLVER_REAL
    return DerivedType(next(t.name for t in _OBJECTS if (t.kind, t.data) == (kind, data)))


TOLD_BY_METADATA = frozenset(
    one.name if isinstance(one, DerivedType) else str(one.kind)
    for kind in (ArgKind.FIELD, ArgKind.OPERATOR, ArgKind.COLUMNWISE_OPERATOR, ArgKind.SCALAR)
    for intrinsic in DEFAULT_TYPES
    for one in (default_type(kind, intrinsic),)
)
"""The types and kinds that undeclared arguments are taken to have."""


# ---------------------------------------------------------------------------- meshes

REFERENCE_ELEMENT_PROPERTIES = (
    "normals_to_horizontal_faces",
    "normals_to_vertical_faces",
    "normals_to_faces",
    "outward_normals_to_horizontal_faces",
    "outward_normals_to_vertical_faces",
    "outward_normals_to_faces",
)
"""The arrays of a reference element that metadata can ask for."""

ADJACENT_FACE = "adjacent_face"
MESH_PROPERTIES = (ADJACENT_FACE,)

# ---------------------------------------------------------------------------- messages

MESSAGE_PROCEDURES = {("log_mod", "log_event"): "log_level_error"}
"""Procedures, by module and name, that write one message, which threads may do in any order.

The constant is the level, among the arguments, at which they end the program.
"""
