"""Statement and block nodes that a script may edit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from operator import is_
from typing import Any, ClassVar, Self

from psyclone_storage.base.records import replace
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.rewrite import names_of_line, place_of_line
from psyclone_storage.languages.fortran.print.edit_script import node_extent
from psyclone_storage.languages.fortran.print.printer import emit_lines
from psyclone_storage.scripting.errors import GenerationError
from psyclone_storage.scripting.psyir.data import DataNode, node_of
from psyclone_storage.scripting.psyir.expressions import Range, target_node
from psyclone_storage.scripting.psyir.known_nodes import Known, Remark
from psyclone_storage.scripting.psyir.live import LiveNode
from psyclone_storage.scripting.psyir.symbols import SymbolTable

Lines = tuple[un.Line, ...]


class Statement(LiveNode):
    """A statement or a construct.

    The lines in `lead` precede it, and those in `trail` are comments on its last line; both move
    with it. The comments before a detached statement stay in the file until it is attached again.
    """

    is_one_record: ClassVar[bool] = True
    """Whether it represents one record, which a step may replace by another."""

    def __init__(self) -> None:
        super().__init__()
        self.lead: Lines = ()
        self._left: tuple[Statement | Schedule, Lines] | None = None
        self.trail: Lines = ()
        self.source: un.Line | None = None
        self.cached_line: un.Line | None = None
        self.known_nodes: Known = _NOTHING

    @classmethod
    def of_line(cls, line: un.Line) -> Self:
        """Return the node of a statement in the source file."""
        new = cls()
        new.source = new.cached_line = line
        return new

    def line(self) -> un.Line:
        """Return the statement."""
        if self.cached_line is None:
            self.cached_line = self._made()
        return self.cached_line

    def lines(self) -> Lines:
        """Return the statement with its comments and other attached lines."""
        return (*self.lead, self.line(), *self.trail)

    def _made(self) -> un.Line:
        """Return the statement built from the children."""
        raise GenerationError(f"A '{type(self).__name__}' is not complete.")

    def forget(self) -> None:
        """Drop the cached statement."""
        super().forget()
        self.cached_line = None

    @property
    def length(self) -> int:
        """The number of `ir` records that this node represents."""
        return 1

    @property
    def size(self) -> int:
        """The number of those records and of the lines around them."""
        return len(self.lead) + self.length + len(self.trail)

    def blocks(self) -> Sequence[LiveNode]:
        """Return the children that contain statements: none."""
        return ()

    def begins(self, block: Lines, at: int) -> bool:
        """Return whether this node represents the statement at index `at` of a block."""
        return block[at] is self.line()

    def sync_lines(self, lines: Lines, known: Known | None) -> None:
        """Update the node to show the statements into which a step has transformed its own."""
        self.sync(lines[0], known)

    def sync(self, line: un.Line, known: Known | None) -> None:
        """Update the node to show `line`, after a step, reusing the nodes in `known`.

        If `known` is not given, the statement has the same parts as before.
        """
        self.source = self.cached_line = line
        if known is not None:
            self.show_again(known)

    def show_again(self, known: Known) -> None:
        """Discard the children; on the next access, create them from the nodes in `known`."""
        self.known_nodes = known
        self._children = None

    def is_unseen(self, line: un.Line) -> bool:
        """Set the cached statement unless the children exist; return whether they do not."""
        if self._children is None:
            self.source = self.cached_line = line
        return self._children is None

    def detach(self) -> Self:
        """Remove this statement from its block, and return it; its comments stay in the block."""
        parent, at = self.parent, 0 if self.parent is None else self.position
        super().detach()
        empty = [one for one in self.blocks() if isinstance(one, Schedule) and not one.children]
        ends = (line for one in empty for line in one.tail)
        remarks = tuple(one for one in (*self.lead, *ends) if not isinstance(one, un.DirectiveLine))
        if isinstance(parent, Schedule) and any(isinstance(one, un.Comment) for one in remarks):
            self.lead = _divided(self.lead, remarks)[1]
            for block in empty:
                block.take_remarks(remarks)
            self._left = (parent.leave(remarks, at), remarks)
        return self

    def set_parent(self, parent: LiveNode | None) -> None:
        """Set the parent, and take the comments that stayed when the statement was detached."""
        super().set_parent(parent)
        if parent is not None and self._left is not None:
            (holder, remarks), self._left = self._left, None
            self.lead = (*holder.take_remarks(remarks), *self.lead)

    def take_remarks(self, remarks: Lines) -> Lines:
        """Remove those of `remarks` that precede the statement, and return them."""
        found, self.lead = _divided(self.lead, remarks)
        self._announce()
        return found

    @property
    def preceding_comment(self) -> str:
        """The text of the comments before the statement."""
        return "\n".join(one.text.strip() for one in self.lead if isinstance(one, un.Comment))

    @preceding_comment.setter
    def preceding_comment(self, text: str) -> None:
        self.lead = tuple(one for one in self.lead if not isinstance(one, un.Comment))
        if text:
            self.append_preceding_comment(text)

    def append_preceding_comment(self, comment: str) -> None:
        """Append a comment to those before the statement."""
        self.lead = (*self.lead, un.Comment(comment))
        self._announce()

    @property
    def inline_comment(self) -> str:
        """The text of the comment on the last line of the statement."""
        return "\n".join(one.text.strip() for one in self.trail if isinstance(one, un.Comment))

    def _announce(self) -> None:
        """Mark the enclosing block as edited."""
        if self.parent is not None:
            self.parent.touch()

    def debug_string(self) -> str:
        """Return the statement as Fortran text."""
        return "".join(f"{text}\n" for text in emit_lines((self.line(),), 0))

    def _details(self) -> str:
        return next(iter(emit_lines((self.line(),), 0)), "").strip()

    @property
    def origin_line(self) -> int:
        """The line number in the source file, 0 for a statement that a step created."""
        place = None if self.source is None else place_of_line(self.source)
        return 0 if place is None else place.line


_NOTHING = Known()


@singledispatch
def statement_of(line: un.Line) -> Statement | None:  # noqa: ARG001
    """Return the node of a statement, None if PSyclone has no class for it."""
    return None


# ---------------------------------------------------------------------------- blocks


class Schedule(LiveNode):
    """A block of statements; the lines in `tail` follow the last one."""

    never_in_expressions: ClassVar[bool] = True

    def __init__(
        self, parent: LiveNode | None = None, children: Iterable[LiveNode] = (), **_: object
    ) -> None:
        super().__init__()
        self._block: Lines | None = ()
        self._source_block: Lines = ()
        self.tail: Lines = ()
        self.known_nodes: Known = _NOTHING
        self._own_table: SymbolTable | None = None
        for child in children:
            self.children.append(child)
        self._parent = parent

    @classmethod
    def of_block(cls, block: Lines, known: Known | None = None) -> Self:
        """Return the node of a block in the source file, reusing matching nodes in `known`."""
        new = cls()
        new._block = new._source_block = block
        new.known_nodes = known or _NOTHING
        return new

    def _shown(self) -> Iterable[LiveNode]:
        nodes, self.tail = grouped(self._source_block, self.known_nodes)
        self.known_nodes = _NOTHING
        return nodes

    def _accepts(self, position: int, child: LiveNode) -> bool:
        return isinstance(child, Statement)

    def forget(self) -> None:
        """Drop the cached block."""
        super().forget()
        self._block = None

    def block(self) -> Lines:
        """Return the statements."""
        if self._block is None:
            lines = [line for child in self.children for line in child.lines()]
            self._block = (*lines, *self.tail)
        return self._block

    def sync(self, block: Lines, known: Known | None) -> None:
        """Update the node to show `block`, the result of a step, reusing nodes in `known`.

        If `known` is not given, the block has the same statements as before, some of which may be
        enclosed in new directives.
        """
        if block is self._block:
            return
        if known is None:
            if self._children is not None:
                self._children.reset(self.followed(block, deque(self._children)))
            self._block = self._source_block = block
            return
        nodes, self.tail = grouped(block, known)
        self._block = self._source_block = block
        self.take_nodes(nodes, known, 0, len(self.children))

    def take_nodes(self, nodes: list[Statement], known: Known, first: int, stop: int) -> None:
        """Replace the children from index `first` to `stop` by `nodes`, made with `known`."""
        for node in nodes:
            if node.parent is not None and node.parent is not self:
                node.parent.children.release(node)
        self.children.exchange(first, stop, nodes)
        for node in nodes:
            if node.known_nodes is known:
                node.walk(Schedule)  # Connects nodes that the script knows with new parents.

    def leave(self, remarks: Lines, at: int) -> Statement | Schedule:
        """Put comments before the statement at an index, or at the end; return their holder."""
        if at < len(self.children):
            follower: Statement = self.children[at]
            follower.lead = (*remarks, *follower.lead)
            return follower
        self.tail = (*remarks, *self.tail)
        return self

    def take_remarks(self, remarks: Lines) -> Lines:
        """Remove those of `remarks` that follow the last statement, and return them."""
        found, self.tail = _divided(self.tail, remarks)
        self.touch()
        return found

    def followed(self, block: Lines, old: deque[Statement]) -> list[Statement]:
        """Return the nodes of a block whose statements the nodes `old` represent, in order."""
        nodes: list[Statement] = []
        lead: list[un.Line] = []
        at = 0
        while at < len(block):
            line = block[at]
            if isinstance(line, Remark) and not (old and old[0].cached_line == line):
                is_next = bool(nodes) and not lead
                if is_next and isinstance(line, un.Comment) and _is_behind(line, nodes[-1]):
                    nodes[-1].trail = (*nodes[-1].trail, line)
                else:
                    lead.append(line)
                at += 1
                continue
            if isinstance(line, un.DirectiveBlock) and not _shows_region(old[0], line):
                node = _with_region(line, old)
            else:
                node = old.popleft()
                node.sync_lines(block[at : at + node.length], None)
            node.lead, node.trail, lead = tuple(lead), (), []
            nodes.append(node)
            at += node.length
        self.tail = tuple(lead)
        return nodes

    @property
    def symbol_table(self) -> SymbolTable:
        """The symbols of the routine, or of this block if there is no routine."""
        if self.parent is not None:
            at: Any = self.parent
            while at is not None and not isinstance(at, Schedule):
                at = at.parent
            if at is not None:
                return at.symbol_table
        if self._own_table is None:
            self._own_table = SymbolTable()
        return self._own_table

    def __getitem__(self, index: Any) -> Any:
        return self.children[index]

    def __len__(self) -> int:
        return len(self.children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.children)

    def __bool__(self) -> bool:
        return True

    def debug_string(self) -> str:
        """Return the statements as Fortran text."""
        return "".join(f"{text}\n" for text in emit_lines(self.block(), 0))


def _divided(lines: Lines, chosen: Lines) -> tuple[Lines, Lines]:
    """Return the lines that are among `chosen`, compared by identity, and the others."""
    found = tuple(line for line in lines if any(line is one for one in chosen))
    return found, tuple(line for line in lines if not any(line is one for one in found))


def _shows_region(node: Statement, line: un.DirectiveBlock) -> bool:
    source = node.source
    return isinstance(source, un.DirectiveBlock) and source.directive is line.directive


def _with_region(line: un.DirectiveBlock, inside: deque[Statement]) -> Statement:
    """Return the node of a new directive around statements that already have nodes."""
    node = statement_of(line)
    assert node is not None
    body = Schedule.of_block(line.body)
    node.children.reset([body])
    body.children.reset(body.followed(line.body, inside))
    return node


def grouped(block: Lines, known: Known) -> tuple[list[Statement], Lines]:
    """Return the nodes of a block's statements, and the comments after the last one."""
    nodes: list[Statement] = []
    lead: list[un.Line] = []
    at = 0
    while at < len(block):
        line = block[at]
        if isinstance(line, un.Comment) and nodes and not lead and _is_behind(line, nodes[-1]):
            nodes[-1].trail = (*nodes[-1].trail, line)
            at += 1
            continue
        if isinstance(line, Remark):
            lead.append(line)
            at += 1
            continue
        node = known.find(block, at) or _new_node(block, at, known)
        node.lead, node.trail, lead = tuple(lead), (), []
        nodes.append(node)
        at += node.length
    return nodes, tuple(lead)


