"""The contract between the table of names and the Fortran that generated code links with."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from psyclone_storage.infrastructures.lfric import (
    KINDS,
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    SPACES,
    ProxiedType,
    spaces_meant,
)
from psyclone_storage.targets.lfric_fortran import abi

INFRASTRUCTURE = Path(__file__).parents[4] / "external" / "lfric_infrastructure"

OWNERS: dict[type[StrEnum], tuple[str, ...]] = {
    abi.FieldMember: ("field_real64_mod", "field_parent_mod"),
    abi.OperatorMember: ("operator_real64_mod", "operator_real_body", "operator_parent_mod"),
    abi.Columnwise: ("columnwise_operator_mod", "operator_parent_mod"),
    abi.SpaceProcedure: ("function_space_mod",),
    abi.Mesh: ("mesh_mod", "mesh_cells_mod", "mesh_tiles_mod"),
    abi.MeshMap: ("mesh_map_mod",),
    abi.StencilMapProcedure: ("stencil_dofmap_mod",),
    abi.ReferenceElementProcedure: ("reference_element_mod",),
    abi.Quadrature: ("quadrature_xyoz_mod",),
    abi.Scalar: ("scalar_real64_mod",),
    abi.ExactSumProcedure: ("exact_sum_mod",),
    abi.JointExchange: ("joint_exchange_mod",),
    abi.Log: ("log_mod",),
}
"""The modules in which the names of an enumeration must be found."""


@cache
def source_of(stem: str) -> str:
    """Return the Fortran of a module or of an included file, in lower case, without comments."""
    paths = [path for path in INFRASTRUCTURE.glob("**/*") if path.stem.lower() == stem.lower()]
    assert paths, f"no file of the infrastructure is called {stem}"
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return re.sub(r"!.*", "", text).lower()


def provides(stems: tuple[str, ...], name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name.lower())}\b")
    return any(word.search(source_of(stem)) for stem in stems)


@pytest.mark.parametrize(
    ("members", "name"),
    [(members, member.value) for members in OWNERS for member in members],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_member_exists(members: type[StrEnum], name: str) -> None:
    assert provides(OWNERS[members], name)


OBJECTS = [*OBJECT_TYPES.values(), *QUADRATURE_TYPES.values()]


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: item.name)
def test_every_object_has_a_type_and_a_proxy(item: ProxiedType) -> None:
    assert provides((item.module,), item.name)
    assert provides((item.module,), item.proxy)


TYPES = [
    abi.MESH, abi.MESH_MAP, abi.STENCIL_MAP, abi.STENCIL_2D_MAP, abi.REFERENCE_ELEMENT,
    *(kind.reduced_by for kind in KINDS.values() if kind.reduced_by),
    abi.EXACT_SUM, abi.JOINT_EXCHANGE,
]  # fmt: skip


@pytest.mark.parametrize("item", TYPES, ids=lambda item: item.name)
def test_every_other_type_exists(item: abi.DerivedType) -> None:
    assert item.module is not None
    assert provides((item.module,), item.name)


CONSTANTS = [
    *((abi.LFRicModule.STENCIL, name) for name in abi.STENCILS.values()),
    (abi.LFRicModule.STENCIL_2D, abi.STENCIL_2D_CROSS),
    *((abi.LFRicModule.DIRECTION, name) for name in abi.DIRECTIONS),
    *((abi.LFRicModule.FUNCTION_SPACE, name) for name in abi.EVALUATIONS.values()),
    *((abi.LFRicModule.CONTINUITY, known.constant) for known in SPACES.values() if known.constant),
    *((abi.LFRicModule.REFERENCE_ELEMENT, name) for name in abi.NORMALS.values()),
    (abi.LFRicModule.FUNCTION_SPACE, abi.ORIENTATION),
    (str(abi.JOINT_EXCHANGE.module), abi.EXCHANGE_FIELDS),
    *((abi.LFRicModule.CONSTANTS, kind) for kind in ("i_def", "r_def", "l_def", "r_solver")),
]


@pytest.mark.parametrize(("module", "name"), CONSTANTS)
def test_every_constant_exists(module: str, name: str) -> None:
    assert provides((module,), name)


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert not provides(("mesh_mod",), "get_last_halo")


@pytest.mark.parametrize("space", ["any_w2", "any_discontinuous_space_3", "w2broken"])
def test_spaces_that_metadata_allow_have_constants(space: str) -> None:
    assert spaces_meant(space)
    assert all(SPACES[name].constant for name in spaces_meant(space))


def test_what_is_imported_is_reserved() -> None:
    assert {"mesh_type", "basis", "w3", "field_proxy_type", "stencil_1dx"} <= abi.RESERVED
