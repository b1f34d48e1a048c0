"""Shapes of actual and dummy arguments: whole arrays, parts and copies."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.analysis.bodies.accesses import written_names
from psyclone_storage.analysis.bodies.names import RoutineNames
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.paths import AccessPath, path_of
from psyclone_storage.ir.rewrite import names_in, substituted, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.pipeline.program_uses import ProgramUses


class ArgumentShapes:
    """The shapes of arrays in a procedure that calls others."""

    def __init__(self, uses: ProgramUses, code: Routine) -> None:
        self._uses = uses
        self._code = code
        self._names = RoutineNames(code)

    def are_equal(self, line: un.Call, own: Routine, dummy: str, outer: str) -> bool:
        """Return whether an argument certainly has the shape of the array that is passed.

        `own` is the called procedure with the argument `dummy`, and `outer` the name of the array.
        """
        inner, given = own.declared(dummy), self._extents(outer)
        if inner is None or len(inner.shape) != len(given):
            return False
        actual = {
            arg.key if isinstance(arg, ex.Keyword) else key: value_of_argument(arg)
            for key, arg in zip(own.dummy_keys, line.args, strict=False)
        }

        def is_same(one: ex.Expr, other: ex.Expr | None) -> bool:
            if other is None or any(not self._means_same(key, own) for key in names_in(one)):
                return False
            inside = substituted(_with_constants(one, own), actual)
            both = (_with_constants(extent, self._code) for extent in (inside, other))
            return len({*map(ex.spell, both)}) == 1

        pairs = zip(inner.shape, given, strict=True)
        return all(_is_free(one) or is_same(one, other) for one, other in pairs)

    def _means_same(self, key: str, own: Routine) -> bool:
        """Return whether a name in a bound is an argument, or has one meaning in both scopes."""
        if key in own.dummy_keys or _constant(key, own) is not None:
            return True
        return self._uses.datum(key, own) == self._uses.datum(key, self._code)

    def _extents(self, key: str) -> tuple[ex.Expr | None, ...]:
        """Return the extents of an array, None for those that are not known or may change."""
        item = self._names.declaration((key,))
        if item is None:
            return ()
        if all(map(_is_free, item.shape)):
            return self._allocated_extents(key, len(item.shape))
        fixed = self._uses.has_fixed_shape(key, self._code)
        return tuple(one if fixed and not _is_free(one) else None for one in item.shape)

    def _allocated_extents(self, key: str, rank: int) -> tuple[ex.Expr | None, ...]:
        """Return the extents of a local array in its `allocate` statements."""
        unknown = (None,) * rank
        item = self._code.declared(key)
        if item is None or key in self._code.dummy_keys or "allocatable" not in item.words:
            return unknown
        found = {extents for at, line in enumerate(self._code.body)
                 for extents in self._allocations(key, line, at)}  # fmt: skip
        return found.pop() if len(found) == 1 else unknown

    def _allocations(
        self, key: str, line: un.Line, at: int
    ) -> Iterator[tuple[ex.Expr | None, ...]]:
        """Yield the extents in the `allocate` statements in a statement with number `at`."""
        for inner in walk_lines((line,)):
            if not isinstance(inner, un.Allocate):
                continue
            for path in filter(None, map(path_of, inner.arrays)):
                if path.variable == (key,):
                    yield tuple(
                        one
                        if all(self._is_set_before(name, at) for name in names_in(one))
                        else None
                        for one in path.subscripts
                    )

    def _is_set_before(self, key: str, at: int) -> bool:
        """Return whether a variable does not change after statement `at` of the procedure."""
        if self._uses.is_fixed(key, self._code):
            return True
        writers = [number for number, line in enumerate(self._code.body)
                   if key in written_names((line,), self._names)]  # fmt: skip
        return self._code.declared(key) is not None and all(number < at for number in writers)

    def may_be_copied(self, path: AccessPath, own: Routine, dummy: str) -> bool:
        """Return whether the compiler may pass a contiguous copy of a section."""
        inner, outer = own.declared(dummy), self._names.declaration(path.variable)
        if inner is None or outer is None:
            return inner is None
        indices = (item for item in path.subscripts if not isinstance(item, ex.Range))
        if any(self._names.typing.rank_of(item) != 0 for item in indices):
            return True
        if all(map(_is_free, inner.shape)) and "contiguous" not in inner.words:
            return False
        return self.is_discontiguous(path)

    def is_discontiguous(self, path: AccessPath) -> bool:
        """Return whether the elements of a section may not be adjacent in memory."""
        outer = self._names.declaration(path.variable)
        if outer is None:
            return True
        indices = (item for item in path.subscripts if not isinstance(item, ex.Range))
        if any(self._names.typing.rank_of(item) != 0 for item in indices):
            return True
        if any(map(_is_free, outer.shape)) and not outer.words & {"contiguous", "allocatable"}:
            return True
        items = path.subscripts
        full = 0
        while full < len(items) and items[full] == ex.Range():
            full += 1
        rest = items[full + 1 :] if full < len(items) else ()
        strided = full < len(items) and getattr(items[full], "step", None) is not None
        return strided or any(isinstance(one, ex.Range) for one in rest)


def value_of_argument(arg: ex.Expr) -> ex.Expr:
    """Return the value of an argument with or without a keyword."""
    return arg.value if isinstance(arg, ex.Keyword) else arg


def _is_free(extent: ex.Expr) -> bool:
    """Return whether the extent of an argument is that of what is passed (`:`)."""
    return isinstance(extent, ex.Range) and extent.upper is None


def _with_constants(extent: ex.Expr, code: Routine) -> ex.Expr:
    """Return an extent with named constants replaced by their values."""
    values = ((name, _constant(name, code)) for name in names_in(extent))
    return substituted(extent, {name: value for name, value in values if value is not None})


def _constant(name: str, code: Routine) -> ex.Literal | None:
    """Return the value of a named constant, but not the first value of a variable."""
    symbol = code.symbol(name)
    is_constant = symbol.sort is ex.Sort.CONSTANT
    return symbol.value if is_constant and isinstance(symbol.value, ex.Literal) else None
