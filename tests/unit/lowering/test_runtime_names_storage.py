"""The contract between the names of storages and the Fortran that generated code links with."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from psyclone_storage.lowering import runtime_names_registry as registry
from psyclone_storage.lowering import runtime_names_storage as abi_storage
from psyclone_storage.targets.lfric_storage import abi as lfric

EXTERNAL = Path(__file__).parents[3] / "external"
TYPES = [
    "lfric_infrastructure/field/field_real64_mod.f90",
    "lfric_infrastructure/field/field_real32_mod.f90",
    "lfric_infrastructure/field/integer_field_mod.f90",
    "lfric_infrastructure/operator/operator_real64_mod.f90",
    "lfric_infrastructure/operator/operator_real32_mod.f90",
    "lfric_infrastructure/operator/columnwise_operator_mod.f90",
    "gocean_infrastructure/field_mod.f90",
]
PARENTS = [
    "lfric_infrastructure/field/field_parent_mod.f90",
    "lfric_infrastructure/operator/operator_parent_mod.f90",
    "gocean_infrastructure/field_mod.f90",
]


@cache
def fortran(path: str) -> str:
    """Return the Fortran of a file, in lower case, without comments."""
    return re.sub(r"!.*", "", (EXTERNAL / path).read_text(encoding="utf-8")).lower()


@pytest.mark.parametrize("path", TYPES)
def test_what_has_values_is_acquired(path: str) -> None:
    found = re.search(rf"subroutine {abi_storage.ACQUIRE}\(self, (.*?)\)", fortran(path))
    assert found is not None
    assert found[1].startswith("space, access, values")
    if path.startswith("lfric"):
        assert found[1].endswith(f", {lfric.MAY_SHARE}")


@pytest.mark.parametrize("path", PARENTS)
@pytest.mark.parametrize("name", [abi_storage.RELEASE, abi_storage.PREFETCH])
def test_it_is_released_and_brought_early(path: str, name: str) -> None:
    assert f"subroutine {name}(self, space)" in fortran(path)


def test_marks_are_the_fields_own() -> None:
    assert f"subroutine {lfric.SET_HALO_DIRTY}(self)" in fortran(PARENTS[0])


def test_who_starts_an_exchange_may_move_parts_alone() -> None:
    assert f"halo_exchange_start(self, depth, {lfric.BY_PARTS})" in fortran(PARENTS[0])
    joint = fortran("lfric_infrastructure/field/joint_exchange_mod.f90")
    assert f"subroutine start(self, proxies, depths, {lfric.BY_PARTS})" in joint


@pytest.mark.parametrize(
    "word",
    [
        *abi_storage.SPACES.values(),
        abi_storage.READ,
        abi_storage.WRITE,
        abi_storage.READ_WRITE,
    ],
)
def test_words_are_those_of_the_library(word: str) -> None:
    text = fortran("storage/storage_constants_mod.f90")
    assert f"module {abi_storage.WORDS_MODULE}" in text
    assert re.search(rf"\b{word} = \d", text)


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        (lfric.ACQUIRE_TABLE, "array, space, values, alike"),
        (lfric.RELEASE_TABLE, "array, space, alike"),
        (lfric.FORGET_TABLE, "array, unless_told"),
    ],
)
@pytest.mark.parametrize("kind", ["int32", "real32", "real64", "logical"])
@pytest.mark.parametrize("rank", range(1, 5))
def test_tables_have_all_types_and_dimensions(name: str, takes: str, kind: str, rank: int) -> None:
    text = fortran(f"storage/{lfric.TABLES_MODULE}.f90")
    specific = f"{name.removesuffix('_table')}_{kind}_{rank}"
    assert f"interface {name}" in text
    assert f"subroutine {specific}({takes})" in text
    assert len(re.findall(rf"\b{specific}\b", text)) == 3


@pytest.mark.parametrize("kind", ["real64_1", "real64_2", "real64_3", "real32_1", "int32_2"])
def test_the_registry_has_what_is_asked_of_it(kind: str) -> None:
    files = (f"{registry.MODULE}.f90", "wrapped_array_kinds.inc", "wrapped_array_mod.f90")
    text = "".join(fortran(f"storage/{name}") for name in (*files, "wrapped_array_windows.inc"))
    assert f"  public :: {registry.STORAGE.name}\n" in text
    assert f"type, public, extends(monitored_storage_type) :: {registry.STORAGE.name}\n" in text
    assert f"interface {registry.STORAGE_OF}\n" in text
    assert f"function storage_{kind}(values)" in text
    found = re.search(rf"subroutine {abi_storage.ACQUIRE}_{kind}\(self, (.*?)\)", text)
    assert found is not None
    assert found[1] == f"space, access, values, {registry.MAY_SHARE}"
    assert f"subroutine {abi_storage.RELEASE}(self, space, stay)" in text
    assert f"subroutine {abi_storage.PREFETCH}(self, space, stay)" in text
    assert f"subroutine {registry.BEGIN_EXCHANGE}(self, inner, depth, needed)" in text
    assert f"subroutine {registry.END_EXCHANGE}(self, messages, bytes, stay)" in text
