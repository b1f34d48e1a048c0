"""Generated GOcean code computes the same on any number of ranks as it does on one.

The algorithms are the corpus, and those in `gocean/`. Each point is computed from the same values
in the same order wherever it is, so answers are compared digit for digit. Points that a rank does
not own are NaN until they are exchanged, so that one that is used shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from pairwise import selected
from runtime.gocean_suite import (
    ALGORITHMS,
    build_program,
    generate,
    run_all,
)
from runtime.mutations import (
    EXCHANGES,
    MARKS,
    POINTS,
    Kind,
    Outcome,
    judge,
    kind_of,
    lines_of,
    number_places,
)
from runtime.programs import Answers, Mode, Run, merge_answers, run_program

SERIAL = Mode("serial", ("-nodm",))
THREADED = Mode("serial", ("-nodm", "--apply", "openmp-parallel-do"), threads=2)
DISTRIBUTED = Mode("distributed", ("-dm",))
FLAGGED = Mode("distributed", ("-dm", "--config-opts", "DIRTY_FLAGS=true"))
JOINT = Mode("distributed", ("-dm", "--config-opts", "JOINT_EXCHANGES=true"))
JOINT_FLAGGED = Mode(
    "distributed", ("-dm", "--config-opts", "JOINT_EXCHANGES=true DIRTY_FLAGS=true")
)
OVERLAPPED = Mode("distributed", ("-dm", "--config-opts", "JOINT_EXCHANGES=overlapped"))
OVERLAPPED_FLAGGED = Mode(
    "distributed", ("-dm", "--config-opts", "JOINT_EXCHANGES=overlapped DIRTY_FLAGS=true")
)
SPLIT = ("-dm", "--config-opts", "SPLIT_EXCHANGES=true", "--apply")
INTERIORS = Mode("distributed", (*SPLIT, "split-interior; overlap"))
SHARED_INTERIORS = Mode(
    "distributed",
    (
        *SPLIT,
        "inline-point-call; fuse; split-interior; overlap; openmp-do; openmp-parallel; outline",
    ),
    threads=2,
)
CHECKED = Mode("distributed", ("-dm", "--config-opts", "RUN_TIME_CHECKS=halos"))
CHECKED_FLAGGED = Mode(
    "distributed", ("-dm", "--config-opts", "RUN_TIME_CHECKS=halos DIRTY_FLAGS=true")
)
CHECKED_JOINT = Mode(
    "distributed",
    ("-dm", "--config-opts", "RUN_TIME_CHECKS=halos DIRTY_FLAGS=true JOINT_EXCHANGES=true"),
)
CHECKED_INTERIORS = Mode(
    "distributed",
    ("-dm", "--config-opts", "RUN_TIME_CHECKS=halos SPLIT_EXCHANGES=true", "--apply",
     "split-interior; overlap"),
)  # fmt: skip
THREADED_RANKS = Mode("distributed", ("-dm", "--apply", "fuse; openmp-parallel-do"), threads=2)
TESTED = Mode("serial", ("-nodm", "--apply", "fuse{tested=true}; openmp-parallel-do"), threads=2)
TESTED_RANKS = Mode("distributed", ("-dm", "--apply", "fuse{tested=true}"))
NAMES = [path.stem for path in ALGORITHMS]
LEAST_REPORTED = 15
OF_WIDER_HALOS = {"drop stencils_wide/invoke_0/mark(height)/1"}
"""Marks of a field that is then exchanged to all of its halo, which could be wider than here."""
CUTS = [(1, "best"), (2, "x"), (2, "y"), (4, "x"), (4, "best"), (6, "y"), (6, "best")]

CONDITION = re.compile(r"(One loop where the bounds agree.*\n *)if \((?:.*&\n)*.*\) then\n")

pytestmark = [pytest.mark.fortran, pytest.mark.mpi]

Runner = Callable[[Mode, int, str], Run]
Reader = Callable[[Mode, int, str], Answers]


@pytest.fixture(scope="module")
def run(gocean_parts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Return what runs the code of a mode on a number of ranks and a cut of the domain, once."""

    @cache
    def built(mode: Mode) -> Path:
        folder = tmp_path_factory.mktemp(f"gocean_{mode.name}")
        generate(mode, folder)
        return build_program(*gocean_parts, folder)

    return cache(lambda mode, ranks, cut: run_all(built(mode), mode, ranks, cut))