def _new_node(block: Lines, at: int, known: Known) -> Statement:
    """Return a new node for the statement at index `at`, or a code block from there on."""
    node = statement_of(block[at])
    if node is None:
        return CodeBlock.of_lines(block[at : _end_of_text(block, at, known)])
    node.known_nodes = known
    return node


def _is_behind(comment: un.Comment, node: Statement) -> bool:
    """Return whether a comment is on the last line of the previous statement."""
    extent = node_extent(node.lines()[-1])
    if comment.place is None or extent is None or comment.place.source is not extent.source:
        return False
    return "\n" not in extent.source.text[extent.stop : comment.place.start]


def _end_of_text(block: Lines, at: int, known: Known) -> int:
    """Return the end index of the unsupported statements that start at index `at`."""
    stop = at + 1
    if isinstance(block[at], un.Label) and stop < len(block):
        stop += 1
    for number in range(stop, len(block)):
        line = block[number]
        is_shown = statement_of.dispatch(type(line)) is not statement_of.dispatch(object)
        if known.has(line) or (is_shown and not _labelled(block, number)):
            break
        if not isinstance(line, un.Blank | un.Comment | un.DirectiveLine):
            stop = number + 1
    return stop


def _labelled(block: Lines, number: int) -> bool:
    return number > 0 and isinstance(block[number - 1], un.Label)


