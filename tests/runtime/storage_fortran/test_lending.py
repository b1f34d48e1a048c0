"""Storages of ours in the hands of Fortran: no copy is made, and both sides know who wrote what.

The procedures in Fortran are those of `programs/scaling_mod.f90`, linked with the library.
"""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psyclone_storage import storage as gt
from psyclone_storage.storage.core.buffer import BufferOptions, CoherentBuffer
from psyclone_storage.storage.core.chunks import ChunkLayout
from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    AllocationInUseError,
    ConstBufferError,
    MemoryException,
    PoisonedDataError,
    StorageError,
    ViewTypeError,
)
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.interop.fortran import (
    FortranField,
    FortranLibrary,
    FortranOptions,
    FortranStatistics,
    HaloDepthError,
)
from runtime.storage_fortran.builds import FLAGS, HERE, run
from runtime.storage_fortran.conftest import Build, Load

pytestmark = pytest.mark.fortran

HOST, DEVICE = 1, 2
Model = Callable[..., float]


@pytest.fixture(autouse=True)
def _emulated() -> None:
    gt.use_device("emulated")


@pytest.fixture(scope="module")
def library(
    f90: tuple[str, ...], build: Build, tmp_path_factory: pytest.TempPathFactory
) -> FortranLibrary:
    """Return the library for an emulated device, with a model linked to it."""
    built = build("emulated").parent
    path = tmp_path_factory.mktemp("model") / "libmodel.so"
    objects = map(str, sorted(built.glob("*.o")))
    source = HERE / "programs" / "scaling_mod.f90"
    command = [*f90, *FLAGS, "-fPIC", f"-I{built}", f"-J{path.parent}", str(source)]
    run([*command, *objects, "-shared", "-o", str(path)])
    return FortranLibrary(path)


@pytest.fixture
def scale(library: FortranLibrary) -> Model:
    """Return the procedure that multiplies a field in a space."""
    function = library.functions.scale
    function.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_double)
    function.restype = None
    return function


@pytest.fixture
def total(library: FortranLibrary) -> Model:
    """Return the procedure that sums a field up in a space."""
    function = library.functions.total
    function.argtypes = (ctypes.c_void_p, ctypes.c_int)
    function.restype = ctypes.c_double
    return function


@pytest.fixture
def storage() -> gt.Storage:
    """Return a storage that both sides have."""
    return gt.storage(np.arange(6.0), device="gpu", managed="gt4py", label="x")


def traffic(field: FortranField) -> tuple[int, int]:
    """Return the transfers to the device and to the host that Fortran made."""
    done = field.fortran.statistics
    return done.to_device, done.to_host


def test_what_fortran_writes_on_the_host_is_in_the_same_memory(
    library: FortranLibrary, scale: Model
) -> None:
    array = np.arange(6.0)
    field = FortranField(gt.as_storage(array), library)
    with field.lent() as handle:
        scale(handle, HOST, 2.0)
    assert np.array_equal(array, 2.0 * np.arange(6.0))
    assert field.fortran.address() == array.__array_interface__["data"][0]


def test_a_stale_device_copy_in_python_is_renewed_after_a_loan(
    library: FortranLibrary, scale: Model, storage: gt.Storage
) -> None:
    with storage.access("gpu"):
        pass
    assert storage.is_current("gpu")
    with FortranField(storage, library).lent() as handle:
        scale(handle, HOST, 2.0)
    assert not storage.is_current("gpu")
    assert np.array_equal(storage.to_cupy().get(), 2.0 * np.arange(6.0))


def test_reading_loans_leave_everything_current(
    library: FortranLibrary, total: Model, storage: gt.Storage
) -> None:
    with storage.access("gpu"):
        pass
    with FortranField(storage, library).lent(AccessMode.READ) as handle:
        assert total(handle, DEVICE) == 15.0
    assert storage.is_current("gpu")
    assert storage.is_current()


