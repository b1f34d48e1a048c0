"""Random LFRic schedules: every kind of loop, access, space, stencil and extent, seeded.

What is built is legal: metadata that LFRic accepts, loops that run as far as the rules of LFRic
say or, as a script may have asked, further into the halo.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from psyclone_storage.analysis.footprints import UserAssertions
from psyclone_storage.analysis.schedules.nests import check_fuse_neighbours
from psyclone_storage.domains.lfric.rules import LfricRules, iteration_argument
from psyclone_storage.infrastructures.lfric import is_continuous
from psyclone_storage.ir.expr import Binary, Expr, Literal, Name
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Formula,
    Iteration,
    Kernel,
    KernelArg,
    MeshRole,
    ReductionOp,
    StencilShape,
)
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.region import WHOLE, Depth
from psyclone_storage.ir.schedule import (
    Actual,
    Datum,
    Extent,
    KernelCall,
    Loop,
    Over,
    Reach,
    Schedule,
)
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType

RULES = LfricRules()
CONTINUOUS = ("w0", "w1", "w2", "w2h", "w2trace")
DISCONTINUOUS = ("w3", "wtheta", "w2v", "w2broken")
ONE = Literal("1", Intrinsic.INTEGER)
EXTENTS = ("reach", "width")


@dataclass(frozen=True)
class Field:
    """A field or field vector and the space that it really lives on."""

    name: str
    space: str
    vector: int = 1

    @property
    def shared(self) -> bool:
        return self.space in CONTINUOUS


@dataclass(frozen=True)
class Case:
    """A schedule without exchanges, and what its fields really are."""

    schedule: Schedule
    fields: tuple[Field, ...]

    @property
    def shared(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields if field.shared)


class Maker:
    """Make one random case from one seed."""

    def __init__(self, seed: int, *, aliased: bool = False) -> None:
        self.rng = random.Random(seed)
        self.aliased = aliased
        self.spaces = CONTINUOUS + DISCONTINUOUS
        if aliased:
            self.spaces = (self.rng.choice(CONTINUOUS), self.rng.choice(DISCONTINUOUS))
        self.fields = tuple(self._field(number) for number in range(self.rng.randint(1, 4)))
        self.base = Schedule(
            name=f"random_{seed}",
            data=tuple(self._data()),
            body=(),
            distributed=True,
            annexed_clean=self.rng.random() < 0.5,
        )

    def case(self) -> Case:
        loops: list[Loop] = []
        wanted = self.rng.randint(1, 6)
        while len(loops) < wanted:
            loop = self._loop(len(loops))
            if loop is not None:
                loops.append(loop)
        case = Case(replace(self.base, body=tuple(loops)), self.fields)
        return with_aliases(case) if self.aliased else case

    def fused(self, case: Case) -> Case:
        """Return the case with neighbouring loops made one wherever that is allowed."""
        schedule = case.schedule
        for first, second in itertools.pairwise(case.schedule.body):
            before = next((item for item in schedule.body if item.uid == first.uid), None)
            if before is None:
                continue
            if check_fuse_neighbours(
                schedule, RULES, first.uid, second.uid, UserAssertions(same_space=True)
            ):
                continue
            joined = replace(before, body=before.body + second.body)
            body = [item for item in schedule.body if item.uid != second.uid]
            schedule = replace(
                schedule, body=tuple(joined if item is before else item for item in body)
            )
        return replace(case, schedule=schedule)

    def _field(self, number: int) -> Field:
        space = self.rng.choice(self.spaces)
        return Field(f"f{number}", space, self.rng.choice((1, 1, 1, 2, 3)))

    def _data(self) -> Iterator[Datum]:
        for field in self.fields:
            kind = DerivedType("field_type")
            yield Datum(field.name, Name(field.name), kind, kind=ArgKind.FIELD, vector=field.vector)
        kind = DerivedType("operator_type")
        yield Datum("op", Name("op"), kind, kind=ArgKind.OPERATOR)
        yield Datum("s", Name("s"), ScalarType(Intrinsic.REAL, "r_def"), kind=ArgKind.SCALAR)

    def _loop(self, number: int) -> Loop | None:
        make = self.rng.choice(
            (self._columns,) * 5
            + (self._dofs,) * 3
            + (self._halo, self._intergrid, self._reduction)
        )
        call = make(number)
        if call is None:
            return None
        extent = RULES.initial_extent(call, self.base)
        over = Over.DOFS if call.kernel.iteration.over_dofs else Over.CELLS
        if call.kernel.iteration is Iteration.DOMAIN:
            over = Over.DOMAIN
        loop = Loop(f"loop{number}", over, extent, iteration_argument(call.kernel), (call,))
        around = any(arg.kind.is_operator and arg.stencil for arg in call.kernel.args)
        if around and RULES.check_extent(loop, call):
            return None
        wider = self._wider(loop, call)
        loop = loop if RULES.check_extent(wider, call) else wider
        colours = over is Over.CELLS and loop.extent.reach is not Reach.HALO_ONLY
        return self._coloured(loop) if colours and self.rng.random() < 0.2 else loop

    def _coloured(self, loop: Loop) -> Loop:
        inner = replace(loop, uid=f"{loop.uid}_cells", over=Over.CELLS_OF_COLOUR)
        return replace(loop, over=Over.COLOURS, body=(inner,))

    def _wider(self, loop: Loop, call: KernelCall) -> Loop:
        """Return the loop as redundant computation may have changed it."""
        iteration = call.kernel.iteration
        reduces = any(arg.access is Access.REDUCTION for arg in call.kernel.args)
        if iteration not in (Iteration.CELL_COLUMN, Iteration.DOF) or reduces:
            return loop
        if self.rng.random() > 0.3:
            return loop
        choices = [Depth.of(1), Depth.of(2), Depth.of(3)]
        choices += [] if call.kernel.is_intergrid else [WHOLE]
        return replace(loop, extent=Extent(Reach.HALO, self.rng.choice(choices)))

    # ------------------------------------------------------------------ kinds of calls

    def _columns(self, number: int) -> KernelCall | None:
        iteration = Iteration.CELL_COLUMN
        if self.rng.random() < 0.15:
            iteration = self.rng.choice((Iteration.OWNED_CELL_COLUMN, Iteration.DOMAIN))
        return self._cells(number, iteration)

    def _halo(self, number: int) -> KernelCall | None:
        iteration = self.rng.choice(
            (Iteration.HALO_CELL_COLUMN, Iteration.OWNED_AND_HALO_CELL_COLUMN)
        )
        call = self._cells(number, iteration)
        return call and replace(call, halo_depth=self._extent())

    def _cells(self, number: int, iteration: Iteration) -> KernelCall | None:
        args, actuals = [], []
        domain = iteration is Iteration.DOMAIN
        chosen = [field for field in self._some_fields() if not (domain and field.shared)]
        for at, field in enumerate(chosen):
            space = field.space if domain else self._space_name(field)
            access = self._cell_access(space, first=at == 0)
            stencil = access is Access.READ and not domain and self.rng.random() < 0.4
            args.append(self._arg(field, access, space, stencil))
            actuals.append(self._actual(field, args[-1]))
        if not args:
            return None
        if iteration is Iteration.CELL_COLUMN and self.rng.random() < 0.3:
            access = self.rng.choice((Access.READ, Access.READ, Access.WRITE, Access.READWRITE))
            around = access is Access.READ and self.rng.random() < 0.4
            shape = StencilShape.CROSS if around else None
            args.append(
                KernelArg(ArgKind.OPERATOR, Intrinsic.REAL, access, "w2", "w3", stencil=shape)
            )
            actuals.append(Actual("op", Name("op"), extent=ONE if around else None))
        if not domain and self.rng.random() < 0.2:
            args = self._masked(args)
        return self._call(number, iteration, args, actuals)

    def _masked(self, args: list[KernelArg]) -> list[KernelArg]:
        """Return the arguments with a mask, if one can be it, and accesses that go with it."""
        for at, arg in enumerate(args):
            if arg.access is Access.READ and arg.vector == 1 and not is_continuous(arg.space):
                kept = [replace(item, access=_partial(item)) for item in args]
                kept[at] = replace(arg, is_mask=True)
                return kept
        return args

    def _dofs(self, number: int) -> KernelCall | None:
        iteration = self.rng.choice(
            (*(Iteration.DOF,) * 4, *(Iteration.OWNED_DOF,) * 2, Iteration.OWNED_AND_HALO_DOF)
        )
        args, actuals = [], []
        builtin = not iteration.takes_halo_depth and self.rng.random() < 0.7
        for at, field in enumerate(self._some_fields()):
            writes = self.rng.choice((Access.WRITE, Access.READWRITE))
            space = "any_space_1" if builtin else self._space_name(field)
            args.append(self._arg(field, writes if at == 0 else Access.READ, space, False))
            actuals.append(self._actual(field, args[-1]))
        call = self._call(number, iteration, args, actuals)
        return replace(call, halo_depth=self._extent()) if iteration.takes_halo_depth else call

    def _reduction(self, number: int) -> KernelCall | None:
        field = self.rng.choice(self.fields)
        reduced = KernelArg(ArgKind.SCALAR, Intrinsic.REAL, Access.REDUCTION)
        read = self._arg(field, Access.READ, "any_space_1", False)
        actuals = [Actual("s", Name("s")), self._actual(field, read)]
        call = self._call(number, Iteration.DOF, [reduced, read], actuals)
        formula = Formula(("r", "X"), Name("X"), ReductionOp.SUM)
        return replace(call, kernel=replace(call.kernel, formula=formula))

    def _intergrid(self, number: int) -> KernelCall | None:
        if len(self.fields) < 2:
            return None
        pair = self.rng.sample(self.fields, 2)
        written = self.rng.randrange(2)
        args, actuals = [], []
        for at, (field, mesh) in enumerate(zip(pair, MeshRole, strict=True)):
            access = self._cell_access(field.space, first=True) if at == written else Access.READ
            args.append(replace(self._arg(field, access, field.space, False), mesh=mesh))
            actuals.append(self._actual(field, args[-1]))
        return self._call(number, Iteration.CELL_COLUMN, args, actuals)

    # ------------------------------------------------------------------ parts of calls

    def _some_fields(self) -> list[Field]:
        return self.rng.sample(self.fields, self.rng.randint(1, min(3, len(self.fields))))

    def _space_name(self, field: Field) -> str:
        """Return a name under which metadata may know the space of `field`."""
        names = [field.space, field.space, "any_space_1"]
        if not field.shared:
            names.append("any_discontinuous_space_1")
        if field.space in ("w2", "w2h", "w2v", "w2broken"):
            names.append("any_w2")
        return self.rng.choice(names)

    def _cell_access(self, space: str, *, first: bool) -> Access:
        if not first and self.rng.random() < 0.7:
            return Access.READ
        discontinuous = space in DISCONTINUOUS or space.startswith("any_discontinuous")
        if discontinuous:
            return self.rng.choice((Access.WRITE, Access.READWRITE))
        return self.rng.choice((Access.WRITE, Access.INC, Access.INC, Access.READINC))

    def _arg(self, field: Field, access: Access, space: str, stencil: bool) -> KernelArg:
        shape = StencilShape.CROSS if stencil else None
        return KernelArg(
            ArgKind.FIELD, Intrinsic.REAL, access, space, vector=field.vector, stencil=shape
        )

    def _actual(self, field: Field, described: KernelArg) -> Actual:
        extent = self._extent() if described.stencil else None
        component = None
        if field.vector > 1 and self.rng.random() < 0.3:
            component = self.rng.randint(1, field.vector)
        return Actual(field.name, Name(field.name), component, extent)

    def _extent(self) -> Expr:
        if self.rng.random() < 0.5:
            return Literal(str(self.rng.randint(1, 3)), Intrinsic.INTEGER)
        if self.rng.random() < 0.1:
            return Binary(Operator.PLUS, Name("reach"), Literal("1", Intrinsic.INTEGER))
        return Name(self.rng.choice(EXTENTS))

    def _call(
        self, number: int, iteration: Iteration, args: list[KernelArg], actuals: list[Actual]
    ) -> KernelCall:
        kernel = Kernel(f"kernel{number}_type", "m", "code", iteration, tuple(args))
        return KernelCall(f"call{number}", kernel, tuple(actuals))


def _partial(arg: KernelArg) -> Access:
    """Return the access of a kernel that leaves out cells."""
    if arg.access is not Access.WRITE:
        return arg.access
    shared = arg.kind is ArgKind.FIELD and is_continuous(arg.space)
    return Access.INC if shared else Access.READWRITE


def with_aliases(case: Case) -> Case:
    """Return the case with fields that may be one object: those on one space, vectors included."""
    spaces = {field.name: field.space for field in case.fields}

    def aliased(datum: Datum) -> Datum:
        others = (
            name
            for name, space in spaces.items()
            if name != datum.name and space == spaces.get(datum.name)
        )
        return replace(datum, may_alias=tuple(others))

    data = tuple(map(aliased, case.schedule.data))
    return replace(case, schedule=replace(case.schedule, data=data))


def random_case(seed: int, *, fused: bool = False, aliased: bool = False) -> Case:
    """Return the random case that belongs to `seed`.

    One with aliases has fields on two spaces alone, so that there are some.
    """
    maker = Maker(seed, aliased=aliased)
    case = maker.case()
    return maker.fused(case) if fused else case
