"""Programs whose invokes pass one field under several names, and are transformed by recipes.

Indices of arrays of fields get their values at run time, and often the same ones. No call is
passed one object twice, which Fortran forbids. All values of LFRic programs stay integers small
enough that sums of them are exact.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from properties.random_steps import ON_PLANES, ON_SCHEDULES, random_step
from psyclone_storage.scripting.containers import Psy
from psyclone_storage.transform.catalogue import STEPS
from psyclone_storage.transform.legality import check_finished

SIZE = 3
CALL_ENDS = re.compile(r"(?<=\)), (?=[A-Za-z_]{2,}\()")
"""The commas between calls: names of kernels are longer than those of arrays."""
NAMES = ("ii", "jj", "kk")
RUNS = 2
"""How often each program does its invoke, each time with other values of the indices."""
MOST_DIGITS = 14.5
LABEL = "'(a, i0, a, i0)'"
THREADS = (
    ("openmp-parallel-do",),
    ("openmp-do", "openmp-parallel"),
    ("openmp-taskloop", "openmp-single", "openmp-parallel"),
    ("openmp-task", "openmp-single", "openmp-taskwait", "openmp-parallel"),
    ("openmp-task", "openmp-master", "openmp-taskwait", "openmp-parallel"),
    (),
)

Indices = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KernelSketch:
    """A kernel or built-in: its name, the arrays that its arguments come from, and what follows.

    A letter is an array of fields, `V` a whole vector, `s` a scalar that is read or reduced to;
    anything else is text. `digits` is by how many decimal digits values may grow.
    """

    name: str
    args: tuple[str, ...]
    digits: float = 0.0


def _sketches(text: str) -> tuple[KernelSketch, ...]:
    """Return the kernels of a table: digits, name, arguments; `abv` is one of these arrays."""
    rows = (line.split() for line in text.strip().splitlines())
    return tuple(KernelSketch(name, tuple(args), float(digits)) for digits, name, *args in rows)


LFRIC = _sketches("""
    3.3 spread_type abv abcv
    3.3 spread_type a a
    2.0 lift_type a acv
    3.7 spread_cross_type ab acv 1
    3.7 spread_cross_type a a 1
    2.5 gather_type c abcv
    2.5 gather_type c c
    2.5 blur_cross_type c abcv 1
    2.5 blur_cross_type c c 1
    3.0 blur_cross_type c c 2
    0.5 columns_type c c
    0.5 double_type a a
    0.5 double_type v v
    0.5 deep_dofs_type a a 2.0_r_def 1
    0.5 deep_dofs_type c c 2.0_r_def 2
    0.4 add_in_both_type c c 1
    0.6 dofs_type a V
    0.0 setval_c abcv 2.0_r_def
    0.0 setval_X a a
    0.0 setval_X c c
    0.4 inc_X_plus_Y a av
    0.4 inc_X_plus_Y c c
    0.4 inc_a_times_X 2.0_r_def abcv
    0.6 inc_aX_plus_Y 2.0_r_def a a
    0.4 X_plus_Y c c c
    0.0 inc_a_plus_X s abc
    3.5 sum_X s abcv
""")
GOCEAN = _sketches("""
    0 copy_height t t
    0 smooth t t
    0 smooth t t
    0 smooth_far t t
    0 decay t 0.5_go_wp
    0 add_heights t t t
    0 flux_u u t u
    0 wall_u u
    0 tide 3 t 0.25_go_wp