def test_fortran_brings_values_back_from_a_device_of_its_own(
    library: FortranLibrary, scale: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with field.lent() as handle:
        scale(handle, DEVICE, 2.0)
        scale(handle, DEVICE, 2.0)
    assert traffic(field) == (1, 1)
    assert np.array_equal(storage.data_ro, 4.0 * np.arange(6.0))


def test_a_copy_on_its_own_device_is_kept_until_python_writes(
    library: FortranLibrary, total: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    for transfers in (1, 1):
        with field.lent(AccessMode.READ) as handle:
            assert total(handle, DEVICE) == 15.0
        assert traffic(field) == (transfers, 0)
    storage[...] = 1.0
    with field.lent(AccessMode.READ) as handle:
        assert total(handle, DEVICE) == 6.0
    assert traffic(field) == (2, 0)


def test_a_shared_device_copy_is_used_in_place(
    library: FortranLibrary, scale: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library, device="gpu")
    pointer = storage.to_cupy().data.ptr
    storage.buffer.stats.reset()
    with field.lent() as handle:
        assert field.fortran.address("gpu") == pointer
        scale(handle, DEVICE, 2.0)
    assert traffic(field) == (0, 0)
    assert storage.buffer.stats.count == 0
    assert (storage.is_current("gpu"), storage.is_current()) == (True, False)
    assert np.array_equal(storage.to_numpy(), 2.0 * np.arange(6.0))
    assert storage.buffer.stats.count == 1


def test_values_come_from_where_they_are_to_where_fortran_wants_them(
    library: FortranLibrary, scale: Model, total: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library, device="gpu")
    with field.lent() as handle:
        scale(handle, DEVICE, 2.0)
    with field.lent(AccessMode.READ) as handle:
        assert total(handle, HOST) == 30.0
    assert (storage.is_current("gpu"), storage.is_current()) == (True, True)
    with field.lent() as handle:
        scale(handle, HOST, 0.5)
    assert (storage.is_current("gpu"), storage.is_current()) == (False, True)
    assert np.array_equal(storage.to_numpy(), np.arange(6.0))


def test_a_loan_to_be_overwritten_moves_nothing(
    library: FortranLibrary, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    for done in (1, 2):
        with field.lent(AccessMode.WRITE_ONLY):
            assert not field.fortran.is_valid()
            assert not field.fortran.is_valid("gpu")
            field.fortran.acquire("gpu", AccessMode.WRITE_ONLY)
            field.fortran.release("gpu")
        assert traffic(field) == (0, done)


def test_who_uses_the_values_in_python_is_in_the_way(
    library: FortranLibrary, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with (
        storage.access(mode=AccessMode.READ_WRITE),
        pytest.raises(AccessConflictError),
        field.lent(AccessMode.READ),
    ):
        pass
    with field.lent(), pytest.raises(AccessConflictError):
        storage.buffer.acquire("gpu")


def test_an_access_that_fortran_keeps_is_an_error_and_the_values_are_unusable(
    library: FortranLibrary, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with pytest.raises(AccessConflictError, match="a write access at the host"), field.lent():
        field.fortran.acquire(mode=AccessMode.READ_WRITE)
    with pytest.raises(PoisonedDataError), field.lent():
        pass
    with field.lent(AccessMode.WRITE_ONLY):
        field.fortran.touch()
    with field.lent(AccessMode.READ):
        pass


def test_writing_what_was_lent_for_reading_is_an_error(
    library: FortranLibrary, scale: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with (
        pytest.raises(ConstBufferError, match="Fortran wrote to it"),
        field.lent(AccessMode.READ) as handle,
    ):
        scale(handle, HOST, 2.0)


def test_memory_stays_in_place_until_the_field_is_closed(library: FortranLibrary) -> None:
    buffer = CoherentBuffer(8, options=BufferOptions("x", init=0.0))
    field = FortranField(buffer, library)
    with pytest.raises(AllocationInUseError):
        buffer.purge()
    field.close()
    buffer.purge()
    with pytest.raises(AccessReleasedError), field.lent():
        pass


def test_fortran_sees_two_dimensions_in_its_own_order(library: FortranLibrary) -> None:
    array = np.arange(6.0).reshape(2, 3)
    with library.wrap(array) as wrapped:
        entry = library.functions.entry
        entry.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
        entry.restype = ctypes.c_double
        assert entry(wrapped.handle, 3, 1) == array[0, 2]
    with library.wrap(np.asfortranarray(array)) as wrapped:
        assert entry(wrapped.handle, 1, 3) == array[0, 2]
    field = FortranField(gt.as_storage(array), library, extents=(3, 2))
    with field.lent() as handle:
        assert entry(handle, 2, 2) == array[1, 1]


def test_a_part_is_lent_as_a_part(library: FortranLibrary, scale: Model, total: Model) -> None:
    whole = gt.storage(np.arange(6.0), device="gpu", label="x")
    for mode in (AccessMode.READ_WRITE, AccessMode.WRITE_ONLY):
        for space in (HOST, DEVICE):
            whole[...] = np.arange(6.0)
            field = FortranField(whole[1:4], library)
            with field.lent() as handle:
                assert total(handle, space) == 6.0
            with field.lent(mode) as handle:
                scale(handle, space, 2.0)
            assert [whole[index] for index in (0, 4, 5)] == [0.0, 4.0, 5.0]
            field.close()
    whole[...] = np.arange(6.0)
    with FortranField(whole[1:4], library).lent() as handle:
        scale(handle, DEVICE, 2.0)
    assert list(np.asarray(whole)) == [0.0, 2.0, 4.0, 6.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda library: FortranField(gt.zeros((6,))[::2], library), ViewTypeError),
        (lambda library: FortranField(gt.zeros((6, 6))[:, :2], library), ViewTypeError),
        (
            lambda library: FortranField(gt.zeros((6,), device="gpu")[:2], library, "gpu"),
            ViewTypeError,
        ),
        (lambda library: FortranField([1.0], library), TypeError),
        (lambda library: FortranField(CoherentBuffer(4), library, extents=(3,)), ValueError),
        (lambda library: FortranField(CoherentBuffer(4, "c16"), library), ViewTypeError),
        (lambda library: library.create((2, 2, 2, 2, 2, 2)), ViewTypeError),
        (lambda library: library.create((-1,)), MemoryException),
        (lambda library: library.wrap(np.zeros((4, 4))[:, 1]), ViewTypeError),
        (
            lambda library: FortranField(
                CoherentBuffer(4, options=BufferOptions(chunks=ChunkLayout((0, 2, 4)))), library
            ),
            StorageError,
        ),
    ],
)
def test_what_cannot_go_to_fortran_is_refused(
    library: FortranLibrary, make: Callable[[FortranLibrary], Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        make(library)


def test_openacc_cannot_use_the_memory_of_an_emulated_device(
    load: Load, storage: gt.Storage
) -> None:
    with pytest.raises(MemoryException, match="build it with DEVICE=emulated"):
        FortranField(storage, load("openacc"), device="gpu")


def test_one_memory_for_all_cannot_share_a_device(load: Load, storage: gt.Storage) -> None:
    with pytest.raises(MemoryException, match="this build has no device"):
        FortranField(storage, load("none"), device="gpu")


def test_a_failed_block_leaves_a_storage_closed(library: FortranLibrary) -> None:
    made = library.create((4,))
    made.acquire("gpu", AccessMode.READ_WRITE)
    with pytest.raises(HaloDepthError), made:
        made.is_dirty(1)
    with pytest.raises(AccessReleasedError, match="closed"):
        made.touch()


def test_a_copy_that_fortran_wrote_on_its_own_device_is_kept(
    library: FortranLibrary, scale: Model, total: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with field.lent() as handle:
        scale(handle, DEVICE, 2.0)
    with field.lent(AccessMode.READ) as handle:
        assert total(handle, DEVICE) == 30.0
    assert traffic(field) == (1, 1)
    assert repr(field).startswith('<FortranField <CoherentBuffer "x" 6 x float64')


def test_values_are_lent_from_the_host_if_they_are_there(
    library: FortranLibrary, total: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library, device="gpu")
    storage[...] = 1.0
    storage.buffer.stats.reset()
    with field.lent(AccessMode.READ) as handle:
        assert total(handle, HOST) == 6.0
    assert storage.buffer.stats.count == 0


def test_a_part_that_runs_backwards_is_lent_in_the_order_of_memory(
    library: FortranLibrary, scale: Model
) -> None:
    whole = gt.storage(np.arange(6.0))
    with FortranField(whole[3:0:-1], library).lent() as handle:
        scale(handle, HOST, 2.0)
    assert np.asarray(whole).tolist() == [0.0, 2.0, 4.0, 6.0, 4.0, 5.0]


def test_what_fails_in_a_loan_is_what_is_told(library: FortranLibrary, storage: gt.Storage) -> None:
    with pytest.raises(ZeroDivisionError), FortranField(storage, library).lent():
        1 / 0  # noqa: B018
    assert isinstance(storage.buffer.poisoned, ZeroDivisionError)


def test_a_block_that_fails_amid_an_exchange_ends_it(library: FortranLibrary) -> None:
    library.reset_statistics()
    made = library.create((4,), options=FortranOptions("x", halo_depth=1))
    made.touch()
    made.begin_exchange(1)
    with pytest.raises(ZeroDivisionError), made:
        1 / 0  # noqa: B018
    assert (library.statistics().messages, library.statistics().message_bytes) == (0, 0)


def test_a_storage_in_use_is_not_closed(library: FortranLibrary) -> None:
    made = library.create((4,), options=FortranOptions("temperature"))
    with pytest.raises(AccessConflictError, match="temperature"), made:
        made.acquire(mode=AccessMode.READ_WRITE)
    made.release()
    made.close()
    assert repr(made) == '<FortranStorage "temperature">'
    nameless = library.create((4,))
    nameless.acquire(mode=AccessMode.READ_WRITE)
    with pytest.raises(AccessConflictError, match="unnamed"):
        nameless.close()


def test_wrapped_memory_stays_until_the_storage_is_closed(library: FortranLibrary) -> None:
    class Owned(np.ndarray):
        """An array that can be looked for."""

    array = np.arange(4.0).view(Owned)
    found, wrapped = weakref.ref(array), library.wrap(array)
    del array
    gc.collect()
    assert found() is not None
    wrapped.close()
    gc.collect()
    assert found() is None


def test_a_part_that_is_lent_for_reading_is_not_written(
    library: FortranLibrary, scale: Model
) -> None:
    field = FortranField(gt.storage(np.arange(6.0))[1:4], library)
    with pytest.raises(ConstBufferError), field.lent(AccessMode.READ) as handle:
        scale(handle, HOST, 2.0)


def test_a_copy_on_its_own_device_is_not_trusted_after_a_failure(
    library: FortranLibrary, scale: Model, total: Model, storage: gt.Storage
) -> None:
    field = FortranField(storage, library)
    with field.lent(AccessMode.READ) as handle:
        assert total(handle, DEVICE) == 15.0
    with pytest.raises(ConstBufferError), field.lent(AccessMode.READ) as handle:
        scale(handle, DEVICE, 2.0)
    before = traffic(field)[0]
    with field.lent(AccessMode.READ) as handle:
        total(handle, DEVICE)
    assert traffic(field)[0] == before + 1


def test_statistics_are_for_one_storage_and_for_all(library: FortranLibrary) -> None:
    library.reset_statistics()
    for name in ("first", "second"):
        with library.create((4,), options=FortranOptions(name, halo_depth=1)) as made:
            made.touch()
            made.begin_exchange(1, "gpu")
            made.end_exchange(2, 16)
            expected = FortranStatistics(1, 32, 0, 0, 0, 1, 2, 16)
            assert made.statistics == expected
            made.reset_statistics()
            assert made.statistics == FortranStatistics(*[0] * 8)
    assert library.statistics() == FortranStatistics(*[2 * count for count in expected])


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        FortranLibrary(tmp_path / "nothing.so")


@pytest.mark.parametrize("device", [None, "gpu:1"])
@pytest.mark.parametrize("used", [0, 1])
def test_fortran_may_use_another_device(
    library: FortranLibrary, scale: Model, device: str | None, used: int
) -> None:
    lent = gt.as_storage(np.arange(4.0))
    field = FortranField(lent, library, device=device)
    try:
        for step, number in enumerate((used, 0, used), start=1):
            library.use_device(number)
            with field.lent() as handle:
                scale(handle, DEVICE, 2.0)
            if step > 1:
                np.testing.assert_array_equal(lent.data_ro, np.arange(4.0) * 2.0**step)
    finally:
        library.use_device(0)
        field.close()
