"""The variables of a generated routine, each declared and initialised once.

Lowering requests a quantity by a key. The first request declares a variable and records the
statements that set it; later requests return the same variable. Unused quantities are neither
declared nor computed. The statements are grouped into sections, whose order follows their
dependences. This module is independent of infrastructure and language.
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
    """Section of set-up statements, in output order; the value is the heading."""

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
    CACHES = "Values cached between calls"
    TOPOLOGY = "Neighbours on the mesh"
    CHECKS = "Run-time checks"
    BOUNDS = "Bounds of loops"
    COUNTERS = ""


def colons(rank: int) -> tuple[Range, ...]:
    """Return the shape of an array with deferred or assumed extents."""
    return (Range(),) * rank


class ModuleImports:
    """The names that a module imports from other modules.

    A name that is already `taken` gets a local name, as does a name that several modules provide.
    Entities of the module `own` need no import.
    """

    def __init__(self, taken: Iterable[str] = (), own: str = "") -> None:
        self._names = NameTable(taken)
        self._own = key_of(own)
        self._locals: dict[tuple[str, str], str] = {}
        self._helpers: dict[str, un.GeneratedRoutine] = {}

    def procedure(self, wish: str) -> str:
        """Return an unused name for a procedure of the module, similar to `wish`."""
        return self._names.fresh(wish)

    def helper(self, wish: str, make: Callable[[str], un.GeneratedRoutine]) -> str:
        """Return the name of the shared procedure `wish`; `make` creates it on first request."""
        if wish not in self._helpers:
            self._helpers[wish] = make(self.procedure(wish))
        return self._helpers[wish].name

    def helpers(self) -> tuple[un.GeneratedRoutine, ...]:
        """Return the procedures shared by routines of the module."""
        return tuple(self._helpers.values())

    def local(self, module: str, name: str) -> str:
        """Return the local name of `name` in `module`; import it if necessary."""
        if key_of(module) == self._own:
            return name
        key = (key_of(module), key_of(name))
        if key not in self._locals:
            self._locals[key] = self._names.fresh(name)
        return self._locals[key]

    def uses(self) -> tuple[un.Use, ...]:
        """Return one `Use` per module, in alphabetical order."""
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
    """The variables and set-up statements of one routine.

    The object is mutable and belongs to the lowering of one routine. `home_of_kind` returns the
    module of a kind parameter. Variables do not use names that are `taken` or in `shared`, a set of
    keys common to the routines of a module. `procedures` are called only by this routine.
    """

    def __init__(
        self,
        imports: ModuleImports,
        taken: Iterable[str],
        home_of_kind: Callable[[str], str],
        shared: Set[str] = frozenset(),
    ) -> None:
        self.imports = imports
        self._taken = keys_of(taken)
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
        self._directives: dict[un.DirectiveLine | un.ReductionLine, None] = {}
        self.procedures: list[un.GeneratedRoutine] = []

    def within(self, free: frozenset[str], known: Iterable[str]) -> Workspace:
        """Return the workspace of another procedure of the module.

        Names with keys in `free` may be used there; names in `known` may not, because other
        variables have them.
        """
        taken = (self._taken - free) | keys_of(known)
        shared = self._shared if self._shared.isdisjoint(free) else self._shared - free
        return Workspace(self.imports, taken, self._home_of_kind, shared)

    # ------------------------------------------------------------------ asking

    def fresh(self, wish: str) -> Name:
        """Return a variable with an unused name similar to `wish`; the caller declares it."""
        return Name(self._names.fresh(wish))

    def first(self, key: Hashable) -> bool:
        """Return whether `key` is requested for the first time."""
        if key in self._known:
            return False
        self._known[key] = Name("")
        return True

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the value cached for `key`; `make` creates it on first request."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: Kept = self._kept[key]
        return kept

    def variable(self, section: SetupSection, key: Hashable, wished: un.Declare) -> Name:
        """Return the variable for `key`, declared like `wished` on first request."""
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
        """Return the variable for `key`, to which `value` is assigned in the set-up."""
        known = self._known.get(key)
        if known is not None:
            return known
        name = self.variable(section, key, wished)
        self.add(section, un.Assign(name, value))
        return name

    def pointer(
        self, section: SetupSection, key: Hashable, wished: un.Declare, target: Expr
    ) -> Name:
        """Return the pointer for `key`, which is associated with `target` in the set-up."""
        known = self._known.get(key)
        if known is not None:
            return known
        pointing = replace(wished, attributes=("pointer", *wished.attributes))
        name = self.variable(section, key, pointing)
        self.add(section, un.PointerAssign(name, target))
        return name

    def add(self, section: SetupSection, *lines: un.Line) -> None:
        """Append statements to a section."""
        self._lines[section] += lines

    def releases(self, array: Expr) -> None:
        """Record that `array` must be deallocated at the end of the routine."""
        self._allocated.append(array)

    def at_end(self, *lines: un.Line) -> None:
        """Add statements at the end of the routine, before arrays are deallocated."""
        self._endings += lines

    def specify(self, directive: un.DirectiveLine | un.ReductionLine) -> None:
        """Add a directive after the declarations of the routine, once."""
        self._directives[directive] = None

    def asked_for(self, first: str) -> tuple[tuple[tuple[Any, ...], Name], ...]:
        """Return the variables whose keys are tuples that begin with `first`."""
        return tuple(
            (key, name)
            for key, name in self._known.items()
            if isinstance(key, tuple) and key[:1] == (first,)
        )

    def found(self, name: str) -> tuple[SetupSection, un.Declare] | None:
        """Return the section and declaration of the variable `name`, or None."""
        for section, group in self._declared.items():
            for declared in group:
                if declared.name == name:
                    return section, declared
        return None

    # ------------------------------------------------------------------ results

    def dummy(self, wished: un.Declare) -> un.Declare:
        """Return the declaration of a dummy argument with the given name, with imported types."""
        return replace(wished, type=self._imported(wished.type))

    def declarations(self) -> tuple[un.Declare, ...]:
        """Return the declarations of all variables, in section order."""
        return tuple(declared for group in self._declared.values() for declared in group)

    def declared_in(self, section: SetupSection) -> tuple[un.Declare, ...]:
        """Return the declarations of the variables in a section."""
        return tuple(self._declared[section])

    def directives(self) -> tuple[un.DirectiveLine | un.ReductionLine, ...]:
        """Return the directives after the declarations."""
        return tuple(self._directives)

    def set_up(self) -> tuple[un.Line, ...]:
        """Return the statements of all sections, with headings."""
        lines: list[un.Line] = []
        for section, group in self._lines.items():
            if group:
                lines += [un.Comment(section.value), *group, un.Blank()]
        return tuple(lines)

    def tear_down(self) -> tuple[un.Line, ...]:
        """Return the statements at the end of the routine, including deallocation."""
        released = (un.Deallocate(tuple(self._allocated)),) if self._allocated else ()
        ending = (*self._endings, *released)
        return (un.Blank(), *ending) if ending else ()

    def _imported(self, type_: DataType) -> DataType:
        """Return a type with its names imported."""
        match type_:
            case DerivedType(name, module) if module is not None:
                return DerivedType(self.imports.local(module, name))
            case ScalarType(intrinsic, kind) if kind is not None:
                return ScalarType(intrinsic, self.kind(kind))
        return type_

    def kind(self, kind: str) -> str:
        """Return the name of a kind parameter, imported; other text is returned unchanged."""
        known = self._kinds.get(kind)
        if known is None:
            is_name = kind.isidentifier()
            known = self.imports.local(self._home_of_kind(kind), kind) if is_name else kind
            self._kinds[kind] = known
        return known

    def imported_kind(self, kind: str, uses: tuple[un.Use, ...]) -> str:
        """Return the local name of a kind parameter of code with the imports `uses`."""
        for use in uses:
            for name in use.names:
                if name.key == key_of(kind):
                    return self.imports.local(use.module, name.original)
        return self.kind(kind)

    def constant(self, value: Expr) -> Expr:
        """Return an expression of the algorithm; import the kind parameters in it."""
        for part in walk(value):
            if isinstance(part, Literal) and part.kind:
                self.kind(part.kind)
        return value
