"""Kernels printed as C are bit-for-bit identical to the results of gfortran."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from printed_bodies import GOOD, Bodies, Printed, checked
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.sources.files import read_source
from random_bodies import module as random_module

pytestmark = pytest.mark.fortran

HERE = Path(__file__).parent
CORPUS = HERE.parent / "corpus"
EXTERNAL = HERE.parents[1] / "external"
CONSTRUCTS = HERE / "printed" / "constructs_mod.f90"


@pytest.fixture(autouse=True)
def c_compiler() -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")


def printed(bodies: Bodies, kernels: list[tuple[SourceText, str]]) -> list[Printed]:
    found = [bodies.printed(source, name, f"k{place}")
             for place, (source, name) in enumerate(kernels)]  # fmt: skip
    assert all(isinstance(item, Printed) for item in found), found
    return [item for item in found if isinstance(item, Printed)]


def check(kernels: list[Printed], folder: Path) -> dict[str, str]:
    """Return what is wrong with kernels that are not equal, by their names."""
    ends = {kernel.name: answer for kernel, answer in checked(kernels, folder)}
    assert len(ends) == len(kernels)
    return {name: answer for name, answer in ends.items() if answer}


@pytest.mark.parametrize("name", sorted(subroutine_names(read_source(CONSTRUCTS))))
def test_a_construct(name: str, constructs: dict[str, str]) -> None:
    assert constructs.get(name, "") == ""


@pytest.fixture(scope="module")
def constructs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what is wrong with constructs; all are compiled together."""
    source = read_source(CONSTRUCTS)
    kernels = [(source, name) for name in sorted(subroutine_names(source))]
    bodies = Bodies([CONSTRUCTS.parent])
    return check(printed(bodies, kernels), tmp_path_factory.mktemp("constructs"))


@pytest.mark.parametrize("seed", [0, 1])
def test_random_statements(seed: int, tmp_path: Path) -> None:
    source = SourceText("random_mod.f90", random_module(seed, 12, 25))
    kernels = [(source, f"body{number}") for number in range(12)]
    assert check(printed(Bodies([]), kernels), tmp_path) == {}


@pytest.mark.parametrize(
    ("corpus", "interfaces", "number"),
    [("gocean", "gocean_infrastructure", 20), ("lfric", "lfric_infrastructure", 114)],
)
def test_the_corpus(corpus: str, interfaces: str, number: int, tmp_path: Path) -> None:
    bodies = Bodies([CORPUS / corpus / "kernels", EXTERNAL / interfaces])
    kernels = printed(bodies, list(bodies.kernels()))
    assert len(kernels) >= number
    bad = check(kernels, tmp_path)
    assert set(bad.values()) <= GOOD - {"no valid input"}
