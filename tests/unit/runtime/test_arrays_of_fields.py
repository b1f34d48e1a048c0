"""`np.asarray(field)` returns the values of a field on a grid."""

from __future__ import annotations

import numpy as np
import pytest

from psyclone_storage import storage
from psyclone_storage.runtime.gocean import Field, Grid


@pytest.fixture(params=[None, "gpu"])
def field(request: pytest.FixtureRequest) -> Field:
    storage.use_device("emulated")
    grid = Grid((3, 4), halo=2, device=request.param)
    return Field(grid, values=np.arange(12.0).reshape(3, 4))


def test_the_array_is_a_view_that_cannot_be_written(field: Field) -> None:
    array = np.asarray(field)
    assert array.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert array.dtype == np.float64
    assert not array.flags.writeable
    assert not field.is_dirty(0)


def test_a_copy_is_independent(field: Field) -> None:
    array = np.array(field)
    array[...] = -1.0
    assert np.asarray(field)[2, 3] == 11.0


def test_another_type_is_a_copy(field: Field) -> None:
    assert np.asarray(field, np.int32).tolist()[2] == [8, 9, 10, 11]
    assert field.__array__(np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        field.__array__(np.float32, copy=False)
    assert field.__array__(np.float64, copy=False).shape == (3, 4)


def test_functions_of_numpy_take_fields(field: Field) -> None:
    assert np.sum(np.asarray(field)) == 66.0
    assert np.sqrt(field).shape == (3, 4)
    assert np.allclose(field, np.arange(12.0).reshape(3, 4))
