"""Exchange fields of LFRic in every way, on any number of ranks.

    mpirun -n 4 python exchanges.py

Each dof has a value that is derived from its global number; halos are NaN until they are exchanged.
It stops at the first wrong value, and prints sums that do not depend on the ranks.
"""

from __future__ import annotations

import math
import pickle
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from psyclone_storage import storage as gt
from psyclone_storage.runtime.lfric import Field, Mesh, exact_sum, exchange, start_exchange
from psyclone_storage.runtime.lfric.exchange import JointMessages
from psyclone_storage.runtime.ranks import MpiRanks
from psyclone_storage.storage.core.stats import GLOBAL_STATS
from psyclone_storage.storage.interop.mpi import takes_devices

SPACES = (("w0", 0), ("w1", 0), ("w2", 1), ("w3", 1), ("wtheta", 0), ("w2broken", 0))
SCALE = 0.1


def expected(field: Field) -> np.ndarray:
    """Return the values of all dofs of this rank, as their owners have them."""
    ids = field.space.global_dof_ids
    return (np.sin(SCALE * ids) * 10.0 ** (ids % 7)).astype(field.dtype)


def started(field: Field) -> Field:
    """Return a field whose owned dofs have values, and whose halo is NaN."""
    owned = field.space.last_dof_owned
    with field.storage.access(None, gt.RDWR) as array:
        array[:owned] = expected(field)[:owned]
        array[owned:] = np.nan
    field.set_dirty()
    return field


def check(field: Field, depth: int) -> None:
    """See that the halo is filled to a depth, and no further."""
    filled = field.space.last_dof_halo(depth)
    values = np.array(field.storage.data_ro)
    np.testing.assert_array_equal(values[:filled], expected(field)[:filled])
    assert np.isnan(values[filled:]).all(), "an exchange went beyond its depth"
    assert not field.is_dirty(depth)
    assert depth == field.halo_depth or field.is_dirty(depth + 1)


def exchange_alone(mesh: Mesh, dtype: str) -> None:
    """Exchange one field after the other, to all depths, in one step and in two."""
    for name, order in SPACES:
        field = Field(mesh.space(name, order), name, dtype=dtype, halo_depth=mesh.halo_depth)
        for depth in range(1, mesh.halo_depth + 1):
            started(field).exchange(depth)
            check(field, depth)
            started(field).start_exchange(depth)
            field.finish_exchange()
            check(field, depth)


def exchange_together(mesh: Mesh) -> None:
    """Exchange fields of several spaces, depths and types; two exchanges are under way at once."""
    spaces = [mesh.space(name, order, ndata=2) for name, order in SPACES]
    fields = [started(Field(space, halo_depth=2, dtype="r_def")) for space in spaces]
    fields += [started(Field(space, halo_depth=2, dtype="r_solver")) for space in spaces[:2]]
    depths = [1 + number % 2 for number in range(len(fields))]
    exchange(fields, depths)
    for field, depth in zip(fields, depths, strict=True):
        check(field, depth)
    first, second = (list(map(started, half)) for half in (fields[:3], fields[3:]))
    one, two = start_exchange(first, 1), start_exchange(second, 2)
    two.finish()
    one.finish()
    for field in first:
        check(field, 1)
    for field in second:
        check(field, 2)


def have_values_where_others_own(mesh: Mesh) -> None:
    """See that new fields have their values at annexed dofs and in the halo, too."""
    for name, order in SPACES:
        space = mesh.space(name, order)
        every = np.arange(space.ndof_global) + 1.0
        made = Field(space, values=every, halo_depth=2)
        np.testing.assert_array_equal(made.storage.data_ro, every[space.global_dof_ids])
        made = Field(space, values=3.0, halo_depth=2)
        assert (np.array(made.storage.data_ro) == 3.0).all()
        # A dof on the seam has one place, that of its owner, on all ranks.
        made = Field(space, values=lambda x, y, z: x + 10.0 * y + 100.0 * z, halo_depth=2)
        filled = space.last_dof_halo(2)
        values = np.array(made.storage.data_ro)
        assert made.is_dirty(1)
        made.exchange(2)
        np.testing.assert_array_equal(values[:filled], np.array(made.storage.data_ro)[:filled])


def interiors_touch_no_other_rank(told_apart: bool) -> None:
    """See that all around inner cells are owned, as far as they are said to be deep, and no others.

    Without inner halos nothing is known to be deeper than 1.
    """
    mesh = Mesh.planar((9, 8), halo_depth=3, generate_inner_halos=told_apart)
    owned = mesh.last_edge_cell
    for depth in range(1, 4):
        around = mesh.stencil("region", depth).cells[:, :owned]
        within = (around <= owned).all(axis=0)
        last = mesh.last_inner_cell(depth)
        assert within[:last].all(), "an interior looks at cells of other ranks"
        assert last == (within.sum() if told_apart or depth == 1 else 0)


