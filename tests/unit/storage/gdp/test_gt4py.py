"""Tests that the current GT4Py from PyPI accepts storages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt

pytestmark = pytest.mark.skipif(find_spec("gt4py") is None, reason="gt4py is not installed")


@pytest.fixture(scope="module")
def stencils() -> ModuleType:
    return import_module("gt4py_stencils")


@pytest.fixture(scope="module")
def laplacian(stencils: ModuleType) -> Any:
    return stencils.laplacian()


def expected(u: Any) -> Any:
    inner = u[1:-1, 1:-1]
    return -4.0 * inner + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]


@pytest.mark.parametrize("keywords", [{}, {"defaults": "F"}, {"alignment_size": 64}])
def test_the_halo_is_the_origin(laplacian: Any, keywords: Any) -> None:
    values = np.random.default_rng(1).random((6, 7, 3))
    u = gt.storage(values, halo=(1, 1, 0), **keywords)
    out = gt.zeros((6, 7, 3), halo=(1, 1, 0), **keywords)
    laplacian(u, out)
    np.testing.assert_allclose(out.domain_view.to_numpy(), expected(values), rtol=1e-12)
    assert np.asarray(out)[0].sum() == 0.0


def test_views_and_transposes(laplacian: Any) -> None:
    values = np.random.default_rng(2).random((8, 9, 3))
    u = gt.storage(values, halo=(1, 1, 0), dims="IJK")
    out = gt.zeros((3, 9, 8), halo=(0, 1, 1), dims="KJI")
    laplacian(u, out)
    result = out.transpose(2, 1, 0).domain_view.to_numpy()
    np.testing.assert_allclose(result, expected(values), rtol=1e-12)


def test_a_storage_with_a_device_is_brought_to_the_host_first(laplacian: Any) -> None:
    gt.use_device("emulated")
    values = np.random.default_rng(3).random((5, 5, 2))
    u, out = (gt.storage(v, halo=(1, 1, 0), device="gpu") for v in (values, np.zeros((5, 5, 2))))
    with u.access("gpu", gt.RDWR) as array:
        array[...] *= 2.0
    with out.access("gpu", gt.RDWR) as array:
        array[...] += 0.0
    laplacian(u, out)
    assert out.sync_state.state == gt.SyncState.SYNC_HOST_DIRTY
    with out.access("gpu") as array:
        np.testing.assert_allclose(array[1:-1, 1:-1], expected(2.0 * values), rtol=1e-12)
    gt.use_device("auto")


def test_lower_dimensional_fields(stencils: ModuleType) -> None:
    stencil = stencils.addition_of_columns()
    out = gt.zeros((2, 2, 3))
    stencil(gt.storage(np.arange(3.0), dims="K"), out)
    assert list(out[1, 1].to_numpy()) == [0.0, 1.0, 2.0]