@pytest.fixture(scope="module")
def answers(run: Runner) -> Reader:
    """Return what gives the answers of a mode on a number of ranks and a cut of the domain."""
    return cache(lambda mode, ranks, cut: merge_answers(run(mode, ranks, cut)))


def part_of(answers: Answers, domain: str, algorithm: str = "") -> Answers:
    """Return the answers on a domain, `bounded` or `periodic`, of one algorithm or of all."""
    wanted = f"{domain}/{algorithm}/" if algorithm else f"{domain}/"
    chosen = {key: value for key, value in answers.items() if key[0].startswith(wanted)}
    assert chosen
    return chosen


def differing(expected: Answers, computed: Answers) -> list[str]:
    """Return the names of the answers that differ in a value."""
    assert computed.keys() == expected.keys()
    return sorted({key[0] for key in expected if computed[key] != expected[key]})


@pytest.mark.parametrize("algorithm", NAMES)
def test_serial_answers_are_numbers_that_the_algorithm_has_changed(
    answers: Reader, algorithm: str
) -> None:
    """Nothing that the parallel answers are compared with is NaN, or what fields start with."""
    values = part_of(answers(SERIAL, 1, "best"), "bounded", algorithm)
    assert "NaN" not in values.values()
    untouched = part_of(answers(SERIAL, 1, "best"), "bounded", "areas")
    starts = {key[0].rsplit("/", 1)[1] + key[1]: value for key, value in untouched.items()}
    changed = {
        key[0]
        for key, value in values.items()
        if value != starts[key[0].rsplit("/", 1)[1] + key[1]]
    }
    assert changed or algorithm == "areas"


@pytest.mark.parametrize(("ranks", "cut"), CUTS)
def test_answers_in_a_bounded_domain_are_those_of_code_without_exchanges(
    answers: Reader, ranks: int, cut: str
) -> None:
    expected = answers(SERIAL, 1, "best")
    computed = part_of(answers(DISTRIBUTED, ranks, cut), "bounded")
    assert differing(expected, computed) == []


@pytest.mark.parametrize(("ranks", "cut"), CUTS[1:])
def test_answers_in_a_periodic_domain_do_not_depend_on_the_ranks(
    answers: Reader, ranks: int, cut: str
) -> None:
    expected = part_of(answers(DISTRIBUTED, 1, "best"), "periodic")
    assert "NaN" not in expected.values()
    assert differing(expected, part_of(answers(DISTRIBUTED, ranks, cut), "periodic")) == []


@pytest.mark.parametrize(
    ("mode", "ranks"),
    [(THREADED, 1), pytest.param(THREADED_RANKS, 1, marks=pytest.mark.matrix), (THREADED_RANKS, 4)],
)
def test_threads_do_not_change_the_answers(answers: Reader, mode: Mode, ranks: int) -> None:
    expected = answers(SERIAL, 1, "best")
    assert differing(expected, part_of(answers(mode, ranks, "best"), "bounded")) == []


@pytest.mark.parametrize(("mode", "ranks"), [(TESTED, 1), (TESTED_RANKS, 1), (TESTED_RANKS, 4)])
def test_loops_fused_under_a_test_of_bounds_have_the_same_answers(
    answers: Reader, mode: Mode, ranks: int
) -> None:
    """Regions of fields on two types of points differ in the bounded domain."""
    computed = answers(mode, ranks, "best")
    assert differing(answers(SERIAL, 1, "best"), part_of(computed, "bounded")) == []
    if mode is TESTED_RANKS:
        expected = part_of(answers(DISTRIBUTED, 1, "best"), "periodic")
        assert differing(expected, part_of(computed, "periodic")) == []


