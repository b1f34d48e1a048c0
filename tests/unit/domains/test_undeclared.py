"""Names in invokes that nothing declares, and files that may get names from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.domains.undeclared import check_all_declared
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.fortran.parse.scope_lookup import link_algorithm, no_constant
from psyclone_storage.languages.sources.kernel_search import (
    SourceIndex,
    index_directories,
    index_with_modules,
)
from psyclone_storage.languages.sources.module_finder import ModuleFinder

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


STATE = """\
module state_mod
  use base_mod, only: base_type
  implicit none
  type, extends(base_type) :: state_type
    type(field_type) :: wind
    procedure(go), pointer, nopass :: callback
  contains
    procedure :: get
    generic :: both => get
  end type
end module
"""
BASE = "module base_mod\ntype :: base_type\ntype(field_type) :: heat\nend type\nend module\n"
TYPES = """\
module alg_mod
  use field_mod, only: field_type
  use state_mod, only: state_type
  implicit none
  type :: parent_type
    type(field_type) :: rho
  end type
  type, extends(parent_type) :: own_type
    private
    type(field_type) :: buoyancy, tendency(3)
    type(state_type) :: state
    complex :: z
  contains
    procedure, private :: update
    procedure :: first, second => update
  end type
  type(own_type), allocatable :: many(:)
contains
  subroutine step(self, state)
    class(own_type) :: self
    type(state_type) :: state
    {more}
    call invoke( work({argument}) )
  end subroutine step
