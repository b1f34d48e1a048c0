"""Transfers of device data in models: two of PSycloneBench, and the tracer advection of NEMO.

    python benchmarks/device_data.py path/to/PSycloneBench [--nemo path/to/nemo] [--f90 gfortran]

puts the loops of a time step into device regions, plans the data of the whole model, and runs it
with two memories, in one of which data are NaN until they are transferred. Prints the planned
transfers, those that were counted in a run and in its last step, and whether the results have the
bits of the model without directives. NEMOLite2D's internal procedures become those of a module.
NEMO's `traadv_fct.F90` is preprocessed with `cpp`, and runs with the modules and the driver in
`device_data/`. Its halo exchange uses the device.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from command import run_command
from fortran import run
from two_memories import MEMORY, with_two_memories, without_directives

RECIPE = """\
from psyclone.psyir.nodes import Assignment, Loop, Routine
from psyclone.transformations import ACCKernelsTrans


def trans(psyir):
    kernels = ACCKernelsTrans()
    blocks = [one for one in psyir.walk(Routine) if one.name in {routines}]
    blocks += [one.loop_body for one in psyir.walk(Loop) if one.variable.name == "{counter}"]
    for block in blocks:
        for child in block.children[:]:
            is_array = isinstance(child, Assignment) and child.is_array_assignment
            if isinstance(child, Loop) or is_array:
                kernels.apply(child)
"""
NEMO_RECIPE = """\
from psyclone.psyir.nodes import Assignment, IfBlock, Loop, Routine
from psyclone.transformations import ACCKernelsTrans, TransformationError


def visit(children):
    for child in children[:]:
        is_array = isinstance(child, Assignment) and child.is_array_assignment
        blocks = [child.loop_body] if isinstance(child, Loop) else []
        if isinstance(child, IfBlock):
            blocks = [child.if_body, *([child.else_body] if child.else_body else [])]
        if isinstance(child, Loop) or is_array:
            try:
                ACCKernelsTrans().apply(child)
                continue
            except TransformationError:
                pass
        for block in blocks:
            visit(block.children)


def trans(psyir):
    for routine in psyir.walk(Routine):
        if routine.name != "set_up":
            visit(routine.children)
"""
NEMO_KEYS = ("qco", "si3", "xios", "isf", "vco_1d3d", "RK3")
NEMO_SETTINGS = (
    "DEVICE_PROCEDURES=lbc_lnk READ_ONLY_PROCEDURES=trd_tra,dia_ptr_hst,dia_ar5_hst,ctl_stop"
)
STUBS = """\
module dl_timer
contains
  subroutine timer_init()
  end subroutine timer_init
  subroutine timer_register(number, label, num_repeats)
    integer :: number
    character(*), optional :: label
    integer(8), optional :: num_repeats
  end subroutine timer_register
  subroutine timer_start(number, label, num_repeats)
    integer :: number
    character(*), optional :: label
    integer(8), optional :: num_repeats
  end subroutine timer_start
  subroutine timer_stop(number)
    integer :: number
  end subroutine timer_stop
  subroutine timer_report()
  end subroutine timer_report
end module dl_timer
module field_mod
contains
  real(8) function field_checksum(values)
    real(8), intent(in) :: values(:, :)
    field_checksum = sum(abs(values))
  end function field_checksum
end module field_mod
module gocean_mod
contains
  subroutine model_write_log(form, value)
    character(*), intent(in) :: form
    real(8), intent(in) :: value
    print '(z17.16)', value
  end subroutine model_write_log
end module gocean_mod
"""
NAMELIST = """\
&namctl
  jpiglo = 34, jpjglo = 30, jphgr_msh = 1, dx = 1000.0, dy = 1000.0, dep_const = 100.0,
  nit000 = 1, nitend = {steps}, irecord = 1000, rdt = 20.0, cbfr = 0.00015, visc = 0.1
