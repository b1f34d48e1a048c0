"""The variables of one generated routine, each named, declared and set up once.

Lowering asks for a quantity by a key: the first request declares a variable and notes the
statements that give it its value, every further one returns the same variable. So nothing
is declared that is not used and nothing is computed twice. The statements are grouped in
sections, whose order is that of the dependences between them.

This file owns naming, imports and order. It knows no infrastructure and no language.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from enum import Enum
from typing import Any, TypeVar

from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Literal, Name, Range, walk
from psyclone_storage.ir.intrinsic_modules import INTRINSIC_MODULES
from psyclone_storage.ir.keys import key_of, keys_of
from psyclone_storage.ir.types import DataType, DerivedType, ScalarType

Kept = TypeVar("Kept")


class SetupSection(Enum):
    """A group of set-up statements, in the order in which groups are written, with its heading."""

    DATA = "Access to the data of fields and operators"
    LAYERS = "Numbers of layers"
    MESH = "Meshes and their halos"
    COLOURS = "Colours of cells"
    GRIDS = "Maps between meshes"
    STENCILS = "Stencils"
    DOFMAPS = "Maps from cells to dofs"
    COLUMNS = "Columnwise operators"
    BOUNDARY = "Dofs on the boundary"
    DOFS = "Numbers of dofs"
    SHAPES = "Shapes of array arguments"
    QUADRATURE = "Quadrature points and weights"
    BASIS = "Basis functions"
    ELEMENT = "The reference element"
    GRID = "Properties of the grid"
    TOPOLOGY = "Neighbours on the mesh"
    CHECKS = "Run-time checks"
    BOUNDS = "Bounds of loops"
    COUNTERS = ""


def colons(rank: int) -> tuple[Range, ...]:
    """Return the shape of an array of which the extents are not declared."""
    return (Range(),) * rank


class ModuleImports:
    """The names that a module takes from other modules.

    A name that is already `taken`, or that two modules both provide, gets a local name. Entities of
    the module `own` are available without an import.
    """

    def __init__(self, taken: Iterable[str] = (), own: str = "") -> None:
        self._names = NameTable(taken)
        self._own = key_of(own)
        self._locals: dict[tuple[str, str], str] = {}
        self._helpers: dict[str, un.GeneratedRoutine] = {}

    def procedure(self, wish: str) -> str:
        """Return a name for a procedure of this module: `wish`, or one like it."""
        return self._names.fresh(wish)

    def helper(self, wish: str, make: Callable[[str], un.GeneratedRoutine]) -> str:
        """Return the name of the procedure that all users request as `wish`.

        `make` makes it, from its name, at the first request.
        """
        if wish not in self._helpers:
            self._helpers[wish] = make(self.procedure(wish))
        return self._helpers[wish].name

    def helpers(self) -> tuple[un.GeneratedRoutine, ...]:
        """Return the procedures that several routines of the module may need."""
        return tuple(self._helpers.values())

    def local(self, module: str, name: str) -> str:
        """Return the name that `name` of `module` has here, importing it if need be."""
        if key_of(module) == self._own:
            return name
        key = (key_of(module), key_of(name))
        if key not in self._locals:
            self._locals[key] = self._names.fresh(name)
        return self._locals[key]

    def uses(self) -> tuple[un.Use, ...]:
        """Return one `Use` per module, modules and names in alphabetical order."""
        modules: dict[str, list[un.Imported]] = {}
        for (module, name), local in sorted(self._locals.items()):
            # Spelt as the local name if they differ in case only.
            original = local if key_of(local) == name else name
            modules.setdefault(module, []).append(un.Imported(local, original))
        return tuple(
            un.Use(module, tuple(names), module in INTRINSIC_MODULES)
            for module, names in modules.items()
        )


class Workspace:
    """The variables and set-up of one routine.

    It changes as quantities are requested, so it belongs to the one call that lowers a routine.
    `home_of_kind` returns the module that a kind parameter is imported from. No variable has a name
    that is `taken`, or in `shared`, a set of keys that the routines of a module have in common.
    `procedures` are those that only the routine calls.
    """

    def __init__(
        self,
        imports: ModuleImports,
        taken: Iterable[str],
        home_of_kind: Callable[[str], str],
        shared: Set[str] = frozenset(),
    ) -> None:
        self.imports = imports
        self._taken = tuple(taken)
        self._shared = shared
        self._names = NameTable(self._taken, shared)
        self._home_of_kind = home_of_kind
        self._known: dict[Hashable, Name] = {}
        self._kinds: dict[str, str] = {}
        self._kept: dict[Hashable, Any] = {}
        self._declared: dict[SetupSection, list[un.Declare]] = {
            section: [] for section in SetupSection
        }
        self._lines: dict[SetupSection, list[un.Line]] = {section: [] for section in SetupSection}
        self._allocated: list[Expr] = []
        self._endings: list[un.Line] = []
        self._directives: dict[un.ReductionLine, None] = {}
        self.procedures: list[un.GeneratedRoutine] = []

    def within(self, free: Iterable[str], known: Iterable[str]) -> Workspace:
        """Return the workspace of a procedure of the module.

        Names `free` are not taken there; those `known` are: variables of other modules have them.
        """
        untaken = keys_of(free)
        taken = (keys_of(self._taken) - untaken) | keys_of(known)
        apart = self._shared.isdisjoint(untaken)
        shared = self._shared if apart else self._shared - untaken
        return Workspace(self.imports, taken, self._home_of_kind, shared)

    # ------------------------------------------------------------------ asking

    def fresh(self, wish: str) -> Name:
        """Return a variable that is declared elsewhere: `wish`, or one like it."""
        return Name(self._names.fresh(wish))

    def first(self, key: Hashable) -> bool:
        """Return whether this is the first time that `key` is mentioned, and remember it."""
        if key in self._known:
            return False
        self._known[key] = Name("")
        return True

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return what `make` makes, which is made at the first request for `key`."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: Kept = self._kept[key]
        return kept

    def variable(self, section: SetupSection, key: Hashable, wished: un.Declare) -> Name:
        """Return the variable for `key`, declared as `wished` under that name or one like it."""
        known = self._known.get(key)
        if known is not None:
            return known
        name = Name(self._names.fresh(wished.name))
        self._known[key] = name
        type_ = self._imported(wished.type)
        self._declared[section].append(replace(wished, name=name.text, type=type_))
        return name

    def assigned(
        self, section: SetupSection, key: Hashable, wished: un.Declare, value: Expr
    ) -> Name:
        """Return the variable for `key`, which holds `value`."""
        known = self._known.get(key)
        if known is not None:
            return known
        name = self.variable(section, key, wished)
        self.add(section, un.Assign(name, value))
        return name

    def pointer(
        self, section: SetupSection, key: Hashable, wished: un.Declare, target: Expr
    ) -> Name:
        """Return the pointer for `key`, which points to `target`."""
        known = self._known.get(key)
        if known is not None:
            return known
        pointing = replace(wished, attributes=("pointer", *wished.attributes))
        name = self.variable(section, key, pointing)
        self.add(section, un.PointerAssign(name, target))
        return name

    def add(self, section: SetupSection, *lines: un.Line) -> None:
        """Put statements at the end of a section."""
        self._lines[section] += lines

    def releases(self, array: Expr) -> None:
        """Note that `array` has to be deallocated at the end of the routine."""
        self._allocated.append(array)

    def at_end(self, *lines: un.Line) -> None:
        """Put statements at the end of the routine, before arrays are deallocated."""
        self._endings += lines

    def specify(self, directive: un.ReductionLine) -> None:
        """Put a directive, once, after the declarations of the routine."""
        self._directives[directive] = None

    def asked_for(self, first: str) -> tuple[tuple[tuple[Any, ...], Name], ...]:
        """Return the keys that are tuples which begin with `first`, with their variables."""
        return tuple(
            (key, name)
            for key, name in self._known.items()
            if isinstance(key, tuple) and key[:1] == (first,)
        )

    def found(self, name: str) -> tuple[SetupSection, un.Declare] | None:
        """Return the declaration of the variable `name` and its section, None if missing."""
        for section, group in self._declared.items():
            for declared in group:
                if declared.name == name:
                    return section, declared
        return None

    # ------------------------------------------------------------------ results

    def dummy(self, wished: un.Declare) -> un.Declare:
        """Return the declaration of a dummy argument, whose name is given."""
        return replace(wished, type=self._imported(wished.type))

    def declarations(self) -> tuple[un.Declare, ...]:
        """Return the declarations of all variables, section by section."""
        return tuple(declared for group in self._declared.values() for declared in group)

    def declared_in(self, section: SetupSection) -> tuple[un.Declare, ...]:
        """Return the declarations of the variables of a section."""
        return tuple(self._declared[section])

    def directives(self) -> tuple[un.ReductionLine, ...]:
        """Return the directives after the declarations."""
        return tuple(self._directives)

    def set_up(self) -> tuple[un.Line, ...]:
        """Return the statements of all sections, each section under its heading."""
        lines: list[un.Line] = []
        for section, group in self._lines.items():
            if group:
                lines += [un.Comment(section.value), *group, un.Blank()]
        return tuple(lines)

    def tear_down(self) -> tuple[un.Line, ...]:
        """Return the statements that end the routine and give back what was allocated."""
        released = (un.Deallocate(tuple(self._allocated)),) if self._allocated else ()
        ending = (*self._endings, *released)
        return (un.Blank(), *ending) if ending else ()

    def _imported(self, type_: DataType) -> DataType:
        """Return a type whose names are imported."""
        match type_:
            case DerivedType(name, module) if module is not None:
                return DerivedType(self.imports.local(module, name))
            case ScalarType(intrinsic, kind) if kind is not None:
                return ScalarType(intrinsic, self.kind(kind))
        return type_

    def kind(self, kind: str) -> str:
        """Return the name of a kind parameter, imported; return other text unchanged."""
        known = self._kinds.get(kind)
        if known is None:
            is_name = kind.isidentifier()
            known = self.imports.local(self._home_of_kind(kind), kind) if is_name else kind
            self._kinds[kind] = known
        return known

    def imported_kind(self, kind: str, uses: tuple[un.Use, ...]) -> str:
        """Return the name of a kind parameter of code that imports it, or others, by `uses`."""
        for use in uses:
            for name in use.names:
                if name.key == key_of(kind):
                    return self.imports.local(use.module, name.original)
        return self.kind(kind)

    def constant(self, value: Expr) -> Expr:
        """Return an expression of the algorithm, of which the kinds of literals are imported."""
        for part in walk(value):
            if isinstance(part, Literal) and part.kind:
                self.kind(part.kind)
        return value
