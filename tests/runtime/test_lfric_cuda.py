"""LFRic's corpus in Python as CUDA: NVRTC compiles all of it."""

from __future__ import annotations

from pathlib import Path

from nvrtc import check_cuda


def test_the_corpus_is_cuda(corpus_in_python: Path) -> None:
    text = (corpus_in_python / "cuda" / "corpus_psy.cu").read_text()
    assert text.count("PSY_KERNEL void") > 250
    check_cuda(text)
