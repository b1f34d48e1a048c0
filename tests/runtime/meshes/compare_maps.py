"""Compare meshes and spaces with what `print_maps` has written of them, on as many ranks.

    mpirun -n 4 python compare_maps.py

It stops at the first difference, and prints how many arrays are equal, to the bit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from psyclone_storage.runtime.lfric import (
    Field,
    FunctionSpace,
    Mesh,
    QuadratureFace,
    QuadratureXYoZ,
    held,
)

# Spaces by the numbers that the program writes.
SPACES = {1: "w0", 2: "w1", 3: "w2", 6: "w2broken", 10: "w2htrace", 11: "w3", 12: "wtheta"}
CASES = [*((number, 0) for number in SPACES), (3, 1), (1, 1)]
STENCILS = (("x1d", 1), ("cross", 1), ("region", 1), ("cross2d", 2))


def arrays_of_mesh(mesh: Mesh) -> Iterator[tuple[str, Any]]:
    """Yield what a mesh is, by the names that the program writes."""
    depths = range(1, 4)
    yield (
        "counts",
        [
            mesh.ncells_2d,
            mesh.ncells_2d_with_ghost,
            mesh.last_edge_cell,
            mesh.ncolours,
            mesh.ntilecolours,
        ],
    )
    yield "halo", [mesh.last_halo_cell(depth) for depth in depths]
    yield "inner", [mesh.last_inner_cell(depth) for depth in depths]
    yield "colours", mesh.colour_map
    yield "tiles", mesh.tile_map
    yield "edge_of_colours", mesh.last_edge_cells_of_colours
    yield "halo_of_colours", mesh.last_halo_cells_of_colours
    yield "halo_of_tiles", mesh.last_halo_cells_of_tiles
    yield "ids", mesh.global_cell_ids
    yield "eta", mesh.eta
    for number, order in CASES:
        space = mesh.space(SPACES[number], order)
        for name, values in arrays_of_space(space):
            yield f"space{number}_{order}/{name}", values


def arrays_of_space(space: FunctionSpace) -> Iterator[tuple[str, Any]]:
    """Yield what a space is, by the names that the program writes."""
    yield (
        "counts",
        [
            space.ndf,
            space.undf,
            space.ndof_global,
            space.last_dof_owned,
            space.last_dof_annexed,
        ],
    )
    yield "halo", [space.last_dof_halo(depth) for depth in range(1, 4)]
    yield "dofmap", space.dofmap
    yield "boundary", space.boundary_dofs
    yield "ids", space.global_dof_ids
    for number, (shape, extent) in enumerate(STENCILS, 1):
        stencil = space.stencil(shape, extent)
        yield f"stencil{number}", stencil.dofmap
        yield f"stencil{number}sizes", stencil.sizes
    volume = QuadratureXYoZ(3, 2, 2)
    yield "weights", np.concatenate([volume.weights_xy, volume.weights_z])
    yield "basis", space.basis(volume)
    yield "diff_basis", space.diff_basis(volume)
    yield "face_basis", space.basis(QuadratureFace(2))
    yield from arrays_of_field(space)


def arrays_of_field(space: FunctionSpace) -> Iterator[tuple[str, Any]]:
    """Yield the values of a field that was exchanged, and sums."""
    owned = space.last_dof_owned
    field = Field(space, halo_depth=3)
    with held(written=[field]) as (values,):
        values[:owned] = space.global_dof_ids[:owned] / 7.0 - 3.0
        values[owned:] = np.nan
    field.exchange(2)
    yield "exchanged", field.storage.data_ro[: space.last_dof_halo(2)]
    yield "flags", [int(field.is_dirty(depth)) for depth in range(1, 4)]
    product = field.inner_product(field, reproducible=True)
    yield "sums", np.array([field.sum(reproducible=True), product])
    yield "total", np.array([space.mesh.ranks.total(np.float64(sum(field.values[:1])))])


def in_words(values: Any) -> np.ndarray[Any, Any]:
    """Return values in the order of Fortran, reals as integers with their bits."""
    flat = np.ravel(np.asarray(values), order="F")
    return flat.view(np.int64) if flat.dtype == np.float64 else flat.astype(np.int64)


def main() -> None:
    """Compare, and print how much was equal."""
    text = Path(f"maps.{MPI.COMM_WORLD.rank}").read_text(encoding="utf-8")
    written = dict(line.partition(" ")[::2] for line in text.splitlines())
    common: Any = {"layers": 3, "top": 3.0, "halo_depth": 3}
    coarse = Mesh.cubed_sphere(4, bottom=1.0, **common)
    fine = Mesh.cubed_sphere(8, bottom=1.0, cells_together=2, **common)
    meshes = {
        "plane": Mesh.planar((9, 8), tiles=(2, 3), **common),
        "bounded": Mesh.planar((7, 12), periodic=(False, False), **common),
        "sphere": coarse,
    }
    ours = {f"{at}/{name}": values for at in meshes for name, values in arrays_of_mesh(meshes[at])}
    ours |= {"down": coarse.map_to(fine).cells, "up": fine.map_to(coarse).cells}
    assert ours.keys() == written.keys(), sorted(ours.keys() ^ written.keys())
    for name, values in ours.items():
        theirs = np.array(written[name].split(), np.int64)
        np.testing.assert_array_equal(in_words(values), theirs, err_msg=name)
    sys.stdout.write(f"rank {MPI.COMM_WORLD.rank}: {len(ours)} arrays\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
