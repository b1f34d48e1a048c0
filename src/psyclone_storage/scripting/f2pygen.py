"""Fortran code builders for scripts, with the classes of PSyclone's `f2pygen`.

A script builds a module from nodes and gets the text by `str(module.root)`. Names and expressions
are texts, which are printed as given. The rest is laid out as in all generated code. The classes
and their arguments follow PSyclone's "Module: f2pygen".

By default, a new node is inserted by its kind: imports first, then declarations, statements and
procedures. New declarations come first, but dummy arguments precede local variables. The argument
`position` overrides this: `["first"]`, `["append"]`, `["before", node]`, `["after", node]`, or
`["insert", number]`.
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
    """Fortran construct with an enclosing `parent`."""

    def __init__(self, parent: GeneratedBlock | None) -> None:
        self.parent = parent

    @property
    def root(self) -> GeneratedNode:
        """The node itself, which gives the text and is used to position other nodes."""
        return self

    @abstractmethod
    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the node, indented by `indent` blanks."""

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self.text_lines(0))

    def start_parent_loop(self) -> GeneratedNode:
        """Return the outermost loop around this node, or the first directive before that loop.

        A node inserted there does not separate a directive from its loop.

        Raises:
            CompileError: `T015`, there is no loop around this node.
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
        """Yield all enclosing blocks, innermost first."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent


class GeneratedBlock(GeneratedNode, ABC):
    """Node that contains other nodes."""

    def __init__(self, parent: GeneratedBlock | None) -> None:
        super().__init__(parent)
        self.children: list[GeneratedNode] = []

    def add(self, content: GeneratedNode, position: InsertPosition | None = None) -> None:
        """Insert `content` at the default position for its kind, or at `position`.

        Raises:
            CompileError: `T015`, there is no such position.
        """
        place = self._by_itself(content) if position is None else self._asked(position)
        if isinstance(content, UseGen) and self._knows(content):
            return
        content.parent = self
        self.children.insert(place, content)

    def previous_loop(self) -> GeneratedNode:
        """Return the last loop added to this block.

        Raises:
            CompileError: `T015`, no loop was added.
        """
        return self._last(DoGen, "loop")

    def last_declaration(self) -> GeneratedNode:
        """Return the last declaration in this block.

        Raises:
            CompileError: `T015`, there is no declaration.
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
        """Return the default position of a node, before the first node of a later kind."""
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
    """Fortran module."""

    def __init__(self, name: str = "", contains: bool = True, implicitnone: bool = True) -> None:
        super().__init__(None)
        self.name = name
        self._contains = contains
        self._implicitnone = implicitnone

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the module."""
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
    """Subroutine; `args` are the names of its dummy arguments."""

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
        """Yield the lines of the subroutine."""
        blanks = " " * indent
        yield from wrapped(f"subroutine {self.name}({', '.join(self.args)})", indent)
        yield from _specification(self.children, self._implicitnone, indent + _STEP)
        yield f"{blanks}end subroutine {self.name}"


def _specification(pieces: list[GeneratedNode], implicitnone: bool, indent: int) -> Iterator[str]:
    """Yield imports, `implicit none`, and all other nodes."""
    uses = [piece for piece in pieces if isinstance(piece, UseGen)]
    for use in uses:
        yield from use.text_lines(indent)
    if implicitnone:
        yield f"{' ' * indent}implicit none"
    for piece in pieces:
        if piece not in uses:
            yield from piece.text_lines(indent)


