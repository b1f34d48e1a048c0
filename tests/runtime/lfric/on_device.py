"""Run kernels of all kinds, on the host or on a device, and write the results.

    mpirun -n 4 python on_device.py NAME:TARGET:ORDER:SETTINGS:STEPS ...

For each of these variants, one file per rank contains the values of all owned dofs and the sums,
bit for bit, and the transfers between host and device: in the first step, and in later ones. ORDER
is that of the threads of the emulated device.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from psyclone_storage import storage
from psyclone_storage.lfric import *
from psyclone_storage.runtime.lfric import Field, Mesh, Operator, QuadratureXYoZ
from psyclone_storage.runtime.ranks import world

RECIPE = """
def trans(psy):
    for schedule in psy.children:
        schedule.apply("{}")
"""


@kernel(operates_on=CELL_COLUMN)
def spread(new: field[GH_INC, W0], old: field[GH_READ, W3], by: operator[GH_READ, W0, W3]):
    for k in layers():
        for df in dofs(W0):
            for e in dofs(W3):
                new[df, k] += by[df, e, k] * old[e, k]


@kernel(operates_on=CELL_COLUMN)
def smooth(new: field[GH_WRITE, W3], old: field[GH_READ, W3, STENCIL(CROSS)]):
    for k in layers():
        for df in dofs(W3):
            total = 0.0
            for s in neighbours(old):
                total += old[df, k, s]
            new[df, k] = 0.2 * total


@kernel(
    operates_on=CELL_COLUMN,
    meta_funcs=[func_type(W0, GH_BASIS)],
    gh_shape=GH_QUADRATURE_XYOZ,
)
def mean(new: field[GH_READWRITE, W3], old: field[GH_READ, W0]):
    for k in layers():
        total = 0.0
        for df in dofs(W0):
            for q in points_z():
                for p in points_xy():
                    at = basis(W0)[0, df, p, q]
                    total += weights_xy()[p] * weights_z()[q] * at * old[df, k]
        for df in dofs(W3):
            new[df, k] += total


@kernel(operates_on=CELL_COLUMN)
def coarsen(
    coarse: field[GH_WRITE, ANY_DISCONTINUOUS_SPACE_1, GH_COARSE],
    fine: field[GH_READ, ANY_DISCONTINUOUS_SPACE_2, GH_FINE],
):
    for k in layers():
        total = 0.0
        for j in fine_cells_y():
            for i in fine_cells_x():
                total += fine[0, k, i, j]
        coarse[0, k] = 0.25 * total


@kernel(operates_on=DOMAIN)
def count(new: field[GH_READWRITE, W3]):
    for cell in cells():
        for k in layers():
            new[0, k, cell] = new[0, k, cell] + 0.5


@kernel(operates_on=DOF)
def square(new: field[GH_WRITE, ANY_SPACE_1], old: field[GH_READ, ANY_SPACE_1]):
    new[0] = old[0] * old[0]


class Model:
    """A mesh of some order of elements, a coarser one, and what is computed on them.

    Dofs that a field need not have values at are NaN; annexed ones it has if they are computed.
    """

    def __init__(self, order: int, device: str | None, annexed: bool) -> None:
        two = (order, order)
        cut: dict[str, Any] = {"layers": 3, "halo_depth": 2, "device": device}
        self.mesh = Mesh.planar((8, 12), (1.0, 1.0), cells_together=2, **cut)
        self.coarse = Mesh.planar((4, 6), (2.0, 2.0), **cut)
        w0, w3 = self.mesh.space("W0", two), self.mesh.space("W3", two)
        self.old = Field(w3, "old", values=lambda x, y, z: np.sin(3 * x + 7 * y + z), halo_depth=2)
        self.other = Field(w3, "other", halo_depth=2)
        self.nodes = Field(w0, "nodes", halo_depth=2)
        self.rough = Field(self.coarse.space("W3", two), "rough", halo_depth=2)
        self.by = Operator(w0, w3, "by")
        matrix = np.asarray(self.by.storage.data)
        matrix[...] = 0.01 * np.arange(matrix.size).reshape(matrix.shape) / matrix.size
        self.rule = QuadratureXYoZ(order + 1, order + 1)
        self.found, self.product = Result(), Result()
        for one in self.fields:
            values = np.asarray(one.storage.data)
            space = one.space
            values[space.last_dof_annexed if annexed else space.last_dof_owned :] = np.nan
            one.set_dirty()

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.old, self.other, self.nodes, self.rough

    def step(self) -> None:
        """Call kernels of all kinds."""
        invoke(
            spread(self.nodes, self.old, self.by),
            smooth(self.other, self.old, 2),
            mean(self.other, self.nodes, self.rule),
            count(self.other),
            name="columns",
        )
        invoke(coarsen(self.rough, self.other), name="coarser")
        invoke(square(self.old, self.other), inc_a_times_X(0.125, self.old), name="dofs")
        invoke(sum_X(self.found, self.old), X_innerproduct_Y(self.product, self.old, self.other))

    def moved(self) -> int:
        """Return how many transfers there were, of fields, of matrices and of what meshes have."""
        data = [*(one.storage for one in self.fields), self.by.storage]
        for mesh in (self.mesh, self.coarse):
            data += [one for _, one in mesh._on_device.values()]
        return sum(one.buffer.stats.count for one in data)


def main() -> None:
    """Run in the ways that the command line asks for."""
    storage.use_device("emulated")
    for way in sys.argv[1:]:
        compute(*way.split(":"))


def compute(name: str, target: str, order_of_threads: str, settings: str, steps: str) -> None:
    """Compute in one way. Its recipe has a name of its own, so that its modules are new."""
    recipe = Path(f"recipe.{name}.{world().rank}.py")
    recipe.write_text(RECIPE.format(steps), encoding="utf-8")
    os.environ["PSYCLONE_STORAGE_THREAD_ORDER"] = order_of_threads
    configure(target=target, config_opts=settings, script=recipe)
    lines: list[Any] = []
    for order in (0, 1):
        model = Model(order, "gpu" if target == "cuda" else None, "=true" in settings)
        model.step()
        after = model.moved()
        for _ in range(3):
            model.step()
        moved = model.moved() - after
        values = [np.array(one.values) for one in model.fields]
        lines += [value.tobytes().hex() for value in values]
        lines += [model.found.value.hex(), model.product.value.hex()]
        lines += [f"finite {all(np.isfinite(value).all() for value in values)}"]
        lines += [f"moved {after > 0} {moved}"]
    Path(f"found.{name}.{world().rank}").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