/
"""


@dataclass(frozen=True)
class Model:
    """A model: its source below a folder, the root of its plan, and a recipe for its regions.

    `outside` are procedures that are not planned.
    """

    source: str
    root: str
    prepared: Callable[[Path], str]
    recipe: str
    outside: str = STUBS
    settings: str = ""


def as_module(source: Path) -> str:
    """Return NEMOLite2D with a module instead of a program with internal procedures."""
    text = source.read_text("utf-8")
    head, rest = re.split(r"(?m)^ *!! read in model parameters\n", text)
    body, procedures = re.split(r"(?m)^CONTAINS.*\n", rest)
    procedures = re.sub(r"(?mi)^ *end program \w+ *$", "", procedures)
    head = re.sub(r"(?i)^ *program \w+", "module nemolite2d_mod", head)
    return (
        f"{head}contains\nsubroutine model()\n{body}end subroutine model\n{procedures}"
        "end module nemolite2d_mod\nprogram nemolite2d\nuse nemolite2d_mod, only : model\n"
        "call model()\nend program nemolite2d\n"
    )


def with_driver(source: Path) -> str:
    """Return NEMO's tracer advection after the modules that it uses, and with a driver."""
    keys = [f"-Dkey_{key}" for key in NEMO_KEYS]
    folders = [f"-I{source.parents[1] / name}" for name in ("", "DOM")]
    command = ["cpp", "-traditional-cpp", "-P", *keys, *folders, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    parts = [(OWN / f"nemo_{name}.f90").read_text("utf-8") for name in ("modules", "driver")]
    return "\n".join((parts[0], done.stdout, parts[1]))


OWN = Path(__file__).with_suffix("")
FOLDER = "benchmarks/nemo"
MODELS = {
    "tracer advection": Model(
        f"{FOLDER}/tracer_advection/original/tra_adv.F90", "tra_adv", Path.read_text,
        RECIPE.format(routines="()", counter="jt"),
    ),
    "NEMOLite2D": Model(
        f"{FOLDER}/nemolite2d/original/nemolite2d.f90", "model", as_module,
        RECIPE.format(routines=("continuity", "momentum", "bc", "next"), counter=""),
    ),
}  # fmt: skip
NEMO = {
    "tracer advection of NEMO": Model(
        "src/OCE/TRA/traadv_fct.F90", "fct", with_driver, NEMO_RECIPE,
        (OWN / "nemo_outside.f90").read_text("utf-8"), NEMO_SETTINGS,
    )
}  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """Plan and run both models; return 1 if results differ."""
    parser = argparse.ArgumentParser(description="Count transfers of device data.")
    parser.add_argument("bench", type=Path, help="the folder of PSycloneBench")
    parser.add_argument("--nemo", type=Path, help="the folder of NEMO 5")
    parser.add_argument("--f90", default="gfortran")
    args = parser.parse_args(argv)
    failed = 0
    every = [(args.bench, *one) for one in MODELS.items()]
    every += [(args.nemo, *one) for one in NEMO.items() if args.nemo]
    for bench, name, model in every:
        with tempfile.TemporaryDirectory() as folder:
            failed |= not is_equal(name, model, bench, Path(folder), args.f90)
    return failed


def is_equal(name: str, model: Model, bench: Path, folder: Path, f90: str) -> bool:
    """Print the transfers of a model; return whether it has the results without a plan."""
    source = model.prepared(bench / model.source)
    new, planned = planned_model(model, source, folder)
    outside = with_two_memories(model.outside)
    wanted, _ = results(without_directives(model.outside), source, folder / "plain", f90, steps=5)
    found, counted = results(outside, new, folder / "run", f90, steps=5)
    _, before = results(outside, new, folder / "before", f90, steps=4)
    equal = found == wanted
    step = tuple(now - then for now, then in zip(counted, before, strict=True))
    print(f"{name}: planned transfers {planned[0]} to the device, {planned[1]} from it")
    print(
        f"  counted in 5 steps {counted[0]} and {counted[1]}, in the last {step[0]} and {step[1]}"
    )
    print(f"  results {'have equal bits' if equal else 'DIFFER'}")
    return equal


def planned_model(model: Model, source: str, folder: Path) -> tuple[str, tuple[int, int]]:
    """Return a model with regions and planned data, and the numbers of its transfers."""
    (folder / "model.f90").write_text(source, "utf-8")
    (folder / "recipe.py").write_text(model.recipe, "utf-8")
    words = ["-s", "recipe.py", "--device-data", model.root, "--transfers-json", "plan.json"]
    words += ["--config-opts", model.settings] if model.settings else []
    done = run_command([*words, "model.f90", "-o", "new.f90"], folder)
    if done.status != 0:
        sys.exit(done.err)
    moves = [one["to"] for one in json.loads((folder / "plan.json").read_text())["transfers"]]
    return (folder / "new.f90").read_text("utf-8"), (moves.count("device"), moves.count("host"))


def results(
    outside: str, text: str, folder: Path, f90: str, *, steps: int
) -> tuple[str, tuple[int, ...]]:
    """Return the output of a model and of its files, and the numbers of transfers."""
    folder.mkdir()
    emulated = re.sub(
        r"(?mi)^( *end program)", r"call device_report()\n\1", with_two_memories(text)
    )
    (folder / "main.f90").write_text(MEMORY + outside + emulated, "utf-8")
    (folder / "namelist").write_text(NAMELIST.format(steps=steps), "utf-8")
    run([f90, "-O1", "-ffree-line-length-none", "-J", str(folder), "-o", str(folder / "main"),
         str(folder / "main.f90")])  # fmt: skip
    sizes: Mapping[str, str] = {"JPI": "14", "JPJ": "12", "JPK": "7", "IT": str(steps)}
    done = subprocess.run(
        [str(folder / "main")], capture_output=True, text=True, check=True, cwd=folder,
        env={**os.environ, **sizes},
    )  # fmt: skip
    output, _, moved = done.stdout.rpartition("moved")
    files = (one.read_text() for one in sorted(folder.glob("*.dat")))
    return "".join((output, *files)), tuple(map(int, moved.split()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
