"""What names stand for in a generated routine.

Owns the table from a name to the canonical text of what it was assigned from, and the canonical
spelling itself. It decides nothing about schedules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache

from differential.statements import closing, split_list

_NAME = re.compile(r"[a-z]\w*")
_LITERAL = re.compile(r"(?<![\w.])(\d+\.?\d*(?:[ed][+-]?\d+)?|\.\d+(?:[ed][+-]?\d+)?)(_\w+)?")
_TRANSPARENT = re.compile(r"%get_(?:quadrature_)?proxy\(\)")
_ANY_MESH = re.compile(
    r"[a-z]\w*(?:\([^()]*\))?(?:%\w+(?:\([^()]*\))?)*?%(?:vspace|fs_to|fs_from)%get_mesh\(\)"
)


def resolve(text: str, values: Mapping[str, str]) -> str:
    """Return `text` without blanks and with every name of `values` replaced by its value.

    A name is looked up with its subscripts and components first (`proxy(2)`, `total%value`), then
    bare. Names after `%` and keywords of actual arguments stay as they are.
    """
    text = _unspaced(text)
    out, position = "", 0
    while position < len(text):
        name = _NAME.match(text, position)
        if text[position] in "'\"":
            end = text.index(text[position], position + 1) + 1
        elif name and not _is_keyword(text, name.end()) and not _is_suffix(text, position):
            piece, end = _designator(text, name, values)
            out += piece
            position = end
            continue
        else:
            end = name.end() if name else position + 1
        out += text[position:end]
        position = end
    return _TRANSPARENT.sub("", out)


def with_one_mesh(text: str) -> str:
    """Return `text` with the mesh of any field written as `mesh`.

    A routine that maps between meshes must not be read so.
    """
    return _ANY_MESH.sub("mesh", text)


@cache
def canonical_expression(text: str) -> str:
    """Return `text` without redundant brackets and with commuting operands in one order.

    Text that is no arithmetic (an array section, a logical expression) is returned as it is.
    """
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match[0])
        return f"literal{len(literals) - 1}_"

    python = _LITERAL.sub(keep, text).replace("%", ".").replace("@", "index_")
    try:
        tree = ast.parse(python, mode="eval")
    except SyntaxError:
        return text
    spelled = ast.unparse(_Commuted().visit(tree)).replace(" ", "")
    spelled = spelled.replace(".", "%").replace("index_", "@")
    for number, literal in enumerate(literals):
        spelled = spelled.replace(f"literal{number}_", literal)
    return spelled


class _Commuted(ast.NodeTransformer):
    """Put the operands of `+`, `*`, `max` and `min` in alphabetical order, pair by pair."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=ast.unparse)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
            node.args.sort(key=ast.unparse)
        return node


def _designator(text: str, name: re.Match[str], values: Mapping[str, str]) -> tuple[str, int]:
    raw, end = name[0], name.end()
    known = values.get(raw)
    piece = raw if known is None else known
    while end < len(text):
        if text[end] == "(":
            close = closing(text, end) + 1
            inner = [resolve(item, values) for item in split_list(text[end + 1 : close - 1])]
            suffix = f"({','.join(inner)})"
        elif text[end] == "%" and (component := _NAME.match(text, end + 1)):
            close, suffix = component.end(), text[end : component.end()]
        else:
            break
        raw, end = raw + suffix, close
        piece = values.get(raw, piece + suffix)
    return piece, end


def _is_keyword(text: str, end: int) -> bool:
    return text[end : end + 1] == "=" and text[end + 1 : end + 2] != "="


def _is_suffix(text: str, position: int) -> bool:
    return position > 0 and (text[position - 1] in "%_" or text[position - 1].isalnum())


def _unspaced(text: str) -> str:
    return "".join(
        part if part[:1] in "'\"" else re.sub(r"\s+", "", part)
        for part in re.split(r"('[^']*'|\"[^\"]*\")", text)
    )