@pytest.mark.parametrize(
    ("chosen", "right"),
    [pytest.param(".false.", True, marks=pytest.mark.matrix), (".true.", False)],
)
def test_the_test_of_bounds_decides(
    answers: Reader,
    gocean_parts: tuple[Path, Path],
    tmp_path: Path,
    chosen: str,
    right: bool,
) -> None:
    """Loops that are always fused are wrong in the bounded domain, and those apart are right."""
    changed = 0
    for layer in generate(TESTED_RANKS, tmp_path):
        text, count = CONDITION.subn(f"\\g<1>if ({chosen}) then\\n", layer.read_text())
        layer.write_text(text)
        changed += count
    assert changed > 2
    program = build_program(*gocean_parts, tmp_path)
    computed = merge_answers(run_all(program, TESTED_RANKS, 1, "best"))
    wrong = differing(answers(SERIAL, 1, "best"), part_of(computed, "bounded"))
    assert (wrong == []) is right


@pytest.mark.parametrize(
    ("mode", "ranks", "cut"),
    [
        (INTERIORS, 1, "best"),
        (INTERIORS, 6, "y"),
        (SHARED_INTERIORS, 4, "best"),
        pytest.param(INTERIORS, 2, "x", marks=pytest.mark.matrix),
        pytest.param(INTERIORS, 4, "x", marks=pytest.mark.matrix),
        pytest.param(INTERIORS, 6, "best", marks=pytest.mark.matrix),
    ],
)
def test_interiors_that_hide_exchanges_do_not_change_the_answers(
    run: Runner, answers: Reader, mode: Mode, ranks: int, cut: str
) -> None:
    """Six ranks have one or two rows each, which stencils of three rows reach over."""
    computed = answers(mode, ranks, cut)
    assert differing(answers(SERIAL, 1, "best"), part_of(computed, "bounded")) == []
    expected = part_of(answers(DISTRIBUTED, 1, "best"), "periodic")
    assert differing(expected, part_of(computed, "periodic")) == []
    if (ranks, cut) == (6, "y"):
        plain = run(DISTRIBUTED, ranks, cut).statistics
        assert run(mode, ranks, cut).statistics == plain


def test_flags_of_halos_do_not_change_the_answers(answers: Reader) -> None:
    expected = answers(SERIAL, 1, "best")
    assert differing(expected, part_of(answers(FLAGGED, 4, "best"), "bounded")) == []


@pytest.mark.parametrize("ranks", selected((1, 2, 4), 1, 4))
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(JOINT, id="all", marks=pytest.mark.matrix),
        pytest.param(JOINT_FLAGGED, id="what is dirty"),
        pytest.param(OVERLAPPED, id="all at the same time"),
        pytest.param(
            OVERLAPPED_FLAGGED, id="what is dirty at the same time", marks=pytest.mark.matrix
        ),
    ],
)
def test_fields_that_share_messages_have_the_same_answers(
    answers: Reader, mode: Mode, ranks: int
) -> None:
    expected = answers(SERIAL, 1, "best")
    assert differing(expected, part_of(answers(mode, ranks, "best"), "bounded")) == []


@pytest.mark.parametrize(
    ("mode", "ranks", "cut"),
    [
        (CHECKED, 1, "best"),
        (CHECKED, 6, "y"),
        pytest.param(CHECKED_FLAGGED, 2, "y", marks=pytest.mark.matrix),
        pytest.param(CHECKED, 2, "x", marks=pytest.mark.matrix),
        pytest.param(CHECKED, 4, "best", marks=pytest.mark.matrix),
        pytest.param(CHECKED_FLAGGED, 4, "best", marks=pytest.mark.matrix),
        (CHECKED_JOINT, 4, "best"),
        (CHECKED_INTERIORS, 4, "best"),
    ],
)
def test_run_time_checks_of_halos_report_nothing(
    answers: Reader, mode: Mode, ranks: int, cut: str
) -> None:
    """An error would stop the program; what the checks spoil is not read."""
    computed = answers(mode, ranks, cut)
    assert differing(answers(SERIAL, 1, "best"), part_of(computed, "bounded")) == []
    expected = part_of(answers(DISTRIBUTED, 1, "best"), "periodic")
    assert differing(expected, part_of(computed, "periodic")) == []


