"""Inlined functions of Python kernels, and rejected ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from properties.python_kernels import HEAD as OF_KERNELS
from properties.python_kernels import by_numpy, by_python, codes_of
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Assign, Do, If, Line
from psyclone_storage.languages.fortran.print.kernel import emit_code
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import read_python_kernel
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean import GOCEAN, interpret_gocean
from unit.languages.python.parse.test_body import HEAD, SETTINGS

HELPERS = '''
def slope(a, b, h=2.0):
    """Return a quotient."""
    return (b - a) / h


def sign_of(x: float) -> float:
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return 0.0


def put(out, p, n):
    for k in range(n):
        out[0, 0] = slope(p[0, 0], p[-1, 0]) + SLOPE * k


def reset(x, n):
    x = x + 1.0
    k = n + 1
    return x * k


def twice(n):
    return 2 * n


def kept(x):
    n = int(x)
    return n


def endless(n):
    return through(n)


def through(n):
    return endless(n)


def perhaps(x):
    if x > 0.0:
        return x


def first_of(n):
    for k in range(n):
        if k > 2:
            return k
    return 0


def mixed(n):
    if n > 0:
        return 0
    return 0.5


@staticmethod
def decorated(x):
    return x


def many(*values):
    return 1.0


def by_name(x, *, n: int = -1, m=SLOPE):
    return x * n


def wrong(x):
    return x + nothing


def said_whole(x) -> int:
    return x


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def other_kernel(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = 0.0


'''
TEXT = HEAD.replace("@kernel", f"{HELPERS}@kernel", 1)
MODULES = {
    "physics": "from math import sqrt as root\nfrom core import base\nG = 9.81\n"
    "SLOPE = 7.0\n\n\ndef speed(h):\n    return root(G * h) + base(SLOPE)\n",
    "core": "def base(x):\n    return x * STEP\n\n\nSTEP = 3\n",
}


def code_of(body: str, head: str = TEXT) -> Routine:
    text = head + "".join(f"    {line}\n" for line in body.splitlines())
    source = SourceText("smooth_mod.py", text)
    parsed = read_python_kernel(GOCEAN_WORDS, source, "smooth")
    dummies = GOCEAN.dummies(interpret_gocean(parsed, SETTINGS))

    def beside(name: str, _importing: SourceText) -> tuple[SourceText, ...]:
        name = name.lstrip(".")
        return (SourceText(f"{name}.py", MODULES[name]),) if name in MODULES else ()

    return read_python_body(GOCEAN_WORDS, source, parsed.procedure, dummies, beside)


def shown(lines: tuple[Line, ...]) -> list[str]:
    """Return statements as text, one in a line."""
    found = []
    for line in lines:
        match line:
            case Assign(target, value):
                found.append(f"{spell(target)} = {spell(value)}")
            case If(branches, otherwise):
                for branch in branches:
                    found += [f"if {spell(branch.condition)}", *shown(branch.body)]
                found += ["else", *shown(otherwise), "end"]
            case Do(variable, start, stop, body):
                head = f"do {spell(variable)} = {spell(start)}, {spell(stop)}"
                found += [head, *shown(body), "end"]
    return [re.sub("_go_wp", "", one) for one in found]


def lines_of(body: str, head: str = TEXT) -> list[str]:
    return shown(code_of(body, head).body)


def test_a_value_stands_where_the_call_was() -> None:
    assert lines_of("new[0, 0] = 2.0 * slope(old[0, 0], rate)") == [
        "slope_a = old(i, j)",
        "new(i, j) = 2.0 * ((rate - slope_a) / 2.0)",
    ]


def test_arguments_by_name_in_their_order() -> None:
    assert lines_of("new[0, 0] = slope(h=old[0, 0], b=old[-1, 0], a=1.0)") == [
        "slope_h = old(i, j)",
        "slope_b = old(i - 1, j)",
        "new(i, j) = (slope_b - 1.0) / slope_h",
    ]


def test_returns_become_branches() -> None:
    assert lines_of("new[0, 0] = sign_of(rate)") == [
        "if rate > 0.0", "sign_of_value = 1.0", "if rate < 0.0", "sign_of_value = -1.0",
        "else", "sign_of_value = 0.0", "end", "new(i, j) = sign_of_value",
    ]  # fmt: skip


def test_what_is_not_reached_is_not_computed() -> None:
    test = "step > 1 and sign_of(rate) > 0"
    assert lines_of(f"both[0, 0] = slope(old[0, 0], 1.0) if {test} else rate") == [
        "holds = step > 1", "if holds",
        "if rate > 0.0", "sign_of_value = 1.0", "if rate < 0.0", "sign_of_value = -1.0",
        "else", "sign_of_value = 0.0", "end",
        "holds = sign_of_value > 0", "else", "end",
        "if holds", "slope_a = old(i, j)", "chosen = (1.0 - slope_a) / 2.0",
        "else", "chosen = rate", "end",
        "both(i, j) = chosen",
    ]  # fmt: skip
    ways = "if step > 1:\n    x = 1.0\nelif sign_of(rate) > 0:\n    x = 2.0\nelse:\n    x = 3.0"
    assert lines_of(f"{ways}\nnew[0, 0] = x") == [
        "if step > 1", "x = 1.0", "else",
        "if rate > 0.0", "sign_of_value = 1.0", "if rate < 0.0", "sign_of_value = -1.0",
        "else", "sign_of_value = 0.0", "end",
        "if sign_of_value > 0", "x = 2.0", "else", "x = 3.0", "end", "end",
        "new(i, j) = x",
    ]  # fmt: skip


def test_arrays_are_those_that_are_passed() -> None:
    code = code_of("SLOPE_of = 1.0\nput(new, old, step)")
    assert shown(code.body)[1:] == [
        "do put_k = 0, step - 1",
        "slope_a = old(i, j)", "slope_b = old(i - 1, j)",
        "new(i, j) = (slope_b - slope_a) / 2.0 + SLOPE * put_k",
        "end",
    ]  # fmt: skip
    assert [item.name for item in code.module.declarations] == ["SLOPE"]


def test_each_call_has_locals_of_its_own() -> None:
    assert lines_of("x = reset(rate, step) + reset(1.0, 2)\nnew[0, 0] = x")[:7] == [
        "reset_x = rate", "reset_x = reset_x + 1.0", "reset_k = step + 1",
        "reset_value = reset_x * reset_k",
        "reset_x_1 = 1.0", "reset_x_1 = reset_x_1 + 1.0", "reset_k_1 = 2 + 1",
    ]  # fmt: skip


def test_a_type_is_that_of_what_is_passed() -> None:
    found = lines_of("n = twice(step)\nm = n // 2\nx = twice(rate)\nnew[0, 0] = x * m")
    assert (found[0], found[2]) == ("n = 2 * step", "x = 2 * rate")


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("from physics import speed", "speed"),
        ("from physics import speed as quick", "quick"),
        ("import physics", "physics.speed"),
        ("import physics as p", "p.speed"),
        ("from models import physics", "physics.speed"),
    ],
)
def test_modules_have_words_and_variables_of_their_own(line: str, called: str) -> None:
    if "models" in line:
        MODULES["models.physics"] = MODULES["physics"]
    code = code_of(
        f"new[0, 0] = {called}(rate) + SLOPE", TEXT.replace("import model\n", f"{line}\n")
    )
    real = "models.physics" if "models" in line else "physics"
    key = real.replace(".", "_")
    own = f"{key}__1s_1l_1o_1p_1e_of_module * core__1s_1t_1e_1p_of_module"
    assert shown(code.body) == [f"new(i, j) = sqrt({key}__1g_of_module * rate) + {own} + SLOPE"]
    symbols = code.module.symbols.symbols.values()
    assert {(one.module, one.name) for one in symbols} == {
        (real, "G"), (real, "SLOPE"), ("core", "STEP")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("x = slope(1.0)", [("P051", "slope(1.0)")]),
        ("x = slope(1.0, 2.0, 3.0, 4.0)", [("P051", "4.0")]),
        ("x = slope(1.0, 2.0, a=2.0)", [("P051", "a=2.0")]),
        ("x = slope(1.0, 2.0, c=2.0)", [("P051", "c=2.0")]),
        ("x = slope(*old)", [("P051", "*old")]),
        ("x = sign_of(step)", [("P054", "step")]),
        ("x = endless(step)", [("P051", "endless")]),
        ("x = perhaps(rate)", [("P051", "perhaps")]),
        ("x = first_of(step)", [("P051", "return k")]),
        ("x = mixed(step)", [("P054", "return 0.5")]),
        ("x = decorated(rate)", [("P051", "decorated")]),
        ("x = many(rate)", [("P051", "many")]),
        ("x = by_name(rate)", [("P051", "SLOPE")]),
        ("x = by_name(rate, m=1.0)", []),
        ("x = said_whole(rate)", [("P054", "x")]),
        ("x = wrong(rate) + wrong(1.0)", [("P053", "nothing")]),
        ("other_kernel(new)", [("P051", "other_kernel")]),
        ("x = put(new, old, step)", [("P051", "put")]),
        ("put(old, new, step)", [("M206", "p[0, 0]"), ("M206", "p[-1, 0]"), ("M204", "out[0, 0]")]),
        ("x = slope(old, 1.0)", [("P051", "a")]),
        ("slope = 1.0\nx = slope(1.0, 2.0)", [("P051", "slope")]),
        ("x = 0.0 < rate < sign_of(rate)", [("P051", "sign_of(rate)")]),
        ("SLOPE = 2.0\nput(new, old, 1)", [("P052", "SLOPE")]),
        ("x = absent.speed(rate)", [("P051", "absent.speed")]),
        ("x = slope", [("P053", "slope")]),
        ("x = 0.5 * (int(rate) if step > 1 else kept(rate))", [("P054", "int(rate)")]),
        ("new[0, 0] = abs(kept(rate) if step > 1 else -int(rate))", [("P054", "int(rate)")]),
        ("x = (int(rate) if step > 1 else kept(rate)) < 0.5", [("P054", "int(rate)")]),
        ("n = int(rate) if step > 1 else kept(rate)\nx = 0.5 * n", []),
        ("x = 0.5 * (step if step > 1 else kept(rate))", []),
        ("print(rate)", [("P051", "print(rate)")]),
    ],
)
def test_refused(body: str, wanted: list[tuple[str, str]]) -> None:
    head = TEXT.replace("import model\n", "import absent\n")
    try:
        code_of(f"{body}\nnew[0, 0] = 0.0", head)
    except CompileError as error:
        problems = error.problems
    else:
        problems = ()
    assert all(problem.message.endswith(".") for problem in problems)
    assert [(one.code, one.span.text if one.span else "") for one in problems] == wanted


def test_a_function_that_writes_gives_no_value() -> None:
    text = TEXT.replace(
        "def twice", "def written(out):\n    out[0, 0] = 1.0\n    return 2.0\n\n\ndef twice"
    )
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = rate + written(both)", text)
    (problem,) = caught.value.problems
    assert problem.span is not None
    assert (problem.code, problem.span.text) == ("P051", "out[0, 0]")
    assert [(one.span.text, one.label) for one in problem.related] == [
        ("written(both)", "'written' is called here")
    ]
    assert shown(code_of("written(both)\nnew[0, 0] = 0.0", text).body) == [
        "both(i, j) = 1.0", "written_value = 2.0", "new(i, j) = 0.0"
    ]  # fmt: skip


def test_relative_imports_have_no_variables() -> None:
    head = TEXT.replace("import model\n", "from .physics import speed\nfrom .core import base\n")
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = speed(rate)", head)
    assert [one.span.text for one in caught.value.problems if one.span] == ["G", "SLOPE"]


def test_one_meaning_alone() -> None:
    for own in ("from math import fabs as max\ndef max(a, b): return -a\n",
                "def max(a, b): return -a\nmax = print\n",
                "def max(a, b): return -a\ndef max(a, b): return a\n"):  # fmt: skip
        with pytest.raises(CompileError) as caught:
            code_of(
                "new[0, 0] = max(2.0, rate)", HEAD.replace("import math\n", f"import math\n{own}")
            )
        assert [one.code for one in caught.value.problems] == ["P052"]
    own = "def max(a, b):\n    return a + b\n"
    assert lines_of("new[0, 0] = max(2.0, rate)", f"{own}{HEAD}") == ["new(i, j) = 2.0 + rate"]


def test_calls_are_counted() -> None:
    text = "def f0(x):\n    return x\n" + "".join(
        f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x) + f{n - 1}(x)\n" for n in range(1, 7)
    )
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = f6(rate)", HEAD.replace("DEPTH", f"{text}DEPTH", 1))
    assert any("no more than 500" in one.message for one in caught.value.problems)
    assert len(caught.value.problems) < 20
    deep = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(40))
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = f0(rate)", HEAD.replace("DEPTH", f"{deep}DEPTH", 1))
    assert "nested more than 100 levels deep" in caught.value.problems[0].message
    ways = "def f(x):\n" + "".join(f"    if x > {n}.0:\n        return {n}.0\n" for n in range(40))
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = f(rate)", HEAD.replace("DEPTH", f"{ways}    return x\nDEPTH", 1))
    assert "too many ways" in caught.value.problems[0].message


def test_what_is_deep_can_be_printed() -> None:
    """As many functions as may call each other, with as many ways to return as there may be."""
    text = ""
    for n in range(3):
        text += f"def f{n}(x):\n    y = x\n"
        for way in range(21):
            text += f"    y = y + 1.0\n    if y > {way}.0:\n        return y\n"
        text += f"    return f{n + 1}(y) + y\n"
    text += "def f3(x):\n    return x + x\n"
    code = code_of("new[0, 0] = f0(rate)", HEAD.replace("DEPTH", f"{text}DEPTH", 1))
    assert emit_code(code)
    text = "".join(f"def f{n}(x):\n    return f{n + 1}(x) + x\n" for n in range(9))
    text += f"def f9(x):\n    return {' + '.join(['x'] * 12)}\n"
    code = code_of("new[0, 0] = f0(rate)", HEAD.replace("DEPTH", f"{text}DEPTH", 1))
    assert emit_code(code)


def test_names_are_plain_in_the_code() -> None:
    text = "def _half(_x):\n    _x = 0.5 * _x\n    return _x\n\n\n"
    text += "def größe(é):\n    é = é + 1.0\n    return é\n\n\n"
    head = TEXT.replace("import math\n", f"import math\n{text}")
    found = lines_of("new[0, 0] = _half(größe(rate))", head)
    assert found[:2] == ["grxxe_x = rate", "grxxe_x = grxxe_x + 1.0"]
    assert found[-2:] == ["own_half_value = own_half__x", "new(i, j) = own_half_value"]


WHERE = """
def kept(v):
    return v


