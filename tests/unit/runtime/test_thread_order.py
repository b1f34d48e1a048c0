"""The selected order of threads on an emulated device."""

from __future__ import annotations

import shutil
from ctypes import CDLL, c_int, c_uint64
from math import gcd, prod

import pytest

from psyclone_storage.runtime.compiling import load_library
from psyclone_storage.runtime.device import ORDER_VARIABLE, KernelLibrary

PRIMES = (7919, 7907, 7901, 7883, 7879)
"""The steps of the mixed order; none may divide the number of threads that it is taken for."""
VISITS = """
void visits(uint64_t threads, int *seen)
{
    PSY_LAUNCH_LINE(threads, ++seen[blockIdx.x * blockDim.x + threadIdx.x]);
}
uint64_t place(uint64_t at, uint64_t count)
{
    return psy_thread(at, count);
}
"""


def launcher(order: str, monkeypatch: pytest.MonkeyPatch) -> CDLL:
    """Return what launches threads in an order, or skip without a compiler."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    monkeypatch.setenv(ORDER_VARIABLE, order)
    found = load_library(KernelLibrary({"__c__": VISITS}).text())
    found.place.argtypes = (c_uint64, c_uint64)
    found.place.restype = c_uint64
    return found


@pytest.mark.parametrize("order", ["0", "1", "2"])
@pytest.mark.parametrize("threads", [4, 4 * PRIMES[0], 4 * PRIMES[1], 31672])
def test_each_thread_runs_once(order: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = (c_int * threads)()
    launcher(order, monkeypatch).visits(c_uint64(threads), seen)
    assert set(seen) == {1}


@pytest.mark.parametrize("shared", range(len(PRIMES)))
def test_a_step_has_no_divisor_of_the_number_of_threads(
    shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 4 * prod(PRIMES[:shared])
    assert count < 2**63
    place = launcher("2", monkeypatch).place
    assert gcd(place(1, count) - place(0, count), count) == 1


@pytest.mark.parametrize("word", ["mixed", "3", ""])
def test_a_word_that_is_no_order_is_told_by_its_variable(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ORDER_VARIABLE, word)
    with pytest.raises(ValueError, match=f"{ORDER_VARIABLE} is 0, 1 or 2, not '{word}'"):
        KernelLibrary.text(KernelLibrary.__new__(KernelLibrary))