# ---------------------------------------------------------------------------- plain statements


class Assignment(Statement):
    """An assignment or pointer assignment."""

    never_in_expressions: ClassVar[bool] = True

    def __init__(self, is_pointer: bool = False) -> None:
        super().__init__()
        self._points = is_pointer

    @classmethod
    def create(cls, lhs: DataNode, rhs: DataNode, is_pointer: bool = False) -> Self:
        """Return `lhs = rhs`."""
        new = cls(is_pointer)
        new.children.extend([lhs, rhs])
        return new

    def _shown(self) -> Iterable[LiveNode]:
        if isinstance(self.source, un.Assign | un.PointerAssign):
            return (target_node(self.source.target), node_of(self.source.value))
        return ()

    def _accepts(self, position: int, child: LiveNode) -> bool:
        if not isinstance(child, DataNode) or (position == 0 and not child.can_be_assigned):
            return False
        return position < 2 and len(self._children or ()) < 2

    def _made(self) -> un.Line:
        if len(self.children) != 2:
            raise GenerationError("An assignment needs a left and a right side.")
        left, right = (child.frozen() for child in self.children)
        if isinstance(self.source, un.Assign | un.PointerAssign):
            return replace(self.source, target=left, value=right)
        return un.PointerAssign(left, right) if self._points else un.Assign(left, right)

    @property
    def lhs(self) -> Any:
        """The left-hand side."""
        return self.children[0]

    @property
    def rhs(self) -> Any:
        """The right-hand side."""
        return self.children[1]

    @property
    def is_pointer(self) -> bool:
        """Return whether this is a pointer assignment."""
        return isinstance(self.line(), un.PointerAssign)

    @property
    def is_array_assignment(self) -> bool:
        """Return whether the left-hand side is an array section."""
        return bool(self.lhs.walk(Range))


