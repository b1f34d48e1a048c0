"""Calls of storages instead of the directives of a transfer plan, for plain arrays.

A storage, which is found by the address of an array, knows which copies are valid. A region
acquires its arrays on the device and uses pointers to the values there. An update of the host
becomes `bring_to_host`, one of the device `wrote_on_host`: the storage transfers the values when a
region needs them. The library changes arrays by their addresses, so they must be targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.device_program import CopyUse
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.rewrite import everywhere, rewritten, substituted, with_changed_blocks
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.transfer import Side
from psyclone_storage.ir.types import DerivedType, Intrinsic, ScalarType
from psyclone_storage.lowering import runtime_names_registry as registry
from psyclone_storage.lowering import runtime_names_storage as words
from psyclone_storage.pipeline.program_regions import groups, with_last

_Lines = tuple[un.Line, ...]
_KINDS = {
    (Intrinsic.REAL, 8): "real64",
    (Intrinsic.REAL, 4): "real32",
    (Intrinsic.INTEGER, 4): "int32",
}
_MOST_DIMENSIONS = {Intrinsic.REAL: 3, Intrinsic.INTEGER: 2}
_KIND_MODULE = "iso_fortran_env"
_DATA_WORD = regex(r"(?<![%\w])(?<!%\s)(?<!default\()[a-z]\w*\b(?!\s*:)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array of a procedure that has a storage: its name, kind and declared shape."""

    name: str
    intrinsic: Intrinsic
    kind: str
    shape: tuple[ex.Expr, ...]
    allocatable: bool = False


def why_not_stored(item: un.Declare, bytes_of_element: int | None) -> str:
    """Return why an array cannot have a storage, or ""."""
    kind = item.type
    if not isinstance(kind, ScalarType) or (kind.intrinsic, bytes_of_element) not in _KINDS:
        return "no storage has its type"
    if len(item.shape) > _MOST_DIMENSIONS[kind.intrinsic]:
        return "no storage has its number of dimensions"
    if "target" not in item.words:
        return "a storage needs a target: add the attribute 'target'"
    return ""


def stored_array(item: un.Declare, name: str, bytes_of_element: int | None) -> StoredArray:
    """Return an array that can have a storage, with its name in a procedure."""
    assert isinstance(item.type, ScalarType)
    assert bytes_of_element is not None
    intrinsic = item.type.intrinsic
    kind = _KINDS[intrinsic, bytes_of_element]
    return StoredArray(name, intrinsic, kind, item.shape, "allocatable" in item.words)


