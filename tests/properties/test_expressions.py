"""Expressions read by our own parser, against fparser2 and against what they were made from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pairwise import part_of
from psyclone_storage.ir.expr import (
    ArrayLiteral,
    Binary,
    ComplexLiteral,
    ImpliedDo,
    Index,
    Keyword,
    Literal,
    Member,
    Name,
    Range,
    Unary,
    spell,
    spell_as_written,
)
from psyclone_storage.ir.operators import DefinedOperator, Operator
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.tools import second_reader
from psyclone_storage.tools.second_opinion import agree, check_second_reading

TESTS = Path(__file__).parents[1]
CORPORA = ("corpus/lfric", "corpus/gocean", "corpus/lfric_2019", "runtime", "compile", "cases")
NOT_PARSED = "corpus/lfric/unit_submodule_procedure.x90:11: fparser2 cannot parse"
NEGATED_AGAIN = re.compile(r"(?:[-+*/=]|\.not\.)\s*\.not\.", re.IGNORECASE)
"""What fparser takes and Fortran has no rule for: an operator that binds more before `.not.`."""

names = st.sampled_from(["a", "B", "c_1", "field", "e3", "d0", "true", "x"]).map(Name)
literals = st.sampled_from(
    [
        Literal("1", Intrinsic.INTEGER),
        Literal("2_i_def", Intrinsic.INTEGER, "i_def"),
        Literal("1.5e-3_r_def", Intrinsic.REAL, "r_def"),
        Literal(".5d0", Intrinsic.REAL),
        Literal("2.", Intrinsic.REAL),
        Literal(".true.", Intrinsic.LOGICAL),
        Literal(".false._l_def", Intrinsic.LOGICAL, "l_def"),
        Literal("'a(''b'", Intrinsic.CHARACTER),
        Literal('k_"+ /)"', Intrinsic.CHARACTER, "k"),
    ]
)
BETWEEN = [*(op for op in Operator if op is not Operator.NOT), DefinedOperator(".cross.")]
BEFORE = [Operator.MINUS, Operator.PLUS, Operator.NOT, DefinedOperator(".inverse.")]


def _larger(parts: st.SearchStrategy) -> st.SearchStrategy:
    some = st.lists(parts, min_size=1, max_size=3).map(tuple)
    optional = st.none() | parts
    bases = names | st.builds(Member, names, st.sampled_from(["u", "Data"]))
    items = parts | st.builds(Range, optional, optional, optional)
    indexed = st.builds(Index, bases, st.lists(items, max_size=3).map(tuple))
    return (
        st.builds(Binary, st.sampled_from(BETWEEN), parts, parts)
        | st.builds(Unary, st.sampled_from(BEFORE), parts)
        | indexed
        | st.builds(Member, indexed, st.sampled_from(["u", "Data"]))
        | st.builds(lambda base, value: Index(base, (Keyword("key", value),)), bases, parts)
        | st.builds(ArrayLiteral, some)
        | st.builds(ImpliedDo, some, st.just(Name("i")), parts, parts).map(
            lambda do: ArrayLiteral((do,))
        )
        | st.builds(ComplexLiteral, literals, literals)
    )


expressions = st.recursive(names | literals, _larger, max_leaves=12)


@given(expressions)
def test_what_is_spelled_is_read_again(expr) -> None:
    for text in (spell(expr), spell_as_written(expr)):
        assert read_expression(text) == expr


@given(expressions)
def test_both_readers_understand_the_same(expr) -> None:
    rules = (read_expression, second_reader.second_expression)
    ours, theirs = (outcome(rule, spell(expr)) for rule in rules)
    assert theirs is None or agree(ours, theirs), spell(expr)


PIECES = ["a", "b", "1", "2.0", "(", ")", ",", "+", "-", "*", "**", "%", "==", ".not.", ".and.",
          "'s'", "[", "]", ":", "=", "(/", "/)", "."]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join))
def test_any_text_is_read_as_a_whole_or_refused_with_a_position(text) -> None:
    """What is read says all that the text says, and reads again as the same."""
    found = position = None
    try:
        found = read_expression(text)
    except UnreadableError as error:
        position = error.position
    if found is None:
        assert position in range(len(text) + 1)
    else:
        assert read_expression(spell(found)) == found


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_what_fparser_understands_is_understood(text) -> None:
    # The standard has no such operator before a negation (R1006-R1014); fparser takes it.
    assume(not NEGATED_AGAIN.search(text))
    rules = (read_expression, second_reader.second_expression)
    ours, theirs = (outcome(rule, text) for rule in rules)
    assert theirs is None or agree(ours, theirs), text


def outcome(rule: Callable[[str], object], text: str) -> object:
    """Return what `rule` makes of `text`, None if it refuses."""
    try:
        return rule(text)
    except UnreadableError:
        return None


@pytest.mark.parametrize("folder", CORPORA)
def test_own_corpora_are_read_the_same(folder) -> None:
    """Compare units, statements, names and expressions of whole files with fparser2."""
    every = [path for path in sorted((TESTS / folder).rglob("*"))
             if path.suffix.lower() in (".f90", ".x90")]  # fmt: skip
    files = part_of(every, 0, 3)
    assert files
    found = [one for file in files for one in check_second_reading(read_file(read_source(file)))]
    texts = [f"{one.span.source.name}:{one.span.line}: {one.message}" for one in found if one.span]
    assert [text for text in texts if not text.startswith(str(TESTS / NOT_PARSED))] == []
