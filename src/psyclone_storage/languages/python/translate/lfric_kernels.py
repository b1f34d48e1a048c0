"""Translation of kernels for cell columns, dofs and whole domains to Python.

A Fortran subroutine receives maps and sizes together with fields. In Python a field element is
selected by a dof and a layer, and ranges have names. This module maps dummies to these names,
decomposes indices, and converts them from 1-based to 0-based.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.infrastructures import lfric_words as words
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir.affine import AffineForm, affine_form
from psyclone_storage.ir.interface import Dummy, Role, selecting_words
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator, Precedence
from psyclone_storage.ir.parsed import MetadataItem
from psyclone_storage.ir.rewrite import names_of_line, walk_lines
from psyclone_storage.ir.typing import INTEGER, REAL, CType
from psyclone_storage.ir.unit import Declare, Do
from psyclone_storage.languages.c.types import CValue
from psyclone_storage.languages.python.translate.lower_bounds import check_begins_at_one
from psyclone_storage.languages.python.translate.protocols import (
    PlacedLine,
    TextWriter,
    TranslatedKernel,
)
from psyclone_storage.languages.python.translate.values import NoPythonError

_STEP = "    "
_OF_RANGES: Mapping[Role, str] = {role: word for word, role in words.RANGES.items()}
_OF_TABLES: Mapping[Role, str] = {role: word for word, role in words.TABLES.items()}
_OF_NUMBERS: Mapping[Role, str] = {role: word for word, role in words.NUMBERS.items()}
_VALUES = (Role.FIELD, Role.OPERATOR, Role.CMA_MATRIX, Role.DOF_VALUE, Role.SCALAR_ARRAY)
_ARGUMENTS = (*_VALUES, Role.SCALAR)
_MAPS = (Role.DOFMAP, Role.WHOLE_DOFMAP)
_OF_MATRIX = 3
_BOTTOM = "it is not known which dof of which layer"


@dataclass(frozen=True, slots=True)
class ColumnKernels:
    """Translation rules for LFRic kernels."""

    module: str = "psyclone_storage.lfric"

    def of(self, kernel: TranslatedKernel) -> ColumnForm:
        """Return the argument access rules of one kernel."""
        keys = kernel.code.dummy_keys
        if len(keys) != len(kernel.dummies):
            text = f"The kernel '{kernel.parsed.name}' takes {len(keys)} arguments, and its"
            text += f" metadata ask for {len(kernel.dummies)}"
            raise NoPythonError(text, kernel.code.module.routine)
        return ColumnForm(kernel, dict(zip(keys, kernel.dummies, strict=True)))


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """Argument access in a kernel whose dummies have roles given by metadata.

    - `own`: names of the Python arguments. A name is that of the dummy with the values. For a field
      vector it is the common prefix of its components' names.
    """

    kernel: TranslatedKernel
    roles: Mapping[str, Dummy]
    own: list[str] = field(default_factory=list)
    has_arrays: bool = True

    @property
    def hidden(self) -> frozenset[str]:
        """Dummies without a name in Python: cells, maps, and array sizes."""
        seen = (*_ARGUMENTS, *_OF_RANGES, *_OF_TABLES, *_OF_NUMBERS)
        return frozenset(key for key, one in self.roles.items() if one.role not in seen)

    def begin(self, writer: TextWriter) -> None:
        """Choose the names of the arguments."""
        # Procedures that the kernel calls are inlined already.
        code = writer.code
        taken = {item.key for item in code.declarations if isinstance(item, Declare)}
        taken |= {name for line in walk_lines(code.body) for name in names_of_line(line)}
        for number in range(self._count()):
            of_arg = [key for key, one in self.roles.items()
                      if one.arg == number and one.role in _ARGUMENTS]  # fmt: skip
            if not of_arg:
                raise NoPythonError(
                    f"The kernel '{self.kernel.parsed.name}' has an argument that kernels in"
                    " Python do not have", self._entries()[number].span)  # fmt: skip
            first = self.roles[of_arg[0]]
            name = of_arg[0] if first.component is None else _in_common(of_arg)
            if first.component is not None and (not name or name in taken - set(of_arg)):
                name = f"{of_arg[0]}_{number + 1}"
            taken.add(name)
            self.own.append(writer.local(name))

    def _count(self) -> int:
        return len(self._entries())

    def _entries(self) -> tuple[MetadataItem, ...]:
        component = self.kernel.parsed.component(words.COMPONENTS[0])
        return () if component is None else component.items

    # ------------------------------------------------------------------------ elements

    def element(
        self, writer: TextWriter, name: ex.Name, items: tuple[ex.Expr, ...]
    ) -> CValue | None:
        """Return an element of an argument or of a mesh array; None if `name` is not an array."""
        dummy = self.roles.get(name.key)
        if dummy is None or not (dummy.rank or dummy.role is Role.DOF_VALUE):
            return None
        if any(isinstance(part, ex.Range) for item in items for part in ex.walk(item)):
            raise NoPythonError(f"'{ex.spell(ex.Index(name, items))}' is a section of an array")
        if items:
            _check_begins_at_one(writer, name.key)
        index = [affine_form(writer.inlined(item)) for item in items]
        if dummy.role in _VALUES:
            return self._of_argument(writer, name, (dummy, index))
        if dummy.role in _OF_RANGES:
            text = f"len({self._word(_OF_RANGES[dummy.role], dummy, _texts(writer, index, 1))})"
            return CValue(text, INTEGER)
        if dummy.role in _OF_TABLES:
            word = self._word(_OF_TABLES[dummy.role], dummy, [])
            text = f"{word}[{', '.join(_texts(writer, index, 1))}]"
            if dummy.role in words.FROM_ONE:
                return CValue(f"{text} + 1", INTEGER, Precedence.SUM)
            return CValue(text, writer.typed(name.key).type)
        raise NoPythonError(f"'{name.text}' is an array that kernels in Python do not know")

    def written(
        self, writer: TextWriter, name: ex.Name, items: tuple[ex.Expr, ...]
    ) -> CValue | None:
        """Return an assigned element of an argument."""
        dummy = self.roles.get(name.key)
        if dummy is not None and dummy.role not in _VALUES:
            raise NoPythonError(f"'{name.text}' is no field or operator, and is assigned to")
        return self.element(writer, name, items)

    def _of_argument(
        self, writer: TextWriter, name: ex.Name, of: tuple[Dummy, list[AffineForm]]
    ) -> CValue:
        dummy, index = of
        of_bands = dummy.role is Role.CMA_MATRIX
        type_ = self._of_solver(writer, name) if of_bands else writer.typed(name.key).type
        match dummy.role:
            case Role.DOF_VALUE if not index:
                parts = ["0"]
            case Role.FIELD if len(index) == 1:
                parts = self._of_field(writer, dummy, index[0])
            case Role.OPERATOR if len(index) == _OF_MATRIX:
                parts = self._of_operator(writer, dummy, index)
            case Role.CMA_MATRIX if len(index) == _OF_MATRIX:
                parts = self._of_bands(writer, index)
            case Role.SCALAR_ARRAY if len(index) == dummy.rank:
                parts = _texts(writer, index, 1)
            case _:
                raise NoPythonError(f"'{name.text}' is no array with so many dimensions")
        if dummy.component is not None:
            parts.insert(0, str(dummy.component - 1))
        return CValue(f"{self.own[dummy.arg or 0]}[{', '.join(parts)}]", type_)

    def _of_operator(self, writer: TextWriter, dummy: Dummy, index: list[AffineForm]) -> list[str]:
        """Return the dofs and the layer of an operator element."""
        at = next((place for place, one in enumerate(dummy.shape)
                   if isinstance(one, ex.Name) and one.text.endswith("ncell_3d")), 0)  # fmt: skip
        place = index[at]
        found = self._behind_first(dummy, place)
        if found is not None:
            within, near = found
            dofs = [one for own, one in enumerate(index) if own != at]
            layer = writer.sum_text(within.shifted(-1)).text
            return [*_texts(writer, dofs, 1), layer, *_texts(writer, map(affine_form, near), 1)]
        raise NoPythonError("it is not known which layer of the cell's matrix is meant")

    def _of_solver(self, writer: TextWriter, name: ex.Name) -> CType:
        """Return the element type of a columnwise operator, which has 4 bytes in Python."""
        type_ = writer.scope.type_of(writer.scope.symbol(name.key))
        if type_ != REAL:
            text = f"'{name.text}' has reals of {type_.size} bytes, and columnwise operators in"
            raise NoPythonError(f"{text} Python have 4")
        return type_

    def _of_bands(self, writer: TextWriter, index: list[AffineForm]) -> list[str]:
        """Return the band position and the row of a columnwise operator's element."""
        *places, column = index
        if column.constant or not column.is_name(self._key(Role.CELL)):
            raise NoPythonError("it is not known that the matrix of this column is meant")
        return _texts(writer, places, 1)

    def _behind_first(
        self, dummy: Dummy, place: AffineForm
    ) -> tuple[AffineForm, tuple[ex.Expr, ...]] | None:
        """Split `(cell - 1)*nlayers` from an index; return the rest and the neighbour.

        The form `cell*nlayers - nlayers` is also recognised. The neighbour is () for the current
        cell. The function returns None if the term is not found.
        """
        layers = self._key(Role.NLAYERS)
        for factor, term in place.terms:
            near = self._cell_in(dummy, term, -1) if factor == 1 else None
            if near is not None:
                return place.without(term), near
            near = self._cell_in(dummy, term, 0) if factor == 1 else None
            if near is not None:
                rest = place.without(term)
                for against, one in rest.terms:
                    if against == -1 and isinstance(one, ex.Name) and one.key == layers:
                        return rest.without(one), near
        return None

    def _cell_in(self, dummy: Dummy, term: ex.Expr, more: int) -> tuple[ex.Expr, ...] | None:
        """Return the neighbour denoted by `cell` in `(cell + more)*nlayers`, or None."""
        match term:
            case ex.Binary(Operator.TIMES, left, right):
                for one, other in ((left, right), (right, left)):
                    cell, layers = affine_form(one), affine_form(other)
                    if layers.constant or not layers.is_name(self._key(Role.NLAYERS)):
                        continue
                    if cell.constant == more:
                        return self._neighbour(dummy, cell)
        return None

    def _neighbour(self, dummy: Dummy, cell: AffineForm) -> tuple[ex.Expr, ...] | None:
        """Return the indices of a neighbour in an operator's stencil, or None.

        The result is () for the current cell.
        """
        if cell.is_name(self._key(Role.CELL)):
            return ()
        match cell.terms:
            case ((1, ex.Index(ex.Name() as name, items)),):
                by = self.roles.get(name.key)
                if by is not None and by.role is Role.STENCIL_CELLS and by.arg == dummy.arg:
                    return items
        return None

    def _key(self, role: Role) -> str:
        return next((key for key, one in self.roles.items() if one.role is role), "")

    def _of_field(self, writer: TextWriter, dummy: Dummy, index: AffineForm) -> list[str]:
        """Return the dof and the layer of a field element, and its cell if not the current one."""
        for factor, term in index.terms:
            match term:
                case ex.Index(ex.Name() as name, items) if factor == 1 and name.key in self.roles:
                    found = self._near(writer, dummy, name.key, items)
                    if found:
                        dof, *others = found
                        return [dof, writer.sum_text(index.without(term)).text, *others]
        raise NoPythonError(_BOTTOM + " an index is")

    def _near(
        self, writer: TextWriter, dummy: Dummy, key: str, items: tuple[ex.Expr, ...]
    ) -> list[str] | None:
        """Return the dof given by a map element, and its cell if it is not the current one."""
        by = self.roles[key]
        _check_begins_at_one(writer, key)
        if by.role is Role.STENCIL_MAP and by.arg == dummy.arg:
            return _texts(writer, map(affine_form, items), 1)
        if by.role not in _MAPS or key != self._map(dummy) or not items:
            return None
        dof, *cell = items
        if by.role is Role.WHOLE_DOFMAP and Role.CELL_MAP in self._roles():
            match cell:
                case [ex.Index(ex.Name() as fine, places)] if fine.key == self._key(Role.CELL_MAP):
                    _check_begins_at_one(writer, fine.key)
                    return _texts(writer, map(affine_form, (dof, *places)), 1)
            return None
        return _texts(writer, map(affine_form, items), 1)

    def _roles(self) -> set[Role]:
        return {one.role for one in self.roles.values()}

    def _map(self, dummy: Dummy) -> str:
        """Return the dofmap of a field that the Python reader uses."""
        maps = [(key, one) for key, one in self.roles.items()
                if one.role in _MAPS and one.space == dummy.space]  # fmt: skip
        own = next((key for key, one in maps if one.arg == dummy.arg), None)
        return own or next((key for key, _ in maps), "")

    # ------------------------------------------------------------------------ numbers and loops

    def number(self, writer: TextWriter, key: str) -> CValue | None:
        """Return a count such as the number of layers or dofs; raise an error for other sizes."""
        dummy = self.roles.get(key)
        if dummy is None:
            return None
        match dummy.role:
            case Role.SCALAR:
                return None
            case Role.DOF_VALUE:
                return self._of_argument(writer, ex.Name(key), (dummy, []))
            case role if role in _OF_RANGES and not dummy.rank:
                return CValue(f"len({self._word(_OF_RANGES[role], dummy, [])})", INTEGER)
            case role if role in _OF_NUMBERS:
                return CValue(self._word(_OF_NUMBERS[role], dummy, []), INTEGER)
        raise NoPythonError(f"'{key}' is a number or an array that Python hides")

    def counted(self, writer: TextWriter, line: Do) -> tuple[str, bool] | None:
        """Return the named range of a loop; None if the loop has other bounds."""
        step = 1 if line.step is None else ex.integer_value(line.step)
        if step not in (1, -1):
            return None
        first, last = (affine_form(writer.inlined(one)) for one in (line.start, line.stop))
        if step < 0:
            first, last = last, first
        for key, dummy in self.roles.items():
            if dummy.role not in _OF_RANGES or first.known is None:
                continue
            least = 0 if dummy.role is Role.NLAYERS else 1
            if first.known != least or last.constant != least - 1:
                continue
            index = _of_branch(last, key, dummy)
            if index is not None:
                if index:
                    _check_begins_at_one(writer, key)
                word = self._word(_OF_RANGES[dummy.role], dummy, _texts(writer, index, 1))
                return (word if step > 0 else f"reversed({word})"), bool(least)
        return None

    def summed(self, writer: TextWriter, section: ex.Section) -> CValue | None:
        """Return None, because the numbers of dofs and layers are known only at run time."""
        return None

    def _word(self, word: str, dummy: Dummy, index: list[str]) -> str:
        """Return a name of the API with the arguments that select one dummy of its role."""
        others = [one for one in self.roles.values() if one.role is dummy.role and one != dummy]
        said = selecting_words(dummy, self.own)
        if not (others or dummy.space or dummy.arg is not None or dummy.property_name):
            return f"{word}()"
        told = list(said.first[:1])
        for more in said.behind:
            if any(selecting_words(one, self.own).fit(told) for one in others):
                told.append(more)
        if any(selecting_words(one, self.own).fit(told) for one in others):
            raise NoPythonError(f"'{word}' cannot say which of several arrays it means")
        spelled = [one if one in self.own else _spelled(one) for one in told]
        return f"{word}({', '.join([*spelled, *index])})"

    # ------------------------------------------------------------------------ the head

    def head(self, writer: TextWriter) -> Iterator[PlacedLine]:
        """Yield the decorator and the `def` line of the function."""
        parsed = self.kernel.parsed
        given = []
        for name in words.COMPONENTS[1:]:
            if (component := parsed.component(name)) is not None:
                items = [_item(item) for item in component.items]
                if component.is_array and len(items) > 1:
                    given += [f"{name}=[", *(f"{_STEP}{item}," for item in items), "]"]
                else:
                    given.append(f"{name}={f'[{items[0]}]' if component.is_array else items[0]}")
        if parsed.component("iterates_over") is not None:
            given.append("operates_on=CELL_COLUMN")
        if len(given) == 1:
            yield PlacedLine(f"@kernel({given[0]})", parsed.span)
        else:
            yield PlacedLine("@kernel(", parsed.span)
            for text in given:
                end = "" if text.endswith(("[", ",")) else ","
                yield PlacedLine(f"{_STEP}{text}{end}", parsed.span)
            yield PlacedLine(")")
        yield PlacedLine(f"def {key_of(parsed.name)}(", self.kernel.code.module.routine)
        for name, entry in zip(self.own, self._entries(), strict=True):
            yield PlacedLine(f"{_STEP}{name}: {_annotation(entry)},", entry.span)
        yield PlacedLine("):")