@dataclass(slots=True)
class StorageCalls:
    """Replaces the directives of a plan in one procedure; see the docstring of the module.

    - `arrays`: the planned arrays that the procedure names, by these names.
    - `regions`: the uses of arrays by each device region, by the identity of its first statement.
    - `root`: the procedure starts and ends the reports of accesses on the host.
    """

    code: Routine
    arrays: Mapping[str, StoredArray]
    regions: Mapping[int, Mapping[str, CopyUse]]
    root: bool = False
    declares: dict[str, un.Declare] = field(default_factory=dict)
    _imported: dict[str, dict[str, str]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def replaced(self, body: _Lines) -> _Lines:
        """Return the statements of the procedure with calls instead of directives."""
        inner = self._block(body)
        if not self.root:
            return inner
        return (self._reports(value=True), *with_last(inner, self._reports(value=False)))

    @property
    def uses(self) -> tuple[un.Use, ...]:
        """The imports that the calls need."""
        return tuple(
            un.Use(module, tuple(un.Imported(own, name) for name, own in names.items()))
            for module, names in self._imported.items()
        )

    # ------------------------------------------------------------------------ statements

    def _block(self, lines: _Lines) -> _Lines:
        found: list[un.Line] = []
        for is_region, group in groups(lines):
            if is_region:
                found += self._region(group)
            else:
                found += self._statement(group[0])
        same = len(found) == len(lines) and all(map(lambda a, b: a is b, found, lines))
        return lines if same else tuple(found)

    def _statement(self, line: un.Line) -> Iterator[un.Line]:
        match line:
            case un.EnterDataLine():
                return
            case un.ExitDataLine(items):
                yield from self._of_each(items, "release_storage")
            case un.UpdateLine(to, items):
                word = "bring_to_host" if to is Side.HOST else "wrote_on_host"
                yield from self._of_each(items, word)
            case un.Call() if id(line) in self.regions:
                yield from self._region((line,))
            case _:
                yield with_changed_blocks(line, self._block)

    def _of_each(self, items: Iterable[ex.Expr], word: str) -> Iterator[un.Line]:
        """Yield a call for the storage of each array."""
        for item in items:
            assert isinstance(item, ex.Name)
            call = un.Call(self._name(registry.MODULE, word), (self._storage_of(item),))
            yield self._if_allocated(self.arrays[item.key], (call,))

    def _if_allocated(self, array: StoredArray, lines: _Lines) -> un.Line:
        if not array.allocatable:
            assert len(lines) == 1
            return lines[0]
        condition = ex.CallFunction(ex.Name("allocated"), (ex.Name(array.name),))
        return un.If((un.Branch(condition, lines),))

    def _region(self, group: _Lines) -> Iterator[un.Line]:
        """Yield a region that uses the values on the device, with the calls around it."""
        uses = self.regions.get(id(group[0]), {})
        names = {key: self._pointer(self.arrays[key]) for key in sorted(uses)}
        for key, pointer in names.items():
            yield from self._acquired(self.arrays[key], pointer, uses[key])
        yield from _renamed(group, names)
        for key in names:
            space = self._name(words.WORDS_MODULE, words.SPACES[Side.DEVICE])
            release = un.Call(ex.Member(self._storage(self.arrays[key]), words.RELEASE), (space,))
            yield self._if_allocated(self.arrays[key], (release,))

    def _acquired(self, array: StoredArray, pointer: ex.Name, use: CopyUse) -> Iterator[un.Line]:
        access = words.READ if not use.writes else words.READ_WRITE if use.needs else words.WRITE
        storage = self._storage(array)
        args = (
            self._name(words.WORDS_MODULE, words.SPACES[Side.DEVICE]),
            self._name(words.WORDS_MODULE, access),
            pointer,
        )
        lines: list[un.Line] = [
            un.PointerAssign(storage, self._storage_of(ex.Name(array.name))),
            un.Call(ex.Member(storage, words.ACQUIRE), args),
        ]
        if not all(_starts_at_one(one, array) for one in array.shape):
            bounds = tuple(
                ex.Range(
                    ex.CallFunction(
                        ex.Name("lbound"),
                        (ex.Name(array.name), ex.Literal(str(at), Intrinsic.INTEGER)),
                    )
                )
                for at in range(1, len(array.shape) + 1)
            )
            lines.append(un.PointerAssign(ex.Section(pointer, bounds), pointer))
        if array.allocatable:
            yield self._if_allocated(array, tuple(lines))
        else:
            yield from lines

    def _reports(self, *, value: bool) -> un.Call:
        return un.Call(self._name(registry.MODULE, "set_program_tells"), (ex.logical(value=value),))

    # ------------------------------------------------------------------------ names

    def _name(self, module: str, name: str) -> ex.Name:
        own = self._imported.setdefault(module, {}).setdefault(name, self._unused(name))
        return ex.Name(own)

    def _unused(self, name: str) -> str:
        """Return a name that the file does not contain."""
        if name not in self._names:
            text, found = key_of(self.code.module.source.text), name
            while found in self._names.values() or re.search(rf"\b{found}\b", text):
                found += "_"
            self._names[name] = found
        return self._names[name]

    def _storage_of(self, array: ex.Name) -> ex.Expr:
        return ex.CallFunction(self._name(registry.MODULE, registry.STORAGE_OF), (array,))

    def _storage(self, array: StoredArray) -> ex.Name:
        kind = DerivedType(self._name(registry.MODULE, registry.STORAGE.name).text, registry.MODULE)
        return self._variable(un.Declare(f"{array.name}_storage", kind, ("pointer",)))

    def _pointer(self, array: StoredArray) -> ex.Name:
        kind = ScalarType(array.intrinsic, self._name(_KIND_MODULE, array.kind).text)
        shape = (ex.Range(),) * len(array.shape)
        wished = un.Declare(f"{array.name}_device", kind, ("pointer", "contiguous"), shape)
        return self._variable(wished)

    def _variable(self, wished: un.Declare) -> ex.Name:
        name = self._unused(wished.name)
        self.declares.setdefault(name, replace(wished, name=name))
        return ex.Name(name)


def _starts_at_one(extent: ex.Expr, array: StoredArray) -> bool:
    """Return whether the first index of a dimension is 1, as in a pointer to the values."""
    if not isinstance(extent, ex.Range):
        return True
    return extent.lower is None and not array.allocatable


def _renamed(group: _Lines, names: Mapping[str, ex.Name]) -> _Lines:
    """Return a region with other names of arrays, also in its directives."""
    if not names:
        return group

    def change(expr: ex.Expr) -> ex.Expr:
        return substituted(expr, names)

    def changed(line: un.Line) -> _Lines:
        if isinstance(line, un.DirectiveLine):
            return (un.DirectiveLine(_with_names(line.text, names)),)
        return (line,)

    return rewritten(everywhere(group, change), changed)


def _with_names(text: str, names: Mapping[str, ex.Name]) -> str:
    """Return a directive with other names in the lists of its clauses.

    Components, operators before a colon, and the words of clauses stay.
    """

    def renamed(found: re.Match[str]) -> str:
        before = text[: found.start()]
        is_inside = before.count("(") > before.count(")")
        new = names.get(key_of(found[0])) if is_inside else None
        return found[0] if new is None else new.text

    return _DATA_WORD.sub(renamed, text)