def exchange_over_meshes(mesh: Mesh) -> None:
    """Exchange fields of several meshes together, one of other ranks with them, and a copy."""
    flat = mesh.extruded(layers=1)
    half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2, MPI.COMM_WORLD.rank)
    apart = Mesh.planar((5, 6), layers=2, ranks=MpiRanks(half))
    fields = [started(Field(one.space("w0"))) for one in (mesh, flat, apart)]
    kept = pickle.loads(pickle.dumps(fields[0]))
    assert kept.mesh is not mesh
    exchange([*fields, kept])
    for field in (*fields, kept):
        check(field, 1)
    pickled = pickle.dumps(fields[0])
    copied = pickle.loads(pickled)
    check(copied, 1)


def exchange_after_failures(mesh: Mesh) -> None:
    """See that an exchange that fails half-way, at its start or its end, can be done again."""
    if mesh.ranks.size == 1:
        return
    fields = [started(Field(mesh.space("w0"), dtype=dtype)) for dtype in ("r_def", "r_solver")]
    for way in ("start", "finish"):
        real = getattr(JointMessages, way)

        def fail(messages: JointMessages, storages: list, real: Any = real) -> None:
            if storages[0].dtype == np.float32:
                raise RuntimeError("no more memory")
            real(messages, storages)

        under_way = start_exchange(fields) if way == "finish" else None
        setattr(JointMessages, way, fail)
        try:
            under_way.finish() if under_way else exchange(fields)
        except RuntimeError:
            pass
        else:
            raise AssertionError("a failure was swallowed")
        setattr(JointMessages, way, real)
        assert all(field.is_dirty(1) for field in fields)
        under_way.finish() if under_way else exchange(fields)
        for field in fields:
            check(field, 1)
            started(field)


def refuse_what_differs(mesh: Mesh) -> None:
    """See that all ranks are told if they do not make, or first exchange, the same."""
    ranks = mesh.ranks
    if ranks.size == 1:
        return
    space = mesh.space("wtheta", ndata=5)
    cells, depth, name = ((8, 6), 1, "w3") if ranks.rank else ((6, 8), 2, "w3")
    wrong = mesh.space("w0", ndata=3) if ranks.rank == ranks.size - 1 else space
    for words, work in (
        ("makes a mesh of", lambda: Mesh.planar(cells)),
        ("exchanges", lambda: Field(mesh.space(name, ndata=4), halo_depth=2).exchange(depth)),
        ("exchanges", Field(wrong).exchange),
    ):
        try:
            work()
        except ValueError as error:
            assert words in str(error)  # noqa: PT017 - no pytest on ranks
        else:
            raise AssertionError(f"nobody was told: {words}")
    exchange([started(Field(space))])


def exchange_on_device(mesh: Mesh) -> None:
    """Exchange fields that a device has: no more than strips is moved."""
    fields = [started(Field(mesh.space(name), halo_depth=2)) for name in ("w0", "w2")]
    for field in fields:
        with field.storage.access("gpu", gt.RDWR) as array:
            array[...] = array * 1.0
    moved = [field.storage.buffer.stats.nbytes for field in fields]
    exchange(fields, 2)  # brings the places of dofs
    for field in fields:
        field.set_dirty()
    before = GLOBAL_STATS.count
    exchange(fields, 2)
    routing = fields[0].space.routing(2)
    by_way_of_host = 0 if takes_devices() else len(routing.sent) + len(routing.received)
    assert GLOBAL_STATS.count - before == by_way_of_host
    assert [field.storage.buffer.stats.nbytes for field in fields] == moved
    for field in fields:
        assert mesh.ranks.size == 1 or not field.storage.is_current(None)
        check(field, 2)


def main() -> None:
    """Exchange on planes and a sphere, and print sums."""
    gt.use_device("emulated")
    plane = Mesh.planar((9, 8), layers=3, halo_depth=3)
    bounded = Mesh.planar((6, 12), layers=2, periodic=(False, True))
    for mesh in (plane, bounded, Mesh.cubed_sphere(4, layers=2, bottom=10.0)):
        exchange_alone(mesh, "r_def")
    exchange_alone(bounded, "r_solver")
    exchange_together(plane)
    have_values_where_others_own(plane)
    for told_apart in (True, False):
        interiors_touch_no_other_rank(told_apart)
    exchange_over_meshes(plane)
    exchange_after_failures(plane)
    refuse_what_differs(plane)
    exchange_on_device(Mesh.planar((12, 12), layers=4, device="gpu"))
    field = started(Field(plane.space("w2")))
    answers = (
        field.sum(reproducible=True),
        field.inner_product(field, reproducible=True),
        field.min(),
        field.max(),
        float(exact_sum(plane.ranks, np.array([plane.ranks.rank == 0], float) * math.pi)),
    )
    told = " ".join(one.hex() for one in answers)
    gathered = field.gather()
    assert (gathered is not None) == (plane.ranks.rank == 0)
    for cells in ((1, 1), (2, 1)):
        if cells[0] * cells[1] < plane.ranks.size:
            try:
                Mesh.planar(cells)
            except ValueError as error:
                assert "ranks can have it" in str(error)  # noqa: PT017 - no pytest on ranks
            else:
                raise AssertionError("a mesh has been cut into more parts than it has cells")
    sys.stdout.write(f"rank {MPI.COMM_WORLD.rank} of {MPI.COMM_WORLD.size}: {told}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
