"""Tests of the common keywords: values, defaults and precedence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.layout import first_fastest, layout_of

SHAPE = (3, 4, 5)


def address(storage: gt.Storage, point: tuple[int, ...]) -> int:
    array = storage.window(storage.current_space())
    start = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return int(start) + sum(i * s for i, s in zip(point, storage.strides, strict=True))


@pytest.mark.spec("GDP-62", "GDP-65")
@given(
    shape=st.tuples(*[st.integers(1, 9)] * 3),
    point=st.tuples(*[st.integers(0, 8)] * 3),
    layout=st.permutations(range(3)),
    dtype=st.sampled_from(["f8", "f4", "i2", "c16"]),
    size=st.sampled_from([1, 2, 16, 64, 128, 4096]),
)
def test_the_aligned_point_is_aligned(
    shape: Any, point: Any, layout: Any, dtype: str, size: int
) -> None:
    made = gt.ones(shape, dtype, aligned_index=point, alignment_size=size, layout=layout)
    assert address(made, point) % size == 0
    assert made.aligned_index == point
    assert (made.to_numpy() == 1).all()


@pytest.mark.spec("GDP-65")
@pytest.mark.parametrize("size", [24, 64, 4096])
@pytest.mark.parametrize("keywords", [{}, {"delayed": True}])
def test_any_multiple_of_the_element_is_an_alignment(size: int, keywords: Any) -> None:
    made = gt.zeros((3, 70_000), alignment_size=size, aligned_index=(1, 3), **keywords)
    assert address(made, (1, 3)) % size == 0
    assert address(made, (2, 3)) % size == 0


@pytest.mark.spec("GDP-62", "GDP-65")
@pytest.mark.usefixtures("device")
def test_both_sides_are_aligned() -> None:
    made = gt.zeros(SHAPE, device="gpu", alignment_size=256, aligned_index=(1, 2, 3))
    distance = sum(i * s for i, s in zip((1, 2, 3), made.strides, strict=True))
    assert (made.device_data.ptr + distance) % 256 == 0
    assert (made.to_numpy().ctypes.data + distance) % 256 == 0


@pytest.mark.spec("GDP-63")
def test_the_aligned_point_is_the_first_behind_the_halo() -> None:
    made = gt.zeros(SHAPE, halo=(1, (2, 0), 0), alignment_size=64)
    assert made.aligned_index == (1, 2, 0)
    assert address(made, (1, 2, 0)) % 64 == 0


@pytest.mark.spec("GDP-64")
def test_alignment_is_not_an_origin() -> None:
    made = gt.zeros(SHAPE, aligned_index=(1, 1, 1), alignment_size=64)
    assert made.halo == ((0, 0),) * 3
    with gt.bound({"a": made}) as arrays:
        assert (arrays.domain, arrays.origins) == (SHAPE, {"a": (0, 0, 0)})


@pytest.mark.spec("GDP-66")
def test_without_alignment_there_is_no_padding() -> None:
    made = gt.empty((3, 5), "i1")
    assert made.labels.alignment_size == 1
    assert made.strides == (5, 1)
    assert gt.empty((3, 5), "i1", alignment_size=16).strides == (16, 1)


@pytest.mark.parametrize(("size", "dtype"), [(12, "f8"), (3, "f4"), (0, "f8"), (-8, "f8")])
def test_impossible_alignments(size: int, dtype: str) -> None:
    with pytest.raises(ValueError, match=r"alignment|aligned"):
        gt.empty(SHAPE, dtype, alignment_size=size)


def test_a_preset_passes_over_what_an_explicit_value_may_not() -> None:
    gt.register_defaults("lines of 24 B", gt.Preset(first_fastest, alignment_size=24))
    assert gt.empty(SHAPE, "c16", defaults="lines of 24 B").labels.alignment_size == 1
    assert gt.empty(SHAPE, "f8", defaults="lines of 24 B").labels.alignment_size == 24
    assert gt.empty(SHAPE, "f8", defaults="gtmc").labels.alignment_size == 64
    assert gt.empty(SHAPE, "f8", defaults="gtmc", alignment_size=16).labels.alignment_size == 16


@pytest.mark.spec("GDP-67")
@pytest.mark.parametrize("name", ["F", "C", "gtx86", "gtmc", "numpy", "debug", "gt:cpu_kfirst"])
def test_presets(name: str) -> None:
    assert gt.ones(SHAPE, defaults=name)[0, 0, 0] == 1.0


@pytest.mark.spec("GDP-67")
def test_an_unknown_preset_is_refused_and_a_new_one_is_not() -> None:
    with pytest.raises(ValueError, match='no defaults called "mine"'):
        gt.empty(SHAPE, defaults="mine")
    gt.register_defaults("mine", gt.Preset(first_fastest, alignment_size=32))
    assert layout_of(gt.empty(SHAPE, defaults="mine").strides) == (2, 1, 0)
    gt.register_defaults("mine", gt.Preset(lambda _: (1, 0, 2)))
    assert layout_of(gt.empty(SHAPE, defaults="mine").strides) == (1, 0, 2)


@pytest.mark.spec("GDP-68")
@pytest.mark.usefixtures("device")
def test_explicit_parameters_beat_the_preset() -> None:
    made = gt.empty(SHAPE, defaults="gtcuda", layout=(0, 1, 2), device=None, alignment_size=8)
    assert type(made) is gt.CPUStorage
    assert made.strides == (160, 40, 8)


@pytest.mark.spec("GDP-69")
@pytest.mark.usefixtures("device")
def test_devices() -> None:
    assert gt.empty(SHAPE).device is None
    assert gt.empty(SHAPE, device="cpu").device is None
    assert gt.empty(SHAPE, device="host").device is None
    assert gt.empty(SHAPE, device="gpu").device == "gpu"
    with pytest.raises(ValueError, match="'tpu'"):
        gt.empty(SHAPE, device="tpu")


@pytest.mark.spec("GDP-70")
@pytest.mark.parametrize("dims", ["IJK", ("K", "I", "0"), ["0", "1", "J"]])
def test_dims(dims: Any) -> None:
    assert gt.empty(SHAPE, dims=dims).dims == tuple(dims)


@pytest.mark.spec("GDP-70")
@pytest.mark.parametrize(
    ("dims", "message"), [("IIK", "twice"), ("IJX", '"X"'), ("IJ", "do not fit")]
)
def test_impossible_dims(dims: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gt.empty(SHAPE, dims=dims)


@pytest.mark.spec("GDP-71")
def test_dims_drive_the_default_layout_only() -> None:
    named, plain = gt.empty(SHAPE, dims="KJI"), gt.empty(SHAPE)
    assert named.strides == plain.strides
    explicit = gt.empty(SHAPE, dims="KJI", defaults="gtx86", layout=(0, 1, 2))
    assert layout_of(explicit.strides) == (0, 1, 2)
    assert (explicit.shape, explicit.halo) == (SHAPE, ((0, 0),) * 3)


@pytest.mark.spec("GDP-72")
@pytest.mark.parametrize(
    ("halo", "expected"),
    [
        ((1, 1, 0), ((1, 1), (1, 1), (0, 0))),
        (((1, 2), (0, 1), (0, 0)), ((1, 2), (0, 1), (0, 0))),
        ((1, (0, 2), 0), ((1, 1), (0, 2), (0, 0))),
        ([np.int32(1), 0, [1, 2]], ((1, 1), (0, 0), (1, 2))),
    ],
)
def test_halos(halo: Any, expected: Any) -> None:
    assert gt.empty(SHAPE, halo=halo).halo == expected
    assert gt.empty(SHAPE).halo == ((0, 0), (0, 0), (0, 0))
    assert gt.empty((4,)).halo == ((0, 0),)


@pytest.mark.parametrize("halo", [(1, 1), (1, 1, -1), (2, 0, 0), ((1, 2, 3), 0, 0)])
def test_impossible_halos(halo: Any) -> None:
    with pytest.raises(ValueError, match="halo"):
        gt.empty(SHAPE, halo=halo)


@pytest.mark.spec("GDP-73")
@given(st.permutations(range(4)))
def test_a_layout_orders_strides(layout: Any) -> None:
    strides = gt.empty((2, 3, 4, 5), layout=layout).strides
    assert layout_of(strides) == tuple(layout)
    assert strides[list(layout).index(3)] == 8


@pytest.mark.spec("GDP-73")
@pytest.mark.parametrize("layout", [(0, 1), (0, 1, 1), (1, 2, 3)])
def test_a_layout_is_a_permutation(layout: Any) -> None:
    with pytest.raises(ValueError, match="layout"):
        gt.empty(SHAPE, layout=layout)


@pytest.mark.spec("GDP-74", "GDP-75", "GDP-76")
@pytest.mark.parametrize(
    ("defaults", "ijk", "kji"),
    [
        ("F", (2, 1, 0), (2, 1, 0)),
        ("C", (0, 1, 2), (0, 1, 2)),
        ("gtx86", (0, 1, 2), (2, 1, 0)),
        ("gtcuda", (2, 1, 0), (0, 1, 2)),
    ],
)
@pytest.mark.usefixtures("device")
def test_the_table_of_layouts(defaults: str, ijk: Any, kji: Any) -> None:
    assert layout_of(gt.empty(SHAPE, defaults=defaults, dims="IJK").strides) == ijk
    assert layout_of(gt.empty(SHAPE, defaults=defaults, dims="KJI").strides) == kji
    assert layout_of(gt.empty(SHAPE, defaults=defaults).strides) == ijk


@pytest.mark.spec("GDP-76")
@given(st.permutations(["I", "J", "K", "0", "1"]))
def test_meaning_decides_what_is_fastest(dims: list[str]) -> None:
    shape = (2, 3, 4, 5, 6)
    strides = gt.empty(shape, defaults="gtx86", dims=dims).strides
    assert strides[dims.index("K")] == 8
    assert strides[dims.index("0")] == max(strides)
    by_position = gt.empty(shape, defaults="F", dims=dims).strides
    assert by_position[0] == 8


@pytest.mark.spec("GDP-77")
@pytest.mark.parametrize(
    ("managed", "kind"),
    [
        (None, gt.GPUStorage),
        (False, gt.GPUStorage),
        ("cuda", gt.CUDAManagedGPUStorage),
        ("gt4py", gt.SoftwareManagedGPUStorage),
    ],
)
@pytest.mark.usefixtures("device")
def test_managed(managed: Any, kind: type) -> None:
    assert type(gt.empty(SHAPE, device="gpu", managed=managed)) is kind


@pytest.mark.spec("GDP-77", "GDP-78")
@pytest.mark.usefixtures("device")
def test_managed_matters_with_a_device_only() -> None:
    with pytest.raises(ValueError, match="managed"):
        gt.empty(SHAPE, device="gpu", managed="hip")
    assert type(gt.empty(SHAPE, managed="cuda")) is gt.CPUStorage
    assert type(gt.empty(SHAPE, device="gpu")) is gt.SoftwareManagedGPUStorage


@pytest.mark.spec("GDP-79")
def test_the_order_in_which_parameters_are_found(upload: Any) -> None:
    fortran = np.asfortranarray(np.zeros(SHAPE))
    assert gt.storage(fortran).strides == fortran.strides
    assert gt.storage(fortran, defaults="C").strides == (160, 40, 8)
    assert gt.storage(fortran, defaults="C", layout=(2, 0, 1)).strides[0] == 8
    on_device = upload(np.zeros(SHAPE))
    assert gt.storage(on_device).device == "gpu"
    assert gt.storage(on_device, defaults="gtx86").device is None
    assert gt.storage(on_device, defaults="C").device == "gpu"
    assert gt.storage(np.zeros(SHAPE)).device is None


@pytest.mark.spec("GDP-79")
def test_a_preset_must_agree_with_memory_that_is_wrapped(upload: Any) -> None:
    array = np.zeros(SHAPE)
    with pytest.raises(ValueError, match="layout"):
        gt.as_storage(array, defaults="F")
    assert gt.as_storage(array, defaults="F", layout=(0, 1, 2)).strides == array.strides
    with pytest.raises(ValueError, match="device"):
        gt.as_storage(upload(array), defaults="gtx86")


@pytest.mark.spec("GDP-72")
def test_a_halo_of_one_number_is_refused_in_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"dimension of the shape \(4, 4\): write halo=\(1, 1\)"):
        gt.zeros((4, 4), halo=1)  # type: ignore[typeddict-item]
