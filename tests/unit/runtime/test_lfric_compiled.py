"""Generated C routines on LFRic fields and operators, on the host and with a device."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.base.compilers import find_c_compiler, find_fortran_compiler
from psyclone_storage.runtime.lfric import (
    CompiledLibrary,
    CompiledRoutine,
    Field,
    Mesh,
    Operator,
    QuadratureFace,
    QuadratureXYoZ,
    held,
)
from psyclone_storage.runtime.ranks import SingleRank
from psyclone_storage.storage.core.spaces import memory_space
from psyclone_storage.storage.memory.races import traced
from psyclone_storage.storage.memory.registry import memory_of

pytestmark = pytest.mark.skipif(
    find_fortran_compiler() is None or find_c_compiler() is None, reason="no compilers"
)

TEXT = """
#include <stdint.h>
void apply(void *const *data, const double *reals, const int64_t *counts, int32_t last)
{
    double *out = data[0];
    const double *in = data[1], *matrix = data[2];
    const int32_t *map_out = data[3], *map_in = data[4];
    const int64_t layers = counts[0], to = counts[1], from = counts[2], cells = counts[3];
    for (int64_t cell = 0; cell < last; ++cell)
        for (int64_t k = 0; k < layers; ++k)
            for (int64_t i = 0; i < to; ++i) {
                double sum = 0.0;
                for (int64_t j = 0; j < from; ++j)
                    sum += matrix[cell * layers + k + cells * (i + to * j)]
                        * in[map_in[cell * from + j] - 1 + k];
                out[map_out[cell * to + i] - 1 + k] = reals[0] * sum;
            }
}
double total(void *const *data, const double *reals, const int64_t *counts, float factor)
{
    double sum = 0.0;
    for (int64_t at = 0; at < counts[4]; ++at)
        sum += ((double *)data[0])[at];
    return sum * factor;
}
"""


@pytest.fixture(autouse=True)
def _emulated() -> Iterator[None]:
    gt.use_device("emulated")
    yield
    gt.use_device("auto")


class Model:
    """A divergence: data, and the routine that computes it."""

    def __init__(self, device: str | None = None) -> None:
        self.mesh = Mesh.planar((4, 3), layers=2, device=device, ranks=SingleRank())
        self.to, self.from_ = self.mesh.space("w3"), self.mesh.space("w2")
        self.out = Field(self.to, "out", values=-1.0)
        self.wind = Field(self.from_, "wind", values=np.arange(self.from_.ndof_global) ** 2)
        self.matrix = Operator(self.to, self.from_, "div")
        self.matrix.storage[...] = np.array([1.0, 2.0, -1.0, -2.0, 3.0, -3.0])
        self.set_ups = 0
        self.routine = CompiledRoutine(
            CompiledLibrary({"__c__": TEXT}),
            self.set_up,
            [("apply", "i"), ("total", "f", "d")],
            "covered read read",
            "f8 f8 f8",
        )

    def set_up(self, out: Field, wind: Field, matrix: Operator, factor: float = 2.0) -> Any:
        self.set_ups += 1
        maps = (out.space.dofmap, wind.space.dofmap)
        sizes = (self.mesh.nlayers, out.space.ndf, wind.space.ndf, matrix.ncell_3d)
        return maps, (factor,), (*sizes, out.space.last_dof_owned)

    @property
    def data(self) -> tuple[Any, ...]:
        return self.out, self.wind, self.matrix

    def expected(self) -> np.ndarray[Any, Any]:
        """Return what `apply` makes, by NumPy."""
        levels = np.arange(self.mesh.nlayers)
        values = self.wind.storage.data_ro[self.from_.dofmap[:, :, np.newaxis] - 1 + levels]
        return 2.0 * np.einsum("j,jck->ck", np.array([1.0, 2.0, -1.0, -2.0, 3.0, -3.0]), values)


@pytest.mark.parametrize("device", [None, "gpu"])
def test_a_routine_sees_data_and_maps(device: str | None) -> None:
    model = Model(device)
    for _ in range(3):
        with model.routine(*model.data) as run:
            assert run(0, model.mesh.last_edge_cell) is None
            total = run(1, 0.5)
        np.testing.assert_array_equal(model.out.values.reshape(12, 2), model.expected())
        assert total == 0.5 * model.expected().sum()
        model.wind.storage[...] = model.wind.storage.data_ro * 3.0
    assert model.set_ups == 1
    assert model.out.is_dirty(), "a routine marks nothing"
    with model.routine(*model.data, given=(4.0,)) as run:
        run(0, np.int64(12))
        with pytest.raises(OverflowError, match="given 3000000000"):
            run(0, 3000000000)
        with pytest.raises(OverflowError, match="given -2147483649"):
            run(0, np.int64(-(2**31) - 1))
    assert model.set_ups == 2


def test_what_is_covered_is_not_brought() -> None:
    model = Model("gpu")
    for datum in model.data:
        with datum.storage.access("gpu", gt.RDWR) as array:
            array[...] = array * 1.0
    moved = [datum.storage.buffer.stats.nbytes for datum in model.data]
    with model.routine(*model.data) as run:
        run(0, 12)
    brought = [datum.storage.buffer.stats.nbytes for datum in model.data]
    assert brought[0] == moved[0]
    assert all(now > before for now, before in zip(brought[1:], moved[1:], strict=True))
    np.testing.assert_array_equal(model.out.values.reshape(12, 2), model.expected())


class OnDevice(CompiledLibrary):
    """Functions that run where an emulated device has its arrays."""

    device = "gpu"


def test_on_a_device_maps_are_there_once() -> None:
    model = Model("gpu")
    routines = [
        CompiledRoutine(
            OnDevice({"__c__": TEXT}), model.set_up, [("apply", "i")], "covered read read", types
        )
        for types in ("f8 f8 f8", "d d d")
    ]
    for routine in routines:
        for _ in range(2):
            with routine(*model.data) as run:
                run(0, 12)
    maps = [model.mesh.on_device(space.dofmap) for space in (model.to, model.from_)]
    assert [one.buffer.stats.nbytes for one in maps] == [one.nbytes for one in maps]
    assert model.out.storage.buffer.stats.nbytes == 0, "what is overwritten was brought"
    assert not model.out.storage.is_current(None)
    np.testing.assert_array_equal(model.out.values.reshape(12, 2), model.expected())
    with pytest.raises(ValueError, match="'out' is on the host alone"):
        routines[0](*Model().data)


def test_a_device_gets_the_arrays_of_equal_rules_once() -> None:
    mesh = Mesh.planar((2, 2), device="gpu", ranks=SingleRank())
    for _ in range(10):
        for rule in (QuadratureXYoZ(2), QuadratureXYoZ(3, 2, 2)):
            mesh.on_device(rule.weights_xy)
        mesh.on_device(QuadratureFace(2).weights_xyz)
        del rule
        gc.collect()
    assert len(mesh._on_device) == 3


def test_no_other_array_can_be_taken_for_one_that_is_gone() -> None:
    mesh = Mesh.planar((2, 2), device="gpu", ranks=SingleRank())
    for number in range(100):
        array = np.full(3, float(number))
        stays = weakref.ref(array)
        assert np.asarray(mesh.on_device(array).data_ro)[0] == number
        del array
        assert stays() is not None, "as long as a mesh knows an array, no other has its id"


def test_a_device_does_it_later_and_means_what_was_given() -> None:
    gt.use_device("emulated", gt.Emulation(order="late"))
    model = Model("gpu")
    functions = [("apply", "i"), ("total", "f", "d")]
    routine = CompiledRoutine(
        OnDevice({"__c__": TEXT}), model.set_up, functions, "covered read read", "f8 f8 f8"
    )
    kernels = memory_of(memory_space("gpu")).kernels  # type: ignore[attr-defined]
    last = np.array(12)
    with routine(*model.data) as run:
        run(0, last)
        for wrong, error in ((1.5, TypeError), ("1", TypeError), (1 << 40, OverflowError)):
            with pytest.raises(error):
                run(0, wrong)
    last[...] = 0
    following = Field(model.to, "following", values=4.0)
    with traced() as trace:
        with routine(*model.data) as run:
            run(0, 12)
        following.storage.make_valid("gpu")
        other = Model("gpu")
    assert kernels.done < kernels.issued
    assert trace.beside("kernel", "copy")
    with routine(*model.data) as run:
        assert run(1, 1.0) == model.expected().sum()
        assert kernels.done == kernels.issued
        run(0, 12)
    with routine(*other.data) as run:
        run(0, 12)
    for made in (model, other):
        np.testing.assert_array_equal(made.out.values.reshape(12, 2), made.expected())


def test_several_values_at_a_dof_are_brought_all() -> None:
    space = Mesh.planar((2, 2), device="gpu", ranks=SingleRank()).space("w3", ndata=2)
    field = Field(space, values=1.0)
    with field.storage.access("gpu", gt.RDWR) as array:
        array[...] = array * 7.0
    with held(covered=[field]) as (values,):
        values[:4] = 0.0
    np.testing.assert_array_equal(field.values, [0.0] * 4 + [7.0] * 4)


def test_data_that_do_not_fit_are_refused() -> None:
    model = Model()
    short = Field(model.to, "short", dtype=np.float32)
    wrong = "'short', which is passed for 'out', has values of the type float32, but .* float64"
    with pytest.raises(TypeError, match=wrong):
        model.routine(short, *model.data[1:])
    whole = Field(model.to, "whole", dtype=np.int32)
    with pytest.raises(TypeError, match="or let the metadata of the kernel name the type"):
        model.routine(whole, *model.data[1:])
    with pytest.raises(TypeError, match="takes 3 data, not 2"):
        model.routine(*model.data[:2])
    with pytest.raises(TypeError, match="not a int"):
        model.routine(model.out, 3, model.matrix)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'out' is passed twice"):
        model.routine(model.out, model.out, model.matrix)
    with model.routine(*model.data) as run, pytest.raises(TypeError):
        run(0, 1.5)
    model.wind.start_exchange()
    with (
        pytest.raises(RuntimeError, match="'wind' has not been finished"),
        model.routine(*model.data),
    ):
        pass
    model.wind.finish_exchange()


def test_types_of_all_data_are_checked_where_one_name_stands_for_several() -> None:
    model = Model()

    def set_up(*data: Any) -> Any:
        return model.set_up(*data)

    routine = CompiledRoutine(
        CompiledLibrary({"__c__": TEXT}), set_up, [("apply", "i")], "written read read", "f8 f8 f8"
    )
    short = Field(model.from_, "short", dtype=np.float32)
    with pytest.raises(TypeError, match="'short', which is passed for 'data', has values"):
        routine(model.out, short, model.matrix)


def test_what_is_known_goes_with_the_data() -> None:
    model = Model()
    with model.routine(*model.data) as run:
        run(0, 1)
    del run
    gone = weakref.ref(model.wind)
    model.wind = Field(model.from_, values=1.0)
    gc.collect()
    assert gone() is None
    with model.routine(*model.data) as run:
        run(0, 12)
    assert model.set_ups == 2
    np.testing.assert_array_equal(model.out.values.reshape(12, 2), model.expected())


def test_arrays_with_gaps_are_refused() -> None:
    model = Model()

    def set_up(*data: Any) -> Any:
        maps, reals, counts = model.set_up(*data)
        return (maps[0], maps[1][::2]), reals, counts

    routine = CompiledRoutine(
        CompiledLibrary({"__c__": TEXT}), set_up, [("apply", "i")], "written read read", "f8 f8 f8"
    )
    with pytest.raises(ValueError, match="gaps"):
        routine(*model.data)


def test_held_data_are_written_where_they_are() -> None:
    model = Model("gpu")
    model.out.set_clean(1)
    with held([model.wind], [model.out]) as (wind, out):
        out[:] = wind[0] + 5.0
        with pytest.raises(ValueError, match="read-only"):
            wind[0] = 1.0
    np.testing.assert_array_equal(model.out.values, 5.0)
    assert not model.out.is_dirty(), "who holds data marks them"
    with pytest.raises(ValueError, match="passed twice"), held([model.out], [model.out]):
        pass
