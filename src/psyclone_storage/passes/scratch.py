"""A routine to which a rewrite adds variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psyclone_storage.analysis.bodies.shapes import changed_in_routine
from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.memo import kept_lately
from psyclone_storage.base.names import NameTable
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.rewrite import names_in, names_inside
from psyclone_storage.ir.routine import Routine, Specified
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare, Opaque, Use

INTEGER = ScalarType(Intrinsic.INTEGER)


class Scratch:
    """A routine being rewritten, and the variables added so far.

    The object is mutable and belongs to one rewrite. Names in `taken` are not used for new
    variables.
    """

    def __init__(self, code: Routine, taken: Iterable[str] = ()) -> None:
        self._code = code
        self._names = NameTable((*names_of(code), *taken))

    @property
    def code(self) -> Routine:
        """The routine with added variables and its original statements."""
        return self._code

    def fresh(self, wish: str) -> str:
        """Return an unused name similar to `wish`."""
        return self._names.fresh(wish)

    def variable(
        self,
        wish: str,
        kind: ScalarType,
        shape: tuple[ex.Expr, ...] = (),
        attributes: tuple[str, ...] = (),
    ) -> ex.Name:
        """Declare a new local variable, named `wish` or similar, and return it."""
        name = self.fresh(wish)
        declared = Declare(name, kind, attributes, shape)
        declarations = (*self._code.declarations, declared)
        self._code = self._code.with_specification(declarations=declarations)
        return ex.Name(name)

    def counter(self, wish: str = "idx") -> ex.Name:
        """Declare a new integer loop counter and return it."""
        return self.variable(wish, INTEGER)


def names_of(code: Routine) -> Iterator[str]:
    """Yield all names that are used or declared in a kernel and its module."""
    yield from (code.name, code.module.name, *code.dummies, *code.module.generics)
    yield from (procedure.name for procedure in code.module.procedures)
    yield from _specified(code.uses, code.declarations)
    yield from _specified(code.module.uses, code.module.declarations)
    if code.internal is not None:
        yield from code.internal.names
    for line in code.body:
        yield from names_inside(line)


@kept_lately
def _specified(uses: tuple[Use, ...], declarations: tuple[Specified, ...]) -> frozenset[str]:
    """Return the names in a specification part, which versions of a routine share."""
    found = {use.module for use in uses}
    found.update(name.local for use in uses for name in use.names)
    for item in declarations:
        if isinstance(item, Declare):
            found.add(item.name)
            found.update(*map(names_in, item.shape))
        elif isinstance(item, Opaque):
            found |= item.names
    return frozenset(found)


def may_be_extent(extent: ex.Expr, code: Routine) -> bool:
    """Return whether `extent` can be evaluated at kernel entry, so that it can size an array."""
    return not any(_is_late(name, code) for name in names_in(extent))


def _is_late(name: str, code: Routine) -> bool:
    declared = code.declared(name)
    if declared is None:
        return name in changed_in_routine(code)
    if "parameter" in declared.words:
        return False
    if name not in {*code.dummy_keys}:
        return not declared.shape
    return not declared.shape and name in changed_in_routine(code)


def constant(value: int, kind: ScalarType) -> ex.Expr:
    """Return a non-negative number as a literal of type `kind`."""
    digits = f"{value}.0" if kind.intrinsic is Intrinsic.REAL else str(value)
    if kind.intrinsic not in (Intrinsic.REAL, Intrinsic.INTEGER):
        return ex.whole(value)
    if kind.kind is None:
        return ex.Literal(digits, kind.intrinsic)
    if kind.kind.isidentifier() or kind.kind.isdigit():
        return ex.Literal(digits, kind.intrinsic).with_kind(kind.kind)
    word = "real" if kind.intrinsic is Intrinsic.REAL else "int"
    return ex.intrinsic(word, ex.whole(value), ex.Verbatim(kind.kind))


def nothing_to_do(code: Routine, why: str) -> Diagnostic:
    """Return a diagnostic: a step would not change the kernel (T067)."""
    message = f"There is nothing to change in '{code.name}': it {why}."
    return Diagnostic("T067", message, code.module.routine)
