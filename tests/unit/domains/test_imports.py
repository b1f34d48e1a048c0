"""Where the names that are called in an invoke come from."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.imports import InvokeImports, find_imports
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from unit.domains.small import algorithm

BUILTINS = ("setval_c", "X_plus_Y")


def imports(invoke: str, uses: str = "", inner_uses: str = "") -> InvokeImports:
    return find_imports(algorithm(f"call invoke({invoke})", inner_uses, uses), BUILTINS)


def test_a_name_in_an_only_list() -> None:
    found = imports("Drag_Type(a)", "use drag_mod, only : drag_type")
    (kernel,) = found.kernels
    assert (kernel.local, kernel.original, kernel.modules) == (
        "drag_type", "drag_type", ("drag_mod",),
    )  # fmt: skip
    assert kernel.doubt is None


@pytest.mark.parametrize(
    "use", ["use drag_mod, only : d => drag_type", "use drag_mod, d => drag_type"]
)
def test_a_renamed_kernel(use: str) -> None:
    (kernel,) = imports("d(a)", use).kernels
    assert (kernel.local, kernel.original, kernel.modules) == ("d", "drag_type", ("drag_mod",))


def test_the_innermost_scope_decides() -> None:
    found = imports("k(a)", "use outer_mod, only : k", "use inner_mod, only : k")
    assert found.kernels[0].modules == ("inner_mod",)


def test_a_module_used_as_a_whole_within_may_hide_a_name() -> None:
    (kernel,) = imports("k(a)", "use outer_mod, only : k", "use inner_mod").kernels
    assert (kernel.modules, kernel.hiding) == (("outer_mod",), ("inner_mod",))


def test_modules_used_as_a_whole_are_all_candidates() -> None:
    found = imports("k(a)", "use one_mod\nuse two_mod", "use three_mod")
    (kernel,) = found.kernels
    assert sorted(kernel.modules) == ["one_mod", "three_mod", "two_mod"]
    assert kernel.doubt is not None
    assert kernel.doubt.code == "S110"


def test_an_only_list_goes_before_whole_modules() -> None:
    found = imports("k(a)", "use one_mod\nuse two_mod, only : k")
    assert found.kernels[0].modules == ("two_mod",)


def test_builtins_need_no_import_and_ignore_case() -> None:
    found = imports("SETVAL_C(a, 0.0), x_plus_y(a, b, c), setval_c(b, 1.0)")
    assert (found.kernels, found.builtins) == ((), ("setval_c", "X_plus_Y"))
    assert found.problems == ()


def test_an_imported_builtin_is_an_error_and_a_whole_module_is_none() -> None:
    (problem,) = imports("setval_c(a, 0.0)", "use ours_mod, only : setval_c").problems
    assert problem.code == "S111"
    assert imports("setval_c(a, 0.0)", "use ours_mod").problems == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("setvel_c", "Did you mean 'setval_c'?"),
        ("drag_typ", "Did you mean 'drag_type'?"),
        ("nothing_like_it", "Add 'use <module>, only: nothing_like_it'"),
    ],
)
def test_an_unknown_name_is_reported_once_with_a_guess(name: str, hint: str) -> None:
    found = imports(f"{name}(a), {name}(b)", "use drag_mod, only : drag_type")
    assert [problem.code for problem in found.problems[:1]] == ["S110"]
    assert found.problems[0].hint.startswith(hint)


def test_hints_are_in_the_language_of_the_algorithm() -> None:
    parsed = algorithm("call invoke(smoth(u))", "", "")
    (found,) = find_imports(parsed, BUILTINS, "from <module> import {}").problems
    assert found.message == "'smoth' is neither a built-in nor imported by a 'from' statement."
    assert "Add 'from <module> import smoth'" in found.hint


@pytest.mark.parametrize(
    ("use", "original", "module"),
    [
        ("use drag_mod, only : k", "k", "drag_mod"),
        ("use drag_mod, only : k => drag_type", "drag_type", "drag_mod"),
        ("use drag_mod, k => drag_type", "drag_type", "drag_mod"),
        ("USE DRAG_MOD, ONLY : K", "k", "drag_mod"),
    ],
)
def test_an_import_of_a_sibling_procedure_is_found(use: str, original: str, module: str) -> None:
    (kernel,) = siblings(use).kernels
    assert (kernel.original, kernel.modules, kernel.doubt) == (original, (module,), None)


def test_imports_of_siblings_must_agree() -> None:
    found = siblings("use one_mod, only : k", "use two_mod, only : k")
    assert [problem.code for problem in found.problems] == ["S110"]


def test_modules_used_as_a_whole_go_before_imports_of_siblings() -> None:
    (kernel,) = siblings("use drag_mod, only : k", own="use whole_mod").kernels
    assert (kernel.modules, kernel.hiding) == (("drag_mod",), ("whole_mod",))


def siblings(*uses: str, own: str = "") -> InvokeImports:
    procedures = "".join(
        f"subroutine s{number}()\n{use}\nend subroutine\n" for number, use in enumerate(uses)
    )
    text = (
        f"module a_mod\ncontains\nsubroutine s()\n{own}\ncall invoke(k(a))\nend subroutine\n"
        f"{procedures}end module\n"
    )
    return find_imports(read_algorithm(SourceText("alg.x90", text)), BUILTINS)
