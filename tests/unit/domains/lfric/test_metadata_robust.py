"""Metadata of any shape: the answer is a kernel or diagnostics, never another exception."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from psyclone_storage.base.codes import CODES
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.render import render_text
from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.lfric.metadata import interpret_lfric_metadata
from psyclone_storage.ir.expr import (
    Binary,
    Expr,
    Literal,
    Name,
    StructureConstructor,
    Unary,
    Verbatim,
    whole,
)
from psyclone_storage.ir.kernel import Kernel
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel
from psyclone_storage.ir.types import Intrinsic

SOURCE = SourceText("k_mod.f90", "type :: k_type\n  mesh_arg = anything\nend type\n")
PLACE = SOURCE.span(17, 36)
WORDS = """
    gh_field gh_operator gh_columnwise_operator gh_scalar gh_scalar_array gh_real gh_integer
    gh_logical gh_read gh_write gh_readwrite gh_inc gh_readinc gh_reduction w0 w1 w2 w3 wtheta wchi
    any_w2 any_space_1 any_space_99 any_discontinuous_space_1 cross x1d gh_coarse gh_fine gh_basis
    gh_diff_basis gh_orientation gh_quadrature_xyoz gh_evaluator normals_to_faces adjacent_face
    cell_column dof domain cells nonsense
""".split()
FUNCTIONS = ["arg_type", "func_type", "stencil", "mesh_data_type", "reference_element_data_type"]
COMPONENTS = """
    meta_args meta_funcs meta_reference_element meta_mesh gh_shape gh_evaluator_targets operates_on
    iterates_over meta_arg
""".split()

leaves: st.SearchStrategy[Expr] = st.one_of(
    st.sampled_from(WORDS).map(Name),
    st.sampled_from([whole(0), whole(3), Literal("1.5", Intrinsic.REAL)]),
    st.builds(
        Binary,
        st.sampled_from([Operator.TIMES, Operator.DIVIDE]),
        st.sampled_from(WORDS).map(Name),
        st.just(Name("n")),
    ),
    st.sampled_from(
        [Unary(Operator.MINUS, Name("w3")), Verbatim("*"), Literal("'a'", Intrinsic.CHARACTER)]
    ),
)
keywords = st.sampled_from([None, None, None, "mesh_arg", "nlevels", "other"])


def leaf(expr: Expr, keyword: str | None) -> MetadataItem:
    """Make an item without arguments."""
    return MetadataItem(expr, keyword, (), PLACE)


def call(name: str, items: list[MetadataItem]) -> MetadataItem:
    """Make an item that is a constructor."""
    parts = tuple(items)
    return MetadataItem(
        StructureConstructor(Name(name), tuple(part.expr for part in parts)), None, parts, PLACE
    )


wild = st.recursive(
    st.builds(leaf, leaves, keywords),
    lambda inner: st.builds(call, st.sampled_from(FUNCTIONS), st.lists(inner, max_size=6)),
    max_leaves=12,
)


def words(text: str) -> st.SearchStrategy[MetadataItem]:
    """Choose one of some words."""
    return st.sampled_from(text.split()).map(lambda word: leaf(Name(word), None))


kinds = words("gh_field gh_operator gh_columnwise_operator gh_scalar")
types = words("gh_real gh_real gh_integer")
accesses = words("gh_read gh_write gh_inc gh_readwrite")
spaces = words("w1 w3 any_space_1 any_discontinuous_space_2")
entries = {
    "meta_args": st.one_of(
        st.tuples(kinds, types, accesses),
        st.tuples(kinds, types, accesses, spaces),
        st.tuples(kinds, types, accesses, spaces, spaces),
        st.tuples(kinds, accesses, spaces),
    ).map(lambda parts: call("arg_type", list(parts))),
    "meta_funcs": st.tuples(spaces, words("gh_basis gh_diff_basis")).map(
        lambda parts: call("func_type", list(parts))
    ),
    "gh_shape": words("gh_quadrature_xyoz gh_evaluator"),
    "gh_evaluator_targets": spaces,
    "operates_on": words("cell_column cell_column dof domain"),
    "iterates_over": words("cells dofs"),
}


def component(name: str, parts: list[MetadataItem]) -> MetadataComponent:
    """Make a component with any number of items."""
    return MetadataComponent(name, "arg_type", (), tuple(parts), len(parts) != 1, PLACE)


def components_of(name: str) -> st.SearchStrategy[MetadataComponent]:
    """Make a component of mostly plausible items."""
    plausible = entries.get(name, wild)
    size = 1 if name in ("operates_on", "iterates_over") else 4
    chosen = st.lists(st.one_of(plausible, plausible, plausible, wild), min_size=1, max_size=size)
    return st.one_of(
        st.lists(plausible, min_size=1, max_size=size).map(lambda parts: component(name, parts)),
        chosen.map(lambda parts: component(name, parts)),
    )


usual = st.tuples(components_of("meta_args"), components_of("operates_on")).map(list)
more = st.lists(st.sampled_from(COMPONENTS).flatmap(components_of), max_size=3)


def outcome(parsed: ParsedKernel) -> Kernel | tuple[Diagnostic, ...]:
    """Interpret metadata that may be right or wrong."""
    try:
        return interpret_lfric_metadata(parsed)
    except CompileError as error:
        return error.problems


@given(usual, more)
def test_the_answer_is_a_kernel_or_diagnostics(
    first: list[MetadataComponent], rest: list[MetadataComponent]
) -> None:
    parts = (*first, *rest)
    result = outcome(ParsedKernel("k_type", "k_mod", parts, "k_code", ("k_code",), SOURCE, PLACE))
    if isinstance(result, Kernel):
        assert any(arg.access.writes for arg in result.args)
        return
    assert result
    assert all(problem.code in CODES and problem.span for problem in result)
    assert render_text(result)
