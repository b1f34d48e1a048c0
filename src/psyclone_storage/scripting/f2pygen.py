"""Builders of Fortran for scripts: the classes of PSyclone's `f2pygen`, over our own printer.

A script builds a module from pieces and takes the text with `str(module.root)`. Names and
expressions are texts, which are printed as they are given; everything around them is laid out as
in all generated code. The seed ("Module: f2pygen") names the classes and their arguments.

A piece goes where it belongs by itself: imports first, declarations after them, the newest one
first but dummy arguments before local variables, statements and procedures last. `position` says
otherwise: `["first"]`, `["append"]`, `["before", piece]`, `["after", piece]`, `["insert", number]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.expr import Expr, Verbatim
from psyclone_storage.ir.types import DataType, DerivedType, Intrinsic, ScalarType
from psyclone_storage.languages.fortran.print.printer import emit_declarations, emit_lines, emit_use
from psyclone_storage.languages.fortran.print.wrap import wrapped

InsertPosition = Sequence[object]
_STEP = 2
_PROCEDURES = 4


class GeneratedNode(ABC):
    """A piece of Fortran below its `parent`."""

    def __init__(self, parent: GeneratedBlock | None) -> None:
        self.parent = parent

    @property
    def root(self) -> GeneratedNode:
        """This piece: what its text is taken from, and what others are placed by."""
        return self

    @abstractmethod
    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of this, indented by `indent` blanks."""

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self.text_lines(0))

    def start_parent_loop(self) -> GeneratedNode:
        """Return the outermost loop around this or, of directives before it, the first.

        The seed's way to place something without splitting a directive from its loop.

        Raises:
            CompileError: `T015`, there is no loop around this.
        """
        loops = [piece for piece in (self, *self._around()) if isinstance(piece, DoGen)]
        if not loops:
            raise _refusal("There is no loop around this piece.")
        loop = loops[-1]
        siblings = loop.parent.children if loop.parent else [loop]
        place = siblings.index(loop)
        while place and isinstance(siblings[place - 1], CommentGen | DirectiveGen):
            place -= 1
        return siblings[place]

    def _around(self) -> Iterator[GeneratedBlock]:
        """Yield all that is around this, from the inside out."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent


class GeneratedBlock(GeneratedNode, ABC):
    """A piece that holds others."""

    def __init__(self, parent: GeneratedBlock | None) -> None:
        super().__init__(parent)
        self.children: list[GeneratedNode] = []

    def add(self, content: GeneratedNode, position: InsertPosition | None = None) -> None:
        """Put `content` inside, where it belongs or where `position` says.

        Raises:
            CompileError: `T015`, there is no such position.
        """
        place = self._by_itself(content) if position is None else self._asked(position)
        if isinstance(content, UseGen) and self._knows(content):
            return
        content.parent = self
        self.children.insert(place, content)

    def previous_loop(self) -> GeneratedNode:
        """Return the last loop that was added here.

        Raises:
            CompileError: `T015`, no loop was added.
        """
        return self._last(DoGen, "loop")

    def last_declaration(self) -> GeneratedNode:
        """Return the last declaration here.

        Raises:
            CompileError: `T015`, no declaration exists.
        """
        return self._last(GeneratedDeclaration, "declaration")

    def _last(self, kind: type[GeneratedNode], what: str) -> GeneratedNode:
        found = [child for child in self.children if isinstance(child, kind)]
        if not found:
            raise _refusal(f"There is no {what} in this piece.")
        return found[-1]

    def _knows(self, content: UseGen) -> bool:
        return any(isinstance(one, UseGen) and one.same(content) for one in self.children)

    def _by_itself(self, content: GeneratedNode) -> int:
        """Return the default position of a piece: before the first one of a later rank."""
        mine = _rank(content)
        ranks = [_rank(child) for child in self.children]
        if isinstance(content, GeneratedDeclaration):
            return next((at for at, rank in enumerate(ranks) if rank >= mine), len(ranks))
        return next((at for at, rank in enumerate(ranks) if rank > mine), len(ranks))

    def _asked(self, position: InsertPosition) -> int:
        match tuple(position):
            case ("auto",):
                return len(self.children)
            case ("first",):
                return 0
            case ("append",) | ("last",):
                return len(self.children)
            case ("insert", int(number)):
                return number
            case (("before" | "after") as side, GeneratedNode() as piece) if piece in self.children:
                return self.children.index(piece) + (side == "after")
        known = ["first", "append", "before", "after", "insert"]
        message = f"'{position}' is no position of this piece; there are {listed(known, 'and')}."
        raise _refusal(message)

    def _inside(self, indent: int) -> Iterator[str]:
        for child in self.children:
            yield from child.text_lines(indent)


def _rank(piece: GeneratedNode) -> int:
    if isinstance(piece, UseGen):
        return 0
    if isinstance(piece, GeneratedDeclaration):
        return 1 if piece.is_dummy else 2
    return _PROCEDURES if isinstance(piece, SubroutineGen) else 3


def _refusal(message: str) -> CompileError:
    return CompileError(Diagnostic("T015", message))


# ---------------------------------------------------------------------------- program units


class ModuleGen(GeneratedBlock):
    """A module."""

    def __init__(self, name: str = "", contains: bool = True, implicitnone: bool = True) -> None:
        super().__init__(None)
        self.name = name
        self._contains = contains
        self._implicitnone = implicitnone

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the module."""
        inner, blanks = indent + _STEP, " " * indent
        head = [child for child in self.children if _rank(child) < _PROCEDURES]
        procedures = [child for child in self.children if child not in head]
        yield f"{blanks}module {self.name}"
        yield from _specification(head, self._implicitnone, inner)
        if self._contains:
            yield f"{blanks}contains"
        for procedure in procedures:
            yield from procedure.text_lines(inner)
        yield f"{blanks}end module {self.name}"


