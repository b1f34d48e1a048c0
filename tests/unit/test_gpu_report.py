"""The command that runs everything on a GPU: its message without one, and its figures."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from storage_devices import device_in_place

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the script as a module, with small sizes."""
    spec = importlib.util.spec_from_file_location("gpu_report", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    monkeypatch.syspath_prepend(SCRIPT.parent)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SIZES", {"64 KiB": 1 << 16})
    return module


def test_without_a_gpu_nothing_is_written(tmp_path: Path) -> None:
    page = tmp_path / "gpu.md"
    page.write_text("as it was", encoding="utf-8")
    blocked = tmp_path / "cupy.py"
    blocked.write_text("raise ImportError\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "--output", str(page)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
        check=False,
    )
    assert ran.returncode == 2
    assert "No GPU" in ran.stderr
    assert page.read_text(encoding="utf-8") == "as it was"


def test_the_figures_come_from_the_code_for_gpus(script: Any) -> None:
    script.best = lambda work, after=None: (work(), after and after(), 1e-3)[-1]
    with device_in_place("stand-in"):
        found = list(script.figures())
        about = script.facts()
    assert len(found) == 4 + 5
    outcome = script.Outcome("3 passed", good=True)
    text = script.report(about, outcome, (found, []), complete=True)
    assert "a stand-in for a GPU" in text
    assert "| bind 5 arguments | 1e+03 | 1e+03 (launch of a kernel) | 1.00 | us |" in text
    assert "to the device, page-locked, 64 KiB" in text
    assert "time was up" not in text


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (0, (True, 0.9, False)),
        (1, (True, 0.89, False)),
        (1, (True, float("nan"), False)),
        (1, (False, 1.0, False)),
        (1, (True, 1.0, True)),
    ],
)
def test_the_status_says_whether_all_is_well(
    script: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    told: tuple[bool, float, bool],
) -> None:
    good, value, slow = told
    page = tmp_path / "gpu.md"
    monkeypatch.setattr(script, "has_gpu", lambda: True)
    monkeypatch.setattr(script, "run_tests", lambda _: script.Outcome("1 failed", good=good))
    figure = script.Figure("one", 1.0, "other", 2.0, "us")
    monkeypatch.setattr(script, "figures", lambda: iter([figure, figure]))
    judged = script.gpu_kernels.Judgement("of a copy's", value, "share", 0.9)
    monkeypatch.setattr(script, "judgements", lambda _: iter([judged]))
    if slow:
        monkeypatch.setattr(script, "TOTAL", -1.0)
    with device_in_place("stand-in"):
        assert script.main(["--output", str(page)]) == status
    text = page.read_text(encoding="utf-8")
    assert text.count("| one | 1 | 2 (other) | 0.50 | us |") == (1 if slow else 2)
    assert ("time was up" in text) == slow
    verdict = "met" if value >= 0.9 else "MISSED"
    assert f"| of a copy's | {value:.4g} | share | >= 0.9 | {verdict} |" in text


def test_bars_are_met_from_either_side_and_times_count_on_a_gpu_alone(script: Any) -> None:
    made = script.gpu_kernels.Judgement
    launch = made("a kernel more", 5.1, "us", 5.0, at_most=True)
    assert not launch.good(on_gpu=True)
    assert launch.good(on_gpu=False)
    assert "not judged" in launch.line(on_gpu=False)
    moved = made("all others", 1, "transfers", 0, at_most=True, timed=False)
    assert not moved.good(on_gpu=False)
    assert "MISSED" in moved.line(on_gpu=False)
    same = script.gpu_kernels.same
    assert same("bits", [1.0, 2.0], [1.0, 2.0]).good(on_gpu=False)
    assert not same("bits", [1.0, 2.0], [1.0, 3.0]).good(on_gpu=False)


def test_a_part_that_fails_is_a_bar_that_is_missed(
    script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = script.gpu_kernels

    def fail(*_: Any) -> Any:
        raise RuntimeError("out of\nmemory")

    monkeypatch.setattr(kernels, "copy_rate", lambda *_: 1.0)
    one = kernels.Judgement("one", 1.0, "share", 0.9)
    for name in ("of_points", "of_product", "of_launches", "of_transfers", "of_exchanges"):
        monkeypatch.setattr(kernels, name, lambda *_: iter([one]))
    fail.__name__ = "of_product"
    monkeypatch.setattr(kernels, "of_product", fail)
    found = list(kernels.judgements(kernels.Sizes()))
    assert [judged.good(on_gpu=True) for judged in found] == [True, True, False, True, True, True]
    assert found[2].name == "of_product: RuntimeError: out of memory"


@pytest.mark.parametrize(
    ("took", "share"),
    [
        ((2.0, 1.0, 3.0, 2.0), 1.0),
        ((2.0, 1.0, 3.0, 3.0), 0.0),
        ((1.0, 2.0, 3.0, 2.25), 0.75),
        ((2.0, 1.0, 3.0, 4.0), -1.0),
        ((2.0, 1.0, 1.9, 1.8), 1.0),
        ((2.0, 1.0, 1.9, 2.1), 0.0),
    ],
)
def test_what_can_be_hidden_is_the_shorter_of_both(
    script: Any, took: tuple[float, ...], share: float
) -> None:
    assert script.gpu_kernels.hidden_share(*took) == share
