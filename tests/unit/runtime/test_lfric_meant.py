"""What a routine takes its data for: kinds, spaces, meshes and numbers that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from psyclone_storage.base.compilers import find_fortran_compiler
from psyclone_storage.runtime.lfric import Field, FieldVector, Mesh, Operator
from psyclone_storage.runtime.lfric.meant import check_meant, check_vector
from psyclone_storage.runtime.ranks import SingleRank

pytestmark = pytest.mark.skipif(find_fortran_compiler() is None, reason="no compiler")


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return Mesh.planar((3, 3), layers=3, label="small", ranks=SingleRank())


def on(mesh: Mesh, name: str, label: str, **options: Any) -> Field:
    return Field(mesh.space(name, **options), label)


def test_what_fits_is_taken(mesh: Mesh) -> None:
    thin, other = mesh.extruded(layers=1), Mesh.planar((3, 3), ranks=SingleRank())
    matrix = Operator(mesh.space("W3"), mesh.space("W2"), "m")
    check_meant(
        (on(mesh, "W3", "a"), matrix, on(thin, "W3", "b", ndata=4), on(other, "W0", "c")),
        (
            "field mesh=1 space=1:w3",
            "operator mesh=1 to_space=1:w3 from_space=2:w2,w2h",
            "field surface=1 space=3 nlayers=1 ndata=4",
            "field mesh=2 space=4",
        ),
    )


def test_what_does_not_fit_is_refused(mesh: Mesh) -> None:
    twin = Mesh.planar((3, 3), layers=3, label="twin", ranks=SingleRank())
    a, wind, matrix = on(mesh, "W3", "a"), on(mesh, "W2", "u"), Operator(*[mesh.space("W3")] * 2)
    several, thin = on(mesh, "W3", "n", ndata=4), on(mesh.extruded("thin", layers=1), "W3", "t")
    field, operator = "field mesh=1 space=1", "operator mesh=1 to_space=1:w3 from_space=2"
    for data, words, error, match in (
        ([matrix], [field], TypeError, "An operator .* is passed where the invoke takes a field"),
        ([a], [operator], TypeError, "'a' is passed where the invoke takes an operator"),
        ([wind], [f"{field}:w3,wtheta"], ValueError, "'u' is on the space 'w2' .* W3 or WTHETA"),
        ([matrix], [f"{operator}:w2"], ValueError, "maps from the space 'w3' .* W2"),
        ([wind], [f"{field}:"], ValueError, "takes nothing that is both"),
        ([a, wind], [field] * 2, ValueError, "'u' is on .*'w2'.* 'a' is on .*'w3'.* on one space"),
        ([a, several], [field] * 2, ValueError, "'n' .* 4 values at a dof.*, 1 values"),
        ([a, on(twin, "W3", "b")], [field] * 2, ValueError, "'twin'.* 'small'.* on one mesh"),
        ([a, thin], [field] * 2, ValueError, "'thin'.* on one mesh"),
        (
            [a, on(twin, "W3", "b")], [field, "field surface=1 space=2"],
            ValueError, "over one horizontal mesh",
        ),
        ([a], [f"{field} nlayers=5"], ValueError, "'a' has 3 layers, .* takes 5"),
        ([a], [f"{field} ndata=2"], ValueError, "'a' has 1 values at a dof, .* takes 2"),
    ):  # fmt: skip
        with pytest.raises(error, match=match):
            check_meant(data, words)


def test_a_vector_has_the_fields_that_an_invoke_takes(mesh: Mesh) -> None:
    fields = [on(mesh, "W3", "a"), on(mesh, "W3", "b")]
    check_vector(fields, 2, "v")
    check_vector(FieldVector(fields), 2, "v")
    for count in (1, 3):
        with pytest.raises(ValueError, match=f"'v' has 2 fields: the invoke takes .* of {count}"):
            check_vector(FieldVector(fields), count, "v")
    for other in (fields[0], None, "ab", {0: fields[0], 1: fields[1]}):
        with pytest.raises(TypeError, match="'v' is no vector of fields"):
            check_vector(other, 2, "v")
