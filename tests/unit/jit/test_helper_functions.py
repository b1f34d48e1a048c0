"""Functions that kernels call in programs that run: by C, NumPy and CUDA, and as they are now."""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.gocean import (
    GO_CT,
    GO_INTERNAL_PTS,
    GO_OFFSET_ANY,
    GO_READ,
    GO_READWRITE,
    GO_STENCIL,
    GO_WRITE,
    complete_invokes,
    configure,
    field,
    invoke,
    kernel,
)
from psyclone_storage.runtime.gocean import Field, Grid
from psyclone_storage.storage import use_device

STRENGTH = 0.5
PHYSICS = """
from math import sqrt as root

STRENGTH = 4.0


def depth_of(x, least: float = 1.0):
    x = x if x > least else least
    return root(x) * STRENGTH
"""
helper_physics = ModuleType("helper_physics")
exec(PHYSICS, helper_physics.__dict__)
linecache.cache["<physics>"] = (len(PHYSICS), None, PHYSICS.splitlines(True), "<physics>")
exec(compile(PHYSICS, "<physics>", "exec"), helper_physics.__dict__)
sys.modules["helper_physics"] = helper_physics


def limited(value, most):
    """Return a value that is no larger than the other, in size."""
    if value > most:
        return most
    if value < -most:
        return -most
    return value


def step_to(out, values, by):
    change = limited(values[1, 0] - values[0, 0], 1.5)
    if abs(change) > STRENGTH:
        out[0, 0] = values[0, 0] + by * change


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def relax(new: field[GO_READWRITE, GO_CT], old: field[GO_READ, GO_CT, GO_STENCIL("000,011,000")]):
    step_to(new, old, 0.25)
    new[0, 0] += helper_physics.depth_of(old[0, 0]) if old[0, 0] > 3.0 else STRENGTH


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    configure()
    use_device("auto")


def wanted(old: Any) -> Any:
    found = np.zeros((4, 3))
    for i in range(4):
        for j in range(3):
            near = {(0, 0): float(old[i, j]), (1, 0): float(old[(i + 1) % 4, j])}
            found[i, j] = relax.at({(0, 0): 2.0}, near)
    return found


@pytest.mark.parametrize("target", ["c", "numpy", "cuda"])
def test_points_are_those_of_python(target: str) -> None:
    if target == "cuda":
        use_device("emulated")
    configure(target=target)
    grid = Grid((4, 3), periodic=(True, True), device="gpu" if target == "cuda" else None)
    values = np.array([[0.0, -0.0, 9.0], [0.25, 1.0, 2.0], [5.0, 3.0, -4.0], [0.5, 2.5, 1e9]])
    new, old = Field(grid, values=np.full((4, 3), 2.0)), Field(grid, values=values)
    invoke(relax(new, old))
    assert np.array_equal(new.values, wanted(values))


def test_a_function_that_is_defined_again_is_another() -> None:
    head = "from psyclone_storage.gocean import *\n"
    first = "def changed(x):\n    return 2.0 * x\n"
    cell = (
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def change(new: field[GO_READWRITE, GO_CT], old: field[GO_READ, GO_CT]):\n"
        "    new[0, 0] = changed(new[0, 0]) + old[0, 0]\n"
    )
    run = "def run():\n    invoke(change(one, two))\n    return one.values[0, 0]\n"
    names: dict[str, Any] = {"__name__": "__main__"}
    grid = Grid((4, 3), periodic=(True, True))
    names |= {"one": Field(grid, values=np.ones((4, 3))), "two": Field(grid)}

    def do(number: int, text: str) -> None:
        file = f"<helper cell {number}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), names)

    for number, text in enumerate((head, cell, run)):
        do(number, text)
    with pytest.raises(CompileError, match="no function that a kernel can call"):
        names["run"]()
    do(3, first)
    assert [names["run"](), names["run"]()] == [2.0, 4.0]
    do(4, first.replace("2.0", "3.0"))
    assert [names["run"](), names["run"]()] == [12.0, 36.0]
    do(5, "def inner(x):\n    return x + 1.0\ndef changed(x):\n    return inner(x)\n")
    assert names["run"]() == 37.0
    do(6, "def inner(x):\n    return x - 1.0\n")
    assert [names["run"](), names["run"]()] == [36.0, 35.0]
    del names["inner"]
    with pytest.raises(CompileError, match="'inner' is no function"):
        names["run"]()