def _check_begins_at_one(writer: TextWriter, key: str) -> None:
    """Raise an error for a dummy array whose lower bound is not certainly 1."""
    declared = writer.code.declared(key)
    if declared is None:
        raise NoPythonError(f"'{key}' is not declared")
    check_begins_at_one(declared, writer.scope)


def _of_branch(last: AffineForm, key: str, dummy: Dummy) -> list[AffineForm] | None:
    """Return the index of the count that an upper bound equals, [] for a scalar, or None."""
    match last.terms:
        case ((1, ex.Name() as name),) if name.key == key and not dummy.rank:
            return []
        case ((1, ex.Index(ex.Name() as name, items)),) if (
            name.key == key and len(items) == dummy.rank
        ):
            return list(map(affine_form, items))
    return None


def _texts(writer: TextWriter, index: Iterable[AffineForm], less: int) -> list[str]:
    """Return the texts of index parts, each reduced by `less`."""
    return [writer.sum_text(one.shifted(-less)).text for one in index]


def _in_common(names: list[str]) -> str:
    """Return the common prefix of the names of a vector's components, without a number."""
    first, last = min(names), max(names)
    length = next((at for at, one in enumerate(first) if at >= len(last) or one != last[at]),
                  len(first))  # fmt: skip
    return re.sub(r"[_\d]+\Z", "", first[:length])


