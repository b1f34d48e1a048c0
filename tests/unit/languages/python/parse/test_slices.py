"""Slices in kernels in Python: the loops that they become, and what is refused."""

from __future__ import annotations

import linecache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from unit.languages.python.parse.test_columns import HEAD, PROJECT, code_of
from unit.languages.python.parse.test_inline_functions import shown
from unit.targets.numpy.test_columns import HEAD as KERNEL
from unit.targets.numpy.test_columns import computed, module_of

FUNCTIONS = """
def first(a):
    return a[0]


def number(n, at):
    return n[at] + 1


def kept(n):
    m = n[0]
    return m


"""
OWN = f"import math\nimport numpy as np\n{PROJECT.replace(HEAD, HEAD + FUNCTIONS)}"
ARRAYS = (
    "a = np.zeros(4)\nb = np.zeros(6)\nc = np.zeros((4, 3))\nd = np.zeros(len(layers()))\n"
    "n = np.zeros(4, dtype=int)\nm = count + 1\n"
)
CHOICE = "merge(b(element + 1), -a(element + 1), b(element + 1) > 0)"
UPPER = "both(map_w0(2) + element + 1)"


def lines_of(body: str) -> list[str]:
    """Return the statements behind those that make the arrays."""
    found = shown(code_of(ARRAYS + body + "\nnew[0, 0] = 0.0", OWN).body)
    start = found.index("m = count + 1") + 1
    return [one.replace("_r_def", "") for one in found[start:-1]]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a[1:3] = b[2:4]", ["do element = 0, 1", "a(element + 2) = b(element + 3)", "end"]),
        ("a[:] = step * a", []),
        (
            "a[:] = 2.0 * a[:]",
            ["do element = 0, 3", "a(element + 1) = 2.0 * a(element + 1)", "end"],
        ),
        ("a[:] = step", ["do element = 0, 3", "a(element + 1) = step", "end"]),
        (
            "a[1:] = a[:3]",
            [
                "do element = 0, 2", "kept(element + 1) = a(element + 1)", "end",
                "do element = 0, 2", "a(element + 2) = kept(element + 1)", "end",
            ],
        ),
        (
            "a[:] = a[:] / a[0]",
            [
                "do element = 0, 3", "kept(element + 1) = a(element + 1) / a(1)", "end",
                "do element = 0, 3", "a(element + 1) = kept(element + 1)", "end",
            ],
        ),
        (
            "a[:] = a[:] / first(a)",
            [
                "do element = 0, 3", "kept(element + 1) = a(element + 1) / a(1)", "end",
                "do element = 0, 3", "a(element + 1) = kept(element + 1)", "end",
            ],
        ),
        (
            "n[:2] = n[:2] * kept(n)",
            [
                "kept_m = n(1)", "kept_value = kept_m",
                "do element = 0, 1", "n(element + 1) = n(element + 1) * kept_value", "end",
            ],
        ),
        (
            "n[:2] = n[number(n, 0):number(n, 0) + 2]",
            [
                "do element = 0, 1", "kept(element + 1) = n(modulo(element + (n(1) + 1), 4) + 1)",
                "end",
                "do element = 0, 1", "n(element + 1) = kept(element + 1)", "end",
            ],
        ),
        ("a[0:4] *= a[:]", ["do element = 0, 3", "a(element + 1) = a(element + 1) * a(element + 1)",
                            "end"]),
        ("c[number(n, 0), :] = 1.0", [
            "do element = 0, 2", "c(modulo(n(1) + 1, 4) + 1, element + 1) = 1.0", "end",
        ]),
        (
            "n[kept(n):] = 1",
            [
                "kept_m = n(1)", "kept_value = kept_m",
                "kept_m_1 = n(1)", "kept_value_1 = kept_m_1",
                "do element = 0, 4 - kept_value - 1",
                "n(modulo(element + kept_value_1, 4) + 1) = 1",
                "end",
            ],
        ),
        ("a[:] = a[0] + 1", [
            "filled = a(1) + 1", "do element = 0, 3", "a(element + 1) = filled", "end",
        ]),
        ("c[1:3, :] = np.sqrt(c[1:3, :])", [
            "do element_1 = 0, 2", "do element = 0, 1",
            "c(element + 2, element_1 + 1) = sqrt(c(element + 2, element_1 + 1))", "end", "end",
        ]),
        ("c[m, :] = a[m:m + 3]", [
            "do element = 0, 2",
            "c(modulo(m, 4) + 1, element + 1) = a(modulo(element + m, 4) + 1)", "end",
        ]),
        ("a[0:m] = b[1:m + 1]", [
            "do element = 0, m - 1", "a(modulo(element, 4) + 1) = b(modulo(element + 1, 6) + 1)",
            "end",
        ]),
        ("b[::2] = b[1::2]", [
            "do element = 0, 2", "kept(element + 1) = b(2 * element + 2)", "end",
            "do element = 0, 2", "b(2 * element + 1) = kept(element + 1)", "end",
        ]),
        ("a[2:2] = b[3:1]", ["do element = 0, -1", "a(element + 3) = b(element + 4)", "end"]),
        ("a[1:3] += np.where(b[:2] > 0, b[:2], -a[0:2])", [
            "do element = 0, 1",
            f"kept(element + 1) = a(element + 2) + {CHOICE}", "end",
            "do element = 0, 1", "a(element + 2) = kept(element + 1)", "end",
        ]),
        ("new[0, :] = d[:] + chi[2, 0, :]", [
            "do element = 0, nlayers - 1",
            "new(map_w3(1) + element) = d(element + 1) + chi_3(map_w0(1) + element)", "end",
        ]),
        ("both[1, 1:] = both[0, :len(layers()) - 1] if False else 0.0", []),
        ("both[1, 1:] += wind[0, :len(layers()) - 1]", [
            "do element = 0, nlayers - 1 - 1",
            f"{UPPER} = {UPPER} + wind(map_w2(1) + element)", "end",
        ]),
        ("both[1, :] = both[0, :]", [
            "do element = 0, nlayers - 1", "kept(element + 1) = both(map_w0(1) + element)", "end",
            "do element = 0, nlayers - 1", "both(map_w0(2) + element) = kept(element + 1)", "end",
        ]),
    ],
)  # fmt: skip
def test_loops(body: str, wanted: list[str]) -> None:
    if wanted:
        assert lines_of(body) == wanted
        return
    with pytest.raises(CompileError) as caught:
        lines_of(body)
    assert caught.value.problems[0].code == "P051"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a[1:3] = b[2:5]", [("P054", "b[2:5]")]),
        ("a[1:3] = c[1:3, :2]", [("P054", "c[1:3, :2]")]),
        ("a[0:m] = b[1:m]", [("P054", "b[1:m]")]),
        ("a[:] = b[:]", [("P054", "b[:]")]),
        ("a[1:5] = 0.0", [("P051", "1:5")]),
        ("a[-2:] = 0.0", [("P051", "-2")]),
        ("a[::-1] = 0.0", [("P051", "::-1")]),
        ("a[0:m:2] = 0.0", [("P051", "0:m:2")]),
        ("a[n[0]:3] = 0.0", [("P051", "n[0]")]),
        ("c[n[0], :] = 0.0", [("P051", "n[0]")]),
        ("n[number(n, 0):4] = 0", [("P051", "number(n, 0)")]),
        ("n[abs(m):number(n, 0)] = 0", [("P051", "number(n, 0)")]),
        ("n[:number(n, 0)] = 0", [("P051", "number(n, 0)")]),
        ("n[number(n, 0):number(n, 0) + 2] += 1", [("P051", "number(n, 0)")]),
        ("a[0:m] = a[1:m + 1]", [("P054", "a[0:m]")]),
        ("a[:2] = math.sqrt(b[:2])", [("P051", "math.sqrt(b[:2])")]),
        ("a[:2] = max(b[:2], 0.0)", [("P051", "max(b[:2], 0.0)")]),
        ("a[:2] = b[:2] if m > 1 else 0.0", [("P051", "b[:2] if m > 1 else 0.0")]),
        ("a[:2] = b[:2] > 0.0", [("P054", "a[:2]")]),
        ("a[:2] = 1.0 * (b[:2] > 0.0)", [("P054", "b[:2] > 0.0")]),
        ("n[:2] = a[:2]", [("P054", "n[:2]")]),
        ("m = a[:2]", [("P051", ":2")]),
        ("new[:, 0] = 0.0", [("P051", "new[:, 0]")]),
        ("wind[0, :] = 0.0", [("M204", "wind[0, :]")]),
        ("m[:] = 0.0", [("P051", "m[:]")]),
        ("a[:, :] = 0.0", [("P051", "a[:, :]")]),
        ("c[:] = 0.0", [("P051", "c[:]")]),
        ("missing[:2] = 0.0", [("P051", "missing")]),
    ],
)
def test_refused(body: str, wanted: list[tuple[str, str]]) -> None:
    with pytest.raises(CompileError) as caught:
        code_of(f"{ARRAYS}{body}\nnew[0, 0] = 0.0", OWN)
    found = [(one.code, one.span.text if one.span else "") for one in caught.value.problems]
    assert found == wanted
    assert all(one.message.endswith(".") for one in caught.value.problems)


