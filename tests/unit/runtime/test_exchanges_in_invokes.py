"""Exchanges in an invoke use the arrays that it holds: no storage is accessed once more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.gocean import configure
from psyclone_storage.runtime import binding
from psyclone_storage.runtime.gocean import Field, Grid, Points, exchange, held
from psyclone_storage.runtime.ranks import SingleRank
from psyclone_storage.storage import Storage, use_device

EXAMPLE = Path(__file__).parents[3] / "examples" / "python" / "shallow_water"
PROGRAM = """
from psyclone_storage.gocean import *


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(
    new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("010,111,010")]
):
    new[0, 0] = 0.25 * (old[-1, 0] + old[1, 0] + old[0, -1] + old[0, 1])


def swap(a, b, c):
    invoke(smooth(b, a), smooth(c, b), smooth(a, c), name="swap")
"""
VALUES = np.arange(48.0).reshape(8, 6) ** 2


class Echo(SingleRank):
    """Another rank with the same values; `log` has the messages, in order."""

    size = 2

    def __init__(self, fail: Callable[[str], None] = lambda _: None) -> None:
        self.log: list[str] = []
        self.fail = fail
        self.waiting = 0

    def prepare(self, received: Any, sent: Any) -> Any:
        """Return messages of these places."""
        return Echoed(self, received, sent)

    def gathered(self, value: Any) -> list[Any]:
        """Return the value of both ranks."""
        return [value, value]


class Echoed:
    """Messages that arrive when they are finished."""

    def __init__(self, ranks: Echo, received: Any, sent: Any) -> None:
        self._ranks, self._received, self._sent = ranks, received, sent

    def start(self) -> None:
        """Start the messages."""
        self._ranks.log.append(f"start {len(self._sent)}")
        self._ranks.waiting += 1
        self._ranks.fail("start")

    def finish(self) -> None:
        """Finish the messages that were started."""
        if self._ranks.waiting:
            self._ranks.waiting -= 1
            for (_, targets, to_boxes), (_, sources, from_boxes) in zip(
                self._received, self._sent, strict=True
            ):
                for target, source in zip(targets, sources, strict=True):
                    boxes = zip(to_boxes or [...], from_boxes or [...], strict=True)
                    for to_box, from_box in boxes:
                        target[to_box] = source[from_box]
        self._ranks.fail("finish")


@pytest.fixture
def program(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return a module with an invoke of three exchanges."""
    (tmp_path / "program_with_exchanges.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import program_with_exchanges as made  # type: ignore[import-not-found]  # noqa: PLC0415

    yield made
    del sys.modules["program_with_exchanges"]
    configure()


def fields_on(grid: Grid, count: int = 3) -> list[Field]:
    """Return fields with values."""
    return [Field(grid, label="abc"[at], values=VALUES * (at + 1.0)) for at in range(count)]


def grid_with(ranks: Any, device: str | None = None) -> Grid:
    """Return a grid that is closed in x, and has another rank in y if there is one."""
    return Grid((8, 6), periodic=(True, True), device=device, ranks=ranks)


def expected() -> list[np.ndarray[Any, Any]]:
    """Return what the invoke computes, by NumPy."""

    def smooth(one: Any) -> Any:
        return 0.25 * (np.roll(one, 1, 0) + np.roll(one, -1, 0)
                       + np.roll(one, 1, 1) + np.roll(one, -1, 1))  # fmt: skip

    b = smooth(VALUES)
    c = smooth(b)
    return [smooth(c), b, c]


@pytest.mark.parametrize("options", ["", "JOINT_EXCHANGES=true", "DIRTY_FLAGS=true"])
@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_no_storage_is_accessed_for_an_exchange(
    program: ModuleType, target: str, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(distributed=True, target=target, config_opts=options)
    use_device("emulated")
    fields = fields_on(grid_with(SingleRank(), "gpu" if target == "cuda" else None))
    program.swap(*fields)
    for field, value in zip(fields, fields_on(fields[0].grid), strict=True):
        field.storage[...] = value.storage.data_ro

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an exchange accesses a storage")

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "access", refuse)
        patched.setattr(binding, "bound", refuse)
        patched.setattr(binding, "LaunchBlock", refuse)
        program.swap(*fields)
    for field, values in zip(fields, expected(), strict=True):
        np.testing.assert_allclose(field.values, values, rtol=1e-14)


@pytest.mark.parametrize("flags", ["", " DIRTY_FLAGS=true"])
@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_exchanges_that_overlap_give_the_same_values(
    program: ModuleType, target: str, flags: str
) -> None:
    config_opts = f"JOINT_EXCHANGES=overlapped{flags}"
    configure(distributed=True, target=target, config_opts=config_opts)
    use_device("emulated")
    fields = fields_on(grid_with(SingleRank(), "gpu" if target == "cuda" else None))
    program.swap(*fields)
    for field, values in zip(fields, expected(), strict=True):
        np.testing.assert_allclose(field.values, values, rtol=1e-14)


def test_fields_that_the_host_has_share_messages_in_place() -> None:
    ranks = Echo()
    fields = fields_on(grid_with(ranks))
    exchange(fields, 1)
    assert ranks.log == ["start 1"]
    alone = fields_on(grid_with(Echo()))
    for field, other in zip(fields, alone, strict=True):
        other.exchange(1)
        np.testing.assert_array_equal(field.storage.data_ro, other.storage.data_ro)


def test_messages_of_fields_that_are_gone_are_forgotten() -> None:
    ranks = Echo()
    first, second = fields_on(grid_with(ranks), 2)
    exchange([first, second], 1)
    assert len(first._in_place) == 1
    del second
    assert not first._in_place
    other = fields_on(first.grid, 3)[2]
    exchange([first, other], 1)
    alone = fields_on(first.grid, 3)[2]
    alone.exchange(1)
    np.testing.assert_array_equal(other.storage.data_ro, alone.storage.data_ro)


@pytest.mark.parametrize("place", ["start", "finish"])
def test_messages_that_an_interrupt_leaves_are_finished(place: str) -> None:
    def fail(where: str) -> None:
        if where == place:
            raise KeyboardInterrupt

    ranks = Echo(fail)
    (field,) = fields_on(grid_with(ranks), 1)
    with pytest.raises(KeyboardInterrupt):
        field.exchange(1)
    assert ranks.waiting == 0
    assert field.is_dirty(1)
    assert field.storage.buffer.poisoned is not None


def test_an_interrupted_exchange_spoils_what_the_invoke_holds(program: ModuleType) -> None:
    def fail(_: str) -> None:
        raise KeyboardInterrupt

    ranks = Echo()
    configure(distributed=True)
    fields = fields_on(grid_with(ranks))
    program.swap(*fields)
    ranks.fail = fail
    with pytest.raises(KeyboardInterrupt):
        program.swap(*fields)
    assert ranks.waiting == 0
    assert all(field.is_dirty(1) for field in fields)
    assert all(field.storage.buffer.poisoned is not None for field in fields)
    assert binding.held_arrays(fields[:1]) is None
    ranks.fail = lambda _: None
    for field, again in zip(fields, fields_on(fields[0].grid), strict=True):
        field.storage.data_wo[...] = again.storage.data_ro
    program.swap(*fields)


def test_blocks_of_other_threads_and_earlier_ones_are_not_used() -> None:
    import threading  # noqa: PLC0415

    first, second = fields_on(grid_with(SingleRank()), 2)
    found: list[Any] = []
    with held(read=(second,), written=(first,)) as (_, array):
        assert binding.held_arrays([first]) == (array,)
        assert binding.held_arrays([second]) is None
        assert binding.held_arrays([first, second]) is None
        other = threading.Thread(target=lambda: found.append(binding.held_arrays([first])))
        other.start()
        other.join()
        with held(written=(second,)):
            assert binding.held_arrays([first]) is None
        assert binding.held_arrays([first]) == (array,)
    assert found == [None]
    assert binding.held_arrays([first]) is None


def test_a_storage_that_has_moved_is_exchanged_where_it_is() -> None:
    ranks = Echo()
    (field,) = fields_on(grid_with(ranks), 1)
    field.exchange(1)
    other = Field(field.grid, values=7.0 * VALUES)
    field._storage = other.storage
    field.exchange(1)
    again = Field(field.grid, values=7.0 * VALUES)
    again.exchange(1)
    np.testing.assert_array_equal(field.storage.data_ro, again.storage.data_ro)


@pytest.mark.parametrize("options", ["", "JOINT_EXCHANGES=true"])
@pytest.mark.parametrize("ranks", [SingleRank(), Echo()], ids=["alone", "two"])
def test_an_invoke_prepares_its_exchanges_once(
    program: ModuleType, ranks: Any, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(distributed=True, config_opts=options)
    fields, again = fields_on(grid_with(ranks)), fields_on(grid_with(ranks))
    program.swap(*fields)
    program.swap(*again)

    def refuse(*_: Any) -> Any:
        raise AssertionError("an exchange is prepared")

    module = sys.modules["psyclone_storage.runtime.gocean.exchange"]
    with monkeypatch.context() as patched:
        patched.setattr(module, "_exchange_together", refuse)
        program.swap(*fields)
    program.swap(*again)
    for field, other in zip(fields, again, strict=True):
        np.testing.assert_array_equal(field.storage.data_ro, other.storage.data_ro)
        assert field.clean_halo_depth == other.clean_halo_depth


def test_a_prepared_exchange_reports_one_under_way(program: ModuleType) -> None:
    configure(distributed=True)
    fields = fields_on(grid_with(Echo()))
    program.swap(*fields)
    field = fields[0]
    with binding.holding(Holder(field)):
        field.exchange(1)
        field.start_exchange(1)
        with pytest.raises(RuntimeError, match="has not been finished"):
            field.exchange(1)
        field.finish_exchange()
        field.exchange(1)


class Holder:
    """A block that has acquired a field."""

    def __init__(self, field: Field) -> None:
        self.exchanges: binding.Exchanges = {}
        self._field, self._array = field, field.storage.ndarray

    def held_on_host(self, data: Any) -> Any:
        """Return the array of the field."""
        return (self._array,) if data[0] is self._field else None

    def held_on_device(self, _: Any) -> None:
        """Return None: the field is on the host."""


# ---------------------------------------------------------------------------- flags

FLAGS = "DIRTY_FLAGS=true"


WAVES = """
from continuity_mod import continuity
from coriolis_mod import average_u, average_v
from momentum_mod import momentum_u, momentum_v

from psyclone_storage.gocean import *


def advance(height, u, v, depth_u, depth_v, v_at_u, u_at_v, step, gravity, coriolis):
    invoke(
        continuity(height, u, v, depth_u, depth_v, step),
        average_v(v_at_u, v),
        momentum_u(u, height, v_at_u, step, gravity, coriolis),
        average_u(u_at_v, u),
        momentum_v(v, height, u_at_v, step, gravity, coriolis),
        name="advance",
    )
"""


@pytest.fixture
def waves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return one step of the example with shallow water."""
    (tmp_path / "waves_of_the_example.py").write_text(WAVES, encoding="utf-8")
    monkeypatch.syspath_prepend(EXAMPLE / "kernels")
    monkeypatch.syspath_prepend(tmp_path)
    import waves_of_the_example as made  # type: ignore[import-not-found]  # noqa: PLC0415

    yield made.advance
    del sys.modules["waves_of_the_example"]
    configure()


def waves_on(grid: Grid) -> list[Field]:
    """Return the fields of a step, with values."""
    kinds = (Points.T, Points.U, Points.V, Points.U, Points.V, Points.U, Points.V)
    return [Field(grid, kind, str(at), values=VALUES + at) for at, kind in enumerate(kinds)]


@pytest.mark.parametrize(("options", "counts"), [("", [6, 6, 6]), (FLAGS, [6, 3, 3])])
@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_fields_that_no_kernel_writes_are_exchanged_once(
    waves: Callable[..., None], target: str, options: str, counts: list[int]
) -> None:
    configure(distributed=True, target=target, config_opts=options)
    use_device("emulated")
    ranks = Echo()
    fields = waves_on(grid_with(ranks, "gpu" if target == "cuda" else None))
    found = []
    for _ in counts:
        ranks.log.clear()
        waves(*fields, 0.01, 9.81, 1.0e-4)
        found.append(len(ranks.log))
    assert found == counts
    configure(distributed=True)
    others = waves_on(grid_with(Echo()))
    for _ in counts:
        waves(*others, 0.01, 9.81, 1.0e-4)
    for field, other in zip(fields, others, strict=True):
        np.testing.assert_allclose(field.values, other.values, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_an_exchange_that_moves_nothing_leaves_device_copies_valid(
    waves: Callable[..., None], target: str
) -> None:
    configure(distributed=True, target=target, config_opts=FLAGS)
    use_device("emulated")
    for ranks in (Echo(), SingleRank()):
        fields = waves_on(Grid((8, 6), device="gpu", ranks=ranks))
        waves(*fields, 0.01, 9.81, 1.0e-4)
        depth = fields[3].storage
        depth.synchronize()
        version = depth.buffer.version
        waves(*fields, 0.01, 9.81, 1.0e-4)
        assert depth.is_current("gpu")
        assert depth.buffer.version == version
        assert not fields[3].is_dirty()
        assert not fields[0].storage.is_current("gpu")
        # The flags tell, and not the values, which one rank alone may have written.
        depth[0, 0] = 3.0
        assert not fields[3].is_dirty()
        depth.synchronize()
        fields[3].set_dirty()
        waves(*fields, 0.01, 9.81, 1.0e-4)
        assert depth.is_current("gpu") is (ranks.size == 1)


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_an_invoke_that_fails_leaves_no_field_clean(
    waves: Callable[..., None], target: str
) -> None:
    def fail(_: str) -> None:
        if len(ranks.log) == 2:
            raise KeyboardInterrupt

    configure(distributed=True, target=target, config_opts=FLAGS)
    ranks = Echo()
    fields = waves_on(grid_with(ranks))
    waves(*fields, 0.01, 9.81, 1.0e-4)
    assert [field.is_dirty() for field in fields] == [False, False, True, False, False, True, True]
    ranks.fail = fail
    ranks.log.clear()
    with pytest.raises(KeyboardInterrupt):
        waves(*fields, 0.01, 9.81, 1.0e-4)
    assert [field.is_dirty() for field in fields] == [True, True, True, False, False, True, True]
