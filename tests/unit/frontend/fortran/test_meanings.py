"""What directives of kernels say, read from the text of an author."""

from __future__ import annotations

import pytest

from psyclone_storage.backend.fortran.directives import spell_meaning
from psyclone_storage.frontend.fortran.meanings import meaning_of
from psyclone_storage.ir.directive import (
    AccLoop,
    AccRoutine,
    DeclareTarget,
    DeviceLevel,
    KernelDirective,
)

VECTOR, GANG = DeviceLevel.VECTOR, DeviceLevel.GANG


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("acc routine", AccRoutine(DeviceLevel.SEQ)),
        ("ACC Routine(k_code) Vector nohost", AccRoutine(VECTOR)),
        ("acc routine (vector) seq", AccRoutine(DeviceLevel.SEQ)),
        ("acc routines", None),
        ("omp declare  target", DeclareTarget()),
        ("omp declare reduction(+:t:omp_out=omp_out+omp_in)", None),
        ("acc loop", AccLoop(())),
        ("acc loop gang vector(128)", AccLoop((VECTOR, GANG))),
        ("acc loop independent private(gang)", AccLoop((), ("gang",))),
        (
            "acc loop vector private(a, B) reduction(+:s,t) reduction(max : m)",
            AccLoop((VECTOR,), ("a", "b"), (("+", "s"), ("+", "t"), ("max", "m"))),
        ),
        ("acc parallel loop", None),
        ("", None),
    ],
)
def test_meanings_are_read(text: str, meaning: KernelDirective | None) -> None:
    assert meaning_of(text) == meaning


@pytest.mark.parametrize(
    "meaning",
    [
        *map(AccRoutine, DeviceLevel),
        DeclareTarget(),
        AccLoop((VECTOR,), ("t", "u"), (("+", "s"), (".and.", "all_of_them"))),
        AccLoop((DeviceLevel.WORKER,)),
    ],
)
def test_what_is_printed_says_the_same(meaning: KernelDirective) -> None:
    assert meaning_of(spell_meaning(meaning)) == meaning
