"""The reader of PSy layers sees what a routine does, however it is written."""

import pytest

from differential.comparison import differences
from differential.normal_form import (
    Exchange,
    Flag,
    KernelCall,
    Loop,
    Reduction,
    Routine,
    Start,
    Update,
)
from differential.psy_reader import read_layer
from differential.values import canonical_expression, resolve


def read(body: str, call: str = "call invoke_0(u)", dummies: str = "u") -> Routine:
    """Read one routine whose executable part is `body`."""
    layer = f"""module some_psy
  contains
  subroutine invoke_0({dummies})
    use field_mod, only : field_type
    type(field_type), intent(in) :: u
    {body}
  end subroutine invoke_0
end module some_psy"""
    return read_layer(layer, call)["invoke_0"]


CELL_LOOP = """
    p = u%get_proxy()
    mesh => p%vspace%get_mesh()
    bound = mesh%get_last_halo_cell(1)
    map => p%vspace%get_whole_dofmap()
    values => p%data
    do cell = 1, bound, 1
      call smooth_code(values, map(:,cell))
    enddo
"""


def test_a_cell_loop_is_read_through_what_its_names_stand_for() -> None:
    assert read(CELL_LOOP).events == (
        Loop(
            "1",
            "mesh%get_last_halo_cell(1)",
            (KernelCall("smooth_code", ("u%data", "u%vspace%get_whole_dofmap()(:,@)")),),
        ),
    )


def test_other_names_and_layout_make_no_difference() -> None:
    other = """
    DOFS => U % get_proxy() ! a proxy, "not" a field
    grid => dofs%vspace%get_mesh(); table => dofs%vspace%get_whole_dofmap()
    do column = 1, grid%get_last_halo_cell( 1 )
      call smooth_code( &
        ! the values first
        & dofs%data, table(:, column))
    end do
    """
    assert not differences({"invoke_0": read(CELL_LOOP)}, {"invoke_0": read(other)})


def test_dummies_are_called_what_the_algorithm_passes() -> None:
    routine = read("call u%set_dirty()", call="call invoke_0(state(2)%wind)")
    assert routine.events == (Flag("state(2)%wind"),)
    assert routine.arguments == {"state(2)%wind": "type(field_type)"}


def test_components_of_a_vector_are_told_apart() -> None:
    body = """
    v(1) = u(1)%get_proxy()
    v(2) = u(2)%get_proxy()
    call v(2)%halo_exchange(depth=1)
    call v(1)%set_clean(2)
    """
    assert read(body).events == (Exchange("u(2)", "1", guarded=False), Flag("u(1)", "2"))


@pytest.mark.parametrize(
    "text",
    [
        "if (u%is_dirty(depth=n + 1)) then\n call u%halo_exchange(depth=1 + n)\n end if",
        "if (u%is_dirty(depth=n+1)) call u%halo_exchange(depth=n+1)",
    ],
)
def test_a_guarded_exchange_is_one_event(text: str) -> None:
    assert read(text).events == (Exchange("u", "1+n", guarded=True),)


def test_a_guard_to_another_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="guards"):
        read("if (u%is_dirty(depth=1)) call u%halo_exchange(depth=2)")


def test_a_reduction_is_read_whether_or_not_it_has_a_partial_sum() -> None:
    body = """
    {partial} = 0.0_r_def
    do df = 1, u%vspace%get_last_dof_owned()
      {partial} = {partial} + u%data(df)
    end do
    everywhere%value = {partial}
    total = everywhere%get_sum()
    """
    direct, indirect = (
        read(body.format(partial=name), "call invoke_0(u, total)", "u, total").events
        for name in ("total", "mine")
    )
    assert direct == indirect
    assert direct == (
        Start("total", "0.0_r_def"),
        Loop("1", "u%vspace%get_last_dof_owned()", (Update("total", "total+u%data(@)"),)),
        Reduction("total", "sum"),
    )


