"""What makes the data of LFRic's corpus in Python, and writes what becomes of them."""

from __future__ import annotations

MAKING = '''
"""The data of the algorithms, and what becomes of them."""
import os
import numpy as np
from psyclone_storage.runtime.lfric import (
    ColumnwiseOperator, Field, FieldVector, Mesh, Operator
)
from psyclone_storage.runtime.lfric.field import StartedExchange

EXCHANGED = [0]
start = StartedExchange.__init__


def counted(exchange, fields, depths):
    EXCHANGED[0] += len(fields)
    start(exchange, fields, depths)


StartedExchange.__init__ = counted

MESH = Mesh.planar((6, 8), (2.0, 2.0), layers=3, top=3.0, halo_depth=3, cells_together=2,
                   device=os.environ.get("ON_DEVICE"))
COARSE = Mesh.planar((3, 4), layers=3, top=3.0, halo_depth=3, device=os.environ.get("ON_DEVICE"))
VALUES = open(f"values.{MESH.ranks.rank}", "wb")


def new_datum(space, seed, vector, kind):
    if vector > 1:
        return FieldVector([new_datum(space, seed + part, 1, kind) for part in range(vector)])
    field = Field(space, dtype=kind, halo_depth=3)
    ids = space.global_dof_ids
    values = (37 * ids + 11 * (ids // 5) + 7 * seed) % 17 - 8
    values[ids == 0] = -9
    values[ids == space.ndof_global - 1] = 9
    array = np.asarray(field.storage.data)
    array[:] = values
    if kind != "i_def":
        array += POSITIVE
        array[space.last_dof_owned:] = np.nan
    field.set_dirty()
    return field


def new_matrix(to, source, kind):
    made = Operator(MESH.space(to), MESH.space(source), dtype=kind)
    array = np.asarray(made.storage.data)
    for second in range(array.shape[2]):
        for first in range(array.shape[1]):
            number = array.dtype.type(first + 1 + 2 * (second + 1))
            array[:, first, second] = array.dtype.type(0.1) * number
    return made


def new_columns(to, source):
    made = ColumnwiseOperator(MESH.space(to), MESH.space(source))
    first, second = np.indices(made.storage.shape[:2])
    np.asarray(made.storage.data)[:] = (0.125 * (first + 1 + 2 * (second + 1)))[:, :, None]
    return made


def report_datum(name, value):
    if isinstance(value, FieldVector):
        for part, field in enumerate(value):
            report_field(f"{name}{part}", field)
    elif isinstance(value, Field):
        report_field(f"{name}0", value)
    elif isinstance(value, (ColumnwiseOperator, Operator)):
        report_matrices(name, value)
    else:
        write(name, -1, [], [float(value)])


def report_field(name, field):
    owned = slice(len(field.values))
    write(name, field.space.ndof_global, field.space.global_dof_ids[owned], field.values)


def report_matrices(name, operator):
    cells, matrices = MESH.last_edge_cell, np.asarray(operator.storage.data_ro)
    if isinstance(operator, Operator):
        matrices = matrices.reshape(MESH.nlayers, -1, *matrices.shape[1:], order="F")
        matrices = np.moveaxis(matrices, 1, -1)
    each = matrices[..., :cells].reshape(-1, cells, order="F")
    count = len(each)
    ids = (MESH.global_cell_ids[:cells] - 1)[None, :] * count + np.arange(count)[:, None]
    write(name, count * MESH.ncells_global, ids.ravel("F"), each.ravel("F"))


def write(name, size, ids, values):
    """Write what `lfric/world_mod.f90` writes."""
    VALUES.write(f"plane/{name}".ljust(160).encode())
    VALUES.write(np.array([size, len(values), *ids], np.int64).tobytes())
    VALUES.write(np.array(values, np.float64).tobytes())
'''