def test_functions_set_slices_of_what_they_are_passed() -> None:
    text = "def shift(x, by):\n    x[1:] = x[:3] + by\n\n\n"
    head = f"import numpy as np\n{PROJECT.replace(HEAD, HEAD + text)}"
    found = shown(code_of("a = np.zeros(4)\nshift(a, step)\nnew[0, 0] = a[1]", head).body)
    assert found[1:-1] == [
        "do element = 0, 2", "kept(element + 1) = a(element + 1) + step", "end",
        "do element = 0, 2", "a(element + 2) = kept(element + 1)", "end",
    ]  # fmt: skip


CALLS = ("first(a)", "corner(a, c)", "halved(c, 1)", "min(first(a), 2.0)")
CALLED = """

def first(a):
    return a[0]

def corner(a, c):
    return c[at(c), 3] - first(a)

def at(c):
    return 0 if c[0, 0] > 0.0 else 2

def halved(c, i):
    if c[i, i] > c[0, 1]:
        return 0.5 * c[i, 0]
    return c[0, 1]
"""


def _sliced(random: Random, shape: tuple[int, ...], *, is_set: bool = False) -> str:
    """Return an element, or a slice, of one of two arrays that has a shape."""
    if len(shape) == 2:
        at = [random.randrange(0, 5 - shape[0]), random.randrange(0, 5 - shape[1])]
        return f"c[{at[0]}:{at[0] + shape[0]}, {at[1]}:{at[1] + shape[1]}]"
    at, row = random.randrange(0, 5 - shape[0]), random.randrange(4)
    part = f"{at}:{at + shape[0]}"
    if shape[0] == 2:
        part = random.choice([part, "::2", "1::2", "0:3:2"])
    rows = [f"a[{part}]", f"c[{row}, {part}]", f"c[{part}, {row}]"]
    return random.choice(rows if is_set else [*rows, f"c[at(c), {part}]"])


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_numpy(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    lines = ["a = np.zeros(4)", "c = np.zeros((4, 4))", "a[1:] = y[0, :3]", "c[2, :] = y[0, 2:6]"]
    for _ in range(40):
        shape = tuple(random.randrange(1, 4) for _ in range(random.choice([1, 1, 2])))
        others = [_sliced(random, shape), "a[1]", "c[2, 1]", *CALLS]
        terms = [_sliced(random, shape), random.choice(others)]
        sign = random.choice(["=", "+=", "-="])
        lines.append(
            f"{_sliced(random, shape, is_set=True)} {sign} 0.5 * ({' + '.join(terms)}) + n"
        )
    lines += ["x[0, 1:5] = a[:] + c[1, :]", "x[0, 0] = c[3, 0]", "x[0, 5] += c[0, 3] * a[0]"]
    text = KERNEL.format(space="W3") + "".join(f"    {line}\n" for line in lines) + CALLED
    module: dict[str, Any] = {"__name__": "work_mod"}
    file = str(tmp_path / "work_mod.py")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), module)
    x, y = computed(module_of(tmp_path, text), 3)
    assert x == module["work"].at(np.ones((1, 6)), np.array([y]), 3)[0].tolist()