def test_basis_arrays_stand_for_the_calls_that_fill_them() -> None:
    body = """
    allocate (phi(3, ndf, np), at_nodes(1, ndf, nn))
    call qr%compute_function(BASIS, u%vspace, dim, ndf, phi)
    nodes => u%vspace%get_nodes()
    do j = 1, nn
      do i = 1, ndf
        at_nodes(:,i,j) = u%vspace%call_function(BASIS, i, nodes(:,j))
      end do
    end do
    call probe_code(phi, at_nodes)
    deallocate (phi, at_nodes)
    """
    assert read(body).events == (
        KernelCall(
            "probe_code",
            (
                "qr%compute_function(basis,u%vspace)",
                "u%vspace%call_function(basis,@2,u%vspace%get_nodes()(:,@1))",
            ),
        ),
    )


@pytest.mark.parametrize(
    "choice",
    [
        "if (d == x_direction) m => a(1)\n if (d == y_direction) then\n m => a(2)\n end if",
        "if (d == x_direction) then\n m => a(1)\n else\n m => a(2)\n end if",
    ],
)
def test_a_choice_by_direction_is_read_in_either_form(choice: str) -> None:
    events = read(f"{choice}\n call sweep_code(m)").events
    assert events == (KernelCall("sweep_code", ("by_direction(x:a(1),y:a(2))",)),)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("stop 1", "unknown statement"),
        ("if (n > 2) then\n n = 3\n end if", "unknown condition"),
        ("do df = 1, 3\n u%data(df) = 1.0\n if (x) y = 2\n end do", "a loop holds"),
    ],
)
def test_what_cannot_be_placed_is_an_error(body: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(body)


def test_a_routine_that_nobody_calls_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not call"):
        read("call u%set_dirty()", call="call invoke_1(u)")


def test_keywords_and_components_are_no_names() -> None:
    assert resolve("f(depth=depth)%data", {"depth": "2", "data": "x"}) == "f(depth=2)%data"
    assert resolve("'depth ' // depth", {"depth": "2"}) == "'depth '//2"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a*x+b", "b+(x*a)"),
        ("max(2,n)", "max(n,2)"),
        ("(u%data(@))**2_i_def", "u%data(@)**2_i_def"),
        ("1.0e-3_r_def-x", "(1.0e-3_r_def)-x"),
    ],
)
def test_equal_expressions_are_spelled_alike(one: str, other: str) -> None:
    assert canonical_expression(one) == canonical_expression(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a-x", "x-a"), ("a*(x+b)", "a*x+b"), ("1.0", "1.0_r_def"), ("x/a", "a/x")],
)
def test_other_expressions_are_not(one: str, other: str) -> None:
    assert canonical_expression(one) != canonical_expression(other)


GOOD = (
    Exchange("u", "1", guarded=True),
    Loop("1", "ncell", (KernelCall("k", ("u%data", "a")),)),
    Flag("u"),
)


@pytest.mark.parametrize(
    ("events", "line"),
    [
        (GOOD[1:], "only theirs: exchange u to 1 if dirty"),
        ((Exchange("u", "1", guarded=False), *GOOD[1:]), "only ours: exchange u to 1 always"),
        ((Exchange("u", "2", guarded=True), *GOOD[1:]), "only ours: exchange u to 2 if dirty"),
        ((*GOOD[:2],), "u is dirty in theirs, clean to 1 in ours"),
        ((*GOOD, Flag("u", "1")), "u is dirty in theirs, clean to 1 in ours"),
        ((*GOOD[:2], Flag("u"), GOOD[1]), "only ours: k"),
        (
            (GOOD[0], Loop("1", "more", GOOD[1].body), GOOD[2]),
            "bounds: theirs 1 to ncell, ours 1 to more",
        ),
        (
            (GOOD[0], Loop("1", "ncell", (KernelCall("k", ("u%data", "b")),)), GOOD[2]),
            "argument 2: theirs a, ours b",
        ),
        ((Start("s", "0"), *GOOD), "reductions start"),
    ],
)
def test_every_difference_is_reported(events: tuple[object, ...], line: str) -> None:
    ours = Routine("invoke_0", {}, events)  # type: ignore[arg-type]
    found = differences({"invoke_0": Routine("invoke_0", {}, GOOD)}, {"invoke_0": ours})
    assert any(line in item for item in found), found


def test_equal_routines_have_no_difference() -> None:
    routine = {"invoke_0": Routine("invoke_0", {}, GOOD)}
    assert not differences(routine, routine)


def test_a_missing_routine_is_a_difference() -> None:
    assert differences({"a": Routine("a")}, {}) == ("a: only theirs: routine",)
