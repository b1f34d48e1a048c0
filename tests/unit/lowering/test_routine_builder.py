"""Naming, importing and ordering of a routine's variables."""

from __future__ import annotations

from psyclone_storage.ir.expr import Literal, Name
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.ir.unit import Assign, Blank, Comment, Deallocate, Declare, PointerAssign
from psyclone_storage.lowering.routine_builder import ModuleImports, SetupSection, Workspace

INTEGER = ScalarType(Intrinsic.INTEGER, "i_def")
PLAIN = ScalarType(Intrinsic.INTEGER)
ONE = Literal("1", Intrinsic.INTEGER)


def workspace(*taken: str, imports: ModuleImports | None = None) -> Workspace:
    return Workspace(imports or ModuleImports(), taken, lambda kind: f"{kind}_home")


def test_a_quantity_is_set_up_once() -> None:
    work = workspace()
    first = work.assigned(SetupSection.DOFS, "ndf", Declare("ndf_w3", PLAIN), ONE)
    second = work.assigned(SetupSection.DOFS, "ndf", Declare("ndf_w3", PLAIN), ONE)
    assert first == second == Name("ndf_w3")
    assert work.set_up() == (Comment("Numbers of dofs"), Assign(first, ONE), Blank())
    assert work.declarations() == (Declare("ndf_w3", PLAIN),)


def test_other_quantities_of_one_name_and_taken_names_get_new_ones() -> None:
    work = workspace("NDF")
    names = [work.variable(SetupSection.DOFS, key, Declare("ndf", PLAIN)) for key in "ab"]
    assert names == [Name("ndf_1"), Name("ndf_2")]


def test_sections_are_written_in_the_order_of_their_dependences() -> None:
    work = workspace()
    work.assigned(SetupSection.BOUNDS, "b", Declare("b", PLAIN), ONE)
    work.pointer(SetupSection.DATA, "a", Declare("a", PLAIN, ("contiguous",)), Name("x"))
    headings = [line.text for line in work.set_up() if isinstance(line, Comment)]
    assert headings == [SetupSection.DATA.value, SetupSection.BOUNDS.value]
    assert work.declarations()[0] == Declare("a", PLAIN, ("pointer", "contiguous"))
    assert PointerAssign(Name("a"), Name("x")) in work.set_up()


def test_types_and_kinds_are_imported_when_they_are_declared() -> None:
    imports = ModuleImports()
    work = workspace(imports=imports)
    work.variable(SetupSection.DATA, "a", Declare("a", INTEGER))
    work.variable(SetupSection.DATA, "b", Declare("b", DerivedType("t", "t_mod")))
    work.variable(SetupSection.DATA, "c", Declare("c", ScalarType(Intrinsic.REAL, "8")))
    assert [(use.module, use.names[0].local) for use in imports.uses()] == [
        ("i_def_home", "i_def"),
        ("t_mod", "t"),
    ]


def test_an_import_that_clashes_is_renamed() -> None:
    imports = ModuleImports({"w3"})
    assert imports.local("spaces_mod", "W3") == "W3_1"
    assert imports.local("a_mod", "go") == "go"
    assert imports.local("b_mod", "go") == "go_1"
    assert imports.local("A_mod", "GO") == "go"
    renamed = {use.module: use.names[0].original for use in imports.uses()}
    assert renamed == {"a_mod": "go", "b_mod": "go", "spaces_mod": "w3"}


def test_what_is_allocated_is_given_back() -> None:
    work = workspace()
    assert work.tear_down() == ()
    work.releases(Name("basis"))
    assert work.tear_down() == (Blank(), Deallocate((Name("basis"),)))


def test_a_mention_is_the_first_one_once() -> None:
    work = workspace()
    assert [work.first("x"), work.first("x"), work.first("y")] == [True, False, True]


def test_a_kind_that_is_no_name_is_written_as_it_is() -> None:
    work = workspace()
    assert [work.kind(text) for text in ("8", "kind(0.0d0)", "r_def")] == [
        "8",
        "kind(0.0d0)",
        "r_def",
    ]
    assert [use.module for use in work.imports.uses()] == ["r_def_home"]
