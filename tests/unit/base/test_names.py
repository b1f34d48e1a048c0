"""New names, near names, lists of names; the lattice of facts."""

from __future__ import annotations

import itertools
import random

import pytest

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.base.names import MAX_FORTRAN_NAME, NameTable, did_you_mean, listed
from psyclone_storage.base.text import counted, indented


def test_a_taken_name_gets_a_number() -> None:
    table = NameTable(["Cell"])
    assert [table.fresh("cell"), table.fresh("CELL"), table.fresh("map")] == [
        "cell_1", "CELL_2", "map",
    ]  # fmt: skip
    assert "MAP" in table


def test_a_long_name_stays_within_the_standard() -> None:
    table = NameTable()
    wish = "a" * 80
    names = [table.fresh(wish), table.fresh(wish)]
    assert len(set(names)) == 2
    assert all(len(name) <= MAX_FORTRAN_NAME for name in names)


def test_a_near_name_is_offered_as_it_is_spelt() -> None:
    assert did_you_mean("setval_C", ["setval_c", "X_plus_Y"]) == "Did you mean 'setval_c'?"
    assert did_you_mean("advect", ["setval_c"]) == ""


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("drag_kernel_cod", "drag_kernel_code"),
        ("drag_kernel_mod", "drag_kernels_mod"),
        ("drag_kernel_type", "drag_kernel_mod"),
        ("inc_a_time_X", "inc_a_times_X"),
        ("LFRicColorTrans", "LFRicColourTrans"),
        ("ColourTrans", "LFRicColourTrans"),
        ("--output_dir", "--output-dir"),
        ("velcoity", "velocity"),
        ("warning", "warn"),
        ("k_cod", "k_code"),
        ("w22", "w2"),
        ("any_space_1", "any_space_11"),
        ("shn", "sshn"),
    ],
)
def test_a_slip_is_seen(word: str, known: str) -> None:
    assert did_you_mean(word, ["other", known, "quite_another"]) == f"Did you mean '{known}'?"


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("advect_kernel_mod", "apply_kernel_mod"),
        ("matrix_kernel_type", "strain_kernel_type"),
        ("X_plus_Y", "X_minus_Y"),
        ("loop9", "loop1"),
        ("u", "v"),
        ("a_kernel_mod", "b_kernel_mod"),
        ("theta", "mean"),
    ],
)
def test_strangers_are_not_offered(word: str, known: str) -> None:
    assert did_you_mean(word, [known]) == ""


def _slips(one: str, two: str) -> int:
    """Return how many slips lie between two words, by all ways from one to the other."""
    rows = [[i + j for j in range(len(two) + 1)] for i in range(len(one) + 1)]
    for i, j in itertools.product(range(1, len(one) + 1), range(1, len(two) + 1)):
        wrong = one[i - 1] != two[j - 1]
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + wrong)
        if i > 1 and j > 1 and (one[i - 1], one[i - 2]) == (two[j - 2], two[j - 1]):
            rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def test_up_to_three_slips_anywhere_are_seen() -> None:
    choose, seen = random.Random(5), [0, 0]
    for _ in range(300):
        word = "".join(choose.choices("abc", k=12))
        letters = list(word)
        for _ in range(choose.randint(2, 7)):
            place = choose.randrange(len(letters))
            end = place + choose.randint(0, 2)
            letters[place:end] = choose.choice([[], ["c"], letters[place:end][::-1]])
        other = "".join(letters)
        if len(other) < 9 or word.startswith(other) or word.endswith(other):
            continue
        is_near = _slips(word, other) <= 3
        assert bool(did_you_mean(word, [other])) is is_near, other
        seen[is_near] += 1
    assert min(seen) > 50


def test_lists_read_as_sentences_do() -> None:
    assert [listed([]), listed("a"), listed("abc"), listed("ab", "and")] == [
        "", "'a'", "'a', 'b' or 'c'", "'a' and 'b'",
    ]  # fmt: skip
    assert (counted(1, "cell"), counted(2, "cell")) == ("1 cell", "2 cells")
    assert indented("a\n\nb", 2) == "  a\n\n  b"


@pytest.mark.parametrize(("one", "other"), list(itertools.product(Fresh, Fresh)))
def test_facts_combine_as_every_outcome_of_their_maybes_would(one: Fresh, other: Fresh) -> None:
    outcomes = {Fresh.YES: [True], Fresh.NO: [False], Fresh.MAYBE: [True, False]}

    def of(values: set[bool]) -> Fresh:
        return Fresh.MAYBE if len(values) == 2 else Fresh.of(values.pop())

    pairs = list(itertools.product(outcomes[one], outcomes[other]))
    assert one & other is of({a and b for a, b in pairs})
    assert one | other is of({a or b for a, b in pairs})
    assert ~one is of({not a for a in outcomes[one]})
    assert one.join(other) is of(set(outcomes[one]) | set(outcomes[other]))


def test_many_names_of_one_wish_are_found_without_trying_all_numbers() -> None:
    class Counted(frozenset[str]):
        asked = 0

        def __contains__(self, name: object) -> bool:
            Counted.asked += 1
            return super().__contains__(name)

    table = NameTable(["stop_5"], Counted({"stop", "stop_3"}))
    names = [table.fresh("stop") for _ in range(1000)]
    numbers = [number for number in range(1, 1003) if number not in (3, 5)]
    assert names == [f"stop_{number}" for number in numbers]
    assert table.fresh("STOP") == "STOP_1003"
    assert Counted.asked < 3 * len(names)
