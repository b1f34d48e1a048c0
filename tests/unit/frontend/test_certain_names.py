"""Constants and bounds are known only where the declaration of the name is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import default_settings
from psyclone_storage.pipeline.compile import CompileRequest, make_compiler

N = "integer, parameter ::"
CHOSEN = "#ifdef A\nuse one_mod\n#else\nuse two_mod\n#endif"
CHOSEN_NAMES = CHOSEN.replace("_mod", "_mod, only: k, n")
MODULES = {
    "one_mod.f90": f"{N} k = 1, n = 3",
    "two_mod.f90": f"{N} k = 2, n = 5",
    "array_mod.f90": f"{N} k(2) = 2",
    "chosen_mod.F90": CHOSEN,
    "chosen_names_mod.F90": CHOSEN_NAMES,
    "through_mod.f90": "use chosen_mod",
    "sum_mod.f90": f"use chosen_mod, only: n\n{N} k = n - 2",
    "macros_mod.F90": f'#include "macros.h"\n{N} k = 1',
    "plain_mod.f90": "use one_mod, only: k, n",
    "hiding_mod.f90": "use absent_mod",
}
PARTS = "type parts\ninteger :: n\nend type\ntype(parts) :: b(3)\ninteger :: some(3), v(2)"


def compiled(folder: Path, calls: str, host: str, own: str, around: str = "|") -> list[bool]:
    """Return whether each datum of an invoke may be an alias of another one.

    `host` has imports and declarations, with `|` between them; the first line of `own` is the list
    of dummy arguments. The parts of `around` enclose the invoke.
    """
    for name, text in MODULES.items():
        module = name.partition(".")[0]
        (folder / name).write_text(f"module {module}\n{text}\nend module {module}\n")
    opening, closing = around.split("|")
    uses, _, declarations = host.rpartition("|")
    dummies, _, own = own.partition("\n")
    lines = (
        "module step_mod", uses, "use field_mod, only: field_type", declarations, "contains",
        f"subroutine step({dummies})", own, opening, f"call invoke({calls})", closing,
        "end subroutine step", "end module step_mod", "",
    )  # fmt: skip
    made = make_compiler(default_settings(), CompileRequest("lfric", directories=(folder,)))
    built = made.compile_text(SourceText("step_mod.X90", "\n".join(lines)))
    return [bool(datum.may_alias) for datum in built.program.invokes[0].schedule.data]


FIELDS = "type(field_type) :: f(3)"
TYPE = "type t\ntype(field_type) :: a(3)\nend type"
PART = "associate (g => f(2:))"
F = "f\ntype(field_type), intent(inout) :: f(9)"


@pytest.mark.parametrize(
    ("first", "second", "host", "own", "around"),
    [
        # The preprocessor chooses an import, in the file or in a module on the way.
        ("f(k)", "f(2)", f"{CHOSEN}|", F, "|"),
        ("f(k)", "f(2)", "use two_mod|", F.replace("\n", f"\n{CHOSEN}\n"), "|"),
        ("f(k)", "f(2)", "use two_mod|", f"{F}\n#ifdef A\n{N} k = 1\n#endif", "|"),
        ("f(k)", "f(2)", "use two_mod|", F.replace("\n", f"\n{CHOSEN_NAMES}\n"), "|"),
        ("f(k)", "f(2)", "use chosen_mod, only: k|", F, "|"),
        ("f(k)", "f(2)", "use chosen_names_mod, only: k|", F, "|"),
        ("f(k)", "f(2)", "use through_mod|", F, "|"),
        ("f(k)", "f(3)", "use sum_mod|", F, "|"),
        ("f(k)", "f(2)", "use macros_mod|", F, "|"),
        # Something hides a constant of the host.
        ("f(k)", "f(3)", f"{N} k = 1", F.replace("f", "f, k", 1), "|"),
        ("f(k)", "f(3)", f"{N} k = 1", f"{F}\nparameter (k = 3)", "|"),
        ("f(k)", "f(3)", f"{N} k = 1", f"{F}\ndimension k(2)", "|"),
        ("f(k)", "f(2)", f"{N} k = 1", F.replace("\n", "\nuse two_mod\n"), "|"),
        ("f(k)", "f(2)", f"{N} k = 1", F.replace("\n", "\nuse hiding_mod\n"), "|"),
        ("f(k)", "f(2)", f"{N} k = 1", F.replace("\n", "\nuse absent_mod\n"), "|"),
        ("f(k)", "f(2)", f"{N} k = 1", f"{F}\ninclude 'more.inc'", "|"),
        (
            "f(k)", "f(3)", f"{N} k = 1", f"{F}\nclass(*), pointer :: o",
            "select type (k => o)|end select",
        ),
        (
            "f(k)", "f(3)", f"{N} k = 1", f"{F}\nclass(*), pointer :: o",
            "which: select rank (k => o)|end select which",
        ),
        # A name of a construct is another name of its selector.
        ("g(1)", "f(2)", "", F, "associate (g => f(2:))|end associate"),
        ("g(1)", "f(1)", "", F, "associate (g => f)|end associate"),
        ("g", "f(2)", "", F, "associate (g => f(2))|end associate"),
        ("g", "f(v + 1)", "", f"{F}\ninteger :: v", "associate (g => f(v))|end associate"),
        ("h(2)", "f(3)", "", F, f"{PART}\nassociate (h => g)|end associate\nend associate"),
        ("g(1)", "f(1)", "", F, "select type (g => f)|end select"),
    ],
)  # fmt: skip
def test_what_is_not_certain_may_be_an_alias(  # noqa: PLR0913, PLR0917
    tmp_path: Path, first: str, second: str, host: str, own: str, around: str
) -> None:
    calls = f"setval_c({first}, 0.0), setval_X({second}, {first})"
    assert compiled(tmp_path, calls, host, own, around) == [True, True]


@pytest.mark.parametrize(
    ("first", "second", "host", "own", "around"),
    [
        ("f(k)", "f(2)", "use one_mod|", F, "|"),
        ("f(k)", "f(2)", "use plain_mod|", F, "|"),
        ("f(k)", "f(2)", "use two_mod|", F.replace("\n", "\nuse one_mod, only: k\n"), "|"),
        ("f(k)", "f(2)", f"{N} k = 1", F, "|"),
        ("f(k)", "f(2)", f"{N} k = 1", F.replace("\n", "\nuse iso_c_binding\n"), "|"),
        ("f(1)", "f(2)", f"{CHOSEN}|", F, "|"),
        ("f(1)", "f(2)", "type(field_type) :: g(9)", F, "associate (f => g)|end associate"),
        ("g(1)", "f(2)", "", F, "associate (g => f)|end associate"),
        ("g", "f(2)", "", F, "associate (g => f(1))|end associate"),
        ("g(1)", "g(2)", "", F, "associate (g => f)|end associate"),
        ("g(1)", "h(1)", "", "g, h\ntype(field_type) :: g(9), h(9)", "|"),
    ],
)
def test_what_is_certain_is_told_apart(  # noqa: PLR0913, PLR0917
    tmp_path: Path, first: str, second: str, host: str, own: str, around: str
) -> None:
    calls = f"setval_c({first}, 0.0), setval_X({second}, {first})"
    assert compiled(tmp_path, calls, host, own, around) == [False, False]


@pytest.mark.parametrize(
    ("item", "host", "own", "around"),
    [
        ("f(4)", f"{CHOSEN}|", "f\ntype(field_type) :: f(n)", "|"),
        ("f(4)", "use chosen_mod|", "f\ntype(field_type) :: f(n)", "|"),
        ("f(4)", "use one_mod|", 'f\n#include "n.h"\ntype(field_type) :: f(n)', "|"),
        ("f(4)", "use one_mod|", "f\n#define n 5\ntype(field_type) :: f(n)", "|"),
        ("f(4)", "use one_mod|", "f, n\ntype(field_type) :: f(n)", "|"),
        ("f(4)", f"{N} n = 3", "f, n\ntype(field_type) :: f(n)", "|"),
        (
            "f(4)", "",
            "f\n#ifdef A\ntype(field_type) :: f(3)\n#else\ntype(field_type) :: f(5)\n#endif", "|",
        ),
        ("f", "", f"f\n#ifdef A\n{FIELDS}\n#else\ntype(field_type) :: f\n#endif", "|"),
        (
            "g(4)", "type(field_type) :: g(3)", "f\nclass(field_type) :: f(:)",
            "select type (g => f)|end select",
        ),
        (
            "o%a(4)", "use x_mod, only: t2|type t\ntype(field_type) :: a(3)\nend type",
            "o\ntype(t2) :: o", "|",
        ),
        (
            "o%a(4)",
            f"use x_mod, only: t3|{TYPE}\ntype t2\ntype(field_type) :: a(5)\nend type",
            "o\ntype(t3) :: o", "|",
        ),
        (
            "o%a(4)",
            "type t\n#ifdef A\ntype(field_type) :: a(3)\n#endif\nend type",
            "o\ntype(t) :: o", "|",
        ),
    ],
)  # fmt: skip
def test_bounds_that_are_not_certain_are_not_checked(
    tmp_path: Path, item: str, host: str, own: str, around: str
) -> None:
    assert compiled(tmp_path, f"setval_c({item}, 0.0)", host, own, around) == [False]


@pytest.mark.parametrize(
    ("item", "host", "own"),
    [
        ("f(4)", "use one_mod|", "f\ntype(field_type) :: f(n)"),
        ("f(4)", "use plain_mod, only: n|", "f\ntype(field_type) :: f(n)"),
        ("o%a(4)", "type t\ntype(field_type) :: a(3)\nend type", "o\ntype(t) :: o"),
        ("b%a(4)", "type t\ntype(field_type) :: a(3)\nend type", "b\ntype(t) :: b(2)"),
    ],
)
def test_bounds_that_are_certain_are_checked(
    tmp_path: Path, item: str, host: str, own: str
) -> None:
    with pytest.raises(CompileError, match="The subscript 4 in"):
        compiled(tmp_path, f"setval_c({item}, 0.0)", host, own)


@pytest.mark.parametrize("index", ["some(v)", "some(v) + 1", "b(v)%n", "b%n", "v"])
def test_an_index_with_an_array_of_subscripts_selects_several(tmp_path: Path, index: str) -> None:
    with pytest.raises(CompileError, match=r"expects a single field, but .* is an array") as caught:
        compiled(tmp_path, f"setval_c(f({index}), 0.0)", "", f"{F}\n{PARTS}")
    assert {problem.code for problem in caught.value.problems} == {"S106"}