def _spelled(word: str) -> str:
    known = {key_of(one): one for one in words.PROPERTIES}
    return known.get(word, word.upper())


def _annotation(entry: MetadataItem) -> str:
    """Return a metadata entry as an annotation."""
    head, *items = entry.items
    kind, counted = _kind_of(head.expr)
    said = [counted] if counted else []
    said += [_item(item) for item in items if ex.canonical(item.expr) != "gh_real"]
    return f"{kind}[{', '.join(said)}]"


def _kind_of(head: ex.Expr) -> tuple[str, str]:
    """Return the annotation name of an entry, and its number of components or ''."""
    match head:
        case ex.Binary(Operator.TIMES, ex.Name() as name, count) | ex.Binary(
            Operator.TIMES, count, ex.Name() as name
        ):
            return key_of(words.ARG_KINDS[name.key].name), ex.spell(count)
        case ex.Name() as name if name.key in words.ARG_KINDS:
            return key_of(words.ARG_KINDS[name.key].name), ""
    raise NoPythonError(f"'{ex.spell(head)}' is nothing that kernels in Python are passed")


def _item(item: MetadataItem) -> str:
    """Return a metadata item in its Python spelling."""
    match item.expr:
        case ex.Index(ex.Name() as word):
            inner = ", ".join(_item(one) for one in item.items)
            head = word.key if word.key in words.ENTRIES.values() else word.key.upper()
            return f"{head}({inner})"
        case ex.Name() as word:
            return _spelled(word.key)
    return ex.spell(item.expr)