end module alg_mod
"""


def missing(argument: str, text: str = TYPES, more: str = "", **files: str) -> list[str]:
    """Return the missing components in an argument; `files` are the texts of other modules."""
    source = SourceText("alg.x90", text.format(argument=argument, more=more))
    texts = {name: SourceText(f"{name}.f90", files.get(name, default))
             for name, default in (("state_mod", STATE), ("base_mod", BASE))
             if files.get(name, default)}  # fmt: skip
    finder = ModuleFinder(index_with_modules(SourceIndex((), {}), texts))
    algorithm = link_algorithm(read_algorithm(source), {}, finder.constant, finder.complete_type)
    problems = check_all_declared(algorithm.invokes[0], algorithm)
    return [one.message for one in problems]


OF_OWN = "The type 'own_type' has no component 'bouyancy'."
OF_STATE = "The type 'state_type' has no component 'wined'."


@pytest.mark.parametrize(
    ("argument", "problems"),
    [
        ("self%bouyancy", [OF_OWN]),
        ("self%BOUYANCY", [OF_OWN.replace("bouyancy", "BOUYANCY")]),
        ("many(2)%bouyancy(1)", [OF_OWN]),
        ("self%bouyancy%get(self%bouyancy)", [OF_OWN] * 2),
        ("state%wined", [OF_STATE]),
        ("self%state%wined", [OF_STATE]),
        ("self%state%wind%anything", []),
        ("self%buoyancy", []),
        ("self%tendency(2)", []),
        ("self%rho", []),
        ("self%parent_type%rho", []),
        ("self%z%im + self%z%re", []),
        ("self%first(1)", []),
        ("self%second()", []),
        ("self%update()", []),
        ("state%heat", []),
        ("state%base_type%heat", []),
        ("state%callback(1)", []),
        ("state%get()", []),
        ("state%both(1)", []),
        ("unknown(1)%bouyancy", []),
    ],
)
def test_components_that_types_lack(argument: str, problems: list[str]) -> None:
    found = [one for one in missing(argument) if "'unknown'" not in one]
    assert found == problems


@pytest.mark.parametrize(
    ("old", "new", "argument"),
    [
        ("complex :: z", "\n#ifdef MORE\nreal :: bouyancy\n#endif\n", "self%bouyancy"),
        ("complex :: z", "include 'more.inc'", "self%bouyancy"),
        ("module alg_mod\n", "#define bouyancy buoyancy\nmodule alg_mod\n", "self%bouyancy"),
        ("end module alg_mod", "end module\nmodule more\ntype :: own_type\nend type\nend module",
         "self%bouyancy"),
        ("{more}", "use more_mod", "self%bouyancy"),
        ("type :: parent_type", "type, extends(far_type) :: parent_type", "self%bouyancy"),
        ("only: state_type", "only: other => state_type", "state%wined"),
        ("  use state_mod", "#ifdef A\nuse a_mod, only: a\n#endif\nuse state_mod", "state%wined"),
        ("{more}", "#if A\ntype :: more_type\nend type\n#endif\n", "self%bouyancy"),
        ("contains\n  subroutine step",
         ("contains\nsubroutine other\nuse other_mod, only: state_type\nend subroutine\n"
         "subroutine step"), "state%wined"),
        ("contains\n  subroutine step",
         ("contains\nsubroutine other\nuse other_mod, only: own_type\nend subroutine\n"
         "subroutine step"), "self%bouyancy"),
        ("  use state_mod", "!$ use more_mod, only: more\nuse state_mod", "self%bouyancy"),
        ("complex :: z", "complex :: z\n!$ type(field_type) :: bouyancy", "self%bouyancy"),
        ("{more}", "include 'declarations.inc'", "self%bouyancy"),
        ("complex :: z", "MYFIELD :: z, bouyancy", "self%bouyancy"),
        ("complex :: z", "DECLARE(bouyancy)", "self%bouyancy"),
        ("procedure, private :: update", "DECLARE(bouyancy)", "self%bouyancy"),
    ],
)  # fmt: skip
def test_types_that_may_have_more_components(old: str, new: str, argument: str) -> None:
    assert OF_OWN in missing("self%bouyancy")
    text = TYPES.replace(old, new, 1)
    assert text != TYPES
    assert missing(argument, text) == []


@pytest.mark.parametrize(
    "head",
    [
        "select type (self)",
        "select type &\n (self)",
        "select &\n type (self)",
        "change team (team, self[*] => many)",
        "all: change team (team, a[*] => many, self[*] => many)",
        "changeteam (team, self[*] => many)",
        "selecttype (self => many(1))",
    ],
)
def test_constructs_that_change_types(head: str) -> None:
    is_team = "team" in head
    branch, end = ("", "end team") if is_team else ("class is (child)\n", "end select")
    text = TYPES.replace("    call invoke", f"{head}\n{branch}    call invoke")
    text = text.replace("  end subroutine", f"{end}\n  end subroutine")
    assert missing("self%bouyancy", text) == []


def test_types_of_parameters_and_selected_types() -> None:
    text = TYPES.replace("type :: own_type", "type :: own_type(k)").replace(
        "    private\n", "    integer, kind :: k = 4\n    private\n"
    )
    assert missing("self%k", text) == []
    text = TYPES.replace("call invoke", "select type (self)\ntype is (child)\ncall invoke").replace(
        "  end subroutine", "  end select\n  end subroutine"
    )
    assert missing("self%bouyancy", text) == []


@pytest.mark.parametrize(
    "files",
    [
        {"base_mod": ""},
        {"state_mod": ""},
        {"state_mod": STATE.replace("    type(field", "#if A\n    type(field")},
        {"state_mod": STATE.replace("    procedure(go)", "    include 'a'\n    procedure(go)")},
        {"base_mod": BASE.replace("base_type\n", "base_type\n#if A\n", 1)},
        {"base_mod": BASE.replace("type :: base", "type, extends(far_type) :: base")},
        {"base_mod": BASE.replace("heat", "wined")},
        {"state_mod": STATE.replace("  contains", "!$  integer :: wined\n  contains")},
        {"state_mod": STATE.replace("  contains", "MYFIELD :: wined\n  contains")},
        {"base_mod": BASE.replace("end type", "DECLARE(wined)\nend type")},
    ],
)
def test_modules_that_may_define_more_components(files: dict[str, str]) -> None:
    assert missing("state%wined", **files) == []


@pytest.mark.parametrize("module", ["state_mod", "base_mod"])
def test_modules_that_two_files_define(module: str, tmp_path: Path) -> None:
    texts = {"state_mod": STATE, "base_mod": BASE}
    for name, text in texts.items():
        (tmp_path / f"{name}.f90").write_text(text)
    source = SourceText("alg.x90", TYPES.format(argument="state%wined", more=""))

    def reported() -> list[str]:
        types = ModuleFinder(index_directories((tmp_path,))).complete_type
        algorithm = link_algorithm(read_algorithm(source), {}, no_constant, types)
        return [one.message for one in check_all_declared(algorithm.invokes[0], algorithm)]

    (tmp_path / "copy.f90").write_text(texts[module])
    assert reported() == [OF_STATE]
    (tmp_path / "other.f90").write_text(texts[module] + "! Another file.\n")
    assert reported() == []
