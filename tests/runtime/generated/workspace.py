"""What a generated algorithm declares and makes: fields, operators, scalars, quadratures.

Owns the choice of an object for an argument. Objects of a kind are used in turn by the calls of an
algorithm, so that what one kernel writes another reads; a call has each at most once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from psyclone_storage.infrastructures.lfric import QUADRATURE_TYPES
from psyclone_storage.ir.kernel import BasisShape
from psyclone_storage.ir.types import Intrinsic

FIELD_TYPES = {
    "r_def": "field_type",
    "r_solver": "r_solver_field_type",
    "r_tran": "r_tran_field_type",
    "r_bl": "r_bl_field_type",
    "i_def": "integer_field_type",
}
OPERATOR_TYPES = {
    "r_def": "operator_type",
    "r_solver": "r_solver_operator_type",
    "r_tran": "r_tran_operator_type",
}
RULES = {
    BasisShape.XYOZ: "quadrature_xyoz_type(3, quadrature_rule_gaussian_type())",
    BasisShape.FACE: "quadrature_face_type(2, .true., .true., fine%get_reference_element(), &\n"
    "      quadrature_rule_gaussian_type())",
    BasisShape.EDGE: "quadrature_edge_type(2, .true., .true., fine%get_reference_element(), &\n"
    "      quadrature_rule_gaussian_type())",
}
EXTENTS = ("1", "extent", "extents(2)", "settings%reach", "2")
DIRECTIONS = ("x_direction", "y_direction", "direction")
LOGICALS = (".true.", "is_wet")


@dataclass(frozen=True, slots=True)
class FieldKind:
    """What a field is; fields of the same kind may stand for each other.

    Attributes:
        number: the kind of the numbers in it.
        space: the function space, as Fortran.
        mesh: `fine` or `coarse`.
        vector: the number of components.
        trusted: whether its halo holds what a kernel is trusted to put there, not what the owner
            of a cell has.
    """

    number: str
    space: str
    mesh: str = "fine"
    vector: int = 1
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class MatrixKind:
    """What an operator is; `number` is empty for a columnwise one."""

    number: str
    to: str
    source: str


@dataclass(slots=True)
class Workspace:
    """The objects of one algorithm.

    Attributes:
        name: the name of the algorithm.
        turn: how many choices have been made.
        objects: those there are, by kind.
        scalars: the declarations of scalars by name.
        rules: the shapes of the quadratures.
    """

    name: str
    turn: int = 0
    objects: dict[FieldKind | MatrixKind, list[str]] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    rules: set[BasisShape] = field(default_factory=set)

    def take(self, kind: FieldKind | MatrixKind, taken: set[str]) -> str:
        """Return an object of a kind that a call does not have yet, and add it to those it has."""
        there = self.objects.setdefault(kind, [])
        free = [name for name in there if name not in taken]
        if not free or len(there) < 2:
            stem = "a" if isinstance(kind, MatrixKind) else "trusted_" if kind.trusted else "x"
            free = [f"{stem}{sum(map(len, self.objects.values())) + 1}"]
            there.append(free[0])
        self.turn += 1
        chosen = free[self.turn % len(free)]
        taken.add(chosen)
        return chosen

    def choose(self, *choices: str) -> str:
        """Return one of several ways to say something."""
        self.turn += 1
        return choices[self.turn % len(choices)]

    def scalar(self, intrinsic: Intrinsic, number: str) -> str:
        """Return a scalar of a kind: a literal or a variable."""
        match intrinsic:
            case Intrinsic.REAL:
                self.scalars[f"factor_{number}"] = f"real(kind={number}) :: factor_{number}"
                return self.choose(f"factor_{number}", f"2.0_{number}")
            case Intrinsic.INTEGER:
                self.scalars["count_of"] = "integer(i_def) :: count_of"
                return self.choose("count_of", "3_i_def")
            case _:
                self.scalars["is_wet"] = "logical(l_def) :: is_wet"
                return self.choose(*LOGICALS)

    def array(self, intrinsic: Intrinsic, number: str, rank: int) -> str:
        """Return an array of scalars."""
        name = f"{intrinsic.value}_table_{rank}"
        shape = ", ".join(str(extent) for extent in (2, 3, 4)[:rank])
        self.scalars[name] = f"{intrinsic.value}({number}) :: {name}({shape})"
        return name

    def rule(self, shape: BasisShape) -> str:
        """Return the quadrature of a shape."""
        self.rules.add(shape)
        return f"rule_{shape.name.lower()}"

    # -------------------------------------------------------------- as Fortran

    def declarations(self) -> Iterator[str]:
        """Yield the declarations."""
        for kind, names in self.objects.items():
            for name in names:
                match kind:
                    case FieldKind(number, vector=1):
                        yield f"type({FIELD_TYPES[number]}) :: {name}"
                    case FieldKind(number, vector=vector):
                        yield f"type({FIELD_TYPES[number]}), dimension({vector}) :: {name}"
                    case MatrixKind(number):
                        type_name = OPERATOR_TYPES.get(number, "columnwise_operator_type")
                        yield f"type({type_name}) :: {name}"
                        yield f"type(field_type) :: shown_{name}"
        for shape in sorted(self.rules, key=lambda shape: shape.name):
            yield f"type({QUADRATURE_TYPES[shape].name}) :: {self.rule(shape)}"
        yield from self.scalars.values()

    def setup(self) -> Iterator[str]:
        """Yield the statements that make the objects."""
        seed = 0
        for kind, names in self.objects.items():
            for name in names:
                seed += 1
                yield from self.making(kind, name, seed)
        for shape in sorted(self.rules, key=lambda shape: shape.name):
            yield f"{self.rule(shape)} = {RULES[shape]}"
        for name, declaration in self.scalars.items():
            yield f"{name} = {initial_value(name, declaration)}"

    def making(self, kind: FieldKind | MatrixKind, name: str, seed: int) -> Iterator[str]:
        """Yield the statements that make one object."""
        path = f"'{self.name}/{name}"
        match kind:
            case MatrixKind(_, to, source):
                yield f"call new_matrix({name}, {to}, {source}, {seed})"
                yield f"call new_field(shown_{name}, W3, {path}', {seed})"
            case FieldKind(_, space, mesh, vector=1):
                yield f"call new_field({name}, {space}, {path}', {seed}, mesh={mesh})"
            case FieldKind(_, space, mesh, vector=vector):
                for part in range(1, vector + 1):
                    whole = f"{name}({part}), {space}, {path}_{part}'"
                    yield f"call new_field({whole}, {seed + part}, mesh={mesh})"

    def showing(self) -> Iterator[str]:
        """Yield the statements that put what operators hold into fields."""
        for kind, names in self.objects.items():
            if isinstance(kind, MatrixKind):
                yield from (f"call show_matrix({name}, shown_{name})" for name in names)


def initial_value(name: str, declaration: str) -> str:
    """Return the value of a scalar or of an array of scalars."""
    if "_table_" not in name:
        number = declaration.partition("=")[2].partition(")")[0]
        return {"count_of": "5", "is_wet": ".false."}.get(name, f"3.0_{number}")
    extents = declaration.rpartition("(")[2].rstrip(")")
    value = {"l": "modulo(n, 2) == 0", "i": "n", "r": "real(n, r_def)"}[name[0]]
    return f"reshape([({value}, n = 1, size({name}))], [{extents}])"
