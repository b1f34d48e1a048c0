"""Meshes, spaces and fields of LFRic of a program that is alone, with an emulated device or not."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.base.compilers import NoCompilerError, find_fortran_compiler
from psyclone_storage.lfric import x_direction, y_direction
from psyclone_storage.runtime.lfric import (
    Field,
    FieldVector,
    Mesh,
    Operator,
    QuadratureEdge,
    QuadratureFace,
    QuadratureXYoZ,
    exchange,
    start_exchange,
)
from psyclone_storage.runtime.lfric import library as module
from psyclone_storage.runtime.lfric.library import InfrastructureLibrary, infrastructure
from psyclone_storage.runtime.ranks import SingleRank

pytestmark = pytest.mark.skipif(find_fortran_compiler() is None, reason="no compiler for Fortran")


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    gt.use_device("emulated")
    yield
    gt.use_device("auto")


@pytest.fixture(params=[None, "gpu"])
def device(request: pytest.FixtureRequest) -> str | None:
    """Return where fields are made: on the host, or with an emulated device beside it."""
    place: str | None = request.param
    return place


def plane(**options: Any) -> Mesh:
    return Mesh.planar((5, 4), **{"layers": 3, "ranks": SingleRank(), **options})


def library() -> InfrastructureLibrary:
    return infrastructure(SingleRank())


# -- meshes and spaces -----------------------------------------------------------------------------


def test_what_is_seen_is_the_memory_of_fortran() -> None:
    mesh = plane()
    space = mesh.space("W2")
    assert space is mesh.space("w2", (0, 0))
    assert space.dofmap.shape == (6, 20)
    assert space.dofmap is space.dofmap
    assert space.dofmap.flags.f_contiguous
    assert not space.dofmap.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        space.dofmap[0, 0] = 1
    # Cells share the dofs of their sides, layers follow each other in a column.
    east, west = space.dofmap[2], space.dofmap[0]
    beyond = mesh.cell_next[2]
    np.testing.assert_array_equal(east, west[beyond - 1])
    np.testing.assert_array_equal(space.dofmap[5], space.dofmap[4] + 1)
    assert space.undf == 20 * (3 * 2 + 4)


def test_what_is_looked_at_outlives_the_mesh() -> None:
    gc.collect()
    before = library().call("count_objects")
    mesh = plane()
    dofmap = mesh.space("w0").dofmap
    kept = np.array(dofmap)
    assert library().call("count_objects") == before + 3
    del mesh
    gc.collect()
    assert library().call("count_objects") == before + 3, "a mesh went with somebody looking at it"
    np.testing.assert_array_equal(dofmap, kept)
    del dofmap
    gc.collect()
    assert library().call("count_objects") == before


def test_a_handle_that_was_freed_is_refused() -> None:
    mesh = plane()
    space = mesh.space("w3")
    for held, name in ((space.held, "describe_space"), (mesh.held, "describe_mesh")):
        assert library().call("free", held.number) == 0
        assert library().call("free", held.number) != 0
        assert library().listed(name, held) == {}
    with pytest.raises(ValueError, match="it was freed"):
        space.stencil("cross", 1)
    with pytest.raises(ValueError, match="it was freed"):
        mesh.space("w0")
    for number in (0, -1, 1 << 40):
        assert library().call("free", number) != 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": 0}, "at least one layer"),
        ({"layers": -3}, "at least one layer"),
        ({"layers": 2**32 + 1}, "4294967297 is more than"),
        ({"top": 0.0}, "top is not above"),
        ({"top": float("nan")}, "top is not above"),
        ({"halo_depth": 0}, "at least one cell deep"),
        ({"extrusion": "cubic"}, "not 'cubic'"),
        ({"extrusion": (0.0, 0.5, 0.5, 1.0)}, "do not ascend"),
        ({"extrusion": (0.0, 1.0)}, "not those of 3 layers"),
        ({"tiles": (0, 1)}, "at least one cell"),
        ({"cells_together": 2}, "do not consist of squares of 2 x 2"),
        ({"cells_together": 0}, "stays together"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plane(**options)


def test_keywords_that_there_are_not_are_refused() -> None:
    with pytest.raises(TypeError, match=r"no keyword 'layer'.*'layers'"):
        plane(layer=20)
    with pytest.raises(TypeError, match=r"no keyword 'halo_dept'.*'halo_depth'"):
        Mesh.cubed_sphere(2, halo_dept=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"no keyword 'halo_depth'\. It takes 'bottom'"):
        plane().extruded(halo_depth=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ((0, 4), "at least one cell"),
        ((4, -1), "at least one"),
        ((99999, 99999), "32 bits"),
        ((2**32 + 3, 4), "32 bits"),
    ],
)
def test_planes_without_cells_or_with_too_many_are_refused(
    cells: tuple[int, int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Mesh.planar(cells, ranks=SingleRank())


def test_what_has_no_such_type_is_refused() -> None:
    for make in (
        lambda: plane(layers=2.5),
        lambda: plane(top="high"),
        lambda: plane(halo_depth=None),
        lambda: Mesh.planar((2.0, 3), ranks=SingleRank()),
        lambda: plane().space("w3", ndata=1.5),
        lambda: plane().space("w3").stencil("cross", 0.5),
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(ValueError, match="a radius"):
        Mesh.cubed_sphere(2, ranks=SingleRank())


def test_what_is_something_else_is_refused_in_words() -> None:
    mesh = plane()
    space = mesh.space("w3")
    for make, words in (
        (lambda: Mesh.planar((4,)), r"cells in x and y are two values.*not \(4,\)"),
        (lambda: Mesh.planar(4), "cells in x and y are two values.*not 4"),
        (lambda: mesh.space(3), "has a name, as 'W3', not 3"),
        (lambda: mesh.space("w3", 1.5), "Orders, .*not 1.5"),
        (lambda: Field("w3"), "A field is on a function space"),
        (lambda: Operator(space, "w3"), "maps from and to a function space.*not 'w3'"),
        (lambda: Field(space, dtype="r_foo"), "'r_foo' is neither a kind of LFRic"),
    ):
        with pytest.raises(TypeError, match=words):
            make()


def test_spaces_that_there_are_not_are_refused() -> None:
    mesh = plane()
    for name in ("w4", "", "w", "w2 "):
        with pytest.raises(ValueError, match="no function space"):
            mesh.space(name)
    with pytest.raises(ValueError, match="order"):
        mesh.space("w3", -1)
    with pytest.raises(ValueError, match="order"):
        mesh.space("w3", (0, 99))
    with pytest.raises(ValueError, match="at least one value"):
        mesh.space("w3", ndata=0)
    with pytest.raises(ValueError, match="32 bits"):
        mesh.space("w3", ndata=1 << 30)


def test_a_message_of_the_library_has_an_end() -> None:
    message = ctypes.create_string_buffer(b"x" * 255)
    number = ctypes.c_int64()
    levels = (ctypes.c_double * 1)()
    tiles = (ctypes.c_int * 2)(1, 1)
    failed = library().call(
        "new_mesh", 10**9, 1, 0.0, 1.0, 1, levels, tiles, ctypes.byref(number), message
    )
    assert failed
    assert message.value == b"there is no such horizontal mesh: it was freed"


def test_columns_over_one_horizontal_mesh() -> None:
    mesh = plane(extrusion="quadratic", tiles=(2, 2))
    flat = mesh.extruded(layers=1, extrusion="uniform")
    assert (flat.nlayers, mesh.nlayers) == (1, 3)
    np.testing.assert_allclose(mesh.eta, (np.arange(4) / 3) ** 2)
    assert flat.columns.tiles == (2, 2)
    np.testing.assert_array_equal(mesh.map_to(flat).cells.ravel(), np.arange(1, 21))
    assert mesh.tile_map.shape[2] == 4
    given = mesh.extruded(extrusion=[0.0, 0.1, 1.0])
    assert given.nlayers == 2
    np.testing.assert_array_equal(given.eta, [0.0, 0.1, 1.0])


def test_cells_of_nested_meshes_are_mapped() -> None:
    coarse = Mesh.planar((3, 2), ranks=SingleRank())
    fine = Mesh.planar((6, 4), cells_together=2, ranks=SingleRank())
    down = coarse.map_to(fine)
    assert (down.ncell_per_x, down.ncell_per_y) == (2, 2)
    assert sorted(down.cells.ravel()) == list(range(1, 25))
    up = fine.map_to(coarse).cells
    for cell in range(6):
        assert (up[0, 0, down.cells[:, :, cell] - 1] == cell + 1).all()
    assert coarse.map_to(fine) is down
    with pytest.raises(ValueError, match="not nested"):
        coarse.map_to(plane())
    with pytest.raises(ValueError, match="not nested"):
        coarse.map_to(Mesh.cubed_sphere(3, bottom=1.0, ranks=SingleRank()))


def test_a_sphere_has_its_radius() -> None:
    mesh = Mesh.cubed_sphere(3, layers=2, bottom=10.0, top=1.0, ranks=SingleRank())
    assert mesh.ncells_global == 54
    radii = np.linalg.norm(mesh.space("w0").coordinates(), axis=0)
    np.testing.assert_allclose(np.unique(np.round(radii, 9)), [10.0, 10.5, 11.0])


def test_stencils_and_their_sizes() -> None:
    bounded = plane(periodic=(False, False))
    stencil = bounded.space("w3").stencil("cross", 1)
    assert stencil.size == 5
    assert sorted(set(stencil.sizes)) == [3, 4, 5]
    arms = plane().space("w3").stencil("cross2d", 2)
    assert arms.dofmap.shape == (1, 3, 4, 20)
    assert (arms.sizes == 3).all()
    assert plane().space("w3").stencil("point", 0).dofmap.shape == (1, 1, 20)
    space = plane().space("w3")
    assert space.stencil("x1d", 1) is space.stencil("x1d", 1)
    for shape, extent in (("star", 1), ("cross", -1), ("region", 1 << 20)):
        with pytest.raises(ValueError, match=r"stencil"):
            space.stencil(shape, extent)


def test_basis_functions_at_the_points_of_quadratures() -> None:
    space = plane().space("w2", 1)
    volume = QuadratureXYoZ(3)
    basis, derivatives = space.basis(volume), space.diff_basis(volume)
    assert basis.shape == (3, space.ndf, 9, 3)
    assert derivatives.shape == (1, space.ndf, 9, 3)
    assert space.basis(QuadratureXYoZ(3, 3, 3)) is basis
    assert volume.weights_xy.sum() * volume.weights_z.sum() == pytest.approx(1.0)
    # What flows out through the faces is what the divergence says.
    inside = np.einsum("dfhv,h,v->f", derivatives, volume.weights_xy, volume.weights_z)
    faces = QuadratureFace(3)
    normals = plane().reference_element.outward_normals_to_faces
    through = np.einsum("dfpn,dn,pn->f", space.basis(faces), normals, faces.weights_xyz)
    np.testing.assert_allclose(inside, through, atol=1e-12)
    assert QuadratureEdge(2, "vertical").points_xyz.shape == (3, 2, 4)
    assert QuadratureFace(2, 1, "vertical").points_xyz.shape == (3, 2, 2)
    scalars = plane().space("w0")
    np.testing.assert_allclose(scalars.basis(scalars)[0], np.eye(8), atol=1e-14)


def test_quadratures_that_there_are_not_are_refused() -> None:
    for words, make in (
        ("not 'simpson'", lambda: QuadratureXYoZ(2, rule="simpson")),
        ("so few points", lambda: QuadratureXYoZ(2, 1, rule="gauss_lobatto")),
        ("at least one point", lambda: QuadratureFace(0)),
        ("at least one point", lambda: QuadratureXYoZ(2, -1)),
        ("'all', 'horizontal'", lambda: QuadratureEdge(2, "upper")),
    ):
        with pytest.raises(ValueError, match=words):
            make()


def test_without_a_compiler_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_LIBRARIES", str(tmp_path))
    unkept = module._library.__wrapped__
    monkeypatch.setattr(module, "find_fortran_compiler", lambda: None)
    with pytest.raises(NoCompilerError, match=r"Install gfortran.*in the variable FC"):
        unkept()
    broken = tmp_path / "f90"
    broken.write_text("#!/bin/sh\necho warning >&2; echo Error: no room >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(module, "find_fortran_compiler", lambda: broken)
    with pytest.raises(NoCompilerError, match=r"did not compile LFRic's infrastructure: Error: no"):
        unkept()
    assert list(tmp_path.iterdir()) == [broken]


def test_threads_make_meshes_at_once() -> None:
    def work(number: int) -> tuple[int, int]:
        mesh = Mesh.planar((3 + number % 3, 4), layers=2, ranks=SingleRank())
        space = mesh.space("w0")
        return number, space.undf - space.ndof_global + int(space.stencil("cross", 1).sizes[0])

    with ThreadPoolExecutor(8) as pool:
        assert all(found == 5 for _, found in pool.map(work, range(64)))


# -- fields ----------------------------------------------------------------------------------------


def test_flags_are_those_of_lfric() -> None:
    field = Field(plane().space("w0"), "f", halo_depth=2)
    assert field.is_dirty(1)
    field.set_clean(0)
    assert field.is_dirty(1)
    field.set_clean(1)
    assert not field.is_dirty(1)
    assert field.is_dirty(2)
    field.exchange(2)
    assert not field.is_dirty(2)
    field.set_dirty()
    assert field.is_dirty(1)
    for depth in (0, 3, -1):
        for ask in (field.is_dirty, field.exchange, field.start_exchange):
            with pytest.raises(ValueError, match="'f' is 2 deep"):
                ask(depth)
    with pytest.raises(ValueError, match="2 deep"):
        Field(plane().space("w0"), halo_depth=3)


def test_values_come_from_numbers_places_and_arrays(device: str | None) -> None:
    space = plane(device=device).space("w3")
    assert not Field(space).values.any()
    np.testing.assert_array_equal(Field(space, values=2.5).values, 2.5)
    numbers = np.arange(60.0)
    field = Field(space, values=numbers)
    np.testing.assert_array_equal(field.gather(), numbers)
    assert field.sum() == field.sum(reproducible=True) == numbers.sum()
    assert (field.min(), field.max()) == (0.0, 59.0)
    heights = Field(space, values=lambda *place: place[2]).values
    np.testing.assert_allclose(np.unique(heights), np.array([1, 3, 5]) / 6)
    with pytest.raises(ValueError, match=r"not over the 60 dofs of the space 'w3'"):
        Field(space, values=np.zeros(59))


def test_types_are_those_of_lfric() -> None:
    space = plane().space("w3")
    assert Field(space, dtype="r_solver").dtype == np.float32
    whole = Field(space, values=np.arange(60), dtype="i_def")
    assert (whole.dtype, whole.sum()) == (np.int32, 1770)
    most = Field(space, values=2**31 - 1, dtype="i_def")
    assert most.sum() == most.sum(reproducible=True) == 60 * (2**31 - 1)
    assert most.max() == 2**31 - 1
    for kind in ("r_none", np.complex128, bool, "f2"):
        with pytest.raises(TypeError):
            Field(space, dtype=kind)


def test_sums_have_no_rounding_and_know_what_is_not_finite() -> None:
    space = plane().space("w3")
    values = np.zeros(60)
    values[:3] = 1e100, 1.0, -1e100
    field = Field(space, values=values)
    assert field.sum(reproducible=True) == 1.0
    assert field.inner_product(Field(space, values=1.0), reproducible=True) == 1.0
    values[5] = np.inf
    assert Field(space, values=values).sum(reproducible=True) == np.inf
    values[6] = -np.inf
    assert np.isnan(Field(space, values=values).sum(reproducible=True))
    with pytest.raises(ValueError, match="different spaces"):
        field.inner_product(Field(plane().space("w3")))


def test_a_field_on_the_device_is_reduced_there() -> None:
    field = Field(plane(device="gpu").space("w0"), values=lambda *place: place[0] + place[2])
    with field.storage.access("gpu", gt.RDWR) as array:
        array[...] = array * 2.0
    field.exchange()
    assert field.max() == 2 * (4.0 + 1.0)
    assert not field.storage.is_current(None)


def test_exchanges_under_way_guard_their_fields() -> None:
    mesh = plane()
    one, two = (Field(mesh.space(name), name) for name in ("w0", "w3"))
    started = start_exchange([one, two])
    for ask in (one.exchange, one.check_idle, two.start_exchange, lambda: pickle.dumps(two)):
        with pytest.raises(RuntimeError, match="has not been finished"):
            ask()
    one.finish_exchange()
    assert not one.is_dirty()
    assert not two.is_dirty()
    started.finish()
    with pytest.raises(RuntimeError, match="'w0' has no exchange"):
        one.finish_exchange()
    one.start_exchange()
    one.storage[...] = 3.0
    one.set_dirty()
    with pytest.raises(RuntimeError, match="'w0' was written while"):
        one.finish_exchange()
    assert one.is_dirty()
    one.exchange()


def test_several_fields_are_exchanged_together() -> None:
    mesh = plane()
    fields = [Field(mesh.space(name), halo_depth=2) for name in ("w0", "w0", "w3")]
    exchange(fields, [1, 2, 1])
    assert [field.is_dirty(2) for field in fields] == [True, False, True]
    exchange([], 1)
    exchange([fields[0], fields[0]], [1, 2])
    assert not fields[0].is_dirty(2)
    with pytest.raises(ValueError, match="shorter"):
        exchange(fields, [1, 2])
    fields[2].set_dirty()
    exchange(fields, 1, only_dirty=True)
    assert not fields[2].is_dirty(1)


def test_pickles_hold_all_that_a_restart_needs(device: str | None) -> None:
    mesh = Mesh.planar((5, 4), layers=3, device=device)
    space = mesh.space("w2", ndata=2)
    field = Field(space, "u", values=np.arange(space.ndof_global), dtype="r_tran", halo_depth=2)
    field.exchange(1)
    matrix = Operator(mesh.space("w3"), mesh.space("w2"), "div")
    matrix.storage[...] = np.arange(matrix.storage.size).reshape(matrix.storage.shape)
    read, other = pickle.loads(pickle.dumps((field, matrix)))
    np.testing.assert_array_equal(read.storage.data_ro, field.storage.data_ro)
    np.testing.assert_array_equal(other.storage.data_ro, matrix.storage.data_ro)
    assert other.storage.strides == matrix.storage.strides
    assert read.mesh is other.mesh
    assert (read.label, read.dtype, read.halo_depth, read.space.ndata) == ("u", np.float32, 2, 2)
    assert not read.is_dirty(1)
    assert read.is_dirty(2)
    assert read.storage.device == device
    copied = copy.deepcopy(field)
    assert copied.space is field.space
    copied.storage[...] = 0
    assert field.storage.data_ro.any()


def test_meshes_that_are_pickled_together_stay_together() -> None:
    mesh = Mesh.planar((5, 4), layers=3)
    one, two = (Field(some.space("w3"), "u") for some in (mesh, mesh.extruded(layers=1)))
    read, flat = pickle.loads(pickle.dumps((one, two)))
    assert read.mesh.surface is flat.mesh.surface
    np.testing.assert_array_equal(read.mesh.map_to(flat.mesh).cells.ravel(), np.arange(1, 21))
    with pytest.raises(ValueError, match=r"two meshes\. Pickle together"):
        one.inner_product(read)


def test_pickles_of_another_part_of_a_mesh_are_refused() -> None:
    mesh = Mesh.planar((5, 4))
    for thing, part in (
        (Field(mesh.space("w3")), "ids"),
        (Operator(*[mesh.space("w3")] * 2), "cells"),
    ):
        state = thing.__getstate__()
        state[part] = state[part][::-1]
        with pytest.raises(ValueError, match="another part"):
            thing.__setstate__(state)


def test_operators_are_matrices_of_cells() -> None:
    mesh = plane()
    operator = Operator(mesh.space("w3"), mesh.space("w2"), dtype="r_solver")
    assert operator.storage.shape == (60, 1, 6)
    assert operator.storage.dtype == np.float32
    assert operator.storage.strides == (4, 240, 240)
    with pytest.raises(ValueError, match="two meshes"):
        Operator(mesh.space("w3"), plane().space("w3"))


def test_vectors_are_sequences() -> None:
    fields = [Field(plane().space("wchi"), name) for name in "xyz"]
    vector = FieldVector(fields, "chi")
    assert (len(vector), vector[1], list(vector)) == (3, fields[1], fields)
    assert list(vector[1:]) == fields[1:]
    with pytest.raises(ValueError, match="at least one"):
        FieldVector([])


def test_what_takes_fields_says_what_it_is_given() -> None:
    mesh = Mesh.planar((3, 4), layers=2, label="flat")
    field, other = Field(mesh.space("w3"), "p"), Field(mesh.space("w3"))
    assert repr(field) == "<Field 'p' on the space 'w3' on the mesh 'flat'>"
    assert repr(other) == "<Field on the space 'w3' on the mesh 'flat'>"
    assert repr(mesh) == "<Mesh 'flat' of (3, 4) cells and 2 layers>"
    assert repr(mesh.space("w3")) == "<FunctionSpace 'w3' on the mesh 'flat'>"
    wrong: Any = [field, mesh]
    for call, what in (
        (lambda: exchange(wrong), "An exchange takes fields, not <Mesh"),
        (lambda: exchange(wrong[0]), "An exchange takes several fields: give it '.field.'"),
        (lambda: FieldVector(wrong), "A vector takes fields, not <Mesh"),
        (lambda: field.inner_product(wrong[1]), "An inner product takes fields, not <Mesh"),
        (lambda: Field(wrong[0]), "on a function space, .* not <Field 'p'"),
    ):
        with pytest.raises(TypeError, match=what):
            call()
    with pytest.raises(ValueError, match="not 'cuda'"):
        Mesh.planar((3, 3), device="cuda")


def test_fields_are_arrays_with_coordinates() -> None:
    pytest.importorskip("xarray")
    field = Field(plane().space("w3"), "p", values=lambda *at: at[0] + 10 * at[1])
    shown = field.to_xarray()
    assert (shown.name, shown.dims) == ("p", ("dof",))
    np.testing.assert_allclose(shown.x + 10 * shown.y, shown.to_numpy())
    np.testing.assert_array_equal(shown.global_dof, np.arange(60))
    np.testing.assert_array_equal(np.asarray(field.storage)[:60], field.values)


def test_the_direction_of_a_stencil_is_that_of_x_or_y() -> None:
    space = plane().space("w3")
    for direction, word in ((x_direction, "x1d"), (y_direction, "y1d")):
        line, named = space.stencil(direction, 1), space.stencil(word, 1)
        np.testing.assert_array_equal(line.dofmap, named.dofmap)
    for other in (0, 3, -1, 1.5):
        with pytest.raises(ValueError, match=r"x_direction .* or y_direction"):
            space.stencil(other, 1)