def raised(v):
    v += 1.0
    return v


def raised_copy(v):
    v = v + 1.0
    return v


"""
IN_PLACE = [
    ["a = np.where(rate > 0.0, 1.0, 2.0)", "b = a", "b += 1.0"],
    ["a = np.where(rate > 0.0, 1.0, 2.0)", "b = raised(a)"],
    ["a = np.where(rate > 0.0, 1.0, 2.0)", "b = raised(a if rate > 1.0 else rate)"],
    ["a = max(np.where(rate > 0.0, 1.0, 2.0), rate)", "b = kept(a)", "b *= 3.0"],
    ["a = 1.0", "b = 1.0", "for k in range(3):", "    b = a", "    b += 1.0",
     "    a = np.where(rate > 0.0, 1.0, 2.0)"],
]  # fmt: skip


@pytest.mark.parametrize("lines", IN_PLACE)
def test_what_numpy_changes_in_place_is_refused(lines: list[str]) -> None:
    with pytest.raises(CompileError) as caught:
        codes_of(where(lines))
    (problem,) = caught.value.problems
    assert problem.code == "P051"
    assert problem.span is not None
    assert problem.span.text in ("b += 1.0", "v += 1.0", "b *= 3.0")


def test_what_numpy_gives_is_a_number_of_its_own() -> None:
    lines = ["both[0, 0] = np.where(rate > 0.0, 1.0, 2.0)", "a = both[0, 0]", "both[0, 0] += 1.0",
             "b = raised_copy(np.where(rate > 0.0, 1.0, 2.0)) + raised(a)"]  # fmt: skip
    text = where(lines)
    for one, other in zip(by_python(text, 1), by_numpy(text, 1), strict=True):
        assert np.array_equal(one, other)


def where(lines: list[str]) -> str:
    """Return a kernel with some statements, which calls functions."""
    body = "".join(f"    {line}\n" for line in [*lines, "new[0, 0] = a + b"])
    before, _, after = OF_KERNELS.partition("@kernel")
    return f"{before}{WHERE}@kernel{after}{body}"