def test_functions_around() -> None:
    by = 2.0

    def scaled(x):
        return by * x

    def doubled(x):
        return 2.0 * x

    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def fill(new: field[GO_WRITE, GO_CT]):
        new[0, 0] = doubled(3.0)

    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def other(new: field[GO_WRITE, GO_CT]):
        new[0, 0] = scaled(3.0)

    one = Field(Grid((4, 3), periodic=(True, True)))
    invoke(fill(one))
    assert np.all(one.values == 6.0)
    with pytest.raises(CompileError) as caught:
        invoke(other(one))
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == (
        "P053", "'by' is a variable of the function around 'scaled'."
    )  # fmt: skip
    (note,) = caught.value.__notes__
    assert "test_helper_functions.py" in note
    assert "'scaled' is called here" in note


def again(x):
    return once_more(x)


def once_more(x):
    return again(x)


def test_functions_that_call_each_other() -> None:
    @kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
    def fill(new: field[GO_WRITE, GO_CT]):
        new[0, 0] = again(3.0)

    with pytest.raises(CompileError, match="'again' calls itself"):
        invoke(fill(Field(Grid((4, 3)))))


_HEAD = """
import functools
import math
from math import sqrt
from psyclone_storage.gocean import *
def own(x): return 2.0 * x
@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def change(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    new[0, 0] = {}
"""


class Cells:
    """A notebook whose kernel gives the value of an expression, of 4.0 at each point."""

    count = 0

    def __init__(self, text: str) -> None:
        self.module = ModuleType("names_of_now")
        self.names: dict[str, Any] = self.module.__dict__
        self.do(_HEAD.format(text))
        grid = Grid((4, 3), periodic=(True, True))
        self.fields = Field(grid), Field(grid, values=np.full((4, 3), 4.0))

    def do(self, text: str) -> Cells:
        """Run a cell."""
        Cells.count += 1
        file = f"<names cell {Cells.count}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), self.names)
        return self

    def run(self) -> float:
        """Return what the kernel gives now."""
        invoke(self.names["change"](*self.fields))
        return float(self.fields[0].values[0, 0])


_OTHER_MATH = """
import types
math = types.ModuleType("other_math")
def root(v): return v + 10.0
math.sqrt = root
"""
_OTHER_CODE = """
def other(v): return v * 100.0
own.__code__ = other.__code__
"""


@pytest.mark.parametrize(
    ("text", "before", "cell", "after"),
    [
        ("sqrt(old[0, 0])", 2.0, "def sqrt(v): return v + 10.0", 14.0),
        ("abs(old[0, 0])", 4.0, "def abs(v): return v + 10.0", 14.0),
        ("math.sqrt(old[0, 0])", 2.0, _OTHER_MATH, 14.0),
        ("own(old[0, 0])", 8.0, "own = math.sqrt", 2.0),
        ("own(old[0, 0])", 8.0, "from math import sqrt as own", 2.0),
        ("own(old[0, 0])", 8.0, _OTHER_CODE, 400.0),
    ],
)
def test_names_that_get_another_meaning(text: str, before: float, cell: str, after: float) -> None:
    configure(target="numpy")
    cells = Cells(text)
    # By a call that is new, and by one that is like the last.
    assert [cells.run(), cells.run()] == [before, before]
    cells.do(cell)
    assert [cells.run(), cells.run()] == [after, after]