class UseGen(GeneratedNode):
    """Import of a whole module, or of the names `funcnames` if `only` is true."""

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
        """Return whether `other` is the same import."""
        return self.use == other.use

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the statement."""
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
        """Return the attributes as Fortran text."""
        flags = [name for name in ("pointer", "allocatable", "save", "target", "private")
                 if getattr(self, name)]  # fmt: skip
        dimension = [f"dimension({self.dimension})"] if self.dimension else []
        intent = [f"intent({self.intent})"] if self.intent else []
        return (*dimension, *flags, *intent)


class GeneratedDeclaration(GeneratedNode):
    """Declaration of one or several variables of one type."""

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
        """Yield the lines of the statement."""
        yield from emit_declarations(self.declares, indent)


class DeclGen(GeneratedDeclaration):
    """Variables of an intrinsic type, optionally with initial values."""

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
    """Variables of type `character` with the given `length`."""

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
        """Yield the lines of the statement."""
        length = f"(len={self._length})" if self._length else ""
        for line in super().text_lines(indent):
            yield line.replace("character", f"character{length}", 1)


class TypeDeclGen(GeneratedDeclaration):
    """Variables of a derived type; polymorphic if `is_class` is true."""

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
    """Node that is one statement, comment or directive."""

    def __init__(self, parent: GeneratedBlock, line: un.Line) -> None:
        super().__init__(parent)
        self._line = line

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the statement."""
        yield from emit_lines([self._line], indent)


class CommentGen(GeneratedStatement):
    """Comment; `content` is the text after the exclamation mark."""

    def __init__(self, parent: GeneratedBlock, content: str) -> None:
        super().__init__(parent, un.Comment(content.strip()))


class DirectiveGen(GeneratedStatement):
    """Directive such as `!$omp end parallel do`.

    - `language`: `omp` or `acc`.

    - `position`: `begin` or `end`.

    - `directive_type`: the name of the directive.

    - `content`: the clauses of the directive.
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
    """Call of a subroutine."""

    def __init__(self, parent: GeneratedBlock, name: str = "", args: Sequence[str] = ()) -> None:
        super().__init__(parent, un.Call(Verbatim(name), tuple(map(_text, args))))


class AssignGen(GeneratedStatement):
    """Assignment, or pointer assignment if `pointer` is true."""

    def __init__(
        self, parent: GeneratedBlock, lhs: str = "", rhs: str = "", pointer: bool = False
    ) -> None:
        kind = un.PointerAssign if pointer else un.Assign
        super().__init__(parent, kind(_text(lhs), _text(rhs)))


class AllocateGen(GeneratedStatement):
    """Allocation of one or several arrays; `mold` is an array with the same shape."""

    def __init__(
        self, parent: GeneratedBlock, content: str | Sequence[str], mold: str = ""
    ) -> None:
        arrays = [content] if isinstance(content, str) else list(content)
        more = [f"mold={mold}"] if mold else []
        super().__init__(parent, un.Allocate(tuple(map(_text, (*arrays, *more)))))


class DeallocateGen(GeneratedStatement):
    """Deallocation of one or several arrays."""

    def __init__(self, parent: GeneratedBlock, content: str | Sequence[str]) -> None:
        arrays = [content] if isinstance(content, str) else content
        super().__init__(parent, un.Deallocate(tuple(map(_text, arrays))))


class DoGen(GeneratedBlock):
    """Counted `do` loop."""

    def __init__(
        self, parent: GeneratedBlock, variable: str, start: str, end: str, step: str = ""
    ) -> None:
        super().__init__(parent)
        bounds = ", ".join(filter(None, (start, end, step)))
        self._head = f"do {variable} = {bounds}"

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the loop."""
        yield from wrapped(self._head, indent)
        yield from self._inside(indent + _STEP)
        yield f"{' ' * indent}end do"


class IfThenGen(GeneratedBlock):
    """`if` construct; `clause` is its condition."""

    def __init__(self, parent: GeneratedBlock, clause: str) -> None:
        super().__init__(parent)
        self._clause = clause

    def text_lines(self, indent: int) -> Iterator[str]:
        """Yield the lines of the construct."""
        yield from wrapped(f"if ({self._clause}) then", indent)
        yield from self._inside(indent + _STEP)
        yield f"{' ' * indent}end if"


def _text(text: str) -> Expr:
    return Verbatim(text)
