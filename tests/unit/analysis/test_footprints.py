"""Each property of a footprint prevents the transformations that need it, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from psyclone_storage.analysis.footprints import (
    Footprint,
    Reasons,
    check_fuse,
    check_jam,
    check_parallel,
    check_strip_mine,
    check_swap,
    check_tile,
)
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import dataclass

PROPERTIES = ("nested", "known", "bounds", "order", "strips", "alike", "ahead", "concurrent")


@dataclass(frozen=True, slots=True)
class ToyFootprint:
    """A third provider, of no language and no API: the properties that a loop lacks."""

    lacks: frozenset[str] = frozenset()
    inner: ToyFootprint | None = None

    def _check(self, name: str) -> Reasons:
        return (Diagnostic("T000", name, None),) if name in self.lacks else ()

    def check_nested(self) -> Reasons:
        return self._check("nested")

    def check_known(self) -> Reasons:
        return self._check("known")

    def check_bounds(self) -> Reasons:
        return self._check("bounds")

    def check_order(self) -> Reasons:
        return self._check("order")

    def check_strips(self) -> Reasons:
        return self._check("strips")

    def check_alike(self, other: ToyFootprint | None) -> Reasons:
        return self._check("alike") if other is not None else (Diagnostic("T000", "alike", None),)

    def check_ahead(self, other: ToyFootprint) -> Reasons:
        assert other is not self
        return self._check("ahead")

    def check_concurrent(self) -> Reasons:
        return self._check("concurrent")


def fuse_with_innocent(nest: ToyFootprint) -> Reasons:
    return check_fuse(nest, ToyFootprint())


QUERIES: Mapping[str, tuple[Callable[[ToyFootprint], Reasons], set[str]]] = {
    "swap": (check_swap, {"nested", "known", "bounds", "order"}),
    "strip-mine": (check_strip_mine, {"known", "strips"}),
    "tile": (check_tile, {"nested", "known", "bounds", "order", "strips"}),
    "jam": (check_jam, {"nested", "known", "bounds", "order", "strips"}),
    "fuse": (fuse_with_innocent, {"alike", "known", "ahead"}),
    "parallel": (check_parallel, {"concurrent"}),
}


@pytest.mark.parametrize(("query", "needed"), QUERIES.values(), ids=QUERIES)
def test_a_transformation_needs_its_properties(
    query: Callable[[Footprint], Reasons], needed: set[str]
) -> None:
    for name in PROPERTIES:
        nest = ToyFootprint(frozenset({name}), ToyFootprint())
        found = {reason.message for reason in query(nest)}
        assert found == ({name} if name in needed else set()), name


def test_tiles_need_strips_of_the_inner_loop_too() -> None:
    inner = ToyFootprint(frozenset({"strips"}))
    assert check_tile(ToyFootprint(inner=inner))
    assert not check_swap(ToyFootprint(inner=inner))
    assert not check_jam(ToyFootprint(inner=inner))


def test_no_reason_is_given_twice() -> None:
    nest = ToyFootprint(frozenset({"known"}), ToyFootprint(frozenset({"known"})))
    assert len(check_tile(nest)) == len(check_jam(nest)) == 1


def test_nothing_is_asked_of_a_loop_without_one_to_fuse_with() -> None:
    nest = ToyFootprint(frozenset({"known"}))
    assert [reason.message for reason in check_fuse(nest, None)] == ["alike"]


def test_what_the_second_loop_does_matters_for_fusion() -> None:
    second = ToyFootprint(frozenset({"known"}))
    assert [reason.message for reason in check_fuse(ToyFootprint(), second)] == ["known"]
