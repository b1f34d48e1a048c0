"""Random transfers of parts of a field, compared with its copies and their validity.

The model is simple: the current values, and for the host and for each of three devices whether its
copy has them. It predicts the transfers, element by element, which are compared with those of the
library, and every readable value is compared with the current one. Values that must not be read are
poisoned, if the build supports it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psyclone_storage.storage.core.errors import (
    AccessConflictError,
    AccessReleasedError,
    StorageError,
    UnknownSpaceError,
    ViewTypeError,
)
from psyclone_storage.storage.core.locks import AccessMode
from psyclone_storage.storage.interop.fortran import FortranOptions, FortranStorage
from psyclone_storage.storage.interop.fortran_functions import Box
from runtime.storage_fortran.builds import OPENACC_DOUBLE
from runtime.storage_fortran.conftest import Load
from runtime.storage_fortran.pairs import bytes_at

pytestmark = pytest.mark.fortran

READ, WRITE, READ_WRITE = AccessMode.READ, AccessMode.WRITE_ONLY, AccessMode.READ_WRITE
KINDS = ["none", "emulated", OPENACC_DOUBLE]
SHAPES = [(7,), (5, 4), (3, 4, 3)]
DTYPES = ["f4", "f8", "i4"]
SPACES = ["host", "gpu", "gpu:1", "gpu:2"]
Array = np.ndarray  # of any shape and type


def mask_of(shape: tuple[int, ...], boxes: list[Box]) -> Array:
    """Return what lies in boxes, as an array in the order of Fortran."""
    found = np.zeros(shape, dtype=bool, order="F")
    for box in boxes:
        found[tuple(slice(first - 1, last) for first, last in box)] = True
    return found


@dataclass
class Model:
    """The truth, and who has it."""

    storage: FortranStorage
    truth: Array
    moves: bool
    current: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(SPACES, False))
    moved: int = 0
    written: int = 0
    known: Array = field(init=False)

    def __post_init__(self) -> None:
        self.known = np.zeros(self.truth.shape, bool)

    def home(self, space: str) -> str:
        return space if self.moves else "host"

    def copy(self, space: str) -> Array:
        """Return the copy at a space."""
        found = bytes_at(self.storage.address(space), self.truth.nbytes)
        return found.view(self.truth.dtype).reshape(self.truth.shape, order="F")

    def expect(self, space: str, mask: Array) -> None:
        """Compare what may be read at `space`, of what was ever written."""
        known = mask & self.known
        np.testing.assert_array_equal(self.copy(space)[known], self.truth[known])

    def write(self, space: str, mask: Array) -> None:
        """Write other values at `space`."""
        self.written += 1
        new = np.arange(self.truth.size, dtype=self.truth.dtype) + 100 * self.written
        self.truth[mask] = new.reshape(self.truth.shape, order="F")[mask]
        self.copy(space)[mask] = self.truth[mask]
        self.known |= mask

    def stale(self, space: str) -> bool:
        return any(self.current.values()) and not self.current[self.home(space)]

    def bring(self, space: str, mask: Array, whole: bool) -> None:
        """Make a stale copy current, or parts of it: between devices, through the host."""
        home = self.home(space)
        through = home != "host" and not self.current["host"]
        self.moved += int(mask.sum()) * (2 if through else 1)
        if whole:
            self.current[home] = True
            self.current["host"] = self.current["host"] or through

    def pass_on(self, home: str, mask: Array) -> None:
        """Copy parts that were written at `home` to the others that are current."""
        for space in SPACES:
            if space != home and self.current[space]:
                through = "host" not in (home, space) and not self.current["host"]
                self.moved += int(mask.sum()) * (2 if through else 1)

    def use(self, space: str, mode: AccessMode, boxes: list[Box] | None) -> None:
        """Use all values or boxes of them."""
        home = self.home(space)
        whole = boxes is None
        mask = np.ones(self.truth.shape, bool) if whole else mask_of(self.truth.shape, boxes or [])
        if whole:
            self.storage.acquire(space, mode)
        else:
            self.storage.acquire_part(boxes or [], space, mode)
        if mode.reads and self.stale(space):
            self.bring(space, mask, whole)
        if mode.reads and any(self.current.values()):
            self.expect(space, mask)
        if mode.writes:
            self.write(space, mask)
            if whole or not any(self.current.values()):
                self.current = {one: one == home for one in SPACES}
            else:
                self.pass_on(home, mask)
        self.storage.release(space)

    def exchange(self, space: str, sent: list[Box], received: list[Box]) -> None:
        """Exchange by boxes: what is sent is looked at, what is received is other values."""
        home = self.home(space)
        self.storage.begin_exchange_of_parts(1, sent, received, space)
        if self.stale(space):
            self.bring(space, mask_of(self.truth.shape, sent), False)
        if any(self.current.values()):
            self.expect(space, mask_of(self.truth.shape, sent))
        self.write(space, mask_of(self.truth.shape, received))
        self.storage.end_exchange(1, 8)
        if not any(self.current.values()):
            self.current[home] = True
        else:
            self.pass_on(home, mask_of(self.truth.shape, received))
        assert not self.storage.is_dirty(1)

    def check(self) -> None:
        """Compare all that may be known."""
        done = self.storage.statistics
        moved = done.to_device_bytes + done.to_host_bytes
        assert moved == self.moved * self.truth.itemsize
        for space in SPACES:
            current = self.current[self.home(space)]
            assert self.storage.is_valid(space) == current
            if current:
                self.expect(space, np.ones(self.truth.shape, bool))
            elif self.storage.library.device == "emulated" and self.storage.address(space):
                assert not (self.copy(space) == self.truth)[self.known].any()


@st.composite
def worlds(draw: st.DrawFn) -> tuple[tuple[int, ...], str, list[tuple[object, ...]]]:
    shape = draw(st.sampled_from(SHAPES))

    def box() -> Box:
        ends = [sorted(draw(st.tuples(st.integers(1, n), st.integers(1, n)))) for n in shape]
        empty = draw(st.integers(0, 7)) == 0
        return [(first + (last - first + 1) * empty, last) for first, last in ends]

    def boxes() -> list[Box]:
        """Return up to two boxes that do not overlap."""
        some = [box() for _ in range(draw(st.integers(0, 2)))]
        apart = sum(int(mask_of(shape, [one]).sum()) for one in some)
        return some if apart == int(mask_of(shape, some).sum()) else some[:1]

    steps: list[tuple[object, ...]] = []
    for _ in range(draw(st.integers(1, 8))):
        space = draw(st.sampled_from(SPACES))
        if draw(st.booleans()):
            mode = draw(st.sampled_from([READ, WRITE, READ_WRITE]))
            steps.append((space, mode, boxes() if draw(st.booleans()) else None))
        else:
            steps.append((space, boxes(), boxes()))
    return shape, draw(st.sampled_from(DTYPES)), steps


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds())
def test_parts_move_alone_and_are_right(load: Load, kind: str, world: tuple) -> None:  # type: ignore[type-arg]
    shape, dtype, steps = world
    with load(kind).create(shape, dtype, FortranOptions("parts", halo_depth=1)) as storage:
        model = Model(storage, np.zeros(shape, dtype, order="F") - 1, moves=kind != "none")
        for step in steps:
            if isinstance(step[1], AccessMode):
                model.use(*step)
            else:
                model.exchange(*step)
            model.check()


@pytest.fixture
def on_device(load: Load) -> FortranStorage:
    """Return a field that is current on the device alone."""
    storage = load("emulated").create((4, 4), "f8", FortranOptions("field", halo_depth=1))
    storage.acquire("gpu", WRITE)
    storage.release("gpu")
    return storage


EDGE: list[Box] = [[(1, 1), (1, 4)]]


def test_nobody_reads_all_where_strips_are_being_exchanged(on_device: FortranStorage) -> None:
    on_device.begin_exchange_of_parts(1, EDGE, EDGE, "host")
    with pytest.raises(AccessConflictError):
        on_device.acquire("host", READ)
    on_device.acquire("gpu", READ)
    with pytest.raises(AccessConflictError):
        on_device.end_exchange()
    on_device.release("gpu")
    on_device.end_exchange()
    assert (on_device.is_valid("host"), on_device.is_valid("gpu")) == (False, True)
    on_device.close()


def test_who_writes_a_part_is_alone(on_device: FortranStorage) -> None:
    on_device.acquire_part(EDGE, "host", READ_WRITE)
    for space, mode in product(("host", "gpu"), (READ, WRITE)):
        with pytest.raises(AccessConflictError):
            on_device.acquire(space, mode)
        with pytest.raises(AccessConflictError):
            on_device.acquire_part(EDGE, space, mode)
    with pytest.raises(AccessConflictError):
        on_device.touch("host")
    on_device.release("host")
    on_device.close()


@pytest.mark.parametrize("box", [[(0, 1), (1, 4)], [(1, 1), (1, 5)], [(4, 5), (1, 1)]])
def test_a_part_lies_within_the_field(on_device: FortranStorage, box: Box) -> None:
    with pytest.raises(ViewTypeError):
        on_device.acquire_part([box], "host")
    with pytest.raises(ViewTypeError):
        on_device.begin_exchange_of_parts(1, [box], [], "host")
    with pytest.raises(ViewTypeError):
        on_device.begin_exchange_of_parts(1, [], [box], "host")
    on_device.close()


def test_a_part_of_what_is_read_only_is_not_written(load: Load) -> None:
    values = np.ones((4, 4), order="F")
    with load("emulated").wrap(values, FortranOptions("table", 1, read_only=True)) as storage:
        for use in (storage.acquire_part, lambda *_: storage.begin_exchange_of_parts(1, [], EDGE)):
            with pytest.raises(StorageError, match="read-only"):
                use(EDGE, "host", WRITE)
        storage.acquire_part(EDGE, "gpu", READ)
        storage.release("gpu")
        assert storage.statistics.to_device_bytes == 4 * 8


def test_a_device_that_is_not_there_is_refused(load: Load) -> None:
    library = load(OPENACC_DOUBLE)
    assert library.devices == 3
    with library.create((4,), "f8", FortranOptions("field")) as storage:
        with pytest.raises(StorageError, match="cannot use device 5: it does not exist"):
            storage.acquire("gpu:5", WRITE)
        storage.acquire("gpu:2", WRITE)
        storage.release("gpu:2")
        assert storage.is_valid("gpu:2")
    with pytest.raises(StorageError, match="device does not exist"):
        library.use_device(3)


def test_a_thread_that_uses_another_kind_of_device_finds_none(load: Load) -> None:
    """Copies are on devices of one kind: another one has none of them, nor what was written."""
    library = load(OPENACC_DOUBLE)
    choose = library.functions.acc_set_device_type
    with library.create((20,)) as storage:
        storage.touch()
        storage.acquire("gpu", READ_WRITE)
        storage.release("gpu")
        choose(5)
        try:
            for space in ("gpu", "gpu:1"):
                with pytest.raises(StorageError, match="it does not exist"):
                    storage.acquire(space)
        finally:
            choose(4)
        storage.acquire("gpu")
        storage.release("gpu")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    shape=st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple),
    first=st.integers(0, 5),
    last=st.integers(-1, 5),
    mode=st.sampled_from((READ, READ_WRITE)),
)
def test_blocks_move_alone_and_are_right(
    load: Load, shape: tuple[int, ...], first: int, last: int, mode: AccessMode
) -> None:
    """Blocks of one to five dimensions, compared with slices of a NumPy array."""
    size, blocks = int(np.prod(shape)), slice(first - 1, last)
    with load("emulated").create(shape, "f8") as storage:
        expected = np.arange(size, dtype="f8").reshape(shape, order="F")
        here = bytes_at(storage.get("host", WRITE), 8 * size).view("f8")
        here[...] = expected.ravel(order="F")
        if first <= last and not 1 <= first <= last <= shape[-1]:
            with pytest.raises(ViewTypeError, match="has no such block"):
                storage.acquire_blocks(range(first, last + 1), "gpu", mode)
            assert not storage.is_valid("gpu")
            return
        storage.acquire_blocks(range(first, last + 1), "gpu", mode)
        moved = expected[..., blocks] if first <= last else expected[..., :0]
        assert storage.statistics.to_device_bytes == moved.nbytes
        there = bytes_at(storage.address("gpu"), 8 * size).view("f8").reshape(shape, order="F")
        if first <= last:
            assert np.array_equal(there[..., blocks], moved)
            if mode.writes:
                there[..., blocks] += 100.0
                expected[..., blocks] += 100.0
        storage.release("gpu")
        assert not storage.is_valid("gpu")
        assert np.array_equal(here, expected.ravel(order="F"))
        assert storage.get("host") == storage.address("host")


def test_get_reports_errors_and_holds_nothing(load: Load) -> None:
    storage = load("emulated").create((4,), "f8", FortranOptions("field"))
    storage.touch()
    storage.acquire("gpu", READ_WRITE)
    for space in ("host", "gpu"):
        with pytest.raises(AccessConflictError, match='"field" cannot give read access'):
            storage.get(space)
    storage.release("gpu")
    with pytest.raises(UnknownSpaceError, match="beyond the maximum number"):
        storage.get("gpu:9")
    assert storage.get("gpu", READ_WRITE) == storage.address("gpu") != storage.address("host")
    assert not storage.is_valid("host")
    storage.close()
    with pytest.raises(AccessReleasedError, match="is closed"):
        storage.get()
