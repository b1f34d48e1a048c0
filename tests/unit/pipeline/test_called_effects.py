"""Threads do not share what the procedures change that kernels call, in whatever way they do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from called_effects import ALGORITHM, BUMP, EFFECTS, HELPER, KERNEL, PURE, SHARED, TOOLS
from command import Outcome, run_command

WAYS = ("same module", "other module", "renamed", "nested", "function", "generic", "bound",
        "internal", "recursive")  # fmt: skip
STEPS = (
    "openmp-parallel-do",
    "openmp-do; openmp-parallel",
    "openmp-taskloop; openmp-single; openmp-parallel",
    "openmp-task; openmp-single; openmp-parallel",
    "auto",
)
REPORTING = STEPS[:-1]
"""The recipes that report races; `auto` leaves such loops as they are."""


def subroutine(name: str, declared: str, body: str) -> str:
    return (f"  subroutine {name}(x)\n    real(r_def), intent(inout) :: x\n{declared}\n"
            f"    {body}\n  end subroutine {name}\n")  # fmt: skip


def function(name: str, declared: str, body: str) -> str:
    return (f"  function {name}(z) result(x)\n    real(r_def), intent(in) :: z\n"
            f"    real(r_def) :: x\n{declared}\n    x = z; {body}\n"
            f"  end function {name}\n")  # fmt: skip


def needs_tools(effect: tuple[str, str, str]) -> bool:
    """Return whether an effect uses a procedure or a type of `TOOLS`."""
    names = re.findall(r"(?:subroutine|function) (\w+)", TOOLS)
    words = "|".join((*names, "box_type", "final_type", "shown_type"))
    return re.search(rf"\b(?:{words})\b", " ".join(effect)) is not None


def texts(way: str, effect: tuple[str, str, str]) -> tuple[str, str]:
    """Return the texts of the kernel's module, and of the module of its helper."""
    outer, declared, body = effect
    outer = f"{SHARED}\n{outer}" if needs_tools(effect) else outer
    tools = BUMP + TOOLS if needs_tools(effect) else BUMP
    kernel = {"uses": "", "specification": "", "declared": "", "procedures": ""}
    kernel["statement"] = "call helper(theta(map(1)))"
    one = subroutine("helper", declared, body)
    if way == "same module":
        kernel |= {"specification": outer, "procedures": one + tools}
        return KERNEL.format(**kernel), ""
    if way == "internal":
        outside = f"{outer}\n" if outer else ""
        kernel |= {"specification": outside, "procedures": tools}
        text = KERNEL.format(**kernel)
        inner = "  contains\n" + one
        return text.replace("  end subroutine work_code", inner + "  end subroutine work_code"), ""
    kernel["uses"] = "  use helper_mod, only : helper"
    if way == "renamed":
        kernel |= {"uses": "  use helper_mod, only : other => helper",
                   "statement": "call other(theta(map(1)))"}  # fmt: skip
    elif way == "nested":
        one = subroutine("helper", "", "call inner(x)") + subroutine("inner", "", "call last(x)")
        one += subroutine("last", declared, body)
    elif way == "function":
        kernel["statement"] = "theta(map(1)) = 1 + helper(theta(map(1)))"
        one = function("helper", declared, body)
    elif way == "generic":
        outer += "\ninterface helper\nmodule procedure helper_r, helper_i\nend interface"
        one = subroutine("helper_r", declared, body)
        one += "  subroutine helper_i(i)\n    integer, intent(inout) :: i\n  end subroutine\n"
    elif way == "bound":
        kernel |= {"uses": "  use helper_mod, only : tool_type",
                   "declared": "    type(tool_type) :: tool",
                   "statement": "call tool%apply(theta(map(1)))"}  # fmt: skip
        outer += ("\ntype :: tool_type\ninteger :: n\ncontains\n"
                  "procedure, nopass :: apply => helper\nend type")  # fmt: skip
    elif way == "recursive":
        one = one.replace("subroutine helper(", "recursive subroutine helper(", 1)
        one = one.replace("  end subroutine", "    if (x > 1e9) call again(x)\n  end subroutine")
        one += subroutine("again", "", "call helper(x)").replace("sub", "recursive sub", 1)
    return KERNEL.format(**kernel), HELPER.format(specification=outer, procedures=one + tools)


