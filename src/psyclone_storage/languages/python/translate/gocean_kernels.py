"""Translation of grid-point kernels to Python, with elements relative to the point."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.base.records import dataclass
from psyclone_storage.infrastructures import gocean as words
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import affine_form
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Precedence
from psyclone_storage.ir.parsed import MetadataComponent, MetadataItem, ParsedKernel
from psyclone_storage.ir.typing import DOUBLE
from psyclone_storage.ir.unit import Do
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.lower_bounds import check_begins_at_one
from psyclone_storage.languages.python.translate.protocols import (
    PlacedLine,
    TextWriter,
    TranslatedKernel,
)
from psyclone_storage.languages.python.translate.values import NoPythonError

_AXES = 2
_STEP = "    "
_MOST = 20


@dataclass(frozen=True, slots=True)
class GridKernels:
    """Translation rules for GOcean kernels."""

    module: str = "psyclone_storage.gocean"

    def of(self, kernel: TranslatedKernel) -> PointForm:
        """Return the argument access rules of one kernel."""
        return PointForm(kernel)


@dataclass(frozen=True, slots=True)
class PointForm:
    """Argument access in a kernel whose first two dummies are the indices of its point."""

    kernel: TranslatedKernel
    has_arrays: bool = False

    @property
    def _index(self) -> tuple[str, ...]:
        return self.kernel.code.dummy_keys[:_AXES]

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the point's indices."""
        return frozenset(self._index)

    def begin(self, writer: TextWriter) -> None:
        """Do nothing, because names are unchanged."""

    # ------------------------------------------------------------------------ elements

    def element(
        self, writer: TextWriter, name: ex.Name, items: tuple[ex.Expr, ...]
    ) -> CValue | None:
        """Return an element relative to the point, or None if `name` is not an array."""
        if not self._is_array(writer, name.key):
            return None
        i, j = self._offset(writer, items)
        array = writer.typed(name.key)
        return CValue(f"{array.text}[{i}, {j}]", array.type)

    def written(
        self, writer: TextWriter, name: ex.Name, items: tuple[ex.Expr, ...]
    ) -> CValue | None:
        """Return the element at the point for an assignment, or None if `name` is not an array."""
        if not self._is_array(writer, name.key):
            return None
        if any(isinstance(item, ex.Range) for item in items):
            raise NoPythonError("a kernel in Python writes one point")
        if self._offset(writer, items) != (0, 0):
            raise NoPythonError(f"'{name.text}' is written off the point")
        array = writer.typed(name.key)
        return CValue(f"{array.text}[0, 0]", array.type)

    def _is_array(self, writer: TextWriter, key: str) -> bool:
        code = self.kernel.code
        declared = code.declared(key)
        if key not in code.dummy_keys or declared is None or not declared.shape:
            return False
        check_begins_at_one(declared, writer.scope)
        return True

    def _offset(self, writer: TextWriter, items: tuple[ex.Expr, ...]) -> tuple[int, int]:
        """Return the offset of an element from the point."""
        if len(items) != _AXES:
            text = ", ".join(map(ex.spell, items))
            raise NoPythonError(f"'({text})' is no element of a field in two dimensions")
        first, second = (self._distance(writer, item, axis) for axis, item in enumerate(items))
        return first, second

    def _distance(self, writer: TextWriter, item: ex.Expr, axis: int) -> int:
        found = affine_form(writer.inlined(item))
        if not found.is_name(self._index[axis]):
            raise NoPythonError(f"'{ex.spell(item)}' is no distance from the point that is known")
        return found.constant

    def number(self, writer: TextWriter, key: str) -> CValue | None:
        """Return None.

        Raise `NoPythonError` for an index of the point, which Python does not provide.
        """
        if key not in self._index:
            return None
        raise NoPythonError(f"'{key}' is the number of a point, which Python hides")

    def counted(self, writer: TextWriter, line: Do) -> tuple[str, bool] | None:
        """Return None, because there are no named ranges."""
        return None

    def summed(self, writer: TextWriter, section: ex.Section) -> CValue | None:
        """Return the sum of a section's elements, starting from zero, with columns first."""
        if not isinstance(section.base, ex.Name) or len(section.items) != _AXES:
            raise NoPythonError(f"'{ex.spell(section)}' is no section of a field")
        columns, rows = (
            self._box(writer, item, axis) for axis, item in enumerate(section.items)
        )  # fmt: skip
        if writer.typed(section.base.key).type != DOUBLE:
            raise NoPythonError(f"'{ex.spell(section)}' is no section of reals")
        if not self._is_array(writer, section.base.key):
            raise NoPythonError(f"'{ex.spell(section)}' is no section of a field")
        array = writer.local(section.base.key)
        texts = [f"{array}[{i}, {j}]" for j in rows for i in columns]
        return CValue(" + ".join(["0.0", *texts]), DOUBLE, Precedence.SUM)

    def _box(self, writer: TextWriter, item: ex.Expr, axis: int) -> range:
        """Return the range of offsets of a subscript with known bounds."""
        if not isinstance(item, ex.Range):
            own = self._distance(writer, item, axis)
            return range(own, own + 1)
        if item.lower is None or item.upper is None or item.step is not None:
            raise NoPythonError("a section has no ends that are known")
        first, last = (self._distance(writer, one, axis) for one in (item.lower, item.upper))
        if last - first > _MOST:
            raise NoPythonError(f"a section has more than {_MOST} points")
        return range(first, last + 1)

    # ------------------------------------------------------------------------ the head

    def head(self, writer: TextWriter) -> Iterator[PlacedLine]:
        """Yield the decorator and the `def` line of the function."""
        parsed = self.kernel.parsed
        arguments = [writer.local(key) for key in self.kernel.code.dummy_keys[_AXES:]]
        components = {key_of(item.name): item for item in parsed.components}
        given = [
            f"{name}={_word(components[name].items[0])}"
            for name in words.COMPONENTS[1:] if name in components
        ]  # fmt: skip
        entries = _entries(components.get(words.COMPONENTS[0]), parsed)
        if len(entries) != len(arguments):
            many = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
            text = f"The kernel '{parsed.name}' takes {many} behind its point, and its metadata"
            raise NoPythonError(f"{text} describe {len(entries)}", parsed.span)
        yield PlacedLine(f"@kernel({', '.join(given)})", parsed.span)
        yield PlacedLine(f"def {key_of(parsed.name)}(", self.kernel.code.module.routine)
        for name, entry in zip(arguments, entries, strict=True):
            yield PlacedLine(f"{_STEP}{name}: {_annotation(entry)},", entry.span)
        yield PlacedLine("):")


def _entries(component: MetadataComponent | None, parsed: ParsedKernel) -> tuple[MetadataItem, ...]:
    if component is None:
        raise NoPythonError(f"The kernel '{parsed.name}' has no arguments", parsed.span)
    return component.items


def _annotation(entry: MetadataItem) -> str:
    """Return a metadata entry as an annotation."""
    items = [_word(item) for item in entry.items]
    if len(items) == 2:
        return f"grid_property[{items[1]}]"
    is_scalar = len(items) > 1 and key_of(items[1]) in words.SCALARS
    if key_of(items[-1]) == words.POINTWISE:
        items.pop()
    return f"{'scalar' if is_scalar else 'field'}[{', '.join(items)}]"


def _word(item: MetadataItem) -> str:
    """Return a metadata name in its current spelling."""
    match item.expr:
        case ex.StructureConstructor(ex.Name(word), rows) | ex.Index(ex.Name(word), rows):
            return f'{_spelled(word)}("{",".join(map(ex.canonical, rows))}")'
    return _spelled(ex.canonical(item.expr))


def _spelled(word: str) -> str:
    word = word.upper()
    return word if word.startswith("GO_") else f"GO_{word}"
