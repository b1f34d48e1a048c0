"""New names, near names, lists of names; the lattice of facts."""

from __future__ import annotations

import itertools

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