""")
SETTINGS = {
    "lfric": ("JOINT_EXCHANGES=true", "REPRODUCIBLE_REDUCTIONS=true"),
    "gocean": ("JOINT_EXCHANGES=true",),
}
SPACES = {"a": ("W0", "W2", "W1", "W2H"), "c": ("W3", "Wtheta", "W2V")}


FORMS = {
    "lfric": {
        "elements": "gather_type(c(ii), a(1)), blur_cross_type(c(3), c(jj), 1)",
        "number": "gather_type(c(1), a(1)), blur_cross_type(c(3), c(jj), 1)",
        "sums": "spread_type(a(ii), c(1)), gather_type(c(2), a(jj))",
        "members": "spread_type(b(ii)%f, c(1)), gather_type(c(2), b(jj)%f)",
        "vector": "spread_type(v(ii), c(1)), dofs_type(a(1), v), gather_type(c(2), v(jj))",
        "writers": "double_type(a(ii), a(3)), double_type(a(jj), b(1)%f), gather_type(c(1), a(ii))",
        "early": "blur_cross_type(c(3), c(jj), 1), gather_type(c(ii), a(1))",
        "flying": "setval_X(c(3), c(kk)), gather_type(c(ii), a(1)), "
        "blur_cross_type(c(3), c(jj), 1)",
        "scalars": "sum_X(s(ii), c(1)), inc_a_plus_X(s(jj), c(2)), sum_X(s(3), c(2))",
        "computed": "gather_type(c(5 - 2*ii), c(1)), blur_cross_type(c(2), c(5 - 2*jj), 1)",
        "operators": "assemble_type(m(2), c(3)), assemble_type(m(ii), a(1)), "
        "apply_type(a(2), c(1), m(jj))",
        "constant": "gather_type(c(k1), a(1)), blur_cross_type(c(3), c(jj), 1)",
        "constants": "gather_type(c(k1), a(1)), blur_cross_type(c(3), c(k2), 1)",
        "next": "gather_type(c(ii), a(1)), blur_cross_type(c(3), c(ii + 1), 1)",
        "apart": "gather_type(c(1), a(1)), blur_cross_type(c(3), c(2), 1)",
    },
    "gocean": {
        "elements": "copy_height(t(ii), t(3)), smooth(t(3), t(jj))",
        "number": "copy_height(t(1), t(3)), smooth(t(3), t(jj))",
        "points": "decay(t(ii), 0.5_go_wp), add_heights(t(3), t(jj), t(kk))",
        "early": "smooth(t(3), t(jj)), decay(t(ii), 0.5_go_wp)",
        "staggered": "decay(t(ii), 0.5_go_wp), flux_u(u(1), t(jj), u(2))",
        "writers": "smooth(t(ii), t(3)), smooth_far(t(jj), t(3)), add_heights(t(3), t(1), t(2))",
        "constant": "copy_height(t(k1), t(3)), smooth(t(3), t(jj))",
        "constants": "copy_height(t(k1), t(3)), smooth(t(3), t(k2))",
        "next": "copy_height(t(ii), t(3)), smooth(t(3), t(ii + 1))",
        "apart": "copy_height(t(1), t(3)), smooth(t(3), t(2))",
    },
}
"""Invokes with data that are one object by each form of name."""
NEVER_ALIASED = ("constants", "next", "apart")
"""Forms whose data are never one object."""
RECIPES = {
    "lfric": (
        "fuse",
        "fuse; colour; openmp-parallel-do",
        "colour{tiling=true}; openmp-parallel-do",
        "openmp-do; openmp-parallel",
        "colour; openmp-do; openmp-parallel",
        "compute-redundantly{depth=1}; fuse",
        "overlap",
        "split-interior; overlap",
        "colour; openmp-taskloop; openmp-single; openmp-parallel",
        "openmp-task; openmp-single; openmp-taskwait; openmp-parallel",
        "fuse; inline-call; outline",
        "inline-summing-call; openmp-simd",
        "auto",
    ),
    "gocean": (
        "fuse",
        "inline-point-call; fuse",
        "fuse; openmp-parallel-do",
        "openmp-do; openmp-parallel",
        "openmp-taskloop; openmp-single; openmp-parallel",
        "swap-loops",
        "tile-loops{rows=3 columns=2}",
        "chunk-loop{size=2}; openmp-parallel-do",
        "inline-point-call; fuse; outline",
        "auto",
    ),
}


@dataclass(frozen=True)
class AliasProgram:
    """One algorithm with an invoke whose indices are known when it runs.

    The invoke is random, from a seed, or one of `FORMS`. The algorithm repeats that of a form for
    each of `recipes`, which `apply_recipes` applies.
    """

    api: str
    seed: int
    form: str = ""
    recipes: tuple[str, ...] = ("",)

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return f"alias_{self.seed}"

    @cached_property
    def indices(self) -> tuple[Indices, ...]:
        """The values of the indices in each run; in the first, two are the same."""
        if self.form:
            return ({"ii": 1, "jj": 1, "kk": 2}, {"ii": 1, "jj": 2, "kk": 1})
        rng = random.Random(f"indices {self.seed}")
        first = dict.fromkeys(NAMES[:2], rng.randint(1, SIZE)) | {NAMES[2]: rng.randint(1, SIZE)}
        return (first, *({name: rng.randint(1, SIZE) for name in NAMES} for _ in range(RUNS - 1)))

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The calls of the invoke."""
        if self.form:
            return tuple(CALL_ENDS.split(FORMS[self.api][self.form]))
        rng = random.Random(f"calls {self.seed}")
        wanted, digits = rng.randint(2, 6), 1.0
        made: list[str] = []
        while len(made) < wanted:
            sketch = rng.choice(LFRIC if self.api == "lfric" else GOCEAN)
            text = self._call(rng, sketch) if digits + sketch.digits <= MOST_DIGITS else None
            if text is None and digits > MOST_DIGITS - 1:
                break
            if text is not None:
                made.append(text)
                digits += sketch.digits
        return tuple(made)

    def _call(self, rng: random.Random, sketch: KernelSketch) -> str | None:
        """Return a call that is passed no object twice in any run; None if none was found."""
        for _ in range(20):
            actuals = [self._actual(rng, text) for text in sketch.args]
            objects = [
                [one for text in actuals for one in objects_of(text, indices)]
                for indices in self.indices
            ]
            if all(len(set(found)) == len(found) for found in objects):
                return f"{sketch.name}({', '.join(actuals)})"
        return None

    def _actual(self, rng: random.Random, text: str) -> str:
        if text == "V":
            return "v"
        if not set(text) <= set("abcvtus"):
            return text
        array = rng.choice(text)
        index = rng.choice((*NAMES, "ii", "jj", "1", "2", "3"))
        return f"b({index})%f" if array == "b" else f"{array}({index})"

    @property
    def repeats(self) -> tuple[str, ...]:
        """The names of the invokes."""
        return tuple(f"repeat_{number}" for number in range(len(self.recipes)))

    @cached_property
    def spaces(self) -> tuple[tuple[str, str], ...]:
        """The continuous and the discontinuous function space of each invoke of LFRic."""
        rng = random.Random(f"spaces {self.seed}")
        return tuple((rng.choice(SPACES["a"]), rng.choice(SPACES["c"])) for _ in self.recipes)

    @property
    def annexed(self) -> bool:
        """Whether its layer computes annexed dofs."""
        return self.seed % 2 == 1

    @property
    def plain(self) -> tuple[str, ...]:
        """The options for the layer without a recipe."""
        return self._settings(())

    def options(self, attempt: int, script: Path) -> tuple[str, ...]:
        """Return options for a layer with a random recipe; another one in each attempt.

        One in three is a script that tries random steps at random places, written to `script`.
        """
        rng = random.Random(f"options {self.seed} {attempt}")
        chosen = [name for name in SETTINGS[self.api] if rng.random() < 0.3]
        if rng.random() < 1 / 3:
            script.write_text(SCRIPT.format(seed=rng.random(), api=self.api), encoding="utf-8")
            return ("-s", str(script), *self._settings(chosen))
        return ("--apply", "; ".join(recipe(rng, self.api)), *self._settings(chosen))

    def _settings(self, chosen: Sequence[str]) -> tuple[str, ...]:
        annexed = [f"COMPUTE_ANNEXED_DOFS={str(self.annexed).lower()}"]
        every = [*(annexed if self.api == "lfric" else ()), *chosen]
        return ("--config-opts", " ".join(every)) if every else ()

    @property
    def text(self) -> str:
        """The text of the algorithm."""
        return (lfric_text if self.api == "lfric" else gocean_text)(self)


