"""Algorithms that call every kernel of the corpus.

Owns which objects a kernel is called with, and in which forms an algorithm may name them. Each
algorithm calls several kernels, in one invoke and once more in the opposite order with changes of
what they read in between, on objects that they share. All this is done twice: entered with halos
that are stale, where exchanges are needed, and with clean ones, where marks are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from psyclone_storage.domains.lfric.slots import Slot, SlotKind, slots_of
from psyclone_storage.infrastructures.lfric import ANY_W2_MEMBERS, is_wildcard
from psyclone_storage.ir.interface import Dummy
from psyclone_storage.ir.kernel import Access, ArgKind, Iteration, KernelArg, MeshRole
from psyclone_storage.ir.types import Intrinsic
from runtime.generated.kernels import OWN_NUMBERS, Subject, takes_boundary, twin_of
from runtime.generated.workspace import DIRECTIONS, EXTENTS, FieldKind, MatrixKind, Workspace

CONTINUOUS = ("w0", "w2", "w1", "w2h", "w2trace", "w2htrace")
DISCONTINUOUS = ("w3", "wtheta", "w2v", "w2broken", "w2vtrace")
ANY = tuple(name for pair in zip(CONTINUOUS, DISCONTINUOUS, strict=False) for name in pair)
SPELLINGS = {
    "w2v": "W2V",
    "w2h": "W2H",
    "w2vtrace": "W2Vtrace",
    "w2htrace": "W2Htrace",
    **{name: name.capitalize() for name in ("wtheta", "wchi", "w2broken", "w2trace")},
}
MESHES = {None: "fine", MeshRole.FINE: "fine", MeshRole.COARSE: "coarse"}
EVERY_PRECISION = ("r_def", "r_solver", "r_tran")
VALUES = (
    *("direction = y_direction", "extent = 2", "extents = [2, 1]", "halo_depth = 2"),
    "settings%reach = 2",
)
END_EARLY = "if (is_different()) return"
"""What ends an algorithm at the first stage where a mutation shows: the answer is that it does."""
USES = {
    "columnwise_operator_mod": "columnwise_operator_type",
    "constants_mod": "i_def l_def r_bl r_def r_solver r_tran",
    "field_mod": "field_type",
    "flux_direction_mod": "x_direction y_direction",
    "fs_continuity_mod": "W0 W1 W2 W2broken W2H W2Htrace W2trace W2V W2Vtrace W3 Wchi Wtheta",
    "integer_field_mod": "integer_field_type",
    "objects_mod": "new_matrix settings_type show_matrix",
    "operator_mod": "operator_type",
    "quadrature_edge_mod": "quadrature_edge_type",
    "quadrature_face_mod": "quadrature_face_type",
    "quadrature_rule_gaussian_mod": "quadrature_rule_gaussian_type",
    "quadrature_xyoz_mod": "quadrature_xyoz_type",
    "r_bl_field_mod": "r_bl_field_type",
    "r_solver_field_mod": "r_solver_field_type",
    "r_solver_operator_mod": "r_solver_operator_type",
    "r_tran_field_mod": "r_tran_field_type",
    "r_tran_operator_mod": "r_tran_operator_type",
    "stages_mod": "is_different",
    "world_mod": (
        "coarse DEEPEST fine new_field renew_halos report_fields report_scalar report_stage"
    ),
}
"""The modules that an algorithm may use, with their names."""
NAMES = re.compile(r"[a-z]\w*")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a kernel.

    Attributes:
        text: the call, and before it that of a twin where the kernel has one.
        changes: calls of built-ins that change what it reads.
    """

    text: tuple[str, ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Caller:
    """One call as it is made up.

    Attributes:
        subject: the kernel.
        dummies: those of the subroutine that is meant.
        precision: the kind of numbers, where the kernel leaves it open.
        spaces: the function space that each wildcard stands for.
        work: the objects of the algorithm.
        taken: those that the call has.
    """

    subject: Subject
    dummies: tuple[Dummy, ...]
    precision: str
    spaces: dict[str, str]
    work: Workspace
    taken: set[str]

    def space(self, name: str) -> str:
        """Return a function space as Fortran."""
        concrete = self.spaces.get(name, name)
        return SPELLINGS.get(concrete, concrete.upper())

    def number(self, position: int) -> str:
        """Return the kind of the numbers of an argument."""
        own = [dummy for dummy in self.dummies if dummy.arg == position]
        kind = next(str(dummy.type.kind) for dummy in own if dummy.role in OWN_NUMBERS)
        return self.precision if kind in ("r_single", "r_double") else kind

    def actual(self, slot: Slot) -> str:
        """Return what is passed in a position."""
        match slot.kind:
            case SlotKind.EXTENT:
                return self.work.choose(*EXTENTS)
            case SlotKind.DIRECTION:
                return self.work.choose(*DIRECTIONS)
            case SlotKind.QUADRATURE:
                return self.work.rule(self.subject.kernel.quadratures[slot.number])
            case SlotKind.HALO_DEPTH:
                far = any(arg.stencil for arg in self.subject.kernel.args)
                return "1" if far else self.work.choose("2", "halo_depth")
            case SlotKind.ARGUMENT:
                return self.argument(slot.number, self.subject.kernel.args[slot.number])

    def argument(self, position: int, arg: KernelArg) -> str:
        """Return what is passed for an argument of the metadata."""
        match arg.kind:
            case ArgKind.FIELD:
                return self.work.take(self.field(position, arg), self.taken)
            case ArgKind.OPERATOR | ArgKind.COLUMNWISE_OPERATOR:
                number = self.number(position) if arg.kind is ArgKind.OPERATOR else ""
                to, source = map(self.space, arg.spaces)
                return self.work.take(MatrixKind(number, to, source), self.taken)
            case ArgKind.SCALAR_ARRAY:
                return self.work.array(arg.intrinsic, self.number(position), arg.rank)
            case _:
                return self.work.scalar(arg.intrinsic, self.number(position))

    def field(self, position: int, arg: KernelArg) -> FieldKind:
        """Return what field an argument is.

        A kernel that the algorithm sends into the halo is trusted to know where its stencils may
        look: no exchange goes deeper for them (`domains/lfric/rules.py`), so that it has other
        neighbours there than the owner of a cell.
        """
        mesh, number = MESHES[arg.mesh], self.number(position)
        kernel = self.subject.kernel
        looks_around = kernel.iteration.takes_halo_depth and any(one.stencil for one in kernel.args)
        trusted = looks_around and arg.access.writes
        return FieldKind(number, self.space(arg.space), mesh, arg.vector, trusted)


def calls_of(subject: Subject, work: Workspace, turn: int) -> Iterator[Call]:
    """Yield the calls of a kernel: one, or one for each precision that it is written for."""
    kernel = subject.kernel
    generic = len(subject.implementations) > 1
    for precision in EVERY_PRECISION if generic else ("r_def",):
        spaces = choose_spaces(subject, turn)
        caller = Caller(subject, subject.implementations[0][1], precision, spaces, work, set())
        slots = slots_of(kernel)
        actuals = [caller.actual(slot) for slot in slots]
        texts = [f"{kernel.name}({', '.join(actuals)})"]
        if kernel.iteration is Iteration.HALO_CELL_COLUMN:
            texts.insert(0, f"{twin_of(kernel.name)}({', '.join(actuals[:-1])})")
        yield Call(tuple(texts), tuple(changes_of(caller, slots, actuals)))


def choose_spaces(subject: Subject, turn: int) -> dict[str, str]:
    """Return a function space for each wildcard of a kernel, others at each turn.

    Where a kernel looks at boundary dofs, there have to be some.
    """
    chosen: dict[str, str] = {}
    names = [name for arg in subject.kernel.args for name in arg.spaces]
    for place, name in enumerate(dict.fromkeys(names), turn):
        if name == "any_w2":
            chosen[name] = ANY_W2_MEMBERS[turn % len(ANY_W2_MEMBERS)]
        elif takes_boundary(subject):
            chosen[name] = "w2"
        elif is_wildcard(name):
            both = name.startswith("any_space") and subject.kernel.cma is None
            choices = ANY if both else DISCONTINUOUS
            chosen[name] = choices[place % len(choices)]
    return chosen


def changes_of(caller: Caller, slots: Iterable[Slot], actuals: list[str]) -> Iterator[str]:
    """Yield a built-in that changes the first field that a call reads."""
    for slot, actual in zip(slots, actuals, strict=True):
        if slot.kind is not SlotKind.ARGUMENT:
            continue
        arg = caller.subject.kernel.args[slot.number]
        if arg.kind is not ArgKind.FIELD or arg.access is not Access.READ or arg.vector > 1:
            continue
        number = caller.number(slot.number)
        if arg.intrinsic is Intrinsic.INTEGER:
            yield f"int_inc_a_plus_X(1_{number}, {actual})"
        else:
            yield f"inc_a_plus_X(1.0_{number}, {actual})"
        return


def write_kernel_algorithm(name: str, subjects: list[Subject], turn: int) -> str:
    """Return an algorithm that calls some kernels."""
    work = Workspace(name)
    calls = [
        call for n, subject in enumerate(subjects) for call in calls_of(subject, work, turn + n)
    ]
    first = [text for call in calls for text in call.text]
    again = [text for call in reversed(calls) for text in (*call.changes, *call.text)]
    kernels = [subject.kernel for subject in subjects]
    uses = [f"use {kernel.module}, only: {kernel.name}" for kernel in kernels]
    uses += [
        f"use {twin_of(kernel.module)}, only: {twin_of(kernel.name)}"
        for kernel in kernels
        if kernel.iteration is Iteration.HALO_CELL_COLUMN
    ]
    body = [
        "do clean = 0, DEEPEST, DEEPEST",
        *stage(work, "first", first),
        *stage(work, "again", again),
        "end do",
        "call report_fields()",
    ]
    return write_algorithm(work, uses, body)


def stage(work: Workspace, name: str, calls: list[str]) -> Iterator[str]:
    """Yield an invoke that is entered with `clean` levels of all halos, and the report on it."""
    yield "call renew_halos(clean)"
    yield from invoke(name, calls)
    yield from work.showing()
    yield f"call report_stage('{name}', clean)"
    yield END_EARLY


def invoke(name: str, calls: list[str]) -> list[str]:
    """Return the lines of an invoke."""
    listed = [f"  {call}, &" for call in calls]
    return [f"call invoke(name='{name}', &", *listed[:-1], listed[-1].replace(", &", ")")]


def write_algorithm(work: Workspace, uses: list[str], body: list[str]) -> str:
    """Return the module of an algorithm that has the objects of a workspace."""
    name = work.name
    routine = [
        "!> Make the objects, call all kernels and report the answers.",
        f"subroutine run_{name}()",
        "integer(i_def) :: clean, direction, extent, extents(2), halo_depth, n",
        "type(settings_type) :: settings",
        *work.declarations(),
        *VALUES,
        *work.setup(),
        *body,
        f"end subroutine run_{name}",
    ]
    lines = [
        f"!> Calls of kernels and built-ins: {name}.",
        f"module {name}_alg_mod",
        *imports_for("\n".join(routine)),
        *uses,
        "implicit none",
        "private",
        f"public :: run_{name}",
        "contains",
        *routine,
        f"end module {name}_alg_mod",
    ]
    return "\n".join(lines) + "\n"


def imports_for(text: str) -> Iterator[str]:
    """Yield statements that import what a text uses: reading modules takes most of the time."""
    words = set(NAMES.findall(text.lower()))
    for module, names in USES.items():
        if used := [name for name in names.split() if name.lower() in words]:
            yield f"use {module}, only: {', '.join(used)}"