class SubroutineGen(GeneratedBlock):
    """A subroutine; `args` are the names of its dummy arguments."""

    def __init__(
        self,
        parent: GeneratedBlock,
        name: str = "",
        args: Sequence[str] = (),
        implicitnone: bool = False,
    ) -> None:
        super().__init__(parent)
        self.name = name
        self.args = list(args)
        self._implicitnone = implicitnone

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the subroutine."""
        blanks = " " * indent
        yield from wrapped(f"subroutine {self.name}({', '.join(self.args)})", indent)
        yield from _specification(self.children, self._implicitnone, indent + _STEP)
        yield f"{blanks}end subroutine {self.name}"


def _specification(pieces: list[GeneratedNode], implicitnone: bool, indent: int) -> Iterator[str]:
    """Yield imports, `implicit none`, and all else."""
    uses = [piece for piece in pieces if isinstance(piece, UseGen)]
    for use in uses:
        yield from use.text_lines(indent)
    if implicitnone:
        yield f"{' ' * indent}implicit none"
    for piece in pieces:
        if piece not in uses:
            yield from piece.text_lines(indent)


class UseGen(GeneratedNode):
    """The import of a module, or of `funcnames` alone with `only`."""

    def __init__(
        self,
        parent: GeneratedBlock,
        name: str = "",
        only: bool = False,
        funcnames: Sequence[str] = (),
    ) -> None:
        super().__init__(parent)
        self.use = un.Use(name, tuple(un.Imported(one, one) for one in funcnames), whole=not only)

    def same(self, other: UseGen) -> bool:
        """Return whether `other` imports the same."""
        return self.use == other.use

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the statement."""
        yield from wrapped(emit_use(self.use), indent)


# ---------------------------------------------------------------------------- declarations


class Attributes(NamedTuple):
    """Attributes of a declared variable."""

    intent: str = ""
    pointer: bool = False
    dimension: str = ""
    allocatable: bool = False
    save: bool = False
    target: bool = False
    private: bool = False

    def words(self) -> tuple[str, ...]:
        """Return them as they are written."""
        flags = [name for name in ("pointer", "allocatable", "save", "target", "private")
                 if getattr(self, name)]  # fmt: skip
        dimension = [f"dimension({self.dimension})"] if self.dimension else []
        intent = [f"intent({self.intent})"] if self.intent else []
        return (*dimension, *flags, *intent)


class GeneratedDeclaration(GeneratedNode):
    """The declaration of one or several variables of one type."""

    def __init__(
        self,
        parent: GeneratedBlock,
        data_type: DataType,
        entity_decls: Sequence[str],
        attributes: Attributes,
        *,
        polymorphic: bool = False,
    ) -> None:
        super().__init__(parent)
        if not entity_decls:
            raise _refusal("A declaration needs at least one name in 'entity_decls'.")
        if attributes.pointer and attributes.allocatable:
            raise _refusal("A variable is a pointer or allocatable, not both.")
        words = attributes.words()
        self.is_dummy = bool(attributes.intent)
        self.declares = tuple(
            un.Declare(name, data_type, words, polymorphic=polymorphic) for name in entity_decls
        )

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the statement."""
        yield from emit_declarations(self.declares, indent)


class DeclGen(GeneratedDeclaration):
    """Variables of an intrinsic type, with a value each if `initial_values` are given."""

    def __init__(
        self,
        parent: GeneratedBlock,
        datatype: str = "",
        entity_decls: Sequence[str] = (),
        kind: str = "",
        initial_values: Sequence[str] = (),
        **attributes: object,
    ) -> None:
        known = {intrinsic.value: intrinsic for intrinsic in Intrinsic}
        if datatype.lower() not in known:
            raise _refusal(f"'{datatype}' is no intrinsic type of Fortran.")
        data_type = ScalarType(known[datatype.lower()], kind or None)
        entities = _with_values(entity_decls, initial_values)
        super().__init__(parent, data_type, entities, _attributes(attributes))


class CharDeclGen(GeneratedDeclaration):
    """Variables of type `character` of some `length`."""

    def __init__(
        self,
        parent: GeneratedBlock,
        entity_decls: Sequence[str] = (),
        length: str = "",
        initial_values: Sequence[str] = (),
        **attributes: object,
    ) -> None:
        self._length = str(length)
        data_type = ScalarType(Intrinsic.CHARACTER)
        entities = _with_values(entity_decls, initial_values)
        super().__init__(parent, data_type, entities, _attributes(attributes))

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the statement."""
        length = f"(len={self._length})" if self._length else ""
        for line in super().text_lines(indent):
            yield line.replace("character", f"character{length}", 1)


