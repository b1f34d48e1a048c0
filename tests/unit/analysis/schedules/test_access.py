"""Overlap and coverage, as the seed's Dependence Analysis defines them."""

from __future__ import annotations

import pytest

from psyclone_storage.analysis.schedules.access import AccessCoverage, DataUse, touched_parts
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.kernel import Access

VECTOR = DataUse("loop1", "f1", touched_parts(None, 3), Access.READ)


def exchange(component: int, datum: str = "f1") -> DataUse:
    uid = f"halo({datum}[{component}])@loop1"
    return DataUse(uid, datum, touched_parts(component, 3), Access.READWRITE, exchange=True)


def test_accesses_to_different_data_do_not_overlap() -> None:
    other = DataUse("loop2", "f2", touched_parts(None, 3), Access.WRITE)
    assert not AccessCoverage(VECTOR).overlaps(other)


def test_any_two_accesses_to_the_same_field_overlap() -> None:
    field = DataUse("loop1", "f", touched_parts(None, 1), Access.READ)
    other = DataUse("loop2", "f", touched_parts(None, 1), Access.READ)
    assert AccessCoverage(field).overlaps(other)


def test_exchanges_of_different_components_do_not_overlap_but_each_does_with_the_loop() -> None:
    assert not AccessCoverage(exchange(1)).overlaps(exchange(2))
    assert AccessCoverage(exchange(1)).overlaps(exchange(1))
    assert AccessCoverage(VECTOR).overlaps(exchange(2))
    assert AccessCoverage(exchange(2)).overlaps(VECTOR)


def test_a_vector_is_covered_by_the_exchanges_of_all_its_components() -> None:
    access = AccessCoverage(VECTOR)
    seen = []
    for component in (1, 2, 3):
        access.update_coverage(exchange(component))
        seen.append(access.covered)
    assert seen == [False, False, True]


def test_coverage_starts_anew_after_a_reset() -> None:
    access = AccessCoverage(VECTOR)
    access.update_coverage(DataUse("loop0", "f1", touched_parts(None, 3), Access.WRITE))
    assert access.covered
    access.reset_coverage()
    assert access.remaining == {1, 2, 3}
    access.update_coverage(exchange(1))
    assert access.remaining == {2, 3}


def test_what_does_not_overlap_covers_nothing() -> None:
    access = AccessCoverage(VECTOR)
    access.update_coverage(exchange(1, datum="f2"))
    assert access.remaining == {1, 2, 3}


def test_two_exchanges_of_one_component_are_an_error() -> None:
    access = AccessCoverage(VECTOR)
    access.update_coverage(exchange(2))
    with pytest.raises(InternalError, match="second halo exchange of the same component of 'f1'"):
        access.update_coverage(exchange(2))
