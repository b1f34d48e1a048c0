"""What is called in Fortran, by whom and when: failures, garbage, messages that are kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psyclone_storage.runtime.lfric.exchange import JointPool
from psyclone_storage.runtime.lfric.library import InfrastructureLibrary, agreed
from psyclone_storage.runtime.lfric.routing import DofMessage, Routing
from psyclone_storage.runtime.lfric.space import FunctionSpace
from psyclone_storage.storage import zeros


class OneOfTwo:
    """A rank that passes nothing, and remembers what it tells the other."""

    size, rank = 2, 0

    def __init__(self) -> None:
        self.told: list[Any] = []

    def gathered(self, words: Any) -> list[Any]:
        self.told.append(words)
        return [words, None]

    def prepare(self, _received: Any, _sent: Any) -> Any:
        return SimpleNamespace(start=lambda: None, finish=lambda: None)


@pytest.mark.parametrize("failure", [MemoryError(), RuntimeError("lost"), ValueError("wrong")])
def test_a_rank_that_fails_tells_the_others(failure: Exception) -> None:
    ranks: Any = OneOfTwo()

    def work() -> None:
        raise failure

    with pytest.raises(type(failure)):
        agreed(ranks, work)
    assert ranks.told == [str(failure) or "MemoryError"]


def test_garbage_is_freed_when_a_call_has_ended() -> None:
    order: list[str] = []

    class Loaded(dict[str, Any]):
        """Functions, of which one finds garbage on its way."""

        def __missing__(self, name: str) -> Any:
            return self.setdefault(name, Function(name))

    class Function:
        """One of them."""

        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, *_: Any) -> int:
            order.append(f"begin {self.name}")
            if self.name == "lfric_count_objects":
                library.free(7)
            order.append("end")
            return 0

    loaded: Any = Loaded()
    library = InfrastructureLibrary(loaded)
    library.call("count_objects")
    assert order == ["begin lfric_count_objects", "end", "begin lfric_free", "end"]
    library.free(8)
    assert order[4:] == ["begin lfric_free", "end"]


def test_messages_keep_the_routings_that_they_are_known_by() -> None:
    places = np.array([1])
    made: Callable[[], Routing] = lambda: Routing(  # noqa: E731
        (DofMessage(1, places, places),), (DofMessage(1, places, places),)
    )
    ranks: Any = OneOfTwo()
    field = SimpleNamespace(storage=zeros((4,), np.dtype(float)))
    pool, fields, routing = JointPool(ranks), [field], made()
    gone = weakref.ref(routing)
    pool.put(pool.take(fields, [routing]))
    del routing
    gc.collect()
    assert gone() is not None


def test_ranks_with_few_cells_refuse_what_those_with_many_do() -> None:
    mesh: Any = SimpleNamespace(most_cells=2_000_000, nlayers=99, library=SimpleNamespace())
    mesh.library.call = lambda *_: 1
    with pytest.raises(ValueError, match="more dofs than numbers of 32 bits"):
        FunctionSpace(mesh, "w3", (0, 0), 1, False)
