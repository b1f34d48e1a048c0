"""Random kernels that call random procedures of another module and of their own.

Procedures and kernels share names on purpose: what is local to one is an argument of another, or a
variable of a module. All calls are legal in Fortran: no two arguments of which one is written are
the same elements.
"""

from __future__ import annotations

from random import Random

NAMES = ("a", "b", "s", "t", "i", "j", "n", "rate", "x")
DUMMIES = "n, a, b, s"
DECLARATIONS = (
    "integer(i_def), intent(in) :: n\n"
    "real(r_def), intent(inout) :: a(n, n), s(n)\n"
    "real(r_def), intent(in) :: b(0:n - 1, n)"
)
LOCALS = "integer(i_def) :: i, j, k\nreal(r_def) :: t, u, x, rate"


def helpers(random: Random) -> str:
    """Return a module with procedures whose bodies, names and arguments are random."""
    parts = [
        _function(random), _scalars(random), _column(random), _matrix(random), _counted(random),
        _nested(random), _picked(random),
    ]  # fmt: skip
    random.shuffle(parts)
    return "\n".join(
        (
            "module helpers_mod",
            "use constants_mod, only: wp => r_def, r_def, i_def",
            "implicit none",
            f"real(wp), parameter :: rate = {random.choice((0.5, 3.0, -1.25))}_wp",
            "real(wp), parameter :: t(2) = [1.5_wp, -2.0_wp]",
            "real(wp) :: level = 0.75_wp",
            "integer :: calls = 0",
            "contains",
            *parts,
            "end module helpers_mod",
        )
    )


def body(random: Random) -> str:
    """Return statements of a kernel, with calls in them, that begin by giving locals values."""
    lines = ["t = b(1, 2)", "u = 0.25_r_def", "x = s(1)", "rate = 2.0_r_def", "i = 2", "k = 0"]
    lines += [random.choice(_CALLS)(random) for _ in range(random.randint(3, 7))]
    return "\n".join([*lines, "s(n) = s(n) + t + u + x + rate + i + k"])


# ---------------------------------------------------------------------------- procedures


def _names(random: Random, number: int) -> list[str]:
    return random.sample(NAMES, number)


def _value(random: Random, *names: str) -> str:
    number = f"{random.choice((0.5, 1.25, 3.0))}_wp"
    first, second = random.choice(names), random.choice((*names, number))
    return f"{first} {random.choice('+-*')} {second}*{random.choice((number, *names))}"


def _function(random: Random) -> str:
    one, two, three = _names(random, 3)
    early = f"if ({one} > {two}) return\n" if random.random() < 0.5 else ""
    return f"""function weigh({one}, {two}) result({three})
real(wp), intent(in) :: {one}, {two}
real(wp) :: {three}
{three} = {_value(random, one, two)}
{early}{three} = {_value(random, one, two, three)} - level
end function weigh"""


def _scalars(random: Random) -> str:
    one, two, three = _names(random, 3)
    intent = random.choice(("out", "inout"))
    first = f"{two} = {one}" if intent == "out" else f"{two} = {two} - {one}"
    return f"""subroutine turn({one}, {two})
real(wp), intent(in) :: {one}
real(wp), intent({intent}) :: {two}
real(wp) :: {three}
{first}
{three} = {_value(random, one, two)}
if ({three} > 0.0_wp) then
{two} = {three}
{random.choice(("return", "continue"))}
end if
{two} = {_value(random, one, two, three)}
end subroutine turn"""


def _column(random: Random) -> str:
    one, two, three = _names(random, 3)
    shape = random.choice((":", "0:", "-1:", "*"))
    first = {"0:": 0, "-1:": -1}.get(shape, 1)
    return f"""subroutine column({one}, {two})
real(r_def), intent(inout) :: {one}({shape})
real(r_def), intent(in) :: {two}
integer(i_def) :: {three}
do {three} = {first}, {first} + 2
{one}({three}) = {one}({three})*{two} - {one}({first})
end do
end subroutine column"""


