"""Stencils of GT4Py, for the test that uses them alone: GT4Py takes seconds to import."""

from __future__ import annotations

from typing import Any

import numpy as np
from gt4py.cartesian import gtscript

Field = gtscript.Field
PARALLEL, computation, interval = gtscript.PARALLEL, gtscript.computation, gtscript.interval


def laplacian() -> Any:
    def lap(u: Field[np.float64], out: Field[np.float64]):
        with computation(PARALLEL), interval(...):
            out = -4.0 * u + u[1, 0, 0] + u[-1, 0, 0] + u[0, 1, 0] + u[0, -1, 0]  # noqa: F841

    return gtscript.stencil(backend="numpy", definition=lap)


def addition_of_columns() -> Any:
    def add(column: gtscript.Field[gtscript.K, np.float64], out: Field[np.float64]):
        with computation(PARALLEL), interval(...):
            out = column  # noqa: F841

    return gtscript.stencil(backend="numpy", definition=add)