def compiled(folder: Path, texts: tuple[str, str], steps: str, *words: str) -> Outcome:
    kernels = folder / "kernels"
    kernels.mkdir(exist_ok=True, parents=True)
    (folder / "alg.x90").write_text(ALGORITHM)
    (kernels / "work_kernel_mod.f90").write_text(texts[0])
    if texts[1]:
        (kernels / "helper_mod.f90").write_text(texts[1])
    given = ["-api", "lfric", "-d", "kernels", "--apply", steps, *words, "alg.x90"]
    return run_command(given, folder)


def is_shared(done: Outcome) -> bool:
    return done.status == 0 and "!$omp" in done.out


def cases(steps: str, effects: Iterable[str], *, every: bool) -> list[tuple[str, str]]:
    """Return the pairs of a way to call and an effect that are tried with a recipe.

    Every second pair has one of the recipes that report races, each effect has all recipes, and so
    has each way. If `every`, each recipe is tried with all pairs.
    """
    if every:
        return list(itertools.product(WAYS, effects))
    if steps == "auto":
        return list(zip(itertools.cycle(WAYS), effects, strict=False))
    number = REPORTING.index(steps)
    return [
        (way, effect)
        for (i, way), (j, effect) in itertools.product(enumerate(WAYS), enumerate(effects))
        if (i + j) % (2 * len(REPORTING)) == number
    ]


@pytest.mark.parametrize("effects", [EFFECTS, PURE], ids=["effects", "none"])
def test_each_recipe_meets_every_way_and_every_effect(effects: dict[str, object]) -> None:
    tried = {steps: cases(steps, effects, every=False) for steps in STEPS}
    reporting = [pair for steps in REPORTING for pair in tried[steps]]
    assert len(set(reporting)) == len(reporting) >= len(WAYS) * len(effects) // 2
    for pairs in tried.values():
        assert {way for way, _ in pairs} == {*WAYS}
        assert {effect for _, effect in pairs} == {*effects}


