"""Steps on kernels in whole programs: generated code compiles and computes the same results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.fortran


@pytest.mark.parametrize(
    "steps",
    [
        "inline-call",
        "inline-call; openmp-parallel-do",
        "bounds-inside",
        "bounds-inside; inline-call",
        "intrinsics-to-code; inline-call",
    ],
)
def test_waves_stay_the_same(steps: str, waves: Callable[..., list[str]]) -> None:
    assert waves("-nodm", "--apply", steps) == waves("-nodm")
