"""Invokes that are compiled when a program reaches them."""

from __future__ import annotations

import gc
import importlib.util
import json
import sys
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from command import run_command
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.embedded.invoke import PROGRAM
from psyclone_storage.gocean import (
    GO_CT,
    GO_CU,
    GO_EVERY,
    GO_I_SCALAR,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_OFFSET_SW,
    GO_R_SCALAR,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    configure,
    field,
    invoke,
    kernel,
    scalar,
)
from psyclone_storage.ir.view import schedule_json
from psyclone_storage.jit.invokes import builds_of
from psyclone_storage.runtime.gocean import Field, Grid, Offset, Points
from storage_devices import device_in_place
from unit.pipeline.test_python_schedules import CORPUS, PAIRS, without_places

FACTOR = 2.0
model_values = ModuleType("model_values")
sys.modules["model_values"] = model_values


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def east(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,001,000")]):
    new[0, 0] = old[1, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = FACTOR * by * new[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def advance(new: field[GO_READWRITE, GO_CT]):
    step: float = model_values.step
    count: int = model_values.count
    new[0, 0] = new[0, 0] + step * count + float(np.float32(count)) * 0.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def nearest(new: field[GO_READWRITE, GO_CT]):
    new[0, 0] = 10 * (int(new[0, 0]) + int(2.0 * (new[0, 0] - int(new[0, 0]))))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def broken(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = missing  # noqa: F821


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    configure()


def fields(count: int) -> list[Field]:
    grid = Grid((4, 3), periodic=(True, True))
    values = np.arange(12.0).reshape(4, 3)
    return [Field(grid, Points.T, f"f{number}", values=values + number) for number in range(count)]


def test_values_and_exchanges() -> None:
    one, two = fields(2)
    was = two.values.copy()
    invoke(east(one, two), scale(one, 0.5), name="move")
    assert np.array_equal(one.values, np.roll(was, -1, axis=0))


def test_names_are_those_of_the_text() -> None:
    state = SimpleNamespace(new=fields(1)[0], old=None)
    invoke(scale(state.new, 3.0))
    schedule = builds_of(PROGRAM.session)[-1].program.invokes[0].schedule
    assert [datum.name for datum in schedule.data] == ["state_new"]


def test_one_object_has_one_name() -> None:
    one, two = fields(2)
    again = one
    was = one.values.copy()
    invoke(scale(one, 1.0), east(two, again))
    schedule = builds_of(PROGRAM.session)[-1].program.invokes[0].schedule
    assert [datum.name for datum in schedule.data] == ["one", "two"]
    assert np.array_equal(two.values, np.roll(2.0 * was, -1, axis=0))


def test_one_place_with_other_objects_is_compiled_again_and_kept() -> None:
    one, two = fields(2)
    before = len(builds_of(PROGRAM.session))
    for first, second in ((one, two), (one, one), (two, one), (two, two)):
        invoke(scale(first, 1.0), scale(second, 1.0))
    assert len(builds_of(PROGRAM.session)) == before + 2


def test_calls_that_are_made_elsewhere() -> None:
    one, two, three = fields(3)
    was = one.values.copy()
    invoke(*[scale(some, factor) for some, factor in ((one, 0.5), (two, 1.0), (three, 2.0))])
    assert np.array_equal(one.values, was)
    assert np.array_equal(three.values, 4.0 * (was + 2.0))


def test_constants_are_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = fields(1)
    was = one.values.copy()
    for factor in (3.0, 5.0):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", factor)
        invoke(scale(one, 1.0))
    assert np.array_equal(one.values, 15.0 * was)


@pytest.mark.parametrize("target", ["", "numpy"])
def test_variables_of_other_modules_are_read_each_time(target: str) -> None:
    configure(target=target)
    (one,) = fields(1)
    was = one.values.copy()
    for step, count in ((0.5, 2), (0.25, 3)):
        model_values.step, model_values.count = step, count
        invoke(advance(one))
    assert np.array_equal(one.values, was + 1.0 + 0.75)
    assert advance.at(new=1.0) == 1.75


@pytest.mark.parametrize("target", ["", "numpy"])
def test_nearest_numbers_of_any_size(target: str) -> None:
    configure(target=target)
    small = [0.5, -0.5, 0.5 - 2.0**-54, 2.5, -2.5, -0.25]
    large = [2147483647.5, -2.5e9, 1e17 / 3, 1e300, 4503599627370495.5, -4503599627370497.0]
    was = np.array([small, large]).reshape(4, 3)
    one = Field(Grid((4, 3)), values=was)
    invoke(nearest(one))
    assert np.array_equal(one.values, np.vectorize(nearest.at, otypes=[float])(was))
    assert one.values[2, 0] == 21474836480.0


def test_what_is_wrong_is_shown() -> None:
    (one,) = fields(1)
    with pytest.raises(CompileError) as caught:
        invoke(broken(one))
    (note,) = caught.value.__notes__
    assert "'missing' is not defined" in note
    assert "test_compiled_invokes.py" in note
    assert "^^^^^^^" in note


def test_only_lines_of_the_program_are_shown() -> None:
    (one,) = fields(1)
    with pytest.raises(CompileError) as caught:
        invoke(broken(one))
    shown = [Path(line.filename).name for line in traceback.extract_tb(caught.value.__traceback__)]
    assert shown[0] == "test_compiled_invokes.py"
    assert set(shown[1:]) == {"invoke.py"}
    in_notebook = caught.value._render_traceback_()
    assert in_notebook[0] == "error[P053]: 'missing' is not defined."
    assert any("^^^^^^^" in line for line in in_notebook)


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def repeat(new: field[GO_WRITE, GO_CT], times: scalar[GO_READ, GO_I_SCALAR]):
    new[0, 0] = times


def test_a_number_that_is_not_whole_is_refused_and_harms_nothing() -> None:
    (one,) = fields(1)
    for number in (3, np.int64(4), 2.5, np.float64(2.0)):
        if isinstance(number, float):
            with pytest.raises(TypeError, match=r"takes an integer, .* argument 2"):
                invoke(repeat(one, number))
        else:
            invoke(repeat(one, number))
            assert one.values.max() == number


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_SW)
def to_the_west(new: field[GO_WRITE, GO_CU], old: field[GO_READ, GO_EVERY]):
    new[0, 0] = old[0, 0]


@pytest.mark.parametrize("target", ["c", "cuda", "numpy"])
def test_fields_are_on_the_points_that_kernels_are_for(target: str) -> None:
    configure(target=target)
    device = "gpu" if target == "cuda" else None
    with device_in_place("emulated"):
        west = Grid((4, 3), offset=Offset.SOUTH_WEST, device=device)
        u, v, any_ = (Field(west, one, one.name) for one in (Points.U, Points.V, Points.ALL))
        invoke(to_the_west(u, v))
        invoke(to_the_west(any_, v))
        with pytest.raises(ValueError, match=r"'V' is on V points, .* takes one on U points"):
            invoke(to_the_west(v, u))
        east = Grid((4, 3), device=device)
        with pytest.raises(ValueError, match=r"has the offset Offset.NORTH_EAST, .*SOUTH_W"):
            invoke(to_the_west(Field(east, Points.U, "new"), Field(east)))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def both(
    new: field[GO_WRITE, GO_EVERY],
    on_t: field[GO_READ, GO_CT],
    on_u: field[GO_READ, GO_CU],
    anywhere: field[GO_READ, GO_EVERY],
):
    new[0, 0] = on_t[0, 0] + on_u[0, 0] + anywhere[0, 0]


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def write_u(new: field[GO_WRITE, GO_CU]):
    new[0, 0] = 1.0


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def write_anywhere(new: field[GO_WRITE, GO_EVERY]):
    new[0, 0] = 2.0


@pytest.mark.parametrize("target", ["c", "cuda", "numpy"])
def test_a_field_is_checked_in_each_of_its_roles(target: str) -> None:
    configure(target=target)
    points = (Points.T, Points.T, Points.U, Points.V, Points.ALL)
    with device_in_place("emulated"):
        grid = Grid((4, 3), device="gpu" if target == "cuda" else None)
        h, t, u, v, everywhere = (
            Field(grid, one, name, values=3.0) for one, name in zip(points, "htuve", strict=True)
        )
        refused = (
            ((both(h, t, t, t),), "'t' is on T points, .* takes one on U points"),
            ((both(h, u, u, u),), "'u' is on U points, .* takes one on T points"),
            ((both(h, v, v, v),), "'v' is on V points"),
            ((both(h, t, u, t), write_u(h)), "'h' is on T points, .* takes one on U points"),
            ((both(h, t, u, t), write_u(t)), "'t' is on T points, .* takes one on U points"),
            ((write_u(u), both(h, u, u, t)), "'u' is on U points, .* takes one on T points"),
        )
        for calls, message in refused:
            with pytest.raises(ValueError, match=message):
                invoke(*calls)
        assert {field.values.min() for field in (h, t, u, v, everywhere)} == {3.0}
        invoke(both(h, t, u, u), write_anywhere(t), write_u(u))
        invoke(both(u, t, everywhere, t), write_u(u))
        invoke(both(everywhere, t, u, v), write_u(everywhere))
        invoke(both(v, everywhere, everywhere, h), write_anywhere(everywhere))
        assert [f.values.max() for f in (h, t, u, v, everywhere)] == [9, 2, 1, 11, 2]


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_number_that_is_too_large_harms_no_data(target: str) -> None:
    configure(target=target)
    with device_in_place("emulated"):
        grid = Grid((4, 3), device="gpu" if target == "cuda" else None)
        one, other = Field(grid, values=7.0), Field(grid, values=8.0)
        with pytest.raises(OverflowError, match="32-bit"):
            invoke(repeat(one, 2**40), times(other, 3.0))
        assert (one.values.max(), other.values.max()) == (7.0, 8.0)
        invoke(repeat(one, 2), times(other, 3.0))
        assert (one.values.max(), other.values.max()) == (2.0, 24.0)


def test_what_is_no_invoke_is_refused() -> None:
    (one,) = fields(1)
    with pytest.raises(TypeError, match="takes calls of kernels, not a int"):
        invoke(3)
    with pytest.raises(ValueError, match="calls nothing"):
        invoke()
    with pytest.raises(ValueError, match="'2nd' cannot name an invoke"):
        invoke(scale(one, 1.0), name="2nd")
    with pytest.raises(ValueError, match=r"'\[1\]' cannot name an invoke"):
        invoke(scale(one, 1.0), name=[1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a field, not a float"):
        invoke(scale(2.0, 1.0))
    with pytest.raises(TypeError, match="takes a field, not a call of 'scale'"):
        invoke(scale(scale(one, 1.0), 1.0))
    with pytest.raises(TypeError, match=r"write 'scale\(...\)' instead of 'scale'"):
        invoke(*scale(one, 1.0))
    with pytest.raises(TypeError, match="takes a number, not the field 'f0'"):
        invoke(scale(one, one))
    with pytest.raises(TypeError, match="takes a number, not a call of 'scale'"):
        invoke(scale(one, scale(one, 1.0)))
    with pytest.raises(ValueError, match="on different grids"):
        invoke(east(one, fields(1)[0]))


def test_recipes(tmp_path: Path) -> None:
    script = tmp_path / "tiles.py"
    script.write_text(
        "from psyclone_storage.scripting import *\n"
        "def trans(psy):\n    print('seen', list(psy.invokes.names))\n    return psy\n"
    )
    (one,) = fields(1)
    configure(script=script)
    invoke(scale(one, 1.0), name="seen")
    assert builds_of(PROGRAM.session)[-1].program.invokes[0].name == "invoke_seen"
    configure(distributed=False)
    invoke(east(fields(1)[0], one)) if False else None


# ---------------------------------------------------------------------------- the corpus


def module_of(file: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CORPUS / "python" / "kernels"))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SPACES = {"go_ct": Points.T, "go_cu": Points.U, "go_cv": Points.V, "go_cf": Points.F}


def arguments_in(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield what calls in a schedule are passed."""
    for part in tree.values() if isinstance(tree, dict) else tree:
        if isinstance(part, dict) and "access" in part and "spaces" in part:
            yield part
        elif isinstance(part, dict | list):
            yield from arguments_in(part)


def values_for(schedules: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return something for each name that an algorithm passes; fields are on its points."""
    offset = Offset.SOUTH_WEST if name.startswith("offset_") else Offset.NORTH_EAST
    grid = Grid((8, 8), periodic=(True, True), halo=2, offset=offset)
    found: dict[str, Any] = {}
    for datum, passed in ((datum, list(arguments_in(one))) for one in schedules
                          for datum in one["data"]):  # fmt: skip
        spaces = [arg["spaces"][0] for arg in passed if arg["datum"] == datum["name"]
                  and arg["spaces"]]  # fmt: skip
        points = next((SPACES[space] for space in spaces if space in SPACES), Points.T)
        field_or_number = Field(grid, points) if datum["kind"] == "field" else 1
        base, dot, member = datum["actual"].partition("%")
        array, bracket, index = base.partition("(")
        if dot:
            setattr(found.setdefault(base, SimpleNamespace()), member, field_or_number)
        elif bracket:
            found.setdefault(array, {})[int(index.rstrip(")"))] = field_or_number
        else:
            found.setdefault(base, field_or_number)
    return found


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.stem)
def test_schedules_are_those_of_the_compiled_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [str(file), "-d", str(CORPUS / "python" / "kernels"), "--schedule-json", "-"]
    wanted = json.loads(run_command(words, tmp_path).out)
    module = module_of(file, monkeypatch)
    before = len(builds_of(PROGRAM.session))
    values = values_for(wanted, file.stem)
    names = module.run.__code__.co_varnames[: module.run.__code__.co_argcount]
    module.run(*(values.get(name, 1) for name in names))
    builds = builds_of(PROGRAM.session)[before:]
    found = [schedule_json(one.program.invokes[0].schedule) for one in builds]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        own = {key: value for key, value in one.items() if key != "name"}
        assert without_places(own) == without_places(
            {key: value for key, value in other.items() if key != "name"}
        )


def _is_state(value: object) -> bool:
    return isinstance(value, SimpleNamespace)


def results(
    schedules: list[dict[str, Any]], module: ModuleType, target: str
) -> list[np.ndarray[Any, Any]]:
    """Return what an algorithm leaves in its fields, which begin with random values."""
    configure(target=target)
    values = values_for(schedules, module.__name__)
    held: list[Any] = []
    for value in values.values():
        several = (
            value if isinstance(value, dict) else vars(value) if _is_state(value) else {0: value}
        )
        held += several.values()
    fields = [one for one in held if isinstance(one, Field)]
    for number, one in enumerate(fields):
        random = np.random.default_rng(number).uniform(0.5, 2.0, one.storage.shape)
        one.storage[...] = random
        one.exchange(2)
    names = module.run.__code__.co_varnames[: module.run.__code__.co_argcount]
    module.run(*(values.get(name, 1) for name in names))
    return [np.array(one.storage.data_ro) for one in fields]


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.stem)
def test_c_and_numpy_leave_the_same_bits(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [str(file), "-d", str(CORPUS / "python" / "kernels"), "--schedule-json", "-"]
    schedules = json.loads(run_command(words, tmp_path).out)
    module = module_of(file, monkeypatch)
    try:
        by_numpy = results(schedules, module, "numpy")
    except CompileError as error:
        pytest.skip(str(error))
    by_c = results(schedules, module, "c")
    assert by_c
    for one, other in zip(by_c, by_numpy, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_a_kernel_that_looks_out_of_the_arrays_is_found_before_it_computes() -> None:
    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def west(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,310,000")]):
        new[0, 0] = old[-3, 0]

    grid = Grid((4, 3), halo=2)
    configure(distributed=False)
    with pytest.raises(IndexError, match=r"'west' reads 'old' with .* halo=3\)"):
        invoke(west(Field(grid), Field(grid)))


def test_c_takes_fields_of_its_own_type_alone() -> None:
    grid = Grid((4, 3))
    with pytest.raises(TypeError, match="takes float64"):
        invoke(east(Field(grid), Field(grid, dtype=np.float32)))


def test_numbers_of_any_type_are_taken() -> None:
    new = Field(Grid((4, 3)), values=np.ones((4, 3)))
    invoke(scale(new, np.float64(2.0)))
    three = 3
    invoke(scale(new, three))
    assert new.values.max() == 24.0
    with pytest.raises(TypeError, match=r"takes reals of 64 bits, not np.float32\(0.1\)"):
        invoke(scale(new, np.float32(0.1)))


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def times(new: field[GO_READWRITE, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    new[0, 0] = by * new[0, 0]


def ones() -> tuple[Field, Field]:
    grid = Grid((4, 3))
    first, second = (Field(grid, values=np.ones((4, 3))) for _ in range(2))
    return first, second


def scaled(new: Field, by: float) -> Any:
    return times(new, by * 3)


def shrunk(new: Field, by: float) -> Any:
    return times(new, by / 4)


class Counting:
    """A property that is another number each time it is read."""

    count = 0

    @property
    def value(self) -> int:
        self.count += 1
        return self.count


def test_numbers_are_those_that_are_passed() -> None:
    """What is written where a call is made elsewhere is not what the kernel is given."""
    first, second = ones()
    invoke(scaled(first, 2.0))
    assert first.values.max() == 6.0
    two = 2.0
    invoke(scaled(first, two), shrunk(second, two))
    assert (first.values.max(), second.values.max()) == (36.0, 0.5)
    counting = Counting()
    for _ in range(2):
        invoke(times(first, counting.value), times(second, counting.value))
    assert (first.values.max(), second.values.max()) == (36.0 * 3, 0.5 * 2 * 4)


def test_what_is_compiled_for_equal_numbers_is_not_used_for_others() -> None:
    first, second = ones()

    def written(new: Field, _: float) -> Any:
        return times(new, given[len(given) - 1])

    for numbers in ([2.0], [3.0], [2.0], [-0.0]):
        given = numbers
        invoke(written(first, 2.0))
    assert str(first.values.max()) == "-0.0"

    def one(new: Field, _: float) -> Any:
        return times(new, factors.pop())

    same = 0.0
    for several in ([2.0, 2.0], [3.0, 5.0]):
        factors = several
        invoke(one(second, same), one(first, same))
    assert second.values.max() == 10.0


def test_what_is_like_the_last_call_is_compared_with_it() -> None:
    grid = Grid((4, 4))
    one, other = (Field(grid, values=np.ones((4, 4))) for _ in range(2))

    def scaled(first: Any, second: Any) -> tuple[float, float]:
        invoke(scale(one, first), scale(other, second))
        found = one.values[1, 1].item(), other.values[1, 1].item()
        for each in (one, other):
            each.storage[...] = 1.0
        return found

    assert [scaled(2.0, 2.0) for _ in range(3)] == [(4.0, 4.0)] * 3
    assert scaled(2.0, 3.0) == (4.0, 6.0)
    assert scaled(2.0, 2.0) == (4.0, 4.0)

    def named(to: Field, _: float) -> Any:
        return scale(to, factors.pop())

    same = 0.0
    for several in ([2.0, 2.0], [3.0, 5.0]):
        factors = several
        invoke(named(one, same), named(other, same))
    assert (one.values[1, 1], other.values[1, 1]) == (4.0 * 10.0, 4.0 * 6.0)
    for each in (one, other):
        each.storage[...] = 1.0
    before = len(builds_of(PROGRAM.session))
    configure(target="numpy")
    assert scaled(2.0, 2.0) == (4.0, 4.0)
    assert len(builds_of(PROGRAM.session)) == before + 1
    for wrong in (one, "2"):
        with pytest.raises(TypeError, match="'scale' takes a number"):
            scaled(2.0, wrong)


def test_a_name_of_a_number_is_not_that_of_a_field() -> None:
    (new, _), by = ones(), 2.0

    def swapped(number: float, to: Field) -> Any:
        return times(to, number)

    invoke(swapped(by, new), times(new, by))
    assert new.values.max() == 4.0


def test_what_is_known_of_fields_goes_with_them() -> None:
    """A routine keeps no field, and other fields at the same places are other fields."""
    grid = Grid((4, 3))

    def run(value: float) -> float:
        new, old = Field(grid), Field(grid, values=np.full((4, 3), value))
        invoke(east(new, old))
        return float(new.values[0, 0])

    assert [run(value) for value in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]
    grown = Field(grid)
    seen = weakref.ref(grown)
    invoke(scale(grown, 1.0))
    del grown
    gc.collect()
    assert seen() is None