def objects_of(actual: str, indices: Indices) -> Iterator[str]:
    """Yield the fields that an actual argument means, for values of the indices."""
    if actual == "v":
        yield from (f"v{number}" for number in range(1, SIZE + 1))
    elif "(" in actual:
        array, _, rest = actual.partition("(")
        index = rest.partition(")")[0]
        yield f"{array}{indices.get(index, index)}"


def recipe(rng: random.Random, api: str) -> list[str]:
    """Return steps in an order in which most of them may be applied."""
    if rng.random() < 0.15:
        return ["auto"]
    early = {
        "lfric": ("compute-redundantly{depth=1}", "fuse", "fuse"),
        "gocean": ("inline-point-call", "fuse", "fuse", "fuse"),
    }[api]
    late = {
        "lfric": ("colour", "colour{tiling=true}", "inline-call", "split-interior", "overlap",
                  "overlap", "split-exchange", "inline-summing-call"),
        "gocean": ("swap-loops", "tile-loops{rows=3 columns=2}", "tile-columns{size=3}",
                   "overlap", "chunk-loop{size=2}"),
    }[api]  # fmt: skip
    steps = rng.sample(early, rng.randint(0, len(early)))
    steps += rng.sample(late, rng.randint(0, 3))
    steps += rng.choice(THREADS)
    return [*steps, *rng.sample(("openmp-simd", "outline"), rng.randint(0, 2))]