class Return(Statement):
    """A `return` statement."""

    never_in_expressions: ClassVar[bool] = True

    def _made(self) -> un.Line:
        return self.source or un.Return()


class UnknownDirective(Statement):
    """A directive with text from a script, such as `!DIR$ text` for the `infix` `DIR`."""

    never_in_expressions: ClassVar[bool] = True

    def __init__(self, directive: str, infix: str = "DIR") -> None:
        super().__init__()
        self.directive = directive
        self.cached_line = un.Comment(f"{infix}${directive}", as_written=True)

    def forget(self) -> None:
        """Do nothing: the cached text has no parts."""


class CodeBlock(Statement):
    """Statements for which PSyclone has no class; their text is preserved."""

    is_one_record: ClassVar[bool] = False
    parse_tree_nodes: tuple[object, ...] = ()
    _text: Any

    @classmethod
    def of_lines(cls, lines: Lines) -> Self:
        """Return the node of consecutive statements."""
        new = cls()
        new._all = lines
        return new

    def __init__(self) -> None:
        super().__init__()
        self._all: Lines = ()

    @property
    def length(self) -> int:
        """The number of `ir` records in this node."""
        return len(self._all)

    def sync_lines(self, lines: Lines, known: Known | None) -> None:
        """Update the node to show the statements into which a step has transformed its own."""
        self._all = lines

    def begins(self, block: Lines, at: int) -> bool:
        """Return whether this node represents the statements from index `at` of a block."""
        shown = block[at : at + len(self._all)]
        return len(shown) == len(self._all) and all(map(is_, shown, self._all))

    def line(self) -> un.Line:
        """Return the first statement."""
        return self._all[0]

    def lines(self) -> Lines:
        """Return the statements."""
        return (*self.lead, *self._all, *self.trail)

    def get_symbol_names(self) -> list[str]:
        """Return the names used in the statements."""
        return sorted(frozenset[str]().union(*map(names_of_line, self._all)))

    def debug_string(self) -> str:
        """Return the statements as Fortran text."""
        return "".join(f"{text}\n" for text in emit_lines(self._all, 0))


@statement_of.register(un.Assign)
@statement_of.register(un.PointerAssign)
def _(line: un.Line) -> Statement:
    return Assignment.of_line(line)


@statement_of.register
def _(line: un.Return) -> Statement:
    return Return.of_line(line)
