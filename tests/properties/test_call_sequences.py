"""Random sequences of invokes: the C extension and the Python fallback agree with NumPy."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_ALL_PTS,
    GO_EVERY,
    GO_I_SCALAR,
    GO_OFFSET_ANY,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.jit import _pure, call_cache
from psyclone_storage.runtime.gocean import Field, Grid

CORES: list[Any] = [_pure]
if call_cache.COMPILED:
    from psyclone_storage.jit import _compiled

    CORES.append(_compiled)
STEPS = 120


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def mix(
    y: field[GO_READWRITE, GO_EVERY],
    x: field[GO_READ, GO_EVERY],
    a: scalar[GO_READ, GO_R_SCALAR],
    n: scalar[GO_READ, GO_I_SCALAR],
):
    y[0, 0] = 0.5 * y[0, 0] + a * x[0, 0] + n


@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def put(y: field[GO_READWRITE, GO_EVERY], a: scalar[GO_READ, GO_R_SCALAR]):
    y[0, 0] = a - y[0, 0]


def once(y: Any, x: Any, a: Any, n: Any) -> None:
    invoke(mix(y, x, a, n))


def twice(y: Any, x: Any, a: Any, n: Any) -> None:
    invoke(mix(y, x, a, n), put(x, a), mix(y, x, 2.0, n))


def otherwise(y: Any, x: Any, a: Any, n: Any) -> None:
    calls = (put(y, a), mix(y, x, a, n)) if n == 1 else (mix(y, x, a, n),)
    invoke(*calls)


def mixed(y: float, x: float, a: float, n: int) -> float:
    return 0.5 * y + a * x + n


def meant(place: Any, y: float, x: float, a: float, n: int) -> tuple[float, float]:
    """Return what both fields have afterwards."""
    if place is once:
        return mixed(y, x, a, n), x
    if place is twice:
        y, x = mixed(y, x, a, n), a - x
        return mixed(y, x, 2.0, n), x
    return (mixed(a - y, x, a, n), x) if n == 1 else (mixed(y, x, a, n), x)


REALS = (2.0, 0.5, -0.0, 3, np.float64(0.25), float("nan"), float("inf"), True, "2", None)
WHOLES = (0, 1, 5, np.int64(1), 2.0, 2**31, False)


def outcomes(core: Any, target: str, seed: int, patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield what becomes of each step: numbers, or what is raised."""
    patch.setattr(call_cache, "CachedCall", core.CachedCall)
    patch.setattr(call_cache, "find_call", core.find_call)
    configure(distributed=False, target=target)
    chance, grid = random.Random(seed), Grid((3, 2))
    fields = [Field(grid, values=float(number)) for number in range(3)]
    held = [float(number) for number in range(3)]
    for step in range(STEPS):
        if chance.random() < 0.1:
            at = chance.randrange(3)
            fields[at], held[at] = Field(grid, values=7.0), 7.0
        if chance.random() < 0.1:
            configure(distributed=False, target=target)
        odd = chance.random() < 0.3
        place = chance.choice((once, twice, otherwise))
        a = chance.choice(REALS if odd else REALS[:2])
        n = chance.choice(WHOLES if odd else WHOLES[:2])
        first, second = chance.choices(range(3), k=2) if odd else chance.sample(range(3), 2)
        try:
            place(fields[first], fields[second], a, n)
        except (CompileError, TypeError, OverflowError) as error:
            yield type(error).__name__, str(error)
        else:
            assert a not in ("2", None)
            assert True not in (a is True, n is False, type(n) is float)
            # NumPy computes with integers of any size.
            assert n < 2**31 or target
            assert first != second
            held[first], held[second] = meant(place, held[first], held[second], a, n)  # type: ignore[arg-type]
        found = [float(one.values[1, 1]) for one in fields]
        assert np.array_equal(np.array(found), np.array(held), equal_nan=True), (step, place, a, n)
        yield found
    gc.collect()


@pytest.mark.parametrize("target", ["", "numpy"])
@pytest.mark.parametrize("seed", [1, 2])
def test_both_do_what_numpy_does(target: str, seed: int) -> None:
    told = []
    for core in CORES:
        PROGRAM.session.calls.clear()
        with pytest.MonkeyPatch.context() as patch:
            told.append([*outcomes(core, target, seed, patch)])
        PROGRAM.runners.clear()
    configure()
    assert all(repr(one) == repr(told[0]) for one in told)
    assert sum(isinstance(one, tuple) for one in told[0]) > STEPS // 20
