"""What directives of kernels say, read from the text of an author."""

from __future__ import annotations

import pytest

from psyclone_storage.ir.directive import (
    AccLoopDirective,
    AccRoutineDirective,
    DeclareTargetDirective,
    DeviceLevel,
    KernelDirective,
)
from psyclone_storage.languages.fortran.parse.directive_semantics import meaning_of
from psyclone_storage.languages.fortran.print.directives import spell_meaning

VECTOR, GANG = DeviceLevel.VECTOR, DeviceLevel.GANG


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("acc routine", AccRoutineDirective(DeviceLevel.SEQ)),
        ("ACC Routine(k_code) Vector nohost", AccRoutineDirective(VECTOR)),
        ("acc routine (vector) seq", AccRoutineDirective(DeviceLevel.SEQ)),
        ("acc routines", None),
        ("omp declare  target", DeclareTargetDirective()),
        ("omp declare reduction(+:t:omp_out=omp_out+omp_in)", None),
        ("acc loop", AccLoopDirective(())),
        ("acc loop gang vector(128)", AccLoopDirective((VECTOR, GANG))),
        ("acc loop independent private(gang)", AccLoopDirective((), ("gang",))),
        (
            "acc loop vector private(a, B) reduction(+:s,t) reduction(max : m)",
            AccLoopDirective((VECTOR,), ("a", "b"), (("+", "s"), ("+", "t"), ("max", "m"))),
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
        *map(AccRoutineDirective, DeviceLevel),
        DeclareTargetDirective(),
        AccLoopDirective((VECTOR,), ("t", "u"), (("+", "s"), (".and.", "all_of_them"))),
        AccLoopDirective((DeviceLevel.WORKER,)),
    ],
)
def test_what_is_printed_says_the_same(meaning: KernelDirective) -> None:
    assert meaning_of(spell_meaning(meaning)) == meaning