class TypeDeclGen(GeneratedDeclaration):
    """Variables of a derived type, or of its extensions too with `is_class`."""

    def __init__(
        self,
        parent: GeneratedBlock,
        datatype: str = "",
        entity_decls: Sequence[str] = (),
        is_class: bool = False,
        **attributes: object,
    ) -> None:
        given = _attributes(attributes)
        super().__init__(parent, DerivedType(datatype), entity_decls, given, polymorphic=is_class)


def _attributes(given: dict[str, object]) -> Attributes:
    unknown = set(given) - set(Attributes._fields)
    if unknown:
        raise _refusal(f"A declaration has no '{min(unknown)}'.")
    return Attributes(**given)  # type: ignore[arg-type]


def _with_values(names: Sequence[str], values: Sequence[str]) -> list[str]:
    if values and len(values) != len(names):
        raise _refusal(f"There are {len(values)} initial values for {len(names)} names.")
    return (
        [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
        if values
        else (list(names))
    )


# ---------------------------------------------------------------------------- statements


class GeneratedStatement(GeneratedNode):
    """A piece that is one statement, a comment or a directive."""

    def __init__(self, parent: GeneratedBlock, line: un.Line) -> None:
        super().__init__(parent)
        self._line = line

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the statement."""
        yield from emit_lines([self._line], indent)


class CommentGen(GeneratedStatement):
    """A comment; `content` is what follows the exclamation mark."""

    def __init__(self, parent: GeneratedBlock, content: str) -> None:
        super().__init__(parent, un.Comment(content.strip()))


class DirectiveGen(GeneratedStatement):
    """A directive such as `!$omp end parallel do`.

    `language` is `omp` or `acc`, `position` is `begin` or `end`, `directive_type` what is begun or
    ended, and `content` its clauses.
    """

    def __init__(
        self,
        parent: GeneratedBlock,
        language: str,
        position: str,
        directive_type: str,
        content: str = "",
    ) -> None:
        if language not in ("omp", "acc") or position not in ("begin", "end"):
            raise _refusal(f"There is no directive '{language} {position} {directive_type}'.")
        words = [language, *(["end"] if position == "end" else []), directive_type, content]
        super().__init__(parent, un.DirectiveLine(" ".join(filter(None, words))))


class CallGen(GeneratedStatement):
    """A call of a subroutine."""

    def __init__(self, parent: GeneratedBlock, name: str = "", args: Sequence[str] = ()) -> None:
        super().__init__(parent, un.Call(Verbatim(name), tuple(map(_text, args))))


class AssignGen(GeneratedStatement):
    """An assignment, with `pointer` one of a pointer."""

    def __init__(
        self, parent: GeneratedBlock, lhs: str = "", rhs: str = "", pointer: bool = False
    ) -> None:
        kind = un.PointerAssign if pointer else un.Assign
        super().__init__(parent, kind(_text(lhs), _text(rhs)))


class AllocateGen(GeneratedStatement):
    """The allocation of one array or of several; `mold` is one that they take their shape from."""

    def __init__(
        self, parent: GeneratedBlock, content: str | Sequence[str], mold: str = ""
    ) -> None:
        arrays = [content] if isinstance(content, str) else list(content)
        more = [f"mold={mold}"] if mold else []
        super().__init__(parent, un.Allocate(tuple(map(_text, (*arrays, *more)))))


class DeallocateGen(GeneratedStatement):
    """The deallocation of one array or of several."""

    def __init__(self, parent: GeneratedBlock, content: str | Sequence[str]) -> None:
        arrays = [content] if isinstance(content, str) else content
        super().__init__(parent, un.Deallocate(tuple(map(_text, arrays))))


class DoGen(GeneratedBlock):
    """A counted loop."""

    def __init__(
        self, parent: GeneratedBlock, variable: str, start: str, end: str, step: str = ""
    ) -> None:
        super().__init__(parent)
        bounds = ", ".join(filter(None, (start, end, step)))
        self._head = f"do {variable} = {bounds}"

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the loop."""
        yield from wrapped(self._head, indent)
        yield from self._inside(indent + _STEP)
        yield f"{' ' * indent}end do"


class IfThenGen(GeneratedBlock):
    """A choice; `clause` is its condition."""

    def __init__(self, parent: GeneratedBlock, clause: str) -> None:
        super().__init__(parent)
        self._clause = clause

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the choice."""
        yield from wrapped(f"if ({self._clause}) then", indent)
        yield from self._inside(indent + _STEP)
        yield f"{' ' * indent}end if"


def _text(text: str) -> Expr:
    return Verbatim(text)
