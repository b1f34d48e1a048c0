"""LFRic's corpus in Python as CUDA: NVRTC compiles all of it.

Any run compiles it for one architecture, `--matrix` for both. GOcean's corpus and the kernels of
columns always compile for both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nvrtc import ARCHITECTURES, check_cuda


def test_the_corpus_is_cuda(corpus_in_python: Path, pytestconfig: pytest.Config) -> None:
    text = (corpus_in_python / "cuda" / "corpus_psy.cu").read_text()
    assert text.count("PSY_KERNEL void") > 250
    check_cuda(text, ARCHITECTURES if pytestconfig.getoption("--matrix") else ARCHITECTURES[:1])