def test_a_name_of_the_language_that_is_given_back() -> None:
    configure(target="numpy")
    cells = Cells("abs(old[0, 0])")
    assert cells.run() == 4.0
    assert cells.do("def abs(v): return v + 10.0").run() == 14.0
    assert cells.do("del abs").run() == 4.0


def test_defaults_are_those_of_now() -> None:
    configure(target="numpy")
    cells = Cells("own(old[0, 0])").do("def own(v, by=2.0, *, and_by=1.0): return v * by * and_by")
    assert cells.run() == 8.0
    assert cells.do("own.__defaults__ = (-5.0,)").run() == -20.0
    assert cells.do("own.__kwdefaults__ = {'and_by': 0.5}").run() == -10.0
    assert cells.do("own.__kwdefaults__['and_by'] = 0.5; own.__defaults__ = (3,)").run() == 6.0
    assert cells.do("own.__kwdefaults__['and_by'] = 0.25").run() == 3.0
    assert cells.do("own.__kwdefaults__.update(and_by=1.5)").run() == 18.0
    cells.do("del own.__kwdefaults__['and_by']")
    with pytest.raises(CompileError, match="'own' is given no 'and_by'"):
        cells.run()
    cells.do("own.__kwdefaults__['and_by'] = 0.5")
    cells.do("own.__defaults__ = None")
    with pytest.raises(CompileError, match="'own' is given no 'by'"):
        cells.run()
    cells.do("own.__defaults__ = ('a',)")
    with pytest.raises(CompileError, match="is no number"):
        cells.run()


@pytest.mark.parametrize("how", ["@functools.wraps(f)\n    ", ""])
def test_wrappers_are_refused(how: str) -> None:
    text = f"def twice(f):\n    {how}def inner(x): return 2.0 * f(x)\n    return inner\n"
    after = "" if how else "functools.update_wrapper(wrapped, own)\n"
    cells = Cells("wrapped(old[0, 0])").do(f"{text}wrapped = twice(own)\n{after}")
    with pytest.raises(CompileError, match="P051: 'inner' wraps 'own'") as caught:
        cells.run()
    (note,) = caught.value.__notes__
    assert "def inner" not in note
    assert "new[0, 0] = wrapped(old[0, 0])" in note
    cells.do("change = kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)"
             "(functools.update_wrapper(lambda new, old: None, change.function))")  # fmt: skip
    with pytest.raises(CompileError, match="P051: The function of this kernel"):
        cells.run()


