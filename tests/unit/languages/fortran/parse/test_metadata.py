"""Kernel metadata: what is read of a kernel's module, with places, and what is wrong in it."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.parsed import MetadataItem, ParsedKernel
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel

CODE = "subroutine k_code(a)\nend subroutine k_code\n"
ONE_ARG = "type(arg_type) :: meta_args(1) = (/ arg_type(gh_field, gh_write, w3) /)"
BOUND = "procedure, nopass :: k_code"


def kernel_text(
    components: str = ONE_ARG, bound: str = BOUND, *, interface: str = "", body: str = CODE
) -> str:
    contains = f"contains\n{bound}\n" if bound else ""
    return (
        f"module k_mod\nuse argument_mod\n{interface}\n"
        f"type, public, extends(kernel_type) :: k_type\nprivate\n{components}\n{contains}"
        f"end type k_type\ncontains\n{body}end module k_mod\n"
    )


def read(text: str, name: str = "k_type") -> ParsedKernel:
    return read_kernel(SourceText("k_mod.f90", text), name)


def problems(text: str, name: str = "k_type") -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as caught:
        read(text, name)
    return caught.value.problems


def shown(item: MetadataItem) -> tuple[str | None, str, list[str]]:
    return item.keyword, spell(item.expr), [inner.span.text for inner in item.items]


@pytest.mark.parametrize("ends", [("(/", "/)"), ("[", "]"), ("[ arg_type ::", "]")])
@pytest.mark.parametrize("declared", ["meta_args(2)", "dimension(2)"])
def test_entries_of_an_array(ends: tuple[str, str], declared: str) -> None:
    left = "type(ARG_TYPE), dimension(2) :: meta_args" if declared != "meta_args(2)" else (
        "type(ARG_TYPE), private :: Meta_Args(2)"
    )  # fmt: skip
    component = (
        f"{left} = {ends[0]} & ! first\n arg_type(GH_FIELD*3, gh_read, w3, stencil(cross)), &\n"
        f"\n ! second\n & arg_type(gh_field, gh_inc, w1, mesh_arg=gh_fine) {ends[1]} ! done"
    )
    found = read(kernel_text(component)).component("meta_args")
    assert found is not None
    assert (found.name, found.type_name, found.is_array) == ("meta_args", "arg_type", True)
    assert [spell(part) for part in found.shape] == ["2"]
    first, second = found.items
    assert spell(first.expr) == "arg_type(GH_FIELD * 3, gh_read, w3, stencil(cross))"
    assert spell(second.expr) == "arg_type(gh_field, gh_inc, w1, mesh_arg=gh_fine)"
    assert [item.span.text for item in first.items] == [
        "GH_FIELD*3", "gh_read", "w3", "stencil(cross)",
    ]  # fmt: skip
    assert shown(first.items[3]) == (None, "stencil(cross)", ["cross"])
    assert shown(second.items[3]) == ("mesh_arg", "gh_fine", [])
    assert second.items[3].span.text == "mesh_arg=gh_fine"


@pytest.mark.parametrize(
    ("component", "name", "value"),
    [
        ("integer :: operates_on = CELL_COLUMN", "operates_on", "CELL_COLUMN"),
        ("integer, public :: iterates_over=cells", "iterates_over", "cells"),
        ("integer :: a, gh_shape = gh_quadrature_XYoZ", "gh_shape", "gh_quadrature_XYoZ"),
    ],
)
def test_scalar_component(component: str, name: str, value: str) -> None:
    found = read(kernel_text(component)).component(name)
    assert found is not None
    assert (found.is_array, found.shape) == (False, ())
    assert [item.span.text for item in found.items] == [value]


def test_component_without_value_is_no_metadata() -> None:
    kernel = read(kernel_text(f"{ONE_ARG}\n:: stray\nreal :: x\ntype(t), pointer :: p => null()"))
    assert [component.name for component in kernel.components] == ["meta_args"]


def test_two_kernels_of_a_file() -> None:
    text = kernel_text() + kernel_text("integer :: operates_on = dof").replace("k_", "l_")
    first, second = read(text), read(text, "L_Type")
    assert (first.module, second.module) == ("k_mod", "l_mod")
    assert second.name == "l_type"
    assert [component.name for component in second.components] == ["operates_on"]
    assert second.span.text == "l_type"


def test_names_of_the_kernel_types() -> None:
    other = "type :: state_type\nend type\n"
    text = kernel_text(interface=other) + kernel_text().replace("k_", "L_")
    assert kernel_types(SourceText("k_mod.f90", text)) == ("k_type", "l_type")


# ---------------------------------------------------------------------------- implementation

GENERIC = "interface k_code\n module procedure k_code_r4, &\n  k_code_r8\nend interface k_code"
PRECISIONS = "subroutine k_code_r4\nend subroutine\nsubroutine k_code_r8\nend subroutine\n"
BODIES = """
interface k_code
  module subroutine k_code_r4(a)
    real :: a
  end subroutine
  pure module subroutine k_code_r8(a)
  end subroutine
