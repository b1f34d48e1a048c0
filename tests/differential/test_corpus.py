"""The corpus uses every feature of LFRic metadata and of algorithms, and says where."""

import subprocess
from pathlib import Path

import pytest

from differential.features import manifest, read_corpus, used_kernels, users_of_features

FOLDER = Path(__file__).parents[1] / "corpus" / "lfric"
INFRASTRUCTURE = Path(__file__).parents[2] / "external" / "lfric_infrastructure"
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
@pytest.mark.parametrize("precision", ["uniform", "mixed"])
def test_the_kernels_compile_without_a_warning(
    precision: str, f90: tuple[str, ...], tmp_path: Path
) -> None:
    build = f"BUILD={tmp_path}"
    make = ["make", "-s", build, f"PRECISION={precision}", f"FC={f90[0]}"]
    subprocess.run(make, cwd=INFRASTRUCTURE, check=True, capture_output=True)
    flags = ["-std=f2008", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-fsyntax-only"]
    kernels = sorted(str(path) for path in (FOLDER / "kernels").glob("*.f90"))
    done = subprocess.run(
        [*f90, *flags, f"-J{tmp_path}", *kernels], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