def test_a_function_within_another_is_no_loop() -> None:
    cells = Cells("own(old[0, 0])")
    cells.do("def own(v):\n    def q(z):\n        return z\n    return q(v)")
    with pytest.raises(CompileError, match="Function definitions are not supported in kernels"):
        cells.run()


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("defer", [False, True])
@pytest.mark.parametrize("function", ["", "def times(v):\n    return v * COUNT"])
def test_variables_may_change_their_types(
    target: str, defer: bool, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel is compiled again; fields keep their values if the type is refused."""
    cells = Cells("times(old[0, 0])" if function else "old[0, 0] * COUNT").do(function)
    cells.do("COUNT = 2")
    monkeypatch.setitem(sys.modules, "names_of_now", cells.module)
    configure(target=target, defer=defer)
    refused = {
        "np.float32(0.1)": "a number of type 'float32'", "None": "it is None",
        "'x'": "its type is 'str'", "{}": "it is a dictionary", "1j": "its type is 'complex'",
        "(1, 2)": "'COUNT' is a table or a tuple",
    }  # fmt: skip
    try:
        assert cells.run() == 8.0
        for value in ("2.5", "3", "np.float64(0.25)", "-7", "np.int64(2**31 - 1)"):
            cells.do(f"import numpy as np\nCOUNT = {value}")
            assert cells.run() == 4.0 * float(cells.names["COUNT"])
            before = cells.names["COUNT"]
            for other, why in refused.items():
                cells.do(f"COUNT = {other}")
                with pytest.raises(CompileError, match=why):
                    cells.run()
                cells.names["COUNT"] = before
                assert cells.fields[0].values[0, 0] == 4.0 * float(before)
        cells.do("COUNT = 2**31")
        with pytest.raises(Exception, match="32"):
            cells.run()
        assert cells.fields[0].values[0, 0] == 4.0 * float(before)
    finally:
        configure()


@pytest.mark.parametrize("target", ["c", "numpy"])
@pytest.mark.parametrize("defer", [False, True])
def test_variables_of_several_kernels_and_call_sites_may_change_their_types(
    target: str, defer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call site is compiled again; fields keep their values if a later kernel is refused."""
    cells = Cells("old[0, 0] * COUNT").do("COUNT = 2")
    cells.do(
        "@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)\n"
        "def more(old: field[GO_READWRITE, GO_CT]):\n    old[0, 0] = old[0, 0] + 1.0\n"
        "def together(new, old): invoke(more(old), change(new, old))\n"
        "def apart(new, old):\n    invoke(more(old))\n    invoke(change(new, old))\n"
        "def reversed(new, old): invoke(change(new, old), more(new), change(old, new))\n"
    )
    monkeypatch.setitem(sys.modules, "names_of_now", cells.module)
    configure(target=target, defer=defer)

    def now() -> list[float]:
        return [float(one.values[0, 0]) for one in cells.fields]

    for count in (2, 2.5, 3, np.float64(0.25), np.int64(7)):
        cells.names["COUNT"] = count
        for name in ("together", "apart", "reversed"):
            for _ in range(2):
                cells.fields[1].fill(4.0)
                cells.names[name](*cells.fields)
                wanted = [5.0 * count, 5.0]
                if name == "reversed":
                    wanted = [4.0 * count + 1.0, (4.0 * count + 1.0) * count]
                assert now() == wanted
    for other in (None, "x", (1, 2), np.int8(1), np.uint32(1), np.float32(1.0)):
        for name in ("together", "reversed", "apart"):
            cells.names["COUNT"] = 3
            cells.fields[1].fill(4.0)
            cells.names[name](*cells.fields)
            before = now()
            cells.names["COUNT"] = other
            with pytest.raises(CompileError):
                [cells.names[name](*cells.fields), now()]
            cells.names["COUNT"] = 3
            complete_invokes(discard=True)
            # The first invoke of two is not undone.
            assert now() == [before[0], before[1] + (name == "apart")]


CHAINS = """\
from psyclone_storage.gocean import *


def part_of(x):
    return {sum}


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_ANY)
def chained(new: field[GO_WRITE, GO_CT], old: field[GO_READ, GO_CT]):
    x = old[0, 0]
    n = {integers}
    new[0, 0] = {mixed} + n
    if {holds} and 0.0 < {less} or n & 1 == 0:
        new[0, 0] = part_of(new[0, 0])
    for i in range(4):
        if not (i < 2 and {holds}):
            new[0, 0] = new[0, 0] + 1.0


def run(new, old):
    invoke(chained(new, old))
"""


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_chains_of_hundreds_of_operations_are_those_of_python(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*"+-*/-"] * 60
    parts = {
        "sum": "0.5 * x" + "".join(f" {one} 0.25 * x" for one in "+-+" * 100),
        "integers": "1" + " + 2 - 1" * 200,
        "mixed": "3" + "".join(f" {one} x" for one in words),
        "holds": " and ".join(["x > 0.0"] * 300),
        "less": " <= ".join(["x"] * 300),
    }
    name = f"module_with_chains_{target}"
    (tmp_path / f"{name}.py").write_text(CHAINS.format(**parts), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module(name)
    configure(target=target)
    grid = Grid((3, 2))
    values = np.array([[1.5, -2.0], [0.25, 3.0], [7.0, -0.5]])
    new, old = Field(grid), Field(grid, values=values)
    made.run(new, old)
    expected = [made.chained.at(new=0.0, old=float(one)) for one in values.ravel()]
    assert new.values.ravel().tolist() == expected
