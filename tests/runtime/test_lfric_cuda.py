"""LFRic's corpus in Python as CUDA: NVRTC compiles all of it."""

from __future__ import annotations

from pathlib import Path

from nvrtc import check_cuda
from runtime.twins import program_in_python, with_known_lengths


def test_the_corpus_is_cuda(tmp_path: Path) -> None:
    program_in_python(with_known_lengths(), tmp_path / "cuda", "cuda")
    text = (tmp_path / "cuda" / "corpus_psy.cu").read_text()
    assert text.count("PSY_KERNEL void") > 250
    check_cuda(text)
