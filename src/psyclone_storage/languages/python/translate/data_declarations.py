"""Creation of data in Python algorithms, by API.

In GOcean an algorithm creates its grid and fields. In LFRic the model creates fields, because it
has the meshes and function spaces, and passes them to algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.infrastructures import gocean as words
from psyclone_storage.infrastructures import lfric, lfric_words
from psyclone_storage.ir.expr import ArrayLiteral, Expr, Index, Member, Name, spell
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.unit import Assign, Call
from psyclone_storage.languages.python.translate.algorithm_names import AlgorithmNames
from psyclone_storage.languages.python.translate.values import NoPythonError

_POINTS = {f"go_{place}_points": f"Points.{place.upper()}" for place in "tuvf"}
_OFFSETS = {words.NORTH_EAST: "Offset.NORTH_EAST", words.SOUTH_WEST: "Offset.SOUTH_WEST"}
_WHOLE_GRID = 3


class DataForm(Protocol):
    """Interface for the creation of data in one procedure."""

    @property
    def module(self) -> str:
        """Module that exports the names used in kernels and invokes."""

    @property
    def runtime(self) -> str:
        """Module that exports the functions that create data."""

    @property
    def imports(self) -> Mapping[str, None]:
        """Names to be imported from `runtime`."""

    @property
    def first(self) -> int:
        """Index of the first element of an array."""

    @property
    def words(self) -> frozenset[str]:
        """Keys of names that are kept unchanged."""

    @property
    def built_ins(self) -> Mapping[str, str]:
        """Built-ins that can be called in invokes, by key."""

    @property
    def reducing(self) -> frozenset[str]:
        """Keys of the built-ins whose first argument is a computed number."""

    @property
    def types(self) -> frozenset[str]:
        """Names of the types that must be annotated."""

    def is_made(self, type_name: str) -> bool:
        """Return whether statements of the procedure create variables of a derived type."""

    def made(self, numbers: AlgorithmNames, line: Assign) -> list[str] | None:
        """Return the statements that create data for an assignment, or None for others."""
        raise NotImplementedError

    def called(self, numbers: AlgorithmNames, line: Call) -> list[str]:
        """Return the statements that create data for a call.

        Raises:
            NoPythonError: the called procedure is unknown.
        """


@dataclass(frozen=True, slots=True)
class ColumnData:
    """Data of LFRic, which procedures receive as arguments."""

    imports: dict[str, None] = field(default_factory=dict)
    module: str = "psyclone_storage.lfric"
    runtime: str = ""
    first: int = 0
    words: frozenset[str] = frozenset(lfric_words.DIRECTIONS)

    @property
    def built_ins(self) -> Mapping[str, str]:
        """Built-ins by key."""
        return {key_of(name): name for name in lfric_words.BUILTINS}

    @property
    def reducing(self) -> frozenset[str]:
        """Keys of the built-ins that compute a number."""
        formulas = (one.partition("(") for one in lfric_words.REAL_BUILTINS.split("\n"))
        return frozenset(key_of(name) for name, _, rest in formulas if rest.startswith("r, "))

    @property
    def types(self) -> frozenset[str]:
        """Types that metadata do not determine."""
        return frozenset(lfric_words.DECLARED_TYPES) - lfric.TOLD_BY_METADATA

    def is_made(self, type_name: str) -> bool:
        """Return False, because only the model creates fields."""
        return False

    def made(self, numbers: AlgorithmNames, line: Assign) -> list[str] | None:
        """Return None, because no assignment creates data."""
        return None

    def called(self, numbers: AlgorithmNames, line: Call) -> list[str]:
        """Raise `NoPythonError`, because no known procedure creates data."""
        raise NoPythonError(f"it is not known what '{spell(line.procedure)}' does")


@dataclass(frozen=True, slots=True)
class GridData:
    """Grids and fields of GOcean; `grids` contains the data collected for each grid so far."""

    imports: dict[str, None] = field(default_factory=dict)
    grids: dict[str, list[str]] = field(default_factory=dict)
    module: str = "psyclone_storage.gocean"
    runtime: str = "psyclone_storage.runtime.gocean"
    first: int = 1
    words: frozenset[str] = frozenset()

    @property
    def built_ins(self) -> Mapping[str, str]:
        """Empty mapping: GOcean has no built-ins."""
        return {}

    @property
    def reducing(self) -> frozenset[str]:
        """Empty set: GOcean has no built-ins."""
        return frozenset()

    @property
    def types(self) -> frozenset[str]:
        """Empty set: metadata determine all types."""
        return frozenset()

    def is_made(self, type_name: str) -> bool:
        """Return True, because procedures create grids and fields."""
        return True

    def made(self, numbers: AlgorithmNames, line: Assign) -> list[str] | None:
        """Return the Python line that creates a field, for an assignment to a field.

        For an assignment to a grid return no lines, and record its boundary conditions.
        """
        if not isinstance(line.target, Name):
            return None
        key, name = line.target.key, numbers.name(line.target.text)
        match line.value:
            case Index(Name() as made, (_, ArrayLiteral(bounds), Name() as offset)) if (
                made.key == "grid_type"
            ):
                self.grids[key] = [_periodic(bounds), self._word(offset, _OFFSETS, "Offset")]
                return []
            case Index(Name() as made, (grid, Name() as points)) if made.key == "r2d_field":
                where = self._word(points, _POINTS, "Points")
                self.imports["Field"] = None
                return [f'{name} = Field({numbers.passed(grid)}, {where}, "{name}")']
        return None

    def _word(self, name: Name, table: dict[str, str], kind: str) -> str:
        if name.key not in table:
            raise NoPythonError(f"'{name.text}' is no word of grids in Python")
        self.imports[kind] = None
        return table[name.key]

    def called(self, numbers: AlgorithmNames, line: Call) -> list[str]:
        """Return the creation of a grid when all of its properties are known."""
        match line.procedure, line.args:
            case Member(Name() as grid, "decompose" | "DECOMPOSE"), (columns, rows) if (
                grid.key in self.grids
            ):
                points = f"({numbers.passed(columns)}, {numbers.passed(rows)})"
                self.grids[grid.key].append(points)
                return []
            case Name() as procedure, (Name() as grid, dx, dy) if (
                procedure.key == "grid_init" and len(self.grids.get(grid.key, ())) == _WHOLE_GRID
            ):
                periodic, offset, points = self.grids[grid.key]
                spacing = f"({numbers.passed(dx)}, {numbers.passed(dy)})"
                self.imports["Grid"] = None
                name = numbers.name(grid.text)
                return [f"{name} = Grid({points}, {spacing}, periodic={periodic}, offset={offset})"]
        raise NoPythonError(f"it is not known what '{spell(line.procedure)}' does")


def _periodic(bounds: tuple[Expr, ...]) -> str:
    known = ("go_bc_periodic", "go_bc_external", "go_bc_none")
    ends = [bound.key if isinstance(bound, Name) else "" for bound in bounds[:2]]
    if any(end not in known for end in ends):
        raise NoPythonError("it is not known how the grid ends")
    return f"({', '.join(str(end == known[0]) for end in ends)})"
