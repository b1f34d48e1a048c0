"""Our PSy layers compared with those of PSyclone, with the whole corpus and all four settings.

The same kernels with the same actual arguments in loops with the same bounds, and the same halo
exchanges, halo flags and reductions; or an entry in `expectations.toml` with the reason.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from differential.comparison import differences
from differential.expectations import Expectation, covering, read_expectations
from differential.features import read_corpus
from differential.normal_form import Routine
from differential.ours import our_answer
from differential.peer import MODES, Answer, Mode, PeerLayers
from differential.psy_reader import read_layer
from differential.spaces import named_spaces

HERE = Path(__file__).parent
FOLDER = HERE.parent / "corpus" / "lfric"
ALGORITHMS = sorted(FOLDER.glob("*.x90"))
EXPECTED = read_expectations(HERE / "expectations.toml")

pytestmark = pytest.mark.differential

Judge = Callable[[Path, Mode], "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the two compilers made of one algorithm.

    Attributes:
        their_refusal: PSyclone's message, where it refuses.
        lines: the differences; one line where PSyclone's texts do not fit each other.
    """

    our_refusal: str = ""
    their_refusal: str = ""
    lines: tuple[str, ...] = ()


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """Compare the two compilers; each comparison is made once in a session."""
    assert pytestconfig.cache is not None
    corpus = read_corpus(FOLDER)
    peer = PeerLayers(FOLDER / "kernels", pytestconfig.cache.mkdir("psyclone-layers"))
    spaces_of = functools.cache(lambda name: named_spaces(name, corpus))

    @functools.cache
    def compare(algorithm: Path, mode: Mode) -> Verdict:
        scratch = tmp_path_factory.mktemp(f"{algorithm.stem}-{mode}")
        ours = our_answer(algorithm, FOLDER / "kernels", mode, scratch)
        return _verdict(peer.answer(algorithm, mode), ours, spaces_of(algorithm.stem))

    return compare


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda path: path.stem)
def test_the_layers_agree_or_the_reason_is_known(algorithm: Path, mode: Mode, judge: Judge) -> None:
    verdict = judge(algorithm, mode)
    assert not verdict.our_refusal
    refused = covering(EXPECTED.refused, algorithm.stem, mode)
    if verdict.their_refusal or refused:
        assert _explained(refused, verdict.their_refusal), verdict.their_refusal
        return
    broken = covering(EXPECTED.broken, algorithm.stem, mode)
    if broken:
        assert any(_explained(broken, line) for line in verdict.lines), verdict.lines
        return
    known = covering(EXPECTED.differences, algorithm.stem, mode)
    unknown = [line for line in verdict.lines if not _explained(known, line)]
    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize(
    "entry",
    [*EXPECTED.refused, *EXPECTED.broken, *EXPECTED.differences],
    ids=lambda entry: entry.reason,
)
def test_every_expectation_is_met_somewhere(entry: Expectation, judge: Judge) -> None:
    verdicts = [
        judge(algorithm, mode)
        for algorithm in ALGORITHMS
        for mode in MODES
        if entry.covers(algorithm.stem, mode)
    ]
    seen = [text for verdict in verdicts for text in (verdict.their_refusal, *verdict.lines)]
    for pattern in entry.seen:
        assert any(re.search(pattern, text, re.DOTALL) for text in seen), pattern


def test_what_is_remembered_changes_no_answer() -> None:
    """PSyclone writes into what it reads of this algorithm: under one setting only."""
    algorithm, kernels = FOLDER / "owned_and_halo_then_stencil.x90", FOLDER / "kernels"
    program = f"""
import sys
sys.path[:] = {sys.path!r}
from pathlib import Path
from differential.peer import remember_what_is_parsed, run_all_modes
plain = run_all_modes(Path({str(algorithm)!r}), Path({str(kernels)!r}))
assert all("layer" in answer for answer in plain.values())
remember_what_is_parsed()
assert run_all_modes(Path({str(algorithm)!r}), Path({str(kernels)!r})) == plain
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("entry", [*EXPECTED.refused, *EXPECTED.broken, *EXPECTED.differences])
def test_every_pattern_names_an_algorithm(entry: Expectation) -> None:
    for pattern in entry.algorithms:
        assert any(path.match(f"{pattern}.x90") for path in ALGORITHMS), pattern


def _verdict(theirs: Answer, ours: Answer, spaces: Mapping[str, str]) -> Verdict:
    if ours.refusal:
        return Verdict(our_refusal=ours.refusal, their_refusal=theirs.refusal)
    our_routines = read_layer(ours.layer, ours.algorithm, spaces)
    if theirs.refusal:
        return Verdict(their_refusal=theirs.refusal)
    try:
        their_routines: dict[str, Routine] = read_layer(theirs.layer, theirs.algorithm, spaces)
    except ValueError as error:
        return Verdict(lines=(f"theirs cannot be read: {error}",))
    return Verdict(lines=differences(their_routines, our_routines))


def _explained(entries: tuple[Expectation, ...], text: str) -> bool:
    return any(entry.matches(text) for entry in entries)
