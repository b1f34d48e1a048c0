"""What GOcean's invokes become: nested loops, exchanges as deep as stencils reach, and no more."""

from __future__ import annotations

import pytest

from gocean_programs import READ, WRITE, kernel, schedule
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.region import WHOLE
from psyclone_storage.ir.schedule import Extent, HaloExchange, Loop, MarkHalo, Over, Reach, Schedule
from psyclone_storage.ir.verify import check_schedule
from psyclone_storage.ir.walk import outer_loops, statements

KERNELS = {
    "near": kernel(WRITE, "go_read, go_ct, go_stencil(010,111,010)", name="near"),
    "far": kernel(WRITE, "go_read, go_ct, go_stencil(000,210,000)", name="far"),
    "copy": kernel(WRITE, READ, name="copy"),
    "copy_all": kernel(WRITE, READ, name="copy_all", over="go_all_pts"),
    "inner": kernel(WRITE, READ, name="inner", over="go_inner_pts"),
    "area": kernel(WRITE, READ, "go_read, go_grid_area_t", name="area"),
}


def planned(calls: str) -> Schedule:
    made = schedule(KERNELS, calls)
    assert check_schedule(made) == ()
    return made


def exchanges(calls: str) -> list[str]:
    """Return the exchanges as `field:depth@loop`, all of which must be unconditional."""
    found = [item for item in planned(calls).body if isinstance(item, HaloExchange)]
    assert not any(item.guarded for item in found)
    return [f"{item.datum}:{item.depth.known}@{item.uid.partition('@')[2]}" for item in found]


def test_columns_are_counted_inside_rows() -> None:
    (outer,) = outer_loops(planned("copy(new, old)"))
    (inner,) = outer.body
    assert isinstance(inner, Loop)
    assert (outer.over, inner.over) == (Over.ROWS, Over.COLUMNS)
    assert [item.uid for item in statements(outer)] == ["columns@loop1", "copy@loop1"]


@pytest.mark.parametrize(
    ("call", "extent"),
    [
        ("copy(a, b)", Extent(Reach.OWNED)),
        ("copy_all(a, b)", Extent(Reach.HALO, WHOLE)),
        ("inner(a, b)", Extent(Reach.HALO, WHOLE)),
    ],
)
def test_extents(call: str, extent: Extent) -> None:
    assert outer_loops(planned(call))[0].extent == extent


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("copy(a, b)", []),
        ("copy_all(a, b)", []),
        ("near(a, b)", ["b:1@loop1"]),
        ("far(a, b)", ["b:2@loop1"]),
        ("near(a, b), near(c, b)", ["b:1@loop1"]),
        ("near(a, b), far(c, b)", ["b:2@loop1"]),
        ("far(a, b), near(c, b)", ["b:2@loop1"]),
        ("near(a, b), copy(c, b), near(d, b)", ["b:1@loop1"]),
        ("near(a, b), copy(b, a), near(a, b)", ["b:1@loop1", "b:1@loop3"]),
        ("copy_all(a, b), near(c, a)", ["a:1@loop2"]),
        ("near(a, b), copy_all(b, c), near(d, b)", ["b:1@loop1", "b:1@loop3"]),
        ("near(f(1), f(i)), copy(f(2), x), near(y, f(i))", ["f_i:1@loop1", "f_i:1@loop3"]),
    ],
)
def test_exchanges(calls: str, expected: list[str]) -> None:
    assert exchanges(calls) == expected


def test_nothing_is_marked_for_there_are_no_flags() -> None:
    body = planned("copy(a, b), near(c, a), copy(a, c)").body
    assert not any(isinstance(item, MarkHalo) for item in body)


def test_the_reasons_name_reader_and_writer() -> None:
    body = planned("copy(a, b), near(c, a)").body
    (exchange,) = (item for item in body if isinstance(item, HaloExchange))
    (reason,) = exchange.reasons
    assert (reason.reader, reason.writer) == ("near@loop2", "copy@loop1")
    assert reason.read == "with a stencil that reaches 1 point far"


def test_one_process_exchanges_nothing() -> None:
    made = schedule(KERNELS, "near(a, b), far(c, a)", distributed=False)
    assert all(isinstance(item, Loop) for item in made.body)
    assert {loop.extent for loop in outer_loops(made)} == {Extent(Reach.ALL)}
    assert check_schedule(made) == ()


def test_a_property_of_the_grid_is_no_argument_of_the_algorithm() -> None:
    made = planned("area(a, b)")
    assert [datum.name for datum in made.data] == ["a", "b"]


@pytest.mark.parametrize(
    ("entries", "passed", "field"),
    [
        ((WRITE, READ), "a, b", "b"),
        ((WRITE, "go_readwrite, go_ct, go_pointwise"), "a, b", "b"),
        (("go_readwrite, go_ct, go_pointwise", WRITE), "a, b", "a"),
        (("go_readwrite, go_ct, go_pointwise", READ), "a, b", "b"),
        ((WRITE,), "a", "a"),
    ],
)
def test_the_grid_is_reached_through_the_first_field_that_is_read(
    entries: tuple[str, ...], passed: str, field: str
) -> None:
    kernels: dict[str, Kernel] = {"k": kernel(*entries, "go_read, go_grid_area_t")}
    (call,) = (
        item for item in statements(schedule(kernels, f"k({passed})")) if item.uid == "k@loop1"
    )
    assert call.args[-1].value.text == field  # type: ignore[union-attr]


def test_any_offset_goes_with_every_other() -> None:
    kernels = {
        "one": kernel(WRITE, name="one", offset="go_offset_sw"),
        "any": kernel(WRITE, name="any", offset="go_offset_any"),
        "two": kernel(WRITE, name="two", offset="go_offset_ne"),
    }
    assert len(outer_loops(schedule(kernels, "any(a), one(a), any(a)"))) == 3
    with pytest.raises(CompileError, match="S113"):
        schedule(kernels, "any(a), one(a), two(a)")


def test_a_field_that_is_only_read_may_be_passed_twice() -> None:
    kernels = {"add": kernel(WRITE, READ, READ, name="add")}
    assert [datum.name for datum in schedule(kernels, "add(a, b, b)").data] == ["a", "b"]
    with pytest.raises(CompileError, match="S102"):
        schedule(kernels, "add(a, a, b)")


@pytest.mark.parametrize("second", ["scaled(b, a)", "numbered(b, x)"])
def test_what_is_not_declared_is_one_thing(second: str) -> None:
    kernels = {
        "scaled": kernel(WRITE, "go_read, go_r_scalar, go_pointwise", name="scaled"),
        "numbered": kernel(WRITE, "go_read, go_i_scalar, go_pointwise", name="numbered"),
    }
    assert len(schedule(kernels, "scaled(a, x), scaled(b, x)").data) == 3
    with pytest.raises(CompileError, match="S112"):
        schedule(kernels, f"scaled(a, x), {second}")
