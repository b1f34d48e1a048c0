"""Names in invokes that nothing declares, and files that may get names from elsewhere."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.undeclared import check_all_declared
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm

PLAIN = """\
module alg_mod
  use field_mod, only: field_type, f => g
  implicit none
  type(field_type) :: u
contains
  subroutine step(v)
    type(field_type) :: v
    {more}
    call invoke( {call} )
  end subroutine step
end module alg_mod
"""


def found(call: str, more: str = "", text: str = PLAIN) -> list[tuple[str, str]]:
    source = SourceText("alg.x90", text.format(call=call, more=more))
    algorithm = link_algorithm(read_algorithm(source), {})
    problems = check_all_declared(algorithm.invokes[0], algorithm)
    return [(one.message.split("'")[1], one.span.text if one.span else "") for one in problems]


@pytest.mark.parametrize(
    ("argument", "names"),
    [
        ("w", ["w"]),
        ("w%x(i)%y", ["w", "i"]),
        ("w(3)", ["w"]),
        ("2.0 * w + sin(z)", ["w", "z"]),
        ("V(n:m)", ["n", "m"]),
        ("u", []),
        ("U%x(3)", []),
        ("f", []),
        ("size(v%x, dim=1)", []),
        ("real(1, kind=2)", []),
        ("step(1)", []),
        ("0.5_r_def", []),
    ],
)
def test_names_that_nothing_declares(argument: str, names: list[str]) -> None:
    assert found(f"work({argument})") == [(name, argument) for name in names]


@pytest.mark.parametrize(
    "more",
    [
        "include 'names.inc'",
        "interface\nfunction w(x)\nreal :: w, x\nend function\nend interface",
        "enum, bind(c)\nenumerator :: w = 1\nend enum",
        "procedure(real), pointer :: w",
        "integer :: w",
        "integer w",
        "real*8 w",
        "associate (w => v)",
    ],
)
def test_names_that_are_declared_in_other_ways(more: str) -> None:
    closed = "\n".join(["end associate"] * more.startswith("associate"))
    text = PLAIN.replace("{call} )", "{call} )\n" + closed)
    assert found("work(w)", more, text) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("implicit none", ""),
        ("implicit none", "implicit none (external)"),
        (", only: field_type, f => g", ""),
        ("module alg_mod\n", "#include 'names.h'\nmodule alg_mod\n"),
        ("module alg_mod\n", "#define w v\nmodule alg_mod\n"),
        ("{more}", "use other_mod"),
        ("{more}", "implicit real (a-z)"),
    ],
)
def test_files_that_may_get_names_from_elsewhere(old: str, new: str) -> None:
    assert found("work(w)", text=PLAIN) == [("w", "w")]
    assert found("work(w)", text=PLAIN.replace(old, new, 1)) == []


def test_a_submodule_sees_its_parent() -> None:
    text = PLAIN.replace("module alg_mod", "submodule (parent) alg_mod", 1)
    assert found("work(w)", text=text.replace("end module", "end submodule")) == []
