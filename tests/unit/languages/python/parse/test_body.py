"""Bodies of kernels in Python: what is refused, at which place, and what operators mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.unit import Assign, Do
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.python.parse.metadata import read_python_kernel
from psyclone_storage.targets.dialects import GOCEAN_WORDS
from psyclone_storage.targets.gocean import GOCEAN, interpret_gocean

SETTINGS = load_settings("", "", search_context({}))
HEAD = """\
import math
import model
import numpy as np
from psyclone_storage.gocean import *

DEPTH = 10
SLOPE: float = 0.5


@kernel(iterates_over=GO_INTERNAL_PTS, index_offset=GO_OFFSET_NE)
def smooth(
    new: field[GO_WRITE, GO_CT],
    old: field[GO_READ, GO_CT, GO_STENCIL("000,110,000")],
    both: field[GO_READWRITE, GO_CT],
    rate: scalar[GO_READ, GO_R_SCALAR],
    step: scalar[GO_READ, GO_I_SCALAR],
    mask: grid_property[GO_GRID_MASK_T],
):
"""


def code_of(body: str, head: str = HEAD) -> Routine:
    text = head + "".join(f"    {line}\n" for line in body.splitlines())
    source = SourceText("smooth_mod.py", text)
    parsed = read_python_kernel(GOCEAN_WORDS, source, "smooth")
    kernel = interpret_gocean(parsed, SETTINGS)
    return read_python_body(GOCEAN_WORDS, source, parsed.procedure, GOCEAN.dummies(kernel))


def value_of(expression: str) -> str:
    """Return what is assigned, as typed code spells it."""
    line = code_of(f"new[0, 0] = {expression}").body[0]
    assert isinstance(line, Assign)
    return spell(line.value).replace("_go_wp", "")


def refusals(body: str) -> list[tuple[str, str]]:
    """Return the code of each problem and the text at its place."""
    with pytest.raises(CompileError) as caught:
        code_of(body)
    problems = caught.value.problems
    assert all(problem.message.endswith(".") for problem in problems)
    return [(one.code, one.span.text if one.span else "") for one in problems]


TOWARDS_ZERO = "aint(rate)"
NEAREST = "int(rate) + int(2.0 * (rate - int(rate)))"
NEAREST_REAL = "aint(rate) + 0.0 + (aint(2.0 * (rate - (aint(rate) + 0.0))) + 0.0)"


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("old[0, 0] - old[-1, 0]", "old(i, j) - old(i - 1, j)"),
        ("1 / 2", "real(1, go_wp) / real(2, go_wp)"),
        ("rate / 2", "rate / 2"),
        ("step // 2", "(step - modulo(step, 2)) / 2"),
        ("step % 3", "modulo(step, 3)"),
        ("rate % 3", "modulo(rate, real(3, go_wp))"),
        ("rate**2", "rate ** 2"),
        ("-rate**2", "-rate ** 2"),
        ("(-rate) ** 2", "(-rate) ** 2"),
        ("rate**step", "rate ** real(step, go_wp)"),
        ("step**2", "step ** 2"),
        ("abs(rate)", "abs(rate)"),
        ("min(step, rate, 0)", "min(real(step, go_wp), rate, real(0, go_wp))"),
        ("math.sqrt(step)", "sqrt(real(step, go_wp))"),
        ("int(rate) + 1", "aint(rate) + 0.0 + real(1, go_wp)"),
        ("0.5 * (int(rate) + 1)", "0.5 * (aint(rate) + 0.0 + real(1, go_wp))"),
        ("1.0 * int(step / 2)", "1.0 * int(real(step, go_wp) / real(2, go_wp))"),
        ("np.arctan2(rate, 1)", "atan2(rate, real(1, go_wp))"),
        ("math.floor(rate)", f"{TOWARDS_ZERO} + merge(-1.0, 0.0, {TOWARDS_ZERO} > rate)"),
        ("math.ceil(rate) + 1.0", f"{TOWARDS_ZERO} + merge(1.0, 0.0, {TOWARDS_ZERO} < rate) + 1.0"),
        ("int(rate)", "aint(rate) + 0.0"),
        ("-int(rate)", "0.0 - (aint(rate) + 0.0)"),
        (f"10 * ({NEAREST})", f"real(10, go_wp) * ({NEAREST_REAL}) + 0.0"),
        ("float(step)", "real(step, go_wp)"),
        ("math.pi", "3.141592653589793"),
        ("1e-30", "1.0e-30"),
        ("rate if 0 < step < 5 else 0", "merge(rate, real(0, go_wp), 0 < step .and. step < 5)"),
        ("np.where(not mask[0, 0] == 1, 1.0, rate)", "merge(1.0, rate, .not. mask(i, j) == 1)"),
        ("DEPTH * SLOPE", "DEPTH * SLOPE"),
        ("float(np.float32(step)) * rate", "real(real(step), go_wp) * rate"),
        ("float(np.float32(rate))", "real(real(rate), go_wp)"),
        ("np.float32(rate)", "real(rate, go_sp)"),
        ("mask[5, -7]", "mask(i + 5, j - 7)"),
    ],
)
def test_meaning(expression: str, wanted: str) -> None:
    assert value_of(expression) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("new[0, 0] = old[1, 0]", [("M207", "old[1, 0]")]),
        ("new[0, 0] = both[1, 0]", [("M207", "both[1, 0]")]),
        ("new[1, 0] = 0.0", [("M207", "new[1, 0]")]),
        ("old[0, 0] = 0.0", [("M204", "old[0, 0]")]),
        ("mask[0, 0] = 0", [("M204", "mask[0, 0]")]),
        ("rate = 1.0", [("M204", "rate")]),
        ("new = 1.0", [("M204", "new")]),
        ("new[0, 0] = new[0, 0] + 1", [("M206", "new[0, 0]")]),
        ("new[0, 0] += 1", [("M206", "new[0, 0]")]),
        ("new[0, 0] = missing", [("P053", "missing")]),
        ("new[0, 0] = x\nx = 1.0", [("P053", "x")]),
        ("if rate > 0:\n    x = 1.0\nnew[0, 0] = x", [("P053", "x")]),
        ("for n in range(step):\n    x = 1.0\nnew[0, 0] = x", [("P053", "x")]),
        ("for n in range(3):\n    pass\nnew[0, 0] = n", [("P053", "n")]),
        ("DEPTH = DEPTH + 1", [("P053", "DEPTH")]),
        ("x = 0\nx = 0.5", [("P054", "x")]),
        ("x: int = 0.5", [("P054", "0.5")]),
        ("x = rate > 0\nnew[0, 0] = x + 1", [("P054", "x")]),
        ("new[0, 0] = rate > 0", [("P054", "new[0, 0]")]),
        ("if rate:\n    pass", [("P054", "rate")]),
        ("new[0, 0] = rate and 1", [("P054", "rate"), ("P054", "1")]),
        ("new[0, 0] = rate // 2", [("P054", "rate // 2")]),
        ("new[0, 0] = step**step", [("P054", "step**step")]),
        ("new[0, 0] = 2**-1", [("P054", "2**-1")]),
        ("new[0, 0] = 2147483648", [("P054", "2147483648")]),
        ("new[0, 0] = rate * (65536 * 65536) + 1", [("P054", "65536 * 65536")]),
        ("new[0, 0] = 3 * 10**9 - 10**9", [("P054", "3 * 10**9")]),
        ("new[0, 0] = -(-2147483647 - 1)", [("P054", "-(-2147483647 - 1)")]),
        ("n = 2**40\nnew[0, 0] = pow(2, 31)", [("P054", "2**40"), ("P054", "pow(2, 31)")]),
        ("new[0, 0] = 9**9**9", [("P054", "9**9**9")]),
        ("new[0, 0] = step * (-2147483647 - 2)", [("P054", "-2147483647 - 2")]),
        ("new[0, 0] = 1e999", [("P054", "1e999")]),
        ("new[0, 0] = int(rate) + 1 + step", [("P054", "int(rate) + 1 + step")]),
        ("new[0, 0] = 0.5 * (int(rate) // 2)", [("P054", "int(rate) // 2")]),
        ("new[0, 0] = abs(int(rate)**3)", [("P054", "int(rate)**3")]),
        ("new[0, 0] = (int(rate) + 1) / 3", [("P054", "int(rate) + 1")]),
        ("if int(rate) + 1 > rate:\n    return\nnew[0, 0] = 0", [("P054", "int(rate) + 1")]),
        ("n = 1 if int(rate) // 2 > step else 2\nnew[0, 0] = n", [("P054", "int(rate) // 2")]),
        ("new[0, 0] = 'a'", [("P054", "'a'")]),
        ("new[0, 0] = 1j", [("P054", "1j")]),
        ("new[0, 0] = old", [("P051", "old")]),
        ("new[0] = 0.0", [("P051", "0")]),
        ("new[0, step] = 0.0", [("P051", "0, step")]),
        ("new[0, 0] = old[0.0, 0]", [("P051", "0.0, 0")]),
        ("new[0, 0] = rate[0, 0]", [("P051", "rate")]),
        ("new[0, 0] = print(1)", [("P051", "print")]),
        ("new[0, 0] = math.sqrt()", [("P051", "math.sqrt()")]),
        ("new[0, 0] = math.nothing(1)", [("P051", "math.nothing")]),
        ("new[0, 0] = min(rate)", [("P051", "min(rate)")]),
        ("new[0, 0] = abs(x=1)", [("P051", "abs(x=1)")]),
        ("new[0, 0] = 1.0 + [1]", [("P051", "[1]")]),
        ("new[0, 0] = lambda: 0", [("P051", "lambda: 0")]),
        ("new[0, 0] = ~rate", [("P054", "~rate")]),
        ("new[0, 0] = step << 32", [("P054", "step << 32")]),
        ("new[0, 0] = rate & 1", [("P054", "rate & 1")]),
        ("while True:\n    pass", [("P051", "True")]),
        ("n = 0\nwhile n < 3:\n    pass", [("P051", "n < 3")]),
        ("n = 0\nwhile n < 3:\n    n -= 1", [("P051", "n < 3")]),
        ("n = 0\nwhile n < 3:\n    if rate > 0:\n        n += 1", [("P051", "n < 3")]),
        ("n = 0\nk = 2\nwhile n < 9:\n    n = n + k\n    k = 1", [("P051", "n < 9")]),
        ("n = 0\nk = 2\nwhile n < 9:\n    n += k\n    k += 1", [("P051", "n < 9")]),
        ("for k in range(2147483647):\n    new[0, 0] = float((1.0, 2.0)[k])", [("P051", "k")]),
        ("x, y = 1, 2, 3", [("P051", "x, y = 1, 2, 3")]),
        ("x, y = rate", [("P051", "rate")]),
        ("a = [1, 2]\nb = a", [("P051", "a")]),
        ("a = (1, 2)\na = 1", [("P054", "a")]),
        ("new[0, 0] = old[step, 0]", [("P051", "step, 0")]),
        ("for k in range(-1, 3):\n    x = old[k, 0]", [("M207", "old[k, 0]")] * 1),
        ("return rate", [("P051", "return rate")]),
        ("for n in old:\n    pass", [("P051", "old"), ("P051", "old")][:1]),
        ("for n in range(rate):\n    pass", [("P054", "range(rate)")]),
        ("for n in range(0, 5, step):\n    pass", [("P051", "range(0, 5, step)")]),
        ("for n in range(0, 5, 0):\n    pass", [("P051", "range(0, 5, 0)")]),
        ("for n in range(5):\n    n = 2", [("P051", "n")]),
        ("é = 1.0", [("P052", "é")]),
        ("min = 1\nnew[0, 0] = max(min, step)\nnew[0, 0] = np.minimum(min, 2)", [("P052",
         "np.minimum(min, 2)")]),
        ("del rate", [("P051", "del rate")]),
        ("import os", [("P051", "import os")]),
        ("print(rate)", [("P051", "print(rate)")]),
        ("new[0, 0] = float(np.float32(rate > 0))", [("P054", "rate > 0")]),
        ("new[0, 0] = float(np.float32())", [("P051", "np.float32()")]),
        ("new[0, 0] = model.rdt", [("P053", "model.rdt")]),
        (
            "new[0, 0] = 10 * (int(rate) + int(2.0 * (rate - int(-rate))))",
            [("P054", "10 * (int(rate) + int(2.0 * (rate - int(-rate))))")],
        ),
        (
            "new[0, 0] = 10 * (int(rate) + int(4.0 * (rate - int(rate))))",
            [("P054", "10 * (int(rate) + int(4.0 * (rate - int(rate))))")],
        ),
        (
            "new[0, 0] = 10 * (int(rate) + math.floor(2.0 * (rate - int(rate))))",
            [("P054", "10 * (int(rate) + math.floor(2.0 * (rate - int(rate))))")],
        ),
        ("x: complex = model.rdt", [("P051", "x: complex = model.rdt")]),
        ("x: float = absent.rdt", [("P053", "absent.rdt")]),
        ("w = np.arange(3)\nw[0] = 2.0\nnew[0, 0] = w[1]", [("P051", "np.arange")]),
        ("w = np.ones(2, dtype=complex)\nnew[0, 0] = w[1]", [("P051", "dtype=complex")]),
        ("new[0, 0] = old[0, 0, 0]", [("P051", "old[0, 0, 0]")]),
        ("w = np.zeros(mask[0, 0])\nnew[0, 0] = w[0]", [("P054", "mask[0, 0]")]),
        ("W = np.array([1.0, 2.0])\nnew[0, 0] = W[True]", [("P054", "True")]),
        ("new[0, 0] = float(np.array([2, 5])[DEPTH == 10])", [("P054", "DEPTH == 10")]),
    ],
)  # fmt: skip
def test_refused(body: str, wanted: list[tuple[str, str]]) -> None:
    assert refusals(body) == wanted


@pytest.mark.parametrize(
    "own",
    [
        "import other as max\n",
        "if True:\n    max = print\n",
        "class max: pass\n",
    ],
)
def test_a_name_of_the_module_is_no_function_of_python(own: str) -> None:
    with pytest.raises(CompileError) as caught:
        code_of("new[0, 0] = max(2.0, rate)", HEAD.replace("import math\n", f"import math\n{own}"))
    (problem,) = caught.value.problems
    assert problem.code == "P051"
    assert problem.span is not None
    assert problem.span.text == "max"
    assert "of its own" in problem.hint


@pytest.mark.parametrize(
    ("called", "hint"),
    [
        ("sqrt(rate)", "'from math import sqrt' at the top of the file, or 'np.sqrt'"),
        ("arctan2(rate, rate)", "Write 'np.arctan2' with 'import numpy as np'."),
        ("atan(rate)", "Write 'from math import atan' at the top of the file."),
        ("numpy.sqrt(rate)", "Write 'import numpy' at the top of the file."),
        ("round(rate)", "'math.floor(x + 0.5)'"),
        ("abbs(rate)", "Did you mean 'abs'?"),
        ("nothing(rate)", "A kernel calls the functions of numbers"),
    ],
)
def test_what_to_write_for_a_function_that_there_is_not(called: str, hint: str) -> None:
    with pytest.raises(CompileError) as caught:
        code_of(f"new[0, 0] = {called}", HEAD)
    (problem,) = caught.value.problems
    assert problem.code == "P051"
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("called", "written"),
    [
        ("np.sign(rate)", "1.0 if rate > 0.0 else -1.0 if rate < 0.0 else rate"),
        ("np.floor(rate)", "math.floor(rate)"),
        ("np.mod(rate, 2.5)", "rate % 2.5"),
        ("np.fmax(rate, 1.0)", "max(rate, 1.0)"),
    ],
)
def test_what_a_hint_says_can_be_written(called: str, written: str) -> None:
    """And has the value of the function that there is not."""
    with pytest.raises(CompileError) as caught:
        code_of(f"new[0, 0] = {called}", HEAD)
    (problem,) = caught.value.problems
    assert problem.hint.startswith("Write '")
    code_of(f"new[0, 0] = {written}", HEAD)
    for rate in (-2.5, -0.5, 0.0, 0.7, 3.0):
        given = {"np": np, "math": math, "rate": rate}
        assert eval(called, given) == eval(written, given)


def test_all_problems_at_once() -> None:
    found = refusals("new[0, 0] = a\nnew[0, 0] = b\nold[1, 0] = old[2, 0]")
    assert [code for code, _ in found] == ["P053", "P053", "M207", "M204"]


@pytest.mark.parametrize(
    "body",
    [
        "new[0, 0] = 1\nnew[0, 0] += 1",
        "x: float = model.rdt\nn: int = model.level\nnew[0, 0] = x * n",
        "if rate > 0:\n    x = 1.0\nelif rate < 0:\n    x = 2.0\nelse:\n    return\nnew[0, 0] = x",
        "for n in range(1, 3):\n    x = n * rate\nnew[0, 0] = x",
        "x = 0.0\nfor n in range(step):\n    x += n\nnew[0, 0] = x",
        "x = 1.0\nx = 2\nnew[0, 0] = x",
        "n = int(rate) // 2 + step - 1\nnew[0, 0] = n",
        "new[0, 0] = 1.0 if int(rate) + step + 1 > 3 else 2.0",
        '"""What it does."""\nnew[0, 0] = 0',
        "done = rate > 0 or not step == 1\nif done:\n    return\nnew[0, 0] = 0.0",
        "for n in range(9):\n    if n > step:\n        break\n    both[0, 0] += n\nnew[0, 0] = 1",
    ],
)
def test_accepted(body: str) -> None:
    assert code_of(body).body


@pytest.mark.parametrize(
    ("loop", "bounds"),
    [
        ("range(3)", "0 2 None"),
        ("range(1, step)", "1 step - 1 None"),
        ("range(step, -1, -1)", "step 0 -1"),
        ("range(5, 1, -2)", "5 2 -2"),
        ("range(0, step + 1)", "0 step + 1 - 1 None"),
    ],
)
def test_loops(loop: str, bounds: str) -> None:
    line = code_of(f"for n in {loop}:\n    both[0, 0] += n\nnew[0, 0] = 0").body[0]
    assert isinstance(line, Do)
    step = None if line.step is None else spell(line.step)
    assert f"{spell(line.start)} {spell(line.stop)} {step}" == bounds


def test_indices_get_other_names() -> None:
    code = code_of("for i in range(2):\n    both[0, 0] += i\nnew[0, 0] = 0")
    assert code.dummies[:2] == ("i_1", "j")


def test_constants_of_the_module_are_declared() -> None:
    code = code_of("new[0, 0] = DEPTH * SLOPE")
    kinds = {item.name: item.type.intrinsic.value for item in code.module.declared.values()}
    assert kinds["DEPTH"] == "integer"
    assert kinds["SLOPE"] == "real"


def test_names_that_differ_in_case_alone_are_different_names() -> None:
    body = "depth = 2.0\nRate = 3.0\nnew[0, 0] = depth * DEPTH + rate * Rate"
    code = code_of(body)
    line = code.body[-1]
    assert isinstance(line, Assign)
    names = {one for one in spell(line.value).replace("*", " ").split() if one.isidentifier()}
    assert len({one.lower() for one in names}) == 4
    assert "depth" in code.module.declared
    assert "depth" not in code_of("depth = 2.0\nnew[0, 0] = depth").module.declared
