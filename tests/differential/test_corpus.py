"""The corpus uses every feature of LFRic metadata and algorithms."""

from collections.abc import Callable
from pathlib import Path

import pytest

from differential.features import manifest, read_corpus, used_kernels, users_of_features
from fortran import check_sources
from libraries import LFRIC, LFRIC_UNIFORM, Library

FOLDER = Path(__file__).parents[1] / "corpus" / "lfric"
README = FOLDER / "README.md"
CORPUS = read_corpus(FOLDER)
USERS = users_of_features(CORPUS)


def test_the_corpus_has_at_least_120_algorithms() -> None:
    assert len(CORPUS.algorithms) >= 120


@pytest.mark.parametrize("feature", USERS)
def test_every_feature_is_used(feature: str) -> None:
    assert USERS[feature]


def test_every_kernel_is_used() -> None:
    used = {module for text in CORPUS.algorithms.values() for module in used_kernels(text, CORPUS)}
    assert not set(CORPUS.kernels) - used


@pytest.mark.parametrize(
    "text", [*CORPUS.algorithms.items(), *CORPUS.kernels.items()], ids=lambda item: item[0]
)
def test_lines_fit_the_standard(text: tuple[str, str]) -> None:
    assert all(len(line) <= 132 for line in text[1].splitlines())


def test_the_readme_lists_what_is_used(pytestconfig: pytest.Config) -> None:
    written = README.read_text()
    introduction = written[: written.index("## Metadata")]
    expected = introduction + manifest(USERS)
    if pytestconfig.getoption("--update-golden"):
        README.write_text(expected)
    else:
        assert written == expected, "run pytest with --update-golden and read the change"


@pytest.mark.fortran
@pytest.mark.parametrize("precision", [LFRIC, LFRIC_UNIFORM], ids=["mixed", "uniform"])
def test_the_kernels_compile_without_a_warning(
    precision: Library, built: Callable[[Library], Path], f90: tuple[str, ...], tmp_path: Path
) -> None:
    kernels = sorted((FOLDER / "kernels").glob("*.f90"))
    check_sources(f90, kernels, tmp_path, f"-I{built(precision)}")
