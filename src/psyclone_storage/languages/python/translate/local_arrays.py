"""Local arrays of a kernel, which are created with zeros and 0-based indices in Python."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import Span
from psyclone_storage.ir.affine import AffineForm, affine_form
from psyclone_storage.ir.expr import Binary, Expr, Literal, Range, walk
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.rewrite import names_of_line, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.typing import DOUBLE, INTEGER, LOGICAL, CType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.protocols import TextWriter
from psyclone_storage.languages.python.translate.values import NoPythonError

_DTYPES: dict[CType, str] = {DOUBLE: "", INTEGER: ", dtype=int", LOGICAL: ", dtype=bool"}
_ONE = Literal("1", Intrinsic.INTEGER)
_OTHER_THAN_ARRAYS = ("save", "allocatable", "pointer", "target", "parameter")


@dataclass(frozen=True, slots=True)
class LocalArray:
    """Array with the lower and upper bound of each dimension."""

    declared: Declare
    bounds: tuple[tuple[Expr, Expr], ...]
    place: Span | None = None

    @property
    def name(self) -> str:
        """Declared name of the array."""
        return self.declared.name

    def made(self, writer: TextWriter) -> str:
        """Return the statement that creates the array."""
        found = writer.typed(self.declared.key)
        extents = [writer.sum_text(_between(upper, lower).shifted(1)).text
                   for lower, upper in self.bounds]  # fmt: skip
        shape = extents[0] if len(extents) == 1 else f"({', '.join(extents)})"
        return f"{found.text} = np.zeros({shape}{_DTYPES[found.type]})"

    def element(self, writer: TextWriter, items: tuple[Expr, ...]) -> CValue:
        """Return an element of the array."""
        if not items or any(isinstance(part, Range) for item in items for part in walk(item)):
            raise NoPythonError(f"'{self.name}' is used as a whole")
        if len(items) != len(self.bounds):
            raise NoPythonError(f"'{self.name}' has {len(self.bounds)} dimensions")
        found = writer.typed(self.declared.key)
        texts = [
            writer.sum_text(_between(writer.inlined(item), lower)).text
            for item, (lower, _) in zip(items, self.bounds, strict=True)
        ]
        return CValue(f"{found.text}[{', '.join(texts)}]", found.type)


def arrays_of_kernel(code: Routine) -> Iterator[LocalArray]:
    """Yield the local arrays that the statements of a kernel use."""
    used = {name for line in walk_lines(code.body) for name in names_of_line(line)}
    for item in code.declarations:
        if not isinstance(item, Declare) or item.key in code.dummy_keys or not item.shape:
            continue
        if item.key in used and not set(item.attributes) & set(_OTHER_THAN_ARRAYS):
            bounds = tuple(_bounds(one) for one in item.shape)
            known = tuple((lower, upper) for lower, upper in bounds if upper is not None)
            if len(known) == len(bounds) and item.value is None:
                yield LocalArray(item, known, code.place_of(item.name))


def _bounds(one: Expr) -> tuple[Expr, Expr | None]:
    if isinstance(one, Range):
        return one.lower or _ONE, one.upper
    return _ONE, one


def _between(first: Expr, second: Expr) -> AffineForm:
    return affine_form(Binary(Operator.MINUS, first, second))