@pytest.mark.parametrize(
    ("mode", "kinds", "how"),
    [
        (CHECKED, (EXCHANGES,), ("digests", 2)),
        (CHECKED, (EXCHANGES,), ("digests", 4)),
    ],
    ids=["values on 2", "values on 4"],
)
def test_run_time_checks_of_halos_report_what_is_dropped(
    gocean_parts: tuple[Path, Path],
    tmp_path: Path,
    mode: Mode,
    kinds: tuple[Kind, ...],
    how: tuple[str, int],
) -> None:
    outcomes = tried(mode, kinds, gocean_parts, tmp_path, how)
    dropped = [one for one in outcomes if one.mutation.startswith("drop") and one.reached]
    silent = {one.mutation for one in dropped if not one.reported}
    assert {one.mutation for one in dropped if one.noticed} & silent == set()
    assert {mutation for mutation in silent if "mark(" not in mutation} == set()
    assert len(dropped) - len(silent) > LEAST_REPORTED


def test_an_exchange_is_one_message_for_each_neighbour(run: Runner) -> None:
    """Four parts in a row have two neighbours, but one where the bounded domain ends.

    As many exchanges are done on the periodic domain, where each part has two.
    """
    assert all(one.messages == 0 for one in run(DISTRIBUTED, 1, "best").statistics)
    statistics = run(DISTRIBUTED, 4, "x").statistics
    assert len({one.exchanges for one in statistics}) == 1
    messages = [2 * one.messages / one.exchanges for one in statistics]
    assert messages == [3, 4, 4, 3]


@pytest.fixture(scope="module")
def flag_outcomes(
    gocean_parts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> list[Outcome]:
    """Return what came of each change of an exchange or of a mark where fields keep flags."""
    folder = tmp_path_factory.mktemp("gocean_flags_mutated")
    return tried(FLAGGED, (EXCHANGES, MARKS), gocean_parts, folder, ("flags", 4))


@pytest.fixture(scope="module")
def outcomes(
    gocean_parts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> list[Outcome]:
    """Return what came of each change of an exchange or of a loop."""
    folder = tmp_path_factory.mktemp("gocean_mutated")
    return tried(DISTRIBUTED, (EXCHANGES, POINTS), gocean_parts, folder, ("digests", 4))


def tried(
    mode: Mode,
    kinds: tuple[Kind, ...],
    parts: tuple[Path, Path],
    folder: Path,
    how: tuple[str, int],
) -> list[Outcome]:
    """Return what came of each change; `how` is the last word for the program, and the ranks."""
    form, ranks = how
    places = number_places(generate(mode, folder), kinds)
    program = build_program(*parts, folder)
    table = folder / "mutations.txt"
    table.write_text("".join(lines_of(places)), encoding="utf-8")
    words = ("best", str(table), form)
    return judge(run_program(program, mode, ranks, folder / "run", *words), places)


def test_every_exchange_is_needed_to_its_full_depth(outcomes: list[Outcome]) -> None:
    tried = [one for one in outcomes if one.mutation.split()[0] in ("drop", "shorten")]
    never_done = {one.mutation for one in tried if not one.reached}
    assert not {mutation for mutation in never_done if mutation.startswith("drop")}
    assert not {one.mutation for one in tried if one.reached and not one.noticed}
    assert {one.mutation.split()[0] for one in tried if one.noticed} == {"drop", "shorten"}


def test_every_row_and_column_is_computed_and_none_beyond(outcomes: list[Outcome]) -> None:
    """Loops that go further compute points of other ranks, or beyond the boundary of the domain."""
    for change in ("narrow", "widen"):
        tried = [one for one in outcomes if one.mutation.startswith(change)]
        assert len(tried) > 50
        unnoticed = {one.mutation for one in tried if not one.noticed}
        # What the first kernel of this algorithm computes is written again by its last one.
        assert all("read_between/invoke_0/loop over" in mutation for mutation in unnoticed)
        assert len(unnoticed) <= 2


def test_every_guarded_exchange_and_every_mark_is_needed(flag_outcomes: list[Outcome]) -> None:
    """What is dropped or shortened is reached with stale halos; a mark matters with clean ones."""
    counted = Counter((kind_of(one.mutation), one.noticed) for one in flag_outcomes if one.reached)
    assert {kind for kind, _ in counted} == {"drop", "shorten", "drop mark"}
    unnoticed = {one.mutation for one in flag_outcomes if one.reached and not one.noticed}
    assert unnoticed <= OF_WIDER_HALOS
    never_done = {one.mutation for one in flag_outcomes if not one.reached}
    assert all(mutation.startswith("shorten") for mutation in never_done)
    assert counted["drop mark", True] > 20
