"""Algorithms that call every built-in, on fields of every kind of number.

Selects the arguments of built-ins. Fields are set before each call to values from 0.5 to 18.5, so
that nothing is divided by zero and products have few digits. Results are added, with individual
weights, to a sum that is reported, or are reported as scalars.
"""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.ir.kernel import Access, ArgKind, Kernel, KernelArg
from psyclone_storage.ir.types import Intrinsic
from runtime.generated.algorithms import END_EARLY, invoke, write_algorithm
from runtime.generated.workspace import FieldKind, Workspace

REAL_SPACES = {"r_def": "W2", "r_solver": "W0", "r_tran": "W3", "r_bl": "Wtheta"}
INTEGER_SPACE = "W1"
OTHERS = {"r_def": "r_solver", "r_solver": "r_bl", "r_tran": "r_def", "r_bl": "r_tran"}
VALUES = {"a": "9", "b": "-2", "c": "4", "n": "3"}
EXPONENT = "1.5"
LEFT_OUT = ("setval_random",)
"""Its numbers are not the same on other ranks; `lfric/dofs_alg_mod.x90` looks at their range."""
CALLS_PER_INVOKE = 12
CLEAN = "call renew_halos(DEEPEST)"
"""What makes halos clean before an invoke: what it says of them matters then."""


def write_builtin_algorithms() -> dict[str, str]:
    """Return the algorithms by name: one for each kind of real numbers, and one for integers."""
    known = [builtin(name) for name in builtin_names() if name not in LEFT_OUT]
    kernels = [kernel for kernel in known if kernel is not None]
    integer = [kernel for kernel in kernels if kernel.name.startswith("int_")]
    real = [kernel for kernel in kernels if kernel not in integer]
    texts = {f"builtins_{kind}": write_calls(f"builtins_{kind}", real, kind) for kind in OTHERS}
    return {**texts, "builtins_i_def": write_calls("builtins_i_def", integer, "i_def")}


def write_calls(name: str, kernels: list[Kernel], number: str) -> str:
    """Return an algorithm that calls built-ins for one kind of numbers."""
    work = Workspace(name)
    space = REAL_SPACES.get(number, INTEGER_SPACE)
    body: list[str] = []
    for first in range(0, len(kernels), CALLS_PER_INVOKE):
        some = kernels[first : first + CALLS_PER_INVOKE]
        calls = [call for kernel in some for call in calls_of(kernel, work, (number, space))]
        reported = [report for kernel in some for report in reports_of(kernel, work)]
        body += [CLEAN, *invoke(f"some_{first}", calls), *reported]
        body += [f"call report_stage('{first}')", END_EARLY]
    others = OTHERS.get(number, "r_def")
    for kind in (number, others, "i_def"):
        for letter in "xyz":
            object_of(work, (kind, space), f"{letter}_{kind}")
            object_of(work, (kind, space), f"start_{letter}_{kind}")
        object_of(work, (kind, space), f"total_{kind}")
    return write_algorithm(work, [], [*prepare(work), *body, "call report_fields()"])


def object_of(work: Workspace, kind: tuple[str, str], name: str) -> str:
    """Return a field by its name."""
    names = work.objects.setdefault(FieldKind(*kind), [])
    if name not in names:
        names.append(name)
    return name


def prepare(work: Workspace) -> list[str]:
    """Return the invoke that gives the fields to start from their range."""
    calls = []
    for kind, names in work.objects.items():
        assert isinstance(kind, FieldKind)
        real = f"inc_a_plus_X(9.5_{kind.number}"
        add = "int_inc_a_plus_X(9_i_def" if kind.number == "i_def" else real
        calls += [f"{add}, {name})" for name in names if name.startswith("start_")]
    return [CLEAN, *invoke("prepare", calls), "call report_stage('prepare')"]


def calls_of(kernel: Kernel, work: Workspace, kind: tuple[str, str]) -> Iterator[str]:
    """Yield what sets the fields of a built-in, its call, and what adds up its result."""
    assert kernel.formula is not None
    number, space = kind
    actuals, written = [], ""
    for letter, arg in zip(kernel.formula.letters, kernel.args, strict=True):
        own = number_of(arg, kernel, number)
        if arg.kind is ArgKind.FIELD:
            actuals.append(object_of(work, (own, space), f"{letter.lower()}_{own}"))
            start = object_of(work, (own, space), f"start_{letter.lower()}_{own}")
            setter = "int_setval_X" if own == "i_def" else "setval_X"
            yield f"{setter}({actuals[-1]}, {start})"
            written = actuals[-1] if arg.access.writes else written
        elif arg.access is Access.REDUCTION:
            # The infrastructure adds up no numbers of the boundary layer's kind.
            actuals.append(scalar_of(work, kernel.name, "r_def" if own == "r_bl" else own))
        elif kernel.name == "a_times_X":
            actuals.append(scalar_of(work, "scalar", own))
        else:
            actuals.append(value_of(kernel, letter, own))
    yield f"{kernel.name}({', '.join(actuals)})"
    if written:
        own = written.partition("_")[2]
        total = object_of(work, (own, space), f"total_{own}")
        name = "int_inc_X_plus_Y" if own == "i_def" else "inc_X_plus_bY"
        weight = (
            "" if own == "i_def" else f"{1 + builtin_names().index(kernel.name) % 11}.0_{own}, "
        )
        yield f"{name}({total}, {weight}{written})"


def number_of(arg: KernelArg, kernel: Kernel, number: str) -> str:
    """Return the kind of the numbers of an argument of a built-in."""
    if arg.intrinsic is Intrinsic.INTEGER:
        return "i_def"
    if kernel.name == "real_to_real_X" and not arg.access.writes:
        return OTHERS[number]
    return number if number != "i_def" else "r_def"


def value_of(kernel: Kernel, letter: str, number: str) -> str:
    """Return what a scalar argument is: a literal in one of several forms."""
    value = EXPONENT if kernel.name == "inc_X_powreal_a" else VALUES[letter]
    if number == "i_def":
        return f"{value}_{number}"
    value = value if "." in value else f"{value}.0"
    if kernel.name.startswith("aX_") and number == "r_def":
        return f"3.0_r_def*{value}_r_def" if letter == "a" else value
    return f"{value}_{number}"


def scalar_of(work: Workspace, what: str, number: str) -> str:
    """Return a variable by what it is for."""
    name = f"factor_{number}_{what.lower()}"
    work.scalars[name] = f"real(kind={number}) :: {name}"
    return name


def reports_of(kernel: Kernel, work: Workspace) -> Iterator[str]:
    """Yield what reports the result of a reduction."""
    for name in work.scalars:
        if name.endswith(f"_{kernel.name.lower()}"):
            yield f"call report_scalar('{work.name}/{kernel.name}', real({name}, r_def))"
