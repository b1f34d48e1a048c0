"""The GOcean corpus uses every metadata keyword and documents each algorithm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.config.load import default_settings
from psyclone_storage.infrastructures.gocean import (
    ALL,
    FIELD_TYPES,
    INTERNAL,
    SCALARS,
    RequiredProperty,
)
from psyclone_storage.infrastructures.gocean_words import ACCESSES

CORPUS = Path(__file__).parents[3] / "corpus" / "gocean"
ALGORITHMS = {path.stem: path.read_text() for path in sorted(CORPUS.glob("*.x90"))}
KERNELS = {path.stem: path.read_text() for path in sorted((CORPUS / "kernels").glob("*.f90"))}
WORDS = {word for text in KERNELS.values() for word in re.findall(r"\bgo_\w+", text.lower())}

# There are no kernel words for these: generated code alone asks for them, or dl_esm_inf lacks them.
NOT_FOR_KERNELS = {*RequiredProperty, "go_grid_nx", "go_grid_ny"}


def test_there_are_at_least_25_algorithms() -> None:
    assert len(ALGORITHMS) >= 25


@pytest.mark.parametrize(
    "word",
    [
        *ACCESSES,
        *FIELD_TYPES,
        *SCALARS,
        *(INTERNAL, ALL, "go_pointwise", "go_stencil"),
        *("go_offset_ne", "go_offset_sw", "go_offset_any"),
    ],
)
def test_every_word_is_used(word: str) -> None:
    assert word in WORDS


def test_most_properties_of_the_grid_are_used() -> None:
    known = set(default_settings().gocean.grid_properties) - NOT_FOR_KERNELS
    assert known - WORDS <= {"go_grid_dy_v", "go_grid_dx_u", "go_grid_y_max_index"}


@pytest.mark.parametrize("module", KERNELS)
def test_every_kernel_is_called(module: str) -> None:
    assert any(re.search(rf"(?i)use {module}\b", text) for text in ALGORITHMS.values())


@pytest.mark.parametrize("name", [*ALGORITHMS, *KERNELS])
def test_the_first_line_says_what_a_file_shows(name: str) -> None:
    text = (ALGORITHMS | KERNELS)[name]
    first = text.partition("\n")[0]
    assert first.startswith("!> ")
    assert first.endswith(".")
    assert all(len(line) <= 100 for line in text.splitlines())