def _matrix(random: Random) -> str:
    one, two, three = _names(random, 3)
    rest = random.choice(
        (
            f"{one} = {one} + {two}",
            f"{one}(:, 2) = {one}(:, 2) - {two}(:, 1)",
            f"{one}(2, :) = {one}(1, :)*{two}(:, 3)",
        )
    )
    shape = random.choice((f"{three}, {three}", ":, :"))
    return f"""subroutine matrix({three}, {one}, {two})
integer(i_def), intent(in) :: {three}
real(wp), intent(inout) :: {one}({shape})
real(wp), intent(in) :: {two}({three}, {three})
real(wp) :: own({three})
own = {two}(1, :)
{rest}
{one}(1, 1) = {one}(1, 1) + sum(own)
end subroutine matrix"""


def _counted(random: Random) -> str:
    """Return one that must stay where it is, or whose call must."""
    change = random.choice(("calls = calls + 1", "level = level + 0.5_wp", "continue"))
    kept = random.choice(("integer, save :: kept = 0", "integer :: kept"))
    count = "kept = kept + 1" if "save" in kept else "kept = 1"
    return f"""subroutine counted(x, k)
real(wp), intent(inout) :: x
integer(i_def), intent(inout), optional :: k
{kept}
{count}
{change}
x = x + kept
if (present(k)) k = k + kept
end subroutine counted"""


def _nested(random: Random) -> str:
    one, two = random.sample([name for name in NAMES if name not in ("t", "rate")], 2)
    return f"""real(wp) function nested({one})
real(wp), intent(in) :: {one}
real(wp) :: {two}
{two} = weigh({one}, rate{random.choice(("", "*2.0_wp"))})
call turn({one} + 1.0_wp, {two})
nested = {two} + {random.choice(("t(1)", "level", "weigh(rate, " + one + ")"))}
end function nested"""


def _picked(random: Random) -> str:
    one, two = _names(random, 2)
    return f"""integer(i_def) function picked({one}, {two})
integer(i_def), intent(in) :: {one}
integer(i_def), intent(in), value :: {two}
picked = 1 + mod(abs({one} - {random.randint(1, 3)}*{two}), 3)
end function picked"""


# ---------------------------------------------------------------------------- calls


def _given(random: Random) -> str:
    """Return a value that may be passed where nothing is written."""
    return random.choice(
        (
            "t", "u", "a(2, 1)", "b(i, 3)", "s(i)", "0.5_r_def", "t*u + x", "(t)", "-rate",
            "weigh(x, u)",
        )
    )  # fmt: skip


def _changed(random: Random) -> str:
    return random.choice(("t", "u", "rate", "a(i, 2)", "s(i)", "a(picked(i, 2), 3)"))


_CALLS = (
    lambda random: f"t = weigh({_given(random)}, {_given(random)}) + u*nested({_given(random)})",
    lambda random: (
        f"call turn({random.choice(('x', '0.75_r_def', 'b(i, 1) + x'))}, {_changed(random)})"
    ),
    lambda random: f"do j = 1, n\ncall column(a(:, j), {_given(random)})\nend do",
    lambda _: "do j = 1, n - 1\ncall column(a(j, :), b(j, 1))\nend do",
    lambda _: "call column(s, x)",
    lambda random: f"call matrix(n, a, {random.choice(('b', 'b*2.0_r_def', 'matmul(b, b)'))})",
    lambda random: f"call counted({_changed(random)}{random.choice(('', ', k'))})",
    lambda _: "i = picked(i, 1)",
    lambda random: (
        f"if (nested(x) > {_given(random)}) then\nu = weigh(u, t)\nelse if "
        f"(weigh(t, u) > 0.0_r_def) then\ncall turn(x, t)\nend if"
    ),
    lambda _: "if (u > 0.0_r_def .and. weigh(t, u) > 0.0_r_def) s(1) = own(i, s(2))",
    lambda random: f"x = own(i, {_given(random)})",
    lambda random: f"s(picked(i, 1)) = merge(weigh(t, u), x, x > {_given(random)})",
)

OWN = """real(r_def), parameter :: here = 0.125_r_def
contains
function own(x, t)
integer(i_def), intent(in) :: x
real(r_def), intent(in) :: t
real(r_def) :: own
own = t*here + x
end function own"""
