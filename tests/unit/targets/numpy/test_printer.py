"""What is printed as Python: kernels under conditions, loops, powers, and the algorithm's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run_command
from properties.python_kernels import HEAD, SETTINGS, printed
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

KERNELS = Path(__file__).parents[3] / "corpus" / "gocean" / "python" / "kernels"


def body(text: str) -> list[str]:
    lines = printed(HEAD + "".join(f"    {line}\n" for line in text.splitlines())).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("def work_code("))
    return [line[4:] for line in lines[start + 2 :]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("new[0, 0] = old[1, -1]", ["new[at(0, 0)] = old[at(1, -1)]"]),
        (
            "if old[0, 0] > 0:\n    new[0, 0] = 1\nelse:\n    new[0, 0] = 2",
            [
                "where = old[at(0, 0)] > 0",
                "np.copyto(new[at(0, 0)], 1, where=where)",
                "elsewhere = np.logical_not(where)",
                "np.copyto(new[at(0, 0)], 2, where=elsewhere)",
            ],
        ),
        (
            "if step > 0 and not rate == 1:\n    new[0, 0] = 1.5e300",
            ["if step > 0 and not rate == 1:", "    new[at(0, 0)] = 1.5e+300"],
        ),
        (
            "x = both[0, 0]\nboth[0, 0] = rate\nnew[0, 0] = x",
            [
                "x = both[at(0, 0)].copy()",
                "both[at(0, 0)] = rate",
                "new[at(0, 0)] = x",
            ],
        ),
        ("new[0, 0] = rate**2 + rate**5", ["new[at(0, 0)] = rate**2 + rate**np.float64(5)"]),
        ("new[0, 0] = (step + 1) // 2", ["new[at(0, 0)] = (step + 1) // 2"]),
        ("new[0, 0] = rate - (rate - rate)", ["new[at(0, 0)] = rate - (rate - rate)"]),
        ("new[0, 0] = -(-rate) ** 2", ["new[at(0, 0)] = -(-rate)**2"]),
        (
            "for n in range(1, 4, 2):\n    both[0, 0] += n\nnew[0, 0] = 0",
            [
                "for n in range(1, 4, 2):",
                "    both[at(0, 0)] = both[at(0, 0)] + n",
                "new[at(0, 0)] = 0",
            ],
        ),
        (
            "new[0, 0] = max(old[0, 0], 0.0, rate)",
            ["new[at(0, 0)] = greater(greater(old[at(0, 0)], 0.0), rate)"],
        ),
        ("new[0, 0] = DEPTH", ["[DEPTH] = _variables_of_work_code()", "new[at(0, 0)] = DEPTH"]),
    ],
)
def test_statements(text: str, wanted: list[str]) -> None:
    assert body(text) == wanted


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "for n in range(mask[0, 0], 3):\n    pass\nnew[0, 0] = 0",
            "the first value of the counter differs",
        ),
        ("import math\nnew[0, 0] = math.gamma(rate)", ""),
    ],
)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(CompileError) as caught:
        body(text)
    assert why in str(caught.value)


def generated(tmp_path: Path, text: str, *words: str) -> tuple[str, str]:
    (tmp_path / "alg.py").write_text(text, encoding="utf-8")
    outputs = ["-oalg", "out/alg.py", "-opsy", "out/alg_psy.py"]
    (tmp_path / "out").mkdir(exist_ok=True)
    done = run_command(["alg.py", "-d", str(KERNELS), *outputs, *words], tmp_path)
    assert done.status == 0, done.err
    return done.written["out/alg.py"], done.written["out/alg_psy.py"]


ALGORITHM = '''\
"""Text."""  # kept
from psyclone_storage.gocean import invoke as do  # kept, too
from smooth_mod import smooth

class State: lambda_ = 1

def run(state, lambda_):  # about
    if True: do(smooth(state.new,
        state.old), name="soften")  # behind
\tx = 1
'''.replace("\tx = 1\n", "")


def test_every_other_character_is_kept(tmp_path: Path) -> None:
    text, psy = generated(tmp_path, ALGORITHM)
    start, stop = ALGORITHM.index("do(smooth"), ALGORITHM.index("  # behind")
    at = ALGORITHM.index("\nclass")
    wanted = (
        ALGORITHM[:at]
        + "from alg_psy import invoke_soften\n"
        + ALGORITHM[at:start]
        + "invoke_soften(state.new, state.old)"
        + ALGORITHM[stop:]
    )
    assert text == wanted
    assert "def invoke_soften(state_new, state_old):" in psy
    compile(text, "alg.py", "exec")


def psy_text(steps: str) -> str:
    """Return what is printed for NumPy after some steps."""
    asked = CompileRequest(
        "gocean", directories=(KERNELS,), steps=steps, suffix=".py", target="numpy"
    )
    return make_compiler(SETTINGS, asked).compile_text(SourceText("alg.py", ALGORITHM)).psy_text


def test_tiles_are_loops_over_boxes() -> None:
    psy = psy_text("tile-loops{rows=4 columns=16}")
    assert "for j_tile in range(" in psy
    compile(psy, "alg_psy.py", "exec")


def test_threads_become_a_remark() -> None:
    psy = psy_text("openmp-parallel-do")
    assert "# omp parallel do: done by NumPy" in psy
    compile(psy, "alg_psy.py", "exec")


def test_an_algorithm_without_invokes_is_passed_on(tmp_path: Path) -> None:
    text = "x = 1\n"
    assert generated(tmp_path, text, "-api", "gocean")[0] == text