@pytest.mark.parametrize("steps", STEPS)
def test_what_called_procedures_change_is_not_shared(
    steps: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    shared, silent = [], []
    every = pytestconfig.getoption("--matrix")
    for at, (way, effect) in enumerate(cases(steps, EFFECTS, every=every)):
        done = compiled(tmp_path / str(at), texts(way, EFFECTS[effect]), steps)
        if is_shared(done):
            shared.append((way, effect))
        if steps in REPORTING and "Threads race in" not in done.err:
            silent.append((way, effect))
    assert shared == []
    assert silent == []


@pytest.mark.parametrize("steps", STEPS)
def test_what_keeps_nothing_is_shared(
    steps: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    pairs = cases(steps, PURE, every=pytestconfig.getoption("--matrix"))
    refused = []
    for at, (way, effect) in enumerate(pairs):
        done = compiled(tmp_path / str(at), texts(way, PURE[effect]), steps, "--warnings", "error")
        if not is_shared(done):
            refused.append((way, effect))
    assert pairs
    assert refused == []


UNKNOWN = {
    "module not found": ("use elsewhere_mod, only : helper", "call helper(theta(map(1)))"),
    "function not found": ("use elsewhere_mod, only : helper", "theta(map(1)) = helper(1)"),
    "external": ("", "call helper(theta(map(1)))"),
    "used as a whole": ("use elsewhere_mod", "call helper(theta(map(1)))"),
}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_effects_that_are_not_known_are_reported_once(
    unknown: tuple[str, str], tmp_path: Path
) -> None:
    uses, statement = unknown
    statement = f"{statement}; {statement}"
    text = KERNEL.format(
        uses=f"  {uses}", specification="", declared="", statement=statement, procedures=""
    )
    done = compiled(tmp_path, (text, ""), STEPS[0])
    assert is_shared(done)
    assert done.err.count("warning[S016]") == 1
    assert "'THREAD_SAFE_PROCEDURES = helper'" in done.err
    assert compiled(tmp_path, (text, ""), STEPS[0], "--warnings", "error").status == 1
    for name in ("helper", "work_code"):
        trusting = ("--warnings", "error", "--config-opts", f"THREAD_SAFE_PROCEDURES={name}")
        done = compiled(tmp_path, (text, ""), STEPS[0], *trusting)
        assert (done.status, done.err) == (0, "")


LOST = {
    "function that is assigned to": ("", "target_of() = x"),
    "default target": ("", "aim%p = x"),
    "generic of two modules": ("use one_mod, only : put\nuse two_mod, only : put", "call put(x)"),
    "variable of a missing module": ("use gone_mod", "state = x"),
    "passed variable of a missing module": ("use gone_mod", "call bump(state)"),
}
LOST_MODULE = """module one_mod
  interface put
    module procedure put_one
  end interface
contains
  subroutine put_one(i)
    integer, intent(inout) :: i
    i = 1
  end subroutine put_one
end module one_mod
"""


@pytest.mark.parametrize(("uses", "body"), LOST.values(), ids=LOST)
def test_what_is_not_followed_is_reported(uses: str, body: str, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "one_mod.f90").write_text(LOST_MODULE)
    two = LOST_MODULE.replace("one", "two").replace("integer", "real")
    (folder / "two_mod.f90").write_text(two.replace("i = 1", "i = 1; write(17) i"))
    declared = "type(aim_type) :: aim" if "aim" in body else ""
    outer = "type :: aim_type\nreal(r_def), pointer :: p => aimed_at\nend type"
    kernel, helper = texts("other module", (outer if declared else "", declared, body))
    helper = helper.replace("  implicit none", f"  {uses}\n  implicit none", 1)
    done = compiled(tmp_path, (kernel, helper), STEPS[0])
    assert is_shared(done)
    assert done.err.count("warning[S016]") == 1


def test_functions_of_intrinsic_modules_have_no_effects(tmp_path: Path) -> None:
    kernel, helper = texts("other module", ("", "", "if (ieee_is_nan(x)) x = 0"))
    use = "use, intrinsic :: ieee_arithmetic, only : ieee_is_nan"
    helper = helper.replace("  implicit none", f"  {use}\n  implicit none", 1)
    assert is_shared(compiled(tmp_path, (kernel, helper), STEPS[0], "--warnings", "error"))


INCLUDED = {
    "not found": ("include 'other.inc'", "", True),
    "directive, not found": ('#include "other.inc"', "", True),
    "changes state": ("include 'text.inc'", "state = state + x", True),
    "saves a variable": ('#include "text.inc"', "block; real, save :: s; s = x; end block", True),
    "includes another": ("include 'text.inc'", "include 'other.inc'", True),
    "harmless": ("include 'text.inc'", "x = 2 * x", False),
    "harmless, by a directive": ('#include "text.inc"', "x = 2 * x", False),
}


@pytest.mark.parametrize(("line", "included", "reported"), INCLUDED.values(), ids=INCLUDED)
@pytest.mark.parametrize("way", ["same module", "nested", "function"])
def test_the_text_of_included_files_is_scanned(
    way: str, line: str, included: str, reported: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "text.inc").write_text(f"    {included}\n")
    effect = ("real(r_def) :: state", "", f"x = x\n{line}")
    done = compiled(tmp_path, texts(way, effect), STEPS[0])
    assert is_shared(done)
    assert ("warning[S016]" in done.err) is reported


BOX = """module box_mod
  integer :: state = 0
  type :: crate_type
    integer :: n = 0
  end type crate_type
  interface &
    operator(+)
    module procedure add
  end interface; interface assignment(=); module procedure set; end interface
contains
  function add(a, b) result(c)
    type(crate_type), intent(in) :: a, b
    integer :: c
    state = state + 1; c = a%n
  end function add
  subroutine set(a, b)
    type(crate_type), intent(out) :: a
    real, intent(in) :: b
    state = state + 1; a%n = int(b)
  end subroutine set
end module box_mod
"""
ELSEWHERE = {
    "offered again": "use box_mod, only : crate_type, operator(+), assignment( = )",
    "offered again as a whole": "use box_mod",
    "type renamed": "use box_mod, only : crate_type => own_type, operator (+), assignment(=)",
    "type elsewhere": (
        "use box_mod, only : operator(+), assignment(=)\nuse type_mod, only : crate_type"
    ),
    "missing": "",
}


@pytest.mark.parametrize("body", ["x = x + (a + a)", "a = x"])
@pytest.mark.parametrize("uses", ELSEWHERE.values(), ids=ELSEWHERE)
def test_operators_of_other_modules_are_called(uses: str, body: str, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    text = BOX.replace("crate_type", "own_type") if "=>" in uses else BOX
    (folder / "box_mod.f90").write_text(text)
    (folder / "type_mod.f90").write_text("module type_mod\nuse box_mod\nend module type_mod\n")
    if uses:
        (folder / "again_mod.f90").write_text(f"module again_mod\n{uses}\nend module again_mod\n")
    kernel, helper = texts("other module", ("", "type(crate_type) :: a", body))
    imported = "use again_mod, only : crate_type, operator(+), assignment(=)"
    helper = helper.replace("  implicit none", f"  {imported}\n  implicit none", 1)
    done = compiled(tmp_path, (kernel, helper), STEPS[0])
    assert "it changes 'state'" in done.err or "warning[S016]" in done.err
    assert is_shared(done) is ("warning[S016]" in done.err)


REGIONS = {
    "acc": "acc-routine{force=true}; acc-loop; acc-parallel; acc-enter-data",
    "omp target": "omp-declare-target{force=true}; openmp-teams-do; openmp-target",
}


@pytest.mark.parametrize("steps", REGIONS.values(), ids=REGIONS)
def test_unknown_effects_are_reported_for_devices_too(steps: str, tmp_path: Path) -> None:
    text = KERNEL.format(
        uses="  use elsewhere_mod, only : helper", specification="", declared="",
        statement="call helper(theta(map(1)))", procedures="",
    )  # fmt: skip
    done = compiled(tmp_path, (text, ""), steps)
    assert "warning[S016]" in done.err
    assert "each file must be named after its module" in done.err


LISTED = {
    "listed": ("use elsewhere_mod, only : max", True),
    "renamed": ("use elsewhere_mod, only : max => other", True),
    "used as a whole": ("use elsewhere_mod", False),
}


@pytest.mark.parametrize(("use", "reported"), LISTED.values(), ids=LISTED)
def test_an_intrinsic_is_unknown_only_if_an_import_lists_its_name(
    use: str, reported: bool, tmp_path: Path
) -> None:
    words = {"specification": "", "declared": "", "procedures": ""}
    text = KERNEL.format(uses=f"  {use}", statement="theta(map(1)) = max(theta(map(1)), 1.0_r_def)",
                         **words)  # fmt: skip
    done = compiled(tmp_path, (text, ""), STEPS[0])
    assert is_shared(done)
    assert ("warning[S016]" in done.err) is reported


@pytest.mark.parametrize("name", ["helper", "work_code", "work_kernel_type"])
def test_a_user_may_trust_a_called_procedure(name: str, tmp_path: Path) -> None:
    given = texts("other module", EFFECTS["module variable"])
    assert "'THREAD_SAFE_PROCEDURES = helper'" in compiled(tmp_path, given, STEPS[0]).err
    done = compiled(tmp_path, given, STEPS[0], "--config-opts", f"THREAD_SAFE_PROCEDURES={name}")
    assert is_shared(done)


DEVICE_STEPS = ("acc-loop; acc-parallel", "openmp-teams-do; openmp-target")


@pytest.mark.parametrize("steps", DEVICE_STEPS)
@pytest.mark.parametrize("way", WAYS)
def test_loops_on_a_device_are_threads_too(steps: str, way: str, tmp_path: Path) -> None:
    first = steps.partition(";")[0]
    done = compiled(tmp_path / "kept", texts(way, EFFECTS["module variable"]), steps)
    assert "it changes 'state'" in done.err
    forced = steps.replace(first, f"{first}{{force=true}}")
    for effect, given in ((EFFECTS["module variable"], forced), (PURE["argument"], steps)):
        done = compiled(tmp_path / given, texts(way, effect), given)
        assert "S015" not in done.err


LOGGING = {
    "error": ("LOG_LEVEL_ERROR", True),
    "information": ("LOG_LEVEL_INFO", False),
}


@pytest.mark.parametrize(("level", "accepted"), LOGGING.values(), ids=LOGGING)
def test_a_message_buffer_matters_only_if_the_program_goes_on(
    level: str, accepted: bool, tmp_path: Path
) -> None:
    body = (
        "if (x < 0) then; write(log_scratch_space, '(f9.4)') x;"
        f" call log_event(log_scratch_space, {level}); end if; x = 2 * x"
    )
    kernel, helper = texts("other module", ("", "", body))
    use = f"  use log_mod, only : log_event, log_scratch_space, {level}\n  implicit none"
    given = kernel, helper.replace("  implicit none", use)
    done = compiled(tmp_path, given, STEPS[0], "--warnings", "error")
    assert is_shared(done) == accepted
    if not accepted:
        assert "it changes 'log_scratch_space'" in done.err
        trusting = ("--config-opts", "THREAD_SAFE_PROCEDURES=helper")
        assert is_shared(compiled(tmp_path, given, STEPS[0], *trusting))


ENDINGS = {
    "a jump before the end": "if (x < 0) then; state = x; if (x > -1) return; stop; end if",
    "an end on one way": "state = x; if (x < 0) stop",
    "an end in a loop that may not run": "state = x; do i = 1, n; stop; end do",
    "a condition with an effect": "if (advanced() > 0) stop",
}


@pytest.mark.parametrize("body", ENDINGS.values(), ids=ENDINGS)
def test_what_may_not_end_the_program_counts(body: str, tmp_path: Path) -> None:
    kernel, helper = texts("other module", ("real(r_def) :: state", "integer :: i, n = 1", body))
    advanced = "  real function advanced()\n    state = state + 1; advanced = 1\n  end function\n"
    given = kernel, helper.replace("contains\n", f"contains\n{advanced}", 1)
    done = compiled(tmp_path, given, STEPS[0])
    assert not is_shared(done)
    assert "it changes 'state'" in done.err


def test_components_that_are_arrays_are_no_calls(tmp_path: Path) -> None:
    kernel, helper = texts("bound", PURE["argument"])
    helper = helper.replace("integer :: n\n", "real(r_def) :: values(3)\n")
    kernel = kernel.replace("call tool%apply", "tool%values(2) = 1; call tool%apply")
    done = compiled(tmp_path, (kernel, helper), STEPS[0], "--warnings", "error")
    assert is_shared(done), done.err


def test_a_type_inherits_what_its_parent_binds(tmp_path: Path) -> None:
    kernel, helper = texts("bound", EFFECTS["module variable"])
    child = "end type\ntype, extends(tool_type) :: child_type\nend type"
    helper = helper.replace("end type", child, 1)
    kernel = kernel.replace("tool_type", "child_type")
    assert "it changes 'state'" in compiled(tmp_path, (kernel, helper), STEPS[0]).err