SCRIPT = """
from runtime.alias_programs import apply_random_steps


def trans(psy):
    apply_random_steps(psy, {seed!r}, {api!r})
"""
RECIPES_SCRIPT = """
from runtime.alias_programs import apply_recipes


def trans(psy):
    apply_recipes(psy, {names!r}, {recipes!r})
"""
LEFT_OUT = ("acc-", "profile", "openmp-target", "openmp-teams", "constant-loop-bounds")
"""Steps for devices and profilers, and one that assumes a halo of one point."""
CLOSING = ("openmp-single", "openmp-taskwait", "openmp-parallel")


def apply_recipes(psy: Psy, names: Sequence[str], recipes: Sequence[str]) -> None:
    """Apply one recipe to each named invoke, unless steps are left unfinished."""
    for name, recipe in zip(names, recipes, strict=True):
        schedule = psy.invokes.get(f"invoke_{name}").schedule
        schedule.apply(recipe)
        if check_finished(schedule._session.bench.schedule):
            while schedule.history:
                schedule.undo()


def apply_random_steps(psy: Psy, seed: float, api: str) -> None:
    """Apply random steps at random places, and undo the last ones that finish nothing."""
    every = ON_PLANES if api == "lfric" else ON_SCHEDULES
    names = [name for name in every if not name.startswith(LEFT_OUT)]
    rng = random.Random(seed)
    for session in psy._sessions:
        bench = session.bench
        for _ in range(12):
            step = random_step(rng, bench.schedule, names)
            if step is None or getattr(step, "same_space", False) or getattr(step, "depth", 0) > 1:
                continue  # fields have several spaces, and stencils would look beyond the halo
            if not bench.check(step):
                bench.apply(step)
        for name in CLOSING:
            for place in list(STEPS[name].places(bench.schedule)):
                if not bench.check(STEPS[name](**place)):
                    bench.apply(STEPS[name](**place))
        while bench.history and check_finished(bench.schedule):
            bench.undo()


# ---------------------------------------------------------------------------- text


def lfric_text(program: AliasProgram) -> str:
    """Return an algorithm that makes fields, does the invoke and reports, in each run."""
    kernels = sorted({call.partition("(")[0] for call in program.calls})
    uses = [
        f"use {name.removesuffix('_type')}_kernel_mod, only: {name}"
        for name in kernels
        if name.endswith("_type")
    ]
    spaces = {"a": "continuous", "b": "continuous", "c": "discontinuous", "v": "continuous"}
    new = [
        f"call new_field({field_name(array, 'n')}, {space}, label('{array}', n), 5 * n + {at})"
        for at, (array, space) in enumerate(spaces.items())
    ]
    chosen = sorted({space for pair in program.spaces for space in pair})
    operators = any("m(" in call for call in program.calls)
    if operators:
        space = "function_space_collection%get_fs(fine, 0, 0, {})"
        ends = ", ".join(map(space.format, ("continuous", "discontinuous")))
        new.append(f"call m(n)%initialise({ends})")
        uses += [
            "use function_space_collection_mod, only: function_space_collection",
            "use operator_mod, only: operator_type",
            "use world_mod, only: fine",
        ]
    return "\n".join(
        (
            f"module {program.name}_alg_mod",
            "use constants_mod, only: i_def, r_def",
            "use field_mod, only: field_type",
            f"use fs_continuity_mod, only: {', '.join(chosen)}",
            "use world_mod, only: new_field, renew_halos, report_fields, report_scalar",
            *uses,
            "implicit none",
            "type :: box_type",
            "type(field_type) :: f",
            "end type box_type",
            "contains",
            f"subroutine run_{program.name}()",
            *(
                f"call run_once('{name}', {run}, {', '.join(pair)}, {numbers(one)})"
                for name, pair in zip(program.repeats, program.spaces, strict=True)
                for run, one in enumerate(program.indices)
            ),
            f"end subroutine run_{program.name}",
            "subroutine run_once(repeat, run, continuous, discontinuous, ii, jj, kk)",
            "character(*), intent(in) :: repeat",
            "integer(i_def), intent(in) :: run, continuous, discontinuous, ii, jj, kk",
            f"type(field_type) :: a({SIZE}), c({SIZE}), v({SIZE})",
            f"type(box_type) :: b({SIZE})",
            *([f"type(operator_type) :: m({SIZE})"] if operators else ()),
            f"real(r_def) :: s({SIZE})",
            "integer(i_def) :: n",
            "integer(i_def), parameter :: k1 = 1, k2 = k1 + 1",
            "s = [1.0_r_def, 2.0_r_def, 3.0_r_def]",
            f"do n = 1, {SIZE}",
            *new,
            "end do",
            "call renew_halos(run)",
            *invoke_lines(program),
            f"do n = 1, {SIZE}",
            "call report_scalar(label('s', n), s(n))",
            "end do",
            "call report_fields()",
            "contains",
            "function label(array, n)",
            "character(*), intent(in) :: array",
            "integer(i_def), intent(in) :: n",
            "character(40) :: label",
            f"write (label, {LABEL}) '{program.name}/' // repeat // '/', run, '/' // array, n",
            "end function label",
            "end subroutine run_once",
            f"end module {program.name}_alg_mod",
            "",
        )
    )


