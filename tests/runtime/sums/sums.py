"""The sums of `sums_alg_mod.x90` in Python, on the data of `sums.f90`; answers with their bits."""

import struct
import sys

import numpy as np

from psyclone_storage.lfric import (
    Result,
    X_innerproduct_X,
    X_innerproduct_Y,
    configure,
    inc_a_times_X,
    invoke,
    sum_X,
)
from psyclone_storage.runtime.lfric import Field, Mesh

configure(config_opts=",".join(sys.argv[1:]))  # where it was not compiled ahead
mesh = Mesh.planar((12, 8), layers=3, top=3.0)
space = mesh.space("W2")
ids = np.array(space.global_dof_ids)


def field_of(seed):
    """Return a field of values of all magnitudes."""
    found = Field(space)
    found.storage[...] = np.ldexp(((7919 * ids) % 1009 - 504) / seed, ids % 73 - 36)
    return found


def sum_up(x, y, totals):
    """Return sums: of x, of x and y multiplied, of x squared, and of what a sum has scaled."""
    total, product_sum, square, scaled = totals
    invoke(
        sum_X(total, x),
        X_innerproduct_Y(product_sum, x, y),
        X_innerproduct_X(square, x),
        inc_a_times_X(total, y),
        sum_X(scaled, y),
        name="sum_up",
    )
    return [one.value for one in totals]


found = sum_up(field_of(1.3), field_of(0.7), [Result() for _ in range(4)])
if mesh.ranks.rank == 0:
    for name, value in zip(("total", "product_sum", "square", "scaled"), found, strict=True):
        sys.stdout.write(f"answer {name} {struct.pack('>d', value).hex().upper()}\n")