end interface
"""


@pytest.mark.parametrize(
    "bound",
    ["procedure, nopass :: k_code", "procedure, nopass :: code => k_code", "procedure k_code",
     "procedure, nopass, public :: k_code", "PROCEDURE , NOPASS::k_code",
     "private\nprocedure, nopass :: other => x\nprocedure, nopass :: code => k_code"],
)  # fmt: skip
def test_bound_procedure(bound: str) -> None:
    kernel = read(kernel_text(bound=bound))
    assert (kernel.procedure, kernel.implementations) == ("k_code", ("k_code",))


@pytest.mark.parametrize("interface", [GENERIC, BODIES, GENERIC.replace("module ", "")])
@pytest.mark.parametrize("bound", [BOUND, "procedure, nopass :: code => K_CODE", ""])
def test_generic_interface(interface: str, bound: str) -> None:
    kernel = read(kernel_text(bound=bound, interface=interface, body=PRECISIONS))
    assert kernel.procedure.lower() == "k_code"
    assert kernel.implementations == ("k_code_r4", "k_code_r8")


def test_interface_named_after_the_kernel_is_preferred() -> None:
    other = (
        "interface other\nmodule procedure x\nend interface\nabstract interface\nend interface\n"
    )
    kernel = read(kernel_text(bound="", interface=other + GENERIC, body=PRECISIONS))
    assert kernel.procedure == "k_code"


# ---------------------------------------------------------------------------- problems


@pytest.mark.parametrize(
    ("component", "code", "place"),
    [
        (ONE_ARG.replace("(1)", "(2)"), "P041", "meta_args"),
        ("type(arg_type) :: meta_args(1, 1) = (/ arg_type(a) /)", "P042", "meta_args"),
        ("type(arg_type) :: meta_args = (/ arg_type(a) /)", "P043", "meta_args"),
        ("integer :: gh_shape(2) = gh_evaluator", "P043", "gh_shape"),
        ("integer :: gh_shape(2) = [ a, b + ]", "P044", "b +"),
        ("type(arg_type) :: meta_args(1) = (/ arg_type(gh_field,, w3) /)", "P044", ","),
        ("integer :: operates_on =", "P044", "="),
    ],
)
def test_problem_is_reported_at_its_place(component: str, code: str, place: str) -> None:
    (problem,) = problems(kernel_text(component))
    assert problem.code == code
    assert problem.span is not None
    assert problem.span.text == place


@pytest.mark.parametrize(
    ("bound", "interface", "code"),
    [
        ("", "", "P045"),
        ("", "interface k_code\nend interface", "P045"),
        ("", "interface a\nend interface\ninterface b\nend interface", "P046"),
        ("procedure, nopass :: a, b", "", "P046"),
        ("procedure, nopass :: k_cods", "", "P047"),
        (BOUND, "interface k_code\nmodule procedure nowhere\nend interface", "P047"),
    ],
)
def test_missing_or_unclear_implementation(bound: str, interface: str, code: str) -> None:
    (problem,) = problems(kernel_text(bound=bound, interface=interface))
    assert problem.code == code


def test_what_is_near_is_offered() -> None:
    (missing,) = problems(kernel_text(bound="procedure, nopass :: k_cods"))
    assert missing.hint == "Did you mean 'k_code'?"
    (unknown,) = problems(kernel_text(), "k_tipe")
    assert (unknown.code, unknown.hint) == ("P040", "Did you mean 'k_type'?")
    (far,) = problems(kernel_text(), "something")
    assert far.hint == "The file has 'k_type'."


def test_subroutine_in_a_comment_does_not_count() -> None:
    body = "! subroutine k_code\nsubroutine other\nend subroutine k_code\n"
    (problem,) = problems(kernel_text(body=body))
    assert problem.code == "P047"


def test_subroutine_need_not_exist_for_a_stub() -> None:
    kernel = read_kernel(SourceText("k_mod.f90", kernel_text(body="")), "k_type", needs_code=False)
    assert kernel.implementations == ("k_code",)


def test_missing_type_is_reported_where_it_is_wanted() -> None:
    place = SourceText("alg.x90", "call invoke(m_type(f))").span(12, 18)
    with pytest.raises(CompileError) as caught:
        read_kernel(SourceText("k_mod.f90", kernel_text()), "m_type", wanted_by=place)
    assert caught.value.problems[0].span is place


def test_all_problems_are_reported() -> None:
    component = ONE_ARG.replace("(1)", "(2)") + "\ninteger :: gh_shape(1) = 1"
    found = problems(kernel_text(component, ""))
    assert [problem.code for problem in found] == ["P041", "P043", "P045"]


@pytest.mark.parametrize("names", [("k_mod", "k32_mod"), ("k32_mod", "k_mod")])
def test_alternative_names_of_the_module(names: tuple[str, str]) -> None:
    opening = f"#ifndef SINGLE\nmodule {names[0]}\n#else\nmodule {names[1]}\n#endif\n"
    found = read(kernel_text().replace("module k_mod\n", opening, 1))
    assert found.module == names[0]


def test_module_inside_a_block_that_is_not_closed() -> None:
    assert read(f"block\n{kernel_text()}").module == "k_mod"