def gocean_text(program: AliasProgram) -> str:
    """Return an algorithm that makes fields, does the invoke and reports, in each run."""
    kernels = sorted({call.partition("(")[0] for call in program.calls})
    points = {"t": "go_t_points", "u": "go_u_points"}
    return "\n".join(
        (
            f"module {program.name}_alg_mod",
            "use kind_params_mod, only: go_wp",
            "use field_mod, only: free_field, r2d_field, go_t_points, go_u_points",
            "use world_mod, only: new_field, north_east, report_field",
            *(f"use {name}_mod, only: {name}" for name in kernels),
            "implicit none",
            "contains",
            f"subroutine run_{program.name}()",
            *(
                f"call run_once('{name}', {run}, {numbers(one)})"
                for name in program.repeats
                for run, one in enumerate(program.indices)
            ),
            f"end subroutine run_{program.name}",
            "subroutine run_once(repeat, run, ii, jj, kk)",
            "character(*), intent(in) :: repeat",
            "integer, intent(in) :: run, ii, jj, kk",
            f"type(r2d_field) :: t({SIZE}), u({SIZE})",
            "integer :: n",
            "integer, parameter :: k1 = 1, k2 = k1 + 1",
            f"do n = 1, {SIZE}",
            *(f"{name}(n) = new_field(north_east, {where}, n)" for name, where in points.items()),
            "end do",
            *invoke_lines(program),
            f"do n = 1, {SIZE}",
            *(f"call report_field(label('{name}', n), {name}(n))" for name in points),
            *(f"call free_field({name}(n))" for name in points),
            "end do",
            "contains",
            "function label(array, n)",
            "character(*), intent(in) :: array",
            "integer, intent(in) :: n",
            "character(:), allocatable :: label",
            "character(40) :: written",
            f"write (written, {LABEL}) '{program.name}/' // repeat // '/', run, '/' // array, n",
            "label = trim(written)",
            "end function label",
            "end subroutine run_once",
            f"end module {program.name}_alg_mod",
            "",
        )
    )


def field_name(array: str, index: str) -> str:
    """Return how an element of an array of fields is spelled."""
    return f"b({index})%f" if array == "b" else f"{array}({index})"


def numbers(indices: Indices) -> str:
    """Return the values of the indices as arguments."""
    return ", ".join(str(indices[name]) for name in NAMES)


def invoke_lines(program: AliasProgram) -> list[str]:
    """Return the lines that select one of the invokes."""
    calls = [f"  {call}, &" for call in program.calls]
    invokes = (
        (f"case ('{name}')", "call invoke( &", *calls, f"  name='{name}')")
        for name in program.repeats
    )
    return ["select case (repeat)", *chain.from_iterable(invokes), "end select"]


def suite_text(programs: Sequence[AliasProgram]) -> str:
    """Return the module that knows all algorithms by name."""
    names = [one.name for one in programs]
    longest = max(map(len, names))
    listed = ", &\n".join(f"'{name.ljust(longest)}'" for name in names)
    cases = "\n".join(f"case ('{name}')\ncall run_{name}()" for name in names)
    uses = "\n".join(f"use {name}_alg_mod, only: run_{name}" for name in names)
    return f"""module suite_mod
{uses}
implicit none
private
public :: run_algorithm
character({longest}), parameter, public :: algorithms({len(names)}) = [ &
{listed}]
contains
subroutine run_algorithm(name)
character(*), intent(in) :: name
select case (name)
{cases}
case default
error stop 'run_algorithm: unknown name'
end select
end subroutine run_algorithm
end module suite_mod
"""
